"""Tensors evaluated on the device that holds them: sorted there, or added up to a histogram there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from halftruth.table._histogram import COMPILED

if TYPE_CHECKING:
    from halftruth.engines.tensors.table import TensorTable


def read(
    score: Any,
    label: Any = None,
    *,
    weight: Any = None,
    unlabeled: float | None = None,
    by: Any = None,
    names: tuple[str, str, str] = ("score", "label", "weight"),
) -> Any:
    """The table of tensors on one device, or {group as text: table} by a tensor of whole numbers.

    ``names`` are what messages call the scores, labels and weights.
    """
    from halftruth.engines.tensors import reading, table

    if by is None:
        return table.TensorTable(reading.read(score, label, weight=weight, unlabeled=unlabeled, names=names))
    found = reading.read_groups(score, label, by=by, weight=weight, unlabeled=unlabeled)
    return {group: table.TensorTable(rows) for group, rows in found.items()}


def from_strata(**scores: Any) -> TensorTable:
    """The table of scores on one device, given for each stratum by its name."""
    from halftruth.engines.tensors import reading, table

    return table.TensorTable(reading.of_strata(scores))


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
