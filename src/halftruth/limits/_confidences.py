"""The Bayes error from positives alone, each with its confidence r = P(positive | x)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from halftruth._checks import Vector
from halftruth._errors import InputError, Note, arg
from halftruth.evidence import Evidence, PositiveConfidence
from halftruth.inference._influence import identified_range, spread_of
from halftruth.inference._notes import on_prior
from halftruth.limits._row_means import (
    FEW_CARRIERS,
    FIRM,
    HOEFFDING,
    ROUNDING,
    Ends,
    LimitEstimate,
    Mean,
    Settings,
    cut,
    estimate,
    scaled,
)
from halftruth.measure._score_measure import Number, as_measure, ratio
from halftruth.metrics._mean_losses import ZERO_ONE, Pair, losses, total_loss
from halftruth.prior._belief import Belief
from halftruth.results._intervals import interval_of

__all__ = ["from_confidences", "positive_confidence_risk"]

FEWEST = 30  # rows from which a standard error says how far the prior that they identify may be off
N_ATOMS = 128  # distinct confidences on which that error is judged; see `Support.coarse`


def from_confidences(evidence: Evidence, settings: Settings) -> LimitEstimate:
    """π times the mean of min(1, (1−r)/r) over the positives; without a prior that mean alone, β/π."""
    assert evidence.confidences is not None  # asked for by the caller
    r, weight = evidence.confidences
    mean, prior = Mean.of(losses_of_positives(r), weight, 1.0, settings), evidence.prior
    assert evidence.assumption is not None  # of confidences, as of the caller's
    notes: tuple[Note, ...] = (evidence.assumption, *_on_prior(prior, r, weight, mean.value))
    if prior.value is None:
        return estimate(mean, (0.0, 1.0), settings, notes=notes)
    product = Product(mean=mean, scaled=_scaled(mean, prior, settings), prior=prior, method=settings.method)
    # No Bayes error exceeds min(π, 1−π), the error of calling all cases alike: over a range of priors the
    # largest of these, at the π nearest to ½.
    low, high = prior.ends() if prior.replicates is None else (0.0, 1.0)
    middle = min(max(0.5, low), high)
    most = min(middle, 1 - middle)
    if product.scaled.value > most + ROUNDING:
        text = f"The value is above {most:.4g}, the most that is possible with this prior: at fault is the"
        text += " prior, or the confidences."
        notes += (Note("refuted" if product.impossible() else "impossible", text),)
    identified = product.over((mean.value, mean.value), (low, high)) if prior.is_range else None
    known: dict[str, Any] = {"ends": product.ends, "notes": notes, "identified": identified}
    out = estimate(product.scaled, (0.0, most), settings, **known)
    return _over_range(out, mean, prior) if prior.is_range else out


def losses_of_positives(r: Vector) -> Vector:
    """min(1, (1−r)/r): what the best rule loses at cases like this one, for each positive among them."""
    # A positive with confidence r stands for 1/r cases, of which the best rule gets min(r, 1−r) wrong.
    out = np.ones_like(r)
    np.divide(1 - r, r, out=out, where=r > 0.5)
    return out


@dataclass(frozen=True, kw_only=True, eq=False)
class Product:
    """A mean, and its product with what is known of the prior."""

    mean: Mean
    scaled: Mean
    prior: Belief
    method: str

    def ends(self, level: float) -> Ends:
        """(low, high) of the product; over a range of priors the union."""
        if self.prior.replicates is not None and self.method == HOEFFDING:
            half = (1 + level) / 2  # of the error each
            return self.over(self.mean.ends(half, HOEFFDING), self._priors(half))
        if self.prior.is_range:
            return self.over(self.mean.ends(level, self.method), self._priors(level))
        return self.scaled.ends(level, self.method)

    def _priors(self, level: float) -> Ends:
        """What the prior may be; of an estimate with replicates at a level."""
        draws = self.prior.replicates
        if draws is not None:
            return interval_of(draws, np.asarray([self.prior.value]), level, "percentile")
        return self.prior.span

    def over(self, ends: Ends, priors: Ends) -> Ends:
        """The union of the products over a range of priors."""
        # As for one prior: where the value itself is not possible nothing is cut, so that it lies inside.
        assert self.prior.value is not None  # without one there is no product
        if self.scaled.value > 1 - self.prior.value + ROUNDING:
            return priors[0] * ends[0], priors[1] * ends[1]
        return union(ends, priors)

    def impossible(self) -> bool:
        """Whether π · (low, …) is more than 1 − π for every prior, by a bound that holds for any rows."""
        half = (1 + FIRM) / 2  # of the error each
        low, least = self.mean.certain_low(half), self._priors(half)[0]
        return least * low > 1 - least + ROUNDING


def union(ends: Ends, priors: Ends) -> Ends:
    """The union over a range of priors π of π · (low, high), each cut to [0, min(π, 1−π)]."""
    low, high = max(ends[0], 0.0), min(ends[1], 1.0)
    if math.isnan(ends[0]):
        return ends
    # min(π·high, 1−π) rises up to π = 1/(1 + high) and falls after it.
    peak = min(max(1 / (1 + high), priors[0]), priors[1])
    return min(min(prior * low, 1 - prior) for prior in priors), min(peak * high, 1 - peak)


def _scaled(mean: Mean, prior: Belief, settings: Settings) -> Mean:
    """The product with the prior's value; an estimate's error is carried in."""
    assert prior.value is not None  # without one there is no product
    share, draws = prior.value, prior.replicates
    # The variance of a product of independent estimates, to first order.
    error = share * mean.error
    if draws is not None:
        error = math.hypot(error, mean.value * math.sqrt(spread_of(draws)))
    replicates = mean.replicates
    if replicates is not None:
        generator = np.random.default_rng(settings.rng).spawn(1)[0]
        replicates = prior.draw(None, len(replicates), generator) * replicates
    low, high = mean.extremes
    return replace(
        mean,
        value=share * mean.value,
        error=error,
        span=share * mean.span,
        extremes=(share * low, share * high),
        replicates=replicates,
    )


def _over_range(out: LimitEstimate, mean: Mean, prior: Belief) -> LimitEstimate:
    """The estimate with what other intervals need: the ends of the range and its middle."""
    low, high = prior.ends()
    shares = np.asarray([low, prior.value, high])
    return replace(
        out,
        centers=shares * mean.value,
        errors=None if out.errors is None else shares * mean.error,
        replicates=None if out.replicates is None else shares[:, None] * mean.replicates,
    )


def _on_prior(prior: Belief, r: Vector, weight: Vector | None, value: float) -> Iterator[Note]:
    """What the confidences themselves say of the prior, and where it came from."""
    zeros = int((r == 0).sum())
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        inverse = Mean.of(1 / r, weight, math.inf)  # E₊[1/r] = 1/π
    if prior.value is None:
        yield Note(
            "identifiability",
            "No prior was given: the value is the Bayes error divided by the prior, β/π. Multiply it by the "
            f"share of positives in the population, or pass {arg('prior')}.",
        )
        if zeros:
            text = f"The confidences identify no prior themselves, as {zeros} of them are 0."
            yield Note("identifiability", text)
        else:
            share = 1 / inverse.value
            text = f"The confidences themselves identify π = {share:.4g}, and with it a Bayes error of"
            yield Note("prior", f"{text} {share * value:.4g}.")
    elif prior.estimate is not None:
        text = "The interval allows for the error of the prior, which was estimated"
        yield Note("prior", f"{text} ({prior.estimate.method}).")
    if not zeros and inverse.n >= FEWEST and inverse.carriers > 0:
        yield from _checked(prior, r, weight, below=inverse.carriers >= FEW_CARRIERS)


def _checked(prior: Belief, r: Vector, weight: Vector | None, *, below: bool) -> Iterator[Note]:
    """The 99% range of the prior that the confidences identify, or that they refute the one given."""
    # ``below``: whether it has a lower end. Where few rows carry the spread of 1/r, smaller confidences may
    # be rare and missing by chance, and the prior lower than it looks.
    evidence = PositiveConfidence(r, sample_weight=None if weight is None else scaled(weight))
    evidence.prior = prior
    support = evidence.table.support.coarse(N_ATOMS)
    identified = identified_range(evidence, support, one_sample=evidence.rows_are_one_sample)
    if identified is not None:
        low, high = cut(identified, (0.0, 1.0))
        yield from on_prior(evidence, (low if below else 0.0, high))


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
