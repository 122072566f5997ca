"""Histograms from a table of any SQL engine, checked in the query that makes them.

Only sums by bin are fetched; where rows are bad, a second, small query shows one of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, time
from decimal import Decimal
from typing import Any, Literal, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from halftruth._errors import InputError, OutsideGrid, arg
from halftruth.engines.sql import _spark
from halftruth.engines.sql._sql_columns import (
    BoundColumns,
    IbisColumn,
    IbisTable,
    bind_columns,
    ibis,
    pyarrow,
)
from halftruth.engines.sql._sql_histogram import (
    MOMENT,
    NO_SCORE,
    finite,
    heaviest_bin,
    histogram,
    in_unit,
    stratum,
)
from halftruth.files._file_paths import excerpt, quoted
from halftruth.table._grid import Grid
from halftruth.table._groups import (
    BAD_SCORE,
    BAD_WEIGHT,
    MOST_GROUPS,
    OUTSIDE,
    Strata,
    refuse_full_bin,
    refuse_groups,
    strata_of,
)

__all__ = ["expression", "read"]

ArrowTable: TypeAlias = Any
ArrowColumn: TypeAlias = Any

SUMS = ("position", "weight", "square")
MOST_LOAD = 2.0**31 * (1 - 2.0**-20)
"""Rows, or sum of weights or of their squares as floats, in one bin: up to here 64 bits hold the steps."""


def read(
    table: IbisTable,
    *,
    score: str | IbisColumn,
    label: str | IbisColumn,
    weight: str | IbisColumn | None = None,
    unlabeled: float | None = None,
    by: str | IbisColumn | None = None,
    grid: Grid | None = None,
) -> dict[str, Strata]:
    """The histograms of a table, by group and stratum; of the group "" without ``by``.

    Parameters
    ----------
    table : ibis.Table
        Of any engine; only sums by bin leave it.
    score, label : str or Ibis expression
        The label is 1 or true for positives, 0 or false for negatives, NULL or NaN for unlabeled rows.
    weight, by : str or Ibis expression, optional
        Weights, and the column of groups.
    unlabeled : number, optional
        Another code for unlabeled rows.
    grid : Grid, optional
        By default that of probabilities where all scores lie in [0, 1], else, in a second query, of margins.
    """
    columns = bind_columns(table, score=score, label=label, weight=weight, unlabeled=unlabeled, by=by)
    if columns.group is not None:
        _refuse_many_groups(columns)
    return _binned(columns, grid)


def expression(table: IbisTable, *, grid: Grid | None = None, **columns: Any) -> IbisTable:
    """The query that `read` sends, as an Ibis expression: ``ibis.to_sql`` shows its SQL in any dialect."""
    return histogram(bind_columns(table, **columns), grid or Grid("probability"))


def _binned(columns: BoundColumns, grid: Grid | None) -> dict[str, Strata]:
    tried = grid or Grid("probability")
    bins = _fetched(columns, tried)
    key, rows = bins["key"], bins["rows"]

    def count(mask: NDArray[np.bool_]) -> int:
        return int(rows[mask].sum())

    if not len(key):
        raise InputError(f"{columns.names['table']} has no rows. Pass at least one.")
    if n := count(key == NO_SCORE):
        _refuse_numbers(columns, "score", "Scores must be finite numbers", finite(columns.score), n)
    if n := count(key == BAD_WEIGHT):
        weight: IbisColumn = columns.weight  # there are weights where one is bad
        good = finite(weight) & (weight >= 0)
        _refuse_numbers(columns, "weight", "Weights must be finite numbers of at least 0", good, n)
    if n := count(key >= OUTSIDE * tried.n_slots):
        _refuse_labels(columns, n)
    if n := count(key == BAD_SCORE):
        if grid is not None:
            _refuse_beyond_unit(columns, n)
        return _binned(columns, Grid("margin"))
    if not (key >= 0).any():
        _refuse_no_weight(columns)
    return strata_of(tried, bins, columns.names.get("by"))


def _fetched(columns: BoundColumns, grid: Grid) -> dict[str, Any]:
    """The columns of the result as arrays; sums that 64 bits do not hold are masked."""
    try:
        table = fetch(histogram(columns, grid), columns.names["table"])
    except InputError:
        if _overflows(columns, grid):  # an engine that does not wrap around names a type, no weights
            refuse_full_bin(weighted=columns.weight is not None)
        raise
    bins: dict[str, Any] = {name: table[name].to_numpy() for name in table.column_names if name != "g"}
    if columns.group is not None:
        try:
            bins["g"] = group_names(table["g"], bins.pop("nan", None))
        except (OverflowError, ValueError) as error:
            _refuse_group(columns, error)
    loads = [bins.pop(name) for name in ("weight_load", "square_load") if name in bins]
    large = (np.max([bins["rows"], *loads], axis=0) > MOST_LOAD) & (bins["key"] >= 0)
    if large.any():
        bins |= {name: np.ma.masked_where(large, bins[name]) for name in SUMS if name in bins}
    return bins


def _overflows(columns: BoundColumns, grid: Grid) -> bool:
    """Whether it may have been the sums that an engine failed at."""
    try:
        return bool(fetch(heaviest_bin(columns, grid), columns.names["table"])["load"][0].as_py() > MOST_LOAD)
    except InputError:
        return False


# --- What comes from the engine --------------------------------------------------------------------


def fetch(expression: IbisTable, name: str) -> ArrowTable:
    """The result of an expression as an Arrow table; complaints of the engine become errors of ``name``."""
    try:
        with _tuned(expression.get_backend()):
            result = expression.to_pyarrow()
    except MemoryError:
        raise
    except Exception as error:  # of whatever class the driver of the engine has
        raise InputError(f"{name} cannot be read: {_spark.complaint(error)}.") from error
    if MOMENT not in result.column_names:
        return result
    moments = result[MOMENT].cast(pyarrow.timestamp("us", "UTC"))
    return result.drop_columns([MOMENT]).append_column("g", moments)


@contextmanager
def _tuned(backend: Any) -> Iterator[None]:
    """The engine with a setting that the result needs or comes faster with; afterwards as it was."""
    if backend.name == "duckdb":
        settings, name = backend.settings, "disabled_optimizers"
        get, put = settings.__getitem__, settings.__setitem__
        # It concludes from the statistics of Parquet, which leave NaN out, that a column has none.
        value = ",".join(filter(None, (get(name), "statistics_propagation")))
    # Spark sends rows one by one unless Arrow is on, and Arrow needs a Java that it knows.
    elif backend.name == "pyspark" and _spark.arrow_works(session := _spark.session_of(backend)):
        get, put, name, value = session.conf.get, session.conf.set, _spark.ARROW, "true"
    else:
        yield
        return
    before = get(name)
    put(name, value)
    try:
        yield
    finally:
        with suppress(Exception):  # where a transaction has failed it must not hide why
            put(name, before)


def group_names(column: ArrowColumn, nan: NDArray[np.int64] | None = None) -> Any:
    """The text of each value of an Arrow column, as DuckDB writes it; masked where there is none.

    Where ``nan`` is one the value is NaN, whatever became of it on its way.
    """
    # Groups repeat in every bin: each distinct value is written once.
    dictionary = column.combine_chunks().dictionary_encode()
    texts = [_text(value) for value in _values(dictionary.dictionary)]
    code = dictionary.indices.fill_null(0).to_numpy(zero_copy_only=False)
    empty = np.asarray(dictionary.indices.is_null())
    text = np.asarray(texts or [""], dtype=object)[code]
    if nan is not None:
        text, empty = np.where(nan == 1, "nan", text), empty & (nan != 1)
    return np.ma.masked_array(text, empty)


def _values(column: ArrowColumn) -> list[Any]:
    # NumPy writes a float32 in the fewest digits that tell it apart; as a Python float it would have more.
    if str(column.type) == "float":
        return [float(str(value)) for value in column.to_numpy()]
    return list(column.to_pylist())


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC)
    text = format(value, "f") if isinstance(value, Decimal) else str(value)
    if isinstance(value, (datetime, time)):
        fraction = re.sub(r"(\.\d*?)0+(?=$|[+-])", r"\1", text)
        return re.sub(r"\+00:00$", "+00", fraction.replace(".+", "+"))
    return text


# --- What is refused -------------------------------------------------------------------------------


def _refuse_numbers(
    columns: BoundColumns, role: Literal["score", "weight"], must: str, good: IbisColumn, count: int
) -> NoReturn:
    """Refuse scores or weights that are missing, not finite or too low."""
    examples = _examples(columns, getattr(columns, role), _failing(good))
    raise InputError(
        f"{must}, got {count:,} in {columns.names[role]} that are not, e.g. {examples}. Drop or repair these "
        "rows."
    )


def _refuse_beyond_unit(columns: BoundColumns, count: int) -> NoReturn:
    """Refuse scores outside [0, 1]."""
    examples = _examples(columns, columns.score, _failing(in_unit(columns.score)))
    raise OutsideGrid(
        f"A probability grid takes scores in [0, 1], got {count:,} outside in "
        f"{columns.names['score']}, e.g. {examples}.",
        remedy=f"Use {arg('grid', 'margin')}.",
    )


def _refuse_labels(columns: BoundColumns, count: int) -> NoReturn:
    """Refuse labels outside the code."""
    examples = _examples(columns, columns.label, stratum(columns) == OUTSIDE, most=5)
    raise InputError(
        f"{_capitalized(columns.names['label'])} holds {count:,} label(s) outside the code: {examples}. The "
        "code is 1 positive, 0 negative, NULL unlabeled; name another code for unlabeled rows, e.g. "
        f"{arg('unlabeled', -1)}."
    )


def _refuse_group(columns: BoundColumns, error: Exception) -> NoReturn:
    """Refuse groups that Python has no value for, such as days after the year 9999."""
    name = columns.names["by"]
    field = f"table[{name!r}]" if name in columns.table.columns else "x"
    raise InputError(
        f"The column of groups {quoted(name)} holds a value that cannot be named: "
        f"{excerpt(str(error), 160)}. Cast it to text in the expression of {arg('by')}, e.g. "
        f'by={field}.cast("string").'
    ) from error


def _refuse_no_weight(columns: BoundColumns) -> NoReturn:
    """Refuse weights that are all zero."""
    raise InputError(
        f"{_capitalized(columns.names['weight'])} of {columns.names['table']} is zero in all rows. Give at "
        f"least one row a positive weight, or leave {arg('weight')} out for equal weights."
    )


def _refuse_many_groups(columns: BoundColumns) -> None:
    """Refuse a column of many values before the bins of each are fetched."""
    groups = distinct_groups(columns).limit(MOST_GROUPS + 1)
    refuse_groups(fetch(groups.count().as_table(), columns.names["table"])[0][0].as_py())


def distinct_groups(columns: BoundColumns) -> IbisTable:
    """The values of the groups, NaN as NULL: in some engines no NaN is the same as another."""
    g = columns.group
    assert g is not None
    if g.type().is_floating():
        g = ibis.ifelse(g.isnan(), ibis.null(), g).cast(g.type())
    return columns.table.select(g=g).distinct()


def _capitalized(words: str) -> str:
    """Words at the beginning of a sentence."""
    return words[0].upper() + words[1:]


def _failing(condition: IbisColumn) -> IbisColumn:
    """Where a condition does not hold, NULL included."""
    return ibis.ifelse(condition, 0, 1) == 1


def _examples(columns: BoundColumns, value: IbisColumn, bad: IbisColumn, most: int = 1) -> str:
    """Some of the bad values."""
    bad_rows = columns.table.select(x=value, bad=bad).filter(ibis._.bad)
    values = fetch(bad_rows.select("x").distinct().limit(most + 1), columns.names["table"])["x"].to_pylist()
    words = ["NULL" if x is None else f"{x:.17g}" for x in values[:most]]
    return ", ".join(sorted(words)) + (", …" if most > 1 and len(values) > most else "")
