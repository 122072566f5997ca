"""What is wrong with a file, said so that it can be repaired."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches

from halftruth._errors import MissingColumn

# What DuckDB says, and the rest of a sentence that begins with the name of the file.
CAUSES = {
    r"Expected Number of Columns: (\d+) Found: (\d+)": "has {1} field(s){where}, but {0} in its header. "
    "Repair the line, or quote fields that hold the delimiter.",
    r"unterminated quote": "has a quoted field{where} that does not end as it must. Repair the line.",
    r"(?i)unicode|utf-?8": "is not text in UTF-8{where}. Save it as UTF-8.",
    r"(?i)maximum line size|maximum_object_size of \d+": "has a row above 32 MB{where}. Drop its large "
    "columns.",
    r"(?i)gzip|zstd|compress|destination buffer": "is cut short or damaged in its compression. Copy or write "
    "it again.",
    r"(?i)malformed json": "holds something that is not JSON{where}. Write one object for each row.",
    r"(?i)expected object, but got": "holds a row that is no JSON object{where}. Write one for each row.",
    r"(?i)parquet|magic|thrift|footer": "is no readable Parquet file ({text}). Write it again.",
    r"(?i)out of memory|memory limit": "needs more memory than there is ({text}). Raise the memory limit.",
}


def printable(text: str) -> str:
    """A name of foreign origin, without what a terminal might obey."""
    return text if text.isprintable() else repr(text)


def excerpt(text: str, length: int) -> str:
    """The first line, shortened."""
    line = text.strip().split("\n")[0].strip().rstrip(".")
    return printable(line if len(line) <= length else line[: length - 1] + "…")


def quoted(value: object) -> str:
    """A name or value as it stands in the file, shortened."""
    text = str(value)
    return repr(text if len(text) <= 40 else text[:39] + "…")


def reason(error: str) -> str:
    """What DuckDB says, as the rest of a sentence that begins with the name of the file."""
    line = re.search(r"on Line: (\d+)|in line (\d+)", error)
    # Of malformed JSON, DuckDB names the line after it.
    number = int(line[1] or line[2]) - ("malformed json" in error.lower()) if line else 0
    where = f" in line {number}" if number else ""
    text = excerpt(re.sub(r"^(\w+ )+Error: ", "", error), 160)
    for pattern, sentence in CAUSES.items():
        if found := re.search(pattern, error):
            return sentence.format(*found.groups(), where=where, text=text)
    return f"cannot be read{where}: {text}. Write it again, or in another format."


def missing_column(file: str, name: str, columns: Sequence[str], hint: str = "") -> MissingColumn:
    """That a column is not there, which are, and which was perhaps meant."""
    shown = ", ".join(quoted(own) for own in columns[:20]) + (", …" if len(columns) > 20 else "")
    folded = {own.strip().casefold(): own for own in reversed(columns)}
    near = get_close_matches(name.strip().casefold(), list(folded), 1)
    if f"{name}=" in file:
        remedy = (
            f"Folders named {name}=… are columns to engines alone: read them by ScoreTable.from_ibis, or by "
            f"--engine duckdb://."
        )
    elif near:
        remedy = f"Did you mean {quoted(folded[near[0]])}?"
    elif all(re.fullmatch(r"[-+.\deE]*", own) for own in columns):
        remedy = "The first line must hold the names of the columns."
    else:
        remedy = "Name one of these."
    error = MissingColumn(
        f"{file} has no column {quoted(name)}. Its columns: {shown or 'none'}.", remedy=f"{remedy}{hint}"
    )
    error.column = name
    return error
