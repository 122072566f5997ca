"""Errors and notes as data: what must hold, what came, what to do about it.

A text names an argument by `arg`, `bare`, `pair` or `call`, never by a word of its own. These leave a mark
in the text, so that who shows it can put in the words of those who read it: ``prior=0.3`` in Python,
``--prior 0.3`` in a shell. What users wrote themselves has no marks and is shown as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from types import EllipsisType
from typing import Literal, Self, get_args

__all__ = [
    "EmptyClassWarning", "HalftruthError", "InputError", "MergeError", "MissingColumn", "MissingDependency",
    "NotIdentifiable", "Note", "NoteKind", "OutsideGrid", "Reference", "Refuted", "arg", "as_notes", "bare",
    "call", "in_python", "is_refuted", "merged_notes", "note_kinds", "notes_to_dict", "pair", "render",
    "source_of",
]  # fmt: skip

# References in texts ---------------------------------------------------------------------------------

# Unicode keeps these code points for a program's own use: they are no characters, and no text has them.
_OPEN, _NEXT, _CLOSE = "\ufdd0", "\ufdd1", "\ufdd2"
_MARK = re.compile(f"{_OPEN}(\\w+){_NEXT}([^{_NEXT}{_CLOSE}]*){_NEXT}([^{_CLOSE}]*){_CLOSE}")

Form = Literal["argument", "bare", "setting", "word", "pair", "call"]


@dataclass(frozen=True)
class Reference:
    """What a mark in a text stands for.

    Attributes
    ----------
    form : {"argument", "bare", "setting", "word", "pair", "call"}
        An argument by name, with or without the signs of code; one set to a number, or to a word; a pair
        (low, high); or any piece of Python.
    name : str
        The name of the argument; the low end of a pair; the piece of Python.
    value : str
        What an argument is set to; the high end of a pair; of a piece of Python, what it is about, by which
        another language finds its own words.
    """

    form: Form
    name: str
    value: str = ""

    def marked(self) -> str:
        """The reference as it stands in a text."""
        return f"{_OPEN}{self.form}{_NEXT}{self.name}{_NEXT}{self.value}{_CLOSE}"


def arg(name: str, value: float | str | EllipsisType | None = None) -> str:
    """An argument: `prior`; set to a value, prior=0.3; to one that the user chooses, prior=… (``...``)."""
    if value is None:
        return Reference("argument", name).marked()
    if isinstance(value, str):
        return Reference("word", name, value).marked()
    shown = "…" if value is ... else f"{value:g}" if isinstance(value, float) else f"{value}"
    return Reference("setting", name, shown).marked()


def bare(name: str) -> str:
    """An argument without the signs of code around it: n_resamples."""
    return Reference("bare", name).marked()


def pair(low: object, high: object) -> str:
    """Two values as one argument takes them: (0.1, 0.3)."""
    return Reference("pair", f"{low}", f"{high}").marked()


def call(python: str, about: str) -> str:
    """A piece of Python; ``about`` names what it does, for a language that has other words for it.

    Where it begins with two hyphens it is what one writes in a shell.
    """
    return Reference("call", python, about).marked()


def in_python(reference: Reference) -> str:
    """A reference as one who calls the library writes it."""
    name, value = reference.name, reference.value
    return {
        "argument": f"`{name}`",
        "bare": name,
        "setting": f"{name}={value}",
        "word": f'{name}="{value}"',
        "pair": f"({name}, {value})",
        "call": name,
    }[reference.form]


def render(text: str, words: Callable[[Reference], str] = in_python) -> str:
    """A text with its references in someone's words."""
    return _MARK.sub(lambda mark: words(Reference(*mark.groups())), text)  # type: ignore[arg-type]


def source_of(text: object) -> str:
    """The text of an error or a note before its references were put into words; of other things as shown."""
    source = getattr(text, "source", text)
    return source if isinstance(source, str) else str(source)


# Notes -----------------------------------------------------------------------------------------------

NoteKind = Literal[
    "assumption",
    "refuted",
    "partly_refuted",
    "not_identified",
    "identifiability",
    "small_sample",
    "bias",
    "selection",
    "histogram",
    "interval",
    "impossible",
    "undefined",
    "contradiction",
    "prior",
    "theory",
    "unused",
    "method",
    "remark",
]
"""What a note is about: what is assumed and the data cannot show (assumption), or do show to be wrong, so
that the numbers cannot be relied on (refuted), or for part of a range (partly_refuted); that an assumption,
not the data, decides a value (not_identified), or what no amount of such data decides (identifiability); too
few rows (small_sample); an error that more rows do not average out (bias); what hangs on how positives
became known (selection); bins in place of rows
(histogram); how an interval was made or why there is none (interval); a value out of its limits
(impossible), or no value (undefined); parts of the evidence that contradict each other (contradiction);
where the share of positives comes from (prior); a bound from theory, or why there is none (theory); what was
given and not used (unused); how a method went (method); anything else (remark)."""


class Note(str):
    """A remark on a result: a text, and of which kind it is. It compares as the text that Python shows."""

    __slots__ = ("kind", "source")
    kind: NoteKind
    source: str

    def __new__(cls, kind: NoteKind, text: str) -> Self:
        """A note from a text that may hold references."""
        note = super().__new__(cls, render(text))
        note.kind, note.source = kind, text
        return note

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        return self.kind, self.source

    def about(self, what: str) -> Note:
        """The same note with what it is about before it: a row, a model, a group."""
        return Note(self.kind, f"{what}: {self.source}")


def as_notes(texts: Iterable[str], kinds: Iterable[str] = ()) -> tuple[Note, ...]:
    """Notes from stored texts and kinds; a text without a known kind is a remark, a note stays what it is."""
    known: dict[str, NoteKind] = {kind: kind for kind in get_args(NoteKind)}
    return tuple(
        text if isinstance(text, Note) else Note(known.get(kind, "remark"), text)
        for text, kind in zip_longest(texts, kinds, fillvalue="")
    )


def note_kinds(notes: Iterable[Note]) -> list[str]:
    """The kinds of notes, in their order, for JSON."""
    return [note.kind for note in notes]


def notes_to_dict(notes: Sequence[Note]) -> dict[str, list[str]]:
    """Notes for JSON: their texts as Python shows them, and their kinds."""
    return {"notes": [str(note) for note in notes], "note_kinds": note_kinds(notes)}


def is_refuted(notes: Iterable[Note]) -> bool:
    """Whether one of the notes says that the data refute what was given."""
    return "refuted" in note_kinds(notes)


def merged_notes(notes_of: Mapping[str, Iterable[str]], shown: int = 3) -> list[str]:
    """Every text once, with the names of those that it is about, a few of many, where these are not all."""
    names_of: dict[str, list[str]] = {}
    for name, notes in notes_of.items():
        for note in dict.fromkeys(notes):
            names_of.setdefault(note, []).append(name)
    texts = []
    for note, names in names_of.items():
        more = f" and {len(names) - shown} more" if len(names) > shown else ""
        about = f"{', '.join(names[:shown])}{more}: "
        texts.append(note if len(names) == len(notes_of) else about + note)
    return texts


# Errors ----------------------------------------------------------------------------------------------


class _Message(Exception):
    """An error whose text may hold references: ``source`` keeps them, ``str`` shows them for Python."""

    source: str

    def __init__(self, text: str = "") -> None:
        source = source_of(text)
        super().__init__(render(source))
        self.source = source

    def about(self, what: str) -> Self:
        """The same error with what it is about before it: a file, a group."""
        return self._with(f"{what}: {self.source}")

    def also(self, advice: str) -> Self:
        """The same error with more advice at its end."""
        return self._with(f"{self.source} {advice}")

    def _with(self, text: str) -> Self:
        changed = type(self)(text)
        changed.__dict__.update(self.__dict__ | {"source": text})
        return changed


class HalftruthError(_Message, ValueError):
    """Base class of every error that halftruth raises on purpose."""


class InputError(HalftruthError):
    """An argument is not what it must be.

    Attributes
    ----------
    argument, must, got, remedy : str
        The parts of "`argument` must …, got …. What to do."; empty where an error has another form.
    """

    def __init__(
        self, text: str = "", *, argument: str = "", must: str = "", got: object = "", remedy: str = ""
    ) -> None:
        self.argument, self.must, self.got, self.remedy = argument, must, f"{got}", remedy
        self.fact = source_of(text) or f"{arg(argument)} must {must}{f', got {got}' if self.got else ''}."
        super().__init__(f"{self.fact} {remedy}" if remedy else self.fact)

    def advised(self, remedy: str) -> Self:
        """The same error with another remedy."""
        changed = self._with(f"{self.fact} {remedy}")
        changed.remedy = remedy
        return changed


class MissingColumn(InputError):
    """A file or a table has no column of this name."""

    column: str = ""


class OutsideGrid(InputError):
    """A score has no place in the bins of a histogram."""


class Refuted(InputError):
    """The data rule out what an argument says of the population."""


class NotIdentifiable(HalftruthError):
    """The evidence does not determine the quantity asked for."""


class MergeError(HalftruthError):
    """Two tables hold different things and cannot be merged."""


class MissingDependency(_Message, ImportError):
    """An optional library is needed for this call."""


class EmptyClassWarning(UserWarning):
    """One of the two classes has no mass, so a metric is undefined (NaN)."""
