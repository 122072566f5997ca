"""Sorted scores, the rows they came from, and the distinct scores of several strata."""

import numpy as np
import pytest

from halftruth.kernels import _sorting

RNG = np.random.default_rng(0)
N = 70_000
SCORES = {
    "even": RNG.random(N),
    "two digits": RNG.random(N).round(2),
    "of any sign": RNG.normal(size=N) * 10.0 ** RNG.integers(-200, 200, N),
    "mostly one": np.where(RNG.random(N) < 0.7, 0.5, RNG.random(N)),
    "in order": np.sort(RNG.random(N)),
    "in reverse": -np.sort(RNG.random(N)),
    "near 0": np.exp(-RNG.exponential(50, N)),
    "one": np.full(N, 0.25),
    "few": RNG.random(5),
    "none": np.zeros(0),
}


@pytest.mark.parametrize("name", SCORES)
def test_rows_of_one_score_keep_their_order(name):
    score = SCORES[name]
    ascending, row = _sorting.ordered(score)
    order = np.argsort(score, kind="stable")
    np.testing.assert_array_equal(row, order)
    np.testing.assert_array_equal(ascending, score[order])
    np.testing.assert_array_equal(_sorting.sort(score), ascending)


def test_digits_that_hold_many_rows_are_spread_again(monkeypatch):
    monkeypatch.setattr(_sorting, "LEAF_ROWS", 100)
    monkeypatch.setattr(_sorting, "BUCKET_ROWS", 20)
    for name, score in SCORES.items():
        ascending, row = _sorting.ordered(score)
        np.testing.assert_array_equal(row, np.argsort(score, kind="stable"), err_msg=name)
        np.testing.assert_array_equal(ascending, score[row])


@pytest.mark.parametrize("n_strata", [1, 2, 3])
def test_a_union_is_what_numpy_has(n_strata):
    strata = [np.unique(RNG.random(200).round(2 + k)) for k in range(n_strata)]
    score, places = _sorting.union(strata)
    np.testing.assert_array_equal(score, np.unique(np.concatenate(strata)))
    for stratum, place in zip(strata, places, strict=True):
        np.testing.assert_array_equal(score[place], stratum)
