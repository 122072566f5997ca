"""Rows drawn from a generator, with the truth that real data hide, and the designs they are drawn by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from halftruth import _checks
from halftruth._errors import InputError

__all__ = [
    "Draw", "FloatArray", "IntArray", "PopulationChoice", "Propensity", "PuDesign", "Rng", "Strata",
]  # fmt: skip

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
Rng: TypeAlias = int | np.random.Generator
Propensity: TypeAlias = Callable[[FloatArray], FloatArray]
PopulationChoice: TypeAlias = Literal["unlabeled", "all"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Draw:
    """Rows of a generator: the score, the true class and what lies behind them.

    Attributes
    ----------
    score : ndarray of shape (n,)
        What a classifier would give.
    y : ndarray of shape (n,)
        The true class, 0 or 1.
    posterior : ndarray of shape (n,)
        P(Y=1 | x) in the population.
    x : ndarray of shape (n,) or (n, d)
        The features.
    """

    score: FloatArray
    y: IntArray
    posterior: FloatArray
    x: FloatArray

    def __post_init__(self) -> None:
        for array in (self.score, self.y, self.posterior, self.x):
            array.flags.writeable = False

    def __len__(self) -> int:
        return int(self.y.size)

    def __repr__(self) -> str:
        return f"Draw(n={len(self)}, positives={int(self.y.sum())})"


@dataclass(frozen=True, kw_only=True, eq=False)
class Strata:
    """The rows behind positive-unlabeled evidence, with their true classes.

    Attributes
    ----------
    positive, unlabeled, negative : Draw
        The rows called positive, the unlabeled rows, the known negatives (possibly none).
    propensity : ndarray of shape (n_positive,) or None
        P(labeled | Y=1, x) of each known positive, where the labels depend on x.

    Examples
    --------
    >>> from halftruth.simulate import GaussianClasses
    >>> strata = GaussianClasses().draw_strata(50, 200, rng=0, purity=0.8)
    >>> len(strata.positive), len(strata.unlabeled), len(strata.negative)
    (50, 200, 0)
    """

    positive: Draw
    unlabeled: Draw
    negative: Draw
    propensity: FloatArray | None = None

    def __post_init__(self) -> None:
        if self.propensity is not None:
            frozen = self.propensity.view()  # the array that was given stays its owner's
            frozen.flags.writeable = False
            object.__setattr__(self, "propensity", frozen)


@dataclass(frozen=True)
class PuDesign:
    """Sizes and labeling of a positive-unlabeled sample."""

    n_positive: int
    n_unlabeled: int
    n_negative: int = 0
    purity: float = 1.0
    population: PopulationChoice = "unlabeled"
    propensity: Propensity | None = None

    def __post_init__(self) -> None:
        _checks.choice(self.population, "population", ("unlabeled", "all"))
        random_size = self.propensity is not None and self.population == "all"
        _checks.count(self.n_positive, "n_positive", least=0 if random_size else 1)
        _checks.count(self.n_unlabeled, "n_unlabeled", least=1)
        _checks.count(self.n_negative, "n_negative", least=0)
        advice = "Pass the share of the known positives that are positive."
        _checks.inside(self.purity, "purity", 0.0, 1.0, closed="right", advice=advice)
        if self.propensity is not None and self.purity < 1.0:
            must, got = "be 1 with a propensity", f"{self.purity!r}: the two together are not identifiable"
            raise InputError(argument="purity", must=must, got=got, remedy="Drop one of them.")

    @property
    def total(self) -> int:
        """Number of rows in all strata."""
        return self.n_positive + self.n_unlabeled + self.n_negative

    def alpha(self, prior: float) -> float:
        """The share of positives among the unlabeled rows, where labels do not depend on x."""
        if self.population == "unlabeled":
            return prior
        known = self.purity * self.n_positive
        alpha = (prior * self.total - known) / self.n_unlabeled
        if not -1e-12 <= alpha <= 1.0 + 1e-12:
            low, high = known / self.total, (known + self.n_unlabeled) / self.total
            must = f"lie in [{low:.6g}, {high:.6g}] for these sizes"
            got = f"{prior:g}: the unlabeled rows would hold a share {alpha:.6g} of positives"
            remedy = "Change n_positive, n_unlabeled, n_negative or purity."
            raise InputError(argument="prior", must=must, got=got, remedy=remedy)
        return min(max(alpha, 0.0), 1.0)
