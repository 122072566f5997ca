"""The curve of binomial process modelling as a calibrator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from halftruth._checks import Vector
from halftruth.calibration.calibrators.parts import Fitted, real
from halftruth.measure._score_measure import ScoreMeasure


@dataclass(frozen=True)
class ProcessCurve:
    """`BetaCurve` of stored parameters; with the variant "authors" it may fall."""

    a: float
    b: float
    c: float

    def __call__(self, score: Vector) -> Vector:
        from halftruth.calibration.binomial_process import BetaCurve

        return np.asarray(BetaCurve(a=self.a, b=self.b, c=self.c)(score))

    def to_dict(self) -> dict[str, Any]:
        return {"a": self.a, "b": self.b, "c": self.c}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> ProcessCurve:
        return cls(*(real(stored[name], name) for name in ("a", "b", "c")))


def bpm(measure: ScoreMeasure, settings: Mapping[str, Any]) -> Fitted:
    """The curve nearest to the shares of positives in many binnings."""
    from halftruth.calibration.binomial_process import fit_curve

    found = fit_curve(measure, variant=settings["variant"])
    return Fitted(ProcessCurve(float(found.a), float(found.b), float(found.c)))
