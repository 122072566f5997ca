"""Bounds on fCMI from how many patterns of predictions a learner can give at all.

Information is at most the entropy of the predictions, and that the logarithm of their number. Nor is it ever
above (n_P + n_U) ln 2, the entropy of which rows were trained on; a bound that reaches it says nothing.
"""

from __future__ import annotations

import math

from halftruth import _checks
from halftruth._errors import InputError, arg
from halftruth.theory.bound import size
from halftruth.theory.information import Information


def fcmi_finite(
    n_functions: int, n_positive: float | None = None, n_unlabeled: float | None = None
) -> Information:
    """At most ln K for a learner that chooses one of K functions, by whatever rule.

    Parameters
    ----------
    n_functions : int
        K. A model of d parameters, each kept on k values, is one of k^d functions.
    n_positive, n_unlabeled : int or None
        Training rows, if known: the bound is then never above (n_P + n_U) ln 2.

    Returns
    -------
    Information

    Examples
    --------
    >>> from halftruth import theory
    >>> round(float(theory.fcmi_finite(256**3)), 3)
    16.636
    """
    nats = math.log(_checks.count(n_functions, "n_functions", least=1))
    if (n_positive is None) != (n_unlabeled is None):
        raise InputError(
            f"{arg('n_positive')} and {arg('n_unlabeled')} must be given together, got one. Pass both or "
            "neither."
        )
    limit = math.inf
    if n_positive is not None and n_unlabeled is not None:
        limit = _limit(size(n_positive, "n_positive"), size(n_unlabeled, "n_unlabeled"))
    return _bounded(nats, nats, limit, f"ln of {n_functions} functions.")


def fcmi_grid(n_positive: int, n_unlabeled: int, n_levels: int, *, monotone: bool = True) -> Information:
    """A bound for predictions rounded to a grid: ln of the number of their patterns on 2n points.

    Parameters
    ----------
    n_positive, n_unlabeled : int
        Training rows; n is their sum.
    n_levels : int
        Values that a prediction can take, such as 101 for whole percents.
    monotone : bool
        The predictions are non-decreasing in one fixed score, as those of a calibrator: C(2n + k − 1, k − 1)
        patterns of k levels. Else any, k^(2n): that says nothing, as 2n ln k is above n ln 2 from two levels
        on.

    Returns
    -------
    Information

    Notes
    -----
    Rounded predictions have no density; `generalization_bound` then needs binning="width".

    Examples
    --------
    >>> from halftruth import theory
    >>> round(float(theory.fcmi_grid(1_000, 10_000, 21)), 1)
    157.6
    >>> theory.fcmi_grid(1_000, 10_000, 2, monotone=False).informative
    False
    """
    n_positive, n_unlabeled = _rows(n_positive, n_unlabeled)
    k = _checks.count(n_levels, "n_levels", least=1)
    n = n_positive + n_unlabeled
    if monotone:
        nats, unlabeled = (_log_comb(2 * rows + k - 1, k - 1) for rows in (n, n_unlabeled))
        what = f"ln of the monotone patterns of {k} levels"
    else:
        nats, unlabeled = (2 * rows * math.log(k) for rows in (n, n_unlabeled))
        what = f"ln of all patterns of {k} levels"
    return _bounded(nats, unlabeled, _limit(n_positive, n_unlabeled), f"{what} on {2 * n} points.")


def fcmi_vc(n_positive: int, n_unlabeled: int, dimension: int) -> Information:
    """A bound for functions with values 0 and 1 only: ln Σ_{i ≤ d} C(2n, i) (Sauer's lemma).

    Parameters
    ----------
    n_positive, n_unlabeled : int
        Training rows; n is their sum.
    dimension : int
        Vapnik–Chervonenkis dimension d of the class, at least 0.

    Returns
    -------
    Information

    Notes
    -----
    Not for probabilities. The PU-ECE paper infers fCMI = O(log n) of real-valued functions from a finite VC
    dimension of a class; that does not follow. With the one parameter w = mean of the training rows,
    sigmoid(w x) differs for each choice of the rows: its fCMI is (n_P + n_U) ln 2.

    Scores of 0 and 1 have no density; `generalization_bound` then needs binning="width".

    Examples
    --------
    >>> from halftruth import theory
    >>> round(float(theory.fcmi_vc(1_000, 10_000, 3)), 2)
    28.2
    """
    n_positive, n_unlabeled = _rows(n_positive, n_unlabeled)
    d = _checks.count(dimension, "dimension", least=0)
    n = n_positive + n_unlabeled
    nats, unlabeled = (_log_sauer(2 * rows, d) for rows in (n, n_unlabeled))
    limit = _limit(n_positive, n_unlabeled)
    return _bounded(nats, unlabeled, limit, f"ln of the patterns of VC dimension {d} on {2 * n} points.")


def _rows(n_positive: int, n_unlabeled: int) -> tuple[int, int]:
    return _checks.count(n_positive, "n_positive", least=1), _checks.count(
        n_unlabeled, "n_unlabeled", least=1
    )


def _limit(n_positive: float, n_unlabeled: float) -> float:
    return (n_positive + n_unlabeled) * math.log(2)


def _bounded(nats: float, unlabeled: float, limit: float, what: str) -> Information:
    if nats >= limit:
        what += f" It is {nats:.4g}, not below (n_P + n_U) ln 2, which stands instead and says nothing."
    value = min(nats, limit)
    return Information(value=value, unlabeled=min(unlabeled, value), limit=limit, note=f"At most {what}")


def _log_comb(n: int, k: int) -> float:
    """Logarithm of C(n, k); sums of logarithms, as differences of ln Γ lose digits where k is small."""
    k = min(k, n - k)
    if k > 1_000:
        return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.fsum(math.log((n - k + i) / i) for i in range(1, k + 1))


def _log_sauer(n: int, d: int) -> float:
    """Logarithm of Σ_{i ≤ d} C(n, i)."""
    if d >= n:
        return n * math.log(2)
    most = _log_comb(n, min(d, n // 2))
    ratio, terms, at = 1.0, [], min(d, n // 2)
    for i in range(at, -1, -1):  # from the largest term down
        terms.append(ratio)
        ratio *= i / (n - i + 1)
        if ratio < 1e-18:
            break
    ratio = 1.0
    for i in range(at + 1, d + 1):
        ratio *= (n - i + 1) / i
        terms.append(ratio)
    return most + math.log(math.fsum(terms))
