"""Curves over the threshold, which falls from +inf; raw, so that they show what the evidence says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, dataclass_transform

import numpy as np

from halftruth._checks import Vector
from halftruth.measure._arithmetic import Sweep, ratio
from halftruth.measure._score_measure import Measurable, as_measure

__all__ = [
    "Curve", "DetCurve", "GainCurve", "PrecisionRecallCurve", "RocCurve", "det_curve", "gain_curve",
    "precision_recall_curve", "roc_curve", "swept",
]  # fmt: skip


@dataclass_transform(frozen_default=True, kw_only_default=True, eq_default=False)
class Curve:
    """Arrays of one length, read-only; a subclass is a frozen dataclass of them."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        dataclass(frozen=True, kw_only=True, eq=False, repr=False)(cls)

    def __post_init__(self) -> None:
        for name, column in vars(self).items():
            column = np.array(column)
            column.flags.writeable = False
            object.__setattr__(self, name, column)

    def __repr__(self) -> str:
        n = next(iter(vars(self).values())).shape[-1]
        return f"{type(self).__name__}({n} points: {', '.join(vars(self))})"


class RocCurve(Curve):
    """True- against false-positive rate."""

    fpr: Vector
    tpr: Vector
    threshold: Vector


class PrecisionRecallCurve(Curve):
    """Precision against recall."""

    precision: Vector
    recall: Vector
    threshold: Vector


class DetCurve(Curve):
    """False-negative against false-positive rate."""

    fpr: Vector
    fnr: Vector
    threshold: Vector


class GainCurve(Curve):
    """Share of the positives found against the share of cases looked at."""

    fraction: Vector
    gain: Vector
    lift: Vector
    threshold: Vector


def swept(evidence: Measurable, needs: str = "prior") -> Sweep:
    """The sweep of evidence; one warning where an empty class leaves a rate undefined."""
    measure = as_measure(evidence, needs)
    line = measure.sweep
    measure.result(line.tpr[..., -1] if needs == "shape" else line.tpr[..., -1] + line.fpr[..., -1])
    return line


def roc_curve(evidence: Measurable) -> RocCurve:
    """ROC points (FPR, TPR) at every distinct score, from (0, 0) to (1, 1).

    Raw: from partial evidence points may leave [0, 1] and the FPR may step back.

    Examples
    --------
    >>> import halftruth as ht
    >>> curve = ht.roc_curve(ht.Labeled([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1]))
    >>> curve.tpr
    array([0. , 0.5, 0.5, 1. , 1. ])
    """
    line = swept(evidence)
    return RocCurve(fpr=line.fpr, tpr=line.tpr, threshold=line.threshold)


def precision_recall_curve(evidence: Measurable) -> PrecisionRecallCurve:
    """Precision and recall at every distinct score.

    Where no population mass lies at or above the threshold, precision is read at the next score.

    Examples
    --------
    >>> import halftruth as ht
    >>> curve = ht.precision_recall_curve(ht.Labeled([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1]))
    >>> curve.precision.round(3)
    array([1.   , 1.   , 0.5  , 0.667, 0.5  ])
    """
    line = swept(evidence)
    return PrecisionRecallCurve(precision=line.precision, recall=line.tpr, threshold=line.threshold)


def det_curve(evidence: Measurable) -> DetCurve:
    """Detection error trade-off: false-positive against false-negative rate.

    Examples
    --------
    >>> import halftruth as ht
    >>> ht.det_curve(ht.Labeled([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1])).fnr
    array([1. , 0.5, 0.5, 0. , 0. ])
    """
    line = swept(evidence)
    return DetCurve(fpr=line.fpr, fnr=1 - line.tpr, threshold=line.threshold)


def gain_curve(evidence: Measurable) -> GainCurve:
    """Share of the positives found (gain) against the share of cases looked at, and their ratio (lift).

    Needs no prior.

    Examples
    --------
    >>> import halftruth as ht
    >>> curve = ht.gain_curve(ht.PositiveUnlabeled([0.9, 0.4], [0.9, 0.6, 0.3, 0.2]))
    >>> curve.gain
    array([0. , 0.5, 0.5, 1. , 1. , 1. ])
    """
    line = swept(evidence, "shape")
    fraction = ratio(line.predicted, line.total[..., None])
    lift = ratio(line.tpr, fraction)
    return GainCurve(fraction=fraction, gain=line.tpr, lift=lift, threshold=line.threshold)
