"""Tensors evaluated on the device that holds them: sorted there, or added up to a histogram there.

``_tensor_rows`` checks rows, ``_device_strata`` has the strata of them or of ``_dense_histogram``, and
``_tensor_support`` their distinct scores, which ``_tensor_pass`` reads once. ``_triton_histogram`` and
``_triton_pass`` do the same by kernels on CUDA. This module itself does without PyTorch.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from halftruth.table._histogram import COMPILED
from halftruth.table._strata import Strata

__all__ = ["from_strata", "on_device", "read", "read_groups"]


def read(
    score: Any,
    label: Any = None,
    *,
    weight: Any = None,
    unlabeled: float | None = None,
    names: tuple[str, str, str] = ("score", "label", "weight"),
) -> Strata:
    """The strata of tensors on one device; ``names`` are what messages call scores, labels and weights."""
    from halftruth.engines.tensors import _device_strata, _tensor_rows

    rows = _tensor_rows.read(score, label, weight=weight, unlabeled=unlabeled, names=names)
    return _device_strata.TensorRows(rows)


def read_groups(
    score: Any, label: Any, *, by: Any, weight: Any = None, unlabeled: float | None = None
) -> Mapping[str, Strata]:
    """The strata of each group, {group as text: strata}, by a tensor of whole numbers."""
    from halftruth.engines.tensors import _device_strata, _tensor_rows

    groups = _tensor_rows.read_groups(score, label, by=by, weight=weight, unlabeled=unlabeled)
    return {group: _device_strata.TensorRows(rows) for group, rows in groups.items()}


def from_strata(**scores: Any) -> Strata:
    """The strata of scores on one device, given for each by its name."""
    from halftruth.engines.tensors import _device_strata, _tensor_rows

    return _device_strata.TensorRows(_tensor_rows.of_strata(scores))


def on_device(*columns: Any) -> bool:
    """Whether these are tensors of many rows on a device that is not the processor and knows float64.

    Columns that are None are left out of account. PyTorch is not imported to tell.
    """
    present = [column for column in columns if column is not None]
    if not all(type(column).__module__.partition(".")[0] == "torch" for column in present):
        return False
    devices = {column.device for column in present}
    away = len(devices) == 1 and devices.pop().type not in ("cpu", "mps", "meta")
    return away and sum(column.numel() for column in present) >= COMPILED
