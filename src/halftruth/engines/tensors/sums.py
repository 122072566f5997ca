"""Sums of floating numbers on a device that are the same in every run: no atomics, no running sums."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import NamedTuple

from halftruth._pytorch import Tensor, functional, torch

BLOCK = 512
"""Neighbours that are added up at once."""


class Level(NamedTuple):
    """Numbers (..., size), of which some are read at a time."""

    take: Callable[[Tensor], Tensor]
    """Indices (...) to the numbers there."""
    size: int


def blocks(numbers: Tensor) -> Tensor:
    """Sums (..., ⌈n/512⌉) over blocks of the last axis."""
    missing = -numbers.shape[-1] % BLOCK
    padded = functional.pad(numbers, (0, missing)) if missing else numbers
    return padded.reshape(*padded.shape[:-1], -1, BLOCK).sum(dim=-1)


def levels(take: Callable[[Tensor], Tensor], size: int, first: Tensor) -> list[Level]:
    """The numbers themselves, the sums ``first`` of their blocks, the blocks of these, until one is left."""
    out, own = [Level(take, size)], first
    while out[-1].size > BLOCK:
        out.append(Level(partial(_at, own), own.shape[-1]))
        own = blocks(own)
    return out


def _at(numbers: Tensor, index: Tensor) -> Tensor:
    return numbers[..., index]


def between(pyramid: Sequence[Level], cut: Tensor) -> Tensor:
    """Sums (..., m − 1) between ``m`` ascending cuts: of whole blocks, and of what sticks out of them."""
    low, high = cut[:-1, None], cut[1:, None]
    step = torch.arange(BLOCK, device=cut.device)
    parts = []
    for level in pyramid:
        first, last = low // BLOCK, high // BLOCK
        at = torch.cat([first * BLOCK + step, last * BLOCK + step], dim=-1)
        inside = (at >= low) & (at < high)
        inside[:, BLOCK:] &= first != last
        numbers = level.take(at.clamp_(max=level.size - 1))
        parts.append(torch.where(inside, numbers, 0.0).sum(dim=-1))
        low, high = torch.minimum(first + 1, last), last
    return reduce(torch.add, parts)
