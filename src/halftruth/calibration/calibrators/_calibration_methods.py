"""The one list of calibration methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from halftruth._checks import Vector
from halftruth.calibration.calibrators import _nonparametric, _parametric
from halftruth.calibration.calibrators._serialization import Curve, Fitted
from halftruth.measure._score_measure import ScoreMeasure

__all__ = ["METHODS", "Method", "method_for"]


@dataclass(frozen=True)
class ProcessCurve(Curve):
    """`BetaCurve` of stored parameters; with the variant "authors" it may fall."""

    a: float
    b: float
    c: float

    def __call__(self, score: Vector) -> Vector:
        from halftruth.calibration._binomial_process import BetaCurve

        return np.asarray(BetaCurve(a=self.a, b=self.b, c=self.c)(score))


def bpm(measure: ScoreMeasure, settings: Mapping[str, Any]) -> Fitted:
    """The curve nearest to the shares of positives in many binnings."""
    from halftruth.calibration._binomial_process import fit_curve

    curve = fit_curve(measure, variant=settings["variant"])
    return Fitted(ProcessCurve(float(curve.a), float(curve.b), float(curve.c)))


@dataclass(frozen=True, kw_only=True)
class Method:
    """How a curve is fitted to a measure under some settings, and the class that reads it when stored."""

    fit: Callable[[ScoreMeasure, Mapping[str, Any]], Fitted]
    curve: type[Curve]
    probability: bool = True
    """Whether scores must lie in [0, 1]."""


METHODS: Mapping[str, Method] = {
    "platt": Method(fit=_parametric.platt, curve=_parametric.LogOddsCurve),
    "temperature": Method(fit=_parametric.temperature, curve=_parametric.LogOddsCurve),
    "beta": Method(fit=_parametric.beta, curve=_parametric.LogOddsCurve),
    "isotonic": Method(fit=_nonparametric.isotonic, curve=_nonparametric.RisingCurve, probability=False),
    "histogram": Method(fit=_nonparametric.histogram, curve=_nonparametric.BinCurve, probability=False),
    "spline": Method(fit=_nonparametric.spline, curve=_nonparametric.PointCurve),
    "bpm": Method(fit=bpm, curve=ProcessCurve),
    "mix-n-match": Method(fit=_parametric.mix_n_match, curve=_parametric.MixedCurve),
}


def method_for(name: str, settings: Mapping[str, Any]) -> Method:
    """The method of this name and these settings."""
    if name == "platt" and settings["scale"] == "score":
        return Method(fit=_parametric.platt, curve=_parametric.LineCurve, probability=False)
    return METHODS[name]
