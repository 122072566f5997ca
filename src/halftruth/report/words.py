"""The words of a report: the answer in a sentence, what was assumed, what was refuted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

import numpy as np

from halftruth.compared import Comparison, Difference
from halftruth.evidence import Evidence, PositiveUnlabeled
from halftruth.results import Estimate, Evaluation, Refuted, figure, interval_text
from halftruth.table import UNLABELED

NAMES = {
    "prevalence": ("Share of positives", "in the population"),
    "roc_auc": ("ROC AUC", "chance that a positive scores above a negative"),
    "average_precision": ("Average precision", "mean precision as more and more cases are flagged"),
    "pr_auc": ("PR AUC", "area under the precision-recall curve"),
    "brier": ("Brier score", "mean squared error of the scores; lower is better"),
    "log_loss": ("Log loss", "price of confident mistakes; lower is better"),
    "calibration_error": ("Calibration error", "how far scores lie from frequencies; lower is better"),
    "precision": ("Precision", "share of flagged cases that are positive"),
    "recall": ("Recall", "share of positives that are flagged"),
    "fpr": ("False-positive rate", "share of negatives that are flagged; lower is better"),
    "f1": ("F1", "precision and recall in one number"),
    "mcc": ("MCC", "correlation of flag and class"),
    "accuracy": ("Accuracy", "share of cases called right"),
}
"""For people: what a metric is called, and what it says."""
HEADLINES = ("roc_auc", "average_precision", "precision")


def named(label: str) -> tuple[str, str]:
    """How a row is called in sentences and tables, and what it says, where that is known."""
    return NAMES.get(label, (label.replace("_", " "), ""))


def answer(results: Mapping[str, Evaluation], comparison: Comparison | None = None) -> str:
    """What the reader came for, in a sentence or two."""
    if comparison is not None:
        return _winner(comparison)
    if len(results) > 1:
        return _spread(results)
    (result,) = results.values()
    refuted = " Do not rely on these numbers: the data refute what was given." if result.refuted else ""
    return _verdict(result) + _at_threshold(result) + refuted


def headline(labels: Iterable[str]) -> str:
    """The row that is told first."""
    rows = list(labels)
    return next((name for name in HEADLINES if name in rows), rows[0])


def _verdict(result: Evaluation) -> str:
    label = headline(result)
    row, name = result[label], named(label)[0]
    looks = ""
    if row.naive is not None and figure(row.naive) != figure(row.value) and not np.isnan(row.naive):
        looks = figure(row.naive)
    if np.isnan(row.value):
        if np.isnan(row.low):
            return f"{name} cannot be computed from these data."
        limits = f"{name} lies between {figure(row.low)} and {figure(row.high)}: the data do not say more"
        return f"{limits} while the share of positives is unknown." + (
            f" Counting unlabeled cases as negatives would show {looks}." if looks else ""
        )
    value = f"{name} is {figure(row.value)}{_interval(row)}"
    if not looks:
        return f"{value}."
    how = "hard labels" if "Soft" in result.evidence else "unlabeled cases counted as negatives"
    return f"{value}, not {looks} as it looks with {how}."


def _interval(row: Estimate) -> str:
    return "" if np.isnan(row.low) else f" ({interval_text(row)})"


def _at_threshold(result: Evaluation) -> str:
    if result.threshold is None or not {"precision", "recall"} <= set(result):
        return ""
    precision, recall = result["precision"], result["recall"]
    if np.isnan(precision.value) or np.isnan(recall.value):
        return ""
    return (
        f" At the threshold {result.threshold:g}, {_percent(precision.value)} of the flagged cases are "
        f"positive and {_percent(recall.value)} of the positives are flagged."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.3g}%"


def _spread(results: Mapping[str, Evaluation]) -> str:
    label = headline(next(iter(results.values())))
    values = {name: result[label].value for name, result in results.items() if label in result}
    known = {name: value for name, value in values.items() if not np.isnan(value)}
    if len(known) < 2:
        return f"{len(results)} groups; {named(label)[0]} has no value in most of them."
    low, high = min(known, key=known.__getitem__), max(known, key=known.__getitem__)
    return (
        f"Over {len(results)} groups {named(label)[0]} runs from {figure(known[low])} ({low}) to "
        f"{figure(known[high])} ({high})."
    )


def _winner(comparison: Comparison) -> str:
    """The first pair in words where there is one, else which model dominates."""
    if len(comparison.pairs) > 1:
        return comparison.verdict
    ((first, second), rows) = next(iter(comparison.pairs.items()))
    label = headline(rows)
    row, name = rows[label], named(label)[0]
    values = f"{name} {figure(row.values[0])} against {figure(row.values[1])}"
    difference = f"difference {figure(row.value)}{_interval(row)}"
    if row.leader is None:
        return (
            f"No model is better beyond noise: {first} has {values} of {second}, {difference}.{_flips(row)}"
        )
    better, worse = (first, second) if row.leader == 0 else (second, first)
    return f"{better} is better than {worse}: {first} has {values} of {second}, {difference}.{_flips(row)}"


def _flips(row: Difference) -> str:
    if not row.flips:
        return ""
    return f" The order turns where the share of positives passes {', '.join(map(figure, row.flips))}."


def refuted(results: Mapping[str, Evaluation]) -> list[str]:
    """What the data contradict, each once."""
    notes = chain.from_iterable(result.notes for result in results.values())
    return list(dict.fromkeys(str(note) for note in notes if isinstance(note, Refuted)))


def remarks(results: Mapping[str, Evaluation], comparison: Comparison | None = None) -> list[str]:
    """What was assumed, whom the numbers are about, where the prior came from, and what else to know."""
    about: dict[str, list[str]] = {}
    for name, result in results.items():
        for note in _remarks(result):
            about.setdefault(note, []).append(name)
    if comparison is not None:
        for note in comparison.notes:
            about.setdefault(note, list(results))
    return [
        note if len(names) == len(results) else f"{_several(names)}: {note}" for note, names in about.items()
    ]


def _several(names: list[str], shown: int = 3) -> str:
    more = len(names) - shown
    return ", ".join(names[:shown]) + (f" and {more} more" if more > 0 else "")


def _remarks(result: Evaluation) -> Iterator[str]:
    notes = [line.removeprefix("Note: ") for line in result._note_lines() if line]
    own = {str(note) for note in result.notes if isinstance(note, Refuted)}
    evidence = None if result.origin is None else result.origin.evidence[""]
    assumed = "" if evidence is None else evidence.assumption
    if assumed in notes:
        yield str(assumed)
    if evidence is not None:
        yield _population(evidence)
        yield from _source(evidence)
    yield from (note for note in notes if note != assumed and note not in own)


def _population(evidence: Evidence) -> str:
    rows = len(evidence.table)
    if not isinstance(evidence, PositiveUnlabeled):
        return f"The population is what the {rows:,} rows were drawn from."
    if evidence.population == "all":
        return f"The population is the whole table: its {rows:,} rows, known and unlabeled together."
    rows = len(evidence.table.strata[UNLABELED])
    return (
        f"The population is what the {rows:,} unlabeled cases were drawn from; the known positives were "
        f"drawn apart."
    )


def _source(evidence: Evidence) -> Iterator[str]:
    prior = evidence.prior
    if evidence.kind in ("labeled", "soft"):
        yield "The share of positives is that of the labels."
    elif prior.estimate is None and prior.is_range:
        low, high = prior.ends()
        yield (
            f"The share of positives was given as a range, {low:.4g} to {high:.4g}: values are at its "
            f"middle, and intervals cover it all."
        )
    elif prior.estimate is None and prior.value is not None:
        yield f"The share of positives, π = {prior.value:.4g}, was given and is taken as exact."
