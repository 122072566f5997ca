"""Propensities from features: known models are found again, and what cannot be known is said."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.special import expit
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import halftruth as ht
from halftruth.prior import _label_models
from halftruth.prior._label_models import Fit, Task
from halftruth.prior._propensity import _notes

N = 4000


def table(slope=1.5, n=N, seed=0):
    """The class hangs on columns 0 and 1, labelling on column 2, which the score sees as well."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    positive = rng.random(n) < expit(-1 + 2 * x[:, 0] + 1.5 * x[:, 1] + 0.8 * x[:, 2])
    e = expit(-0.7 + slope * x[:, 2])
    return x, positive, positive & (rng.random(n) < e), e


X, POSITIVE, KNOWN, E = table()
SCORE = X @ [2, 1.5, 1.5]


def estimate(x=X, known=KNOWN, n_replicates=0, **options):
    return ht.estimate_propensity(x, known, n_replicates=n_replicates, **options)


def auc(**options):
    return ht.roc_auc(ht.PositiveUnlabeled.from_labels(KNOWN.astype(int), SCORE, unlabeled=0, **options))


def task(classifier=None, columns=(2,), **options):
    return Task(X, KNOWN, np.array(columns), classifier, seed=0, **options)


# --- truths -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [{"propensity_columns": [2]}, {}, {"method": "lbe"}, {"method": "lbe", "prior": POSITIVE.mean()}],
)
def test_a_labelling_that_hangs_on_a_column_is_found(options):
    made = estimate(**options)
    # Several hundred labels leave each coefficient of e an error of .1 to .3, and each column that does not
    # matter adds noise: e is off by a few hundredths.
    assert np.corrcoef(made.value, E)[0, 1] > 0.95
    assert np.abs(made.value - E)[KNOWN].mean() < 0.08
    assert made.prior == pytest.approx(POSITIVE.mean(), abs=0.06)
    truth = ht.roc_auc(ht.Labeled(POSITIVE, SCORE))
    scar = abs(auc(prior=POSITIVE.mean()) - truth)
    assert abs(auc(propensity=made.value) - truth) < 0.5 * scar


def test_where_labels_are_a_random_sample_propensities_are_about_equal():
    x, positive, known, e = table(slope=0)
    made = estimate(x, known, propensity_columns=[2], prior=positive.mean())
    # The one coefficient has a standard error near .1, and e (1 − e) = .22.
    assert np.std(made.value) < 0.05
    np.testing.assert_allclose(made.value.mean(), e[0], atol=0.04)


def test_a_known_prior_is_held():
    # Near the mean of e it does not say which of the two models is the class's.
    for prior, status in ((0.35, "not identified"), (0.6, "ok")):
        made = estimate(prior=prior)
        assert made.prior == pytest.approx(prior, abs=0.02)
        assert made.status == status
        assert f"the prior is {prior:g}" in made.assumption


def test_replicates_show_the_error():
    made = estimate(propensity_columns=[2], n_replicates=40)
    assert made.replicates.shape == (40, N)
    # Rows where e is not near 0 or 1: the error is one to three of their standard deviations, whatever the row.
    middle = (E > 0.2) & (E < 0.8)
    ratio = np.abs(made.value - E)[middle].mean() / made.replicates.std(axis=0)[middle].mean()
    assert 0.1 < ratio < 3


@pytest.mark.slow
def test_replicates_cover_the_true_propensity(draws):
    n, held = draws(60), []
    for seed in range(n):
        x, _, known, e = table(seed=seed, n=2000)
        made = estimate(x, known, propensity_columns=[2], n_replicates=60)
        low, high = np.quantile(made.replicates, [0.025, 0.975], axis=0)
        held.append(np.mean((low <= e) & (e <= high)))
    # No promise of 95%: sixty draws gave 85%, for the penalty pulls e to be flat. Rows of one draw go together,
    # so that the share held by a draw has a spread of about .22.
    assert np.mean(held) > 0.85 - 3 * 0.22 / np.sqrt(n)


# --- the mathematics ----------------------------------------------------------------------------------


def test_an_em_step_is_that_of_the_paper():
    z = (X - X.mean(0)) / X.std(0)
    f, e = expit(z[:, 0]), expit(z[:, 2])
    step = task().em_step(Fit(f, e).posterior(KNOWN))

    def logistic(x, target, weight):  # Newton steps for Σ w (t log p + (1 − t) log(1 − p)) − |b|²/2
        a = np.column_stack([np.ones(len(x)), x])
        penalty, b = np.diag([0.0] + [1.0] * x.shape[1]), np.zeros(a.shape[1])
        for _ in range(50):
            p = expit(a @ b)
            b += np.linalg.solve(
                a.T @ (a * (weight * p * (1 - p))[:, None]) + penalty,
                a.T @ (weight * (target - p)) - penalty @ b,
            )
        return expit(a @ b)

    believed = np.where(KNOWN, 1, f * (1 - e) / (1 - f * e))
    np.testing.assert_allclose(
        step.f, logistic(z, believed, np.ones(N)), atol=1e-3
    )  # scikit-learn's tolerance
    np.testing.assert_allclose(step.e, logistic(z[:, [2]], KNOWN, believed), atol=1e-3)


def test_the_maximum_of_the_likelihood_is_where_em_stands_still():
    fit = task().by_em()
    step = task().em_step(fit.posterior(KNOWN))
    np.testing.assert_allclose(step.e, fit.e, atol=2e-3)
    np.testing.assert_allclose(step.f, fit.f, atol=2e-3)


def test_pure_em_goes_there_too():
    # A classifier that is given is fitted by EM alone; it stops where steps are short, which is a little before.
    slow = estimate(classifier=LogisticRegression(), propensity_columns=[2])
    fast = estimate(propensity_columns=[2])
    np.testing.assert_allclose(slow.value, fast.value, atol=0.1)
    assert "LogisticRegression" in slow.assumption


def test_class_and_labelling_can_change_places():
    fit = task(columns=(0, 1, 2)).by_em()
    swapped = np.roll(fit.coefficients, 4)
    again = task(columns=(0, 1, 2)).likeliest(swapped)
    assert again.loss == pytest.approx(fit.loss, rel=1e-6)
    np.testing.assert_allclose(again.e, fit.f, atol=0.02)


def test_the_steeper_model_is_the_class():
    x = np.column_stack([X[:, 2], X[:, 0], X[:, 1]])  # the order of columns does not matter
    np.testing.assert_allclose(estimate(x, method="lbe").value, estimate(method="lbe").value, atol=0.02)
    # A prior that suits both of them, as the mean of e here, does not turn them round.
    made = estimate(method="lbe", prior=POSITIVE.mean())
    assert np.corrcoef(made.value, E)[0, 1] > 0.95


# --- the result ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["sar-em", "lbe"])
def test_the_same_seed_gives_the_same(method):
    one, other, third = (estimate(method=method, n_replicates=3, rng=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.value, other.value)
    np.testing.assert_array_equal(one.replicates, other.replicates)
    assert not np.array_equal(one.replicates, third.replicates)


def test_frames_and_names_of_columns_are_taken():
    plain = estimate(propensity_columns=[2]).value
    for frame in (pd.DataFrame(X, columns=list("abc")), pl.DataFrame(X, schema=list("abc"))):
        np.testing.assert_array_equal(estimate(frame, propensity_columns=["c"]).value, plain)


def test_it_passes_as_propensity():
    made = estimate(propensity_columns=[2])
    assert auc(propensity=made) == auc(propensity=made.value)


def test_some_rows_can_be_taken():
    made = estimate(n_replicates=2)
    some = made.at(KNOWN)
    np.testing.assert_array_equal(some.value, made.value[KNOWN])
    np.testing.assert_array_equal(some.replicates, made.replicates[:, KNOWN])
    assert (some.prior, some.notes, len(some)) == (made.prior, made.notes, KNOWN.sum())
    np.testing.assert_array_equal(made.at([3, 1]).value, made.value[[3, 1]])
    with pytest.raises(ht.InputError, match=r"`mask` must be one truth value for each of 4000 rows"):
        made.at([True, False])


def test_it_is_frozen_short_and_json_ready():
    made = estimate(n_replicates=2)
    with pytest.raises(ValueError, match="read-only"):
        made.value[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        made.replicates[0, 0] = 1
    assert repr(made).startswith("PropensityEstimate(4000 rows, ")
    stored = made.to_dict()
    assert (len(stored["value"]), stored["status"]) == (N, "not identified")
    assert stored["note_kinds"] == ["not_identified"]


def test_what_it_rests_on_is_said():
    assert estimate().status == "not identified"
    assert estimate(propensity_columns=[2]).status == "ok"
    assert estimate(propensity_columns=[2]).notes[0].kind == "assumption"
    assert estimate(method="lbe").assumption.endswith("the class hangs on them more than labelling does")


def test_what_makes_it_weak_is_said():
    few = KNOWN & (np.cumsum(KNOWN) <= 20)
    assert "small_sample" in [note.kind for note in estimate(known=few).notes]
    steep = POSITIVE & (np.random.default_rng(0).random(N) < expit(-2 + 5 * X[:, 2]))
    assert "bias" in [note.kind for note in estimate(known=steep, propensity_columns=[2]).notes]


def test_models_that_contradict_each_other_are_shown():
    half, tenth = np.full(N, 0.5), np.full(N, 0.1)
    share = KNOWN.mean() / 0.1
    (said,) = [
        note for note in _notes(task(), Fit(half, tenth), "sar-em", 0.01) if note.kind == "contradiction"
    ]
    assert f"implies π = 0.5, the known positives by Σ 1/e ÷ n {share:.3g}" in said
    kinds = [note.kind for note in _notes(task(), Fit(np.full(N, share), tenth), "sar-em", 0.01)]
    assert "contradiction" not in kinds


def test_em_that_has_not_settled_is_said(monkeypatch):
    monkeypatch.setattr(_label_models, "MOST_EM_STEPS", 2)
    made = estimate(classifier=GaussianNB())
    assert "sar-em did not converge" in " ".join(made.notes)


def test_any_classifier_with_weights_may_model_the_class(monkeypatch):
    monkeypatch.setattr(_label_models, "MOST_EM_STEPS", 5)
    monkeypatch.setattr(_label_models, "REFIT_STEPS", 2)
    forest = RandomForestClassifier(10, min_samples_leaf=100)
    one, other = (estimate(X[:800], KNOWN[:800], classifier=forest, n_replicates=1) for _ in range(2))
    np.testing.assert_array_equal(one.replicates, other.replicates)  # its own chance is seeded
    assert not hasattr(forest, "classes_")


# --- bad input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "scar"}, "`method` must be 'sar-em' or 'lbe', got 'scar'"),
        ({"n_replicates": -1}, "`n_replicates` must be a whole number of at least 0, got -1"),
        ({"x": X[:, 0]}, "`X` must be two-dimensional"),
        ({"x": np.where(X > 3, np.nan, X)}, "`X` must be finite"),
        ({"known": KNOWN[1:]}, "`labeled` has length 3999"),
        ({"known": KNOWN * 2}, "`labeled` holds"),
        ({"known": np.arange(N) < 3}, "marks 3 known positives; at least 5 are needed"),
        ({"known": np.ones(N, bool)}, "marks 0 unlabeled rows"),
        ({"propensity_columns": [3]}, "`propensity_columns` must name columns of `X`.*got 3"),
        ({"propensity_columns": ["age"]}, "`propensity_columns` must name columns of `X`.*got 'age'"),
        ({"classifier": KNeighborsClassifier()}, "`classifier` must have predict_proba, and sample_weight"),
        ({"classifier": LogisticRegression}, "`classifier` must have predict_proba, and sample_weight"),
        ({"method": "lbe", "propensity_columns": [1]}, '`propensity_columns` goes with method="sar-em"'),
        ({"method": "lbe", "classifier": GaussianNB()}, '`classifier` goes with method="sar-em"'),
        ({"prior": 1.2}, r"`prior` must lie in \(0, 1\), got 1.2"),
        ({"prior": 0.01}, "`prior` must be above the share of the known positives"),
        ({"prior": 0.4, "classifier": GaussianNB()}, "`prior` is held for the default `classifier` only"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(ht.InputError, match=message):
        estimate(**options)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"value": [0.0, 0.5]}, "`value` must be greater than 0"),
        ({"value": [0.5, 1.5]}, r"`value` must lie in \[0, 1\]"),
        ({"replicates": np.ones((2, 3))}, r"`replicates` must have shape \(R, 2\), got shape \(2, 3\)"),
        ({"replicates": np.zeros((1, 2))}, "`replicates` must be greater than 0"),
        ({"prior": 0.0}, r"`prior` must lie in \(0, 1\]"),
    ],
)
def test_an_estimate_that_cannot_be(fields, message):
    with pytest.raises(ht.InputError, match=message):
        ht.PropensityEstimate(**{"value": [0.5, 0.5], "prior": 0.4, **fields})
