"""Proper scores: Brier and log loss, linear in the pair (μ, μ₁)."""

from __future__ import annotations

import numpy as np

from halftruth.measure._score_measure import Number, as_measure, integral, ratio, where_both
from halftruth.measure._sorted_measure import FoldedMeasure

EPSILON = float(np.finfo(np.float64).eps)


def brier(evidence: object) -> Number:
    """Brier score, ∫ s² dμ − 2 ∫ s dμ₁ + ∫ dμ₁, per case.

    Examples
    --------
    >>> import halftruth as ht
    >>> ht.brier(ht.Labeled([1, 0], [0.8, 0.4]))
    0.1
    """
    measure = as_measure(evidence)
    measure.need_probabilities("The Brier score")
    if isinstance(measure, FoldedMeasure):
        return measure.result(ratio(measure.fold.square_loss, measure.total))
    s = measure.score
    # Squared errors of the two classes, so that a perfect score gives exactly 0.
    loss = integral((1 - s) ** 2, measure.pos_mass) + integral(s**2, measure.neg_mass)
    return measure.result(ratio(loss, measure.total))


def brier_skill(evidence: object) -> Number:
    """1 − Brier / π(1−π): 0 for a forecast of the prior, 1 for perfection.

    Examples
    --------
    >>> import halftruth as ht
    >>> ht.brier_skill(ht.Labeled([1, 0], [0.5, 0.5]))
    0.0
    """
    measure = as_measure(evidence)
    variance = ratio(measure.positives * measure.negatives, measure.total**2)
    skill = 1 - ratio(brier(measure), variance)
    return measure.result(where_both(skill, measure.positives, measure.negatives))


def log_loss(evidence: object) -> Number:
    """Logarithmic loss, −∫ log s dμ₁ − ∫ log(1−s) d(μ−μ₁), per case; s is clipped at float64 eps.

    Examples
    --------
    >>> import halftruth as ht
    >>> round(ht.log_loss(ht.Labeled([1, 0], [0.5, 0.5])), 4)
    0.6931
    """
    measure = as_measure(evidence)
    measure.need_probabilities("Log loss")
    if isinstance(measure, FoldedMeasure):
        return measure.result(ratio(measure.fold.log_loss, measure.total))
    if_positive = -np.log(np.clip(measure.score, EPSILON, 1 - EPSILON))
    if_negative = -np.log(np.clip(1 - measure.score, EPSILON, 1 - EPSILON))
    loss = integral(if_positive, measure.pos_mass) + integral(if_negative, measure.neg_mass)
    return measure.result(ratio(loss, measure.total))
