"""Mean losses, linear in the pair (μ, μ₁): the proper scores of probabilities, and the risk by any loss."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, arg
from halftruth.measure._arithmetic import integral, ratio, where_both
from halftruth.measure._score_measure import Measurable, ScoreMeasure, as_measure
from halftruth.metrics._record import INFINITY, Scale, metric

__all__ = [
    "EPSILON", "LOSSES", "MARGIN", "PROBABILITY", "ZERO_ONE", "Loss", "Pair", "brier", "brier_skill",
    "log_loss", "losses", "risk", "total_loss",
]  # fmt: skip

EPSILON = float(np.finfo(np.float64).eps)

proper_loss = partial(metric, better="low", probability=True, certificate="own", linear=True)
"""Declares a mean loss of probabilities that is least where they are true."""


@proper_loss(
    title="Brier score",
    meaning="mean squared error of the scores; lower is better",
    formula="(∫ s² dμ − 2 ∫ s dμ₁ + ∫ dμ₁) / n",
    paper="Brier 1950",
    headline=7,
)
def brier(evidence: Measurable) -> float:
    """Brier score, ∫ s² dμ − 2 ∫ s dμ₁ + ∫ dμ₁, per case.

    Examples
    --------
    >>> import halftruth as ht
    >>> ht.brier(ht.Labeled([1, 0], [0.8, 0.4]))
    0.1
    """
    measure = as_measure(evidence)
    measure.need_probabilities("The Brier score")
    return measure.result(ratio(measure.squared_loss(), measure.total))


@proper_loss(formula="1 − Brier / (π (1−π))", paper="Murphy 1988", better="high", limits=(-INFINITY, 1.0))
def brier_skill(evidence: Measurable) -> float:
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


@proper_loss(
    title="Log loss",
    meaning="price of confident mistakes; lower is better",
    aliases=("logloss", "cross_entropy"),
    formula="(−∫ log s dμ₁ − ∫ log(1−s) d(μ − μ₁)) / n, s clipped at float64 eps",
    paper="Good 1952",
    limits=(0.0, INFINITY),
    headline=8,
)
def log_loss(evidence: Measurable) -> float:
    """Logarithmic loss, −∫ log s dμ₁ − ∫ log(1−s) d(μ−μ₁), per case; s is clipped at float64 eps.

    Examples
    --------
    >>> import halftruth as ht
    >>> round(ht.log_loss(ht.Labeled([1, 0], [0.5, 0.5])), 4)
    0.6931
    """
    measure = as_measure(evidence)
    measure.need_probabilities("Log loss")
    return measure.result(ratio(measure.log_loss(), measure.total))


Loss = Callable[[Vector], Vector]
Pair = tuple[Loss, Loss]


def _sigmoid(z: Vector) -> Vector:
    return np.asarray(np.exp(-np.logaddexp(0.0, z)))


MARGIN: dict[str, Loss] = {
    "sigmoid": _sigmoid,
    "logistic": lambda z: np.logaddexp(0.0, -z),
    "squared": lambda z: (z - 1) ** 2,
    "ramp": lambda z: np.clip(0.5 - 0.5 * z, 0.0, 1.0),
}
"""Losses ℓ(z) of the margin z: the score of a positive, minus the score of a negative."""
PROBABILITY: dict[str, Loss] = {
    "log": lambda p: -np.log(np.clip(p, EPSILON, 1 - EPSILON)),
    "brier": lambda p: (1 - p) ** 2,
}
"""Losses of the probability p given to the class that is true."""
ZERO_ONE = "zero_one"
LOSSES = (ZERO_ONE, *MARGIN, *PROBABILITY)


def _scale_of_loss(loss: object) -> Scale:
    """What a loss takes the scores for; of a user's own nobody knows."""
    if not isinstance(loss, str):
        return "score"
    return "probability" if loss in PROBABILITY else "margin"


@metric(
    title="Risk",
    meaning="expected loss of a case; lower is better",
    formula="(∫ ℓ(s) dμ₁ + ∫ ℓ(−s) d(μ − μ₁)) / n, ℓ a loss of the margin s, `loss=`",
    paper="du Plessis, Niu & Sugiyama 2014; Kiryo et al. 2017",
    better="low",
    limits=(0.0, INFINITY),
    scale_of_loss=_scale_of_loss,
    example={"loss": "sigmoid"},
    certificate="own",
    linear=True,
)
def risk(evidence: Measurable, loss: str | Pair = "logistic", *, threshold: float | None = None) -> float:
    """Expected loss, (∫ ℓ₊ dμ₁ + ∫ ℓ₋ d(μ − μ₁)) / n: what learning makes small.

    From positives and unlabeled rows this is the unbiased PU risk (uPU), and with a purity below 1 that of
    noisy positives; `evaluate` gives its interval. On held-out rows it chooses between models, and says when
    to stop training.

    Parameters
    ----------
    evidence : evidence or ScoreMeasure
    loss : {"logistic", "sigmoid", "ramp", "squared", "zero_one", "log", "brier"} or (ℓ₊, ℓ₋)
        The first four read the score as a margin z, positive for the positive class, such as the logit:
        log(1 + e^−z), 1/(1 + e^z), (1 − z)/2 within [0, 1], (z − 1)². Probabilities, read so, give a number
        that means little: "log" and "brier" are theirs, and are `log_loss` and `brier`. A pair of functions:
        the losses of scores, an array, where the case is positive and where it is negative.
    threshold : float, optional
        Of "zero_one", the error rate: cases with this score or more are called positive; by default 0.

    Returns
    -------
    float
        Linear in (μ, μ₁), so unbiased wherever these are. Where μ₁ is signed it may be negative.

    Examples
    --------
    >>> import halftruth as ht
    >>> logits = [2.0, -1.0, 0.5, -3.0]
    >>> round(ht.risk(ht.Labeled([1, 0, 0, 0], logits)), 4)
    0.3657
    >>> ht.risk(ht.Labeled([1, 0, 0, 0], logits), "zero_one")
    0.25

    One of two positives is known, and half of the population is positive:

    >>> round(ht.risk(ht.PositiveUnlabeled([2.0], [1.5, -1.0], prior=0.5), "sigmoid"), 4)
    0.1625
    """
    pair = losses(loss, threshold)
    measure = as_measure(evidence)
    return measure.result(ratio(total_loss(measure, loss, pair), measure.total))


def losses(loss: Any, threshold: Any) -> Pair:
    """ℓ₊ and ℓ₋ as functions of the score."""
    if isinstance(loss, str) or not isinstance(loss, (tuple, list)):
        _checks.choice(loss, "loss", LOSSES)
    elif len(loss) != 2 or not all(map(callable, loss)):
        raise InputError(
            argument="loss",
            must=f"be one of {', '.join(map(repr, LOSSES))}, or two functions of the score (for "
            "positives, for negatives)",
            got=repr(loss),
        )
    if loss == ZERO_ONE:
        cut = _checks.threshold(0.0 if threshold is None else threshold)
        return (lambda s: (s < cut) * 1.0), (lambda s: (s >= cut) * 1.0)
    if threshold is not None:
        raise InputError(
            f"{arg('threshold')} is for the loss 'zero_one' only, got {threshold!r} with {loss!r}."
        )
    if not isinstance(loss, str):
        return loss[0], loss[1]
    if loss in MARGIN:
        margin = MARGIN[loss]
        return margin, lambda s: margin(-s)
    probability = PROBABILITY[loss]
    return probability, lambda s: probability(1 - s)


def total_loss(measure: ScoreMeasure, loss: str | Pair, pair: Pair) -> Vector:
    """∫ ℓ₊ dμ₁ + ∫ ℓ₋ d(μ − μ₁)."""
    if isinstance(loss, str) and loss in PROBABILITY:
        measure.need_probabilities(f"The {loss!r} loss")
    of_positive, of_negative = (_at(function, measure) for function in pair)
    return np.asarray(integral(of_positive, measure.pos_mass) + integral(of_negative, measure.neg_mass))


def _at(function: Loss, measure: ScoreMeasure) -> Vector:
    values = np.asarray(function(measure.score), dtype=np.float64)
    if values.shape not in ((), measure.score.shape):
        raise InputError(
            f"A function in {arg('loss')} must return one number for each score, got shape {values.shape} "
            f"for {measure.score.shape[0]} scores."
        )
    return np.broadcast_to(values, measure.score.shape)
