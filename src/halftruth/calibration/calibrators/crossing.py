"""Cross-fitting: each row calibrated by a curve that did not see it."""

from __future__ import annotations

import copy
from functools import cached_property
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from halftruth import checks
from halftruth.calibration.calibrators.calibrator import Calibrator
from halftruth.errors import InputError
from halftruth.evidence import Evidence
from halftruth.rows import Rows
from halftruth.table import ScoreTable

Kind = TypeVar("Kind", bound=Evidence)


def cross_calibrate(evidence: Kind, calibrator: Any = "beta", *, n_folds: int = 5, rng: Any = 0) -> Kind:
    """The same evidence with calibrated scores, each from a fit on other rows.

    A curve looks better on the rows it was fitted on than on others. Metrics of what this gives do not
    share rows with the fit.

    Parameters
    ----------
    evidence : evidence
        With its rows; a histogram has none to set apart.
    calibrator : Calibrator or str
        Its settings, or the name of its method.
    n_folds : int
        The rows of each stratum are split at random into so many parts; at least 2.
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
    if not isinstance(evidence, Evidence):
        raise InputError(
            f"`evidence` must be evidence with its rows, e.g. Labeled(y_true, y_score), got "
            f"{type(evidence).__name__}."
        )
    settings = {"method": calibrator} if isinstance(calibrator, str) else _settings(calibrator)
    n_folds = checks.count(n_folds, "n_folds", least=2)
    if evidence.table.grid is not None:
        raise InputError(
            "`evidence` must hold rows, got a histogram: it has no rows to set apart. Fit on one table and "
            "measure on another, or raise `max_rows`."
        )
    strata = cast("dict[str, Rows]", dict(evidence.table.strata))
    generator = np.random.default_rng(rng)
    fold = {name: _folds(name, len(rows), n_folds, generator) for name, rows in strata.items()}
    calibrated = {name: np.empty(len(rows)) for name, rows in strata.items()}
    for k in range(n_folds):
        kept = {name: _picked(rows, fold[name] != k) for name, rows in strata.items()}
        fitted = Calibrator(**settings).fit(_with_rows(evidence, kept))
        for name, rows in strata.items():
            held_out = fold[name] == k
            calibrated[name][held_out] = fitted.predict(rows.score[held_out])
    return _with_rows(evidence, {k: _scored(rows, calibrated[k]) for k, rows in strata.items()})


def _settings(calibrator: Any) -> dict[str, Any]:
    if not isinstance(calibrator, Calibrator):
        raise InputError(
            f"`calibrator` must be a Calibrator or the name of a method, got {type(calibrator).__name__}."
        )
    return calibrator.get_params()


def _folds(name: str, n: int, n_folds: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """The part of each row; the parts differ by one row at most."""
    if n < 2:
        raise InputError(
            f"Cross-fitting needs at least 2 {name} rows, got {n}: each must be calibrated by others."
        )
    return rng.permutation(np.arange(n) % n_folds)


def _picked(rows: Rows, mask: NDArray[np.bool_]) -> Rows:
    return Rows(
        score=rows.score[mask],
        weight=None if rows.weight is None else rows.weight[mask],
        value=None if rows.value is None else rows.value[mask],
        meaning=rows.meaning,
    )


def _scored(rows: Rows, score: Any) -> Rows:
    return Rows(score=score, weight=rows.weight, value=rows.value, meaning=rows.meaning)


def _with_rows(evidence: Kind, strata: dict[str, Rows]) -> Kind:
    """The same evidence of other rows: what is known of its shares stays, what was computed goes."""
    out = copy.copy(evidence)
    for name in list(vars(out)):
        if isinstance(getattr(type(out), name, None), cached_property):
            del out.__dict__[name]
    out.table = ScoreTable(strata)
    return out
