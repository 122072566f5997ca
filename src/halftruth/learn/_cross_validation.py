"""From an estimator to evidence: every row scored by a model that has not seen it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import BaseCrossValidator, StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import HalftruthError, InputError, NotIdentifiable, arg
from halftruth.evaluation._scorer import FOLDS, class_one_scores, fold_refutations
from halftruth.evidence import Evidence, PositiveConfidence, PositiveUnlabeled
from halftruth.inference._progress import progress
from halftruth.learn._learner import (
    Estimator,
    Features,
    Learner,
    Population,
    Prior,
    Purity,
    check_estimator,
    split_labels,
    unlabeled_code,
    weight_argument,
)
from halftruth.prior._belief import ESTIMATE

__all__ = ["cross_val_evidence", "splits"]

PROBABILITY, MARGIN = "predict_proba", "decision_function"
METHODS = {"auto": (PROBABILITY, MARGIN), PROBABILITY: (PROBABILITY,), MARGIN: (MARGIN,)}
"""What may score a row, the best first."""

Split: TypeAlias = tuple[NDArray[np.intp], NDArray[np.intp]]  # rows to train on, rows to score
Folds: TypeAlias = int | BaseCrossValidator | Iterable[Split]
MakeEvidence: TypeAlias = Callable[..., PositiveUnlabeled | PositiveConfidence]
"""From what is known of the rows, and their scores, to evidence."""

LEARNED_STRATA = {1: "known positive", 0: "unlabeled"}  # rows that every fold learns from
LONG = 20_000  # rows trained on, over all folds, from which progress is shown


def cross_val_evidence(
    estimator: Estimator,
    X: Features,
    y: ArrayLike,
    *,
    unlabeled: float | None = None,
    prior: Prior = None,
    purity: Purity = 1.0,
    population: Population = "all",
    cv: Folds = 5,
    groups: ArrayLike | None = None,
    method: Literal["auto", "predict_proba", "decision_function"] = "auto",
    sample_weight: ArrayLike | None = None,
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

    Intervals are about these scores, not about the models that another sample would have trained.

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
    check_estimator(estimator)
    n = _num_samples(X)
    learner = _inner_learner(estimator)
    methods = METHODS[_checks.choice(method, "method", tuple(METHODS))]
    weight = _checks.weights(sample_weight, "sample_weight", length=n)
    settings: dict[str, Any] = {"prior": prior, "sample_weight": weight}
    make: MakeEvidence
    if getattr(learner, "learns_from", "labels") == "confidences":
        _refuse_shares(learner, unlabeled, purity, population)
        make, labels = PositiveConfidence, _checks.vector(y, "y", length=n)
        known = labels
        strata, needs = np.ones(n, dtype=np.int64), {1: "known positive"}
    else:
        code = _code(learner, unlabeled, population)
        strata, needs = _strata(y, code, learner, n), LEARNED_STRATA
        # A learner reads labels in its own code, any other classifier 1 against 0.
        labels = np.asarray([0 if learner is None else code, 1, 0])[strata]
        make, known = PositiveUnlabeled.from_labels, np.asarray([np.nan, 1.0, 0.0])[strata]
        settings |= {"purity": purity, "population": population}
    # What is wrong with the shares is said before hours of training.
    if not any(isinstance(share, str) and share == ESTIMATE for share in (prior, purity)):
        make(known, np.zeros(n), **settings)
    folds = splits(cv, X, strata, groups, rng, needs)
    # An estimator without weights is refused before the training.
    lacking = ("`sample_weight` was given", "Use an estimator that does, or leave it out.")
    weight_name = "" if weight is None else weight_argument(estimator, *lacking)
    # A learner may lack a prior in some folds alone, so it is asked for all that it has.
    score_fold = FoldScores(
        estimator, X, labels, weight, methods, all_methods=learner is not None, weight_name=weight_name
    )
    score = _out_of_fold(score_fold, folds, n_jobs)
    evidence = make(known, score, **settings)
    if evidence.population is not None and isinstance(prior, (int, float)):
        _warn_of_odd_folds(evidence, known, score, folds, settings)
    return evidence


def _warn_of_odd_folds(
    evidence: Evidence, known: Vector, score: Vector, folds: list[Split], settings: Mapping[str, Any]
) -> None:
    """Say which folds contradict a prior that all rows together allow: they are no random part of all."""
    if fold_refutations(evidence):
        return  # the prior itself is wrong, and every result says so
    shares = {name: share for name, share in settings.items() if name != "sample_weight"}
    odd = []
    for k, (_, test) in enumerate(folds, 1):
        labels = known[test]
        if {1.0} == set(labels[~np.isnan(labels)]) and np.isnan(labels).any():
            try:
                fold = PositiveUnlabeled.from_labels(labels, score[test], **shares)
                odd += [str(k)] if fold_refutations(fold) else []
            except HalftruthError:  # more known positives than the prior allows
                odd.append(str(k))
    if odd:
        text = f"The rows of fold {', '.join(odd)} refute the prior of all."
        warnings.warn(f"{text} {FOLDS}", UserWarning, stacklevel=3)


# --- The scores of a fold ------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FoldScores:
    """How a fold is scored by a model of the other folds."""

    estimator: Estimator
    X: Features
    labels: NDArray[Any]
    weight: Vector | None
    methods: tuple[str, ...]
    """What may score a row; the first is best."""
    all_methods: bool  # whether a fold scores by all of them that it can, not by the first alone

    weight_name: str  # what ``fit`` calls the weights

    def __call__(self, split: Split, title: str) -> dict[str, Vector]:
        """Scores of one fold by a model of the others, for each method."""
        train, test = split
        fit = {} if self.weight is None else {self.weight_name: self.weight[train]}
        model = clone(self.estimator)
        try:
            model.fit(_safe_indexing(self.X, train), self.labels[train], **fit)
            return self._scores(model, _safe_indexing(self.X, test))
        except HalftruthError as error:
            raise type(error)(f"{title}: {error}") from error

    def _scores(self, model: Estimator, rows: Features) -> dict[str, Vector]:
        usable = [name for name in self.methods if hasattr(model, name)]
        if not usable:  # refused, by the name of the method that was asked for
            probability = None if len(self.methods) == 2 else self.methods == (PROBABILITY,)
            class_one_scores(model, rows, probability=probability)
        scores, failed = {}, None
        for name in usable if self.all_methods else usable[:1]:
            try:
                scores[name] = class_one_scores(model, rows, probability=name == PROBABILITY)
            except NotIdentifiable as error:
                failed = failed or error
        if not scores and failed is not None:
            raise failed
        return scores


def _out_of_fold(score_fold: FoldScores, folds: list[Split], n_jobs: int | None) -> Vector:
    """Out-of-fold scores, in the order of the rows, by the first method that all folds have."""
    from joblib import Parallel, delayed  # type: ignore[import-untyped]

    n_trained = sum(len(train) for train, _ in folds)
    by_fold: list[dict[str, Vector]] = []
    with progress("Cross-validation", len(folds), long=n_trained > LONG) as advance:
        for scores in Parallel(n_jobs=n_jobs, return_as="generator")(
            delayed(score_fold)(split, f"Fold {k} of {len(folds)}") for k, split in enumerate(folds, 1)
        ):
            by_fold.append(scores)
            advance(1)
    common = (name for name in score_fold.methods if all(name in scores for scores in by_fold))
    method = next(common, None)
    if method is None:
        used = "; ".join(f"fold {k}: {' and '.join(scores)}" for k, scores in enumerate(by_fold, 1))
        raise InputError(
            f"The folds' models score by different methods, which are on no common scale ({used}). Pass an "
            f"estimator that has the same in all folds."
        )
    score = np.empty(len(score_fold.labels))
    for (_, test), scores in zip(folds, by_fold, strict=True):
        score[test] = scores[method]
    return score


# --- What an estimator is told -------------------------------------------------------------------


def _inner_learner(estimator: Estimator) -> Estimator | None:
    """The estimator inside pipelines and searches that reads partial labels or confidences, or None."""
    while hasattr(estimator, "get_params"):
        if hasattr(estimator, "learns_from") or "unlabeled" in estimator.get_params(deep=False):
            return estimator
        steps = getattr(estimator, "steps", None)
        estimator = steps[-1][1] if steps else getattr(estimator, "estimator", None)
    return None


def _strata(y: ArrayLike, code: float, learner: Learner | None, n: int) -> NDArray[np.int64]:
    """1 positive, 2 negative, 0 unlabeled; what a learner would refuse of its labels is refused here."""
    if learner is not None:
        split_labels(y, code)
    masks = _checks.partial_labels(y, "y", unlabeled=None if np.isnan(code) else code, length=n)
    return np.where(masks["positive"], 1, np.where(masks["negative"], 2, 0))


def _refuse_shares(
    learner: Learner | None, unlabeled: float | None, purity: Purity, population: Population
) -> None:
    """Confidences are of positives alone."""
    passed = {"unlabeled": unlabeled is not None, "purity": purity != 1, "population": population != "all"}
    for name, was_passed in passed.items():
        if was_passed:
            raise InputError(
                f"{arg(name)} was given, and {type(learner).__name__} learns from the confidences of known "
                "positives: there are no unlabeled rows. Leave it out."
            )


def _code(learner: Learner | None, unlabeled: float | None, population: Population) -> float:
    """The code of unlabeled rows, the user's or the learner's own; NaN where there is no other."""
    if learner is None:
        return unlabeled_code(unlabeled)
    name, code = type(learner).__name__, unlabeled_code(learner.unlabeled)
    if unlabeled is not None and not np.array_equal(unlabeled_code(unlabeled), code, equal_nan=True):
        raise InputError(
            f"{arg('unlabeled')} is {unlabeled!r} here and {learner.unlabeled!r} in {name}. Pass both the "
            "code that stands in y."
        )
    trained_for = getattr(learner, "population", population)
    if trained_for != population:
        raise InputError(
            f"{arg('population')} is {population!r} here and {trained_for!r} in {name}. The rows came in one "
            "way: pass the same to both."
        )
    return code


# --- The folds: stratified, a partition, and each with something to learn from --------------------


def splits(
    cv: Folds,
    X: Features,
    strata: NDArray[np.int64],
    groups: ArrayLike | None,
    rng: int | np.random.Generator,
    needs: Mapping[int, str] = LEARNED_STRATA,
) -> list[Split]:
    """The folds, every row scored once; each learns from the strata in ``needs``, {code: title}.

    Examples
    --------
    >>> import numpy as np
    >>> strata = np.asarray([1, 1, 0, 0, 0, 0])  # 1 positive, 0 unlabeled, 2 negative
    >>> [strata[test].tolist() for _, test in splits(2, np.zeros((6, 1)), strata, None, 0)]
    [[1, 0, 0], [1, 0, 0]]
    """
    n = len(strata)
    group = _groups(groups, n)
    if isinstance(cv, (int, np.integer, float, str, bool)) or cv is None:
        splitter, stratify = _stratified(cv, strata, group, rng, needs)
    else:
        try:
            splitter, stratify = check_cv(cv, strata, classifier=True), strata
        except ValueError:
            must = "be a number of folds, a splitter or pairs (train, test)"
            raise InputError(argument="cv", must=must, got=repr(cv)) from None
    rows = np.arange(n)
    folds = [(rows[train], rows[test]) for train, test in splitter.split(X, stratify, group)]
    _check_partition(folds, n)
    for k, (train, _) in enumerate(folds):
        for code, name in needs.items():
            if not (strata[train] == code).any():
                raise InputError(
                    f"Fold {k + 1} of {len(folds)} trains on no {name} row. Use fewer folds, or folds "
                    f"stratified by y."
                )
    return folds


def _stratified(
    cv: object,
    strata: NDArray[np.int64],
    groups: NDArray[Any] | None,
    rng: int | np.random.Generator,
    needs: Mapping[int, str],
) -> tuple[BaseCrossValidator, NDArray[np.int64]]:
    """A splitter that spreads the strata evenly, and the strata that it spreads."""
    k = _checks.count(cv, "cv", least=2)
    for code, name in needs.items():
        if (n_rows := int((strata == code).sum())) < k:
            remedy = f"Pass cv={n_rows}" if n_rows > 1 else "One cannot be both learned from and scored"
            raise InputError(f"`cv`={k} folds need {k} {name} rows, got {n_rows}. {remedy}, or find more.")
    if groups is not None and (n_groups := len(np.unique(groups))) < k:
        raise InputError(f"`cv`={k} folds need {k} groups, got {n_groups}. Use fewer folds.")
    # Negatives too few for every fold are spread with the unlabeled.
    few = (strata == 2) & ((strata == 2).sum() < k)
    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    seed = int(np.random.default_rng(rng).integers(2**31))
    return kind(k, shuffle=True, random_state=seed), np.where(few, 0, strata)


def _groups(groups: ArrayLike | None, n: int) -> NDArray[Any] | None:
    if groups is None:
        return None
    group = np.asarray(groups)
    if group.shape != (n,):
        must = f"have one value for each of {n} rows"
        raise InputError(argument="groups", must=must, got=f"shape {group.shape}")
    return group


def _check_partition(folds: list[Split], n: int) -> None:
    """Every row is scored once, and by a model that has not seen it."""
    partition = "Use a splitter that partitions the rows, such as KFold or GroupKFold."
    times = np.zeros(n, dtype=np.int64)
    for k, (train, test) in enumerate(folds):
        if not len(test):
            raise InputError(f"Fold {k + 1} of {len(folds)} scores no row. Use fewer folds.")
        learned = np.intersect1d(train, test)
        if len(learned):
            raise InputError(
                f"Fold {k + 1} of {len(folds)} trains on {len(learned)} row(s) that it scores, the first at "
                f"index {learned[0]}. {partition}"
            )
        np.add.at(times, test, 1)
    for wrong, how_often in ((times > 1, "more than once"), (times == 0, "not at all")):
        if wrong.any():
            raise InputError(
                f"{arg('cv')} must score every row once, and scores {wrong.sum()} row(s) {how_often}, the "
                f"first at index {np.argmax(wrong)}. {partition}"
            )
