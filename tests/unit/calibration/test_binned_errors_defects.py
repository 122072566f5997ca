"""Calibration where other tools are known to go wrong; every value here is known by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_expit

import halftruth as ht
from halftruth.calibration._binned_errors import calibration_error
from halftruth.calibration._smooth_errors import (
    ks_calibration_error,
    logit_smoothed_calibration_error,
    smooth_calibration_error,
)
from halftruth.calibration._sweep_errors import sweep_calibration_error
from halftruth.calibration.calibrators import Calibrator
from halftruth.table import _strata

ERRORS = (
    calibration_error,
    ks_calibration_error,
    sweep_calibration_error,
    smooth_calibration_error,
    logit_smoothed_calibration_error,
)


@pytest.fixture(params=["atoms", "rows"])
def width(request, monkeypatch):
    """The error over bins of equal width, of measures read as sorted atoms or, like large ones, as rows."""
    if request.param == "rows":
        monkeypatch.setattr(_strata, "COMPILED", 1)
    return lambda y, score, n_bins=10: calibration_error(ht.Labeled(y, score), n_bins, "width")


def test_a_score_of_one_lies_in_the_last_bin(width):
    """Alone in a bin of its own it would be (0.05 + 1)/2."""
    assert width([1, 0], [0.95, 1.0]) == pytest.approx(abs(1 - 1.95) / 2, abs=1e-15)


@pytest.mark.parametrize("value", [0.0, -0.0, 5e-324])
def test_a_score_of_zero_counts(width, value):
    """Dropped, the error would be 0.05, or 0.5 of half as many rows."""
    assert width([1, 0], [value, 0.05]) == pytest.approx((1 - 0.05) / 2, abs=1e-15)
    assert width([1, 1], [value, 1.0]) == pytest.approx(0.5, abs=1e-15)


def test_a_score_of_zero_counts_in_bins_of_equal_mass():
    score = [0.0, 0.0, 0.0, 0.6, 0.8]
    wanted = (1 + abs(1 - 0.6) + abs(0 - 0.8)) / 5  # bins {0, 0, 0}, {0.6}, {0.8} and two empty ones
    assert calibration_error(ht.Labeled([1, 0, 0, 1, 0], score), 5) == pytest.approx(wanted, abs=1e-15)


@pytest.mark.parametrize("edge", [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
def test_a_score_on_an_edge_lies_in_the_bin_that_it_ends(width, edge):
    """Also 0.3, 0.6 and 0.7, which edges made by adding up or spacing evenly leave on the wrong side."""
    below, above = edge - 0.05, edge + 0.05
    assert width([1, 0], [below, edge]) == pytest.approx(abs(1 - below - edge) / 2, abs=1e-15)
    assert width([1, 0], [edge, above]) == pytest.approx((1 - edge + above) / 2, abs=1e-15)
    just_above = np.nextafter(edge, 1)
    assert width([1, 0], [just_above, above]) == pytest.approx(abs(1 - just_above - above) / 2, abs=1e-15)


def test_a_single_precision_score_is_the_number_that_it_is(width):
    """0.3 in float32 lies above 0.3, so with 0.35; 0.7 lies below 0.7, so with 0.65."""
    for value, other in ((0.3, 0.35), (0.7, 0.65)):
        score = np.array([value, other], dtype=np.float32)
        assert width([1, 0], score) == pytest.approx(abs(1 - score.astype(np.float64).sum()) / 2, abs=1e-15)


@pytest.mark.parametrize("binning", ["mass", "width"])
def test_sums_of_single_precision_scores_do_not_drift(binning):
    """Three million times 0.1: a running float32 sum is off by more than 1e-3 of it, ours by rounding."""
    n = 3_000_000
    score = np.full(n, 0.1, dtype=np.float32)
    y = np.zeros(n, dtype=np.int8)
    y[: n // 4] = 1
    value = float(np.float32(0.1))
    assert abs(np.cumsum(score)[-1] / (n * value) - 1) > 1e-3
    ours = calibration_error(ht.Labeled(y, score), 15, binning)
    assert ours == pytest.approx(0.25 - value, rel=1e-12)


@pytest.mark.parametrize("error", ERRORS)
def test_nan_is_refused_with_its_place(error):
    with pytest.raises(ht.InputError, match=r"`y_score` .*NaN.*index 2"):
        error(ht.Labeled([0, 1, 1], [0.2, 0.7, np.nan]))
    with pytest.raises(ht.InputError, match=r"`unlabeled` .*NaN"):
        error(ht.PositiveUnlabeled([0.5], [0.2, np.nan], prior=0.5))


@pytest.mark.parametrize("error", ERRORS)
def test_scores_outside_are_refused_and_not_squashed(error):
    with pytest.raises(ht.InputError, match=r"needs scores in \[0, 1\].*never transformed by guess"):
        error(ht.Labeled([0, 1, 1], [-1.2, 0.7, 2.0]))


@pytest.mark.parametrize("n_bins", [2, 15, 1000])
def test_bins_of_equal_mass_with_ties(n_bins):
    """Rows of one score stay together; edges that coincide leave empty bins."""
    constant = ht.Labeled([1, 0, 0, 0], [0.5] * 4)
    assert calibration_error(constant, n_bins) == 0.25
    two = ht.Labeled([1, 0, 0, 1] * 25, [0.25, 0.25, 0.25, 0.75] * 25)
    # Means ⅓ and 1 in the proportion 3 : 1.
    assert calibration_error(two, n_bins) == pytest.approx(0.75 * (1 / 3 - 0.25) + 0.25 * 0.25, abs=1e-15)


@pytest.mark.parametrize("binning", ["mass", "width"])
@pytest.mark.parametrize("n_bins", [1, 7, 15])
def test_soft_labels_are_averaged_and_not_rounded(binning, n_bins):
    """q = s² lies below s everywhere: the error is the mean of s − s² for any bins, 1/6 + 1/(12 n²)."""
    n = 1000
    s = (np.arange(n) + 0.5) / n
    ours = calibration_error(ht.SoftLabeled(s**2, s), n_bins, binning)
    assert ours == pytest.approx(1 / 6 + 1 / (12 * n**2), abs=1e-13)
    rounded = calibration_error(ht.Labeled(s**2 >= 0.5, s), 15, "width")
    assert rounded > 0.2


def unconstrained_beta(y, score):
    """(a, b, c) of logit p = a ln s − b ln(1 − s) + c with the least log loss, any sign."""
    features = np.stack([np.log(score), -np.log1p(-score), np.ones(len(score))])
    sign = np.where(y, 1.0, -1.0)
    return minimize(lambda p: -log_expit(sign * (p @ features)).sum(), [1.0, 1.0, 0.0], method="BFGS").x


def overshooting(n=4000):
    """P(Y=1 | s) rises to s = 0.8 and falls beyond: a curve without constraints turns down at 1."""
    rng = np.random.default_rng(8)
    s = rng.uniform(0.02, 0.98, n)
    return rng.random(n) < np.where(s < 0.8, s, 0.8 - 3 * (s - 0.8)), s


def test_beta_calibration_never_falls():
    y, s = overshooting()
    assert unconstrained_beta(y, s)[1] < -0.1
    at = np.concatenate([[0.0, 1e-300, 1e-12], np.linspace(0.001, 0.999, 999), [1 - 1e-12, 1.0]])
    p = Calibrator("beta").fit(ht.Labeled(y, s)).predict(at)
    assert (np.diff(p) >= 0).all()
    assert ((p >= 0) & (p <= 1)).all()
    assert p[-1] == p.max()


def test_beta_calibration_is_the_best_that_never_falls():
    y, s = overshooting()
    sign = np.where(y, 1.0, -1.0)

    def loss(p):
        return -log_expit(sign * p).mean()

    fitted = Calibrator("beta").fit(ht.Labeled(y, s)).predict(s)
    ours = loss(np.log(fitted / (1 - fitted)))
    logs = np.log(s), -np.log1p(-s)
    best = minimize(
        lambda p: loss(p[0] * logs[0] + p[1] * logs[1] + p[2]),
        [1.0, 1.0, 0.0],
        method="L-BFGS-B",
        bounds=[(0, None), (0, None), (None, None)],
        options={"ftol": 1e-15, "gtol": 1e-9},
    )
    assert best.x[1] == 0
    assert ours == pytest.approx(best.fun, abs=1e-9)
    assert ours > loss(unconstrained_beta(y, s) @ np.stack([*logs, np.ones(len(s))])) + 1e-4


def test_beta_calibration_of_what_fits_the_family_is_not_touched_by_the_constraint():
    rng = np.random.default_rng(9)
    s = rng.uniform(0.02, 0.98, 4000)
    y = rng.random(4000) < expit(0.7 * np.log(s) - 1.4 * np.log1p(-s) - 0.3)
    a, b, c = unconstrained_beta(y, s)
    at = np.linspace(0.01, 0.99, 50)
    wanted = expit(a * np.log(at) - b * np.log1p(-at) + c)
    np.testing.assert_allclose(Calibrator("beta").fit(ht.Labeled(y, s)).predict(at), wanted, atol=1e-5)


def test_brier_is_not_the_sum_over_both_classes():
    assert ht.brier(ht.Labeled([1, 0], [0.7, 0.2])) == pytest.approx((0.09 + 0.04) / 2, abs=1e-15)


def test_positives_where_nobody_of_the_population_is_do_not_choose_the_process():
    """They are impossible under every process; the rounding of that once decided, by 5e-9 here."""
    known, rest, negative = [0.0625, 0.3, 0.5, 0.0625, 0.5], [0.0, 0.9, 1, 0.5, 0.0625, 1], [0.6, 0.6, 0.5]
    chance, (a, b, c) = [0.05, 0.1, 0.5, 0.5, 0.9], ([2, 2, 2, 3, 4], [3, 1, 3, 3, 1, 3], [1, 4, 2])
    weights = {"positive_weight": a, "unlabeled_weight": b, "negative_weight": c}
    weighted = ht.PositiveUnlabeled(known, rest, negative=negative, propensity=chance, **weights)
    again = {"negative": np.repeat(negative, c), "propensity": np.repeat(chance, a)}
    rows = ht.PositiveUnlabeled(np.repeat(known, a), np.repeat(rest, b), **again)
    first, second = (
        calibration_error(evidence, n_bins=5, binning="width", debias="posterior")
        for evidence in (weighted, rows)
    )
    assert first == pytest.approx(second, rel=1e-12)
