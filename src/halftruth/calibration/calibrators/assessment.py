"""What a calibrator changes: errors before it and after it, on rows that its fit did not see."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from halftruth._errors import Note
from halftruth.calibration.binned import calibration_error
from halftruth.calibration.calibrators.calibrator import Calibrator
from halftruth.calibration.calibrators.crossing import cross_calibrate, smallest_stratum
from halftruth.evidence import Evidence
from halftruth.metrics._mean_losses import brier, log_loss

ERRORS: Mapping[str, Callable[[Any], Any]] = {
    "calibration_error": calibration_error,
    "debiased_calibration_error": partial(calibration_error, debias=True),
    "brier": brier,
    "log_loss": log_loss,
}
N_FOLDS = 5
NO_BEFORE = Note(
    "undefined",
    "Scores outside [0, 1] are no probabilities: there is nothing to say of them before calibration.",
)
NO_AFTER = (
    "One {} row cannot be measured by a curve that was fitted on others like it: there are no values after "
    "calibration."
)

BELOW = (
    "{} below 0 is not possible: by noise, or because the prior, the purity or the sampling is not as given."
)


@dataclass(frozen=True)
class Assessment:
    """Errors by name, before and after; None where there is nothing to measure."""

    errors: Mapping[str, tuple[float | None, float | None]]
    notes: tuple[Note, ...]


def assess(
    evidence: Evidence, calibrator: Calibrator, *, n_folds: int | None = None, rng: Any = 0
) -> Assessment:
    """Errors of the scores, and of cross-fitted calibrated ones.

    Parameters
    ----------
    evidence : evidence
        What the calibrator is for.
    calibrator : Calibrator
        Its settings count.
    n_folds : int, optional
        As in `cross_calibrate`; by default 5, or fewer where a stratum has fewer rows.
    rng : int or numpy Generator
        As in `cross_calibrate`.

    Examples
    --------
    >>> import halftruth as ht
    >>> from halftruth.calibration.calibrators.assessment import assess
    >>> evidence = ht.Labeled([0, 1, 0, 1, 1, 0], [0.2, 0.8, 0.4, 0.6, 0.9, 0.1])
    >>> found = assess(evidence, ht.Calibrator("temperature"))
    >>> list(found.errors)
    ['calibration_error', 'debiased_calibration_error', 'brier', 'log_loss']
    """
    measure = evidence.measure()
    fewest, name = smallest_stratum(evidence)
    before = measure if measure.bounded else None
    after = None
    if fewest > 1:
        parts = min(N_FOLDS, fewest) if n_folds is None else n_folds
        after = cross_calibrate(evidence, calibrator, n_folds=parts, rng=rng).measure()
    errors = {
        label: (None if before is None else float(f(before)), None if after is None else float(f(after)))
        for label, f in ERRORS.items()
    }
    notes = [NO_BEFORE] if before is None else []
    notes += [Note("small_sample", NO_AFTER.format(name))] if after is None else []
    below = [
        label for label, pair in errors.items() if any(value is not None and value < 0 for value in pair)
    ]
    notes += [Note("impossible", BELOW.format(", ".join(below)))] if below else []
    return Assessment(errors=errors, notes=tuple(notes))
