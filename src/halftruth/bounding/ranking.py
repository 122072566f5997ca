"""Ranking: how many known positives, unlabeled and known negatives lie at or above each threshold."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector
from halftruth._errors import InputError
from halftruth.evidence import PositiveUnlabeled
from halftruth.measure._score_measure import ScoreMeasure
from halftruth.table._score_table import NEGATIVE, POSITIVE, UNLABELED

Counts = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Ranking:
    """Counts above thresholds that fall from +inf to the lowest score; the first are 0, the last all rows."""

    threshold: Vector
    positive: Counts
    unlabeled: Counts
    negative: Counts
    population: str

    @classmethod
    def of(cls, evidence: PositiveUnlabeled) -> Ranking:
        _refuse(evidence)
        support = evidence.table.support
        above = {}
        for name in (POSITIVE, UNLABELED, NEGATIVE):
            own = np.zeros(len(support.score) + 1, dtype=np.int64)
            if name in support.strata:
                cells = support.strata[name]
                own[len(support.score) - cells.atom] = cells.count  # plain rows: each score once
            above[name] = np.cumsum(own)
        threshold = np.append(np.inf, support.score[::-1])
        return cls(threshold=threshold, population=evidence.population, **above)

    @property
    def n_positive(self) -> int:
        return int(self.positive[-1])

    @property
    def n_unlabeled(self) -> int:
        return int(self.unlabeled[-1])

    @property
    def n_negative(self) -> int:
        return int(self.negative[-1])

    @property
    def counts_known(self) -> bool:
        """Whether known rows are part of the population that is judged."""
        return self.population == "all"

    @cached_property
    def known(self) -> tuple[Counts, Counts]:
        """Known positives and negatives above each threshold, as far as they are part of the population."""
        if self.counts_known:
            return self.positive, self.negative
        none = np.zeros_like(self.positive)
        return none, none

    @cached_property
    def predicted(self) -> Counts:
        """Rows of the population above each threshold."""
        return np.asarray(self.unlabeled + self.known[0] + self.known[1])

    @cached_property
    def has_ties(self) -> bool:
        """Whether several rows of the population share a score, one of them unlabeled."""
        rows = np.diff(self.predicted)
        return bool((rows[np.diff(self.unlabeled) > 0] > 1).any())

    def measure(self, latent: Counts) -> ScoreMeasure:
        """The measure in which ``latent`` unlabeled rows above each threshold are positive."""
        pos = np.diff(latent + self.known[0])[::-1]
        mass = np.diff(self.predicted)[::-1]
        used = (mass > 0) | (pos != 0)
        score = self.threshold[:0:-1]
        return ScoreMeasure(score=score[used], mass=mass[used], pos_mass=pos[used])


def _refuse(evidence: PositiveUnlabeled) -> None:
    """Ranks are of rows: clean, random, and each one row."""
    if not isinstance(evidence, PositiveUnlabeled):
        raise InputError(
            f"`evidence` must be PositiveUnlabeled, got {type(evidence).__name__}. Bounds are for positives "
            f"that hide among unlabeled rows: wrap yours, PositiveUnlabeled(positive, unlabeled, prior=…) or "
            f".from_table(table, prior=…); for other evidence use evaluate."
        )
    if evidence.purity.value != 1 or evidence.purity.is_range:
        raise InputError(
            "Bounds need clean known positives, got purity < 1: ranks of noisy ones are not those of the "
            "positives. Use evaluate, whose intervals hold the noise."
        )
    if evidence.propensity_given:
        raise InputError(
            "Bounds need known positives that are a random sample of the positives, got propensities. Use "
            "evaluate, which weighs by them."
        )
    if evidence.table.grid is not None:
        raise InputError(
            "Bounds need the rows: a histogram has lost the order of rows in one bin. Read the file with "
            "`max_rows=` above its number of rows, or pass arrays."
        )
    if any(cells.weight is not None for cells in evidence.table.support.strata.values()):
        raise InputError(
            "Bounds count rows, and weights other than 1 make no counts. Leave the weights out, or use "
            "evaluate."
        )
