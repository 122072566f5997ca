"""Rates at a threshold: the confusion masses and everything made of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from halftruth import checks
from halftruth.errors import InputError
from halftruth.measure import Number, ScoreMeasure, as_measure, ratio, scalar


@dataclass(frozen=True, kw_only=True, eq=False)
class Confusion:
    """Masses of the four cells where ``score >= threshold`` is called positive.

    With labels these are counts (or sums of weights); with partial evidence they are estimates, in rows
    of the population sample, and a cell may come out negative. Rates of an empty class are NaN.

    Every rate is a property: ``precision``, ``recall``, ``fpr``, ``specificity``, ``npv``, ``fdr``,
    ``f1``, ``accuracy``, ``balanced_accuracy``, ``mcc``, ``cohen_kappa``, ``jaccard``, ``youden_j``,
    ``lift``, ``prevalence``, ``predicted_positive_rate``; and ``fbeta(beta)``.
    """

    threshold: float
    tp: Number
    fp: Number
    fn: Number
    tn: Number

    @property
    def positives(self) -> Number:
        return self.tp + self.fn

    @property
    def negatives(self) -> Number:
        return self.fp + self.tn

    @property
    def predicted(self) -> Number:
        return self.tp + self.fp

    @property
    def total(self) -> Number:
        return self.positives + self.negatives

    @property
    def precision(self) -> Number:
        return scalar(ratio(self.tp, self.predicted))

    @property
    def recall(self) -> Number:
        return scalar(ratio(self.tp, self.positives))

    @property
    def fpr(self) -> Number:
        return scalar(ratio(self.fp, self.negatives))

    @property
    def specificity(self) -> Number:
        return scalar(ratio(self.tn, self.negatives))

    @property
    def npv(self) -> Number:
        return scalar(ratio(self.tn, self.tn + self.fn))

    @property
    def fdr(self) -> Number:
        return scalar(ratio(self.fp, self.predicted))

    @property
    def f1(self) -> Number:
        return self.fbeta(1.0)

    def fbeta(self, beta: float) -> Number:
        """(1 + β²) TP / ((1 + β²) TP + β² FN + FP)."""
        if not beta > 0:
            raise InputError(f"`beta` must be positive, got {beta!r}.")
        square = beta**2
        return scalar(ratio((1 + square) * self.tp, square * self.positives + self.predicted))

    @property
    def accuracy(self) -> Number:
        return scalar(ratio(self.tp + self.tn, self.total))

    @property
    def balanced_accuracy(self) -> Number:
        return scalar((np.asarray(self.recall) + self.specificity) / 2)

    @property
    def mcc(self) -> Number:
        """Matthews correlation; NaN where a cell is negative or a margin empty."""
        margins = [self.positives, self.negatives, self.predicted, self.total - self.predicted]
        # Roots first: the product of four large margins would overflow before its root.
        scale = np.prod([np.sqrt(np.maximum(margin, 0.0)) for margin in margins], axis=0)
        # A cell that is negative only by rounding is an empty cell.
        slack = -1e-12 * np.abs(self.total)
        possible = np.min([self.tp, self.fp, self.fn, self.tn] - slack, axis=0) >= 0
        covariance = np.asarray(self.tp) * self.tn - np.asarray(self.fp) * self.fn
        return scalar(np.where(possible, ratio(covariance, scale), np.nan))

    @property
    def cohen_kappa(self) -> Number:
        rest = self.total - self.predicted
        chance = np.asarray(self.predicted) * self.positives + rest * self.negatives
        agreed = np.asarray(self.total) * (self.tp + self.tn)
        return scalar(ratio(agreed - chance, np.asarray(self.total) ** 2 - chance))

    @property
    def jaccard(self) -> Number:
        return scalar(ratio(self.tp, self.positives + self.fp))

    @property
    def youden_j(self) -> Number:
        return scalar(np.asarray(self.recall) - self.fpr)

    @property
    def lift(self) -> Number:
        """Recall over the predicted-positive rate: precision over the prior."""
        return scalar(ratio(self.recall, self.predicted_positive_rate))

    @property
    def prevalence(self) -> Number:
        return scalar(ratio(self.positives, self.total))

    @property
    def predicted_positive_rate(self) -> Number:
        return scalar(ratio(self.predicted, self.total))


def _cells(measure: ScoreMeasure, threshold: float) -> Confusion:
    first = int(np.searchsorted(measure.score, threshold, side="left"))
    tp, fn = (measure.pos_mass[..., part].sum(axis=-1) for part in (slice(first, None), slice(first)))
    above, below = (measure.mass[..., part].sum(axis=-1) for part in (slice(first, None), slice(first)))
    return Confusion(
        threshold=threshold,
        tp=scalar(tp),
        fp=scalar(above - tp),
        fn=scalar(fn),
        tn=scalar(below - fn),
    )


def confusion(evidence: object, threshold: float) -> Confusion:
    """Confusion masses at a threshold: TP = μ₁[s ≥ t], FP = (μ − μ₁)[s ≥ t].

    Parameters
    ----------
    evidence : evidence or ScoreMeasure
    threshold : float
        On the scale of the scores; ``score >= threshold`` is positive.

    Examples
    --------
    >>> import halftruth as ht
    >>> table = ht.confusion(ht.Labeled([1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1]), 0.5)
    >>> table.tp, table.fp, table.fn, table.tn, table.precision
    (1.0, 1.0, 1.0, 1.0, 0.5)
    >>> pu = ht.PositiveUnlabeled([0.9, 0.4], [0.9, 0.6, 0.3, 0.2], prior=0.25)
    >>> ht.confusion(pu, 0.5).precision
    0.25
    """
    return _cells(as_measure(evidence), checks.threshold(threshold))


Rate = Callable[..., Any]


def rate(name: str, needs: str = "prior") -> Rate:
    """The function (evidence, threshold) → rate, for one property of a Confusion."""

    def function(evidence: object, threshold: float) -> Number:
        return getattr(_cells(as_measure(evidence, needs), checks.threshold(threshold)), name)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`{name}` at a threshold; see `Confusion`."
    return function


def fbeta(evidence: object, threshold: float, *, beta: float = 2.0) -> Number:
    """F-beta at a threshold; β > 1 weighs recall more than precision."""
    return confusion(evidence, threshold).fbeta(beta)


def prevalence(evidence: object) -> Number:
    """π = μ₁(all)/μ(all), the share of positives in the population."""
    return as_measure(evidence).prior
