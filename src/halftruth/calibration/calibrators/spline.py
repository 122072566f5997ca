"""Spline calibration: the slope of a smooth curve through the cumulative positives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth.calibration.calibrators.parts import Fitted
from halftruth.calibration.calibrators.stepwise import PointCurve
from halftruth.checks import Vector
from halftruth.folded import FoldedMeasure
from halftruth.measure import ScoreMeasure

POINTS = 1024
"""Scores at which the slope is kept; lines join them."""


def spline(measure: ScoreMeasure, settings: Mapping[str, Any]) -> Fitted:
    """The derivative of a natural cubic spline, brought into [0, 1]; it may fall.

    The spline is fitted by least squares to the cumulative positives over the cumulative share t of the
    population. At a score that many rows share it counts the mean derivative over them.
    """
    score, mass, pos = _cumulative(measure)
    total = mass[-1]
    t, h = np.append(0.0, mass / total), np.append(0.0, pos / total)
    # The trapezoid rule for ∫ (spline − h)² dt.
    gap = np.diff(t)
    weight = np.sqrt((np.append(gap, 0.0) + np.append(0.0, gap)) / 2)
    knots = np.linspace(0.0, 1.0, settings["n_knots"])
    basis = _natural(t, knots)
    coefficients = np.linalg.lstsq(basis * weight[:, None], h * weight, rcond=None)[0]
    height, slope = basis @ coefficients, _natural_slope(t[1:], knots) @ coefficients
    wide = gap > 1e-9  # else the derivative itself
    value = np.divide(np.diff(height), gap, out=slope, where=wide)
    kept = _spread(mass, len(score))
    return Fitted(PointCurve(score[kept], np.clip(value[kept], 0.0, 1.0)))


def _cumulative(measure: ScoreMeasure) -> tuple[Vector, Vector, Vector]:
    """Scores, and both masses up to each of them; of many rows at some quantiles of the population only."""
    if not isinstance(measure, FoldedMeasure):
        return measure.score, np.cumsum(measure.mass), np.cumsum(measure.pos_mass)
    rows = measure.support.sorted
    ends = []
    for name, x in rows.items():
        if measure.of_mass[name] != 0:
            ends += [x[np.linspace(0, len(x) - 1, 16 * POINTS).astype(np.intp)]]
    score = np.unique(np.concatenate(ends))
    below = {name: np.searchsorted(x, score, side="right") for name, x in rows.items()}
    mass, pos = (
        np.sum([part[name] * count for name, count in below.items()], axis=0)
        for part in (measure.of_mass, measure.of_pos)
    )
    return score, mass, pos


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
