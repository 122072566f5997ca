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
    "By", "ConfidenceLevel", "Files", "Format", "GridKind", "Html", "LabelColumnOptions", "LabelOptions",
    "LabeledSample", "Labels", "MetricOptions", "Population", "PopulationIs", "Prior", "PriorColumn",
    "Propensity", "Purity", "ReviewOptions", "RowOptions", "Seed", "Selection", "ShareOptions", "Strict",
    "Style", "Unlabeled", "Weight", "Within", "Zeros", "ZerosMean", "column", "complete_calibrators",
    "complete_engines", "complete_estimate", "complete_estimators", "complete_intervals", "complete_list",
    "complete_metrics", "complete_selection", "flag", "option",
    "spread",
]  # fmt: skip

# What a shell offers behind an option. It never fails and says nothing of its own: where something is wrong
# it offers nothing. ---------------------------------------------------------------------------------------

# Some shells evaluate what is offered, and a name in a file is anyone's text.
_HARMLESS = re.compile(r"\w[\w.-]*", flags=re.ASCII)
LARGEST = 1 << 26  # bytes of a packed or JSON file beyond which it is not opened for its columns


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


def complete_review_chance(context: typer.Context, incomplete: str) -> list[str]:
    """Columns, or the word."""
    return [*complete_estimate(incomplete), *complete_columns(context, incomplete)]


def _columns(file: str) -> list[str]:
    """The columns of one file; of none where that would mean to wait, to read a stream or much."""
    from halftruth.files import Source

    path = Path(file)
    quick = path.suffix in (".csv", ".tsv", ".parquet")
    if not path.is_file() or not (quick or path.stat().st_size <= LARGEST):
        return []
    with Source(file, threads=1) as source:
        return source.columns()


def _beginning(words: Iterable[str], text: str) -> list[str]:
    return [word for word in words if word.startswith(text)]


def complete_list(words: Iterable[str], text: str) -> list[str]:
    """The list with its last word completed by one that is not in it."""
    before, comma, last = text.rpartition(",")
    taken = before.split(",")
    return [before + comma + word for word in _beginning(words, last) if word not in taken]


def _offering(
    words: Callable[[], Iterable[str]], complete: Callable[[Iterable[str], str], list[str]] = _beginning
) -> Callable[[str], list[str]]:
    """Completion by words that are looked up when a shell asks for them: some take long to import."""

    def offer(incomplete: str) -> list[str]:
        return complete(words(), incomplete)

    return offer


def _metrics() -> Iterable[str]:
    from halftruth._registry import REGISTRY

    return REGISTRY


def _estimators() -> Iterable[str]:
    from halftruth.prior._methods import METHODS

    return (*METHODS, "sample")


def _calibrators() -> Iterable[str]:
    from halftruth.calibration.calibrators._calibration_methods import METHODS

    return METHODS


complete_estimate = _offering(lambda: ("estimate",))
complete_selection = _offering(lambda: ("rising:", "falling:"))
complete_engines = _offering(lambda: ("spark", "duckdb://", "postgres://"))
complete_intervals = _offering(lambda: ("percentile", "basic", "normal", "bias-corrected", "fitted"))
complete_metrics = _offering(_metrics, complete_list)
complete_estimators = _offering(_estimators, complete_list)
complete_calibrators = _offering(_calibrators)


# Choices ---------------------------------------------------------------------------------------------


Zeros = StrEnum("Zeros", ["negative", "unlabeled"])  # what 0 means in a label column
Population = StrEnum("Population", ["all", "unlabeled"])  # whose share of positives the prior is
Format = StrEnum("Format", ["table", "json", "csv", "markdown"])  # how a result is written
GridKind = StrEnum("GridKind", ["probability", "margin"])  # where the bins of a histogram lie
Missing = StrEnum("Missing", ["error", "bounds"])  # reviews that were planned and not made
Labels = StrEnum("Labels", ["soft", "uncertainty", "noisy"])  # what a soft label is


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


def flag(names: str, text: str) -> Any:
    """An option without a value."""
    return typer.Option(names, help=text)


def column(text: str) -> Any:
    """An option that names a column of the file."""
    return option(text, "COLUMN", complete_columns)


Label = Annotated[str, column("1 positive, 0 negative, empty unlabeled.")]
Weight = Annotated[str | None, column("Column of row weights.")]
ZerosMean = Annotated[Zeros | None, option("What 0 means, if labels are only 0 and 1.")]
Unlabeled = Annotated[float | None, option("Another code for unlabeled rows, e.g. -1.", "CODE")]
Prior = Annotated[
    str | None,
    option(
        "Share of positives in the population: 0.3, 0.02..0.05 or estimate; of groups also a=0.2,b=0.1.",
        "SHARE",
        complete_estimate,
    ),
]
Purity = Annotated[
    str | None,
    option("How pure the known positives are: 0.9, 0.8..0.95 or estimate.", "SHARE", complete_estimate),
]
Selection = Annotated[
    str | None,
    option(
        "Γ, how far the known positives may be from a random sample: 1 is one; 1.5: at any score the chance "
        "to be known is 1/1.5 to 1.5 times the average; rising:1.5, falling:1.5 if it does so in the score.",
        "[DIRECTION:]GAMMA",
        complete_selection,
    ),
]
Propensity = Annotated[
    str | None,
    option(
        "The chance that such a positive is known: a column, read for positives; or by ranges of the score, "
        "0:0.1,0.5:0.3 for 0.1 from 0 up to 0.5 and 0.3 from there. What begins with a number and a colon is "
        "ranges; a column of such a name stands in double quotes, '\"0:1\"'.",
        "COLUMN|RANGES",
        complete_columns,
    ),
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
PriorColumn = Annotated[
    str | None, column("Column with the prior of each group: 0.3, 0.02..0.05 or estimate in all of its rows.")
]
ConfidenceLevel = Annotated[float, option("Level of the intervals.", "LEVEL")]
Seed = Annotated[int, option("Same seed, same result.", "SEED", min=0)]
Strict = Annotated[
    bool,
    flag("--strict", "Exit 3 where data refute or do not identify a share, or a row has no possible value."),
]
Html = Annotated[str | None, option("Also write a report for any browser, e.g. --html report.html.", "FILE")]
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
class _ScoreOptions:
    """Where the scores of one model are."""

    engine: Annotated[
        str | None, option("spark, or an address; FILE: table or path.", "ENGINE", complete_engines)
    ] = None
    score: Annotated[str, column("Higher is more positive.")] = "score"


# The help lists the options of the last base first.
@dataclass(frozen=True, kw_only=True)
class RowOptions(LabelOptions, _ScoreOptions):
    """Where the rows of one model are, and what their labels mean."""


@dataclass(frozen=True, kw_only=True)
class ShareOptions:
    """What is known of the shares of positives."""

    prior: Prior = None
    purity: Purity = None
    selection: Selection = None
    propensity: Propensity = None
    population: PopulationIs = Population.all
    within: Within = None
    labeled_sample: LabeledSample = None


@dataclass(frozen=True, kw_only=True)
class ReviewOptions:
    """Who was reviewed, and how far reviewers are to be trusted."""

    reviewed: Annotated[
        list[str] | None,
        option("A file of plan-review with its labels filled in; may be repeated, one a round.", "FILE"),
    ] = None
    planned_by: Annotated[
        str | None, column("Scores for which --reviewed was planned, where --score has another model's.")
    ] = None
    review_chance: Annotated[
        str | None,
        option(
            "Labels are reviews, empty where nobody looked; each row had this chance of one: a column; by "
            "ranges of the score (of the first --score), 0:0.01,0.9:1 for 1% below 0.9 and all above; one "
            "number; or estimate, from the score. Where it is 0, results are bounds.",
            "COLUMN|RANGES|estimate",
            complete_review_chance,
        ),
    ] = None
    known_positive: Annotated[
        str | None, column("With reviews: column of 1 for rows known to be positive anyway, else 0 or empty.")
    ] = None
    sensitivity: Annotated[
        str | None, option("Of reviewers who err: 0.9 of the positives are found, or 0.8..0.95.", "SHARE")
    ] = None
    specificity: Annotated[
        str | None, option("Of reviewers who err: 0.98 of the negatives are, or 0.95..1.", "SHARE")
    ] = None
    reviewer_check: Annotated[
        str | None, option("Estimate both from cases taken at random: what was said, and the truth.", "FILE")
    ] = None
    missing_reviews: Annotated[
        Missing | None, option("Rows of --reviewed without a label: refused, or bounded.  [default: error]")
    ] = None


@dataclass(frozen=True, kw_only=True)
class MetricOptions:
    """Which numbers are wanted, and how their intervals are made."""

    threshold: Annotated[
        str | None,
        option(
            "Call score >= threshold positive; adds precision, recall, f1, … In evaluate also what to choose "
            "it for: 'precision>=0.9', 'recall>=0.8', 'fpr<=0.05' (guaranteed at the level), 'max f1'.",
            "NUMBER|AIM",
        ),
    ] = None
    metrics: Annotated[
        list[str] | None,
        option(
            "Metrics instead of the usual ones, also with parameters; may be repeated.",
            "NAME,...",
            complete_metrics,
        ),
    ] = None
    confidence_level: ConfidenceLevel = 0.95
    n_resamples: Annotated[
        int,
        option(
            "Bootstrap resamples; 0 for closed-form intervals (what has none is resampled all the same).",
            "N",
            min=0,
        ),
    ] = 2000
    rng: Seed = 0
    stratified: Annotated[
        bool | None, flag("--stratified/--no-stratified", "Whether stratum sizes were fixed by design.")
    ] = None


@dataclass(frozen=True, kw_only=True)
class LabelColumnOptions:
    """Columns of soft labels, votes or confidences, and what they hold."""

    soft: Annotated[str | None, column("Soft labels: the probability of the positive class.")] = None
    labels: Annotated[
        Labels | None,
        option(
            "What --soft holds: the probability, that of the less likely class, or one with noise.  "
            "[default: soft]"
        ),
    ] = None
    sign: Annotated[
        str | None, column("Of noisy --soft labels: 1 where positive is the likelier class, else -1 or 0.")
    ] = None
    classes: Annotated[
        list[str] | None,
        option(
            "Probabilities of all classes, a column each; may be repeated. A name with a comma stands in "
            "double quotes: 'cat,\"fish, other\"'.",
            "COLUMN,...",
            complete_column_list,
        ),
    ] = None
    counts: Annotated[
        bool, flag("--counts", "The columns of --classes hold votes, e.g. --classes cat,dog --counts.")
    ] = False
    votes: Annotated[str | None, column("Votes for the positive class.")] = None
    ballots: Annotated[str | None, option("All votes of a row, with --votes.", "COLUMN|N")] = None
    confidence: Annotated[
        str | None, column("Rows are positives; this is the probability of each that it is.")
    ] = None


def spread(command: Callable[..., int]) -> Callable[..., int]:
    """The same command with an option for each field of its groups, as typer reads parameters."""
    # The annotations are text (PEP 563); typer needs the types, and with them the options in `Annotated`.
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
