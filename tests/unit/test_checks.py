"""Bad input: each message says what it must be, what came and what to do."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import halftruth as ht
from halftruth import InputError, Labeled, PositiveConfidence, PositiveUnlabeled, SoftLabeled
from halftruth._registry import REGISTRY

NAN, INF = float("nan"), float("inf")
Y, S = [1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1]
PARTIAL = [1, 0, None, None]
P, U = [0.9, 0.4], [0.9, 0.6, 0.3, 0.2]
LABELED = Labeled(Y, S)
MARGINS = Labeled(Y, [9, 4, -6, 1])
PU = PositiveUnlabeled(P, U)

from_labels = PositiveUnlabeled.from_labels


def pu(positive: Any = P, unlabeled: Any = U, **options: Any) -> PositiveUnlabeled:
    return PositiveUnlabeled(positive, unlabeled, **{"prior": 0.3} | options)


def refused(cases: dict[str, tuple[Callable[[], Any], str]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("call", "message"), cases.values(), ids=cases)


# --- columns --------------------------------------------------------------------------------------

COLUMNS = {
    "NaN score": (
        lambda: Labeled(Y, [0.9, NAN, 0.6, NAN]),
        r"`y_score` must be finite, got 2 .*index 1\. Drop",
    ),
    "inf score": (lambda: Labeled(Y, [0.9, 0.4, -INF, 0.1]), r"got 1 NaN or infinite.*\(-inf\) at index 2"),
    "NaN positive": (lambda: pu([0.9, NAN]), r"`positive` must be finite, got 1 .*index 1"),
    "inf unlabeled": (lambda: pu(P, [INF, INF]), r"`unlabeled` must be finite, got 2 .*index 0"),
    "NaN negative": (lambda: pu(negative=[NAN]), r"`negative` must be finite, got 1 .*index 0"),
    "NaN q": (lambda: SoftLabeled([0.5, NAN]), r"`q` must be finite, got 1 .*index 1"),
    "NaN r": (lambda: PositiveConfidence([0.5, NAN]), r"`r` must be finite, got 1 .*index 1"),
    "no rows": (lambda: Labeled([], []), r"`y_score` is empty\. Pass at least one"),
    "no positive": (lambda: pu([]), r"`positive` is empty\. Pass"),
    "no unlabeled": (lambda: pu(P, []), r"`unlabeled` is empty\. Pass"),
    "empty negative": (lambda: pu(negative=[]), r"`negative` is empty\. Pass"),
    "empty q": (lambda: SoftLabeled([]), r"`q` is empty\. Pass"),
    "empty r": (lambda: PositiveConfidence([]), r"`r` is empty\. Pass"),
    "short labels": (lambda: Labeled([1, 0], S), r"`y_true` has length 2, but .* 4\. Pass one value"),
    "short PU labels": (lambda: from_labels([1, None], S), r"`y` has length 2, but .* 4\."),
    "short scores of q": (lambda: SoftLabeled([0.1, 0.9], S), r"`y_score` has length 4, but .* 2\."),
    "short scores of r": (lambda: PositiveConfidence([0.1, 0.9], S), r"`y_score` has length 4, but .* 2\."),
    "short weight": (lambda: Labeled(Y, S, sample_weight=[1]), r"`sample_weight` has length 1, but .* 4\."),
    "short U weight": (lambda: pu(unlabeled_weight=[1]), r"`unlabeled_weight` has length 1, but .* 4\."),
    "short propensity": (lambda: pu(propensity=[0.5]), r"`propensity` has length 1, but .* 2\."),
    "object": (lambda: Labeled(Y, np.array(S, dtype=object)), r"must be numeric, got dtype object\. Convert"),
    "string": (lambda: Labeled(Y, list("abcd")), r"`y_score` must be numeric, got dtype <U1\. Convert"),
    "complex": (lambda: Labeled(Y, np.array(S) + 1j), r"must be numeric, got dtype complex128\. Convert"),
    "dates": (lambda: Labeled(Y, np.zeros(4, "M8[D]")), r"must be numeric, got dtype datetime64"),
    "predict_proba": (
        lambda: Labeled(Y, np.column_stack([S, S])),
        r"`y_score` must be one-dimensional, got shape \(4, 2\)\. .*y_score\[:, 1\]",
    ),
    "column": (lambda: Labeled(Y, np.array(S)[:, None]), r"one-dimensional, got shape \(4, 1\)\. Pass one"),
    "scalar": (lambda: Labeled(1, 0.5), r"one-dimensional, got shape \(\)\. Pass one number for each row"),
    "ragged": (lambda: Labeled(Y, [[0.1], [0.2, 0.3]]), r"got nested sequences of different lengths\. Pass"),
    "three classes": (
        lambda: SoftLabeled(np.ones((2, 3)) / 3).measure(),
        r"one class against the rest, got soft labels of 3 classes\. Pass .*`bayes_error` takes",
    ),
    "scores of three classes": (
        lambda: SoftLabeled(np.ones((2, 3)) / 3, [0.1, 0.2]),
        r"`q` has 3 classes.* Leave `y_score` out",
    ),
    "one class": (lambda: SoftLabeled(np.ones((2, 1))), r"`q` must have shape .*got \(2, 1\)\. Pass"),
    "classes do not add up": (
        lambda: SoftLabeled([[0.5, 0.5, 0.0], [0.2, 0.3, 0.2]]),
        r"`q` must sum to 1 in each row, got 0\.7 at row 1 \(1 such",
    ),
    "columns of votes and m": (
        lambda: SoftLabeled.from_votes([[1, 2, 3]], 6),
        r"`m` is the sum of each row of `k`.* Leave it out",
    ),
    "no m": (lambda: SoftLabeled.from_votes([1, 2]), r"`m` must say how many votes each row has"),
    "row without votes": (
        lambda: SoftLabeled.from_votes([[1, 2, 3], [0, 0, 0]]),
        r"got k=\[0, 0, 0\], m=0 at index 1 \(1 such",
    ),
}


@refused(COLUMNS)
def test_columns(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


# --- labels, weights, probabilities ----------------------------------------------------------------

LABELS = {
    "code": (
        lambda: Labeled([1, 2, -1, 0], S),
        r"`y_true` holds 2 .* -1, 2 \(the first at index 1\).* 0 .* and 1",
    ),
    "PU code": (lambda: from_labels([1, None, -1, -1], S), r"`y` holds 2 .* -1 .*index 2.*unlabeled=-1"),
    "many codes": (lambda: Labeled(range(10), range(10)), r"holds 8 .* 2, 3, 4, 5, 6, …"),
    "missing": (
        lambda: Labeled([1, None, None, 0], S),
        r"2 missing .*index 1\. .*PositiveUnlabeled\.from_labels",
    ),
    "words": (
        lambda: from_labels(["1", "0", "?", "?"], S),
        r"`y` must hold a number, .*got '1' at index 0\. Map",
    ),
    "mixed": (
        lambda: from_labels([1, "0", None, 0], S),
        r"`y` must hold a number, .*got '0' at index 1\. Map",
    ),
    "no unlabeled row": (lambda: from_labels(Y, S), r"no unlabeled row \(no NaN\).*unlabeled=0.*use Labeled"),
    "no -1 row": (lambda: from_labels(Y, S, unlabeled=-1), r"no NaN and no -1\).*unlabeled=0.*use Labeled"),
    "no positive row": (lambda: from_labels([0, 0, None, None], S), r"no positive row \(no 1\)\. .*needs"),
    "unlabeled is 1": (
        lambda: from_labels(Y, S, unlabeled=1),
        r"`unlabeled` must not be 1.*got 1\. Pass unlabeled=0",
    ),
    "unlabeled is True": (lambda: from_labels(Y, S, unlabeled=True), r"`unlabeled` must .*got True\. Pass"),
    "unlabeled is a word": (lambda: from_labels(Y, S, unlabeled="U"), r"`unlabeled` must be .*got 'U'"),
    "votes": (
        lambda: SoftLabeled.from_votes([1, 5], 3),
        r"`k` must be a whole number from 0 to `m`.*k=5, m=3 at index 1",
    ),
    "no ballots": (
        lambda: SoftLabeled.from_votes([0, 1], [0, 1]),
        r"`m` one from 1; got k=0, m=0 at index 0",
    ),
    "half a vote": (
        lambda: SoftLabeled.from_votes([0.5, 1], 2),
        r"`k` must be a whole number .*k=0\.5, m=2 at index 0.*soft labels, SoftLabeled\(q\)",
    ),
    "half ballots": (
        lambda: SoftLabeled.from_votes([0, 1], 1.5),
        r"`m` one from 1; got k=0, m=1\.5 at index 0",
    ),
}

WEIGHTS = {
    "negative": (
        lambda: Labeled(Y, S, sample_weight=[1, -1, -2, 1]),
        r"`sample_weight` must not be negative, got 2 .*\(-1\.0\) at index 1\. A weight says",
    ),
    "zero": (
        lambda: Labeled(Y, S, sample_weight=[0] * 4),
        r"`sample_weight` is zero for all 4 .*leave .* out",
    ),
    "NaN": (lambda: SoftLabeled(S, sample_weight=[1, NAN, 1, 1]), r"`sample_weight` must be finite.*index 1"),
    "inf": (
        lambda: PositiveConfidence(S, sample_weight=[1, 1, 1, INF]),
        r"`sample_weight` must be finite.*index 3",
    ),
    "P negative": (lambda: pu(positive_weight=[-1, 1]), r"`positive_weight` must not be negative.*index 0"),
    "U zero": (lambda: pu(unlabeled_weight=[0] * 4), r"`unlabeled_weight` is zero for all 4"),
    "N alone": (
        lambda: pu(negative_weight=[1]),
        r"`negative_weight` was given without `negative`\. Pass both",
    ),
    "P zero in a column": (
        lambda: from_labels(PARTIAL, S, sample_weight=[0, 1, 1, 1]),
        r"`sample_weight` is zero for all 1 .*positive",
    ),
}

PROBABILITIES = {
    "q": (
        lambda: SoftLabeled([0.5, 1.5]),
        r"`q` must lie in \[0, 1\], got 1 .*\(1\.5\) at index 1\. Pass prob",
    ),
    "r": (lambda: PositiveConfidence([0.5, -0.5]), r"`r` must lie in \[0, 1\], got 1 .*\(-0\.5\) at index 1"),
    "r zero": (
        lambda: PositiveConfidence([0.5, 0]).measure(),
        r"`r` must be greater than 0, got 1 .*index 1\. .*Bayes error",
    ),
    "r all zero": (lambda: PositiveConfidence([0, 0]), r"`r` is 0 for all 2 positive\(s\).*Pass P\(pos"),
    "propensity": (lambda: pu(propensity=[5, 50]), r"`propensity` must lie in \[0, 1\], got 2 .*index 0"),
    "propensity zero": (
        lambda: pu(propensity=[1, 0]),
        r"`propensity` must be greater than 0.*index 1\. .*check",
    ),
    "propensity NaN": (
        lambda: from_labels([None, 1, None, 0], S, propensity=[0.5, NAN, 0.5, 0.5]),
        r"`propensity` must be given for every positive row, got NaN for 1 .*at index 1\.",
    ),
    "one propensity": (
        lambda: from_labels(PARTIAL, S, propensity=0.5),
        r"`propensity` must be one-dimensional, got shape \(\)\. Pass",
    ),
    "brier": (
        lambda: ht.brier(MARGINS),
        r"Brier score needs scores in \[0, 1\], got 3 .*from -6 to 9\. Pass prob",
    ),
    "brier_skill": (lambda: ht.brier_skill(MARGINS), r"needs scores in \[0, 1\], got 3 "),
    "log_loss": (
        lambda: ht.log_loss(MARGINS),
        r"Log loss needs scores in \[0, 1\], got 3 .*never transformed",
    ),
    "calibration": (
        lambda: ht.calibration_error(MARGINS),
        r"Calibration error needs scores in \[0, 1\], got 3 ",
    ),
    **{
        name: (
            partial(metric.function, MARGINS),
            r"needs scores in \[0, 1\], got 3 .*from -6 to 9\. Pass prob",
        )
        for name, metric in REGISTRY.items()
        if name.endswith("_calibration_error")
    },
    "net_benefit": (lambda: ht.net_benefit(MARGINS, 0.5), r"Net benefit needs scores in \[0, 1\], got 3 "),
    "decision_curve": (lambda: ht.decision_curve(MARGINS), r"Net benefit needs scores in \[0, 1\], got 3 "),
    "in evaluate": (lambda: ht.evaluate(MARGINS, "brier"), r"Brier score needs scores in \[0, 1\], got 3 "),
    "certain treatment": (
        lambda: ht.net_benefit(LABELED, 1.0),
        r"`threshold` .*must lie in \[0, 1\), got 1\.0",
    ),
    "treatments": (
        lambda: ht.decision_curve(LABELED, [0.1, 2]),
        r"`thresholds` must lie in \[0, 1\].*index 1",
    ),
    "no treatment": (
        lambda: ht.decision_curve(LABELED, []),
        r"`thresholds` must hold numbers in \[0, 1\), at least one; got \[\]",
    ),
}


@refused(LABELS | {f"weight {k}": v for k, v in WEIGHTS.items()} | PROBABILITIES)
def test_labels_weights_and_probabilities(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


# --- what is asked for -----------------------------------------------------------------------------

evaluate = partial(ht.evaluate, LABELED, n_resamples=10)

ARGUMENTS = {
    "arrays": (
        lambda: ht.evaluate(np.array(Y), S),
        r"`evidence` must be Labeled.*got ndarray\. Wrap.*Labeled\(y_true",
    ),
    "arrays to a metric": (lambda: ht.roc_auc(np.array(Y)), r"Expected evidence .*got ndarray\. Wrap"),
    "table to a metric": (lambda: ht.roc_auc(LABELED.table), r"Expected evidence .*got ScoreTable\."),
    "unknown metric": (lambda: evaluate("auc"), r"no metric 'auc'\. Did you mean .*Known: .*roc_auc"),
    "rate": (lambda: evaluate(["f1"]), r"`f1` is a rate at a threshold\. Pass threshold=…, on the scale"),
    "rate by callable": (lambda: evaluate([ht.fbeta]), r"`fbeta` is a rate at a threshold\. Pass threshold"),
    "k by name": (lambda: evaluate(["precision_at_k"]), r"`precision_at_k` .*'k'"),
    "number as metric": (lambda: evaluate([5]), r"`metrics` takes names and callables, got 5"),
    "number as metrics": (lambda: evaluate(5), r"`metrics` .*got 5"),
    "no metric": (lambda: evaluate([]), r"`metrics` must name each row once, got none"),
    "twice": (lambda: evaluate(["brier", "brier"]), r"once, got \['brier'\]\. Use \{label: metric\}"),
    "no number": (
        lambda: evaluate({"mine": lambda measure: None}),
        r"'mine' must return one number, got None",
    ),
    "an array": (lambda: evaluate({"mine": lambda measure: measure.mass}), r"'mine' must return one number"),
    "level 95": (lambda: evaluate(confidence_level=95), r"must lie in \(0, 1\), got 95\. Pass 0\.95 for 95%"),
    "level 1": (
        lambda: evaluate("brier")["brier"].interval(1),
        r"`confidence_level` must lie in \(0, 1\), got 1\.",
    ),
    "level of a bound": (lambda: ht.prior_upper_bound(P, U, confidence_level=95), r"got 95\. Pass 0\.95"),
    "resamples": (lambda: ht.evaluate(LABELED, n_resamples=-1), r"`n_resamples` must be a whole .*got -1"),
    "method": (lambda: evaluate(method="bca"), r"`method` must be 'percentile' or .*got 'bca'"),
    "threshold NaN": (
        lambda: evaluate(threshold=NAN),
        r"`threshold` must be a real number, got nan.*on the scale of the scores",
    ),
    "threshold list": (
        lambda: ht.confusion(LABELED, [0.5]),
        r"`threshold` must be .*number.*got \[0\.5\].*on the scale of the scores",
    ),
    "threshold text": (lambda: ht.confusion(LABELED, "0.5"), r"`threshold` must be .*number.*got '0\.5'"),
    "threshold flag": (lambda: evaluate(threshold=True), r"`threshold` must be .*number.*got True"),
    "max_fpr text": (
        lambda: ht.partial_auc(LABELED, max_fpr="0.1"),
        r"`max_fpr` must be .*number.*got '0\.1'",
    ),
    "threshold of net_benefit": (
        lambda: ht.net_benefit(LABELED, NAN),
        r"`threshold` must be a real number, got nan",
    ),
    "population": (lambda: pu(population="both"), r"`population` must be 'unlabeled' or 'all', got 'both'"),
    "max_fpr": (lambda: ht.partial_auc(LABELED, max_fpr=0), r"`max_fpr` must lie in \(0, 1\], got 0"),
    "fixed fpr": (lambda: ht.recall_at_fpr(LABELED, max_fpr=5), r"`max_fpr` must lie in \[0, 1\], got 5"),
    "beta": (lambda: ht.fbeta(LABELED, 0.5, beta=0), r"`beta` must (be positive|lie in \(0, inf\)), got 0"),
    "bins": (
        lambda: ht.calibration_error(LABELED, 0),
        r"`n_bins` must be a whole number .*at least 1, got 0",
    ),
    "binning": (
        lambda: ht.calibration_error(LABELED, binning="x"),
        r"`binning` must be 'mass' or 'width', got 'x'",
    ),
    "norm": (lambda: ht.calibration_error(LABELED, norm=3), r"`norm` must be 1, 2 or \"max\", got 3"),
    "debias": (
        lambda: ht.calibration_error(LABELED, debias="x"),
        r"`debias` must be True, False, .corrected. or .posterior., got 'x'",
    ),
    "debiased at worst": (
        lambda: ht.calibration_error(LABELED, norm="max", debias="corrected"),
        r'`debias`="corrected" knows norms 1 and 2, got "max"\. Pass debias="posterior"',
    ),
    "debiased by hand": (
        lambda: ht.calibration_error(
            ht.ScoreMeasure(score=[0.2, 0.8], mass=[2, 2], pos_mass=[1, 2]), debias=True
        ),
        r"made by hand, so its sampling noise is not known\. Pass evidence",
    ),
    "adaptive bins": (
        lambda: ht.adaptive_calibration_error(LABELED, 0),
        r"`n_bins` must be a whole number .*at least 1, got 0",
    ),
    "binning at worst": (
        lambda: ht.maximum_calibration_error(LABELED, binning="x"),
        r"`binning` must be 'mass' or 'width', got 'x'",
    ),
    "norm of a sweep": (
        lambda: ht.sweep_calibration_error(LABELED, norm=3),
        r"`norm` must be 1, 2 or \"max\", got 3",
    ),
    "statistic": (
        lambda: ht.ks_calibration_error(LABELED, statistic="cramer"),
        r"`statistic` must be 'ks' or 'kuiper', got 'cramer'",
    ),
    "no noise on logits": (
        lambda: ht.logit_smoothed_calibration_error(LABELED, sigma=0),
        r"`sigma` must lie in \[0\.01, 10\], got 0.*Pass the width",
    ),
    "variant": (
        lambda: ht.bpm_calibration_error(LABELED, variant="x"),
        r"`variant` must be 'paper' or 'authors', got 'x'",
    ),
    "density": (
        lambda: ht.bpm_calibration_error(LABELED, density="x"),
        r"`density` must be 'beta' or 'empirical', got 'x'",
    ),
    "no aim": (lambda: ht.best_threshold(LABELED), r"exactly one of maximize, .*got none"),
    "two aims": (lambda: ht.best_threshold(LABELED, maximize="f1", cost=(1, 1)), r"got maximize, cost"),
    "unknown aim": (
        lambda: ht.best_threshold(LABELED, maximize="auc"),
        r"`maximize` must be .*'f1'.*got 'auc'",
    ),
    "free errors": (
        lambda: ht.best_threshold(LABELED, cost=(0, 0)),
        r"`cost` must be two non-negative .*got \(0, 0\)",
    ),
    "percent": (lambda: ht.best_threshold(LABELED, precision_at_least=90), r"must lie in \(0, 1\], got 90"),
    "points": (lambda: ht.cost_curve(LABELED, n_points=1), r"`n_points` must be .*at least 2, got 1"),
    "not a table": (lambda: PositiveUnlabeled.from_table([1]), r"`table` must be a ScoreTable, got list"),
    "labeled table": (
        lambda: PositiveUnlabeled.from_table(LABELED.table),
        r"needs unlabeled rows, got .*Use Labeled where .*\. If 0 means unlabeled, read .* with unlabeled=0\.",
    ),
    "PU table": (
        lambda: Labeled.from_table(PU.table),
        r"takes positive and negative rows, got .*Use PositiveUnl",
    ),
    "stratum": (lambda: ht.ScoreTable({"x": []}), r"`strata` must be named positive, .*got 'x'"),
    "plain rows": (lambda: ht.ScoreTable({"positive": [0.1]}), r"`strata` must .*Rows.*got list"),
}


@refused(ARGUMENTS)
def test_arguments(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize("k", [0, 5, -1, 0.0, 1.0, 1.5, NAN, True, "2", None])
@pytest.mark.parametrize("metric", [ht.precision_at_k, ht.recall_at_k])
def test_k_out_of_range(metric: Callable[..., float], k: Any) -> None:
    with pytest.raises(InputError, match=r"`k` must be .* from 1 to 4 .*fraction in \(0, 1\); got "):
        metric(LABELED, k)


MERGES = {
    "soft with labels": (
        LABELED.table,
        SoftLabeled(S).table,
        r"Soft-labeled rows cannot share .*Give the hard",
    ),
    "labels with soft": (SoftLabeled(S).table, LABELED.table, r"Soft-labeled rows cannot share"),
    "propensities": (
        PU.table,
        pu(propensity=[1, 0.5]).table,
        r"carry .*those of the other .*Merge tables made from",
    ),
    "confidences": (
        PositiveConfidence(S).table,
        PU.table,
        r"carry .*those of the other .*Merge tables made from",
    ),
}


@pytest.mark.parametrize(("one", "other", "message"), MERGES.values(), ids=MERGES)
def test_incompatible_tables_do_not_merge(one: ht.ScoreTable, other: ht.ScoreTable, message: str) -> None:
    with pytest.raises(ht.MergeError, match=message):
        one.merge(other)


def test_only_tables_merge() -> None:
    with pytest.raises(InputError, match=r"`other` must be a ScoreTable, got Labeled"):
        LABELED.table.merge(LABELED)  # type: ignore[arg-type]
