"""DEDPUL against slow implementations, closed forms and simulations."""

import numpy as np
import pytest

from halftruth.prior._samples import Samples
from halftruth.prior.estimators import _dedpul as dedpul
from halftruth.prior.estimators._dedpul import Ratio

from .made import samples as samples_of


def gaussian(rng, separation, alpha, n_positive, n_unlabeled):
    k = rng.binomial(n_unlabeled, alpha)
    unlabeled = np.append(rng.normal(separation, 1, k), rng.normal(0, 1, n_unlabeled - k))
    return samples_of(rng.normal(separation, 1, n_positive), unlabeled)


def anchored(rng, alpha, n_positive, n_unlabeled):
    """Half of the positives score above every negative."""
    k = rng.binomial(n_unlabeled, alpha)
    unlabeled = np.append(rng.uniform(1, 3, k), rng.uniform(0, 2, n_unlabeled - k))
    return samples_of(rng.uniform(1, 3, n_positive), unlabeled)


def slow_ratio(samples):
    """f_P/f_U at every unlabeled score, by a sum over all pairs of rows."""
    pooled = (samples.p + samples.u) / 2
    rank = np.cumsum(pooled) - pooled / 2
    x = np.log(rank / (1 - rank))
    spread = np.sqrt(samples.p @ (x - samples.p @ x) ** 2)
    low, high = x[np.searchsorted(np.cumsum(samples.p), [0.25, 0.75])]
    width = 0.9 * min(spread, (high - low) / 1.34) * min(samples.n_positive, samples.n_unlabeled) ** -0.2
    at = samples.u > 0
    kernel = np.exp(-(((x[at][:, None] - x) / width) ** 2) / 2)
    return Ratio(kernel @ samples.p / (kernel @ samples.u), samples.u[at])


def slow_monotone(ratio):
    """Isotonic regression by its minimax formula."""
    weight, total = np.cumsum(np.append(0, ratio.mass)), np.cumsum(np.append(0, ratio.mass * ratio.r))
    n = len(ratio.r)
    fitted = [
        max(
            min((total[j] - total[i]) / (weight[j] - weight[i]) for j in range(k + 1, n + 1))
            for i in range(k + 1)
        )
        for k in range(n)
    ]
    return np.array(fitted)


def test_binning_keeps_mass_and_its_centre():
    rng = np.random.default_rng(11)
    place, mass = (
        np.append(rng.uniform(0, dedpul.GRID - 1, 50), dedpul.GRID - 1.0),
        rng.dirichlet(np.ones(51)),
    )
    binned = dedpul._binned(place, mass)
    assert binned.sum() == pytest.approx(1)
    assert binned @ np.arange(dedpul.GRID) == pytest.approx(mass @ place)


@pytest.mark.parametrize("alpha", [0.1, 0.6])
def test_binned_densities_match_the_sum_over_all_pairs(alpha):
    samples = gaussian(np.random.default_rng(0), 1.5, alpha, 300, 2000)
    slow, fast = slow_ratio(samples), dedpul.density_ratio(samples)
    for a in (0.01, 0.1, 0.5, 1.0):
        expected, got = (ratio.mass @ np.minimum(1, a * ratio.r) for ratio in (slow, fast))
        assert got == pytest.approx(expected, rel=0.005)
    # Pointwise too: quantiles of the ratio over U, away from its ends.
    for share in (0.25, 0.5, 0.75, 0.95):
        low, high = (
            np.sort(ratio.r)[np.searchsorted(np.cumsum(ratio.mass[np.argsort(ratio.r)]), share)]
            for ratio in (slow, fast)
        )
        assert high == pytest.approx(low, rel=0.03)


def test_discrepancy_of_the_slow_path_is_the_curve():
    samples = gaussian(np.random.default_rng(1), 2, 0.3, 60, 240)
    slow = slow_ratio(samples)
    r = slow_monotone(slow)
    curve = dedpul.fit_dedpul(samples).curve
    expected = [a - slow.mass @ np.minimum(1, a * r) for a in curve.x]
    # Quartiles of 60 positives, for the bandwidth, are read off the grid here and off the rows there.
    assert curve.y == pytest.approx(np.array(expected), rel=0.02, abs=1e-4)
    assert curve.y.max() > 0.1


def test_isotonic_ratio_is_the_minimax_one():
    rng = np.random.default_rng(2)
    ratio = Ratio(rng.exponential(size=40) * np.linspace(0.5, 2, 40), rng.dirichlet(np.ones(40)))
    assert dedpul.monotone(ratio).r == pytest.approx(slow_monotone(ratio))


def em_of_the_authors(ratio, tolerance):
    """In their convention: the negatives' share, from 0, by posteriors 1 − r(1 − share) cut at 0."""
    share = 0.0
    while True:
        update = ratio.mass @ np.maximum(0, 1 - ratio.r * (1 - share))
        if abs(update - share) <= tolerance:
            return 1 - share
        share = update


@pytest.mark.parametrize("mean", [0.9, 1.0, 1.1])
def test_em_stops_where_the_published_iteration_stops(mean):
    rng = np.random.default_rng(3)
    mass = rng.dirichlet(np.ones(50))
    r = np.sort(rng.exponential(size=50))
    ratio = Ratio(r * mean / (mass @ r), mass)
    trial = dedpul._trials()
    got = dedpul._em(trial, dedpul.discrepancy(trial, ratio))
    # Its last step, by at most the slope 1 − mean at 0, may go beyond the point where it could have stopped.
    assert 0.98 * min(mean, 1) * got <= em_of_the_authors(ratio, dedpul.TOLERANCE) <= 1.02 * got


def test_em_of_an_exact_anchored_ratio_is_the_prior_and_one_bad_score_ruins_it():
    alpha = 0.3
    exact = Ratio(np.array([0.0, 1 / alpha]), np.array([1 - alpha, alpha]))
    trial = dedpul._trials()
    gap = dedpul.discrepancy(trial, exact)
    assert gap[trial < alpha] == pytest.approx(0, abs=1e-12)
    assert gap[trial > alpha] == pytest.approx(trial[trial > alpha] - alpha)
    assert dedpul._em(trial, gap) == pytest.approx(alpha, rel=0.02)
    assert dedpul._sharpest_bend(trial, gap, exact) == pytest.approx(alpha)

    bad = Ratio(np.array([0.0, 1 / alpha, 10 / alpha]), np.array([1 - alpha, alpha * 0.98, alpha * 0.002]))
    gap = dedpul.discrepancy(trial, bad)
    assert dedpul._em(trial, gap) < alpha / 9
    assert dedpul._sharpest_bend(trial, gap, bad) == pytest.approx(alpha)


@pytest.mark.parametrize("alpha", [0.02, 0.1, 0.3, 0.6])
@pytest.mark.parametrize("n_positive", [2_000, 20_000])
def test_prior_of_anchored_classes(alpha, n_positive):
    fit = dedpul.fit_dedpul(anchored(np.random.default_rng(4), alpha, n_positive, 10 * n_positive))
    # The count of rows above every negative: half of the positives in P and in U. Four standard errors.
    error = alpha * np.sqrt(2 / n_positive + 2 / (alpha * 10 * n_positive))
    assert fit.value == pytest.approx(alpha, abs=4 * error)


def test_the_bend_stands_where_em_collapses():
    fit = dedpul.fit_dedpul(anchored(np.random.default_rng(5), 0.3, 2_000, 20_000))
    stopped = fit.curve.x[fit.curve.y <= dedpul.TOLERANCE].max()
    assert stopped < 0.1 < 0.25 < fit.value
    assert "bend" in fit.notes[0]


def test_overlapping_classes_bias_it_upwards(draws):
    rng = np.random.default_rng(6)
    value = [dedpul.fit_dedpul(gaussian(rng, 1.5, 0.1, 100, 1000)).value for _ in range(draws(30))]
    assert np.mean(value) - 0.1 > 3 * np.std(value) / np.sqrt(len(value))
    assert np.mean(value) < 0.3


def test_curve_is_convex_from_zero_and_holds_the_choice():
    fit = dedpul.fit_dedpul(gaussian(np.random.default_rng(7), 2, 0.3, 500, 5000))
    x, y = fit.curve.x, fit.curve.y
    assert x[-1] == 1
    assert (np.diff(np.diff(y) / np.diff(x)) > -1e-9).all()
    assert abs(y[0]) <= x[0]
    assert fit.curve.chosen == fit.value


@pytest.mark.parametrize(
    "transform", [np.exp, lambda s: s**3, lambda s: 1e300 * np.tanh(s), lambda s: 5e-310 * s]
)
def test_only_the_order_of_scores_matters(transform):
    rng = np.random.default_rng(8)
    p, u = np.round(rng.normal(1, 1, 200), 2), np.round(rng.normal(0, 1, 2000), 2)
    expected = dedpul.fit_dedpul(samples_of(p, u)).value
    assert dedpul.fit_dedpul(samples_of(transform(p), transform(u))).value == expected


def test_scores_without_mass_and_the_unit_of_weight_change_nothing():
    s = gaussian(np.random.default_rng(9), 2, 0.3, 200, 2000)
    n = {"n_positive": s.n_positive, "n_unlabeled": s.n_unlabeled}
    zero = np.zeros(1)
    padded = Samples(
        score=np.concatenate([[s.score[0] - 1], s.score, [s.score[-1] + 1]]),
        positive=np.concatenate([zero, s.positive * 3.7, zero]),
        unlabeled=np.concatenate([zero, s.unlabeled * 0.1, zero]),
        **n,
    )
    assert dedpul.fit_dedpul(padded).value == pytest.approx(dedpul.fit_dedpul(s).value, rel=1e-6)


rng = np.random.default_rng(10)
UNIFORM = rng.uniform(0, 1, 2000)
CASES = {
    "one row each, apart": ([1.0], [0.0], 0, 0.01),
    "one row each, reversed": ([0.0], [1.0], 0, 0.01),
    "one row each, equal": ([1.0], [1.0], 1, 1),
    "constant": ([2.0] * 9, [2.0] * 50, 1, 1),
    "above": (2 + UNIFORM[:200], UNIFORM, 0, 0.01),
    "below": (UNIFORM[:200] - 2, UNIFORM, 0, 0.01),
    "one law": (rng.normal(size=2000), rng.normal(size=20_000), 0.95, 1),
    "equal rows": (UNIFORM, UNIFORM, 0.999, 1),
    "extreme scores": ([1e300, -1e300, 5e-324], [1e300, 0.0, -1e300], 0, 1),
    "ties": ([1.0, 2.0] * 500, [0.0, 1.0, 2.0, 0.0] * 500, 0.45, 0.55),
}


@pytest.mark.parametrize("case", CASES)
def test_defined_for(case):
    positive, unlabeled, low, high = CASES[case]
    fit = dedpul.fit_dedpul(samples_of(np.asarray(positive), np.asarray(unlabeled)))
    assert low <= fit.value <= high
    assert np.isfinite(fit.curve.y).all()
