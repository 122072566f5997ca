"""Sums of a loss over rows of which the mean, the lowest and the highest score are known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from halftruth._checks import Vector
from halftruth.certificate.boxes import Boxes, Interval, quotient

Loss = Callable[[Vector], Vector]
EVERYWHERE: Interval = (-np.inf, np.inf)
NOWHERE: Interval = (np.inf, -np.inf)


def sums(
    box: Boxes,
    loss: Loss,
    *,
    convex: Interval = EVERYWHERE,
    concave: Interval = NOWHERE,
    lowest: float | Vector = np.inf,
) -> tuple[Vector, Vector]:
    """Limits of Σ loss over the rows of each cell.

    Where the loss is convex, Jensen's inequality gives the lower limit and the chord the upper one; where it
    is concave they change places. Cells that are in neither part lie between the ends: the loss is monotone,
    unless it is convex with a ``lowest`` point.
    """
    held = box.held
    low, high = (np.where(held, x, 0.5) for x in (box.low, box.high))
    at_low, at_high = loss(low), loss(high)
    slope = np.where(high > low, (at_high - at_low) / np.where(high > low, high - low, 1.0), 0.0)
    means = box.mean_low, box.mean_high
    jensen = [loss(mean) for mean in (*means, np.clip(lowest, *means))]
    chord = [at_low + slope * (mean - low) for mean in means]
    within = [(low >= part[0]) & (high <= part[1]) for part in (convex, concave)]
    least = np.select(within, [np.minimum.reduce(x) for x in (jensen, chord)], np.minimum(at_low, at_high))
    most = np.select(within, [np.maximum.reduce(x) for x in (chord, jensen)], np.maximum(at_low, at_high))
    return box.n * least, box.n * most


def mean_loss(box: Boxes, loss: Interval, worst_positive: float, worst_negative: float) -> Interval:
    """The loss per case; rounded weights move it by no more than their sum times the worst loss."""
    off = box.whole(box.pos)[1] * worst_positive + box.whole(box.neg)[1] * worst_negative
    return quotient(loss[0] - off, loss[1] + off, box.whole(box.mass))
