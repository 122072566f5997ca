"""The devices that tests of tensors run on."""

from __future__ import annotations

import importlib
from typing import Any

import pytest


@pytest.fixture(params=["cpu", "cuda"])
def device(request: Any, require: Any) -> Any:
    """A device of PyTorch, skipped where this machine has none."""
    torch = require("torch")
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("no CUDA device here")
    return torch.device(request.param)


def tensor(values: Any, device: Any, dtype: str | None = None) -> Any:
    """The values on the device."""
    torch = importlib.import_module("torch")
    return torch.as_tensor(values, device=device, dtype=None if dtype is None else getattr(torch, dtype))
