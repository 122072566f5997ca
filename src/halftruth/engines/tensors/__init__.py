"""Tensors evaluated on the device that holds them: sorted there, or added up to a histogram there."""

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
    from halftruth.engines.tensors import reading, table

    return table.TensorRows(reading.read(score, label, weight=weight, unlabeled=unlabeled, names=names))


def read_groups(
    score: Any, label: Any, *, by: Any, weight: Any = None, unlabeled: float | None = None
) -> Mapping[str, Strata]:
    """The strata of each group, {group as text: strata}, by a tensor of whole numbers."""
    from halftruth.engines.tensors import reading, table

    groups = reading.read_groups(score, label, by=by, weight=weight, unlabeled=unlabeled)
    return {group: table.TensorRows(rows) for group, rows in groups.items()}


def from_strata(**scores: Any) -> Strata:
    """The strata of scores on one device, given for each by its name."""
    from halftruth.engines.tensors import reading, table

    return table.TensorRows(reading.of_strata(scores))


def on_device(*columns: Any) -> bool:
    """Whether these are tensors of many rows on a device that is not the processor and knows float64.

    Columns that are None are left out of account. PyTorch is not imported to tell.
    """
    given = [column for column in columns if column is not None]
    if not all(type(column).__module__.partition(".")[0] == "torch" for column in given):
        return False
    devices = {column.device for column in given}
    away = len(devices) == 1 and devices.pop().type not in ("cpu", "mps", "meta")
    return away and sum(column.numel() for column in given) >= COMPILED
