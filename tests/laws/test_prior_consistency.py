"""Partial evidence that is an exact mixture of two classes says what their labels would say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import halftruth as ht

from .functionals import bare, differences, ignore_empty_class
from .mixtures import Mixture, mixtures
from .samples import BY_NAME, cases, examples

pytestmark = ignore_empty_class
POPULATIONS = ("unlabeled", "all")
BOTH = pytest.mark.parametrize("population", POPULATIONS)


def _identified(what: str, population: str, negative: bool) -> bool:
    """Whether the evidence gives its own prior."""
    return negative or (what == "propensity" and population == "all")


DESIGNS = [
    pytest.param(what, population, negative, known, id=f"{what}-{population}-N{negative:d}-prior{known:d}")
    for what in ("clean", "purity", "propensity")
    for population in POPULATIONS
    for negative in (False, True)
    for known in (True, False)
    if known or _identified(what, population, negative)
]


@pytest.mark.parametrize(("what", "population", "negative", "known"), DESIGNS)
@examples(12)
@given(mixture=mixtures())
def test_an_exact_mixture_equals_its_labels(
    what: str, population: str, negative: bool, known: bool, mixture: Mixture
) -> None:
    evidence, labels = mixture.partial(what, population, negative=negative, known=known)
    assert differences(bare(evidence), labels, mixture.threshold, tolerance=1e-10) == {}


@examples(30)
@given(case=cases(BY_NAME["labeled"]))
def test_positives_against_the_whole_sample_have_the_measure_of_the_labels(case) -> None:
    positive = case.sample.stratum == "positive"
    labels = case.evidence()
    if not 0 < labels.measure().prior < 1:
        return
    weight = case.sample.full_weight
    evidence = ht.PositiveUnlabeled(
        case.sample.score[positive],
        case.sample.score,
        positive_weight=weight[positive],
        unlabeled_weight=weight,
        prior=labels.measure().prior,
    )
    ours, theirs = evidence.measure(), labels.measure()
    np.testing.assert_array_equal(ours.score, theirs.score)
    np.testing.assert_allclose(ours.mass, theirs.mass, rtol=1e-14)
    np.testing.assert_allclose(ours.pos_mass, theirs.pos_mass, rtol=1e-14)


@pytest.mark.parametrize("known", [True, False], ids=["prior", "no_prior"])
@BOTH
@examples(15)
@given(case=cases(BY_NAME["labeled"]))
def test_a_table_of_every_row_twice_once_without_its_label(case, population: str, known: bool) -> None:
    sample, labels = case.sample, case.evidence()
    score, weight = np.tile(sample.score, 2), np.tile(sample.full_weight, 2)
    y = np.append(np.where(sample.stratum == "positive", 1.0, 0.0), np.full(len(sample), np.nan))
    prior = labels.measure().prior
    if not 0 < prior < 1:
        return
    twice = ht.PositiveUnlabeled.from_labels(
        y, score, sample_weight=weight, prior=prior if known else None, population=population
    )
    try:
        twice.measure()
    except ht.NotIdentifiable:
        return
    assert differences(bare(twice), labels, case.threshold, tolerance=1e-10) == {}


@pytest.mark.parametrize("what", ["clean", "purity", "propensity", "propensity-no_prior"])
@examples(15)
@given(data=st.data())
def test_one_table_is_its_positives_against_all_of_its_rows(what: str, data: st.DataObject) -> None:
    case = data.draw(cases(BY_NAME[f"pu-all-{what}"]))
    sample = case.sample
    known, weight = sample.stratum == "positive", sample.full_weight
    one = case.evidence()
    other = ht.PositiveUnlabeled(
        sample.score[known],
        sample.score,
        positive_weight=weight[known],
        unlabeled_weight=weight,
        propensity=sample.value[known] if case.kind.valued else None,
        purity=case.purity,
        prior=one.measure().prior,
    )
    assert differences(bare(one), bare(other), case.threshold, tolerance=1e-10) == {}
