"""FoldedMeasure: the measure of so many rows that functionals read it in one pass."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from halftruth._checks import Vector
from halftruth.kernels._pass_sums import Fold
from halftruth.measure._noise import Noise, Part
from halftruth.measure._score_measure import Number, ScoreMeasure
from halftruth.table._sorted_rows import LargeSupport
from halftruth.table._support import OnePass, Shares


class FoldedMeasure(ScoreMeasure):
    """A measure that is linear in plain sorted rows; its arrays are made only where they are asked for."""

    def __init__(
        self,
        support: OnePass,
        mass: Shares,
        pos_mass: Shares,
        neg_mass: Shares,
        *,
        size: float,
        alpha: Number,
        why: str | None,
        normalised: bool,
        moves: Mapping[str, Vector],
    ) -> None:
        fields = {"support": support, "of_mass": mass, "of_pos": pos_mass, "of_neg": neg_mass}
        fields |= {"size": size, "alpha": alpha, "unidentified": why, "memo": {}}
        fields |= {"normalised": normalised, "moves": moves}
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    support: OnePass
    of_mass: Shares
    of_pos: Shares
    of_neg: Shares
    normalised: bool
    moves: Mapping[str, Vector]

    @cached_property
    def noise(self) -> Noise:
        counts = {name: np.zeros(len(self.score)) for name in self.support.strata}
        for name, cells in self.support.strata.items():
            counts[name][cells.atom] = cells.count
        return self.noise_of(self.score, counts)

    def noise_of(self, score: Vector, counts: Mapping[str, Vector]) -> Noise:
        """The noise where these are the rows of each stratum at each score."""
        zero = np.asarray(0.0)
        parts = [
            Part(
                count=count,
                pos=(np.asarray(self.of_pos[name]), zero),
                mass=(np.asarray(self.of_mass[name]), zero),
                moves=None if name not in self.moves else (self.moves[name], np.zeros_like(self.moves[name])),
            )
            for name, count in counts.items()
        ]
        return Noise(score=score, parts=parts, normalised=self.normalised)

    @cached_property
    def score(self) -> Vector:
        return self.support.score

    @cached_property
    def mass(self) -> Vector:
        return self._unfolded(self.of_mass)

    @cached_property
    def pos_mass(self) -> Vector:
        return self._unfolded(self.of_pos)

    @cached_property
    def neg_mass(self) -> Vector:
        return self._unfolded(self.of_neg)

    def _unfolded(self, shares: Shares) -> Vector:
        out = np.zeros(len(self.score))
        for name, cells in self.support.strata.items():
            if shares[name] != 0:
                out[cells.atom] += shares[name] * cells.count
        return out

    def _total(self, shares: Shares) -> Vector:
        return np.asarray(sum(shares[name] * n for name, n in self.support.n_rows.items()))

    @property
    def total(self) -> Vector:
        return self._total(self.of_mass)

    @property
    def positives(self) -> Vector:
        return self._total(self.of_pos)

    @property
    def negatives(self) -> Vector:
        return self._total(self.of_neg)

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    @property
    def span(self) -> tuple[float, float]:
        return self.support.span

    @property
    def bounded(self) -> bool:
        return self.support.bounded

    @property
    def shapeless(self) -> bool:
        return any(np.isnan(share) for share in self.of_pos.values())

    def split(self, threshold: float) -> dict[str, tuple[Number, Number]]:
        above = self.support.above(threshold)
        below = {name: n - above[name] for name, n in self.support.n_rows.items()}

        def mass(shares: Shares, rows: dict[str, int]) -> float:
            return float(sum(shares[name] * count for name, count in rows.items()))

        return {
            name: (mass(shares, above), mass(shares, below))
            for name, shares in (("pos", self.of_pos), ("neg", self.of_neg), ("all", self.of_mass))
        }

    @cached_property
    def fold(self) -> Fold:
        """What the areas and proper scores need, from one pass."""
        return self.support.fold(self.of_mass, self.of_pos, self.of_neg)


class RowsMeasure(FoldedMeasure):
    """A folded measure whose sorted rows are at hand, for functionals with a walk of their own."""

    support: LargeSupport
