"""Priors of real data sets, by the protocol of Jain, White and Radivojac (2017).

1,000 rows (100 of small sets) are called positive, of which a share ρ are; up to 10,000 others are unlabeled.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier

import halftruth as ht

N_POSITIVE = {
    "bank": 1000,
    "concrete": 100,
    "housing": 100,
    "mushroom": 1000,
    "pendigits": 1000,
    "pima": 100,
    "shuttle": 1000,
    "wine": 1000,
}
MOST_UNLABELED = 10_000
Rows = tuple[np.ndarray, np.ndarray, float]


def rows(data_dir: Path, name: str, n_positive: int, rng: np.random.Generator, purity: float = 1.0) -> Rows:
    """Features, which rows are called positive, and the true share of positives among the others."""
    with np.load(data_dir / f"{name}.npz", allow_pickle=False) as file:
        x, y = file["X"].astype(float), file["y"] == 1
    positive, negative = (rng.permutation(np.flatnonzero(y == c)) for c in (True, False))
    right = round(purity * n_positive)
    called = np.concatenate([positive[:right], negative[: n_positive - right]])
    rest = np.concatenate([positive[right:], negative[n_positive - right :]])
    rest = rng.permutation(rest)[:MOST_UNLABELED]
    chosen = np.concatenate([called, rest])
    return x[chosen], np.arange(len(chosen)) < n_positive, float(y[rest].mean())


def out_of_bag(x: np.ndarray, called: np.ndarray, seed: int) -> np.ndarray:
    forest = ExtraTreesClassifier(
        400, min_samples_leaf=3, bootstrap=True, oob_score=True, n_jobs=-1, random_state=seed
    )
    return np.asarray(forest.fit(x, called).oob_decision_function_[:, 1])


@dataclass(frozen=True)
class Study:
    """Repetitions of small sets, which err most and cost least, and of large ones; spreads of an error there."""

    repetitions: tuple[int, int]
    spreads: tuple[float, float]

    def of(self, name: str) -> int:
        return self.repetitions[N_POSITIVE[name] > 100]

    def slack(self, draws: Callable[[int], int]) -> float:
        """What fewer repetitions than all add to the error of the mean over the sets, at 3 standard errors."""
        some, every = (
            np.sqrt(sum(self.spreads[n > 100] ** 2 / k(self.of(name)) for name, n in N_POSITIVE.items()))
            for k in (draws, lambda n: n)
        )
        return float(max(0.0, 3 * (some - every) / len(N_POSITIVE)))


CLEAN = Study((12, 3), (0.07, 0.03))
NOISY = Study((8, 2), (0.1, 0.05))


def say(capsys: pytest.CaptureFixture[str], title: str, errors: dict[str, list[float]]) -> float:
    """Print the mean absolute error of each set, and return their mean."""
    found = {name: float(np.mean(np.abs(e))) for name, e in errors.items()}
    mean = float(np.mean(list(found.values())))
    with capsys.disabled():
        figures = ", ".join(f"{k} {found[k]:.3f} ({np.std(np.abs(e)):.3f})" for k, e in errors.items())
        sys.stdout.write(f"\n{title}: mean {mean:.4f}; by set, with the spread: {figures}\n")
    return mean


@pytest.mark.slow
def test_priors_of_clean_positives(
    data_dir: Path, draws: Callable[[int], int], capsys: pytest.CaptureFixture[str]
) -> None:
    errors: dict[str, list[float]] = {}
    for k, (name, n_positive) in enumerate(N_POSITIVE.items()):
        errors[name] = []
        for seed in range(draws(CLEAN.of(name))):
            x, called, alpha = rows(data_dir, name, n_positive, np.random.default_rng([40, k, seed]))
            estimate = ht.estimate_prior_from_features(x, called, n_refits=0, rng=seed)
            errors[name].append(estimate.value - alpha)
    mean = say(capsys, "|α̂ − α| of clean positives", errors)
    assert mean <= 0.05 + CLEAN.slack(draws)


@pytest.mark.slow
@pytest.mark.parametrize("purity", [0.95, 0.75])
def test_priors_and_purities_of_noisy_positives(
    purity: float, data_dir: Path, draws: Callable[[int], int], capsys: pytest.CaptureFixture[str]
) -> None:
    errors: dict[str, list[float]] = {}
    for k, (name, n_positive) in enumerate(N_POSITIVE.items()):
        errors[name] = []
        for seed in range(draws(NOISY.of(name))):
            rng = np.random.default_rng([41, k, seed])
            x, called, alpha = rows(data_dir, name, n_positive, rng, purity)
            score = out_of_bag(x, called, seed)
            both = ht.estimate_prior_and_purity(score[called], score[~called], rng=seed)
            errors[name].append(both.purity.value - both.prior.value - (purity - alpha))
    mean = say(capsys, f"|(ρ̂ − α̂) − (ρ − α)|, ρ = {purity:g}", errors)
    assert mean <= 0.07 + NOISY.slack(draws)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["adult", "covtype_sub"])
def test_overlapping_sets_keep_the_truth_within_what_is_not_refuted(
    name: str, data_dir: Path, draws: Callable[[int], int], capsys: pytest.CaptureFixture[str]
) -> None:
    found = []
    for seed in range(draws(2)):
        x, called, alpha = rows(data_dir, name, 1000, np.random.default_rng([42, seed]))
        score = out_of_bag(x, called, seed)
        for method in ("auto", "bbe"):
            estimate = ht.estimate_prior(score[called], score[~called], method=method, n_resamples=50)
            found.append(f"{method} {estimate.value:.3f} for {alpha:.3f}, upper {estimate.upper:.3f}")
            assert estimate.upper is not None
            assert alpha <= estimate.upper
            assert "random sample of the positives" in estimate.assumption
            word = "ROC shapes" if method == "auto" else "irreducibility"
            assert word in estimate.assumption
    with capsys.disabled():
        sys.stdout.write(f"\n{name}: " + "; ".join(found) + "\n")
