"""Noise: how far sampling moves the gaps μ₁(bin) − ∫_bin s dμ.

A gap is a sum over rows: a row of stratum k with value v adds g = (p − s m) + (p′ − s m′) v, with the rule's
coefficients p of μ₁ and m of μ. Its variance follows from Σ g and Σ g² in each bin. A weight counts as a
number of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from halftruth.checks import Vector

Index = NDArray[np.intp]


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """The rows of one stratum: their number, values and squared values at each score, and what one adds.

    ``pos`` and ``mass`` are what a row adds to μ₁ and to μ: by itself, and for each unit of its value.
    """

    count: Vector
    value: Vector | None = None
    square: Vector | None = None
    pos: tuple[Vector, Vector]
    mass: tuple[Vector, Vector]


@dataclass(frozen=True, eq=False)
class Moments:
    """Over the rows of a stratum in each bin: Σ g, Σ g², and Σ of the part of g that sampling leaves free."""

    n: Vector
    gap: Vector
    square: Vector
    free: Vector
    weighed: Vector | None = None
    """Σ g m and Σ m² over all rows, where a row adds m ≠ 1 to μ."""
    unit: Vector | None = None

    def mixed(self, mixing: Vector) -> Moments:
        """The same rows, in shares of ``mixing`` (..., n_bins, n_bins) moved to other bins."""

        def move(sums: Vector) -> Vector:
            moved = (mixing @ sums[..., None])[..., 0]
            whole, now = sums.sum(axis=-1, keepdims=True), moved.sum(axis=-1, keepdims=True)
            return np.asarray(moved * np.divide(whole, now, out=np.ones_like(now), where=now != 0))

        weighed = None if self.weighed is None else move(self.weighed)
        return Moments(self.n, move(self.gap), move(self.square), move(self.free), weighed, self.unit)


@dataclass(frozen=True, kw_only=True, eq=False)
class Noise:
    """Where the noise of a measure comes from.

    ``one_sample``: the strata were drawn together, so that their sizes vary. ``normalised``: μ₁ is made of
    shares of the strata, which the strata's sizes do not move.
    """

    score: Vector
    parts: Sequence[Part]
    one_sample: bool
    normalised: bool

    def __getitem__(self, index: int) -> Noise:
        """Of one of the measures along the first leading axis."""

        def at(array: Vector) -> Vector:
            return array[index] if np.ndim(array) else array

        parts = [
            Part(
                count=part.count[index],
                value=None if part.value is None else part.value[index],
                square=None if part.square is None else part.square[index],
                pos=(at(part.pos[0]), at(part.pos[1])),
                mass=(at(part.mass[0]), at(part.mass[1])),
            )
            for part in self.parts
        ]
        return Noise(score=self.score, parts=parts, one_sample=self.one_sample, normalised=self.normalised)

    def covariance(self, index: Index, n_bins: int) -> Vector:
        """Covariance (..., n_bins, n_bins) of the gaps, in rows; ``index`` is the bin of each score."""
        return covariance_of(self.moments(index, n_bins), one_sample=self.one_sample)

    def moments(self, index: Index, n_bins: int) -> tuple[Moments, ...]:
        """Of each stratum's rows in each bin."""
        return tuple(self._moments(part, index, n_bins) for part in self.parts)

    @property
    def labeled(self) -> bool:
        """Whether rows are positives and negatives, each of its own class."""
        return not self.normalised and all(part.value is None for part in self.parts)

    def _moments(self, part: Part, index: Index, n_bins: int) -> Moments:
        p, m = (np.asarray(c)[..., None] for c in (part.pos[0], part.mass[0]))
        own, free = p - self.score * m, -self.score * m
        count = part.count
        total = np.sum(count, axis=-1)
        if part.value is None:
            gap, square = own * count, own**2 * count
            loose = free * count if self.normalised else gap
            return Moments(total, *(by_bin(x, index, n_bins) for x in (gap, square, loose)))
        of_values = part.square
        if of_values is None:  # as if the rows at one score had one value
            of_values = np.divide(part.value**2, count, out=np.zeros_like(part.value), where=count > 0)
        p, m = (np.asarray(c)[..., None] for c in (part.pos[1], part.mass[1]))
        by_value, free_by_value = p - self.score * m, -self.score * m
        gap = own * count + by_value * part.value
        square = own**2 * count + 2 * own * by_value * part.value + by_value**2 * of_values
        loose = free * count + free_by_value * part.value if self.normalised else gap
        gap, square, loose = (by_bin(x, index, n_bins) for x in (gap, square, loose))
        if not np.any(m):
            return Moments(total, gap, square, loose)
        m0 = np.asarray(part.mass[0])[..., None]
        weighed = own * m0 * count + (own * m + by_value * m0) * part.value + by_value * m * of_values
        unit = (m0**2 * count + 2 * m0 * m * part.value + m**2 * of_values).sum(axis=-1)
        mass = (m0 * count + m * part.value).sum(axis=-1)
        return Moments(mass, gap, square, loose, by_bin(weighed, index, n_bins), unit)


def moments_of_rows(moments: Vector, pos: float, mass: float, *, normalised: bool) -> Moments:
    """The same from n, Σ s and Σ s² (3, n_bins) of rows that add ``pos`` and ``s`` times ``mass``."""
    n, first, second = moments
    gap = pos * n - mass * first
    square = pos**2 * n - 2 * pos * mass * first + mass**2 * second
    return Moments(np.asarray(n.sum()), gap, square, -mass * first if normalised else gap)


def covariance_of(each: Sequence[Moments], *, one_sample: bool) -> Vector:
    """Covariance of the sums of all strata's gaps."""
    n_bins = each[0].gap.shape[-1]
    out = np.asarray(sum(part.square for part in each))[..., None] * np.eye(n_bins)
    for part in each:
        n = np.where(part.n > 0, part.n, 1.0)[..., None, None]
        if part.weighed is not None and part.unit is not None:
            # The rows' own mass varies: what is left of a row once the mean gap of its mass is taken off.
            mean = part.gap / n[..., 0]
            cross = outer(mean, part.weighed)
            out = out - cross - np.swapaxes(cross, -1, -2) + outer(mean, mean) * part.unit[..., None, None]
            continue
        out = out - outer(part.gap, part.gap) / n
        if one_sample:
            out = out + outer(part.free, part.free) / n
    if one_sample and each[0].weighed is None:
        n, free = np.asarray(sum(part.n for part in each)), np.asarray(sum(part.free for part in each))
        out = out - outer(free, free) / np.where(n > 0, n, 1.0)[..., None, None]
    return np.asarray(out)


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
