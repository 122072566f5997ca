"""Walks along sorted strata, or along a measure's atoms: areas and losses in one pass, bins, ranks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import fsum
from typing import Any

import numpy as np

from halftruth._checks import Vector
from halftruth.kernels._compiling import (
    BLOCK,
    Integers,
    chunks_of,
    compiled,
    each,
    frozen,
    padded,
    three_strata,
)
from halftruth.kernels._pass_sums import PassSums

__all__ = [
    "atom_sums",
    "counts_at_ranks",
    "cumulative_extremes",
    "mass_moments",
    "order_statistics",
    "pass_sums",
]

EPSILON = float(np.finfo(np.float64).eps)


def pass_sums(
    strata: Sequence[Vector],
    mass: Vector,
    pos: Vector,
    neg: Vector,
    own: tuple[float, float] = (0.0, 0.0),
    *,
    bounded: bool,
) -> PassSums:
    """One walk down at most three sorted strata of rows without weights.

    A row of stratum k adds ``mass[k]`` (0 or 1), ``pos[k]`` and ``neg[k]`` to the masses at its score.
    Of precision's two masses, ``own`` is taken off the positives' and added to the population's.
    """
    rows = three_strata(strata)
    a, b, d = padded(mass), padded(pos), padded(neg)
    n = np.asarray([len(stratum) for stratum in rows])
    own = float(own[0]), float(own[1])
    walks = each(_walk, ((*rows, cut, a, b, own) for cut in _cuts(rows)))
    # Twice the pairs with the row of stratum j above that of k, ties half: the ROC area is linear in them.
    twice = np.diag(n.astype(np.float64) ** 2)
    pairs = np.sum([walk[:3] for walk in walks], axis=0)
    for j, k, ordered in zip((0, 0, 1), (1, 2, 2), pairs, strict=True):
        twice[j, k], twice[k, j] = ordered, 2 * n[j] * n[k] - ordered
    square, log = _losses(rows, b, d) if bounded else (np.nan, np.nan)
    return PassSums(
        positives=float(b @ n),
        negatives=float(d @ n),
        total=float(a @ n),
        roc_area=float(b @ twice @ d) / 2,
        pr_area=fsum(walk[3] for walk in walks) if a @ n else np.nan,
        square_loss=square,
        log_loss=log,
    )


def _cuts(rows: Sequence[Vector]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Where each chunk starts and stops in each stratum; no score lies in two chunks."""
    ends = [stop for _, stop in chunks_of(sum(len(stratum) for stratum in rows))]
    score = _ranked(*rows, np.asarray(ends))
    stops = np.stack([np.searchsorted(stratum, score, side="right") for stratum in rows], axis=1).tolist()
    return list(pairwise([(0, 0, 0), *(tuple(stop) for stop in stops)]))


@compiled
def _ranked(x: Any, y: Any, z: Any, ranks: Any) -> Any:
    """The scores of these ranks (1 for the smallest) among three sorted strata; −inf for rank 0."""
    out = np.empty(len(ranks))
    for r in range(len(ranks)):
        i = j = k = 0
        left, last = ranks[r], -np.inf
        while left > 0:
            # Of three runs of a third of the rows, the one that ends lowest lies below the rank.
            step = max(left // 3, 1)
            p, q, s = min(i + step, len(x)), min(j + step, len(y)), min(k + step, len(z))
            u = x[p - 1] if p > i else np.inf
            v = y[q - 1] if q > j else np.inf
            w = z[s - 1] if s > k else np.inf
            last = min(u, v, w)
            if u == last:
                left, i = left - (p - i), p
            elif v == last:
                left, j = left - (q - j), q
            else:
                left, k = left - (s - k), s
        # The score of the rank is the highest of those that lie below it, in whichever stratum.
        for stratum, at in ((x, i), (y, j), (z, k)):
            if at > 0:
                last = max(last, stratum[at - 1])
        out[r] = last
    return out


@compiled
def _walk(x: Any, y: Any, z: Any, cut: Any, a: Any, b: Any, own: Any) -> Any:
    """Twice the pairs in order, and Σ precision · pos, down one chunk."""
    (x0, y0, z0), (i, j, k) = cut
    nx, ny, nz = len(x), len(y), len(z)
    xy = xz = yz = 0
    area = lost = 0.0
    while i > x0 or j > y0 or k > z0:
        u = x[i - 1] if i > x0 else -np.inf
        v = y[j - 1] if j > y0 else -np.inf
        w = z[k - 1] if k > z0 else -np.inf
        s = max(u, v, w)
        p, q, r = i, j, k
        while i > x0 and x[i - 1] == s:
            i -= 1
        while j > y0 and y[j - 1] == s:
            j -= 1
        while k > z0 and z[k - 1] == s:
            k -= 1
        # Twice the rows above, ties once.
        xs, ys = 2 * nx - p - i, 2 * ny - q - j
        xy += xs * (q - j)
        xz += xs * (r - k)
        yz += ys * (r - k)
        predicted = a[0] * (nx - i) + a[1] * (ny - j) + a[2] * (nz - k) + own[1]
        tp = b[0] * (nx - i) + b[1] * (ny - j) + b[2] * (nz - k) - own[0]
        precision = tp / predicted if predicted != 0 else 0.0
        term = precision * (b[0] * (p - i) + b[1] * (q - j) + b[2] * (r - k))
        # Kahan's compensated sum: millions of small terms would lose digits to the area.
        term -= lost
        grown = area + term
        lost = (grown - area) - term
        area = grown
    return xy, xz, yz, area


def _losses(rows: Sequence[Vector], pos: Vector, neg: Vector) -> tuple[float, float]:
    """Σ of squared errors and of −log, both linear in the rows of each stratum."""
    jobs = [
        (stratum[start:stop], factor, positive)
        for stratum, b, d in zip(rows, pos, neg, strict=True)
        for factor, positive in ((b, True), (d, False))
        if factor != 0
        for start, stop in chunks_of(len(stratum))
    ]
    sums = each(_loss, jobs)
    return fsum(square for square, _ in sums), fsum(log for _, log in sums)


@compiled
def _loss(score: Any, factor: Any, positive: Any) -> Any:
    square = log = 0.0
    for start in range(0, len(score), BLOCK):
        in_square = in_log = 0.0
        for i in range(start, min(start + BLOCK, len(score))):
            miss = 1 - score[i] if positive else score[i]
            hit = score[i] if positive else 1 - score[i]
            in_square += miss * miss
            in_log -= np.log(min(max(hit, EPSILON), 1 - EPSILON))
        square += in_square
        log += in_log
    return factor * square, factor * log


def atom_sums(
    score: Vector,
    mass: Vector,
    pos: Vector,
    neg: Vector,
    own: tuple[float, float] = (0.0, 0.0),
    *,
    bounded: bool,
) -> PassSums:
    """The same of atoms in order of their score; a precision of 0/0 at the top is read at the next atom."""
    columns = [frozen(x) for x in (score, mass, pos, neg)]
    chunks = chunks_of(len(score))
    totals = np.asarray(each(_totals, ((*(x[a:b] for x in columns[1:]),) for a, b in chunks)))
    # What lies above each chunk: walks go down from the highest score.
    above = np.cumsum(totals[::-1], axis=0)[::-1] - totals
    own = float(own[0]), float(own[1])
    jobs = [
        (*(x[a:b] for x in columns), tuple(over), own) for (a, b), over in zip(chunks, above, strict=True)
    ]
    walks = each(_walk_atoms, jobs)
    areas, waiting = [], 0.0
    for _, area, early, precision in walks[::-1]:
        waiting += early
        if not np.isnan(precision):
            areas += [area, waiting * precision if waiting else 0.0]
            waiting = 0.0
    losses = each(_atom_losses, [job[:4] for job in jobs]) if bounded else [(np.nan, np.nan)]
    total, positives, negatives = totals.sum(axis=0).tolist()
    return PassSums(
        positives=positives,
        negatives=negatives,
        total=total,
        roc_area=fsum(walk[0] for walk in walks),
        pr_area=np.nan if waiting else fsum(areas),
        square_loss=fsum(x for x, _ in losses),
        log_loss=fsum(x for _, x in losses),
    )


@compiled
def _totals(mass: Any, pos: Any, neg: Any) -> Any:
    """Sums by blocks, so that rounding does not grow with the atoms."""
    total = positives = negatives = 0.0
    for start in range(0, len(mass), BLOCK):
        a = b = d = 0.0
        for i in range(start, min(start + BLOCK, len(mass))):
            a += mass[i]
            b += pos[i]
            d += neg[i]
        total += a
        positives += b
        negatives += d
    return total, positives, negatives


@compiled
def _walk_atoms(score: Any, mass: Any, pos: Any, neg: Any, above: Any, own: Any) -> Any:
    """∫ TP d(μ − μ₁) and ∫ precision dμ₁ down one chunk.

    And μ₁ above any population, of which the precision is read at the first score with some: that one, too.
    """
    a, b, _ = above
    a, b = a + own[1], b - own[0]
    roc = area = early = 0.0
    first = np.nan
    stop = len(score)
    while stop > 0:
        start = max(stop - BLOCK, 0)
        in_roc = in_area = in_a = in_b = 0.0
        for i in range(stop - 1, start - 1, -1):
            in_roc += (b + own[0] + in_b + pos[i] / 2) * neg[i]
            in_a += mass[i]
            in_b += pos[i]
            if a + in_a != 0:
                precision = (b + in_b) / (a + in_a)
                in_area += precision * pos[i]
                if np.isnan(first):
                    first = precision
            else:
                early += pos[i]
        roc += in_roc
        area += in_area
        a += in_a
        b += in_b
        stop = start
    return roc, area, early, first


@compiled
def _atom_losses(score: Any, mass: Any, pos: Any, neg: Any) -> Any:
    square = log = 0.0
    for start in range(0, len(score), BLOCK):
        in_square = in_log = 0.0
        for i in range(start, min(start + BLOCK, len(score))):
            s = score[i]
            in_square += (1 - s) * (1 - s) * pos[i] + s * s * neg[i]
            if pos[i] != 0:
                in_log -= np.log(min(max(s, EPSILON), 1 - EPSILON)) * pos[i]
            if neg[i] != 0:
                in_log -= np.log(min(max(1 - s, EPSILON), 1 - EPSILON)) * neg[i]
        square += in_square
        log += in_log
    return square, log


def mass_moments(strata: Sequence[Vector], inside: Sequence[bool], n_bins: int) -> list[Vector]:
    """n, Σ s and Σ s² (3, n_bins) of each of at most three sorted strata over bins of equal population mass.

    A bin ends at an order statistic of the population, the rows of the strata that are ``inside`` it.
    """
    n = sum(len(stratum) for stratum, member in zip(strata, inside, strict=True) if member)
    ranks = np.asarray([n * i // n_bins for i in range(1, n_bins)], dtype=np.int64)
    counts = counts_at_ranks(strata, inside, ranks)
    out = []
    for stratum, below in zip(three_strata(strata), counts, strict=False):
        cuts = np.concatenate([[0], below, [len(stratum)]])
        sums = each(_segment, ((stratum[a:b],) for a, b in pairwise(cuts.tolist())))
        out.append(np.vstack([np.diff(cuts), np.asarray(sums).T]))
    return out


@compiled
def _segment(score: Any) -> Any:
    """Σ s and Σ s², by blocks, so that rounding does not grow with the rows."""
    first = second = 0.0
    for start in range(0, len(score), BLOCK):
        a = b = 0.0
        for i in range(start, min(start + BLOCK, len(score))):
            a += score[i]
            b += score[i] * score[i]
        first += a
        second += b
    return first, second


def cumulative_extremes(strata: Sequence[Vector], mass: Vector, pos: Vector) -> tuple[float, float]:
    """The lowest and the highest of Σ_{s ≤ t} (s · mass − pos_mass) over t, 0 included.

    At most three sorted strata; a row of stratum k adds ``mass[k]`` and ``pos[k]`` at its score.
    """
    rows, a, b = three_strata(strata), padded(mass), padded(pos)
    before = low = high = 0.0
    # Extremes within a chunk start from 0; the sum of the chunks before it moves them.
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
    population = [stratum if member else stratum[:0] for stratum, member in zip(strata, inside, strict=True)]
    return np.asarray(_ranked(*three_strata(population), np.ascontiguousarray(ranks, dtype=np.int64)))


def counts_at_ranks(strata: Sequence[Vector], inside: Sequence[bool], ranks: Integers) -> list[Integers]:
    """Rows of each sorted stratum that do not exceed the order statistics of these ranks."""
    edges = order_statistics(strata, inside, ranks)
    return [np.searchsorted(stratum, edges, side="right") for stratum in strata]
