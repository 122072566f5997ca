"""How many labeled rows a calibration curve takes, by the count of its parameters or of its bins.

The claims of the binomial process paper (its Theorem 4), with what simulation says of them.
"""

from __future__ import annotations

import math

from halftruth import _checks


def histogram_sample_size(epsilon: float, delta: float, n_bins: int) -> int:
    """Rows for histogram binning by Hoeffding's inequality: B ln(1/δ) / (2ε²), as many in each of B bins.

    Then each bin's share of positives, taken by itself, exceeds its expectation by ε with probability at
    most δ. For both sides and all bins at once δ must be divided by 2B.

    Parameters
    ----------
    epsilon : float in (0, 1)
        Error allowed in a bin.
    delta : float in (0, 1)
        Probability with which it may be larger.
    n_bins : int
        Number of bins.

    Returns
    -------
    int

    Examples
    --------
    >>> from halftruth import theory
    >>> theory.histogram_sample_size(0.05, 0.05, 15)
    8988
    """
    return _rows(epsilon, delta, _checks.count(n_bins, "n_bins", least=1))


def bpm_sample_size(epsilon: float, delta: float) -> int:
    """Rows for a beta calibration curve by the claim of the binomial process paper: 3 ln(1/δ) / (2ε²).

    The claim: scores of both classes being beta distributed, the curve of three parameters fitted to as many
    rows has E|g(S) − P(Y=1 | S)| ≤ ε with probability at least 1 − δ; 3/B of the rows that B bins take.

    Parameters
    ----------
    epsilon : float in (0, 1)
        Mean error allowed, over the scores.
    delta : float in (0, 1)
        Probability with which it may be larger.

    Returns
    -------
    int

    Notes
    -----
    In simulations with four pairs of beta laws the claim held for δ up to .9, and easily: at ε = .05 and
    δ = .05 no fit failed and the mean error was about .01. It does not hold for every δ: near 1 it asks for
    fewer rows than parameters, as for the one row of ε = .1 and δ = .999, of which none will do.

    Nor are the rows needed. Fifteen bins of equal mass are within .05 in the mean on the same 1,798 rows;
    what is true is that the curve errs less on them than the bins on five times as many.

    Examples
    --------
    >>> from halftruth import theory
    >>> theory.bpm_sample_size(0.05, 0.05)
    1798
    """
    return _rows(epsilon, delta, 3)


def _rows(epsilon: float, delta: float, cells: int) -> int:
    epsilon = _checks.inside(epsilon, "epsilon", 0.0, 1.0, advice="Pass the error allowed, such as 0.05.")
    delta = _checks.inside(delta, "delta", 0.0, 1.0, advice="Pass the probability of failure, such as 0.05.")
    return max(1, math.ceil(cells * -math.log(delta) / (2 * epsilon**2)))
