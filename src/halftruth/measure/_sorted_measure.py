"""Measures of so many rows that functionals read them in compiled loops: of plain rows, or of any atoms.

Every method is one of `ScoreMeasure`, and `tests/laws/test_large.py` holds all to the same value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

import numpy as np

from halftruth import _checks
from halftruth._checks import Vector
from halftruth.kernels._pass_sums import PassSums
from halftruth.measure._arithmetic import (
    Area,
    Index,
    IsotonicBlocks,
    LogAtoms,
    LogitNodes,
    Number,
    OwnMass,
    RankSums,
    coarser_nodes,
    ratio,
    within,
)
from halftruth.measure._bins import BINNINGS, BinSums, Noise, StratumNoise, moments_of_rows
from halftruth.measure._score_measure import MassName, ScoreMeasure
from halftruth.table._sorted_rows import SortedRows
from halftruth.table._support import Shares, SortedSupport

__all__ = ["ManyAtoms", "SortedMeasure", "SortedRowsMeasure"]

FIRST_ROWS = 1000  # rows of a stratum that mostly show whether its positives are possible


class ManyAtoms(ScoreMeasure):
    """A measure of very many atoms: areas and losses come from one walk over them."""

    @cached_property
    def _pass_sums(self) -> PassSums:
        from halftruth.kernels._one_pass import atom_sums

        atoms = self.score, self.mass, self.pos_mass, np.asarray(self.neg_mass)
        return atom_sums(*atoms, (self.own.pos, self.own.mass), bounded=self.bounded)

    def _sum(self, name: MassName) -> Vector:
        sums = self._pass_sums
        return np.asarray({"mass": sums.total, "pos_mass": sums.positives, "neg_mass": sums.negatives}[name])

    def roc_area(self) -> Area:
        return Area(self._pass_sums.roc_area, self.positives, self.negatives)

    def pr_area(self) -> Area:
        if self.own.squares is not None:
            return super().pr_area()
        return self.of_precision(self._pass_sums.pr_area)

    def squared_loss(self) -> Vector:
        return np.asarray(self._pass_sums.square_loss)

    def log_loss(self) -> Vector:
        return np.asarray(self._pass_sums.log_loss)


class SortedMeasure(ScoreMeasure):
    """A measure that is linear in plain sorted rows; its arrays are made only where they are asked for.

    Areas, losses and bins come from one pass over the rows, wherever these lie: on the host or on a device.
    ``shares`` is what a row of each stratum adds to μ ("mass"), μ₁ ("pos_mass") and μ − μ₁ ("neg_mass");
    ``normalised`` and ``moves`` are as in `Noise` and `StratumNoise`.
    """

    support: SortedSupport
    shares: Mapping[MassName, Shares]
    normalised: bool
    moves: Mapping[str, Vector]

    def __init__(
        self,
        support: SortedSupport,
        shares: Mapping[MassName, Shares],
        *,
        size: float,
        alpha: Number,
        unidentified: str | None,
        normalised: bool,
        moves: Mapping[str, Vector],
        own: OwnMass,
    ) -> None:
        # Past the frozen dataclass, whose arrays are properties here.
        vars(self).update(support=support, shares=shares, normalised=normalised, moves=moves)
        vars(self).update(size=size, alpha=alpha, unidentified=unidentified, own=own, memo={})

    @property
    def of_mass(self) -> Shares:
        return self.shares["mass"]

    @property
    def of_pos(self) -> Shares:
        return self.shares["pos_mass"]

    # --- The arrays of a measure, made when first read ----------------------------------------------------

    @cached_property
    def score(self) -> Vector:
        return self.support.score

    @cached_property
    def mass(self) -> Vector:
        return self._at_scores("mass")

    @cached_property
    def pos_mass(self) -> Vector:
        return self._at_scores("pos_mass")

    @cached_property
    def neg_mass(self) -> Vector:
        return self._at_scores("neg_mass")

    def _at_scores(self, name: MassName) -> Vector:
        out = np.zeros(len(self.score))
        for stratum, cells in self.support.strata.items():
            if self.shares[name][stratum] != 0:  # known rows beside the population add nothing to it
                out[cells.atom] += self.shares[name][stratum] * cells.count
        return out

    @cached_property
    def noise(self) -> Noise:
        counts = {name: np.zeros(len(self.score)) for name in self.support.strata}
        for name, cells in self.support.strata.items():
            counts[name][cells.atom] = cells.count
        return self._noise_of(self.score, counts)

    def _noise_of(self, score: Vector, counts: Mapping[str, Vector]) -> Noise:
        """The noise where these are the rows of each stratum at each score."""
        zero = np.asarray(0.0)
        strata = [
            StratumNoise(
                count=count,
                pos=(np.asarray(self.of_pos[name]), zero),
                mass=(np.asarray(self.of_mass[name]), zero),
                moves=None if name not in self.moves else (self.moves[name], np.zeros_like(self.moves[name])),
            )
            for name, count in counts.items()
        ]
        return Noise(score=score, strata=strata, normalised=self.normalised)

    # --- What the numbers of rows tell --------------------------------------------------------------------

    def _sum(self, name: MassName) -> Vector:
        shares = self.shares[name]
        return np.asarray(sum(shares[stratum] * n for stratum, n in self.support.n_rows.items()))

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    @property
    def span(self) -> tuple[float, float]:
        return self.support.span

    @property
    def bounded(self) -> bool:  # known of a grid of probabilities without reading a score
        return self.support.bounded

    @property
    def shapeless(self) -> bool:
        return any(np.isnan(share) for share in self.of_pos.values())

    @property
    def unsigned(self) -> bool:
        return min(*self.of_pos.values(), *self.shares["neg_mass"].values()) >= 0

    @property
    def noise_is_known(self) -> bool:
        return True

    @property
    def labeled(self) -> bool:
        return not self.normalised

    def split(self, threshold: float) -> dict[str, tuple[Number, Number]]:
        above = self.support.above(threshold)
        below = {name: n - above[name] for name, n in self.support.n_rows.items()}

        def mass(part: MassName, rows: dict[str, int]) -> float:
            return float(sum(self.shares[part][name] * count for name, count in rows.items()))

        parts: dict[str, MassName] = {"pos": "pos_mass", "neg": "neg_mass", "all": "mass"}
        return {name: (mass(part, above), mass(part, below)) for name, part in parts.items()}

    # --- One pass over the rows ---------------------------------------------------------------------------

    @cached_property
    def _pass_sums(self) -> PassSums:
        return self.support.pass_sums(*self.shares.values(), own=(self.own.pos, self.own.mass))

    def roc_area(self) -> Area:
        return Area(self._pass_sums.roc_area, self.positives, self.negatives)

    def pr_area(self) -> Area:
        return self.of_precision(self._pass_sums.pr_area)

    def squared_loss(self) -> Vector:
        return np.asarray(self._pass_sums.square_loss)

    def log_loss(self) -> Vector:
        return np.asarray(self._pass_sums.log_loss)

    def in_bins(self, n_bins: int, binning: str = "mass") -> BinSums:
        _checks.choice(binning, "binning", BINNINGS)
        by_stratum = self.support.moments(self.of_mass, n_bins, binning)
        moments = tuple(
            moments_of_rows(sums, self.of_pos[name], self.of_mass[name], self.moves.get(name))
            for name, sums in by_stratum.items()
        )
        mass, score = (
            np.sum([self.of_mass[name] * sums[i] for name, sums in by_stratum.items()], axis=0)
            for i in (0, 1)
        )
        return BinSums(
            gap=np.sum([stratum.gap for stratum in moments], axis=0),
            mass=mass,
            score=score,
            total=self.total,
            size=self.size,
            labeled=self.labeled,
            unit=1.0,
            normalised=self.normalised,
            moments_of=lambda: moments,
        )


class SortedRowsMeasure(SortedMeasure):
    """A sorted measure whose rows are arrays of the host: the loops of every functional can walk them."""

    support: SortedRows

    def _strata(self) -> tuple[Vector, ...]:
        return tuple(self.support.sorted.values())

    def _adds(self, shares: Shares) -> Vector:
        """What a row of each sorted stratum adds."""
        return np.asarray([shares[name] for name in self.support.sorted])

    def _counts_between(self, edge: Vector) -> dict[str, Vector]:
        """Rows of each stratum between the edges, each interval with its upper end."""
        out = {}
        for name, rows in self.support.sorted.items():
            cuts = np.searchsorted(rows, edge, side="right")
            out[name] = np.diff(np.concatenate([[0], cuts, [len(rows)]])).astype(np.float64)
        return out

    def quantiles(self, n_bins: int) -> Vector:
        from halftruth.kernels import _one_pass

        inside = [self.of_mass[name] != 0 for name in self.support.sorted]
        n = sum(len(rows) for rows, used in zip(self._strata(), inside, strict=True) if used)
        ranks = n * np.arange(1, n_bins) // n_bins
        return np.unique(_one_pass.order_statistics(self._strata(), inside, ranks[ranks > 0]))

    def masses_between(self, edge: Vector) -> tuple[Vector, Vector]:
        counts = self._counts_between(edge)
        mass, pos = (
            np.asarray(sum(shares[name] * count for name, count in counts.items()))
            for shares in (self.of_mass, self.of_pos)
        )
        return mass, pos

    def population_from(self, edge: Vector) -> tuple[Vector, Vector]:
        mass, total = np.zeros(len(edge)), np.zeros(len(edge))
        for name, rows in self.support.sorted.items():
            cut = np.append(np.searchsorted(rows, edge), len(rows))
            full = np.flatnonzero(np.diff(cut))
            mass[full] += self.of_mass[name] * np.diff(cut)[full]
            total[full] += self.of_mass[name] * np.add.reduceat(rows, cut[full])
        return mass, total

    def _joined_noise(self, score: Vector, edge: Vector) -> Noise:
        return self._noise_of(score, self._counts_between(edge))

    def variance_above(self, threshold: float) -> float:
        counts = {
            name: np.asarray([np.sum(rows < threshold), np.sum(rows >= threshold)], dtype=np.float64)
            for name, rows in self.support.rows.items()
        }
        return float(self._noise_of(np.ones(2), counts).covariance(np.arange(2), 2)[1, 1])

    def rank_sums(self) -> RankSums:
        from halftruth.kernels._one_pass import counts_at_ranks

        mass, pos = self._adds(self.of_mass), self._adds(self.of_pos)
        lengths = np.asarray([len(rows) for rows in self._strata()])

        def reach(ranks: Vector) -> tuple[Vector, Vector]:
            by_stratum = counts_at_ranks(self._strata(), list(mass != 0), ranks.astype(np.int64))
            counts = np.asarray(by_stratum, dtype=np.float64)
            return mass @ counts, pos @ counts

        whole = bool((pos == np.floor(pos)).all())
        return RankSums(float(mass @ lengths), float(pos @ lengths), whole, reach)

    def gap_extremes(self) -> tuple[Vector, Vector]:
        from halftruth.kernels._one_pass import cumulative_extremes

        mass, pos = self._adds(self.of_mass), self._adds(self.of_pos)
        low, high = cumulative_extremes(self._strata(), mass, pos)
        return np.asarray(low), np.asarray(high)

    def gap_nodes(self, finest: int) -> Callable[[Index, int], Vector]:
        from halftruth.kernels._condensing import residual_nodes

        # One pass over the rows for the finest grid; coarser ones are made of its nodes.
        by_stratum = [
            residual_nodes(rows, self.of_pos[name], self.of_mass[name], finest)
            for name, rows in self.support.rows.items()
        ]
        nodes = ratio(np.sum(by_stratum, axis=0), self.total)
        return lambda which, n_cells: coarser_nodes(nodes, n_cells)[None]

    def logit_nodes(self, step: float) -> LogitNodes:
        from halftruth.kernels._condensing import logit_nodes

        by_stratum = {name: logit_nodes(rows, step) for name, rows in self.support.rows.items() if len(rows)}
        inner = [(start, start + len(count)) for start, count, _, _ in by_stratum.values() if len(count)]
        # Each stratum has its own stretch of nodes; together they reach from the first to the last.
        first = min((start for start, _ in inner), default=0)
        stop = max((stop for _, stop in inner), default=0)
        mass, pos, gap = np.zeros((1, stop - first)), np.zeros((1, stop - first)), np.zeros(2)
        for name, (start, count, at_zero, at_one) in by_stratum.items():
            a, b = self.of_mass[name], self.of_pos[name]
            if len(count):
                where = slice(start - first, start - first + len(count))
                mass[0, where] += a * count
                pos[0, where] += b * count
            gap += [b * at_zero, (b - a) * at_one]
        used = np.flatnonzero((mass[0] != 0) | (pos[0] != 0))
        return LogitNodes(np.asarray(np.abs(gap).sum()), first + used, mass[:, used], pos[:, used])

    def log_atoms(self, nearest: float) -> LogAtoms:
        from halftruth.kernels import _condensing

        condensed = {name: _condensing.condense(rows, nearest) for name, rows in self.support.rows.items()}
        near, above = (np.concatenate([rows[i] for rows in condensed.values()]) for i in (0, 1))
        # From t = 1 − s, which is exact, and not from s: near 1 its logit would lose its digits.
        small, large = np.log(near), np.log1p(-near)
        mass, pos = (
            np.concatenate([shares[name] * n for name, (*_, n) in condensed.items()])
            for shares in (self.of_mass, self.of_pos)
        )
        return LogAtoms(
            log_s=np.where(above, large, small),
            log_odds=-np.where(above, small, large),
            score=np.where(above, 1 - near, near),
            mass=mass,
            pos=pos,
        )

    def population(self) -> tuple[Vector, Vector]:
        rows = {name: score for name, score in self.support.rows.items() if self.of_mass[name] != 0}
        mass = np.concatenate([np.full(len(score), self.of_mass[name]) for name, score in rows.items()])
        return np.concatenate(list(rows.values())), mass

    def isotonic_blocks(self) -> IsotonicBlocks:
        from halftruth.kernels import _monotone

        mass, pos = self._adds(self.of_mass), self._adds(self.of_pos)
        return IsotonicBlocks(*_monotone.isotonic_rows(self._strata(), mass, pos))

    @property
    def is_possible(self) -> bool:
        # Only where rows lie that are not possible by themselves; mostly the first few show it.
        doubtful = [name for name, pos in self.of_pos.items() if not 0 <= pos <= self.of_mass[name]]
        return all(within(*self._masses_at(name, n)) for n in (FIRST_ROWS, None) for name in doubtful)

    def _masses_at(self, name: str, n: int | None) -> tuple[Vector, Vector]:
        """μ₁ and μ of all rows at the scores of the first ``n`` of one stratum's."""
        sorted_rows = self.support.sorted
        at = sorted_rows[name][:n]
        counts = {
            other: np.searchsorted(rows, at, "right") - np.searchsorted(rows, at, "left")
            for other, rows in sorted_rows.items()
        }
        pos, mass = (
            np.asarray(sum(of[k] * n for k, n in counts.items())) for of in (self.of_pos, self.of_mass)
        )
        return pos, mass
