"""Scores from files of any size and format, through an embedded DuckDB."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from halftruth import _checks
from halftruth._errors import InputError, arg
from halftruth.files.cells import Columns
from halftruth.files.joined import EVERY, joined_rows
from halftruth.files.query import BinnedRows, ExactRows, binned_rows, exact_rows
from halftruth.files.source import Source
from halftruth.table._grid import Grid
from halftruth.table._groups import STRATA

__all__ = ["MAX_ROWS", "STRATA", "BinnedRows", "ExactRows", "Source", "read"]

MAX_ROWS = 500_000
"""Rows up to which a file is read as it is; beyond, as a histogram."""


def read(
    path: Any,
    *,
    score: str | Sequence[str],
    label: str,
    weight: str | None = None,
    unlabeled: float | None = None,
    by: str | None = None,
    id: str | None = None,  # noqa: A002  the word that users know
    grid: Grid | None = None,
    max_rows: int | None = None,
    threads: int | None = None,
) -> Any:
    """Read scores, labels and weights from files.

    Parameters
    ----------
    path : path, glob, directory, "-" for standard input, or a list of these
        CSV and TSV with a header, JSON lines (also with .gz or .zst), Parquet, Arrow. Several files are one
        table, in sorted order.
    score : str or sequence of str
        The column of the scores; several stay row by row.
    label : str
        1 or true positive, 0 or false negative, empty or NaN unlabeled.
    weight, by : str, optional
        Columns of weights, and of groups.
    unlabeled : number, optional
        Another code for unlabeled rows.
    grid : Grid, optional
        Of a histogram; by default that of probabilities where all scores lie in [0, 1], else of margins.
    id : str, optional
        A column that tells cases apart: each of several files then holds other scores of the same cases, and
        all come in one order.
    max_rows : int, optional
        Up to this many rows come as they are, more as a histogram. By default 500,000 for one score
        column; several, which must stay row by row, have no limit.
    threads : int, optional
        Of DuckDB. No result depends on it.

    Returns
    -------
    ExactRows or BinnedRows; with ``by`` a dict of these, by value of that column as text, sorted, numbers by
    size; with ``id`` a dict by file.
    """
    scores = tuple(score) if isinstance(score, (list, tuple)) else (score,)
    for name, given in [
        *(("score", one) for one in scores),
        ("label", label),
        ("weight", weight),
        ("by", by),
        ("id", id),
    ]:
        if not (isinstance(given, str) or (given is None and name in ("weight", "by", "id"))):
            raise InputError(argument=name, must="be the name of a column", got=repr(given))
    if not scores or len(set(scores)) < len(scores):
        raise InputError(argument="score", must="name at least one column, and none twice", got=list(scores))
    if unlabeled is not None:
        unlabeled = _checks.unlabeled_code(unlabeled)
    if grid is not None:
        _checks.instance(grid, "grid", Grid)
    every = MAX_ROWS if len(scores) == 1 else EVERY
    limit = every if max_rows is None else _checks.count(max_rows, "max_rows", least=0)
    grouped = by if id is None else id
    columns = Columns(scores=scores, label=label, weight=weight, by=grouped, unlabeled=unlabeled)
    if id is not None:
        if by is not None or not isinstance(path, (list, tuple)) or len(path) < 2:
            raise InputError(
                f"{arg('id')} joins several files of the same cases: pass them as a list, without "
                f"{arg('by')}."
            )
        return joined_rows(path, columns, threads)
    with Source(path, columns.names(), threads=threads) as source:
        exact = exact_rows(source, columns, limit)
        found = binned_rows(source, columns, grid) if exact is None else exact
    return found[""] if by is None else found
