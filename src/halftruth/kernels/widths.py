"""Sums over bins of equal width, straight from rows in any order."""

from __future__ import annotations

from typing import Any

import numpy as np

from halftruth._checks import Vector
from halftruth.kernels.compiling import BLOCK, chunks_of, compiled, each, frozen

NEAR = 0.5 - 1e-8
"""How far from the middle of a bin, in bins, a score lies on its edge as far as rounding can tell."""


def width_moments(score: Vector, n_bins: int) -> Vector:
    """n, Σ s and Σ s² (3, n_bins) of scores in [0, 1] over bins (b/B, (b+1)/B], the first closed at 0."""
    score, edges = frozen(score), frozen(np.arange(n_bins + 1) / n_bins)
    parts = each(_width_moments, ((score[a:b], edges) for a, b in chunks_of(len(score))))
    return np.asarray(np.sum(parts, axis=0).T)


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
            x = s * n_bins
            b: Any = np.int64(x)
            # Near an edge the product may round over it, and the edge belongs to the bin below it.
            if abs(x - b - 0.5) > NEAR:
                b = min(b, n_bins - 1)
                b += s > edges[b + 1]
                b -= (s <= edges[b]) & (b > 0)
            part[b, 0] += 1
            part[b, 1] += s
            part[b, 2] += s * s
        out += part
    return out
