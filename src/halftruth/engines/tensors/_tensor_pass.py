"""One pass over the distinct scores on a device: what areas and proper scores need, and sums between cuts.

Strata are rows of ``below`` (n_strata, m + 1): how many of their rows lie below each of m scores, and last
how many there are. Sums over scores are float64 or integers, and the same in every run: no atomics, no
running sums of floating numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from itertools import combinations, pairwise
from math import nan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from halftruth._pytorch import Tensor, functional, torch

__all__ = ["EPSILON", "Level", "PassValues", "between", "block_sums", "chunks", "one_pass", "pyramid"]

EPSILON = float(np.finfo(np.float64).eps)
BLOCK = 512  # neighbours that are added up at once
CHUNK = BLOCK << 15  # scores in work at once


class PassValues(NamedTuple):
    """What one pass down the scores gives, on the host."""

    pr_area: float  # Σ precision · pos_mass
    pairs: list[float]  # twice the pairs in order, of every two strata
    positive: NDArray[np.float64]
    """Σ of squared errors and of −log of each stratum, were its rows positive, (n_strata, 2)."""
    negative: NDArray[np.float64]  # the same, were they negative


def one_pass(
    score: Tensor,
    below: Tensor,
    mass: Sequence[float],
    pos: Sequence[float],
    neg: Sequence[float],
    own: tuple[float, float] = (0.0, 0.0),
) -> PassValues:
    """All of it by PyTorch's operations, in one synchronisation; losses only where the share is not 0."""
    sides = [(k, of is pos) for of in (pos, neg) for k in range(len(below)) if of[k] != 0]
    pairs = [twice_pairs(x, y) for x, y in combinations(below, 2)]
    lost = [losses(score, below[k], positive=positive) for k, positive in sides]
    area, *values = torch.cat([precision_area(below, mass, pos, own), *pairs, *lost]).tolist()
    both = np.zeros((2, len(below), 2))
    for (k, positive), loss in zip(sides, np.reshape(values[len(pairs) :], (-1, 2)), strict=True):
        both[0 if positive else 1, k] = loss
    return PassValues(area, values[: len(pairs)], both[0], both[1])


def chunks(n_scores: int) -> Iterator[tuple[slice, slice]]:
    """The places of some scores, and of those that come after them in ``below``."""
    ends = [*range(0, n_scores, CHUNK), n_scores]
    return ((slice(start, stop), slice(start + 1, stop + 1)) for start, stop in pairwise(ends))


def twice_pairs(x: Tensor, y: Tensor) -> Tensor:
    """Twice the pairs with the row of stratum ``x`` above that of ``y``, ties half; an integer, (1,)."""
    # Above a row of y lie the rows of x that reach its score, less half of those that tie with it.
    pairs = [((2 * x[-1] - x[at] - x[after]) * (y[after] - y[at])).sum() for at, after in chunks(len(x) - 1)]
    return torch.stack(pairs).sum(dim=0, keepdim=True)


def losses(score: Tensor, below: Tensor, *, positive: bool) -> Tensor:
    """Σ of squared errors and of −log over the rows of a stratum, were all of one class, (2,)."""
    by_chunk = []
    for at, after in chunks(len(score)):
        rows = below[after] - below[at]
        # Bins without rows may start far beyond the probabilities, where squares are infinite.
        s = score[at].clamp(0, 1)
        miss, hit = (1 - s, s) if positive else (s, 1 - s)
        log = hit.clamp(EPSILON, 1 - EPSILON).log_()
        by_chunk.append(torch.stack([(rows * miss.square()).sum(), -(rows * log).sum()]))
    return torch.stack(by_chunk).sum(dim=0)


def precision_area(
    below: Tensor, mass: Sequence[float], pos: Sequence[float], own: tuple[float, float]
) -> Tensor:
    """Σ precision · pos_mass, (1,); NaN where there is no population.

    A row of stratum k adds ``mass[k]`` (0 or 1) and ``pos[k]`` to the masses at its score. For precision,
    ``own`` is taken off the positives' mass and added to the population's.
    """
    inside = [x for x, share in zip(below, mass, strict=True) if share != 0]
    positive = [(x, share) for x, share in zip(below, pos, strict=True) if share != 0]
    if not inside or not positive:
        return below.new_full((1,), 0.0 if inside else nan, dtype=torch.float64)
    by_chunk = []
    for at, after in chunks(below.shape[1] - 1):
        predicted = reduce(torch.add, [x[-1] - x[at] for x in inside]) + own[1]
        tp = _combined([(x[-1] - x[at], share) for x, share in positive]) - own[0]
        pos_mass = _combined([(x[after] - x[at], share) for x, share in positive])
        by_chunk.append(torch.where(predicted == 0, 0.0, tp / predicted * pos_mass).sum())
    return torch.stack(by_chunk).sum(dim=0, keepdim=True)


def _combined(counts: Sequence[tuple[Tensor, float]]) -> Tensor:
    # A share of one is no product: it would cost another pass over the rows.
    terms = [(rows.to(torch.float64), share) for rows, share in counts]
    return reduce(torch.add, [mass if share == 1 else mass * share for mass, share in terms])


# --- Sums between cuts ----------------------------------------------------------------------------


class Level(NamedTuple):
    """Numbers (..., size), of which some are read at a time."""

    take: Callable[[Tensor], Tensor]  # indices (...) to the numbers there
    size: int


def block_sums(numbers: Tensor) -> Tensor:
    """Sums (..., ⌈n/512⌉) over blocks of the last axis."""
    missing = -numbers.shape[-1] % BLOCK
    padded = functional.pad(numbers, (0, missing)) if missing else numbers
    return padded.reshape(*padded.shape[:-1], -1, BLOCK).sum(dim=-1)


def pyramid(take: Callable[[Tensor], Tensor], size: int, first: Tensor) -> list[Level]:
    """The numbers themselves, the sums ``first`` of their blocks, the blocks of these, until one is left."""
    levels, higher = [Level(take, size)], first
    while levels[-1].size > BLOCK:
        levels.append(Level(partial(_at, higher), higher.shape[-1]))
        higher = block_sums(higher)
    return levels


def _at(numbers: Tensor, index: Tensor) -> Tensor:
    return numbers[..., index]


def between(levels: Sequence[Level], cut: Tensor) -> Tensor:
    """Sums (..., m − 1) between ``m`` ascending cuts: of whole blocks, and of what sticks out of them."""
    low, high = cut[:-1, None], cut[1:, None]
    step = torch.arange(BLOCK, device=cut.device)
    sums = []
    for level in levels:
        first, last = low // BLOCK, high // BLOCK
        at = torch.cat([first * BLOCK + step, last * BLOCK + step], dim=-1)
        inside = (at >= low) & (at < high)
        inside[:, BLOCK:] &= first != last  # where both ends lie in one block, it is read once
        numbers = level.take(at.clamp_(max=level.size - 1))
        sums.append(torch.where(inside, numbers, 0.0).sum(dim=-1))
        low, high = torch.minimum(first + 1, last), last
    return reduce(torch.add, sums)
