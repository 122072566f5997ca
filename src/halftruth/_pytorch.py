"""PyTorch, which is optional: the one place where it is imported."""

from halftruth._errors import MissingDependency

try:
    import torch
    from torch import Tensor, nn
    from torch.nn import functional
except ModuleNotFoundError as error:
    raise MissingDependency("This needs PyTorch: pip install 'halftruth[torch]'") from error

__all__ = ["Tensor", "functional", "nn", "torch"]
