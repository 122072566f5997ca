"""What `halftruth reproduce` offers: a command for each paper."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from halftruth.cli import options, reading, status, streams
from halftruth.cli.completion import extended
from halftruth.cli.render import Block, Cell, show

if TYPE_CHECKING:
    from halftruth_papers.jain import run as jain_run
    from halftruth_papers.store import Outcome, Say

EXAMPLES = """\b
Examples:
  halftruth reproduce jain --data folder --quick --blocks forest --jobs 2
  HALFTRUTH_DATA=folder halftruth reproduce jain --out results --repeats 10 --format json
"""
CLAESEN_EXAMPLES = """\b
Examples:
  halftruth reproduce claesen --data folder --quick
  HALFTRUTH_DATA=folder halftruth reproduce claesen --out results --rng 1 --format json
"""
PU_ECE_EXAMPLES = """\b
Examples:
  halftruth reproduce pu-ece --data folder --quick --device cpu
  HALFTRUTH_DATA=folder halftruth reproduce pu-ece --out results --rng 1 --format json
"""
BPM_EXAMPLES = """\b
Examples:
  halftruth reproduce bpm --data folder --quick
  HALFTRUTH_DATA=folder halftruth reproduce bpm --out results --rng 1 --format json
"""
BAYES_EXAMPLES = """\b
Examples:
  halftruth reproduce bayes-error --data folder --quick
  HALFTRUTH_DATA=folder halftruth reproduce bayes-error --out results --rng 1 --format json
"""
JAIN_LEGEND = (
    "Mean absolute errors over the complete data sets: (a) against a supervised model, (b) hidden labels",
    "PU not corrected; I indirect, D direct, C concave; with R real α and ρ, E AlphaMax's, A those of auto",
)
CLAESEN_LEGEND = (
    "Band: share of rankings whose latent positives lie in the 95% band at every threshold",
    "AUROC: share of rankings whose realised AUROC lies in the bounds; width: mean, of the band",
)
AREAS_LEGEND = (
    "Where the α assumed is the true one: mean width of the bounds, share of settings that hold the truth",
)

papers = typer.Typer(rich_markup_mode=None)


def _blocks(incomplete: str) -> list[str]:
    """Models of Jain et al., in a list with commas."""
    from halftruth_papers.jain.run import BLOCKS

    return extended(BLOCKS, incomplete)


Data = Annotated[
    str | None,
    typer.Option(metavar="DIR", help="Folder of the data sets.  [default: HALFTRUTH_DATA]"),
]
Out = Annotated[str, typer.Option(metavar="DIR", help="Where results and page go.")]
Quick = Annotated[bool, typer.Option("--quick", help="A rough version within two minutes on two cores.")]


class Device(StrEnum):
    """Where networks are trained."""

    auto = "auto"
    cpu = "cpu"
    cuda = "cuda"


TrainedOn = Annotated[Device, typer.Option(help="Where networks are trained; auto: CUDA if there.")]


@papers.command(epilog=EXAMPLES)
def jain(
    data: Data = None,
    out: Out = "halftruth-jain",
    quick: Quick = False,
    repeats: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Of every experiment.  [default: 10; quick: 1]"),
    ] = None,
    blocks: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME,...",
            help="Models: networks, forest.  [default: both]",
            autocompletion=_blocks,
        ),
    ] = None,
    jobs: Annotated[int | None, typer.Option(metavar="N", min=1, help="Processes.  [default: cores]")] = None,
    style: options.Style = options.Format.table,
) -> int:
    """Jain, White, Radivojac 2017: recovering true classifier performance.

    A run that was stopped goes on where it was.
    """
    from halftruth_papers.jain import run as jain_run

    names = reading.names(blocks) or jain_run.BLOCKS
    settings: dict[str, Any] = {"quick": quick, "repeats": repeats, "blocks": names, "jobs": jobs}
    with _long() as say:
        outcome = jain_run.run(data, out, **settings, progress=True, say=say)
    names = ("table", "rho", "who", "column", "error")
    show(Reproduced(outcome.page, _errors(outcome), names, "errors", tuple(outcome.notes)), style)
    return status.FINE


@papers.command(epilog=CLAESEN_EXAMPLES)
def claesen(
    data: Data = None,
    out: Out = "halftruth-claesen",
    quick: Quick = False,
    rng: options.Seed = 0,
    style: options.Style = options.Format.table,
) -> int:
    """Claesen, Davis, De Smet, De Moor 2015: bounds from ranks of positives.

    A run that was stopped goes on where it was.
    """
    from halftruth_papers.claesen import run as claesen_run

    with _long() as say:
        outcome = claesen_run.run(data, out, quick=quick, rng=rng, progress=True, say=say)
    names = ("table", "setting", "band", "column", "value")
    show(Reproduced(outcome.page, _bounds(outcome), names, "results", tuple(outcome.notes)), style)
    return status.FINE


@papers.command("pu-ece", epilog=PU_ECE_EXAMPLES)
def pu_ece(
    data: Data = None,
    out: Out = "halftruth-pu-ece",
    quick: Quick = False,
    device: TrainedOn = Device.auto,
    rng: options.Seed = 0,
    style: options.Style = options.Format.table,
) -> int:
    """Kiryo, Futami, Sugiyama: calibration error from positives and unlabeled.

    A run that was stopped goes on where it was.
    """
    from halftruth_papers.pu_ece import run as pu_ece_run
    from halftruth_papers.pu_ece.tables import summary_tables

    with _long() as say:
        settings: dict[str, Any] = {"quick": quick, "device": device.value, "rng": rng}
        outcome = pu_ece_run.run(data, out, **settings, progress=True, say=say)
    return _shown(outcome, summary_tables(outcome), ("table", "model", "setting", "column", "value"), style)


@papers.command(epilog=BPM_EXAMPLES)
def bpm(
    data: Data = None,
    out: Out = "halftruth-bpm",
    quick: Quick = False,
    rng: options.Seed = 0,
    style: options.Style = options.Format.table,
) -> int:
    """Dong, Jiang, Pan, Yu 2025: calibration by a binomial process.

    A run that was stopped goes on where it was.
    """
    from halftruth_papers.bpm import run as bpm_run
    from halftruth_papers.bpm.tables import summary_tables

    with _long() as say:
        outcome = bpm_run.run(data, out, quick=quick, rng=rng, progress=True, say=say)
    return _shown(outcome, summary_tables(outcome), ("table", "from", "metric", "column", "value"), style)


@papers.command("bayes-error", epilog=BAYES_EXAMPLES)
def bayes_error(
    data: Data = None,
    out: Out = "halftruth-bayes-error",
    quick: Quick = False,
    rng: options.Seed = 0,
    style: options.Style = options.Format.table,
) -> int:
    """Ishida et al. 2023: the Bayes error from soft labels.

    A run that was stopped goes on where it was.
    """
    from halftruth_papers.bayes_error import run as bayes_run
    from halftruth_papers.bayes_error.tables import summary_tables

    with _long() as say:
        outcome = bayes_run.run(data, out, quick=quick, rng=rng, progress=True, say=say)
    return _shown(outcome, summary_tables(outcome), ("table", "of", "for", "column", "value"), style)


def _shown(
    outcome: Outcome, summaries: list[dict[str, Any]], names: tuple[str, ...], style: options.Format
) -> int:
    tables = [Table(**each) for each in summaries]
    show(Reproduced(outcome.page, tables, names, "results", tuple(outcome.notes)), style)
    return status.FINE


@contextmanager
def _long() -> Iterator[Say | None]:
    """Around work that is kept as it is done: where no bar can be shown, its begin is told by a line."""
    try:
        yield None if sys.stderr.isatty() else streams.say
    except KeyboardInterrupt:
        streams.say("What is done is kept: the same command goes on where it stopped.")
        raise


@dataclass(frozen=True, kw_only=True)
class Table:
    """Numbers under names, each line with two labels."""

    title: str
    legend: tuple[str, ...] = ()
    header: tuple[str, ...]
    labels: list[tuple[Cell, Cell]]
    numbers: list[list[float]]


@dataclass(frozen=True)
class Reproduced:
    """A reproduction: where its page is, and a summary."""

    page: Path
    tables: list[Table]
    names: tuple[str, ...]
    """Of what a program reads of each number: its table, the two labels, the column, the number."""
    what: str
    remarks: tuple[str, ...] = field(default=())

    def blocks(self) -> list[Block]:
        from halftruth_papers.page import shown

        last = len(self.tables) - 1
        return [
            Block(
                heading=table.title,
                above=table.legend,
                header=table.header,
                lines=[
                    (*map(_label, labels), *map(shown, numbers))
                    for labels, numbers in zip(table.labels, table.numbers, strict=True)
                ],
                below=(f"Page: {self.page}",) if i == last else (),
            )
            for i, table in enumerate(self.tables)
        ]

    def to_dict(self) -> dict[str, Any]:
        rows = [dict(zip(self.names, row, strict=True)) for row in self._rows()]
        return {"schema": 1, "page": str(self.page), self.what: rows, "notes": list(self.remarks)}

    def records(self) -> Iterator[Sequence[Cell]]:
        yield self.names
        yield from self._rows()

    def notes(self) -> list[str]:
        return list(self.remarks)

    def _rows(self) -> Iterator[list[Cell]]:
        for table in self.tables:
            for labels, numbers in zip(table.labels, table.numbers, strict=True):
                for name, number in zip(table.header[len(labels) :], numbers, strict=True):
                    yield [table.title, *labels, name, None if number != number else number]


def _label(cell: Cell) -> str:
    return f"{cell:g}" if isinstance(cell, float) else str(cell)


def _errors(outcome: jain_run.Outcome) -> list[Table]:
    from halftruth_papers.jain.page import AREAS
    from halftruth_papers.jain.reported import reported
    from halftruth_papers.jain.tables import SHOWN, summary

    complete = [each for each in outcome.experiments if each.complete]
    tables: list[Table] = []
    for block in dict.fromkeys(each.block for each in outcome.experiments):
        for area, title in AREAS.items():
            here = [each for each in complete if each.block == block]
            lines = summary(area, here, reported(f"jain_{area}"))
            tables.append(
                Table(
                    title=f"{block}, {title}",
                    legend=() if tables else JAIN_LEGEND,
                    header=("ρ", "", *SHOWN[area]),
                    labels=[(line.purity, line.who) for line in lines],
                    numbers=[[line.means[name].value for name in SHOWN[area]] for line in lines],
                )
            )
    return tables


def _bounds(outcome: Outcome) -> list[Table]:
    from halftruth_papers.claesen import tables
    from halftruth_papers.claesen.cells import METHODS

    coverage = tables.coverage(outcome.results)
    rows = tables.of_kind(outcome.results, "table")
    areas = [
        (which, method, *tables.widths(rows, which, method)) for which in tables.TABLES for method in METHODS
    ]
    return [
        Table(
            title="Do the bands hold?",
            legend=CLAESEN_LEGEND,
            header=("known / latent positives", "", "band", "AUROC", "width"),
            labels=[(tables.sizes_of(whole), tables.SAID[band]) for whole in coverage for band in METHODS],
            numbers=[tables.held(whole, band) for whole in coverage for band in METHODS],
        ),
        Table(
            title="Bounds of the AUROC",
            legend=AREAS_LEGEND,
            header=("", "", "width", "holds"),
            labels=[(f"Table {tables.TABLES[which]}", METHODS[method]) for which, method, *_ in areas],
            numbers=[[width, held / len(rows)] for *_, width, held in areas],
        ),
    ]
