"""Priors from ten million scores."""

from __future__ import annotations

import pytest
from tools.prior_study.families import prior_families

import halftruth as ht

N_POSITIVE, N_UNLABELED, ALPHA = 1_000_000, 9_000_000, 0.3
MEMBER = {member.name: member for member in prior_families()["anchored"]}["uniform anchor=0.2"]


@pytest.fixture(scope="module")
def drawn():
    return MEMBER.draw(N_POSITIVE, N_UNLABELED, ALPHA, rng=7, fixed=True)


@pytest.mark.slow
def test_the_bound_closes_in_on_the_share(drawn):
    assert ALPHA < ht.prior_upper_bound(drawn.positive, drawn.unlabeled) < ALPHA + 0.01


# The positives' top fifth, 200,000 rows, finds α to about α/√200,000 = .0007; these also choose where it ends.
@pytest.mark.slow
@pytest.mark.parametrize("method", ["auto", "bbe", "bbe-corrected", "alphamax"])
def test_estimators_find_the_share(drawn, method):
    made = ht.estimate_prior(drawn.positive, drawn.unlabeled, method=method, n_resamples=2)
    assert made.value == pytest.approx(ALPHA, abs=0.01)
