"""`halftruth compare FILE...`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from halftruth.cli import options, status
from halftruth.errors import InputError

if TYPE_CHECKING:
    from halftruth.table import ScoreTable

EXAMPLES = """\b
Examples:
  halftruth compare scores.parquet --score model_a --score model_b --prior 0.3
  halftruth compare scores.csv --score old --score new --zeros negative --format markdown
  halftruth compare old.csv new.csv --id case --prior estimate
  halftruth compare monday.csv tuesday.csv --no-paired --prior 0.02..0.05
"""


def compare(
    files: options.Files,
    score: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help="Column of one model's scores; repeat it for each. Default: score."
        ),
    ] = None,
    label: options.Label = "label",
    weight: options.Weight = None,
    zeros: options.ZerosMean = None,
    unlabeled: options.Unlabeled = None,
    prior: options.Prior = None,
    purity: options.Purity = None,
    population: options.PopulationIs = options.Population.all,
    paired: Annotated[
        bool, typer.Option("--paired/--no-paired", help="Whether the models scored the same cases.")
    ] = True,
    threshold: options.Threshold = None,
    metrics: options.Metrics = None,
    confidence_level: options.ConfidenceLevel = 0.95,
    n_resamples: options.Resamples = 2000,
    rng: options.Seed = 0,
    stratified: options.Stratified = None,
    id: Annotated[  # noqa: A002  the name of the option
        str | None,
        typer.Option(metavar="COLUMN", help="Column that joins the files of the models, case by case."),
    ] = None,
    style: options.Style = options.Format.table,
) -> int:
    """Which model is better: differences with intervals, and where the order hangs on the prior."""
    from halftruth import comparison
    from halftruth.cli.render import show
    from halftruth.cli.source import evidence_of
    from halftruth.cli.views import Compared

    settings, shares = options.read(
        prior,
        purity,
        metrics,
        threshold=threshold,
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        rng=rng,
        stratified=stratified,
    )
    columns = {"label": label, "weight": weight, "zeros": zeros, "unlabeled": unlabeled}
    tables = _tables(files, score or ["score"], columns, id, paired=paired)
    models = {name: evidence_of(table, **shares, population=population) for name, table in tables.items()}
    view = Compared(comparison.compare(models, paired=paired, **settings))
    show(view, style)
    return status.FINE


def _tables(
    files: list[str], scores: list[str], columns: dict[str, Any], joined_by: str | None, *, paired: bool
) -> dict[str, ScoreTable]:
    """The table of each model: columns of the same rows, files of the same cases, or files of other rows."""
    from halftruth.cli.source import Source

    if joined_by is not None:
        if len(scores) > 1 or len(set(files)) < 2 or not paired:
            raise InputError(
                "--id joins one file for each model: pass two or more, one --score, and no --no-paired."
            )
        return Source(files=files, score=scores[0], id=joined_by, **columns).tables()
    if len(scores) > 1:
        return Source(files=files, score=scores, **columns).tables()
    if len(set(files)) < 2:
        raise InputError("A comparison takes two models or more: repeat --score, or pass one file for each.")
    if paired:
        raise InputError(
            "Rows of different files are not known to be the same cases. Pass --id COLUMN if one tells them "
            "apart, or --no-paired if each file has cases of its own."
        )
    return {
        file: Source(files=[file], score=scores[0], **columns).tables()[""] for file in dict.fromkeys(files)
    }
