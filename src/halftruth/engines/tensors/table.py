"""TensorRows: rows that stay on their device; what is not done there sees them on the host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

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
from halftruth.table._strata import Strata, StratumRows
from halftruth.table._support import Support


class DeviceRows(StratumRows):
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


class TensorRows(Strata):
    """Exact rows on a device, evaluated there; those with weights, or of a processor, on the host.

    Parameters
    ----------
    tensors : Tensors
        Checked rows.
    """

    def __init__(self, tensors: Tensors) -> None:
        super().__init__({name: DeviceRows(tensors, name) for name in tensors.n_rows})
        self.tensors = tensors

    def merge(self, others: Sequence[Strata]) -> Strata:
        """All rows together, on the device if all of them are there."""
        tensors = [strata.tensors.unchanged() for strata in (self, *others) if isinstance(strata, TensorRows)]
        if len(tensors) == 1 + len(others) and len({rows.device for rows in tensors}) == 1:
            return TensorRows(reading.joined(tensors))
        return super().merge(others)

    def support(self) -> Support:
        if self.tensors.on_host or self.tensors.weighted:
            return super().support()
        return TensorSupport.of_rows(self.tensors.unchanged())

    def compress(self, grid: Grid | None = None) -> Strata:
        """Histograms, made on the device."""
        low, high = self.tensors.span
        lightest, heaviest = self.tensors.weights
        unit = low >= 0 and high <= 1
        chosen = grid or Grid("probability" if unit else "margin")
        fits = unit or chosen.kind == "margin"
        if self.tensors.on_host or not fits or lightest < LIGHTEST or heaviest > HEAVIEST:
            return super().compress(chosen)  # which says what is wrong
        sums = self._state(chosen)
        n_rows = self.tensors.n_rows
        if not self.tensors.weighted and sum(n_rows.values()) <= MOST:
            return TensorHistogram(sums, chosen, n_rows)
        strata = state.bins_of(sums, chosen, STRATA)
        # So much that a sum may have passed 64 bits.
        if max(bins.rows.max() for bins in strata.values()) * max(1.0, heaviest**2) > MOST:
            return super().compress(chosen)
        plain = [name for name in strata if name not in self.tensors.weighted]
        return Strata({**strata, **{k: replace(strata[k], weight=None, square=None) for k in plain}})

    def _state(self, grid: Grid) -> state.State:
        rows = self.tensors.unchanged()
        return state.of_rows(grid, rows.score, rows.stratum, rows.weight, n_strata=len(STRATA))


def _host(column: Tensor) -> Vector:
    return np.asarray(column.cpu().resolve_neg().numpy(), dtype=np.float64)
