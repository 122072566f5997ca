"""The exact value of a metric, by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from halftruth._errors import InputError
from halftruth.simulate import proper, ranking, rates

TRUTHS: Mapping[str, Callable[..., float]] = MappingProxyType(
    {
        "prevalence": rates.prevalence,
        "predicted_positive_rate": rates.predicted_positive_rate,
        "precision": rates.precision,
        "recall": rates.recall,
        "fpr": rates.fpr,
        "specificity": rates.specificity,
        "npv": rates.npv,
        "fdr": rates.fdr,
        "f1": rates.f1,
        "fbeta": rates.fbeta,
        "accuracy": rates.accuracy,
        "balanced_accuracy": rates.balanced_accuracy,
        "mcc": rates.mcc,
        "cohen_kappa": rates.cohen_kappa,
        "jaccard": rates.jaccard,
        "youden_j": rates.youden_j,
        "lift": rates.lift,
        "net_benefit": rates.net_benefit,
        "roc_auc": ranking.roc_auc,
        "partial_auc": ranking.partial_auc,
        "average_precision": ranking.average_precision,
        "pr_auc": ranking.average_precision,
        "precision_at_k": ranking.precision_at_k,
        "recall_at_k": ranking.recall_at_k,
        "recall_at_fpr": ranking.recall_at_fpr,
        "brier": proper.brier,
        "brier_skill": proper.brier_skill,
        "log_loss": proper.log_loss,
        "risk": proper.risk,
        "calibration_error": proper.calibration_error,
    }
)

TRUTH_NAMES: tuple[str, ...] = tuple(TRUTHS)
"""Metrics whose truth a population knows in closed form."""


def truth(
    model: Any, name: str, params: Mapping[str, Any], truths: Mapping[str, Callable[..., float]] = TRUTHS
) -> float:
    """Return the true value of the metric `name`, computed without the package's own metrics."""
    function = truths.get(name)
    if function is None:
        raise InputError(
            f"`name` must be a metric whose truth is known, got {name!r}. Pass one of: {', '.join(truths)}."
        )
    signature = inspect.signature(function)
    try:
        signature.bind(model, **params)
    except TypeError:
        accepted = ", ".join(
            key if each.default is inspect.Parameter.empty else f"{key}={each.default!r}"
            for key, each in list(signature.parameters.items())[1:]
        )
        given = ", ".join(f"{key}={value!r}" for key, value in params.items())
        raise InputError(
            f"`{name}` takes the parameters ({accepted}), got ({given}). "
            "Pass those without a default, by name, and no others."
        ) from None
    return function(model, **params)
