"""What `halftruth reproduce` offers: a command for each paper, made from its record."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from inspect import Parameter, Signature
from typing import Annotated, Any

import typer

from halftruth._errors import note_kinds
from halftruth.cli._options import Format, Style, complete_list
from halftruth.cli._rendering import Block, Cell, show
from halftruth.cli._terminal import Status, say, shell_text
from halftruth_papers import PAPERS, reproduction
from halftruth_papers.reproduction import Option, Outcome, Paper, Say

DATA = typer.Option(metavar="DIR", help="Folder of the data sets.  [default: HALFTRUTH_DATA]")
OUT = typer.Option(metavar="DIR", help="Where results and page go.")
QUICK = typer.Option("--quick", help="A rough version within two minutes on two cores.")


def _command(paper: Paper) -> Callable[..., int]:
    """A function with the options of a paper as its parameters, as Typer reads them."""

    def command(data: str | None, out: str, quick: bool, style: Format, **given: Any) -> int:
        from halftruth.cli._option_values import parse_names  # loads NumPy, which a page of help does without

        for option in paper.options:
            if option.kind is list:
                given[option.name] = parse_names(given[option.name]) or option.default
            elif option.choices:
                given[option.name] = str(given[option.name])
        with _told() as tell:
            outcome = reproduction.run(paper, data, out, quick=quick, progress=True, say=tell, **given)
        show(Shown(paper, outcome), style)
        return Status.FINE

    kinds: dict[str, tuple[Any, Any]] = {
        "data": (Annotated[str | None, DATA], None),
        "out": (Annotated[str, OUT], str(reproduction.out_folder(paper, None))),
        "quick": (Annotated[bool, QUICK], False),
        **{option.name: _typed(option) for option in paper.options},
        "style": (Style, Format.table),
    }
    named = Parameter.KEYWORD_ONLY
    parameters = [
        Parameter(name, named, annotation=kind, default=value) for name, (kind, value) in kinds.items()
    ]
    command.__signature__ = Signature(parameters, return_annotation=int)  # type: ignore[attr-defined]
    command.__annotations__ = {name: kind for name, (kind, _) in kinds.items()} | {"return": int}
    command.__doc__ = f"{paper.citation}\n\nA run that was stopped goes on where it was."
    return command


def _typed(option: Option) -> tuple[Any, Any]:
    """The type of an option, as Typer reads it, and its default."""
    settings: dict[str, Any] = {"metavar": option.metavar, "help": option.help, "min": option.least}
    if option.kind is list:
        settings["autocompletion"] = lambda incomplete: complete_list(option.choices, incomplete)
        return Annotated[list[str] | None, typer.Option(**settings)], None
    if option.choices:
        choice = StrEnum(option.name, {name: name for name in option.choices})  # type: ignore[misc]
        return Annotated[choice, typer.Option(**settings)], choice(option.default)
    kind = option.kind if option.default is not None else option.kind | None
    return Annotated[kind, typer.Option(**settings)], option.default


def _examples(paper: Paper) -> str:
    quick, full = paper.examples
    return (
        "\b\nExamples:\n"
        f"  halftruth reproduce {paper.name} --data folder --quick{quick}\n"
        f"  HALFTRUTH_DATA=folder halftruth reproduce {paper.name} --out results{full} --format json\n"
    )


@contextmanager
def _told() -> Iterator[Say | None]:
    """Around work that is kept as it is done: where no bar can be shown, its begin is told by a line."""
    try:
        yield None if sys.stderr.isatty() else say
    except KeyboardInterrupt:
        say("What is done is kept: the same command goes on where it stopped.")
        raise


@dataclass(frozen=True)
class Shown:
    """A run as the command shows it: its summary, and where the page is."""

    paper: Paper
    outcome: Outcome

    def blocks(self) -> list[Block]:
        from halftruth_papers.page import shown

        tables = self.outcome.summary
        return [
            Block(
                heading=table.title,
                above=table.legend,
                header=table.header,
                lines=[
                    (*map(_label, labels), *map(shown, numbers))
                    for labels, numbers in zip(table.labels, table.numbers, strict=True)
                ],
                below=(f"Page: {self.outcome.page}",) if table is tables[-1] else (),
            )
            for table in tables
        ]

    def to_dict(self) -> dict[str, Any]:
        rows = [dict(zip(self.paper.columns, row, strict=True)) for row in self._rows()]
        kinds = note_kinds(self.outcome.notes)
        about = {"schema": 1, "page": str(self.outcome.page), self.paper.rows: rows}
        return {**about, "notes": self.notes(), "note_kinds": kinds}

    def records(self) -> Iterator[Sequence[Cell]]:
        yield self.paper.columns
        yield from self._rows()

    def notes(self) -> list[str]:
        return list(map(shell_text, self.outcome.notes))

    def _rows(self) -> Iterator[list[Cell]]:
        for table in self.outcome.summary:
            for labels, numbers in zip(table.labels, table.numbers, strict=True):
                for name, number in zip(table.header[len(labels) :], numbers, strict=True):
                    yield [table.title, *labels, name, None if number != number else number]


def _label(cell: Cell) -> str:
    return f"{cell:g}" if isinstance(cell, float) else str(cell)


papers = typer.Typer(rich_markup_mode=None)
for _paper in PAPERS.values():
    papers.command(_paper.name, epilog=_examples(_paper))(_command(_paper))
