"""Elkan and Noto's label frequency: by hand, its limit on overlapping classes, and where it converges."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from halftruth.prior._samples import Samples
from halftruth.prior.estimators import _elkan_noto as elkan_noto

from .made import samples


def gaussian(rng, n_positive, n_unlabeled, alpha, separation):
    unlabeled = rng.normal(0, 1, n_unlabeled)
    unlabeled[rng.random(n_unlabeled) < alpha] += separation
    return samples(rng.normal(separation, 1, n_positive), unlabeled)


def limit(n_positive, n_unlabeled, alpha, separation):
    """What more and more rows lead to: the mean of the exact P(labeled ∣ x) over positives."""
    f1, f0 = stats.norm(separation).pdf, stats.norm(0).pdf
    c = integrate.quad(
        lambda x: (
            f1(x) ** 2
            * n_positive
            / (n_positive * f1(x) + n_unlabeled * (alpha * f1(x) + (1 - alpha) * f0(x)))
        ),
        -10,
        separation + 10,
        points=[0, separation],
    )[0]
    return min(1.0, n_positive / n_unlabeled * (1 - c) / c)


def test_a_case_by_hand():
    # Labels by score: 1: 0 0 0; 2: 1 0; 3: 1 1 0; 2 and 3 stay apart, 1/2 < 2/3. Left out: 0/1, and 1/2 twice.
    s = samples(np.array([2.0, 3.0, 3.0]), np.array([1.0, 1.0, 1.0, 2.0, 3.0]))
    c = (0 + 1 / 2 + 1 / 2) / 3
    fit = elkan_noto.fit_elkan_noto(s)
    assert fit.curve.chosen == pytest.approx(c)
    assert fit.value == 1.0  # 3/5 · 2
    # Falling shares are pooled: 3 of 4 and 1 of 2 make 4 of 6, left out 3/5; then α = 4/12 · (2/5)/(3/5).
    s = samples(np.array([2.0, 2.0, 2.0, 3.0]), np.append(np.ones(10), [2.0, 3.0]))
    assert elkan_noto.fit_elkan_noto(s).curve.chosen == pytest.approx(3 / 5)
    assert elkan_noto.fit_elkan_noto(s).value == pytest.approx(4 / 12 * 2 / 3)


@pytest.mark.parametrize("separation", [0.5, 1.0, 2.0])
def test_both_published_forms_agree_for_a_calibrated_g(separation):
    s = gaussian(np.random.default_rng(1), 300, 2_000, 0.05, separation)
    mean, ratio = (elkan_noto.fit_elkan_noto(s, form=form) for form in ("mean", "ratio"))
    assert 0 < mean.value < 1
    # They may part by blocks of a single row, of which a sample has at most a few.
    assert ratio.value == pytest.approx(mean.value, rel=0.02)


@pytest.mark.parametrize("alpha", [0.05, 0.3, 0.8])
def test_it_converges_where_classes_do_not_overlap(alpha):
    rng = np.random.default_rng(2)
    n_positive, n_unlabeled = 10_000, 50_000
    s = gaussian(rng, n_positive, n_unlabeled, alpha, 12.0)
    noise = np.sqrt(alpha * (1 - alpha) / n_unlabeled)
    # c is a mean over blocks of one density: what is left of their optimism is of order (rows)^(-2/3).
    assert elkan_noto.fit_elkan_noto(s).value == pytest.approx(
        alpha, abs=4 * noise + 5 * alpha * n_positive ** (-2 / 3)
    )


@pytest.mark.parametrize(("alpha", "separation"), [(0.1, 2.0), (0.3, 2.0), (0.3, 3.0), (0.1, 1.5)])
def test_it_is_biased_up_on_overlap_and_stays_so(alpha, separation):
    truth = limit(20_000, 100_000, alpha, separation)
    assert truth > alpha + 0.04
    s = gaussian(np.random.default_rng(3), 20_000, 100_000, alpha, separation)
    assert elkan_noto.fit_elkan_noto(s).value == pytest.approx(truth, abs=0.012)


def test_leaving_rows_out_of_their_block_removes_optimism(draws):
    # P and U of one law: c is n_P/(n_P + n_U) = 1/6, and an isotonic g seen in its own sample is higher.
    rng = np.random.default_rng(4)
    fits = [
        elkan_noto.fit_elkan_noto(samples(rng.normal(size=200), rng.normal(size=1_000)))
        for _ in range(max(20, draws(200)))
    ]
    left_out = np.array([fit.curve.chosen for fit in fits])
    as_is = [np.sum(f.curve.x * np.diff(f.curve.y, prepend=0)) for f in fits]
    assert abs(np.mean(left_out) - 1 / 6) < 0.3 * (np.mean(as_is) - 1 / 6)


def test_weights_and_transformations():
    s = gaussian(np.random.default_rng(5), 300, 2_000, 0.1, 2.0)
    moved = Samples(
        score=np.exp(s.score),
        positive=0.2 * s.positive,
        unlabeled=9 * s.unlabeled,
        n_positive=s.n_positive,
        n_unlabeled=s.n_unlabeled,
    )
    assert elkan_noto.fit_elkan_noto(moved).value == pytest.approx(
        elkan_noto.fit_elkan_noto(s).value, rel=1e-9
    )
    padded = {
        name: np.insert(getattr(s, name), [0, 900, 2_300], 0.0) for name in ("score", "positive", "unlabeled")
    }
    empty = Samples(n_positive=s.n_positive, n_unlabeled=s.n_unlabeled, **padded)
    assert elkan_noto.fit_elkan_noto(empty).value == pytest.approx(
        elkan_noto.fit_elkan_noto(s).value, rel=1e-9
    )


@pytest.mark.parametrize("form", ["mean", "ratio"])
@pytest.mark.parametrize(
    ("positive", "unlabeled", "low", "high"),
    [
        ([1.0], [0.0], 0, 0),
        ([1.0], [1.0], 1, 1),
        (np.ones(50), np.ones(80), 1, 1),
        (np.linspace(2, 3, 200), np.linspace(0, 1, 900), 0, 0),
        (np.linspace(0, 1, 200), np.linspace(2, 3, 900), 1, 1),  # the direction of scores is trusted
        (np.linspace(0, 1, 400), np.linspace(0, 1, 4_000), 0.95, 1),
        ([1e300, 5e-324], [1e300, 5e-324, -1e300, -1e300], 0, 1),
        ([1.0, 2.0] * 40, [0.0, 1.0, 2.0, 2.0] * 60, 0, 1),
    ],
)
def test_hard_cases_have_a_value(form, positive, unlabeled, low, high):
    value = elkan_noto.fit_elkan_noto(samples(np.asarray(positive), np.asarray(unlabeled)), form=form).value
    assert low <= value <= high
