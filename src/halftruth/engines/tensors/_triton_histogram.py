"""Triton kernels for histograms of CUDA tensors: PyTorch's own operations take ten times as long.

Bins come from float64 +, −, ×, ÷ and √ in the order of `Grid.index`, so they are those of every engine.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np
import triton
import triton.language as tl

from halftruth._pytorch import Tensor, torch
from halftruth.engines.tensors._triton_pass import on_its_device
from halftruth.table._grid import N_BINS, Grid
from halftruth.table._histogram import UNIT

__all__ = ["add_rows", "histogram", "packs"]

BLOCK = 512
MANY = 1 << 22  # rows from which packed sums pay for being unpacked
COUNT = tl.constexpr(42)
"""In a packed sum the rows are counted above this bit; below, their distances from a start are added up."""
ROW = tl.constexpr(1 << COUNT.value)  # one row in a packed sum
SHARED = tl.constexpr(4)
"""Bins that share a start: together less than 2²¹ fixed-point steps wide, on the grid of `N_BINS`."""
COPIES = 16  # packed sums of each bin, so that fewer rows wait for one another
NO_ENDS = (-1 << 32) | 0x7F800000  # the bits of an infinite lowest score, and below all highest ones
PACKED_ROWS = (1 << 21) - (1 << 12)  # rows that one of them holds for sure


@on_its_device
def add_rows(
    state: dict[str, Tensor], grid: Grid, score: Tensor, stratum: Tensor, weight: Tensor | None
) -> None:
    """Add checked rows of hard labels to a histogram, in place; see `_dense_histogram.add_rows`."""
    if weight is None and packs(grid, score):
        _add_packed(state, grid, score.contiguous(), stratum.contiguous(), fresh=False)
        return
    missing = state["rows"]
    _add[(triton.cdiv(len(score), BLOCK),)](
        score.contiguous(),
        stratum.contiguous(),
        missing if weight is None else weight.contiguous(),
        state["rows"],
        state.get("position", missing),
        state.get("weight", missing),
        state.get("square", missing),
        state["low"],
        state["high"],
        len(score),
        grid.n_slots,
        probability=grid.kind == "probability",
        center=grid.center,
        scale=grid.scale,
        n_bins=grid.n_bins,
        weighted=weight is not None,
        block=BLOCK,
    )


def packs(grid: Grid, score: Tensor) -> bool:
    """Whether counts and distances of these rows go into one number."""
    plain = score.dtype != torch.float64 and grid.kind == "probability" and grid.n_bins == N_BINS
    return plain and len(score) >= MANY


@on_its_device
def histogram(grid: Grid, score: Tensor, stratum: Tensor, n_strata: int) -> dict[str, Tensor]:
    """The histogram of checked rows that `packs`, without clearing first what is written once."""
    size = n_strata * grid.n_slots
    sums = torch.empty((2, size), dtype=torch.int64, device=score.device)
    ends = torch.empty((2, size), dtype=torch.float64, device=score.device)
    state = {"rows": sums[0], "position": sums[1], "low": ends[0], "high": ends[1]}
    _add_packed(state, grid, score.contiguous(), stratum.contiguous(), fresh=True)
    return state


def _add_packed(state: dict[str, Tensor], grid: Grid, score: Tensor, stratum: Tensor, *, fresh: bool) -> None:
    """One atomic addition a row, of a count and a distance; few rows look whether they are an end."""
    size = len(state["rows"])
    starts = _starts(grid, score.device)
    packed = torch.zeros(COPIES * size, dtype=torch.int64, device=score.device)
    both_ends = torch.full((size,), NO_ENDS, dtype=torch.int64, device=score.device)
    ends = both_ends.view(torch.int32)
    levels = torch.empty(size, dtype=torch.uint8, device=score.device)
    first, more = MANY // 2, COPIES * PACKED_ROWS
    cuts = [0, *range(min(first, len(score)), len(score), more), len(score)]
    for start, stop in pairwise(cuts):
        _pack[(triton.cdiv(stop - start, BLOCK),)](
            score[start:stop],
            stratum[start:stop],
            starts,
            packed,
            ends,
            both_ends,
            levels,
            stop - start,
            grid.n_slots,
            size,
            n_bins=grid.n_bins,
            copies=COPIES,
            filtered=start > 0,
            block=BLOCK,
        )
        _unpack[(triton.cdiv(size, 64),)](
            packed,
            starts,
            ends,
            levels,
            state["rows"],
            state["position"],
            state["low"],
            state["high"],
            size,
            grid.n_slots,
            n_bins=grid.n_bins,
            copies=COPIES,
            fresh=fresh and start == 0,
            block=64,
        )


@lru_cache(maxsize=8)
def _starts(grid: Grid, device: torch.device) -> Tensor:
    """Where every `SHARED`-th bin starts, in fixed-point steps, or one less; as the bits of 32."""
    starts = grid.starts()[:: SHARED.value]
    steps = np.minimum(np.floor(starts * UNIT), UNIT - 1).astype(np.uint32)
    return torch.from_numpy(steps.view(np.int32)).to(device)


@triton.jit
def _root(x):
    return tl.sqrt(tl.sqrt(tl.sqrt(x)))


@triton.jit
def _steps(s, n_bins):
    """Steps from the lowest probability."""
    return ((_root(s) - _root(1.0 - s)) + 1.0) * (n_bins // 2)


@triton.jit
def _slot(s, steps, n_bins):
    inner = tl.minimum(tl.floor(steps), n_bins - 1.0).to(tl.int32) + 1
    return tl.where(s == 0.0, 0, tl.where(s == 1.0, n_bins + 1, inner))


@triton.jit
def _nearness(part):
    """How near a part of a bin, in [0, 1], comes to 0: 0 to 15, one less with every half."""
    return tl.maximum((part.to(tl.float32).to(tl.int32, bitcast=True) >> 23) - 112, 0)


@triton.jit
def _bin_of(s, probability, center, scale, n_bins):
    if probability:
        return _slot(s, _steps(s, n_bins), n_bins)
    else:
        z = (s - center) / scale
        q = _root(1.0 / (tl.abs(z) + 1.0))
        t = tl.where(z >= 0.0, 1.0 - q, q - 1.0)
        return tl.minimum(tl.floor((t + 1.0) * (n_bins // 2)), n_bins - 1.0).to(tl.int32)


@triton.jit
def _fixed(x):
    return tl.floor(x * 4294967296.0 + 0.5).to(tl.int64)


@triton.jit
def _add(
    score,
    stratum,
    weights,
    rows,
    position,
    weight,
    square,
    low,
    high,
    n,
    slots,
    probability: tl.constexpr,
    center: tl.constexpr,
    scale: tl.constexpr,
    n_bins: tl.constexpr,
    weighted: tl.constexpr,
    block: tl.constexpr,
):
    i = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    here = i < n
    s = tl.load(score + i, mask=here, other=0.5).to(tl.float64)
    s = tl.where(s == 0.0, 0.0, s)  # −0.0 is 0.0
    amount = s
    key = tl.load(stratum + i, mask=here, other=0).to(tl.int32) * slots + _bin_of(
        s, probability, center, scale, n_bins
    )
    tl.atomic_add(rows + key, tl.full((block,), 1, tl.int64), mask=here, sem="relaxed")
    if weighted:
        w = tl.load(weights + i, mask=here, other=0.0).to(tl.float64)
        tl.atomic_add(weight + key, _fixed(w), mask=here, sem="relaxed")
        tl.atomic_add(square + key, _fixed(w * w), mask=here, sem="relaxed")
        amount = w * s
    if probability:
        tl.atomic_add(position + key, _fixed(amount), mask=here, sem="relaxed")
    # A look first: few rows are the lowest or the highest of their bin so far.
    lower = here & (s < tl.load(low + key, mask=here, other=0.0))
    higher = here & (s > tl.load(high + key, mask=here, other=0.0))
    tl.atomic_min(low + key, s, mask=lower, sem="relaxed")
    tl.atomic_max(high + key, s, mask=higher, sem="relaxed")


@triton.jit
def _pack(
    score,
    stratum,
    starts,
    packed,
    ends,
    both_ends,
    levels,
    n,
    slots,
    size,
    n_bins: tl.constexpr,
    copies: tl.constexpr,
    filtered: tl.constexpr,
    block: tl.constexpr,
):
    program = tl.program_id(0)
    i = program.to(tl.int64) * block + tl.arange(0, block)
    here = i < n
    single = tl.load(score + i, mask=here, other=0.5).to(tl.float32)
    single = tl.where(single == 0.0, 0.0, single)  # −0.0 is 0.0
    s = single.to(tl.float64)
    steps = _steps(s, n_bins)
    slot = _slot(s, steps, n_bins)
    key = tl.load(stratum + i, mask=here, other=0).to(tl.int32) * slots + slot
    start = tl.load(starts + slot // SHARED).to(tl.uint32, bitcast=True).to(tl.int64)
    # Programs take turns at the copies of a sum, so that fewer wait for one another.
    copy = (program % copies).to(tl.int64) * size
    tl.atomic_add(packed + copy + key, (_fixed(s) - start) + ROW, mask=here, sem="relaxed")
    near = here
    if filtered:
        # A byte of each bin says how near its edges the ends lie: so small a table stays in the cache.
        known = tl.load(levels + key, mask=here, other=0).to(tl.int32)
        part = steps - tl.floor(steps)
        near = here & ((_nearness(part) <= (known & 15)) | (_nearness(1.0 - part) <= (known >> 4)))
    # Scores are not negative: their bits are in their order. Both ends come in one load.
    bits = single.to(tl.int32, bitcast=True)
    both = tl.load(both_ends + key, mask=near, other=0x7FFFFFFF00000000)
    tl.atomic_min(ends + 2 * key, bits, mask=near & (bits < both.to(tl.int32)), sem="relaxed")
    tl.atomic_max(ends + 2 * key + 1, bits, mask=near & (bits > (both >> 32).to(tl.int32)), sem="relaxed")


@triton.jit
def _unpack(
    packed,
    starts,
    ends,
    levels,
    rows,
    position,
    lowest,
    highest,
    size,
    slots,
    n_bins: tl.constexpr,
    copies: tl.constexpr,
    fresh: tl.constexpr,
    block: tl.constexpr,
):
    """Add packed sums to the histogram, clear them, and set the levels of the ends."""
    key = tl.program_id(0) * block + tl.arange(0, block)
    here = key < size
    at = packed + tl.arange(0, copies)[:, None] * size + key[None, :]
    sums = tl.load(at, mask=here[None, :], other=0)
    tl.store(at, tl.zeros((copies, block), tl.int64), mask=here[None, :])
    count, away = tl.sum(sums >> COUNT, 0), tl.sum(sums & (ROW - 1), 0)
    start = tl.load(starts + (key % slots) // SHARED, mask=here, other=0).to(tl.uint32, bitcast=True)
    moved = away + count * start.to(tl.int64)
    if not fresh:
        count += tl.load(rows + key, mask=here, other=0)
        moved += tl.load(position + key, mask=here, other=0)
    tl.store(rows + key, count, mask=here)
    tl.store(position + key, moved, mask=here)
    low, high = tl.load(ends + 2 * key, mask=here, other=0), tl.load(ends + 2 * key + 1, mask=here, other=-1)
    filled = here & (high >= 0)
    least = tl.where(filled, low, 0).to(tl.float32, bitcast=True).to(tl.float64)
    most = tl.where(filled, high, 0).to(tl.float32, bitcast=True).to(tl.float64)
    new_low, new_high = tl.where(filled, least, float("inf")), tl.where(filled, most, float("-inf"))
    if not fresh:
        new_low = tl.minimum(new_low, tl.load(lowest + key, mask=here, other=0.0))
        new_high = tl.maximum(new_high, tl.load(highest + key, mask=here, other=0.0))
    tl.store(lowest + key, new_low, mask=here)
    tl.store(highest + key, new_high, mask=here)
    down, up = _steps(least, n_bins), _steps(most, n_bins)
    near_low = tl.where(filled, _nearness(down - tl.floor(down)), 15)
    near_high = tl.where(filled, _nearness(1.0 - (up - tl.floor(up))), 15)
    tl.store(levels + key, (near_low + 16 * near_high).to(tl.uint8), mask=here)
