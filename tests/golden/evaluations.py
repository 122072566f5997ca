"""The 200 evaluations: what is asked of which evidence, and the JSON of each answer.

Only public names are used, so that whatever moves inside the package, the same cases run.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any

import numpy as np

import halftruth as ht

from .evidence_kinds import (
    KINDS,
    KNOWN,
    MORE,
    NEGATIVES,
    ROWS,
    Evidence,
    confident,
    labeled,
    one_table,
    sample,
    soft,
    two_samples,
    votes,
)

Case = Callable[[], object]

RATES = (
    *("predicted_positive_rate", "precision", "recall", "fpr", "specificity", "npv", "fdr", "f1", "fbeta"),
    *("accuracy", "balanced_accuracy", "mcc", "cohen_kappa", "jaccard", "youden_j", "lift"),
)
AREAS = ("prevalence", "roc_auc", "partial_auc", "average_precision", "pr_auc", "recall_at_fpr", "risk")
OF_PROBABILITIES = ("net_benefit", "brier", "brier_skill", "log_loss")
AT_BUDGET = {
    "precision_at_k": partial(ht.precision_at_k, k=0.2),
    "recall_at_k": partial(ht.recall_at_k, k=0.2),
}
CALIBRATION = (
    *("calibration_error", "adaptive_calibration_error", "maximum_calibration_error"),
    *("sweep_calibration_error", "ks_calibration_error", "smooth_calibration_error"),
    *("logit_smoothed_calibration_error", "bpm_calibration_error"),
)
METRICS = {*RATES, *AREAS, *OF_PROBABILITIES, *AT_BUDGET, *CALIBRATION}
"""All that the registry had when they were written down."""


RESAMPLED = (
    *("labeled", "labeled weights", "labeled ties", "labeled margins", "labeled constant score"),
    *("labeled one positive", "labeled no positive", "labeled histogram"),
    *("soft", "soft weights", "soft histogram", "votes"),
    *("pu", "pu prior range", "pu prior replicates", "pu prior estimated", "pu without prior"),
    *("pu prior refuted", "pu purity", "pu prior and purity ranges", "pu weights", "pu negatives"),
    *("pu negatives without prior", "pu ties", "pu margins", "pu one positive"),
    *("pu histogram", "one table", "one table prior range", "one table without prior"),
    *("one table negatives", "one table propensity", "one table labels"),
    *("confidence", "confidence score", "confidence weights", "confidence prior refuted"),
)
"""Evidence whose default rows are resampled."""
CALIBRATED = (
    *("labeled", "labeled weights", "labeled zeros and ones", "labeled histogram", "labeled large"),
    *("soft", "votes", "pu", "pu prior range", "pu without prior", "pu purity", "pu histogram"),
    *("one table negatives", "confidence score"),
)
"""Evidence whose calibration errors are resampled."""


def _of_every_row(name: str, make: Callable[[], Evidence]) -> object:
    """Metrics that have a derivative, with intervals in closed form where those can be had."""
    chosen = (*AREAS, *RATES, *(() if "margins" in name else OF_PROBABILITIES))
    return ht.evaluate(make(), chosen, threshold=_threshold(name), n_resamples=0)


def _default_rows(name: str) -> object:
    return ht.evaluate(KINDS[name](), threshold=_threshold(name), n_resamples=200, rng=1)


def _calibration_errors(name: str) -> object:
    return ht.evaluate(KINDS[name](), AT_BUDGET | {each: each for each in CALIBRATION}, n_resamples=30)


def _threshold(name: str) -> float:
    return 0.25 if "margins" in name else 0.4


def _evaluations() -> dict[str, Case]:
    cases: dict[str, Case] = {}
    for name, make in KINDS.items():
        cases[f"{name}: metrics"] = partial(_of_every_row, name, make)
    for name in RESAMPLED:
        cases[f"{name}: default rows"] = partial(_default_rows, name)
    for name in CALIBRATED:
        cases[f"{name}: calibration errors"] = partial(_calibration_errors, name)
    for method in ("percentile", "basic", "normal", "bias-corrected", "fitted"):
        cases[f"{method} interval"] = partial(
            ht.evaluate, labeled(), ["roc_auc", "brier"], n_resamples=200, method=method
        )
    return cases | {
        "stratified": lambda: ht.evaluate(one_table(), n_resamples=200, stratified=True),
        "theorem's bound": lambda: ht.evaluate(
            two_samples(), ["calibration_error"], n_resamples=50, lipschitz=1.0, confidence_level=0.8
        ),
    }


def _comparisons() -> dict[str, Case]:
    known, rest = ROWS.random, ~ROWS.random
    pairs: dict[str, tuple[Evidence, Evidence]] = {
        "labeled": (labeled(), labeled(ROWS.other)),
        "soft": (soft(), ht.SoftLabeled(ROWS.posterior, ROWS.other)),
        "confidence": (
            confident(y_score=ROWS.score[ROWS.y]),
            confident(y_score=ROWS.other[ROWS.y]),
        ),
        "pu prior range": (
            two_samples(prior=(0.25, 0.35)),
            ht.PositiveUnlabeled(MORE.other[MORE.y], ROWS.other, prior=(0.25, 0.35)),
        ),
        "one table without prior": (
            one_table(prior=None),
            ht.PositiveUnlabeled(ROWS.other[known], ROWS.other[rest], population="all"),
        ),
    }
    cases: dict[str, Case] = {
        f"compare {name}": partial(
            ht.compare, dict(zip("ab", pair, strict=True)), threshold=0.4, n_resamples=200
        )
        for name, pair in pairs.items()
    }
    apart = {"a": labeled(), "b": ht.Labeled(MORE.y, MORE.other)}
    three = {"a": labeled(), "b": labeled(ROWS.other), "c": labeled(ROWS.posterior)}
    return cases | {
        "compare apart": lambda: ht.compare(apart, paired=False, n_resamples=200),
        "compare three": lambda: ht.compare(three, ["roc_auc", "brier"], n_resamples=0),
    }


def _few(**settings: Any) -> ht.PositiveUnlabeled:
    """Evidence of so few rows that a curve of it is short."""
    few = sample(40, seed=6)
    rest = {"prior": 0.3} | settings
    return ht.PositiveUnlabeled(few.score[few.y], sample(40, seed=7).score, **rest)


def _bounds(of: str, **settings: Any) -> object:
    evidence = _few(prior=None if "labeled_sample" in settings else 0.3)
    bounds = ht.bounds(evidence, of, n_resamples=200, **settings)
    return [bounds, bounds.lower, bounds.upper] if isinstance(bounds, ht.CurveBounds) else bounds


def _rank_bounds() -> dict[str, Case]:
    cases: dict[str, Case] = {
        f"bounds of roc_auc by {band}": partial(_bounds, "roc_auc", band=band)
        for band in ("bootstrap", "dkw", "exact", "claesen-bootstrap", "claesen-dkw", "claesen-exact")
    }
    return cases | {
        "bounds of roc": lambda: _bounds("roc"),
        "bounds of pr over a range": lambda: _bounds("pr", band="dkw", prior=(0.2, 0.4)),
        "bounds of precision": lambda: _bounds("precision", threshold=0.4),
        "bounds of f1, sampled": lambda: _bounds("f1", threshold=0.4, labeled_sample=(6, 20)),
    }


def _limits() -> dict[str, Case]:
    noisy = np.round(np.clip(ROWS.posterior + np.random.default_rng(8).normal(0, 0.1, len(ROWS.y)), 0, 1), 4)
    return {
        "bayes_error of soft labels": lambda: ht.bayes_error(soft()),
        "bayes_error by hoeffding": lambda: ht.bayes_error(soft(), method="hoeffding"),
        "bayes_error of noisy labels": lambda: ht.bayes_error(
            ht.SoftLabeled(noisy), labels="noisy", sign=ROWS.posterior > 0.5
        ),
        "bayes_error of votes": lambda: ht.bayes_error(votes(5)),
        "bayes_error of confidences": lambda: ht.bayes_error(confident(prior=0.3)),
        "bayes_error of scores": lambda: ht.bayes_error(labeled(), n_resamples=50),
        "bayes_error of pu": lambda: ht.bayes_error(two_samples(), n_resamples=50),
        "best_attainable": lambda: ht.best_attainable(soft(), n_resamples=50),
        "too_good_to_be_true": lambda: ht.too_good_to_be_true(
            0.05, 300, soft(), predictions=ROWS.score > 0.5
        ),
    }


def _calibrations() -> dict[str, Case]:
    cases: dict[str, Case] = {}
    for statistic in ("ks", "kuiper", "spiegelhalter", "hosmer-lemeshow"):
        cases[f"calibration_test {statistic}"] = partial(_calibration_tests, statistic)
    for method in ("binned", "isotonic", "smooth", "bpm"):
        # A search ends each resample of "bpm": on another processor its band differs by 1e-5.
        n_resamples = 0 if method == "bpm" else 50
        cases[f"reliability_curve {method}"] = partial(
            ht.reliability_curve, _few(), method, n_bins=5, n_resamples=n_resamples
        )
    for method in ("beta", "platt", "temperature", "isotonic", "histogram", "spline", "bpm", "mix-n-match"):
        cases[f"Calibrator {method}"] = partial(_calibrator, method)
    return cases


def _calibration_tests(statistic: str) -> object:
    return [ht.calibration_test(make(), statistic, n_resamples=100) for make in (labeled, two_samples, soft)]


def _calibrator(method: str) -> object:
    score = np.linspace(0, 1, 11)
    fits = [ht.Calibrator(method).fit(make()) for make in (labeled, two_samples, soft)]
    return [[fit, fit.predict(score)] for fit in fits]


def _priors() -> dict[str, Case]:
    cases: dict[str, Case] = {}
    for method in (
        *("auto", "alphamax", "bbe", "bbe-corrected", "dedpul", "km1", "km2", "tice", "elkan-noto"),
        *("elkan-noto-ratio", "roc-slope", "roc-curve", "em", "divergence", "mixture"),
    ):
        negative = NEGATIVES if method == "mixture" else None
        cases[f"estimate_prior {method}"] = partial(
            ht.estimate_prior, KNOWN, ROWS.score, negative=negative, method=method, n_resamples=20
        )
    return cases | {
        "estimate_prior of one table": lambda: ht.estimate_prior(one_table(prior=None), n_resamples=20),
        "prior_upper_bound": lambda: ht.prior_upper_bound(KNOWN, ROWS.score),
        "scar_test": lambda: ht.scar_test(
            two_samples(negative=NEGATIVES), source=np.arange(len(KNOWN)) % 2, n_resamples=100
        ),
    }


def _metric_functions() -> dict[str, Case]:
    curves = (
        *(ht.roc_curve, ht.precision_recall_curve, ht.det_curve, ht.gain_curve, ht.decision_curve),
        partial(ht.cost_curve, n_points=11),
    )
    losses = ("zero_one", "sigmoid", "logistic", "squared", "ramp", "log", "brier")
    return {
        "curves": lambda: [curve(_few()) for curve in curves],
        "curves of labels": lambda: [
            curve(ht.Labeled([1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1])) for curve in curves
        ],
        "best_threshold": lambda: [_best_thresholds(make()) for make in (labeled, two_samples, soft)],
        "risk": lambda: (
            {loss: ht.risk(two_samples(), loss, threshold=0.5) for loss in losses[:1]}
            | {loss: ht.risk(two_samples(), loss) for loss in losses[1:]}
        ),
        "warning of an empty class": lambda: ht.roc_auc(KINDS["labeled no positive"]()),
        "error without a prior": lambda: ht.precision_at_k(KINDS["pu without prior"](), 10),
        "recover.performance": lambda: ht.recover.performance(two_samples(purity=0.9), n_resamples=50),
    }


def _best_thresholds(evidence: Evidence) -> object:
    names = ("f1", "mcc", "youden_j", "accuracy", "cohen_kappa", "jaccard")
    return {name: ht.best_threshold(evidence, maximize=name) for name in names} | {
        "precision": ht.best_threshold(evidence, precision_at_least=0.8),
        "recall": ht.best_threshold(evidence, recall_at_least=0.8),
        "cost": ht.best_threshold(evidence, cost=(1.0, 4.0)),
    }


CASES: Mapping[str, Case] = {
    **_evaluations(),
    **_comparisons(),
    **_rank_bounds(),
    **_limits(),
    **_calibrations(),
    **_priors(),
    **_metric_functions(),
}

SEARCHED = {"bayes_error of votes"}
"""A search over laws ends them, which another processor's rounding stops elsewhere, by 1e-8."""


def answer(case: str) -> str:
    """The JSON of a case: its result, or its error, and the warnings on the way."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ht.EmptyClassWarning)
        try:
            out: dict[str, object] = {"result": _plain(CASES[case]())}
        except ht.HalftruthError as error:
            out = {"error": f"{type(error).__name__}: {error}"}
    out["warnings"] = [str(warning.message) for warning in caught]
    return json.dumps(out, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _plain(value: Any) -> object:
    """What JSON can hold: `to_dict` where there is one, the arrays of a curve, "nan" and "inf" as text."""
    if hasattr(value, "to_dict"):
        return _plain(value.to_dict())
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
