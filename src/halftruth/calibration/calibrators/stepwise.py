"""Isotonic regression and histogram binning: curves that are constant over blocks of scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from halftruth._checks import Vector
from halftruth._errors import InputError, arg
from halftruth.calibration.calibrators.binning import held_in_bins
from halftruth.calibration.calibrators.parts import Fitted, column
from halftruth.calibration.rising import isotonic_points, shares
from halftruth.measure._score_measure import ScoreMeasure


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
            raise InputError(f"{arg('score')} and {arg('value')} must have one length, at least 1")
        return cls(score, value)


class RisingCurve(PointCurve):
    """The same, never falling."""

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> RisingCurve:
        read = super().from_dict(stored)
        if (np.diff(read.value) < 0).any():
            raise InputError(f"{arg('value')} must not fall")
        return cls(read.score, read.value)


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
            raise InputError(f"{arg('value')} must be one longer than {arg('edge')}")
        return cls(edge, value)


def isotonic(measure: ScoreMeasure, settings: Mapping[str, Any]) -> Fitted:
    """The left slope of the greatest convex minorant of the cumulative (μ, μ₁), brought into [0, 1].

    Constant from the lowest to the highest score of a block, a straight line from one block to the next.
    """
    return Fitted(RisingCurve(*isotonic_points(measure)))


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
