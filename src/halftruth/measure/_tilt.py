"""Tilt: the largest or the smallest law that positives can have where the known ones were selected.

Let v(s) be how much commoner positives of score s are than those that the measure was made from, anywhere in
[a, b] with ∫ v dμ₁ = μ₁(all). The law that is stochastically largest takes b from the highest score down,
until the rest must have a; the smallest is its mirror image. Between the two lies the true positive rate at
every threshold at once, and so does every metric that only rises or only falls with it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from halftruth._checks import Vector
from halftruth.measure._arithmetic import Index, Number

__all__ = ["Tilt"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Tilt:
    """What positives are multiplied by along the score, ``low`` to ``high``: the largest law or the smallest.

    ``edge`` are scores at which blocks begin. In a block positives are at most multiplied to its whole mass,
    since there are no negative negatives; never by less than one, for what passes it before any tilt is
    noise, or refuted. None: no such limit, as where the prior is not known.
    """

    low: Number
    high: Number
    upward: bool
    edge: Vector | None = None
    slack: float = 1.0
    """By how much a block may pass its whole mass, for noise."""
    still: bool = False
    """Whether labels lean the other way only, so that this law is the one before any tilt."""

    def of(self, score: Vector, mass: Vector, pos: Vector) -> Vector:
        """The positives' mass (..., m) under the law, at ascending scores."""
        if self.still:
            return pos
        order = slice(None, None, -1 if self.upward else 1)
        block = np.zeros(len(score), dtype=np.intp)
        if self.edge is not None:
            block = np.searchsorted(self.edge, score, side="right")[order]
        return self._filled(mass[..., order], pos[..., order], block)[..., order]

    def law(self, pos: Vector) -> Vector:
        """The same where only the law of the positives is known."""
        if self.still:
            return pos
        order = slice(None, None, -1 if self.upward else 1)
        return self._filled(None, pos[..., order], np.zeros(pos.shape[-1], dtype=np.intp))[..., order]

    def _filled(self, mass: Vector | None, pos: Vector, block: Index) -> Vector:
        """From the first score on: each gets ``low`` of its positives, and as much more as there is room."""
        low, high = (np.asarray(x, dtype=np.float64)[..., None] for x in (self.low, self.high))
        total = pos.sum(axis=-1, keepdims=True)
        taken = np.cumsum((high - low) * pos, axis=-1)
        if mass is not None and self.edge is not None:
            start = np.flatnonzero(np.diff(block, prepend=block[0] - 1))
            of_block, room = (np.add.reduceat(x, start, axis=-1) for x in (pos, mass))
            with np.errstate(divide="ignore", invalid="ignore"):
                most = np.where(of_block > 0, self.slack * room / of_block, 1.0)
            limit = (np.clip(most, 1.0, np.maximum(high, 1.0)) - low) * of_block
            # What a block may take, on top of all that those before it did.
            before = np.cumsum(limit, axis=-1) - limit
            skipped = np.concatenate([np.zeros((*taken.shape[:-1], 1)), taken[..., start[1:] - 1]], axis=-1)
            length = np.diff(np.append(start, len(block)))
            taken -= np.repeat(skipped, length, axis=-1)
            taken = np.minimum(taken, np.repeat(limit, length, axis=-1)) + np.repeat(before, length, axis=-1)
        more = np.diff(np.minimum(taken, (1 - low) * total), axis=-1, prepend=0.0)
        out = low * pos + more
        # Positives that are negative somewhere, by noise, may leave something over.
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(out * (total / out.sum(axis=-1, keepdims=True)))

    @property
    def moved(self) -> Number:
        """How much of the positives' mass lies elsewhere, at most: half of ∫ |v − 1| dμ₁ ÷ μ₁(all)."""
        spread = np.asarray(self.high) - self.low
        return np.where(spread > 0, (self.high - 1) * (1 - self.low) / np.where(spread > 0, spread, 1.0), 0.0)

    @property
    def mean_square(self) -> Number:
        """∫ v² dμ₁ ÷ μ₁(all), where no block is full: by so much more does a usual positive count."""
        return 1.0 if self.still else self.low + self.high - self.low * self.high
