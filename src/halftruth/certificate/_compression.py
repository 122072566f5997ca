"""What compression can do to a metric: a bound that no table with this histogram can break."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from itertools import product
from typing import Any, cast

import numpy as np

from halftruth._checks import Vector
from halftruth._errors import EmptyClassWarning
from halftruth._registry import REGISTRY
from halftruth.certificate import _box_calibration, _box_curves, _box_losses, _box_rates
from halftruth.certificate._boxes import HALF_STEP, ROUNDING, Boxes, Interval
from halftruth.evidence import Evidence
from halftruth.measure._arithmetic import OwnMass
from halftruth.metrics._record import Metric
from halftruth.table._histogram import UNIT, Bins
from halftruth.table._score_table import SOFT

__all__ = ["bound"]


def bound(evidence: Evidence, name: str, parameters: Mapping[str, Any] | None = None) -> float | None:
    """How far a metric of histogram evidence can lie from that of the rows it was made from.

    Bins end at exact points of every curve. Inside a bin the order of the rows is open, but for the lowest
    and the highest score of each stratum: all that the metric can then be is an interval, and the bound is
    its farther end. The prior is taken as given. The bound is 0 where the table holds exact rows; inf where
    some table with this histogram leaves the metric undefined, or no bound is known; None where nothing is
    certified: metrics without a certificate, and evidence whose bins have none.
    """
    if evidence.table.grid is None:
        return 0.0
    metric, measure = REGISTRY.get(name), evidence.measure()
    if metric is None or metric.certificate is None or not evidence.bins_are_certified:
        return None
    metric.bind(**(parameters or {}))  # refuses what the metric does not take
    known = metric.with_defaults(parameters or {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptyClassWarning)
        value = float(metric.function(measure, **known))
    if "boxes" not in measure.memo:
        measure.memo["boxes"] = _boxes(evidence)
    box: Boxes = measure.memo["boxes"]
    if metric.probability and not box.within_unit:
        return np.inf
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        low, high = _interval(metric, box, known)
    if evidence.is_proper:
        low, high = max(low, metric.limits[0]), min(high, metric.limits[1])
    if np.isnan([value, low, high]).any():
        return np.inf
    return float(max(high - value, value - low, 0.0) + ROUNDING * box.condition * (1 + abs(value)))


def _interval(metric: Metric, box: Boxes, parameters: Mapping[str, Any]) -> Interval:
    """All that the metric can be over the tables with this histogram."""
    if metric.certificate != "own":
        return _box_rates.rate(metric, box, **parameters)
    homes = (_box_rates, _box_curves, _box_losses, _box_calibration)
    certificate = next(getattr(home, metric.name) for home in homes if hasattr(home, metric.name))
    low, high = certificate(box, **parameters)
    return low, high


def _boxes(evidence: Evidence) -> Boxes:
    measure, strata = evidence.measure(), cast("Mapping[str, Bins]", evidence.table.strata)
    mass, pos, wobble = _coefficients(evidence)
    return Boxes.of(
        list(strata.values()),
        mass=mass,
        pos=pos,
        wobble=wobble,
        size=measure.size,
        unidentified=measure.unidentified,
        owns=_owns(evidence),
    )


def _owns(evidence: Evidence) -> list[OwnMass]:
    """What a known positive's own part in precision may be, as bins do not say what one row weighs."""
    sums, units, strata = evidence.table.support.sums(), evidence.own_units, evidence.table.strata
    pos_mass = evidence.rule(sums, evidence.scenario).pos_mass
    return [
        evidence.own_mass(
            sums,
            pos_mass,
            {name: {k: unit * factor for k, unit in units[name].items()} for name, factor in chosen},
        )
        for chosen in product(
            *([(name, x) for x in _unit_factors(cast(Bins, strata[name]))] for name in units)
        )
    ]


def _unit_factors(bins: Bins) -> list[float]:
    """By what the weight of one row, Σw²/Σw in bins, must be multiplied to be that of the rows."""
    if bins.weight is None:
        return [1.0]
    total, squares = bins.size
    off = 2 * len(bins) * HALF_STEP * (1 / total + 1 / squares)
    # Whole weights count rows, of which each weighs one.
    whole = not any((sums % UNIT).any() for sums in (bins.weight, bins.full("square")))
    return [1 - off, 1 + off, *([total / squares] if whole else [])]


def _coefficients(evidence: Evidence) -> tuple[Vector, Vector, Vector]:
    """Of the strata in μ and μ₁, and how far those in μ₁ can be off.

    Rules read no more of the rows than the totals of the strata. Of soft labels, the positives and the
    negatives are two strata.
    """
    if SOFT in evidence.table.strata:
        return np.ones(2), np.asarray([1.0, 0.0]), np.zeros(2)
    strata = evidence.table.strata
    totals = np.asarray([bins.size[0] for bins in strata.values()])
    slip = np.asarray([0.0 if x.weight is None else len(x) * HALF_STEP for x in strata.values()])

    def coefficients(totals: Vector) -> tuple[Vector, Vector]:
        sums = {(k, "weight"): np.asarray([t]) for k, t in zip(strata, totals, strict=True)}
        rule = evidence.rule(sums, evidence.scenario)
        mass, pos = (
            np.asarray([float(of.get((k, "weight"), 0.0)) for k in strata])
            for of in (rule.mass, rule.pos_mass)
        )
        return mass, pos

    mass, pos = coefficients(totals)
    # Linear-fractional in each total, so farthest at the corners; twice that leaves room for the rest.
    corners = [coefficients(totals + slip * signs)[1] for signs in product((-1, 1), repeat=len(strata))]
    return mass, pos, 2 * np.max(np.abs(corners - pos), axis=0)
