"""Sums over bins of equal width, straight from rows in any order."""

from __future__ import annotations

from typing import Any

import numpy as np

from halftruth.checks import Vector
from halftruth.kernels.compiling import BLOCK, chunks_of, compiled, each, frozen


def extent(score: Vector) -> tuple[float, float]:
    """The lowest and the highest score."""
    score = frozen(score)
    ends = each(_extent, ((score[a:b],) for a, b in chunks_of(len(score))))
    return min(float(low) for low, _ in ends), max(float(high) for _, high in ends)


def width_moments(score: Vector, n_bins: int) -> Vector:
    """n, Σ s and Σ s² (3, n_bins) of scores in [0, 1] over bins (b/B, (b+1)/B], the first closed at 0."""
    score, edges = frozen(score), frozen(np.arange(n_bins + 1) / n_bins)
    parts = each(_width_moments, ((score[a:b], edges) for a, b in chunks_of(len(score))))
    return np.asarray(np.sum(parts, axis=0).T)


@compiled
def _extent(score: Any) -> Any:
    low = high = score[0]
    for i in range(len(score)):
        low, high = min(low, score[i]), max(high, score[i])
    return low, high


@compiled
def _width_moments(score: Any, edges: Any) -> Any:
    n_bins = len(edges) - 1
    out = np.zeros((n_bins, 3))
    # Sums of a block are added to those of the blocks before, so that rounding does not grow with the rows.
    part = np.zeros((n_bins, 3))
    for start in range(0, len(score), BLOCK * 16):
        part[:] = 0
        for i in range(start, min(start + BLOCK * 16, len(score))):
            s = score[i]
            b: Any = min(np.int64(s * n_bins), n_bins - 1)
            # The product may round over an edge, and an edge belongs to the bin below it.
            b += s > edges[b + 1]
            b -= (s <= edges[b]) & (b > 0)
            part[b, 0] += 1
            part[b, 1] += s
            part[b, 2] += s * s
        out += part
    return out
