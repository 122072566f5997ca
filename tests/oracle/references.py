"""The reference of every metric for labeled rows: scikit-learn's where it has one, else naive loops."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn import metrics as sk

from halftruth._registry import REGISTRY

from . import naive, numerical
from .agreement import TOLERANCE
from .cases import Case

Reference = Callable[..., Any]
"""(case, **parameters of the metric) → value."""


def by_hand(function: Callable[..., Any]) -> Reference:
    """A naive definition."""

    def reference(case: Case, **parameters: Any) -> float:
        return float(function(case.rows, **parameters))

    reference.__module__ = naive.__name__
    return reference


def definition(name: str) -> Callable[..., Any]:
    """Of a metric, over rows: in fractions, or numerical."""
    return getattr(naive if hasattr(naive, name) else numerical, name)


def tolerance_of(name: str) -> float:
    """How near to its definition a metric must come."""
    return numerical.TOLERANCE.get(name, TOLERANCE)


def is_naive(reference: Reference) -> bool:
    return reference.__module__ == naive.__name__


def at_threshold(function: Callable[..., Any], **fixed: Any) -> Reference:
    """A score of scikit-learn for predicted labels."""

    def reference(case: Case, threshold: float, **parameters: Any) -> float:
        predicted = (case.wide >= threshold).astype(int)
        return function(case.y, predicted, sample_weight=case.weight, **fixed, **parameters)

    return reference


def of_scores(function: Callable[..., Any], **fixed: Any) -> Reference:
    """A score of scikit-learn for predicted scores."""
    return lambda case, **more: function(case.y, case.wide, sample_weight=case.weight, **fixed, **more)


def fpr(case: Case, threshold: float) -> float:
    predicted = (case.wide >= threshold).astype(int)
    matrix = sk.confusion_matrix(case.y, predicted, sample_weight=case.weight, labels=[0, 1])
    return matrix[0, 1] / matrix[0].sum()


def mcc(case: Case, threshold: float) -> float:
    """Scikit-learn's.

    It subtracts squares of sums of weights, which costs it digits (1.6e-12 in one case) where a margin of
    the confusion matrix is small; below 1% the naive value stands in.
    """
    predicted, positive = (np.average(x, weights=case.weight) for x in (case.wide >= threshold, case.y))
    small = min(predicted, 1 - predicted, positive, 1 - positive) < 0.01
    reference = by_hand(naive.mcc) if small else at_threshold(sk.matthews_corrcoef)
    return reference(case, threshold=threshold)


def partial_auc(case: Case, max_fpr: float = 0.1, standardize: bool = True) -> float:
    """Scikit-learn's McClish scale, and for the raw area its curve integrated up to ``max_fpr``."""
    if standardize:
        return of_scores(sk.roc_auc_score)(case, max_fpr=max_fpr)
    x, y, _ = of_scores(sk.roc_curve)(case, drop_intermediate=False)
    last = np.flatnonzero(x <= max_fpr)[-1]
    cut = np.interp(max_fpr, x[last:], y[last:])
    return sk.auc(np.append(x[: last + 1], max_fpr), np.append(y[: last + 1], cut))


def brier_skill(case: Case) -> float:
    prior = np.full(len(case.y), np.average(case.y, weights=case.weight))
    worst = sk.brier_score_loss(case.y, prior, sample_weight=case.weight)
    return 1 - of_scores(sk.brier_score_loss)(case) / worst


def risk(case: Case, loss: str = "logistic", threshold: float = 0.0) -> float:
    """Scikit-learn's mean log loss and squared error of what the margins stand for; else naive loops."""
    sign, weight = 2 * case.y - 1, case.weight
    if loss == "logistic":
        of_class = np.column_stack([expit(-case.wide), expit(case.wide)])
        return sk.log_loss(case.y, of_class, sample_weight=weight, labels=[0, 1])
    if loss == "squared":
        return sk.mean_squared_error(sign, case.wide, sample_weight=weight)
    if loss == "sigmoid":
        return sk.mean_absolute_error(case.y, expit(case.wide), sample_weight=weight)
    if loss == "ramp":
        return sk.mean_absolute_error(case.y, np.clip((1 + case.wide) / 2, 0, 1), sample_weight=weight)
    if loss == "zero_one":
        return sk.zero_one_loss(case.y, (case.wide >= threshold).astype(int), sample_weight=weight)
    return of_scores({"log": sk.log_loss, "brier": sk.brier_score_loss}[loss])(case)


REFERENCES: dict[str, Reference] = {
    "prevalence": lambda case: np.average(case.y, weights=case.weight),
    "precision": at_threshold(sk.precision_score, zero_division=np.nan),
    "recall": at_threshold(sk.recall_score),
    "fpr": fpr,
    "specificity": at_threshold(sk.recall_score, pos_label=0),
    "npv": at_threshold(sk.precision_score, pos_label=0, zero_division=np.nan),
    "f1": at_threshold(sk.f1_score),
    "fbeta": at_threshold(sk.fbeta_score),
    "accuracy": at_threshold(sk.accuracy_score),
    "balanced_accuracy": at_threshold(sk.balanced_accuracy_score),
    "mcc": mcc,
    "cohen_kappa": at_threshold(sk.cohen_kappa_score),
    "jaccard": at_threshold(sk.jaccard_score),
    "youden_j": at_threshold(sk.balanced_accuracy_score, adjusted=True),
    "roc_auc": of_scores(sk.roc_auc_score),
    "partial_auc": partial_auc,
    "average_precision": of_scores(sk.average_precision_score),
    "brier": of_scores(sk.brier_score_loss),
    "brier_skill": brier_skill,
    "log_loss": of_scores(sk.log_loss, labels=[0, 1]),
    "risk": risk,
}
# What no library has is compared with its definition.
REFERENCES |= {
    name: by_hand(definition(name)) for name in REGISTRY if name not in {*REFERENCES, *numerical.FITTED}
}

# Parameters worth trying beside the registry's example.
PARAMETERS: dict[str, list[dict[str, Any]]] = {
    "fbeta": [{"beta": beta} for beta in (0.5, 2.0, 7.3)],
    "partial_auc": [
        {"max_fpr": max_fpr, "standardize": standardize}
        for max_fpr in (0.01, 0.1, 0.3, 0.5, 0.77, 1.0)
        for standardize in (True, False)
    ],
    "precision_at_k": [{"k": k} for k in (1, 2, 0.05, 0.2, 0.5, 0.999)],
    "recall_at_k": [{"k": k} for k in (1, 2, 0.05, 0.2, 0.5, 0.999)],
    "recall_at_fpr": [{"max_fpr": max_fpr} for max_fpr in (0.0, 0.05, 0.3, 0.7, 1.0)],
    "risk": [
        {},
        *({"loss": loss} for loss in ("sigmoid", "squared", "ramp", "zero_one")),
        {"loss": "zero_one", "threshold": 0.4},
    ],
    "calibration_error": [
        {"n_bins": n_bins, "binning": binning, "norm": norm}
        for n_bins, norm in (("optimal", 1), (2, 2), (10, 1), (10, 2), (10, "max"), (15, 1))
        for binning in ("mass", "width")
    ],
    "adaptive_calibration_error": [{}, {"n_bins": 2}, {"n_bins": "optimal"}],
    "maximum_calibration_error": [{}, {"n_bins": 10}, {"n_bins": 10, "binning": "width"}],
    "sweep_calibration_error": [{}, {"norm": 2}, {"norm": "max"}],
    "ks_calibration_error": [{}, {"statistic": "kuiper"}],
    "logit_smoothed_calibration_error": [{}, {"sigma": 0.5}],
}


def parameters_of(name: str, example: dict[str, Any]) -> list[dict[str, Any]]:
    """The defaults, or the example where a parameter has none, and what is worth trying."""
    return PARAMETERS.get(name, [dict(example)])
