"""Known negatives: what they say of the prior, and how much weight their estimate of μ₁ deserves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from halftruth._checks import Vector
from halftruth._errors import NotIdentifiable, arg
from halftruth.measure._score_measure import Number, integral, ratio
from halftruth.prior._shares import NAMES
from halftruth.table._score_table import NEGATIVE, POSITIVE, UNLABELED
from halftruth.table._support import Column, Sums, Support


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
    pooled = sum(ratio(sums[x, "weight"], sums[x, "weight"].sum(axis=-1, keepdims=True)) for x in NAMES)
    contrast = positive - negative
    power = np.sum(pooled * contrast**2, axis=-1)
    power = np.where(power > 1e-24, power, np.nan)  # below that the contrast is rounding
    if np.ndim(power) == 0 and np.isnan(power):
        raise NotIdentifiable(
            "Known positives and known negatives have the same scores, so they do not identify the class "
            f"prior. Pass {arg('prior')}."
        )
    with np.errstate(divide="ignore", invalid="ignore"):
        return purity * np.sum(pooled * (unlabeled - negative) * contrast, axis=-1) / power


@dataclass(frozen=True, kw_only=True, eq=False)
class Noise:
    """How uncertain the strata's distribution functions are, averaged over the pooled scores.

    ``within`` is the variance of each F_k, ``gram`` the means of F_j F_k, in the order of `NAMES`.
    """

    within: Vector
    gram: Vector

    @classmethod
    def of(cls, support: Support, base: Column) -> Noise:
        sums = support.sums()
        pooled = np.sum([sums[name, "weight"] / sums[name, "weight"].sum() for name in NAMES], axis=0) / 3
        cdf, within = [], []
        for name in NAMES:
            column = base if name == POSITIVE else (name, "weight")
            cells = support.strata[name]
            # A weight is a number of rows; propensities make rows unequal.
            sums_of = cells.totals(cells.count, None)
            effective = sums_of[column[1]].sum() ** 2 / (sums_of[column[1]] ** 2 / sums_of["weight"]).sum()
            own = np.cumsum(sums[column]) / sums[column].sum()
            within.append(integral(own * (1 - own), pooled) / effective)
            cdf.append(own)
        gram = [[integral(a * b, pooled) for b in cdf] for a in cdf]
        return cls(within=np.asarray(within), gram=np.asarray(gram))


@dataclass(frozen=True, kw_only=True, eq=False)
class Linear:
    """An estimate of μ₁/n: Σ_k ``on`` _k F_k, and how its coefficients move with the stratum shares.

    ``on`` has shape (..., 3); ``moves`` (..., 3, 3), its row k the change of the coefficients with share k.
    """

    on: Vector
    moves: Vector | None = None


def mixing_weight(first: Linear, second: Linear, noise: Noise, shares: Vector, n: Number) -> Vector:
    """The weight of the second estimate that makes the variance of the mix least.

    The covariance has a part from the rows within the strata and, where the shares of the strata vary (one
    table), a part from their multinomial sizes.
    """

    def covariance(a: Linear, b: Linear) -> Number:
        out = np.sum(a.on * b.on * noise.within, axis=-1)
        if a.moves is None or b.moves is None:
            return out
        mean_a, mean_b = np.sum(shares[..., None] * a.moves, -2), np.sum(shares[..., None] * b.moves, -2)
        both = np.sum(shares * _form(a.moves, b.moves, noise.gram), axis=-1)
        return out + (both - _form(mean_a, mean_b, noise.gram)) / n

    shared, rest = covariance(first, second), covariance(second, second)
    gain = covariance(first, first) - shared
    spread = gain + rest - shared
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.where(spread > 0, gain / spread, 0.0)
    return np.clip(weight, 0.0, 1.0)


def _form(a: Vector, b: Vector, gram: Vector) -> Vector:
    """aᵀ G b along the last axes."""
    return np.asarray(np.sum(a[..., :, None] * gram * b[..., None, :], axis=(-2, -1)))
