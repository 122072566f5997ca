"""Cross-fitting: each row calibrated by a curve that did not see it."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, arg
from halftruth.calibration.calibrators.calibrator import Calibrator
from halftruth.calibration.calibrators.folds import folds_of
from halftruth.evidence import Evidence, as_evidence
from halftruth.table._score_table import ScoreTable

Kind = TypeVar("Kind", bound=Evidence)
MOST_FOLDS = 100


def cross_calibrate(evidence: Kind, calibrator: Any = "beta", *, n_folds: int = 5, rng: Any = 0) -> Kind:
    """The same evidence with calibrated scores, each from a fit on other rows.

    A curve looks better on the rows it was fitted on than on others. Metrics of what this gives do not
    share rows with the fit.

    Parameters
    ----------
    evidence : evidence
        Of a histogram, how many rows of each bin are in a part is drawn at random; rows of one bin count as
        alike.
    calibrator : Calibrator or str
        Its settings, or the name of its method.
    n_folds : int
        The rows of each stratum are split at random into so many parts; from 2 to 100, and not more than the
        smallest stratum has rows.
    rng : int or numpy Generator
        Same seed, same parts.

    Returns
    -------
    evidence of the same kind, with the same prior, purity, population, weights and values

    Examples
    --------
    >>> import halftruth as ht
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> s = rng.random(2000)
    >>> evidence = ht.Labeled(rng.random(2000) < s**2, s)
    >>> bool(ht.calibration_error(ht.cross_calibrate(evidence)) < ht.calibration_error(evidence) / 2)
    True
    """
    as_evidence(evidence)
    settings = {"method": calibrator} if isinstance(calibrator, str) else _settings(calibrator)
    n_folds = _number_of_folds(evidence, n_folds)
    generator = np.random.default_rng(rng)
    strata = evidence.table.strata
    folds = {name: folds_of(rows, n_folds, generator) for name, rows in strata.items()}
    calibrated: dict[str, list[Vector]] = {name: [] for name in strata}
    for k in range(n_folds):
        others = {name: each.others(k) for name, each in folds.items()}
        fitted = Calibrator(**settings).fit(evidence.with_table(ScoreTable(others)))
        for name, each in folds.items():
            calibrated[name].append(fitted.predict(each.score(k)))
    joined = {name: each.joined(calibrated[name]) for name, each in folds.items()}
    return evidence.with_table(ScoreTable(joined))


def smallest_stratum(evidence: Evidence) -> tuple[int, str]:
    """The rows of the stratum that has fewest, and its name."""
    return min((len(rows), name) for name, rows in evidence.table.strata.items())


def _number_of_folds(evidence: Evidence, n_folds: int) -> int:
    n_folds = _checks.count(n_folds, "n_folds", least=2)
    if n_folds > MOST_FOLDS:
        raise InputError(
            argument="n_folds",
            must=f"be at most {MOST_FOLDS}",
            got=n_folds,
            remedy="Each part costs a fit: 5 or 10 will do.",
        )
    n, name = smallest_stratum(evidence)
    if n < 2:
        raise InputError(
            f"Cross-fitting needs at least 2 {name} rows, got {n}: each must be calibrated by others."
        )
    if n_folds > n:
        raise InputError(
            argument="n_folds",
            must=f"be at most {n}, the number of {name} rows",
            got=n_folds,
            remedy=f"Pass {arg('n_folds', n)}.",
        )
    return n_folds


def _settings(calibrator: Any) -> dict[str, Any]:
    if not isinstance(calibrator, Calibrator):
        raise InputError(
            argument="calibrator",
            must="be a Calibrator or the name of a method",
            got=type(calibrator).__name__,
        )
    return calibrator.get_params()
