"""A weight is a number of rows, and neither the order of rows nor how they were cut up matters."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from .functionals import (
    ALL,
    DEBIASED,
    JUDGED,
    ROOT,
    UNIT_FREE,
    WEIGHED,
    Setting,
    ignore_empty_class,
    same,
    unlike,
    values,
)
from .samples import KINDS, Kind, cases, examples, one_each, samples

pytestmark = ignore_empty_class


@pytest.mark.parametrize("kind", KINDS, ids=str)
@examples(2)
@given(data=st.data())
def test_functionals_read_nothing_but_the_measure(kind: Kind, data: st.DataObject) -> None:
    """So that `values` need not ask evidence again whose measure is the same to the bit."""
    case = data.draw(cases(kind))
    evidence = case.evidence()
    copied = pickle.loads(pickle.dumps(evidence.measure()))
    for setting in ALL + DEBIASED:
        assert same(setting.of(evidence, case.threshold), setting.of(copied, case.threshold), 0.0), setting


@pytest.mark.parametrize("kind", KINDS, ids=str)
@examples(10)
@given(data=st.data(), factor=st.floats(1e-3, 1e3))
def test_only_how_much_weight_lies_where_matters(kind: Kind, data: st.DataObject, factor: float) -> None:
    """Weights are repetitions; their scale, rows of weight zero, order and merging do not matter."""
    case = data.draw(cases(kind))
    times = data.draw(one_each(case.sample, st.integers(1, 4)), "times")
    weighted = case.sample.weighted(case.sample.full_weight * times)
    rows = case.sample.take(np.repeat(np.arange(len(times)), times))
    ghosts = data.draw(samples(kind), "ghosts")
    haunted = rows.joined(ghosts.weighted(np.zeros(len(ghosts))))
    order = np.asarray(data.draw(st.permutations(range(len(rows))), "order"))
    place = data.draw(one_each(rows, st.integers(0, 1)), "place")
    case = case.on(rows)
    assume(case.well_posed)
    # Whole weights count rows: a factor that makes those of a stratum whole repeats its rows, and precision,
    # which leaves a known positive's own part out, sees that.
    broken = rows.full_weight * factor % 1 > 0
    assume(all(broken[rows.stratum == name].any() for name in set(rows.stratum)))

    wanted = values(case.evidence(), case.threshold, ALL + DEBIASED)

    def check(
        law: str, evidence: object, settings: list[Setting], debiased: list[Setting], tolerance: float = 0.0
    ) -> None:
        assert unlike(wanted, values(evidence, case.threshold, settings), tolerance) == {}, law
        assert unlike(wanted, values(evidence, case.threshold, debiased), ROOT) == {}, law

    # Weights that are no whole numbers are not numbers of rows, of which noise is made.
    whole = (rows.full_weight % 1 == 0).all()
    by_row = JUDGED if kind.population or kind.reviewed else []
    uncounted = [] if whole else by_row
    weighed = [setting for setting in WEIGHED if setting not in uncounted]
    if not kind.fitted:
        check("a weight is so many rows", case.evidence(weighted), weighed, DEBIASED if whole else [], 1e-12)
    scaled = rows.weighted(rows.full_weight * factor)
    by_stratum = [rows.full_weight[rows.stratum == name] for name in set(rows.stratum)]
    counts = any((weight % 1 == 0).all() and (weight != 1).any() for weight in by_stratum)
    uncounted = by_row if counts else []  # then a weight is a number of rows before, and none after
    unit_free = [setting for setting in UNIT_FREE if setting not in uncounted]
    if not (counts and kind.fitted):
        check("the scale of weights does not matter", case.evidence(scaled), unit_free, [], 1e-12)
    check("rows of weight zero are absent", case.evidence(haunted), ALL, DEBIASED)
    check("the order of rows does not matter", case.evidence(rows.take(order)), ALL, DEBIASED)
    if kind.merges:
        parts = [case.table(rows.take(case.places(rows, place) == i)) for i in (0, 1)]
        check("tables merge", case.on_table(parts[0].merge(parts[1])), ALL, DEBIASED)
