"""The words of a report: the answer in a sentence, what was assumed, what was refuted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

import numpy as np

from halftruth._errors import Note, is_refuted
from halftruth.evidence import Evidence
from halftruth.report import rivals
from halftruth.report.names import headline, named
from halftruth.results._comparison import Comparison
from halftruth.results._estimate import Estimate, Evaluation, figure, interval_text
from halftruth.table._score_table import UNLABELED

KINDS = {
    "positive": "known positives",
    "unlabeled": "unlabeled",
    "negative": "known negatives",
    "soft": "rows with soft labels",
}
FOUND = (
    "Positives that became known because they scored high are no random sample: with them recall and the ROC "
    "curve look better than they are."
)


def answer(results: Mapping[str, Evaluation], comparison: Comparison | None = None, by: str = "") -> str:
    """What the reader came for, in a sentence or two."""
    if is_refuted(_all_notes(results, comparison)):
        return "Do not rely on these numbers: the data refute what was given. The first note says what."
    if comparison is not None:
        return rivals.answer(comparison, results)
    if len(results) > 1:
        return _spread(results, by)
    (result,) = results.values()
    return _verdict(result) + _at_threshold(result)


def _all_notes(results: Mapping[str, Evaluation], comparison: Comparison | None) -> Iterator[Note]:
    yield from chain.from_iterable(result.notes for result in results.values())
    yield from comparison.notes if comparison is not None else ()


def _verdict(result: Evaluation) -> str:
    label = headline(result)
    row, name = result[label], named(label)[0]
    looks = "" if row.naive is None or np.isnan(row.naive) else figure(row.naive)
    if np.isnan(row.value):
        if np.isnan(row.low):
            return f"{name} cannot be computed from these data."
        limits = f"{name} lies between {figure(row.low)} and {figure(row.high)}: the data do not say more"
        return f"{limits} while the share of positives is unknown." + (
            f" Counting unlabeled cases as negatives would show {looks}." if looks else ""
        )
    low, high = row.limits
    if not low <= row.value <= high:
        return (
            f"{name} comes out at {figure(row.value)}, which is impossible: by noise, or because the share "
            f"of positives, the purity or the sampling is not as given."
        )
    value = f"{name} is {figure(row.value)}{_interval(row)}"
    if looks in ("", figure(row.value)):
        return f"{value}."
    return f"{value}, not {looks} as it looks with {_naively(result)}."


def _naively(result: Evaluation) -> str:
    return Evidence.naive_reading if result.origin is None else result.origin.evidence[""].naive_reading


def _interval(row: Estimate) -> str:
    return "" if np.isnan(row.low) else f" ({interval_text(row)})"


def _at_threshold(result: Evaluation) -> str:
    if result.threshold is None or not {"precision", "recall"} <= set(result):
        return ""
    precision, recall = result["precision"], result["recall"]
    if np.isnan(precision.value) or np.isnan(recall.value):
        return ""
    found, looks = _percent(precision.value), _percent(precision.naive)
    instead = "" if looks in ("", found) else f", not {looks},"
    return (
        f" At the threshold {result.threshold:g}, {found} of the flagged cases are positive{instead} and "
        f"{_percent(recall.value)} of the positives are flagged."
    )


def _percent(share: float | None) -> str:
    return "" if share is None or np.isnan(share) else f"{100 * share:.3g}%"


def _spread(results: Mapping[str, Evaluation], by: str) -> str:
    label = headline(next(iter(results.values())))
    rows = {name: result[label] for name, result in results.items() if label in result}
    known = {name: row.value for name, row in rows.items() if not np.isnan(row.value)}
    over = f"Over {len(results)} groups" + (f" of {by}" if by else "")
    if len(known) < 2:
        return f"{over} {named(label)[0]} has a value in {len(known)}."
    low, high = min(known, key=known.__getitem__), max(known, key=known.__getitem__)
    return (
        f"{over} {named(label)[0]} runs from {figure(known[low])}{_interval(rows[low])} in {low} to "
        f"{figure(known[high])}{_interval(rows[high])} in {high}."
    )


def refuted(results: Mapping[str, Evaluation]) -> list[str]:
    """What the data contradict, each once, with the models or groups that it is about."""
    about: dict[str, list[str]] = {}
    for name, result in results.items():
        for note in result.notes:
            if note.kind == "refuted":
                about.setdefault(str(note), []).append(name)
    return _told(about, len(results))


def _told(about: Mapping[str, list[str]], n: int) -> list[str]:
    return [note if len(names) == n else f"{_several(names)}: {note}" for note, names in about.items()]


def remarks(results: Mapping[str, Evaluation], comparison: Comparison | None = None) -> list[str]:
    """What was assumed, whom the numbers are about, where the prior came from, and what else to know."""
    about: dict[str, list[str]] = {}
    for name, result in results.items():
        for note in _remarks(result):
            about.setdefault(note, []).append(name)
    told = _told(about, len(results))
    if comparison is None:
        return told + _on_groups(results)
    return [
        *told,
        *(note for note in comparison.notes if note.kind != "refuted" and note not in about),
    ]


def _on_groups(results: Mapping[str, Evaluation]) -> list[str]:
    shares = {_given(result) for result in results.values()}
    if len(results) < 2 or len(shares) > 1 or None in shares:
        return []
    return [f"The same share of positives, π = {shares.pop():.4g}, was taken in every group."]


def _given(result: Evaluation) -> float | None:
    if result.origin is None:
        return None
    prior = result.origin.evidence[""].prior
    return None if prior.estimate is not None or prior.is_range else prior.value


def _several(names: list[str], shown: int = 3) -> str:
    more = len(names) - shown
    return ", ".join(names[:shown]) + (f" and {more} more" if more > 0 else "")


def _remarks(result: Evaluation) -> Iterator[str]:
    notes = [note for note in result.all_notes() if note.kind != "refuted"]
    evidence = None if result.origin is None else result.origin.evidence[""]
    assumed = "" if evidence is None else evidence.assumption
    if assumed in notes:
        yield str(assumed)
        if evidence is not None and evidence.assumes_scar:
            yield FOUND
    if evidence is not None:
        yield _population(evidence)
        yield from _source(evidence)
    yield from (note for note in notes if note != assumed)


def rows_of(results: Mapping[str, Evaluation]) -> str:
    """How many cases of which kind the numbers rest on."""
    if len(results) != 1:
        return ""
    (result,) = results.values()
    if result.origin is None:
        return result.evidence
    strata = result.origin.evidence[""].table.strata
    return ", ".join(f"{len(rows):,} {KINDS[name]}" for name, rows in strata.items())


def _population(evidence: Evidence) -> str:
    rows = len(evidence.table)
    if evidence.population is None:
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
    if not evidence.prior_is_free:
        yield "The share of positives is that of the labels."
    elif prior.estimate is None and prior.is_range:
        low, high = prior.ends()
        yield (
            f"The share of positives was given as a range, {low:.4g} to {high:.4g}: values are at its "
            f"middle, and intervals cover it all."
        )
    elif prior.estimate is None and prior.value is not None:
        yield f"The share of positives, π = {prior.value:.4g}, was given and is taken as exact."
