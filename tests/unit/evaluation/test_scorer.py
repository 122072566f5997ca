"""Scorers inside scikit-learn's model selection, on positive-unlabeled labels."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable
from typing import Any

import joblib
import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score, cross_validate
from sklearn.svm import LinearSVC

import halftruth as ht
from halftruth import _registry
from halftruth.evaluation._scorer import class_one_scores

RNG = np.random.default_rng(0)
TRUTH = RNG.random(1200) < 0.4
X = np.column_stack([RNG.normal(2.0 * TRUTH), RNG.normal(size=1200)])
KNOWN = TRUTH & (RNG.random(1200) < 0.5)
WEIGHT = RNG.integers(1, 4, 1200).astype(float)
CODES = (0, -1)
FOLDS = StratifiedKFold(3)

CALIBRATION = tuple(name for name in _registry.REGISTRY if name.endswith("calibration_error"))
LOSSES = ("brier", "log_loss", *CALIBRATION, "fpr", "fdr")
GAINS = ("roc_auc", "average_precision", "precision", "f1", "brier_skill", "net_benefit", "recall_at_fpr")


def labels(unlabeled: int) -> np.ndarray:
    return np.where(KNOWN, 1, unlabeled)


def scorer(metric: str, unlabeled: int = 0, **options: Any) -> Any:
    threshold = 0.3 if _registry.get(metric).threshold else None
    return ht.make_scorer(metric, **{"prior": 0.4, "unlabeled": unlabeled, "threshold": threshold} | options)


def direct(metric: str, model: Any, rows: Any, column: int = 1, **options: Any) -> float:
    """The metric of evidence made by hand from the model's probabilities."""
    evidence = ht.PositiveUnlabeled.from_labels(
        KNOWN[rows].astype(int),
        model.predict_proba(X[rows])[:, column],
        unlabeled=0,
        **{"prior": 0.4} | options,
    )
    return float(_registry.get(metric).bind(0.3)(evidence))


# --- the value ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("unlabeled", CODES)
@pytest.mark.parametrize("metric", [*GAINS, *LOSSES])
def test_cross_val_score_gives_the_direct_value_of_each_fold(metric: str, unlabeled: int) -> None:
    y = labels(unlabeled)
    got = cross_val_score(
        LogisticRegression(), X, y, cv=FOLDS, scoring=scorer(metric, unlabeled), error_score="raise"
    )
    for value, (train, test) in zip(got, FOLDS.split(X, y), strict=True):
        expected = direct(metric, LogisticRegression().fit(X[train], y[train]), test)
        assert value == pytest.approx(-expected if metric in LOSSES else expected, rel=1e-12)


@pytest.mark.parametrize("unlabeled", CODES)
def test_grid_search_prefers_the_smaller_loss(unlabeled: int) -> None:
    # C = 1e-5 says nearly the same probability of everyone.
    made, y = scorer("brier", unlabeled), labels(unlabeled)
    grid = {"C": [1.0, 1e-5]}
    search = GridSearchCV(LogisticRegression(), grid, scoring=made, cv=FOLDS, error_score="raise").fit(X, y)
    assert search.best_params_ == {"C": 1.0}
    assert search.cv_results_["mean_test_score"][1] < search.best_score_ < 0
    assert search.score(X, y) == made(search.best_estimator_, X, y)


def test_the_scorer_recovers_the_truth() -> None:
    model = LogisticRegression().fit(X, KNOWN)
    truth = ht.roc_auc(ht.Labeled(TRUTH, model.predict_proba(X)[:, 1]))
    naive = ht.roc_auc(ht.Labeled(KNOWN, model.predict_proba(X)[:, 1]))
    got = scorer("roc_auc")(model, X, labels(0))
    assert abs(got - truth) < 0.02 < truth - naive


def test_purity_population_and_other_parameters_are_passed_on() -> None:
    model = LogisticRegression().fit(X, KNOWN)
    for options in ({"purity": 0.9}, {"population": "unlabeled", "prior": 0.25}, {"prior": (0.3, 0.5)}):
        got = scorer("average_precision", **options)(model, X, labels(0))
        assert got == pytest.approx(direct("average_precision", model, slice(None), **options))
    score = model.predict_proba(X)[:, 1]
    evidence = ht.PositiveUnlabeled.from_labels(KNOWN, score, unlabeled=0, prior=0.4)
    assert scorer("partial_auc", max_fpr=0.3)(model, X, labels(0)) == ht.partial_auc(evidence, max_fpr=0.3)
    assert scorer("fbeta", beta=3.0)(model, X, labels(0)) == ht.fbeta(evidence, 0.3, beta=3.0)
    assert scorer("precision_at_k", k=50)(model, X, labels(0)) == ht.precision_at_k(evidence, 50)


def test_sample_weight() -> None:
    model = LogisticRegression().fit(X, KNOWN)
    got = scorer("f1")(model, X, labels(0), sample_weight=WEIGHT)
    assert got == pytest.approx(direct("f1", model, slice(None), sample_weight=WEIGHT))
    assert got != scorer("f1")(model, X, labels(0))


def test_a_prior_that_the_rows_refute_is_said() -> None:
    model, unlike = LogisticRegression().fit(X, KNOWN), KNOWN | ~TRUTH  # no positive among the unlabeled
    with pytest.warns(UserWarning, match=r"The prior is refuted by the data.*shuffle the folds") as warned:
        assert scorer("roc_auc")(model, X[unlike], labels(0)[unlike]) > 1
    assert len(warned) == 1
    assert 0.9 < scorer("roc_auc")(model, X, labels(0)) < 1  # warnings are errors


def test_recall_needs_no_prior() -> None:
    model = LogisticRegression().fit(X, KNOWN)
    got = scorer("recall", prior=None)(model, X, labels(0))
    assert got == pytest.approx(np.mean(model.predict_proba(X)[KNOWN, 1] >= 0.3))


def test_several_scorers_at_once() -> None:
    scoring = {name: scorer(name) for name in ("roc_auc", "log_loss")}
    out = cross_validate(LogisticRegression(), X, labels(0), cv=FOLDS, scoring=scoring, error_score="raise")
    assert (out["test_roc_auc"] > 0.8).all()
    assert (out["test_log_loss"] < 0).all()


# --- whose score -------------------------------------------------------------------------------------


@pytest.mark.parametrize("unlabeled", [0, -1, 2])
def test_the_column_of_the_positive_class_is_taken(unlabeled: int) -> None:
    y = labels(unlabeled)
    model = LogisticRegression().fit(X, y)
    column = list(model.classes_).index(1)
    assert scorer("roc_auc", unlabeled)(model, X, y) == direct("roc_auc", model, slice(None), column)
    assert scorer("roc_auc", unlabeled)(model, X, y) > 0.8


def test_boolean_classes() -> None:
    model = LogisticRegression().fit(X, KNOWN)
    assert model.classes_.dtype == bool
    assert scorer("brier")(model, X, KNOWN) == pytest.approx(-direct("brier", model, slice(None)))


@pytest.mark.parametrize("unlabeled", [0, -1, 2])
def test_decision_functions_rank(unlabeled: int) -> None:
    # With codes 1 and 2 the decision function is that of 2, the unlabeled: its sign has to be turned.
    y = labels(unlabeled)
    model = LinearSVC().fit(X, y)
    sign = 1 if model.classes_[1] == 1 else -1
    evidence = ht.PositiveUnlabeled.from_labels(
        KNOWN.astype(int), sign * model.decision_function(X), unlabeled=0, prior=0.4
    )
    assert scorer("roc_auc", unlabeled)(model, X, y) == ht.roc_auc(evidence)
    assert ht.roc_auc(evidence) > 0.8


def with_negatives() -> np.ndarray:
    """1 positive, 0 known negative, −1 unlabeled: three classes to a classifier."""
    negative = ~TRUTH & (np.arange(len(X)) % 2 == 0)
    return np.where(KNOWN, 1, np.where(negative, 0, -1))


@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC()], ids=["probabilities", "margins"])
def test_three_classes(model: Any) -> None:
    y = with_negatives()
    model = model.fit(X, y)
    outputs = model.predict_proba(X) if hasattr(model, "predict_proba") else model.decision_function(X)
    evidence = ht.PositiveUnlabeled.from_labels(y, outputs[:, 2], unlabeled=-1, prior=0.4)
    assert scorer("roc_auc", -1)(model, X, y) == ht.roc_auc(evidence)


def test_margins_are_refused_where_probabilities_are_needed() -> None:
    model = LinearSVC().fit(X, KNOWN)
    for metric in ("brier", "log_loss", *CALIBRATION, "net_benefit"):
        with pytest.raises(
            ht.InputError, match=rf"`{metric}` needs probabilities, and LinearSVC has no .*Use a ranking"
        ):
            scorer(metric)(model, X, labels(0))


@pytest.mark.parametrize("loss", ["logistic", "sigmoid", "squared", "ramp", "zero_one", None])
def test_losses_of_a_margin_take_the_margin(loss: str | None) -> None:
    model, told = LogisticRegression().fit(X, KNOWN), {} if loss is None else {"loss": loss}
    margin = ht.PositiveUnlabeled.from_labels(labels(0), model.decision_function(X), unlabeled=0, prior=0.4)
    assert scorer("risk", **told)(model, X, labels(0)) == -ht.risk(margin, **told)
    with pytest.raises(ht.InputError, match=r"DummyClassifier has none\. Use the loss 'log' or 'brier'"):
        scorer("risk", **told)(DummyClassifier().fit(X, KNOWN), X, labels(0))


def test_losses_of_a_probability_take_the_probability() -> None:
    model = LogisticRegression().fit(X, KNOWN)
    for loss, metric in (("log", "log_loss"), ("brier", "brier")):
        assert scorer("risk", loss=loss)(model, X, labels(0)) == scorer(metric)(model, X, labels(0))
        with pytest.raises(ht.InputError, match="`risk` needs probabilities, and LinearSVC has no"):
            scorer("risk", loss=loss)(LinearSVC().fit(X, KNOWN), X, labels(0))


class Ranker(LogisticRegression):
    """One that has no prior, and so no probability."""

    def predict_proba(self, X: Any) -> Any:
        raise ht.NotIdentifiable("no prior")


def test_a_model_without_a_prior_ranks_by_its_margin() -> None:
    model, plain = Ranker().fit(X, KNOWN), LogisticRegression().fit(X, KNOWN)
    assert scorer("roc_auc")(model, X, labels(0)) == scorer("roc_auc")(plain, X, labels(0))
    with pytest.raises(ht.NotIdentifiable, match="no prior"):
        scorer("brier")(model, X, labels(0))


class Detector:
    """An outlier detector with probabilities, and without classes."""

    columns = 2

    def decision_function(self, X: Any) -> Any:
        return X[:, 0]

    def predict_proba(self, X: Any) -> Any:
        return np.column_stack([1 - expit(3 * X[:, 1])] + [expit(3 * X[:, 1])] * (self.columns - 1))


def test_without_classes_the_method_is_that_which_was_asked_for() -> None:
    made = Detector()
    np.testing.assert_array_equal(class_one_scores(made, X, probability=True), expit(3 * X[:, 1]))
    np.testing.assert_array_equal(class_one_scores(made, X, probability=False), X[:, 0])
    np.testing.assert_array_equal(class_one_scores(made, X), expit(3 * X[:, 1]))
    made.columns = 3
    with pytest.raises(ht.InputError, match=r"Detector gives 3 column\(s\) for 2 classes"):
        class_one_scores(made, X)
    forest = IsolationForest(n_estimators=5, random_state=0).fit(X)
    np.testing.assert_array_equal(class_one_scores(forest, X), forest.decision_function(X))
    with pytest.raises(ht.InputError, match=r"IsolationForest has no predict_proba"):
        class_one_scores(forest, X, probability=True)


def test_estimators_that_cannot_score() -> None:
    with pytest.raises(
        ht.InputError, match=r"LinearRegression has neither predict_proba nor decision_function"
    ):
        scorer("roc_auc")(LinearRegression().fit(X, KNOWN), X, labels(0))
    model = LogisticRegression().fit(X, np.where(KNOWN, "yes", "no"))
    with pytest.raises(ht.InputError, match=r"knows the classes \['no', 'yes'\], not 1"):
        scorer("roc_auc")(model, X, labels(0))


# --- manners -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["roc_auc", "f1", "net_benefit"])
def test_copies_and_pickles(metric: str) -> None:
    model, made = LogisticRegression().fit(X, KNOWN), scorer(metric)
    value = made(model, X, labels(0))
    assert copy.deepcopy(made)(model, X, labels(0)) == value
    assert pickle.loads(pickle.dumps(made))(model, X, labels(0)) == value
    search = clone(GridSearchCV(model, {"C": [1.0]}, scoring=made, cv=2)).fit(X, labels(0))
    file = io.BytesIO()
    joblib.dump(search, file)
    file.seek(0)
    assert joblib.load(file).score(X, labels(0)) == search.score(X, labels(0))


def test_in_parallel() -> None:
    runs = [
        cross_val_score(LogisticRegression(), X, labels(0), cv=2, scoring=scorer("f1"), n_jobs=n)
        for n in (1, 2)
    ]
    np.testing.assert_array_equal(*runs)


def test_repr_says_what_it_scores() -> None:
    assert repr(scorer("roc_auc")) == "make_scorer('roc_auc', prior=0.4)"


# scikit-learn turns an error while scoring into a NaN and a warning: what can be refused early, is.
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "unknown": (
        lambda: ht.make_scorer("auc", prior=0.4, unlabeled=0),
        r"no metric 'auc'\. Did you mean .*Known: .*roc_auc",
    ),
    "no direction": (lambda: scorer("prevalence"), r"`prevalence` is neither better high nor low"),
    "no threshold": (lambda: scorer("f1", threshold=None), r"`f1` is a rate at a threshold\. Pass threshold"),
    "NaN threshold": (
        lambda: scorer("f1", threshold=float("nan")),
        r"`threshold` must be a real number, got nan",
    ),
    "no prior": (lambda: scorer("roc_auc", prior=None), r"`roc_auc` needs the class prior\. Pass prior=…"),
    "odds": (lambda: scorer("roc_auc", prior=1.5), r"`prior` must lie in \(0, 1\), got 1\.5\. Pass"),
    "purity": (lambda: scorer("roc_auc", purity=90), r"`purity` must lie in \(0, 1\], got 90\. Pass"),
    "population": (
        lambda: scorer("roc_auc", population="U"),
        r"`population` must be 'unlabeled' or 'all', got 'U'",
    ),
    "no code": (
        lambda: scorer("roc_auc", unlabeled=None),
        r"`unlabeled` must be .*got None\. Pass unlabeled=0",
    ),
    "code 1": (
        lambda: scorer("roc_auc", unlabeled=1),
        r"`unlabeled` must not be 1.*got 1\. Pass unlabeled=0",
    ),
    "parameter": (lambda: scorer("partial_auc", max_tpr=0.1), r"`partial_auc` .*max_tpr"),
    "no k": (lambda: scorer("precision_at_k"), r"`precision_at_k` .*k"),
}


@pytest.mark.parametrize(("call", "message"), REFUSED.values(), ids=REFUSED)
def test_bad_arguments_are_refused_when_the_scorer_is_made(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ht.InputError, match=message):
        call()


def test_a_prior_of_every_fold_is_refused() -> None:
    with pytest.raises(ht.InputError, match=r'A scorer takes no prior="estimate".*Estimate it once'):
        ht.make_scorer("roc_auc", prior="estimate", unlabeled=0)
