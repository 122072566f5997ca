"""Evidence: the kinds of partial observation, each a way to estimate the pair (μ, μ₁)."""

from halftruth.evidence.base import Evidence, Scenario
from halftruth.evidence.labeled import Labeled
from halftruth.evidence.positive_confidence import PositiveConfidence
from halftruth.evidence.positive_unlabeled import PositiveUnlabeled
from halftruth.evidence.soft import SoftLabeled

__all__ = [
    "Evidence",
    "Labeled",
    "PositiveConfidence",
    "PositiveUnlabeled",
    "Scenario",
    "SoftLabeled",
]
