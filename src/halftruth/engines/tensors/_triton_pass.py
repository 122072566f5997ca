"""Triton kernels that read rows, or distinct scores, of a CUDA device once; PyTorch would launch a hundred.

Programs add up parts of fixed size, and their sums are added in a fixed order: every run gives the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import lru_cache, wraps
from math import nan
from typing import ParamSpec, TypeVar

import numpy as np
import triton
import triton.language as tl

from halftruth._pytorch import Tensor, torch
from halftruth.engines.tensors._tensor_pass import EPSILON, PassValues
from halftruth.table._groups import OUTSIDE, STRATA

__all__ = ["means", "moments", "on_its_device", "one_pass", "survey"]

P = ParamSpec("P")
T = TypeVar("T")

BLOCK = 1024
MOST_PROGRAMS = 1 << 11
FEW = 1 << 20  # scores so few that the blocks are made smaller, for all of the device to have some
LEAST, MOST = tl.constexpr(EPSILON), tl.constexpr(1 - EPSILON)


def on_its_device(call: Callable[P, T]) -> Callable[P, T]:
    """Triton launches on the current device: make that the one of the first tensor that is passed.

    Tensors of the processor need none: Triton's interpreter reads them.
    """

    @wraps(call)
    def launched(*args: P.args, **kwargs: P.kwargs) -> T:
        device = next(x.device for x in args if isinstance(x, Tensor))
        with torch.cuda.device(device) if device.type == "cuda" else nullcontext():
            return call(*args, **kwargs)

    return launched


@on_its_device
def one_pass(
    score: Tensor,
    below: Tensor,
    n_rows: Sequence[int],
    mass: Sequence[float],
    pos: Sequence[float],
    own: tuple[float, float] = (0.0, 0.0),
) -> PassValues:
    """What `_tensor_pass.one_pass` gives, by one kernel and in one synchronisation."""
    m = len(score)
    block = BLOCK if m >= FEW else BLOCK // 4
    blocks = triton.cdiv(triton.cdiv(m, block), MOST_PROGRAMS)
    programs = triton.cdiv(m, block * blocks)
    parts = torch.empty((16, programs), dtype=torch.float64, device=score.device)
    counts, masses, shares = ([*numbers, *[0] * (3 - len(below))] for numbers in (n_rows, mass, pos))
    shares_there = _there((*masses, *shares, *own), score.device)
    _one_pass[(programs,)](
        score, below, *counts, shares_there, parts, m, programs, blocks, n_strata=len(below), block=block
    )
    area, *values = finished(parts, n_sums=16)
    both = np.reshape(values[:12], (3, 2, 2))[: len(below)]
    ordered = {1: [], 2: values[12:13], 3: values[12:15]}[len(below)]
    return PassValues(area if any(masses) else nan, ordered, both[:, 0], both[:, 1])


@lru_cache(maxsize=64)
def _there(numbers: tuple[float, ...], device: torch.device) -> Tensor:
    return torch.tensor(numbers, dtype=torch.float64, device=device)


def finished(parts: Tensor, n_sums: int) -> list[float]:
    """Sums of the first rows of what programs found (n_rows, n_programs), the largest of the others."""
    host = parts.cpu().numpy()
    return [*host[:n_sums].sum(axis=1).tolist(), *host[n_sums:].max(axis=1).tolist()]


@triton.jit
def _stratum(below, i, here, n, mass, pos):
    """Of a stratum of n rows: the rows at each score, twice those above it, and the masses that add up.

    These are the population that reaches the score, the positives that reach it, and those at it. Ties count
    half: above are the rows that reach the score and those beyond it.
    """
    before, after = tl.load(below + i, mask=here, other=0), tl.load(below + i + 1, mask=here, other=0)
    rows, reaching, beyond = after - before, n - before, n - after  # in 64 bits, which twice n might not be
    return (
        rows,
        reaching + beyond,
        mass * reaching.to(tl.float64),
        pos * reaching.to(tl.float64),
        pos * rows.to(tl.float64),
    )


@triton.jit
def _losses(square, log, other_square, other_log, rows, s):
    """The sums with the losses of these rows added: were they positive, and were they negative."""
    weight, miss, hit = rows.to(tl.float64), 1.0 - s, s
    square += weight * (miss * miss)
    log += weight * -tl.log(tl.minimum(tl.maximum(hit, LEAST), MOST))
    other_square += weight * (hit * hit)
    other_log += weight * -tl.log(tl.minimum(tl.maximum(miss, LEAST), MOST))
    return square, log, other_square, other_log


@triton.jit
def _one_pass(
    score, below, nx, ny, nz, shares, parts, m, programs, blocks, n_strata: tl.constexpr, block: tl.constexpr
):
    """What each program adds up: see `one_pass` for the rows of ``parts``. x, y and z are the strata."""
    program = tl.program_id(0)
    a0, a1, a2 = tl.load(shares), tl.load(shares + 1), tl.load(shares + 2)
    b0, b1, b2 = tl.load(shares + 3), tl.load(shares + 4), tl.load(shares + 5)
    own_pos, own_mass = tl.load(shares + 6), tl.load(shares + 7)
    zero = tl.zeros((block,), tl.float64)
    area = zero
    # Squares p and logs l of each stratum, were its rows positive; q and k, were they negative.
    px, lx, qx, kx = zero, zero, zero, zero
    py, ly, qy, ky = zero, zero, zero, zero
    pz, lz, qz, kz = zero, zero, zero, zero
    xy, xz, yz = zero.to(tl.int64), zero.to(tl.int64), zero.to(tl.int64)
    for k in range(blocks):
        i = (program.to(tl.int64) * blocks + k) * block + tl.arange(0, block)
        here = i < m
        # Bins without rows may start far beyond the probabilities, where squares are infinite.
        s = tl.minimum(tl.maximum(tl.load(score + i, mask=here, other=0.5), 0.0), 1.0)
        x, above_x, predicted, reached, pos_mass = _stratum(below, i, here, nx, a0, b0)
        px, lx, qx, kx = _losses(px, lx, qx, kx, x, s)
        if n_strata > 1:
            y, above_y, more, positive, at = _stratum(below + (m + 1), i, here, ny, a1, b1)
            predicted, reached, pos_mass = predicted + more, reached + positive, pos_mass + at
            py, ly, qy, ky = _losses(py, ly, qy, ky, y, s)
            xy += above_x * y
        if n_strata > 2:
            z, _, more, positive, at = _stratum(below + (m + 1) + (m + 1), i, here, nz, a2, b2)
            predicted, reached, pos_mass = predicted + more, reached + positive, pos_mass + at
            pz, lz, qz, kz = _losses(pz, lz, qz, kz, z, s)
            xz += above_x * z
            yz += above_y * z
        reaching, reached = predicted + own_mass, reached - own_pos
        some = here & (reaching != 0.0)
        area += tl.where(some, reached / tl.where(some, reaching, 1.0) * pos_mass, 0.0)
    _put(parts, 0, programs, area)
    _put_four(parts, 1, programs, px, lx, qx, kx)
    _put_four(parts, 5, programs, py, ly, qy, ky)
    _put_four(parts, 9, programs, pz, lz, qz, kz)
    _put(parts, 13, programs, xy)
    _put(parts, 14, programs, xz)
    _put(parts, 15, programs, yz)


@triton.jit
def _put(parts, row, programs, numbers):
    tl.store(parts + row * programs + tl.program_id(0), tl.sum(numbers).to(tl.float64))


@triton.jit
def _put_four(parts, row, programs, one, two, three, four):
    _put(parts, row, programs, one)
    _put(parts, row + 1, programs, two)
    _put(parts, row + 2, programs, three)
    _put(parts, row + 3, programs, four)


@on_its_device
def moments(score: Tensor, below: Tensor, inside: Sequence[bool], n_rows: int, n_bins: int) -> Tensor:
    """n, Σ s and Σ s² of each stratum in bins of equal population mass, (n_strata, 3, n_bins).

    A bin ends at an order statistic of the population: the strata that are ``inside`` it, of ``n_rows``.
    """
    out = torch.empty((len(below), 3, n_bins), dtype=torch.float64, device=score.device)
    population = [*inside, False, False][:3]
    _moments[(n_bins, len(below))](score, below, out, len(score), n_rows, n_bins, *population, block=BLOCK)
    return out


@triton.jit
def _first(below, m, rank, x: tl.constexpr, y: tl.constexpr, z: tl.constexpr):
    """The first of the m + 1 places with so many rows of the population below it."""
    low = rank * 0
    high = low + m
    while low < high:
        middle = (low + high) // 2
        n_below = low * 0
        if x:
            n_below += tl.load(below + middle)
        if y:
            n_below += tl.load(below + (m + 1) + middle)
        if z:
            n_below += tl.load(below + (m + 1) + (m + 1) + middle)
        reached = n_below >= rank
        high = tl.where(reached, middle, high)
        low = tl.where(reached, low, middle + 1)
    return low


@triton.jit
def _moments(
    score, below, out, m, n, n_bins, x: tl.constexpr, y: tl.constexpr, z: tl.constexpr, block: tl.constexpr
):
    program, stratum = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    start = tl.where(program == 0, 0, _first(below, m, program * n // n_bins, x, y, z))
    stop = tl.where(program == n_bins - 1, m, _first(below, m, (program + 1) * n // n_bins, x, y, z))
    below += stratum * (m + 1)
    out += stratum * 3 * n_bins
    first = tl.zeros((block,), tl.float64)
    second = tl.zeros((block,), tl.float64)
    for at in range(start, stop, block):
        i = at + tl.arange(0, block)
        here = i < stop
        s = tl.load(score + i, mask=here, other=0.0)
        before, after = tl.load(below + i, mask=here, other=0), tl.load(below + i + 1, mask=here, other=0)
        weighed = (after - before).to(tl.float64) * s
        first += weighed
        second += weighed * s
    tl.store(out + program, (tl.load(below + stop) - tl.load(below + start)).to(tl.float64))
    tl.store(out + n_bins + program, tl.sum(first))
    tl.store(out + 2 * n_bins + program, tl.sum(second))


@on_its_device
def means(state: Mapping[str, Tensor], starts: Tensor) -> Tensor:
    """The mean score of each bin's rows, of all three strata; where there are none, where the bin starts."""
    m = len(starts)
    out = torch.empty(m, dtype=torch.float64, device=starts.device)
    _means[(triton.cdiv(m, BLOCK),)](
        state["rows"],
        state.get("position", state["rows"]),
        state["low"],
        state["high"],
        starts,
        out,
        m,
        placed="position" in state,
        block=BLOCK,
    )
    return out


@triton.jit
def _means(rows, position, low, high, starts, out, m, placed: tl.constexpr, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    here = i < m
    weight = tl.zeros((block,), tl.float64)
    total = tl.zeros((block,), tl.float64)
    least, most = weight + float("inf"), weight - float("inf")
    for k in tl.static_range(3):
        at = k * m + i
        weight += (tl.load(rows + at, mask=here, other=0) << 32).to(tl.float64)
        total += tl.load(position + at, mask=here, other=0).to(tl.float64)
        least = tl.minimum(least, tl.load(low + at, mask=here, other=0.0))
        most = tl.maximum(most, tl.load(high + at, mask=here, other=0.0))
    filled = weight > 0.0
    mean = (
        tl.where(filled, total / tl.where(filled, weight, 1.0), 0.0) if placed else least / 2.0 + most / 2.0
    )
    mean = tl.minimum(tl.maximum(mean, least), most)
    tl.store(out + i, tl.where(filled, mean, tl.load(starts + i, mask=here, other=0.0)), mask=here)


# --- Rows -----------------------------------------------------------------------------------------


@on_its_device
def survey(score: Tensor, label: Tensor, code: float | None) -> tuple[Tensor, list[float]]:
    """The index of each row's stratum (n,), and the facts: rows of each stratum, −lowest and highest score.

    The highest score is infinite where one is not finite. ``code`` is another label of unlabeled rows.
    """
    stratum = torch.empty(len(score), dtype=torch.uint8, device=score.device)
    blocks = triton.cdiv(triton.cdiv(len(score), BLOCK), MOST_PROGRAMS)
    programs = triton.cdiv(len(score), BLOCK * blocks)
    facts = torch.empty((2 + len(STRATA), programs), dtype=torch.float64, device=score.device)
    label = label.view(torch.uint8) if label.dtype == torch.bool else label
    _survey[(programs,)](
        score.contiguous(),
        label.contiguous(),
        stratum,
        facts,
        len(score),
        programs,
        blocks,
        coded=code is not None,
        code=0.0 if code is None else code,
        outside=OUTSIDE,
        block=BLOCK,
        num_warps=8,
    )
    return stratum, finished(facts, n_sums=len(STRATA))


@triton.jit
def _survey(
    score,
    label,
    stratum,
    facts,
    n,
    programs,
    blocks,
    coded: tl.constexpr,
    code: tl.constexpr,
    outside: tl.constexpr,
    block: tl.constexpr,
):
    program = tl.program_id(0)
    none = tl.zeros((block,), tl.float32).to(score.dtype.element_ty) - float("inf")
    least, most = none, none
    counts = tl.zeros((block,), tl.int64)
    for k in range(blocks):
        i = (program.to(tl.int64) * blocks + k) * block + tl.arange(0, block)
        here = i < n
        s = tl.load(score + i, mask=here, other=0.0)
        y = tl.load(label + i, mask=here, other=0)
        of = tl.where(y == 1, 0, tl.where(y == 0, 2, tl.where(y != y, 1, outside)))
        if coded:
            # A bare constant would be rounded to float32 first, where −0.1 is no −0.1.
            of = tl.where(y.to(tl.float64) == tl.full([1], code, tl.float64), 1, of)
        tl.store(stratum + i, of.to(tl.uint8), mask=here)
        s = tl.where((s - s) == 0.0, s, float("inf"))
        least = tl.maximum(least, tl.where(here, -s, float("-inf")))
        most = tl.maximum(most, tl.where(here, s, float("-inf")))
        # Three counts in one number: a lane sees no more than 2¹⁹ rows.
        counts += tl.where(here & (of < outside), tl.full((block,), 1, tl.int64) << (20 * of).to(tl.int64), 0)
    for k in tl.static_range(3):
        rows = tl.sum((counts >> (20 * k)) & 0xFFFFF)
        tl.store(facts + k * programs + program, rows.to(tl.float64))
    tl.store(facts + 3 * programs + program, tl.max(least).to(tl.float64))
    tl.store(facts + 4 * programs + program, tl.max(most).to(tl.float64))
