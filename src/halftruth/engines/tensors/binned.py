"""TensorHistogram: a histogram that stays on its device; what is not done there sees it on the host."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache
from typing import Any

from halftruth._checks import Vector
from halftruth._pytorch import Tensor, functional, torch
from halftruth.engines.tensors.state import State, bins_of, has_triton
from halftruth.engines.tensors.support import TensorSupport
from halftruth.table._grid import Grid
from halftruth.table._groups import STRATA
from halftruth.table._histogram import Bins, Integers, support_of
from halftruth.table._strata import Strata
from halftruth.table._support import Support


class TensorHistogram(Strata):
    """A histogram of plain rows on a device.

    Parameters
    ----------
    state : State
        Of the three strata.
    grid : Grid
    n_rows : mapping of str to int
        Of each stratum that has rows.
    """

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
        for own, name in zip(running.view(len(STRATA), -1), STRATA, strict=True):
            if name in self.n_rows:
                below.append(functional.pad(own - before, (1, 0)))
                before += self.n_rows[name]
        return BinnedSupport(self._means(starts), torch.stack(below), self.n_rows, self)

    def _means(self, starts: Tensor) -> Tensor:
        if starts.is_cuda and has_triton():
            from halftruth.engines.tensors import passes

            return passes.means(self.state, starts)
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
    """The bins of a histogram as scores; where they are unfolded, those of the host's histogram."""

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


class DeviceBins(Bins):
    """One stratum of a histogram on a device, downloaded when the host asks for its bins."""

    def __init__(self, histogram: TensorHistogram, name: str) -> None:
        object.__setattr__(self, "histogram", histogram)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "grid", histogram._grid)

    histogram: TensorHistogram
    name: str

    def __len__(self) -> int:
        return self.histogram.n_rows[self.name]

    @property
    def _own(self) -> Bins:
        return self.histogram.bins[self.name]

    @property
    def index(self) -> Any:
        return self._own.index

    @property
    def rows(self) -> Integers:
        return self._own.rows

    @property
    def position(self) -> Integers | None:
        return self._own.position

    @property
    def low(self) -> Vector:
        return self._own.low

    @property
    def high(self) -> Vector:
        return self._own.high
