"""What a page leaves open: bounds against those of the public functions, counts, and purities that are refuted."""

from __future__ import annotations

import re

import numpy as np
import pytest

import halftruth as ht
from halftruth.inference._prior_range import open_priors, prior_span, share_bounds

SIMULATED = ht.simulate.GaussianClasses(prior=0.3)
NOISY = SIMULATED.draw_strata(500, 5000, rng=3, purity=0.8)
KNOWN, UNLABELED = NOISY.positive.score, NOISY.unlabeled.score
KAPPA = ht.prior_upper_bound(UNLABELED, KNOWN)
ALPHA = ht.prior_upper_bound(KNOWN, UNLABELED)


def noisy(**given):
    return ht.PositiveUnlabeled(KNOWN, UNLABELED, **given)


def notes_of(evidence, start, **settings):
    result = ht.evaluate(evidence, ["roc_auc"], **({"n_resamples": 0} | settings))
    return [note for note in result.notes if note.startswith(start)]


# --- Bounds --------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_second_bound_is_the_first_with_the_samples_exchanged(level):
    bounds = [
        ht.prior_upper_bound(*x, confidence_level=level) for x in ((KNOWN, UNLABELED), (UNLABELED, KNOWN))
    ]
    assert bounds[0] != pytest.approx(bounds[1], abs=0.01)
    assert share_bounds(noisy(), level) == pytest.approx(bounds, rel=1e-12)


def test_propensities_weigh_the_known_positives_in_both_bounds():
    e = np.linspace(0.1, 0.9, 500)
    alpha, kappa = share_bounds(noisy(propensity=e), 0.95)
    assert alpha == pytest.approx(ht.prior_upper_bound(KNOWN, UNLABELED, positive_weight=1 / e), rel=1e-9)
    assert kappa == pytest.approx(ht.prior_upper_bound(UNLABELED, KNOWN, unlabeled_weight=1 / e), rel=1e-9)


def test_where_nothing_is_refuted_a_negative_is_left():
    same = np.linspace(0, 1, 50)
    assert share_bounds(ht.PositiveUnlabeled(same, same), 0.95) == (0.999, 1.0)


# --- Priors left open ----------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("population", ["unlabeled", "all"])
def test_the_range_of_pure_positives_ends_where_the_scores_refute(population, level):
    span = open_priors(noisy(population=population), level, one_sample=False)
    highest = ht.prior_upper_bound(KNOWN, UNLABELED, confidence_level=level)
    ends = np.asarray([highest / 1000, highest])
    if population == "all":
        ends = (500 + ends * 5000) / 5500
    assert (span.low, span.high) == pytest.approx(tuple(ends), rel=1e-9)
    assert span.alpha_high == pytest.approx(highest, rel=1e-12)


@pytest.mark.parametrize("purity", [0.9, 0.65])
def test_a_purity_scales_the_range_and_the_second_bound_ends_it(purity):
    span = open_priors(noisy(purity=purity), 0.95, one_sample=False)
    by_second = 1 - (1 - purity) / KAPPA
    assert (by_second < ALPHA * purity) == (purity == 0.65)
    assert span.high == pytest.approx(min(ALPHA * purity, by_second), rel=1e-9)
    assert span.kappa == pytest.approx(KAPPA, rel=1e-12)


def test_propensities_have_a_range_but_no_purity_to_move():
    e = np.linspace(0.1, 0.9, 500)
    span = open_priors(noisy(propensity=e), 0.95, one_sample=False)
    assert span.kappa is None
    assert span.high == pytest.approx(ht.prior_upper_bound(KNOWN, UNLABELED, positive_weight=1 / e), rel=1e-9)


@pytest.mark.parametrize("population", ["unlabeled", "all"])
@pytest.mark.parametrize("purity", [1.0, 0.9])
def test_an_identified_prior_is_left_its_own_range(population, purity):
    drawn = SIMULATED.draw_strata(500, 5000, rng=3, n_negative=300)
    parts = (drawn.positive.score, drawn.unlabeled.score)
    evidence = ht.PositiveUnlabeled(
        *parts, negative=drawn.negative.score, purity=purity, population=population
    )
    (note,) = notes_of(evidence, "The prior is identified", stratified=True)
    low, high = map(float, re.findall(r"\d\.\d+", note))
    for level in (0.5, 0.95):  # it is a 99% range, whatever the level of the figures
        span = open_priors(evidence, level, one_sample=False)
        assert (span.low, span.high) == pytest.approx((low, high), rel=2e-4)
        assert span.alpha_high is span.kappa is None


def test_confidences_leave_the_range_that_they_identify():
    sure = SIMULATED.draw_class(1, 2000, rng=6)
    evidence = ht.PositiveConfidence(sure.posterior, sure.score)
    (note,) = notes_of(evidence, "The prior is identified")
    span = open_priors(evidence, 0.95, one_sample=True)
    assert (span.low, span.high) == pytest.approx(tuple(map(float, re.findall(r"\d\.\d+", note))), rel=2e-4)


@pytest.mark.parametrize(("mean", "end"), [(0.0, "low"), (2.0, "high")])
def test_in_one_table_with_negatives_the_counts_end_the_range(mean, end):
    rng = np.random.default_rng(0)
    known, negative, unlabeled = rng.normal(2, 1, 40), rng.normal(0, 1, 20), rng.normal(mean, 1, 60)
    evidence = ht.PositiveUnlabeled(known, unlabeled, negative=negative, population="all")
    span = open_priors(evidence, 0.95, one_sample=True)
    # All known positives are positive, no known negative is, and of the unlabeled hardly any or nearly all.
    limits = {"low": (40 + 0.000999 * 60) / 120, "high": (40 + 0.999 * 60) / 120}
    other = "high" if end == "low" else "low"
    assert getattr(span, end) == pytest.approx(limits[end], rel=1e-9)
    assert limits["low"] < getattr(span, other) < limits["high"]


def test_with_labels_nothing_is_open():
    assert open_priors(SIMULATED.labeled(100, rng=0), 0.95, one_sample=True) is None


# --- A purity that is too low --------------------------------------------------------------------


LOWEST = 1 - KAPPA * 0.7  # at α = 0.3


@pytest.mark.parametrize("population", ["unlabeled", "all"])
def test_a_purity_below_what_the_scores_allow_is_refuted(population):
    def noted(purity):
        prior = 0.3 if population == "unlabeled" else (500 * purity + 0.3 * 5000) / 5500
        evidence = noisy(prior=prior, purity=purity, population=population)
        return notes_of(evidence, "The purity is refuted")

    assert noted(LOWEST + 0.001) == []
    (note,) = noted(LOWEST - 0.001)
    assert f"less than {LOWEST:.4g} would need" in note
    assert "(confidence 0.95). Raise the purity" in note
    assert ht.evaluate(noisy(prior=0.3, purity=LOWEST - 0.05), ["roc_auc"], n_resamples=0).refuted


def test_the_bound_of_the_purity_has_the_level_of_the_result():
    kappa = ht.prior_upper_bound(UNLABELED, KNOWN, confidence_level=0.5)
    (note,) = notes_of(noisy(prior=0.3, purity=0.65), "The purity is", confidence_level=0.5)
    assert f"less than {1 - kappa * 0.7:.4g} would need" in note
    assert kappa < KAPPA


def test_of_ranges_the_highest_purity_and_the_lowest_prior_count():
    refuted = "The purity is refuted"
    assert notes_of(noisy(prior=0.3, purity=(0.55, LOWEST + 0.001)), refuted) == []
    assert len(notes_of(noisy(prior=0.3, purity=(0.55, LOWEST - 0.001)), refuted)) == 1
    at_the_low_end = 1 - KAPPA * 0.9
    assert notes_of(noisy(prior=(0.1, 0.3), purity=at_the_low_end + 0.001), refuted) == []
    assert len(notes_of(noisy(prior=(0.1, 0.3), purity=at_the_low_end - 0.001), refuted)) == 1


def test_a_purity_of_one_and_an_estimate_are_not_judged():
    purity = ht.PriorEstimate(value=0.6, replicates=np.linspace(0.55, 0.65, 100))
    for given in ({"purity": 1.0}, {"purity": purity}):
        assert notes_of(noisy(prior=0.3, **given), "The purity is refuted") == []


# --- Negatives that are no random sample ----------------------------------------------------------


@pytest.mark.parametrize(
    ("population", "remedy"), [("unlabeled", "leave them out"), ("all", "leave their label empty")]
)
def test_what_to_do_with_easy_negatives_follows_from_the_population(population, remedy):
    easy = np.sort(SIMULATED.draw_class(0, 3000, rng=4).score)[:300]
    (note,) = notes_of(
        noisy(negative=easy, prior=0.3, population=population), "The prior given (0.3) is refuted"
    )
    assert note.endswith(f"a random sample of the negatives (if not, {remedy}).")


# --- The range of the sliders ---------------------------------------------------------------------


WHOLE = SIMULATED.positive_unlabeled(300, 3000, rng=1)


def noisy_table(n=4000):
    return ht.simulate.GaussianClasses(prior=0.3).positive_unlabeled(n, 10 * n, purity=0.8, rng=2)


def test_the_range_of_the_sliders_holds_the_truth_and_ends_where_the_data_refute():
    evidence = noisy_table()
    alpha_high, kappa = share_bounds(evidence, 0.95)
    assert kappa > 0.2 / 0.7  # the true (1 − ρ)/(1 − α)
    low, high = prior_span(evidence, alpha_high, kappa, 0.8)
    assert low < 0.3 < high
    # A purity so low that the known positives would be like the unlabeled leaves no prior at all.
    least, most = prior_span(evidence, alpha_high, kappa, 1 - kappa)
    assert most <= least
    clean = SIMULATED.positive_unlabeled(4000, 40_000, rng=3)
    _, of_clean = share_bounds(clean, 0.95)
    assert of_clean < kappa


def test_shares_of_the_whole_table_follow_from_those_of_the_unlabeled():
    table = ht.PositiveUnlabeled.from_table(WHOLE.table, population="all")
    low, high = prior_span(table, 0.4, 0.5, 0.9)
    alpha = min(0.4 * 0.9, 1 - 0.1 / 0.5)
    assert high == pytest.approx((0.9 * 300 + alpha * 3000) / 3300)
    assert low == pytest.approx((0.9 * 300 + 0.4 * 0.9 / 1000 * 3000) / 3300)
