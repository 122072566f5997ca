"""The upper bound on α is below the truth no more often than it says, in the worst cases too."""

from __future__ import annotations

import numpy as np
import pytest

import halftruth as ht

LEVEL = 0.95


def normal(rng, positive):
    return rng.normal(2 * positive)


def negatives_below(rng, positive):
    """Least favourable: above any threshold all of the unlabeled are positives, P_U = α P₁."""
    return np.where(positive, rng.random(positive.shape), -1.0)


def negatives_above(rng, positive):
    return -negatives_below(rng, positive)


def negatives_outside(rng, positive):
    """Least favourable for intervals: between any two positives all of the unlabeled are positives."""
    return np.where(positive, rng.random(positive.shape), rng.choice([-1.0, 2.0], positive.shape))


def tied_negatives_outside(rng, positive):
    return np.ceil(5 * negatives_outside(rng, positive))


def tied(rng, positive):
    """Five values."""
    return np.rint(normal(rng, positive)).clip(-1, 3)


def tied_negatives_below(rng, positive):
    return np.ceil(5 * negatives_below(rng, positive))


CASES = {
    # name: scores, n_positive, n_unlabeled, α
    "clean": (normal, 200, 2_000, 0.2),
    "negatives below": (negatives_below, 200, 2_000, 0.2),
    "negatives above": (negatives_above, 200, 2_000, 0.2),
    "ties": (tied, 200, 2_000, 0.2),
    "ties, negatives below": (tied_negatives_below, 200, 2_000, 0.2),
    "30 positives": (negatives_below, 30, 1_000, 0.3),
    "10 positives": (negatives_below, 10, 1_000, 0.3),
    "10 positives, 20 unlabeled": (negatives_below, 10, 20, 0.7),
    "small α": (negatives_below, 300, 5_000, 0.01),
    "many unlabeled": (negatives_below, 100, 50_000, 0.5),
    "α = 1": (normal, 200, 2_000, 1.0),
    "α = 1, 10 positives": (normal, 10, 500, 1.0),
    "negatives outside": (negatives_outside, 200, 2_000, 0.2),
    "negatives outside, 30 positives": (negatives_outside, 30, 1_000, 0.3),
    "negatives outside, ties": (tied_negatives_outside, 200, 2_000, 0.2),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_the_truth_is_seldom_above_the_bound(name, draws):
    scores, n_positive, n_unlabeled, alpha = CASES[name]
    rng = np.random.default_rng([20, list(CASES).index(name)])
    n = draws(1_000)
    passed = 0
    for _ in range(n):
        positive = scores(rng, np.ones(n_positive, dtype=bool))
        unlabeled = scores(rng, rng.random(n_unlabeled) < alpha)
        passed += ht.prior_upper_bound(positive, unlabeled, confidence_level=LEVEL) < alpha
    # Two standard errors of a share of 5% above it: 6.4% of 1,000 draws.
    most = 1 - LEVEL + 2 * np.sqrt(LEVEL * (1 - LEVEL) / n)
    assert passed / n <= most, f"below the truth in {passed} of {n}"
