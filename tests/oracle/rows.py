"""Rows as exact fractions, and the sums that every naive definition is made of.

A row is (score, mass, pos): what it adds to the population μ and to the positives μ₁. With partial
evidence pos may be negative, or exceed the mass.
"""

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import groupby
from typing import NamedTuple

NAN = math.nan


class Row(NamedTuple):
    score: Fraction
    mass: Fraction
    pos: Fraction


Rows = list[Row]


def exact(value: float) -> Fraction:
    """A decimal as it is written: 0.3 is 3/10."""
    return Fraction(str(value))


def labeled_rows(y: Iterable[float], score: Iterable[float], weight: Iterable[float] | None = None) -> Rows:
    """Labels, hard or soft, as rows; every float is taken as the number that it is."""
    y, score = [Fraction(float(v)) for v in y], [Fraction(float(v)) for v in score]
    weight = [Fraction(1)] * len(y) if weight is None else [Fraction(float(v)) for v in weight]
    return [Row(s, w, w * q) for q, s, w in zip(y, score, weight, strict=True) if w > 0]


def over(a: Fraction, b: Fraction) -> float | Fraction:
    return a / b if b != 0 else NAN


def totals(rows: Rows) -> tuple[Fraction, Fraction]:
    """Mass and positives of some rows."""
    return sum((r.mass for r in rows), Fraction()), sum((r.pos for r in rows), Fraction())


def falling(rows: Rows) -> Iterator[tuple[Fraction | float, Fraction, Fraction]]:
    """(threshold, μ[s ≥ t], μ₁[s ≥ t]) from +inf down over the distinct scores."""
    mass, pos = Fraction(), Fraction()
    yield math.inf, mass, pos
    for threshold, tied in groupby(sorted(rows, reverse=True), key=lambda row: row.score):
        added = totals(list(tied))
        mass, pos = mass + added[0], pos + added[1]
        yield threshold, mass, pos


class Cells(NamedTuple):
    tp: Fraction
    fp: Fraction
    fn: Fraction
    tn: Fraction


def at_or_above(rows: Rows, threshold: float) -> tuple[Rows, Rows]:
    """Rows that are called positive, and the others."""
    if math.isinf(threshold):
        return [], rows
    t = Fraction(threshold)
    return [r for r in rows if r.score >= t], [r for r in rows if r.score < t]


def cells(rows: Rows, threshold: float) -> Cells:
    (mass, tp), (rest, fn) = (totals(part) for part in at_or_above(rows, threshold))
    return Cells(tp, mass - tp, fn, rest - fn)
