"""The options that commands share, and how their text is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Annotated, Any, TypeVar

import typer

from halftruth.errors import InputError

Number = TypeVar("Number", int, float)
ESTIMATE = "estimate"
"""The word of `halftruth.belief`, which would load NumPy before it is needed."""


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


Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE",
        help="CSV, TSV, Parquet, JSON lines, Arrow, also compressed; a glob, a folder, - for stdin; .npz.",
    ),
]
Score = Annotated[str, typer.Option(metavar="COLUMN", help="Higher is more positive.")]
Label = Annotated[str, typer.Option(metavar="COLUMN", help="1 positive, 0 negative, empty unlabeled.")]
Weight = Annotated[str | None, typer.Option(metavar="COLUMN", help="Column of row weights.")]
ZerosMean = Annotated[Zeros | None, typer.Option(help="What 0 means, if labels are only 0 and 1.")]
Unlabeled = Annotated[
    float | None, typer.Option(metavar="CODE", help="Another code for unlabeled rows, e.g. -1.")
]
Prior = Annotated[
    str | None,
    typer.Option(metavar="SHARE", help="Share of positives in the population: 0.3, 0.02..0.05 or estimate."),
]
Purity = Annotated[
    str | None,
    typer.Option(metavar="SHARE", help="Share of the known positives that are: 0.9, 0.8..0.95 or estimate."),
]
PopulationIs = Annotated[
    Population,
    typer.Option(help="All rows, or the unlabeled alone, where positives were drawn apart."),
]
By = Annotated[str | None, typer.Option(metavar="COLUMN", help="Each value of this column by itself.")]
Threshold = Annotated[
    float | None,
    typer.Option(metavar="NUMBER", help="Call score >= threshold positive; adds precision, recall, f1, …"),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME,...", help="Metrics to show instead of the usual ones; may be repeated."),
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
        help="Bootstrap interval: percentile, basic, normal or bias-corrected; else what covers best.",
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
Style = Annotated[Format, typer.Option("--format", help="How to write the result.")]


def share(text: str | None, name: str) -> float | tuple[float, float] | str | None:
    """A prior or a purity: a number, a range low..high, or the word that asks for an estimate."""
    if text is None or text == ESTIMATE:
        return text
    ends = text.split("..")
    try:
        numbers = [float(end) for end in ends]
    except ValueError:
        numbers = []
    if len(numbers) == 1:
        return numbers[0]
    if len(numbers) == 2:
        return numbers[0], numbers[1]
    raise InputError(
        f"--{name} must be a number such as 0.3 or a range such as 0.02..0.05, or the word {ESTIMATE}; got "
        f"{text!r}."
    )


def pair(
    text: str | None, name: str, sign: str, kind: Callable[[str], Number], example: str
) -> tuple[Number, Number] | None:
    """Two numbers with a sign between them."""
    if text is None:
        return None
    try:
        one, other = map(kind, text.split(sign))
    except ValueError:
        raise InputError(f"--{name} must read like {example}, got {text!r}.") from None
    return one, other


def names(lists: Iterable[str] | None) -> list[str] | None:
    """Names from comma-separated lists; None where there is none."""
    found = [name.strip() for text in lists or () for name in text.split(",")]
    return [name for name in found if name] or None


def read(
    prior: str | None, purity: str | None, metrics: list[str] | None, **settings: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The settings of a call and the shares of its evidence, refused here where they cannot be right."""
    settings = {"metrics": names(metrics), **settings}
    shares = {"prior": share(prior, "prior"), "purity": share(purity, "purity")}
    check(settings, shares)
    return settings, shares


def check(settings: dict[str, Any], shares: dict[str, Any]) -> None:
    """Let the library refuse what it would refuse anyway, before a long file is read."""
    from halftruth import checks, registry
    from halftruth.belief import belief
    from halftruth.intervals import METHODS

    checks.confidence_level(settings["confidence_level"])
    if settings["threshold"] is not None:
        checks.threshold(settings["threshold"])
    if settings.get("method") is not None:
        checks.choice(settings["method"], "method", METHODS)
    for name in settings["metrics"] or ():
        registry.get(name).bind(settings["threshold"])
    if shares["purity"] == ESTIMATE != shares["prior"]:
        raise InputError(
            "--purity estimate goes with --prior estimate: scores say something of both together. Pass both, "
            "or a number for the purity."
        )
    for name, share in shares.items():
        if share != ESTIMATE:
            belief(share, name, closed_at_one=name == "purity")
