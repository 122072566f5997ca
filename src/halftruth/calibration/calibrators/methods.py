"""The one list of calibration methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from halftruth.calibration.calibrators import bpm, logistic, mixing, spline, stepwise
from halftruth.calibration.calibrators.parts import Fitted
from halftruth.measure._score_measure import ScoreMeasure


@dataclass(frozen=True, kw_only=True)
class Method:
    """How a curve is fitted to a measure.

    Attributes
    ----------
    fit : callable
        ``fit(measure, settings)``.
    curve : class
        What it fits; reads what was stored.
    probability : bool
        Whether scores must lie in [0, 1].
    """

    fit: Callable[[ScoreMeasure, Mapping[str, Any]], Fitted]
    curve: Any
    probability: bool = True


METHODS: Mapping[str, Method] = {
    "platt": Method(fit=logistic.platt, curve=logistic.LogOddsCurve),
    "temperature": Method(fit=logistic.temperature, curve=logistic.LogOddsCurve),
    "beta": Method(fit=logistic.beta, curve=logistic.LogOddsCurve),
    "isotonic": Method(fit=stepwise.isotonic, curve=stepwise.RisingCurve, probability=False),
    "histogram": Method(fit=stepwise.histogram, curve=stepwise.BinCurve, probability=False),
    "spline": Method(fit=spline.spline, curve=stepwise.PointCurve),
    "bpm": Method(fit=bpm.bpm, curve=bpm.ProcessCurve),
    "mix-n-match": Method(fit=mixing.mix_n_match, curve=mixing.MixedCurve),
}


def method_for(name: str, settings: Mapping[str, Any]) -> Method:
    """The method of this name and these settings."""
    if name == "platt" and settings["scale"] == "score":
        return Method(fit=logistic.platt, curve=logistic.LineCurve, probability=False)
    return METHODS[name]
