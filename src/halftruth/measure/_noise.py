"""Noise: how far sampling moves the gaps μ₁(bin) − ∫_bin s dμ.

A row of stratum k with value v adds g = (p − s m) + (p′ − s m′) v to the gap of its bin, with the rule's
coefficients p of μ₁ and m of μ; the coefficients themselves move as totals do. What the row moves in all
is d = g e_bin − a − a′ v, with vectors a over bins, and the covariance is Σ d dᵀ. Whole weights count rows;
of others only the proportions matter, and ``unit`` is what one row weighs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector

Index = NDArray[np.intp]
Pair = tuple[Vector, Vector]
"""For a row by itself, and for each unit of its value."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """The rows of one stratum: their number, values and squared values at each score, and what one adds.

    ``pos`` and ``mass`` are what a row adds to μ₁ and to μ. ``moves`` (..., n_parts), where the strata were
    drawn together: how the coefficients on the stratum's distribution change with the share of each stratum.
    """

    count: Vector
    value: Vector | None = None
    square: Vector | None = None
    pos: Pair
    mass: Pair
    moves: Pair | None = None
    unit: float = 1.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Moments:
    """Of one stratum, by bin: Σ c of its columns c (1, and the values), Σ g c, Σ g² and ∫ s dμ."""

    columns: tuple[Vector, ...]
    gaps: tuple[Vector, ...]
    square: Vector
    claimed: Vector
    of_values: Vector | None = None
    """Σ v² over all rows."""
    pos: Pair
    mass: Pair
    moves: Pair | None = None
    unit: float = 1.0

    @property
    def gap(self) -> Vector:
        """Σ g by bin."""
        return self.gaps[0]

    def mixed(self, mixing: Vector) -> Moments:
        """The same rows, in shares of ``mixing`` (..., n_bins, n_bins) moved to other bins."""

        def move(sums: Vector) -> Vector:
            moved = (mixing @ sums[..., None])[..., 0]
            whole, now = sums.sum(axis=-1, keepdims=True), moved.sum(axis=-1, keepdims=True)
            return np.asarray(moved * np.divide(whole, now, out=np.ones_like(now), where=now != 0))

        return replace(
            self,
            columns=tuple(map(move, self.columns)),
            gaps=tuple(map(move, self.gaps)),
            square=move(self.square),
            claimed=move(self.claimed),
        )

    @property
    def totals(self) -> tuple[Vector, ...]:
        return tuple(column.sum(axis=-1) for column in self.columns)

    def products(self, i: int, j: int) -> Vector:
        """Σ c_i c_j over all rows."""
        return np.asarray(self.of_values if i + j == 2 else self.totals[i + j])

    @property
    def shares(self) -> tuple[Vector, ...]:
        """Each column's share in each bin."""
        return tuple(_over(c, t[..., None]) for c, t in zip(self.columns, self.totals, strict=True))


@dataclass(frozen=True, kw_only=True, eq=False)
class Noise:
    """Where the noise of a measure comes from.

    ``normalised``: μ₁ is made of shares of the strata's columns, times the population; else of their sums.
    """

    score: Vector
    parts: Sequence[Part]
    normalised: bool

    def __getitem__(self, index: int) -> Noise:
        """Of one of the measures along the first leading axis."""

        def at(array: Vector, own: int = 0) -> Vector:
            return array[index] if np.ndim(array) > own else array

        def pair(both: Pair, own: int = 0) -> Pair:
            return at(both[0], own), at(both[1], own)

        parts = [
            Part(
                count=part.count[index],
                value=None if part.value is None else part.value[index],
                square=None if part.square is None else part.square[index],
                pos=pair(part.pos),
                mass=pair(part.mass),
                moves=None if part.moves is None else pair(part.moves, 1),
                unit=part.unit,
            )
            for part in self.parts
        ]
        return Noise(score=self.score, parts=parts, normalised=self.normalised)

    def covariance(self, index: Index, n_bins: int) -> Vector:
        """Covariance (..., n_bins, n_bins) of the gaps, in rows; ``index`` is the bin of each score."""
        return covariance_of(self.moments(index, n_bins), normalised=self.normalised)

    def moments(self, index: Index, n_bins: int) -> tuple[Moments, ...]:
        """Of each stratum's rows in each bin."""
        return tuple(self._moments(part, index, n_bins) for part in self.parts)

    @property
    def unit(self) -> float:
        """What one row weighs, of the first stratum."""
        return self.parts[0].unit

    @property
    def labeled(self) -> bool:
        """Whether rows are positives and negatives, each of its own class."""
        return not self.normalised and all(part.value is None for part in self.parts)

    def _moments(self, part: Part, index: Index, n_bins: int) -> Moments:
        p, m = (np.asarray(c)[..., None] for c in (part.pos[0], part.mass[0]))
        own, count = p - self.score * m, part.count
        same: Any = {"pos": part.pos, "mass": part.mass, "moves": part.moves, "unit": part.unit}
        if part.value is None:
            parts = (count, own * count, own**2 * count, self.score * m * count)
            column, gap, square, claimed = (by_bin(x, index, n_bins) for x in parts)
            return Moments(columns=(column,), gaps=(gap,), square=square, claimed=claimed, **same)
        value, of_values = part.value, part.square
        if of_values is None:  # as if the rows at one score had one value
            of_values = _over(value**2, count)
        p, m_value = (np.asarray(c)[..., None] for c in (part.pos[1], part.mass[1]))
        each = p - self.score * m_value
        sums = (
            *(count, value, own * count + each * value, own * value + each * of_values),
            own**2 * count + 2 * own * each * value + each**2 * of_values,
            self.score * (m * count + m_value * value),
        )
        binned = [by_bin(x, index, n_bins) for x in sums]
        return Moments(
            columns=(binned[0], binned[1]),
            gaps=(binned[2], binned[3]),
            square=binned[4],
            claimed=binned[5],
            of_values=of_values.sum(axis=-1),
            **same,
        )


def moments_of_rows(moments: Vector, pos: float, mass: float, moves: Vector | None = None) -> Moments:
    """The same from n, Σ s and Σ s² (3, n_bins) of rows that add ``pos`` and ``s`` times ``mass``."""
    n, first, second = moments
    zero = np.asarray(0.0)
    return Moments(
        columns=(n,),
        gaps=(pos * n - mass * first,),
        square=pos**2 * n - 2 * pos * mass * first + mass**2 * second,
        claimed=mass * first,
        pos=(np.asarray(pos), zero),
        mass=(np.asarray(mass), zero),
        moves=None if moves is None else (moves, np.zeros_like(moves)),
    )


def covariance_of(each: Sequence[Moments], *, normalised: bool) -> Vector:
    """Covariance of the sums of all strata's gaps, as shares of the population times its size."""
    alone = np.asarray(sum(part.unit * part.square for part in each))
    out = alone[..., None] * np.eye(alone.shape[-1])
    # What a unit of mass takes off: its part of the mean, of ∫ s dμ alone where μ₁ is made of shares.
    spread = sum(-part.claimed if normalised else part.gap for part in each)
    total = sum(m * t for part in each for m, t in zip(part.mass, part.totals, strict=False))
    mean = _over(np.asarray(spread), np.asarray(total)[..., None])
    drift = _drift(each)
    for k, part in enumerate(each):
        taken = []
        for c, share in enumerate(part.shares):
            a = np.asarray(part.mass[c])[..., None] * mean
            a = a + np.asarray(part.pos[c])[..., None] * share if normalised else a
            taken.append(a if c or drift is None else a - drift[k])
        for i, a in enumerate(taken):
            cross = part.unit * outer(part.gaps[i], a)
            out = out - cross - np.swapaxes(cross, -1, -2)
            for j, b in enumerate(taken):
                out = out + part.unit * part.products(i, j)[..., None, None] * outer(a, b)
    return np.asarray(out)


def _drift(each: Sequence[Moments]) -> list[Vector] | None:
    """What one more row of each stratum moves by the strata's shares alone, or None where they are fixed."""
    if all(part.moves is None for part in each):
        return None
    columns = [
        (np.asarray(moves), share)
        for part in each
        if part.moves is not None
        for moves, share in zip(part.moves, part.shares, strict=False)
    ]
    by_share = [
        np.asarray(sum(moves[..., k, None] * share for moves, share in columns)) for k in range(len(each))
    ]
    sizes = [part.totals[0] for part in each]
    n = np.asarray(sum(sizes))
    mean = sum(_over(size, n)[..., None] * moved for size, moved in zip(sizes, by_share, strict=True))
    return [moved - mean for moved in by_share]


def _over(a: Vector, b: Vector) -> Vector:
    """Quotient, 0 where there is nothing to divide by."""
    a, b = np.broadcast_arrays(np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64))
    return np.divide(a, b, out=np.zeros(a.shape), where=b != 0)


def outer(a: Vector, b: Vector) -> Vector:
    """A bᵀ along the last axis."""
    return np.asarray(a[..., :, None] * b[..., None, :])


def by_bin(values: Vector, index: Index, n_bins: int) -> Vector:
    """Sums over bins along the last axis; ``index`` (..., m) is the bin of each."""
    index = np.broadcast_to(index, values.shape)
    lead = values.shape[:-1]
    n = int(np.prod(lead, dtype=np.intp))
    flat = index.reshape(n, -1) + np.arange(n)[:, None] * n_bins
    sums = np.bincount(flat.ravel(), values.reshape(n, -1).ravel(), minlength=n * n_bins)
    return np.asarray(sums.reshape(*lead, n_bins))
