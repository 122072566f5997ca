"""Positive confidence: μ is Σ δ_s/r, normalised, and μ₁ is π P/n_P, written out in fractions."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

import halftruth as ht

from .agreement import assert_same
from .references import REFERENCES
from .rows import Row, Rows
from .test_positive_unlabeled_by_definition import assert_metric_is_that_of


@dataclass(frozen=True, eq=False)
class Confident:
    name: str
    r: np.ndarray
    score: np.ndarray
    weight: np.ndarray | None
    prior: float | None

    @property
    def evidence(self) -> ht.PositiveConfidence:
        return ht.PositiveConfidence(self.r, self.score, prior=self.prior, sample_weight=self.weight)

    @property
    def identified(self) -> Fraction:
        """π = 1 / E₊[1/r]."""
        weight = self.weights()
        return sum(weight) / sum(w / Fraction(r) for w, r in zip(weight, self.r.tolist(), strict=True))

    def weights(self) -> list[Fraction]:
        return [Fraction(w) for w in (np.ones(len(self.r)) if self.weight is None else self.weight).tolist()]

    def rows(self) -> Rows:
        prior = self.identified if self.prior is None else Fraction(self.prior)
        weight = self.weights()
        mass = [w / Fraction(r) for w, r in zip(weight, self.r.tolist(), strict=True)]
        scores = [Fraction(s) for s in self.score.tolist()]
        return [
            Row(s, m, prior * sum(mass) * w / sum(weight))
            for s, m, w in zip(scores, mass, weight, strict=True)
        ]


def draw(seed: int, weighted: bool, given: bool) -> Confident:
    rng = np.random.default_rng([seed, weighted])
    n = int(rng.integers(5, 9))
    r = rng.uniform(0.15, 1.0, n)
    r[0] = 1.0
    score = np.round(8 * np.clip(r + rng.normal(0, 0.2, n), 0, 1)) / 8
    weight = rng.uniform(0.3, 2.0, n) if weighted else None
    name = f"{'weights' if weighted else 'no weights'}, {'prior given' if given else 'no prior'}, seed {seed}"
    return Confident(name, r, score, weight, 0.4 if given else None)


CASES = [draw(seed, weighted, given) for seed in range(3) for weighted in (0, 1) for given in (0, 1)]
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@each_case
def test_every_metric_of_positive_confidence(case: Confident) -> None:
    rows, thresholds = case.rows(), sorted({*case.score.tolist(), 0.55, 1.5})
    for name in REFERENCES:
        assert_metric_is_that_of(rows, case.evidence, name, thresholds)


@each_case
def test_confidences_identify_the_prior(case: Confident) -> None:
    wanted = case.identified if case.prior is None else case.prior
    assert_same(ht.prevalence(case.evidence), float(wanted))
