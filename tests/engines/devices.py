"""The devices that tests of tensors run on."""

from __future__ import annotations

import importlib
from typing import Any

import pytest


@pytest.fixture(params=["cpu", "cuda"])
def device(request: Any, require: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A device of PyTorch, skipped where this machine has none; the processor is treated as a device too."""
    torch = require("torch")
    as_devices(monkeypatch)
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("no CUDA device here")
    return torch.device(request.param)


def as_devices(patch: pytest.MonkeyPatch) -> None:
    """Let PyTorch do the work wherever tensors are, also where the loops of the host would."""
    from halftruth.engines.tensors._tensor_rows import Tensors

    patch.setattr(Tensors, "on_host", False)


def tensor(values: Any, device: Any, dtype: str | None = None) -> Any:
    """The values on the device."""
    torch = importlib.import_module("torch")
    return torch.as_tensor(values, device=device, dtype=None if dtype is None else getattr(torch, dtype))
