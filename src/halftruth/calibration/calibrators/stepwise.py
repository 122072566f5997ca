"""Isotonic regression and histogram binning: curves that are constant over blocks of scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from halftruth.calibration.calibrators.binning import held_in_bins
from halftruth.calibration.calibrators.parts import Fitted, column, shares
from halftruth.checks import Vector
from halftruth.errors import InputError
from halftruth.folded import FoldedMeasure
from halftruth.measure import ScoreMeasure


@dataclass(frozen=True, eq=False)
class PointCurve:
    """Straight lines between points, constant beyond the first and the last."""

    score: Vector
    value: Vector

    def __call__(self, score: Vector) -> Vector:
        return np.asarray(np.interp(score, self.score, self.value))

    def to_dict(self) -> dict[str, Any]:
        return {"score": self.score.tolist(), "value": self.value.tolist()}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> PointCurve:
        score, value = column(stored, "score", rising=True), column(stored, "value", unit=True)
        if len(score) != len(value) or not len(score):
            raise InputError("`score` and `value` must have one length, at least 1")
        return cls(score, value)


@dataclass(frozen=True, eq=False)
class BinCurve:
    """One value for each bin (edge before, edge], the first and the last without end."""

    edge: Vector
    value: Vector

    def __call__(self, score: Vector) -> Vector:
        return np.asarray(self.value[np.searchsorted(self.edge, score, side="left")])

    def to_dict(self) -> dict[str, Any]:
        return {"edge": self.edge.tolist(), "value": self.value.tolist()}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> BinCurve:
        edge, value = column(stored, "edge", rising=True), column(stored, "value", unit=True)
        if len(value) != len(edge) + 1:
            raise InputError("`value` must be one longer than `edge`")
        return cls(edge, value)


def isotonic(measure: ScoreMeasure, settings: Mapping[str, Any]) -> Fitted:
    """The left slope of the greatest convex minorant of the cumulative (μ, μ₁), brought into [0, 1].

    Constant from the lowest to the highest score of a block, a straight line from one block to the next.
    """
    from halftruth.kernels import monotone

    if isinstance(measure, FoldedMeasure):
        rows = measure.support.sorted
        mass, pos = (np.asarray([part[k] for k in rows]) for part in (measure.of_mass, measure.of_pos))
        found = monotone.isotonic_rows(tuple(rows.values()), mass, pos)
        low, high, value = found.low, found.high, shares(found.mass, found.pos)
    else:
        blocks = monotone.isotonic(measure.mass, measure.pos_mass)
        last = np.append(blocks.first[1:], len(measure.score)) - 1
        low, high = measure.score[blocks.first], measure.score[last]
        value = shares(blocks.mass, blocks.pos)
    score = np.stack([low, high], axis=1).ravel()
    kept = np.append(True, np.diff(score) > 0)
    return Fitted(PointCurve(score[kept], np.repeat(value, 2)[kept]))


def histogram(measure: ScoreMeasure, settings: Mapping[str, Any]) -> Fitted:
    """The share of positives in each bin; a bin without rows lies on the line between its neighbours."""
    if settings["binning"] == "width":
        measure.need_probabilities("Bins of equal width")
    edge, mass, pos = held_in_bins(measure, settings["n_bins"], settings["binning"])
    value = shares(mass, pos)
    known = ~np.isnan(value)
    ends = (
        np.concatenate([[0.0], edge, [1.0]]) if settings["binning"] == "width" else np.arange(len(mass) + 1)
    )
    middle = (ends[1:] + ends[:-1]) / 2
    return Fitted(BinCurve(edge, np.interp(middle, middle[known], value[known])))
