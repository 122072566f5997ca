"""Spline calibration: the score plus the slope of a smooth curve through the cumulative gap."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector
from halftruth.calibration.calibrators.parts import Fitted
from halftruth.calibration.calibrators.stepwise import PointCurve
from halftruth.measure._score_measure import ScoreMeasure

POINTS = 1024
"""Scores at which the curve is kept; lines join them."""
CHUNK = 1 << 16
"""Scores that are reduced to a few equations at a time."""


def spline(measure: ScoreMeasure, settings: Mapping[str, Any]) -> Fitted:
    """The curve s + f′(t), brought into [0, 1]; it may fall.

    f is the natural cubic spline nearest, by least squares over the share t of the population below, to the
    cumulative gap μ₁ − ∫ s dμ. At a score that many rows share the mean slope over them counts.
    """
    score, total = measure.score, float(measure.total)
    cumulative = np.cumsum(measure.mass)
    t = np.append(0.0, cumulative / total)
    gap = np.append(0.0, np.cumsum(measure.pos_mass - score * measure.mass) / total)
    knots = np.linspace(0.0, 1.0, settings["n_knots"])
    coefficients = _nearest(t, gap, knots)
    kept = _spread(cumulative, len(score))
    left, right = t[kept], t[kept + 1]
    wide = right - left > 1e-9  # else the derivative itself
    value = _natural_slope(right, knots) @ coefficients
    rise = (_natural(right, knots) - _natural(left, knots)) @ coefficients
    np.divide(rise, right - left, out=value, where=wide)
    return Fitted(PointCurve(score[kept], np.clip(score[kept] + value, 0.0, 1.0)))


def _nearest(t: Vector, height: Vector, knots: Vector) -> Vector:
    """Coefficients of the least squares fit, ∫ (f − height)² dt by the trapezoid rule."""
    step = np.diff(t)
    weight = np.sqrt((np.append(step, 0.0) + np.append(0.0, step)) / 2)
    equations = np.empty((0, len(knots) + 1))
    for start in range(0, len(t), CHUNK):
        part = slice(start, start + CHUNK)
        rows = np.column_stack([_natural(t[part], knots), height[part]]) * weight[part, None]
        equations = np.concatenate([equations, rows])
        if len(t) > CHUNK:  # the same squares in as many equations as there are unknowns
            equations = np.asarray(np.linalg.qr(equations, mode="r"))
    return np.asarray(np.linalg.lstsq(equations[:, :-1], equations[:, -1], rcond=None)[0])


def _spread(mass: Vector, n: int) -> NDArray[np.intp]:
    """The places of at most so many scores: all, or those at equal steps of the population's mass."""
    if n <= POINTS:
        return np.arange(n, dtype=np.intp)
    steps = np.linspace(0, mass[-1], POINTS - 1)
    at = np.minimum(np.searchsorted(mass, steps, side="left"), n - 1)
    return np.unique(np.concatenate([[0], at, [n - 1]]))


def _natural(t: Vector, knots: Vector) -> Vector:
    """1, t and the cubic pieces that are straight beyond the first and the last knot, (n, n_knots)."""
    return _pieces(t, knots, 3, np.stack([np.ones(len(t)), t], axis=1))


def _natural_slope(t: Vector, knots: Vector) -> Vector:
    return _pieces(t, knots, 2, np.stack([np.zeros(len(t)), np.ones(len(t))], axis=1))


def _pieces(t: Vector, knots: Vector, power: int, lead: Vector) -> Vector:
    factor = 3.0 if power == 2 else 1.0
    cubes = factor * np.maximum(t[:, None] - knots, 0.0) ** power
    d = (cubes[:, :-1] - cubes[:, -1:]) / (knots[-1] - knots[:-1])
    return np.concatenate([lead, d[:, :-1] - d[:, -1:]], axis=1)
