"""Masses on even grids: smoothed, and integrated in absolute value."""

from __future__ import annotations

import numpy as np

from halftruth._checks import Vector


def cosines(nodes: Vector) -> Vector:
    """Σ_j nodes_j cos(π k j / n) of each row, k = 0, …, n."""
    from scipy.fft import dct

    halved = nodes / 2
    halved[:, [0, -1]] *= 2
    return np.asarray(dct(halved, type=1, axis=-1))


def smoothed_error(coefficients: Vector, width: Vector) -> Vector:
    """∫_0^1 |f| of each row, f the masses of these cosines smoothed by a reflected Gaussian.

    Reflection at both ends makes the Gaussian a factor exp(−(π k σ)²/2) of the k-th cosine.
    """
    from scipy.fft import dct

    n_cells = coefficients.shape[-1] - 1
    heard = min(n_cells, int(9.0 / (np.pi * width.min())) + 1)  # further factors are below 1e-17
    factor = np.exp(-((np.pi * np.arange(heard + 1) * width[:, None]) ** 2) / 2)
    density = dct(coefficients[:, : heard + 1] * factor, type=1, n=n_cells + 1, axis=-1)
    ends = (np.abs(density[:, 0]) + np.abs(density[:, -1])) / 2
    return np.asarray((absolute_integral(density) - ends) / n_cells)


def absolute_integral(values: Vector) -> Vector:
    """∫ |f| along the last axis, in steps, of a smooth f that is level at both ends.

    The trapezoid, which then errs only where f changes sign: it counts what the crossing line cuts off, and
    misses a twelfth of the kink (Euler and Maclaurin).
    """
    size = np.abs(values)
    row, at = np.nonzero(np.signbit(values[:, :-1]) != np.signbit(values[:, 1:]))
    left, right = size[row, at], size[row, at + 1]
    kink = np.maximum(left + right, 1e-300)
    lost = np.bincount(row, left * right / kink - kink / 6, minlength=len(values))
    return np.asarray(size.sum(axis=-1) - lost)
