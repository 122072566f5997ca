"""What `bounds` gives back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from halftruth._checks import Vector
from halftruth._errors import Note, notes_to_dict
from halftruth.measure._score_measure import ratio
from halftruth.metrics._curves import Curve
from halftruth.rank_bounds._rank_paths import Paths, Ranking


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


class _Said:
    """What bounds of both kinds say of themselves."""

    alpha: tuple[float, float]
    notes: tuple[Note, ...]
    band_name: str
    confidence_level: float

    def _how(self) -> str:
        low, high = self.alpha
        share = f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
        return f"{100 * self.confidence_level:.4g}%, band {self.band_name!r}, α = {share}"

    def __str__(self) -> str:
        return "\n".join([repr(self), *(f"Note: {note}" for note in self.notes)])


@dataclass(frozen=True, kw_only=True, eq=False)
class MetricBounds(_Said):
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
    alpha: tuple[float, float]
    band_name: str
    confidence_level: float
    notes: tuple[Note, ...] = ()

    def __repr__(self) -> str:
        return f"MetricBounds({self.metric}: {self.low:.4f} to {self.high:.4f}; {self._how()})"

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        names = ("metric", "low", "high", "alpha_at_low", "alpha_at_high", "band_name", "confidence_level")
        made = {name: getattr(self, name) for name in names}
        return made | {
            "alpha": list(self.alpha),
            **notes_to_dict(self.notes),
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class CurveBounds(_Said):
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

    lower: Any
    upper: Any
    area: tuple[float, float]
    alpha: tuple[float, float]
    band_name: str
    confidence_level: float
    ranking: Ranking
    every: tuple[Paths, ...]
    """The counts of latent positives behind the curves, at rising α."""
    notes: tuple[Note, ...] = ()

    @cached_property
    def band(self) -> RankBand:
        return band_of(self.ranking, self.every)

    @cached_property
    def tables(self) -> tuple[ContingencyTables, ContingencyTables]:
        first, last = self.every[0], self.every[-1]
        return (
            tables_of(self.ranking, first.low, first.total),
            tables_of(self.ranking, last.high, last.total),
        )

    @cached_property
    def sensitivity(self) -> tuple[Sensitivity, Sensitivity]:
        first, last = self.every[0], self.every[-1]
        return (
            sensitivity_of(self.ranking, first.low, first.total),
            sensitivity_of(self.ranking, last.high, last.total),
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, without the curves."""
        made = {"curve": type(self.lower).__name__, "area": list(self.area), "alpha": list(self.alpha)}
        names = ("band_name", "confidence_level")
        return made | {name: getattr(self, name) for name in names} | notes_to_dict(self.notes)

    def __repr__(self) -> str:
        low, high = self.area
        return f"CurveBounds({type(self.lower).__name__}, area {low:.4f} to {high:.4f}; {self._how()})"


def tables_of(ranking: Ranking, latent: Any, total: int) -> ContingencyTables:
    """The tables where so many of ``total`` latent positives lie above each threshold."""
    known_positive, known_negative = ranking.known
    tp = known_positive + latent
    fp = known_negative + ranking.unlabeled - latent
    positives = known_positive[-1] + total
    return ContingencyTables(
        threshold=ranking.threshold,
        tp=tp,
        fp=fp,
        fn=positives - tp,
        tn=ranking.predicted[-1] - positives - fp,
    )


def sensitivity_of(ranking: Ranking, latent: Any, total: int) -> Sensitivity:
    """∂/∂α of TPR, FPR and precision among the unlabeled, the share of latent positives above being fixed."""
    n, u = ranking.n_unlabeled, ranking.unlabeled
    share = ratio(latent, np.asarray(float(total)))
    return Sensitivity(
        threshold=ranking.threshold,
        tpr=np.zeros(len(u)),
        fpr=ratio(u / n - share, np.asarray((1 - total / n) ** 2)),
        precision=ratio(share * n, u.astype(np.float64)),
    )


def band_of(ranking: Ranking, every: Sequence[Paths]) -> RankBand:
    """The limits on the share of the latent positives above, over all allowed totals."""
    shares = [
        (ratio(p.low, np.asarray(float(p.total))), ratio(p.high, np.asarray(float(p.total)))) for p in every
    ]
    return RankBand(
        threshold=ranking.threshold,
        known=ranking.positive / ranking.n_positive,
        low=np.fmin.reduce([low for low, _ in shares]),
        high=np.fmax.reduce([high for _, high in shares]),
    )
