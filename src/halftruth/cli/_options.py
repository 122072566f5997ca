"""The options of the commands, each declared once; how their text is read is the matter of `_option_values`.

Options that belong together are a dataclass. A command takes it as one parameter, and `spread` hands typer
its fields as options of their own.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from halftruth._errors import HalftruthError

__all__ = [
    "By",
    "ConfidenceLevel",
    "Engine",
    "Files",
    "Format",
    "Grid",
    "GridKind",
    "Html",
    "Label",
    "LabelOptions",
    "LabeledSample",
    "Lipschitz",
    "Method",
    "MetricOptions",
    "Metrics",
    "Population",
    "PopulationIs",
    "Prior",
    "Purity",
    "Require",
    "Resamples",
    "RowOptions",
    "SaveTable",
    "Score",
    "Seed",
    "ShareOptions",
    "Stratified",
    "Strict",
    "Style",
    "Threshold",
    "Unlabeled",
    "Weight",
    "Within",
    "Zeros",
    "ZerosMean",
    "column",
    "complete_calibrators",
    "complete_column_list",
    "complete_columns",
    "complete_engines",
    "complete_estimate",
    "complete_estimators",
    "complete_intervals",
    "complete_list",
    "complete_metrics",
    "option",
    "spread",
]

# What a shell offers behind an option. It never fails and says nothing of its own: where something is wrong
# it offers nothing. ---------------------------------------------------------------------------------------

# Some shells evaluate what is offered, and a name in a file is anyone's text.
_HARMLESS = re.compile(r"\w[\w.-]*", flags=re.ASCII)
LARGEST = 1 << 26
"""Bytes of a packed or JSON file beyond which it is not opened for its columns."""


def complete_columns(context: typer.Context, incomplete: str) -> list[str]:
    """Columns of the files that stand on the line already."""
    names: dict[str, None] = {}
    # An option that still lacks its value leaves the files among what is not yet parsed.
    for file in (*(context.params.get("files") or ()), *context.args):
        with suppress(HalftruthError, OSError, ImportError):
            names.update(dict.fromkeys(_columns(str(file))))
    return [name for name in names if _HARMLESS.fullmatch(name) and name.startswith(incomplete)]


def complete_column_list(context: typer.Context, incomplete: str) -> list[str]:
    """Columns in a list with commas."""
    return complete_list(complete_columns(context, ""), incomplete)


def _columns(file: str) -> list[str]:
    """The columns of one file; of none where that would mean to wait, to read a stream or much."""
    from halftruth.files import Source

    path = Path(file)
    quick = path.suffix in (".csv", ".tsv", ".parquet")
    if not path.is_file() or not (quick or path.stat().st_size <= LARGEST):
        return []
    with Source(file, threads=1) as source:
        return source.columns()


def complete_estimate(incomplete: str) -> list[str]:
    """The word that asks for an estimate."""
    return _beginning(["estimate"], incomplete)


def complete_metrics(incomplete: str) -> list[str]:
    """Names of metrics, in a list with commas."""
    from halftruth._registry import REGISTRY

    return complete_list(REGISTRY, incomplete)


def complete_engines(incomplete: str) -> list[str]:
    """Engines, and how the address of one begins."""
    return _beginning(("spark", "duckdb://", "postgres://"), incomplete)


def complete_intervals(incomplete: str) -> list[str]:
    """Names of bootstrap intervals."""
    return _beginning(("percentile", "basic", "normal", "bias-corrected", "fitted"), incomplete)


def complete_estimators(incomplete: str) -> list[str]:
    """Names of estimators of the prior, in a list with commas."""
    from halftruth.prior._methods import METHODS

    return complete_list((*METHODS, "sample"), incomplete)


def complete_calibrators(incomplete: str) -> list[str]:
    """Names of calibration methods."""
    from halftruth.calibration.calibrators._calibration_methods import METHODS

    return _beginning(METHODS, incomplete)


def _beginning(words: Iterable[str], text: str) -> list[str]:
    return [word for word in words if word.startswith(text)]


def complete_list(words: Iterable[str], text: str) -> list[str]:
    """The list with its last word completed by one that is not in it."""
    before, comma, last = text.rpartition(",")
    taken = before.split(",")
    return [before + comma + word for word in _beginning(words, last) if word not in taken]


# Choices ---------------------------------------------------------------------------------------------


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


# Options ---------------------------------------------------------------------------------------------

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE",
        help="CSV, TSV, Parquet, JSON lines, Arrow, also compressed; a glob, a folder, - for stdin; .npz.",
    ),
]


def option(
    text: str,
    metavar: str | None = None,
    complete: Callable[..., list[str]] | None = None,
    *,
    min: int | None = None,  # noqa: A002  as typer calls it
    max: int | None = None,  # noqa: A002
) -> Any:
    """An option of the parameter's own name: its help, what stands for its value, what a shell offers."""
    return typer.Option(metavar=metavar, help=text, autocompletion=complete, min=min, max=max)


def column(text: str) -> Any:
    """An option that names a column of the file."""
    return option(text, "COLUMN", complete_columns)


Engine = Annotated[
    str | None, option("spark, or an address; FILE: table or path.", "ENGINE", complete_engines)
]
Score = Annotated[str, column("Higher is more positive.")]
Label = Annotated[str, column("1 positive, 0 negative, empty unlabeled.")]
Weight = Annotated[str | None, column("Column of row weights.")]
ZerosMean = Annotated[Zeros | None, option("What 0 means, if labels are only 0 and 1.")]
Unlabeled = Annotated[float | None, option("Another code for unlabeled rows, e.g. -1.", "CODE")]
Prior = Annotated[
    str | None,
    option("Share of positives in the population: 0.3, 0.02..0.05 or estimate.", "SHARE", complete_estimate),
]
Purity = Annotated[
    str | None,
    option("Share of the known positives that are: 0.9, 0.8..0.95 or estimate.", "SHARE", complete_estimate),
]
PopulationIs = Annotated[
    Population, option("All rows, or the unlabeled alone, where positives were drawn apart.")
]
Within = Annotated[
    str | None, option("With --prior estimate: where α, the share among the unlabeled, lies.", "LOW..HIGH")
]
LabeledSample = Annotated[
    str | None, option("With --prior estimate: K of M random unlabeled cases are positive.", "K/M")
]
By = Annotated[str | None, column("Each value of this column by itself.")]
Threshold = Annotated[
    float | None, option("Call score >= threshold positive; adds precision, recall, f1, …", "NUMBER")
]
Metrics = Annotated[
    list[str] | None,
    option(
        "Metrics instead of the usual ones, also with parameters; may be repeated.",
        "NAME,...",
        complete_metrics,
    ),
]
ConfidenceLevel = Annotated[float, option("Level of the intervals.", "LEVEL")]
Resamples = Annotated[
    int,
    option(
        "Bootstrap resamples; 0 for closed-form intervals (what has none is resampled all the same).",
        "N",
        min=0,
    ),
]
Seed = Annotated[int, option("Same seed, same result.", "SEED", min=0)]
Method = Annotated[
    str | None,
    option(
        "Bootstrap interval: percentile, basic, normal, bias-corrected, fitted; else what covers best.",
        "NAME",
        complete_intervals,
    ),
]
Stratified = Annotated[
    bool | None,
    typer.Option("--stratified/--no-stratified", help="Whether stratum sizes were fixed by design."),
]
Lipschitz = Annotated[
    float | None, option("Limit of the calibration curve's slope, for a bound from theory.", "NUMBER")
]
Require = Annotated[
    list[str] | None,
    option("Exit 1 unless this holds, e.g. 'roc_auc>=0.9' or 'roc_auc.low>0.85'; may be repeated.", "GATE"),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Exit 3 where the data refute what was given, or a row has no value.")
]
Html = Annotated[str | None, option("Also write a report for any browser, e.g. --html report.html.", "FILE")]
SaveTable = Annotated[
    str | None,
    option(
        "Also write the table that was read, .npz, to pass as a FILE on another day, with others or "
        "with another --prior; with --by one for each group, FILE-GROUP.npz.",
        "FILE",
    ),
]
Grid = Annotated[
    GridKind | None,
    option("Of the histogram that many rows become; margin where any day's scores leave [0, 1]."),
]
Style = Annotated[Format, typer.Option("--format", help="How to write the result.")]


# Groups of options -----------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class LabelOptions:
    """What the labels of rows mean, and how many rows a row stands for."""

    label: Label = "label"
    weight: Weight = None
    zeros: ZerosMean = None
    unlabeled: Unlabeled = None


@dataclass(frozen=True, kw_only=True)
class RowOptions:
    """Where the rows of one model are, and what their labels mean."""

    engine: Engine = None
    score: Score = "score"
    label: Label = "label"
    weight: Weight = None
    zeros: ZerosMean = None
    unlabeled: Unlabeled = None


@dataclass(frozen=True, kw_only=True)
class ShareOptions:
    """What is known of the shares of positives."""

    prior: Prior = None
    purity: Purity = None
    population: PopulationIs = Population.all
    within: Within = None
    labeled_sample: LabeledSample = None


@dataclass(frozen=True, kw_only=True)
class MetricOptions:
    """Which numbers are wanted, and how their intervals are made."""

    threshold: Threshold = None
    metrics: Metrics = None
    confidence_level: ConfidenceLevel = 0.95
    n_resamples: Resamples = 2000
    rng: Seed = 0
    stratified: Stratified = None


def spread(command: Callable[..., int]) -> Callable[..., int]:
    """The same command with an option for each field of its groups, as typer reads parameters."""
    hints = get_type_hints(command, include_extras=True)
    hints.pop("return")
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters: list[Parameter] = []
    for name, parameter in signature(command).parameters.items():
        if name not in groups:
            parameters.append(parameter.replace(annotation=hints[name]))
            continue
        types = get_type_hints(groups[name], include_extras=True)
        parameters += [
            Parameter(
                option.name, Parameter.KEYWORD_ONLY, default=option.default, annotation=types[option.name]
            )
            for option in fields(groups[name])
        ]

    @functools.wraps(command)
    def flat(**values: Any) -> int:
        gathered = {
            name: kind(**{option.name: values.pop(option.name) for option in fields(kind)})
            for name, kind in groups.items()
        }
        return command(**values, **gathered)

    del flat.__wrapped__  # typer would read the groups behind it
    flat.__signature__ = Signature(parameters, return_annotation=int)  # type: ignore[attr-defined]
    flat.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return flat
