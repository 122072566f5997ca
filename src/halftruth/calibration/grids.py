"""Masses on even grids: split between nodes, smoothed, and integrated in absolute value."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector

Nodes = NDArray[np.intp]


def split(values: Vector, position: Vector) -> tuple[Nodes, Vector]:
    """Nodes, ascending, and what (..., m) values at ascending positions add there, shared by nearness.

    Node i lies at position i. Sums and first moments stay what they are.
    """
    if not len(position):
        return np.zeros(0, dtype=np.intp), np.zeros((*values.shape[:-1], 0))
    cell = np.floor(position).astype(np.intp)
    first = np.flatnonzero(np.diff(cell, prepend=cell[0] - 1))
    all_of_it = np.add.reduceat(values, first, axis=-1)
    upper = np.add.reduceat(values * (position - cell), first, axis=-1)
    own = cell[first]
    node = np.union1d(own, own + 1)
    out = np.zeros((*values.shape[:-1], len(node)))
    out[..., np.searchsorted(node, own)] = all_of_it - upper
    out[..., np.searchsorted(node, own + 1)] += upper
    return node, out


def spread(values: Vector, score: Vector, n_cells: int) -> Vector:
    """Values (n, m) at scores in [0, 1], at the nodes 0, 1/n_cells, …, 1."""
    node, sums = split(values, score * n_cells)
    out = np.zeros((len(values), n_cells + 2))
    out[:, node] = sums  # nothing goes beyond 1: a score of 1 is a node
    return out[:, :-1]


def coarser(nodes: Vector, n_cells: int) -> Vector:
    """The nodes of a grid with fewer cells; as if the values had been split on it at once."""
    times = (len(nodes) - 1) // n_cells
    share = np.arange(times) / times
    by_cell = nodes[:-1].reshape(n_cells, times)
    out = np.zeros(n_cells + 1)
    out[:-1] = np.einsum("ij,j->i", by_cell, 1 - share)
    out[1:] += np.einsum("ij,j->i", by_cell, share)
    out[-1] += nodes[-1]
    return out


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
