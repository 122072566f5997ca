"""The histogram of a table as one Ibis expression: a GROUP BY of integers that any SQL engine can run."""

from __future__ import annotations

import sys

from halftruth.engines.sql._spark import has_moments
from halftruth.engines.sql._sql_columns import BoundColumns, IbisColumn, IbisTable, ibis
from halftruth.table._grid import Grid
from halftruth.table._groups import BAD_SCORE, BAD_WEIGHT, NO_WEIGHT, OUTSIDE
from halftruth.table._histogram import HEAVIEST, LIGHTEST, UNIT

__all__ = ["MOMENT", "NO_SCORE", "finite", "heaviest_bin", "histogram", "in_unit", "stratum"]

NO_SCORE = -4  # the key of rows whose score is missing or not finite
MOMENT = "moment"
KEYS = ("key", "g", "nan", MOMENT)  # by what rows are added up
NEGLIGIBLE = 2.0**-60
"""A score below adds no step to a sum, and its product might underflow, an error in PostgreSQL."""
FAR, NEAR = 1e100, 1e-100
"""In scales from the center: scores beyond are in the last bin, those within are at the center."""


class IbisOps:
    """The functions of a grid in Ibis. Whole numbers stay floats, which no engine turns into decimals."""

    def sqrt(self, x: IbisColumn) -> IbisColumn:
        return x.sqrt()

    def abs(self, x: IbisColumn) -> IbisColumn:
        return x.abs()

    def floor(self, x: IbisColumn) -> IbisColumn:
        return x.floor().cast("float64")

    def minimum(self, x: IbisColumn, most: float) -> IbisColumn:
        return ibis.least(x, most)

    def where(self, condition: IbisColumn, yes: IbisColumn, no: IbisColumn) -> IbisColumn:
        return ibis.ifelse(condition, yes, no)


def histogram(columns: BoundColumns, grid: Grid) -> IbisTable:
    """One row for each key and group; the key is stratum · slots + bin, or below 0 for rows without a bin.

    Conditions are written so that NULL, NaN and infinities fail them in every engine: some order NaN above
    all numbers, others make each comparison with it false. What a failed condition would have guarded
    (√ of a negative number, a product or cast out of range) is an error in some engines.
    """
    rows = columns.table.select(**_cells(columns, grid))
    values = {"rows": rows.count(), "low": rows.s.min(), "high": rows.s.max()}
    if columns.weight is not None:
        values |= {"weight": _steps(rows.amount), "square": _steps(rows.amount * rows.amount)}
        values |= {"lightest": rows.w.min(), "heaviest": rows.w.max()}
        values |= _loads(rows)
    if grid.kind == "probability":
        values["position"] = _steps(rows.part if columns.weight is None else rows.amount * rows.part)
    bins = rows.group_by([name for name in KEYS if name in rows.columns]).aggregate(**values)
    # Whole numbers beside empty cells pass through floats on the way from some engines.
    is_whole = "g" in bins.columns and bins.g.type().is_integer()
    return bins.mutate(g=bins.g.cast("string")) if is_whole else bins


def heaviest_bin(columns: BoundColumns, grid: Grid) -> IbisTable:
    """The largest of all bins' sums, as a float that does not overflow; one row."""
    rows = columns.table.select(**_cells(columns, grid))
    loads = {"rows": rows.count().cast("float64")}
    loads |= _loads(rows) if columns.weight is not None else {}
    bins = rows.group_by([name for name in KEYS if name in rows.columns]).aggregate(**loads)
    return bins.aggregate(load=ibis.greatest(0.0, *(bins[name].max() for name in loads)))


def stratum(columns: BoundColumns) -> IbisColumn:
    """The index of a label's stratum."""
    y = columns.label
    cases = [(y.isnull(), 1)]
    if y.type().is_floating():
        cases.append((y.isnan(), 1))
    if columns.unlabeled is not None:
        # A whole code stays one, so that an engine need not turn a column of integers into floats.
        whole = columns.unlabeled.is_integer() and abs(columns.unlabeled) < 1 << 31
        cases.append((y == (int(columns.unlabeled) if whole else columns.unlabeled), 1))
    return ibis.cases(*cases, (y == 1, 0), (y == 0, 2), else_=OUTSIDE)


def finite(x: IbisColumn) -> IbisColumn:
    """Whether a number is there and finite."""
    return x.abs() <= sys.float_info.max


def in_unit(score: IbisColumn) -> IbisColumn:
    """Whether a score is a probability."""
    return (score >= 0) & (score <= 1)


def _cells(columns: BoundColumns, grid: Grid) -> dict[str, IbisColumn]:
    """Of each row: key, score s, weight w, group g; amount and part are weight and score safe to multiply.

    A group that is NaN has no g but one in nan: on the way from some engines NaN becomes NULL. A moment of
    Spark is counted in microseconds: it would come as what a clock shows in the zone of the session.
    """
    s, w = columns.score, columns.weight
    cells = {"key": _key(columns, grid), "s": s}
    if grid.kind == "probability":
        cells["part"] = ibis.ifelse((s >= NEGLIGIBLE) & (s <= 1), s, 0.0)
    if w is not None:
        cells |= {"w": w, "amount": ibis.ifelse((w >= LIGHTEST) & (w <= HEAVIEST), w, 0.0)}
    if columns.group is not None:
        cells["g"] = g = columns.group
        if _is_moment_of_spark(columns):
            cells[MOMENT] = unix_micros(cells.pop("g"))
        if g.type().is_floating():
            cells["g"] = ibis.ifelse(g.isnan(), ibis.null(), g).cast(g.type())
            cells["nan"] = ibis.ifelse(g.isnan(), 1, 0)
    return cells


def unix_micros(moment: IbisColumn) -> IbisColumn:
    """Microseconds since 1970, by a function of Spark."""
    return _spark_function(moment)


_spark_function = ibis.udf.scalar.builtin(unix_micros, signature=(("timestamp",), "int64"))


def _is_moment_of_spark(columns: BoundColumns) -> bool:
    group: IbisColumn = columns.group
    if not group.type().is_timestamp():
        return False
    try:
        backend = columns.table.get_backend()
    except ibis.common.exceptions.IbisError:  # the expression of no engine yet
        return False
    return backend.name == "pyspark" and has_moments(backend, columns.table.select(g=group))


def _key(columns: BoundColumns, grid: Grid) -> IbisColumn:
    s, w, of = columns.score, columns.weight, stratum(columns)
    key = (of * grid.n_slots + grid.index(_tamed(s, grid), IbisOps())).cast("int32")
    fits = in_unit(s) if grid.kind == "probability" else finite(s)
    if w is None:
        return ibis.cases((fits, key), (finite(s), BAD_SCORE), else_=NO_SCORE)
    limited = w <= sys.float_info.max
    return ibis.cases(
        ((w > 0) & limited & fits, key),  # the usual row first
        # A row without weight counts for nothing, but its score and label must be right all the same.
        ((w == 0) & finite(s) & (of < OUTSIDE), NO_WEIGHT),
        ((w == 0) & fits, OUTSIDE * grid.n_slots),
        ((w >= 0) & limited & finite(s), BAD_SCORE),
        (finite(s), BAD_WEIGHT),
        else_=NO_SCORE,
    )


def _tamed(s: IbisColumn, grid: Grid) -> IbisColumn:
    """A score in the same bin, whose distance from the center in scales neither over- nor underflows."""
    if grid.kind == "probability" or (grid.center, grid.scale) == (0.0, 1.0):
        return s
    distance, reach = s - grid.center, min(grid.scale * FAR, sys.float_info.max / 2)
    return ibis.cases(
        (s > grid.center + reach, grid.center + reach),
        (s < grid.center - reach, grid.center - reach),
        (distance.abs() < grid.scale * NEAR, grid.center),
        else_=s,
    )


def _steps(x: IbisColumn) -> IbisColumn:
    """The sum in steps of 2⁻³²."""
    return (x * UNIT + 0.5).floor().sum()


def _loads(rows: IbisTable) -> dict[str, IbisColumn]:
    """The sums of weights and squares as floats: beyond 64 bits integers wrap around."""
    return {"weight_load": rows.amount.sum(), "square_load": (rows.amount * rows.amount).sum()}
