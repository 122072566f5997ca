"""The risk of a classifier from positives and their confidences, up to the prior."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from halftruth import checks
from halftruth.checks import Vector
from halftruth.errors import InputError
from halftruth.evidence import PositiveConfidence
from halftruth.measure import Number, ScoreMeasure, as_measure, integral, ratio
from halftruth.metrics.proper import EPSILON

Loss = Callable[[Vector], Vector]
MARGIN: dict[str, Loss] = {"logistic": lambda z: np.logaddexp(0.0, -z), "squared": lambda z: (z - 1) ** 2}
"""Losses ℓ(z) of the margin z: the score of a positive, minus the score of a negative."""
PROBABILITY: dict[str, Loss] = {
    "log": lambda p: -np.log(np.clip(p, EPSILON, 1 - EPSILON)),
    "brier": lambda p: (1 - p) ** 2,
}
"""Losses of the probability p given to the class that is true."""
ZERO_ONE = "zero_one"
LOSSES = (ZERO_ONE, *MARGIN, *PROBABILITY)


def positive_confidence_risk(
    evidence: object, loss: str | tuple[Loss, Loss] = ZERO_ONE, *, threshold: float | None = None
) -> Number:
    """Expected loss divided by the prior, (∫ ℓ₊ dμ₁ + ∫ ℓ₋ dμ₀) / μ₁(all).

    From positives with confidences r this is the mean of ℓ₊ + (1−r)/r · ℓ₋ over the positives, so that
    classifiers can be compared where nobody knows the prior: it multiplies all of their risks alike. A prior
    that was given changes nothing.

    Parameters
    ----------
    evidence : evidence or ScoreMeasure
        Of any kind; `PositiveConfidence` is the one that needs no prior. Scores are those of the classifier.
        `evaluate` and `compare` pass measures, which know the prior: give them evidence without one.
    loss : {"zero_one", "logistic", "squared", "log", "brier"} or (ℓ₊, ℓ₋)
        "logistic", log(1 + e^−z), and "squared", (z − 1)², read the score as the margin z of the positive
        class; "log" and "brier" read it as a probability. A pair of functions: the losses of scores, an
        array, where the case is positive and where it is negative.
    threshold : float, optional
        Of "zero_one", and needed there: cases with this score or more are called positive.

    Returns
    -------
    float
        Times the prior it is the risk: with "zero_one" the error rate.

    Notes
    -----
    Cases that are certain (r = 1) say nothing of the negatives, and those with a small r stand for many:
    E₊[1/r²] must be finite for the intervals of `evaluate` and `compare`. The least "zero_one" risk that any
    classifier can have is `bayes_error`, which without a prior is relative to it too.

    Examples
    --------
    >>> import halftruth as ht
    >>> from functools import partial
    >>> r = [0.9, 0.8, 0.5, 0.25]
    >>> better = ht.PositiveConfidence(r, [0.9, 0.8, 0.7, 0.1])
    >>> worse = ht.PositiveConfidence(r, [0.9, 0.8, 0.7, 0.6])
    >>> round(ht.positive_confidence_risk(better, threshold=0.5), 4)
    0.5903
    >>> risk = partial(ht.positive_confidence_risk, threshold=0.5)
    >>> round(ht.compare({"better": better, "worse": worse}, {"risk": risk})["risk"].value, 4)
    -0.5
    """
    pair = _losses(loss, threshold)
    if isinstance(evidence, PositiveConfidence):
        # Divided by π the mean over the positives has no π in it, whatever was given.
        evidence = PositiveConfidence.from_table(evidence.table)
    measure = as_measure(evidence)
    if isinstance(loss, str) and loss in PROBABILITY:
        measure.need_probabilities(f"The {loss!r} loss")
    if pair is None:
        masses = measure.split(checks.threshold(threshold))
        total = np.asarray(masses["pos"][1] + masses["neg"][0])
    else:
        of_positive, of_negative = (_at(function, measure) for function in pair)
        total = integral(of_positive, measure.pos_mass) + integral(of_negative, measure.neg_mass)
    return measure.result(ratio(total, measure.positives))


def _losses(loss: Any, threshold: Any) -> tuple[Loss, Loss] | None:
    """ℓ₊ and ℓ₋ as functions of the score; None for "zero_one", which needs only sums."""
    if isinstance(loss, str) or not isinstance(loss, (tuple, list)):
        checks.choice(loss, "loss", LOSSES)
    elif len(loss) != 2 or not all(map(callable, loss)):
        raise InputError(
            f"`loss` must be one of {', '.join(map(repr, LOSSES))}, or two functions of the score (for "
            f"positives, for negatives), got {loss!r}."
        )
    if loss == ZERO_ONE:
        if threshold is None:
            raise InputError(
                "The loss 'zero_one' needs a threshold. Pass threshold=…, on the scale of the scores."
            )
        return None
    if threshold is not None:
        raise InputError(f"`threshold` is for the loss 'zero_one' only, got {threshold!r} with {loss!r}.")
    if not isinstance(loss, str):
        return loss[0], loss[1]
    if loss in MARGIN:
        margin = MARGIN[loss]
        return margin, lambda s: margin(-s)
    probability = PROBABILITY[loss]
    return probability, lambda s: probability(1 - s)


def _at(function: Loss, measure: ScoreMeasure) -> Vector:
    values = np.asarray(function(measure.score), dtype=np.float64)
    if values.shape not in ((), measure.score.shape):
        raise InputError(
            f"A function in `loss` must return one number for each score, got shape {values.shape} for "
            f"{measure.score.shape[0]} scores."
        )
    return np.broadcast_to(values, measure.score.shape)
