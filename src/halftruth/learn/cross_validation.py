"""From an estimator to evidence: every row scored by a model that has not seen it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, has_fit_parameter

from halftruth import checks
from halftruth.belief import ESTIMATE
from halftruth.checks import Vector
from halftruth.errors import InputError
from halftruth.evidence import PositiveUnlabeled
from halftruth.learn.folds import Split, splits
from halftruth.scorer import class_one_scores
from halftruth.uncertainty.progress import progress

METHODS: dict[str, bool | None] = {"auto": None, "predict_proba": True, "decision_function": False}
"""What `class_one_scores` calls each."""

LONG = 20_000
"""Rows trained on, over all folds, from which progress is shown."""


def cross_val_evidence(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    unlabeled: float | None = None,
    prior: Any = None,
    purity: Any = 1.0,
    population: str = "all",
    cv: Any = 5,
    groups: Any = None,
    method: str = "auto",
    sample_weight: Any = None,
    n_jobs: int | None = None,
    rng: int | np.random.Generator = 0,
) -> PositiveUnlabeled:
    """Evidence from out-of-fold scores, for `evaluate`, `compare`, `Calibrator` and all else.

    Parameters
    ----------
    estimator : scikit-learn classifier, pipeline, search or a learner of `halftruth.learn`
        It is cloned for each fold, and its ``random_state`` is left as it is. A learner reads the labels in
        its own code. Any other classifier learns known positives (1) against all other rows (0), known
        negatives among them.
    X : (n, k) array, sparse matrix or data frame
        As the estimator takes it.
    y : (n,) array
        1 positive, 0 negative, NaN/None unlabeled.
    unlabeled : number, optional
        Another code for unlabeled rows, e.g. 0 where y says only "known positive or not". A learner that
        names its own need not be told again, and may not be told another.
    prior, purity, population
        As in `PositiveUnlabeled.from_labels`: of the evidence. Those that a learner is trained with are its
        own, but the population must be the same.
    cv : int, splitter or iterable of (train, test)
        Folds, stratified by positive, unlabeled and negative rows, or a splitter that scores every row once.
        A splitter is given 1 for positive, 0 for unlabeled and 2 for negative rows as y.
    groups : (n,) array, optional
        Rows of one group, e.g. of one patient, stay in one fold.
    method : {"auto", "predict_proba", "decision_function"}
        What scores a row. "auto": ``predict_proba`` where the estimator has it and can say it, else
        ``decision_function``.
    sample_weight : (n,) array, optional
        How many rows a row stands for, in training and in the evidence. Pipelines pass it to their last step.
    n_jobs : int, optional
        Folds trained at a time, as in joblib.
    rng : int or numpy Generator
        Of the folds, where ``cv`` is a number.

    Returns
    -------
    PositiveUnlabeled

    Notes
    -----
    A row's own label had no part in its score, so known positives score as hidden ones do if they are a
    random sample of them. This is what makes the evidence honest.

    The scores of several models are ranked together. Probabilities are on one scale. That of a margin may
    change from fold to fold, as with support vector machines, which costs a little of every ranking metric.
    Known positives spread evenly over the folds keep the models at one level. Leaving one row out does not: a
    model without one of few positives scores all rows lower, and it is that positive which it scores.

    Intervals are about these scores. They do not hold that another sample would have trained another
    model. One trained on all rows is, if anything, a little better than these.

    A plain classifier's probability is that of being *labeled*. Calibrate it (`cross_calibrate`) before
    you read it as that of being positive.

    Examples
    --------
    >>> import numpy as np, halftruth as ht
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(2000) < 0.4
    >>> X = rng.normal(2.0 * truth)[:, None]
    >>> y = (truth & (rng.random(2000) < 0.5)).astype(int)  # half of the positives are known
    >>> evidence = ht.cross_val_evidence(LogisticRegression(), X, y, unlabeled=0, prior=0.4)
    >>> bool(0.88 < ht.roc_auc(evidence) < 0.96)  # in truth 0.92
    True
    """
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        raise InputError(f"`estimator` must be an estimator with fit, got {estimator!r}. Pass an instance.")
    n = _num_samples(X)
    learner = _learner(estimator)
    code = _code(learner, unlabeled, population)
    masks = checks.partial_labels(y, "y", unlabeled=None if np.isnan(code) else code, length=n)
    strata = np.where(masks["positive"], 1, np.where(masks["negative"], 2, 0))
    weight = checks.weights(sample_weight, "sample_weight", length=n)
    probability = METHODS[checks.choice(method, "method", tuple(METHODS))]

    told = {"prior": prior, "purity": purity, "population": population, "sample_weight": weight}
    as_given = np.asarray([np.nan, 1.0, 0.0])[strata]
    # What is wrong with the shares is said before hours of training.
    if not any(isinstance(share, str) and share == ESTIMATE for share in (prior, purity)):
        PositiveUnlabeled.from_labels(as_given, np.zeros(n), **told)
    folds = splits(cv, X, strata, groups, rng)
    labels = np.asarray([0 if learner is None else code, 1, 0])[strata]
    score = _scores(estimator, X, labels, folds, weight, probability, n_jobs)
    return PositiveUnlabeled.from_labels(as_given, score, **told)


def _scores(
    estimator: Any,
    X: Any,
    labels: NDArray[Any],
    folds: list[Split],
    weight: Vector | None,
    probability: bool | None,
    n_jobs: int | None,
) -> Vector:
    """Out-of-fold scores, in the order of the rows."""
    from joblib import Parallel, delayed  # type: ignore[import-untyped]

    key = None if weight is None else _weight_key(estimator)
    out = np.empty(len(labels))
    trained = sum(len(train) for train, _ in folds)
    with progress("Cross-validation", len(folds), long=trained > LONG) as advance:
        scored = Parallel(n_jobs=n_jobs, return_as="generator")(
            delayed(_held_out)(
                estimator, X, labels, split, {} if weight is None else {key: weight[split[0]]}, probability
            )
            for split in folds
        )
        for (_, test), score in zip(folds, scored, strict=True):
            out[test] = score
            advance(1)
    return out


def _held_out(
    estimator: Any, X: Any, labels: NDArray[Any], split: Split, fit: dict[Any, Any], probability: bool | None
) -> Any:
    """Scores of one fold by a model of the others."""
    train, test = split
    model = clone(estimator)
    model.fit(_safe_indexing(X, train), labels[train], **fit)
    return class_one_scores(model, _safe_indexing(X, test), probability=probability)


# --- What an estimator is told -------------------------------------------------------------------


def _learner(estimator: Any) -> Any:
    """The estimator inside pipelines and searches that reads partial labels, or None."""
    while hasattr(estimator, "get_params"):
        if "unlabeled" in estimator.get_params(deep=False):
            return estimator
        steps = getattr(estimator, "steps", None)
        estimator = steps[-1][1] if steps else getattr(estimator, "estimator", None)
    return None


def _code(learner: Any, unlabeled: Any, population: str) -> float:
    """The code of unlabeled rows, the user's or the learner's own; NaN where there is no other."""
    if learner is None:
        return _number(unlabeled)
    name, own = type(learner).__name__, _number(learner.unlabeled)
    if unlabeled is not None and not np.array_equal(_number(unlabeled), own, equal_nan=True):
        raise InputError(
            f"`unlabeled` is {unlabeled!r} here and {learner.unlabeled!r} in {name}. Pass both the code that "
            f"stands in y."
        )
    theirs = getattr(learner, "population", population)
    if theirs != population:
        raise InputError(
            f"`population` is {population!r} here and {theirs!r} in {name}. The rows came in one way: pass "
            f"the same to both."
        )
    return own


def _number(code: Any) -> float:
    """NaN needs no code of its own."""
    missing = code is None or (isinstance(code, (float, np.floating)) and np.isnan(code))
    return np.nan if missing else checks.unlabeled_code(code)


def _weight_key(estimator: Any) -> str:
    """What ``fit`` calls the weights of the rows."""
    prefix, inner = "", estimator
    while inner is not None and not has_fit_parameter(inner, "sample_weight"):
        if steps := getattr(inner, "steps", None):
            prefix, inner = f"{prefix}{steps[-1][0]}__", steps[-1][1]
        else:  # a search hands them on
            inner = inner.estimator if hasattr(inner, "refit") else None
    if inner is None:
        raise InputError(
            f"`sample_weight` was given, and {type(estimator).__name__} takes none in fit. Use an estimator "
            f"that does, or leave it out."
        )
    return f"{prefix}sample_weight"
