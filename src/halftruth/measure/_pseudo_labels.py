"""Pseudo-labels of reviewed rows: what a row adds to μ̂₁ where only some rows were looked at.

A row that was to be reviewed with the chance e adds v = p̂ + R (y − p̂)/e, with R whether it was. Whatever the
guess p̂ is, E[v] = P(Y=1): the difference estimator (Särndal, Swensson & Wretman 1992, ch. 6), which is
inverse probability with p̂ = 0. A reviewer with sensitivity a and specificity b says y; then
(y − 1 + b)/(a + b − 1) is right on average (Rogan & Gladen 1978) and stands for y.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import NamedTuple

import numpy as np

from halftruth._checks import Vector
from halftruth.measure._arithmetic import Number
from halftruth.measure._fitted_guess import Guess
from halftruth.table._strata import NEGATIVE, POSITIVE, UNLABELED
from halftruth.table._support import Sums

__all__ = ["Fill", "PseudoLabels"]


N_STRETCHES = 64  # of the score, in each of which rows that nobody could look at make up for the others


class Fill(NamedTuple):
    """What rows that nobody could look at may be: positive from a score up, or below it; or to calibrate.

    ``calibrates``: as many positive as make the scores come true beside the rows that are known, as far as
    that is possible: no errors of calibration are smaller.
    """

    cut: float
    upward: bool = True
    calibrates: bool = False

    def at(self, score: Vector, gap: Vector, open_rows: Vector) -> Vector:
        """The share of positives at each score, where the rows that are known lack ``gap`` positives."""
        if not self.calibrates:
            return np.asarray((score >= self.cut) == self.upward, dtype=np.float64)
        starts = np.unique(np.linspace(0, len(score), N_STRETCHES, endpoint=False).astype(np.intp))
        lacking, there = (np.add.reduceat(x, starts, axis=-1) for x in (gap, open_rows))
        share = np.divide(lacking, there, out=np.zeros_like(lacking), where=there > 0)
        return np.repeat(np.clip(share, 0.0, 1.0), np.diff(np.append(starts, len(score))), axis=-1)


@dataclass(frozen=True, kw_only=True, eq=False)
class PseudoLabels:
    """Makes sums of pseudo-labels of the sums of reviewed rows, at each score.

    In "positive" and "negative", which are what reviewers said, the value of a row is 1/e. In "unlabeled" it
    is how many rows stand behind it whose class nobody can know: 0 for most, 1 where the chance of a review
    was 0. Other strata keep what they have.
    """

    guess: Guess
    sensitivity: Number = 1.0
    specificity: Number = 1.0
    fill: Fill | None = None
    """What rows that nobody could look at are taken for; None: nobody knows."""
    units: Mapping[str, tuple[Vector, Vector]] = field(default_factory=dict)
    """Where weights do not count rows: scores of reviewed rows, and what one of them weighs there."""

    def unit(self, name: str, score: Vector) -> Vector | float:
        """What a reviewed row of a stratum weighs at each score."""
        return np.interp(score, *self.units[name]) if name in self.units else 1.0

    def of(self, score: Vector, sums: Sums) -> Sums:
        # Both are 1 or 0 where reviewers never err.
        youden = np.asarray(self.sensitivity, dtype=np.float64) + self.specificity - 1
        says = {POSITIVE: self.specificity / youden, NEGATIVE: (self.specificity - 1) / youden}
        reviewed = {
            name: (label, sums[name, "weight"], sums.get((name, "value"), sums[name, "weight"]))
            for name, label in says.items()
            if (name, "weight") in sums
        }
        guess, out = self.guess, dict(sums)
        if any(np.ndim(times) > 1 for _, _, times in reviewed.values()):  # a batch of resamples
            positive = [np.asarray(label)[..., None] * times for label, _, times in reviewed.values()]
            mass = [times for _, _, times in reviewed.values()]
            guess = guess.refitted(score, reduce(np.add, positive), reduce(np.add, mass))
        expected = guess.at(score)
        for name, (label, weight, times) in reviewed.items():
            squares = sums.get((name, "square"), times)
            # v = p̂ + (label − p̂) u, summed over the rows of a score, of which Σw, Σwu and Σwu² are known.
            gap = np.asarray(label)[..., None] - expected
            out[name, "value"] = expected * weight + gap * times
            out[name, "square"] = expected**2 * weight + 2 * expected * gap * times + gap**2 * squares
        if (UNLABELED, "weight") in sums:
            weight = sums[UNLABELED, "weight"]
            out[UNLABELED, "value"], out[UNLABELED, "square"] = expected * weight, expected**2 * weight
            if (UNLABELED, "value") in sums:
                open_rows = sums[UNLABELED, "value"]
                seen = out[UNLABELED, "value"] = expected * (weight - open_rows)
                gap = score * _total(sums, "weight") - _total(out, "value")
                filled = np.nan if self.fill is None else self.fill.at(score, gap, open_rows)
                out[UNLABELED, "value"] = seen + filled * open_rows
        return out


def _total(sums: Sums, column: str) -> Vector:
    """Over the strata, some of which may have an axis of resamples, and others none."""
    return reduce(lambda a, b: a + b, (x for (_, name), x in sums.items() if name == column))
