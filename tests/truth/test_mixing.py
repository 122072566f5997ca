"""Known negatives: the mix of two estimates has about the least variance that any fixed weight gives."""

from __future__ import annotations

import numpy as np
import pytest

import halftruth as ht
from halftruth.evidence import _positive_mass

MODEL = ht.simulate.GaussianClasses(prior=0.3, separation=1.5)
CUTS = np.linspace(0.05, 0.95, 19)
SETTINGS = {
    "two samples": {"population": "unlabeled"},
    "two samples, noisy": {"population": "unlabeled", "purity": 0.8},
    "one table": {"population": "all"},
    "one table, noisy": {"population": "all", "purity": 0.8},
}


def variance(setting: str, n_sets: int, weight: float | None, monkeypatch: pytest.MonkeyPatch) -> float:
    """Mean over thresholds of the variance of μ̂₁[s ≥ t]/n, on the same data sets for every weight."""
    if weight is not None:
        monkeypatch.setattr(_positive_mass, "_mixing_weight", lambda *_: np.asarray(weight))
    found = []
    for seed in range(n_sets):
        evidence = MODEL.positive_unlabeled(60, 400, seed, n_negative=80, **SETTINGS[setting])
        measure = evidence.measure()
        above = np.append(np.cumsum(measure.pos_mass[::-1])[::-1], 0.0) / measure.total
        found.append(above[np.searchsorted(measure.score, CUTS)])
    monkeypatch.undo()
    return float(np.var(found, axis=0).mean())


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
def test_no_fixed_weight_is_much_better(setting, draws, monkeypatch):
    n_sets = max(200, draws(800))
    chosen = variance(setting, n_sets, None, monkeypatch)
    fixed = [variance(setting, n_sets, weight, monkeypatch) for weight in np.linspace(0, 1, 11)]
    # The same data: ratios of variances err by far less than (2/n)^(1/2), which is allowed once.
    assert chosen < min(fixed) * (1.03 + (2 / n_sets) ** 0.5)
    assert chosen < 0.97 * min(fixed[0], fixed[-1])
