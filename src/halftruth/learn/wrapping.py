"""What a learner around another estimator asks of its rows and of that estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_consistent_length, column_or_1d, get_tags
from sklearn.utils.validation import has_fit_parameter, validate_data

from halftruth._errors import InputError
from halftruth.learn.labels import Strata, split_labels

LEAST = 2
"""Known positives and unlabeled rows: one is scored while another is learned."""


def features(learner: Any, X: Any, base: Any, *, reset: bool) -> Any:
    """X as the base takes it: a data frame as it is, all else a checked array or sparse matrix."""
    if hasattr(X, "columns"):
        validate_data(learner, X, reset=reset, skip_check_array=True)
        return X
    takes = get_tags(base).input_tags
    return validate_data(
        learner,
        X,
        reset=reset,
        accept_sparse="csr" if takes.sparse else False,
        ensure_all_finite="allow-nan" if takes.allow_nan else True,
        ensure_min_samples=2 * LEAST if reset else 1,
    )


def labels(learner: Any, X: Any, y: Any) -> Strata:
    """The strata of y, with enough rows of each that must be there."""
    name = type(learner).__name__
    if y is None:
        raise InputError(f"{name} requires y to be passed, but the target y is None.")
    y = column_or_1d(y, warn=True)
    check_consistent_length(X, y)
    strata = split_labels(y, learner.unlabeled)
    for what, count in zip(("known positive", "unlabeled"), strata.sizes, strict=False):
        if count < LEAST:
            raise InputError(
                f"`y` must have at least {LEAST} {what} rows, got {count}: one is scored by a model that "
                f"learned from another. Pass more rows."
            )
    return strata


def with_nan(strata: Strata) -> Any:
    """1 positive, 0 negative, NaN unlabeled: the code of `PositiveUnlabeled.from_labels`."""
    return np.where(strata.positive, 1.0, np.where(strata.negative, 0.0, np.nan))


def check_base(base: Any) -> None:
    """Refuse what is no estimator."""
    if isinstance(base, type) or not hasattr(base, "fit"):
        raise InputError(
            f"`estimator` must be a classifier such as scikit-learn's LogisticRegression(), got {base!r}. "
            f"Pass an instance."
        )


def weight_name(estimator: Any, why: str, remedy: str) -> str:
    """What ``fit`` calls the weights of rows; a pipeline hands them to its last step, a search on."""
    prefix, inner = "", estimator
    while not has_fit_parameter(inner, "sample_weight"):
        if steps := getattr(inner, "steps", None):
            prefix, inner = f"{prefix}{steps[-1][0]}__", steps[-1][1]
        elif hasattr(inner, "refit"):
            inner = inner.estimator
        else:
            raise InputError(f"{why}, and {type(inner).__name__} takes no sample_weight in fit. {remedy}")
    return f"{prefix}sample_weight"


def seeded(base: Any, seed: int) -> Any:
    """A clone; wherever it takes a random state, that is the seed."""
    out = clone(base)
    names = [name for name in out.get_params() if name.rpartition("__")[2] == "random_state"]
    return out.set_params(**dict.fromkeys(names, seed)) if names else out
