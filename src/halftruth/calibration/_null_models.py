"""Gaps of calibrated scores: the data drawn again as they came, but with P(Y=1 | s) = s.

A gap is μ₁ − s μ at a score. Plain rows are drawn from the law that calibrated scores imply; where rows
carry weights or values, their own gaps take random signs or are resampled around what was seen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector
from halftruth.evidence import Evidence, Scenario
from halftruth.measure._score_measure import ScoreMeasure
from halftruth.prior._shares import Sizes
from halftruth.table._resampling import chunks, resample
from halftruth.table._score_table import NEGATIVE, POSITIVE, SOFT, UNLABELED
from halftruth.table._support import Cells, Sums, Support, with_batch_axis

__all__ = ["MAX_ATOMS", "Groups", "Null", "chances", "null_of"]

MAX_ATOMS = 1024  # distinct scores on which gaps are drawn; see `Support.coarse`

Counts = NDArray[np.int64]
Draw = Callable[[int, np.random.Generator], Vector]  # (n, rng) → gaps (n, n_scores)


@dataclass(frozen=True, eq=False)
class Null:
    """How gaps are drawn if the scores are calibrated, in words and as a function."""

    method: str
    draw: Draw
    plain: bool = False
    """Whether rows are drawn from the law that calibrated scores imply."""
    independent: bool = False
    """Whether gaps at different scores are independent, their variances those of `chances`."""
    at_own_prior: bool = False
    """Whether the draws have the prior that the scores claim, whatever the one that is tested."""

    def features(
        self, of: Callable[[Vector], Vector], width: int, n: int, rng: np.random.Generator
    ) -> Vector:
        """What a statistic needs of ``n`` draws of the gaps, joined along the first axis."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.concatenate([of(self.draw(size, rng)) for size in chunks(n, width)])


class Groups:
    """Evidence on a few hundred groups of neighbouring scores: all that a test of calibration looks at.

    ``score`` is the mean score of the population in each group, so that gaps are those of the rows.
    """

    def __init__(self, evidence: Evidence) -> None:
        full = evidence.table.support
        self.evidence = evidence
        self.support = full.coarse(MAX_ATOMS)
        self.joined = self.support is not full
        self.sums = self.support.sums()
        self.score = _mean_scores(evidence.measure(), self.support) if self.joined else full.score
        self.measure = evidence.rule(self.sums, evidence.scenario).apply(self.score, self.sums)
        self.mass = self.measure.mass

    @property
    def claimed(self) -> float:
        """∫ s dμ / μ(all): the share of positives if the scores are calibrated."""
        return float(self.score @ self.mass / self.mass.sum())

    def prior(self, scenario: Scenario) -> float:
        """π under a scenario."""
        return float(self.evidence.rule(self.sums, scenario).apply(self.score, self.sums).prior)

    def gaps(self, scenario: Scenario, sums: Sums | None = None) -> Vector:
        """(μ₁ − s μ)/μ(all) at each score, of the rows as they came or of sums with a leading axis."""
        sums = with_batch_axis(self.sums) if sums is None else sums
        measure = self.evidence.rule(sums, scenario).apply(self.score, sums)
        return np.asarray((measure.pos_mass - self.score * measure.mass) / measure.total[..., None])

    def rows(self, name: str) -> Vector:
        """How many rows of a stratum lie at each score."""
        cells = self.support.strata.get(name)
        out = np.zeros(len(self.score))
        if cells is not None:
            np.add.at(out, cells.atom, cells.count)
        return out

    def effective_rows(self, name: str) -> float:
        """(Σv)²/Σv² of a stratum, v what a row adds to its law."""
        cells = self.support.strata[name]
        column = cells.weight if cells.value is None else cells.value
        if column is None:
            return float(cells.n_rows)
        return float((cells.count @ column) ** 2 / (cells.count @ column**2))

    @cached_property
    def units(self) -> dict[str, float] | None:
        """The one weight of all rows of each stratum; None where weights differ or rows carry values."""
        out: dict[str, float] = {}
        for name, cells in self.support.strata.items():
            weight = np.ones(1) if cells.weight is None else cells.weight
            spread = 0.0 if cells.spread is None else np.abs(cells.spread).max()
            # Joining equal weights leaves rounding.
            if cells.value is not None or max(spread, np.ptp(weight)) > 1e-9 * weight[0]:
                return None
            out[name] = float(weight[0])
        return out


def _mean_scores(measure: ScoreMeasure, support: Support) -> Vector:
    """Of the population in each group; the group's own score where nobody of it is there."""
    assert support.edge is not None  # groups know where they begin
    mass, total = measure.population_from(support.edge)
    mean = np.divide(total, mass, out=support.score.copy(), where=mass > 0)
    # Rounding must not carry the mean of equal scores away from 0 and 1.
    return np.clip(mean, *measure.span)


def null_of(groups: Groups, scenario: Scenario) -> Null:
    """The sharpest null that fits the evidence, under a scenario."""
    models, units = groups.evidence.null_models, groups.units
    if "labels" in models and units is not None:
        return Null("labels drawn at the scores", partial(_labels, groups), plain=True, independent=True)
    # Strata that were drawn together need rows that weigh the same in all of them.
    together = groups.evidence.rows_are_one_sample
    if "strata" in models and units is not None and not (together and len(set(units.values())) > 1):
        law = _Law.of(groups, float(scenario.purity))
        if law is not None:
            draws = partial(_strata, groups, scenario, law)
            return Null("strata drawn from calibrated scores", draws, plain=True, at_own_prior=True)
    if "signs" in models:
        return Null("random signs", partial(_signs, groups))
    return Null("centred bootstrap", partial(_centred, groups, scenario, groups.gaps(scenario)))


def chances(groups: Groups) -> tuple[Vector, Vector, Vector]:
    """Labeled rows at each score, the chance that one is positive, and what its label adds to the gap.

    Where a positive row weighs w₁ and a negative w₀, calibrated scores have odds s/(1−s) in weights, and
    w₀/w₁ times that in rows.
    """
    units = groups.units or {}
    positive, negative = (units.get(name, min(units.values())) for name in (POSITIVE, NEGATIVE))
    weight = groups.score / positive, (1 - groups.score) / negative
    chance = weight[0] / (weight[0] + weight[1])
    adds = ((1 - groups.score) * positive + groups.score * negative) / groups.mass.sum()
    return groups.rows(POSITIVE) + groups.rows(NEGATIVE), chance, adds


def _labels(groups: Groups, n: int, rng: np.random.Generator) -> Vector:
    rows, chance, adds = chances(groups)
    if rows.max() == 1:  # far faster than binomials
        return np.asarray(adds * ((rng.random((n, len(rows))) < chance) - chance))
    drawn = rng.binomial(rows.astype(np.int64), chance, size=(n, len(rows)))
    return np.asarray(adds * (drawn - rows * chance))


@dataclass(frozen=True, eq=False)
class _Law:
    """The laws of the strata over the scores, if those are calibrated, and the prior that this gives."""

    share: Vector
    positive: Vector
    negative: Vector
    prior: float

    @classmethod
    def of(cls, groups: Groups, purity: float) -> _Law | None:
        """The likeliest; None where calibrated scores do not go with the purity."""
        rows = np.sum([groups.rows(name) for name in groups.support.strata], axis=0)
        law = cls._at(groups.score, rows / rows.sum(), purity)
        if groups.evidence.rows_are_one_sample:
            return law
        # Known positives and negatives are samples of the population too, biased by known factors of the
        # score: dividing those out is the maximum of the likelihood, at its fixed point.
        size = {name: cells.n_rows for name, cells in groups.support.strata.items()}
        for _ in range(1000):
            if law is None:
                return None
            expected = size[UNLABELED] + size[POSITIVE] * law._factor(groups.score, purity)
            expected += size.get(NEGATIVE, 0) * (1 - groups.score) / (1 - law.prior)
            share = rows / expected
            before, law = law.prior, cls._at(groups.score, share / share.sum(), purity)
            if law is not None and abs(law.prior - before) <= 1e-12:
                break
        return law

    @classmethod
    def _at(cls, score: Vector, share: Vector, purity: float) -> _Law | None:
        """Bayes' rule: of calibrated scores, positives have the density s/π and negatives (1−s)/(1−π)."""
        prior = float(score @ share)
        if not 0 < prior < 1 or (purity < 1 and prior >= purity):
            return None
        positive, negative = score * share / prior, (1 - score) * share / (1 - prior)
        return cls(share, purity * positive + (1 - purity) * negative, negative, prior)

    def _factor(self, score: Vector, purity: float) -> Vector:
        return np.asarray(purity * score / self.prior + (1 - purity) * (1 - score) / (1 - self.prior))


def _strata(groups: Groups, scenario: Scenario, law: _Law, n: int, rng: np.random.Generator) -> Vector:
    """Gaps of drawn strata at the prior of calibrated scores, with an estimate's own error."""
    evidence = groups.evidence
    prior, purity = scenario.prior, scenario.purity
    if prior is not None:
        of_rest = evidence.rows_are_one_sample and evidence.prior.population == "unlabeled"
        prior = Sizes.of(groups.sums).alpha(law.prior, purity) if of_rest else law.prior
        drawn = _replicates(evidence, scenario, n, rng)
        if drawn.prior is not scenario.prior:
            prior = np.clip(prior + drawn.prior - scenario.prior, 0, 1)
        purity = drawn.purity
    rows = (_one_table if evidence.rows_are_one_sample else _samples)(groups, law, n, rng)
    units = groups.units or {}
    sums = {(name, "weight"): np.asarray(units[name] * rows[name]) for name in units}
    return groups.gaps(Scenario(prior=prior, purity=purity), sums)


def _samples(groups: Groups, law: _Law, n: int, rng: np.random.Generator) -> dict[str, Counts]:
    """Each stratum drawn by itself."""
    laws = {POSITIVE: law.positive, UNLABELED: law.share, NEGATIVE: law.negative}
    return {
        name: rng.multinomial(cells.n_rows, laws[name] / laws[name].sum(), size=n)
        for name, cells in groups.support.strata.items()
    }


def _one_table(groups: Groups, law: _Law, n: int, rng: np.random.Generator) -> dict[str, Counts]:
    """Rows drawn together, each then known as positive or negative with the chance that its score implies."""
    size = {name: cells.n_rows for name, cells in groups.support.strata.items()}
    total = sum(size.values())
    rest = rng.multinomial(total, law.share / law.share.sum(), size=n)
    known, left = {}, np.ones(len(law.share))
    for name, stratum_law in ((POSITIVE, law.positive), (NEGATIVE, law.negative)):
        if name in size:
            chance = size[name] / total * stratum_law / law.share
            # A row cannot be known twice: the chance given that it was not known before.
            now = np.divide(chance, left, out=np.zeros_like(left), where=left > 0)
            known[name] = rng.binomial(rest, np.clip(now, 0, 1))
            rest, left = rest - known[name], np.clip(left - chance, 0, 1)
    return known | {UNLABELED: rest}


def _signs(groups: Groups, n: int, rng: np.random.Generator) -> Vector:
    # A wild bootstrap (Wu 1986; Liu 1988): signs keep the variance of every row's gap, whatever its weight.
    out = np.zeros((n, len(groups.score)))
    for name, cells in groups.support.strata.items():
        gap, spread = _row_gaps(name, cells, groups.score)
        # Joined rows are many: the sum of their signed gaps is normal with the variance of the rows.
        if spread.any():
            drawn = rng.standard_normal((n, len(gap))) * np.sqrt(cells.count * (gap**2 + spread))
        else:
            drawn = (2 * rng.binomial(cells.count, 0.5, size=(n, len(gap))) - cells.count) * gap
        first = np.flatnonzero(np.diff(cells.atom, prepend=-1))
        out[:, cells.atom[first]] += np.add.reduceat(drawn, first, axis=1)
    return np.asarray(out / groups.mass.sum())


def _row_gaps(name: str, cells: Cells, score: Vector) -> tuple[Vector, Vector]:
    """What a row of each cell adds to the gap, and the variance of that inside joined cells."""
    at = score[cells.atom]
    weight, *_ = cells.full
    l11, l21, l22 = np.zeros((3, len(at))) if cells.spread is None else cells.spread
    if name == SOFT:
        assert cells.value is not None  # soft rows carry q
        return cells.value - at * weight, (l21 - at * l11) ** 2 + l22**2
    y = float(name == POSITIVE)
    return (y - at) * weight, ((y - at) * l11) ** 2


def _centred(groups: Groups, scenario: Scenario, center: Vector, n: int, rng: np.random.Generator) -> Vector:
    evidence = groups.evidence
    sums = resample(groups.support, n, rng, one_sample=evidence.rows_are_one_sample)
    return groups.gaps(_replicates(evidence, scenario, n, rng), sums) - center


def _replicates(evidence: Evidence, scenario: Scenario, n: int, rng: np.random.Generator) -> Scenario:
    """The scenario, an estimate's replicates in the place of its value; those made together stay together."""
    prior, purity = evidence.prior.replicates, evidence.purity.replicates
    if prior is None and purity is None:
        return evidence.drawn(scenario, n, rng)
    # A stream of its own, so that an estimate without error gives the draws of a number.
    rng = rng.spawn(1)[0]
    together = prior is not None and purity is not None and len(prior) == len(purity)
    rank = rng.random(n)
    other = rank if together else rng.random(n)
    return Scenario(
        prior=scenario.prior if prior is None else evidence.prior.draw(rank, n, rng),
        purity=scenario.purity if purity is None else evidence.purity.draw(other, n, rng),
    )
