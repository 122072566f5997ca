"""Random merges of n known and K latent positives: ranks to look at, simulation, quantiles, path counting."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector

Counts = NDArray[np.int64]

KEEP_ALL = 256
"""Up to so many known positives, each of their ranks is a knot."""
BLOCK = 1 << 19
"""Counts held at once."""


def knots(n: int, *, keep: int = KEEP_ALL, per_root: float = 3.0) -> Counts:
    """Ranks of known positives: all of a few; of many, ``per_root`` times √n, denser at both ends.

    A band's width falls as 1/√n, so that the space between knots stays the same part of it.
    """
    number = max(keep, round(per_root * np.sqrt(n)))
    if number >= n:
        return np.arange(1, n + 1)
    share = np.sin(np.linspace(0, np.pi / 2, number)) ** 2
    return np.unique(np.clip(np.round(share * (n + 1)), 1, n)).astype(np.int64)


def simulated(n_known: int, n_latent: int, rank: Counts, n: int, rng: np.random.Generator) -> Counts:
    """Latent positives before the known ones of these ranks, in n random merges: (ranks, n).

    Known positives are order statistics of uniform variables; the latent ones fall between them at random.
    """
    gaps = np.diff(rank, prepend=0).astype(np.float64)
    gap = np.stack([rng.standard_gamma(shape, n) for shape in gaps])
    beyond = np.cumsum(gap[::-1], axis=0)[::-1] + rng.standard_gamma(n_known + 1.0 - rank[-1], n)
    left = np.full(n, n_latent, dtype=np.int64)
    out = np.empty((len(gaps), n), dtype=np.int64)
    for k in range(len(gaps)):
        left = left - rng.binomial(left, gap[k] / beyond[k])
        out[k] = n_latent - left
    return out


def quantiles(n_known: int, n_latent: int, rank: Counts, tail: float) -> tuple[Counts, Counts]:
    """For each rank i, the least x with P(X_i ≤ x) > tail and the greatest with P(X_i ≥ x) > tail.

    X_i, the latent positives before the i-th known one, is beta-binomial(K; i, n + 1 − i).
    """
    i, j = rank.astype(np.float64), n_known + 1.0 - rank
    mean = n_latent * i / (n_known + 1)
    spread = np.sqrt(mean * j / (n_known + 1) * (n_known + 1 + n_latent) / (n_known + 2))
    # Far enough for the long tails of the first and the last ranks.
    reach = (8 + 30 / np.sqrt(np.minimum(i, j))) * spread + 2
    first = np.maximum(np.floor(mean - reach), 0).astype(np.int64)
    last = np.minimum(np.ceil(mean + reach), n_latent).astype(np.int64)
    low, high = np.empty_like(rank), np.empty_like(rank)
    for k in range(len(rank)):
        x = np.arange(first[k], last[k] + 1, dtype=np.float64)
        # Successive odds of the beta-binomial, from x to x + 1.
        rest = n_latent - x[:-1]
        rise = np.log((x[:-1] + i[k]) * rest / ((x[:-1] + 1) * (rest - 1 + j[k])))
        log_mass = np.append(0.0, np.cumsum(rise))
        mass = np.exp(log_mass - log_mass.max())
        mass /= mass.sum()
        for limit, out, step in ((first, low, 1), (last, high, -1)):
            # A chance that is the tail but for rounding is not above it.
            within_tail = np.searchsorted(np.cumsum(mass[::step]), tail * (1 + 1e-9), side="right")
            out[k] = limit[k] + step * within_tail
    return low, high


def strangeness(x: Counts, rank: Counts, n_known: int, n_latent: int) -> Vector:
    """How far x latent positives are from what a rank leads one to expect; (ranks, …), 0 is as expected.

    The log likelihood ratio of two shares, i − ½ of n and x of K, against one. Near exp(−this) is the chance
    of so strange a count, so that all ranks are judged alike.
    """
    known: Vector = (rank.astype(np.float64) - 0.5).reshape(-1, *[1] * (x.ndim - 1))
    total = n_known + n_latent
    fixed = _entropy(known) + _entropy(n_known - known)
    fixed += total * np.log(total) - n_known * np.log(n_known) - n_latent * np.log(n_latent)
    found = x.astype(np.float64)
    out = _entropy(found)
    out += _entropy(n_latent - found)
    found += known
    out -= _entropy(found)
    out -= _entropy(total - found)
    out += fixed
    return np.asarray(out)


def _entropy(x: Vector) -> Vector:
    """X log x of numbers that are 0 or at least ½."""
    return np.asarray(x * np.log(np.maximum(x, 0.5)))


def within(low: Counts, high: Counts, n_latent: int) -> float:
    """The share of all merges that keep within limits at every point, by counting paths.

    ``low[i]`` and ``high[i]`` hold for every count of latent positives seen while i known ones have been.
    """
    x = np.arange(n_latent + 1)
    paths = (x == 0).astype(np.float64)
    for least, most in zip(low, high, strict=True):
        allowed = (x >= least) & (x <= most)
        paths = np.where(allowed, np.cumsum(np.where(allowed, paths, 0.0)), 0.0)
    return float(paths[n_latent] / math.comb(len(low) - 1 + n_latent, n_latent))
