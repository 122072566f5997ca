"""Support: distinct scores with multiplicities, where resampling is cheap.

A resample of the rows is a draw of counts on the distinct rows. Where those are too many, rows that
are neighbours in score are joined first, so that the cost of a resample stops growing with the rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector
from halftruth.kernels._pass_sums import PassSums

Shares = Mapping[str, float]  # what a row of each stratum adds
Column = tuple[str, str]
Sums = Mapping[Column, Vector]
"""(stratum, "weight", "value" or "square") → sums at each distinct score, shape (..., n_scores)."""

Index = NDArray[np.intp]
SINGLE = 64  # rows on a side of a threshold that keep a weight of their own, and groups of the others
SOFT = "soft"  # the stratum whose rows are partly of either class


@dataclass(frozen=True, kw_only=True, eq=False)
class Cells:
    """Distinct rows of one stratum: where they lie, how many they are, what one of them adds."""

    atom: Index
    count: NDArray[np.int64]
    weight: Vector | None = None
    value: Vector | None = None
    square: Vector | None = None
    """Mean of value²/weight over the rows, where they are joined."""
    spread: Vector | None = None
    """Lower Cholesky factor (3, n) of the covariance of (weight, value) inside a joined cell."""

    def scaled(self, factor: float) -> Cells:
        """The same cells with other counts, which need not be whole."""
        count: NDArray[Any] = self.count * factor
        return replace(self, count=count)

    def share(self, share: Vector) -> Cells:
        """A share of each cell, without their values."""
        used = np.flatnonzero(share)
        count: NDArray[Any] = (self.count * share)[used]
        weight, spread = (None if x is None else x[..., used] for x in (self.weight, self.spread))
        return Cells(atom=self.atom[used], count=count, weight=weight, spread=spread)

    @property
    def n_rows(self) -> int:
        return int(self.count.sum())

    @cached_property
    def first(self) -> Index:
        """The first cell of each score that has one."""
        return np.flatnonzero(np.diff(self.atom, prepend=-1))

    def joined(self, group: Index, *, alike: bool = False) -> Cells:
        """Cells of one group become one, with the group's mean and covariance of what a row adds.

        ``alike``: only those that add nearly the same. The weights of a group that is drawn as a whole vary
        like normal noise, which a few heavy rows among many do not.
        """
        place = group[self.atom]
        where = place if not alike else self._alike(place)
        _, first, cell = np.unique(where, return_index=True, return_inverse=True)
        atom = place[first]
        count = np.bincount(cell, self.count)
        if self.weight is None and self.value is None:
            return Cells(atom=atom, count=count.astype(np.int64))

        def mean(column: Vector) -> Vector:
            return np.asarray(np.bincount(cell, self.count * column) / count)

        weight, value, _ = self.full
        w, v = mean(weight), mean(value)
        dw, dv = weight - w[cell], value - v[cell]
        ww, wv, vv = mean(dw * dw), mean(dw * dv), mean(dv * dv)
        if self.spread is not None:  # what rows inside one cell differ by stays
            a, b, c = self.spread
            ww, wv, vv = ww + mean(a * a), wv + mean(a * b), vv + mean(b * b + c * c)
        return Cells(
            atom=atom,
            count=count.astype(np.int64),
            weight=w,
            value=None if self.value is None else v,
            square=None if self.value is None else mean(self.squares),
            spread=lower_factor(ww, wv, vv),
        )

    def _alike(self, place: Index) -> Index:
        """Numbers of groups of one place and like values: of the heaviest rows, and of the others by rank."""
        each = self.value if self.value is not None else self.weight
        if each is None:
            return place
        # By place, then from the heaviest row to the lightest.
        order = np.lexsort((-each, place))
        start = np.searchsorted(place[order], place[order])
        rank = np.arange(len(order)) - start
        size = np.bincount(place)[place[order]]
        step = np.maximum(1, (size - SINGLE) / SINGLE)
        number = np.where(rank < SINGLE, rank, SINGLE + (rank - SINGLE) // step).astype(np.intp)
        out = np.empty_like(order)
        out[order] = place[order] * (3 * SINGLE) + number
        return out

    @property
    def full(self) -> tuple[Vector, Vector, Vector]:
        """Weight, value and square of each cell; ones where there is no weight, the weight for a value."""
        weight = np.ones(len(self.count)) if self.weight is None else self.weight
        return (weight, weight, weight) if self.value is None else (weight, self.value, self.squares)

    @property
    def squares(self) -> Vector:
        """What one row adds to Σ value²/weight: a weight is a number of rows."""
        assert self.value is not None
        if self.square is not None:
            return self.square
        return np.asarray(self.value**2 / (1.0 if self.weight is None else self.weight))

    def usual_rows(self, *, soft: bool) -> list[dict[str, float]]:
        """What a row adds in effect, Σw²/Σw, by column; with soft labels, a row of either class."""
        within = (None, None) if self.spread is None else (self.spread[0], np.hypot(*self.spread[1:]))
        weight = self._in_effect(self.weight, within[0])
        if self.value is None:
            return [{"weight": weight}]
        values = [0.0, weight] if soft else [self._in_effect(self.value, within[1])]
        return [{"weight": weight, "value": value, "square": value**2 / weight} for value in values]

    def _in_effect(self, each: Vector | None, within: Vector | None) -> float:
        if each is None:
            return 1.0
        squares = each**2 if within is None else each**2 + within**2
        total = np.sum(self.count * each)
        return float(np.sum(self.count * squares) / total) if total > 0 else 1.0

    def in_effect(self, *, soft: bool) -> list[float]:
        """(Σw)²/Σw²: the rows that unequal weights leave in effect; of soft labels, those of either class."""
        weight, each, _ = self.full
        columns = [each, weight - each] if soft else [each]
        within = np.zeros(len(each))
        if self.spread is not None:  # of rows that were joined
            within = self.spread[0] ** 2 if self.value is None else self.spread[1] ** 2 + self.spread[2] ** 2
        with np.errstate(divide="ignore", invalid="ignore"):
            rows = [np.sum(self.count * x) ** 2 / np.sum(self.count * (x**2 + within)) for x in columns]
        return [float(n) for n in rows if np.isfinite(n)]

    def totals(self, count: NDArray[Any], rng: np.random.Generator | None) -> dict[str, Vector]:
        """What ``count`` rows of each cell add up to, by column."""
        number = count.astype(np.float64, copy=False)
        weight = number if self.weight is None else number * self.weight
        values = {} if self.value is None else {"value": number * self.value, "square": number * self.squares}
        if self.spread is None or rng is None:
            return {"weight": weight} | values
        l11, l21, l22 = self.spread
        out, scale = {"weight": weight} | values, np.sqrt(number)
        if l11.any():  # or all weights of a cell are one
            noise = rng.standard_normal(number.shape) * scale
            out["weight"] = weight + l11 * noise
            if self.value is not None:
                out["value"] = out["value"] + l21 * noise
        if self.value is not None and l22.any():
            out["value"] = out["value"] + l22 * (rng.standard_normal(number.shape) * scale)
        return out


def pooled(strata: Sequence[Cells]) -> Cells:
    """All rows in one stratum, without their values."""
    atom = np.concatenate([cells.atom for cells in strata])
    order = np.argsort(atom, kind="stable")
    count = np.concatenate([cells.count for cells in strata])[order]
    if all(cells.weight is None for cells in strata):
        return Cells(atom=atom[order], count=count)
    weight = np.concatenate([c.full[0] for c in strata])
    within = np.concatenate([np.zeros(len(c.atom)) if c.spread is None else c.spread[0] for c in strata])
    spread = np.stack([within, np.zeros(len(atom)), np.zeros(len(atom))])
    return Cells(atom=atom[order], count=count, weight=weight[order], spread=spread[:, order])


@dataclass(frozen=True, kw_only=True, eq=False)
class Support:
    """Distinct scores, ascending, and the cells of each stratum on them."""

    score: Vector
    strata: Mapping[str, Cells]
    edge: Vector | None = None
    """Where scores were joined, the lowest of each group."""

    of_many_rows: ClassVar[bool] = False
    """Whether the distinct scores are so many that they are not to be made where that can be helped."""

    def sums(
        self, counts: Mapping[str, NDArray[Any]] | None = None, rng: np.random.Generator | None = None
    ) -> Sums:
        """Sums at each score: of the rows as they came, or of resampled ``counts`` (..., n_cells)."""
        out: dict[Column, Vector] = {}
        for name, cells in self.strata.items():
            count = cells.count if counts is None else counts[name]
            for column, total in cells.totals(count, rng).items():
                out[name, column] = self._scatter(cells, total)
        return out

    @property
    def sorted_scores(self) -> Mapping[str, Vector] | None:
        """The score of every row of each stratum, ascending, where the support is made of them."""
        return None

    def masses_around(self, stratum: str, column: str = "weight") -> dict[str, NDArray[Any]]:
        """Mass of each stratum between scores of one of them; ``column`` is what counts in that one."""
        sums = self.sums()
        return {name: sums[name, column if name == stratum else "weight"] for name in self.strata}

    def _scatter(self, cells: Cells, total: Vector) -> Vector:
        atom, first = cells.atom, cells.first
        if len(first) < len(atom):
            total = np.add.reduceat(total, first, axis=-1)
        if len(first) == len(self.score):
            return total
        out = np.zeros((*total.shape[:-1], len(self.score)))
        out[..., atom[first]] = total
        return out

    def sides(self, threshold: float | None, strata: Iterable[str] = (), *, drawn: bool = False) -> Support:
        """All rows below a threshold joined, and all that reach it; without one, all rows.

        ``strata`` that have no row are there without one, for what was not seen. Where rows are to be
        ``drawn``, only such as add nearly the same are joined.
        """
        if threshold is None:
            everywhere = np.zeros(len(self.score), dtype=np.intp)
            return self._joined(self.score[:1], everywhere, strata, alike=drawn)
        reach = self.score >= threshold
        starts = np.unique([0, int(np.argmax(reach)) if reach.any() else 0])
        group = (reach & ~reach[0]).astype(np.intp)
        joined = self._joined(self.score[starts], group, strata, alike=drawn)
        return joined.with_both_sides(threshold)

    def with_both_sides(self, threshold: float | None) -> Support:
        """With a score on either side of a threshold, an empty one where no row was seen on it but may come.

        Probabilities never come below 0 or above 1.
        """
        if threshold is None:
            return self
        low, high = self.score[0], self.score[-1]
        are_shares = low >= 0 and high <= 1
        first = self.score if self.edge is None else self.edge
        if low >= threshold and threshold > (0 if are_shares else -np.inf):
            below = np.nextafter(threshold, -np.inf)
            strata = {name: replace(x, atom=x.atom + 1) for name, x in self.strata.items()}
            return Support(score=np.append(below, self.score), strata=strata, edge=np.append(below, first))
        if high < threshold <= (1 if are_shares else np.finfo(np.float64).max):
            score, edge = np.append(self.score, threshold), np.append(first, threshold)
            return Support(score=score, strata=self.strata, edge=edge)
        return self

    def with_strata(self, strata: Iterable[str]) -> Support:
        """With these strata, without a row where none was seen: what was not seen may be of them."""
        missing = [name for name in strata if name not in self.strata]
        if not missing:
            return self
        none = np.zeros(0)
        nobody = Cells(atom=none.astype(np.intp), count=none.astype(np.int64), weight=none, value=none)
        cells = {**self.strata, **dict.fromkeys(missing, nobody)}
        return Support(score=self.score, strata=cells, edge=self.edge)

    def _joined(self, score: Vector, group: Index, strata: Iterable[str], *, alike: bool) -> Support:
        nobody = Cells(atom=np.zeros(0, dtype=np.intp), count=np.zeros(0, dtype=np.int64))
        joined = {name: cells.joined(group, alike=alike) for name, cells in self.strata.items()}
        return Support(score=score, strata=dict.fromkeys(strata, nobody) | joined)

    @property
    def pool(self) -> Vector:
        """How many rows of all strata lie at each score."""
        n = len(self.score)
        return np.asarray(np.sum([np.bincount(x.atom, x.count, n) for x in self.strata.values()], axis=0))

    def coarse(self, n_atoms: int, keep: Iterable[float] = ()) -> Support:
        """Join neighbouring scores until about ``n_atoms`` are left, fine where any stratum is dense.

        Groups grow from single rows at the top of each stratum, for metrics at small budgets. Scores on
        the two sides of a threshold in ``keep`` are never joined, nor are the smallest and the largest
        score (where probabilities of exactly 0 and 1 pile up) joined to others.
        """
        if len(self.score) <= n_atoms:
            return self
        starts = np.zeros(len(self.score), dtype=bool)
        starts[[0, 1, -1]] = True
        starts[[i for i in np.searchsorted(self.score, list(keep)) if i < len(starts)]] = True
        rows = np.zeros(len(self.score))
        for cells in self.strata.values():
            count = np.bincount(cells.atom, cells.count, minlength=len(self.score))
            depth = np.cumsum(count[::-1])[::-1] - count / 2
            starts[1:] |= np.diff(np.floor(level(depth, count.sum(), n_atoms / len(self.strata)))) != 0
            rows += count
        group = np.cumsum(starts) - 1
        first = np.flatnonzero(starts)
        mean = np.bincount(group, rows * self.score) / np.bincount(group, rows)
        last = np.append(first[1:], len(self.score)) - 1
        return Support(
            score=np.clip(mean, self.score[first], self.score[last]),
            strata={name: cells.joined(group) for name, cells in self.strata.items()},
            edge=self.score[first],
        )


class SortedSupport(Support, ABC):
    """Many plain rows, all of weight one, in an order that lets their measures be read in one pass.

    The distinct scores and their cells are made only for what asks for `score` or `strata`.
    """

    of_many_rows = True

    @property
    @abstractmethod
    def n_rows(self) -> Mapping[str, int]:
        """The rows of each stratum."""

    @property
    @abstractmethod
    def span(self) -> tuple[float, float]:
        """The lowest and the highest score."""

    @property
    def bounded(self) -> bool:
        """Whether all scores lie in [0, 1]."""
        low, high = self.span
        return low >= 0 and high <= 1

    @property
    @abstractmethod
    def distinct(self) -> Support:
        """The distinct scores and the rows on them."""

    @abstractmethod
    def above(self, threshold: float) -> dict[str, int]:
        """How many rows of each stratum reach the threshold."""

    @abstractmethod
    def pass_sums(self, mass: Shares, pos: Shares, neg: Shares, *, own: tuple[float, float]) -> PassSums:
        """What areas and proper scores need of a measure with these coefficients.

        For precision ``own`` is what is taken off the positives' mass, and added to the population's.
        """

    @abstractmethod
    def moments(self, mass: Shares, n_bins: int, binning: str) -> dict[str, Vector]:
        """n, Σ s and Σ s² of each stratum's rows in each bin, (3, n_bins).

        Bins of equal population mass, where ``mass`` says which rows are the population's, or of equal width.
        """

    @abstractmethod
    def masses_around(self, stratum: str, column: str = "weight") -> dict[str, NDArray[Any]]:
        """Rows of each stratum between some scores of one of them, denser towards both of its ends."""

    @property
    def score(self) -> Vector:
        return self.distinct.score

    @property
    def strata(self) -> Mapping[str, Cells]:
        return self.distinct.strata

    def sums(
        self, counts: Mapping[str, NDArray[Any]] | None = None, rng: np.random.Generator | None = None
    ) -> Sums:
        return LazySums(self) if counts is None else self.distinct.sums(counts, rng)


class LazySums(Mapping[Column, Vector]):
    """Sums by distinct score that are made when read; their totals are known at once."""

    def __init__(self, support: SortedSupport) -> None:
        self.support = support

    def __getitem__(self, column: Column) -> Vector:
        return self._made[column]

    def __contains__(self, column: object) -> bool:
        return column in set(self)  # without making the sums

    @cached_property
    def _made(self) -> Sums:
        return self.support.distinct.sums()

    def __iter__(self) -> Iterator[Column]:
        return ((name, "weight") for name in self.support.n_rows)

    def __len__(self) -> int:
        return len(self.support.n_rows)

    def total(self, column: Column) -> float:
        return float(self.support.n_rows[column[0]])


def lower_factor(ww: Vector, wv: Vector, vv: Vector) -> Vector:
    """The lower Cholesky factor (3, n) of covariances with these entries: l₁₁, l₂₁, l₂₂."""
    l11 = np.sqrt(ww)
    l21 = np.divide(wv, l11, out=np.zeros_like(wv), where=l11 > 0)
    # Rounding can make the rest of a variance negative; it is none then.
    return np.stack([l11, l21, np.sqrt(np.maximum(vv - l21**2, 0.0))])


def with_batch_axis(sums: Sums) -> Sums:
    """The same sums with one leading axis, of length one, as those of many resamples have."""
    return {column: values[None] for column, values in sums.items()}


def level(depth: Vector, n_rows: float, n_levels: float) -> Vector:
    """Where a row at this depth from the top falls among ``n_levels`` groups, as a real number.

    Half of the levels are spread evenly over the rows; the others grow with the depth, starting at one
    row each. A stratum of no more rows than levels keeps every row apart.
    """
    if n_rows <= n_levels:
        return depth
    even = n_levels / 2 * depth / n_rows
    fine = n_levels / 16
    return np.asarray(even + fine * np.log1p(depth / fine))


def depths(n_rows: int, n_levels: float) -> NDArray[np.int64]:
    """Depths from the top at which `level` passes the whole numbers."""
    top = int(level(np.asarray(float(n_rows)), n_rows, n_levels))
    wanted = np.arange(1, top + 1)
    low, high = np.zeros(len(wanted), dtype=np.int64), np.full(len(wanted), n_rows)
    while (high - low > 1).any():
        middle = (low + high) // 2
        reached = level(middle.astype(np.float64), n_rows, n_levels) >= wanted
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    return high
