"""Formulas of Jain et al.: exact on populations, broadcast, and clear about shares that cannot be."""

from __future__ import annotations

import numpy as np
import pytest

import halftruth as ht
from halftruth import recover
from halftruth.recover._formulas import observed_auc

from .made import above, area, populations

POPULATIONS = populations(1000, seed=5)


def test_the_auc_of_a_population_is_recovered_exactly():
    for each in POPULATIONS:
        seen = area(each.labeled, each.unlabeled)
        assert recover.auc(seen, each.alpha, each.purity) == pytest.approx(area(each.f1, each.f0), abs=1e-12)


def test_rates_of_a_population_are_recovered_exactly():
    for each in POPULATIONS:
        found = recover.rates(above(each.labeled), above(each.unlabeled), each.alpha, each.purity)
        assert np.abs(found.tpr - above(each.f1)).max() < 1e-12
        assert np.abs(found.fpr - above(each.f0)).max() < 1e-12


def test_both_precisions_of_a_population_are_recovered_exactly():
    rng = np.random.default_rng(8)
    for each in POPULATIONS:
        tpr, fpr, seen_tpr, seen_fpr = (
            above(law)[1:] for law in (each.f1, each.f0, each.labeled, each.unlabeled)
        )
        truth = each.alpha * tpr / (each.alpha * tpr + (1 - each.alpha) * fpr)
        recovered = recover.rates(seen_tpr, seen_fpr, each.alpha, each.purity).tpr
        by_recall = recover.precision(recovered, seen_fpr, each.alpha)
        assert np.abs(by_recall - truth).max() < 1e-12
        share = rng.uniform(0.02, 0.6)
        seen = share * seen_tpr / (share * seen_tpr + (1 - share) * seen_fpr)
        by_precision = recover.precision_from_pu(seen, each.alpha, each.purity, labeled_share=share)
        assert np.abs(by_precision - truth).max() < 1e-12


def test_ends_of_a_curve_stay_to_the_last_digit():
    for each in POPULATIONS:
        found = recover.rates([0.0, 1.0], [0.0, 1.0], each.alpha, each.purity)
        assert found.tpr.tolist() == [0.0, 1.0]
        assert found.fpr.tolist() == [0.0, 1.0]


def test_the_example_of_the_paper():
    # Figure 1: three labeled and five unlabeled cases, one of these positive.
    labeled, unlabeled = [0.986, 0.863, 0.699], [0.943, 0.789, 0.473, 0.211, 0.009]
    seen = np.mean([p > u for p in labeled for u in unlabeled])
    assert seen == pytest.approx(12 / 15)
    assert recover.auc(seen, alpha=1 / 5) == pytest.approx(0.5 + 0.3 / 0.8)


def test_the_auc_rises_with_the_correction_only_above_a_half():
    assert recover.auc(0.6, 0.3, 0.9) > 0.6
    assert recover.auc(0.4, 0.3, 0.9) < 0.4
    assert recover.auc(0.5, 0.3, 0.9) == 0.5
    assert recover.auc(0.7, 0.0, 1.0) == pytest.approx(0.7, abs=1e-15)


def test_what_is_impossible_comes_back_raw_unless_clipped():
    assert recover.auc(0.95, 0.5) == pytest.approx(1.4)
    assert recover.auc([0.95, 0.05, 0.7], 0.5, clip=True).tolist() == [1.0, 0.0, pytest.approx(0.9)]
    found = recover.rates(0.9, 0.1, alpha=0.3)
    assert found.tpr == 0.9
    assert found.fpr == pytest.approx((0.1 - 0.27) / 0.7)


def test_numbers_give_numbers_and_arrays_broadcast():
    assert isinstance(recover.auc(0.7, 0.2), float)
    assert isinstance(recover.rates(0.7, 0.2, 0.2).tpr, float)
    grid = recover.auc([[0.6], [0.7]], [0.1, 0.2, 0.3], purity=0.9)
    assert grid.shape == (2, 3)
    assert grid[1, 2] == recover.auc(0.7, 0.3, 0.9)
    assert recover.rates([0.5, 0.6], 0.1, [[0.1], [0.2]]).fpr.shape == (2, 2)


def test_observed_auc_is_the_inverse():
    assert recover.auc(observed_auc(0.83, 0.2, 0.9), 0.2, 0.9) == pytest.approx(0.83, abs=1e-15)


def test_precision_where_nothing_is_called_positive_is_nan():
    assert np.isnan(recover.precision(0.0, 0.0, 0.2))
    assert np.isnan(recover.precision_from_pu(1.0, 0.2, labeled_share=0.1))


@pytest.mark.parametrize(
    ("alpha", "purity", "message"),
    [
        (1.2, 1.0, r"`alpha` must lie in \[0, 1\), got 1.2"),
        (1.0, 1.0, r"`alpha` must lie in \[0, 1\), got 1"),
        (-0.1, 1.0, r"`alpha` must lie in \[0, 1\), got -0.1"),
        (np.nan, 1.0, r"`alpha` must lie in \[0, 1\), got nan"),
        ("0.3", 1.0, "`alpha` must hold real numbers"),
        (True, 1.0, "`alpha` must hold real numbers"),
        (0.3, 1.2, r"`purity` must lie in \[0, 1\], got 1.2"),
        (0.3, 0.0, "`purity` must exceed `alpha`"),
        (0.3, 0.3, "`purity` must exceed `alpha`, got purity=0.3 and alpha=0.3"),
        (0.5, 0.3, "their labels say nothing"),
        ([0.1, 0.5], 0.3, "got purity=0.3 and alpha=0.5"),
        ([0.1, 0.2], [0.5, 0.6, 0.7], "shapes that go together"),
    ],
)
def test_shares_that_cannot_be_are_refused(alpha, purity, message):
    for call in (
        lambda: recover.auc(0.7, alpha, purity),
        lambda: recover.rates(0.7, 0.2, alpha, purity),
        lambda: recover.precision_from_pu(0.3, alpha, purity, labeled_share=0.1),
    ):
        with pytest.raises(ht.InputError, match=message):
            call()


@pytest.mark.parametrize("share", [0.0, 1.0, -0.2, 1.5, np.nan])
def test_the_share_of_labeled_rows_is_a_share(share):
    with pytest.raises(ht.InputError, match="`labeled_share` must lie in"):
        recover.precision_from_pu(0.3, 0.2, labeled_share=share)
