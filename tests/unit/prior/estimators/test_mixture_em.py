"""EM under label shift: its fixed point with negatives, and the tilt that identifies α without them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from halftruth.prior.estimators import _mixture as em

from .made import samples


def gaussian(rng, alpha, sizes, separation=2.0, spread=1.0, change=lambda x: x):
    n_positive, n_unlabeled, *n_negative = sizes
    is_positive = rng.random(n_unlabeled) < alpha
    unlabeled = np.where(
        is_positive, rng.normal(separation, spread, n_unlabeled), rng.normal(0, 1, n_unlabeled)
    )
    negative = change(rng.normal(0, 1, n_negative[0])) if n_negative else None
    return samples(change(rng.normal(separation, spread, n_positive)), change(unlabeled), negative)


def iterated(positive, negative, unlabeled, rounds=20_000):
    """EM as Saerens et al. write it: posteriors of the unlabeled, then their mean."""
    alpha = 0.5
    for _ in range(rounds):
        posterior = alpha * positive / (alpha * positive + (1 - alpha) * negative)
        alpha = unlabeled @ posterior / unlabeled.sum()
    return alpha


@pytest.mark.parametrize("seed", range(5))
def test_the_root_of_the_score_equation_is_the_fixed_point_of_em(seed):
    rng = np.random.default_rng(seed)
    positive, negative = rng.dirichlet(np.ones(6), 2)
    unlabeled = rng.dirichlet(np.ones(6))
    assert em.mixing_share(positive, negative, unlabeled) == pytest.approx(
        iterated(positive, negative, unlabeled), abs=1e-3
    )
    alpha = 0.37
    exact = alpha * positive + (1 - alpha) * negative
    assert em.mixing_share(positive, negative, exact) == pytest.approx(alpha, abs=1e-9)


def test_the_share_is_at_an_end_where_the_likelihood_rises_to_it():
    positive, negative = np.array([0.1, 0.9]), np.array([0.6, 0.4])
    assert em.mixing_share(positive, negative, np.array([0.05, 0.95])) == 1.0
    assert em.mixing_share(positive, negative, np.array([0.7, 0.3])) == 0.0


@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.9])
def test_with_negatives_it_is_consistent(alpha):
    rng = np.random.default_rng(1)
    fit = em.fit_em(gaussian(rng, alpha, (20_000, 50_000, 20_000)))
    # Separation 2: the standard error is below .005.
    assert fit.value == pytest.approx(alpha, abs=0.02)
    assert fit.curve.x[fit.curve.y.argmax()] == pytest.approx(fit.value, abs=0.01)


def test_with_negatives_only_the_order_of_scores_matters():
    rng = np.random.default_rng(2)
    s = gaussian(rng, 0.3, (200, 1000, 200))
    assert em.fit_em(replace(s, score=np.exp(s.score))).value == em.fit_em(s).value


@pytest.mark.parametrize("alpha", [0.1, 0.3, 0.6])
@pytest.mark.parametrize("change", [lambda x: x, lambda x: expit(2 * x - 2)], ids=["margin", "probability"])
def test_without_negatives_it_is_consistent_where_the_tilt_is_true(alpha, change):
    rng = np.random.default_rng(3)
    found = [em.fit_em(gaussian(rng, alpha, (2_000, 20_000), change=change)).value for _ in range(8)]
    # One fit has a standard deviation of at most .016 here.
    assert np.mean(found) == pytest.approx(alpha, abs=4 * 0.016 / np.sqrt(8))


def test_its_likelihood_is_that_of_a_direct_maximisation():
    s = gaussian(np.random.default_rng(4), 0.4, (40, 60))
    z, p, u = s.score, s.positive, s.unlabeled

    def loss(theta):
        odds = u.sum() / p.sum() * (expit(theta[0]) + np.exp(theta[1] - theta[2] * z))
        return -(u @ np.log(odds) - (u + p) @ np.log1p(odds))

    best = min(
        (minimize(loss, [a, 0.0, 1.0], method="Nelder-Mead", options={"maxiter": 4000}) for a in (-2, 0, 2)),
        key=lambda r: r.fun,
    )
    assert em.fit_em(s).value == pytest.approx(expit(best.x[0]), abs=0.005)


@pytest.mark.parametrize(("spread", "side"), [(2.0, -1), (0.5, 1)])
def test_without_negatives_a_wrong_form_biases_it_at_any_size(spread, side):
    rng = np.random.default_rng(5)
    found = em.fit_em(gaussian(rng, 0.3, (20_000, 200_000), spread=spread)).value
    assert side * (found - 0.3) > 0.02


def test_without_negatives_the_scale_of_margins_is_free_but_not_their_shape():
    s = gaussian(np.random.default_rng(6), 0.3, (500, 2000))
    at = em.fit_em(s).value
    for factor in (1e-310, 1e300):
        assert em.fit_em(replace(s, score=factor * s.score)).value == pytest.approx(at, abs=0.005)
    assert abs(em.fit_em(replace(s, score=np.exp(s.score) - 1)).value - at) > 0.05


def test_one_law_gives_one_and_disjoint_samples_give_zero():
    rng = np.random.default_rng(7)
    same = [em.fit_em(samples(rng.normal(size=300), rng.normal(size=900))) for _ in range(40)]
    # The test that stands behind it has level 5%.
    assert sum(fit.value == 1 for fit in same) >= 33
    assert any("any share" in fit.notes[-1] for fit in same)
    for shift in (30, -30):
        assert em.fit_em(samples(rng.normal(shift, 1, 100), rng.normal(size=300))).value < 0.01


HOSTILE = {
    "one row": (np.array([1.0]), np.array([0.0])),
    "constant": (np.ones(9), np.ones(5)),
    "ends of [0, 1]": (np.array([0.0, 1, 1]), np.array([0.0, 0, 1, 1])),
    "huge": (np.array([-1e300, 1e300, 3]), np.array([1e300, 0, -1e-310])),
    "denormal": (np.array([5e-324, 1e-310]), np.array([0.0, 1e-320])),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_it_is_defined_on_hostile_scores(case):
    p, u = HOSTILE[case]
    for negative in (None, u, p, np.array([0.5])):
        fit = em.fit_em(samples(p, u, negative))
        assert 0 <= fit.value <= 1
        assert np.isfinite(fit.curve.y).all()


def test_scores_without_mass_change_nothing():
    s = gaussian(np.random.default_rng(8), 0.3, (60, 60, 60))
    empty = np.zeros(1)

    def padded(x):
        return np.concatenate([empty, x, empty])

    wide = replace(
        s,
        score=np.concatenate([[s.score[0] - 1], s.score, [s.score[-1] + 1]]),
        positive=padded(s.positive),
        unlabeled=padded(s.unlabeled),
        negative=padded(s.negative),
    )
    assert em.fit_em(wide).value == pytest.approx(em.fit_em(s).value, abs=1e-9)
    assert em.presence_only(wide).value == pytest.approx(em.presence_only(s).value, abs=1e-3)
