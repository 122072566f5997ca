"""Two normal classes on a line, and the score that orders them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from halftruth import _checks
from halftruth._errors import InputError, arg
from halftruth.simulate._draws import FloatArray

__all__ = ["GaussianScores"]


@dataclass(frozen=True, kw_only=True)
class GaussianScores:
    """The law of two normal classes and of their score; see `GaussianClasses` for the fields."""

    prior: float = 0.3
    separation: float = 2.0
    location: float = 0.0
    intercept: float | None = None
    slope: float | None = None
    limits: tuple[float, float] = (0.0, 1.0)
    margin: bool = False

    def __post_init__(self) -> None:
        advice = "Pass the positive fraction of the population, not the odds."
        _checks.inside(self.prior, "prior", 0.0, 1.0, advice=advice)
        _checks.finite(self.separation, "separation")
        _checks.finite(self.location, "location")
        if self.margin:
            if (self.intercept, self.slope, tuple(self.limits)) != (None, None, (0.0, 1.0)):
                raise InputError(
                    f"{arg('intercept')}, {arg('slope')} and {arg('limits')} must be left out with "
                    f"margin=True, got {self.intercept!r}, {self.slope!r} and {self.limits!r}. Drop them, or "
                    "the margin."
                )
            return
        low, high = self.limits
        if not 0.0 <= low < high <= 1.0:
            must, got = "be (low, high) with 0 <= low < high <= 1", repr(self.limits)
            remedy = "Pass margin=True for scores that are no probabilities."
            raise InputError(argument="limits", must=must, got=got, remedy=remedy)
        intercept, slope = self.coefficients
        _checks.finite(intercept, "intercept")
        advice = "The score must rise with x: pass a positive slope, or margin=True."
        _checks.inside(slope, "slope", 0.0, math.inf, advice=advice)

    @property
    def means(self) -> tuple[float, float]:
        """Means of the negatives and of the positives."""
        return self.location, self.location + self.separation

    @property
    def posterior_coefficients(self) -> tuple[float, float]:
        """Intercept and slope of logit P(Y=1 | x)."""
        m0, m1 = self.means
        # The difference of squares as a product, which keeps its digits far from zero.
        intercept = float(logit(self.prior)) - self.separation * (m0 + m1) / 2.0
        return intercept, self.separation

    @property
    def coefficients(self) -> tuple[float, float]:
        """Intercept and slope inside the score's sigmoid."""
        intercept, slope = self.posterior_coefficients
        intercept = intercept if self.intercept is None else self.intercept
        return intercept, slope if self.slope is None else self.slope

    def posterior(self, x: ArrayLike) -> FloatArray:
        """Return P(Y=1 | x).

        Examples
        --------
        >>> GaussianScores(prior=0.5, separation=2.0, location=-1.0).posterior(0.0).item()
        0.5
        """
        intercept, slope = self.posterior_coefficients
        return np.asarray(expit(intercept + slope * np.asarray(x, dtype=np.float64)))

    def score(self, x: ArrayLike) -> FloatArray:
        """Return the score of x.

        Examples
        --------
        >>> GaussianScores(intercept=0.0, slope=1.0, limits=(0.1, 0.9)).score(0.0).item()
        0.5
        """
        if self.margin:
            return np.array(x, dtype=np.float64)
        (low, high), (intercept, slope) = self.limits, self.coefficients
        share = expit(intercept + slope * np.asarray(x, dtype=np.float64))
        # Rounding may carry low + (high - low) past high.
        return np.asarray(np.minimum(low + (high - low) * share, high))

    def rest(self, x: ArrayLike) -> FloatArray:
        """1 − score, by a sigmoid of its own: subtracting from one would lose the digits of a small rest."""
        values = np.asarray(x, dtype=np.float64)
        if self.margin:
            return np.asarray(1.0 - values)
        (low, high), (intercept, slope) = self.limits, self.coefficients
        return np.asarray(1.0 - high + (high - low) * expit(-intercept - slope * values))

    def coordinate(self, score: FloatArray) -> FloatArray:
        """The x of each score: the inverse of `score`, infinite at scores that no x has."""
        if self.margin:
            return score
        (low, high), (intercept, slope) = self.limits, self.coefficients
        share = np.clip((score - low) / (high - low), 0.0, 1.0)
        return np.asarray((logit(share) - intercept) / slope)

    def x_at(self, threshold: float) -> float:
        """Return the x above which score >= threshold: -inf for every x, inf for none."""
        if math.isnan(threshold):
            remedy = "Pass a score to cut at."
            raise InputError(argument="threshold", must="be a number", got="nan", remedy=remedy)
        return float(self.coordinate(np.asarray(threshold, dtype=np.float64)))

    def require_probability(self, name: str) -> None:
        """Raise unless the score is a probability, as the metric `name` needs."""
        if self.margin:
            must, remedy = "have scores that are probabilities", "Make the model with margin=False."
            raise InputError(argument=name, must=must, got="margin=True", remedy=remedy)
