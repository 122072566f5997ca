"""Counts above each threshold: of known and unlabeled rows, and of the latent positives that can be there.

The latent positives are a subset of the unlabeled rows. So their count above a falling threshold never falls,
and never grows by more rows than there are (μ₁ ≤ μ everywhere). The lowest and the highest count that a band
and these two rules leave are themselves counts of such subsets: no bound on what grows with the count can be
sharper. Claesen et al. use the last rule only against the two ends of the ranking.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from halftruth._checks import Vector
from halftruth._errors import InputError
from halftruth.evidence import PositiveUnlabeled
from halftruth.evidence._selection import Selection
from halftruth.measure._score_measure import ScoreMeasure
from halftruth.rank_bounds._rank_bands import (
    KINDS,
    RESAMPLED,
    Band,
    Counts,
    counts,
    limited,
    strictness,
    tilted,
)
from halftruth.table._score_table import NEGATIVE, POSITIVE, UNLABELED

__all__ = ["Bander", "Paths", "Ranking"]


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
            count = np.zeros(len(support.score) + 1, dtype=np.int64)
            if name in support.strata:
                cells = support.strata[name]
                count[len(support.score) - cells.atom] = cells.count  # plain rows: each score once
            above[name] = np.cumsum(count)
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
            argument="evidence",
            must="be PositiveUnlabeled",
            got=type(evidence).__name__,
            remedy="Bounds are for positives that hide among unlabeled rows: wrap yours, "
            "PositiveUnlabeled(positive, unlabeled, prior=…) or .from_table(table, prior=…); for "
            "other evidence use evaluate.",
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


@dataclass(frozen=True, kw_only=True, eq=False)
class Paths:
    """The fewest and the most latent positives at or above each threshold, where there are ``total``."""

    total: int
    low: Counts
    high: Counts

    @property
    def gap(self) -> int:
        """By how many rows the fewest exceed the most somewhere; up to 0 where some labels fit the band."""
        return int((self.low - self.high).max())

    @property
    def possible(self) -> bool:
        """Whether any subset keeps within the band."""
        return self.gap <= 0


@dataclass(frozen=True, kw_only=True)
class Bander:
    """Makes the paths of a ranking for any number of latent positives."""

    ranking: Ranking
    band: str
    ranks: tuple[str, ...]
    """Whose ranks bound those of their latent like: known positives, known negatives, or both."""
    confidence_level: float
    n_resamples: int
    seed: int
    calibrated_at: tuple[int, ...] = ()
    """Of many numbers of latent positives, those at which a band is calibrated; the strictest is for all."""
    selection: Selection = field(default_factory=Selection)
    """How far the known positives may be from a random sample."""
    bands: dict[tuple[int, int], Band] = field(default_factory=dict, repr=False, compare=False)
    """Those made so far, by the numbers of known and latent rows: totals are looked at more than once."""

    @property
    def error(self) -> float:
        """Of one band: two, each at half of the error, hold together."""
        return float(round((1 - self.confidence_level) / len(self.ranks), 12))

    def paths(self, total: int) -> Paths:
        """All that the known positives, the known negatives and the unlabeled rows allow."""
        ranking, u = self.ranking, self.ranking.unlabeled
        n = ranking.n_unlabeled
        # The two corner cases of Claesen et al. (section 4.1): no more surrogates than rows on either side.
        fewest, most = np.maximum(total - (n - u), 0), np.minimum(u, total)
        low, high = fewest, most
        if POSITIVE in self.ranks:
            band = self._band(ranking.n_positive, total, self.calibrated_at)
            if self.selection.gamma > 1 and total:
                band = tilted(band, total, *self._times(total), self.selection)
            low, high = (limit[ranking.positive] for limit in band)
        if NEGATIVE in self.ranks:
            # What is no latent negative above is a latent positive: the limits change places.
            band = self._band(ranking.n_negative, n - total, tuple(n - x for x in self.calibrated_at))
            low = np.maximum(low, u - band.high[ranking.negative])
            high = np.minimum(high, u - band.low[ranking.negative])
        kind = KINDS[self.band]
        if not (kind.prediction and kind.simultaneous):
            # One rank at a time: a count that does not fit is moved to the nearest that does, and where two
            # bands contradict each other, what lies between them is left.
            low, high = np.minimum(low, high), np.maximum(low, high)
            return Paths(total=total, low=np.clip(low, fewest, most), high=np.clip(high, fewest, most))
        low, high = np.maximum(low, fewest), np.minimum(high, most)
        # Down the ranking a count never falls, nor grows by more than the rows passed: both rules, from the
        # top and from the bottom.
        low, high = np.maximum.accumulate(low), u + np.minimum.accumulate(high - u)
        low = u + np.maximum.accumulate((low - u)[::-1])[::-1]
        high = np.minimum.accumulate(high[::-1])[::-1]
        return Paths(total=total, low=low, high=high)

    def _times(self, total: int) -> tuple[float, float]:
        """How much commoner latent positives may be than known ones of the same score."""
        least, most = 1 / self.selection.gamma, self.selection.gamma
        if not self.ranking.counts_known:
            return least, most
        # In one table known ones are a part c of the positives: w of all is (w−c)/(1−c) of the others.
        known = self.ranking.n_positive / (self.ranking.n_positive + total)
        return max(least - known, 0.0) / (1 - known), (most - known) / (1 - known)

    def _band(self, n_known: int, n_latent: int, calibrated_at: tuple[int, ...]) -> Band:
        if (n_known, n_latent) not in self.bands:
            self.bands[n_known, n_latent] = self._made(n_known, n_latent, calibrated_at)
        return self.bands[n_known, n_latent]

    def _made(self, n_known: int, n_latent: int, calibrated_at: tuple[int, ...]) -> Band:
        if self.band != RESAMPLED or not calibrated_at or n_latent == 0:
            return counts(self.band, n_known, n_latent, 1 - self.error, self.n_resamples, self.seed)
        strictest = (
            strictness(n_known, x, self.error, self.n_resamples, self.seed) for x in calibrated_at if x > 0
        )
        return limited(n_known, n_latent, max(strictest))
