"""BaggedPU: many models of known positives against a few of the unlabeled rows each.

The idea is that of Mordelet & Vert 2014, "A bagging SVM to learn from positive and unlabeled examples".
There every model learns all known positives, which then have no honest score. Here a model holds out a third
of the positives, just as it holds out a third of the unlabeled rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, check_is_fitted

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import NotIdentifiable
from halftruth.calibration.calibrators._calibrator import Calibrator
from halftruth.evaluation._scorer import class_one_scores
from halftruth.evidence import PositiveUnlabeled
from halftruth.inference._progress import progress
from halftruth.learn._learner import (
    Estimator,
    Features,
    Population,
    Prior,
    Purity,
    Strata,
    WrappingLearner,
    check_estimator,
    seeded_clone,
)
from halftruth.prior._belief import ESTIMATE

__all__ = ["TURNS", "BaggedPU", "Bags"]

RowNumbers: TypeAlias = NDArray[np.intp]

TURNS = 3  # a round is so many models, and each row is held out by one of them
LEAF = 5  # rows in a leaf: votes of single rows would tie
LONG = 200_000  # rows scored, over all models, from which progress is shown


@dataclass(eq=False, repr=False, kw_only=True)
class BaggedPU(WrappingLearner):
    """Bagged models of known positives against samples of the unlabeled rows, with out-of-bag scores.

    Parameters
    ----------
    estimator : scikit-learn classifier, optional
        Scores by ``predict_proba``, else by ``decision_function``. By default a decision tree that looks at
        a few features at each split, so that trees differ, with at least five rows in a leaf (fewer where
        a bag is small), so that scores are shares and seldom tie.
    n_estimators : int
        Models; at least three. With a multiple of three each row is scored by a third of them, else by as
        many to within one.
    max_unlabeled : int, optional
        Unlabeled rows in a bag at most; by default as many as it has positives. Few unlabeled rows hold few
        hidden positives, and models of small samples differ more.
    unlabeled : number
        The code of unlabeled rows in y, besides NaN. With -1 or NaN, 0 is a known negative: those join the
        unlabeled rows of a bag, as many as it has positives at most.
    prior, purity, population
        As in `PositiveUnlabeled.from_labels`. Only probabilities need them: a score that tells known
        positives from unlabeled rows ranks, but is no probability of being positive. Known negatives
        identify the prior where it is None.
    n_jobs : int, optional
        Models trained at a time, as in joblib. It does not change the result.
    random_state : int, RandomState or None
        The same number gives the same scores.

    Attributes
    ----------
    oob_scores_ : (n,) array
        Mean score of each row by the models that held it out.
    estimators_ : list
        The fitted models.
    calibrator_ : Calibrator or None
        From scores to probabilities, fitted on the out-of-bag scores, where the prior is known.
    prior_ : float or None
        π that the probabilities rest on: as given or estimated, or as known negatives identify it. None where
        there are no probabilities.
    classes_, n_features_in_, feature_names_in_
        As scikit-learn sets them; the classes are 0 and 1.

    Notes
    -----
    Models come in rounds of three. A round parts the known positives in three at random, and the other
    strata alike; each model holds out one part and draws its bag from the other two. So all rows, known
    positives as well as hidden ones, are scored by equally many models, one of each round, and all models
    learn equally many rows of a stratum. With bootstrap samples a known positive would be scored by about 37
    of 100 models, an unlabeled row by nearly all: the noisier scores of the known positives would make the
    AUC too low.

    What remains is that a known positive speaks for its neighbours in the models that score them, and a
    hidden one against them. It lowers the estimated AUC by an order of 1/n_P, where its standard error is of
    order 1/√n_P.

    ``decision_function`` is the mean score of all models. It only ranks: zero is no cut. The calibrator knows
    means of one model of each round, which spread more. So ``predict_proba`` calibrates the mean of the first
    models of all rounds, that of the second and that of the third, and gives the mean of the three; its order
    may differ a little from that of ``decision_function``. Of rows that were trained on both are too sure:
    theirs are ``oob_scores_``, and ``calibrator_.predict(oob_scores_)``.

    Examples
    --------
    >>> from halftruth.learn import BaggedPU
    >>> X, y = [[3.0], [4.0], [5.0], [4.5], [2.0], [1.0], [0.0]], [1, 1, 1, 0, 0, 0, 0]
    >>> model = BaggedPU(n_estimators=30, random_state=0).fit(X, y)
    >>> bool(model.oob_scores_[3] > model.oob_scores_[4:].max())  # the hidden positive
    True
    >>> model.evidence(prior=0.6)
    PositiveUnlabeled(3 positive, 4 unlabeled)
    """

    ranks_only = True
    default_inputs = DecisionTreeClassifier
    n_estimators: int = 99
    max_unlabeled: int | None = None
    purity: Purity = 1.0
    n_jobs: int | None = None

    def _checked_base(self, X: Features) -> Estimator:
        _checks.count(self.n_estimators, "n_estimators", least=TURNS)
        if self.max_unlabeled is not None:
            _checks.count(self.max_unlabeled, "max_unlabeled", least=1)
        base = _tree(LEAF) if self.estimator is None else self.estimator
        check_estimator(base)
        return base

    def _learn(self, base: Estimator, rows: Features, strata: Strata, seed: int) -> None:
        self._y = strata.with_nan
        # What is wrong with the shares is said before the training; estimates of them need its scores.
        if not any(isinstance(share, str) and share == ESTIMATE for share in (self.prior, self.purity)):
            self._evidence(np.zeros(len(self._y)))
        bags = Bags.of(strata, self.max_unlabeled, seed)
        if self.estimator is None:
            base = _tree(max(1, min(LEAF, bags.sizes[0] // 4)))
        self.classes_ = np.array([0, 1])
        self._train(base, rows, bags)
        self.calibrator_ = self._fitted_calibrator()
        self.prior_ = None if self.calibrator_ is None else self.calibrator_.prior_

    def _train(self, base: Estimator, rows: Features, bags: Bags) -> None:
        """Models in order, whoever trained them, so that sums round alike."""
        from joblib import Parallel, delayed  # type: ignore[import-untyped]

        known = self._y == 1
        total, times = np.zeros(len(known)), np.zeros(len(known), dtype=np.int64)
        self.estimators_: list[Estimator] = []
        long = self.n_estimators * len(known) > TURNS * LONG
        with progress("Bagged models", self.n_estimators, long=long) as advance:
            models = Parallel(n_jobs=self.n_jobs, return_as="generator")(
                delayed(_train_one)(base, rows, known, bags, k) for k in range(self.n_estimators)
            )
            for model, held_out, score in models:
                self.estimators_.append(model)
                total[held_out] += score
                times[held_out] += 1
                advance(1)
        self.oob_scores_ = total / times

    def _fitted_calibrator(self) -> Calibrator | None:
        """None where no prior is given, and known negatives identify none either."""
        evidence = self.evidence()
        if self.prior is None and not _identifies_prior(evidence):
            return None
        margins = not hasattr(self.estimators_[0], "predict_proba")
        calibrator = Calibrator("platt", scale="score") if margins else Calibrator("beta")
        return calibrator.fit(evidence)

    def evidence(
        self, *, prior: Prior = None, purity: Purity | None = None, population: Population | None = None
    ) -> PositiveUnlabeled:
        """Evidence of the training rows from their out-of-bag scores, for `evaluate` and all else.

        The prior, the purity and the population are those of the model unless given, as in
        `PositiveUnlabeled.from_labels`.
        """
        check_is_fitted(self)
        return self._evidence(self.oob_scores_, prior=prior, purity=purity, population=population)

    def _evidence(self, scores: Vector, **overrides: Prior | Population) -> PositiveUnlabeled:
        shares: dict[str, Any] = {"prior": self.prior, "purity": self.purity, "population": self.population}
        shares |= {name: value for name, value in overrides.items() if value is not None}
        return PositiveUnlabeled.from_labels(self._y, scores, **shares)

    def decision_function(self, X: Features) -> Vector:
        """Mean score of all models (n,): higher is more like the known positives."""
        return np.asarray(sum(self._sums(X)) / len(self.estimators_))

    def _sums(self, X: Features) -> list[Vector]:
        """Sums of the scores by the first models of all rounds, by the second and by the third."""
        from joblib import Parallel, delayed

        check_is_fitted(self)
        rows = self._features(X, self.estimators_[0], reset=False)
        scores = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")(
            delayed(class_one_scores)(model, rows) for model in self.estimators_
        )
        sums = [np.zeros(_num_samples(rows)) for _ in range(TURNS)]
        for k, score in enumerate(scores):
            sums[k % TURNS] += score
        return sums

    def predict_proba(self, X: Features) -> Vector:
        """Probabilities (n, 2) of 0 and 1, being positive, by the calibrated score; they need a prior.

        Those of training rows are too sure: the models have seen their labels.
        """
        check_is_fitted(self)
        if self.calibrator_ is None:
            raise NotIdentifiable(
                "A score that tells known positives from unlabeled rows is no probability of being positive. "
                "Pass BaggedPU(prior=…), the share of positives in the population, and fit again; known "
                "negatives, where y has any, did not identify it. To rank, decision_function needs no prior."
            )
        # The calibrator knows means of one model a round, so each third of the models is calibrated alone.
        means = [total / len(self.estimators_[turn::TURNS]) for turn, total in enumerate(self._sums(X))]
        positive = np.mean([self.calibrator_.predict(mean) for mean in means], axis=0)
        return np.column_stack([1 - positive, positive])


@dataclass(frozen=True)
class Bags:
    """Which rows each model learns, and which it holds out; known from the seed and its number."""

    rows: tuple[RowNumbers, ...]
    sizes: tuple[int, ...]
    seed: int

    @classmethod
    def of(cls, strata: Strata, max_unlabeled: int | None, seed: int) -> Bags:
        """Sizes are the same in all bags: else models without a positive would score low for that alone."""
        rows = tuple(np.flatnonzero(mask) for mask in strata.masks)
        # What the largest third, of size ⌈n/3⌉, leaves of a stratum.
        positive, unlabeled, negative = (len(numbers) - -(-len(numbers) // TURNS) for numbers in rows)
        most = positive if max_unlabeled is None else max_unlabeled
        return cls(rows, (positive, min(unlabeled, most), min(negative, positive)), seed)

    def __call__(self, model: int) -> tuple[RowNumbers, RowNumbers]:
        """(rows of the bag, rows held out), no row twice."""
        turn = model % TURNS
        # The three models of a round share the generator of their thirds; each draws its bag by its own.
        of_round = np.random.default_rng([self.seed, 0, model // TURNS])
        of_model = np.random.default_rng([self.seed, 1, model])
        bag, held_out = [], []
        for rows, size in zip(self.rows, self.sizes, strict=True):
            third = np.empty(len(rows), dtype=np.intp)
            third[of_round.permutation(len(rows))] = np.arange(len(rows)) % TURNS
            held_out.append(rows[third == turn])
            bag.append(of_model.choice(rows[third != turn], size, replace=False))
        return np.concatenate(bag), np.concatenate(held_out)


def _identifies_prior(evidence: PositiveUnlabeled) -> bool:
    """Whether known negatives say what the prior is; few of them may put it beyond 0 or 1."""
    try:
        prior = evidence.identified_prior(evidence.table.support.sums(), evidence.purity.value)
    except NotIdentifiable:
        return False
    return prior is not None and bool(0 < prior < 1)


def _tree(leaf: int) -> DecisionTreeClassifier:
    return DecisionTreeClassifier(min_samples_leaf=leaf, max_features="sqrt")


def _train_one(
    base: Estimator, rows: Features, known: NDArray[np.bool_], bags: Bags, k: int
) -> tuple[Estimator, RowNumbers, Vector]:
    """The k-th model, the rows that it held out, and their scores."""
    bag, held_out = bags(k)
    seed = int(np.random.default_rng([bags.seed, 2, k]).integers(2**31 - 1))
    model = seeded_clone(base, seed).fit(_safe_indexing(rows, bag), known[bag].astype(np.int64))
    if not len(held_out):  # fewer rows than thirds
        return model, held_out, np.empty(0)
    return model, held_out, class_one_scores(model, _safe_indexing(rows, held_out))
