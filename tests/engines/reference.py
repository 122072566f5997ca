"""A table made by plain loops over rows, in Python's own integers: what every engine has to give."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

N_BINS = 65_536
MISSING = "missing"

Row = tuple[float, float | None, float, str | None]
"""Score, label, weight, group."""
Group = dict[str, dict[int, "Sums"]]
"""The sums by stratum and bin."""


@dataclass
class Sums:
    """What one bin of one stratum holds: exact integers, in steps of 2⁻³² where they are not counts."""

    rows: int = 0
    position: int | None = 0
    weight: int | None = 0
    square: int | None = 0
    low: float = math.inf
    high: float = -math.inf


def tables(rows: Iterable[Row], kind: str, unlabeled: float | None = None) -> dict[str, Group]:
    """The sums by group, stratum and bin."""
    found: dict[str, Group] = {}
    uneven: set[tuple[str, str]] = set()
    for score, label, weight, group in rows:
        if weight == 0:
            continue
        s = score + 0.0  # −0.0 is 0.0
        name = MISSING if group is None else group
        part = stratum(label, unlabeled)
        sums = found.setdefault(name, {}).setdefault(part, {}).setdefault(place(s, kind), Sums())
        sums.rows += 1
        sums.position += steps(weight * s) if kind == "probability" else 0
        sums.weight += steps(weight)
        sums.square += steps(weight * weight)
        sums.low, sums.high = min(sums.low, s), max(sums.high, s)
        if weight != 1:
            uneven.add((name, part))
    for name, strata in found.items():
        for part, bins in strata.items():
            for sums in bins.values():
                if kind == "margin":
                    sums.position = None
                if (name, part) not in uneven:
                    sums.weight = sums.square = None
    return {name: found[name] for name in sorted(found, key=_order)}


def stratum(label: float | None, unlabeled: float | None) -> str:
    """The stratum of a label."""
    if label is None or label != label or label == unlabeled:
        return "unlabeled"
    return {1: "positive", 0: "negative"}[label]


def place(s: float, kind: str) -> int:
    """The bin of a score."""
    half = N_BINS / 2
    if kind == "probability":
        if s in (0, 1):
            return 0 if s == 0 else N_BINS + 1
        return 1 + min(math.floor(((_root(s) - _root(1 - s)) + 1) * half), N_BINS - 1)
    q = _root(1 / (1 + abs(s)))
    t = 1 - q if s >= 0 else q - 1
    return min(math.floor((t + 1) * half), N_BINS - 1)


def steps(x: float) -> int:
    """A number in steps of 2⁻³²."""
    return math.floor(x * 2**32 + 0.5)


def of_table(table: Any) -> Group:
    """The same sums, read out of a ScoreTable."""
    strata: Group = {}
    for name, bins in table.strata.items():
        columns = [_values(bins, field.name) for field in fields(Sums)]
        each = zip(bins.index.tolist(), *columns, strict=True)
        strata[name] = {index: Sums(*values) for index, *values in each}
    return strata


def differences(expected: Mapping[str, Group], found: Mapping[str, Group]) -> list[str]:
    """Where two sets of tables differ, at most ten places in words; low and high are compared by their bits."""
    if list(expected) != list(found):
        return [f"groups {list(found)}, not {list(expected)}"]
    out = []
    for name, strata in expected.items():
        if strata.keys() != found[name].keys():
            out.append(f"group {name!r}: strata {sorted(found[name])}, not {sorted(strata)}")
            continue
        for part, bins in strata.items():
            others = found[name][part]
            for index in sorted(bins.keys() | others.keys()):
                one, other = bins.get(index), others.get(index)
                if repr(one) != repr(other):
                    out.append(f"group {name!r}, {part}, bin {index}: {other}, not {one}")
    return out[:10]


def _values(bins: Any, name: str) -> list[Any]:
    column = getattr(bins, name)
    return [None] * len(bins.index) if column is None else column.tolist()


def _root(x: float) -> float:
    return math.sqrt(math.sqrt(math.sqrt(x)))


def _order(name: str) -> tuple[bool, float, str]:
    """Numbers by size, then other names as text."""
    try:
        return False, float(name), name
    except ValueError:
        return True, 0.0, name
