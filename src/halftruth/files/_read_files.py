"""Scores, labels and weights from files, as rows or bins; of several files of the same cases in one order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from halftruth import _checks
from halftruth._errors import InputError, arg
from halftruth.files._cell_meanings import Columns
from halftruth.files._checked_rows import POSITIVE, ExactRows, binned_rows, checked_rows, exact_rows, picked
from halftruth.files._duckdb_source import Source
from halftruth.files._file_paths import Paths, printable, quoted
from halftruth.table._grid import Grid

__all__ = ["EVERY", "MAX_ROWS", "joined_rows", "read"]

MAX_ROWS = 500_000  # rows up to which a file is read as it is; beyond, as a histogram
EVERY = 1 << 40  # more rows than a file has: no limit


def read(
    path: Paths,
    *,
    score: str | Sequence[str],
    label: str,
    weight: str | None = None,
    unlabeled: float | None = None,
    by: str | None = None,
    id: str | None = None,  # noqa: A002  the word that users know
    propensity: str | None = None,
    grid: Grid | None = None,
    max_rows: int | None = None,
    threads: int | None = None,
) -> Any:
    """Scores, labels and weights from files, as `ExactRows` or `BinnedRows`.

    ``path`` is a path, a glob, a directory, "-" for standard input, or a list of these: CSV and TSV with a
    header, JSON lines (also with .gz or .zst), Parquet, Arrow. Several files are one table, in sorted order.
    Labels are 1 or true for positives, 0 or false for negatives, empty or NaN for unlabeled rows, for which
    ``unlabeled`` is another code. Several columns of ``score`` stay row by row, and so do propensities.

    Up to ``max_rows`` rows (500,000 unless given; no limit for rows that stay so) come as they are, more as a
    histogram on ``grid``: that of probabilities where all scores lie in [0, 1], else that of margins.

    With ``by`` the result is a dict by value of that column as text, sorted, numbers by size. With ``id``, a
    column that tells cases apart, each of several files holds other scores of the same cases, and the result
    is a dict by file, all in one order. No result depends on the ``threads`` of DuckDB.
    """
    scores = tuple(score) if isinstance(score, (list, tuple)) else (score,)
    needed = [*(("score", column) for column in scores), ("label", label)]
    optional = [("weight", weight), ("by", by), ("id", id), ("propensity", propensity)]
    for name, column in needed + [pair for pair in optional if pair[1] is not None]:
        if not isinstance(column, str):
            raise InputError(argument=name, must="be the name of a column", got=repr(column))
    if not scores or len(set(scores)) < len(scores):
        raise InputError(argument="score", must="name at least one column, and none twice", got=list(scores))
    if unlabeled is not None:
        unlabeled = _checks.unlabeled_code(unlabeled)
    if grid is not None:
        _checks.instance(grid, "grid", Grid)
    usual = MAX_ROWS if len(scores) == 1 and propensity is None else EVERY
    limit = usual if max_rows is None else _checks.count(max_rows, "max_rows", least=0)
    grouped = by if id is None else id
    columns = Columns(
        scores=scores, label=label, weight=weight, by=grouped, unlabeled=unlabeled, propensity=propensity
    )
    if id is not None:
        if by is not None or not isinstance(path, (list, tuple)) or len(path) < 2:
            raise InputError(
                f"{arg('id')} joins several files of the same cases: pass them as a list, without "
                f"{arg('by')}."
            )
        return joined_rows(path, columns, threads)
    with Source(path, columns.names(), threads=threads) as source:
        exact = exact_rows(source, columns, limit)
        groups = binned_rows(source, columns, grid) if exact is None else exact
    return groups[""] if by is None else groups


def joined_rows(paths: Sequence[Paths], columns: Columns, threads: int | None = None) -> dict[str, ExactRows]:
    """The rows of each file, by the identifiers that ``columns.by`` names in the order of the first file."""
    by_file: dict[str, ExactRows] = {}
    first: tuple[str, dict[str, int], ExactRows] | None = None
    for path in paths:
        with Source(path, columns.names(), threads=threads) as source:
            cells = checked_rows(source, columns, EVERY)
        assert cells is not None  # there is no limit
        name, ids = printable(str(path)), cells["g"].tolist()
        if name in by_file:
            raise InputError(f"{name} was named more than once. Name each file once.")
        place = {case: row for row, case in enumerate(ids)}
        if len(place) < len(ids):
            twice = next(case for row, case in enumerate(ids) if place[case] != row)
            raise InputError(
                f"Column {quoted(str(columns.by))} of {name} must tell rows apart; {quoted(twice)} occurs "
                f"more than once. Keep one row of each case."
            )
        if first is None:  # its order is that of all
            first = name, place, picked(cells, columns, slice(None))
            by_file[name] = first[2]
            continue
        _same_cases(first[:2], (name, place))
        order = np.fromiter((place[case] for case in first[1]), dtype=np.intp, count=len(place))
        by_file[name] = picked(cells, columns, order)
        _same_labels(first, (name, by_file[name]), columns)
    return by_file


def _same_cases(first: tuple[str, dict[str, int]], other: tuple[str, dict[str, int]]) -> None:
    (name, ids), (others_name, others) = first, other
    apart = ids.keys() ^ others.keys()
    if apart:
        case = min(apart)
        raise InputError(
            f"{name} and {others_name} must hold the same cases: {len(apart)} identifier(s) are in only one "
            f"of them, e.g. {quoted(case)}, only in {name if case in ids else others_name}. Keep the cases "
            f"that both have."
        )


def _same_labels(
    first: tuple[str, dict[str, int], ExactRows], other: tuple[str, ExactRows], columns: Columns
) -> None:
    name, ids, rows = first
    differ, column, what = np.flatnonzero(rows.stratum != other[1].stratum), str(columns.label), "label"
    if columns.propensity is not None and not len(differ):
        unlike = (rows.stratum == POSITIVE) & (rows.propensity != other[1].propensity)
        differ, column, what = np.flatnonzero(unlike), columns.propensity, "propensity"
    if len(differ):
        case = next(case for case, row in ids.items() if row == differ[0])
        raise InputError(
            f"{name} and {other[0]} disagree in column {quoted(column)} on {len(differ)} case(s), "
            f"e.g. {quoted(case)}. One case has one {what}."
        )
