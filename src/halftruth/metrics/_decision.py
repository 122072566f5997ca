"""Decisions: net benefit, expected cost, and where the threshold to use stands in a sweep."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, arg
from halftruth.measure._arithmetic import Index, Sweep, ratio, scalar
from halftruth.measure._score_measure import Measurable, ScoreMeasure, as_measure
from halftruth.metrics._curves import Curve, swept
from halftruth.metrics._rates import Confusion, Rate
from halftruth.metrics._record import DECLARED, INFINITY, metric

__all__ = [
    "AIMS", "CostCurve", "DecisionCurve", "at_every_threshold", "chosen", "cost_curve", "decision_curve",
    "net_benefit",
]  # fmt: skip

TO_MAXIMIZE = tuple(
    name for name, record in DECLARED.items() if isinstance(record.function, Rate) and record.better == "high"
)
"""Rates of `Confusion` that a threshold can make high."""

AIMS = ("maximize", "precision_at_least", "recall_at_least", "fpr_at_most", "cost")
"""What a threshold can be chosen for."""


class DecisionCurve(Curve):
    """Net benefit per case over threshold probabilities."""

    threshold: Vector
    net_benefit: Vector
    treat_all: Vector


class CostCurve(Curve):
    """Least expected cost over probability costs, and the threshold that attains it."""

    probability_cost: Vector
    expected_cost: Vector
    threshold: Vector


@metric(
    formula="(TP − FP · t/(1−t)) / n",
    paper="Vickers & Elkin 2006",
    limits=(-INFINITY, 1.0),
    probability=True,
    threshold=True,
    of_confusion=lambda table: (table.tp - table.fp * table.threshold / (1 - table.threshold)) / table.total,
    certificate="corners",
    linear=True,
)
def net_benefit(evidence: Measurable, threshold: float) -> float:
    """Net benefit per case, TP − FP · t/(1−t), of treating where the probability reaches t.

    Parameters
    ----------
    evidence : evidence or ScoreMeasure
        Scores must be probabilities.
    threshold : float in [0, 1)

    Examples
    --------
    >>> import halftruth as ht
    >>> ht.net_benefit(ht.Labeled([1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1]), 0.5)
    0.0
    """
    advice = "Pass the probability at which one would treat."
    at = _checks.inside(threshold, "threshold", 0.0, 1.0, closed="left", advice=advice)
    measure = as_measure(evidence)
    measure.need_probabilities("Net benefit")
    return measure.result(_benefit(measure, at))


def _benefit(measure: ScoreMeasure, threshold: float) -> Vector:
    masses = measure.split(threshold)
    tp, fp = masses["pos"][0], masses["neg"][0]
    return ratio(tp - fp * threshold / (1 - threshold), measure.total)


def decision_curve(evidence: Measurable, thresholds: Any = None) -> DecisionCurve:
    """Net benefit over threshold probabilities, with that of treating everyone (treating no one: 0).

    Parameters
    ----------
    evidence : evidence or ScoreMeasure
        Scores must be probabilities.
    thresholds : array in [0, 1), optional
        0.99, 0.98, …, 0.01 where left out; always returned falling.

    Examples
    --------
    >>> import halftruth as ht
    >>> curve = ht.decision_curve(ht.Labeled([1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1]), [0.25, 0.5])
    >>> curve.net_benefit.round(4)
    array([0.    , 0.4167])
    """
    measure = as_measure(evidence)
    measure.need_probabilities("Net benefit")
    grid = (
        np.arange(99, 0, -1) / 100 if thresholds is None else _checks.probabilities(thresholds, "thresholds")
    )
    if len(grid) == 0 or (grid == 1).any():
        raise InputError(
            f"{arg('thresholds')} must hold numbers in [0, 1), at least one; got {thresholds!r}."
        )
    grid = np.sort(grid)[::-1]
    prior = np.asarray(measure.prior)[..., None]
    return DecisionCurve(
        threshold=grid,
        net_benefit=np.stack([_benefit(measure, float(t)) for t in grid], axis=-1),
        treat_all=prior - (1 - prior) * grid / (1 - grid),
    )


def cost_curve(evidence: Measurable, n_points: int = 101) -> CostCurve:
    """Least normalised expected cost over thresholds, at each probability cost.

    The probability cost is π c_fn / (π c_fn + (1−π) c_fp); the cost of a threshold there is the line
    (1 − TPR) x + FPR (1 − x), and the curve is the lower envelope of those lines (Drummond & Holte 2006).
    Also gives the threshold that attains it.

    Parameters
    ----------
    evidence : evidence or ScoreMeasure
    n_points : int
        Probability costs from 0 to 1.

    Examples
    --------
    >>> import halftruth as ht
    >>> ht.cost_curve(ht.Labeled([1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1]), n_points=3).expected_cost
    array([0.  , 0.25, 0.  ])
    """
    _checks.count(n_points, "n_points", least=2)
    line = swept(evidence)
    grid = np.linspace(0, 1, n_points)
    fpr, fnr = line.fpr, 1 - line.tpr
    best = [np.argmin(fnr * x + fpr * (1 - x), axis=-1)[..., None] for x in grid]
    cost = [
        (np.take_along_axis(fnr, i, axis=-1) * x + np.take_along_axis(fpr, i, axis=-1) * (1 - x))[..., 0]
        for x, i in zip(grid, best, strict=True)
    ]
    return CostCurve(
        probability_cost=grid,
        expected_cost=np.stack(cost, axis=-1),
        threshold=np.stack([line.threshold[i[..., 0]] for i in best], axis=-1),
    )


def chosen(line: Sweep, aim: str, wanted: Any) -> tuple[Index, NDArray[np.bool_] | np.bool_]:
    """Where in a sweep the threshold of an aim stands, one of `AIMS`, and whether one attains it.

    Precision is clipped to [0, 1]; the highest threshold wins a tie.
    """
    if aim == "maximize":
        return _where_highest(_rates(line, _checks.choice(wanted, aim, TO_MAXIMIZE)))
    if aim == "cost":
        fp_cost, fn_cost = _check_cost(wanted)
        return _where_highest(-(fp_cost * line.fp + fn_cost * (line.positives[..., None] - line.tp)))
    wanted = _checks.share(wanted, aim, closed_at_one=True)
    if aim == "recall_at_least":
        enough = line.tpr >= wanted - 1e-12
        return np.argmax(enough, axis=-1), enough.any(axis=-1)
    if aim == "precision_at_least":
        enough = np.clip(line.precision, 0.0, 1.0)[..., 1:] >= wanted - 1e-12
    else:
        enough = line.fpr[..., 1:] <= wanted + 1e-12
    return enough.shape[-1] - np.argmax(enough[..., ::-1], axis=-1), enough.any(axis=-1)


def at_every_threshold(line: Sweep, tp: Vector, fp: Vector) -> Confusion:
    """The cells at all thresholds of a sweep, with these masses above."""
    positives, negatives = line.positives[..., None], line.negatives[..., None]
    return Confusion(
        threshold=scalar(line.threshold),
        pos_above=tp,
        pos_below=positives - tp,
        neg_above=fp,
        neg_below=negatives - fp,
        predicted=line.predicted,
        rest=line.total[..., None] - line.predicted,
    )


def _rates(line: Sweep, name: str) -> Vector:
    """One rate of `Confusion` at every threshold, with TP clipped to what is possible."""
    tp = np.clip(line.tp, 0.0, np.minimum(line.predicted, line.positives[..., None]))
    # Nothing is clipped where nothing is out of bounds, so that labels keep their exact counts.
    fp = np.where(tp == line.tp, line.fp, line.predicted - tp)
    return np.asarray(getattr(at_every_threshold(line, tp, fp), name))


def _where_highest(height: Vector) -> tuple[Index, NDArray[np.bool_] | np.bool_]:
    defined = ~np.isnan(height)
    height = np.where(defined, height, -np.inf)
    top = height.max(axis=-1, keepdims=True)
    # Heights that differ by rounding are a tie.
    best = np.argmax(height >= top - 1e-12 * np.maximum(1.0, np.abs(top)), axis=-1)
    return best, defined.any(axis=-1)


def _check_cost(cost: Any) -> tuple[float, float]:
    pair = np.asarray(cost, dtype=np.float64) if np.shape(cost) == (2,) else np.full(2, np.nan)
    if not (np.isfinite(pair).all() and (pair >= 0).all() and pair.any()):
        raise InputError(
            f"{arg('cost')} must be two non-negative numbers (of a false positive, of a false negative), "
            f"not both zero; got {cost!r}."
        )
    return float(pair[0]), float(pair[1])
