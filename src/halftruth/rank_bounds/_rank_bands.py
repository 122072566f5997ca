"""Bands for the ranks of the latent positives, in counts.

Which of the positives are known is chance (SCAR). With n known and K latent ones, every order in which they
can be merged is equally likely, whatever the scores: the number of latent positives before the i-th known one
is X_i ~ beta-binomial(K; i, n + 1 − i). A threshold with i known positives at or above it has between X_i and
X_{i+1} latent ones there, so limits on all X_i are a band for the curve that was realised.
The bands of Claesen et al. (2015) are those of one sample: for the CDF of the population of positives.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector
from halftruth.evidence._selection import Selection

__all__ = ["KINDS", "RESAMPLED", "Band", "Counts", "counts", "limited", "strictness", "tilted"]

Counts = NDArray[np.int64]

KEEP_ALL = 256  # up to so many known positives, each of their ranks is a knot
BLOCK = 1 << 19  # counts held at once
RESAMPLED = "bootstrap"
ROUNDING = 1e-9  # of sums of logarithms: counts that are equally strange are judged alike
MANY_KNOWN = 256  # from so many on, exact quantiles are found at some ranks and drawn as lines between them
EXACT_KNOWN, EXACT_CELLS = 400, 40_000
"""Up to n and n·K of these, the two-sample distance is calibrated by counting merges, else by a formula."""


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
    # Spacings of uniform order statistics are gamma variables over their sum. Given them, the latent ones
    # before a knot are binomial among those that are left.
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
    step = np.arange(int((last - first).max()) + 1)
    block = max(1, BLOCK // len(step))
    tail *= 1 + 1e-9  # a chance that is the tail but for rounding is not above it
    for start in range(0, len(rank), block):
        at = np.s_[start : start + block, None]
        x = (first[at] + step).astype(np.float64)
        inside = x <= last[at]
        # Successive odds of the beta-binomial, from x to x + 1.
        before, rest = x[:, :-1], n_latent - x[:, :-1]
        odds = np.ones(before.shape)
        up, down = (before + i[at]) * rest, (before + 1) * (rest - 1 + j[at])
        np.divide(up, down, out=odds, where=inside[:, 1:])
        log_mass = np.zeros(x.shape)
        np.cumsum(np.log(odds), axis=1, out=log_mass[:, 1:])
        mass = np.where(inside, np.exp(log_mass - log_mass.max(axis=1, keepdims=True)), 0.0)
        mass /= mass.sum(axis=1, keepdims=True)
        outside = (~inside).sum(axis=1)
        within_tails = [(np.cumsum(way, axis=1) <= tail).sum(axis=1) for way in (mass, mass[:, ::-1])]
        low[start : start + block] = first[start : start + block] + within_tails[0]
        high[start : start + block] = last[start : start + block] - within_tails[1] + outside
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
    # In place: these are the largest arrays of a calibration.
    above = x.astype(np.float64)
    out = _entropy(above)
    out += _entropy(n_latent - above)
    above += known
    out -= _entropy(above)
    out -= _entropy(total - above)
    out += fixed
    return out


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


class Band(NamedTuple):
    """Limits on the latent positives at or above a threshold, by the number of known ones there, 0 … n."""

    low: Counts
    high: Counts


def tilted(band: Band, n_latent: int, least: float, most: float, selection: Selection) -> Band:
    """The band where latent positives are at any score ``least`` to ``most`` times as common as known ones.

    The share q of the known ones at or above a threshold then stands for one of at most min(bq, 1 − a(1−q)).
    That has slopes up to b, and the binomial noise of the latent ones there is at most √b times what it was:
    b times the width of the band, to the side on which it lies, holds both.
    """
    share = np.linspace(0, 1, len(band.low))
    top = np.minimum(most * share, 1 - least * (1 - share))
    bottom = np.maximum(least * share, 1 - most * (1 - share))
    top = share if selection.direction == "rising" else top
    bottom = share if selection.direction == "falling" else bottom
    low = n_latent * bottom - most * np.maximum(n_latent * share - band.low, 0)
    high = n_latent * top + most * np.maximum(band.high - n_latent * share, 0)
    return Band(
        np.clip(np.floor(low + 1e-9), 0, n_latent).astype(np.int64),
        np.clip(np.ceil(high - 1e-9), 0, n_latent).astype(np.int64),
    )


@dataclass(frozen=True)
class BandKind:
    """A way to make a band, and what it promises."""

    make: Callable[[int, int, float], Band] | None
    simultaneous: bool
    prediction: bool
    """Whether it is for the latent positives at hand; else for the population they come from."""


def counts(
    name: str, n_known: int, n_latent: int, confidence_level: float, n_resamples: int = 2000, rng: int = 0
) -> Band:
    """The band of this name."""
    error = float(round(1 - confidence_level, 12))
    if n_latent == 0:
        return Band(*np.zeros((2, n_known + 1), dtype=np.int64))
    if name == RESAMPLED:
        return limited(n_known, n_latent, strictness(n_known, n_latent, error, n_resamples, rng))
    make = KINDS[name].make
    assert make is not None
    return make(n_known, n_latent, error)


@lru_cache(maxsize=256)
def strictness(n: int, latent: int, error: float, n_resamples: int, seed: int) -> float:
    """How strange a count may be, so that most simulated merges have no stranger one.

    Counting the merge at hand as one of the simulated makes the promise exact at any number of them.
    """
    rank, rng = knots(n), np.random.default_rng(seed)
    ease = _ease(n, rank)[:, None]
    block = max(1, BLOCK // len(rank))
    worst = []
    for done in range(0, n_resamples, block):
        x = simulated(n, latent, rank, min(block, n_resamples - done), rng)
        worst.append((strangeness(x, rank, n, latent) + ease).max(axis=0))
    # The k-th strangest of n + 1 exchangeable merges: the one at hand is stranger with chance k/(n + 1).
    place = max(int(error * (n_resamples + 1) + 1e-9), 1)
    return float(np.partition(np.concatenate(worst), n_resamples - place)[n_resamples - place])


def limited(n: int, latent: int, strictness: float) -> Band:
    """The counts at all ranks that are no stranger than this."""
    rank = knots(n)
    return _stepped(n, latent, rank, *_inverted(n, latent, rank, strictness - _ease(n, rank)))


def _ease(n: int, rank: Counts) -> Vector:
    """Error is spent in proportion to p(1 − p): the middle, which areas weigh most, is not left too wide."""
    share = rank / (n + 1)
    return np.asarray(np.log(4 * share * (1 - share)))


def _inverted(n: int, latent: int, rank: Counts, limit: Vector) -> tuple[Counts, Counts]:
    """The least and the greatest count at each rank that is no stranger than its limit."""
    usual = np.round(latent * (rank - 0.5) / n).astype(np.int64)

    def farthest(far: int) -> Counts:
        # Strangeness grows with the distance from the usual count, so that halving finds where it ends.
        inside, outside = usual.copy(), np.full_like(usual, far)
        while (apart := np.abs(outside - inside) > 1).any():
            middle = np.clip((inside + outside) // 2, 0, latent)
            fits = strangeness(middle, rank, n, latent) <= limit + ROUNDING
            inside = np.where(apart & fits, middle, inside)
            outside = np.where(apart & ~fits, middle, outside)
        return inside

    return farthest(-1), farthest(latent + 1)


def _stepped(n: int, latent: int, rank: Counts, low: Counts, high: Counts) -> Band:
    """Limits at every number of known positives from those at some ranks: X_i only grows with i."""
    count = np.arange(n + 1)
    before = np.searchsorted(rank, count, side="right") - 1
    after = np.searchsorted(rank, count + 1)
    least = np.where(before >= 0, np.maximum.accumulate(low)[before], 0)
    most = np.append(np.minimum.accumulate(high[::-1])[::-1], latent)[after]
    return Band(least, most)


def _pointwise(n: int, latent: int, error: float) -> Band:
    """Each X_i between its own quantiles: exact at one threshold, not at all together."""
    rank = _some_counts(n)[1:]
    low, high = quantiles(n, latent, rank, error / 2)
    if len(rank) < n:  # between, quantiles are lines to a fraction of a row
        every = np.arange(1, n + 1)
        low, high = np.floor(np.interp(every, rank, low)), np.ceil(np.interp(every, rank, high))
    return Band(np.append(0, low).astype(np.int64), np.append(high, latent).astype(np.int64))


def _distance(n: int, latent: int, error: float) -> Band:
    """|F_known − F_latent| nowhere above the two-sample limit of Kolmogorov and Smirnov."""
    return _around(n, latent, _farthest(n, latent, error))


@lru_cache(maxsize=1024)
def _farthest(n: int, latent: int, error: float) -> float:
    if n > EXACT_KNOWN or n * latent > EXACT_CELLS:
        # The limiting law of Smirnov's two-sample distance, by its first term 2 exp(−2 d² nK/(n + K)).
        return float(np.sqrt(np.log(2 / error) / 2 * (1 / n + 1 / latent)))
    low, high = 0, n * latent  # distances are multiples of 1/(nK)
    while low < high:
        middle = (low + high) // 2
        if within(*_around(n, latent, middle / (n * latent)), latent) >= 1 - error:
            high = middle
        else:
            low = middle + 1
    return high / (n * latent)


def _around(n: int, latent: int, distance: float) -> Band:
    share = np.arange(n + 1) / n
    low = np.ceil(latent * (share - distance) - 1e-9)
    high = np.floor(latent * (share + distance) + 1e-9)
    return Band(*(np.clip(x, 0, latent).astype(np.int64) for x in (low, high)))


def _of_population(share: Callable[[int, float], tuple[Vector, Vector]]) -> BandKind:
    """A band of Claesen et al. for the share of positives above, as counts rounded outwards (Eq. 10)."""

    def make(n: int, latent: int, error: float) -> Band:
        low, high = share(n, error)
        # A product that is whole but for rounding is whole.
        return Band(
            np.floor(np.clip(low, 0, 1) * latent + 1e-9).astype(np.int64),
            np.ceil(np.clip(high, 0, 1) * latent - 1e-9).astype(np.int64),
        )

    return BandKind(make, simultaneous=share is _dvoretzky, prediction=False)


def _dvoretzky(n: int, error: float) -> tuple[Vector, Vector]:
    # P(sup |F_n − F| > d) ≤ 2 exp(−2 n d²), with Massart's constant.
    share, width = np.arange(n + 1) / n, np.sqrt(np.log(2 / error) / (2 * n))
    return share - width, share + width


def _resampled(n: int, error: float) -> tuple[Vector, Vector]:
    """Percentiles of resampled CDFs: i of n rows above are a binomial count, so that none need be drawn."""
    from scipy.special import bdtrik

    count = _some_counts(n)
    share = count / n
    low, high = (np.ceil(bdtrik(np.full(len(count), q), n, share) - 1e-9) for q in (error / 2, 1 - error / 2))
    ends = (count == 0) | (count == n)
    low, high = np.where(ends, count, low), np.where(ends, count, high)
    every = np.arange(n + 1)
    return np.floor(np.interp(every, count, low)) / n, np.ceil(np.interp(every, count, high)) / n


def _clopper_pearson(n: int, error: float) -> tuple[Vector, Vector]:
    from scipy.special import betaincinv

    count = _some_counts(n)
    low, high = np.zeros(len(count)), np.ones(len(count))
    low[1:] = betaincinv(count[1:], n + 1 - count[1:], error / 2)
    high[:-1] = betaincinv(count[:-1] + 1, n - count[:-1], 1 - error / 2)
    every = np.arange(n + 1)
    return np.interp(every, count, low), np.interp(every, count, high)


def _some_counts(n: int) -> Counts:
    """0 … n, or so many of them that limits are lines in between."""
    return np.append(0, knots(n, keep=MANY_KNOWN, per_root=4))


KINDS = {
    RESAMPLED: BandKind(None, simultaneous=True, prediction=True),
    "dkw": BandKind(_distance, simultaneous=True, prediction=True),
    "exact": BandKind(_pointwise, simultaneous=False, prediction=True),
    "claesen-bootstrap": _of_population(_resampled),
    "claesen-dkw": _of_population(_dvoretzky),
    "claesen-exact": _of_population(_clopper_pearson),
}
