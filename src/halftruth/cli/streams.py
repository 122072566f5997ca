"""Where words go: results to stdout, remarks to stderr; a reader who left is no error."""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import suppress
from typing import TextIO

from halftruth._errors import InputError

CLOSED = "it is closed"


class _Closed(io.TextIOBase):
    """A stream that was closed before the command began."""

    def write(self, text: str) -> int:
        if text:
            raise OSError(errno.EBADF, CLOSED)
        return 0


def prepare() -> None:
    """UTF-8 in pipes and files, whatever the locale; what a stream cannot show is escaped."""
    sys.stdout = sys.stdout or _Closed()
    sys.stderr = sys.stderr or _Closed()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            encoding = stream.encoding if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="backslashreplace")


def write(text: str) -> None:
    """A result, on stdout; an error where it is lost, but not where its reader left."""
    failed = _put(sys.stdout, text)
    if failed is not None and not isinstance(failed, BrokenPipeError):
        raise unwritten(failed) from failed


def unwritten(error: OSError) -> InputError:
    """That a result is lost; it is not tried again."""
    _silence(sys.stdout)
    return InputError(f"stdout cannot be written: {error.strerror or error}. Send it elsewhere.")


def say(remark: str) -> None:
    """A remark, on stderr; where that cannot be written, there is nowhere to say so."""
    _put(sys.stderr, visible(remark, keep="\n") + "\n")


def visible(text: str, keep: str = "") -> str:
    """Text from files as it may be shown: control characters, and what reverses writing, are escaped."""
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in text)


def _silence(stream: TextIO) -> None:
    """What is still buffered goes nowhere: else the interpreter would try once more on its way out."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _put(stream: TextIO, text: str) -> OSError | None:
    """Write at once; what went wrong is returned."""
    try:
        stream.write(text)
        stream.flush()
    except (OSError, ValueError) as error:  # a closed file is a ValueError
        _silence(stream)
        return error if isinstance(error, OSError) else OSError(errno.EBADF, CLOSED)
    return None
