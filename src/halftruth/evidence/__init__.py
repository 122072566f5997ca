"""Evidence: the kinds of partial observation, each a way to estimate the pair (μ, μ₁).

A new kind is a class in a file of its own, and its place in `KINDS`. What other rooms want to know of it
they ask through the properties and methods of `Evidence`.
"""

from halftruth._errors import InputError
from halftruth.evidence._evidence import Evidence, Scenario
from halftruth.evidence._labeled import Labeled
from halftruth.evidence._positive_confidence import PositiveConfidence
from halftruth.evidence._positive_unlabeled import PositiveUnlabeled
from halftruth.evidence._reviewed import Reviewed
from halftruth.evidence._soft_labeled import SoftLabeled

__all__ = [
    "KINDS", "Evidence", "Labeled", "PositiveConfidence", "PositiveUnlabeled", "Reviewed", "Scenario",
    "SoftLabeled", "as_evidence",
]  # fmt: skip

KINDS: tuple[type[Evidence], ...] = (Labeled, SoftLabeled, PositiveUnlabeled, PositiveConfidence, Reviewed)
"""All kinds, in the order in which they are named to a user."""


def as_evidence(
    value: object, name: str = "evidence", *, remedy: str = "Wrap your arrays, e.g. Labeled(y_true, y_score)."
) -> Evidence:
    """The evidence itself; an error that names the kinds for anything else."""
    if isinstance(value, Evidence):
        return value
    *others, last = (kind.__name__ for kind in KINDS)
    raise InputError(
        argument=name, must=f"be {', '.join(others)} or {last}", got=type(value).__name__, remedy=remedy
    )
