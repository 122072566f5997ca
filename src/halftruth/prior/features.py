"""Priors from features: scores that no row was trained on, then the estimators for scores.

A classifier tells known positives from unlabeled rows. Its scores of rows it was trained on would be useless
here, so they are out-of-bag or from the other folds. How much the estimate hangs on the classifier's own rows
is measured: it is trained again on rows drawn with replacement, and the spread is added to the replicates.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth import checks
from halftruth.belief import PriorEstimate
from halftruth.checks import Vector
from halftruth.errors import InputError
from halftruth.prior import auto, methods
from halftruth.prior.fit import Fit
from halftruth.prior.given import Given, knowledge
from halftruth.prior.outcome import result, with_replicates
from halftruth.rows import Rows
from halftruth.table import POSITIVE, UNLABELED, ScoreTable

N_TREES = 400
LEAF = 3
"""Rows in a leaf: single rows in leaves make out-of-bag scores coarse."""
N_FOLDS = 5
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
        By default extremely randomized trees with out-of-bag scores; any other is cross-fitted in five folds.
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
    x, known = _matrix(X), _mask(labeled)
    if len(x) != len(known):
        raise InputError(f"`labeled` has length {len(known)}, `X` has {len(x)} rows. Pass one value a row.")
    level = checks.confidence_level(confidence_level)
    n_refits = checks.count(n_refits, "n_refits", least=0)
    generator = np.random.default_rng(rng)
    chosen = methods.get(method)
    if chosen.needs_negatives:
        raise InputError(f"`method`={method!r} needs known negatives, which features have none of here.")
    told = knowledge(checks.share(purity, "purity", closed_at_one=True), within, labeled_sample)
    if chosen.name != "auto" and (told.within != (0.0, 1.0) or any(told.found)):
        raise InputError("`within` and `labeled_sample` go with method 'auto'. Leave them out, or pass it.")
    if chosen.fit_features is not None:
        return _of_features(x, known, chosen, told, level, n_resamples, generator)
    makers = _Scores(x, known, classifier)
    given = _given(makers.of(generator), known, told)
    if chosen.name == "auto":
        fitted = auto.fit(given.samples, known=given.possible(told), rng=generator)
    else:
        n = chosen.n_resamples if n_resamples is None else checks.count(n_resamples, "n_resamples", least=2)
        (fitted,) = with_replicates(given, lambda samples: (chosen.fit(samples, generator),), n, generator)
    again = [
        _value(_given(makers.of(generator, redrawn=True), known, told), chosen, told, generator)
        for _ in range(n_refits)
    ]
    return result(_spread(fitted, again, generator), given, chosen.name, chosen.assumption, level)


class _Scores:
    """Scores of every row by a classifier that has not seen it."""

    def __init__(self, x: Vector, known: NDArray[np.bool_], classifier: Any) -> None:
        self.x, self.known, self.classifier = x, known, classifier
        _need(known, 2 if classifier is None else N_FOLDS, "held-out scores")
        if classifier is not None and not hasattr(classifier, "fit"):
            raise InputError(
                f"`classifier` must be a scikit-learn classifier, got {type(classifier).__name__}."
            )

    def of(self, rng: np.random.Generator, *, redrawn: bool = False) -> Vector:
        """``redrawn``: trained on rows drawn with replacement, each class by itself."""
        make = self._out_of_bag if self.classifier is None else self._folded
        times = self._times_drawn(rng) if redrawn else None
        return make(int(rng.integers(2**31)), times)

    def _out_of_bag(self, seed: int, times: Vector | None) -> Vector:
        from sklearn.ensemble import ExtraTreesClassifier

        forest = ExtraTreesClassifier(
            N_TREES,
            min_samples_leaf=LEAF,
            class_weight="balanced_subsample",  # few known positives must not be outvoted in every leaf
            bootstrap=True,
            oob_score=True,
            n_jobs=-1,
            random_state=seed,
        )
        # A row drawn twice weighs twice; drawn as such, its copies would be in and out of a bag at once.
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Some inputs do not have OOB scores")
            forest.fit(self.x, self.known, sample_weight=times)
        # A row drawn very often may be in every bag: it has no votes, and takes a middle score.
        votes = forest.oob_decision_function_
        has_votes = votes.sum(axis=1) > 0
        return np.asarray(np.where(has_votes, votes[:, 1], np.median(votes[has_votes, 1])))

    def _folded(self, seed: int, times: Vector | None) -> Vector:
        from sklearn.base import clone
        from sklearn.model_selection import StratifiedKFold

        folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed).split(self.x, self.known)
        score = np.empty(len(self.x))
        for train, held in folds:
            rows = train if times is None else np.repeat(train, times[train].astype(int))
            model = clone(self.classifier).fit(self.x[rows], self.known[rows])
            score[held] = (
                model.predict_proba(self.x[held])[:, 1]
                if hasattr(model, "predict_proba")
                else model.decision_function(self.x[held])
            )
        return score

    def _times_drawn(self, rng: np.random.Generator) -> Vector:
        times = np.zeros(len(self.x))
        for mask in (self.known, ~self.known):
            times[mask] = rng.multinomial(mask.sum(), np.full(mask.sum(), 1 / mask.sum()))
        return times


def _given(score: Vector, known: NDArray[np.bool_], told: auto.Knowledge) -> Given:
    strata = {POSITIVE: Rows(score=score[known]), UNLABELED: Rows(score=score[~known])}
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
    _need(known, 1, "an estimate")
    positive, unlabeled = x[known], x[~known]
    fitted = chosen.fit_features(positive, unlabeled, rng=rng)
    n = FEATURE_RESAMPLES if n_resamples is None else checks.count(n_resamples, "n_resamples", least=2)

    def redrawn(part: Vector) -> Vector:
        return part[rng.integers(0, len(part), len(part))]

    drawn = [chosen.fit_features(redrawn(positive), redrawn(unlabeled), rng=rng) for _ in range(n)]
    values = np.asarray([each.value for each in drawn])
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
        raise InputError("`X` must hold numbers only. Encode categories first, e.g. one-hot.") from None
    if x.ndim != 2 or x.shape[1] == 0:
        raise InputError(f"`X` must be two-dimensional, rows by features, got shape {x.shape}.")
    if not np.isfinite(x).all():
        count = int((~np.isfinite(x)).sum())
        raise InputError(f"`X` must be finite, got {count} NaN or infinite value(s). Impute or drop them.")
    return x


def _need(known: NDArray[np.bool_], least: int, why: str) -> None:
    for name, count in (("known positives", known.sum()), ("unlabeled rows", (~known).sum())):
        if count < least:
            raise InputError(f"`labeled` marks {count} {name}; at least {least} are needed for {why}.")


def _mask(labeled: Any) -> NDArray[np.bool_]:
    """True for known positives."""
    mask = checks.vector(labeled, "labeled")
    if not np.isin(mask, (0, 1)).all():
        raise InputError("`labeled` must hold True for known positives and False for unlabeled rows.")
    return mask.astype(bool)
