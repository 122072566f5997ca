"""The options that commands share. How their text is read is the matter of `reading`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from halftruth.cli import completion


class Zeros(StrEnum):
    """What 0 means in a label column."""

    negative = "negative"
    unlabeled = "unlabeled"


class Population(StrEnum):
    """Whose share of positives the prior is."""

    all = "all"
    unlabeled = "unlabeled"


class Format(StrEnum):
    """How a result is written."""

    table = "table"
    json = "json"
    csv = "csv"
    markdown = "markdown"


class GridKind(StrEnum):
    """Where the bins of a histogram lie."""

    probability = "probability"
    margin = "margin"


Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE",
        help="CSV, TSV, Parquet, JSON lines, Arrow, also compressed; a glob, a folder, - for stdin; .npz.",
    ),
]


def column(text: str) -> Any:
    """An option that names a column of the file."""
    return typer.Option(metavar="COLUMN", help=text, autocompletion=completion.columns)


Engine = Annotated[
    str | None,
    typer.Option(
        metavar="ENGINE",
        help="spark, or an address; FILE: table or path.",
        autocompletion=completion.engines,
    ),
]
Score = Annotated[str, column("Higher is more positive.")]
Label = Annotated[str, column("1 positive, 0 negative, empty unlabeled.")]
Weight = Annotated[str | None, column("Column of row weights.")]
ZerosMean = Annotated[Zeros | None, typer.Option(help="What 0 means, if labels are only 0 and 1.")]
Unlabeled = Annotated[
    float | None, typer.Option(metavar="CODE", help="Another code for unlabeled rows, e.g. -1.")
]
Prior = Annotated[
    str | None,
    typer.Option(
        metavar="SHARE",
        help="Share of positives in the population: 0.3, 0.02..0.05 or estimate.",
        autocompletion=completion.estimate,
    ),
]
Purity = Annotated[
    str | None,
    typer.Option(
        metavar="SHARE",
        help="Share of the known positives that are: 0.9, 0.8..0.95 or estimate.",
        autocompletion=completion.estimate,
    ),
]
PopulationIs = Annotated[
    Population,
    typer.Option(help="All rows, or the unlabeled alone, where positives were drawn apart."),
]
Within = Annotated[
    str | None,
    typer.Option(
        metavar="LOW..HIGH",
        help="With --prior estimate: where α, the share among the unlabeled, lies.",
    ),
]
LabeledSample = Annotated[
    str | None,
    typer.Option(
        metavar="K/M",
        help="With --prior estimate: K of M random unlabeled cases are positive.",
    ),
]
By = Annotated[str | None, column("Each value of this column by itself.")]
Threshold = Annotated[
    float | None,
    typer.Option(
        metavar="NUMBER",
        help="Call score >= threshold positive; adds precision, recall, f1, …",
    ),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME,...",
        help="Metrics instead of the usual ones, also with parameters; may be repeated.",
        autocompletion=completion.metrics,
    ),
]
ConfidenceLevel = Annotated[float, typer.Option(metavar="LEVEL", help="Level of the intervals.")]
Resamples = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=0,
        help="Bootstrap resamples; 0 for closed-form intervals (what has none is resampled all the same).",
    ),
]
Seed = Annotated[int, typer.Option(metavar="SEED", min=0, help="Same seed, same result.")]
Method = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Bootstrap interval: percentile, basic, normal, bias-corrected, fitted; else what covers best.",
        autocompletion=completion.intervals,
    ),
]
Stratified = Annotated[
    bool | None,
    typer.Option("--stratified/--no-stratified", help="Whether stratum sizes were fixed by design."),
]
Lipschitz = Annotated[
    float | None,
    typer.Option(metavar="NUMBER", help="Limit of the calibration curve's slope, for a bound from theory."),
]
Require = Annotated[
    list[str] | None,
    typer.Option(
        metavar="GATE",
        help="Exit 1 unless this holds, e.g. 'roc_auc>=0.9' or 'roc_auc.low>0.85'; may be repeated.",
    ),
]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="Exit 3 where the data refute what was given, or a row has no value."),
]
Html = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Also write a report for any browser, e.g. --html report.html."),
]
SaveTable = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Also write the table that was read, .npz, to pass as a FILE on another day, with others or "
        "with another --prior; with --by one for each group, FILE-GROUP.npz.",
    ),
]
Grid = Annotated[
    GridKind | None,
    typer.Option(help="Of the histogram that many rows become; margin where any day's scores leave [0, 1]."),
]
Style = Annotated[Format, typer.Option("--format", help="How to write the result.")]
