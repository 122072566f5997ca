"""Bad rows: a second look at the files, to say how many there are and where the first is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NoReturn

from halftruth._errors import InputError, OutsideGrid, arg
from halftruth.files.cells import Columns, number, stratum
from halftruth.files.messages import quoted
from halftruth.files.source import Source
from halftruth.table._groups import OUTSIDE

ANSWERS = (("yes", "no"), ("y", "n"), ("t", "f"), ("positive", "negative"), ("pos", "neg"))
"""Words for 1 and 0."""
Test = Callable[[str, str], str]
"""The SQL condition of a bad cell, from its reference and type."""


def score(source: Source, name: str) -> NoReturn:
    """Refuse a score that is missing, not finite or no number."""
    count, first = first_bad(source, name, lambda at, kind: f"NOT isfinite({number(at, kind)})")
    raise InputError(
        f"Scores must be finite numbers, got {count} in column {quoted(name)} that are not: the first is "
        f"{first}. {repair(first)}"
    )


def repair(first: str) -> str:
    """What to do about cells that are no numbers, of which this is the first."""
    comma = re.match(r"'\s*(-?\d*),(\d+)\s*'", first)
    if comma is None:
        return "Drop or repair these rows."
    return f"Save the file with decimal points, {comma[1] or 0}.{comma[2]} for {comma[1]},{comma[2]}."


def beyond_unit(source: Source, name: str) -> NoReturn:
    """Refuse a score outside [0, 1]."""
    count, first = first_bad(source, name, lambda at, kind: f"NOT ({number(at, kind)} BETWEEN 0 AND 1)")
    raise OutsideGrid(
        f"A probability grid takes scores in [0, 1], got {count} outside in column {quoted(name)}: the first "
        f"is {first}.",
        remedy=f"Use {arg('grid', 'margin')}.",
    )


def weight(source: Source, name: str) -> NoReturn:
    """Refuse a weight that is missing, negative, not finite or no number."""

    def bad(at: str, kind: str) -> str:
        return f"NOT (isfinite({number(at, kind)}) AND {number(at, kind)} >= 0)"

    count, first = first_bad(source, name, bad)
    raise InputError(
        f"Weights must be finite numbers of at least 0, got {count} in column {quoted(name)} that are not: "
        f"the first is {first}. Drop or repair these rows."
    )


def label(source: Source, columns: Columns) -> NoReturn:
    """Refuse a label outside the code."""

    def bad(at: str, kind: str) -> str:
        return f"({stratum(at, kind, columns.unlabeled)}) = {OUTSIDE}"

    count, first = first_bad(source, columns.label, bad)
    codes: set[str] = set()
    for part in source.parts:
        at, kind = part.at(columns.label)
        table, parameters = source.table(part.files, part.layout, [columns.label])
        sql = f"SELECT DISTINCT {at}::VARCHAR AS x FROM {table} WHERE {bad(at, kind)} ORDER BY x LIMIT 6"
        codes.update(source.fetch(sql, parameters, part.files)["x"].tolist())
    shown = ", ".join(quoted(code) for code in sorted(codes)[:5]) + (", …" if len(codes) > 5 else "")
    raise InputError(
        f"Column {quoted(columns.label)} holds {count} label(s) outside the code: {shown}; the first is "
        f"{first}. The code is 1 positive, 0 negative, empty unlabeled; {_recoded(codes)}."
    )


def _recoded(codes: Iterable[str]) -> str:
    """What to do about labels outside the code."""
    if any(re.fullmatch(r"\s*[-+]?\.?\d.*", code) for code in codes):
        return f"name another code for unlabeled rows, e.g. {arg('unlabeled', -1)}"
    word = {code.strip().lower(): code.strip() for code in codes}
    yes, no = (
        next((word[each] for each in pair if each in word), None) for pair in zip(*ANSWERS, strict=True)
    )
    positive, negative = yes or "what is positive", no or "what is negative"
    return f"recode {positive} to 1 and {negative} to 0 (or leave it empty where nobody has looked)"


def first_bad(source: Source, name: str, bad: Test) -> tuple[int, str]:
    """The number of bad cells; the first with its row, counted from 1 below the header, and file."""
    total, first = 0, ""
    for part in source.parts:
        at, kind = part.at(name)
        for file in part.files:
            table, parameters = source.table([file], part.layout, [name])
            sql = (
                f"SELECT count(*) AS n, min(row) AS row, arg_min(coalesce(x::VARCHAR, ''), row) AS text "
                f"FROM (SELECT row_number() OVER () AS row, {at} AS x FROM {table}) WHERE {bad('x', kind)}"
            )
            found = source.fetch(sql, parameters, [file])
            if found["n"][0] and not total:
                text = quoted(found["text"][0]) if found["text"][0] else "missing"
                first = f"{text} in row {found['row'][0]} of {file.name}"
            total += int(found["n"][0])
    return total, first


def no_rows(source: Source) -> NoReturn:
    """Refuse files without rows."""
    more = f" (and {len(source.files) - 1} more)" if len(source.files) > 1 else ""
    raise InputError(f"{source.files[0].name}{more} has no rows. Pass at least one.")


def no_weight(source: Source, name: str | None) -> NoReturn:
    """Refuse weights that are all zero."""
    raise InputError(
        f"Column {quoted(name)} of {source.files[0].name} is zero in all rows. Give at least one row a "
        f"positive weight, or leave {arg('weight')} out for equal weights."
    )
