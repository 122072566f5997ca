"""The verdict on a test error: what was found, and how to say it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from textwrap import fill
from typing import Any

from halftruth._errors import Note, arg, notes_to_dict
from halftruth.evidence import Evidence
from halftruth.evidence._soft_labeled import SoftRows
from halftruth.limits._soft_labels import NOISY, LabelKind
from halftruth.results._estimate import Estimate, figure, interval_text, json_number

__all__ = ["TooGood", "Wording"]

SCHEMA = 1
WIDTH = 100
SOFT_LABELS, VOTES, CONFIDENCES = "soft labels", "votes", "confidences"
NOT_FROM_THEM = (
    "The adjusted error takes the predictions as made without these {}: predictions that follow them have an "
    "adjusted error that is too low."
)


@dataclass(frozen=True, kw_only=True, eq=False)
class TooGood:
    """Whether a test error is lower than the Bayes error by more than chance.

    Attributes
    ----------
    test_error : float
    n_test : int
    bayes_error : Estimate
    difference : float
        Test error minus Bayes error.
    p_value : float
        The chance of a test error this low, or lower, if the classifier's true error were the Bayes error;
        NaN where the Bayes error has no interval.
    too_good : bool
        Whether the test error is the lower one, and that chance 1 − ``confidence_level`` or less.
    confidence_level : float
    adjusted : Estimate or None
        With predictions: their expected error where each row's label is drawn anew from its soft label, with
        the interval over rows.
    adjusted_spread : float or None
        Standard deviation of that error over such drawings, the rows being fixed.
    verdict : str
        The outcome in a sentence or two.
    alternatives : tuple of str
        What else than overfitting may explain an error that is too low.
    notes : tuple of str
    """

    test_error: float
    n_test: int
    bayes_error: Estimate
    difference: float
    p_value: float
    too_good: bool
    confidence_level: float
    adjusted: Estimate | None
    adjusted_spread: float | None
    verdict: str = ""
    alternatives: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(too_good={self.too_good}, p = {figure(self.p_value)})"

    def _rows(self) -> list[tuple[str, str]]:
        rows = [
            ("test error", f"{figure(self.test_error)} on {self.n_test:,} cases"),
            ("Bayes error", _with_interval(self.bayes_error)),
            ("difference", figure(self.difference)),
            ("p-value", figure(self.p_value)),
        ]
        if self.adjusted is not None:
            spread = f"; drawings scatter by {figure(self.adjusted_spread)}"
            rows.append(("adjusted error", _with_interval(self.adjusted) + spread))
        return rows

    def __str__(self) -> str:
        lines = [_filled(self.verdict), "", *(f"{name:<14}  {value}" for name, value in self._rows())]
        if self.alternatives:
            lines += ["", "Other than overfitting:", *(_filled(x, "  - ") for x in self.alternatives)]
        if self.notes:
            lines += ["", *(_filled(note, "Note: ") for note in self.notes)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{escape(a)}</th><td>{escape(b)}</td></tr>" for a, b in self._rows())
        items = "".join(f"<li>{escape(text)}</li>" for text in (*self.alternatives, *self.notes))
        return f"<p>{escape(self.verdict)}</p><table>{rows}</table>" + (f"<ul>{items}</ul>" if items else "")

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready and versioned; undefined numbers are None."""
        names = ("test_error", "difference", "p_value", "confidence_level", "adjusted_spread")
        return {
            "schema": SCHEMA,
            "n_test": self.n_test,
            **{name: json_number(getattr(self, name)) for name in names},
            "bayes_error": self.bayes_error.to_dict(),
            "adjusted": None if self.adjusted is None else self.adjusted.to_dict(),
            "too_good": self.too_good,
            "verdict": self.verdict,
            "alternatives": list(self.alternatives),
            **notes_to_dict(self.notes),
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class Wording:
    """What the test found, in words."""

    result: TooGood  # without words yet
    floor: float  # the lowest Bayes error that the evidence allows
    evidence: Evidence
    labels: LabelKind  # as in `bayes_error`

    @property
    def source(self) -> str:
        """What the rows of the evidence are called."""
        if self.evidence.labels is None:
            return CONFIDENCES
        return SOFT_LABELS if self.evidence.labels.ballots is None else VOTES

    @property
    def is_open(self) -> bool:
        """Whether the evidence leaves more open than the digits shown."""
        ends = self.result.bayes_error.identified
        return ends is not None and figure(ends[0]) != figure(ends[1])

    def verdict(self) -> str:
        """The outcome in a sentence or two."""
        least = "the least Bayes error that the evidence leaves open" if self.is_open else "the Bayes error"
        result = self.result
        error, floor = figure(result.test_error), figure(self.floor)
        if result.too_good:
            error, floor = _apart(result.test_error, self.floor)
        test, least = f"a test error of {error}", f"{least}, estimated at {floor}"
        p = f"p = {figure(result.p_value)}"
        if math.isnan(result.p_value):
            outcome = f"The Bayes error has no interval here, so that {test} cannot be judged."
        elif result.too_good:
            outcome = (
                f"Too good to be true: {test} is below {least}, by more than chance explains ({p}). If the "
                f"test labels were drawn as the {self.source} say, no classifier could have earned it."
            )
        elif error == floor:
            outcome = f"Not too good to be true: {test} does not differ from {least}."
        elif result.test_error < self.floor:
            outcome = f"Not too good to be true: {test} is below {least}, but chance explains that ({p})."
        else:
            outcome = f"Not too good to be true: {test} is not below {least}."
        return outcome if result.adjusted is None else f"{outcome} {self._after(result.adjusted)}"

    def _after(self, adjusted: Estimate) -> str:
        # What no predictions get below on these rows; of votes and noise that is not the Bayes error itself.
        least, name = self.result.bayes_error.naive, "the Bayes error"
        if least is None:
            least = self.result.bayes_error.value
        else:
            name = f"the least that these {self.source} allow, {figure(least)}"
        gap = adjusted.value - least
        where = "at" if abs(gap) < 1e-12 else f"{figure(abs(gap))} {'above' if gap > 0 else 'below'}"
        drawn = f"With labels drawn anew from the {self.source} its error is {_with_interval(adjusted)}"
        return f"{drawn}, {where} {name}."

    def alternatives(self) -> Iterator[str]:
        """What else than overfitting may explain an error that is too low, of what can apply."""
        source, rows = self.source, self.evidence.labels
        yield (
            f"The test labels come from another process than the {source}: from people who saw more of each "
            f"case, or saw it sharper, or from the way the cases were found. Then the {source} are less sure "
            f"than the test labels, and their Bayes error is that of a harder task."
        )
        if self.result.adjusted is None or rows is None or len(rows) != self.result.n_test:
            yield f"The test cases are of another, easier population than the rows with {source}."
        yield "Test cases, or close copies of them, were among the training cases."
        yield (
            "The model is the best of many, or the test set one of several, chosen by this error; the "
            "p-value knows of one model and one test set."
        )
        if source == CONFIDENCES:
            yield (
                "The prior is too high, the confidences are too low, or the positives with confidences are "
                "not a random sample of the positives: the Bayes error is in proportion to the prior."
            )
        elif source == VOTES:
            yield (
                "The votes are of few, hurried or careless people, or some vote at random: that pulls the "
                "shares of votes towards each other, and the Bayes error up."
            )
            if rows is not None and _uneven(rows):
                yield (
                    "How many were asked depends on how hard the case is, e.g. more where the first "
                    "disagreed: the Bayes error takes the number of votes for one that has nothing to do "
                    "with the case."
                )
        elif self.labels == NOISY:
            yield (
                "The noise of the soft labels is not right on average, or signs are wrong: a label pulled to "
                "½, or on the wrong side of it, adds to the Bayes error."
            )
        else:
            yield (
                "The soft labels are less sure than they should be, e.g. smoothed or of careless people. "
                "Noise that is right on average is no explanation: it makes the Bayes error too small."
            )

    def notes(self) -> Iterator[Note]:
        """What a reader should know of the test."""
        result, bayes, rows = self.result, self.result.bayes_error, self.evidence.labels
        yield from bayes.notes
        if bayes.identified is not None and self.is_open:
            low, high = bayes.identified
            yield Note(
                "identifiability",
                f"The evidence leaves the Bayes error open between {figure(low)} and {figure(high)}; the "
                f"test is against the lower end.",
            )
        k = result.test_error * result.n_test
        if abs(k - round(k)) > 1e-6 * max(1.0, k):
            yield Note(
                "method",
                f"{arg('test_error')} × {arg('n_test')} = {k:.5g} is no whole number of errors (a rounded "
                f"figure, or weighted cases): the p-value lies between those of its neighbours.",
            )
        if result.adjusted is not None and rows is not None:
            share = ", where q is the share of votes" if self.source == VOTES else ""
            loss = "min(q, 1−q)" if rows.n_classes == 2 else "1 − max q"
            yield Note(
                "method",
                f"By construction no predictions have an adjusted error below the mean of {loss} over these "
                f"rows{share}.",
            )
            if bayes.naive is not None:
                yield Note("method", NOT_FROM_THEM.format(self.source))
            if result.too_good:
                yield Note(
                    "method",
                    f"An adjusted error near that mean speaks for test labels that are surer than the "
                    f"{self.source}; one far above it for predictions that know the test labels.",
                )


def _apart(a: float, b: float) -> tuple[str, str]:
    """Two numbers that differ, with as many digits as it takes to see that."""
    if figure(a) != figure(b):
        return figure(a), figure(b)
    digits = next(n for n in range(4, 18) if f"{a:.{n}g}" != f"{b:.{n}g}")
    return f"{a:.{digits}g}", f"{b:.{digits}g}"


def _uneven(rows: SoftRows) -> bool:
    """Whether rows have different numbers of votes."""
    if rows.ballots is None:
        return False
    counting = rows.ballots if rows.weight is None else rows.ballots[rows.weight > 0]
    return bool((counting != counting[0]).any())


def _filled(text: str, lead: str = "") -> str:
    """Text in lines that a terminal shows whole."""
    return fill(text, WIDTH, initial_indent=lead, subsequent_indent=" " * len(lead))


def _with_interval(row: Estimate) -> str:
    return f"{figure(row.value)} ({interval_text(row)})"
