"""Scorers for scikit-learn's model selection on partially labeled data."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from halftruth import _checks, _registry
from halftruth._errors import InputError, Note, NotIdentifiable, arg
from halftruth.evidence import Evidence, PositiveUnlabeled
from halftruth.evidence._evidence import GivenShare
from halftruth.evidence._positive_unlabeled import POPULATIONS
from halftruth.inference._prior_range import refutations
from halftruth.metrics._record import Metric, Scale
from halftruth.prior._belief import ESTIMATE, Share, belief

__all__ = ["FOLDS", "PUScorer", "class_one_scores", "fold_refutations", "make_scorer"]

CONFIDENCE = 0.999  # with which rows have to refute a prior before it is said, fold after fold
FOLDS = "Are these rows a random part of all? Rows in the order of their classes are not: shuffle the folds."
_METHODS = {
    True: ("predict_proba",),
    False: ("decision_function",),
    None: ("predict_proba", "decision_function"),
}


def make_scorer(
    metric: str,
    *,
    prior: GivenShare,
    unlabeled: float,
    purity: Share = 1.0,
    population: str = "all",
    threshold: float | None = None,
    **parameters: Any,
) -> PUScorer:
    """A scorer for `cross_val_score` and `GridSearchCV` on positive-unlabeled labels.

    Parameters
    ----------
    metric : str
        A registry name. Losses are negated, so that greater is better.
    prior : float, (low, high) or PriorEstimate
        π of the population; see `PositiveUnlabeled`.
    unlabeled : number
        The code of unlabeled rows in y (scikit-learn refuses NaN there): 0 or -1.
    purity, population
        As in `PositiveUnlabeled`.
    threshold : float, optional
        For rates at a threshold.
    **parameters
        Others of the metric, e.g. ``max_fpr=0.1``.

    Notes
    -----
    Scores come from ``predict_proba`` of class 1; where there is none, from ``decision_function``, which
    metrics that need probabilities refuse. `risk` by a loss of the margin takes ``decision_function``. Values
    are raw: noise or a prior that is too large gives impossible ones (AUC > 1). A warning says where the rows
    refute the prior, as those of folds that were not shuffled may; one that is too small goes unnoticed. For
    one interval over all folds, pass `cross_val_evidence` to `evaluate`.

    Examples
    --------
    >>> import numpy as np, halftruth as ht
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(2000) < 0.4
    >>> X = rng.normal(2.0 * truth)[:, None]
    >>> y = (truth & (rng.random(2000) < 0.5)).astype(int)  # half of the positives are known
    >>> scorer = ht.make_scorer("roc_auc", prior=0.4, unlabeled=0)
    >>> bool(0.85 < cross_val_score(LogisticRegression(), X, y, scoring=scorer).mean() < 0.98)
    True
    """
    record = _registry.get(metric)
    if record.better is None:
        raise InputError(f"`{metric}` is neither better high nor low, so nothing can be selected by it.")
    _checks.unlabeled_code(unlabeled)
    _checks.choice(population, "population", POPULATIONS)
    if isinstance(prior, str) and prior == ESTIMATE:
        raise InputError(
            f"A scorer takes no {arg('prior', 'estimate')}: every fold and model would have its own "
            "prior. Estimate it once, prior=ht.estimate_prior(positive, unlabeled)."
        )
    belief(prior, "prior")
    belief(purity, "purity", closed_at_one=True)
    # Known negatives identify the prior, but there are none where 0 means unlabeled.
    if prior is None and record.needs == "prior" and unlabeled == 0:
        raise InputError(
            f"{arg(metric)} needs the class prior. Pass {arg('prior', ...)}, the share of positives in "
            "the population."
        )
    if threshold is not None and not record.threshold:  # one of its own, or an error that says so
        parameters["threshold"] = threshold
    return PUScorer(
        metric=record,
        call=record.bind(threshold, **parameters),
        scale=record.scale(parameters),
        labels={"prior": prior, "unlabeled": unlabeled, "purity": purity, "population": population},
    )


def fold_refutations(evidence: Evidence) -> tuple[Note, ...]:
    """What the rows of a fold say against the prior and the purity of all."""
    return refutations(evidence, CONFIDENCE) if evidence.scores_bound_prior else ()


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PUScorer:
    """``scorer(estimator, X, y)`` → float, higher is better; made by `make_scorer`."""

    metric: Metric
    call: Callable[[PositiveUnlabeled], float]
    scale: Scale
    """What the metric takes the scores for."""
    labels: Mapping[str, Any]  # how `PositiveUnlabeled.from_labels` reads y

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        scores = self._scores(estimator, X)
        evidence = PositiveUnlabeled.from_labels(y, scores, sample_weight=sample_weight, **self.labels)
        value = float(self.call(evidence))
        for note in fold_refutations(evidence):
            warnings.warn(f"{note} {FOLDS}", UserWarning, stacklevel=2)
        return -value if self.metric.better == "low" else value

    def _scores(self, estimator: Any, X: Any) -> Any:
        """Scores of class 1, as the metric reads them."""
        if self.scale == "probability" and not hasattr(estimator, "predict_proba"):
            raise InputError(
                f"{arg(self.metric.name)} needs probabilities, and {type(estimator).__name__} has no "
                "predict_proba. Use a ranking metric, or calibrate the estimator."
            )
        if self.scale == "margin" and not hasattr(estimator, "decision_function"):
            raise InputError(
                f"A loss of the margin needs decision_function, and {type(estimator).__name__} has none. Use "
                f"the loss 'log' or 'brier', which read probabilities."
            )
        if self.scale == "margin" and getattr(estimator, "ranks_only", False):
            raise InputError(
                f"The scores of {type(estimator).__name__} only rank, zero is no cut: they are no margins. "
                f"Use the loss 'log' or 'brier', which read its probabilities."
            )
        # Margins come from ``decision_function``, plain scores from whichever the estimator has.
        probability = {"probability": True, "margin": False, "score": None}[self.scale]
        return class_one_scores(estimator, X, probability=probability)

    def __repr__(self) -> str:
        return f"make_scorer({self.metric.name!r}, prior={self.labels['prior']!r})"


def class_one_scores(estimator: Any, X: Any, *, probability: bool | None = None) -> Any:
    """Scores of class 1, the known positives, by a fitted estimator.

    From ``predict_proba`` (``probability=True``), from ``decision_function`` (False), or from the first of
    the two that the estimator has and can give.
    """
    options = _METHODS[probability]
    methods = [name for name in options if hasattr(estimator, name)]
    if not methods:
        raise InputError(
            f"{type(estimator).__name__} has {'neither' if len(options) == 2 else 'no'} "
            f"{' nor '.join(options)}, so it gives no {'probabilities' if probability else 'scores'}. Use an "
            "estimator that has one."
        )
    # Without classes, as an outlier detector: higher is more positive, and the second column is class 1.
    classes = np.asarray(getattr(estimator, "classes_", [0, 1])).tolist()
    if 1 not in classes:
        raise InputError(f"The estimator knows the classes {classes}, not 1, the known positives.")
    out = np.asarray(_first(estimator, methods, X))
    if out.ndim == 2 and out.shape[1] != len(classes):
        raise InputError(
            f"{type(estimator).__name__} gives {out.shape[1]} column(s) for {len(classes)} classes. Use an "
            f"estimator with a column for each class, the second that of the known positives."
        )
    if out.ndim == 2:
        return out[:, classes.index(1)]
    # A single decision value speaks for the second class.
    return out if classes.index(1) == 1 else -out


def _first(estimator: Any, methods: list[str], X: Any) -> Any:
    """What the first method says, unless it lacks a prior for that and there is another."""
    try:
        return getattr(estimator, methods[0])(X)
    except NotIdentifiable:
        if len(methods) == 1:
            raise
    return getattr(estimator, methods[1])(X)
