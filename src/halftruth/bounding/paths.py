"""Paths: how many of the unlabeled rows above each threshold can be positive, from fewest to most.

The latent positives are a subset of the unlabeled rows. So their count above a falling threshold never falls,
and never grows by more rows than there are (μ₁ ≤ μ everywhere). The lowest and the highest count that a band
and these two rules leave are themselves counts of such subsets: no bound on what grows with the count can be
sharper. Claesen et al. use the last rule only against the two ends of the ranking.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from halftruth.bounding.bands import KINDS, RESAMPLED, Band, counts, limited, strictness
from halftruth.bounding.ranking import Counts, Ranking
from halftruth.table._score_table import NEGATIVE, POSITIVE


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

    @property
    def error(self) -> float:
        """Of one band: two, each at half of the error, hold together."""
        return float(round((1 - self.confidence_level) / len(self.ranks), 12))

    def paths(self, total: int) -> Paths:
        """All that the known positives, the known negatives and the unlabeled rows allow."""
        ranking, u = self.ranking, self.ranking.unlabeled
        n = ranking.n_unlabeled
        fewest, most = np.maximum(total - (n - u), 0), np.minimum(u, total)
        low, high = fewest, most
        if POSITIVE in self.ranks:
            band = self._band(ranking.n_positive, total, self.calibrated_at)
            low, high = (limit[ranking.positive] for limit in band)
        if NEGATIVE in self.ranks:
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
        low, high = np.maximum.accumulate(low), u + np.minimum.accumulate(high - u)
        low = u + np.maximum.accumulate((low - u)[::-1])[::-1]
        high = np.minimum.accumulate(high[::-1])[::-1]
        return Paths(total=total, low=low, high=high)

    def _band(self, n_known: int, n_latent: int, calibrated_at: tuple[int, ...]) -> Band:
        if self.band != RESAMPLED or not calibrated_at or n_latent == 0:
            return counts(self.band, n_known, n_latent, 1 - self.error, self.n_resamples, self.seed)
        strictest = (
            strictness(n_known, x, self.error, self.n_resamples, self.seed) for x in calibrated_at if x > 0
        )
        return limited(n_known, n_latent, max(strictest))
