"""`--html FILE`: the page of a result, beside what is printed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from halftruth.cli import streams
from halftruth.errors import InputError

SUFFIXES = (".html", ".htm")


def check(path: str | None) -> None:
    """Refuse a place that cannot be right before long files are read; data files are never written over."""
    if path is None:
        return
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise InputError(f"--html writes a page, so its FILE must end in .html; got {path!r}.")
    if target.is_dir():
        raise InputError(f"--html {path} is a folder. Name a file in it, such as {target / 'report.html'}.")
    if not target.parent.is_dir():
        raise InputError(f"--html {path}: there is no folder {target.parent}. Make it first.")


def write(result: Any, path: str | None, files: list[str], by: str | None = None) -> None:
    """The page of an evaluation, a comparison, or groups by name; where it is goes to stderr."""
    if path is None:
        return
    from halftruth import report

    report.page_of(result, path, title=", ".join(Path(file).name for file in files), by=by or "")
    streams.say(f"Report: {Path(path).resolve()}")
