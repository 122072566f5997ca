"""Tests of calibration refute what is true no more often than they say, and often what is false."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import halftruth as ht
from halftruth.calibration._calibration_test import STATISTICS, calibration_test

RIGHT = ht.simulate.logistic_model(0, 2)
WRONG = ht.simulate.logistic_model(-0.5, 1.5)
RARE = ht.simulate.GaussianClasses(prior=0.01)
MILD = ht.simulate.GaussianClasses(prior=0.4, separation=1.0)
N_RESAMPLES = 99
SURE = 1e-4
"""The chance that a test here fails where all is right, for each of its limits."""


def labeled(n, model=RIGHT):
    return lambda rng: model.labeled(n, rng)


def pu(n_p, n_u, model=RIGHT, **design):
    return lambda rng: model.positive_unlabeled(n_p, n_u, rng, **design)


def soft(n):
    """Soft labels that scatter around what the scores should be."""

    def draw(rng):
        rows = RIGHT.draw(n, rng)
        return ht.SoftLabeled(rng.beta(5 * rows.posterior, 5 * (1 - rows.posterior)), rows.score)

    return draw


def votes(n, model=RIGHT):
    def draw(rng):
        rows = model.draw(n, rng)
        return ht.SoftLabeled.from_votes(rng.binomial(3, rows.posterior), 3, rows.score)

    return draw


def fewer_negatives(n):
    """Three in ten of the negatives, weighted up again."""

    def draw(rng):
        rows = RIGHT.draw(n, rng)
        kept = (rows.y == 1) | (rng.random(n) < 0.3)
        weight = np.where(rows.y == 1, 1, 1 / 0.3)[kept]
        return ht.Labeled(rows.y[kept], rows.score[kept], sample_weight=weight)

    return draw


def weights_of_x(n):
    def draw(rng):
        rows = RIGHT.draw(n, rng)
        return ht.Labeled(rows.y, rows.score, sample_weight=np.exp(0.5 * rows.x))

    return draw


def confidence(n, prior=None):
    """Positives of a population in which the chance q of being positive scatters around the score."""

    def draw(rng):
        s = MILD.draw(8 * n, rng).score
        q = s * (1 + 0.6 * (1 - s) * rng.uniform(-1, 1, 8 * n))
        chosen = np.flatnonzero(rng.random(8 * n) < q)[:n]
        return ht.PositiveConfidence(q[chosen], s[chosen], prior=prior)

    return draw


def estimated(n_p, n_u, error):
    """A prior estimated with this standard error, which its replicates show."""

    def draw(rng):
        table = RIGHT.positive_unlabeled(n_p, n_u, rng).table
        value = 0.5 + error * rng.standard_normal()
        estimate = ht.PriorEstimate(value=value, replicates=value + error * rng.standard_normal(500))
        return ht.PositiveUnlabeled.from_table(table, prior=estimate, population="unlabeled")

    return draw


def propensity(x):
    return 0.1 + 0.8 / (1 + np.exp(0.5 - x))


HOLDS = {
    "labels, 200": labeled(200),
    "labels, 2,000": labeled(2_000),
    "labels, rare": labeled(500, RARE),
    "class weights": fewer_negatives(400),
    "PU, 50 and 500": pu(50, 500),
    "PU, 200 and 2,000": pu(200, 2_000),
    "PU, rare": pu(100, 5_000, RARE),
    "PU, few unlabeled": pu(1_000, 200),
    "PU, purity": pu(200, 2_000, purity=0.85),
    "PU, known negatives": pu(200, 2_000, n_negative=100),
    "PU, known negatives, no prior": pu(200, 2_000, n_negative=200, prior=None),
    "PU, estimated prior": estimated(200, 2_000, 0.04),
    "one table": pu(200, 2_000, population="all"),
    "one table, purity": pu(200, 2_000, population="all", purity=0.85),
    "one table, known negatives": pu(200, 2_000, population="all", n_negative=100),
    "soft, 200": soft(200),
    "propensities": pu(200, 2_000, propensity=propensity),
    "propensities, one table": pu(200, 2_000, propensity=propensity, population="all"),
    "confidence": confidence(300),
}
ROUGHLY = {
    # Not the law of calibrated scores, but the rows' own gaps, and few rows matter.
    "soft, rare": votes(1_000, RARE),
    "weights of x": weights_of_x(400),
    "confidence and prior": confidence(300, prior=0.4),
}


def p_values(draw, statistic, n):
    return np.asarray(
        [
            calibration_test(
                draw(np.random.default_rng([1, k])), statistic, n_resamples=N_RESAMPLES, rng=k
            ).p_value
            for k in range(n)
        ]
    )


def assert_levels_hold(p, slack=0.0):
    """At each level as many p-values as there should be, neither more (but for the slack) nor far fewer."""
    for level in (0.01, 0.05, 0.2, 0.5):
        count = int(np.sum(p <= level))
        assert count <= stats.binom.ppf(1 - SURE, len(p), level + slack), level
        assert count >= stats.binom.ppf(SURE, len(p), 0.8 * level), level


USUAL = ("combined", "ks", "hosmer-lemeshow")
ALL = {"labels, 200", "labels, rare", "PU, 200 and 2,000", "one table", "soft, 200", "PU, purity"}
CASES = [(name, x) for name in HOLDS for x in (STATISTICS if name in ALL else USUAL)]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "statistic"), CASES)
def test_size(name, statistic, draws):
    assert_levels_hold(p_values(HOLDS[name], statistic, draws(300)))


@pytest.mark.slow
@pytest.mark.parametrize("statistic", USUAL)
@pytest.mark.parametrize("name", ROUGHLY)
def test_size_where_the_law_is_not_known(name, statistic, draws):
    assert_levels_hold(p_values(ROUGHLY[name], statistic, draws(300)), slack=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("statistic", USUAL)
def test_size_of_many(statistic, draws):
    assert_levels_hold(p_values(pu(1_000, 10_000), statistic, draws(200)))


@pytest.mark.slow
@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize(
    "draw", [labeled(4_000), pu(1_000, 10_000), soft(4_000)], ids=["labels", "PU", "soft"]
)
def test_size_on_joined_scores(draw, statistic, draws, monkeypatch):
    """A hundred rows and more in each group, as with a hundred thousand rows."""
    monkeypatch.setattr("halftruth.calibration._null_models.MAX_ATOMS", 64)
    assert_levels_hold(p_values(draw, statistic, draws(200)))


POWER = {
    # name: draw, statistic, a share of data sets in which p <= .05 that is surely passed
    "labels, ks": (labeled(200, WRONG), "ks", 0.6),
    "labels, kuiper": (labeled(200, WRONG), "kuiper", 0.72),
    "labels, hosmer-lemeshow": (labeled(200, WRONG), "hosmer-lemeshow", 0.25),
    "PU, ks": (pu(200, 2_000, WRONG), "ks", 0.95),
    "PU, kuiper": (pu(200, 2_000, WRONG), "kuiper", 0.95),
    "PU, hosmer-lemeshow": (pu(200, 2_000, WRONG), "hosmer-lemeshow", 0.95),
    "labels of extreme scores, spiegelhalter": (
        labeled(200, ht.simulate.logistic_model(0, 4)),
        "spiegelhalter",
        0.97,
    ),
    "PU of extreme scores, spiegelhalter": (
        pu(200, 2_000, ht.simulate.logistic_model(0, 4)),
        "spiegelhalter",
        0.75,
    ),
    "labels, too extreme": (labeled(400, ht.simulate.logistic_model(0, 3)), STATISTICS[0], 0.9),
    "labels, too timid": (labeled(400, ht.simulate.logistic_model(0, 1.5)), STATISTICS[0], 0.6),
    "labels, shifted": (labeled(400, ht.simulate.logistic_model(-0.5, 2)), STATISTICS[0], 0.7),
    "PU, too extreme": (pu(400, 4_000, ht.simulate.logistic_model(0, 3)), STATISTICS[0], 0.74),
    "PU, shifted": (pu(400, 4_000, ht.simulate.logistic_model(-0.5, 2)), STATISTICS[0], 0.97),
    "purity, ks": (pu(200, 2_000, WRONG, purity=0.85), "ks", 0.9),
    "one table, ks": (pu(200, 2_000, WRONG, population="all"), "ks", 0.9),
    "propensities, hosmer-lemeshow": (
        pu(200, 2_000, WRONG, propensity=propensity),
        "hosmer-lemeshow",
        0.9,
    ),
    "nearly right, ks": (pu(1_000, 10_000, ht.simulate.logistic_model(-0.2, 1.9)), "ks", 0.8),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", POWER)
def test_power(name, draws):
    draw, statistic, share = POWER[name]
    p = p_values(draw, statistic, draws(200))
    assert np.sum(p <= 0.05) >= stats.binom.ppf(SURE, len(p), share)


@pytest.mark.slow
def test_labels_agree_with_the_classical_tests(draws):
    """Over many data sets, Spiegelhalter's normal and a χ² with one degree a bin."""
    n = draws(200)
    apart = np.zeros((n, 2))
    for k in range(n):
        evidence = RIGHT.labeled(1_000, rng=k)
        z, chi2 = (
            calibration_test(evidence, name, n_resamples=999, rng=k)
            for name in ("spiegelhalter", "hosmer-lemeshow")
        )
        apart[k] = (
            z.p_value - 2 * stats.norm.sf(abs(z.value)),
            chi2.p_value - stats.chi2.sf(chi2.value, 10),
        )
    # Resampling has a standard error of at most .016 in each, and the mean over the data sets far less.
    assert np.abs(apart).max() <= stats.norm.isf(SURE / n) * 0.5 / np.sqrt(999) + 0.02
    assert (np.abs(apart.mean(axis=0)) <= stats.norm.isf(SURE) * 0.5 / np.sqrt(999 * n) + 0.01).all()
