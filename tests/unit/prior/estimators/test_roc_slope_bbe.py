"""Best bin estimation: its formula, the bias it is known for, and the form without most of that bias."""

from __future__ import annotations

import numpy as np
import pytest

from halftruth.prior._samples import Samples
from halftruth.prior.estimators import _roc_slope as bbe

from .made import assert_only_order_counts, samples

BOTH = pytest.mark.parametrize("fit", [bbe.fit_bbe, bbe.fit_bbe_corrected])


def gaussian(rng, n_positive, n_unlabeled, alpha, separation=2.0):
    unlabeled = rng.normal(0, 1, n_unlabeled)
    unlabeled[rng.random(n_unlabeled) < alpha] += separation
    return samples(rng.normal(separation, 1, n_positive), unlabeled)


def anchored(rng, n_positive, n_unlabeled, alpha, anchor):
    """Positives uniform on [0, 1], negatives on [0, 1 − anchor]: none in the positives' top share."""
    unlabeled = rng.random(n_unlabeled)
    unlabeled[rng.random(n_unlabeled) >= alpha] *= 1 - anchor
    return samples(rng.random(n_positive), unlabeled)


def by_the_formula(positive, unlabeled, delta=0.1, gamma=0.01):
    best, value = np.inf, np.nan
    term = sum(np.sqrt(np.log(4 / delta) / 2 / len(x)) for x in (positive, unlabeled))
    for t in set(positive):
        q_p, q_u = np.mean(positive >= t), np.mean(unlabeled >= t)
        if (bound := q_u / q_p + (1 + gamma) / q_p * term) < best:
            best, value = bound, q_u / q_p
    return min(1.0, value)


@pytest.mark.parametrize("seed", range(20))
def test_the_published_form_is_its_formula_at_every_positive_score(monkeypatch, seed):
    rng = np.random.default_rng(seed)
    positive, unlabeled = rng.normal(1.5, 1, 30 + seed), rng.normal(0.5, 1.2, 200)
    if seed % 2:
        positive, unlabeled = positive.round(1), unlabeled.round(1)
    assert bbe.fit_bbe(samples(positive, unlabeled)).value == pytest.approx(
        by_the_formula(positive, unlabeled)
    )
    monkeypatch.setattr(bbe, "DELTA", 0.5)
    monkeypatch.setattr(bbe, "GAMMA", 0.3)
    other = bbe.fit_bbe(samples(positive, unlabeled)).value
    assert other == pytest.approx(by_the_formula(positive, unlabeled, 0.5, 0.3))


# Figures of an earlier measurement (f1 = N(2,1), f0 = N(0,1), α = .30) that came without their number of draws:
# each must be within the spread of one data set, which a mean over many then locates sharply.
@pytest.mark.parametrize(
    ("n_positive", "n_unlabeled", "figure", "n"),
    [(500, 5_000, 0.336, 200), (2_000, 20_000, 0.329, 100), (20_000, 200_000, 0.320, 16)],
)
def test_the_published_form_is_biased_up_and_the_corrected_one_much_less(
    draws, n_positive, n_unlabeled, figure, n
):
    rng = np.random.default_rng(9)
    drawn = [gaussian(rng, n_positive, n_unlabeled, 0.3) for _ in range(max(8, draws(n)))]
    published, corrected = (
        np.array([fit(s).value for s in drawn]) for fit in (bbe.fit_bbe, bbe.fit_bbe_corrected)
    )
    error = np.hypot(published.std(), corrected.std()) / np.sqrt(len(drawn))
    assert abs(published.mean() - figure) < 2 * published.std(ddof=1)
    assert published.mean() - 0.3 > 4 * published.std() / np.sqrt(len(drawn))
    assert abs(corrected.mean() - 0.3) < 0.6 * (published.mean() - 0.3) + 2 * error


@pytest.mark.parametrize("alpha", [0.02, 0.1, 0.3, 0.6])
@pytest.mark.parametrize("anchor", [0.05, 0.2, 0.5])
def test_the_corrected_form_is_consistent_where_negatives_end(alpha, anchor):
    # The noise of q_U/q_P over the anchor, of which the curve has three parameters more than the plain ratio.
    n_positive, n_unlabeled = 50_000, 500_000
    s = anchored(np.random.default_rng(3), n_positive, n_unlabeled, alpha, anchor)
    noise = np.sqrt((alpha / n_unlabeled + alpha**2 / n_positive) / anchor)
    assert abs(bbe.fit_bbe_corrected(s).value - alpha) < 6 * noise + 0.002


@pytest.mark.parametrize(("alpha", "power"), [(0.05, 2), (0.3, 3), (0.6, 4), (0.2, 8)])
def test_the_corrected_form_finds_the_slope_of_its_own_curve(alpha, power):
    n = 3_000
    v = np.arange(n + 1) / n
    below = np.diff(alpha * v + (1 - alpha) * v**power)
    s = Samples(
        score=np.arange(n) * 1.0,
        positive=np.ones(n),
        unlabeled=1e6 * below[::-1],
        n_positive=1e5,
        n_unlabeled=1e6,
    )
    published, corrected = bbe.fit_bbe(s).value, bbe.fit_bbe_corrected(s).value
    assert published > alpha + 0.001
    assert abs(corrected - alpha) < 0.3 * (published - alpha)


@BOTH
def test_only_the_order_of_scores_matters_and_empty_scores_do_not(fit):
    assert_only_order_counts(fit, gaussian(np.random.default_rng(4), 300, 2_000, 0.4))


@BOTH
@pytest.mark.parametrize(
    ("positive", "unlabeled", "low", "high"),
    [
        ([1.0], [0.0], 0, 0),
        ([1.0], [1.0], 1, 1),
        (np.ones(50), np.ones(80), 1, 1),
        (np.linspace(2, 3, 200), np.linspace(0, 1, 900), 0, 1e-6),
        (np.linspace(0, 1, 200), np.linspace(2, 3, 900), 1 - 1e-9, 1),  # the direction of scores is trusted
        (np.linspace(0, 1, 400), np.linspace(0, 1, 4_000), 0.97, 1),
        ([1e300, 5e-324], [1e300, 5e-324, -1e300, -1e300], 0, 1),
        ([1.0, 2.0] * 40, [0.0, 1.0, 2.0, 2.0] * 60, 0, 1),
    ],
)
def test_hard_cases_have_a_value(fit, positive, unlabeled, low, high):
    assert low <= fit(samples(np.asarray(positive), np.asarray(unlabeled))).value <= high


def test_the_curve_shows_what_was_chosen():
    s = gaussian(np.random.default_rng(5), 400, 4_000, 0.2)
    curve = bbe.fit_bbe(s).curve
    assert curve.chosen == curve.x[np.argmin(curve.y)]
    corrected = bbe.fit_bbe_corrected(s).curve
    assert corrected.chosen in corrected.x
    assert np.all((corrected.y >= 0) & (corrected.y <= 1))
