"""Strata that stay on their device, as rows or a histogram; what is not done there sees them on the host."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from halftruth._checks import Vector
from halftruth._pytorch import Tensor, functional, torch
from halftruth.engines.tensors import _dense_histogram, _tensor_rows
from halftruth.engines.tensors._dense_histogram import State, bins_of, has_triton
from halftruth.engines.tensors._tensor_rows import Tensors
from halftruth.engines.tensors._tensor_support import TensorSupport
from halftruth.table._grid import Grid
from halftruth.table._groups import STRATA
from halftruth.table._histogram import HEAVIEST, LIGHTEST, MOST, Bins, support_of
from halftruth.table._strata import Strata, StratumRows
from halftruth.table._support import Support

__all__ = ["DeviceBins", "DeviceRows", "TensorHistogram", "TensorRows", "starts_of"]


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
    """Exact rows on a device, evaluated there; those with weights, or of a processor, on the host."""

    def __init__(self, tensors: Tensors) -> None:
        super().__init__({name: DeviceRows(tensors, name) for name in tensors.n_rows})
        self.tensors = tensors

    def merge(self, others: Sequence[Strata]) -> Strata:
        """All rows together, on the device if all of them are there."""
        tensors = [strata.tensors.unchanged() for strata in (self, *others) if isinstance(strata, TensorRows)]
        if len(tensors) == 1 + len(others) and len({rows.device for rows in tensors}) == 1:
            return TensorRows(_tensor_rows.joined(tensors))
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
        rows = self.tensors.unchanged()
        sums = _dense_histogram.of_rows(chosen, rows.score, rows.stratum, rows.weight, n_strata=len(STRATA))
        n_rows = self.tensors.n_rows
        if not self.tensors.weighted and sum(n_rows.values()) <= MOST:
            return TensorHistogram(sums, chosen, n_rows)
        strata = bins_of(sums, chosen, STRATA)
        # So much that a sum may have passed 64 bits: the host adds up with a check.
        if max(bins.rows.max() for bins in strata.values()) * max(1.0, heaviest**2) > MOST:
            return super().compress(chosen)
        # One column of weights serves all strata; those where every weight is one are stored without.
        plain = [name for name in strata if name not in self.tensors.weighted]
        return Strata({**strata, **{k: replace(strata[k], weight=None, square=None) for k in plain}})


def _host(column: Tensor) -> Vector:
    return np.asarray(column.cpu().resolve_neg().numpy(), dtype=np.float64)


# --- Histograms -----------------------------------------------------------------------------------


class TensorHistogram(Strata):
    """A histogram of plain rows on a device: its state, and how many rows each stratum has."""

    def __init__(self, state: State, grid: Grid, n_rows: Mapping[str, int]) -> None:
        self.state, self.n_rows, self._grid = state, n_rows, grid
        super().__init__({name: DeviceBins(self, name) for name in n_rows})

    @cached_property
    def bins(self) -> dict[str, Bins]:
        """On the host."""
        return bins_of(self.state, self._grid, STRATA)

    def to_host(self) -> Strata:
        return Strata(self.bins)

    def support(self) -> Support:
        """The bins as scores at the mean of their rows; those without rows too, where they start."""
        starts = starts_of(self._grid, self.state["rows"].device)
        # In one line, and without indices: a scan of each row, or an index from the host, would take longer.
        running = torch.cumsum(self.state["rows"], 0)
        before, below = 0, []
        for total, name in zip(running.view(len(STRATA), -1), STRATA, strict=True):
            if name in self.n_rows:
                below.append(functional.pad(total - before, (1, 0)))
                before += self.n_rows[name]
        return BinnedSupport(self._means(starts), torch.stack(below), self.n_rows, self)

    def _means(self, starts: Tensor) -> Tensor:
        if starts.is_cuda and has_triton():
            from halftruth.engines.tensors import _triton_pass

            return _triton_pass.means(self.state, starts)
        columns = {name: column.view(len(STRATA), -1) for name, column in self.state.items()}
        rows, low, high = columns["rows"], columns["low"].amin(dim=0), columns["high"].amax(dim=0)
        middle = low / 2 + high / 2
        if "position" in columns:
            weight = (rows << 32).to(torch.float64).sum(dim=0)
            middle = columns["position"].to(torch.float64).sum(dim=0) / weight
        return torch.where(rows.sum(dim=0) > 0, torch.clamp(middle, low, high), starts)


@lru_cache(maxsize=8)
def starts_of(grid: Grid, device: torch.device) -> Tensor:
    """A score where each bin starts, or nearly: in ascending order with the scores of other bins."""
    return torch.from_numpy(grid.starts()).to(device)


class BinnedSupport(TensorSupport):
    """The bins of a histogram as scores; where they are distinct, those of the host's histogram."""

    histogram: TensorHistogram

    def __init__(
        self, atom: Tensor, below: Tensor, held: Mapping[str, int], histogram: TensorHistogram
    ) -> None:
        super().__init__(atom, below, held)
        object.__setattr__(self, "histogram", histogram)

    @property
    def bounded(self) -> bool:
        return self.histogram._grid.kind == "probability" or super().bounded

    @cached_property
    def span(self) -> tuple[float, float]:
        score = self.distinct.score
        return float(score[0]), float(score[-1])

    @cached_property
    def distinct(self) -> Support:
        return support_of(self.histogram.bins)

    def coarse(self, n_atoms: int, keep: Iterable[float] = ()) -> Support:
        return self.distinct.coarse(n_atoms, keep)


def _on_host(column: str) -> Any:
    """A property: this column of the bins, once they are downloaded."""
    return property(lambda bins: getattr(bins.histogram.bins[bins.name], column))


class DeviceBins(Bins):
    """One stratum of a histogram on a device, downloaded when the host asks for its bins."""

    def __init__(self, histogram: TensorHistogram, name: str) -> None:
        object.__setattr__(self, "histogram", histogram)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "grid", histogram._grid)

    histogram: TensorHistogram
    name: str
    index, rows, position, low, high = map(_on_host, ("index", "rows", "position", "low", "high"))

    def __len__(self) -> int:
        return self.histogram.n_rows[self.name]
