"""Pointwise bands around a reliability curve, by drawing the evidence again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from halftruth._checks import Vector
from halftruth.evidence import Evidence, Scenario
from halftruth.measure._arithmetic import by_bin
from halftruth.measure._score_measure import ScoreMeasure, ratio
from halftruth.table._resampling import UnseenRows, chunks, resampled_sums, reweigh
from halftruth.table._score_table import NEGATIVE, POSITIVE, UNLABELED
from halftruth.table._support import Cells, Column, Index, Sums, Support, with_batch_axis

__all__ = ["Curve", "Drawing"]

N_ATOMS = 512
N_GRID = 5  # points over a range of the prior or of the purity

Curve = Callable[[ScoreMeasure], Vector]
"""From a measure to the curve's heights at fixed scores, along the last axis."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Drawing:
    """Evidence to draw again ``n`` times, for bands (2, n_points) at a confidence level."""

    evidence: Evidence
    level: float
    n: int
    rng: np.random.Generator

    def around(self, curve: Curve) -> Vector:
        """Percentiles of the curve over resamples; over a range of priors the union."""
        evidence, support = self.evidence, self.evidence.table.support.coarse(N_ATOMS)
        scenarios = self._scenarios()

        def curves(sums: Sums, scenario: Scenario) -> Vector:
            return curve(evidence.rule(sums, scenario).apply(support.score, sums))

        # Resamples are drawn on joined rows; curves are moved by what the joining changed.
        near = [curves(with_batch_axis(support.sums()), scenario)[0] for scenario in scenarios]
        shift = [curve(evidence.measure_at(s)) - height for s, height in zip(scenarios, near, strict=True)]
        drawn: list[list[Vector]] = [[] for _ in scenarios]
        of_shares = self.rng.spawn(1)[0]
        for sums in resampled_sums(support, self.n, self.rng, one_sample=evidence.rows_are_one_sample):
            size = next(iter(sums.values())).shape[0]
            for i, scenario in enumerate(self._drawn(scenarios, size, of_shares)):
                drawn[i].append(curves(sums, scenario) + shift[i])
        return self._union([np.concatenate(chunks) for chunks in drawn])

    def within(self, start: Vector) -> Vector:
        """Limits of μ₁/μ in each of the bins that begin at ``start``.

        The rows of a stratum inside and outside of a bin are drawn from gamma laws with half a row more than
        were seen, which gives Jeffreys' interval where all rows are labeled. A bin without positives so has
        an upper limit above 0, which resamples of its rows would not give.
        """
        evidence, support = self.evidence, self.evidence.table.support.coarse(N_ATOMS, start)
        index = np.maximum(np.searchsorted(start, support.score, side="right") - 1, 0)
        if evidence.multiplied:
            return self._of_reviews(support.with_strata(evidence.multiplied), index)
        sums: dict[Column, Vector] = {}
        for name, cells in support.strata.items():
            drawn_sums = _in_and_out(cells, index, len(start), self.n, self.rng)
            sums |= {(name, column): x for column, x in drawn_sums.items()}
        drawn = []
        for scenario in self._drawn(self._identified(support), self.n, self.rng):
            measure = evidence.rule(sums, scenario).apply(np.asarray([0.0, 1.0]), sums)
            drawn.append(ratio(measure.pos_mass[..., 0], measure.mass[..., 0]).T)
        return self._union(drawn)

    def _of_reviews(self, support: Support, index: Index) -> Vector:
        """The same where what a row adds hangs on its score: half of a usual row more in each bin."""
        evidence, scenarios = self.evidence, self._scenarios()
        extra = _InEachBin(support, evidence.multiplied, index)
        n_bins, drawn = int(index[-1]) + 1, list[list[Vector]]([[] for _ in scenarios])
        for size in chunks(self.n, len(support.score)):
            sums = reweigh(support, size, self.rng, extra, one_sample=evidence.rows_are_one_sample)
            for i, scenario in enumerate(self._drawn(scenarios, size, self.rng)):
                measure = evidence.rule(sums, scenario).apply(support.score, sums)
                both = (by_bin(x, index, n_bins) for x in (measure.pos_mass, measure.mass))
                drawn[i].append(ratio(*both))
        return self._union([np.concatenate(each) for each in drawn])

    def _scenarios(self) -> list[Scenario]:
        if (own := self.evidence.scenarios(())) is not None:
            return list(own[0])
        grids = self.evidence.prior.grid(N_GRID), self.evidence.purity.grid(N_GRID)
        return [Scenario(prior=p, purity=r) for p, r in product(*grids)]

    def _identified(self, support: Support) -> list[Scenario]:
        """The prior that known negatives identify is one of the whole axis, and drawn there."""
        evidence, scenarios = self.evidence, self._scenarios()
        if evidence.scenario.prior is not None or not {POSITIVE, UNLABELED, NEGATIVE} <= {*support.strata}:
            return scenarios
        chunks = list(resampled_sums(support, self.n, self.rng, one_sample=evidence.rows_are_one_sample))
        out = []
        for purity in (scenario.purity for scenario in scenarios):
            prior = np.concatenate([evidence.identified_prior(sums, purity) for sums in chunks])
            out.append(Scenario(prior=prior, purity=purity))
        return out

    def _drawn(self, scenarios: list[Scenario], n: int, rng: np.random.Generator) -> list[Scenario]:
        """An estimate's replicates take the place of its value; those of prior and purity belong together."""
        ranks = rng.random(n)
        prior, purity = self.evidence.prior, self.evidence.purity
        return [
            replace(
                self.evidence.drawn(scenario, n, rng),
                prior=scenario.prior if prior.replicates is None else prior.draw(ranks, n, rng),
                purity=scenario.purity if purity.replicates is None else purity.draw(ranks, n, rng),
            )
            for scenario in scenarios
        ]

    def _union(self, drawn: list[Vector]) -> Vector:
        """The lowest and the highest percentile over the scenarios."""
        tail = (1 - self.level) / 2
        ends = np.stack([np.nanquantile(curves, [tail, 1 - tail], axis=0) for curves in drawn])
        low, high = ends[:, 0].min(axis=0), ends[:, 1].max(axis=0)
        least, most = self._times()
        # What selection adds goes no farther than all; what noise does, it may.
        return np.stack([least * low, np.minimum(most * high, np.maximum(high, 1.0))])

    def _times(self) -> tuple[float, float]:
        """By how much selection may lower or raise the frequency at any one score."""
        evidence, gamma = self.evidence, self.evidence.selection.gamma
        if gamma == 1:
            return 1.0, 1.0
        sums, (extreme, _) = evidence.table.support.sums(), evidence.selection.extremes
        tilts = [evidence.rule(sums, replace(s, extreme=extreme)).tilt for s in self._scenarios()]
        least = min(float(tilt.low) for tilt in tilts if tilt is not None)
        most = max(float(tilt.high) for tilt in tilts if tilt is not None)
        # A prior that was estimated, or identified, rests on the known positives too.
        own = gamma if evidence.prior.value is None or evidence.prior.replicates is not None else 1.0
        return least / own, most * own


class _InEachBin(UnseenRows):
    """Half a row of each stratum in every bin, at its middle score."""

    def __init__(self, support: Support, multiplied: tuple[str, ...], index: Index) -> None:
        super().__init__(support, "ends", multiplied)
        first, count = np.unique(index, return_index=True, return_counts=True)[1:]
        self.middle = first + count // 2

    def _where(self, n: int, rng: np.random.Generator) -> list[Index]:
        return [np.full(n, atom) for atom in self.middle]


def _in_and_out(
    cells: Cells, index: Index, n_bins: int, n: int, rng: np.random.Generator
) -> dict[str, Vector]:
    """Draws of what the rows inside and outside of each bin add, (n_bins, n, 2), by column."""
    joined = cells.joined(index)
    count = np.zeros(n_bins)
    count[joined.atom] = joined.count
    # Half a row more is Jeffreys' prior: gamma draws, normed, are the Beta(k + ½, n − k + ½) of a share.
    inside, outside = (rng.gamma(x[:, None] + 0.5, size=(n_bins, n)) for x in (count, count.sum() - count))
    noise = rng.standard_normal((2, n_bins, n)) * np.sqrt(inside)
    # Rows of one bin differ in weight and value; l11, l21, l22 are a Cholesky factor of their covariance.
    spread = np.zeros((3, n_bins))
    if joined.spread is not None:
        spread[:, joined.atom] = joined.spread
    l11, l21, l22 = spread[..., None]
    moved = {"weight": l11 * noise[0], "value": l21 * noise[0] + l22 * noise[1]}
    columns = {"weight": joined.weight, "value": joined.value}
    if joined.weight is None:
        columns["weight"] = np.ones(len(joined.atom))
    out = {}
    rest = count.sum() - count
    for column, of_rows in columns.items():
        if of_rows is None:
            continue
        # A bin without rows, or one that holds them all, has the mean of all rows inside, or outside.
        mean = float((of_rows * joined.count).sum() / count.sum())
        within, beyond = np.full(n_bins, mean), np.full(n_bins, mean)
        within[joined.atom] = of_rows
        np.divide(mean * count.sum() - within * count, rest, out=beyond, where=rest > 0)
        out[column] = np.stack([inside * within[:, None] + moved[column], outside * beyond[:, None]], axis=-1)
    return out
