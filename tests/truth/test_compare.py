"""95% intervals of a difference hold the true difference in 95% of simulated data sets."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable

import numpy as np
import pytest

import halftruth as ht

PRIOR = 0.3
FULL = 2000
METRICS = ("roc_auc", "average_precision", "brier")
Models = dict[str, ht.Labeled] | dict[str, ht.PositiveUnlabeled]


def scores(rng: np.random.Generator, y: np.ndarray) -> dict[str, np.ndarray]:
    """Two models that share most of their errors."""
    shared = rng.normal(size=len(y))
    better = 1.2 * (1.5 * y + shared) - 1.6
    worse = 1.2 * y + 0.8 * shared + 0.6 * rng.normal(size=len(y)) - 1.0
    return {name: 1 / (1 + np.exp(-x)) for name, x in (("better", better), ("worse", worse))}


def labeled(rng: np.random.Generator, n: int = 1000) -> dict[str, ht.Labeled]:
    y = rng.random(n) < PRIOR
    return {name: ht.Labeled(y, s) for name, s in scores(rng, y).items()}


def positive_unlabeled(rng: np.random.Generator) -> dict[str, ht.PositiveUnlabeled]:
    known, rest = scores(rng, np.ones(200, dtype=bool)), scores(rng, rng.random(2000) < PRIOR)
    return {name: ht.PositiveUnlabeled(known[name], rest[name], prior=PRIOR) for name in known}


@functools.cache
def truths() -> dict[str, float]:
    """From 4 million rows, of which exactly the prior's share are positive."""
    y = np.arange(4_000_000) < PRIOR * 4_000_000
    each = {name: ht.Labeled(y, s) for name, s in scores(np.random.default_rng(99), y).items()}
    return {m: getattr(ht, m)(each["better"]) - getattr(ht, m)(each["worse"]) for m in METRICS}


@pytest.mark.slow
@pytest.mark.parametrize("n_resamples", [0, 500])
@pytest.mark.parametrize("draw", [labeled, positive_unlabeled])
def test_intervals_of_differences_cover(
    draw: Callable[[np.random.Generator], Models],
    n_resamples: int,
    draws: Callable[[int], int],
    capsys: pytest.CaptureFixture[str],
) -> None:
    n_sets, hits = draws(FULL), dict.fromkeys(METRICS, 0)
    for seed in range(n_sets):
        models = draw(np.random.default_rng([seed, 3]))
        result = ht.compare(models, METRICS, n_resamples=n_resamples, rng=seed)
        for name, truth in truths().items():
            hits[name] += result[name].low <= truth <= result[name].high
    found = {name: hit / n_sets for name, hit in hits.items()}
    with capsys.disabled():
        figures = ", ".join(f"{name} {100 * share:.1f}" for name, share in found.items())
        sys.stdout.write(f"\n{draw.__name__}, {n_resamples} resamples, {n_sets} data sets: {figures}\n")
    slack = 3 * np.sqrt(0.95 * 0.05) * (n_sets**-0.5 - FULL**-0.5)  # of fewer data sets than all
    for name, share in found.items():
        assert 0.93 - slack <= share <= 0.97 + slack, name
