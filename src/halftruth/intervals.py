"""Bootstrap intervals from replicates."""

from __future__ import annotations

import numpy as np

from halftruth import checks
from halftruth.checks import Vector

METHODS = ("percentile", "basic", "normal", "bias-corrected", "quadrature")


def interval_of(
    replicates: Vector,
    centers: Vector,
    level: float,
    method: str,
    limits: tuple[float, float] = (-np.inf, np.inf),
) -> tuple[float, float]:
    """(low, high); over several scenarios (rows of replicates) the union of their intervals.

    All but "percentile" and "bias-corrected" reflect or stretch, so they may pass ``limits``, what is
    possible, where no replicate does; they are cut there. Replicates that leave the limits are kept.
    "quadrature" is "basic" for squares: the noise of a distance adds to it in quadrature.
    """
    checks.choice(method, "method", METHODS)
    centers = np.atleast_1d(centers)
    ends = [
        _cut(_one(row[np.isfinite(row)], center, level, method), center, method, limits)
        for row, center in zip(np.atleast_2d(replicates), centers, strict=True)
    ]
    low, high = np.asarray(ends).T
    if np.isnan(low).all():
        return np.nan, np.nan
    return float(np.nanmin(low)), float(np.nanmax(high))


def _cut(
    ends: tuple[float, float], center: float, method: str, limits: tuple[float, float]
) -> tuple[float, float]:
    if method in ("percentile", "bias-corrected"):
        return ends
    low, high = np.clip(ends, np.fmin(limits[0], center), np.fmax(limits[1], center))
    return float(low), float(high)


def _one(draws: Vector, center: float, level: float, method: str) -> tuple[float, float]:
    if len(draws) == 0 or (np.isnan(center) and method != "percentile"):
        return np.nan, np.nan
    tails = np.asarray([(1 - level) / 2, (1 + level) / 2])
    if method == "normal":
        from scipy.special import ndtri

        spread = float(np.std(draws, ddof=1)) if len(draws) > 1 else np.nan
        return tuple(center + ndtri(tails) * spread)
    if method == "bias-corrected":
        from scipy.special import ndtr, ndtri

        # Ties count half, so that a discrete metric is not called biased.
        below = (np.mean(draws < center) + np.mean(draws <= center)) / 2
        edge = 0.5 / len(draws)
        tails = ndtr(2 * ndtri(np.clip(below, edge, 1 - edge)) + ndtri(tails))
    # Order statistics at (n+1)q leave exactly the nominal share outside, whatever n.
    low, high = np.quantile(draws, tails, method="weibull")
    if method == "basic":
        return 2 * center - high, 2 * center - low
    if method == "quadrature":
        squares = 2 * center * np.abs(center) - np.asarray([high, low]) * np.abs([high, low])
        return tuple(np.sign(squares) * np.sqrt(np.abs(squares)))
    return float(low), float(high)
