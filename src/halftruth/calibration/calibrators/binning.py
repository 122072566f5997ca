"""Bins for histogram calibration: their edges, what they hold, and how many the noise allows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from halftruth.calibration.bins import mass_bins, number_of_bins
from halftruth.calibration.calibrators.parts import shares
from halftruth.checks import Vector
from halftruth.folded import FoldedMeasure
from halftruth.measure import ScoreMeasure
from halftruth.noise import by_bin, covariance_of, moments_of_rows

STEP = 2**0.5
"""Between one number of bins that is tried and the next."""


@dataclass(frozen=True, eq=False)
class Bins:
    """The upper edges of all bins but the last, both masses of each, and the noise of μ₁ − g μ within.

    g is the share of positives in the bin; equal edges are one.
    """

    edge: Vector
    mass: Vector
    pos: Vector
    variance: Vector

    @property
    def value(self) -> Vector:
        """The share of positives in each bin, brought into [0, 1]; NaN where nothing is known."""
        return shares(self.mass, self.pos)

    @property
    def risk(self) -> float:
        """∫ (ĝ − g)² dμ without ∫ g² dμ, as Stein estimates it.

        ∫ ĝ² dμ − 2 ∫ ĝ dμ₁ is too small by twice the covariance of ĝ and μ₁, which is none where ĝ was
        brought back to 0 or 1.
        """
        m, pos, value, variance = (x[self.mass > 0] for x in (self.mass, self.pos, self.value, self.variance))
        free = (pos > 0) & (pos < m)
        return float((value**2 * m - 2 * value * pos + 2 * np.where(free, variance / m, 0.0)).sum())


def bins_for(measure: ScoreMeasure, n_bins: int | str, binning: str) -> Bins:
    """So many bins, or for "optimal" at most ⌈size^(1/3)⌉, as many as have the least estimated risk."""
    most = number_of_bins(measure, n_bins)
    steps = np.arange(np.ceil(2 * np.log2(most)) + 1) if isinstance(n_bins, str) else np.zeros(1)
    numbers = np.unique(np.maximum(np.round(most / STEP**steps), 1).astype(int))[::-1]
    if isinstance(measure, FoldedMeasure):
        edges = map(_widths, numbers) if binning == "width" else _quantiles(measure, numbers)
        tried = (_of_rows(measure, edge) for edge in edges)
    else:
        tried = (_of_atoms(measure, n, binning) for n in numbers)
    return min(tried, key=lambda bins: bins.risk)


def _of_atoms(measure: ScoreMeasure, n_bins: int, binning: str) -> Bins:
    if binning == "width":
        edge = _widths(n_bins)
    else:
        index = mass_bins(measure, n_bins)
        ends = np.append(np.flatnonzero(np.diff(index)), len(index) - 1)
        edge = measure.score[ends[:-1]]
    index, n = np.searchsorted(edge, measure.score, side="left"), len(edge) + 1
    mass, pos = (by_bin(x, index, n) for x in (measure.mass, measure.pos_mass))
    value = np.nan_to_num(shares(mass, pos))
    if measure.noise is None:  # as if of so many labeled rows
        return Bins(edge, mass, pos, mass * value * (1 - value) * float(measure.total) / measure.size)
    noise = replace(measure.noise, score=value[index])
    return Bins(edge, mass, pos, _diagonal(noise.covariance(index, n)))


def _of_rows(measure: FoldedMeasure, edge: Vector) -> Bins:
    counts = {}
    for name, score in measure.support.sorted.items():
        cuts = np.searchsorted(score, edge, side="right")
        counts[name] = np.diff(np.concatenate([[0], cuts, [len(score)]])).astype(np.float64)
    mass, pos = (
        np.sum([part[name] * count for name, count in counts.items()], axis=0)
        for part in (measure.of_mass, measure.of_pos)
    )
    value = np.nan_to_num(shares(mass, pos))
    each = [
        moments_of_rows(
            np.stack([n, value * n, value**2 * n]),
            measure.of_pos[name],
            measure.of_mass[name],
            normalised=measure.normalised,
        )
        for name, n in counts.items()
    ]
    return Bins(edge, mass, pos, _diagonal(covariance_of(each, one_sample=measure.one_sample)))


def _diagonal(covariance: Vector) -> Vector:
    return np.maximum(np.diagonal(covariance), 0.0)


def _widths(n_bins: int) -> Vector:
    return np.asarray(np.arange(1, n_bins) / n_bins)


def _quantiles(measure: FoldedMeasure, numbers: NDArray[np.int_]) -> Iterator[Vector]:
    """Of each number B of bins: the distinct ⌊n b/B⌋-th smallest scores of the population."""
    from halftruth import kernels

    inside = [x for name, x in measure.support.sorted.items() if measure.of_mass[name] != 0]
    ordered = inside[0] if len(inside) == 1 else kernels.sort(np.concatenate(inside))
    for n_bins in numbers:
        ranks = len(ordered) * np.arange(1, n_bins) // n_bins
        yield np.unique(ordered[ranks[ranks > 0] - 1])
