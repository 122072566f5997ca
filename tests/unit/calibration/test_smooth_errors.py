"""Smoothed calibration errors against their definitions, summed kernel by kernel on fine grids."""

from __future__ import annotations

import numpy as np
import pytest

import halftruth as ht
from halftruth.calibration._smooth_errors import logit_smoothed_calibration_error, smooth_calibration_error
from halftruth.kernels import _compiling, _condensing
from halftruth.measure._arithmetic import coarser_nodes, split_to_nodes, spread_to_nodes
from halftruth.measure._sorted_measure import SortedMeasure
from halftruth.table import _strata

BOTH = (smooth_calibration_error, logit_smoothed_calibration_error)


def normal(x, sigma):
    return np.exp(-((x / sigma) ** 2) / 2) / (sigma * np.sqrt(2 * np.pi))


def smoothed(score, residual, sigma):
    """∫_0^1 |Σ_i r_i K(t, s_i)| dt, K the Gaussian and its mirror images at 0 and 1."""
    t = np.linspace(0, 1, 1 + int(max(2000, 40 / sigma)))
    at = np.zeros(len(t))
    for s, r in zip(score, residual, strict=True):
        for k in range(-1 - int(5 * sigma), 2 + int(5 * sigma)):
            for center in (2 * k + s, 2 * k - s):
                # Further away the density is 0 in floating point.
                near = slice(*np.searchsorted(t, [center - 39 * sigma, center + 39 * sigma]))
                at[near] += r * normal(t[near] - center, sigma)
    return np.trapezoid(np.abs(at), t)


def assert_own_width(value, score, residual, *, rel=2e-4):
    """The error falls as the width grows, so the width that equals it lies between ``value`` and this."""
    assert smoothed(score, residual, value) == pytest.approx(value, rel=rel)


def logit_by_definition(score, mass, pos, sigma):
    """E|P(Y=1 | S′) − S′| over S′, from the two densities of its logit."""
    inner = (score > 0) & (score < 1)
    ends = abs(pos[score == 0].sum()) + abs((pos - mass)[score == 1].sum())
    z = np.log(score[inner] / (1 - score[inner]))
    if not len(z):
        return ends / mass.sum()
    grid = np.arange(z.min() - 9 * sigma, z.max() + 9 * sigma, sigma / 100)
    kernel = normal(grid[:, None] - z, sigma)
    gap = np.abs(kernel @ pos[inner] - kernel @ mass[inner] / (1 + np.exp(-grid)))
    return (np.trapezoid(gap, grid) + ends) / mass.sum()


def _labeled(seed, n, power):
    rng = np.random.default_rng(seed)
    s = rng.beta(1, 2, n)
    return s, (rng.random(n) < s**power).astype(float)


@pytest.mark.parametrize(("n", "power"), [(1, 1.0), (5, 1.0), (60, 0.5), (60, 1.0), (400, 1.0)])
def test_smooth_error_of_labels_by_quadrature(n, power):
    s, y = _labeled(n, n, power)
    assert_own_width(smooth_calibration_error(ht.Labeled(y, s)), s, (y - s) / n)


def test_smooth_error_at_both_ends_and_of_signed_masses():
    rng = np.random.default_rng(7)
    score = np.append(np.append(0.0, np.sort(rng.random(28))), 1.0)
    mass, pos = rng.random(30), rng.normal(size=30)
    measure = ht.ScoreMeasure(score=score, mass=mass, pos_mass=pos)
    value = smooth_calibration_error(measure)
    assert value > 0.3
    assert_own_width(value, score, (pos - score * mass) / mass.sum())


@pytest.mark.parametrize("sigma", [1 / 15, 0.02, 1.0])
@pytest.mark.parametrize("n", [1, 20, 300])
def test_logit_smoothed_error_of_labels_by_quadrature(n, sigma):
    s, y = _labeled(n, n, 1.5)
    expected = logit_by_definition(s, np.ones(n), y, sigma)
    assert logit_smoothed_calibration_error(ht.Labeled(y, s), sigma) == pytest.approx(expected, abs=2e-5)


def test_logit_smoothed_error_of_signed_masses_with_scores_of_zero_and_one():
    rng = np.random.default_rng(8)
    score = np.append(np.append(0.0, np.sort(rng.random(28))), 1.0)
    mass, pos = rng.random(30), rng.normal(size=30)
    measure = ht.ScoreMeasure(score=score, mass=mass, pos_mass=pos)
    expected = logit_by_definition(score, mass, pos, 1 / 15)
    assert logit_smoothed_calibration_error(measure) == pytest.approx(expected, rel=1e-4)


def test_scores_of_zero_and_one_stay_where_they_are():
    evidence = ht.Labeled([0, 0, 1, 1, 1], [0.0, 0.0, 0.0, 1.0, 1.0])
    assert logit_smoothed_calibration_error(evidence) == 0.2
    assert logit_smoothed_calibration_error(ht.Labeled([0, 1], [0.0, 1.0])) == 0.0
    # Reflected: the residual 1/5 at 0 keeps its mass whatever the width.
    assert smooth_calibration_error(evidence) == pytest.approx(0.2, rel=1e-9)


def test_residuals_of_one_sign_add_up():
    evidence = ht.SoftLabeled([0.5, 0.25, 1.0], [0.25, 0.125, 0.5])
    assert smooth_calibration_error(evidence) == pytest.approx(0.875 / 3, rel=1e-9)


def test_perfect_soft_labels_have_no_smooth_error():
    q = np.random.default_rng(9).random(500)
    assert smooth_calibration_error(ht.SoftLabeled(q, q)) == 0.0


def test_smooth_error_depends_continuously_on_the_scores():
    half = ht.Labeled([0, 1], [0.5, 0.5])
    apart = ht.Labeled([0, 1], [0.5 + 1e-6, 0.5 - 1e-6])
    assert smooth_calibration_error(half) == 0.0
    # Two residuals of ±1/4 at 2e-6 from each other: 1e-6/(√(2π) σ) = σ.
    assert smooth_calibration_error(apart) == pytest.approx((1e-6 / np.sqrt(2 * np.pi)) ** 0.5, rel=2e-3)


def test_weights_are_repetitions():
    rng = np.random.default_rng(10)
    s, y, w = rng.random(50), rng.integers(0, 2, 50), rng.integers(1, 4, 50)
    repeated = ht.Labeled(np.repeat(y, w), np.repeat(s, w))
    for error in BOTH:
        value = error(ht.Labeled(y, s, sample_weight=w))
        assert value == pytest.approx(error(repeated), rel=1e-11)


@pytest.mark.parametrize("error", BOTH)
def test_many_measures_at_once(error):
    rng = np.random.default_rng(11)
    mass = rng.random((3, 4, 40)) * 5
    pos = mass * (rng.random(mass.shape) < 0.5)
    pos[0] = mass[0] * np.linspace(0, 1, 40)  # nearly perfect: a finer grid than the others
    pos[2, 3] = np.nan
    mass[2, 2] = pos[2, 2] = 0.0
    batch = ht.ScoreMeasure(score=np.linspace(0, 1, 40) ** 1.01, mass=mass, pos_mass=pos)
    together = error(batch)
    assert together.shape == (3, 4)
    assert np.isnan(together).tolist() == [[False] * 4, [False] * 4, [False, False, True, True]]
    for i in range(3):
        for j in range(4 if i < 2 else 2):
            assert together[i, j] == pytest.approx(error(batch[i][j]), rel=1e-11)
    assert together[0].max() < 8 / 1024 < together[1].min()


@pytest.mark.parametrize("error", BOTH)
@pytest.mark.parametrize(
    "options", [{}, {"purity": 0.8}, {"population": "all"}, {"negative": [0.1, 0.5, 0.3]}]
)
@pytest.mark.parametrize("ends", [False, True])
def test_raw_rows_give_the_same(ends, options, error, monkeypatch):
    rng = np.random.default_rng(12)
    p, u = rng.beta(2, 1, 70), rng.random(400)
    if ends:
        p, u = np.where(p > 0.9, 1.0, p), np.where(u < 0.1, 0.0, u)
    few = error(ht.PositiveUnlabeled(p, u, prior=0.3, **options))
    monkeypatch.setattr(_strata, "COMPILED", 1)
    many = ht.PositiveUnlabeled(p, u, prior=0.3, **options).measure()
    assert isinstance(many, SortedMeasure)
    assert error(many) == pytest.approx(few, rel=1e-11)


@pytest.mark.parametrize("error", BOTH)
def test_raw_rows_at_the_ends_only(error, monkeypatch):
    monkeypatch.setattr(_strata, "COMPILED", 1)
    evidence = ht.Labeled([0, 0, 1, 1, 1], [0.0, 0.0, 0.0, 1.0, 1.0])
    assert isinstance(evidence.measure(), SortedMeasure)
    assert error(evidence) == pytest.approx(0.2, rel=1e-9)


def test_nodes_of_chunks_are_those_of_rows_whatever_the_threads(monkeypatch):
    s = np.random.default_rng(13).random(600_000)
    s[:3] = 0.0, 1.0, 0.5
    several = _condensing.residual_nodes(s, 1.0, 1.0, 64)
    np.testing.assert_allclose(
        several, spread_to_nodes((1 - s)[None, np.argsort(s)], np.sort(s), 64)[0], rtol=1e-9
    )
    logits = _condensing.logit_nodes(s, 0.25)
    inner = np.sort(s[(s > 0) & (s < 1)])
    node, expected = split_to_nodes(np.ones((1, len(inner))), np.log(inner / (1 - inner)) / 0.25)
    np.testing.assert_allclose(logits[1][node - logits[0]], expected[0], rtol=1e-9)
    assert logits[1].sum() == pytest.approx(len(inner))
    assert logits[2:] == (1, 1)
    monkeypatch.setattr(_compiling, "THREADS", 1)
    assert (_condensing.residual_nodes(s, 1.0, 1.0, 64) == several).all()
    assert (_condensing.logit_nodes(s, 0.25)[1] == logits[1]).all()


def test_a_coarser_grid_is_as_if_split_at_once():
    rng = np.random.default_rng(14)
    score, values = np.sort(np.append(rng.random(50), 1.0)), rng.normal(size=(1, 51))
    fine = spread_to_nodes(values, score, 1024)[0]
    np.testing.assert_allclose(coarser_nodes(fine, 64), spread_to_nodes(values, score, 64)[0], atol=1e-12)


@pytest.mark.parametrize("scale", [0.1, 0.01, 0.002])
def test_finer_grids_where_the_width_is_small(scale):
    rng = np.random.default_rng(15)
    s = np.sort(rng.uniform(0.02, 0.98, 100))
    q = s + scale * rng.uniform(-0.2, 0.2, 100)
    value = smooth_calibration_error(ht.SoftLabeled(q, s))
    assert 0.02 * scale < value < 0.2 * scale
    assert_own_width(value, s, (q - s) / 100, rel=2e-3)


def test_bad_input():
    for error, name in zip(BOTH, ("Smooth", "Logit-smoothed"), strict=True):
        with pytest.raises(ht.InputError, match=rf"{name} calibration error needs scores in \[0, 1\]"):
            error(ht.Labeled([0, 1], [0.5, 1.5]))
    for sigma in (0.0, -1.0, 100.0, "wide"):
        with pytest.raises(ht.InputError, match="`sigma` must"):
            logit_smoothed_calibration_error(ht.Labeled([0, 1], [0.5, 0.7]), sigma=sigma)
