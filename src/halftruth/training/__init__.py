"""In the training loop: all metrics at once from batches, for torchmetrics, Lightning and plain loops."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from halftruth.training.metric import ScoreMetrics as ScoreMetrics

__all__ = ["ScoreMetrics"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'halftruth.training' has no attribute {name!r}")
    # torchmetrics and PyTorch load when first used; who lacks both is told of both at once.
    importlib.import_module("halftruth.training.optional")
    value = getattr(importlib.import_module("halftruth.training.metric"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
