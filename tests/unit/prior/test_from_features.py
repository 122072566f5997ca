"""Priors from features: held-out scores of any classifier, its own variability, and estimators without one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import halftruth as ht
from halftruth.prior import _from_features as features
from halftruth.prior import _from_features as held_out
from halftruth.prior._methods import METHODS
from halftruth.prior.estimators import _auto as auto

ALPHA = 0.3
DIRECT = [name for name, method in METHODS.items() if method.fit_features is not None]


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(auto, "N_DRAWS", 400)
    monkeypatch.setattr(held_out, "N_TREES", 30)


def data(n_positive=200, n_unlabeled=500, separation=3.0, n_features=2, seed=0):
    """Normal classes, apart in the first feature only."""
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 1, (n_positive + n_unlabeled, n_features))
    x[: n_positive + round(ALPHA * n_unlabeled), 0] += separation
    order = rng.permutation(len(x))
    return x[order], order < n_positive


X, LABELED = data()


def estimate(x=X, labeled=LABELED, method="bbe", n_refits=0, **options):
    if method != "auto":
        options.setdefault("n_resamples", 4)
    return ht.estimate_prior_from_features(x, labeled, method=method, n_refits=n_refits, **options)


def assert_same(one, other):
    assert (one.value, one.low, one.high, one.upper) == (other.value, other.low, other.high, other.upper)
    np.testing.assert_array_equal(one.replicates, other.replicates)


# --- scores of a classifier ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "classifier", [None, LogisticRegression(), LinearSVC(), DecisionTreeClassifier(min_samples_leaf=30)]
)
@pytest.mark.parametrize("method", ["auto", "alphamax"])
def test_any_classifier_finds_the_share(classifier, method):
    made = estimate(method=method, classifier=classifier)
    assert made.value == pytest.approx(ALPHA, abs=0.1)
    assert made.low <= made.high
    assert ALPHA < made.upper < 0.6
    assert (made.method, made.population) == (method, "unlabeled")
    assert made.assumption == METHODS[method].assumption
    assert made.curve is not None


def test_the_default_is_extremely_randomized_trees():
    # Trees find what no line does: positives between negatives.
    rng = np.random.default_rng(0)
    is_positive, labeled = np.arange(900) < 200 + 210, np.arange(900) < 200
    band = np.where(is_positive, rng.choice([1, 3], 900), rng.choice([0, 2, 4], 900))
    x = (band + rng.random(900))[:, None]
    assert estimate(x, labeled).value == pytest.approx(0.3, abs=0.05)
    assert estimate(x, labeled, classifier=LogisticRegression()).value > 0.6


def test_a_classifier_is_neither_fitted_nor_changed():
    given = LogisticRegression(C=0.3)
    before = given.get_params()
    estimate(classifier=given, n_refits=2)
    assert not hasattr(given, "coef_")
    assert given.get_params() == before


def test_no_score_is_of_a_row_that_was_trained_on():
    """Features that say nothing: P and U are one law, but a forest tells its own training rows apart."""
    rng = np.random.default_rng(1)
    x, labeled = rng.normal(0, 1, (700, 5)), np.arange(700) < 300
    forest = ExtraTreesClassifier(30, random_state=0)
    in_sample = forest.fit(x, labeled).predict_proba(x)[:, 1]
    assert (
        ht.estimate_prior(in_sample[labeled], in_sample[~labeled], method="bbe", n_resamples=2).value < 0.01
    )
    assert ht.prior_upper_bound(in_sample[labeled], in_sample[~labeled]) < 0.03
    for classifier in (None, forest, DecisionTreeClassifier(random_state=0)):
        made = estimate(x, labeled, classifier=classifier, n_refits=2)
        assert made.value > 0.85
        assert made.upper > 0.9
        assert made.high > 0.8
    assert estimate(x, labeled, "auto").high > 0.85


@pytest.mark.parametrize("redrawn", [False, True])
def test_scores_come_from_folds_or_bags_without_the_row(redrawn):
    """A classifier that remembers its rows knows none of those it scores."""

    class Remembers(LogisticRegression):
        def fit(self, x, y):
            self.seen = {row.tobytes() for row in x}
            return super().fit(x, y)

        def predict_proba(self, x):
            assert not any(row.tobytes() in self.seen for row in x)
            return super().predict_proba(x)

    score = held_out.HeldOut(X, LABELED, Remembers()).of(np.random.default_rng(0), redrawn=redrawn)
    assert score.shape == (len(X),)
    assert ((score > 0) & (score < 1)).all()


def test_a_row_in_every_bag_takes_a_middle_score(monkeypatch):
    monkeypatch.setattr(held_out, "N_TREES", 2)
    for redrawn in (False, True):
        made = held_out.HeldOut(X, LABELED, None)
        rng = np.random.default_rng(0)
        score = made._out_of_bag(0, made._times_drawn(rng) if redrawn else None)
        value, count = np.unique(score, return_counts=True)
        most = value[np.argmax(count)]  # two fifths of the rows are in both bags, and have no votes
        assert count.max() > 0.25 * len(X)
        assert (score < most).any()
        assert (score > most).any()


@pytest.mark.parametrize("classifier", [None, DecisionTreeClassifier(max_depth=6, random_state=0)])
@pytest.mark.parametrize("method", ["bbe", "auto"])
def test_refits_widen_the_interval(classifier, method):
    options = {"method": method, "classifier": classifier} | (
        {} if method == "auto" else {"n_resamples": 100}
    )
    growth = []
    for seed in range(6):
        x, labeled = data(80, 200, separation=1.5, n_features=8, seed=seed)
        once, again = (estimate(x, labeled, n_refits=n, **options) for n in (0, 5))
        assert again.value == once.value
        assert len(again.replicates) == len(once.replicates)
        assert ((again.replicates >= 0) & (again.replicates <= 1)).all()
        growth.append(np.log(again.replicates.std() / once.replicates.std()))
    # One data set may show nearly nothing: the mean is at least 3%, and more than its error between data sets.
    assert np.mean(growth) > np.log(1.03)
    assert np.mean(growth) > 2 * np.std(growth, ddof=1) / np.sqrt(len(growth))


def test_one_refit_says_nothing_of_a_spread():
    with pytest.raises(ht.InputError, match=r"`n_refits`=1 shows no spread\. Pass 0, or 2 and more"):
        estimate(n_refits=1)


def test_the_default_is_no_worse_than_either_of_its_parts():
    """Of rings, where a line is blind, and of planes, where trees are coarse."""
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(1)
    x = rng.normal(size=(1500, 6))
    for truth in ((x[:, 0] ** 2 + x[:, 1] ** 2) > 2.5, x.sum(axis=1) > 1):
        labeled = truth & (rng.random(1500) < 0.3)
        made = held_out.HeldOut(x, labeled, None)
        both = roc_auc_score(labeled, made.of(np.random.default_rng(0)))
        parts = made._out_of_bag(0, None), made._folded(held_out._linear(), 0, None)
        assert both > max(roc_auc_score(labeled, part) for part in parts) - 0.01


def test_a_classifier_takes_what_it_can_take():
    from sklearn.ensemble import HistGradientBoostingClassifier

    frame = pd.DataFrame(X, columns=["a", "b"])
    frame.loc[::7, "a"] = np.nan
    made = estimate(frame, LABELED, classifier=HistGradientBoostingClassifier(max_iter=20), n_refits=0)
    assert 0 < made.value < 1
    with pytest.raises(ht.InputError, match="or pass a classifier that takes them"):
        estimate(frame, LABELED)


def test_what_is_known_besides_is_read():
    classifier = LogisticRegression()
    ranged = estimate(method="auto", classifier=classifier, within=(0.1, 0.2))
    assert 0.1 <= ranged.replicates.min() <= ranged.replicates.max() <= 0.2
    few, many = (
        estimate(method="auto", classifier=classifier, labeled_sample=found) for found in (None, (200, 1000))
    )
    assert abs(many.value - 0.2) < 0.05
    assert many.high - many.low < few.high - few.low
    pure, noisy = (estimate(classifier=classifier, purity=purity) for purity in (1.0, 0.8))
    assert noisy.value == pytest.approx(0.8 * pure.value)
    assert noisy.upper == pytest.approx(0.8 * pure.upper)
    level = estimate(method="auto", classifier=classifier, confidence_level=0.5)
    assert level.high - level.low < few.high - few.low


# --- estimators that take features --------------------------------------------------------------------


def test_which_methods_take_features():
    assert DIRECT == ["km1", "km2", "tice", "divergence"]


@pytest.mark.parametrize("method", DIRECT)
def test_features_alone(method):
    class Unused:
        def fit(self, x, y):
            raise AssertionError("no classifier is needed")

    x, labeled = data(100, 300, separation=5.0)
    made = estimate(x, labeled, method, classifier=Unused(), n_resamples=2)
    assert made.value == pytest.approx(ALPHA, abs=0.15)
    assert 0 <= made.low <= made.high <= 1
    assert made.replicates.shape == (2,)
    assert made.upper == 1  # no score, no bound
    assert_same(made, estimate(x, labeled, method, n_resamples=2))
    noisy = estimate(x, labeled, method, purity=0.7, n_resamples=2)
    assert [noisy.value, noisy.upper] == pytest.approx([0.7 * made.value, 0.7])


@pytest.mark.parametrize("method", DIRECT)
def test_features_of_one_law_refute_no_share(method):
    x = np.random.default_rng(0).normal(0, 1, (400, 2))
    assert estimate(x, np.arange(400) < 150, method, n_resamples=2).value > (
        0.5 if method == "tice" else 0.7  # the largest of many bounds exceeds c by chance
    )


def test_direct_methods_resample_as_often_as_stated():
    x, labeled = data(30, 60)
    made = ht.estimate_prior_from_features(x, labeled, method="tice")
    assert len(made.replicates) == features.FEATURE_RESAMPLES


# --- containers, seeds and errors ---------------------------------------------------------------------


def test_frames_and_masks_of_any_kind():
    options = {"classifier": LogisticRegression(), "n_resamples": 2}
    expected = estimate(**options)
    names = ["a", "b"]
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names), X.tolist()):
        assert_same(estimate(frame, **options), expected)
    for mask in (LABELED.astype(int), LABELED.tolist(), pd.Series(LABELED), pl.Series(LABELED)):
        assert_same(estimate(labeled=mask, **options), expected)


@pytest.mark.parametrize("classifier", [None, LogisticRegression()])
@pytest.mark.parametrize("method", ["auto", "bbe"])
def test_same_seed_same_estimate(classifier, method):
    options = {"method": method, "classifier": classifier, "n_refits": 2}
    made, again, other = (
        estimate(X[:200], LABELED[:200], rng=rng, **options) for rng in (5, np.random.default_rng(5), 6)
    )
    assert_same(made, again)
    assert not np.array_equal(made.replicates, other.replicates)


@pytest.mark.parametrize("method", [*DIRECT, "auto", "bbe"])
def test_two_rows_of_each_kind_are_enough(method):
    made = estimate(X[:4], [True, True, False, False], method, n_resamples=2, n_refits=2)
    assert 0 <= made.value <= 1


@pytest.mark.parametrize("method", [*DIRECT, "auto", "bbe"])
def test_features_that_do_not_vary(method):
    made = estimate(np.ones((40, 2)), np.arange(40) < 15, method, n_resamples=2)
    assert made.upper == 1
    assert made.high > 0.9


@pytest.mark.parametrize(
    ("x", "labeled", "message"),
    [
        (X, LABELED[:-1], r"`labeled` has length 699, `X` has 700 rows\. Pass one value a row"),
        (X[:, 0], LABELED, r"`X` must be two-dimensional, rows by features, got shape \(700,\)"),
        (np.ones((700, 0)), LABELED, r"`X` must be two-dimensional, rows by features, got shape \(700, 0\)"),
        (pd.DataFrame({"a": ["x", "y"]}), [True, False], r"`X` must hold numbers only\. Encode what is not"),
        ([["x"], ["y"]], [True, False], r"`X` must hold numbers only"),
        (np.array([[1.0], [np.nan], [np.inf]]), [1, 0, 0], r"`X` must be finite, got 2 NaN or infinite value\(s\)"),
        (X, LABELED * 2, r"`labeled` must hold True for known positives and False for unlabeled rows"),
        (X, np.full(700, np.nan), r"`labeled` must be finite"),
        (X, np.arange(700) < 1, r"`labeled` marks 1 known positives; at least 2 are needed for held-out scores"),
        (X, np.ones(700, bool), r"`labeled` marks 0 unlabeled rows; at least 2 are needed for held-out scores"),
        (np.empty((0, 2)), [], r"`labeled` marks 0 known positives"),
    ],
)  # fmt: skip
def test_what_are_no_features(x, labeled, message):
    with pytest.raises(ht.InputError, match=message):
        ht.estimate_prior_from_features(x, labeled)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "mixture"}, r'method="mixture" needs known negatives, which features have none of here'),
        ({"method": "forest"}, r"`method` must be one of auto, .*; got 'forest'"),
        ({"method": "sample", "labeled_sample": (1, 2)}, r"`method` must be one of"),
        ({"method": "km2", "within": (0.1, 0.2)}, r"`within` and `labeled_sample` go with method 'auto'"),
        ({"method": "bbe", "within": (0.1, 0.2)}, r"`within` and `labeled_sample` go with method 'auto'"),
        ({"method": "bbe", "labeled_sample": (1, 9)}, r"`within` and `labeled_sample` go with method 'auto'"),
        ({"labeled_sample": (9, 1)}, r"`labeled_sample` has 9 positives among 1 cases"),
        ({"within": (0.5, 0.1)}, r"`within` must satisfy 0 <= low < high <= 1"),
        ({"purity": 0}, r"`purity` must lie in \(0, 1\]"),
        ({"n_refits": -1}, r"`n_refits` must be a whole number of at least 0, got -1"),
        ({"method": "tice", "n_resamples": 1}, r"`n_resamples` must be a whole number of at least 2, got 1"),
        ({"method": "bbe", "n_resamples": 1}, r"`n_resamples` must be a whole number of at least 2, got 1"),
        ({"confidence_level": 2}, r"`confidence_level` must lie in \(0, 1\)"),
        ({"classifier": "logistic"}, r"`classifier` must be a classifier such as .*, got '"),
    ],
)  # fmt: skip
def test_what_is_refused(options, message):
    with pytest.raises(ht.InputError, match=message):
        ht.estimate_prior_from_features(X, LABELED, **options)


@pytest.mark.parametrize("method", DIRECT)
@pytest.mark.parametrize(("value", "name"), [(False, "known positives"), (True, "unlabeled rows")])
def test_both_kinds_of_rows_are_needed_without_a_classifier_too(method, value, name):
    with pytest.raises(
        ht.InputError, match=rf"`labeled` marks 0 {name}; at least 1 are needed for an estimate"
    ):
        estimate(X, np.full(len(X), value), method)


def test_folds_need_a_row_of_each_kind():
    with pytest.raises(
        ht.InputError, match=r"`labeled` marks 4 known positives; at least 5 are needed for held-out"
    ):
        estimate(X, np.arange(700) < 4, classifier=LogisticRegression())


def test_replicates_of_halves_lie_around_the_estimate():
    made = estimate(method="tice", n_resamples=30)
    assert made.replicates.std() > 0
    assert made.replicates.mean() == pytest.approx(made.value, abs=1e-9)
