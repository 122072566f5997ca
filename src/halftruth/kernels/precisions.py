"""The search for the least or greatest average precision among labels of tied rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from halftruth.kernels.compiling import compiled, frozen


def best_precisions(low: Any, high: Any, unlabeled: Any, known: Any, population: Any, sign: int) -> float:
    """Σ precision × new true positives over the thresholds, the least (sign 1) or greatest (−1).

    Over all counts of latent positives above each threshold, from ``low`` to ``high``, that never fall and
    never grow by more than the unlabeled rows do.
    """
    arrays = (frozen(x, np.int64) for x in (low, high, unlabeled, known, population))
    return sign * float(_search(*arrays, float(sign)))


@compiled
def _search(low: Any, high: Any, unlabeled: Any, known: Any, population: Any, sign: float) -> float:
    widest = 1
    for g in range(len(low)):
        widest = max(widest, high[g] - low[g] + 1)
    best, new = np.full(widest, np.inf), np.full(widest, np.inf)
    best[0] = 0.0
    for g in range(1, len(low)):
        rows = unlabeled[g] - unlabeled[g - 1]
        found = known[g] - known[g - 1]
        for x in range(low[g], high[g] + 1):
            precision = sign * (x + known[g]) / population[g] if population[g] > 0 else 0.0
            least = np.inf
            for before in range(max(low[g - 1], x - rows), min(high[g - 1], x) + 1):
                total = best[before - low[g - 1]] + (x - before + found) * precision
                least = min(least, total)
            new[x - low[g]] = least
        best, new = new, best
    return float(best[0])
