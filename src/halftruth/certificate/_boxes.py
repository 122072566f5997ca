"""Boxes: what a histogram leaves open about the rows in its bins.

A row with a soft label q is a positive of weight q and a negative of weight 1 − q, each in its own layer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector
from halftruth.measure._arithmetic import OwnMass
from halftruth.table._histogram import LIGHTEST, UNIT, Bins, Integers

__all__ = ["ANYTHING", "HALF_STEP", "ROUNDING", "Boxes", "Interval", "combined", "quotient"]

HALF_STEP = 0.5 / UNIT  # how far one row's fixed-point weight, or score, can be from its own


@dataclass(frozen=True, kw_only=True, eq=False)
class Layer:
    """Rows of one stratum and one class."""

    bins: Bins
    weight: Integers
    """Of the layer in each bin, in fixed-point steps."""
    position: Integers | None  # the same times the score
    off: int  # by how many half steps what one row adds to the weight can be off
    off_position: int
    least: float
    """The least that a row weighs."""

    def mean(self) -> tuple[Vector, Vector]:
        """Limits of the mean score in each bin."""
        low, high = self.bins.low, self.bins.high
        if self.position is None:
            return low, high
        used = self.weight > 0
        weight = np.where(used, self.weight, 1)
        mean = self.position / weight
        # Half a step a row in Σ w s, and as much in Σ w, which is multiplied by a mean of at most one.
        slip = (self.off + self.off_position) * self.bins.rows / 2 / weight + 1e-15
        limits = np.clip(mean - slip, low, high), np.clip(mean + slip, low, high)
        return np.where(used, limits[0], low), np.where(used, limits[1], high)


def layers(bins: Bins) -> list[Layer]:
    """The stratum itself, or the positives and the negatives of its soft labels."""
    weight, weighted = bins.full("weight"), bins.weight is not None
    if bins.value is None:
        least, off = (LIGHTEST, 1) if weighted else (1.0, 0)
        at = bins.position
        return [Layer(bins=bins, weight=weight, position=at, off=off, off_position=1, least=least)]
    at, of_value = bins.position, bins.value_position
    rest = None if at is None or of_value is None else at - of_value
    # Labels of 0 and of 1 leave nothing of a row in one of the two.
    positive = Layer(bins=bins, weight=bins.value, position=of_value, off=1, off_position=1, least=0.0)
    # A difference of two rounded sums is off by both.
    left, off = weight - bins.value, 1 + int(weighted)
    negative = Layer(bins=bins, weight=left, position=rest, off=off, off_position=2, least=0.0)
    return [positive, negative]


@dataclass(frozen=True, kw_only=True, eq=False)
class Split:
    """What is known of the positives and the negatives of soft labels together."""

    off: int  # by how many half steps the weight of a row, of both classes, can be off
    least: float  # the least that a row weighs
    disorder: Vector
    """The most that the order of rows inside a bin can add to ∫ TP dFP, from the highest score down."""

    @classmethod
    def of(cls, bins: Bins) -> Split:
        weighted = bins.weight is not None
        return cls(off=int(weighted), least=LIGHTEST if weighted else 1.0, disorder=_disorder(bins)[::-1])

    @property
    def grain(self) -> float:
        """By how much the precision at a row can be off: no row above it is more off than the lightest."""
        return 2 * HALF_STEP * (1 + self.off) / self.least


def _disorder(bins: Bins) -> Vector:
    """The most that the order of soft rows inside a bin can add to ∫ TP dFP, beside half of all pairs.

    A pair adds ± w w′ (q − q′)/2, and Σ w w′ |q − q′| ≤ √(Σ w w′ · Σ w w′ (q − q′)²) over the pairs.
    """
    slip = bins.rows * HALF_STEP
    weight, square, value, of_value = (
        bins.full(name) / UNIT for name in ("weight", "square", "value", "value_square")
    )
    # Σ w w′ over pairs is ((Σw)² − Σw²)/2, and Σ w w′ (q − q′)² is Σw Σwq² − (Σwq)²; rounding adds its slip.
    pairs = np.maximum(weight**2 - square, 0.0) / 2 + slip * (weight + 1)
    apart = np.maximum(weight * of_value - value**2, 0.0) + slip * (4 * weight + 2 * slip)
    return np.asarray(np.sqrt(pairs * apart) / 2)


Interval = tuple[float, float]
ANYTHING: Interval = (-np.inf, np.inf)
ROUNDING = 1e-12  # slack for floating-point sums, relative to their size before anything cancels


@dataclass(frozen=True, kw_only=True, eq=False)
class Boxes:
    """Strata (k, rows of the arrays) by bins (columns, from the highest score down).

    The positives and the negatives of soft labels are strata of their own.
    """

    mass: Vector
    pos: Vector
    """(k,) coefficients of the strata in μ, and in μ₁."""
    wobble: Vector  # (k,): how far ``pos`` can be off, because the totals it is made from are rounded
    size: float
    size_off: float
    """The effective rows of the evidence, and by which share of them rounded weights can change them."""
    unidentified: str | None  # why ``pos`` is known only up to a factor
    owns: Sequence[OwnMass]  # what a known positive's own part in precision may be
    rows: Vector
    n: Vector
    before: Vector
    """(k, m): rows in each bin, their weight, and the weight above the bin."""
    low: Vector
    high: Vector
    mean_low: Vector
    mean_high: Vector
    """(k, m): the lowest and the highest score, two limits of the mean. Without rows: +inf, −inf, ½, ½."""
    off: Vector  # (k,): by how many half steps a row's weight can be off
    least: Vector  # (k, 1): the least that a row weighs
    split: Split | None  # of soft labels, what is known of the two strata together

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
        owns: Sequence[OwnMass],
    ) -> Boxes:
        index = np.unique(np.concatenate([bins.index for bins in strata]))
        stack = [layer for bins in strata for layer in layers(bins)]

        def dense(column_of: Callable[[Layer], Vector], empty: float) -> Vector:
            out = np.full((len(stack), len(index)), empty)
            for row, layer in zip(out, stack, strict=True):
                row[np.searchsorted(index, layer.bins.index)] = column_of(layer)
            return out[:, ::-1]

        n = dense(lambda layer: layer.weight / UNIT, 0.0)
        return cls(
            mass=mass,
            pos=pos,
            wobble=wobble,
            size=size,
            size_off=_size_off(strata),
            unidentified=unidentified,
            owns=owns,
            rows=dense(lambda layer: layer.bins.rows.astype(np.float64), 0.0),
            n=n,
            before=np.cumsum(n, axis=1) - n,
            low=dense(lambda layer: layer.bins.low, np.inf),
            high=dense(lambda layer: layer.bins.high, -np.inf),
            mean_low=dense(lambda layer: layer.mean()[0], 0.5),
            mean_high=dense(lambda layer: layer.mean()[1], 0.5),
            off=np.asarray([layer.off for layer in stack]),
            least=np.asarray([[layer.least] for layer in stack]),
            split=next((Split.of(bins) for bins in strata if bins.value is not None), None),
        )

    @property
    def held(self) -> NDArray[np.bool_]:
        """Which cells hold rows."""
        return np.asarray(self.rows > 0)

    @property
    def weighted(self) -> bool:
        """Whether any weight was rounded."""
        return bool(self.off.any())

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
    def slip(self) -> Vector:
        """How far the weight at or above the end of each bin can be off: half a step a row."""
        return np.cumsum(self.rows, axis=1) * HALF_STEP * self.off[:, None]

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
        # One factor for each class: areas and rates divide by the mass of one, or of both.
        out = 1.0
        for of_class in (self.pos, self.neg):
            scale = max(abs(of_class @ self.totals), 1e-12 * (self.mass @ self.totals))
            out *= 1 + float(np.nan_to_num(np.abs(of_class) @ self.totals / scale))
        return out

    def error(self, part: Vector) -> Vector:
        """How far Σ part_k × (weight at or above a bin's end) can be off, the coefficients included."""
        if part is self.mass and self.split is not None:  # what one class is off, the other is the other way
            return np.cumsum(self.rows[0]) * HALF_STEP * self.split.off
        out = np.abs(part) @ self.slip
        return np.asarray(out if part is self.mass else out + self.wobble @ self.after)

    def cases(self, weights: Vector) -> Vector:
        """μ of weights of the strata, a whole number where it counts rows."""
        out = self.mass @ weights
        return np.rint(out) if self.split is not None and not self.split.off else np.asarray(out)

    def whole(self, part: Vector) -> tuple[float, float]:
        """The part's total, and how far it can be off."""
        total = self.cases(self.totals) if part is self.mass else part @ self.totals
        return float(total), float(self.error(part)[-1])

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


def _size_off(strata: Sequence[Bins]) -> float:
    # (Σw)²/Σw² moves by twice the relative error of Σw and once that of Σw²; four times that is safe.
    offs = [
        len(bins) * HALF_STEP * (2 / bins.size[0] + 1 / bins.size[1])
        for bins in strata
        if bins.weight is not None
    ]
    return 4 * max(offs) + 1e-12 if offs else 0.0


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
