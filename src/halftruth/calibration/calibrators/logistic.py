"""Platt scaling, temperature scaling and beta calibration: σ of a line in the features of the score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from halftruth._checks import Vector
from halftruth._errors import Note
from halftruth.calibration.calibrators.convex import (
    FEW,
    Family,
    Loss,
    Pair,
    least,
    log_features,
    masses,
    notes_on,
)
from halftruth.calibration.calibrators.parts import Fitted, at_least_zero, real
from halftruth.calibration.rising import possible
from halftruth.measure._score_measure import ScoreMeasure, integral

STEEPEST = 1000.0
"""Slopes end where the log odds would change by this much for each standard deviation of the scores."""
SATURATED = 1e-6
NO_END = Note(
    "method",
    "The log loss has no minimum here: a threshold on the score separates the classes. The slope stopped "
    "where little is left to gain.",
)


@dataclass(frozen=True)
class LogOddsCurve:
    """σ(a ln s − b ln(1−s) + c); it never falls."""

    a: float
    b: float
    c: float

    def __call__(self, score: Vector) -> Vector:
        low, high = log_features(score)
        return np.asarray(expit(self.a * low + self.b * high + self.c))

    def to_dict(self) -> dict[str, Any]:
        return {"a": self.a, "b": self.b, "c": self.c}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> LogOddsCurve:
        return cls(at_least_zero(stored["a"], "a"), at_least_zero(stored["b"], "b"), real(stored["c"], "c"))


@dataclass(frozen=True)
class LineCurve:
    """σ(slope · s + intercept), of scores on any scale."""

    slope: float
    intercept: float

    def __call__(self, score: Vector) -> Vector:
        return np.asarray(expit(self.slope * score + self.intercept))

    def to_dict(self) -> dict[str, Any]:
        return {"slope": self.slope, "intercept": self.intercept}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> LineCurve:
        return cls(at_least_zero(stored["slope"], "slope"), real(stored["intercept"], "intercept"))


BETA = np.eye(3)
LOGIT = np.asarray([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
SCORE = np.asarray([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
SLOPE = np.asarray([[1.0], [1.0], [0.0]])


def platt(measure: ScoreMeasure, settings: Mapping[str, Any]) -> Fitted:
    """σ(a · logit s + c), or of the score itself where ``scale`` is "score"; a ≥ 0."""
    if settings["scale"] == "logit":
        (a, c), notes = _of_logs(measure, LOGIT)
        return Fitted(LogOddsCurve(a, a, c), notes)
    found = possible(measure)
    score, mass, pos = masses(measure, found)
    center = float(integral(score, mass) / mass.sum())
    moved = score - center
    scale = float(np.sqrt(integral(moved**2, mass) / mass.sum())) or 1.0
    features = np.stack([moved / scale, np.zeros(len(moved)), np.ones(len(moved))])
    loss = Loss(features, mass, integral(features, pos))
    (a, c), notes = _fit(measure, loss, SCORE)
    return Fitted(LineCurve(a / scale, c - a * center / scale), (*notes_on(found), *notes))


def temperature(measure: ScoreMeasure, settings: Mapping[str, Any]) -> Fitted:
    """σ(logit s / T); T is infinite, its reciprocal 0, where the scores rank no better than chance."""
    (a,), notes = _of_logs(measure, SLOPE)
    return Fitted(LogOddsCurve(a, a, 0.0), notes)


def beta(measure: ScoreMeasure, settings: Mapping[str, Any]) -> Fitted:
    """σ(a ln s − b ln(1−s) + c), a and b ≥ 0."""
    (a, b, c), notes = _of_logs(measure, BETA)
    return Fitted(LogOddsCurve(a, b, c), notes)


def _of_logs(measure: ScoreMeasure, shape: Vector) -> tuple[list[float], tuple[Note, ...]]:
    """The best parameters of lines in ln s and −ln(1−s)."""
    pair = Pair.of(measure)
    moments = integral(pair.positives.features(), pair.positives.mass)
    found, notes = _fit(measure, Loss(pair.population.features(), pair.population.mass, moments), shape)
    return found, (*pair.notes, *notes)


def _fit(measure: ScoreMeasure, loss: Loss, shape: Vector) -> tuple[list[float], tuple[Note, ...]]:
    """The best parameters, from those that leave a probability as it is."""
    unit = float(min(measure.positives, measure.negatives))
    family = _family(loss, shape)
    p = family.start
    if len(loss.mass) > FEW:
        near = loss.joined()
        guess = least(near, family, p, unit)
        p = p if _endless(near, family, guess, unit) else guess
    p = least(loss, family, p, unit)
    return [float(x) for x in p], (NO_END,) if _endless(loss, family, p, unit) else ()


def _endless(loss: Loss, family: Family, p: Vector, unit: float) -> bool:
    """Whether a slope met its limit, or all probabilities are 0 or 1."""
    _, curvature = loss.derivatives(family.shape @ p)
    return bool((p >= family.high).any()) or bool(curvature[2, 2] <= SATURATED * unit)


def _family(loss: Loss, shape: Vector) -> Family:
    n = shape.shape[1]
    intercept = shape[2] == 1
    features = shape.T @ loss.features
    mean, square = (integral(x, loss.mass) / loss.total for x in (features, features**2))
    spread = np.sqrt(np.maximum(square - np.where(intercept.any(), mean**2, 0.0), 0.0))
    limit = STEEPEST / np.maximum(spread, 1e-12)
    return Family(
        shape=shape,
        start=np.where(intercept, 0.0, 1.0),
        low=np.where(intercept, -np.inf, np.zeros(n)),
        high=np.where(intercept, np.inf, limit),
    )
