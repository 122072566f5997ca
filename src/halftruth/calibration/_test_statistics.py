"""Statistics of calibration: what each keeps of the gaps μ₁ − s μ, and how far that lies from none."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from halftruth._checks import Vector
from halftruth.calibration._null_models import Groups, Null, chances
from halftruth.table._score_table import POSITIVE, UNLABELED

__all__ = ["STATISTICS", "Statistic", "StatisticName"]

StatisticName: TypeAlias = Literal["ks", "kuiper", "spiegelhalter", "hosmer-lemeshow"]
STATISTICS: tuple[StatisticName, ...] = ("ks", "kuiper", "spiegelhalter", "hosmer-lemeshow")


class Statistic:
    """One of the four: what it keeps of the gaps, and how far that lies from 0."""

    def __init__(self, groups: Groups, name: StatisticName, n_bins: int) -> None:
        self.name, self.groups = name, groups
        self.first = np.flatnonzero(np.diff(groups.measure.bin_index(n_bins, "mass"), prepend=-1))

    def features(self, gaps: Vector) -> Vector:
        """(n, k) from gaps (n, n_scores)."""
        if self.name == "spiegelhalter":
            # The part of the Brier score that has mean 0 under calibration (Spiegelhalter 1986).
            return _unrounded(gaps @ (1 - 2 * self.groups.score))[:, None]
        if self.name == "hosmer-lemeshow":
            return _unrounded(np.add.reduceat(gaps, self.first, axis=1))
        # The running sum starts at 0, so that its extremes include 0.
        running = np.cumsum(gaps, axis=1)
        high, low = np.maximum(running.max(axis=1), 0), np.minimum(running.min(axis=1), 0)
        far = high - low if self.name == "kuiper" else np.maximum(high, -low)
        return np.asarray(far)[:, None]

    def covariance(self, null: Null, drawn: Vector) -> Vector:
        """Of the features if the scores are calibrated, (k, k), or (k,) where they are independent.

        With labels it is known, else that of the draws. Where these are made of the rows' own gaps, bins that
        happen to hold none but small ones would weigh far too much: gaps are then compared with what those
        of plain rows would be, up to a factor.
        """
        if len(drawn) == 0:
            return np.zeros(drawn.shape[1])
        score = self.groups.score
        if null.independent:
            rows, chance, adds = chances(self.groups)
            variance = rows * chance * (1 - chance) * adds**2
            if self.name == "spiegelhalter":
                return np.asarray([variance @ (1 - 2 * score) ** 2])
            return np.add.reduceat(variance, self.first)
        if null.plain or self.name != "hosmer-lemeshow":
            return np.asarray(drawn.T @ drawn / len(drawn))
        reference = self._reference()
        size = self.size(drawn, reference).mean() / max(np.count_nonzero(np.diag(reference)), 1)
        return np.asarray(reference * size)

    def _reference(self) -> Vector:
        """The covariance of the gaps if rows were plain."""
        evidence, score = self.groups.evidence, self.groups.score
        share = self.groups.mass / self.groups.mass.sum()
        if evidence.population is None:
            return np.diag(np.add.reduceat(share * score * (1 - score), self.first))
        # The gap of a bin is π times a share of the positives, less a mean of s over the population: two
        # multinomial covariances, diag(p) − p pᵀ over the rows of each sample.
        claimed = np.add.reduceat(share * score, self.first)
        square = np.add.reduceat(share * score**2, self.first)
        prior, product = claimed.sum(), np.outer(claimed, claimed)
        of_positives = (np.diag(claimed) * prior - product) / self.groups.effective_rows(POSITIVE)
        return np.asarray(of_positives + (np.diag(square) - product) / self.groups.effective_rows(UNLABELED))

    def size(self, features: Vector, covariance: Vector) -> Vector:
        """How far features (n, k) lie from 0."""
        if self.name in ("ks", "kuiper"):
            return features[:, 0]
        spread = np.sqrt(covariance if covariance.ndim == 1 else np.diag(covariance))
        used = spread > 0
        unit = features[:, used] / spread[used]
        if covariance.ndim == 1:
            square = np.sum(unit**2, axis=1)
        else:
            # In standard errors: the cut-off of the pseudoinverse must not depend on the sizes of bins.
            inner = covariance[np.ix_(used, used)] / np.outer(spread[used], spread[used])
            square = np.einsum("ni,ij,nj->n", unit, np.linalg.pinv(inner, 1e-10, hermitian=True), unit)
        return np.asarray(np.sqrt(square) if self.name == "spiegelhalter" else square)


def _unrounded(shares: Vector) -> Vector:
    """Shares of the population, nothing where only rounding left something."""
    return np.asarray(np.where(np.abs(shares) < 1e-13, 0.0, shares))
