"""Rows or bins from an open source, checked in the pass that reads them.

Where a row is bad a second look at the files says how many there are and where the first is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, NoReturn, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector
from halftruth._errors import InputError, OutsideGrid, arg
from halftruth.files._cell_meanings import Columns, Sql, Term, number, stratum
from halftruth.files._duckdb_source import FileBatch, Query, Source, SqlValue
from halftruth.files._file_paths import quoted
from halftruth.table._grid import Grid
from halftruth.table._groups import (
    BAD_SCORE,
    BAD_WEIGHT,
    MOST_GROUPS,
    NO_WEIGHT,
    OUTSIDE,
    STRATA,
    named,
    places,
    refuse_groups,
    strata_of,
)
from halftruth.table._histogram import Bins

__all__ = [
    "POSITIVE", "WEIGHTS", "BinnedRows", "ExactRows", "binned_rows", "checked_rows", "exact_rows",
    "first_bad_cell", "histogram_sql", "number_remedy", "picked", "refuse_no_rows", "refuse_no_weight",
    "refuse_numbers", "refuse_propensities", "relation",
]  # fmt: skip

POSITIVE = STRATA.index("positive")
FIRST_ROWS = 1_000_000  # rows among which groups are counted before all rows are read
ANSWERS = (("yes", "no"), ("y", "n"), ("t", "f"), ("positive", "negative"), ("pos", "neg"))
"""Words for 1 and 0."""
SCORES = "isfinite({0})", "Scores must be finite numbers"
WEIGHTS = "isfinite({0}) AND {0} >= 0", "Weights must be finite numbers of at least 0"
"""When they are right, of a cell {0}, and what they must be."""
IsBad: TypeAlias = Callable[[str, str], str]  # the SQL condition of a bad cell, from its reference and type


@dataclass(frozen=True, kw_only=True, eq=False)
class ExactRows:
    """Rows in file order. ``stratum`` indexes ``STRATA``."""

    scores: dict[str, Vector]
    stratum: NDArray[np.int8]
    weight: Vector | None
    propensity: Vector | None = None
    """Of positives; of the others it means nothing."""


@dataclass(frozen=True, kw_only=True, eq=False)
class BinnedRows:
    """A histogram for each stratum that has rows."""

    grid: Grid
    strata: dict[str, Bins]


class Selected(Protocol):
    """Columns to read, and what is made of them."""

    def names(self) -> tuple[str, ...]:
        """The columns to read, each once."""
        ...

    def select(self, batch: FileBatch) -> str:
        """The list of a SELECT."""
        ...


def relation(source: Source, columns: Selected) -> Query:
    """The rows of all files, in order, as one SELECT."""
    selects: list[str] = []
    parameters: list[SqlValue] = []
    for batch in source.batches:
        table, values = source.table(batch.files, batch.layout, columns.names())
        selects.append(f"SELECT {columns.select(batch)} FROM {table}")
        parameters += values
    # DuckDB keeps the order of the rows through UNION ALL: files come one after the other.
    return " UNION ALL ".join(selects), parameters


def exact_rows(source: Source, columns: Columns, max_rows: int) -> dict[str, ExactRows] | None:
    """The rows of each group, or None where there are more than ``max_rows``."""
    cells = checked_rows(source, columns, max_rows)
    if cells is None:
        return None
    return {group: picked(cells, columns, rows) for group, rows in places(cells.get("g"))}


def picked(cells: dict[str, Any], columns: Columns, rows: slice | NDArray[np.intp]) -> ExactRows:
    """Some of the rows."""
    weight, propensity = cells.get("w"), cells.get("e")
    return ExactRows(
        scores={name: cells[f"s{k}"][rows] + 0.0 for k, name in enumerate(columns.scores)},
        stratum=cells["stratum"][rows],
        weight=None if weight is None else weight[rows],
        propensity=None if propensity is None else propensity[rows],
    )


def checked_rows(source: Source, columns: Columns, max_rows: int) -> dict[str, Any] | None:
    """The columns of all rows, none of them bad; None where there are more than ``max_rows``."""
    if source.count is not None and source.count > max_rows:
        return None
    sql, parameters = relation(source, columns)
    # Text does not say how many rows it has: one more than wanted is enough to know that they are too many.
    limit = f" LIMIT {max_rows + 1}" if source.count is None else ""
    cells = source.fetch(f"SELECT * FROM ({sql}){limit}", parameters)
    strata, weight = cells["stratum"], cells.get("w")
    if len(strata) > max_rows:
        return None
    if not len(strata):
        refuse_no_rows(source)
    for k, name in enumerate(columns.scores):
        if not np.isfinite(cells[f"s{k}"]).all():
            refuse_numbers(source, name, *SCORES)
    if weight is not None and not ((weight >= 0) & (weight < np.inf)).all():
        refuse_numbers(source, str(columns.weight), *WEIGHTS)
    if (strata == OUTSIDE).any():
        refuse_labels(source, columns)
    if weight is not None and not weight.any():
        refuse_no_weight(source, columns.weight)
    _check_chances(source, columns, cells)
    if columns.by is not None:
        cells["g"] = named(cells["g"], columns.by)
    return cells


def _check_chances(source: Source, columns: Columns, cells: dict[str, Any]) -> None:
    """Refuse bad cells of how labels came to be known."""
    if columns.propensity is not None:
        chance = cells["e"][cells["stratum"] == POSITIVE]
        if not ((chance > 0) & (chance <= 1)).all():
            refuse_propensities(source, columns)
    if columns.known is not None and (cells["k"] == OUTSIDE).any():
        refuse_labels(source, replace(columns, label=columns.known, unlabeled=0.0))
    if columns.chance is not None and not ((cells["c"] >= 0) & (cells["c"] <= 1)).all():
        must = "Chances of a review must lie in [0, 1], for rows that nobody looked at too"
        refuse_numbers(source, columns.chance, "{0} BETWEEN 0 AND 1", must)


def binned_rows(source: Source, columns: Columns, grid: Grid | None) -> dict[str, BinnedRows]:
    """The histogram of each group; a second pass where no grid is named and scores leave [0, 1]."""
    if len(columns.scores) > 1:
        raise InputError(
            "Several score columns stay row by row, which a histogram cannot, and there are more rows "
            f"than {arg('max_rows')}. Raise it, or read one score column at a time."
        )
    if columns.propensity is not None:
        raise InputError(
            "Propensities stay row by row, which a histogram cannot, and there are more rows than "
            f"{arg('max_rows')}. Raise it, or leave it out."
        )
    if columns.by is not None:
        # Identifiers taken for groups are refused by the first rows, counted no further than that takes.
        rows, parameters = relation(source, columns)
        first = f"SELECT g FROM ({rows}) LIMIT {FIRST_ROWS}"
        groups = f"SELECT DISTINCT g FROM ({first}) LIMIT {MOST_GROUPS + 1}"
        refuse_groups(int(source.fetch(f"SELECT count(*) AS n FROM ({groups})", parameters)["n"][0]))
    return _binned(source, columns, grid)


def _binned(source: Source, columns: Columns, grid: Grid | None) -> dict[str, BinnedRows]:
    tried = grid or Grid("probability")
    bins = source.fetch(*histogram_sql(source, columns, tried))
    if not len(bins["key"]):
        refuse_no_rows(source)
    if not (np.isfinite(bins["low"]).all() and np.isfinite(bins["high"]).all()):
        refuse_numbers(source, columns.scores[0], *SCORES)
    if (bins["key"] == BAD_WEIGHT).any():
        refuse_numbers(source, str(columns.weight), *WEIGHTS)
    if (bins["key"] >= OUTSIDE * tried.n_slots).any():
        refuse_labels(source, columns)
    if (bins["key"] == BAD_SCORE).any():
        if grid is not None:
            refuse_beyond_unit(source, columns.scores[0])
        # Nobody asked for probabilities, and these are none: read again as margins, which take any score.
        return _binned(source, columns, Grid("margin"))
    if not (bins["key"] >= 0).any():
        refuse_no_weight(source, columns.weight)
    groups = strata_of(tried, bins, columns.by)
    return {group: BinnedRows(grid=tried, strata=strata) for group, strata in groups.items()}


def histogram_sql(source: Source, columns: Columns, grid: Grid) -> Query:
    """One GROUP BY; its key is stratum · slots + bin, or below 0 for rows without a bin."""
    rows, parameters = relation(source, columns)
    in_unit = grid.kind == "probability"
    fits = "s0 >= 0 AND s0 <= 1" if in_unit else "isfinite(s0)"
    index = grid.index(Term("s0"), Sql()).text
    key = f"WHEN {fits} THEN stratum::INTEGER * {grid.n_slots} + {index}::INTEGER ELSE {BAD_SCORE}"
    values = {"rows": "count(*)", "low": "min(s0)", "high": "max(s0)"}
    if columns.weight is not None:
        key = (
            f"WHEN NOT (w >= 0 AND isfinite(w)) THEN {BAD_WEIGHT} "
            f"WHEN w = 0 AND isfinite(s0) AND stratum < {OUTSIDE} THEN {NO_WEIGHT} {key}"
        )
        values |= {"weight": _fixed("w"), "square": _fixed("(w * w)")}
        values |= {"lightest": "min(w)", "heaviest": "max(w)"}
    if in_unit:
        values["position"] = _fixed("s0" if columns.weight is None else "(w * s0)")
    keys = "key" if columns.by is None else "g, key"
    sums = ", ".join(f"{value} AS {name}" for name, value in values.items())
    keyed = f"SELECT *, CASE {key} END AS key FROM ({rows})"
    return f"SELECT {keys}, {sums} FROM ({keyed}) GROUP BY {keys}", parameters


def _fixed(value: str) -> str:
    """The sum in fixed-point integers, NULL where 64 bits do not hold it.

    What does not even fit into one integer is left out: it comes from a row that is refused afterwards.
    """
    return f"TRY_CAST(sum(TRY_CAST(floor({value} * 4294967296e0 + 0.5e0) AS BIGINT)) AS BIGINT)"


# --- What is refused -------------------------------------------------------------------------------


def refuse_numbers(source: Source, name: str, right: str, must: str) -> NoReturn:
    """Refuse cells that are missing, no number, or not ``right``."""
    count, first = first_bad_cell(source, name, lambda at, kind: f"NOT ({right.format(number(at, kind))})")
    raise InputError(
        f"{must}, got {count} in column {quoted(name)} that are not: the first is {first}. "
        f"{number_remedy(first)}"
    )


def number_remedy(first: str) -> str:
    """What to do about cells that are no numbers, of which this is the first."""
    comma = re.match(r"'\s*(-?\d*),(\d+)\s*'", first)
    if comma is None:
        return "Drop or repair these rows."
    return f"Save the file with decimal points, {comma[1] or 0}.{comma[2]} for {comma[1]},{comma[2]}."


def refuse_beyond_unit(source: Source, name: str) -> NoReturn:
    """Refuse a score outside [0, 1]."""
    count, first = first_bad_cell(source, name, lambda at, kind: f"NOT ({number(at, kind)} BETWEEN 0 AND 1)")
    raise OutsideGrid(
        f"A probability grid takes scores in [0, 1], got {count} outside in column {quoted(name)}: the first "
        f"is {first}.",
        remedy=f"Use {arg('grid', 'margin')}.",
    )


def refuse_propensities(source: Source, columns: Columns) -> NoReturn:
    """Refuse a propensity of a positive that is missing, no number, or outside (0, 1]."""
    name = str(columns.propensity)

    def bad(at: str, kind: str) -> str:
        return f"NOT ({number(at, kind)} > 0 AND {number(at, kind)} <= 1)"

    def positive(at: str, kind: str) -> str:
        return f"({stratum(at, kind, columns.unlabeled)}) = {POSITIVE}"

    count, first = first_bad_cell(source, name, bad, (str(columns.label), positive))
    raise InputError(
        f"A propensity is the chance that such a positive is known, in (0, 1]; column {quoted(name)} holds "
        f"{count} on positive row(s) that are none: the first is {first}. {number_remedy(first)}"
    )


def refuse_labels(source: Source, columns: Columns) -> NoReturn:
    """Refuse a label outside the code."""
    label = str(columns.label)

    def bad(at: str, kind: str) -> str:
        return f"({stratum(at, kind, columns.unlabeled)}) = {OUTSIDE}"

    count, first = first_bad_cell(source, label, bad)
    codes: set[str] = set()
    for batch in source.batches:
        at, kind = batch.at(label)
        table, parameters = source.table(batch.files, batch.layout, [label])
        sql = f"SELECT DISTINCT {at}::VARCHAR AS x FROM {table} WHERE {bad(at, kind)} ORDER BY x LIMIT 6"
        codes.update(source.fetch(sql, parameters, batch.files)["x"].tolist())
    examples = ", ".join(quoted(code) for code in sorted(codes)[:5]) + (", …" if len(codes) > 5 else "")
    zero = columns.unlabeled == 0
    code = "0 or empty not known" if zero else "0 negative, empty unlabeled"
    raise InputError(
        f"Column {quoted(label)} holds {count} label(s) outside the code: {examples}; the first is "
        f"{first}. The code is 1 positive, {code}; {_recoded(codes, zero=zero)}."
    )


def _recoded(codes: Iterable[str], *, zero: bool) -> str:
    """What to do about labels outside the code, in which 0 may stand for what is not known."""
    if not zero and any(re.fullmatch(r"\s*[-+]?\.?\d.*", code) for code in codes):
        return f"name another code for unlabeled rows, e.g. {arg('unlabeled', -1)}"
    word = {code.strip().lower(): code.strip() for code in codes}
    positive = next((word[yes] for yes, _ in ANSWERS if yes in word), "what is positive")
    if zero:
        return f"recode {positive} to 1 and all others to 0"
    negative = next((word[no] for _, no in ANSWERS if no in word), "what is negative")
    return f"recode {positive} to 1 and {negative} to 0 (or leave it empty where nobody has looked)"


def first_bad_cell(
    source: Source, name: str, bad: IsBad, only: tuple[str, IsBad] | None = None
) -> tuple[int, str]:
    """The number of bad cells; the first with its row, counted from 1 below the header, and file.

    With ``only``, another column and a condition on it, other rows are not looked at.
    """
    total, first = 0, ""
    for batch in source.batches:
        at, kind = batch.at(name)
        where = "true" if only is None else only[1](*batch.at(only[0]))
        for file in batch.files:
            columns = [name] if only is None else [name, only[0]]
            table, parameters = source.table([file], batch.layout, columns)
            sql = (
                f"SELECT count(*) AS n, min(row) AS row, arg_min(coalesce(x::VARCHAR, ''), row) AS text "
                f"FROM (SELECT row_number() OVER () AS row, {at} AS x, {where} AS asked FROM {table}) "
                f"WHERE asked AND {bad('x', kind)}"
            )
            bad_cells = source.fetch(sql, parameters, [file])
            if bad_cells["n"][0] and not total:
                text = quoted(bad_cells["text"][0]) if bad_cells["text"][0] else "missing"
                first = f"{text} in row {bad_cells['row'][0]} of {file.name}"
            total += int(bad_cells["n"][0])
    return total, first


def refuse_no_rows(source: Source) -> NoReturn:
    """Refuse files without rows."""
    more = f" (and {len(source.files) - 1} more)" if len(source.files) > 1 else ""
    raise InputError(f"{source.files[0].name}{more} has no rows. Pass at least one.")


def refuse_no_weight(source: Source, name: str | None) -> NoReturn:
    """Refuse weights that are all zero."""
    raise InputError(
        f"Column {quoted(name)} of {source.files[0].name} is zero in all rows. Give at least one row a "
        f"positive weight, or leave {arg('weight')} out for equal weights."
    )
