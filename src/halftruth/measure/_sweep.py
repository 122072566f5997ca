"""Sweep: one cumulative pass from the highest score down, which feeds every curve and area."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from halftruth._checks import Vector
from halftruth.measure._score_measure import ScoreMeasure, ratio


@dataclass(frozen=True, kw_only=True, eq=False)
class Sweep:
    """Masses at or above each threshold; thresholds fall from +inf to the lowest score.

    ``tp``, ``fp`` and ``predicted`` have shape (..., m + 1): μ₁, μ − μ₁ and μ of [s ≥ t].
    """

    threshold: Vector
    tp: Vector
    fp: Vector
    predicted: Vector

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

    def _next_populated(self) -> np.ndarray:
        """Index of the first threshold, from here down, with population mass above it."""
        populated = self.predicted != 0
        here = np.arange(self.predicted.shape[-1])
        index = np.where(populated, here, here[-1])
        return np.asarray(np.minimum.accumulate(index[..., ::-1], axis=-1)[..., ::-1])


def sweep(measure: ScoreMeasure) -> Sweep:
    """The sweep of a measure, made once."""
    if "sweep" not in measure.memo:
        measure.memo["sweep"] = Sweep(
            threshold=np.concatenate([[np.inf], measure.score[::-1]]),
            tp=_from_above(measure.pos_mass),
            fp=_from_above(measure.neg_mass),
            predicted=_from_above(measure.mass),
        )
    out: Sweep = measure.memo["sweep"]
    return out


def _from_above(masses: Vector) -> Vector:
    out = np.zeros((*masses.shape[:-1], masses.shape[-1] + 1))
    np.cumsum(masses[..., ::-1], axis=-1, out=out[..., 1:])
    return out
