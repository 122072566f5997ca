"""What to collect next: which rows would narrow an interval most, computed and in plain words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from halftruth._errors import is_refuted
from halftruth.evidence import Evidence
from halftruth.inference._prior_range import prior_range
from halftruth.inference._requests import Request
from halftruth.report.names import named
from halftruth.report.outlook import LABELS, WHAT, Outlook, alike, closed_form, smooth
from halftruth.results._estimate import figure
from halftruth.table._score_table import POSITIVE

HEADLINES = ("roc_auc", "average_precision", "precision", "recall", "f1", "accuracy", "brier", "log_loss")
"""Metrics that are spoken of first."""
FEWEST = 50
"""Rows worth speaking of."""
FEW_POSITIVES = 30
"""Known positives whose own scatter is known only roughly."""
NOTHING = 1e-9
"""The width of an interval that is none."""
LITTLE = 0.05
"""An interval that loses less of its width hardly changes."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """Rows to collect, and what they would do to one interval."""

    what: str
    """"positives", "unlabeled", "negatives", or "labels": of random cases."""
    rows: int
    metric: str
    width: float
    """Of the interval now."""
    then: float
    """Its width to expect with these rows."""
    how: str = ""
    """What to do with labels to get it."""
    rough: bool = False
    """Whether few known positives stand behind it."""


def next_steps(
    evidence: Evidence, requests: Sequence[Request], *, confidence_level: float, one_sample: bool
) -> tuple[Step, ...]:
    """What more rows of each kind would do to the interval of each metric that has a closed form.

    Parameters
    ----------
    evidence : Evidence
    requests : sequence of Request
        Those without an error in closed form, and those whose interval has no width, are left out.
    confidence_level : float
    one_sample : bool
        Whether rows of all strata were drawn together, as for `variance`.

    Returns
    -------
    tuple of Step
        The same number of rows for each kind: a round number near that of the known positives, or of
        the rows where all are labeled. By metric, headlines first; of one metric the best step first. None
        where the data refute what was given.
    """
    span = prior_range(evidence, confidence_level)
    if evidence.lone_positive or is_refuted(span.notes):
        return ()
    asked = smooth(evidence, sorted(requests, key=_rank), span.scenarios)
    low, high = evidence.measure().span
    if not asked or low == high:
        return ()
    known = evidence.prior_is_free
    n = len(evidence.table.strata[POSITIVE]) if known else len(evidence.table)
    rows = _round_number(n)
    if evidence.population is not None:
        outlook = Outlook(evidence, asked, span, confidence_level, one_sample)
        widths, options = outlook.widths(), outlook.widths_with_more(rows)
    else:
        found = closed_form(evidence, asked, confidence_level, one_sample=one_sample)
        widths = {r: row.high - row.low for r, row in found.items()}
        options = {WHAT[POSITIVE] if known else LABELS: {r: alike(x, n, rows) for r, x in found.items()}}
    rough = known and n < FEW_POSITIVES
    return tuple(
        step
        for request in asked
        if widths.get(request, np.nan) > NOTHING
        for step in sorted(
            (
                Step(
                    what=what,
                    rows=rows,
                    metric=request.label,
                    width=widths[request],
                    then=then[request].width,
                    how=then[request].how,
                    rough=rough,
                )
                for what, then in options.items()
                if request in then and then[request].width > NOTHING
            ),
            key=lambda step: step.then,
        )
    )


def _round_number(n: float) -> int:
    """1, 2 or 5 times a power of ten: the one with the least ratio to n, from FEWEST."""
    numbers: list[int] = [digit * 10**power for power in range(1, 18) for digit in (1, 2, 5)]
    return min((x for x in numbers if x >= FEWEST), key=lambda x: abs(math.log(x / max(n, 1))))


def _rank(request: Request) -> int:
    name = "" if request.metric is None else request.metric.name
    return HEADLINES.index(name) if name in HEADLINES else len(HEADLINES)


# --- words ----------------------------------------------------------------------------------------------


def in_words(steps: Sequence[Step]) -> list[str]:
    """What to collect next in plain sentences: for the first metric, and for others where it differs."""
    metrics: dict[str, list[Step]] = {}
    for step in steps:
        metrics.setdefault(step.metric, []).append(step)
    if not metrics:
        return []
    first, *others = metrics.values()
    differing: dict[str, list[Step]] = {}
    for each in others:
        best = each[0]
        same = next((step for step in each if step.what == first[0].what), best)
        if _much(best.then, same.then) and _much(best.then, best.width):
            differing.setdefault(best.what, []).append(best)
    return [_advice(first), *(_other_advice(group) for group in differing.values())]


def _advice(steps: Sequence[Step]) -> str:
    """On one metric, of which the best step comes first."""
    best, others = steps[0], steps[1:]
    what, change = _what(best, alone=not others), f"from {figure(best.width)} to {figure(best.then)}"
    rough = " (rough: few known positives)" if best.rough else ""
    if not _much(best.then, best.width):
        tried = ", ".join(_what(step) for step in others)
        return (
            f"{_capital(what)} would hardly narrow the interval of {_name(best)}, {change}"
            f"{f'; nor would {tried}' if tried else ''}{rough}."
        )
    most = " most" if others else ""
    out = [f"{_capital(what)}{_how(best)} would narrow the interval of {_name(best)}{most}, {change}{rough}."]
    for step in others:
        much = _much(step.then, step.width)
        then = f"to {figure(step.then)}" if much else f"hardly ({figure(step.then)})"
        out.append(f"{_capital(_what(step))}{_how(step) if much else ''}: {then}.")
    return " ".join(out)


def _other_advice(group: Sequence[Step]) -> str:
    best, others = group[0], [_name(step) for step in group[1:]]
    also = f" The same helps most for {', '.join(others)}." if others else ""
    return (
        f"For {_name(best)} another step is best: {_what(best)}{_how(best)}, from {figure(best.width)} to "
        f"{figure(best.then)}.{also}"
    )


def _how(step: Step) -> str:
    return f" ({step.how})" if step.how else ""


def _name(step: Step) -> str:
    return named(step.metric)[0]


def _what(step: Step, *, alone: bool = False) -> str:
    if step.what == LABELS:
        return f"labels for {step.rows:,} {'more ' if alone else ''}random cases"
    noun = "unlabeled cases" if step.what == "unlabeled" else f"known {step.what}"
    return f"{step.rows:,} more {noun}{' with their confidences' if alone else ''}"


def _much(then: float, width: float) -> bool:
    return then < (1 - LITTLE) * width


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
