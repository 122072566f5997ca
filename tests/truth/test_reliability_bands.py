"""Bands of reliability curves hold the true curve as often as they say, at each score."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats
from scipy.special import logit

import halftruth as ht
from halftruth.calibration._reliability import ReliabilityCurve, reliability_curve

SETS = {"binned": 300, "isotonic": 300, "bpm": 60}
N_RESAMPLES = {"binned": 200, "isotonic": 200, "bpm": 100}
RANKS = np.array([0.02, 0.2, 0.4, 0.6, 0.8, 0.98])
"""Where in the population coverage is looked at: both ends, where few are positive or negative, too."""
MODELS = {
    "calibrated": ht.simulate.GaussianClasses(prior=0.3),
    "overconfident": ht.simulate.GaussianClasses(prior=0.3, slope=3.0, intercept=-2.0),
}
EVIDENCE: dict[str, Callable[[ht.simulate.GaussianClasses, np.random.Generator], object]] = {
    "labeled": lambda model, rng: model.labeled(1000, rng),
    "unlabeled": lambda model, rng: model.positive_unlabeled(200, 2000, rng, prior=0.3),
    "all": lambda model, rng: model.positive_unlabeled(200, 2000, rng, prior=0.3, population="all"),
}
LEAST = {"binned": 0.92, "isotonic": 0.92, "bpm": 0.88}
"""What a 95% band must hold at least, at each score; that of a parametric curve is a little too narrow."""


def true_shares(model: ht.simulate.GaussianClasses, curve: ReliabilityCurve) -> np.ndarray:
    """P(Y=1) at the curve's scores; of bins, between their ends."""
    intercept, slope = model.coefficients
    if curve.method != "binned":
        return model.posterior((logit(curve.score) - intercept) / slope)
    edge = np.concatenate([[-np.inf], (logit(curve.right[:-1]) - intercept) / slope, [np.inf]])
    negative, positive = (np.diff(stats.norm.cdf(edge - mean)) for mean in model.means)
    return np.asarray(model.prior * positive / (model.prior * positive + (1 - model.prior) * negative))


def hits(model: ht.simulate.GaussianClasses, kind: str, method: str, seed: int) -> np.ndarray:
    """Whether the band of one data set holds the truth, by rank."""
    rng = np.random.default_rng([seed, 6])
    evidence = EVIDENCE[kind](model, rng)
    curve = reliability_curve(evidence, method, n_resamples=N_RESAMPLES[method], rng=rng)
    truth = true_shares(model, curve)
    at = np.minimum(np.searchsorted(np.cumsum(curve.mass), RANKS), len(curve.mass) - 1)
    assert curve.low is not None
    assert curve.high is not None
    return np.asarray((curve.low <= truth) & (truth <= curve.high))[at]


@pytest.mark.slow
@pytest.mark.parametrize("method", LEAST)
@pytest.mark.parametrize("kind", EVIDENCE)
@pytest.mark.parametrize("name", MODELS)
def test_bands_hold_the_true_curve(name: str, kind: str, method: str, draws: Callable[[int], int]) -> None:
    n = draws(SETS[method])
    count = np.sum([hits(MODELS[name], kind, method, seed) for seed in range(n)], axis=0)
    # Fewer have a chance below 1e-4 where the level is held.
    assert (count >= stats.binom.ppf(1e-4, n, LEAST[method])).all(), count / n


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_bands_of_labeled_bins_are_no_wider_than_they_say(name: str, draws: Callable[[int], int]) -> None:
    n = draws(SETS["binned"])
    count = np.sum([hits(MODELS[name], "labeled", "binned", seed) for seed in range(n)], axis=0)
    assert (count <= stats.binom.ppf(1 - 1e-4, n, 0.96)).all(), count / n
