"""Searches over what never falls: the isotonic regression of masses, and labels of tied rows.

Isotonic regression is the greatest convex minorant of the cumulative masses; pooling neighbours whose slopes
fall finds it in one pass (Ayer et al. 1955; Barlow et al. 1972).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from halftruth._checks import Vector
from halftruth.kernels._compiling import Integers, compiled, frozen, padded, three_strata

__all__ = ["best_precisions", "isotonic", "isotonic_rows"]


def isotonic(mass: Vector, pos_mass: Vector) -> tuple[Integers, Vector, Vector]:
    """Pool atoms, in order of their score, until the slopes pos_mass/mass rise.

    The index of each block's first atom, and both masses of the block. An atom without mass has the slope ±∞
    of its ``pos_mass``: it joins its neighbour, unless it is the last (+∞) or the first (−∞).
    """
    first, a, b = _pool(frozen(mass), frozen(pos_mass))
    return first, a, b


def isotonic_rows(strata: Sequence[Vector], mass: Vector, pos: Vector) -> tuple[Vector, ...]:
    """The same of at most three sorted strata; a row of stratum k adds ``mass[k]`` and ``pos[k]``.

    The lowest and the highest score of each block, and both of its masses.
    """
    low, high, of_mass, of_pos = _pool_rows(*three_strata(strata), padded(mass), padded(pos))
    return low, high, of_mass, of_pos


@compiled
def _falls(a: Any, b: Any, mass: Any, pos: Any) -> Any:
    """Whether the slope b/a is not below pos/mass; a slope over nothing is infinite."""
    if a == 0 and mass == 0:
        return np.sign(b) >= np.sign(pos)
    # By products: no division by a mass of 0, and exact where masses are counts.
    return b * mass >= pos * a


@compiled
def _pushed(top: Any, mass: Any, pos: Any, a: Any, b: Any) -> Any:
    """Where in the stack the next atom ends up, its block's sums there."""
    while top > 0 and _falls(a[top - 1], b[top - 1], mass, pos):
        top -= 1
        mass += a[top]
        pos += b[top]
    a[top], b[top] = mass, pos
    return top


@compiled
def _pool(mass: Any, pos: Any) -> Any:
    n = len(mass)
    first = np.empty(n, np.int64)
    a, b = np.empty(n), np.empty(n)
    top = 0
    for i in range(n):
        at = _pushed(top, mass[i], pos[i], a, b)
        if at == top:
            first[at] = i
        top = at + 1
    return first[:top].copy(), a[:top].copy(), b[:top].copy()


@compiled
def _grown(old: Any) -> Any:
    out = np.empty(2 * len(old))
    out[: len(old)] = old
    return out


@compiled
def _pool_rows(x: Any, y: Any, z: Any, mass: Any, pos: Any) -> Any:
    size = 1 << 12
    # A stack of blocks that grows: there are far fewer of them than rows.
    low, high, a, b = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    i = j = k = top = 0
    while i < len(x) or j < len(y) or k < len(z):
        u = x[i] if i < len(x) else np.inf
        v = y[j] if j < len(y) else np.inf
        w = z[k] if k < len(z) else np.inf
        s = min(u, v, w)
        # Rows of one score are one atom.
        p, q, r = i, j, k
        while i < len(x) and x[i] == s:
            i += 1
        while j < len(y) and y[j] == s:
            j += 1
        while k < len(z) and z[k] == s:
            k += 1
        m = mass[0] * (i - p) + mass[1] * (j - q) + mass[2] * (k - r)
        n = pos[0] * (i - p) + pos[1] * (j - q) + pos[2] * (k - r)
        if top == len(a):
            low, high, a, b = _grown(low), _grown(high), _grown(a), _grown(b)
        at = _pushed(top, m, n, a, b)
        if at == top:
            low[at] = s
        high[at] = s
        top = at + 1
    return low[:top].copy(), high[:top].copy(), a[:top].copy(), b[:top].copy()


def best_precisions(low: Any, high: Any, unlabeled: Any, known: Any, population: Any, sign: int) -> float:
    """Σ precision × new true positives over the thresholds, the least (sign 1) or greatest (−1).

    Over all counts of latent positives above each threshold, from ``low`` to ``high``, that never fall and
    never grow by more than the unlabeled rows do.
    """
    arrays = (frozen(x, np.int64) for x in (low, high, unlabeled, known, population))
    return sign * float(_search(*arrays, float(sign)))


@compiled
def _search(low: Any, high: Any, unlabeled: Any, known: Any, population: Any, sign: float) -> float:
    widest = 1
    for g in range(len(low)):
        widest = max(widest, high[g] - low[g] + 1)
    # Dynamic programming down the thresholds: the least sum so far, by the count of positives above.
    best, new = np.full(widest, np.inf), np.full(widest, np.inf)
    best[0] = 0.0
    for g in range(1, len(low)):
        rows = unlabeled[g] - unlabeled[g - 1]
        known_here = known[g] - known[g - 1]
        for x in range(low[g], high[g] + 1):
            precision = sign * (x + known[g]) / population[g] if population[g] > 0 else 0.0
            least = np.inf
            for before in range(max(low[g - 1], x - rows), min(high[g - 1], x) + 1):
                total = best[before - low[g - 1]] + (x - before + known_here) * precision
                least = min(least, total)
            new[x - low[g]] = least
        best, new = new, best
    return float(best[0])
