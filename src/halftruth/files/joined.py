"""Files of the same cases, their rows brought into one order by an identifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from halftruth.errors import InputError
from halftruth.files.cells import Columns
from halftruth.files.messages import quoted
from halftruth.files.query import ExactRows, checked_rows, picked
from halftruth.files.source import Source

EVERY = 1 << 40


def joined_rows(paths: Sequence[Any], columns: Columns, threads: int | None = None) -> dict[str, ExactRows]:
    """The rows of each file, in the order of the identifiers that ``columns.by`` names."""
    out: dict[str, ExactRows] = {}
    first: tuple[str, Any, Any] | None = None
    for path in paths:
        with Source(path, columns.names(), threads=threads) as source:
            found = checked_rows(source, columns, EVERY)
        assert found is not None  # there is no limit
        name, ids = str(path), found["g"].astype(str)
        order = np.argsort(ids, kind="stable")
        ids, rows = ids[order], picked(found, columns, order)
        twice = ids[1:][ids[1:] == ids[:-1]]
        if len(twice):
            raise InputError(
                f"Column {quoted(str(columns.by))} of {name} must tell rows apart; {quoted(twice[0])} occurs "
                f"more than once."
            )
        if first is None:
            first = name, ids, rows.stratum
        _same_cases(first, (name, ids, rows.stratum), columns)
        out[name] = rows
    return out


def _same_cases(first: tuple[str, Any, Any], other: tuple[str, Any, Any], columns: Columns) -> None:
    (name, ids, strata), (others_name, others, others_strata) = first, other
    apart = np.setxor1d(ids, others)
    if len(apart):
        where = name if apart[0] in set(ids) else others_name
        raise InputError(
            f"{name} and {others_name} must hold the same cases: {len(apart)} identifier(s) are in only one "
            f"of them, e.g. {quoted(apart[0])}, only in {where}. Keep the cases that both have."
        )
    differ = np.flatnonzero(strata != others_strata)
    if len(differ):
        raise InputError(
            f"{name} and {others_name} disagree in column {quoted(columns.label)} on {len(differ)} case(s), "
            f"e.g. {quoted(ids[differ[0]])}. One case has one label."
        )
