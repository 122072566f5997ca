"""BaggedPU: who holds out whom, what the scores are, and what it says of probabilities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from joblib import parallel_config
from scipy.sparse import csr_matrix
from scipy.stats import norm
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import halftruth as ht
from halftruth._errors import InputError, NotIdentifiable
from halftruth.learn._bagged_pu import TURNS, BaggedPU, Bags
from halftruth.learn._learner import Strata

from .label_rules import EXPECTED, MAPPED, OfLabels

OWN = {
    "check_classifiers_train": "decision_function ranks; its zero is no cut, for that needs a prior",
    "check_decision_proba_consistency": "probabilities are a mean of three calibrated scores",
}
# A prior of two samples, which no counts rule out.
TWO_SAMPLES: Any = {"n_estimators": 6, "prior": 0.1, "population": "unlabeled", "random_state": 0}


@parametrize_with_checks(
    [BaggedPU(**TWO_SAMPLES)],
    expected_failed_checks=lambda _: EXPECTED | OWN,
)
def test_it_is_an_estimator_of_scikit_learn(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


class Mapped(OfLabels, BaggedPU):
    """Takes the labels of scikit-learn's checks."""


@pytest.mark.parametrize("check", MAPPED.values(), ids=list(MAPPED))
def test_checks_with_labels_of_other_codes(check: Callable[[str, Any], None]) -> None:
    check("Mapped", Mapped(**TWO_SAMPLES))


class Memory(ClassifierMixin, BaseEstimator):
    """Scores 1 for a row it was trained on, else 0; a row is known by its first feature."""

    def fit(self, X: Any, y: Any) -> Memory:
        self.classes_, self.rows_, self.labels_ = np.unique(y), X[:, 0], y
        return self

    def predict_proba(self, X: Any) -> Any:
        seen = np.isin(X[:, 0], self.rows_).astype(float)
        return np.column_stack([1 - seen, seen])


def table(n: int = 1200, prior: float = 0.4, share: float = 0.5, seed: int = 0) -> tuple[Any, Any, Any]:
    """Two normal classes two apart in each of two features; a share of the positives is known."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < prior
    X = rng.normal(2.0 * truth[:, None], 1.0, (n, 2))
    return X, (truth & (rng.random(n) < share)).astype(int), truth


def strata(n_positive: int, n_unlabeled: int, n_negative: int) -> Strata:
    code = np.random.default_rng(0).permutation(np.repeat([0, 1, 2], [n_positive, n_unlabeled, n_negative]))
    return Strata(code == 0, code == 1, code == 2)


@pytest.mark.parametrize("sizes", [(9, 30, 0), (10, 29, 4), (2, 2, 1), (50, 7, 60)])
@pytest.mark.parametrize("most", [None, 4])
def test_every_round_holds_out_each_row_once_and_bags_are_alike(
    sizes: tuple[int, int, int], most: Any
) -> None:
    made = strata(*sizes)
    bags = Bags.of(made, most, seed=3)
    shape = set()
    for model in range(0, 4 * TURNS, TURNS):
        held = []
        for turn in range(TURNS):
            bag, held_out = bags(model + turn)
            assert not set(bag) & set(held_out)
            assert len(set(bag)) == len(bag)
            shape.add(tuple(int(mask[bag].sum()) for mask in (made.positive, made.unlabeled, made.negative)))
            held.extend(held_out)
        assert sorted(held) == list(range(sum(sizes)))
    ((positive, unlabeled, negative),) = shape
    assert positive == sizes[0] - np.ceil(sizes[0] / 3) >= 1
    assert unlabeled == min(positive if most is None else most, sizes[1] - np.ceil(sizes[1] / 3)) >= 1
    assert negative == min(positive, sizes[2] - np.ceil(sizes[2] / 3))


def test_rounds_and_bags_differ() -> None:
    bags = Bags.of(strata(30, 60, 0), None, seed=0)
    assert len({tuple(sorted(bags(model)[0])) for model in range(12)}) == 12
    assert len({tuple(bags(model)[1]) for model in range(12)}) == 12


def test_no_row_is_scored_by_a_model_that_learned_it() -> None:
    X = np.arange(90.0)[:, None]
    y = (np.arange(90) < 30).astype(int)
    model = BaggedPU(Memory(), n_estimators=30, random_state=0).fit(X, y)
    assert (model.oob_scores_ == 0).all()
    # Each positive is in two bags of three; of 40 unlabeled rows within reach 20 are drawn.
    score = model.decision_function(X)
    np.testing.assert_allclose(score[:30], 2 / 3)
    assert score[30:].mean() == pytest.approx(1 / 3)
    assert all(each.labels_[each.rows_ < 30].all() for each in model.estimators_)
    assert not any(each.labels_[each.rows_ >= 30].any() for each in model.estimators_)


@pytest.mark.parametrize("n_estimators", [3, 10])
def test_out_of_bag_scores_are_means_over_the_models_that_held_out(n_estimators: int) -> None:
    X, y, _ = table(100)
    X = np.column_stack([np.arange(100.0), X])
    recorded = BaggedPU(Memory(), n_estimators=n_estimators, random_state=1).fit(X, y)
    model = BaggedPU(LogisticRegression(), n_estimators=n_estimators, random_state=1).fit(X, y)
    scores = np.full((n_estimators, len(y)), np.nan)
    parts = Bags.of(Strata(y == 1, y == 0, y == 2), None, np.random.RandomState(1).randint(2**31 - 1))
    for k, (fitted, memory) in enumerate(zip(model.estimators_, recorded.estimators_, strict=True)):
        held_out = parts(k)[1]
        assert not np.isin(held_out, memory.rows_).any()
        scores[k, held_out] = fitted.predict_proba(X[held_out])[:, 1]
    np.testing.assert_allclose(model.oob_scores_, np.nanmean(scores, axis=0))
    np.testing.assert_allclose(
        model.decision_function(X),
        np.mean([each.predict_proba(X)[:, 1] for each in model.estimators_], axis=0),
    )


def test_the_seed_alone_decides() -> None:
    X, y, _ = table(200)
    first = BaggedPU(n_estimators=9, random_state=5).fit(X, y)
    other = BaggedPU(n_estimators=9, random_state=6).fit(X, y)
    for again in (clone(first), clone(first).set_params(n_jobs=3)):
        with parallel_config(backend="threading"):
            again.fit(X, y)
        assert (again.oob_scores_ == first.oob_scores_).all()
        assert (again.decision_function(X) == first.decision_function(X)).all()
    assert (other.oob_scores_ != first.oob_scores_).any()


def test_default_scores_seldom_tie_and_rank_hidden_positives_well() -> None:
    X, y, truth = table()
    model = BaggedPU(random_state=0).fit(X, y)
    assert len(np.unique(model.oob_scores_)) > 0.5 * len(y)
    hidden = (y == 0) & truth
    best = ht.roc_auc(
        ht.Labeled(truth[y == 0], X[y == 0].sum(axis=1))
    )  # the likelihood ratio rises with the sum
    found = ht.roc_auc(ht.Labeled(hidden[y == 0], model.oob_scores_[y == 0]))
    assert found > best - 0.03


def test_evidence_is_that_of_the_out_of_bag_scores() -> None:
    X, y, truth = table()
    model = BaggedPU(n_estimators=30, prior=0.4, random_state=0).fit(X, y)
    own = ht.PositiveUnlabeled.from_labels(y, model.oob_scores_, prior=0.4, unlabeled=0)
    assert ht.roc_auc(model.evidence()) == ht.roc_auc(own)
    others = {"prior": 0.3, "purity": 0.9, "population": "unlabeled"}
    other = ht.PositiveUnlabeled.from_labels(y, model.oob_scores_, unlabeled=0, **others)
    assert ht.roc_auc(model.evidence(**others)) == ht.roc_auc(other)
    auc = ht.evaluate(model.evidence(), ["roc_auc"])["roc_auc"]
    assert auc.low < ht.roc_auc(ht.Labeled(truth, model.oob_scores_)) < auc.high


def posterior(X: Any, prior: float) -> Any:
    odds = prior / (1 - prior) * np.prod(norm.pdf(X - 2) / norm.pdf(X), axis=1)
    return odds / (1 + odds)


@pytest.mark.parametrize("base", [None, LinearSVC(C=0.1), LogisticRegression()])
@pytest.mark.parametrize("population", ["all", "unlabeled"])
def test_probabilities_are_those_of_being_positive(base: Any, population: str) -> None:
    X, y, truth = table(4000, seed=1)
    prior = float(truth.mean() if population == "all" else truth[y == 0].mean())
    model = BaggedPU(base, n_estimators=30, prior=prior, population=population, random_state=0).fit(X, y)
    X, y, truth = table(4000, seed=2)
    if population == "unlabeled":
        X, truth = X[y == 0], truth[y == 0]
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert (model.predict(X) == (proba[:, 1] >= 0.5)).all()
    # Four draws gave .014 to .033 with trees, .003 to .018 with lines; uncalibrated scores have .06 and .1.
    assert ht.calibration_error(ht.Labeled(truth, proba[:, 1]), n_bins=10) < (0.045 if base is None else 0.03)
    if base is not None:  # a line is the right model here
        assert np.abs(proba[:, 1] - posterior(X, prior)).mean() < 0.03


@pytest.mark.parametrize("n_estimators", [3, 10])
def test_probabilities_are_means_of_what_the_calibrator_knows(n_estimators: int) -> None:
    """It was fitted on means of one model of each round: those of all models would be another law."""
    X, y, _ = table(300)
    model = BaggedPU(LogisticRegression(), n_estimators=n_estimators, prior=0.4, random_state=0).fit(X, y)
    assert model.prior_ == pytest.approx(0.4)
    scores = np.array([each.predict_proba(X)[:, 1] for each in model.estimators_])
    turns = [model.calibrator_.predict(scores[turn::3].mean(axis=0)) for turn in range(3)]
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], np.mean(turns, axis=0))


def test_probabilities_of_few_models_are_spread_as_they_should_be() -> None:
    """The slope of the truth on their logit, 1 if calibrated; by the mean of all models it was 5.5."""
    slopes = []
    for seed in range(8):
        X, y, _ = table(800, seed=seed)
        fresh, _, truth = table(3000, seed=900 + seed)
        model = BaggedPU(n_estimators=3, prior=0.4, random_state=seed).fit(X / 2, y)
        p = np.clip(model.predict_proba(fresh / 2)[:, 1], 1e-6, 1 - 1e-6)
        slopes.append(LogisticRegression(C=1e6).fit(np.log(p / (1 - p))[:, None], truth).coef_[0, 0])
    assert 0.7 < np.median(slopes) < 2.5


def test_without_a_prior_it_ranks_only() -> None:
    X, y, _ = table(200)
    model = BaggedPU(n_estimators=6, random_state=0).fit(X, y)
    assert model.prior_ is model.calibrator_ is None
    assert model.decision_function(X).shape == (200,)
    for call in (model.predict_proba, model.predict):
        with pytest.raises(NotIdentifiable, match=r"Pass BaggedPU\(prior=…\)"):
            call(X)
    with pytest.raises(NotIdentifiable):
        ht.roc_auc(model.evidence())


@pytest.mark.parametrize("code", [-1, np.nan])
def test_known_negatives_join_the_bags_and_identify_the_prior(code: float) -> None:
    X, y, truth = table(3000, seed=2)
    known = (np.random.default_rng(0).random(3000) < 0.2) & ~truth
    labels = np.where(y == 1, 1.0, np.where(known, 0.0, code))
    model = BaggedPU(n_estimators=30, unlabeled=code, random_state=0).fit(X, labels)
    assert repr(model.evidence()).count(f"{known.sum()} negative") == 1
    assert model.prior_ == model.evidence().measure().prior == pytest.approx(truth.mean(), abs=0.06)
    fresh, _, hidden = table(4000, seed=3)
    assert ht.calibration_error(ht.Labeled(hidden, model.predict_proba(fresh)[:, 1]), n_bins=10) < 0.045
    memory = BaggedPU(Memory(), n_estimators=3, unlabeled=code, random_state=0)
    memory.fit(np.column_stack([np.arange(3000.0), X]), labels)
    for each in memory.estimators_:
        rows = each.rows_.astype(int)
        assert (each.labels_ == (labels[rows] == 1)).all()
        assert np.isin(rows, np.flatnonzero(known)).sum() == known.sum() - np.ceil(known.sum() / 3)


def test_negatives_that_score_like_positives_identify_no_prior() -> None:
    y = np.repeat([1, 0, -1], 10)
    model = BaggedPU(n_estimators=6, unlabeled=-1, random_state=0).fit(np.zeros((30, 1)), y)
    assert model.calibrator_ is None
    with pytest.raises(NotIdentifiable):
        model.predict(np.zeros((1, 1)))


def test_negatives_may_put_the_prior_beyond_one() -> None:
    """Then they identify none; the model ranks all the same."""
    X, y, truth = table(150)
    labels = np.where(y == 1, 1, np.where(truth, -1, 0))  # every unlabeled row is positive
    model = BaggedPU(n_estimators=6, unlabeled=-1, population="unlabeled", random_state=0).fit(X, labels)
    assert model.evidence().measure().prior > 1
    assert model.prior_ is model.calibrator_ is None


def test_errors_of_the_calibration_are_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Any, evidence: Any) -> Any:
        raise InputError("broken")

    X, y, truth = table(300)
    labels = np.where(y == 1, 1, np.where(~truth & (np.arange(300) % 3 == 0), 0, -1))
    monkeypatch.setattr("halftruth.learn._bagged_pu.Calibrator.fit", broken)
    with pytest.raises(InputError, match="broken"):
        BaggedPU(n_estimators=6, unlabeled=-1, random_state=0).fit(X, labels)


def test_data_frames_keep_their_names() -> None:
    pd = pytest.importorskip("pandas")
    X, y, _ = table(120)
    frame = pd.DataFrame(X, columns=["left", "right"])
    model = BaggedPU(n_estimators=6, random_state=0).fit(frame, pd.Series(y))
    assert model.feature_names_in_.tolist() == ["left", "right"]
    assert model.estimators_[0].feature_names_in_.tolist() == ["left", "right"]
    plain = BaggedPU(n_estimators=6, random_state=0).fit(X, y)
    assert (model.oob_scores_ == plain.oob_scores_).all()
    with pytest.raises(ValueError, match="feature names"):
        model.decision_function(frame.rename(columns={"left": "other"}))


def test_sparse_features_where_the_base_takes_them() -> None:
    X, y, _ = table(120)
    X = np.round(np.maximum(X, 0), 2)
    for base in (None, LogisticRegression()):
        dense = BaggedPU(base, n_estimators=6, random_state=0).fit(X, y)
        sparse = BaggedPU(base, n_estimators=6, random_state=0).fit(csr_matrix(X), y)
        np.testing.assert_allclose(sparse.oob_scores_, dense.oob_scores_, rtol=1e-6)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        BaggedPU(HistGradientBoostingClassifier(), n_estimators=3).fit(csr_matrix(X), y)


def test_missing_features_where_the_base_takes_them() -> None:
    X, y, _ = table(120)
    X[5, 1] = np.nan
    assert np.isfinite(BaggedPU(n_estimators=6, random_state=0).fit(X, y).oob_scores_).all()
    for base in (LogisticRegression(), make_pipeline(StandardScaler(), LogisticRegression())):
        with pytest.raises(ValueError, match="NaN"):
            BaggedPU(base, n_estimators=6).fit(X, y)


@pytest.mark.parametrize(
    ("settings", "y", "message"),
    [
        ({}, [0] * 8, r"no positive row \(no 1\).*Mark known positives by 1"),
        ({}, [1] * 8, r"no unlabeled row \(no 0\).*ordinary classifier.*name it: unlabeled"),
        ({}, [1] + [0] * 7, "at least 2 known positive rows, got 1"),
        ({}, [0] + [1] * 7, "at least 2 unlabeled rows, got 1"),
        ({}, [2, 2, 1, 1, 0, 0, 0, 0], "1 for known positives and 0 for unlabeled rows; got 2 in 2"),
        ({}, [1, np.nan, 0, 0, 1, 0, 1, 0], r"both 0 \(4 rows\) and NaN \(1\).*Pass unlabeled=np.nan if 0"),
        ({"n_estimators": 2}, [1] * 4 + [0] * 4, "`n_estimators` must be a whole number of at least 3"),
        ({"max_unlabeled": 0}, [1] * 4 + [0] * 4, "`max_unlabeled` must be a whole number of at least 1"),
        ({"prior": 0.3}, [1] * 4 + [0] * 4, r"`prior` must lie in \[0.5, 1\]"),
        ({"prior": 1.3}, [1] * 4 + [0] * 4, "`prior`"),
        ({"population": "some"}, [1] * 4 + [0] * 4, "`population` must be"),
        ({"unlabeled": 1}, [1] * 4 + [0] * 4, "`unlabeled` must not be 1"),
        ({"estimator": LogisticRegression}, [1] * 4 + [0] * 4, "`estimator` must be a classifier"),
        ({"estimator": LinearRegression()}, [1] * 4 + [0] * 4, "neither predict_proba nor decision_function"),
    ],
)
def test_what_is_wrong_is_said(settings: dict[str, Any], y: list[int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        BaggedPU(**settings).fit(np.arange(8.0)[:, None], y)


def test_rows_and_labels_must_match() -> None:
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        BaggedPU().fit(np.zeros((8, 1)), [1, 1, 0, 0, 0])
