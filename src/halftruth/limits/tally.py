"""Votes as counts: how often k of m was seen, and how likely that is at each place of q."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammaln

from halftruth.checks import Vector
from halftruth.evidence.soft import SoftRows

PLACES = 257
MOST_VOTES = 2000
"""More votes on a case count as so many, whose own error is at most .011: two places of q."""
MANY_CELLS = 5000
"""Different (k, m) from which rows of nearly as many votes are counted together."""
FEW = 60
NEARLY = 1.1
"""Numbers of votes above `FEW` that differ by less than this factor are nearly the same."""
FAINT = 1e-13
"""Share of the largest eigenvalue below which votes do not tell laws apart."""


_ANGLE = np.linspace(0, np.pi / 2, PLACES)
Q: Vector = np.sin(_ANGLE) ** 2
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
    def kernel(self) -> Vector:
        """(c, places) P(k of m votes | q)."""
        k, m = self.k[:, None], self.m[:, None]
        choose = gammaln(m + 1) - gammaln(k + 1) - gammaln(m - k + 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            log_q = np.where(k > 0, k * np.log(Q), 0.0)
            log_rest = np.where(m - k > 0, (m - k) * np.log1p(-Q), 0.0)
        return np.asarray(np.exp(choose + log_q + log_rest))

    @cached_property
    def basis(self) -> Vector:
        """(r, places) orthonormal directions in which the votes tell laws apart."""
        size, columns = np.linalg.eigh(self.kernel.T @ self.kernel)
        return np.asarray(columns[:, size > FAINT * size[-1]].T)

    def resampled(self, rng: np.random.Generator) -> Votes:
        """As many rows, drawn with replacement."""
        n = max(round(self.total), 1)
        out = Votes(k=self.k, m=self.m, count=rng.multinomial(n, self.count / self.total).astype(np.float64))
        out.__dict__.update(kernel=self.kernel, basis=self.basis)  # the same, and slow to find
        return out

    def log_likelihood(self, law: Vector) -> float:
        return float(self.count @ np.log(self.kernel @ law))


def counted(rows: SoftRows) -> Votes:
    """How often each number of votes was seen; unequal weights count as the rows they leave in effect."""
    assert rows.ballots is not None  # the caller's
    m = np.minimum(rows.ballots, MOST_VOTES)
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
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
