"""PUClassifier: it finds the optimum, reads priors as evidence does, and says what it cannot do."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import halftruth as ht
from halftruth._errors import InputError, NotIdentifiable
from halftruth.learn._pu_classifier import PUClassifier
from halftruth.learn._risk_weights import balanced_eta

from .label_rules import EXPECTED, MAPPED, OfLabels

Require = Callable[[str], ModuleType]
PRIOR = 0.4
MEAN = np.array([1.0, -0.5])


@pytest.fixture(autouse=True)
def torch(require: Require) -> Any:
    return require("torch")


def drawn(n: int, seed: int = 0, *, known: float = 0.5, negatives: float = 0.0) -> tuple[Any, Any, Any]:
    """Rows of two Gaussians at ±MEAN, the truth, and labels: 1 known positive, 0 known negative, −1."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < PRIOR
    x = rng.normal(np.where(truth[:, None], MEAN, -MEAN))
    told = rng.random(n) < np.where(truth, known, negatives)
    return x, truth, np.where(told, truth, -1)


def learner(**settings: Any) -> PUClassifier:
    usual: dict[str, Any] = {"prior": PRIOR, "unlabeled": -1, "device": "cpu", "random_state": 0}
    return PUClassifier(**usual | settings)


def line(model: PUClassifier) -> np.ndarray:
    """Weights of the features as they came, and the constant."""
    at = model.decision_function(np.vstack([np.zeros(model.n_features_in_), np.eye(model.n_features_in_)]))
    return np.append(at[1:] - at[0], at[0])


@pytest.fixture(scope="module")
def default() -> PUClassifier:
    """The default on the rows below."""
    return learner().fit(X, Y)


# --- The optimum ---------------------------------------------------------------------------------

X, TRUTH, Y = drawn(2000)
WHOLE: dict[str, Any] = {
    "correction": "none",
    "validation_fraction": 0,
    "weight_decay": 0.0,
    "batch_size": 10**6,
    "learning_rate": 0.1,
    "max_epochs": 250,
}
"""Steps on all rows at once: no noise, and near the optimum."""


def least_risk(x: np.ndarray, y: np.ndarray, prior: float, population: str) -> np.ndarray:
    """The least unbiased logistic risk, −π mean_P(g) + mean(log(1 + e^g)), by another optimiser."""
    of = x if population == "all" else x[y == -1]
    mean = np.append(x[y == 1].mean(axis=0), 1.0)
    rows = np.column_stack([of, np.ones(len(of))])

    def risk(w: np.ndarray) -> tuple[float, np.ndarray]:
        g = rows @ w
        return np.logaddexp(0, g).mean() - prior * mean @ w, rows.T @ expit(g) / len(g) - prior * mean

    return np.asarray(minimize(risk, np.zeros(3), jac=True, method="L-BFGS-B", tol=1e-12).x)


@pytest.mark.parametrize("population", ["all", "unlabeled"])
def test_a_linear_model_reaches_the_optimum_of_the_convex_risk(population: str) -> None:
    alpha = PRIOR if population == "all" else TRUTH[Y == -1].mean()
    model = learner(population=population, prior=alpha, **WHOLE).fit(X, Y)
    np.testing.assert_allclose(line(model), least_risk(X, Y, alpha, population), atol=2e-3)


def test_the_posterior_of_two_gaussians_is_found() -> None:
    truth = np.append(2 * MEAN, logit(PRIOR))
    n_known, n = 4000, 20_000
    rows = np.column_stack([drawn(n, 99)[0], np.ones(n)])
    known = np.column_stack([np.random.default_rng(98).normal(MEAN, size=(n_known, 2)), np.ones(n_known)])
    x, y = np.vstack([known, rows])[:, :2], np.repeat([1, -1], [n_known, n])
    model = learner(population="unlabeled", **WHOLE | {"max_epochs": 120}).fit(x, y)
    # The sandwich of the risk: curvature⁻¹ · variance of the gradient · curvature⁻¹.
    chance = expit(rows @ truth)
    bread = np.linalg.inv((rows * (chance * (1 - chance))[:, None]).T @ rows / n)
    meat = np.cov((rows * chance[:, None]).T) / n + PRIOR**2 * np.cov(known.T) / n_known
    error = np.sqrt(np.diag(bread @ meat @ bread))
    assert (np.abs(line(model) - truth) < 3.5 * error).all()
    assert error.max() < 0.2


def test_the_default_is_near_the_bayes_rule(default: PUClassifier) -> None:
    x, truth, _ = drawn(20_000, 1)
    model = default
    best = (x @ (2 * MEAN) + logit(PRIOR) >= 0) == truth
    assert (model.predict(x) == truth).mean() > best.mean() - 0.02
    evidence = ht.Labeled(truth, model.predict_proba(x)[:, 1])
    assert abs(model.predict_proba(x)[:, 1].mean() - PRIOR) < 0.04
    assert ht.calibration_error(evidence, debias=True) < 0.06


def test_noisy_positives_are_corrected() -> None:
    x, truth, y = drawn(6000, 2)
    rng = np.random.default_rng(0)
    wrong = rng.choice(np.flatnonzero(~truth), int((y == 1).sum() / 3), replace=False)
    y = y.copy()
    y[wrong] = 1  # a quarter of the known positives are none
    purity = truth[y == 1].mean()
    blind, aware = (learner(purity=rho, **WHOLE | {"max_epochs": 120}).fit(x, y) for rho in (1.0, purity))
    want = np.append(2 * MEAN, logit(PRIOR))
    assert np.abs(line(aware) - want).max() < 0.3 < np.abs(line(blind) - want).max()


# --- The network ---------------------------------------------------------------------------------


def few() -> tuple[np.ndarray, np.ndarray]:
    """Fewer rows than a network can tell apart."""
    x, _, y = drawn(160, 3)
    return np.column_stack([x, np.random.default_rng(0).normal(size=(160, 20))]), y


@pytest.mark.parametrize("loss", ["logistic", "sigmoid"])
def test_the_training_risk_falls_below_zero_only_without_correction(loss: str) -> None:
    x, y = few()
    told = {"hidden": (60,), "loss": loss, "validation_fraction": 0, "max_epochs": 40, "learning_rate": 0.02}
    free, kept = (learner(correction=c, **told).fit(x, y) for c in ("none", "non-negative"))
    assert min(free.history_["training_risk"]) < 0
    assert min(kept.history_["training_risk"]) >= 0


def test_a_network_learns_what_no_line_can() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (2000, 2))
    truth = x[:, 0] * x[:, 1] > 0
    y = np.where(truth & (rng.random(2000) < 0.5), 1, 0)
    told = {"prior": truth.mean(), "device": "cpu", "random_state": 0}
    model = PUClassifier((30,), learning_rate=0.03, max_epochs=40, **told).fit(x, y)
    assert (model.predict(x) == truth).mean() > 0.9
    assert [weight.shape for weight, _ in model.layers_] == [(2, 30), (30, 1)]


def test_what_is_watched_is_the_risk_without_correction() -> None:
    """Positives far above all others: a corrected risk stops at zero."""
    rng = np.random.default_rng(0)
    far = np.where(np.arange(400) < 200, 1.0, -1.0) + 0.01 * rng.normal(size=400)
    labels = np.where(far > 0, 1, -1)
    model = learner(population="unlabeled", learning_rate=0.1, max_epochs=30).fit(far[:, None], labels)
    assert min(model.history_["held_out_risk"]) < 0
    assert min(model.history_["training_risk"]) >= 0


def test_the_pass_of_the_least_held_out_risk_is_kept() -> None:
    x, y = few()
    model = learner(hidden=(60,), learning_rate=0.01, patience=7).fit(x, y)
    risk = model.history_["held_out_risk"]
    assert model.n_epochs_ == int(np.argmin(risk)) + 1 == len(risk) - 7
    assert len(model.history_["training_risk"]) == len(risk)


# --- Probabilities -------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["platt", "beta", "isotonic", "temperature", None])
def test_probabilities_keep_the_order_of_the_logits(method: str | None) -> None:
    model = learner(calibration=method, max_epochs=3).fit(X, Y)
    score, probability = model.decision_function(X), model.predict_proba(X)
    order = np.argsort(score)
    assert (np.diff(probability[order, 1]) >= 0).all()
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    np.testing.assert_array_equal(model.predict(X), probability[:, 1] >= 0.5)
    assert (model.calibrator_ is None) == (method is None)
    if method is None:
        np.testing.assert_allclose(probability[:, 1], expit(score))


def test_labels_that_say_nothing_make_probabilities_alike() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(400, 30))
    y = (rng.random(400) < 0.2).astype(int)
    # The positives that this seed holds out happen to rank low.
    model = PUClassifier(prior=0.5, population="unlabeled", device="cpu", random_state=8, max_epochs=5)
    model.set_params(calibration="platt")
    with pytest.warns(UserWarning, match="alike"):
        model.fit(x, y)
    assert np.ptp(model.predict_proba(x)[:, 1]) < 1e-9
    assert np.ptp(model.decision_function(x)) > 0.1


@pytest.mark.parametrize(
    "told", [{}, {"calibration": None}, {"validation_fraction": 0}, {"calibration": "beta"}]
)
def test_a_target_prior_moves_the_decision_but_not_the_probabilities(told: dict[str, Any]) -> None:
    x = drawn(20_000, 1)[0]
    model = learner(target_prior=0.9, max_epochs=15, learning_rate=0.03, **told).fit(*drawn(4000, 8)[::2])
    assert model.shift_ == pytest.approx(logit(PRIOR) - logit(0.9))
    assert (model.decision_function(x) >= 0).mean() > 0.6
    assert abs(model.predict_proba(x)[:, 1].mean() - PRIOR) < 0.05
    want = x @ (2 * MEAN) + logit(0.9)
    assert np.abs(expit(model.decision_function(x)) - expit(want)).mean() < 0.05


def test_another_loss_has_no_shift_and_says_so() -> None:
    model = learner(loss="sigmoid", target_prior=0.9, calibration=None, max_epochs=2).fit(X, Y)
    assert model.shift_ == 0
    assert [note.split()[0] for note in model.notes_] == ["The", "It"]


def overfitted(**told: Any) -> PUClassifier:
    """Trained on, without a look at the rows held out, until it is too sure."""
    from halftruth.learn import _network_training

    x, y = sure()
    told = {"hidden": (50,), "weight_decay": 0.0, "max_epochs": 25, "patience": 25} | told
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_network_training._Best, "restore", lambda self: None)
        return learner(learning_rate=0.02, **told).fit(x, y)


def sure(seed: int = 11, n: int = 2000) -> tuple[np.ndarray, np.ndarray]:
    x, _, y = drawn(n, seed)
    return np.column_stack([x, np.random.default_rng(seed).normal(size=(n, 20))]), y


def test_the_default_calibrates_only_what_is_refuted(default: PUClassifier) -> None:
    assert default.calibrator_ is None
    assert "do not refute" in default.notes_[0]
    model, bare = overfitted(), overfitted(calibration=None)
    assert model.calibrator_ is not None
    assert model.calibrator_.curve_.slope < 1
    assert model.notes_[0].startswith("σ(logit) is too sure")
    assert bare.notes_ == ()
    x, truth, _ = drawn(5000, 12)
    rows = np.column_stack([x, np.random.default_rng(12).normal(size=(5000, 20))])
    mended, left = (-np.log(m.predict_proba(rows)[np.arange(5000), truth.astype(int)]) for m in (model, bare))
    gain = left - mended
    assert gain.mean() > 3 * gain.std() / np.sqrt(len(gain))


def test_a_timid_model_is_mended_where_the_test_leaves_no_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    from halftruth.learn import _network_classifier

    told = {"weight_decay": 30.0, "max_epochs": 10}
    model, bare = (learner(calibration=c, **told).fit(X, Y) for c in ("auto", None))
    assert model.calibrator_.curve_.slope > 2
    assert model.notes_[0].startswith("σ(logit) is too timid")
    want = expit(X @ (2 * MEAN) + logit(PRIOR))
    away, before = (np.abs(m.predict_proba(X)[:, 1] - want).mean() for m in (model, bare))
    assert away < before / 2
    # A steeper line needs more than a flatter one.
    for p, steep, flat in (
        (0.004, True, True),
        (0.006, False, True),
        (0.049, False, True),
        (0.051, False, False),
    ):
        found = ht.CalibrationTest(
            statistic="spiegelhalter", value=1.0, p_value=p, method="", n_resamples=1, notes=(), evidence=""
        )
        monkeypatch.setattr(_network_classifier, "calibration_test", lambda *a, found=found, **k: found)
        for slope, refuted in ((1.5, steep), (0.5, flat)):
            line_of = ht.Calibrator.from_dict(
                model.calibrator_.to_dict() | {"curve": {"slope": slope, "intercept": 0.0}}
            )
            assert _network_classifier._test_sigmoid(line_of, None)[0] == refuted


def test_another_loss_is_always_calibrated() -> None:
    model = learner(loss="sigmoid", max_epochs=20).fit(X, Y)
    assert model.calibrator_ is not None
    assert np.abs(model.predict_proba(X)[:, 1] - expit(X @ (2 * MEAN) + logit(PRIOR))).mean() < 0.1


def test_platts_line_is_in_the_logit_itself() -> None:
    """Against the same fit by hand; so that far logits, whose σ rounds to 1, keep their order."""
    model = learner(calibration="platt", max_epochs=10).fit(X, Y)
    far = model.predict_proba(np.outer([-60.0, -50.0], MEAN))[:, 1]
    assert 0 < far[0] < far[1] < 1e-15
    curve = model.calibrator_.curve_
    line_of = curve.slope * model.decision_function(X) + curve.intercept
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(line_of))


def test_rows_held_out_stand_for_their_share_of_all() -> None:
    """Two of five positives and one of ten others: the evidence has the sizes of all rows."""
    from halftruth.learn._pu_classifier import _held_out_evidence

    parts = [np.array([0.9, 0.8]), np.array([0.1])]
    evidence = _held_out_evidence(parts, (5, 10, 0), 0.5, 1.0, "all")
    measure = evidence.measure()
    assert float(measure.prior) == pytest.approx(0.5)
    # π = 0.5 of 15: 7.5 positives, 5 known; μ is 1/6 at each of two scores and 2/3 at the other.
    np.testing.assert_allclose(np.sort(measure.mass / measure.total), [1 / 6, 1 / 6, 2 / 3])


def test_without_held_out_rows_the_notes_say_so() -> None:
    model = learner(validation_fraction=0, max_epochs=3, loss="sigmoid").fit(X, Y)
    assert len(model.notes_) == 2
    assert model.calibrator_ is None
    assert model.history_["held_out_risk"] == []
    assert model.n_epochs_ == 3


# --- The prior -----------------------------------------------------------------------------------


def test_priors_are_read_as_evidence_reads_them() -> None:
    sizes = (Y == 1).sum(), (Y == -1).sum()
    alpha = 0.25
    pi = (sizes[0] + alpha * sizes[1]) / sum(sizes)
    estimate = ht.PriorEstimate(value=alpha, low=0.2, high=0.3)
    told = {"max_epochs": 1, "validation_fraction": 0}
    assert learner(prior=estimate, **told).fit(X, Y).prior_ == pytest.approx(pi)
    assert learner(prior=estimate, population="unlabeled", **told).fit(X, Y).prior_ == alpha
    assert learner(prior=(0.3, 0.5), **told).fit(X, Y).prior_ == 0.4
    same = (learner(prior=prior, **told).fit(X, Y) for prior in (estimate, pi))
    np.testing.assert_allclose(*(line(model) for model in same))


def test_the_prior_is_estimated_from_the_rows_that_are_not_negative(monkeypatch: pytest.MonkeyPatch) -> None:
    from halftruth.prior import _from_features as features

    seen: dict[str, Any] = {}

    def estimate(x: Any, labeled: Any, **told: Any) -> ht.PriorEstimate:
        seen.update(told, x=x, labeled=labeled)
        return ht.PriorEstimate(value=0.3, low=0.2, high=0.4)

    monkeypatch.setattr(features, "estimate_prior_from_features", estimate)
    x, _, y = drawn(400, 5, negatives=0.2)
    model = learner(prior="estimate", purity=0.9, max_epochs=1).fit(x, y)
    np.testing.assert_array_equal(seen["x"], x[y != 0])
    np.testing.assert_array_equal(seen["labeled"], y[y != 0] == 1)
    assert seen["purity"] == 0.9
    assert seen["n_refits"] == 0  # only its value is used
    assert model.prior_ == pytest.approx((0.9 * (y == 1).sum() + 0.3 * (y == -1).sum()) / 400)


@pytest.mark.slow
def test_the_prior_can_be_estimated() -> None:
    x, _, y = drawn(1500, 5)
    assert abs(learner(prior="estimate", max_epochs=2).fit(3 * x, y).prior_ - PRIOR) < 0.15


# --- Known negatives -----------------------------------------------------------------------------


def test_known_negatives_help() -> None:
    test, truth, _ = drawn(20_000, 7)
    x, _, y = drawn(400, 6, known=0.2, negatives=0.5)
    assert set(np.unique(y)) == {-1, 0, 1}
    told = {"validation_fraction": 0, "max_epochs": 20, "learning_rate": 0.02}
    with_negatives = learner(**told).fit(x, y)
    want = test @ (2 * MEAN) + logit(PRIOR)
    without = learner(**told).fit(x, np.where(y == 0, -1, y))
    away = [np.abs(expit(m.decision_function(test)) - expit(want)).mean() for m in (with_negatives, without)]
    assert away[0] < away[1]
    assert (with_negatives.predict(test) == truth).mean() > 0.8


@pytest.mark.parametrize("eta", [-1.0, 0.0, 1.0, None])
@pytest.mark.parametrize("population", ["all", "unlabeled"])
def test_every_mix_learns(eta: float | None, population: str) -> None:
    x, truth, y = drawn(2000, 6, known=0.3, negatives=0.3)
    prior = PRIOR if population == "all" else truth[y == -1].mean()
    model = learner(eta=eta, population=population, prior=prior, max_epochs=6, learning_rate=0.05).fit(x, y)
    assert (model.predict(x) == truth).mean() > 0.85


@pytest.mark.parametrize("population", ["all", "unlabeled"])
@pytest.mark.parametrize("prior", [0.15, 0.3])
def test_the_default_mix_is_the_least_noisy(prior: float, population: str) -> None:
    """Against a search over η for the variance of the whole risk, losses independent and of variance 1."""
    from halftruth.learn._risk_weights import risk_weights

    grid = np.linspace(-1, 1, 401)
    sides = set()
    for sizes in (
        (100, 1000, 50),
        (50, 1000, 400),
        (300, 300, 300),
        (100, 900, 1000),
        (200, 300, 2000),
        (9, 40, 4),
        (20, 1000, 900),
    ):
        told: dict[str, Any] = {"purity": 0.9, "population": population, "sizes": sizes}
        try:
            weights = [risk_weights(prior, eta=eta, **told) for eta in grid]
        except InputError:  # more known positives than the prior allows
            continue
        noise = [(np.square([each.positive, each.negative]) / sizes).sum() for each in weights]
        found = balanced_eta(prior, sizes, purity=0.9, population=population)
        assert found == pytest.approx(grid[np.argmin(noise)], abs=2.6e-3)
        sides.add(found > 0)
    assert sides == {True, False}


@pytest.mark.parametrize("population", ["all", "unlabeled"])
@pytest.mark.parametrize("n_negative", [1, 2])
def test_few_negatives_are_all_learned_from(n_negative: int, population: str) -> None:
    y = Y.copy()
    y[np.flatnonzero(~TRUTH)[:n_negative]] = 0
    told = {"prior": PRIOR if population == "all" else TRUTH[Y == -1].mean(), "population": population}
    model = learner(max_epochs=4, learning_rate=0.05, calibration="platt", **told).fit(X, y)
    assert (model.predict(X) == TRUTH).mean() > 0.8
    assert len(model.history_["held_out_risk"]) == 4
    # Of the table without them the prior is higher: π n is the same.
    if population == "all":
        want = PRIOR * len(y) / (len(y) - n_negative)
        assert model.calibrator_.prior_ == pytest.approx(want)


@pytest.mark.parametrize(("eta", "message"), [(0.5, "`eta` needs known negatives"), (7, "`eta` must lie")])
def test_a_mix_without_negatives_is_refused(eta: float, message: str) -> None:
    with pytest.raises(InputError, match=message):
        learner(eta=eta).fit(X, Y)


# --- Manners -------------------------------------------------------------------------------------


class Mapped(OfLabels, PUClassifier):
    """Takes the labels of scikit-learn's checks."""


@pytest.mark.parametrize("check", MAPPED.values(), ids=list(MAPPED))
def test_scikit_learns_checks_that_draw_other_labels(check: Callable[[str, Any], None]) -> None:
    told: dict[str, Any] = {"prior": 0.3, "population": "unlabeled", "device": "cpu"}
    check("Mapped", Mapped(validation_fraction=0, max_epochs=5, **told))


@parametrize_with_checks(
    [
        PUClassifier(prior=0.3, population="unlabeled", validation_fraction=0, max_epochs=10, device="cpu"),
    ],
    expected_failed_checks=lambda estimator: EXPECTED,
)
def test_scikit_learns_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def test_in_a_pipeline_and_a_search(default: PUClassifier) -> None:
    pipeline = make_pipeline(StandardScaler(), learner(max_epochs=5))
    scorer = ht.make_scorer("roc_auc", prior=PRIOR, unlabeled=-1)
    search = GridSearchCV(pipeline, {"puclassifier__weight_decay": [0.0, 0.1]}, scoring=scorer, cv=2)
    assert 0.8 < search.fit(X, Y).best_score_ < 1.05
    risk = ht.make_scorer("risk", loss="logistic", prior=PRIOR, unlabeled=-1)
    assert -0.7 < risk(default, X, Y) < 0
    assert clone(learner(prior=0.3)).get_params()["prior"] == 0.3


def test_the_same_seed_gives_the_same_weights() -> None:
    first, again, other = (learner(hidden=(5,), random_state=s, max_epochs=3).fit(X, Y) for s in (1, 1, 2))
    np.testing.assert_array_equal(first.layers_[0][0], again.layers_[0][0])
    assert (first.layers_[0][0] != other.layers_[0][0]).any()
    assert first.history_ == again.history_


def test_a_constant_feature_has_no_part() -> None:
    x = np.column_stack([X, np.full(len(X), 0.1)])
    model = learner(max_epochs=3).fit(x, Y)
    moved = x + np.array([0, 0, 5.0])
    np.testing.assert_array_equal(model.decision_function(x), model.decision_function(moved))
    np.testing.assert_array_equal(
        model.decision_function(x), learner(max_epochs=3).fit(X, Y).decision_function(X)
    )


def test_a_feature_far_from_zero_is_read_exactly() -> None:
    near, far = learner(max_epochs=3).fit(X, Y), learner(max_epochs=3).fit(1e6 + 1e-2 * X, Y)
    np.testing.assert_allclose(far.decision_function(1e6 + 1e-2 * X), near.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("unit", [1e160, 1e-170, 1e300])
def test_features_in_any_unit_are_read(unit: float) -> None:
    near, far = learner(max_epochs=3).fit(X, Y), learner(max_epochs=3).fit(unit * X, Y)
    np.testing.assert_allclose(far.decision_function(unit * X), near.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("unit", [1e307, 1e-320])
def test_a_unit_beyond_numbers_is_named(unit: float) -> None:
    x = X * [1.0, unit]
    with pytest.raises(InputError, match="feature 1 "):
        learner(max_epochs=3).fit(x, Y)


def test_many_rows_are_predicted_in_blocks(default: PUClassifier, monkeypatch: pytest.MonkeyPatch) -> None:
    from halftruth.learn import _network_arrays

    whole = default.decision_function(X)
    monkeypatch.setattr(_network_arrays, "BLOCK", 300)
    np.testing.assert_array_equal(default.decision_function(X), whole)


def test_the_state_of_the_caller_changes_nothing(torch: Any) -> None:
    from contextlib import ExitStack

    usual = learner(hidden=(3,), max_epochs=2).fit(X, Y).decision_function(X)
    for state in (
        torch.no_grad,
        torch.inference_mode,
        lambda: torch.autocast("cpu"),
        lambda: torch.device("meta"),
    ):
        with state():
            model = learner(hidden=(3,), max_epochs=2).fit(X, Y)
        np.testing.assert_array_equal(model.decision_function(X), usual)
    with ExitStack() as stack:
        stack.callback(torch.set_default_dtype, torch.float32)
        torch.set_default_dtype(torch.float64)
        model = learner(hidden=(3,), max_epochs=2).fit(X, Y)
    np.testing.assert_array_equal(model.decision_function(X), usual)


def test_what_was_seen_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    learner(verbose=True, max_epochs=2).fit(X, Y)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("pass 2: training risk 0.")
    assert "held-out risk 0." in lines[1]
    learner(max_epochs=2).fit(X, Y)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("codes", [(1, None, 0), (1, np.nan, 0), (1.0, -1.0, 0.0)])
def test_labels_in_any_code(codes: tuple[Any, ...], tmp_path: Path) -> None:
    x, _, y = drawn(500, 4, negatives=0.3)
    given = np.array(codes, dtype=object)[np.select([y == 1, y == -1], [0, 1], 2)]
    unlabeled = np.nan if codes[1] != -1 else -1
    told = {"max_epochs": 2}
    model = learner(unlabeled=unlabeled, **told).fit(x, given.tolist())
    np.testing.assert_array_equal(line(clone(model).fit(x, given)), line(learner(**told).fit(x, y)))
    model.save(tmp_path / "model.npz")
    np.testing.assert_equal(PUClassifier.load(tmp_path / "model.npz").unlabeled, unlabeled)


def test_it_gives_evidence_by_cross_validation() -> None:
    from halftruth.learn._cross_validation import cross_val_evidence

    evidence = cross_val_evidence(
        learner(max_epochs=5, learning_rate=0.05), X, Y, prior=PRIOR, unlabeled=-1, cv=3
    )
    truth = ht.roc_auc(ht.Labeled(TRUTH, X @ MEAN))
    auc = ht.evaluate(evidence, ["roc_auc"], n_resamples=200)["roc_auc"]
    assert auc.low < truth < auc.high


# --- Files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("calibration", ["platt", "isotonic", None])
def test_a_saved_model_is_the_same(calibration: str | None, tmp_path: Path, require: Require) -> None:
    frame = require("pandas").DataFrame(X, columns=["a", "b"])
    prior = ht.PriorEstimate(value=0.25, replicates=[0.2, 0.25, 0.3], notes=("a note",))
    told = {"calibration": calibration, "target_prior": 0.6}
    model = learner(hidden=(4, 3), prior=prior, max_epochs=3, **told).fit(frame, Y)
    path = tmp_path / "model.npz"
    model.save(path)
    again = PUClassifier.load(path)
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
    np.testing.assert_array_equal(again.decision_function(frame), model.decision_function(frame))
    assert again.feature_names_in_.tolist() == ["a", "b"]
    assert again.history_ == model.history_
    assert (again.prior_, again.n_epochs_, again.notes_) == (model.prior_, model.n_epochs_, model.notes_)
    ours, theirs = again.get_params(), model.get_params()
    assert ours.pop("prior").to_dict() == theirs.pop("prior").to_dict()
    assert ours == theirs
    with pytest.raises(ValueError, match="feature names"):
        again.predict(frame.rename(columns={"a": "c"}))


def test_without_pytorch_a_model_predicts_and_training_says_what_is_missing(tmp_path: Path) -> None:
    model = learner(max_epochs=2).fit(X, Y)
    path = tmp_path / "model.npz"
    model.save(path)
    program = f"""
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
sys.meta_path.insert(0, Absent())
from halftruth._errors import MissingDependency
from halftruth.learn import PUClassifier
model = PUClassifier.load({str(path)!r})
print(repr(float(model.predict_proba([[0.5, 0.2]])[0, 1])))
try:
    model.fit([[1.0], [0.0]], [1, -1])
except MissingDependency as error:
    print(error)
"""
    out = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    value, error = out.stdout.splitlines()
    assert float(value) == model.predict_proba([[0.5, 0.2]])[0, 1]
    assert "halftruth[torch]" in error


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    from halftruth import _storage
    from halftruth.learn._confidence_classifier import PositiveConfidenceClassifier

    path = tmp_path / "model.npz"
    model = learner(hidden=(4,), max_epochs=1).fit(X, Y)
    model.save(path)
    with pytest.raises(InputError, match="not a halftruth PositiveConfidenceClassifier"):
        PositiveConfidenceClassifier.load(path)
    header, arrays = _storage.load(path, "halftruth PUClassifier", 1)
    told = {name: value for name, value in header.items() if name not in ("what", "schema")}
    for changed in (
        {"weight1": arrays["weight1"][:2]},
        {"weight1": arrays["weight1"] * np.nan},
        {"weight0": arrays["weight0"].astype("U4")},
        {"center": arrays["center"][:1]},
        {"factor": arrays["factor"][:1]},
        {"factor": np.ones(3)},
        {"weight0": np.array(1.0)},
    ):
        _storage.save(path, "halftruth PUClassifier", 1, told, arrays | changed)
        with pytest.raises(InputError, match="damaged"):
            PUClassifier.load(path)
    for bad in (
        {"n_epochs": float("inf")},
        {"n_epochs": -5},
        {"prior": 7.0},
        {"prior": float("nan")},
        {"shift": float("inf")},
        {"feature_names": ["a", "b", "c"]},
        {"notes": "abc"},
        {"notes": [1]},
        {"history": {"training_risk": "y"}},
        {"history": []},
        {"params": told["params"] | {"loss": "evil"}},
        {"params": told["params"] | {"population": "some"}},
        {"params": told["params"] | {"calibration": "plat"}},
    ):
        _storage.save(path, "halftruth PUClassifier", 1, told | bad, arrays)
        with pytest.raises(InputError, match="damaged"):
            PUClassifier.load(path)
    _storage.save(path, "halftruth PUClassifier", 1, told | {"params": {"colour": 1}}, arrays)
    with pytest.raises(InputError, match="colour"):
        PUClassifier.load(path)
    _storage.save(path, "halftruth PUClassifier", 2, told, arrays)
    with pytest.raises(InputError, match="schema 2"):
        PUClassifier.load(path)


def test_settings_of_any_kind_are_saved(tmp_path: Path) -> None:
    given = {"hidden": range(2, 3), "prior": np.float32(0.5), "verbose": np.bool_(False)}
    learner(max_epochs=1, **given | {"random_state": np.random.RandomState(0)}).fit(X, Y).save(
        tmp_path / "model"
    )
    again = PUClassifier.load(tmp_path / "model")
    assert (again.hidden, again.prior, again.verbose, again.random_state) == ((2,), 0.5, False, None)


# --- Bad input -----------------------------------------------------------------------------------

HOLE = X.copy()
HOLE[7, 1] = np.nan
BAD: dict[str, tuple[dict[str, Any], Any, Any, str]] = {
    "no positives": ({}, X, np.where(Y == 1, -1, Y), "no positive row"),
    "all labeled": ({}, X, TRUTH.astype(int), "no unlabeled row"),
    "other labels": ({}, X, np.where(Y == 1, 2, Y), "got 2 in"),
    "prior of 0": ({"prior": 0.0}, X, Y, "prior"),
    "prior of 1.2": ({"prior": 1.2}, X, Y, r"must lie in \(0, 1\), got 1.2"),
    "prior below the count": ({"prior": 0.01}, X, Y, "what the counts allow"),
    "prior of a word": ({"prior": "0.3"}, X, Y, "`prior` of PUClassifier must be .* got '0.3'"),
    "purity below α": ({"purity": 0.1}, X, Y, "purity"),
    "no purity": ({"purity": None}, X, Y, "purity"),
    "NaN": ({}, HOLE, Y, r"1 NaN or infinite \(inf\) value\(s\), the first in row 7"),
    "infinite": ({}, np.where(np.isnan(HOLE), np.inf, HOLE), Y, "row 7"),
    "loss": ({"loss": "hinge"}, X, Y, "`loss` must be"),
    "zero-one": ({"loss": "zero_one"}, X, Y, "`loss` must be"),
    "correction": ({"correction": "abs"}, X, Y, "`correction` must be"),
    "population": ({"population": "some"}, X, Y, "`population` must be"),
    "calibration": ({"calibration": "plat"}, X, Y, "`calibration` must be"),
    "hidden": ({"hidden": (0,)}, X, Y, "`hidden` must be"),
    "rate": ({"learning_rate": 0}, X, Y, "`learning_rate` must lie"),
    "decay": ({"weight_decay": -1}, X, Y, "`weight_decay` must lie"),
    "batch": ({"batch_size": 0}, X, Y, "`batch_size` must be"),
    "passes": ({"max_epochs": 0}, X, Y, "`max_epochs` must be"),
    "patience": ({"patience": 0}, X, Y, "`patience` must be"),
    "fraction": ({"validation_fraction": 1.0}, X, Y, "`validation_fraction` must lie"),
    "device": ({"device": "tpu"}, X, Y, "`device` must be"),
    "target": ({"target_prior": 1.0}, X, Y, "`target_prior` must lie"),
    "runaway": ({"learning_rate": 1e30, "loss": "squared", "max_epochs": 3}, X, Y, "ran away"),
    "runaway, nothing held out": (
        {"learning_rate": 1e38, "loss": "squared", "max_epochs": 5, "validation_fraction": 0},
        X,
        Y,
        "ran away",
    ),
    "lengths": ({}, X, Y[:-1], "inconsistent numbers"),
    "no labels": ({}, X, None, "requires y"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused(name: str) -> None:
    settings, x, y, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        learner(**{"max_epochs": 1} | settings).fit(x, y)


def test_without_a_prior_nothing_is_learned() -> None:
    with pytest.raises(NotIdentifiable, match=r"PUClassifier needs the class prior\. Pass prior="):
        learner(prior=None).fit(X, Y)


def test_too_few_positives_to_hold_out() -> None:
    y = np.full(len(X), -1)
    y[np.flatnonzero(TRUTH)[:12]] = 1
    with pytest.raises(InputError, match="holds out 2 of 12 known positives"):
        learner().fit(X, y)
    told = {"calibration": "platt", "max_epochs": 2}
    assert learner(validation_fraction=0.4, **told).fit(X, y).calibrator_ is not None
    assert learner(validation_fraction=0, max_epochs=2).fit(X, y).calibrator_ is None


def test_cuda_where_there_is_none(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InputError, match="no CUDA device"):
        learner(device="cuda").fit(X, Y)
    assert learner(device="auto", max_epochs=1).fit(X, Y).n_epochs_ == 1


def test_other_rows_than_it_learned_are_refused(default: PUClassifier) -> None:
    model = default
    with pytest.raises(ValueError, match="3 features, but PUClassifier is expecting 2"):
        model.predict(np.zeros((2, 3)))
    with pytest.raises(InputError, match="row 0"):
        model.predict([[np.nan, 1.0]])
