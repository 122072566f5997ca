"""The command line: `halftruth`, also `python -m halftruth`."""

from __future__ import annotations

import errno
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Any

from halftruth._errors import (
    HalftruthError,
    InputError,
    MissingDependency,
    NotIdentifiable,
    Refuted,
)
from halftruth.cli import interrupts, status, streams, words

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
"""What keeps words from being written, whoever writes them."""


def main(args: Sequence[str] | None = None) -> int:
    """Run one command; the exit status is returned, see `halftruth.cli.status`."""
    streams.prepare()
    line = list(sys.argv[1:] if args is None else args)
    before = words.current.set(words.Vocabulary({}))
    try:
        return _checked(line)
    finally:
        words.current.reset(before)


def _checked(line: list[str]) -> int:
    with warnings.catch_warnings(), interrupts.remembered() as pressed:
        warnings.showwarning = lambda message, *rest, **more: streams.say(f"Warning: {message}")
        try:
            code = _run(line)
        except KeyboardInterrupt:
            code = status.INTERRUPTED
        except SystemExit as stop:  # typer's own: completion, or a reader that went away
            code = status.FINE if isinstance(stop.__context__, OSError) else int(stop.code or 0)
        except Exception as error:
            code = status.INTERRUPTED if pressed else _explain(error)
    if code == status.INTERRUPTED:
        streams.say("Interrupted.")
    try:
        streams.write("")  # what is still buffered leaves here, where a closed pipe is no error
    except InputError as error:
        return _explain(error)
    return code


def _run(line: list[str]) -> int:
    import typer

    from halftruth.cli.app import app

    root = typer.main.get_command(app)
    command = _called(root, line)
    _refuse_repeated(command, line)
    words.current.set(words.Vocabulary.of(command))
    try:
        done = root.main(line, prog_name="halftruth", standalone_mode=False)
    except typer.Abort:
        return status.INTERRUPTED
    return int(done or status.FINE)


def _called(command: Any, line: Sequence[str]) -> Any:
    """The command that a line calls, also one within a group."""
    for word in line:
        if word in getattr(command, "commands", ()):
            command = command.commands[word]
        elif not word.startswith("-"):
            break
    return command


def _refuse_repeated(command: Any, line: Sequence[str]) -> None:
    """An option that takes one value would silently keep the last of several."""
    before = line[: line.index("--")] if "--" in line else line
    given = [word.partition("=")[0] for word in before if word.startswith("--")]
    for option in getattr(command, "params", ()):
        used = [name for name in given if name in {*option.opts, *option.secondary_opts}]
        if len(set(used)) > 1:
            raise InputError(f"{' and '.join(dict.fromkeys(used))} contradict each other. Pass one of them.")
        many = getattr(option, "multiple", False) or getattr(option, "is_flag", False)
        if len(used) > 1 and not many:
            more = " To compare models, use: halftruth compare." if used[0] == "--score" else ""
            raise InputError(f"{used[0]} was given {len(used)} times; it takes one value.{more}")


def _explain(error: Exception) -> int:
    """Say what went wrong, and which status that is."""
    if hasattr(error, "format_message"):  # usage: the class moved between typer's versions
        streams.say(f"Error: {error.format_message()}")
        context = getattr(error, "ctx", None)
        if context is not None:
            streams.say(f"Try: {context.command_path} --help")
        return status.USAGE
    if isinstance(error, OSError) and error.errno in FULL and error.filename is None:
        error = streams.unwritten(error)
    if isinstance(error, (HalftruthError, MissingDependency)):
        streams.say(f"Error: {words.shell_text(error)}")
        undecided = isinstance(error, (NotIdentifiable, Refuted))
        return status.UNIDENTIFIED if undecided else status.USAGE
    if os.environ.get("HALFTRUTH_DEBUG") == "1":
        streams.say("".join(traceback.format_exception(error)))
    text = " ".join(str(error).split())
    streams.say(
        f"Error: unexpected {type(error).__name__}: {text}. This is a fault of halftruth: please report it "
        f"with the command, the version (halftruth --version) and the traceback that HALFTRUTH_DEBUG=1 adds."
    )
    return status.UNEXPECTED
