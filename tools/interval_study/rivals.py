"""The best known intervals for labeled data: of rates, and of the area under the ROC curve."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import ndtri
from scipy.stats import beta, rankdata
from tools.interval_study.laws import FloatArray

LEVEL = 0.95
_Z = float(ndtri((1 + LEVEL) / 2))
_TAIL = (1 - LEVEL) / 2
Ends = tuple[FloatArray, FloatArray]


def clopper_pearson(hits: FloatArray, n: FloatArray) -> Ends:
    """Clopper and Pearson (1934)."""
    low = np.where(hits > 0, beta.ppf(_TAIL, np.maximum(hits, 1), n - hits + 1), 0.0)
    high = np.where(hits < n, beta.ppf(1 - _TAIL, hits + 1, np.maximum(n - hits, 1)), 1.0)
    return low, high


def wilson(hits: FloatArray, n: FloatArray) -> Ends:
    """Wilson (1927)."""
    rate, square = hits / n, _Z**2 / n
    middle = (rate + square / 2) / (1 + square)
    side = np.sqrt(square * (rate * (1 - rate) + square / 4)) / (1 + square)
    return middle - side, middle + side


def jeffreys(hits: FloatArray, n: FloatArray) -> Ends:
    """Of Jeffreys' prior; 0 and 1 are ends where nothing else was seen (Brown, Cai and DasGupta 2001)."""
    low = np.where(hits > 0, beta.ppf(_TAIL, hits + 0.5, n - hits + 0.5), 0.0)
    high = np.where(hits < n, beta.ppf(1 - _TAIL, hits + 0.5, n - hits + 0.5), 1.0)
    return low, high


RATE_RIVALS: dict[str, Callable[[FloatArray, FloatArray], Ends]] = {
    "Clopper–Pearson": clopper_pearson,
    "Wilson": wilson,
    "Jeffreys": jeffreys,
}


def rate_counts(positive: FloatArray, negative: FloatArray, threshold: float) -> dict[str, tuple[int, int]]:
    """(hits, of how many) of each rate that is a share of rows."""
    tp, fp = int((positive >= threshold).sum()), int((negative >= threshold).sum())
    n1, n0 = len(positive), len(negative)
    return {
        "prevalence": (n1, n1 + n0),
        "precision": (tp, tp + fp),
        "recall": (tp, n1),
        "fpr": (fp, n0),
        "accuracy": (tp + n0 - fp, n1 + n0),
    }


def delong(positive: FloatArray, negative: FloatArray) -> tuple[float, float, float]:
    """(AUC, low, high) of DeLong, DeLong and Clarke-Pearson (1988)."""
    m, n = len(positive), len(negative)
    ranks = rankdata(np.concatenate([positive, negative]))
    above = (ranks[:m] - rankdata(positive)) / n
    below = 1.0 - (ranks[m:] - rankdata(negative)) / m
    area = float(above.mean())
    error = float(np.sqrt(above.var(ddof=1) / m + below.var(ddof=1) / n))
    return area, max(area - _Z * error, 0.0), min(area + _Z * error, 1.0)


def newcombe(area: FloatArray, m: FloatArray, n: FloatArray) -> Ends:
    """Newcombe's (2006) method 5: where the area is as far as Hanley and McNeil's variance lets it be."""
    return _newcombe_end(area, m, n, 0.0), _newcombe_end(area, m, n, 1.0)


def _newcombe_end(area: FloatArray, m: FloatArray, n: FloatArray, bound: float) -> FloatArray:
    near, far = area.astype(float), np.full(len(area), bound)
    pooled = (m + n) / 2 - 1
    for _ in range(60):
        middle = (near + far) / 2
        spread = 1 + pooled * ((1 - middle) / (2 - middle) + middle / (1 + middle))
        inside = (middle - area) ** 2 <= _Z**2 * middle * (1 - middle) * spread / (m * n)
        near, far = np.where(inside, middle, near), np.where(inside, far, middle)
    return near
