"""Which cases to review: the fewest labels for the narrowest intervals.

The variance that reviewing some rows only leaves in a metric is Σ φ² p (1 − p)(1/e − 1), with φ what a
positive
at a score moves in it. Rows are drawn in strata along the score that have equal shares of Σ √(Σ_m φ_m²
p (1−p) /
V_m), so that e is near Neyman's (1934) best chance, and in each stratum at random: chances are known of rows
and of pairs of rows.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, arg
from halftruth.calibration._isotonic import isotonic_points
from halftruth.evaluation._estimation import FEWER_ATOMS
from halftruth.evidence import Evidence, SoftLabeled
from halftruth.evidence._reviewed import fingerprint
from halftruth.inference._influence import gradients
from halftruth.inference._requests import ModelRows, Request, read_requests, thresholds_of
from halftruth.table._support import Sums

__all__ = ["ReviewPlan", "plan_review"]

SCHEMA = 1
IN_STRATUM = 2  # reviews drawn in a stratum: the fewest of which pairs have a chance
CERTAIN = 1e-9
FLOOR = 0.1  # share of the reviews that are spread evenly over all rows, so that no chance is 0
NORMAL = 1.959963984540054  # of a 95% interval
COLUMNS = ("row", "score", "probability", "round", "label")


@dataclass(frozen=True, kw_only=True, eq=False)
class ReviewPlan:
    """Rows to review, the chance of every row, and the widths to expect.

    Attributes
    ----------
    rows : (n,) array of int
        The rows to review, in an order that says nothing of their scores.
    probability : (n_rows,) array
        The chance of each row to be among them; 1 for rows that are known already.
    expected : dict of str to float
        Width of the 95% interval to expect, by metric.
    fingerprint : str
        Of the scores for which the plan was made.

    Examples
    --------
    >>> import halftruth as ht
    >>> score = [0.95, 0.9, 0.7, 0.4, 0.3, 0.2, 0.1, 0.05]
    >>> plan = ht.plan_review(score, 4, metrics="precision", threshold=0.5)
    >>> isinstance(plan, ht.ReviewPlan), plan.rows.size
    (True, 4)
    >>> labels = [1.0 if score[row] > 0.6 else 0.0 for row in plan.rows]
    >>> ht.Reviewed.from_plan(plan, score, labels).n_reviewed
    4
    """

    rows: NDArray[np.intp]
    probability: Vector
    score: Vector
    expected: Mapping[str, float]
    fingerprint: str
    round: int = 1
    stratum: NDArray[np.intp] = field(repr=False)
    drawn: NDArray[np.intp] = field(repr=False)
    """How many rows of each stratum were drawn."""

    @property
    def chance(self) -> Vector:
        """The chance of each of the rows to review."""
        return self.probability[self.rows]

    def __len__(self) -> int:
        return len(self.rows)

    def expected_with(self, n: int) -> dict[str, float]:
        """Widths to expect with another number of reviews, drawn in the same way."""
        _checks.count(n, "n", least=1)
        return {name: float(x * np.sqrt(len(self) / n)) for name, x in self.expected.items()}

    def joint(self, i: int, j: int) -> float:
        """The chance that two rows are both among those to review."""
        a, b = int(self.stratum[i]), int(self.stratum[j])
        if i == j or a != b:
            return float(self.probability[i] * (1.0 if i == j else self.probability[j]))
        size, n = int(np.sum(self.stratum == a)), int(self.drawn[a])
        return float(n * (n - 1) / (size * (size - 1)))

    def save(self, path: str | Path) -> None:
        """Write the rows to review as CSV, with their chances and an empty column for the labels."""
        text = StringIO()
        text.write(f"# halftruth review plan {SCHEMA}; scores {self.fingerprint}; round {self.round}\n")
        out = csv.writer(text, lineterminator="\n")
        out.writerow(COLUMNS)
        for row in self.rows:
            out.writerow(
                [int(row), repr(float(self.score[row])), repr(float(self.probability[row])), self.round, ""]
            )
        Path(path).write_text(text.getvalue(), encoding="utf-8")

    def __repr__(self) -> str:
        widths = ", ".join(f"{name} {x:.3g}" for name, x in self.expected.items())
        return f"ReviewPlan({len(self)} of {len(self.score)} rows; widths to expect: {widths})"


def plan_review(
    y_score: Any,
    n: int,
    *,
    metrics: str | Sequence[str] = ("roc_auc",),
    evidence: Evidence | None = None,
    threshold: float | None = None,
    known_positive: Any = None,
    reviewed: Any = None,
    round: int = 1,  # noqa: A002  the word that users know
    rng: int | np.random.Generator = 0,
) -> ReviewPlan:
    """Which rows to review, so that the named metrics get narrow intervals.

    Parameters
    ----------
    y_score : (n_rows,) array
    n : int
        How many rows to review.
    metrics : name or names
        Those whose intervals are to be narrow; each must change smoothly with the share of positives, as all
        but calibration errors and budgets do.
    evidence : evidence, optional
        What is known already of who is positive: positives and unlabeled, or the reviews of a pilot, with
        these scores. Without it the scores are read as probabilities, where they lie in [0, 1], or as ranks.
    threshold : float, optional
    known_positive : (n_rows,) array of bool, optional
        Rows that need no review.
    reviewed : (n_rows,) array of bool, optional
        Rows that were reviewed in earlier rounds; they are not drawn again.
    rng : int or numpy Generator

    Returns
    -------
    ReviewPlan

    Notes
    -----
    A tenth of the reviews is spread evenly over all rows, so that no chance is 0. What is known already only
    decides where to look: whatever it is, the reviews stay valid.

    Examples
    --------
    >>> import halftruth as ht, numpy as np
    >>> plan = ht.plan_review(np.linspace(0.01, 0.99, 500), 40, metrics="recall", threshold=0.5)
    >>> len(plan), bool(plan.probability.min() > 0), round(float(plan.probability.sum()))
    (40, True, 40)
    """
    score = _checks.scores(y_score, "y_score")
    n = _checks.count(n, "n", least=1)
    done = np.zeros(len(score), dtype=bool)
    for given, name in ((known_positive, "known_positive"), (reviewed, "reviewed")):
        if given is not None:
            done |= _checks.binary_labels(given, name, length=len(score))
    left = np.flatnonzero(~done)
    if n > len(left):
        raise InputError(
            argument="n", must=f"be {len(left)} at most, the rows that are left to review", got=n
        )
    requests = _requests(metrics, score, threshold)
    guess = _guess(score, evidence)
    need, moves = _needs(score[left], guess[left], requests)
    stratum, drawn, rows = _draw(score[left], need, n, np.random.default_rng(rng))
    chance = (drawn / np.bincount(stratum, minlength=len(drawn)))[stratum]
    probability, of_all = np.ones(len(score)), np.full(len(score), -1, dtype=np.intp)
    probability[left], of_all[left] = chance, stratum
    spread = guess[left] * (1 - guess[left]) * (1 / chance - 1)
    return ReviewPlan(
        rows=left[rows],
        probability=probability,
        score=score,
        expected={k: float(2 * NORMAL * np.sqrt(np.sum(x**2 * spread))) for k, x in moves.items()},
        fingerprint=fingerprint(score),
        round=_checks.count(round, "round", least=1),
        stratum=of_all,
        drawn=drawn,
    )


def _requests(metrics: Any, score: Vector, threshold: float | None) -> tuple[Request, ...]:
    measure = SoftLabeled(np.full(len(score), 0.5), score).measure()
    requests = read_requests(metrics, [measure], None if threshold is None else _checks.threshold(threshold))
    rough = [r.label for r in requests if not r.smooth(curves=True)]
    if rough:
        raise InputError(
            f"{arg('metrics')} has {rough[0]!r}, which does not change smoothly with who is positive: "
            f"no plan "
            "can be made for it. Plan for brier, roc_auc or rates at a threshold instead; its interval "
            "is given "
            "all the same."
        )
    return requests


def _guess(score: Vector, evidence: Evidence | None) -> Vector:
    """P(positive) of each row, as far as anything is known; never 0 or 1, which would say that we know."""
    n = len(score)
    if evidence is not None:
        measure = evidence.measure()
        if measure.unidentified is not None:
            raise InputError(
                f"{arg('evidence')} does not say how many are positive, and a plan needs a guess. Give it a "
                "prior: a plan stays valid whatever that is."
            )
        share = np.interp(score, *isotonic_points(measure))
    elif score.min() >= 0 and score.max() <= 1:
        share = score
    else:
        share = (np.argsort(np.argsort(score, kind="stable"), kind="stable") + 0.5) / n
    return np.clip(share, min(1 / n, 0.01), 1 - min(1 / n, 0.01))


def _needs(score: Vector, guess: Vector, requests: tuple[Request, ...]) -> tuple[Vector, dict[str, Vector]]:
    """How much each row adds to what is not known of the metrics; and what a positive moves in each."""
    evidence = SoftLabeled(guess, score)
    support = evidence.table.support.coarse(2 * FEWER_ATOMS, thresholds_of(requests))
    model = ModelRows(evidence, support)

    def values(sums: Sums) -> dict[Request, Any]:
        return model.values(requests, evidence.scenario, sums)

    slopes = gradients(values, support)
    first = support.score if support.edge is None else support.edge
    atom = np.searchsorted(first, score, side="right") - 1
    moves = {r.label: slopes[r]["soft", "value"][atom] for r in requests}
    spread = np.sqrt(guess * (1 - guess))
    total = np.zeros(len(score))
    for slope in moves.values():
        each = np.abs(slope) * spread
        # Of each metric as a share of the least variance that it alone could have, (Σ |φ| √(p(1−p)))²/n.
        total += (each / max(each.sum(), 1e-300)) ** 2
    return np.sqrt(total), moves


def _draw(
    score: Vector, need: Vector, n: int, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Stratum of each row, how many are drawn in each, and the rows drawn."""
    order = np.argsort(score, kind="stable")
    share = need[order] / max(need.sum(), 1e-300)
    share = (1 - FLOOR) * share + FLOOR / len(score)
    chance = _capped(share, n)
    certain = chance > 1 - CERTAIN
    # Strata have IN_STRATUM expected reviews each, in the order of the scores; the rest have all of theirs.
    n_certain = int(certain.sum())
    n_random = n - n_certain
    stratum = np.zeros(len(score), dtype=np.intp)
    drawn: list[int] = []
    if n_random:
        n_strata = max(1, n_random // IN_STRATUM)
        reach = np.cumsum(np.where(certain, 0.0, chance))
        place = np.minimum((reach - chance / 2) / max(reach[-1], 1e-300) * n_strata, n_strata - 1e-9)
        stratum = np.floor(np.clip(place, 0, None)).astype(np.intp)
        drawn = [IN_STRATUM + (k < n_random - IN_STRATUM * n_strata) for k in range(n_strata)]
        if n_strata == 1:
            drawn = [n_random]
        stratum, drawn = _enough(stratum, certain, drawn)
    stratum = np.where(certain, len(drawn), stratum)
    drawn += [n_certain] if n_certain else []
    rows = [
        rng.choice(order[stratum == k], size, replace=False) if size else np.zeros(0, dtype=np.intp)
        for k, size in enumerate(drawn)
    ]
    of_row = np.empty_like(stratum)
    of_row[order] = stratum
    return of_row, np.asarray(drawn, dtype=np.intp), rng.permutation(np.concatenate(rows))


def _enough(
    stratum: NDArray[np.intp], certain: NDArray[np.bool_], drawn: list[int]
) -> tuple[NDArray[np.intp], list[int]]:
    """Strata of fewer rows than reviews join a neighbour."""
    sizes = np.bincount(stratum[~certain], minlength=len(drawn))
    to, n_of, rows_of = np.zeros(len(drawn), dtype=np.intp), [0], [0]
    for k, (size, number) in enumerate(zip(sizes, drawn, strict=True)):
        to[k] = len(n_of) - 1
        n_of[-1] += number
        rows_of[-1] += int(size)
        if rows_of[-1] > n_of[-1] and k + 1 < len(drawn):
            n_of.append(0)
            rows_of.append(0)
    while len(n_of) > 1 and rows_of[-1] <= n_of[-1]:
        last = n_of.pop(), rows_of.pop()
        n_of[-1], rows_of[-1] = n_of[-1] + last[0], rows_of[-1] + last[1]
        to = np.minimum(to, len(n_of) - 1)
    return to[stratum], n_of


def _capped(share: Vector, n: int) -> Vector:
    """Chances min(1, λ share) that add up to n: what one row cannot take goes to the others."""
    if n >= len(share):
        return np.ones(len(share))
    low, high = 0.0, 1 / share.min()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.minimum(1.0, middle * share).sum() < n else (low, middle)
    return np.asarray(np.minimum(1.0, high * share))
