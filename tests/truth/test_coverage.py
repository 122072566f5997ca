"""95% intervals hold the truth in 95% of simulated data sets, whatever the setting."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

import halftruth as ht

# The study runs in worker processes, which must be able to import it by name.
sys.path.insert(0, str(Path(__file__).parent))
study = importlib.import_module("coverage_study")

FULL = 3000


def slack(n_sets: int) -> float:
    """What fewer data sets than the full number add to the error of a coverage, at 3 standard errors."""
    return float(3 * np.sqrt(0.95 * 0.05) * (n_sets**-0.5 - FULL**-0.5))


@pytest.mark.first
@pytest.mark.slow
def test_intervals_cover_when_the_prior_is_known(draws, capsys):
    n_sets = draws(FULL)
    result = study.coverage(n_sets, estimated=False)
    with capsys.disabled():
        sys.stdout.write(f"\nCoverage of 95% intervals, {n_sets} data sets a cell\n{study.report(result)}")
    assert result.min() >= 0.93 - slack(n_sets)
    assert result.max() <= 0.97 + slack(n_sets)
    # 80 figures, five of a cell from the same data: their mean is at least 4 times as sure as one.
    assert 0.94 - slack(n_sets) / 4 <= result.mean() <= 0.96 + slack(n_sets) / 4


@pytest.mark.first
@pytest.mark.slow
def test_intervals_cover_when_the_prior_is_estimated(draws, capsys):
    n_sets = draws(FULL)
    result = study.coverage(n_sets, estimated=True)
    with capsys.disabled():
        sys.stdout.write(
            f"\nThe prior an estimate with 10% error, {n_sets} data sets a cell\n{study.report(result)}"
        )
    assert result.min() >= 0.93 - slack(n_sets)


@pytest.mark.slow
@pytest.mark.parametrize("evidence", ["labeled", "positive_unlabeled"])
@pytest.mark.parametrize("model", ["calibrated", "less", "better"])
def test_intervals_of_the_calibration_error_cover(model, evidence, draws):
    population = {
        "calibrated": ht.simulate.GaussianClasses(prior=0.3),
        "less": ht.simulate.logistic_model(-0.5, 1.5),
        "better": ht.simulate.logistic_model(-0.2, 1.9),
    }[model]
    truth, n_sets = population.truth("calibration_error"), draws(1000)
    sizes = (2000,) if evidence == "labeled" else (200, 2000)
    hits = 0
    for seed in range(n_sets):
        data = getattr(population, evidence)(*sizes, seed)
        row = ht.evaluate(data, ["calibration_error"], n_resamples=300, rng=seed)["calibration_error"]
        hits += row.low <= truth <= row.high
    # Noise can only inflate a distance, so near 0 the interval may cover more often than it says.
    assert hits / n_sets > 0.9 - 3 * np.sqrt(0.9 * 0.1 / n_sets)


@pytest.mark.slow
def test_intervals_of_calibration_errors_cover_where_all_gaps_have_one_sign(draws):
    """Then noise cancels instead of adding up; the true share lies 0.1 below every score."""
    n_sets, names = draws(300), ["calibration_error", "ks_calibration_error", "smooth_calibration_error"]
    hits = dict.fromkeys(names, 0)
    for seed in range(n_sets):
        rng = np.random.default_rng(seed)
        score = rng.uniform(0.2, 0.9, 500)
        data = ht.Labeled(rng.random(500) < score - 0.1, score)
        for name, row in ht.evaluate(data, names, n_resamples=300, rng=seed).items():
            hits[name] += row.low <= 0.1 <= row.high
    for name in names:
        assert hits[name] / n_sets > 0.93 - slack(n_sets), name
