"""What every estimator of the prior sees, and what it makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from halftruth._checks import Vector
from halftruth._errors import Note
from halftruth.prior._belief import Curve
from halftruth.table._score_table import NEGATIVE, POSITIVE, UNLABELED, ScoreTable
from halftruth.table._strata import StratumRows
from halftruth.table._support import Sums, Support

__all__ = ["Curve", "Fit", "Knowledge", "Samples", "around_positives"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Samples:
    """Known positives and unlabeled rows, perhaps known negatives, at distinct scores.

    ``score`` is strictly ascending; a mass is a sum of weights (the number of rows where there are none) at
    each score, and is zero where a stratum has no row. ``n_…`` is the number of rows in effect,
    (Σw)²/Σw², which is Σw for rows without weights.
    """

    score: Vector
    positive: Vector
    unlabeled: Vector
    n_positive: float
    n_unlabeled: float
    negative: Vector | None = None
    n_negative: float = 0.0

    @classmethod
    def of(cls, table: ScoreTable) -> Samples:
        """The rows of a table; unlabeled rows with no positive between them may stand at one score."""
        plain = {
            k: rows for k, rows in table.strata.items() if isinstance(rows, StratumRows) and rows.is_plain
        }
        if set(plain) != {POSITIVE, UNLABELED} or len(plain) < len(table.strata):
            return cls.from_sums(table, table.support, table.support.sums())
        ordered = table.sorted_scores()
        score, positive, unlabeled = around_positives(ordered[POSITIVE], ordered[UNLABELED])
        return cls(
            score=score,
            positive=positive,
            unlabeled=unlabeled,
            n_positive=float(len(plain[POSITIVE])),
            n_unlabeled=float(len(plain[UNLABELED])),
        )

    @classmethod
    def from_sums(cls, table: ScoreTable, support: Support, sums: Sums) -> Samples:
        """Sums over a support of the table, as it came, joined or resampled."""
        known = table.strata[POSITIVE]
        base = "weight" if known.meaning is None else "value"
        negative = sums[NEGATIVE, "weight"] if NEGATIVE in table.strata else None
        return cls(
            score=support.score,
            positive=sums[POSITIVE, base],
            unlabeled=sums[UNLABELED, "weight"],
            negative=negative,
            n_positive=table.effective_rows(POSITIVE),
            n_unlabeled=table.effective_rows(UNLABELED),
            n_negative=0.0 if negative is None else table.effective_rows(NEGATIVE),
        )

    @cached_property
    def p(self) -> Vector:
        """Share of the positives at each score."""
        return np.asarray(self.positive / self.positive.sum())

    @cached_property
    def u(self) -> Vector:
        """Share of the unlabeled at each score."""
        return np.asarray(self.unlabeled / self.unlabeled.sum())

    @cached_property
    def p_above(self) -> Vector:
        """Share of the positives at or above each score, as thresholds see them: q_P."""
        return np.minimum(np.cumsum(self.p[::-1])[::-1], 1.0)

    @cached_property
    def u_above(self) -> Vector:
        """Share of the unlabeled at or above each score: q_U."""
        return np.minimum(np.cumsum(self.u[::-1])[::-1], 1.0)

    def swapped(self) -> Samples:
        """The roles of positives and unlabeled exchanged, high scores still first: scores are negated."""
        return Samples(
            score=-self.score[::-1],
            positive=self.unlabeled[::-1],
            unlabeled=self.positive[::-1],
            n_positive=self.n_unlabeled,
            n_unlabeled=self.n_positive,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Fit:
    """The α of one estimator, in [0, 1], and how it came about."""

    value: float
    curve: Curve | None = None
    notes: tuple[Note, ...] = ()
    # Draws that show its error, where the estimator makes them itself; else it is resampled.
    replicates: Vector | None = None


@dataclass(frozen=True)
class Knowledge:
    """What is known besides the scores."""

    purity: float | None = 1.0  # None: to be estimated
    within: tuple[float, float] = (0.0, 1.0)  # between which values α lies
    # Positives and negatives in a labeled random sample of the unlabeled.
    labeled_counts: tuple[float, float] = (0.0, 0.0)


def around_positives(positive: Vector, unlabeled: Vector) -> tuple[Vector, Vector, Vector]:
    """Scores, and how many of both sorted samples stand at them."""
    # Unlabeled rows between two neighbouring positives are joined at the score in their middle: no threshold
    # tells them apart by the positives beyond it.
    first = np.flatnonzero(np.diff(positive, prepend=np.nan))
    distinct = positive[first]
    low = np.searchsorted(unlabeled, distinct)
    high = low.copy()
    tied = np.flatnonzero(unlabeled[np.minimum(low, len(unlabeled) - 1)] == distinct)
    high[tied] = np.searchsorted(unlabeled, distinct[tied], side="right")
    ends = np.stack([low, high], axis=1)
    # Between, at, between, at, ..., between.
    cut = np.concatenate([[0], ends.ravel(), [len(unlabeled)]])
    u = np.diff(cut)
    p = np.zeros(len(u))
    p[1::2] = np.diff(first, append=len(positive))
    score = np.empty(len(u))
    score[1::2] = distinct
    score[::2] = unlabeled[np.minimum((cut[:-1] + cut[1:]) // 2, len(unlabeled) - 1)[::2]]
    used = (u > 0) | (p > 0)
    return score[used], p[used], u[used].astype(np.float64)
