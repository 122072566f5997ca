"""Thresholds that `evaluate` chooses: what they are, what is said of them, and intervals that know of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import halftruth as ht

MODEL = ht.simulate.GaussianClasses(prior=0.3)
LABELED = MODEL.labeled(400, 0)
PU = MODEL.positive_unlabeled(400, 2000, 0)


def evaluate(evidence: Any = LABELED, threshold: Any = "max f1", **options: Any) -> ht.Evaluation:
    return ht.evaluate(evidence, ["precision", "f1"], threshold=threshold, n_resamples=300, **options)


@pytest.mark.parametrize(
    ("text", "aim"),
    [
        ("precision>=0.7", {"precision_at_least": 0.7, "confidence_level": 0.9}),
        (" recall >= 8e-1 ", {"recall_at_least": 0.8, "confidence_level": 0.9}),
        ("fpr<=.2", {"fpr_at_most": 0.2, "confidence_level": 0.9}),
        ("max  f1", {"maximize": "f1"}),
        ("max mcc", {"maximize": "mcc"}),
    ],
)
def test_the_threshold_is_that_of_best_threshold(text: str, aim: dict[str, Any]) -> None:
    result = evaluate(threshold=text, confidence_level=0.9)
    assert result.threshold == ht.best_threshold(LABELED, **aim)
    assert result["f1"].value == ht.confusion(LABELED, result.threshold).f1
    told = "plug-in" if "maximize" in aim else "guaranteed at confidence 0.9"
    assert sum(told in note and f"threshold {result.threshold:g}" in note for note in result.notes) == 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("best", r"'precision>=0.9', 'recall>=0.8', 'fpr<=0.05' or 'max f1', got 'best'"),
        ("precision>0.9", r"or 'max f1', got 'precision>0.9'"),
        ("precision>=high", r"or 'max f1', got 'precision>=high'"),
        ("precision>=90", r"must lie in \(0, 1\], got 90"),
        ("max auc", r"'f1' .*got 'auc'"),
        ("f1", r"or 'max f1', got 'f1'"),
    ],
)
def test_other_texts_are_refused(text: str, why: str) -> None:
    with pytest.raises(ht.InputError, match=why):
        evaluate(threshold=text)


def test_what_nothing_certifies_is_an_error() -> None:
    with pytest.raises(ht.NotIdentifiable, match=r"confidence 0.95\) to have precision>=0.99"):
        evaluate(threshold="precision>=0.99")
    with pytest.raises(ht.InputError, match="does not go with a threshold that is chosen"):
        evaluate(method="basic")


@pytest.mark.parametrize("n_resamples", [0, 300])
@pytest.mark.parametrize("evidence", [LABELED, PU], ids=["labeled", "positive-unlabeled"])
def test_intervals_allow_for_optimism(evidence: Any, n_resamples: int) -> None:
    """The largest of many is too large: its interval reaches lower than that of a threshold given beforehand."""
    chosen = ht.evaluate(evidence, ["f1", "roc_auc"], threshold="max f1", n_resamples=n_resamples)
    given = ht.evaluate(evidence, ["f1", "roc_auc"], threshold=chosen.threshold, n_resamples=n_resamples)
    assert chosen["f1"].value == given["f1"].value
    assert chosen["f1"].low < given["f1"].low - 0.003
    assert chosen["f1"].low < chosen["f1"].value < chosen["f1"].high
    # Rows are joined elsewhere where rates are read off the same ones: an end of 300 draws has an error of .002.
    assert chosen["roc_auc"].low == pytest.approx(given["roc_auc"].low, abs=0.006)


def test_a_perfect_sample_does_not_make_its_threshold_perfect() -> None:
    y = np.repeat([1, 0], 100)
    for aim in ("max f1", "precision>=0.9", "recall>=0.9", "fpr<=0.1"):
        result = ht.evaluate(ht.Labeled(y, y * 0.5 + np.linspace(0, 0.3, 200)), threshold=aim)
        for name in ("precision", "recall", "f1", "mcc", "accuracy", "fpr"):
            assert result[name].high - result[name].low > 0.002, (aim, name)


def test_a_threshold_of_its_own_is_not_chosen() -> None:
    from functools import partial

    metrics = {"f1": "f1", "at half": partial(ht.fbeta, threshold=0.5, beta=1.0)}
    chosen, given = (
        ht.evaluate(LABELED, metrics, threshold=t, n_resamples=300)["at half"] for t in ("max f1", 0.4)
    )
    assert (chosen.low, chosen.high) == (given.low, given.high)


def test_an_estimated_prior_widens_them() -> None:
    def width(prior: Any) -> float:
        evidence = PU.with_shares(prior=prior)
        row = evaluate(evidence, "recall>=0.7")["precision"]
        return row.high - row.low

    replicates = np.linspace(0.2, 0.4, 201)
    assert width(ht.PriorEstimate(value=0.3, replicates=replicates)) > 1.3 * width(0.3)


def test_joined_rows_keep_the_threshold() -> None:
    """With more distinct scores than resamples are drawn on, groups end at the threshold that was chosen."""
    result = evaluate(MODEL.labeled(3000, 1))
    replicates = result["f1"].replicates
    assert abs(np.mean(replicates) - result["f1"].value) < 0.02
    assert result["f1"].low < MODEL.truth("f1", threshold=result.threshold) < result["f1"].high
