"""Votes on rows whose probability of being positive follows a mixture of Betas."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc

from halftruth import _checks
from halftruth._errors import InputError, arg
from halftruth.simulate._draws import FloatArray, IntArray, Rng

if TYPE_CHECKING:
    from halftruth.evidence import SoftLabeled

__all__ = ["VoteDraw", "VoteMixture"]


class VoteDraw(NamedTuple):
    """Rows of a `VoteMixture`.

    Attributes
    ----------
    q : (n,) ndarray
        P(Y=1 | x) of each row, which real votes hide.
    k : (n,) ndarray
        Its positive votes.

    Examples
    --------
    >>> q, k = VoteMixture(1.0, 0.5, 0.5).draw(4, 3, rng=0)
    >>> q.shape, k.shape
    ((4,), (4,))
    """

    q: FloatArray
    k: IntArray


@dataclass(frozen=True)
class VoteMixture:
    """Rows with q ~ Σ weight · Beta(a, b), and k of m voters for positive: k ~ Binomial(m, q).

    Parameters
    ----------
    weights : float or sequence of float
        Shares of the components, summing to one.
    a, b : float or sequence of float
        Of each component, greater than 0.

    Notes
    -----
    Wherever `rng` is an int, the same int draws the same rows; m is a number, or one a row.

    Examples
    --------
    >>> votes = VoteMixture(1.0, 0.3, 0.3)
    >>> round(votes.bayes_error, 3), round(votes.plug_in(3), 3)  # the plug-in is too small
    (0.134, 0.094)
    >>> VoteMixture([0.7, 0.3], [1, 4], [20, 4]).moments(2).round(6).tolist()
    [1.0, 0.183333, 0.086364]
    """

    weights: float | Sequence[float]
    a: float | Sequence[float]
    b: float | Sequence[float]

    def __post_init__(self) -> None:
        columns = {name: _checks.vector(np.atleast_1d(column), name) for name, column in vars(self).items()}
        share = columns["weights"]
        for name, values in columns.items():
            if len(values) != len(share) or len(share) == 0:
                raise InputError(
                    f"{arg('weights')}, {arg('a')} and {arg('b')} must have one value for each component, "
                    f"got {', '.join(str(len(column)) for column in columns.values())} values."
                )
            if name != "weights" and (values <= 0.0).any():
                raise InputError(argument=name, must="be greater than 0", got=values.tolist())
        if (share < 0.0).any() or abs(math.fsum(share) - 1.0) > 1e-9:
            must, remedy = "be at least 0 and sum to 1", "Divide by their sum."
            raise InputError(argument="weights", must=must, got=share.tolist(), remedy=remedy)
        columns["weights"] = share / math.fsum(share)
        for name, values in columns.items():
            object.__setattr__(self, name, tuple(values.tolist()))

    @cached_property
    def _parts(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        return np.array(self.weights), np.array(self.a), np.array(self.b)

    @property
    def prior(self) -> float:
        """P(Y=1) = E q."""
        return float(self.moments(1)[1])

    @property
    def bayes_error(self) -> float:
        """E min(q, 1−q), by the incomplete beta function."""
        share, a, b = self._parts
        # q times the density of Beta(a, b) is its mean a/(a+b) times that of Beta(a+1, b): both halves of
        # E min(q, 1−q) = E q 1[q<½] + E (1−q) 1[q>½] are distribution functions.
        below = a / (a + b) * betainc(a + 1.0, b, 0.5)
        above = b / (a + b) * betainc(b + 1.0, a, 0.5)
        return float(share @ (below + above))

    def moments(self, order: int) -> FloatArray:
        """E qʲ for j = 0, …, order: all that the votes of rows with `order` voters tell of q.

        Examples
        --------
        >>> VoteMixture(1.0, 1.0, 1.0).moments(3).round(4).tolist()
        [1.0, 0.5, 0.3333, 0.25]
        """
        j = np.arange(_checks.count(order, "order", least=0))[:, None]
        share, a, b = self._parts
        # E qʲ⁺¹ / E qʲ = (a + j) / (a + b + j) of a Beta.
        factors = np.vstack([np.ones_like(a), (a + j) / (a + b + j)])
        return np.asarray(np.cumprod(factors, axis=0) @ share)

    def vote_shares(self, m: int) -> FloatArray:
        """P(k = 0), …, P(k = m) of a row with m voters: a mixture of beta-binomials.

        Examples
        --------
        >>> VoteMixture(1.0, 1.0, 1.0).vote_shares(3).round(4).tolist()
        [0.25, 0.25, 0.25, 0.25]
        """
        share, a, b = self._parts
        k = np.arange(_checks.count(m, "m", least=1), dtype=np.float64)[:, None]
        # Ratios of neighbours keep all digits where differences of ln Γ of large a and b lose them.
        steps = np.log((m - k) / (k + 1.0)) + np.log(k + a) - np.log(m - 1.0 - k + b)
        heights = np.vstack([np.zeros_like(a), np.cumsum(steps, axis=0)])
        masses = np.exp(heights - heights.max(axis=0))
        return np.asarray(masses / masses.sum(axis=0) @ share)

    def plug_in(self, m: ArrayLike) -> float:
        """E min(k, m−k)/m, what the vote shares give for the Bayes error: too little.

        `m` is the number of voters; of an array, one for each row, the mean over the rows.

        Examples
        --------
        >>> votes = VoteMixture(1.0, 2.0, 2.0)
        >>> [round(votes.plug_in(m), 4) for m in (1, 2, 50)], votes.bayes_error
        ([0.0, 0.2, 0.3052], 0.3125)
        """
        ballots, rows = np.unique(np.atleast_1d(_ballots(m, None)), return_counts=True)
        # min(k, n−k) for k = 0, …, n: the smaller of a count up and a count down.
        minority = {n: np.minimum(np.arange(n + 1), np.arange(n, -1, -1)) for n in ballots.tolist()}
        means = [float(self.vote_shares(n) @ (smaller / n)) for n, smaller in minority.items()]
        return math.fsum(mean * int(n) for mean, n in zip(means, rows, strict=True)) / int(rows.sum())

    def draw(self, n: int, m: ArrayLike, rng: Rng) -> VoteDraw:
        """Draw `n` rows and the votes on them, of `m` voters: an int, or one for each row.

        Examples
        --------
        >>> drawn = VoteMixture([0.5, 0.5], [1, 9], [9, 1]).draw(3, [3, 5, 7], rng=0)
        >>> bool((drawn.k <= [3, 5, 7]).all())
        True
        """
        ballots = _ballots(m, _checks.count(n, "n", least=1))
        generator = np.random.default_rng(rng)
        share, a, b = self._parts
        component = generator.choice(len(share), size=n, p=share)
        q = generator.beta(a[component], b[component])
        return VoteDraw(q, generator.binomial(ballots, q))

    def evidence(self, n: int, m: ArrayLike, rng: Rng) -> SoftLabeled:
        """Draw as `draw` does, and give the votes as evidence."""
        from halftruth.evidence import SoftLabeled

        return SoftLabeled.from_votes(self.draw(n, m, rng).k, m)


def _ballots(m: ArrayLike, n: int | None) -> int | IntArray:
    """Voters of each row, at least one: a number, or one for each of `n` rows."""
    if np.ndim(m) == 0:
        return _checks.count(m, "m", least=1)
    values = _checks.vector(m, "m", length=n)
    bad = (values < 1) | (values != np.floor(values))
    if len(values) == 0 or bad.any():
        must, first = "hold whole numbers of at least 1", f"{values[bad][0]:g}" if len(values) else "none"
        raise InputError(argument="m", must=must, got=first, remedy="Drop rows without votes.")
    return values.astype(np.int64)
