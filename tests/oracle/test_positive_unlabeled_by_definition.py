"""Positives and unlabeled: every metric from the definition of the measure, by loops in fractions."""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import halftruth as ht
from halftruth._registry import REGISTRY

from . import naive
from .agreement import assert_same
from .partial_cases import PartialCase, draw_many
from .references import REFERENCES, definition, tolerance_of
from .rows import Rows, exact, falling, totals

CASES = draw_many(negatives=False, seeds=range(2))
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)

PARAMETERS: dict[str, list[dict[str, Any]]] = {
    "partial_auc": [{"max_fpr": 0.1}, {"max_fpr": 0.37, "standardize": False}],
    "precision_at_k": [{"k": 1}, {"k": 3}, {"k": 0.2}, {"k": 0.83}],
    "recall_at_k": [{"k": 1}, {"k": 3}, {"k": 0.2}, {"k": 0.83}],
    "recall_at_fpr": [{"max_fpr": 0.05}, {"max_fpr": 0.31}],
    "calibration_error": [
        {"n_bins": n_bins, "binning": binning, "norm": norm}
        for n_bins, norm in ((2, 1), (3, 2), (4, "max"), (10, 1))
        for binning in ("mass", "width")
    ],
    "adaptive_calibration_error": [{}, {"n_bins": 3}],
    "maximum_calibration_error": [{"n_bins": 3}, {"n_bins": 4, "binning": "width"}],
    "sweep_calibration_error": [{}, {"norm": 2}, {"norm": "max"}],
    "ks_calibration_error": [{}, {"statistic": "kuiper"}],
}


def calls(name: str, thresholds: list[float]) -> Iterator[dict[str, Any]]:
    metric = REGISTRY[name]
    for kwargs in PARAMETERS.get(name, [dict(metric.example)]):
        if metric.threshold:
            yield from (kwargs | {"threshold": t} for t in thresholds if not metric.probability or t < 1)
        else:
            yield kwargs


def assert_metric_is_that_of(
    rows: Rows, evidence: object, name: str, thresholds: list[float], own: tuple[Any, Any] = (0, 0)
) -> None:
    """``own`` is a known positive's own part in precision, which areas leave out."""
    left_out = {"own": own} if name in ("average_precision", "pr_auc") else {}
    for kwargs in calls(name, thresholds):
        wanted = float(definition(name)(rows, **kwargs, **left_out))
        ours = REGISTRY[name].function(evidence, **kwargs)
        assert_same(ours, wanted, f"{name} {kwargs}", tolerance_of(name))


@each_case
def test_every_metric_of_positives_and_unlabeled(case: PartialCase) -> None:
    rows, evidence = case.given_rows, case.evidence()
    for name in REFERENCES:
        assert_metric_is_that_of(rows, evidence, name, case.thresholds, case.own())


@each_case
def test_curves_are_raw(case: PartialCase) -> None:
    rows = case.given_rows
    mass, pos = totals(rows)
    points = list(falling(rows))
    roc, pr = ht.roc_curve(case.evidence()), ht.precision_recall_curve(case.evidence())
    assert_same(roc.threshold, [float(t) for t, _, _ in points])
    assert_same(roc.tpr, [float(tp / pos) for _, _, tp in points])
    assert_same(roc.fpr, [float((above - tp) / (mass - pos)) for _, above, tp in points])
    populated = [i for i, (_, above, _) in enumerate(points) if above != 0]
    assert_same(pr.precision[populated], [float(points[i][2] / points[i][1]) for i in populated])


@each_case
def test_both_shares_are_shown(case: PartialCase) -> None:
    measure = case.evidence().measure()
    assert_same(measure.prior, case.prior)
    assert_same(measure.alpha, float(case.alpha(case.prior)))


@each_case
@pytest.mark.parametrize("name", ["recall", "lift", "recall_at_k", "predicted_positive_rate"])
def test_what_needs_no_prior_is_the_same_without(name: str, case: PartialCase) -> None:
    evidence = case.evidence(prior=None)
    if case.purity == 1:
        if case.positive.propensity is None or case.population == "unlabeled":
            assert evidence.measure().unidentified is not None
        assert_metric_is_that_of(case.given_rows, evidence, name, case.thresholds)
    elif name != "predicted_positive_rate":
        kwargs = next(calls(name, case.thresholds))
        with pytest.raises(ht.NotIdentifiable, match="prior"):
            REGISTRY[name].function(evidence, **kwargs)


@each_case
@pytest.mark.parametrize("name", ["roc_auc", "f1", "brier", "average_precision"])
def test_one_label_column_is_the_same_evidence(name: str, case: PartialCase) -> None:
    strata = (case.positive, case.unlabeled)
    y = [1.0] * len(case.positive.score) + [None] * len(case.unlabeled.score)
    score = [s for stratum in strata for s in stratum.score]
    weight = None if case.positive.weight is None else [*case.positive.weight, *case.unlabeled.weight]
    order = np.random.default_rng(1).permutation(len(y))
    evidence = ht.PositiveUnlabeled.from_labels(
        [y[i] for i in order],
        [score[i] for i in order],
        prior=case.prior,
        purity=case.purity,
        population=case.population,
        propensity=None
        if case.positive.propensity is None
        else [(case.positive.propensity + [math.nan] * len(y))[i] for i in order],
        sample_weight=None if weight is None else [weight[i] for i in order],
    )
    assert_metric_is_that_of(case.given_rows, evidence, name, case.thresholds, case.own())


@pytest.mark.parametrize("case", [c for c in CASES if "clean, unlabeled, no" in c.name], ids=lambda c: c.name)
def test_bins_of_the_calibration_error_follow_the_paper(case: PartialCase) -> None:
    per_row = case.prior**2 / len(case.positive.score) + 1 / len(case.unlabeled.score)
    n_bins = math.ceil(per_row ** (-1 / 3))
    wanted = naive.calibration_error(case.given_rows, n_bins=n_bins)
    assert_same(ht.calibration_error(case.evidence()), float(wanted))


@pytest.mark.parametrize("case", [c for c in CASES if "propensity, all" in c.name], ids=lambda c: c.name)
def test_propensities_over_one_table_identify_the_prior(case: PartialCase) -> None:
    e = [Fraction(p) for p in case.positive.propensity]
    prior = sum(w / p for (_, w), p in zip(case.positive.each(), e, strict=True)) / case.n()
    evidence = case.evidence(prior=None)
    assert_same(ht.prevalence(evidence), float(prior))
    for name in ("roc_auc", "precision", "brier"):
        assert_metric_is_that_of(case.rows(prior), evidence, name, case.thresholds)


@each_case
def test_range_is_taken_at_its_middle_and_an_estimate_at_its_value(case: PartialCase) -> None:
    low, high = case.prior - 1 / 64, case.prior + 1 / 64
    assert_same(
        ht.roc_auc(case.evidence(prior=(low, high))), float(naive.roc_auc(case.rows((low + high) / 2)))
    )
    alpha = 0.3
    estimate = ht.PriorEstimate(value=alpha, replicates=[0.29, 0.3, 0.31])
    known = Fraction(case.purity) * case.positive.size() if case.population == "all" else 0
    share = case.unlabeled.size() / case.n()
    rows = case.rows(known / case.n() + Fraction(alpha) * share)
    assert_same(ht.roc_auc(case.evidence(prior=estimate)), float(naive.roc_auc(rows)))


@each_case
@pytest.mark.parametrize("least", [0.2, 0.5, 0.8])
def test_best_threshold_by_precision_and_recall(least: float, case: PartialCase) -> None:
    rows, evidence = case.given_rows, case.evidence()
    points = [(t, tp) for t, _, tp in falling(rows)]
    heights = list(zip(points, naive.clipped_precisions(rows), strict=True))[1:]
    enough = [t for (t, _), height in heights if height >= exact(least)]
    if enough:
        assert ht.best_threshold(evidence, precision_at_least=least) == float(min(enough))
    else:
        with pytest.warns(ht.EmptyClassWarning, match="precision"):
            assert np.isnan(ht.best_threshold(evidence, precision_at_least=least))
    found = [t for t, tp in points if tp / totals(rows)[1] >= exact(least)]
    assert ht.best_threshold(evidence, recall_at_least=least) == float(max(found))
