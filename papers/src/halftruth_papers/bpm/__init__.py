"""Dong et al. (2025): calibration by binomial process modeling."""

from __future__ import annotations

from halftruth_papers.bpm.binomial_process import BinomialProcess, binomial_processes, sinusoidal
from halftruth_papers.bpm.response_curves import LogCurve, LogitCurve, LogRestCurve, WaveCurve

__all__ = [
    "BinomialProcess",
    "LogCurve",
    "LogRestCurve",
    "LogitCurve",
    "WaveCurve",
    "binomial_processes",
    "sinusoidal",
]
