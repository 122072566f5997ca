"""The calibration error without the noise that inflates it.

Bins add up |signal + noise|, so that noise alone looks like an error. Two remedies: take off what the noise
of each bin adds by itself (`corrected`), or infer the signal (`posterior`). The second takes the gap between
frequency and score, along the score, as a draw from a Gaussian process around the curves that Platt's and
beta calibration can straighten, weighs several widths and sizes of it by their likelihood, and gives the
error that is expected then.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from halftruth.calibration.bins import Binned, labeled
from halftruth.checks import Vector
from halftruth.measure import ratio

LENGTHS = (0.07, 0.2)
"""Of what the curves leave over: over which share of the population it changes."""
SIZES = (0.16, 0.32)
"""Of what the curves leave over, in units of √(s (1−s)). The least is no smaller: what cannot be told from
calibrated is not declared calibrated."""
SLOPES = (0.0, 0.3, 1.0, 2.5)
"""Of the curves' three parameters."""
EDGE = 0.03
"""Scores nearer to 0 or 1 count as this near: a model may be sure and wrong."""
SMOOTHING = 2.0
"""Bins over which the noise is averaged: a bin without a known positive is not a bin without noise."""
RIDGE = 1e-10


def corrected(bins: Binned, norm: float | str) -> Vector:
    """Less what noise adds to each bin: Ferro and Fricker's for norm 2, Kumar's for norm 1.

    With labels the noise is that of the bin's frequency a, a (1−a)/n, or /(n−1) for norm 2.
    """
    total, mass, gap = bins.measure.total, bins.mass, np.abs(bins.gap)
    if norm == 2:
        spread = _variance(bins, lost=1)
        square = ratio(gap**2 - spread, mass)
        mean = ratio(np.where(mass > 0, square, 0.0).sum(axis=-1), total)
        return np.sqrt(np.maximum(mean, 0.0))
    expected = mean_distance(gap, np.sqrt(_variance(bins, lost=0)))
    return np.maximum(ratio((2 * gap - expected).sum(axis=-1), total), 0.0)


def _variance(bins: Binned, lost: int) -> Vector:
    """Of each bin's gap, in rows²."""
    if not labeled(bins.measure):
        return np.maximum(np.diagonal(bins.covariance, axis1=-2, axis2=-1), 0.0)
    n, pos = bins.mass, bins.pos
    share = np.clip(ratio(pos, n), 0.0, 1.0)
    known = n > lost  # a lone row says nothing of its noise
    return np.where(known, n**2 * share * (1 - share) / np.where(known, n - lost, 1.0), 0.0)


def posterior(bins: Binned, norm: float | str) -> Vector:
    """The error that is expected given the gaps, averaged over the processes that may have made them."""
    total = bins.measure.total[..., None]
    mass, gap = ratio(bins.mass, total), ratio(bins.gap, total)
    noise = _proper(bins.smoothed_covariance(SMOOTHING) / total[..., None] ** 2)
    curves, rest = _covariances(mass, bins.mean_score)
    fits = [_fit(slope**2 * curves + size**2 * rest[length], noise, gap) for length, size, slope in _GRID]
    weight = np.stack([likelihood for likelihood, _, _ in fits])
    weight = np.exp(weight - weight.max(axis=0))
    weight /= weight.sum(axis=0)
    errors = np.stack([_error(mean, spread, mass, norm) for _, mean, spread in fits])
    return np.asarray((weight * errors).sum(axis=0)) ** (0.5 if norm == 2 else 1.0)


def _proper(covariance: Vector) -> Vector:
    """The nearest covariance with no direction free of noise: averaging over bins can leave such."""
    sizes, directions = np.linalg.eigh((covariance + np.swapaxes(covariance, -1, -2)) / 2)
    least = RIDGE * np.abs(sizes).max(axis=-1, keepdims=True) + 1e-14
    return np.asarray((directions * np.maximum(sizes, least)[..., None, :]) @ np.swapaxes(directions, -1, -2))


_GRID = tuple(product(LENGTHS, SIZES, SLOPES))


def _covariances(mass: Vector, score: Vector) -> tuple[Vector, dict[float, Vector]]:
    """Prior covariances of the gaps: from the curves' parameters, and of the rest by its length."""
    s = np.clip(score, EDGE, 1 - EDGE)
    slope = mass * s * (1 - s)
    basis = np.stack([slope, slope * np.log(s) / 1.5, slope * np.log1p(-s) / 1.5], axis=-1)
    place = np.cumsum(mass, axis=-1) - mass / 2
    apart = place[..., :, None] - place[..., None, :]
    scale = mass * np.sqrt(s * (1 - s))
    both = scale[..., :, None] * scale[..., None, :]
    rest = {length: both * np.exp(-0.5 * (apart / length) ** 2) for length in LENGTHS}
    return basis @ np.swapaxes(basis, -1, -2), rest


def _fit(prior: Vector, noise: Vector, gap: Vector) -> tuple[Vector, Vector, Vector]:
    """Log likelihood, and the mean and the standard deviation of the signal given the gaps."""
    factor = np.linalg.cholesky(prior + noise)
    # Of two triangular systems in one: what the gaps and the prior look like without correlation.
    both = np.linalg.solve(factor, np.concatenate([gap[..., None], prior], axis=-1))
    white, seen = both[..., :1], both[..., 1:]
    size = np.log(np.diagonal(factor, axis1=-2, axis2=-1)).sum(axis=-1)
    likelihood = -0.5 * (white[..., 0] ** 2).sum(axis=-1) - size
    mean = (np.swapaxes(seen, -1, -2) @ white)[..., 0]
    left = np.diagonal(prior, axis1=-2, axis2=-1) - (seen**2).sum(axis=-2)
    return likelihood, mean, np.sqrt(np.maximum(left, 0.0))


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
