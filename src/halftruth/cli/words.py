"""The library's words for its arguments, as those who type a command know them.

Names from files, and whatever else was given, are data: they are shown as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from halftruth._errors import Reference, in_python, render, source_of

ABOUT = {
    "range": "a range low..high",
    "sample": "positives/cases",
    "share": "a number, a range low..high, or the word estimate",
    "soft": "--soft",
    "votes": "--votes",
    "counts": "--classes with --counts",
    "prior": "--prior",
}
"""What a piece of Python is about, in the words of the shell."""
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

_QUOTED = r"""(?<![\w=`])(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")(?!\w)"""
_PATH = r"(?<!\S)\S*/\S*"
_LABEL = r"\b[a-z_]+\([^()]*=[^()]*\)"
"""A metric with its parameters."""
_PLAIN = r"-?\d+(?:\.\d+)?(?:e-?\d+)?|[a-z][\w-]*|…"
_VALUE = rf"""(?:(?P<quote>["'])(?P<quoted>[\w.-]+)(?P=quote)|(?P<plain>{_PLAIN}))"""
_SET = rf"(?<![\w/.=-])`?(?P<name>[a-z_]+)`?={_VALUE}(?=[\s,;:)]|\.(?:\s|$)|$)"
_NAMED = r"`(?P<word>[a-z_]+)`|(?<![\w-])(?P<bare>[a-z]+(?:_[a-z]+)+)(?![\w=(.]\w|[=(])"
_FENCED = f"{_QUOTED}|{_PATH}|{_LABEL}"


class Spoken(str):
    """A text that is already in the words of the shell."""

    __slots__ = ()


@dataclass(frozen=True)
class Command:
    """A command that was called: its options by the name of the argument, and what was given."""

    options: Mapping[str, str]
    given: tuple[str, ...] = ()

    @classmethod
    def of(cls, command: Any, args: Iterable[str]) -> Command:
        """From a command of typer's, and the words of the line."""
        options = {
            option.name: max(option.opts, key=len)
            for option in getattr(command, "params", ())
            if option.param_type_name == "option"
        }
        given = {word.partition("=")[2] if word.startswith("--") else word for word in args}
        return cls(options, tuple(sorted(given - {""}, key=lambda word: (-len(word), word))))

    def said(self, text: str) -> str:
        """A text of the library in the words of the shell."""
        text = self._pattern.sub(self._replaced, render(source_of(text), self.words))
        if "low..high" in text:
            text = re.sub(r"\bgot \((-?[\d.e-]+), (-?[\d.e-]+)\)", r"got \1..\2", text)
        return text

    def words(self, reference: Reference) -> str:
        """A reference in the words of the shell; in those of Python where no option stands for it."""
        name, value = reference.name, reference.value
        if reference.form == "pair":
            return f"{name}..{value}"
        if reference.form == "call":
            return ABOUT.get(value, name)
        option = self.options.get(name)
        if option is None:
            return in_python(reference)
        return option if value in ("", "…") else f"{option} {value}"

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        # Of what was given only that is fenced off which would else be taken for an argument.
        bare = Command(self.options)
        touched = [word for word in self.given if bare.said(word) != word]
        given = "|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in touched)
        calls = "|".join(map(re.escape, CALLS))
        fenced = f"{given}|{_FENCED}" if given else _FENCED
        return re.compile(f"(?P<call>{calls})|(?P<data>{fenced})|{_SET}|{_NAMED}")

    def _replaced(self, found: re.Match[str]) -> str:
        if found["call"] is not None:
            return CALLS[found["call"]]
        option = self.options.get(found["name"] or found["word"] or found["bare"] or "")
        if option is None:
            return found[0]
        value = found["quoted"] or found["plain"] or "…"
        return option if value == "…" else f"{option} {value}"


_called: ContextVar[Command | None] = ContextVar("called", default=None)


@contextmanager
def of(command: Command) -> Iterator[None]:
    """While a command runs, its words."""
    before = _called.set(command)
    try:
        yield
    finally:
        _called.reset(before)


def of_the_shell(text: str) -> str:
    """A text of the library in the words of the command that runs; of any, where none does."""
    if isinstance(text, Spoken):
        return text
    return Spoken((_called.get() or _any()).said(text))


def _any() -> Command:
    import typer

    from halftruth.cli.app import app

    def options(command: Any) -> Iterator[tuple[str, str]]:
        yield from Command.of(command, ()).options.items()
        for each in getattr(command, "commands", {}).values():
            yield from options(each)

    return Command(dict(options(typer.main.get_command(app))))
