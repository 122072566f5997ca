"""Votes as counts, and the law of q behind them: k of m votes are binomial given q, and q has an unknown law.

Only m moments of that law are identified, so that many explain the votes alike. Of those `fitted_law` takes
the one nearest to a fitted Beta.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from typing import ParamSpec, TypeVar

import numpy as np
from scipy.special import betainc, betaln, gammaln

from halftruth._checks import Vector
from halftruth._errors import Note
from halftruth.evidence._soft_labeled import SoftRows
from halftruth.limits._row_means import scaled

__all__ = [
    "LOSS", "PLACES", "Q", "Votes", "as_probabilities", "counted", "difficulty", "fitted_law", "one_thread",
]  # fmt: skip

PLACES = 257
MOST_VOTES = 2000  # more votes on a case count as so many, whose own error is at most .011: two places of q
MANY_CELLS = 5000  # different (k, m) from which rows of nearly as many votes are counted together
FEW = 60
NEARLY = 1.1  # numbers of votes above `FEW` that differ by less than this factor are nearly the same
ENOUGH_ROWS = 30  # with one number of votes, for a mean of its own
TAIL = 1e-3  # p-value below which numbers of votes are said to depend on the case
STRAY = 0.01  # rows with a number of votes that so few have, against the commonest, identify nothing more
UNTOLD = 1e-13  # share of the largest eigenvalue below which votes do not tell laws apart

_ANGLE = np.linspace(0, np.pi / 2, PLACES)
# Places of q, as close as votes tell apart: equal steps of arcsin √q, with 0, ½ and 1 among them.
Q: Vector = np.where(np.arange(PLACES) == PLACES // 2, 0.5, np.sin(_ANGLE) ** 2)
# Between the places.
EDGES: Vector = np.concatenate([[0.0], np.sin((_ANGLE[1:] + _ANGLE[:-1]) / 2) ** 2, [1.0]])
LOSS: Vector = np.minimum(Q, 1 - Q)  # min(q, 1 − q) at each place

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def one_thread(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """The function with the linear algebra of one thread."""

    # Matrices are small: threads would cost more than they save, and change the last digits.
    @wraps(function)
    def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

        with threadpool_limits(limits=1, user_api="blas"):
            return function(*args, **kwargs)

    return call


@dataclass(frozen=True, kw_only=True, eq=False)
class Votes:
    """How often each (k, m) was seen."""

    k: Vector
    m: Vector
    count: Vector  # rows

    @cached_property
    def total(self) -> float:
        return float(self.count.sum())

    @cached_property
    def usual(self) -> Vector:
        """Numbers of votes that not only a few stray rows have."""
        m, place = np.unique(self.m, return_inverse=True)
        rows = np.bincount(place, weights=self.count)
        return np.asarray(m[rows >= STRAY * rows.max()])

    @cached_property
    def kernel(self) -> Vector:
        """(c, places) P(k of m votes | q)."""
        return _chances(self.k, self.m)

    @cached_property
    def basis(self) -> Vector:
        """(r, places) orthonormal directions in which the votes that were seen tell laws apart."""
        return _directions(self.kernel)

    @cached_property
    def moments(self) -> Vector:
        """(r, places) the same for all votes that could be seen: what any number of cases would identify."""
        k = [np.arange(m + 1) for m in self.usual]
        m = [np.full(len(counts), counts[-1]) for counts in k]
        return _directions(_chances(np.concatenate(k), np.concatenate(m)))

    def log_likelihood(self, law: Vector) -> float:
        return float(self.count @ np.log(self.kernel @ law))


def _chances(k: Vector, m: Vector) -> Vector:
    """P(k of m votes | q) at each place of q."""
    # By logarithms, as m choose k leaves what numbers can hold; 0 · log 0 counts as 0.
    k, m = k[:, None], m[:, None]
    choose = gammaln(m + 1) - gammaln(k + 1) - gammaln(m - k + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_q = np.where(k > 0, k * np.log(Q), 0.0)
        log_rest = np.where(m - k > 0, (m - k) * np.log1p(-Q), 0.0)
    return np.asarray(np.exp(choose + log_q + log_rest))


def _directions(rows: Vector) -> Vector:
    """An orthonormal basis of what rows span, but for what they hold only faintly."""
    # The eigenvectors of RᵀR are the right singular vectors of R, its eigenvalues their squared sizes.
    size, columns = np.linalg.eigh(rows.T @ rows)
    return np.asarray(columns[:, size > UNTOLD * size[-1]].T)


def as_probabilities(rows: SoftRows) -> SoftRows:
    """The same rows, without their votes where all have so many that shares are probabilities."""
    if rows.ballots is None or rows.ballots.min() <= MOST_VOTES:
        return rows
    return replace(rows, ballots=None)


def counted(rows: SoftRows) -> Votes:
    """How often each number of votes was seen; unequal weights count as the rows they leave in effect."""
    assert rows.ballots is not None  # the caller's
    m = np.minimum(rows.ballots, MOST_VOTES)
    weight = np.ones(len(rows)) if rows.weight is None else scaled(rows.weight)
    # Scaled so that all of them together are (Σw)²/Σw² rows: likelihoods of unequal weights are then as flat
    # as the rows they rest on.
    weight = weight * (weight.sum() / (weight**2).sum())
    votes = _tally(np.rint(rows.q * m), m, weight)
    if len(votes.count) <= MANY_CELLS:
        return votes
    # The noise of a share hardly differs between 200 votes and 210.
    near = np.rint(FEW * NEARLY ** np.rint(np.log(votes.m / FEW) / np.log(NEARLY)))
    m = np.where(votes.m > FEW, near, votes.m)
    return _tally(np.rint(votes.k / votes.m * m), m, votes.count)


def _tally(k: Vector, m: Vector, weight: Vector) -> Votes:
    base = m.max() + 1  # k ≤ m < base: one number for each pair
    cells, place = np.unique(m * base + k, return_inverse=True)
    count = np.bincount(place, weights=weight, minlength=len(cells))
    cast = count > 0
    return Votes(k=cells[cast] % base, m=cells[cast] // base, count=count[cast].astype(np.float64))


def difficulty(rows: SoftRows) -> list[Note]:
    """A note where rows with more votes disagree more, or less, than chance explains."""
    # The share of pairs of votes that disagree has the same mean, E 2q(1 − q), whatever the number of votes,
    # if how many there are does not depend on the case. It is compared between the numbers that enough rows
    # have.
    assert rows.ballots is not None  # the caller's
    weight = np.ones(len(rows)) if rows.weight is None else scaled(rows.weight)
    counting = weight > 0
    m, k, weight = rows.ballots[counting], (rows.q * rows.ballots)[counting], weight[counting]
    usual, place, sizes = np.unique(m, return_inverse=True, return_counts=True)
    common = (usual >= 2) & (sizes >= ENOUGH_ROWS)
    if common.sum() < 2:
        return []
    with np.errstate(divide="ignore", invalid="ignore"):
        apart = 2 * k * (m - k) / (m * (m - 1))
    groups = [place == i for i in np.flatnonzero(common)]
    means, errors = np.array([_mean_and_error(apart[rows_of], weight[rows_of]) for rows_of in groups]).T
    known = errors > 0
    if known.sum() < 2:
        return []
    # Cochran's test: weighted squared distances from the common mean are χ² if all means are one.
    precision = errors[known] ** -2.0
    middle = (precision @ means[known]) / precision.sum()
    from scipy.special import chdtrc

    if chdtrc(known.sum() - 1, float(precision @ (means[known] - middle) ** 2)) > TAIL:
        return []
    return [
        Note(
            "refuted",
            f"How many votes a case has depends on how hard it is: by their number, two votes disagree in "
            f"{means.min():.3g} to {means.max():.3g} of the cases, beyond chance. The Bayes error is then "
            f"not identified. Evaluate cases with one number of votes apart, or draw as many votes of each.",
        )
    ]


def _mean_and_error(values: Vector, weight: Vector) -> tuple[float, float]:
    share = weight / weight.sum()
    mean = float(share @ values)
    return mean, float(np.sqrt(np.sum((share * (values - mean)) ** 2)))


FEW_VOTES = 3  # with no more votes a case, the shape of the law is hardly identified
# With so few votes a law that piles up at 0 and 1 and one of two clusters inside cannot be told apart. The
# law nearest to a Beta is right for the first, that nearest to a flat one for the second. The former has a
# weight of .5 where the fitted a + b is .1 or less, and of .3 where it is .5 or more: this keeps the bias
# within half of the plug-in's for either, unless it is an extreme one.
BETA_SHARE = (0.1, 0.5), (0.5, 0.3)
STRENGTH = 1.0  # rows that nearness to the reference weighs: no noise enters what votes tell faintly
LITTLE_STRENGTH = 1e-3  # the same with few votes, which tell nothing faintly
SLOWER = 10.0  # factor by which nearness weighs less from one search to the next
MOST_STEPS = 50
PRECISE = 1e-10  # gain of log likelihood below which a search ends
LOG_LIMITS = (-7.0, 9.0)  # range of log a and log b: from all votes alike to all q alike


def fitted_beta(votes: Votes) -> tuple[float, float]:
    """The Beta law under which the votes are likeliest."""
    from scipy.optimize import minimize

    def loss(logs: Vector) -> float:
        # k of m is beta-binomial: B(k+a, m−k+b)/B(a, b), up to a factor without a and b.
        a, b = np.exp(logs)
        fit = betaln(votes.k + a, votes.m - votes.k + b) - betaln(a, b)
        return -float(votes.count @ fit) / votes.total

    starts = ([0.0, 0.0], [-1.5, -1.5], [-1.5, 1.0], [1.0, -1.5], [2.0, 2.0])
    best = min(
        (minimize(loss, s, method="L-BFGS-B", bounds=[LOG_LIMITS] * 2) for s in starts), key=lambda r: r.fun
    )
    a, b = np.exp(best.x)
    return float(a), float(b)


def beta_law(a: float, b: float) -> Vector:
    """A Beta law on the places of q."""
    mass = np.maximum(np.diff(betainc(a, b, EDGES)), 1e-300)
    return np.asarray(mass / mass.sum())


def nearest(votes: Votes, reference: Vector) -> Vector:
    """The law that explains the votes and is nearest to the reference."""
    # It maximises the log likelihood less `STRENGTH` times the divergence from the reference. There the law
    # is the reference times the exponential of a combination of `Votes.basis`. Nearness counts for much at
    # first and then for less, so that each search begins near its end.
    tilt = np.zeros(len(votes.basis))
    # A stray row with more votes is not to be matched exactly: hence all rows, not only the usual ones.
    least = STRENGTH if votes.m.max() > FEW_VOTES else LITTLE_STRENGTH
    strength = max(votes.total, least)
    while True:
        tilt = _tilted(votes, reference, tilt, strength)
        if strength <= least:
            return _law(votes, reference, tilt)[0]
        strength = max(strength / SLOWER, least)


def _law(votes: Votes, reference: Vector, tilt: Vector) -> tuple[Vector, float]:
    """The tilted law and its divergence from the reference."""
    # law ∝ reference · exp(power), so that KL(law ‖ reference) = E_law[power] − log Σ reference · exp(power).
    power = tilt @ votes.basis
    raw = np.log(reference) + power
    law = np.exp(raw - raw.max())
    total = law.sum()
    law /= total
    return law, float(law @ power) - float(raw.max() + np.log(total))


def _tilted(votes: Votes, reference: Vector, tilt: Vector, strength: float) -> Vector:
    """The best tilt where nearness weighs ``strength`` rows, by Fisher scoring."""
    kernel, basis, count = votes.kernel, votes.basis, votes.count

    def value(x: Vector) -> float:
        law, divergence = _law(votes, reference, x)
        with np.errstate(divide="ignore"):
            return float(count @ np.log(kernel @ law)) - strength * divergence

    now = value(tilt)
    for _ in range(MOST_STEPS):
        law, _divergence = _law(votes, reference, tilt)
        fitted = kernel @ law
        moved = basis * law - np.outer(basis @ law, law)  # (r, grid): how the law moves with the tilt
        slope = kernel @ moved.T
        gradient = slope.T @ (count / fitted) - strength * (moved @ (tilt @ basis))
        # Fisher scoring: the second derivatives of the law, which may make it indefinite, are left out.
        curvature = (slope.T * (count / fitted**2)) @ slope + strength * (moved @ basis.T)
        curvature[np.diag_indices(len(tilt))] += 1e-13 * np.trace(curvature)
        step = np.linalg.solve(curvature, gradient)
        gain, size = float(gradient @ step), 1.0
        while size > 1e-8 and not value(tilt + size * step) > now + 1e-4 * size * gain:
            size /= 2
        if gain < PRECISE or size <= 1e-8:
            break
        tilt = tilt + size * step
        now = value(tilt)
    return tilt


@one_thread
def fitted_law(votes: Votes) -> Vector:
    """The law of q: of all that explain the votes the one nearest to a Beta."""
    # With few votes also that nearest to a flat one, averaged.
    a, b = fitted_beta(votes)
    near_beta = nearest(votes, beta_law(a, b))
    if votes.usual[-1] > FEW_VOTES:
        return near_beta
    share = float(np.interp(a + b, *BETA_SHARE))
    return np.asarray(share * near_beta + (1 - share) * nearest(votes, beta_law(1.0, 1.0)))
