"""Rows drawn from a population: their composition, the evidence made of them, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sklearn.metrics as skm

import halftruth as ht
from halftruth._errors import InputError, NotIdentifiable
from halftruth.simulate import GaussianClasses, logistic_model

POSTERIOR = GaussianClasses()
BOUNDED = GaussianClasses(prior=0.6, location=3.0, separation=1.5, limits=(0.05, 0.8))
LOGISTIC = logistic_model()


def assert_share(y: np.ndarray, share: float) -> None:
    error = math.sqrt(share * (1 - share) / y.size)
    assert abs(y.mean() - share) <= 5 * error


def assert_normal(x: np.ndarray, mean: float) -> None:
    assert abs(x.mean() - mean) < 5 / math.sqrt(x.size)
    assert abs(x.var() - 1) < 5 * math.sqrt(2 / x.size)


def test_draw_has_the_population() -> None:
    model = BOUNDED
    draw = model.draw(100_000, rng=1)
    assert_share(draw.y, model.prior)
    assert_normal(draw.x[draw.y == 1], 4.5)
    assert_normal(draw.x[draw.y == 0], 3.0)
    np.testing.assert_array_equal(draw.score, model.score(draw.x))
    np.testing.assert_array_equal(draw.posterior, model.posterior(draw.x))
    with pytest.raises(ValueError, match="read-only"):
        draw.score[0] = 0.0


def test_draws_repeat_with_an_int_and_continue_with_a_generator() -> None:
    np.testing.assert_array_equal(POSTERIOR.draw(9, rng=3).x, POSTERIOR.draw(9, rng=3).x)
    generator = np.random.default_rng(3)
    first, second = POSTERIOR.draw(9, generator), POSTERIOR.draw(9, generator)
    np.testing.assert_array_equal(first.x, POSTERIOR.draw(9, rng=3).x)
    assert not np.array_equal(first.x, second.x)


@pytest.mark.parametrize("y", [0, 1])
def test_draw_class(y: int) -> None:
    draw = POSTERIOR.draw_class(y, 50_000, rng=2)
    assert set(draw.y.tolist()) == {y}
    assert_normal(draw.x, 2.0 * y)


def test_two_samples_have_their_composition() -> None:
    strata = POSTERIOR.draw_strata(40_000, 60_000, rng=4, purity=0.8, n_negative=5_000)
    assert (len(strata.positive), len(strata.unlabeled), len(strata.negative)) == (
        40_000,
        60_000,
        5_000,
    )
    assert_share(strata.positive.y, 0.8)
    assert_share(strata.unlabeled.y, 0.3)
    assert not strata.negative.y.any()
    assert_normal(strata.negative.x, 0.0)
    assert strata.propensity is None


def test_one_table_has_random_sizes_and_the_prior() -> None:
    sizes = {"n_positive": 20_000, "n_unlabeled": 70_000, "n_negative": 10_000}
    strata = POSTERIOR.draw_strata(**sizes, rng=5, purity=0.9, population="all")
    parts = (strata.positive, strata.unlabeled, strata.negative)
    assert sum(map(len, parts)) == 100_000
    assert len(strata.positive) != 20_000
    for part, size in zip(parts, sizes.values(), strict=True):
        assert abs(len(part) - size) < 5 * math.sqrt(size * (1 - size / 1e5))
    assert_share(strata.positive.y, 0.9)
    alpha = POSTERIOR.true_alpha(**sizes, purity=0.9, population="all")
    assert alpha == pytest.approx((30_000 - 18_000) / 70_000)
    assert_share(strata.unlabeled.y, alpha)
    assert not strata.negative.y.any()
    assert_share(np.concatenate([part.y for part in parts]), 0.3)


def test_true_alpha() -> None:
    assert POSTERIOR.true_alpha(10, 90, purity=0.5) == 0.3
    assert POSTERIOR.true_alpha(30, 70, population="all") == 0.0
    assert POSTERIOR.true_alpha(10, 20, 70, population="all") == 1.0
    with pytest.raises(InputError, match=r"must lie in \[0.4, 1\] for these sizes, got 0.3"):
        POSTERIOR.true_alpha(40, 60, population="all")
    with pytest.raises(InputError, match=r"must lie in \[0.01, 0.2\] for these sizes"):
        POSTERIOR.draw_strata(1, 19, rng=0, n_negative=80, population="all")


def falling(x: np.ndarray) -> np.ndarray:
    return 0.9 / (1 + np.exp(x - 2.0))


def test_propensity_tilts_two_samples() -> None:
    strata = POSTERIOR.draw_strata(100_000, 1_000, rng=6, propensity=falling)
    assert strata.positive.y.all()
    np.testing.assert_array_equal(strata.propensity, falling(strata.positive.x))
    # Weights 1/e give back N(2, 1), up to the standard error of a ratio of means.
    weight = 1 / falling(strata.positive.x)
    x = strata.positive.x
    mean = np.average(x, weights=weight)
    error = np.sqrt(np.sum((weight * (x - mean)) ** 2)) / weight.sum()
    assert abs(mean - 2.0) < 5 * error
    assert x.mean() < 1.8


def test_propensity_labels_one_table() -> None:
    strata = POSTERIOR.draw_strata(0, 190_000, rng=8, n_negative=10_000, propensity=falling, population="all")
    parts = (strata.positive, strata.unlabeled, strata.negative)
    assert sum(map(len, parts)) == 200_000
    assert strata.positive.y.all()
    assert not strata.negative.y.any()
    assert abs(len(strata.negative) - 10_000) < 5 * math.sqrt(10_000)
    assert_share(np.concatenate([part.y for part in parts]), 0.3)
    np.testing.assert_array_equal(strata.propensity, falling(strata.positive.x))
    # Horvitz-Thompson: the inverse propensities count all positives.
    weight = 1 / strata.propensity
    assert abs(weight.sum() - 60_000) < 5 * math.sqrt(np.sum(weight**2))


# --- evidence -----------------------------------------------------------------------------------


def test_labeled_evidence() -> None:
    evidence = POSTERIOR.labeled(500, rng=0)
    assert isinstance(evidence, ht.Labeled)
    draw = POSTERIOR.draw(500, rng=0)
    assert ht.roc_auc(evidence) == pytest.approx(skm.roc_auc_score(draw.y, draw.score))


def test_soft_evidence() -> None:
    evidence = LOGISTIC.soft(20_000, rng=0)
    assert isinstance(evidence, ht.SoftLabeled)
    draw = LOGISTIC.draw(20_000, rng=0)
    loss = draw.posterior * (1 - draw.score) ** 2 + (1 - draw.posterior) * draw.score**2
    assert ht.brier(evidence) == pytest.approx(loss.mean())


def test_positive_confidence_evidence() -> None:
    model = GaussianClasses(separation=0.8)  # E[1/r²] is finite and not large
    evidence = model.positive_confidence(50_000, rng=0, prior="true")
    assert isinstance(evidence, ht.PositiveConfidence)
    assert ht.roc_auc(evidence) == pytest.approx(model.truth("roc_auc"), abs=0.02)


@pytest.mark.parametrize("population", ["unlabeled", "all"])
@pytest.mark.parametrize("purity", [1.0, 0.8])
def test_positive_unlabeled_evidence(population: str, purity: float) -> None:
    evidence = POSTERIOR.positive_unlabeled(20_000, 100_000, rng=0, purity=purity, population=population)
    assert isinstance(evidence, ht.PositiveUnlabeled)
    assert ht.roc_auc(evidence) == pytest.approx(POSTERIOR.truth("roc_auc"), abs=0.02)
    assert ht.confusion(evidence, 0.5).precision == pytest.approx(
        POSTERIOR.truth("precision", threshold=0.5), abs=0.03
    )


@pytest.mark.parametrize("population", ["unlabeled", "all"])
def test_positive_unlabeled_evidence_with_negatives_or_propensity(population: str) -> None:
    truth = POSTERIOR.truth("roc_auc")
    negatives = POSTERIOR.positive_unlabeled(10_000, 50_000, rng=1, n_negative=5_000, population=population)
    assert ht.roc_auc(negatives) == pytest.approx(truth, abs=0.02)
    weighted = POSTERIOR.positive_unlabeled(10_000, 50_000, rng=1, propensity=falling, population=population)
    assert ht.roc_auc(weighted) == pytest.approx(truth, abs=0.02)


def test_prior_is_handed_on() -> None:
    with pytest.raises(NotIdentifiable):
        ht.average_precision(POSTERIOR.positive_unlabeled(50, 500, rng=0, prior=None))
    low = ht.average_precision(POSTERIOR.positive_unlabeled(500, 5_000, rng=0, prior=0.1))
    true = ht.average_precision(POSTERIOR.positive_unlabeled(500, 5_000, rng=0))
    assert low < true


# --- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"prior": 1.2}, r"`prior` must lie in \(0, 1\), got 1.2"),
        ({"prior": "half"}, "`prior` must be a real number, got 'half'"),
        ({"separation": math.inf}, "`separation` must be finite"),
        ({"separation": 0.0}, r"`slope` must lie in \(0, inf\), got 0.0.*positive slope"),
        ({"slope": -1.0}, "`slope` must lie in"),
        ({"intercept": math.nan}, "`intercept` must be a real number"),
        ({"limits": (0.5, 0.5)}, "`limits` must be"),
        ({"limits": (0.0, 2.0)}, "margin=True"),
        ({"margin": True, "slope": 1.0}, "must be left out with margin=True"),
    ],
)
def test_impossible_models_are_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        GaussianClasses(**fields)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_positive": 0}, "`n_positive` must be"),
        ({"n_unlabeled": 2.5}, "`n_unlabeled` must be a whole number"),
        ({"purity": 0.0}, r"`purity` must lie in \(0, 1\]"),
        ({"population": "both"}, "`population` must be"),
        ({"purity": 0.9, "propensity": falling}, "not identifiable"),
        ({"propensity": lambda x: 0.5}, "one value per row"),
        ({"propensity": lambda x: x}, r"values in \(0, 1\]"),
        ({"propensity": lambda x: np.full(x.size, 1e-9)}, "Multiply it by a constant"),
        (
            {"propensity": falling, "population": "all", "n_negative": 900},
            "`n_negative` must be at most the expected number of negatives",
        ),
    ],
)
def test_impossible_designs_are_refused(changes: dict[str, object], message: str) -> None:
    design = {"n_positive": 5, "n_unlabeled": 50, **changes}
    with pytest.raises(InputError, match=message):
        POSTERIOR.draw_strata(rng=0, **design)


def test_impossible_classes_are_refused() -> None:
    with pytest.raises(InputError, match="`y` must be 0 or 1, got 2"):
        POSTERIOR.draw_class(2, 5, rng=0)
