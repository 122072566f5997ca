"""A histogram without a sort."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from halftruth.checks import Vector
from halftruth.kernels import compiling
from halftruth.kernels.compiling import BLOCK, Integers, chunks_of, compiled, each, frozen


class Bins(NamedTuple):
    """Sums over the rows of each bin, the weights' in units of 2⁻³²; the lowest and highest score."""

    rows: Integers
    position: Integers
    weight: Integers
    square: Integers
    low: Vector
    high: Vector


def bin_rows(
    score: Vector, weight: Vector | None, kind: str, center: float, scale: float, n_bins: int
) -> Bins:
    """Histogram of one stratum, without a sort.

    ``kind`` "probability" has bins 0 and ``n_bins`` + 1 for exactly 0 and 1 and the others between, fine near
    both ends; "margin" is fine near ``center`` and has no positions.
    """
    score = frozen(score)
    weight = frozen(() if weight is None else weight)
    chunks = chunks_of(len(score))
    # Integers and extremes may be added in any order, so a thread keeps one set of sums.
    workers = min(compiling.THREADS, len(chunks))
    jobs = (
        (score, weight, np.asarray(chunks[i::workers]), kind == "probability", center, scale, n_bins)
        for i in range(workers)
    )
    parts = each(_bin_chunks, jobs)
    sums = parts[0][0]
    low, high = parts[0][1]
    for other, (others_low, others_high) in parts[1:]:
        sums += other
        np.minimum(low, others_low, out=low)
        np.maximum(high, others_high, out=high)
    rows, position, weights, square = np.ascontiguousarray(sums.T)
    return Bins(rows, position, weights, square, low, high)


@compiled
def _root(x: Any) -> Any:
    return np.sqrt(np.sqrt(np.sqrt(x)))


@compiled
def _bins_of(score: Any, probability: Any, center: Any, scale: Any, n_bins: Any, out: Any) -> None:
    """Bins by IEEE +, −, ×, ÷ and √ alone, in this order, so that any engine finds the same ones."""
    half = n_bins / 2
    if probability:
        for i in range(len(score)):
            s = score[i]
            inner = 1 + min(np.int64(((_root(s) - _root(1 - s)) + 1) * half), n_bins - 1)
            # Exactly 0 and 1 come out in the first and the last of these: one step beyond, without a branch.
            out[i] = inner + (s == 1) - (s == 0)
    else:
        for i in range(len(score)):
            z = (score[i] - center) / scale
            q = _root(1 / (1 + abs(z)))
            t = 1 - q if z >= 0 else q - 1
            out[i] = min(np.int64((t + 1) * half), n_bins - 1)


@compiled
def _bin_chunks(
    score: Any, weight: Any, chunks: Any, probability: Any, center: Any, scale: Any, n_bins: Any
) -> Any:
    n = n_bins + 2 if probability else n_bins
    sums = np.zeros((n, 4), np.int64)
    ends = np.empty((2, n))
    ends[0], ends[1] = np.inf, -np.inf
    unit, weighted = 2.0**32, len(weight) > 0
    bins = np.empty(BLOCK, np.int64)
    for c in range(len(chunks)):
        for start in range(chunks[c, 0], chunks[c, 1], BLOCK):
            stop = min(start + BLOCK, chunks[c, 1])
            _bins_of(score[start:stop], probability, center, scale, n_bins, bins)
            for i in range(start, stop):
                b, s = bins[i - start], score[i]
                w = weight[i] if weighted else 1.0
                sums[b, 0] += 1
                if probability:
                    sums[b, 1] += np.int64(np.floor(w * s * unit + 0.5))
                if weighted:
                    sums[b, 2] += np.int64(np.floor(w * unit + 0.5))
                    sums[b, 3] += np.int64(np.floor((w * w) * unit + 0.5))
                ends[0, b] = min(ends[0, b], s)
                ends[1, b] = max(ends[1, b], s)
    if not weighted:
        sums[:, 2] = sums[:, 3] = sums[:, 0] << 32
    return sums, ends
