"""PU-ECE by the formula of its paper, and what it must be where the unlabeled are all rows.

Σ_b |π/n_P Σ_P 1[s in I_b] − 1/n_U Σ_U s 1[s in I_b]|, with I_b = (u_{b−1}, u_b] of equal width or at the ⌊n_U b/B⌋-th
smallest unlabeled scores.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest

import halftruth as ht
from halftruth.calibration._binned_errors import calibration_error
from halftruth.calibration._smooth_errors import (
    ks_calibration_error,
    logit_smoothed_calibration_error,
    smooth_calibration_error,
)
from halftruth.calibration._sweep_errors import sweep_calibration_error
from halftruth.calibration.calibrators import Calibrator
from halftruth.measure._sorted_measure import SortedMeasure
from halftruth.table import _strata

from . import calibration_definitions as definition
from .agreement import assert_same

KINDS = ("untied", "tied", "ends", "edges", "float32")
SIZES = ((1, 2), (5, 40), (30, 200), (120, 90))
each_binning = pytest.mark.parametrize("binning", ["mass", "width"])
each_kind = pytest.mark.parametrize("kind", KINDS)


def pu_ece(positive, unlabeled, prior, n_bins, binning):
    """The formula, in exact fractions but for the last sum."""
    u = sorted(unlabeled)
    ranks = [len(u) * b // n_bins for b in range(1, n_bins)]
    by_mass = [u[rank - 1] if rank else -1.0 for rank in ranks]
    inner = by_mass if binning == "mass" else [b / n_bins for b in range(1, n_bins)]
    ends, error = [-1.0, *inner, 2.0], []
    for low, high in pairwise(ends):
        known = sum(low < s <= high for s in positive)
        claimed = sum((Fraction(s) for s in u if low < s <= high), Fraction())
        error.append(abs(Fraction(prior) * known / len(positive) - claimed / len(u)))
    return math.fsum(error)


def spoilt(score, kind, rng):
    """Scores with ties, with 0 and 1, or on the edges of bins."""
    ends = np.where(rng.random(len(score)) < 0.3, np.round(score), score)
    edges = np.where(rng.random(len(score)) < 0.7, np.ceil(score * 10) / 10, score)
    made = {"tied": np.round(score, 1), "ends": ends, "edges": edges, "float32": score.astype(np.float32)}
    return made.get(kind, score)


def draw(kind, n_p, n_u):
    rng = np.random.default_rng([n_p, n_u, KINDS.index(kind)])
    positive, unlabeled = spoilt(rng.beta(2, 1, n_p), kind, rng), spoilt(rng.beta(1, 1.5, n_u), kind, rng)
    return positive, unlabeled, float(rng.uniform(0.05, 0.8))


def table_of(kind, n=160):
    """Labels, scores, and the evidence in which the unlabeled are all rows and the positives theirs."""
    rng = np.random.default_rng([n, KINDS.index(kind)])
    score = spoilt(rng.beta(1.0, 1.3, n), kind, rng)
    y = rng.random(n) < score**1.5
    y[:2] = True, False
    return ht.Labeled(y, score), ht.PositiveUnlabeled(score[y], score, prior=float(y.mean()))


@pytest.fixture(params=["atoms", "rows"])
def how(request, monkeypatch):
    """Whether measures are read as sorted atoms or, like large ones, as rows."""
    if request.param == "rows":
        monkeypatch.setattr(_strata, "COMPILED", 1)
    return request.param


@each_kind
@each_binning
@pytest.mark.parametrize(("n_p", "n_u"), SIZES)
@pytest.mark.parametrize("n_bins", [1, 3, 10, 15])
def test_formula_of_the_paper(how, kind, binning, n_p, n_u, n_bins):
    positive, unlabeled, prior = draw(kind, n_p, n_u)
    evidence = ht.PositiveUnlabeled(positive, unlabeled, prior=prior)
    assert isinstance(evidence.measure(), SortedMeasure) == (how == "rows")
    wanted = pu_ece(positive.tolist(), unlabeled.tolist(), prior, n_bins, binning)
    assert_same(calibration_error(evidence, n_bins, binning), wanted)


@each_binning
@pytest.mark.parametrize(("n_p", "n_u"), SIZES)
def test_number_of_bins_of_the_paper(binning, n_p, n_u):
    positive, unlabeled, prior = draw("untied", n_p, n_u)
    n_bins = math.ceil((prior**2 / n_p + 1 / n_u) ** (-1 / 3))
    wanted = pu_ece(positive, unlabeled, prior, n_bins, binning)
    assert_same(
        calibration_error(ht.PositiveUnlabeled(positive, unlabeled, prior=prior), binning=binning), wanted
    )


@each_kind
@pytest.mark.parametrize(("n_p", "n_u"), SIZES[1:3])
def test_other_errors_of_positives_and_unlabeled_by_definition(monkeypatch, kind, n_p, n_u):
    positive, unlabeled, prior = draw(kind, n_p, n_u)
    rows = definition.positive_unlabeled(positive, unlabeled, prior)
    calls = [(6, binning, norm) for binning in ("mass", "width") for norm in (2, "max")]
    binned = {call: definition.calibration_error(rows, *call) for call in calls}
    ks, kuiper, sweep = definition.ks(rows), definition.kuiper(rows), definition.sweep(rows)
    smooth, logit_smoothed = definition.smooth(rows), definition.logit_smoothed(rows, 0.2)
    for way in ("atoms", "rows"):
        if way == "rows":
            monkeypatch.setattr(_strata, "COMPILED", 1)
        evidence = ht.PositiveUnlabeled(positive, unlabeled, prior=prior)
        assert isinstance(evidence.measure(), SortedMeasure) == (way == "rows")
        for call, wanted in binned.items():
            assert_same(calibration_error(evidence, *call), wanted, f"{call}, {way}")
        assert_same(ks_calibration_error(evidence), ks, way)
        assert_same(ks_calibration_error(evidence, statistic="kuiper"), kuiper, way)
        assert_same(sweep_calibration_error(evidence), sweep, way)
        assert smooth_calibration_error(evidence) == pytest.approx(smooth, abs=1e-6), way
        assert logit_smoothed_calibration_error(evidence, 0.2) == pytest.approx(logit_smoothed, abs=1e-4), way


@each_kind
@each_binning
def test_all_rows_unlabeled_and_their_positives_known_is_labeled(how, kind, binning):
    labels, partial = table_of(kind)
    for n_bins, norm in product((1, 4, 15, 200), (1, 2, "max")):
        wanted = calibration_error(labels, n_bins, binning, norm)
        assert wanted > 0.01, (n_bins, norm)
        ours = calibration_error(partial, n_bins, binning, norm)
        assert ours == pytest.approx(wanted, rel=0, abs=1e-12), (n_bins, norm)


@each_kind
@pytest.mark.parametrize(
    "error",
    [
        ks_calibration_error,
        lambda e: ks_calibration_error(e, statistic="kuiper"),
        sweep_calibration_error,
        smooth_calibration_error,
        logit_smoothed_calibration_error,
    ],
    ids=["ks", "kuiper", "sweep", "smooth", "logit-smoothed"],
)
def test_the_same_of_errors_without_bins(how, error, kind):
    labels, partial = table_of(kind)
    wanted = error(labels)
    assert wanted > 0.01
    # The width that equals its own error is found to 11 digits.
    assert error(partial) == pytest.approx(wanted, rel=0, abs=1e-10)


@each_kind
@pytest.mark.parametrize("method", ["isotonic", "beta", "platt", "temperature", "histogram"])
def test_the_same_of_calibrators(how, method, kind):
    labels, partial = table_of(kind)
    at = np.linspace(0, 1, 101)
    setting = {"n_bins": 5} if method == "histogram" else {}
    wanted, ours = (Calibrator(method, **setting).fit(e).predict(at) for e in (labels, partial))
    assert np.ptp(wanted) > 0.1
    np.testing.assert_allclose(ours, wanted, rtol=0, atol=1e-9)
