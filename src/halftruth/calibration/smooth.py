"""Calibration errors of a measure smoothed by a Gaussian: along the score, and along its logit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from halftruth import _checks
from halftruth._checks import Vector
from halftruth.calibration import grids
from halftruth.measure._arithmetic import Index
from halftruth.measure._score_measure import Number, as_measure, ratio
from halftruth.metrics._record import distance

LEVELS = (1 << 10, 1 << 12, 1 << 14, 1 << 16)
"""Cells of the grid on [0, 1]; a finer one where the width found is below `RESOLVED` cells."""
RESOLVED = 8
BLOCK = 1 << 18
"""Numbers worked on at once: as many as a cache holds."""

FINE = 32
"""Nodes to which masses go, for each σ of the logit."""
COARSE = 8
"""Points at which the smoothed measure is read, for each σ of the logit."""
REACH = 7
"""A Gaussian is cut this many σ from its centre."""


@distance(
    aliases=("smece",),
    formula="the σ that equals ∫ abs(gap smoothed by a Gaussian of width σ) / n",
    paper="Błasiok & Nakkiran 2024",
    twin=False,
)
def smooth_calibration_error(evidence: object) -> Number:
    """SmoothECE: the calibration error at the one width of smoothing that equals the error itself.

    The residual μ₁ − s μ, per unit of mass, is smoothed along the score by a Gaussian of width σ that is
    reflected at 0 and at 1. The integral of its absolute value over [0, 1] falls as σ grows; the value
    returned is the σ that equals it (Błasiok & Nakkiran 2024). No width and no bins to choose, and close
    scores give close values.

    Parameters
    ----------
    evidence : evidence or ScoreMeasure
        Scores must be probabilities.

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
    measure = as_measure(evidence)
    measure.need_probabilities("Smooth calibration error")
    n = int(np.prod(measure.shape, dtype=np.intp))
    value = _smallest_width(measure.gap_nodes(LEVELS[-1]), n)
    return measure.result(value.reshape(measure.shape))


def _smallest_width(nodes: Callable[[Index, int], Vector], n: int) -> Vector:
    """Of each of n measures the error that is its own width, on the first grid that resolves it."""
    out = np.full(n, np.nan)
    left = np.arange(n)
    for cells in LEVELS:
        size = max(1, BLOCK // cells)
        for start in range(0, len(left), size):
            rows = left[start : start + size]
            out[rows] = _own_width(nodes(rows, cells))
        left = left[out[left] < RESOLVED / cells]
    return out


def _own_width(nodes: Vector) -> Vector:
    """σ of each row of residuals (n, cells + 1) at which the smoothed error is σ.

    In logarithms the error minus σ falls at least as fast as σ grows, so the root lies between σ and the
    error there: secant steps that never leave that range.
    """
    out = np.abs(nodes).sum(axis=-1)
    rows = np.flatnonzero(out > 0)
    cosines = grids.cosines(nodes[rows])
    at = np.log(out[rows]) - 1.0
    low, high = np.full(len(rows), -np.inf), np.log(out[rows])
    before = off_before = np.full(len(rows), np.nan)
    for step in range(100):
        if not len(rows):
            break
        error = np.log(np.maximum(grids.smoothed_error(cosines, np.exp(at)), 1e-300))
        off = error - at
        low, high = np.maximum(low, np.minimum(at, error)), np.minimum(high, np.maximum(at, error))
        with np.errstate(invalid="ignore", divide="ignore"):
            slope = (off - off_before) / (at - before)
        # The first slope is that of pure noise; later ones cannot be flatter than −1.
        following = at - off / np.where(np.isfinite(slope), np.minimum(slope, -1.0), -1.5)
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
def logit_smoothed_calibration_error(evidence: object, sigma: float = 1 / 15) -> Number:
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
    >>> evidence = ht.Labeled([1, 1, 1, 0], [0.5, 0.5, 0.5, 0.5])
    >>> round(ht.logit_smoothed_calibration_error(evidence), 4)
    0.25
    """
    sigma = _checks.inside(
        sigma, "sigma", 0.01, 10.0, closed="both", advice="Pass the width of the noise in logits, e.g. 1/15."
    )
    measure = as_measure(evidence)
    measure.need_probabilities("Logit-smoothed calibration error")
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
        out[rows] = grids.absolute_integral((kernel @ pos[rows].T - claimed * (kernel @ mass[rows].T)).T)
    return out


def _gaussians(node: Index, n_points: int) -> Any:
    """Sparse (n_points, n_nodes): what unit mass at a node of the fine grid adds at the coarse points."""
    from scipy import sparse

    apart = FINE // COARSE
    offset = np.arange(-REACH * COARSE, REACH * COARSE + 2)
    point = node[:, None] // apart + offset
    distance = (point * apart - node[:, None]) / FINE
    weight = np.exp(-(distance**2) / 2) / (np.sqrt(2 * np.pi) * COARSE)
    start = np.arange(len(node) + 1) * len(offset)
    return sparse.csc_array((weight.ravel(), point.ravel(), start), shape=(n_points, len(node)))
