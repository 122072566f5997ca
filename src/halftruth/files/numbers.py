"""Columns of numbers row by row, with what their cells must be."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from halftruth.checks import Vector
from halftruth.errors import InputError
from halftruth.files import refusals
from halftruth.files.cells import number, numeric
from halftruth.files.messages import quoted
from halftruth.files.query import relation
from halftruth.files.source import Part, Source, literal

Words = Mapping[str, float]
"""What words in a column of text stand for."""
SHOWN = 12
"""Cells of a bad row that are shown."""


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
    remedy : str
    """

    columns: Sequence[str]
    holds: Callable[..., NDArray[np.bool_]]
    must: str
    remedy: str


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """Which columns are read; no cell of them may be empty."""

    columns: Sequence[str]
    weight: str | None = None
    words: Mapping[str, Words] = field(default_factory=dict)

    def names(self) -> tuple[str, ...]:
        """The columns to read, each once."""
        return tuple(dict.fromkeys(name for name in (*self.columns, self.weight) if name is not None))

    def select(self, part: Part) -> str:
        """x0, x1, …, in the order of ``names``."""
        cells = (self.cell(name, *numeric(part, name)) for name in self.names())
        return ", ".join(f"{cell} AS x{k}" for k, cell in enumerate(cells))

    def cell(self, name: str, at: str, kind: str) -> str:
        """A DOUBLE, NaN for what is neither a number nor a word of its column."""
        value, words = number(at, kind), self.words.get(name)
        if not words or kind != "VARCHAR":
            return value
        alike = len({word.lower() for word in words}) == len(words)  # whatever their case
        fold = "lower" if alike else ""
        known = " ".join(
            f"WHEN {fold}(trim({literal(word)})) THEN {code!r}::DOUBLE" for word, code in words.items()
        )
        return f"CASE {fold}(trim({at})) {known} ELSE {value} END"


def read_numbers(
    path: Any, wanted: Numbers, demands: Sequence[Demand] = (), *, threads: int | None = None
) -> dict[str, Vector]:
    """Read columns of numbers from files.

    Parameters
    ----------
    path : path, glob, directory, "-" for standard input, or a list of these
    wanted : Numbers
    demands : sequence of Demand
        The first that is not met is an error, with the number of bad rows and the place of the first.
    threads : int, optional
        Of DuckDB. No result depends on it.

    Returns
    -------
    dict of arrays by column, in the order of the files
    """
    names = wanted.names()
    with Source(path, names, threads=threads) as source:
        sql, parameters = relation(source, wanted)
        found = source.fetch(sql, parameters)
        columns = {name: np.asarray(found[f"x{k}"]) + 0.0 for k, name in enumerate(names)}
        if not len(columns[names[0]]):
            refusals.no_rows(source)
        for name in dict.fromkeys(wanted.columns):
            if not np.isfinite(columns[name]).all():
                _refuse_cells(source, wanted, name)
        if wanted.weight is not None:
            weight = columns[wanted.weight]
            if not ((weight >= 0) & (weight < np.inf)).all():
                refusals.weight(source, wanted.weight)
            if not weight.any():
                refusals.no_weight(source, wanted.weight)
        for demand in demands:
            _check(source, names, columns, demand)
    return columns


def _refuse_cells(source: Source, wanted: Numbers, name: str) -> NoReturn:
    count, first = refusals.first_bad(
        source, name, lambda at, kind: f"NOT isfinite({wanted.cell(name, at, kind)})"
    )
    words = wanted.words.get(name, ())
    known = f", or one of {', '.join(map(quoted, list(words)[:SHOWN]))}" if words else ""
    raise InputError(
        f"Column {quoted(name)} must hold finite numbers{known}; got {count} cell(s) that do not: the first "
        f"is {first}. Drop or repair these rows; a decimal has a point."
    )


def _check(source: Source, names: Sequence[str], columns: Mapping[str, Vector], demand: Demand) -> None:
    values = [columns[name] for name in demand.columns]
    bad = ~demand.holds(*values)
    if not bad.any():
        return
    first = int(np.argmax(bad))
    cells = [f"{quoted(name)} {column[first]:g}" for name, column in zip(demand.columns, values, strict=True)]
    shown = ", ".join(cells[:SHOWN]) + (", …" if len(cells) > SHOWN else "")
    raise InputError(
        f"{demand.must}; got {int(bad.sum())} row(s) where that does not hold: the first has {shown} in "
        f"{_place(source, names, first)}. {demand.remedy}"
    )


def _place(source: Source, names: Sequence[str], index: int) -> str:
    """The row, counted from 1 below the header, and the file of the row at this place of all."""
    for part in source.parts:
        for file in part.files:
            table, parameters = source.table([file], part.layout, names)
            count = int(source.fetch(f"SELECT count(*) AS n FROM {table}", parameters, [file])["n"][0])
            if index < count:
                return f"row {index + 1} of {file.name}"
            index -= count
    raise AssertionError("the files have fewer rows than were read")
