"""Compiled loops for large inputs: a sort, one walk down sorted strata, a histogram without a sort.

Work is cut by the data, never by the threads, and parts are joined in a fixed order or as integers:
results do not depend on the number of threads. The kernels release the lock of the interpreter and run in
plain threads, because Numba's own may end the process after a fork or when two threads call at once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from math import fsum
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.core import event
from numpy.typing import NDArray

from halftruth.checks import Vector

Integers = NDArray[np.int64]

_numba: Any = numba  # its types cover only a part of it

THREADS: int = _numba.config.NUMBA_NUM_THREADS
EPSILON = float(np.finfo(np.float64).eps)
SLACK = 1e-12
CHUNKS = 64
CHUNK_ROWS = 1 << 18
BLOCK = 1024


# --- compiling ------------------------------------------------------------------------------------


class _Notice(event.Listener):
    """Says once that kernels are being compiled; what comes from the cache raises no such event."""

    said = False

    def on_start(self, event: Any) -> None:
        kernel = (event.data or {}).get("dispatcher")
        if self.said or getattr(kernel, "__module__", None) != __name__:
            return
        self.said = True
        kept = "for this machine, once" if _cached(kernel) else "that no writable cache can keep"
        sys.stderr.write(f"halftruth: compiling kernels {kept}; this takes some seconds.\n")

    def on_end(self, event: Any) -> None:
        pass


def _cached(kernel: Any) -> bool:
    return getattr(getattr(kernel, "_cache", None), "cache_path", None) is not None


def _compiled(function: Callable[..., Any]) -> Any:
    options = {"nogil": True, "error_model": "numpy"}
    try:
        return _numba.njit(cache=True, **options)(function)
    except RuntimeError:  # nowhere to keep what is compiled
        return _numba.njit(**options)(function)


_numba.core.event.register("numba:compile", _Notice())


def _each(task: Callable[..., Any], jobs: Iterable[tuple[Any, ...]]) -> list[Any]:
    """``task(*job)`` of each job, in order."""
    jobs = list(jobs)
    if min(THREADS, len(jobs)) < 2:
        return [task(*job) for job in jobs]
    with ThreadPoolExecutor(min(THREADS, len(jobs))) as pool:
        return list(pool.map(lambda job: task(*job), jobs))


def _frozen(values: Any, dtype: Any = np.float64) -> NDArray[Any]:
    """Contiguous and read-only, so that each kernel is compiled for one type of array."""
    out = np.ascontiguousarray(values, dtype=dtype).view()
    out.flags.writeable = False
    return out


def _chunks(n: int) -> list[tuple[int, int]]:
    number = max(1, min(CHUNKS, n // CHUNK_ROWS))
    return list(pairwise([n * i // number for i in range(number + 1)]))


# --- sort -----------------------------------------------------------------------------------------

DIGIT = 16
BUCKETS = 1024
BUCKET_ROWS = 1 << 15
LEAF_ROWS = 1 << 18


def sort(score: Vector) -> Vector:
    """Ascending copy of finite scores without −0.0."""
    out = np.empty(len(score))
    if len(score):
        _sort_into(_frozen(score).view(np.int64), out.view(np.int64))
    return out


def _sort_into(source: Integers, out: Integers) -> None:
    """Spread the rows over buckets of about equal size, then sort each of them inside a cache."""
    n = len(source)
    parts = [source[start:stop] for start, stop in _chunks(n)]
    ends = _each(_extent, ((part,) for part in parts))
    low, high = min(end[0] for end in ends), max(end[1] for end in ends)
    if low == high:
        out[:] = source
        return
    shift = max(0, (high - low).bit_length() - DIGIT)
    counts = np.stack(_each(_count_digits, ((part, low, shift) for part in parts)))
    size = max(BUCKET_ROWS, n // BUCKETS)
    bucket, first = _group(counts.sum(axis=0, dtype=np.int64), size)
    counts = np.add.reduceat(counts, first, axis=1, dtype=np.int64)
    stop = np.cumsum(counts.T).reshape(counts.T.shape).T
    place = stop - counts
    _each(_spread, ((part, low, shift, bucket, place[i].copy(), out) for i, part in enumerate(parts)))
    cuts = np.stack([place[0], stop[-1]], axis=1)
    heavy = counts.sum(axis=0) > max(LEAF_ROWS, 4 * size)
    _each(_sort_buckets, ((out, cuts[~heavy][i :: 4 * THREADS].copy()) for i in range(4 * THREADS)))
    if shift > 0:  # a digit that holds many rows is spread by its lower bits
        for a, b in cuts[heavy]:
            _sort_into(_frozen(out[a:b].copy(), np.int64), out[a:b])


def _group(counts: Integers, size: int) -> tuple[NDArray[np.uint16], Integers]:
    """Bucket of each digit, and the first digit of each bucket."""
    full = (np.cumsum(counts) - counts) // size
    # A digit that overfills a bucket has one to itself, so that spreading it again narrows the range.
    starts = (np.diff(full, prepend=-1) != 0) | (counts > size)
    return (np.cumsum(starts) - 1).astype(np.uint16), np.flatnonzero(starts)


@_compiled
def _key(bits: Any) -> Any:
    """Integers in the order of the floats of these bits."""
    return bits ^ ((bits >> 63) & 0x7FFFFFFFFFFFFFFF)


@_compiled
def _extent(bits: Any) -> Any:
    low = high = _key(bits[0])
    for i in range(len(bits)):
        key = _key(bits[i])
        low, high = min(low, key), max(high, key)
    return low, high


@_compiled
def _count_digits(bits: Any, low: Any, shift: Any) -> Any:
    counts = np.zeros(1 << DIGIT, np.uint32)
    by = np.uint64(shift)
    for i in range(len(bits)):
        counts[np.uint64(_key(bits[i]) - low) >> by] += 1
    return counts


@_compiled
def _spread(bits: Any, low: Any, shift: Any, bucket: Any, place: Any, out: Any) -> None:
    by = np.uint64(shift)
    for i in range(len(bits)):
        b = bucket[np.uint64(_key(bits[i]) - low) >> by]
        out[place[b]] = bits[i]
        place[b] += 1


@_compiled
def _sort_buckets(bits: Any, cuts: Any) -> None:
    # One scratch for many buckets: fresh memory costs more than the sort.
    scratch = np.empty(np.max(cuts[:, 1] - cuts[:, 0]) if len(cuts) else 0, np.int64)
    for i in range(len(cuts)):
        start, stop = cuts[i]
        _sort_bucket(bits[start:stop], scratch[: stop - start])


@_compiled
def _sort_bucket(bits: Any, scratch: Any) -> None:
    """By the highest 22 bits that differ, then by insertion; where that works too hard, by all bits."""
    n = len(bits)
    if n < 2:
        return
    low, high = _extent(bits)
    width = 0
    while width < 64 and np.uint64(high - low) >> np.uint64(width):
        width += 1
    top = max(0, width - 22)
    if n > 64 and width > 0:
        _sort_22_bits(bits, scratch, low, top)
        if top > 0 and not _insert(bits.view(np.float64), 8 * n):
            for shift in range(0, width, 22):
                _sort_22_bits(bits, scratch, low, shift)
    elif width > 0:
        _insert(bits.view(np.float64), n * n)


@_compiled
def _sort_22_bits(bits: Any, scratch: Any, low: Any, shift: Any) -> None:
    """Stable sort by the 22 bits above ``shift``, in two passes."""
    first, second = np.zeros(2049, np.int64), np.zeros(2049, np.int64)
    by, half, mask = np.uint64(shift), np.uint64(11), np.uint64(2047)
    one = np.uint64(1)
    for i in range(len(bits)):
        digits = np.uint64(_key(bits[i]) - low) >> by
        first[(digits & mask) + one] += 1
        second[((digits >> half) & mask) + one] += 1
    for d in range(2048):
        first[d + 1] += first[d]
        second[d + 1] += second[d]
    for i in range(len(bits)):
        digit = (np.uint64(_key(bits[i]) - low) >> by) & mask
        scratch[first[digit]] = bits[i]
        first[digit] += 1
    for i in range(len(bits)):
        digit = (np.uint64(_key(scratch[i]) - low) >> by >> half) & mask
        bits[second[digit]] = scratch[i]
        second[digit] += 1


@_compiled
def _insert(values: Any, most: Any) -> Any:
    """Insertion sort; False as soon as it has taken more than ``most`` moves."""
    moves = 0
    for i in range(1, len(values)):
        value, j = values[i], i
        while j > 0 and values[j - 1] > value:
            values[j] = values[j - 1]
            j -= 1
        values[j] = value
        moves += i - j
        if moves > most:
            return False
    return True


# --- fold -----------------------------------------------------------------------------------------


class Fold(NamedTuple):
    """What the functionals need of a measure; sums, not yet divided by anything."""

    positives: float
    negatives: float
    total: float
    roc_area: float
    """Σ (TP before + TP after)/2 · neg_mass, from the top down."""
    pr_area: float
    """Σ precision · pos_mass, precision clipped to [0, 1]; NaN where there is no population."""
    leaves_unit: bool
    """Whether precision leaves [0, 1] before it is clipped."""
    square_loss: float
    """Σ (1−s)² pos_mass + s² neg_mass; NaN unless bounded, as is the next."""
    log_loss: float


def fold(strata: Sequence[Vector], mass: Vector, pos: Vector, neg: Vector, *, bounded: bool) -> Fold:
    """One walk down at most three sorted strata of rows without weights.

    A row of stratum k adds ``mass[k]`` (0 or 1), ``pos[k]`` and ``neg[k]`` to the masses at its score.
    """
    rows, a, b, d = _three(strata), *(_padded(part) for part in (mass, pos, neg))
    n = np.asarray([len(part) for part in rows])
    top = _top_precision(rows, a, b)
    walks = _each(_walk, ((*rows, cut, a, b, top) for cut in _cuts(rows)))
    # Twice the pairs with the row of stratum j above that of k, ties half: the ROC area is linear in them.
    twice = np.diag(n.astype(np.float64) ** 2)
    pairs = np.sum([walk[:3] for walk in walks], axis=0)
    for j, k, ordered in zip((0, 0, 1), (1, 2, 2), pairs, strict=True):
        twice[j, k], twice[k, j] = ordered, 2 * n[j] * n[k] - ordered
    square, log = _losses(rows, b, d) if bounded else (np.nan, np.nan)
    return Fold(
        positives=float(b @ n),
        negatives=float(d @ n),
        total=float(a @ n),
        roc_area=float(b @ twice @ d) / 2,
        pr_area=fsum(walk[3] for walk in walks) if a @ n else np.nan,
        leaves_unit=any(walk[4] for walk in walks),
        square_loss=square,
        log_loss=log,
    )


def _three(strata: Sequence[Vector]) -> list[Vector]:
    return [_frozen(part) for part in (*strata, *[()] * (3 - len(strata)))]


def _padded(coefficients: Vector) -> Vector:
    return np.pad(np.asarray(coefficients, dtype=np.float64), (0, 3 - len(coefficients)))


def _cuts(rows: Sequence[Vector]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Where each chunk starts and stops in each stratum; no score lies in two chunks."""
    n = sum(len(part) for part in rows)
    ends = [stop for _, stop in _chunks(n)]
    score = _ranked(*rows, np.asarray(ends))
    stops = np.stack([np.searchsorted(part, score, side="right") for part in rows], axis=1).tolist()
    return list(pairwise([(0, 0, 0), *(tuple(stop) for stop in stops)]))


def _top_precision(rows: Sequence[Vector], mass: Vector, pos: Vector) -> float:
    """Precision at the highest score of the population, read for all scores above it."""
    top = max((part[-1] for part, a in zip(rows, mass, strict=True) if a and len(part)), default=np.nan)
    above = [len(part) - int(np.searchsorted(part, top)) for part in rows]
    return float(pos @ above / (mass @ above)) if top == top else np.nan


@_compiled
def _ranked(x: Any, y: Any, z: Any, ranks: Any) -> Any:
    """The scores of these ranks (1 for the smallest) among three sorted strata; −inf for rank 0."""
    out = np.empty(len(ranks))
    for r in range(len(ranks)):
        i = j = k = 0
        left, last = ranks[r], -np.inf
        while left > 0:
            # Of three runs of a third of the rows, the one that ends lowest lies below the rank.
            step = max(left // 3, 1)
            p, q, s = min(i + step, len(x)), min(j + step, len(y)), min(k + step, len(z))
            u = x[p - 1] if p > i else np.inf
            v = y[q - 1] if q > j else np.inf
            w = z[s - 1] if s > k else np.inf
            last = min(u, v, w)
            if u == last:
                left, i = left - (p - i), p
            elif v == last:
                left, j = left - (q - j), q
            else:
                left, k = left - (s - k), s
        for part, at in ((x, i), (y, j), (z, k)):
            if at > 0:
                last = max(last, part[at - 1])
        out[r] = last
    return out


@_compiled
def _walk(x: Any, y: Any, z: Any, cut: Any, a: Any, b: Any, top: Any) -> Any:
    """Twice the pairs in order, Σ precision · pos and whether precision leaves [0, 1], down one chunk."""
    (x0, y0, z0), (i, j, k) = cut
    nx, ny, nz = len(x), len(y), len(z)
    xy = xz = yz = 0
    area = lost = 0.0
    leaves = False
    while i > x0 or j > y0 or k > z0:
        u = x[i - 1] if i > x0 else -np.inf
        v = y[j - 1] if j > y0 else -np.inf
        w = z[k - 1] if k > z0 else -np.inf
        s = max(u, v, w)
        p, q, r = i, j, k
        while i > x0 and x[i - 1] == s:
            i -= 1
        while j > y0 and y[j - 1] == s:
            j -= 1
        while k > z0 and z[k - 1] == s:
            k -= 1
        # Twice the rows above, ties once.
        xs, ys = 2 * nx - p - i, 2 * ny - q - j
        xy += xs * (q - j)
        xz += xs * (r - k)
        yz += ys * (r - k)
        predicted = a[0] * (nx - i) + a[1] * (ny - j) + a[2] * (nz - k)
        tp = b[0] * (nx - i) + b[1] * (ny - j) + b[2] * (nz - k)
        precision = tp / predicted if predicted != 0 else top
        leaves |= precision < -SLACK or precision > 1 + SLACK
        term = min(max(precision, 0.0), 1.0) * (b[0] * (p - i) + b[1] * (q - j) + b[2] * (r - k))
        # Compensated sum.
        term -= lost
        grown = area + term
        lost = (grown - area) - term
        area = grown
    return xy, xz, yz, area, leaves


def _losses(rows: Sequence[Vector], pos: Vector, neg: Vector) -> tuple[float, float]:
    """Σ of squared errors and of −log, both linear in the rows of each stratum."""
    jobs = [
        (part[start:stop], factor, positive)
        for part, b, d in zip(rows, pos, neg, strict=True)
        for factor, positive in ((b, True), (d, False))
        if factor != 0
        for start, stop in _chunks(len(part))
    ]
    sums = _each(_loss, jobs)
    return fsum(square for square, _ in sums), fsum(log for _, log in sums)


@_compiled
def _loss(score: Any, factor: Any, positive: Any) -> Any:
    square = log = 0.0
    for start in range(0, len(score), BLOCK):
        in_square = in_log = 0.0
        for i in range(start, min(start + BLOCK, len(score))):
            miss = 1 - score[i] if positive else score[i]
            hit = score[i] if positive else 1 - score[i]
            in_square += miss * miss
            in_log -= np.log(min(max(hit, EPSILON), 1 - EPSILON))
        square += in_square
        log += in_log
    return factor * square, factor * log


def calibration_gaps(
    strata: Sequence[Vector], mass: Vector, pos: Vector, n_bins: int
) -> tuple[Vector, Vector]:
    """Σ (pos_mass − s · mass) and Σ mass over each of ``n_bins`` bins of equal population mass.

    Strata and coefficients as in `fold`; a bin ends at an order statistic of the population.
    """
    rows, a, b = _three(strata), _padded(mass), _padded(pos)
    population = [part if inside else part[:0] for part, inside in zip(rows, a, strict=True)]
    n = sum(len(part) for part in population)
    edges = _ranked(*population, np.asarray([n * i // n_bins for i in range(1, n_bins)], dtype=np.int64))
    gap, size = np.zeros(n_bins), np.zeros(n_bins)
    for part, inside, positive in zip(rows, a, b, strict=True):
        cuts = np.concatenate([[0], np.searchsorted(part, edges, side="right"), [len(part)]])
        gap += positive * np.diff(cuts)
        if inside:
            size += np.diff(cuts)
            gap -= [part[start:stop].sum() for start, stop in pairwise(cuts.tolist())]
    return gap, size


# --- histogram ------------------------------------------------------------------------------------


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
    score = _frozen(score)
    weight = _frozen(() if weight is None else weight)
    chunks = _chunks(len(score))
    # Integers and extremes may be added in any order, so a thread keeps one set of sums.
    workers = min(THREADS, len(chunks))
    jobs = (
        (score, weight, np.asarray(chunks[i::workers]), kind == "probability", center, scale, n_bins)
        for i in range(workers)
    )
    parts = _each(_bin_chunks, jobs)
    sums = parts[0][0]
    low, high = parts[0][1]
    for other, (others_low, others_high) in parts[1:]:
        sums += other
        np.minimum(low, others_low, out=low)
        np.maximum(high, others_high, out=high)
    rows, position, weights, square = np.ascontiguousarray(sums.T)
    return Bins(rows, position, weights, square, low, high)


@_compiled
def _root(x: Any) -> Any:
    return np.sqrt(np.sqrt(np.sqrt(x)))


@_compiled
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


@_compiled
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
