"""Rows drawn for two models at once: together where they scored the same cases, else apart."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from halftruth._checks import Vector
from halftruth._errors import InputError, arg
from halftruth.evidence import Evidence
from halftruth.inference._influence import Gradient, of_cells, scatter, unseen, variance
from halftruth.measure._arithmetic import Index
from halftruth.table._resampling import NEAR, Places, UnseenRows, chunks, place_shares, reweigh
from halftruth.table._strata import REVIEW_RATE, REVIEWED, StratumRows
from halftruth.table._support import Cells, Column, Sums, Support

__all__ = ["IndependentRows", "PairedRows"]


@dataclass(frozen=True, kw_only=True, eq=False)
class PairedCells:
    """Rows of one stratum by where they lie for either model."""

    cells: Cells
    atoms: tuple[Index, Index]

    @classmethod
    def of(
        cls, rows: tuple[StratumRows, StratumRows], edges: tuple[Vector, Vector], *, alike: bool
    ) -> PairedCells:
        """``alike``: only rows that stand for nearly as many others share a cell."""
        a, b = (_places(r.score, e) for r, e in zip(rows, edges, strict=True))
        key, cell = np.unique(a * len(edges[1]) + b, return_inverse=True)
        first, count = rows[0], np.ones(len(cell), dtype=np.int64)
        value = None if first.value is None else first.full_weight() * first.value
        apart = Cells(atom=cell, count=count, weight=first.weight, value=value)
        cells = apart.joined(np.arange(len(key)), alike=alike)
        key = key[cells.atom]
        cells = replace(cells, atom=np.arange(len(key)))
        return cls(cells=cells, atoms=(key // len(edges[1]), key % len(edges[1])))


@dataclass(frozen=True, eq=False)
class JointPlaces:
    """Where rows lie for both models at once, or may lie, as a support of all strata."""

    support: Support
    atoms: tuple[Index, Index]

    @classmethod
    def of(
        cls,
        joint: Mapping[str, PairedCells],
        n_atoms: int,
        corners: Iterable[tuple[int, int]],
        multiplied: tuple[str, ...],
    ) -> JointPlaces:
        """``corners``: places that count though no row may lie there; ``multiplied``: strata likewise."""
        keys = {name: rows.atoms[0] * n_atoms + rows.atoms[1] for name, rows in joint.items()}
        at_corners = np.asarray([a * n_atoms + b for a, b in corners], dtype=np.intp)
        all_keys = np.unique(np.concatenate([*keys.values(), at_corners]))
        strata = {
            name: replace(rows.cells, atom=np.searchsorted(all_keys, keys[name]))
            for name, rows in joint.items()
        }
        support = Support(score=np.arange(len(all_keys), dtype=np.float64), strata=strata)
        return cls(support.with_strata(multiplied), (all_keys // n_atoms, all_keys % n_atoms))

    def shares(
        self,
        supports: tuple[Support, Support],
        corners: Collection[tuple[int, int]],
        multiplied: tuple[str, ...],
    ) -> Vector:
        """How many of the parts of a row that were not seen fall on each place.

        One on each of the corners; without any, one where rows lie, by the ranks of either model in turn: of
        the rows that are ``multiplied``, where any are.
        """
        if corners:
            places = zip(*self.atoms, strict=True)
            return np.asarray([float((int(a), int(b)) in corners) for a, b in places])
        strata = {k: x for k, x in self.support.strata.items() if k in multiplied or not multiplied}
        pool, out = replace(self.support, strata=strata).pool, np.zeros(len(self.support.score))
        for support, atom in zip(supports, self.atoms, strict=True):
            of_atom = np.bincount(atom, pool)[atom]
            share = np.divide(pool, of_atom, out=np.zeros(len(pool)), where=of_atom > 0)
            out += place_shares(support, "anywhere", multiplied)[0, atom] * share / 2
        return out

    def usual_rows(self, multiplied: tuple[str, ...]) -> dict[str, list[dict[str, Any]]]:
        """What a row of strata that are ``multiplied`` adds in effect at each place.

        Σu²/Σu of the reviewed rows that are nearest by the ranks of both models: rows were chosen to be
        reviewed by one of them, or by both, or by neither.
        """
        from scipy.spatial import KDTree

        strata = {name: self.support.strata[name] for name in multiplied}
        if all(cells.value is None for cells in strata.values()):
            return {}
        sums, n = replace(self.support, strata=strata).sums(), len(self.support.score)
        count = replace(self.support, strata=strata).pool
        total, squares = np.zeros(n), np.zeros(n)
        for name in strata:
            weight = sums[name, "weight"]
            total += sums.get((name, "value"), weight)
            squares += sums.get((name, "square"), weight)
        of_atoms = [np.bincount(atom, count) for atom in self.atoms]
        ranks = np.stack(
            [(np.cumsum(x) - x / 2)[atom] for x, atom in zip(of_atoms, self.atoms, strict=True)], axis=1
        )
        seen = np.flatnonzero(count)
        # Those as near as the last count too, so that nothing hangs on which model comes first.
        k = min(NEAR, len(seen))
        distance, near = KDTree(ranks[seen]).query(ranks, np.arange(1, min(2 * k, len(seen)) + 1))
        counts = distance <= distance[:, k - 1 : k] * (1 + 1e-9)
        times = np.sum(counts * squares[seen][near], axis=1) / np.sum(counts * total[seen][near], axis=1)
        each = {name: cells.usual_rows(soft=False)[0]["weight"] for name, cells in strata.items()}
        return {name: [{"weight": w, "value": w * times, "square": w * times**2}] for name, w in each.items()}

    def gather(self, totals: Vector, model: int, n_atoms: int) -> Vector:
        """Totals by joint place (..., n_places) as sums by the atoms of one model."""
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


class PairedUnseen(UnseenRows):
    """Rows that were not seen; each is a row of both models."""

    def __init__(
        self, support: Support, places: Places, shares: Vector, rows: Mapping[str, list[dict[str, Any]]]
    ) -> None:
        """``rows``: what a row adds in effect, of strata where that is not the same everywhere."""
        super().__init__(support, places)
        self.shares, self.reach = shares, np.cumsum(shares)[None]
        # A row that stands for many counts for many in each of four corners. Together they hold what the two
        # ends of one model do: with as much in each, 95% intervals of rates held the truth in 98 to 100%.
        times = 2 / max(2, int(np.count_nonzero(shares))) if places == "ends" else 1.0
        self.rows |= {name: (times * self.rows[name][0], usual) for name, usual in rows.items()}

    def _where(self, n: int, rng: np.random.Generator) -> list[Index]:
        if self.places == "ends":
            return [np.full(n, place) for place in np.flatnonzero(self.shares)]
        return super()._where(n, rng)

    def variance(self, gradient: Gradient) -> float:
        """What they add to the variance of a functional with this gradient."""
        added = 0.0
        for name, (part, rows) in self.rows.items():
            for row in rows:
                moves = [row[c] * gradient[name, c] for c in ("weight", "value") if (name, c) in gradient]
                added += part * float(np.sum(self.shares * np.sum(moves, axis=0) ** 2))
        return added


class PairedRows:
    """Both models scored the same rows, in the same order."""

    def __init__(
        self,
        evidence: tuple[Evidence, Evidence],
        supports: tuple[Support, Support],
        places: Places,
        *,
        one_sample: bool,
        joined: bool,
        ranked: bool,
        keep: Iterable[float] = (),
    ) -> None:
        """``joined``: whether rows that a metric tells apart may lie in one place.

        ``ranked``: whether it reads the order of the scores alone.
        """
        self.supports, self.one_sample, self.keep, self.joined = supports, one_sample, tuple(keep), joined
        a, b = evidence
        self.edges = edges = _edges(supports[0]), _edges(supports[1])
        names = {**a.table.strata, **b.table.strata}
        pairs = {name: (a.table.strata.get(name), b.table.strata.get(name)) for name in names}
        self.rows = {name: _same_rows(name, *rows) for name, rows in pairs.items()}
        multiplied = a.multiplied
        self.joint = {
            name: PairedCells.of(rows, edges, alike=name in multiplied) for name, rows in self.rows.items()
        }
        corners: set[tuple[int, int]] = set()
        if places == "ends":
            # Half a row in each cell of a table of two by two is Jeffreys' prior of it: rates have errors
            # where nothing varies, and differences where the models agree on every row. A quarter is too
            # little: with 30 rows, 88% of 95% intervals hold the truth. One model under two names differs
            # on no row, seen or not.
            (low, high), (below, above) = ((0, len(support.score) - 1) for support in supports)
            corners = {(low, below), (high, above)}
            corners |= set() if self._one_model(ranked) else {(low, above), (high, below)}
        self.places = JointPlaces.of(self.joint, len(edges[1]), corners, multiplied)
        shares = self.places.shares(supports, corners, multiplied)
        usual = self.places.usual_rows(multiplied)
        self.extra = PairedUnseen(self.places.support, places, shares, usual)
        self.n_cells = len(self.places.support.score)

    def _one_model(self, ranked: bool) -> bool:
        """Whether both models have the same scores, or the same order of all rows."""
        a, b = (np.concatenate([rows[side].score for rows in self.rows.values()]) for side in (0, 1))
        if ranked:
            a, b = (np.unique(score, return_inverse=True)[1] for score in (a, b))
        return bool(np.array_equal(a, b))

    @cached_property
    def _lines(self) -> dict[str, tuple[GradientLine, GradientLine]]:
        a, b = self.edges
        return {
            name: (GradientLine.of(x, a, self.keep), GradientLine.of(y, b, self.keep))
            for name, (x, y) in self.rows.items()
        }

    def resampled(self, n: int, rng: np.random.Generator) -> Iterator[tuple[Sums, Sums]]:
        """Sums of both models over ``n`` resamples, in chunks."""
        for size in chunks(n, self.n_cells):
            sums = reweigh(self.places.support, size, rng, self.extra, one_sample=self.one_sample)
            a, b = (
                {
                    column: self.places.gather(total, model, len(support.score))
                    for column, total in sums.items()
                }
                for model, support in enumerate(self.supports)
            )
            yield a, b

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

    def along(self, stratum: str, a: Vector, b: Vector) -> tuple[Vector, Vector]:
        """First minus second of what holds at the atoms of either model, by row, and the rows' weights."""
        if not self.joined:
            joint = self.joint[stratum]
            of_a, of_b = joint.atoms
            totals = joint.cells.totals(joint.cells.count, None)
            return a[of_a] - b[of_b], totals.get("value", totals["weight"])
        rows, _ = self.rows[stratum]
        x, y = (
            replace(line, rows=replace(line.rows, weight=None, value=None)).influence(
                {(stratum, "weight"): z}, stratum
            )
            for line, z in zip(self._lines[stratum], (a, b), strict=True)
        )
        return x - y, rows.full_weight() * (1.0 if rows.value is None else rows.value)

    def unseen(self, a: Gradient, b: Gradient) -> float:
        """What rows that were not seen add to the variance."""
        of_a, of_b = self.places.atoms
        difference = {column: a[column][of_a] - b[column][of_b] for column in a}
        return self.extra.variance(difference)


class IndependentRows:
    """Two independent samples."""

    joined = False  # for each model alone the joining changes next to nothing

    def __init__(
        self,
        supports: tuple[Support, Support],
        places: Places,
        multiplied: tuple[tuple[str, ...], tuple[str, ...]],
        *,
        one_sample: Sequence[bool],
    ) -> None:
        self.places, self.samples = places, tuple(zip(supports, one_sample, strict=True))
        self.multiplied = multiplied
        self.extra = [UnseenRows(x, places, names) for x, names in zip(supports, multiplied, strict=True)]
        self.n_cells = max(len(support.score) for support in supports)

    def resampled(self, n: int, rng: np.random.Generator) -> Iterator[tuple[Sums, Sums]]:
        for size in chunks(n, self.n_cells):
            a, b = (
                reweigh(support, size, rng, extra, one_sample=together)
                for (support, together), extra in zip(self.samples, self.extra, strict=True)
            )
            yield a, b

    def variance(self, a: Gradient, b: Gradient) -> float:
        sides = zip((a, b), self.samples, strict=True)
        return sum(
            variance(gradient, support, one_sample=together) for gradient, (support, together) in sides
        )

    def unseen(self, a: Gradient, b: Gradient) -> float:
        sides = zip((a, b), self.samples, self.multiplied, strict=True)
        return sum(unseen(gradient, x, self.places, names)[1] for gradient, (x, _), names in sides)

    variance_of_joined = variance


def _edges(support: Support) -> Vector:
    return support.score if support.edge is None else support.edge


def _places(score: Vector, edges: Vector) -> Index:
    return np.searchsorted(edges, score, side="right") - 1


def _same_rows(name: str, a: Any, b: Any) -> tuple[StratumRows, StratumRows]:
    """Rows of two models that can be paired by their order, or an error."""
    reviewed = any(isinstance(x, StratumRows) and x.meaning in (REVIEWED, REVIEW_RATE) for x in (a, b))
    name = f"reviewed {name}" if reviewed else name
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
    values = "chances of a review" if reviewed else "values"
    for what, x, y in (("weights", a.weight, b.weight), (values, a.value, b.value)):
        if not (x is y or (x is not None and y is not None and np.array_equal(x, y))):
            give = f", give both the same {arg('probability')}" if reviewed else ""
            raise InputError(
                f"The {name} rows of the models have different {what}, so they are not the same cases in the "
                f"same order. Sort them alike{give}, or pass paired=False if the samples are independent."
            )
    return a, b
