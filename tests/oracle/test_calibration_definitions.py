"""Calibration errors of full labels against their definitions, on random data with ties, 0, 1 and edges."""

from __future__ import annotations

import math

import numpy as np
import pytest

import halftruth as ht
from halftruth.calibration._binned_errors import (
    adaptive_calibration_error,
    calibration_error,
    maximum_calibration_error,
)
from halftruth.calibration._smooth_errors import (
    ks_calibration_error,
    logit_smoothed_calibration_error,
    smooth_calibration_error,
)
from halftruth.calibration._sweep_errors import sweep_calibration_error
from halftruth.measure._sorted_measure import SortedMeasure
from halftruth.table import _strata

from . import calibration_definitions as definition
from .agreement import assert_same

KINDS = ("untied", "tied", "ends", "edges", "float32")
SIZES = (2, 7, 40, 150)
NUMBERS = (1, 2, 10, 15, 40)  # of bins
CASES = [(kind, n) for kind in KINDS for n in SIZES]
each_case = pytest.mark.parametrize(("kind", "n"), CASES)
each_binning = pytest.mark.parametrize("binning", ["mass", "width"])


def draw(kind: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels and scores; of "edges" two thirds are multiples of 1/10 and of 1/15."""
    rng = np.random.default_rng([n, KINDS.index(kind)])
    score = rng.beta(1.0, 1.3, n)
    y = (rng.random(n) < score**1.5).astype(int)
    y[:2] = 0, 1
    ends = np.where(rng.random(n) < 0.3, np.round(score), score)
    which = rng.integers(0, 3, n)
    edges = np.choose(which, [np.ceil(score * 10) / 10, np.floor(score * 15) / 15, score])
    made = {"tied": np.round(score, 1), "ends": ends, "edges": edges, "float32": score.astype(np.float32)}
    return y, made.get(kind, score)


@pytest.fixture
def both_ways(monkeypatch):
    """Labels as evidence, read as sorted atoms and then, like large data, as rows."""

    def make(y, score):
        for way in ("atoms", "rows"):
            if way == "rows":
                monkeypatch.setattr(_strata, "COMPILED", 1)
            evidence = ht.Labeled(y, score)
            assert isinstance(evidence.measure(), SortedMeasure) == (way == "rows")
            yield way, evidence

    return make


@each_case
@each_binning
def test_binned_error(both_ways, kind, n, binning):
    y, score = draw(kind, n)
    rows = definition.labeled(y, score)
    calls = [(n_bins, binning, norm) for n_bins in NUMBERS for norm in (1, 2, "max")]
    wanted = {call: definition.calibration_error(rows, *call) for call in calls}
    for way, evidence in both_ways(y, score):
        for call in calls:
            assert_same(calibration_error(evidence, *call), wanted[call], f"{call}, {way}")
        for n_bins in NUMBERS:
            largest = maximum_calibration_error(evidence, n_bins=n_bins, binning=binning)
            assert_same(largest, wanted[n_bins, binning, "max"], f"{n_bins} bins, {way}")


@each_case
def test_adaptive_error_is_the_plain_mean_over_bins_that_hold_rows(both_ways, kind, n):
    y, score = draw(kind, n)
    rows = definition.labeled(y, score)
    wanted = {n_bins: definition.adaptive_calibration_error(rows, n_bins) for n_bins in (1, 2, 15)}
    for way, evidence in both_ways(y, score):
        for n_bins, error in wanted.items():
            assert_same(adaptive_calibration_error(evidence, n_bins=n_bins), error, f"{n_bins} bins, {way}")


def test_adaptive_error_has_15_bins_by_default():
    y, score = draw("untied", 150)
    wanted = definition.adaptive_calibration_error(definition.labeled(y, score), 15)
    assert_same(adaptive_calibration_error(ht.Labeled(y, score)), wanted)


@each_case
@each_binning
def test_debiased_errors_of_labels(both_ways, kind, n, binning):
    y, score = draw(kind, n)
    rows = definition.labeled(y, score)
    by_norm = {1: definition.debiased_absolute, 2: definition.debiased_square}
    wanted = {(m, norm): error(rows, m, binning) for norm, error in by_norm.items() for m in NUMBERS}
    for way, evidence in both_ways(y, score):
        for (n_bins, norm), error in wanted.items():
            ours = calibration_error(evidence, n_bins, binning, norm, debias="corrected")
            # Near 0 the root of a difference keeps half of the digits.
            near = pytest.approx(error, rel=1e-9, abs=1e-9 if norm == 1 else 3e-8)
            assert ours == near, f"{n_bins} bins, norm {norm}, {way}"


def test_debiased_errors_are_neither_always_zero_nor_the_plain_ones():
    """What the comparison above would not see if its cases were all cut at 0."""
    y, score = draw("untied", 150)
    for norm in (1, 2):
        plain = calibration_error(ht.Labeled(y, score), 5, "mass", norm)
        debiased = calibration_error(ht.Labeled(y, score), 5, "mass", norm, debias="corrected")
        assert 0.2 * plain < debiased < 0.99 * plain


@pytest.mark.parametrize("kind", ["untied", "tied"])
@each_binning
def test_debiased_absolute_error_is_that_of_drawn_accuracies(kind, binning):
    """200,000 normal draws of the accuracies: within 4 standard errors of their own mean."""
    y, score = draw(kind, 150)
    parts = np.array(definition.resampled_parts(definition.labeled(y, score), 6, binning))
    share, gap, sd = parts.T
    drawn = np.abs(gap + sd * np.random.default_rng(5).standard_normal((200_000, len(gap)))) @ share
    wanted = 2 * (share @ np.abs(gap)) - drawn.mean()
    assert wanted > 0
    ours = calibration_error(ht.Labeled(y, score), 6, binning, 1, debias="corrected")
    assert ours == pytest.approx(wanted, abs=4 * drawn.std() / math.sqrt(len(drawn)))


def test_debiased_square_of_a_bin_of_one_row_is_left_as_it_is():
    """There the correction is 0/0. Beside it, three rows: ¼ · 0.9² + ¾ · [(0.9 − ⅔)² − (2/9)/2]."""
    lonely = ht.Labeled([1, 1, 1, 0], [0.1, 0.9, 0.9, 0.9])
    wanted = math.sqrt(0.9**2 / 4 + 0.75 * ((0.9 - 2 / 3) ** 2 - 1 / 9))
    assert calibration_error(lonely, 2, "width", 2, debias="corrected") == pytest.approx(wanted, rel=1e-14)


def test_labels_are_corrected_so_by_default():
    y, score = draw("tied", 150)
    for norm, wanted in ((1, definition.debiased_absolute), (2, definition.debiased_square)):
        ours = calibration_error(ht.Labeled(y, score), 5, "width", norm, debias=True)
        assert ours == pytest.approx(wanted(definition.labeled(y, score), 5, "width"), rel=1e-9)


@each_case
def test_ks_and_kuiper_errors(both_ways, kind, n):
    y, score = draw(kind, n)
    rows = definition.labeled(y, score)
    ks, kuiper = definition.ks(rows), definition.kuiper(rows)
    for way, evidence in both_ways(y, score):
        assert_same(ks_calibration_error(evidence), ks, way)
        assert_same(ks_calibration_error(evidence, statistic="kuiper"), kuiper, way)


@each_case
def test_sweep_error(both_ways, kind, n):
    y, score = draw(kind, n)
    rows = definition.labeled(y, score)
    wanted = {norm: definition.sweep(rows, norm) for norm in (1, 2, "max")}
    for way, evidence in both_ways(y, score):
        for norm, error in wanted.items():
            assert_same(sweep_calibration_error(evidence, norm=norm), error, f"norm {norm}, {way}")


def test_sweep_stops_at_the_first_failure():
    """Means rise over 1, 2 and 4 bins but not over 3: the error is that of 2 bins."""
    y, score = np.array([0, 0, 1, 0, 1, 0, 0, 1]), np.array([0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9])
    rows = definition.labeled(y, score)
    assert [definition.rises(rows, n) for n in range(1, 5)] == [True, True, False, True]
    assert definition.calibration_error(rows, 4, "mass", 1) == pytest.approx(0.2)
    assert_same(sweep_calibration_error(ht.Labeled(y, score)), 0.125)


@each_case
def test_smooth_error_is_its_own_width(both_ways, kind, n):
    y, score = draw(kind, n)
    wanted = definition.smooth(definition.labeled(y, score))
    for way, evidence in both_ways(y, score):
        assert smooth_calibration_error(evidence) == pytest.approx(wanted, abs=1e-6), way


@each_case
@pytest.mark.parametrize("sigma", [1 / 15, 0.5])
def test_logit_smoothed_error(both_ways, kind, n, sigma):
    """It is worked out on a grid of the logit."""
    y, score = draw(kind, n)
    wanted = definition.logit_smoothed(definition.labeled(y, score), sigma)
    for way, evidence in both_ways(y, score):
        assert logit_smoothed_calibration_error(evidence, sigma) == pytest.approx(wanted, abs=2e-5), way


@each_case
def test_whole_weights_are_repetitions(kind, n):
    y, score = draw(kind, n)
    weight = np.random.default_rng(n).integers(1, 5, n)
    rows = definition.labeled(y, score, weight)
    evidence = ht.Labeled(y, score, sample_weight=weight)
    for binning in ("mass", "width"):
        for norm in (1, 2, "max"):
            wanted = definition.calibration_error(rows, 7, binning, norm)
            assert_same(calibration_error(evidence, 7, binning, norm), wanted)
        for norm, debiased in ((1, definition.debiased_absolute), (2, definition.debiased_square)):
            ours = calibration_error(evidence, 7, binning, norm, debias="corrected")
            assert ours == pytest.approx(debiased(rows, 7, binning), rel=1e-9, abs=3e-8)
    assert_same(
        adaptive_calibration_error(evidence, n_bins=7), definition.adaptive_calibration_error(rows, 7)
    )
    assert_same(ks_calibration_error(evidence), definition.ks(rows))
    assert_same(ks_calibration_error(evidence, statistic="kuiper"), definition.kuiper(rows))
    assert_same(sweep_calibration_error(evidence), definition.sweep(rows))
    repeated = ht.Labeled(np.repeat(y, weight), np.repeat(score, weight))
    for error in (smooth_calibration_error, logit_smoothed_calibration_error):
        assert error(evidence) == pytest.approx(error(repeated), rel=1e-9, abs=1e-12)
