"""The risk of a classifier from positives and their confidences, up to the prior."""

from __future__ import annotations

from halftruth._errors import InputError, arg
from halftruth.evidence import Evidence
from halftruth.measure._score_measure import Number, as_measure, ratio
from halftruth.metrics._mean_losses import ZERO_ONE, Pair, losses, total_loss


def positive_confidence_risk(
    evidence: object, loss: str | Pair = ZERO_ONE, *, threshold: float | None = None
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
    loss : {"zero_one", "logistic", "sigmoid", "ramp", "squared", "log", "brier"} or (ℓ₊, ℓ₋)
        As in `risk`.
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
    pair = losses(loss, threshold)
    if loss == ZERO_ONE and threshold is None:
        raise InputError(
            f"The loss 'zero_one' needs a threshold. Pass {arg('threshold', ...)}, on the scale of the "
            "scores."
        )
    if isinstance(evidence, Evidence) and evidence.confidences is not None:
        # Divided by π the mean over the positives has no π in it, whatever was given.
        evidence = evidence.with_shares()
    measure = as_measure(evidence)
    return measure.result(ratio(total_loss(measure, loss, pair), measure.positives))
