"""Random labeled data with all that goes wrong in practice: ties, weights, scores of 0 and 1, float32."""

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

import halftruth as ht

from .rows import Rows, labeled_rows

SCORES = ("untied", "tied", "zeros and ones", "float32", "tied float32", "constant", "margins")
WEIGHTS = ("no weights", "exponential", "whole, some zero", "heavy positives", "heavy negatives")
SIZES = (3, 11, 40, 150)


@dataclass(frozen=True, eq=False)
class Case:
    name: str
    y: np.ndarray
    score: np.ndarray
    weight: np.ndarray | None

    @cached_property
    def evidence(self) -> ht.Labeled:
        return ht.Labeled(self.y, self.score, sample_weight=self.weight)

    @cached_property
    def wide(self) -> np.ndarray:
        """The scores as scikit-learn is given them, in float64."""
        return self.score.astype(np.float64)

    @cached_property
    def rows(self) -> Rows:
        """The rows as the naive definitions take them, in fractions."""
        return labeled_rows(self.y, self.score, self.weight)

    @property
    def total(self) -> float:
        return float(len(self.y) if self.weight is None else self.weight.sum())

    @property
    def probabilities(self) -> bool:
        return bool(self.score.min() >= 0 and self.score.max() <= 1)

    @cached_property
    def thresholds(self) -> list[float]:
        """The lowest score, the middle one, between two, and above all."""
        score = np.unique(self.wide)
        between = (score[-1] + score[-2:].min()) / 2
        return sorted({float(t) for t in (score[0], score[len(score) // 2], between, score[-1] + 0.125)})


def draw_scores(kind: str, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    margin = rng.normal(size=len(y)) + 1.2 * y
    score = 1 / (1 + np.exp(-margin))
    return {
        "untied": score,
        "tied": np.round(score * 10) / 10,
        "zeros and ones": np.clip(np.round(score * 1.6 - 0.3, 2), 0, 1),
        "float32": score.astype(np.float32),
        "tied float32": (np.round(score * 20) / 20).astype(np.float32),
        "constant": np.full(len(y), 0.375),
        "margins": np.round(margin * 4) / 4,
    }[kind]


def draw_weights(kind: str, y: np.ndarray, rng: np.random.Generator) -> np.ndarray | None:
    n = len(y)
    weight = {
        "no weights": None,
        "exponential": rng.exponential(size=n),
        "whole, some zero": rng.integers(0, 4, n).astype(np.float64),
        "heavy positives": rng.uniform(0.5, 1.5, n) * np.where(y == 1, 1000.0, 1.0),
        "heavy negatives": rng.uniform(0.5, 1.5, n) * np.where(y == 1, 1.0, 1000.0),
    }[kind]
    if weight is not None:
        weight[:2] = np.maximum(weight[:2], 1.0)
    return weight


def draw_case(scores: str, weights: str, n: int, seed: int) -> Case:
    """Both classes present, each with a row of positive weight."""
    rng = np.random.default_rng([seed, n])
    y = (rng.random(n) < rng.uniform(0.1, 0.9)).astype(int)
    y[:2] = 1, 0
    name = f"{scores}, {weights}, {n} rows"
    return Case(name, y, draw_scores(scores, y, rng), draw_weights(weights, y, rng))


CASES = [
    draw_case(scores, weights, SIZES[(i + j) % len(SIZES)], seed=100 * i + j)
    for (i, scores), (j, weights) in product(enumerate(SCORES), enumerate(WEIGHTS))
]
