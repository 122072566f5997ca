"""Mean losses: sums over rows of which the mean, the lowest and the highest score are known.

Proper scores are convex, but where clipping bends them the other way. The risk by losses ℓ of the margin is
Σ b ℓ(s) + (a − b) ℓ(−s) over the rows. For some of these losses ℓ(s) − ℓ(−s) is linear in s, so that what a
row adds is convex as ℓ is; for the others it is 1 − 2 ℓ(−s), so that it bends where ℓ(−s) does.
"""

from __future__ import annotations

import numpy as np

from halftruth._checks import Vector
from halftruth.certificate import _box_rates
from halftruth.certificate._boxes import ANYTHING, ROUNDING, Boxes, Interval, combined, quotient
from halftruth.metrics._mean_losses import EPSILON, MARGIN, ZERO_ONE, Loss, Pair
from halftruth.metrics._record import DECLARED

__all__ = ["brier", "brier_skill", "log_loss", "risk"]

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
    low, high = (np.where(box.held, x, 0.5) for x in (box.low, box.high))
    at_low, at_high = loss(low), loss(high)
    slope = np.where(high > low, (at_high - at_low) / np.where(high > low, high - low, 1.0), 0.0)
    # The mean is known to lie between two limits; at one of them, or at the lowest point, is the extreme.
    means = box.mean_low, box.mean_high
    jensen = [loss(mean) for mean in (*means, np.clip(lowest, *means))]
    chord = [at_low + slope * (mean - low) for mean in means]
    within = [(low >= start) & (high <= stop) for start, stop in (convex, concave)]
    least = np.select(within, [np.minimum.reduce(x) for x in (jensen, chord)], np.minimum(at_low, at_high))
    most = np.select(within, [np.maximum.reduce(x) for x in (chord, jensen)], np.maximum(at_low, at_high))
    return box.n * least, box.n * most


def mean_loss(box: Boxes, loss: Interval, worst_positive: float, worst_negative: float) -> Interval:
    """The loss per case; rounded weights move it by no more than their sum times the worst loss."""
    off = box.whole(box.pos)[1] * worst_positive + box.whole(box.neg)[1] * worst_negative
    return quotient(loss[0] - off, loss[1] + off, box.whole(box.mass))


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
    # Relative errors of a product and of a quotient, at their worst together.
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


BENDS = {"sigmoid": ((-np.inf, 0.0), (0.0, np.inf)), "ramp": ((-np.inf, 1.0), (-1.0, np.inf))}
"""Losses with ℓ(s) + ℓ(−s) = 1: where ℓ(−s) is convex, and where concave. The others are convex."""


def risk(box: Boxes, loss: str | Pair, threshold: float | None) -> Interval:
    """The mean loss of a case; nothing is known of a user's own losses."""
    if not isinstance(loss, str):
        return ANYTHING
    if loss == ZERO_ONE:
        low, high = _box_rates.rate(DECLARED["accuracy"], box, threshold or 0.0)
        return 1 - high, 1 - low
    if loss not in MARGIN:
        return {"log": log_loss, "brier": brier}[loss](box)
    return _of_margins(box, loss)


def _of_margins(box: Boxes, loss: str) -> Interval:
    at, pos, neg = MARGIN[loss], box.pos[:, None], box.neg[:, None]
    if loss in BENDS:
        convex, concave = BENDS[loss]
        limits = sums(box, lambda s: at(-s), convex=convex, concave=concave)
        low, high = (float(box.pos @ box.totals) + x for x in combined(box.mass - 2 * box.pos, *limits))
    else:
        limits = sums(box, lambda s: pos * at(s) + neg * at(-s), lowest=_lowest(box, loss))
        low, high = (float(x.sum()) for x in limits)
    worst = _worst(box, loss)
    # The two losses of a far margin all but cancel, and take digits along.
    gross = (np.abs(box.pos) @ (box.n * worst[0]) + np.abs(box.neg) @ (box.n * worst[1])).sum()
    off = ROUNDING * float(gross)
    return mean_loss(box, (low - off, high + off), float(worst[0].max()), float(worst[1].max()))


def _lowest(box: Boxes, loss: str) -> Vector:
    """Where b ℓ(s) + (a − b) ℓ(−s) is least in each stratum; infinite where it only falls or rises."""
    share = np.where(box.mass > 0, box.pos / box.mass, np.copysign(np.inf, box.pos))[:, None]
    if loss == "squared":
        return 2 * share - 1
    # The logistic loss is least at the logit of the share of positives.
    share = np.clip(share, 0.0, 1.0)
    return np.log(share) - np.log1p(-share)


def _worst(box: Boxes, loss: str) -> list[Vector]:
    """The largest loss in each cell, of a positive and of a negative: convex or monotone, so at an end."""
    low, high = (np.where(box.held, x, 0.0) for x in (box.low, box.high))
    return [np.maximum(MARGIN[loss](sign * low), MARGIN[loss](sign * high)) for sign in (1, -1)]
