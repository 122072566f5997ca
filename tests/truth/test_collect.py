"""What to collect next: the widths predicted are those found once the rows are there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import halftruth as ht
from halftruth.report.outlook import Outlook
from halftruth.uncertainty.requests import read_requests

pytestmark = pytest.mark.slow
MODEL = ht.simulate.GaussianClasses(prior=0.3)
THRESHOLD = 0.5
METRICS = ("roc_auc", "precision", "brier")
N, SEA, MORE = 200, 2000, 200
Z = NormalDist().inv_cdf(0.975)

Kind = Callable[..., Any]


def pu(n_positive: int, n_unlabeled: int, rng: Any, **given: Any) -> ht.PositiveUnlabeled:
    return MODEL.positive_unlabeled(n_positive, n_unlabeled, rng, **given)


def one_table(n_positive: int, n_unlabeled: int, rng: Any, **given: Any) -> ht.PositiveUnlabeled:
    return pu(n_positive, n_unlabeled, rng, population="all", **given)


def with_negatives(n_positive: int, n_unlabeled: int, rng: Any, n_negative: int = N) -> ht.PositiveUnlabeled:
    return pu(n_positive, n_unlabeled, rng, n_negative=n_negative, prior=None)


ESTIMATE = ht.PriorEstimate(value=0.3, replicates=np.random.default_rng(5).normal(0.3, 0.02, 500))
STEPS: dict[str, tuple[Kind, str, int, Mapping[str, int], Mapping[str, Any]]] = {
    # The kind, what is collected and how much, the sizes then, and what is known.
    "positives": (pu, "positives", MORE, {"n_positive": N + MORE}, {}),
    "unlabeled": (pu, "unlabeled", SEA, {"n_unlabeled": 2 * SEA}, {}),
    "noisy positives": (pu, "positives", MORE, {"n_positive": N + MORE}, {"purity": 0.85}),
    "positives, prior estimated": (pu, "positives", MORE, {"n_positive": N + MORE}, {"prior": ESTIMATE}),
    "positives, prior unknown": (pu, "positives", MORE, {"n_positive": N + MORE}, {"prior": None}),
    "negatives": (with_negatives, "negatives", MORE, {"n_negative": N + MORE}, {}),
    "positives of three": (with_negatives, "positives", MORE, {"n_positive": N + MORE}, {}),
    "found in one table": (
        *(one_table, "positives", MORE),
        *({"n_positive": N + MORE, "n_unlabeled": SEA - MORE}, {}),
    ),
    "found in one noisy table": (
        *(one_table, "positives", MORE),
        *({"n_positive": N + MORE, "n_unlabeled": SEA - MORE}, {"purity": 0.85}),
    ),
    "more of one table": (one_table, "unlabeled", SEA, {"n_unlabeled": 2 * SEA}, {}),
    "more of one noisy table": (one_table, "unlabeled", SEA, {"n_unlabeled": 2 * SEA}, {"purity": 0.85}),
}


def predicted(evidence: Any, what: str, rows: int) -> list[float]:
    requests = read_requests(METRICS, [evidence.measure()], THRESHOLD)
    outlook = Outlook.of(evidence, requests, 0.95, one_sample=evidence.rows_are_one_sample)
    return list(outlook.widths_with_more(rows)[what].values())


def found(evidence: Any) -> list[float]:
    result = ht.evaluate(evidence, METRICS, threshold=THRESHOLD, n_resamples=0)
    return [row.high - row.low for row in result.values()]


def assert_alike(then: Any, now: Any, n_draws: int, excess: float = 0.0) -> None:
    """Means of two sets of independent draws are within four standard errors.

    And ``excess``, a part of the width: scores are joined to 128, and errors at the small tables' own estimates
    are on average not quite those at the large tables'.
    """
    a, b = np.asarray(then), np.asarray(now)
    error = np.sqrt((a.var(axis=0) + b.var(axis=0)) / n_draws)
    for name, x, y, e in zip(METRICS, a.mean(axis=0), b.mean(axis=0), error, strict=True):
        assert abs(x - y) < 4 * e + excess * y, f"{name}: predicted {x:.5f}, found {y:.5f} ± {e:.5f}"


@pytest.mark.parametrize("kind", STEPS)
def test_more_rows_give_the_width_predicted(kind: str, draws: Callable[[int], int]) -> None:
    make, what, rows, sizes, given = STEPS[kind]
    n_draws = max(draws(100 if "unknown" in kind else 300), 20)  # nine priors take nine times as long
    small = {"n_positive": N, "n_unlabeled": SEA}
    then = [predicted(make(**small, rng=seed, **given), what, rows) for seed in range(n_draws)]
    now = [found(make(**{**small, **sizes}, rng=10_000 + seed, **given)) for seed in range(n_draws)]
    # The bound on an unknown prior is the least of several: noise in it does not end with the band.
    assert_alike(then, now, n_draws, excess=0.03 if "unknown" in kind else 0.005)


def test_more_labeled_rows_give_the_width_predicted(draws: Callable[[int], int]) -> None:
    n_draws = max(draws(300), 20)
    then = [predicted(MODEL.labeled(500, seed), "labels", 500) for seed in range(n_draws)]
    now = [found(MODEL.labeled(1000, 10_000 + seed)) for seed in range(n_draws)]
    assert_alike(then, now, n_draws, excess=0.005)


@pytest.mark.parametrize("given", ["a number", "an estimate", "identified"])
def test_labels_give_the_variance_of_both_estimates_together(given: str, draws: Callable[[int], int]) -> None:
    """Labels of random cases give a second estimate of the metric and of the prior."""
    n_draws, k = max(draws(2000), 200), 500
    rng = np.random.default_rng(1)
    functions = [ht.roc_auc, lambda e: ht.confusion(e, THRESHOLD).precision, ht.brier]
    pairs = np.empty((2, len(METRICS), 2, n_draws))
    shown = []
    for i in range(n_draws):
        # The estimate's error is its own, beside that of the rows.
        value = rng.normal(0.3, 0.02)
        prior = {"a number": 0.3, "an estimate": value, "identified": None}[given]
        evidence = pu(N, SEA, rng, prior=prior, n_negative=N if given == "identified" else 0)
        for side, each in enumerate((evidence, MODEL.labeled(k, rng))):
            pairs[side, :, 0, i] = [f(each) for f in functions]
            pairs[side, :, 1, i] = each.measure().prior
        if i < n_draws / 10:
            believed = evidence if given != "an estimate" else pu(N, SEA, rng, prior=ESTIMATE)
            shown.append(predicted(believed, "labels", k))
    widths = np.mean(shown, axis=0)
    for j, name in enumerate(METRICS):
        first, second = pairs[0, j], pairs[1, j]
        own, other = np.cov(first), np.cov(second)
        both = first + own @ np.linalg.pinv(own + other, 1e-9, hermitian=True) @ (second - first)
        ratio = (widths[j] / (2 * Z)) ** 2 / np.var(both[0])
        assert ratio == pytest.approx(1, abs=4 * np.sqrt(2 / n_draws)), f"{name}: {ratio:.3f}"
        # And it is no small thing: neither estimate alone is as good.
        assert np.var(both[0]) < 0.9 * min(own[0, 0], other[0, 0])
