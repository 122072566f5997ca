"""Means over Beta laws, whose density may be unbounded at 0 and 1."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import betainc, expit, log_expit, logit

from halftruth._checks import Vector
from halftruth.measure._arithmetic import Index

EDGE = 1e-10
"""Scores nearer to 0 or 1 count as so far from it."""
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
    of_gap, of_one = (each.reshape(*left.shape, len(node)) for each in (inside * gap(x, rows), inside))
    return (
        np.abs(np.einsum("rpk,k->rp", of_gap * half, weight)),
        np.einsum("rpk,k->rp", of_one * half, weight),
    )


def _root(function: Callable[[Vector], Vector], left: Vector, right: Vector) -> Vector:
    """Where the function changes its sign, by halving."""
    sign = np.sign(function(left))
    for _ in range(60):
        middle = (left + right) / 2
        same = np.sign(function(middle)) == sign
        left, right = np.where(same, middle, left), np.where(same, right, middle)
    return np.asarray((left + right) / 2)
