"""Laws on a line in closed form, mixtures of them, and the readings that make scores of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from halftruth import _checks
from halftruth._errors import InputError

FloatArray: TypeAlias = NDArray[np.float64]

_LEAST = 2.0**-54
"""Stands for the draw 0 of a uniform, which would be an infinite score."""


class Shape(Protocol):
    """A law by its distribution function and the inverse of it."""

    def below(self, z: FloatArray) -> FloatArray: ...
    def quantile(self, u: FloatArray) -> FloatArray: ...


@dataclass(frozen=True)
class Normal:
    """The standard normal law."""

    def below(self, z: FloatArray) -> FloatArray:
        return np.asarray(special.ndtr(z))

    def quantile(self, u: FloatArray) -> FloatArray:
        return np.asarray(special.ndtri(u))


@dataclass(frozen=True)
class Student:
    """Student's t."""

    freedom: float

    def below(self, z: FloatArray) -> FloatArray:
        return np.asarray(special.stdtr(self.freedom, z))

    def quantile(self, u: FloatArray) -> FloatArray:
        return np.asarray(special.stdtrit(self.freedom, u))


@dataclass(frozen=True)
class Laplace:
    """The two-sided exponential law."""

    def below(self, z: FloatArray) -> FloatArray:
        tail = np.exp(-np.abs(z)) / 2.0
        return np.where(z < 0.0, tail, 1.0 - tail)

    def quantile(self, u: FloatArray) -> FloatArray:
        return np.where(u < 0.5, 1.0, -1.0) * np.log(2.0 * np.minimum(u, 1.0 - u))


@dataclass(frozen=True)
class Beta:
    """On [0, 1]; Beta(1, 1) is the uniform."""

    a: float
    b: float

    def below(self, z: FloatArray) -> FloatArray:
        return np.asarray(special.betainc(self.a, self.b, np.clip(z, 0.0, 1.0)))

    def quantile(self, u: FloatArray) -> FloatArray:
        if self.a == self.b == 1.0:
            return u
        return np.asarray(special.betaincinv(self.a, self.b, u))


@dataclass(frozen=True)
class Part:
    """A shape moved, stretched and cut off above `high`."""

    shape: Shape
    location: float = 0.0
    scale: float = 1.0
    high: float = math.inf

    @cached_property
    def _kept(self) -> float:
        return float(self.shape.below(np.asarray((self.high - self.location) / self.scale)))

    def below(self, x: ArrayLike) -> FloatArray:
        """P(X <= x)."""
        z = (np.asarray(x, dtype=np.float64) - self.location) / self.scale
        return np.asarray(np.minimum(self.shape.below(z) / self._kept, 1.0))

    def quantile(self, u: ArrayLike) -> FloatArray:
        """The x below which the share `u` lies."""
        z = self.shape.quantile(self._kept * np.asarray(u, dtype=np.float64))
        # Rounding must not carry a row past the cut: there the negatives have no mass.
        return np.asarray(np.minimum(self.location + self.scale * z, self.high))


@dataclass(frozen=True)
class Law:
    """A mixture of parts with weights that sum to one.

    Examples
    --------
    >>> law = Law(((0.5, Part(Normal())), (0.5, Part(Normal(), location=2.0))))
    >>> law.below([1.0]).tolist()
    [0.5]
    """

    parts: tuple[tuple[float, Part], ...]

    def __post_init__(self) -> None:
        total = math.fsum(weight for weight, _ in self.parts)
        if abs(total - 1.0) > 1e-12 or min(weight for weight, _ in self.parts) < 0.0:
            raise InputError(f"`parts` must have weights that sum to one, got the sum {total:.6g}.")

    def below(self, x: ArrayLike) -> FloatArray:
        """P(X <= x)."""
        return np.asarray(sum(weight * part.below(x) for weight, part in self.parts))

    def draw(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Draw `n` values."""
        u = np.maximum(rng.random(n), _LEAST)
        if len(self.parts) == 1:
            return self.parts[0][1].quantile(u)
        which = rng.choice(len(self.parts), size=n, p=[weight for weight, _ in self.parts])
        return np.choose(which, [part.quantile(u) for _, part in self.parts])

    def mixed(self, share: float, other: Law) -> Law:
        """The mixture that has `share` of this law and the rest of the other."""
        mine = tuple((share * weight, part) for weight, part in self.parts)
        return Law(mine + tuple(((1.0 - share) * weight, part) for weight, part in other.parts))


@dataclass(frozen=True)
class Reading:
    """How x becomes a score: x itself, or sigmoid(slope (x − center)), perhaps rounded to `levels` values."""

    slope: float | None = None
    center: float = 0.0
    levels: int | None = None

    def __post_init__(self) -> None:
        if self.slope is not None:
            advice = "The score must rise with x: pass a positive slope."
            _checks.inside(self.slope, "slope", 0.0, math.inf, advice=advice)
        if self.levels is not None:
            _checks.count(self.levels, "levels", least=2)
            if self.slope is None:
                raise InputError("`levels` must come with a slope: only probabilities are rounded. Pass one.")

    def score(self, x: FloatArray) -> FloatArray:
        """The score of each x."""
        if self.slope is None:
            return x
        p = np.asarray(special.expit(self.slope * (x - self.center)))
        return p if self.levels is None else np.round(p * (self.levels - 1)) / (self.levels - 1)

    def masses(self, law: Law) -> FloatArray:
        """The mass of each rounded score; empty without rounding."""
        if self.slope is None or self.levels is None:
            return np.empty(0)
        edges = (np.arange(1, self.levels) - 0.5) / (self.levels - 1)
        below = law.below(self.center + special.logit(edges) / self.slope)
        return np.diff(below, prepend=0.0, append=1.0)
