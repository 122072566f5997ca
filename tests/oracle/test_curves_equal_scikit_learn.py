"""Curves equal scikit-learn's at every threshold both have; those it lacks equal loops over the rows."""

import math
from itertools import pairwise

import numpy as np
import pytest
from sklearn import metrics as sk

import halftruth as ht

from . import naive
from .agreement import assert_same
from .cases import CASES, WEIGHTS, Case, draw_case
from .rows import exact, falling, over, totals

LARGE = [draw_case("untied", weights, 3000, seed=j) for j, weights in enumerate(WEIGHTS)]
LARGE += [draw_case("tied float32", weights, 3000, seed=j) for j, weights in enumerate(WEIGHTS)]
SMALL = [case for case in CASES if len(case.y) <= 40]

each_case = pytest.mark.parametrize("case", CASES + LARGE, ids=lambda case: case.name)
each_small_case = pytest.mark.parametrize("case", SMALL, ids=lambda case: case.name)


def assert_same_at_common_thresholds(ours: tuple, reference: tuple, columns: str) -> None:
    """Each a tuple of columns with the threshold last; all finite thresholds of the reference are ours."""
    at = {t: i for i, t in enumerate(ours[-1])}
    kept = [i for i, t in enumerate(reference[-1]) if t in at or math.isfinite(t)]
    positions = [at[reference[-1][i]] for i in kept]
    assert len(kept) > 0
    for name, own, other in zip(columns.split(), ours, reference, strict=False):
        assert_same(own[positions], np.asarray(other)[kept], name)


@each_case
def test_roc_curve(case: Case) -> None:
    curve = ht.roc_curve(case.evidence)
    reference = sk.roc_curve(case.y, case.wide, sample_weight=case.weight, drop_intermediate=False)
    assert len(curve.threshold) == len(reference[2])
    assert_same_at_common_thresholds((curve.fpr, curve.tpr, curve.threshold), reference, "fpr tpr")


@each_case
def test_precision_recall_curve(case: Case) -> None:
    curve = ht.precision_recall_curve(case.evidence)
    # Scikit-learn ends with a point of its own, precision 1 at recall 0, which has no threshold.
    precision, recall, threshold = sk.precision_recall_curve(case.y, case.wide, sample_weight=case.weight)
    reference = precision[:-1], recall[:-1], threshold
    ours = curve.precision, curve.recall, curve.threshold
    assert len(curve.threshold) == len(threshold) + 1
    assert_same_at_common_thresholds(ours, reference, "precision recall")


@each_case
def test_det_curve(case: Case) -> None:
    curve = ht.det_curve(case.evidence)
    reference = sk.det_curve(case.y, case.wide, sample_weight=case.weight)
    assert_same_at_common_thresholds((curve.fpr, curve.fnr, curve.threshold), reference, "fpr fnr")


@each_small_case
def test_gain_curve(case: Case) -> None:
    curve = ht.gain_curve(case.evidence)
    mass, pos = totals(case.rows)
    points = list(falling(case.rows))
    assert_same(curve.threshold, [float(t) for t, _, _ in points])
    assert_same(curve.fraction, [float(above / mass) for _, above, _ in points])
    assert_same(curve.gain, [float(tp / pos) for _, _, tp in points])
    assert_same(curve.lift, [float(over(tp / pos, above / mass)) for _, above, tp in points])


@each_small_case
@pytest.mark.parametrize("thresholds", [None, [0.1, 0.0, 0.375, 0.3, 0.97]], ids=["default", "given"])
def test_decision_curve(case: Case, thresholds: list[float] | None) -> None:
    if not case.probabilities:
        with pytest.raises(ht.InputError, match=r"\[0, 1\]"):
            ht.decision_curve(case.evidence, thresholds)
        return
    curve = ht.decision_curve(case.evidence, thresholds)
    grid = [k / 100 for k in range(99, 0, -1)] if thresholds is None else sorted(thresholds, reverse=True)
    assert curve.threshold.tolist() == grid
    assert_same(curve.net_benefit, [float(naive.net_benefit(case.rows, t)) for t in grid])
    everyone = [row._replace(score=1) for row in case.rows]
    assert_same(curve.treat_all, [float(naive.net_benefit(everyone, t)) for t in grid])


@each_small_case
def test_cost_curve_is_the_lower_envelope_over_all_thresholds(case: Case) -> None:
    assert len(ht.cost_curve(case.evidence).probability_cost) == 101
    curve = ht.cost_curve(case.evidence, n_points=9)
    assert curve.probability_cost.tolist() == [k / 8 for k in range(9)]
    mass, pos = totals(case.rows)
    rates = {t: (1 - tp / pos, (above - tp) / (mass - pos)) for t, above, tp in falling(case.rows)}
    for x, cost, threshold in zip(curve.probability_cost, curve.expected_cost, curve.threshold, strict=True):
        costs = {float(t): float(fnr * exact(x) + fpr * (1 - exact(x))) for t, (fnr, fpr) in rates.items()}
        assert_same(cost, min(costs.values()), f"cost at {x}")
        assert_same(costs[threshold], min(costs.values()), f"cost of the threshold at {x}")


@each_case
def test_thresholds_fall_from_infinity_and_columns_have_one_length(case: Case) -> None:
    for curve in (
        f(case.evidence) for f in (ht.roc_curve, ht.precision_recall_curve, ht.det_curve, ht.gain_curve)
    ):
        assert {len(column) for column in vars(curve).values()} == {len(curve.threshold)}
        assert curve.threshold[0] == np.inf
        assert all(a > b for a, b in pairwise(curve.threshold))


@pytest.mark.parametrize("case", LARGE, ids=lambda case: case.name)
@pytest.mark.parametrize("max_fpr", [0.001, 0.05, None])
def test_areas_of_many_rows(case: Case, max_fpr: float | None) -> None:
    reference = sk.roc_auc_score(case.y, case.wide, sample_weight=case.weight, max_fpr=max_fpr)
    ours = ht.roc_auc(case.evidence) if max_fpr is None else ht.partial_auc(case.evidence, max_fpr=max_fpr)
    assert_same(ours, reference)
    reference = sk.average_precision_score(case.y, case.wide, sample_weight=case.weight)
    assert_same(ht.average_precision(case.evidence), reference)
