"""Where kernels run."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import wraps
from typing import ParamSpec, TypeVar

from halftruth._pytorch import Tensor, torch

P = ParamSpec("P")
T = TypeVar("T")


def on_its_device(call: Callable[P, T]) -> Callable[P, T]:
    """Triton launches on the current device: make that the one of the first tensor that is passed.

    Tensors of the processor need none: Triton's interpreter reads them.
    """

    @wraps(call)
    def launched(*args: P.args, **kwargs: P.kwargs) -> T:
        device = next(x.device for x in args if isinstance(x, Tensor))
        with torch.cuda.device(device) if device.type == "cuda" else nullcontext():
            return call(*args, **kwargs)

    return launched
