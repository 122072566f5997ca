"""Labels, chances and known positives of reviewed cases as people give them, refused where they cannot be."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import lgamma, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, arg, call
from halftruth.evidence._review_files import named, refuse_missing

__all__ = [
    "chance_of_others", "plan_labels", "read_labels", "refuse_all_found", "refuse_denied",
    "refuse_found_as_known", "refuse_lost_rows", "shares_of", "times_of",
]  # fmt: skip

BY_CHANCE = 0.01  # below this chance, known rows were not reviewed by chance
SELDOM = 5.0  # standard deviations by which a true design misses its number of reviews once in a million
NEVER, TIMES = 10.0, 2.0  # standard deviations and factor by which no design misses its number of reviews
SHARES_BELOW = 0.9, 0.99  # of all rows: scores above which reviews are counted
SAMPLE = 10_000  # rows that tell these scores, and the chances that there are
SHARES = 16  # parts by their chance, where there are more
TOO_MANY = 3  # positives that reviews found, all of which are known otherwise
FOUND = (
    "Leave out of it those that are known by the reviews: each of them stands for many other rows. Of rows "
    "that are known otherwise, leave the label out."
)


def read_labels(label: Any, n: int) -> Vector:
    """1, 0 and NaN."""
    masks = _checks.vector(label, "label", missing=True, length=n)
    wrong = ~(np.isnan(masks) | (masks == 0) | (masks == 1))
    must, remedy = (
        "be 1 or 0 for reviewed rows, NaN or None for the others",
        "A soft label is for SoftLabeled.",
    )
    _checks.refuse_values(wrong, masks, "label", must, "other value(s)", remedy, digits="g")
    return masks


def refuse_denied(against: NDArray[np.intp], *, errs: bool, plan: Any = None) -> None:
    """Refuse rows that are positive for certain, and that a reviewer who never ``errs`` called negative."""
    if len(against) and not errs:
        label = arg("label") if plan is None else f"label in {named(plan)}"
        raise InputError(
            f"{arg('known_positive')} says that row {against[0]} is positive, and its {label} is 0 "
            f"({len(against)} such row(s)). Mend one of the two."
        )


def times_of(
    probability: Any, score: Vector, said: Vector, known_rows: NDArray[np.intp]
) -> tuple[Vector, str | None]:
    """1/e of each row, inf where it is 0, and what speaks against these chances."""
    n = len(said)
    known = np.zeros(n, dtype=bool)
    known[known_rows] = True
    reviewed = ~np.isnan(said) & ~known
    given = (
        np.full(n, _checks.number(probability, "probability")) if np.ndim(probability) == 0 else probability
    )
    chance = _checks.vector(given, "probability", length=n)
    must, remedy = "lie in (0, 1], or be 0 where nobody could look", "It is each row's chance to be reviewed."
    wrong = ~((chance >= 0) & (chance <= 1)) & ~known
    _checks.refuse_values(wrong, chance, "probability", must, "value(s) outside", remedy, digits="g")
    impossible = reviewed & (chance == 0)
    if impossible.any():
        raise InputError(
            f"{arg('label')} has {impossible.sum()} row(s) that were reviewed though their "
            f"{arg('probability')} is 0, the first at index {np.argmax(impossible)}. Give the chance by "
            "which they were chosen, or leave their label out."
        )
    missed = (chance == 1) & ~reviewed & ~known
    if missed.any():
        raise InputError(
            f"{arg('label')} is missing for {missed.sum()} row(s) whose {arg('probability')} of a "
            f"review is 1, the first at index {np.argmax(missed)}. Give their labels, or name them by "
            f"{arg('known_positive')} if they are positives that needed no review; where labels cannot be "
            "had, give the chance 0, which bounds what these rows could be."
        )
    others = ~known if len(known_rows) else slice(None)
    doubt = _other_numbers(score[others], chance[others], reviewed[others])
    twice = known & ~np.isnan(said)
    unsure = known & (chance < 1)
    sure = (said == 1) & known & ~unsure
    refuse_all_found((said == 1) & ~sure, known, float(chance[unsure & ~twice].sum()), int(sure.sum()))
    _refuse_by_chance(int((twice & unsure).sum()), float(chance[unsure].sum()))
    with np.errstate(divide="ignore"):
        return np.where(known, 1.0, 1 / chance), doubt


def _other_numbers(score: Vector, chance: Vector, reviewed: NDArray[np.bool_]) -> str | None:
    """Refuse chances by which far more rows are reviewed than were, or far fewer, of all or of a part.

    What is said of those that are beyond chance, and no more.
    """
    doubts = [_other_number(chance, int(reviewed.sum()))]
    # Rows that were sure to be reviewed hide what was missed among the others.
    values = np.unique(chance[:: 1 + len(chance) // SAMPLE])
    values = values[values > 0]
    if len(values) > SHARES:
        values = np.quantile(values, np.arange(SHARES) / SHARES, method="lower")
    for low, high in pairwise([*values, np.inf]) if len(values) > 1 else ():
        part = (chance >= low) & (chance < high)
        at = f"of {low:.4g}" if (chance[part] == low).all() else f"from {low:.4g} up"
        doubts.append(_other_number(chance[part], int(reviewed[part].sum()), f" of rows with a chance {at}"))
    # Who takes for random what was chosen by the score has the right number of reviews at the wrong scores.
    for cut in np.quantile(score[:: 1 + len(score) // SAMPLE], SHARES_BELOW) if len(score) else ():
        above = score >= cut
        score, chance, reviewed = score[above], chance[above], reviewed[above]
        where = f" of rows that score {cut:.4g} or more"
        doubts.append(_other_number(chance, int(reviewed.sum()), where))
    return next(filter(None, [*doubts[1:], doubts[0]]), None)  # of a part, where it is one


def _other_number(chance: Vector, n_reviewed: int, where: str = "") -> str | None:
    expected = float(chance.sum())
    spread = max(expected - float(chance @ chance), 0.0) ** 0.5
    ratio = max(n_reviewed, expected) / max(min(n_reviewed, expected), 1e-300)
    errors = abs(n_reviewed - expected) / max(spread, 1.0)
    if errors > NEVER and ratio >= TIMES:
        raise InputError(
            f"{arg('probability')} adds up to {expected:.6g} reviews{where}, and {n_reviewed} rows were "
            "reviewed. Give the chance that each row had; if it is not known: "
            f"{call('leave it to be estimated from the score', '--review-chance estimate')}."
        )
    if errors <= SELDOM:
        return None
    return (
        f"The chances that were given add up to {expected:.5g} reviews{where}, and {n_reviewed} rows were "
        f"reviewed: {errors:.1f} standard errors off. Numbers are right only if the chances are"
    )


def refuse_all_found(found: NDArray[np.bool_], known: NDArray[np.bool_], expected: float, sure: int) -> None:
    """Refuse known positives among which are all that reviews found by chance, besides those that were sure.

    Not where hardly any positive is unknown: about as many reviews as they found were then ``expected`` of
    the known positives that nobody reviewed.
    """
    n_twice = int((found & known).sum())
    surprise = n_twice > TIMES * expected
    if n_twice >= TOO_MANY and surprise and not (found & ~known).any() and not known.all():
        raise InputError(
            f"{arg('known_positive')} has all {n_twice + sure} positives that reviews found. {FOUND}"
        )


def _refuse_by_chance(n_twice: int, expected: float) -> None:
    """Refuse known positives of which more were reviewed, ``n_twice``, than their chances allow."""
    # At least k of independent events of which μ are expected: μᵏ/k! bounds the chance, and (eμ/k)ᵏ e⁻ᵘ.
    k, mean = n_twice, max(expected, 1e-300)
    if k <= mean:
        return
    chance = min(k * log(mean) - lgamma(k + 1), k * (1 + log(mean / k)) - mean)
    if chance < log(BY_CHANCE):
        raise InputError(
            f"{arg('known_positive')} has {n_twice} row(s) that were reviewed by chance, where "
            f"{expected:.3g} were to be expected. {FOUND}"
        )


def chance_of_others(plan: Any, score: Vector, known: NDArray[np.bool_], looked: NDArray[np.intp]) -> float:
    """How many reviews a plan expects of known positives that it did not draw, by the chances near them."""
    others = known.copy()
    others[looked] = False
    at = score[plan.rows]
    order = np.argsort(at)
    return float(np.interp(score[others], at[order], np.asarray(plan.chance)[order]).sum())


def plan_labels(plan: Any, labels: Any, missing: str, known: NDArray[np.bool_]) -> Vector:
    """A label for each row of a plan; what is ``known`` to be positive needs none."""
    said = read_labels(_in_order(labels, np.asarray(plan.rows)), len(plan.rows))
    said[np.isnan(said) & known[plan.rows]] = 1.0
    if _checks.choice(missing, "missing", ("error", "bounds")) == "error":
        refuse_missing(plan, said, arg("missing", "bounds"))
    return said


def _in_order(labels: Any, rows: NDArray[np.intp]) -> Any:
    """Labels in the order of the plan, where they are a Series that names its rows in another."""
    index = getattr(labels, "index", None)
    if index is None or callable(index) or not np.array_equal(np.sort(index), np.sort(rows)):
        return labels
    if np.array_equal(index, np.arange(len(rows))) and not np.array_equal(index, rows):
        raise InputError(
            f"{arg('labels')} is a Series whose index may be the rows, or places in the plan. Pass an array "
            "in the order of the plan."
        )
    return labels.loc[rows]


def shares_of(rounds: Sequence[Any]) -> Vector:
    """How much each round counts: by its reviews n, over the share of the N rows left that it leaves out.

    Of a simple random sample the variance goes with (1 − n/N)/n.
    """
    left = np.asarray([float(each.left) for each in rounds])
    n = np.asarray([len(each.rows) for each in rounds], dtype=np.float64)
    out = 1 - n / left
    # What reviews all that is left says it all.
    weight = (out == 0).astype(float) if (out == 0).any() else n / out
    return np.asarray(weight / weight.sum())


def refuse_lost_rows(rounds: Sequence[Any], n: int, known: NDArray[np.intp]) -> None:
    """Refuse rounds that were not drawn from all rows that those before left, but for known ones."""
    done = np.zeros(0, dtype=np.intp)
    for each in rounds:
        left, n_known = n - len(done), int((~np.isin(known, done)).sum())
        if not left - n_known <= each.left <= left:
            without = f" ({left - n_known} without those that are {arg('known_positive')})" if n_known else ""
            forgotten = "" if n_known else f", and {arg('known_positive')} if it was planned with that"
            raise InputError(
                f"Round {each.round} was planned when {each.left} rows were left to review, and by what was "
                f"passed {left} were{without}. Pass every earlier round too{forgotten}."
            )
        done = np.concatenate([done, each.rows])


def refuse_found_as_known(rounds: Sequence[Any], n: int, known: NDArray[np.intp]) -> None:
    """Refuse positives that reviews found as known ones.

    Where the plan stands for all rows but the other known positives, it was made when only these were known.
    """
    rows, chance = (np.concatenate([getattr(x, name) for x in rounds]) for name in ("rows", "chance"))
    twice = np.isin(rows, known) & (chance < 1)
    planned = n - (len(known) - int(np.isin(rows, known).sum()))
    if rounds[0].left == planned:
        # Others were known when it was made, and these were not; or all known ones happened to be drawn.
        _refuse_by_chance(int(twice.sum()), 0.0 if planned < n else float(chance[twice].sum()))
