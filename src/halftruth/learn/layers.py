"""A trained network as plain arrays: what was learned needs no PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
Layer = tuple[Matrix, Matrix]
"""Weights (inputs, outputs) and constants (1, outputs)."""


def logits(layers: Sequence[Layer], x: Matrix) -> Matrix:
    """Logits of rows by a network's arrays.

    Examples
    --------
    >>> import numpy as np
    >>> logits([(np.array([[2.0], [-1.0]]), np.array([[0.5]]))], np.array([[1.0, 1.0]]))
    array([1.5])
    """
    unit = x
    for i, (weight, constant) in enumerate(layers):
        unit = (unit if i == 0 else np.maximum(unit, 0)) @ weight + constant
    return unit[:, 0]


@dataclass(frozen=True, eq=False)
class Scaling:
    """Features brought to mean 0 and variance 1; one that never changes is taken out."""

    center: Matrix
    factor: Matrix

    @classmethod
    def of(cls, x: Matrix) -> Scaling:
        """The scaling of these rows.

        Examples
        --------
        >>> import numpy as np
        >>> Scaling.of(np.array([[1.0, 7.0], [3.0, 7.0]]))(np.array([[3.0, 9.0]]))
        array([[1., 0.]])
        """
        # Of a mean that is rounded, what is left of a constant is not quite 0.
        constant = np.ptp(x, axis=0) == 0
        center = x.mean(axis=0)
        spread = np.sqrt(np.mean((x - center) ** 2, axis=0))
        constant |= spread == 0
        return cls(center, np.where(constant, 0.0, 1 / np.where(constant, 1.0, spread)))

    def __call__(self, x: Matrix) -> Matrix:
        return np.asarray((x - self.center) * self.factor)
