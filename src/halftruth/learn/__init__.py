"""Learning from positives and unlabeled rows: losses for PyTorch, estimators for scikit-learn."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from halftruth.learn.bagging import BaggedPU as BaggedPU
    from halftruth.learn.cross_validation import cross_val_evidence as cross_val_evidence
    from halftruth.learn.elkan_noto import ElkanNoto as ElkanNoto
    from halftruth.learn.losses import PositiveConfidenceLoss as PositiveConfidenceLoss
    from halftruth.learn.losses import PULoss as PULoss
    from halftruth.learn.positive_confidence import (
        PositiveConfidenceClassifier as PositiveConfidenceClassifier,
    )
    from halftruth.learn.pu_classifier import PUClassifier as PUClassifier
    from halftruth.learn.weights import RiskWeights as RiskWeights
    from halftruth.learn.weights import risk_weights as risk_weights

# Torch and scikit-learn load when first used.
_HOMES = {
    "PUClassifier": "pu_classifier",
    "BaggedPU": "bagging",
    "ElkanNoto": "elkan_noto",
    "PositiveConfidenceClassifier": "positive_confidence",
    "cross_val_evidence": "cross_validation",
    "PULoss": "losses",
    "PositiveConfidenceLoss": "losses",
    "RiskWeights": "weights",
    "risk_weights": "weights",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'halftruth.learn' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"halftruth.learn.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
