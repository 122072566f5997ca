"""Kernel mean embedding: the distance, its slope, which λ is which α, and the estimate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from halftruth.prior.estimators import _kernel_mean as km

from .made import samples

BOTH = pytest.mark.parametrize("form", ["km1", "km2"])


def gaussian(rng, n_positive, n_unlabeled, alpha, separation=3.0):
    unlabeled = rng.normal(0, 1, n_unlabeled)
    unlabeled[rng.random(n_unlabeled) < alpha] += separation
    return samples(rng.normal(separation, 1, n_positive), unlabeled)


def exact(alpha):
    """Embeddings of known laws on six points; the negatives have no mass at the last two."""
    x = np.linspace(0, 1, 6)
    kernel = np.exp(-((x[:, None] - x) ** 2) / (2 * 0.2**2))
    positive = np.array([0.05, 0.1, 0.15, 0.2, 0.2, 0.3])
    negative = np.array([0.4, 0.3, 0.2, 0.1, 0.0, 0.0])
    unlabeled = alpha * positive + (1 - alpha) * negative
    return km.Gap(factor=np.linalg.cholesky(kernel), positive=positive, unlabeled=unlabeled, n=100), kernel


@pytest.mark.parametrize("alpha", [0.1, 0.45, 0.8])
def test_the_distance_leaves_zero_at_the_share_of_positives(alpha):
    """λ = 1/(1−α) gives the negatives exactly, so α = (λ−1)/λ, and not 1/λ."""
    gap, _ = exact(alpha)
    lambda_ = 1 / (1 - alpha)
    assert (lambda_ - 1) / lambda_ == pytest.approx(alpha)
    pushed = lambda_ * gap.unlabeled + (1 - lambda_) * gap.positive
    np.testing.assert_allclose(pushed, [0.4, 0.3, 0.2, 0.1, 0, 0], atol=1e-12)
    assert gap.at(alpha)[0] < 1e-6
    assert gap.at(alpha - 0.05)[0] < 1e-6
    assert gap.at(alpha + 0.05)[0] > 1e-3


def test_the_distance_is_the_least_over_the_simplex():
    gap, kernel = exact(0.3)
    for alpha in (0.4, 0.6, 0.9):
        target = (gap.unlabeled - alpha * gap.positive) / (1 - alpha)

        def square(w, target=target):
            return (w - target) @ kernel @ (w - target)

        found = minimize(
            square,
            np.full(6, 1 / 6),
            bounds=[(0, None)] * 6,
            constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
            options={"ftol": 1e-14, "maxiter": 1000},
        )
        assert gap.at(alpha)[0] == pytest.approx(np.sqrt(found.fun), rel=1e-3)


def test_the_slope_is_the_derivative_of_the_distance_by_lambda():
    gap, _ = exact(0.3)
    for lambda_ in (1.6, 2.5, 8.0):
        step = 1e-4
        (low, _), (high, _) = (gap.at(1 - 1 / (lambda_ + d)) for d in (-step, step))
        assert gap.at(1 - 1 / lambda_)[1] == pytest.approx((high - low) / (2 * step), rel=1e-3)


def test_thresholds_are_those_of_the_paper():
    gap, kernel = exact(0.3)
    apart = gap.unlabeled - gap.positive
    last = np.sqrt(apart @ kernel @ apart)
    first = gap.at(1 - 1 / 1.05)[0] / 0.05
    assert gap.threshold("km1") == pytest.approx(0.1)
    assert gap.threshold("km2") == pytest.approx(0.8 * first + 0.2 * last)
    few = replace(gap, n=2)
    assert 1 / np.sqrt(2) > 0.9 * last
    assert few.threshold("km1") == few.threshold("km2")


def test_the_factor_gives_the_kernel_back_in_fewer_columns():
    x = np.sort(np.random.default_rng(0).random(80))
    kernel = np.exp(-((x[:, None] - x) ** 2))
    factor = km._factor(kernel)
    np.testing.assert_allclose(factor @ factor.T, kernel, atol=1e-8)
    assert factor.shape[1] < 20


@BOTH
@pytest.mark.parametrize("alpha", [0.1, 0.3, 0.6])
def test_it_finds_the_share_where_the_classes_hardly_overlap(form, alpha):
    rng = np.random.default_rng(1)
    found = [km.fit_km(gaussian(rng, 2000, 20_000, alpha), form=form, rng=rng).value for _ in range(3)]
    # One fit has a standard deviation of about .01 and a bias of about .007.
    assert np.mean(found) == pytest.approx(alpha, abs=0.03)


@BOTH
def test_it_lands_too_high_where_negatives_resemble_positives(form):
    rng = np.random.default_rng(2)
    assert km.fit_km(gaussian(rng, 2000, 20_000, 0.1, separation=1), form=form, rng=rng).value > 0.25


@BOTH
@pytest.mark.parametrize("alpha", [0.2, 0.6])
def test_features_are_standardised_and_give_about_the_share(form, alpha):
    rng = np.random.default_rng(3)
    unlabeled = rng.normal(size=(1500, 2))
    unlabeled[: round(1500 * alpha)] += [3, 2]
    positive = rng.normal([3, 2], 1, (600, 2))
    fit = km.fit_km_features(positive, unlabeled, form=form, rng=np.random.default_rng(4))
    assert fit.value == pytest.approx(alpha, abs=0.12)
    scale, shift = np.array([1e6, 1e-6]), np.array([5.0, -3.0])
    moved = km.fit_km_features(
        positive * scale + shift, unlabeled * scale + shift, form=form, rng=np.random.default_rng(4)
    )
    assert moved.value == pytest.approx(fit.value, abs=0.003)


def test_the_rows_used_are_noted_and_all_are_used_if_few(monkeypatch):
    rng = np.random.default_rng(5)
    few = gaussian(rng, 60, 90, 0.3)
    assert km.fit_km(few, rng=rng).notes == ()
    fits = {km.fit_km(few, rng=np.random.default_rng(seed)).value for seed in range(5)}
    assert len(fits) == 1
    monkeypatch.setattr(km, "MAX_ROWS", 70)
    notes = km.fit_km(few, rng=rng).notes
    assert notes == ("70 of 90 unlabeled rows were used.",)
    x = rng.normal(size=(50, 2))
    monkeypatch.setattr(km, "MAX_ROWS", 40)
    assert km.fit_km_features(x, x + 5, rng=rng).notes == (
        "40 of 50 positive rows were used.",
        "40 of 50 unlabeled rows were used.",
    )


def test_rows_are_drawn_in_proportion_to_the_masses():
    share = np.array([0.1, 0.0, 0.65, 0.25])
    drawn = np.bincount(km._drawn(share, 200, np.random.default_rng(6)), minlength=4)
    assert np.abs(drawn - 200 * share).max() <= 1
    assert drawn[1] == 0


@BOTH
def test_only_the_order_of_scores_matters(form):
    s = gaussian(np.random.default_rng(7), 80, 150, 0.3)
    at = km.fit_km(s, form=form, rng=np.random.default_rng(8)).value
    assert km.fit_km(replace(s, score=np.exp(s.score)), form=form, rng=np.random.default_rng(8)).value == at


@BOTH
def test_one_law_gives_one_and_disjoint_samples_nearly_zero(form):
    rng = np.random.default_rng(9)
    same = [
        km.fit_km(samples(rng.normal(size=100), rng.normal(size=400)), form=form, rng=rng) for _ in range(20)
    ]
    assert sum(fit.value == 1 for fit in same) >= 16
    for shift in (30, -30):
        apart = samples(rng.normal(shift, 1, 200), rng.normal(size=400))
        assert km.fit_km(apart, form=form, rng=rng).value < 0.05


def test_the_curve_crosses_the_threshold_at_the_value():
    rng = np.random.default_rng(10)
    s = gaussian(rng, 200, 400, 0.4)
    fit = km.fit_km(s, form="km1", rng=rng)
    below, above = fit.curve.y[fit.curve.x < fit.value], fit.curve.y[fit.curve.x > fit.value]
    assert below.max() < 1 / np.sqrt(200) <= above.min()
    assert (np.diff(fit.curve.y) > -1e-3).all()


@BOTH
@pytest.mark.parametrize("positive", [[1.0], [0.0, 1.0, 1.0], [1e300, 1e-310], [0.5] * 9])
@pytest.mark.parametrize("unlabeled", [[0.0], [1.0, 1.0, 0.0, 2.0], [-1e300, 5e-324], [0.5] * 7])
def test_it_is_defined_on_hostile_scores(form, positive, unlabeled):
    rng = np.random.default_rng(0)
    fit = km.fit_km(samples(np.array(positive), np.array(unlabeled)), form=form, rng=rng)
    assert 0 <= fit.value <= 1
    rows = np.array(positive)[:, None] > 0.5, np.array(unlabeled)[:, None] > 0.5
    assert 0 <= km.fit_km_features(*rows, form=form, rng=rng).value <= 1
