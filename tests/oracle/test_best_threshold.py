"""`best_threshold` against a search of all thresholds, in exact fractions."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

import halftruth as ht

from . import naive
from .agreement import assert_same
from .cases import CASES, Case
from .rows import Rows, cells, exact, falling, labeled_rows, totals

SMALL = [case for case in CASES if len(case.y) <= 11] + [case for case in CASES if len(case.y) == 40][::4]
WHOLE = [case for case in SMALL if case.weight is None or (case.weight % 1 == 0).all()]
AIMS = (
    *("precision", "recall", "f1", "accuracy", "balanced_accuracy", "mcc"),
    *("cohen_kappa", "jaccard", "youden_j", "specificity", "lift", "npv"),
)

each_case = pytest.mark.parametrize("case", SMALL, ids=lambda case: case.name)


def candidates(rows: Rows) -> list[Fraction | float]:
    """All thresholds that make a difference, from the highest down; +inf calls no case positive."""
    return [threshold for threshold, _, _ in falling(rows)]


def highest_best(rows: Rows, height: Callable[[float], float]) -> tuple[float, float]:
    """The largest height and the highest threshold that has it."""
    heights = [(height(t), t) for t in candidates(rows)]
    best = max(h for h, _ in heights if not math.isnan(h))
    return next((t, best) for h, t in heights if h == best)


@each_case
@pytest.mark.parametrize("aim", AIMS)
def test_maximize_attains_the_largest_rate(aim: str, case: Case) -> None:
    rate = getattr(naive, aim)
    if all(math.isnan(rate(case.rows, t)) for t in candidates(case.rows)):  # MCC of a constant score
        with pytest.warns(ht.EmptyClassWarning, match="No threshold"):
            assert np.isnan(ht.best_threshold(case.evidence, maximize=aim))
        return
    found = ht.best_threshold(case.evidence, maximize=aim)
    _, best = highest_best(case.rows, lambda t: rate(case.rows, t))
    assert_same(float(rate(case.rows, found)), float(best), aim)


@pytest.mark.parametrize("case", WHOLE, ids=lambda case: case.name)
@pytest.mark.parametrize("aim", ["precision", "recall", "f1", "accuracy", "jaccard", "specificity", "npv"])
def test_highest_threshold_wins_a_tie(aim: str, case: Case) -> None:
    """Rates that are one quotient, of whole numbers: equal ones are equal to the last bit."""
    rate = getattr(naive, aim)
    wanted, _ = highest_best(case.rows, lambda t: rate(case.rows, t))
    assert ht.best_threshold(case.evidence, maximize=aim) == float(wanted)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("aim", ["balanced_accuracy", "youden_j", "lift", "cohen_kappa"])
def test_rounding_breaks_no_tie(aim: str, seed: int) -> None:
    """Rates made of several quotients: equal ones may differ in the last bit, and are a tie all the same."""
    rng = np.random.default_rng([seed, 7])
    for _ in range(12):
        n = int(rng.integers(4, 30))
        score, y = rng.random(n).round(1), rng.integers(0, 2, n)
        y[:2] = 1, 0
        rows = labeled_rows(y, score)
        wanted, _ = highest_best(rows, partial(getattr(naive, aim), rows))
        assert ht.best_threshold(ht.Labeled(y, score), maximize=aim) == float(wanted)


@each_case
@pytest.mark.parametrize("cost", [(1, 1), (1, 5), (10, 1), (0, 1), (1, 0), (0.3, 0.7)])
def test_least_cost(cost: tuple[float, float], case: Case) -> None:
    per_fp, per_fn = (Fraction(c) for c in cost)

    def saved(threshold: float) -> Fraction:
        wanted = cells(case.rows, threshold)
        return -(per_fp * wanted.fp + per_fn * wanted.fn)

    found = ht.best_threshold(case.evidence, cost=cost)
    (wanted, best), total = highest_best(case.rows, saved), totals(case.rows)[0]
    assert_same(float(saved(found) / total), float(best / total))
    if case.weight is None and all(c == int(c) for c in cost):
        assert found == float(wanted)


@each_case
@pytest.mark.parametrize("least", [0.05, 0.3, 0.5, 0.9, 1.0])
def test_highest_threshold_with_enough_recall(least: float, case: Case) -> None:
    enough = [t for t in candidates(case.rows) if naive.recall(case.rows, t) >= exact(least)]
    assert ht.best_threshold(case.evidence, recall_at_least=least) == float(max(enough))


@each_case
@pytest.mark.parametrize("least", [0.05, 0.3, 0.5, 0.9, 1.0])
def test_lowest_threshold_with_enough_precision(least: float, case: Case) -> None:
    enough = [t for t in candidates(case.rows) if naive.precision(case.rows, t) >= exact(least)]
    if enough:
        assert ht.best_threshold(case.evidence, precision_at_least=least) == float(min(enough))
    else:
        with pytest.warns(ht.EmptyClassWarning, match="precision"):
            assert np.isnan(ht.best_threshold(case.evidence, precision_at_least=least))
