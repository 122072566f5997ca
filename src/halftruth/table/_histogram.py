"""Histogram strata: integer sums on a fixed grid of scores, which merge to the bit in any order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector
from halftruth._errors import InputError, MergeError, OutsideGrid, arg
from halftruth.table._grid import Grid
from halftruth.table._support import Cells, Support, lower_factor

UNIT = float(1 << 32)
"""Fixed-point steps in one: a score or a weight w is stored as the integer ⌊w · 2³² + ½⌋."""
LIGHTEST, HEAVIEST = 2.0**-10, 2.0**15
"""Weights whose fixed-point numbers are neither coarse nor out of range."""
MOST = 1 << 30  # rows, or sum of weights or of their squares, in one bin: beyond, integers might overflow
COMPILED = 1 << 19  # rows from which the compiled loops pay for being loaded

Integers = NDArray[np.int64]


def sums_of(grid: Grid, *, weighted: bool, soft: bool = False) -> tuple[str, ...]:
    """The integer columns of a histogram of such rows."""
    placed = grid.kind == "probability"
    return (
        "rows",
        *(("position",) if placed else ()),
        *(("weight", "square") if weighted else ()),
        *(("value", "value_square", "hard") if soft else ()),
        *(("value_position",) if soft and placed else ()),
        *(("cross", "product") if soft and weighted else ()),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Bins:
    """One stratum as a histogram: exact integer sums of its rows, by bin; weights are in steps of 2⁻³²."""

    grid: Grid
    index: NDArray[np.int32]
    """The bins that hold rows, ascending."""
    rows: Integers
    low: Vector
    high: Vector
    """The lowest and the highest score in the bin."""
    position: Integers | None = None  # Σ w s; None on a grid of margins, whose sums no metric needs
    weight: Integers | None = None
    square: Integers | None = None
    """Σ w and Σ w²; None where all weights are one."""
    value: Integers | None = None
    value_position: Integers | None = None
    value_square: Integers | None = None
    hard: Integers | None = None
    """Of rows with soft labels q: Σ w q, Σ w q s, Σ w q², and Σ w where q ≥ ½."""
    cross: Integers | None = None
    product: Integers | None = None
    """Σ w² q and Σ (w q)², of weighted rows with soft labels."""
    meaning: str | None = None  # what the values are: "soft label" unless another is named

    def __post_init__(self) -> None:
        if self.meaning is None and self.value is not None:
            object.__setattr__(self, "meaning", "soft label")
        columns = {name: column for name, column in vars(self).items() if isinstance(column, np.ndarray)}
        if len({column.shape for column in columns.values()}) > 1 or self.index.ndim != 1:
            raise InputError("The columns of a histogram must have one length.")
        if set(columns) != {"index", "low", "high", *self.sums}:
            raise InputError(
                f"A histogram on the {self.grid} has the columns index, low, high, {', '.join(self.sums)}; "
                f"got {', '.join(columns)}."
            )
        inside = not len(self.index) or (self.index[0] >= 0 and self.index[-1] < self.grid.n_slots)
        if not (inside and (np.diff(self.index) > 0).all() and (self.rows > 0).all()):
            raise InputError("The bins of a histogram must ascend, lie on the grid and hold rows.")
        if not ((self.low <= self.high).all() and np.isfinite([self.low, self.high]).all()):
            raise InputError("The scores of a histogram must be finite, the lowest of a bin first.")
        for column in columns.values():
            column.flags.writeable = False

    @classmethod
    def of(
        cls,
        grid: Grid,
        score: Vector,
        weight: Vector | None = None,
        *,
        value: Vector | None = None,
        meaning: str | None = None,
    ) -> Bins:
        """The histogram of rows, in whatever order they come; ``value`` holds their soft labels."""
        if grid.kind == "probability" and not (score.min() >= 0 and score.max() <= 1):
            raise OutsideGrid(
                f"A probability grid takes scores in [0, 1], got {score.min():g} to {score.max():g}.",
                remedy=f"Use {arg('grid', 'margin')}.",
            )
        if weight is not None:
            refuse_weights(float(weight.min()), float(weight.max()))
        heavy = len(score) > MOST or (
            weight is not None and max(weight.sum(), (weight * weight).sum()) > MOST
        )
        if value is not None and not (value.min() >= 0 and value.max() <= 1):
            raise InputError(f"Soft labels must lie in [0, 1], got {value.min():g} to {value.max():g}.")
        names = sums_of(grid, weighted=weight is not None, soft=value is not None)
        if len(score) >= COMPILED and not heavy:
            from halftruth.kernels._row_bins import bin_rows

            dense = bin_rows(score, weight, value, **grid.to_dict())
            used = np.flatnonzero(dense[:, 0]).astype(np.int32)
            columns: dict[str, Any] = dict(zip(names, dense[used].T.copy(), strict=False))
            # The last two columns hold the bits of floats: the lowest and the highest score.
            columns |= dict(zip(("low", "high"), dense.view(np.float64)[used, -2:].T.copy(), strict=True))
            return cls(grid=grid, index=used, **columns, meaning=meaning)
        adds = _adds(score, np.ones(len(score)) if weight is None else weight, value)
        columns = {name: fixed(adds[name]) for name in names if name != "rows"}
        columns["rows"] = np.ones(len(score), dtype=np.int64)
        return _gathered(grid, grid.bins(score), {**columns, "low": score, "high": score}, meaning)

    @classmethod
    def checked(cls, grid: Grid, columns: Mapping[str, Any], meaning: str | None = None) -> Bins:
        """A stratum from stored columns: they may be damaged or made up."""
        weighted = "weight" in columns or "square" in columns
        wanted = dict.fromkeys(sums_of(grid, weighted=weighted, soft=meaning is not None), "int64")
        wanted |= {"index": "int32", "low": "float64", "high": "float64"}
        types = {name: str(column.dtype) for name, column in columns.items()}
        if types != wanted:
            raise InputError(f"a histogram on the {grid} has columns {wanted}, not {types}")
        bins = cls(grid=grid, **columns, meaning=meaning)
        if not all(np.array_equal(grid.bins(end), bins.index) for end in (bins.low, bins.high)):
            raise InputError("scores lie outside their bins")
        weight, square, rows = bins.full("weight"), bins.full("square"), bins.rows
        mean = weight / rows / UNIT
        if rows.max(initial=0) > MOST or not ((mean >= LIGHTEST) & (mean <= HEAVIEST)).all():
            raise InputError("its rows or weights are out of range")
        if not (square / rows / UNIT >= mean**2 - 2.0**-30 * (1 + mean)).all():
            raise InputError("its sums of weights and of their squares do not go together")
        if bins.position is not None:
            where = bins.position / weight
            slack = 2.0**-32 / mean + 1e-12
            if not ((where >= bins.low - slack) & (where <= bins.high + slack)).all():
                raise InputError("its sums of scores lie outside their bins")
        if bins.value is not None and not _possible(bins):
            raise InputError("its sums of soft labels do not go together")
        return bins

    def __len__(self) -> int:
        return int(self.rows.sum())

    @property
    def span(self) -> tuple[float, float]:
        """The lowest and the highest score."""
        return float(self.low.min()), float(self.high.max())

    @property
    def size(self) -> tuple[float, float]:
        """Σ w and Σ w²."""
        if self.weight is None or self.square is None:
            return float(len(self)), float(len(self))
        # In floats: the integers of all bins together may pass 2^63.
        total, squares = (float(x.sum(dtype=np.float64) / UNIT) for x in (self.weight, self.square))
        return total, squares

    @property
    def sums(self) -> tuple[str, ...]:
        """The names of the integer columns."""
        return sums_of(self.grid, weighted=self.weight is not None, soft=self.meaning is not None)

    def full(self, name: str) -> Integers:
        """A column of integers, also one of weights where all are one."""
        column: Integers | None = getattr(self, name)
        if column is not None:
            return column
        plain = {"cross": self.value, "product": self.value_square}.get(name)
        return self.rows << 32 if plain is None else plain

    def means(self, name: str) -> Vector:
        """What a row adds to a column on average."""
        return np.asarray(self.full(name) / UNIT / self.rows)

    def concatenate(self, other: Bins) -> Bins:
        """The histogram of the rows of both."""
        refuse_other_grid(self.grid, other.grid)
        refuse_other_meaning(self.meaning, other.meaning)
        both = (self, other)
        weighted = self.weight is not None or other.weight is not None
        names = sums_of(self.grid, weighted=weighted, soft=self.meaning is not None)
        columns = {name: np.concatenate([x.full(name) for x in both]) for name in names}
        columns |= {name: np.concatenate([getattr(x, name) for x in both]) for name in ("low", "high")}
        return _gathered(self.grid, np.concatenate([x.index for x in both]), columns, self.meaning)

    def moved(self, score: Vector, grid: Grid) -> Bins:
        """The same rows, those of each bin at a new score."""
        columns = {name: self.full(name) for name in self.sums}
        for name, base in (("position", "weight"), ("value_position", "value")):
            columns.pop(name, None)
            if name in sums_of(grid, weighted=False, soft=self.meaning is not None):
                columns[name] = np.floor(self.full(base) * score + 0.5).astype(np.int64)
        return _gathered(grid, grid.bins(score), {**columns, "low": score, "high": score}, self.meaning)

    def part(self, rows: Integers) -> Bins:
        """So many rows of each bin, as if all rows of a bin were its mean row."""
        used = np.flatnonzero(rows)
        share = rows[used] / self.rows[used]
        columns: dict[str, Any] = {
            name: np.rint(self.full(name)[used] * share).astype(np.int64) for name in self.sums
        }
        columns |= {"rows": rows[used], "low": self.low[used], "high": self.high[used]}
        return Bins(grid=self.grid, index=self.index[used], **columns, meaning=self.meaning)

    def cells(self, atom: NDArray[np.intp]) -> Cells:
        """The bins as joined cells at these atoms."""
        if self.weight is None and self.value is None:
            return Cells(atom=atom, count=self.rows)
        weight = self.means("weight")
        ww = _variance(self.means("square"), weight)
        if self.value is None:
            spread = np.stack([np.sqrt(ww), np.zeros_like(ww), np.zeros_like(ww)])
            return Cells(atom=atom, count=self.rows, weight=weight, spread=spread)
        value = self.means("value")
        vv = _variance(self.means("product"), value)
        # What does not vary has no covariance either, whatever rounding says.
        wv = np.where(vv > 0, self.means("cross") - weight * value, 0.0)
        square, spread = self.means("value_square"), lower_factor(ww, wv, vv)
        return Cells(atom=atom, count=self.rows, weight=weight, value=value, square=square, spread=spread)


def fixed(numbers: Vector) -> Integers:
    """Fixed-point integers: exact to add, in any order."""
    return np.floor(numbers * UNIT + 0.5).astype(np.int64)


def _adds(score: Vector, weight: Vector, value: Vector | None) -> dict[str, Vector]:
    """What a row adds to each sum, in the order of operations that every engine keeps."""
    out = {"weight": weight, "square": weight * weight}
    # The position of a margin may overflow; its grid does not keep that sum.
    with np.errstate(over="ignore"):
        out["position"] = weight * score
        if value is None:
            return out
        weighed = weight * value
        at = weighed * score
    return out | {
        "value": weighed,
        "value_position": at,
        "value_square": weight * (value * value),
        "hard": np.where(value >= 0.5, weight, 0.0),
        "cross": weight * weighed,
        "product": weighed * weighed,
    }


def _variance(square: Vector, mean: Vector) -> Vector:
    """Of fixed-point numbers, 0 where rounding could have made it."""
    out = square - mean**2
    return np.where(out > (1 + 2 * mean) / UNIT, out, 0.0)


def _possible(bins: Bins) -> bool:
    """Whether soft labels in [0, 1] can have these sums: inequalities of their moments, up to rounding."""
    w, v, vv, hard = map(bins.means, ("weight", "value", "value_square", "hard"))
    of_ww, of_wv, of_vv = map(bins.means, ("square", "cross", "product"))
    rising: list[tuple[Any, Any]] = [(0, v), (v, w), (vv, v), (v * v, vv * w)]
    rising += [(0, hard), (hard, w), (hard / 2, v), (v, (w + hard) / 2)]
    rising += [(v * v, of_vv), (of_vv, of_wv), (of_wv, of_ww), (of_wv**2, of_ww * of_vv)]
    if bins.position is not None:
        at, of_value = bins.means("position"), bins.means("value_position")
        for share, where in ((v, of_value), (w - v, at - of_value)):
            rising += [(share * bins.low, where), (where, share * bins.high)]
    slack = 2.0**-30 * (1 + w + of_ww)
    return all(bool((low <= high * (1 + 1e-12) + slack).all()) for low, high in rising)


def refuse_other_grid(one: Grid | None, other: Grid | None) -> None:
    """Raise unless two histograms can be added bin by bin."""
    if one != other:
        raise MergeError(
            f"The tables have different grids: {one}, and {other}. Make both with the same {arg('grid')}, "
            "e.g. from the rows."
        )


def refuse_other_meaning(one: str | None, other: str | None) -> None:
    """Raise unless the values of two strata mean the same."""
    if one != other:
        raise MergeError(
            f"The rows of one table carry {one or 'no value'}, those of the other {other or 'no value'}. "
            "Merge tables made from the same columns."
        )


def refuse_weights(lightest: float, heaviest: float) -> None:
    """Raise where fixed-point sums would be coarse or overflow."""
    if lightest < LIGHTEST or heaviest > HEAVIEST:
        raise InputError(
            f"A histogram takes weights from 2^-10 to 2^15, got {lightest:g} to {heaviest:g}. Multiply all "
            f"weights by one number: metrics do not depend on their scale."
        )


def _gathered(grid: Grid, index: NDArray[np.int32], columns: Mapping[str, Any], meaning: str | None) -> Bins:
    """Rows or bins joined by bin: integers add up, the lowest and the highest score stay."""
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    first = np.flatnonzero(np.diff(ordered, prepend=-1))
    joins = {"low": np.minimum, "high": np.maximum}
    joined: dict[str, Any] = {
        name: joins.get(name, np.add).reduceat(column[order], first) for name, column in columns.items()
    }
    if joined["rows"].max() > MOST:
        raise InputError(
            "One bin would hold more than 2^30 rows, too many to add up exactly. Merge fewer tables."
        )
    for name in ("weight", "square"):
        if name in joined and np.add.reduceat(columns[name][order] / UNIT, first).max() > MOST:
            raise InputError(
                "The weights in one bin, or their squares, add up to more than 2^30. Divide all weights by "
                "one number: metrics do not depend on their scale."
            )
    return Bins(grid=grid, index=ordered[first], **joined, meaning=meaning)


def support_of(strata: Mapping[str, Bins]) -> Support:
    """The occupied bins of all strata as scores, at the mean of their rows."""
    index = reduce(np.union1d, [bins.index for bins in strata.values()])
    at = {name: np.searchsorted(index, bins.index) for name, bins in strata.items()}
    low, high = np.full(len(index), np.inf), np.full(len(index), -np.inf)
    weight, position = np.zeros(len(index)), np.zeros(len(index))
    for name, bins in strata.items():
        low[at[name]] = np.minimum(low[at[name]], bins.low)
        high[at[name]] = np.maximum(high[at[name]], bins.high)
        if bins.position is not None:
            weight[at[name]] += bins.full("weight")
            position[at[name]] += bins.position
    middle = low / 2 + high / 2
    mean = np.divide(position, weight, out=middle, where=weight > 0)
    cells = {name: bins.cells(at[name]) for name, bins in strata.items()}
    return Support(score=np.clip(mean, low, high), strata=cells)
