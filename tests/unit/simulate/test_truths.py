"""Truths of two normal classes against a grid of two densities, Monte Carlo and known figures."""

from __future__ import annotations

import inspect
import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
import sklearn.metrics as skm
from tests.oracle import naive
from tests.oracle.rows import Row

from halftruth._errors import InputError
from halftruth.simulate import TRUTH_NAMES, Draw, GaussianClasses, logistic_model
from halftruth.simulate._truths import TRUTHS

POSTERIOR = GaussianClasses()
MODELS = {
    "posterior": POSTERIOR,
    "logistic": logistic_model(),
    "overconfident": GaussianClasses(prior=0.05, separation=1.0, intercept=0.5, slope=4.0),
    "bounded": GaussianClasses(prior=0.6, location=3.0, separation=1.5, limits=(0.05, 0.8)),
    "useless": GaussianClasses(prior=0.2, separation=0.0, intercept=0.0, slope=1.0),
    "backward": GaussianClasses(prior=0.4, separation=-0.7, intercept=0.1, slope=2.0),
    "margin": GaussianClasses(prior=0.1, separation=1.2, location=-4.0, margin=True),
}
PROBABILITY_ONLY = ("net_benefit", "brier", "brier_skill", "log_loss", "calibration_error")
ARGUMENTS = {"threshold": 0.4, "beta": 2.0, "max_fpr": 0.1, "k": 0.15}


def arguments(name: str, model: GaussianClasses) -> dict[str, float]:
    taken = inspect.signature(TRUTHS[name]).parameters
    values = {**ARGUMENTS, "threshold": -3.2} if model.margin else ARGUMENTS
    return {key: value for key, value in values.items() if key in taken}


# --- an independent computation: everything from two densities on a grid of x -------------------


class Grid:
    """The population as masses on a fine grid, with the score recomputed from the parameters."""

    def __init__(self, model: GaussianClasses) -> None:
        m0, m1 = model.location, model.location + model.separation
        self.x = np.linspace(min(m0, m1) - 10, max(m0, m1) + 10, 400_001)
        step = self.x[1] - self.x[0]
        self.f1, self.f0 = (
            step * np.exp(-((self.x - mean) ** 2) / 2) / math.sqrt(2 * math.pi) for mean in (m1, m0)
        )
        self.prior = model.prior
        self.mu1, self.mu0 = model.prior * self.f1, (1 - model.prior) * self.f0
        self.mu = self.mu1 + self.mu0
        self.posterior = self.mu1 / self.mu
        if model.margin:
            self.score = self.x
        else:
            a = math.log(model.prior / (1 - model.prior)) - (m1**2 - m0**2) / 2
            a = a if model.intercept is None else model.intercept
            b = model.separation if model.slope is None else model.slope
            low, high = model.limits
            self.score = low + (high - low) / (1 + np.exp(-(a + b * self.x)))
            self.rest = 1 - high + (high - low) / (1 + np.exp(a + b * self.x))
        # Shares above each x; half of the own cell makes the sum a trapezoidal rule.
        self.tpr, self.fpr, self.called = (
            np.cumsum(mass[::-1])[::-1] - mass / 2 for mass in (self.f1, self.f0, self.mu)
        )

    def at(self, column: np.ndarray, key: np.ndarray, value: float) -> float:
        """The column where `key`, which falls or rises along the grid, has the value."""
        order = slice(None) if key[-1] > key[0] else slice(None, None, -1)
        return float(np.interp(value, key[order], column[order]))

    def truth(self, name: str, **params: float) -> float:
        if name == "risk":
            return self.risk(**params)
        if "threshold" in params:
            return self.rate(name, **params)
        s = self.score
        loss = {
            "roc_auc": lambda: np.sum(self.f0 * self.tpr),
            "partial_auc": self.partial_auc,
            "average_precision": lambda: np.sum(self.f1 * self.prior * self.tpr / self.called),
            "recall_at_fpr": lambda max_fpr: self.at(self.tpr, self.fpr, max_fpr),
            "recall_at_k": lambda k: self.at(self.tpr, self.called, k),
            "precision_at_k": lambda k: self.prior * self.at(self.tpr, self.called, k) / k,
            "brier": lambda: np.sum(self.mu1 * (1 - s) ** 2 + self.mu0 * s**2),
            "log_loss": lambda: -np.sum(self.mu1 * np.log(s) + self.mu0 * np.log(self.rest)),
            "calibration_error": lambda: np.sum(self.mu * np.abs(self.posterior - s)),
        }
        loss["pr_auc"] = loss["average_precision"]
        loss["brier_skill"] = lambda: 1 - loss["brier"]() / (self.prior * (1 - self.prior))
        return float(loss[name](**params))

    def risk(self, loss: str = "logistic") -> float:
        s = self.score
        at = {
            "logistic": lambda z: np.log1p(np.exp(-z)),
            "sigmoid": lambda z: 1 / (1 + np.exp(z)),
            "squared": lambda z: z**2 - 2 * z + 1,
            "ramp": lambda z: np.interp(z, [-1, 1], [1, 0]),
        }[loss]
        return float(np.sum(self.mu1 * at(s) + self.mu0 * at(-s)))

    def partial_auc(self, max_fpr: float) -> float:
        inside = self.fpr <= max_fpr
        edge = self.at(self.tpr, self.fpr, max_fpr)
        fpr = np.concatenate(([max_fpr], self.fpr[inside], [0.0]))
        tpr = np.concatenate(([edge], self.tpr[inside], [0.0]))
        area = np.sum(-np.diff(fpr) * (tpr[1:] + tpr[:-1]) / 2)
        least, most = max_fpr**2 / 2, max_fpr
        return 0.5 * (1 + (area - least) / (most - least))

    def rate(self, name: str, threshold: float, **params: float) -> float:
        """By its naive definition, of one row above the threshold and one below."""
        tpr, fpr = (self.at(rate, self.score, threshold) for rate in (self.tpr, self.fpr))
        tp, fp = self.prior * tpr, (1 - self.prior) * fpr
        rows = [
            Row(Fraction(threshold), Fraction(tp + fp), Fraction(tp)),
            Row(Fraction(threshold) - 1, Fraction(1 - tp - fp), Fraction(self.prior - tp)),
        ]
        definition = getattr(naive, name)
        return float(definition(rows) if name == "prevalence" else definition(rows, threshold, **params))


@pytest.fixture(scope="module", params=MODELS)
def model_and_grid(request: pytest.FixtureRequest) -> tuple[GaussianClasses, Grid]:
    model = MODELS[request.param]
    return model, Grid(model)


@pytest.mark.parametrize("name", TRUTH_NAMES)
def test_truth_equals_the_grid(model_and_grid: tuple[GaussianClasses, Grid], name: str) -> None:
    model, grid = model_and_grid
    if model.margin and name in PROBABILITY_ONLY:
        with pytest.raises(InputError, match=f"`{name}` must have scores that are probabilities"):
            model.truth(name, **arguments(name, model))
        return
    params = arguments(name, model)
    assert model.truth(name, **params) == pytest.approx(grid.truth(name, **params), abs=3e-9)


@pytest.mark.parametrize("loss", ["logistic", "sigmoid", "squared", "ramp"])
def test_risks_equal_the_grid(model_and_grid: tuple[GaussianClasses, Grid], loss: str) -> None:
    model, grid = model_and_grid
    assert model.truth("risk", loss=loss) == pytest.approx(grid.risk(loss), abs=3e-9)


def test_an_unknown_loss_is_refused() -> None:
    with pytest.raises(InputError, match="`loss`"):
        GaussianClasses().truth("risk", loss="hinge")


# --- Monte Carlo --------------------------------------------------------------------------------


def top(y: np.ndarray, s: np.ndarray, k: float) -> np.ndarray:
    return y[np.argsort(-s)[: round(k * y.size)]]


def net_benefit(y: np.ndarray, s: np.ndarray, t: float) -> float:
    return float(np.mean((s >= t) * (y - (1 - y) * t / (1 - t))))


def hard(metric: object, y: np.ndarray, s: np.ndarray) -> float:
    return metric(y, s >= ARGUMENTS["threshold"])  # type: ignore[operator]


SAMPLE_METRICS = {
    "precision": partial(hard, skm.precision_score),
    "fbeta": partial(hard, partial(skm.fbeta_score, beta=ARGUMENTS["beta"])),
    "balanced_accuracy": partial(hard, skm.balanced_accuracy_score),
    "mcc": partial(hard, skm.matthews_corrcoef),
    "cohen_kappa": partial(hard, skm.cohen_kappa_score),
    "jaccard": partial(hard, skm.jaccard_score),
    "net_benefit": lambda y, s: net_benefit(y, s, ARGUMENTS["threshold"]),
    "roc_auc": skm.roc_auc_score,
    "partial_auc": partial(skm.roc_auc_score, max_fpr=ARGUMENTS["max_fpr"]),
    "average_precision": skm.average_precision_score,
    "precision_at_k": lambda y, s: top(y, s, ARGUMENTS["k"]).mean(),
    "recall_at_k": lambda y, s: top(y, s, ARGUMENTS["k"]).sum() / y.sum(),
    "recall_at_fpr": lambda y, s: (s[y == 1] >= np.quantile(s[y == 0], 1 - ARGUMENTS["max_fpr"])).mean(),
    "brier": skm.brier_score_loss,
    "log_loss": skm.log_loss,
}


@pytest.fixture(scope="module", params=["posterior", "logistic"])
def model_and_draw(request: pytest.FixtureRequest) -> tuple[GaussianClasses, Draw]:
    model = MODELS[request.param]
    return model, model.draw(1_000_000, rng=20_240)


@pytest.mark.parametrize("name", SAMPLE_METRICS)
def test_truth_equals_a_million_draws(model_and_draw: tuple[GaussianClasses, Draw], name: str) -> None:
    model, draw = model_and_draw
    batches = np.array(
        [
            SAMPLE_METRICS[name](y, s)
            for y, s in zip(np.split(draw.y, 50), np.split(draw.score, 50), strict=True)
        ]
    )
    error = batches.std(ddof=1) / math.sqrt(batches.size)
    assert abs(batches.mean() - model.truth(name, **arguments(name, model))) < 5 * error


def test_calibration_error_equals_a_million_draws() -> None:
    draw = logistic_model().draw(1_000_000, rng=7)
    # The paper's own P(Y=1 | x), not the generator's.
    gap = np.abs(1 / (1 + np.exp(-2 * draw.x)) - draw.score)
    for norm in (1, 2):
        truth = logistic_model().truth("calibration_error", norm=norm) ** norm
        error = (gap**norm).std() / math.sqrt(gap.size)
        assert abs((gap**norm).mean() - truth) < 5 * error


# --- known figures ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "params", "value", "tolerance"),
    [
        ("roc_auc", {}, 0.92135, 5e-6),
        ("precision", {"threshold": 0.5}, 0.800, 1e-3),
        ("f1", {"threshold": 0.5}, 0.756, 5e-4),
        ("average_precision", {}, 0.850, 1e-3),
        ("pr_auc", {}, 0.850, 1e-3),
        ("calibration_error", {}, 0.0, 1e-12),
    ],
)
def test_known_figures(name: str, params: dict[str, float], value: float, tolerance: float) -> None:
    assert POSTERIOR.truth(name, **params) == pytest.approx(value, abs=tolerance)


def test_random_scores_have_the_truths_of_chance() -> None:
    useless = MODELS["useless"]
    assert useless.truth("roc_auc") == 0.5
    assert useless.truth("average_precision") == pytest.approx(0.2, abs=1e-12)
    assert useless.truth("partial_auc", max_fpr=0.3) == pytest.approx(0.5, abs=1e-12)
    assert useless.truth("precision_at_k", k=0.01) == pytest.approx(0.2, abs=1e-12)
    assert useless.truth("lift", threshold=0.7) == pytest.approx(1.0, abs=1e-12)


def test_partial_auc_raw_and_whole() -> None:
    raw = POSTERIOR.truth("partial_auc", max_fpr=0.1, standardize=False)
    standardized = POSTERIOR.truth("partial_auc", max_fpr=0.1)
    assert standardized == pytest.approx(0.5 * (1 + (raw - 0.005) / (0.1 - 0.005)), abs=1e-12)
    assert POSTERIOR.truth("partial_auc", max_fpr=1.0) == POSTERIOR.truth("roc_auc")
    # The whole area is reached continuously, and a tiny limit loses no digits.
    near = POSTERIOR.truth("partial_auc", max_fpr=1 - 1e-9, standardize=False)
    assert near == pytest.approx(POSTERIOR.truth("roc_auc"), abs=2e-9)
    assert 0.5 < POSTERIOR.truth("partial_auc", max_fpr=1e-9) < standardized


def test_logistic_model_has_the_papers_posterior_and_score() -> None:
    model = logistic_model(-0.2, 1.9)
    x = np.linspace(-4, 4, 17)
    np.testing.assert_allclose(model.posterior(x), 1 / (1 + np.exp(-2 * x)), rtol=1e-13)
    np.testing.assert_allclose(model.score(x), 1 / (1 + np.exp(0.2 - 1.9 * x)), rtol=1e-13)
    assert model.means == (-1.0, 1.0)
    assert model.prior == 0.5


def test_default_score_is_the_posterior_by_bayes() -> None:
    model = GaussianClasses(prior=0.15, separation=1.3, location=2.0)
    x = np.array([-1.0, 2.0, 2.65, 5.0])
    odds = 0.15 / 0.85 * np.exp(-((x - 3.3) ** 2) / 2 + (x - 2.0) ** 2 / 2)
    np.testing.assert_allclose(model.posterior(x), odds / (1 + odds), rtol=1e-12)
    np.testing.assert_array_equal(model.score(x), model.posterior(x))


def test_steep_scores_and_far_tails_keep_their_digits() -> None:
    steep = GaussianClasses(prior=0.3, intercept=0.0, slope=1e4)
    # A step at x = 0 makes the Brier score the error rate, up to the width of the step.
    wrong = 1 - steep.truth("accuracy", threshold=0.5)
    assert steep.truth("brier") == pytest.approx(wrong, abs=1e-4)
    assert math.isfinite(steep.truth("log_loss"))
    far = GaussianClasses(margin=True).truth("precision", threshold=60.0)
    assert far == pytest.approx(1.0, abs=1e-12)


def test_thresholds_outside_the_scores() -> None:
    model = MODELS["bounded"]
    assert model.truth("recall", threshold=0.05) == 1.0
    assert model.truth("recall", threshold=0.8) == 0.0
    assert model.truth("f1", threshold=0.8) == 0.0
    for name in ("precision", "mcc", "lift"):
        assert math.isnan(model.truth(name, threshold=0.8))
    assert math.isnan(model.truth("npv", threshold=0.0))


@pytest.mark.parametrize("kind", [kind for kind in MODELS if kind != "margin"])
def test_threshold_and_score_are_inverse(kind: str) -> None:
    model = MODELS[kind]
    for threshold in (0.1, 0.4, 0.75):
        assert model.score(model.x_at(threshold)).item() == pytest.approx(threshold, abs=1e-14)


# --- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        ("gini", {}, r"got 'gini'. Pass one of: prevalence, .*calibration_error\."),
        ("precision", {}, r"takes the parameters \(threshold\), got \(\)"),
        ("roc_auc", {"threshold": 0.5}, r"got \(threshold=0.5\)"),
        ("precision", {"threshold": math.nan}, "`threshold` must be a number, got nan"),
        ("net_benefit", {"threshold": 1.0}, r"`threshold` must lie in \[0, 1\)"),
        ("fbeta", {"threshold": 0.5, "beta": 0}, "`beta` must lie in"),
        ("partial_auc", {"max_fpr": 0.0}, r"`max_fpr` must lie in \(0, 1\]"),
        ("precision_at_k", {"k": 10}, "a share of the population, not a number of rows"),
        ("calibration_error", {"norm": 3}, "`norm` must be 1 or 2"),
    ],
)
def test_impossible_truths_are_refused(name: str, params: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        POSTERIOR.truth(name, **params)
