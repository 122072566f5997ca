"""Estimates of a calibration error by size: how far they are from it, and how fast they near it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from halftruth._checks import Vector

PERCENTILES = (5, 95)


@dataclass(frozen=True, eq=False)
class Line:
    """Estimates of one calibration error, in rows of one N each.

    Parameters
    ----------
    n : array
        Sizes, ascending.
    estimates : array
        One row for each size, one number a trial.
    truth : float
        The true calibration error.

    Examples
    --------
    >>> line = Line(n=np.array([10, 1000]), estimates=np.array([[0.3, 0.1], [0.19, 0.21]]), truth=0.2)
    >>> line.mean.round(3).tolist(), round(line.slope, 3)
    ([0.1, 0.01], -0.5)
    """

    n: Vector
    estimates: Vector
    truth: float

    @property
    def bias(self) -> Vector:
        """|estimate − truth|."""
        return np.abs(self.estimates - self.truth)

    @cached_property
    def mean(self) -> Vector:
        return np.asarray(self.bias.mean(axis=1))

    @property
    def percentiles(self) -> tuple[Vector, Vector]:
        low, high = np.percentile(self.bias, PERCENTILES, axis=1)
        return low, high

    @property
    def error(self) -> Vector:
        """Standard error of the mean."""
        return np.asarray(self.bias.std(axis=1, ddof=1) / np.sqrt(self.bias.shape[1]))

    @property
    def root_mean_square(self) -> Vector:
        return np.asarray(np.sqrt(np.mean(self.bias**2, axis=1)))

    @property
    def slope(self) -> float:
        """Of log mean bias against log N, by least squares."""
        return float(self._weights @ np.log(self.mean))

    @property
    def slope_error(self) -> float:
        """Its standard error: the draws of different N are independent."""
        return float(np.sqrt(np.sum((self._weights * self.error / self.mean) ** 2)))

    @property
    def misfit(self) -> float:
        """How far the points are from their straight line: root mean square, in their standard errors.

        About one where only the draws move them; NaN of two points, which always are on a line.
        """
        if len(self.n) < 3:
            return float("nan")
        x, y = np.log(self.n), np.log(self.mean)
        rest = y - y.mean() - self.slope * (x - x.mean())
        with np.errstate(divide="ignore", invalid="ignore"):
            deviations = np.where(np.isclose(rest, 0, atol=1e-12), 0.0, rest * self.mean / self.error)
        return float(np.sqrt(np.sum(deviations**2) / (len(x) - 2)))

    @property
    def _weights(self) -> Vector:
        x = np.log(self.n) - np.log(self.n).mean()
        return np.asarray(x / (x @ x))
