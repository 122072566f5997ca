"""The posterior over ROC shapes: it closes in where it can, stays wide where it must, and takes what is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import beta
from tools.prior_study.families import prior_families

from halftruth.prior._samples import Samples
from halftruth.prior.estimators import _auto as auto
from halftruth.prior.estimators._auto import Knowledge
from halftruth.simulate import GaussianClasses

ENDS = [0.025, 0.975]
MEMBERS = {member.name: member for family in prior_families().values() for member in family}


@pytest.fixture(autouse=True)
def _fewer_draws(monkeypatch):
    monkeypatch.setattr(auto, "N_DRAWS", 500)


def anchored(anchor, power):
    """No negative scores like the top share of the positives."""
    return lambda v: np.clip((v - anchor) / (1 - anchor), 0, 1) ** power


def half_below(v):
    """An anchor of .3, and half of the negatives are below every positive."""
    return np.where(v < 1, 0.5 * anchored(0.3, 2)(v), 1.0)


def expected(alpha, g, n_positive, n_unlabeled, purity=1.0, atoms=2000):
    """What as many rows are expected to be, from the highest scores down at even shares of the positives."""
    v = np.append(np.linspace(0, 1 - 1e-9, 100_001), 1.0)
    known, unlabeled = (share * v + (1 - share) * g(v) for share in (purity, alpha))
    cut = np.append(np.linspace(0, known[-2], atoms), np.linspace(known[-2], 1, 1 + atoms // 10)[1:])
    p, u = np.diff(cut), np.diff(np.interp(cut, known, unlabeled))
    return Samples(
        score=np.arange(len(p)) * 1.0,
        positive=n_positive * np.where(p > 1e-10, p, 0)[::-1],
        unlabeled=n_unlabeled * np.where(u > 1e-10, u, 0)[::-1],
        n_positive=n_positive,
        n_unlabeled=n_unlabeled,
    )


def rows(positive, unlabeled):
    score, at = np.unique(np.concatenate([positive, unlabeled]), return_inverse=True)
    masses = [np.bincount(part, minlength=len(score)).astype(float) for part in np.split(at, [len(positive)])]
    sizes = {"n_positive": float(len(positive)), "n_unlabeled": float(len(unlabeled))}
    return Samples(score=score, positive=masses[0], unlabeled=masses[1], **sizes)


def constant(n_positive=40, n_unlabeled=90):
    return rows(np.ones(n_positive), np.ones(n_unlabeled))


def posterior(samples, seed=0, **known):
    return auto.posterior(samples, Knowledge(**known), np.random.default_rng(seed))


def interval(draws):
    return np.quantile(draws, ENDS)


# --- scores -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.02, 0.3, 0.6])
@pytest.mark.parametrize(("anchor", "power"), [(0.2, 2), (0.5, 1), (0.1, 5)])
def test_with_an_anchor_it_closes_in_on_the_truth(monkeypatch, anchor, power, alpha):
    monkeypatch.setattr(auto, "N_DRAWS", 1000)
    few, many = (posterior(expected(alpha, anchored(anchor, power), n, 10 * n)).alpha for n in (1e3, 1e5))
    assert np.quantile(many, auto.POINT) == pytest.approx(alpha, rel=0.02)
    (low, high), (lower, higher) = (np.quantile(draws, [0.05, 0.95]) for draws in (many, few))
    assert low < alpha < high
    assert high - low < 0.04 * alpha + 0.002
    assert high - low < 0.5 * (higher - lower)


def test_where_classes_overlap_everywhere_it_stays_wide_and_holds_the_truth():
    # Normal classes, one standard deviation apart.
    drawn = posterior(expected(0.3, lambda v: ndtr(ndtri(v) - 1), 1e4, 1e5))
    low, high = interval(drawn.alpha)
    assert low < 0.3 < high
    assert high - low > 0.1
    assert drawn.misfit < auto.MISFIT


def test_of_positives_alone_it_says_one_and_of_none_zero():
    assert interval(posterior(expected(1.0, anchored(0.5, 1), 1e4, 1e5)).alpha)[1] > 0.99
    assert interval(posterior(expected(0.0, anchored(0.5, 1), 1e4, 1e5)).alpha)[1] < 1e-3


def test_the_estimate_is_the_stated_quantile_and_the_curve_the_density_of_the_draws():
    samples = expected(0.3, anchored(0.2, 2), 500, 5000)
    fitted = auto.fit_auto(samples, rng=np.random.default_rng(4))
    assert fitted.value == np.quantile(fitted.replicates, auto.POINT) == fitted.curve.chosen
    assert len(fitted.replicates) == auto.N_DRAWS
    x, y = fitted.curve.x, fitted.curve.y
    assert (y * np.diff(x).mean()).sum() == pytest.approx(1)
    assert abs(fitted.curve.x[np.argmax(fitted.curve.y)] - np.median(fitted.replicates)) < 0.05
    np.testing.assert_array_equal(fitted.replicates, posterior(samples, 4).alpha)


def test_only_the_order_of_scores_matters():
    drawn = GaussianClasses(prior=0.3).draw_strata(200, 900, rng=2)
    p, u = drawn.positive.score, drawn.unlabeled.score
    np.testing.assert_array_equal(
        posterior(rows(p, u)).alpha, posterior(rows(np.exp(3 * p), np.exp(3 * u))).alpha
    )


# --- what is known besides ----------------------------------------------------------------------------


def test_constant_scores_say_nothing():
    draws = np.concatenate([posterior(constant(), seed).alpha for seed in range(3)])
    assert np.quantile(draws, [0.1, 0.5, 0.9]) == pytest.approx([0.1, 0.5, 0.9], abs=0.06)


@pytest.mark.parametrize(("k", "m"), [(0, 30), (9, 50), (280, 300)])
def test_a_labeled_sample_alone_gives_its_beta_posterior(k, m):
    law = beta(k + 1, m - k + 1)
    draws = np.concatenate(
        [posterior(constant(), seed, labeled_counts=(k, m - k)).alpha for seed in range(3)]
    )
    reached = law.cdf(np.quantile(draws, [0.025, 0.1, 0.5, 0.9, 0.975]))
    assert reached == pytest.approx([0.025, 0.1, 0.5, 0.9, 0.975], abs=0.05)


def test_a_labeled_sample_narrows_what_scores_leave_open():
    samples = expected(0.3, lambda v: v**3, 2e3, 1e4)
    alone, both = posterior(samples).alpha, posterior(samples, labeled_counts=(60, 140)).alpha
    assert np.diff(interval(both))[0] < 0.7 * np.diff(interval(alone))[0]
    assert interval(both)[0] < 0.3 < interval(both)[1]


@pytest.mark.parametrize("within", [(0.0, 0.2), (0.2, 0.25), (0.5, 1.0), (0.0, 1e-9)])
@pytest.mark.parametrize("purity", [1.0, 0.7, None])
def test_alpha_stays_within_its_range_and_below_the_purity(within, purity):
    drawn = posterior(expected(0.3, anchored(0.2, 2), 300, 1000), within=within, purity=purity)
    assert (drawn.alpha >= within[0]).all()
    assert (drawn.alpha <= within[1]).all()
    assert (drawn.alpha <= drawn.purity).all()
    if purity is not None:
        assert (drawn.purity == purity).all()


def test_no_share_exceeds_the_purity_where_scores_say_nothing():
    told, untold = posterior(constant(), purity=0.7), posterior(constant(), purity=None)
    assert told.alpha.max() <= 0.7
    assert np.quantile(told.alpha, [0.1, 0.5, 0.9]) == pytest.approx([0.07, 0.35, 0.63], abs=0.06)
    assert (untold.alpha <= untold.purity).all()


# --- purity -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.1, 0.3])
def test_a_known_purity_gives_the_truth_where_ignoring_it_does_not(alpha):
    samples = expected(alpha, anchored(0.3, 2), 1e4, 1e5, purity=0.8)
    told, untold = posterior(samples, purity=0.8).alpha, posterior(samples).alpha
    assert np.quantile(told, auto.POINT) == pytest.approx(alpha, rel=0.05)
    assert np.quantile(untold, auto.POINT) == pytest.approx(alpha / 0.8, rel=0.05)


def test_a_known_purity_on_noisy_rows():
    member = MEMBERS["uniform anchor=0.5"]
    drawn = member.draw(2000, 10_000, 0.2, rng=5, purity=0.8, fixed=True)
    low, high = interval(posterior(rows(drawn.positive, drawn.unlabeled), purity=0.8).alpha)
    assert low < 0.2 < high < 0.24


def test_alpha_and_purity_together_where_some_scores_are_negatives_only():
    drawn = posterior(expected(0.2, half_below, 1e4, 1e5, purity=0.8), purity=None)
    assert np.quantile(drawn.alpha, auto.POINT) == pytest.approx(0.2, abs=0.02)
    assert np.quantile(drawn.purity, auto.POINT) == pytest.approx(0.8, abs=0.03)
    assert interval(drawn.purity)[0] < 0.8 < interval(drawn.purity)[1]


def test_pure_positives_are_found_pure_and_no_purity_is_below_the_least():
    drawn = posterior(expected(0.2, half_below, 1e4, 1e5), purity=None)
    assert np.median(drawn.purity) == 1
    free = posterior(constant(), purity=None)
    assert free.purity.min() >= auto.LEAST_PURE
    assert (free.purity == 1).mean() == pytest.approx(auto.PURE, abs=0.06)


# --- misfit -------------------------------------------------------------------------------------------


def test_reversed_scores_are_noticed():
    drawn = GaussianClasses(prior=0.3, separation=2.0).draw_strata(1000, 5000, rng=1)
    p, u = drawn.positive.score, drawn.unlabeled.score
    right, wrong = (auto.fit_auto(rows(s * p, s * u), rng=np.random.default_rng(0)) for s in (1, -1))
    assert right.notes == ()
    assert len(wrong.notes) == 1
    assert "No usual shape of the classes fits" in wrong.notes[0]
    assert "higher scores mean more positive" in wrong.notes[0]


def test_a_misfit_makes_rows_count_less(monkeypatch):
    ranked = auto._Ranked.of(expected(0.3, anchored(0.2, 2), 1e3, 1e4))
    thin = ranked.thinned(4.0)
    theta = np.random.default_rng(0).random((5, len(ranked.v))) + 0.1
    np.testing.assert_allclose(4 * thin.log_likelihood(theta), ranked.log_likelihood(theta))
    assert (thin.v, thin.ratio) == (ranked.v, ranked.ratio)

    # Unlabeled rows twice as many in the positives' lower half: no ROC curve of usual shape has such a step.
    def wavy(v):
        return v - 0.15 * np.sin(4 * np.pi * v) / np.pi

    few, many = (posterior(expected(0.3, wavy, n, 10 * n)) for n in (200, 1e3))
    assert few.misfit < many.misfit
    assert auto.MISFIT < many.misfit < auto.GROSS
    monkeypatch.setattr(auto, "MISFIT", np.inf)
    believed = posterior(expected(0.3, wavy, 1e3, 1e4))
    assert many.alpha.std() > 1.2 * believed.alpha.std()


def test_where_shapes_fail_grossly_the_top_alone_decides():
    """Negatives that mostly outrank the positives below an anchor: no shape is like that, and α is still found."""

    def reversed_below(v):
        return np.interp(v, [0, 0.1, 0.3, 0.6, 1], [0, 0, 0.6, 0.9, 1])

    found = [posterior(expected(0.3, reversed_below, n, 10 * n)).alpha for n in (1e3, 1e5)]
    errors = [abs(np.quantile(draws, auto.POINT) - 0.3) for draws in found]
    assert errors[1] < 0.02
    assert found[1].std() < found[0].std()


# --- bins ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_positive", [1, 2, 3, 4, 50, 3000])
def test_bins_hold_every_row_once(n_positive):
    rng = np.random.default_rng(n_positive)
    ranked = auto._Ranked.of(rows(rng.normal(1, 1, n_positive), rng.normal(0, 1, 500)))
    assert ranked.unlabeled.sum() == pytest.approx(500)
    assert ranked.positive.sum() == pytest.approx(n_positive + 1)
    assert ranked.v[-1] == pytest.approx(1)
    assert (ranked.positive > 0).all()
    assert (np.diff(ranked.v) > 0).all()
    assert ranked.ratio == 500 / (n_positive + 1)
    assert len(ranked.v) <= auto.N_BINS + 1


def test_below_the_lowest_positive_is_half_a_gap_unless_a_tie_hides_it():
    lower, apart, tied = (rows(np.arange(1, 10), np.append(np.arange(2, 8), x)) for x in (0.0, 1.5, 1.0))
    below = [auto._Ranked.of(samples) for samples in (lower, apart, tied)]
    assert [(bins.positive[-1], bins.unlabeled[-1]) for bins in below[:2]] == [
        pytest.approx(end, abs=1e-9) for end in ((0.5, 1), (0.5, 0))
    ]
    assert below[2].positive[-1] > 1
    assert below[2].unlabeled[-1] >= 1 - 1e-9
