"""Mix-n-Match: the tempered score, the score itself and ½, mixed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import expit

from halftruth._checks import Vector
from halftruth._errors import InputError, arg
from halftruth.calibration.calibrators.convex import Atoms, Pair, log_features
from halftruth.calibration.calibrators.logistic import LogOddsCurve, temperature
from halftruth.calibration.calibrators.parts import Fitted, at_least_zero, column
from halftruth.measure._score_measure import ScoreMeasure, integral


@dataclass(frozen=True, eq=False)
class MixedCurve:
    """w₁ σ(slope · logit s) + w₂ s + w₃ ½; the slope is 1/T."""

    weight: Vector
    slope: float

    def __call__(self, score: Vector) -> Vector:
        low, high = log_features(score)
        return np.clip(self.weight @ _parts(low + high, score, self.slope), 0.0, 1.0)

    def to_dict(self) -> dict[str, Any]:
        return {"weight": self.weight.tolist(), "slope": self.slope}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> MixedCurve:
        weight = column(stored, "weight", unit=True)
        if len(weight) != 3 or abs(weight.sum() - 1) > 1e-9:
            raise InputError(f"{arg('weight')} must be three numbers with sum 1")
        return cls(weight, at_least_zero(stored["slope"], "slope"))


def _parts(logit: Vector, score: Vector, slope: float) -> Vector:
    return np.stack([expit(slope * logit), score, np.full(len(score), 0.5)])


def mix_n_match(measure: ScoreMeasure, settings: Mapping[str, Any]) -> Fitted:
    """The temperature by log loss, then the weights by squared error ∫ g² dμ − 2 ∫ g dμ₁."""
    tempered = temperature(measure, settings)
    assert isinstance(tempered.curve, LogOddsCurve)
    slope = tempered.curve.a
    pair = Pair.of(measure)

    def parts(atoms: Atoms) -> Vector:
        return _parts(atoms.low + atoms.high, atoms.score, slope)

    of_all, of_positives = parts(pair.population), parts(pair.positives)
    products = np.stack([integral(of_all * row, pair.population.mass) for row in of_all]) / measure.total
    weight = _on_simplex(products, integral(of_positives, pair.positives.mass) / measure.total)
    return Fitted(MixedCurve(weight, slope), tempered.notes)


def _on_simplex(products: Vector, along: Vector) -> Vector:
    """The least of wᵀ A w − 2 wᵀ b over weights w ≥ 0 with sum 1: the best that any face allows."""
    best, least = np.zeros(3), np.inf
    for n in (1, 2, 3):
        for face in combinations(range(3), n):
            weight = _on_face(products, along, list(face))
            loss = float(weight @ products @ weight - 2 * weight @ along)
            # A larger face must be better by more than rounding: parts that agree are not told apart.
            if weight.min() >= 0 and loss < least - 1e-14:
                best, least = weight, loss
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
