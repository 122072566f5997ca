"""A radix sort of scores, alone or with the rows they came from, and rows of two kinds parted in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector
from halftruth.kernels import _compiling
from halftruth.kernels._compiling import Integers, chunks_of, compiled, each, frozen, three_strata

__all__ = ["ordered", "sort", "split", "union"]

Rows = NDArray[Any]  # numbers of rows

DIGIT = 16
BUCKETS = 1024
BUCKET_ROWS = 1 << 15
LEAF_ROWS = 1 << 18


def sort(score: Vector) -> Vector:
    """Ascending copy of finite scores without −0.0."""
    out = np.empty(len(score))
    if len(score):
        _sort_into(frozen(score).view(np.int64), out.view(np.int64), None, None)
    return out


def ordered(score: Vector) -> tuple[Vector, Rows]:
    """The same, and the row that each score came from; rows of one score stay in their order."""
    number = np.uint32 if len(score) < 1 << 32 else np.int64
    out, row = np.empty(len(score)), np.empty(len(score), number)
    if len(score):
        source = frozen(np.arange(len(score), dtype=number), number)
        _sort_into(frozen(score).view(np.int64), out.view(np.int64), source, row)
    return out, row


def _sort_into(source: Integers, out: Integers, source_row: Rows | None, row: Rows | None) -> None:
    """Spread the rows over buckets of about equal size, then sort each of them inside a cache.

    ``row`` goes where the scores go. Where it is None the compiled loops are without it.
    """
    n = len(source)
    parts = [slice(*part) for part in chunks_of(n)]
    chunks = [source[part] for part in parts]
    rows = [None if source_row is None else source_row[part] for part in parts]
    ends = each(_extent, ((chunk,) for chunk in chunks))
    low, high = min(end[0] for end in ends), max(end[1] for end in ends)
    if low == high:
        out[:] = source
        if row is not None and source_row is not None:
            row[:] = source_row
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
    jobs = enumerate(zip(chunks, rows, strict=True))
    each(_spread, ((x, low, shift, bucket, place[i].copy(), out, of, row) for i, (x, of) in jobs))
    cuts = np.stack([place[0], stop[-1]], axis=1)
    heavy = counts.sum(axis=0) > max(LEAF_ROWS, 4 * size)
    hands = 4 * _compiling.THREADS
    each(_sort_buckets, ((out, cuts[~heavy][i::hands].copy(), row) for i in range(hands)))
    if shift > 0:  # a digit that holds many rows is spread by its lower bits
        for a, b in cuts[heavy]:
            of = None if row is None else frozen(row[a:b].copy(), row.dtype)
            _sort_into(frozen(out[a:b].copy(), np.int64), out[a:b], of, None if row is None else row[a:b])


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
def _spread(
    bits: Any, low: Any, shift: Any, bucket: Any, place: Any, out: Any, source_row: Any, row: Any
) -> None:
    by = np.uint64(shift)
    for i in range(len(bits)):
        b = bucket[np.uint64(_key(bits[i]) - low) >> by]
        out[place[b]] = bits[i]
        if row is not None:
            row[place[b]] = source_row[i]
        place[b] += 1


@compiled
def _sort_buckets(bits: Any, cuts: Any, row: Any) -> None:
    # One scratch for many buckets: fresh memory costs more than the sort.
    size = np.max(cuts[:, 1] - cuts[:, 0]) if len(cuts) else 0
    scratch = np.empty(size, np.int64)
    if row is None:
        for i in range(len(cuts)):
            start, stop = cuts[i]
            _sort_bucket(bits[start:stop], scratch[: stop - start], None, None)
    else:
        scratch_row = np.empty(size, row.dtype)
        for i in range(len(cuts)):
            start, stop = cuts[i]
            n = stop - start
            _sort_bucket(bits[start:stop], scratch[:n], row[start:stop], scratch_row[:n])


@compiled
def _sort_bucket(bits: Any, scratch: Any, row: Any, scratch_row: Any) -> None:
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
        _sort_22_bits(bits, scratch, low, top, row, scratch_row)
        if top > 0 and not _insert(bits.view(np.float64), 8 * n, row):
            for shift in range(0, width, 22):
                _sort_22_bits(bits, scratch, low, shift, row, scratch_row)
    elif width > 0:
        _insert(bits.view(np.float64), n * n, row)


@compiled
def _sort_22_bits(bits: Any, scratch: Any, low: Any, shift: Any, row: Any, scratch_row: Any) -> None:
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
        if row is not None:
            scratch_row[first[digit]] = row[i]
        first[digit] += 1
    for i in range(len(bits)):
        digit = (np.uint64(_key(scratch[i]) - low) >> by >> half) & mask
        bits[second[digit]] = scratch[i]
        if row is not None:
            row[second[digit]] = scratch_row[i]
        second[digit] += 1


@compiled
def _insert(values: Any, most: Any, row: Any) -> Any:
    """Insertion sort; False as soon as it has taken more than ``most`` moves."""
    moves = 0
    for i in range(1, len(values)):
        value, j = values[i], i
        while j > 0 and values[j - 1] > value:
            values[j] = values[j - 1]
            j -= 1
        values[j] = value
        if row is not None and j < i:
            moved = row[i]
            for k in range(i, j, -1):
                row[k] = row[k - 1]
            row[j] = moved
        moves += i - j
        if moves > most:
            return False
    return True


def union(strata: Sequence[Vector]) -> tuple[Vector, list[NDArray[np.intp]]]:
    """Distinct scores of at most three strata, whose own are ascending and distinct, and where each lies."""
    rows = three_strata(strata)
    out = np.empty(sum(map(len, rows)))
    places = [np.empty(len(stratum), np.intp) for stratum in rows]
    n = _union(*rows, out, *places)
    return out[:n].copy() if n < len(out) else out, places[: len(strata)]


@compiled
def _union(x: Any, y: Any, z: Any, out: Any, of_x: Any, of_y: Any, of_z: Any) -> Any:
    i = j = k = n = 0
    while i < len(x) or j < len(y) or k < len(z):
        u = x[i] if i < len(x) else np.inf
        v = y[j] if j < len(y) else np.inf
        w = z[k] if k < len(z) else np.inf
        s = min(u, v, w)
        out[n] = s
        if u == s and i < len(x):
            of_x[i] = n
            i += 1
        if v == s and j < len(y):
            of_y[j] = n
            j += 1
        if w == s and k < len(z):
            of_z[k] = n
            k += 1
        n += 1
    return n


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
