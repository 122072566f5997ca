"""A general kind of evidence becomes a plainer one where what it adds is trivial."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import halftruth as ht
from halftruth.evidence import Scenario

from .functionals import ALL, RANKING, UNIT_FREE, differences, ignore_empty_class
from .samples import BY_NAME, KINDS, Case, Kind, cases, examples, probabilities, shares

pytestmark = ignore_empty_class


def kinds(**wanted: object) -> pytest.MarkDecorator:
    """PU kinds with these properties."""
    chosen = [
        kind
        for kind in KINDS
        if kind.population and all(getattr(kind, name) == value for name, value in wanted.items())
    ]
    return pytest.mark.parametrize("kind", chosen, ids=str)


@kinds(valued=None, purity=False)
@examples(6)
@given(data=st.data())
def test_purity_one_is_clean(kind: Kind, data: st.DataObject) -> None:
    case = data.draw(cases(kind))
    clean = case.evidence()
    for purity in (1.0, (1.0, 1.0), ht.PriorEstimate(value=1.0, replicates=[1.0, 1.0])):
        assert differences(case.evidence(purity=purity), clean, case.threshold, settings=ALL) == {}


@kinds(valued=None, purity=False, prior=True)
@examples(10)
@given(data=st.data(), other=st.floats(0.7, 0.95))
def test_the_formula_of_purity_at_one_is_clean(kind: Kind, data: st.DataObject, other: float) -> None:
    case = data.draw(cases(kind))
    evidence = case.evidence()
    support = evidence.table.support
    sums = {column: np.stack([values, values]) for column, values in support.sums().items()}
    # Two purities at once, so that purity one has no path of its own.
    scenario = Scenario(prior=case.prior, purity=np.asarray([1.0, other]))
    with np.errstate(invalid="ignore", divide="ignore"):
        measure = evidence.rule(sums, scenario).apply(support.score, sums)[0]
    assert differences(measure, evidence, case.threshold, tolerance=1e-12) == {}


@kinds(valued="positive", prior=True)
@examples(8)
@given(data=st.data(), constant=probabilities)
def test_a_constant_propensity_is_clean(kind: Kind, data: st.DataObject, constant: float) -> None:
    case = data.draw(cases(kind))
    sample = replace(case.sample, value=np.full(len(case.sample), constant))
    plain = replace(case, kind=replace(kind, valued=None))
    one, other = case.evidence(sample), plain.evidence()
    assert differences(one, other, case.threshold, settings=UNIT_FREE, tolerance=1e-12) == {}


@examples(20)
@given(case=cases(BY_NAME["pu-all-clean"]))
def test_a_constant_propensity_over_one_table_gives_the_prior(case: Case) -> None:
    known, n = case.sample.size("positive"), case.sample.full_weight.sum()
    propensity = known / (case.prior * n)
    sample = replace(case.sample, value=np.full(len(case.sample), propensity))
    other = replace(case, kind=BY_NAME["pu-all-propensity-no_prior"]).evidence(sample)
    assert other.prior.value is None
    assert differences(case.evidence(), other, case.threshold, tolerance=1e-12) == {}


@examples(40)
@given(case=cases(BY_NAME["labeled"]))
def test_soft_labels_of_zero_and_one_are_labels(case: Case) -> None:
    q = np.where(case.sample.stratum == "positive", 1.0, 0.0)
    soft = ht.SoftLabeled(q, case.sample.score, sample_weight=case.sample.weight)
    assert differences(case.evidence(), soft, case.threshold, tolerance=1e-12) == {}


@examples(20)
@given(case=cases(BY_NAME["confidence-no_prior"]))
def test_confidence_one_is_all_positive(case: Case) -> None:
    sample = replace(case.sample, value=np.ones(len(case.sample)))
    labels = ht.Labeled(np.ones(len(sample)), sample.score, sample_weight=sample.weight)
    assert differences(case.evidence(sample), labels, case.threshold, settings=ALL) == {}


@examples(30)
@given(case=cases(BY_NAME["confidence-no_prior"]))
def test_confidences_of_positives_are_soft_labels_of_the_population(case: Case) -> None:
    r, weight = case.sample.value, case.sample.full_weight
    soft = ht.SoftLabeled(r, case.sample.score, sample_weight=weight / r)
    assert differences(case.evidence(), soft, case.threshold, tolerance=1e-12) == {}


@kinds(purity=False, prior=True, strata=("positive", "unlabeled"))
@examples(6)
@given(data=st.data(), alpha=shares)
def test_what_needs_no_prior_does_not_change_with_it(kind: Kind, data: st.DataObject, alpha: float) -> None:
    case = data.draw(cases(kind))
    free = [setting for setting in ALL if setting.metric.needs != "prior"]
    one, other = case.evidence(), replace(case, alpha=alpha).evidence()
    assert differences(one, other, case.threshold, settings=free, tolerance=1e-12) == {}
    none = replace(case, kind=replace(kind, prior=False)).evidence()
    if none.measure().unidentified is not None:
        assert differences(one, none, case.threshold, settings=free, tolerance=1e-12) == {}
        needing = [setting for setting in ALL if setting.metric.needs == "prior"]
        assert {
            setting.of(none, case.threshold) for setting in needing if not setting.metric.probability
        } == {"not identifiable"}


@pytest.mark.parametrize("what", ["clean", "propensity"])
@examples(15)
@given(data=st.data())
def test_recall_is_the_same_in_both_populations(what: str, data: st.DataObject) -> None:
    case = data.draw(cases(BY_NAME[f"pu-all-{what}"]))
    recall = [setting for setting in RANKING if setting.metric.name == "recall"]
    other = replace(case, kind=BY_NAME[f"pu-unlabeled-{what}"]).evidence()
    assert differences(case.evidence(), other, case.threshold, settings=recall, tolerance=1e-12) == {}


@kinds(prior=True)
@examples(6)
@given(data=st.data())
def test_an_estimate_of_the_other_population_is_converted(kind: Kind, data: st.DataObject) -> None:
    case = data.draw(cases(kind))
    other = {"unlabeled": "all", "all": "unlabeled"}[kind.population]
    share = case.alpha
    if other == "all":
        share = replace(case, kind=replace(kind, population="all")).prior
    estimate = ht.PriorEstimate(value=share, replicates=[share, share], population=other)
    one = case.evidence(prior=estimate)
    np.testing.assert_allclose(one.measure().alpha, case.alpha, rtol=1e-9, atol=1e-12)
    assert differences(one, case.evidence(), case.threshold, tolerance=1e-10) == {}
