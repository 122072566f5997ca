"""What a measure holds in bins of the score, and how far sampling moves it.

A row of stratum k with value v adds g = (p − s m) + (p′ − s m′) v to the gap μ₁ − ∫ s dμ of its bin, with the
rule's coefficients p of μ₁ and m of μ; the coefficients themselves move as totals do. What the row moves in
all is its influence d = g e_bin − a − a′ v, with vectors a over bins, and the covariance is Σ d dᵀ: the
infinitesimal jackknife (Efron 1982, ch. 6), written in sums by bin so that no row is read twice. Whole
weights count rows; of others only the proportions matter, and ``unit`` is what one row weighs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from halftruth._checks import Vector
from halftruth._errors import InputError, arg
from halftruth.measure._arithmetic import Index, by_bin, ratio

__all__ = [
    "BINNINGS", "BinSums", "Noise", "StratumNoise", "mass_bins", "moments_of_rows", "optimal_bins",
    "width_bins",
]  # fmt: skip

BINNINGS = ("mass", "width")

Pair = tuple[Vector, Vector]  # for a row by itself, and for each unit of its value


@dataclass(frozen=True, kw_only=True, eq=False)
class RowAdds:
    """What a row of a stratum adds to μ₁ (``pos``) and to μ (``mass``), and weighs (``unit``)."""

    pos: Pair
    mass: Pair
    moves: Pair | None = None
    """(..., n_strata), where the strata were drawn together: how the coefficients on the stratum's
    distribution change with the share of each stratum."""
    unit: float = 1.0


@dataclass(frozen=True, kw_only=True, eq=False)
class StratumNoise(RowAdds):
    """The rows of one stratum: their number, values and squared values at each score."""

    count: Vector
    value: Vector | None = None
    square: Vector | None = None

    def __getitem__(self, index: int) -> StratumNoise:
        """Of one of the measures along the first leading axis."""

        def at(array: Vector, n_axes: int = 0) -> Vector:
            # A coefficient that is the same for all measures has no leading axis.
            return array[index] if np.ndim(array) > n_axes else array

        def pair(both: Pair, n_axes: int = 0) -> Pair:
            return at(both[0], n_axes), at(both[1], n_axes)

        return replace(
            self,
            count=self.count[index],
            value=None if self.value is None else self.value[index],
            square=None if self.square is None else self.square[index],
            pos=pair(self.pos),
            mass=pair(self.mass),
            moves=None if self.moves is None else pair(self.moves, 1),
        )

    def joined(self, index: Index, n_groups: int) -> StratumNoise:
        """The same rows by groups of scores; ``index`` is the group of each score."""
        count, value, square = (
            None if x is None else by_bin(x, index, n_groups) for x in (self.count, self.value, self.square)
        )
        assert count is not None
        return replace(self, count=count, value=value, square=square)

    def moments(self, score: Vector, index: Index, n_bins: int) -> BinMoments:
        """What the covariance needs of these rows; ``index`` is the bin of each score."""
        p, m = (np.asarray(c)[..., None] for c in (self.pos[0], self.mass[0]))
        count, adds = self.count, p - score * m
        same: Any = {"pos": self.pos, "mass": self.mass, "moves": self.moves, "unit": self.unit}
        if self.value is None:
            plain = (count, adds * count, adds**2 * count, score * m * count)
            column, gap, square, claimed = (by_bin(x, index, n_bins) for x in plain)
            return BinMoments(columns=(column,), gaps=(gap,), square=square, claimed=claimed, **same)
        value, of_values = self.value, self.square
        if of_values is None:  # as if the rows at one score had one value
            of_values = _over(value**2, count)
        p, m_value = (np.asarray(c)[..., None] for c in (self.pos[1], self.mass[1]))
        adds_value = p - score * m_value
        # Σ over the rows at a score of 1, v, g, g v, g² and s dμ, with g = adds + adds_value · v.
        sums = (
            *(count, value, adds * count + adds_value * value, adds * value + adds_value * of_values),
            adds**2 * count + 2 * adds * adds_value * value + adds_value**2 * of_values,
            score * (m * count + m_value * value),
        )
        binned = [by_bin(x, index, n_bins) for x in sums]
        return BinMoments(
            columns=(binned[0], binned[1]),
            gaps=(binned[2], binned[3]),
            square=binned[4],
            claimed=binned[5],
            of_values=of_values.sum(axis=-1),
            **same,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Noise:
    """Where the noise of a measure comes from.

    ``normalised``: μ₁ is made of shares of the strata's columns, times the population; else of their sums.
    """

    score: Vector
    strata: Sequence[StratumNoise]
    normalised: bool

    def __getitem__(self, index: int) -> Noise:
        """Of one of the measures along the first leading axis."""
        return replace(self, strata=[stratum[index] for stratum in self.strata])

    def joined(self, score: Vector, index: Index) -> Noise:
        """With the rows of each group of scores at one score; ``index`` is the group of each."""
        return replace(self, score=score, strata=[x.joined(index, len(score)) for x in self.strata])

    def covariance(self, index: Index, n_bins: int) -> Vector:
        """Covariance (..., n_bins, n_bins) of the gaps, in rows; ``index`` is the bin of each score."""
        return covariance_of(self.moments(index, n_bins), normalised=self.normalised)

    def moments(self, index: Index, n_bins: int) -> tuple[BinMoments, ...]:
        """Of each stratum's rows in each bin."""
        return tuple(stratum.moments(self.score, index, n_bins) for stratum in self.strata)

    @property
    def unit(self) -> float:
        """What one row weighs, of the first stratum."""
        return self.strata[0].unit

    @property
    def labeled(self) -> bool:
        """Whether rows are positives and negatives, each of its own class."""
        return not self.normalised and all(stratum.value is None for stratum in self.strata)


@dataclass(frozen=True, kw_only=True, eq=False)
class BinMoments(RowAdds):
    """Of one stratum, by bin: Σ c of its columns c (1, and the values), Σ g c, Σ g² and ∫ s dμ."""

    columns: tuple[Vector, ...]
    gaps: tuple[Vector, ...]
    square: Vector
    claimed: Vector
    of_values: Vector | None = None
    """Σ v² over all rows."""

    @property
    def gap(self) -> Vector:
        """Σ g by bin."""
        return self.gaps[0]

    def mixed(self, mixing: Vector) -> BinMoments:
        """The same rows, in shares of ``mixing`` (..., n_bins, n_bins) moved to other bins."""

        def move(sums: Vector) -> Vector:
            moved = (mixing @ sums[..., None])[..., 0]
            # Moving rows must not make any, nor lose any.
            before, after = sums.sum(axis=-1, keepdims=True), moved.sum(axis=-1, keepdims=True)
            return np.asarray(moved * np.divide(before, after, out=np.ones_like(after), where=after != 0))

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
        # The columns are c₀ = 1 and c₁ = v: only v · v is no column itself.
        return np.asarray(self.of_values if i + j == 2 else self.totals[i + j])

    @property
    def shares(self) -> tuple[Vector, ...]:
        """Each column's share in each bin."""
        return tuple(_over(c, t[..., None]) for c, t in zip(self.columns, self.totals, strict=True))


def moments_of_rows(moments: Vector, pos: float, mass: float, moves: Vector | None = None) -> BinMoments:
    """The same from n, Σ s and Σ s² (3, n_bins) of rows that add ``pos`` and ``s`` times ``mass``."""
    n, first, second = moments
    zero = np.asarray(0.0)
    return BinMoments(
        columns=(n,),
        gaps=(pos * n - mass * first,),
        square=pos**2 * n - 2 * pos * mass * first + mass**2 * second,
        claimed=mass * first,
        pos=(np.asarray(pos), zero),
        mass=(np.asarray(mass), zero),
        moves=None if moves is None else (moves, np.zeros_like(moves)),
    )


def covariance_of(strata: Sequence[BinMoments], *, normalised: bool) -> Vector:
    """Covariance of the sums of all strata's gaps, as shares of the population times its size.

    Σ d dᵀ with d = g e_bin − a₀ − a₁ v, multiplied out: Σ g² on the diagonal (a row lies in one bin), less
    Σ g c_i a_iᵀ and its transpose, plus Σ c_i c_j a_i a_jᵀ.
    """
    alone = np.asarray(sum(stratum.unit * stratum.square for stratum in strata))
    out = alone[..., None] * np.eye(alone.shape[-1])
    # What a unit of mass takes off: its part of the mean, of ∫ s dμ alone where μ₁ is made of shares.
    spread = sum(-stratum.claimed if normalised else stratum.gap for stratum in strata)
    total = sum(m * t for stratum in strata for m, t in zip(stratum.mass, stratum.totals, strict=False))
    mean = _over(np.asarray(spread), np.asarray(total)[..., None])
    drift = _drift(strata)
    for k, stratum in enumerate(strata):
        taken = []
        for c, share in enumerate(stratum.shares):
            a = np.asarray(stratum.mass[c])[..., None] * mean
            # One more row of a stratum thins its distribution: every bin gives up its share.
            a = a + np.asarray(stratum.pos[c])[..., None] * share if normalised else a
            taken.append(a if c or drift is None else a - drift[k])
        for i, a in enumerate(taken):
            cross = stratum.unit * _outer(stratum.gaps[i], a)
            out = out - cross - np.swapaxes(cross, -1, -2)
            for j, b in enumerate(taken):
                out = out + stratum.unit * stratum.products(i, j)[..., None, None] * _outer(a, b)
    return np.asarray(out)


def _drift(strata: Sequence[BinMoments]) -> list[Vector] | None:
    """What one more row of each stratum moves by the strata's shares alone, or None where they are fixed."""
    if all(stratum.moves is None for stratum in strata):
        return None
    columns = [
        (np.asarray(moves), share)
        for stratum in strata
        if stratum.moves is not None
        for moves, share in zip(stratum.moves, stratum.shares, strict=False)
    ]
    by_share = [
        np.asarray(sum(moves[..., k, None] * share for moves, share in columns)) for k in range(len(strata))
    ]
    sizes = [stratum.totals[0] for stratum in strata]
    n = np.asarray(sum(sizes))
    # Shares add up to one: a row that raises its own stratum's lowers all of them in proportion.
    mean = sum(_over(size, n)[..., None] * moved for size, moved in zip(sizes, by_share, strict=True))
    return [moved - mean for moved in by_share]


def _over(a: Vector, b: Vector) -> Vector:
    """Quotient, 0 where there is nothing to divide by."""
    a, b = np.broadcast_arrays(np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64))
    return np.divide(a, b, out=np.zeros(a.shape), where=b != 0)


def _outer(a: Vector, b: Vector) -> Vector:
    """A bᵀ along the last axis."""
    return np.asarray(a[..., :, None] * b[..., None, :])


@dataclass(frozen=True, kw_only=True, eq=False)
class BinSums:
    """Of each bin of a measure: its gap μ₁ − ∫ s dμ, its mass μ and its ∫ s dμ, in rows, (..., n_bins).

    ``total`` and ``size`` are the measure's; ``labeled`` whether each row has its label, so that the
    frequency of positives in a bin is binomial; ``unit`` what one row weighs; ``moments_of`` gives the
    strata's sums, and is None where the noise of the measure is not known.
    """

    gap: Vector
    mass: Vector
    score: Vector
    total: Vector
    size: float
    labeled: bool
    unit: float
    normalised: bool
    moments_of: Callable[[], tuple[BinMoments, ...]] | None

    @property
    def pos(self) -> Vector:
        """μ₁ of each bin."""
        return self.gap + self.score

    @property
    def mean_score(self) -> Vector:
        """Of the rows in each bin; one half where there are none."""
        return np.where(self.mass > 0, ratio(self.score, self.mass), 0.5)

    @property
    def covariance(self) -> Vector:
        """Of the gaps, from sampling, (..., n_bins, n_bins)."""
        return covariance_of(self._moments, normalised=self.normalised)

    def smoothed_covariance(self, width: float) -> Vector:
        """The same, with the noise of a bin averaged over about this share of the population.

        What a bin of few rows shows of its own noise is itself noise, and little of it where they are none.
        """
        share = ratio(self.mass, self.mass.sum(axis=-1, keepdims=True))
        place = np.cumsum(share, axis=-1) - share / 2
        near = np.exp(-0.5 * ((place[..., :, None] - place[..., None, :]) / width) ** 2)
        mixing = share[..., :, None] * near / (near @ share[..., None])
        mixed = [stratum.mixed(mixing) for stratum in self._moments]
        return covariance_of(mixed, normalised=self.normalised)

    @cached_property
    def _moments(self) -> tuple[BinMoments, ...]:
        if self.moments_of is None:
            raise InputError(
                "This measure was made by hand, so its sampling noise is not known. Pass evidence, or "
                f"leave {arg('debias')} out."
            )
        return self.moments_of()


def optimal_bins(size: float) -> int:
    """⌈size^(1/3)⌉ bins balance the noise within bins and what the curve changes across one."""
    return max(1, int(np.ceil(size ** (1 / 3) - 1e-9)))


def width_bins(score: Vector, n_bins: int) -> Index:
    """Bins (b/B, (b+1)/B], the first closed at 0; edges are the correctly rounded quotients."""
    edges = np.arange(1, n_bins) / n_bins
    return np.asarray(np.searchsorted(edges, score, side="left"))


def mass_bins(mass: Vector, total: Vector, n_bins: int) -> Index:
    """Score s lies in bin b where μ(< s) is below the b-th target and not below the one before."""
    below = np.cumsum(mass, axis=-1) - mass
    steps = total[..., None] * np.arange(1, n_bins)
    # Of counts the ⌊n b/B⌋-th order statistic, without rounding; weights that miss a target by rounding
    # have met it.
    counts = (mass == np.floor(mass)).all(axis=-1, keepdims=True)
    targets = np.where(counts, np.floor_divide(steps, n_bins), steps / n_bins * (1 - 1e-12))
    n = int(np.prod(mass.shape[:-1], dtype=np.intp))
    flat: tuple[Any, Any] = below.reshape(n, -1), targets.reshape(n, n_bins - 1)
    rows = [np.searchsorted(t, b, side="right") for b, t in zip(*flat, strict=True)]
    return np.asarray(rows).reshape(below.shape)
