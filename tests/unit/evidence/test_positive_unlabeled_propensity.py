"""Propensities that were estimated: their replicates go into every interval."""

from __future__ import annotations

import numpy as np
import pytest

import halftruth as ht

RNG = np.random.default_rng(0)
POSITIVE, UNLABELED = RNG.beta(4, 2, 120), RNG.beta(2, 3, 800)
E = 0.2 + 0.6 * POSITIVE
ROWS = ["prevalence", "roc_auc", "recall"]


def _estimate(spread: float) -> ht.PropensityEstimate:
    """Replicates whose slope along the score varies."""
    tilts = np.linspace(-spread, spread, 41)[:, None]
    return ht.PropensityEstimate(
        value=E, replicates=np.clip(E * np.exp(tilts * (POSITIVE - 0.7)), 0.01, 1), prior=0.3
    )


def _rows(propensity: object, n_resamples: int, **how: object) -> ht.Evaluation:
    evidence = ht.PositiveUnlabeled(POSITIVE, UNLABELED, propensity=propensity, **{"prior": 0.3} | how)
    return ht.evaluate(evidence, ROWS, threshold=0.6, n_resamples=n_resamples)


@pytest.mark.parametrize("n_resamples", [200, 0])
@pytest.mark.parametrize("how", [{}, {"population": "all", "prior": None}], ids=["two samples", "one table"])
def test_an_estimate_without_error_is_its_value(n_resamples: int, how: dict[str, object]) -> None:
    given, estimated = (_rows(x, n_resamples, **how) for x in (E, _estimate(0.0)))
    for name in ROWS:
        ends = [(row.value, row.low, row.high) for row in (given[name], estimated[name])]
        np.testing.assert_allclose(*ends, rtol=1e-12)


@pytest.mark.parametrize("n_resamples", [400, 0])
def test_its_error_widens_intervals_as_its_spread_says(n_resamples: int) -> None:
    """The variances of rows and of replicates add up: seen on the AUC, whose value they move."""
    given, estimated = (_rows(x, n_resamples)["roc_auc"] for x in (E, _estimate(1.5)))
    replicates = [_rows(1 * e, 0)["roc_auc"].value for e in _estimate(1.5).replicates]
    widths = [(row.high - row.low) / 3.92 for row in (given, estimated)]
    expected = np.hypot(widths[0], np.std(replicates))
    # The width of 400 resamples is known to some 5%.
    assert widths[1] == pytest.approx(expected, rel=0.15 if n_resamples else 0.03)
    assert widths[1] > 1.1 * widths[0]


def test_a_column_of_all_rows_is_cut_to_the_positives() -> None:
    y = np.append(np.ones(120), np.full(800, np.nan))
    whole = ht.PropensityEstimate(
        value=np.append(E, np.full(800, 0.5)),
        replicates=np.hstack([_estimate(1.0).replicates, np.full((41, 800), 0.5)]),
        prior=0.3,
    )
    evidence = ht.PositiveUnlabeled.from_labels(y, np.append(POSITIVE, UNLABELED), propensity=whole)
    alone = ht.PositiveUnlabeled(POSITIVE, UNLABELED, propensity=_estimate(1.0), population="all")
    rows = [ht.evaluate(e, ["roc_auc"], n_resamples=100)["roc_auc"] for e in (evidence, alone)]
    assert (rows[0].low, rows[0].high) == (rows[1].low, rows[1].high)
    assert evidence.with_shares(0.4).values_are_estimated
    assert not evidence.with_table(evidence.table).values_are_estimated


def test_two_models_of_the_same_cases_share_the_replicate() -> None:
    """An error that moves both alike leaves their difference alone."""
    models = {
        name: ht.PositiveUnlabeled(POSITIVE, UNLABELED, prior=0.3, propensity=x)
        for name, x in (("a", _estimate(1.5)), ("b", _estimate(1.5)))
    }
    row = ht.compare(models, ["roc_auc"], n_resamples=100)["roc_auc"]
    assert (row.low, row.high) == (0.0, 0.0)


def test_what_it_rests_on_is_told() -> None:
    note = ht.PropensityEstimate(value=E, prior=0.3, method="by hand", assumption="nothing is wrong")
    evidence = ht.PositiveUnlabeled(POSITIVE, UNLABELED, prior=0.3, propensity=note)
    assert "estimated (by hand): nothing is wrong." in evidence.assumption


def test_rows_without_weight_leave_the_estimate_too() -> None:
    weight = np.ones(120)
    weight[:20] = 0
    rows = [
        ht.evaluate(
            ht.PositiveUnlabeled(p, UNLABELED, prior=0.3, propensity=e, positive_weight=w),
            ["roc_auc"],
            n_resamples=100,
        )["roc_auc"]
        for p, e, w in (
            (POSITIVE, _estimate(1.0), weight),
            (POSITIVE[20:], _estimate(1.0).at(np.arange(20, 120)), np.ones(100)),
        )
    ]
    assert (rows[0].low, rows[0].high) == (rows[1].low, rows[1].high)
    y = np.append(np.ones(120), np.full(800, np.nan))
    whole = np.append(weight, np.ones(800))
    labels = ht.PositiveUnlabeled.from_labels(
        y, np.append(POSITIVE, UNLABELED), propensity=_estimate(1.0), sample_weight=whole
    )
    assert ht.evaluate(labels, ["roc_auc"], n_resamples=50)["roc_auc"].low > 0


def test_the_prior_that_they_identify_has_their_error() -> None:
    """The 99% range that refutes a prior is as wide as the estimate is uncertain."""
    level = np.linspace(0.7, 1.3, 41)[:, None]
    uncertain = ht.PropensityEstimate(value=E, replicates=np.clip(E * level, 0.01, 1), prior=0.3)
    known, estimated = (
        ht.evaluate(
            ht.PositiveUnlabeled(POSITIVE, UNLABELED, propensity=e, population="all", prior=0.34), ["roc_auc"],
            n_resamples=0,
        )
        for e in (E, uncertain)
    )  # fmt: skip
    assert known.refuted
    assert not estimated.refuted
