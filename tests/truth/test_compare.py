"""95% intervals of a difference hold the true difference in 95% of simulated data sets."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, norm

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


SITES = [ht.simulate.GaussianClasses(prior=prior) for prior in (0.05, 0.1, 0.2)]


@pytest.mark.slow
@pytest.mark.parametrize("pair", [(0, 1), (0, 2)], ids=["0.05 and 0.1", "0.05 and 0.2"])
def test_intervals_of_samples_with_priors_of_their_own_cover(
    pair: tuple[int, int], draws: Callable[[int], int]
) -> None:
    sites, n_sets = [SITES[i] for i in pair], draws(600)
    hits = dict.fromkeys(("roc_auc", "brier"), 0)
    for seed in range(n_sets):
        rng = np.random.default_rng([seed, 4])
        samples = {f"{i}": site.positive_unlabeled(150, 1500, rng) for i, site in enumerate(sites)}
        result = ht.compare(samples, list(hits), paired=False, n_resamples=300, rng=seed)
        for name in hits:
            truth = sites[0].truth(name) - sites[1].truth(name)
            hits[name] += result[name].low <= truth <= result[name].high
    slack = 3 * np.sqrt(0.95 * 0.05 / n_sets)
    for name, hit in hits.items():
        assert 0.95 - slack <= hit / n_sets <= 0.95 + slack, (name, hit / n_sets)


# --- few rows, and models that make few errors ----------------------------------------------------------

FEW = 100  # data sets
SIZES = {"30 labeled": 30, "100 labeled": 100, "300 labeled": 300, "20 + 200": 20, "200 + 2000": 200}
DECIDED = ("roc_auc", "average_precision", "precision", "recall", "fpr", "accuracy", "f1")


def two_margins(rng: np.random.Generator, y: np.ndarray, auc: float) -> tuple[np.ndarray, np.ndarray]:
    """Scores of a model with this AUC and of a worse one, whose noise has the correlation 0.7."""
    gap, noise = np.sqrt(2) * norm.ppf(auc), rng.normal(size=(2, len(y)))
    return gap * y + noise[0], 0.85 * gap * y + 0.7 * noise[0] + np.sqrt(0.51) * noise[1]


def threshold_of(auc: float) -> float:
    return float(norm.ppf(auc) / np.sqrt(2) + 0.3)


@functools.cache
def differences(auc: float) -> dict[str, float]:
    """From 2 million rows, of which exactly the prior's share are positive."""
    y = np.arange(2_000_000) < PRIOR * 2_000_000
    a, b = (ht.Labeled(y, s) for s in two_margins(np.random.default_rng(98), y, auc))
    areas = {m: getattr(ht, m)(a) - getattr(ht, m)(b) for m in DECIDED[:2]}
    first, second = (ht.confusion(e, threshold_of(auc)) for e in (a, b))
    return areas | {m: float(getattr(first, m) - getattr(second, m)) for m in DECIDED[2:]}


def two_models(rng: np.random.Generator, size: str, auc: float, *, paired: bool) -> Models:
    n = SIZES[size]

    def sample() -> tuple[Any, Any]:
        if size.endswith("labeled"):
            y = rng.random(n) < PRIOR
            a, b = two_margins(rng, y, auc)
            return ht.Labeled(y, a), ht.Labeled(y, b)
        known, rest = (two_margins(rng, y, auc) for y in (np.ones(n), rng.random(10 * n) < PRIOR))
        a, b = (ht.PositiveUnlabeled(p, u, prior=PRIOR) for p, u in zip(known, rest, strict=True))
        return a, b

    first = sample()
    return {"better": first[0], "worse": (first if paired else sample())[1]}


@pytest.mark.slow
@pytest.mark.parametrize("n_resamples", [0, 300])
@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("auc", [0.75, 0.95, 0.999])
@pytest.mark.parametrize("size", SIZES)
def test_intervals_of_differences_cover_with_few_rows(
    size: str, auc: float, paired: bool, n_resamples: int, draws: Callable[[int], int]
) -> None:
    n_sets, hits = draws(FEW), dict.fromkeys(DECIDED, 0)
    for seed in range(n_sets):
        models = two_models(np.random.default_rng([seed, 5]), size, auc, paired=paired)
        threshold = threshold_of(auc)
        result = ht.compare(
            models, DECIDED, threshold=threshold, paired=paired, n_resamples=n_resamples, rng=seed
        )
        for name, truth in differences(auc).items():
            assert result[name].low < result[name].high, name
            hits[name] += result[name].low <= truth <= result[name].high
    # At least 92% hold it, but for what chance does to one number in ten thousand.
    for name, hit in hits.items():
        assert hit >= binom.ppf(1e-4, n_sets, 0.92), (name, hit / n_sets)
