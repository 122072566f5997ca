"""Learning from rows labeled in part: estimators for scikit-learn, losses for PyTorch.

``_learner`` has what all estimators share, the labels among it. ``_bagged_pu`` and ``_elkan_noto_learner``
wrap another estimator; ``_pu_classifier`` and ``_confidence_classifier`` are each a ``_network_classifier``,
trained by ``_network_training`` with ``_torch_losses``, whose weights are in ``_risk_weights``, and kept as
``_network_arrays``. ``_cross_validation`` turns any estimator into evidence.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from halftruth.learn._bagged_pu import BaggedPU as BaggedPU
    from halftruth.learn._confidence_classifier import (
        PositiveConfidenceClassifier as PositiveConfidenceClassifier,
    )
    from halftruth.learn._cross_validation import cross_val_evidence as cross_val_evidence
    from halftruth.learn._elkan_noto_learner import ElkanNoto as ElkanNoto
    from halftruth.learn._pu_classifier import PUClassifier as PUClassifier
    from halftruth.learn._risk_weights import RiskWeights as RiskWeights
    from halftruth.learn._risk_weights import risk_weights as risk_weights
    from halftruth.learn._torch_losses import PositiveConfidenceLoss as PositiveConfidenceLoss
    from halftruth.learn._torch_losses import PULoss as PULoss

# Torch and scikit-learn load when first used.
_HOMES = {
    "PUClassifier": "_pu_classifier",
    "BaggedPU": "_bagged_pu",
    "ElkanNoto": "_elkan_noto_learner",
    "PositiveConfidenceClassifier": "_confidence_classifier",
    "cross_val_evidence": "_cross_validation",
    "PULoss": "_torch_losses",
    "PositiveConfidenceLoss": "_torch_losses",
    "RiskWeights": "_risk_weights",
    "risk_weights": "_risk_weights",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'halftruth.learn' has no attribute {name!r}")
    value: object = getattr(importlib.import_module(f"halftruth.learn.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
