"""ElkanNoto: weights by Bayes' rule, exact on a discrete law, and honest where they cannot be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.sparse import csr_matrix
from scipy.stats import norm
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import halftruth as ht
from halftruth._errors import InputError
from halftruth.learn._elkan_noto_learner import ElkanNoto, unlabeled_weights

from .label_rules import EXPECTED, MAPPED, OfLabels


@parametrize_with_checks([ElkanNoto(random_state=0)], expected_failed_checks=lambda _: EXPECTED)
def test_it_is_an_estimator_of_scikit_learn(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


class Mapped(OfLabels, ElkanNoto):
    """Takes the labels of scikit-learn's checks."""


@pytest.mark.parametrize("check", MAPPED.values(), ids=list(MAPPED))
def test_checks_with_labels_of_other_codes(check: Callable[[str, Any], None]) -> None:
    check("Mapped", Mapped(prior=0.5, population="unlabeled", cv=3, random_state=0))


def table(n: int = 2000, prior: float = 0.4, share: float = 0.5, seed: int = 0) -> tuple[Any, Any, Any]:
    """Two normal classes two apart in each of two features; a share of the positives is known."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < prior
    X = rng.normal(2.0 * truth[:, None], 1.0, (n, 2))
    return X, (truth & (rng.random(n) < share)).astype(int), truth


def posterior(X: Any, prior: float) -> Any:
    odds = prior / (1 - prior) * np.prod(norm.pdf(X - 2) / norm.pdf(X), axis=1)
    return odds / (1 + odds)


@pytest.mark.parametrize("alpha", [0.05, 0.3, 0.9])
@pytest.mark.parametrize(("n_positive", "n_unlabeled"), [(50, 1000), (900, 300)])
def test_weights_are_the_posterior_of_the_unlabeled_rows(
    alpha: float, n_positive: int, n_unlabeled: int
) -> None:
    f1, f0 = np.array([0.0, 0.1, 0.3, 0.6]), np.array([0.5, 0.3, 0.2, 0.0])
    mixture = alpha * f1 + (1 - alpha) * f0
    g = n_positive * f1 / (n_positive * f1 + n_unlabeled * mixture)
    row = np.repeat(np.arange(4), np.rint(1000 * mixture).astype(int))  # whole numbers
    np.testing.assert_allclose(unlabeled_weights(g[row], alpha), (alpha * f1 / mixture)[row], atol=1e-12)


def test_weights_stay_within_bounds_and_have_the_mean_that_is_asked() -> None:
    rng = np.random.default_rng(0)
    for n in (1, 2, 7, 300):
        for share in (0.01, 0.3, 0.8, 0.99):
            g = rng.beta(0.5, 0.5, n)
            g[rng.random(n) < 0.2] = 0.0
            w = unlabeled_weights(g, share)
            assert ((w >= 0) & (w <= 1)).all()
            if (g > 0).sum() <= share * n:
                np.testing.assert_array_equal(w, g > 0)
                continue
            assert w.mean() == pytest.approx(share)
            below = w < 1
            odds = g / (1 - g)
            factor = np.max(w[below] / np.where(odds[below] > 0, odds[below], 1), initial=0)
            np.testing.assert_allclose(w[below], factor * odds[below], rtol=1e-9)
            assert (factor * odds[~below] >= 1 - 1e-9).all()
    np.testing.assert_array_equal(unlabeled_weights(np.array([0.0, 0.9, 1.0]), 0.0), [0, 0, 0])
    np.testing.assert_array_equal(unlabeled_weights(np.array([0.0, 0.9, 1.0]), 1.0), [0, 1, 1])
    np.testing.assert_allclose(unlabeled_weights(np.array([0.5, 1.0, 1.0]), 1 / 3), [0, 0.5, 0.5], atol=1e-12)


@pytest.mark.parametrize("n_positive", [30, 400])
def test_no_mass_is_lost(n_positive: int) -> None:
    """Cut weights, and known positives above all unlabeled rows, cost .04 to .13 of it before."""
    rng = np.random.default_rng(1)
    truth = rng.random(2000) < 0.3
    X = np.concatenate([rng.normal(1.0, 1.0, (n_positive, 2)), rng.normal(truth[:, None], 1.0, (2000, 2))])
    y = np.repeat([1, 0], [n_positive, 2000])
    model = ElkanNoto(prior=0.3, population="unlabeled", random_state=0).fit(X, y)
    # The mean of a logistic regression's probabilities is that of its labels.
    assert model.predict_proba(X[y == 0])[:, 1].mean() == pytest.approx(0.3, abs=1e-3)


@pytest.mark.parametrize("cv", [2, 5])
def test_no_row_is_scored_by_a_model_that_learned_it(cv: int) -> None:
    """A tree that knows its rows by heart gives the positives among them g = 1, and c = 1."""
    X, y, truth = table()
    model = ElkanNoto(DecisionTreeClassifier(), cv=cv, random_state=0).fit(X, y)
    # Of new positives it gives 1 to those whose neighbour is a known one: half, less where classes overlap.
    assert 0.35 < model.label_frequency_ < y.sum() / truth.sum() + 4 * 0.5 / np.sqrt(y.sum())


@pytest.mark.parametrize("population", ["all", "unlabeled"])
def test_known_negatives_identify_the_prior(population: str) -> None:
    rng = np.random.default_rng(3)
    truth = rng.random(4000) < 0.3
    X = rng.normal(1.5 * truth[:, None], 1.0, (4000, 2))
    known = np.where(rng.random(4000) < np.where(truth, 0.4, 0.2), truth.astype(float), np.nan)
    share = truth.mean() if population == "all" else truth[np.isnan(known)].mean()
    told: Any = {"population": population, "random_state": 0}
    model = ElkanNoto(unlabeled=np.nan, **told).fit(X, known)
    # Ten other draws of 3000 rows: an error of .003 ± .02, and .144 ± .016 by the mean of g.
    assert abs(model.prior_ - share) < 0.06
    assert ElkanNoto(**told).fit(X, (known == 1).astype(int)).prior_ > share + 0.08
    hidden = np.isnan(known)
    assert model.predict_proba(X[hidden])[:, 1].mean() == pytest.approx(truth[hidden].mean(), abs=0.06)


def test_known_negatives_are_scored_by_models_like_the_others() -> None:
    """Each by one model, which has not seen it; no model learns it."""
    X, y, folds = cells(n_negative=45)
    X = np.column_stack([X, np.arange(len(X))])
    seen: list[Any] = []

    class Watched(DecisionTreeClassifier):
        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            seen.append(("fit", X[:, 1]))
            return super().fit(X[:, :1], y, sample_weight)

        def predict_proba(self, X: Any) -> Any:
            seen.append(("score", X[:, 1]))
            return super().predict_proba(X[:, :1])

    ElkanNoto(Watched(), unlabeled=-1, cv=folds, random_state=0).fit(X, y)
    learned, scored = ([rows for what, rows in seen if what == name] for name in ("fit", "score"))
    assert not any(np.isin(np.flatnonzero(y == 0), rows).any() for rows in learned[:5])
    np.testing.assert_array_equal(np.sort(np.concatenate(scored)), np.arange(len(X)))
    assert {int(np.isin(rows, np.flatnonzero(y == 0)).sum()) for rows in scored} == {9}


POSITIVE, UNLABELED = np.array([10, 20, 70]), np.array([150, 100, 100])
"""Rows in each of three cells, all multiples of the five folds."""


def cells(n_negative: int = 0) -> tuple[Any, Any, Any]:
    """One feature, the cell; and folds in which every cell and label is spread evenly."""
    cell = np.concatenate([np.repeat(np.arange(3), POSITIVE), np.repeat(np.arange(3), UNLABELED)])
    label = np.repeat([1, -1], [POSITIVE.sum(), UNLABELED.sum()])
    folds = StratifiedKFold(5).split(cell, 2 * cell + (label == 1))
    X, y = np.append(cell, np.zeros(n_negative)), np.append(label, np.zeros(n_negative))
    return X[:, None].astype(float), y, list(folds)


@pytest.mark.parametrize("population", ["all", "unlabeled"])
@pytest.mark.parametrize("n_negative", [0, 45])
@pytest.mark.parametrize("alpha", [None, 0.25, 0.4])
def test_probabilities_are_exact_on_a_discrete_law(
    population: str, n_negative: int, alpha: float | None
) -> None:
    X, y, folds = cells(n_negative)
    p, u = POSITIVE.sum(), UNLABELED.sum()
    prior = None
    if alpha is not None:
        prior = alpha if population == "unlabeled" else (p + alpha * u) / (p + u + n_negative)
    model = ElkanNoto(
        DecisionTreeClassifier(), prior=prior, population=population, unlabeled=-1, cv=folds, random_state=0
    ).fit(X, y)

    g = POSITIVE / (POSITIVE + UNLABELED)
    implied = alpha
    if implied is None:
        c = (POSITIVE * g).sum() / p
        implied = p / u * (1 - c) / c
        if n_negative:  # all of them in the lowest cell: least squares of F_U − F_N on F_P − F_N
            pooled = POSITIVE / p + UNLABELED / u + np.array([1, 0, 0])
            ours, theirs = np.cumsum(POSITIVE) / p - 1, np.cumsum(UNLABELED) / u - 1
            implied = (pooled * ours * theirs).sum() / (pooled * ours**2).sum()
    c = p / (p + implied * u)
    factor = brentq(
        lambda k: (UNLABELED * np.minimum(1, k * POSITIVE / UNLABELED)).sum() - implied * u, 0, 99
    )
    w = np.minimum(1, factor * POSITIVE / UNLABELED)
    assert alpha is None or factor == pytest.approx(alpha * u / p)  # α f₁ / f
    positive, rows = UNLABELED * w, UNLABELED.astype(float)
    if population == "all":
        positive, rows = positive + POSITIVE, rows + POSITIVE + np.array([n_negative, 0, 0])
        implied = (p + implied * u) / (p + u + n_negative)
    assert model.label_frequency_ == pytest.approx(c)
    assert model.prior_ == pytest.approx(implied)
    proba = model.predict_proba(np.arange(3.0)[:, None])
    np.testing.assert_allclose(proba[:, 1], positive / rows)
    np.testing.assert_array_equal(model.predict(np.arange(3.0)[:, None]), positive / rows > 0.5)


@pytest.mark.parametrize("population", ["all", "unlabeled"])
@pytest.mark.parametrize("share", [0.2, 0.7])
def test_the_default_finds_the_posterior(population: str, share: float) -> None:
    X, y, truth = table(6000, share=share, seed=1)
    prior = float(truth.mean() if population == "all" else truth[y == 0].mean())
    model = ElkanNoto(prior=prior, population=population, random_state=0).fit(X, y)
    assert model.prior_ == pytest.approx(prior)
    assert model.label_frequency_ == pytest.approx(y.sum() / truth.sum())
    # .005 to .02 here; without the isotonic step .03 to .11.
    assert np.abs(model.predict_proba(X)[:, 1] - posterior(X, prior)).mean() < 0.03


def test_the_label_frequency_is_found_where_classes_are_apart() -> None:
    rng = np.random.default_rng(0)
    truth = np.arange(4000) < 1600
    X = rng.normal(8.0 * truth[:, None], 1.0, (4000, 1))
    y = (truth & (rng.random(4000) < 0.3)).astype(int)
    model = ElkanNoto(DecisionTreeClassifier(min_samples_leaf=200), random_state=0).fit(X, y)
    assert model.label_frequency_ == pytest.approx(y.sum() / 1600, abs=0.02)
    assert model.prior_ == pytest.approx(0.4, abs=0.03)


def test_priors_of_every_kind() -> None:
    X, y, _ = table(1000)
    values = {}
    estimate = ht.PriorEstimate(value=0.25, low=0.2, high=0.3)  # of the unlabeled rows
    alpha = (0.4 * 1000 - y.sum()) / (y == 0).sum()
    for name, prior in {
        "number": 0.4,
        "range": (0.3, 0.5),
        "alpha": estimate,
        "estimate": "estimate",
    }.items():
        values[name] = ElkanNoto(prior=prior, random_state=0).fit(X, y)
    assert values["number"].prior_ == values["range"].prior_ == pytest.approx(0.4)
    assert values["number"].label_frequency_ == pytest.approx(y.sum() / (y.sum() + alpha * (y == 0).sum()))
    assert values["alpha"].prior_ == pytest.approx((y.sum() + 0.25 * (y == 0).sum()) / 1000)
    assert values["estimate"].prior_ == pytest.approx(0.4, abs=0.1)


def test_the_seed_decides_and_clones_are_alike() -> None:
    X, y, _ = table(400)
    first = ElkanNoto(DecisionTreeClassifier(max_features=1), random_state=3)
    again = clone(first).fit(X, y)
    first.fit(X, y)
    assert first.label_frequency_ == again.label_frequency_
    assert (first.predict_proba(X) == again.predict_proba(X)).all()


def test_data_frames_keep_their_names() -> None:
    pd = pytest.importorskip("pandas")
    X, y, _ = table(200)
    frame = pd.DataFrame(X, columns=["left", "right"])
    model = ElkanNoto(random_state=0).fit(frame, pd.Series(y))
    assert model.feature_names_in_.tolist() == ["left", "right"]
    assert model.estimator_.feature_names_in_.tolist() == ["left", "right"]
    np.testing.assert_allclose(
        model.predict_proba(frame), ElkanNoto(random_state=0).fit(X, y).predict_proba(X)
    )


def test_sparse_features_change_nothing() -> None:
    X, y, _ = table(300)
    X = np.round(np.maximum(X, 0), 2)
    dense, sparse = (ElkanNoto(random_state=0).fit(rows, y) for rows in (X, csr_matrix(X)))
    assert sparse.label_frequency_ == pytest.approx(dense.label_frequency_, abs=1e-4)
    # The solver's last digits may move a row from one block of the isotonic regression to the next.
    np.testing.assert_allclose(sparse.predict_proba(csr_matrix(X)), dense.predict_proba(X), atol=0.02)


def test_missing_features_where_the_base_takes_them() -> None:
    X, y, _ = table(300)
    X[5, 1] = np.nan
    base = HistGradientBoostingClassifier(max_iter=5)
    assert np.isfinite(ElkanNoto(base, random_state=0).fit(X, y).predict_proba(X)).all()
    with pytest.raises(ValueError, match="NaN"):
        ElkanNoto().fit(X, y)


def test_a_margin_where_the_base_has_one() -> None:
    X, y, _ = table(300)
    model = ElkanNoto(random_state=0).fit(X, y)
    assert ((model.decision_function(X) > 0) == model.predict(X)).all()
    assert not hasattr(ElkanNoto(DecisionTreeClassifier()), "decision_function")
    assert not hasattr(ElkanNoto(DecisionTreeClassifier()).fit(X, y), "decision_function")


@pytest.mark.parametrize(
    ("settings", "y", "message"),
    [
        ({}, [0] * 12, "no positive row"),
        ({}, [1] * 12, "no unlabeled row"),
        ({}, [1] + [0] * 11, "at least 2 known positive rows, got 1"),
        ({}, [0] + [1] * 11, "at least 2 unlabeled rows, got 1"),
        ({}, [2, 2] + [1, 0] * 5, "1 for known positives and 0 for unlabeled rows; got 2 in 2"),
        ({}, [1] * 3 + [0] * 9, "Pass cv=3"),
        ({"prior": 0.3}, [1, 0] * 6, r"`prior` must lie in \[0.5, 1\]"),
        ({"prior": 0.0}, [1, 0] * 6, "`prior`"),
        ({"population": "some"}, [1, 0] * 6, "`population` must be"),
        ({"estimator": LogisticRegression}, [1, 0] * 6, "`estimator` must be a classifier"),
        (
            {"estimator": KNeighborsClassifier()},
            [1, 0] * 6,
            "must take weights.*KNeighborsClassifier takes no",
        ),
        (
            {"estimator": make_pipeline(StandardScaler(), KNeighborsClassifier())},
            [1, 0] * 6,
            "must take weights.*KNeighborsClassifier takes no",
        ),
        ({"estimator": LinearSVC()}, [1, 0] * 6, "no predict_proba"),
    ],
)
def test_what_is_wrong_is_said(settings: dict[str, Any], y: list[int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ElkanNoto(**settings).fit(np.arange(12.0)[:, None], y)


def test_known_positives_that_score_no_higher_leave_no_negatives() -> None:
    # All rows are alike, and a model without a positive gives it less: c is too low for any negative.
    y = np.repeat([1, 0], [7, 13])
    with pytest.raises(InputError, match="At the prior 1 no unlabeled row is left that could be negative"):
        ElkanNoto(random_state=0).fit(np.zeros((20, 1)), y)
