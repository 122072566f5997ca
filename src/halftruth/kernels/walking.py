"""Walks up sorted strata: running sums, and how many rows lie at or below a rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from halftruth._checks import Vector
from halftruth.kernels.compiling import Integers, compiled, each
from halftruth.kernels.folding import _cuts, _padded, _ranked, _three


def cumulative_extremes(strata: Sequence[Vector], mass: Vector, pos: Vector) -> tuple[float, float]:
    """The lowest and the highest of Σ_{s ≤ t} (s · mass − pos_mass) over t, 0 included.

    At most three sorted strata; a row of stratum k adds ``mass[k]`` and ``pos[k]`` at its score.
    """
    rows, a, b = _three(strata), _padded(mass), _padded(pos)
    before = low = high = 0.0
    for total, lowest, highest in each(_climb, ((*rows, cut, a, b) for cut in _cuts(rows))):
        low, high = min(low, before + lowest), max(high, before + highest)
        before += total
    return low, high


@compiled
def _climb(x: Any, y: Any, z: Any, cut: Any, a: Any, b: Any) -> Any:
    """The sum over one chunk, and its lowest and highest value on the way."""
    (i, j, k), (x1, y1, z1) = cut
    total = low = high = 0.0
    while i < x1 or j < y1 or k < z1:
        u = x[i] if i < x1 else np.inf
        v = y[j] if j < y1 else np.inf
        w = z[k] if k < z1 else np.inf
        s = min(u, v, w)
        # Rows of one score move together.
        while i < x1 and x[i] == s:
            total += a[0] * s - b[0]
            i += 1
        while j < y1 and y[j] == s:
            total += a[1] * s - b[1]
            j += 1
        while k < z1 and z[k] == s:
            total += a[2] * s - b[2]
            k += 1
        low, high = min(low, total), max(high, total)
    return total, low, high


def order_statistics(strata: Sequence[Vector], inside: Sequence[bool], ranks: Integers) -> Vector:
    """The scores of these ranks among the rows of the sorted strata that are ``inside`` the population.

    1 stands for the smallest; −inf is returned for rank 0.
    """
    rows = _three(strata)
    members = [*inside, False, False, False]
    population = [part if member else part[:0] for part, member in zip(rows, members, strict=False)]
    return np.asarray(_ranked(*population, np.ascontiguousarray(ranks, dtype=np.int64)))


def counts_at_ranks(strata: Sequence[Vector], inside: Sequence[bool], ranks: Integers) -> list[Integers]:
    """Rows of each sorted stratum that do not exceed the order statistics of these ranks."""
    edges = order_statistics(strata, inside, ranks)
    return [np.searchsorted(part, edges, side="right") for part in _three(strata)[: len(strata)]]
