"""What a GROUP BY gives, made into histograms: the same for every engine.

An engine gives each row a key, stratum · slots + bin, and adds up integers by key and group.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, NoReturn

import numpy as np

from halftruth._errors import InputError, arg
from halftruth.table._grid import Grid
from halftruth.table._histogram import MOST, UNIT, Bins, refuse_weights

STRATA = ("positive", "unlabeled", "negative")
OUTSIDE = len(STRATA)  # where a stratum's index stands, this is a label outside the code
BAD_SCORE, BAD_WEIGHT, NO_WEIGHT = -1, -2, -3  # keys of rows that have no bin
MISSING = "missing"  # the name of the group of empty cells
MOST_GROUPS = 1000  # a column of more values was probably not meant to make groups

Strata = dict[str, Bins]


def strata_of(grid: Grid, found: Mapping[str, Any], by: str | None = None) -> dict[str, Strata]:
    """The histograms of each group, by stratum; of the group "" where there are no groups.

    ``found`` has columns "key", "rows", "low", "high"; "position" on a grid of probabilities; "weight",
    "square", "lightest" and "heaviest" of weighted rows; "g", the name of the group. Masked sums are too
    large for 64 bits. ``by`` is the column that the groups come from, for messages.
    """
    binned = np.asarray(found["key"]) >= 0  # others are rows that were refused
    columns = {name: column[binned] for name, column in found.items()}
    if "weight" in columns:
        refuse_weights(float(columns["lightest"].min()), float(columns["heaviest"].max()))
    if columns["rows"].max(initial=0) > MOST:
        refuse_full_bin(weighted=False)
    sums = [columns[name] for name in ("position", "weight", "square") if name in columns]
    if any(np.ma.is_masked(column) or np.max(column, initial=0) > MOST * UNIT for column in sums):
        refuse_full_bin(weighted=True)
    group = named(columns.pop("g"), str(by)) if "g" in columns else None
    return {name: _strata(grid, columns, rows) for name, rows in places(group)}


def refuse_full_bin(*, weighted: bool) -> NoReturn:
    """Refuse a bin with more rows, or weight, than can be added up exactly."""
    if weighted:
        raise InputError("The weights of one bin add up to more than 2^30. Divide all weights by one number.")
    raise InputError("One bin would hold more than 2^30 rows, too many to add up exactly. Read fewer rows.")


def named(group: Any, column: str) -> Any:
    """The groups, those of empty cells under a name of their own."""
    cells, empty = np.ma.getdata(group), np.ma.getmaskarray(group)
    if empty.any() and (cells[~empty] == MISSING).any():
        raise InputError(
            f"Column {column!r} has both empty cells and the text {MISSING!r}, the name of empty ones. "
            f"Write another text in one of them."
        )
    return np.where(empty, MISSING, cells)


def ordered(names: Iterable[str]) -> list[str]:
    """Groups in their order: numbers by size, then other names as text."""

    def place(name: str) -> tuple[int, Decimal, str]:
        number = re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,4})?", name, flags=re.ASCII)
        return (0, Decimal(name), name) if number else (1, Decimal(0), name)

    return sorted(names, key=place)


def places(group: Any) -> Iterable[tuple[str, Any]]:
    """The groups in their order, each with the places of its rows."""
    if group is None:
        return [("", slice(None))]
    distinct = set(group.tolist())
    refuse_groups(len(distinct))
    names = ordered(distinct)
    place = {name: k for k, name in enumerate(names)}
    code = np.fromiter(map(place.__getitem__, group.tolist()), dtype=np.int64, count=len(group))
    order = np.argsort(code, kind="stable")
    return zip(names, np.split(order, np.cumsum(np.bincount(code))[:-1]), strict=True)


def refuse_groups(count: int) -> None:
    """Raise where a column has so many values that it was hardly meant to make groups."""
    if count > MOST_GROUPS:
        raise InputError(
            f"The column of groups has more than {MOST_GROUPS:,} values, and each would be a group of its "
            f"own; at most {MOST_GROUPS:,} are taken. Name a column with fewer by {arg('by')}."
        )


def _strata(grid: Grid, sums: Mapping[str, Any], rows: Any) -> Strata:
    of_group = {name: np.asarray(column)[rows] for name, column in sums.items()}
    key = of_group.pop("key")
    order = np.argsort(key)
    ends = np.searchsorted(key[order], grid.n_slots * np.arange(len(STRATA) + 1))
    strata = {}
    for k, name in enumerate(STRATA):
        at = order[ends[k] : ends[k + 1]]
        if len(at):
            columns: dict[str, Any] = {column: values[at] for column, values in of_group.items()}
            columns |= {"low": columns["low"] + 0.0, "high": columns["high"] + 0.0}  # −0.0 is 0.0
            extremes = [columns.pop(column) for column in ("lightest", "heaviest") if column in columns]
            if extremes and all((weight == 1).all() for weight in extremes):  # weights of one are none
                del columns["weight"], columns["square"]
            index = (key[at] - k * grid.n_slots).astype(np.int32)
            strata[name] = Bins(grid=grid, index=index, **columns)
    return strata
