"""Histograms from a table of any SQL engine, checked in the query that makes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from halftruth._errors import InputError
from halftruth.engines.sql import refusals
from halftruth.engines.sql.columns import Columns, bound
from halftruth.engines.sql.expression import NO_SCORE, heaviest_bin, histogram
from halftruth.engines.sql.fetching import fetch
from halftruth.engines.sql.naming import names
from halftruth.table._grid import Grid
from halftruth.table._groups import BAD_SCORE, BAD_WEIGHT, OUTSIDE, Strata, strata_of

SUMS = ("position", "weight", "square")
MOST_LOAD = 2.0**31 * (1 - 2.0**-20)
"""Rows, or sum of weights or of their squares as floats, in one bin: up to here 64 bits hold the steps."""


def read(
    table: Any,
    *,
    score: Any,
    label: Any,
    weight: Any = None,
    unlabeled: float | None = None,
    by: Any = None,
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
    columns = bound(table, score=score, label=label, weight=weight, unlabeled=unlabeled, by=by)
    if columns.group is not None:
        refusals.many_groups(columns)
    return _binned(columns, grid)


def expression(
    table: Any,
    *,
    score: Any,
    label: Any,
    weight: Any = None,
    unlabeled: float | None = None,
    by: Any = None,
    grid: Grid | None = None,
) -> Any:
    """The query that `read` sends, as an Ibis expression: ``ibis.to_sql`` shows its SQL in any dialect."""
    columns = bound(table, score=score, label=label, weight=weight, unlabeled=unlabeled, by=by)
    return histogram(columns, grid or Grid("probability"))


def _binned(columns: Columns, grid: Grid | None) -> dict[str, Strata]:
    tried = grid or Grid("probability")
    found = _fetched(columns, tried)
    key, rows = found["key"], found["rows"]

    def count(which: Any) -> int:
        return int(rows[which].sum())

    if not len(key):
        refusals.no_rows(columns)
    if n := count(key == NO_SCORE):
        refusals.score(columns, n)
    if n := count(key == BAD_WEIGHT):
        refusals.weight(columns, n)
    if n := count(key >= OUTSIDE * tried.n_slots):
        refusals.label(columns, n)
    if n := count(key == BAD_SCORE):
        if grid is not None:
            refusals.beyond_unit(columns, n)
        return _binned(columns, Grid("margin"))
    if not (key >= 0).any():
        refusals.no_weight(columns)
    return strata_of(tried, found, columns.names.get("by"))


def _fetched(columns: Columns, grid: Grid) -> dict[str, Any]:
    """The columns of the result as arrays; sums that 64 bits do not hold are masked."""
    try:
        table = fetch(histogram(columns, grid), columns.names["table"])
    except InputError:
        if _overflows(columns, grid):  # an engine that does not wrap around names a type, no weights
            refusals.heavy(columns)
        raise
    found: dict[str, Any] = {name: table[name].to_numpy() for name in table.column_names if name != "g"}
    if columns.group is not None:
        try:
            found["g"] = names(table["g"], found.pop("nan", None))
        except (OverflowError, ValueError) as error:
            refusals.group(columns, error)
    loads = [found.pop(name) for name in ("weight_load", "square_load") if name in found]
    large = (np.max([found["rows"], *loads], axis=0) > MOST_LOAD) & (found["key"] >= 0)
    if large.any():
        found |= {name: np.ma.masked_where(large, found[name]) for name in SUMS if name in found}
    return found


def _overflows(columns: Columns, grid: Grid) -> bool:
    """Whether it may have been the sums that an engine failed at."""
    try:
        return bool(fetch(heaviest_bin(columns, grid), columns.names["table"])["load"][0].as_py() > MOST_LOAD)
    except InputError:
        return False
