"""torchmetrics, which is optional and needs PyTorch: the one place where it is imported."""

from halftruth._errors import MissingDependency

try:
    from torchmetrics import Metric
except ModuleNotFoundError as error:
    raise MissingDependency(
        "Metrics of a training loop need PyTorch and torchmetrics: pip install 'halftruth[training]'"
    ) from error

__all__ = ["Metric"]
