"""Priors from features: scores that no row was trained on, then the estimators for scores.

A classifier tells known positives from unlabeled rows. Its scores of rows it was trained on would be useless
here, so they are out-of-bag or from the other folds. How much the estimate hangs on the classifier's own rows
is measured: it is trained again on rows drawn with replacement, and the spread is added to the replicates.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, arg
from halftruth.prior._belief import PriorEstimate
from halftruth.prior._estimate_prior import fit_with_replicates
from halftruth.prior._inputs import EstimateInputs, read_knowledge
from halftruth.prior._methods import Method, get_method
from halftruth.prior._samples import Fit, Knowledge
from halftruth.prior.estimators._auto import fit_auto
from halftruth.table._score_table import POSITIVE, UNLABELED, ScoreTable
from halftruth.table._strata import StratumRows

__all__ = ["estimate_prior_from_features"]

N_REFITS = 5  # of the classifier on resampled rows, for the spread that it adds
FEATURE_RESAMPLES = 20  # resamples for estimators that take the features themselves: each is slow


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
        Of α; a method that looks at the features themselves has no bound ``upper`` below the purity.

    Examples
    --------
    >>> import halftruth as ht, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(2, 1, (320, 3)), rng.normal(-2, 1, (280, 3))])
    >>> estimate = ht.estimate_prior_from_features(X, np.arange(600) < 200, n_refits=0)
    >>> abs(estimate.value - 0.3) < 0.05
    True
    """
    mask = _checks.vector(labeled, "labeled")
    if not np.isin(mask, (0, 1)).all():
        raise InputError(f"{arg('labeled')} must hold True for known positives and False for unlabeled rows.")
    known = mask.astype(bool)
    takes_x = classifier is not None and get_method(method).fit_features is None
    x = X if takes_x and hasattr(X, "shape") and len(X.shape) == 2 else _checks.matrix(X, "X")
    if len(x) != len(known):
        raise InputError(
            f"{arg('labeled')} has length {len(known)}, `X` has {len(x)} rows. Pass one value a row."
        )
    level = _checks.confidence_level(confidence_level)
    n_refits = _checks.count(n_refits, "n_refits", least=0)
    if n_refits == 1:
        raise InputError("`n_refits`=1 shows no spread. Pass 0, or 2 and more.")
    generator = np.random.default_rng(rng)
    estimator = get_method(method)
    if estimator.needs_negatives:
        raise InputError(f"{arg('method', method)} needs known negatives, which features have none of here.")
    knowledge = read_knowledge(_checks.share(purity, "purity", closed_at_one=True), within, labeled_sample)
    if estimator.name != "auto" and (knowledge.within != (0.0, 1.0) or any(knowledge.labeled_counts)):
        raise InputError(
            f"{arg('within')} and {arg('labeled_sample')} go with method 'auto'. Leave them out, or pass it."
        )
    if estimator.fit_features is not None:
        return _of_features(x, known, estimator, knowledge, level, n_resamples, generator)
    makers = HeldOut(x, known, classifier)
    inputs = _inputs_of(makers.of(generator), known, knowledge)
    fitted = fit_with_replicates(inputs, estimator, knowledge, n_resamples, generator)
    retrained = []
    for _ in range(n_refits):
        redrawn = _inputs_of(makers.of(generator, redrawn=True), known, knowledge)
        if estimator.name == "auto":
            fit = fit_auto(redrawn.samples, known=redrawn.possible(knowledge), rng=generator)
        else:
            fit = estimator.fit(redrawn.samples, generator)
        retrained.append(fit.value)
    fitted = _spread(fitted, retrained, generator)
    sampled = any(knowledge.labeled_counts)
    return inputs.estimate(fitted, estimator.name, estimator.assumption, level, sampled=sampled)


def _inputs_of(score: Vector, known: NDArray[np.bool_], knowledge: Knowledge) -> EstimateInputs:
    strata = {POSITIVE: StratumRows(score=score[known]), UNLABELED: StratumRows(score=score[~known])}
    return EstimateInputs(ScoreTable(strata), knowledge.purity or 1.0, "unlabeled")


def _spread(fitted: Fit, retrained: list[float], rng: np.random.Generator) -> Fit:
    """Replicates moved by how far values of retrained classifiers lie from their mean."""
    assert fitted.replicates is not None
    n = len(retrained)
    if n < 2:
        return fitted
    # The mean of few values is nearer to them than the truth is.
    away = (np.asarray(retrained) - np.mean(retrained)) * np.sqrt(n / (n - 1))
    moved = fitted.replicates + rng.choice(away, len(fitted.replicates))
    return replace(fitted, replicates=np.clip(moved, 0, 1))


def _of_features(
    x: Vector,
    known: NDArray[np.bool_],
    estimator: Method,
    knowledge: Knowledge,
    level: float,
    n_resamples: int | None,
    rng: np.random.Generator,
) -> PriorEstimate:
    """An estimator that takes the features themselves; its interval from resampled rows."""
    assert estimator.fit_features is not None
    need(known, 1, "an estimate")
    positive, unlabeled = x[known], x[~known]
    fitted = estimator.fit_features(positive, unlabeled, rng=rng)
    n = FEATURE_RESAMPLES if n_resamples is None else _checks.count(n_resamples, "n_resamples", least=2)

    def half(rows: Vector) -> Vector:
        return rows[rng.permutation(len(rows))[: (len(rows) + 1) // 2]]

    # Halves are as far from their mean as all rows from the truth, and hold no row twice, in two folds.
    drawn = [estimator.fit_features(half(positive), half(unlabeled), rng=rng) for _ in range(n)]
    values = np.asarray([half_fit.value for half_fit in drawn])
    values = np.clip(values - values.mean() + fitted.value, 0, 1)
    # No score, no bound: every α up to the purity is possible.
    inputs = _inputs_of(np.zeros(len(x)), known, knowledge)
    fitted = replace(fitted, replicates=values)
    return inputs.estimate(fitted, estimator.name, estimator.assumption, level)


N_TREES = 400
LEAF = 5  # rows in a leaf: single rows in leaves make out-of-bag scores coarse
N_FOLDS = 5  # of cross-fitting
STRENGTH = 0.3  # inverse of the penalty of the logistic regression, on standardized features


class HeldOut:
    """Scores that tell known positives from unlabeled rows.

    By default those of trees, out of bag, and of a logistic regression, cross-fitted: where known positives
    are few, either may be much the better one. A logistic regression on both weighs them.
    """

    def __init__(self, x: Any, known: NDArray[np.bool_], classifier: Any) -> None:
        self.x, self.known, self.classifier = x, known, classifier
        need(known, 2 if classifier is None else N_FOLDS, "held-out scores")
        if classifier is not None and (isinstance(classifier, type) or not hasattr(classifier, "fit")):
            raise InputError(
                argument="classifier",
                must="be a classifier such as scikit-learn's LogisticRegression()",
                got=repr(classifier),
            )

    def of(self, rng: np.random.Generator, *, redrawn: bool = False) -> Vector:
        """``redrawn``: trained on rows drawn with replacement, each class by itself."""
        times = self._times_drawn(rng) if redrawn else None
        seed = int(rng.integers(2**31))
        if self.classifier is not None:
            return self._folded(self.classifier, seed, times)
        trees = self._out_of_bag(seed, times)
        if min(self.known.sum(), (~self.known).sum()) < N_FOLDS:
            return trees
        return self._weighed(trees, self._folded(_linear(), seed, times))

    def _weighed(self, *scores: Vector) -> Vector:
        """One score from several that are held out, by as many coefficients."""
        from scipy.special import ndtri
        from scipy.stats import rankdata
        from sklearn.linear_model import LogisticRegression

        normal = np.column_stack([ndtri(rankdata(score) / (len(score) + 1)) for score in scores])
        model = LogisticRegression(class_weight="balanced").fit(normal, self.known)
        return np.asarray(model.decision_function(normal))

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

    def _folded(self, classifier: Any, seed: int, times: Vector | None) -> Vector:
        from sklearn.base import clone
        from sklearn.model_selection import StratifiedKFold

        folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed).split(self.known, self.known)
        score = np.empty(len(self.known))
        for train, test in folds:
            rows = train if times is None else np.repeat(train, times[train].astype(int))
            if len(set(self.known[rows])) < 2:  # no positive was drawn
                rows = train
            model = clone(classifier).fit(_rows(self.x, rows), self.known[rows])
            score[test] = (
                model.predict_proba(_rows(self.x, test))[:, 1]
                if hasattr(model, "predict_proba")
                else model.decision_function(_rows(self.x, test))
            )
        return score

    def _times_drawn(self, rng: np.random.Generator) -> Vector:
        times = np.zeros(len(self.known))
        for mask in (self.known, ~self.known):
            times[mask] = rng.multinomial(mask.sum(), np.full(mask.sum(), 1 / mask.sum()))
        return times


def _linear() -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(C=STRENGTH, max_iter=1000))


def _rows(x: Any, rows: NDArray[np.intp]) -> Any:
    """Some rows of a matrix or a data frame."""
    return x.iloc[rows] if hasattr(x, "iloc") else x[rows]


def need(known: NDArray[np.bool_], least: int, why: str) -> None:
    """Refuse too few rows of either kind."""
    for name, count in (("known positives", known.sum()), ("unlabeled rows", (~known).sum())):
        if count < least:
            raise InputError(f"{arg('labeled')} marks {count} {name}; at least {least} are needed for {why}.")
