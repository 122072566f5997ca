"""Priors of real data sets, by the protocol of Jain, White and Radivojac (2017).

1,000 rows (100 of small sets) are called positive, of which a share ρ are; up to 10,000 others are unlabeled.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import halftruth as ht
from halftruth.prior._from_features import HeldOut

SMALL = ("concrete", "housing", "pima")
# Repetitions, many where they differ and cost little, and the spread of the absolute error over them.
CLEAN = {
    "bank": (8, 0.025),
    "concrete": (16, 0.055),
    "housing": (16, 0.045),
    "mushroom": (2, 0.015),
    "pendigits": (2, 0.003),
    "pima": (24, 0.1),
    "shuttle": (2, 0.001),
    "wine": (10, 0.06),
}
NOISY = {
    "bank": (2, 0.02),
    "concrete": (8, 0.1),
    "housing": (6, 0.055),
    "mushroom": (1, 0.01),
    "pendigits": (1, 0.01),
    "pima": (8, 0.1),
    "shuttle": (1, 0.005),
    "wine": (3, 0.03),
}
MOST_UNLABELED = 10_000
Rows = tuple[np.ndarray, np.ndarray, float]


def rows(data_dir: Path, name: str, rng: np.random.Generator, purity: float = 1.0) -> Rows:
    """Features, which rows are called positive, and the true share of positives among the others."""
    with np.load(data_dir / f"{name}.npz", allow_pickle=False) as file:
        x, y = file["X"].astype(float), file["y"] == 1
    positive, negative = (rng.permutation(np.flatnonzero(y == c)) for c in (True, False))
    n_positive = 100 if name in SMALL else 1000
    right = round(purity * n_positive)
    called = np.concatenate([positive[:right], negative[: n_positive - right]])
    rest = np.concatenate([positive[right:], negative[n_positive - right :]])
    rest = rng.permutation(rest)[:MOST_UNLABELED]
    chosen = np.concatenate([called, rest])
    return x[chosen], np.arange(len(chosen)) < n_positive, float(y[rest].mean())


def held_out(x: np.ndarray, called: np.ndarray, seed: int) -> np.ndarray:
    return HeldOut(x, called, None).of(np.random.default_rng(seed))


def margin(study: dict[str, tuple[int, float]], draws: Callable[[int], int], n_purities: int = 1) -> float:
    """Two standard errors of the mean over the sets and the repetitions made."""
    variance = sum(spread**2 / (n_purities * draws(n)) for n, spread in study.values())
    return float(2 * np.sqrt(variance) / len(study))


def say(capsys: pytest.CaptureFixture[str], title: str, errors: dict[str, list[float]]) -> float:
    """Print the mean absolute error of each set, and return their mean."""
    found = {name: float(np.mean(np.abs(e))) for name, e in errors.items()}
    mean = float(np.mean(list(found.values())))
    with capsys.disabled():
        figures = ", ".join(f"{k} {found[k]:.3f} ({np.std(np.abs(e)):.3f})" for k, e in errors.items())
        sys.stdout.write(f"\n{title}: mean {mean:.4f}; by set, with the spread: {figures}\n")
    return mean


# AlphaMax in the paper has .099. All these repetitions gave .047; small sets differ much from draw to draw.
@pytest.mark.slow
def test_priors_of_clean_positives(
    data_dir: Path, draws: Callable[[int], int], capsys: pytest.CaptureFixture[str]
) -> None:
    errors: dict[str, list[float]] = {}
    for k, (name, (n, _)) in enumerate(CLEAN.items()):
        errors[name] = []
        for seed in range(draws(n)):
            x, called, alpha = rows(data_dir, name, np.random.default_rng([40, k, seed]))
            estimate = ht.estimate_prior_from_features(x, called, n_refits=0, rng=seed)
            errors[name].append(estimate.value - alpha)
    mean = say(capsys, "|α̂ − α| of clean positives", errors)
    assert mean <= 0.05 + margin(CLEAN, draws)


# The paper has .093, .092 with ρ = .95 and .094 with ρ = .75. Here all repetitions gave .070 and .066.
@pytest.mark.first
@pytest.mark.slow
def test_priors_and_purities_of_noisy_positives(
    data_dir: Path, draws: Callable[[int], int], capsys: pytest.CaptureFixture[str]
) -> None:
    means = []
    for purity in (0.95, 0.75):
        errors: dict[str, list[float]] = {}
        for k, (name, (n, _)) in enumerate(NOISY.items()):
            errors[name] = []
            for seed in range(draws(n)):
                rng = np.random.default_rng([41, k, seed])
                x, called, alpha = rows(data_dir, name, rng, purity)
                score = held_out(x, called, seed)
                both = ht.estimate_prior_and_purity(score[called], score[~called], rng=seed)
                errors[name].append(both.purity.value - both.prior.value - (purity - alpha))
        means.append(say(capsys, f"|(ρ̂ − α̂) − (ρ − α)|, ρ = {purity:g}", errors))
    assert np.mean(means) <= 0.07 + margin(NOISY, draws, len(means))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["adult", "covtype_sub"])
def test_overlapping_sets_keep_the_truth_within_what_is_not_refuted(
    name: str, data_dir: Path, draws: Callable[[int], int], capsys: pytest.CaptureFixture[str]
) -> None:
    found = []
    for seed in range(draws(2)):
        x, called, alpha = rows(data_dir, name, np.random.default_rng([42, seed]))
        score = held_out(x, called, seed)
        for method in ("auto", "bbe"):
            estimate = ht.estimate_prior(score[called], score[~called], method=method, n_resamples=50)
            found.append(f"{method} {estimate.value:.3f} for {alpha:.3f}, upper {estimate.upper:.3f}")
            assert estimate.upper is not None
            assert alpha <= estimate.upper
            assert "random sample of the positives" in estimate.assumption
            word = "one of the usual ways" if method == "auto" else "irreducibility"
            assert word in estimate.assumption
            assert any("alone allow every α" in note and word in note for note in estimate.notes)
    with capsys.disabled():
        sys.stdout.write(f"\n{name}: " + "; ".join(found) + "\n")
