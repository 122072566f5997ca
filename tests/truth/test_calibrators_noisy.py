"""Calibrators reach the true curve from partial and noisy evidence, as fast as its noise allows.

The truth is a Platt curve, so that beta calibration can reach it too. How far sampling moves a fit is known
before it is made: from the spread of the loss's slope at the truth, over small data sets, which shrinks as
1/n.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, cast

import numpy as np
import pytest
from scipy.special import expit, logit

import halftruth as ht
from halftruth.measure._score_measure import ScoreMeasure
from halftruth.table._strata import StratumRows

MODEL = ht.simulate.GaussianClasses(prior=0.4, separation=1.5, intercept=-0.2, slope=2.5)
FEW, MANY = 2000, 100_000
"""Rows of the data sets that noise is learned from, and of those that are tested."""
REPEATS, FITS = 400, 5
CELLS = 40
CHERNOFF = 0.26355964
"""Variance of Chernoff's distribution, the limit law of isotonic fits."""
Rng = np.random.Generator


def rescued(n: int, rng: Rng) -> ht.PositiveUnlabeled:
    """Rows that were kept with a chance that hangs on the score, each with the inverse as its weight."""
    parts = []
    for drawn in (MODEL.draw_class(1, n // 5, rng).score, MODEL.draw(9 * n // 5, rng).score):
        chance = 0.2 + 0.6 * drawn
        kept = rng.random(len(drawn)) < chance
        parts.append((drawn[kept], 1 / chance[kept]))
    (positive, w_p), (unlabeled, w_u) = parts
    return ht.PositiveUnlabeled(
        positive, unlabeled, prior=MODEL.prior, positive_weight=w_p, unlabeled_weight=w_u
    )


def votes(n: int, rng: Rng) -> ht.SoftLabeled:
    drawn = MODEL.draw(n, rng)
    return ht.SoftLabeled.from_votes(rng.binomial(3, drawn.posterior), 3, drawn.score)


def chance_of_a_label(x: Any) -> Any:
    return expit(1.5 - 0.8 * x)


KINDS: dict[str, Callable[[int, Rng], Any]] = {
    "labels": lambda n, rng: MODEL.labeled(n, rng),
    "clean": lambda n, rng: MODEL.positive_unlabeled(n // 10, 9 * n // 10, rng),
    "purity": lambda n, rng: MODEL.positive_unlabeled(n // 10, 9 * n // 10, rng, purity=0.85),
    "one table": lambda n, rng: MODEL.positive_unlabeled(
        n // 10, 9 * n // 10, rng, purity=0.85, population="all"
    ),
    "weights": rescued,
    "propensity": lambda n, rng: MODEL.positive_unlabeled(
        n // 10, 9 * n // 10, rng, propensity=chance_of_a_label
    ),
    "negatives": lambda n, rng: MODEL.positive_unlabeled(n // 10, 8 * n // 10, rng, n_negative=n // 10),
    "votes": votes,
    "confidence": lambda n, rng: MODEL.positive_confidence(n, rng, prior="true"),
}


def true_curve(score: Any) -> Any:
    return MODEL.posterior((logit(score) - MODEL.intercept) / MODEL.slope)


def features(score: Any, method: str) -> Any:
    low, high = np.log(score), -np.log1p(-score)
    ones = np.ones_like(low)
    return np.stack([low + high, ones] if method == "platt" else [low, high, ones])


@cache
def population() -> Any:
    """Scores that stand for the population, each for as much of it."""
    return np.sort(MODEL.draw(1_000_000, 0).score)[250::500]


def slopes(measure: ScoreMeasure) -> tuple[Any, ...]:
    """What is 0 but for noise: the loss's slope at the truth, Platt's and beta's, and the gap of each cell."""
    gap = (true_curve(measure.score) * measure.mass - measure.pos_mass) / measure.total
    edges = population()[:: len(population()) // CELLS][1:]
    cells = np.bincount(np.searchsorted(edges, measure.score), gap, minlength=CELLS)
    return features(measure.score, "platt") @ gap, features(measure.score, "beta") @ gap, cells


@cache
def spread(kind: str, repeats: int) -> dict[str, Any]:
    """Covariances of the slopes for one row, (k, k) by method."""
    rng = np.random.default_rng([61, *kind.encode()])
    drawn = [slopes(KINDS[kind](FEW, rng).measure()) for _ in range(repeats)]
    names = ("platt", "beta", "isotonic")
    return {
        name: FEW * np.cov(np.stack(each), rowvar=False)
        for name, each in zip(names, zip(*drawn, strict=True), strict=True)
    }


def expected_square(kind: str, method: str, repeats: int) -> Any:
    """Eigenvalues λ: the mean squared error of a parametric fit to n rows is Σ λ χ²₁ / n."""
    score = population()
    phi, g = features(score, method), true_curve(score)
    slope = g * (1 - g)
    hessian, square = ((phi * weight) @ phi.T / len(score) for weight in (slope, slope**2))
    back = np.linalg.inv(hessian)
    moved = back @ spread(kind, repeats)[method] @ back
    return np.linalg.eigvals(moved @ square).real


def expected_isotonic(kind: str, repeats: int) -> float:
    """Brunk's limit: E (ĝ − g)² is 4 Var(Z) (½ σ² g′)^(2/3) n^(−2/3), along the population's ranks."""
    variance = np.diag(spread(kind, repeats)["isotonic"]) * CELLS
    ends = true_curve(population()[np.linspace(0, len(population()) - 1, CELLS + 1).astype(int)])
    rise = np.diff(ends) * CELLS
    return float(4 * CHERNOFF * np.mean((variance * rise / 2) ** (2 / 3)))


@cache
def errors(kind: str, method: str) -> Any:
    """Mean squared errors over the population of several fits."""
    rng = np.random.default_rng([62, *kind.encode(), *method.encode()])
    score = population()
    out = []
    for _ in range(FITS):
        fitted = ht.Calibrator(method).fit(KINDS[kind](MANY, rng))
        out.append(np.mean((fitted.predict(score) - true_curve(score)) ** 2))
    return np.asarray(out)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["platt", "beta"])
@pytest.mark.parametrize("kind", KINDS)
def test_parametric_fits_err_as_little_as_theory_says(
    kind: str, method: str, draws: Callable[[int], int]
) -> None:
    repeats = draws(REPEATS)
    part = expected_square(kind, method, repeats)
    squares = np.random.default_rng(0).chisquare(FITS, (1_000_000, len(part))) / FITS
    limit = np.quantile(squares @ part, 1 - 1e-4) / MANY
    # The variances are estimates: three of their standard errors more.
    assert errors(kind, method).mean() < limit * (1 + 3 * np.sqrt(2 / repeats))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_isotonic_fits_err_as_little_as_theory_says(kind: str, draws: Callable[[int], int]) -> None:
    expected = expected_isotonic(kind, draws(REPEATS)) * MANY ** (-2 / 3)
    found = errors(kind, "isotonic")
    # Some twenty stretches of scores err each by itself: fits differ from their mean by 0.3 of it or less.
    slack = 3.5 * 0.3 / np.sqrt(FITS)
    assert found.mean() < expected * (1 + slack)
    # Exact confidences leave no noise between scores but a factor that all share.
    if kind != "confidence":
        assert found.mean() > expected * (1 - slack)


def test_the_limits_would_catch_a_fit_that_ignores_the_evidence() -> None:
    """Purity taken for 1 gives an error that is far above what noise allows."""
    score = population()
    given = MODEL.positive_unlabeled(MANY // 10, 9 * MANY // 10, np.random.default_rng(63), purity=0.85)
    rows = cast("dict[str, StratumRows]", given.table.strata)
    blind = ht.PositiveUnlabeled(rows["positive"].score, rows["unlabeled"].score, prior=MODEL.prior)
    wrong = ht.Calibrator("beta").fit(blind).predict(score)
    assert np.mean((wrong - true_curve(score)) ** 2) > 10 * expected_square("purity", "beta", 40).sum() / MANY


# --- Cross-fitting ----------------------------------------------------------------------------------------


def own(evidence: Any, calibrated: Callable[[Any], Any]) -> ScoreMeasure:
    """The measure of the evidence with its scores calibrated by a curve that has seen them."""
    measure = evidence.measure()
    score, place = np.unique(calibrated(measure.score), return_inverse=True)
    mass, pos = (np.bincount(place, x).astype(float) for x in (measure.mass, measure.pos_mass))
    return ScoreMeasure(score=score, mass=mass, pos_mass=pos)


def fresh(calibrator: ht.Calibrator) -> float:
    """The Brier score over the whole population."""
    g, found = true_curve(population()), calibrator.predict(population())
    return float(np.mean((found - g) ** 2 + g * (1 - g)))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["labels", "clean", "purity", "votes"])
def test_cross_fitting_is_honest_where_the_fitted_rows_are_not(
    kind: str, draws: Callable[[int], int]
) -> None:
    rng = np.random.default_rng([64, *kind.encode()])
    n, folds = 1000, 5
    gaps = []
    for _ in range(draws(400)):
        evidence = KINDS[kind](n, rng)
        fitted = ht.Calibrator("isotonic").fit(evidence)
        crossed = ht.brier(ht.cross_calibrate(evidence, "isotonic", n_folds=folds, rng=rng))
        # Each part is calibrated by a fit on four fifths of the rows: other rows, as many, are its match.
        match = ht.Calibrator("isotonic").fit(KINDS[kind](n * (folds - 1) // folds, rng))
        gaps.append((ht.brier(own(evidence, fitted.predict)) - fresh(fitted), crossed - fresh(match)))
    mean = np.mean(gaps, axis=0)
    error = np.std(gaps, axis=0, ddof=1) / np.sqrt(len(gaps))
    assert mean[0] < -3 * error[0]
    assert abs(mean[1]) < 4 * error[1]
    # So near to 0 that the optimism of the fitted rows would be seen.
    assert abs(mean[1]) < abs(mean[0]) / 2
