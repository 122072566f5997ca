"""Two estimates of μ₁ from known positives, unlabeled and known negatives, and how they are mixed.

Both are linear in the distribution functions F_P, F_U, F_N of the strata, so that a few coefficients say all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from halftruth._checks import Vector
from halftruth._errors import NotIdentifiable, arg
from halftruth.measure._arithmetic import Number, integral, ratio
from halftruth.prior._shares import NAMES, Sizes, from_positives
from halftruth.table._score_table import NEGATIVE, POSITIVE, UNLABELED
from halftruth.table._support import Column, Sums, Support

__all__ = ["StrataNoise", "StrataSum", "mixture_share", "two_estimates"]


def mixture_share(sums: Sums, positive_column: Column, purity: Number) -> Number:
    """α from P, N and U: the least-squares fit of F_U − F_N by α (F₁ − F_N).

    With purity ρ, F_P − F_N = ρ (F₁ − F_N). Distribution functions are compared over the pooled
    scores, so only their order matters.
    """

    def cdf(column: Column) -> Number:
        cumulative = np.cumsum(sums[column], axis=-1)
        return cumulative / cumulative[..., -1:]

    positive, unlabeled, negative = (
        cdf(column) for column in (positive_column, (UNLABELED, "weight"), (NEGATIVE, "weight"))
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
class StrataNoise:
    """How uncertain the strata's distribution functions are, averaged over the pooled scores.

    ``within`` is the variance of each F_k, ``gram`` the means of F_j F_k, in the order of `NAMES`.
    """

    within: Vector
    gram: Vector

    @classmethod
    def of(cls, support: Support, positive_column: Column) -> StrataNoise:
        sums = support.sums()
        pooled = np.sum([sums[name, "weight"] / sums[name, "weight"].sum() for name in NAMES], axis=0) / 3
        cdfs, within = [], []
        for name in NAMES:
            column = positive_column if name == POSITIVE else (name, "weight")
            cells = support.strata[name]
            # A weight is a number of rows; propensities make rows unequal, and n becomes (Σv)²/Σv².
            totals = cells.totals(cells.count, None)
            effective = totals[column[1]].sum() ** 2 / (totals[column[1]] ** 2 / totals["weight"]).sum()
            cdf = np.cumsum(sums[column]) / sums[column].sum()
            # An empirical F has the variance F(1−F)/n at each score.
            within.append(integral(cdf * (1 - cdf), pooled) / effective)
            cdfs.append(cdf)
        gram = [[integral(a * b, pooled) for b in cdfs] for a in cdfs]
        return cls(within=np.asarray(within), gram=np.asarray(gram))


@dataclass(frozen=True, kw_only=True, eq=False)
class StrataSum:
    """An estimate of μ₁/n: Σ_k ``on`` _k F_k, and how its coefficients move with the stratum shares.

    ``on`` has shape (..., 3); ``moves`` (..., 3, 3), its row k the change of the coefficients with share k;
    None where the sizes of the strata are fixed.
    """

    on: Vector
    moves: Vector | None = None


def two_estimates(
    prior: Number,
    purity: Number,
    alpha: Number,
    sizes: Sizes,
    n: Number,
    noise: StrataNoise | None,
    *,
    one_sample: bool,
) -> tuple[StrataSum, StrataSum, Number]:
    """μ₁ through the positives and through the negatives, and the weight of the second: 0 without noise."""
    first = _through_positives(prior, purity, alpha, sizes, one_sample=one_sample)
    second = _through_negatives(prior, sizes, one_sample=one_sample)
    mix = 0.0 if noise is None else _mixing_weight(first, second, noise, sizes.shares, n)[..., None]
    return first, second, mix


def _through_positives(
    prior: Number, purity: Number, alpha: Number, sizes: Sizes, *, one_sample: bool
) -> StrataSum:
    """π f̂₁, with f̂₁ from the known positives (and the unlabeled, where those are not pure)."""
    prior, purity, alpha = np.broadcast_arrays(prior, purity, alpha)
    zero = np.zeros(prior.shape)
    on = np.stack([*from_positives(prior, purity, alpha), zero], axis=-1)
    if not one_sample:
        return StrataSum(on=on)
    # With π fixed, α = (π − ρ p_P)/p_U moves with the shares p of the strata in the table, and with it
    # the coefficients, whose derivative by α is ± π (1−ρ)/(ρ−α)².
    gap = np.where(purity - alpha > 1e-12, purity - alpha, np.nan)
    with_alpha = np.where(purity == 1, 0.0, prior * (1 - purity) / gap**2)
    change = np.stack([with_alpha, -with_alpha, zero], axis=-1)
    alpha_moves = ratio(np.stack([-purity, -alpha, zero], axis=-1), sizes.shares[..., 1:2])
    return StrataSum(on=on, moves=alpha_moves[..., :, None] * change[..., None, :])


def _through_negatives(prior: Number, sizes: Sizes, *, one_sample: bool) -> StrataSum:
    """μ̂ − (1−π) N/n_N: what is left of the population when the negatives are taken out."""
    negatives = np.asarray(1 - prior)[..., None] * np.asarray([0.0, 0.0, 1.0])
    if not one_sample:
        return StrataSum(on=np.asarray([0.0, 1.0, 0.0]) - negatives)
    return StrataSum(on=sizes.shares - negatives, moves=np.eye(3))


def _mixing_weight(
    first: StrataSum, second: StrataSum, noise: StrataNoise, shares: Vector, n: Number
) -> Vector:
    """The weight of the second estimate that makes the variance of the mix least.

    The covariance has a part from the rows within the strata and, where the shares of the strata vary (one
    table), a part from their multinomial sizes.
    """

    def covariance(a: StrataSum, b: StrataSum) -> Number:
        out = np.sum(a.on * b.on * noise.within, axis=-1)
        if a.moves is None or b.moves is None:
            return out
        # Shares p̂ are multinomial: n cov(a, b) = Σ_k p_k a_k b_k − (Σ_k p_k a_k)(Σ_k p_k b_k).
        mean_a, mean_b = np.sum(shares[..., None] * a.moves, -2), np.sum(shares[..., None] * b.moves, -2)
        both = np.sum(shares * _form(a.moves, b.moves, noise.gram), axis=-1)
        return out + (both - _form(mean_a, mean_b, noise.gram)) / n

    # Var((1−w) A + w B) is least at w = (Var A − Cov) / (Var A + Var B − 2 Cov).
    shared, rest = covariance(first, second), covariance(second, second)
    gain = covariance(first, first) - shared
    spread = gain + rest - shared
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.where(spread > 0, gain / spread, 0.0)
    return np.clip(weight, 0.0, 1.0)


def _form(a: Vector, b: Vector, gram: Vector) -> Vector:
    """aᵀ G b along the last axes."""
    return np.asarray(np.sum(a[..., :, None] * gram * b[..., None, :], axis=(-2, -1)))
