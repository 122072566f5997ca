"""What a path means: the files behind it, what their first bytes say, and how messages speak of them."""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from glob import glob
from pathlib import Path
from typing import BinaryIO, TypeAlias

from halftruth._errors import InputError, MissingColumn, call

__all__ = [
    "File", "Paths", "excerpt", "find_files", "missing_column", "printable", "quoted", "reason",
    "standard_input",
]  # fmt: skip

Paths: TypeAlias = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""A file, a glob, a directory or "-" for standard input; or several of these."""

FORMS = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), "csv"),
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), "json"),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), "arrow"),
    ".parquet": "parquet",
}
PACKED = (".gz", ".zst")
MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}


@dataclass(frozen=True)
class File:
    """One file: its name as the user knows it, where it lies, and what is in it."""

    name: str
    path: str
    form: str | None = None
    packing: str = "none"

    @property
    def pattern(self) -> str:
        """A glob that matches this file only: DuckDB takes every path for one."""
        return re.sub(r"([*?\[])", r"[\1]", self.path)


def find_files(path: Paths, folder: str) -> tuple[File, ...]:
    """The files of one path or a list, in an order that does not depend on the file system.

    Streams, and files whose names DuckDB does not take, get a name in ``folder``.
    """
    paths = path if isinstance(path, (list, tuple)) else [path]
    if not paths:
        raise InputError(argument="path", must="name at least one file", got="an empty list")
    files = [file for name in paths for file in _expanded(name, folder)]
    places = [file.path for file in files]
    twice = next((file for file in files if places.count(file.path) > 1), None)
    if twice is not None:
        raise InputError(
            f"{twice.name} was named more than once, so its rows would count twice. Name it once."
        )
    return tuple(map(_classified, files))


def _expanded(path: object, folder: str) -> list[File]:
    if not isinstance(path, (str, os.PathLike)) or not isinstance(text := os.fspath(path), str):
        kind = type(path).__name__
        raise InputError(
            argument="path", must="be a file, a glob, a directory, '-' or a list of these", got=kind
        )
    title = printable(text)
    if text == "-":
        return [_spooled("standard input", standard_input(), folder)]
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", text):
        raise InputError(
            f"{title} is an address; only local files are read. Download it, then pass its path."
        )
    try:
        if Path(text).is_dir():
            return [_plain(name, folder) for name in _inside(text, title)]
        if Path(text).exists():
            return [_plain(text, folder)]
        # Path.glob takes no absolute pattern.
        matched = sorted(name for name in glob(text, recursive=True) if Path(name).is_file())  # noqa: PTH207
    except OSError as error:
        raise InputError(f"{title} cannot be opened: {error.strerror}. Check the path.") from error
    if not matched:
        raise InputError(f"{title} is no file and no directory, and matches none. Check the path.")
    return [_plain(name, folder) for name in matched]


def _inside(directory: str, title: str) -> list[str]:
    """Files of known suffix below a directory, but no .txt, which may say anything, and nothing hidden."""
    top = Path(directory)
    names = sorted(
        str(path)
        for path in top.rglob("*")
        if _form(path.name) and not path.name.lower().endswith(".txt")
        if not any(name.startswith((".", "_")) for name in path.relative_to(top).parts) and path.is_file()
    )
    if not names:
        raise InputError(f"The directory {title} holds no file with a known suffix ({', '.join(FORMS)}).")
    return names


def _plain(name: str, folder: str) -> File:
    original = Path(name)
    if stat.S_ISFIFO(original.stat().st_mode):
        with original.open("rb") as pipe:
            return _spooled(printable(name), pipe, folder)
    path = original.resolve()
    unspeakable = "\\" in str(path) and os.sep == "/"
    if unspeakable or os.fsencode(path) != str(path).encode("utf-8", "replace"):
        # DuckDB takes names as UTF-8 and a backslash for a separator: it knows the file by another name.
        path, target = Path(tempfile.mkdtemp(dir=folder), "link"), path
        path.symlink_to(target)
    return File(printable(name), str(path), _form(name))


def _spooled(title: str, stream: BinaryIO, folder: str) -> File:
    """A stream as a file: some formats are read from their end, and an error needs a second look."""
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as spool:
        shutil.copyfileobj(stream, spool, 1 << 20)
    return File(title, spool.name)


def standard_input() -> BinaryIO:
    """Standard input, where it is open."""
    if sys.stdin is None:
        raise InputError("Standard input is closed. Pass a file, or pipe one in.")
    return sys.stdin.buffer


def _form(name: str) -> str | None:
    path = Path(name.lower())
    if path.suffix not in PACKED:
        return FORMS.get(path.suffix)
    form = FORMS.get(path.with_suffix("").suffix)
    return form if form in ("csv", "json") else None


def _classified(file: File) -> File:
    """The file with its packing, and its format where only the first bytes tell."""
    try:
        with Path(file.path).open("rb") as stream:
            head = stream.read(4096)
    except OSError as error:
        raise InputError(f"{file.name} cannot be opened: {error.strerror}. Check the path.") from error
    if file.name.lower().endswith((".xlsx", ".xls", ".xlsm", ".ods")):
        format_name = "a spreadsheet" if file.name.lower().endswith(".ods") else "an Excel file"
        raise InputError(f"{file.name} is {format_name}: save it as CSV, and pass that.")
    if not head:
        raise InputError(f"{file.name} is empty. Pass a table with at least one row.")
    kind = next((kind for magic, kind in MAGIC.items() if head.startswith(magic)), None)
    # Compression is told by the first bytes, whatever the suffix says.
    if kind in ("gzip", "zstd"):
        return replace(file, packing=kind)
    if file.form is None and kind is not None:
        return replace(file, form=kind)
    # No text in UTF-8 has a zero byte; that in UTF-16 is full of them.
    if file.form in (None, "csv", "json") and b"\0" in head:
        raise InputError(
            f"{file.name} is not text in UTF-8. Save it so, or give it the suffix of its format."
        )
    return file


# --- What is wrong with a file, said so that it can be repaired ------------------------------------


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
        if match := re.search(pattern, error):
            return sentence.format(*match.groups(), where=where, text=text)
    return f"cannot be read{where}: {text}. Write it again, or in another format."


def missing_column(file: str, name: str, columns: Sequence[str], hint: str = "") -> MissingColumn:
    """That a column is not there, which are, and which was perhaps meant."""
    if columns and columns[0].lstrip('"').startswith("# halftruth review plan"):
        how = call("Reviewed.from_plan", "--reviewed, once for each round")
        return MissingColumn(f"{file} is a plan of reviews. Pass the file of all rows, and this by {how}.")
    names = ", ".join(quoted(column) for column in columns[:20]) + (", …" if len(columns) > 20 else "")
    folded = {column.strip().casefold(): column for column in reversed(columns)}
    near = get_close_matches(name.strip().casefold(), list(folded), 1)
    if f"{name}=" in file:
        remedy = (
            f"Folders named {name}=… are columns to engines alone: read them by ScoreTable.from_ibis, or by "
            f"--engine duckdb://."
        )
    elif near:
        remedy = f"Did you mean {quoted(folded[near[0]])}?"
    elif all(re.fullmatch(r"[-+.\deE]*", column) for column in columns):
        # Numbers alone are the first row of a file without a header.
        remedy = "The first line must hold the names of the columns."
    else:
        remedy = "Name one of these."
    error = MissingColumn(
        f"{file} has no column {quoted(name)}. Its columns: {names or 'none'}.", remedy=f"{remedy}{hint}"
    )
    error.column = name
    return error
