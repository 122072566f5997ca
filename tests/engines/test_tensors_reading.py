"""Tensors are checked as arrays are, with the same words."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import halftruth as ht
from halftruth import _checks
from halftruth.table._histogram import COMPILED

from .devices import device, tensor

__all__ = ["device"]

SCORE, LABEL = [0.9, 0.5, 0.1, 0.4], [1.0, np.nan, 0.0, 1.0]


def read(device, score=SCORE, label=LABEL, **given):
    given = {name: x if name == "unlabeled" else tensor(x, device) for name, x in given.items()}
    return ht.ScoreTable.from_torch(tensor(score, device), tensor(label, device), **given)


def said(check, *given, **named):
    """What the host's check says of the same numbers."""
    with pytest.raises(ht.InputError) as found:
        check(*given, **named)
    return str(found.value)


@pytest.mark.parametrize("score", [[0.9, np.nan, 0.1, np.inf], [-np.inf, 0.5, 0.1, 0.4], [], [[0.1, 0.9]]])
def test_scores_are_refused_in_the_words_of_the_host(score, device):
    with pytest.raises(ht.InputError) as found:
        read(device, score=np.asarray(score, dtype=np.float64), label=LABEL)
    assert str(found.value) == said(_checks.scores, score, "score")


@pytest.mark.parametrize("label", [[1, 2, 0, 3], [1.0, np.inf, 0.0, 1.0], [1, 0, 1], [0.5, 1, 0, 0]])
def test_labels_are_refused_in_the_words_of_the_host(label, device):
    with pytest.raises(ht.InputError) as found:
        read(device, label=label)
    assert str(found.value) == said(_checks.partial_labels, label, "label", unlabeled=None, length=4)


@pytest.mark.parametrize(
    "weight", [[1, -1, 1, -2], [0, 0, 0, 0], [1, np.nan, 1, 1], [1, 1, np.inf, 1], [1, 1]]
)
def test_weights_are_refused_in_the_words_of_the_host(weight, device):
    weight = np.asarray(weight, dtype=np.float64)
    with pytest.raises(ht.InputError) as found:
        read(device, weight=weight)
    assert str(found.value) == said(_checks.weights, weight, "weight", length=4)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int32", "int64", "uint8"])
def test_scores_of_every_width_are_taken(dtype, device):
    score = tensor([3, 0, 2, 2], device, dtype)
    table = ht.ScoreTable.from_torch(score, tensor(LABEL, device))
    assert sorted(table.strata["positive"].score) == [2.0, 3.0]
    assert table.support.score.tolist() == [0.0, 2.0, 3.0]


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float16", "float64"])
def test_labels_of_every_kind_are_taken(dtype, device):
    table = ht.ScoreTable.from_torch(tensor(SCORE, device), tensor([1, 0, 0, 1], device, dtype))
    assert {name: len(rows) for name, rows in table.strata.items()} == {"positive": 2, "negative": 2}
    coded = ht.ScoreTable.from_torch(tensor(SCORE, device), tensor([1, 0, 0, 1], device, dtype), unlabeled=0)
    assert {name: len(rows) for name, rows in coded.strata.items()} == {"positive": 2, "unlabeled": 2}


def test_another_code_for_unlabeled_rows(device):
    table = read(device, label=[1, -1, 0, -1], unlabeled=-1)
    assert repr(table) == "ScoreTable(positive=1, unlabeled=2, negative=1)"
    with pytest.raises(ht.InputError, match="must not be 1"):
        read(device, unlabeled=1)


def test_rows_without_labels_are_unlabeled(device):
    from halftruth.engines import tensors

    assert repr(ht.ScoreTable(tensors.read(tensor(SCORE, device)))) == "ScoreTable(unlabeled=4)"


def test_minus_zero_is_zero(device):
    table = read(device, score=[-0.0, 0.0, 0.0, -0.0])
    assert not np.signbit(table.support.score).any()
    assert not any(np.signbit(rows.score).any() for rows in table.strata.values())
    assert not any(np.signbit(bins.low).any() for bins in table.compress().strata.values())


def test_tensors_with_gradients_are_read(device):
    score = tensor(SCORE, device, "float32").requires_grad_()
    table = ht.ScoreTable.from_torch(score, tensor(LABEL, device))
    assert ht.roc_auc(ht.PositiveUnlabeled.from_table(table, prior=0.6)) > 0


def test_groups_are_whole_numbers(device):
    with pytest.raises(ht.InputError, match="`by` must hold whole numbers"):
        read(device, by=[0.5, 1.0, 2.0, 2.0])
    n = np.arange(1001)
    with pytest.raises(ht.InputError, match="at most 1,000"):
        read(device, score=n / 1001, label=n % 2, by=n)


def test_arrays_are_no_tensors(device):
    with pytest.raises(ht.InputError, match="`label` must be a PyTorch tensor, got list"):
        ht.ScoreTable.from_torch(tensor(SCORE, device), [1, 0, 1, 0])


def test_columns_are_on_one_device(require):
    torch = require("torch")
    with pytest.raises(ht.InputError, match="must be on the device of the scores, cpu, got meta"):
        ht.ScoreTable.from_torch(torch.tensor(SCORE), torch.empty(4, device="meta"))


def test_too_many_rows_to_count_their_pairs(require):
    torch = require("torch")
    with pytest.raises(ht.InputError, match="less than 2\\^31 rows"):
        ht.ScoreTable.from_torch(torch.zeros(1).expand(1 << 31), torch.zeros(1).expand(1 << 31))


def test_only_tensors_beside_one_another_off_the_processor_stay_there(require):
    torch = require("torch")
    from halftruth.engines.tensors import on_device

    here, there = torch.zeros(COMPILED), torch.zeros(COMPILED, device="meta")
    assert not on_device(here)
    assert not on_device(here, there)
    assert not on_device(there)  # a tensor without numbers
    assert not on_device(np.zeros(2), [1, 2])
    if torch.cuda.is_available():
        assert on_device(here.cuda(), here.cuda(), None)
        assert not on_device(here[:9].cuda())  # a few rows are faster on the host
        assert not on_device(here.cuda(), here)


def test_asking_where_values_are_does_not_import_pytorch():
    program = (
        "import sys\n"
        "from halftruth.engines.tensors import on_device\n"
        "on_device([1.0])\n"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
