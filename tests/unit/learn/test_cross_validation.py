"""Evidence from out-of-fold scores: equal to a loop by hand, honest about hidden labels, clear about bad input."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from threading import current_thread, main_thread
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import parallel_config
from scipy import sparse, stats
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import IsolationForest, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import halftruth as ht
from halftruth.learn._cross_validation import FoldScores, cross_val_evidence, splits

N = 400
PRIOR = 0.4


def drawn(rng: np.random.Generator, n: int = N, shift: float = 1.5) -> tuple[Any, Any, Any]:
    """Features, the truth, and labels: 1 for half of the positives, 0 for the rest."""
    truth = rng.random(n) < PRIOR
    X = rng.normal(size=(n, 3))
    X[:, 0] += shift * truth
    return X, truth, (truth & (rng.random(n) < 0.5)).astype(int)


X, TRUTH, Y = drawn(np.random.default_rng(0))
STRATA = np.where(Y == 1, 1.0, np.where(~TRUTH & (np.arange(N) % 3 == 0), 0.0, np.nan))
"""With a third of the negatives known."""
WEIGHT = np.random.default_rng(1).integers(1, 4, N).astype(float)
MODEL = LogisticRegression()
FOLDS = StratifiedKFold(4, shuffle=True, random_state=3)


def by_hand(
    model: Any, method: str, labels: Any = Y, cv: Any = FOLDS, strata: Any = Y, **fit: Any
) -> np.ndarray:
    """Out-of-fold scores of class 1, fold by fold."""
    out = np.full(N, np.nan)
    for train, test in cv.split(X, strata):
        own = clone(model).fit(X[train], labels[train], **{name: w[train] for name, w in fit.items()})
        scores = getattr(own, method)(X[test])
        out[test] = scores if scores.ndim == 1 else scores[:, list(own.classes_).index(1)]
    return out


def evidence(score: Any, y: Any = Y, unlabeled: Any = 0, prior: Any = PRIOR, **told: Any) -> Any:
    return ht.PositiveUnlabeled.from_labels(y, score, unlabeled=unlabeled, prior=prior, **told)


def cross(
    model: Any = MODEL, X: Any = X, y: Any = Y, unlabeled: Any = 0, prior: Any = PRIOR, **told: Any
) -> Any:
    return cross_val_evidence(model, X, y, unlabeled=unlabeled, prior=prior, **told)


def assert_same(one: ht.PositiveUnlabeled, other: ht.PositiveUnlabeled) -> None:
    assert one.population == other.population
    assert list(one.table.strata) == list(other.table.strata)
    for name, rows in one.table.strata.items():
        np.testing.assert_array_equal(rows.score, other.table.strata[name].score)
        np.testing.assert_array_equal(rows.weight, other.table.strata[name].weight)
    assert (one.prior.value, one.purity.value) == (other.prior.value, other.purity.value)


class Learner(ClassifierMixin, BaseEstimator):
    """Reads partial labels in its own code, as the learners of halftruth.learn do; keeps what it was given."""

    given: list[Any] = []  # noqa: RUF012  # of all copies

    def __init__(self, unlabeled: Any = 0, population: str = "all") -> None:
        self.unlabeled = unlabeled
        self.population = population

    def fit(self, X: Any, y: Any) -> Learner:
        self.given.append(np.asarray(y))
        self.classes_ = np.asarray([0, 1])
        self.coef_ = X[y == 1].mean(axis=0) - X[y != 1].mean(axis=0)
        return self

    def decision_function(self, X: Any) -> Any:
        return X @ self.coef_


@pytest.fixture
def given() -> list[Any]:
    Learner.given.clear()
    return Learner.given


# --- The scores ----------------------------------------------------------------------------------


MODELS: dict[str, tuple[Any, str]] = {
    "probabilities": (MODEL, "predict_proba"),
    "margins": (LinearSVC(), "decision_function"),
    "pipeline": (make_pipeline(StandardScaler(), MODEL), "predict_proba"),
    "search": (GridSearchCV(MODEL, {"C": [0.01, 1.0]}, cv=3, scoring="roc_auc"), "predict_proba"),
    "forest": (RandomForestClassifier(5, random_state=0), "predict_proba"),
    "outliers": (IsolationForest(n_estimators=5, random_state=0), "decision_function"),
}


@pytest.mark.parametrize(("model", "method"), MODELS.values(), ids=MODELS)
def test_the_scores_are_those_of_a_loop_over_the_folds(model: Any, method: str) -> None:
    assert_same(cross(model, cv=FOLDS), evidence(by_hand(model, method)))


@pytest.mark.parametrize("method", ["predict_proba", "decision_function"])
def test_the_method_that_is_named_is_taken(method: str) -> None:
    assert_same(cross(cv=FOLDS, method=method), evidence(by_hand(MODEL, method)))


def test_the_score_of_a_row_knows_nothing_of_its_label() -> None:
    """What makes known positives score as hidden ones do."""
    cv = list(FOLDS.split(X, Y))
    row = int(np.flatnonzero(Y)[0])
    hidden = np.where(np.arange(N) == row, 0, Y)
    score, other = (np.full(N, np.nan) for _ in range(2))
    for out, y in ((score, Y), (other, hidden)):
        strata = cross(y=y, cv=cv).table.strata
        out[y == 1], out[y == 0] = strata["positive"].score, strata["unlabeled"].score
    (own,) = [test for _, test in cv if row in test]
    np.testing.assert_array_equal(score[own], other[own])
    assert (np.delete(score, own) != np.delete(other, own)).all()


def test_shares_and_population_are_those_of_the_evidence() -> None:
    score = by_hand(MODEL, "predict_proba")
    for told in (
        {"purity": 0.9},
        {"population": "unlabeled"},
        {"prior": (0.3, 0.5)},
        {"prior": None},
        {"prior": ht.PriorEstimate(value=0.3, replicates=[0.2, 0.3, 0.4])},
    ):
        assert_same(cross(cv=FOLDS, **told), evidence(score, **told))


def test_the_prior_is_estimated_from_the_scores() -> None:
    got = cross(cv=FOLDS, prior="estimate").prior
    assert got.value == evidence(by_hand(MODEL, "predict_proba"), prior="estimate").prior.value
    assert got.replicates is not None


@pytest.mark.parametrize("unlabeled", [None, -1, 2])
def test_known_negatives_are_zeros_to_a_plain_classifier(unlabeled: Any) -> None:
    y = STRATA if unlabeled is None else np.where(np.isnan(STRATA), unlabeled, STRATA)
    strata = np.where(np.isnan(STRATA), 0, np.where(STRATA == 0, 2, 1))
    score = by_hand(MODEL, "predict_proba", strata=strata)
    assert_same(cross(y=y, cv=FOLDS, unlabeled=unlabeled), evidence(score, STRATA, unlabeled=None))


# --- The folds -----------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 5, 10])
def test_folds_hold_the_same_share_of_every_stratum(k: int) -> None:
    strata = np.where(np.isnan(STRATA), 0, np.where(STRATA == 0, 2, 1))
    counts = np.asarray([np.bincount(strata[test], minlength=3) for _, test in splits(k, X, strata, None, 0)])
    assert counts.shape == (k, 3)
    assert counts.sum(axis=0).tolist() == np.bincount(strata).tolist()
    assert (np.ptp(counts, axis=0) <= 1).all()


def test_the_folds_are_those_of_the_seed() -> None:
    assert_same(cross(rng=1), cross(rng=np.random.default_rng(1)))
    with pytest.raises(AssertionError):
        assert_same(cross(rng=1), cross(rng=2))


def test_few_negatives_need_not_be_in_every_fold() -> None:
    y = np.where(Y == 1, 1.0, np.nan)
    y[np.flatnonzero(~TRUTH)[:2]] = 0
    assert (
        repr(cross(y=y, unlabeled=None))
        == f"PositiveUnlabeled({Y.sum()} positive, {N - Y.sum() - 2} unlabeled, 2 negative)"
    )


def test_a_group_stays_in_one_fold() -> None:
    groups = np.repeat(np.arange(N // 4), 4).astype(str)
    held = [set(groups[test]) for _, test in splits(5, X, Y, groups, 0)]
    assert sum(map(len, held)) == len(set(groups)) == len(set.union(*held))
    assert_same(cross(groups=groups, rng=4), cross(groups=pd.Series(groups), rng=4))
    for cv in (GroupKFold(3), LeaveOneGroupOut()):
        five = np.arange(N) % 5
        score = np.full(N, np.nan)
        for train, test in cv.split(X, Y, five):
            score[test] = clone(MODEL).fit(X[train], Y[train]).predict_proba(X[test])[:, 1]
        assert_same(cross(cv=cv, groups=five), evidence(score))


def test_pairs_of_rows_and_masks() -> None:
    expected = cross(cv=FOLDS)
    pairs = list(FOLDS.split(X, Y))
    assert_same(cross(cv=pairs), expected)
    assert_same(cross(cv=iter(pairs)), expected)
    rows = np.arange(N)
    assert_same(cross(cv=[(np.isin(rows, train), np.isin(rows, test)) for train, test in pairs]), expected)


NOT_ONCE: dict[str, tuple[Any, str]] = {
    "repeated": (
        RepeatedStratifiedKFold(n_splits=2, n_repeats=2),
        r"scores 400 row\(s\) more than once, the first at index 0\. Use",
    ),
    "left out": (TimeSeriesSplit(3), r"scores 100 row\(s\) not at all, the first at index 0\. Use"),
    "seen": (
        [(np.arange(N), np.arange(N))],
        r"Fold 1 of 1 trains on 400 row\(s\) that it scores, the first at index 0",
    ),
    "empty": ([(np.arange(N), np.arange(0))], r"Fold 1 of 1 scores no row"),
    "no splitter": (object(), r"`cv` must be a number of folds, a splitter or pairs .*got <object"),
    "word": ("five", r"`cv` must be a whole number of at least 2, got 'five'"),
    "one": (1, r"`cv` must be a whole number of at least 2, got 1"),
    "none": (None, r"`cv` must be a whole number of at least 2, got None"),
    "fraction": (2.5, r"`cv` must be a whole number of at least 2, got 2\.5"),
}


@pytest.mark.parametrize(("cv", "message"), NOT_ONCE.values(), ids=NOT_ONCE)
def test_every_row_is_scored_once_by_a_model_that_has_not_seen_it(cv: Any, message: str) -> None:
    with pytest.raises(ht.InputError, match=message):
        cross(cv=cv)


def test_rows_left_out_by_chance() -> None:
    with pytest.raises(ht.InputError, match=r"more than once"):
        cross(cv=ShuffleSplit(20, random_state=0))


def test_too_few_known_positives_are_never_spread_in_silence() -> None:
    three = np.where(np.cumsum(Y) <= 3, Y, 0)
    with pytest.raises(ht.InputError, match=r"`cv`=5 folds need 5 known positive rows, got 3\. Pass cv=3"):
        cross(y=three)
    assert len(cross(y=three, cv=3).table.strata["positive"]) == 3
    one = np.where(np.cumsum(Y) <= 1, Y, 0)
    with pytest.raises(ht.InputError, match=r"got 1\. One cannot be both learned from and scored"):
        cross(y=one)
    few = np.ones(N)
    few[:4] = np.nan
    with pytest.raises(ht.InputError, match=r"`cv`=5 folds need 5 unlabeled rows, got 4\. Pass cv=4"):
        cross(y=few, unlabeled=None, prior=None)


def test_a_fold_without_positives_to_learn_from() -> None:
    ordered = np.argsort(-Y, kind="stable")
    with pytest.raises(
        ht.InputError, match=r"Fold 1 of 2 trains on no known positive row\. Use fewer folds, or"
    ):
        cross(X=X[ordered], y=Y[ordered], cv=KFold(2))
    with pytest.raises(ht.InputError, match=r"`cv`=5 folds need 5 groups, got 2"):
        cross(groups=np.arange(N) % 2)
    # All positives in one group: the model of the others has none.
    with pytest.raises(ht.InputError, match=r"trains on no known positive row"):
        cross(groups=np.where(Y == 1, 0, 1 + np.arange(N) % 7), cv=3)


# --- Learners, which read the labels themselves --------------------------------------------------


@pytest.mark.parametrize("code", [0, -1, np.nan, None])
@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("inside", [lambda x: x, lambda x: make_pipeline(StandardScaler(), x)])
def test_a_learner_gets_its_own_code(given: list[Any], code: Any, named: bool, inside: Any) -> None:
    value = np.nan if code is None else code
    y = np.where(np.isnan(STRATA), value, STRATA) if code != 0 else Y
    got = cross(inside(Learner(code)), y=y, unlabeled=code if named else None, cv=3)
    for labels in given:
        assert set(np.unique(labels)) <= {1.0, 0.0, value} or np.isnan(value)
        np.testing.assert_array_equal(np.unique(labels), np.unique(y))
    assert len(given) == 3
    assert ("negative" in got.table.strata) == (code != 0)


def test_a_learner_in_a_search_gets_its_own_code(given: list[Any]) -> None:
    search = GridSearchCV(
        Learner(-1),
        {"population": ["all"]},
        cv=2,
        scoring=ht.make_scorer("roc_auc", prior=PRIOR, unlabeled=-1),
    )
    cross(search, y=np.where(Y == 1, 1, -1), unlabeled=-1, cv=2)
    assert all(set(np.unique(labels)) == {1, -1} for labels in given)


def test_labels_that_contradict_the_learner_are_refused() -> None:
    with pytest.raises(ht.InputError, match=r"`unlabeled` is 0 here and -1 in Learner\. Pass both the code"):
        cross(Learner(-1), unlabeled=0)
    with pytest.raises(ht.InputError, match=r"`unlabeled` is -1 here and nan in Learner"):
        cross(make_pipeline(StandardScaler(), Learner(np.nan)), unlabeled=-1)
    with pytest.raises(ht.InputError, match=r"`population` is 'all' here and 'unlabeled' in Learner"):
        cross(Learner(population="unlabeled"))
    assert cross(Learner(population="unlabeled"), population="unlabeled").population == "unlabeled"


@pytest.mark.parametrize("code", [0, -1])
def test_missing_labels_of_any_kind_are_the_code(given: list[Any], code: int) -> None:
    y = [None if known == 0 and (k % 2 or code == 0) else int(known) or code for k, known in enumerate(Y)]
    got = cross(Learner(code), y=y, unlabeled=None, rng=2)
    assert_same(got, cross(Learner(code), y=np.where(Y == 1, 1, code), unlabeled=None, rng=2))
    assert all(set(np.unique(labels)) == {code, 1} for labels in given)


def test_zeros_beside_missing_labels_are_not_taken_for_unlabeled() -> None:
    """Known negatives, most likely: a learner whose code is 0 would lose them in silence."""
    with pytest.raises(ht.InputError, match=r"both 0 .*Pass unlabeled=np\.nan if 0 is a known negative, or"):
        cross(Learner(), y=STRATA)
    assert "negative" in cross(Learner(np.nan), y=STRATA, unlabeled=None).table.strata


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.zeros(N), r"no positive row \(no 1\), so there is nothing to learn from\. Mark known"),
        (np.ones(N), r"no unlabeled row \(no 0\)\. An ordinary classifier learns full labels; if another"),
        (2 * Y - 1, r"1 for known positives and 0 for unlabeled rows; got -1 in \d+ row.*or name the code"),
        (Y[1:], r"`y` has length 399"),
    ],
)
def test_labels_are_refused_in_the_words_of_learners(given: list[Any], y: Any, message: str) -> None:
    with pytest.raises(ht.InputError, match=message):
        cross(Learner(), y=y, unlabeled=None, prior=None)
    assert given == []


class Unsure(Learner):
    """Has no probability where it learns the first row."""

    def fit(self, X: Any, y: Any) -> Unsure:
        self.sure_ = not (X == FIRST).all(axis=1).any()
        return super().fit(X, y)

    def predict_proba(self, X: Any) -> Any:
        if not self.sure_:
            raise ht.NotIdentifiable("no prior")
        p = stats.norm.cdf(self.decision_function(X))
        return np.column_stack([1 - p, p])


FIRST = X[0]


def test_all_folds_score_by_one_method() -> None:
    """One fold in four holds the first row out, and could say probabilities."""
    got = cross(Unsure(), cv=FOLDS)
    assert_same(got, evidence(by_hand(Learner(), "decision_function")))
    with pytest.raises(ht.NotIdentifiable, match=r"^Fold \d of 4: no prior$"):
        cross(Unsure(), cv=FOLDS, method="predict_proba")


class Changing(ClassifierMixin, BaseEstimator):
    """A search that finds a classifier with probabilities in some folds, in others one with margins."""

    def fit(self, X: Any, y: Any) -> Any:
        self.best_ = (LinearSVC() if (X == FIRST).all(axis=1).any() else LogisticRegression()).fit(X, y)
        self.classes_ = self.best_.classes_
        return self

    def __getattr__(self, name: str) -> Any:
        if name not in ("predict_proba", "decision_function") or "best_" not in vars(self):
            raise AttributeError(name)
        return getattr(self.best_, name)


def test_methods_that_no_fold_shares_are_refused() -> None:
    with pytest.raises(ht.InputError, match=r"score by different methods.*fold \d: predict_proba"):
        cross(Changing(), cv=FOLDS)
    assert cross(Changing(), cv=FOLDS, method="decision_function").table.support.score.min() < 0


def test_an_error_names_its_fold() -> None:
    """The prior is possible for all rows, and not for those of each fold."""
    truth = np.arange(60) < 20
    x, y = np.random.default_rng(0).normal(truth[:, None], 1.0, (60, 2)), truth.astype(int)
    folds = [(np.arange(60) % 20 != k, np.arange(60) % 20 == k) for k in range(20)]
    learner = ht.learn.ElkanNoto(prior=1 / 3, cv=2, random_state=0)
    assert cross_val_evidence(learner, x, y, prior=1 / 3, cv=folds).prior.value == 1 / 3
    folds[1] = (folds[1][0] & (np.arange(60) < 58), folds[1][1])
    with pytest.raises(ht.InputError, match=r"^Fold 2 of 20: `prior` must lie in \[0\.3"):
        cross_val_evidence(learner, x, y, prior=1 / 3, cv=folds)


# --- Confidences ---------------------------------------------------------------------------------


class Confident(ClassifierMixin, BaseEstimator):
    """Learns from the confidences of positives, as PositiveConfidenceClassifier does."""

    learns_from = "confidences"

    def fit(self, X: Any, y: Any) -> Confident:
        self.classes_, self.mean_ = np.asarray([0, 1]), np.average(X, axis=0, weights=y)
        return self

    def decision_function(self, X: Any) -> Any:
        return X @ self.mean_


R = stats.norm.cdf(X[:, 0] + 1)


@pytest.mark.parametrize("inside", [lambda x: x, lambda x: make_pipeline(StandardScaler(with_mean=False), x)])
def test_confidences_give_their_evidence(inside: Any) -> None:
    model, cv = inside(Confident()), KFold(4, shuffle=True, random_state=1)
    got = cross_val_evidence(model, X, R, prior=0.5, cv=cv)
    assert isinstance(got, ht.PositiveConfidence)
    assert got.prior.value == 0.5
    np.testing.assert_allclose(got.confidences[0], R)
    expected = by_hand(model, "decision_function", R, cv)
    np.testing.assert_array_equal(got.table.strata["positive"].score, expected)
    assert len(cross_val_evidence(model, X, R).table.strata["positive"]) == N


@pytest.mark.parametrize("told", [{"unlabeled": 0}, {"purity": 0.9}, {"population": "unlabeled"}])
def test_confidences_come_without_unlabeled_rows(told: dict[str, Any]) -> None:
    (name,) = told
    with pytest.raises(ht.InputError, match=rf"`{name}` was given, and Confident learns from .*Leave it out"):
        cross_val_evidence(Confident(), X, R, **told)
    with pytest.raises(ht.InputError, match="`r` must lie in"):
        cross_val_evidence(Confident(), X, R + 1)
    with pytest.raises(ht.InputError, match="`cv`=5 folds need 5 known positive rows, got 3"):
        cross_val_evidence(Confident(), X[:3], R[:3])


def test_the_confidence_learner_of_this_package(require: Callable[[str], Any]) -> None:
    require("torch")
    rng = np.random.default_rng(0)
    x = rng.normal(0.5, 1.0, (600, 1))  # positives; negatives lie around −½
    learner = ht.learn.PositiveConfidenceClassifier(random_state=0, max_epochs=30)
    got = cross_val_evidence(learner, x, 1 / (1 + np.exp(-x[:, 0])), prior=0.5, cv=3)
    assert 0 < got.table.support.score.min() < got.table.support.score.max() < 1
    assert ht.roc_auc(got) == pytest.approx(stats.norm.cdf(np.sqrt(0.5)), abs=0.04)


@pytest.mark.parametrize("code", [0, -1])
@pytest.mark.parametrize(
    ("name", "told"),
    [("BaggedPU", {"n_estimators": 15}), ("ElkanNoto", {}), ("PUClassifier", {"max_epochs": 20})],
)
def test_the_learners_of_this_package(
    name: str, told: dict[str, Any], code: int, require: Callable[[str], Any]
) -> None:
    """Each gets its labels in a pipeline, and gives probabilities."""
    if name == "PUClassifier":
        require("torch")
    X, truth, y = drawn(np.random.default_rng(11), 600, shift=2.5)
    if code == -1:
        y = np.where(y == 1, 1, np.where(~truth & (np.arange(600) % 4 == 0), 0, -1))
    learner = getattr(ht.learn, name)(prior=PRIOR, unlabeled=code, random_state=0, **told)
    got = cross_val_evidence(make_pipeline(StandardScaler(), learner), X, y, prior=PRIOR, cv=3)
    assert ("negative" in got.table.strata) == (code == -1)
    assert 0 <= got.table.support.score.min() < got.table.support.score.max() <= 1
    assert ht.roc_auc(got) > 0.85


def test_a_learner_without_a_prior_ranks() -> None:
    learner = ht.learn.BaggedPU(n_estimators=15, random_state=0)
    got = cross(learner, cv=FOLDS)
    assert_same(got, evidence(by_hand(learner, "decision_function")))
    assert_same(got, cross(learner, cv=FOLDS, method="decision_function"))
    with pytest.raises(ht.NotIdentifiable, match="prior"):
        cross(learner, cv=FOLDS, method="predict_proba")


# --- Weights, containers, processes --------------------------------------------------------------


WEIGHED: dict[str, tuple[Any, str]] = {
    "plain": (MODEL, "sample_weight"),
    "pipeline": (make_pipeline(StandardScaler(), MODEL), "logisticregression__sample_weight"),
    "search": (GridSearchCV(MODEL, {"C": [0.01, 1.0]}, cv=3), "sample_weight"),
    "search of a pipeline": (
        GridSearchCV(make_pipeline(StandardScaler(), MODEL), {"logisticregression__C": [0.01, 1.0]}, cv=3),
        "logisticregression__sample_weight",
    ),
}


@pytest.mark.parametrize(("model", "key"), WEIGHED.values(), ids=WEIGHED)
def test_weights_are_for_training_and_for_the_evidence(model: Any, key: str) -> None:
    got = cross(model, cv=FOLDS, sample_weight=WEIGHT)
    assert_same(got, evidence(by_hand(model, "predict_proba", **{key: WEIGHT}), sample_weight=WEIGHT))
    with pytest.raises(AssertionError):
        assert_same(got, evidence(by_hand(model, "predict_proba"), sample_weight=WEIGHT))


@pytest.mark.parametrize(
    "model", [KNeighborsClassifier(), make_pipeline(StandardScaler(), KNeighborsClassifier()), Learner()]
)
def test_weights_are_never_dropped_in_silence(model: Any) -> None:
    with pytest.raises(
        ht.InputError,
        match=r"`sample_weight` was given, and (KNeighborsClassifier|Learner) takes no sample_weight in",
    ):
        cross(model, sample_weight=WEIGHT)


TABLES: dict[str, Callable[[Any], Any]] = {
    "pandas": lambda x: pd.DataFrame(x, columns=list("abc"), index=np.arange(N)[::-1]),
    "polars": lambda x: pl.DataFrame(x, schema=list("abc")),
    "csr": sparse.csr_matrix,
    "csc": sparse.csc_array,
    "list": lambda x: x.tolist(),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_features_in_any_container(table: Callable[[Any], Any]) -> None:
    model = LogisticRegression(solver="liblinear")
    got, expected = cross(model, X=table(X), cv=FOLDS), cross(model, cv=FOLDS)
    for name, rows in got.table.strata.items():
        np.testing.assert_allclose(rows.score, expected.table.strata[name].score, rtol=1e-5)


def test_names_of_columns_reach_the_estimator() -> None:
    class Named(LogisticRegression):
        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            assert list(X.columns) == list("abc")
            return super().fit(X, y, sample_weight)

    cross(Named(), X=TABLES["pandas"](X), y=pd.Series(Y, index=np.arange(N)[::-1]), cv=2)


def test_the_number_of_workers_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads start at once; the scorer that they call is pickled, as it would be for processes."""
    score, workers = FoldScores.__call__, set()

    def elsewhere(scores: FoldScores, *told: Any) -> Any:
        workers.add(current_thread())
        return score(pickle.loads(pickle.dumps(scores)), *told)

    expected = cross(n_jobs=None)
    monkeypatch.setattr(FoldScores, "__call__", elsewhere)
    with parallel_config("threading"):
        assert_same(cross(n_jobs=2), expected)
    assert workers
    assert main_thread() not in workers


@pytest.mark.slow
def test_processes_change_nothing() -> None:
    assert_same(cross(n_jobs=2, cv=2), cross(n_jobs=None, cv=2))


def test_the_estimator_stays_as_it_was() -> None:
    model = RandomForestClassifier(3, random_state=7)
    cross(model)
    assert not hasattr(model, "classes_")
    assert model.random_state == 7


def test_silent_where_no_one_watches(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("halftruth.learn._cross_validation.LONG", 0)
    cross()
    assert capfd.readouterr() == ("", "")


def test_progress_on_a_terminal(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("halftruth.learn._cross_validation.LONG", 0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    cross()
    assert "Cross-validation" in capfd.readouterr().err


# --- Bad input -----------------------------------------------------------------------------------


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "class": ({"model": LogisticRegression}, r"`estimator` must be a classifier .*Pass an instance"),
    "word": ({"model": "forest"}, r"`estimator` must be a classifier .*got 'forest'"),
    "regressor": (
        {"model": LinearRegression()},
        r"LinearRegression has neither predict_proba nor decision_function",
    ),
    "no margin": (
        {"model": KNeighborsClassifier(), "method": "decision_function"},
        r"KNeighborsClassifier has no decision_function",
    ),
    "no probability": (
        {"model": LinearSVC(), "method": "predict_proba"},
        r"LinearSVC has no predict_proba, so it gives no prob",
    ),
    "method": ({"method": "predict"}, r"`method` must be 'auto' or 'predict_proba' or .*got 'predict'"),
    "lengths": ({"y": Y[1:]}, r"`y` has length 399, but the rows it belongs to number 400"),
    "groups": ({"groups": [1, 2]}, r"`groups` must have one value for each of 400 rows, got shape \(2,\)"),
    "weights": ({"sample_weight": -WEIGHT}, r"`sample_weight` must not be negative"),
    "no code": ({"unlabeled": None}, r"no unlabeled row.*If 0 means unlabeled, pass unlabeled=0"),
    "code 1": ({"unlabeled": 1}, r"`unlabeled` must not be 1"),
    "no positive": ({"y": np.zeros(N)}, r"`y` has no positive row"),
    "all labeled": ({"y": TRUTH, "unlabeled": -1}, r"`y` has no unlabeled row"),
    "words": ({"y": np.where(Y == 1, "yes", "no")}, r"`y` must hold a number"),
    "prior": ({"prior": 1.2}, r"`prior` must lie in \(0, 1\), got 1\.2"),
    "low prior": ({"prior": 0.01}, r"what the counts allow"),
    "purity": ({"purity": 0.0}, r"`purity` must lie in \(0, 1\]"),
    "population": ({"population": "U"}, r"`population` must be 'unlabeled' or 'all', got 'U'"),
}


@pytest.mark.parametrize(("told", "message"), BAD.values(), ids=BAD)
def test_bad_input(told: dict[str, Any], message: str) -> None:
    with pytest.raises(ht.InputError, match=message):
        cross(**told)


def test_shares_are_refused_before_training(given: list[Any]) -> None:
    for told in ({"prior": 0.01}, {"prior": 2}, {"purity": 0.1}, {"population": "U"}):
        with pytest.raises(ht.InputError):
            cross(Learner(population=told.get("population", "all")), **told)
    assert given == []


# --- From model to truth -------------------------------------------------------------------------


@pytest.mark.parametrize("model", [MODEL, make_pipeline(StandardScaler(), LinearSVC())], ids=["logit", "svm"])
def test_intervals_hold_the_auc_of_the_hidden_labels(model: Any) -> None:
    n_draws, held = 20, 0
    for seed in range(n_draws):
        X, truth, y = drawn(np.random.default_rng(seed), 2000)
        cv = StratifiedKFold(5, shuffle=True, random_state=seed)
        got = ht.evaluate(cross(model, X=X, y=y, cv=cv), "roc_auc", n_resamples=200)["roc_auc"]
        score = np.empty(len(y))
        for train, test in cv.split(X, y):
            score[test] = clone(model).fit(X[train], y[train]).decision_function(X[test])
        hidden = ht.roc_auc(ht.Labeled(truth, score))
        assert got.naive is not None
        assert got.naive < hidden - 0.05
        held += got.low <= hidden <= got.high
    assert held >= stats.binom.ppf(0.001, n_draws, 0.95)


def test_calibration_and_report(tmp_path: Any) -> None:
    X, _, y = drawn(np.random.default_rng(5), 3000)
    raw = cross(X=X, y=y)
    calibrated = ht.cross_calibrate(raw, "beta")
    # P(labeled) is about half of P(positive) here.
    assert ht.calibration_error(calibrated) < ht.calibration_error(raw) / 2
    calibrator = ht.Calibrator("beta").fit(raw)
    model = clone(MODEL).fit(X, y)
    fresh, hidden, _ = drawn(np.random.default_rng(6), 5000)
    shown = calibrator.predict(model.predict_proba(fresh)[:, 1])
    assert abs(shown.mean() - PRIOR) < 0.03
    assert ht.log_loss(ht.Labeled(hidden, shown)) < ht.log_loss(
        ht.Labeled(hidden, model.predict_proba(fresh)[:, 1])
    )
    page = tmp_path / "report.html"
    ht.evaluate(calibrated, n_resamples=50).to_html(page)
    assert "roc_auc" in page.read_text()


def test_calibrating_inside_and_outside_agree_on_the_ranking() -> None:
    """CalibratedClassifierCV gives an SVM the probability of being labeled, one scale for all folds."""
    X, _, y = drawn(np.random.default_rng(8), 2000)
    inside = cross(CalibratedClassifierCV(LinearSVC(), cv=3), X=X, y=y)
    assert ht.roc_auc(inside) == pytest.approx(ht.roc_auc(cross(LinearSVC(), X=X, y=y)), abs=0.02)
    assert inside.table.support.score.max() <= 1


@pytest.mark.slow
@pytest.mark.parametrize("population", ["all", "unlabeled"])
def test_intervals_cover_the_auc_of_the_models_in_the_population(
    population: str, draws: Callable[[int], int]
) -> None:
    """Rows that no one had, each scored by one of the fold's models: the truth that an interval is about."""
    n_draws, level, held = draws(400), 0.95, 0
    for seed in range(n_draws):
        rng = np.random.default_rng([9, seed])
        X, _, y = drawn(rng, 1000)
        if population == "unlabeled":  # 200 known positives from elsewhere
            X = np.concatenate([X, rng.normal([1.5, 0, 0], 1, (200, 3))])
            y = np.repeat([0, 1], [1000, 200])
        cv = StratifiedKFold(5, shuffle=True, random_state=seed)
        got = ht.evaluate(cross(X=X, y=y, cv=cv, population=population), "roc_auc", n_resamples=300)[
            "roc_auc"
        ]
        fresh, truth, _ = drawn(rng, 20_000)
        score = np.empty(len(fresh))
        for k, (train, _) in enumerate(cv.split(X, y)):
            score[k::5] = clone(MODEL).fit(X[train], y[train]).predict_proba(fresh[k::5])[:, 1]
        held += got.low <= ht.roc_auc(ht.Labeled(truth, score)) <= got.high
    # Two-sided, one in a thousand by chance.
    low, high = stats.binom.ppf([0.0005, 0.9995], n_draws, level)
    assert low <= held <= high


def test_folds_in_the_order_of_the_classes_are_told() -> None:
    """The rows of each fold are a share of all where they are shuffled, and of one class where they are not."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold

    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 600)
    X = rng.normal(size=(1200, 2)) + 1.5 * y[:, None]
    known = np.where((y == 1) & (rng.random(1200) < 0.4), 1.0, np.nan)

    def evidence(cv):
        return ht.cross_val_evidence(LogisticRegression(), X, known, prior=0.5, cv=cv)

    with pytest.warns(UserWarning, match=r"rows of fold .* refute the prior of all\. .* shuffle the folds"):
        evidence(StratifiedKFold(5))
    evidence(StratifiedKFold(5, shuffle=True, random_state=0))  # warns of nothing: warnings are errors here
