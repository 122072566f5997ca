"""Distinct scores on a device against the compiled walks over sorted rows."""

from __future__ import annotations

import numpy as np
import pytest

from halftruth.table._sorted_rows import SortedRows

from .devices import device, tensor

__all__ = ["device"]

NAMES = ("positive", "unlabeled", "negative")
COEFFICIENTS = {
    "labeled": ((1, 1, 1), (1, 0, 0)),
    "two samples": ((0, 1, 0), (0.3, 0, 0)),
    "signed": ((1, 1, 1), (2.5, -0.4, 0.1)),
    "no population": ((0, 0, 0), (1, 0, 0)),
    "no positive": ((1, 1, 1), (0, 0, 0)),
}


def both(scores, device, dtype="float64"):
    """The support of the same rows on the host, and on the device in another order."""
    from halftruth.engines.tensors import _tensor_rows
    from halftruth.engines.tensors import _tensor_support as support

    scores = {name: np.asarray(x, dtype=dtype) for name, x in scores.items() if len(x)}
    order = np.random.default_rng(1).permutation(sum(map(len, scores.values())))
    every = np.concatenate(list(scores.values()))[order]
    stratum = np.repeat([NAMES.index(k) for k in scores], [len(x) for x in scores.values()])[order]
    label = np.asarray([1.0, np.nan, 0.0])[stratum]
    rows = _tensor_rows.read(tensor(every, device), tensor(label, device))
    host = SortedRows({name: x.astype(np.float64) for name, x in scores.items()})
    return host, support.TensorSupport.of_rows(rows)


def drawn(n, seed, *, steps=None):
    rng = np.random.default_rng(seed)
    score = rng.random(n) if steps is None else rng.integers(0, steps + 1, n) / steps
    stratum = rng.integers(0, 3, n)
    return {name: score[stratum == k] for k, name in enumerate(NAMES)}


def shares(values, support):
    return {name: float(x) for name, x in zip(NAMES, values, strict=True) if name in support.n_rows}


def assert_same_fold(host, found, mass, pos):
    parts = [shares(x, host) for x in (mass, pos, np.subtract(mass, pos))]
    scale = sum(host.n_rows.values())
    for own in ((0.0, 0.0), (0.75, 1.0)):
        expected, got = host.pass_sums(*parts, own=own), found.pass_sums(*parts, own=own)
        for name, value in expected._asdict().items():
            size = scale**2 if name == "roc_area" else scale
            assert getattr(got, name) == pytest.approx(value, rel=1e-13, abs=1e-14 * size, nan_ok=True), name


@pytest.mark.parametrize("steps", [None, 3, 40])
def test_small_folds_are_those_of_the_walk(device, steps):
    for n in range(1, 50):
        host, found = both(drawn(n, n, steps=steps), device)
        assert found.n_rows == host.n_rows
        assert found.span == host.span
        for mass, pos in COEFFICIENTS.values():
            assert_same_fold(host, found, mass, pos)


@pytest.mark.parametrize("coefficients", COEFFICIENTS)
@pytest.mark.parametrize(
    "scores",
    [
        {"positive": [0.5] * 4, "unlabeled": [0.5] * 3, "negative": [0.5]},
        {"positive": [0.9, 0.95, 1.0], "unlabeled": [0.0, 0.2, 0.3]},
        {"positive": [0.0, 1.0], "unlabeled": [0.0, 1.0], "negative": [1.0]},
        {"positive": [3.0, -0.0, 0.0], "unlabeled": [-2.0, 0.0]},
        {"unlabeled": [0.25]},
    ],
    ids=["alike", "apart", "ends", "margins", "one row"],
)
def test_folds_of_hard_cases(device, scores, coefficients):
    host, found = both({name: np.add(x, 0.0) for name, x in scores.items()}, device)
    assert_same_fold(host, found, *COEFFICIENTS[coefficients])


def test_an_unknown_coefficient_gives_nan(device):
    host, found = both(drawn(20, 3), device)
    assert_same_fold(host, found, (1, 1, 1), (np.nan, 0, 0))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_a_million_rows(device, dtype):
    host, found = both(drawn(1_000_000, 5), device, dtype)
    for mass, pos in COEFFICIENTS.values():
        assert_same_fold(host, found, mass, pos)
    population = shares((0, 1, 1), host)
    for binning, n_bins in (("mass", 100), ("mass", 7), ("width", 15), ("mass", 1)):
        expected, got = (x.moments(population, n_bins, binning) for x in (host, found))
        for name in NAMES:
            np.testing.assert_array_equal(got[name][0], expected[name][0])
            np.testing.assert_allclose(got[name], expected[name], rtol=1e-12)
    assert found.above(0.3) == host.above(0.3)
    assert found.above(np.inf) == dict.fromkeys(NAMES, 0)


@pytest.mark.parametrize("binning", ["mass", "width"])
@pytest.mark.parametrize("steps", [None, 3, 40])
def test_small_moments_are_those_of_the_walk(device, steps, binning):
    for n in range(1, 50):
        host, found = both(drawn(n, n, steps=steps), device)
        for mass in ((1, 1, 1), (0, 1, 0), (0, 0, 0)):
            population = shares(mass, host)
            expected, got = (x.moments(population, 1 + n // 2, binning) for x in (host, found))
            for name in host.n_rows:
                np.testing.assert_allclose(got[name], expected[name], rtol=1e-14, atol=1e-14)


def test_sums_between_cuts_at_every_place(device):
    from halftruth.engines.tensors import _tensor_pass as sums

    numbers = np.random.default_rng(2).random((2, 3 * sums.BLOCK**2 + 5))
    x = tensor(numbers, device)
    size = numbers.shape[1]
    pyramid = sums.pyramid(lambda index: x[:, index], size, sums.block_sums(x))
    assert [level.size for level in pyramid] == [size, 3 * sums.BLOCK + 1, 4]
    ends = np.random.default_rng(3).integers(0, size + 1, 500)
    near = [k * sums.BLOCK + d for k in (0, 1, 2, sums.BLOCK, size // sums.BLOCK) for d in (0, 1, 2)]
    cut = np.unique([0, size, *ends, *near])
    got = sums.between(pyramid, tensor(cut, device)).cpu().numpy()
    expected = np.add.reduceat(numbers, cut[:-1], axis=1)
    np.testing.assert_allclose(got, expected, rtol=1e-13)
    assert sums.between(pyramid, tensor([4, 4, 7, 7], device))[:, [0, 2]].tolist() == [[0, 0], [0, 0]]


def test_rows_between_scores_of_one_stratum(device):
    for n, steps in ((10, None), (3000, None), (60_000, 500)):
        host, found = both(drawn(n, n, steps=steps), device)
        for name in NAMES:
            expected, got = host.masses_around(name), found.masses_around(name)
            for other in NAMES:
                np.testing.assert_array_equal(got[other], expected[other])


@pytest.mark.parametrize("steps", [None, 1000])
def test_joined_rows_are_the_same(device, steps):
    host, found = both(drawn(600_000, 8, steps=steps), device)
    expected, got = (x.coarse(512, keep=(0.37, 2.0)) for x in (host, found))
    np.testing.assert_array_equal(got.edge, expected.edge)
    np.testing.assert_allclose(got.score, expected.score, rtol=1e-13)
    for name in NAMES:
        np.testing.assert_array_equal(got.strata[name].atom, expected.strata[name].atom)
        np.testing.assert_array_equal(got.strata[name].count, expected.strata[name].count)


def test_few_rows_are_joined_as_on_the_host(device):
    host, found = both(drawn(5000, 8), device)
    expected, got = host.distinct.coarse(100), found.coarse(100)
    np.testing.assert_array_equal(got.score, expected.score)


@pytest.mark.parametrize("steps", [None, 40])
def test_scores_and_counts_come_to_the_host(device, steps):
    host, found = both(drawn(500, 4, steps=steps), device)
    np.testing.assert_array_equal(found.score, host.score)
    for name in NAMES:
        np.testing.assert_array_equal(found.strata[name].atom, host.strata[name].atom)
        np.testing.assert_array_equal(found.strata[name].count, host.strata[name].count)
    assert found.sums().total(("positive", "weight")) == host.n_rows["positive"]


def test_two_runs_give_the_same_bits(device):
    scores = drawn(300_000, 6)
    one, other = (both(scores, device)[1] for _ in range(2))
    parts = [shares(x, one) for x in ((1, 1, 1), (2.5, -0.4, 0.1), (-1.5, 1.4, 0.9))]
    assert one.pass_sums(*parts, own=(1.5, 0.0)) == other.pass_sums(*parts, own=(1.5, 0.0))
    for name, moments in one.moments(parts[0], 67, "mass").items():
        assert moments.tobytes() == other.moments(parts[0], 67, "mass")[name].tobytes()
