"""Layers: rows by class. One with a soft label q is a positive of weight q and a negative of weight 1 − q."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from halftruth._checks import Vector
from halftruth.table._histogram import LIGHTEST, UNIT, Bins, Integers

HALF_STEP = 0.5 / UNIT
"""How far one row's fixed-point weight, or score, can be from its own."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Layer:
    """Rows of one stratum and one class.

    Parameters
    ----------
    bins : Bins
        The stratum.
    weight : (m,) int64
        The weight of the layer in each bin, in fixed-point steps.
    position : (m,) int64 or None
        The same times the score.
    off, off_position : int
        By how many half steps what one row adds to them can be off.
    least : float
        The least that a row weighs.
    """

    bins: Bins
    weight: Integers
    position: Integers | None
    off: int
    off_position: int
    least: float

    def mean(self) -> tuple[Vector, Vector]:
        """Limits of the mean score in each bin."""
        low, high = self.bins.low, self.bins.high
        if self.position is None:
            return low, high
        held = self.weight > 0
        weight = np.where(held, self.weight, 1)
        mean = self.position / weight
        slip = (self.off + self.off_position) * self.bins.rows / 2 / weight + 1e-15
        limits = np.clip(mean - slip, low, high), np.clip(mean + slip, low, high)
        return np.where(held, limits[0], low), np.where(held, limits[1], high)


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
    negative = Layer(
        bins=bins,
        weight=weight - bins.value,
        position=rest,
        off=1 + int(weighted),
        off_position=2,
        least=0.0,
    )
    return [positive, negative]


@dataclass(frozen=True, kw_only=True, eq=False)
class Split:
    """What is known of the positives and the negatives of soft labels together.

    Parameters
    ----------
    off : int
        By how many half steps the weight of a row, of both classes, can be off.
    least : float
        The least that a row weighs.
    disorder : (m,) array, from the highest score down
        The most that the order of rows inside a bin can add to ∫ TP dFP.
    """

    off: int
    least: float
    disorder: Vector

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
    pairs = np.maximum(weight**2 - square, 0.0) / 2 + slip * (weight + 1)
    apart = np.maximum(weight * of_value - value**2, 0.0) + slip * (4 * weight + 2 * slip)
    return np.asarray(np.sqrt(pairs * apart) / 2)
