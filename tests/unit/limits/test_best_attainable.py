"""The best attainable values against their definitions, closed forms, and every other classifier."""

from __future__ import annotations

import math

import numpy as np
import pytest

import halftruth as ht
from halftruth.limits._bayes_error import bayes_error
from halftruth.limits._best_attainable import OF_FEW_VOTES, OF_LAW, ROWS, best_attainable

N = 600
RNG = np.random.default_rng(5)
Q = RNG.beta(0.7, 1.3, N)
W = RNG.integers(1, 4, N).astype(float)
R = RNG.beta(2.0, 0.8, N)
VOTES = RNG.binomial(3, Q)
LOW = ("bayes_error", "balanced_error", "log_loss", "brier")
HIGH = ("roc_auc", "average_precision", "f1")


def entropy(q: np.ndarray) -> np.ndarray:
    return -(q * np.log(q) + (1 - q) * np.log(1 - q))


def by_definition(q: np.ndarray, w: np.ndarray, score: np.ndarray | None = None) -> dict[str, float]:
    """Every row from the masses of positives and negatives, thresholds in a loop."""
    score = q if score is None else score
    order = np.argsort(-score)
    positive, negative = (w * q)[order], (w * (1 - q))[order]
    n1, n0 = positive.sum(), negative.sum()
    tp, fp = np.r_[0, np.cumsum(positive)], np.r_[0, np.cumsum(negative)]
    above = score[:, None] > score
    wins = np.sum((w * q)[:, None] * (w * (1 - q)) * (above + 0.5 * (score[:, None] == score)))
    loss = -(w * (q * np.log(score) + (1 - q) * np.log(1 - score))).sum()
    return {
        "bayes_error": (w * np.where(score >= 0.5, 1 - q, q)).sum() / w.sum(),
        "balanced_error": min((fp / n0 + 1 - tp / n1) / 2),
        "roc_auc": wins / n1 / n0,
        "average_precision": sum(p * tp[i + 1] / (tp[i + 1] + fp[i + 1]) for i, p in enumerate(positive))
        / n1,
        "f1": max(2 * tp / (tp + fp + n1)),
        "log_loss": loss / w.sum(),
        "brier": (w * (q * (1 - score) ** 2 + (1 - q) * score**2)).sum() / w.sum(),
    }


def values(evidence: ht.SoftLabeled | ht.PositiveConfidence, **given) -> dict[str, float]:
    return {name: row.value for name, row in best_attainable(evidence, n_resamples=50, **given).items()}


def test_soft_labels_by_definition():
    for weight in (None, W):
        evidence = ht.SoftLabeled(Q, sample_weight=weight)
        expected = by_definition(Q, np.ones(N) if weight is None else weight)
        assert values(evidence) == pytest.approx(expected, rel=1e-12)


def test_the_scores_given_do_not_matter():
    assert values(ht.SoftLabeled(Q, Q[::-1])) == values(ht.SoftLabeled(Q))


@pytest.mark.parametrize("seed", range(20))
def test_no_classifier_is_better(seed):
    """Scores of every quality, from nearly the posterior to noise."""
    rng = np.random.default_rng(seed)
    best = values(ht.SoftLabeled(Q, sample_weight=W))
    amount = 10 ** rng.uniform(-3, 1)
    score = 1 / (1 + np.exp(-np.log(Q / (1 - Q)) - amount * rng.normal(size=N)))
    score = np.clip(score, 1e-9, 1 - 1e-9)
    other = by_definition(Q, W, score)
    for name in LOW:
        assert other[name] >= best[name] - 1e-12
    for name in HIGH:
        assert other[name] <= best[name] + 1e-12


def test_closed_forms():
    """q uniform: β = ¼, balanced ¼, AUC 5/6, entropy ½, Brier 1/6; F1 is best where t = F/2."""
    n = 20_000
    q = (np.arange(n) + 0.5) / n
    found = values(ht.SoftLabeled(q))
    f1 = max((1 - t**2) / (1 - t + 0.5) for t in np.linspace(0, 1, 100_001))
    ap = 0.5 + 0.5 * (1 - 1 / 3)  # ∫ (1+t)/2 · 2t dt
    expected = {
        "bayes_error": 1 / 4,
        "balanced_error": 1 / 4,
        "roc_auc": 5 / 6,
        "average_precision": ap,
        "f1": f1,
        "log_loss": 1 / 2,
        "brier": 1 / 6,
    }
    assert found == pytest.approx(expected, abs=1e-4)


def test_the_intervals_are_those_of_means():
    best = best_attainable(ht.SoftLabeled(Q), n_resamples=1000)
    for name, each in (("log_loss", entropy(Q)), ("brier", Q * (1 - Q))):
        width = 2 * 1.96 * each.std() / math.sqrt(N)
        # Both ends of a percentile interval of n draws: 4.5 times their relative error, 1.5/√n of the width.
        assert best[name].high - best[name].low == pytest.approx(width, rel=4.5 * 1.5 / math.sqrt(1000))
        assert best[name].low < best[name].value < best[name].high


def test_the_bayes_error_is_the_one_of_bayes_error():
    for evidence in (ht.SoftLabeled(Q, sample_weight=W), ht.PositiveConfidence(R, prior=0.6)):
        row, own = best_attainable(evidence, "bayes_error")["bayes_error"], bayes_error(evidence)
        assert (row.value, row.low, row.high, row.method) == (own.value, own.low, own.high, own.method)


def test_nothing_is_called_naive():
    best = best_attainable(ht.SoftLabeled(Q), n_resamples=50)
    assert all(row.naive is None for row in best.values())


# Positive confidences ---------------------------------------------------------------------------------------


def test_confidences_without_a_prior_are_soft_labels_weighted_by_their_inverse():
    expected = by_definition(R, W / R)
    assert values(ht.PositiveConfidence(R, sample_weight=W)) == pytest.approx(expected, rel=1e-12)


def test_confidences_with_their_own_prior():
    prior = N / np.sum(1 / R)
    expected = by_definition(R, 1 / R)
    assert values(ht.PositiveConfidence(R, prior=prior)) == pytest.approx(expected, rel=1e-9)


def test_at_another_prior_means_are_over_the_positives():
    found = values(ht.PositiveConfidence(R, prior=0.6))
    assert found["brier"] == pytest.approx(0.6 * np.mean(1 - R), rel=1e-12)
    assert found["log_loss"] == pytest.approx(0.6 * np.mean(entropy(R) / R), rel=1e-12)
    own = by_definition(R, 1 / R)  # what compares the classes alone has no prior in it
    assert found["roc_auc"] == pytest.approx(own["roc_auc"], rel=1e-12)
    assert found["balanced_error"] == pytest.approx(own["balanced_error"], rel=1e-12)
    n1, n0 = 0.6, 0.4
    order = np.argsort(-R)
    tp, fp = np.r_[0, np.cumsum(np.ones(N))] / N, np.r_[0, np.cumsum((1 / R - 1)[order])] / np.sum(1 / R - 1)
    assert found["f1"] == pytest.approx(max(2 * n1 * tp / (n1 * tp + n0 * fp + n1)), rel=1e-12)


def test_certain_positives_cost_nothing_at_a_prior_that_is_a_little_high():
    """μ − μ₁ is negative at r = 1 there, times a logarithm that is not."""
    r = np.r_[np.ones(300), R]
    prior = len(r) / np.sum(1 / r)
    exact, high = (values(ht.PositiveConfidence(r, prior=p))["log_loss"] for p in (prior, 1.02 * prior))
    assert high == pytest.approx(1.02 * exact, rel=1e-9)


def test_a_range_of_priors_widens():
    one, many = (
        best_attainable(ht.PositiveConfidence(R, prior=p), ["brier", "f1"], n_resamples=100)
        for p in (0.6, (0.5, 0.7))
    )
    for name in one:
        assert many[name].low < one[name].low < one[name].high < many[name].high
        assert many[name].value == pytest.approx(one[name].value)


def test_confidences_of_zero_are_refused():
    with pytest.raises(
        ht.InputError, match=r"`r` must be greater than 0, got 1 zero.*call `bayes_error`, which takes"
    ):
        best_attainable(ht.PositiveConfidence([0.5, 0.0, 1.0], prior=0.5))


# Votes ------------------------------------------------------------------------------------------------------


def test_votes_are_rid_of_their_noise():
    """Shares of 5 votes say more than there is to know; the fitted mixture is nearer on every row."""
    rng = np.random.default_rng(8)
    q = rng.beta(0.5, 0.5, 4000)
    k = rng.binomial(5, q)
    truth, plug_in = values(ht.SoftLabeled(q)), values(ht.SoftLabeled(k / 5))
    best = best_attainable(ht.SoftLabeled.from_votes(k, 5), n_resamples=20)
    assert list(best) == list(ROWS)
    for name in set(ROWS) - {"bayes_error"}:
        assert abs(best[name].value - truth[name]) < 0.5 * abs(plug_in[name] - truth[name]), name
        assert best[name].low < best[name].value < best[name].high
    searched = set(ROWS) - {"bayes_error", "log_loss", "brier"}  # the others are means, and exact
    assert {name for name in ROWS if OF_LAW in best[name].notes} == searched
    assert best["bayes_error"].identified is not None
    assert best.prior.value == pytest.approx(k.mean() / 5, abs=0.01)


def test_the_bayes_error_of_votes_is_the_one_of_bayes_error():
    evidence = ht.SoftLabeled.from_votes(VOTES, 3)
    best = best_attainable(evidence, ["bayes_error"], n_resamples=2)
    own = bayes_error(evidence)
    row = best["bayes_error"]
    assert (row.value, row.low, row.high) == (own.value, own.low, own.high)


def test_same_seed_same_result():
    evidence = ht.SoftLabeled(Q)
    first, second, other = (best_attainable(evidence, "brier", n_resamples=30, rng=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(first["brier"].replicates, second["brier"].replicates)
    assert (first["brier"].replicates != other["brier"].replicates).any()


# Many classes -----------------------------------------------------------------------------------------------


def test_many_classes():
    q = np.random.default_rng(1).dirichlet([0.4, 0.8, 1.0, 2.0], 300)
    q[0] = [0, 0, 1, 0]
    best = best_attainable(ht.SoftLabeled(q, sample_weight=W[:300]))
    assert list(best) == ["bayes_error", "log_loss"]
    each = [-sum(p * math.log(p) for p in row if p > 0) for row in q]
    assert best["log_loss"].value == pytest.approx(np.average(each, weights=W[:300]))
    assert best["bayes_error"].value == pytest.approx(np.average(1 - q.max(axis=1), weights=W[:300]))
    assert best["log_loss"].low < best["log_loss"].value < best["log_loss"].high
    assert "classes" in str(best)
    assert best.to_dict()["prior"]["value"] is None
    assert list(best_attainable(ht.SoftLabeled(q), "log_loss")) == ["log_loss"]


def test_votes_among_many_classes_say_that_they_are_few():
    k = np.random.default_rng(2).multinomial(4, [0.2, 0.3, 0.5], 50)
    best = best_attainable(ht.SoftLabeled.from_votes(k))
    assert OF_FEW_VOTES in best["log_loss"].notes


def test_many_classes_have_no_other_rows():
    with pytest.raises(ht.InputError, match=r"3 classes are bayes_error and log_loss, got \['roc_auc'\]"):
        best_attainable(ht.SoftLabeled(np.full((4, 3), 1 / 3)), ["log_loss", "roc_auc"])


# The functionals, and what is refused -----------------------------------------------------------------------


@pytest.mark.parametrize("name", ROWS)
def test_many_measures_at_once(name):
    rng = np.random.default_rng(3)
    mass = rng.uniform(1, 2, (3, 6))
    many = ht.ScoreMeasure(
        score=np.linspace(0.1, 0.9, 6), mass=mass, pos_mass=mass * rng.uniform(0, 1, (3, 6))
    )
    at_once = ROWS[name](many)
    assert at_once.shape == (3,)
    np.testing.assert_allclose(at_once, [ROWS[name](many[i]) for i in range(3)], rtol=1e-13)


def test_rows_by_name_in_their_order():
    assert list(best_attainable(ht.SoftLabeled(Q), ["brier", "bayes_error"], n_resamples=10)) == [
        "brier",
        "bayes_error",
    ]
    assert list(best_attainable(ht.SoftLabeled(Q), "f1", n_resamples=10)) == ["f1"]


@pytest.mark.parametrize("metrics", ["accuracy", ["brier", "accuracy"], [ht.roc_auc], 3])
def test_unknown_rows(metrics):
    with pytest.raises(ht.InputError, match="`metrics` must be 'bayes_error' or"):
        best_attainable(ht.SoftLabeled(Q), metrics)


@pytest.mark.parametrize("metrics", [[], ["brier", "brier"]])
def test_rows_twice_or_none(metrics):
    with pytest.raises(ht.InputError, match="name each row once"):
        best_attainable(ht.SoftLabeled(Q), metrics)


@pytest.mark.parametrize(
    "evidence",
    [ht.Labeled([1, 0], [0.9, 0.2]), ht.PositiveUnlabeled([0.9], [0.5, 0.1], prior=0.3)],
)
def test_scores_are_refused(evidence):
    with pytest.raises(ht.NotIdentifiable, match="Pass soft labels, votes or positive confidences"):
        best_attainable(evidence)


def test_bad_input():
    with pytest.raises(ht.InputError, match=r"Wrap your soft labels: SoftLabeled\(q\)"):
        best_attainable(Q)
    with pytest.raises(ht.InputError, match="`n_resamples`"):
        best_attainable(ht.SoftLabeled(Q), n_resamples=-1)
    with pytest.raises(ht.InputError, match="`confidence_level`"):
        best_attainable(ht.SoftLabeled(Q), confidence_level=95)


def test_one_class_leaves_what_compares_classes_undefined():
    found = values(ht.SoftLabeled([1.0, 1.0]))
    assert found["bayes_error"] == 0
    assert found["brier"] == 0
    assert math.isnan(found["roc_auc"])
    assert math.isnan(found["balanced_error"])
