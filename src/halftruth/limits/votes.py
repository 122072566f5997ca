"""The Bayes error from votes: what they identify, the best value inside, and an interval that holds both."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from halftruth.checks import Vector
from halftruth.evidence.soft import SoftRows
from halftruth.limits.identified import identified_set, likely_range
from halftruth.limits.means import Ends, LimitEstimate, cut
from halftruth.limits.mixture import Votes, fitted_law, grid
from halftruth.measure import ScoreMeasure

LIKELIHOOD = "likelihood"
ASSUMPTION = (
    "Assumes that the votes on a case are independent given its probability, and that how many there are "
    "does not depend on it."
)
MOST = 0.5


@dataclass(frozen=True, kw_only=True, eq=False)
class _Reach:
    """The interval at any level: all laws of q that are likely enough, and all that explain the fit."""

    votes: Votes
    loss: Vector
    identified: Ends

    def ends(self, level: float) -> Ends:
        from scipy.special import ndtri

        drop = float(ndtri((1 + level) / 2)) ** 2 / 2  # half a quantile of χ² with one degree of freedom
        low, high = likely_range(self.votes, self.loss, drop)
        return min(low, self.identified[0]), max(high, self.identified[1])


def votes_estimate(rows: SoftRows, level: float) -> LimitEstimate:
    """The Bayes error from k of m votes a row.

    The value is the mean of min(q, 1 − q) under the fitted law of q. `identified` spans all laws that give
    the same chances to each number of votes. The interval spans all laws whose likelihood is not refuted.
    """
    votes = counted(rows)
    law, q = fitted_law(votes), grid()[0]
    loss = np.minimum(q, 1 - q)
    value, plug_in = float(loss @ law), votes.plug_in()
    identified = cut(identified_set(votes, law, loss), (0.0, MOST))
    reach = _Reach(votes=votes, loss=loss, identified=identified)
    low, high = cut(reach.ends(level), (0.0, MOST))
    return LimitEstimate(
        value=value,
        low=low,
        high=high,
        naive=plug_in,
        confidence_level=level,
        method=LIKELIHOOD,
        notes=(_in_words(plug_in, identified), ASSUMPTION),
        limits=(0.0, MOST),
        identified=identified,
        ends=partial(_Reach.ends, reach),
    )


def _in_words(plug_in: float, identified: Ends) -> str:
    low, high = (f"{end:.4g}" for end in identified)
    text = (
        f"Taking the shares of votes for the probabilities would give {plug_in:.4g}, too small: few votes "
        f"make cases look surer than they are."
    )
    if low == high:
        return text
    return (
        f"{text} However many the cases, so few votes on each leave it open between {low} and {high}; the "
        f"value is that of a smooth law of the probabilities that explains the votes."
    )


def vote_measure(votes: Votes) -> ScoreMeasure:
    """The measure of posteriors under the fitted law of q, with q itself as the score."""
    q, mass = grid()[0], fitted_law(votes) * votes.total
    return ScoreMeasure(score=q, mass=mass, pos_mass=mass * q, size=votes.total)


def counted(rows: SoftRows) -> Votes:
    """How often each number of votes was seen; unequal weights count as the rows they leave in effect."""
    assert rows.ballots is not None  # the caller's
    k, m = np.rint(rows.q * rows.ballots), rows.ballots
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    if not (weight == np.floor(weight)).all():
        weight = weight * weight.sum() / (weight**2).sum()
    base = m.max() + 1
    cells, place = np.unique(m * base + k, return_inverse=True)
    count = np.bincount(place, weights=weight, minlength=len(cells))
    seen = count > 0
    return Votes(k=cells[seen] % base, m=cells[seen] // base, count=count[seen].astype(np.float64))
