"""Intervals of every recovered number: the rows, their values, and whose noise they hold."""

from __future__ import annotations

import numpy as np
import pytest

import halftruth as ht
from halftruth import recover
from halftruth.recover._recovered_curves import indirect_areas

from .made import evidence

ROWS = ["roc_auc", "roc_auc_indirect", "roc_auc_concave", "pr_auc_indirect", "pr_auc_concave"]


@pytest.mark.parametrize("population", ["unlabeled", "all"])
@pytest.mark.parametrize("purity", [1.0, 0.8])
def test_values_are_those_of_the_functions(purity, population):
    data = evidence(1, n=100, purity=purity, prior=0.4, population=population)
    result = recover.performance(data, n_resamples=50)
    assert list(result) == ROWS
    projected = recover.project(data)
    values = {name: row.value for name, row in result.items()}
    assert values == {
        "roc_auc": ht.roc_auc(data),
        "roc_auc_indirect": pytest.approx(indirect_areas(data.measure())[0]),
        "roc_auc_concave": pytest.approx(ht.roc_auc(projected)),
        "pr_auc_indirect": pytest.approx(indirect_areas(data.measure())[1]),
        "pr_auc_concave": pytest.approx(ht.pr_auc(projected)),
    }
    for row in result.values():
        assert row.low < row.value < row.high
        assert row.confidence_level == 0.95


def test_rows_share_their_resamples():
    data = evidence(2, n=100)
    result = recover.performance(data, n_resamples=60, rng=3)
    direct, concave = result["roc_auc"].replicates, result["roc_auc_concave"].replicates
    assert np.corrcoef(direct, concave)[0, 1] > 0.7
    again = recover.performance(data, n_resamples=60, rng=np.random.default_rng(3))
    for name in ROWS:
        np.testing.assert_array_equal(result[name].replicates, again[name].replicates)
    other = recover.performance(data, n_resamples=60, rng=4)
    assert (other["roc_auc_concave"].replicates != concave).any()


def test_joined_rows_are_moved_to_the_value():
    data = ht.simulate.GaussianClasses(prior=0.3).positive_unlabeled(400, 4000, rng=1, purity=0.9)
    result = recover.performance(data, n_resamples=200)
    for name, row in result.items():
        spread = row.replicates.std()
        assert abs(row.replicates.mean() - row.value) < 1.5 * spread, name


def test_what_is_not_known_of_the_shares_widens_every_interval():
    kwargs = {"n_resamples": 40}
    known = recover.performance(evidence(3, n=60, prior=0.3, purity=0.9), **kwargs)
    ranged = recover.performance(evidence(3, n=60, prior=(0.2, 0.4), purity=0.9), **kwargs)
    replicates = np.random.default_rng(0).uniform(0.2, 0.4, 200)
    estimate = ht.PriorEstimate(value=0.3, replicates=replicates)
    drawn = recover.performance(evidence(3, n=60, prior=estimate, purity=0.9), **kwargs)
    for name in ROWS:
        assert ranged[name].low < known[name].low
        assert ranged[name].high > known[name].high
        assert ranged[name].value == pytest.approx(known[name].value)
        assert drawn[name].high - drawn[name].low > known[name].high - known[name].low


def test_rows_joined_to_bins_are_projected_without_a_promise():
    rng = np.random.default_rng(4)
    score = 1 / (1 + np.exp(-np.append(rng.normal(1, 1, 300), rng.normal(0, 1, 3000))))
    y = np.repeat([1.0, np.nan], [300, 3000])
    rows = ht.PositiveUnlabeled.from_labels(y, score, prior=0.3, population="unlabeled")
    binned = ht.PositiveUnlabeled.from_table(rows.table.compress(), prior=0.3, population="unlabeled")
    result = recover.performance(binned, n_resamples=40)
    exact = recover.performance(rows, n_resamples=40)
    for name in ROWS:
        assert result[name].value == pytest.approx(exact[name].value, abs=0.02)
    assert result["roc_auc"].compression > 0
    assert result["roc_auc_concave"].compression is None


def test_the_assumption_and_both_shares_are_told():
    result = recover.performance(evidence(0, purity=0.9, prior=0.4, population="all"), n_resamples=40)
    assert any("SCAR" in note for note in result.notes)
    assert result.prior.value == pytest.approx(0.4)
    assert result.alpha.value < 0.4


def test_bad_input_is_refused():
    with pytest.raises(ht.InputError, match="must be PositiveUnlabeled, got Labeled"):
        recover.performance(ht.Labeled([0, 1], [0.1, 0.2]))
    with pytest.raises(ht.NotIdentifiable, match="class prior"):
        recover.performance(evidence(0, prior=None))
    with pytest.raises(ht.InputError, match="`n_resamples` must be a whole number of at least 1"):
        recover.performance(evidence(0), n_resamples=0)
    with pytest.raises(ht.InputError, match="`confidence_level`"):
        recover.performance(evidence(0), confidence_level=95)
