"""Every estimator on one pair of samples, by point estimates; the interval of auto alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

import halftruth as ht
from halftruth.prior._inputs import read_inputs
from halftruth.prior._methods import METHODS

OF_PAIRS = tuple(name for name, method in METHODS.items() if not method.needs_negatives)
"""What known positives and unlabeled are enough for."""
OF_FEATURES = tuple(name for name, method in METHODS.items() if method.fit_features is not None)


def point(name: str, positive: Any, unlabeled: Any, rng: np.random.Generator, negative: Any = None) -> float:
    """α by one method, from scores, without an interval."""
    method = METHODS[name]
    if name == "auto":
        return ht.estimate_prior(positive, unlabeled, rng=rng).value
    known = negative if method.needs_negatives else None
    given = read_inputs(positive, unlabeled, known, 1.0, (None, None, None))
    return float(method.fit(given.samples, rng).value)


def points(
    names: Iterable[str], positive: Any, unlabeled: Any, rng: np.random.Generator, negative: Any = None
) -> dict[str, float]:
    """α by each method but auto, which comes with its interval."""
    return {name: point(name, positive, unlabeled, rng, negative) for name in names if name != "auto"}


def summary(estimate: ht.PriorEstimate) -> dict[str, Any]:
    """An estimate as JSON holds it."""
    return {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "upper": estimate.upper,
        "notes": list(estimate.notes),
    }
