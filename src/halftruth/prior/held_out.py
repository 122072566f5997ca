"""Held-out scores: every row scored by a classifier that was not trained on it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector
from halftruth._errors import InputError, arg

N_TREES = 400
LEAF = 5
"""Rows in a leaf: single rows in leaves make out-of-bag scores coarse."""
N_FOLDS = 5
STRENGTH = 0.3
"""Inverse of the penalty of the logistic regression, on standardized features."""


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
        for train, held in folds:
            rows = train if times is None else np.repeat(train, times[train].astype(int))
            if len(set(self.known[rows])) < 2:  # no positive was drawn
                rows = train
            model = clone(classifier).fit(_rows(self.x, rows), self.known[rows])
            score[held] = (
                model.predict_proba(_rows(self.x, held))[:, 1]
                if hasattr(model, "predict_proba")
                else model.decision_function(_rows(self.x, held))
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
