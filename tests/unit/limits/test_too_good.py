"""Whether a test error is too good to be true: the p-value, its size and power, the adjustment."""

from __future__ import annotations

import json
import math
import pickle

import numpy as np
import pytest
from scipy.special import betainc
from scipy.stats import binom, norm

import halftruth as ht
from halftruth._errors import Refuted
from halftruth.limits._bayes_error import bayes_error
from halftruth.limits._too_good import _p_value, too_good_to_be_true

Q = np.random.default_rng(0).beta(0.5, 0.5, 4000)
SOFT = ht.SoftLabeled(Q)


# The p-value ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("k", "n", "beta"), [(0, 1, 0.3), (3, 40, 0.2), (180, 2000, 0.1), (40, 40, 0.5)])
def test_without_error_in_the_bayes_error_it_is_the_exact_binomial_one(k, n, beta):
    assert _p_value(k, n, beta, 0.0) == pytest.approx(binom.cdf(k, n, beta), rel=1e-10)


def test_soft_labels_that_are_all_alike_have_the_error_of_two_rows_unseen():
    found = too_good_to_be_true(3 / 40, 40, ht.SoftLabeled(np.full(50, 0.2)), method="t")
    assert found.p_value == pytest.approx(_p_value(3, 40, 0.2, 2 * 0.5 / 50), rel=1e-10)
    weight = np.tile([1.0, 3.0], 25)
    weighted = too_good_to_be_true(
        3 / 40, 40, ht.SoftLabeled(np.full(50, 0.2), sample_weight=weight), method="t"
    )
    assert weighted.p_value == pytest.approx(_p_value(3, 40, 0.2, 2 * 0.5 * 250 / 100**2), rel=1e-10)
    classes = too_good_to_be_true(0.1, 40, ht.SoftLabeled(np.tile([0.2, 0.2, 0.6], (50, 1))), method="t")
    assert classes.p_value == pytest.approx(_p_value(4, 40, 0.4, 2 * 2 / 3 / 50), rel=1e-10)


@pytest.mark.parametrize("method", ["t", "hoeffding", "bootstrap"])
def test_the_level_of_the_test_is_none_of_the_p_value(method):
    """The standard error is that of the 95% interval."""
    soft = ht.SoftLabeled(Q[:40])
    found = [
        too_good_to_be_true(0.08, 100, soft, method=method, confidence_level=level)
        for level in (0.5, 0.95, 0.999)
    ]
    assert found[0].p_value == found[1].p_value == found[2].p_value
    assert found[0].bayes_error.low > found[1].bayes_error.low
    assert found[0].too_good
    assert not found[2].too_good
    votes = ht.SoftLabeled.from_votes([0, 1, 1, 3, 2, 3] * 20, 3)
    of_votes = [
        too_good_to_be_true(0.05, 200, votes, confidence_level=level).p_value for level in (0.8, 0.95)
    ]
    assert of_votes[0] == pytest.approx(of_votes[1], rel=1e-9)


@pytest.mark.parametrize("spread", [1e-5, 1e-3, 0.004, 0.1])
@pytest.mark.parametrize("error", [0.0, 0.17, 0.2, 0.9])
def test_it_is_the_mean_of_binomial_chances(spread, error):
    """Against a sum over a fine grid of the normal, cut to [0, 1]."""
    n, center = 400, 0.2
    z = np.linspace(-9, 9, 200_001)
    weights = norm.pdf(z) * (z[1] - z[0])
    chances = binom.cdf(round(error * n), n, np.clip(center + spread * z, 0, 1))
    assert _p_value(error * n, n, center, spread) == pytest.approx(weights @ chances, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("spread", [1e-7, 1e-4])
def test_a_narrow_normal_and_a_narrow_binomial(spread):
    n, error, center = 10**9, 0.1, 0.1 + 1e-5
    z = (error - center) / math.hypot(spread, math.sqrt(center * (1 - center) / n))
    assert _p_value(error * n, n, center, spread) == pytest.approx(norm.cdf(z), abs=2e-4)


def test_with_many_cases_it_is_the_two_sample_z_test():
    n = 200_000
    bayes = bayes_error(SOFT)
    error = round((bayes.value - 0.004) * n) / n
    se = math.hypot((bayes.value - bayes.low) / norm.ppf(0.975), 1 / len(Q))
    z = (error - bayes.value) / math.sqrt(se**2 + bayes.value * (1 - bayes.value) / n)
    found = too_good_to_be_true(error, n, SOFT)
    # What is left is the binomial's step and its skewness, of order 1/√n.
    assert found.p_value == pytest.approx(norm.cdf(z), abs=2 / math.sqrt(n))
    assert found.difference == error - bayes.value


def test_no_error_number_need_be_whole():
    whole = [_p_value(k, 50, 0.2, 0.01) for k in (4.0, 4.5, 5.0)]
    assert whole[0] < whole[1] < whole[2]
    assert _p_value(50.0, 50, 0.2, 0.01) == pytest.approx(1.0)
    assert _p_value(49.99, 50, 0.2, 0.01) == pytest.approx(1.0)


def test_what_is_cut_off_counts_at_the_ends():
    """With a Bayes error that may be 0 no test error is impossible."""
    below = norm.cdf(-0.5)
    assert below < _p_value(0, 10**6, 0.01, 0.02) < below + 1e-3


# Size and power ---------------------------------------------------------------------------------------------


def rejections(n_soft: int, n_test: int, excess: float, n_draws: int, shape: float = 0.5) -> int:
    """How often a classifier with true error β + excess is called too good, where q is Beta(shape, shape)."""
    rng = np.random.default_rng(n_soft + n_test)
    beta = betainc(shape + 1, shape, 0.5)
    found = 0
    for _ in range(n_draws):
        soft = ht.SoftLabeled(rng.beta(shape, shape, n_soft))
        error = rng.binomial(n_test, beta + excess) / n_test
        found += too_good_to_be_true(error, n_test, soft).too_good
    return found


@pytest.mark.slow
@pytest.mark.parametrize("shape", [0.5, 0.02])
@pytest.mark.parametrize("sizes", [(30, 200), (200, 200), (200, 5000), (2000, 50), (2000, 2000)])
def test_a_classifier_as_good_as_possible_is_seldom_called_too_good(sizes, shape, draws):
    n = draws(500)
    assert rejections(*sizes, 0.0, n, shape) <= binom.ppf(1 - 1e-4, n, 0.05)


@pytest.mark.parametrize(("sure", "n_soft"), [(0.05, 20), (0.02, 100)])
def test_nor_where_few_rows_differ(sure, n_soft, draws):
    """q = ½ but for a few: often no sure case is seen, and the Bayes error looks as high as can be."""
    rng, n, found = np.random.default_rng(n_soft), draws(1000), 0
    for _ in range(n):
        q = np.where(rng.random(n_soft) < sure, 0.0, 0.5)
        error = rng.binomial(10_000, (1 - sure) / 2) / 10_000
        found += too_good_to_be_true(error, 10_000, ht.SoftLabeled(q)).too_good
    assert found <= binom.ppf(1 - 1e-4, n, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize(("m", "n_soft"), [(20, 300), (3, 1000)])
def test_nor_is_it_by_votes(m, n_soft, draws):
    rng = np.random.default_rng(m)
    n, found = draws(150), 0
    for _ in range(n):
        k = rng.binomial(m, rng.beta(0.5, 0.5, n_soft))
        error = rng.binomial(1000, 0.5 - 1 / math.pi) / 1000
        found += too_good_to_be_true(error, 1000, ht.SoftLabeled.from_votes(k, m)).too_good
    assert found <= binom.ppf(1 - 1e-4, n, 0.05)


@pytest.mark.slow
def test_what_is_too_good_is_found(draws):
    n = draws(300)
    # Eleven standard errors of the difference below.
    assert rejections(2000, 2000, -0.1, n) == n


@pytest.mark.slow
@pytest.mark.parametrize(
    ("less", "least", "most"), [(0.02, 0.43, 0.43), (0.03, 0.75, 0.75), (0.04, 0.94, 0.94), (0.06, 0.99, 1)]
)
def test_the_power_is_as_documented(less, least, most, draws):
    n = draws(1000)
    found = rejections(1000, 1000, -less, n)
    # What is documented is rounded, from 2,000 draws itself: within .02.
    assert binom.ppf(1e-4, n, least - 0.02) <= found <= binom.ppf(1 - 1e-4, n, min(most + 0.02, 1))


@pytest.mark.slow
def test_the_size_is_close_to_the_level(draws):
    n = draws(2000)
    found = rejections(1000, 1000, 0.0, n)
    # The error of the Bayes error is known up to t against z, the binomial is discrete: both within 1%.
    assert binom.ppf(1e-4, n, 0.035) <= found <= binom.ppf(1 - 1e-4, n, 0.055)


@pytest.mark.slow
def test_on_the_same_rows_it_is_conservative(draws):
    """The best rule, tested on labels drawn for the very rows of the soft labels."""
    rng = np.random.default_rng(3)
    n, found = draws(500), 0
    for _ in range(n):
        q = rng.beta(0.5, 0.5, 500)
        error = np.mean((q > 0.5) != (rng.random(500) < q))
        found += too_good_to_be_true(error, 500, ht.SoftLabeled(q)).too_good
    assert found <= binom.ppf(1 - 1e-4, n, 0.05)


# What it is tested against ----------------------------------------------------------------------------------


def test_noisy_labels_are_taken_at_the_lower_end():
    found = too_good_to_be_true(0.1, 500, SOFT, labels="noisy")
    lower, upper = found.bayes_error.identified
    assert lower == pytest.approx(np.minimum(Q, 1 - Q).mean())
    assert found.p_value == pytest.approx(too_good_to_be_true(0.1, 500, SOFT).p_value)
    assert any("lower end" in note for note in found.notes)
    assert "least Bayes error that the evidence leaves open, estimated at" in found.verdict
    assert not too_good_to_be_true((lower + upper) / 2, 500, SOFT, labels="noisy").too_good


def test_signs_are_passed_on():
    u = np.clip(Q + np.random.default_rng(1).normal(0, 0.05, len(Q)), 0, 1)
    sign = Q >= 0.5
    found = too_good_to_be_true(0.1, 500, ht.SoftLabeled(u), labels="noisy", sign=sign)
    assert found.bayes_error.value == pytest.approx(np.where(sign, 1 - u, u).mean())


def test_hoeffdings_interval_is_more_careful():
    t, hoeffding = (too_good_to_be_true(0.14, 500, SOFT, method=m).p_value for m in ("t", "hoeffding"))
    assert t < hoeffding


def test_a_range_of_priors_is_taken_at_its_lower_end():
    r = np.random.default_rng(2).beta(1.5, 0.5, 800)
    at_low = too_good_to_be_true(0.15, 500, ht.PositiveConfidence(r, prior=0.5))
    over = too_good_to_be_true(0.15, 500, ht.PositiveConfidence(r, prior=(0.5, 0.6)))
    assert over.p_value == pytest.approx(at_low.p_value, rel=1e-9)
    assert over.bayes_error.value == pytest.approx(at_low.bayes_error.value * 0.55 / 0.5)
    assert over.too_good
    assert any("prior is too high" in each for each in over.alternatives)
    assert "drawn as the confidences say" in over.verdict


def test_no_verdict_against_what_is_refuted():
    r = np.random.default_rng(2).beta(4, 1, 800)  # of a prior of ¾
    for prior in (0.3, (0.2, 0.3), 0.9):
        with pytest.raises(Refuted, match=r"The prior given .* is refuted.*Correct what was given"):
            too_good_to_be_true(0.06, 500, ht.PositiveConfidence(r, prior=prior))
    # Three rows refute nothing: the value, .9, is above what is possible by noise, and no verdict rests on it.
    few = too_good_to_be_true(0.06, 500, ht.PositiveConfidence([0.3, 0.4, 0.2], prior=0.9))
    assert not few.too_good
    assert few.p_value > 0.1
    u = np.tile([0.05, 0.95], 50)
    with pytest.raises(Refuted, match="signs contradict the labels"):
        too_good_to_be_true(0.06, 500, ht.SoftLabeled(u), labels="noisy", sign=u < 0.5)


def test_an_interval_cut_at_zero_does_not_hide_the_error():
    """Two rows in twenty with an error: the t-interval ends below 0 and is cut there."""
    q = np.r_[np.zeros(18), 0.5, 0.5]
    bayes = bayes_error(ht.SoftLabeled(q), method="t")
    assert bayes.low == 0
    se = math.hypot((bayes.high - bayes.value) / norm.ppf(0.975), 2 * 0.5 / 20)
    found = too_good_to_be_true(0.01, 1000, ht.SoftLabeled(q), method="t")
    assert found.p_value == pytest.approx(_p_value(10, 1000, 0.05, se))


def test_one_row_cannot_judge():
    found = too_good_to_be_true(0.01, 1000, ht.SoftLabeled([0.4]), method="t")
    assert math.isnan(found.p_value)
    assert not found.too_good
    assert "cannot be judged" in found.verdict
    assert too_good_to_be_true(0.01, 1000, ht.SoftLabeled([0.4]), method="hoeffding").p_value > 0.05


def test_hard_labels_leave_nothing_too_good():
    found = too_good_to_be_true(0.0, 10**6, ht.SoftLabeled([0.0, 1.0, 1.0]))
    # One half of the chances for the Bayes error, below 0, counts at 0.
    assert 0.5 < found.p_value < 0.501
    assert not found.too_good
    assert any("hard labels" in note for note in found.notes)


@pytest.mark.parametrize(
    "evidence",
    [
        ht.Labeled([1, 0, 1], [0.9, 0.2, 0.3]),
        ht.PositiveUnlabeled([0.9, 0.8], [0.5, 0.4, 0.1], prior=0.3),
    ],
)
def test_scores_bound_only_from_above(evidence):
    with pytest.raises(ht.NotIdentifiable, match="only from above"):
        too_good_to_be_true(0.1, 100, evidence)


def test_confidences_need_the_prior():
    with pytest.raises(ht.NotIdentifiable, match="`prior`"):
        too_good_to_be_true(0.1, 100, ht.PositiveConfidence([0.5, 0.9]))


def test_what_is_open_by_less_than_the_digits_shown_is_not_mentioned():
    k = np.random.default_rng(2).binomial(100, np.repeat([0.1, 0.8], 500))
    found = too_good_to_be_true(0.05, 500, ht.SoftLabeled.from_votes(k, 100))
    low, high = found.bayes_error.identified
    assert high - low < 1e-4
    assert "is below the Bayes error" in found.verdict
    assert not any("lower end" in note for note in found.notes)


# The adjustment ---------------------------------------------------------------------------------------------


def test_the_adjusted_error_is_that_over_all_drawings_of_labels():
    rng = np.random.default_rng(4)
    predictions = (rng.random(len(Q)) < 0.8 * (Q > 0.5) + 0.1).astype(int)
    found = too_good_to_be_true(0.1, len(Q), SOFT, predictions=predictions)
    drawn = (rng.random((1000, len(Q))) < Q) != (predictions == 1)
    errors = drawn.mean(axis=1)
    exact = np.where(predictions == 1, 1 - Q, Q)
    assert found.adjusted.value == pytest.approx(exact.mean())
    assert abs(errors.mean() - found.adjusted.value) < 4.5 * errors.std() / math.sqrt(1000)
    assert errors.std() == pytest.approx(found.adjusted_spread, rel=4.5 / math.sqrt(2 * 1000))
    half = (found.adjusted.high - found.adjusted.low) / 2
    assert half == pytest.approx(norm.ppf(0.975) * exact.std() / math.sqrt(len(Q)), rel=1e-3)


def test_the_likelier_class_has_the_bayes_error():
    found = too_good_to_be_true(0.1, len(Q), SOFT, predictions=Q >= 0.5)
    assert found.adjusted.value == pytest.approx(found.bayes_error.value)
    assert "at the Bayes error" in found.verdict


@pytest.mark.parametrize("seed", range(5))
def test_no_predictions_are_below_the_plug_in(seed):
    predictions = np.random.default_rng(seed).random(len(Q)) < Q
    found = too_good_to_be_true(0.1, len(Q), SOFT, predictions=predictions)
    assert found.adjusted.value > found.bayes_error.value
    assert "above the Bayes error" in found.verdict


def test_many_classes():
    rng = np.random.default_rng(6)
    q = rng.dirichlet([0.5, 0.5, 1.0], 300)
    weight = rng.integers(1, 5, 300)
    predictions = rng.integers(0, 3, 300)
    found = too_good_to_be_true(0.1, 100, ht.SoftLabeled(q, sample_weight=weight), predictions=predictions)
    right = q[np.arange(300), predictions]
    assert found.adjusted.value == pytest.approx(np.average(1 - right, weights=weight))
    spread = math.sqrt(np.sum(weight**2 * right * (1 - right))) / weight.sum()
    assert found.adjusted_spread == pytest.approx(spread)
    assert found.bayes_error.value == pytest.approx(np.average(1 - q.max(axis=1), weights=weight))


def test_votes_may_have_predictions():
    k = np.random.default_rng(7).binomial(5, Q[:300])
    found = too_good_to_be_true(0.02, 1000, ht.SoftLabeled.from_votes(k, 5), predictions=k >= 3)
    assert found.adjusted.value == pytest.approx(np.minimum(k, 5 - k).mean() / 5)
    assert found.bayes_error.identified[0] <= found.bayes_error.value
    assert found.too_good
    assert any("votes" in each for each in found.alternatives)
    assert "drawn as the votes say" in found.verdict
    # On these rows nothing is below the plug-in, which these predictions have.
    assert f"at the least that these votes allow, {found.bayes_error.naive:.3f}" in found.verdict
    assert any("made without these votes" in note for note in found.notes)
    other = too_good_to_be_true(0.02, 1000, ht.SoftLabeled.from_votes(k, 5), predictions=Q[:300] > 0.5)
    gap = other.adjusted.value - other.bayes_error.naive
    assert gap > 0.001
    assert f"{gap:.3f} above the least that these votes allow" in other.verdict


def test_what_no_predictions_get_below_is_named():
    q = np.random.default_rng(6).dirichlet([0.5, 0.5, 1.0], 300)
    many = too_good_to_be_true(0.1, 100, ht.SoftLabeled(q), predictions=q.argmax(axis=1))
    assert any("below the mean of 1 − max q" in note for note in many.notes)
    two = too_good_to_be_true(0.1, 100, SOFT, predictions=Q > 0.5)
    assert any("below the mean of min(q, 1−q)" in note for note in two.notes)
    assert not any("without these votes" in note for note in (*many.notes, *two.notes))


# What is said -----------------------------------------------------------------------------------------------


def test_the_verdicts():
    n = 500
    beta = bayes_error(SOFT).value
    cases = ((beta - 0.1, "Too good"), (beta - 0.002, "chance explains"), (beta + 0.05, "is not below"))
    for error, word in cases:
        found = too_good_to_be_true(round(error * n) / n, n, SOFT)
        assert word in found.verdict
        assert bool(found.alternatives) == found.too_good == (word == "Too good")
        assert "the Bayes error, estimated at" in found.verdict


def test_no_number_is_below_one_that_reads_the_same():
    beta = bayes_error(SOFT).value
    for error in (beta - 1e-4, beta + 1e-5):
        found = too_good_to_be_true(error, 500, SOFT)
        assert f"a test error of {beta:.3f} does not differ from the Bayes error" in found.verdict
    alike = np.full(10**6, 0.2)
    close = too_good_to_be_true(0.19996, 10**10, ht.SoftLabeled(alike))
    assert close.too_good
    assert "a test error of 0.19996 is below the Bayes error, estimated at 0.2, by more" in close.verdict


def test_an_error_that_is_not_lower_is_never_too_good():
    found = too_good_to_be_true(0.2, 500, SOFT, confidence_level=0.01)
    assert found.p_value < 0.99
    assert not found.too_good


def test_alternatives_only_where_they_apply():
    easier = "another, easier population"
    same = too_good_to_be_true(0.05, len(Q), SOFT, predictions=Q > 0.5).alternatives
    other = too_good_to_be_true(0.05, 500, SOFT, predictions=Q > 0.5).alternatives
    assert not any(easier in each for each in same)
    assert any(easier in each for each in other)
    positive = ht.PositiveConfidence(np.full(100, 0.6), prior=0.5)
    assert any("prior is too high" in each for each in too_good_to_be_true(0, 1000, positive).alternatives)
    noisy = too_good_to_be_true(0.05, 500, SOFT, labels="noisy").alternatives
    assert any("signs are wrong" in each for each in noisy)


def test_votes_of_different_numbers_may_depend_on_the_case():
    asked = "How many were asked depends on how hard the case is"
    for m, weight, uneven in (
        ([5] * 50 + [9] * 50, None, True),
        ([5] * 100, None, False),
        ([5] * 50 + [9] * 50, [1] * 50 + [0] * 50, False),
    ):
        votes = ht.SoftLabeled.from_votes([2] * 100, m, sample_weight=weight)
        found = too_good_to_be_true(0.01, 1000, votes)
        assert found.too_good
        assert any(asked in each for each in found.alternatives) == uneven


def test_it_can_be_shown_and_stored():
    found = too_good_to_be_true(0.05, 500, SOFT, predictions=Q > 0.5)
    text = str(found)
    assert text.startswith("Too good to be true")
    assert max(map(len, text.splitlines())) <= 100
    for part in ("p-value", "Bayes error", "adjusted error", "Other than overfitting:", "Note: "):
        assert part in text
    assert "<table>" in found._repr_html_()
    stored = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert stored["schema"] == 1
    assert stored["too_good"] is True
    assert stored["bayes_error"]["value"] == found.bayes_error.value
    assert stored["adjusted"]["value"] == found.adjusted.value
    assert stored["p_value"] == found.p_value
    assert repr(found) == f"TooGood(too_good=True, p = {found.p_value:.3g})"


@pytest.mark.parametrize("given", [{}, {"labels": "noisy"}, {"method": "bootstrap", "n_resamples": 50}])
def test_it_can_be_sent(given):
    found = too_good_to_be_true(0.05, 500, SOFT, predictions=Q > 0.5, **given)
    sent = pickle.loads(pickle.dumps(found))
    assert sent.to_dict() == found.to_dict()
    assert sent.adjusted.interval(0.5) == found.adjusted.interval(0.5)
    assert sent.bayes_error.interval(0.5) == found.bayes_error.interval(0.5)


def test_a_rounded_error_is_noted():
    note = "no whole number of errors"
    assert any(note in each for each in too_good_to_be_true(0.123, 50, SOFT).notes)
    assert not any(note in each for each in too_good_to_be_true(0.12, 50, SOFT).notes)


@pytest.mark.parametrize(
    ("error", "n", "given", "match"),
    [
        (-0.1, 10, {}, r"`test_error` must lie in \[0, 1\]"),
        (12, 10, {}, "0.02 for 2%"),
        ("low", 10, {}, "`test_error` must be a real number"),
        (0.1, 0, {}, "`n_test` must be a whole number of at least 1"),
        (0.1, 10.5, {}, "`n_test` must be a whole number"),
        (0.1, 10, {"predictions": [0, 1]}, "`predictions` has length 2"),
        (0.1, 10, {"predictions": Q}, "Pass classes, not scores"),
        (0.1, 10, {"predictions": np.full(len(Q), 2)}, "must be 0 or 1"),
        (0.1, 10, {"predictions": np.full(len(Q), -1)}, "must be 0 or 1"),
        (
            0.1,
            10,
            {"predictions": ["cat"] * len(Q)},
            "must be 0 or 1, got dtype <U3. Pass the number of each",
        ),
        (
            0.1,
            10,
            {"predictions": np.array(["1"] * len(Q), dtype=object)},
            "must be 0 or 1, got dtype object",
        ),
        (0.1, 10, {"confidence_level": 95}, "`confidence_level`"),
        (0.1, 10, {"labels": "hard"}, "`labels`"),
    ],
)
def test_bad_input(error, n, given, match):
    with pytest.raises(ht.InputError, match=match):
        too_good_to_be_true(error, n, SOFT, **given)


def test_bad_evidence():
    with pytest.raises(ht.InputError, match=r"SoftLabeled\(q\)"):
        too_good_to_be_true(0.1, 10, Q)
    three = ht.SoftLabeled(np.full((5, 3), 1 / 3))
    with pytest.raises(ht.InputError, match="whole numbers from 0 to 2"):
        too_good_to_be_true(0.1, 10, three, predictions=[0, 1, 2, 3, 0])
    with pytest.raises(ht.InputError, match=r"from 0 to 2, the column of `q` for each, got dtype"):
        too_good_to_be_true(0.1, 10, three, predictions=list("abcab"))
    for evidence, given in (
        (ht.PositiveConfidence([0.5, 0.6], prior=0.5), {}),
        (ht.SoftLabeled([0.1, 0.2]), {"labels": "uncertainty"}),
    ):
        with pytest.raises(ht.InputError, match="`predictions` must belong to rows of soft labels"):
            too_good_to_be_true(0.1, 10, evidence, predictions=[0, 1], **given)


def test_signs_make_labels_noisy_for_the_words_too():
    rng = np.random.default_rng(3)
    q = rng.beta(0.5, 0.5, 3000)
    u = ht.SoftLabeled(np.clip(q + rng.uniform(-1, 1, 3000) * np.minimum(q, 1 - q), 0, 1))
    found = too_good_to_be_true(0.05, 1000, u, sign=q > 0.5, predictions=u.labels.q > 0.5)
    named = too_good_to_be_true(0.05, 1000, u, labels="noisy", sign=q > 0.5, predictions=u.labels.q > 0.5)
    assert found.too_good
    assert found.alternatives == named.alternatives
    assert "signs are wrong" in found.alternatives[-1]
    # Predictions that follow the noisy labels profit from them: at the least that these allow, no less.
    assert "below the Bayes error" not in found.verdict.split("With labels drawn anew")[1]
    assert "the least that these soft labels allow" in found.verdict
    assert any("predictions that follow them" in note for note in found.notes)


def test_an_error_rate_of_which_none_was_counted_has_an_upper_end():
    evidence = ht.Labeled([0] * 25 + [1] * 25, [0.1] * 25 + [0.9] * 25)
    found = bayes_error(evidence)
    assert found.value == found.low == 0
    # Beta(1, 51): half a row more on either side of the threshold, in either class. Its quantile from 2,000 draws.
    assert found.high == pytest.approx(1 - 0.025 ** (1 / 51), abs=3 * 0.0035)
