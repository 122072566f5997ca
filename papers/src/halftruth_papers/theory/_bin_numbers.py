"""How many bins, and how many rows: Corollaries 1 and 2 of the PU-ECE paper, Theorem 4 of the BPM paper.

Beside the papers' formulas stand the number of bins that minimises a bound itself, and what simulation says
of the claimed numbers of rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from halftruth import _checks
from halftruth._errors import InputError, arg
from halftruth.theory._calibration_bounds import (
    BINNINGS,
    Binning,
    Bound,
    bias_bound,
    check_sizes,
    inverse,
    least_root,
    noise_variance,
)
from halftruth_papers.theory._learner_information import Information, generalization_bound

__all__ = [
    "BestBins",
    "best_bins",
    "bias_rate",
    "bpm_sample_size",
    "generalization_rate",
    "histogram_sample_size",
    "optimal_bins_of_labels",
]


@dataclass(frozen=True)
class BestBins:
    """The number ``n_bins`` that minimises a bound, and the ``bound`` there.

    Examples
    --------
    >>> from halftruth_papers import theory
    >>> best = theory.best_bins(1_000, 10_000, 0.5, lipschitz=1.5)
    >>> best.n_bins, round(best.bound.value, 3)
    (20, 0.367)
    """

    n_bins: int
    bound: Bound


def optimal_bins_of_labels(n: float) -> int:
    """The number of bins with labels: ⌈n^(1/3)⌉.

    Parameters
    ----------
    n : float
        Labeled rows, or what they are worth; at least 1.

    Examples
    --------
    >>> from halftruth_papers import theory
    >>> theory.optimal_bins_of_labels(1_000), theory.optimal_bins_of_labels(1_001)
    (10, 11)
    """
    advice = "Pass a number of labeled rows."
    return least_root(inverse(_checks.inside(n, "n", 1.0, math.inf, closed="left", advice=advice)))


def bias_rate(n_positive: float, n_unlabeled: float, prior: float) -> float:
    """The order of the bias at the best number of bins: (π²/n_P + 1/n_U)^(1/3) (Corollary 1).

    An order, without its factor, and of the bound: a calibrated score attains it, while the error of
    miscalibrated ones falls faster.

    Examples
    --------
    >>> from halftruth_papers import theory
    >>> round(theory.bias_rate(1_000, 10_000, 0.5), 4)
    0.0705
    """
    return float(noise_variance(n_positive, n_unlabeled, prior) ** (1 / 3))


def generalization_rate(
    n_positive: float, n_unlabeled: float, prior: float, *, fcmi: float | Information
) -> float:
    """The order of Theorem 3's bound at its best number of bins.

    With v = π²/n_P + 1/n_U it is v^(1/3) as long as fCMI is at most v^(−1/3) (Corollary 2), and √(v fCMI)
    beyond: the larger of both.

    Parameters
    ----------
    n_positive, n_unlabeled, prior, fcmi
        As in `generalization_bound`.

    Examples
    --------
    >>> from halftruth_papers import theory
    >>> round(theory.generalization_rate(1_000, 10_000, 0.5, fcmi=3.0), 4)
    0.0705
    >>> round(theory.generalization_rate(1_000, 10_000, 0.5, fcmi=300.0), 4)
    0.324
    """
    v = noise_variance(n_positive, n_unlabeled, prior)
    nats = _checks.inside(float(fcmi), "fcmi", 0.0, math.inf, closed="left", advice="Pass nats.")
    return float(max(v ** (1 / 3), math.sqrt(v * nats)))


def best_bins(
    n_positive: float,
    n_unlabeled: float,
    prior: float,
    *,
    lipschitz: float,
    fcmi: float | Information | None = None,
    fcmi_unlabeled: float | None = None,
    confidence_level: float | None = None,
    binning: Binning = "mass",
) -> BestBins:
    """The number of bins that minimises Theorem 1's bound, or Theorem 3's, and the bound there.

    Parameters
    ----------
    n_positive, n_unlabeled, prior, lipschitz, binning, confidence_level
        As in `bias_bound`; one of the sizes must be finite.
    fcmi, fcmi_unlabeled : float, Information or None
        With `fcmi` the bound is `generalization_bound`, for scores learned from the same rows.

    Examples
    --------
    >>> from halftruth_papers import theory
    >>> best = theory.best_bins(10**6, 10**6, 0.5, lipschitz=1.0, binning="width")
    >>> best.n_bins, round(best.bound.value, 4)
    (210, 0.0286)
    """
    check_sizes(n_positive, n_unlabeled, prior)
    _checks.choice(binning, "binning", BINNINGS)
    if fcmi is not None and confidence_level is not None:
        raise InputError(
            f"{arg('confidence_level')} must be None where {arg('fcmi')} is given: Theorem 3 bounds a "
            "mean. Leave one out."
        )
    theorem: Callable[..., Bound]
    if fcmi is None:
        theorem = partial(bias_bound, confidence_level=confidence_level)
    else:
        theorem = partial(generalization_bound, fcmi=fcmi, fcmi_unlabeled=fcmi_unlabeled)
    bound = partial(theorem, n_positive, n_unlabeled, prior, lipschitz=lipschitz, binning=binning)
    # Theorem 1 spends a row on each edge of bins of equal mass, and needs as many again inside of them.
    few = binning == "mass" and fcmi is None and not math.isinf(n_unlabeled)
    limit = n_unlabeled // 2 if few else math.inf
    if limit < 1:
        bound(1)  # raises the error that says why
    n_bins = _lowest(lambda k: float(bound(k)), limit)
    return BestBins(n_bins, bound(n_bins))


def _lowest(value: Callable[[int], float], limit: float) -> int:
    """Where a function that falls and then rises is least; both bounds do so in B."""
    high = 1
    while high < limit and value(high + 1) < value(high):
        high *= 2
    low, high = high // 2, int(min(high, limit))  # it falls at `low`, and no more at `high`
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if value(middle + 1) < value(middle) else (low, middle)
    return high


def histogram_sample_size(epsilon: float, delta: float, n_bins: int) -> int:
    """Rows for histogram binning by Hoeffding's inequality: B ln(1/δ) / (2ε²), as many in each of B bins.

    Then each bin's share of positives, taken by itself, exceeds its expectation by ε with probability at
    most δ. For both sides and all bins at once δ must be divided by 2B.

    Parameters
    ----------
    epsilon, delta : float in (0, 1)
        Error allowed in a bin, and the probability with which it may be larger.
    n_bins : int

    Examples
    --------
    >>> from halftruth_papers import theory
    >>> theory.histogram_sample_size(0.05, 0.05, 15)
    8988
    """
    return _hoeffding_rows(epsilon, delta, _checks.count(n_bins, "n_bins", least=1))


def bpm_sample_size(epsilon: float, delta: float) -> int:
    """Rows for a beta calibration curve by the claim of the binomial process paper: 3 ln(1/δ) / (2ε²).

    The claim: scores of both classes being beta distributed, the curve of three parameters fitted to as many
    rows has E|g(S) − P(Y=1 | S)| ≤ ε with probability at least 1 − δ; 3/B of the rows that B bins take.

    Parameters
    ----------
    epsilon, delta : float in (0, 1)
        Mean error allowed, over the scores, and the probability with which it may be larger.

    Notes
    -----
    In simulations with four pairs of beta laws the claim held for δ up to .9, and easily: at ε = .05 and
    δ = .05 no fit failed and the mean error was about .01. It does not hold for every δ: near 1 it asks for
    fewer rows than parameters, as for the one row of ε = .1 and δ = .999, of which none will do.

    Nor are the rows needed. Fifteen bins of equal mass are within .05 in the mean on the same 1,798 rows;
    what is true is that the curve errs less on them than the bins on five times as many.

    Examples
    --------
    >>> from halftruth_papers import theory
    >>> theory.bpm_sample_size(0.05, 0.05)
    1798
    """
    return _hoeffding_rows(epsilon, delta, 3)


def _hoeffding_rows(epsilon: float, delta: float, cells: int) -> int:
    epsilon = _checks.inside(epsilon, "epsilon", 0.0, 1.0, advice="Pass the error allowed, such as 0.05.")
    delta = _checks.inside(delta, "delta", 0.0, 1.0, advice="Pass the probability of failure, such as 0.05.")
    return max(1, math.ceil(cells * -math.log(delta) / (2 * epsilon**2)))
