"""Draws by tempering: known posteriors, within the error of so many draws."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta, kstest

from halftruth.prior.estimators._auto import _into_cube, draw_posterior

N = 2000
SEEDS = range(6)
# Draws that came from one parent are alike, so that their error is larger than that of N independent ones.
LOOSE = 4 * 1.5


def drawn(log_likelihood, n_parameters, seed, n=N):
    def watched(cube):
        assert cube.shape == (n, n_parameters)
        assert ((cube >= 0) & (cube <= 1)).all()
        return log_likelihood(cube)

    return draw_posterior(watched, n_parameters, n, np.random.default_rng(seed))


def binomial(k, m):
    return lambda cube: k * np.log(cube[:, 0] + 1e-300) + (m - k) * np.log1p(-cube[:, 0] * (1 - 1e-16))


@pytest.mark.parametrize(("k", "m"), [(0, 20), (30, 100), (9_990, 10_000)])
def test_a_binomial_sample_gives_the_beta_posterior(k, m):
    law = beta(k + 1, m - k + 1)
    draws = np.concatenate([drawn(binomial(k, m), 3, seed)[0] for seed in SEEDS])
    error = LOOSE / np.sqrt(len(draws))
    assert abs(draws[:, 0].mean() - law.mean()) < error * law.std()
    assert draws[:, 0].std() == pytest.approx(law.std(), rel=error)
    assert np.abs(law.cdf(np.quantile(draws[:, 0], [0.025, 0.5, 0.975])) - [0.025, 0.5, 0.975]).max() < error
    for other in (1, 2):
        assert abs(draws[:, other].mean() - 0.5) < error * np.sqrt(1 / 12)
        assert kstest(draws[:, other], "uniform").statistic < error


def test_two_modes_keep_their_masses():
    def two(cube):
        near, far = (
            mass / spread * np.exp(-(((cube[:, 0] - middle) / spread) ** 2) / 2)
            for mass, middle, spread in ((0.3, 0.2, 0.02), (0.7, 0.8, 0.03))
        )
        return np.log(near + far + 1e-300)

    draws = np.concatenate([drawn(two, 3, seed)[0][:, 0] for seed in SEEDS])
    low = draws < 0.5
    assert abs(low.mean() - 0.3) < LOOSE * np.sqrt(0.21 / len(draws))
    for part, middle, spread in ((draws[low], 0.2, 0.02), (draws[~low], 0.8, 0.03)):
        assert abs(part.mean() - middle) < LOOSE * spread / np.sqrt(len(part))
        assert part.std() == pytest.approx(spread, rel=0.1)


@pytest.mark.parametrize("sign", [-1, 1])
def test_a_posterior_at_the_edge_of_the_cube_is_not_pushed_away_from_it(sign):
    draws = np.concatenate([drawn(lambda cube: sign * 50 * cube[:, 0], 2, seed)[0][:, 0] for seed in SEEDS])
    from_edge = draws if sign < 0 else 1 - draws
    assert abs(from_edge.mean() - 1 / 50) < LOOSE / 50 / np.sqrt(len(draws))
    assert abs((from_edge < 0.001).mean() - (1 - np.exp(-0.05))) < LOOSE * np.sqrt(0.05 / len(draws))


def test_a_narrow_ridge_is_covered_along_its_length():
    draws = np.concatenate(
        [drawn(lambda cube: -(((cube[:, 0] - cube[:, 1]) / 0.01) ** 2) / 2, 2, seed)[0] for seed in SEEDS]
    )
    assert abs(draws[:, 0].mean() - 0.5) < 0.02
    assert draws[:, 0].std() == pytest.approx(np.sqrt(1 / 12), rel=0.05)
    assert (draws[:, 0] - draws[:, 1]).std() == pytest.approx(0.01, rel=0.05)


def test_without_a_likelihood_draws_are_uniform():
    draws, fit = drawn(lambda cube: np.zeros(len(cube)), 2, 0)
    assert (fit == 0).all()
    assert max(kstest(column, "uniform").statistic for column in draws.T) < LOOSE / np.sqrt(N)


def test_a_sharp_posterior_is_found():
    draws, _ = drawn(lambda cube: -1e10 * ((cube - [0.123, 0.9]) ** 2).sum(axis=1), 2, 0)
    spread = np.sqrt(1 / 2e10)
    assert np.abs(draws.mean(axis=0) - [0.123, 0.9]).max() < 1 * spread
    assert draws.std(axis=0) == pytest.approx([spread] * 2, rel=0.3)


def test_likelihoods_returned_are_those_of_the_draws():
    draws, fit = drawn(binomial(3, 10), 2, 1)
    np.testing.assert_array_equal(fit, binomial(3, 10)(draws))


def test_same_seed_same_draws():
    one, two, other = (drawn(binomial(3, 10), 2, seed)[0] for seed in (5, 5, 6))
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, other)


def test_reflection_folds_the_line_into_the_cube():
    x = np.asarray([-0.3, 1.2, 2.4, -1.7, 0.0, 1.0, 3.5, -4.25])
    np.testing.assert_allclose(_into_cube(x), [0.3, 0.8, 0.4, 0.3, 0.0, 1.0, 0.5, 0.25])


@pytest.mark.parametrize("size", [0.01, 0.3, 2.0])
def test_reflected_steps_leave_the_uniform_law(size):
    rng = np.random.default_rng(3)
    x = rng.random(20_000)
    for _ in range(3):
        x = _into_cube(x + size * rng.standard_normal(len(x)))
    assert kstest(x, "uniform").pvalue > 1e-3
