"""Bins for histogram calibration: their edges, what they hold, and how many the noise allows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from halftruth._checks import Vector
from halftruth.calibration.bins import mass_bins, number_of_bins
from halftruth.calibration.rising import shares
from halftruth.measure._noise import Index, Noise, Part, by_bin
from halftruth.measure._score_measure import ScoreMeasure
from halftruth.measure._sorted_measure import RowsMeasure

CELLS = 1024
"""Cells of equal mass that stand for the rows where the number of bins is chosen."""
TRIED = (0.35, 0.5, 0.7, 1.0)
"""Numbers of bins, in units of ⌈size^(1/3)⌉, at which noise and change are measured."""
FEW = 4
"""Distinct scores, in the same units, below which that number itself is taken."""
MOST = 2
"""The largest number of bins, in the same units."""


def held_in_bins(measure: ScoreMeasure, n_bins: int | str, binning: str) -> tuple[Vector, Vector, Vector]:
    """The upper edges of all bins but the last, and both masses of each; equal edges are one."""
    number = number_of_bins(measure, n_bins)
    if isinstance(n_bins, str) or binning == "mass":
        quantiles = _quantiles(measure)
        if isinstance(n_bins, str):
            cells = _cells(measure, quantiles(CELLS))
            # Of few distinct scores nothing can be learned by joining them.
            few = len(cells.score) < FEW * number
            number = number if few else _best_number(cells, number, binning)
    edge = quantiles(number) if binning == "mass" else _widths(number)
    return edge, *_masses(measure, edge)


def _best_number(cells: ScoreMeasure, usual: int, binning: str) -> int:
    """The number B of bins with the least squared error, c/B² + v B.

    The first part is what the curve changes within bins, the second is noise. Each is a mean over several
    B: at one alone, how its edges happen to lie matters too much.
    """
    curve = _pilot(cells)
    change, noise = [], []
    for n_bins in {max(2, round(usual * part)) for part in TRIED}:
        index = mass_bins(cells, n_bins) if binning == "mass" else _place(_widths(n_bins), cells.score)
        mass, first, second = (by_bin(cells.mass * curve**k, index, n_bins) for k in (0, 1, 2))
        used = mass > 0
        mean = np.divide(first, mass, out=np.zeros(n_bins), where=used)
        change.append(float((second - first * mean)[used].sum()) * n_bins**2)
        variance = _variance(cells, mean, index, n_bins)
        noise.append(float((variance[used] / mass[used]).sum()) / n_bins)
    c, v = max(float(np.mean(change)), 0.0), float(np.mean(noise))
    most = MOST * usual
    return max(1, round((2 * c / v) ** (1 / 3))) if 2 * c < v * most**3 else most


def _pilot(cells: ScoreMeasure) -> Vector:
    """The isotonic fit without its steps: straight lines from the middle of one block to that of the next."""
    from halftruth.kernels import monotone

    blocks = monotone.isotonic(cells.mass, cells.pos_mass)
    value = shares(blocks.mass, blocks.pos)
    known = ~np.isnan(value)
    rank, middle = (np.cumsum(mass) - mass / 2 for mass in (cells.mass, blocks.mass))
    return np.asarray(np.interp(rank, middle[known], value[known]))


def _variance(cells: ScoreMeasure, mean: Vector, index: Index, n_bins: int) -> Vector:
    """Of μ₁ − g μ in each bin, where the share of positives is g; by hand, as of labeled rows."""
    if cells.noise is None:
        mass = by_bin(cells.mass, index, n_bins)
        return np.asarray(mass * mean * (1 - mean) * float(cells.total) / cells.size)
    covariance = replace(cells.noise, score=mean[index]).covariance(index, n_bins)
    return np.maximum(np.diagonal(covariance), 0.0)


def _widths(n_bins: int) -> Vector:
    return np.asarray(np.arange(1, n_bins) / n_bins)


def _quantiles(measure: ScoreMeasure) -> Callable[[int], Vector]:
    """Of a number B of bins: the distinct ⌊n b/B⌋-th smallest scores of the population."""
    if not isinstance(measure, RowsMeasure):
        return lambda n_bins: measure.score[np.flatnonzero(np.diff(mass_bins(measure, n_bins)))]
    from halftruth import kernels

    inside = [x for name, x in measure.support.sorted.items() if measure.of_mass[name] != 0]
    ordered = inside[0] if len(inside) == 1 else kernels.sort(np.concatenate(inside))

    def quantiles(n_bins: int) -> Vector:
        ranks = len(ordered) * np.arange(1, n_bins) // n_bins
        return np.unique(ordered[ranks[ranks > 0] - 1])

    return quantiles


def _place(edge: Vector, score: Vector) -> Index:
    return np.asarray(np.searchsorted(edge, score, side="left"))


def _masses(measure: ScoreMeasure, edge: Vector) -> tuple[Vector, Vector]:
    """μ and μ₁ between the edges."""
    if not isinstance(measure, RowsMeasure):
        index = _place(edge, measure.score)
        mass, pos = (by_bin(x, index, len(edge) + 1) for x in (measure.mass, measure.pos_mass))
        return mass, pos
    counts = _counts(measure, edge)
    mass, pos = (
        np.asarray(sum(part[name] * count for name, count in counts.items()))
        for part in (measure.of_mass, measure.of_pos)
    )
    return mass, pos


def _counts(measure: RowsMeasure, edge: Vector) -> dict[str, Vector]:
    """Rows of each stratum between the edges."""
    out = {}
    for name, rows in measure.support.sorted.items():
        cuts = np.searchsorted(rows, edge, side="right")
        out[name] = np.diff(np.concatenate([[0], cuts, [len(rows)]])).astype(np.float64)
    return out


def _cells(measure: ScoreMeasure, edge: Vector) -> ScoreMeasure:
    """All that lies between two edges at the upper one, with its noise."""
    edge = edge[edge < measure.span[1]]
    mass, pos = _masses(measure, edge)
    score = np.append(edge, measure.span[1])
    if isinstance(measure, RowsMeasure):
        noise: Noise | None = measure.noise_of(score, _counts(measure, edge))
    else:
        noise = measure.noise
    if noise is not None and not isinstance(measure, RowsMeasure):
        index = _place(edge, measure.score)
        noise = replace(noise, score=score, parts=[_summed(part, index, len(score)) for part in noise.parts])
    return ScoreMeasure(score=score, mass=mass, pos_mass=pos, size=measure.size, noise=noise)


def _summed(part: Part, index: Index, n: int) -> Part:
    count, value, square = (
        None if x is None else by_bin(x, index, n) for x in (part.count, part.value, part.square)
    )
    assert count is not None
    return replace(part, count=count, value=value, square=square)
