"""U as a mixture of known positives and known negatives: the functional of least variance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from halftruth.prior._samples import Samples
from halftruth.prior.estimators import _mixture as em
from halftruth.prior.estimators import _mixture as mixture

from .made import samples


def gaussian(rng, alpha, sizes, separation=2.0, spread=1.0):
    n_positive, n_unlabeled, n_negative = sizes
    is_positive = rng.random(n_unlabeled) < alpha
    unlabeled = np.where(
        is_positive, rng.normal(separation, spread, n_unlabeled), rng.normal(0, 1, n_unlabeled)
    )
    return samples(rng.normal(separation, spread, n_positive), unlabeled, rng.normal(0, 1, n_negative))


def by_distribution_functions(s):
    """The estimate of `evidence.negatives.mixture_share`: least squares of distribution functions."""
    p, u, n = (x / x.sum() for x in (s.positive, s.unlabeled, s.negative))
    contrast = np.cumsum(p - n)
    weight = p + u + n
    return float(np.clip(weight @ (np.cumsum(u - n) * contrast) / (weight @ contrast**2), 0, 1))


def test_an_exact_mixture_gives_its_share():
    rng = np.random.default_rng(0)
    p, n = rng.dirichlet(np.ones(7), 2)
    for alpha in (0.0, 0.02, 0.4, 1.0):
        s = Samples(
            score=np.arange(7.0),
            positive=p,
            unlabeled=alpha * p + (1 - alpha) * n,
            negative=n,
            n_positive=50,
            n_unlabeled=500,
            n_negative=80,
        )
        assert mixture.fit_mixture(s).value == pytest.approx(alpha, abs=1e-9)


def test_the_weight_is_the_one_of_least_variance():
    rng = np.random.default_rng(1)
    p, n = rng.dirichlet(np.ones(5), 2)
    alpha, sizes = 0.3, np.array([40.0, 300.0, 70.0])
    shares = np.stack([p, alpha * p + (1 - alpha) * n, n])
    factor = np.array([alpha, 1.0, 1 - alpha])

    def variance(h):
        mean = shares @ h
        return (shares @ h**2 - mean**2) / sizes @ factor**2 / (mean[0] - mean[2]) ** 2

    covariance = sum(
        f**2 / size * (np.diag(x) - np.outer(x, x)) for f, size, x in zip(factor, sizes, shares, strict=True)
    )
    best = np.linalg.lstsq(covariance, p - n, rcond=1e-10)[0]
    h = mixture._weight(p / (p + n), alpha, 0.0, sizes)
    assert variance(h) == pytest.approx(variance(best), rel=1e-9)
    assert variance(h) < variance(p / (p + n)) < 2 * variance(best)


BY_CDF = {1: 0.89, 2: 0.66, 3: 0.55}
"""Its root mean square error relative to `by_distribution_functions`, by separation: 480 draws, other seeds."""
SETTINGS = [(d, sizes) for sizes in ((50, 1000, 50), (200, 5000, 200)) for d in BY_CDF]


@pytest.mark.parametrize(("separation", "sizes"), SETTINGS)
def test_it_errs_less_than_its_rivals_and_hardly_more_than_the_weight_of_the_true_laws(separation, sizes):
    rng = np.random.default_rng(2)
    square = np.zeros((5, 4))
    for row, alpha in enumerate((0.02, 0.1, 0.3, 0.6, 0.9)):
        for _ in range(100):
            s = gaussian(rng, alpha, sizes, separation)
            shares = np.stack([s.p, s.u, s.negative / s.negative.sum()])
            posterior = expit(separation * s.score - separation**2 / 2)
            mean = shares @ mixture._weight(posterior, alpha, 0.0, np.array(sizes, float))
            known = np.clip((mean[1] - mean[2]) / (mean[0] - mean[2]), 0, 1)
            found = [mixture.fit_mixture(s).value, by_distribution_functions(s), em.fit_em(s).value, known]
            square[row] += (np.array(found) - alpha) ** 2
    ours, by_cdf, by_em, best = np.sqrt(square / 100).mean(axis=0)
    # Ratios at 40 draws had standard deviations up to .043: four of those at 100 draws are .11.
    assert ours / by_cdf < BY_CDF[separation] + 0.11
    assert ours / by_em < 0.88 + 0.11
    assert ours / best < 1.05 + 0.11


@pytest.mark.parametrize("spread", [0.5, 2.0])
def test_it_needs_no_form_of_the_two_laws(spread):
    rng = np.random.default_rng(3)
    # Bimodal negatives on both sides of the positives: no ranking at all.
    is_positive = rng.random(100_000) < 0.3
    sides = rng.choice([-2.0, 2.0], 120_000) + rng.normal(0, 1, 120_000)
    unlabeled = np.where(is_positive, rng.normal(0.5, spread, 100_000), sides[:100_000])
    s = samples(rng.normal(0.5, spread, 20_000), unlabeled, sides[100_000:])
    assert mixture.fit_mixture(s).value == pytest.approx(0.3, abs=0.04)


def test_it_does_not_hang_on_the_direction_or_the_scale_of_scores():
    s = gaussian(np.random.default_rng(4), 0.3, (60, 300, 80))
    at = mixture.fit_mixture(s).value
    assert mixture.fit_mixture(replace(s, score=np.exp(s.score))).value == at
    turned = replace(
        s,
        score=-s.score[::-1],
        positive=s.positive[::-1],
        unlabeled=s.unlabeled[::-1],
        negative=s.negative[::-1],
    )
    assert mixture.fit_mixture(turned).value == pytest.approx(at, abs=1e-9)


def test_many_scores_are_joined_without_harm(monkeypatch):
    s = gaussian(np.random.default_rng(5), 0.1, (1000, 10_000, 1000), 3.0)
    joined = mixture.fit_mixture(s).value
    monkeypatch.setattr(mixture, "CELLS", len(s.score))
    assert joined != mixture.fit_mixture(s).value
    assert joined == pytest.approx(mixture.fit_mixture(s).value, abs=5e-4)


def test_one_law_of_positives_and_negatives_leaves_the_value_to_the_rest():
    s = gaussian(np.random.default_rng(6), 0.3, (500, 2000, 500))
    fit = mixture.fit_mixture(replace(s, negative=s.positive, n_negative=s.n_positive))
    assert fit.value == em.fit_em(replace(s, negative=None)).value
    assert "same scores" in fit.notes[0]


def test_a_difference_within_noise_is_noted():
    rng = np.random.default_rng(7)
    assert mixture.fit_mixture(gaussian(rng, 0.3, (50, 200, 50), 3.0)).notes == ()
    assert "mostly noise" in mixture.fit_mixture(gaussian(rng, 0.3, (20, 200, 20), 0.0)).notes[0]


def test_the_curve_is_least_at_the_value_and_one_standard_error_away_it_is_one():
    rng = np.random.default_rng(8)
    fits = [mixture.fit_mixture(gaussian(rng, 0.4, (100, 1000, 100))) for _ in range(60)]
    for fit in fits:
        assert fit.curve.x[fit.curve.y.argmin()] == pytest.approx(fit.value, abs=0.0051)
    at_truth = np.mean([fit.curve.y[40] for fit in fits])
    # χ² with one degree of freedom has mean 1 and standard deviation 1.4.
    assert at_truth == pytest.approx(1, abs=4 * 1.42 / np.sqrt(60))


@pytest.mark.parametrize("negative", [[0.0], [1.0], [-1e300, 1e300], [5e-324, 1.0, 1.0]])
@pytest.mark.parametrize("positive", [[1.0], [0.0, 1.0, 1.0], [1e300, 1e-310]])
@pytest.mark.parametrize("unlabeled", [[0.0], [1.0, 1.0, 0.0, 2.0], [-1e300, 5e-324]])
def test_it_is_defined_on_hostile_scores(positive, unlabeled, negative):
    fit = mixture.fit_mixture(samples(np.array(positive), np.array(unlabeled), np.array(negative)))
    assert 0 <= fit.value <= 1
    assert np.isfinite(fit.curve.y).all()
