"""Calibration error: only bins of the histogram that a calibration edge can cut are in doubt."""

from __future__ import annotations

import numpy as np

from halftruth._checks import Vector
from halftruth.certificate._boxes import ANYTHING, Boxes, Interval, quotient
from halftruth.measure._arithmetic import Index
from halftruth.measure._bins import optimal_bins

__all__ = ["calibration_error"]


def calibration_error(
    box: Boxes, n_bins: int | str, binning: str, norm: float | str, debias: bool | str = False
) -> Interval:
    """The error of calibration bins whose edges may cut histogram bins anywhere."""
    if debias:
        return ANYTHING
    number = _optimal(box) if isinstance(n_bins, str) else n_bins
    if number is None:
        return ANYTHING
    if binning == "width":
        edges = np.arange(1, number) / number
        first, last = (np.searchsorted(edges, x, side="left") for x in (box.low, box.high))
        movable = box.n
    else:
        first, last, movable = _mass_bins(box, number)
    # Cells without rows have no scores, and lie in no bin: any will do.
    first, last = np.where(box.held, first, 0), np.where(box.held, last, 0)
    if norm == 1:
        return _mean_gap(box, number, first, last, movable)
    return _other_norms(box, number, first, last, norm)


def _optimal(box: Boxes) -> int | None:
    """The default number of bins; None where rounded weights leave it open."""
    sizes = (box.size * (1 - box.size_off), box.size * (1 + box.size_off))
    numbers = {optimal_bins(size) for size in sizes}
    return numbers.pop() if len(numbers) == 1 else None


def _mass_bins(box: Boxes, n_bins: int) -> tuple[Index, Index, Vector]:
    """The first and the last bin of equal mass that rows of a cell can be in; what can leave the first.

    A row's bin is the number of targets that the mass below it has met. Of a cell no more can leave the
    first bin than the mass between its target and the end of the histogram bin.
    """
    total, off = box.whole(box.mass)
    steps = total * np.arange(1, n_bins)
    masses = box.cases(box.n)
    least = np.floor_divide(steps, n_bins)
    most = least
    if off:  # whether targets are rounded down depends on all weights being whole
        whole = bool((masses == np.floor(masses)).all())
        most = steps / n_bins + 2 * off
        least = (least if whole else steps / n_bins * (1 - 2e-12)) - 2 * off
    ends = [box.points(j) for j in range(len(box.n))]
    below = [np.stack([total - box.cases(end[side]) for end in ends]) for side in (1, 0)]
    first = np.searchsorted(most, below[0], side="right")
    last = np.searchsorted(least, below[1], side="right")
    target = np.append(least, np.inf)[first]
    above = np.maximum(total - box.cases(box.before) - target, 0.0) + 2 * off
    movable = np.where((box.mass > 0)[:, None], np.minimum(box.n, above), box.n)
    return first, last, movable


def _gaps(box: Boxes) -> tuple[Vector, Vector]:
    """Limits of b − a s over the rows of a cell."""
    low, high = (np.where(box.held, x, 0.0) for x in (box.low, box.high))
    pos, mass = box.pos[:, None], box.mass[:, None]
    return pos - mass * high, pos - mass * low


def _mean_gap(box: Boxes, n_bins: int, first: Index, last: Index, movable: Vector) -> Interval:
    """Norm 1: what moves from one bin to the next changes the sum by no more than twice its own gap."""
    # The mean score of a cell is known but for rounding: its middle, give or take the blur.
    gap = box.pos[:, None] * box.n - box.mass[:, None] * box.n * (box.mean_low + box.mean_high) / 2
    blur = box.mass[:, None] * box.n * (box.mean_high - box.mean_low) / 2
    total_gap = np.abs(np.bincount(first.ravel(), gap.ravel(), minlength=n_bins)).sum()
    cut = last > first
    least, most = _gaps(box)
    up = np.where(cut, movable * np.maximum(most, 0.0), 0.0)
    down = np.where(cut, movable * np.maximum(-least, 0.0), 0.0)
    # Rows that cross one edge together change two sums by the same number, of either sign.
    one_edge = (last - first <= 1).all(axis=0)
    edge = np.where(cut, first, -1).max(axis=0)
    one_edge &= (np.where(cut, first, edge) == edge).all(axis=0)
    cost = np.where(one_edge, np.maximum(up.sum(axis=0), down.sum(axis=0)), (up + down).sum(axis=0))
    off = 2 * cost.sum() + blur.sum() + box.whole(box.pos)[1] + box.whole(box.mass)[1]
    low, high = quotient(float(total_gap - off), float(total_gap + off), box.whole(box.mass))
    return max(low, 0.0), high


def _other_norms(box: Boxes, n_bins: int, first: Index, last: Index, norm: float | str) -> Interval:
    """Norms 2 and max, from limits of the gap and the mass of each calibration bin.

    Where every row is a case, no gap exceeds the mass times the largest |b − a s|/a; else a bin that
    may have no mass at all has no bound.
    """
    cut = last > first
    mass = box.mass[:, None] * box.n

    def in_bins(sums: Vector) -> Vector:
        """Of the cells that no edge can cut."""
        return np.bincount(first[~cut], sums[~cut], minlength=n_bins).astype(np.float64)

    gap_low, gap_high = (
        in_bins(box.pos[:, None] * box.n - mass * mean) for mean in (box.mean_high, box.mean_low)
    )
    mass_low, extra = in_bins(mass), np.zeros(n_bins)
    least, most = _gaps(box)
    # The rows of a cell that is cut may lie in any of its bins: none of them, or all.
    for k, i in zip(*np.nonzero(cut), strict=True):
        where = slice(first[k, i], last[k, i] + 1)
        gap_low[where] += box.n[k, i] * min(least[k, i], 0.0)
        gap_high[where] += box.n[k, i] * max(most[k, i], 0.0)
        extra[where] += mass[k, i]
    total, off = box.whole(box.mass)
    off_gap = off + box.whole(box.pos)[1]
    gap_low, gap_high = gap_low - off_gap, gap_high + off_gap
    mass_high, mass_low = mass_low + extra + off * (mass_low + extra > 0), mass_low - off
    largest = np.maximum(-gap_low, gap_high)
    smallest = np.maximum(np.maximum(gap_low, -gap_high), 0.0)
    cases = box.mass > 0
    steepest = np.maximum(-least, most).max(axis=1) + box.wobble
    worst = float(np.max(steepest / np.where(cases, box.mass, 1.0))) if cases.all() else np.inf
    high = np.where(mass_low > 0, np.minimum(largest / np.where(mass_low > 0, mass_low, 1.0), worst), worst)
    high = np.where(mass_high > 0, high, 0.0)
    low = np.where(mass_high > 0, smallest / np.where(mass_high > 0, mass_high, 1.0), 0.0)
    if norm == "max":
        return float(low.max()), float(high.max())
    # The mean square is Σ gap²/mass over the total: a ratio times a gap.
    return (
        float(np.sqrt((low * smallest).sum() / (total + off))),
        float(np.sqrt(np.where(high > 0, high * largest, 0.0).sum() / (total - off))),
    )
