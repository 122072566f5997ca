"""The likeliest laws of the scores for which the labels, the shares and a concave ROC curve go together.

Labeled rows follow f_L = ρ f₁ + (1−ρ) f₀, unlabeled rows f_U = α f₁ + (1−α) f₀. That f₁ and f₀ are nowhere
negative keeps f_L/f_U between (1−ρ)/(1−α) and ρ/α, and a concave ROC curve lets it only rise with the score.
Only this ratio is bound, so at the maximum of the likelihood B f_L + A f_U are the rows at each score, for
two multipliers with A + B = n. The rows are labeled with chance q = B f_L/(B f_L + A f_U), the isotonic
regression of the labels on the score, cut off at the bounds. B is such that both laws sum to one; where no
bound is reached it is n_L.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector

TINY = 1e-12
"""Chance of a label where no row has one, so that every pair of shares is fitted by some laws."""
ROUNDING = 1e-12
FARTHEST = 40.0
"""Where log B/A is looked for, on either side of 0."""


def likeliest(labeled: Vector, unlabeled: Vector, alpha: float, purity: float) -> tuple[Vector, Vector]:
    """f₁ and f₀ at each score, ascending.

    Parameters
    ----------
    labeled, unlabeled : (m,) arrays
        Rows at each score.
    alpha, purity : float
        NaN comes back where they say nothing, alpha ≥ purity.
    """
    rows = labeled + unlabeled
    if not (0 <= alpha < purity <= 1 and labeled.sum() > 0 and unlabeled.sum() > 0):
        return np.full(len(rows), np.nan), np.full(len(rows), np.nan)
    used = rows > 0
    blocks = _Blocks.of(labeled[used], rows[used])
    f1, f0 = blocks.laws(alpha, purity)
    out = np.zeros((2, len(rows)))
    out[:, used] = np.stack([f1, f0])[:, blocks.number] * (rows[used] / blocks.size[blocks.number])
    return out[0], out[1]


@dataclass(frozen=True)
class _Blocks:
    """Neighbouring scores where the isotonic regression is constant."""

    number: NDArray[np.intp]
    """Of the block, at each score."""
    size: Vector
    """Rows."""
    labeled: Vector

    @property
    def unlabeled(self) -> Vector:
        return self.size - self.labeled

    @classmethod
    def of(cls, labeled: Vector, rows: Vector) -> _Blocks:
        from scipy.optimize import isotonic_regression

        start = isotonic_regression(labeled / rows, weights=rows).blocks
        number = np.repeat(np.arange(len(start) - 1), np.diff(start))
        return cls(number, np.add.reduceat(rows, start[:-1]), np.add.reduceat(labeled, start[:-1]))

    def laws(self, alpha: float, purity: float) -> tuple[Vector, Vector]:
        """f₁ and f₀ of each block."""
        low, high = (1 - purity) / (1 - alpha), purity / alpha if alpha > 0 else np.inf
        cut = _Cut(np.clip(self.labeled / self.size, TINY, 1 - TINY), self.size, low, high)
        with_label, without = cut.rows(cut.balanced(float(np.log(self.labeled.sum() / self.unlabeled.sum()))))
        f_l, f_u = with_label / with_label.sum(), without / without.sum()
        f1 = np.maximum((1 - alpha) * f_l - (1 - purity) * f_u, 0.0)
        f0 = np.maximum(purity * f_u - alpha * f_l, 0.0)
        # What is zero at a bound shall not be there by rounding.
        f1, f0 = (np.where(f > ROUNDING * (f_l + f_u), f, 0.0) for f in (f1, f0))
        return f1 / f1.sum(), f0 / f0.sum()


@dataclass(frozen=True)
class _Cut:
    """Chances of a label, cut off at what the bounds on f_L/f_U make of them."""

    chance: Vector
    size: Vector
    low: float
    high: float

    def rows(self, odds: float) -> tuple[Vector, Vector]:
        """With and without a label in each block, where log B/A is ``odds``."""
        low, high = self.low * np.exp(odds), self.high * np.exp(odds)
        with_label = np.clip(self.chance, low / (1 + low), 1 / (1 + 1 / high))
        without = np.clip(1 - self.chance, 1 / (1 + high), 1 / (1 + low))
        return self.size * with_label, self.size * without

    def balanced(self, start: float) -> float:
        """The log of B/A for which the rows with a label number B."""
        from scipy.optimize import brentq

        if abs(self._over(start)) <= ROUNDING * self.size.sum():
            return start
        return float(brentq(self._over, -FARTHEST, FARTHEST, xtol=1e-13))

    def _over(self, odds: float) -> float:
        """How many rows too many have a label; by those without, where they are fewer."""
        with_label, without = self.rows(odds)
        if odds < 0:
            return float(with_label.sum() - self.size.sum() / (1 + np.exp(-odds)))
        return float(self.size.sum() / (1 + np.exp(odds)) - without.sum())
