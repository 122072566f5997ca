"""`halftruth reproduce PAPER`: a group that each paper joins with a command of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from halftruth.cli import options, status
from halftruth.cli.render import Block, Cell

if TYPE_CHECKING:
    from halftruth.reproduce.jain_run import Outcome

EXAMPLES = """\b
Examples:
  halftruth reproduce jain --data folder --quick
  HALFTRUTH_DATA=folder halftruth reproduce jain --out results --repeats 10
"""
CLAESEN_EXAMPLES = """\b
Examples:
  halftruth reproduce claesen --data folder --quick
  HALFTRUTH_DATA=folder halftruth reproduce claesen --out results
"""
SHOWN = {
    "auc": ("PU", "IR", "DR", "CR", "IE", "DE", "IA", "CA"),
    "auc_pr": ("PU", "IR", "CR", "IE", "IA", "CA"),
}
"""Columns of the summary; the page has them all."""
LEGEND = (
    "Mean absolute errors over the complete data sets: (a) against a supervised model, (b) hidden labels",
    "PU not corrected; I indirect, D direct, C concave; with R real α and ρ, E AlphaMax's, A those of auto",
)

reproduce = typer.Typer(name="reproduce", subcommand_metavar="PAPER [ARGS]...", rich_markup_mode=None)

Data = Annotated[
    str | None, typer.Option(metavar="DIR", help="Folder of the data sets.  [default: HALFTRUTH_DATA]")
]
Quick = Annotated[bool, typer.Option("--quick", help="A rough version within two minutes on two cores.")]


@reproduce.callback(invoke_without_command=True)
def root(context: typer.Context) -> None:
    """Reproduce the tables and figures of a paper, its figures beside ours on one HTML page."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(status.USAGE)


@reproduce.command(epilog=EXAMPLES)
def jain(
    data: Data = None,
    out: Annotated[str, typer.Option(metavar="DIR", help="Where results and page go.")] = "halftruth-jain",
    quick: Quick = False,
    repeats: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Of every experiment.  [default: 10; quick: 1]")
    ] = None,
    blocks: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME,...", help="Models: networks, forest.  [default: both]"),
    ] = None,
    jobs: Annotated[int | None, typer.Option(metavar="N", min=1, help="Processes.  [default: cores]")] = None,
    style: options.Style = options.Format.table,
) -> int:
    """Jain, White, Radivojac 2017: recovering true classifier performance.

    A run that was stopped goes on where it was.
    """
    from halftruth.cli.render import show
    from halftruth.reproduce.jain_run import BLOCKS, run

    names = options.names(blocks) or BLOCKS
    outcome = run(data, out, quick=quick, repeats=repeats, blocks=names, jobs=jobs, progress=True)
    show(Reproduced(outcome.page, _errors(outcome), tuple(outcome.notes)), style)
    return status.FINE


@reproduce.command(epilog=CLAESEN_EXAMPLES)
def claesen(
    data: Data = None,
    out: Annotated[str, typer.Option(metavar="DIR", help="Where results and page go.")] = "halftruth-claesen",
    quick: Quick = False,
    rng: options.Seed = 0,
) -> int:
    """Claesen, Davis, De Smet, De Moor 2015: bounds from ranks of positives.

    A run that was stopped goes on where it was.
    """
    from halftruth.cli import streams
    from halftruth.reproduce.claesen_run import run_claesen

    streams.write(f"{run_claesen(data, out, quick=quick, rng=rng)}\n")
    return status.FINE


@dataclass(frozen=True, kw_only=True)
class Table:
    """Numbers under names, for one family of models and one area."""

    title: str
    header: tuple[str, ...]
    labels: list[tuple[str, ...]]
    numbers: list[list[float]]


@dataclass(frozen=True)
class Reproduced:
    """A reproduction: where its page is, and a summary."""

    page: Path
    tables: list[Table]
    remarks: tuple[str, ...] = field(default=())

    def blocks(self) -> list[Block]:
        from halftruth.reproduce.page import shown

        last = len(self.tables) - 1
        return [
            Block(
                heading=table.title,
                above=LEGEND if i == 0 else (),
                header=table.header,
                lines=[
                    (*labels, *map(shown, numbers))
                    for labels, numbers in zip(table.labels, table.numbers, strict=True)
                ],
                below=(f"Page: {self.page}",) if i == last else (),
            )
            for i, table in enumerate(self.tables)
        ]

    def to_dict(self) -> dict[str, Any]:
        rows = [dict(zip(self._columns(), row, strict=True)) for row in self._rows()]
        return {"schema": 1, "page": str(self.page), "errors": rows, "notes": list(self.remarks)}

    def records(self) -> Iterator[Sequence[Cell]]:
        yield self._columns()
        yield from self._rows()

    def notes(self) -> list[str]:
        return list(self.remarks)

    def _columns(self) -> list[str]:
        return ["table", "rho", "who", "column", "error"]

    def _rows(self) -> Iterator[list[Cell]]:
        for table in self.tables:
            for labels, numbers in zip(table.labels, table.numbers, strict=True):
                for name, number in zip(table.header[len(labels) :], numbers, strict=True):
                    yield [table.title, *labels, name, None if number != number else number]


def _errors(outcome: Outcome) -> list[Table]:
    from halftruth.reproduce.jain_page import AREAS
    from halftruth.reproduce.jain_tables import summary
    from halftruth.reproduce.paper import reported

    complete = [each for each in outcome.experiments if each.complete]
    tables = []
    for block in dict.fromkeys(each.block for each in outcome.experiments):
        for area, title in AREAS.items():
            here = [each for each in complete if each.block == block]
            lines = summary(area, here, reported(f"jain_{area}"))
            tables.append(
                Table(
                    title=f"{block}, {title}",
                    header=("ρ", "", *SHOWN[area]),
                    labels=[(f"{line.purity:g}", line.who) for line in lines],
                    numbers=[[line.means[name].value for name in SHOWN[area]] for line in lines],
                )
            )
    return tables
