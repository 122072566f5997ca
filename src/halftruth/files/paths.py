"""What a path means: the files behind it, and what their names and first bytes say of them."""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
import tempfile
from dataclasses import dataclass, replace
from glob import glob
from pathlib import Path
from typing import Any, BinaryIO

from halftruth._errors import InputError
from halftruth.files.messages import printable

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


def find(path: Any, folder: str) -> tuple[File, ...]:
    """The files of one path or a list, in an order that does not depend on the file system.

    Streams, and files whose names DuckDB does not take, get a name in ``folder``.
    """
    every = path if isinstance(path, (list, tuple)) else [path]
    if not every:
        raise InputError(argument="path", must="name at least one file", got="an empty list")
    found = [file for one in every for file in _expanded(one, folder)]
    places = [file.path for file in found]
    twice = next((file for file in found if places.count(file.path) > 1), None)
    if twice is not None:
        raise InputError(
            f"{twice.name} was named more than once, so its rows would count twice. Name it once."
        )
    return tuple(map(_classified, found))


def _expanded(path: Any, folder: str) -> list[File]:
    if not isinstance(path, (str, os.PathLike)) or not isinstance(text := os.fspath(path), str):
        kind = type(path).__name__
        raise InputError(
            argument="path", must="be a file, a glob, a directory, '-' or a list of these", got=kind
        )
    shown = printable(text)
    if text == "-":
        return [_spooled("standard input", standard_input(), folder)]
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", text):
        raise InputError(
            f"{shown} is an address; only local files are read. Download it, then pass its path."
        )
    try:
        if Path(text).is_dir():
            return [_plain(name, folder) for name in _inside(text, shown)]
        if Path(text).exists():
            return [_plain(text, folder)]
        # Path.glob takes no absolute pattern.
        matched = sorted(name for name in glob(text, recursive=True) if Path(name).is_file())  # noqa: PTH207
    except OSError as error:
        raise InputError(f"{shown} cannot be opened: {error.strerror}. Check the path.") from error
    if not matched:
        raise InputError(f"{shown} is no file and no directory, and matches none. Check the path.")
    return [_plain(name, folder) for name in matched]


def _inside(directory: str, shown: str) -> list[str]:
    """Files of known suffix below a directory, but no .txt, which may say anything, and nothing hidden."""
    top = Path(directory)
    names = sorted(
        str(one)
        for one in top.rglob("*")
        if _form(one.name) and not one.name.lower().endswith(".txt")
        if not any(part.startswith((".", "_")) for part in one.relative_to(top).parts) and one.is_file()
    )
    if not names:
        raise InputError(f"The directory {shown} holds no file with a known suffix ({', '.join(FORMS)}).")
    return names


def _plain(name: str, folder: str) -> File:
    given = Path(name)
    if stat.S_ISFIFO(given.stat().st_mode):
        with given.open("rb") as pipe:
            return _spooled(printable(name), pipe, folder)
    path = given.resolve()
    unspeakable = "\\" in str(path) and os.sep == "/"
    if unspeakable or os.fsencode(path) != str(path).encode("utf-8", "replace"):
        # DuckDB takes names as UTF-8 and a backslash for a separator: it knows the file by another name.
        path, target = Path(tempfile.mkdtemp(dir=folder), "link"), path
        path.symlink_to(target)
    return File(printable(name), str(path), _form(name))


def _spooled(shown: str, stream: BinaryIO, folder: str) -> File:
    """A stream as a file: some formats are read from their end, and an error needs a second look."""
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as spool:
        shutil.copyfileobj(stream, spool, 1 << 20)
    return File(shown, spool.name)


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
        kind = "a spreadsheet" if file.name.lower().endswith(".ods") else "an Excel file"
        raise InputError(f"{file.name} is {kind}: save it as CSV, and pass that.")
    if not head:
        raise InputError(f"{file.name} is empty. Pass a table with at least one row.")
    found = next((kind for magic, kind in MAGIC.items() if head.startswith(magic)), None)
    if found in ("gzip", "zstd"):
        return replace(file, packing=found)
    if file.form is None and found is not None:
        return replace(file, form=found)
    if file.form in (None, "csv", "json") and b"\0" in head:
        raise InputError(
            f"{file.name} is not text in UTF-8. Save it so, or give it the suffix of its format."
        )
    return file
