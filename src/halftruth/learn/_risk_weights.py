"""What a risk takes of each stratum: the rule of the measure, for losses in the place of masses.

With known negatives beside unlabeled rows `balanced_eta` says how much each should tell (PNU: Sakai,
du Plessis, Niu & Sugiyama 2017).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, arg
from halftruth.evidence._evidence import Population
from halftruth.evidence._positive_unlabeled import POPULATIONS
from halftruth.prior._shares import Sizes, from_positives, refuse_prior, refuse_purity

__all__ = ["RiskWeights", "StratumWeights", "balanced_eta", "risk_weights"]

StratumWeights: TypeAlias = tuple[float, float, float]  # of P, U and N


@dataclass(frozen=True)
class RiskWeights:
    """R⁺ = Σ_k positive_k E_k[ℓ(g)] and R⁻ = Σ_k negative_k E_k[ℓ(−g)], over the strata P, U and N."""

    positive: StratumWeights
    negative: StratumWeights

    @property
    def used(self) -> tuple[bool, bool, bool]:
        """Which strata the risk looks at."""
        p, u, n = (a != 0 or b != 0 for a, b in zip(self.positive, self.negative, strict=True))
        return p, u, n


def risk_weights(
    prior: float,
    *,
    purity: float = 1.0,
    population: Population = "unlabeled",
    sizes: Sequence[int] | None = None,
    eta: float | None = None,
    target_prior: float | None = None,
) -> RiskWeights:
    """Weights by which means over the strata add up to the expected loss, without bias.

    Parameters
    ----------
    prior : float
        π of the population.
    purity : float
        Share ρ of the known positives that are positive; the others are a random sample of the negatives.
    population : {"unlabeled", "all"}
        Whether U is the population, or all rows of the table are.
    sizes : (n_P, n_U) or (n_P, n_U, n_N)
        Rows of the whole table; ``population="all"`` needs them.
    eta : float in [−1, 1], optional
        With known negatives: (1−η) R_PN + η R_PU where η ≥ 0, (1+η) R_PN − η R_NU where it is below.
    target_prior : float, optional
        π′: the risk of a population with this share of positives, whose classes are what they are.

    Returns
    -------
    RiskWeights

    Examples
    --------
    >>> risk_weights(0.25)
    RiskWeights(positive=(0.25, 0.0, 0.0), negative=(-0.25, 1.0, 0.0))
    >>> risk_weights(0.25, eta=0.5).negative
    (-0.125, 0.5, 0.375)
    """
    prior = _checks.share(prior, "prior")
    purity = _checks.share(purity, "purity", closed_at_one=True)
    _checks.choice(population, "population", POPULATIONS)
    # μ takes the strata by `of_all`, its positive part π f₁ by `of_positives`; U alone is the population,
    # or all rows are and α follows from π n = ρ n_P + α n_U.
    of_all, alpha = np.asarray([0.0, 1.0, 0.0]), prior
    rows = _sizes(sizes, needed=population == "all")
    if population == "all":
        assert rows is not None
        of_all, alpha = rows.shares, float(rows.alpha(prior, purity))
        refuse_prior(prior, purity, alpha, rows, population)
    refuse_purity(purity, alpha)
    of_positives = np.asarray([*map(float, from_positives(prior, purity, alpha)), 0.0])
    plus, minus = of_positives, of_all - of_positives
    if eta is not None:
        eta = _checks.inside(eta, "eta", -1.0, 1.0, closed="both", advice="Pass 1 for P and U alone.")
        # Known negatives give the negative part directly, and by the difference a positive part too.
        of_negatives = np.asarray([0.0, 0.0, 1 - prior])
        if eta >= 0:
            minus = (1 - eta) * of_negatives + eta * (of_all - of_positives)
        else:
            plus, minus = (1 + eta) * of_positives - eta * (of_all - of_negatives), of_negatives
    if target_prior is not None:
        target = _checks.share(target_prior, "target_prior")
        plus, minus = plus * (target / prior), minus * ((1 - target) / (1 - prior))
    return RiskWeights(_three(plus), _three(minus))


def _three(values: Iterable[float]) -> StratumWeights:
    p, u, n = (float(value) for value in values)
    return p, u, n


def _sizes(sizes: Sequence[int] | None, *, needed: bool) -> Sizes | None:
    """How many rows of each stratum there are, where that was said."""
    if sizes is None and not needed:
        return None
    listed = sizes.tolist() if isinstance(sizes, np.ndarray) else sizes
    if not isinstance(listed, (tuple, list)) or len(listed) not in (2, 3):
        raise InputError(
            argument="sizes",
            must=f"be (n_P, n_U) or (n_P, n_U, n_N), needed with {arg('population', 'all')}",
            got=f"{sizes!r}: how much of the population the known positives are hangs on them",
        )
    least = (1, 1, 0)
    counts = [_checks.count(size, "sizes", least=low) for size, low in zip(listed, least, strict=False)]
    return Sizes(*(float(count) for count in (*counts, 0)[:3]))


def balanced_eta(
    prior: float, sizes: Sequence[int], *, purity: float = 1.0, population: Population = "unlabeled"
) -> float:
    """The η at which the risk is least noisy, were the losses of all rows equally spread.

    The variance of R⁺ and R⁻ is then Σ weight²/n over the strata. Weights are straight lines in η on either
    side of 0, so that their sum is a parabola there. What R_PU changes in R⁻ is what R_NU changes in R⁺: of
    the two lowest points the one farther from 0 is the lower. ``sizes`` are n_P, n_U and n_N.

    Examples
    --------
    Few negatives beside many unlabeled rows and positives: mostly P and U.

    >>> round(balanced_eta(0.5, (1000, 10_000, 100)), 3)
    0.877

    Few positives: mostly N and U in their place.

    >>> round(balanced_eta(0.5, (100, 10_000, 1000)), 3)
    -0.877
    """
    deviations = []
    for eta in (1.0, 0.0, -1.0):
        weights = risk_weights(prior, purity=purity, population=population, sizes=sizes, eta=eta)
        # Weights over √n: their squares add up to the variance.
        deviations.append(np.asarray([weights.positive, weights.negative]) / np.sqrt(sizes))
    pu, pn, nu = deviations
    up, down = _lowest(pn, pu), _lowest(pn, nu)
    return up if up >= down else -down


def _lowest(start: Vector, end: Vector) -> float:
    """Where on the way from one to the other the sum of squares is least."""
    step = end - start
    return float(np.clip(-(start * step).sum() / (step**2).sum(), 0.0, 1.0))
