"""TensorTable: rows that stay on their device; what is not done there sees them on the host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import cast

import numpy as np

from halftruth._checks import Vector
from halftruth._pytorch import Tensor
from halftruth.engines.tensors import reading, state
from halftruth.engines.tensors.binned import TensorHistogram
from halftruth.engines.tensors.reading import Tensors
from halftruth.engines.tensors.support import TensorSupport
from halftruth.table._grid import Grid
from halftruth.table._groups import STRATA
from halftruth.table._histogram import HEAVIEST, LIGHTEST, MOST
from halftruth.table._score_table import ScoreTable
from halftruth.table._stratum_rows import Rows
from halftruth.table._support import Support


class DeviceRows(Rows):
    """One stratum of rows on a device, downloaded when the host asks for them."""

    tensors: Tensors
    name: str

    def __init__(self, tensors: Tensors, name: str) -> None:
        object.__setattr__(self, "tensors", tensors)
        object.__setattr__(self, "name", name)

    def __len__(self) -> int:
        return self.tensors.n_rows[self.name]

    @cached_property
    def score(self) -> Vector:
        return _host(self.tensors.unchanged().of(self.name)[0]) + 0.0  # −0.0 is 0.0

    @cached_property
    def weight(self) -> Vector | None:
        weight = self.tensors.unchanged().of(self.name)[1] if self.name in self.tensors.weighted else None
        return None if weight is None else _host(weight)


class TensorTable(ScoreTable):
    """Exact rows on a device, evaluated there; those with weights, or of a processor, on the host.

    Parameters
    ----------
    tensors : Tensors
        Checked rows.
    """

    tensors: Tensors

    def __init__(self, tensors: Tensors) -> None:
        object.__setattr__(self, "tensors", tensors)
        super().__init__({name: DeviceRows(tensors, name) for name in tensors.n_rows})

    def cpu(self) -> ScoreTable:
        """The same rows on the host."""
        own = cast("Mapping[str, DeviceRows]", self.strata)
        return ScoreTable({k: Rows(score=rows.score, weight=rows.weight) for k, rows in own.items()})

    def merge(self, *others: ScoreTable) -> ScoreTable:
        """The table of all rows together, on the device if all of them are there."""
        parts = [table.tensors.unchanged() for table in (self, *others) if isinstance(table, TensorTable)]
        if len(parts) == 1 + len(others) and len({part.device for part in parts}) == 1:
            return TensorTable(reading.joined(parts))
        return super().merge(*others)

    @cached_property
    def support(self) -> Support:
        if self.tensors.on_host or self.tensors.weighted:
            return super().support
        return TensorSupport.of_rows(self.tensors.unchanged())

    def compress(self, grid: Grid | str | None = None) -> ScoreTable:
        """The table as a histogram, made on the device."""
        low, high = self.tensors.span
        lightest, heaviest = self.tensors.weights
        unit = low >= 0 and high <= 1
        wanted = Grid(grid) if isinstance(grid, str) else grid or Grid("probability" if unit else "margin")
        fits = unit or wanted.kind == "margin"
        if self.tensors.on_host or not fits or lightest < LIGHTEST or heaviest > HEAVIEST:
            return super().compress(wanted)  # which says what is wrong
        sums = self._state(wanted)
        if not self.tensors.weighted and len(self) <= MOST:
            return TensorHistogram(sums, wanted, self.tensors.n_rows)
        strata = state.bins_of(sums, wanted, STRATA)
        # So much that a sum may have passed 64 bits.
        if max(bins.rows.max() for bins in strata.values()) * max(1.0, heaviest**2) > MOST:
            return super().compress(wanted)
        plain = [name for name in strata if name not in self.tensors.weighted]
        return ScoreTable({**strata, **{k: replace(strata[k], weight=None, square=None) for k in plain}})

    def _state(self, grid: Grid) -> state.State:
        rows = self.tensors.unchanged()
        return state.of_rows(grid, rows.score, rows.stratum, rows.weight, n_strata=len(STRATA))


def _host(column: Tensor) -> Vector:
    return np.asarray(column.cpu().resolve_neg().numpy(), dtype=np.float64)
