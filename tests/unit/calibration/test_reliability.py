"""Reliability curves against definitions by hand, and what goes into their bands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.isotonic import IsotonicRegression

import halftruth as ht
from halftruth.calibration._binned_errors import calibration_error
from halftruth.calibration._binomial_process import bpm_calibration_error, fit_curve
from halftruth.calibration._reliability import METHODS, N_POINTS, ReliabilityCurve, reliability_curve
from halftruth.calibration._smooth_errors import smooth_calibration_error
from halftruth.table import _strata
from halftruth.table._sorted_rows import SortedRows

MODEL = ht.simulate.GaussianClasses(prior=0.3, slope=3.0, intercept=-2.0)
RATE = ht.simulate.GaussianClasses(prior=0.3)


def labeled(n: int = 120, seed: int = 0) -> ht.Labeled:
    return MODEL.labeled(n, seed)


def unlabeled(**settings: Any) -> ht.PositiveUnlabeled:
    return MODEL.positive_unlabeled(60, 500, 0, **{"prior": 0.3} | settings)


EVIDENCE: dict[str, Callable[[], Any]] = {
    "labeled": labeled,
    "weighted": lambda: ht.Labeled([1, 0, 1, 0, 1], [0.1, 0.3, 0.5, 0.7, 0.9], sample_weight=[1, 2, 3, 1, 2]),
    "soft": lambda: MODEL.soft(100, 0),
    "unlabeled": unlabeled,
    "all": lambda: MODEL.positive_unlabeled(60, 500, 0, prior=0.3, population="all"),
    "impure": lambda: unlabeled(purity=0.8),
    "negatives": lambda: unlabeled(n_negative=80),
    "identified": lambda: unlabeled(n_negative=80, prior=None),
    "range": lambda: unlabeled(prior=(0.2, 0.4)),
    "confidence": lambda: MODEL.positive_confidence(200, 0),
}


# --- bins ---------------------------------------------------------------------------------------------


def test_bins_have_their_mean_scores_and_mean_labels() -> None:
    y, s = [0, 1, 0, 1, 1, 1], [0.1, 0.2, 0.3, 0.6, 0.7, 0.95]
    curve = reliability_curve(ht.Labeled(y, s), n_bins=3)
    assert curve.score == pytest.approx([0.15, 0.45, 0.825])
    assert curve.frequency == pytest.approx([0.5, 0.5, 1.0])
    assert curve.mass == pytest.approx([1 / 3] * 3)
    assert curve.left.tolist() == [0.1, 0.3, 0.7]
    assert curve.right.tolist() == [0.2, 0.6, 0.95]
    assert curve.error == pytest.approx((0.35 + 0.05 + 0.175) / 3)


def test_empty_bins_are_left_out() -> None:
    curve = reliability_curve(ht.Labeled([0, 1, 1], [0.05, 0.1, 0.95]), n_bins=10, binning="width")
    assert curve.score == pytest.approx([0.075, 0.95])
    assert curve.low is not None
    assert curve.low.shape == (2,)


def test_a_bin_without_population_mass_is_left_out() -> None:
    """A known positive above all unlabeled cases is no part of that population."""
    curve = reliability_curve(
        ht.PositiveUnlabeled([0.5, 0.99], [0.1, 0.5, 0.6], prior=0.3), n_bins=4, binning="width"
    )
    assert curve.right.tolist() == [0.1, 0.5, 0.6]
    assert curve.mass == pytest.approx([1 / 3] * 3)
    assert curve.frequency == pytest.approx([0.0, 0.45, 0.0])


@pytest.mark.parametrize("kind", EVIDENCE)
@pytest.mark.parametrize("binning", ["mass", "width"])
def test_the_distance_of_binned_curves_is_the_calibration_error(kind: str, binning: str) -> None:
    evidence = EVIDENCE[kind]()
    curve = reliability_curve(evidence, n_bins=7, binning=binning, n_resamples=0)
    assert curve.error == pytest.approx(calibration_error(evidence, 7, binning), rel=1e-12)
    assert curve.mass @ np.abs(curve.frequency - curve.score) == pytest.approx(curve.error, rel=1e-10)


# --- curves -------------------------------------------------------------------------------------------


def test_isotonic_is_that_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    s, weight = rng.random(80).round(2), rng.integers(1, 4, 80)
    y = (rng.random(80) < s**2).astype(int)
    curve = reliability_curve(ht.Labeled(y, s, sample_weight=weight), "isotonic", n_resamples=0)
    wanted = IsotonicRegression().fit(s, y, sample_weight=weight).predict(curve.score)
    assert curve.score.tolist() == np.unique(s).tolist()
    np.testing.assert_allclose(curve.frequency, wanted, atol=1e-12)
    far = np.abs(IsotonicRegression().fit(s, y, sample_weight=weight).predict(s) - s)
    assert curve.error == pytest.approx(np.average(far, weights=weight), abs=1e-12)


def test_smooth_is_a_mean_weighed_by_a_reflected_gaussian() -> None:
    evidence = labeled()
    draw = MODEL.draw(120, 0)
    curve = reliability_curve(evidence, "smooth", n_resamples=0)
    width = smooth_calibration_error(evidence)
    for t, found in zip(curve.score[::10], curve.frequency[::10], strict=True):
        images = [sign * draw.score + 2 * turn for turn in range(-3, 4) for sign in (1, -1)]
        weight = sum(stats.norm.pdf(t, image, width) for image in images)
        assert found == pytest.approx(np.average(draw.y, weights=weight), abs=1e-9)


def test_many_scores_are_smoothed_as_few_are() -> None:
    evidence = RATE.labeled(9000, 0)
    curve = reliability_curve(evidence, "smooth", n_resamples=0)
    draw = RATE.draw(9000, 0)
    width = smooth_calibration_error(evidence)
    for t, found in zip(curve.score[::40], curve.frequency[::40], strict=True):
        images = [sign * draw.score + 2 * turn for turn in (-1, 0, 1) for sign in (1, -1)]
        weight = sum(np.exp(-0.5 * ((t - image) / width) ** 2) for image in images)
        assert found == pytest.approx(np.average(draw.y, weights=weight), abs=2e-4)


def test_bpm_is_the_fitted_curve() -> None:
    evidence = unlabeled()
    curve = reliability_curve(evidence, "bpm", n_resamples=0)
    np.testing.assert_allclose(curve.frequency, fit_curve(evidence)(curve.score), atol=1e-12)
    assert curve.error == pytest.approx(bpm_calibration_error(evidence, density="empirical"), abs=1e-12)


@pytest.mark.parametrize("method", METHODS[1:])
def test_curves_are_given_at_a_few_hundred_scores_that_stand_for_all(method: str) -> None:
    evidence = labeled(3000)
    curve = reliability_curve(evidence, method, n_resamples=0)
    scores = np.sort(MODEL.draw(3000, 0).score)
    assert N_POINTS / 2 < len(curve.score) <= N_POINTS + 1
    assert np.isin(curve.score, scores).all()
    assert (curve.score[0], curve.score[-1]) == (scores[0], scores[-1])
    assert curve.mass.sum() == pytest.approx(1)
    assert (np.diff(curve.score) > 0).all()
    assert (curve.left <= curve.score).all()
    assert (curve.score <= curve.right).all()


@pytest.mark.parametrize("method", METHODS)
def test_many_rows_take_another_road_to_the_same_curve(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    few = reliability_curve(unlabeled(), method, n_resamples=0)
    monkeypatch.setattr(_strata, "COMPILED", 1)
    evidence = unlabeled()
    assert isinstance(evidence.table.support, SortedRows)
    many = reliability_curve(evidence, method, n_resamples=50)
    for name in ("score", "frequency", "mass", "left", "right", "histogram"):
        np.testing.assert_allclose(getattr(many, name), getattr(few, name), atol=1e-9, err_msg=name)
    assert many.low is not None


# --- what every curve has -----------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", EVIDENCE)
def test_every_evidence_has_every_curve_with_a_band(kind: str, method: str) -> None:
    evidence = EVIDENCE[kind]()
    curve = reliability_curve(evidence, method, n_resamples=40)
    assert curve.low is not None
    assert curve.high is not None
    assert (curve.low <= curve.frequency).all()
    assert (curve.frequency <= curve.high).all()
    assert (curve.low < curve.high).any()
    assert curve.mass.sum() == pytest.approx(1)
    assert curve.histogram.sum() == pytest.approx(1)
    if method in ("isotonic", "bpm"):
        assert curve.low.min() >= 0
        assert curve.high.max() <= 1
        assert (np.diff(curve.frequency) >= -1e-12).all()


def test_the_histogram_has_forty_bars_with_one_in_the_last() -> None:
    curve = reliability_curve(ht.Labeled([0, 1, 1, 1], [0.0, 0.025, 0.99, 1.0]), n_resamples=0)
    assert curve.histogram[[0, 1, 39]].tolist() == [0.25, 0.25, 0.5]
    assert len(curve.histogram) == 40


def test_arrays_are_read_only() -> None:
    curve = reliability_curve(labeled(), n_resamples=20)
    for name in ("score", "frequency", "low", "high", "mass", "left", "right", "histogram"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(curve, name)[0] = 0.5


def test_it_says_what_it_is() -> None:
    curve = reliability_curve(labeled(), n_bins=4, confidence_level=0.9, n_resamples=20)
    assert repr(curve).startswith("ReliabilityCurve(binned, 4 points, error 0.")
    assert repr(curve).endswith(", 90% band)")
    assert repr(reliability_curve(labeled(), n_resamples=0)).endswith(", no band)")


def without_band(curve: ReliabilityCurve) -> bool:
    return curve.low is None and curve.high is None


def test_no_band_without_resamples_rows_or_a_second_positive() -> None:
    curve = reliability_curve(labeled(), n_resamples=0)
    assert without_band(curve)
    assert curve.notes == ()
    curve = reliability_curve(labeled().measure())
    assert without_band(curve)
    assert "no rows to draw again" in curve.notes[0]
    curve = reliability_curve(ht.PositiveUnlabeled([0.9], [0.2, 0.4, 0.9], prior=0.3))
    assert without_band(curve)
    assert "One known positive" in curve.notes[0]


@pytest.mark.parametrize("method", METHODS)
def test_a_seed_gives_the_same_band_again(method: str) -> None:
    bands = [reliability_curve(unlabeled(), method, n_resamples=30, rng=seed).high for seed in (1, 1, 2)]
    assert np.array_equal(bands[0], bands[1])  # type: ignore[arg-type]
    assert not np.array_equal(bands[0], bands[2])  # type: ignore[arg-type]


# --- bands --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("k", "n"), [(0, 30), (1, 30), (12, 30), (30, 30)])
def test_of_labels_a_bin_has_jeffreys_interval(k: int, n: int) -> None:
    y = np.repeat([1, 0], [k, n - k])
    draws = 40_000
    curve = reliability_curve(ht.Labeled(y, np.full(n, 0.4)), n_bins=1, n_resamples=draws)
    law = stats.beta(k + 0.5, n - k + 0.5)
    assert curve.low is not None
    assert curve.high is not None
    for end, tail in ((curve.low[0], 0.025), (curve.high[0], 0.975)):
        if end in (0.0, 1.0):  # no positives, or nothing else: the interval goes to the end
            assert k == n * end
            continue
        # The share of draws below a percentile is binomial.
        around = stats.binom.ppf([1e-6, 1 - 1e-6], draws, tail) / draws
        assert law.ppf(around[0]) <= end <= law.ppf(around[1])


def test_from_positives_and_unlabeled_both_samples_vary() -> None:
    """Of 40 positives 10, of 200 unlabeled 50 lie in the upper bin."""
    positive, whole = np.repeat([0.8, 0.2], [10, 30]), np.repeat([0.8, 0.2], [50, 150])
    draws = 40_000
    evidence = ht.PositiveUnlabeled(positive, whole, prior=0.3)
    curve = reliability_curve(evidence, n_bins=2, binning="width", n_resamples=draws)
    rng = np.random.default_rng(5)
    share = rng.beta(10.5, 30.5, 10**6), rng.beta(50.5, 150.5, 10**6)
    exact = np.sort(0.3 * share[0] / share[1])
    assert curve.low is not None
    assert curve.high is not None
    for end, tail in ((curve.low[1], 0.025), (curve.high[1], 0.975)):
        around = stats.binom.ppf([1e-6, 1 - 1e-6], draws, tail) / draws + [-1e-3, 1e-3]
        low, high = np.quantile(exact, around)
        assert low <= end <= high


def test_a_range_of_priors_has_the_union_of_its_bands() -> None:
    wide = reliability_curve(unlabeled(prior=(0.2, 0.4)), n_bins=5, n_resamples=100)
    each = [
        reliability_curve(unlabeled(prior=p), n_bins=5, n_resamples=100) for p in (0.2, 0.25, 0.3, 0.35, 0.4)
    ]
    np.testing.assert_allclose(wide.low, np.min([c.low for c in each], axis=0), rtol=1e-12)  # type: ignore[arg-type]
    np.testing.assert_allclose(wide.high, np.max([c.high for c in each], axis=0), rtol=1e-12)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", METHODS)
def test_an_estimated_prior_brings_its_error(method: str) -> None:
    replicates = np.random.default_rng(0).normal(0.3, 0.06, 400).clip(0.05, 0.6)
    estimate = ht.PriorEstimate(value=0.3, replicates=replicates)
    sure, unsure = (reliability_curve(unlabeled(prior=p), method, n_resamples=400) for p in (0.3, estimate))
    np.testing.assert_allclose(unsure.frequency, sure.frequency, atol=1e-12)
    widths = [float(np.mean(c.high - c.low)) for c in (sure, unsure)]  # type: ignore[operator]
    assert widths[1] > 1.05 * widths[0]


def test_weights_of_one_change_no_band() -> None:
    draw = MODEL.draw(120, 0)
    weighted = ht.Labeled(draw.y, draw.score, sample_weight=np.ones(120))
    bands = [reliability_curve(each, n_bins=5, n_resamples=4000) for each in (labeled(), weighted)]
    for end in ("low", "high"):
        np.testing.assert_allclose(getattr(bands[0], end), getattr(bands[1], end), atol=1e-9)


def test_soft_labels_without_noise_leave_a_narrow_band() -> None:
    soft = ht.SoftLabeled(np.full(200, 0.25), np.linspace(0, 1, 200))
    curve = reliability_curve(soft, n_bins=4, n_resamples=200)
    np.testing.assert_allclose(curve.low, 0.25, atol=1e-9)  # type: ignore[arg-type]
    np.testing.assert_allclose(curve.high, 0.25, atol=1e-9)  # type: ignore[arg-type]


# --- refusals -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"method": "loess"}, "`method` must be 'binned' or"),
        ({"binning": "count"}, "`binning` must be"),
        ({"n_bins": 0}, "`n_bins` must be a whole number"),
        ({"confidence_level": 95}, "`confidence_level` must lie in"),
        ({"n_resamples": -1}, "`n_resamples` must be a whole number"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ht.InputError, match=said):
        reliability_curve(labeled(), **settings)


def test_scores_that_are_no_probabilities_and_several_measures_are_refused() -> None:
    with pytest.raises(ht.InputError, match="needs scores in"):
        reliability_curve(ht.Labeled([0, 1], [0.5, 2.0]))
    several = ht.ScoreMeasure(score=[0.1, 0.9], mass=np.ones((3, 2)), pos_mass=np.ones((3, 2)))  # type: ignore[arg-type]
    with pytest.raises(ht.InputError, match="must be one measure"):
        reliability_curve(several)
    with pytest.raises(ht.NotIdentifiable):
        reliability_curve(unlabeled(prior=None))
