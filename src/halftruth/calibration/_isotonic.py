"""Frequencies that rise with the score: the isotonic regression of a measure, and what of it is possible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from halftruth._checks import Vector
from halftruth.measure._arithmetic import IsotonicBlocks
from halftruth.measure._score_measure import ScoreMeasure

__all__ = ["Possible", "isotonic_points", "possible", "shares"]

BEYOND_NOISE = 5.0
"""Standard errors by which positives outnumber the population before that is held against the prior."""


def shares(mass: Vector, pos: Vector) -> Vector:
    """pos/mass brought into [0, 1]; over no mass 1 or 0 by the sign of pos, NaN where there is neither."""
    out = np.where(pos > 0, 1.0, np.where(pos < 0, 0.0, np.nan))
    np.divide(pos, mass, out=out, where=mass > 0)
    return np.clip(out, 0.0, 1.0)


def isotonic_points(measure: ScoreMeasure) -> tuple[Vector, Vector]:
    """Scores and values that lines join: constant over each block, a line from one block to the next."""
    blocks = measure.isotonic_blocks()
    score = np.stack([blocks.low, blocks.high], axis=1).ravel()
    distinct = np.append(True, np.diff(score) > 0)
    return score[distinct], np.repeat(shares(blocks.mass, blocks.pos), 2)[distinct]


@dataclass(frozen=True, eq=False)
class Possible:
    """A frequency that rises within [0, 1] and has the measure's prior, by blocks of scores.

    ``beyond`` are scores and masses of rows that the population lacks. ``moved`` is the largest share of the
    positives that is taken across a score; ``refuted`` whether more positives than rows of the population lie
    at the top, beyond noise.
    """

    high: Vector
    value: Vector
    beyond: tuple[Vector, Vector]
    moved: float
    refuted: bool

    def at(self, score: Vector) -> Vector:
        """The frequency at scores of the population, or beyond."""
        place = np.searchsorted(self.high, score, side="left")
        return np.asarray(self.value[np.minimum(place, len(self.value) - 1)])

    def filled(self, score: Vector, mass: Vector) -> tuple[Vector, Vector, Vector]:
        """Scores, μ and μ₁ of a population and the rows that it lacks."""
        score, mass = np.append(score, self.beyond[0]), np.append(mass, self.beyond[1])
        return score, mass, self.at(score) * mass


def possible(measure: ScoreMeasure) -> Possible | None:
    """What μ₁ can be, where it is not between 0 and μ at every score as it comes; else None.

    From two samples some stretches hold more positives than rows, or fewer than none, by noise. The isotonic
    regression is brought into [0, 1]; where known positives lie beyond the whole population, as many rows of
    it are put. One row more, at the prior, keeps the frequency off 0 and 1. Noise in shares leaves all others
    too small by one factor where some are too large. So what was taken off the top is given back by scaling
    the positives up to the prior, to a frequency of 1 at most; what was added at the bottom, by scaling the
    negatives.
    """
    if measure.is_possible:
        return None
    blocks = measure.isotonic_blocks()
    lacking = blocks.mass <= 0
    mass = np.where(lacking, np.abs(blocks.pos), blocks.mass)
    positives, total = float(measure.positives), float(measure.total)
    # Labels that would say as much; of a measure made by hand its rows.
    rows = measure.size if measure.noise_is_known else max(measure.size, total)
    # Shrunk towards the prior by one row: a frequency of exactly 0 or 1 would put the log loss to infinity.
    value = (shares(mass, blocks.pos) * rows + positives / total) / (rows + 1)
    if value @ mass <= positives:
        value = _scaled(value, mass, positives)
    else:
        value = 1 - _scaled(1 - value[::-1], mass[::-1], float(mass.sum()) - positives)[::-1]
    moved = float(np.abs(np.cumsum(blocks.pos) - np.cumsum(value * mass)).max()) / positives
    ends = np.append(blocks.low[lacking], blocks.high[lacking]), np.tile(mass[lacking] / 2, 2)
    return Possible(blocks.high, value, ends, moved, _refuted(measure, blocks))


def _scaled(value: Vector, mass: Vector, target: float) -> Vector:
    """``min(1, k · value)`` with ``target`` as its integral; values ascend from above 0."""
    below = np.cumsum(value * mass)
    above = mass.sum() - np.cumsum(mass)
    # The integral is linear in k between those where one more value meets 1.
    factor = np.append(0.0, 1 / value[::-1])
    integrals = np.append(0.0, (below / value + above)[::-1])
    return np.asarray(np.minimum(1.0, value * np.interp(target, integrals, factor)))


def _refuted(measure: ScoreMeasure, blocks: IsotonicBlocks) -> bool:
    """Whether the positives of the blocks at the top are more than the population by far."""
    over = blocks.pos > blocks.mass
    if not over.any():
        return False
    excess = float((blocks.pos - blocks.mass)[over].sum())
    variance = measure.variance_above(float(blocks.low[over][0]))
    if variance is None:
        return False
    # Rows of the population that should be there and are not are noise too.
    return bool(excess > BEYOND_NOISE * np.sqrt(max(variance, 0.0) + excess))
