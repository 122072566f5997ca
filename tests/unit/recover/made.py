"""Populations and evidence to recover from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import halftruth as ht


@dataclass(frozen=True)
class Population:
    """Laws of the scores of both classes on a few scores, the highest first, and what is seen of them."""

    f1: np.ndarray
    f0: np.ndarray
    alpha: float
    purity: float

    @property
    def labeled(self) -> np.ndarray:
        return self.purity * self.f1 + (1 - self.purity) * self.f0

    @property
    def unlabeled(self) -> np.ndarray:
        return self.alpha * self.f1 + (1 - self.alpha) * self.f0


def populations(n: int, seed: int, least_gap: float = 0.02) -> list[Population]:
    """Any α and ρ that are so far apart at least, and any ROC curve, also below the diagonal."""
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(n):
        alpha = rng.uniform(0, 1 - least_gap)
        purity = rng.uniform(alpha + least_gap, 1) if rng.random() < 0.7 else 1.0
        m = rng.integers(1, 30)
        out.append(Population(rng.dirichlet(np.ones(m)), rng.dirichlet(np.ones(m)), alpha, purity))
    return out


def above(law: np.ndarray) -> np.ndarray:
    """Share at or above each score, from 0 to 1."""
    out = np.concatenate([[0.0], np.cumsum(law)])
    out[-1] = 1.0
    return out


def area(upper: np.ndarray, lower: np.ndarray) -> float:
    """P(a score of the first law is higher than one of the second), ties half; by all pairs."""
    m = len(upper)
    wins = np.triu(np.ones((m, m)), 1) + np.eye(m) / 2
    return float(upper @ wins @ lower)


def evidence(
    seed: int, *, n: int = 40, purity: float = 1.0, ties: bool = False, **given
) -> ht.PositiveUnlabeled:
    """Scores of normal classes, rounded where there shall be ties."""
    rng = np.random.default_rng(seed)
    positive = rng.normal(1.2, 1, n)
    positive[rng.random(n) > purity] -= 1.2
    unlabeled = rng.normal(0, 1, 4 * n)
    unlabeled[rng.random(4 * n) < 0.3] += 1.2
    if ties:
        positive, unlabeled = positive.round(1), unlabeled.round(1)
    given = {"prior": 0.3, "purity": purity} | given
    return ht.PositiveUnlabeled(positive, unlabeled, **given)
