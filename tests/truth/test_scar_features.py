"""From features and times SCAR is refuted no more often than said where it holds, and often where it fails."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

import halftruth as ht
from halftruth.prior import _from_features as held_out

ERROR = 0.05
N_KNOWN, N_UNLABELED = 200, 2_000
MEASURED_IN = 500
BY_CHANCE = 1e-3
"""Probability with which a power leaves its limit."""


class Law:
    """Normal features, and P(Y=1 | x) logistic in them, of this steepness and mean."""

    def __init__(self, d, prior, steepness=3.0, correlation=0.0, apart=False):
        self.d, self.prior, self.steepness, self.correlation = d, prior, steepness, correlation
        self.apart = apart  # whether x₁, by which labels are chosen, says nothing of the class
        index = self.index(self.features(100_000, np.random.default_rng(0)))
        self.level = optimize.brentq(lambda a: expit(a + index).mean() - prior, -400, 400)

    def features(self, n, rng):
        own, common = rng.normal(size=(n, self.d)), rng.normal(size=(n, 1))
        return np.sqrt(1 - self.correlation) * own + np.sqrt(self.correlation) * common

    def index(self, x):
        return self.steepness * (np.sqrt(2) * x[:, 1] if self.apart else x[:, 0] + x[:, 1])

    def chance(self, x):
        return expit(self.level + self.index(x))

    def draw(self, rng, k=0.0, n_known=N_KNOWN, n_unlabeled=N_UNLABELED):
        """Unlabeled rows, and positives known in proportion to exp(k x₁)."""
        x = self.features(int(20 * n_known / self.prior), rng)
        x = x[rng.random(len(x)) < self.chance(x)]
        # The least of exponential times with these rates: a sample without replacement in proportion to them.
        first = np.argsort(rng.exponential(size=len(x)) * np.exp(-k * x[:, 0]))[:n_known]
        x = np.concatenate([x[first], self.features(n_unlabeled, rng)])
        return x, np.arange(len(x)) < n_known

    def one_table(self, rng, k=0.0, covariates=0.0, drift=0.0):
        """About 200 known positives in one table, known in proportion to exp(k t), and the times t."""
        x = self.features(round(N_KNOWN / 0.3 / self.prior), rng)
        t = covariates * (x[:, 0] + x[:, 1] ** 2 / 2) + rng.normal(size=len(x))
        t = (t - t.mean()) / t.std()
        y = rng.random(len(x)) < expit(self.level + self.index(x) + drift * t)
        weight = np.exp(k * t)
        return x, y & (rng.random(len(x)) < 0.3 * weight / weight[y].mean()), t


def by_features(law, classifier=True, **options):
    def p_value(rng):
        x, known = law.draw(rng, **options)
        model = LogisticRegression() if classifier else None
        result = ht.scar_test_from_features(
            x, known, prior=law.prior, classifier=model, n_resamples=199, rng=rng
        )
        return result.p_value

    return p_value


def by_scores(law, **options):
    """The test of scores, by the best score there is."""

    def p_value(rng):
        x, known = law.draw(rng, **options)
        score = law.index(x)
        return ht.scar_test(score[known], score[~known], prior=law.prior).p_value

    return p_value


def by_time(law, **options):
    def p_value(rng):
        x, known, t = law.one_table(rng, **options)
        return ht.scar_test_from_features(
            x, known, time=t, classifier=LogisticRegression(), n_resamples=199, rng=rng
        ).p_value

    return p_value


def as_published(law, n=99):
    """Artificial labels as first described: known positives against these and all top-scored unlabeled rows.

    By the Kullback–Leibler divergence of normal laws.
    """

    def divergence(a, b):
        (at, spread), (to, wider) = ((rows.mean(axis=0), np.cov(rows.T)) for rows in (a, b))
        inverse = np.linalg.inv(wider)
        size = np.linalg.slogdet(wider)[1] - np.linalg.slogdet(spread)[1]
        return np.trace(inverse @ spread) + (to - at) @ inverse @ (to - at) + size

    def p_value(rng):
        x, known = law.draw(rng)
        score = LogisticRegression().fit(x, known).decision_function(x)
        pool = known | (score >= np.quantile(score[~known], 1 - law.prior))
        x, labels = x[pool], known[pool]
        drawn = [divergence(x[rng.permutation(labels)], x) for _ in range(n)]
        return (1 + np.sum(drawn >= divergence(x[labels], x))) / (1 + n)

    return p_value


HOLDS = {
    "d 2, prior .4": by_features(Law(2, 0.4)),
    "d 2, prior .1": by_features(Law(2, 0.1)),
    "d 10, prior .4, correlated": by_features(Law(10, 0.4, correlation=0.5)),
    "d 10, prior .1, correlated": by_features(Law(10, 0.1, correlation=0.5)),
    "d 2, prior .4, classes nearly apart": by_features(Law(2, 0.4, 10)),
    "d 2, prior .1, classes nearly apart": by_features(Law(2, 0.1, 10)),
    "d 10, prior .4, classes apart": by_features(Law(10, 0.4, 100)),
    "d 10, prior .1, classes apart": by_features(Law(10, 0.1, 100)),
    "d 2, prior .4, 50 known": by_features(Law(2, 0.4, 10), n_known=50),
    "d 10, prior .1, 50 known": by_features(Law(10, 0.1, 10), n_known=50),
    "d 2, prior .4, few unlabeled": by_features(Law(2, 0.4, 10), n_known=500, n_unlabeled=500),
    "d 2, prior .4, steep classes, trees": by_features(Law(2, 0.4, 10), classifier=False),
    "d 10, prior .1, trees": by_features(Law(10, 0.1), classifier=False),
    "time": by_time(Law(2, 0.4)),
    "time, d 10, prior .1": by_time(Law(10, 0.1, correlation=0.5)),
    "time, features drift": by_time(Law(2, 0.4), covariates=0.5),
    "time, features drift, d 10, prior .1": by_time(Law(10, 0.1, correlation=0.5), covariates=1.0),
}
MEASURED = {
    # prior, d, steepness, whether x₁ says nothing of the class: {k: power by features and by scores}, 500 draws
    (0.4, 2, 3, False): {0.25: (0.272, 0.106), 0.5: (0.904, 0.508), 1.0: (1.0, 0.99), -0.5: (0.084, 0.002)},
    (0.4, 10, 3, False): {0.25: (0.182, 0.122), 0.5: (0.728, 0.478), 1.0: (1.0, 0.99), -0.5: (0.038, 0.002)},
    (0.1, 2, 3, False): {0.25: (0.122, 0.018), 0.5: (0.518, 0.108), 1.0: (1.0, 0.588), -0.5: (0.044, 0.0)},
    (0.1, 10, 3, False): {0.25: (0.074, 0.028), 0.5: (0.31, 0.114), 1.0: (0.97, 0.586), -0.5: (0.016, 0.0)},
    (0.4, 2, 3, True): {0.25: (0.216, 0.014), 0.5: (0.892, 0.02), 1.0: (1.0, 0.016), -0.5: (0.896, 0.014)},
    (0.4, 10, 3, True): {0.25: (0.128, 0.008), 0.5: (0.72, 0.008), 1.0: (1.0, 0.016), -0.5: (0.692, 0.008)},
    (0.1, 2, 3, True): {0.25: (0.06, 0.002), 0.5: (0.396, 0.004), 1.0: (0.992, 0.006), -0.5: (0.416, 0.004)},
    (0.1, 10, 3, True): {0.25: (0.03, 0.008), 0.5: (0.186, 0.002), 1.0: (0.934, 0.006), -0.5: (0.23, 0.006)},
    (0.4, 2, 1, False): {0.25: (0.194, 0.064), 0.5: (0.764, 0.358), 1.0: (1.0, 0.986), -0.5: (0.014, 0.0)},
    (0.4, 2, 1, True): {0.25: (0.07, 0.002), 0.5: (0.482, 0.002), 1.0: (1.0, 0.004), -0.5: (0.478, 0.004)},
}
TIMES = {
    "earlier, k .25": (by_time(Law(2, 0.4), k=-0.25), 0.962),
    "earlier, k .5": (by_time(Law(2, 0.4), k=-0.5), 1.0),
    "earlier, features drift": (by_time(Law(10, 0.1, correlation=0.5), k=-0.25, covariates=0.5), 0.882),
    # No selection, but positives that become commoner at equal features: it looks the same.
    "the class drifts": (by_time(Law(2, 0.4), drift=0.5), 0.3),
}


def refuted(p_value, n, seed):
    rng = np.random.default_rng(seed)
    return sum(p_value(rng) <= ERROR for _ in range(n)) / n


def assert_as_measured(share, power, n):
    error = np.sqrt(power * (1 - power) * (1 / n + 1 / MEASURED_IN))
    assert share >= power - stats.norm.isf(BY_CHANCE) * error - 1 / n


@pytest.mark.slow
@pytest.mark.parametrize("name", HOLDS)
def test_random_labels_are_seldom_refuted(name, draws, monkeypatch):
    monkeypatch.setattr(held_out, "N_TREES", 50)
    n = draws(150 if "trees" in name else 400)
    share = refuted(HOLDS[name], n, [41, list(HOLDS).index(name)])
    assert share <= ERROR + 2 * np.sqrt(ERROR * (1 - ERROR) / n)


@pytest.mark.slow
@pytest.mark.parametrize("k", [0.25, 0.5, 1.0, -0.5])
@pytest.mark.parametrize("cell", MEASURED)
def test_selection_is_refuted_as_often_as_was_measured(cell, k, draws):
    prior, d, steepness, apart = cell
    n, law = draws(150), Law(d, prior, steepness, apart=apart)
    for make, power, seed in zip((by_features, by_scores), MEASURED[cell][k], (42, 43), strict=True):
        assert_as_measured(refuted(make(law, k=k), n, [seed, list(MEASURED).index(cell)]), power, n)


@pytest.mark.slow
@pytest.mark.parametrize("name", TIMES)
def test_times_are_refuted_as_often_as_was_measured(name, draws):
    (p_value, power), n = TIMES[name], draws(150)
    assert_as_measured(refuted(p_value, n, [44, list(TIMES).index(name)]), power, n)


@pytest.mark.slow
@pytest.mark.parametrize(("steepness", "least"), [(1, 0.9), (3, 0.3)])
def test_the_published_test_refutes_random_labels_where_classes_overlap(steepness, least, draws):
    assert refuted(as_published(Law(2, 0.4, steepness)), draws(100), 45) >= least
