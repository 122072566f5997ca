"""The calibration error without the noise that inflates it.

Bins add up |signal + noise|, so that noise alone looks like an error. Two remedies: take off what the noise
of each bin adds by itself (`corrected`), or infer the signal (`posterior`). The second takes the gap between
frequency and score, along the score, as a draw from a Gaussian process around the curves that Platt's and
beta calibration can straighten, weighs several widths and sizes of it by their likelihood, and gives the
error that is expected then.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from halftruth._checks import Vector
from halftruth.measure._bins import BinSums, optimal_bins
from halftruth.measure._score_measure import ratio

LENGTHS = (0.03, 0.07, 0.2)
"""Of what the curves leave over: over which share of the population it changes."""
SIZES = (0.15, 0.4, 1.0, 2.5)
"""Of what the curves leave over, in units of √(s (1−s)). The least is no smaller: what cannot be told from
calibrated is not declared calibrated."""
SLOPES = (0.0, 0.5, 2.5, 8.0)
"""Of the curves' three parameters."""
EDGE = 0.03
"""Scores nearer to 0 or 1 count as this near: a model may be sure and wrong."""
SMOOTHING = 2.0
"""Bins, of the number taken by default, over which the noise is averaged: a bin without a known positive is
not a bin without noise."""
RIDGE = 1e-10


def corrected(bins: BinSums, norm: float | str) -> Vector:
    """Less what noise adds to each bin: Ferro and Fricker's for norm 2, Kumar's for norm 1.

    With labels the noise is that of the bin's frequency a, a (1−a)/n, or /(n−1) for norm 2.
    """
    total, mass, gap = bins.total, bins.mass, np.abs(bins.gap)
    if norm == 2:
        spread = _variance(bins, lost=1)
        square = ratio(gap**2 - spread, mass)
        mean = ratio(np.where(mass > 0, square, 0.0).sum(axis=-1), total)
        return np.sqrt(np.maximum(mean, 0.0))
    expected = mean_distance(gap, np.sqrt(_variance(bins, lost=0)))
    return np.maximum(ratio((2 * gap - expected).sum(axis=-1), total), 0.0)


def _variance(bins: BinSums, lost: int) -> Vector:
    """Of each bin's gap, in rows²."""
    if not bins.labeled:
        return np.maximum(np.diagonal(bins.covariance, axis1=-2, axis2=-1), 0.0)
    unit = bins.unit
    n, pos = bins.mass / unit, bins.pos / unit
    share = np.clip(ratio(pos, n), 0.0, 1.0)
    known = n > lost  # a lone row says nothing of its noise
    spread = np.where(known, n**2 * share * (1 - share) / np.where(known, n - lost, 1.0), 0.0)
    return np.asarray(unit**2 * spread)


def enough_bins(size: float) -> int:
    """How many bins show the signal of so many rows: half as many more as `calibration_error` takes."""
    return int(np.clip(1.5 * optimal_bins(size), 8, 40))


def posterior(bins: BinSums, norm: float | str) -> Vector:
    """The error that is expected given the gaps, averaged over the processes that may have made them."""
    total = bins.total[..., None]
    mass, gap = ratio(bins.mass, total), ratio(bins.gap, total)
    width = SMOOTHING / enough_bins(bins.size)
    noise = ratio(bins.smoothed_covariance(width), total[..., None] ** 2)
    # A resample may leave a measure undefined: its own value, and not that of the others.
    defined = np.asarray(np.isfinite(gap).all(axis=-1) & np.isfinite(noise).all(axis=(-1, -2)))
    mass, gap = (np.where(defined[..., None], x, 0.0) for x in (mass, gap))
    factor = _factor(np.where(defined[..., None, None], noise, 0.0))
    curves, rest = _prior(mass, bins.mean_score)
    fits = [fit for length in LENGTHS for fit in _fits(factor, gap, curves, rest[length])]
    weight = np.stack([likelihood for likelihood, _, _ in fits])
    weight = np.exp(weight - weight.max(axis=0))
    weight /= weight.sum(axis=0)
    errors = np.stack([_error(mean, spread, mass, norm) for _, mean, spread in fits])
    return np.where(defined, (weight * errors).sum(axis=0) ** (0.5 if norm == 2 else 1.0), np.nan)


def _factor(covariance: Vector) -> Vector:
    """A square root of the nearest covariance with no direction free of noise; averaging can leave such."""
    least = RIDGE * np.abs(np.trace(covariance, axis1=-2, axis2=-1))[..., None, None] + 1e-14
    try:
        return np.linalg.cholesky(covariance + least * np.eye(covariance.shape[-1]))
    except np.linalg.LinAlgError:
        sizes, directions = np.linalg.eigh(covariance)
        return np.asarray(directions * np.sqrt(np.maximum(sizes, least[..., 0]))[..., None, :])


def _prior(mass: Vector, score: Vector) -> tuple[Vector, dict[float, Vector]]:
    """What the curves' parameters move (..., n_bins, 3), and the covariance of the rest by its length."""
    s = np.clip(score, EDGE, 1 - EDGE)
    slope = mass * s * (1 - s)
    basis = np.stack([slope, slope * np.log(s) / 1.5, slope * np.log1p(-s) / 1.5], axis=-1)
    place = np.cumsum(mass, axis=-1) - mass / 2
    apart = place[..., :, None] - place[..., None, :]
    scale = mass * np.sqrt(s * (1 - s))
    both = scale[..., :, None] * scale[..., None, :]
    return basis, {length: both * np.exp(-0.5 * (apart / length) ** 2) for length in LENGTHS}


def _fits(
    factor: Vector, gap: Vector, curves: Vector, rest: Vector
) -> Iterator[tuple[Vector, Vector, Vector]]:
    """Log likelihood, and the mean and standard deviation of the signal, for each size and slope.

    In coordinates in which the noise is the identity and the rest diagonal, the gaps have covariance V =
    1 + size² λ + slope² B Bᵀ; given them the signal has mean g − V⁻¹ g and covariance 1 − V⁻¹.
    """
    whiten: Vector = np.asarray(np.linalg.inv(factor), dtype=np.float64)
    sizes, directions = np.linalg.eigh(whiten @ rest @ _t(whiten))
    to_bins, whiten = factor @ directions, _t(directions) @ whiten
    g, basis = whiten @ gap[..., None], whiten @ curves
    for size, slope in product(SIZES, SLOPES):
        d = 1 / (1 + size**2 * np.maximum(sizes, 0.0))
        inverse_g, left = d[..., None] * g, (to_bins**2 @ (1 - d)[..., None])[..., 0]
        likelihood = np.log(d).sum(axis=-1)
        if slope:
            scaled = slope * d[..., None] * basis
            inner = np.eye(3) + slope * _t(basis) @ scaled
            inverse_g = inverse_g - scaled @ np.linalg.solve(inner, _t(scaled) @ g)
            moved = to_bins @ scaled
            left = left + (moved * _t(np.linalg.solve(inner, _t(moved)))).sum(axis=-1)
            likelihood = likelihood - np.linalg.slogdet(inner)[1]
        likelihood = (likelihood - (g * inverse_g).sum(axis=(-2, -1))) / 2
        yield likelihood, (to_bins @ (g - inverse_g))[..., 0], np.sqrt(np.maximum(left, 0.0))


def _t(matrix: Vector) -> Vector:
    return np.swapaxes(matrix, -1, -2)


def _error(mean: Vector, spread: Vector, mass: Vector, norm: float | str) -> Vector:
    if norm == 2:
        return np.asarray(np.where(mass > 0, ratio(mean**2 + spread**2, mass), 0.0).sum(axis=-1))
    distance = mean_distance(mean, spread)
    if norm == "max":
        return np.asarray(np.where(mass > 0, ratio(distance, mass), 0.0).max(axis=-1))
    return np.asarray(distance.sum(axis=-1))


def mean_distance(mean: Vector, spread: Vector) -> Vector:
    """E |X| of a normal X."""
    from scipy.special import ndtr

    z = np.divide(mean, spread, out=np.zeros_like(mean), where=spread > 0)
    normal = spread * np.sqrt(2 / np.pi) * np.exp(-0.5 * z**2) + mean * (1 - 2 * ndtr(-z))
    return np.where(spread > 0, normal, np.abs(mean))
