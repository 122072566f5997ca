"""The sentences of a report: the answer, what was assumed, what was refuted, what to collect next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import numpy as np

from halftruth._errors import merged_notes
from halftruth._registry import REGISTRY, headline, titled
from halftruth.report import _comparison_text
from halftruth.report._html import range_text
from halftruth.report._page_record import PageData, Step, Subject
from halftruth.results._estimate import Estimate, Evaluation, estimate_text, figure, interval_text
from halftruth.results._standing import Standing, gravest

__all__ = [
    "advice", "answer", "checked", "more_reviews", "notes", "prior_line", "refuted", "remarks", "review",
    "shares", "standing",
]  # fmt: skip

STRATA = {
    "positive": "known positives",
    "unlabeled": "unlabeled",
    "negative": "known negatives",
    "soft": "rows with soft labels",
}
FOUND_BY_SCORE = (
    "Positives that became known because they scored high are no random sample: with them recall and the ROC "
    "curve look better than they are."
)
UNLABELED_AS_NEGATIVE = "unlabeled cases counted as negatives"
AGAINST = ("refuted", "partly_refuted")  # kinds of notes that come first
NAMED = 3  # groups that are named where there are many
FLAGGED = {"precision": "of the flagged cases are positive", "recall": "of the positives are flagged"}
MOST_RATES = 3  # at a threshold that are told
LITTLE = 0.05  # an interval that loses less of its width hardly changes


# --- The answer -----------------------------------------------------------------------------------------


def answer(page: PageData) -> str:
    """What the reader came for, in a few sentences; first of all what is refuted or not identified."""
    if not page.left_out:
        return _answer(page)
    return f"{_answer(page)} NOT EVALUATED: {_named(list(page.left_out))}; the notes say why."


def _answer(page: PageData) -> str:
    """The answer of the results that the page has."""
    status, reason = standing(page)
    wrong = [name for name, result in page.results.items() if result.status == "refuted"]
    if status == "refuted" and (page.comparison is not None or len(wrong) == len(page.results)):
        return f"REFUTED: do not rely on these numbers. {reason}"
    lead = "" if status in ("ok", "not evaluated") else f"{status.upper()}: "
    if page.comparison is not None:
        return lead + _comparison_text.answer(page.comparison, page.results)
    if len(page.results) > 1:
        lead = f"REFUTED in {_named(wrong)}: do not rely on the numbers there. " if wrong else lead
        others = {name: result for name, result in page.results.items() if name not in wrong}
        return lead + (_over_groups(others, page.by) if len(others) > 1 else refuted(page)[0])
    ((name, result),) = page.results.items()
    subject = page.subjects.get(name)
    part = " The first note says which priors are refuted." if status == "partly refuted" else ""
    return lead + _verdict(result, subject) + _at_threshold(result) + part


def _named(groups: Sequence[str]) -> str:
    return ", ".join(groups[:NAMED]) + (f" and {len(groups) - NAMED} more" if groups[NAMED:] else "")


def standing(page: PageData) -> Standing:
    """The gravest of all that the page is about."""
    whole = [] if page.comparison is None else [page.comparison.standing]
    return gravest([*whole, *(result.standing for result in page.results.values())])


def _verdict(result: Evaluation, subject: Subject | None) -> str:
    reading = UNLABELED_AS_NEGATIVE if subject is None else subject.naive_reading
    label = headline(result)
    row, name = result[label], titled(label)[0]
    naive = "" if row.naive is None or np.isnan(row.naive) else figure(row.naive)
    if np.isnan(row.value):
        if np.isnan(row.low):
            return f"{name} cannot be computed from these data."
        low, high = (figure(end) for end in np.clip((row.low, row.high), *row.limits))
        limits = f"{name} lies between {low} and {high}: the data do not say more"
        if subject is not None and subject.design is not None:
            n = subject.design.open_rows
            alone = f" The reviewed cases alone would show {naive}." if naive else ""
            return f"{limits} while nobody can look at {n:,} of the rows.{alone}"
        return f"{limits} while the share of positives is unknown." + (
            f" Counting unlabeled cases as negatives would show {naive}." if naive else ""
        )
    if not row.possible:
        return (
            f"{name} comes out at {figure(row.value)}, which is impossible: by noise, or because the share "
            f"of positives, the purity or the sampling is not as given."
        )
    value = f"{name} is {estimate_text(row)}{_interval(row)}"
    # Two numbers that look alike are no news.
    if naive in ("", figure(row.value)):
        return f"{value}."
    return f"{value}, not {naive} as it looks with {reading}."


def _interval(row: Estimate) -> str:
    return "" if np.isnan(row.low) else f" ({interval_text(row)})"


def _at_threshold(result: Evaluation) -> str:
    """The rates that were asked for; of many, those that say most."""
    first = headline(result)
    rates = [k for k in result if k in REGISTRY and REGISTRY[k].threshold and k != first]
    if len(rates) > MOST_RATES:
        rates = [k for k in rates if k in FLAGGED]
    if result.threshold is None or not rates:
        return ""
    if any(np.isnan(result[k].value) or not result[k].possible for k in rates):
        return ""
    *others, last = (_rate(k, result[k]) for k in rates)
    told = f"{', '.join(others)}, and {last}" if others else last
    return f" At the threshold {result.threshold:g}, {told}."


def _rate(label: str, row: Estimate) -> str:
    """A rate with its interval, and what it is not."""
    in_words = label in FLAGGED
    write = _percent if in_words else figure
    value, low, high = map(write, row.shown)
    naive = "" if row.naive is None or np.isnan(row.naive) else write(row.naive)
    instead = "" if naive in ("", value) else f", not {naive}"
    value = value if np.isnan(row.low) else f"{value} ({low} to {high})"
    return f"{value} {FLAGGED[label]}{instead}" if in_words else f"{titled(label)[0]} {value}{instead}"


def _percent(share: float | None) -> str:
    return "" if share is None or np.isnan(share) else f"{100 * share:.3g}%"


def _over_groups(results: Mapping[str, Evaluation], by: str) -> str:
    """Between which values the metric that is told first lies over the groups."""
    label = headline(next(iter(results.values())))
    rows = {name: result[label] for name, result in results.items() if label in result}
    values = {name: row.value for name, row in rows.items() if not np.isnan(row.value)}
    over = f"Over {len(results)} groups" + (f" of {by}" if by else "")
    if len(values) < 2:
        return f"{over} {titled(label)[0]} has a value in {len(values) or 'none'}."
    low, high = min(values, key=values.__getitem__), max(values, key=values.__getitem__)
    return (
        f"{over} {titled(label)[0]} runs from {estimate_text(rows[low])}{_interval(rows[low])} in {low} to "
        f"{estimate_text(rows[high])}{_interval(rows[high])} in {high}."
    )


def shares(page: PageData) -> str:
    """How many cases of which kind the numbers rest on, and the shares of positives that all results have."""
    lines = {prior_line(result, page.subjects.get(name)) for name, result in page.results.items()}
    thresholds = {result.threshold for result in page.results.values()} - {None}
    at = "each has rates at a threshold of its own" if len(thresholds) > 1 else ""
    if len(thresholds) == 1:
        at = f"rates are at the threshold {thresholds.pop():g}"
    return "; ".join(text for text in (_rows(page), lines.pop() if len(lines) == 1 else "", at) if text)


def prior_line(result: Evaluation, subject: Subject | None) -> str:
    """The shares of positives of one result."""
    if subject is not None and subject.design is not None and np.isnan(result.prior.value):
        return f"π between {figure(result.prior.low)} and {figure(result.prior.high)} in the population"
    return result._shares()


def _rows(page: PageData) -> str:
    if len(page.results) != 1:
        return ""
    ((name, result),) = page.results.items()
    if name not in page.subjects:
        return result.evidence
    design = page.subjects[name].design
    if design is not None:
        n = design.known_positive
        known = f", {_count(n, 'positive')} known otherwise" if n else ""
        return (
            f"{design.rows:,} rows, {design.reviewed:,} of them reviewed, "
            f"{design.positive:,} found positive{known}"
        )
    return ", ".join(f"{n:,} {STRATA[stratum]}" for stratum, n in page.subjects[name].rows.items())


# --- Notes ----------------------------------------------------------------------------------------------


def refuted(page: PageData) -> list[str]:
    """What the data contradict, each once, with the models or groups that it is about."""
    return merged_notes(
        {
            name: [str(note) for note in result.notes if note.kind in AGAINST]
            for name, result in page.results.items()
        }
    )


def notes(page: PageData) -> list[str]:
    """All that a page notes beside what is refuted."""
    told = {note for result in page.results.values() for note in result.notes}  # of all groups
    left_out = [
        f"{name}: {note}"
        for name, result in page.left_out.items()
        for note in result.notes
        if note not in told
    ]
    return [*remarks(page), *left_out, *_on_joining(page)]


def checked(page: PageData) -> str:
    """What the reviews refute of the rest of the evidence, or that they refute nothing; on top of its table.

    A purity that is refuted is the page's answer, for it takes the reviews along.
    """
    against = [str(note) for note in page.verdicts if note.kind == "contradiction"]
    return " ".join(against or [str(note) for note in page.verdicts if note.kind == "remark"])


def remarks(page: PageData) -> list[str]:
    """What was assumed, whom the numbers are about, where the prior came from, and what else to know."""
    # What bias of known positives would do is a line of its own for every group: too many on such a page.
    but = (*AGAINST, "selection") if len(page.results) > 1 and not page.drawn else AGAINST
    remarks_of = {
        name: list(_remarks(result, page.subjects.get(name), but, checked(page)))
        for name, result in page.results.items()
    }
    texts = merged_notes(remarks_of)
    if page.comparison is None:
        return texts + _on_groups(page)
    shown = set(chain.from_iterable(remarks_of.values()))
    return texts + [note for note in page.comparison.notes if note.kind not in AGAINST and note not in shown]


def _remarks(result: Evaluation, subject: Subject | None, but: Sequence[str], told: str) -> Iterator[str]:
    others = [note for note in result.all_notes() if note.kind not in but]
    assumption = "" if subject is None else subject.assumption
    # The assumption comes first, and beside it what would break it.
    if assumption in others:
        yield str(assumption)
        if subject is not None and subject.assumes_scar:
            yield FOUND_BY_SCORE
    if subject is not None:
        yield _population(subject)
        yield from _source_of_prior(subject)
    yield from (note for note in others if note != assumption and note not in told)


def _population(subject: Subject) -> str:
    n = sum(subject.rows.values())
    if subject.population is None:
        return f"The population is what the {n:,} rows were drawn from."
    if subject.population == "all":
        return f"The population is the whole table: its {n:,} rows, known and unlabeled together."
    return (
        f"The population is what the {subject.rows['unlabeled']:,} unlabeled cases were drawn from; the "
        f"known positives were drawn apart."
    )


def _source_of_prior(subject: Subject) -> Iterator[str]:
    prior = subject.given_prior
    if subject.design is not None:
        yield "The share of positives is estimated from the reviews."
    elif subject.prior_is_counted:
        yield "The share of positives is that of the labels."
    elif isinstance(prior, tuple):
        yield (
            f"The share of positives was given as a range, {prior[0]:.4g} to {prior[1]:.4g}: values are at "
            f"its middle, and intervals cover it all."
        )
    elif prior is not None:
        yield f"The share of positives, π = {prior:.4g}, was given and is taken as exact."


def _on_groups(page: PageData) -> list[str]:
    priors = {page.subjects[name].given_prior if name in page.subjects else None for name in page.results}
    prior = priors.pop()
    if len(page.results) < 2 or priors or prior is None or isinstance(prior, tuple):
        return []
    return [f"The same share of positives, π = {prior:.4g}, was taken in every group."]


def _on_joining(page: PageData) -> Iterator[str]:
    if page.joining_changed:
        n = max(len(model["table"]["score"]) for model in page.models)
        of_each = " of each" if len(page.models) > 1 else ""
        yield (
            f"The page holds rows joined to {n:,} scores{of_each}, and its figures are of these; none "
            f"that was evaluated differs from that of the rows by more than {figure(page.joining_changed)}."
        )


# --- Reviews --------------------------------------------------------------------------------------------


def review(page: PageData) -> Iterator[str]:
    """How the cases of one evaluation were reviewed, a sentence each; none where nobody reviewed any."""
    design = next((subject.design for subject in page.subjects.values()), None)
    if design is None or len(page.results) > 1:
        return
    yield (
        f"{design.reviewed:,} of {design.rows:,} rows were reviewed, and {design.positive:,} of these found "
        "positive."
    )
    source = "as estimated from the scores" if design.chance_estimated else "as given"
    yield f"The chance of these to be reviewed was {range_text(design.chance)}, {source}."
    if design.known_positive:
        n = design.known_positive
        yield f"{_count(n, 'positive')} {'was' if n == 1 else 'were'} known otherwise and needed no review."
    if design.reviewers_err:
        finds, clears = (range_text(ends) for ends in (design.sensitivity, design.specificity))
        yield (
            f"Reviewers err: they call {finds} of the positives positive (sensitivity) and {clears} of the "
            "negatives negative (specificity)."
        )
    if design.open_rows:
        yield (
            f"Nobody could look at {_count(design.open_rows, 'row')}: where their class matters there are "
            "intervals over all that it could be, without values, and no curves."
        )


def more_reviews(page: PageData) -> str:
    """On the table of widths: what more reviews would change."""
    steps = [step for step in page.steps if step.what == "reviews"]
    text = "Width of each interval"
    if any(not np.isnan(step.then) for step in steps):
        return (
            f"{text} now, and about how wide it would be with {steps[0].rows:,} more reviews, drawn as "
            "these were; a plan may do better. What the rows add, as they are a sample themselves, stays."
        )
    if any(subject.design is not None and subject.design.open_rows for subject in page.subjects.values()):
        return f"{text}. No review of other rows narrows what those leave open that nobody could look at."
    return f"{text}."


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


# --- What to collect next -------------------------------------------------------------------------------


def advice(steps: Sequence[Step]) -> list[str]:
    """What to collect next: for the first metric, and for others where another step is best."""
    by_metric: dict[str, list[Step]] = {}
    for step in steps:
        if step.what != "reviews":  # which have a table of their own
            by_metric.setdefault(step.metric, []).append(step)
    if not by_metric:
        return []
    first, *others = by_metric.values()
    differing: dict[str, list[Step]] = {}
    for other in others:
        best = other[0]
        same = next((step for step in other if step.what == first[0].what), best)
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


def _other_advice(steps: Sequence[Step]) -> str:
    """On metrics that one step helps most, which is not the step of the first metric."""
    best, others = steps[0], [_name(step) for step in steps[1:]]
    also = f" The same helps most for {', '.join(others)}." if others else ""
    return (
        f"For {_name(best)} another step is best: {_what(best)}{_how(best)}, from {figure(best.width)} to "
        f"{figure(best.then)}.{also}"
    )


def _how(step: Step) -> str:
    return f" ({step.how})" if step.how else ""


def _name(step: Step) -> str:
    return titled(step.metric)[0]


def _what(step: Step, *, alone: bool = False) -> str:
    if step.what == "labels":
        return f"labels for {step.rows:,} {'more ' if alone else ''}random cases"
    noun = "unlabeled cases" if step.what == "unlabeled" else f"known {step.what}"
    return f"{step.rows:,} more {noun}{' with their confidences' if alone else ''}"


def _much(then: float, width: float) -> bool:
    return then < (1 - LITTLE) * width


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
