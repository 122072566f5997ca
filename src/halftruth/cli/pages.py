"""`--html FILE`: the page of a result, beside what is printed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from halftruth._errors import InputError
from halftruth.cli import overlap, streams

SUFFIXES = (".html", ".htm")
SHOWN = 3
"""Files that a title names."""


def check(path: str | None, files: Sequence[str] = ()) -> None:
    """Refuse a place that cannot be right before long files are read; what is read is never written over."""
    if path is None:
        return
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise InputError(f"--html writes a page, so its FILE must end in .html; got {path!r}.")
    if target.is_dir():
        raise InputError(f"--html {path} is a folder. Name a file in it, such as {target / 'report.html'}.")
    if not target.parent.is_dir():
        raise InputError(f"--html {path}: there is no folder {target.parent}. Make it first.")
    overlap.refuse("--html", path, files)


def titled(files: Sequence[str], scores: Sequence[str] = ()) -> str:
    """What a page is about: the files, a few of many, and the columns of scores."""
    names = ["standard input" if file == "-" else Path(file).name or file for file in files]
    more = [f"{len(names) - SHOWN} more files"] if len(names) > SHOWN else []
    return ", ".join([*names[:SHOWN], *more, *scores])


def write(result: Any, path: str | None, title: str, by: str | None = None) -> None:
    """The page of an evaluation, a comparison, or groups by name; where it is goes to stderr."""
    if path is None:
        return
    if by is None:
        result.to_html(path, title=title)
    else:
        from halftruth import _storage
        from halftruth.evaluation._page_data import groups_page

        _storage.write(path, groups_page(result, title=title, by=by))
    streams.say(f"Report: {Path(path).resolve()}")
