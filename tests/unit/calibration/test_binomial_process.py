"""Binomial process modeling: the optimum, the integral and the edge cases, against definitions by hand."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import optimize, stats
from scipy.special import expit, log_expit

import halftruth as ht
from halftruth.calibration import _beta_curve_fit, _binomial_process
from halftruth.calibration._beta_curve_fit import mean_gap
from halftruth.calibration._binomial_process import (
    BetaCurve,
    _points,
    _sizes,
    bpm_calibration_error,
    fit_curve,
)
from halftruth.table import _strata
from halftruth.table._sorted_rows import SortedRows

MODEL = ht.simulate.GaussianClasses(prior=0.3, slope=3.0, intercept=-2.0)

# Curve over the logit of the score, the two parameters of the Beta law of the scores, and the printed TCE.
LAWS: dict[str, tuple[Callable[[np.ndarray], np.ndarray], float, float, float]] = {
    "D1": (lambda x: expit(-0.88 + 0.49 * x), 2.77, 0.04, 0.04973),
    "D2": (lambda x: -np.expm1(-0.12 + 0.58 * log_expit(-x)), 2.17, 0.03, 0.01293),
    "D3": (lambda x: np.exp(-0.03 + 1.27 * log_expit(x)), 1.12, 0.11, 0.04099),
    "D4": (lambda x: expit(-0.77 - 0.80 * log_expit(-x)), 1.13, 0.20, 0.07383),
    "D5": (lambda x: expit(-0.97 + 0.34 * x), 1.19, 0.22, 0.27541),
}


def labeled(n: int, seed: int = 0) -> ht.Labeled:
    return MODEL.labeled(n, np.random.default_rng(seed))


def spread_out(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Distinct sorted scores and labels that follow D5's curve."""
    rng = np.random.default_rng(seed)
    s = np.sort(rng.beta(1.2, 0.8, n))
    return s, (rng.random(n) < expit(-0.97 + 0.34 * np.log(s / (1 - s)))).astype(int)


def bins_by_hand(s: np.ndarray, y: np.ndarray, sizes: list[int]) -> list[list[tuple[float, float, float]]]:
    """(mean score, mean label, share) of equal-mass bins of sorted distinct scores, by binning."""
    n = len(s)
    out = []
    for size in sizes:
        cuts = [n * b // size for b in range(size + 1)]
        out.append([(s[i:j].mean(), y[i:j].mean(), (j - i) / n) for i, j in itertools.pairwise(cuts)])
    return out


def loss_by_hand(theta: np.ndarray, bins: list[list[tuple[float, float, float]]]) -> float:
    a, b, c = theta
    total = 0.0
    for binning in bins:
        for s, y, share in binning:
            g = 1 / (1 + s**-a * (1 - s) ** b * np.exp(c))
            total += share * np.exp((g - y) ** 2)
    return total


# --- the curve ----------------------------------------------------------------------------------------


def test_the_curve_is_its_formula() -> None:
    s = np.linspace(0.01, 0.99, 50)
    curve = BetaCurve(a=0.7, b=1.9, c=-0.4)
    np.testing.assert_allclose(curve(s), 1 / (1 + s**-0.7 * (1 - s) ** 1.9 * np.exp(-0.4)), rtol=1e-13)
    assert isinstance(curve(0.3), float)


def test_the_curve_at_the_ends_stays_off_them_by_a_little() -> None:
    curve = BetaCurve(a=0.5, b=2.0, c=0.0)
    np.testing.assert_allclose(curve([0.0, 1.0]), curve([1e-10, 1 - 1e-10]), rtol=1e-12)
    assert curve(0.0) == pytest.approx(1e-5, rel=1e-4)
    assert BetaCurve(a=0.0, b=0.0, c=1.0)([0.0, 1.0]) == pytest.approx([expit(-1.0)] * 2)


def test_several_curves_have_an_axis_of_their_own() -> None:
    curves = BetaCurve(a=np.array([1.0, 2.0]), b=np.array([1.0, 0.5]), c=np.array([0.0, 1.0]))
    s = np.array([0.2, 0.5, 0.9])
    np.testing.assert_allclose(curves(s), [BetaCurve(1.0, 1.0, 0.0)(s), BetaCurve(2.0, 0.5, 1.0)(s)])


# --- the fit ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "sizes"),
    [
        (20.0, [3, 4, 5, 6, 7, 8, 9, 10]),
        (1000.0, [10, 14, 18, 22, 26, 30, 34, 38, 42, 46, 50]),
        (1e7, list(range(100, 501, 40))),
    ],
)
def test_the_numbers_of_bins_go_from_a_hundredth_to_a_twentieth(size: float, sizes: list[int]) -> None:
    assert _sizes(size, "paper") == sizes


def test_the_authors_numbers_of_bins_have_no_limits() -> None:
    assert _sizes(20_000.0, "authors") == list(range(200, 1001, 80))
    assert _sizes(30.0, "authors") == [1]


@pytest.mark.parametrize("seed", range(4))
def test_the_fit_is_the_least_of_many_searches_of_the_definition(seed: int) -> None:
    s, y = spread_out(400, seed)
    bins = bins_by_hand(s, y, _sizes(400, "paper"))
    curve = fit_curve(ht.Labeled(y, s))
    ours = loss_by_hand(np.array([curve.a, curve.b, curve.c]), bins)
    rng = np.random.default_rng(seed)
    bounds = [(0, None), (0, None), (None, None)]
    starts = np.column_stack([rng.exponential(2, (8, 2)), rng.normal(0, 2, 8)])
    best = min(
        optimize.minimize(loss_by_hand, start, args=(bins,), bounds=bounds, method="L-BFGS-B").fun
        for start in starts
    )
    assert ours <= best + 1e-12
    assert ours == pytest.approx(best, abs=1e-6)
    assert min(curve.a, curve.b) >= 0


EVIDENCE: dict[str, Callable[[int], Any]] = {
    "labeled": lambda seed: labeled(300, seed),
    "few": lambda seed: labeled(12, seed),
    "unlabeled": lambda seed: MODEL.positive_unlabeled(60, 500, seed, prior=0.3),
    "impure": lambda seed: MODEL.positive_unlabeled(60, 500, seed, prior=0.3, purity=0.8),
    "tied": lambda seed: ht.Labeled(MODEL.draw(200, seed).y, MODEL.draw(200, seed).score.round(1)),
}


@pytest.mark.parametrize("kind", EVIDENCE)
@pytest.mark.parametrize("seed", range(3))
def test_no_other_start_finds_less(kind: str, seed: int) -> None:
    measure = EVIDENCE[kind](seed).measure()
    points = _points(measure, _sizes(measure.size, "paper"), "paper")
    shift = points.shift()
    ours = points.loss(_beta_curve_fit.fit(points, slice(None)), shift)[0]

    def loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        g = points.at(theta[None])[0]
        gap = g - points.label[0]
        each = 2 * points.weight[0] * np.exp(gap**2 - shift[0]) * gap * g * (1 - g)
        design = np.stack([points.log_s[0], points.log_odds[0], -np.ones_like(g)])
        return float(points.loss(theta[None], shift)[0]), design @ each

    rng = np.random.default_rng(seed)
    bounds = [(0, 50), (0, 50), (-50, 50)]
    options = {"ftol": 1e-15, "gtol": 1e-12, "maxiter": 2000}
    for start in np.column_stack([rng.exponential(2, (10, 2)), rng.normal(0, 3, 10)]):
        found = optimize.minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B", options=options)
        assert ours <= found.fun * (1 + 1e-10) + 1e-13


def test_a_minimum_that_is_not_the_least_is_left() -> None:
    """Rounded scores of exactly 0 and 1 give the loss a second minimum, where a search from (1, 1) ends."""
    measure = EVIDENCE["tied"](1).measure()
    points = _points(measure, _sizes(measure.size, "paper"), "paper")
    shift = points.shift()
    from_one = _beta_curve_fit._descend(points, _beta_curve_fit._starts(points)[0], shift)
    ours = _beta_curve_fit.fit(points, slice(None))
    assert points.loss(ours, shift)[0] < points.loss(from_one, shift)[0] - 1e-3


def test_a_curve_far_away_that_needs_no_step_stays_where_it_is() -> None:
    x, one = np.asarray([[1.0, 2.0]]), np.ones((1, 2))
    points = _beta_curve_fit.Points(-x, x, one / 2, one)
    theta = np.asarray([[1e9, 1e9, 0.0]])  # the curve is ½ everywhere, as the labels are
    step, promise, near = _beta_curve_fit._step(points, theta, np.zeros(1), np.ones(1))
    np.testing.assert_array_equal(step, 0.0)
    assert promise == 0
    assert near


@pytest.mark.parametrize("truth", [(1.0, 1.0, 0.0), (0.5, 2.0, -1.0), (2.0, 0.3, 1.0)])
def test_a_curve_of_the_family_is_found_again(truth: tuple[float, float, float]) -> None:
    s = np.linspace(0.05, 0.95, 20_000)  # nearer to 0 and 1 the curve bends within bins
    curve = fit_curve(ht.SoftLabeled(BetaCurve(*truth)(s), s))
    assert (curve.a, curve.b, curve.c) == pytest.approx(truth, abs=1e-3)
    np.testing.assert_allclose(curve(s), BetaCurve(*truth)(s), atol=1e-4)


def test_a_falling_curve_is_fitted_by_a_constant() -> None:
    s = np.linspace(0.01, 0.99, 200)
    curve = fit_curve(ht.SoftLabeled(1 - s, s))
    assert (curve.a, curve.b) == (0, 0)
    assert curve(0.5) == pytest.approx(0.5, abs=1e-4)


def test_the_authors_variant_is_nelder_and_meads_search_over_bins_that_count_alike() -> None:
    s, y = spread_out(600, 1)
    bins = [one for binning in bins_by_hand(s, y, list(range(6, 31, 2))) for one in binning]

    def loss(theta: np.ndarray) -> float:
        a, b, c = theta
        gaps = [1 / (1 + s**-a * (1 - s) ** b * np.exp(c)) - y for s, y, _ in bins]
        return -float(np.exp(-np.square(gaps)).sum())

    start = [5.0, 5.0, -10 * np.log(0.5)]
    wanted = optimize.minimize(loss, start, method="Nelder-Mead", options={"fatol": 1e-10})
    curve = fit_curve(ht.Labeled(y, s), variant="authors")
    assert (curve.a, curve.b, curve.c) == pytest.approx(wanted.x, abs=2e-3)
    assert loss(np.array([curve.a, curve.b, curve.c])) == pytest.approx(wanted.fun, abs=1e-6)


def test_the_authors_variant_may_fall() -> None:
    s = np.linspace(0.01, 0.99, 400)
    curve = fit_curve(ht.SoftLabeled(1 - s, s), variant="authors")
    assert curve(0.1) > 0.8 > 0.2 > curve(0.9)


def test_a_bin_of_next_to_no_mass_does_not_decide() -> None:
    s = np.array([0.1, 0.3, 0.5, 0.6, 0.7, 0.9, 0.95])
    mass, pos = np.append(np.full(6, 100.0), 0.01), np.append(100 * s[:-1], 0.2)
    with_it = ht.ScoreMeasure(score=s, mass=mass, pos_mass=pos, size=600.0)
    without = ht.ScoreMeasure(score=s[:-1], mass=mass[:-1], pos_mass=pos[:-1], size=600.0)
    np.testing.assert_allclose(fit_curve(without)(s), s, atol=1e-6)
    np.testing.assert_allclose(fit_curve(with_it)(s), s, atol=1e-3)


# --- the integral -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LAWS)
def test_the_papers_true_calibration_errors(name: str) -> None:
    curve, a1, a2, printed = LAWS[name]
    found = mean_gap(lambda x, _: curve(x) - expit(x), np.array([a1]), np.array([a2]), reach=600.0)
    assert found[0] == pytest.approx(printed, abs=6e-6)


@functools.cache
def fine_logits() -> tuple[np.ndarray, ...]:
    """A million logits, with the scores and the logs of both classes' probabilities there."""
    x = np.linspace(-np.log(1e10), np.log(1e10), 1_000_001)
    return x, expit(x), log_expit(x), log_expit(-x)


def integrals_by_hand(thetas: np.ndarray, a1: float, a2: float) -> list[float]:
    """For each curve a sum over a million logits, and the mass beyond them."""
    x, score, log_score, log_rest = fine_logits()
    log = a1 * log_score + a2 * log_rest
    density = np.exp(log - log.max())
    density /= np.trapezoid(density, x)
    low, high = stats.beta.cdf(1e-10, a1, a2), stats.beta.cdf(1e-10, a2, a1)
    gaps = (np.abs(expit(a * log_score - b * log_rest - c) - score) for a, b, c in thetas)
    return [
        float((1 - low - high) * np.trapezoid(density * gap, x) + low * gap[0] + high * gap[-1])
        for gap in gaps
    ]


@pytest.mark.parametrize(
    ("a1", "a2"), [(0.02, 0.03), (2.77, 0.04), (0.05, 3.0), (1.0, 1.0), (30.0, 0.5), (700.0, 300.0)]
)
def test_the_integral_is_exact_whatever_the_density(a1: float, a2: float) -> None:
    theta = np.array([[1.0, 1.0, 0.0], [0.6, 0.3, 0.2], [1.8, 2.5, -0.7], [0.0, 0.4, 1.0]])
    a, b, c = theta.T[..., None]
    every = np.full(4, a1), np.full(4, a2)

    def gap(x: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return np.asarray(expit(a[rows] * log_expit(x) - b[rows] * log_expit(-x) - c[rows]) - expit(x))

    wanted = integrals_by_hand(theta, a1, a2)
    np.testing.assert_allclose(mean_gap(gap, *every), wanted, atol=2e-9)
    assert wanted[0] < 1e-12 < wanted[1]


def test_the_error_over_the_beta_law_has_the_moments_of_the_scores() -> None:
    evidence = labeled(500)
    s = MODEL.draw(500, np.random.default_rng(0)).score
    m, v = s.mean(), s.var(ddof=1)
    a1 = m**2 * (1 - m) / v - m
    curve = fit_curve(evidence)
    (wanted,) = integrals_by_hand(np.array([[curve.a, curve.b, curve.c]]), a1, a1 * (1 - m) / m)
    assert bpm_calibration_error(evidence) == pytest.approx(wanted, abs=1e-8)


def test_the_error_over_the_scores_themselves_is_a_mean() -> None:
    evidence = labeled(500)
    s = MODEL.draw(500, np.random.default_rng(0)).score
    wanted = np.abs(fit_curve(evidence)(s) - s).mean()
    assert bpm_calibration_error(evidence, density="empirical") == pytest.approx(wanted, abs=1e-12)


# --- edge cases ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("density", ["beta", "empirical"])
@pytest.mark.parametrize("score", [0.3, 0.0, 1.0])
def test_one_score_alone(density: str, score: float) -> None:
    evidence = ht.Labeled([1, 0, 1, 1], [score] * 4)
    assert bpm_calibration_error(evidence, density=density) == pytest.approx(abs(0.75 - score), abs=1e-6)


def test_scores_of_zero_and_one_alone_have_no_beta_law_but_a_limit() -> None:
    evidence = ht.Labeled([1, 0, 0, 0, 1, 1, 1, 0], [0, 0, 0, 0, 1, 1, 1, 1])
    assert bpm_calibration_error(evidence) == pytest.approx(0.25, abs=1e-5)


@pytest.mark.parametrize("y", [0, 1])
def test_one_class_alone(y: int) -> None:
    s = np.linspace(0.1, 0.9, 30)
    evidence = ht.Labeled(np.full(30, y), s)
    assert bpm_calibration_error(evidence, density="empirical") == pytest.approx(
        np.abs(y - s).mean(), abs=1e-4
    )


def test_an_empty_or_undefined_measure_has_no_value() -> None:
    score = np.array([0.2, 0.8])
    masses = np.array([[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]])
    pos = np.array([[0.0, 1.0], [0.0, 0.0], [np.nan, np.nan]])
    measure = ht.ScoreMeasure(score=score, mass=masses, pos_mass=pos, size=9.0)
    for density in ("beta", "empirical"):
        assert np.isnan(bpm_calibration_error(measure, density=density)).tolist() == [False, True, True]


def test_the_scale_of_the_weights_changes_nothing() -> None:
    draw = MODEL.draw(300, 0)
    evidence = [ht.Labeled(draw.y, draw.score, sample_weight=[w] * 300) for w in (0.5, 0.001)]
    for variant in ("paper", "authors"):
        values = [bpm_calibration_error(each, variant) for each in evidence]
        assert values[0] == pytest.approx(values[1], abs=1e-5 if variant == "authors" else 1e-10)


@pytest.mark.parametrize("density", ["beta", "empirical"])
def test_many_measures_give_what_each_gives_alone(density: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_binomial_process, "CHUNK", 1 << 14)  # several chunks of these few
    rng = np.random.default_rng(3)
    score = np.sort(rng.random(40))
    mass, pos = rng.integers(0, 5, (2, 35, 40)).astype(float), rng.normal(0.4, 0.5, (2, 35, 40))
    batch = ht.ScoreMeasure(score=score, mass=mass, pos_mass=mass * pos, size=300.0)
    together = bpm_calibration_error(batch, density=density)
    assert together.shape == (2, 35)
    alone = [[bpm_calibration_error(batch[i][j], density=density) for j in range(35)] for i in range(2)]
    assert np.array_equal(together, alone)


@pytest.mark.parametrize("kind", ["labeled", "unlabeled", "impure"])
def test_many_rows_take_another_road_to_the_same_value(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    few = EVIDENCE[kind](1)
    wanted = [bpm_calibration_error(few, density=density) for density in ("beta", "empirical")]
    monkeypatch.setattr(_strata, "COMPILED", 1)
    many = EVIDENCE[kind](1)
    assert isinstance(many.table.support, SortedRows)
    found = [bpm_calibration_error(many, density=density) for density in ("beta", "empirical")]
    assert found == pytest.approx(wanted, abs=1e-10)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"variant": "theirs"}, "`variant` must be 'paper' or 'authors'"),
        ({"density": 1}, "`density` must be"),
    ],
)
def test_words_that_mean_nothing_are_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ht.InputError, match=said):
        bpm_calibration_error(labeled(20), **settings)


def test_scores_outside_zero_and_one_are_refused() -> None:
    for call in (bpm_calibration_error, fit_curve):
        with pytest.raises(ht.InputError, match="needs scores in"):
            call(ht.Labeled([0, 1], [0.5, 1.5]))
