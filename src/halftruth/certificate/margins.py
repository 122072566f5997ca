"""The risk, by losses ℓ that read the score as a margin: Σ b ℓ(s) + (a − b) ℓ(−s) over the rows.

ℓ(s) − ℓ(−s) is linear in s, or 1 − 2 ℓ(−s): what a row adds is convex as ℓ is, or bends where ℓ(−s) does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from halftruth._checks import Vector
from halftruth.certificate import proper, thresholds
from halftruth.certificate.boxes import ANYTHING, ROUNDING, Boxes, Interval, combined
from halftruth.certificate.convex import mean_loss, sums
from halftruth.metrics.losses import MARGIN, ZERO_ONE

BENDS = {"sigmoid": ((-np.inf, 0.0), (0.0, np.inf)), "ramp": ((-np.inf, 1.0), (-1.0, np.inf))}
"""Losses with ℓ(s) + ℓ(−s) = 1: where ℓ(−s) is convex, and where concave. The others are convex."""


def risk(box: Boxes, loss: Any, threshold: float | None) -> Interval:
    """The mean loss of a case; nothing is known of a user's own losses."""
    if not isinstance(loss, str):
        return ANYTHING
    if loss == ZERO_ONE:
        low, high = thresholds.rate("accuracy", box, threshold or 0.0)
        return 1 - high, 1 - low
    if loss not in MARGIN:
        return {"log": proper.log_loss, "brier": proper.brier}[loss](box)
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
    share = np.clip(share, 0.0, 1.0)
    return np.log(share) - np.log1p(-share)


def _worst(box: Boxes, loss: str) -> list[Vector]:
    """The largest loss in each cell, of a positive and of a negative: convex or monotone, so at an end."""
    held = box.held
    low, high = (np.where(held, x, 0.0) for x in (box.low, box.high))
    return [np.maximum(MARGIN[loss](sign * low), MARGIN[loss](sign * high)) for sign in (1, -1)]
