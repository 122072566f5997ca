"""Proper scores: convex losses, but where clipping bends them the other way."""

from __future__ import annotations

import numpy as np

from halftruth._checks import Vector
from halftruth.certificate.boxes import ANYTHING, Boxes, Interval, combined, quotient
from halftruth.certificate.convex import mean_loss, sums
from halftruth.metrics.proper import EPSILON


def brier(box: Boxes) -> Interval:
    """Σ a s² − 2 b s + b over the rows: only Σ s² is not known from the histogram, up to rounding."""
    low, high = combined(box.mass, *sums(box, np.square))
    linear = combined(-2 * box.pos, box.n * box.mean_low, box.n * box.mean_high)
    constant = float(box.pos @ box.totals)
    return mean_loss(box, (low + linear[0] + constant, high + linear[1] + constant), 1.0, 1.0)


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

    one = combined(box.pos, *sums(box, if_positive, convex=(EPSILON, np.inf)))
    other = combined(box.neg, *sums(box, if_negative, convex=(-np.inf, 1 - EPSILON)))
    worst = if_positive(box.low.min()), if_negative(box.high.max())
    return mean_loss(box, (one[0] + other[0], one[1] + other[1]), *map(float, worst))
