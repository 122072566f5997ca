"""Votes as counts: how often k of m was seen, and how likely that is at each place of q."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import gammaln

from halftruth._checks import Vector
from halftruth.evidence._soft_labeled import SoftRows
from halftruth.limits.means import scaled
from halftruth.results._estimate import Refuted

PLACES = 257
MOST_VOTES = 2000
"""More votes on a case count as so many, whose own error is at most .011: two places of q."""
MANY_CELLS = 5000
"""Different (k, m) from which rows of nearly as many votes are counted together."""
FEW = 60
NEARLY = 1.1
"""Numbers of votes above `FEW` that differ by less than this factor are nearly the same."""
ENOUGH_ROWS = 30
TAIL = 1e-3
"""Chance below which a difference is called one."""
STRAY = 0.01
"""Rows with a number of votes that so few have, against the commonest, identify nothing more."""
FAINT = 1e-13
"""Share of the largest eigenvalue below which votes do not tell laws apart."""


_ANGLE = np.linspace(0, np.pi / 2, PLACES)
Q: Vector = np.where(np.arange(PLACES) == PLACES // 2, 0.5, np.sin(_ANGLE) ** 2)
"""Places of q, as close as votes tell apart: equal steps of arcsin √q, with 0, ½ and 1 among them."""
EDGES: Vector = np.concatenate([[0.0], np.sin((_ANGLE[1:] + _ANGLE[:-1]) / 2) ** 2, [1.0]])
"""Between the places."""
LOSS: Vector = np.minimum(Q, 1 - Q)
"""min(q, 1 − q) at each place."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Votes:
    """How often each (k, m) was seen.

    Attributes
    ----------
    k, m : (c,) arrays
    count : (c,) array
        Rows.
    """

    k: Vector
    m: Vector
    count: Vector

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
        m = [np.full(len(each), each[-1]) for each in k]
        return _directions(_chances(np.concatenate(k), np.concatenate(m)))

    def log_likelihood(self, law: Vector) -> float:
        return float(self.count @ np.log(self.kernel @ law))


def _chances(k: Vector, m: Vector) -> Vector:
    """P(k of m votes | q) at each place of q."""
    k, m = k[:, None], m[:, None]
    choose = gammaln(m + 1) - gammaln(k + 1) - gammaln(m - k + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_q = np.where(k > 0, k * np.log(Q), 0.0)
        log_rest = np.where(m - k > 0, (m - k) * np.log1p(-Q), 0.0)
    return np.asarray(np.exp(choose + log_q + log_rest))


def _directions(rows: Vector) -> Vector:
    """An orthonormal basis of what rows span, but for what they hold only faintly."""
    size, columns = np.linalg.eigh(rows.T @ rows)
    return np.asarray(columns[:, size > FAINT * size[-1]].T)


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
    weight = weight * (weight.sum() / (weight**2).sum())
    votes = _tally(np.rint(rows.q * m), m, weight)
    if len(votes.count) <= MANY_CELLS:
        return votes
    # The noise of a share hardly differs between 200 votes and 210.
    near = np.rint(FEW * NEARLY ** np.rint(np.log(votes.m / FEW) / np.log(NEARLY)))
    m = np.where(votes.m > FEW, near, votes.m)
    return _tally(np.rint(votes.k / votes.m * m), m, votes.count)


def _tally(k: Vector, m: Vector, weight: Vector) -> Votes:
    base = m.max() + 1
    cells, place = np.unique(m * base + k, return_inverse=True)
    count = np.bincount(place, weights=weight, minlength=len(cells))
    seen = count > 0
    return Votes(k=cells[seen] % base, m=cells[seen] // base, count=count[seen].astype(np.float64))


def difficulty(rows: SoftRows) -> list[str]:
    """A note where rows with more votes disagree more, or less, than chance explains.

    The share of pairs of votes that disagree has the same mean, E 2q(1 − q), whatever the number of votes, if
    how many there are does not depend on the case. It is compared between the numbers that enough rows have.
    """
    assert rows.ballots is not None  # the caller's
    weight = np.ones(len(rows)) if rows.weight is None else scaled(rows.weight)
    held = weight > 0
    m, k, weight = rows.ballots[held], (rows.q * rows.ballots)[held], weight[held]
    usual, place, sizes = np.unique(m, return_inverse=True, return_counts=True)
    kept = (usual >= 2) & (sizes >= ENOUGH_ROWS)
    if kept.sum() < 2:
        return []
    with np.errstate(divide="ignore", invalid="ignore"):
        apart = 2 * k * (m - k) / (m * (m - 1))
    groups = [place == i for i in np.flatnonzero(kept)]
    means, errors = np.array([_mean_and_error(apart[each], weight[each]) for each in groups]).T
    known = errors > 0
    if known.sum() < 2:
        return []
    precision = errors[known] ** -2.0
    middle = (precision @ means[known]) / precision.sum()
    from scipy.special import chdtrc

    if chdtrc(known.sum() - 1, float(precision @ (means[known] - middle) ** 2)) > TAIL:
        return []
    return [
        Refuted(
            f"How many votes a case has depends on how hard it is: by their number, two votes disagree in "
            f"{means.min():.3g} to {means.max():.3g} of the cases, beyond chance. The Bayes error is then "
            f"not identified. Evaluate cases with one number of votes apart, or draw as many votes of each."
        )
    ]


def _mean_and_error(values: Vector, weight: Vector) -> tuple[float, float]:
    share = weight / weight.sum()
    mean = float(share @ values)
    return mean, float(np.sqrt(np.sum((share * (values - mean)) ** 2)))
