"""A Triton kernel that sees every row of CUDA tensors once: its stratum, and what the host has to know."""

from __future__ import annotations

import triton
import triton.language as tl

from halftruth._pytorch import Tensor, torch
from halftruth.engines.tensors.launching import on_its_device
from halftruth.engines.tensors.passes import MOST_PROGRAMS, finished
from halftruth.table._groups import OUTSIDE, STRATA

BLOCK = 1024


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
            of = tl.where(y.to(tl.float64) == code, 1, of)
        tl.store(stratum + i, of.to(tl.uint8), mask=here)
        s = tl.where((s - s) == 0.0, s, float("inf"))
        least = tl.maximum(least, tl.where(here, -s, float("-inf")))
        most = tl.maximum(most, tl.where(here, s, float("-inf")))
        # Three counts in one number: a lane sees no more than 2¹⁹ rows.
        counts += tl.where(here & (of < outside), tl.full((block,), 1, tl.int64) << (20 * of).to(tl.int64), 0)
    for k in tl.static_range(3):
        own = tl.sum((counts >> (20 * k)) & 0xFFFFF)
        tl.store(facts + k * programs + program, own.to(tl.float64))
    tl.store(facts + 3 * programs + program, tl.max(least).to(tl.float64))
    tl.store(facts + 4 * programs + program, tl.max(most).to(tl.float64))
