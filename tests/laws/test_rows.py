"""A weight is a number of rows, and neither the order of rows nor how they were cut up matters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from .functionals import ALL, DEBIASED, ROOT, UNIT_FREE, WEIGHED, differences, ignore_empty_class
from .samples import KINDS, Kind, cases, examples, one_each, samples

pytestmark = [ignore_empty_class, pytest.mark.parametrize("kind", KINDS, ids=str)]


@examples(10)
@given(data=st.data())
def test_weights_are_repetitions(kind: Kind, data: st.DataObject) -> None:
    case = data.draw(cases(kind))
    times = data.draw(one_each(case.sample, st.integers(1, 4)), "times")
    case, repeated = (
        case.on(case.sample.weighted(case.sample.full_weight * times)),
        case.sample.take(np.repeat(np.arange(len(times)), times)),
    )
    assume(case.well_posed)
    one, other = case.evidence(), case.evidence(repeated)
    assert differences(one, other, case.threshold, settings=WEIGHED, tolerance=1e-12) == {}
    if (repeated.full_weight % 1 == 0).all():  # other weights are not numbers of rows, of which noise is made
        assert differences(one, other, case.threshold, settings=DEBIASED, tolerance=ROOT) == {}


@examples(10)
@given(data=st.data())
def test_rows_of_weight_zero_are_absent(kind: Kind, data: st.DataObject) -> None:
    case = data.draw(cases(kind))
    ghosts = data.draw(samples(kind), "ghosts")
    haunted = case.sample.joined(ghosts.weighted(np.zeros(len(ghosts))))
    one, other = case.evidence(), case.evidence(haunted)
    assert differences(one, other, case.threshold, settings=ALL) == {}
    assert differences(one, other, case.threshold, settings=DEBIASED, tolerance=ROOT) == {}


@examples(10)
@given(data=st.data(), factor=st.floats(1e-3, 1e3))
def test_the_scale_of_weights_does_not_matter(kind: Kind, data: st.DataObject, factor: float) -> None:
    case = data.draw(cases(kind))
    scaled = case.sample.weighted(case.sample.full_weight * factor)
    one, other = case.evidence(), case.evidence(scaled)
    assert differences(one, other, case.threshold, settings=UNIT_FREE, tolerance=1e-12) == {}


@examples(10)
@given(data=st.data())
def test_the_order_of_rows_does_not_matter(kind: Kind, data: st.DataObject) -> None:
    case = data.draw(cases(kind))
    order = data.draw(st.permutations(range(len(case.sample))), "order")
    one, other = case.evidence(), case.evidence(case.sample.take(np.asarray(order)))
    assert differences(one, other, case.threshold, settings=ALL) == {}
    assert differences(one, other, case.threshold, settings=DEBIASED, tolerance=ROOT) == {}
