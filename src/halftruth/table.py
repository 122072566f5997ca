"""ScoreTable: the raw rows of each stratum. It knows no prior, and tables merge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from halftruth import checks
from halftruth.checks import Vector
from halftruth.errors import InputError, MergeError
from halftruth.support import Cells, Support

POSITIVE, UNLABELED, NEGATIVE, SOFT = "positive", "unlabeled", "negative", "soft"
STRATA = (POSITIVE, UNLABELED, NEGATIVE, SOFT)


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
    """What the values are: "soft label", "1/propensity" or "1/confidence"."""

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

    def full_weight(self) -> Vector:
        """The weights, ones where none were given."""
        return np.ones(len(self)) if self.weight is None else self.weight

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


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Scores by stratum, prior-free and mergeable.

    Parameters
    ----------
    strata : mapping of str to Rows
        Any of "positive", "unlabeled" and "negative"; or "soft" alone.

    Examples
    --------
    >>> import halftruth as ht
    >>> monday = ht.Labeled([1, 0], [0.9, 0.2]).table
    >>> tuesday = ht.Labeled([1, 0, 0], [0.8, 0.3, 0.1]).table
    >>> week = monday.merge(tuesday)
    >>> week
    ScoreTable(positive=2, negative=3)
    """

    strata: Mapping[str, Rows]

    def __post_init__(self) -> None:
        unknown = [name for name in self.strata if name not in STRATA]
        if unknown:
            raise InputError(f"`strata` must be named {', '.join(STRATA)}; got {unknown[0]!r}.")
        for name, rows in self.strata.items():
            if not isinstance(rows, Rows):
                raise InputError(
                    f"`strata` must hold Rows, got {type(rows).__name__} for {name!r}. Make tables from "
                    f"evidence, e.g. Labeled(y_true, y_score).table."
                )
        if SOFT in self.strata and len(self.strata) > 1:
            raise MergeError(
                "Soft-labeled rows cannot share a table with positive, unlabeled or negative rows. "
                "Give the hard labels as soft labels 0 and 1 instead."
            )
        kept = {name: self.strata[name] for name in STRATA if len(self.strata.get(name, ()))}
        object.__setattr__(self, "strata", kept)

    def __repr__(self) -> str:
        return f"ScoreTable({', '.join(f'{k}={len(rows)}' for k, rows in self.strata.items())})"

    def __len__(self) -> int:
        return sum(len(rows) for rows in self.strata.values())

    def merge(self, *others: ScoreTable) -> ScoreTable:
        """The table of all rows together; the same, to the bit, as one made from all rows at once."""
        strata = dict(self.strata)
        for other in others:
            for name, rows in checks.instance(other, "other", ScoreTable).strata.items():
                strata[name] = strata[name].concatenate(rows) if name in strata else rows
        return ScoreTable(strata)

    def need(self, strata: tuple[str, ...], meaning: str | None, remedy: str) -> None:
        """Raise unless the table holds only these strata, all of their rows with values of this meaning."""
        held = {rows.meaning for rows in self.strata.values()}
        if not self.strata or not set(self.strata) <= set(strata) or held != {meaning}:
            raise InputError(f"This evidence takes {' and '.join(strata)} rows, got {self!r}. {remedy}")

    def effective_rows(self, *names: str) -> float:
        """(Σw)²/Σw² over these strata, or all: the rows that unequal weights leave in effect."""
        weights = [self.strata[name].full_weight() for name in names or self.strata]
        total, squares = sum(w.sum() for w in weights), sum((w**2).sum() for w in weights)
        return float(total**2 / squares)

    @cached_property
    def support(self) -> Support:
        """The distinct scores of all strata, and each stratum's distinct rows on them."""
        made = {name: rows.cells() for name, rows in self.strata.items()}
        score = np.unique(np.concatenate([own for own, _ in made.values()]))
        strata = {
            name: cells.moved(np.searchsorted(score, own)[cells.atom]) for name, (own, cells) in made.items()
        }
        return Support(score=score, strata=strata)
