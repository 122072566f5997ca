"""Rows for the metric of a training loop, and what halftruth says of all of them at once."""

from __future__ import annotations

from typing import Any

import numpy as np

import halftruth as ht

SHARES = {"prior": 0.4, "purity": 0.95}


def rows(kind: str, n: int = 3000, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores with ties and both ends, targets of this kind, and weights."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.4
    score = np.round(1 / (1 + np.exp(-rng.normal(2.0 * truth - 1))), 3)
    score[:4] = [0.0, 1.0, -0.0, 0.5]
    target = truth.astype(float)
    if kind == "positive_unlabeled":
        target[rng.random(n) < 0.5] = np.nan
    if kind == "soft":
        target = rng.beta(1 + 3 * truth, 4 - 3 * truth)
    return score, target, rng.uniform(0.25, 4.0, n)


def at_once(
    kind: str, score: Any, target: Any, weight: Any = None, grid: Any = "probability"
) -> ht.ScoreTable:
    """The histogram of all rows at once, by the evidence itself."""
    if kind == "labeled":
        table = ht.Labeled(target, score, sample_weight=weight).table
    elif kind == "soft":
        table = ht.SoftLabeled(target, score, sample_weight=weight).table
    else:
        table = ht.PositiveUnlabeled.from_labels(target, score, sample_weight=weight).table
    return table.compress(grid)


def evidence_of(kind: str, table: ht.ScoreTable) -> Any:
    if kind == "positive_unlabeled":
        return ht.PositiveUnlabeled.from_table(table, **SHARES)
    return (ht.Labeled if kind == "labeled" else ht.SoftLabeled).from_table(table)


def columns(table: ht.ScoreTable) -> dict[str, Any]:
    """Every array of a histogram, as lists."""
    return {
        f"{name}.{column}": values.tolist()
        for name, bins in table.strata.items()
        for column, values in vars(bins).items()
        if isinstance(values, np.ndarray)
    }
