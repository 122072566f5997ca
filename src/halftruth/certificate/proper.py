"""Proper scores: of a convex loss over rows with known mean, lowest and highest score."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from halftruth.certificate.boxes import ANYTHING, Boxes, Interval, combined, quotient
from halftruth.checks import Vector
from halftruth.metrics.proper import EPSILON

Loss = Callable[[Vector], Vector]


def brier(box: Boxes) -> Interval:
    """Σ a s² − 2 b s + b over the rows: only Σ s² is not known from the histogram, up to rounding."""
    low, high = combined(box.mass, *_sums(box, np.square, -np.inf, np.inf))
    linear = combined(-2 * box.pos, box.n * box.mean_low, box.n * box.mean_high)
    constant = float(box.pos @ box.totals)
    return _mean_loss(box, (low + linear[0] + constant, high + linear[1] + constant), 1.0, 1.0)


def brier_skill(box: Boxes) -> Interval:
    """1 − Brier / (π(1−π)), with the variance from the totals."""
    (positives, e1), (negatives, e0) = box.whole(box.pos), box.whole(box.neg)
    total, e = box.whole(box.mass)
    if not (abs(positives) > e1 and abs(negatives) > e0 and total > e):
        return ANYTHING
    variance = positives * negatives / total**2
    off = (1 + e1 / abs(positives)) * (1 + e0 / abs(negatives)) / (1 - e / total) ** 2 - 1
    low, high = quotient(*brier(box), (variance, abs(variance) * off))
    return 1 - high, 1 - low


def log_loss(box: Boxes) -> Interval:
    """Σ b f₁(s) + d f₀(s) with f₁ = −log s and f₀ = −log(1−s), clipped as the metric clips them."""

    def if_positive(s: Vector) -> Vector:
        return np.asarray(-np.log(np.clip(s, EPSILON, 1 - EPSILON)))

    def if_negative(s: Vector) -> Vector:
        return np.asarray(-np.log(np.clip(1 - s, EPSILON, 1 - EPSILON)))

    one = combined(box.pos, *_sums(box, if_positive, EPSILON, np.inf))
    other = combined(box.neg, *_sums(box, if_negative, -np.inf, 1 - EPSILON))
    worst = if_positive(box.low.min()), if_negative(box.high.max())
    return _mean_loss(box, (one[0] + other[0], one[1] + other[1]), *map(float, worst))


def _sums(box: Boxes, loss: Loss, above: float, below: float) -> tuple[Vector, Vector]:
    """Limits of Σ loss over the rows of each cell, for a monotone loss.

    Where it is convex, Jensen's inequality gives the lower limit and the chord the upper one; cells that
    leave [above, below], where clipping bends the loss the other way, lie between the ends.
    """
    held = box.n > 0
    low, high = (np.where(held, x, 0.5) for x in (box.low, box.high))
    at_low, at_high = loss(low), loss(high)
    slope = np.where(high > low, (at_high - at_low) / np.where(high > low, high - low, 1.0), 0.0)
    means = box.mean_low, box.mean_high
    jensen = np.minimum(*(loss(mean) for mean in means))
    chord = np.maximum(*(at_low + slope * (mean - low) for mean in means))
    bent = (low < above) | (high > below)
    jensen = np.where(bent, np.minimum(at_low, at_high), jensen)
    chord = np.where(bent, np.maximum(at_low, at_high), chord)
    return box.n * jensen, box.n * chord


def _mean_loss(box: Boxes, loss: Interval, worst_positive: float, worst_negative: float) -> Interval:
    """The loss per case; rounded weights move it by no more than their sum times the worst loss."""
    off = box.whole(box.pos)[1] * worst_positive + box.whole(box.neg)[1] * worst_negative
    return quotient(loss[0] - off, loss[1] + off, box.whole(box.mass))
