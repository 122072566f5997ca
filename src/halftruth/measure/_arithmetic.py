"""Arithmetic along the score, and what a measure answers with.

Quotients, integrals, running sums from the top, masses shared among the nodes of a grid.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector

__all__ = [
    "NOTHING", "Area", "Index", "IsotonicBlocks", "LogAtoms", "LogitNodes", "Number", "OwnMass", "RankSums",
    "Sweep", "by_bin", "coarser_nodes", "integral", "ratio", "scalar", "split_to_nodes", "spread_to_nodes",
    "where_both", "within",
]  # fmt: skip

MANY = 1 << 17  # values of which sums over stretches are made faster than one by one
Number = Any  # a float, or an array over the leading axes of a measure
Index = NDArray[np.intp]


class Area(NamedTuple):
    """An area under a curve in masses, and the masses of the classes by which it is divided."""

    area: Number
    positives: Number
    negatives: Number


class OwnMass(NamedTuple):
    """A known positive's own part in the precision at its score, by which it would be judged itself.

    ``pos`` is what it adds to μ₁ beyond what it adds to μ, and is taken off. ``mass`` is one row of μ, and is
    added where known positives lie beside the population: E[(n+1)/(X+1)] ≈ 1/p of a binomial X, where n/X is
    biased. Both are 0 where each row has its label. ``squares``, of rows that stand for many others: Σ v² − v
    of what they add to μ₁ at each score; what a row's own part adds to ∫ precision dμ₁ is that over μ.
    """

    pos: Number = 0.0
    mass: Number = 0.0
    squares: Number = None

    def scale(self, positives: Number, total: Number) -> Vector:
        """The factor that makes the precision of all cases the prior again."""
        return ratio(positives, positives - self.pos) * ratio(total + self.mass, total)


NOTHING = OwnMass()


class IsotonicBlocks(NamedTuple):
    """Stretches of scores, ascending, with one slope μ₁/μ each: where the isotonic regression is constant."""

    low: Vector
    high: Vector
    mass: Vector
    pos: Vector


class LogAtoms(NamedTuple):
    """ln s and −ln(1−s), the scores s themselves, and μ and μ₁ there."""

    log_s: Vector
    log_odds: Vector
    score: Vector
    mass: Vector
    pos: Vector


class LogitNodes(NamedTuple):
    """Gaps at exactly 0 and 1, nodes of the logit in steps of a grid, and μ and μ₁ (n, n_nodes) there."""

    ends: Vector
    node: Index
    mass: Vector
    pos: Vector


class RankSums(NamedTuple):
    """μ and μ₁ of all rows, whether a row adds a whole number to μ₁, and both masses up to ranks of rows."""

    total: float
    positives: float
    whole: bool
    reach: Callable[[Vector], tuple[Vector, Vector]]


def integral(function: Number, masses: Number) -> Vector:
    """∫ function d masses, along the last axis; the same whatever the number of threads."""
    return np.asarray(np.einsum("...i,...i->...", function, masses))


def where_both(value: Number, positives: Number, negatives: Number) -> Vector:
    """The value, NaN where a class is empty: what compares the classes says nothing then."""
    positives, negatives = np.abs(positives), np.abs(negatives)
    # A class that is there only by rounding is empty.
    return np.where(np.minimum(positives, negatives) <= 1e-12 * (positives + negatives), np.nan, value)


def within(pos: Vector, mass: Vector) -> bool:
    """Whether 0 ≤ pos ≤ mass everywhere, rounding apart."""
    # Masses that are off by this share of the largest are off by rounding.
    slack = 1e-9 * float(np.abs(mass).max(initial=0.0))
    return bool((pos >= -slack).all() and (pos <= mass + slack).all())


def ratio(numerator: Number, denominator: Number) -> Vector:
    """Quotient, NaN where the denominator is 0."""
    numerator, denominator = np.broadcast_arrays(
        np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    )
    out = np.full(numerator.shape, np.nan)
    np.divide(numerator, denominator, out=out, where=denominator != 0)
    return out


def scalar(value: Number) -> float:
    """A Python float where there are no leading axes, else the array.

    Typed as what a caller with one measure gets; only resampling makes measures with leading axes.
    """
    out: Number = float(value) if np.ndim(value) == 0 else np.asarray(value)
    return cast(float, out)


def by_bin(values: Vector, index: Index, n_bins: int) -> Vector:
    """Sums over bins along the last axis; ``index`` (..., m) is the bin of each."""
    if index.ndim == values.ndim == 1 and len(index) >= MANY and (np.diff(index) >= 0).all():
        # Of scores in order a bin is a stretch.
        cuts = np.searchsorted(index, np.arange(n_bins + 1))
        full = np.flatnonzero(np.diff(cuts))
        out = np.zeros(n_bins)
        out[full] = np.add.reduceat(values, cuts[full])
        return out
    index = np.broadcast_to(index, values.shape)
    lead = values.shape[:-1]
    n = int(np.prod(lead, dtype=np.intp))
    # One count for all leading axes: each has a stretch of bins of its own.
    flat = index.reshape(n, -1) + np.arange(n)[:, None] * n_bins
    sums = np.bincount(flat.ravel(), values.reshape(n, -1).ravel(), minlength=n * n_bins)
    return np.asarray(sums.reshape(*lead, n_bins))


@dataclass(frozen=True, kw_only=True, eq=False)
class Sweep:
    """Masses at or above each threshold; thresholds fall from +inf to the lowest score.

    ``tp``, ``fp`` and ``predicted`` have shape (..., m + 1): μ₁, μ − μ₁ and μ of [s ≥ t].
    """

    threshold: Vector
    tp: Vector
    fp: Vector
    predicted: Vector

    @classmethod
    def of(cls, score: Vector, mass: Vector, pos_mass: Vector, neg_mass: Vector) -> Sweep:
        """The sweep of masses at ascending scores."""
        return cls(
            threshold=np.concatenate([[np.inf], score[::-1]]),
            tp=_from_above(pos_mass),
            fp=_from_above(neg_mass),
            predicted=_from_above(mass),
        )

    # Totals are the last partial sums, so that every curve ends at exactly 1.

    @property
    def positives(self) -> Vector:
        return np.asarray(self.tp[..., -1])

    @property
    def negatives(self) -> Vector:
        return np.asarray(self.fp[..., -1])

    @property
    def total(self) -> Vector:
        return np.asarray(self.predicted[..., -1])

    @property
    def tpr(self) -> Vector:
        return ratio(self.tp, self.positives[..., None])

    @property
    def fpr(self) -> Vector:
        return ratio(self.fp, self.negatives[..., None])

    @property
    def precision(self) -> Vector:
        """μ₁/μ above each threshold, read at the next population score where μ is still 0."""
        raw = ratio(self.tp, self.predicted)
        return np.take_along_axis(raw, self._next_populated(), axis=-1)

    def without(self, own: OwnMass) -> Sweep:
        """The sweep that the precision of known positives is read from."""
        if own is NOTHING:
            return self
        pos, mass = (np.asarray(x)[..., None] for x in (own.pos, own.mass))
        return replace(self, tp=self.tp - pos, predicted=self.predicted + mass)

    def _next_populated(self) -> np.ndarray:
        """Index of the first threshold, from here down, with population mass above it."""
        populated = self.predicted != 0
        here = np.arange(self.predicted.shape[-1])
        index = np.where(populated, here, here[-1])
        return np.asarray(np.minimum.accumulate(index[..., ::-1], axis=-1)[..., ::-1])


def _from_above(masses: Vector) -> Vector:
    # The first threshold is +inf, which nothing reaches.
    out = np.zeros((*masses.shape[:-1], masses.shape[-1] + 1))
    np.cumsum(masses[..., ::-1], axis=-1, out=out[..., 1:])
    return out


def split_to_nodes(values: Vector, position: Vector) -> tuple[Index, Vector]:
    """Nodes, ascending, and what (..., m) values at ascending positions add there, shared by nearness.

    Node i lies at position i. Sums and first moments stay what they are.
    """
    if not len(position):
        return np.zeros(0, dtype=np.intp), np.zeros((*values.shape[:-1], 0))
    cell = np.floor(position).astype(np.intp)
    first = np.flatnonzero(np.diff(cell, prepend=cell[0] - 1))
    # What lies a share of the way into a cell goes by that share to the node at the cell's end.
    of_cell = np.add.reduceat(values, first, axis=-1)
    upper = np.add.reduceat(values * (position - cell), first, axis=-1)
    used = cell[first]
    node = np.union1d(used, used + 1)
    out = np.zeros((*values.shape[:-1], len(node)))
    out[..., np.searchsorted(node, used)] = of_cell - upper
    out[..., np.searchsorted(node, used + 1)] += upper
    return node, out


def spread_to_nodes(values: Vector, score: Vector, n_cells: int) -> Vector:
    """Values (n, m) at scores in [0, 1], at the nodes 0, 1/n_cells, …, 1."""
    node, sums = split_to_nodes(values, score * n_cells)
    out = np.zeros((len(values), n_cells + 2))
    out[:, node] = sums  # nothing goes beyond 1: a score of 1 is a node
    return out[:, :-1]


def coarser_nodes(nodes: Vector, n_cells: int) -> Vector:
    """The nodes of a grid with fewer cells; as if the values had been split on it at once."""
    times = (len(nodes) - 1) // n_cells
    share = np.arange(times) / times
    by_cell = nodes[:-1].reshape(n_cells, times)
    out = np.zeros(n_cells + 1)
    out[:-1] = np.einsum("ij,j->i", by_cell, 1 - share)
    out[1:] += np.einsum("ij,j->i", by_cell, share)
    out[-1] += nodes[-1]
    return out
