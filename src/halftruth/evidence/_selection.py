"""Selection: how far the known positives may be from a random sample of the positives.

w(s) = f₁(s)/f_known(s) says how much commoner positives of score s are than among the known ones. SCAR is
w = 1. A stated Γ ≥ 1 allows any w in [1/Γ, Γ]: Tan's (2006) marginal sensitivity model, for labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from halftruth import _checks
from halftruth._errors import InputError
from halftruth.measure._tilt import Tilt

__all__ = ["Direction", "Extreme", "GivenSelection", "Selection", "selection_of"]

Direction = Literal["any", "rising", "falling"]
"""How the chance to be known changes with the score; "rising": known because they scored high, w falls."""
GivenSelection = float | tuple[str, float]  # as a user passes it: Γ, or a direction and Γ


@dataclass(frozen=True)
class Extreme:
    """One of the two laws between which that of the positives lies: the largest (upward) or the smallest."""

    gamma: float
    upward: bool
    still: bool = False
    """Whether labels lean the other way only: no law lies beyond that of the known positives."""

    @property
    def tilt(self) -> Tilt:
        """Of a law of known positives alone."""
        return Tilt(low=1 / self.gamma, high=self.gamma, upward=self.upward, still=self.still)


@dataclass(frozen=True)
class Selection:
    """What is granted of how the positives became known: Γ, and in which direction."""

    gamma: float = 1.0
    direction: Direction = "any"

    @property
    def extremes(self) -> tuple[Extreme, ...]:
        """The smallest law and the largest; none at Γ = 1."""
        if self.gamma == 1:
            return ()
        # Known because they scored high: the others score lower, so that only the smallest law opens.
        still = {"any": None, "rising": True, "falling": False}[self.direction]
        return tuple(Extreme(self.gamma, upward, upward is still) for upward in (False, True))

    def as_given(self) -> GivenSelection:
        return self.gamma if self.direction == "any" else (self.direction, self.gamma)

    def __str__(self) -> str:
        lean = {"any": "", "rising": ", rising with the score", "falling": ", falling with the score"}
        return f"Γ = {self.gamma:g}{lean[self.direction]}"


def selection_of(given: object) -> Selection:
    """Read a `selection` argument."""
    direction, gamma = given if isinstance(given, (tuple, list)) and len(given) == 2 else ("any", given)
    advice = (
        "It is Γ, a number from 1 (a random sample, SCAR): with 1.5 a positive's chance to be known is at any"
        ' score 1/1.5 to 1.5 times the average. Or a pair: ("rising", 1.5) where high scores have the higher '
        'chance, ("falling", 1.5) where low ones have.'
    )
    directions: tuple[Direction, ...] = get_args(Direction)
    if direction not in directions or isinstance(gamma, (str, tuple, list)):
        must = 'be Γ or a pair ("rising", Γ), ("falling", Γ)'
        raise InputError(argument="selection", must=must, got=repr(given), remedy=advice)
    gamma = _checks.inside(gamma, "selection", 1.0, np.inf, closed="left", advice=advice)
    return Selection(gamma, _checks.choice(direction, "selection", directions))
