"""Whole curves: exact on populations, Algorithm 1 on noisy ones, and the measure's own curve without it."""

from __future__ import annotations

import numpy as np
import pytest

import halftruth as ht
from halftruth import recover
from halftruth.recover._recovered_curves import indirect_areas

from .made import above, area, evidence, populations


def by_the_steps(tpr_pu, fpr_pu, alpha, purity):
    """Algorithm 1 point by point, with (0, 0) and (1, 1) among them."""
    points = {(0.0, 0.0), (1.0, 1.0)}
    for g, h in zip(tpr_pu, fpr_pu, strict=True):
        tpr = ((1 - alpha) * g - (1 - purity) * h) / (purity - alpha)
        fpr = (purity * h - alpha * g) / (purity - alpha)
        if -1e-12 <= tpr <= 1 + 1e-12 and -1e-12 <= fpr <= 1 + 1e-12:
            points.add((min(max(fpr, 0.0), 1.0), min(max(tpr, 0.0), 1.0)))
    out, best = [], 0.0
    for fpr, tpr in sorted(points):
        best = max(best, tpr)
        out.append((fpr, best))
    return np.transpose(out)


def test_curves_of_a_population_are_recovered_exactly():
    for each in populations(1000, seed=6):
        seen = above(each.labeled), above(each.unlabeled), each.alpha, each.purity
        tpr, fpr = above(each.f1), above(each.f0)
        precision = each.alpha * tpr[1:] / (each.alpha * tpr[1:] + (1 - each.alpha) * fpr[1:])
        for projection in ("jain", "none"):
            curve = recover.roc_curve(*seen, projection=projection)
            assert np.abs(curve.tpr - tpr).max() < 1e-12
            assert np.abs(curve.fpr - fpr).max() < 1e-12
            assert abs(recover.area(curve) - area(each.f1, each.f0)) < 1e-12
            pr = recover.precision_recall_curve(*seen, projection=projection)
            assert np.abs(pr.recall - tpr).max() < 1e-12
            assert np.abs(pr.precision[1:] - precision).max() < 1e-12
            assert pr.precision[0] == pr.precision[1]


@pytest.mark.parametrize("seed", range(20))
def test_algorithm_1_is_its_steps(seed):
    rng = np.random.default_rng(seed)
    seen = [np.sort(rng.random(25)) for _ in range(2)]
    alpha = rng.uniform(0, 0.4)
    purity = rng.uniform(0.6, 1)
    curve = recover.roc_curve(*seen, alpha, purity)
    fpr, tpr = by_the_steps(*seen, alpha, purity)
    np.testing.assert_allclose(curve.fpr, fpr, atol=1e-12)
    np.testing.assert_allclose(curve.tpr, tpr, atol=1e-12)
    assert (np.diff(curve.fpr) >= 0).all()
    assert (np.diff(curve.tpr) >= 0).all()
    pr = recover.precision_recall_curve(*seen, alpha, purity)
    assert ((pr.precision >= 0) & (pr.precision <= 1)).all()
    assert pr.precision[-1] == pytest.approx(alpha)


def test_the_ends_are_on_the_curve_given_or_not():
    inner = recover.roc_curve([0.6], [0.3], 0.2)
    full = recover.roc_curve([0, 0.6, 1], [0, 0.3, 1], 0.2, threshold=[np.inf, 0.5, 0.1])
    for curve in (inner, full):
        assert curve.fpr.tolist() == [0, pytest.approx(0.225), 1]
        assert curve.tpr.tolist() == [0, 0.6, 1]
    assert full.threshold.tolist() == [np.inf, 0.5, 0.1]
    assert np.isnan(inner.threshold).all()


def test_dropped_points_take_their_thresholds_along():
    curve = recover.roc_curve([0, 0.5, 0.8, 1], [0, 0.1, 0.6, 1], 0.25, threshold=[np.inf, 3, 2, 1])
    assert curve.threshold.tolist() == [np.inf, 2, 1]


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("purity", [1.0, 0.8])
@pytest.mark.parametrize("seed", range(3))
def test_without_projection_they_are_those_of_the_measure(seed, purity, ties):
    data = evidence(seed, purity=purity, ties=ties)
    rows = [data.table.strata[name].score for name in ("positive", "unlabeled")]
    y = np.repeat([1, 0], [len(each) for each in rows])
    naive = ht.roc_curve(ht.Labeled(y, np.concatenate(rows)))
    given = naive.tpr, naive.fpr, 0.3, purity
    mine, own = recover.roc_curve(*given, projection="none", threshold=naive.threshold), ht.roc_curve(data)
    np.testing.assert_array_equal(mine.threshold, own.threshold)
    np.testing.assert_allclose(mine.tpr, own.tpr, atol=1e-12)
    np.testing.assert_allclose(mine.fpr, own.fpr, atol=1e-12)
    pr, own_pr = recover.precision_recall_curve(*given, projection="none"), ht.precision_recall_curve(data)
    np.testing.assert_allclose(pr.precision, own_pr.precision, atol=1e-12)
    direct = recover.auc(ht.roc_auc(ht.Labeled(y, np.concatenate(rows))), 0.3, purity)
    assert direct == pytest.approx(ht.roc_auc(data), abs=1e-12)
    assert direct == pytest.approx(recover.area(mine), abs=1e-12)


@pytest.mark.parametrize("purity", [1.0, 0.8])
def test_areas_of_a_measure_are_those_of_its_curves(purity):
    data = evidence(4, purity=purity)
    rows = [data.table.strata[name].score for name in ("positive", "unlabeled")]
    naive = ht.roc_curve(ht.Labeled(np.repeat([1, 0], [len(x) for x in rows]), np.concatenate(rows)))
    given = naive.tpr, naive.fpr, 0.3, purity
    roc, pr = indirect_areas(data.measure())
    assert roc == pytest.approx(recover.area(recover.roc_curve(*given)), abs=1e-12)
    assert pr == pytest.approx(recover.area(recover.precision_recall_curve(*given)), abs=1e-12)
    assert roc != pytest.approx(ht.roc_auc(data), abs=1e-6)


def test_tied_scores_leave_the_diagonal():
    curve = recover.roc_curve([0, 1], [0, 1], 0.3, 0.8)
    assert recover.area(curve) == 0.5
    pr = recover.precision_recall_curve([0, 1], [0, 1], 0.3, 0.8)
    assert pr.precision.tolist() == [pytest.approx(0.3)] * 2
    assert recover.area(pr) == pytest.approx(0.3)
    tied = ht.PositiveUnlabeled([0.5] * 3, [0.5] * 9, prior=0.3)
    assert indirect_areas(tied.measure()) == (0.5, pytest.approx(0.3))


def test_a_curve_that_the_shares_rule_out_is_an_error():
    seen = [0, 0.8, 0.9, 1], [0, 0.1, 0.2, 1]
    with pytest.raises(
        ht.InputError, match=r"No point of the curve is possible with alpha=0.5 and purity=0.7"
    ):
        recover.roc_curve(*seen, 0.5, 0.7)
    with pytest.raises(ht.InputError, match="No point"):
        recover.precision_recall_curve(*seen, 0.5, 0.7)
    assert len(recover.roc_curve(*seen, 0.5, 0.7, projection="none").tpr) == 4
    measure = ht.PositiveUnlabeled([4.0, 4.0], [4.0, 0.0, 0.0, 0.0, 0.0, 0.0], prior=0.6).measure()
    assert np.isnan(indirect_areas(measure)).all()


def test_no_positives_among_the_unlabeled_is_a_precision_of_zero():
    pr = recover.precision_recall_curve([0, 0.5, 1], [0, 0.2, 1], 0.0)
    assert pr.precision.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: recover.roc_curve([], [], 0.2), "`tpr_pu` is empty"),
        (lambda: recover.roc_curve([0.5], [0.2, 0.3], 0.2), "has length 2"),
        (lambda: recover.roc_curve([1.5], [0.2], 0.2), r"`tpr_pu` must lie in \[0, 1\]"),
        (lambda: recover.roc_curve([0.5], [np.nan], 0.2), "`fpr_pu` must be finite"),
        (lambda: recover.roc_curve([0.5], [0.2], 1.2), r"`alpha` must lie in \[0, 1\), got 1.2"),
        (lambda: recover.roc_curve([0.5], [0.2], [0.1, 0.2]), "`alpha` must be a real number"),
        (lambda: recover.roc_curve([0.5], [0.2], 0.5, 0.5), "`purity` must exceed `alpha`"),
        (lambda: recover.roc_curve([0.5], [0.2], 0.5, projection="hull"), "`projection` must be 'jain' or"),
        (lambda: recover.roc_curve([0.5], [0.2], 0.1, threshold=[1, 2]), "one value for each of 1 points"),
        (lambda: recover.area([0, 1]), "`curve` must be a RocCurve or a PrecisionRecallCurve, got list"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ht.InputError, match=message):
        call()
