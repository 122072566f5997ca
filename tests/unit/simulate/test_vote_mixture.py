"""Votes on rows of known probability: Bayes error, moments and shares against other laws and counts."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from halftruth._errors import InputError
from halftruth.simulate import VoteMixture

N = 40_000
Z = 5.0  # standard errors: one of some hundred comparisons fails with a chance below 1e-4


def within(sample: np.ndarray, truth: float) -> bool:
    """The mean of the sample is the truth, up to `Z` of its standard errors."""
    return abs(sample.mean() - truth) <= Z * sample.std(ddof=1) / math.sqrt(sample.size)


MIXTURES = {
    "one": VoteMixture(1.0, 0.3, 0.3),
    "smooth": VoteMixture([0.5, 0.5], [2, 6], [5, 1.5]),
    "easy": VoteMixture([0.8, 0.15, 0.05], [0.2, 30, 4], [8, 0.5, 4]),
}


@pytest.mark.parametrize("name", MIXTURES)
def test_bayes_error_and_moments_of_votes(name: str) -> None:
    votes = MIXTURES[name]
    parts = list(zip(votes.weights, votes.a, votes.b, strict=True))

    def mean(function: Callable[[float], float]) -> float:
        return sum(
            w * quad(lambda p, a=a, b=b: function(stats.beta.ppf(p, a, b)), *ends, epsabs=1e-12, limit=300)[0]
            for w, a, b in parts
            for half in [stats.beta.cdf(0.5, a, b)]
            for ends in ((0, half), (half, 1))
        )

    assert votes.bayes_error == pytest.approx(mean(lambda q: min(q, 1 - q)), abs=1e-9)
    moments = votes.moments(4)
    assert moments[0] == pytest.approx(1, rel=1e-15)
    for j in range(1, 5):
        assert moments[j] == pytest.approx(
            sum(w * stats.beta.moment(j, a, b) for w, a, b in parts), rel=1e-12
        )
    assert votes.prior == moments[1]


@pytest.mark.parametrize("name", MIXTURES)
@pytest.mark.parametrize("m", [1, 2, 3, 10, 51])
def test_votes_are_beta_binomial(name: str, m: int) -> None:
    votes = MIXTURES[name]
    parts = zip(votes.weights, votes.a, votes.b, strict=True)
    expected = sum(w * stats.betabinom.pmf(np.arange(m + 1), m, a, b) for w, a, b in parts)
    np.testing.assert_allclose(votes.vote_shares(m), expected, rtol=1e-10)
    k = np.arange(m + 1)
    assert votes.plug_in(m) == pytest.approx(expected @ np.minimum(k, m - k) / m, rel=1e-10)
    assert votes.plug_in(m) < votes.bayes_error


@pytest.mark.parametrize("votes", MIXTURES.values(), ids=MIXTURES)
def test_plug_in_of_votes(votes: VoteMixture) -> None:
    _, mean, square = votes.moments(2)
    assert votes.plug_in(1) == 0
    assert votes.plug_in(3) == pytest.approx(mean - square, rel=1e-13)  # E q(1−q)
    values = [votes.plug_in(m) for m in (3, 9, 81, 2001)]
    assert values == sorted(values)
    assert values[-1] == pytest.approx(votes.bayes_error, abs=1e-3)
    assert votes.plug_in([3, 9, 9]) == pytest.approx((values[0] + 2 * values[1]) / 3, rel=1e-14)


def test_votes_of_extreme_components() -> None:
    # So sharp a Beta is its mean: the votes are binomial, and log-gammas of 1e12 would lose four digits.
    sharp = VoteMixture(1.0, 3e12, 7e12)
    np.testing.assert_allclose(sharp.vote_shares(20), stats.binom.pmf(np.arange(21), 20, 0.3), rtol=1e-10)
    assert sharp.bayes_error == pytest.approx(0.3, rel=1e-11)
    # So wide a Beta is 0 or 1.
    wide = VoteMixture(1.0, 1e-9, 3e-9)
    np.testing.assert_allclose(wide.vote_shares(5)[[0, -1]], [0.75, 0.25], rtol=1e-8)
    assert 0 < wide.bayes_error < 1e-8


@pytest.mark.parametrize("name", MIXTURES)
def test_drawn_votes(name: str) -> None:
    votes = MIXTURES[name]
    m = np.tile([2, 5], N // 2)
    q, k = votes.draw(N, m, rng=0)
    assert within(np.minimum(q, 1 - q), votes.bayes_error)
    assert within(q, votes.prior)
    assert within(np.minimum(k, m - k) / m, votes.plug_in(m))
    for ballots in (2, 5):
        found = np.bincount(k[m == ballots], minlength=ballots + 1)
        expected = votes.vote_shares(ballots) * found.sum()
        assert stats.chisquare(found, expected).pvalue > 1e-6
    assert within(k / m - q, 0)


def test_evidence_of_votes() -> None:
    votes = MIXTURES["smooth"]
    for m in (4, [1, 2, 3, 4, 5, 6]):
        q = votes.evidence(6, m, rng=5).table.strata["soft"].value
        np.testing.assert_array_equal(q, votes.draw(6, m, rng=5).k / np.asarray(m))


def test_mixtures_compare_and_pickle() -> None:
    votes = VoteMixture([0.5, 0.5], [2, 6], [5, 1.5])
    assert votes == MIXTURES["smooth"] != MIXTURES["one"]
    assert hash(votes) == hash(MIXTURES["smooth"])
    assert pickle.loads(pickle.dumps(votes)) == votes
    assert VoteMixture(1.0, 0.3, 0.3) == VoteMixture([1.0], [0.3], [0.3])


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (([0.5, 0.4], [1, 1], [1, 1]), "sum to 1"),
        (([1.5, -0.5], [1, 1], [1, 1]), "at least 0"),
        (([0.5, 0.5], [1], [1, 1]), "one value for each component"),
        (([], [], []), "one value for each component"),
        ((1.0, 0.0, 1.0), "`a` must be greater than 0"),
        ((1.0, 1.0, -1.0), "`b` must be greater than 0"),
        ((1.0, np.inf, 1.0), "finite"),
    ],
)
def test_bad_mixtures(parts: tuple[Any, Any, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        VoteMixture(*parts)


def test_bad_votes() -> None:
    votes = MIXTURES["one"]
    for m in (0, 2.5, [3, 0], [1.5, 2.0]):
        with pytest.raises(InputError, match="`m` must"):
            votes.draw(2, m, rng=0)
        with pytest.raises(InputError, match="`m` must"):
            votes.plug_in(m)
    with pytest.raises(InputError, match="`m` must hold"):
        votes.plug_in([])
    with pytest.raises(InputError, match="`m` has length 3"):
        votes.draw(2, [3, 3, 3], rng=0)
    with pytest.raises(InputError, match="`order` must"):
        votes.moments(-1)
