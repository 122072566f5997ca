"""Two normal classes in many dimensions: posterior and Bayes error by other quadratures, and drawn rows."""

from __future__ import annotations

import math
import pickle
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import dblquad, quad
from scipy.special import logit

from halftruth._errors import InputError
from halftruth_papers.bayes_error.gaussian_pair import GaussianPair, bayes_setups

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
