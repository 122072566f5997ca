"""Calibration errors without bins: by the running sum of the residuals, or smoothed by a Gaussian."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from halftruth import _checks
from halftruth._checks import Vector
from halftruth.measure._arithmetic import Index
from halftruth.measure._score_measure import Measurable, as_measure, ratio
from halftruth.metrics._record import distance

if TYPE_CHECKING:
    from scipy.sparse import csc_array

__all__ = ["ks_calibration_error", "logit_smoothed_calibration_error", "smooth_calibration_error"]

STATISTICS = ("ks", "kuiper")


@distance(
    aliases=("ks",),
    selection="cumulative",
    formula='max over t of abs(gap[s ≤ t]) / n; `statistic="kuiper"`: its range',
    paper="Gupta et al. 2021",
)
def ks_calibration_error(evidence: Measurable, statistic: Literal["ks", "kuiper"] = "ks") -> float:
    """Largest gap between what the scores claim and what happens, over all scores up to a limit.

    max over t of |∫_{s ≤ t} (s dμ − dμ₁)| / μ(all): no bins and no width to choose. It never exceeds the
    calibration error of the distinct scores, E|P(Y=1 | s) − s|, and equals it where the scores are all too
    high or all too low.

    Parameters
    ----------
    evidence : evidence or ScoreMeasure
        Scores must be probabilities.
    statistic : {"ks", "kuiper"}
        "ks" takes the running sum furthest from 0 (Gupta et al. 2021); "kuiper" its range from the lowest to
        the highest point, 0 included, which sees a gap in the middle of the scores as well as one at an end.

    Notes
    -----
    Cases of one score enter together. With a calibrated model the value is noise of order n^(−1/2).

    Examples
    --------
    >>> import halftruth as ht
    >>> ht.ks_calibration_error(ht.Labeled([0, 1, 1, 1], [0.25, 0.25, 0.75, 0.75]))
    0.25
    >>> ht.ks_calibration_error(ht.Labeled([1, 1, 0, 0], [0.25, 0.25, 0.75, 0.75]), statistic="kuiper")
    0.375
    """
    _checks.choice(statistic, "statistic", STATISTICS)
    measure = as_measure(evidence).need_probabilities("KS calibration error")
    # The running sum begins at 0, which is one of its values: low ≤ 0 ≤ high.
    low, high = measure.gap_extremes()
    furthest = np.maximum(high, 0.0 - low) if statistic == "ks" else high - low
    return measure.result(ratio(furthest, measure.total))


LEVELS = (1 << 10, 1 << 12, 1 << 14, 1 << 16)
"""Cells of the grid on [0, 1]; a finer one where the width found is below `RESOLVED` cells."""
RESOLVED = 8
BLOCK = 1 << 18  # numbers worked on at once: as many as a cache holds

FINE = 32  # nodes to which masses go, for each σ of the logit
COARSE = 8  # points at which the smoothed measure is read, for each σ of the logit
REACH = 7  # a Gaussian is cut this many σ from its centre


@distance(
    aliases=("smece",),
    formula="the σ that equals ∫ abs(gap smoothed by a Gaussian of width σ) / n",
    paper="Błasiok & Nakkiran 2024",
    twin=False,
)
def smooth_calibration_error(evidence: Measurable) -> float:
    """SmoothECE: the calibration error at the one width of smoothing that equals the error itself.

    The residual μ₁ − s μ, per unit of mass, is smoothed along the score by a Gaussian of width σ that is
    reflected at 0 and at 1. The integral of its absolute value over [0, 1] falls as σ grows; the value
    returned is the σ that equals it (Błasiok & Nakkiran 2024). No width and no bins to choose, and close
    scores give close values. Scores must be probabilities.

    Notes
    -----
    Worked out by a cosine transform on a grid with at least 8 steps in σ, down to σ = 0.00012: within
    0.2% of the definition.

    Examples
    --------
    >>> import halftruth as ht
    >>> round(ht.smooth_calibration_error(ht.Labeled([1, 1, 1, 0], [0.5, 0.5, 0.5, 0.5])), 4)
    0.25
    """
    measure = as_measure(evidence).need_probabilities("Smooth calibration error")
    nodes = measure.gap_nodes(LEVELS[-1])
    value = np.full(int(np.prod(measure.shape, dtype=np.intp)), np.nan)
    # Each measure on the first grid that resolves its width.
    left = np.arange(len(value))
    for cells in LEVELS:
        size = max(1, BLOCK // cells)
        for start in range(0, len(left), size):
            rows = left[start : start + size]
            value[rows] = _own_width(nodes(rows, cells))
        left = left[value[left] < RESOLVED / cells]
    return measure.result(value.reshape(measure.shape))


def _own_width(nodes: Vector) -> Vector:
    """σ of each row of residuals (n, cells + 1) at which the smoothed error is σ.

    In logarithms the error minus σ falls at least as fast as σ grows, so the root lies between σ and the
    error there: secant steps that never leave that range.
    """
    out = np.abs(nodes).sum(axis=-1)
    rows = np.flatnonzero(out > 0)
    cosines = _cosine_sums(nodes[rows])
    at = np.log(out[rows]) - 1.0
    low, high = np.full(len(rows), -np.inf), np.log(out[rows])
    before = off_before = np.full(len(rows), np.nan)
    for step in range(100):
        if not len(rows):
            break
        error = np.log(np.maximum(_smoothed_error(cosines, np.exp(at)), 1e-300))
        off = error - at
        low, high = np.maximum(low, np.minimum(at, error)), np.minimum(high, np.maximum(at, error))
        with np.errstate(invalid="ignore", divide="ignore"):
            slope = (off - off_before) / (at - before)
        # The first slope is that of pure noise; later ones cannot be flatter than −1.
        following = at - off / np.where(np.isfinite(slope), np.minimum(slope, -1.0), -1.5)
        # A halving every eight steps: secants alone may close in from one side for long.
        inside = (following >= low) & (following <= high) & (step % 8 != 7)
        following = np.where(inside, following, (low + high) / 2)
        out[rows] = np.exp(following)
        left = np.abs(off) > 1e-12
        rows, cosines, low, high = rows[left], cosines[left], low[left], high[left]
        before, off_before, at = at[left], off[left], following[left]
    return np.asarray(out)


@distance(
    formula="the error of the scores after Gaussian noise of width `sigma` on their logits",
    paper="Chidambaram et al. 2024",
    twin=False,
)
def logit_smoothed_calibration_error(evidence: Measurable, sigma: float = 1 / 15) -> float:
    """Calibration error of the scores after Gaussian noise on their logits.

    E|P(Y=1 | S′) − S′| with S′ = sigmoid(logit(s) + σ ξ), ξ standard normal (Chidambaram et al. 2024): a
    continuous functional of the scores, unlike the error over bins. Integrated, not simulated.

    Parameters
    ----------
    evidence : evidence or ScoreMeasure
        Scores must be probabilities.
    sigma : float in [0.01, 10]
        Width of the noise, in logits. The authors pair the width 1/B with B bins; 1/15 goes with the usual
        15 bins.

    Notes
    -----
    No noise moves a logit at infinity: scores of exactly 0 and 1 stay where they are and add |μ₁({0})| and
    |μ₁({1}) − μ({1})|. Within 1e-4 of the definition.

    Examples
    --------
    >>> import halftruth as ht
    >>> round(ht.logit_smoothed_calibration_error(ht.Labeled([1, 1, 1, 0], [0.5, 0.5, 0.5, 0.5])), 4)
    0.25
    """
    advice = "Pass the width of the noise in logits, e.g. 1/15."
    sigma = _checks.inside(sigma, "sigma", 0.01, 10.0, closed="both", advice=advice)
    measure = as_measure(evidence).need_probabilities("Logit-smoothed calibration error")
    ends, node, mass, pos = measure.logit_nodes(sigma / FINE)
    ends = ends + _smoothed_gap(node, mass, pos, sigma).reshape(measure.shape)
    return measure.result(ratio(ends, measure.total))


def _smoothed_gap(node: Index, mass: Vector, pos: Vector, sigma: float) -> Vector:
    """∫ |μ₁ − sigmoid(z) μ| dz of each row, both smoothed by a Gaussian of width σ."""
    from scipy.special import expit

    out = np.zeros(len(mass))
    if not len(node):
        return out
    ratio_of_steps = FINE // COARSE
    first = node[0] // ratio_of_steps - REACH * COARSE
    n_points = node[-1] // ratio_of_steps + REACH * COARSE + 2 - first
    claimed = expit((first + np.arange(n_points)) * (sigma / COARSE))[:, None]
    kernel = _gaussians(node - first * ratio_of_steps, n_points)
    size = max(1, 4 * BLOCK // n_points)
    for start in range(0, len(mass), size):
        rows = slice(start, start + size)
        out[rows] = _absolute_integral((kernel @ pos[rows].T - claimed * (kernel @ mass[rows].T)).T)
    return out


def _gaussians(node: Index, n_points: int) -> csc_array:
    """Sparse (n_points, n_nodes): what unit mass at a node of the fine grid adds at the coarse points."""
    from scipy.sparse import csc_array

    apart = FINE // COARSE
    # Each node reaches the same number of points, so that the columns of the matrix need no search.
    offset = np.arange(-REACH * COARSE, REACH * COARSE + 2)
    point = node[:, None] // apart + offset
    distance = (point * apart - node[:, None]) / FINE
    weight = np.exp(-(distance**2) / 2) / (np.sqrt(2 * np.pi) * COARSE)
    start = np.arange(len(node) + 1) * len(offset)
    return csc_array((weight.ravel(), point.ravel(), start), shape=(n_points, len(node)))


def _cosine_sums(nodes: Vector) -> Vector:
    """Σ_j nodes_j cos(π k j / n) of each row, k = 0, …, n."""
    from scipy.fft import dct

    halved = nodes / 2
    # The type-1 transform counts inner nodes twice, the two ends once.
    halved[:, [0, -1]] *= 2
    return np.asarray(dct(halved, type=1, axis=-1))


def _smoothed_error(coefficients: Vector, width: Vector) -> Vector:
    """∫_0^1 |f| of each row, f the masses of these cosines smoothed by a reflected Gaussian.

    Reflection at both ends makes the Gaussian a factor exp(−(π k σ)²/2) of the k-th cosine.
    """
    from scipy.fft import dct

    n_cells = coefficients.shape[-1] - 1
    heard = min(n_cells, int(9.0 / (np.pi * width.min())) + 1)  # further factors are below 1e-17
    factor = np.exp(-((np.pi * np.arange(heard + 1) * width[:, None]) ** 2) / 2)
    density = dct(coefficients[:, : heard + 1] * factor, type=1, n=n_cells + 1, axis=-1)
    ends = (np.abs(density[:, 0]) + np.abs(density[:, -1])) / 2
    return np.asarray((_absolute_integral(density) - ends) / n_cells)


def _absolute_integral(values: Vector) -> Vector:
    """∫ |f| along the last axis, in steps, of a smooth f that is level at both ends.

    The trapezoid, which then errs only where f changes sign: it counts what the crossing line cuts off, and
    misses a twelfth of the kink (Euler and Maclaurin).
    """
    size = np.abs(values)
    row, at = np.nonzero(np.signbit(values[:, :-1]) != np.signbit(values[:, 1:]))
    left, right = size[row, at], size[row, at + 1]
    kink = np.maximum(left + right, 1e-300)
    lost = np.bincount(row, left * right / kink - kink / 6, minlength=len(values))
    return np.asarray(size.sum(axis=-1) - lost)
