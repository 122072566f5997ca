"""The strata of a table: the rows of one as they came, and all of them together, where they lie."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector
from halftruth._errors import InputError, MergeError, arg
from halftruth.table._grid import Grid, grid_for
from halftruth.table._histogram import COMPILED, Bins, refuse_other_grid, refuse_other_meaning, support_of
from halftruth.table._sorted_rows import JoinedRows, SortedRows
from halftruth.table._support import SOFT, Cells, Support

__all__ = [
    "BINNED", "MEANINGS", "NEGATIVE", "OF_REVIEWS", "OPEN_ROWS", "POSITIVE", "PROPENSITY", "REVIEWED",
    "REVIEW_RATE", "SOFT", "SOFT_LABEL", "STRATA", "TOP_CLASS", "UNLABELED", "VOTE_SHARE", "Strata",
    "StratumRows",
]  # fmt: skip

POSITIVE, UNLABELED, NEGATIVE = "positive", "unlabeled", "negative"
STRATA = (POSITIVE, UNLABELED, NEGATIVE, SOFT)
SOFT_LABEL, VOTE_SHARE, TOP_CLASS = "soft label", "share of votes", "largest of many classes"
PROPENSITY = "1/propensity"
REVIEWED, OPEN_ROWS = "1/chance of review", "rows of unknown class behind it"
REVIEW_RATE = "1/estimated chance of review"
OF_REVIEWS = (REVIEWED, REVIEW_RATE, OPEN_ROWS)
MEANINGS = {
    SOFT_LABEL: (0.0, 1.0),
    VOTE_SHARE: (0.0, 1.0),
    TOP_CLASS: (0.0, 1.0),
    PROPENSITY: (1.0, np.inf),
    "1/confidence": (1.0, np.inf),
    REVIEWED: (0.0, np.inf),
    REVIEW_RATE: (0.0, np.inf),
    OPEN_ROWS: (0.0, np.inf),
}
"""What values can be, and between which limits they lie."""
BINNED = (SOFT_LABEL, VOTE_SHARE)  # values whose sums a histogram holds


@dataclass(frozen=True, kw_only=True, eq=False)
class StratumRows:
    """The rows of one stratum.

    ``value`` is what a row adds to a second sum beside its weight: the soft label q, or the
    reciprocal of a propensity or confidence. Rows of weight zero are dropped: they are no rows.
    """

    score: Vector
    weight: Vector | None = None
    value: Vector | None = None
    meaning: str | None = None
    """What the values are, one of `MEANINGS`."""

    def __post_init__(self) -> None:
        if self.weight is not None and not self.weight.all():
            weighed = self.weight > 0
            for name in ("score", "weight", "value"):
                column = getattr(self, name)
                object.__setattr__(self, name, None if column is None else column[weighed])
        # Weights of one are none, so that rows with and without them are the same rows.
        if self.weight is not None and (self.weight == 1).all():
            object.__setattr__(self, "weight", None)
        for column in (self.score, self.weight, self.value):
            if column is not None:
                column.flags.writeable = False

    def __len__(self) -> int:
        return len(self.score)

    @property
    def span(self) -> tuple[float, float]:
        """The lowest and the highest score."""
        return float(self.score.min()), float(self.score.max())

    def concatenate(self, other: StratumRows) -> StratumRows:
        """These rows, then the other's."""
        both = {self.meaning, other.meaning}
        if len(both) > 1 and both <= {None, *OF_REVIEWS}:
            # Every row of a census was reviewed for certain, and there is nothing that nobody could know.
            meaning = next(x for x in (OPEN_ROWS, REVIEW_RATE, REVIEWED) if x in both)
            return self.valued(meaning).concatenate(other.valued(meaning))
        refuse_other_meaning(self.meaning, other.meaning)
        weight = value = None
        if self.weight is not None or other.weight is not None:
            weight = np.concatenate([self.full_weight(), other.full_weight()])
        if self.value is not None and other.value is not None:
            value = np.concatenate([self.value, other.value])
        score = np.concatenate([self.score, other.score])
        return StratumRows(score=score, weight=weight, value=value, meaning=self.meaning)

    def valued(self, meaning: str) -> StratumRows:
        """The same rows with values of this meaning, of reviews: plain rows were certain, none is open."""
        plain = np.full(len(self), 0.0 if meaning == OPEN_ROWS else 1.0)
        return replace(self, value=plain if self.value is None else self.value, meaning=meaning)

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
        columns = [column for column in (self.score, self.weight, self.value) if column is not None]
        if len(columns) == 1:
            score, count = np.unique(self.score, return_counts=True)
            return score, Cells(atom=np.arange(len(score)), count=count)
        ordered = _in_order(columns)
        is_new_score = _changes(ordered[0])
        first = np.flatnonzero(np.logical_or.reduce([is_new_score, *map(_changes, ordered[1:])]))
        score, *rest = (column[first] for column in ordered)
        weight = rest.pop(0) if self.weight is not None else np.ones(len(first))
        is_new_score = is_new_score[first]
        return score[is_new_score], Cells(
            atom=np.cumsum(is_new_score) - 1,
            count=np.diff(np.append(first, len(self))),
            weight=weight,
            value=weight * rest.pop() if rest else None,
        )


class Strata(Mapping[str, "StratumRows | Bins"]):
    """The strata of a table by name, where they lie.

    Here they are arrays of the host. An engine that keeps rows on a device has a subclass that does there
    what it can, and sees its rows on the host for the rest.

    Parameters
    ----------
    strata : mapping of str to StratumRows or Bins
        Any of "positive", "unlabeled" and "negative"; or "soft" alone.
    """

    def __init__(self, strata: Mapping[str, StratumRows | Bins]) -> None:
        unknown = [name for name in strata if name not in STRATA]
        if unknown:
            raise InputError(f"{arg('strata')} must be named {', '.join(STRATA)}; got {unknown[0]!r}.")
        for name, stratum in strata.items():
            if not isinstance(stratum, (StratumRows, Bins)):
                raise InputError(
                    argument="strata",
                    must="hold StratumRows or Bins",
                    got=f"{type(stratum).__name__} for {name!r}",
                    remedy="Make tables from evidence, e.g. Labeled(y_true, y_score).table.",
                )
        self._by_name = {name: strata[name] for name in STRATA if len(strata.get(name, ()))}
        if SOFT in strata and len(strata) > 1 and not self.reviewed:
            raise MergeError(
                "Soft-labeled rows cannot share a table with positive, unlabeled or negative rows. "
                "Give the hard labels as soft labels 0 and 1 instead."
            )

    def __getitem__(self, name: str) -> StratumRows | Bins:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    @cached_property
    def grid(self) -> Grid | None:
        """The grid of histograms; None where the strata hold exact rows."""
        grids = {stratum.grid if isinstance(stratum, Bins) else None for stratum in self.values()}
        if len(grids) > 1:
            raise MergeError(f"The strata have different grids: {', and '.join(map(str, grids))}.")
        return next(iter(grids), None)

    @property
    def reviewed(self) -> bool:
        """Whether somebody looked at some of the rows, each by a chance of its own."""
        return any(rows.meaning in OF_REVIEWS for rows in self.values())

    @property
    def exact(self) -> Mapping[str, StratumRows]:
        """The same strata, known to be no histograms."""
        return cast("Mapping[str, StratumRows]", self._by_name)

    def merge(self, others: Sequence[Strata]) -> Strata:
        """All rows together. Exact rows that join a histogram are put on its grid."""
        every = [self, *others]
        plain = any(UNLABELED in strata and not strata.reviewed for strata in every)
        if plain and any(strata.reviewed for strata in every):
            raise MergeError(
                "Unlabeled rows that had no chance of a review cannot join reviewed rows: labels mean "
                "something else there. Evaluate them apart."
            )
        grid = next((strata.grid for strata in every if strata.grid is not None), None)
        merged: dict[str, Any] = {}
        for strata in every if grid is None else [strata.compress(grid) for strata in every]:
            for name, rows in strata.items():
                merged[name] = merged[name].concatenate(rows) if name in merged else rows
        said = {name: merged[name] for name in (POSITIVE, NEGATIVE) if name in merged}
        of_reviews = [rows.meaning for rows in said.values() if rows.meaning in OF_REVIEWS]
        # Reviews of one class may all have been certain: beside others, they say so.
        plain_rows = {name: rows for name, rows in said.items() if of_reviews and rows.meaning is None}
        return Strata(merged | {name: rows.valued(of_reviews[0]) for name, rows in plain_rows.items()})

    def compress(self, grid: Grid | None = None) -> Strata:
        """The strata as histograms, by default on a grid that suits their scores."""
        if self.grid is not None:
            refuse_other_grid(grid or self.grid, self.grid)
            return self
        if any(rows.meaning not in (None, *BINNED) for rows in self.values()):
            raise InputError(
                "Propensities, confidences, chances of review and labels of many classes stay exact rows: of "
                "values a histogram holds binary soft labels alone. Use the table as it is."
            )
        if not self:
            return self
        chosen = grid or grid_for(np.asarray([rows.span for rows in self.values()]))
        binned = {
            name: Bins.of(chosen, rows.score, rows.weight, value=rows.value, meaning=rows.meaning)
            for name, rows in self.exact.items()
        }
        return Strata(binned)

    def to_host(self) -> Strata:
        """The same strata, on the host if they are histograms."""
        return self

    def support(self) -> Support:
        """The distinct scores of all strata, and each stratum's distinct rows on them."""
        if self.grid is not None:
            return support_of(cast("Mapping[str, Bins]", self._by_name))
        if self._many_plain:
            return SortedRows({name: rows.score for name, rows in self.exact.items()})
        many = {name: rows for name, rows in self.exact.items() if rows.is_plain and len(rows) >= COMPILED}
        distinct = {name: rows.cells() for name, rows in self.exact.items() if name not in many}
        if many and self.reviewed:
            from halftruth.kernels._sorting import sort

            return JoinedRows.of({name: sort(rows.score) for name, rows in many.items()}, distinct)
        distinct |= {name: rows.cells() for name, rows in many.items()}
        score, places = _union([scores for scores, _ in distinct.values()])
        cells = {
            name: replace(cells, atom=place[cells.atom])
            for (name, (_, cells)), place in zip(distinct.items(), places, strict=True)
        }
        return Support(score=score, strata=cells)

    @property
    def _many_plain(self) -> bool:
        """Whether compiled loops pay for being loaded, which take rows without weights and values alone."""
        exact = self.exact.values()
        return sum(map(len, exact)) >= COMPILED and all(rows.is_plain for rows in exact)


def _in_order(columns: Sequence[Vector]) -> list[Vector]:
    """The columns with their rows by the first of them, and where that is equal by the next."""
    if len(columns[0]) < COMPILED:
        order = np.lexsort(columns[::-1])
        return [column[order] for column in columns]
    from halftruth.kernels._sorting import ordered

    score, row = ordered(columns[0])
    if (score[1:] == score[:-1]).any():
        # By the last column first: rows of one value keep their order when the one before is sorted.
        row = ordered(columns[-1])[1]
        for column in columns[-2::-1]:
            row = row[ordered(column[row])[1]]
    return [score, *(column[row] for column in columns[1:])]


def _changes(column: Vector) -> NDArray[np.bool_]:
    """Where a sorted column has another value than in the row before."""
    return np.append(True, column[1:] != column[:-1])


def _union(scores: Sequence[Vector]) -> tuple[Vector, Sequence[NDArray[np.intp]]]:
    """Distinct scores of all strata, and the place of each stratum's own among them."""
    if sum(map(len, scores)) >= COMPILED:
        from halftruth.kernels._sorting import union

        return union(scores)
    score = np.unique(np.concatenate(scores))
    return score, [np.searchsorted(score, of) for of in scores]
