"""The command line: `halftruth`, also `python -m halftruth`.

`_app` lists the commands; a module named after a command has its options, what it asks of the library and
what it shows. Below them: options and what they say (`_options`, `_option_values`, `_how_known`, `_reviews`),
rows from files and engines (`_table_source`, `_bayes_error_rows`), what is written (`_outputs`), results as
tables and JSON (`_views`, which say what `--strict` refuses, `_rendering`), `--require` (`_gates`), and the
terminal (`_terminal`).
"""

from __future__ import annotations

import errno
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any

from halftruth._errors import HalftruthError, InputError, MissingDependency, NotIdentifiable, Refuted
from halftruth.cli._terminal import (
    Status,
    Vocabulary,
    prepare_streams,
    remembered_interrupts,
    say,
    shell_text,
    unwritten,
    vocabulary,
    write_result,
)

__all__ = ["main"]

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
"""What keeps words from being written, whoever writes them."""


def main(args: Sequence[str] | None = None) -> int:
    """Run one command; the exit status is returned, see `halftruth.cli._terminal.Status`."""
    prepare_streams()
    line = list(sys.argv[1:] if args is None else args)
    before = vocabulary.set(Vocabulary({}))
    try:
        return int(_guarded(line))
    finally:
        vocabulary.reset(before)


def _guarded(line: list[str]) -> int:
    """Run a line; whatever goes wrong becomes words on stderr and a status."""
    with warnings.catch_warnings(), remembered_interrupts() as pressed:
        warnings.showwarning = lambda message, *rest, **more: say(f"Warning: {message}")
        try:
            code = _run(line)
        except KeyboardInterrupt:
            code = Status.INTERRUPTED
        except SystemExit as stop:  # typer's own: completion, or a reader that went away
            code = Status.FINE if isinstance(stop.__context__, OSError) else int(stop.code or 0)
        except Exception as error:
            code = Status.INTERRUPTED if pressed else _explain(error)
    if code == Status.INTERRUPTED:
        say("Interrupted.")
    try:
        write_result("")  # what is still buffered leaves here, where a closed pipe is no error
    except InputError as error:
        return _explain(error)
    return code


def _run(line: list[str]) -> int:
    import typer

    root = _commands()
    command = _command_of(root, line)
    _refuse_repeated(command, line)
    vocabulary.set(Vocabulary.of(command))
    try:
        done = root.main(line, prog_name="halftruth", standalone_mode=False)
    except typer.Abort:
        return Status.INTERRUPTED
    return int(done or Status.FINE)


@cache
def _commands() -> Any:
    """All commands: typer takes long to make them, and a process may run several."""
    import typer

    from halftruth.cli._app import app

    return typer.main.get_command(app)


def _command_of(command: Any, line: Sequence[str]) -> Any:
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
    names = [word.partition("=")[0] for word in before if word.startswith("--")]
    for option in getattr(command, "params", ()):
        used = [name for name in names if name in {*option.opts, *option.secondary_opts}]
        if len(set(used)) > 1:
            raise InputError(f"{' and '.join(dict.fromkeys(used))} contradict each other. Pass one of them.")
        many = getattr(option, "multiple", False) or getattr(option, "is_flag", False)
        if len(used) > 1 and not many:
            more = " To compare models, use: halftruth compare." if used[0] == "--score" else ""
            raise InputError(f"{used[0]} was given {len(used)} times; it takes one value.{more}")


def _explain(error: Exception) -> Status:
    """Say what went wrong, and which status that is."""
    if hasattr(error, "format_message"):  # usage: the class moved between typer's versions
        say(f"Error: {error.format_message()}")
        context = getattr(error, "ctx", None)
        if context is not None:
            say(f"Try: {context.command_path} --help")
        return Status.USAGE
    if isinstance(error, OSError) and error.errno in FULL and error.filename is None:
        error = unwritten(error)
    if isinstance(error, (HalftruthError, MissingDependency)):
        say(f"Error: {shell_text(error)}")
        undecided = isinstance(error, (NotIdentifiable, Refuted))
        return Status.UNIDENTIFIED if undecided else Status.USAGE
    if os.environ.get("HALFTRUTH_DEBUG") == "1":
        say("".join(traceback.format_exception(error)))
    text = " ".join(str(error).split())
    say(
        f"Error: unexpected {type(error).__name__}: {text}. This is a fault of halftruth: please report it "
        f"with the command, the version (halftruth --version) and the traceback that HALFTRUTH_DEBUG=1 adds."
    )
    return Status.UNEXPECTED
