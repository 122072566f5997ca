"""What areas and proper scores need of distinct scores on a device.

Strata are rows of ``below`` (n_strata, m + 1): how many of their rows lie below each of m scores, and last
how many there are. Sums over scores are float64 or integers, and the same in every run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import combinations, pairwise
from math import nan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from halftruth._pytorch import Tensor, torch
from halftruth.engines.tensors.sums import BLOCK

EPSILON = float(np.finfo(np.float64).eps)
CHUNK = BLOCK << 15
"""Scores in work at once."""


class Walk(NamedTuple):
    """What a walk down the scores gives, on the host."""

    precision: tuple[float, float, float]
    """Σ precision · pos_mass, and the lowest and the highest precision."""
    pairs: list[float]
    """Twice the pairs in order, of every two strata."""
    positive: NDArray[np.float64]
    """Σ of squared errors and of −log of each stratum, were its rows positive, (n_strata, 2)."""
    negative: NDArray[np.float64]
    """The same, were they negative."""


def walk(
    score: Tensor, below: Tensor, mass: Sequence[float], pos: Sequence[float], neg: Sequence[float]
) -> Walk:
    """All of it by PyTorch's operations, in one synchronisation; losses only where the share is not 0."""
    sides = [(k, of is pos) for of in (pos, neg) for k in range(len(below)) if of[k] != 0]
    pairs = [twice_pairs(x, y) for x, y in combinations(below, 2)]
    lost = [losses(score, below[k], positive=positive) for k, positive in sides]
    found = torch.cat([precisions(below, mass, pos), *pairs, *lost]).tolist()
    both = np.zeros((2, len(below), 2))
    for (k, positive), own in zip(sides, np.reshape(found[3 + len(pairs) :], (-1, 2)), strict=True):
        both[0 if positive else 1, k] = own
    return Walk((found[0], found[1], found[2]), found[3 : 3 + len(pairs)], both[0], both[1])


def chunks(n_scores: int) -> Iterator[tuple[slice, slice]]:
    """The places of some scores, and of those that come after them in ``below``."""
    ends = [*range(0, n_scores, CHUNK), n_scores]
    return ((slice(start, stop), slice(start + 1, stop + 1)) for start, stop in pairwise(ends))


def twice_pairs(x: Tensor, y: Tensor) -> Tensor:
    """Twice the pairs with the row of stratum ``x`` above that of ``y``, ties half; an integer, (1,)."""
    parts = [((2 * x[-1] - x[at] - x[after]) * (y[after] - y[at])).sum() for at, after in chunks(len(x) - 1)]
    return torch.stack(parts).sum(dim=0, keepdim=True)


def losses(score: Tensor, below: Tensor, *, positive: bool) -> Tensor:
    """Σ of squared errors and of −log over the rows of a stratum, were all of one class, (2,)."""
    parts = []
    for at, after in chunks(len(score)):
        rows = below[after] - below[at]
        # Bins without rows may start far beyond the probabilities, where squares are infinite.
        s = score[at].clamp(0, 1)
        miss, hit = (1 - s, s) if positive else (s, 1 - s)
        log = hit.clamp(EPSILON, 1 - EPSILON).log_()
        parts.append(torch.stack([(rows * miss.square()).sum(), -(rows * log).sum()]))
    return torch.stack(parts).sum(dim=0)


def precisions(below: Tensor, mass: Sequence[float], pos: Sequence[float]) -> Tensor:
    """Σ precision · pos_mass, precision clipped to [0, 1], and its extremes before, (3,).

    A row of stratum k adds ``mass[k]`` (0 or 1) and ``pos[k]`` to the masses at its score. Above the highest
    score of the population precision is read there; NaN where there is no population.
    """
    inside = [x for x, share in zip(below, mass, strict=True) if share != 0]
    positive = [(x, share) for x, share in zip(below, pos, strict=True) if share != 0]
    if not inside or not positive:
        return below.new_full((3,), 0.0 if inside else nan, dtype=torch.float64)
    at_top = torch.cat([torch.searchsorted(x, x[-1:]) - 1 for x in inside]).amax(dim=0, keepdim=True)
    top = _reaching(positive, at_top) / _reaching([(x, 1) for x in inside], at_top)
    parts = []
    for at, after in chunks(below.shape[1] - 1):
        predicted = reduce(torch.add, [x[-1] - x[at] for x in inside])
        precision = torch.where(predicted == 0, top, _reaching(positive, at) / predicted)
        own = _combined([(x[after] - x[at], share) for x, share in positive])
        parts.append(torch.stack([(precision.clamp(0, 1) * own).sum(), *torch.aminmax(precision)]))
    area, low, high = torch.stack(parts, dim=1)
    return torch.stack([area.sum(), low.min(), high.max()])


def _reaching(strata: Sequence[tuple[Tensor, float]], at: slice | Tensor) -> Tensor:
    """The mass at or above these scores."""
    return _combined([(x[-1] - x[at], share) for x, share in strata])


def _combined(counts: Sequence[tuple[Tensor, float]]) -> Tensor:
    masses = [rows.to(torch.float64) for rows, _ in counts]
    return reduce(
        torch.add,
        [mass if share == 1 else mass * share for mass, (_, share) in zip(masses, counts, strict=True)],
    )
