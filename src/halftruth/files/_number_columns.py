"""Columns of numbers row by row, with what their cells must be."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector
from halftruth._errors import InputError
from halftruth.files._cell_meanings import number, numeric
from halftruth.files._checked_rows import (
    WEIGHTS,
    first_bad_cell,
    number_remedy,
    refuse_no_rows,
    refuse_no_weight,
    refuse_numbers,
    relation,
)
from halftruth.files._duckdb_source import FileBatch, Source, literal
from halftruth.files._file_paths import Paths, missing_column, quoted

__all__ = ["FOREIGN", "MOSTLY", "SHOWN", "Demand", "Numbers", "read_numbers", "share_of"]

Words: TypeAlias = Mapping[str, float]  # what words in a column of text stand for
SHOWN = 12  # cells of a bad row that are shown
MOSTLY = 0.5  # where more of the rows than this are bad, the column is probably another one than was meant
FOREIGN = "Most rows are like this: it looks like another column than the one that was meant."


@dataclass(frozen=True)
class Demand:
    """What every row must fulfil.

    Attributes
    ----------
    columns : sequence of str
    holds : callable
        Takes the arrays of these columns, gives the mask of the rows that are as they must be.
    must : str
        The demand, as the beginning of a sentence.
    remedy : str, or callable
        What to do; a callable takes the mask of the bad rows and the arrays.
    """

    columns: Sequence[str]
    holds: Callable[..., NDArray[np.bool_]]
    must: str
    remedy: str | Callable[..., str]


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """Which columns are read; no cell of them may be empty.

    Attributes
    ----------
    columns : sequence of str
    weight : str or None
    words : mapping
        By column, the words that may stand for numbers.
    contents : mapping
        By column, what it must hold where that is not any number.
    hint : callable
        What to add where a column is missing, from the columns that are there.
    """

    columns: Sequence[str]
    weight: str | None = None
    words: Mapping[str, Words] = field(default_factory=dict)
    contents: Mapping[str, str] = field(default_factory=dict)
    hint: Callable[[Sequence[str]], str] = lambda columns: ""

    def names(self) -> tuple[str, ...]:
        """The columns to read, each once."""
        return tuple(dict.fromkeys(name for name in (*self.columns, self.weight) if name is not None))

    def select(self, batch: FileBatch) -> str:
        """x0, x1, …, in the order of ``names``."""
        cells = (self.cell(name, *numeric(batch, name)) for name in self.names())
        return ", ".join(f"{cell} AS x{k}" for k, cell in enumerate(cells))

    def cell(self, name: str, at: str, kind: str) -> str:
        """A DOUBLE, NaN for what is neither a number nor a word of its column."""
        value, words = number(at, kind), self.words.get(name)
        if not words or kind != "VARCHAR":
            return value
        # Words are found in any case, unless they differ in nothing else.
        fold = "lower" if len({word.lower() for word in words}) == len(words) else ""
        known = " ".join(
            f"WHEN {fold}(trim({literal(word)})) THEN {code!r}::DOUBLE" for word, code in words.items()
        )
        return f"CASE {fold}(trim({at})) {known} ELSE {value} END"


def read_numbers(
    path: Paths, wanted: Numbers, demands: Sequence[Demand] = (), *, threads: int | None = None
) -> dict[str, Vector]:
    """Columns of numbers by their names, rows in the order of the files; a path is as in `read`.

    The first demand that is not met is an error, with the number of bad rows and the place of the first.
    """
    names = wanted.names()
    with Source(path, names, threads=threads) as source:
        _need(source, wanted)
        sql, parameters = relation(source, wanted)
        cells = source.fetch(sql, parameters)
        columns = {name: np.asarray(cells[f"x{k}"]) + 0.0 for k, name in enumerate(names)}
        if not len(columns[names[0]]):
            refuse_no_rows(source)
        for name in dict.fromkeys(wanted.columns):
            if not np.isfinite(columns[name]).all():
                _refuse_cells(source, wanted, name, len(columns[name]))
        if wanted.weight is not None:
            weight = columns[wanted.weight]
            if not ((weight >= 0) & (weight < np.inf)).all():
                refuse_numbers(source, wanted.weight, *WEIGHTS)
            if not weight.any():
                refuse_no_weight(source, wanted.weight)
        for demand in demands:
            _check(source, names, columns, demand)
    return columns


def _need(source: Source, wanted: Numbers) -> None:
    """Refuse files without one of the columns."""
    for batch in source.batches:
        columns = [name for name, _ in batch.layout.columns]
        absent = next((name for name in wanted.names() if name not in columns), None)
        if absent is not None:
            raise missing_column(batch.files[0].name, absent, columns, wanted.hint(columns))


def _refuse_cells(source: Source, wanted: Numbers, name: str, n_rows: int) -> NoReturn:
    count, first = first_bad_cell(
        source, name, lambda at, kind: f"NOT isfinite({wanted.cell(name, at, kind)})"
    )
    percent = re.match(r"'([^']*)'", first)
    share = None if percent is None else share_of(percent[1])
    remedy = number_remedy(first)
    if share is not None:
        remedy = f"Write shares as numbers, {share}."
    elif count > MOSTLY * n_rows:
        comma = remedy.startswith("Save") and name not in wanted.contents
        remedy = remedy if comma else FOREIGN
    words = wanted.words.get(name, ())
    known = f", or one of {', '.join(map(quoted, list(words)[:SHOWN]))}" if words else ""
    raise InputError(
        f"Column {quoted(name)} must hold {wanted.contents.get(name, f'finite numbers{known}')}; got {count} "
        f"cell(s) that do not: the first is {first}. {remedy}"
    )


def share_of(text: str) -> str | None:
    """How a percentage is written as a share, e.g. 0.5 for 50%; None where the text is none."""
    match = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*%\s*", text)
    return None if match is None else f"{float(match[1]) / 100:g} for {match[1]}%"


def _check(source: Source, names: Sequence[str], columns: Mapping[str, Vector], demand: Demand) -> None:
    values = [columns[name] for name in demand.columns]
    bad = ~demand.holds(*values)
    if not bad.any():
        return
    first = int(np.argmax(bad))
    cells = [f"{quoted(name)} {column[first]:g}" for name, column in zip(demand.columns, values, strict=True)]
    shown = ", ".join(cells[:SHOWN]) + (", …" if len(cells) > SHOWN else "")
    remedy = demand.remedy if isinstance(demand.remedy, str) else demand.remedy(bad, *values)
    raise InputError(
        f"{demand.must}; got {int(bad.sum())} row(s) where that does not hold: the first has {shown} in "
        f"{_place(source, names, first)}. {remedy}"
    )


def _place(source: Source, names: Sequence[str], index: int) -> str:
    """The row, counted from 1 below the header, and the file of the row at this place of all."""
    for batch in source.batches:
        for file in batch.files:
            table, parameters = source.table([file], batch.layout, names)
            count = int(source.fetch(f"SELECT count(*) AS n FROM {table}", parameters, [file])["n"][0])
            if index < count:
                return f"row {index + 1} of {file.name}"
            index -= count
    raise AssertionError("the files have fewer rows than were read")
