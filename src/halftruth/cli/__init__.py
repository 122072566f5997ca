"""The command line: `halftruth`, also `python -m halftruth`."""

from __future__ import annotations

import os
import re
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Any

from halftruth.cli import interrupts, status, streams
from halftruth.errors import HalftruthError, InputError, MissingDependency, NotIdentifiable, Refuted

OPTIONS = (
    "score",
    "label",
    "weight",
    "unlabeled",
    "prior",
    "purity",
    "population",
    "by",
    "id",
    "threshold",
    "metrics",
    "confidence_level",
    "n_resamples",
    "rng",
    "method",
    "stratified",
    "lipschitz",
    "within",
    "labeled_sample",
    "data",
    "out",
    "repeats",
    "blocks",
    "jobs",
    "output",
    "scores",
    "scale",
    "n_bins",
    "binning",
    "n_knots",
    "variant",
    "n_folds",
    "labels",
    "sign",
    "calibrator",
    "test_error",
    "n_test",
    "predictions",
)

CALLS = {
    "SoftLabeled.from_votes(counts)": "--classes with --counts",
    "SoftLabeled.from_votes(k, m)": "--votes",
    "SoftLabeled.from_votes": "--votes",
    "SoftLabeled(q)": "--soft",
    "PositiveConfidence(r, prior=…)": "--prior",
    'a number, a pair (low, high), a PriorEstimate or "estimate"': "a number, a range low..high, or the word "
    "estimate",
    "a pair (low, high)": "a range low..high",
    "n_resamples > 0": "--n-resamples above 0",
    "Pass (positives, cases)": "Pass positives/cases",
}
"""What the library calls that an option stands for."""


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

    command = typer.main.get_command(app)
    _refuse_repeated(command, sys.argv[1:] if args is None else args)
    try:
        done = command.main(args, prog_name="halftruth", standalone_mode=False)
    except typer.Abort:
        return status.INTERRUPTED
    return int(done or status.FINE)


def _refuse_repeated(command: Any, args: Sequence[str]) -> None:
    """An option that takes one value would silently keep the last of several."""
    inner = command.commands.get(next((word for word in args if not word.startswith("-")), ""))
    single = {
        name
        for option in getattr(inner, "params", ())
        if not getattr(option, "multiple", False) and not getattr(option, "is_flag", False)
        for name in option.opts
    }
    given = [word.partition("=")[0] for word in args if word.startswith("--")]
    twice = next((name for name in given if name in single and given.count(name) > 1), None)
    if twice is not None:
        more = " To compare models, use: halftruth compare." if twice == "--score" else ""
        raise InputError(f"{twice} was given {given.count(twice)} times; it takes one value.{more}")


def in_words_of_the_shell(text: str) -> str:
    """The library's words for its arguments as options."""
    for call, option in CALLS.items():
        text = text.replace(call, option)
    if "low..high" in text:
        text = re.sub(r"\bgot \(([^\s,()]+), ([^\s,()]+)\)", r"got \1..\2", text)
    text = re.sub(r"`?\b([a-z_]+)`?=([\"']?)([^\s,;)]+?)\2(?=[\s,;.)]|$)", _as_option, text)
    return re.sub(r"`([a-z_]+)`", lambda found: _option(found[1]) or found[0], text)


def _as_option(found: re.Match[str]) -> str:
    name = _option(found[1])
    value = "" if found[3] == "…" else f" {found[3]}"
    return f"{name}{value}" if name else found[0]


def _option(name: str) -> str | None:
    return f"--{name.replace('_', '-')}" if name in OPTIONS else None


def _explain(error: Exception) -> int:
    """Say what went wrong, and which status that is."""
    if hasattr(error, "format_message"):  # usage: the class moved between typer's versions
        streams.say(f"Error: {error.format_message()}")
        context = getattr(error, "ctx", None)
        if context is not None:
            streams.say(f"Try: {context.command_path} --help")
        return status.USAGE
    if isinstance(error, (HalftruthError, MissingDependency)):
        streams.say(f"Error: {in_words_of_the_shell(str(error))}")
        undecided = isinstance(error, (NotIdentifiable, Refuted))
        return status.UNIDENTIFIED if undecided else status.USAGE
    if os.environ.get("HALFTRUTH_DEBUG") == "1":
        traceback.print_exception(error)
    text = " ".join(str(error).split())
    streams.say(
        f"Error: unexpected {type(error).__name__}: {text}. This is a fault of halftruth: please report it "
        f"with the command, the version (halftruth --version) and the traceback that HALFTRUTH_DEBUG=1 adds."
    )
    return status.UNEXPECTED
