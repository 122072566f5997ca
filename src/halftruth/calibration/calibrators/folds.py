"""A stratum in parts, of which each is held out once: rows, or the counts of a histogram."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector
from halftruth.table._grid import Grid
from halftruth.table._histogram import Bins
from halftruth.table._strata import StratumRows

MANY = 1_000_000_000
"""Rows from which NumPy draws no parts of fixed size; parts then differ by chance."""


class Folds(Protocol):
    """One stratum in parts."""

    def others(self, k: int) -> StratumRows | Bins:
        """The rows outside part ``k``."""
        ...

    def score(self, k: int) -> Vector:
        """The scores of part ``k``."""
        ...

    def joined(self, score: Sequence[Vector]) -> StratumRows | Bins:
        """All rows, with new scores for each part."""
        ...


def folds_of(stratum: StratumRows | Bins, n_folds: int, rng: np.random.Generator) -> Folds:
    """The rows of a stratum split at random into parts that differ by one row at most."""
    if isinstance(stratum, Bins):
        return FoldedBins(stratum, n_folds, rng)
    return FoldedRows(stratum, n_folds, rng)


class FoldedRows:
    """Rows, each in one part."""

    def __init__(self, rows: StratumRows, n_folds: int, rng: np.random.Generator) -> None:
        self.rows = rows
        self.part = rng.permutation(np.arange(len(rows)) % n_folds)

    def others(self, k: int) -> StratumRows:
        rows, kept = self.rows, self.part != k
        return StratumRows(
            score=rows.score[kept],
            weight=None if rows.weight is None else rows.weight[kept],
            value=None if rows.value is None else rows.value[kept],
            meaning=rows.meaning,
        )

    def score(self, k: int) -> Vector:
        return np.asarray(self.rows.score[self.part == k])

    def joined(self, score: Sequence[Vector]) -> StratumRows:
        rows = self.rows
        out = np.empty(len(rows))
        for k, each in enumerate(score):
            out[self.part == k] = each
        return StratumRows(score=out, weight=rows.weight, value=rows.value, meaning=rows.meaning)


class FoldedBins:
    """Bins: how many rows of each are in a part is drawn as if the rows were there."""

    def __init__(self, bins: Bins, n_folds: int, rng: np.random.Generator) -> None:
        self.bins = bins
        self.held = _counts(bins.rows, n_folds, rng)

    def others(self, k: int) -> Bins:
        return self.bins.part(self.bins.rows - self.held[k])

    def score(self, k: int) -> Vector:
        part = self.bins.part(self.held[k])
        if part.position is None:  # margins: only their ends are known
            return part.low / 2 + part.high / 2
        return np.clip(part.position / part.full("weight"), part.low, part.high)

    def joined(self, score: Sequence[Vector]) -> Bins:
        grid = Grid("probability", n_bins=self.bins.grid.n_bins)
        parts = [self.bins.part(rows).moved(s, grid) for rows, s in zip(self.held, score, strict=True)]
        return reduce(Bins.concatenate, parts)


def _counts(rows: NDArray[np.int64], n_folds: int, rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """Rows of each bin in each part."""
    n = int(rows.sum())
    if n >= MANY:
        return list(rng.multinomial(rows, np.full(n_folds, 1 / n_folds)).T)
    rest, out = rows.copy(), []
    for k in range(n_folds - 1):
        out.append(
            rng.multivariate_hypergeometric(rest, n // n_folds + (k < n % n_folds), method="marginals")
        )
        rest = rest - out[-1]
    return [*out, rest]
