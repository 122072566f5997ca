"""How much known negatives and unlabeled rows each say of the risk (PNU)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from halftruth._checks import Vector
from halftruth.learn.weights import risk_weights


def balanced_eta(prior: float, sizes: Sequence[int], **told: Any) -> float:
    """The η at which the risk is least noisy, were the losses of all rows equally spread.

    The variance of R⁺ and R⁻ is then Σ weight²/n over the strata. Weights are straight lines in η on either
    side of 0, so that their sum is a parabola there. What R_PU changes in R⁻ is what R_NU changes in R⁺: of
    the two lowest points the one farther from 0 is the lower.

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
    pu, pn, nu = (_noise(prior, sizes, eta, told) for eta in (1.0, 0.0, -1.0))
    up, down = _lowest(pn, pu), _lowest(pn, nu)
    return up if up >= down else -down


def _noise(prior: float, sizes: Sequence[int], eta: float, told: dict[str, Any]) -> Vector:
    """Weights of both parts over √n: their squares add up to the variance."""
    found = risk_weights(prior, sizes=sizes, eta=eta, **told)
    return np.asarray([found.positive, found.negative]) / np.sqrt(sizes)


def _lowest(start: Vector, end: Vector) -> float:
    """Where on the way from one to the other the sum of squares is least."""
    step = end - start
    return float(np.clip(-(start * step).sum() / (step**2).sum(), 0.0, 1.0))
