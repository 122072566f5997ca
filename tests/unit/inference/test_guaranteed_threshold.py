"""Thresholds that keep a bound in the population: p-values in closed form, the order of tests, edge cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

import halftruth as ht
from halftruth.inference._guaranteed_threshold import _last_certified, _p_values, _starts

MODEL = ht.simulate.GaussianClasses(prior=0.3)
DRAWS = 4000  # at an error of 0.05


def p_values(evidence: Any, aim: str, wanted: float) -> np.ndarray:
    return _p_values(evidence, evidence.table.support, aim, wanted, 0.05)


def assert_drawn(found: np.ndarray, exact: np.ndarray) -> None:
    """Shares of draws are within 4.5 standard errors of the probabilities."""
    assert (np.abs(found - exact) < 4.5 * np.sqrt(exact * (1 - exact) / DRAWS) + 2 / DRAWS).all()


def test_labels_are_tested_by_the_exact_binomial() -> None:
    y = np.asarray([1, 1, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0])  # from the highest score down
    evidence = ht.Labeled(y, -np.arange(12))
    k, m = np.cumsum(y), np.arange(1, 13)
    assert_drawn(p_values(evidence, "precision_at_least", 0.5), stats.binom.sf(k - 1, m, 0.5))
    # Of 7 positives k are above: few if the true recall were 0.4.
    assert_drawn(p_values(evidence, "recall_at_least", 0.4), stats.beta.cdf(0.4, k, 8 - k))
    # Of 5 negatives m − k are above: many if the true rate were 0.6.
    assert_drawn(
        p_values(evidence, "fpr_at_most", 0.6),
        np.append(stats.beta.sf(0.6, (m - k + 1)[:-1], (5 - m + k)[:-1]), 1.0),
    )


def test_positives_and_unlabeled_are_two_binomials_melded() -> None:
    """P(0.7 Y > 0.4 X): X from the known positives above a threshold, Y from the unlabeled."""
    positive, unlabeled = [9.0, 8.0, 7.0, 2.0], [8.5, 7.5, 3.0, 2.5, 1.0, 0.5, 0.2, 0.1]
    evidence = ht.PositiveUnlabeled(positive, unlabeled, prior=0.4)
    exact = []
    for t in sorted(positive + unlabeled, reverse=True):
        k, c = sum(s >= t for s in positive), sum(s >= t for s in unlabeled)
        x = stats.beta(k, 5 - k) if k else None
        y = stats.beta(c + 1, 8 - c) if c < 8 else None
        if x is None or y is None:
            exact.append(1.0)
            continue
        below = integrate.quad(lambda v, x=x, y=y: y.pdf(v) * x.cdf(0.7 * v / 0.4), 0, 1)[0]
        exact.append(below)
    assert_drawn(p_values(evidence, "precision_at_least", 0.7), np.asarray(exact))


def test_a_soft_label_of_zero_and_one_is_a_label() -> None:
    draw = MODEL.draw(60, 0)
    hard = p_values(ht.Labeled(draw.y, draw.score), "precision_at_least", 0.6)
    assert_drawn(p_values(ht.SoftLabeled(draw.y, draw.score), "precision_at_least", 0.6), hard.clip(1e-3))


def test_a_range_of_priors_is_as_bad_as_its_worst() -> None:
    positive, unlabeled = MODEL.draw_class(1, 30, 1).score, MODEL.draw(80, 2).score

    def tested(prior: Any) -> np.ndarray:
        return p_values(ht.PositiveUnlabeled(positive, unlabeled, prior=prior), "precision_at_least", 0.7)

    np.testing.assert_array_equal(tested((0.25, 0.35)), tested(0.25))
    np.testing.assert_array_equal(tested((0.25, 0.35)), np.maximum(tested(0.25), tested(0.35)))


def test_the_error_of_an_estimated_prior_counts() -> None:
    positive, unlabeled = MODEL.draw_class(1, 200, 1).score, MODEL.draw(1000, 2).score
    known, estimated = (
        p_values(ht.PositiveUnlabeled(positive, unlabeled, prior=prior), "precision_at_least", 0.7)
        for prior in (0.3, ht.PriorEstimate(value=0.3, replicates=np.linspace(0.15, 0.45, 101)))
    )
    sure = (known < 0.05).nonzero()[0]
    assert len(sure) > 100
    assert (estimated[sure] > known[sure]).mean() > 0.9


@pytest.mark.parametrize(
    ("p_values", "error", "best"),
    [
        ([0.01, 0.04, 0.05, 0.06, 0.01], [0.05, 0, 0, 0, 0], 7.0),  # one sequence ends at its first failure
        ([0.9, 0.02, 0.03, 0.9, 0.9], [0.02, 0.03, 0, 0, 0], 7.0),  # a start that fails loses its own error
        ([0.01, 0.04, 0.9, 0.9, 0.9], [0.02, 0.03, 0, 0, 0], 8.0),  # one that passes hands it on
        ([0.01, 0.9, 0.9, 0.03, 0.9], [0.02, 0, 0, 0.03, 0], 6.0),  # and a later one begins anew
        ([0.9, 0.9, 0.9, 0.9, 0.01], [0.05, 0, 0, 0, 0], np.nan),
    ],
)
def test_errors_are_handed_down(p_values: list[float], error: list[float], best: float) -> None:
    thresholds = np.asarray([9.0, 8.0, 7.0, 6.0, 5.0])
    np.testing.assert_equal(_last_certified(np.asarray(p_values), thresholds, np.asarray(error)), best)


def test_starts_share_the_error_and_see_no_labels() -> None:
    draw = MODEL.draw(2000, 3)
    shuffled = np.random.default_rng(0).permutation(draw.y)
    # As many positives, among other rows: the distinct scores are the same.
    starts = [
        _starts(e, e.table.support, 0.8, 0.05)
        for e in (ht.Labeled(draw.y, draw.score), ht.Labeled(shuffled, draw.score))
    ]
    np.testing.assert_array_equal(*starts)
    assert starts[0].sum() == pytest.approx(1)
    assert 2 <= (starts[0] > 0).sum() <= 5


def guaranteed(evidence: Any, **aim: float) -> float:
    return ht.best_threshold(evidence, **aim, confidence_level=0.95)


def test_a_guarantee_is_above_the_plug_in() -> None:
    evidence = MODEL.labeled(2000, 0)
    for aim in ({"precision_at_least": 0.8}, {"fpr_at_most": 0.1}):
        assert guaranteed(evidence, **aim) > ht.best_threshold(evidence, **aim)
    assert guaranteed(evidence, recall_at_least=0.8) < ht.best_threshold(evidence, recall_at_least=0.8)


def test_a_histogram_gives_nearly_the_threshold_of_its_rows() -> None:
    evidence = MODEL.positive_unlabeled(1000, 5000, 0)
    binned = evidence.with_table(evidence.table.compress())
    found, of_rows = (guaranteed(e, recall_at_least=0.8) for e in (binned, evidence))
    assert found == pytest.approx(of_rows, abs=0.02)


PERFECT = ht.Labeled(np.repeat([1, 0], 100), np.arange(200)[::-1])
TIED = np.repeat([5, 4, 3, 2, 1], 80)
TIES = ht.Labeled(np.concatenate([np.arange(80) < k for k in (79, 78, 40, 10, 1)]), TIED)


def test_defined_cases() -> None:
    # 100 positives above 100 negatives: 90% precision leaves room for some of the negatives, 99% for none.
    assert 90 < guaranteed(PERFECT, precision_at_least=0.9) <= 101
    assert guaranteed(PERFECT, recall_at_least=0.9) > 100
    assert guaranteed(TIES, precision_at_least=0.9) == 4  # 157 of 160; with the next 197 of 240
    assert guaranteed(TIES, recall_at_least=0.9) == 3  # 197 of 208; 157 are too few
    assert guaranteed(TIES, fpr_at_most=0.1) == 4  # 3 of 192; 43 are too many


@pytest.mark.parametrize(
    "evidence",
    [
        ht.Labeled([1, 0] * 5, np.arange(10)),
        ht.Labeled([0] * 50, np.arange(50)),
        ht.PositiveUnlabeled([1.0], np.arange(50.0), prior=0.3),
        ht.PositiveUnlabeled(np.arange(5.0), np.arange(5.0), prior=0.3),
        ht.SoftLabeled(np.zeros(50), np.arange(50.0)),
        ht.Labeled([1, 0] * 20, np.arange(40), sample_weight=[0, 1] * 20),
    ],
    ids=["ten rows", "no positive", "one known positive", "five and five", "no soft positive", "weightless"],
)
@pytest.mark.parametrize("aim", ["precision_at_least", "recall_at_least"])
def test_too_little_certifies_nothing_and_says_so(evidence: Any, aim: str) -> None:
    with pytest.warns(ht.EmptyClassWarning, match=r"No threshold could be certified \(confidence 0.95\)"):
        assert np.isnan(guaranteed(evidence, **{aim: 0.9}))


def test_positives_alone_are_certain_after_enough_of_them() -> None:
    """0.9^28 > 0.05 > 0.9^29, but for the share of the draws."""
    with pytest.warns(ht.EmptyClassWarning, match="precision>=0.9"):
        assert np.isnan(guaranteed(ht.Labeled([1] * 24, np.arange(24)), precision_at_least=0.9))
    assert guaranteed(ht.Labeled([1] * 40, np.arange(40)), precision_at_least=0.9) == 0


def test_what_cannot_be_guaranteed_is_refused() -> None:
    for wrong in ({"maximize": "f1"}, {"cost": (1, 1)}):
        with pytest.raises(ht.InputError, match="goes with evidence and a bound"):
            ht.best_threshold(PERFECT, **wrong, confidence_level=0.95)
    with pytest.raises(ht.InputError, match="goes with evidence and a bound"):
        ht.best_threshold(PERFECT.measure(), recall_at_least=0.9, confidence_level=0.95)
    with pytest.raises(ht.NotIdentifiable):
        guaranteed(ht.PositiveUnlabeled([2.0, 3.0], [1.0, 2.0]), precision_at_least=0.9)
