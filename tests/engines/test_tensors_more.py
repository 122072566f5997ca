"""Tables of tensors: what their weights, caches, files and label codes must not lose."""

from __future__ import annotations

import json

import numpy as np
import pytest

import halftruth as ht
from halftruth import _checks
from halftruth.table._grid import Grid
from halftruth.table._histogram import Bins
from halftruth.table._strata import StratumRows

from .devices import device, tensor

__all__ = ["device"]


def table(device, score, label, weight=None):
    given = None if weight is None else tensor(weight, device)
    columns = (tensor(x, device, "float64") for x in (score, label))
    return ht.ScoreTable.from_torch(*columns, weight=given)


def rows_of(n=400, seed=0):
    rng = np.random.default_rng(seed)
    label = np.where(rng.random(n) < 0.3, 1.0, np.nan)
    return rng.beta(np.where(label == 1, 2, 1), 2), label


def arrays_of(score, label):
    return ht.PositiveUnlabeled.from_labels(label, score, prior=0.4).table


def assert_same(a, b):
    """Two tables on the host, the rows of each stratum in any order."""
    assert repr(a) == repr(b)
    for name, rows in a.strata.items():
        own = b.strata[name]
        if a.grid is None:
            assert sorted(own.score) == sorted(rows.score)
            assert sorted(own.full_weight()) == sorted(rows.full_weight())
        else:
            assert own.sums == rows.sums
            for column in ("index", "low", "high", *rows.sums):
                assert getattr(own, column).tobytes() == getattr(rows, column).tobytes(), column


# --- Sums -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_a_soft_label_of_one_half_is_hard_as_on_the_host(weighted, device):
    from halftruth.engines.tensors import _dense_histogram

    grid = Grid("probability", n_bins=16)
    score = np.asarray([0.1, 0.4, 0.4, 0.9])
    q = np.asarray([0.5, 0.5, np.nextafter(0.5, 0), 1.0])
    weight = np.asarray([0.5, 2.0, 3.0, 1.0]) if weighted else None
    sums = _dense_histogram.empty(grid, n_strata=1, weighted=weighted, soft=True, device=device)
    s, y, w = (None if x is None else tensor(x, device) for x in (score, q, weight))
    _dense_histogram.add_rows(sums, grid, s, tensor(np.zeros(4, dtype=np.int64), device), w, y)
    found = _dense_histogram.bins_of(sums, grid, ["soft"])["soft"]
    expected = Bins.of(grid, score, weight, value=q)
    assert found.sums == expected.sums
    for column in ("index", "low", "high", *expected.sums):
        assert getattr(found, column).tobytes() == getattr(expected, column).tobytes(), column


@pytest.mark.parametrize("weight", [2.0**-12, 2.0**16])
def test_merged_weights_that_integers_do_not_hold_are_refused(weight, device):
    plain = table(device, [0.5, 0.6], [1, 0])
    heavy = table(device, [0.5, 0.6], [1, 0], [1.0, weight])
    for merged in (plain.merge(heavy), heavy.merge(plain)):
        with pytest.raises(ht.InputError, match="2\\^-10 to 2\\^15"):
            merged.compress()


def test_merged_weights_that_add_up_to_too_much_are_refused(device):
    n = 40_000
    half = table(device, np.full(n, 0.5), np.ones(n), np.full(n, 2.0**15))
    with pytest.raises(ht.InputError, match="add up to more than 2\\^30"):
        half.merge(half).compress()


# --- Evidence -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_a_metric_read_before_changes_no_evaluation(seed, device):
    score, label = rows_of(seed=seed)
    results = []
    for made in (arrays_of(score, label), table(device, score, label)):
        evidence = ht.PositiveUnlabeled.from_table(made.compress(), prior=0.4)
        ht.roc_auc(evidence), ht.log_loss(evidence), ht.calibration_error(evidence)
        results.append(json.dumps(ht.evaluate(evidence, threshold=0.5, n_resamples=50).to_dict()))
    assert results[0] == results[1]


def test_scores_of_a_margin_grid_may_be_probabilities(device):
    score, label = rows_of()
    made = (arrays_of(score, label), table(device, score, label))
    a, b = (ht.PositiveUnlabeled.from_table(x.compress("margin"), prior=0.4) for x in made)
    assert ht.brier(b) == pytest.approx(ht.brier(a), rel=1e-12)
    assert ht.log_loss(b) == pytest.approx(ht.log_loss(a), rel=1e-12)


@pytest.mark.parametrize("shift", [-0.5, 0.5])
def test_scores_of_a_margin_grid_may_be_none(shift, device):
    score, label = rows_of()
    made = table(device, score + shift, label).compress()
    with pytest.raises(ht.InputError, match="\\[0, 1\\]"):
        ht.brier(ht.PositiveUnlabeled.from_table(made, prior=0.4))


# --- Files ----------------------------------------------------------------------------------------

PARTS = (([0.9, 0.8], [1.0, 1.0]), ([0.1], [np.nan]))


def host(score, label):
    """The same rows as arrays; each part has one stratum."""
    name = "positive" if label[0] == 1 else "unlabeled"
    return ht.ScoreTable({name: StratumRows(score=np.asarray(score))})


@pytest.mark.parametrize("grid", [None, "probability", "margin"])
@pytest.mark.parametrize("on", ["device device", "device host", "host device"])
def test_merged_tables_are_saved_whole(on, grid, tmp_path, device):
    places = {"device": lambda *part: table(device, *part), "host": host}
    first, second = (places[place](*part) for place, part in zip(on.split(), PARTS, strict=True))
    expected = host(*PARTS[0]).merge(host(*PARTS[1]))
    if grid is not None:
        first, second, expected = (x.compress(grid) for x in (first, second, expected))
    merged = first.merge(second)
    merged.save(tmp_path / "merged.npz")
    assert_same(expected, ht.ScoreTable.load(tmp_path / "merged.npz"))
    assert_same(expected, merged)


@pytest.mark.parametrize("grid", [None, "probability", "margin"])
def test_a_table_merged_with_none_is_saved(grid, tmp_path, device):
    score, label = rows_of()
    expected, made = arrays_of(score, label), table(device, score, label)
    if grid is not None:
        expected, made = expected.compress(grid), made.compress(grid)
    made.merge().save(tmp_path / "one.npz")
    assert_same(expected, ht.ScoreTable.load(tmp_path / "one.npz"))


@pytest.mark.parametrize("joins", ["rows", "histogram"])
def test_rows_that_join_a_histogram_are_saved(joins, tmp_path, device):
    first, second = (table(device, *part) for part in PARTS)
    merged = first.compress().merge(second) if joins == "rows" else first.merge(second.compress())
    merged.save(tmp_path / "merged.npz")
    expected = host(*PARTS[0]).merge(host(*PARTS[1])).compress()
    assert_same(expected, ht.ScoreTable.load(tmp_path / "merged.npz"))


# --- Tensors that change --------------------------------------------------------------------------

USES = {
    "a metric": lambda x, _: ht.roc_auc(ht.PositiveUnlabeled.from_table(x, prior=0.4)),
    "an evaluation": lambda x, _: ht.evaluate(ht.PositiveUnlabeled.from_table(x, prior=0.4), n_resamples=20),
    "a histogram": lambda x, _: x.compress(),
    "a file": lambda x, path: x.save(path),
    "a merge": lambda x, _: x.merge(x).compress(),
    "its scores": lambda x, _: x.strata["positive"].score,
}


@pytest.mark.parametrize("use", USES)
def test_a_table_of_scores_changed_since_is_refused(use, tmp_path, device):
    score, label = rows_of()
    buffer = tensor(score, device)
    made = ht.ScoreTable.from_torch(buffer, tensor(label, device))
    buffer.uniform_()
    with pytest.raises(ht.InputError, match="written to after it was made"):
        USES[use](made, tmp_path / "table.npz")


def test_a_table_of_weights_changed_since_is_refused(device):
    score, label = rows_of()
    weight = tensor(np.full(len(score), 2.0), device)
    made = ht.ScoreTable.from_torch(tensor(score, device), tensor(label, device), weight=weight)
    weight.mul_(2)
    with pytest.raises(ht.InputError, match="written to after it was made"):
        made.compress()


def test_a_histogram_keeps_what_the_scores_were(device):
    score, label = rows_of()
    buffer = tensor(score.copy(), device)
    made = ht.ScoreTable.from_torch(buffer, tensor(label, device)).compress()
    buffer.uniform_()
    assert_same(arrays_of(score, label).compress(), made)


# --- Codes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("label", "dtype", "code"),
    [
        ([1, -0.1], "float32", -0.1),
        ([1, 2049], "float16", 2048.5),
        ([1, 16777217], "int64", 16777216),
        ([1, 16777217], "int32", 16777216),
    ],
)
def test_a_code_that_is_not_the_label_is_refused_as_by_arrays(label, dtype, code, device):
    labels = tensor(label, device, dtype)
    with pytest.raises(ht.InputError, match="The code is 1 positive") as expected:
        _checks.partial_labels(labels.cpu().double().numpy(), "label", unlabeled=code, length=2)
    with pytest.raises(ht.InputError, match="label") as found:
        ht.ScoreTable.from_torch(tensor([0.9, 0.1], device), labels, unlabeled=code)
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize(
    ("label", "dtype", "code"), [([1, -0.5], "float32", -0.5), ([1, 16777217], "int64", 16777217)]
)
def test_a_code_that_is_the_label_is_taken(label, dtype, code, device):
    score = tensor([0.9, 0.1], device)
    made = ht.ScoreTable.from_torch(score, tensor(label, device, dtype), unlabeled=code)
    assert repr(made) == "ScoreTable(positive=1, unlabeled=1)"
