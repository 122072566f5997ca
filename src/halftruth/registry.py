"""The one list of metrics: what each is called, needs and promises.

A metric joins every law and oracle test, `evaluate` and the scorers by one line here.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from halftruth import checks
from halftruth.calibration.binned import (
    adaptive_calibration_error,
    calibration_error,
    maximum_calibration_error,
)
from halftruth.calibration.binomial_process import bpm_calibration_error
from halftruth.calibration.cumulative import ks_calibration_error
from halftruth.calibration.smooth import logit_smoothed_calibration_error, smooth_calibration_error
from halftruth.calibration.sweep import sweep_calibration_error
from halftruth.errors import InputError
from halftruth.measure import ScoreMeasure
from halftruth.metrics import areas, decision, proper, rates

Functional = Callable[..., Any]


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A functional of the measure.

    Attributes
    ----------
    name : str
        The key everywhere.
    function : callable
        ``function(measure, **parameters)``, along the last axis of the masses.
    better : {"high", "low", None}
    needs : {"prior", "shape", "nothing"}
        What of the positives must be identified.
    ranking : bool
        Whether only the order of the scores (and of the threshold among them) matters.
    probability : bool
        Whether scores must lie in [0, 1].
    threshold : bool
        Whether it takes a threshold.
    example : mapping
        Parameters without a default, or worth showing; tests use them.
    limits : (float, float)
        What is possible; noisy evidence may leave it.
    interval : str
        The bootstrap interval with the best coverage for it.
    local : bool
        Whether a few rows decide it, as at a fixed budget, rather than an average over many.
    distance : bool
        Whether it is one, which noise inflates.
    unit_laws : bool
        False where the number of rows, not only their distribution, enters.
    """

    name: str
    function: Functional
    better: str | None = "high"
    needs: str = "prior"
    ranking: bool = True
    probability: bool = False
    threshold: bool = False
    example: Mapping[str, Any] = field(default_factory=dict)
    limits: tuple[float, float] = (0.0, 1.0)
    interval: str = "percentile"
    local: bool = False
    distance: bool = False
    unit_laws: bool = True

    def bind(self, threshold: float | None = None, /, **parameters: Any) -> Functional:
        """The function of the measure alone; an error where a parameter is missing or unknown."""
        if self.threshold and "threshold" not in parameters:
            if threshold is None:
                raise InputError(
                    f"`{self.name}` is a rate at a threshold. Pass threshold=…, on the scale of the scores."
                )
            parameters["threshold"] = checks.threshold(threshold)
        try:
            inspect.signature(self.function).bind(None, **parameters)
        except TypeError as error:
            raise InputError(
                f"`{self.name}` cannot be called: {error}. Give its parameters, e.g. {{label: "
                f"partial(ht.{self.name}, {', '.join(f'{k}={v!r}' for k, v in self.example.items())})}}."
            ) from None
        return partial(self.function, **parameters) if parameters else self.function


INFINITY = float("inf")


def _rate(name: str, **properties: Any) -> Metric:
    return Metric(name=name, function=rates.Rate(name), threshold=True, **properties)


def _distance(function: Functional, **properties: Any) -> Metric:
    """A calibration error: how far the scores lie from the frequencies."""
    return Metric(
        name=function.__name__,
        function=function,
        better="low",
        ranking=False,
        probability=True,
        interval="envelope",
        distance=True,
        **properties,
    )


_METRICS = (
    Metric(name="prevalence", function=rates.prevalence, better=None),
    _rate("predicted_positive_rate", better=None, needs="nothing"),
    _rate("precision"),
    _rate("recall", needs="shape"),
    _rate("fpr", better="low"),
    _rate("specificity"),
    _rate("npv"),
    _rate("fdr", better="low"),
    _rate("f1"),
    Metric(name="fbeta", function=rates.fbeta, threshold=True, example={"beta": 2.0}),
    _rate("accuracy"),
    _rate("balanced_accuracy"),
    _rate("mcc", limits=(-1.0, 1.0)),
    _rate("cohen_kappa", limits=(-1.0, 1.0)),
    _rate("jaccard"),
    _rate("youden_j", limits=(-1.0, 1.0)),
    _rate("lift", needs="shape", limits=(0.0, INFINITY)),
    Metric(
        name="net_benefit",
        function=decision.net_benefit,
        limits=(-INFINITY, 1.0),
        threshold=True,
        probability=True,
        ranking=False,
    ),
    Metric(name="roc_auc", function=areas.roc_auc),
    Metric(name="partial_auc", function=areas.partial_auc, example={"max_fpr": 0.1}),
    Metric(name="average_precision", function=areas.average_precision),
    Metric(name="pr_auc", function=areas.pr_auc),
    Metric(name="precision_at_k", function=areas.precision_at_k, example={"k": 0.2}, local=True),
    Metric(name="recall_at_k", function=areas.recall_at_k, needs="shape", example={"k": 0.2}, local=True),
    Metric(name="recall_at_fpr", function=areas.recall_at_fpr, example={"max_fpr": 0.05}, local=True),
    Metric(name="brier", function=proper.brier, better="low", ranking=False, probability=True),
    Metric(
        name="brier_skill",
        function=proper.brier_skill,
        ranking=False,
        probability=True,
        limits=(-INFINITY, 1.0),
    ),
    Metric(
        name="log_loss",
        function=proper.log_loss,
        better="low",
        ranking=False,
        probability=True,
        limits=(0.0, INFINITY),
    ),
    _distance(calibration_error, unit_laws=False),
    _distance(adaptive_calibration_error, unit_laws=False),
    _distance(maximum_calibration_error, unit_laws=False),
    _distance(sweep_calibration_error, unit_laws=False),
    _distance(ks_calibration_error),
    _distance(smooth_calibration_error),
    _distance(logit_smoothed_calibration_error),
    _distance(bpm_calibration_error, unit_laws=False),
)

REGISTRY: Mapping[str, Metric] = {metric.name: metric for metric in _METRICS}

ELSEWHERE = {
    "auc": "roc_auc",
    "auroc": "roc_auc",
    "ap": "average_precision",
    "auprc": "average_precision",
    "tpr": "recall",
    "sensitivity": "recall",
    "ppv": "precision",
    "tnr": "specificity",
    "ece": "calibration_error",
    "ace": "adaptive_calibration_error",
    "mce": "maximum_calibration_error",
    "smece": "smooth_calibration_error",
    "ks": "ks_calibration_error",
    "tce_bpm": "bpm_calibration_error",
    "logloss": "log_loss",
    "cross_entropy": "log_loss",
    "kappa": "cohen_kappa",
}
"""What metrics are called by others, for those who look for them here."""

AT_THRESHOLD = ("precision", "recall", "fpr", "f1", "mcc", "accuracy")


def get(name: str) -> Metric:
    """A metric by its name."""
    if name not in REGISTRY:
        word = str(name).lower().replace("-", "_")
        near = ELSEWHERE.get(word) or next(
            iter(difflib.get_close_matches(word, REGISTRY, n=1, cutoff=0.6)), ""
        )
        guess = f"Did you mean {near!r}? " if near else ""
        raise InputError(f"There is no metric {name!r}. {guess}Known: {', '.join(REGISTRY)}.")
    return REGISTRY[name]


def default_rows(measure: ScoreMeasure, threshold: float | None) -> tuple[str, ...]:
    """The rows of an evaluation where none are asked for."""
    proper_rows = ("brier", "log_loss", "calibration_error") if measure.bounded else ()
    rows_at = () if threshold is None else AT_THRESHOLD
    return ("prevalence", "roc_auc", "average_precision", *proper_rows, *rows_at)
