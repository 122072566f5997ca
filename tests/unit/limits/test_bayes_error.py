"""`bayes_error`: every kind of evidence by hand, every interval, and what is refused."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import halftruth as ht
from halftruth.limits._bayes_error import bayes_error, overlap
from halftruth.limits._row_means import Mean, cut
from halftruth.simulate import GaussianClasses

Q = [0.9, 0.2, 0.6, 1.0]
LOSSES = [0.1, 0.2, 0.4, 0.0]
U, SIGN = [0.7, 0.4, 0.1, 0.55], [1, 0, 1, 0]
SIGNED = [0.3, 0.4, 0.9, 0.55]
R = [1.0, 0.8, 0.4, 0.0]
OF_R = [0.0, 0.25, 1.0, 1.0]
CLASSES = [[0.5, 0.3, 0.2], [0.1, 0.1, 0.8], [0.2, 0.6, 0.2]]
approx = pytest.approx


def soft(*args: Any, **kwargs: Any) -> ht.SoftLabeled:
    return ht.SoftLabeled(*args, **kwargs)


def t_interval(values: list[float], level: float = 0.95) -> tuple[float, float]:
    found = stats.ttest_1samp(values, 0).confidence_interval(level)
    return float(found.low), float(found.high)


def hoeffding(span: float, n: float, level: float = 0.95) -> float:
    return span * math.sqrt(math.log(2 / (1 - level)) / (2 * n))


def ends(found: ht.Estimate) -> tuple[float, float]:
    return found.low, found.high


# --- The functional -------------------------------------------------------------------------------------


def test_overlap_is_the_bayes_error_of_posteriors() -> None:
    assert overlap(soft(Q)) == approx(0.175, abs=1e-15)
    assert overlap(soft(Q, [30.0, -2.0, 7.0, 90.0])) == approx(0.175, abs=1e-15)
    weighted = soft(Q, sample_weight=[1, 2, 3, 4])
    assert overlap(weighted) == approx((0.1 + 0.4 + 1.2) / 10, abs=1e-15)


def test_overlap_of_positives_with_confidences_is_their_bayes_error() -> None:
    r = [0.9, 0.75, 0.3, 0.6]
    evidence = ht.PositiveConfidence(r)
    prior = 1 / np.mean(1 / np.asarray(r))
    wanted = bayes_error(ht.PositiveConfidence(r, prior=prior))
    assert overlap(evidence) == approx(wanted.value, abs=1e-15)


def test_overlap_works_along_the_last_axis() -> None:
    measure = ht.ScoreMeasure(
        score=np.asarray([0.1, 0.5]),
        mass=np.asarray([[2.0, 2.0], [1.0, 3.0]]),
        pos_mass=np.asarray([[0.5, 1.5], [0.0, 1.0]]),
    )
    assert overlap(measure).tolist() == [0.25, 0.25]
    assert overlap(measure[1]) == 0.25


# --- Exact soft labels ----------------------------------------------------------------------------------


def test_exact_labels() -> None:
    found = bayes_error(soft(Q), method="t")
    assert found.value == approx(0.175, abs=1e-15)
    low, high = t_interval(LOSSES)
    assert low < 0 < high < 0.5
    assert ends(found) == approx((0.0, high))
    assert (found.method, found.confidence_level) == ("t", 0.95)
    assert found.standard_error == approx(stats.sem(LOSSES))
    assert found.identified is None
    assert found.naive is None
    assert "right only on average" in found.notes[0]
    assert repr(found).startswith("Estimate(0.175, 0")


def test_a_level_is_asked_for_before_or_after() -> None:
    found, other = bayes_error(soft(Q), method="t"), bayes_error(soft(Q), confidence_level=0.5, method="t")
    assert ends(other) == approx(t_interval(LOSSES, 0.5))
    assert found.interval(0.5) == ends(other)
    normal = stats.norm.ppf(0.75) * stats.sem(LOSSES)
    assert found.interval(0.5, "normal") == approx((0.175 - normal, 0.175 + normal))


def test_hoeffding_of_exact_labels() -> None:
    """Proposition 4.2: √(log(2/δ) / 8n)."""
    q = np.tile([0.5, 0.1], 200)
    found = bayes_error(soft(q), method="hoeffding")
    side = math.sqrt(math.log(2 / 0.05) / (8 * 400))
    assert ends(found) == approx((0.3 - side, 0.3 + side))
    assert found.interval(0.8) == approx((0.3 - hoeffding(0.5, 400, 0.8), 0.3 + hoeffding(0.5, 400, 0.8)))
    assert found.standard_error is None
    with pytest.raises(ht.InputError, match="only its own"):
        found.interval(0.9, "normal")
    few = bayes_error(soft(Q), method="hoeffding")
    assert ends(few) == (0.0, 0.5)


def test_weights() -> None:
    weight = [1.0, 2.0, 0.0, 3.0]
    z, w = np.asarray([0.1, 0.2, 0.0]), np.asarray([1.0, 2.0, 3.0])
    value = (0.1 + 0.4) / 6
    error = math.sqrt(((w * (z - value)) ** 2).sum() / 36 * 3 / 2)
    found = bayes_error(soft(Q, sample_weight=weight), confidence_level=0.5, method="t")
    assert found.value == approx(value)
    assert found.standard_error == approx(error)
    side = stats.t.ppf(0.75, 2) * error
    assert ends(found) == approx((value - side, value + side))
    bound = bayes_error(soft(np.tile(Q, 100), sample_weight=np.tile(weight, 100)), method="hoeffding")
    side = hoeffding(0.5, 600**2 / 1400)
    assert ends(bound) == approx((max(0, value - side), value + side))


def test_bootstrap() -> None:
    q = np.random.default_rng(1).beta(1, 2, 500)
    found = bayes_error(soft(q), method="bootstrap", n_resamples=1000, rng=3)
    by_t = bayes_error(soft(q))
    assert found.value == by_t.value
    assert found.method == "percentile"
    assert found.replicates is not None
    assert found.replicates.shape == (1000,)
    # The spread of 1,000 draws is known to √(1/2000): five of those.
    assert by_t.standard_error is not None
    assert found.replicates.std() == approx(by_t.standard_error, rel=5 / math.sqrt(2000))
    low, high = np.quantile(found.replicates, [0.05, 0.95], method="weibull")
    assert found.interval(0.9) == approx((low, high))
    again = bayes_error(soft(q), method="bootstrap", n_resamples=1000, rng=3)
    assert ends(again) == ends(found)
    assert found.interval(0.9, "basic") == approx((2 * found.value - high, 2 * found.value - low))


def test_one_row() -> None:
    for method in ("t", "bootstrap"):
        found = bayes_error(soft([0.3]), method=method, n_resamples=50)
        assert found.value == approx(0.3)
        assert np.isnan(ends(found)).all()
        assert "One row" in found.notes[-1]
        assert np.isnan(found.interval(0.5)).all()
    assert ends(bayes_error(soft([0.3]), method="hoeffding")) == (0.0, 0.5)
    one = bayes_error(soft([0.3, 0.5], sample_weight=[2, 0]), method="t")
    assert one.value == approx(0.3)
    assert np.isnan(one.low)


@pytest.mark.parametrize(("k", "n"), [(0, 20), (1, 20), (3, 50), (50, 50)])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_of_rows_that_are_sure_or_a_coin_the_limits_are_those_of_clopper_and_pearson(k, n, level) -> None:
    found = bayes_error(soft(np.r_[np.full(k, 0.5), np.zeros(n - k)]), confidence_level=level)
    law, tail = stats.beta, (1 - level) / 2
    low = law.ppf(tail, k, n - k + 1) if k else 0.0
    high = law.ppf(1 - tail, k + 1, n - k) if k < n else 1.0
    assert ends(found) == approx((low / 2, high / 2), rel=1e-9)
    assert found.method == "bounded"
    assert any("No row differs" in note for note in found.notes) == (k in (0, n))


def test_bounded_rows_have_the_limits_of_random_weights() -> None:
    """Gaffke's: quantiles of the mean under Dirichlet weights of the rows and of one at either end."""
    q = np.r_[np.zeros(30), 0.1, 0.3, 0.45, np.full(7, 0.02)]
    weight = np.random.default_rng(3).exponential(size=(200_000, len(q) + 1))
    weight /= weight.sum(axis=1, keepdims=True)
    wanted = [np.quantile(weight @ np.r_[q, end], tail) for end, tail in ((0.0, 0.025), (0.5, 0.975))]
    assert ends(bayes_error(soft(q))) == approx(wanted, abs=0.05 * (wanted[1] - wanted[0]))


def test_one_bounded_row_has_an_interval_and_weight_zero_is_no_row() -> None:
    assert ends(bayes_error(soft([0.3]))) == approx((0.3 * 0.025, 0.3 + 0.2 * 0.975))
    q, extra = np.asarray([0.1, 0.2, 0.0]), np.asarray([0.1, 0.2, 0.0, 0.5])
    weighted = bayes_error(soft(extra, sample_weight=[2, 2, 2, 0]))
    assert ends(weighted) == approx(ends(bayes_error(soft(q))))


def test_rows_that_agree_leave_no_error() -> None:
    found = bayes_error(soft([0.25, 0.75, 0.25]), method="t")
    assert ends(found) == (0.25, 0.25)
    assert "No row differs" in found.notes[-1]
    # 1 − 0.9 is not 0.1 to the last digit, and no row differs for that.
    assert Mean.of(np.asarray([0.1, 1 - 0.9, 0.1]), None, 0.5).carriers == 0
    assert Mean.of(np.asarray([0.1, 1 - 0.9, 0.1]), np.asarray([1.0, 2.0, 3.0]), 0.5).carriers == 0


def test_few_rows_that_differ_are_noted() -> None:
    """Five rows in a hundred at ½: (Σd²)²/Σd⁴ of the deviations."""
    q = np.r_[np.zeros(95), np.full(5, 0.5)]
    d = q - q.mean()
    carriers = (d**2).sum() ** 2 / (d**4).sum()
    assert carriers < 10
    assert Mean.of(q, None, 0.5).carriers == approx(carriers)
    for method in ("t", "bootstrap"):
        note = bayes_error(soft(q), method=method, n_resamples=50).notes[-1]
        assert note.startswith(f"Few rows differ from the others (the spread is that of {carriers:.2g}")
        assert 'method="bounded"' in note
    for method in ("bounded", "hoeffding"):
        assert len(bayes_error(soft(q), method=method).notes) == 1
    many = np.tile([0.1, 0.4], 6)
    assert Mean.of(many, None, 0.5).carriers == approx(12)
    assert len(bayes_error(soft(many), method="t").notes) == 1
    # Weights are part of it: two heavy rows carry all.
    weight = np.r_[[1e6, 1e6], np.ones(10)]
    assert Mean.of(many, weight, 0.5).carriers == approx(2, rel=1e-4)


@pytest.mark.parametrize("method", ["t", "hoeffding", "bootstrap"])
@pytest.mark.parametrize("unit", [1e308, 1e-200, 5e-324])
def test_the_unit_of_weights_is_no_matter(unit: float, method: str) -> None:
    q, weight = np.tile([0.1, 0.7, 0.4], 20), np.tile([1.0, 0.0, 1.0], 20)
    r = np.tile([0.9, 0.7, 0.6], 20)
    for given in (lambda w: soft(q, sample_weight=w), lambda w: ht.PositiveConfidence(r, sample_weight=w)):
        found, wanted = (
            bayes_error(given(w), method=method, n_resamples=100) for w in (weight * unit, weight)
        )
        assert (found.value, *ends(found)) == approx((wanted.value, *ends(wanted)), rel=1e-12)
        assert found.notes == wanted.notes
    uneven = Mean.of(np.asarray([0.1, 0.3, 0.5]), np.asarray([1e-200, 1.0, 1e308]), 0.5)
    assert (uneven.value, uneven.n, uneven.effective) == (approx(0.5), 3, approx(1))


def test_an_interval_holds_its_value() -> None:
    assert cut((-0.1, 0.7), (0.0, 0.5)) == (0.0, 0.5)
    assert cut((-0.1, 0.7), (0.0, 0.5), 0.3) == (0.0, 0.5)
    assert cut((0.4, 0.7), (0.0, 0.5), 0.55) == (0.4, 0.7)
    assert cut((0.4, 0.7), (0.0, 0.5), 0.5 + 1e-15) == (0.4, 0.5 + 1e-15)


def test_what_is_printed_says_what_it_rests_on() -> None:
    found = bayes_error(soft(Q))
    assert str(found).splitlines() == [repr(found), *(f"Note: {note}" for note in found.notes)]
    assert "\n" not in repr(found)
    scores = bayes_error(MODEL.labeled(100, 1), n_resamples=10)
    assert "Note: An upper bound" in str(scores)


def test_labels_that_are_all_hard_say_little() -> None:
    for q in ([0.0, 1.0, 1.0], [[0, 1, 0], [1, 0, 0]]):
        assert "hard labels" in bayes_error(soft(q)).notes[1]
    assert "hard labels" in bayes_error(soft([0, 0.5, 1], sample_weight=[1, 0, 1])).notes[1]
    for told in ({"labels": "noisy"}, {"labels": "noisy", "sign": [0, 1]}):
        assert "hard labels" not in str(bayes_error(soft([0.0, 1.0]), **told))
    assert "hard labels" not in str(bayes_error(soft([0.0, 0.0]), labels="uncertainty"))
    assert "hard labels" not in str(bayes_error(soft([0.0, 1e-9])))


def test_estimates_can_be_stored_and_sent() -> None:
    each: list[dict[str, Any]] = [{}, {"labels": "noisy"}, {"labels": "noisy", "sign": SIGN}]
    for told in each:
        found = bayes_error(soft(U), **told)
        assert pickle.loads(pickle.dumps(found)).interval(0.5) == found.interval(0.5)
        assert found.to_dict()["method"] == "bounded"


# --- Classes --------------------------------------------------------------------------------------------


def test_many_classes() -> None:
    found = bayes_error(soft(CLASSES), confidence_level=0.5, method="t")
    losses = [0.5, 0.2, 0.4]
    assert found.value == approx(1.1 / 3)
    assert ends(found) == approx(t_interval(losses, 0.5))
    wide = bayes_error(soft(np.tile(CLASSES, (100, 1))), method="hoeffding")
    side = hoeffding(2 / 3, 300)
    assert ends(wide) == approx((1.1 / 3 - side, 1.1 / 3 + side))
    assert ends(bayes_error(soft(CLASSES), method="hoeffding")) == approx((0.0, 2 / 3))
    boots = bayes_error(soft(CLASSES), method="bootstrap", n_resamples=300)
    assert boots.value == found.value
    assert 0 < boots.low < boots.value < boots.high < 2 / 3  # a part of a row more, of any possible loss


def test_two_columns_are_two_classes() -> None:
    pair = np.stack([1 - np.asarray(Q), Q], axis=1)
    assert ends(bayes_error(soft(pair))) == approx(ends(bayes_error(soft(Q))))


def test_noisy_classes_with_the_likeliest_one() -> None:
    found = bayes_error(soft(CLASSES), labels="noisy", sign=[0, 2, 0], confidence_level=0.5, method="t")
    assert found.value == approx((0.5 + 0.2 + 0.8) / 3)
    assert ends(found) == approx(
        (t_interval([0.5, 0.2, 0.8], 0.5)[0], min(2 / 3, t_interval([0.5, 0.2, 0.8], 0.5)[1]))
    )
    assert found.naive == approx(1.1 / 3)
    with pytest.raises(ht.InputError, match=r"`sign` must hold the number of the likeliest class, 0 to 2.*3"):
        bayes_error(soft(CLASSES), labels="noisy", sign=[0, 3, 1], method="t")


def test_noisy_classes_alone() -> None:
    found = bayes_error(soft(CLASSES), labels="noisy", method="t")
    assert found.value == approx(1.1 / 3)
    # The means of the classes are 0.8/3, 1/3 and 1.2/3.
    assert found.identified == approx((1.1 / 3, 1.8 / 3))
    # The three bounds from above share one tail of .025.
    each = 1 - 0.05 / 3
    highs = [t_interval(list(1 - np.asarray(CLASSES)[:, k]), each)[1] for k in range(3)]
    low = t_interval([0.5, 0.2, 0.4])[0]
    assert ends(found) == approx((max(low, 0), min(*highs, 2 / 3)))


# --- Uncertainty ----------------------------------------------------------------------------------------


def test_uncertainty_labels() -> None:
    found = bayes_error(soft(LOSSES), labels="uncertainty")
    assert ends(found) == approx(ends(bayes_error(soft(Q))))
    assert found.value == approx(0.175)
    assert bayes_error(soft([0.5, 0.5]), labels="uncertainty").value == 0.5


def test_uncertainty_above_one_half_is_refused() -> None:
    with pytest.raises(ht.InputError, match=r"\[0, 0.5\] as uncertainty labels, got 2 value.*0.6.*index 1"):
        bayes_error(soft([0.1, 0.6, 0.5, 0.7]), labels="uncertainty")
    with pytest.raises(ht.InputError, match=r"one number a row.*got 3 classes"):
        bayes_error(soft(CLASSES), labels="uncertainty")
    with pytest.raises(ht.InputError, match=r"one number a row.*got votes"):
        bayes_error(ht.SoftLabeled.from_votes([0, 1], 3), labels="uncertainty")


# --- Noise ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sign", [SIGN, [True, False, True, False], np.array([1.0, -1.0, 1.0, -1.0]), [1, -1, 1, -1]]
)
def test_noisy_labels_with_signs(sign: Any) -> None:
    found = bayes_error(soft(U), labels="noisy", sign=sign, confidence_level=0.5, method="t")
    assert found.value == approx(2.15 / 4)
    low, high = t_interval(SIGNED, 0.5)
    assert low < 0.5 < found.value < high
    assert ends(found) == approx((low, high))
    assert found.interval(0.5) == ends(found)
    assert found.naive == approx((0.3 + 0.4 + 0.1 + 0.45) / 4)
    assert found.identified is None
    assert "above 0.5" in found.notes[1]
    assert "by noise" in found.notes[1]
    assert found.notes[1].kind != "refuted"


def test_signs_that_contradict_the_labels_are_named() -> None:
    u = np.tile([0.05, 0.95], 50)
    found = bayes_error(soft(u), labels="noisy", sign=u < 0.5, method="t")
    assert found.value == approx(0.95)
    assert ends(found) == approx((0.95, 0.95))
    assert "signs contradict the labels" in found.notes[1]
    assert found.notes[1].kind == "refuted"
    # Two rows, however alike, refute nothing.
    few = bayes_error(soft(u[:2]), labels="noisy", sign=u[:2] < 0.5, method="t")
    assert not any((note.kind == "refuted") for note in few.notes)
    right = bayes_error(soft(u), labels="noisy", sign=u > 0.5, method="t")
    assert right.value == approx(0.05)
    assert not any("above" in note for note in right.notes)


def test_hoeffding_of_noisy_labels_with_signs() -> None:
    """Proposition 4.5: √(log(2/δ) / 2n)."""
    u = np.tile([0.3, 0.6], 500)
    found = bayes_error(soft(u), labels="noisy", sign=u > 0.5, method="hoeffding")
    side = math.sqrt(math.log(2 / 0.05) / (2 * 1000))
    assert ends(found) == approx((0.35 - side, 0.35 + side))


def test_noisy_labels_without_signs() -> None:
    u = [0.7, 0.4, 0.1, 0.2, 0.3]
    found = bayes_error(soft(u), labels="noisy", confidence_level=0.5, method="t")
    plug_in = [0.3, 0.4, 0.1, 0.2, 0.3]
    assert found.value == found.naive == approx(0.26)
    assert found.identified == approx((0.26, 0.34))
    # Two bounds from above, u and 1 − u, share one tail of ¼.
    assert ends(found) == approx((t_interval(plug_in, 0.5)[0], t_interval(u, 0.75)[1]))
    assert "too small on average" in found.notes[0]
    assert found.notes[0].startswith("Assumes that the labels are right on average at every case")
    mirror = bayes_error(soft(1 - np.asarray(u)), labels="noisy", confidence_level=0.5, method="t")
    assert ends(mirror) == approx(ends(found))
    assert found.standard_error == approx(stats.sem(plug_in))
    with pytest.raises(ht.InputError, match="only its own"):
        found.interval(0.5, "normal")


@pytest.mark.parametrize("method", ["hoeffding", "bootstrap"])
def test_other_intervals_of_noisy_labels_without_signs(method: str) -> None:
    u = np.random.default_rng(2).beta(1, 3, 800)
    found = bayes_error(soft(u), labels="noisy", method=method, n_resamples=1000)
    plug_in, top = np.minimum(u, 1 - u).mean(), u.mean()
    assert found.identified == approx((plug_in, top))
    if method == "hoeffding":
        assert ends(found) == approx((plug_in - hoeffding(0.5, 800), top + hoeffding(1.0, 800, 0.975)))
    else:
        # Quantiles of 1,000 draws: √(p(1−p)/1000) over the density there, five times.
        for tail, side in (
            (0.025, (plug_in - found.low) / stats.sem(np.minimum(u, 1 - u))),
            (0.0125, (found.high - top) / stats.sem(u)),
        ):
            z = stats.norm.ppf(1 - tail)
            slack = 5 * math.sqrt(tail * (1 - tail) / 1000) / stats.norm.pdf(z)
            assert abs(side - z) < slack + 0.1
    assert found.interval(0.5)[0] > found.low


def test_noise_around_a_half_is_cut_at_a_half() -> None:
    found = bayes_error(soft([0.2, 0.8, 0.1, 0.9]), labels="noisy")
    assert found.identified == approx((0.15, 0.5))
    assert found.high == 0.5


@pytest.mark.parametrize(
    ("sign", "message"),
    [
        ([1, 0, 1], "`sign` has length 3.*number 4"),
        ([1, 0, -1, 1], r"0 and 1, −1 and 1, or booleans, got 1 other.*\(0\) at index 1"),
        ([1, 2, 0, 1], r"got 1 other value.*\(2\) at index 1"),
        ([0.3, 0.9, 1, 0], r"got 2 other value.*\(0.3\) at index 0"),
        ([1, 0, np.nan, 1], "`sign` must be finite"),
        (["+", "-", "+", "-"], "`sign` must be numeric"),
        (1, "one-dimensional"),
    ],
)
def test_bad_signs(sign: Any, message: str) -> None:
    with pytest.raises(ht.InputError, match=message):
        bayes_error(soft(U), labels="noisy", sign=sign)


def test_signs_go_with_noisy_labels() -> None:
    evidence = soft([0.1, 0.2, 0.3, 0.4])
    with pytest.raises(ht.InputError, match=r'`sign` goes with noisy labels, not .*"uncertainty"'):
        bayes_error(evidence, labels="uncertainty", sign=SIGN)
    assert bayes_error(evidence, sign=SIGN).value == bayes_error(evidence, labels="noisy", sign=SIGN).value


# --- Votes ----------------------------------------------------------------------------------------------


def test_votes_on_two_classes_have_their_own_estimator() -> None:
    evidence = ht.SoftLabeled.from_votes([0, 1, 3], 3)
    found = [bayes_error(evidence, method=method, confidence_level=0.8) for method in (None, "likelihood")]
    assert {(x.value, x.low, x.high, x.method) for x in found} == {
        (found[0].value, *ends(found[0]), "likelihood")
    }
    assert found[0].naive == pytest.approx(1 / 9)


def test_votes_can_be_taken_for_noisy_labels() -> None:
    votes, shares = ht.SoftLabeled.from_votes([0, 1, 3, 2], 4), soft([0, 0.25, 0.75, 0.5])
    for sign in (None, [0, 0, 1, 1]):
        found, wanted = (bayes_error(x, labels="noisy", sign=sign) for x in (votes, shares))
        assert (found.value, *ends(found)) == (wanted.value, *ends(wanted))


def test_votes_among_many_classes() -> None:
    k = np.asarray([[4, 0, 0], [2, 1, 1], [0, 3, 1], [2, 0, 2]])
    found = bayes_error(ht.SoftLabeled.from_votes(k), confidence_level=0.5, method="t")
    plug_in = [0, 0.5, 0.25, 0.5]
    # Two of four voters disagree in 0, 5, 3 and 4 of 6 pairs.
    pairs = [0, 5 / 6, 3 / 6, 4 / 6]
    assert found.value == found.naive == approx(1.25 / 4)
    # Calling all cases the first class errs in half.
    assert found.identified == approx((1.25 / 4, 0.5))
    # Four bounds from above share one tail of ¼.
    low, high = t_interval(plug_in, 0.5)[0], t_interval(pairs, 1 - 0.5 / 4)[1]
    alike = t_interval([0, 0.5, 1, 0.5], 1 - 0.5 / 4)[1]
    assert ends(found) == approx((low, min(high, alike, 2 / 3)))
    assert "two voters" in found.notes[0]
    assert len(found.notes) == 2
    assert "Few rows differ" in found.notes[1]


@pytest.mark.slow
def test_an_interval_from_votes_among_many_misses_as_seldom_as_it_says(draws: Callable[[int], int]) -> None:
    """All cases are a toss-up of three: every bound from above is then the truth, 2/3."""
    rng, n, missed = np.random.default_rng(5), draws(2000), 0
    for _ in range(n):
        found = bayes_error(ht.SoftLabeled.from_votes(rng.multinomial(2, [1 / 3] * 3, 300)))
        missed += found.high < 2 / 3 - 1e-12
    assert missed <= stats.binom.ppf(1 - 1e-4, n, 0.025)


def test_the_disagreement_of_voters_bounds_more_than_calling_all_alike() -> None:
    k = np.repeat([[5, 0, 0], [0, 5, 0], [0, 1, 4]], 20, axis=0)
    found = bayes_error(ht.SoftLabeled.from_votes(k), method="t")
    # In the last rows 4 of 10 pairs of voters disagree.
    assert found.identified == approx((0.2 / 3, 0.4 / 3))
    pairs = np.repeat([0, 0, 0.4], 20)
    assert found.high == approx(t_interval(list(pairs), 1 - 0.05 / 4)[1])


def test_rows_with_one_vote_bound_nothing() -> None:
    k = np.concatenate([np.repeat([[1, 0, 0], [0, 1, 0], [0, 0, 1]], 10, axis=0)])
    found = bayes_error(ht.SoftLabeled.from_votes(k))
    assert found.value == 0
    assert found.identified == approx((0, 2 / 3))
    assert "30 row(s) have one vote" in found.notes[1]
    assert found.high == approx(2 / 3)


def test_methods_for_votes_among_many() -> None:
    evidence = ht.SoftLabeled.from_votes(np.repeat([[4, 0, 1], [2, 1, 2], [0, 5, 0]], 30, axis=0))
    for method in ("hoeffding", "bootstrap"):
        found = bayes_error(evidence, method=method, n_resamples=200)
        assert found.identified is not None
        assert 0 <= found.low < found.identified[0] <= found.identified[1] < found.high
    with pytest.raises(ht.InputError, match=r"votes on three classes or more.*votes on two classes"):
        bayes_error(evidence, method="likelihood")


# --- Confidences ----------------------------------------------------------------------------------------


def test_confidences_with_a_prior() -> None:
    found = bayes_error(ht.PositiveConfidence(R, prior=0.4), confidence_level=0.5, method="t")
    low, high = t_interval(OF_R, 0.5)
    assert found.value == approx(0.225)
    assert ends(found) == approx((0.4 * low, 0.4 * high))
    assert found.standard_error == approx(0.4 * stats.sem(OF_R))
    assert found.interval(0.2) == approx(tuple(0.4 * x for x in t_interval(OF_R, 0.2)))
    assert found.identified is None
    assert found.naive is None
    assert ends(bayes_error(ht.PositiveConfidence(R, prior=0.4), method="t")) == approx((0.0, 0.4))
    weighted = bayes_error(ht.PositiveConfidence(R, prior=0.4, sample_weight=[1, 2, 0, 1]), method="t")
    assert weighted.value == approx(0.4 * 1.5 / 4)


def test_hoeffding_of_confidences_is_tightened_by_the_prior() -> None:
    """Proposition 5.3 is √(log(2/δ) / 2n): π times that holds."""
    found = bayes_error(ht.PositiveConfidence(np.tile(R, 200), prior=0.4), method="hoeffding")
    side = 0.4 * math.sqrt(math.log(2 / 0.05) / (2 * 800))
    assert ends(found) == approx((0.225 - side, 0.225 + side))


def test_bootstrap_of_confidences() -> None:
    r = np.random.default_rng(4).beta(3, 1, 400)
    found = bayes_error(ht.PositiveConfidence(r, prior=0.4), method="bootstrap", n_resamples=1000)
    by_t = bayes_error(ht.PositiveConfidence(r, prior=0.4))
    assert found.replicates is not None
    assert by_t.standard_error is not None
    assert found.replicates.std() == approx(by_t.standard_error, rel=5 / math.sqrt(2000))
    assert ends(found) == approx(tuple(np.quantile(found.replicates, [0.025, 0.975], method="weibull")))


def test_confidences_without_a_prior() -> None:
    found = bayes_error(ht.PositiveConfidence([1.0, 0.8, 0.4, 0.5]), confidence_level=0.5, method="t")
    losses = [0, 0.25, 1, 1]
    assert found.value == approx(0.5625)
    assert ends(found) == approx(t_interval(losses, 0.5))
    text = " ".join(found.notes)
    # 1/r is 1, 1.25, 2.5 and 2: their mean is 1.6875.
    assert "divided by the prior, β/π" in text
    assert "identify π = 0.5926, and with it a Bayes error of 0.3333" in text
    zeros = bayes_error(ht.PositiveConfidence(R), method="t")
    assert "identify no prior themselves, as 1 of them are 0" in " ".join(zeros.notes)
    hidden = bayes_error(ht.PositiveConfidence([*R, 0.5], sample_weight=[1, 1, 1, 0, 1]), method="t")
    assert "identify π = 0.5926" in " ".join(hidden.notes)


@pytest.mark.parametrize("method", ["t", "hoeffding", "bootstrap"])
def test_a_range_of_priors(method: str) -> None:
    r = np.tile([1.0, 0.8, 0.4, 0.7, 0.9], 40)
    told: dict[str, Any] = {"method": method, "n_resamples": 300}
    low, middle, high = (bayes_error(ht.PositiveConfidence(r, prior=p), **told) for p in (0.2, 0.3, 0.4))
    found = bayes_error(ht.PositiveConfidence(r, prior=(0.2, 0.4)), **told)
    assert (found.value, *ends(found)) == approx((middle.value, low.low, high.high))
    assert found.interval(0.5) == approx((low.interval(0.5)[0], high.interval(0.5)[1]))
    assert found.identified == approx((low.value, high.value))
    assert found.standard_error == approx(middle.standard_error)
    if method != "hoeffding":
        assert found.interval(0.9, "normal") == approx(
            (low.interval(0.9, "normal")[0], high.interval(0.9, "normal")[1])
        )


def test_a_range_of_priors_keeps_to_what_each_allows() -> None:
    """All cases are doubtful: β = min(π, 1−π) at every prior, largest at ½."""
    found = bayes_error(ht.PositiveConfidence([0.3, 0.4, 0.2], prior=(0.4, 0.9)), method="t")
    # At the middle, .65, the value is more than all negatives: nothing is cut.
    assert (found.value, *ends(found)) == approx((0.65, 0.4, 0.9))
    assert found.identified == approx((0.4, 0.9))
    within = bayes_error(ht.PositiveConfidence([0.3, 0.4, 0.2], prior=(0.1, 0.7)), method="t")
    assert (within.value, *ends(within)) == approx((0.4, 0.1, 0.5))
    assert within.identified == approx((0.1, 0.5))


def test_a_value_above_what_is_possible() -> None:
    """Without negatives enough: β cannot be more than 1 − π."""
    for n, refuted in ((3, False), (300, True)):
        found = bayes_error(ht.PositiveConfidence(np.full(n, 0.4), prior=0.9), method="t")
        assert (found.value, *ends(found)) == approx((0.9, 0.9, 0.9))
        note = next(note for note in found.notes if "above 0.1, the most that is possible" in note)
        assert (note.kind == "refuted") == refuted
    # Hoeffding's lower limit of the mean, at a half percent each, is what refutes.
    r, prior = np.repeat([0.4, 1.0], [180, 120]), 0.65
    low = 0.6 - hoeffding(1, 300, 0.995)
    assert prior * low < 1 - prior < prior * 0.6
    noisy = bayes_error(ht.PositiveConfidence(r, prior=prior), method="t")
    note = next(note for note in noisy.notes if "above 0.35, the most" in note)
    assert note.kind != "refuted"
    assert noisy.low < noisy.value < noisy.high
    certain = bayes_error(ht.PositiveConfidence(r, prior=(0.8, 0.9)), method="t")
    assert any((note.kind == "refuted") and "the most that is possible" in note for note in certain.notes)


def test_an_estimated_prior_is_carried_in() -> None:
    r = np.tile([1.0, 0.8, 0.4, 0.7, 0.9], 40)
    losses = np.tile([0, 0.25, 1, 3 / 7, 1 / 9], 40)
    draws = np.linspace(0.35, 0.45, 501)
    prior = ht.PriorEstimate(value=0.4, replicates=draws, method="survey")
    evidence = ht.PositiveConfidence(r, prior=prior)
    found = bayes_error(evidence, method="t")
    error = math.hypot(0.4 * stats.sem(losses), losses.mean() * draws.std())
    side = stats.t.ppf(0.975, 199) * error
    assert found.value == approx(0.4 * losses.mean())
    assert found.standard_error == approx(error)
    assert ends(found) == approx((found.value - side, found.value + side))
    assert "estimated (survey)" in " ".join(found.notes)

    boots = bayes_error(evidence, method="bootstrap", n_resamples=2000)
    assert boots.replicates is not None
    # A product of independent draws has a little more than the delta method's spread.
    assert boots.replicates.std() == approx(error, rel=5 / math.sqrt(4000) + 0.01)

    bound = bayes_error(evidence, method="hoeffding")
    half = hoeffding(1.0, 200, 0.975)
    low, high = np.quantile(draws, [0.0125, 0.9875], method="weibull")
    assert ends(bound) == approx((low * (losses.mean() - half), high * (losses.mean() + half)))


def test_an_estimate_without_error_is_a_number_and_one_without_replicates_a_range() -> None:
    r = np.tile([1.0, 0.8, 0.4, 0.7, 0.9], 40)
    for method in ("t", "bootstrap"):
        certain = ht.PriorEstimate(value=0.4, replicates=[0.4, 0.4])
        found, wanted = (
            bayes_error(ht.PositiveConfidence(r, prior=p), method=method, n_resamples=200)
            for p in (certain, 0.4)
        )
        assert (found.value, *ends(found)) == approx((wanted.value, *ends(wanted)))
    ranged = bayes_error(ht.PositiveConfidence(r, prior=ht.PriorEstimate(value=0.3, low=0.2, high=0.5)))
    wanted = bayes_error(ht.PositiveConfidence(r, prior=(0.2, 0.5)))
    assert ends(ranged) == approx(ends(wanted))
    assert ranged.value == approx(0.3 / 0.35 * wanted.value)


def test_a_prior_that_the_confidences_refute() -> None:
    r = np.tile([1.0, 0.8, 0.4, 0.5], 100)
    refuted = bayes_error(ht.PositiveConfidence(r, prior=0.2))
    note = next(note for note in refuted.notes if (note.kind == "refuted"))
    inverse = np.tile([1, 1.25, 2.5, 2], 100)
    share = 1 / inverse.mean()
    side = stats.norm.ppf(0.995) * share**2 * stats.sem(inverse)
    assert f"between {share - side:.4g} and {share + side:.4g} (99%)" in note
    # The same words as those of other metrics.
    assert note in ht.evaluate(ht.PositiveConfidence(r, prior=0.2), "roc_auc", n_resamples=0).notes
    for prior in (0.6, (0.2, 0.7)):
        found = bayes_error(ht.PositiveConfidence(r, prior=prior))
        assert not any((note.kind == "refuted") for note in found.notes)
    for few in ([*r, 0.0], r[:29], np.full(100, 0.6)):
        found = bayes_error(ht.PositiveConfidence(few, prior=0.2))
        assert not any((note.kind == "refuted") for note in found.notes)
        assert "(99%)" not in str(found)
        assert "(99%)" not in str(bayes_error(ht.PositiveConfidence(few)))
    assert "identified by the evidence itself: " in str(bayes_error(ht.PositiveConfidence(r[:32])))


def test_a_prior_that_rare_confidences_may_explain_is_not_refuted() -> None:
    """One small confidence carries the spread of 1/r: how many more were missed by chance, none can say."""
    r = np.r_[np.tile([0.5, 0.7], 50), 0.05]
    inverse = 1 / r
    share = 1 / inverse.mean()
    side = stats.norm.ppf(0.995) * share**2 * stats.sem(inverse)
    assert Mean.of(inverse, None, math.inf).carriers < 10
    for prior, refuted in (
        (share - 1.1 * side, False),
        (share + 0.9 * side, False),
        (share + 1.1 * side, True),
    ):
        found = bayes_error(ht.PositiveConfidence(r, prior=prior))
        assert any((note.kind == "refuted") for note in found.notes) == refuted
    assert f"itself: 0 to {share + side:.4g} (99%)" in str(bayes_error(ht.PositiveConfidence(r)))


def test_the_range_of_a_prior_is_one_of_shares() -> None:
    r = np.r_[np.full(60, 0.999), np.full(12, 0.45)]
    inverse = 1 / r
    share = 1 / inverse.mean()
    high = share + stats.norm.ppf(0.995) * share**2 * stats.sem(inverse)
    low = 2 * share - high
    found = bayes_error(ht.PositiveConfidence(r))
    assert f"{low:.4g} to {min(high, 1):.4g} (99%)" in str(found)


def test_one_confidence() -> None:
    for prior in (None, 0.4, (0.3, 0.5), ht.PriorEstimate(value=0.4, replicates=[0.3, 0.5])):
        evidence = ht.PositiveConfidence([0.8], prior=prior)
        found = bayes_error(evidence, method="t")
        assert found.value == approx(0.25 if prior is None else 0.1)
        assert np.isnan(ends(found)).all()
        assert "One row" in found.notes[-1]
        assert bayes_error(evidence, method="hoeffding").low == 0


# --- Scores ---------------------------------------------------------------------------------------------

MODEL = GaussianClasses(prior=0.35, separation=1.4, intercept=-0.9, slope=0.7)


def test_labeled_scores() -> None:
    evidence = MODEL.labeled(800, 1)
    found = bayes_error(evidence, n_folds=4, rng=7, n_resamples=300)
    held_out = ht.cross_calibrate(evidence, n_folds=4, rng=7)
    assert found.value == approx(1 - ht.confusion(held_out, 0.5).accuracy, abs=1e-12)
    assert found.replicates is not None
    assert found.interval(0.9) == approx(
        tuple(np.quantile(found.replicates, [0.05, 0.95], method="weibull")), abs=1e-12
    )
    assert found.interval(0.95) == approx(ends(found))
    # The spread of a share of 800 rows, known from 300 resamples to √(1/600).
    error = math.sqrt(found.value * (1 - found.value) / 800)
    assert found.replicates.std() == approx(error, rel=5 / math.sqrt(600))
    measure = evidence.measure()
    trusted = (np.minimum(measure.score, 1 - measure.score) * measure.mass).sum() / 800
    assert found.naive == approx(trusted)
    assert found.identified == (0.0, found.value)
    assert found.notes[0].startswith("An upper bound of the Bayes error")
    assert "Another rule may err less" in found.notes[0]
    assert bayes_error(evidence, n_folds=4, rng=7, n_resamples=300, method="bootstrap").high == found.high


def test_scores_without_resamples_have_an_interval_from_the_error() -> None:
    evidence = MODEL.labeled(800, 1)
    found, wanted = bayes_error(evidence, n_resamples=0), bayes_error(evidence)
    assert found.value == wanted.value
    assert found.method == "influence, score"
    assert found.low < found.value < found.high
    assert found.interval(0.95) == approx(ends(found))
    assert found.high - found.low == approx(wanted.high - wanted.low, rel=0.1)


def test_margins_are_no_probabilities() -> None:
    drawn = MODEL.draw(300, 6)
    evidence = ht.Labeled(drawn.y, 4 * drawn.score - 1)
    with pytest.raises(ht.InputError, match=r'from -.* `calibrator`="isotonic", or Calibrator\("platt"'):
        bayes_error(evidence)
    with pytest.raises(ht.InputError, match=r"`n_folds` must be a whole number of at least 2, got 1.$"):
        bayes_error(ht.Labeled(drawn.y, drawn.score), n_folds=1)
    margins = bayes_error(evidence, calibrator="isotonic", n_resamples=20)
    assert margins.naive is None
    wanted = bayes_error(ht.Labeled(drawn.y, drawn.score), calibrator="isotonic", n_resamples=20)
    assert margins.value == approx(wanted.value)
    platt = bayes_error(evidence, calibrator=ht.Calibrator("platt", scale="score"), n_resamples=20)
    assert 0 < platt.value < 0.5


@pytest.mark.parametrize("seed", [2, 3])
def test_scores_that_say_nothing_are_cut_at_a_half(seed: int) -> None:
    rng = np.random.default_rng(seed)
    found = bayes_error(ht.Labeled(rng.random(40) < 0.5, rng.random(40)), n_resamples=200)
    assert (found.value > 0.5) == (seed == 3)
    assert 0 <= found.low <= found.value <= found.high
    assert (found.high <= 0.5) == (found.value <= 0.5) == (found.interval(0.99)[1] <= 0.5)
    assert found.identified == (0.0, min(found.value, 0.5))


@pytest.mark.parametrize("purity", [1.0, 0.85])
def test_positives_and_unlabeled(purity: float) -> None:
    evidence = MODEL.positive_unlabeled(200, 900, 3, purity=purity)
    found = bayes_error(evidence, n_resamples=100)
    held_out = ht.cross_calibrate(evidence)
    assert found.value == approx(1 - ht.confusion(held_out, 0.5).accuracy, abs=1e-12)
    assert 0 <= found.low < found.value < found.high <= 0.5
    assert any("SCAR" in note for note in found.notes)


def test_positives_and_unlabeled_with_other_priors() -> None:
    point, ranged = (
        bayes_error(MODEL.positive_unlabeled(200, 900, 3, prior=prior), n_resamples=100)
        for prior in (0.35, (0.25, 0.45))
    )
    assert ranged.value == approx(point.value)
    assert ranged.high - ranged.low > point.high - point.low
    assert ranged.identified is not None
    assert point.identified == (0.0, point.value)
    assert ranged.identified[1] > ranged.value
    # The calibrator is that of the middle; the errors are counted at each prior.
    held_out = ht.cross_calibrate(MODEL.positive_unlabeled(200, 900, 3, prior=(0.25, 0.45)))
    wrong = [
        1 - ht.confusion(held_out.measure_at(replace(held_out.scenario, prior=prior)), 0.5).accuracy
        for prior in (0.25, 0.35, 0.45)
    ]
    assert ranged.identified == approx((0.0, max(wrong)), abs=1e-12)
    with pytest.raises(ht.NotIdentifiable, match="Pass `prior`"):
        bayes_error(MODEL.positive_unlabeled(200, 900, 3, prior=None))


# --- What is refused ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"labels": "hard"}, "`labels` must be 'soft' or 'uncertainty' or 'noisy', got 'hard'"),
        ({"method": "delta"}, "`method` must be 'bounded' or 't' or .* got 'delta'"),
        ({"method": "likelihood"}, "likelihood.* makes no interval from soft labels.*from_votes"),
        ({"confidence_level": 95}, "Pass 0.95 for 95%"),
        ({"n_resamples": -1}, "`n_resamples` must be a whole number"),
        ({"method": "bootstrap", "n_resamples": 0}, 'needs n_resamples > 0.*method="bounded"'),
    ],
)
def test_bad_arguments(told: dict[str, Any], message: str) -> None:
    with pytest.raises(ht.InputError, match=message):
        bayes_error(soft(Q), **told)


def test_methods_that_make_no_sense_are_refused() -> None:
    votes = ht.SoftLabeled.from_votes([0, 1, 3], 3)
    for method in ("t", "hoeffding", "bootstrap"):
        with pytest.raises(ht.InputError, match=f'{method}.*no interval from votes.*labels="noisy"'):
            bayes_error(votes, method=method)
    with pytest.raises(ht.InputError, match=r"likelihood.*PositiveConfidence.*'t' or 'hoeffding'"):
        bayes_error(ht.PositiveConfidence(R, prior=0.4), method="likelihood")
    for method in ("t", "hoeffding", "likelihood"):
        with pytest.raises(ht.InputError, match=f"{method}.*scores \\(Labeled\\). Pass 'bootstrap'"):
            bayes_error(MODEL.labeled(50, 1), method=method)


def test_labels_and_signs_are_for_soft_labels() -> None:
    for evidence in (ht.PositiveConfidence(R, prior=0.4), MODEL.labeled(50, 1)):
        with pytest.raises(ht.InputError, match='labels="noisy" is for SoftLabeled'):
            bayes_error(evidence, labels="noisy")
        with pytest.raises(ht.InputError, match="`sign` is for SoftLabeled"):
            bayes_error(evidence, sign=SIGN)


def test_what_is_no_evidence_is_refused() -> None:
    with pytest.raises(ht.InputError, match=r"got list. Wrap your arrays, e.g. SoftLabeled\(q\)"):
        bayes_error(Q)  # type: ignore[arg-type]
    with pytest.raises(ht.InputError, match=r"\[0, 1\]"):
        bayes_error(soft([0.2, 1.3]))
    with pytest.raises(ht.InputError, match="`r` is 0 for all"):
        bayes_error(ht.PositiveConfidence([0.0, 0.0], prior=0.5))
