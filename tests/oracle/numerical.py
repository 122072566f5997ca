"""Metrics whose definition is an integral, a root or a minimum: in floats, each with its own tolerance.

Nothing here knows of halftruth. Rows come in fractions, as in `naive`.
"""

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import optimize, stats
from scipy.special import betainc, betaln, expit, log_expit, logit

from . import calibration_definitions as definition
from .naive import upper_edges
from .rows import Rows, totals

TOLERANCE = {"smooth_calibration_error": 1e-4, "logit_smoothed_calibration_error": 2e-4}
"""Relative. Both are worked out on grids: the first promises 2e-3, the second 1e-4 in absolute terms."""

FITTED = ("bpm_calibration_error",)
"""Metrics of a fitted curve, which few rows may leave open: their fit and their integral are judged apart."""


def arrays(rows: Rows) -> definition.Rows:
    return definition.Rows(*(np.array([float(x) for x in column]) for column in zip(*rows, strict=True)))


def smooth_calibration_error(rows):
    plain = arrays(rows)
    residual = {r.score: sum(x.pos - x.score * x.mass for x in rows if x.score == r.score) for r in rows}
    return definition.smooth(plain) if any(residual.values()) else 0.0


def logit_smoothed_calibration_error(rows, sigma=1 / 15):
    plain = arrays(rows)
    if ((plain.score > 0) & (plain.score < 1)).any():
        return definition.logit_smoothed(plain, sigma)
    at_zero, at_one = (sum(r.pos - r.score * r.mass for r in rows if r.score == end) for end in (0, 1))
    return float((abs(at_zero) + abs(at_one)) / totals(rows)[0])


# --- Binomial process modeling ---------------------------------------------------------------------

EDGE = 1e-10
"""Scores nearer to 0 or 1 count as so far from it."""


class Points(NamedTuple):
    """Mean score, mean label and share of every bin of every binning."""

    score: np.ndarray
    label: np.ndarray
    share: np.ndarray


def points(rows: Rows, size: float) -> Points:
    """Bins of equal mass: from a hundredth to a twentieth of the rows, at least 3 to 10, in ten steps."""
    low, high = min(max(int(size) // 100, 3), 100), min(max(int(size) // 20, 10), 500)
    total, out = totals(rows)[0], []
    for n_bins in range(low, high + 1, max(1, (high - low) // 10)):
        for a, b in pairwise([-1, *upper_edges(rows, n_bins, "mass"), 2]):
            members = [r for r in rows if a < r.score <= b]
            mass, pos = totals(members)
            if mass:
                mean = sum(r.score * r.mass for r in members) / mass
                label = min(max(pos / mass, -1), 2)  # farther ones would outweigh all others
                out.append((float(mean), float(label), float(mass / total)))
    return Points(*map(np.array, zip(*out, strict=True)))


def curve(theta: np.ndarray, x: np.ndarray) -> np.ndarray:
    """1 / (1 + s^−a (1−s)^b e^c) at logits x of the score."""
    a, b, c = theta
    return expit(a * log_expit(x) - b * log_expit(-x) - c)


def objective(theta: np.ndarray, at: Points) -> float:
    """Σ share · (exp((g − label)²) − 1), least where the paper's Σ share · exp((g − label)²) is."""
    g = curve(theta, logit(np.clip(at.score, EDGE, 1 - EDGE)))
    return float(at.share @ np.expm1((g - at.label) ** 2))


def lowered(at: Points, start: np.ndarray) -> float:
    """The objective where a search over a, b ≥ 0 from here ends."""
    bounds = [(0, None), (0, None), (None, None)]
    return float(optimize.minimize(objective, start, args=(at,), bounds=bounds, method="L-BFGS-B").fun)


def least_objective(at: Points, n_starts: int = 12) -> float:
    """The least of many searches."""
    rng = np.random.default_rng(0)
    starts = np.column_stack([rng.exponential(2, (n_starts, 2)), rng.normal(0, 3, n_starts)])
    return min(lowered(at, start) for start in starts)


def empirical_gap(rows: Rows, theta: np.ndarray) -> float:
    """E|g(S) − S| over the population."""
    plain = arrays(rows)
    g = curve(theta, logit(np.clip(plain.score, EDGE, 1 - EDGE)))
    return math.fsum(plain.mass * np.abs(g - plain.score)) / math.fsum(plain.mass)


def beta_gap(rows: Rows, theta: np.ndarray, n: float) -> float:
    """The same over the Beta law with the population's mean and variance, of n rows and divisor n − 1."""
    total = totals(rows)[0]
    mean = sum(r.score * r.mass for r in rows) / total
    variance = sum((r.score - mean) ** 2 * r.mass for r in rows) / total
    m, v = float(mean), float(variance) * (n / (n - 1) if n > 1 else 1.0)
    at_ends = np.abs(curve(theta, logit([EDGE, 1 - EDGE])) - [0, 1])
    if variance == 0:
        return float(np.abs(curve(theta, logit(np.clip(m, EDGE, 1 - EDGE))) - m))
    size = m * (1 - m) / v - 1
    if size * min(m, 1 - m) < 1e-8:  # no Beta law is so wide: all of it lies at the ends
        return float([1 - m, m] @ at_ends)
    a, b = m * size, (1 - m) * size

    def integrand(x: np.ndarray) -> np.ndarray:
        return (curve(theta, x) - expit(x)) * np.exp(a * log_expit(x) + b * log_expit(-x) - betaln(a, b))

    reach = float(logit(1 - EDGE))
    quantiles = stats.beta.ppf(np.linspace(1e-9, 1 - 1e-9, 400), a, b)
    where = np.clip(logit(np.clip(quantiles, EDGE, 1 - EDGE)), -reach, reach)
    inside = definition.absolute_integral(integrand, np.union1d(where, np.linspace(-reach, reach, 400)))
    return inside + float([betainc(a, b, EDGE), betainc(b, a, EDGE)] @ at_ends)
