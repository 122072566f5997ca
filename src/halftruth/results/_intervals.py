"""Intervals: from bootstrap replicates, or from standard errors."""

from __future__ import annotations

import numpy as np

from halftruth import _checks
from halftruth._checks import Vector

__all__ = ["METHODS", "interval_of", "normal_interval"]

METHODS = ("percentile", "basic", "normal", "bias-corrected", "fitted", "quadrature", "envelope")


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
    "fitted" is "percentile" of a normal with the replicates' mean and spread, for when they are few.
    "quadrature" is "basic" for squares: the noise of a distance adds to it in quadrature. "envelope" holds
    "quadrature" and "percentile": where all gaps have one sign their noise cancels instead, and a distance
    that was debiased may lie on either side of the truth.
    """
    _checks.choice(method, "method", METHODS)
    centers = np.atleast_1d(centers)
    ends = [
        _cut(_one(row[np.isfinite(row)], center, level, method), center, method, limits)
        for row, center in zip(np.atleast_2d(replicates), centers, strict=True)
    ]
    return _union(ends)


def normal_interval(
    centers: Vector,
    errors: Vector,
    level: float,
    limits: tuple[float, float] = (-np.inf, np.inf),
    *,
    logit: bool = False,
) -> tuple[float, float]:
    """(low, high) from standard errors, cut at ``limits``; over several scenarios the union.

    ``logit``: for shares, on the scale of the log odds, where they are less skewed and cannot leave [0, 1].
    """
    z = _normal_quantile((1 + level) / 2)
    ends = [
        _on_logit(center, z * error)
        if logit and limits == (0.0, 1.0) and 0 < center < 1
        else _cut((center - z * error, center + z * error), center, "normal", limits)
        for center, error in zip(centers, errors, strict=True)
    ]
    return _union(ends)


def _on_logit(center: float, side: float) -> tuple[float, float]:
    with np.errstate(over="ignore"):
        odds, factor = center / (1 - center), np.exp(side / (center * (1 - center)))
        return float(1 / (1 + factor / odds)), float(1 / (1 + 1 / (odds * factor)))


def _normal_quantile(share: float) -> float:
    from statistics import NormalDist  # far lighter than SciPy's

    return NormalDist().inv_cdf(share)


def _union(ends: list[tuple[float, float]]) -> tuple[float, float]:
    low, high = np.asarray(ends).T
    if np.isnan(low).all():
        return np.nan, np.nan
    return float(np.nanmin(low)), float(np.nanmax(high))


def _cut(
    ends: tuple[float, float], center: float, method: str, limits: tuple[float, float]
) -> tuple[float, float]:
    # Where the value itself has left what is possible, a cut would leave one side of the interval only.
    if method in ("percentile", "bias-corrected") or not limits[0] <= center <= limits[1]:
        return ends
    low, high = np.clip(ends, *limits)
    return float(low), float(high)


def _one(draws: Vector, center: float, level: float, method: str) -> tuple[float, float]:
    if len(draws) == 0 or (np.isnan(center) and method != "percentile"):
        return np.nan, np.nan
    tails = np.asarray([(1 - level) / 2, (1 + level) / 2])
    if method in ("normal", "fitted"):
        middle = center if method == "normal" else float(draws.mean())
        side = _normal_quantile(tails[1]) * (float(np.std(draws, ddof=1)) if len(draws) > 1 else np.nan)
        return middle - side, middle + side
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
    if method == "envelope":
        return _union([(float(low), float(high)), _one(draws, center, level, "quadrature")])
    return float(low), float(high)
