"""Probabilities of many classes as evidence of two: the top class hit or missed, each class or another."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, arg
from halftruth.evidence import Labeled

__all__ = ["class_wise", "top_label"]


def top_label(probabilities: ArrayLike, y: ArrayLike, *, sample_weight: ArrayLike | None = None) -> Labeled:
    """Whether the most probable class is the true one, scored by its probability.

    Parameters
    ----------
    probabilities : (n, K) array
        Of each class; of equal ones the first is the top.
    y : (n,) array of whole numbers from 0 to K − 1
        The column of the true class.
    sample_weight : (n,) array, optional

    Examples
    --------
    >>> import halftruth as ht
    >>> evidence = ht.top_label([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]], [0, 1])
    >>> round(ht.calibration_error(evidence, n_bins=1), 12)
    0.15
    """
    table, label = _checked(probabilities, y)
    top = np.argmax(table, axis=1)
    return Labeled(top == label, table[np.arange(len(label)), top], sample_weight=sample_weight)


def class_wise(
    probabilities: ArrayLike, y: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> dict[int, Labeled]:
    """For each class, whether it is the true one, scored by its probability.

    Parameters
    ----------
    probabilities, y, sample_weight
        As in `top_label`.

    Examples
    --------
    >>> import halftruth as ht
    >>> by_class = ht.class_wise([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]], [0, 1])
    >>> [round(ht.calibration_error(evidence, n_bins=1), 12) for evidence in by_class.values()]
    [0.1, 0.25, 0.35]
    """
    table, label = _checked(probabilities, y)
    return {
        k: Labeled(label == k, np.ascontiguousarray(table[:, k]), sample_weight=sample_weight)
        for k in range(table.shape[1])
    }


def _checked(probabilities: ArrayLike, y: ArrayLike) -> tuple[Vector, NDArray[np.intp]]:
    table = _checks.native(probabilities, "probabilities")
    if table.ndim != 2 or table.shape[1] < 2:
        must, got = "have one row for each case and one column for each class", f"shape {table.shape}"
        remedy = "For two classes with one column use Labeled."
        raise InputError(argument="probabilities", must=must, got=got, remedy=remedy)
    values = _checks.probabilities(table.ravel(), "probabilities").reshape(table.shape)
    n_classes = table.shape[1]
    label = _checks.vector(y, "y", length=len(values))
    bad = (label != np.floor(label)) | (label < 0) | (label >= n_classes)
    if bad.any():
        first = int(np.argmax(bad))
        raise InputError(
            f"{arg('y')} must hold columns of {arg('probabilities')}, whole numbers from 0 to "
            f"{n_classes - 1}; got {label[first]:g} at index {first}."
        )
    return values, label.astype(np.intp)
