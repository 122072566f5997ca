"""A radix sort of scores, and rows of two kinds parted in one pass."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector
from halftruth.kernels import _compiling
from halftruth.kernels._compiling import Integers, chunks_of, compiled, each, frozen

__all__ = ["sort", "split"]

DIGIT = 16
BUCKETS = 1024
BUCKET_ROWS = 1 << 15
LEAF_ROWS = 1 << 18


def sort(score: Vector) -> Vector:
    """Ascending copy of finite scores without −0.0."""
    out = np.empty(len(score))
    if len(score):
        _sort_into(frozen(score).view(np.int64), out.view(np.int64))
    return out


def _sort_into(source: Integers, out: Integers) -> None:
    """Spread the rows over buckets of about equal size, then sort each of them inside a cache."""
    n = len(source)
    chunks = [source[start:stop] for start, stop in chunks_of(n)]
    ends = each(_extent, ((chunk,) for chunk in chunks))
    low, high = min(end[0] for end in ends), max(end[1] for end in ends)
    if low == high:
        out[:] = source
        return
    # The highest bits in which keys differ: one radix digit, whose counts show where buckets of one size end.
    shift = max(0, (high - low).bit_length() - DIGIT)
    counts = np.stack(each(_count_digits, ((chunk, low, shift) for chunk in chunks)))
    size = max(BUCKET_ROWS, n // BUCKETS)
    bucket, first = _group(counts.sum(axis=0, dtype=np.int64), size)
    counts = np.add.reduceat(counts, first, axis=1, dtype=np.int64)
    stop = np.cumsum(counts.T).reshape(counts.T.shape).T
    place = stop - counts
    # Each chunk writes to places of its own in every bucket, so that threads need no lock.
    each(_spread, ((chunk, low, shift, bucket, place[i].copy(), out) for i, chunk in enumerate(chunks)))
    cuts = np.stack([place[0], stop[-1]], axis=1)
    heavy = counts.sum(axis=0) > max(LEAF_ROWS, 4 * size)
    hands = 4 * _compiling.THREADS
    each(_sort_buckets, ((out, cuts[~heavy][i::hands].copy()) for i in range(hands)))
    if shift > 0:  # a digit that holds many rows is spread by its lower bits
        for a, b in cuts[heavy]:
            _sort_into(frozen(out[a:b].copy(), np.int64), out[a:b])


def _group(counts: Integers, size: int) -> tuple[NDArray[np.uint16], Integers]:
    """Bucket of each digit, and the first digit of each bucket."""
    full = (np.cumsum(counts) - counts) // size
    # A digit that overfills a bucket has one to itself, so that spreading it again narrows the range.
    starts = (np.diff(full, prepend=-1) != 0) | (counts > size)
    return (np.cumsum(starts) - 1).astype(np.uint16), np.flatnonzero(starts)


@compiled
def _key(bits: Any) -> Any:
    """Integers in the order of the floats of these bits."""
    # Floats are sign and magnitude, integers two's complement: of negative ones all bits but the sign turn.
    return bits ^ ((bits >> 63) & 0x7FFFFFFFFFFFFFFF)


@compiled
def _extent(bits: Any) -> Any:
    low = high = _key(bits[0])
    for i in range(len(bits)):
        key = _key(bits[i])
        low, high = min(low, key), max(high, key)
    return low, high


@compiled
def _count_digits(bits: Any, low: Any, shift: Any) -> Any:
    counts = np.zeros(1 << DIGIT, np.uint32)
    by = np.uint64(shift)
    for i in range(len(bits)):
        counts[np.uint64(_key(bits[i]) - low) >> by] += 1
    return counts


@compiled
def _spread(bits: Any, low: Any, shift: Any, bucket: Any, place: Any, out: Any) -> None:
    by = np.uint64(shift)
    for i in range(len(bits)):
        b = bucket[np.uint64(_key(bits[i]) - low) >> by]
        out[place[b]] = bits[i]
        place[b] += 1


@compiled
def _sort_buckets(bits: Any, cuts: Any) -> None:
    # One scratch for many buckets: fresh memory costs more than the sort.
    scratch = np.empty(np.max(cuts[:, 1] - cuts[:, 0]) if len(cuts) else 0, np.int64)
    for i in range(len(cuts)):
        start, stop = cuts[i]
        _sort_bucket(bits[start:stop], scratch[: stop - start])


@compiled
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


@compiled
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


@compiled
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


def split(score: Vector, chosen: NDArray[np.bool_]) -> tuple[Vector, Vector]:
    """The chosen scores and the others, each in their order."""
    score, chosen = frozen(score), frozen(chosen, np.bool_)
    chunks = chunks_of(len(score))
    counts = [int(np.count_nonzero(chosen[a:b])) for a, b in chunks]
    before = [0, *accumulate(counts)]
    picked, rest = np.empty(before[-1]), np.empty(len(score) - before[-1])
    jobs = (
        (score[a:b], chosen[a:b], picked[n : n + count], rest[a - n : b - n - count])
        for (a, b), n, count in zip(chunks, before[:-1], counts, strict=True)
    )
    each(_split, jobs)
    return picked, rest


@compiled
def _split(score: Any, chosen: Any, picked: Any, rest: Any) -> None:
    i = j = 0
    for k in range(len(score)):
        if chosen[k]:
            picked[i] = score[k]
            i += 1
        else:
            rest[j] = score[k]
            j += 1
