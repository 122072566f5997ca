"""How much known negatives and unlabeled rows each say of the risk (PNU)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from halftruth.learn.weights import Three, risk_weights


def balanced_eta(prior: float, sizes: Sequence[int], **told: Any) -> float:
    """The η at which the risk is least noisy, were the losses of all rows equally spread.

    The risk of the negatives is estimated twice, from known negatives and from unlabeled rows less positives;
    that of the positives likewise. Either pair is mixed by the inverse of its variances, Σ weight²/n over
    the strata. η can mix one of them: the one where it takes off more variance.

    Parameters
    ----------
    prior : float
    sizes : (n_P, n_U, n_N)
    **told
        Purity and population, as in `risk_weights`.

    Examples
    --------
    Few negatives beside many unlabeled rows and positives: mostly P and U.

    >>> round(balanced_eta(0.5, (1000, 10_000, 100)), 3)
    0.877

    Few positives: mostly N and U in their place.

    >>> round(balanced_eta(0.5, (100, 10_000, 1000)), 3)
    -0.877
    """
    pu, pn, nu = (risk_weights(prior, sizes=sizes, eta=eta, **told) for eta in (1.0, 0.0, -1.0))
    by_negatives, by_rest = _variance(pn.negative, sizes), _variance(pu.negative, sizes)
    by_positives, by_others = _variance(pn.positive, sizes), _variance(nu.positive, sizes)
    up, down = by_negatives / (by_negatives + by_rest), by_positives / (by_positives + by_others)
    return up if up * by_negatives >= down * by_positives else -down


def _variance(weights: Three, sizes: Sequence[int]) -> float:
    return sum(weight**2 / n for weight, n in zip(weights, sizes, strict=True))
