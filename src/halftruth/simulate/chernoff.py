"""How far two normal classes overlap, exactly: ∫ min(p, q) dx in any number of dimensions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from halftruth.simulate.draw import FloatArray

_REACH = 40.0
"""The integrand falls at least as e^−u, so that nothing of a double is left beyond this u."""
_BEND = 0.3
"""Slope of the arms of the contour; below 1 the Gaussian factors still fall along them."""
_POINTS = (2**8, 2**17)
_AGREE = 1e-12
_UNDERFLOW = -745.0
"""The exponential of anything less is 0 in doubles."""


class Chernoff(NamedTuple):
    """∫ pˢ q¹⁻ˢ dx of two classes, in axes where q has unit variances and p the variances `ratio`."""

    ratio: FloatArray
    shift: FloatArray
    prior: float

    @classmethod
    def of(
        cls,
        means: tuple[FloatArray, FloatArray],
        covs: tuple[FloatArray, FloatArray],
        roots: tuple[FloatArray, FloatArray],
        prior: float,
    ) -> Chernoff:
        half = np.linalg.solve(roots[0], covs[1])
        white = np.linalg.solve(roots[0], half.T)
        ratio, axes = np.linalg.eigh((white + white.T) / 2.0)
        return cls(ratio, axes.T @ np.linalg.solve(roots[0], means[1] - means[0]), prior)

    def log(self, s: NDArray[np.complex128]) -> NDArray[np.complex128]:
        """The logarithm of ∫ pˢ q¹⁻ˢ dx at complex s."""
        out = s * math.log(self.prior) + (1.0 - s) * math.log1p(-self.prior)
        for ratio, shift in zip(self.ratio, self.shift, strict=True):
            mixed = ratio + (1.0 - ratio) * s
            out -= 0.5 * shift * shift * s * ((1.0 - s) / mixed)
            out -= 0.5 * (np.log(mixed) - (1.0 - s) * math.log(ratio))
        return np.asarray(out)

    def overlap(self) -> float:
        """∫ min(p, q) dx, along a contour through the saddle point, with exponential convergence.

        The contour is a hyperbola. Far out, the integrand is a power of s times exp(κ s), with κ the
        log-odds where they are flat: the arms bend to the side on which this falls. No singularity is
        crossed, for all of these lie on the real axis, outside (0, 1).
        """
        from scipy.optimize import minimize_scalar

        def height(s: NDArray[np.complex128]) -> NDArray[np.complex128]:
            return np.asarray(self.log(s) - np.log(s) - np.log(1.0 - s))

        def on_axis(s: float) -> float:
            return float(height(np.array([s], dtype=np.complex128))[0].real)

        saddle = float(minimize_scalar(on_axis, bounds=(1e-9, 1 - 1e-9), method="bounded").x)
        mixed = self.ratio + (1.0 - self.ratio) * saddle
        curved = (self.shift**2 * self.ratio / mixed**3 + 0.5 * ((1.0 - self.ratio) / mixed) ** 2).sum()
        width = 1.0 / math.sqrt(curved + saddle**-2 + (1.0 - saddle) ** -2)
        bend = -_BEND * np.sign(self._flat())
        top = on_axis(saddle)
        if top < _UNDERFLOW:
            return 0.0

        def mean_height(u: FloatArray) -> float:
            s = saddle + width * (1j * np.sinh(u) + bend * (np.cosh(u) - 1.0))
            along = width * (np.cosh(u) - 1j * bend * np.sinh(u))
            return float(np.mean((np.exp(height(s) - top) * along).real))

        found = math.exp(top) * _REACH / math.pi * _even_integral(mean_height)
        return min(found, self.prior, 1.0 - self.prior)

    def _flat(self) -> float:
        """The log-odds where their gradient vanishes, along the axes that have such a point."""
        bent = np.abs(1.0 - self.ratio) > 1e-12
        peaks = 0.5 * self.shift[bent] ** 2 / (1.0 - self.ratio[bent])
        return float(log_odds(self.prior) - 0.5 * np.log(self.ratio).sum() + peaks.sum())


def _even_integral(mean_height: Callable[[FloatArray], float]) -> float:
    """Mean height of an even function up to the reach: the midpoint rule, refined until it stands."""
    n, most = _POINTS
    last = math.inf
    while n <= most:
        value = mean_height(np.arange(0.5, n, dtype=np.float64) * (_REACH / n))
        if abs(value - last) <= _AGREE * abs(value):
            return float(value)
        last, n = value, 2 * n
    raise ArithmeticError(f"the Bayes error was not found to {_AGREE:g} with {most} points")


def of_equal_covariances(distance: float, prior: float) -> float:
    """The same of two normal classes whose means are so many standard deviations apart."""
    if distance == 0.0:
        return min(prior, 1.0 - prior)
    tilt = log_odds(prior) / distance
    missed, alarms = ndtr(-0.5 * distance - tilt), ndtr(-0.5 * distance + tilt)
    return float(prior * missed + (1.0 - prior) * alarms)


def log_odds(prior: float) -> float:
    """Ln prior − ln(1 − prior)."""
    return math.log(prior) - math.log1p(-prior)
