"""Calibration error over the most bins of equal mass whose mean labels still rise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector
from halftruth._errors import InputError
from halftruth.calibration._binned_errors import Norm, calibration_error
from halftruth.measure._arithmetic import RankSums
from halftruth.measure._score_measure import Measurable, as_measure
from halftruth.metrics._record import distance

__all__ = ["sweep_calibration_error"]

Integers = NDArray[np.int64]
Reach = Callable[[Vector], tuple[Vector, Vector]]  # μ and μ₁ below the bin ends that are set at these masses

TARGETS = 1 << 8, 1 << 16  # bin ends looked at together: at first, and at most
SLACK = 1e-10  # means that differ by less are equal, where masses are not counts
FROM_ROWS = 512  # numbers of bins tried on sorted rows before their distinct scores are made


@distance(
    formula="as `calibration_error`, with the most bins of equal mass whose mean labels rise",
    paper="Roelofs et al. 2022",
    selection="unknown",
    unit_laws=False,
    twin=False,
)
def sweep_calibration_error(evidence: Measurable, norm: Norm = 1) -> float:
    """Calibration error over bins of equal mass, as many as leave the mean labels monotone.

    The number of bins grows from 1 and stops before the first at which the mean label of some bin is below
    that of the bin before it (Roelofs et al. 2022); no number of bins to choose.

    Parameters
    ----------
    evidence : evidence or ScoreMeasure
        Scores must be probabilities.
    norm : 1, 2 or "max"
        As in `calibration_error`, whose bins these are.

    Notes
    -----
    Bins without mass are passed over. There are at most as many bins as rows.

    Examples
    --------
    >>> import halftruth as ht
    >>> evidence = ht.Labeled([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.9])  # 2 bins rise, 3 do not
    >>> ht.sweep_calibration_error(evidence) == ht.calibration_error(evidence, n_bins=2)
    True
    """
    if norm not in (1, 2, "max"):
        raise InputError(argument="norm", must='be 1, 2 or "max"', got=repr(norm))
    measure = as_measure(evidence).need_probabilities("Sweep calibration error")
    ranks = measure.rank_sums()
    if ranks is not None:
        n_bins = _most_bins_of_rows(ranks)
        if n_bins is not None:
            return calibration_error(measure, n_bins=n_bins, binning="mass", norm=norm)
    columns = (measure.mass, measure.pos_mass, measure.pos_mass - measure.score * measure.mass)
    mass, pos, gap = (column.reshape(-1, len(measure.score)) for column in columns)
    values = [_error(mass[i], pos[i], gap[i], norm) for i in range(len(mass))]
    return measure.result(np.asarray(values).reshape(measure.shape))


@dataclass(frozen=True, eq=False)
class _RunningMasses:
    """Masses below each score of the population, and in all: μ, μ₁ and the gap μ₁ − s μ.

    Scores without mass go with the next that has some; those above the last are in ``all`` only.
    """

    below: Vector
    pos: Vector
    gap: Vector
    all: tuple[float, float, float]

    @classmethod
    def of(cls, mass: Vector, pos: Vector, gap: Vector) -> _RunningMasses:
        sums = np.cumsum(np.stack([mass, pos, gap]), axis=-1)
        at = sums[:, mass > 0]
        below = np.maximum.accumulate(np.append(0.0, at[0]))  # rounding apart, it rises
        totals = (float(below[-1]), float(sums[1, -1]), float(sums[2, -1]))
        return cls(below, np.append(0.0, at[1]), np.append(0.0, at[2]), totals)

    def index(self, target: Vector) -> NDArray[np.intp]:
        return np.searchsorted(self.below[:-1], target, side="left")

    def reach(self, target: Vector) -> tuple[Vector, Vector]:
        at = self.index(target)
        return self.below[at], self.pos[at]


def _error(mass: Vector, pos: Vector, gap: Vector, norm: Norm) -> float:
    """The error of one measure."""
    if not mass.sum() > 0 or np.isnan(pos).any():
        return float("nan")
    running = _RunningMasses.of(mass, pos, gap)
    total = running.all[0]
    counts = bool((mass == np.floor(mass)).all())
    slack = 0.0 if counts and bool((pos == np.floor(pos)).all()) else SLACK
    window, most = partial(_window, running, slack), _most(running, counts=counts)
    n_bins = _most_bins(running.reach, running.all[:2], counts=counts, slack=slack, window=window, most=most)
    # Starts that fall on one score are one bin: equal scores are never split.
    edges = np.unique(running.index(_target(total, np.arange(n_bins), n_bins, counts=counts)))
    size = np.diff(np.append(running.below[edges], running.all[0]))
    gaps = np.abs(np.diff(np.append(running.gap[edges], running.all[2])))
    if norm == 1:
        return float(gaps.sum() / total)
    gaps, size = gaps[size > 0], size[size > 0]
    if norm == "max":
        return float((gaps / size).max())
    return float(np.sqrt((gaps**2 / size).sum() / total))


def _most(running: _RunningMasses, *, counts: bool) -> int:
    """As many bins as rows, or as scores where masses are no counts; fewer where those tell all apart."""
    steps = np.diff(running.below)
    steps = steps[steps > 0]
    rows = running.all[0] if counts else len(steps)
    return max(1, int(np.ceil(min(rows, 2 * running.all[0] / steps.min()) - 1e-9)))


def _window(running: _RunningMasses, slack: float) -> tuple[float, float] | None:
    """Masses between which means of bins can fall; None where they cannot.

    Scores at the low end whose means rise, and that no later mean is below, can do no harm; likewise at the
    high end. With labels these are the negatives below all positives, and the positives above all negatives.
    """
    steps = np.diff(running.below)
    step = steps > 0
    mean = np.diff(running.pos)[step] / steps[step]
    highest = np.maximum.accumulate(np.append(-np.inf, mean[:-1]))
    lowest = np.minimum.accumulate(np.append(np.inf, mean[:0:-1]))[::-1]
    harm = np.flatnonzero((mean < highest - slack) | (mean > lowest + slack))
    end = running.below[1:][step]
    start = running.below[:-1][step]
    beyond = running.pos[-1] != running.all[1]
    if not len(harm):
        return (start[-1], end[-1]) if beyond else None
    return start[harm[0]], end[-1] if beyond else end[harm[-1]]


def _target(total: float, b: Integers, n_bins: Integers | int, *, counts: bool) -> Vector:
    """Mass at which bin b of so many starts: ⌊n b/B⌋ of counts, as `calibration_error` has it."""
    steps = total * b
    # A hair lower where masses are no counts: sums that are equal but for rounding are one end.
    return np.asarray(np.floor_divide(steps, n_bins) if counts else steps / n_bins * (1 - 1e-12))


def _most_bins(
    reach: Reach,
    totals: tuple[float, float],
    *,
    counts: bool,
    slack: float,
    window: Callable[[], tuple[float, float] | None],
    most: int,
) -> int:
    """The last number of bins before the first at which a mean falls; ``most`` if none does."""
    low, high = 0.0, 1.0
    done, targets = 1, TARGETS[0]
    while done < most:
        # As many numbers of bins at once as have about so many ends together, at most two of them outside
        # the window on either side: nearly all sweeps end after a few bins, the others take large steps.
        ends = 4 + done * (high - low)
        stop = min(most, done + 1 + int(min(targets / ends, (2 * targets / (high - low)) ** 0.5)))
        n_bins = np.arange(done + 1, stop + 1)
        first = np.maximum(0, np.floor(n_bins * low).astype(np.int64) - 1)
        last = np.minimum(n_bins, np.floor(n_bins * high).astype(np.int64) + 2)
        length = last - first + 1
        # The ends of all these binnings in one array: ``of`` says of how many bins each is one.
        of = np.repeat(n_bins, length)
        b = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length - first, length)
        mass, pos = reach(_target(totals[0], b, of, counts=counts))
        mass, pos = (np.where(b == of, end, x) for end, x in zip(totals, (mass, pos), strict=True))
        fallen = _first_fall(of, mass, pos, slack)
        if fallen is not None:
            return fallen - 1
        if targets == TARGETS[0]:  # not so few bins that the window would cost more than it saves
            within = window()
            if within is None:
                return most
            low, high = within[0] / totals[0], within[1] / totals[0]
        done, targets = stop, min(2 * targets, TARGETS[1])
    return most


def _first_fall(of: Integers, mass: Vector, pos: Vector, slack: float) -> int | None:
    """The smallest number of bins at which a mean is below the one before, of these bin ends."""
    size = np.diff(mass)
    # Steps from one binning to the next are no bins.
    full = np.flatnonzero((of[1:] == of[:-1]) & (size > 0))
    mean = np.diff(pos)[full] / size[full]
    falls = np.flatnonzero((np.diff(mean) < -slack) & (np.diff(of[full]) == 0))
    return int(of[full[falls[0]]]) if len(falls) else None


def _most_bins_of_rows(ranks: RankSums) -> int | None:
    """The number of bins from sorted rows; None if it is so large that distinct scores are needed."""
    if ranks.total == 0:
        return 1
    n_bins = _most_bins(
        ranks.reach,
        (ranks.total, ranks.positives),
        counts=True,
        slack=0.0 if ranks.whole else SLACK,
        window=lambda: (0.0, ranks.total),
        most=min(FROM_ROWS, int(ranks.total)),
    )
    return n_bins if n_bins < FROM_ROWS else None
