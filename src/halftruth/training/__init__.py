"""In the training loop: all metrics at once from batches, for torchmetrics, Lightning and plain loops.

``_score_metrics`` has the metric, ``_metric_batches`` the batches that it adds to its histogram.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from halftruth._errors import MissingDependency

if TYPE_CHECKING:
    from halftruth.training._score_metrics import ScoreMetrics as ScoreMetrics

__all__ = ["ScoreMetrics"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'halftruth.training' has no attribute {name!r}")
    # torchmetrics and PyTorch load when first used; who lacks either is told of both at once.
    try:
        importlib.import_module("torchmetrics")
    except ModuleNotFoundError as error:
        raise MissingDependency(
            "Metrics of a training loop need PyTorch and torchmetrics: pip install 'halftruth[training]'"
        ) from error
    value: object = getattr(importlib.import_module("halftruth.training._score_metrics"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
