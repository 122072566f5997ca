"""Priors from features: scores that no row was trained on, then the estimators for scores.

A classifier tells known positives from unlabeled rows. Its scores of rows it was trained on would be useless
here, so they are out-of-bag or from the other folds. How much the estimate hangs on the classifier's own rows
is measured: it is trained again on rows drawn with replacement, and the spread is added to the replicates.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, arg
from halftruth.prior import auto, methods
from halftruth.prior._belief import PriorEstimate
from halftruth.prior.fit import Fit
from halftruth.prior.given import Given, knowledge
from halftruth.prior.held_out import HeldOut, need
from halftruth.prior.outcome import result, with_replicates
from halftruth.table._score_table import POSITIVE, UNLABELED, ScoreTable
from halftruth.table._strata import StratumRows

N_REFITS = 5
"""Of the classifier on resampled rows, for the spread that it adds."""
FEATURE_RESAMPLES = 20
"""Of the rows, for estimators that take the features themselves: each is slow."""


def estimate_prior_from_features(
    X: Any,
    labeled: Any,
    *,
    method: str = "auto",
    classifier: Any = None,
    purity: float = 1.0,
    within: tuple[float, float] | None = None,
    labeled_sample: tuple[int, int] | None = None,
    confidence_level: float = 0.95,
    n_refits: int = N_REFITS,
    n_resamples: int | None = None,
    rng: int | np.random.Generator = 0,
) -> PriorEstimate:
    """The share α of positives among the unlabeled rows, from their features.

    Parameters
    ----------
    X : (n, k) array or data frame of numbers
    labeled : (n,) bool
        True for known positives, False for unlabeled rows.
    method : str
        As in `estimate_prior`. km1, km2, tice and divergence look at the features themselves; the others at
        scores of a classifier of known positives against unlabeled rows, never of rows it was trained on.
    classifier : scikit-learn classifier, optional
        By default extremely randomized trees and a logistic regression together. Any other is cross-fitted in
        five folds, and takes ``X`` as it is.
    purity, within, labeled_sample, confidence_level
        As in `estimate_prior`.
    n_refits : int
        How often the classifier is trained again on resampled rows, so that the interval holds its
        variability.
    n_resamples : int, optional
        As in `estimate_prior`; 20 where a method looks at the features themselves.
    rng : int or numpy Generator

    Returns
    -------
    PriorEstimate

    Examples
    --------
    >>> import halftruth as ht, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.normal(2, 1, (800, 3))
    >>> negative = rng.normal(-2, 1, (700, 3))
    >>> X = np.concatenate([positive, negative])
    >>> labeled = np.arange(1500) < 500
    >>> estimate = ht.estimate_prior_from_features(X, labeled, n_refits=2)
    >>> abs(estimate.value - 0.3) < 0.05
    True
    """
    known = _mask(labeled)
    own = classifier is not None and methods.get(method).fit_features is None
    x = X if own and hasattr(X, "shape") and len(X.shape) == 2 else _matrix(X)
    if len(x) != len(known):
        raise InputError(
            f"{arg('labeled')} has length {len(known)}, `X` has {len(x)} rows. Pass one value a row."
        )
    level = _checks.confidence_level(confidence_level)
    n_refits = _checks.count(n_refits, "n_refits", least=0)
    if n_refits == 1:
        raise InputError("`n_refits`=1 shows no spread. Pass 0, or 2 and more.")
    generator = np.random.default_rng(rng)
    chosen = methods.get(method)
    if chosen.needs_negatives:
        raise InputError(f"{arg('method', method)} needs known negatives, which features have none of here.")
    told = knowledge(_checks.share(purity, "purity", closed_at_one=True), within, labeled_sample)
    if chosen.name != "auto" and (told.within != (0.0, 1.0) or any(told.found)):
        raise InputError(
            f"{arg('within')} and {arg('labeled_sample')} go with method 'auto'. Leave them out, or pass it."
        )
    if chosen.fit_features is not None:
        return _of_features(x, known, chosen, told, level, n_resamples, generator)
    makers = HeldOut(x, known, classifier)
    given = _given(makers.of(generator), known, told)
    if chosen.name == "auto":
        fitted = auto.fit(given.samples, known=given.possible(told), rng=generator)
    else:
        n = chosen.n_resamples if n_resamples is None else _checks.count(n_resamples, "n_resamples", least=2)
        (fitted,) = with_replicates(given, lambda samples: (chosen.fit(samples, generator),), n, generator)
    again = [
        _value(_given(makers.of(generator, redrawn=True), known, told), chosen, told, generator)
        for _ in range(n_refits)
    ]
    return result(_spread(fitted, again, generator), given, chosen.name, chosen.assumption, level)


def _given(score: Vector, known: NDArray[np.bool_], told: auto.Knowledge) -> Given:
    strata = {POSITIVE: StratumRows(score=score[known]), UNLABELED: StratumRows(score=score[~known])}
    return Given(ScoreTable(strata), told.purity or 1.0, "unlabeled")


def _value(given: Given, chosen: methods.Method, told: auto.Knowledge, rng: np.random.Generator) -> float:
    if chosen.name == "auto":
        return auto.fit(given.samples, known=given.possible(told), rng=rng).value
    return chosen.fit(given.samples, rng).value


def _spread(fitted: Fit, again: list[float], rng: np.random.Generator) -> Fit:
    """Replicates moved by how far values of retrained classifiers lie from their mean."""
    assert fitted.replicates is not None
    if len(again) < 2:
        return fitted
    # The mean of few values is nearer to them than the truth is.
    away = (np.asarray(again) - np.mean(again)) * np.sqrt(len(again) / (len(again) - 1))
    moved = fitted.replicates + rng.choice(away, len(fitted.replicates))
    return Fit(value=fitted.value, curve=fitted.curve, notes=fitted.notes, replicates=np.clip(moved, 0, 1))


def _of_features(
    x: Vector,
    known: NDArray[np.bool_],
    chosen: methods.Method,
    told: auto.Knowledge,
    level: float,
    n_resamples: int | None,
    rng: np.random.Generator,
) -> PriorEstimate:
    """An estimator that takes the features themselves; its interval from resampled rows."""
    assert chosen.fit_features is not None
    need(known, 1, "an estimate")
    positive, unlabeled = x[known], x[~known]
    fitted = chosen.fit_features(positive, unlabeled, rng=rng)
    n = FEATURE_RESAMPLES if n_resamples is None else _checks.count(n_resamples, "n_resamples", least=2)

    def half(part: Vector) -> Vector:
        return part[rng.permutation(len(part))[: (len(part) + 1) // 2]]

    # Halves are as far from their mean as all rows from the truth, and hold no row twice, in two folds.
    drawn = [chosen.fit_features(half(positive), half(unlabeled), rng=rng) for _ in range(n)]
    values = np.asarray([each.value for each in drawn])
    values = np.clip(values - values.mean() + fitted.value, 0, 1)
    # No score, no bound: every α up to the purity is possible.
    given = _given(np.zeros(len(x)), known, told)
    whole = Fit(value=fitted.value, curve=fitted.curve, notes=fitted.notes, replicates=values)
    return result(whole, given, chosen.name, chosen.assumption, level)


def _matrix(values: Any) -> Vector:
    """Finite numbers, (n, k); trees and distances both want them."""
    to_numpy = getattr(values, "to_numpy", None)
    try:
        x = np.asarray(values if to_numpy is None else to_numpy(), dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "`X` must hold numbers only. Encode what is not, or pass a classifier or pipeline that does."
        ) from None
    if x.ndim != 2 or x.shape[1] == 0:
        raise InputError(f"`X` must be two-dimensional, rows by features, got shape {x.shape}.")
    if not np.isfinite(x).all():
        count = int((~np.isfinite(x)).sum())
        raise InputError(
            f"`X` must be finite, got {count} NaN or infinite value(s). Impute or drop them, or pass "
            f"a classifier that takes them."
        )
    return x


def _mask(labeled: Any) -> NDArray[np.bool_]:
    """True for known positives."""
    mask = _checks.vector(labeled, "labeled")
    if not np.isin(mask, (0, 1)).all():
        raise InputError(f"{arg('labeled')} must hold True for known positives and False for unlabeled rows.")
    return mask.astype(bool)
