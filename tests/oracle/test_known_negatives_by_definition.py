"""Known negatives: one scalar mixes the estimate from positives with μ − (1−π) N/n_N, at every score."""

from fractions import Fraction
from functools import cache

import pytest

import halftruth as ht

from . import naive
from .agreement import assert_same
from .partial_cases import PartialCase, draw_many
from .references import REFERENCES
from .rows import Rows, cells
from .test_positive_unlabeled_by_definition import assert_metric_is_that_of

CASES = draw_many(negatives=True, seeds=range(2))
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def true_positives(rows: Rows, threshold: float) -> Fraction:
    return cells(rows, threshold).tp


def solve_mix(case: PartialCase, evidence: object, first: Rows, second: Rows) -> Fraction:
    """The weight of the second estimate, from the threshold where the two differ most."""

    def gap(threshold: float) -> Fraction:
        return true_positives(second, threshold) - true_positives(first, threshold)

    widest = max(case.thresholds, key=lambda t: abs(gap(t)))
    found = Fraction(float(ht.confusion(evidence, widest).tp))
    return (found - true_positives(first, widest)) / gap(widest)


def mixed(first: Rows, second: Rows, mix: Fraction) -> Rows:
    """Both measures have the population's mass; only the positives are mixed."""
    one = [row._replace(pos=(1 - mix) * row.pos) for row in first]
    other = [row._replace(mass=Fraction(), pos=mix * row.pos) for row in second]
    return one + other


@each_case
def test_one_scalar_in_the_unit_interval_holds_at_every_threshold(case: PartialCase) -> None:
    evidence, first, second = case.evidence(), case.given_rows, case.rows_from_negatives(case.prior)
    mix = solve_mix(case, evidence, first, second)
    assert -1e-12 <= mix <= 1 + 1e-12
    for threshold in case.thresholds:
        ours = ht.confusion(evidence, threshold)
        wanted = cells(mixed(first, second, mix), threshold)
        n = float(case.n())
        assert_same(ours.tp / n, float(wanted.tp) / n, f"TP at {threshold}")
        assert_same(ours.fp / n, float(wanted.fp) / n, f"FP at {threshold}")
        assert_same(ours.fn / n, float(wanted.fn) / n, f"FN at {threshold}")
        assert_same(ours.tn / n, float(wanted.tn) / n, f"TN at {threshold}")


@cache
def mix_of(case: PartialCase) -> Fraction:
    return solve_mix(case, case.evidence(), case.given_rows, case.rows_from_negatives(case.prior))


@cache
def mixed_rows(case: PartialCase) -> Rows:
    return mixed(case.given_rows, case.rows_from_negatives(case.prior), mix_of(case))


@pytest.mark.parametrize("case", CASES[::2], ids=lambda case: case.name)
def test_every_metric_is_that_of_the_mixed_measure(case: PartialCase) -> None:
    rows, evidence = mixed_rows(case), case.evidence()
    for name in REFERENCES:
        assert_metric_is_that_of(rows, evidence, name, case.thresholds, case.own(mix_of(case)))


def distribution_function(shares: list[tuple[Fraction, Fraction]], at: Fraction) -> Fraction:
    return sum((share for s, share in shares if s <= at), Fraction())


def fitted_alpha(case: PartialCase) -> Fraction:
    """Least squares, over the rows of each stratum alike, of F_U − F_N on F_P − F_N = ρ (F₁ − F_N)."""
    above, below = Fraction(), Fraction()
    for stratum in (case.positive, case.unlabeled, case.negative):
        for s, weight in stratum.each():
            w = weight / stratum.size()
            p, u, n = (
                distribution_function(x.shares(), s) for x in (case.positive, case.unlabeled, case.negative)
            )
            above += w * (u - n) * (p - n)
            below += w * (p - n) ** 2
    return Fraction(case.purity) * above / below


# So few rows can fit a share that none can have; propensities over one table say the prior themselves.
FITTED = [case for case in CASES if 0 < fitted_alpha(case) < Fraction(case.purity)]
FITTED = [case for case in FITTED if case.positive.propensity is None or case.population == "unlabeled"]


@pytest.mark.parametrize("case", FITTED, ids=lambda case: case.name)
def test_positives_negatives_and_unlabeled_identify_the_prior(case: PartialCase) -> None:
    prior = fitted_alpha(case)
    if case.population == "all":
        prior = (Fraction(case.purity) * case.positive.size() + prior * case.unlabeled.size()) / case.n()
    evidence = case.evidence(prior=None)
    assert_same(ht.prevalence(evidence), float(prior))
    first, second = case.rows(prior), case.rows_from_negatives(prior)
    mix = solve_mix(case, evidence, first, second)
    assert -1e-12 <= mix <= 1 + 1e-12
    assert_same(ht.roc_auc(evidence), float(naive.roc_auc(mixed(first, second, mix))))
