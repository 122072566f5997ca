"""How rows were chosen for review, and what of the noise that leaves more reviews would take away."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from halftruth._checks import Vector
from halftruth._errors import InputError, NotIdentifiable, arg
from halftruth.measure._fitted_guess import Guess
from halftruth.prior._belief import Belief
from halftruth.table._score_table import NEGATIVE, POSITIVE, SOFT, UNLABELED, ScoreTable

__all__ = ["SAID", "ReviewBand", "ReviewDesign", "Reviews", "design_of"]

SAID = {POSITIVE: 1.0, NEGATIVE: 0.0}  # what reviewers said of a row
N_BANDS = 10
SIDE = 5  # reviews, or rows that nobody could look at, on each side of a jump
JUMP = 2.0  # of the chance of a review, upwards or downwards


@dataclass(frozen=True, kw_only=True)
class ReviewBand:
    """Rows of neighbouring scores, ``low`` to ``high``."""

    low: float
    high: float
    rows: int
    reviewed: int
    positive: int
    """How many of those reviewed were found positive."""
    chance: tuple[float, float]
    """Of a review: the smallest and the largest of the rows that were reviewed; 0 where none was."""
    stands_for: float
    """How many rows a review stands for, on average; 0 where there is none."""
    open_rows: int = 0
    """Those that nobody could look at."""


@dataclass(frozen=True, eq=False)
class Reviews:
    """The reviewed rows, a number for each of them."""

    score: Vector
    weight: Vector
    times: Vector
    """How many rows it stands for, 1/e."""
    positive: Vector
    """1 where it was found positive, 0 where not."""
    youden: float
    missed: float
    """Of the reviewers: sensitivity + specificity − 1, and 1 − specificity."""

    @classmethod
    def of(cls, table: ScoreTable, sensitivity: Belief, specificity: Belief) -> Reviews:
        """Those of a table, in one order, so that sums are rounded alike in whichever order rows came."""
        if table.grid is not None:
            raise NotIdentifiable("A histogram does not hold chances of review. Keep the rows.")
        strata: Mapping[str, Any] = table.strata
        found = [(label, strata[name]) for name, label in SAID.items() if name in strata]
        if not found:
            raise InputError(
                f"{arg('label')} has no reviewed row. Pass 1 or 0 for the rows that somebody looked at."
            )
        columns = [
            np.concatenate([np.full(len(rows), label) for label, rows in found]),
            np.concatenate([np.ones(len(x)) if x.value is None else x.value for _, x in found]),
            np.concatenate([rows.full_weight() for _, rows in found]),
            np.concatenate([rows.score for _, rows in found]),
        ]
        order = np.lexsort(columns)
        positive, times, weight, score = (x[order] for x in columns)
        a, b = float(sensitivity.value or 1), float(specificity.value or 1)
        return cls(score, weight, times, positive, a + b - 1, 1 - b)

    @cached_property
    def target(self) -> Vector:
        """What the reviews say, with the reviewers' errors taken off."""
        return (self.positive - self.missed) / self.youden

    @cached_property
    def effective(self) -> float:
        """(Σu)²/Σu², u = w/e: the random reviews that would say as much of a total."""
        times = self.weight * self.times
        return float(times.sum() ** 2 / (times**2).sum())

    def unit_weights(self) -> dict[str, tuple[Vector, Vector]]:
        """By what was said, the scores and Σw²/Σw at each."""
        out = {}
        for name, label in SAID.items():
            chosen = self.positive == label
            score, at = np.unique(self.score[chosen], return_inverse=True)
            if len(score):
                weight = self.weight[chosen]
                out[name] = score, np.bincount(at, weight**2) / np.bincount(at, weight)
        return out

    def noise(self, guess: Guess, more: int = 0) -> Vector:
        """What the rows that a review stands for add to the variance, with ``more`` reviews than there are.

        Σ w² u (1/e − 1)(y − p̂)², u = 1/e, estimates the variance that reviewing some rows only has left.
        More reviews, drawn alike, raise all chances below 1 by one factor.
        """
        random = self.times > 1
        growth = 1 + more / max(int(random.sum()), 1)
        left = np.where(random, np.maximum(self.times / growth - 1, 0.0), 0.0)
        gap = self.target - guess.at(self.score)
        return np.asarray(self.weight**2 * self.times * left * gap**2)


@dataclass(frozen=True, kw_only=True)
class ReviewDesign:
    """How many rows were reviewed, with which chances, and by whom."""

    rows: int
    reviewed: int
    positive: int
    known_positive: int
    open_rows: int
    chance: tuple[float, float]
    chance_estimated: bool
    sensitivity: tuple[float, float]
    """The lowest and the highest that reviewers may have."""
    specificity: tuple[float, float]
    bands: tuple[ReviewBand, ...]
    """From the highest scores to the lowest, cut where chances jump; each has about the same share of
    reviews and rows together."""
    reviews: Reviews = field(repr=False, compare=False)
    guess: Guess = field(repr=False, compare=False)

    @property
    def left(self) -> int:
        """How many rows could still be reviewed."""
        return self.rows - self.reviewed - self.known_positive - self.open_rows

    @property
    def reviewers_err(self) -> bool:
        return (*self.sensitivity, *self.specificity) != (1.0, 1.0, 1.0, 1.0)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: all but the rows."""
        plain = {k: x for k, x in vars(self).items() if k not in ("bands", "reviews", "guess")}
        return {**plain, "bands": [asdict(band) for band in self.bands]}


def design_of(table: ScoreTable, reviews: Reviews, guess: Guess, **known: Any) -> ReviewDesign:
    """The design of a table of reviewed rows, and what is ``known`` of the chances and the reviewers."""
    strata: Mapping[str, Any] = table.strata  # of rows: histograms hold no chances
    score = np.concatenate([rows.score for rows in strata.values()])
    rest = strata.get(UNLABELED)
    is_open = np.zeros(0) if rest is None or rest.value is None else rest.score[rest.value > 0]
    edges = _edges(reviews, is_open)
    places = [np.searchsorted(edges, of, side="right") for of in (score, reviews.score, is_open)]

    def band(k: int) -> ReviewBand:
        rows, among, open_rows = (place == k for place in places)
        return ReviewBand(
            low=float(score[rows].min()),
            high=float(score[rows].max()),
            rows=int(rows.sum()),
            reviewed=int(among.sum()),
            positive=int(reviews.positive[among].sum()),
            chance=_chances(reviews.times[among]),
            stands_for=float(reviews.times[among].mean()) if among.any() else 0.0,
            open_rows=int(open_rows.sum()),
        )

    return ReviewDesign(
        rows=len(score),
        reviewed=len(reviews.score),
        positive=int(reviews.positive.sum()),
        known_positive=len(strata.get(SOFT, ())),
        open_rows=len(is_open),
        chance=_chances(reviews.times),
        bands=tuple(band(k) for k in reversed(range(len(edges) + 1))),
        reviews=reviews,
        guess=guess,
        **known,
    )


def _edges(reviews: Reviews, is_open: Vector) -> Vector:
    """The lowest score of each band but the lowest."""
    by_score = np.argsort(reviews.score)
    order, times = reviews.score[by_score], reviews.times[by_score]
    chance = np.append(np.minimum(1 / reviews.times, 1.0), np.zeros(len(is_open)))
    jumps = _jumps(np.append(reviews.score, is_open), chance)
    weight = np.cumsum(1 / len(order) + times / times.sum()) / 2
    n_bands = min(N_BANDS - len(jumps), len(order))
    places = np.searchsorted(weight, np.arange(1, n_bands) / n_bands)
    taken = np.searchsorted(order, jumps)
    free = [k for k in places if not (abs(k - taken) < SIDE).any()]
    even = order[free][order[free] > order[0]]  # none is without a row
    return np.unique(np.append(jumps, even))


def _jumps(score: Vector, chance: Vector) -> Vector:
    """Scores between which and those below all chances of a review differ, on either side for a stretch."""
    if len(score) < 2 * SIDE:
        return np.zeros(0)
    by_score = np.argsort(score, kind="stable")
    score, chance = score[by_score], chance[by_score]
    runs = np.lib.stride_tricks.sliding_window_view(chance, SIDE)
    least, most = runs.min(axis=1), runs.max(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        rise, fall = least[SIDE:] / most[:-SIDE], least[:-SIDE] / most[SIDE:]
    size = np.fmax(rise, fall)
    below, above = score[SIDE - 1 : -SIDE], score[SIDE : len(score) - SIDE + 1]
    size[below == above] = 0
    found: list[int] = []
    for k in np.argsort(-size, kind="stable"):
        if size[k] >= JUMP and len(found) < N_BANDS - 1 and all(abs(k - other) >= SIDE for other in found):
            found.append(int(k))
    # Rows between two reviews are of the side that was looked at less, unless nobody could look there.
    from_above = [(rise[k] < fall[k]) != (min(most[k], most[k + SIDE]) > 0) for k in found]
    ends = zip(found, from_above, strict=True)
    return np.asarray([above[k] if upper else np.nextafter(below[k], np.inf) for k, upper in ends])


def _chances(times: Vector) -> tuple[float, float]:
    # Of several rounds a row may stand for less than itself: others of its kind were seen before.
    chance = np.minimum(1 / times, 1.0) if len(times) else np.zeros(1)
    return float(chance.min()), float(chance.max())
