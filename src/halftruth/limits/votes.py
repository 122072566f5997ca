"""Limits from votes: what they identify, the best value inside, and an interval that holds both."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np

from halftruth._checks import Vector
from halftruth.evidence._soft_labeled import SoftRows
from halftruth.limits.identified import (
    Explaining,
    Functional,
    Likely,
    functional_range,
    law_measure,
    likeliest,
    mean_range,
)
from halftruth.limits.means import Ends, LimitEstimate, Mean, cut
from halftruth.limits.mixture import fitted_law
from halftruth.limits.tally import LOSS, Votes, counted, difficulty

LIKELIHOOD = "likelihood"
ASSUMPTION = (
    "Assumes that the votes on a case are independent given its probability, and that how many there are "
    "does not depend on it."
)
MOST = 0.5
"""Of the Bayes error of two classes."""
PLAIN = 0.005
"""A range is not worth a word where it is narrower than this share of the value."""


@dataclass(frozen=True, kw_only=True, eq=False)
class FittedVotes:
    """Votes with their fitted law of q, and what all laws that they do not refute say of a limit."""

    rows: SoftRows
    _regions: dict[float, Likely] = field(default_factory=dict, repr=False)

    @cached_property
    def votes(self) -> Votes:
        return counted(self.rows)

    @cached_property
    def law(self) -> Vector:
        return fitted_law(self.votes)

    @cached_property
    def _likeliest(self) -> Vector:
        return likeliest(self.votes)

    @cached_property
    def _explaining(self) -> Explaining:
        return Explaining(votes=self.votes, law=self.law)

    def _likely(self, level: float) -> Likely:
        # Half a quantile of χ² with two degrees of freedom: one for the value, and one for laws at the edge
        # of what is possible, where one is too few.
        if level not in self._regions:
            drop = -math.log(1 - level)
            self._regions[level] = Likely(votes=self.votes, center=self._likeliest, drop=drop)
        return self._regions[level]

    def bayes_error(self, level: float) -> LimitEstimate:
        """The mean of min(q, 1 − q), with what is to be said of votes."""
        naive = Mean.of(np.minimum(self.rows.q, 1 - self.rows.q), self.rows.weight, MOST).value
        found = self.mean(LOSS, (0.0, MOST), level)
        notes = (*_in_words(naive, found), ASSUMPTION, *difficulty(self.rows))
        return replace(found, naive=naive, notes=notes)

    def mean(self, function: Vector, limits: Ends, level: float) -> LimitEstimate:
        """The mean of a function of q, exactly."""
        identified = mean_range(self._explaining, function)
        ends = partial(_of_mean, self, function)
        return _estimate(float(function @ self.law), identified, ends, limits, level)

    def limit(self, functional: Functional, limits: Ends, level: float) -> LimitEstimate:
        """Any functional of the measure of posteriors."""
        value = float(functional(law_measure(self.law)))
        identified = functional_range(self._explaining, functional, self.law)
        return _estimate(value, identified, partial(_of_functional, self, functional), limits, level)


def _of_mean(fitted: FittedVotes, function: Vector, level: float) -> Ends:
    return mean_range(fitted._likely(level), function)


def _of_functional(fitted: FittedVotes, functional: Functional, level: float) -> Ends:
    return functional_range(fitted._likely(level), functional, fitted.law)


def _estimate(
    value: float, identified: Ends, ends: Callable[[float], Ends], limits: Ends, level: float
) -> LimitEstimate:
    held = cut((min(identified[0], value) + 0.0, max(identified[1], value)), limits)  # never −0
    both = partial(_holding, held, ends)
    low, high = cut(both(level), limits)
    return LimitEstimate(
        value=value,
        low=low,
        high=high,
        confidence_level=level,
        method=LIKELIHOOD,
        limits=limits,
        identified=held,
        ends=both,
    )


def _holding(held: Ends, ends: Callable[[float], Ends], level: float) -> Ends:
    """The interval at a level, with what is identified inside."""
    low, high = ends(level)
    return min(low, held[0]), max(high, held[1])


def _in_words(naive: float, found: LimitEstimate) -> list[str]:
    words = []
    if naive < found.value:
        words.append(
            f"Taking the shares of votes for the probabilities would give {naive:.4g}, too small: votes make "
            f"cases look surer than they are, the more so the fewer they are."
        )
    low, high = found.identified or (found.value, found.value)
    if high - low > PLAIN * found.value:
        words.append(
            f"However many the cases, as few votes on each leave the Bayes error open between {low:.4g} and "
            f"{high:.4g}; the value is that of a smooth law of the probabilities that explains the votes."
        )
    return words
