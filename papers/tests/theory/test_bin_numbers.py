"""Corollaries 1 and 2: the number of bins without rounding accidents, the least of the bounds; numbers of rows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from halftruth._errors import InputError
from halftruth_papers import theory


def least_with_cube(numerator, denominator):
    """The least whole B with B³ ≥ numerator/denominator, in integers."""
    b = 1
    while b**3 * denominator < numerator:
        b += 1
    return b


@given(
    share=st.integers(2, 40).flatmap(lambda q: st.tuples(st.integers(1, q - 1), st.just(q))),
    n_positive=st.integers(1, 10**7),
    n_unlabeled=st.integers(1, 10**7),
)
def test_optimal_bins_are_those_of_integer_arithmetic(share, n_positive, n_unlabeled):
    p, q = share
    expected = least_with_cube(q**2 * n_positive * n_unlabeled, p**2 * n_unlabeled + q**2 * n_positive)
    assert theory.optimal_bins(n_positive, n_unlabeled, p / q) == expected


@pytest.mark.parametrize("root", [1, 2, 3, 10, 47, 100, 464, 1_000, 21_544])
@pytest.mark.parametrize(("p", "q"), [(1, 2), (1, 3), (3, 10), (1, 7), (9, 10)])
def test_exact_cubes_are_met_exactly(root, p, q):
    # (p/q)²/n_P = 1/root³ where n_P = p² root³ / q²: take root³ a multiple of q².
    root *= q**2
    n_positive = p**2 * root**3 // q**2
    assert theory.optimal_bins(n_positive, math.inf, p / q) == root
    if n_positive < 2**50:
        assert theory.optimal_bins(n_positive + 1, math.inf, p / q) == root + 1


@pytest.mark.parametrize("root", [1, 2, 5, 10, 99, 100, 101, 1_000, 9_999])
def test_labels(root):
    assert theory.optimal_bins_of_labels(root**3) == root
    assert theory.optimal_bins_of_labels(root**3 + 1) == root + 1
    assert theory.optimal_bins(math.inf, root**3, 0.3) == root


def test_labels_may_be_a_worth():
    assert theory.optimal_bins_of_labels(1000.5) == 11
    with pytest.raises(InputError, match="`n` must lie in"):
        theory.optimal_bins_of_labels(0.5)


def test_the_rates_fall_as_said():
    rate = theory.bias_rate(1_000, 2_000, 0.4)
    assert rate == pytest.approx((0.4**2 / 1_000 + 1 / 2_000) ** (1 / 3), rel=1e-14)
    assert theory.bias_rate(8_000, 16_000, 0.4) == pytest.approx(rate / 2, rel=1e-12)
    assert theory.bias_rate(math.inf, math.inf, 0.4) == 0
    few, many = (theory.generalization_rate(1_000, 2_000, 0.4, fcmi=x) for x in (1 / rate, 4 / rate))
    assert few == pytest.approx(rate, rel=1e-12)
    assert many == pytest.approx(2 * rate, rel=1e-12)


@pytest.mark.parametrize("binning", ["mass", "width"])
def test_the_bound_at_its_best_falls_at_the_rate(binning):
    """A thousand times the rows: a tenth of the bound, once the sizes are large."""
    best = [theory.best_bins(n, 3 * n, 0.4, lipschitz=1.3, binning=binning) for n in (10**9, 10**12)]
    assert best[0].bound.value / best[1].bound.value == pytest.approx(10, rel=0.01)
    assert best[1].n_bins / best[0].n_bins == pytest.approx(10, rel=0.01)


def test_theorem_3_falls_at_the_larger_rate():
    """Where fCMI grows as n^(2/3) the bound falls as n^(−1/6): a million times the rows, a tenth."""
    pairs = [
        (
            theory.best_bins(n, n, 0.4, lipschitz=1, fcmi=n ** (2 / 3)).bound.value,
            theory.generalization_rate(n, n, 0.4, fcmi=n ** (2 / 3)),
        )
        for n in (10**9, 10**15)
    ]
    assert pairs[0][1] / pairs[1][1] == pytest.approx(10, rel=1e-9)
    assert pairs[0][0] / pairs[1][0] == pytest.approx(10, rel=0.1)


@pytest.mark.parametrize("binning", ["mass", "width"])
@pytest.mark.parametrize("level", [None, 0.95])
@pytest.mark.parametrize("fcmi", [None, 2.0, 60.0])
def test_best_bins_are_the_best_of_all(binning, level, fcmi):
    if fcmi is not None and level is not None:
        with pytest.raises(InputError, match="`confidence_level` must be None"):
            theory.best_bins(9, 99, 0.5, lipschitz=1, fcmi=fcmi, confidence_level=level)
        return
    rng = np.random.default_rng([6, binning == "mass"])
    for _ in range(15):
        sizes = int(10 ** rng.uniform(0, 4)), int(10 ** rng.uniform(2, 3.5))
        prior, slope = rng.uniform(0.05, 0.95), rng.uniform(0, 4)

        def value(n_bins, sizes=sizes, prior=prior, slope=slope):
            if fcmi is None:
                given_level = {"confidence_level": level}
                return float(
                    theory.bias_bound(*sizes, prior, n_bins, lipschitz=slope, binning=binning, **given_level)
                )
            return float(
                theory.generalization_bound(
                    *sizes, prior, n_bins, lipschitz=slope, binning=binning, fcmi=fcmi
                )
            )

        all_values = [value(b) for b in range(1, sizes[1] // 2 + 1)]
        best = theory.best_bins(
            *sizes, prior, lipschitz=slope, binning=binning, confidence_level=level, fcmi=fcmi
        )
        assert best.bound.value == pytest.approx(min(all_values), rel=1e-14)
        assert best.n_bins == 1 + int(np.argmin(all_values))


def test_the_paper_s_number_of_bins_is_within_a_factor_of_the_best():
    for n in (10**3, 10**5, 10**7):
        best = theory.best_bins(n, n, 0.5, lipschitz=1.0, binning="width")
        at = theory.bias_bound(n, n, 0.5, theory.optimal_bins(n, n, 0.5), lipschitz=1.0, binning="width")
        assert best.bound.value < at.value < 1.5 * best.bound.value


def test_one_bin_where_there_is_no_room_for_two():
    assert theory.best_bins(5, 3, 0.5, lipschitz=1).n_bins == 1
    with pytest.raises(InputError, match="at least twice"):
        theory.best_bins(5, 1, 0.5, lipschitz=1)
    with pytest.raises(InputError, match="`binning` must be"):
        theory.best_bins(5, 30, 0.5, lipschitz=1, binning="quantile")


def test_two_infinite_samples_have_no_best_number():
    for of in (theory.optimal_bins, lambda *sizes: theory.best_bins(*sizes, lipschitz=1)):
        with pytest.raises(InputError, match="must not both be infinite"):
            of(math.inf, math.inf, 0.5)


# --- numbers of rows ----------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.3, 0.05, 0.01])
@pytest.mark.parametrize("delta", [0.5, 0.05, 0.001])
def test_a_bin_of_its_share_of_rows_keeps_hoeffding_s_promise(epsilon, delta):
    """The exact binomial chance that the share of positives in a bin is ε too high is at most δ."""
    rows = theory.histogram_sample_size(epsilon, delta, 1)
    for p in (0.1, 0.5, 0.9):
        assert stats.binom.sf(math.ceil((p + epsilon) * rows - 1e-9) - 1, rows, p) <= delta
    fewer = rows - 1
    assert math.exp(-2 * fewer * epsilon**2) > delta * (1 - 1e-9)


def test_three_bins_and_three_parameters_take_the_same():
    assert theory.bpm_sample_size(0.05, 0.1) == theory.histogram_sample_size(0.05, 0.1, 3)
    assert theory.histogram_sample_size(0.01, 0.1, 15) == pytest.approx(
        5 * theory.bpm_sample_size(0.01, 0.1), abs=5
    )


@pytest.mark.parametrize("wrong", [(0.0, 0.1), (1.0, 0.1), (0.1, 0.0), (0.1, 1.0)])
def test_shares_outside_are_refused(wrong):
    with pytest.raises(InputError, match="must lie in"):
        theory.bpm_sample_size(*wrong)
