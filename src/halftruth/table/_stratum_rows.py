"""Rows: the scores of one stratum as they came, with their weights and values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from halftruth._checks import Vector
from halftruth._errors import MergeError
from halftruth.table._support import Cells


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
    """The rows of one stratum.

    ``value`` is what a row adds to a second sum beside its weight: the soft label q, or the
    reciprocal of a propensity or confidence. Rows of weight zero are dropped: they are no rows.
    """

    score: Vector
    weight: Vector | None = None
    value: Vector | None = None
    meaning: str | None = None
    """What the values are, one of `table.MEANINGS`."""

    def __post_init__(self) -> None:
        if self.weight is not None and not self.weight.all():
            kept = self.weight > 0
            for name in ("score", "weight", "value"):
                column = getattr(self, name)
                object.__setattr__(self, name, None if column is None else column[kept])
        # Weights of one are none, so that rows with and without them are the same rows.
        if self.weight is not None and (self.weight == 1).all():
            object.__setattr__(self, "weight", None)
        for column in (self.score, self.weight, self.value):
            if column is not None:
                column.flags.writeable = False

    def __len__(self) -> int:
        return len(self.score)

    def concatenate(self, other: Rows) -> Rows:
        """These rows, then the other's."""
        if self.meaning != other.meaning:
            raise MergeError(
                f"The rows of one table carry {self.meaning or 'no value'}, those of the other "
                f"{other.meaning or 'no value'}. Merge tables made from the same columns."
            )
        weighted = self.weight is not None or other.weight is not None
        return Rows(
            score=np.concatenate([self.score, other.score]),
            weight=np.concatenate([self.full_weight(), other.full_weight()]) if weighted else None,
            value=None
            if self.value is None or other.value is None
            else np.concatenate([self.value, other.value]),
            meaning=self.meaning,
        )

    @property
    def is_plain(self) -> bool:
        """Whether a row is its score and nothing else."""
        return self.weight is None and self.value is None

    def full_weight(self) -> Vector:
        """The weights, ones where none were given."""
        return np.ones(len(self)) if self.weight is None else self.weight

    @cached_property
    def size(self) -> tuple[float, float]:
        """Σ w and Σ w², the same whatever the order of the rows."""
        if self.weight is None:
            return float(len(self)), float(len(self))
        weight = np.sort(self.weight)
        return float(weight.sum()), float((weight**2).sum())

    def cells(self) -> tuple[Vector, Cells]:
        """Distinct rows with their multiplicities, in an order that does not depend on the rows'."""
        columns = [self.score]
        columns += [] if self.weight is None else [self.weight]
        columns += [] if self.value is None else [self.value]
        if len(columns) == 1:
            score, count = np.unique(self.score, return_counts=True)
            return score, Cells(atom=np.arange(len(score)), count=count)
        order = np.lexsort(columns[::-1])
        ordered = [column[order] for column in columns]
        starts = np.zeros(len(self), dtype=bool)
        starts[0] = True
        for column in ordered:
            starts[1:] |= column[1:] != column[:-1]
        first = np.flatnonzero(starts)
        score, atom = np.unique(ordered[0][first], return_inverse=True)
        weight = self.full_weight()[order][first]
        return score, Cells(
            atom=atom,
            count=np.diff(np.append(first, len(self))),
            weight=weight,
            value=None if self.value is None else weight * self.value[order][first],
        )
