"""Scenarios: the priors and purities that an interval must cover."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from halftruth._errors import Note
from halftruth.evidence import Evidence, Scenario
from halftruth.inference._influence import identified_range
from halftruth.prior._law_tests import can_be_mixed, enough_to_mix
from halftruth.prior._shares import Sizes
from halftruth.prior._upper_bound import upper_bound
from halftruth.table._score_table import NEGATIVE, POSITIVE, UNLABELED
from halftruth.table._strata import StratumRows

__all__ = ["Range", "Span", "alpha_bound", "drawn_scenarios", "open_priors", "prior_range", "prior_span"]
__all__ += ["refutations", "share_bounds"]

N_GRID = 9  # Points over a range. Metrics are smooth in the prior, so a few points find their extremes.
N_GRID_OF_TWO = 5
LEAST = 1e-3  # of the largest α: at 0 itself there is no positive to measure; just above it stands for it
ATOMS = 128  # distinct scores for the range of an identified prior, as for standard errors
SURE = 0.99  # confidence of what known negatives refute, whatever that of the intervals
MOST = 0.999  # of α, where nothing is refuted: at 1 there is no negative


@dataclass(frozen=True)
class Range:
    """Scenarios to take the union over, and what to say of them."""

    scenarios: tuple[Scenario, ...]
    notes: tuple[Note, ...] = ()
    unknown: bool = False
    """Whether nothing is known of the prior, so that only what is possible can bound a metric."""
    unrefuted: tuple[int, ...] | None = None
    """Where the scores refute the upper part of a range: its scenarios up to the first that they refute."""
    selected: tuple[int, ...] = ()
    """The scenarios with the prior and the purity of the values, over what selection may be alone."""

    @property
    def n_plain(self) -> int:
        """How many of them, the first ones, take the known positives for a random sample."""
        return sum(scenario.extreme is None for scenario in self.scenarios)

    @property
    def by_law(self) -> tuple[range, range, range]:
        """The scenarios under the law of the known positives, the smallest law and the largest."""
        n, plain = len(self.scenarios), range(self.n_plain)
        half = (n + len(plain)) // 2
        return (plain, range(len(plain), half), range(half, n)) if n > len(plain) else (plain, plain, plain)

    @property
    def middle(self) -> int:
        """The scenario of the values, where they have one: the middle of a grid."""
        return self.n_plain // 2

    @property
    def wide(self) -> bool:
        return len(self.scenarios) > 1


def prior_range(evidence: Evidence, confidence_level: float, thresholds: Iterable[float] = ()) -> Range:
    """The scenarios of evidence: one, or a grid where prior or purity is only known to a range.

    Where positives were selected, these come first, and again under each of the two extreme laws.
    """
    unknown = evidence.measure().unidentified is not None
    if (own := evidence.scenarios(thresholds)) is not None:
        return Range(*own, unknown=unknown)
    plain = (_unrefuted if unknown else _given)(evidence, confidence_level)
    extremes = evidence.selection.extremes
    if not extremes:
        return plain
    scenarios, notes, tilted = plain.scenarios, plain.notes, plain.scenarios
    if unknown:
        farther = _unrefuted(evidence, confidence_level, evidence.selection.gamma)
        notes, tilted = farther.notes, farther.scenarios
    # What an estimate rests on is SCAR too: it finds the least f_U/f_known, and that is α times the least w.
    estimated = evidence.prior.estimate is not None and evidence.scores_bound_prior
    factors = (1.0, 1 / evidence.selection.gamma, evidence.selection.gamma) if estimated else (1.0,)
    more = [[_scaled(s, x, evidence) for s in tilted] for x in factors]
    if not unknown and evidence.prior.value is None:
        # The prior that the evidence identifies is another under another law, in whichever way that bends.
        more = [[replace(s, identified_by=law) for s in tilted] for law in (None, *extremes)]
    blocks = [[replace(s, extreme=extreme) for s in block] for extreme in extremes for block in more]
    starts = len(scenarios) + len(tilted) * np.arange(len(blocks))
    kept = plain.unrefuted
    if estimated:
        text = (
            "The estimate of the prior rests on the known positives being a random sample too: with this "
            "selection the share among the unlabeled may be off by the same factor, and intervals cover that."
        )
        notes += (Note("prior", text),)
    return replace(
        plain,
        notes=notes,
        scenarios=(*scenarios, *(s for block in blocks for s in block)),
        unrefuted=kept
        and tuple(i for start in (0, *starts.tolist()) for i in (np.asarray(kept) + start).tolist()),
        selected=(plain.middle, *(starts + plain.middle).tolist()),
    )


def _scaled(scenario: Scenario, factor: float, evidence: Evidence) -> Scenario:
    """The scenario with α multiplied by a factor, as far as that is possible."""
    if factor == 1:
        return scenario
    sizes, purity = Sizes.of(evidence.table.support.sums()), scenario.purity
    of_all = (evidence.prior.population or evidence.population) == "all"
    alpha = factor * (sizes.alpha(scenario.prior, purity) if of_all else scenario.prior)
    # With known positives that are not pure, α stays below their purity.
    alpha = float(np.clip(alpha, 0.0, MOST * purity))
    prior = float(sizes.pi(alpha, purity)) if of_all else alpha
    return replace(scenario, prior=prior, times=prior / scenario.prior)


def _given(evidence: Evidence, confidence_level: float) -> Range:
    notes = refutations(evidence, confidence_level)
    both = evidence.prior.is_range and evidence.purity.is_range
    n = N_GRID_OF_TWO if both else N_GRID
    grids = evidence.prior.grid(n), evidence.purity.grid(n)
    scenarios = tuple(Scenario(prior=p, purity=r) for p, r in product(*grids))
    if not any(note.kind == "partly_refuted" for note in notes):
        return Range(scenarios, notes)
    # Up to the first point of the grid beyond the bound: what holds so far holds as far as the bound.
    upper = alpha_bound(evidence, confidence_level)
    n_kept = 1 + sum(float(evidence.alpha_of(prior)) <= upper for prior in grids[0])
    return Range(scenarios, notes, unrefuted=tuple(range(min(n_kept, len(grids[0])) * len(grids[1]))))


def drawn_scenarios(
    evidence: Evidence,
    scenarios: tuple[Scenario, ...],
    n: int,
    rng: np.random.Generator,
) -> tuple[Scenario, ...]:
    """The scenarios of ``n`` resamples: an estimate's replicates, each as often as the others."""
    prior, purity = evidence.prior, evidence.purity
    if prior.replicates is None and purity.replicates is None:
        return tuple(evidence.drawn(scenario, n, rng) for scenario in scenarios)
    # Replicates of prior and purity that were made together are drawn together.
    paired = (
        prior.replicates is not None
        and purity.replicates is not None
        and len(prior.replicates) == len(purity.replicates)
    )
    ranks = [(rng.permutation(n) + 0.5) / n for _ in range(2 - paired)]
    return tuple(
        replace(
            s,
            prior=s.prior if prior.replicates is None else s.times * prior.draw(ranks[0], n, rng),
            purity=s.purity if purity.replicates is None else purity.draw(ranks[-1], n, rng),
        )
        for s in scenarios
    )


def alpha_bound(evidence: Evidence, confidence_level: float, *, below: float | None = None) -> float:
    """The largest α that the scores do not refute, at the purity given.

    ``below``: what is clearly not below this may be returned as the purity.
    """
    purity = evidence.purity.high or evidence.purity.value or 1.0
    return purity * _pure_bound(evidence, confidence_level, None if below is None else below / purity)


def _pure_bound(evidence: Evidence, confidence_level: float, below: float | None = None) -> float:
    """The largest α not refuted if the known positives were pure.

    With purity ρ it is ρ times as large, since f₀ ≥ 0 means α f_P ≤ ρ f_U.
    """
    masses, sizes = _known_and_unlabeled(evidence)
    return upper_bound(*masses, *sizes, confidence_level, below=below)


def share_bounds(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """(α, κ): the largest α not refuted if the known positives were pure, and how impure they may be.

    f₁ ≥ 0 means (1−ρ) f_U ≤ (1−α) f_P, so that (1−ρ)/(1−α) is at most κ, the largest share of the unlabeled's
    distribution in that of the known positives: the same bound with the samples exchanged.
    """
    masses, sizes = _known_and_unlabeled(evidence)
    alpha = upper_bound(*masses, *sizes, confidence_level)
    return min(alpha, MOST), upper_bound(*masses[::-1], *sizes[::-1], confidence_level)


@dataclass(frozen=True, kw_only=True)
class Span:
    """The priors that the data leave open, and what they follow from where the purity may move too."""

    low: float
    high: float
    alpha_high: float | None = None
    kappa: float | None = None

    @property
    def wide(self) -> bool:
        return self.low < self.high


def open_priors(evidence: Evidence, confidence_level: float, *, one_sample: bool) -> Span | None:
    """π that the data leave open, the 99% range where the evidence identifies it; None with full labels."""
    if not evidence.prior_is_free:
        return None
    purity = evidence.purity.value or 1.0
    coarse = evidence.table.support.coarse(ATOMS)
    identified = identified_range(evidence, coarse, one_sample=one_sample)
    if identified is not None:
        least, most = 1e-6, 1 - 1e-6
        if evidence.population is not None:
            least, most = prior_span(evidence, MOST, None, purity)  # what the counts allow
        return Span(low=max(identified[0], least), high=min(identified[1], most))
    if evidence.population is None:
        return None
    alpha_high, kappa = share_bounds(evidence, confidence_level)
    of_purity = None if evidence.propensity_given else kappa  # propensities are of pure positives
    low, high = prior_span(evidence, alpha_high, of_purity, purity)
    return Span(low=low, high=high, alpha_high=alpha_high, kappa=of_purity)


def prior_span(
    evidence: Evidence, alpha_high: float, kappa: float | None, purity: float
) -> tuple[float, float]:
    """The lowest and the highest π that these bounds leave, at a purity."""
    high = alpha_high * purity
    if purity < 1 and kappa is not None:
        high = min(high, 1 - (1 - purity) / kappa) if kappa > 0 else 0.0
    ends = np.asarray([alpha_high * purity * LEAST, high])
    if evidence.population == "all":
        ends = Sizes.of(evidence.table.support.sums()).pi(ends, purity)
    return float(ends[0]), float(ends[1])


def _known_and_unlabeled(evidence: Evidence) -> tuple[tuple[Any, Any], tuple[float, float]]:
    """The masses of the known positives and of the unlabeled, and the rows that they stand for."""
    table = evidence.table
    n_positive, n_unlabeled = table.effective_rows(POSITIVE), table.effective_rows(UNLABELED)
    known = table.strata[POSITIVE]
    if isinstance(known, StratumRows) and known.value is not None:  # propensities make rows unequal
        weight = known.full_weight() * known.value
        n_positive = float(weight.sum() ** 2 / (weight**2).sum())
    masses = table.support.masses_around(POSITIVE, "value" if evidence.propensity_given else "weight")
    return (masses[POSITIVE], masses[UNLABELED]), (n_positive, n_unlabeled)


def _unrefuted(evidence: Evidence, confidence_level: float, gamma: float = 1.0) -> Range:
    # α w f_known ≤ f_U, and w may be as low as 1/Γ.
    bound = min(gamma * _pure_bound(evidence, confidence_level), MOST)
    sizes = Sizes.of(evidence.table.support.sums())
    n = N_GRID_OF_TWO if evidence.purity.is_range else N_GRID
    steps = np.append(LEAST, np.linspace(0, 1, n)[1:])
    pairs = [(float(bound * r * step), r) for step, r in product(steps, evidence.purity.grid(n)) if r]
    of_all = evidence.population == "all"
    scenarios = [Scenario(prior=float(sizes.pi(a, r)) if of_all else a, purity=r) for a, r in pairs]
    highest = max(scenario.prior for scenario in scenarios)
    note = Note(
        "identifiability",
        f"No prior was given: intervals of what needs one cover every prior that the data do not refute, "
        f"up to π = {highest:.4g}, as far as they are possible.",
    )
    return Range(tuple(scenarios), (note,), unknown=True)


def refutations(evidence: Evidence, confidence_level: float) -> tuple[Note, ...]:
    """What the data say against the prior, the purity and how the known rows were chosen."""
    if evidence.scores_bound_prior:
        return _refuted(evidence, confidence_level) + _impure(evidence, confidence_level)
    return _unmixed(evidence)


def _unmixed(evidence: Evidence) -> tuple[Note, ...]:
    """Whether the unlabeled are a mixture of known positives and negatives, as random samples of them are."""
    if not {POSITIVE, UNLABELED, NEGATIVE} <= set(evidence.table.strata) or evidence.selection.gamma > 1:
        return ()  # with selection they need not mix
    (positive, unlabeled), (n_positive, n_unlabeled) = _known_and_unlabeled(evidence)
    rows = np.asarray([n_unlabeled, n_positive, evidence.table.effective_rows(NEGATIVE)])
    if not enough_to_mix(*rows):
        return ()
    negative = evidence.table.support.masses_around(POSITIVE)[NEGATIVE]
    if can_be_mixed(np.asarray([unlabeled, positive, negative], dtype=np.float64), rows) >= 1 - SURE:
        return ()
    positives = "SCAR" if evidence.assumes_scar else "The propensities"
    note = (
        f"{positives} or the random choice of the known negatives is refuted by the data: whatever the share "
        f"of positives, the two do not mix to the scores of the unlabeled (confidence {SURE:g}). Say how the "
        "positives became known, by a selection, or leave out what is no random sample of its class."
    )
    return (Note("refuted", note),)


def _refuted(evidence: Evidence, confidence_level: float) -> tuple[Note, ...]:
    ends = evidence.alpha_ends()
    if not ends:
        return ()
    # An estimate's interval may pass the bound, its value may not; a range that does should be narrowed.
    value, is_range = float(evidence.alpha_of(evidence.prior.value)), evidence.prior.is_range
    claimed = ends[1] if is_range else value
    gamma = evidence.selection.gamma
    # α w f_known ≤ f_U, and selection lets w be as low as 1/Γ.
    at_random = alpha_bound(evidence, confidence_level, below=claimed / gamma)
    upper = gamma * at_random
    if claimed <= upper:
        return ()
    # Values are those of the middle of a range: where it is refuted, so are they.
    refuted = value > upper
    whole = "The prior is" if evidence.prior.estimate is None else "The prior's estimate is"
    middle = "The prior's range, from below its middle, where values are read, is"
    some = middle if refuted else "The upper part of the prior's range is"
    # Rounded up: what is named must suffice.
    explains = np.ceil(100 * claimed / max(at_random, 1e-12)) / 100
    at_gamma = "" if gamma == 1 else f", even with a selection of Γ = {gamma:g}"
    cause = (
        "Were the known positives found because they score high? Then they are no random sample: grant a "
        f"rising selection. Less than Γ = {explains:.3g} does not explain this, and the true one may be "
        "several times that. Lowering the prior would only hide it. If they are a random sample, lower "
        "the prior, or doubt the purity."
    )
    if evidence.propensity_given:
        cause = "Doubt the propensities, or lower the prior."
    note = (
        f"{some if is_range and ends[0] <= upper else whole} refuted by the data{at_gamma}: it puts "
        f"{'up to ' if is_range else ''}α = {claimed:.4g} positives among the unlabeled, and more than "
        f"{upper:.4g} would need more scores like the positives' there than were seen (confidence "
        f"{confidence_level:g}). {cause}"
    )
    return (Note("refuted" if refuted else "partly_refuted", note),)


def _impure(evidence: Evidence, confidence_level: float) -> tuple[Note, ...]:
    """Whether the known positives are purer than the purity given says."""
    purity, ends = max([evidence.purity.value or 1.0, *evidence.purity.ends()]), evidence.alpha_ends()
    if purity == 1 or not ends or evidence.purity.replicates is not None or ends[0] >= 1:
        return ()
    if evidence.selection.gamma > 1:  # known positives may look purer than they are
        return ()
    _, kappa = share_bounds(evidence, confidence_level)
    if 1 - purity <= kappa * (1 - ends[0]):
        return ()
    note = (
        f"The purity is refuted by the data: less than {1 - kappa * (1 - ends[0]):.4g} would need more "
        f"scores like the unlabeled's among the known positives than were seen (confidence "
        f"{confidence_level:g}). Raise the purity, or doubt that they are a random sample."
    )
    return (Note("refuted", note),)
