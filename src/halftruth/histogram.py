"""Histogram strata: integer sums on a fixed grid of scores, which merge to the bit in any order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth import checks
from halftruth.checks import Vector
from halftruth.errors import InputError, MergeError
from halftruth.support import Cells, Support

N_BINS = 1 << 16
UNIT = float(1 << 32)
"""Fixed-point steps in one: a score or a weight w is stored as the integer ⌊w · 2³² + ½⌋."""
LIGHTEST, HEAVIEST = 2.0**-10, 2.0**15
"""Weights whose fixed-point numbers are neither coarse nor out of range."""
MOST = 1 << 30
"""Rows, or sum of weights or of their squares, in one bin: beyond, integers might overflow."""
COMPILED = 1 << 19
"""Rows from which the compiled loops pay for being loaded."""

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Grid:
    """A fixed partition of the score axis, the same on every machine and in every engine.

    Parameters
    ----------
    kind : {"probability", "margin"}
        "probability": for scores in [0, 1], equal steps of s^⅛ − (1−s)^⅛, so that bins shrink towards 0 and
        1, where scores pile up; 0 and 1 have bins of their own. "margin": for scores of any range, equal
        steps of ±(1 − (1+|z|)^−⅛) with z = (score − center) / scale.
    center, scale : float
        Of margins: where bins are finest, and over which distance.
    n_bins : int

    Notes
    -----
    Only +, −, ×, ÷ and √ are used, which IEEE 754 rounds alike everywhere; a logarithm would not be.

    Examples
    --------
    >>> from halftruth.histogram import Grid
    >>> Grid("probability").bins([0.0, 1e-9, 0.5, 1.0]).tolist()
    [0, 2458, 32769, 65537]
    """

    kind: str
    center: float = 0.0
    scale: float = 1.0
    n_bins: int = N_BINS

    def __post_init__(self) -> None:
        advice = "Pass the distance over which scores vary."
        # Plain numbers: they are written into SQL and JSON.
        plain = {
            "kind": checks.choice(self.kind, "grid", ("probability", "margin")),
            "center": checks.finite(self.center, "center"),
            "scale": checks.inside(self.scale, "scale", 0.0, np.inf, advice=advice),
            "n_bins": checks.count(self.n_bins, "n_bins", least=2),
        }
        for name, value in plain.items():
            object.__setattr__(self, name, value)
        if self.n_bins % 2 or self.n_bins > 1 << 24:
            raise InputError(f"`n_bins` must be even and at most 2^24, got {self.n_bins}.")

    @property
    def n_slots(self) -> int:
        """Bins in all, those of exactly 0 and 1 included."""
        return self.n_bins + (2 if self.kind == "probability" else 0)

    def bins(self, score: Any) -> NDArray[np.int32]:
        """The bin of each score."""
        s = np.asarray(score, dtype=np.float64)
        if self.kind == "probability":
            at = np.minimum(np.floor(((_root(s) - _root(1 - s)) + 1) * (self.n_bins / 2)), self.n_bins - 1)
            inner = 1 + at.astype(np.int32)
            return np.where(s == 0, 0, np.where(s == 1, self.n_bins + 1, inner)).astype(np.int32)
        z = (s - self.center) / self.scale
        q = _root(1 / (1 + np.abs(z)))
        t = np.where(z >= 0, 1 - q, q - 1)
        return np.minimum(np.floor((t + 1) * (self.n_bins / 2)), self.n_bins - 1).astype(np.int32)

    def sql(self, score: str) -> str:
        """The same integers as a SQL expression of a DOUBLE expression."""
        half, last = self.n_bins // 2, self.n_bins - 1
        if self.kind == "probability":
            steps = f"((({_root_sql(score)} - {_root_sql(f'(1 - {score})')}) + 1) * {half})"
            inner = f"1 + least(floor({steps}), {last})::INTEGER"
            return f"CASE WHEN {score} = 0 THEN 0 WHEN {score} = 1 THEN {self.n_bins + 1} ELSE {inner} END"
        z = f"(({score} - {self.center!r}::DOUBLE) / {self.scale!r}::DOUBLE)"
        q = _root_sql(f"(1 / (1 + abs({z})))")
        t = f"(CASE WHEN {z} >= 0 THEN 1 - {q} ELSE {q} - 1 END)"
        return f"least(floor(({t} + 1) * {half}), {last})::INTEGER"

    def __str__(self) -> str:
        where = f", center {self.center:g}, scale {self.scale:g}" if self.kind == "margin" else ""
        return f"{self.kind} grid of {self.n_bins:,} bins{where}"

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def _root(x: Vector) -> Vector:
    return np.asarray(np.sqrt(np.sqrt(np.sqrt(x))))


def _root_sql(x: str) -> str:
    return f"sqrt(sqrt(sqrt({x})))"


def grid_for(scores: Vector) -> Grid:
    """The grid for scores that none was named for."""
    return Grid("probability" if scores.min() >= 0 and scores.max() <= 1 else "margin")


@dataclass(frozen=True, kw_only=True, eq=False)
class Bins:
    """One stratum as a histogram: exact integer sums of its rows, by bin.

    Parameters
    ----------
    grid : Grid
    index : (m,) int32
        The bins that hold rows, ascending.
    rows : (m,) int64
    weight, square : (m,) int64 or None
        Σ w and Σ w² in steps of 2⁻³²; None where all weights are one.
    position : (m,) int64 or None
        Σ w s in steps of 2⁻³²; None on a grid of margins, whose sums no metric needs.
    low, high : (m,) float64
        The lowest and the highest score in the bin.
    """

    grid: Grid
    index: NDArray[np.int32]
    rows: Integers
    position: Integers | None
    low: Vector
    high: Vector
    weight: Integers | None = None
    square: Integers | None = None

    meaning: str | None = None
    value: None = None

    def __post_init__(self) -> None:
        columns = (self.index, self.rows, self.position, self.low, self.high, self.weight, self.square)
        given = [column for column in columns if column is not None]
        if len({column.shape for column in given}) > 1 or self.index.ndim != 1:
            raise InputError("The columns of a histogram must have one length.")
        inside = not len(self.index) or (self.index[0] >= 0 and self.index[-1] < self.grid.n_slots)
        if not (inside and (np.diff(self.index) > 0).all() and (self.rows > 0).all()):
            raise InputError("The bins of a histogram must ascend, lie on the grid and hold rows.")
        if (self.weight is None) != (self.square is None):
            raise InputError("A histogram holds both Σw and Σw², or neither.")
        if not ((self.low <= self.high).all() and np.isfinite([self.low, self.high]).all()):
            raise InputError("The scores of a histogram must be finite, the lowest of a bin first.")
        for column in given:
            column.flags.writeable = False

    @classmethod
    def of(cls, grid: Grid, score: Vector, weight: Vector | None = None) -> Bins:
        """The histogram of rows, in whatever order they come."""
        if grid.kind == "probability" and not (score.min() >= 0 and score.max() <= 1):
            raise InputError(
                f"A probability grid takes scores in [0, 1], got {score.min():g} to {score.max():g}. "
                f'Use grid="margin".'
            )
        if weight is not None:
            refuse_weights(float(weight.min()), float(weight.max()))
        heavy = len(score) > MOST or (
            weight is not None and max(weight.sum(), (weight * weight).sum()) > MOST
        )
        if len(score) >= COMPILED and not heavy:
            from halftruth import kernels

            dense = kernels.bin_rows(score, weight, grid.kind, grid.center, grid.scale, grid.n_bins)
            kept = np.flatnonzero(dense.rows).astype(np.int32)
            columns: dict[str, Any] = {name: column[kept] for name, column in dense._asdict().items()}
            columns |= {"position": None} if grid.kind == "margin" else {}
            columns |= {"weight": None, "square": None} if weight is None else {}
            return cls(grid=grid, index=kept, **columns)
        ones = np.ones(len(score), dtype=np.int64)
        w = 1.0 if weight is None else weight
        return _gathered(
            grid,
            grid.bins(score),
            rows=ones,
            position=fixed(w * score) if grid.kind == "probability" else None,
            weight=None if weight is None else fixed(weight),
            square=None if weight is None else fixed(weight * weight),
            low=score,
            high=score,
        )

    @classmethod
    def checked(cls, grid: Grid, columns: Mapping[str, Any]) -> Bins:
        """A stratum from stored columns: they may be damaged or made up."""
        weighted = ["weight", "square"] if "weight" in columns or "square" in columns else []
        position = ["position"] if grid.kind == "probability" else []
        wanted = dict.fromkeys(["rows", *position, *weighted], "int64")
        wanted |= {"index": "int32", "low": "float64", "high": "float64"}
        found = {name: str(column.dtype) for name, column in columns.items()}
        if found != wanted:
            raise InputError(f"a histogram on the {grid} has columns {wanted}, not {found}")
        bins = cls(grid=grid, **{"position": None, **columns})
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
        return bins

    def __len__(self) -> int:
        return int(self.rows.sum())

    @property
    def size(self) -> tuple[float, float]:
        """Σ w and Σ w²."""
        if self.weight is None or self.square is None:
            return float(len(self)), float(len(self))
        # In floats: the integers of all bins together may pass 2^63.
        total, squares = (float(x.sum(dtype=np.float64) / UNIT) for x in (self.weight, self.square))
        return total, squares

    def full(self, name: str) -> Integers:
        """The column of weights or of their squares, also where all are one."""
        column: Integers | None = getattr(self, name)
        return self.rows << 32 if column is None else column

    def concatenate(self, other: Bins) -> Bins:
        """The histogram of the rows of both."""
        if self.grid != other.grid:
            raise MergeError(
                f"The tables have different grids: {self.grid}, and {other.grid}. Make both with the same "
                f"`grid=`, e.g. from the rows."
            )
        weighted = self.weight is not None or other.weight is not None
        both = (self, other)
        return _gathered(
            self.grid,
            np.concatenate([x.index for x in both]),
            rows=np.concatenate([x.rows for x in both]),
            position=None
            if self.position is None or other.position is None
            else np.concatenate([self.position, other.position]),
            weight=np.concatenate([x.full("weight") for x in both]) if weighted else None,
            square=np.concatenate([x.full("square") for x in both]) if weighted else None,
            low=np.concatenate([x.low for x in both]),
            high=np.concatenate([x.high for x in both]),
        )

    def moved(self, score: Vector, grid: Grid) -> Bins:
        """The same rows, those of each bin at a new score."""
        position = np.floor(self.full("weight") * score + 0.5).astype(np.int64)
        return _gathered(
            grid,
            grid.bins(score),
            rows=self.rows,
            position=position if grid.kind == "probability" else None,
            weight=self.weight,
            square=self.square,
            low=score,
            high=score,
        )

    def cells(self, atom: NDArray[np.intp]) -> Cells:
        """The bins as joined cells at these atoms."""
        if self.weight is None or self.square is None:
            return Cells(atom=atom, count=self.rows)
        mean = self.weight / UNIT / self.rows
        variance = np.maximum(self.square / UNIT / self.rows - mean**2, 0.0)
        zero = np.zeros_like(mean)
        return Cells(
            atom=atom, count=self.rows, weight=mean, spread=np.stack([np.sqrt(variance), zero, zero])
        )


def fixed(numbers: Vector) -> Integers:
    """Fixed-point integers: exact to add, in any order."""
    return np.floor(numbers * UNIT + 0.5).astype(np.int64)


def refuse_weights(lightest: float, heaviest: float) -> None:
    """Raise where fixed-point sums would be coarse or overflow."""
    if lightest < LIGHTEST or heaviest > HEAVIEST:
        raise InputError(
            f"A histogram takes weights from 2^-10 to 2^15, got {lightest:g} to {heaviest:g}. Multiply all "
            f"weights by one number: metrics do not depend on their scale."
        )


def _gathered(grid: Grid, index: NDArray[np.int32], **columns: Any) -> Bins:
    """Rows or bins joined by bin: integers add up, the lowest and the highest score stay."""
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    first = np.flatnonzero(np.diff(ordered, prepend=-1))
    joins = {"low": np.minimum, "high": np.maximum}
    joined: dict[str, Any] = {
        name: None if column is None else joins.get(name, np.add).reduceat(column[order], first)
        for name, column in columns.items()
    }
    if joined["rows"].max() > MOST:
        raise InputError(
            "One bin would hold more than 2^30 rows, too many to add up exactly. Merge fewer tables."
        )
    for name in ("weight", "square"):
        if joined[name] is not None and np.add.reduceat(columns[name][order] / UNIT, first).max() > MOST:
            raise InputError(
                "The weights in one bin, or their squares, add up to more than 2^30. Divide all weights by "
                "one number: metrics do not depend on their scale."
            )
    return Bins(grid=grid, index=ordered[first], **joined)


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
    return Support(
        score=np.clip(mean, low, high),
        strata={name: bins.cells(at[name]) for name, bins in strata.items()},
    )
