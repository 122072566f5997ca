"""halftruth: how good is a classifier, really, when the labels tell only half the truth?"""

from __future__ import annotations

import importlib
from typing import Any

from halftruth._version import __version__

# Public name → module it lives in. Names load when first used, so that importing halftruth is cheap;
# `__init__.pyi` tells type checkers the same.
_HOMES = {
    "Labeled": "evidence",
    "SoftLabeled": "evidence",
    "PositiveUnlabeled": "evidence",
    "PositiveConfidence": "evidence",
    "Reviewed": "evidence",
    "judge_rates": "evidence._reviewers",
    "reviewer_agreement": "evidence._reviewers",
    "ReviewerAgreement": "evidence._reviewers",
    "ScoreTable": "table._score_table",
    "Grid": "table._grid",
    "ScoreMeasure": "measure._score_measure",
    "PriorEstimate": "prior._belief",
    "Estimate": "results._estimate",
    "Evaluation": "results._estimate",
    "evaluate": "evaluation._evaluate",
    "compare": "evaluation._compare",
    "check_by_reviews": "evaluation._review_checks",
    "ReviewCheck": "evaluation._review_checks",
    "plan_review": "evaluation._review_plan",
    "ReviewPlan": "evaluation._review_plan",
    "level_of_look": "inference._looks",
    "Comparison": "results._comparison",
    "Difference": "results._comparison",
    "make_scorer": "evaluation._scorer",
    "cross_val_evidence": "learn._cross_validation",
    "roc_auc": "metrics._areas",
    "partial_auc": "metrics._areas",
    "average_precision": "metrics._areas",
    "pr_auc": "metrics._areas",
    "precision_at_k": "metrics._areas",
    "recall_at_k": "metrics._areas",
    "recall_at_fpr": "metrics._areas",
    "brier": "metrics._mean_losses",
    "brier_skill": "metrics._mean_losses",
    "log_loss": "metrics._mean_losses",
    "risk": "metrics._mean_losses",
    "confusion": "metrics._rates",
    "fbeta": "metrics._rates",
    "prevalence": "metrics._rates",
    "roc_curve": "metrics._curves",
    "precision_recall_curve": "metrics._curves",
    "det_curve": "metrics._curves",
    "gain_curve": "metrics._curves",
    "net_benefit": "metrics._decision",
    "decision_curve": "metrics._decision",
    "cost_curve": "metrics._decision",
    "best_threshold": "inference._best_threshold",
    "calibration_error": "calibration._binned_errors",
    "adaptive_calibration_error": "calibration._binned_errors",
    "maximum_calibration_error": "calibration._binned_errors",
    "sweep_calibration_error": "calibration._sweep_errors",
    "ks_calibration_error": "calibration._smooth_errors",
    "smooth_calibration_error": "calibration._smooth_errors",
    "logit_smoothed_calibration_error": "calibration._smooth_errors",
    "bpm_calibration_error": "calibration._binomial_process",
    "reliability_curve": "calibration._reliability",
    "ReliabilityCurve": "calibration._reliability",
    "calibration_test": "calibration._calibration_test",
    "CalibrationTest": "calibration._calibration_test",
    "Calibrator": "calibration.calibrators",
    "cross_calibrate": "calibration.calibrators",
    "top_label": "calibration.calibrators",
    "class_wise": "calibration.calibrators",
    "prior_upper_bound": "prior._estimate_prior",
    "estimate_prior": "prior._estimate_prior",
    "estimate_prior_and_purity": "prior._estimate_prior",
    "PriorAndPurity": "prior._estimate_prior",
    "estimate_prior_from_features": "prior._from_features",
    "estimate_propensity": "prior._propensity",
    "PropensityEstimate": "prior._propensity",
    "scar_test": "prior._scar_test",
    "ScarTest": "prior._scar_test",
    "scar_test_from_features": "prior._scar_features",
    "selection_benchmark": "prior._selection_benchmark",
    "SelectionBenchmark": "prior._selection_benchmark",
    "bounds": "rank_bounds._bounds",
    "CurveBounds": "rank_bounds._bound_results",
    "MetricBounds": "rank_bounds._bound_results",
    "bayes_error": "limits._bayes_error",
    "best_attainable": "limits._best_attainable",
    "positive_confidence_risk": "limits._confidences",
    "too_good_to_be_true": "limits._too_good",
    "TooGood": "limits._verdict",
    "HalftruthError": "_errors",
    "InputError": "_errors",
    "Refuted": "_errors",
    "NotIdentifiable": "_errors",
    "MergeError": "_errors",
    "MissingDependency": "_errors",
    "EmptyClassWarning": "_errors",
}
_MODULES = ("figures", "learn", "recover", "simulate", "theory", "training")

__all__ = ["__version__", *_HOMES, *_MODULES]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(importlib.import_module(f"halftruth.{_HOMES[name]}"), name)
    elif name in _MODULES:
        value = importlib.import_module(f"halftruth.{name}")
    else:
        raise AttributeError(f"module 'halftruth' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
