"""Rows in any order, each split between the two nearest nodes of an even grid."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from halftruth._checks import Vector
from halftruth.kernels.compiling import CHUNK_ROWS, compiled, each, frozen

CHUNKS = 16


def residual_nodes(score: Vector, pos: float, mass: float, n_cells: int) -> Vector:
    """Σ (pos − s · mass) over the rows, at the nodes 0, 1/n_cells, …, 1."""
    score = frozen(score)
    jobs = ((score[a:b], float(pos), float(mass), n_cells) for a, b in _chunks(len(score)))
    return _joined(each(_split, jobs))


def logit_nodes(score: Vector, step: float) -> tuple[int, Vector, int, int]:
    """Rows at the nodes ``step`` · i of the logit, with the first i; rows of exactly 0 and exactly 1."""
    score = frozen(score)
    chunks = _chunks(len(score))
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


def _chunks(n: int) -> list[tuple[int, int]]:
    """Few parts, each with sums of its own; they depend on n alone."""
    number = max(1, min(CHUNKS, n // CHUNK_ROWS))
    return list(pairwise([n * i // number for i in range(number + 1)]))


def _joined(parts: list[Vector]) -> Vector:
    """Nodes from Σ w and Σ w · (share of the upper node) of each cell, in the order of the parts."""
    sums = parts[0]
    for other in parts[1:]:
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
