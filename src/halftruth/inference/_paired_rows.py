"""Rows drawn for two models at once: together where they scored the same cases, else apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from halftruth._checks import Vector
from halftruth._errors import InputError
from halftruth.evidence import Evidence
from halftruth.inference._influence import Gradient, of_cells, scatter, variance
from halftruth.measure._arithmetic import Index
from halftruth.table._resampling import chunks, draw_counts, draw_sizes, resample
from halftruth.table._strata import StratumRows
from halftruth.table._support import Cells, Column, Sums, Support

__all__ = ["IndependentRows", "PairedRows"]


@dataclass(frozen=True, kw_only=True, eq=False)
class PairedCells:
    """Rows of one stratum by where they lie for either model."""

    cells: Cells
    atoms: tuple[Index, Index]

    @classmethod
    def of(cls, rows: tuple[StratumRows, StratumRows], edges: tuple[Vector, Vector]) -> PairedCells:
        a, b = (_places(r.score, e) for r, e in zip(rows, edges, strict=True))
        key, cell = np.unique(a * len(edges[1]) + b, return_inverse=True)
        first, count = rows[0], np.ones(len(cell), dtype=np.int64)
        value = None if first.value is None else first.full_weight() * first.value
        apart = Cells(atom=cell, count=count, weight=first.weight, value=value)
        return cls(cells=apart.joined(np.arange(len(key))), atoms=(key // len(edges[1]), key % len(edges[1])))

    def sums(self, totals: Vector, model: int, n_atoms: int) -> Vector:
        """Totals by joint cell (..., n_cells) as sums by the atoms of one model."""
        atom = self.atoms[model]
        order = np.argsort(atom, kind="stable")
        first = np.flatnonzero(np.diff(atom[order], prepend=-1))
        out = np.zeros((*totals.shape[:-1], n_atoms))
        out[..., atom[order][first]] = np.add.reduceat(totals[..., order], first, axis=-1)
        return out


@dataclass(frozen=True, kw_only=True, eq=False)
class GradientLine:
    """Where the rows of a stratum lie between the joined scores of one model.

    A gradient is a line through its values there, broken at the thresholds ``keep``. Along the ranks, so that
    models with the same order of the rows have the same line.
    """

    rows: StratumRows
    knot: Index
    """The joined score of each knot of the line."""
    left: Index
    share: Vector
    """Of the way from the knot at the left of a row to the next."""

    @classmethod
    def of(cls, rows: StratumRows, edges: Vector, keep: Iterable[float]) -> GradientLine:
        score, row, count = np.unique(rows.score, return_inverse=True, return_counts=True)
        rank = (np.cumsum(count) - count / 2)[row]
        knot, at = np.unique(_places(rows.score, edges), return_inverse=True)
        x = np.bincount(at, rank) / np.bincount(at)
        for threshold in keep:
            below = count[: np.searchsorted(score, threshold)].sum()
            i = int(np.searchsorted(x, below))
            if 0 < i < len(x):
                knot, x = np.insert(knot, i, knot[i - 1 : i + 1]), np.insert(x, i, [below - 0.1, below + 0.1])
        place = np.interp(rank, x, np.arange(len(x)))
        left = place.astype(np.intp)
        return cls(rows=rows, knot=knot, left=left, share=place - left)

    def influence(self, gradient: Gradient, stratum: str) -> Vector:
        """Of every row."""

        def along(column: Column) -> Vector:
            y = gradient[column][self.knot]
            return np.asarray(y[self.left] + self.share * np.diff(y, append=y[-1])[self.left])

        out = along((stratum, "weight"))
        if self.rows.value is not None:
            out = out + along((stratum, "value")) * self.rows.value
        return out if self.rows.weight is None else out * self.rows.weight


class PairedRows:
    """Both models scored the same rows, in the same order."""

    def __init__(
        self,
        evidence: tuple[Evidence, Evidence],
        supports: tuple[Support, Support],
        *,
        one_sample: bool,
        keep: Iterable[float] = (),
    ) -> None:
        self.supports, self.one_sample, self.keep = supports, one_sample, tuple(keep)
        a, b = evidence
        self.edges = edges = _edges(supports[0]), _edges(supports[1])
        names = {**a.table.strata, **b.table.strata}
        pairs = {name: (a.table.strata.get(name), b.table.strata.get(name)) for name in names}
        self.rows = {name: _same_rows(name, *rows) for name, rows in pairs.items()}
        self.joint = {name: PairedCells.of(rows, edges) for name, rows in self.rows.items()}
        self.n_cells = sum(len(joint.cells.count) for joint in self.joint.values())
        self.joined = any(support.edge is not None for support in supports)

    @cached_property
    def _lines(self) -> dict[str, tuple[GradientLine, GradientLine]]:
        a, b = self.edges
        return {
            name: (GradientLine.of(x, a, self.keep), GradientLine.of(y, b, self.keep))
            for name, (x, y) in self.rows.items()
        }

    def resampled(self, n: int, rng: np.random.Generator) -> Iterator[tuple[Sums, Sums]]:
        """Sums of both models over ``n`` resamples, in chunks."""
        strata = {name: joint.cells for name, joint in self.joint.items()}
        for size in chunks(n, self.n_cells):
            drawn = draw_sizes(strata, size, rng, one_sample=self.one_sample)
            out: tuple[dict[Any, Vector], dict[Any, Vector]] = ({}, {})
            for name, joint in self.joint.items():
                totals = joint.cells.totals(draw_counts(joint.cells, drawn[name], rng), rng)
                for column, total in totals.items():
                    for model, support in enumerate(self.supports):
                        out[model][name, column] = joint.sums(total, model, len(support.score))
            yield out

    def variance(self, a: Gradient, b: Gradient) -> float:
        """The sampling variance of the difference of two numbers with these gradients."""
        if not self.joined:
            return self.variance_of_joined(a, b)
        by_stratum = [x.influence(a, name) - y.influence(b, name) for name, (x, y) in self._lines.items()]
        return sum(map(scatter, [np.concatenate(by_stratum)] if self.one_sample else by_stratum))

    def variance_of_joined(self, a: Gradient, b: Gradient) -> float:
        """The same of the joined rows, which resamples have.

        Models that hardly differ differ most inside of joined rows and by the side of a border on which a
        row fell: too little and too much.
        """
        parts = []
        for name, joint in self.joint.items():
            of_a, of_b = joint.atoms
            difference = {column: a[column][of_a] - b[column][of_b] for column in a if column[0] == name}
            parts.append((joint.cells.count, *of_cells(difference, name, joint.cells)))
        if self.one_sample:
            parts = [tuple(np.concatenate(columns) for columns in zip(*parts, strict=True))]  # type: ignore[list-item]
        return float(sum(scatter(mean, count, within) for count, mean, within in parts))


class IndependentRows:
    """Two independent samples."""

    def __init__(self, supports: tuple[Support, Support], *, one_sample: bool) -> None:
        self.supports, self.one_sample = supports, one_sample
        self.joined = False  # for each model alone the joining changes next to nothing
        self.n_cells = max(len(support.score) for support in supports)

    def resampled(self, n: int, rng: np.random.Generator) -> Iterator[tuple[Sums, Sums]]:
        for size in chunks(n, self.n_cells):
            a, b = (resample(support, size, rng, one_sample=self.one_sample) for support in self.supports)
            yield a, b

    def variance(self, a: Gradient, b: Gradient) -> float:
        one, other = (
            variance(g, s, one_sample=self.one_sample) for g, s in zip((a, b), self.supports, strict=True)
        )
        return one + other

    variance_of_joined = variance


def _edges(support: Support) -> Vector:
    return support.score if support.edge is None else support.edge


def _places(score: Vector, edges: Vector) -> Index:
    return np.searchsorted(edges, score, side="right") - 1


def _same_rows(name: str, a: Any, b: Any) -> tuple[StratumRows, StratumRows]:
    """Rows of two models that can be paired by their order, or an error."""
    if a is None or b is None:
        raise InputError(
            f"Only one of the models has {name} rows, so rows cannot be paired by their order. Score the "
            f"same cases with both, or pass paired=False if the samples are independent."
        )
    if not (isinstance(a, StratumRows) and isinstance(b, StratumRows)):
        raise InputError(
            "Models are paired by the order of their rows, which a histogram does not keep. Compare exact "
            "rows, or pass paired=False if the samples are independent."
        )
    if len(a) != len(b):
        raise InputError(
            f"The models have {len(a)} and {len(b)} {name} rows, so rows cannot be paired by their order. "
            f"Score the same cases with both, or pass paired=False if the samples are independent."
        )
    for what, x, y in (("weights", a.weight, b.weight), ("values", a.value, b.value)):
        if not (x is y or (x is not None and y is not None and np.array_equal(x, y))):
            raise InputError(
                f"The {name} rows of the models have different {what}, so they are not the same cases in the "
                f"same order. Sort them alike, or pass paired=False if the samples are independent."
            )
    return a, b
