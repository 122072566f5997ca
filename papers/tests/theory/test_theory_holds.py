"""The bounds hold in simulations that meet their assumptions; where a claim does not hold, that is what is tested."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
from scipy import optimize, special, stats

import halftruth as ht
from halftruth.calibration._binomial_process import fit_curve
from halftruth_papers import theory

SETTINGS = {"less calibrated": (-0.5, 1.5), "better calibrated": (-0.2, 1.9), "calibrated": (0.0, 2.0)}
SIZES = [(50, 100), (500, 1_000), (30, 3_000)]
N_BINS = (2, 8, 40)
BINNINGS = ("mass", "width")


def largest_slope(beta0, beta1):
    """The Lipschitz constant of E[Y | score] where P(Y=1 | x) = σ(2x) and the score is σ(β₀ + β₁ x), β₁ ≤ 2.

    Along the score it is (2/β₁) σ'(2x)/σ'(β₀ + β₁x), with σ'(z) = 1/(4 cosh²(z/2)); its logarithm is stationary where
    2 tanh(x) = β₁ tanh((β₀ + β₁x)/2).
    """

    def log_slope(x):
        return math.log(2 / beta1) + 2 * (log_cosh((beta0 + beta1 * x) / 2) - log_cosh(x))

    def log_cosh(x):
        return np.logaddexp(x, -x) - math.log(2)

    def steepening(x):
        return beta1 * np.tanh((beta0 + beta1 * x) / 2) - 2 * np.tanh(x)

    grid = np.linspace(-30, 30, 60_001)
    sign = np.sign(steepening(grid))
    roots = [
        optimize.brentq(steepening, grid[i], grid[i + 1]) for i in np.flatnonzero(sign[:-1] * sign[1:] < 0)
    ]
    # The ends of the score, x → ±∞, count as well: for β₁ = 2 the slope tends to e^±β₀ there.
    return float(np.exp(max(log_slope(x) for x in [*roots, -30.0, 30.0])))


def test_the_slope_is_that_of_the_curve():
    for beta0, beta1 in [*SETTINGS.values(), (0.3, 1.2)]:
        score = np.linspace(1e-6, 1 - 1e-6, 2_000_001)
        chance = special.expit(2 * (special.logit(score) - beta0) / beta1)
        by_differences = np.max(np.diff(chance) / np.diff(score))
        assert largest_slope(beta0, beta1) == pytest.approx(by_differences, rel=1e-4)
    assert largest_slope(0.0, 2.0) == pytest.approx(1, rel=1e-12)
    assert largest_slope(-0.4, 2.0) == pytest.approx(math.exp(0.4), rel=1e-9)


@functools.cache
def biases(setting, sizes, n_draws):
    """|PU-ECE − TCE| of fresh samples, by (number of bins, binning)."""
    model = ht.simulate.logistic_model(*SETTINGS[setting])
    truth = model.truth("calibration_error")
    rng = np.random.default_rng([6, list(SETTINGS).index(setting), *sizes])
    out = {(n_bins, binning): np.empty(n_draws) for n_bins in N_BINS for binning in BINNINGS}
    for draw in range(n_draws):
        evidence = model.positive_unlabeled(*sizes, rng)
        for n_bins, binning in out:
            estimate = ht.calibration_error(evidence, n_bins=n_bins, binning=binning)
            out[n_bins, binning][draw] = abs(estimate - truth)
    return out


def bound_of(setting, sizes, n_bins, binning, level=None):
    slope = largest_slope(*SETTINGS[setting])
    return float(
        theory.bias_bound(*sizes, 0.5, n_bins, lipschitz=slope, binning=binning, confidence_level=level)
    )


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("sizes", SIZES)
def test_theorem_1_holds(setting, sizes, draws):
    n = draws(500)
    for (n_bins, binning), bias in biases(setting, sizes, n).items():
        assert bias.mean() <= bound_of(setting, sizes, n_bins, binning)
        for level in (0.05, 0.5, 0.95):
            exceeded = np.sum(bias > bound_of(setting, sizes, n_bins, binning, level))
            # At most δ: not more than a binomial count of that chance has once in a million.
            assert exceeded <= stats.binom.isf(1e-6, n, 1 - level)


@pytest.mark.slow
def test_theorem_1_is_of_the_right_order(draws):
    """Where noise dominates, the mean is half of the bound of equal width: a bound by half would be broken."""
    bias = biases("calibrated", (30, 3_000), draws(500))
    width, mass = (bias[40, b].mean() / bound_of("calibrated", (30, 3_000), 40, b) for b in ("width", "mass"))
    assert 0.45 < width < 0.6  # .52
    assert 0.3 < mass < 0.45  # .36


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
def test_at_practical_sizes_the_bound_exceeds_the_error_itself(setting, draws):
    """A thousand known positives, ten thousand unlabeled: the bound is above TCE, and far above the bias."""
    model = ht.simulate.logistic_model(*SETTINGS[setting])
    rng = np.random.default_rng(7)
    for binning in BINNINGS:
        best = theory.best_bins(
            1_000, 10_000, 0.5, lipschitz=largest_slope(*SETTINGS[setting]), binning=binning
        )
        truth = model.truth("calibration_error")
        bias = [
            abs(
                ht.calibration_error(model.positive_unlabeled(1_000, 10_000, rng), best.n_bins, binning)
                - truth
            )
            for _ in range(draws(50))
        ]
        assert best.bound.informative
        assert best.bound.value > 2 * truth
        assert np.mean(bias) < best.bound.value / 3


# Theorem 3 -------------------------------------------------------------------------------------------------

CLASS = [(beta0, beta1) for beta0 in np.linspace(-0.5, 0.5, 5) for beta1 in np.linspace(1.2, 2.0, 5)]


@functools.cache
def truths():
    """TCE of each function of the class."""
    return np.array([ht.simulate.logistic_model(*b).truth("calibration_error") for b in CLASS])


def errors_on(positive, unlabeled, n_bins, binning):
    """PU-ECE of each function of the class on the same rows."""
    return np.array(
        [
            ht.calibration_error(
                ht.PositiveUnlabeled(
                    special.expit(b0 + b1 * positive), special.expit(b0 + b1 * unlabeled), prior=0.5
                ),
                n_bins=n_bins,
                binning=binning,
            )
            for b0, b1 in CLASS
        ]
    )


@pytest.mark.slow
@pytest.mark.parametrize("binning", BINNINGS)
@pytest.mark.parametrize("chosen", ["least error", "most error", "most mistaken"])
def test_theorem_3_holds_for_a_finite_class(binning, chosen, draws):
    """One of 25 functions chosen on the rows that PU-ECE is computed from, even by an adversary who knows the truth."""
    n_positive, n_unlabeled, n_bins = 1_000, 4_000, 12
    slope = max(largest_slope(*b) for b in CLASS)
    bound = theory.generalization_bound(
        n_positive,
        n_unlabeled,
        0.5,
        n_bins,
        lipschitz=slope,
        fcmi=theory.fcmi_finite(len(CLASS)),
        binning=binning,
    )
    rng = np.random.default_rng(8)
    bias = []
    for _ in range(draws(60)):
        positive = rng.normal(1, 1, n_positive)
        unlabeled = rng.normal(rng.choice([-1, 1], n_unlabeled), 1)
        errors = errors_on(positive, unlabeled, n_bins, binning)
        gap = np.abs(errors - truths())
        by = {"least error": -errors, "most error": errors, "most mistaken": gap}[chosen]
        bias.append(gap[np.argmax(by)])
    assert np.mean(bias) <= float(bound)
    assert bound.informative


# BPM's Theorem 4 -------------------------------------------------------------------------------------------

LAWS = {
    "apart": (2, 4, 4, 2, 0.5),
    "asymmetric": (1, 2, 2, 1, 0.3),
    "nearly alike": (5, 5.2, 5.2, 5, 0.5),
    "at the ends": (0.5, 2, 3, 0.2, 0.8),
}
"""Beta laws of the scores of negatives and positives, and the prior: the curve is in the family."""


def drawn(law, n, rng):
    a0, b0, a1, b1, prior = law
    y = rng.random(n) < prior
    return np.where(y, rng.beta(a1, b1, n), rng.beta(a0, b0, n)), y.astype(float)


def chance(law, s):
    """P(Y=1 | s) by Bayes' rule."""
    a0, b0, a1, b1, prior = law
    return special.expit(special.logit(prior) + stats.beta.logpdf(s, a1, b1) - stats.beta.logpdf(s, a0, b0))


def by_likelihood(s, y):
    """The beta curve of greatest likelihood with a, b ≥ 0, as a function."""
    terms = np.column_stack([np.log(s), -np.log1p(-s), np.ones_like(s)])

    def loss(theta):
        z = terms @ theta
        return np.logaddexp(0, z).sum() - y @ z, terms.T @ (special.expit(z) - y)

    limits = [(0, 50), (0, 50), (-50, 50)]
    a, b, c = optimize.minimize(loss, [1.0, 1.0, 0.0], jac=True, method="L-BFGS-B", bounds=limits).x
    return lambda at: special.expit(a * np.log(at) - b * np.log1p(-at) + c)


def by_algorithm_1(s, y):
    return fit_curve(ht.Labeled(y, s))


def mean_errors(law, n, n_draws, fit, rng):
    """E|g(S) − P(Y=1 | S)| of curves fitted to n rows."""
    at = np.clip(drawn(law, 2_000, rng)[0], 1e-9, 1 - 1e-9)
    truth = chance(law, at)
    out = np.empty(n_draws)
    for draw in range(n_draws):
        s, y = drawn(law, n, rng)
        out[draw] = np.abs(fit(np.clip(s, 1e-9, 1 - 1e-9), y)(at) - truth).mean()
    return out


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("fit", [by_likelihood, by_algorithm_1])
@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0.05, 0.05), (0.1, 0.05), (0.1, 0.3), (0.1, 0.5), (0.1, 0.9)]
)
def test_theorem_4_holds_where_there_are_rows_enough(law, fit, epsilon, delta, draws):
    n, n_draws = theory.bpm_sample_size(epsilon, delta), draws(150)
    rng = np.random.default_rng([9, list(LAWS).index(law), n])
    errors = mean_errors(LAWS[law], n, n_draws, fit, rng)
    failed = np.sum(errors > epsilon)
    if delta > 0.5:  # 16 rows: no more than δ
        assert failed <= stats.binom.isf(1e-6, n_draws, delta)
    else:  # with much room: at most a fifth of δ, and an error of about half of ε or less
        assert failed <= stats.binom.isf(1e-6, n_draws, delta / 5)
        assert errors.mean() < 0.6 * epsilon


@pytest.mark.parametrize("fit", [by_likelihood, by_algorithm_1])
def test_theorem_4_fails_where_it_asks_for_fewer_rows_than_parameters(fit):
    """ε = .1, δ = .999 asks for one row, of which one in a thousand should do: none does, whatever the row."""
    assert theory.bpm_sample_size(0.1, 0.999) == 1
    law = LAWS["apart"]
    at = drawn(law, 2_000, np.random.default_rng(10))[0]
    for s in np.linspace(0.01, 0.99, 50):
        for y in (0.0, 1.0):
            curve = fit(np.array([s]), np.array([y]))
            assert np.abs(curve(at) - chance(law, at)).mean() > 0.1


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
def test_a_curve_needs_three_bths_of_the_rows_of_b_bins(law, draws):
    """The claim of the paper in numbers; and that neither bound is near what is needed."""
    epsilon, delta, n_bins = 0.05, 0.05, 15
    few = theory.bpm_sample_size(epsilon, delta)
    many = theory.histogram_sample_size(epsilon, delta, n_bins)

    def by_bins(s, y):
        parts = np.array_split(np.argsort(s), n_bins)
        edges, shares = [s[part[-1]] for part in parts[:-1]], np.array([y[part].mean() for part in parts])
        return lambda at: shares[np.searchsorted(edges, at)]

    rng = np.random.default_rng([11, list(LAWS).index(law)])
    curve, bins, few_bins = (
        mean_errors(LAWS[law], n, draws(60), fit, rng).mean()
        for n, fit in ((few, by_likelihood), (many, by_bins), (few, by_bins))
    )
    assert curve < bins  # five times the rows do not make up for fifteen parameters
    assert few_bins < epsilon  # yet fifteen bins do not need them to be within ε in the mean
