"""All surrogate sets of a small ranking, one by one: what every bound must equal.

A surrogate set is any set of K unlabeled rows. X(t) counts its rows at or above t; the set is possible where
X lies in the band, in counts, at every threshold. Nothing here knows of halftruth.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import combinations, pairwise, product

import numpy as np

from . import naive
from .rows import NAN, Row

Path = tuple[int, ...]
"""X at each falling threshold."""
Limits = tuple[list[int], list[int]]
"""Lowest and highest X, by the number of known rows at or above the threshold."""
Band = Callable[[int, int, float], Limits]
"""(known rows, latent rows, level) → limits."""

DEFINED_WITHOUT_A_CLASS = ("recall", "fpr", "specificity", "accuracy")
"""Other rates compare the classes, and are NaN where one is empty."""


@dataclass(frozen=True)
class Ranking:
    """Scores of known positives, unlabeled rows and known negatives, and what the tables count."""

    known: list[float]
    unlabeled: list[float]
    negative: list[float]
    population: str

    @cached_property
    def thresholds(self) -> list[float]:
        return [math.inf, *sorted({*self.known, *self.unlabeled, *self.negative}, reverse=True)]

    def above(self, scores: list[float]) -> Path:
        return tuple(sum(s >= t for s in scores) for t in self.thresholds)

    @cached_property
    def counts(self) -> tuple[Path, Path, Path]:
        """Known positives, unlabeled rows and known negatives at or above each threshold."""
        return self.above(self.known), self.above(self.unlabeled), self.above(self.negative)

    @cached_property
    def surrogates(self) -> list[set[Path]]:
        """X of every set of k unlabeled rows, by k."""
        reached = np.greater_equal.outer(self.unlabeled, self.thresholds)
        chosen = np.asarray(list(product((0, 1), repeat=len(self.unlabeled))))
        paths: list[set[Path]] = [set() for _ in range(len(self.unlabeled) + 1)]
        for k, path in zip(chosen.sum(axis=1).tolist(), (chosen @ reached).tolist(), strict=True):
            paths[k].add(tuple(path))
        return paths

    def possible(self, k: int, band: Band, level: float, sides: tuple[str, ...]) -> list[Path]:
        """X of the sets inside the band; known negatives bound their latent fellows in the same way.

        Where both are used, they share the error.
        """
        known, u, m = self.counts
        paths = sorted(self.surrogates[k])
        each = 1 - (1 - level) / len(sides)
        if k > 0 and "positive" in sides:
            paths = [x for x in paths if inside(x, known, band(len(self.known), k, each))]
        rest = len(self.unlabeled) - k
        if rest > 0 and "negative" in sides:
            limits = band(len(self.negative), rest, each)
            paths = [x for x in paths if inside(tuple(a - b for a, b in zip(u, x, strict=True)), m, limits)]
        return paths

    def table(self, k: int, x: int, at: int) -> tuple[int, int, int, int]:
        """TP, FP, FN, TN where x of k surrogates lie at or above the threshold of this index."""
        known, u, m = (count[at] for count in self.counts)
        tp, fp, fn, tn = x, u - x, k - x, len(self.unlabeled) - u - (k - x)
        if self.population == "all":
            tp, fp, fn, tn = tp + known, fp + m, fn + len(self.known) - known, tn + len(self.negative) - m
        return tp, fp, fn, tn

    def scored_groups(self, k: int, path: Path) -> list[tuple[float, tuple[int, int]]]:
        """Each falling score with its positives and negatives; scores without any are left out."""
        tables = [self.table(k, x, at)[:2] for at, x in enumerate(path)]
        steps = [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(tables)]
        return [each for each in zip(self.thresholds[1:], steps, strict=True) if each[1] != (0, 0)]

    def groups(self, k: int, path: Path) -> list[tuple[int, int]]:
        return [group for _, group in self.scored_groups(k, path)]


def inside(path: Path, known: Path, limits: Limits) -> bool:
    low, high = limits
    return all(low[i] <= x <= high[i] for i, x in zip(known, path, strict=True))


# --- Metrics of one surrogate set --------------------------------------------------------------


@cache
def rate(name: str, table: tuple[int, int, int, int]) -> float:
    tp, fp, fn, tn = table
    if 0 in (tp + fn, fp + tn) and name not in DEFINED_WITHOUT_A_CLASS:
        return NAN
    rows = [Row(Fraction(s), Fraction(n), Fraction(p)) for s, n, p in ((1, tp + fp, tp), (0, fn + tn, fn))]
    return float(getattr(naive, name)(rows, threshold=0.5))


def roc_auc(groups: list[tuple[int, int]]) -> float:
    positives, negatives, tp, won = *(sum(g[i] for g in groups) for i in (0, 1)), 0, 0.0
    for p, n in groups:
        won += n * (tp + p / 2)
        tp += p
    return won / (positives * negatives) if positives and negatives else NAN


def average_precision(groups: list[tuple[int, int]]) -> float:
    positives, negatives, tp, seen, area = *(sum(g[i] for g in groups) for i in (0, 1)), 0, 0, 0.0
    for p, n in groups:
        tp, seen = tp + p, seen + p + n
        area += p * tp / seen
    return area / positives if positives and negatives else NAN


def pr_auc(groups: list[tuple[int, int]]) -> float:
    """TP and the rows seen grow in proportion between two scores: ∫ (tp + t p)/(seen + t g) dt in closed form."""
    positives, negatives, tp, seen, area = *(sum(g[i] for g in groups) for i in (0, 1)), 0, 0, 0.0
    for p, n in groups:
        share = p / (p + n)
        extra = (tp - seen * share) / (p + n) * math.log((seen + p + n) / seen) if seen else 0.0
        area += p * (share + extra)
        tp, seen = tp + p, seen + p + n
    return area / positives if positives and negatives else NAN


AREAS = {"roc_auc": roc_auc, "average_precision": average_precision, "pr_auc": pr_auc}


def extremes(values: list[float]) -> tuple[float, float]:
    """The lowest and the highest of the values that are defined."""
    defined = [v for v in values if not math.isnan(v)]
    return (min(defined), max(defined)) if defined else (NAN, NAN)


# --- Merges of known and latent rows, all equally likely ---------------------------------------


def merges(n: int, k: int) -> Iterator[Path]:
    """For each order of n known and k latent rows: how many latent rows lie above each known one, falling."""
    for places in combinations(range(n + k), n):
        yield tuple(place - i for i, place in enumerate(places))


def share_inside(n: int, k: int, limits: Limits) -> Fraction:
    """Share of all merges that stay inside the limits at every rank, by counting lattice paths."""
    low, high = limits
    ways = [1] + [0] * k  # to come with i known and x latent rows, inside all the way
    for i in range(n + 1):
        came = 0
        for x in range(k + 1):
            came = came + ways[x] if low[i] <= x <= high[i] else 0
            ways[x] = came
    return Fraction(ways[k], math.comb(n + k, n))


# --- The paper's tables at one rank ------------------------------------------------------------


def claesen_counts(ranking: Ranking, k: int, at: int, t_low: float, t_high: float) -> tuple[int, int]:
    """Surrogates at or above one threshold by Eqs. 8 and 9, each rank for itself."""
    reached = sorted({path[at] for path in ranking.surrogates[k]})
    most = next((x for x in reached if x >= k * t_high - 1e-9), reached[-1])
    least = next((x for x in reversed(reached) if x <= k * t_low + 1e-9), reached[0])
    return least, most
