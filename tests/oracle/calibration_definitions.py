"""Calibration errors by their definitions, row by row.

Nothing here knows of halftruth. A row adds ``mass`` to the population and ``pos`` to its positives: 1 and y with
labels, 1 and 0 for an unlabeled row, 0 and π n_U/n_P for a known positive. A whole weight repeats the row.
"""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit


class Rows(NamedTuple):
    score: np.ndarray
    mass: np.ndarray
    pos: np.ndarray


def labeled(y: np.ndarray, score: np.ndarray, weight: np.ndarray | None = None) -> Rows:
    if weight is not None:
        y, score = np.repeat(y, weight), np.repeat(score, weight)
    return Rows(np.asarray(score, dtype=np.float64), np.ones(len(y)), np.asarray(y, dtype=np.float64))


def positive_unlabeled(positive: np.ndarray, unlabeled: np.ndarray, prior: float) -> Rows:
    n_p, n_u = len(positive), len(unlabeled)
    return Rows(
        np.concatenate([unlabeled, positive]).astype(np.float64),
        np.repeat([1.0, 0.0], [n_u, n_p]),
        np.repeat([0.0, prior * n_u / n_p], [n_u, n_p]),
    )


# --- Bins ------------------------------------------------------------------------------------------


def edges(rows: Rows, n_bins: int, binning: str) -> list[float]:
    """Ends of the bins (u_{b−1}, u_b]; the first is closed at 0, and none but the last reaches beyond 1."""
    if binning == "width":
        inner = [b / n_bins for b in range(1, n_bins)]
    else:
        population = np.sort(rows.score[rows.mass > 0])
        ranks = [len(population) * b // n_bins for b in range(1, n_bins)]
        inner = [population[rank - 1] if rank else -math.inf for rank in ranks]
    return [-math.inf, *inner, math.inf]


def members(rows: Rows, n_bins: int, binning: str) -> Iterator[Rows]:
    """The rows of each bin, also of the empty ones."""
    for low, high in pairwise(edges(rows, n_bins, binning)):
        inside = (low < rows.score) & (rows.score <= high)
        yield Rows(*(column[inside] for column in rows))


class Bin(NamedTuple):
    n: float
    acc: float
    conf: float


def bins(rows: Rows, n_bins: int, binning: str) -> list[Bin]:
    """Size, mean label and mean score of the bins that hold some of the population."""
    each = ((math.fsum(r.mass), math.fsum(r.pos), r) for r in members(rows, n_bins, binning))
    return [Bin(n, pos / n, math.fsum(r.mass * r.score) / n) for n, pos, r in each if n > 0]


def calibration_error(rows: Rows, n_bins: int, binning: str, norm: float | str) -> float:
    total = math.fsum(rows.mass)
    if norm == 1:  # known positives in a bin without unlabeled count too
        each = members(rows, n_bins, binning)
        return math.fsum(abs(math.fsum(r.pos - r.mass * r.score)) for r in each) / total
    gaps = [(b.n / total, abs(b.acc - b.conf)) for b in bins(rows, n_bins, binning)]
    return max(g for _, g in gaps) if norm == "max" else math.sqrt(math.fsum(w * g**2 for w, g in gaps))


def adaptive_calibration_error(rows: Rows, n_bins: int) -> float:
    return float(np.mean([abs(b.acc - b.conf) for b in bins(rows, n_bins, "mass")]))


# --- Debiased, with labels -------------------------------------------------------------------------


def debiased_square(rows: Rows, n_bins: int, binning: str) -> float:
    """√max(0, Σ w [(conf − acc)² − acc (1 − acc)/(n − 1)]); a bin of one row is left as it is."""
    total, square = math.fsum(rows.mass), 0.0
    for b in bins(rows, n_bins, binning):
        noise = b.acc * (1 - b.acc) / (b.n - 1) if b.n > 1 else 0.0
        square += b.n / total * ((b.conf - b.acc) ** 2 - noise)
    return math.sqrt(max(0.0, square))


def folded_normal_mean(mean: float, sd: float) -> float:
    """E|X| of X ~ N(mean, sd²)."""
    if sd == 0:
        return abs(mean)
    bell = sd * math.sqrt(2 / math.pi) * math.exp(-((mean / sd) ** 2) / 2)
    return bell + mean * math.erf(mean / (sd * math.sqrt(2)))


def resampled_parts(rows: Rows, n_bins: int, binning: str) -> list[tuple[float, float, float]]:
    """Share, gap and standard deviation of the accuracy of each bin."""
    total = math.fsum(rows.mass)
    each = bins(rows, n_bins, binning)
    return [(b.n / total, b.acc - b.conf, math.sqrt(b.acc * (1 - b.acc) / b.n)) for b in each]


def debiased_absolute(rows: Rows, n_bins: int, binning: str) -> float:
    """2 · plug-in − its mean when bin accuracies are drawn again from normals, not below 0."""
    parts = resampled_parts(rows, n_bins, binning)
    again = math.fsum(w * folded_normal_mean(gap, sd) for w, gap, sd in parts)
    return max(0.0, 2 * math.fsum(w * abs(gap) for w, gap, _ in parts) - again)


# --- Without a number of bins ----------------------------------------------------------------------


def running_sums(rows: Rows) -> list[float]:
    """Σ (s − y) over all rows up to each score, from nothing on; rows of one score come together."""
    claimed = rows.score * rows.mass - rows.pos
    upto = [math.fsum(claimed[rows.score <= limit]) for limit in np.unique(rows.score)]
    return [0.0, *(s / math.fsum(rows.mass) for s in upto)]


def ks(rows: Rows) -> float:
    return max(map(abs, running_sums(rows)))


def kuiper(rows: Rows) -> float:
    return max(running_sums(rows)) - min(running_sums(rows))


def rises(rows: Rows, n_bins: int) -> bool:
    """Whether no mean label is below the one of the bin before it, in fractions."""
    means = []
    for r in members(rows, n_bins, "mass"):
        mass, pos = (sum(map(Fraction, column.tolist()), Fraction()) for column in (r.mass, r.pos))
        if mass:
            means.append(pos / mass)
    return all(a <= b for a, b in pairwise(means))


def sweep(rows: Rows, norm: float | str = 1) -> float:
    """Over the most equal-mass bins with rising means, before the first number of bins that fails."""
    most = int(rows.mass.sum())
    failed = next((n for n in range(1, most + 1) if not rises(rows, n)), most + 1)
    return calibration_error(rows, failed - 1, "mass", norm)


# --- Smoothed --------------------------------------------------------------------------------------

NODE, WEIGHT = np.polynomial.legendre.leggauss(12)


def absolute_integral(function: Callable[[np.ndarray], np.ndarray], at: np.ndarray) -> float:
    """∫ |function| by Gauss and Legendre between these points, and between them and the roots."""
    value = function(at)
    crossing = np.flatnonzero(value[:-1] * value[1:] < 0)
    roots = [brentq(lambda t: function(np.array([t]))[0], at[i], at[i + 1], xtol=1e-15) for i in crossing]
    ends = np.union1d(at, roots)
    half, middle = np.diff(ends) / 2, (ends[1:] + ends[:-1]) / 2
    inside = np.abs(function((middle[:, None] + half[:, None] * NODE).ravel()))
    return float(inside.reshape(len(half), -1) @ WEIGHT @ half)


def normal(x: np.ndarray, sigma: float) -> np.ndarray:
    return np.exp(-((x / sigma) ** 2) / 2) / (sigma * math.sqrt(2 * math.pi))


def smoothed_residual(rows: Rows, sigma: float) -> float:
    """∫₀¹ |Σ_i (y_i − s_i) K(t, s_i)| dt / n, K a Gaussian with all its mirror images at 0 and 1."""
    score, at = np.unique(rows.score, return_inverse=True)
    residual = np.bincount(at, rows.pos - rows.score * rows.mass) / rows.mass.sum()
    shifts = 2 * np.arange(-1 - math.ceil(4.5 * sigma), 2 + math.ceil(4.5 * sigma))
    images = (shifts[:, None] + np.stack([score, -score])[:, None]).reshape(-1, len(score))
    images, sizes = images.ravel(), np.tile(residual, len(images))
    near = (images > -9 * sigma) & (images < 1 + 9 * sigma)
    images, sizes = images[near], sizes[near]
    return absolute_integral(
        lambda t: normal(t[:, None] - images, sigma) @ sizes, np.linspace(0, 1, 2 + math.ceil(2 / sigma))
    )


def smooth(rows: Rows) -> float:
    """The width at which the smoothed residual equals its width, at least 0.002; it falls as the width grows."""
    return float(brentq(lambda sigma: smoothed_residual(rows, sigma) - sigma, 2e-3, 2.0, xtol=1e-9))


def logit_smoothed(rows: Rows, sigma: float) -> float:
    """E|P(Y=1 | S′) − S′|, logit S′ = logit s + σ ξ: the two densities of logit S′; 0 and 1 stay put."""
    inner = (rows.score > 0) & (rows.score < 1)
    at_zero = math.fsum(rows.pos[rows.score == 0])
    at_one = math.fsum((rows.pos - rows.mass)[rows.score == 1])
    z = logit(rows.score[inner])

    def gap(t: np.ndarray) -> np.ndarray:
        kernel = normal(t[:, None] - z, sigma)
        return kernel @ rows.pos[inner] - expit(t) * (kernel @ rows.mass[inner])

    line = np.arange(z.min() - 9 * sigma, z.max() + 9 * sigma, sigma / 2)
    return (absolute_integral(gap, line) + abs(at_zero) + abs(at_one)) / math.fsum(rows.mass)
