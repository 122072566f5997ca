"""Means of what each row loses, with intervals: for bounded rows, Student's t, Hoeffding's, the bootstrap."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, Note, arg
from halftruth.evaluation._evaluate import evaluate
from halftruth.evidence import SoftLabeled
from halftruth.measure._score_measure import integral
from halftruth.results._estimate import Estimate
from halftruth.results._intervals import interval_of
from halftruth.results._standing import OK, standing_of

__all__ = [
    "BOOTSTRAP", "BOUNDED", "FEW_CARRIERS", "FIRM", "HOEFFDING", "METHODS", "ROUNDING", "Ends",
    "IntervalMethod", "LimitEstimate", "Mean", "Settings", "cut", "estimate", "scaled",
]  # fmt: skip

BOUNDED, T, HOEFFDING, BOOTSTRAP = "bounded", "t", "hoeffding", "bootstrap"
IntervalMethod = Literal["bounded", "t", "hoeffding", "bootstrap", "likelihood"]
METHODS = (BOUNDED, T, HOEFFDING, BOOTSTRAP)
NAMES = {BOUNDED: BOUNDED, T: T, HOEFFDING: HOEFFDING, BOOTSTRAP: "percentile"}  # in the result
ONE_ROW = Note(
    "small_sample",
    f"One row says nothing of its own error: there is no interval. {arg('method', BOUNDED)} gives one that "
    "needs no error.",
)

FEW_CARRIERS = 10  # rows in effect that carry the spread, below which it says little of the error of a mean
ALIKE = Note(
    "small_sample",
    "No row differs from the others, so that the interval shows nothing of the error: unlike rows may be "
    f"rare, and missing by chance. {arg('method', BOUNDED)} allows for them.",
)
UNSEEN = Note(
    "small_sample",
    "No row differs from the others: the interval shows how many unlike rows may have been missed by chance, "
    "by the number of rows alone.",
)
FIRM = 0.99  # confidence at which data refute what was given
ROUNDING = 1e-12  # numbers around 1 that are closer than this are the same

Ends = tuple[float, float]


@dataclass(frozen=True)
class Settings:
    """How intervals are made."""

    method: str = T
    level: float = 0.95
    n_resamples: int = 2000
    rng: int | np.random.Generator = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "level", _checks.confidence_level(self.level))
        _checks.count(self.n_resamples, "n_resamples", least=0)

    @property
    def shared(self) -> dict[str, Any]:
        """What all calls that make intervals take."""
        return {"confidence_level": self.level, "n_resamples": self.n_resamples, "rng": self.rng}


@dataclass(frozen=True, eq=False)
class Mean:
    """The weighted mean of one number a row, and what an interval needs."""

    value: float
    error: float  # the standard error of the linearised mean; NaN where there is one row
    n: int  # rows with a weight
    effective: float  # rows of equal weight that say as much: (Σw)² / Σw²
    span: float  # how far two rows can be apart
    # Rows that carry the spread, in effect: (Σd²)² / Σd⁴ of the weighted deviations d; 0 where none differs.
    carriers: float
    extremes: Ends  # the least and the greatest of the rows
    replicates: Vector | None = None  # resampled means

    @classmethod
    def of(cls, values: Vector, weight: Vector | None, span: float, settings: Settings | None = None) -> Mean:
        """The mean of ``values``, at most ``span`` apart, with replicates where the settings ask for them."""
        if weight is None:
            n, share, square = len(values), 1 / len(values), 1 / len(values)
            value = float(values.sum()) * share
            around = values - value
            squares, size = float(integral(around, around)) * share**2, float(np.abs(values).max())
            seen = values
        else:
            n, weight = int(np.count_nonzero(weight)), scaled(weight)
            total = float(weight.sum())
            value = float(integral(weight, values)) / total
            square = float(integral(weight, weight)) / total**2
            around = weight * (values - value)
            squares, size = float(integral(around, around)) / total**2, float(np.abs(weight * values).max())
            seen = values[weight > 0]
        # Of the ratio Σwv/Σw, linearised; n/(n−1) makes it the usual standard error for equal weights.
        error = math.sqrt(squares * n / (n - 1)) if n > 1 else math.nan
        carriers = _carriers(around, ROUNDING * size)
        replicates = None
        if settings is not None and settings.method == BOOTSTRAP:
            # The prevalence of soft labels is their mean: one bootstrap serves both.
            evidence = SoftLabeled(values / span, sample_weight=weight)
            result = evaluate(evidence, "prevalence", n_resamples=settings.n_resamples, rng=settings.rng)
            replicates = span * np.asarray(result["prevalence"].replicates)
        extremes = float(seen.min()), float(seen.max())
        return cls(value, error, n, 1 / square, span, carriers, extremes, replicates)

    def ends(self, level: float, method: str) -> Ends:
        """(low, high) at a level; NaN where one row is all there is, unless bounds of the rows give them."""
        if method == BOUNDED:
            return self._bounded_end(0.0, (1 - level) / 2), self._bounded_end(self.span, (1 + level) / 2)
        if method == HOEFFDING:
            # P(|mean − truth| ≥ t) ≤ 2 exp(−2 n t² / span²), Hoeffding (1963), Theorem 2.
            side = self.span * math.sqrt(math.log(2 / (1 - level)) / (2 * self.effective))
            return self.value - side, self.value + side
        if self.n == 1:
            return math.nan, math.nan
        if method == BOOTSTRAP:
            assert self.replicates is not None  # drawn before
            return interval_of(self.replicates, np.asarray([self.value]), level, "percentile")
        from scipy.special import stdtrit

        side = float(stdtrit(self.n - 1, (1 + level) / 2)) * self.error
        return self.value - side, self.value + side

    def _bounded_end(self, unseen: float, chance: float) -> float:
        """A limit for rows in [0, span], few of which may differ: by one more row, as far off as can be.

        A quantile of the mean under random weights (Dirichlet) of the rows and of that one (Gaffke 2005): of
        rows that are 0 or span, the limit of Clopper and Pearson. Here by the Beta law with its two moments.
        """
        from scipy.special import betaincinv

        n, apart = self.effective, unseen - self.value
        variance = 0.0 if self.n == 1 else self.error**2 * n * (1 - 1 / self.n)
        variance = n / (n + 1) * (variance + apart**2 / (n + 1))
        low, high = min(self.extremes[0], unseen), max(self.extremes[1], unseen)
        if variance == 0 or low == high:
            return unseen
        share = min(max((self.value + apart / (n + 1) - low) / (high - low), 0.0), 1.0)
        # A prior's own error may be more than rows within these ends can have: at least one row is left.
        rows = max(share * (1 - share) * (high - low) ** 2 * (n + 2) / variance - 1, 1.0)
        return low + (high - low) * float(betaincinv(share * rows, (1 - share) * rows, chance))

    def certain_low(self, level: float = FIRM) -> float:
        """What the mean exceeds whatever the rows: Hoeffding's lower limit."""
        return self.ends(level, HOEFFDING)[0]

    def remarks(self, method: str) -> Iterator[Note]:
        """What the interval does not show."""
        if method == HOEFFDING:
            return
        if method == BOUNDED:
            if self.carriers == 0:
                yield UNSEEN
        elif self.n == 1:
            yield ONE_ROW
        elif self.carriers == 0:
            yield ALIKE
        elif self.carriers < FEW_CARRIERS:
            yield Note(
                "small_sample",
                f"Few rows differ from the others (the spread is that of {self.carriers:.2g} in effect), so "
                f"that the interval shows little of the error: {arg('method', BOUNDED)} allows for that.",
            )


def scaled(weight: Vector) -> Vector:
    """Weights of which the largest is 1, so that no sum or square leaves what numbers can hold."""
    return np.asarray(weight / weight.max())


def _carriers(around: Vector, least: float) -> float:
    largest = float(np.abs(around).max())
    if largest <= least:
        return 0.0
    squares = (around / largest) ** 2
    return float(squares.sum() ** 2 / integral(squares, squares))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LimitEstimate(Estimate):
    """An estimate whose interval at any level is known, cut at what is possible."""

    ends: Callable[[float], Ends]  # the interval at a level, before the cut
    two_rows: float = 0.0  # of a mean: how far two more rows, as unlike the others as can be, would move it

    def __post_init__(self) -> None:
        # It stands alone, with no evaluation to say what its notes refute.
        if self.standing == OK:
            object.__setattr__(self, "standing", standing_of(self.notes))

    def interval(self, confidence_level: float, method: str | None = None) -> Ends:
        level = _checks.confidence_level(confidence_level)
        if method in (None, self.method):
            return cut(self.ends(level), self.limits, self.value)
        if self.centers is None or self.method == HOEFFDING:
            raise InputError(
                f"This estimate has no interval by {arg('method', method)}, only its own ({self.method}). "
                f"Leave {arg('method')} out, or ask `bayes_error` for another."
            )
        return super().interval(level, method)

    def __repr__(self) -> str:
        return f"Estimate{super().__repr__().removeprefix(type(self).__name__)}"

    def __str__(self) -> str:
        return "\n".join([repr(self), *(f"Note: {note}" for note in self.notes)])


def cut(ends: Ends, limits: Ends, value: float | None = None) -> Ends:
    """An interval cut at what is possible."""
    # ``value``: what it is of. Where that itself is not possible nothing is cut, so that the interval holds
    # it.
    lowest, highest = limits
    if value is not None:
        if value < lowest - ROUNDING or value > highest + ROUNDING:
            return ends
        lowest, highest = min(lowest, value), max(highest, value)
    low, high = np.clip(ends, lowest, highest)
    return float(low), float(high)


def estimate(
    mean: Mean,
    limits: Ends,
    settings: Settings,
    *,
    ends: Callable[[float], Ends] | None = None,
    naive: float | None = None,
    notes: tuple[Note, ...] = (),
    identified: Ends | None = None,
) -> LimitEstimate:
    """The estimate of a mean; ``ends`` is its interval at any level where that is not the mean's own."""
    ends = ends or partial(mean.ends, method=settings.method)
    low, high = cut(ends(settings.level), limits, mean.value)
    boots = settings.method == BOOTSTRAP and mean.replicates is not None and mean.n > 1
    return LimitEstimate(
        value=mean.value,
        low=low,
        high=high,
        naive=naive,
        confidence_level=settings.level,
        method=NAMES[settings.method],
        notes=(*notes, *mean.remarks(settings.method)),
        replicates=mean.replicates if boots else None,
        centers=np.asarray([mean.value]),
        errors=np.asarray([mean.error]) if settings.method in (BOUNDED, T) else None,
        limits=limits,
        identified=identified,
        ends=ends,
        # The interval for bounded rows has allowed for one of them on either side.
        two_rows=0.0 if settings.method == BOUNDED else 2 * mean.span / mean.effective,
    )
