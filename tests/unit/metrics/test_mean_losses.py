"""The risk as a metric: plain means, the scores it equals, and its way through evaluations and the command line."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.svm import LinearSVC

import halftruth as ht
from halftruth.cli import main
from halftruth.metrics._mean_losses import LOSSES

N = 500
RNG = np.random.default_rng(5)
Y = RNG.random(N) < 0.35
MARGIN = RNG.normal(np.where(Y, 1.0, -0.7), 1.2).round(2)
PROBABILITY = (1 / (1 + np.exp(-MARGIN))).round(3)
W = RNG.integers(0, 4, N).astype(float)

# The loss of a positive; that of a negative is the same at minus the margin.
BY_DEFINITION = {
    "sigmoid": lambda z: 1 / (1 + np.exp(z)),
    "logistic": lambda z: np.log(1 + np.exp(-z)),
    "squared": lambda z: (z - 1) ** 2,
    "ramp": lambda z: np.clip((1 - z) / 2, 0, 1),
}
each_loss = pytest.mark.parametrize("loss", BY_DEFINITION)
each_weight = pytest.mark.parametrize("weight", [None, W], ids=["plain", "weighted"])


def losses(loss: str) -> np.ndarray:
    """Of each row."""
    return BY_DEFINITION[loss](np.where(Y, MARGIN, -MARGIN))


def test_every_loss_is_here() -> None:
    assert {*BY_DEFINITION, "zero_one", "log", "brier"} == set(LOSSES)


# --- The value ----------------------------------------------------------------------------------


@each_weight
@each_loss
def test_from_labels_it_is_a_plain_mean(loss: str, weight: np.ndarray | None) -> None:
    got = ht.risk(ht.Labeled(Y, MARGIN, sample_weight=weight), loss)
    assert got == pytest.approx(np.average(losses(loss), weights=weight), rel=1e-13)


def test_the_default_is_logistic() -> None:
    evidence = ht.Labeled(Y, MARGIN)
    assert ht.risk(evidence) == ht.risk(evidence, "logistic")


@each_weight
def test_of_probabilities_it_is_the_proper_scores(weight: np.ndarray | None) -> None:
    evidence = ht.Labeled(Y, PROBABILITY, sample_weight=weight)
    assert ht.risk(evidence, "log") == pytest.approx(ht.log_loss(evidence), rel=1e-14)
    assert ht.risk(evidence, "brier") == pytest.approx(ht.brier(evidence), rel=1e-14)


@each_weight
def test_the_logistic_loss_of_logits_is_the_log_loss_of_probabilities(weight: np.ndarray | None) -> None:
    logits, chances = (ht.Labeled(Y, s, sample_weight=weight) for s in (MARGIN, 1 / (1 + np.exp(-MARGIN))))
    assert ht.risk(logits) == pytest.approx(ht.log_loss(chances), rel=1e-12)


EVIDENCE = {
    "labeled": ht.Labeled(Y, MARGIN),
    "weighted": ht.Labeled(Y, MARGIN, sample_weight=W),
    "soft": ht.SoftLabeled(PROBABILITY, MARGIN),
    "PU": ht.PositiveUnlabeled(MARGIN[Y][:60], MARGIN, prior=0.35),
    "PU, noisy": ht.PositiveUnlabeled(MARGIN[Y][:60], MARGIN, prior=0.35, purity=0.8),
    "PU, one table": ht.PositiveUnlabeled(MARGIN[Y][:60], MARGIN[60:], prior=0.35, population="all"),
    "PU, negatives": ht.PositiveUnlabeled(MARGIN[Y][:60], MARGIN, prior=0.35, negative=MARGIN[~Y][:40]),
    "confidence": ht.PositiveConfidence(np.clip(PROBABILITY, 0.05, 1), MARGIN),
}
each_evidence = pytest.mark.parametrize("evidence", EVIDENCE.values(), ids=EVIDENCE)


@pytest.mark.parametrize("threshold", [-0.5, 0.0, float(MARGIN[7]), 9.0, -9.0])
@each_evidence
def test_zero_one_is_the_error_rate(evidence: Any, threshold: float) -> None:
    """Also where a score is the threshold: it is called positive."""
    accuracy = ht.confusion(evidence, threshold).accuracy
    got = ht.risk(evidence, "zero_one", threshold=threshold)
    assert got == pytest.approx(1 - accuracy, rel=1e-12, abs=1e-14)


def test_zero_one_calls_a_margin_of_zero_positive() -> None:
    assert ht.risk(ht.Labeled([1, 0, 0], [0.0, 0.0, -1.0]), "zero_one") == pytest.approx(1 / 3)


@each_loss
@each_evidence
def test_it_is_linear_in_the_measure(evidence: Any, loss: str) -> None:
    measure, at = evidence.measure(), BY_DEFINITION[loss]
    lost = at(measure.score) @ measure.pos_mass + at(-measure.score) @ (measure.mass - measure.pos_mass)
    assert ht.risk(evidence, loss) == pytest.approx(lost / measure.mass.sum(), rel=1e-12)


@pytest.mark.parametrize("weight", [None, W + 1], ids=["plain", "weighted"])
@pytest.mark.parametrize("loss", LOSSES)
def test_from_confidences_it_is_the_prior_times_the_mean_over_positives(
    loss: str, weight: np.ndarray | None
) -> None:
    score = PROBABILITY if loss in ("log", "brier") else MARGIN
    evidence = ht.PositiveConfidence(np.clip(PROBABILITY, 0.05, 1), score, sample_weight=weight)
    options = {"threshold": 0.0} if loss == "zero_one" else {}
    expected = evidence.measure().prior * ht.positive_confidence_risk(evidence, loss, **options)
    assert ht.risk(evidence, loss, **options) == pytest.approx(expected, rel=1e-12)


@each_loss
def test_classes_trade_places_when_labels_and_margins_turn_over(loss: str) -> None:
    one, other = ht.Labeled(Y, MARGIN, sample_weight=W), ht.Labeled(~Y, -MARGIN, sample_weight=W)
    assert ht.risk(one, loss) == pytest.approx(ht.risk(other, loss), rel=1e-13)


def test_unlabeled_rows_by_hand() -> None:
    """π/n_P Σ (ℓ(s) − ℓ(−s)) over positives, plus the mean of ℓ(−s) over the unlabeled."""
    p, u = np.array([2.0, -0.5]), np.array([0.3, -1.0, 1.5])
    at = BY_DEFINITION["sigmoid"]
    expected = 0.3 * (at(p) - at(-p)).mean() + at(-u).mean()
    assert ht.risk(ht.PositiveUnlabeled(p, u, prior=0.3), "sigmoid") == pytest.approx(expected, rel=1e-14)


def test_it_may_be_negative_and_is_left_so() -> None:
    assert ht.risk(ht.PositiveUnlabeled([3.0], [-3.0, -4.0], prior=0.5), "sigmoid") < -0.1


def test_a_pair_of_functions_is_a_loss() -> None:
    evidence = EVIDENCE["PU, noisy"]
    at = BY_DEFINITION["squared"]
    assert ht.risk(evidence, (at, lambda s: at(-s))) == pytest.approx(ht.risk(evidence, "squared"), rel=1e-12)
    cost = ht.risk(evidence, (lambda s: 5.0 * (s < 0), lambda s: 1.0 * (s >= 0)))
    cells = ht.confusion(evidence, 0.0)
    assert cost == pytest.approx((5 * cells.fn + cells.fp) / cells.total, rel=1e-12)


@pytest.mark.parametrize("loss", [*BY_DEFINITION, "zero_one"])
def test_many_measures_at_once(loss: str) -> None:
    rng = np.random.default_rng(1)
    masses = rng.uniform(1, 2, (3, 5))
    many = ht.ScoreMeasure(score=np.linspace(-2, 2, 5), mass=masses, pos_mass=masses * rng.random((3, 5)))
    at_once = ht.risk(many, loss)
    assert at_once.shape == (3,)
    np.testing.assert_allclose(at_once, [ht.risk(many[i], loss) for i in range(3)], rtol=1e-14)


@pytest.mark.parametrize(
    ("loss", "right", "wrong"),
    [("sigmoid", 0.0, 1.0), ("logistic", 0.0, 1e4), ("squared", 9999.0**2, 10001.0**2), ("ramp", 0.0, 1.0)],
)
def test_far_margins(loss: str, right: float, wrong: float) -> None:
    for y, s, expected in ((1, 1e4, right), (0, -1e4, right), (1, -1e4, wrong), (0, 1e4, wrong)):
        # One case, which counts for all.
        measure = ht.ScoreMeasure(score=np.array([s]), mass=np.ones(1), pos_mass=np.array([float(y)]))
        assert ht.risk(measure, loss) == expected


@pytest.mark.parametrize("loss", ["sigmoid", "logistic"])
@pytest.mark.parametrize("z", [10.0, 20.0, 36.0, 50.0, 700.0])
def test_small_losses_keep_their_digits(loss: str, z: float) -> None:
    """Both are e^−z (1 − O(e^−z)) for a margin far on the right side."""
    measure = ht.ScoreMeasure(score=np.array([z]), mass=np.ones(1), pos_mass=np.ones(1))
    tail = np.exp(-z)
    expected = tail / (1 + tail) if loss == "sigmoid" else np.log1p(tail)
    assert ht.risk(measure, loss) == pytest.approx(expected, rel=1e-12, abs=0)


# --- In evaluations -----------------------------------------------------------------------------


@each_loss
def test_its_interval_from_labels_is_that_of_a_mean(loss: str) -> None:
    row = ht.evaluate(ht.Labeled(Y, MARGIN), {"r": partial(ht.risk, loss=loss)}, n_resamples=0)["r"]
    each = losses(loss)
    assert row.value == pytest.approx(each.mean(), rel=1e-12)
    reach = 1.96 * each.std() / np.sqrt(N)
    assert [row.value - row.low, row.high - row.value] == pytest.approx([reach, reach], rel=0.015)


@pytest.mark.parametrize("loss", [None, "sigmoid", "zero_one", "log"])
def test_probabilities_read_as_margins_are_told_of(loss: str | None) -> None:
    metric = "risk" if loss is None else {"risk": partial(ht.risk, loss=loss)}
    chances = 1 / (1 + np.exp(-MARGIN))
    notes = ht.evaluate(ht.Labeled(Y, chances), metric, n_resamples=0)["risk"].notes
    assert any("read as margins" in note for note in notes) == (loss != "log")
    if loss != "log":
        assert not ht.evaluate(ht.Labeled(Y, MARGIN), metric, n_resamples=0)["risk"].notes


def test_its_interval_from_unlabeled_rows_is_that_of_two_means() -> None:
    p, u = MARGIN[Y][:60], MARGIN
    at = BY_DEFINITION["logistic"]
    error = np.sqrt((0.35 * (at(p) - at(-p))).var() / len(p) + at(-u).var() / len(u))
    closed, drawn = (ht.evaluate(EVIDENCE["PU"], "risk", n_resamples=n)["risk"] for n in (0, 2000))
    # Student's quantile for 60 positives, and a part of a row more that was not seen: 1% to 3%.
    assert closed.high - closed.low == pytest.approx(2 * 1.96 * 1.02 * error, rel=0.01)
    # The ends of 2,000 resamples are known to about 1/√2000 · 3 of a standard error.
    assert drawn.high - drawn.low == pytest.approx(2 * 1.96 * 1.02 * error, rel=0.12)
    assert closed.value == drawn.value == ht.risk(EVIDENCE["PU"])


def test_by_name_and_for_a_range_of_priors() -> None:
    row = ht.evaluate(
        ht.PositiveUnlabeled(MARGIN[Y][:60], MARGIN, prior=(0.2, 0.5)), ["risk"], n_resamples=100
    )["risk"]
    ends = [ht.risk(ht.PositiveUnlabeled(MARGIN[Y][:60], MARGIN, prior=prior)) for prior in (0.2, 0.5)]
    assert row.low < min(ends) < max(ends) < row.high


def test_models_are_compared_by_their_risks() -> None:
    worse = np.where(np.arange(N) % 3 == 0, -MARGIN, MARGIN)
    models = {"worse": ht.Labeled(Y, worse), "better": ht.Labeled(Y, MARGIN)}
    difference = ht.compare(models, ["risk"], n_resamples=300)["risk"]
    assert (
        0
        < abs(difference.value)
        == pytest.approx(abs(ht.risk(models["worse"]) - ht.risk(models["better"])), rel=1e-12)
    )
    assert difference.low * difference.high > 0


def test_without_a_prior_there_is_a_range() -> None:
    evidence = ht.PositiveUnlabeled(MARGIN[Y][:60], MARGIN)
    with pytest.raises(ht.NotIdentifiable, match="prior"):
        ht.risk(evidence)
    row = ht.evaluate(evidence, "risk", n_resamples=100)["risk"]
    assert np.isnan(row.value)
    assert row.low < ht.risk(EVIDENCE["PU"]) < row.high


@each_loss
def test_bounds_over_rankings_hold_the_risk_of_the_labels(loss: str) -> None:
    """ℓ(s) − ℓ(−s) falls in s: more positives at the top, a smaller risk."""
    known = Y & (np.arange(N) % 2 == 0)
    evidence = ht.PositiveUnlabeled(MARGIN[known], MARGIN[~known], prior=float(Y.mean()), population="all")
    found = ht.bounds(evidence, partial(ht.risk, loss=loss))
    assert found.low < ht.risk(ht.Labeled(Y, MARGIN), loss) < found.high


def test_a_users_own_losses_have_no_bounds_over_rankings() -> None:
    """Their difference may rise and fall, so that the extremes need not be those of the outermost rankings.

    Here a positive costs 1 between −1 and 1: two positives among these unlabeled rows cost 0, 1 or 2 in 5.
    """
    evidence = ht.PositiveUnlabeled([3.0], [-2.0, -0.5, 0.5, 2.0], prior=0.6, population="all")
    own = (lambda s: 1.0 * (np.abs(s) < 1), lambda s: 0.0 * s)
    with pytest.raises(ht.InputError, match="no bounds"):
        ht.bounds(evidence, partial(ht.risk, loss=own))


# --- In model selection -------------------------------------------------------------------------

X = np.column_stack([MARGIN, RNG.normal(size=N)])
KNOWN = np.where(Y & (RNG.random(N) < 0.5), 1, 0)


@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC()], ids=["with probabilities", "without"])
@pytest.mark.parametrize("loss", [*BY_DEFINITION, "zero_one"])
def test_a_scorer_reads_the_decision_function(model: Any, loss: str) -> None:
    """Probabilities are no margins: read as such, all would be called positive."""
    scorer = ht.make_scorer("risk", prior=0.35, unlabeled=0, loss=loss)
    fitted = model.fit(X, KNOWN)
    expected = ht.risk(
        ht.PositiveUnlabeled.from_labels(KNOWN, fitted.decision_function(X), prior=0.35, unlabeled=0), loss
    )
    assert scorer(fitted, X, KNOWN) == pytest.approx(-expected, rel=1e-12)


@pytest.mark.parametrize(("loss", "same"), [("log", ht.log_loss), ("brier", ht.brier)])
def test_a_scorer_of_probabilities_reads_those(loss: str, same: Any) -> None:
    scorer = ht.make_scorer("risk", prior=0.35, unlabeled=0, loss=loss)
    fitted = LogisticRegression().fit(X, KNOWN)
    chances = fitted.predict_proba(X)[:, 1]
    evidence = ht.PositiveUnlabeled.from_labels(KNOWN, chances, prior=0.35, unlabeled=0)
    assert scorer(fitted, X, KNOWN) == pytest.approx(-same(evidence), rel=1e-12)
    with pytest.raises(ht.InputError, match="needs probabilities"):
        scorer(LinearSVC().fit(X, KNOWN), X, KNOWN)


def test_cross_validation_prefers_the_smaller_risk() -> None:
    scorer = ht.make_scorer("risk", prior=0.35, unlabeled=0, loss="zero_one", threshold=-1.0)
    good, poor = (
        cross_val_score(LogisticRegression(C=c), X, KNOWN, scoring=scorer, error_score="raise").mean()
        for c in (1.0, 1e-6)
    )
    assert poor < good < 0


def test_a_scorer_hands_the_threshold_on() -> None:
    fitted = LogisticRegression().fit(X, KNOWN)
    logits = fitted.decision_function(X)
    evidence = ht.PositiveUnlabeled.from_labels(KNOWN, logits, prior=0.35, unlabeled=0)
    for cut in (-1.0, 0.5):
        scorer = ht.make_scorer("risk", prior=0.35, unlabeled=0, loss="zero_one", threshold=cut)
        assert scorer(fitted, X, KNOWN) == pytest.approx(
            -ht.risk(evidence, "zero_one", threshold=cut), rel=1e-12
        )
    with pytest.raises(ht.InputError, match="threshold"):
        ht.make_scorer("roc_auc", prior=0.35, unlabeled=0, threshold=0.5)


# --- On the command line ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("risk") / "table.npz"
    EVIDENCE["PU"].table.save(path)
    return path


def test_on_the_command_line(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = "risk,risk(loss=sigmoid),risk(loss=zero_one, threshold=0.5)"
    options = ["--prior", "0.35", "--population", "unlabeled", "--n-resamples", "20", "--format", "json"]
    assert main(["evaluate", str(table), "--metrics", asked, *options]) == 0
    rows = json.loads(capsys.readouterr().out)["metrics"]
    evidence = EVIDENCE["PU"]
    expected = {
        "risk": ht.risk(evidence),
        "risk(loss='sigmoid')": ht.risk(evidence, "sigmoid"),
        "risk(loss='zero_one', threshold=0.5)": ht.risk(evidence, "zero_one", threshold=0.5),
    }
    assert {name: row["value"] for name, row in rows.items()} == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("asked", "match"),
    [
        ("risk(loss=hinge)", "loss"),
        ("risk(margin=2)", "no parameter 'margin'"),
        ("risk(threshold=x)", "threshold"),
    ],
)
def test_what_the_command_line_refuses(
    asked: str, match: str, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", str(table), "--metrics", asked, "--prior", "0.35"]) == 2
    assert match in capsys.readouterr().err


# --- Bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loss", "given", "match"),
    [
        ("hinge", {}, "`loss` must be"),
        (3, {}, "`loss` must be"),
        (None, {}, "`loss` must be"),
        ((np.exp,), {}, "two functions"),
        ((np.exp, "log"), {}, "two functions"),
        ("zero_one", {"threshold": "high"}, "`threshold` must be a real number"),
        ("zero_one", {"threshold": float("nan")}, "`threshold`"),
        ((lambda s: s[:2], lambda s: s), {}, "one number for each score"),
    ],
)
def test_bad_input(loss: Any, given: dict[str, Any], match: str) -> None:
    with pytest.raises(ht.InputError, match=match):
        ht.risk(ht.Labeled(Y, MARGIN), loss, **given)


@pytest.mark.parametrize("loss", ["logistic", "sigmoid", "squared", "ramp"])
def test_a_threshold_that_would_be_ignored_is_refused(loss: str) -> None:
    """As `positive_confidence_risk` does."""
    with pytest.raises(ht.InputError, match="`threshold`"):
        ht.risk(ht.Labeled(Y, MARGIN), loss, threshold=0.5)


@pytest.mark.parametrize("loss", ["log", "brier"])
def test_margins_are_no_probabilities(loss: str) -> None:
    with pytest.raises(ht.InputError, match=r"needs scores in \[0, 1\]"):
        ht.risk(ht.Labeled(Y, MARGIN), loss)


def test_not_evidence() -> None:
    with pytest.raises(ht.InputError, match="Expected evidence"):
        ht.risk([0.1, 0.2])
