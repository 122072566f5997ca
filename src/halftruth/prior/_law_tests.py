"""Tests on scores: regions too poor in unlabeled rows, one law of several samples, a mixture of two laws."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from halftruth._checks import Vector
from halftruth.prior._upper_bound import FEWEST_RANKED, LOWER_SIDE, Tail, ranks_of

__all__ = [
    "Sample", "aligned", "can_be_mixed", "counted", "enough_to_mix", "largest_sum", "mixture_law", "one_law",
    "pile_up", "share_beyond", "share_within",
]  # fmt: skip

Sample = tuple[Vector, Vector]  # distinct scores, ascending, and the number of rows at each

MIDDLE = 0.3  # part of the error for intervals of ranks: half-lines miss what piles up in the middle
DEPTH = 4  # intervals hold from a half to 2⁻⁴ of the positives: narrower ones have too few to refute much
SMALLEST = 1e-12  # tails are accurate down to there, and smaller p-values are reported as this one
N_GROUPS = 400  # most groups that scores are joined into: polynomials of low degree lose nothing by it
MOST_ORDERS = 8  # components to choose from: beyond these, laws differ more finely than samples show
MIXTURE_ORDERS = 4  # components of the test of a mixture, one of which the fit of λ uses up
KNOWN_IN_GROUP = 10  # known rows in a group: a score that no known row shows may still be theirs
# The closed form of that test, at .01: its size was at most .008 in 4,000 draws of each law; of 30 known rows
# in place of 50 up to .012, with another component .017. Laws far apart fix λ closely: zooms find it.
FEWEST_TO_MIX, FEWER_ORDERS = 50, 3
N_SHARES, N_ZOOMS = 33, 3
N_STEPS = 500  # of EM, from near its end: with 200 from λ = ½ the size was .06 at n_U = 20,000
CHUNK = 1 << 22  # counts drawn at a time


def counted(score: Vector) -> Sample:
    """Scores as a sample."""
    distinct, count = np.unique(score, return_counts=True)
    return distinct, count.astype(np.float64)


def aligned(*samples: Sample) -> Vector:
    """Counts of each sample at the distinct scores of all, a row for each: what the tests take."""
    score = np.unique(np.concatenate([distinct for distinct, _ in samples]))
    counts = np.zeros((len(samples), len(score)))
    for row, (distinct, count) in zip(counts, samples, strict=True):
        row[np.searchsorted(score, distinct)] = count
    return counts


def pile_up(p: Vector, u: Vector, claimed: float) -> float:
    """At most the chance of regions so poor in unlabeled rows if claimed · P ≤ U; regions share the error."""
    # From the positive of rank i to that of rank j > i, both included, P has a mass that is at least Beta(j −
    # i, n_P + 1 − j + i) in law, at any ties. Ranks 0 and n_P + 1 are the ends of the axis.
    from scipy.special import ndtr

    n_p, n_u = p.sum(), u.sum()
    first, last, error_share = _regions(int(n_p))
    reached, below = np.cumsum(p), np.append(0.0, np.cumsum(u))
    start, stop = np.searchsorted(reached, first), np.searchsorted(reached, last)
    count, rank = below[np.minimum(stop + 1, len(u))] - below[start], last - first
    poor = count / n_u < claimed * rank / n_p
    if not poor.any():
        return 1.0
    count, rank = count[poor], rank[poor]
    # As for the bound on α (`_upper_bound`): P's mass is X ~ Beta, the binomial tail of U's count Y ~ Beta.
    x, y = (rank, n_p + 1 - rank), (count + 1, n_u - count)
    tail = Tail(x, y, y[1] / y[0] / n_u < x[1] / x[0] / n_p)
    chance = ndtr(tail(np.log(claimed), np.arange(len(rank))))
    return float(np.clip(np.min(chance / error_share[poor]), SMALLEST, 1.0))


def _regions(n: int) -> tuple[Vector, Vector, Vector]:
    """Ranks of the first and the last positive of each region, and its part of the error."""
    top, low = ranks_of(n), ranks_of(n)[::-3]
    widths = [w for w in (n // 2**depth for depth in range(1, DEPTH + 1)) if w >= FEWEST_RANKED]
    middle = MIDDLE if widths else 0.0
    halves = (1 - middle) * (1 - LOWER_SIDE), (1 - middle) * LOWER_SIDE
    regions = [(n + 1 - top, np.full(len(top), n + 1.0), halves[0]), (np.zeros(len(low)), low, halves[1])]
    for width in widths:
        start = np.floor(np.arange(1, n - width + 0.5, width / 2))
        regions.append((start, start + width, middle / len(widths)))
    first, last = (np.concatenate([region[k] for region in regions]) for k in (0, 1))
    return first, last, np.concatenate([np.full(len(r[0]), r[2] / len(r[0])) for r in regions])


def one_law(counts: Vector, n: int, rng: np.random.Generator) -> float:
    """Permutation test that samples have one law. Groups and polynomials depend on all rows together."""
    from scipy.stats import random_table

    pool = counts.sum(axis=0)
    counts = _joined(counts, pool, pool.sum() / N_GROUPS)
    pool, size = counts.sum(axis=0), counts.sum(axis=1)
    score = _polynomials(pool, MOST_ORDERS)

    # At n = 200 + 200 the power against a shift of .3 sd, a scale of 1.3 and 10% from elsewhere was .75, .76
    # and .76 in 300 draws; Anderson–Darling had .79, .54, .54, Kolmogorov–Smirnov .70, .25, .31.
    def statistic(tables: Vector) -> Vector:
        mean = tables @ score / size[:, None]
        # One component compares the means of one polynomial: as many degrees of freedom as samples less one.
        return largest_sum((size[:, None] * mean**2).sum(axis=-2), len(counts) - 1)

    def drawn(m: int) -> Vector:
        # Under one law all tables with these margins are as likely as rows are shuffled: a permutation test.
        margins = size.astype(np.int64), pool.astype(np.int64)
        return statistic(random_table.rvs(*margins, size=m, random_state=rng))

    return share_beyond(statistic(counts), drawn, n, counts.size)


def largest_sum(squares: Vector, freedom: int = 1) -> Vector:
    """Fan (1996): of the first 1, 2, … squared components, each sum standardised, the largest."""
    degrees = freedom * np.arange(1, squares.shape[-1] + 1)
    sums = np.cumsum(squares, axis=-1)
    return np.asarray(((sums - degrees) / np.sqrt(degrees)).max(axis=-1, initial=-np.inf))


def mixture_law(counts: Vector, weights: tuple[float, float], n: int, rng: np.random.Generator) -> float:
    """Test that the first sample is λ times the second's law plus 1 − λ times the third's, λ in a range."""
    size = counts.sum(axis=1)
    known = counts[1] + counts[2]
    counts = _joined(counts, known, max(KNOWN_IN_GROUP, known.sum() / N_GROUPS))
    score = _polynomials((counts / size[:, None]).sum(axis=0), MIXTURE_ORDERS)
    if score.shape[1] == 0:
        return 1.0
    laws, share = _likeliest(counts, float(_nearest(counts @ score / size[:, None], weights)), weights)
    covariance = [(score.T * law) @ score - np.outer(law @ score, law @ score) for law in laws]
    # Of the laws, not of each draw: a score that a few known rows miss would have no noise there.
    noise = np.tensordot(np.array([1, share**2, (1 - share) ** 2]) / size, covariance, axes=1)
    noise += 1e-9 * np.trace(noise) * np.eye(len(noise))
    whitened = np.linalg.solve(np.linalg.cholesky(noise), score.T).T

    def statistic(tables: Vector) -> Vector:
        mean = tables @ whitened / size[:, None]
        return _distance(mean, _nearest(mean, weights))

    def drawn(m: int) -> Vector:
        tables = [rng.multinomial(int(rows), law, m) for rows, law in zip(size, laws, strict=True)]
        return statistic(np.stack(tables, axis=1))

    return share_beyond(statistic(counts), drawn, n, counts.size)


def enough_to_mix(*rows: float) -> bool:
    """Whether the mixture and its two parts have the rows that `can_be_mixed` needs."""
    return min(rows) >= FEWEST_TO_MIX


def can_be_mixed(masses: Vector, rows: Vector) -> float:
    """At most the chance of samples so far from any mixture: as `mixture_law`, in closed form.

    ``masses`` of the mixture and of its two parts at each score, which stand for so many ``rows``.
    """
    # At the true λ the squared gap of the means, in units of its noise, is Hotelling's; the least over all λ
    # is no larger, wherever λ lies and however little the scores say of it (Anderson, Rubin 1949).
    from scipy.special import fdtrc

    law = masses[:, masses.any(axis=0)] / masses.sum(axis=1, keepdims=True)
    law = _joined(law, law.sum(axis=0), len(law) / N_GROUPS)
    score = _polynomials(law.sum(axis=0), FEWER_ORDERS)
    orders = score.shape[1]
    if orders == 0:
        return 1.0
    mean = law @ score
    centered = score - mean[:, None]
    covariance = np.einsum("kx,kxi,kxj->kij", law, centered, centered) / (rows - 1)[:, None, None]
    low, high = 0.0, 1.0
    for _ in range(N_ZOOMS):
        share = np.linspace(low, high, N_SHARES)
        weight = np.stack([np.ones(N_SHARES), -share, share - 1], axis=-1)
        gap, noise = weight @ mean, np.tensordot(weight**2, covariance, axes=1)
        noise += 1e-9 * np.trace(noise, axis1=1, axis2=2)[:, None, None] * np.eye(orders)
        toward = np.linalg.solve(noise, gap[..., None])[..., 0]
        distance = (gap * toward).sum(axis=-1)
        best = int(np.argmin(distance))
        low, high = share[max(best - 1, 0)], share[min(best + 1, N_SHARES - 1)]
    # Degrees of freedom after Yao (1965): of each sample as much as it adds to the noise in that direction.
    part = weight[best] ** 2 * np.einsum("i,kij,j->k", toward[best], covariance, toward[best])
    freedom = part.sum() ** 2 / max(float((part**2 / (rows - 1)).sum()), 1e-300)
    rest = max(freedom - orders + 1, 1.0)
    return float(fdtrc(orders, rest, distance[best] * rest / (max(freedom, 1.0) * orders)))


def _nearest(mean: Vector, weights: tuple[float, float]) -> Vector:
    """λ in a range that brings the mixture nearest, from means of the three samples, (..., 3, orders)."""
    apart, off = mean[..., 1, :] - mean[..., 2, :], mean[..., 0, :] - mean[..., 2, :]
    length = (apart**2).sum(axis=-1)
    best = np.divide((apart * off).sum(axis=-1), length, out=np.zeros_like(length), where=length > 0)
    return np.asarray(np.clip(best, *weights))


def _distance(mean: Vector, share: Vector) -> Vector:
    weight = np.stack([np.ones_like(share), -share, share - 1], axis=-1)
    return np.asarray((np.einsum("...k,...kj->...j", weight, mean) ** 2).sum(axis=-1))


def _likeliest(counts: Vector, share: float, weights: tuple[float, float]) -> tuple[Vector, float]:
    """Laws of the three samples for which the mixture is exact, and λ: expectation-maximization."""
    # The mixture's own rows count too, so a score that the known rows happen to miss is not ruled out.
    mixed, *known = counts
    share = float(np.clip(share, 0.01, 0.99).clip(*weights))  # from 0 or 1 no step would lead away
    pool = (counts / counts.sum(axis=1, keepdims=True)).mean(axis=0)
    first, second = ((x + pool) / (x.sum() + 1) for x in known)
    for _ in range(N_STEPS):
        of_first, of_second = share * first, (1 - share) * second
        both = of_first + of_second
        # P(first part | score) of a mixture row, by which it then counts for that part.
        posterior = np.divide(of_first, both, out=np.zeros_like(both), where=both > 0)
        share = float(np.clip(mixed @ posterior / mixed.sum(), *weights))
        first, second = known[0] + mixed * posterior, known[1] + mixed * (1 - posterior)
        first, second = first / first.sum(), second / second.sum()
    law = share * first + (1 - share) * second
    return np.stack([law / law.sum(), first, second]), share


def _joined(counts: Vector, mass: Vector, least: float) -> Vector:
    """Neighbouring scores joined into groups of about ``least`` of a mass."""
    step = np.floor((np.cumsum(mass) - mass / 2) / least)
    return np.add.reduceat(counts, np.flatnonzero(np.diff(step, prepend=-1)), axis=1)


def _polynomials(mass: Vector, orders: int) -> Vector:
    """Polynomials in the mid-rank, of order 1 and up, orthonormal under this mass."""
    share = mass / mass.sum()
    root = np.sqrt(share)[:, None]
    # Neyman's smooth test: mid-ranks are uniform under the mass, so Legendre polynomials are nearly
    # orthonormal already; the QR factors make them so with ties.
    powers = np.polynomial.legendre.legvander(2 * np.cumsum(share) - share - 1, min(orders, len(mass) - 1))
    orthonormal, _ = np.linalg.qr(powers * root)
    return np.asarray(orthonormal[:, 1:] / root)


def share_beyond(observed: Vector, drawn: Callable[[int], Vector], n: int, width: int) -> float:
    """(1 + draws at least as far) / (1 + draws), which is valid at any number of draws."""
    step = max(1, CHUNK // width)
    limit = float(observed) - 1e-9 * (1 + abs(float(observed)))
    beyond = sum(int((drawn(min(step, n - at)) >= limit).sum()) for at in range(0, n, step))
    return (1 + beyond) / (1 + n)


def share_within(k: int, n: int, low: float, high: float) -> float:
    """Exact two-sided test that a share lies in [low, high]."""
    from scipy.special import bdtr, bdtrc

    if low <= k / n <= high:
        return 1.0
    return min(1.0, 2 * float(bdtr(k, n, low) if k / n < low else bdtrc(k - 1, n, high)))
