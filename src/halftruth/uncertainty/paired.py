"""Rows drawn for two models at once: together where they scored the same cases, else apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth.checks import Vector
from halftruth.errors import InputError
from halftruth.evidence import Evidence
from halftruth.support import Cells, Sums, Support
from halftruth.table import Rows
from halftruth.uncertainty.bootstrap import chunks, draw_counts, draw_sizes, resample
from halftruth.uncertainty.influence import Gradient, of_cells, scatter, variance

Index = NDArray[np.intp]


@dataclass(frozen=True, kw_only=True, eq=False)
class Joint:
    """Rows of one stratum by where they lie for either model."""

    cells: Cells
    atoms: tuple[Index, Index]

    @classmethod
    def of(cls, rows: tuple[Rows, Rows], edges: tuple[Vector, Vector]) -> Joint:
        a, b = (np.searchsorted(e, r.score, side="right") - 1 for r, e in zip(rows, edges, strict=True))
        key, cell = np.unique(a * len(edges[1]) + b, return_inverse=True)
        one = rows[0]
        value = None if one.value is None else one.full_weight() * one.value
        each = Cells(atom=cell, count=np.ones(len(cell), dtype=np.int64), weight=one.weight, value=value)
        return cls(cells=each.joined(np.arange(len(key))), atoms=(key // len(edges[1]), key % len(edges[1])))

    def sums(self, totals: Vector, model: int, n_atoms: int) -> Vector:
        """Totals by joint cell (..., n_cells) as sums by the atoms of one model."""
        atom = self.atoms[model]
        order = np.argsort(atom, kind="stable")
        first = np.flatnonzero(np.diff(atom[order], prepend=-1))
        out = np.zeros((*totals.shape[:-1], n_atoms))
        out[..., atom[order][first]] = np.add.reduceat(totals[..., order], first, axis=-1)
        return out


class Together:
    """Both models scored the same rows, in the same order."""

    def __init__(
        self, evidence: tuple[Evidence, Evidence], supports: tuple[Support, Support], *, one_sample: bool
    ) -> None:
        self.supports, self.one_sample = supports, one_sample
        a, b = evidence
        edges = _edges(supports[0]), _edges(supports[1])
        pairs = {name: (a.table.strata.get(name), b.table.strata.get(name)) for name in _names(a, b)}
        self.joint = {name: Joint.of(_same_rows(name, *rows), edges) for name, rows in pairs.items()}
        self.n_cells = sum(len(joint.cells.count) for joint in self.joint.values())

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
        parts = []
        for name, joint in self.joint.items():
            of_a, of_b = joint.atoms
            difference = {column: a[column][of_a] - b[column][of_b] for column in a if column[0] == name}
            parts.append((joint.cells.count, *of_cells(difference, name, joint.cells)))
        if self.one_sample:
            parts = [tuple(np.concatenate(columns) for columns in zip(*parts, strict=True))]  # type: ignore[list-item]
        return float(sum(scatter(mean, count, within) for count, mean, within in parts))


class Apart:
    """Two independent samples."""

    def __init__(self, supports: tuple[Support, Support], *, one_sample: bool) -> None:
        self.supports, self.one_sample = supports, one_sample
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


def _edges(support: Support) -> Vector:
    return support.score if support.edge is None else support.edge


def _names(a: Evidence, b: Evidence) -> tuple[str, ...]:
    return tuple({**a.table.strata, **b.table.strata})


def _same_rows(name: str, a: Any, b: Any) -> tuple[Rows, Rows]:
    """Rows of two models that can be paired by their order, or an error."""
    if a is None or b is None:
        raise InputError(
            f"Only one of the models has {name} rows, so rows cannot be paired by their order. Score the "
            f"same cases with both, or pass paired=False if the samples are independent."
        )
    if not (isinstance(a, Rows) and isinstance(b, Rows)):
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
