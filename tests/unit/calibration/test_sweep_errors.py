"""The sweep against its definition: every number of bins in turn, on rows."""

from __future__ import annotations

import numpy as np
import pytest

import halftruth as ht
from halftruth.calibration import _sweep_errors
from halftruth.calibration._binned_errors import calibration_error
from halftruth.calibration._sweep_errors import sweep_calibration_error
from halftruth.measure._sorted_measure import SortedMeasure
from halftruth.table import _strata


def by_definition(population, positive, each):
    """Rows of the population, scores of positives and what one of them adds: (error, number of bins)."""
    u, p = np.sort(population), np.sort(positive)
    n, error, last = len(u), np.nan, 0
    sums = np.append(0.0, np.cumsum(u))
    for n_bins in range(1, n + 1):
        ranks = n * np.arange(1, n_bins) // n_bins
        ends = [-np.inf, *np.where(ranks > 0, u[ranks - 1], -np.inf), np.inf]
        # How many rows lie at or below each end: a bin holds those above its lower end, up to its upper.
        rows, known = (np.searchsorted(x, ends, side="right") for x in (u, p))
        found, inside = each * np.diff(known), np.diff(rows)
        if (np.diff(found[inside > 0] / inside[inside > 0]) < -1e-10).any():
            break
        error, last = np.abs(found - np.diff(sums[rows])).sum() / n, n_bins
    return error, last


def labeled(s, y):
    return by_definition(s, s[y == 1], 1.0)


def _rows(seed, n, *, digits=16, sharp=1.0):
    rng = np.random.default_rng(seed)
    s = rng.random(n).round(digits)
    y = (rng.random(n) < 1 / (1 + np.exp(-sharp * 4 * (s - 0.5)))).astype(int)
    return s, y


@pytest.mark.parametrize("sharp", [0.3, 1.0, 10.0, 100.0])
@pytest.mark.parametrize("digits", [1, 16])
@pytest.mark.parametrize("n", [1, 2, 7, 40, 100])
def test_labeled_rows_by_definition(n, digits, sharp):
    for seed in range(6):
        s, y = _rows(seed, n, digits=digits, sharp=sharp)
        expected, n_bins = labeled(s, y)
        evidence = ht.Labeled(y, s)
        assert sweep_calibration_error(evidence) == pytest.approx(expected, abs=1e-12)
        for norm in (2, "max"):
            same = calibration_error(evidence, n_bins=n_bins, norm=norm)
            assert sweep_calibration_error(evidence, norm=norm) == pytest.approx(same, abs=1e-12)


@pytest.mark.parametrize("digits", [1, 16])
def test_positive_unlabeled_by_definition(digits):
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(40):
        p, u = rng.beta(2, 1, 12).round(digits), (0.9 * rng.random(60)).round(digits)
        expected, n_bins = by_definition(u, p, 0.3 * 60 / 12)
        seen.add(n_bins)
        value = sweep_calibration_error(ht.PositiveUnlabeled(p, u, prior=0.3))
        assert value == pytest.approx(expected, abs=1e-12)
    assert len(seen) > 3


def test_separable_labels_have_a_bin_for_each_row():
    s = np.arange(1, 201) / 201
    y = (s > 0.5).astype(int)
    expected = np.abs(y - s).mean()
    assert labeled(s, y) == (pytest.approx(expected), 200)
    assert sweep_calibration_error(ht.Labeled(y, s)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("where", [(5, 6), (98, 103), (190, 192)])
def test_one_inversion_stops_where_the_definition_says(where):
    s = np.arange(1, 201) / 201
    y = (s > s[sum(where) // 2]).astype(int)
    y[list(where)] = [1, 0]
    expected, n_bins = labeled(s, y)
    assert 1 < n_bins < 200
    assert sweep_calibration_error(ht.Labeled(y, s)) == pytest.approx(expected, abs=1e-12)


def test_many_rows_nearly_separable_take_few_steps():
    n = 100_000
    s = np.arange(1, n + 1) / (n + 1)
    y = (s > 0.9).astype(int)
    last_negative = int(np.flatnonzero(y)[0]) - 1
    y[[last_negative, last_negative + 1]] = [1, 0]
    looked_at = []
    line = _sweep_errors._RunningMasses.of(np.ones(n), y.astype(float), y - s)

    def reach(target):
        looked_at.append(len(target))
        return line.reach(target)

    n_bins = _sweep_errors._most_bins(
        reach, line.all[:2], counts=True, slack=0.0, window=lambda: _sweep_errors._window(line, 0.0), most=n
    )
    # The two rows must stand alone before their order shows.
    assert n / 2 < n_bins < n
    assert sum(looked_at) < 10 * n


def test_weights_are_repetitions():
    rng = np.random.default_rng(1)
    for seed in range(20):
        s, y = _rows(seed, 40, digits=2)
        w = rng.integers(1, 4, 40)
        repeated = ht.Labeled(np.repeat(y, w), np.repeat(s, w))
        value = sweep_calibration_error(ht.Labeled(y, s, sample_weight=w))
        assert value == pytest.approx(sweep_calibration_error(repeated), abs=1e-12)


def test_weights_of_any_size_take_the_bins_of_calibration_error():
    rng = np.random.default_rng(2)
    for seed in range(20):
        s, y = _rows(seed, 60)
        evidence = ht.Labeled(y, s, sample_weight=rng.uniform(0.5, 2.0, 60))
        value = sweep_calibration_error(evidence)
        errors = [calibration_error(evidence, n_bins=b) for b in range(1, 61)]
        assert np.isclose(errors, value, rtol=0, atol=1e-12).any()


def test_many_measures_at_once():
    rng = np.random.default_rng(3)
    mass = rng.poisson(1.5, (2, 3, 30)).astype(float)
    share = rng.random((2, 3, 30)) < np.linspace(0, 1, 30)
    batch = ht.ScoreMeasure(score=np.linspace(0, 1, 30), mass=mass, pos_mass=mass * share)
    together = sweep_calibration_error(batch)
    assert together.shape == (2, 3)
    for i in range(2):
        for j in range(3):
            rows = np.repeat(np.stack([batch.score, share[i, j]]), mass[i, j].astype(int), axis=1)
            assert together[i, j] == pytest.approx(labeled(rows[0], rows[1])[0], abs=1e-12)


def test_a_measure_without_mass_or_positives_is_undefined():
    pos = np.asarray([[0.0, 0.0], [np.nan, np.nan], [1.0, 0.0]])
    batch = ht.ScoreMeasure(score=[0.2, 0.6], mass=[[0.0, 0.0], [1.0, 1.0], [1.0, 1.0]], pos_mass=pos)
    values = sweep_calibration_error(batch)
    assert np.isnan(values[:2]).all()
    assert values[2] == pytest.approx(0.1)  # one bin: half are positive, 0.4 is the mean score


@pytest.mark.parametrize("sharp", [0.3, 100.0])
@pytest.mark.parametrize("digits", [1, 16])
def test_sorted_rows_give_the_same(digits, sharp, monkeypatch):
    monkeypatch.setattr(_strata, "COMPILED", 1)
    for seed in range(5):
        s, y = _rows(seed, 150, digits=digits, sharp=sharp)
        many = ht.Labeled(y, s).measure()
        assert isinstance(many, SortedMeasure)
        rng = np.random.default_rng(seed)
        p, u = rng.beta(2, 1, 12).round(digits), (0.9 * rng.random(60)).round(digits)
        partly = ht.PositiveUnlabeled(p, u, prior=0.3).measure()
        expected = labeled(s, y)[0], by_definition(u, p, 0.3 * 60 / 12)[0]
        for from_rows in (4, 512):
            monkeypatch.setattr(_sweep_errors, "FROM_ROWS", from_rows)
            found = sweep_calibration_error(many), sweep_calibration_error(partly)
            assert found == pytest.approx(expected, abs=1e-12), from_rows


def test_scores_must_be_probabilities_and_the_norm_known():
    with pytest.raises(ht.InputError, match=r"Sweep calibration error needs scores in \[0, 1\]"):
        sweep_calibration_error(ht.Labeled([0, 1], [0.5, 1.5]))
    with pytest.raises(ht.InputError, match='`norm` must be 1, 2 or "max", got 3'):
        sweep_calibration_error(ht.Labeled([0, 1], [0.5, 0.7]), norm=3)
