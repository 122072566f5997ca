"""Noisy soft labels: their law, and what the plug-in makes of them, by quadrature and counts."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from halftruth._errors import InputError
from halftruth_papers.bayes_error.noisy_labels import noisy_labels, noisy_plug_in

N = 40_000
Z = 5.0  # standard errors: one of some hundred comparisons fails with a chance below 1e-4


def within(sample: np.ndarray, truth: float) -> bool:
    """The mean of the sample is the truth, up to `Z` of its standard errors."""
    return abs(sample.mean() - truth) <= Z * sample.std(ddof=1) / math.sqrt(sample.size)


CASES = [
    (c, sd, truncation)
    for c in (0.02, 0.3, 0.45, 0.5, 0.6, 0.9)
    for sd, truncation in (
        (0.05, "paper"),
        (0.4, "paper"),
        (3.0, "paper"),
        (0.05, "authors"),
        (0.4, "authors"),
    )
]


def noise_law(c: float, sd: float, truncation: str) -> Any:
    reach = min(c, 1 - c) * (sd if truncation == "authors" else 1)
    return stats.truncnorm(-reach / sd, reach / sd, loc=c, scale=sd)


@pytest.mark.parametrize("truncation", ["paper", "authors"])
@pytest.mark.parametrize("c", [0.02, 0.3, 0.5, 0.9])
def test_noise_is_a_truncated_normal(c: float, truncation: str) -> None:
    u = noisy_labels(np.full(N, c), rng=1, truncation=truncation)
    law = noise_law(c, 0.4, truncation)
    low, high = law.support()
    assert low - 1e-15 <= u.min() <= u.max() <= high + 1e-15
    assert stats.kstest(u, law.cdf).pvalue > 1e-6
    assert within(u, c)


@pytest.mark.parametrize(("c", "sd", "truncation"), CASES)
def test_plug_in_of_noisy_labels(c: float, sd: float, truncation: str) -> None:
    law = noise_law(c, sd, truncation)
    low, high = law.support()
    edges = [low, 0.5, high] if low < 0.5 < high else [low, high]
    expected = sum(
        quad(lambda u: min(u, 1 - u) * law.pdf(u), *ends, epsabs=1e-13)[0] for ends in pairwise(edges)
    )
    value = float(noisy_plug_in([c], sd, truncation=truncation)[0])
    assert value == pytest.approx(expected, abs=1e-11)
    assert value <= min(c, 1 - c)
    u = noisy_labels(np.full(N, c), sd, rng=2, truncation=truncation)
    assert within(np.minimum(u, 1 - u), value)


def test_plug_in_has_no_bias_where_no_label_can_cross_a_half() -> None:
    c = np.array([0.0, 0.1, 0.25, 0.75, 0.9, 1.0])
    np.testing.assert_array_equal(noisy_plug_in(c), np.minimum(c, 1 - c))
    assert noisy_plug_in([0.3])[0] < 0.3
    # The authors' noise reaches 0.4 of the way, so that it crosses only for c > 5/14.
    np.testing.assert_array_equal(noisy_plug_in([0.3, 0.357], truncation="authors"), [0.3, 0.357])
    assert noisy_plug_in([0.358], truncation="authors")[0] < 0.358


def test_plug_in_of_flat_and_of_sharp_noise() -> None:
    # Flat noise is uniform: at c = ½, E min(u, 1−u) = ¼; at c = 0.4, on [0, 0.8]: (½·½·½·2 − ½·0.2²)/0.8.
    np.testing.assert_allclose(noisy_plug_in([0.5, 0.4], 1e6), [0.25, (0.25 - 0.02) / 0.8], rtol=1e-10)
    # Sharp noise is normal: at c = ½, ½ − E|z|.
    np.testing.assert_allclose(noisy_plug_in([0.5], 1e-3), 0.5 - 1e-3 * math.sqrt(2 / math.pi), rtol=1e-12)
    np.testing.assert_array_equal(noisy_plug_in([0.5, 0.4, 0.0], 1e-320), [0.5, 0.4, 0.0])


def test_noise_at_the_ends() -> None:
    tiny = np.array([0.0, 1.0, 5e-324, 1e-300, 1e-17, 1 - 2**-53])
    for sd in (1e-300, 0.4, 1e6):
        for seed in range(20):
            u = noisy_labels(tiny, sd, rng=seed)
            assert u[0] == 0
            assert u[1] == 1
            assert ((u >= 0) & (u <= 1)).all()
            assert (np.abs(u - tiny) <= np.minimum(tiny, 1 - tiny)).all()
    u = noisy_labels(np.full(N, 1e-17), rng=0) / 1e-17  # so far in the tail the noise is uniform on [0, 2c]
    assert stats.kstest(u, stats.uniform(0, 2).cdf).pvalue > 1e-6


def test_noise_is_repeatable() -> None:
    c = np.linspace(0, 1, 50)
    np.testing.assert_array_equal(noisy_labels(c), noisy_labels(c, 0.4, rng=0))
    assert not np.array_equal(noisy_labels(c), noisy_labels(c, rng=1))
    assert noisy_labels([]).shape == noisy_plug_in([]).shape == (0,)


@pytest.mark.parametrize("function", [noisy_labels, noisy_plug_in])
def test_bad_noise(function: Callable[..., np.ndarray]) -> None:
    with pytest.raises(InputError, match=r"`c` must lie in \[0, 1\]"):
        function([0.5, 1.1])
    for sd in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(InputError, match="`sd` must be"):
            function([0.5], sd)
    with pytest.raises(InputError, match="at most 1 with truncation='authors'"):
        function([0.5], 1.5, truncation="authors")
    with pytest.raises(InputError, match="truncation"):
        function([0.5], truncation="other")
