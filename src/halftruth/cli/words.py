"""The words of the shell for what the library's errors and notes refer to: options for arguments."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from halftruth._errors import Reference, in_python, render, source_of

__all__ = ["Vocabulary", "current", "shell_text"]

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
        return cls(options)

    def __call__(self, reference: Reference) -> str:
        """A reference in the words of the shell; in those of Python where no option stands for it."""
        name, value = reference.name, reference.value
        if reference.form == "pair":
            return f"{name}..{value}"
        if reference.form == "call":
            return self.subjects.get(value, name)
        if name not in self.options:
            return in_python(reference)
        return self.options[name] if value in ("", "…") else f"{self.options[name]} {value}"


current: ContextVar[Vocabulary] = ContextVar("current")
"""Of the command that runs."""


def shell_text(message: str | Exception, **subjects: str) -> str:
    """An error or a note in the words of the command that runs; ``subjects`` has words of its own."""
    words = current.get(Vocabulary({}))
    return render(source_of(message), Vocabulary(words.options, {**words.subjects, **subjects}))
