"""Samples: what every estimator of the prior sees, the masses of the strata along the score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from halftruth.checks import Vector
from halftruth.support import Sums, Support
from halftruth.table import NEGATIVE, POSITIVE, UNLABELED, ScoreTable


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
        """Every row of a table."""
        return cls.from_sums(table, table.support, table.support.sums())

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

    def without_negatives(self) -> Samples:
        """Positives and unlabeled alone."""
        return replace(self, negative=None, n_negative=0.0)
