"""Rows or bins from an open source, checked in the pass that reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector
from halftruth._errors import InputError, arg
from halftruth.files import refusals
from halftruth.files.cells import Columns
from halftruth.files.source import Part, Query, Source
from halftruth.files.terms import Sql, Term
from halftruth.table._grid import Grid
from halftruth.table._groups import (
    BAD_SCORE,
    BAD_WEIGHT,
    MOST_GROUPS,
    NO_WEIGHT,
    OUTSIDE,
    named,
    places,
    refuse_groups,
    strata_of,
)
from halftruth.table._histogram import Bins

FIRST_ROWS = 1_000_000
"""Rows among which groups are counted before all rows are read."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ExactRows:
    """Rows in file order. ``stratum`` indexes ``STRATA``."""

    scores: dict[str, Vector]
    stratum: NDArray[np.int8]
    weight: Vector | None


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

    def select(self, part: Part) -> str:
        """The list of a SELECT."""
        ...


def relation(source: Source, columns: Selected) -> Query:
    """The rows of all files, in order, as one SELECT."""
    selects: list[str] = []
    parameters: list[Any] = []
    for part in source.parts:
        table, own = source.table(part.files, part.layout, columns.names())
        selects.append(f"SELECT {columns.select(part)} FROM {table}")
        parameters += own
    return " UNION ALL ".join(selects), parameters


def exact_rows(source: Source, columns: Columns, max_rows: int) -> dict[str, ExactRows] | None:
    """The rows of each group, or None where there are more than ``max_rows``."""
    found = checked_rows(source, columns, max_rows)
    if found is None:
        return None
    return {group: picked(found, columns, rows) for group, rows in places(found.get("g"))}


def picked(found: dict[str, Any], columns: Columns, rows: Any) -> ExactRows:
    """Some of the rows."""
    weight = found.get("w")
    return ExactRows(
        scores={name: found[f"s{k}"][rows] + 0.0 for k, name in enumerate(columns.scores)},
        stratum=found["stratum"][rows],
        weight=None if weight is None else weight[rows],
    )


def checked_rows(source: Source, columns: Columns, max_rows: int) -> dict[str, Any] | None:
    """The columns of all rows, none of them bad; None where there are more than ``max_rows``."""
    if source.count is not None and source.count > max_rows:
        return None
    sql, parameters = relation(source, columns)
    limit = f" LIMIT {max_rows + 1}" if source.count is None else ""
    found = source.fetch(f"SELECT * FROM ({sql}){limit}", parameters)
    stratum, weight = found["stratum"], found.get("w")
    if len(stratum) > max_rows:
        return None
    if not len(stratum):
        refusals.no_rows(source)
    for k, name in enumerate(columns.scores):
        if not np.isfinite(found[f"s{k}"]).all():
            refusals.score(source, name)
    if weight is not None and not ((weight >= 0) & (weight < np.inf)).all():
        refusals.weight(source, str(columns.weight))
    if (stratum == OUTSIDE).any():
        refusals.label(source, columns)
    if weight is not None and not weight.any():
        refusals.no_weight(source, columns.weight)
    if columns.by is not None:
        found["g"] = named(found["g"], columns.by)
    return found


def binned_rows(source: Source, columns: Columns, grid: Grid | None) -> dict[str, BinnedRows]:
    """The histogram of each group; a second pass where no grid is named and scores leave [0, 1]."""
    if len(columns.scores) > 1:
        raise InputError(
            "Several score columns stay row by row, which a histogram cannot, and there are more rows "
            f"than {arg('max_rows')}. Raise it, or read one score column at a time."
        )
    if columns.by is not None:
        refuse_groups(_first_groups(source, columns))
    return _binned(source, columns, grid)


def _first_groups(source: Source, columns: Columns) -> int:
    """How many groups the first rows have, counted no further than is needed to refuse them."""
    rows, parameters = relation(source, columns)
    first = f"SELECT g FROM ({rows}) LIMIT {FIRST_ROWS}"
    groups = f"SELECT DISTINCT g FROM ({first}) LIMIT {MOST_GROUPS + 1}"
    return int(source.fetch(f"SELECT count(*) AS n FROM ({groups})", parameters)["n"][0])


def _binned(source: Source, columns: Columns, grid: Grid | None) -> dict[str, BinnedRows]:
    tried = grid or Grid("probability")
    found = source.fetch(*histogram_sql(source, columns, tried))
    if not len(found["key"]):
        refusals.no_rows(source)
    if not (np.isfinite(found["low"]).all() and np.isfinite(found["high"]).all()):
        refusals.score(source, columns.scores[0])
    if (found["key"] == BAD_WEIGHT).any():
        refusals.weight(source, str(columns.weight))
    if (found["key"] >= OUTSIDE * tried.n_slots).any():
        refusals.label(source, columns)
    if (found["key"] == BAD_SCORE).any():
        if grid is not None:
            refusals.beyond_unit(source, columns.scores[0])
        return _binned(source, columns, Grid("margin"))
    if not (found["key"] >= 0).any():
        refusals.no_weight(source, columns.weight)
    made = strata_of(tried, found, columns.by)
    return {group: BinnedRows(grid=tried, strata=strata) for group, strata in made.items()}


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
