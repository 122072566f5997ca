"""Real data, by the protocol of Jain, White and Radivojac (AAAI 2017), and data whose truth is unknown.

A random sample of the positives is labeled, all else is unlabeled, at most 10,000 rows of it. With noise a
part of the labeled rows is negative.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from tools.prior_study.estimates import OF_FEATURES, OF_PAIRS, points, summary
from tools.prior_study.settings import SLOW, Settings, say

import halftruth as ht
from halftruth.prior._from_features import HeldOut
from halftruth.prior._methods import METHODS

MOST_UNLABELED = 10_000
PURITIES = (0.95, 0.75)


@dataclass(frozen=True)
class Published:
    """How many rows are labeled, and the paper's e, the mean error of ρ̂ − α̂, at ρ = 1, .95, .75 (Table 1)."""

    n_labeled: int
    error: dict[float, float]


def _published(n_labeled: int, *errors: float) -> Published:
    return Published(n_labeled, dict(zip((1.0, *PURITIES), errors, strict=True)))


PAPER = {
    "bank": _published(1000, 0.238, 0.230, 0.167),
    "concrete": _published(100, 0.143, 0.130, 0.145),
    "housing": _published(100, 0.063, 0.055, 0.079),
    "mushroom": _published(1000, 0.006, 0.010, 0.010),
    "pendigits": _published(1000, 0.009, 0.007, 0.010),
    "pima": _published(100, 0.191, 0.155, 0.149),
    "shuttle": _published(1000, 0.007, 0.026, 0.004),
    "wine": _published(1000, 0.133, 0.121, 0.186),
}
OVERLAPPING = {"adult": 1000, "covtype_sub": 1000}
"""Classes that overlap everywhere."""
TRUTH_UNKNOWN = ("gsec_pu", "phospho_pu")
"""Positives and unlabeled from the start."""


@dataclass(frozen=True, eq=False)
class Case:
    """Rows, which of them are labeled, and the truth."""

    x: np.ndarray
    labeled: np.ndarray
    alpha: float

    def scores(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Out-of-bag scores of the labeled and of the unlabeled rows, by the default classifier."""
        score = HeldOut(self.x, self.labeled, None).of(rng)
        return score[self.labeled], score[~self.labeled]


def run(settings: Settings) -> dict[str, Any]:
    """Clean labels, overlapping classes, and sets without a truth."""
    return {
        "repetitions": settings.repetitions,
        "slow_repetitions": settings.slow_repetitions,
        "refits": settings.refits,
        "clean": [_clean(settings, name) for name in PAPER if settings.wants(name)],
        "overlapping": [_overlapping(settings, name) for name in OVERLAPPING if settings.wants(name)],
        "truth_unknown": [_truth_unknown(settings, name) for name in TRUTH_UNKNOWN if settings.wants(name)],
    }


def run_noisy(settings: Settings) -> dict[str, Any]:
    """Labels of which some are wrong."""
    sets = [_noisy(settings, name, purity) for name in PAPER if settings.wants(name) for purity in PURITIES]
    return {"repetitions": settings.repetitions, "sets": sets}


def read(settings: Settings, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features and class of a data set."""
    with np.load(settings.folder_of_data() / f"{name}.npz") as stored:
        return stored["X"].astype(np.float64), stored["y"] == 1


def case(x: np.ndarray, y: np.ndarray, n_labeled: int, purity: float, rng: np.random.Generator) -> Case:
    """Label a random sample, of which the share ``purity`` is positive."""
    n_true = round(purity * n_labeled)
    drawn = [
        rng.choice(np.flatnonzero(y == is_positive), count, replace=False)
        for is_positive, count in ((True, n_true), (False, n_labeled - n_true))
    ]
    labeled = np.concatenate(drawn)
    unlabeled = rng.permutation(np.setdiff1d(np.arange(len(y)), labeled))[:MOST_UNLABELED]
    rows = np.concatenate([labeled, unlabeled])
    return Case(x[rows], np.arange(len(rows)) < n_labeled, float(y[unlabeled].mean()))


def _clean(settings: Settings, name: str) -> dict[str, Any]:
    x, y = read(settings, name)
    alphas, auto = [], []
    error: dict[str, list[float]] = {}
    for repetition in range(settings.repetitions):
        say(f"real: {name}, repetition {repetition + 1}")
        rng = settings.rng("clean", name, repetition)
        made = case(x, y, PAPER[name].n_labeled, 1.0, rng)
        skipped = SLOW if repetition >= settings.slow_repetitions else ()
        p, u = made.scores(rng)
        auto.append(summary(ht.estimate_prior(p, u, rng=rng)))
        found = {"auto": auto[-1]["value"], **points(_without(OF_PAIRS, skipped), p, u, rng)}
        found |= _from_features(made, _without(OF_FEATURES, skipped), rng)
        alphas.append(made.alpha)
        for method, value in found.items():
            error.setdefault(method, []).append(value - made.alpha)
    return {"name": name, "alpha": alphas, "error": error, "auto": auto}


def _without(names: tuple[str, ...], skipped: tuple[str, ...]) -> list[str]:
    return [name for name in names if name not in skipped]


def _from_features(made: Case, names: list[str], rng: np.random.Generator) -> dict[str, float]:
    """α by the methods that look at the features themselves."""
    found = {}
    for name in names:
        fit = METHODS[name].fit_features
        assert fit is not None
        found[f"{name}, features"] = float(fit(made.x[made.labeled], made.x[~made.labeled], rng=rng).value)
    return found


def _noisy(settings: Settings, name: str, purity: float) -> dict[str, Any]:
    x, y = read(settings, name)
    error: dict[str, list[float]] = {"auto": [], "alphamax": []}
    for repetition in range(settings.repetitions):
        say(f"noisy: {name}, ρ = {purity}, repetition {repetition + 1}")
        rng = settings.rng("noisy", name, purity, repetition)
        made = case(x, y, PAPER[name].n_labeled, purity, rng)
        p, u = made.scores(rng)
        for method, errors in error.items():
            both = ht.estimate_prior_and_purity(p, u, method=method, n_resamples=2, rng=rng)
            errors.append(both.purity.value - both.prior.value - (purity - made.alpha))
    return {"name": name, "purity": purity, "error": error}


def _overlapping(settings: Settings, name: str) -> dict[str, Any]:
    say(f"real: {name}")
    rng = settings.rng("overlapping", name)
    made = case(*read(settings, name), OVERLAPPING[name], 1.0, rng)
    p, u = made.scores(rng)
    return {
        "name": name,
        "alpha": made.alpha,
        "auto": _estimate(settings, made, rng),
        "points": points(OF_PAIRS, p, u, rng),
    }


def _truth_unknown(settings: Settings, name: str) -> dict[str, Any]:
    say(f"real: {name}")
    x, labeled = read(settings, name)
    made = Case(x, labeled, np.nan)
    estimate = _estimate(settings, made, settings.rng("unknown", name))
    return {"name": name, "n": [int(labeled.sum()), int((~labeled).sum())], "auto": estimate}


def _estimate(settings: Settings, made: Case, rng: np.random.Generator) -> dict[str, Any]:
    """By the one call of a user, whose interval holds the classifier's variability."""
    estimate = ht.estimate_prior_from_features(made.x, made.labeled, n_refits=settings.refits, rng=rng)
    return summary(estimate)
