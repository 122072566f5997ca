"""Tables of tensors: everything that a table of arrays does, with the same results."""

from __future__ import annotations

import json

import numpy as np
import pytest

import halftruth as ht
from halftruth._registry import REGISTRY
from halftruth.table._histogram import COMPILED
from halftruth.table._strata import StratumRows
from halftruth.table._support import SortedSupport

from .devices import device, tensor

__all__ = ["device"]

MODEL = ht.simulate.GaussianClasses(prior=0.3)


def rows_of(kind: str):
    """Scores and labels: 1, 0, and NaN for unlabeled."""
    strata = MODEL.draw_strata(80, 300, 4)
    p, u = strata.positive.score, strata.unlabeled.score
    p, u = {
        "smooth": (p, u),
        "tied": (p.round(1), u.round(1)),
        "ends": (np.where(p > 0.7, 1.0, p), np.where(u < 0.2, -0.0, u)),
        "apart": (np.append(p, 0.99999), u * 0.9),
        "alike": (np.full(5, 0.5), np.full(7, 0.5)),
        "margins": (4 * p - 1, 4 * u - 1),
    }[kind]
    negative = u[::3] * 0.8
    label = np.repeat([1.0, np.nan, 0.0], [len(p), len(u), len(negative)])
    order = np.random.default_rng(2).permutation(len(label))
    return np.concatenate([p, u, negative])[order], label[order]


def of(table, kind):
    """Evidence from a table, of those strata that the kind takes."""
    if kind == "labeled":
        return ht.Labeled.from_table(table)
    settings = {
        "unlabeled": {"prior": 0.3, "population": "unlabeled"},
        "all": {"prior": 0.45},
        "purity": {"prior": 0.25, "purity": 0.8, "population": "unlabeled"},
        "negatives": {},
        "unknown": {"population": "unlabeled"},
    }[kind]
    return ht.PositiveUnlabeled.from_table(table, **settings)


KINDS = ["labeled", "unlabeled", "all", "purity", "negatives", "unknown"]


def tables(scores, kind, device, dtype="float64"):
    """The same rows as arrays and as tensors."""
    score, label = rows_of(scores)
    if kind == "labeled":
        label = np.where(np.isnan(label), 0.0, label)
    elif kind != "negatives":
        score, label = score[label != 0], label[label != 0]
    score = score.astype(dtype)
    masks = {"positive": label == 1, "unlabeled": np.isnan(label), "negative": label == 0}
    exact = score.astype(np.float64) + 0.0
    arrays = ht.ScoreTable({k: StratumRows(score=exact[mask]) for k, mask in masks.items() if mask.any()})
    return arrays, ht.ScoreTable.from_torch(tensor(score, device), tensor(label, device))


def value(metric, evidence, threshold):
    try:
        return metric.bind(threshold, **metric.example)(evidence)
    except (ht.NotIdentifiable, ht.InputError) as error:
        return str(error)


@pytest.mark.filterwarnings("ignore::halftruth.EmptyClassWarning")
@pytest.mark.parametrize("scores", ["smooth", "tied", "ends", "apart", "alike", "margins"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_metric_is_the_same(kind, scores, device):
    arrays, tensors = tables(scores, kind, device)
    assert isinstance(tensors.support, SortedSupport)
    assert not isinstance(arrays.support, SortedSupport)
    a, b = of(arrays, kind), of(tensors, kind)
    for x, y in ((a, b), (a.naive_measure(), b.naive_measure())):
        for metric in REGISTRY.values():
            expected, got = (value(metric, e, 0.45) for e in (x, y))
            same = expected == got or got == pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True)
            assert same, metric.name


@pytest.mark.filterwarnings("ignore::halftruth.EmptyClassWarning")
@pytest.mark.parametrize("scores", ["smooth", "ends", "margins"])
@pytest.mark.parametrize("kind", KINDS)
def test_histograms_have_the_same_metrics_on_the_device(kind, scores, device):
    arrays, tensors = (table.compress() for table in tables(scores, kind, device))
    a, b = of(arrays, kind), of(tensors, kind)
    assert isinstance(tensors.support, SortedSupport)
    for metric in REGISTRY.values():
        expected, got = (value(metric, e, 0.45) for e in (a, b))
        same = expected == got or got == pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True)
        assert same, metric.name


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kind", ["labeled", "negatives", "unlabeled"])
def test_intervals_are_the_same(kind, dtype, device):
    both = (of(table, kind) for table in tables("smooth", kind, device, dtype))
    a, b = (ht.evaluate(e, threshold=0.5, n_resamples=200) for e in both)
    assert list(a) == list(b)
    assert a.notes == b.notes
    for name in a:
        assert a[name].notes == b[name].notes
        for number in ("value", "low", "high", "naive"):
            expected, got = getattr(a[name], number), getattr(b[name], number)
            assert got == pytest.approx(expected, rel=1e-12, abs=1e-12), (name, number)


@pytest.mark.parametrize("scores", ["smooth", "ends", "margins"])
@pytest.mark.parametrize("kind", ["labeled", "negatives", "unlabeled"])
def test_results_of_histograms_are_the_same_to_the_byte(kind, scores, device):
    both = (of(table.compress(), kind) for table in tables(scores, kind, device))
    a, b = (json.dumps(ht.evaluate(e, threshold=0.5, n_resamples=100).to_dict()) for e in both)
    assert a == b


@pytest.mark.parametrize("grid", [None, "probability", "margin"])
def test_histograms_hold_the_same_integers(grid, device):
    arrays, tensors = tables("ends", "negatives", device)
    a, b = arrays.compress(grid), tensors.compress(grid)
    assert a.grid == b.grid
    assert len(a) == len(b)
    assert repr(a) == repr(b)
    assert_same_bins(a, b)


def assert_same_bins(a, b):
    assert list(a.strata) == list(b.strata)
    for name, bins in a.strata.items():
        for column in ("index", "rows", "position", "low", "high", "weight", "square"):
            expected, got = getattr(bins, column), getattr(b.strata[name], column)
            if expected is None:
                assert got is None, column
            else:
                assert got.dtype == expected.dtype
                assert got.tobytes() == expected.tobytes(), column


def weighted(device, seed=5):
    score, label = rows_of("tied")
    rng = np.random.default_rng(seed)
    # Weights of one throughout a stratum are none, and rows of weight zero are no rows.
    weight = np.where(np.isnan(label), 1.0, rng.choice([0.0, 0.5, 2.0], len(score)))
    masks = {"positive": label == 1, "unlabeled": np.isnan(label), "negative": label == 0}
    held = {k: StratumRows(score=score[mask], weight=weight[mask]) for k, mask in masks.items()}
    s, y, w = (tensor(column, device) for column in (score, label, weight))
    return ht.ScoreTable(held), ht.ScoreTable.from_torch(s, y, weight=w)


def test_weights_are_taken(device):
    arrays, tensors = weighted(device)
    assert len(arrays) == len(tensors)
    assert repr(arrays) == repr(tensors)
    for name, rows in arrays.strata.items():
        own = tensors.strata[name]
        assert len(own) == len(rows)
        np.testing.assert_array_equal(own.score, rows.score)
        np.testing.assert_array_equal(own.full_weight(), rows.full_weight())
        assert (own.weight is None) == (rows.weight is None)
    a, b = (ht.PositiveUnlabeled.from_table(table, prior=0.4) for table in (arrays, tensors))
    assert ht.roc_auc(b) == ht.roc_auc(a)
    assert ht.calibration_error(b) == ht.calibration_error(a)
    assert tensors.effective_rows() == arrays.effective_rows()
    assert tensors.unit() == arrays.unit()
    assert_same_bins(arrays.compress(), tensors.compress())


def test_weights_of_one_are_none(device):
    score, label = rows_of("smooth")
    ones = tensor(np.ones(len(score)), device)
    table = ht.ScoreTable.from_torch(tensor(score, device), tensor(label, device), weight=ones)
    assert isinstance(table.support, SortedSupport)
    assert all(rows.weight is None for rows in table.strata.values())


@pytest.mark.parametrize("weight", [2.0**-12, 2.0**16])
def test_weights_that_integers_do_not_hold_are_refused(weight, device):
    table = ht.ScoreTable.from_torch(
        tensor([0.5, 0.6], device), tensor([1, 0], device), weight=tensor([1.0, weight], device)
    )
    with pytest.raises(ht.InputError, match="2\\^-10 to 2\\^15"):
        table.compress()


def test_heavy_bins_are_refused_as_on_the_host(device):
    heavy = tensor(np.full(70_000, 2.0**15), device)
    score, label = tensor(np.full(70_000, 0.5), device), tensor(np.ones(70_000), device)
    table = ht.ScoreTable.from_torch(score, label, weight=heavy)
    with pytest.raises(ht.InputError, match="add up to more than 2\\^30"):
        table.compress()


def test_a_probability_grid_refuses_margins(device):
    _, table = tables("margins", "negatives", device)
    assert table.compress().grid.kind == "margin"
    with pytest.raises(ht.InputError, match="probability grid takes scores in"):
        table.compress("probability")


def test_tables_merge_with_all_others(device):
    arrays, tensors = tables("smooth", "negatives", device)
    on_device = tensors.merge(tensors)
    assert isinstance(on_device.support, SortedSupport)
    assert_same_bins(on_device.compress(), arrays.merge(arrays).compress())
    for table in (
        tensors.merge(arrays),
        arrays.merge(tensors),
        tensors.compress().merge(arrays),
        arrays.compress().merge(tensors),
        tensors.merge(arrays.compress()),
    ):
        assert_same_bins(table.compress(), arrays.merge(arrays).compress())
    plain, heavy = tensors, weighted(device)[1]
    expected = arrays.merge(weighted(device)[0]).compress()
    assert_same_bins(plain.merge(heavy).compress(), expected)


def test_tables_are_saved(tmp_path, device):
    arrays, tensors = tables("ends", "negatives", device)
    for k, (a, b) in enumerate(
        ((arrays, tensors), (arrays.compress(), tensors.compress()), weighted(device))
    ):
        b.save(tmp_path / f"{k}.npz")
        back = ht.ScoreTable.load(tmp_path / f"{k}.npz")
        assert repr(back) == repr(a)
        for name, rows in a.strata.items():
            found = back.strata[name]
            if a.grid is None:
                assert sorted(found.score) == sorted(rows.score)
                assert sorted(found.full_weight()) == sorted(rows.full_weight())
        if a.grid is not None:
            assert_same_bins(a, back)


def test_groups(device):
    score, label = rows_of("tied")
    month = np.random.default_rng(4).choice([10, 9, -1], len(score))
    weight = np.random.default_rng(5).choice([0.0, 1.0, 2.0], len(score))
    for w in (None, weight):
        given = None if w is None else tensor(w, device)
        found = ht.ScoreTable.from_torch(
            tensor(score, device), tensor(label, device), weight=given, by=tensor(month, device)
        )
        assert list(found) == ["-1", "9", "10"]
        for name, table in found.items():
            own = month == int(name)
            one = ht.ScoreTable.from_torch(
                tensor(score[own], device),
                tensor(label[own], device),
                weight=None if w is None else tensor(w[own], device),
            )
            assert repr(table) == repr(one)
            assert_same_bins(table.compress(), one.compress())


def test_rows_stay_on_their_device_until_they_are_asked_for(device):
    _, table = tables("smooth", "unlabeled", device)
    evidence = ht.PositiveUnlabeled.from_table(table, prior=0.4)
    ht.roc_auc(evidence), ht.average_precision(evidence), ht.calibration_error(evidence)
    repr(table), repr(evidence), len(table), table.effective_rows(), table.unit()
    assert not any("score" in vars(rows) for rows in table.strata.values())
    assert "distinct" not in vars(table.support)
    assert table.strata["positive"].score.dtype == np.float64


def test_many_rows_are_evaluated_as_on_the_host(device):
    rng = np.random.default_rng(9)
    n = 600_000
    label = (rng.random(n) < 0.3).astype(np.float64)
    score = 1 / (1 + np.exp(1 - rng.normal(size=n) - label))
    a = ht.evaluate(ht.Labeled(label, score), n_resamples=0)
    table = ht.ScoreTable.from_torch(tensor(score, device), tensor(label, device))
    b = ht.evaluate(ht.Labeled.from_table(table), n_resamples=0)
    for name in a:
        for number in ("value", "low", "high", "naive"):
            assert getattr(b[name], number) == pytest.approx(getattr(a[name], number), rel=1e-11), name


def test_the_host_reads_tensors_of_the_processor_itself(require):
    torch = require("torch")
    from halftruth.engines.tensors._device_strata import TensorHistogram

    score, label = (torch.as_tensor(x) for x in rows_of("smooth"))
    table = ht.ScoreTable.from_torch(score, label)
    assert not isinstance(table.support, SortedSupport)
    assert not isinstance(table.compress().strata, TensorHistogram)


def test_tensors_that_are_negated_when_read(require):
    torch = require("torch")
    score = torch.linspace(0.1, 0.9, 50, dtype=torch.float64)
    negated = torch.complex(torch.zeros_like(score), -score).conj().imag
    assert negated.is_neg()
    label = torch.ones(50)
    table = ht.ScoreTable.from_torch(negated, label, weight=negated)
    plain = ht.ScoreTable.from_torch(score, label, weight=score)
    np.testing.assert_array_equal(table.strata["positive"].score, score.numpy())
    np.testing.assert_array_equal(table.strata["positive"].weight, score.numpy())
    assert_same_bins(table.compress(), plain.compress())


def test_one_tensor_for_each_stratum(device):
    from halftruth.engines import tensors

    score, label = rows_of("tied")
    parts = {"positive": score[label == 1], "unlabeled": score[np.isnan(label)]}
    strata = tensors.from_strata(**{name: tensor(part, device) for name, part in parts.items()})
    arrays = ht.PositiveUnlabeled(*parts.values(), prior=0.3).table
    assert_same_bins(ht.ScoreTable(strata).compress(), arrays.compress())
    parts["positive"] = np.append(parts["positive"], np.nan)
    with pytest.raises(ht.InputError, match="`positive` must be finite, got 1 NaN"):
        tensors.from_strata(**{name: tensor(part, device) for name, part in parts.items()})


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_evidence_takes_many_rows_where_they_are(dtype, device):
    rng = np.random.default_rng(9)
    label = rng.random(COMPILED) < 0.3
    score = rng.random(COMPILED).astype(dtype)
    s, y = tensor(score, device), tensor(label, device)
    for make, given in (
        (ht.Labeled, ((label, score), (y, s))),
        (
            lambda p, u: ht.PositiveUnlabeled(p, u, prior=0.4),
            ((score[:999], score[999:]), (s[:999], s[999:])),
        ),
        (
            lambda y, s: ht.PositiveUnlabeled.from_labels(y, s, prior=0.5, unlabeled=0),
            ((label, score), (y, s)),
        ),
    ):
        a, b = (make(*columns) for columns in given)
        assert type(b.table.strata) is not type(a.table.strata) or device.type == "cpu"
        for metric in (ht.roc_auc, ht.average_precision, ht.brier, ht.log_loss, ht.calibration_error):
            assert metric(b) == pytest.approx(metric(a), rel=1e-12, abs=1e-12)
