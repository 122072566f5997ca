"""What compression can do to a metric: a bound that no table with this histogram can break."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from halftruth import _registry
from halftruth._checks import Vector
from halftruth._errors import EmptyClassWarning
from halftruth.certificate import _box_calibration, _box_curves, _box_losses, _box_rates
from halftruth.certificate._boxes import ROUNDING, Boxes, Interval
from halftruth.evidence import Evidence
from halftruth.table._score_table import SOFT

FAMILIES: Mapping[str, Callable[..., Interval]] = {
    "prevalence": _box_rates.prevalence,
    **{name: partial(_box_rates.rate, name) for name in _box_rates.RATES},
    "roc_auc": _box_curves.roc_auc,
    "partial_auc": _box_curves.partial_auc,
    "recall_at_fpr": _box_curves.recall_at_fpr,
    "precision_at_k": _box_curves.precision_at_k,
    "recall_at_k": _box_curves.recall_at_k,
    "average_precision": partial(_box_curves.precision_area, False),
    "pr_auc": partial(_box_curves.precision_area, True),
    "brier": _box_losses.brier,
    "brier_skill": _box_losses.brier_skill,
    "log_loss": _box_losses.log_loss,
    "risk": _box_losses.risk,
    "calibration_error": _box_calibration.calibration_error,
}


def bound(evidence: Evidence, name: str, parameters: Mapping[str, Any] | None = None) -> float | None:
    """How far a metric of histogram evidence can lie from that of the rows it was made from.

    Bins end at exact points of every curve. Inside a bin the order of the rows is open, but for the lowest
    and the highest score of each stratum: all that the metric can then be is an interval, and the bound is
    its farther end. The prior is taken as given.

    Parameters
    ----------
    evidence : evidence
        0 where its table holds exact rows.
    name : str
        A name of the registry.
    parameters : mapping, optional
        The metric's parameters.

    Returns
    -------
    bound : float or None
        inf where some table with this histogram leaves the metric undefined, or no bound is known; None where
        nothing is certified: other metrics, and evidence whose bins are not.
    """
    if evidence.table.grid is None:
        return 0.0
    if name not in FAMILIES or not evidence.bins_are_certified:
        return None
    metric, measure = _registry.get(name), evidence.measure()
    metric.bind(**(parameters or {}))  # refuses what the metric does not take
    called = inspect.signature(metric.function).bind(None, **(parameters or {}))
    called.apply_defaults()
    known = {key: value for key, value in called.arguments.items() if key != "evidence"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptyClassWarning)
        value = float(metric.function(measure, **known))
    if "boxes" not in measure.memo:
        measure.memo["boxes"] = _boxes(evidence)
    box: Boxes = measure.memo["boxes"]
    if metric.probability and not box.within_unit:
        return np.inf
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        low, high = FAMILIES[name](box, **known)
    if evidence.is_proper:
        low, high = max(low, metric.limits[0]), min(high, metric.limits[1])
    if np.isnan([value, low, high]).any():
        return np.inf
    return float(max(high - value, value - low, 0.0) + ROUNDING * box.condition * (1 + abs(value)))


def _boxes(evidence: Evidence) -> Boxes:
    """The boxes of evidence."""
    measure = evidence.measure()
    strata: Mapping[str, Any] = evidence.table.strata
    mass, pos, wobble = _coefficients(evidence)
    return Boxes.of(
        list(strata.values()),
        mass=mass,
        pos=pos,
        wobble=wobble,
        size=measure.size,
        unidentified=measure.unidentified,
    )


def _coefficients(evidence: Evidence) -> tuple[Vector, Vector, Vector]:
    """Of the strata in μ and μ₁, and how far those in μ₁ can be off.

    Rules read no more of the rows than the totals of the strata. Of soft labels, the positives and the
    negatives are two strata.
    """
    if SOFT in evidence.table.strata:
        return np.ones(2), np.asarray([1.0, 0.0]), np.zeros(2)
    strata: Mapping[str, Any] = evidence.table.strata
    totals = np.asarray([bins.size[0] for bins in strata.values()])
    slip = np.asarray([0.0 if x.weight is None else len(x) * 2.0**-33 for x in strata.values()])

    def coefficients(at: Any) -> tuple[Any, Any]:
        sums = {(k, "weight"): np.asarray([t]) for k, t in zip(strata, at, strict=True)}
        rule = evidence.rule(sums, evidence.scenario)
        mass, pos = (
            np.asarray([float(part.get((k, "weight"), 0.0)) for k in strata])
            for part in (rule.mass, rule.pos_mass)
        )
        return mass, pos

    mass, pos = coefficients(totals)
    # Linear-fractional in each total, so farthest at the corners; twice that leaves room for the rest.
    corners = [coefficients(totals + slip * signs)[1] for signs in product((-1, 1), repeat=len(strata))]
    return mass, pos, 2 * np.max(np.abs(corners - pos), axis=0)
