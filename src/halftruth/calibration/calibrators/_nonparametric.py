"""Curves that follow the data: isotonic regression, histogram binning and splines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector
from halftruth._errors import InputError, arg
from halftruth.calibration._isotonic import isotonic_points, shares
from halftruth.calibration.calibrators._serialization import Curve, Fitted, column
from halftruth.measure._arithmetic import Index, by_bin
from halftruth.measure._score_measure import ScoreMeasure

__all__ = ["BinCurve", "PointCurve", "RisingCurve", "histogram", "isotonic", "spline"]


@dataclass(frozen=True, eq=False)
class PointCurve(Curve):
    """Straight lines between points, constant beyond the first and the last."""

    score: Vector
    value: Vector

    def __call__(self, score: Vector) -> Vector:
        return np.asarray(np.interp(score, self.score, self.value))

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        score, value = column(stored, "score", rising=True), column(stored, "value", unit=True)
        if len(score) != len(value) or not len(score):
            raise InputError(f"{arg('score')} and {arg('value')} must have one length, at least 1")
        return cls(score, value)


class RisingCurve(PointCurve):
    """The same, never falling."""

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        curve = super().from_dict(stored)
        if (np.diff(curve.value) < 0).any():
            raise InputError(f"{arg('value')} must not fall")
        return curve


@dataclass(frozen=True, eq=False)
class BinCurve(Curve):
    """One value for each bin (edge before, edge], the first and the last without end."""

    edge: Vector
    value: Vector

    def __call__(self, score: Vector) -> Vector:
        return np.asarray(self.value[np.searchsorted(self.edge, score, side="left")])

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
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
    edge, mass, pos = _masses_in_bins(measure, settings["n_bins"], settings["binning"])
    value = shares(mass, pos)
    known = ~np.isnan(value)
    wide = settings["binning"] == "width"
    # Between bins of equal mass a step in rank is a step of the population; their widths say little.
    ends = np.concatenate([[0.0], edge, [1.0]]) if wide else np.arange(len(mass) + 1)
    middle = (ends[1:] + ends[:-1]) / 2
    return Fitted(BinCurve(edge, np.interp(middle, middle[known], value[known])))


CELLS = 1024  # cells of equal mass that stand for the rows where the number of bins is chosen
TRIED = (0.35, 0.5, 0.7, 1.0)
"""Numbers of bins, in units of ⌈size^(1/3)⌉, at which noise and change are measured."""
FEW = 4  # distinct scores, in the same units, below which that number itself is taken
MOST = 2  # the largest number of bins, in the same units


def _masses_in_bins(measure: ScoreMeasure, n_bins: int | str, binning: str) -> tuple[Vector, Vector, Vector]:
    """The upper edges of all bins but the last, and both masses of each; equal edges are one."""
    number = measure.number_of_bins(n_bins)
    if isinstance(n_bins, str):
        cells = measure.joined(measure.quantiles(CELLS))
        # Of few distinct scores nothing can be learned by joining them.
        few = len(cells.score) < FEW * number
        number = number if few else _best_number(cells, number, binning)
    edge = measure.quantiles(number) if binning == "mass" else np.arange(1, number) / number
    return edge, *measure.masses_between(edge)


def _best_number(cells: ScoreMeasure, usual: int, binning: str) -> int:
    """The number B of bins with the least squared error, c/B² + v B.

    The first part is what the curve changes within bins, the second is noise. Each is a mean over several
    B: at one alone, how its edges happen to lie matters too much.
    """
    curve = _pilot(cells)
    change, noise = [], []
    for n_bins in {max(2, round(usual * share)) for share in TRIED}:
        index = cells.bin_index(n_bins, binning)
        mass, first, second = (by_bin(cells.mass * curve**k, index, n_bins) for k in (0, 1, 2))
        used = mass > 0
        mean = np.divide(first, mass, out=np.zeros(n_bins), where=used)
        change.append(float((second - first * mean)[used].sum()) * n_bins**2)
        variance = _variance(cells, mean, index, n_bins)
        noise.append(float((variance[used] / mass[used]).sum()) / n_bins)
    c, v = max(float(np.mean(change)), 0.0), float(np.mean(noise))
    most = MOST * usual
    return max(1, round((2 * c / v) ** (1 / 3))) if 2 * c < v * most**3 else most


def _pilot(cells: ScoreMeasure) -> Vector:
    """The isotonic fit without its steps: straight lines from the middle of one block to that of the next."""
    blocks = cells.isotonic_blocks()
    value = shares(blocks.mass, blocks.pos)
    known = ~np.isnan(value)
    rank, middle = (np.cumsum(mass) - mass / 2 for mass in (cells.mass, blocks.mass))
    return np.asarray(np.interp(rank, middle[known], value[known]))


def _variance(cells: ScoreMeasure, mean: Vector, index: Index, n_bins: int) -> Vector:
    """Of μ₁ − g μ in each bin, where the share of positives is g; by hand, as of labeled rows."""
    if cells.noise is None:
        mass = by_bin(cells.mass, index, n_bins)
        return np.asarray(mass * mean * (1 - mean) * float(cells.total) / cells.size)
    covariance = replace(cells.noise, score=mean[index]).covariance(index, n_bins)
    return np.maximum(np.diagonal(covariance), 0.0)


POINTS = 1024  # scores at which the curve is kept; lines join them
CHUNK = 1 << 16  # scores that are reduced to a few equations at a time


def spline(measure: ScoreMeasure, settings: Mapping[str, Any]) -> Fitted:
    """The curve s + f′(t), brought into [0, 1]; it may fall.

    f is the natural cubic spline nearest, by least squares over the share t of the population below, to the
    cumulative gap μ₁ − ∫ s dμ. At a score that many rows share the mean slope over them counts.
    """
    # Gupta et al. 2021: a smooth fit to the cumulative gap needs no bins, and its slope is the gap itself.
    score, total = measure.score, float(measure.total)
    cumulative = np.cumsum(measure.mass)
    t = np.append(0.0, cumulative / total)
    gap = np.append(0.0, np.cumsum(measure.pos_mass - score * measure.mass) / total)
    knots = np.linspace(0.0, 1.0, settings["n_knots"])
    coefficients = _nearest(t, gap, knots)
    places = _spread(cumulative, len(score))
    left, right = t[places], t[places + 1]
    wide = right - left > 1e-9  # else the derivative itself
    value = _natural(right, knots, slope=True) @ coefficients
    rise = (_natural(right, knots) - _natural(left, knots)) @ coefficients
    np.divide(rise, right - left, out=value, where=wide)
    return Fitted(PointCurve(score[places], np.clip(score[places] + value, 0.0, 1.0)))


def _nearest(t: Vector, height: Vector, knots: Vector) -> Vector:
    """Coefficients of the least squares fit, ∫ (f − height)² dt by the trapezoid rule."""
    step = np.diff(t)
    weight = np.sqrt((np.append(step, 0.0) + np.append(0.0, step)) / 2)
    equations = np.empty((0, len(knots) + 1))
    for start in range(0, len(t), CHUNK):
        chunk = slice(start, start + CHUNK)
        rows = np.column_stack([_natural(t[chunk], knots), height[chunk]]) * weight[chunk, None]
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


def _natural(t: Vector, knots: Vector, *, slope: bool = False) -> Vector:
    """1, t and the cubic pieces that are straight beyond the first and the last knot, or their slopes."""
    # Truncated cubes in differences that cancel beyond the last knot (Hastie et al. 2009, eq. 5.4).
    factor, power, one = (3.0, 2, np.zeros(len(t))) if slope else (1.0, 3, np.ones(len(t)))
    cubes = factor * np.maximum(t[:, None] - knots, 0.0) ** power
    d = (cubes[:, :-1] - cubes[:, -1:]) / (knots[-1] - knots[:-1])
    lead = np.stack([one, np.ones(len(t)) if slope else t], axis=1)
    return np.concatenate([lead, d[:, :-1] - d[:, -1:]], axis=1)
