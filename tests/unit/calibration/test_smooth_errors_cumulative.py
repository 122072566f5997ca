"""KS and Kuiper calibration errors against their definition, row by row."""

from __future__ import annotations

import numpy as np
import pytest

import halftruth as ht
from halftruth.calibration._smooth_errors import ks_calibration_error
from halftruth.kernels import _compiling
from halftruth.kernels._one_pass import counts_at_ranks, cumulative_extremes
from halftruth.measure._sorted_measure import SortedMeasure
from halftruth.table import _strata


def by_definition(score, claim, positive, total):
    """(KS, Kuiper): at each limit the sum over all rows up to it, by itself."""
    sums = [0.0, *(float((claim - positive)[score <= limit].sum()) for limit in np.unique(score))]
    return max(abs(x) for x in sums) / total, (max(sums) - min(sums)) / total


def pair(evidence):
    return tuple(ks_calibration_error(evidence, statistic) for statistic in ("ks", "kuiper"))


@pytest.mark.parametrize("digits", [1, 16])
@pytest.mark.parametrize("n", [1, 2, 30, 300])
def test_labeled_rows_by_definition(n, digits):
    rng = np.random.default_rng(n)
    s = rng.random(n).round(digits)
    y = rng.integers(0, 2, n)
    assert pair(ht.Labeled(y, s)) == pytest.approx(by_definition(s, s, y, n), abs=1e-12)


def test_weights_are_repetitions():
    rng = np.random.default_rng(1)
    s, y, w = rng.random(50).round(2), rng.integers(0, 2, 50), rng.integers(1, 4, 50)
    repeated = ht.Labeled(np.repeat(y, w), np.repeat(s, w))
    assert pair(ht.Labeled(y, s, sample_weight=w)) == pytest.approx(pair(repeated), abs=1e-12)


def test_soft_labels_by_definition():
    rng = np.random.default_rng(2)
    s, q = rng.random((2, 80))
    assert pair(ht.SoftLabeled(q, s)) == pytest.approx(by_definition(s, s, q, 80), abs=1e-12)


def test_positive_unlabeled_by_definition():
    rng = np.random.default_rng(3)
    p, u = rng.beta(2, 1, 40).round(2), rng.random(100).round(2)
    score = np.append(p, u)
    claim = np.append(np.zeros(40), u)
    positive = np.append(np.full(40, 0.3 * 100 / 40), np.zeros(100))
    expected = by_definition(score, claim, positive, 100)
    assert pair(ht.PositiveUnlabeled(p, u, prior=0.3)) == pytest.approx(expected, abs=1e-12)


def test_by_hand():
    evidence = ht.Labeled([1, 1, 0, 0], [0.25, 0.25, 0.75, 0.75])
    assert pair(evidence) == (0.375, 0.375)
    # Up to +0.0625, down to −0.1875 at the end.
    both_sides = ht.Labeled([0, 1, 1, 1], [0.25, 0.5, 0.75, 0.75])
    assert pair(both_sides) == (0.1875, 0.25)


def test_many_measures_at_once():
    rng = np.random.default_rng(4)
    mass = rng.random((3, 2, 9))
    batch = ht.ScoreMeasure(score=np.sort(rng.random(9)), mass=mass, pos_mass=rng.normal(size=mass.shape))
    for statistic in ("ks", "kuiper"):
        together = ks_calibration_error(batch, statistic)
        assert together.shape == (3, 2)
        assert together[2][1] == ks_calibration_error(batch[2][1], statistic)


def _large(monkeypatch, make):
    few = make().measure()
    monkeypatch.setattr(_strata, "COMPILED", 1)
    many = make().measure()
    assert isinstance(many, SortedMeasure)
    return few, many


@pytest.mark.parametrize("digits", [1, 16])
@pytest.mark.parametrize(
    "options", [{}, {"purity": 0.8}, {"population": "all"}, {"negative": [0.1, 0.5, 0.3]}]
)
def test_sorted_rows_give_the_same(options, digits, monkeypatch):
    rng = np.random.default_rng(5)
    p, u = rng.beta(2, 1, 70).round(digits), rng.random(400).round(digits)
    few, many = _large(monkeypatch, lambda: ht.PositiveUnlabeled(p, u, prior=0.3, **options))
    assert pair(many) == pytest.approx(pair(few), rel=1e-12)


def test_chunks_join_to_one_walk_whatever_the_threads(monkeypatch):
    rng = np.random.default_rng(6)
    strata = [np.sort(rng.random(n).round(3)) for n in (700_000, 300_000)]
    mass, pos = np.ones(2), np.asarray([1.0, 0.0])
    s = np.concatenate(strata)
    step = s - np.repeat(pos, [700_000, 300_000])
    order = np.argsort(s, kind="stable")
    last = np.append(np.flatnonzero(np.diff(s[order])), len(s) - 1)
    line = np.append(0.0, np.cumsum(step[order])[last])
    several = cumulative_extremes(strata, mass, pos)
    assert several == pytest.approx((line.min(), line.max()), rel=1e-11, abs=1e-9)
    monkeypatch.setattr(_compiling, "THREADS", 1)
    assert cumulative_extremes(strata, mass, pos) == several


def test_counts_at_ranks():
    x, y = np.asarray([0.1, 0.2, 0.2, 0.4]), np.asarray([0.15, 0.2, 0.9])
    in_x, in_y = counts_at_ranks((x, y), (True, False), np.asarray([0, 1, 2, 3, 4]))
    assert in_x.tolist() == [0, 1, 3, 3, 4]
    assert in_y.tolist() == [0, 0, 2, 2, 2]
    in_x, in_y = counts_at_ranks((x, y), (True, True), np.asarray([2, 5, 7]))
    assert in_x.tolist() == [1, 3, 4]
    assert in_y.tolist() == [1, 2, 3]


def test_scores_must_be_probabilities_and_the_statistic_known():
    with pytest.raises(ht.InputError, match=r"KS calibration error needs scores in \[0, 1\]"):
        ks_calibration_error(ht.Labeled([0, 1], [0.5, 1.5]))
    with pytest.raises(ht.InputError, match="`statistic` must be 'ks' or 'kuiper', got 'cvm'"):
        ks_calibration_error(ht.Labeled([0, 1], [0.5, 0.7]), statistic="cvm")
