"""Cases small enough to check by hand, for each kind of evidence; the arithmetic is in the test."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from math import log, sqrt
from typing import Any

import numpy as np
import pytest

import halftruth as ht

NAN, INF = float("nan"), float("inf")


def about(value: Any) -> Any:
    return pytest.approx(value, rel=1e-13, abs=1e-13, nan_ok=True)


# --- labeled ----------------------------------------------------------------------------------------
# Falling: .9 (+), .8 (+ and −, a tie), .3 (+), .1 (−). At the threshold .5: TP 2, FP 1, FN 1, TN 1.

FIVE = ht.Labeled([1, 1, 1, 0, 0], [0.9, 0.8, 0.3, 0.8, 0.1])

RATES = {
    "precision": 2 / 3,
    "recall": 2 / 3,
    "fpr": 1 / 2,
    "specificity": 1 / 2,
    "npv": 1 / 2,
    "fdr": 1 / 3,
    "f1": 4 / 6,
    "accuracy": 3 / 5,
    "balanced_accuracy": (2 / 3 + 1 / 2) / 2,
    "mcc": (2 * 1 - 1 * 1) / sqrt(3 * 2 * 3 * 2),
    "cohen_kappa": (3 / 5 - 13 / 25) / (1 - 13 / 25),  # by chance (3·3 + 2·2)/25 agree
    "jaccard": 2 / 4,
    "youden_j": 2 / 3 - 1 / 2,
    "lift": (2 / 3) / (3 / 5),
    "prevalence": 3 / 5,
    "predicted_positive_rate": 3 / 5,
}

LABELED = {
    "roc_auc": (ht.roc_auc, (2 + 1.5 + 1) / 6),  # .9 beats two, .8 one and a tie, .3 one; of 3·2 pairs
    "partial_auc": (  # from (0, 1/3) half of the way to (1/2, 2/3)
        partial(ht.partial_auc, max_fpr=0.25, standardize=False),
        (1 / 3 + 1 / 2) / 2 * 0.25,
    ),
    "McClish": (  # chance is x²/2, perfection x
        partial(ht.partial_auc, max_fpr=0.25),
        (1 + (5 / 48 - 1 / 32) / (1 / 4 - 1 / 32)) / 2,
    ),
    "average_precision": (ht.average_precision, (1 + 2 / 3 + 3 / 4) / 3),
    # Segments: precision 1; (1+t)/(1+2t), mean ½ + ¼ log 3; (2+t)/(3+t), mean 1 − log(4/3).
    "pr_auc": (ht.pr_auc, (1 + (1 / 2 + log(3) / 4) + (1 - log(4 / 3))) / 3),
    "precision_at_k": (partial(ht.precision_at_k, k=2), (1 + 1 / 2) / 2),  # half of the tie
    "precision_at_share": (partial(ht.precision_at_k, k=0.4), (1 + 1 / 2) / 2),
    "recall_at_k": (partial(ht.recall_at_k, k=2), (1 + 1 / 2) / 3),
    "recall_at_fpr .5": (partial(ht.recall_at_fpr, max_fpr=0.5), 1.0),  # one of two negatives allowed
    "recall_at_fpr .4": (
        partial(ht.recall_at_fpr, max_fpr=0.4),
        1 / 3 + 0.8 * 1 / 3,
    ),  # 4/5 along (0, 1/3) to (.5, 2/3)
    "brier": (ht.brier, (0.01 + 0.04 + 0.49 + 0.64 + 0.01) / 5),
    "brier_skill": (ht.brier_skill, 1 - 0.238 / (0.6 * 0.4)),
    "log_loss": (ht.log_loss, -(log(0.9) + log(0.8) + log(0.3) + log(0.2) + log(0.9)) / 5),
    "fbeta": (partial(ht.fbeta, threshold=0.5, beta=2.0), 5 * 2 / (5 * 2 + 4 * 1 + 1)),
    "net_benefit .5": (partial(ht.net_benefit, threshold=0.5), (2 - 1) / 5),
    "net_benefit .8": (partial(ht.net_benefit, threshold=0.8), (2 - 1 * 4) / 5),
    # Bins [0, .5] and (.5, 1]: 1 − .4 and 2 − 2.5; the same bins by mass, ⌊5/2⌋ rows in the first.
    "calibration by width": (partial(ht.calibration_error, n_bins=2, binning="width"), (0.6 + 0.5) / 5),
    "calibration by mass": (partial(ht.calibration_error, n_bins=2), (0.6 + 0.5) / 5),
    "calibration squared": (
        partial(ht.calibration_error, n_bins=2, norm=2),
        sqrt((2 * 0.3**2 + 3 * (0.5 / 3) ** 2) / 5),
    ),
    "calibration at worst": (partial(ht.calibration_error, n_bins=2, norm="max"), 0.6 / 2),
    "calibration in one bin": (partial(ht.calibration_error, n_bins=1), (3 - 2.9) / 5),
    "adaptive calibration": (partial(ht.adaptive_calibration_error, n_bins=2), (0.6 / 2 + 0.5 / 3) / 2),
    "adaptive, row by row": (ht.adaptive_calibration_error, (0.1 + 0.7 + (0.8 - 0.5) + 0.1) / 4),
    "calibration at most": (partial(ht.maximum_calibration_error, n_bins=2), 0.6 / 2),
    # Mean labels rise in three bins, {.1}, {.3, .8, .8}, {.9}, to 0, 2/3, 1, but not in four.
    "swept calibration": (ht.sweep_calibration_error, (0.1 + (2 - 1.9) + 0.1) / 5),
    "swept, squared": (
        partial(ht.sweep_calibration_error, norm=2),
        sqrt((0.1**2 + 0.1**2 / 3 + 0.1**2) / 5),
    ),
    # Running sums of score − label: .1, −.6, 0, −.1.
    "ks calibration": (ht.ks_calibration_error, 0.6 / 5),
    "kuiper calibration": (partial(ht.ks_calibration_error, statistic="kuiper"), 0.7 / 5),
    "best f1": (partial(ht.best_threshold, maximize="f1"), 0.3),  # 1/2, 2/3, 6/7, 3/4
    "best cost": (partial(ht.best_threshold, cost=(5, 1)), 0.9),  # falling: 3, 2, 6, 5, 10
    "best recall": (partial(ht.best_threshold, recall_at_least=0.6), 0.8),
    "best precision": (partial(ht.best_threshold, precision_at_least=0.7), 0.3),  # 1, 2/3, 3/4, 3/5
}


@pytest.mark.parametrize("name", RATES)
def test_labeled_rates(name: str) -> None:
    table = ht.confusion(FIVE, 0.5)
    assert (table.tp, table.fp, table.fn, table.tn) == (2, 1, 1, 1)
    assert getattr(table, name) == about(RATES[name])


@pytest.mark.parametrize(("metric", "value"), LABELED.values(), ids=LABELED)
def test_labeled(metric: Callable[..., float], value: float) -> None:
    assert metric(FIVE) == about(value)


def test_labeled_curves() -> None:
    roc, det = ht.roc_curve(FIVE), ht.det_curve(FIVE)
    assert roc.threshold.tolist() == [INF, 0.9, 0.8, 0.3, 0.1]
    assert roc.fpr == about([0, 0, 1 / 2, 1 / 2, 1])
    assert roc.tpr == about([0, 1 / 3, 2 / 3, 1, 1])
    assert det.fnr == about([1, 2 / 3, 1 / 3, 0, 0])
    pr, gain = ht.precision_recall_curve(FIVE), ht.gain_curve(FIVE)
    assert pr.precision == about([1, 1, 2 / 3, 3 / 4, 3 / 5])  # the first read at the next score
    assert gain.fraction == about([0, 1 / 5, 3 / 5, 4 / 5, 1])
    assert gain.lift == about([NAN, 5 / 3, 10 / 9, 5 / 4, 1])


def test_labeled_decisions() -> None:
    decision = ht.decision_curve(FIVE, [0.5, 0.8])
    assert decision.threshold.tolist() == [0.8, 0.5]
    assert decision.net_benefit == about([-2 / 5, 1 / 5])
    assert decision.treat_all == about([3 / 5 - 2 / 5 * 4, 3 / 5 - 2 / 5])
    cost = ht.cost_curve(FIVE, n_points=3)
    # At ½ the points cost 1/2, 1/3, (1/3 + 1/2)/2, (0 + 1/2)/2 and 1/2.
    assert cost.expected_cost == about([0, 1 / 4, 0])
    assert cost.threshold[1] == 0.3


def test_a_weight_is_a_number_of_rows() -> None:
    weighted = ht.Labeled([1, 0, 0], [0.9, 0.9, 0.2], sample_weight=[3, 1, 2])
    assert ht.confusion(weighted, 0.5).precision == about(3 / 4)
    assert ht.roc_auc(weighted) == about((1 * 1 / 2 + 2) / 3)


# --- soft labels, positive confidences -------------------------------------------------------------


@pytest.mark.parametrize(
    "soft",
    [ht.SoftLabeled([1, 0.5, 0], [0.8, 0.5, 0.2]), ht.SoftLabeled.from_votes([2, 1, 0], 2, [0.8, 0.5, 0.2])],
)
def test_soft(soft: ht.SoftLabeled) -> None:
    # Positives: 1 at .8, ½ at .5. Negatives: ½ at .5, 1 at .2.
    table = ht.confusion(soft, 0.5)
    assert (table.tp, table.fp, table.fn, table.tn) == (1.5, 0.5, 0, 1)
    assert ht.roc_auc(soft) == about((1 * 1.5 + 0.5 * (0.25 + 1)) / (1.5 * 1.5))
    assert ht.brier(soft) == about((0.04 + 0.25 + 0.04) / 3)
    assert ht.prevalence(soft) == about(1 / 2)


def test_positive_confidence() -> None:
    # 1/r = 1, 2, 4, 4: a population of 11 with 4 positives; scores that are the confidences are calibrated.
    evidence = ht.PositiveConfidence([1, 0.5, 0.25, 0.25])
    assert ht.prevalence(evidence) == about(4 / 11)
    table = ht.confusion(evidence, 0.5)
    assert (table.precision, table.recall) == about((2 / 3, 2 / 4))
    assert ht.brier(evidence) == about((2 * 1 / 4 + 8 * 3 / 16) / 11)
    assert ht.calibration_error(evidence, 4) == about(0)
    # With the prior given, 2/11, the positives' mass is halved.
    assert ht.confusion(ht.PositiveConfidence([1, 0.5, 0.25, 0.25], prior=2 / 11), 0.5).precision == about(
        1 / 3
    )


def test_positive_confidence_with_scores_and_weights() -> None:
    # 1/r = 2, 1; weights 1, 3: mass 2 at .7 and 3 at .1, positives 1 and 3.
    evidence = ht.PositiveConfidence([0.5, 1], [0.7, 0.1], sample_weight=[1, 3])
    assert ht.prevalence(evidence) == about(4 / 5)
    assert ht.confusion(evidence, 0.5).precision == about(1 / 2)


# --- positives and unlabeled -----------------------------------------------------------------------


def test_two_samples() -> None:
    # π = 1/4 of the 4 unlabeled is one positive, half of it at .9 and half at .4.
    pu = ht.PositiveUnlabeled([0.9, 0.4], [0.9, 0.6, 0.3, 0.2], prior=0.25)
    table = ht.confusion(pu, 0.5)
    assert (table.tp, table.fp, table.fn, table.tn) == about((0.5, 1.5, 0.5, 1.5))
    # A positive beats an unlabeled with (3½ + 2)/8 = 11/16; (AUC_PU − π/2)/(1 − π).
    assert ht.roc_auc(pu) == about((11 / 16 - 1 / 8) / (3 / 4))
    assert ht.brier(pu) == about((0.81 + 0.36 + 0.09 + 0.04 - 2 * 0.65 + 1) / 4)
    assert pu.measure().alpha == about(0.25)


def test_one_table() -> None:
    # π = 1/2 of 6 rows is 3 positives, 2 known and 1 of the 4 unlabeled: α = 1/4. Each known stands for 1½.
    y = [1, 1, None, None, None, None]
    pu = ht.PositiveUnlabeled.from_labels(y, [0.9, 0.7, 0.8, 0.4, 0.3, 0.1], prior=0.5)
    assert pu.measure().alpha == about(0.25)
    table = ht.confusion(pu, 0.75)
    assert (table.tp, table.fp, table.fn, table.tn) == about((1.5, 0.5, 1.5, 2.5))
    naive = ht.confusion(pu.naive_measure(), 0.75)
    assert (naive.tp, naive.fp, naive.fn, naive.tn) == (1, 1, 1, 3)


# ρ = .8, α = π = .3: f₁ = [.7 P/2 − .2 U/4]/.5, that is .7 a positive and −.1 an unlabeled, times π n = 1.2.
NOISY = ht.PositiveUnlabeled([0.9, 0.6], [0.9, 0.5, 0.3, 0.1], prior=0.3, purity=0.8)


def test_purity_gives_a_signed_measure() -> None:
    assert NOISY.measure().score.tolist() == [0.1, 0.3, 0.5, 0.6, 0.9]
    assert NOISY.measure().pos_mass == about(1.2 * np.array([-0.1, -0.1, -0.1, 0.7, 0.6]))
    assert ht.confusion(NOISY, 0.5).recall == about(1.2)  # raw rates may leave [0, 1]
    assert ht.precision_recall_curve(NOISY).precision[2] == about(1.56)  # 1.56 of the one above .6


def test_areas_leave_a_known_positive_out_of_its_own_precision() -> None:
    positive, unlabeled = [0.9, 0.8, 0.5], [0.85, 0.6, 0.4, 0.2]
    # The others above each are 0, 1, 2 of 2, the unlabeled 0, 1, 2 of 4: (4 + 1)/(0 + 1), … of the population.
    value = 0.3 * (0 + 1 / 2 * 5 / 2 + 1 * 5 / 3) / 3
    two_samples = ht.PositiveUnlabeled(positive, unlabeled, prior=0.3)
    assert ht.average_precision(two_samples) == about(value)
    assert ht.pr_auc(two_samples) == about(value)  # nothing is between two thresholds but itself
    # Of seven rows 4.2 are positive, 1.4 for each known one, which is one of the cases itself.
    value = (1 / 1 + (1.4 + 1) / 3 + (2.8 + 1) / 5) / 3 * 4.2 / (4.2 - 0.4)
    assert ht.average_precision(
        ht.PositiveUnlabeled(positive, unlabeled, prior=0.6, population="all")
    ) == about(value)


def test_a_lone_positive_is_its_own_judge() -> None:
    assert ht.average_precision(ht.PositiveUnlabeled([0.8], [0.9, 0.3], prior=0.4)) == about(0.4 * 3 / 2)


def test_noise_carries_areas_past_one() -> None:
    # μ₁ above each score .72, 1.56, 1.44, 1.32, 1.2 of 1.2, less .84, over one more than 1, 1, 2, 3, 4 cases.
    steps = zip((0.6, 0.7, -0.1, -0.1, -0.1), (0.72, 1.56, 1.44, 1.32, 1.2), (2, 2, 3, 4, 5), strict=True)
    value = sum(recall * (tp - 0.84) / cases for recall, tp, cases in steps) * 1.2 / 0.36 * 5 / 4
    assert ht.average_precision(NOISY) == about(value)
    high = ht.PositiveUnlabeled([0.95, 0.9, 0.85], [0.5, 0.4, 0.3, 0.2], prior=0.6)
    assert ht.average_precision(high) == about(0.6 * (0 + 1 / 2 + 1) / 3 * 5)


def test_mcc_needs_no_cell_but_only_margins_to_be_positive() -> None:
    table = ht.confusion(NOISY, 0.5)
    assert (table.tp, table.fp, table.fn, table.tn) == about((1.44, 0.56, -0.24, 2.24))
    assert table.mcc == about((1.44 * 2.24 + 0.56 * 0.24) / sqrt(1.2 * 2.8 * 2 * 2))
    apart = ht.PositiveUnlabeled([0.9, 0.8], [0.95, 0.3, 0.2, 0.1], prior=0.5)
    assert ht.confusion(apart, 0.5).mcc == about((2 * 3 - 1 * 0) / sqrt(2 * 2 * 1 * 3))  # past 1 by noise
    odd = ht.PositiveUnlabeled([0.9, 0.4], [0.9, 0.8, 0.7, 0.1], propensity=[0.1, 0.1], population="all")
    assert np.isnan(ht.confusion(odd, 0.5).mcc)  # π n = 20 of six rows


@pytest.mark.parametrize("n", [7, 49, 1000])
def test_a_perfect_classifier_has_a_correlation_of_exactly_one(n: int) -> None:
    y = np.arange(3 * n) < n
    assert ht.confusion(ht.Labeled(y, y), 0.5).mcc == 1


def test_mcc_below_a_threshold() -> None:
    assert ht.confusion(NOISY, 0.9).mcc == about((0.72 * 2.52 - 0.28 * 0.48) / sqrt(1.2 * 2.8 * 1 * 3))


def test_purity_in_one_table() -> None:
    # π n = ρ n_P + α n_U: .4 · 6 = .8 · 2 + α 4, so α = .2.
    pu = ht.PositiveUnlabeled([0.9, 0.6], [0.9, 0.5, 0.3, 0.1], prior=0.4, purity=0.8, population="all")
    assert pu.measure().alpha == about(0.2)
    # f₁ = [.8 P/2 − .2 U/4]/.6; above .7: (.4 − .05)/.6.
    assert ht.confusion(pu, 0.7).recall == about(0.35 / 0.6)


def test_propensity() -> None:
    # 1/e = 2, 4: the positive at .4 stands for twice as many.
    for e in ([0.5, 0.25], [0.2, 0.1]):  # up to a factor
        pu = ht.PositiveUnlabeled([0.9, 0.4], [0.9, 0.6, 0.3, 0.2], prior=0.3, propensity=e)
        assert ht.confusion(pu, 0.5).recall == about(1 / 3)
        assert ht.confusion(pu, 0.5).precision == about(4 * 0.3 / 3 / 2)


def test_propensity_in_one_table_identifies_the_prior() -> None:
    # Σ 1/e = 6 positives in 12 rows; 2 are known, 4 among the 10 unlabeled.
    pu = ht.PositiveUnlabeled([0.9, 0.4], [0.2] * 10, propensity=[0.5, 0.25], population="all")
    assert ht.prevalence(pu) == about(1 / 2)
    assert pu.measure().alpha == about(4 / 10)
    assert ht.confusion(pu, 0.3).tp == about(6)


def test_known_negatives_identify_the_prior() -> None:
    # Positives at 1, negatives at 0, a quarter of the unlabeled at 1.
    pu = ht.PositiveUnlabeled([1], [1, 0, 0, 0], negative=[0])
    assert ht.prevalence(pu) == about(1 / 4)
    assert ht.confusion(pu, 0.5).precision == about(1)
    # All six rows: one known and one hidden positive.
    both = ht.PositiveUnlabeled([1], [1, 0, 0, 0], negative=[0], population="all")
    assert (ht.prevalence(both), both.measure().alpha) == about((1 / 3, 1 / 4))
    # Of positives of purity .8 only .8 · 1/4.
    assert ht.prevalence(ht.PositiveUnlabeled([1], [1, 0, 0, 0], negative=[0], purity=0.8)) == about(0.2)


# --- the edges ------------------------------------------------------------------------------------


def test_no_population_mass_at_the_top() -> None:
    # Both positives, .4 each of π n = .8, score above all unlabeled; the first population score is .5.
    pu = ht.PositiveUnlabeled([0.95, 0.9], [0.5, 0.4, 0.3, 0.2], prior=0.2)
    assert ht.precision_recall_curve(pu).precision == about([0.8, 0.8, 0.8, 0.8, 0.4, 0.8 / 3, 0.2])
    # The second of two reads 1 of 1 positive above it, and 0 of 4 unlabeled.
    assert ht.average_precision(pu) == about(0.2 * (0 + 5) / 2)
    assert ht.pr_auc(pu) == about(0.2 * (0 + 5) / 2)
    assert ht.roc_curve(pu).fpr[:4] == about([0, -0.4 / 3.2, -0.8 / 3.2, 0.2 / 3.2])
    assert ht.roc_auc(pu) == about((1 - 0.1) / 0.8)  # AUC_PU = 1: noise carries it beyond 1
    assert np.isnan(ht.confusion(pu, 0.9).precision)  # raw: no case is called positive
    assert ht.best_threshold(pu, precision_at_least=0.8) == 0.5


def test_constant_scores() -> None:
    for evidence, prior in (
        (ht.Labeled([1, 0, 0, 0], [0.5] * 4), 0.25),
        (ht.SoftLabeled([0.5, 0, 0.25], [0.5] * 3), 0.25),
        (ht.PositiveUnlabeled([0.5] * 3, [0.5] * 5, prior=0.3), 0.3),
        (ht.PositiveUnlabeled([0.5] * 3, [0.5] * 5, prior=0.3, purity=0.8), 0.3),
        (ht.PositiveUnlabeled([0.5] * 3, [0.5] * 5, prior=0.4, population="all"), 0.4),
    ):
        assert ht.roc_auc(evidence) == about(1 / 2)
        for metric in (ht.average_precision, ht.pr_auc, partial(ht.precision_at_k, k=2)):
            assert metric(evidence) == about(prior)
        assert ht.recall_at_k(evidence, 0.5) == about(1 / 2)
        assert ht.calibration_error(evidence) == about(0.5 - prior)
        for error in (ht.adaptive_calibration_error, ht.maximum_calibration_error):
            assert error(evidence) == about(0.5 - prior)
        for error in (ht.sweep_calibration_error, ht.ks_calibration_error, ht.smooth_calibration_error):
            assert error(evidence) == about(0.5 - prior)
        for error in (ht.logit_smoothed_calibration_error, ht.bpm_calibration_error):
            assert error(evidence) == pytest.approx(0.5 - prior, abs=1e-6)


def test_strata_of_one_row() -> None:
    assert ht.roc_auc(ht.Labeled([1, 0], [1, 0])) == 1
    assert ht.roc_auc(ht.PositiveUnlabeled([0.8], [0.2], prior=0.5)) == about((1 - 0.25) / 0.5)
    # One table, π = ¾: 1½ positives in two rows, of which the unlabeled row holds ½.
    table = ht.PositiveUnlabeled([0.8], [0.2], prior=0.75, population="all")
    assert table.measure().alpha == about(0.5)
    assert ht.brier(table) == about((1.5 * 0.04 - 0.5 * 0.64 + 1 * 0.04) / 2)
    assert ht.prevalence(ht.PositiveConfidence([0.4])) == about(0.4)


NEEDS_BOTH: dict[str, Callable[..., Any]] = {
    "roc_auc": ht.roc_auc,
    "partial_auc": ht.partial_auc,
    "recall_at_fpr": ht.recall_at_fpr,
    "brier_skill": ht.brier_skill,
    "balanced_accuracy": lambda evidence: ht.confusion(evidence, 0.5).balanced_accuracy,
    "mcc": lambda evidence: ht.confusion(evidence, 0.5).mcc,
}


@pytest.mark.parametrize("metric", NEEDS_BOTH.values(), ids=NEEDS_BOTH)
@pytest.mark.parametrize(("label", "missing"), [(1, "negative"), (0, "positive")])
def test_an_empty_class_gives_nan_and_one_warning(
    metric: Callable[..., float], label: int, missing: str
) -> None:
    evidence = ht.Labeled([label, label], [0.6, 0.4])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert np.isnan(metric(evidence))
    assert [(w.category, str(w.message)) for w in caught] == [
        (ht.EmptyClassWarning, f"No {missing} case: metrics that need one are NaN.")
    ]
    assert caught[0].filename == __file__  # it points at the caller


@pytest.mark.parametrize("curve", [ht.roc_curve, ht.det_curve, ht.cost_curve])
def test_a_curve_of_an_empty_class_warns_once(curve: Callable[..., Any]) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        curve(ht.Labeled([1, 1], [0.6, 0.4]))
    assert [w.category for w in caught] == [ht.EmptyClassWarning]
