"""PositiveConfidenceClassifier: from positives alone to the posterior of a closed form."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.utils.estimator_checks import parametrize_with_checks

import halftruth as ht
from halftruth._errors import InputError
from halftruth.learn._confidence_classifier import PositiveConfidenceClassifier

PRIOR, MEAN = 0.4, np.array([0.6, -0.3])
TRUTH = np.append(2 * MEAN, logit(PRIOR))
"""The line in x that is the logit of the posterior, classes N(±MEAN, I)."""


@pytest.fixture(autouse=True)
def torch(require: Callable[[str], ModuleType]) -> Any:
    return require("torch")


def drawn(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Positives and their confidences."""
    x = np.random.default_rng(seed).normal(MEAN, size=(n, 2))
    return x, expit(x @ TRUTH[:2] + TRUTH[2])


def learner(**settings: Any) -> PositiveConfidenceClassifier:
    return PositiveConfidenceClassifier(**{"device": "cpu", "random_state": 0, "patience": 5} | settings)


def line(model: PositiveConfidenceClassifier) -> np.ndarray:
    at = model.decision_function(np.vstack([np.zeros(2), np.eye(2)]))
    return np.append(at[1:] - at[0], at[0])


X, R = drawn(2000)


def test_exact_confidences_give_the_exact_line() -> None:
    """The risk of each row is least at its own confidence: no sampling error is left at all."""
    told = {"validation_fraction": 0, "weight_decay": 0.0, "batch_size": 10**6, "learning_rate": 0.1}
    np.testing.assert_allclose(line(learner(max_epochs=250, **told).fit(X, R)), TRUTH, atol=5e-3)


def test_noisy_confidences_give_it_within_their_error() -> None:
    """Of ten votes each: the gradient of a row is (1 − σ/r)·x, and its spread gives the line's error."""
    x, r = drawn(20_000, 1)
    rng = np.random.default_rng(2)
    # 1/r̂ with mean 1/r: the risk stays unbiased.
    odds = (1 - r) / r * rng.gamma(10.0, 0.1, len(r))
    told = {"validation_fraction": 0, "weight_decay": 0.0, "batch_size": 10**6, "learning_rate": 0.1}
    found = line(learner(max_epochs=120, **told).fit(x, 1 / (1 + odds)))
    rows = np.column_stack([x, np.ones(len(x))])
    chance = expit(rows @ TRUTH)
    gradient = rows * (-(1 - chance) + odds * chance)[:, None]
    bread = np.linalg.inv((rows * (chance * (1 - chance) / r)[:, None]).T @ rows / len(x))
    error = np.sqrt(np.diag(bread @ np.cov(gradient.T) @ bread) / len(x))
    assert (np.abs(found - TRUTH) < 4 * error).all()
    assert error.max() < 0.05


@pytest.fixture(scope="module")
def default() -> PositiveConfidenceClassifier:
    return learner(max_epochs=60).fit(X, R)


def test_the_default_gives_the_posterior(default: PositiveConfidenceClassifier) -> None:
    model = default
    assert np.abs(model.predict_proba(X)[:, 1] - R).max() < 0.05
    assert model.calibrator_ is None
    assert model.notes_ == ()
    assert model.prior_ == pytest.approx(1 / np.mean(1 / R))
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(model.decision_function(X)))
    risk = model.history_["held_out_risk"]
    assert model.n_epochs_ == int(np.argmin(risk)) + 1


def test_another_loss_is_calibrated() -> None:
    model = learner(loss="sigmoid", max_epochs=40).fit(X, R)
    assert model.calibrator_ is not None
    assert abs(model.predict_proba(X)[:, 1] - R).mean() < 0.05
    # σ(logit) of that loss is far from it.
    assert abs(expit(model.decision_function(X)) - R).mean() > 0.1
    bare = learner(loss="sigmoid", validation_fraction=0, max_epochs=2).fit(X, R)
    assert bare.calibrator_ is None
    assert "not" in bare.notes_[0]


def test_the_prior_is_part_of_the_calibration() -> None:
    """The share of positives that the line implies is the prior told, not that of the confidences."""
    for prior in (0.2, 0.4):
        model = learner(loss="squared", prior=prior, max_epochs=5).fit(X, R)
        assert model.calibrator_ is not None
        assert model.calibrator_.prior_ == pytest.approx(prior)


def test_a_network_learns_a_curve() -> None:
    x = np.random.default_rng(0).uniform(-2, 2, (4000, 1))
    r = np.clip(expit(4 * np.abs(x[:, 0]) - 4), 0.05, 1)
    keep = np.random.default_rng(1).random(4000) < r  # positives of a uniform population
    model = learner(hidden=(20,), learning_rate=0.02, max_epochs=40).fit(x[keep], r[keep])
    assert np.abs(model.predict_proba(x)[:, 1] - r).mean() < 0.05


def test_a_saved_model_is_the_same(tmp_path: Path) -> None:
    model = learner(loss="squared", prior=(0.3, 0.5), max_epochs=5).fit(X, R)
    model.save(tmp_path / "model.npz")
    again = PositiveConfidenceClassifier.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.get_params() == model.get_params()
    assert again.prior_ == model.prior_ == pytest.approx(0.4)


def test_its_scores_are_evidence(default: PositiveConfidenceClassifier) -> None:
    model = default
    x, r = drawn(2000, 7)
    risk = ht.risk(ht.PositiveConfidence(r, model.decision_function(x)))
    best = ht.risk(ht.PositiveConfidence(r, x @ TRUTH[:2] + TRUTH[2]))
    assert best - 1e-9 <= risk < best + 0.005


class OfLabels(PositiveConfidenceClassifier):
    """Reads the labels of scikit-learn's checks as confidences."""

    def fit(self, X: Any, y: Any) -> Any:
        return super().fit(X, y if y is None else np.where(np.asarray(y) == 1, 0.9, 0.2))


CLASSES = "classes_ are 0 and 1, whatever the codes in y"
WORDS = "confidences are read, not labels: any number within (0, 1] is one"
EXPECTED = {
    "check_classifier_not_supporting_multiclass": WORDS,
    "check_classifiers_classes": CLASSES,
    "check_classifiers_regression_target": WORDS,
    "check_supervised_y_no_nan": "here every y is read as a confidence; what r must be is tested below",
}


@parametrize_with_checks(
    [OfLabels(validation_fraction=0, max_epochs=20, device="cpu")],
    expected_failed_checks=lambda estimator: EXPECTED,
)
def test_scikit_learns_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.parametrize(
    ("settings", "r", "message"),
    [
        ({}, np.ones(2000), "`r` is 1 for all 2000 positives"),
        ({}, np.where(np.arange(2000) == 5, 0, R), "greater than 0, got 1 zero"),
        ({}, R + 0.5, "must lie in"),
        (
            {},
            np.where(np.arange(2000) % 1000 == 7, 1e-9, R),
            r"2 value\(s\) below, the first \(1e-09\) in row 7",
        ),
        ({}, np.where(np.arange(2000) == 5, np.nan, R), "NaN"),
        ({}, R[:-1], "inconsistent"),
        ({}, None, "requires y"),
        ({"prior": 1.0}, R, "prior"),
        ({"loss": "hinge"}, R, "`loss` must be"),
        ({"calibration": "plat"}, R, "`calibration` must be"),
        ({"validation_fraction": 0.001}, R, "holds out 2 of 2000"),
    ],
)
def test_bad_input_is_refused(settings: dict[str, Any], r: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        learner(max_epochs=1, **settings).fit(X, r)


def test_a_hole_in_the_features_is_named() -> None:
    x = X.copy()
    x[3, 0] = np.inf
    with pytest.raises(InputError, match="the first in row 3"):
        learner().fit(x, R)
