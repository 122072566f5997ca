"""The slope at the end of the ROC curve: the bound by its formula, the fitted curve on its own families."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from halftruth.prior._samples import Samples
from halftruth.prior.estimators import _roc_slope as roc_slope

from .made import assert_only_order_counts, samples

BOTH = pytest.mark.parametrize("fit", [roc_slope.fit_roc_slope, roc_slope.fit_roc_curve])


def mixture(rng, n_positive, n_unlabeled, alpha, separation, law="normal"):
    draw = getattr(rng, law)
    unlabeled = draw(0, 1, n_unlabeled)
    unlabeled[rng.random(n_unlabeled) < alpha] += separation
    return samples(draw(separation, 1, n_positive), unlabeled)


def anchored(rng, n_positive, n_unlabeled, alpha, anchor, *, abrupt=True):
    """Positives uniform on [0, 1], negatives below 1 − anchor, uniform or of a density that falls to 0 there."""
    unlabeled = rng.random(n_unlabeled)
    negative = rng.random(n_unlabeled) >= alpha
    if not abrupt:
        unlabeled[negative] = 1 - np.sqrt(unlabeled[negative])
    unlabeled[negative] *= 1 - anchor
    return samples(rng.random(n_positive), unlabeled)


def slack(delta, n):
    return np.sqrt(np.log(2 / delta) / (2 * n))


@pytest.mark.parametrize("seed", range(20))
def test_the_bound_is_its_formula_at_every_positive_score(monkeypatch, seed):
    rng = np.random.default_rng(seed)
    delta = [0.1, 0.5][seed % 2]
    positive, unlabeled = rng.normal(1.5, 1, 60).round(1), rng.normal(0.3, 1, 300).round(seed % 3)
    e_p, e_u = slack(delta, 60), slack(delta, 300)
    q_p, q_u = (np.array([np.mean(x >= t) for t in positive]) for x in (positive, unlabeled))
    ratios = [(b + e_u) / (a - e_p) for a, b in zip(q_p, q_u, strict=True) if a > e_p] + [1.0]
    monkeypatch.setattr(roc_slope, "DELTA", delta)
    assert roc_slope.fit_roc_slope(samples(positive, unlabeled)).value == pytest.approx(min(ratios))


@pytest.mark.parametrize("alpha", [0.05, 0.3, 0.6])
@pytest.mark.parametrize("anchor", [0.2, 0.5])
def test_the_bound_covers_alpha_and_shrinks_to_it_where_negatives_end(draws, alpha, anchor):
    rng = np.random.default_rng(1)
    for n in (500, 5_000):
        values = np.array(
            [
                roc_slope.fit_roc_slope(anchored(rng, n, 5 * n, alpha, anchor)).value
                for _ in range(max(10, draws(40)))
            ]
        )
        assert np.mean(values >= alpha) > 0.9 - 3 * np.sqrt(0.09 / len(values))
        e_p, e_u = slack(0.1, n), slack(0.1, 5 * n)
        # On the event that both bands hold, each band is off by at most twice its slack at the anchor.
        most = (alpha * anchor + 2 * e_u) / (anchor - 2 * e_p)
        assert np.mean(values <= most) > 0.9 - 3 * np.sqrt(0.09 / len(values))


@pytest.mark.parametrize(("alpha", "separation"), [(0.1, 1.5), (0.3, 2.0), (0.6, 2.0)])
def test_the_bound_lies_too_high_on_overlap_by_a_known_amount(alpha, separation):
    n_positive, n_unlabeled = 5_000, 50_000
    v = np.linspace(0.001, 1, 5_000)
    exact = alpha * v + (1 - alpha) * stats.norm.cdf(stats.norm.ppf(v) - separation)
    usable = v > 2 * slack(0.1, n_positive)
    expected = np.min((exact + slack(0.1, n_unlabeled))[usable] / (v - slack(0.1, n_positive))[usable])
    rng = np.random.default_rng(2)
    values = [
        roc_slope.fit_roc_slope(mixture(rng, n_positive, n_unlabeled, alpha, separation)).value
        for _ in range(20)
    ]
    assert expected > alpha + 0.03
    assert np.mean(values) == pytest.approx(expected, abs=0.012)


def exact_curve(alpha, share_of_negatives, n=6_000):
    """Samples without noise: equal positives, and the unlabeled mass between them by the curve."""
    v = np.arange(n + 1) / n
    below = np.diff(alpha * v + (1 - alpha) * share_of_negatives(v))
    return Samples(
        score=np.arange(n) * 1.0,
        positive=np.ones(n),
        unlabeled=1e6 * below[::-1],
        n_positive=1e5,
        n_unlabeled=1e6,
    )


@pytest.mark.parametrize("alpha", [0.02, 0.3, 0.6, 0.9])
@pytest.mark.parametrize(
    "share_of_negatives",
    [
        lambda v: stats.norm.cdf(stats.norm.ppf(v) - 2.0),
        lambda v: stats.norm.cdf(stats.norm.ppf(v) - 3.5),
        lambda v: v**3,
        lambda v: np.maximum(v - 0.2, 0) / 0.8,
        lambda v: (np.maximum(v - 0.5, 0) / 0.5) ** 2,
    ],
)
def test_the_curve_finds_the_slope_within_its_families(alpha, share_of_negatives):
    assert roc_slope.fit_roc_curve(exact_curve(alpha, share_of_negatives)).value == pytest.approx(
        alpha, abs=0.003
    )


def curve_errors(rng, n, alpha, anchor, *, abrupt):
    return [
        abs(roc_slope.fit_roc_curve(anchored(rng, n, 10 * n, alpha, anchor, abrupt=abrupt)).value - alpha)
        for _ in range(8)
    ]


@pytest.mark.parametrize("alpha", [0.05, 0.3, 0.6])
def test_the_curve_converges_where_negatives_fade_out(alpha):
    rng = np.random.default_rng(3)
    few, many = (np.mean(curve_errors(rng, n, alpha, 0.2, abrupt=False)) for n in (500, 20_000))
    # Forty times the rows are a sixth of the noise.
    assert many < 0.3 * few + 0.001


@pytest.mark.parametrize("alpha", [0.05, 0.3, 0.6])
def test_the_curve_keeps_a_small_error_where_negatives_end_abruptly(alpha):
    assert np.mean(curve_errors(np.random.default_rng(3), 20_000, alpha, 0.2, abrupt=True)) < 0.025


@pytest.mark.parametrize("alpha", [0.1, 0.3, 0.6])
def test_negatives_below_every_positive_do_not_bend_the_curve(alpha):
    # Half of the negatives lie below all positives, where no curve of these families can put them.
    rng = np.random.default_rng(8)
    unlabeled = rng.random(50_000)
    unlabeled[rng.random(50_000) >= alpha] -= 0.5
    assert roc_slope.fit_roc_curve(samples(rng.random(5_000), unlabeled)).value == pytest.approx(
        alpha, abs=0.03
    )


def test_the_curve_has_little_bias_on_gaussian_overlap(draws):
    rng = np.random.default_rng(4)
    values = [
        roc_slope.fit_roc_curve(mixture(rng, 1_000, 10_000, 0.3, 2.0)).value
        for _ in range(max(20, draws(100)))
    ]
    assert abs(np.mean(values) - 0.3) < 4 * np.std(values) / np.sqrt(len(values)) + 0.004


@BOTH
def test_where_negatives_never_vanish_no_slope_is_below_the_identifiable_one(fit):
    # Logistic scores: negatives by positives tend to exp(−d) at the top, so the slope is α + (1 − α) exp(−d).
    rng = np.random.default_rng(5)
    values = [fit(mixture(rng, 5_000, 50_000, 0.1, 2.5, "logistic")).value for _ in range(10)]
    assert np.mean(values) > 0.1 + 0.7 * 0.9 * np.exp(-2.5)


@BOTH
def test_only_the_order_of_scores_matters_and_empty_scores_do_not(fit):
    assert_only_order_counts(fit, mixture(np.random.default_rng(6), 300, 2_000, 0.4, 2.0))


@BOTH
@pytest.mark.parametrize(
    ("positive", "unlabeled", "low", "high"),
    [
        ([1.0], [0.0], 0, 1),
        ([1.0], [1.0], 1 - 1e-9, 1),
        (np.ones(50), np.ones(80), 1 - 1e-9, 1),
        (np.linspace(2, 3, 900), np.linspace(0, 1, 9_000), 0, 0.03),
        (np.linspace(0, 1, 200), np.linspace(2, 3, 900), 1 - 1e-9, 1),  # the direction of scores is trusted
        (np.linspace(0, 1, 400), np.linspace(0, 1, 4_000), 0.97, 1),
        ([1e300, 5e-324], [1e300, 5e-324, -1e300, -1e300], 0, 1),
        ([1.0, 2.0] * 40, [0.0, 1.0, 2.0, 2.0] * 60, 0, 1),
    ],
)
def test_hard_cases_have_a_value(fit, positive, unlabeled, low, high):
    assert low <= fit(samples(np.asarray(positive), np.asarray(unlabeled))).value <= high


def test_the_diagnostic_shows_the_bound_and_the_slope():
    s = mixture(np.random.default_rng(7), 400, 4_000, 0.2, 2.0)
    bound = roc_slope.fit_roc_slope(s)
    assert bound.value == bound.curve.y.min()
    assert bound.curve.chosen == bound.curve.x[np.argmin(bound.curve.y)]
    curve = roc_slope.fit_roc_curve(s).curve
    assert np.all(np.diff(curve.y) >= -1e-9), "the fitted curve is convex"
