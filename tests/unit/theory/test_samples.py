"""Sample sizes of the binomial process paper."""

from __future__ import annotations

import math

import pytest
from scipy import stats

from halftruth import theory
from halftruth._errors import InputError


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
