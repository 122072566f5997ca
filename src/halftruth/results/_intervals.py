"""Intervals: from bootstrap replicates, or from standard errors."""

from __future__ import annotations

from statistics import NormalDist  # far lighter than SciPy's

import numpy as np

from halftruth import _checks
from halftruth._checks import Vector
from halftruth.results._standing import is_possible

__all__ = ["METHODS", "interval_of", "normal_interval", "score_interval", "student_quantile"]

FEW_DEGREES = 12  # from here on an expansion in 1/ν is exact enough
USUAL = 0.99  # up to this level intervals are made of replicates alone, however few there are
CARRIED = 10  # so many replicates beyond a quantile carry it
ONE_ERROR = 0.16  # tail of a normal beyond one standard error: with few replicates the last that is carried
METHODS = ("percentile", "basic", "normal", "bias-corrected", "fitted", "quadrature", "envelope")


def interval_of(
    replicates: Vector,
    centers: Vector,
    level: float,
    method: str,
    limits: tuple[float, float] = (-np.inf, np.inf),
    degrees: float = np.inf,
) -> tuple[float, float]:
    """(low, high); over several scenarios (rows of replicates) the union of their intervals.

    All but "percentile" and "bias-corrected" reflect or stretch, so they may pass ``limits``, what is
    possible, where no replicate does; they are cut there. Replicates that leave the limits are kept.
    "fitted" is "percentile" of a normal with the replicates' mean and spread, for when they are few.
    "quadrature" is "basic" for squares: the noise of a distance adds to it in quadrature. "envelope" holds
    "quadrature" and "percentile": where all gaps have one sign their noise cancels instead, and a distance
    that was debiased may lie on either side of the truth. ``degrees`` of freedom widen the tails of a normal
    to Student's: replicates of few rows vary too little. Levels beyond those that replicates carry go on from
    there as a normal does, on the logit scale of ``limits``, or the logarithm of what has one limit.
    """
    _checks.choice(method, "method", METHODS)
    centers = np.atleast_1d(centers)
    if method in ("basic", "bias-corrected") and any(x <= limits[0] or x >= limits[1] for x in centers):
        # At the end of what is possible both ends would be cut to the value, though the replicates vary.
        method = "percentile"
    ends = [
        _cut(_one(row[np.isfinite(row)], center, level, method, degrees, limits), center, method, limits)
        for row, center in zip(np.atleast_2d(replicates), centers, strict=True)
    ]
    low, high = _union(ends)
    if method in ("percentile", "fitted") and not np.isnan(low):
        # Replicates may all lie on one side of the value, as of one at the end of what is possible: it is no
        # less likely than they are.
        return min(low, np.nanmin(centers, initial=low)), max(high, np.nanmax(centers, initial=high))
    return low, high


def normal_interval(
    centers: Vector,
    errors: Vector,
    level: float,
    limits: tuple[float, float] = (-np.inf, np.inf),
    degrees: float = np.inf,
) -> tuple[float, float]:
    """(low, high) from standard errors, cut at ``limits``; over several scenarios the union."""
    t = student_quantile((1 + level) / 2, degrees)
    ends = [
        _cut((center - t * error, center + t * error), center, "normal", limits)
        for center, error in zip(centers, errors, strict=True)
    ]
    return _union(ends)


def score_interval(
    centers: Vector, rows: Vector, level: float, degrees: float = np.inf
) -> tuple[float, float]:
    """(low, high) of shares with the error of one in so many ``rows``: Wilson's, wide at 0 and 1 too."""
    square = student_quantile((1 + level) / 2, degrees) ** 2
    with np.errstate(invalid="ignore"):
        middle = (rows * centers + square / 2) / (rows + square)
        side = np.sqrt(square * (rows * centers * (1 - centers) + square / 4)) / (rows + square)
    side = np.where(np.isinf(rows), 0.0, side)  # without any error
    middle = np.where(np.isinf(rows), centers, middle)
    return _union(list(zip(middle - side, middle + side, strict=True)))


def student_quantile(share: float, degrees: float) -> float:
    """Student's, of one degree or more; the normal's where there are infinitely many."""
    z, v = NormalDist().inv_cdf(share), max(degrees, 1.0)
    if v < FEW_DEGREES:
        # With t = √ν tan θ the density is that of cos(θ)^(ν−1).
        angle = np.linspace(-np.pi / 2, np.pi / 2, 20_001)
        density = np.cos(angle) ** (v - 1)
        mass = np.append(0.0, np.cumsum(density[1:] + density[:-1]))
        return float(np.sqrt(v) * np.tan(np.interp(share, mass / mass[-1], angle)))
    polynomials = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(p / v**k for k, p in enumerate(polynomials, start=1))


def _union(ends: list[tuple[float, float]]) -> tuple[float, float]:
    low, high = np.asarray(ends).T
    if np.isnan(low).all():
        return np.nan, np.nan
    return float(np.nanmin(low)), float(np.nanmax(high))


def _cut(
    ends: tuple[float, float], center: float, method: str, limits: tuple[float, float]
) -> tuple[float, float]:
    # Where the value itself has left what is possible, a cut would leave one side of the interval only.
    if method in ("percentile", "bias-corrected") or not is_possible(center, limits):
        return ends
    low, high = np.clip(ends, *limits)
    return float(low), float(high)


def _one(
    draws: Vector, center: float, level: float, method: str, degrees: float, limits: tuple[float, float]
) -> tuple[float, float]:
    if len(draws) == 0 or (np.isnan(center) and method != "percentile"):
        return np.nan, np.nan
    if method in ("normal", "fitted"):
        middle = center if method == "normal" else float(draws.mean())
        t = student_quantile((1 + level) / 2, degrees)
        side = t * (float(np.std(draws, ddof=1)) if len(draws) > 1 else np.nan)
        return middle - side, middle + side
    low, high = _quantiles(draws, center, level, method, degrees)
    usual = max(USUAL, 1 - 2 * CARRIED / (len(draws) + 1))
    if level > usual:
        near = _quantiles(draws, center, usual, method, degrees)
        steps = student_quantile((1 + level) / 2, degrees) - student_quantile((1 + usual) / 2, degrees)
        # Never within the replicates that lie beyond such a level.
        low = min(low, _farther(draws, near[0], -steps, limits))
        high = max(high, _farther(draws, near[1], steps, limits))
    if method == "basic":
        return 2 * center - high, 2 * center - low
    if method == "quadrature":
        squares = 2 * center * np.abs(center) - np.asarray([high, low]) * np.abs([high, low])
        return tuple(np.sign(squares) * np.sqrt(np.abs(squares)))
    if method == "envelope":
        return _union([(low, high), _one(draws, center, level, "quadrature", degrees, limits)])
    return low, high


def _quantiles(
    draws: Vector, center: float, level: float, method: str, degrees: float
) -> tuple[float, float]:
    """Of the replicates, those between which the level lies."""
    tails = np.asarray([(1 - level) / 2, (1 + level) / 2])
    if degrees < np.inf:
        t = student_quantile((1 + level) / 2, degrees)
        tails = np.asarray([NormalDist().cdf(-t), NormalDist().cdf(t)])
    if method == "bias-corrected":
        from scipy.special import ndtr, ndtri

        # Ties count half, so that a discrete metric is not called biased.
        below = (np.mean(draws < center) + np.mean(draws <= center)) / 2
        edge = 0.5 / len(draws)
        tails = ndtr(2 * ndtri(np.clip(below, edge, 1 - edge)) + ndtri(tails))
    # Order statistics at (n+1)q leave exactly the nominal share outside, whatever n.
    low, high = np.quantile(draws, tails, method="weibull")
    return float(low), float(high)


def _farther(draws: Vector, start: float, steps: float, limits: tuple[float, float]) -> float:
    """So many standard errors beyond a quantile, down where negative, on a scale where laws are near normal.

    The error is the distance from the median to the last quantile of that side that replicates carry, over a
    normal's.
    """
    tail = min(max((1 - USUAL) / 2, CARRIED / (len(draws) + 1)), ONE_ERROR)
    share = tail if steps < 0 else 1 - tail
    middle, carried = np.quantile(draws, [0.5, share], method="weibull")
    at = np.asarray([middle, carried, start])
    # At a limit or beyond it the scale of the limits has no place.
    scale = limits if np.all((at > limits[0]) & (at < limits[1])) else (-np.inf, np.inf)
    middle, carried, origin = _unlimited(at, scale)
    end = _limited(origin + steps * (carried - middle) / NormalDist().inv_cdf(share), scale)
    return float(np.clip(end, *limits)) if limits[0] <= start <= limits[1] else end


def _unlimited(x: Vector, limits: tuple[float, float]) -> Vector:
    """On the whole line: the logit between two limits, the logarithm of the distance from one."""
    low, high = limits
    if np.isinf(low):
        return x if np.isinf(high) else -np.log(high - x)
    return np.log(x - low) - (0.0 if np.isinf(high) else np.log(high - x))


def _limited(u: float, limits: tuple[float, float]) -> float:
    """Back from the line."""
    low, high = limits
    with np.errstate(over="ignore"):
        if np.isinf(low):
            return float(u if np.isinf(high) else high - np.exp(-u))
        return float(low + (np.exp(u) if np.isinf(high) else (high - low) * np.exp(-np.logaddexp(0.0, -u))))
