"""True values of metrics of a population whose coordinate is the logit of its score."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from scipy.special import log_expit

from halftruth import _checks
from halftruth._errors import InputError
from halftruth_papers.score_line import Line

_FLOOR = math.log(float(np.finfo(np.float64).eps))
"""Log loss reads a score of 0 or 1 as float64's eps away from it, as is usual."""


def prevalence(line: Line) -> float:
    """P(Y=1)."""
    return line.mean(line.p)


def brier(line: Line) -> float:
    """E (Y − s)²."""
    return line.mean(line.p * (1.0 - line.s) ** 2 + (1.0 - line.p) * line.s**2)


def brier_skill(line: Line) -> float:
    """1 − brier / (π (1 − π)): the share of the constant forecast's loss that is saved."""
    prior = prevalence(line)
    return 1.0 - brier(line) / (prior * (1.0 - prior))


def log_loss(line: Line) -> float:
    """−E [Y ln s + (1 − Y) ln(1 − s)]."""
    line = line.cut([point for point in (_FLOOR, -_FLOOR) if line.edges[0] < point < line.edges[-1]])
    log_s, log_rest = (np.maximum(log_expit(z), _FLOOR) for z in (line.z, -line.z))
    return -line.mean(line.p * log_s + (1.0 - line.p) * log_rest)


def roc_auc(line: Line) -> float:
    """P(s₁ > s₀) + P(s₁ = s₀)/2 of a positive and a negative."""
    prior = prevalence(line)
    return line.mean(line.p * line.up_to_nodes(1.0 - line.p)) / (prior * (1.0 - prior))


def calibration_error(line: Line, *, norm: int = 1) -> float:
    """E |P(Y=1 | s) − s| for norm 1, the root of E (P(Y=1 | s) − s)² for norm 2."""
    if norm not in (1, 2):
        raise InputError(f"`norm` must be 1 or 2, got {norm!r}. Pass 1 for the mean gap.")
    split = line.by_gap
    total = split.mean(np.abs(split.p - split.s) ** norm)
    return total if norm == 1 else math.sqrt(total)


def ks_calibration_error(line: Line, *, statistic: str = "ks") -> float:
    """Largest |C| of C(t) = E (Y − s) 1[s ≤ t], or the span max C − min C for "kuiper"."""
    _checks.choice(statistic, "statistic", ("ks", "kuiper"))
    split = line.by_gap
    running = split.running(split.p - split.s)
    if statistic == "ks":
        return float(np.abs(running).max())
    return float(running.max() - running.min())


LINE_TRUTHS: Mapping[str, Callable[..., float]] = MappingProxyType(
    {
        "prevalence": prevalence,
        "roc_auc": roc_auc,
        "brier": brier,
        "brier_skill": brier_skill,
        "log_loss": log_loss,
        "calibration_error": calibration_error,
        "ks_calibration_error": ks_calibration_error,
    }
)
