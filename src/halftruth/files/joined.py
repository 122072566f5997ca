"""Files of the same cases, their rows brought into one order by an identifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from halftruth._errors import InputError
from halftruth.files.cells import Columns
from halftruth.files.messages import printable, quoted
from halftruth.files.query import ExactRows, checked_rows, picked
from halftruth.files.source import Source

EVERY = 1 << 40


def joined_rows(paths: Sequence[Any], columns: Columns, threads: int | None = None) -> dict[str, ExactRows]:
    """The rows of each file, by the identifiers that ``columns.by`` names in the order of the first file."""
    out: dict[str, ExactRows] = {}
    first: tuple[str, dict[str, int], ExactRows] | None = None
    for path in paths:
        with Source(path, columns.names(), threads=threads) as source:
            found = checked_rows(source, columns, EVERY)
        assert found is not None  # there is no limit
        name, ids = printable(str(path)), found["g"].tolist()
        if name in out:
            raise InputError(f"{name} was named more than once. Name each file once.")
        place = {each: row for row, each in enumerate(ids)}
        if len(place) < len(ids):
            twice = next(each for row, each in enumerate(ids) if place[each] != row)
            raise InputError(
                f"Column {quoted(str(columns.by))} of {name} must tell rows apart; {quoted(twice)} occurs "
                f"more than once. Keep one row of each case."
            )
        if first is None:
            first = name, place, picked(found, columns, slice(None))
            out[name] = first[2]
            continue
        _same_cases(first[:2], (name, place))
        order = np.fromiter((place[each] for each in first[1]), dtype=np.intp, count=len(place))
        out[name] = picked(found, columns, order)
        _same_labels(first, (name, out[name]), columns)
    return out


def _same_cases(first: tuple[str, dict[str, int]], other: tuple[str, dict[str, int]]) -> None:
    (name, ids), (others_name, others) = first, other
    apart = ids.keys() ^ others.keys()
    if apart:
        one = min(apart)
        raise InputError(
            f"{name} and {others_name} must hold the same cases: {len(apart)} identifier(s) are in only one "
            f"of them, e.g. {quoted(one)}, only in {name if one in ids else others_name}. Keep the cases "
            f"that both have."
        )


def _same_labels(
    first: tuple[str, dict[str, int], ExactRows], other: tuple[str, ExactRows], columns: Columns
) -> None:
    name, ids, rows = first
    differ = np.flatnonzero(rows.stratum != other[1].stratum)
    if len(differ):
        case = next(each for each, row in ids.items() if row == differ[0])
        raise InputError(
            f"{name} and {other[0]} disagree in column {quoted(columns.label)} on {len(differ)} case(s), "
            f"e.g. {quoted(case)}. One case has one label."
        )
