"""What a risk takes of each stratum: the rule of the measure, for losses in the place of masses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from halftruth import _checks
from halftruth._errors import InputError
from halftruth.evidence.positive_unlabeled import POPULATIONS
from halftruth.prior._shares import Sizes, from_positives, refuse_prior, refuse_purity

Three = tuple[float, float, float]


@dataclass(frozen=True)
class RiskWeights:
    """R⁺ = Σ_k positive_k E_k[ℓ(g)] and R⁻ = Σ_k negative_k E_k[ℓ(−g)], over the strata P, U and N."""

    positive: Three
    negative: Three

    @property
    def used(self) -> tuple[bool, bool, bool]:
        """Which strata the risk looks at."""
        p, u, n = (a != 0 or b != 0 for a, b in zip(self.positive, self.negative, strict=True))
        return p, u, n


def risk_weights(
    prior: float,
    *,
    purity: float = 1.0,
    population: str = "unlabeled",
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
    whole, alpha = np.asarray([0.0, 1.0, 0.0]), prior
    rows = _sizes(sizes, needed=population == "all")
    if population == "all":
        assert rows is not None
        whole, alpha = rows.shares, float(rows.alpha(prior, purity))
        refuse_prior(prior, purity, alpha, rows, population)
    refuse_purity(purity, alpha)
    own = np.asarray([*map(float, from_positives(prior, purity, alpha)), 0.0])
    plus, minus = own, whole - own
    if eta is not None:
        eta = _checks.inside(eta, "eta", -1.0, 1.0, closed="both", advice="Pass 1 for P and U alone.")
        known = np.asarray([0.0, 0.0, 1 - prior])
        plus = own if eta >= 0 else (1 + eta) * own - eta * (whole - known)
        minus = (1 - eta) * known + eta * (whole - own) if eta >= 0 else known
    if target_prior is not None:
        wanted = _checks.share(target_prior, "target_prior")
        plus, minus = plus * (wanted / prior), minus * ((1 - wanted) / (1 - prior))
    return RiskWeights(_three(plus), _three(minus))


def _three(values: Any) -> Three:
    p, u, n = (float(value) for value in values)
    return p, u, n


def _sizes(sizes: Any, *, needed: bool) -> Sizes | None:
    """How many rows of each stratum there are, where that was said."""
    if sizes is None and not needed:
        return None
    listed = sizes.tolist() if isinstance(sizes, np.ndarray) else sizes
    if not isinstance(listed, (tuple, list)) or len(listed) not in (2, 3):
        raise InputError(
            f'`sizes` must be (n_P, n_U) or (n_P, n_U, n_N), needed with population="all", got {sizes!r}: '
            f"how much of the population the known positives are hangs on them."
        )
    least = (1, 1, 0)
    counts = [_checks.count(size, "sizes", least=low) for size, low in zip(listed, least, strict=False)]
    return Sizes(*(float(count) for count in (*counts, 0)[:3]))
