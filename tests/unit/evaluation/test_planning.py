"""What to collect next: against hand cases, and against tables that really hold the rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import halftruth as ht
from halftruth.evaluation._planning import Outlook, next_steps, smooth
from halftruth.evidence import Scenario
from halftruth.inference._prior_range import prior_range
from halftruth.inference._requests import read_requests
from halftruth.report._page_record import Step
from halftruth.results._intervals import normal_interval, score_interval

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
    span = prior_range(evidence, 0.95)
    asked = smooth(evidence, requests, span.scenarios)
    return Outlook(evidence, asked, span, 0.95, evidence.rows_are_one_sample)


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
    found = outlook(evidence, metrics).widths_with(what, rows)
    return {request.label: one.width for request, one in found.items()}


# --- by hand --------------------------------------------------------------------------------------------


def test_labeled_errors_fall_with_the_root_of_the_rows() -> None:
    rng = np.random.default_rng(0)
    y = rng.random(800) < 0.3
    evidence = ht.Labeled(y, np.round(np.clip(rng.normal(0.4 + 0.2 * y, 0.15), 0.01, 0.99), 2))
    rows = ["roc_auc", "accuracy", "log_loss"]
    found, now = steps(evidence, rows), ht.evaluate(evidence, rows, threshold=0.5, n_resamples=0)
    assert {(step.what, step.rows) for step in found} == {("labels", 1000)}
    for name, row in now.items():
        assert then(found, name, "labels") == pytest.approx(grown(row, 1800 / 800), rel=1e-6)


def grown(row: ht.Estimate, growth: float) -> float:
    """The width of an interval where there are so many times as many rows."""
    center, degrees = np.asarray([row.value]), row.degrees * growth
    if row.share_rows is not None:
        low, high = score_interval(center, row.share_rows * growth, 0.95, degrees)
    else:
        spread = np.sqrt(row.errors**2 / growth + row.unseen / growth**2)
        low, high = normal_interval(center, spread, 0.95, row.limits, degrees)
    return high - low


def test_each_sample_narrows_its_own_part() -> None:
    """The AUC of positives and unlabeled is (∫ F_U dF_P − π/2) / (1 − π)."""
    below = (P[:, None] > U) + (P[:, None] == U) / 2
    own, other = below.mean(1).var(ddof=1) / len(P) / 0.49, below.mean(0).var(ddof=1) / len(U) / 0.49
    found = steps(ht.PositiveUnlabeled(P, U, prior=0.3), ["roc_auc"])
    for what, variance in {
        "positives": own * (N - 1) / (2 * N - 1) + other,
        "unlabeled": own + other * (len(U) - 1) / (len(U) + N - 1),
    }.items():
        # Student's quantile and rows that were not seen add up to one percent to so many.
        assert then(found, "roc_auc", what) == pytest.approx(2.01 * Z * np.sqrt(variance), rel=5e-3)
    assert {step.rows for step in found} == {N}
    assert found[0].width == pytest.approx(2.01 * Z * np.sqrt(own + other), rel=5e-3)


POS, NEG = np.asarray([10, 40, 50]), np.asarray([600, 200, 100])
"""1,000 cases at three scores, of which 100 are positive."""


def counted(*counts: Any) -> list[Any]:
    return [np.repeat([0.2, 0.5, 0.8], n) for n in counts]


@pytest.mark.parametrize("prior", [0.1, None, (0.05, 0.15), (0.0999, 0.1001)])
@pytest.mark.parametrize("metric", ["log_loss", "recall"])
def test_labels_join_as_known_positives_and_negatives(prior: Any, metric: str) -> None:
    """Of 100 random cases 10 are positive, spread as the known positives; the narrowest call counts."""
    p, u, more, negative = counted(POS, POS + NEG, POS // 10, NEG // 10)
    one = outlook(ht.PositiveUnlabeled(p, u, prior=prior), [metric])
    (got,) = one.widths_with_labels_at(Scenario(prior=0.1), 100).values()
    of_labels = ht.estimate_prior(p, u, labeled_sample=(10, 100), method="sample")
    known = np.append(p, more)
    calls = {
        "": ht.PositiveUnlabeled(known, u, negative=negative, prior=prior),
        ", without a prior": ht.PositiveUnlabeled(known, u, negative=negative),
        ", with the prior that they show": ht.PositiveUnlabeled(known, u, negative=negative, prior=of_labels),
    }
    if prior == 0.1:  # nothing is doubtful
        calls = {"": calls[""]}
    elif prior is None:
        del calls[", without a prior"]
    found = {way: widths(call, [metric])[metric] for way, call in calls.items()}
    best = min(found, key=lambda way: found[way])
    assert got.width == pytest.approx(found[best], rel=1e-6)
    assert got.how == f"new ones, given as known positives and negatives{best}"


def test_labels_in_one_table_are_of_its_unlabeled_cases() -> None:
    """Of 1,000 cases 100 are known positives; of the 500 labeled among the others 50 are positive."""
    unknown = POS + NEG  # a tenth positive
    p, u, more, negative = counted(POS, unknown, POS // 2, NEG // 2)
    prior = 200 / 1100
    got = predicted(ht.PositiveUnlabeled(p, u, prior=prior, population="all"), "labels", 500)
    (left,) = counted(unknown // 2)
    later = ht.PositiveUnlabeled(np.append(p, more), left, negative=negative, prior=prior, population="all")
    assert got == pytest.approx(widths(later), rel=1e-4)


@pytest.mark.parametrize("given", [{"purity": 0.9}, {"propensity": np.linspace(0.2, 0.8, 100)}])
def test_positives_found_do_not_join_those_of_another_kind(given: dict[str, Any]) -> None:
    p, u = counted(POS, POS + NEG)
    evidence = ht.PositiveUnlabeled(p, u, prior=0.1, **given)
    one = outlook(evidence, ["log_loss"])
    (got,) = one.widths_with("labels", 500).values()
    assert got.how == "new ones, the negatives given as known negatives"
    found = one._frequency(evidence.measure())
    (negative,) = counted(np.round((1 - found) * (POS + NEG) / 2).astype(int))
    later = ht.PositiveUnlabeled(p, u, negative=negative, prior=0.1, **given)
    assert got.width == pytest.approx(widths(later, ["log_loss"])["log_loss"], rel=0.003)


def test_labels_where_an_estimate_is_of_the_unlabeled() -> None:
    """In one table it is no prior of all cases, and is not taken for one."""
    alpha = ht.PriorEstimate(value=0.1, replicates=[0.099, 0.1, 0.101])
    p, u, left, more, negative = counted(POS, POS + NEG, (POS + NEG) // 2, POS // 2, NEG // 2)
    now = ht.PositiveUnlabeled(p, u, prior=alpha, population="all")
    shown = ht.estimate_prior(now, labeled_sample=(50, 500), method="sample")
    calls = [
        ht.PositiveUnlabeled(np.append(p, more), left, negative=negative, prior=x, population="all")
        for x in (alpha, None, shown)
    ]
    found = [widths(call) for call in calls]
    narrowest = {name: min(each[name] for each in found) for name in METRICS}
    assert predicted(now, "labels", 500) == pytest.approx(narrowest, rel=1e-4)


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
        assert best.then < best.width - 0.5 * range_alone
        assert range_alone < then(found, name, "positives") < best.width
        assert range_alone < then(found, name, "unlabeled") < best.width


def test_of_an_unknown_prior_the_widest_is_told() -> None:
    one = outlook(ht.PositiveUnlabeled(P, U))
    high = max(scenario.prior for scenario in one.span.scenarios)
    told = one.widths_with("labels", N)
    assert len(told) == len(METRICS)
    for request, width in told.items():
        each = [
            one.widths_with_labels_at(Scenario(prior=x * high), N)[request].width for x in (0.25, 0.5, 0.75)
        ]
        assert width.width == pytest.approx(max(each), rel=0.01)
        assert width.how.endswith("; less at some priors")


def test_few_of_a_class_are_no_labels() -> None:
    """Of 100 cases three would be positive."""
    p, u = counted(POS, POS + 4 * NEG)
    found = steps(ht.PositiveUnlabeled(p, u, prior=0.03), ["roc_auc"])
    assert {step.what for step in found} == {"positives", "unlabeled"}
    assert all(step.then > 0 for step in found)


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
    if given == "unknown":  # its range is held, so that no more is promised than is found
        now = widths(ht.PositiveUnlabeled(P, U))
        assert all(found[name] < 1.01 * got[name] < 1.02 * now[name] for name in METRICS)
    else:
        assert got == pytest.approx(found, rel=0.004)


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
    confident = ht.PositiveConfidence(q[MORE.y == 1], np.round(MORE.score, 2)[MORE.y == 1])
    row = ht.evaluate(confident, "log_loss", n_resamples=0)["log_loss"]
    assert sure[0].then == pytest.approx(grown(row, (n + 200) / n), rel=1e-6)
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
    "refuted": lambda: ht.PositiveUnlabeled(P, U, prior=0.9),
    "one positive": lambda: ht.PositiveUnlabeled([0.9], U, prior=0.3),
    "one score": lambda: ht.PositiveUnlabeled([0.5, 0.5], [0.5] * 9, prior=0.3),
    "one class": lambda: ht.Labeled([1, 1, 1], [0.2, 0.6, 0.9]),
}


@pytest.mark.parametrize("kind", EMPTY)
def test_where_nothing_can_be_computed_nothing_is_said(kind: str) -> None:
    assert steps(EMPTY[kind](), ["roc_auc"]) == ()


def test_of_one_class_the_share_narrows() -> None:
    (step,) = steps(EMPTY["one class"](), ["roc_auc", "prevalence"])
    assert (step.metric, step.then < step.width / 2) == ("prevalence", True)


def test_more_rows_narrow_what_no_row_contradicts() -> None:
    (step,) = steps(ht.Labeled([0, 0, 1, 1], [0.2, 0.3, 0.8, 0.9]), ["roc_auc"])
    assert 0 < step.then < step.width / 2


def test_a_table_with_few_hidden_positives_has_none_to_find() -> None:
    found = steps(ht.PositiveUnlabeled(P, U, prior=0.25, population="all"), ["roc_auc"])
    assert {step.what for step in found} == {"unlabeled", "labels"}
    found = steps(ht.PositiveUnlabeled(P, U, prior=0.4, population="all"), ["roc_auc"])
    assert {step.what for step in found} == {"positives", "unlabeled", "labels"}


def test_few_known_positives_make_it_rough() -> None:
    assert [x.rough for n in (29, 30) for x in steps(MODEL.positive_unlabeled(n, 900, 0), ["roc_auc"])] == [
        *(True, True, True, False, False, False),
    ]
