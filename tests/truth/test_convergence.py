"""Every evidence kind converges to the truth, at the rate n^(-1/2), for every smooth metric."""

from __future__ import annotations

import numpy as np
import pytest

import halftruth as ht
from halftruth._registry import REGISTRY

THRESHOLD = 0.35
# Calibration errors are distances, and biased at every n.
SMOOTH = [name for name in REGISTRY if name != "prevalence" and not name.endswith("calibration_error")]
MODEL = ht.simulate.GaussianClasses(prior=0.3, separation=1.4, intercept=-1.6, slope=1.3, limits=(0.01, 0.99))
SIZES = (1_000, 10_000, 100_000, 1_000_000)


def propensity(x):
    return 0.2 + 0.6 / (1 + np.exp(-x))


def pu(share=0.125, n_negative=0.0, **given):
    """Evidence with this share of known positives (and negatives) among n rows."""

    def draw(n, rng):
        known, negative = int(share * n), int(n_negative * n)
        return MODEL.positive_unlabeled(known, n - known - negative, rng, n_negative=negative, **given)

    return draw


KINDS = {
    "labeled": MODEL.labeled,
    "soft": MODEL.soft,
    "confidence": MODEL.positive_confidence,
    "confidence, prior": lambda n, rng: MODEL.positive_confidence(n, rng, prior=0.3),
    "propensity, no prior, all": pu(population="all", propensity=propensity, prior=None),
}
for population in ("unlabeled", "all"):
    KINDS |= {
        f"clean, {population}": pu(population=population),
        f"purity, {population}": pu(population=population, purity=0.8),
        f"propensity, {population}": pu(population=population, propensity=propensity),
        f"negatives, {population}": pu(n_negative=0.1, population=population),
        f"negatives, no prior, {population}": pu(n_negative=0.1, population=population, prior=None),
        f"purity and negatives, {population}": pu(n_negative=0.1, population=population, purity=0.8),
        f"propensity and negatives, {population}": pu(
            n_negative=0.1, population=population, propensity=propensity
        ),
    }


def parameters(name):
    metric = REGISTRY[name]
    return dict(metric.example) | ({"threshold": THRESHOLD} if metric.threshold else {})


TRUTH = {name: MODEL.truth(name, **parameters(name)) for name in SMOOTH}


def errors(kind: str, n: int, repeats: int) -> np.ndarray:
    """Errors of every metric on repeated samples of n rows, (repeats, n_metrics)."""
    rng = np.random.default_rng([sorted(KINDS).index(kind), n])
    out = []
    for _ in range(repeats):
        measure = KINDS[kind](n, rng).measure()
        out.append([REGISTRY[name].function(measure, **parameters(name)) - TRUTH[name] for name in SMOOTH])
    return np.asarray(out)


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_error_falls_with_the_root_of_n(kind, draws):
    repeats = max(6, draws(40))
    every = [errors(kind, n, repeats) for n in SIZES]
    rmse = np.sqrt(np.mean(np.square(every), axis=1))
    x = np.log(SIZES) - np.mean(np.log(SIZES))
    slope = x @ np.log(rmse) / (x @ x)
    # The log of an RMSE of k normal errors has a standard error of (2k)^(-1/2).
    tolerance = 4 * (2 * repeats) ** -0.5 / np.sqrt(x @ x)
    for name, found in zip(SMOOTH, slope, strict=True):
        assert abs(found + 0.5) < tolerance, f"{kind}, {name}: slope {found:.3f}"
    last = every[-1]
    z = last.mean(axis=0) / (last.std(axis=0, ddof=1) / np.sqrt(repeats))
    limit = 4 if repeats >= 30 else 9  # Student's t with few repeats has long tails
    for name, found in zip(SMOOTH, z, strict=True):
        assert abs(found) < limit, f"{kind}, {name}: {found:.1f} standard errors off at n = {SIZES[-1]}"
