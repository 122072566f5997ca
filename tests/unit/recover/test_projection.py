"""Projection: what comes out is possible, likelier than anything else that is, and nothing moves without need."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import halftruth as ht
from halftruth import recover
from halftruth.recover._projection import Possible, from_measure, likeliest
from halftruth.table._support import with_batch_axis

from .made import area, evidence


def assert_possible(measure: ht.ScoreMeasure) -> None:
    assert (measure.pos_mass >= 0).all()
    assert (measure.neg_mass >= 0).all()
    populated = measure.mass > 0
    share = measure.pos_mass[populated] / measure.mass[populated]
    assert (np.diff(share) >= -1e-9).all()
    for rate in (ht.roc_curve(measure).fpr, ht.roc_curve(measure).tpr):
        assert rate[0] == 0
        assert rate[-1] == pytest.approx(1)
        assert (np.diff(rate) >= 0).all()


@pytest.mark.parametrize("population", ["unlabeled", "all"])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("prior", [0.3, 0.6])
@pytest.mark.parametrize("purity", [1.0, 0.75])
def test_what_comes_out_is_possible(purity, prior, ties, population):
    for seed in range(5):
        data = evidence(seed, purity=purity, ties=ties, prior=prior, population=population)
        found = recover.project(data)
        assert_possible(found)
        assert found.prior == pytest.approx(data.measure().prior)
        assert found.positives == pytest.approx(data.measure().positives)
        assert found.total == pytest.approx(data.measure().total)
        assert found.alpha == data.measure().alpha
        np.testing.assert_array_equal(found.score, data.measure().score)
        assert 0 <= ht.roc_auc(found) <= 1


def log_likelihood(f1, f0, labeled, unlabeled, alpha, purity):
    seen = purity * f1 + (1 - purity) * f0, alpha * f1 + (1 - alpha) * f0
    rows = labeled, unlabeled
    terms = [
        n * np.log(np.where(n > 0, np.maximum(law, 1e-300), 1.0)) for n, law in zip(rows, seen, strict=True)
    ]
    return float(np.sum(terms))


def best_by_search(labeled, unlabeled, alpha, purity, rng):
    """The largest likelihood that a general optimiser finds under the same constraints."""
    m = len(labeled)

    def split(x):
        return x[:m], x[m:]

    constraints = [
        {"type": "eq", "fun": lambda x: x[:m].sum() - 1},
        {"type": "eq", "fun": lambda x: x[m:].sum() - 1},
        # f₁/f₀ rises with the score
        {"type": "ineq", "fun": lambda x: x[1:m] * x[m:-1] - x[: m - 1] * x[m + 1 :]},
    ]
    best = -np.inf
    for _ in range(6):
        w = np.sort(rng.random(m))
        c = rng.dirichlet(np.ones(m))
        start = np.concatenate([c * w / (c @ w), c * (1 - w) / (c @ (1 - w))])
        found = minimize(
            lambda x: -log_likelihood(*split(x), labeled, unlabeled, alpha, purity),
            start,
            bounds=[(1e-9, 1)] * (2 * m),
            constraints=constraints,
            method="SLSQP",
            options={"maxiter": 500, "ftol": 1e-12},
        )
        if max(abs(found.x[:m].sum() - 1), abs(found.x[m:].sum() - 1)) < 1e-6:
            broken = np.min(constraints[2]["fun"](found.x))
            best = max(best, -found.fun) if broken > -1e-9 else best
    return best


@pytest.mark.parametrize("seed", range(12))
def test_nothing_possible_is_likelier(seed):
    rng = np.random.default_rng(seed)
    m = 5
    labeled, unlabeled = rng.integers(0, 12, m).astype(float), rng.integers(1, 12, m).astype(float)
    labeled[-1] += 1
    alpha, purity = rng.uniform(0.05, 0.6), rng.uniform(0.7, 1) if seed % 2 else 1.0
    f1, f0 = likeliest(labeled, unlabeled, alpha, purity)
    assert f1.sum() == pytest.approx(1)
    assert f0.sum() == pytest.approx(1)
    assert (f1[1:] * f0[:-1] - f1[:-1] * f0[1:] >= -1e-9).all()
    mine = log_likelihood(f1, f0, labeled, unlabeled, alpha, purity)
    other = best_by_search(labeled, unlabeled, alpha, purity, rng)
    assert mine >= other - 1e-6
    assert mine <= other + 1e-3  # the search comes that near


def test_exact_counts_of_a_possible_population_are_left_alone():
    f1, f0 = np.array([1.0, 2, 3, 4]) / 10, np.array([4.0, 3, 2, 1]) / 10
    alpha, purity = 0.25, 0.75
    labeled = 1e4 * (purity * f1 + (1 - purity) * f0)
    unlabeled = 3e4 * (alpha * f1 + (1 - alpha) * f0)
    found = likeliest(labeled, unlabeled, alpha, purity)
    np.testing.assert_allclose(found, [f1, f0], atol=1e-12)


def test_where_no_bound_is_reached_it_is_the_concave_hull():
    labeled, unlabeled = np.array([1.0, 4, 2, 6, 5]), np.array([20.0, 16, 18, 12, 15])
    f1, f0 = likeliest(labeled, unlabeled, 0.1, 1.0)
    # By hand, from the lowest score: 1/21, then (4 + 2)/40 and (6 + 5)/38.
    f_u = np.array([20, 17, 17, 27 * 18 / 38, 27 * 20 / 38]) / 81
    f_u[1:3] = 34 / 81 * np.array([20, 20]) / 40
    f_l = np.array([1, 3, 3, 11 * 18 / 38, 11 * 20 / 38]) / 18
    np.testing.assert_allclose(f1, f_l, atol=1e-12)
    np.testing.assert_allclose(0.1 * f1 + 0.9 * f0, f_u, atol=1e-12)


def test_bounds_alone_move_a_curve_that_is_concave_but_impossible():
    # All five labeled above all unlabeled but one: with α = ½ more of these must lie there.
    labeled, unlabeled = np.array([0.0, 5.0]), np.array([9.0, 1.0])
    f1, f0 = likeliest(labeled, unlabeled, 0.5, 1.0)
    assert f0[1] == 0
    assert area(f1[::-1], f0[::-1]) <= 1
    assert 0.5 * f1[1] == pytest.approx((0.5 * f1 + 0.5 * f0)[1])


def test_rows_count_and_not_their_weights_scale():
    plain = evidence(3, ties=True)
    positive, unlabeled = (plain.table.strata[name].score for name in ("positive", "unlabeled"))
    heavy = ht.PositiveUnlabeled(
        *(positive, unlabeled),
        prior=0.3,
        positive_weight=np.full(len(positive), 7.0),
        unlabeled_weight=np.full(len(unlabeled), 0.1),
    )
    mine, other = recover.project(plain), recover.project(heavy)
    np.testing.assert_allclose(mine.pos_mass, 10 * other.pos_mass, atol=1e-9)


def test_only_the_order_of_the_scores_matters():
    plain = evidence(5, purity=0.8)
    positive, unlabeled = (plain.table.strata[name].score for name in ("positive", "unlabeled"))
    moved = ht.PositiveUnlabeled(np.exp(positive), np.exp(unlabeled), prior=0.3, purity=0.8)
    np.testing.assert_array_equal(recover.project(plain).pos_mass, recover.project(moved).pos_mass)


def test_many_measures_at_once_are_one_by_one():
    data = Possible.of(evidence(6, purity=0.8, ties=True))
    support = data.table.support
    rng = np.random.default_rng(0)
    sums = {
        key: rng.poisson(np.repeat(x, 4, axis=0)).astype(float)
        for key, x in with_batch_axis(support.sums()).items()
    }
    many = data.rule(sums, data.scenario).apply(support.score, sums)
    assert many.shape == (4,)
    for i in range(4):
        own = {key: x[i] for key, x in sums.items()}
        one = data.rule(own, data.scenario).apply(support.score, own)
        np.testing.assert_allclose(many.pos_mass[i], one.pos_mass, atol=1e-12)
        assert_possible(one)
    raw = super(Possible, data).rule(sums, data.scenario)
    many, one = (
        from_measure(each) for each in (raw.apply(support.score, sums), raw.apply(support.score, sums)[2])
    )
    np.testing.assert_allclose(many.pos_mass[2], one.pos_mass, atol=1e-12)


def test_labels_give_the_hull_of_their_curve():
    rng = np.random.default_rng(2)
    y, score = rng.integers(0, 2, 60), rng.integers(0, 12, 60) + 0.0
    score[y == 1] += rng.integers(0, 3, (y == 1).sum())
    raw, found = ht.roc_curve(ht.Labeled(y, score)), recover.project(ht.Labeled(y, score))
    assert_possible(found)
    hull = ht.roc_curve(found)
    # The least concave curve above the points, at each of them by all chords.
    points = np.column_stack([raw.fpr, raw.tpr])
    for x, y_hull in zip(hull.fpr[hull.fpr > 0], hull.tpr[hull.fpr > 0], strict=True):
        chords = [
            a[1] + (b[1] - a[1]) * (x - a[0]) / (b[0] - a[0])
            for a in points
            for b in points
            if a[0] <= x <= b[0] and a[0] < b[0]
        ]
        assert y_hull == pytest.approx(max(chords), abs=1e-9)


def test_known_negatives_and_propensities_are_projected_too():
    base = evidence(7)
    positive, unlabeled = (base.table.strata[name].score for name in ("positive", "unlabeled"))
    rng = np.random.default_rng(1)
    for more in ({"negative": rng.normal(0, 1, 30)}, {"propensity": rng.uniform(0.2, 1, len(positive))}):
        data = ht.PositiveUnlabeled(positive, unlabeled, prior=0.3, **more)
        found = recover.project(data)
        assert_possible(found)
        assert found.prior == pytest.approx(0.3)


def test_tied_scores_and_shares_that_rule_each_other_out_have_a_result():
    tied = recover.project(ht.PositiveUnlabeled([0.5] * 3, [0.5] * 9, prior=0.3))
    assert ht.roc_auc(tied) == pytest.approx(0.5)
    # Two thirds positive, but only a third of the scores like the labeled ones'.
    refuted = recover.project(ht.PositiveUnlabeled([3.0, 4.0, 5.0], [4.5, 3.5, 1, 2, 0, 1.5], prior=2 / 3))
    assert_possible(refuted)
    assert refuted.prior == pytest.approx(2 / 3)
    lone = recover.project(ht.PositiveUnlabeled([1.0], [2.0, 0.0], prior=0.5))
    assert_possible(lone)
    assert np.isnan(likeliest(np.ones(3), np.ones(3), 0.5, 0.5)).all()
    assert np.isnan(likeliest(np.zeros(3), np.ones(3), 0.5, 1.0)).all()


def test_bad_input_is_refused():
    with pytest.raises(ht.NotIdentifiable, match="class prior"):
        recover.project(evidence(0, prior=None))
    with pytest.raises(ht.InputError, match="Expected evidence"):
        recover.project([0.1, 0.2])
    with pytest.raises(ht.InputError, match="`projection` must be 'concave'"):
        recover.project(evidence(0), "jain")
