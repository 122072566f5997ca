"""SortedRows: many plain rows, sorted once and read in one pass; distinct scores only where asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector
from halftruth.kernels._pass_sums import PassSums
from halftruth.table._support import Cells, Shares, SortedSupport, Support, depths

__all__ = ["N_EDGES", "SortedRows"]

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
