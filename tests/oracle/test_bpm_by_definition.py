"""Binomial process modeling by its definition, from every evidence: no curve fits better, and the error is its integral.

Few rows may leave the curve open, or drive its parameters to infinity: so the fit is judged by its objective, and
the error by the curve that was fitted.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest

import halftruth as ht
from halftruth.calibration._binomial_process import fit_curve

from . import numerical
from .agreement import assert_same
from .cases import CASES
from .partial_cases import draw_many
from .rows import Rows, totals
from .test_empty_class import KINDS, naive_rows, one_class
from .test_known_negatives_by_definition import CASES as WITH_NEGATIVES
from .test_known_negatives_by_definition import mixed_rows
from .test_positive_confidence_by_definition import CASES as CONFIDENT
from .test_soft_labels_equal_split_rows import SOFT

WORSE, BETTER = 1e-6, 1e-3
"""How far our objective may lie above that of scipy's searches, and below it: those may stop early."""


@dataclass(frozen=True)
class Fit:
    """Evidence, its rows in fractions, and how many of them unequal weights leave in effect."""

    name: str
    evidence: object
    rows: Rows
    n: float

    @cached_property
    def theta(self) -> np.ndarray:
        curve = fit_curve(self.evidence)
        return np.array([curve.a, curve.b, curve.c])


def effective(rows: Rows) -> float:
    return float(totals(rows)[0] ** 2 / sum(r.mass**2 for r in rows))


LABELED = [
    *(Fit(f"labeled, {c.name}", c.evidence, c.rows, effective(c.rows)) for c in CASES if c.probabilities),
    *(Fit(f"soft, {c.name}", c.evidence, c.rows, effective(c.rows)) for c in SOFT),
    *(
        Fit(f"no {empty}, {kind}", one_class(empty, kind), rows, effective(rows))
        for empty in ("positive", "negative")
        for kind in KINDS
        for rows in [naive_rows(empty, kind)]
    ),
]
PARTIAL = [
    *(Fit(c.name, c.evidence(), c.given_rows, 1.0) for c in draw_many(negatives=False, seeds=range(2))),
    *(Fit(f"negatives, {c.name}", c.evidence(), mixed_rows(c), 1.0) for c in WITH_NEGATIVES[::2]),
    *(Fit(f"confidence, {c.name}", c.evidence, c.rows(), 1.0) for c in CONFIDENT),
]


def test_no_case_is_so_large_that_partial_evidence_would_need_its_own_number_of_bins() -> None:
    """Below 220 rows of full labels the binnings are the same, whatever the evidence is worth."""
    assert max(fit.evidence.measure().size for fit in LABELED + PARTIAL) < 220


def excess(fit: Fit) -> float:
    """By how much our objective exceeds the least that many searches find."""
    at = numerical.points(fit.rows, fit.n)
    return numerical.objective(fit.theta, at) - numerical.least_objective(at)


@pytest.mark.parametrize("fit", LABELED, ids=lambda fit: fit.name)
def test_no_curve_fits_labels_better(fit: Fit) -> None:
    assert -BETTER <= excess(fit) <= WORSE
    assert fit.theta[:2].min() >= 0


@pytest.mark.parametrize("fit", PARTIAL, ids=lambda fit: fit.name)
def test_no_curve_nearby_fits_partial_evidence_better(fit: Fit) -> None:
    at = numerical.points(fit.rows, fit.n)
    assert numerical.objective(fit.theta, at) <= numerical.lowered(at, fit.theta) + WORSE
    assert fit.theta[:2].min() >= 0


def test_hardly_a_curve_far_away_fits_partial_evidence_better() -> None:
    """A dozen rows with mean labels that rise and fall have several minima; hardly one is not the least."""
    each = np.array([excess(fit) for fit in PARTIAL])
    assert each.min() >= -BETTER
    assert (each > WORSE).mean() <= 0.03


@pytest.mark.parametrize("fit", LABELED + PARTIAL, ids=lambda fit: fit.name)
def test_error_over_the_population_is_that_of_the_curve(fit: Fit) -> None:
    ours = ht.bpm_calibration_error(fit.evidence, density="empirical")
    assert_same(ours, numerical.empirical_gap(fit.rows, fit.theta), tolerance=1e-9)


@pytest.mark.parametrize("fit", LABELED, ids=lambda fit: fit.name)
def test_error_over_the_beta_law_is_that_of_the_curve(fit: Fit) -> None:
    """The law's variance has the divisor n − 1, n the rows, or the weights if they sum up to more."""
    n = max(fit.n, float(totals(fit.rows)[0]))
    wanted = numerical.beta_gap(fit.rows, fit.theta, n)
    assert_same(ht.bpm_calibration_error(fit.evidence), wanted, tolerance=1e-6)
