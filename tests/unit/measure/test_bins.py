"""The covariance of the gaps of bins: by hand, and as the sum of what each row moves."""

from __future__ import annotations

import numpy as np
import pytest

import halftruth as ht
from halftruth.measure._sorted_measure import SortedMeasure
from halftruth.table import _strata

N_BINS = 3
STEP = 1e-5


def index_of(measure):
    """Bins of equal width."""
    return np.minimum((measure.score * N_BINS).astype(int), N_BINS - 1)


def covariance(evidence, n_bins=N_BINS):
    measure = evidence.measure()
    index = index_of(measure) if n_bins == N_BINS else np.zeros(len(measure.score), dtype=int)
    return measure.noise.covariance(index, n_bins)


def gaps(evidence):
    """Of each bin, as shares of the population."""
    measure = evidence.measure()
    gap = measure.pos_mass - measure.score * measure.mass
    return np.bincount(index_of(measure), gap, minlength=N_BINS) / measure.total


def moved_by_rows(make, weights):
    """Σ over strata of Σ_rows (d − mean d)(d − mean d)ᵀ, d what one more row of this kind adds to the gaps."""
    out = np.zeros((N_BINS, N_BINS))
    for k, n in enumerate(map(len, weights)):
        each = []
        for i in range(n):
            ends = []
            for step in (STEP, -STEP):
                changed = [np.array(w) for w in weights]
                changed[k][i] += step
                ends.append(gaps(make(*changed)))
            each.append((ends[0] - ends[1]) / (2 * STEP))
        d = np.asarray(each) - np.mean(each, axis=0)
        out += d.T @ d
    return out * make(*weights).measure().total ** 2


RNG = np.random.default_rng(3)
S, Q = RNG.random(24).round(2), RNG.random(24).round(2)
Y = RNG.random(24) < S
P, U = RNG.beta(2, 1, 9).round(2), RNG.random(15).round(2)
R = RNG.uniform(0.3, 1.0, 24)
CUT = [9]


def partial(weight_p, weight_u, **settings):
    return ht.PositiveUnlabeled(P, U, positive_weight=weight_p, unlabeled_weight=weight_u, **settings)


def one_table(**settings):
    """Rows of one table have one list of weights: the strata's sizes vary with them."""
    return lambda weight: partial(*np.split(weight, CUT), population="all", **settings)


KINDS = {
    "labeled": (lambda w: ht.Labeled(Y, S, sample_weight=w), [24]),
    "soft": (lambda w: ht.SoftLabeled(Q, S, sample_weight=w), [24]),
    "two samples": (lambda p, u: partial(p, u, prior=0.4), [9, 15]),
    "two samples, purity": (lambda p, u: partial(p, u, prior=0.4, purity=0.85), [9, 15]),
    "two samples, propensity": (
        lambda p, u: partial(p, u, prior=0.4, propensity=R[:9]),
        [9, 15],
    ),
    "one table": (one_table(prior=0.6), [24]),
    "one table, purity": (one_table(prior=0.6, purity=0.85), [24]),
    "one table, propensity": (one_table(prior=0.6, propensity=R[:9]), [24]),
    "one table, propensity, no prior": (one_table(propensity=R[:9]), [24]),
    "confidence": (lambda w: ht.PositiveConfidence(R, S, sample_weight=w), [24]),
    "confidence, prior": (lambda w: ht.PositiveConfidence(R, S, prior=0.55, sample_weight=w), [24]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_covariance_is_the_sum_of_what_each_row_moves(kind):
    """The infinitesimal jackknife, rows taken off the mean of the sample that they were drawn in."""
    make, sizes = KINDS[kind]
    weights = [np.ones(n) for n in sizes]
    wanted = moved_by_rows(make, weights)
    np.testing.assert_allclose(covariance(make(*weights)), wanted, rtol=0, atol=1e-6 * np.abs(wanted).max())


def test_one_bin_of_labels_by_hand():
    """Gaps ¾, −½, ¼: squares 14/16, less 3 times the square of their mean 1/6."""
    evidence = ht.Labeled([1, 0, 1], [0.25, 0.5, 0.75])
    assert covariance(evidence, 1) == pytest.approx(np.array([[14 / 16 - 3 / 36]]))


def test_one_bin_of_positives_and_unlabeled_by_hand():
    """All positives lie in the bin, whatever they are: only the unlabeled scores vary, ¼, ½, ¾."""
    evidence = ht.PositiveUnlabeled([0.3, 0.9], [0.25, 0.5, 0.75], prior=0.5)
    assert covariance(evidence, 1) == pytest.approx(np.array([[1 / 8]]))


def test_positives_and_unlabeled_in_two_bins_by_hand():
    """A positive adds π n_U/n_P = 1: shares ¾ and ¼ of 4. Unlabeled scores: 0, 0, 1, 1 in bins of their own."""
    evidence = ht.PositiveUnlabeled([0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0], prior=1 - 1e-12)
    from_positives = 4 * 3 / 16 * np.array([[1, -1], [-1, 1]])
    from_unlabeled = np.array([[0, 0], [0, 4 * 1 / 4]])
    noise = evidence.measure().noise
    found = noise.covariance(np.array([0, 1]), 2)
    assert found == pytest.approx(from_positives + from_unlabeled)


def test_whole_weights_are_repetitions():
    weight = np.random.default_rng(4).integers(1, 5, 24)
    weighted = ht.Labeled(Y, S, sample_weight=weight)
    repeated = ht.Labeled(np.repeat(Y, weight), np.repeat(S, weight))
    np.testing.assert_allclose(covariance(weighted), covariance(repeated), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "make",
    [
        lambda: ht.Labeled(Y, S),
        lambda: ht.PositiveUnlabeled(P, U, prior=0.4),
        lambda: ht.PositiveUnlabeled(P, U, prior=0.4, purity=0.85),
        lambda: ht.PositiveUnlabeled(P, U, prior=0.6, population="all"),
        lambda: ht.PositiveUnlabeled(P, U, prior=0.6, population="all", purity=0.85),
    ],
    ids=["labeled", "two samples", "two samples, purity", "one table", "one table, purity"],
)
def test_rows_of_large_data_have_the_same_noise(make, monkeypatch):
    few = covariance(make())
    monkeypatch.setattr(_strata, "COMPILED", 1)
    assert isinstance(make().measure(), SortedMeasure)
    np.testing.assert_allclose(covariance(make()), few, rtol=1e-12, atol=1e-12)


def test_hand_made_measures_have_no_noise():
    measure = ht.ScoreMeasure(score=[0.5], mass=[1.0], pos_mass=[1.0])
    assert measure.noise is None
