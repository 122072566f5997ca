"""Calibration curves s ↦ P(Y=1 | s), to make populations of."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, xlog1py, xlogy

from halftruth import _checks
from halftruth._errors import InputError
from halftruth.simulate._draws import FloatArray


@dataclass(frozen=True, kw_only=True)
class LogitCurve:
    """logit p = intercept + rise ln s − fall ln(1 − s): a beta curve, logistic where rise = fall.

    Parameters
    ----------
    intercept, rise, fall : float
        The identity by default.

    Examples
    --------
    >>> LogitCurve()([0.2, 0.5, 1.0]).round(12).tolist()
    [0.2, 0.5, 1.0]
    """

    intercept: float = 0.0
    rise: float = 1.0
    fall: float = 1.0

    def __post_init__(self) -> None:
        _check_finite(intercept=self.intercept, rise=self.rise, fall=self.fall)

    def __call__(self, s: ArrayLike) -> FloatArray:
        """P(Y=1) at the scores `s`."""
        s = np.asarray(s, dtype=np.float64)
        # A coefficient of 0 leaves its term out also where the logarithm is infinite.
        return np.asarray(expit(self.intercept + xlogy(self.rise, s) - xlog1py(self.fall, -s)))


@dataclass(frozen=True, kw_only=True)
class LogCurve:
    """ln p = intercept + slope ln s, with intercept <= 0 and slope >= 0.

    Parameters
    ----------
    intercept, slope : float

    Examples
    --------
    >>> LogCurve(slope=2.0)([0.0, 0.5, 1.0]).tolist()
    [0.0, 0.25, 1.0]
    """

    intercept: float = 0.0
    slope: float = 1.0

    def __post_init__(self) -> None:
        _check_share(self.intercept, self.slope)

    def __call__(self, s: ArrayLike) -> FloatArray:
        """P(Y=1) at the scores `s`."""
        return np.asarray(np.exp(self.intercept + xlogy(self.slope, np.asarray(s, dtype=np.float64))))


@dataclass(frozen=True, kw_only=True)
class LogRestCurve:
    """ln(1 − p) = intercept + slope ln(1 − s), with intercept <= 0 and slope >= 0.

    Parameters
    ----------
    intercept, slope : float

    Examples
    --------
    >>> LogRestCurve(slope=2.0)([0.0, 0.5, 1.0]).tolist()
    [0.0, 0.75, 1.0]
    """

    intercept: float = 0.0
    slope: float = 1.0

    def __post_init__(self) -> None:
        _check_share(self.intercept, self.slope)

    def __call__(self, s: ArrayLike) -> FloatArray:
        """P(Y=1) at the scores `s`."""
        log_rest = self.intercept + xlog1py(self.slope, -np.asarray(s, dtype=np.float64))
        return np.asarray(0.0 - np.expm1(log_rest))


@dataclass(frozen=True, kw_only=True)
class WaveCurve:
    """p = s + amplitude · 4 s (1 − s) · sin(2π waves s): no parametric family of calibrators has it.

    Parameters
    ----------
    amplitude : float in [-0.25, 0.25]
        The largest gap; beyond a quarter p could leave [0, 1].
    waves : float
        Periods between 0 and 1.

    Examples
    --------
    >>> WaveCurve(amplitude=0.1, waves=0.5)([0.0, 0.5, 1.0]).round(12).tolist()
    [0.0, 0.6, 1.0]
    """

    amplitude: float = 0.12
    waves: float = 2.5

    def __post_init__(self) -> None:
        advice = "Beyond a quarter the curve would leave [0, 1]."
        _checks.inside(self.amplitude, "amplitude", -0.25, 0.25, closed="both", advice=advice)
        _checks.finite(self.waves, "waves")

    def __call__(self, s: ArrayLike) -> FloatArray:
        """P(Y=1) at the scores `s`."""
        s = np.asarray(s, dtype=np.float64)
        wave = 4.0 * self.amplitude * np.sin(2.0 * math.pi * self.waves * s)
        # With an amplitude of a quarter only rounding can leave [0, 1].
        return np.clip(s + s * (1.0 - s) * wave, 0.0, 1.0)


def _check_finite(**values: float) -> None:
    for name, value in values.items():
        _checks.finite(value, name)


def _check_share(intercept: float, slope: float) -> None:
    _check_finite(intercept=intercept, slope=slope)
    if intercept > 0.0 or slope < 0.0:
        raise InputError(
            f"`intercept` must be at most 0 and `slope` at least 0, got {intercept!r} and {slope!r}: the "
            "curve would leave [0, 1]. Pass such numbers."
        )
