"""A dense histogram on a device: integer sums of fixed size, to which rows are added in place."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any, TypeAlias

import numpy as np

from halftruth._pytorch import Tensor, torch
from halftruth.table._grid import Grid
from halftruth.table._histogram import UNIT, Bins, sums_of

__all__ = ["Ops", "State", "add_rows", "bins_of", "empty", "has_triton", "of_rows"]

State: TypeAlias = dict[str, Tensor]
"""Columns of a histogram (n_strata · n_slots,): int64 sums, and the lowest and highest score of each bin."""
CHUNK = 1 << 22  # rows whose bins are held at once


class Ops:
    """The functions of `halftruth.table._grid.Ops`, on tensors."""

    def sqrt(self, x: Tensor, /) -> Tensor:
        # On processors PyTorch's own may be off by the last bit, which IEEE 754 does not allow.
        return torch.from_numpy(np.sqrt(x.numpy())) if x.device.type == "cpu" else torch.sqrt(x)

    def abs(self, x: Tensor, /) -> Tensor:
        return torch.abs(x)

    def floor(self, x: Tensor, /) -> Tensor:
        return torch.floor(x)

    def minimum(self, x: Tensor, most: float, /) -> Tensor:
        return torch.clamp(x, max=most)

    def where(self, condition: Tensor, yes: Any, no: Any, /) -> Tensor:
        return torch.where(condition, yes, no)


def empty(
    grid: Grid, *, n_strata: int, weighted: bool, soft: bool = False, device: torch.device | str | None = None
) -> State:
    """The histogram of no rows."""
    size = n_strata * grid.n_slots
    names = sums_of(grid, weighted=weighted, soft=soft)
    state = {name: torch.zeros(size, dtype=torch.int64, device=device) for name in names}
    for name, end in (("low", np.inf), ("high", -np.inf)):
        state[name] = torch.full((size,), end, dtype=torch.float64, device=device)
    return state


def add_rows(
    state: State,
    grid: Grid,
    score: Tensor,
    stratum: Tensor,
    weight: Tensor | None = None,
    value: Tensor | None = None,
) -> None:
    """Add checked rows (n,) to a histogram, in place; values are soft labels."""
    if value is None and score.is_cuda and has_triton():
        from halftruth.engines.tensors import _triton_histogram

        _triton_histogram.add_rows(state, grid, score, stratum, weight)
        return
    for start in range(0, len(score), CHUNK):
        chunk = slice(start, start + CHUNK)
        s = score[chunk].to(torch.float64) + 0.0  # −0.0 is 0.0
        key = stratum[chunk].to(torch.int64) * grid.n_slots + grid.index(s, Ops()).to(torch.int64)
        w = None if weight is None else weight[chunk].to(torch.float64)
        q = None if value is None else value[chunk].to(torch.float64)
        for name, column in _added(s, w, q).items():
            if name in state:
                state[name].index_add_(0, key, column)
        state["low"].scatter_reduce_(0, key, s, "amin")
        state["high"].scatter_reduce_(0, key, s, "amax")


def of_rows(
    grid: Grid, score: Tensor, stratum: Tensor, weight: Tensor | None = None, *, n_strata: int
) -> State:
    """The histogram of rows of hard labels; see `add_rows`."""
    if weight is None and score.is_cuda and has_triton():
        from halftruth.engines.tensors import _triton_histogram

        if _triton_histogram.packs(grid, score):
            return _triton_histogram.histogram(grid, score, stratum, n_strata)
    state = empty(grid, n_strata=n_strata, weighted=weight is not None, device=score.device)
    add_rows(state, grid, score, stratum, weight)
    return state


@cache
def has_triton() -> bool:
    """Whether kernels can be compiled for CUDA: Triton comes with PyTorch's builds for it."""
    return find_spec("triton") is not None


def _added(s: Tensor, w: Tensor | None, q: Tensor | None) -> dict[str, Tensor]:
    """What each row adds to each sum."""
    weight = torch.ones_like(s) if w is None else w
    columns = {
        "rows": torch.ones_like(s, dtype=torch.int64),
        "position": fixed(weight * s),
        "weight": fixed(weight),
        "square": fixed(weight * weight),
    }
    if q is None:
        return columns
    of_value = weight * q
    return columns | {
        "value": fixed(of_value),
        "value_position": fixed(of_value * s),
        "value_square": fixed(weight * (q * q)),
        "hard": fixed(torch.where(q >= 0.5, weight, 0.0)),
        "cross": fixed(weight * of_value),
        "product": fixed(of_value * of_value),
    }


def fixed(numbers: Tensor) -> Tensor:
    """Fixed-point integers: exact to add, in any order."""
    return torch.floor(numbers * UNIT + 0.5).to(torch.int64)


def bins_of(state: State, grid: Grid, names: Sequence[str]) -> dict[str, Bins]:
    """The strata that hold rows, on the host."""
    host = {name: column.cpu().numpy() for name, column in state.items()}
    strata = {}
    for k, name in enumerate(names):
        slots = slice(k * grid.n_slots, (k + 1) * grid.n_slots)
        index = np.flatnonzero(host["rows"][slots])
        if len(index):
            columns: dict[str, Any] = {column: x[slots][index] for column, x in host.items()}
            strata[name] = Bins(grid=grid, index=index.astype(np.int32), **columns)
    return strata
