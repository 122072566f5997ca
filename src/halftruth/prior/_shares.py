"""The arithmetic of π and α: stratum sizes, the conversion, and what the counts rule out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from halftruth._checks import Vector
from halftruth._errors import InputError, arg
from halftruth.measure._mass_rule import total
from halftruth.measure._score_measure import Number, ratio
from halftruth.table._score_table import NEGATIVE, POSITIVE, UNLABELED
from halftruth.table._support import Sums

__all__ = ["NAMES", "Sizes", "from_positives", "refuse_prior", "refuse_purity"]

NAMES = (POSITIVE, UNLABELED, NEGATIVE)


@dataclass(frozen=True)
class Sizes:
    """Weight of each stratum: n_P, n_U, n_N."""

    positive: Number
    unlabeled: Number
    negative: Number

    @classmethod
    def of(cls, sums: Sums) -> Sizes:
        return cls(*(total(sums, (name, "weight")) for name in NAMES))

    @property
    def n(self) -> Number:
        return self.positive + self.unlabeled + self.negative

    @property
    def shares(self) -> Vector:
        """Share of each stratum in the whole table, (..., 3) in the order of `NAMES`."""
        weights = np.stack(np.broadcast_arrays(self.positive, self.unlabeled, self.negative), -1)
        return ratio(weights, np.asarray(self.n)[..., None])

    def alpha(self, prior: Number, purity: Number) -> Number:
        """α from the prior of the whole table: π n = ρ n_P + α n_U."""
        return ratio(prior * self.n - purity * self.positive, self.unlabeled)

    def pi(self, alpha: Number, purity: Number) -> Number:
        """The prior of the whole table from α."""
        return ratio(purity * self.positive + alpha * self.unlabeled, self.n)


def from_positives(prior: Number, purity: Number, alpha: Number) -> tuple[Vector, Vector]:
    """What π f̂₁ takes of the distributions of P and of U; NaN where P is no purer than U."""
    prior, purity, alpha = np.broadcast_arrays(prior, purity, alpha)
    pure = purity == 1
    # P = ρ f₁ + (1−ρ) f₀ and U = α f₁ + (1−α) f₀, solved for f₁: [(1−α) P − (1−ρ) U]/(ρ−α).
    gap = np.where(purity - alpha > 1e-12, purity - alpha, np.nan)
    return (
        np.where(pure, prior, prior * (1 - alpha) / gap),
        np.where(pure, 0.0, -prior * (1 - purity) / gap),
    )


def refuse_prior(prior: float, purity: float, alpha: float, sizes: Sizes, population: str) -> None:
    """Raise where a prior cannot go with the counts."""
    slack = 1e-12
    if -slack <= alpha <= 1 + slack:
        return
    if population == "unlabeled":
        raise InputError(
            f"{arg('prior')} gives a share of {alpha:.4g} positives among the unlabeled, outside [0, 1]. "
            "Pass an estimate made for these rows."
        )
    low, high = float(sizes.pi(0.0, purity)), float(sizes.pi(1.0, purity))
    raise InputError(
        f"{arg('prior')} must lie in [{low:.6g}, {high:.6g}], what the counts allow in this table "
        f"(n_P={_count(sizes.positive)}, n_U={_count(sizes.unlabeled)}, n_N={_count(sizes.negative)}, "
        f"{arg('purity', purity)}); got {prior:g}. With {arg('population', 'all')} the prior is the share of "
        f"positives among all rows; pass {arg('population', 'unlabeled')} if it is the share among the "
        "unlabeled."
    )


def _count(weight: Number) -> str:
    """A number of rows in full; weights may make it a fraction."""
    size = float(weight)
    return f"{size:,.15g}" if size.is_integer() else f"{size:,.6g}"


def refuse_purity(purity: float, alpha: float) -> None:
    """Raise where the known positives are no purer than the unlabeled."""
    if purity <= alpha and purity < 1:
        raise InputError(
            argument="purity",
            must="exceed the share of positives among the unlabeled",
            got=f"{arg('purity', purity)} and α={alpha:.4g}: the known positives would say nothing",
            remedy="Check which share is which.",
        )
