"""Where the bins of the calibration error begin and end."""

from itertools import pairwise

import numpy as np
import pytest

import halftruth as ht

from . import naive
from .agreement import assert_same
from .rows import labeled_rows

SCORE = np.array([0.1, 0.4, 0.4, 0.8, 0.9])


@pytest.mark.parametrize("binning", ["mass", "width"])
@pytest.mark.parametrize("norm", [1, 2, "max"])
def test_one_bin_is_the_gap_between_mean_score_and_share_of_positives(
    binning: str, norm: float | str
) -> None:
    evidence = ht.Labeled([0, 1, 0, 1, 1], SCORE)
    ours = ht.calibration_error(evidence, n_bins=1, binning=binning, norm=norm)
    assert_same(ours, abs(3 / 5 - SCORE.mean()))


@pytest.mark.parametrize("binning", ["mass", "width"])
def test_one_bin_of_positives_and_unlabeled(binning: str) -> None:
    evidence = ht.PositiveUnlabeled([0.9, 0.4], SCORE, prior=0.25)
    assert_same(ht.calibration_error(evidence, n_bins=1, binning=binning), abs(0.25 - SCORE.mean()))


@pytest.mark.parametrize("weight", [None, [0.5]], ids=["one row", "half a row"])
def test_one_row_has_one_bin_by_default(weight: list[float] | None) -> None:
    """⌈n^(1/3)⌉ = 1."""
    evidence = ht.SoftLabeled([0.75], [0.5], sample_weight=weight)
    assert_same(ht.calibration_error(evidence), 0.25)


@pytest.mark.parametrize("n", [7, 8, 9, 26, 27, 28, 124, 125, 126, 1000])
def test_labels_have_a_bin_for_each_in_the_cube_root_of_their_number(n: int) -> None:
    rng = np.random.default_rng(n)
    score, y = rng.random(n), rng.integers(0, 2, n)
    n_bins = next(b for b in range(1, n) if b**3 >= n)
    wanted = naive.calibration_error(labeled_rows(y, score), n_bins=n_bins)
    assert_same(ht.calibration_error(ht.Labeled(y, score)), float(wanted))


@pytest.mark.parametrize("weight", [1.0, 2.0, 0.1, 1 / 3, 0.7])
@pytest.mark.parametrize("seed", range(8))
def test_rounding_moves_no_row_into_another_bin_of_equal_mass(seed: int, weight: float) -> None:
    """With n a multiple of the number of bins, each holds n/B rows, whatever the unit of the weights."""
    rng = np.random.default_rng(seed)
    n_bins = int(rng.integers(2, 12))
    n = n_bins * int(rng.integers(2, 8))
    score, y = rng.random(n), rng.integers(0, 2, n)
    order = np.argsort(score).reshape(n_bins, -1)
    wanted = np.mean(np.abs((y - score)[order].mean(axis=1)))
    evidence = ht.Labeled(y, score, sample_weight=np.full(n, weight))
    assert_same(ht.calibration_error(evidence, n_bins=n_bins), wanted)


@pytest.mark.parametrize("n_bins", [3, 7, 10, 15, 100])
def test_score_on_an_edge_of_equal_width_belongs_to_the_bin_below(n_bins: int) -> None:
    """Also 0.3, 0.6 and 0.7, which rounding puts elsewhere; 0 falls into the first bin, 1 into the last."""
    edges = [b / n_bins for b in range(n_bins + 1)]
    for low, high in pairwise(edges):
        inside = np.nextafter(low, 1) if low > 0 else 0.0
        together = ht.Labeled([1, 0], [inside, high])
        assert_same(
            ht.calibration_error(together, n_bins=n_bins, binning="width"), abs(1 - inside - high) / 2
        )
        if low > 0:
            apart = ht.Labeled([1, 0], [low, inside])
            wanted = (1 - low + inside) / 2
            assert_same(ht.calibration_error(apart, n_bins=n_bins, binning="width"), wanted)
