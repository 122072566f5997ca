"""95% intervals of the difference of two models hold the truth, from reviews planned for one of them."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import pytest

import halftruth as ht

pytestmark = pytest.mark.slow
AREAS, RATES = ("roc_auc", "average_precision", "brier"), ("precision", "recall")
FULL, ROWS, PRIOR, THRESHOLD = 400, 20_000, 0.05, 0.3


def two_models(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, and scores of two models that share most of their errors."""
    y = rng.random(ROWS) < PRIOR
    shared, own = rng.normal(size=(2, ROWS))
    better, worse = 2 * (2 * y + shared) - 2, 1.8 * (1.8 * y + 0.8 * shared + 0.6 * own) - 1.62
    a, b = (1 / (1 + np.exp(-(x + np.log(PRIOR / (1 - PRIOR))))) for x in (better, worse))
    return y, a, b


def truths(y: np.ndarray, score: np.ndarray) -> np.ndarray:
    labeled = ht.Labeled(y, score)
    cells = ht.confusion(labeled, THRESHOLD)
    return np.asarray([*(getattr(ht, m)(labeled) for m in AREAS), *(getattr(cells, m) for m in RATES)])


def review(y: np.ndarray, score: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """What 400 reviews say that were planned for these scores, and the chances."""
    plan = ht.plan_review(
        score, 400, metrics=("precision", "recall", "roc_auc"), threshold=THRESHOLD, rng=seed
    )
    label = np.full(ROWS, np.nan)
    label[plan.rows] = y[plan.rows]
    return label, plan.probability


@pytest.mark.parametrize("paired", [True, False])
def test_intervals_of_differences_of_reviewed_models_cover(
    paired: bool, draws: Callable[[int], int], capsys: pytest.CaptureFixture[str]
) -> None:
    n_sets, hits = draws(FULL), np.zeros(5)
    for seed in range(n_sets):
        y, a, b = two_models(np.random.default_rng([seed, 7]))
        reviews = review(y, a, seed)
        models, truth = {"a": ht.Reviewed(a, *reviews), "b": ht.Reviewed(b, *reviews)}, truths(y, a)
        if not paired:  # another population, with an audit of its own
            y, _, b = two_models(np.random.default_rng([seed, 8]))
            models["b"] = ht.Reviewed(b, *review(y, b, FULL + seed))
        result = ht.compare(
            models, [*AREAS, *RATES], threshold=THRESHOLD, n_resamples=300, rng=seed, paired=paired
        )
        rows = result["a", "b"].values()
        hits += [row.low <= x <= row.high for row, x in zip(rows, truth - truths(y, b), strict=True)]
    found = dict(zip((*AREAS, *RATES), hits / n_sets, strict=True))
    with capsys.disabled():
        figures = ", ".join(f"{name} {100 * share:.1f}" for name, share in found.items())
        sys.stdout.write(f"\nreviewed, paired={paired}, {n_sets} data sets: {figures}\n")
    slack = 3 * np.sqrt(0.95 * 0.05 / n_sets) * (n_sets < FULL)  # of fewer data sets than all
    for name, share in found.items():
        assert 0.93 - slack <= share <= 0.98 + slack, name
