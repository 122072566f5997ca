"""The Bayes error from votes: what they identify, the best value inside, and an interval that holds both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from halftruth.evidence.soft import SoftRows
from halftruth.limits.identified import identified_set, likely_range
from halftruth.limits.means import Ends, LimitEstimate, Mean, cut
from halftruth.limits.mixture import fitted_law
from halftruth.limits.tally import LOSS, Q, Votes, counted
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
    identified: Ends

    def ends(self, level: float) -> Ends:
        from scipy.special import ndtri

        drop = float(ndtri((1 + level) / 2)) ** 2 / 2  # half a quantile of χ² with one degree of freedom
        low, high = likely_range(self.votes, LOSS, drop)
        return min(low, self.identified[0]), max(high, self.identified[1])


def votes_estimate(rows: SoftRows, level: float) -> LimitEstimate:
    """The Bayes error from k of m votes a row.

    The value is the mean of min(q, 1 − q) under the fitted law of q. `identified` spans all laws that give
    the same chances to each number of votes. The interval spans all laws whose likelihood is not refuted.
    """
    votes = counted(rows)
    law = fitted_law(votes)
    value, plug_in = float(LOSS @ law), Mean.of(np.minimum(rows.q, 1 - rows.q), rows.weight, MOST).value
    identified = cut(identified_set(votes, law, LOSS), (0.0, MOST))
    reach = _Reach(votes=votes, identified=identified)
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
        ends=reach.ends,
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
    mass = fitted_law(votes) * votes.total
    return ScoreMeasure(score=Q, mass=mass, pos_mass=mass * Q, size=votes.total)
