"""The largest share of positives in the unlabeled sample that the data do not refute."""

from __future__ import annotations

from typing import Any

import numpy as np

from halftruth import checks
from halftruth.checks import Vector


def prior_upper_bound(
    positive: Any,
    unlabeled: Any,
    *,
    confidence_level: float = 0.95,
    positive_weight: Any = None,
    unlabeled_weight: Any = None,
) -> float:
    """One-sided confidence bound on α: F_U ≥ α F₁ on every half-line of scores.

    Above and below any threshold t the positives' share of the unlabeled is at most F_U(t)/F_P(t);
    Dvoretzky–Kiefer–Wolfowitz bands make that hold for all t at once.

    Parameters
    ----------
    positive, unlabeled : array
        Scores of clean positives (a random sample of the positives) and of the unlabeled.
    confidence_level : float

    Returns
    -------
    float in (0, 1]

    Examples
    --------
    >>> import numpy as np, halftruth as ht
    >>> rng = np.random.default_rng(0)
    >>> unlabeled = np.append(rng.normal(0, 1, 18_000), rng.normal(4, 1, 2_000))
    >>> ht.prior_upper_bound(rng.normal(4, 1, 2_000), unlabeled) < 0.16
    True
    """
    level = checks.confidence_level(confidence_level)
    p, u = checks.scores(positive, "positive"), checks.scores(unlabeled, "unlabeled")
    p_weight = checks.weights(positive_weight, "positive_weight", length=len(p))
    u_weight = checks.weights(unlabeled_weight, "unlabeled_weight", length=len(u))
    cuts = np.unique(p)
    above = [1 - _below(x, w, cuts) for x, w in ((p, p_weight), (u, u_weight))]
    through = np.nextafter(cuts, np.inf)
    below = [_below(x, w, through) for x, w in ((p, p_weight), (u, u_weight))]
    p_slack, u_slack = (
        np.sqrt(np.log(4 / (1 - level)) / (2 * _effective(x, w))) for x, w in ((p, p_weight), (u, u_weight))
    )
    best = 1.0
    for p_tail, u_tail in (above, below):
        safe = p_tail > p_slack
        if safe.any():
            best = min(best, float(np.min((u_tail[safe] + u_slack) / (p_tail[safe] - p_slack))))
    return best


def _effective(x: Vector, weight: Vector | None) -> float:
    return len(x) if weight is None else float(weight.sum() ** 2 / (weight**2).sum())


def _below(x: Vector, weight: Vector | None, cuts: Vector) -> Vector:
    """Share of x strictly below each cut."""
    order = np.argsort(x)
    cumulative = np.arange(len(x) + 1.0) if weight is None else np.append(0, np.cumsum(weight[order]))
    return np.asarray(cumulative[np.searchsorted(x[order], cuts)] / cumulative[-1])
