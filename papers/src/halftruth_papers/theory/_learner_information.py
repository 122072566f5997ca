"""What predictions tell of the training rows: functional conditional mutual information, and bounds on it.

Each row of a supersample is a pair of draws, of which a fair coin picks one for training. fCMI is the
information, in nats, that the predictions for both draws of all pairs hold of the coins, given the pairs. A
small supersample can be enumerated. Otherwise information is at most the entropy of the predictions, and
that the logarithm of the number of their patterns; nor is it ever above (n_P + n_U) ln 2, the entropy of the
coins. A bound that reaches this says nothing. By Theorem 3 of Kiryo, Futami and Sugiyama it bounds the
calibration error that is measured on the training rows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth import _checks
from halftruth._errors import InputError, arg
from halftruth.theory._calibration_bounds import (
    BINNINGS,
    Binning,
    Bound,
    lipschitz_constant,
    noise_variance,
    row_count,
    sum_of,
)

__all__ = ["Information", "fcmi_finite", "fcmi_grid", "fcmi_of_learner", "fcmi_vc", "generalization_bound"]

_MOST_PAIRS = 16
"""Pairs whose coins are enumerated: the learner is called two to the power of this often."""

_NATS = "Pass nats, from one of the functions theory.fcmi_…."
Predict = Callable[[NDArray[Any]], Any]
"""Points, the first axis, to predictions."""


@dataclass(frozen=True)
class Information:
    """An amount of information on the training rows, or a bound on it.

    Parameters
    ----------
    value : float
        fCMI in nats.
    unlabeled : float
        The same of the predictions for unlabeled rows only.
    limit : float
        (n_P + n_U) ln 2, all there is to tell of the training rows; infinite where the sizes are not known.
    note : str
        What the number is.

    Examples
    --------
    >>> from halftruth_papers import theory
    >>> information = theory.fcmi_finite(8, 100, 1_000)
    >>> round(float(information), 4), round(information.limit, 1), information.informative
    (2.0794, 762.5, True)
    """

    value: float
    unlabeled: float
    limit: float
    note: str

    @property
    def informative(self) -> bool:
        """Whether the predictions hide something of the training rows."""
        return self.value < self.limit

    def __float__(self) -> float:
        return self.value


def fcmi_of_learner(
    learner: Callable[..., Predict],
    supersample_unlabeled: Any,
    supersample_positive: Any,
    *,
    randomness: Sequence[Any] | None = None,
) -> Information:
    """The exact fCMI of a learner on a small supersample, by training on each of its 2^n choices.

    Parameters
    ----------
    learner : callable
        ``learner(unlabeled, positive)``, or ``learner(unlabeled, positive, r)`` with `randomness`, returns a
        function that takes points and returns one prediction for each.
    supersample_unlabeled : array of shape (n_U, 2) or (n_U, 2, d)
        Pairs of unlabeled points.
    supersample_positive : array of shape (n_P, 2) or (n_P, 2, d)
        Pairs of known positives. n_U + n_P is at most 16.
    randomness : sequence or None
        The values of the learner's own randomness, equally likely; None for a deterministic learner, whose
        fCMI is the entropy of its predictions.

    Returns
    -------
    Information
        Given this supersample. The theorem's fCMI is its mean over supersamples.

    Notes
    -----
    Predictions that differ in the last digit differ: a sum whose rounding depends on the order of the rows
    tells that order.

    Examples
    --------
    A learner that chooses one of two functions tells at most ln 2, whatever the data.

    >>> import numpy as np
    >>> from halftruth_papers import theory
    >>> unlabeled, positive = [[-2.0, -1.0], [0.0, 1.0], [-1.0, 2.0]], [[1.0, 2.0], [3.0, -1.0]]
    >>> def learner(unlabeled, positive):
    ...     steep = positive.mean() > unlabeled.mean() + 1
    ...     return lambda x: 1 / (1 + np.exp(-(2 if steep else 1) * x))
    >>> information = theory.fcmi_of_learner(learner, unlabeled, positive)
    >>> round(float(information), 3), round(float(np.log(2)), 3)
    (0.675, 0.693)
    """
    unlabeled = _pairs(supersample_unlabeled, "supersample_unlabeled")
    positive = _pairs(supersample_positive, "supersample_positive")
    if unlabeled.shape[2:] != positive.shape[2:]:
        raise InputError(
            f"The supersamples must hold points of one kind, got {unlabeled.shape[2:]} for the unlabeled and "
            f"{positive.shape[2:]} for the positive. Pass arrays of shape (n, 2) or (n, 2, d)."
        )
    n_unlabeled, n = len(unlabeled), len(unlabeled) + len(positive)
    if n > _MOST_PAIRS:
        raise InputError(
            f"The supersamples must have at most {_MOST_PAIRS} pairs together, got {n}: all 2^n choices are "
            f"trained on. Pass fewer, or bound fCMI by {arg('fcmi_finite')} or {arg('fcmi_grid')}."
        )
    points = np.concatenate([unlabeled, positive]).reshape(2 * n, *unlabeled.shape[2:])
    runs: Sequence[tuple[Any, ...]] = [()] if randomness is None else [(r,) for r in randomness]
    if not runs:
        raise InputError(
            f"{arg('randomness')} is empty. Pass its values, or None for a deterministic learner."
        )
    outputs = []
    for choice in range(2**n):
        coins = (choice >> np.arange(n)) & 1
        chosen = (
            unlabeled[np.arange(n_unlabeled), coins[:n_unlabeled]],
            positive[np.arange(len(positive)), coins[n_unlabeled:]],
        )
        outputs.append([_predictions(learner(*chosen, *run), points) for run in runs])
    return Information(
        value=_information(outputs, 2 * n),
        unlabeled=_information(outputs, 2 * n_unlabeled),
        limit=n * math.log(2),
        note=f"Exact, given the supersample: {2**n} choices of the training rows.",
    )


def _pairs(values: Any, name: str) -> NDArray[Any]:
    out = np.asarray(values)
    if out.ndim not in (2, 3) or out.shape[1] != 2 or not len(out):
        must = "have shape (n, 2) or (n, 2, d)"
        remedy = "Pass pairs of points, of which a coin picks one for training."
        raise InputError(argument=name, must=must, got=out.shape, remedy=remedy)
    return out


def _predictions(predict: Predict, points: NDArray[Any]) -> NDArray[np.float64]:
    out = np.array(predict(points), dtype=np.float64) + 0.0  # −0.0 is 0.0
    if out.shape != (len(points),) or np.isnan(out).any():
        raise InputError(
            f"The learned function must return one number for each of {len(points)} points, got shape "
            f"{out.shape}{' with NaN' if np.isnan(out).any() else ''}. Return an array of predictions."
        )
    return out


def _information(outputs: list[list[NDArray[np.float64]]], first: int) -> float:
    """H(f) − H(f | choice) of the first predictions; choices and runs are equally likely."""
    patterns = [[output[:first].tobytes() for output in runs] for runs in outputs]
    left_by_choice = math.fsum(_entropy(runs) for runs in patterns) / len(patterns)
    return max(0.0, _entropy(pattern for runs in patterns for pattern in runs) - left_by_choice)


def _entropy(values: Iterable[Hashable]) -> float:
    """Of the frequencies, in nats."""
    counts = Counter(values).values()
    n = sum(counts)
    return math.log(n) - math.fsum(k * math.log(k) for k in counts) / n


# --- bounds by the number of patterns ---------------------------------------------------------


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

    Examples
    --------
    >>> from halftruth_papers import theory
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
        n = row_count(n_positive, "n_positive") + row_count(n_unlabeled, "n_unlabeled")
        limit = n * math.log(2)
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

    Notes
    -----
    Rounded predictions have no density; `generalization_bound` then needs binning="width".

    Examples
    --------
    >>> from halftruth_papers import theory
    >>> round(float(theory.fcmi_grid(1_000, 10_000, 21)), 1)
    157.6
    >>> theory.fcmi_grid(1_000, 10_000, 2, monotone=False).informative
    False
    """
    k = _checks.count(n_levels, "n_levels", least=1)
    if not monotone:
        note = f"ln of all patterns of {k} levels"
        return _of_patterns(n_positive, n_unlabeled, lambda points: points * math.log(k), note)
    # A pattern is where, in the order of the score, the k levels change: k − 1 bars among the points.
    note = f"ln of the monotone patterns of {k} levels"
    return _of_patterns(n_positive, n_unlabeled, lambda points: _log_comb(points + k - 1, k - 1), note)


def fcmi_vc(n_positive: int, n_unlabeled: int, dimension: int) -> Information:
    """A bound for functions with values 0 and 1 only: ln Σ_{i ≤ d} C(2n, i) (Sauer's lemma).

    Parameters
    ----------
    n_positive, n_unlabeled : int
        Training rows; n is their sum.
    dimension : int
        Vapnik–Chervonenkis dimension d of the class, at least 0.

    Notes
    -----
    Not for probabilities. The PU-ECE paper infers fCMI = O(log n) of real-valued functions from a finite VC
    dimension of a class; that does not follow. With the one parameter w = mean of the training rows,
    sigmoid(w x) differs for each choice of the rows: its fCMI is (n_P + n_U) ln 2.

    Scores of 0 and 1 have no density; `generalization_bound` then needs binning="width".

    Examples
    --------
    >>> from halftruth_papers import theory
    >>> round(float(theory.fcmi_vc(1_000, 10_000, 3)), 2)
    28.2
    """
    d = _checks.count(dimension, "dimension", least=0)
    note = f"ln of the patterns of VC dimension {d}"
    return _of_patterns(n_positive, n_unlabeled, lambda points: _log_sauer(points, d), note)


def _of_patterns(
    n_positive: int, n_unlabeled: int, log_patterns: Callable[[int], float], note: str
) -> Information:
    """A bound from the number of patterns that predictions can have on so many points."""
    n = _checks.count(n_positive, "n_positive", least=1)
    n += _checks.count(n_unlabeled, "n_unlabeled", least=1)
    # Both draws of each pair get a prediction: 2n points, of which 2 n_U are unlabeled.
    nats, unlabeled = (log_patterns(2 * rows) for rows in (n, n_unlabeled))
    return _bounded(nats, unlabeled, n * math.log(2), f"{note} on {2 * n} points.")


def _bounded(nats: float, unlabeled: float, limit: float, note: str) -> Information:
    if nats >= limit:
        note += f" It is {nats:.4g}, not below (n_P + n_U) ln 2, which stands instead and says nothing."
    value = min(nats, limit)
    return Information(value=value, unlabeled=min(unlabeled, value), limit=limit, note=f"At most {note}")


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
    # Terms as multiples of the largest, at the middle or at d, which alone may overflow.
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


def generalization_bound(
    n_positive: float,
    n_unlabeled: float,
    prior: float,
    n_bins: int,
    *,
    lipschitz: float,
    fcmi: float | Information,
    fcmi_unlabeled: float | None = None,
    binning: Binning = "mass",
) -> Bound:
    """A bound on the mean of |PU-ECE − TCE| for scores learned from the same rows (Theorem 3).

    Parameters
    ----------
    n_positive, n_unlabeled, prior, n_bins, binning
        As in `bias_bound`, of the training rows.
    lipschitz : float
        Largest slope of E[Y | score] along the score, of every function that may be learned.
    fcmi : float or Information
        The functional conditional mutual information of the learner in nats, or a bound on it: `fcmi_finite`,
        `fcmi_grid`, `fcmi_vc`, `fcmi_of_learner`. At most (n_P + n_U) ln 2.
    fcmi_unlabeled : float or None
        The same of the predictions for unlabeled rows only, at most `fcmi`; None takes what `fcmi` holds of
        it, or `fcmi` itself. Used for "mass".

    Returns
    -------
    Bound
        Terms "binning", "sampling" and, for "mass", "bin masses".

    Notes
    -----
    A deterministic learner with real-valued outputs tells its training rows exactly: fCMI is then
    (n_P + n_U) ln 2 and the bound exceeds 1, whatever the sizes. It says something for finite classes
    (fCMI at most ln K) and for outputs on a grid. Outputs on a grid have no density: use binning="width",
    whose bound needs none.

    Examples
    --------
    >>> from halftruth_papers import theory
    >>> few = theory.fcmi_finite(100)
    >>> round(float(theory.generalization_bound(10**4, 10**5, 0.5, 20, lipschitz=1.0, fcmi=few)), 3)
    0.249
    >>> all_of_it = (10**4 + 10**5) * 0.6931
    >>> theory.generalization_bound(10**4, 10**5, 0.5, 20, lipschitz=1.0, fcmi=all_of_it).informative
    False
    """
    noise = noise_variance(n_positive, n_unlabeled, prior)
    slope = 1 + lipschitz_constant(lipschitz)
    n_bins = _checks.count(n_bins, "n_bins", least=1)
    _checks.choice(binning, "binning", BINNINGS)
    # The 2^B signs of the bins as in Theorem 1; what the predictions tell of the rows is paid on top.
    nats, unlabeled = _nats(fcmi, fcmi_unlabeled, n_positive + n_unlabeled)
    patterns = n_bins * math.log(2)
    terms = {"binning": slope / n_bins, "sampling": math.sqrt(8 * noise * (nats + patterns))}
    if binning == "mass":
        terms["bin masses"] = slope * math.sqrt(8 / n_unlabeled * (unlabeled + patterns))
    return sum_of(terms, "Bounds the mean of |PU-ECE − TCE| on the training rows.")


def _nats(
    fcmi: float | Information, fcmi_unlabeled: float | Information | None, n: float
) -> tuple[float, float]:
    """Of all predictions and of those for unlabeled rows."""
    nats = _checks.inside(float(fcmi), "fcmi", 0.0, math.inf, closed="left", advice=_NATS)
    if nats > n * math.log(2) * (1 + 1e-12):
        raise InputError(
            f"{arg('fcmi')} must be at most (n_positive + n_unlabeled) ln 2 = {n * math.log(2):.6g}, all "
            f"that there is to tell of the training rows; got {nats:.6g}. {_NATS}"
        )
    if fcmi_unlabeled is None:
        return nats, fcmi.unlabeled if isinstance(fcmi, Information) else nats
    unlabeled = _checks.inside(
        float(fcmi_unlabeled), "fcmi_unlabeled", 0.0, math.inf, closed="left", advice=_NATS
    )
    if unlabeled > nats * (1 + 1e-12):
        raise InputError(
            f"{arg('fcmi_unlabeled')} must be at most {arg('fcmi')}, of which it is a part; got "
            f"{unlabeled:.6g} and {nats:.6g}. Leave it out to use {arg('fcmi')} for both."
        )
    return nats, unlabeled
