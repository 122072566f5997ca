"""What an evaluation must keep: its seed, its point, and how intervals lie in one another."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import halftruth as ht
from halftruth._registry import REGISTRY
from halftruth.evaluation import _estimation
from halftruth.results._intervals import METHODS
from halftruth.table import _resampling

from .functionals import Setting, ignore_empty_class, same
from .samples import BY_NAME, KINDS, Case, Kind, cases, dyadic_scores, examples, one_each, samples, shares

pytestmark = ignore_empty_class
every_kind = pytest.mark.parametrize("kind", KINDS, ids=str)
with_prior = pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.prior], ids=str)
EXAMPLES = [Setting(metric, dict(metric.example)) for metric in REGISTRY.values()]
DEAR = ("bpm_calibration_error", "smooth_calibration_error")
"""They take half the time of an evaluation, so that only one of the laws asks for them each time."""
N = 12


@pytest.fixture(autouse=True, scope="module")
def few_resamples() -> Iterator[None]:
    """What has no closed form is resampled a few times: no law here is about how often."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_estimation, "FEW_RESAMPLES", N)
        yield


def bounded_cases(kind: Kind) -> st.SearchStrategy[Case]:
    """Cases whose scores can be read as probabilities, so that every metric has a row."""
    return cases(kind, scores=dyadic_scores, max_rows=6)


def functionals(case: Case) -> list[Setting]:
    """Every functional, the dear ones where the number of rows is a multiple of three."""
    return [one for one in EXAMPLES if one.metric.name not in DEAR or len(case.sample) % 3 == 0]


def evaluated(
    case: Case, evidence: object = None, *, n: int = N, settings: list[Setting] | None = None, **how: object
) -> ht.Evaluation:
    chosen = functionals(case) if settings is None else settings
    rows = {s.metric.name: partial(s.metric.function, **s.at(case.threshold)) for s in chosen}
    return ht.evaluate(case.evidence() if evidence is None else evidence, rows, n_resamples=n, **how)


def unlike(one: ht.Evaluation, other: ht.Evaluation) -> list[str]:
    """Rows that differ, to the bit, in anything."""
    out = []
    for name in one:
        for part in ("value", "low", "high", "naive", "replicates"):
            pair = [np.asarray(getattr(x[name], part), dtype=float) for x in (one, other)]
            if not np.array_equal(*pair, equal_nan=True):
                out.append(f"{part} of {name}")
    return out


@contextmanager
def joined_to(n_atoms: int) -> Iterator[None]:
    """Resample on so many distinct scores, as where there are many rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_estimation, "MAX_ATOMS", n_atoms)
        yield


@every_kind
@examples(2)
@given(data=st.data(), seed=st.integers(0, 1000), n_atoms=st.sampled_from((4, 512)))
def test_neither_a_second_run_nor_order_nor_merging_nor_ghosts_matter(
    kind: Kind, data: st.DataObject, seed: int, n_atoms: int
) -> None:
    """And the intervals of one run are nested in their level."""
    case = data.draw(bounded_cases(kind))
    rows = case.sample.weighted(case.sample.full_weight)
    ghosts = data.draw(samples(kind), "ghosts")
    haunted = rows.joined(ghosts.weighted(np.zeros(len(ghosts))))
    order = np.asarray(data.draw(st.permutations(range(len(haunted))), "order"))
    place = data.draw(one_each(haunted, st.booleans()), "place")
    other = haunted.take(order)
    place = case.places(other, place)
    again = case.evidence(other)
    if kind.merges:
        again = case.on_table(case.table(other.take(place)).merge(case.table(other.take(~place))))
    with joined_to(n_atoms):
        how = {"settings": EXAMPLES, "confidence_level": 0.8}
        first = evaluated(case, case.evidence(rows), rng=seed, **how)
        second = evaluated(case, again, rng=np.random.default_rng(seed), **how)
    assert unlike(first, second) == []
    check_nested(first)


@every_kind
@examples(3)
@given(data=st.data())
def test_the_value_is_the_functional_and_needs_no_resample(kind: Kind, data: st.DataObject) -> None:
    case = data.draw(bounded_cases(kind))
    evidence = case.evidence()
    result = evaluated(case, evidence)
    with joined_to(4):
        plain = evaluated(case, evidence, n=0)
    naive = evidence.naive_measure()
    for setting in functionals(case):
        name = setting.metric.name
        value = _or_nan(setting, evidence, case)
        if kind.name == "reviewed-open" and not np.isnan(result[name].value):
            # What rows that nobody could look at cannot change has a value, whatever they are taken for.
            (filled, *_), _ = evidence.scenarios((case.threshold,))
            value = setting.of(evidence.measure_at(filled), case.threshold)
        assert same(result[name].value, value, 1e-12), name
        assert same(result[name].value, plain[name].value, 0.0), name
        if naive is None:
            assert result[name].naive is None
        else:
            assert same(result[name].naive, _or_nan(setting, naive, case), 1e-12), name


def _or_nan(setting: Setting, evidence: object, case: Case) -> float:
    value = setting.of(evidence, case.threshold)
    return np.nan if isinstance(value, str) else value


def check_nested(result: ht.Evaluation) -> None:
    """Intervals of a result at level 0.8 widen with their level."""
    for name, row in result.items():
        if row.replicates is None:  # A lone positive: no interval.
            assert np.isnan(row.low), name
            continue
        assert same(row.low, row.interval(0.8)[0], 0.0), name
        assert same(row.high, row.interval(0.8)[1], 0.0), name
        for method in METHODS:
            intervals = [row.interval(level, method) for level in (0.5, 0.8, 0.99)]
            low, high = np.asarray(intervals).T
            if np.isnan(low).any():
                assert np.isnan(low).all(), name
                assert np.isnan(high).all(), name
                continue
            assert (low <= high).all(), (name, method)
            assert (np.diff(low) <= 0).all(), (name, method)
            assert (np.diff(high) >= 0).all(), (name, method)


@with_prior
@examples(2)
@given(data=st.data(), other=shares)
def test_a_range_of_priors_covers_both_its_ends(kind: Kind, data: st.DataObject, other: float) -> None:
    case = data.draw(bounded_cases(kind))
    second = replaced(case, other if other < case.purity - 0.02 or not kind.purity else case.alpha / 2)
    low, high = sorted((case.prior, second.prior))
    wide = evaluated(case, case.evidence(prior=(low, high)))
    points = evaluated(case, case.evidence(prior=(low, high)), n=0)
    for end in (low, high):
        narrow = evaluated(case, case.evidence(prior=end))
        for name, row in narrow.items():
            if np.isnan(row.low):
                continue
            # A row cut at what is possible may have been cut at another replicate.
            slack = 1e-12 * max(1.0, abs(row.low), abs(row.high))
            assert wide[name].low <= row.low + slack, name
            assert wide[name].high >= row.high - slack, name
        for name, row in points.items():
            # What is resampled all the same has an interval of its own mind.
            defined = not np.isnan(row.low + row.value + narrow[name].value)
            if low < high and defined and row.method.startswith("influence"):
                slack = 1e-12 * max(1.0, abs(row.low), abs(row.high))
                assert row.low - slack <= row.value <= row.high + slack, name
                assert row.low - slack <= narrow[name].value <= row.high + slack, name


def replaced(case: Case, alpha: float) -> Case:
    return Case(case.kind, case.sample, case.threshold, alpha, case.purity)


@with_prior
@examples(2)
@given(data=st.data(), n_replicates=st.integers(1, 3))
def test_an_estimate_without_error_is_the_number(kind: Kind, data: st.DataObject, n_replicates: int) -> None:
    case = data.draw(bounded_cases(kind))
    estimate = ht.PriorEstimate(
        value=case.prior,
        replicates=[case.prior] * n_replicates,
        population=kind.population or "all",
    )
    assert unlike(evaluated(case), evaluated(case, case.evidence(prior=estimate))) == []


@examples(2)
@given(case=bounded_cases(BY_NAME["pu-unlabeled-clean"]))
def test_an_estimate_without_error_is_the_number_however_resamples_are_cut_up(case: Case) -> None:
    estimate = ht.PriorEstimate(value=case.prior, replicates=[case.prior])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_resampling, "CHUNK", 16)
        one, other = evaluated(case), evaluated(case, case.evidence(prior=estimate))
    assert unlike(one, other) == []


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.prior and kind.purity], ids=str)
@examples(3)
@given(data=st.data())
def test_replicates_of_prior_and_purity_are_taken_in_pairs(kind: Kind, data: st.DataObject) -> None:
    case = data.draw(bounded_cases(kind))
    # Half the excess of the purity over α in one of the pairs, a quarter in the other.
    pairs = [(case.alpha, case.alpha + (1 - case.alpha) * step) for step in (0.5, 0.25)]
    points = [Case(kind, case.sample, case.threshold, *pair) for pair in pairs]
    priors, purities = [point.prior for point in points], [point.purity for point in points]
    both = ht.PriorEstimate(value=priors[0], replicates=priors, population=kind.population)
    purity = ht.PriorEstimate(value=purities[0], replicates=purities)
    drawn = evaluated(case, case.evidence(prior=both, purity=purity))["recall"].replicates
    alone = [evaluated(case, point.evidence())["recall"].replicates for point in points]
    if drawn is None:  # A lone positive.
        return
    either = [np.isclose(drawn, one, rtol=1e-9, atol=1e-9, equal_nan=True) for one in alone]
    assert np.logical_or(*either).all()
