"""Intervals at the edge: no width of zero where anything could have come otherwise, and thin rows are told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import beta

import halftruth as ht

RATES = ("precision", "recall", "fpr", "accuracy", "f1", "mcc", "prevalence")
PERFECT = ht.Labeled([1] * 5 + [0] * 20, np.linspace(0.95, 0.05, 25))
"""Of 25 rows the five highest are the positives."""


def widths(result: ht.Evaluation) -> dict[str, float]:
    return {name: row.high - row.low for name, row in result.items() if not np.isnan(row.value)}


def is_wide(result: ht.Evaluation, least: float = 0.01) -> bool:
    return bool(result.rows) and all(width > least for width in widths(result).values())


@pytest.mark.parametrize("n_resamples", [0, 1000])
def test_five_of_five_are_not_certain(n_resamples: int) -> None:
    result = ht.evaluate(PERFECT, threshold=0.78, n_resamples=n_resamples)
    assert result["precision"].value == result["recall"].value == result["roc_auc"].value == 1
    assert is_wide(result)
    # Jeffreys' lower limit is .62, Wilson's .57, Clopper and Pearson's .48.
    exact = beta.ppf(0.025, 5, 1)
    assert exact - 0.05 < result["precision"].low < beta.ppf(0.025, 5.5, 0.5) + 0.03
    assert result["precision"].high == 1


@pytest.mark.parametrize("method", ["percentile", "basic", "normal", "bias-corrected", "fitted"])
def test_nor_by_any_method(method: str) -> None:
    assert is_wide(ht.evaluate(PERFECT, RATES, threshold=0.78, n_resamples=500, method=method))


@pytest.mark.parametrize("n_resamples", [0, 500])
@pytest.mark.parametrize("threshold", [0.01, 0.99])
def test_where_all_rows_lie_on_one_side(threshold: float, n_resamples: int) -> None:
    result = ht.evaluate(PERFECT, ["recall", "fpr", "accuracy"], threshold=threshold, n_resamples=n_resamples)
    assert is_wide(result)
    # No probability lies below 0: then everything is flagged, for certain.
    sure = ht.evaluate(PERFECT, ["recall", "fpr"], threshold=0.0, n_resamples=n_resamples)
    assert [(row.low, row.high) for row in sure.values()] == [(1, 1), (1, 1)]


@pytest.mark.parametrize("n_resamples", [0, 500])
def test_a_class_that_was_not_seen_may_be_there(n_resamples: int) -> None:
    result = ht.evaluate(
        ht.Labeled([1] * 5, [0.9, 0.8, 0.7, 0.6, 0.95]), RATES, n_resamples=n_resamples, threshold=0.5
    )
    assert result["prevalence"].low < 0.7 < result["prevalence"].high == 1
    undefined = result["fpr"]
    assert np.isnan([undefined.value, undefined.low, undefined.high]).all()


def test_the_interval_at_its_own_level_is_the_interval() -> None:
    for row in ht.evaluate(PERFECT, threshold=0.78, n_resamples=500).values():
        assert row.interval(0.95) == (row.low, row.high)


def test_rates_of_weighted_rows_stay_possible_in_every_resample() -> None:
    rng = np.random.default_rng(2)
    weight = rng.exponential(size=30) ** 2
    weight[0] = 50
    evidence = ht.Labeled(rng.random(30) < 0.4, rng.random(30), sample_weight=weight)
    for name, row in ht.evaluate(evidence, RATES, threshold=0.5).items():
        low = -1 if name == "mcc" else 0
        assert row.replicates is not None
        assert low <= np.nanmin(row.replicates) <= np.nanmax(row.replicates) <= 1, name


def test_a_metric_does_not_move_with_what_else_is_asked_for() -> None:
    evidence = ht.simulate.GaussianClasses(prior=0.3).positive_unlabeled(80, 900, rng=0)
    alone = ht.evaluate(evidence, "roc_auc", n_resamples=300)["roc_auc"]
    among = ht.evaluate(evidence, threshold=0.37, n_resamples=300)["roc_auc"]
    assert (alone.low, alone.high) == (among.low, among.high)


def rows_of(n: int, **weights: Any) -> ht.PositiveUnlabeled:
    rng = np.random.default_rng(0)
    return ht.PositiveUnlabeled(0.4 + 0.6 * rng.random(n), rng.random(500), prior=0.2, **weights)


def thin(evidence: ht.Evidence) -> list[str]:
    result = ht.evaluate(evidence, ["roc_auc", "average_precision"], n_resamples=50)
    return [str(note) for note in result.all_notes() if note.kind in ("small_sample", "bias")]


def test_cells_in_which_intervals_fall_short_are_named() -> None:
    assert thin(rows_of(60)) == []
    assert "Only 10 known positive(s)" in thin(rows_of(10))[0]
    weight = np.repeat([1.0, 3.0], 30)
    (unequal,) = thin(rows_of(60, positive_weight=weight))
    assert f"unequal weights, {weight.sum() ** 2 / (weight**2).sum():.3g} rows in effect" in unequal
    assert thin(rows_of(60, positive_weight=np.full(60, 3.0))) == []
    rng = np.random.default_rng(1)
    few = ht.SoftLabeled(np.full(100, 0.1), rng.random(100))
    assert thin(few) == ["The labels add up to 10 positives: intervals are rough and may be too narrow."]
    rare = ht.Labeled(np.arange(20_000) % 250 == 0, rng.random(20_000))
    assert "rare positives that are hardly found" in thin(rare)[0]
