"""How fast PU-ECE nears the true calibration error: the slopes of the PU-ECE paper's Figure 1."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from halftruth.simulate import logistic_model
from halftruth_papers.pu_ece import experiments, sources, tables
from halftruth_papers.pu_ece.logit_mixture import LogitMixture
from halftruth_papers.pu_ece.recipes import NNPU, RECIPES
from halftruth_papers.pu_ece.settings import BINNINGS, FIGURE_1, FULL, MNIST, SYNTHETIC

Draws = Callable[[int], int]


def slopes(model: Any, trials: int) -> dict[tuple[str, str], tuple[float, float]]:
    """By binning and line: the slope, and the noise that it has beyond that of the paper's 100 trials."""
    results: dict[str, Any] = {"less.about": {"truth": model.truth("calibration_error")}}
    for i, design in enumerate(dict.fromkeys(design for design, _ in FIGURE_1)):
        for n in FULL.sizes:
            results[f"less.{design}.{n}"] = experiments.cell(model, design, n, trials, [4, i, n])
    found = {}
    for binning in BINNINGS:
        for key, label in FIGURE_1.items():
            line = tables.line(results, "less", binning, key)
            more = math.sqrt(max(0.0, 1 - trials / FULL.trials)) * line.slope_error
            found[binning, label] = line.slope, more
    return found


def outside(found: dict[tuple[str, str], tuple[float, float]], low: float, high: float) -> dict[Any, float]:
    """The slopes beyond the limits, which with all trials are meant as they stand.

    With fewer, four standard errors of what the missing trials would have told are let pass.
    """
    return {
        name: slope
        for name, (slope, noise) in found.items()
        if not low - 4 * noise <= slope <= high + 4 * noise
    }


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["less", "better"])
def test_the_bias_falls_faster_than_the_bound(setting: str, draws: Draws) -> None:
    found = slopes(logistic_model(*SYNTHETIC[setting]), max(2, draws(FULL.trials)))
    assert outside(found, -math.inf, -0.30) == {}


@pytest.mark.slow
def test_a_perfectly_calibrated_model_attains_the_bound(draws: Draws) -> None:
    found = slopes(logistic_model(*SYNTHETIC["exact"]), max(2, draws(FULL.trials)))
    assert outside(found, -0.37, -0.28) == {}


@pytest.mark.slow
def test_the_bias_falls_faster_than_the_bound_on_a_real_model_s_scores(
    data_dir: Path, draws: Draws, require: Callable[[str], ModuleType]
) -> None:
    """Two passes are enough: the true calibration error of the scores then is .08."""
    require("torch")
    from halftruth_papers.pu_ece.networks import trained

    digits = sources.read(MNIST, data_dir / sources.MNIST_FILE)
    found = trained(digits, RECIPES[MNIST], NNPU, n=1, passes=2, seed=[0], device="cpu")
    model = LogitMixture.fit(found["logits"], found["y"])
    fallen = slopes(model, max(2, draws(FULL.trials)))
    assert outside(fallen, -math.inf, -0.30) == {}
