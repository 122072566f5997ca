"""scar_test_from_features: what it refutes, what it names and says, what it takes and refuses."""

from __future__ import annotations

import datetime as dt
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression

import halftruth as ht
from halftruth._errors import InputError
from halftruth.prior import _from_features as held_out
from halftruth.prior import _scar_features as features

ALPHA = 0.4
LINEAR = LogisticRegression()


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(held_out, "N_TREES", 30)


def data(seed=0, k=0.0, n_known=200, n_unlabeled=1_200, column=1, d=3):
    """Classes apart in the first feature; positives known in proportion to exp(k x) of another."""
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 1, (n_known * 10, d)) + 3 * (np.arange(d) == 0)
    first = np.argsort(rng.exponential(size=len(x)) * np.exp(-k * x[:, column]))[:n_known]
    u = rng.normal(0, 1, (n_unlabeled, d))
    u[:, 0] += 3 * (rng.random(n_unlabeled) < ALPHA)
    order = rng.permutation(n_known + n_unlabeled)
    return np.concatenate([x[first], u])[order], order < n_known


def made(x, known, **options):
    settings = {"prior": ALPHA, "classifier": LINEAR, "n_resamples": 199}
    return ht.scar_test_from_features(x, known, **settings | options)


X, KNOWN = data()
CHOSEN, CHOSEN_KNOWN = data(k=0.7)
TIME = np.random.default_rng(1).normal(size=len(X))


# --- Size and power --------------------------------------------------------------------------------


@pytest.mark.parametrize("prior", [ALPHA, None])
def test_random_labels_are_seldom_refuted(prior):
    n = 120
    p = []
    for seed in range(n):
        x, known = data(seed, n_known=100, n_unlabeled=600)
        time = np.random.default_rng(seed).normal(size=len(x)) if prior is None else None
        p.append(made(x, known, prior=prior, time=time, n_resamples=99, rng=seed).p_value)
    assert np.mean(np.asarray(p) <= 0.05) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / n)


@pytest.mark.parametrize("column", [0, 1])
def test_labels_that_follow_a_feature_are_refuted_and_it_is_named(column):
    for seed in range(5):
        (check,) = made(*data(seed, k=0.8, column=column)).checks
        assert check.refuted
        assert check.differs[0][0] == f"column {column}"
        assert check.statistic > 2


def test_scores_do_not_see_what_another_feature_shows():
    score = CHOSEN[:, 0]
    assert not ht.scar_test(score[CHOSEN_KNOWN], score[~CHOSEN_KNOWN], prior=ALPHA).refuted
    assert made(CHOSEN, CHOSEN_KNOWN).refuted


def test_labels_for_middling_values_are_refuted():
    rng = np.random.default_rng(0)
    x, known = data(n_known=600)
    left_out = known & (rng.random(len(x)) > np.exp(-(x[:, 1] ** 2)))
    assert made(x[~left_out], known[~left_out]).refuted


def test_the_trees_of_the_default_find_it_too():
    assert made(CHOSEN, CHOSEN_KNOWN, classifier=None).refuted
    assert not made(X, KNOWN, classifier=None).refuted


@pytest.mark.parametrize(("shift", "word"), [(0.4, "later"), (-0.4, "earlier")])
def test_times_of_known_positives_are_compared(shift, word):
    (check,) = made(X, KNOWN, prior=None, time=TIME + shift * KNOWN).checks
    assert check.refuted
    assert check.says.startswith(
        f"Known positives came {word} than unlabeled rows of their score. This refutes"
    )
    assert np.sign(dict(check.differs)["time"]) == np.sign(shift)


def test_times_that_are_only_spread_otherwise_differ_too():
    (check,) = made(X, KNOWN, prior=None, time=np.where(KNOWN, 0.3 * TIME, TIME)).checks
    assert check.refuted
    assert "at other times" in check.says


def test_times_that_follow_the_features_are_no_selection():
    assert made(X, KNOWN, prior=None, time=X[:, 0] + 0.3 * TIME).p_value > 0.05
    naive = stats.ks_2samp((X[:, 0] + 0.3 * TIME)[KNOWN], (X[:, 0] + 0.3 * TIME)[~KNOWN])
    assert naive.pvalue < 1e-6


# --- The statistics, by definition -------------------------------------------------------------------


def test_excess_by_definition():
    """In a fit without features all weights are one fold's share known, less the chance."""
    rng = np.random.default_rng(0)
    labels, fold = (rng.random((1, 50)) < 0.6).astype(float), np.arange(50) % features.N_FOLDS
    z, ratio = features._excess(np.zeros((50, 1)), fold, labels, 20, 30.0, 0.0)
    weight = np.asarray([max(labels[0, fold != k].mean() - 0.4, 0) for k in fold])
    gap = (weight * labels[0]).sum() / 20 - (weight * (1 - labels[0])).sum() / 30
    assert z[0] == pytest.approx(gap / np.sqrt((weight**2).sum() / 50 * (1 / 20 + 1 / 30)))
    assert ratio[0] == pytest.approx((weight * labels[0]).sum() / (0.4 * weight.sum()))


def test_a_larger_prior_is_harder_to_hold():
    each = [made(CHOSEN, CHOSEN_KNOWN, prior=prior).checks[0].statistic for prior in (0.1, 0.25, 0.4)]
    assert each[0] < each[1] < each[2]


def test_a_range_is_refuted_only_as_a_whole():
    low = made(CHOSEN, CHOSEN_KNOWN, prior=0.3).to_dict()
    assert made(CHOSEN, CHOSEN_KNOWN, prior=(0.3, 0.9)).to_dict() == low
    assert made(CHOSEN, CHOSEN_KNOWN, prior=ht.PriorEstimate(value=0.4, low=0.3, high=0.5)).to_dict() == low
    n, n_known = len(CHOSEN), CHOSEN_KNOWN.sum()
    of_all = [(n_known + alpha * (n - n_known)) / n for alpha in (0.3, 0.4, 0.5)]
    estimate = ht.PriorEstimate(value=of_all[1], low=of_all[0], high=of_all[2], population="all")
    assert made(CHOSEN, CHOSEN_KNOWN, prior=estimate).p_value == low["p_value"]


def test_monotone_features_of_a_tree_change_nothing_but_the_scores():
    """Given the likely positives, only ranks count."""
    basis = features._normal_scores(X, 2)
    np.testing.assert_array_equal(basis, features._normal_scores(np.exp(X), 2))
    assert np.abs(basis.mean(axis=0)).max() < 0.02
    assert basis.var(axis=0) == pytest.approx(np.ones((3, 2)), abs=0.05)


# --- What it takes and says --------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_result_from_any_container():
    base = made(CHOSEN, CHOSEN_KNOWN, time=TIME).to_dict()
    assert made(CHOSEN, CHOSEN_KNOWN.astype(int), time=list(TIME)).to_dict() == base
    assert made(CHOSEN, CHOSEN_KNOWN, time=TIME, rng=np.random.default_rng(0)).to_dict() == base
    names = ["a", "b", "c"]
    for frame in (pd.DataFrame(CHOSEN, columns=names), pl.DataFrame(CHOSEN, schema=names)):
        (check, _) = made(frame, CHOSEN_KNOWN, time=TIME).checks
        assert check.p_value == base["checks"][0]["p_value"]
        assert check.differs[0][0] == "b"


def test_dates_are_times():
    days = np.arange(len(X)) % 365
    expected = made(X, KNOWN, prior=None, time=days).p_value
    dates = np.datetime64("2024-01-01") + days
    given = [
        dates, pd.Series(dates), pd.Series(dates).dt.tz_localize("UTC"), pl.Series(dates), dates.astype(str),
        [dt.date(2024, 1, 1) + dt.timedelta(int(day)) for day in days],
    ]  # fmt: skip
    for time in given:
        assert made(X, KNOWN, prior=None, time=time).p_value == expected


def test_what_it_says():
    result = made(CHOSEN, CHOSEN_KNOWN, time=TIME)
    row = json.loads(json.dumps(result.to_dict(), allow_nan=False))["checks"][0]
    assert row["name"] == "features"
    assert set(row) == {"name", "p_value", "refuted", "concerns", "says", "statistic", "differs"}
    assert next(iter(row["differs"])) == "column 1"
    assert "This refutes SCAR and the prior jointly, not SCAR alone." in str(result)
    assert "times as many are known as labels at random would give" in str(result)
    assert result.notes[:2] == (features.OVERLAP, features.DRIFT)
    assert "few rows refute little" in str(made(X, KNOWN))
    assert "Only 9 resamples" in str(made(X, KNOWN, n_resamples=9))


def test_checks_that_cannot_be_made():
    few = made(X, KNOWN, prior=0.01)
    assert few.p_value == 1
    assert "needs 20 positives among the unlabeled, α says 12" in str(few)
    assert "no unlabeled row of a like score came at another" in str(made(X, KNOWN, time=np.ones(len(X))))


@pytest.mark.parametrize("x", [np.ones((300, 2)), np.arange(600).reshape(300, 2) % 2])
def test_features_that_say_nothing_refute_nothing(x):
    known = np.arange(300) < 100
    assert made(x, known, time=np.arange(300) % 7).p_value > 0.01


BAD = {
    "nothing": ({"prior": None}, "Pass `prior` or `time`, or both"),
    "estimate": ({"prior": "estimate"}, "an estimate from these rows assumes SCAR"),
    "prior": ({"prior": 40}, r"`prior` must lie in \(0, 1\), got 40"),
    "times": ({"time": [1, 2]}, "`time` has length 2"),
    "no times": ({"time": ["soon"] * len(X)}, "`time` must hold numbers or dates"),
    "NaT": ({"time": np.full(len(X), np.datetime64("NaT"))}, "known for every row, got 1400 missing"),
    "resamples": ({"n_resamples": 0}, "`n_resamples` must be a whole number"),
    "classifier": ({"classifier": "trees"}, "`classifier` must be a classifier"),
}


@pytest.mark.parametrize("name", BAD)
def test_refusals(name):
    options, message = BAD[name]
    with pytest.raises(InputError, match=message):
        made(X, KNOWN, **options)


def test_rows_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="`labeled` has length 3"):
        made(X, KNOWN[:3])
    with pytest.raises(InputError, match="NaN or infinite"):
        made(np.where(X > 3, np.nan, X), KNOWN)
    with pytest.raises(InputError, match="known positives; at least"):
        made(X, np.zeros(len(X), dtype=bool))
