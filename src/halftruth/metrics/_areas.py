"""Areas under curves, and points of curves at a fixed budget."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, arg
from halftruth.measure._arithmetic import Index, Sweep, integral, ratio, where_both
from halftruth.measure._score_measure import Measurable, ScoreMeasure, as_measure
from halftruth.metrics._record import metric

__all__ = [
    "average_precision", "bend", "partial_auc", "pr_auc", "precision_at_k", "recall_at_fpr", "recall_at_k",
    "roc_auc",
]  # fmt: skip

MAX_FPR = "Pass the largest false-positive rate that counts."

point = partial(metric, influence=None, local=True, certificate="own")
"""Declares a point of a curve: a few rows decide where it lies, so it has no derivative."""


@metric(
    title="ROC AUC",
    meaning="chance that a positive scores above a negative",
    aliases=("auc", "auroc"),
    formula="P(s₁ > s₀) + ½ P(s₁ = s₀) = ∫ (μ₁[s > x] + ½ μ₁{x}) d(μ − μ₁)(x) / (π (1−π) n²)",
    paper="Hanley & McNeil 1982; Jain, White & Radivojac 2017",
    headline=1,
    certificate="own",
    linear=True,
)
def roc_auc(evidence: Measurable) -> float:
    """Area under the ROC curve, P(s₁ > s₀) + ½ P(s₁ = s₀).

    Linear in μ₁ for a given prior, so it needs no projection; it may leave [0, 1] by noise.

    Examples
    --------
    >>> import halftruth as ht
    >>> ht.roc_auc(ht.Labeled([1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1]))
    0.75
    >>> ht.roc_auc(ht.PositiveUnlabeled([0.9, 0.8], [0.9, 0.8, 0.3, 0.2, 0.1], prior=0.4))
    1.0
    """
    measure = as_measure(evidence)
    area, positives, negatives = measure.roc_area()
    return measure.result(where_both(ratio(ratio(area, positives), negatives), positives, negatives))


@metric(
    formula="area under the ROC curve where FPR ≤ `max_fpr`, on McClish’s scale or raw",
    paper="McClish 1989",
    example={"max_fpr": 0.1},
    influence="unsigned",
    certificate="own",
)
def partial_auc(evidence: Measurable, *, max_fpr: float = 0.1, standardize: bool = True) -> float:
    """Area under the ROC curve where FPR ≤ ``max_fpr``.

    Parameters
    ----------
    evidence : evidence or ScoreMeasure
    max_fpr : float in (0, 1]
    standardize : bool
        McClish's scale: ½ for chance, 1 for perfect. False gives the raw area.

    Notes
    -----
    Where the FPR of a noisy curve steps back, the area ends at its first passage of ``max_fpr``.

    Examples
    --------
    >>> import halftruth as ht
    >>> evidence = ht.Labeled([1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1])
    >>> ht.partial_auc(evidence, max_fpr=0.5, standardize=False)
    0.25
    """
    max_fpr = _checks.inside(max_fpr, "max_fpr", 0.0, 1.0, closed="right", advice=MAX_FPR)
    measure = as_measure(evidence)
    line = measure.sweep
    fpr, tpr = line.fpr, line.tpr
    width = np.diff(fpr, axis=-1)
    height = (tpr[..., 1:] + tpr[..., :-1]) / 2
    before, (x0, x1, y0, y1, share) = _first_passage(fpr, tpr, max_fpr)
    area = np.sum(np.where(before, width * height, 0.0), axis=-1)
    # Of the segment that passes the limit, the part up to there.
    area = area + (x1 - x0) * share * (y0 + (y1 - y0) * share / 2)
    area = np.where(np.isnan(fpr[..., -1] + tpr[..., -1]), np.nan, area)
    if not standardize or max_fpr == 1:
        return measure.result(area)
    chance = max_fpr**2 / 2
    return measure.result((1 + (area - chance) / (max_fpr - chance)) / 2)


class Crossing(NamedTuple):
    """The segment of a curve in which x reaches a limit: its ends, and the share of it up to the limit."""

    x0: Vector
    x1: Vector
    y0: Vector
    y1: Vector
    share: Vector


def _crossing(x: Vector, y: Vector, start: Index, end: Index, limit: float | Vector) -> Crossing:
    (x0, x1), (y0, y1) = (
        [np.take_along_axis(line, i[..., None], axis=-1)[..., 0] for i in (start, end)] for line in (x, y)
    )
    return Crossing(x0, x1, y0, y1, np.clip(np.nan_to_num(ratio(limit - x0, x1 - x0)), 0.0, 1.0))


def _first_passage(fpr: Vector, tpr: Vector, limit: float) -> tuple[NDArray[np.bool_], Crossing]:
    """Which points after the first come before the FPR first passes the limit, and the segment that does."""
    # A rate that equals the limit but for rounding has not passed it.
    before = np.logical_and.accumulate(fpr[..., 1:] <= limit + 1e-12, axis=-1)
    start = np.sum(before, axis=-1)
    end = np.minimum(start + 1, fpr.shape[-1] - 1)
    return before, _crossing(fpr, tpr, start, end, limit)


def _last_passage(fpr: Vector, tpr: Vector, limit: float) -> Crossing:
    """The segment in which the FPR passes the limit for good; the last point where it never does."""
    beyond = np.logical_and.accumulate(fpr[..., ::-1] > limit + 1e-12, axis=-1)
    last = fpr.shape[-1] - 1
    start = last - np.sum(beyond, axis=-1)
    return _crossing(fpr, tpr, start, np.minimum(start + 1, last), limit)


@metric(
    title="Average precision",
    meaning="mean precision as more and more cases are flagged",
    aliases=("ap", "auprc"),
    formula="Σ precision · Δrecall, each known positive’s precision read from the others",
    headline=2,
    influence="unsigned",
    certificate="own",
    rank_bound="ties",
)
def average_precision(evidence: Measurable) -> float:
    """Average precision, Σ precision × Δrecall over the falling thresholds.

    Scikit-learn's average precision where all rows are labeled. A known positive among unlabeled cases would
    raise the precision at its own score, so it is left out there: the j-th of m, with U of the n unlabeled at
    or above it, reads π · (j−1)/(m−1) · (n+1)/(U+1). That is nearly unbiased, and may leave [0, 1] by noise.

    Examples
    --------
    >>> import halftruth as ht
    >>> ht.average_precision(ht.Labeled([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1]))
    0.8333333333333333
    """
    measure = as_measure(evidence)
    area, positives, negatives = measure.pr_area()
    return measure.result(where_both(ratio(area, positives), positives, negatives))


@metric(
    title="PR AUC",
    meaning="area under the precision-recall curve",
    formula="∫ precision d recall, TP and FP interpolated together, known positives left out as in AP",
    paper="Davis & Goadrich 2006; Boyd, Eng & Page 2013",
    influence="unsigned",
    certificate="own",
)
def pr_auc(evidence: Measurable) -> float:
    """Area under the precision-recall curve, interpolated as it must be.

    Between two thresholds TP and FP grow in proportion, so precision follows a hyperbola in recall, not a
    line (Davis & Goadrich 2006; Boyd et al. 2013). Known positives are left out of their own precision as in
    `average_precision`.

    Examples
    --------
    >>> import halftruth as ht
    >>> round(ht.pr_auc(ht.Labeled([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1])), 4)
    0.7973
    """
    measure = as_measure(evidence)
    line, others = measure.sweep, measure.sweep.without(measure.own)
    tp0, p0 = line.tp[..., :-1], others.predicted[..., :-1]  # above a known positive it is left out anyway
    start = np.where(p0 == 0, 1.0, p0)
    growth = np.diff(others.predicted, axis=-1) / start
    curvature = bend(growth)
    mean = (others.tp[..., 1:] - tp0) / start * curvature + tp0 / start * (1 - growth * curvature)
    mean = np.where(line.predicted[..., :-1] == 0, others.precision[..., 1:], mean)
    area, positives, negatives = measure.of_precision(integral(mean, measure.pos_mass[..., ::-1]))
    return measure.result(where_both(ratio(area, positives), positives, negatives))


def bend(x: Vector) -> Vector:
    """(1 − log(1+x)/x) / x, by its series where the closed form would cancel."""
    small = np.minimum(x, 1e-3)
    series = 1 / 2 - small * (1 / 3 - small * (1 / 4 - small * (1 / 5 - small / 6)))
    safe = np.where(x > 1e-3, x, 1.0)
    return np.where(x > 1e-3, (1 - np.log1p(safe) / safe) / safe, series)


def _true_positives_at(line: Sweep, k: float) -> tuple[Vector, Vector]:
    """TP among the k highest rows, ties shared, and k in rows."""
    # Weighted resamples vary in size, so a budget in rows may exceed one of them.
    budget = k * line.total if isinstance(k, float) else np.minimum(float(k), line.total)
    # A budget of all rows must not miss the last one by rounding.
    end = np.argmax(line.predicted >= budget[..., None] * (1 - 1e-12), axis=-1)
    *_, tp0, tp1, share = _crossing(line.predicted, line.tp, np.maximum(end - 1, 0), end, budget)
    return tp0 + share * (tp1 - tp0), budget


def _check_k(k: float, measure: ScoreMeasure) -> float:
    most = float(np.max(measure.total))
    if isinstance(k, (int, np.integer)) and not isinstance(k, bool):
        if k >= 1 and (measure.shape or k <= most * (1 + 1e-12)):
            return int(k)
    elif isinstance(k, (float, np.floating)) and 0 < k < 1:
        return float(k)
    raise InputError(
        f"{arg('k')} must be a whole number of cases from 1 to {most:g} (the population), or a fraction in "
        f"(0, 1); got {k!r}."
    )


@point(
    formula="TP among the k highest / k; k a count or a fraction, ties shared",
    example={"k": 0.2},
    linear=True,
)
def precision_at_k(evidence: Measurable, k: float) -> float:
    """Share of positives among the k cases of the population with the highest scores.

    Parameters
    ----------
    evidence : evidence or ScoreMeasure
    k : int or float
        A number of cases, or a fraction of the population in (0, 1). Ties at the limit are shared.

    Examples
    --------
    >>> import halftruth as ht
    >>> ht.precision_at_k(ht.Labeled([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1]), 2)
    0.5
    """
    measure = as_measure(evidence)
    tp, budget = _true_positives_at(measure.sweep, _check_k(k, measure))
    line = measure.sweep
    return measure.result(where_both(ratio(tp, budget), line.positives, line.negatives))


@point(formula="TP among the k highest / (π n)", needs="shape", example={"k": 0.2}, linear=True)
def recall_at_k(evidence: Measurable, k: float) -> float:
    """Share of all positives that are among the k highest cases; needs no prior.

    Parameters
    ----------
    evidence : evidence or ScoreMeasure
    k : int or float
        As in `precision_at_k`.

    Examples
    --------
    >>> import halftruth as ht
    >>> ht.recall_at_k(ht.PositiveUnlabeled([0.9, 0.4], [0.9, 0.6, 0.3, 0.2]), 0.5)
    0.5
    """
    measure = as_measure(evidence, "shape")
    tp, _ = _true_positives_at(measure.sweep, _check_k(k, measure))
    return measure.result(ratio(tp, measure.sweep.positives))


@point(
    formula="recall where the ROC curve, a line between thresholds, passes `max_fpr` for good",
    example={"max_fpr": 0.05},
)
def recall_at_fpr(evidence: Measurable, *, max_fpr: float = 0.05) -> float:
    """Recall on the ROC curve at a false-positive rate of ``max_fpr``.

    Between two thresholds the curve is a line, as for the area under it: cases of one score are called
    positive at random. Where noise makes the curve turn back it is the largest recall that keeps within
    ``max_fpr``: few cases at the top, of which noise makes false positives, do not decide it.

    Parameters
    ----------
    evidence : evidence or ScoreMeasure
    max_fpr : float in [0, 1]

    Examples
    --------
    >>> import halftruth as ht
    >>> ht.recall_at_fpr(ht.Labeled([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1]), max_fpr=0.5)
    1.0
    """
    limit = _checks.inside(max_fpr, "max_fpr", 0.0, 1.0, closed="both", advice=MAX_FPR)
    measure = as_measure(evidence)
    fpr, tpr = measure.sweep.fpr, measure.sweep.tpr
    at = _last_passage(fpr, tpr, limit)
    recall = at.y0 + at.share * (at.y1 - at.y0)
    return measure.result(np.where(np.isnan(fpr[..., -1]), np.nan, recall))
