"""Theorems 1 and 2: the formulas by another way, their limits, what they refuse, and Theorem 2 on data."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

import halftruth as ht
from halftruth import theory
from halftruth._errors import InputError

SIZES = st.integers(1, 10**6)
PRIORS = st.floats(0.01, 0.99)
SLOPES = st.floats(0, 5)


def mean_of_largest(n_variables_log, variance):
    """The least bound on E max of variables of this variance proxy: inf over λ of ln N/λ + λ v/2."""

    def at(log_rate):
        return n_variables_log / math.exp(log_rate) + math.exp(log_rate) * variance / 2

    return optimize.minimize_scalar(at, bounds=(-20, 30), method="bounded", options={"xatol": 1e-9}).fun


def exceeded_by_any(n_variables_log, variance, delta):
    """The t at which N variables of this variance proxy have a union bound of δ: ln N − t²/2v = ln δ."""
    return optimize.brentq(
        lambda t: n_variables_log - t**2 / (2 * variance) - math.log(delta), 0, 1e4, xtol=1e-13
    )


@given(n_positive=SIZES, n_unlabeled=SIZES, prior=PRIORS, n_bins=st.integers(1, 300), slope=SLOPES)
def test_equal_width_is_binning_and_the_largest_of_all_signed_sums(
    n_positive, n_unlabeled, prior, n_bins, slope
):
    # Each of 2^B signs of the bins gives a mean of n_P terms in ±π and of n_U terms in ±1: by Hoeffding's lemma of
    # variance proxy π²/n_P + 1/n_U.
    variance = (2 * prior) ** 2 / 4 / n_positive + 2**2 / 4 / n_unlabeled
    bound = theory.bias_bound(n_positive, n_unlabeled, prior, n_bins, lipschitz=slope, binning="width")
    assert bound.terms["binning"] == pytest.approx((1 + slope) / n_bins, rel=1e-12)
    assert bound.terms["sampling"] == pytest.approx(mean_of_largest(n_bins * math.log(2), variance), rel=1e-7)
    assert float(bound) == bound.value == pytest.approx(sum(bound.terms.values()), rel=1e-15)


@given(
    n_positive=SIZES,
    n_unlabeled=SIZES,
    prior=PRIORS,
    n_bins=st.integers(1, 300),
    level=st.floats(0.01, 0.999),
)
def test_equal_width_with_a_probability_is_a_union_bound(n_positive, n_unlabeled, prior, n_bins, level):
    variance = prior**2 / n_positive + 1 / n_unlabeled
    bound = theory.bias_bound(
        n_positive, n_unlabeled, prior, n_bins, lipschitz=1.0, binning="width", confidence_level=level
    )
    expected = exceeded_by_any(n_bins * math.log(2), variance, 1 - level)
    assert bound.terms["sampling"] == pytest.approx(expected, rel=1e-9)


@given(n_positive=SIZES, rest=st.integers(300, 10**6), prior=PRIORS, n_bins=st.integers(1, 300), slope=SLOPES)
def test_equal_mass_adds_what_edges_from_the_data_cost(n_positive, rest, prior, n_bins, slope):
    n_unlabeled = rest + n_bins  # at least 2B
    bound = theory.bias_bound(n_positive, n_unlabeled, prior, n_bins, lipschitz=slope)
    as_width = theory.bias_bound(n_positive, rest, prior, n_bins, lipschitz=slope, binning="width")
    # Beyond bins of equal width on n_U − B rows: (3 + 2L)B/(n_U − B), and (1 + L) times the noise of the masses.
    masses = mean_of_largest(n_bins * math.log(2), 1 / rest)
    expected = float(as_width) + (3 + 2 * slope) * n_bins / rest + (1 + slope) * masses
    assert float(bound) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("level", [None, 0.95])
def test_infinite_unlabeled_rows_make_both_binnings_alike(level):
    both = [
        theory.bias_bound(
            500, math.inf, 0.3, 12, lipschitz=1.2, binning=binning, confidence_level=level
        ).value
        for binning in ("mass", "width")
    ]
    assert both[0] == pytest.approx(both[1], rel=1e-15)
    extra = 0 if level is None else math.log(20)
    expected = 2.2 / 12 + 0.3 * math.sqrt(2 * (12 * math.log(2) + extra) / 500)
    assert both[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("binning", ["mass", "width"])
def test_large_sizes_come_to_infinite_ones(binning):
    def at(n_positive, n_unlabeled):
        return float(theory.bias_bound(n_positive, n_unlabeled, 0.3, 10, lipschitz=1.0, binning=binning))

    assert at(10**18, 10**18) == pytest.approx(at(math.inf, math.inf), abs=1e-7)
    assert at(math.inf, math.inf) == 0.2
    assert at(100, 10**18) == pytest.approx(at(100, math.inf), abs=1e-7)
    assert at(10**18, 100) == pytest.approx(at(math.inf, 100), abs=1e-7)


@pytest.mark.parametrize("binning", ["mass", "width"])
@pytest.mark.parametrize("level", [None, 0.9])
def test_more_rows_a_smaller_prior_and_a_smaller_slope_help(binning, level):
    base = {"n_positive": 100, "n_unlabeled": 1_000, "prior": 0.4, "lipschitz": 1.5}

    def at(**changes):
        return float(theory.bias_bound(**(base | changes), n_bins=8, binning=binning, confidence_level=level))

    for better in ({"n_positive": 101}, {"n_unlabeled": 1_001}, {"prior": 0.39}, {"lipschitz": 1.49}):
        assert at(**better) < at()


@pytest.mark.parametrize("binning", ["mass", "width"])
def test_a_probability_costs_and_a_higher_one_more(binning):
    values = [
        float(theory.bias_bound(100, 1_000, 0.4, 8, lipschitz=1, binning=binning, confidence_level=level))
        for level in (None, 0.01, 0.5, 0.99)
    ]
    assert values == sorted(values)
    assert len(set(values)) == 4


def test_a_bound_that_says_nothing_is_kept_and_says_so():
    bound = theory.bias_bound(10, 100, 0.5, 50, lipschitz=1.5)
    assert bound.value > 1
    assert not bound.informative
    assert "says nothing" in bound.note
    useful = theory.bias_bound(10**5, 10**6, 0.5, 60, lipschitz=1.5, confidence_level=0.95)
    assert useful.informative
    assert "says nothing" not in useful.note
    assert "0.95" in useful.note


def test_a_bound_cannot_be_changed():
    bound = theory.bias_bound(100, 1_000, 0.5, 5, lipschitz=1)
    with pytest.raises(TypeError):
        bound.terms["binning"] = 0.0
    with pytest.raises(AttributeError):
        bound.value = 0.0


GOOD = {"n_positive": 100, "n_unlabeled": 1_000, "prior": 0.3, "n_bins": 10, "lipschitz": 1.0}


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"n_positive": 0}, "`n_positive` must be a whole number of at least 1"),
        ({"n_positive": 2.5}, "`n_positive` must be a whole number"),
        ({"n_unlabeled": 19}, "at least twice `n_bins`"),
        ({"n_unlabeled": math.nan}, "`n_unlabeled` must be a real number"),
        ({"prior": 1.0}, "`prior` must lie in"),
        ({"n_bins": 0}, "`n_bins` must be a whole number of at least 1"),
        ({"lipschitz": -0.1}, "`lipschitz` must lie in"),
        ({"lipschitz": math.inf}, "`lipschitz` must lie in"),
        ({"binning": "quantile"}, "`binning` must be"),
        ({"confidence_level": 95}, "`confidence_level` must lie in"),
    ],
)
def test_what_breaks_the_assumptions_is_refused(wrong, says):
    with pytest.raises(InputError, match=says):
        theory.bias_bound(**(GOOD | wrong))


def test_equal_mass_takes_two_rows_a_bin_and_equal_width_one_row():
    assert theory.bias_bound(1, 20, 0.3, 10, lipschitz=1).value > 0
    assert theory.bias_bound(1, 1, 0.3, 10, lipschitz=1, binning="width").value > 0
    with pytest.raises(InputError):
        theory.bias_bound(1, 19, 0.3, 10, lipschitz=1)


# Theorem 2 --------------------------------------------------------------------------------------------------


@given(
    positive=st.lists(st.integers(0, 20), min_size=1, max_size=30),
    unlabeled=st.lists(st.integers(0, 20), min_size=1, max_size=30),
    prior=PRIORS,
    estimate=PRIORS,
    n_bins=st.integers(1, 12),
    binning=st.sampled_from(["mass", "width"]),
)
def test_a_wrong_prior_moves_pu_ece_no_more_than_theorem_2_says(
    positive, unlabeled, prior, estimate, n_bins, binning
):
    def error(of):
        evidence = ht.PositiveUnlabeled(np.array(positive) / 20, np.array(unlabeled) / 20, prior=of)
        return ht.calibration_error(evidence, n_bins=n_bins, binning=binning)

    bound = float(theory.prior_error_bound(prior, estimate))
    assert abs(error(prior) - error(estimate)) <= bound + 1e-12


def test_theorem_2_is_attained():
    """Where every bin has more positives than its scores say, each unit of prior counts in full."""
    rng = np.random.default_rng(0)
    unlabeled = rng.random(100) * 0.01
    positive = rng.choice(unlabeled, 400)
    at = [
        ht.calibration_error(ht.PositiveUnlabeled(positive, unlabeled, prior=prior), n_bins=4)
        for prior in (0.3, 0.42)
    ]
    assert at[1] - at[0] == pytest.approx(float(theory.prior_error_bound(0.3, 0.42)), abs=1e-14)


def test_shares_outside_are_refused():
    with pytest.raises(InputError, match="`estimate` must lie in"):
        theory.prior_error_bound(0.3, 1.2)
