"""MassRule: a handful of coefficients that turn the sums of the strata into a measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

import numpy as np

from halftruth._checks import Vector
from halftruth.measure._arithmetic import NOTHING, Number, OwnMass
from halftruth.measure._bins import Noise, StratumNoise
from halftruth.measure._pseudo_labels import PseudoLabels
from halftruth.measure._score_measure import MassName, ScoreMeasure
from halftruth.measure._sorted_measure import ManyAtoms, SortedMeasure, SortedRowsMeasure
from halftruth.measure._tilt import Tilt
from halftruth.table._histogram import COMPILED
from halftruth.table._sorted_rows import JoinedRows, SortedRows
from halftruth.table._strata import NEGATIVE, POSITIVE
from halftruth.table._support import Column, LazySums, SortedSupport, Sums, Support

__all__ = ["Coefficients", "MassRule", "total"]

Coefficients = Mapping[Column, Number]
"""What a sum of the strata adds to a mass, by (stratum, "weight" or "value")."""


@dataclass(frozen=True, kw_only=True, eq=False)
class MassRule:
    """μ and μ₁ as linear combinations of the sums of each stratum.

    A coefficient is a number, or an array over the resamples. Changing the prior, the purity or the
    resampled counts changes only these numbers; no row is read or sorted again.

    ``normalised`` says that μ₁ is made of shares of the strata. ``moves``, where they were drawn together:
    how the coefficients on these shares change with the share of each stratum in the table. ``own`` is a
    known positive's own part in precision.
    """

    mass: Coefficients
    pos_mass: Coefficients
    size: float
    alpha: Number = None
    unidentified: str | None = None
    normalised: bool = False
    units: Mapping[str, float] = field(default_factory=dict)
    moves: Mapping[str, Coefficients] = field(default_factory=dict)
    own: OwnMass = NOTHING
    tilt: Tilt | None = None
    """What the positives' mass is multiplied by along the score, where selection may have moved them."""
    labels: PseudoLabels | None = None
    """What makes labels of reviews, before the sums are combined."""

    @property
    def neg_mass(self) -> Coefficients:
        """Subtracting coefficients, not masses: with labels the negatives' mass is then exact."""
        return {
            column: np.asarray(self.mass.get(column, 0.0)) - self.pos_mass.get(column, 0.0)
            for column in {**self.mass, **self.pos_mass}
        }

    def over(self, support: Support) -> ScoreMeasure:
        """The measure of the rows as they came."""
        if isinstance(support, JoinedRows):
            measure = self.apply(support.score, support.sums())
            return replace(measure, parted=lambda t: self._parted(support, t))
        if not isinstance(support, SortedSupport) or self.tilt is not None:
            return self.apply(support.score, support.sums())
        masses: dict[MassName, Coefficients] = {
            "mass": self.mass,
            "pos_mass": self.pos_mass,
            "neg_mass": self.neg_mass,
        }
        names = tuple(support.n_rows)
        kind = SortedRowsMeasure if isinstance(support, SortedRows) else SortedMeasure
        return kind(
            support,
            {part: {k: float(of.get((k, "weight"), 0.0)) for k in names} for part, of in masses.items()},
            size=self.size,
            alpha=self.alpha,
            unidentified=self.unidentified,
            normalised=self.normalised,
            moves={name: self._moves(name, names)[0] for name in names if self.moves},
            own=self.own,
        )

    def _parted(self, support: JoinedRows, threshold: float) -> ScoreMeasure:
        apart = support.parted([threshold])
        return self.apply(apart.score, apart.sums())

    def _moves(self, name: str, strata: Sequence[str]) -> tuple[Vector, Vector]:
        """How a stratum's two coefficients change with the share of each stratum."""

        def by_share(column: str) -> Vector:
            # No entry: the share of that stratum does not move this coefficient.
            changes = [self.moves.get(other, {}).get((name, column), 0.0) for other in strata]
            return np.stack(np.broadcast_arrays(*changes), -1)

        return by_share("weight"), by_share("value")

    def apply(self, score: Vector, sums: Sums) -> ScoreMeasure:
        """The measure of these sums at the distinct scores."""
        if self.labels is not None:
            sums = self.labels.of(score, sums)
        # A coefficient over resamples gives its mass a leading axis, which the others then get as well.
        mass, pos_mass, neg_mass = np.broadcast_arrays(
            *(_combine(of, sums) for of in (self.mass, self.pos_mass, self.neg_mass))
        )
        # Very many atoms of one measure are walked by compiled loops.
        kind = ManyAtoms if mass.ndim == 1 and len(score) >= COMPILED else ScoreMeasure
        measure = kind(
            score=score,
            mass=mass,
            pos_mass=pos_mass,
            neg_mass=neg_mass,
            size=self.size,
            alpha=self.alpha,
            unidentified=self.unidentified,
            own=self.own if self.labels is None else self._own_squares(score, sums, self.labels),
            noise=self._noise(score, sums),
        )
        return measure if self.tilt is None else self.tilted(measure)

    def tilted(self, measure: ScoreMeasure) -> ScoreMeasure:
        """The measure with its positives moved, as this rule's selection has it."""
        assert self.tilt is not None
        pos_mass = self.tilt.of(measure.score, measure.mass, measure.pos_mass)
        return replace(measure, pos_mass=pos_mass, neg_mass=measure.mass - pos_mass, own=self.own, memo={})

    @staticmethod
    def _own_squares(score: Vector, sums: Sums, labels: PseudoLabels) -> OwnMass:
        """Of rows that stand for many: what judges itself at each score, Σ w v² where a label has Σ w v."""
        reviewed = [name for name in (POSITIVE, NEGATIVE) if (name, "value") in sums]
        if not reviewed:
            return NOTHING
        # Where weights are no counts, a row judges itself by its weight.
        excess = sum(
            labels.unit(name, score) * (sums[name, "square"] - sums[name, "value"]) for name in reviewed
        )
        # Random weights g multiply v², and E[g²] = 2 where E[g] = 1: twice as much then judges itself.
        times = 2.0 if np.size(excess) > np.shape(excess)[-1] else 1.0
        return OwnMass(squares=times * np.asarray(excess))

    def _noise(self, score: Vector, sums: Sums) -> Noise:
        def adds(of: Coefficients, name: str) -> tuple[Vector, Vector]:
            return np.asarray(of.get((name, "weight"), 0.0)), np.asarray(of.get((name, "value"), 0.0))

        names = dict.fromkeys(name for name, _ in sums)
        strata = [
            StratumNoise(
                count=sums[name, "weight"],
                value=sums.get((name, "value")),
                square=sums.get((name, "square")),
                pos=adds(self.pos_mass, name),
                mass=adds(self.mass, name),
                moves=self._moves(name, tuple(names)) if self.moves else None,
                unit=self.units.get(name, 1.0),
            )
            for name in names
        ]
        return Noise(score=score, strata=strata, normalised=self.normalised)


def _combine(coefficients: Coefficients, sums: Sums) -> Vector:
    used = [(np.asarray(c), sums[k]) for k, c in coefficients.items() if k in sums and np.any(c != 0)]
    if not used:
        return np.zeros_like(next(iter(sums.values())))
    # A coefficient of one, as all have with labels, needs no copy of the sums.
    terms = (column if c.ndim == 0 and c == 1 else c[..., None] * column for c, column in used)
    return np.asarray(reduce(np.add, terms))


def total(sums: Sums, column: Column) -> Vector:
    """Sum over all scores of one column, 0 where there is no such stratum."""
    if isinstance(sums, LazySums):
        return np.asarray(sums.total(column) if column in sums else 0.0)
    return np.asarray(sums[column].sum(axis=-1)) if column in sums else np.asarray(0.0)
