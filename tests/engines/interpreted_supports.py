"""Triton kernels that read distinct scores, against PyTorch; run as those of `interpreted_rows` are."""

from __future__ import annotations

import numpy as np
import pytest

import halftruth as ht

from .devices import as_devices, tensor
from .interpreted_rows import GRIDS, KINDS, SMALL, kernel, scores, strata, survey

__all__ = ["kernel", "survey"]

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning:triton")

MOST = (1 << 31) - 1
"""Rows of a table: their number is held in 32 bits, but not twice."""
WALKED = 37
"""Rows of a walk: ten blocks of scores, of which a program has four."""


@pytest.fixture
def passes(monkeypatch):
    """The passes in blocks of 16 scores, the walk in blocks of 4, by at most 3 programs."""
    from halftruth.engines.tensors import _triton_pass as passes

    monkeypatch.setattr(passes, "BLOCK", 16)
    monkeypatch.setattr(passes, "MOST_PROGRAMS", 3)
    return passes


SHARES = {
    "labeled": ((1, 1, 1), (1, 0, 0)),
    "two samples": ((0, 1, 0), (0.3, 0.1, 0)),
    "signed": ((1, 1, 1), (2.5, -0.4, 0.1)),
    "one beside the population": ((0, 0, 1), (0.7, 0.2, 0.1), (0.7, 1)),
    "one of the population": ((1, 1, 1), (2.5, 0, 0), (1.5, 0)),
    "no population": ((0, 0, 0), (1, 0.5, 0)),
    "no positive": ((1, 1, 1), (0, 0, 0)),
}


def support(kind, n, held, times=1):
    """The support of rows, each of them so often."""
    from halftruth.engines.tensors import _tensor_rows
    from halftruth.engines.tensors._tensor_support import TensorSupport

    label = tensor(np.asarray([1.0, np.nan, 0.0])[strata(n, held).numpy()], "cpu")
    rows = _tensor_rows.read(scores(kind, n), label)
    one = TensorSupport.of_rows(rows)
    return TensorSupport(one.atom, one.below * times, {name: k * times for name, k in rows.n_rows.items()})


@pytest.mark.parametrize("held", [(0,), (0, 1), (0, 1, 2)], ids=len)
@pytest.mark.parametrize("kind", KINDS)
def test_walks(passes, kind, held):
    own = support(kind, WALKED, held)
    for shares in SHARES.values():
        assert_same_walk(passes, own, *shares)


def test_walks_past_32_bits(passes):
    own = support("spread", WALKED, (0, 0, 0, 0, 1, 2), times=MOST // WALKED)
    assert 2 * own.held["positive"] > MOST
    for shares in SHARES.values():
        assert_same_walk(passes, own, *shares)


def test_a_walk_over_many_scores_takes_whole_blocks(passes, monkeypatch):
    monkeypatch.setattr(passes, "FEW", WALKED - 2)
    monkeypatch.setattr(passes, "MOST_PROGRAMS", 1)  # which takes them one after another
    assert_same_walk(passes, support("spread", WALKED, (0, 1, 2)), *SHARES["signed"])


def assert_same_walk(passes, own, mass, pos, left_out=(0, 0)):
    from halftruth.engines.tensors import _tensor_pass

    mass, pos = ([float(x) for x in part[: len(own.held)]] for part in (mass, pos))
    neg = [1.25 - x for x in pos]
    found = passes.one_pass(own.atom, own.below, list(own.held.values()), mass, pos, left_out)
    expected = _tensor_pass.one_pass(own.atom, own.below, mass, pos, neg, left_out)
    near = {"rel": 1e-13, "abs": 1e-14 * sum(own.held.values()), "nan_ok": True}
    assert found.pr_area == pytest.approx(expected.pr_area, **near)
    assert found.pairs == pytest.approx(expected.pairs, rel=1e-15)
    needed = np.asarray(pos) != 0
    np.testing.assert_allclose(found.positive[needed], expected.positive[needed], rtol=1e-13)
    np.testing.assert_allclose(found.negative, expected.negative, rtol=1e-13)


@pytest.mark.parametrize("times", [1, MOST // 53])
@pytest.mark.parametrize("held", [(1,), (0, 2), (0, 1, 2)], ids=len)
def test_moments(passes, held, times):
    for kind, n, n_bins in (("spread", 53, 3), ("ties", 30, 7), ("alike", 5, 3), ("ends", 1, 1)):
        own = support(kind, n, held, times)
        for inside in ([True, True, True], [False, True, True], [True, False, False]):
            mass = dict(zip(own.held, map(float, inside), strict=False))
            rows = sum(own.held[name] for name, share in mass.items() if share)
            found = passes.moments(own.atom, own.below, inside[: len(mass)], rows, n_bins)
            for of, expected in zip(found, own.moments(mass, n_bins, "mass").values(), strict=True):
                np.testing.assert_array_equal(of[0], expected[0])
                np.testing.assert_allclose(of, expected, rtol=1e-13)


@pytest.mark.parametrize("times", [1, 1 << 20])
@pytest.mark.parametrize("grid", GRIDS.values(), ids=GRIDS)
def test_means(passes, monkeypatch, grid, times):
    from halftruth.engines.tensors import _dense_histogram, _device_strata

    monkeypatch.setattr(passes, "BLOCK", 64)  # there are more bins than that
    for kind in KINDS:
        score, stratum = scores(kind, 350), strata(350, (0, 2))
        sums = _dense_histogram.of_rows(grid, score, stratum, n_strata=3)
        sums |= {name: sums[name] * times for name in ("rows", "position") if name in sums}
        starts = _device_strata.starts_of(grid, score.device)
        expected = _device_strata.TensorHistogram(sums, grid, {})._means(starts)
        assert passes.means(sums, starts).tolist() == expected.tolist()


# --- All of them ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("dtype", "adds"), [("float32", "histogram"), ("float64", "add_rows")])
def test_tables_reach_the_kernels(kernel, passes, survey, monkeypatch, dtype, adds):
    """Tensors that say they are on a CUDA device go from the rows to the metrics through kernels."""
    score = scores("spread", 100, dtype)
    label = tensor(np.asarray([1.0, np.nan])[strata(100, (0, 1)).numpy()], "cpu")
    expected = measured(score, label)
    reached = watched(monkeypatch)
    as_devices(monkeypatch)
    monkeypatch.setattr(type(score), "is_cuda", True)
    assert measured(score, label) == pytest.approx(expected, rel=1e-12)
    assert reached == {"survey", adds, "one_pass", "moments", "means"}


def measured(score, label):
    """Metrics of the rows, and of their histogram."""
    table = ht.ScoreTable.from_torch(score, label)
    both = [
        ht.PositiveUnlabeled.from_table(x, prior=0.4, population="unlabeled")
        for x in (table, table.compress(SMALL))
    ]
    metrics = (ht.roc_auc, ht.average_precision, ht.log_loss, ht.calibration_error)
    return [metric(evidence) for evidence in both for metric in metrics]


def watched(monkeypatch):
    """The names of the functions that start kernels, each once it has been called."""
    from halftruth.engines.tensors import _triton_histogram, _triton_pass

    reached = set()

    def watch(module, name):
        call = getattr(module, name)

        def called(*args):
            reached.add(name)
            return call(*args)

        monkeypatch.setattr(module, name, called)

    for module, names in (
        (_triton_histogram, "histogram add_rows"),
        (_triton_pass, "survey one_pass moments means"),
    ):
        for name in names.split():
            watch(module, name)
    return reached
