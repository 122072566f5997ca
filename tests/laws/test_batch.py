"""Many measures at once give what each gives alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import halftruth as ht
from halftruth._errors import NotIdentifiable
from halftruth.evidence import Scenario
from halftruth.table._resampling import resampled_sums
from halftruth.table._support import with_batch_axis

from .functionals import ALL, DEBIASED, ROOT, Setting, ignore_empty_class, same
from .samples import DYADIC, KINDS, Kind, cases, dyadic_scores, examples, shares

pytestmark = ignore_empty_class


def _thousandths(low: int, high: int) -> st.SearchStrategy[float]:
    return st.integers(1000 * low, 1000 * high).map(lambda i: i / 1000)


@st.composite
def atoms(draw: st.DrawFn, m: int) -> list[tuple[float, float]]:
    """(mass, pos_mass) of each score: counts, real numbers, or signed as partial evidence may give them."""
    mass = draw(st.sampled_from((st.integers(0, 3), _thousandths(0, 4)))).map(float)
    share = draw(st.sampled_from((st.sampled_from((0.0, 1.0)), _thousandths(0, 1), _thousandths(-2, 2))))
    return draw(st.lists(st.tuples(mass, share), min_size=m, max_size=m))


@st.composite
def batches(draw: st.DrawFn) -> ht.ScoreMeasure:
    score = np.asarray(sorted(draw(st.sets(st.sampled_from(DYADIC), min_size=1, max_size=5))))
    each = draw(st.lists(atoms(len(score)), min_size=1, max_size=4))
    mass, share = np.moveaxis(np.asarray(each), -1, 0)
    size = draw(st.sampled_from((1.0, 8.0, 30.0)))
    return ht.ScoreMeasure(score=score, mass=mass, pos_mass=mass * share, size=size)


def _alone(setting: Setting, measure: ht.ScoreMeasure, threshold: float) -> float | str:
    value = setting.of(measure, threshold)
    # A budget of more rows than there are is refused alone, and takes all rows among others.
    return "refused" if isinstance(value, str) else value


@examples(80)
@given(batch=batches(), threshold=st.sampled_from(DYADIC))
def test_every_functional_takes_measures_one_by_one(batch: ht.ScoreMeasure, threshold: float) -> None:
    failed = {}
    for setting in ALL:
        together = np.asarray(setting.metric.function(batch, **setting.at(threshold)))
        assert together.shape == batch.shape, setting
        for i, value in enumerate(together):
            alone = _alone(setting, batch[i], threshold)
            if alone != "refused" and not same(float(value), alone, 1e-12):
                failed[f"{setting} at {i}"] = value, alone
    assert failed == {}


@examples(20)
@given(batch=batches(), threshold=st.sampled_from(DYADIC))
def test_leading_axes_may_be_two(batch: ht.ScoreMeasure, threshold: float) -> None:
    square = ht.ScoreMeasure(
        score=batch.score,
        mass=np.stack([batch.mass, 2 * batch.mass]),
        pos_mass=np.stack([batch.pos_mass, batch.pos_mass]),
        size=batch.size,
    )
    for setting in ALL:
        together = np.asarray(setting.metric.function(square, **setting.at(threshold)))
        rows = [np.asarray(setting.metric.function(square[i], **setting.at(threshold))) for i in (0, 1)]
        np.testing.assert_allclose(together, np.stack(rows), rtol=1e-12, atol=1e-12, err_msg=str(setting))


@pytest.mark.parametrize("setting", [s for s in ALL if s.metric.needs != "nothing"], ids=str)
def test_an_undefined_measure_of_positives_leaves_every_functional_undefined(setting: Setting) -> None:
    measure = ht.ScoreMeasure(
        score=np.asarray([0.0, 0.5, 1.0]),
        mass=np.asarray([[1.0, 2.0, 1.0], [1.0, 2.0, 1.0]]),
        pos_mass=np.asarray([[np.nan, np.nan, np.nan], [0.0, 1.0, 1.0]]),
        size=4.0,
    )
    values = np.asarray(setting.metric.function(measure, **setting.at(0.5)))
    assert np.isnan(values).tolist() == [True, False]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@examples(5)
@given(data=st.data(), seed=st.integers(0, 10_000))
def test_the_rule_of_many_resamples_is_that_of_each(kind: Kind, data: st.DataObject, seed: int) -> None:
    case = data.draw(cases(kind))
    evidence, n = case.evidence(), 3
    support, rng = evidence.table.support, np.random.default_rng(seed)
    (sums,) = resampled_sums(support, n, rng, one_sample=evidence.rows_are_one_sample)
    prior = np.asarray([data.draw(shares) for _ in range(n)]) if case.prior is not None else None
    # One of the purities is 1, which alone takes a shorter path.
    purity = np.asarray([1.0, case.purity, 0.9]) if kind.purity else 1.0
    with np.errstate(invalid="ignore", divide="ignore"):
        batch = evidence.rule(sums, Scenario(prior=prior, purity=purity)).apply(support.score, sums)
        for i in range(n):
            own = {column: values[i] for column, values in sums.items()}
            scenario = Scenario(
                prior=None if prior is None else prior[i], purity=purity[i] if kind.purity else purity
            )
            if not all(values.sum() for values in own.values()):
                continue  # A stratum without rows: no evidence.
            try:
                alone = evidence.rule(own, scenario).apply(support.score, own)
            except NotIdentifiable:
                continue
            if kind.fitted:  # a resample has a guess of its own, and the rows as they came the first
                sums_of_one = with_batch_axis(own)
                alone = evidence.rule(sums_of_one, scenario).apply(support.score, sums_of_one)[0]
            np.testing.assert_allclose(batch[i].mass, alone.mass, rtol=1e-12)
            np.testing.assert_allclose(batch[i].pos_mass, alone.pos_mass, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@examples(5)
@given(data=st.data(), seed=st.integers(0, 10_000))
def test_errors_less_their_noise_take_resamples_one_by_one(
    kind: Kind, data: st.DataObject, seed: int
) -> None:
    case = data.draw(cases(kind, scores=dyadic_scores))
    evidence = case.evidence()
    support, rng = evidence.table.support, np.random.default_rng(seed)
    (sums,) = resampled_sums(support, 3, rng, one_sample=evidence.rows_are_one_sample)
    if not all(values.sum(axis=-1).all() for values in sums.values()):
        return  # A stratum without rows: no evidence.
    with np.errstate(invalid="ignore", divide="ignore"):
        batch = evidence.rule(sums, evidence.scenario).apply(support.score, sums)
    if batch.unidentified is not None:
        return
    for setting in DEBIASED:
        together = np.asarray(setting.metric.function(batch, **setting.parameters))
        alone = [setting.of(batch[i], case.threshold) for i in range(3)]
        np.testing.assert_allclose(together, alone, rtol=0, atol=ROOT, err_msg=str(setting))
