"""What to collect next: the widths predicted are those found once the rows are there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pytest

import halftruth as ht
from halftruth.evaluation._planning import Outlook, next_steps
from halftruth.evidence import Scenario
from halftruth.inference._prior_range import prior_range
from halftruth.inference._requests import read_requests

pytestmark = pytest.mark.slow
MODEL = ht.simulate.GaussianClasses(prior=0.3)
THRESHOLD = 0.5
METRICS = ("roc_auc", "precision", "brier")
N, SEA, MORE = 200, 2000, 200

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


def outlook(evidence: Any) -> Outlook:
    requests = read_requests(METRICS, [evidence.measure()], THRESHOLD)
    return Outlook(evidence, requests, prior_range(evidence, 0.95), 0.95, evidence.rows_are_one_sample)


def predicted(evidence: Any, what: str, rows: int) -> list[float]:
    return [one.width for one in outlook(evidence).widths_with(what, rows).values()]


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
    n_draws = max(draws(60), 20)
    small = {"n_positive": N, "n_unlabeled": SEA}
    then = [predicted(make(**small, rng=seed, **given), what, rows) for seed in range(n_draws)]
    now = [found(make(**{**small, **sizes}, rng=10_000 + seed, **given)) for seed in range(n_draws)]
    assert_alike(then, now, n_draws, excess=0.005)


@pytest.mark.parametrize(("n", "sea"), [(N, SEA), (20_000, 200_000)])
def test_of_an_unknown_prior_no_more_is_promised_than_is_found(
    n: int, sea: int, draws: Callable[[int], int]
) -> None:
    n_draws = max(draws(15), 10)
    then = [predicted(pu(n, sea, seed, prior=None), "positives", n) for seed in range(n_draws)]
    now = [found(pu(2 * n, sea, 10_000 + seed, prior=None)) for seed in range(n_draws)]
    a, b = np.asarray(then), np.asarray(now)
    error = np.sqrt((a.var(axis=0) + b.var(axis=0)) / n_draws)
    assert (a.mean(axis=0) > b.mean(axis=0) - 4 * error).all()
    assert (a.mean(axis=0) < 1.2 * b.mean(axis=0)).all()


def test_more_labeled_rows_give_the_width_predicted(draws: Callable[[int], int]) -> None:
    n_draws = max(draws(100), 20)
    then = []
    for seed in range(n_draws):
        evidence = MODEL.labeled(500, seed)
        requests = read_requests(METRICS, [evidence.measure()], THRESHOLD)
        steps = next_steps(evidence, requests, confidence_level=0.95, one_sample=True)
        assert {(step.what, step.rows) for step in steps} == {("labels", 500)}
        then.append([step.then for name in METRICS for step in steps if step.metric == name])
    now = [found(MODEL.labeled(1000, 10_000 + seed)) for seed in range(n_draws)]
    assert_alike(then, now, n_draws, excess=0.005)


# --- labels ---------------------------------------------------------------------------------------------


def with_labels(population: str, prior: Any, how: str, seed: int) -> ht.PositiveUnlabeled:
    """What a user passes who has the labels of MORE random cases and does as the words say."""
    rng = np.random.default_rng(seed)
    strata = MODEL.draw_strata(N, SEA, rng, population=population)
    known, rest = strata.positive.score, strata.unlabeled
    y, score, left = rest.y[:MORE], rest.score[:MORE], rest.score[MORE:]
    if population == "unlabeled":
        new = MODEL.draw(MORE, rng)
        y, score, left = new.y, new.score, rest.score
    if "without a prior" in how:
        prior = None
    elif "prior that they show" in how:
        before = ht.PositiveUnlabeled(known, rest.score, population=population)
        prior = ht.estimate_prior(before, labeled_sample=(int(y.sum()), MORE), method="sample")
    known = np.append(known, score[y == 1])
    return ht.PositiveUnlabeled(known, left, negative=score[y == 0], prior=prior, population=population)


@pytest.mark.parametrize("prior", [0.3, (0.25, 0.35), None])
@pytest.mark.parametrize("population", ["unlabeled", "all"])
def test_labels_give_the_width_predicted(population: str, prior: Any, draws: Callable[[int], int]) -> None:
    n_draws = max(draws(80 if prior == 0.3 else 30), 20)
    then, now = np.empty((2, n_draws, len(METRICS)))
    for seed in range(n_draws):
        one = outlook(pu(N, SEA, seed, prior=prior, population=population))
        # Of an unknown prior the widest is told; at the true one it is this.
        told = list(one.widths_with_labels_at(Scenario(prior=0.3), MORE).values())
        ways = {x.how: found(with_labels(population, prior, x.how, 10_000 + seed)) for x in told}
        then[seed] = [x.width for x in told]
        now[seed] = [ways[x.how][k] for k, x in enumerate(told)]
        if prior is None and seed < 5:
            widest = list(one.widths_with("labels", MORE).values())
            assert all(a.width > 0.9 * b.width for a, b in zip(widest, told, strict=True))
    assert_alike(then, now, n_draws, excess=0.01)


@pytest.mark.parametrize(
    ("population", "prior"), [("unlabeled", 0.3), ("all", 0.3), ("unlabeled", (0.25, 0.35))]
)
def test_the_step_named_is_the_best_one(population: str, prior: Any, draws: Callable[[int], int]) -> None:
    """Where one step is clearly better once the rows are there, it is the one that was named."""
    n_draws = max(draws(20), 10)
    how, rng = "" if prior == 0.3 else "without a prior", np.random.default_rng(3)
    make = partial(pu, rng=rng, prior=prior, population=population)
    found_in = MORE if population == "all" else 0
    later: dict[str, Callable[[], ht.PositiveUnlabeled]] = {
        "positives": lambda: make(N + MORE, SEA - found_in),
        "unlabeled": lambda: make(N, SEA + MORE),
        "labels": lambda: with_labels(population, prior, how, int(rng.integers(10**9))),
    }
    widths = {what: np.mean([found(one()) for _ in range(n_draws)], axis=0) for what, one in later.items()}
    named: dict[str, list[str]] = {name: [] for name in METRICS}
    for _ in range(n_draws):
        evidence = make(N, SEA)
        requests = read_requests(METRICS, [evidence.measure()], THRESHOLD)
        one_sample = evidence.rows_are_one_sample
        steps = next_steps(evidence, requests, confidence_level=0.95, one_sample=one_sample)
        for name, told in named.items():
            told.append(next(step.what for step in steps if step.metric == name))
    clear = {}
    for j, name in enumerate(METRICS):
        best, second = sorted(widths, key=lambda what: widths[what][j])[:2]
        if widths[best][j] < 0.95 * widths[second][j]:
            clear[name] = best
    assert clear
    for name, best in clear.items():
        assert named[name].count(best) > 0.8 * n_draws, f"{name}: {best} is best, {named[name]} were named"
