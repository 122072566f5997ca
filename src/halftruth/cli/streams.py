"""Where words go: results to stdout, remarks to stderr; a reader who left is no error."""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO


def prepare() -> None:
    """UTF-8 in pipes and files, whatever the locale; what a stream cannot show is escaped."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            encoding = stream.encoding if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="backslashreplace")


def write(text: str) -> None:
    """A result, on stdout."""
    _put(sys.stdout, text)


def say(remark: str) -> None:
    """A remark, on stderr."""
    _put(sys.stderr, visible(remark, keep="\n") + "\n")


def visible(text: str, keep: str = "") -> str:
    """Text from files as it may be shown: control characters, and what reverses writing, are escaped."""
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in text)


def _put(stream: TextIO, text: str) -> None:
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        # Else the interpreter would try once more on its way out, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
