"""Rates at a threshold: the confusion masses and everything made of them, each declared above its formula."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from halftruth import _checks
from halftruth._errors import NotIdentifiable
from halftruth.measure._arithmetic import Number, ratio, scalar, where_both
from halftruth.measure._score_measure import Measurable, ScoreMeasure, as_measure
from halftruth.metrics._record import DECLARED, INFINITY, Metric, metric

__all__ = ["Confusion", "Rate", "confusion", "fbeta", "prevalence", "rate"]

Property = Callable[[Any], Number]


@metric(
    title="Share of positives",
    meaning="in the population",
    better=None,
    formula="π",
    default=True,
    certificate="own",
)
def prevalence(evidence: Measurable) -> float:
    """π = μ₁(all)/μ(all), the share of positives in the population.

    Examples
    --------
    >>> import halftruth as ht
    >>> ht.prevalence(ht.Labeled([1, 0, 0, 0], [0.9, 0.4, 0.6, 0.1]))
    0.25
    """
    return as_measure(evidence).prior


@dataclass(frozen=True)
class Rate:
    """The function (evidence, threshold) → rate, for one property of a `Confusion`."""

    name: str

    def __call__(self, evidence: Measurable, threshold: float) -> float:
        measure = as_measure(evidence, "nothing")
        return measure.result(getattr(_confusion(measure, _checks.threshold(threshold)), self.name))

    @property
    def __name__(self) -> str:
        return self.name


def rate(**properties: Any) -> Callable[[Property], Property]:
    """Declares the property of `Confusion` below it a metric at a threshold."""

    def declare(formula: Property) -> Property:
        name = formula.__name__
        fixed: dict[str, Any] = {"threshold": True, "of_confusion": formula, "certificate": "corners"}
        fixed["linear"] = True  # with μ and π fixed all cells are linear in TP, and so is what is no quotient
        DECLARED[name] = Metric(name=name, function=Rate(name), **fixed | properties)
        return formula

    return declare


class Cell:
    """A cell of a `Confusion`, read as a property; refused where its mass is known only up to a factor."""

    def __init__(self, mass: str) -> None:
        self.mass = mass

    def __get__(self, table: Confusion, owner: object = None) -> float:
        return table._known(getattr(table, self.mass))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Confusion:
    """Masses of the four cells where ``score >= threshold`` is called positive.

    With labels these are counts (or sums of weights); with partial evidence they are estimates, in rows
    of the population sample, and a cell may come out negative. What compares the classes is NaN where one
    is empty; what needs a prior that is not known raises `NotIdentifiable`.

    Cells: ``tp``, ``fp``, ``fn``, ``tn``. Rates: ``precision``, ``recall``, ``fpr``, ``specificity``,
    ``npv``, ``fdr``, ``f1``, ``fbeta(beta)``, ``accuracy``, ``balanced_accuracy``, ``mcc``,
    ``cohen_kappa``, ``jaccard``, ``youden_j``, ``lift``, ``prevalence``, ``predicted_positive_rate``.
    """

    threshold: float
    pos_above: Number
    pos_below: Number
    neg_above: Number
    neg_below: Number
    predicted: Number
    rest: Number
    unidentified: str | None = None
    """Why the masses of the classes are known only up to a factor (NaN: not even that)."""

    def __repr__(self) -> str:
        cells = f"predicted={self.predicted!r}, unidentified"
        if self.unidentified is None:
            cells = f"tp={self.tp!r}, fp={self.fp!r}, fn={self.fn!r}, tn={self.tn!r}"
        return f"Confusion(threshold={self.threshold!r}, {cells})"

    def _known(self, mass: Number) -> float:
        if self.unidentified is not None:
            raise NotIdentifiable(self.unidentified)
        return scalar(mass)

    def _compared(self, value: Number) -> float:
        return scalar(where_both(value, self.positives, self.negatives))

    def _of(self, part: Number, whole: Number) -> float:
        """A share of a sum of cells, which signed cells may cancel but for rounding."""
        nothing = np.abs(whole) <= 1e-12 * np.abs(self.total)
        return self._compared(ratio(part, np.where(nothing, 0.0, whole)))

    tp, fn = Cell("pos_above"), Cell("pos_below")
    fp, tn = Cell("neg_above"), Cell("neg_below")

    @property
    def positives(self) -> float:
        return self.tp + self.fn

    @property
    def negatives(self) -> float:
        return self.fp + self.tn

    @property
    def total(self) -> float:
        return scalar(self.predicted + self.rest)

    @property
    @rate(formula="(TP + FP) / n", better=None, needs="nothing")
    def predicted_positive_rate(self) -> float:
        return scalar(ratio(self.predicted, self.total))

    @property
    @rate(
        title="Precision",
        meaning="share of flagged cases that are positive",
        aliases=("ppv",),
        formula="TP / (TP + FP)",
        headline=3,
        denominator=lambda table: table.predicted,
    )
    def precision(self) -> float:
        return self._compared(ratio(self.tp, self.predicted))

    @property
    @rate(
        title="Recall",
        meaning="share of positives that are flagged",
        aliases=("tpr", "sensitivity"),
        formula="TP / (TP + FN)",
        needs="shape",
        headline=4,
    )
    def recall(self) -> float:
        everyone = self.pos_above + self.pos_below
        if np.isnan(everyone).all():
            self._known(everyone)
        return scalar(ratio(self.pos_above, everyone))

    @property
    @rate(
        title="False-positive rate",
        meaning="share of negatives that are flagged; lower is better",
        formula="FP / (FP + TN)",
        better="low",
        default=True,
    )
    def fpr(self) -> float:
        return scalar(ratio(self.fp, self.negatives))

    @property
    @rate(aliases=("tnr",), formula="TN / (FP + TN)")
    def specificity(self) -> float:
        return scalar(ratio(self.tn, self.negatives))

    @property
    @rate(formula="TN / (TN + FN)", denominator=lambda table: table.rest)
    def npv(self) -> float:
        return self._compared(ratio(self.tn, self.rest))

    @property
    @rate(formula="FP / (TP + FP)", better="low", denominator=lambda table: table.predicted)
    def fdr(self) -> float:
        return self._compared(ratio(self.fp, self.predicted))

    @property
    @rate(
        title="F1",
        meaning="precision and recall in one number",
        formula="2 TP / (2 TP + FP + FN)",
        paper="van Rijsbergen 1979",
        headline=5,
        denominator=lambda table: table.positives + table.predicted,
    )
    def f1(self) -> float:
        return self.fbeta(1.0)

    def fbeta(self, beta: float) -> float:
        """(1 + β²) TP / ((1 + β²) TP + β² FN + FP)."""
        advice = "Above 1 it weighs recall more than precision, below 1 less."
        square = _checks.inside(beta, "beta", 0.0, np.inf, advice=advice) ** 2
        return self._of((1 + square) * self.tp, square * self.positives + self.predicted)

    @property
    @rate(
        title="MCC",
        meaning="correlation of flag and class",
        formula="(TP·TN − FP·FN) / √((TP+FP)(TP+FN)(TN+FP)(TN+FN))",
        paper="Matthews 1975",
        limits=(-1.0, 1.0),
        default=True,
        undefined="the mass of a class is negative",
        # Not linear-fractional, but it grows with TP and falls with FP.
        certificate="pure corners",
    )
    def mcc(self) -> float:
        """Matthews correlation; 0 where all cases are called the same. A signed cell may carry it past 1."""
        # In pairs: the root of a square is exact, so that a perfect classifier has exactly 1.
        pairs = (self.positives, self.predicted), (self.negatives, self.rest)
        scale = np.prod([np.sqrt(np.maximum(np.multiply(*pair), 0.0)) for pair in pairs], axis=0)
        covariance = np.asarray(self.tp) * self.tn - np.asarray(self.fp) * self.fn
        same = (np.asarray(self.predicted) == 0) | (np.asarray(self.rest) == 0)
        # Nothing times the covariance: NaN where a class is unknown.
        return self._compared(np.where(same, 0.0 * np.abs(covariance), ratio(covariance, scale)))

    @property
    @rate(title="Accuracy", meaning="share of cases called right", formula="(TP + TN) / n", headline=6)
    def accuracy(self) -> float:
        return scalar(ratio(self.tp + self.tn, self.total))

    @property
    @rate(formula="(recall + specificity) / 2", paper="Brodersen et al. 2010")
    def balanced_accuracy(self) -> float:
        return scalar((np.asarray(self.recall) + self.specificity) / 2)

    @property
    @rate(
        aliases=("kappa",),
        formula="2 (TP·TN − FP·FN) / ((TP+FP)(FP+TN) + (FN+TN)(TP+FN))",
        paper="Cohen 1960",
        limits=(-1.0, 1.0),
        denominator=lambda table: table.predicted * table.negatives + table.rest * table.positives,
    )
    def cohen_kappa(self) -> float:
        covariance = np.asarray(self.tp) * self.tn - np.asarray(self.fp) * self.fn
        spread = np.asarray(self.predicted) * self.negatives + np.asarray(self.rest) * self.positives
        return self._compared(ratio(2 * covariance, spread))

    @property
    @rate(
        formula="TP / (TP + FP + FN)",
        paper="Jaccard 1901",
        linear=False,
        denominator=lambda table: table.predicted + table.fn,
    )
    def jaccard(self) -> float:
        return self._of(self.tp, self.predicted + self.fn)

    @property
    @rate(formula="recall − FPR", paper="Youden 1950", limits=(-1.0, 1.0))
    def youden_j(self) -> float:
        return scalar(np.asarray(self.recall) - self.fpr)

    @property
    @rate(
        formula="recall / predicted-positive rate = precision / π",
        needs="shape",
        limits=(0.0, INFINITY),
        denominator=lambda table: table.predicted,
    )
    def lift(self) -> float:
        """Recall over the predicted-positive rate: precision over the prior."""
        lift = ratio(self.recall, self.predicted_positive_rate)
        return scalar(lift) if self.unidentified else self._compared(lift)

    @property
    def prevalence(self) -> float:
        return scalar(ratio(self.positives, self.total))


def _confusion(measure: ScoreMeasure, threshold: float) -> Confusion:
    masses = measure.split(threshold)
    (pos_above, pos_below), (neg_above, neg_below) = masses["pos"], masses["neg"]
    predicted, rest = masses["all"]
    return Confusion(
        threshold=threshold,
        pos_above=pos_above,
        pos_below=pos_below,
        neg_above=neg_above,
        neg_below=neg_below,
        predicted=predicted,
        rest=rest,
        unidentified=measure.unidentified,
    )


def confusion(evidence: Measurable, threshold: float) -> Confusion:
    """Confusion masses at a threshold: TP = μ₁[s ≥ t], FP = (μ − μ₁)[s ≥ t].

    Parameters
    ----------
    evidence : evidence or ScoreMeasure
    threshold : float
        On the scale of the scores; ``score >= threshold`` is positive, so inf calls no case positive.

    Examples
    --------
    >>> import halftruth as ht
    >>> table = ht.confusion(ht.Labeled([1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1]), 0.5)
    >>> table.tp, table.fp, table.fn, table.tn, table.precision
    (1.0, 1.0, 1.0, 1.0, 0.5)
    >>> pu = ht.PositiveUnlabeled([0.9, 0.4], [0.9, 0.6, 0.3, 0.2], prior=0.25)
    >>> ht.confusion(pu, 0.5).precision
    0.25
    >>> ht.confusion(ht.PositiveUnlabeled([0.9, 0.4], [0.9, 0.6, 0.3, 0.2]), 0.5).recall  # needs no prior
    0.5
    """
    measure = as_measure(evidence, "nothing")
    measure.warn_of_empty_class()
    return _confusion(measure, _checks.threshold(threshold))


@metric(
    formula="(1 + β²) TP / ((1 + β²) TP + β² FN + FP)",
    paper="van Rijsbergen 1979",
    threshold=True,
    example={"beta": 2.0},
    of_confusion=Confusion.fbeta,
    denominator=lambda table, beta: beta**2 * table.positives + table.predicted,
    certificate="corners",
    linear=True,
)
def fbeta(evidence: Measurable, threshold: float, *, beta: float = 2.0) -> float:
    """F-beta at a threshold, (1 + β²) TP / ((1 + β²) TP + β² FN + FP); β > 1 favours recall.

    Parameters
    ----------
    evidence : evidence or ScoreMeasure
    threshold : float
    beta : float > 0

    Examples
    --------
    >>> import halftruth as ht
    >>> round(ht.fbeta(ht.Labeled([1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1]), 0.4, beta=2), 4)
    0.9091
    """
    measure = as_measure(evidence)
    return measure.result(_confusion(measure, _checks.threshold(threshold)).fbeta(beta))
