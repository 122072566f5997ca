"""Intervals where a value or some of its replicates are not defined, and at levels beyond the replicates."""

import numpy as np
import pytest
from scipy.special import expit, ndtr, ndtri
from scipy.stats import t as student

from halftruth.results._intervals import METHODS, interval_of

DRAWS = np.random.default_rng(0).normal(size=999)
UNDEFINED = np.asarray([np.nan])
OF_QUANTILES = ("percentile", "basic", "bias-corrected", "quadrature", "envelope")
LAST_OF_20 = 1 - 0.05 / 420
LEVELS = np.append(1 - np.geomspace(0.5, 1e-7, 100), [0.9, 0.95, 0.99, 0.99 + 1e-12])
LEVELS.sort()


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


# --- levels beyond those that replicates carry -----------------------------------------------------------


@pytest.mark.parametrize("n", [30, 200, 2000])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
def test_up_to_99_percent_ends_are_quantiles_of_the_replicates_to_the_bit(n, level):
    draws = np.random.default_rng(n).normal(size=n)
    expected = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], method="weibull")
    assert interval_of(draws, np.zeros(1), level, "percentile", (-9.0, 9.0)) == tuple(expected)


def test_as_long_as_replicates_carry_a_level_it_is_theirs():
    draws = np.random.default_rng(1).exponential(size=100_000)
    expected = np.quantile(draws, [0.00015, 0.99985], method="weibull")
    assert interval_of(draws, np.ones(1), 0.9997, "percentile", (0.0, np.inf)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("limits", "law"),
    [
        ((-np.inf, np.inf), lambda z: 2 + 0.3 * z),
        ((0.0, 1.0), lambda z: expit(2.5 + 0.4 * z)),
        ((-1.0, 1.0), lambda z: np.tanh(1.2 + 0.2 * z)),
        ((0.0, np.inf), lambda z: np.exp(-1 + 0.3 * z)),
        ((-np.inf, 1.0), lambda z: 1 - np.exp(-1 - 0.3 * z)),
    ],
)
@pytest.mark.parametrize("n", [200, 2000])
def test_ends_of_a_law_that_is_normal_on_the_scale_of_its_limits(limits, law, n):
    # Replicates at the quantiles of the law, so that what is left is the method's own error.
    draws = law(ndtri(np.arange(1, n + 1) / (n + 1)))
    for level in (0.995, LAST_OF_20, 1 - 1e-7):
        found = interval_of(draws, law(np.zeros(1)), level, "percentile", limits)
        assert found == pytest.approx(law(ndtri([(1 - level) / 2, (1 + level) / 2])), rel=2e-3)


def test_few_degrees_stretch_by_students_quantiles():
    draws = ndtri(np.arange(1, 20_000) / 20_000)
    high = interval_of(draws, np.zeros(1), LAST_OF_20, "percentile", degrees=20)[1]
    assert high == pytest.approx(student.ppf((1 + LAST_OF_20) / 2, 20), rel=0.01)


SAMPLES = {
    "normal": lambda rng, n: rng.normal(0.5, 0.1, n),
    "near a limit": lambda rng, n: rng.beta(30, 0.7, n),
    "half at a limit": lambda rng, n: np.minimum(1.0, rng.normal(1.0, 0.1, n)),
    "heavy tails": lambda rng, n: np.clip(0.5 + 0.02 * rng.standard_t(1.5, n), 1e-3, 1 - 1e-3),
    "two values": lambda rng, n: np.where(rng.random(n) < 0.002, 0.2, 0.7),
    "one value": lambda rng, n: np.full(n, 0.7),
}


@pytest.mark.parametrize("method", OF_QUANTILES)
@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("degrees", [np.inf, 3.0])
@pytest.mark.parametrize("n", [40, 2000])
def test_intervals_are_nested_and_within_limits(method, name, degrees, n):
    draws = SAMPLES[name](np.random.default_rng(3), n)
    center = np.asarray([np.median(draws)])
    ends = np.asarray([interval_of(draws, center, x, method, (0.0, 1.0), degrees) for x in LEVELS])
    assert (np.diff(ends[:, 0]) <= 1e-15).all()
    assert (np.diff(ends[:, 1]) >= -1e-15).all()
    assert ((ends >= 0) & (ends <= 1)).all()


@pytest.mark.parametrize("method", OF_QUANTILES)
@pytest.mark.parametrize("name", SAMPLES)
def test_nothing_jumps_where_replicates_end(method, name):
    draws = SAMPLES[name](np.random.default_rng(3), 200)
    near, far = (interval_of(draws, np.asarray([0.6]), x, method, (0.0, 1.0)) for x in (0.99, 0.99 + 1e-10))
    assert far == pytest.approx(near, abs=1e-6)


@pytest.mark.parametrize("name", SAMPLES)
def test_no_end_lies_within_the_replicates_beyond_them(name):
    draws = SAMPLES[name](np.random.default_rng(3), 2000)
    low, high = interval_of(draws, np.asarray([0.7]), LAST_OF_20, "percentile", (0.0, 1.0))
    assert low <= draws.min() <= draws.max() <= high


def test_replicates_beyond_the_limits_are_not_cut():
    draws = np.random.default_rng(4).normal(1.5, 0.1, 999)
    low, high = interval_of(draws, np.asarray([1.5]), LAST_OF_20, "percentile", (0.0, 1.0))
    assert low <= draws.min() < draws.max() <= high


def test_ends_beyond_2000_replicates_are_missed_as_often_as_they_should_be():
    rng, missed = np.random.default_rng(5), []
    for _ in range(400):
        low, high = interval_of(rng.normal(size=2000), np.zeros(1), LAST_OF_20, "percentile")
        missed.append(ndtr(low) + ndtr(-high))
    # Each varies by about a half of its mean; the outermost replicates themselves are missed 8 times as often.
    assert np.mean(missed) == pytest.approx(1 - LAST_OF_20, rel=0.15)
