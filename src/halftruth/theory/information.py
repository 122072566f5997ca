"""What predictions tell of the training rows: functional conditional mutual information, by enumeration.

Each row of a supersample is a pair of draws, of which a fair coin picks one for training. fCMI is the
information, in nats, that the predictions for both draws of all pairs hold of the coins, given the pairs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth._errors import InputError, arg

MOST_PAIRS = 16
"""Pairs whose coins are enumerated: the learner is called two to the power of this often."""

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
    >>> from halftruth import theory
    >>> told = theory.fcmi_finite(8, 100, 1_000)
    >>> round(float(told), 4), round(told.limit, 1), told.informative
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
    >>> from halftruth import theory
    >>> unlabeled, positive = [[-2.0, -1.0], [0.0, 1.0], [-1.0, 2.0]], [[1.0, 2.0], [3.0, -1.0]]
    >>> def learner(unlabeled, positive):
    ...     steep = positive.mean() > unlabeled.mean() + 1
    ...     return lambda x: 1 / (1 + np.exp(-(2 if steep else 1) * x))
    >>> told = theory.fcmi_of_learner(learner, unlabeled, positive)
    >>> round(float(told), 3), round(float(np.log(2)), 3)
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
    if n > MOST_PAIRS:
        raise InputError(
            f"The supersamples must have at most {MOST_PAIRS} pairs together, got {n}: all 2^n choices are "
            f"trained on. Pass fewer, or bound fCMI by {arg('fcmi_finite')} or {arg('fcmi_grid')}."
        )
    points = np.concatenate([unlabeled, positive]).reshape(2 * n, *unlabeled.shape[2:])
    runs: Sequence[tuple[Any, ...]] = [()] if randomness is None else [(r,) for r in randomness]
    if not runs:
        raise InputError(
            f"{arg('randomness')} is empty. Pass its values, or None for a deterministic learner."
        )
    outputs = []
    for coins in _coins(n):
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
        raise InputError(
            argument=name,
            must="have shape (n, 2) or (n, 2, d)",
            got=out.shape,
            remedy="Pass pairs of points, of which a coin picks one for training.",
        )
    return out


def _coins(n: int) -> Iterable[NDArray[np.intp]]:
    bits = np.arange(n)
    for k in range(2**n):
        yield (k >> bits) & 1


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
    seen = [[output[:first].tobytes() for output in runs] for runs in outputs]
    given = math.fsum(_entropy(runs) for runs in seen) / len(seen)
    return max(0.0, _entropy(output for runs in seen for output in runs) - given)


def _entropy(values: Iterable[Hashable]) -> float:
    """Of the frequencies, in nats."""
    counts = Counter(values).values()
    n = sum(counts)
    return math.log(n) - math.fsum(k * math.log(k) for k in counts) / n
