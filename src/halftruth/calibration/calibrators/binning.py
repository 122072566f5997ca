"""Bins for histogram calibration: their edges, what they hold, and how many the noise allows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from halftruth._checks import Vector
from halftruth.calibration.rising import shares
from halftruth.measure._arithmetic import Index, by_bin
from halftruth.measure._score_measure import ScoreMeasure

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
    number = measure.number_of_bins(n_bins)
    if isinstance(n_bins, str):
        cells = measure.joined(measure.quantiles(CELLS))
        # Of few distinct scores nothing can be learned by joining them.
        few = len(cells.score) < FEW * number
        number = number if few else _best_number(cells, number, binning)
    edge = measure.quantiles(number) if binning == "mass" else _widths(number)
    return edge, *measure.masses_between(edge)


def _best_number(cells: ScoreMeasure, usual: int, binning: str) -> int:
    """The number B of bins with the least squared error, c/B² + v B.

    The first part is what the curve changes within bins, the second is noise. Each is a mean over several
    B: at one alone, how its edges happen to lie matters too much.
    """
    curve = _pilot(cells)
    change, noise = [], []
    for n_bins in {max(2, round(usual * part)) for part in TRIED}:
        index = cells.bin_index(n_bins, binning)
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
    blocks = cells.isotonic_blocks()
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
