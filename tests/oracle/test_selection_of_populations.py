"""Bounds over selection at the level of populations: laws, purity, known negatives, all drawn at random.

Every quantity is exact: weights on a grid of scores are the laws themselves, and the truth is the measure made
of the true classes. The true w lies within Γ, so the truth must lie within the bounds.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import halftruth as ht
from halftruth.inference._prior_range import prior_range
from halftruth.inference._requests import ModelRows, read_requests

NAMES = ("roc_auc", "brier", "log_loss", "precision", "recall", "f1", "accuracy")
METRICS: dict[str, Any] = {name: name for name in NAMES} | {"ece": partial(ht.calibration_error, n_bins=10)}
M, N = 40, 100_000
SCORE = (np.arange(M) + 0.5) / M


def _weights(rng: np.random.Generator, gamma: float, known: np.ndarray) -> np.ndarray:
    """A random w within [1/Γ, Γ] with ∫ w dP_known = 1: steps, two values by chance, or any."""
    while True:
        step = np.where(np.arange(M) < rng.integers(1, M), gamma, 1 / gamma) ** rng.choice([-1, 1])
        w = [step, rng.choice([1 / gamma, gamma], M), gamma ** rng.uniform(-1, 1, M)][rng.integers(3)]
        w = w / (w @ known)
        if 1 / gamma <= w.min() and w.max() <= gamma:
            return np.asarray(w)


def _law(rng: np.random.Generator, up: float, down: float) -> np.ndarray:
    a, b = rng.uniform(1, 4, 2)
    law = SCORE ** (a * up) * (1 - SCORE) ** (b * down)
    return np.asarray(law / law.sum())


def _case(rng: np.random.Generator, population: str, kind: str, gamma: float) -> tuple[Any, ht.ScoreMeasure]:
    known, negative = _law(rng, 1, 0.5), _law(rng, 0.5, 1)
    w, prior = _weights(rng, gamma, known), rng.uniform(0.05, 0.5)
    purity = rng.uniform(0.85, 0.98) if "purity" in kind else 1.0
    positive = w * known
    if population == "unlabeled":
        n_positive, unlabeled = 1000.0, N * (prior * positive + (1 - prior) * negative)
        mass, pos = unlabeled, N * prior * positive
    else:
        # No positive can be rarer than those that are known: so few that every w leaves some.
        n_positive = N * prior * rng.uniform(0.05, 0.9) * min(1 / gamma, w.min()) / purity
        pos = N * prior * positive
        mass = pos + N * (1 - prior) * negative
        unlabeled = mass - n_positive * (purity * known + (1 - purity) * negative)
    evidence = ht.PositiveUnlabeled(
        SCORE, SCORE,
        positive_weight=n_positive * (purity * known + (1 - purity) * negative),
        unlabeled_weight=unlabeled,
        prior=None if "identified" in kind else prior,
        purity=purity,
        negative=SCORE if "negatives" in kind else None,
        negative_weight=1000 * negative if "negatives" in kind else None,
        population=population if "negatives" not in kind else "unlabeled",
        selection=gamma,
    )  # fmt: skip
    return evidence, ht.ScoreMeasure(score=SCORE, mass=mass, pos_mass=pos)


@pytest.mark.parametrize(
    ("population", "kind"),
    [
        ("unlabeled", "clean"),
        ("unlabeled", "purity"),
        ("unlabeled", "negatives"),
        ("unlabeled", "negatives, prior identified"),
        ("all", "clean"),
        ("all", "purity"),
    ],
)
def test_the_truth_lies_within_the_bounds(population: str, kind: str) -> None:
    rng, missed, judged = np.random.default_rng(1), 0, 0
    for _ in range(60):
        gamma = rng.uniform(1.1, 1.8)
        evidence, truth = _case(rng, population, kind, gamma)
        span = prior_range(evidence, 0.95)
        requests = read_requests(METRICS, [evidence.measure()], 0.5)
        values = ModelRows(evidence, evidence.table.support).exact(requests, span.scenarios)
        for r in requests:
            low, high = np.nanmin(values[r]), np.nanmax(values[r])
            missed += not low - 1e-6 <= r.at(truth) <= high + 1e-6
            judged += 1
    assert judged > 400
    # The prior that negatives identify is bounded where the laws do not cross, which random ones may.
    assert missed <= (0.02 * judged if "identified" in kind else 0)


def test_many_scores_give_what_few_do() -> None:
    """Of very many rows what a tilt changes is read from some thousands of joined ones."""
    rng = np.random.default_rng(0)
    positive = rng.normal(1.5, 1, 4000)
    unlabeled = np.append(rng.normal(0, 1, 30_000), rng.normal(1.5, 1, 6000))
    for how in ({"prior": 1 / 6}, {"negative": rng.normal(0, 1, 4000)}):
        evidence = ht.PositiveUnlabeled(positive, unlabeled, selection=1.5, **how)
        requests = read_requests(
            ["prevalence", "roc_auc", "average_precision", "f1"], [evidence.measure()], 1.0
        )
        rows = ModelRows(evidence, evidence.table.support)
        scenarios = prior_range(evidence, 0.95).scenarios
        near = rows.exact(requests, scenarios)
        for r in requests:
            exact = [r.at(evidence.measure_at(scenario)) for scenario in scenarios]
            np.testing.assert_allclose(near[r], exact, rtol=0, atol=5e-4)
