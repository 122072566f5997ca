"""The terminal: exit statuses, where words go, Ctrl-C, and the words of the shell for the library's own."""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import IntEnum
from types import FrameType
from typing import Any, TextIO

from halftruth._errors import InputError, Reference, in_python, render, source_of

__all__ = [
    "Status", "Vocabulary", "prepare_streams", "remembered_interrupts", "say", "shell_text", "unwritten",
    "visible", "vocabulary", "write_result",
]  # fmt: skip

CLOSED = "it is closed"


class Status(IntEnum):
    """Exit statuses."""

    FINE = 0
    FAILED = 1
    """Only ever a gate (`--require`) that did not hold."""
    USAGE = 2  # bad usage or bad input
    UNIDENTIFIED = 3  # the evidence does not determine what was asked for
    UNEXPECTED = 70
    INTERRUPTED = 130


# Streams: results to stdout, remarks to stderr; a reader who left is no error ------------------------


class _Closed(io.TextIOBase):
    """A stream that was closed before the command began."""

    def write(self, text: str) -> int:
        if text:
            raise OSError(errno.EBADF, CLOSED)
        return 0


def prepare_streams() -> None:
    """UTF-8 in pipes and files, whatever the locale; what a stream cannot show is escaped."""
    sys.stdout = sys.stdout or _Closed()
    sys.stderr = sys.stderr or _Closed()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            encoding = stream.encoding if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="backslashreplace")


def write_result(text: str) -> None:
    """A result, on stdout; an error where it is lost, but not where its reader left."""
    failure = _put(sys.stdout, text)
    if failure is not None and not isinstance(failure, BrokenPipeError):
        raise unwritten(failure) from failure


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


# Ctrl-C ----------------------------------------------------------------------------------------------


@contextmanager
def remembered_interrupts() -> Iterator[list[int]]:
    """Ctrl-C does what it does; what is yielded is no longer empty then.

    Libraries in C turn it into errors of their own, DuckDB into a RuntimeError.
    """
    pressed: list[int] = []

    def handler(number: int, frame: FrameType | None) -> None:
        pressed.append(number)
        signal.default_int_handler(number, frame)

    # Left alone where someone else decides: another thread, a job that ignores it.
    is_main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT)
    if not is_main or before is not signal.default_int_handler:
        yield pressed
        return
    signal.signal(signal.SIGINT, handler)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)


# Words -----------------------------------------------------------------------------------------------

SUBJECTS = {
    "range": "a range low..high",
    "sample": "positives/cases",
    "share": "a number, a range low..high, or the word estimate",
    "soft": "--soft",
    "votes": "--votes",
    "counts": "--classes with --counts",
    "prior": "--prior",
}
"""What a piece of Python is about, in the words of the shell."""


@dataclass(frozen=True)
class Vocabulary:
    """The words of one command: its options by the name of the argument, and for pieces of Python."""

    options: Mapping[str, str]
    subjects: Mapping[str, str] = field(default_factory=lambda: SUBJECTS)

    @classmethod
    def of(cls, command: Any) -> Vocabulary:
        """From a command of typer's; an option with two names is called by the long one."""
        options = {
            option.name: max(option.opts, key=len)
            for option in getattr(command, "params", ())
            if option.param_type_name == "option"
        }
        if "review_chance" in options:  # which Python has under another name
            options["probability"] = options["review_chance"]
        return cls(options)

    def __call__(self, reference: Reference) -> str:
        """A reference in the words of the shell; in those of Python where no option stands for it."""
        name, value = reference.name, reference.value
        if reference.form == "pair":
            return f"{name}..{value}"
        if reference.form == "call":
            return value if value.startswith("--") else self.subjects.get(value, name)
        if name not in self.options:
            return in_python(reference)
        return self.options[name] if value in ("", "…") else f"{self.options[name]} {value}"


vocabulary: ContextVar[Vocabulary] = ContextVar("vocabulary")  # of the command that runs


def shell_text(message: str | Exception, **subjects: str) -> str:
    """An error or a note in the words of the command that runs; ``subjects`` has words of its own."""
    words = vocabulary.get(Vocabulary({}))
    return render(source_of(message), Vocabulary(words.options, {**words.subjects, **subjects}))
