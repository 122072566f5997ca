"""The Bayes error from positives alone, each with its confidence r = P(positive | x)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from halftruth.belief import Belief
from halftruth.checks import Vector
from halftruth.evidence import PositiveConfidence
from halftruth.intervals import interval_of, normal_interval
from halftruth.limits.means import (
    HOEFFDING,
    Ends,
    LimitEstimate,
    Mean,
    Settings,
    estimate,
    mean_of,
)
from halftruth.results import Refuted
from halftruth.uncertainty.influence import spread_of

FIRM = 0.99
"""Confidence of the range outside of which a prior is called refuted."""


def from_confidences(evidence: PositiveConfidence, settings: Settings) -> LimitEstimate:
    """π times the mean of min(1, (1−r)/r) over the positives; without a prior that mean alone, β/π."""
    r, weight = evidence.confidences
    mean, prior = mean_of(losses(r), weight, 1.0, settings), evidence.prior
    notes = (str(evidence.assumption), *_on_prior(prior, r, weight, mean.value))
    if prior.value is None:
        product = Product(mean=mean, scaled=mean, prior=prior, method=settings.method)
        return estimate(mean, product.ends, (0.0, 1.0), settings, notes=notes)
    product = Product(mean=mean, scaled=_scaled(mean, prior, settings), prior=prior, method=settings.method)
    low, high = prior.ends() if prior.replicates is None else (0.0, 1.0)
    middle = min(max(0.5, low), high)
    most = min(middle, 1 - middle)
    if product.scaled.value > most + 1e-12:
        notes += (
            f"The value is above {most:.4g}, the most that is possible with this prior: at fault is the "
            f"prior, or the confidences.",
        )
    identified = None
    if prior.is_range:
        identified = union((mean.value, mean.value), (low, high))
    out = estimate(product.scaled, product.ends, (0.0, most), settings, notes=notes, identified=identified)
    return _over_range(out, mean, prior) if prior.is_range else out


def losses(r: Vector) -> Vector:
    """min(1, (1−r)/r): what the best rule loses at cases like this one, for each positive among them."""
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
        draws = self.prior.replicates
        if draws is not None and self.method == HOEFFDING:
            half = (1 + level) / 2  # of the error each
            priors = interval_of(draws, np.asarray([self.prior.value]), half, "percentile")
            return union(self.mean.ends(half, HOEFFDING), priors)
        if self.prior.is_range:
            low, high = self.prior.ends()
            return union(self.mean.ends(level, self.method), (low, high))
        return self.scaled.ends(level, self.method)


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
    error = share * mean.error
    if draws is not None:
        error = math.hypot(error, mean.value * math.sqrt(spread_of(draws)))
    replicates = mean.replicates
    if replicates is not None:
        own = np.random.default_rng(settings.rng).spawn(1)[0]
        replicates = prior.draw(None, len(replicates), own) * replicates
    return replace(mean, value=share * mean.value, error=error, span=share * mean.span, replicates=replicates)


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


def _on_prior(prior: Belief, r: Vector, weight: Vector | None, value: float) -> Iterator[str]:
    """What the confidences themselves say of the prior, and where it came from."""
    if weight is not None:
        r, weight = r[weight > 0], weight[weight > 0]
    zeros = int((r == 0).sum())
    # E₊[1/r] = 1/π.
    inverse = None if zeros else Mean.of(1 / r, weight, math.inf)
    if prior.value is None:
        yield (
            "No prior was given: the value is the Bayes error divided by the prior, β/π. Multiply it by the "
            "share of positives in the population, or pass `prior`."
        )
        if inverse is None:
            yield f"The confidences identify no prior themselves, as {zeros} of them are 0."
        else:
            share = 1 / inverse.value
            yield (
                f"The confidences themselves identify π = {share:.4g}, and with it a Bayes error of "
                f"{share * value:.4g}."
            )
        return
    if prior.estimate is not None:
        yield f"The prior was estimated ({prior.estimate.method}), and the interval allows for its error."
    if inverse is None or inverse.n == 1:
        return
    share = 1 / inverse.value
    low, high = normal_interval(np.asarray([share]), np.asarray([share**2 * inverse.error]), FIRM)
    ends = prior.ends()
    if ends[1] < low or ends[0] > high:
        yield Refuted(
            f"The prior given ({prior.value:.4g}) is refuted: the confidences put it between {low:.4g} and "
            f"{high:.4g} (99%). At fault is the prior, or the confidences."
        )
