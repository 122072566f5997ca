"""The covariance that a measure states of its bins' gaps, against the spread of gaps over many data sets."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

import halftruth as ht

N_BINS = 5
DRAWS = 4000
SMALLEST = 200
MODEL = ht.simulate.GaussianClasses(prior=0.4, separation=1.2, intercept=-0.6, slope=0.8)
NEAR = ht.simulate.GaussianClasses(prior=0.4, separation=0.5, intercept=-0.6, slope=0.8)
"""Classes so near that confidences are never tiny: a few of those carry a sample, and spoil any linear rule."""


def propensity(x):
    return 0.2 + 0.7 / (1 + np.exp(-x))


def partial(**settings):
    return lambda rng: MODEL.positive_unlabeled(300, 900, rng, **settings)


KINDS = {
    "labeled": lambda rng: MODEL.labeled(800, rng),
    "soft": lambda rng: MODEL.soft(800, rng),
    "two samples": partial(),
    "one table": partial(population="all"),
    "two samples, purity": partial(purity=0.85),
    "one table, purity": partial(population="all", purity=0.85),
    "two samples, propensity": partial(propensity=propensity),
    "one table, propensity": partial(population="all", propensity=propensity),
    "one table, propensity, no prior": partial(population="all", propensity=propensity, prior=None),
    "confidence": lambda rng: NEAR.positive_confidence(800, rng),
    "confidence, prior": lambda rng: NEAR.positive_confidence(800, rng, prior="true"),
    "two samples, known negatives": partial(n_negative=SMALLEST),
    "one table, known negatives": partial(n_negative=SMALLEST, population="all"),
}


def gaps_and_covariance(evidence):
    """Both as shares of the population, of bins of equal width."""
    measure = evidence.measure()
    index = np.minimum((measure.score * N_BINS).astype(int), N_BINS - 1)
    gap = np.bincount(index, measure.pos_mass - measure.score * measure.mass, minlength=N_BINS)
    return gap / measure.total, measure.noise.covariance(index, N_BINS) / measure.total**2


def allowed(terms, chance):
    """How far a mean of as many terms lies from its expectation, in one of such means with this chance."""
    n, *shape = terms.shape
    quantile = NormalDist().inv_cdf(1 - chance / (2 * math.prod(shape)))
    return quantile * terms.std(axis=0, ddof=1) / math.sqrt(n)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_gaps_spread_as_the_noise_says(draws, kind):
    rng = np.random.default_rng(list(KINDS).index(kind))
    n = draws(DRAWS)
    found = [gaps_and_covariance(KINDS[kind](rng)) for _ in range(n)]
    gap, stated = (np.asarray(x) for x in zip(*found, strict=True))
    off = (gap - gap.mean(axis=0)) * math.sqrt(n / (n - 1))
    middle = stated.mean(axis=0)
    sd = np.sqrt(np.diagonal(middle))
    # Every entry, as a correlation. What is stated is the variance of n rows of which n − 1 are free: it errs by
    # one in the smallest stratum.
    difference = (off[:, :, None] * off[:, None, :] - stated) / np.multiply.outer(sd, sd)
    wrong = np.abs(difference.mean(axis=0)) > allowed(difference, 1e-4) + 1 / SMALLEST
    assert not wrong.any(), f"{wrong} where {difference.mean(axis=0).round(3)}"
    # All directions at once, each in its own standard deviations.
    length = np.einsum("ni,ij,nj->n", off, np.linalg.inv(middle), off) / N_BINS
    assert abs(length.mean() - 1) <= allowed(length, 1e-4) + 1 / SMALLEST
