"""True rates at a threshold: score >= threshold is called positive.

With x_t the feature at which the score is the threshold, TPR = Phi(m1 - x_t) and
FPR = Phi(m0 - x_t). A rate whose denominator is empty is NaN.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.special import expit, log_ndtr, logit, ndtr

from halftruth import _checks
from halftruth.simulate.scores import GaussianScores


@dataclass(frozen=True, kw_only=True)
class Cells:
    """The four cells of the confusion matrix as shares of the population."""

    tp: float
    fp: float
    fn: float
    tn: float


def cells(model: GaussianScores, threshold: float) -> Cells:
    """Return the true confusion matrix at `threshold`."""
    cut = model.x_at(threshold)
    m0, m1 = model.means
    return Cells(
        tp=model.prior * float(ndtr(m1 - cut)),
        fp=(1.0 - model.prior) * float(ndtr(m0 - cut)),
        fn=model.prior * float(ndtr(cut - m1)),
        tn=(1.0 - model.prior) * float(ndtr(cut - m0)),
    )


def precision_above(model: GaussianScores, cut: float) -> float:
    """Return P(Y=1 | X >= cut); by logarithms, so that a far tail is still a ratio."""
    m0, m1 = model.means
    odds = float(logit(model.prior)) + float(log_ndtr(m1 - cut)) - float(log_ndtr(m0 - cut))
    return float(expit(odds))


def prevalence(model: GaussianScores, *, threshold: float | None = None) -> float:
    """P(Y=1), whatever the threshold."""
    # Takes a threshold so that all the rates can be asked for in one loop.
    return model.prior


def predicted_positive_rate(model: GaussianScores, *, threshold: float) -> float:
    """TP + FP."""
    cell = cells(model, threshold)
    return cell.tp + cell.fp


def precision(model: GaussianScores, *, threshold: float) -> float:
    """TP / (TP + FP)."""
    return precision_above(model, model.x_at(threshold))


def recall(model: GaussianScores, *, threshold: float) -> float:
    """TP / (TP + FN)."""
    return float(ndtr(model.means[1] - model.x_at(threshold)))


def fpr(model: GaussianScores, *, threshold: float) -> float:
    """FP / (FP + TN)."""
    return float(ndtr(model.means[0] - model.x_at(threshold)))


def specificity(model: GaussianScores, *, threshold: float) -> float:
    """TN / (FP + TN)."""
    return float(ndtr(model.x_at(threshold) - model.means[0]))


def npv(model: GaussianScores, *, threshold: float) -> float:
    """TN / (TN + FN)."""
    cut = model.x_at(threshold)
    m0, m1 = model.means
    odds = float(logit(model.prior)) + float(log_ndtr(cut - m1)) - float(log_ndtr(cut - m0))
    return float(expit(-odds))


def fdr(model: GaussianScores, *, threshold: float) -> float:
    """FP / (TP + FP)."""
    return 1.0 - precision(model, threshold=threshold)


def f1(model: GaussianScores, *, threshold: float) -> float:
    """2 TP / (2 TP + FP + FN)."""
    return fbeta(model, beta=1.0, threshold=threshold)


def fbeta(model: GaussianScores, *, beta: float, threshold: float) -> float:
    """(1 + b²) TP / ((1 + b²) TP + b² FN + FP)."""
    advice = "Pass how many times recall counts as much as precision."
    square = _checks.inside(beta, "beta", 0.0, math.inf, advice=advice) ** 2
    cell = cells(model, threshold)
    hits = (1.0 + square) * cell.tp
    return hits / (hits + square * cell.fn + cell.fp)


def accuracy(model: GaussianScores, *, threshold: float) -> float:
    """TP + TN."""
    cell = cells(model, threshold)
    return cell.tp + cell.tn


def balanced_accuracy(model: GaussianScores, *, threshold: float) -> float:
    """(recall + specificity) / 2."""
    return 0.5 * (recall(model, threshold=threshold) + specificity(model, threshold=threshold))


def mcc(model: GaussianScores, *, threshold: float) -> float:
    """Correlation of call and class."""
    cell = cells(model, threshold)
    called = (cell.tp + cell.fp) * (cell.fn + cell.tn)
    if called == 0.0:
        return math.nan
    spread = math.sqrt(called * model.prior * (1.0 - model.prior))
    return (cell.tp * cell.tn - cell.fp * cell.fn) / spread


def cohen_kappa(model: GaussianScores, *, threshold: float) -> float:
    """Agreement of call and class beyond that of chance."""
    cell = cells(model, threshold)
    agreed = cell.tp + cell.tn
    called = cell.tp + cell.fp
    chance = called * model.prior + (1.0 - called) * (1.0 - model.prior)
    return (agreed - chance) / (1.0 - chance)


def jaccard(model: GaussianScores, *, threshold: float) -> float:
    """TP / (TP + FP + FN)."""
    cell = cells(model, threshold)
    return cell.tp / (cell.tp + cell.fp + cell.fn)


def youden_j(model: GaussianScores, *, threshold: float) -> float:
    """Recall - FPR."""
    return recall(model, threshold=threshold) - fpr(model, threshold=threshold)


def lift(model: GaussianScores, *, threshold: float) -> float:
    """Precision / P(Y=1)."""
    return precision(model, threshold=threshold) / model.prior


def net_benefit(model: GaussianScores, *, threshold: float) -> float:
    """TP - FP t / (1 - t) per case."""
    model.require_probability("net_benefit")
    advice = "Pass the probability at which one would act."
    t = _checks.inside(threshold, "threshold", 0.0, 1.0, closed="left", advice=advice)
    cell = cells(model, t)
    return cell.tp - cell.fp * t / (1.0 - t)
