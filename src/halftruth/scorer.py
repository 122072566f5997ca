"""Scorers for scikit-learn's model selection on partially labeled data."""

from __future__ import annotations

from typing import Any

import numpy as np

from halftruth import registry
from halftruth.errors import InputError
from halftruth.evidence import PositiveUnlabeled


def make_scorer(
    metric: str,
    *,
    prior: Any,
    unlabeled: float,
    purity: Any = 1.0,
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
    metrics that need probabilities refuse. For one interval over all folds, pass the scores of
    `cross_val_predict` to `evaluate`.

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
    return PUScorer(
        metric,
        prior=prior,
        unlabeled=unlabeled,
        purity=purity,
        population=population,
        threshold=threshold,
        **parameters,
    )


class PUScorer:
    """``scorer(estimator, X, y)`` → float, higher is better; made by `make_scorer`."""

    def __init__(
        self,
        metric: str,
        *,
        prior: Any,
        unlabeled: float,
        purity: Any,
        population: str,
        threshold: float | None,
        **parameters: Any,
    ) -> None:
        self.metric = registry.get(metric)
        if self.metric.better is None:
            raise InputError(f"`{metric}` is neither better high nor low, so nothing can be selected by it.")
        if unlabeled is None:
            raise InputError(
                "`unlabeled` must be the code of the unlabeled rows, since scikit-learn refuses NaN in y; "
                "got None. Pass unlabeled=0 or unlabeled=-1."
            )
        if prior is None and self.metric.needs == "prior":
            raise InputError(
                f"`{metric}` needs the class prior. Pass prior=…, the share of positives in the population."
            )
        self._call = self.metric.bind(threshold)
        self._parameters = parameters
        self._evidence = {
            "prior": prior,
            "unlabeled": unlabeled,
            "purity": purity,
            "population": population,
        }

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        evidence = PositiveUnlabeled.from_labels(
            y, self._scores(estimator, X), sample_weight=sample_weight, **self._evidence
        )
        value = float(self._call(evidence, **self._parameters))
        return -value if self.metric.better == "low" else value

    def _scores(self, estimator: Any, X: Any) -> Any:
        if hasattr(estimator, "predict_proba"):
            classes = list(np.asarray(estimator.classes_).tolist())
            if 1 not in classes:
                raise InputError(f"The estimator knows the classes {classes}, not 1, the known positives.")
            return estimator.predict_proba(X)[:, classes.index(1)]
        if self.metric.probability:
            raise InputError(
                f"`{self.metric.name}` needs probabilities, and {type(estimator).__name__} has no "
                f"predict_proba. Use a ranking metric, or calibrate the estimator."
            )
        return estimator.decision_function(X)

    def __repr__(self) -> str:
        return f"make_scorer({self.metric.name!r}, prior={self._evidence['prior']!r})"
