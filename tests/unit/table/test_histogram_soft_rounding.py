"""Rounding in histograms of soft labels: what it leaves as it is, and what bounds must allow for."""

from __future__ import annotations

import numpy as np
import pytest

import halftruth as ht
from halftruth.certificate import _compression as certificate
from halftruth.table._grid import Grid
from halftruth.table._histogram import UNIT, Bins


@pytest.mark.parametrize("weight", [None, 0.2, 0.7, 2.3])
@pytest.mark.parametrize("q", [0.2, 0.3, 0.7])
def test_rows_that_are_alike_have_no_spread(weight: float | None, q: float) -> None:
    """Rounded sums alone would make them differ, by the root of a step."""
    weights = None if weight is None else np.full(5, weight)
    bins = Bins.of(Grid("probability"), np.full(5, 0.4), weights, value=np.full(5, q))
    spread = bins.cells(np.zeros(1, dtype=np.intp)).spread
    assert spread is not None
    assert not spread.any()


def test_rows_that_hardly_differ_have_a_spread() -> None:
    q = np.asarray([0.3, 0.301])
    bins = Bins.of(Grid("probability"), np.full(2, 0.4), value=q)
    spread = bins.cells(np.zeros(1, dtype=np.intp)).spread
    assert spread is not None
    assert spread[2] == pytest.approx(q.std(), rel=1e-3)


def test_bounds_allow_for_what_rounding_does_to_the_precision_at_every_row() -> None:
    """Weights that rise down the ranking: each precision is off by all that was rounded above it."""
    weight = 2.0 ** np.repeat(np.arange(-10, 5), 2)
    share = np.where(np.arange(len(weight)) < 20, 0.99, 0.3)
    q = (np.floor(weight * share * UNIT) + 0.49) / UNIT / weight  # nearly half a step is lost of every row
    exact = ht.SoftLabeled(q, np.linspace(0.9, 0.1, len(weight)), sample_weight=weight)
    binned = ht.SoftLabeled.from_table(exact.table.compress())
    bound = certificate.bound(binned, "average_precision")
    assert bound is not None
    assert abs(ht.average_precision(exact) - ht.average_precision(binned)) <= bound < 1e-6


@pytest.mark.parametrize("seed", [11, 37, 52])
def test_soft_rows_are_counted_in_whole_numbers(seed: int) -> None:
    """So many rows that floating-point sums of the two classes miss the whole number of both."""
    rng = np.random.default_rng(seed)
    score = np.asarray([1, 3, 5]) / 6

    def each() -> ht.ScoreTable:
        return ht.SoftLabeled(rng.random(len(score)), score).table.compress()

    table = each()
    for _ in range(23):
        table = table.merge(table, each())
    evidence = ht.SoftLabeled.from_table(table)
    # One score in each bin of equal mass, the edges between them: nothing is open but rounding.
    parameters = {"n_bins": len(score), "binning": "mass", "norm": 2}
    bound = certificate.bound(evidence, "calibration_error", parameters)
    assert bound is not None
    assert bound < 1e-8
