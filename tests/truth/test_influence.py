"""Intervals without resamples: as wide as the bootstrap's, and they hold the truth."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import numpy as np
import pytest

import halftruth as ht
from halftruth._registry import REGISTRY

PRIOR, THRESHOLD = 0.3, 0.5
MODEL = ht.simulate.GaussianClasses(prior=PRIOR)
N = 2000
RATES = {
    name: partial(metric.function, **metric.example, threshold=THRESHOLD)
    for name, metric in REGISTRY.items()
    if metric.threshold
}
ROWS: dict[str, Any] = {
    **{name: name for name in ("prevalence", "roc_auc", "average_precision", "brier", "log_loss")},
    **RATES,
}
FREE = {"prevalence", "predicted_positive_rate"}
"""Rows that the evidence, or the user, may fix."""


def pu(seed: int = 0, **given: Any) -> ht.PositiveUnlabeled:
    return MODEL.positive_unlabeled(N, 10 * N, np.random.default_rng(seed), **given)


def parts(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    data, more = MODEL.draw_strata(N, 10 * N, seed), MODEL.draw(2 * N, seed + 1)
    return data.positive.score, data.unlabeled.score, more.score[more.y == 0]


def with_propensity(population: str) -> ht.PositiveUnlabeled:
    rng = np.random.default_rng(2)
    data = MODEL.draw(12 * N, rng)
    positive = data.y == 1
    chance = 0.15 + 0.5 * data.score
    labeled = positive & (rng.random(len(chance)) < chance)
    return ht.PositiveUnlabeled(
        data.score[labeled],
        data.score[~labeled] if population == "all" else MODEL.draw(10 * N, rng).score,
        propensity=chance[labeled],
        prior=None if population == "all" else PRIOR,
        population=population,
    )


def with_negatives(**given: Any) -> ht.PositiveUnlabeled:
    positive, unlabeled, negative = parts()
    return ht.PositiveUnlabeled(positive, unlabeled, negative=negative, **given)


def soft() -> ht.SoftLabeled:
    data = MODEL.draw(3 * N, 0)
    return ht.SoftLabeled(data.posterior, np.clip(data.score**1.2, 0, 1))


def confidence() -> ht.PositiveConfidence:
    data = MODEL.draw(4 * N, 0)
    kept = (data.y == 1) & (data.posterior > 0)
    return ht.PositiveConfidence(np.maximum(data.posterior[kept], 0.05), data.score[kept])


def weighted() -> ht.Labeled:
    data, rng = MODEL.draw(3 * N, 0), np.random.default_rng(1)
    return ht.Labeled(data.y, data.score, sample_weight=rng.exponential(size=len(data.y)))


ESTIMATE = ht.PriorEstimate(
    value=PRIOR, replicates=np.clip(np.random.default_rng(3).normal(PRIOR, 0.02, 700), 0.2, 0.4)
)
KINDS = {
    "labeled": lambda: MODEL.labeled(3 * N, 0),
    "weighted": weighted,
    "two samples": pu,
    "one table": lambda: pu(population="all"),
    "purity": lambda: pu(purity=0.85),
    "purity, one table": lambda: pu(purity=0.85, population="all"),
    "propensity": lambda: with_propensity("unlabeled"),
    "propensity, one table": lambda: with_propensity("all"),
    "negatives": lambda: with_negatives(prior=PRIOR),
    "negatives, no prior": with_negatives,
    "soft": soft,
    "confidence": confidence,
    "estimate": lambda: pu(prior=ESTIMATE),
    "range": lambda: pu(prior=(0.25, 0.35)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_intervals_are_as_wide_as_those_of_the_bootstrap(kind: str) -> None:
    evidence = KINDS[kind]()
    closed = ht.evaluate(evidence, ROWS, n_resamples=0)
    drawn = ht.evaluate(evidence, ROWS, n_resamples=4000, rng=1)
    for name, row in drawn.items():
        width, other = row.high - row.low, closed[name].high - closed[name].low
        if name in FREE and width < 1e-9:
            assert other < 1e-9
        else:
            assert other / width == pytest.approx(1, abs=0.1), f"{name}: {other / width:.3f}"


COVERED = ("roc_auc", "average_precision", "precision", "f1", "brier")
STUDY = {
    "labeled": lambda model, n, rng: model.labeled(round(n / model.prior), rng),
    "two samples": lambda model, n, rng: model.positive_unlabeled(n, 10 * n, rng),
    "one noisy table": lambda model, n, rng: model.positive_unlabeled(
        n, 10 * n, rng, purity=0.85, population="all"
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", STUDY)
@pytest.mark.parametrize("n_positive", [200, 1000])
@pytest.mark.parametrize("prior", [0.1, 0.4])
def test_intervals_without_resamples_cover(kind, n_positive, prior, draws, capsys):
    model, n_sets = ht.simulate.GaussianClasses(prior=prior), draws(1000)
    at = {name: {"threshold": THRESHOLD} for name in ("precision", "f1")}
    truth = {name: model.truth(name, **at.get(name, {})) for name in COVERED}
    hits = np.zeros(len(COVERED))
    for seed in range(n_sets):
        evidence = STUDY[kind](model, n_positive, np.random.default_rng(seed))
        result = ht.evaluate(evidence, COVERED, threshold=THRESHOLD, n_resamples=0, rng=seed)
        hits += [result[name].low <= truth[name] <= result[name].high for name in COVERED]
    figures = ", ".join(f"{name} {100 * hit / n_sets:.1f}" for name, hit in zip(COVERED, hits, strict=True))
    with capsys.disabled():
        sys.stdout.write(f"\n{kind}, n_P={n_positive}, π={prior}: {figures}")
    assert hits.min() / n_sets > 0.93 - 3 * np.sqrt(0.93 * 0.07 / n_sets)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["labeled", "two samples"])
@pytest.mark.parametrize("model", ["calibrated", "less"])
def test_the_calibration_error_covers_without_resamples(model, kind, draws):
    population = {
        "calibrated": ht.simulate.GaussianClasses(prior=0.3),
        "less": ht.simulate.logistic_model(-0.5, 1.5),
    }[model]
    truth, n_sets = population.truth("calibration_error"), draws(500)
    sizes = (2000,) if kind == "labeled" else (200, 2000)
    method = population.labeled if kind == "labeled" else population.positive_unlabeled
    hits = 0
    for seed in range(n_sets):
        row = ht.evaluate(method(*sizes, seed), ["calibration_error"], n_resamples=0, rng=seed)
        hits += row["calibration_error"].low <= truth <= row["calibration_error"].high
    assert hits / n_sets > 0.9 - 3 * np.sqrt(0.9 * 0.1 / n_sets)
