"""What every population with a known P(Y=1 | score) has: its truths, and data of every kind drawn from it."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy.special import log_expit

from halftruth import _checks
from halftruth.simulate._draws import Draw, FloatArray, IntArray
from halftruth.simulate._population import LinePopulation
from halftruth.simulate._truths import line_brier, line_calibration_error, line_skill, truth
from halftruth_papers.quantile_line import QuantileLine

__all__ = ["Population"]

_FLOOR = math.log(float(np.finfo(np.float64).eps))
"""Log loss reads a score of 0 or 1 as float64's eps away from it, as is usual."""


class Population(LinePopulation):
    """A population of scores in [0, 1] with a known P(Y=1 | score).

    Wherever `rng` is an int, the same int draws the same rows.

    Examples
    --------
    >>> from halftruth_papers.bpm.binomial_process import BinomialProcess, LogitCurve
    >>> isinstance(BinomialProcess(curve=LogitCurve(), a1=2.0, a2=1.0), Population)
    True
    """

    prior: float

    @property
    @abstractmethod
    def line(self) -> QuantileLine:
        """The population along the logit of its score."""

    @abstractmethod
    def _of_class(self, y: int, n: int, rng: np.random.Generator) -> FloatArray:
        """Draw x of `n` rows of a class."""

    def truth(self, name: str, **params: Any) -> float:
        """Return the exact value of a metric in the population.

        Parameters
        ----------
        name : {"prevalence", "roc_auc", "brier", "brier_skill", "log_loss", "calibration_error", \
"ks_calibration_error"}
        **params
            `norm` (1 or 2) of the calibration error, `statistic` ("ks" or "kuiper") of the KS error.

        Examples
        --------
        >>> from halftruth_papers.bpm.binomial_process import binomial_processes
        >>> round(binomial_processes()["D1"].truth("calibration_error"), 5)
        0.04973
        """
        return truth(self.line, name, params, _TRUTHS)

    def _rows(self, y: IntArray, rng: np.random.Generator) -> Draw:
        """Draw one row for each true class in `y`."""
        x = np.empty(y.size)
        for label in (1, 0):
            rows = y == label
            x[rows] = self._of_class(label, int(rows.sum()), rng)
        return self._described(x, y)


def _prevalence(line: QuantileLine) -> float:
    return line.mean(line.nodes.p)


def _brier_skill(line: QuantileLine) -> float:
    return line_skill(line, _prevalence(line))


def _log_loss(line: QuantileLine) -> float:
    """−E [Y ln s + (1 − Y) ln(1 − s)], the score being the sigmoid of the coordinate."""
    line = line.cut([point for point in (_FLOOR, -_FLOOR) if line.edges[0] < point < line.edges[-1]])
    log_score, log_rest = (np.maximum(log_expit(z), _FLOOR) for z in (line.nodes.z, -line.nodes.z))
    return -line.expected_loss(log_score, log_rest)


def _roc_auc(line: QuantileLine) -> float:
    """P(s₁ > s₀) + P(s₁ = s₀)/2 of a positive and a negative."""
    prior = _prevalence(line)
    return line.mean(line.nodes.p * line.up_to_nodes(1.0 - line.nodes.p)) / (prior * (1.0 - prior))


def _ks_calibration_error(line: QuantileLine, *, statistic: str = "ks") -> float:
    """Largest |C| of C(t) = E (Y − s) 1[s ≤ t], or the span max C − min C for "kuiper"."""
    _checks.choice(statistic, "statistic", ("ks", "kuiper"))
    split = line.by_gap
    running = split.running(split.nodes.p - split.nodes.s)
    if statistic == "ks":
        return float(np.abs(running).max())
    return float(running.max() - running.min())


_TRUTHS: Mapping[str, Callable[..., float]] = MappingProxyType(
    {
        "prevalence": _prevalence,
        "roc_auc": _roc_auc,
        "brier": line_brier,
        "brier_skill": _brier_skill,
        "log_loss": _log_loss,
        "calibration_error": line_calibration_error,
        "ks_calibration_error": _ks_calibration_error,
    }
)
