"""ElkanNoto: a classifier of positives and negatives from weighted unlabeled rows.

Elkan & Noto 2008, "Learning Classifiers from Only Positive and Unlabeled Data". A first model gives
g(x) = P(labeled ∣ x) among known positives and unlabeled rows. With c = P(labeled ∣ positive) there, an
unlabeled row is positive with probability w = (1−c)/c · g/(1−g). It enters the second model twice, as a
positive of weight w and as a negative of weight 1−w.

The weights rest on a calibrated g, and few models give one: P(labeled ∣ x) levels off at c, as no logistic
curve does. So the isotonic regression of the label on the cross-fitted g takes its place. In each block that
it pools, g/(1−g) is positives over unlabeled rows. With (1−c)/c before it the weights would add up to α n_U,
but for positives above all unlabeled rows, whose share goes to none, and for weights cut at 1. So another
factor takes its place, the one by which they do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import BaseCrossValidator
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, arg
from halftruth.evaluation._scorer import class_one_scores
from halftruth.evidence import PositiveUnlabeled
from halftruth.evidence._positive_unlabeled import POPULATIONS
from halftruth.learn._cross_validation import splits
from halftruth.learn._learner import (
    Estimator,
    Features,
    Strata,
    WrappingLearner,
    check_estimator,
    seeded_clone,
    weight_argument,
)

__all__ = ["ElkanNoto", "unlabeled_weights"]

NEEDS_WEIGHTS = "`estimator` must take weights, which say how far an unlabeled row is positive"


def _has_decision_function(learner: ElkanNoto) -> bool:
    return hasattr(getattr(learner, "estimator_", learner.estimator or _linear()), "decision_function")


@dataclass(eq=False, repr=False, kw_only=True)
class ElkanNoto(WrappingLearner):
    """Positives against negatives, where each unlabeled row counts as both, by what its score says.

    Parameters
    ----------
    estimator : scikit-learn classifier, optional
        It must take ``sample_weight`` and give probabilities. By default a logistic regression on
        standardised features.
    prior : float, (low, high), PriorEstimate, "estimate" or None
        π, as in `PositiveUnlabeled.from_labels`; of a pair its middle. It fixes c = n_P / (n_P + α n_U).
        None: known negatives identify it, by their cross-fitted g beside that of the others. Without any, c
        is the mean of the cross-fitted g over the known positives, which is right where no negative looks
        like a positive, and makes the prior too high elsewhere.
    population : {"all", "unlabeled"}
        "all": the second model learns the known rows with weight 1 too. "unlabeled": the unlabeled rows
        alone are the population, and it learns only those.
    unlabeled : number
        The code of unlabeled rows in y, besides NaN. With -1 or NaN, 0 is a known negative.
    cv : int or splitter
        Folds in which g is cross-fitted.
    random_state : int, RandomState or None
        Of the folds, and of the estimator where it has one.

    Attributes
    ----------
    label_frequency_ : float
        c, the share of the known among the positives of the table.
    prior_ : float
        π that c stands for.
    estimator_ : classifier
        The second model, of positives against negatives.
    classes_, n_features_in_, feature_names_in_
        As scikit-learn sets them; the classes are 0 and 1.

    Notes
    -----
    Known positives must be a random sample of the positives. To judge the model see `cross_val_evidence`.

    Examples
    --------
    >>> from halftruth.learn import ElkanNoto
    >>> X, y = [[5.0], [4.0], [6.0], [5.5], [1.0], [0.0], [0.5], [1.5]], [1, 1, 1, 0, 0, 0, 0, 0]
    >>> model = ElkanNoto(prior=0.5, cv=3, random_state=0).fit(X, y)
    >>> model.predict([[5.5], [0.2]]), model.label_frequency_
    (array([1, 0]), 0.75)
    """

    default_inputs = LogisticRegression
    cv: int | BaseCrossValidator = 5

    def _checked_base(self, X: Features) -> Estimator:
        _checks.choice(self.population, "population", POPULATIONS)
        base = _linear(sparse=issparse(X)) if self.estimator is None else self.estimator
        check_estimator(base)
        _weight_argument(base)
        return base

    def _learn(self, base: Estimator, rows: Features, strata: Strata, seed: int) -> None:
        g = self._cross_fitted(base, rows, strata, seed)
        calibrated = _calibrated(g, strata)[strata.unlabeled]
        alpha = self._share(g, calibrated, strata)
        n_positive, n_unlabeled, n_negative = strata.sizes
        positives = n_positive + alpha * n_unlabeled
        self.label_frequency_ = n_positive / positives
        everyone = n_positive + n_unlabeled + n_negative
        self.prior_ = alpha if self.population == "unlabeled" else positives / everyone
        row, label, weight = self._weighted_rows(strata, unlabeled_weights(calibrated, alpha))
        self.estimator_ = seeded_clone(base, seed).fit(
            _safe_indexing(rows, row), label, **{_weight_argument(base): weight}
        )
        self.classes_ = np.array([0, 1])

    def _cross_fitted(self, base: Estimator, rows: Features, strata: Strata, seed: int) -> Vector:
        """P(labeled ∣ x) of each row, by a model of known positives and unlabeled rows that has not seen it.

        No model learns known negatives; each is scored by one all the same, as the other rows are.
        """
        among = np.flatnonzero(strata.positive | strata.unlabeled)
        known = strata.positive[among].astype(np.int64)
        folds = splits(self.cv, among, known, None, seed)
        negative = np.random.default_rng(seed).permutation(np.flatnonzero(strata.negative))
        g = np.empty(len(strata.positive))
        for (train, test), others in zip(folds, np.array_split(negative, len(folds)), strict=True):
            model = seeded_clone(base, seed).fit(_safe_indexing(rows, among[train]), known[train])
            scored = np.concatenate([among[test], others])
            g[scored] = class_one_scores(model, _safe_indexing(rows, scored), probability=True)
        return g

    def _share(self, g: Vector, calibrated: Vector, strata: Strata) -> float:
        """α, the share of positives among the unlabeled rows, by the prior, by known negatives, or by g."""
        n_positive, n_unlabeled, n_negative = strata.sizes
        evidence = PositiveUnlabeled.from_labels(
            strata.with_nan, g, prior=self.prior, population=self.population
        )
        if self.prior is not None:
            return float(np.clip(evidence.alpha_of(evidence.prior.value), 0, 1))
        if n_negative:
            prior = evidence.identified_prior(evidence.table.support.sums(), 1.0)
            alpha = max(0.0, float(evidence.alpha_of(prior)))
        else:
            # c is the mean of g over the known positives (Elkan & Noto 2008, their estimator e₁).
            c = float(g[strata.positive].mean())
            alpha = n_positive / n_unlabeled * (1 - c) / c if c > 0 else 1.0
        # Beyond 1 it says only that g is poor; then the most that the calibrated g leaves possible.
        return (
            alpha if alpha < 1 else float(np.minimum(1, n_unlabeled / n_positive * _odds(calibrated)).mean())
        )

    def _weighted_rows(self, strata: Strata, w: Vector) -> tuple[NDArray[np.intp], NDArray[np.int64], Vector]:
        """Rows, labels and weights of the second model; rows without weight are left out."""
        positive, unlabeled, negative = (np.flatnonzero(mask) for mask in strata.masks)
        known = 1.0 if self.population == "all" else 0.0
        row = np.concatenate([positive, unlabeled, unlabeled, negative])
        label = np.repeat([1, 1, 0, 0], [len(positive), len(w), len(w), len(negative)])
        weight = np.concatenate([np.full(len(positive), known), w, 1 - w, np.full(len(negative), known)])
        counts = weight > 0
        if len(np.unique(label[counts])) < 2:
            missing = "negative" if label[counts].all() else "positive"
            raise InputError(
                f"At the prior {self.prior_:.4g} no unlabeled row is left that could be {missing}. Pass "
                f"another {arg('prior')}, or an {arg('estimator')} whose probabilities are better."
            )
        return row[counts], label[counts], weight[counts]

    def predict_proba(self, X: Features) -> Vector:
        """Probabilities (n, 2) of 0 and of 1, being positive."""
        return self._by_second_model("predict_proba", X)

    @available_if(_has_decision_function)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Features) -> Vector:
        """The margin (n,) of the second model, where it has one."""
        return self._by_second_model("decision_function", X)

    def predict(self, X: Features) -> NDArray[np.int64]:
        """1 or 0, as the second model says, which need not cut its probability at a half."""
        return self._by_second_model("predict", X)

    def _by_second_model(self, method: str, X: Features) -> NDArray[Any]:
        check_is_fitted(self)
        rows = self._features(X, self.estimator_, reset=False)
        return np.asarray(getattr(self.estimator_, method)(rows))


def _calibrated(g: Vector, strata: Strata) -> Vector:
    """The isotonic regression of the label on g, among known positives and unlabeled rows."""
    among = ~strata.negative
    calibrated = g.copy()
    curve = IsotonicRegression(y_min=0.0, y_max=1.0)
    calibrated[among] = curve.fit_transform(g[among], strata.positive[among].astype(np.float64))
    return calibrated


def unlabeled_weights(g: Vector, share: float) -> Vector:
    """The probability that an unlabeled row is positive: k · g/(1−g), at most 1, of mean α = ``share``.

    g is P(labeled ∣ x) of unlabeled rows. The mean, which says what k is, is less only where fewer rows have
    g > 0.

    Examples
    --------
    >>> import numpy as np
    >>> unlabeled_weights(np.array([0.0, 0.2, 0.5]), 0.25)
    array([0.  , 0.15, 0.6 ])
    >>> unlabeled_weights(np.array([0.0, 0.2, 0.5, 1.0]), 0.5)
    array([0. , 0.2, 0.8, 1. ])
    """
    possible = g > 0
    if share <= 0 or share * len(g) >= possible.sum():
        return np.where(possible & (share > 0), 1.0, 0.0)
    odds = _odds(g)
    # Say the m highest odds have weight 1, and the others share what is left: the first m that fits is it.
    lowest = np.sort(odds[possible])
    odds_left, m = np.cumsum(lowest)[::-1], np.arange(len(lowest))
    factors = (share * len(g) - m) / odds_left
    fits = factors * lowest[::-1] <= 1
    return np.asarray(np.minimum(1.0, factors[np.argmax(fits)] * odds))


def _odds(g: Vector) -> Vector:
    """Finite, also where g is 1."""
    return np.asarray(g / np.maximum(1 - g, np.finfo(float).eps))


def _linear(*, sparse: bool = False) -> Pipeline:
    # Without its zeros a sparse matrix would not be sparse: it is not centred.
    return make_pipeline(StandardScaler(with_mean=not sparse), LogisticRegression(max_iter=1000))


def _weight_argument(base: Estimator) -> str:
    return weight_argument(base, NEEDS_WEIGHTS, "Use e.g. LogisticRegression(), or BaggedPU.")
