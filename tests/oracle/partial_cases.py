"""Tiny positives, unlabeled and negatives, with ties between them, and what DESIGN §1 makes of them.

The measures are written out here, in fractions, from the definitions alone:
μ₁ = π f₁, f₁ = [(1−α) P/n_P − (1−ρ) U/n_U] / (ρ−α), P/n_P weighted by 1/e where propensities are given,
and π n = ρ n_P + α n_U where known and unlabeled rows together are the population.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

import halftruth as ht

from .rows import Row, Rows

KINDS = ("clean", "purity", "propensity")
POPULATIONS = ("unlabeled", "all")


@dataclass(frozen=True)
class Stratum:
    """Rows of one stratum: scores, weights, and 1/e for positives of known propensity e."""

    score: list[float]
    weight: list[float] | None = None
    propensity: list[float] | None = None

    def each(self) -> list[tuple[Fraction, Fraction]]:
        weight = [1.0] * len(self.score) if self.weight is None else self.weight
        return [(Fraction(s), Fraction(w)) for s, w in zip(self.score, weight, strict=True)]

    def size(self) -> Fraction:
        return sum(w for _, w in self.each())

    def unit(self) -> Fraction:
        """What one row weighs: whole weights are numbers of rows, of others the typical one is taken."""
        if self.weight is None or all(w == int(w) for w in self.weight):
            return Fraction(1)
        return sum(w * w for _, w in self.each()) / self.size()

    def shares(self) -> list[tuple[Fraction, Fraction]]:
        """(score, share of the stratum's own distribution) of each row."""
        e = [1.0] * len(self.score) if self.propensity is None else self.propensity
        added = [(s, w / Fraction(p)) for (s, w), p in zip(self.each(), e, strict=True)]
        total = sum(a for _, a in added)
        return [(s, a / total) for s, a in added]


@dataclass(frozen=True, eq=False)
class PartialCase:
    name: str
    population: str
    prior: float
    purity: float
    positive: Stratum
    unlabeled: Stratum
    negative: Stratum = field(default_factory=lambda: Stratum([]))

    def evidence(self, **changed: Any) -> ht.PositiveUnlabeled:
        return ht.PositiveUnlabeled(
            self.positive.score,
            self.unlabeled.score,
            **{
                "prior": self.prior,
                "purity": self.purity,
                "population": self.population,
                "propensity": self.positive.propensity,
                "positive_weight": self.positive.weight,
                "unlabeled_weight": self.unlabeled.weight,
                "negative": self.negative.score or None,
                "negative_weight": self.negative.weight,
            }
            | changed,
        )

    def members(self) -> list[Stratum]:
        """The strata that make up the population."""
        return (
            [self.unlabeled]
            if self.population == "unlabeled"
            else [self.positive, self.unlabeled, self.negative]
        )

    def n(self) -> Fraction:
        return sum(stratum.size() for stratum in self.members())

    def alpha(self, prior: float | Fraction) -> Fraction:
        if self.population == "unlabeled":
            return Fraction(prior)
        known = Fraction(self.purity) * self.positive.size()
        return (Fraction(prior) * self.n() - known) / self.unlabeled.size()

    def population_rows(self) -> Rows:
        return [Row(s, w, Fraction()) for stratum in self.members() for s, w in stratum.each()]

    @cached_property
    def given_rows(self) -> Rows:
        """The measure at the prior given."""
        return self.rows(self.prior)

    def rows(self, prior: float | Fraction) -> Rows:
        """The measure from positives and unlabeled."""
        pi = Fraction(prior)
        alpha, rho = self.alpha(pi), Fraction(self.purity)
        scale = self.n() * pi / (rho - alpha)
        known = [Row(s, Fraction(), scale * (1 - alpha) * p) for s, p in self.positive.shares()]
        minus = [Row(s, Fraction(), -scale * (1 - rho) * u) for s, u in self.unlabeled.shares()]
        return self.population_rows() + known + minus

    def rows_from_negatives(self, prior: float | Fraction) -> Rows:
        """The second measure, μ − (1−π) N/n_N."""
        pi = Fraction(prior)
        whole = [row._replace(pos=row.mass) for row in self.population_rows()]
        return whole + [Row(s, Fraction(), -(1 - pi) * self.n() * q) for s, q in self.negative.shares()]

    def own(self, mix: Fraction = Fraction()) -> tuple[Fraction, Fraction]:
        """What one known positive adds to the precision at its score, of μ₁, and what it would add to μ."""
        pi, rho, alpha = Fraction(self.prior), Fraction(self.purity), self.alpha(self.prior)
        shares = zip(self.positive.each(), self.positive.shares(), strict=True)
        row = self.positive.unit() * sum(share**2 / weight for (_, weight), (_, share) in shares)
        pos = (1 - mix) * self.n() * pi * (1 - alpha) / (rho - alpha) * row
        if self.population == "unlabeled":
            return pos, self.unlabeled.unit()
        # It is a row of the population, and one of its positives.
        return pos - (1 - mix) * self.positive.unit(), Fraction()

    @property
    def thresholds(self) -> list[float]:
        every = {*self.positive.score, *self.unlabeled.score, *self.negative.score}
        return sorted({*every, 0.55, max(every) + 0.1})


def draw_stratum(rng: np.random.Generator, shift: float, weighted: bool, propensity: bool = False) -> Stratum:
    """5 to 8 rows on a grid of eighths, so that strata tie, and one off it. Short fractions are fast."""
    n = int(rng.integers(5, 9))
    score = np.clip(np.round(8 * (rng.random(n) * 0.8 + shift)) / 8, 0, 1)
    score[0] = rng.integers(100) / 128
    return Stratum(
        score.tolist(),
        (rng.integers(5, 33, n) / 16).tolist() if weighted else None,
        (rng.integers(3, 17, n) / 16).tolist() if propensity else None,
    )


def draw_partial(kind: str, population: str, weighted: bool, negatives: bool, seed: int) -> PartialCase:
    rng = np.random.default_rng([seed, KINDS.index(kind), POPULATIONS.index(population), weighted, negatives])
    positive = draw_stratum(rng, 0.3, weighted, kind == "propensity")
    unlabeled = draw_stratum(rng, 0.05, weighted)
    negative = draw_stratum(rng, 0.0, weighted) if negatives else Stratum([])
    purity, alpha = (0.85 if kind == "purity" else 1.0), int(rng.integers(3, 16)) / 32
    prior = alpha
    if population == "all":
        n_p, n_u = float(positive.size()), float(unlabeled.size())
        prior = (purity * n_p + alpha * n_u) / (n_p + n_u + float(sum(w for _, w in negative.each())))
    name = f"{kind}, {population}, {'weights' if weighted else 'no weights'}, seed {seed}"
    return PartialCase(name, population, prior, purity, positive, unlabeled, negative)


def draw_many(negatives: bool, seeds: range) -> list[PartialCase]:
    return [
        draw_partial(kind, population, weighted, negatives, seed)
        for kind, population, weighted, seed in product(KINDS, POPULATIONS, (False, True), seeds)
    ]
