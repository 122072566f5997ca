"""Tables merge: in any parts, in any order, the table of all rows at once, to the bit."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halftruth.table._resampling import resampled_sums
from halftruth.table._score_table import ScoreTable
from halftruth.table._support import Support

from .functionals import ALL, DEBIASED, ROOT, differences, ignore_empty_class
from .samples import BY_NAME, KINDS, Kind, cases, examples, one_each

pytestmark = ignore_empty_class
every_kind = pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.merges], ids=str)
several_strata = pytest.mark.parametrize("kind", [BY_NAME["labeled"], BY_NAME["pu-all-clean"]], ids=str)


def unlike(one: Support, other: Support, *, resampled: bool = False) -> list[str]:
    """What differs, to the bit, between two supports, or between resamples of them when made coarse."""
    if resampled:
        one, other = one.coarse(4), other.coarse(4)
        sums, others = (
            next(iter(resampled_sums(x, 3, np.random.default_rng(0), one_sample=True))) for x in (one, other)
        )
    else:
        sums, others = one.sums(), other.sums()
    out = [] if np.array_equal(one.score, other.score) else ["score"]
    out += [] if sums.keys() == others.keys() else ["strata"]
    return out + [f"sums of {key}" for key in sums if not np.array_equal(sums[key], others.get(key))]


def unlike_merged(whole: ScoreTable, parts: list[ScoreTable], *, resampled: bool) -> list[str]:
    """What differs between a table and its parts merged in any order."""
    merged = [first.merge(*rest) for first, *rest in permutations(parts)]
    ways = (False, True) if resampled else (False,)
    return [
        what for one in merged for way in ways for what in unlike(whole.support, one.support, resampled=way)
    ]


@every_kind
@examples(8)
@given(data=st.data())
def test_merge_is_concatenation(kind: Kind, data: st.DataObject) -> None:
    case = data.draw(cases(kind))
    place = data.draw(one_each(case.sample, st.integers(0, 1)), "place")
    place = case.places(case.sample, place)
    parts = [case.table(case.sample.take(place == i)) for i in (0, 1)]
    assert unlike_merged(case.evidence().table, parts, resampled=True) == []


@every_kind
@examples(5)
@given(data=st.data())
def test_rows_without_weights_merge_with_weighted_ones(kind: Kind, data: st.DataObject) -> None:
    case = data.draw(cases(kind))
    place = case.places(case.sample, data.draw(one_each(case.sample, st.integers(0, 2)), "place"))
    whole = case.sample.weighted(np.where(place == 0, 1.0, case.sample.full_weight))
    parts = [whole.take(place == i) for i in range(3)]
    parts[0] = replace(parts[0], weight=None)
    case = case.on(whole)
    tables = [case.table(part) for part in parts]
    one, other = case.evidence(), case.on_table(tables[0].merge(*tables[1:]))
    assert unlike_merged(one.table, tables, resampled=False) == []
    assert differences(one, other, case.threshold, settings=ALL) == {}
    assert differences(one, other, case.threshold, settings=DEBIASED, tolerance=ROOT) == {}


@several_strata
@examples(40)
@given(data=st.data())
def test_resamples_do_not_tell_weights_of_one_from_none(kind: Kind, data: st.DataObject) -> None:
    case = data.draw(cases(kind, max_rows=12))
    first = case.sample.stratum == kind.strata[0]
    weight = data.draw(one_each(case.sample, st.integers(1, 3)), "weight")
    whole = case.sample.weighted(np.where(first, 1.0, weight))
    plain = replace(whole.take(first), weight=None)
    merged = case.table(plain).merge(case.table(whole.take(~first)))
    assert unlike(case.table(whole).support, merged.support, resampled=True) == []
