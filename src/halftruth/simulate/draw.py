"""Rows drawn from a generator, with the truth that real data hide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]


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

    Examples
    --------
    >>> from halftruth.simulate import GaussianClasses
    >>> draw = GaussianClasses().draw(5, rng=0)
    >>> len(draw), draw.y.shape
    (5, (5,))
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
