"""Means of what each row loses, with intervals: Student's t, Hoeffding's bound, the bootstrap."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from halftruth import checks
from halftruth.checks import Vector
from halftruth.errors import InputError
from halftruth.evaluation import evaluate
from halftruth.evidence import SoftLabeled
from halftruth.intervals import interval_of
from halftruth.measure import integral
from halftruth.results import Estimate

T, HOEFFDING, BOOTSTRAP = "t", "hoeffding", "bootstrap"
METHODS = (T, HOEFFDING, BOOTSTRAP)
NAMES = {T: T, HOEFFDING: HOEFFDING, BOOTSTRAP: "percentile"}
"""What a method is called in the result."""
ONE_ROW = (
    'One row says nothing of its own error: there is no interval. method="hoeffding" gives one that needs '
    "no error."
)

Ends = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How intervals are made."""

    method: str = T
    level: float = 0.95
    n_resamples: int = 2000
    rng: int | np.random.Generator = 0


@dataclass(frozen=True, kw_only=True, eq=False)
class Mean:
    """The weighted mean of one number a row, and what an interval needs.

    Attributes
    ----------
    value : float
    error : float
        Its standard error, of the linearised mean; NaN where there is one row.
    n : int
        Rows with a weight.
    effective : float
        Rows of equal weight that say as much: (Σw)² / Σw².
    span : float
        How far two rows can be apart.
    replicates : array or None
        Resampled means.
    """

    value: float
    error: float
    n: int
    effective: float
    span: float
    replicates: Vector | None = None

    @classmethod
    def of(cls, values: Vector, weight: Vector | None, span: float) -> Mean:
        """The mean of ``values``, which are at most ``span`` apart."""
        if weight is None:
            n, share, square = len(values), 1 / len(values), 1 / len(values)
            value = float(values.sum()) * share
            around = values - value
            squares = float(integral(around, around)) * share**2
        else:
            n, share = int(np.count_nonzero(weight)), weight / weight.sum()
            value, square = float(integral(share, values)), float(integral(share, share))
            around = share * (values - value)
            squares = float(integral(around, around))
        error = math.sqrt(squares * n / (n - 1)) if n > 1 else math.nan
        return cls(value=value, error=error, n=n, effective=1 / square, span=span)

    def resampled(self, values: Vector, weight: Vector | None, settings: Settings) -> Mean:
        """The same mean with its replicates, where the bootstrap was asked for."""
        if settings.method != BOOTSTRAP:
            return self
        evidence = SoftLabeled(values, sample_weight=weight)
        found = evaluate(evidence, "prevalence", n_resamples=settings.n_resamples, rng=settings.rng)
        return replace(self, replicates=found["prevalence"].replicates)

    def ends(self, level: float, method: str) -> Ends:
        """(low, high) at a level; NaN where one row is all there is, but for Hoeffding's."""
        if method == HOEFFDING:
            side = self.span * math.sqrt(math.log(2 / (1 - level)) / (2 * self.effective))
            return self.value - side, self.value + side
        if self.n == 1:
            return math.nan, math.nan
        if method == BOOTSTRAP:
            assert self.replicates is not None  # drawn before
            return interval_of(self.replicates, np.asarray([self.value]), level, "percentile")
        side = student_quantile(level, self.n - 1) * self.error
        return self.value - side, self.value + side


def mean_of(values: Vector, weight: Vector | None, span: float, settings: Settings) -> Mean:
    """The mean of ``values`` with what the method needs for an interval."""
    return Mean.of(values, weight, span).resampled(values, weight, settings)


def student_quantile(level: float, df: float) -> float:
    """How many standard errors lie on each side of a mean."""
    from scipy.special import stdtrit

    return float(stdtrit(df, (1 + level) / 2))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LimitEstimate(Estimate):
    """An estimate whose interval at any level is known, cut at what is possible."""

    ends: Callable[[float], Ends]

    def interval(self, confidence_level: float, method: str | None = None) -> Ends:
        level = checks.confidence_level(confidence_level)
        if method in (None, self.method):
            return cut(self.ends(level), self.limits)
        if self.centers is None or self.method == HOEFFDING:
            raise InputError(
                f"This estimate has no interval by `method`={method!r}, only its own ({self.method}). Leave "
                f"`method` out, or ask `bayes_error` for another."
            )
        return super().interval(level, method)

    def __repr__(self) -> str:
        return f"Estimate{super().__repr__().removeprefix(type(self).__name__)}"


def cut(ends: Ends, limits: Ends) -> Ends:
    """An interval cut at what is possible."""
    low, high = np.clip(ends, *limits)
    return float(low), float(high)


def estimate(
    mean: Mean,
    ends: Callable[[float], Ends],
    limits: Ends,
    settings: Settings,
    *,
    naive: float | None = None,
    notes: tuple[str, ...] = (),
    identified: Ends | None = None,
) -> LimitEstimate:
    """The estimate of a mean.

    ``ends``: its interval at any level, before the cut.
    """
    low, high = cut(ends(settings.level), limits)
    boots = settings.method == BOOTSTRAP and mean.replicates is not None and mean.n > 1
    return LimitEstimate(
        value=mean.value,
        low=low,
        high=high,
        naive=naive,
        confidence_level=settings.level,
        method=NAMES[settings.method],
        notes=(*notes, *([ONE_ROW] if math.isnan(low) else [])),
        replicates=mean.replicates if boots else None,
        centers=np.asarray([mean.value]),
        errors=np.asarray([mean.error]) if settings.method == T else None,
        limits=limits,
        identified=identified,
        ends=ends,
    )
