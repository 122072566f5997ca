"""A trained network as plain arrays: what was learned needs no PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from halftruth._errors import InputError

Matrix = NDArray[np.float64]
Layer = tuple[Matrix, Matrix]
"""Weights (inputs, outputs) and constants (1, outputs)."""
BLOCK = 65_536
"""Rows whose hidden units are held at a time."""


def logits(layers: Sequence[Layer], x: Matrix) -> Matrix:
    """Logits of rows by a network's arrays.

    Examples
    --------
    >>> import numpy as np
    >>> logits([(np.array([[2.0], [-1.0]]), np.array([[0.5]]))], np.array([[1.0, 1.0]]))
    array([1.5])
    """
    return np.concatenate([_block(layers, x[i : i + BLOCK]) for i in range(0, max(len(x), 1), BLOCK)])


def _block(layers: Sequence[Layer], unit: Matrix) -> Matrix:
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
        with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
            center = x.mean(axis=0)
            away = x - center
            # Squares of the largest and the least numbers are none: they are taken in units of the farthest.
            most = np.abs(away).max(axis=0)
            unit = np.where(most > 0, most, 1.0)
            spread = unit * np.sqrt(np.mean((away / unit) ** 2, axis=0))
            # Of a mean that is rounded, what is left of a constant is not quite 0.
            constant = (np.ptp(x, axis=0) == 0) | (most == 0)
            factor = np.where(constant, 0.0, 1 / np.where(constant, 1.0, spread))
        bad = ~(np.isfinite(center) & np.isfinite(factor)) | ((factor == 0) & ~constant)
        if bad.any():
            which = int(np.argmax(bad))
            raise InputError(
                f"`X` cannot be standardised: feature {which} (from 0) runs from {x[:, which].min():g} to "
                f"{x[:, which].max():g}, which 64-bit numbers do not hold. Pass it in other units."
            )
        return cls(center, factor)

    def __call__(self, x: Matrix) -> Matrix:
        return np.asarray((x - self.center) * self.factor)
