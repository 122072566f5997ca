"""The risk from positives and their confidences against its definition."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import halftruth as ht
from halftruth.limits._confidences import positive_confidence_risk
from halftruth.metrics._mean_losses import LOSSES

N = 400
RNG = np.random.default_rng(11)
R = RNG.uniform(0.05, 1, N).round(3)
PROBABILITY = np.clip(R + RNG.normal(0, 0.15, N), 0.01, 0.99).round(2)
MARGIN = RNG.normal(2 * R - 1, 0.7)
W = RNG.integers(0, 4, N).astype(float)
Y = RNG.random(N) < R

# Each loss as (of a positive, of a negative), from its definition.
BY_DEFINITION = {
    "zero_one": (lambda s: (s < 0.4) * 1.0, lambda s: (s >= 0.4) * 1.0),
    "logistic": (lambda s: np.log(1 + np.exp(-s)), lambda s: np.log(1 + np.exp(s))),
    "sigmoid": (lambda s: 1 / (1 + np.exp(s)), lambda s: 1 / (1 + np.exp(-s))),
    "ramp": (
        lambda s: np.minimum(1, np.maximum(0, 1 - s) / 2),
        lambda s: np.minimum(1, np.maximum(0, 1 + s) / 2),
    ),
    "squared": (lambda s: (s - 1) ** 2, lambda s: (-s - 1) ** 2),
    "log": (lambda s: -np.log(s), lambda s: -np.log(1 - s)),
    "brier": (lambda s: (s - 1) ** 2, lambda s: s**2),
}


def scores_for(loss: str) -> np.ndarray:
    return PROBABILITY if loss in ("zero_one", "log", "brier") else MARGIN


def threshold_for(loss: str) -> dict[str, float]:
    return {"threshold": 0.4} if loss == "zero_one" else {}


def definition(loss: str, s: np.ndarray, weight: np.ndarray) -> float:
    of_positive, of_negative = BY_DEFINITION[loss]
    return float(np.average(of_positive(s) + (1 - R) / R * of_negative(s), weights=weight))


def test_every_loss_is_here():
    assert set(BY_DEFINITION) == set(LOSSES)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weight", [None, W])
def test_is_the_mean_over_the_positives(loss, weight):
    s = scores_for(loss)
    evidence = ht.PositiveConfidence(R, s, sample_weight=weight)
    expected = definition(loss, s, np.ones(N) if weight is None else weight)
    assert positive_confidence_risk(evidence, loss, **threshold_for(loss)) == pytest.approx(
        expected, rel=1e-12
    )


@pytest.mark.parametrize("loss", LOSSES)
def test_is_the_expected_loss_by_the_prior_where_all_is_labeled(loss):
    s, y = scores_for(loss), Y
    of_positive, of_negative = BY_DEFINITION[loss]
    expected = np.where(y, of_positive(s), of_negative(s)).mean() / y.mean()
    risk = positive_confidence_risk(ht.Labeled(y, s), loss, **threshold_for(loss))
    assert risk == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("prior", [0.1, (0.2, 0.6), ht.PriorEstimate(value=0.4, replicates=[0.3, 0.5])])
def test_a_prior_changes_nothing_from_confidences(loss, prior):
    """The mean over the positives has no prior in it."""
    s = scores_for(loss)
    with_one, without = (ht.PositiveConfidence(R, s, prior=each, sample_weight=W) for each in (prior, None))
    risks = [positive_confidence_risk(each, loss, **threshold_for(loss)) for each in (with_one, without)]
    assert risks[0] == risks[1] == pytest.approx(definition(loss, s, W), rel=1e-12)


def test_zero_one_times_the_prior_is_the_error_rate():
    evidence = ht.PositiveUnlabeled(PROBABILITY[:100], PROBABILITY[100:], prior=0.4)
    risk = positive_confidence_risk(evidence, threshold=0.4)
    assert 0.4 * risk == pytest.approx(1 - ht.confusion(evidence, 0.4).accuracy, rel=1e-12)


def test_a_pair_of_functions_is_a_loss():
    evidence = ht.PositiveConfidence(R, PROBABILITY)
    pair = BY_DEFINITION["log"]
    assert positive_confidence_risk(evidence, pair) == pytest.approx(
        positive_confidence_risk(evidence, "log"), rel=1e-12
    )
    only_missed = positive_confidence_risk(evidence, (lambda s: 1.0 * (s < 0.4), lambda _: 0.0))
    assert only_missed == pytest.approx(np.mean(PROBABILITY < 0.4), rel=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_many_measures_at_once(loss):
    rng = np.random.default_rng(1)
    masses = rng.uniform(1, 2, (3, 5))
    positives = masses * rng.uniform(0, 1, (3, 5))
    many = ht.ScoreMeasure(score=np.linspace(0.1, 0.9, 5), mass=masses, pos_mass=positives)
    at_once = positive_confidence_risk(many, loss, **threshold_for(loss))
    one_by_one = [positive_confidence_risk(many[i], loss, **threshold_for(loss)) for i in range(3)]
    assert at_once.shape == (3,)
    np.testing.assert_allclose(at_once, one_by_one, rtol=1e-14)


def test_margins_far_out_do_not_overflow():
    evidence = ht.PositiveConfidence([0.5, 0.5], [-1e4, 1e4])
    assert positive_confidence_risk(evidence, "logistic") == pytest.approx(1e4)


def test_classifiers_are_compared_without_a_prior():
    good, poor = np.clip(R + 0.02, 0, 1), np.full(N, 0.9)
    models = {name: ht.PositiveConfidence(R, s) for name, s in (("good", good), ("poor", poor))}
    risk = partial(positive_confidence_risk, threshold=0.5)
    difference = ht.compare(models, {"risk": risk}, n_resamples=400)["risk"]
    # The good one gives up on positives below ½ and spares itself their negatives.
    gain = np.where(good < 0.5, 1 - (1 - R) / R, 0.0)
    assert difference.value == pytest.approx(gain.mean(), rel=1e-9)
    assert difference.low < difference.value < difference.high < 0
    # The interval of a paired mean has the width of its standard error.
    width = 2 * 1.96 * gain.std() / np.sqrt(N)
    assert difference.high - difference.low == pytest.approx(width, rel=4 / np.sqrt(400))


def test_evaluate_gives_an_interval():
    result = ht.evaluate(
        ht.PositiveConfidence(R, MARGIN),
        {"risk": partial(positive_confidence_risk, loss="logistic")},
        n_resamples=200,
    )
    row = result["risk"]
    assert row.value == pytest.approx(definition("logistic", MARGIN, np.ones(N)), rel=1e-12)
    assert row.low < row.value < row.high


def test_without_the_prior_other_evidence_is_refused():
    with pytest.raises(ht.NotIdentifiable, match="prior"):
        positive_confidence_risk(ht.PositiveUnlabeled([0.9, 0.8], [0.5, 0.1]), threshold=0.5)


@pytest.mark.parametrize(
    ("loss", "given", "match"),
    [
        ("hinge", {}, "`loss` must be 'zero_one' or"),
        (3, {}, "`loss` must be 'zero_one' or"),
        ((np.exp,), {}, "two functions"),
        ((np.exp, "log"), {}, "two functions"),
        ("zero_one", {}, "needs a threshold"),
        ("zero_one", {"threshold": "high"}, "`threshold` must be a real number"),
        ("brier", {"threshold": 0.5}, "for the loss 'zero_one' only"),
        ((lambda s: s[:2], lambda s: s), {}, "one number for each score"),
    ],
)
def test_bad_input(loss, given, match):
    with pytest.raises(ht.InputError, match=match):
        positive_confidence_risk(ht.PositiveConfidence(R, PROBABILITY), loss, **given)


@pytest.mark.parametrize("loss", ["log", "brier"])
def test_margins_are_no_probabilities(loss):
    with pytest.raises(ht.InputError, match=r"needs scores in \[0, 1\]"):
        positive_confidence_risk(ht.PositiveConfidence(R, MARGIN), loss)


def test_no_positive_mass_is_undefined():
    with pytest.warns(ht.EmptyClassWarning, match="No positive"):
        assert np.isnan(positive_confidence_risk(ht.SoftLabeled([0.0, 0.0], [0.2, 0.3]), "brier"))
