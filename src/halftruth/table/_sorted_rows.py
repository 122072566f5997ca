"""Many plain rows, sorted once: read in one pass, or joined to groups beside a few rows that carry values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector
from halftruth.kernels._pass_sums import PassSums
from halftruth.table._support import Cells, Shares, SortedSupport, Support, depths

__all__ = ["N_EDGES", "JoinedRows", "SortedRows"]

JOINED = 1 << 14  # groups of neighbours that very many plain rows become, beside rows that carry values
N_EDGES = 4096  # scores of a stratum around which the rows of the others are counted


class SortedRows(SortedSupport):
    """The scores of each stratum, all of weight one; sorted when their order is first asked for."""

    rows: Mapping[str, Vector]

    def __init__(self, rows: Mapping[str, Vector]) -> None:
        object.__setattr__(self, "rows", rows)

    @cached_property
    def sorted(self) -> Mapping[str, Vector]:
        from halftruth.kernels._sorting import sort

        return {name: sort(score) for name, score in self.rows.items()}

    @property
    def sorted_scores(self) -> Mapping[str, Vector]:
        return self.sorted

    @cached_property
    def distinct(self) -> Support:
        from halftruth.kernels._sorting import sort

        runs = {name: _runs(scores) for name, scores in self.sorted.items()}
        score, _ = _runs(sort(np.concatenate([distinct for distinct, _ in runs.values()])))
        cells = {name: Cells(atom=np.searchsorted(score, x), count=n) for name, (x, n) in runs.items()}
        return Support(score=score, strata=cells)

    @property
    def n_rows(self) -> Mapping[str, int]:
        return {name: len(x) for name, x in self.rows.items()}

    @cached_property
    def span(self) -> tuple[float, float]:
        rows = self.rows.values()
        return min(float(x.min()) for x in rows), max(float(x.max()) for x in rows)

    def above(self, threshold: float) -> dict[str, int]:
        return {name: len(x) - int(np.searchsorted(x, threshold)) for name, x in self.sorted.items()}

    def pass_sums(self, mass: Shares, pos: Shares, neg: Shares, *, own: tuple[float, float]) -> PassSums:
        from halftruth.kernels._one_pass import pass_sums

        a, b, d = (np.asarray([shares[name] for name in self.sorted]) for shares in (mass, pos, neg))
        return pass_sums(tuple(self.sorted.values()), a, b, d, own, bounded=self.bounded)

    def moments(self, mass: Shares, n_bins: int, binning: str) -> dict[str, Vector]:
        from halftruth.kernels._one_pass import mass_moments
        from halftruth.kernels._row_bins import width_moments

        if binning == "width":
            return {name: width_moments(x, n_bins) for name, x in self.rows.items()}
        inside = [mass[name] != 0 for name in self.sorted]
        by_stratum = mass_moments(tuple(self.sorted.values()), inside, n_bins)
        return dict(zip(self.sorted, by_stratum, strict=True))

    def masses_around(self, stratum: str, column: str = "weight") -> dict[str, NDArray[np.int64]]:
        scores = self.sorted[stratum]
        deep = np.unique(np.geomspace(1, len(scores), N_EDGES // 2).astype(np.int64))
        even = np.linspace(0, len(scores) - 1, N_EDGES).astype(np.int64)
        edge = np.unique(scores[np.concatenate([deep - 1, even, len(scores) - deep])])
        return {
            name: np.diff(np.concatenate([[0], np.searchsorted(x, edge), [len(x)]]))
            for name, x in self.sorted.items()
        }

    def coarse(self, n_atoms: int, keep: Iterable[float] = ()) -> Support:
        low, high = self.span
        edges = [np.asarray([low, high, *keep])]
        for x in self.sorted.values():
            depth = depths(len(x), n_atoms / len(self.sorted))
            edges += [x[len(x) - depth], x[min(int(np.searchsorted(x, low, "right")), len(x) - 1)][None]]
        edge = np.unique(np.concatenate(edges))
        edge = edge[(edge >= low) & (edge <= high)]
        cuts = {name: np.append(np.searchsorted(x, edge), len(x)) for name, x in self.sorted.items()}
        counts = {name: np.diff(cut) for name, cut in cuts.items()}
        rows = np.sum(list(counts.values()), axis=0)
        total = np.sum([_segment_sums(self.sorted[name], cut) for name, cut in cuts.items()], axis=0)
        used = rows > 0
        last = np.nextafter(np.append(edge[1:], np.inf), -np.inf)
        mean = np.clip(total[used] / rows[used], edge[used], np.minimum(last, high)[used])
        at = np.cumsum(used) - 1
        cells = {name: Cells(atom=at[n > 0], count=n[n > 0]) for name, n in counts.items()}
        return Support(score=mean, strata=cells, edge=edge[used])


@dataclass(frozen=True, kw_only=True, eq=False)
class JoinedRows(Support):
    """Very many plain rows beside a few that carry values: the plain ones are joined between those few.

    Where thresholds part a group, its rows are told apart again: `parted`.
    """

    rows: Mapping[str, Vector]
    """The sorted scores of the strata that were joined."""
    few: Mapping[str, tuple[Vector, Cells]]
    """Distinct scores and cells of the others."""

    @classmethod
    def of(cls, rows: Mapping[str, Vector], few: Mapping[str, tuple[Vector, Cells]]) -> JoinedRows:
        scores = np.concatenate([score for score, _ in few.values()])
        if len(scores) > N_EDGES:
            scores = np.sort(scores)[:: -(-len(scores) // N_EDGES)]
        # A group ends below each score of the few, and one begins above it.
        edges = [scores, np.nextafter(scores, np.inf)]
        for x in rows.values():
            depth = depths(len(x), JOINED)
            edges += [x[len(x) - depth], x[:1], np.nextafter(x[:1], np.inf), x[-1:]]
        return cls._cut(np.unique(np.concatenate(edges)), rows, few)

    @classmethod
    def _cut(
        cls, edge: Vector, rows: Mapping[str, Vector], few: Mapping[str, tuple[Vector, Cells]]
    ) -> JoinedRows:
        cuts = {name: np.append(np.searchsorted(x, edge), len(x)) for name, x in rows.items()}
        counts = {name: np.diff(cut) for name, cut in cuts.items()}
        total = np.sum([_segment_sums(rows[name], cut) for name, cut in cuts.items()], axis=0)
        number = np.sum(list(counts.values()), axis=0)
        used = np.flatnonzero(number)
        last = np.nextafter(np.append(edge[1:], np.inf), -np.inf)[used]
        mean = np.clip(total[used] / number[used], edge[used], np.minimum(last, np.finfo(np.float64).max))
        score = np.unique(np.concatenate([mean, *(x for x, _ in few.values())]))
        place = np.searchsorted(score, mean)
        strata = {}
        for name, count in counts.items():
            at = np.flatnonzero(count[used])
            strata[name] = Cells(atom=place[at], count=count[used][at])
        for name, (scores, cells) in few.items():
            strata[name] = replace(cells, atom=np.searchsorted(score, scores)[cells.atom])
        first = score.copy()
        first[place] = edge[used]
        return cls(score=score, strata=strata, edge=first, rows=rows, few=few)

    def parted(self, thresholds: Iterable[float]) -> JoinedRows:
        """The same with no group on both sides of a threshold."""
        assert self.edge is not None
        low, high = self.score[0], self.score[-1]
        new = [t for t in thresholds if low < t <= high]
        wanted = np.unique(np.concatenate([self.edge, new]))
        return self if len(wanted) == len(self.edge) else self._cut(wanted, self.rows, self.few)

    def coarse(self, n_atoms: int, keep: Iterable[float] = ()) -> Support:
        keep = list(keep)
        return Support.coarse(self.parted(keep), n_atoms, keep)

    def sides(self, threshold: float | None, strata: Iterable[str] = (), *, drawn: bool = False) -> Support:
        rows = self if threshold is None else self.parted([threshold])
        return Support.sides(rows, threshold, strata, drawn=drawn)


def _runs(score: Vector) -> tuple[Vector, NDArray[np.int64]]:
    """Distinct values of a sorted array, and how often each occurs."""
    first = np.flatnonzero(np.append(True, score[1:] != score[:-1]))
    return score[first], np.diff(np.append(first, len(score)))


def _segment_sums(x: Vector, cut: NDArray[np.intp]) -> Vector:
    """Sums of x between consecutive cuts; 0 where nothing lies between."""
    full = np.flatnonzero(np.diff(cut))
    out = np.zeros(len(cut) - 1)
    out[full] = np.add.reduceat(x, cut[full])
    return out
