"""Resampling on joined rows spreads like resampling every row."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import halftruth as ht
from halftruth.evaluation import _estimation

ROWS = {
    "roc_auc": "roc_auc",
    "average_precision": "average_precision",
    "partial_auc": partial(ht.partial_auc, max_fpr=0.01),
    "precision at 1000": partial(ht.precision_at_k, k=1000),
    "precision at 5%": partial(ht.precision_at_k, k=0.05),
    "recall at FPR": partial(ht.recall_at_fpr, max_fpr=0.05),
    "recall at 20%": partial(ht.recall_at_k, k=0.2),
    "brier": "brier",
    "log_loss": "log_loss",
    "f1": "f1",
}
MODEL = ht.simulate.GaussianClasses(prior=0.3)


def weighted(n, rng):
    data = MODEL.draw_strata(n // 11, n - n // 11, rng)
    p, u = data.positive.score, data.unlabeled.score
    return ht.PositiveUnlabeled(
        p,
        u,
        prior=0.3,
        positive_weight=rng.exponential(size=len(p)),
        unlabeled_weight=rng.exponential(size=len(u)),
    )


def soft(n, rng):
    data = MODEL.draw(n, rng)
    return ht.SoftLabeled(data.posterior, data.score, sample_weight=rng.exponential(size=n))


KINDS = {
    "two samples": lambda n, rng: MODEL.positive_unlabeled(n // 11, n - n // 11, rng),
    "one noisy table": lambda n, rng: MODEL.positive_unlabeled(
        n // 11, n - n // 11, rng, purity=0.85, population="all"
    ),
    "labeled": MODEL.labeled,
    "weighted": weighted,
    "soft": soft,
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_replicates_have_the_spread_and_the_centre_of_the_full_bootstrap(kind, draws, monkeypatch):
    n_resamples = draws(4000)
    evidence = KINDS[kind](11_000, np.random.default_rng(3))

    def replicates(n_atoms):
        monkeypatch.setattr(_estimation, "MAX_ATOMS", n_atoms)
        result = ht.evaluate(evidence, ROWS, threshold=0.5, n_resamples=n_resamples, rng=n_atoms)
        return {name: result[name].replicates for name in ROWS}

    joined, full = replicates(_estimation.MAX_ATOMS), replicates(10**9)
    assert len(evidence.table.support.coarse(512).score) < 700 < len(evidence.table.support.score)
    for name in ROWS:
        spread = np.std(joined[name]) / np.std(full[name])
        shift = (np.mean(joined[name]) - np.mean(full[name])) / np.std(full[name])
        # The ratio of two standard deviations has an error of n^(-1/2), the difference of means (2/n)^(1/2);
        # 3% for metrics that jump from row to row.
        assert abs(spread - 1) < 4 * n_resamples**-0.5 + 0.03, f"{name}: spread {spread:.3f}"
        assert abs(shift) < 4 * (2 / n_resamples) ** 0.5 + 0.06, f"{name}: shift {shift:.3f}"
