"""Rates at a threshold: only rows in the bin that straddles it can be on either side."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np

from halftruth._checks import Vector
from halftruth.certificate._boxes import ANYTHING, HALF_STEP, Boxes, Interval, quotient
from halftruth.metrics._rates import Confusion
from halftruth.metrics._record import Metric

__all__ = ["prevalence", "rate"]


def prevalence(box: Boxes) -> Interval:
    """π, from the totals alone."""
    positives, error = box.whole(box.pos)
    return quotient(positives - error, positives + error, box.whole(box.mass))


def rate(metric: Metric, box: Boxes, threshold: float, **parameters: Any) -> Interval:
    """The rate at the corners of the box of weights above the threshold.

    Rates are linear-fractional in these weights, Cohen's kappa too once its numerator is written
    TP·N − FP·P; MCC grows in TP and falls in FP where no cell is negative, so it is monotone in a
    stratum that adds to one of them only as it takes from the other. Either way the extremes are at
    corners, unless a denominator changes its sign on the way: then there is no bound.
    """
    if metric.certificate == "pure corners" and (box.pos * box.neg > 0).any():
        return ANYTHING
    exact = _confusion(box, threshold, rounded=False)
    if metric.certificate == "pure corners" and len(exact.pos_above) > 1 and _some_cell_is_negative(exact):
        return ANYTHING
    ends = _ends(metric, exact, parameters)
    if not box.weighted or ends == ANYTHING:
        return ends
    # Rounding moves all weights by about 1e-10; what it does to the corners, doubled, covers its curvature.
    wide = _ends(metric, _confusion(box, threshold, rounded=True), parameters)
    return 2 * wide[0] - ends[0], 2 * wide[1] - ends[1]


def _confusion(box: Boxes, threshold: float, *, rounded: bool) -> Confusion:
    """The confusion masses at all corners."""
    above = np.where(box.low >= threshold, box.n, 0.0).sum(axis=1)
    open_cells = (box.low < threshold) & (box.high >= threshold)
    # Such a cell has its lowest row below and its highest row above.
    one = np.where(open_cells, box.least, 0.0).sum(axis=1)
    most = np.where(open_cells, box.n, 0.0).sum(axis=1) - one
    step = HALF_STEP * box.off * rounded
    slip_above = step * np.where(box.high >= threshold, box.rows, 0.0).sum(axis=1)
    slip_below = step * np.where(box.low < threshold, box.rows, 0.0).sum(axis=1)
    choices = [
        [(above[k] + x, box.totals[k] - above[k] - x) for x in {one[k], most[k]}] for k in range(len(above))
    ]
    # Three things can be off in each stratum: the weight above, the weight below, and its share in μ₁.
    signs = [-1.0, 1.0] if rounded else [0.0]
    corners = list(product(*choices, *[list(product(signs, repeat=3))] * len(above)))
    split = np.asarray([corner[: len(above)] for corner in corners])
    off = np.asarray([corner[len(above) :] for corner in corners])
    upper = np.maximum(split[..., 0] + off[..., 0] * slip_above, 0.0)
    lower = np.maximum(split[..., 1] + off[..., 1] * slip_below, 0.0)
    pos = box.pos + off[..., 2] * box.wobble
    neg = box.mass - pos

    def over(coefficients: Vector, weights: Vector) -> Vector:
        return np.asarray((coefficients * weights).sum(axis=-1))

    return Confusion(
        threshold=threshold,
        pos_above=over(pos, upper),
        pos_below=over(pos, lower),
        neg_above=over(neg, upper),
        neg_below=over(neg, lower),
        predicted=over(box.mass, upper),
        rest=over(box.mass, lower),
        unidentified=box.unidentified,
    )


def _some_cell_is_negative(corners: Confusion) -> bool:
    cells = (corners.pos_above, corners.pos_below, corners.neg_above, corners.neg_below)
    return bool(np.min(cells) < -1e-12 * np.max(corners.total))


def _ends(metric: Metric, corners: Confusion, parameters: Mapping[str, Any]) -> Interval:
    """The least and the greatest rate at the corners, unless its denominator can vanish between them."""
    denominator: Vector = np.asarray(
        corners.total if metric.denominator is None else metric.denominator(corners, **parameters)
    )
    if not ((denominator > 0).all() or (denominator < 0).all()):
        return ANYTHING
    assert metric.of_confusion is not None  # what is certified by corners is made of cells
    values = metric.of_confusion(corners, **parameters)
    return float(np.min(values)), float(np.max(values))
