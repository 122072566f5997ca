"""What scores say of the Bayes error: calibrated by other rows, they decide, and their errors are counted."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np

from halftruth._errors import InputError, arg
from halftruth.calibration.calibrators import cross_calibrate
from halftruth.evaluation._evaluate import evaluate
from halftruth.evidence import Evidence
from halftruth.limits.means import LimitEstimate, Settings, cut
from halftruth.measure._score_measure import ScoreMeasure, integral
from halftruth.results._estimate import Estimate

POSSIBLE = (0.0, 0.5)
BOUND = (
    "An upper bound of the Bayes error: the measured error of calling a case positive where its score, "
    "calibrated on other rows, is ½ or more. Another rule may err less where the calibrator misses the score "
    "at which positives become the majority, and who sees more of the cases may, down to 0. The interval is "
    "that of the bound."
)


def through_scores(evidence: Evidence, calibrator: Any, n_folds: int, settings: Settings) -> Estimate:
    """The error of the rule "calibrated score ≥ ½" on rows that did not calibrate it."""
    evidence.measure().need_prior()
    rng = np.random.default_rng(settings.rng)
    found = evaluate(
        _calibrated(evidence, calibrator, n_folds, rng),
        "accuracy",
        threshold=0.5,
        confidence_level=settings.level,
        n_resamples=settings.n_resamples,
        rng=rng,
    )
    right = found["accuracy"]
    wrong = replace(
        right,
        value=1 - right.value,
        naive=trusting(evidence.measure()),
        replicates=None if right.replicates is None else 1 - right.replicates,
        centers=None if right.centers is None else 1 - right.centers,
        notes=(BOUND, *found.notes, *right.notes),
    )
    low, high = cut((1 - right.high, 1 - right.low), POSSIBLE, wrong.value)
    if low == high:  # no error at all was counted: the rule of three
        high = cut((low, 1 - ((1 - settings.level) / 2) ** (1 / evidence.measure().size)), POSSIBLE)[1]
    # Over a range of priors each has a bound of its own, and the truth may be below the highest.
    most = wrong.value if wrong.centers is None else float(np.max(wrong.centers))
    kept = {field.name: getattr(wrong, field.name) for field in fields(Estimate)}
    changed = {"low": low, "high": high, "limits": POSSIBLE, "identified": cut((0.0, most), POSSIBLE)}
    return LimitEstimate(**(kept | changed), ends=wrong.interval)


def _calibrated(evidence: Evidence, calibrator: Any, n_folds: int, rng: np.random.Generator) -> Evidence:
    try:
        return cross_calibrate(evidence, calibrator, n_folds=n_folds, rng=rng)
    except InputError as error:
        if evidence.measure().bounded:
            raise
        raise error.also(
            f'Here: {arg("calibrator")}="isotonic", or Calibrator("platt", scale="score").'
        ) from None


def trusting(measure: ScoreMeasure) -> float | None:
    """∫ min(s, 1 − s) dμ: the Bayes error if the scores were P(positive | x); None where they cannot be."""
    if not measure.bounded:
        return None
    return float(integral(np.minimum(measure.score, 1 - measure.score), measure.mass) / measure.total)
