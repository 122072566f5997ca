"""The largest share of positives in the unlabeled sample that the data do not refute.

Every set A of scores has P_U(A) ≥ α P₁(A). Let A be a half-line that ends at the k-th positive score, or
reach from one positive score to the k-th after it, ranks fixed before seeing the data: P₁(A) is then k
spacings of uniforms, X ~ Beta(k, n_P + 1 − k), or stochastically larger where scores are tied. If b unlabeled
scores fall into A, the chance of so few is at most P(Y > αX) with Y ~ Beta(b + 1, n_U − b): the binomial
tail. So the 1 − δ quantile of Y/X is an upper bound of confidence 1 − δ at any sample size. A few ranks on
both sides and a few intervals share the error (Bonferroni).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from halftruth._checks import Vector

__all__ = ["FEWEST_RANKED", "LOWER_SIDE", "Tail", "ranks_of", "upper_bound"]

SPACING = 0.8  # ratio of each rank to the next larger: a wider one gains little, and loses much at ties
NEARLY_ALL = (0.9, 0.95)  # best shares of the positives where the classes hardly overlap
FEWEST_RANKED = 4  # fewer positives bound their share too loosely to be worth a part of the error
LOWER_SIDE = 0.1  # part of the error for low scores, at every third rank: there positives are seldom pure
# Where negatives lie on both sides of the positives no half-line shows how few they are among them: part of
# the error for intervals, and the shares of the positives above each and within it.
INNER, ABOVE, WITHIN = 0.15, (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7), (0.25, 0.4, 0.6)
TOLERANCE = 1e-6  # By how much, relatively, rounding may raise a bound. It never lowers one.


def upper_bound(
    positive_mass: ArrayLike,
    unlabeled_mass: ArrayLike,
    n_positive: float,
    n_unlabeled: float,
    confidence_level: float,
    *,
    below: float | None = None,
) -> float:
    """The bound from masses at distinct scores, ascending, that stand for these numbers of rows."""
    # Joining neighbouring scores can only raise it: more unlabeled rows then reach a positive's rank. With
    # ``below``, only a bound below that matters, and one that is clearly not is returned as 1, in no time.
    p, u = (np.cumsum(np.asarray(mass, dtype=np.float64)[::-1]) for mass in (positive_mass, unlabeled_mass))
    p *= n_positive / p[-1]
    u = np.append(0, u * (n_unlabeled / u[-1]))
    top, bottom, skipped, reached, error = _regions(n_positive)
    # Sums of weights are rounded: a rank that is reached but for that is reached.
    from_top = u[np.searchsorted(p, np.append(top, reached) * (1 - 1e-12)) + 1]
    beyond = u[np.searchsorted(p, np.append(n_positive - bottom, skipped) * (1 + 1e-12), side="right")]
    low, inner = np.split(beyond, [len(bottom)])
    count = np.concatenate([from_top[: len(top)], n_unlabeled - low, from_top[len(top) :] - inner])
    rank = np.concatenate([top, bottom, reached - skipped - 1])
    # A region refutes only shares above its own ratio.
    if below is not None and (count / n_unlabeled >= below * (rank / n_positive)).all():
        return 1.0
    return _least_quantile(rank, count, (1 - confidence_level) * error, n_positive, n_unlabeled)


@lru_cache(maxsize=64)
def _regions(n: float) -> tuple[Vector, Vector, Vector, Vector, Vector]:
    """Half-lines by their ranks from the top and from the bottom; intervals by the ranks skipped and reached.

    Then each one's part of the error.
    """
    top = ranks_of(n)
    bottom = top[::-3]
    skipped, reached = np.round([[n * above, n * (above + held)] for above in ABOVE for held in WITHIN]).T
    wide = (reached - skipped > FEWEST_RANKED) & (skipped > 0) & (reached < n) & (n >= 2 * FEWEST_RANKED)
    inner = INNER if wide.any() else 0.0
    shares = (1 - inner) * (1 - LOWER_SIDE), (1 - inner) * LOWER_SIDE, inner
    numbers = len(top), len(bottom), int(wide.sum())
    error = np.repeat(np.divide(shares, np.maximum(numbers, 1)), numbers)
    return top, bottom, skipped[wide], reached[wide], error


def ranks_of(n: float) -> Vector:
    """Ranks of n rows, from a few to all, evenly spaced in the logarithm. They must not depend on scores."""
    steps = max(0.0, np.log(n / FEWEST_RANKED) / -np.log(SPACING))
    share = np.append(NEARLY_ALL, SPACING ** np.arange(steps // 1 + 1))
    return np.unique(np.minimum(np.round(n * share), n))


def _least_quantile(rank: Vector, count: Vector, error: Vector, n_rank: float, n_count: float) -> float:
    """The least of 1 and every α with P(Y > αX) = error, over pairs of X (from rank) and Y (from count)."""
    # Rounded upwards. In log α the normal score of that probability is almost a line: secants soon meet.
    from scipy.special import digamma, ndtri, zeta

    # A region that is no poorer in unlabeled rows than in positives refutes nothing.
    poor = count / n_count < rank / n_rank * (1 - 1e-12)
    if not poor.any():
        return 1.0
    rank, count, limit = rank[poor], count[poor], ndtri(error[poor])
    x, y = (rank, n_rank + 1 - rank), (count + 1, n_count - count)
    (x_mean, x_variance), (y_mean, y_variance) = (  # of log X and log Y
        (digamma(a) - digamma(a + b), zeta(2, a) - zeta(2, a + b)) for a, b in (x, y)
    )
    # log Y − log X is nearly normal, which is where the search begins.
    slope = np.sqrt(x_variance + y_variance)
    guesses = y_mean - x_mean - slope * limit
    if len(rank) > 1:
        # The exact bound of the likeliest one rules out all whose own ratio is above it.
        best = [int(np.argmin(guesses))]
        bound = _least_quantile(rank[best], count[best], error[poor][best], n_rank, n_count)
        near = count / n_count < rank / n_rank * bound
        near[best] = True
        if near.sum() < len(rank):
            return min(bound, _least_quantile(rank[near], count[near], error[poor][near], n_rank, n_count))
    guess = float(np.min(guesses))
    tail = Tail(x, y, y_variance < x_variance)
    at, low, high = 0.0, -np.inf, 0.0
    rows = np.arange(len(rank))
    excess = limit - tail(at, rows)
    while (refutes := excess > 0).any() or at < high:
        if refutes.any():
            # What does not refute this α only refutes larger ones.
            high, rows, slope, excess = at, rows[refutes], slope[refutes], excess[refutes]
        else:
            low = at
        root = guess if at == 0 > guess else float(np.min(at - slope * excess))
        if high - (root if at == high else low) < TOLERANCE:
            break
        last, before, at = at, excess, root + TOLERANCE / 2
        if not (floor := max(low, high - 20)) < at < high:
            at = (floor + high) / 2
        excess = limit[rows] - tail(at, rows)
        rise = (excess - before) / (at - last)
        slope = np.divide(1, rise, out=slope, where=rise > 0)
    return float(np.exp(high))


class Tail:
    """Normal score of P(Y > αX) for independent Beta variables, as a function of log α.

    An expectation over the narrower of the two (in logarithms), in which the other's distribution function
    is smooth: the plain sum over evenly spaced normal scores is then accurate to about 1e-8.
    """

    STEP = 0.3
    REACH = 8

    def __init__(self, x: tuple[Vector, Vector], y: tuple[Vector, Vector], over_y: NDArray[np.bool_]) -> None:
        from scipy.special import betaincinv, ndtr

        score = np.arange(-self.REACH, self.REACH + self.STEP, self.STEP)
        self.mass = self.STEP / np.sqrt(2 * np.pi) * np.exp(-(score**2) / 2)
        self.over_y = over_y[:, None]
        narrow, self.wide = (
            [np.where(over_y, a, b)[:, None] for a, b in zip(*pair, strict=True)] for pair in ((y, x), (x, y))
        )
        self.node = betaincinv(*narrow, ndtr(score))

    def __call__(self, log_alpha: float, rows: NDArray[np.intp]) -> Vector:
        from scipy.special import betainc, ndtri

        over_y, node = self.over_y[rows], self.node[rows]
        alpha = np.exp(log_alpha)
        other = np.minimum(np.where(over_y, node / alpha, node * alpha), 1)
        below = betainc(*(shape[rows] for shape in self.wide), other)
        chance = np.where(over_y, below, 1 - below) @ self.mass
        return np.asarray(ndtri(np.clip(chance, 1e-300, 1 - 1e-16)))
