"""Whole curves of positives against negatives from those of labeled against unlabeled, and their areas.

Algorithm 1 of Jain, White and Radivojac (2017): recover every point, drop those outside the unit square, sort
by the false-positive rate, and let the true-positive rate never fall.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, arg
from halftruth.measure._score_measure import ScoreMeasure, ratio
from halftruth.metrics._curves import PrecisionRecallCurve, RocCurve
from halftruth.recover import _formulas

__all__ = ["area", "indirect_areas", "precision_recall_curve", "roc_curve"]

ROUNDING = 1e-12  # a rate that leaves [0, 1] by no more has not left it
DIGITS = 11  # decimals to which rates are told apart


def roc_curve(
    tpr_pu: ArrayLike,
    fpr_pu: ArrayLike,
    alpha: float,
    purity: float = 1.0,
    *,
    projection: Literal["jain", "none"] = "jain",
    threshold: ArrayLike | None = None,
) -> RocCurve:
    """The ROC curve of positives against negatives, from that of labeled against unlabeled.

    Parameters
    ----------
    tpr_pu, fpr_pu : (n,) arrays
        Share of the labeled and of the unlabeled at or above each threshold.
    alpha, purity : float
        As in `auc`.
    projection : {"jain", "none"}
        "jain" is Algorithm 1 of the paper: points outside the unit square are dropped, the others sorted by
        their false-positive rate, and each true-positive rate raised to the largest before it. (0, 0) and
        (1, 1) are on every ROC curve, and stand at the ends whether they were given or not. "none" gives the
        points as Eqs. 1 and 2 do, in the order they came.
    threshold : (n,) array, optional
        Of the points; NaN where not given, and at an end that was put in.

    Returns
    -------
    RocCurve

    Raises
    ------
    InputError
        Where every point but the ends is dropped: the shares and the curve cannot go together.

    Examples
    --------
    >>> import halftruth as ht
    >>> curve = ht.recover.roc_curve([0, 0.5, 0.8, 1], [0, 0.1, 0.6, 1], alpha=0.25)
    >>> curve.fpr.round(3)
    array([0.   , 0.533, 1.   ])
    >>> ht.recover.roc_curve([0, 0.5, 0.8, 1], [0, 0.1, 0.6, 1], 0.25, projection="none").fpr.round(3)
    array([ 0.   , -0.033,  0.533,  1.   ])
    """
    _checks.choice(projection, "projection", ("jain", "none"))
    seen_tpr, seen_fpr, thresholds = _points(tpr_pu, fpr_pu, threshold)
    alpha = _checks.inside(alpha, "alpha", 0.0, 1.0, closed="left", advice=_formulas.ALPHA)
    purity = _checks.share(purity, "purity", closed_at_one=True)
    recovered = _formulas.rates(seen_tpr, seen_fpr, alpha, purity)
    if projection == "none":
        return RocCurve(fpr=recovered.fpr, tpr=recovered.tpr, threshold=thresholds)
    tpr, fpr, thresholds = _cleaned(recovered, thresholds)
    has_inner = ((seen_tpr != seen_fpr) | ((seen_tpr != 0) & (seen_tpr != 1))).any()
    if len(tpr) == 2 and has_inner:  # only the ends are left
        raise InputError(
            f"No point of the curve is possible with alpha={float(alpha):g} and purity={float(purity):g}: "
            f'every recovered rate leaves [0, 1]. Check the shares; projection="none" shows the points.'
        )
    return RocCurve(fpr=fpr, tpr=tpr, threshold=thresholds)


def precision_recall_curve(
    tpr_pu: ArrayLike,
    fpr_pu: ArrayLike,
    alpha: float,
    purity: float = 1.0,
    *,
    projection: Literal["jain", "none"] = "jain",
    threshold: ArrayLike | None = None,
) -> PrecisionRecallCurve:
    """The precision-recall curve among the unlabeled, from the ROC curve of labeled against unlabeled.

    Recall is the recovered true-positive rate (Eq. 1). Precision is α γ / η_pu (Eq. 3), after the projection
    with η_pu = αγ + (1−α)η of the projected rates, so that it lies in [0, 1].

    Parameters
    ----------
    tpr_pu, fpr_pu, alpha, purity, projection, threshold
        As in `roc_curve`.

    Returns
    -------
    PrecisionRecallCurve
        Precision is read at the next point where nothing is called positive. With α = 0 there are no
        positives among the unlabeled, and it is 0.

    Examples
    --------
    >>> import halftruth as ht
    >>> curve = ht.recover.precision_recall_curve([0, 0.5, 0.8, 1], [0, 0.2, 0.6, 1], alpha=0.25)
    >>> curve.precision.round(3)
    array([0.625, 0.625, 0.333, 0.25 ])
    >>> curve.recall
    array([0. , 0.5, 0.8, 1. ])
    """
    line = roc_curve(tpr_pu, fpr_pu, alpha, purity, projection=projection, threshold=threshold)
    if projection == "jain":
        precision = _precision(line.tpr, line.fpr, float(alpha))
    else:
        precision = _read_on(ratio(float(alpha) * line.tpr, _points(tpr_pu, fpr_pu, None)[1]))
    return PrecisionRecallCurve(precision=precision, recall=line.tpr, threshold=line.threshold)


def area(curve: RocCurve | PrecisionRecallCurve) -> float:
    """The area under a recovered curve, by trapezoids.

    Parameters
    ----------
    curve : RocCurve or PrecisionRecallCurve

    Returns
    -------
    float
        Where points step back, as after ``projection="none"``, what lies below steps back counts as negative.

    Notes
    -----
    Lines between points of a precision-recall curve are too high where points are few; `halftruth.pr_auc`
    and `halftruth.average_precision` of a projected measure are not.

    Examples
    --------
    >>> import halftruth as ht
    >>> curve = ht.recover.roc_curve([0, 0.5, 0.8, 1], [0, 0.2, 0.6, 1], alpha=0.25)
    >>> round(ht.recover.area(curve), 6)
    0.726667
    """
    if isinstance(curve, RocCurve):
        return _trapezoids(curve.tpr, curve.fpr)
    if isinstance(curve, PrecisionRecallCurve):
        return _trapezoids(curve.precision, curve.recall)
    raise InputError(
        argument="curve",
        must="be a RocCurve or a PrecisionRecallCurve",
        got=type(curve).__name__,
        remedy="Pass what ht.recover.roc_curve or ht.roc_curve gives.",
    )


def indirect_areas(measure: ScoreMeasure) -> tuple[float, float]:
    """The areas under both curves of one measure after Algorithm 1; NaN where it leaves no point."""
    # The measure's own ROC curve is what Eqs. 1 and 2 recover.
    if "indirect" not in measure.memo:
        line = measure.sweep
        tpr, fpr, _ = _cleaned(_formulas.Rates(tpr=line.tpr, fpr=line.fpr), line.threshold)
        areas = np.nan, np.nan
        if len(tpr) > 2 or len(line.tpr) == 2:
            precision = _precision(tpr, fpr, float(measure.prior))
            areas = _trapezoids(tpr, fpr), _trapezoids(precision, tpr)
        measure.memo["indirect"] = areas
    out: tuple[float, float] = measure.memo["indirect"]
    return out


def _trapezoids(y: Vector, x: Vector) -> float:
    return float(np.diff(x) @ (y[1:] + y[:-1]) / 2)


def _precision(tpr: Vector, fpr: Vector, share: float) -> Vector:
    """At each point of a ROC curve, where a share of all cases is positive."""
    return _read_on(ratio(share * tpr, share * tpr + (1 - share) * fpr))


def _points(
    tpr_pu: ArrayLike, fpr_pu: ArrayLike, threshold: ArrayLike | None
) -> tuple[Vector, Vector, Vector]:
    tpr = _checks.probabilities(tpr_pu, "tpr_pu")
    fpr = _checks.probabilities(fpr_pu, "fpr_pu", length=len(tpr))
    if len(tpr) == 0:
        raise InputError(f"{arg('tpr_pu')} is empty. Pass the points of a curve, e.g. of a ROC curve.")
    if threshold is None:
        return tpr, fpr, np.full(len(tpr), np.nan)
    limits = np.asarray(_checks.native(threshold, "threshold"), dtype=np.float64)
    if limits.shape != tpr.shape:
        raise InputError(
            argument="threshold",
            must=f"have one value for each of {len(tpr)} points",
            got=f"shape {limits.shape}",
        )
    return tpr, fpr, limits


def _cleaned(recovered: _formulas.Rates, threshold: Vector) -> tuple[Vector, Vector, Vector]:
    """Algorithm 1; TPR, FPR and threshold, from (0, 0) to (1, 1)."""
    possible = np.ones(len(threshold), dtype=bool)
    for rate in (recovered.tpr, recovered.fpr):
        possible &= (rate >= -ROUNDING) & (rate <= 1 + ROUNDING)
    tpr, fpr = (np.clip(rate[possible], 0.0, 1.0) for rate in (recovered.tpr, recovered.fpr))
    # Many rates of rows are equal but for rounding, which must not decide their order.
    order = np.lexsort((tpr, fpr.round(DIGITS)))
    tpr, fpr, threshold = tpr[order], fpr[order], threshold[possible][order]
    if not (len(tpr) and tpr[0] == fpr[0] == 0):
        tpr, fpr, threshold = (np.insert(x, 0, end) for x, end in ((tpr, 0), (fpr, 0), (threshold, np.nan)))
    if not tpr[-1] == fpr[-1] == 1:
        tpr, fpr, threshold = (np.append(x, end) for x, end in ((tpr, 1), (fpr, 1), (threshold, np.nan)))
    return np.maximum.accumulate(tpr), np.maximum.accumulate(fpr), threshold


def _read_on(values: Vector) -> Vector:
    """NaN replaced by the next number."""
    here = np.arange(len(values))
    index = np.where(np.isnan(values), here[-1], here)
    return np.asarray(values[np.minimum.accumulate(index[::-1])[::-1]])
