"""Guesses p̂ of P(positive | score), along the score: lines, or a curve fitted to reviews."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector

__all__ = ["FittedGuess", "Guess", "LineGuess"]

LEAST_SHARE = 1e-6  # of scores: those nearer to 0 or 1 are no further away
FARTHEST, FARTHEST_STEP = 30.0, 2.0  # logits
STEPS = 50  # of Newton's method
SMALL = 1e-9  # step after which it ends: the next would be smaller than rounding
LEAST_CURVE = 1e-9
ROUNDING = 1e-12


class Guess(Protocol):
    """P(positive) along the score."""

    @property
    def name(self) -> str: ...

    def at(self, score: Vector) -> Vector: ...

    def refitted(self, score: Vector, positive: Vector, mass: Vector) -> Guess:
        """By other sums of the reviewed rows at these scores, which may have a leading axis of resamples."""
        ...


@dataclass(frozen=True, eq=False)
class LineGuess:
    """Straight lines between knots, flat beyond them; no review changes it."""

    score: Vector
    share: Vector
    name: str = "none"

    def at(self, score: Vector) -> Vector:
        return np.asarray(np.interp(score, self.score, self.share))

    def refitted(self, score: Vector, positive: Vector, mass: Vector) -> Self:
        return self


@dataclass(frozen=True, kw_only=True, eq=False)
class FittedGuess:
    """1/(1 + exp(−a − b x)), x the logit of a score in [0, 1] or the score itself.

    In blocks, it has a factor in each, so that the block has the rate of its reviews. Resamples fit it anew:
    where few reviews tell what a stretch of scores is, a guess that held still would hide how little they
    tell.
    """

    of_shares: bool
    """Whether x is a logit."""
    center: float
    scale: float
    size: float
    """How many rows were reviewed: what they weigh against the pull to a flat curve."""
    steps: Vector | None
    """The last score of each block but the highest; None: no blocks."""
    intercept: Vector
    """(…, 1)"""
    slope: Vector
    factor: Vector
    """(…, blocks)"""

    @classmethod
    def of(
        cls, score: Vector, positive: Vector, mass: Vector, steps: Vector | None, *, of_shares: bool
    ) -> FittedGuess:
        """Of reviewed rows, each with its mass and what of that is positive."""
        x = _feature(score, of_shares)
        center = float(np.average(x, weights=mass))
        scale = float(np.sqrt(np.average((x - center) ** 2, weights=mass)))
        if scale <= ROUNDING * abs(center):  # one score, whose mean is off by rounding
            center, scale = float(x[0]), 1.0
        inside = 1 / (len(score) + 2)
        share = float(np.clip(positive.sum() / mass.sum(), inside, 1 - inside))
        flat = cls(
            of_shares=of_shares, center=center, scale=scale, size=len(score), steps=steps,
            intercept=np.asarray([np.log(share / (1 - share))]), slope=np.zeros(1), factor=np.ones(1),
        )  # fmt: skip
        return flat.refitted(score, positive, mass)

    @property
    def name(self) -> str:
        return "logistic" if self.steps is None else "blocks"

    def at(self, score: Vector) -> Vector:
        curve = self._curve(score)
        if self.steps is None:
            return curve
        share = np.clip(curve * self.factor[..., self._block(score)], 0.0, 1.0)
        # Where rounding alone leaves some of a class, there is none.
        return np.where(share > 1 - ROUNDING, 1.0, share)

    def refitted(self, score: Vector, positive: Vector, mass: Vector) -> FittedGuess:
        # Scores without a review say nothing.
        seen = np.flatnonzero(np.any(mass, axis=tuple(range(mass.ndim - 1))))
        score, positive, mass = score[seen], positive[..., seen], mass[..., seen]
        to_size = self.size / mass.sum(axis=-1, keepdims=True)
        x = (_feature(score, self.of_shares) - self.center) / self.scale
        intercept, slope = _newton(x, positive * to_size, mass * to_size, self.intercept, self.slope)
        out = replace(self, intercept=intercept, slope=slope)
        return out if self.steps is None else out._in_blocks(score, positive, mass)

    def _curve(self, score: Vector) -> Vector:
        x = (_feature(score, self.of_shares) - self.center) / self.scale
        return _share(self.intercept + self.slope * x)

    def _block(self, score: Vector) -> NDArray[np.intp]:
        return np.searchsorted(np.asarray(self.steps), score, side="left")

    def _in_blocks(self, score: Vector, positive: Vector, mass: Vector) -> FittedGuess:
        block, n = self._block(score), len(np.asarray(self.steps)) + 1
        found, expected = (_by_block(x, block, n) for x in (positive, self._curve(score) * mass))
        # A block that a resample has nothing of keeps the curve.
        factor = np.divide(found, expected, out=np.ones_like(expected), where=expected > 0)
        return replace(self, factor=factor)


def _feature(score: Vector, of_shares: bool) -> Vector:
    if not of_shares:
        return score
    inner = np.clip(score, LEAST_SHARE, 1 - LEAST_SHARE)
    return np.asarray(np.log(inner / (1 - inner)))


def _share(logit: Vector) -> Vector:
    return np.asarray(1 / (1 + np.exp(-np.clip(logit, -FARTHEST, FARTHEST))))


def _by_block(values: Vector, block: NDArray[np.intp], n: int) -> Vector:
    """Sums over the scores of each block."""
    if values.ndim == 1:
        return np.asarray(np.bincount(block, values, n), dtype=np.float64)
    inside = np.zeros((len(block), n))
    inside[np.arange(len(block)), block] = 1.0
    return np.asarray(values @ inside)


def _newton(
    x: Vector, positive: Vector, mass: Vector, intercept: Vector, slope: Vector
) -> tuple[Vector, Vector]:
    """The logistic curve of these masses, from another one, (…, 1) each.

    A weak pull to a flat curve keeps classes that a score separates from an infinite slope.
    """
    for _ in range(STEPS):
        p = _share(intercept + slope * x)
        rest, spread = positive - mass * p, mass * p * (1 - p)
        down, across = rest.sum(axis=-1, keepdims=True), (rest @ x)[..., None] - slope
        h00 = spread.sum(axis=-1, keepdims=True) + LEAST_CURVE
        h01, h11 = (spread @ x)[..., None], (spread @ x**2)[..., None] + 1.0
        # Rounding may leave no more than nothing where all shares are near 0 or 1.
        both = np.maximum(h00 * h11 - h01**2, LEAST_CURVE**2)
        step = (h11 * down - h01 * across) / both, (h00 * across - h01 * down) / both
        intercept, slope = (
            of + np.clip(by, -FARTHEST_STEP, FARTHEST_STEP)
            for of, by in zip((intercept, slope), step, strict=True)
        )
        if max(float(np.abs(by).max()) for by in step) < SMALL:
            break
    return intercept, slope
