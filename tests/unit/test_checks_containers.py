"""Containers: the same numbers in any container give the same measure, and stay as they were."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import halftruth as ht

Require = Callable[[str], ModuleType]
Wrap = Callable[[Any], Any]

NAN = float("nan")
# Eighths are exact in every floating format, bfloat16 included.
SCORE = [1.0, 0.875, 0.5, 0.5, 0.25, 0.0]
WEIGHT = [1, 2, 3, 1, 1, 2]
CLASS = [1, 0, 1, 1, 0, 0]
SOFT = [1.0, 0.125, 0.5, 0.75, 0.25, 0.0]
SHARE = [1.0, 0.5, 0.5, 0.25, 0.125, 0.75]
KNOWN = [1, None, 1, 0, None, None]

BUILD: dict[str, Callable[[Wrap], Any]] = {
    "labeled": lambda w: ht.Labeled(w(CLASS), w(SCORE), sample_weight=w(WEIGHT)),
    "soft": lambda w: ht.SoftLabeled(w(SOFT), w(SCORE), sample_weight=w(WEIGHT)),
    "soft alone": lambda w: ht.SoftLabeled(w(SOFT)),
    "votes": lambda w: ht.SoftLabeled.from_votes(w(CLASS), w(WEIGHT), w(SCORE)),
    "confidence": lambda w: ht.PositiveConfidence(w(SHARE), w(SCORE), sample_weight=w(WEIGHT)),
    "confidence alone": lambda w: ht.PositiveConfidence(w(SHARE), prior=0.5),
    "two samples": lambda w: ht.PositiveUnlabeled(
        w(SCORE), w(SOFT), prior=0.3, positive_weight=w(WEIGHT), unlabeled_weight=w(WEIGHT[::-1])
    ),
    "propensity": lambda w: ht.PositiveUnlabeled(w(SCORE), w(SOFT), prior=0.3, propensity=w(SHARE)),
    "negatives": lambda w: ht.PositiveUnlabeled(
        w(SCORE), w(SOFT), purity=0.9, negative=w(SHARE), negative_weight=w(WEIGHT), population="all"
    ),
    "one table": lambda w: ht.PositiveUnlabeled.from_labels(
        w(CLASS), w(SCORE), unlabeled=0, propensity=w(SHARE), sample_weight=w(WEIGHT)
    ),
}


def assert_same(got: Any, expected: Any) -> None:
    """The measures are equal to the bit."""
    one, other = got.measure(), expected.measure()
    for column in ("score", "mass", "pos_mass"):
        np.testing.assert_array_equal(getattr(one, column), getattr(other, column), strict=True)
    assert one.alpha == other.alpha


def apart(values: Any) -> np.ndarray:
    """A view of every second element."""
    wide = np.full(2 * len(values), 99.0)
    wide[::2] = values
    return wide[::2]


def frozen(values: Any) -> np.ndarray:
    out = np.array(values)
    out.flags.writeable = False
    return out


def odd_index(values: Any) -> pd.Series:
    """Positions count, labels do not."""
    return pd.Series(values, index=[7, 7, 0, 3, 2, 1], name="x")


WRAPS: dict[str, Wrap] = {
    "list": list,
    "tuple": tuple,
    "list of scalars": lambda v: [np.float32(x) for x in v],
    "float64": lambda v: np.array(v, dtype=np.float64),
    "float32": lambda v: np.array(v, dtype=np.float32),
    "float16": lambda v: np.array(v, dtype=np.float16),
    "long double": lambda v: np.array(v, dtype=np.longdouble),
    "big endian": lambda v: np.array(v, dtype=">f8"),
    "not contiguous": apart,
    "backward": lambda v: np.array(v[::-1], dtype=float)[::-1],
    "read-only": frozen,
    "Fortran column": lambda v: np.asfortranarray(np.column_stack([v, v]).astype(float))[:, 0],
    "pandas": lambda v: pd.Series(v, dtype="float64"),
    "pandas float32": lambda v: pd.Series(v, dtype="float32"),
    "pandas Float64": lambda v: pd.Series(v, dtype="Float64"),
    "pandas odd index": odd_index,
    "pandas column": lambda v: pd.DataFrame({"a": v, "b": 0})["a"],
    "pandas frame": lambda v: pd.DataFrame({"a": v}),
    "polars": pl.Series,
    "polars float32": lambda v: pl.Series(v, dtype=pl.Float32),
    "polars chunks": lambda v: pl.concat([pl.Series(v[:2]), pl.Series(v[2:])], rechunk=False),
    "polars frame": lambda v: pl.DataFrame({"a": v}),
}


@pytest.mark.parametrize("kind", BUILD)
@pytest.mark.parametrize("wrap", WRAPS.values(), ids=WRAPS)
def test_the_same_numbers_give_the_same_measure(kind: str, wrap: Wrap) -> None:
    assert_same(BUILD[kind](wrap), BUILD[kind](lambda values: np.array(values, dtype=np.float64)))


@pytest.mark.parametrize("kind", BUILD)
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("grad", [False, True])
def test_torch_tensors(kind: str, dtype: str, grad: bool, require: Require) -> None:
    torch = require("torch")

    def tensor(values: Any) -> Any:
        return torch.tensor(values, dtype=getattr(torch, dtype), requires_grad=grad)

    assert_same(BUILD[kind](tensor), BUILD[kind](np.array))


def test_torch_views_integers_and_booleans(require: Require) -> None:
    torch = require("torch")
    expected = ht.Labeled(CLASS, SCORE)
    table = torch.tensor([CLASS, SCORE], dtype=torch.float64).T  # columns are strided views
    assert_same(ht.Labeled(table[:, 0], table[:, 1]), expected)
    for dtype in (torch.int64, torch.uint8, torch.bool):
        assert_same(ht.Labeled(torch.tensor(CLASS, dtype=dtype), SCORE), expected)


def test_complex_tensors_are_refused(require: Require) -> None:
    torch = require("torch")
    with pytest.raises(ht.InputError, match=r"`y_score` must be numeric, got .*complex"):
        ht.Labeled([1, 0], torch.tensor([1j, 2.0]))


def test_integers_and_booleans() -> None:
    expected = ht.Labeled(CLASS, [3, 2, 1, 1, 1, 0])
    for dtype in (bool, np.int8, np.uint64):
        assert_same(ht.Labeled(np.array(CLASS, dtype=dtype), np.array([3, 2, 1, 1, 1, 0])), expected)
    for dtype in ("bool", "int8", "boolean", "Int64", "category"):
        assert_same(ht.Labeled(pd.Series(CLASS).astype(dtype), pd.Series([3, 2, 1, 1, 1, 0])), expected)
    for polars_dtype in (pl.Int8, pl.UInt32, pl.Boolean):
        labels = pl.Series(CLASS).cast(polars_dtype)
        assert_same(ht.Labeled(labels, pl.Series([3, 2, 1, 1, 1, 0])), expected)
    flags = np.array(CLASS, dtype=bool)
    known = ht.PositiveUnlabeled.from_labels(flags, SCORE, unlabeled=0, prior=0.75)
    assert_same(known, ht.PositiveUnlabeled.from_labels(CLASS, SCORE, unlabeled=0, prior=0.75))


# --- missing labels -------------------------------------------------------------------------------

MISSING: dict[str, Any] = {
    "None": KNOWN,
    "tuple": tuple(KNOWN),
    "NaN": [NAN if label is None else label for label in KNOWN],
    "pd.NA": [pd.NA if label is None else label for label in KNOWN],
    "all three": [1, None, True, 0, NAN, pd.NA],
    "float array": np.array([1, NAN, 1, 0, NAN, NAN]),
    "object array": np.array(KNOWN, dtype=object),
    "pandas": pd.Series([1, NAN, 1, 0, NAN, NAN]),
    "pandas Float64": pd.Series(KNOWN, dtype="Float64"),
    "pandas Int64": pd.Series(KNOWN, dtype="Int64"),
    "pandas boolean": pd.Series(KNOWN, dtype="boolean"),
    "pandas object": pd.Series(KNOWN, dtype=object),
    "pandas object NA": pd.Series([1, pd.NA, 1, 0, NAN, None], dtype=object),
    "pandas index": pd.Series(KNOWN, dtype="Int64", index=[5, 4, 3, 2, 1, 0]),
    "pandas frame": pd.DataFrame({"y": pd.Series(KNOWN, dtype="Int64")}),
    "polars": pl.Series(KNOWN),
    "polars float": pl.Series([1, NAN, 1, 0, None, NAN], dtype=pl.Float64, strict=False),
    "polars boolean": pl.Series([None if k is None else bool(k) for k in KNOWN]),
}


@pytest.mark.parametrize("labels", MISSING.values(), ids=MISSING)
def test_missing_labels_are_unlabeled_rows(labels: Any) -> None:
    evidence = ht.PositiveUnlabeled.from_labels(labels, SCORE, prior=0.5, sample_weight=WEIGHT)
    strata = evidence.table.strata
    assert {name: rows.score.tolist() for name, rows in strata.items()} == {
        "positive": [1.0, 0.5],
        "unlabeled": [0.875, 0.25, 0.0],
        "negative": [0.5],
    }
    assert strata["unlabeled"].weight is not None
    assert strata["unlabeled"].weight.tolist() == [2, 1, 2]


def test_missing_labels_of_a_tensor(require: Require) -> None:
    labels = require("torch").tensor([1, NAN, 1, 0, NAN, NAN])
    got = ht.PositiveUnlabeled.from_labels(labels, SCORE, prior=0.5)
    assert_same(got, ht.PositiveUnlabeled.from_labels(KNOWN, SCORE, prior=0.5))


HOLES: dict[str, Any] = {
    "pandas": pd.Series([1.0, 0.5, NAN]),
    "pandas Float64": pd.Series([1.0, 0.5, pd.NA], dtype="Float64"),
    "polars": pl.Series([1.0, 0.5, None]),
    "masked array": np.ma.array([1.0, 0.5, 0.5], mask=[False, False, True]),
}


@pytest.mark.parametrize("column", HOLES.values(), ids=HOLES)
def test_missing_scores_and_weights_are_refused(column: Any) -> None:
    with pytest.raises(ht.InputError, match=r"`y_score` must be finite, got 1 .*index 2"):
        ht.Labeled([1, 0, 1], column)
    with pytest.raises(ht.InputError, match=r"`sample_weight` must be finite, got 1 .*index 2"):
        ht.Labeled([1, 0, 1], [1, 2, 3], sample_weight=column)


def test_two_columns_of_soft_labels() -> None:
    both = np.column_stack([1 - np.array(SOFT), SOFT])
    expected = ht.SoftLabeled(SOFT, SCORE)
    assert_same(ht.SoftLabeled(both, SCORE), expected)
    assert_same(ht.SoftLabeled(both.tolist(), SCORE), expected)
    assert_same(ht.SoftLabeled(pd.DataFrame(both, columns=["no", "yes"]), SCORE), expected)
    assert_same(ht.SoftLabeled(pl.DataFrame(both, schema=["no", "yes"]), SCORE), expected)


@pytest.mark.parametrize("grad", [False, True])
def test_two_columns_of_soft_labels_in_a_tensor(grad: bool, require: Require) -> None:
    both = np.column_stack([1 - np.array(SOFT), SOFT])
    tensor = require("torch").tensor(both, requires_grad=grad)
    assert_same(ht.SoftLabeled(tensor, SCORE), ht.SoftLabeled(SOFT, SCORE))


def test_wide_frames_are_refused() -> None:
    wide = {"a": SCORE, "b": SCORE}
    for frame in (pd.DataFrame(wide), pl.DataFrame(wide)):
        with pytest.raises(ht.InputError, match=r"`y_score` must be one-dimensional, got shape \(6, 2\)"):
            ht.Labeled(CLASS, frame)


# --- inputs stay as they were ---------------------------------------------------------------------


@pytest.mark.parametrize("kind", BUILD)
def test_inputs_are_never_modified(kind: str) -> None:
    given: list[np.ndarray] = []

    def keep(values: Any) -> np.ndarray:
        # −0.0 is read as 0.0, but not in the caller's array.
        given.append(np.where(np.array(values) == 0, -0.0, np.array(values, dtype=np.float64)))
        return given[-1]

    evidence = BUILD[kind](keep)
    before = [column.copy() for column in given]
    ht.evaluate(evidence, threshold=0.5, n_resamples=5)
    for column, copy in zip(given, before, strict=True):
        assert column.flags.writeable
        assert column.tobytes() == copy.tobytes()


@pytest.mark.parametrize("kind", BUILD)
def test_evidence_does_not_change_with_its_inputs(kind: str) -> None:
    given: list[np.ndarray] = []

    def keep(values: Any) -> np.ndarray:
        given.append(np.array(values, dtype=np.float64))
        return given[-1]

    evidence = BUILD[kind](keep)
    for column in given:
        column[:] = 0.625
    assert_same(evidence, BUILD[kind](list))


def test_tensors_are_not_shared(require: Require) -> None:
    score = require("torch").tensor(SCORE, dtype=require("torch").float64)
    evidence = ht.Labeled(CLASS, score)
    score.zero_()
    assert_same(evidence, ht.Labeled(CLASS, SCORE))


# --- sums never in float32 ------------------------------------------------------------------------

BIG = 2.0**24  # float32 cannot tell it from BIG + 1
HEAVY = [BIG, 1, 1, 1]


def single(values: Any) -> np.ndarray:
    return np.array(values, dtype=np.float32)


def test_float32_weights_are_summed_in_float64() -> None:
    labeled = ht.Labeled([1, 0, 0, 0], single([1, 0.5, 0.5, 0.5]), sample_weight=single(HEAVY))
    assert ht.prevalence(labeled) == BIG / (BIG + 3)
    assert ht.brier(labeled) == 0.75 / (BIG + 3)
    assert ht.confusion(labeled, 0.5).fp == 3
    soft = ht.SoftLabeled(single([1, 0.5, 0.5, 0.5]), sample_weight=single(HEAVY))
    assert ht.prevalence(soft) == (BIG + 1.5) / (BIG + 3)
    confidence = ht.PositiveConfidence(single([1, 0.5, 0.5, 0.5]), sample_weight=single(HEAVY))
    assert confidence.measure().total == BIG + 6
    pu = ht.PositiveUnlabeled(
        single([0.5]), single([0, 0.5, 0.5, 1]), prior=0.5, unlabeled_weight=single(HEAVY)
    )
    assert pu.measure().total == BIG + 3
    assert ht.confusion(pu, 0.25).predicted == 3


def test_float32_tensors_are_summed_in_float64(require: Require) -> None:
    weight = require("torch").tensor(HEAVY, dtype=require("torch").float32)
    assert ht.prevalence(ht.Labeled([1, 0, 0, 0], [1, 0, 0, 0], sample_weight=weight)) == BIG / (BIG + 3)


def test_float32_scores_are_read_as_they_are() -> None:
    rng = np.random.default_rng(0)
    score, label = single(rng.random(300)), rng.random(300) < 0.5
    assert_same(ht.Labeled(label, score), ht.Labeled(label, score.astype(np.float64)))
    wide = score.astype(np.float64)
    assert ht.brier(ht.Labeled(label, score)) == pytest.approx(np.mean((wide - label) ** 2), abs=1e-15)
