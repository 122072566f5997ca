"""Numerics of binomial process modeling: the beta curve nearest to bins, and means over Beta laws.

Apart from `_binomial_process` because both need SciPy from the start, which most evaluations do without.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, expit, log_expit, logit

from halftruth._checks import Vector
from halftruth.measure._arithmetic import Index

__all__ = ["EDGE", "Points", "fit", "mean_gap"]

Mask = NDArray[np.bool_]

STEPS = 200
FARTHEST = 5.0  # most that a parameter moves in one step, unless it is larger itself
NEAR = 1e-9
"""Newton's steps are taken without a look once they promise to lower the loss by no more, relatively."""
POLISH = 3
LARGEST = 30.0  # exponents are kept below this, whatever the bins' mean labels are
ROUNDING = 1e-12
SLOPES = ((1.0, 1.0), (3.0, 3.0), (0.3, 0.3), (0.3, 0.1), (0.05, 1.0), (8.0, 1.0), (1.0, 8.0))
"""The (a, b) to start from."""
DIAGONAL = np.eye(3)
BOUNDED = np.asarray([True, True, False])  # a and b, but not c, are at least 0


@dataclass(frozen=True, eq=False)
class Points:
    """Bins to fit: ln s and −ln(1−s) of their mean scores, their mean labels and weights, (n, n_points)."""

    log_s: Vector
    log_odds: Vector
    label: Vector
    weight: Vector

    def __getitem__(self, index: Index | tuple[slice, slice]) -> Points:
        return Points(*(column[index] for column in vars(self).values()))

    def shift(self) -> Vector:
        """What is taken off the exponents, so that none overflows."""
        farthest = np.maximum(np.abs(self.label), np.abs(1 - self.label))
        largest = np.where(self.weight > 0, farthest**2, 0.0).max(axis=-1)
        return np.asarray(np.maximum(largest - LARGEST, 0.0))

    def at(self, theta: Vector) -> Vector:
        """The curve at each point."""
        a, b, c = theta.T[..., None]
        return np.asarray(expit(a * self.log_s + b * self.log_odds - c))

    def loss(self, theta: Vector, shift: Vector) -> Vector:
        """Σ w exp((g − y)²), less its least possible value, on a scale without overflow."""
        gap = self.at(theta) - self.label
        return np.asarray(np.einsum("rk,rk->r", self.weight, np.expm1(gap * gap - shift[:, None])))


def fit(points: Points, pilot: slice) -> Vector:
    """Minimisers (a, b, c) of Σ w exp((g − y)²) over a, b ≥ 0, (n, 3).

    The loss may have several minima: those of the ``pilot`` points are searched from several starts, and the
    best for all points is taken to the end. Each measure takes its own steps, whatever the others do.
    """
    shift = points.shift()
    few = points[:, pilot]
    n = len(SLOPES)
    rows = np.tile(np.arange(len(shift)), n)
    minima = _descend(few[rows], _starts(few).reshape(-1, 3), shift[rows]).reshape(n, -1, 3)
    losses = np.stack([points.loss(theta, shift) for theta in minima])
    best = minima[losses.argmin(axis=0), np.arange(len(shift))]
    return _descend(points, best, shift)


def _starts(points: Points) -> Vector:
    """Each pair of slopes, with a constant that puts the curve's mean logit where labels are: (k, n, 3)."""
    total = points.weight.sum(axis=-1)
    mean = np.clip(np.einsum("rk,rk->r", points.weight, points.label) / total, 0.01, 0.99)
    level = np.log(mean / (1 - mean))
    out = []
    for a, b in SLOPES:
        height = np.einsum("rk,rk->r", points.weight, a * points.log_s + b * points.log_odds) / total
        out.append(np.stack([np.full_like(total, a), np.full_like(total, b), height - level], axis=-1))
    return np.stack(out)


def _descend(points: Points, theta: Vector, shift: Vector) -> Vector:
    """A minimum, by Newton's method, damped where the loss is not convex.

    A parameter at its bound is held there as long as it pushes against it.
    """
    theta, loss = theta.copy(), points.loss(theta, shift)
    damping, polished = np.full(len(theta), 1e-3), np.zeros(len(theta), dtype=int)
    todo = np.arange(len(theta))
    for _ in range(STEPS):
        if not len(todo):
            break
        unfinished, now = points[todo], theta[todo]
        step, promise, near = _step(unfinished, now, shift[todo], damping[todo])
        then = now + step
        then[:, :2] = np.maximum(then[:, :2], 0.0)
        lower = unfinished.loss(then, shift[todo])
        # Near the end rounding hides what a step gains.
        better = lower < loss[todo] + np.where(near, ROUNDING * np.abs(loss[todo]), 0.0)
        theta[todo] = np.where(better[:, None], then, now)
        loss[todo] = np.where(better, lower, loss[todo])
        damping[todo] = np.where(better, np.maximum(damping[todo] / 10, 1e-14), damping[todo] * 10)
        polished[todo] += near
        todo = todo[(polished[todo] < POLISH) & (damping[todo] < 1e12) & (promise > 0)]
    return theta


def _step(points: Points, theta: Vector, shift: Vector, damping: Vector) -> tuple[Vector, Vector, Mask]:
    """The step of each measure, how much it promises to lower the loss, and whether that is next to none."""
    g = points.at(theta)
    gap = g - points.label
    slope = g * (1 - g)
    exponential = points.weight * np.exp(gap * gap - shift[:, None])
    design = np.stack([points.log_s, points.log_odds, np.full_like(g, -1.0)], axis=1)
    # Chain rule through g = σ(θ·x), with g′ = g (1−g): the loss of a point is w exp((g − y)²).
    gradient = np.einsum("rik,rk->ri", design, 2 * exponential * gap * slope)
    free = ~((theta <= 0) & (gradient > 0) & BOUNDED)
    gradient = np.where(free, gradient, 0.0)
    # The second derivative is a part that is never negative and one, from g″, that has the sign of the gap.
    # Newton's step takes both where their sum is positive definite, else the first alone (Gauss–Newton).
    square = exponential * (2 + 4 * gap * gap) * slope * slope
    bend = 2 * exponential * gap * slope * (1 - 2 * g)
    convex, full = (_curvature(design, weight, free) for weight in (square, square + bend))
    eigenvalues = np.linalg.eigvalsh(full)
    newton = eigenvalues[:, 0] > 1e-10 * eigenvalues[:, -1]
    curvature = np.where(newton[:, None, None], full, convex)
    scale = np.einsum("rii->ri", convex)
    scale = scale + 1e-12 * scale.max(axis=-1, keepdims=True) + 1e-280
    # Damping in the units of each parameter's own curvature, as Marquardt (1963) has it.
    damped = curvature + (damping[:, None] * scale)[..., None] * DIAGONAL
    step = np.where(free, -np.linalg.solve(damped, gradient[..., None])[..., 0], 0.0)
    farthest = np.maximum(FARTHEST, np.abs(theta).max(axis=-1, keepdims=True))
    step *= farthest / np.maximum(np.abs(step).max(axis=-1, keepdims=True), farthest)
    promise = -np.einsum("ri,ri->r", gradient, step)
    loss = np.where(shift > 0, exponential.sum(axis=-1), np.einsum("rk,rk->r", exponential, gap * gap))
    return step, promise, promise <= NEAR * loss + 1e-18 * points.weight.sum(axis=-1)


def _curvature(design: Vector, weight: Vector, free: Mask) -> Vector:
    """Σ weight x xᵀ over the free parameters, the others kept apart from them."""
    full = np.einsum("rik,rjk->rij", design * weight[:, None], design)
    both = free[:, :, None] & free[:, None, :]
    apart = np.where(free, 0.0, np.einsum("rii->ri", full) + 1e-280)
    return np.asarray(np.where(both, full, 0.0) + apart[..., None] * DIAGONAL)


EDGE = 1e-10  # scores nearer to 0 or 1 count as so far from it
N_PANELS = 128

Gap = Callable[[Vector, Index], Vector]
"""gap(x, rows): of the laws ``rows`` at their logits x, (len(rows), n)."""


def mean_gap(gap: Gap, a1: Vector, a2: Vector, reach: float = -float(logit(EDGE))) -> Vector:
    """E |gap(logit S)| for S ~ Beta(a1, a2), whose density may be unbounded at 0 and 1.

    In terms of the logit the density is smooth and bounded; panels are cut where the gap changes its sign.
    Logits farther from 0 than ``reach`` count as so far.
    """
    mean = a1 / (a1 + a2)
    # Next to nothing lies farther from the mean.
    wide = 12 * np.sqrt(mean * (1 - mean) / (1 + a1 + a2)) + 40 / (a1 + a2)
    low, high = (np.clip(logit(np.clip(x, 0, 1)), -reach, reach) for x in (mean - wide, mean + wide))
    rows = np.arange(len(a1))
    tails = betainc(a1, a2, expit(low)), betainc(a2, a1, expit(-high))
    ends = np.abs(gap(np.stack([low, high], axis=-1), rows)).T
    # Equal steps of arsinh: fine around the logit 0, in proportion to the logit far from it.
    steps = np.linspace(0, 1, N_PANELS + 1)
    edge = np.sinh(np.arcsinh(low)[:, None] + (np.arcsinh(high) - np.arcsinh(low))[:, None] * steps)
    top = (a1 * np.log(mean) + a2 * np.log1p(-mean))[:, None]

    def density(x: Vector, rows: Index) -> Vector:
        log = a1[rows, None] * log_expit(x) + a2[rows, None] * log_expit(-x) - top[rows]
        return np.asarray(np.exp(log))

    value, mass = _panels(gap, density, edge[:, :-1], edge[:, 1:], rows)
    sign = np.sign(gap(edge, rows))
    row, panel = np.nonzero(sign[:, :-1] * sign[:, 1:] < 0)
    if len(row):
        left, right = edge[row, panel][:, None], edge[row, panel + 1][:, None]
        zero = _root(lambda x: gap(x, row), left, right)
        below = _panels(gap, density, left, zero, row)[0]
        value[row, panel] = (below + _panels(gap, density, zero, right, row)[0])[:, 0]
    middle = (1 - tails[0] - tails[1]) * value.sum(axis=-1) / mass.sum(axis=-1)
    return np.asarray(middle + tails[0] * ends[0] + tails[1] * ends[1])


def _panels(gap: Gap, density: Gap, left: Vector, right: Vector, rows: Index) -> tuple[Vector, Vector]:
    """|∫ gap · density| and ∫ density over each panel, (len(rows), n_panels)."""
    node, weight = np.polynomial.legendre.leggauss(8)
    half = (right - left)[..., None] / 2
    x = ((left + right)[..., None] / 2 + half * node).reshape(len(rows), -1)
    inside = density(x, rows)
    of_gap, of_one = (
        np.einsum("rpk,k->rp", integrand.reshape(*left.shape, len(node)) * half, weight)
        for integrand in (inside * gap(x, rows), inside)
    )
    return np.abs(of_gap), of_one


def _root(function: Callable[[Vector], Vector], left: Vector, right: Vector) -> Vector:
    """Where the function changes its sign, by halving."""
    sign = np.sign(function(left))
    for _ in range(60):
        middle = (left + right) / 2
        same = np.sign(function(middle)) == sign
        left, right = np.where(same, middle, left), np.where(same, right, middle)
    return np.asarray((left + right) / 2)
