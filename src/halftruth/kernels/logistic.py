"""Rows condensed along the logit, for integrals of smooth functions of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector
from halftruth.kernels import compiling
from halftruth.kernels.compiling import BLOCK, chunks_of, compiled, each, frozen

STEPS = 7
"""2⁷ slots to each octave of t = min(s, 1 − s)."""
_SHIFT = 52 - STEPS
_FINE, _COARSE = 24, 16
"""Bits of the place of a row within its slot, for the sum and for the sum of squares."""


def condense(score: Vector, least: float) -> tuple[Vector, NDArray[np.bool_], Vector]:
    """Points t = min(s, 1 − s), whether s lies above ½, and the rows that each point stands for.

    Scores nearer to 0 or 1 than ``least``, a power of 2, are read as this near: their logit stays finite.
    The rows of a slot, at most 1/128 of t wide, become two points with the same mean and variance: integrals
    of smooth functions of the logit change by parts in 10¹⁰. All sums are of integers and depend on no order.
    """
    score = frozen(score)
    lowest, half = (int(np.float64(x).view(np.int64)) for x in (least, 0.5))
    slots = ((half - lowest) >> _SHIFT) + 1
    chunks = chunks_of(len(score))
    workers = min(compiling.THREADS, len(chunks))
    parts = each(_sums, ((score, np.asarray(chunks[i::workers]), lowest, slots) for i in range(workers)))
    count, place, square = np.sum(parts, axis=0).T
    used = np.flatnonzero(count)
    n = count[used].astype(np.float64)
    mean = (place[used] / n + 0.5) / 2.0**_FINE
    second = square[used] / n / 4.0 ** (_COARSE + 1)
    spread = np.sqrt(np.maximum(second - mean**2, 0.0))
    # Within a slot t is linear in its bits.
    start = (lowest + ((used % slots) << _SHIFT)).view(np.float64)
    width = np.spacing(start) * 2.0**_SHIFT
    at_half = used % slots == slots - 1  # the last slot is one number
    points = [np.where(at_half, 0.5, start + width * (mean + sign * spread)) for sign in (-1, 1)]
    return np.concatenate(points), np.tile(used >= slots, 2), np.tile(n / 2, 2)


@compiled
def _sums(score: Any, chunks: Any, lowest: Any, slots: Any) -> Any:
    """The rows of each slot, the sum of their places in it, and of the squares of twice their places."""
    out = np.zeros((2 * slots, 3), np.int64)
    near = np.empty(BLOCK)
    bits = near.view(np.int64)
    for c in range(len(chunks)):
        for start in range(chunks[c, 0], chunks[c, 1], BLOCK):
            stop = min(start + BLOCK, chunks[c, 1])
            for i in range(start, stop):
                near[i - start] = min(score[i], 1 - score[i])
            for i in range(start, stop):
                # The bits of a positive float grow with it, in steps of equal ratio by and large.
                at = max(bits[i - start] - lowest, 0)
                slot = (at >> _SHIFT) + (slots if score[i] > 0.5 else 0)
                within = at & ((1 << _SHIFT) - 1)
                middle = 2 * (within >> (_SHIFT - _COARSE)) + 1
                out[slot, 0] += 1
                out[slot, 1] += within >> (_SHIFT - _FINE)
                out[slot, 2] += middle * middle
    return out
