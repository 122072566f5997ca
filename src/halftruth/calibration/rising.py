"""Frequencies that rise with the score: the isotonic regression of a measure, and what of it is possible."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from halftruth._checks import Vector
from halftruth.measure._score_measure import ScoreMeasure
from halftruth.measure._sorted_measure import RowsMeasure

ROUNDING = 1e-9
BEYOND_NOISE = 5.0
"""Standard errors by which positives outnumber the population before that is held against the prior."""


class Blocks(NamedTuple):
    """Stretches of scores, ascending, with one slope μ₁/μ each."""

    low: Vector
    high: Vector
    mass: Vector
    pos: Vector


def blocks(measure: ScoreMeasure) -> Blocks:
    """The pieces of the greatest convex minorant of the cumulative (μ, μ₁)."""
    from halftruth.kernels import monotone

    if isinstance(measure, RowsMeasure):
        rows = measure.support.sorted
        mass, pos = (np.asarray([part[k] for k in rows]) for part in (measure.of_mass, measure.of_pos))
        return Blocks(*monotone.isotonic_rows(tuple(rows.values()), mass, pos))
    found = monotone.isotonic(measure.mass, measure.pos_mass)
    last = np.append(found.first[1:], len(measure.score)) - 1
    return Blocks(measure.score[found.first], measure.score[last], found.mass, found.pos)


def shares(mass: Vector, pos: Vector) -> Vector:
    """pos/mass brought into [0, 1]; over no mass 1 or 0 by the sign of pos, NaN where there is neither."""
    out = np.where(pos > 0, 1.0, np.where(pos < 0, 0.0, np.nan))
    np.divide(pos, mass, out=out, where=mass > 0)
    return np.clip(out, 0.0, 1.0)


def isotonic_points(measure: ScoreMeasure) -> tuple[Vector, Vector]:
    """Scores and values that lines join: constant over each block, a line from one block to the next."""
    found = blocks(measure)
    score = np.stack([found.low, found.high], axis=1).ravel()
    kept = np.append(True, np.diff(score) > 0)
    return score[kept], np.repeat(shares(found.mass, found.pos), 2)[kept]


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
    if _possible_as_it_is(measure):
        return None
    found = blocks(measure)
    lacking = found.mass <= 0
    mass = np.where(lacking, np.abs(found.pos), found.mass)
    positives, rows = float(measure.positives), _rows(measure)
    value = (shares(mass, found.pos) * rows + positives / float(measure.total)) / (rows + 1)
    if value @ mass <= positives:
        value = _scaled(value, mass, positives)
    else:
        value = 1 - _scaled(1 - value[::-1], mass[::-1], float(mass.sum()) - positives)[::-1]
    moved = float(np.abs(np.cumsum(found.pos) - np.cumsum(value * mass)).max()) / positives
    ends = np.append(found.low[lacking], found.high[lacking]), np.tile(mass[lacking] / 2, 2)
    return Possible(found.high, value, ends, moved, _refuted(measure, found))


def _possible_as_it_is(measure: ScoreMeasure) -> bool:
    if not isinstance(measure, RowsMeasure):
        return _within(measure.pos_mass, measure.mass)
    # Only where rows lie that are not possible by themselves; mostly the first few show it.
    doubtful = [name for name, pos in measure.of_pos.items() if not 0 <= pos <= measure.of_mass[name]]
    return all(_within(*_masses_at(measure, name, n)) for n in (1000, None) for name in doubtful)


def _masses_at(measure: RowsMeasure, name: str, first: int | None) -> tuple[Vector, Vector]:
    """μ₁ and μ of all rows at the scores of some of one stratum's."""
    rows = measure.support.sorted
    at = rows[name][:first]
    counts = {k: np.searchsorted(x, at, "right") - np.searchsorted(x, at, "left") for k, x in rows.items()}
    sums = [sum(of[k] * n for k, n in counts.items()) for of in (measure.of_pos, measure.of_mass)]
    return np.asarray(sums[0]), np.asarray(sums[1])


def _within(pos: Vector, mass: Vector) -> bool:
    slack = ROUNDING * float(np.abs(mass).max(initial=0.0))
    return bool((pos >= -slack).all() and (pos <= mass + slack).all())


def _rows(measure: ScoreMeasure) -> float:
    """Labels that would say as much; of a measure made by hand its rows."""
    if isinstance(measure, RowsMeasure) or measure.noise is not None:
        return measure.size
    return max(measure.size, float(measure.total))


def _scaled(value: Vector, mass: Vector, wanted: float) -> Vector:
    """``min(1, k · value)`` with ``wanted`` as its integral; values ascend from above 0."""
    below = np.cumsum(value * mass)
    above = mass.sum() - np.cumsum(mass)
    # The integral is linear in k between those where one more value meets 1.
    factor = np.append(0.0, 1 / value[::-1])
    whole = np.append(0.0, (below / value + above)[::-1])
    return np.asarray(np.minimum(1.0, value * np.interp(wanted, whole, factor)))


def _refuted(measure: ScoreMeasure, found: Blocks) -> bool:
    """Whether the positives of the blocks at the top are more than the population by far."""
    over = found.pos > found.mass
    if not over.any():
        return False
    excess = float((found.pos - found.mass)[over].sum())
    first = found.low[over][0]
    below_above = np.arange(2)
    if isinstance(measure, RowsMeasure):
        counts = {
            name: np.asarray([np.sum(x < first), np.sum(x >= first)], dtype=np.float64)
            for name, x in measure.support.rows.items()
        }
        noise = measure.noise_of(np.ones(2), counts)
    elif measure.noise is None:
        return False
    else:
        noise = replace(measure.noise, score=np.ones(len(measure.score)))
        below_above = (measure.score >= first).astype(np.intp)
    variance = float(noise.covariance(below_above, 2)[1, 1])
    # Rows of the population that should be there and are not are noise too.
    return bool(excess > BEYOND_NOISE * np.sqrt(max(variance, 0.0) + excess))
