"""What to collect next: against hand cases, and against tables that really hold the rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import halftruth as ht
from halftruth.intervals import normal_interval
from halftruth.report.collect import Step, in_words, next_steps
from halftruth.report.outlook import Outlook
from halftruth.uncertainty.requests import read_requests

Z = NormalDist().inv_cdf(0.975)
MODEL = ht.simulate.GaussianClasses(prior=0.3)
N = 200
DRAWN = MODEL.draw_strata(N, 5 * N, 0)
MORE = MODEL.draw(3 * N, 1)
P, U = (np.clip(np.round(part.score, 2), 0.01, 0.99) for part in (DRAWN.positive, DRAWN.unlabeled))
NEGATIVE = np.clip(np.round(MORE.score[MORE.y == 0], 2), 0.01, 0.99)[:N]
ESTIMATE = ht.PriorEstimate(value=0.3, replicates=np.random.default_rng(0).normal(0.3, 0.04, 500))
METRICS = ("roc_auc", "precision", "log_loss")


def outlook(evidence: Any, metrics: Any = METRICS, threshold: float | None = 0.5) -> Outlook:
    requests = read_requests(metrics, [evidence.measure()], threshold)
    return Outlook.of(evidence, requests, 0.95, one_sample=evidence.rows_are_one_sample)


def steps(evidence: Any, metrics: Any = METRICS, threshold: float | None = 0.5) -> Sequence[Step]:
    requests = read_requests(metrics, [evidence.measure()], threshold)
    return next_steps(evidence, requests, confidence_level=0.95, one_sample=evidence.rows_are_one_sample)


def then(found: Sequence[Step], metric: str, what: str) -> float:
    (step,) = (step for step in found if (step.metric, step.what) == (metric, what))
    return step.then


def widths(evidence: Any, metrics: Any = METRICS) -> dict[str, float]:
    result = ht.evaluate(evidence, metrics, threshold=0.5, n_resamples=0)
    return {name: row.high - row.low for name, row in result.items()}


def predicted(evidence: Any, what: str, rows: int, metrics: Any = METRICS) -> dict[str, float]:
    found = outlook(evidence, metrics).widths_with_more(rows)[what]
    return {request.label: width for request, width in found.items()}


# --- by hand --------------------------------------------------------------------------------------------


def test_labeled_errors_fall_with_the_root_of_the_rows() -> None:
    rng = np.random.default_rng(0)
    y = rng.random(800) < 0.3
    evidence = ht.Labeled(y, np.round(np.clip(rng.normal(0.4 + 0.2 * y, 0.15), 0.01, 0.99), 2))
    rows = ["roc_auc", "accuracy", "log_loss"]
    found, now = steps(evidence, rows), ht.evaluate(evidence, rows, threshold=0.5, n_resamples=0)
    assert {(step.what, step.rows) for step in found} == {("labels", 1000)}
    for name, row in now.items():
        assert row.standard_error is not None
        error = np.asarray([row.standard_error * np.sqrt(800 / 1800)])
        low, high = normal_interval(
            np.asarray([row.value]), error, 0.95, row.limits, logit=name != "log_loss"
        )
        assert then(found, name, "labels") == pytest.approx(high - low, rel=1e-6)


def test_each_sample_narrows_its_own_part() -> None:
    """The AUC of positives and unlabeled is (∫ F_U dF_P − π/2) / (1 − π)."""
    below = (P[:, None] > U) + (P[:, None] == U) / 2
    own, other = below.mean(1).var(ddof=1) / len(P) / 0.49, below.mean(0).var(ddof=1) / len(U) / 0.49
    found = steps(ht.PositiveUnlabeled(P, U, prior=0.3), ["roc_auc"])
    for what, variance in {
        "positives": own / 2 + other,
        "unlabeled": own + other * len(U) / (len(U) + N),
    }.items():
        assert then(found, "roc_auc", what) == pytest.approx(2 * Z * np.sqrt(variance), rel=1e-6)
    assert {step.rows for step in found} == {N}
    assert found[0].width == pytest.approx(2 * Z * np.sqrt(own + other), rel=1e-6)


def test_labels_sharpen_an_estimated_prior_by_inverse_variances() -> None:
    evidence = ht.PositiveUnlabeled(P, U, prior=ESTIMATE)
    pi, own = evidence.measure().prior, widths(evidence, ["prevalence"])["prevalence"] / (2 * Z)
    labels = pi * (1 - pi) / N
    variance = own**2 * labels / (own**2 + labels)
    got = then(steps(evidence, ["prevalence"]), "prevalence", "labels")
    assert got == pytest.approx(2 * Z * np.sqrt(variance), rel=1e-4)


def test_labels_add_what_they_say_of_a_metric() -> None:
    """With an exact prior: 1/V = 1/V₁ + 1/V₂, with V₂ of a mean loss within classes of known sizes."""
    score = np.asarray([0.2, 0.5, 0.8])
    pos, neg = np.asarray([10, 40, 50]), np.asarray([600, 200, 100])
    u = np.repeat(score, pos + neg)  # 1,000 cases, of which 100 are positive
    found = steps(ht.PositiveUnlabeled(np.repeat(score, pos), u, prior=0.1), ["log_loss"])
    assert found[0].rows == 100
    variance = 0.0
    for share, masses, loss in ((0.1, pos, -np.log(score)), (0.9, neg, -np.log(1 - score))):
        around = (loss - np.average(loss, weights=masses)) ** 2
        variance += share * np.average(around, weights=masses) / 100
    own = (found[0].width / (2 * Z)) ** 2
    expected = 2 * Z * np.sqrt(own * variance / (own + variance))
    assert then(found, "log_loss", "labels") == pytest.approx(expected, rel=1e-5)


def test_only_labels_narrow_a_range_of_priors() -> None:
    ends = (0.2, 0.4)
    found = steps(ht.PositiveUnlabeled(P, U, prior=ends))
    for name in METRICS:
        at = [
            ht.evaluate(ht.PositiveUnlabeled(P, U, prior=x), [name], threshold=0.5, n_resamples=0)
            for x in ends
        ]
        range_alone = abs(at[0][name].value - at[1][name].value)
        best = next(step for step in found if step.metric == name)
        assert best.what == "labels"
        assert best.then < range_alone + 0.5 * (best.width - range_alone)
        assert range_alone < then(found, name, "positives") < best.width
        assert range_alone < then(found, name, "unlabeled") < best.width


def test_many_labels_end_the_doubt_about_the_prior() -> None:
    """With so many labels a range, an unknown prior and a number differ no more."""
    one, wide, unknown = (
        predicted(ht.PositiveUnlabeled(P, U, prior=x), "labels", 10**7) for x in (0.3, (0.2, 0.4), None)
    )
    for name in METRICS:
        assert max(one[name], wide[name], unknown[name]) < 0.01


# --- against tables with the rows -----------------------------------------------------------------------

GIVEN: dict[str, dict[str, Any]] = {
    "number": {"prior": 0.3},
    "range": {"prior": (0.25, 0.35)},
    "estimate": {"prior": ESTIMATE},
    "unknown": {},
    "purity": {"prior": 0.3, "purity": 0.9},
    "purity range": {"prior": 0.3, "purity": (0.85, 0.95)},
    "propensity": {"prior": 0.3, "propensity": np.linspace(0.2, 0.8, N)},
    "negatives": {"prior": 0.3, "negative": NEGATIVE},
    "negatives, no prior": {"negative": NEGATIVE},
}


def doubled(what: str, given: dict[str, Any]) -> ht.PositiveUnlabeled:
    given, p, u = dict(given), P, U
    if what == "positives":
        p = np.tile(P, 2)
        if "propensity" in given:
            given["propensity"] = np.tile(given["propensity"], 2)
    elif what == "unlabeled":
        u = np.tile(U, 2)
    else:
        given["negative"] = np.tile(NEGATIVE, 2)
    return ht.PositiveUnlabeled(p, u, **given)


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("what", ["positives", "unlabeled", "negatives"])
def test_twice_the_rows_of_a_sample_give_the_width_predicted(what: str, given: str) -> None:
    if what == "negatives" and "negative" not in GIVEN[given]:
        return
    rows = {"positives": len(P), "unlabeled": len(U), "negatives": len(NEGATIVE)}[what]
    got = predicted(ht.PositiveUnlabeled(P, U, **GIVEN[given]), what, rows)
    found = widths(doubled(what, GIVEN[given]))
    # The bound on an unknown prior is taken at ranks of the rows, whose spacing changes a little.
    off = 0.03 if given == "unknown" else 0.004
    assert got == pytest.approx(found, rel=off)


ALL: dict[str, dict[str, Any]] = {
    "number": {"prior": 0.4},
    "range": {"prior": (0.35, 0.45)},
    "purity": {"prior": 0.4, "purity": 0.9},
    "propensity": {"propensity": np.linspace(0.2, 0.5, N)},
    "negatives": {"prior": 0.4, "negative": NEGATIVE},
    "negatives, no prior": {"negative": NEGATIVE},
}
SEA = np.concatenate([P, NEGATIVE, U])
"""Unlabeled cases that hold those whose labels will be known."""


@pytest.mark.parametrize("given", ALL)
@pytest.mark.parametrize("what", ["positives", "unlabeled", "negatives"])
def test_in_one_table_labels_move_rows_and_new_cases_are_unlabeled(what: str, given: str) -> None:
    own = ALL[given]
    if what == "negatives" and "negative" not in own:
        return
    later, p, u = dict(own), P, SEA
    table = [P, SEA, own.get("negative", [])]
    if what == "positives":
        p, u, rows = np.tile(P, 2), SEA[len(P) :], len(P)
        if "propensity" in own:  # twice the chance of a label, and as many positives
            later["propensity"] = np.tile(2 * own["propensity"], 2)
    elif what == "negatives":
        later["negative"], rows = np.tile(NEGATIVE, 2), len(NEGATIVE)
        u = np.concatenate([P, U])
    else:
        u, rows = np.concatenate([SEA, *table]), sum(map(len, table))
        if "propensity" in own:  # of twice the positives as many are labeled
            later["propensity"] = own["propensity"] / 2
    got = predicted(ht.PositiveUnlabeled(P, SEA, population="all", **own), what, rows)
    found = widths(ht.PositiveUnlabeled(p, u, population="all", **later))
    assert got == pytest.approx(found, rel=0.004)


def test_soft_labels_and_confidences_come_with_more_rows_alike() -> None:
    q = np.clip(np.round(MORE.posterior, 2), 0.05, 1)
    soft = steps(ht.SoftLabeled(q, np.round(MORE.score, 2)), ["roc_auc"])
    sure = steps(ht.PositiveConfidence(q[MORE.y == 1], np.round(MORE.score, 2)[MORE.y == 1]), ["log_loss"])
    assert [(step.what, step.rows) for step in (*soft, *sure)] == [("labels", 500), ("positives", 200)]
    n = int((MORE.y == 1).sum())
    assert sure[0].then / sure[0].width == pytest.approx(np.sqrt(n / (n + 200)), rel=1e-6)
    assert soft[0].then / soft[0].width == pytest.approx(np.sqrt(600 / 1100), rel=0.01)


def test_weights_and_many_scores_are_joined_alike() -> None:
    weight = np.random.default_rng(0).exponential(size=len(MORE.score))
    known = (MORE.y == 1) & (np.arange(len(MORE.y)) % 2 == 0)

    def evidence(times: int) -> ht.PositiveUnlabeled:
        rest = np.concatenate([MORE.score[~known], *[MORE.score] * times])
        of_rest = np.concatenate([weight[~known], *[weight] * times])
        weights = {"positive_weight": weight[known], "unlabeled_weight": of_rest}
        return ht.PositiveUnlabeled(MORE.score[known], rest, prior=0.3, population="all", **weights)

    now = {step.metric: step.width for step in steps(evidence(0))}
    assert now == pytest.approx(widths(evidence(0)), rel=0.01)
    got = predicted(evidence(0), "unlabeled", 3 * len(weight))
    assert got == pytest.approx(widths(evidence(3)), rel=0.02)


# --- what is said, and what is not ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "rows"), [(3, 50), (70, 50), (72, 100), (150, 200), (330, 500), (7200, 10_000)]
)
def test_the_number_of_rows_is_round(n: int, rows: int) -> None:
    found = steps(MODEL.positive_unlabeled(n, 2000, 0), ["roc_auc"])
    assert {step.rows for step in found} == {rows}


def test_headlines_come_first_and_the_best_step_of_each() -> None:
    found = steps(ht.PositiveUnlabeled(P, U, prior=0.3), ["brier", "prevalence", "f1", "roc_auc"])
    assert list(dict.fromkeys(step.metric for step in found)) == ["roc_auc", "f1", "brier"]
    for name in ("roc_auc", "f1", "brier"):
        each = [step.then for step in found if step.metric == name]
        assert each == sorted(each)
        assert len(each) == 3


def test_what_has_no_closed_form_is_left_out() -> None:
    rows = {
        "calibration_error": "calibration_error",
        "at k": partial(ht.precision_at_k, k=0.2),
        "average_precision": "average_precision",
        "own": lambda measure: measure.prior,
    }
    assert steps(ht.PositiveUnlabeled(P, U, prior=0.3), rows) == ()
    found = steps(ht.Labeled(MORE.y, MORE.score), rows)
    assert [step.metric for step in found] == ["average_precision"]


EMPTY = {
    "one positive": lambda: ht.PositiveUnlabeled([0.9], U, prior=0.3),
    "one score": lambda: ht.PositiveUnlabeled([0.5, 0.5], [0.5] * 9, prior=0.3),
    "one class": lambda: ht.Labeled([1, 1, 1], [0.2, 0.6, 0.9]),
    "perfect": lambda: ht.Labeled([0, 0, 1, 1], [0.2, 0.3, 0.8, 0.9]),
}


@pytest.mark.parametrize("kind", EMPTY)
def test_where_nothing_can_be_computed_nothing_is_said(kind: str) -> None:
    assert steps(EMPTY[kind](), ["roc_auc", "prevalence"] if kind == "one class" else ["roc_auc"]) == ()
    assert in_words(()) == []


def test_a_table_with_few_hidden_positives_has_none_to_find() -> None:
    found = steps(ht.PositiveUnlabeled(P, U, prior=0.25, population="all"), ["roc_auc"])
    assert {step.what for step in found} == {"unlabeled", "labels"}
    found = steps(ht.PositiveUnlabeled(P, U, prior=0.4, population="all"), ["roc_auc"])
    assert {step.what for step in found} == {"positives", "unlabeled", "labels"}


def step(what: str, then: float, metric: str = "roc_auc", width: float = 0.042, rows: int = 2000) -> Step:
    return Step(what=what, rows=rows, metric=metric, width=width, then=then)


def test_words_on_one_metric() -> None:
    found = [step("positives", 0.031), step("labels", 0.038), step("unlabeled", 0.0415)]
    assert in_words(found) == [
        "2,000 more known positives would narrow the interval of ROC AUC most, from 0.042 to 0.031. "
        "Labels for 2,000 random cases: to 0.038. 2,000 more unlabeled cases: hardly (0.042)."
    ]


def test_words_where_another_metric_differs() -> None:
    found = [
        *(step("positives", 0.031), step("labels", 0.038)),
        *(step("labels", 0.02, "precision"), step("positives", 0.04, "precision")),
        *(step("labels", 0.021, "f1"), step("positives", 0.04, "f1")),
        *(step("labels", 0.0305, "brier"), step("positives", 0.031, "brier")),
    ]
    assert in_words(found)[1:] == [
        "For Precision another step is best: labels for 2,000 random cases, from 0.042 to 0.020. "
        "The same helps most for F1."
    ]


def test_words_where_little_helps_or_one_step_is_all() -> None:
    assert in_words([step("positives", 0.0415), step("unlabeled", 0.042)]) == [
        "2,000 more known positives would hardly narrow the interval of ROC AUC, from 0.042 to 0.042; "
        "nor would 2,000 more unlabeled cases."
    ]
    assert in_words([step("labels", 0.03)]) == [
        "Labels for 2,000 more random cases would narrow the interval of ROC AUC, from 0.042 to 0.030."
    ]
    assert in_words([step("positives", 0.03)]) == [
        "2,000 more known positives with their confidences would narrow the interval of ROC AUC, "
        "from 0.042 to 0.030."
    ]
