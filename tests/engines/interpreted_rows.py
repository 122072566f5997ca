"""Triton kernels that read rows, against PyTorch; run by `test_triton_kernels` with TRITON_INTERPRET=1.

Blocks are made small, so that few rows need several programs, each of several blocks.
"""

from __future__ import annotations

import numpy as np
import pytest

from halftruth.table._grid import Grid

from .devices import tensor

# The interpreter computes also what is masked.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning:triton")

SMALL = Grid("probability", n_bins=128)
GRIDS = {"probability": SMALL, "margin": Grid("margin", center=0.25, scale=0.5, n_bins=128)}
SIZES = (1, 16, 37, 70)


def scores(kind, n, dtype="float64"):
    """Scores in [0, 1] of a kind; with the ends, 0 also as −0.0."""
    rng = np.random.default_rng(n)
    drawn = {
        "spread": rng.random(n),
        "ends": rng.choice([0.0, -0.0, 1.0, 0.5], n),
        "ties": rng.integers(0, 6, n) / 5,
        "alike": np.full(n, 0.3),
        "extreme": rng.choice([1e-38, 1e-9, 1 - 2**-24, 1.0, 2**-33], n),
    }
    return tensor(drawn[kind], "cpu", dtype)


KINDS = ("spread", "ends", "ties", "alike", "extreme")


def strata(n, held=(0, 1, 2), dtype="uint8"):
    return tensor(np.random.default_rng(n + 1).choice(held, n), "cpu", dtype)


def assert_same_bits(found, expected):
    assert set(found) == set(expected)
    for name, column in expected.items():
        assert found[name].numpy().tobytes() == column.numpy().tobytes(), name


# --- Labels to strata -----------------------------------------------------------------------------


@pytest.fixture
def survey(monkeypatch):
    """The survey in blocks of 16 rows, by at most 3 programs."""
    from halftruth.engines.tensors import _triton_pass

    monkeypatch.setattr(_triton_pass, "BLOCK", 16)
    monkeypatch.setattr(_triton_pass, "MOST_PROGRAMS", 3)
    return _triton_pass.survey


LABELS = {
    "float64": [1, 0, np.nan, -1, 0.5, np.inf],
    "float32": [1, 0, np.nan, -1, 0.5],
    "float16": [1, 0, np.nan, 2],
    "int64": [1, 0, -1, 2, 1 << 40],
    "int8": [1, 0, -1],
    "uint8": [1, 0, 255],
    "bool": [True, False],
}


@pytest.mark.parametrize("code", [None, -1.0, 0.0, 0.5])
@pytest.mark.parametrize("dtype", LABELS)
def test_strata_and_facts(survey, dtype, code):
    from halftruth.engines.tensors import _tensor_rows

    for n, width in zip(SIZES, ("float32", "float64") * 2, strict=True):
        label = tensor(np.random.default_rng(n).choice(LABELS[dtype], n), "cpu", dtype)
        score = scores("spread", n, width) * 8 - 4
        expected = _tensor_rows._strata(label, code)
        stratum, facts = survey(score, label, code)
        assert stratum.tolist() == expected.tolist()
        assert facts == _tensor_rows._facts(score, expected).tolist()


def test_one_program_may_see_many_rows(survey, monkeypatch):
    from halftruth.engines.tensors import _triton_pass as module

    monkeypatch.setattr(module, "MOST_PROGRAMS", 1)
    label = np.tile([1.0, 1.0, 0.0, np.nan], 300)
    assert survey(scores("spread", 1200), tensor(label, "cpu"), None)[1][:3] == [600, 300, 300]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_score_that_is_not_finite_is_seen(survey, bad, dtype):
    for n in (1, 100):
        score, label = scores("spread", n, dtype), tensor(np.ones(n), "cpu")
        score[n // 2] = bad
        assert survey(score, label, None)[1][-1] == np.inf


def test_columns_of_a_matrix_are_surveyed(survey):
    score, label = scores("spread", 80).view(40, 2), tensor(np.arange(80) % 2, "cpu").view(2, 40).T
    stratum, facts = survey(score[:, 1], label[:, 1], None)
    assert stratum.tolist() == [0 if k % 2 else 2 for k in range(40)]
    assert facts == [20, 0, 20, -score[:, 1].min().item(), score[:, 1].max().item()]


# --- Histograms -----------------------------------------------------------------------------------


@pytest.fixture
def kernel(monkeypatch):
    """The histograms in blocks of 16 rows; 64 rows or more are packed, 32 first and then 80 at a time."""
    from halftruth.engines.tensors import _triton_histogram as kernel

    small = {"BLOCK": 16, "MANY": 64, "N_BINS": SMALL.n_bins, "COPIES": 4, "PACKED_ROWS": 20}
    for name, value in small.items():
        monkeypatch.setattr(kernel, name, value)
    return kernel


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("grid", GRIDS.values(), ids=GRIDS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_added_rows(kernel, dtype, grid, weighted):
    from halftruth.engines.tensors import _dense_histogram

    for kind in KINDS:
        made = [_dense_histogram.empty(grid, n_strata=3, weighted=weighted) for _ in range(2)]
        for n, held in zip(SIZES, ([1], [0, 2], [2], [0, 1, 2]), strict=True):
            score, stratum = scores(kind, n, dtype), strata(n, held)
            if grid.kind == "margin":
                score = score * 100 - 50
            weight = scores("spread", n + 2)[2:] * 30 + 0.01 if weighted else None
            for add, sums in zip((kernel.add_rows, _dense_histogram.add_rows), made, strict=True):
                add(sums, grid, score, stratum, weight)
        assert_same_bits(*made)


@pytest.mark.parametrize("kind", KINDS)
def test_packed_rows(kernel, kind):
    from halftruth.engines.tensors import _dense_histogram

    for n, held in ((64, [0, 1, 2]), (150, [0, 2])):
        score, stratum = scores(kind, n, "float32"), strata(n, held, "int64")
        assert kernel.packs(SMALL, score)
        expected = _dense_histogram.empty(SMALL, n_strata=3, weighted=False)
        _dense_histogram.add_rows(expected, SMALL, score, stratum)
        assert_same_bits(kernel.histogram(SMALL, score, stratum, 3), expected)


def test_later_rows_move_the_ends_of_a_bin(kernel):
    """Rows of one bin, from its middle outwards: every other one is its lowest or its highest so far."""
    inside = np.flatnonzero(SMALL.bins(np.arange(1 << 14) / (1 << 14)) == 50) / (1 << 14)
    order = np.argsort(np.abs(inside - inside.mean()), kind="stable")
    score = tensor(inside[order], "cpu", "float32")
    made = kernel.histogram(SMALL, score, strata(len(score), [0]), 1)
    assert len(score) > 2 * kernel.MANY
    assert made["low"][50] == inside[0]
    assert made["high"][50] == inside[-1]


def test_rows_of_the_grid_by_default_are_packed_in_numbers_that_hold_them():
    """Distances of one sum stay below the count, and the count below the sign."""
    from halftruth.engines.tensors import _triton_histogram as kernel

    grid = Grid("probability")
    first = kernel._starts(grid, tensor(0, "cpu").device).numpy().view(np.uint32).astype(np.int64)
    slot = np.arange(grid.n_slots)
    after = np.append(grid.starts()[1:], 1.0)
    away = np.floor(after * 2.0**32 + 0.5).astype(np.int64) - first[slot // kernel.SHARED.value]
    rows = kernel.PACKED_ROWS + kernel.BLOCK
    assert away.min() >= 0
    assert int(away.max()) * rows < kernel.ROW.value
    assert rows * kernel.ROW.value < 1 << 63


def test_full_packed_sums_are_unpacked(kernel):
    """In every copy the highest sum there is, at starts beyond 31 bits; added to rows that are there."""
    from halftruth.engines.tensors import _dense_histogram

    sums = _dense_histogram.empty(SMALL, n_strata=1, weighted=False)
    sums["rows"] += 5
    sums["position"] += 7
    device = sums["rows"].device
    size, start = SMALL.n_slots, kernel._starts(SMALL, device)
    packed = tensor(np.full(kernel.COPIES * size, (1 << 63) - 1), device)
    ends = tensor(np.full(2 * size, -1), device, "int32")
    levels = tensor(np.zeros(size), device, "uint8")
    kernel._unpack[(5,)](
        packed,
        start,
        ends,
        levels,
        *(sums[name] for name in ("rows", "position", "low", "high")),
        size,
        SMALL.n_slots,
        n_bins=SMALL.n_bins,
        copies=kernel.COPIES,
        fresh=False,
        block=64,
    )
    count, away = kernel.COPIES * ((1 << 21) - 1), kernel.COPIES * ((1 << 42) - 1)
    at = start.numpy().view(np.uint32).tolist()
    assert sums["rows"].tolist() == [count + 5] * size
    expected = [away + count * at[slot // kernel.SHARED.value] + 7 for slot in range(size)]
    assert sums["position"].tolist() == expected
    assert packed.count_nonzero() == 0
    assert levels.tolist() == [255] * size
