"""The command line: `halftruth`, also `python -m halftruth`."""

from __future__ import annotations

import os
import traceback
import warnings
from collections.abc import Sequence

from halftruth.cli import interrupts, status, streams
from halftruth.errors import HalftruthError, MissingDependency, NotIdentifiable


def main(args: Sequence[str] | None = None) -> int:
    """Run one command; the exit status is returned, see `halftruth.cli.status`."""
    streams.prepare()
    with warnings.catch_warnings(), interrupts.remembered() as pressed:
        warnings.showwarning = lambda message, *rest, **more: streams.say(f"Warning: {message}")
        try:
            code = _run(args)
        except KeyboardInterrupt:
            code = status.INTERRUPTED
        except SystemExit as stop:  # typer's own: completion, or a reader that went away
            code = status.FINE if isinstance(stop.__context__, OSError) else int(stop.code or 0)
        except Exception as error:
            code = status.INTERRUPTED if pressed else _explain(error)
    if code == status.INTERRUPTED:
        streams.say("Interrupted.")
    streams.write("")  # what is still buffered leaves here, where a closed pipe is no error
    return code


def _run(args: Sequence[str] | None) -> int:
    import typer

    from halftruth.cli.app import app

    try:
        done = typer.main.get_command(app).main(args, prog_name="halftruth", standalone_mode=False)
    except typer.Abort:
        return status.INTERRUPTED
    return int(done or status.FINE)


def _explain(error: Exception) -> int:
    """Say what went wrong, and which status that is."""
    if hasattr(error, "format_message"):  # usage: the class moved between typer's versions
        streams.say(f"Error: {error.format_message()}")
        context = getattr(error, "ctx", None)
        if context is not None:
            streams.say(f"Try: {context.command_path} --help")
        return status.USAGE
    if isinstance(error, (HalftruthError, MissingDependency)):
        streams.say(f"Error: {error}")
        return status.UNIDENTIFIED if isinstance(error, NotIdentifiable) else status.USAGE
    if os.environ.get("HALFTRUTH_DEBUG") == "1":
        traceback.print_exception(error)
    text = " ".join(str(error).split())
    streams.say(
        f"Error: unexpected {type(error).__name__}: {text}. This is a fault of halftruth: please report it "
        f"with the command, the version (halftruth --version) and the traceback that HALFTRUTH_DEBUG=1 adds."
    )
    return status.UNEXPECTED
