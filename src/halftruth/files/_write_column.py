"""Rows written again as they came, with one column more, whole or not at all; cells as they stand there."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector
from halftruth._errors import InputError
from halftruth.files._cell_meanings import Columns
from halftruth.files._checked_rows import checked_rows, relation
from halftruth.files._duckdb_source import FileBatch, Source, SqlValue, identifier, literal
from halftruth.files._file_paths import Paths, printable, quoted
from halftruth.files._read_files import EVERY

__all__ = ["cells_of", "check_form", "check_names", "check_target", "replaced", "write_with"]

FORMS = {".parquet": "FORMAT parquet", ".csv": "FORMAT csv, HEADER false"}
Key: TypeAlias = tuple[str, int]
"""The name of a column, and how many of that name stand before it in its file."""


def check_form(path: str | Path, name: str) -> None:
    """Raise unless the suffix names a form that is written."""
    if Path(path).suffix.lower() not in FORMS:
        raise InputError(
            argument=name,
            must=f"end in {' or '.join(FORMS)}",
            got=printable(str(path)),
            remedy="Choose one of these.",
        )


def check_target(path: str | Path) -> None:
    """Raise where a file cannot be written: no folder, no permission, or something that is no file."""
    target = Path(path)
    try:
        if target.exists() and not target.is_file():
            raise OSError(0, "it is no file")
        with tempfile.TemporaryFile(dir=target.parent):
            pass
    except OSError as error:
        raise _unwritten(target, error) from error


@contextmanager
def replaced(path: str | Path) -> Iterator[Path]:
    """A file beside the target; it takes the target's place once all is done, and leaves nothing if not."""
    target = Path(path)
    try:
        with tempfile.TemporaryDirectory(dir=target.parent.resolve(), prefix=".halftruth-") as folder:
            unfinished = Path(folder, "part")
            yield unfinished
            unfinished.replace(target)
    except OSError as error:
        raise _unwritten(target, error) from error


def _unwritten(target: Path, error: OSError) -> InputError:
    reason = error.strerror or str(error)
    return InputError(f"{printable(str(target))} cannot be written: {reason}. Choose another place.")


def check_names(path: Paths, columns: Columns, name: str, target: str | Path) -> None:
    """Raise unless the target can hold a column of this name beside those that the files have."""
    with Source(path, columns.names(), target=Path(target)) as source:
        _check_names(source, name, Path(target).suffix.lower())


def write_with(
    path: Paths, columns: Columns, name: str, values: Callable[[Vector], Vector], file: Path, form: str
) -> None:
    """Write all columns of all rows, in their order, and last one more: ``values`` of the one score.

    Cells of CSV and JSON are text; where ``form`` is ".parquet", and not ".csv", a column of such cells holds
    numbers where all of them are.
    """
    with Source(path, columns.names(), target=file) as source:
        _check_names(source, name, form)
        rows = checked_rows(source, columns, EVERY)
        assert rows is not None  # there is no limit
        # Rows are read twice in one order, so that the new column is joined by position.
        source.register("added", {"added": values(rows["s0"] + 0.0)})
        keys = _keys(source)
        table, parameters = relation(source, AllColumns(keys))
        names = [*(column for column, _ in keys), name]
        if form == ".csv":
            # The header is a row: names in SQL are neither empty nor twice the same, those of a CSV may be.
            cells = ", ".join(f"{cell}::VARCHAR" for cell in _cells(keys))
            head = ", ".join(literal(column) for column in names)
            sql = f"SELECT {head} UNION ALL SELECT {cells} FROM ({table}) POSITIONAL JOIN added"
        else:
            kinds = _kinds(source, keys, table, parameters)
            cells = ", ".join(
                f"{cell}{kind} AS {identifier(column)}"
                for cell, kind, column in zip(_cells(keys), [*kinds, ""], names, strict=True)
            )
            sql = f"SELECT {cells} FROM ({table}) POSITIONAL JOIN added"
        # This one path alone may be written to: there is no place for a temporary file of DuckDB's.
        copy = f"COPY ({sql}) TO {literal(str(file))} ({FORMS[form]}, USE_TMP_FILE false)"
        _fetch(source, copy, parameters, file)


def cells_of(path: Paths, columns: Sequence[str], chosen: NDArray[np.bool_]) -> dict[str, list[str]]:
    """The cells of the chosen rows as text, in the order of the files, by column."""
    with Source(path, columns) as source:
        for batch in source.batches:
            for name in columns:
                batch.at(name)  # or an error that names those that are there
        source.register("mask", {"chosen": chosen})
        table, parameters = relation(source, AllColumns([(name, 0) for name in columns]))
        names = ", ".join(f"coalesce(k{k}::VARCHAR, '') AS k{k}" for k in range(len(columns)))
        cells = source.fetch(f"SELECT {names} FROM ({table}) POSITIONAL JOIN mask WHERE chosen", parameters)
    return {name: cells[f"k{k}"].tolist() for k, name in enumerate(columns)}


def _fetch(source: Source, sql: str, parameters: list[SqlValue], file: Path) -> None:
    try:
        source.fetch(sql, parameters)
    except InputError as error:
        if str(file) in str(error.__cause__):  # not of what is read, but of what is written
            raise OSError(0, str(error.__cause__).split(": ")[-1].strip().rstrip(".")) from error
        raise


def _keys(source: Source) -> list[Key]:
    """The columns that any file has, in the order in which they appear."""
    return list(dict.fromkeys(key for batch in source.batches for key in _batch_keys(batch)))


def _batch_keys(batch: FileBatch) -> list[Key]:
    before: Counter[str] = Counter()
    keys = []
    for name, _ in batch.layout.columns:
        keys.append((name, before[name]))
        before[name] += 1
    return keys


def _cells(keys: Sequence[Key]) -> list[str]:
    return [*(f"k{place}" for place in range(len(keys))), "added"]


@dataclass(frozen=True)
class AllColumns:
    """Every column of every file, as k0, k1, …; empty where a file has no such column."""

    keys: Sequence[Key]

    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for name, _ in self.keys))

    def select(self, batch: FileBatch) -> str:
        references = {key: batch.reference(place) for place, key in enumerate(_batch_keys(batch))}
        cells = (references.get(key, "NULL") for key in self.keys)
        return ", ".join(f"{cell} AS k{place}" for place, cell in enumerate(cells))


def _kinds(source: Source, keys: Sequence[Key], table: str, parameters: list[SqlValue]) -> list[str]:
    """For each column the cast of text that holds numbers alone; 007 is no number, but a name."""
    if all(batch.layout.form not in ("csv", "json") for batch in source.batches):
        return [""] * len(keys)
    tests = {
        "::BIGINT": "TRY_CAST({0} AS BIGINT)::VARCHAR = {0}",
        "::DOUBLE": "TRY_CAST({0} AS DOUBLE) IS NOT NULL AND NOT regexp_matches({0}, '^[-+]?0[0-9]|_')",
    }
    cells = [f"{cell}::VARCHAR" for cell in _cells(keys)[:-1]]
    holds = ", ".join(
        f"bool_and({cell} IS NULL OR coalesce({test.format(f'({cell})')}, false)) AS t{k}_{i}"
        for k, cell in enumerate(cells)
        for i, test in enumerate(tests.values())
    )
    answers = source.fetch(f"SELECT {holds} FROM ({table})", parameters)
    return [
        next((kind for i, kind in enumerate(tests) if answers[f"t{k}_{i}"][0]), "") for k in range(len(keys))
    ]


def _check_names(source: Source, name: str, form: str) -> None:
    keys = _keys(source)
    where = source.files[0].name
    if name.casefold() in {column.casefold() for column, _ in keys}:
        raise InputError(
            f"{where} already has a column {quoted(name)}. Rename it, so that both can be told apart."
        )
    if form == ".csv" and all(batch.layout.form != "json" for batch in source.batches):
        return
    count = Counter(column.casefold() for column, _ in keys)
    bad = next((column for column, _ in keys if not column or count[column.casefold()] > 1), None)
    if bad is not None:
        fault = f"has several columns {quoted(bad)}" if bad else "has a column without a name"
        raise InputError(f"{where} {fault}, which cannot be written again. Give each a name of its own.")
