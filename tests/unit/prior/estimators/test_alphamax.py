"""AlphaMax: the inner maximum by brute force, the elbow and AlphaMaxN where the truth is known."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

from halftruth.prior._samples import Samples
from halftruth.prior.estimators import _alphamax as alphamax

from .made import samples

HUGE = 1e9
F1 = np.array([0.0, 0.1, 0.4, 0.5])
F0 = np.array([0.6, 0.3, 0.1, 0.0])


def population(alpha, purity=1.0, n=HUGE) -> Samples:
    """Masses that are probabilities."""
    p, u = (share * F1 + (1 - share) * F0 for share in (purity, alpha))
    return Samples(score=np.arange(4.0), positive=p, unlabeled=u, n_positive=n, n_unlabeled=n)


def mixture(rng, n, share, apart):
    k = rng.binomial(n, share)
    return np.append(rng.normal(apart, 1, k), rng.normal(0, 1, n - k))


def one_bin_error(n_positive, n_unlabeled, alpha):
    """Standard error of α from the ratio of shares in a single bin of positives: the elbow needs few of them."""
    bins = round(alphamax.BINS * min(n_positive, n_unlabeled) ** (1 / 3))
    return alpha * np.sqrt(bins / n_positive + bins / (alpha * n_unlabeled))


def random_shares(rng, bins):
    p, w = rng.dirichlet(np.full(bins, 0.7), 2)
    if bins > 2:
        p[rng.integers(bins)] = 0
    return p / p.sum(), 0.99 * w + 0.01 / bins


def likelihood(v, p, w, alpha):
    on_positive = sum(a * np.log(b / alpha) for a, b in zip(p, v, strict=True) if a > 0)
    return on_positive + np.sum(w * np.log(w - v + alpha * p))


@pytest.mark.parametrize("seed", range(12))
def test_inner_maximum_against_brute_force(seed):
    from scipy.optimize import minimize

    rng = np.random.default_rng(seed)
    p, w = random_shares(rng, 2 + seed % 5)
    alpha = rng.uniform(0.05, 0.95, 3)
    parts = alphamax._best_parts(p, w, alpha)
    for a, v in zip(alpha, parts, strict=True):
        assert (v >= 0).all()
        assert (v <= w).all()
        assert v.sum() == pytest.approx(a, rel=1e-11)
        searched = minimize(
            lambda x, a=a: -likelihood(x, p, w, a),
            a * w,
            method="SLSQP",
            bounds=[(1e-12, (1 - 1e-12) * most) for most in w],
            constraints={"type": "eq", "fun": lambda x, a=a: x.sum() - a},
            options={"ftol": 1e-13, "maxiter": 1000},
        )
        assert likelihood(v, p, w, a) >= -searched.fun - 1e-9
        assert likelihood(v, p, w, a) == pytest.approx(-searched.fun, abs=1e-6)


@pytest.mark.parametrize("bins", [1, 2, 7, 64])
def test_inner_maximum_meets_its_conditions(bins):
    """The problem is concave: one multiplier for all bins that are not full proves the maximum."""
    rng = np.random.default_rng(bins)
    alpha = np.concatenate([[1e-6, 1 - 1e-6], rng.uniform(0, 1, 40)])
    for _ in range(20):
        p, w = random_shares(rng, bins)
        w /= w.sum()
        for a, v in zip(alpha, alphamax._best_parts(p, w, alpha), strict=True):
            inside = (v < w) & (v > 0)
            slope = np.divide(p, v, out=np.zeros_like(p), where=v > 0) - w / np.maximum(w - v + a * p, 1e-300)
            assert v.sum() == pytest.approx(a, rel=1e-11)
            if inside.any():
                multiplier = np.median(slope[inside])
                assert slope[inside] == pytest.approx(multiplier, rel=1e-5, abs=1e-6)
                assert (slope[(v == w) & (p > 0)] >= multiplier - 1e-5 * (1 + abs(multiplier))).all()
                assert (slope[(v == 0) & (p == 0)] <= multiplier + 1e-5 * (1 + abs(multiplier))).all()


def test_profile_is_flat_up_to_the_least_ratio_and_then_falls():
    rng = np.random.default_rng(0)
    alpha = np.linspace(0.002, 0.998, 250)
    for bins in (2, 5, 20):
        p, w = random_shares(rng, bins)
        w /= w.sum()
        least = min(a / b for a, b in zip(w, p, strict=True) if b > 0)
        profile = alphamax._profile(p, w, alpha)
        assert profile[alpha <= least] == pytest.approx(0, abs=1e-12)
        assert (np.diff(profile[alpha > least]) < 0).all()
        assert (profile[alpha > least] < 0).all()


def test_profile_ends_at_both_divergences():
    p, w = np.array([0.2, 0.3, 0.5]), np.array([0.5, 0.3, 0.2])
    end = -np.sum(p * np.log(p / w)) - np.sum(w * np.log(w / p))
    assert alphamax._profile(p, w, np.array([1 - 1e-9]))[0] == pytest.approx(end, rel=1e-6)


def test_fall_is_measured_in_units_of_its_noise():
    """Twice the fall at the true α is a sum of squares of positive parts z of normals, for bins of positives.

    What these bins lack, the bin of the negatives takes up: (Σz)² times the ratio of their shares of P.
    """
    rng = np.random.default_rng(1)
    bins, draws, share = 8, 300, 0.025
    p_law, rest = np.append(np.full(bins, share), 1 - bins * share), np.append(np.zeros(bins), 1.0)
    lack = (bins / 2 + bins * (bins - 1) / (2 * np.pi)) * share / p_law[-1]
    for alpha, n_p, n_u in ((0.3, 40_000, 40_000), (0.1, 10_000, 10**6), (0.5, 10**6, 20_000)):
        at, falls = np.array([alpha]), []
        for _ in range(draws):
            p = rng.multinomial(n_p, p_law) / n_p
            w = rng.multinomial(n_u, alpha * p_law + (1 - alpha) * rest) / n_u
            falls.append(-2 * alphamax._profile(p, w, at)[0] * alphamax._unit(at, (n_p, n_u))[0])
        # Four standard errors, and a twentieth for what the quadratic neglects.
        tolerance = 4 * np.sqrt(1.25 * bins / draws) + 0.05 * bins / 2
        assert np.mean(falls) == pytest.approx(bins / 2 + lack, abs=tolerance)


@pytest.mark.parametrize("alpha", [0.003, 0.02, 0.3, 0.9, 0.99])
def test_without_noise_the_least_ratio(alpha):
    fitted = alphamax.fit_alphamax(population(alpha))
    assert fitted.value == pytest.approx(alpha, abs=2e-4)
    assert fitted.curve.chosen == fitted.value
    assert len(fitted.curve.x) == len(fitted.curve.y) == 100
    assert bool(fitted.notes) == (min(alpha, 1 - alpha) < 0.05)


@pytest.mark.parametrize("alpha", [0.02, 0.1, 0.3, 0.6, 0.9])
@pytest.mark.parametrize("apart", [3, 4])
def test_separated_normals(alpha, apart):
    rng = np.random.default_rng(2)
    n_p, n_u, draws = 1000, 10_000, 6
    error = [
        alphamax.fit_alphamax(samples(rng.normal(apart, 1, n_p), mixture(rng, n_u, alpha, apart))).value
        - alpha
        for _ in range(draws)
    ]
    assert np.mean(np.abs(error)) < one_bin_error(n_p, n_u, alpha) + 1 / n_u


def test_pure_positives_need_not_score_highest():
    rng = np.random.default_rng(3)
    anchored = samples(rng.uniform(0, 1, 1000), np.append(rng.uniform(0, 1, 3000), rng.uniform(0.5, 2, 7000)))
    assert alphamax.fit_alphamax(anchored).value == pytest.approx(
        0.3, abs=2 * one_bin_error(1000, 10_000, 0.3)
    )


@pytest.mark.parametrize("purity", [0.75, 0.95, 1.0])
@pytest.mark.parametrize("alpha", [0.1, 0.6])
def test_noisy_without_noise_in_the_samples(alpha, purity):
    a, r = alphamax.fit_noisy(population(alpha, purity))
    assert a.value == pytest.approx(alpha, abs=2e-3)
    assert r.value == pytest.approx(purity, abs=2e-3)
    assert a.curve.chosen == pytest.approx(alpha / purity, abs=1e-3)
    assert r.curve.chosen == pytest.approx((1 - purity) / (1 - alpha), abs=1e-3)


def test_unmixing_inverts_mixing():
    for alpha in (0.01, 0.4, 0.74):
        for purity in (0.75, 0.95, 1.0):
            found = alphamax._unmixed(alpha / purity, 1 - (1 - purity) / (1 - alpha))
            assert found[:2] == pytest.approx((alpha, purity), rel=1e-12)


def test_unmixing_is_defined_everywhere():
    share = np.concatenate([[0, 1e-300, 1e-17], np.linspace(0, 1, 21), [1 - 1e-16]])
    for a in share:
        for b in share:
            alpha, purity, _ = alphamax._unmixed(a, b)
            assert 0 <= alpha <= purity <= 1
    assert alphamax._unmixed(1.0, 0.0) == (1.0, 1.0, 0.0)


@pytest.mark.parametrize("purity", [0.75, 0.95, 1.0])
def test_noisy_by_simulation(purity):
    rng = np.random.default_rng(4)
    alpha, n_p, n_u = 0.3, 5000, 50_000
    found = np.array(
        [
            [
                part.value
                for part in alphamax.fit_noisy(
                    samples(mixture(rng, n_p, purity, 4), mixture(rng, n_u, alpha, 4))
                )
            ]
            for _ in range(6)
        ]
    )
    error = np.abs(found - [alpha, purity]).mean(axis=0)
    assert (error < one_bin_error(n_p, n_u, alpha)).all()


def test_purity_unknown_where_both_are_one_law():
    alike = samples(np.ones(50), np.ones(70))
    a, r = alphamax.fit_noisy(alike)
    assert a.value == r.value == 1
    for fitted in (a, r):
        assert any("identified" in note for note in fitted.notes)


RNG = np.random.default_rng(5)
ODD = {
    "one row": (samples([1.0], [1.0]), 1, 1),
    "one row above": (samples([1.0], [0.0]), 0, 1),
    "one row below": (samples([0.0], [1.0]), 0, 1),
    "constant": (samples(np.ones(50), np.ones(70)), 1, 1),
    "one law": (samples(RNG.normal(size=500), RNG.normal(size=5000)), 0.9, 1),
    "disjoint, above": (samples(RNG.normal(99, 1, 100), RNG.normal(0, 1, 1000)), 0, 0.005),
    "disjoint, below": (samples(RNG.normal(-99, 1, 100), RNG.normal(0, 1, 1000)), 0, 0.005),
    "two values": (samples(np.ones(100), np.repeat([0.0, 1.0], [700, 300])), 0.25, 0.45),
    "extreme": (samples([1e300, -1e300, 5e-324, 1.0], [1e300, 0, -1e300, 3.0]), 0, 1),
    "weights": (replace(population(0.3, n=1000.0), positive=F1 * 1e-200), 0.25, 0.4),
    "uneven weights": (replace(population(0.3), positive=np.array([1e-290, 0, 1e-9, 1])), 0, 1),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_samples_are_defined(name):
    odd, low, high = ODD[name]
    with warnings.catch_warnings(), np.errstate(divide="raise", invalid="raise", over="raise"):
        warnings.simplefilter("error")
        fitted = alphamax.fit_alphamax(odd)
        both = alphamax.fit_noisy(odd)
    assert low <= fitted.value <= high
    assert np.isfinite(fitted.curve.y).all()
    assert 0 <= both[0].value <= both[1].value <= 1


def test_neither_units_of_weight_nor_empty_scores_matter():
    rng = np.random.default_rng(6)
    plain = samples(rng.normal(2, 1, 300), mixture(rng, 3000, 0.3, 2))
    value = alphamax.fit_alphamax(plain).value
    heavy = replace(plain, positive=plain.positive * 8, unlabeled=plain.unlabeled / 4)
    assert alphamax.fit_alphamax(heavy).value == pytest.approx(value, abs=1e-12)
    sparse = replace(
        plain,
        score=np.arange(2.0 * len(plain.score)),
        positive=np.stack([plain.positive, 0 * plain.positive], axis=1).ravel(),
        unlabeled=np.stack([plain.unlabeled, 0 * plain.unlabeled], axis=1).ravel(),
    )
    assert alphamax.fit_alphamax(sparse).value == pytest.approx(value, abs=1e-12)


def test_one_bin_says_nothing(monkeypatch):
    monkeypatch.setattr(alphamax, "BINS_RANGE", (1, 1))
    assert alphamax.fit_alphamax(population(0.3, n=1000.0)).value == 1
