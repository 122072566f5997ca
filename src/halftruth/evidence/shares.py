"""The arithmetic of π and α: stratum sizes, the conversion, and the mixture fit with negatives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from halftruth.errors import InputError, NotIdentifiable
from halftruth.measure import Number, ratio
from halftruth.rule import total
from halftruth.support import Column, Sums
from halftruth.table import NEGATIVE, POSITIVE, UNLABELED


@dataclass(frozen=True)
class Sizes:
    """Weight of each stratum: n_P, n_U, n_N."""

    positive: Number
    unlabeled: Number
    negative: Number

    @classmethod
    def of(cls, sums: Sums) -> Sizes:
        return cls(*(total(sums, (name, "weight")) for name in (POSITIVE, UNLABELED, NEGATIVE)))

    @property
    def n(self) -> Number:
        return self.positive + self.unlabeled + self.negative

    def rows(self, name: str) -> Number:
        return {POSITIVE: self.positive, UNLABELED: self.unlabeled, NEGATIVE: self.negative}[name]

    def shares(self) -> dict[str, Number]:
        """Each stratum's share of the whole table."""
        names = (POSITIVE, UNLABELED, NEGATIVE)
        return {name: self.rows(name) / self.n for name in names if np.any(self.rows(name) != 0)}

    def alpha(self, prior: Number, purity: Number) -> Number:
        """α from the prior of the whole table: π n = ρ n_P + α n_U."""
        return ratio(prior * self.n - purity * self.positive, self.unlabeled)

    def pi(self, alpha: Number, purity: Number) -> Number:
        """The prior of the whole table from α."""
        return ratio(purity * self.positive + alpha * self.unlabeled, self.n)


def refuse_prior(prior: float, purity: float, alpha: float, sizes: Sizes, population: str) -> None:
    """Raise where a prior cannot go with the counts."""
    slack = 1e-12
    if -slack <= alpha <= 1 + slack:
        return
    if population == "unlabeled":
        raise InputError(
            f"`prior` gives a share of {alpha:.4g} positives among the unlabeled, outside [0, 1]. "
            f"Pass an estimate made for these rows."
        )
    low, high = float(sizes.pi(0.0, purity)), float(sizes.pi(1.0, purity))
    raise InputError(
        f"`prior` must lie in [{low:.6g}, {high:.6g}], what the counts allow in this table "
        f"(n_P={float(sizes.positive):g}, n_U={float(sizes.unlabeled):g}, "
        f"n_N={float(sizes.negative):g}, purity={purity:g}); got {prior:g}. With "
        f'population="all" the prior is the share of positives among all rows; pass '
        f'population="unlabeled" if it is the share among the unlabeled.'
    )


def refuse_purity(purity: float, alpha: float) -> None:
    """Raise where the known positives are no purer than the unlabeled."""
    if purity <= alpha and purity < 1:
        raise InputError(
            f"`purity` must exceed the share of positives among the unlabeled, got purity={purity:g} "
            f"and α={alpha:.4g}: the known positives would say nothing. Check which share is which."
        )


def mixture_share(sums: Sums, base: Column, purity: Number) -> Number:
    """α from P, N and U: the least-squares fit of F_U − F_N by α (F₁ − F_N).

    With purity ρ, F_P − F_N = ρ (F₁ − F_N). Distribution functions are compared over the pooled
    scores, so only their order matters.
    """

    def cdf(column: Column) -> Number:
        cumulative = np.cumsum(sums[column], axis=-1)
        return cumulative / cumulative[..., -1:]

    positive, unlabeled, negative = (
        cdf(column) for column in (base, (UNLABELED, "weight"), (NEGATIVE, "weight"))
    )
    pooled = sum(sums[name, "weight"] for name in (POSITIVE, UNLABELED, NEGATIVE))
    contrast = positive - negative
    power = np.sum(pooled * contrast**2, axis=-1)
    if np.ndim(power) == 0 and power == 0:
        raise NotIdentifiable(
            "Known positives and known negatives have the same scores, so they do not identify the "
            "class prior. Pass `prior`."
        )
    with np.errstate(divide="ignore", invalid="ignore"):
        return purity * np.sum(pooled * (unlabeled - negative) * contrast, axis=-1) / power
