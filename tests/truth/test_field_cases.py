"""Cases in which other tools are wrong, at the truth within three standard errors."""

from __future__ import annotations

import numpy as np
import pytest

import halftruth as ht

N_POSITIVE, N_UNLABELED = 20_000, 200_000


def standard_errors_away(evidence, metric, truth, threshold=None):
    estimate = ht.evaluate(evidence, [metric], threshold=threshold, n_resamples=500)[metric]
    return abs(estimate.value - truth) / np.std(estimate.replicates)


def test_average_precision_of_random_scores_is_the_prior():
    model = ht.simulate.GaussianClasses(prior=0.05, separation=0.0, intercept=0.0, slope=1.0)
    evidence = model.positive_unlabeled(N_POSITIVE, N_UNLABELED, rng=1)
    assert standard_errors_away(evidence, "average_precision", 0.05) < 3


def test_auc_of_one_table_with_half_of_the_positives_known():
    model = ht.simulate.GaussianClasses(prior=0.5)
    evidence = model.positive_unlabeled(55_000, 165_000, rng=2, population="all")
    assert standard_errors_away(evidence, "roc_auc", model.truth("roc_auc")) < 3


@pytest.mark.parametrize(
    ("metric", "truth"), [("precision", 0.7992), ("f1", 0.7563), ("average_precision", 0.8505)]
)
def test_case_control_figures_do_not_count_the_known_positives_in(metric, truth):
    model = ht.simulate.GaussianClasses(prior=0.3)
    at = {} if metric == "average_precision" else {"threshold": 0.5}
    assert model.truth(metric, **at) == pytest.approx(truth, abs=1e-4)
    evidence = model.positive_unlabeled(N_POSITIVE, N_UNLABELED, rng=3)
    assert standard_errors_away(evidence, metric, model.truth(metric, **at), threshold=0.5) < 3


def test_points_of_the_roc_curve_are_corrected():
    model = ht.simulate.GaussianClasses(prior=0.3)
    evidence = model.positive_unlabeled(N_POSITIVE, N_UNLABELED, rng=4)
    curve = ht.roc_curve(evidence)
    area = np.trapezoid(curve.tpr, curve.fpr)
    assert area == pytest.approx(ht.roc_auc(evidence), abs=1e-12)
    assert standard_errors_away(evidence, "roc_auc", model.truth("roc_auc")) < 3
    for threshold in (0.1, 0.3, 0.5, 0.7, 0.9):
        at = np.flatnonzero(curve.threshold >= threshold)[-1]
        assert curve.fpr[at] == pytest.approx(ht.confusion(evidence, threshold).fpr, abs=1e-12)
        truth = model.truth("fpr", threshold=threshold)
        assert standard_errors_away(evidence, "fpr", truth, threshold=threshold) < 3


def test_specificity_does_not_believe_the_scores():
    model = ht.simulate.GaussianClasses(prior=0.3, separation=0.0, intercept=0.0, slope=1.0)
    evidence = model.positive_unlabeled(N_POSITIVE, N_UNLABELED, rng=5)
    assert model.truth("specificity", threshold=0.5) == pytest.approx(0.5)
    assert standard_errors_away(evidence, "specificity", 0.5, threshold=0.5) < 3


def test_auc_with_a_fifth_of_the_positives_mislabeled():
    model = ht.simulate.GaussianClasses(prior=0.3)
    noisy = model.positive_unlabeled(N_POSITIVE, N_UNLABELED, rng=7, purity=0.8)
    assert standard_errors_away(noisy, "roc_auc", model.truth("roc_auc")) < 3
    believed = ht.PositiveUnlabeled.from_table(noisy.table, prior=0.3, population="unlabeled")
    assert ht.roc_auc(believed) < 0.82


def test_f1_of_case_control_data():
    model = ht.simulate.GaussianClasses(prior=0.3)
    evidence = model.positive_unlabeled(N_POSITIVE, N_UNLABELED, rng=8)
    assert standard_errors_away(evidence, "f1", model.truth("f1", threshold=0.5), threshold=0.5) < 3
