"""From an estimator to evidence: every row scored by a model that has not seen it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import HalftruthError, InputError, NotIdentifiable
from halftruth.evaluation._scorer import class_one_scores
from halftruth.evidence import PositiveConfidence, PositiveUnlabeled
from halftruth.inference._progress import progress
from halftruth.learn.folds import NEEDS, Split, splits
from halftruth.learn.labels import code_of, split_labels
from halftruth.learn.wrapping import check_base, weight_name
from halftruth.prior._belief import ESTIMATE

PROBABILITY, MARGIN = "predict_proba", "decision_function"
METHODS = {"auto": (PROBABILITY, MARGIN), PROBABILITY: (PROBABILITY,), MARGIN: (MARGIN,)}
"""What may score a row, the best first."""

Kind = Callable[..., PositiveUnlabeled | PositiveConfidence]
"""From what is known of the rows, and their scores, to evidence."""

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
) -> PositiveUnlabeled | PositiveConfidence:
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
        1 positive, 0 negative, NaN/None unlabeled. For `PositiveConfidenceClassifier`: the confidences of
        known positives, all rows being such.
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
        What scores a row. "auto": ``predict_proba`` where the estimator has it and can say it in every fold,
        else ``decision_function`` in all.
    sample_weight : (n,) array, optional
        How many rows a row stands for, in training and in the evidence. Pipelines pass it to their last step.
    n_jobs : int, optional
        Folds trained at a time, as in joblib.
    rng : int or numpy Generator
        Of the folds, where ``cv`` is a number.

    Returns
    -------
    PositiveUnlabeled
        Or PositiveConfidence, where the estimator learns from confidences.

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
    check_base(estimator)
    n = _num_samples(X)
    learner = _learner(estimator)
    methods = METHODS[_checks.choice(method, "method", tuple(METHODS))]
    weight = _checks.weights(sample_weight, "sample_weight", length=n)
    told: dict[str, Any] = {"prior": prior, "sample_weight": weight}
    kind: Kind
    if getattr(learner, "learns_from", "labels") == "confidences":
        _refuse_shares(learner, unlabeled, purity, population)
        kind, labels = PositiveConfidence, _checks.vector(y, "y", length=n)
        known = labels
        strata, needs = np.ones(n, dtype=np.int64), {1: "known positive"}
    else:
        code = _code(learner, unlabeled, population)
        strata, needs = _strata(y, code, learner, n), NEEDS
        labels = np.asarray([0 if learner is None else code, 1, 0])[strata]
        kind, known = PositiveUnlabeled.from_labels, np.asarray([np.nan, 1.0, 0.0])[strata]
        told |= {"purity": purity, "population": population}
    # What is wrong with the shares is said before hours of training.
    if not any(isinstance(share, str) and share == ESTIMATE for share in (prior, purity)):
        kind(known, np.zeros(n), **told)
    folds = splits(cv, X, strata, groups, rng, needs)
    # A learner may lack a prior in some folds alone, so it is asked for all that it has.
    each = Fold(estimator, X, labels, weight, methods, all_methods=learner is not None)
    return kind(known, _scores(each, folds, n_jobs), **told)


# --- The folds -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Fold:
    """What each fold is given."""

    estimator: Any
    X: Any
    labels: NDArray[Any]
    weight: Vector | None
    methods: tuple[str, ...]
    """What may score a row; the first is best."""
    all_methods: bool
    """Whether a fold scores by all of them that it can, not by the first alone."""

    @property
    def weight_name(self) -> str:
        return weight_name(
            self.estimator, "`sample_weight` was given", "Use an estimator that does, or leave it out."
        )

    def __call__(self, split: Split, named: str) -> dict[str, Any]:
        """Scores of one fold by a model of the others, for each method."""
        train, test = split
        fit = {} if self.weight is None else {self.weight_name: self.weight[train]}
        model = clone(self.estimator)
        try:
            model.fit(_safe_indexing(self.X, train), self.labels[train], **fit)
            return self._scores(model, _safe_indexing(self.X, test))
        except HalftruthError as error:
            raise type(error)(f"{named}: {error}") from error

    def _scores(self, model: Any, rows: Any) -> dict[str, Any]:
        has = [name for name in self.methods if hasattr(model, name)]
        if not has:  # it is refused, by the name of what was asked for
            asked = None if len(self.methods) == 2 else self.methods == (PROBABILITY,)
            class_one_scores(model, rows, probability=asked)
        out, failed = {}, None
        for name in has if self.all_methods else has[:1]:
            try:
                out[name] = class_one_scores(model, rows, probability=name == PROBABILITY)
            except NotIdentifiable as error:
                failed = failed or error
        if not out and failed is not None:
            raise failed
        return out


def _scores(fold: Fold, folds: list[Split], n_jobs: int | None) -> Vector:
    """Out-of-fold scores, in the order of the rows, by the first method that all folds have."""
    from joblib import Parallel, delayed  # type: ignore[import-untyped]

    if fold.weight is not None:
        _ = fold.weight_name  # refused before the training
    trained = sum(len(train) for train, _ in folds)
    made = []
    with progress("Cross-validation", len(folds), long=trained > LONG) as advance:
        for scores in Parallel(n_jobs=n_jobs, return_as="generator")(
            delayed(fold)(split, f"Fold {k} of {len(folds)}") for k, split in enumerate(folds, 1)
        ):
            made.append(scores)
            advance(1)
    method = next((name for name in fold.methods if all(name in scores for scores in made)), None)
    if method is None:
        used = "; ".join(f"fold {k}: {' and '.join(scores)}" for k, scores in enumerate(made, 1))
        raise InputError(
            f"The folds' models score by different methods, which are on no common scale ({used}). Pass an "
            f"estimator that has the same in all folds."
        )
    out = np.empty(len(fold.labels))
    for (_, test), scores in zip(folds, made, strict=True):
        out[test] = scores[method]
    return out


# --- What an estimator is told -------------------------------------------------------------------


def _learner(estimator: Any) -> Any:
    """The estimator inside pipelines and searches that reads partial labels or confidences, or None."""
    while hasattr(estimator, "get_params"):
        if hasattr(estimator, "learns_from") or "unlabeled" in estimator.get_params(deep=False):
            return estimator
        steps = getattr(estimator, "steps", None)
        estimator = steps[-1][1] if steps else getattr(estimator, "estimator", None)
    return None


def _strata(y: Any, code: float, learner: Any, n: int) -> NDArray[np.int64]:
    """1 positive, 2 negative, 0 unlabeled; what a learner would refuse of its labels is refused here."""
    if learner is not None:
        split_labels(y, code)
    masks = _checks.partial_labels(y, "y", unlabeled=None if np.isnan(code) else code, length=n)
    return np.where(masks["positive"], 1, np.where(masks["negative"], 2, 0))


def _refuse_shares(learner: Any, unlabeled: Any, purity: Any, population: str) -> None:
    """Confidences are of positives alone."""
    given = {"unlabeled": unlabeled is not None, "purity": purity != 1, "population": population != "all"}
    for name in (name for name, is_given in given.items() if is_given):
        raise InputError(
            f"`{name}` was given, and {type(learner).__name__} learns from the confidences of known "
            f"positives: there are no unlabeled rows. Leave it out."
        )


def _code(learner: Any, unlabeled: Any, population: str) -> float:
    """The code of unlabeled rows, the user's or the learner's own; NaN where there is no other."""
    if learner is None:
        return code_of(unlabeled)
    name, own = type(learner).__name__, code_of(learner.unlabeled)
    if unlabeled is not None and not np.array_equal(code_of(unlabeled), own, equal_nan=True):
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
