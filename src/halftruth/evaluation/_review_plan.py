"""Which cases to review: the fewest labels for the narrowest intervals.

The variance that reviewing some rows only leaves in a metric is Σ φ² p (1 − p)(1/e − 1), with φ what a
positive at a score moves in it. Each metric counts by what a random review of as many rows would leave, V, so
that the best chance (Neyman 1934) is e ∝ √(p (1−p) Σ_m φ_m²/V_m). Rows are drawn at random in strata along
the score that have equal shares of it: chances are known of rows and of pairs of rows.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from halftruth import _checks, _storage
from halftruth._checks import Vector
from halftruth._errors import InputError, arg
from halftruth.calibration._isotonic import isotonic_points
from halftruth.evaluation._estimation import FEWER_ATOMS
from halftruth.evidence import Evidence, SoftLabeled, as_evidence
from halftruth.evidence._review_files import ReviewFile, code_of
from halftruth.evidence._reviewed import fingerprint
from halftruth.inference._influence import gradients
from halftruth.inference._requests import ModelRows, Request, read_requests, thresholds_of
from halftruth.table._grid import Grid, grid_for
from halftruth.table._histogram import COMPILED, Bins
from halftruth.table._support import Sums

__all__ = ["ReviewPlan", "plan_review"]

SCHEMA = 1
IN_STRATUM = 2  # reviews drawn in a stratum: the fewest of which pairs have a chance
CERTAIN = 1 - 1e-9
FLOOR = 0.1  # share of the reviews that are spread evenly over all rows, so that no chance is 0
DOUBT = 0.1  # share of the reviews that go where a row counts, whatever evidence says of its class
NORMAL = 1.959963984540054  # of a 95% interval
BATCH = 1 << 20  # rows that are drawn from at once
COLUMNS = ("row", "score", "probability", "stratum", "round", "label")
Mask = NDArray[np.bool_]
Counts = NDArray[np.int64]


class Strata(NamedTuple):
    """Stretches of the score in which equally many rows, or nearly, are worth a review."""

    of_slot: NDArray[np.intp]
    """The stratum of each bin of the grid; −1 where no row is left to review."""
    size: Counts
    drawn: Counts

    @property
    def chance(self) -> Vector:
        return np.asarray(self.drawn / self.size)


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
    score: Vector
    fingerprint: str
    round: int = 1
    threshold: float | None = None
    variance: Mapping[str, tuple[Vector, float, float]] = field(repr=False)
    """By metric Σ φ² p (1 − p) of the rows left in each stratum, what all labels would leave, and the widest
    interval there can be."""
    grid: Grid = field(repr=False)
    strata: Strata = field(repr=False)
    done: Mask | None = field(repr=False)
    """Rows that needed no review."""

    @cached_property
    def stratum(self) -> NDArray[np.intp]:
        """The stratum of each row; −1 for those that needed no review."""
        out = self._strata_of(self.score)
        return out if self.done is None else np.where(self.done, -1, out)

    def _strata_of(self, score: Vector) -> NDArray[np.intp]:
        return self.strata.of_slot[self.grid.bins(score)]

    @cached_property
    def probability(self) -> Vector:
        return np.where(self.stratum < 0, 1.0, self.strata.chance[self.stratum])

    @cached_property
    def chance(self) -> Vector:
        """The chance of each of the rows to review."""
        return self.strata.chance[self._strata_of(self.score[self.rows])]

    @property
    def left(self) -> int:
        """How many rows there were to draw from."""
        return int(self.strata.size.sum())

    @property
    def expected(self) -> dict[str, float]:
        return self.expected_with(len(self))

    def __len__(self) -> int:
        return len(self.rows)

    def expected_with(self, n: int) -> dict[str, float]:
        """Widths to expect with another number of reviews, drawn in the same way; of all rows at most."""
        # A stratum of which all rows are reviewed leaves its share of the reviews to the others.
        chance = _capped(self.strata.size, self.strata.chance, _checks.count(n, "n", least=1))
        times = 1 / chance - 1
        return {
            k: min(float(2 * NORMAL * np.sqrt(moves @ times + rest)), widest)
            for k, (moves, rest, widest) in self.variance.items()
        }

    def joint(self, i: int, j: int) -> float:
        """The chance that two rows are both among those to review."""
        a, b = int(self.stratum[i]), int(self.stratum[j])
        if i == j or a != b or a < 0:
            return float(self.probability[i] * (1.0 if i == j else self.probability[j]))
        size, n = int(self.strata.size[a]), int(self.strata.drawn[a])
        return n * (n - 1) / (size * (size - 1))

    def save(self, path: str | Path, *, copy: Mapping[str, Sequence[Any]] | None = None) -> None:
        """Write the rows to review as CSV, with their chances and an empty column for the labels.

        ``copy`` has columns by which people find the case, ids or names: a cell for each of ``rows``.
        """
        more = dict(copy or {})
        for name, cells in more.items():
            if name in COLUMNS:
                raise InputError(f"{arg('copy')} has {name!r}, a column of every plan. Name another one.")
            if len(cells) != len(self):
                raise InputError(
                    f"{arg('copy')} must have a cell of {name!r} for each of the {len(self)} rows to review, "
                    f"got {len(cells)}. Pass those at `plan.rows`, in that order."
                )
        text = StringIO()
        rows = f"rows {len(self)} of {self.left} as {code_of(self.rows)}"
        known_by = f"scores {self.fingerprint}; round {self.round}; {rows}"
        cut = "" if self.threshold is None else f"; threshold {self.threshold!r}"
        purpose = f"metrics {' '.join(quote(name, safe='()=') for name in self.variance)}{cut}"
        text.write(f"# halftruth review plan {SCHEMA}; {known_by}; {purpose}\n")
        out = csv.writer(text, lineterminator="\n")
        first, *rest = COLUMNS
        out.writerow([first, *more, *rest])
        score = self.score[self.rows]
        lines = zip(self.rows, score, self.chance, self._strata_of(score), *more.values(), strict=True)
        for row, at, chance, stratum, *cells in lines:
            numbers = repr(float(at)), repr(float(chance))
            out.writerow([int(row), *cells, *numbers, int(stratum), self.round, ""])
        ReviewFile.check_target(str(path))
        _storage.write(path, text.getvalue())

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
    decides where to look: whatever it is, the reviews stay valid. Rows are told apart by 65,536 steps of the
    score: rows within one step have one chance.

    Examples
    --------
    >>> import halftruth as ht, numpy as np
    >>> plan = ht.plan_review(np.linspace(0.01, 0.99, 500), 40, metrics="recall", threshold=0.5)
    >>> len(plan), bool(plan.probability.min() > 0), round(float(plan.probability.sum()))
    (40, True, 40)
    """
    how = {"evidence": evidence, "known_positive": known_positive, "reviewed": reviewed, "round": round}
    return plan_rows(_checks.scores(y_score, "y_score"), n, metrics, threshold=threshold, rng=rng, **how)


def plan_rows(
    score: Vector,
    n: int,
    metrics: Any,
    *,
    evidence: Evidence | None,
    threshold: float | None,
    known_positive: Any,
    reviewed: Any,
    round: int,  # noqa: A002
    rng: int | np.random.Generator,
) -> ReviewPlan:
    """The plan of checked scores, which are kept as they are: they may be all that memory holds."""
    n, threshold = _checks.count(n, "n", least=1), None if threshold is None else _checks.threshold(threshold)
    evidence = None if evidence is None else as_evidence(evidence)
    positive, seen = (
        None if given is None else _checks.binary_labels(given, name, length=len(score))
        for given, name in ((known_positive, "known_positive"), (reviewed, "reviewed"))
    )
    done = positive if seen is None else seen if positive is None else positive | seen
    n_left = len(score) - (0 if done is None else int(done.sum()))
    if not n_left:
        raise InputError("No row is left to review: all are known. Evaluate them.")
    if n > n_left:
        raise InputError(argument="n", must=f"be {n_left} at most, the rows that are left to review", got=n)
    grid = grid_for(np.asarray([score.min(), score.max()]))
    bins = Bins.of(grid, score)
    left, found = bins.rows.copy(), np.zeros(len(bins.rows), dtype=np.int64)
    for of, mask in ((left, done), (found, positive)):
        if mask is not None and mask.any():
            some = Bins.of(grid, score[mask])
            np.add.at(of, np.searchsorted(bins.index, some.index), -some.rows if of is left else some.rows)
    requests = _requests(metrics, bins, threshold)
    need, moves = _needs(bins, found, evidence, requests)
    of_bin, size, drawn = _strata(left, need, n)
    of_slot = np.full(grid.n_slots, -1, dtype=np.intp)
    of_slot[bins.index] = of_bin
    strata = Strata(of_slot, size, drawn)
    inside = of_bin >= 0

    def by_stratum(of_row: Vector) -> Vector:
        return np.asarray(np.bincount(of_bin[inside], (left * of_row)[inside], len(size)), dtype=np.float64)

    return ReviewPlan(
        rows=_draw(score, done, grid, strata, np.random.default_rng(rng)),
        score=score,
        fingerprint=fingerprint(score),
        round=_checks.count(round, "round", least=1),
        threshold=threshold,
        variance={
            r.label: (by_stratum(moves[r.label][0]), moves[r.label][1], float(np.ptp(r.limits)))
            for r in requests
        },
        grid=grid,
        strata=strata,
        done=done,
    )


def _requests(metrics: Any, bins: Bins, threshold: float | None) -> tuple[Request, ...]:
    measure = SoftLabeled(np.full(2, 0.5), [bins.low[0], bins.high[-1]]).measure()
    requests = read_requests(metrics, [measure], threshold)
    rough = [r.label for r in requests if not r.smooth(curves=True)]
    if rough:
        raise InputError(
            f"{arg('metrics')} has {rough[0]!r}, which does not change smoothly with who is positive: no "
            "plan can be made for it. Plan for brier, roc_auc or rates at a threshold instead; its interval "
            "is given all the same."
        )
    return requests


def _guess(bins: Bins, score: Vector, evidence: Evidence | None) -> Vector:
    """P(positive) at each bin, as far as anything is known; never 0 or 1, which would say that we know."""
    n = int(bins.rows.sum())
    if evidence is not None and (likely := evidence.likely(score)) is not None:
        share = likely
    elif evidence is not None:
        measure = evidence.measure()
        if measure.unidentified is not None:
            raise InputError(
                f"{arg('evidence')} does not say how many are positive, and a plan needs a guess. Give it a "
                "prior: a plan stays valid whatever that is."
            )
        share = np.interp(score, *isotonic_points(measure))
    elif bins.low[0] >= 0 and bins.high[-1] <= 1 and np.sum(bins.rows * score) >= 1:
        share = score
    else:  # no probabilities, or such as expect no positive at all
        share = (np.cumsum(bins.rows) - bins.rows / 2) / n
    return np.clip(share, min(1 / n, 0.01), 1 - min(1 / n, 0.01))


def _needs(
    bins: Bins, found: Counts, evidence: Evidence | None, requests: tuple[Request, ...]
) -> tuple[Vector, dict[str, tuple[Vector, float]]]:
    """How much a row of each bin is worth a review.

    And by metric: φ² p (1 − p) of such a row, and the variance that is left with all labels known.
    """
    score = (bins.low + bins.high) / 2
    guess = _guess(bins, score, evidence)
    pool = SoftLabeled(guess, score, sample_weight=bins.rows)
    support = pool.table.support.coarse(2 * FEWER_ATOMS, thresholds_of(requests))
    model = ModelRows(pool, support)

    def values(sums: Sums) -> dict[Request, Any]:
        return model.values(requests, pool.scenario, sums)

    slopes = gradients(values, support)
    first = support.score if support.edge is None else support.edge
    atom = np.searchsorted(first, score, side="right") - 1
    rows, positives = (np.bincount(atom, x, len(first)) for x in (bins.rows, bins.rows * guess))
    # Positives known otherwise are no news: of the rows around a score, the others are positive less often.
    known = np.bincount(atom, found, len(first))
    rest = np.clip((positives - known) / np.maximum(rows - known, 1.0), 0.1 * positives / rows, 1.0)
    share = np.where(known > 0, rest, positives / rows)
    p, total, unguessed, out = positives / rows, np.zeros(len(rows)), np.zeros(len(rows)), {}
    for r in requests:
        of_row, of_positive = slopes[r]["soft", "weight"], slopes[r]["soft", "value"]
        if not np.isfinite(of_positive).all():
            at = thresholds_of([r])
            why = "as far as is known no positive is to be expected"
            if at and not bins.low[0] < at[0] <= bins.high[-1]:
                side = "below" if at[0] <= bins.low[0] else "at or above"
                why = f"no score is {side} {at[0]:g}: they lie from {bins.low[0]:g} to {bins.high[-1]:g}"
            raise InputError(f"{r.label} has no value: {why}. Plan for other metrics, or another threshold.")
        each = of_positive**2 * share * (1 - share)
        left = max(float(np.sum(rows * each)), 1e-300)  # by a random review
        total, unguessed = total + each / left, unguessed + of_positive**2 / left
        all_known = float(np.sum(rows * (p * (of_row + of_positive) ** 2 + (1 - p) * of_row**2)))
        out[r.label] = each[atom], all_known
    needs = [np.sqrt(x) / max(float(np.sum(rows * np.sqrt(x))), 1e-300) for x in (total, unguessed)]
    # Evidence that rests on a wrong prior, or on biased labels, is surest where it is wrong.
    doubt = 0.0 if evidence is None else DOUBT
    return ((1 - doubt) * needs[0] + doubt * needs[1])[atom], out


def _strata(left: Counts, need: Vector, n: int) -> tuple[NDArray[np.intp], Counts, Counts]:
    """The stratum of each bin, and how many rows each has and gets drawn.

    Along the score, each has `IN_STRATUM` expected reviews or the few that a bin cannot be parted into. Bins
    that are certain to be reviewed are strata of their own.
    """
    total = float(np.sum(left * need))
    share = (1 - FLOOR) * need / max(total, 1e-300) + FLOOR / int(left.sum())
    if total == 0:
        share = np.full(len(left), 1 / int(left.sum()))
    chance = _capped(left, share, n)
    certain, open_bins = (chance >= CERTAIN) & (left > 0), (chance < CERTAIN) & (left > 0)
    of_bin = np.full(len(left), -1, dtype=np.intp)
    size, drawn = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    if open_bins.any():
        rows, expected = left[open_bins], (left * chance)[open_bins]
        reach = np.cumsum(expected)
        number = np.floor((reach - expected / 2) / IN_STRATUM)
        starts = np.flatnonzero(np.append(True, np.diff(number) > 0))
        n_open = n - int(left[certain].sum())
        starts, size, drawn = _enough(starts, rows, expected, n_open)
        of_bin[open_bins] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(rows))))
    if certain.any():
        of_bin[certain] = len(size)
        size, drawn = (np.append(x, left[certain].sum()) for x in (size, drawn))
    return of_bin, size, drawn


def _enough(
    starts: NDArray[np.intp], rows: Counts, expected: Vector, n: int
) -> tuple[NDArray[np.intp], Counts, Counts]:
    """Strata joined until each has `IN_STRATUM` reviews, or all of its rows; the reviews add up to n."""
    while True:
        size = np.add.reduceat(rows, starts)
        reach = np.cumsum(np.add.reduceat(expected, starts))
        drawn = np.diff(np.rint(reach / reach[-1] * n), prepend=0).astype(np.int64)
        few = np.flatnonzero(drawn < np.minimum(IN_STRATUM, size))
        full = np.flatnonzero(drawn > size)
        if len(starts) == 1 or not len(few) + len(full):
            return starts, size, drawn
        # It joins the stratum before it, the first one the next.
        wrong = few[0] if len(few) else full[0]
        starts = np.delete(starts, max(int(wrong), 1))


def _capped(left: Counts, share: Vector, n: int) -> Vector:
    """Chances min(1, λ share) that add up to n: what one row cannot take goes to the others."""
    if n >= int(left.sum()):
        return np.ones(len(share))
    low, high = 0.0, 1 / share[left > 0].min()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.sum(left * np.minimum(1.0, middle * share)) < n else (low, middle)
    return np.asarray(np.minimum(1.0, high * share))


def _draw(
    score: Vector, done: Mask | None, grid: Grid, strata: Strata, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Rows drawn at random in each stratum, as many as it gets.

    Each row gets a random number, and those with the smallest are drawn. Only rows with one that is small for
    their stratum are kept, a few times as many as are drawn.
    """
    seed = rng.spawn(1)[0]
    spare = 10.0
    while True:
        limit = np.minimum(1.0, (strata.drawn + 6 * np.sqrt(strata.drawn) + spare) / strata.size)
        limit = np.append(limit, 0.0)  # of stratum −1, where no row is left
        stream, parts = seed.spawn(1)[0], []
        for start in range(0, len(score), BATCH):
            chunk = score[start : start + BATCH]
            stratum, number = strata.of_slot[_bins(grid, chunk)], stream.random(len(chunk))
            small = number < limit[stratum]
            if done is not None:
                small &= ~done[start : start + BATCH]
            at = np.flatnonzero(small)
            parts.append((at + start, stratum[at], number[at]))
        row, stratum, number = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.lexsort((number, stratum))
        row, stratum = row[order], stratum[order]
        rank = np.arange(len(row)) - np.searchsorted(stratum, stratum)
        rows = row[rank < strata.drawn[stratum]]
        if len(rows) == strata.drawn.sum():
            return rng.permutation(rows)
        spare *= 8  # hardly ever were so few of a stratum kept


def _bins(grid: Grid, score: Vector) -> NDArray[Any]:
    if len(score) < COMPILED:
        return grid.bins(score)
    from halftruth.kernels._row_bins import bins_of

    return bins_of(score, **grid.to_dict())
