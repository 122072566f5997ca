"""What is run for binomial process modeling: how much of it, which metrics, which calibrators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from halftruth.calibration._binned_errors import calibration_error
from halftruth.calibration._binomial_process import bpm_calibration_error
from halftruth.calibration._smooth_errors import (
    ks_calibration_error,
    logit_smoothed_calibration_error,
    smooth_calibration_error,
)
from halftruth.calibration._sweep_errors import sweep_calibration_error
from halftruth.measure._score_measure import ScoreMeasure
from halftruth_papers.bpm.binomial_process import BinomialProcess, binomial_processes
from halftruth_papers.published import printed_rows

N_BINS = 15
"""Of the binned errors, as in the paper."""
N_CURVE = 10_000
"""Rows from which a curve is estimated."""
BINNINGS = range(10, 50)
"""Numbers of bins of the histograms beside the curve."""
AS_RELEASED = "D1r"
"""The curve of D1 with the scores that the authors' released code draws, those of D3 to more digits."""
RELEASED_SCORES = (1.1233, 0.1147)
PAPER_CURVE = {"bpm": 0.0099, "histograms": 0.0233}
"""Mean absolute errors of the curve of D1."""
PAPER_CLOSEST = (6, 10)
"""Sizes at which TCE_bpm is the closest to the truth in Figure 1(c), and all sizes."""

METRICS: dict[str, Callable[[ScoreMeasure], float]] = {
    "width": partial(calibration_error, n_bins=N_BINS, binning="width"),
    "ece": partial(calibration_error, n_bins=N_BINS),
    "debiased": partial(calibration_error, n_bins=N_BINS, debias="corrected"),
    "ours": partial(calibration_error, debias=True),
    "sweep": sweep_calibration_error,
    "ks": ks_calibration_error,
    "smooth": smooth_calibration_error,
    "logit": logit_smoothed_calibration_error,
    "bpm": bpm_calibration_error,
    "authors": partial(bpm_calibration_error, variant="authors"),
    "empirical": partial(bpm_calibration_error, density="empirical"),
}
SAID = {
    "width": "ECE width",
    "ece": "ECE mass",
    "debiased": "debiased",
    "ours": "debiased, ours",
    "sweep": "sweep",
    "ks": "KS",
    "smooth": "smECE",
    "logit": "LS-ECE",
    "bpm": "TCE_bpm",
    "authors": "TCE_bpm, code",
    "empirical": "TCE_bpm, empirical",
}
COMPARED = ("ece", "debiased", "sweep", "ks", "smooth", "logit", "bpm")
"""Those that Figure 1(c) compares."""
COLUMNS = ("ece", "debiased", "sweep", "ks", "smooth", "bpm")
"""Those of Table 1."""
METHODS = {
    "uncalibrated": "uncalibrated",
    "temperature": "temperature, all classes",
    "confidence": "temperature, confidence",
    "isotonic": "isotonic",
    "mix-n-match": "Mix-n-Match",
    "spline": "spline",
    "bpm": "BPM",
    "bpm-code": "BPM, code",
    "platt": "Platt",
    "beta": "beta",
    "histogram": "histogram binning",
}
"""Rows of Table 1."""
KINDS = {"labeled": "full labels", "pu": "positives and unlabeled"}
BRIEF = {"labeled": "labels", "pu": "PU"}


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How much is done."""

    sizes: tuple[int, ...]
    """Rows of the samples of Figure 1(c)."""
    repeats: int
    curves: int
    """Repeats of Figure 1(b)."""
    block: int
    """Repeats that make one stored result."""
    draws: int
    """Of hits from a calibrated model, beside Table 1."""


FULL = Plan(sizes=tuple(range(500, 5001, 500)), repeats=50, curves=50, block=10, draws=200)
QUICK = Plan(sizes=(500, 2000, 5000), repeats=6, curves=3, block=10, draws=20)


def processes() -> dict[str, BinomialProcess]:
    """The paper's five true distributions, and the one of the released code.

    Examples
    --------
    >>> list(processes())
    ['D1', 'D2', 'D3', 'D4', 'D5', 'D1r']
    """
    published = binomial_processes()
    a1, a2 = RELEASED_SCORES
    return {**published, AS_RELEASED: replace(published["D1"], a1=a1, a2=a2)}


def reported() -> dict[str, dict[str, float]]:
    """Table 1 of Dong et al. 2025, ResNet-110 on CIFAR-10: errors by method and metric.

    Examples
    --------
    >>> reported()["uncalibrated"]["ece"]
    0.04755
    """
    return {
        row.pop("method"): {metric: float(value) for metric, value in row.items()}
        for row in printed_rows("bpm_table1")
    }
