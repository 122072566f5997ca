"""Integrals over the feature, panel by panel, with a panel edge wherever an integrand turns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import pairwise

from halftruth.simulate.scores import GaussianScores

# Beyond twelve standard deviations a normal density holds less than 1e-32 of its mass.
REACH = 12.0
_NORMAL_OFFSETS = tuple(range(-12, 13, 2))
_SIGMOID_OFFSETS = (-40.0, -10.0, -3.0, 0.0, 3.0, 10.0, 40.0)


def break_points(
    model: GaussianScores, extra: Iterable[float] = (), *, lower: float = -math.inf
) -> list[float]:
    """Return the sorted panel edges for integrands made of the model's densities and sigmoids."""
    points = {mean + offset for mean in model.means for offset in _NORMAL_OFFSETS}
    sigmoids = [model.posterior_coefficients]
    if not model.margin:
        sigmoids.append(model.coefficients)
    for intercept, slope in sigmoids:
        if slope != 0.0:
            points.update((offset - intercept) / slope for offset in _SIGMOID_OFFSETS)
    points.update(extra)
    low = max(min(model.means) - REACH, lower)
    high = max(*model.means, low) + REACH
    edges = [low]
    for point in sorted(points):
        # Two edges that differ by rounding would enclose a panel that cannot be subdivided.
        if edges[-1] + 1e-9 < point < high - 1e-9:
            edges.append(point)
    return [*edges, high]


def integrate(integrand: Callable[[float], float], edges: list[float], *, absolute: float = 1e-25) -> float:
    """Integrate a function that is smooth between consecutive `edges`.

    Examples
    --------
    >>> round(integrate(lambda x: abs(x), [-1.0, 0.0, 2.0]), 12)
    2.5
    """
    from scipy.integrate import quad

    return math.fsum(
        float(quad(integrand, left, right, epsabs=absolute, epsrel=1e-11, limit=200)[0])
        for left, right in pairwise(edges)
    )


def normal_density(deviation: float) -> float:
    """Return the standard normal density."""
    return math.exp(-0.5 * deviation * deviation) / math.sqrt(2.0 * math.pi)
