"""ScoreMeasure: the mass of the population and of its positives along the score.

Masses may carry leading axes (resamples, priors); every functional works along the last one.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np

from halftruth._checks import Vector
from halftruth._errors import EmptyClassWarning, InputError, NotIdentifiable, arg
from halftruth.measure._noise import Noise

Number = Any
"""A float, or an array over the leading axes of a measure."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreMeasure:
    """Atoms (score, mass, pos_mass), scores ascending and distinct.

    Parameters
    ----------
    score : (m,) array
    mass, pos_mass : (..., m) arrays
        μ and μ₁ of each score, in rows: their sums are the size of the population sample and the
        number of positives in it. ``pos_mass`` may be signed.
    neg_mass : (..., m) array, optional
        μ − μ₁, where it is known without the rounding of that difference.
    size : float
        Rows of full labels that would be as informative; sets the default number of bins.
    alpha : float or None
        Share of positives among the unlabeled, where there are any.
    unidentified : str or None
        Why the prior is unknown. Then ``pos_mass`` is known only up to a factor, or NaN where its
        shape hangs on the prior too.
    noise : Noise or None
        How far sampling moves it, where that is known.
    """

    score: Vector
    mass: Vector
    pos_mass: Vector
    size: float = 1.0
    neg_mass: Number = None
    alpha: Number = None
    unidentified: str | None = None
    noise: Noise | None = field(default=None, repr=False)
    memo: dict[str, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if self.neg_mass is not None:
            return
        for name in ("score", "mass", "pos_mass"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=np.float64))
        if not (np.diff(self.score) > 0).all():
            raise InputError(f"{arg('score')} must be ascending and distinct. Make measures from evidence.")
        object.__setattr__(self, "neg_mass", self.mass - self.pos_mass)

    @property
    def total(self) -> Vector:
        return self._once("total", self.mass)

    @property
    def positives(self) -> Vector:
        return self._once("positives", self.pos_mass)

    @property
    def negatives(self) -> Vector:
        return self._once("negatives", self.neg_mass)

    def _once(self, name: str, masses: Vector) -> Vector:
        if name not in self.memo:
            self.memo[name] = masses.sum(axis=-1)
        return np.asarray(self.memo[name])

    @property
    def prior(self) -> Number:
        """π = μ₁(all) / μ(all)."""
        self.need_prior()
        return scalar(ratio(self.positives, self.total))

    @property
    def shape(self) -> tuple[int, ...]:
        """The leading axes: () for one measure, (n,) for n resamples of one."""
        return self.mass.shape[:-1]

    @property
    def span(self) -> tuple[float, float]:
        """The lowest and the highest score."""
        return float(self.score[0]), float(self.score[-1])

    @property
    def bounded(self) -> bool:
        """Whether all scores lie in [0, 1]."""
        low, high = self.span
        return low >= 0 and high <= 1

    @property
    def shapeless(self) -> bool:
        """Whether not even the distribution of the positives is known."""
        return bool(np.isnan(self.pos_mass).all())

    def split(self, threshold: float) -> dict[str, tuple[Number, Number]]:
        """The masses with a score at or above the threshold, and below it."""
        first = int(np.searchsorted(self.score, threshold, side="left"))
        return {
            name: (scalar(masses[..., first:].sum(axis=-1)), scalar(masses[..., :first].sum(axis=-1)))
            for name, masses in (("pos", self.pos_mass), ("neg", self.neg_mass), ("all", self.mass))
        }

    def need_prior(self) -> None:
        """Raise unless the positives' mass is known in full."""
        if self.unidentified is not None:
            raise NotIdentifiable(self.unidentified)

    def need_probabilities(self, what: str) -> None:
        """Raise unless the scores can be read as probabilities."""
        if not self.bounded:
            outside = (self.score < 0) | (self.score > 1)
            low, high = self.span
            raise InputError(
                f"{what} needs scores in [0, 1], got {int(outside.sum())} distinct score(s) outside, "
                f"from {low:g} to {high:g}. Pass probabilities; scores are never "
                f"transformed by guess."
            )

    @property
    def empty_classes(self) -> tuple[str, ...]:
        """Which of the two classes have no mass, of a single measure."""
        if self.shape or self.unidentified is not None:
            return ()
        masses = {"positive": self.positives, "negative": self.negatives}
        return tuple(name for name, mass in masses.items() if abs(mass) <= 1e-12 * abs(self.total))

    def result(self, value: Number) -> Number:
        """A functional's value as it is returned; one warning where an empty class leaves it undefined."""
        if self.shape == () and np.isnan(value).any():
            self.warn_of_empty_class()
        return scalar(value)

    def warn_of_empty_class(self) -> None:
        for name in self.empty_classes:
            message = f"No {name} case: metrics that need one are NaN."
            warnings.warn(message, EmptyClassWarning, stacklevel=4)

    def __getitem__(self, index: int) -> ScoreMeasure:
        """One of the measures along the first leading axis."""
        alpha = self.alpha[index] if np.ndim(self.alpha) else self.alpha
        return ScoreMeasure(
            score=self.score,
            mass=self.mass[index],
            pos_mass=self.pos_mass[index],
            neg_mass=self.neg_mass[index],
            size=self.size,
            alpha=alpha,
            unidentified=self.unidentified,
            noise=None if self.noise is None else self.noise[index],
        )

    def __repr__(self) -> str:
        return f"ScoreMeasure({len(self.score)} scores, shape={self.shape})"


@runtime_checkable
class HasMeasure(Protocol):
    """Evidence of any kind."""

    def measure(self) -> ScoreMeasure: ...


def as_measure(evidence: object, needs: str = "prior") -> ScoreMeasure:
    """The measure of evidence, or the measure itself.

    ``needs`` says what of the positives must be known: "prior" (all of their mass), "shape" (their
    distribution, up to a factor) or "nothing".
    """
    if isinstance(evidence, ScoreMeasure):
        measure = evidence
    elif isinstance(evidence, HasMeasure):
        measure = evidence.measure()
    else:
        raise InputError(
            f"Expected evidence (Labeled, SoftLabeled, PositiveUnlabeled, PositiveConfidence) or a "
            f"ScoreMeasure, got {type(evidence).__name__}. Wrap your arrays, e.g. "
            f"Labeled(y_true, y_score)."
        )
    if needs == "prior" or (needs == "shape" and measure.shapeless):
        measure.need_prior()
    return measure


def integral(function: Number, masses: Number) -> Vector:
    """∫ function d masses, along the last axis; the same whatever the number of threads."""
    return np.asarray(np.einsum("...i,...i->...", function, masses))


def where_both(value: Number, positives: Number, negatives: Number) -> Vector:
    """The value, NaN where a class is empty: what compares the classes says nothing then."""
    positives, negatives = np.abs(positives), np.abs(negatives)
    # A class that is there only by rounding is empty.
    return np.where(np.minimum(positives, negatives) <= 1e-12 * (positives + negatives), np.nan, value)


def ratio(numerator: Number, denominator: Number) -> Vector:
    """Quotient, NaN where the denominator is 0."""
    numerator, denominator = np.broadcast_arrays(
        np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    )
    out = np.full(numerator.shape, np.nan)
    np.divide(numerator, denominator, out=out, where=denominator != 0)
    return out


def scalar(value: Number) -> Number:
    """A Python float where there are no leading axes, else the array."""
    return float(value) if np.ndim(value) == 0 else np.asarray(value)
