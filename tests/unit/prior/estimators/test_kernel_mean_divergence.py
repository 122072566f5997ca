"""Penalised L₁ divergence: its closed form, what its penalty does, and the estimate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from halftruth.prior.estimators import _kernel_mean as divergence

from .made import samples


def gaussian(rng, n_positive, n_unlabeled, alpha, separation=3.0):
    unlabeled = rng.normal(0, 1, n_unlabeled)
    unlabeled[rng.random(n_unlabeled) < alpha] += separation
    return samples(rng.normal(separation, 1, n_positive), unlabeled)


def test_the_closed_form_is_the_maximum_over_nonnegative_weights():
    means = np.array([[[0.9, 0.5, 0.3, 0.7]], [[0.2, 0.4, 0.5, 0.1]]])
    ridge = 0.3
    at = 120
    beta = divergence.GRID[at] * means[0, 0] - means[1, 0]
    # The maximiser of w·β − η/2 |w|² over w ≥ 0, put into the divergence w·β without the ridge.
    best = minimize(
        lambda w: ridge / 2 * w @ w - w @ beta, np.ones(4), bounds=[(0, None)] * 4, options={"ftol": 1e-15}
    )
    assert np.sum(beta > 0) == 2
    assert divergence._violation(means, means)[at, 0] / ridge == pytest.approx(best.x @ beta, rel=1e-5)


def test_its_curve_falls_as_one_minus_alpha_and_then_is_penalised():
    rng = np.random.default_rng(1)
    fit = divergence.fit_divergence(gaussian(rng, 2000, 20_000, 0.4, separation=6), rng=rng)
    x, y = fit.curve.x, fit.curve.y
    assert y[0] == 1
    low = x < 0.3
    np.testing.assert_allclose(y[low], 1 - x[low], atol=0.01)
    assert y[x > 0.5].min() > y[low].max()
    assert x[y.argmin()] == fit.value


@pytest.mark.parametrize("alpha", [0.02, 0.1, 0.3, 0.6, 0.9])
def test_it_finds_the_share_where_the_classes_hardly_overlap(alpha):
    rng = np.random.default_rng(2)
    found = [divergence.fit_divergence(gaussian(rng, 1000, 5000, alpha), rng=rng).value for _ in range(20)]
    # Other seeds: standard deviation .004 to .05 and bias −.034 to 0, both growing with α.
    assert np.mean(found) == pytest.approx(alpha - 0.03 * alpha, abs=0.005 + 4 * 0.05 * alpha / np.sqrt(20))


def test_it_lands_too_high_where_negatives_resemble_positives():
    rng = np.random.default_rng(3)
    found = [
        divergence.fit_divergence(gaussian(rng, 1000, 5000, 0.1, separation=1), rng=rng).value
        for _ in range(5)
    ]
    assert 0.15 < np.mean(found) < 0.4


@pytest.mark.parametrize("alpha", [0.1, 0.3, 0.6])
def test_features_of_few_dimensions_give_about_the_share(alpha):
    rng = np.random.default_rng(4)
    found = []
    for _ in range(10):
        unlabeled = rng.normal(size=(2000, 2))
        unlabeled[: round(2000 * alpha)] += [3, 2]
        found.append(
            divergence.fit_divergence_features(rng.normal([3, 2], 1, (1000, 2)), unlabeled, rng=rng).value
        )
    # Other seeds: standard deviation up to .025 and bias up to .007.
    assert np.mean(found) == pytest.approx(alpha, abs=0.007 + 4 * 0.025 / np.sqrt(10))


def test_the_units_of_features_do_not_matter():
    rng = np.random.default_rng(5)
    positive, unlabeled, units = rng.normal(2, 1, (200, 2)), rng.normal(1, 1, (400, 2)), np.array([1e6, 1e-6])
    values = [
        divergence.fit_divergence_features(positive * by, unlabeled * by, rng=np.random.default_rng(5)).value
        for by in (1.0, units)
    ]
    assert values[0] == pytest.approx(values[1], abs=0.0051)
    assert 0 < values[0] < 1


def test_rows_of_features_left_out_are_noted(monkeypatch):
    monkeypatch.setattr(divergence, "MAX_FEATURE_ROWS", 30)
    rng = np.random.default_rng(6)
    fit = divergence.fit_divergence_features(rng.normal(size=(30, 2)), rng.normal(size=(40, 2)), rng=rng)
    assert fit.notes == ("30 of 40 unlabeled rows were used.",)


def test_one_law_gives_about_one_and_disjoint_samples_give_zero():
    rng = np.random.default_rng(7)
    same = [
        divergence.fit_divergence(samples(rng.normal(size=1000), rng.normal(size=4000)), rng=rng).value
        for _ in range(20)
    ]
    assert np.mean(same) > 0.9
    for shift in (30, -30):
        apart = samples(rng.normal(shift, 1, 200), rng.normal(size=400))
        assert divergence.fit_divergence(apart, rng=rng).value < 0.02


def test_only_the_order_of_scores_and_the_proportions_of_masses_matter():
    s = gaussian(np.random.default_rng(8), 200, 600, 0.3)
    at = divergence.fit_divergence(s, rng=np.random.default_rng(9)).value
    other = replace(s, score=np.exp(s.score), positive=s.positive * 0.3, unlabeled=s.unlabeled * 7.7)
    assert divergence.fit_divergence(other, rng=np.random.default_rng(9)).value == pytest.approx(at, abs=0.02)


@pytest.mark.parametrize("positive", [[1.0], [0.0, 1.0, 1.0], [1e300, 1e-310], [0.5] * 9])
@pytest.mark.parametrize("unlabeled", [[0.0], [1.0, 1.0, 0.0, 2.0], [-1e300, 5e-324], [0.5] * 7])
def test_it_is_defined_on_hostile_scores(positive, unlabeled):
    rng = np.random.default_rng(0)
    fit = divergence.fit_divergence(samples(np.array(positive), np.array(unlabeled)), rng=rng)
    assert 0 <= fit.value <= 1
    assert np.isfinite(fit.curve.y).all()
    rows = np.array(positive)[:, None] > 0.5, np.array(unlabeled)[:, None] > 0.5
    assert 0 <= divergence.fit_divergence_features(*rows, rng=rng).value <= 1
