"""Areas under the precision-recall curve from partial labels are hardly biased, however good the scores."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import expon, norm, t

import halftruth as ht

pytestmark = pytest.mark.slow

KNOWN, OTHERS = 1_000, 10_000
BIAS, ERROR = 0.005, 0.0015
"""The bias allowed, and the standard error at which it is seen."""


LAWS = {"normal": norm(), "heavy": t(3), "one-sided": expon()}
"""The estimator was chosen on normals; the others were not looked at then."""


class TwoClasses:
    """Negatives of one law, and positives of the same law shifted up until the AUC is as given."""

    def __init__(self, law: str, auc: float, prior: float) -> None:
        self.law, self.prior = LAWS[law], prior
        quantiles = self.law.ppf((np.arange(20_000) + 0.5) / 20_000)
        self.shift = brentq(lambda d: np.mean(self.law.cdf(quantiles + d)) - auc, 0, 100)
        # From far below the negatives to far above the positives, as dense as the law itself.
        tail = self.law.isf(np.geomspace(1e-9, 0.5, 100_000))
        low = self.law.ppf(np.geomspace(1e-9, 0.5, 100_000))
        self.grid = np.unique(np.concatenate([low, tail, low + self.shift, tail + self.shift]))
        recall = self.law.sf(self.grid - self.shift)
        flagged = prior * recall + (1 - prior) * self.law.sf(self.grid)
        step = -np.diff(recall, append=0.0)
        at = np.divide(prior * recall, flagged, out=np.ones_like(flagged), where=flagged > 0)
        self.truth = float(np.sum(step * at))
        # What a row adds, to first order: ψ of a known positive, less π F₁/F² dF₁ below a row of the population.
        slope = np.divide(prior, flagged, out=np.zeros_like(flagged), where=flagged > 0)
        self.of_known = at + np.cumsum(step * slope)
        self.of_row = -np.cumsum(step * at * slope / prior)

    def scores(self, positive: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return self.law.rvs(len(positive), random_state=rng) + self.shift * positive

    def first_order(self, known: np.ndarray, population: np.ndarray) -> float:
        """Noise of expectation zero that makes up most of that of the area."""
        rows = ((known, self.of_known), (population, self.of_row))
        return float(sum(np.interp(score, self.grid, adds).mean() for score, adds in rows)) - self.truth


def two_samples(law: TwoClasses, rng: np.random.Generator) -> tuple[ht.PositiveUnlabeled, float]:
    known = law.scores(np.ones(KNOWN), rng)
    rows = law.scores(rng.random(OTHERS) < law.prior, rng)
    return ht.PositiveUnlabeled(known, rows, prior=law.prior), law.first_order(known, rows)


def one_table(law: TwoClasses, rng: np.random.Generator) -> tuple[ht.PositiveUnlabeled, float]:
    n = KNOWN + OTHERS
    positive = rng.random(n) < law.prior
    share = min(KNOWN / (n * law.prior), 0.8)  # of the positives that are known: never more than there are
    known, score = positive & (rng.random(n) < share), law.scores(positive, rng)
    evidence = ht.PositiveUnlabeled(score[known], score[~known], prior=law.prior, population="all")
    return evidence, law.first_order(score[known], score)


@pytest.mark.parametrize("prior", [0.1, 0.3])
@pytest.mark.parametrize("auc", [0.9, 0.99, 0.999])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("design", [two_samples, one_table])
def test_bias(design, law: str, auc: float, prior: float, draws) -> None:
    classes = TwoClasses(law, auc, prior)
    off = []
    for seed in range(draws(200)):
        evidence, noise = design(classes, np.random.default_rng([seed, round(1000 * auc), round(10 * prior)]))
        off.append([area(evidence) - classes.truth - noise for area in (ht.average_precision, ht.pr_auc)])
    bias, error = np.mean(off, axis=0), np.std(off, axis=0) / np.sqrt(len(off))
    assert (error <= ERROR * np.sqrt(200 / len(off))).all()
    assert (np.abs(bias) <= BIAS).all(), (bias, error)


@pytest.mark.parametrize("prior", [0.1, 0.3])
@pytest.mark.parametrize("auc", [0.9, 0.99, 0.999])
def test_coverage(auc: float, prior: float, draws) -> None:
    classes, n = TwoClasses("normal", auc, prior), draws(400)
    hits = 0
    for seed in range(n):
        evidence, _ = two_samples(classes, np.random.default_rng([seed, 7]))
        row = ht.evaluate(evidence, "average_precision", n_resamples=300, rng=seed)["average_precision"]
        hits += row.low <= classes.truth <= row.high
    assert abs(hits / n - 0.95) <= 0.02 + 2 * np.sqrt(0.95 * 0.05 / n)
