"""Intervals where a value or some of its replicates are not defined."""

import numpy as np
import pytest

from halftruth.results._intervals import METHODS, interval_of

DRAWS = np.random.default_rng(0).normal(size=999)
UNDEFINED = np.asarray([np.nan])


def test_an_undefined_value_has_the_percentiles_of_its_replicates():
    low, high = interval_of(DRAWS, UNDEFINED, 0.9, "percentile")
    # Of 999 replicates the 50th and the 950th: fifty thousandths lie beyond each.
    assert (low, high) == pytest.approx((np.sort(DRAWS)[49], np.sort(DRAWS)[949]), abs=1e-12)


@pytest.mark.parametrize("method", [name for name in METHODS if name != "percentile"])
def test_an_undefined_value_has_no_interval_around_it(method):
    assert np.isnan(interval_of(DRAWS, UNDEFINED, 0.9, method)).all()


@pytest.mark.parametrize("method", METHODS)
def test_without_a_defined_replicate_there_is_no_interval(method):
    assert np.isnan(interval_of(np.full(9, np.nan), np.asarray([0.5]), 0.9, method)).all()
