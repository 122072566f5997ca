"""What a calibrator changes: errors before it and after it, on rows that its fit did not see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from halftruth.calibration.binned import calibration_error
from halftruth.calibration.calibrators.calibrator import Calibrator
from halftruth.calibration.calibrators.crossing import cross_calibrate
from halftruth.evidence import Evidence
from halftruth.measure import ScoreMeasure
from halftruth.metrics.proper import brier, log_loss

ERRORS = {"calibration_error": calibration_error, "brier": brier, "log_loss": log_loss}
SAME_ROWS = (
    "The values after calibration are of the rows that the curve was fitted on: a histogram has no rows to "
    "set apart."
)
NO_BEFORE = "Scores outside [0, 1] are no probabilities: there is nothing to say of them before calibration."


@dataclass(frozen=True)
class Assessment:
    """Errors by name, each before (None where the scores are no probabilities) and after."""

    errors: Mapping[str, tuple[float | None, float]]
    cross_fitted: bool
    notes: tuple[str, ...]


def assess(evidence: Evidence, calibrator: Calibrator, *, n_folds: int = 5, rng: Any = 0) -> Assessment:
    """Errors of the scores, and of cross-fitted calibrated ones.

    Parameters
    ----------
    evidence : evidence
        What the calibrator was fitted on.
    calibrator : Calibrator
        Fitted.
    n_folds, rng
        As in `cross_calibrate`. Of a histogram the fitted calibrator itself is measured.

    Examples
    --------
    >>> import halftruth as ht
    >>> from halftruth.calibration.calibrators.assessment import assess
    >>> evidence = ht.Labeled([0, 1, 0, 1, 1, 0], [0.2, 0.8, 0.4, 0.6, 0.9, 0.1])
    >>> found = assess(evidence, ht.Calibrator("temperature").fit(evidence), n_folds=3)
    >>> list(found.errors)
    ['calibration_error', 'brier', 'log_loss']
    """
    measure, bounded = evidence.measure(), evidence.measure().bounded
    exact = evidence.table.grid is None
    after: Any = cross_calibrate(evidence, calibrator, n_folds=n_folds, rng=rng) if exact else None
    if after is None:
        after = _moved(measure, calibrator)
    errors = {name: (float(f(measure)) if bounded else None, float(f(after))) for name, f in ERRORS.items()}
    notes = (() if exact else (SAME_ROWS,)) + (() if bounded else (NO_BEFORE,))
    return Assessment(errors=errors, cross_fitted=exact, notes=notes)


def _moved(measure: ScoreMeasure, calibrator: Calibrator) -> ScoreMeasure:
    """The measure with each score in its calibrated place."""
    score, place = np.unique(calibrator.predict(measure.score), return_inverse=True)
    mass, pos = (np.bincount(place, part).astype(np.float64) for part in (measure.mass, measure.pos_mass))
    return ScoreMeasure(score=score, mass=mass, pos_mass=pos, size=measure.size, alpha=measure.alpha)
