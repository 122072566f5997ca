"""Scenarios: the priors and purities that an interval must cover."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from halftruth.evidence import Evidence, PositiveUnlabeled, Scenario
from halftruth.evidence.shares import Sizes
from halftruth.prior.bounds import prior_upper_bound
from halftruth.table import NEGATIVE, POSITIVE, UNLABELED

N_GRID = 9
"""Points over a range. Metrics are smooth in the prior, so a few points find their extremes."""


@dataclass(frozen=True)
class Range:
    """Scenarios to take the union over, and what to say of them."""

    scenarios: tuple[Scenario, ...]
    notes: tuple[str, ...] = ()

    @property
    def wide(self) -> bool:
        return len(self.scenarios) > 1


def prior_range(evidence: Evidence, confidence_level: float) -> Range:
    """The scenarios of evidence: one, or a grid where prior or purity is only known to a range."""
    if isinstance(evidence, PositiveUnlabeled) and evidence.measure().unidentified is not None:
        return _unrefuted(evidence, confidence_level)
    notes: tuple[str, ...] = ()
    if isinstance(evidence, PositiveUnlabeled) and NEGATIVE not in evidence.table.strata:
        notes = _refuted(evidence, confidence_level)
    grids = evidence.prior.grid(N_GRID), evidence.purity.grid(N_GRID)
    return Range(tuple(Scenario(prior=p, purity=r) for p, r in product(*grids)), notes)


def _alpha_upper(evidence: PositiveUnlabeled, confidence_level: float) -> float:
    """The largest α not refuted: ρ times the bound for a pure component (f₀ ≥ 0 gives α f_P ≤ ρ f_U)."""
    positive, unlabeled = (evidence.table.strata[name] for name in (POSITIVE, UNLABELED))
    weight = positive.weight
    if positive.value is not None:
        weight = positive.full_weight() * positive.value
    bound = prior_upper_bound(
        positive.score,
        unlabeled.score,
        confidence_level=confidence_level,
        positive_weight=weight,
        unlabeled_weight=unlabeled.weight,
    )
    purity = evidence.purity.high or evidence.purity.value or 1.0
    return bound * purity


def _unrefuted(evidence: PositiveUnlabeled, confidence_level: float) -> Range:
    upper = min(_alpha_upper(evidence, confidence_level), 0.999)
    alphas = np.linspace(upper / 1000, upper, N_GRID)
    sizes = Sizes.of(evidence.table.support.sums())
    scenarios = [
        Scenario(prior=float(alpha if evidence.population == "unlabeled" else sizes.pi(alpha, r)), purity=r)
        for alpha, r in product(alphas, evidence.purity.grid(N_GRID))
        if r is not None and alpha < r
    ]
    highest = max(scenario.prior for scenario in scenarios)
    note = (
        f"No prior was given: intervals of what needs one cover every prior that the data do not refute, "
        f"up to π = {highest:.4g}."
    )
    return Range(tuple(scenarios), (note,))


def _refuted(evidence: PositiveUnlabeled, confidence_level: float) -> tuple[str, ...]:
    ends = evidence.alpha_ends()
    upper = _alpha_upper(evidence, confidence_level)
    if not ends or ends[1] <= upper:
        return ()
    what = "The prior is" if ends[0] > upper else "The upper part of the prior's range is"
    alpha = f"α = {ends[0]:.4g}" if ends[0] == ends[1] else f"up to α = {ends[1]:.4g}"
    return (
        f"{what} refuted by the data: it puts {alpha} positives among the unlabeled, and more than "
        f"{upper:.4g} would need more scores like the positives' there than were seen (confidence "
        f"{confidence_level:g}). Lower the prior, or doubt the purity or SCAR.",
    )
