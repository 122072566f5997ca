"""Folds of partially labeled rows: stratified, a partition, and each with something to learn from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, check_cv

from halftruth import _checks
from halftruth._errors import InputError

Indices = NDArray[np.intp]
Split = tuple[Indices, Indices]
"""Rows to train on, rows to score."""

NEEDS = {1: "known positive", 0: "unlabeled"}
"""Rows that every fold learns from."""


def splits(
    cv: Any,
    X: Any,
    strata: NDArray[Any],
    groups: Any,
    rng: int | np.random.Generator,
    needs: Mapping[int, str] = NEEDS,
) -> list[Split]:
    """The folds, every row scored once.

    Parameters
    ----------
    cv : int, splitter or iterable of (train, test)
    X : (n, k) array, sparse matrix or data frame
    strata : (n,) array
        1 positive, 0 unlabeled, 2 negative.
    groups : (n,) array or None
    rng : int or numpy Generator
        Of the folds, where ``cv`` is a number.
    needs : dict
        The strata that every fold must learn from, and what they are called.

    Returns
    -------
    list of (train, test)

    Examples
    --------
    >>> import numpy as np
    >>> strata = np.asarray([1, 1, 0, 0, 0, 0])
    >>> [strata[test].tolist() for _, test in splits(2, np.zeros((6, 1)), strata, None, 0)]
    [[1, 0, 0], [1, 0, 0]]
    """
    n = len(strata)
    groups = _groups(groups, n)
    if isinstance(cv, (int, np.integer, float, str, bool)) or cv is None:
        splitter, stratify = _stratified(cv, strata, groups, rng, needs)
    else:
        splitter, stratify = _given(cv, strata), strata
    rows = np.arange(n)
    out = [(rows[train], rows[test]) for train, test in splitter.split(X, stratify, groups)]
    _check_partition(out, n)
    for k, (train, _) in enumerate(out):
        for code, name in needs.items():
            if not (strata[train] == code).any():
                raise InputError(
                    f"Fold {k + 1} of {len(out)} trains on no {name} row. Use fewer folds, or folds "
                    f"stratified by y."
                )
    return out


def _stratified(
    cv: Any,
    strata: NDArray[Any],
    groups: NDArray[Any] | None,
    rng: int | np.random.Generator,
    needs: Mapping[int, str],
) -> tuple[Any, NDArray[Any]]:
    """A splitter that spreads the strata evenly, and the strata that it spreads."""
    k = _checks.count(cv, "cv", least=2)
    for code, name in needs.items():
        if (held := int((strata == code).sum())) < k:
            remedy = f"Pass cv={held}" if held > 1 else "One cannot be both learned from and scored"
            raise InputError(f"`cv`={k} folds need {k} {name} rows, got {held}. {remedy}, or find more.")
    if groups is not None and (found := len(np.unique(groups))) < k:
        raise InputError(f"`cv`={k} folds need {k} groups, got {found}. Use fewer folds.")
    # Negatives too few for every fold are spread with the unlabeled.
    few = (strata == 2) & ((strata == 2).sum() < k)
    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    seed = int(np.random.default_rng(rng).integers(2**31))
    return kind(k, shuffle=True, random_state=seed), np.where(few, 0, strata)


def _given(cv: Any, strata: NDArray[Any]) -> Any:
    try:
        return check_cv(cv, strata, classifier=True)
    except ValueError:
        raise InputError(
            f"`cv` must be a number of folds, a splitter or pairs (train, test), got {cv!r}."
        ) from None


def _groups(groups: Any, n: int) -> NDArray[Any] | None:
    if groups is None:
        return None
    out = np.asarray(groups)
    if out.shape != (n,):
        raise InputError(f"`groups` must have one value for each of {n} rows, got shape {out.shape}.")
    return out


def _check_partition(folds: list[Split], n: int) -> None:
    """Every row is scored once, and by a model that has not seen it."""
    partition = "Use a splitter that partitions the rows, such as KFold or GroupKFold."
    times = np.zeros(n, dtype=np.int64)
    for k, (train, test) in enumerate(folds):
        if not len(test):
            raise InputError(f"Fold {k + 1} of {len(folds)} scores no row. Use fewer folds.")
        seen = np.intersect1d(train, test)
        if len(seen):
            raise InputError(
                f"Fold {k + 1} of {len(folds)} trains on {len(seen)} row(s) that it scores, the first at "
                f"index {seen[0]}. {partition}"
            )
        np.add.at(times, test, 1)
    for wrong, what in ((times > 1, "more than once"), (times == 0, "not at all")):
        if wrong.any():
            raise InputError(
                f"`cv` must score every row once, and scores {wrong.sum()} row(s) {what}, the first at index "
                f"{np.argmax(wrong)}. {partition}"
            )
