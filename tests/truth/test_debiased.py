"""The debiased PU-ECE is nearer to the true calibration error than PU-ECE, and nowhere further from it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

import halftruth as ht
from halftruth.calibration._binned_errors import calibration_error
from halftruth_papers.bpm.binomial_process import binomial_processes, sinusoidal

RUNS = 500
MODELS: dict[str, Callable[[], Any]] = {
    "less calibrated": lambda: ht.simulate.logistic_model(-0.5, 1.5),
    "better calibrated": lambda: ht.simulate.logistic_model(-0.2, 1.9),
    **{name: lambda name=name: binomial_processes()[name] for name in ("D1", "D2", "D3", "D4", "D5")},
    "sinusoidal": sinusoidal,
}
PAPER = [(name, n) for name in ("less calibrated", "better calibrated") for n in (100, 300, 1000, 3000)]
OTHERS = [(name, n) for name in list(MODELS)[2:] for n in (100, 1000)]


class Ratio(NamedTuple):
    """RMSE of the debiased error over that of PU-ECE, and its standard error by the delta method."""

    value: float
    error: float

    @property
    def slack(self) -> float:
        """The limits are meant for 500 runs; with fewer, three standard errors more."""
        return 3 * self.error


@cache
def ratio_of(name: str, n_positive: int, runs: int) -> Ratio:
    model = MODELS[name]()
    truth = model.truth("calibration_error")
    rng = np.random.default_rng([*name.encode(), n_positive])
    squares = np.empty((runs, 2))
    for run in range(runs):
        evidence = model.positive_unlabeled(n_positive, 10 * n_positive, rng)
        found = calibration_error(evidence, debias=True), calibration_error(evidence)
        squares[run] = np.square(np.subtract(found, truth))
    means = squares.mean(axis=0)
    value = float(np.sqrt(means[0] / means[1]))
    # ln ratio = (ln m₀ − ln m₁)/2, and runs are paired.
    spread = (squares[:, 0] / means[0] - squares[:, 1] / means[1]).std(ddof=1) / 2
    sys.stdout.write(f"{name} {n_positive}: {value:.3f} of the error\n")
    return Ratio(value, value * float(spread) / np.sqrt(runs))


def limit(wanted: float, slack: float, runs: int) -> float:
    return wanted if runs >= RUNS else wanted + slack


@pytest.mark.slow
@pytest.mark.parametrize(("name", "n_positive"), [*PAPER, *OTHERS])
def test_never_worse(draws, name, n_positive):
    runs = draws(RUNS)
    found = ratio_of(name, n_positive, runs)
    assert found.value <= limit(1.02, found.slack, runs)


@pytest.mark.slow
def test_half_the_error_on_the_settings_of_the_paper(draws):
    runs = draws(RUNS)
    found = [ratio_of(name, n, runs) for name, n in PAPER]
    sys.stdout.write(f"mean over the eight: {np.mean([r.value for r in found]):.3f}\n")
    slack = 3 * np.sqrt(np.sum([r.error**2 for r in found])) / len(found)
    assert np.mean([r.value for r in found]) <= limit(0.5, slack, runs)
