"""Debiased calibration errors: where they must not depend on what should not matter; bounds beside them."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import halftruth as ht
from halftruth.calibration import _binned_errors

MODEL = ht.simulate.logistic_model()
DRAW = MODEL.draw(2000, rng=0)
PU = MODEL.draw_strata(200, 2000, rng=0)
HOW = [{"debias": "corrected"}, {"debias": "corrected", "norm": 2}, {"debias": "posterior"}]
DEBIASED = partial(ht.calibration_error, debias=True)


@pytest.mark.parametrize("given", [*HOW, {"debias": False}], ids=str)
@pytest.mark.parametrize("scale", [1 / 2000, 0.3, 17.5])
def test_of_weights_that_are_no_counts_only_the_proportions_matter(given, scale) -> None:
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 2000)
    one, other = (ht.Labeled(DRAW.y, DRAW.score, sample_weight=w) for w in (weight, scale * weight))
    found, again = (ht.calibration_error(e, n_bins=10, **given) for e in (one, other))
    assert found == pytest.approx(again, rel=1e-9)
    even = ht.Labeled(DRAW.y, DRAW.score, sample_weight=np.full(2000, scale))
    plain = ht.calibration_error(ht.Labeled(DRAW.y, DRAW.score), n_bins=10, **given)
    assert ht.calibration_error(even, n_bins=10, **given) == pytest.approx(plain, rel=1e-9)


def test_the_sweep_does_not_depend_on_the_scale_of_weights() -> None:
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 2000)
    one, other = (ht.Labeled(DRAW.y, DRAW.score, sample_weight=w) for w in (weight, weight / 2000))
    found = ht.sweep_calibration_error(one)
    assert ht.sweep_calibration_error(other) == pytest.approx(found, rel=1e-9)
    assert found > 1.2 * ht.calibration_error(one, n_bins=1)


def test_positives_and_unlabeled_with_weights_on_another_scale() -> None:
    p, u = PU.positive.score, PU.unlabeled.score
    rng = np.random.default_rng(1)
    of_p, of_u = rng.uniform(0.5, 2.0, len(p)), rng.uniform(0.5, 2.0, len(u))

    def error(one: float, other: float) -> float:
        evidence = ht.PositiveUnlabeled(
            p, u, prior=0.5, positive_weight=one * of_p, unlabeled_weight=other * of_u
        )
        return float(ht.calibration_error(evidence, debias=True))

    assert error(1 / 3000, 100.5) == pytest.approx(error(1, 1), rel=1e-9)


def test_whole_weights_count_rows() -> None:
    weight = np.random.default_rng(2).integers(1, 4, 2000)
    once = ht.Labeled(DRAW.y, DRAW.score, sample_weight=weight)
    often = ht.Labeled(np.repeat(DRAW.y, weight), np.repeat(DRAW.score, weight))
    for given in HOW:
        one, other = (ht.calibration_error(e, n_bins=12, **given) for e in (once, often))
        # Over how many bins noise is averaged follows the effective rows, of which repeated ones are more.
        assert one == pytest.approx(other, rel=5e-3 if given["debias"] == "posterior" else 1e-9)


def test_more_bins_do_not_bring_the_noise_back() -> None:
    """From 100 positives, bins without a single one of them are most of 200."""
    errors = []
    for seed in range(10):
        evidence = MODEL.positive_unlabeled(100, 1000, rng=seed)
        errors.append([ht.calibration_error(evidence, n_bins=n, debias=True) for n in ("optimal", 40, 200)])
    usual, more, many = np.mean(errors, axis=0)
    assert more < 1.25 * usual
    assert many < 1.6 * usual
    plain = np.mean([ht.calibration_error(MODEL.positive_unlabeled(100, 1000, rng=0), n_bins=200)])
    assert many < plain / 2


def test_the_posterior_is_that_of_a_normal_signal_with_normal_noise() -> None:
    """One process, by the textbook formula with matrices."""
    bins = MODEL.positive_unlabeled(300, 3000, rng=3).measure().in_bins(15)
    total = float(bins.total)
    noise = bins.smoothed_covariance(0.1) / total**2
    factor = _binned_errors._factor(noise)
    curves, rest = _binned_errors._prior(bins.mass / total, bins.mean_score)
    fits = zip(*_binned_errors._fits(factor, bins.gap / total, curves, rest[0.07]), strict=True)
    noise = factor @ factor.T
    for (size, slope), (likelihood, mean, spread) in zip(
        [(size, slope) for size in _binned_errors.SIZES for slope in _binned_errors.SLOPES], fits, strict=True
    ):
        prior = size**2 * rest[0.07] + slope**2 * curves @ curves.T
        gain = prior @ np.linalg.inv(prior + noise)
        np.testing.assert_allclose(mean, gain @ bins.gap / total, atol=1e-9)
        np.testing.assert_allclose(spread**2, np.diag(prior - gain @ prior), atol=1e-9)
        if (size, slope) == (_binned_errors.SIZES[0], _binned_errors.SLOPES[0]):
            first = likelihood, prior
        odds = [
            -0.5 * bins.gap @ np.linalg.solve(p + noise, bins.gap) / total**2
            - 0.5 * np.linalg.slogdet(p + noise)[1]
            for p in (prior, first[1])
        ]
        assert likelihood - first[0] == pytest.approx(odds[0] - odds[1], abs=1e-6)


@pytest.mark.parametrize("spread", [0.0, 0.5, 2.0])
def test_mean_distance_of_a_normal(spread) -> None:
    draws = 0.7 + spread * np.random.default_rng(0).standard_normal(400_000)
    found = _binned_errors.mean_distance(np.asarray(0.7), np.asarray(spread))
    assert float(found) == pytest.approx(np.abs(draws).mean(), abs=5 * max(spread, 1e-9) / np.sqrt(400_000))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"debias": "kumar"}, r"`debias` must be True, False, \"corrected\" or \"posterior\", got 'kumar'"),
        ({"debias": None}, "got None"),
        ({"debias": "corrected", "norm": "max"}, "knows norms 1 and 2"),
        ({"norm": True}, "`norm` must be 1, 2"),
    ],
    ids=str,
)
def test_bad_input(given, message) -> None:
    with pytest.raises(ht.InputError, match=message):
        ht.calibration_error(ht.Labeled(DRAW.y, DRAW.score), **given)


def test_a_measure_made_by_hand_has_no_noise() -> None:
    measure = ht.ScoreMeasure(score=[0.2, 0.8], mass=[1.0, 1.0], pos_mass=[0.0, 1.0])
    with pytest.raises(ht.InputError, match="made by hand"):
        ht.calibration_error(measure, debias="posterior")


# --- beside them: intervals, bounds, histograms ----------------------------------------------------


def test_the_interval_of_a_debiased_error_holds_both_readings() -> None:
    row = ht.evaluate(MODEL.positive_unlabeled(200, 2000, rng=1), {"debiased": DEBIASED}, n_resamples=200)
    debiased_row = row["debiased"]
    assert debiased_row.method == "envelope"
    ends = [debiased_row.interval(0.95, how) for how in ("percentile", "quadrature")]
    assert debiased_row.low == min(low for low, _ in ends)
    assert debiased_row.high == max(high for _, high in ends)


def test_theory_where_its_assumptions_are_granted() -> None:
    evidence = MODEL.positive_unlabeled(1000, 10_000, rng=0)
    rows = {"ece": "calibration_error", "debiased": DEBIASED, "auc": "roc_auc"}
    result = ht.evaluate(evidence, rows, n_resamples=40, lipschitz=1.53, confidence_level=0.9)
    n_bins = ht.theory.optimal_bins(1000, 10_000, 0.5)
    wanted = ht.theory.bias_bound(1000, 10_000, 0.5, n_bins, lipschitz=1.53, confidence_level=0.9)
    assert result["ece"].bound == float(wanted)
    assert f"within {float(wanted):.3g}" in result["ece"].notes[-1]
    assert result["debiased"].bound is None
    assert "plug-in error" in result["debiased"].notes[-1]
    assert result["auc"].bound is None
    assert not any("theory" in note for note in result["auc"].notes)


@pytest.mark.parametrize(
    ("evidence", "note"),
    [
        (MODEL.labeled(200, rng=0), "two samples"),
        (MODEL.positive_unlabeled(50, 500, rng=0, population="all"), "two samples"),
        (MODEL.positive_unlabeled(50, 500, rng=0, prior=(0.4, 0.6)), "one number"),
        (MODEL.positive_unlabeled(5, 12, rng=0), "says nothing"),
        (ht.PositiveUnlabeled([0.9, 0.8], [0.5], prior=0.5), "two unlabeled rows"),
    ],
    ids=["labels", "one table", "range", "too few", "fewer than bins"],
)
def test_theory_says_why_it_says_nothing(evidence, note) -> None:
    row = ht.evaluate(evidence, ["calibration_error"], n_resamples=40, lipschitz=1.0)["calibration_error"]
    assert note in row.notes[-1]
    assert row.bound is None or row.bound >= 1


def test_histograms_take_debiased_errors_without_a_bound() -> None:
    table = MODEL.positive_unlabeled(2000, 20_000, rng=0).table
    evidence = ht.PositiveUnlabeled.from_table(table.compress(), prior=0.5, population="unlabeled")
    rows = {"ece": "calibration_error", "debiased": DEBIASED, "smooth": "smooth_calibration_error"}
    result = ht.evaluate(evidence, rows, n_resamples=40)
    assert 0 < result["ece"].compression < 0.01
    assert result["debiased"].compression == np.inf
    exact = ht.evaluate(
        ht.PositiveUnlabeled.from_table(table, prior=0.5, population="unlabeled"), rows, n_resamples=40
    )
    for name in rows:
        assert result[name].value == pytest.approx(exact[name].value, abs=2e-3)


def test_the_posterior_error_is_the_mean_over_all_processes() -> None:
    """With matrices, weights by the normal density of the gaps, and the error from many draws of the signal."""
    evidence = MODEL.positive_unlabeled(300, 3000, rng=3)
    bins = evidence.measure().in_bins(8)
    total, rng = float(bins.total), np.random.default_rng(0)
    width = _binned_errors.SMOOTHING / _binned_errors.enough_bins(bins.size)
    factor = _binned_errors._factor(bins.smoothed_covariance(width) / total**2)
    noise, gap, mass = factor @ factor.T, bins.gap / total, bins.mass / total
    curves, rest = _binned_errors._prior(mass, bins.mean_score)
    weight, errors = [], []
    for cov in rest.values():
        for size in _binned_errors.SIZES:
            for slope in _binned_errors.SLOPES:
                prior = size**2 * cov + slope**2 * curves @ curves.T
                whole = prior + noise
                gain = prior @ np.linalg.inv(whole)
                left = prior - gain @ prior + 1e-16 * np.eye(len(gap))
                signal = rng.multivariate_normal(gain @ gap, left, size=20_000, method="eigh")
                weight.append(
                    np.exp(-0.5 * gap @ np.linalg.solve(whole, gap) - 0.5 * np.linalg.slogdet(whole)[1])
                )
                each = np.abs(signal) / mass
                # Of the largest gap the expectation of each is taken, then the largest.
                largest = each.mean(axis=0).max()
                errors.append([np.mean(each @ mass), np.mean(each**2 @ mass), largest])
    mean, square, largest = np.average(errors, axis=0, weights=np.asarray(weight) / np.sum(weight))
    for norm, wanted in ((1, mean), (2, np.sqrt(square)), ("max", largest)):
        # 20,000 draws of what varies by about a third.
        found = float(_binned_errors.posterior(bins, norm))
        assert found == pytest.approx(wanted, rel=5 / 3 / np.sqrt(20_000)), norm


def test_noise_that_grows_with_the_rows_of_a_bin_stays_where_it_is_when_averaged() -> None:
    """Seven in ten scores tie, so that one bin holds most of the rows, each as noisy as the others."""
    score = np.where(np.arange(2000) % 10 < 7, 0.5, 0.5 + np.linspace(-1e-6, 1e-6, 2000))
    y = np.random.default_rng(0).permutation(np.arange(2000) % 2)
    bins = ht.Labeled(y, score).measure().in_bins(20)
    assert bins.mass.max() > 1300
    found = np.diag(bins.smoothed_covariance(0.1))
    np.testing.assert_allclose(found, bins.mass / 4 - bins.gap**2 / 2000, rtol=0.02, atol=0.5)
