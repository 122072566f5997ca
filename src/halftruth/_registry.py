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

from halftruth import _checks
from halftruth._errors import InputError
from halftruth.calibration.binned import (
    adaptive_calibration_error,
    calibration_error,
    maximum_calibration_error,
)
from halftruth.calibration.binomial_process import bpm_calibration_error
from halftruth.calibration.cumulative import ks_calibration_error
from halftruth.calibration.smooth import logit_smoothed_calibration_error, smooth_calibration_error
from halftruth.calibration.sweep import sweep_calibration_error
from halftruth.measure._score_measure import ScoreMeasure
from halftruth.metrics import _areas, _decision, _mean_losses, _rates

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
    formula : str
        In the masses, for the index of metrics: TP = μ₁[s ≥ t], FP = (μ − μ₁)[s ≥ t], FN = μ₁[s < t],
        TN = (μ − μ₁)[s < t], n = μ(all), π = μ₁(all)/n, gap(A) = μ₁(A) − ∫_A s dμ.
    paper : str
        Where it was proposed; empty for the rates of every textbook.
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
    formula: str = ""
    paper: str = ""

    def bind(self, threshold: float | None = None, /, **parameters: Any) -> Functional:
        """The function of the measure alone; an error where a parameter is missing or unknown."""
        if self.threshold and "threshold" not in parameters:
            if threshold is None:
                raise InputError(
                    f"`{self.name}` is a rate at a threshold. Pass threshold=…, on the scale of the scores."
                )
            parameters["threshold"] = _checks.threshold(threshold)
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
    return Metric(name=name, function=_rates.Rate(name), threshold=True, **properties)


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
    Metric(name="prevalence", function=_rates.prevalence, better=None, formula="π"),
    _rate("predicted_positive_rate", better=None, needs="nothing", formula="(TP + FP) / n"),
    _rate("precision", formula="TP / (TP + FP)"),
    _rate("recall", needs="shape", formula="TP / (TP + FN)"),
    _rate("fpr", better="low", formula="FP / (FP + TN)"),
    _rate("specificity", formula="TN / (FP + TN)"),
    _rate("npv", formula="TN / (TN + FN)"),
    _rate("fdr", better="low", formula="FP / (TP + FP)"),
    _rate("f1", formula="2 TP / (2 TP + FP + FN)", paper="van Rijsbergen 1979"),
    Metric(
        name="fbeta",
        function=_rates.fbeta,
        threshold=True,
        example={"beta": 2.0},
        formula="(1 + β²) TP / ((1 + β²) TP + β² FN + FP)",
        paper="van Rijsbergen 1979",
    ),
    _rate("accuracy", formula="(TP + TN) / n"),
    _rate("balanced_accuracy", formula="(recall + specificity) / 2", paper="Brodersen et al. 2010"),
    _rate(
        "mcc",
        limits=(-1.0, 1.0),
        formula="(TP·TN − FP·FN) / √((TP+FP)(TP+FN)(TN+FP)(TN+FN)); NaN with a negative cell",
        paper="Matthews 1975",
    ),
    _rate(
        "cohen_kappa",
        limits=(-1.0, 1.0),
        formula="2 (TP·TN − FP·FN) / ((TP+FP)(FP+TN) + (FN+TN)(TP+FN))",
        paper="Cohen 1960",
    ),
    _rate("jaccard", formula="TP / (TP + FP + FN)", paper="Jaccard 1901"),
    _rate("youden_j", limits=(-1.0, 1.0), formula="recall − FPR", paper="Youden 1950"),
    _rate(
        "lift",
        needs="shape",
        limits=(0.0, INFINITY),
        formula="recall / predicted-positive rate = precision / π",
    ),
    Metric(
        name="net_benefit",
        function=_decision.net_benefit,
        limits=(-INFINITY, 1.0),
        threshold=True,
        probability=True,
        ranking=False,
        formula="(TP − FP · t/(1−t)) / n",
        paper="Vickers & Elkin 2006",
    ),
    Metric(
        name="roc_auc",
        function=_areas.roc_auc,
        formula="P(s₁ > s₀) + ½ P(s₁ = s₀) = ∫ (μ₁[s > x] + ½ μ₁{x}) d(μ − μ₁)(x) / (π (1−π) n²)",
        paper="Hanley & McNeil 1982; Jain, White & Radivojac 2017",
    ),
    Metric(
        name="partial_auc",
        function=_areas.partial_auc,
        example={"max_fpr": 0.1},
        formula="area under the ROC curve where FPR ≤ `max_fpr`, on McClish’s scale or raw",
        paper="McClish 1989",
    ),
    Metric(
        name="average_precision",
        function=_areas.average_precision,
        formula="Σ precision · Δrecall, precision clipped to [0, 1]",
    ),
    Metric(
        name="pr_auc",
        function=_areas.pr_auc,
        formula="∫ precision d recall, TP and FP interpolated together, precision clipped to [0, 1]",
        paper="Davis & Goadrich 2006; Boyd, Eng & Page 2013",
    ),
    Metric(
        name="precision_at_k",
        function=_areas.precision_at_k,
        example={"k": 0.2},
        local=True,
        formula="TP among the k highest / k; k a count or a fraction, ties shared",
    ),
    Metric(
        name="recall_at_k",
        function=_areas.recall_at_k,
        needs="shape",
        example={"k": 0.2},
        local=True,
        formula="TP among the k highest / (π n)",
    ),
    Metric(
        name="recall_at_fpr",
        function=_areas.recall_at_fpr,
        example={"max_fpr": 0.05},
        local=True,
        formula="recall where the ROC curve, a line between thresholds, passes `max_fpr`",
    ),
    Metric(
        name="brier",
        function=_mean_losses.brier,
        better="low",
        ranking=False,
        probability=True,
        formula="(∫ s² dμ − 2 ∫ s dμ₁ + ∫ dμ₁) / n",
        paper="Brier 1950",
    ),
    Metric(
        name="brier_skill",
        function=_mean_losses.brier_skill,
        ranking=False,
        probability=True,
        limits=(-INFINITY, 1.0),
        formula="1 − Brier / (π (1−π))",
        paper="Murphy 1988",
    ),
    Metric(
        name="log_loss",
        function=_mean_losses.log_loss,
        better="low",
        ranking=False,
        probability=True,
        limits=(0.0, INFINITY),
        formula="(−∫ log s dμ₁ − ∫ log(1−s) d(μ − μ₁)) / n, s clipped at float64 eps",
        paper="Good 1952",
    ),
    Metric(
        name="risk",
        function=_mean_losses.risk,
        better="low",
        ranking=False,
        example={"loss": "sigmoid"},
        limits=(0.0, INFINITY),
        formula="(∫ ℓ(s) dμ₁ + ∫ ℓ(−s) d(μ − μ₁)) / n, ℓ a loss of the margin s, `loss=`",
        paper="du Plessis, Niu & Sugiyama 2014; Kiryo et al. 2017",
    ),
    _distance(
        calibration_error,
        unit_laws=False,
        formula="Σ over bins of abs(gap) / n; bins of equal mass or width, norms 1, 2, max; `debias=`",
        paper="Naeini, Cooper & Hauskrecht 2015; Kiryo, Futami & Sugiyama",
    ),
    _distance(
        adaptive_calibration_error,
        unit_laws=False,
        formula="mean over bins of equal mass of abs(gap) / μ(bin), each bin alike",
        paper="Nixon et al. 2019",
    ),
    _distance(
        maximum_calibration_error,
        unit_laws=False,
        formula="largest abs(gap) / μ(bin) over the bins",
        paper="Naeini, Cooper & Hauskrecht 2015",
    ),
    _distance(
        sweep_calibration_error,
        unit_laws=False,
        formula="as `calibration_error`, with the most bins of equal mass whose mean labels rise",
        paper="Roelofs et al. 2022",
    ),
    _distance(
        ks_calibration_error,
        formula='max over t of abs(gap[s ≤ t]) / n; `statistic="kuiper"`: its range',
        paper="Gupta et al. 2021",
    ),
    _distance(
        smooth_calibration_error,
        formula="the σ that equals ∫ abs(gap smoothed by a Gaussian of width σ) / n",
        paper="Błasiok & Nakkiran 2024",
    ),
    _distance(
        logit_smoothed_calibration_error,
        formula="the error of the scores after Gaussian noise of width `sigma` on their logits",
        paper="Chidambaram et al. 2024",
    ),
    _distance(
        bpm_calibration_error,
        unit_laws=False,
        formula="∫ abs(g(s) − s) over a Beta law of the scores, g a beta curve through bins of several sizes",
        paper="Dong, Jiang, Pan & Yu 2025",
    ),
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
