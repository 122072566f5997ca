"""The table by plain loops against sums by hand, and the data set against what it says it holds."""

from __future__ import annotations

import math

import pytest

from .data import made
from .hard import bin_ends
from .reference import Sums, differences, place, tables

ROWS = [
    (0.25, 1, 0.5, "a"),
    (0.25, 1, 2.0, "a"),
    (-0.0, 0, 1.0, "a"),
    (1.0, None, 1.0, None),
    (0.5, math.nan, 0.0, "b"),
]


def test_sums_by_hand():
    one, quarter = 1 << 32, 1 << 30
    uneven = Sums(
        rows=2, position=5 * quarter // 2, weight=5 * one // 2, square=17 * quarter, low=0.25, high=0.25
    )
    zero = Sums(rows=1, position=0, weight=None, square=None, low=0.0, high=0.0)
    last = Sums(rows=1, position=one, weight=None, square=None, low=1.0, high=1.0)
    expected = {
        "a": {"positive": {place(0.25, "probability"): uneven}, "negative": {0: zero}},
        "missing": {"unlabeled": {65_537: last}},
    }
    found = tables(ROWS, "probability")
    assert differences(expected, found) == []
    assert str(found) == str(expected)  # 0.0, not −0.0
    assert tables(ROWS, "probability", unlabeled=0)["a"].keys() == {"positive", "unlabeled"}


@pytest.mark.parametrize(
    ("kind", "score", "index"),
    [
        ("probability", 1e-9, 2458),
        ("probability", 0.5, 32_769),
        ("probability", 1 - 2.0**-53, 65_205),  # 1 + ⌊(2 − 2^(−53/8)) · 2^15⌋
        ("margin", 0.0, 32_768),
        ("margin", 255.0, 49_152),  # 256^⅛ = 2: half of the way from the middle to the end
        ("margin", -255.0, 16_384),
        ("margin", 1e300, 65_535),
    ],
)
def test_bins_by_hand(kind, score, index):
    assert place(score, kind) == index


@pytest.mark.parametrize("kind", ["probability", "margin"])
def test_ends_of_bins_are_neighbouring_floats_in_different_bins(kind):
    for index in (2000, 30_000, 32_769, 60_000):
        below, first = bin_ends(index, kind)
        assert math.nextafter(below, math.inf) == first
        assert place(below, kind) < index <= place(first, kind)


def test_differences_are_seen():
    one = {"": {"positive": {3: Sums(1, 0, None, None, 0.0, 0.0)}}}
    for other in (
        {"a": one[""]},
        {"": {"negative": one[""]["positive"]}},
        {"": {"positive": {4: one[""]["positive"][3]}}},
        {"": {"positive": {3: Sums(1, 1, None, None, 0.0, 0.0)}}},
        {"": {"positive": {3: Sums(1, 0, None, None, -0.0, 0.0)}}},
    ):
        assert differences(one, other)
    assert differences(one, one) == []


def test_the_data_set_holds_what_engines_treat_unlike():
    columns = made()
    assert {0.0, 1.0, 5e-324, 1 - 2.0**-53} <= set(columns["score"])
    assert any(x == 0 and math.copysign(1, x) < 0 for x in columns["score"])
    assert {1e300, -1e300} <= set(columns["margin"])
    assert None in columns["double"]
    assert any(x is not None and math.isnan(x) for x in columns["double"])
    assert {0.0, 1.0, 2.0**-10} <= set(columns["weight"])
    assert {None, "", "10"} <= set(columns["group"])
    assert len(set(columns["score"])) < 0.7 * len(columns["score"])
