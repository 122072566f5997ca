"""Curves with a few parameters: Platt scaling, temperature scaling, beta calibration and Mix-n-Match."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any, Self

import numpy as np
from scipy.special import expit

from halftruth._checks import Vector
from halftruth._errors import InputError, Note, arg
from halftruth.calibration._isotonic import possible
from halftruth.calibration.calibrators._convex_fit import Family, Loss, Pair, least, log_features, notes_on
from halftruth.calibration.calibrators._serialization import Curve, Fitted, column, number
from halftruth.measure._score_measure import ScoreMeasure, integral

__all__ = ["BETA", "LineCurve", "LogOddsCurve", "MixedCurve", "beta", "mix_n_match", "platt", "temperature"]

FEW = 1 << 15  # scores up to which a fit needs no first guess from joined ones
STEEPEST = 1000.0
"""Slopes end where the log odds would change by this much for each standard deviation of the scores."""
SATURATED = 1e-6
NO_END = Note(
    "method",
    "The log loss has no minimum here: a threshold on the score separates the classes. The slope stopped "
    "where little is left to gain.",
)


@dataclass(frozen=True)
class LogOddsCurve(Curve):
    """σ(a ln s − b ln(1−s) + c); it never falls."""

    slopes = ("a", "b")
    a: float
    b: float
    c: float

    def __call__(self, score: Vector) -> Vector:
        low, high = log_features(score)
        return np.asarray(expit(self.a * low + self.b * high + self.c))


@dataclass(frozen=True)
class LineCurve(Curve):
    """σ(slope · s + intercept), of scores on any scale."""

    slopes = ("slope",)
    slope: float
    intercept: float

    def __call__(self, score: Vector) -> Vector:
        return np.asarray(expit(self.slope * score + self.intercept))


# From the parameters of a method to the slopes of ln s and −ln(1−s) and the intercept: beta calibration
# (Kull et al. 2017), Platt's (1999) in the logit and in the score, temperature scaling (Guo et al. 2017).
BETA = np.eye(3)
LOGIT = np.asarray([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
SCORE = np.asarray([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
SLOPE = np.asarray([[1.0], [1.0], [0.0]])


def platt(measure: ScoreMeasure, settings: Mapping[str, Any]) -> Fitted:
    """σ(a · logit s + c), or of the score itself where ``scale`` is "score"; a ≥ 0."""
    if settings["scale"] == "logit":
        (a, c), notes = _of_logs(measure, LOGIT)
        return Fitted(LogOddsCurve(a, a, c), notes)
    repaired = possible(measure)
    score, mass, pos = measure.score, measure.mass, measure.pos_mass
    if repaired is not None:
        score, mass, pos = repaired.filled(score, mass)
    # Standard units: margins may have any scale, and the limit of the slope is set in these.
    center = float(integral(score, mass) / mass.sum())
    moved = score - center
    scale = float(np.sqrt(integral(moved**2, mass) / mass.sum())) or 1.0
    features = np.stack([moved / scale, np.zeros(len(moved)), np.ones(len(moved))])
    loss = Loss(features, mass, integral(features, pos))
    (a, c), notes = _fit(measure, loss, SCORE)
    return Fitted(LineCurve(a / scale, c - a * center / scale), (*notes_on(repaired), *notes))


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
    parameters, notes = _fit(measure, Loss(pair.population.features(), pair.population.mass, moments), shape)
    return parameters, (*pair.notes, *notes)


def _fit(measure: ScoreMeasure, loss: Loss, shape: Vector) -> tuple[list[float], tuple[Note, ...]]:
    """The best parameters, from those that leave a probability as it is."""
    unit = float(min(measure.positives, measure.negatives))
    family = _family(loss, shape)
    p = family.start
    if len(loss.mass) > FEW:
        # Newton's steps over few joined scores cost nothing and leave one or two over all of them.
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
    """Slopes from 0 to where they are too steep, an intercept without limits; the start changes nothing."""
    intercept = shape[2] == 1
    features = shape.T @ loss.features
    mean, square = (integral(x, loss.mass) / loss.total for x in (features, features**2))
    spread = np.sqrt(np.maximum(square - np.where(intercept.any(), mean**2, 0.0), 0.0))
    limit = STEEPEST / np.maximum(spread, 1e-12)
    low, high = np.where(intercept, -np.inf, 0.0), np.where(intercept, np.inf, limit)
    return Family(shape=shape, start=np.where(intercept, 0.0, 1.0), low=low, high=high)


@dataclass(frozen=True, eq=False)
class MixedCurve(Curve):
    """w₁ σ(slope · logit s) + w₂ s + w₃ ½; the slope is 1/T."""

    weight: Vector
    slope: float

    def __call__(self, score: Vector) -> Vector:
        low, high = log_features(score)
        return np.clip(self.weight @ _components(low + high, score, self.slope), 0.0, 1.0)

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        weight = column(stored, "weight", unit=True)
        if len(weight) != 3 or abs(weight.sum() - 1) > 1e-9:
            raise InputError(f"{arg('weight')} must be three numbers with sum 1")
        return cls(weight, number(stored["slope"], "slope", never_negative=True))


def _components(logit: Vector, score: Vector, slope: float) -> Vector:
    return np.stack([expit(slope * logit), score, np.full(len(score), 0.5)])


def mix_n_match(measure: ScoreMeasure, settings: Mapping[str, Any]) -> Fitted:
    """The temperature by log loss, then the weights by squared error ∫ g² dμ − 2 ∫ g dμ₁."""
    # As Zhang, Kailkhura & Han 2020: one parameter by log loss first, then the weights of a convex mixture.
    tempered = temperature(measure, settings)
    assert isinstance(tempered.curve, LogOddsCurve)
    slope = tempered.curve.a
    pair = Pair.of(measure)
    of_all, of_positives = (
        _components(atoms.low + atoms.high, atoms.score, slope) for atoms in (pair.population, pair.positives)
    )
    products = np.stack([integral(of_all * row, pair.population.mass) for row in of_all]) / measure.total
    weight = _on_simplex(products, integral(of_positives, pair.positives.mass) / measure.total)
    return Fitted(MixedCurve(weight, slope), tempered.notes)


def _on_simplex(products: Vector, along: Vector) -> Vector:
    """The least of wᵀ A w − 2 wᵀ b over weights w ≥ 0 with sum 1: the best that any face allows."""
    best, lowest = np.zeros(3), np.inf
    for face in chain.from_iterable(combinations(range(3), n) for n in (1, 2, 3)):
        weight = _on_face(products, along, list(face))
        loss = float(weight @ products @ weight - 2 * weight @ along)
        # A larger face must be better by more than rounding: parts that agree are not told apart.
        if weight.min() >= 0 and loss < lowest - 1e-14:
            best, lowest = weight, loss
    return best


def _on_face(products: Vector, along: Vector, face: list[int]) -> Vector:
    """The stationary weights with sum 1 where only some parts are used, by Lagrange's condition."""
    n = len(face)
    system = np.ones((n + 1, n + 1))
    system[:n, :n] = products[np.ix_(face, face)]
    system[n, n] = 0.0
    weight = np.zeros(3)
    weight[face] = np.linalg.lstsq(system, np.append(along[face], 1.0), rcond=1e-13)[0][:n]
    return np.asarray(weight / weight.sum())
