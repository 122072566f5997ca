"""The prior and the purity: what is refused, what is not identified, and what works without."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import halftruth as ht
from halftruth import InputError, NotIdentifiable, PositiveConfidence, PositiveUnlabeled, PriorEstimate
from halftruth.table._strata import StratumRows

P, U = [0.9, 0.4], [0.9, 0.6, 0.3, 0.2]
PU = PositiveUnlabeled(P, U)
NOISY = PositiveUnlabeled(P, U, purity=0.9)


def pu(**options: Any) -> PositiveUnlabeled:
    return PositiveUnlabeled(P, U, **{"prior": 0.3} | options)


@pytest.mark.parametrize("prior", [0, 1, -0.1, 1.2, 30, True, float("nan"), (0.2, 1.2), (0, 0.5)])
@pytest.mark.parametrize(
    "build", [lambda prior: pu(prior=prior), lambda prior: PositiveConfidence(P, prior=prior)]
)
def test_prior_outside_its_range(build: Callable[[Any], Any], prior: Any) -> None:
    with pytest.raises(
        InputError,
        match=r"`prior` must (lie in \(0, 1\)|be a real number), got .*Pass the positive fraction .*not the odds",
    ):
        build(prior)


PRIORS = {
    "misspelled": ("estimat", r"`prior`='estimat' is not understood.*Pass a number, a pair .*'estimate'"),
    "text": ("0.3", r"`prior`='0\.3' is not understood.*Pass a number"),
    "one end": ((0.2,), r"`prior` as a range must be a pair \(low, high\), got \(0\.2,\)"),
    "three ends": ([0.1, 0.2, 0.3], r"must be a pair \(low, high\), got \[0\.1, 0\.2, 0\.3\]"),
    "backward": ((0.5, 0.2), r"pair \(low, high\) with low <= high, got \(0\.5, 0\.2\)"),
    "mapping": ({}, r"`prior` must be a .*number.*got \{\}.*"),
    "array": (np.array([0.2, 0.4]), r"`prior` must be a .*number.*got array"),
}


@pytest.mark.parametrize(("prior", "message"), PRIORS.values(), ids=PRIORS)
def test_prior_of_another_form(prior: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        pu(prior=prior)


# n_P = 2, n_U = 4, n_N = 2: the counts allow π from ρ 2/8 to (ρ 2 + 4)/8.
@pytest.mark.parametrize(
    ("prior", "purity", "limits"),
    [
        (0.2, 1.0, r"\[0\.25, 0\.75\]"),
        (0.8, 1.0, r"\[0\.25, 0\.75\]"),
        ((0.3, 0.8), 1.0, r"\[0\.25, 0\.75\]"),
        ((0.2, 0.5), 1.0, r"\[0\.25, 0\.75\]"),
        (0.15, 0.8, r"\[0\.2, 0\.7\]"),
        (0.21, (0.7, 0.9), r"\[0\.225, 0\.725\]"),
    ],
)
def test_prior_outside_what_the_counts_allow(prior: Any, purity: Any, limits: str) -> None:
    message = rf"`prior` must lie in {limits}.*n_P=2, n_U=4, n_N=2.*got 0\..*pass population=\"unlabeled\""
    with pytest.raises(InputError, match=message):
        pu(prior=prior, purity=purity, negative=[0.1, 0.5], population="all")


def test_counts_are_shown_in_full() -> None:
    rows = {
        "positive": StratumRows(score=np.full(1, 0.9), weight=np.array([1234567.0])),
        "unlabeled": StratumRows(score=np.full(2, 0.3), weight=np.array([7654321.0, 1.0])),
        "negative": StratumRows(score=np.full(1, 0.1), weight=np.array([1 / 3])),
    }
    with pytest.raises(InputError, match=r"n_P=1,234,567, n_U=7,654,322, n_N=0\.333333, purity=1\)"):
        ht.PositiveUnlabeled.from_table(ht.ScoreTable(rows), prior=0.01)


def test_the_limits_that_the_counts_allow_are_allowed() -> None:
    for prior, alpha in ((0.25, 0.0), (0.75, 1.0)):
        evidence = pu(prior=prior, negative=[0.1, 0.5], population="all")
        assert evidence.measure().alpha == alpha
        assert ht.prevalence(evidence) == pytest.approx(prior, abs=1e-15)


def test_the_same_prior_is_fine_where_the_unlabeled_are_the_population() -> None:
    assert ht.prevalence(pu(prior=0.2, negative=[0.1, 0.5])) == pytest.approx(0.2, abs=1e-15)


def test_estimate_for_other_rows() -> None:
    estimate = PriorEstimate(
        value=0.1, low=0.05, high=0.12, population="all"
    )  # of all rows, 2/6 are positive
    with pytest.raises(
        InputError, match=r"`prior` gives a share of -0\.425 .*outside \[0, 1\]\. Pass an estimate"
    ):
        pu(prior=estimate)


@pytest.mark.parametrize(
    ("prior", "purity", "shown"),
    [(0.6, 0.5, "purity=0.5 and α=0.6"), (0.5, 0.5, "purity=0.5 and α=0.5"), ((0.2, 0.6), 0.5, "α=0.6")],
)
def test_purity_must_exceed_alpha(prior: Any, purity: float, shown: str) -> None:
    with pytest.raises(InputError, match=rf"`purity` must exceed the share .*{shown}.*Check which share"):
        pu(prior=prior, purity=purity)


@pytest.mark.parametrize("purity", [0, -1, 1.1, 90, float("nan"), (0.5, 1.2)])
def test_purity_outside_its_range(purity: Any) -> None:
    with pytest.raises(
        InputError, match=r"`purity` must (lie in \(0, 1\]|be a real number), got .*Pass the share of the "
    ):
        pu(purity=purity)


def test_purity_is_never_unknown() -> None:
    with pytest.raises(
        InputError, match=r"`purity` must be a number in \(0, 1\], a pair or an estimate, got None"
    ):
        pu(purity=None)


ESTIMATES = {
    "nothing": ({}, r"needs `replicates`, or both `low` and `high`\. Pass a plain number"),
    "one end": ({"low": 0.2}, r"needs `replicates`, or both `low` and `high`\."),
    "no draws": ({"replicates": []}, r"`replicates` is empty\. Leave it out"),
    "NaN": ({"replicates": [0.3, float("nan")]}, r"`replicates` must be finite, got 1 .*index 1"),
    "value": (
        {"value": 1.3, "replicates": [0.3]},
        r"`value` must lie in \[0, 1\], got 1\.3\. Pass a share",
    ),
    "population": (
        {"replicates": [0.3], "population": "U"},
        r"`population` must be 'unlabeled' or 'all', got 'U'",
    ),
    "percentages": (
        {"replicates": [0.3, 30.0]},
        r"`replicates` must lie in \[0, 1\], got 1 .*\(30\.0\) at index 1",
    ),
    "low": ({"low": -1, "high": 0.4}, r"`low` and `high` must .*got -1"),
    "high": ({"low": 0.1, "high": 4}, r"`low` and `high` must .*and 4"),
    "backward": ({"low": 0.4, "high": 0.2}, r"`low` .*`high`.*got 0\.4 .*0\.2"),
}


@pytest.mark.parametrize(("given", "message"), ESTIMATES.values(), ids=ESTIMATES)
def test_prior_estimate_that_is_none(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        PriorEstimate(**{"value": 0.3} | given)


def test_negatives_like_positives_identify_nothing() -> None:
    same = PositiveUnlabeled([0.5, 0.5], U, negative=[0.5, 0.5])
    with pytest.raises(NotIdentifiable, match=r"same scores, so they do not identify .*Pass `prior`"):
        ht.roc_auc(same)


# --- what the evidence does not identify --------------------------------------------------------------

NEEDS_PRIOR = {
    "roc_auc": ht.roc_auc,
    "brier": ht.brier,
    "prevalence": ht.prevalence,
    "roc_curve": ht.roc_curve,
    "precision_at_k": partial(ht.precision_at_k, k=2),
    "best f1": partial(ht.best_threshold, maximize="f1"),
    "precision": lambda evidence: ht.confusion(evidence, 0.5).precision,
}
NEEDS_NONE = {  # with P = {.9, .4}, U = {.9, .6, .3, .2} and the threshold .5
    "recall": (lambda evidence: ht.confusion(evidence, 0.5).recall, 1 / 2),
    "lift": (lambda evidence: ht.confusion(evidence, 0.5).lift, (1 / 2) / (2 / 4)),
    "recall_at_k": (partial(ht.recall_at_k, k=1), 1 / 2),
    "gain_curve": (lambda evidence: ht.gain_curve(evidence).gain[2], 1 / 2),
    "best recall": (partial(ht.best_threshold, recall_at_least=1.0), 0.4),
}


@pytest.mark.parametrize("metric", NEEDS_PRIOR.values(), ids=NEEDS_PRIOR)
def test_without_a_prior_the_message_says_what_to_pass(metric: Callable[..., Any]) -> None:
    with pytest.raises(NotIdentifiable, match=r"prior is not identified .*Pass `prior`.*or known negatives"):
        metric(PU)


@pytest.mark.parametrize(("metric", "value"), NEEDS_NONE.values(), ids=NEEDS_NONE)
def test_what_needs_no_prior_works_without(metric: Callable[..., float], value: float) -> None:
    assert metric(PU) == pytest.approx(value, abs=1e-15)


def test_predicted_positive_rate_needs_neither_prior_nor_purity() -> None:
    for evidence in (PU, NOISY):
        assert ht.confusion(evidence, 0.5).predicted_positive_rate == 2 / 4
        row = ht.evaluate(evidence, "predicted_positive_rate", threshold=0.5, n_resamples=0)
        assert float(row["predicted_positive_rate"]) == 2 / 4


@pytest.mark.parametrize("metric", [metric for metric, _ in NEEDS_NONE.values()], ids=NEEDS_NONE)
def test_with_purity_recall_needs_the_prior_too(metric: Callable[..., float]) -> None:
    with pytest.raises(NotIdentifiable, match=r"with purity < 1 neither is recall\. Pass `prior`"):
        metric(NOISY)


def test_propensity_with_purity_is_not_identifiable() -> None:
    for purity in (0.9, (0.8, 1.0)):
        with pytest.raises(
            NotIdentifiable, match=r"not identifiable.*Pass `propensity` with purity=1, or `purity`"
        ):
            pu(propensity=[0.5, 0.5], purity=purity)
