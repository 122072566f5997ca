"""Boxes: what a histogram leaves open about the rows in its bins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from halftruth.checks import Vector
from halftruth.histogram import LIGHTEST, UNIT, Bins

Interval = tuple[float, float]
ANYTHING: Interval = (-np.inf, np.inf)
ROUNDING = 1e-12
"""Slack for floating-point sums, relative to their size before anything cancels."""
HALF_STEP = 0.5 / UNIT
"""How far one row's fixed-point weight, or score, can be from its own."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Boxes:
    """Strata (k, rows of the arrays) by bins (columns, from the highest score down).

    Parameters
    ----------
    mass, pos : (k,) arrays
        Coefficients of the strata in μ and μ₁.
    wobble : (k,) array
        How far ``pos`` can be off, because the totals it is made from are rounded.
    size : float
        The effective rows of the evidence.
    unidentified : str or None
        Why ``pos`` is known only up to a factor.
    rows, n, before : (k, m) arrays
        Rows in each bin, their weight, and the weight above the bin.
    low, high, mean_low, mean_high : (k, m) arrays
        The lowest and the highest score; two limits of the mean score. Without rows: +inf, −inf, ½, ½.
    weighted : (k,) array of bool
    square : (k,) array
        Σ w².
    """

    mass: Vector
    pos: Vector
    wobble: Vector
    size: float
    unidentified: str | None
    rows: Vector
    n: Vector
    before: Vector
    low: Vector
    high: Vector
    mean_low: Vector
    mean_high: Vector
    weighted: NDArray[np.bool_]
    square: Vector

    @classmethod
    def of(
        cls,
        strata: Sequence[Bins],
        *,
        mass: Vector,
        pos: Vector,
        wobble: Vector,
        size: float,
        unidentified: str | None,
    ) -> Boxes:
        index = np.unique(np.concatenate([bins.index for bins in strata]))

        def dense(columns: Sequence[Vector], empty: float) -> Vector:
            out = np.full((len(strata), len(index)), empty)
            for row, bins, column in zip(out, strata, columns, strict=True):
                row[np.searchsorted(index, bins.index)] = column
            return out[:, ::-1]

        means = [_mean(bins) for bins in strata]
        n = dense([bins.full("weight") / UNIT for bins in strata], 0.0)
        return cls(
            mass=mass,
            pos=pos,
            wobble=wobble,
            size=size,
            unidentified=unidentified,
            rows=dense([bins.rows.astype(np.float64) for bins in strata], 0.0),
            n=n,
            before=np.cumsum(n, axis=1) - n,
            low=dense([bins.low for bins in strata], np.inf),
            high=dense([bins.high for bins in strata], -np.inf),
            mean_low=dense([mean[0] for mean in means], 0.5),
            mean_high=dense([mean[1] for mean in means], 0.5),
            weighted=np.asarray([bins.weight is not None for bins in strata]),
            square=np.asarray([bins.size[1] for bins in strata]),
        )

    @property
    def neg(self) -> Vector:
        return self.mass - self.pos

    @cached_property
    def totals(self) -> Vector:
        return np.asarray(self.n.sum(axis=1))

    @cached_property
    def after(self) -> Vector:
        """The weight at or above the end of each bin."""
        return self.before + self.n

    @cached_property
    def least(self) -> Vector:
        """The least that a row of each stratum weighs, as a column."""
        return np.where(self.weighted, LIGHTEST, 1.0)[:, None]

    @cached_property
    def slip(self) -> Vector:
        """How far the weight at or above the end of each bin can be off: half a step a row."""
        return np.cumsum(self.rows, axis=1) * HALF_STEP * self.weighted[:, None]

    @cached_property
    def one_score(self) -> NDArray[np.bool_]:
        """Bins whose rows have one and the same score: the histogram is exact there."""
        return np.asarray(self.low.min(axis=0) == self.high.max(axis=0))

    @cached_property
    def within_unit(self) -> bool:
        return bool(self.low.min() >= 0 and self.high.max() <= 1)

    @cached_property
    def condition(self) -> float:
        """How much larger the sums of a ratio are before anything cancels."""
        out = 1.0
        for part in (self.pos, self.neg):
            scale = max(abs(part @ self.totals), 1e-12 * (self.mass @ self.totals))
            out *= 1 + float(np.nan_to_num(np.abs(part) @ self.totals / scale))
        return out

    def error(self, part: Vector) -> Vector:
        """How far Σ part_k × (weight at or above a bin's end) can be off, the coefficients included."""
        out = np.abs(part) @ self.slip
        return np.asarray(out if part is self.mass else out + self.wobble @ self.after)

    def whole(self, part: Vector) -> tuple[float, float]:
        """The part's total, and how far it can be off."""
        return float(part @ self.totals), float(self.error(part)[-1])

    def points(self, j: int, *, strict: bool = False) -> tuple[Vector, Vector]:
        """Limits of the weight of each stratum at or above (``strict``: above) a row of stratum j.

        Its lowest row has all rows above it that reach its score, its highest row those of a stratum whose
        lowest score reaches it; a stratum that straddles either has a row on each side.
        """
        low, high = self.low[j], self.high[j]
        all_above, any_above = (
            (x > high if strict else x >= high) & np.isfinite(high) for x in (self.low, self.high)
        )
        fewest = np.where(all_above, self.n, np.where(any_above, self.least, 0.0))
        most = np.where(self.high < low, 0.0, np.where(self.low < low, self.n - self.least, self.n))
        return self.before + np.minimum(fewest, self.n), self.before + np.maximum(most, 0.0)

    @staticmethod
    def corners(low: Vector, high: Vector) -> Iterator[Vector]:
        """Corners of boxes, where a linear-fractional function without a pole has its extremes."""
        for ends in product(*zip(low, high, strict=True)):
            yield np.stack(ends)


def _mean(bins: Bins) -> tuple[Vector, Vector]:
    """Limits of the mean score in each bin: the integer sums are within half a step a row."""
    if bins.position is None:
        return bins.low, bins.high
    weight = bins.full("weight")
    mean = bins.position / weight
    steps = 1.0 if bins.weight is None else 2.0  # the weight of a row is rounded too
    slip = steps * bins.rows / 2 / weight + 1e-15
    return np.clip(mean - slip, bins.low, bins.high), np.clip(mean + slip, bins.low, bins.high)


def quotient(low: float, high: float, whole: tuple[float, float]) -> Interval:
    """An interval over a number that can be off."""
    number, error = whole
    if not abs(number) > error:
        return ANYTHING
    ends = [x / (number + sign * error) for x in (low, high) for sign in (-1, 1)]
    return min(ends), max(ends)


def combined(part: Vector, low: Vector, high: Vector) -> Interval:
    """Σ part_k × a number in [low, high], over strata and bins."""
    one, other = part[:, None] * low, part[:, None] * high
    return float(np.minimum(one, other).sum()), float(np.maximum(one, other).sum())
