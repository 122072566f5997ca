"""True values of what judges scores as probabilities: proper scores and calibration."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
from scipy.special import expit, log_expit

from halftruth import _checks
from halftruth._errors import InputError
from halftruth.simulate.quadrature import REACH, break_points, integrate, normal_density
from halftruth.simulate.scores import GaussianScores


def brier(model: GaussianScores) -> float:
    """E (Y - s)^2."""
    model.require_probability("brier")
    (low, high), (intercept, slope) = model.limits, model.coefficients

    # 1 - s from its own sigmoid: subtracting from one would lose the digits of a small error.
    def positive_loss(x: float) -> float:
        return (1.0 - high + (high - low) * float(expit(-intercept - slope * x))) ** 2

    def negative_loss(x: float) -> float:
        return (low + (high - low) * float(expit(intercept + slope * x))) ** 2

    return _expected_loss(model, positive_loss, negative_loss)


def brier_skill(model: GaussianScores) -> float:
    """1 - brier / (prior (1 - prior)): the share of the constant forecast's loss that is saved."""
    model.require_probability("brier_skill")
    return 1.0 - brier(model) / (model.prior * (1.0 - model.prior))


def log_loss(model: GaussianScores) -> float:
    """-E [Y ln s + (1 - Y) ln(1 - s)]."""
    model.require_probability("log_loss")
    (low, high), (intercept, slope) = model.limits, model.coefficients

    def positive_loss(x: float) -> float:
        return -_log_sum(low, high - low, float(log_expit(intercept + slope * x)))

    def negative_loss(x: float) -> float:
        return -_log_sum(1.0 - high, high - low, float(log_expit(-intercept - slope * x)))

    return _expected_loss(model, positive_loss, negative_loss)


def risk(model: GaussianScores, *, loss: str = "logistic") -> float:
    """E ℓ(s) of positives and E ℓ(−s) of negatives, the score read as a margin."""
    margin = _MARGIN_LOSSES[_checks.choice(loss, "loss", tuple(_MARGIN_LOSSES))]

    def positive_loss(x: float) -> float:
        return margin(float(model.score(x)))

    def negative_loss(x: float) -> float:
        return margin(-float(model.score(x)))

    # The ramp turns at the margins −1 and 1, which probabilities do not pass.
    turns = (-1.0, 1.0) if model.margin else ()
    return _expected_loss(model, positive_loss, negative_loss, turns, absolute=1e-14)


_MARGIN_LOSSES: dict[str, Callable[[float], float]] = {
    "sigmoid": lambda z: float(expit(-z)),
    "logistic": lambda z: -float(log_expit(z)),
    "squared": lambda z: (1.0 - z) ** 2,
    "ramp": lambda z: min(1.0, max(0.0, (1.0 - z) / 2.0)),
}


def calibration_error(model: GaussianScores, *, norm: int = 1) -> float:
    """E |P(Y=1 | s) - s| for norm 1, the root of E (P(Y=1 | s) - s)^2 for norm 2.

    The score rises with x, so P(Y=1 | s) is P(Y=1 | x).
    """
    model.require_probability("calibration_error")
    if norm not in (1, 2):
        raise InputError(f"`norm` must be 1 or 2, got {norm!r}. Pass 1 for the mean gap.")
    m0, m1 = model.means

    def gap(x: float) -> float:
        return float(model.posterior(x)) - float(model.score(x))

    def integrand(x: float) -> float:
        density = model.prior * normal_density(x - m1) + (1 - model.prior) * normal_density(x - m0)
        return density * float(abs(gap(x)) ** norm)

    edges = break_points(model, _sign_changes(model, gap))
    # Where score and posterior agree only rounding is left, which no relative tolerance can meet.
    total = integrate(integrand, edges, absolute=1e-14)
    return total if norm == 1 else math.sqrt(total)


def _expected_loss(
    model: GaussianScores,
    positive_loss: Callable[[float], float],
    negative_loss: Callable[[float], float],
    turns: tuple[float, ...] = (),
    *,
    absolute: float = 1e-25,
) -> float:
    m0, m1 = model.means
    edges = break_points(model, turns)
    positive = integrate(lambda x: positive_loss(x) * normal_density(x - m1), edges, absolute=absolute)
    negative = integrate(lambda x: negative_loss(x) * normal_density(x - m0), edges, absolute=absolute)
    return model.prior * positive + (1.0 - model.prior) * negative


def _log_sum(floor: float, width: float, log_share: float) -> float:
    """Return ln(floor + width * share), also where the share underflows."""
    if floor == 0.0:
        return math.log(width) + log_share
    return math.log(floor + width * math.exp(log_share))


def _sign_changes(model: GaussianScores, gap: Callable[[float], float]) -> list[float]:
    from scipy.optimize import brentq

    grid = np.linspace(min(model.means) - REACH, max(model.means) + REACH, 4001)
    gaps = model.posterior(grid) - model.score(grid)
    # Differences below this are rounding: their signs mean nothing.
    told = np.flatnonzero(np.abs(gaps) > 1e-13)
    return [
        float(brentq(gap, grid[left], grid[right], xtol=1e-14))
        for left, right in pairwise(told)
        if gaps[left] * gaps[right] < 0
    ]
