"""Generators for limits: their truths against other quadratures, other laws and counts of drawn rows."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import dblquad, quad
from scipy.special import logit

from halftruth._errors import InputError
from halftruth.simulate import (
    GaussianPair,
    VoteMixture,
    bayes_setups,
    noisy_labels,
    noisy_plug_in,
)

SETUPS = bayes_setups()
N = 40_000
Z = 5.0  # standard errors: one of some hundred comparisons fails with a chance below 1e-4


def within(sample: np.ndarray, truth: float) -> bool:
    """The mean of the sample is the truth, up to `Z` of its standard errors."""
    return abs(sample.mean() - truth) <= Z * sample.std(ddof=1) / math.sqrt(sample.size)


def laws(pair: GaussianPair) -> tuple[Any, Any]:
    """The classes' distributions, negative first, by scipy."""
    return stats.multivariate_normal(*pair.negative), stats.multivariate_normal(*pair.positive)


def random_pair(dim: int, seed: int, prior: float = 0.3) -> GaussianPair:
    rng = np.random.default_rng(seed)

    def cov() -> np.ndarray:
        root = rng.normal(size=(dim, 4 * dim)) / math.sqrt(4 * dim)
        return root @ root.T

    return GaussianPair(positive=(rng.normal(size=dim), cov()), negative=(np.zeros(dim), cov()), prior=prior)


# --- two normal classes: the posterior ---------------------------------------------------------------


def test_setups_are_those_of_the_papers() -> None:
    assert list(SETUPS) == ["A", "B", "C", "D"]
    assert [pair.dim for pair in SETUPS.values()] == [10, 20, 2, 2]
    assert {pair.prior for pair in SETUPS.values()} == {0.5}
    for name in "AB":
        dim = SETUPS[name].dim
        mean, cov = SETUPS[name].negative
        assert np.array_equal(mean, np.ones(dim))
        assert np.array_equal(cov, np.eye(dim))
        assert np.array_equal(SETUPS[name].positive[0], np.zeros(dim))
    assert SETUPS["C"].positive == ((0, 0), ((7, -6), (-6, 7)))
    assert SETUPS["C"].negative == ((-2, 5), ((2, 0), (0, 2)))
    assert SETUPS["D"].positive == ((0, 0), ((5, 3), (3, 5)))
    assert SETUPS["D"].negative == ((0, 4), ((5, -3), (-3, 5)))


@pytest.mark.parametrize("pair", [*SETUPS.values(), random_pair(3, 0, 0.02), random_pair(6, 1, 0.9)])
def test_posterior_is_the_share_of_the_densities(pair: GaussianPair) -> None:
    x = pair.draw(500, rng=0).x
    negative, positive = laws(pair)
    expected = logit(pair.prior) + positive.logpdf(x) - negative.logpdf(x)
    np.testing.assert_allclose(pair.log_odds(x), expected, rtol=1e-10, atol=1e-10)
    p, q = pair.prior * positive.pdf(x), (1 - pair.prior) * negative.pdf(x)
    np.testing.assert_allclose(pair.posterior(x), p / (p + q), rtol=1e-9, atol=1e-300)


def test_posterior_far_out_is_a_probability() -> None:
    pair = SETUPS["C"]
    for far in (1e3, 1e8, 1e160, 1e300):
        posterior = pair.posterior(far * np.array([[1, -1], [1, 1], [-1, 0], [0, 0]]))
        # Precisions of the classes: 1/13 and ½ along (1, −1), 1 and ½ along (1, 1), 7/13 and ½ along (1, 0).
        assert posterior[:3].tolist() == [1, 0, 0]
        assert np.isfinite(posterior).all()


def test_posterior_where_both_densities_underflow() -> None:
    pair = GaussianPair(positive=([1.0], [[1.0]]), negative=([0.0], [[1.0]]), prior=0.2)
    x = np.array([-800.0, 700.0])
    assert stats.norm.pdf(x).tolist() == [0, 0]
    np.testing.assert_allclose(pair.log_odds(x[:, None]), logit(0.2) + x - 0.5, rtol=1e-12)


# --- two normal classes: the Bayes error -------------------------------------------------------------


def on_a_line(mean: float, sd: float, prior: float) -> float:
    """Bayes error of N(mean, sd²) against N(0, 1), from the points where the log-odds are 0."""
    a, b = 0.5 * (1 - sd**-2), mean / sd**2
    c = logit(prior) - math.log(sd) - 0.5 * (mean / sd) ** 2
    if b * b <= 4 * a * c:
        return min(prior, 1 - prior)
    low, high = sorted(np.roots([a, b, c]))
    inside, outside = (prior, 1 - prior) if a > 0 else (1 - prior, prior)
    inner, outer = (stats.norm(mean, sd), stats.norm()) if a > 0 else (stats.norm(), stats.norm(mean, sd))
    return float(inside * (inner.cdf(high) - inner.cdf(low)) + outside * (outer.cdf(low) + outer.sf(high)))


@pytest.mark.parametrize("prior", [0.5, 0.03, 0.8])
@pytest.mark.parametrize("sd", [0.2, 0.9, 1.0001, 1.5, 6.0])
@pytest.mark.parametrize("mean", [0.0, 0.7, -3.0])
def test_bayes_error_on_a_line(mean: float, sd: float, prior: float) -> None:
    pair = GaussianPair(positive=([mean], [[sd**2]]), negative=([0.0], [[1.0]]), prior=prior)
    assert pair.bayes_error == pytest.approx(on_a_line(mean, sd, prior), rel=1e-9)


@pytest.mark.parametrize("prior", [0.5, 0.01, 0.9])
def test_bayes_error_of_equal_covariances(prior: float) -> None:
    cov = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, -1.0], [0.0, -1.0, 1.5]])
    mean = np.array([1.0, -0.5, 0.3])
    pair = GaussianPair(positive=(mean, cov), negative=(np.zeros(3), cov), prior=prior)
    distance = math.sqrt(mean @ np.linalg.inv(cov) @ mean)
    # The log-odds of the positives are N(logit π + Δ²/2, Δ²), those of the negatives N(logit π − Δ²/2, Δ²).
    missed = stats.norm.cdf(0, logit(prior) + distance**2 / 2, distance)
    alarms = stats.norm.sf(0, logit(prior) - distance**2 / 2, distance)
    assert pair.bayes_error == pytest.approx(prior * missed + (1 - prior) * alarms, rel=1e-12)
    assert SETUPS["A"].bayes_error == pytest.approx(stats.norm.sf(math.sqrt(10) / 2), rel=1e-12)
    assert SETUPS["B"].bayes_error == pytest.approx(stats.norm.sf(math.sqrt(20) / 2), rel=1e-12)


@pytest.mark.parametrize("name", ["A", "B"])
def test_bayes_error_is_continuous_where_covariances_become_equal(name: str) -> None:
    """The contour integral meets the closed form, at a rate that the covariances' gap explains."""
    pair = SETUPS[name]
    for gap in (1e-6, 1e-9, 1e-15):
        cov = np.eye(pair.dim)
        cov[0, 0] += gap
        near = GaussianPair(positive=(np.zeros(pair.dim), cov), negative=pair.negative)
        assert near.bayes_error == pytest.approx(pair.bayes_error, rel=gap + 1e-11)


@pytest.mark.parametrize("name", ["C", "D"])
def test_bayes_error_by_double_quadrature(name: str) -> None:
    pair = SETUPS[name]
    means, covs = zip(pair.negative, pair.positive, strict=True)
    precisions = [np.linalg.inv(cov) for cov in covs]
    scales = [0.5 / (2 * math.pi * math.sqrt(np.linalg.det(cov))) for cov in covs]

    def least(y: float, x: float) -> float:
        heights = []
        for mean, precision, scale in zip(means, precisions, scales, strict=True):
            u, v = x - mean[0], y - mean[1]
            form = precision[0, 0] * u * u + 2 * precision[0, 1] * u * v + precision[1, 1] * v * v
            heights.append(scale * math.exp(-0.5 * form))
        return min(heights)

    value, _ = dblquad(least, -18, 18, -18, 22, epsabs=1e-7, epsrel=1e-7)
    assert pair.bayes_error == pytest.approx(value, abs=1e-6)


def by_intervals(pair: GaussianPair) -> float:
    """Two dimensions: along each line x = const the classes win on intervals between two roots."""
    # Turned a little, for along the axes of D there is only one root.
    turn = np.array([[math.cos(0.3), -math.sin(0.3)], [math.sin(0.3), math.cos(0.3)]])
    (mean0, cov0), (mean1, cov1) = ((turn @ m, turn @ c @ turn.T) for m, c in (pair.negative, pair.positive))
    p0, p1 = np.linalg.inv(cov0), np.linalg.inv(cov1)
    form = 0.5 * (p0 - p1)
    tilt = p1 @ mean1 - p0 @ mean0
    level = logit(pair.prior) + 0.5 * (mean0 @ p0 @ mean0 - mean1 @ p1 @ mean1)
    level += 0.5 * math.log(np.linalg.det(cov0) / np.linalg.det(cov1))
    a = form[1, 1]
    b = np.array([2 * form[0, 1], tilt[1]])  # in x, as polynomials
    c = np.array([form[0, 0], tilt[0], level])

    def error_along(x: float) -> float:
        roots = np.roots([a, np.polyval(b, x), np.polyval(c, x)])
        edges = np.sort(roots) if np.isrealobj(roots) else np.array([0.0, 0.0])
        total = 0.0
        for y, (mean, cov, share) in enumerate(((mean0, cov0, 1 - pair.prior), (mean1, cov1, pair.prior))):
            centre = mean[1] + cov[0, 1] / cov[0, 0] * (x - mean[0])
            sd = math.sqrt(cov[1, 1] - cov[0, 1] ** 2 / cov[0, 0])
            inside = float(np.diff(stats.norm.cdf(edges, centre, sd))[0])
            wrong = inside if (a < 0) == (y == 0) else 1 - inside  # log-odds are positive inside if a < 0
            total += share * stats.norm.pdf(x, mean[0], math.sqrt(cov[0, 0])) * wrong
        return total

    turns = np.roots(np.polysub(np.polymul(b, b), 4 * a * c))
    edges = [-30.0, *sorted(turns[np.isreal(turns)].real), 30.0]
    return sum(quad(error_along, *ends, epsabs=1e-13, epsrel=1e-12, limit=400)[0] for ends in pairwise(edges))


@pytest.mark.parametrize(
    "pair",
    [SETUPS["C"], SETUPS["D"], random_pair(2, 0), random_pair(2, 1, 0.6), random_pair(2, 2, 0.05)],
    ids=["C", "D", "0", "1", "2"],
)
def test_bayes_error_by_intervals(pair: GaussianPair) -> None:
    assert pair.bayes_error == pytest.approx(by_intervals(pair), abs=1e-10)


@pytest.mark.parametrize(("dim", "prior"), [(3, 0.3), (5, 0.5), (12, 0.9)])
def test_bayes_error_by_drawn_rows(dim: int, prior: float) -> None:
    pair, n = random_pair(dim, dim, prior), 10 * N
    drawn = pair.draw(n, rng=1)
    assert within(np.minimum(drawn.posterior, 1 - drawn.posterior), pair.bayes_error)
    wrong = int(((drawn.posterior >= 0.5) != drawn.y).sum())
    assert stats.binomtest(wrong, n, pair.bayes_error).pvalue > 1e-6
    assert Z * math.sqrt(pair.bayes_error / n) < 0.1 * pair.bayes_error  # an error of a tenth would show


def test_bayes_error_keeps_its_digits_when_tiny() -> None:
    pair = GaussianPair(
        positive=([40.0, 0.0], [[1.0, 0.0], [0.0, 1.0 + 1e-12]]), negative=([0, 0], np.eye(2))
    )
    assert pair.bayes_error == pytest.approx(stats.norm.sf(20), rel=1e-9)
    apart = GaussianPair(positive=([200.0], [[1.0]]), negative=([0.0], [[1.5]]))
    assert apart.bayes_error == 0.0


def test_bayes_error_is_at_most_the_smaller_class() -> None:
    same = GaussianPair(positive=([0.0], [[1.0]]), negative=([0.0], [[1.0]]), prior=0.3)
    assert same.bayes_error == 0.3
    rare = GaussianPair(
        positive=([1e-6, 0], np.eye(2)), negative=([0, 0], [[1, 0], [0, 1 + 1e-7]]), prior=1e-9
    )
    assert rare.bayes_error == pytest.approx(1e-9, rel=1e-12)
    assert rare.bayes_error <= 1e-9


def test_bayes_error_does_not_depend_on_the_axes_or_on_the_names_of_the_classes() -> None:
    pair = random_pair(4, 7, 0.35)
    turn = np.random.default_rng(0).normal(size=(4, 4))
    moved = []
    for mean, cov in (pair.positive, pair.negative):
        moved.append((turn @ np.array(mean) + 3, turn @ np.array(cov) @ turn.T))  # symmetric up to rounding
    other = GaussianPair(positive=moved[0], negative=moved[1], prior=0.35)
    swapped = GaussianPair(positive=moved[1], negative=moved[0], prior=0.65)
    assert other.bayes_error == pytest.approx(pair.bayes_error, rel=1e-10)
    assert swapped.bayes_error == pytest.approx(pair.bayes_error, rel=1e-10)


# --- two normal classes: drawn rows ------------------------------------------------------------------


@pytest.mark.parametrize("y", [0, 1])
def test_rows_of_a_class_have_its_mean_and_covariance(y: int) -> None:
    pair = SETUPS["C"]
    mean, cov = pair.positive if y else pair.negative
    x = pair.draw_class(y, N, rng=3).x
    assert x.shape == (N, 2)
    centred = x - mean
    for i in range(2):
        assert within(centred[:, i], 0)
        for j in range(2):
            assert within(centred[:, i] * centred[:, j], cov[i][j])


def test_draws() -> None:
    pair = GaussianPair(positive=([0.0], [[1.0]]), negative=([1.0], [[2.0]]), prior=0.2)
    drawn = pair.draw(N, rng=0)
    assert stats.binomtest(int(drawn.y.sum()), N, 0.2).pvalue > 1e-6
    assert np.array_equal(drawn.x, pair.draw(N, rng=0).x)
    assert not np.array_equal(drawn.x, pair.draw(N, rng=1).x)
    assert pair.draw_per_class(3, 2, rng=0).y.tolist() == [1, 1, 1, 0, 0]
    assert pair.draw_per_class(0, 2, rng=0).y.tolist() == [0, 0]
    assert pair.draw_class(1, 3, rng=0).y.tolist() == [1, 1, 1]


def test_evidence_of_a_pair() -> None:
    pair = SETUPS["D"]
    soft = pair.soft(50, rng=0)
    np.testing.assert_array_equal(soft.table.strata["soft"].value, pair.draw(50, rng=0).posterior)
    confident = pair.positive_confidence(50, rng=0)
    np.testing.assert_array_equal(
        confident.table.strata["positive"].score, pair.draw_class(1, 50, rng=0).posterior
    )
    assert confident.prior.value == 0.5
    assert pair.positive_confidence(50, rng=0, prior=None).prior.value is None


def test_pairs_compare_and_pickle() -> None:
    again = bayes_setups()["C"]
    assert again == SETUPS["C"] != SETUPS["D"]
    assert hash(again) == hash(SETUPS["C"])
    assert pickle.loads(pickle.dumps(again)) == again
    assert repr(SETUPS["A"]) == "GaussianPair(dim=10, prior=0.5)"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"prior": 1.0}, "prior"),
        ({"positive": ([0, 0], np.eye(3))}, "shape"),
        ({"positive": ([0, 0, 0], np.eye(3))}, "dimension"),
        ({"positive": [0, 0]}, "covariance of shape"),
        ({"positive": 3.0}, "pair"),
        ({"negative": ([0, 0], [[1, 2], [2, 1]])}, "positive definite"),
        ({"negative": ([0, 0], [[1, 0.1], [0, 1]])}, "symmetric"),
        ({"negative": ([0, np.nan], np.eye(2))}, "finite"),
        ({"negative": ([0, 0], [[1, np.nan], [np.nan, 1]])}, "positive definite"),
        ({"negative": ([], np.eye(0))}, "d >= 1"),
    ],
)
def test_bad_pairs(change: dict[str, Any], message: str) -> None:
    good = {"positive": ([0, 0], np.eye(2)), "negative": ([1, 1], np.eye(2))}
    with pytest.raises(InputError, match=message):
        GaussianPair(**(good | change))


def test_bad_rows_of_a_pair() -> None:
    pair = SETUPS["C"]
    for x in ([0.0, 0.0], [[0.0]], [["a", "b"]], [[np.inf, 0.0]]):
        with pytest.raises(InputError, match="`x` must be"):
            pair.posterior(x)
    for sizes in ((0, 0), (-1, 2), (1.5, 2)):
        with pytest.raises(InputError, match="n_positive"):
            pair.draw_per_class(*sizes, rng=0)
    with pytest.raises(InputError, match="0 or 1"):
        pair.draw_class(2, 3, rng=0)


# --- noisy labels ------------------------------------------------------------------------------------

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


# --- votes -------------------------------------------------------------------------------------------

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
