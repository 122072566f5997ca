"""Rows in any order, condensed: split between the nodes of an even grid, or joined along the logit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector
from halftruth.kernels import _compiling
from halftruth.kernels._compiling import BLOCK, chunks_of, compiled, each, frozen

__all__ = ["condense", "logit_nodes", "residual_nodes"]

CHUNKS = 16  # few, as each part has sums for all cells of its own


def residual_nodes(score: Vector, pos: float, mass: float, n_cells: int) -> Vector:
    """Σ (pos − s · mass) over the rows, at the nodes 0, 1/n_cells, …, 1."""
    score = frozen(score)
    jobs = ((score[a:b], float(pos), float(mass), n_cells) for a, b in chunks_of(len(score), CHUNKS))
    return _joined(each(_split, jobs))


def logit_nodes(score: Vector, step: float) -> tuple[int, Vector, int, int]:
    """Rows at the nodes ``step`` · i of the logit, with the first i; rows of exactly 0 and exactly 1."""
    score = frozen(score)
    chunks = chunks_of(len(score), CHUNKS)
    ends = each(_interior, ((score[a:b],) for a, b in chunks))
    low, high = min(end[0] for end in ends), max(end[1] for end in ends)
    at_zero, at_one = sum(end[2] for end in ends), sum(end[3] for end in ends)
    if low > high:
        return 0, np.zeros(0), at_zero, at_one
    first, last = (int(np.floor((np.log(s) - np.log1p(-s)) / step)) for s in (low, high))
    # One cell more at each end: compiled logarithms may round the other way.
    first, n_cells = first - 1, last - first + 3
    jobs = ((score[a:b], step, first, n_cells) for a, b in chunks)
    return first, _joined(each(_split_logits, jobs)), at_zero, at_one


def _joined(chunk_sums: list[Vector]) -> Vector:
    """Nodes from Σ w and Σ w · (share of the upper node) of each cell, in the order of the chunks."""
    sums = chunk_sums[0]
    for other in chunk_sums[1:]:
        sums += other
    out = np.zeros(len(sums) + 1)
    out[:-1] = sums[:, 0] - sums[:, 1]
    out[1:] += sums[:, 1]
    return out


@compiled
def _split(score: Any, pos: Any, mass: Any, n_cells: Any) -> Any:
    out = np.zeros((n_cells, 2))
    for i in range(len(score)):
        s = score[i]
        # Linear splitting keeps Σ w and Σ w s, so that a smooth integrand errs by the cell's square only.
        x = s * n_cells
        j = min(np.int64(x), n_cells - 1)
        w = pos - mass * s
        out[j, 0] += w
        out[j, 1] += w * (x - j)
    return out


@compiled
def _interior(score: Any) -> Any:
    low, high = np.inf, -np.inf
    at_zero = at_one = 0
    for i in range(len(score)):
        s = score[i]
        if s <= 0:
            at_zero += 1
        elif s >= 1:
            at_one += 1
        else:
            low, high = min(low, s), max(high, s)
    return low, high, at_zero, at_one


@compiled
def _split_logits(score: Any, step: Any, first: Any, n_cells: Any) -> Any:
    out = np.zeros((n_cells, 2))
    for i in range(len(score)):
        s = score[i]
        if 0 < s < 1:
            x = (np.log(s) - np.log1p(-s)) / step - first
            j = min(np.int64(x), n_cells - 1)
            out[j, 0] += 1
            out[j, 1] += x - j
    return out


STEPS = 7  # 2⁷ slots to each octave of t = min(s, 1 − s)
_SHIFT = 52 - STEPS
_FINE, _COARSE = 24, 16  # bits of the place of a row within its slot, for the sum and for the sum of squares


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
    workers = min(_compiling.THREADS, len(chunks))
    sums = each(_sums, ((score, np.asarray(chunks[i::workers]), lowest, slots) for i in range(workers)))
    count, place, square = np.sum(sums, axis=0).T
    used = np.flatnonzero(count)
    n = count[used].astype(np.float64)
    # Places are rounded down: half a unit more is right on average; squares are of middles already.
    mean = (place[used] / n + 0.5) / 2.0**_FINE
    second = square[used] / n / 4.0 ** (_COARSE + 1)
    # Two points at mean ± spread have the first two moments of the rows.
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
