"""What `bounds` gives back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector
from halftruth._errors import Note, notes_to_dict
from halftruth.measure._arithmetic import ratio
from halftruth.metrics._curves import Curve
from halftruth.rank_bounds._rank_bands import Counts
from halftruth.rank_bounds._rank_paths import Paths, Ranking

__all__ = ["ContingencyTables", "CurveBounds", "MetricBounds", "RankBand", "Sensitivity", "tables_of"]

Result = TypeVar("Result")


class ContingencyTables(Curve):
    """Counts of the four cells where scores at or above each threshold are called positive."""

    threshold: Vector
    tp: Vector
    fp: Vector
    fn: Vector
    tn: Vector


class RankBand(Curve):
    """Share of the positives at or above each threshold: of the known, and limits for the latent ones."""

    threshold: Vector
    known: Vector
    low: Vector
    high: Vector


class Sensitivity(Curve):
    """Change of the rates among the unlabeled with α, the ranks being fixed."""

    threshold: Vector
    tpr: Vector
    fpr: Vector
    precision: Vector


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Bounds:
    """What bounds of both kinds rest on."""

    alpha: tuple[float, float]  # the shares that were allowed and that the scores do not refute
    band_name: str
    confidence_level: float
    notes: tuple[Note, ...] = ()

    def _how(self) -> str:
        low, high = self.alpha
        share = f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
        return f"{100 * self.confidence_level:.4g}%, band {self.band_name!r}, α = {share}"

    def __str__(self) -> str:
        return "\n".join([repr(self), *(f"Note: {note}" for note in self.notes)])


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MetricBounds(Bounds):
    """The least and the greatest value of a metric that the labels of the unlabeled rows can have.

    Attributes
    ----------
    low, high : float
    alpha_at_low, alpha_at_high : float
        The share of positives among the unlabeled at which they are attained.
    alpha : (float, float)
        The shares that were allowed and that the scores do not refute.
    confidence_level, band_name, notes
    """

    metric: str
    low: float
    high: float
    alpha_at_low: float
    alpha_at_high: float

    def __repr__(self) -> str:
        return f"MetricBounds({self.metric}: {self.low:.4f} to {self.high:.4f}; {self._how()})"

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        names = ("metric", "low", "high", "alpha_at_low", "alpha_at_high", "band_name", "confidence_level")
        plain = {name: getattr(self, name) for name in names}
        return plain | {"alpha": list(self.alpha)} | notes_to_dict(self.notes)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CurveBounds(Bounds):
    """Two curves between which the curve of all labels lies.

    Attributes
    ----------
    lower, upper : RocCurve or PrecisionRecallCurve
        Over a range of α precision is bounded at each recall, and no threshold belongs to a point.
    area : (float, float)
        The least and the greatest area under a curve between them: `roc_auc` or `pr_auc`.
    band : RankBand
        What was taken as known of the latent positives' ranks.
    tables : (ContingencyTables, ContingencyTables)
        The counts with the fewest and with the most true positives at each threshold; over a range those at
        its lowest and at its highest α, as published.
    sensitivity : (Sensitivity, Sensitivity)
        Of the lower and the upper rates among the unlabeled to α (Eq. 15 of Claesen et al., whose derivative
        of the false-positive rate lacks a factor 1/n_U).
    alpha : (float, float)
        The shares that were allowed and that the scores do not refute.
    """

    lower: Any  # a RocCurve or a PrecisionRecallCurve, as was asked for
    upper: Any
    area: tuple[float, float]
    ranking: Ranking
    every: tuple[Paths, ...]
    """The counts of latent positives behind the curves, at rising α."""

    @cached_property
    def band(self) -> RankBand:
        return _band_of(self.ranking, self.every)

    @cached_property
    def tables(self) -> tuple[ContingencyTables, ContingencyTables]:
        return self._at_ends(tables_of)

    @cached_property
    def sensitivity(self) -> tuple[Sensitivity, Sensitivity]:
        return self._at_ends(_sensitivity_of)

    def _at_ends(self, function: Callable[[Ranking, Counts, int], Result]) -> tuple[Result, Result]:
        """Of the fewest latent positives at the lowest α, and of the most at the highest."""
        first, last = self.every[0], self.every[-1]
        return function(self.ranking, first.low, first.total), function(self.ranking, last.high, last.total)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, without the curves."""
        return {
            "curve": type(self.lower).__name__,
            "area": list(self.area),
            "alpha": list(self.alpha),
            "band_name": self.band_name,
            "confidence_level": self.confidence_level,
            **notes_to_dict(self.notes),
        }

    def __repr__(self) -> str:
        low, high = self.area
        return f"CurveBounds({type(self.lower).__name__}, area {low:.4f} to {high:.4f}; {self._how()})"


def tables_of(ranking: Ranking, latent: NDArray[Any], total: int) -> ContingencyTables:
    """The tables where so many of ``total`` latent positives lie above each threshold."""
    # Cells of the known and of the unlabeled rows add up (Claesen et al., section 4.1).
    known_positive, known_negative = ranking.known
    tp = known_positive + latent
    fp = known_negative + ranking.unlabeled - latent
    positives = known_positive[-1] + total
    fn, tn = positives - tp, ranking.predicted[-1] - positives - fp
    return ContingencyTables(threshold=ranking.threshold, tp=tp, fp=fp, fn=fn, tn=tn)


def _sensitivity_of(ranking: Ranking, latent: Counts, total: int) -> Sensitivity:
    """∂/∂α of TPR, FPR and precision among the unlabeled, the share of latent positives above being fixed."""
    n, u = ranking.n_unlabeled, ranking.unlabeled
    share = ratio(latent, total)
    return Sensitivity(
        threshold=ranking.threshold,
        tpr=np.zeros(len(u)),  # which is that fixed share
        fpr=ratio(u / n - share, (1 - total / n) ** 2),
        precision=ratio(share * n, u),
    )


def _band_of(ranking: Ranking, every: Sequence[Paths]) -> RankBand:
    """The limits on the share of the latent positives above, over all allowed totals."""
    # No latent positive at all has no share: fmin and fmax pass over its NaN.
    return RankBand(
        threshold=ranking.threshold,
        known=ranking.positive / ranking.n_positive,
        low=np.fmin.reduce([ratio(paths.low, paths.total) for paths in every]),
        high=np.fmax.reduce([ratio(paths.high, paths.total) for paths in every]),
    )
