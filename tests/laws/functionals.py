"""Every registered functional with its parameters, and how two results are compared."""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Any

import pytest

import halftruth as ht
from halftruth._errors import NotIdentifiable
from halftruth._registry import REGISTRY, Metric
from halftruth.measure._arithmetic import NOTHING
from halftruth.measure._score_measure import as_measure

ignore_empty_class = pytest.mark.filterwarnings("ignore::halftruth._errors.EmptyClassWarning")
"""A sample of a few rows may lack a class: its metrics are NaN, with a warning that other tests see to."""

FIXED: dict[str, dict[str, Any]] = {
    "calibration_error": {"n_bins": 5, "binning": "width"},
    "maximum_calibration_error": {"n_bins": 5, "binning": "width"},
}
"""Parameters that take the number of rows out of a metric with ``unit_laws=False``, where there are any."""

MORE: dict[str, list[dict[str, Any]]] = {
    "fbeta": [{"beta": 0.5}],
    "partial_auc": [{"max_fpr": 0.5}, {"max_fpr": 0.25, "standardize": False}, {"max_fpr": 1.0}],
    "precision_at_k": [{"k": 0.5}],
    "recall_at_k": [{"k": 0.5}],
    "recall_at_fpr": [{"max_fpr": 0.25}, {"max_fpr": 0.0}],
    "risk": [
        {},
        {"loss": "squared"},
        {"loss": "ramp"},
        {"loss": "zero_one"},
        {"loss": "zero_one", "threshold": 0.5},
    ],
    "calibration_error": [
        {"n_bins": 4, "binning": "width", "norm": 2},
        {"n_bins": 4, "binning": "width", "norm": "max"},
    ],
    "ks_calibration_error": [{"statistic": "kuiper"}],
    "logit_smoothed_calibration_error": [{"sigma": 1.0}],
}
"""Further parameters worth trying; a metric that is not named here is tried with its example."""

COUNTING: dict[str, list[dict[str, Any]]] = {
    "precision_at_k": [{"k": 1}],
    "recall_at_k": [{"k": 1}],
    "calibration_error": [{"n_bins": 3, "binning": "mass"}, {"n_bins": 1, "binning": "mass"}],
    "adaptive_calibration_error": [{}, {"n_bins": 3}],
    "maximum_calibration_error": [{"n_bins": 3}],
    "sweep_calibration_error": [{}, {"norm": 2}, {"norm": "max"}],
}
"""Parameters under which the number of rows matters, not only their distribution."""


LOOSE = {"logit_smoothed_calibration_error": 2e-5, "brier_skill": 1e-9}
"""How far rounding of the masses can move a value: a kink that crosses a node of a grid, a division by π(1−π)."""


@dataclass(frozen=True, eq=False)
class Setting:
    """A functional with its parameters."""

    metric: Metric
    parameters: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.metric.name}({', '.join(f'{k}={v!r}' for k, v in self.parameters.items())})"

    def at(self, threshold: float) -> dict[str, Any]:
        """All arguments; a threshold probability must lie below 1."""
        if not self.metric.threshold:
            return self.parameters
        if self.metric.probability:
            threshold = min(max(threshold, 0.0), 0.9375)
        return {**self.parameters, "threshold": threshold}

    def of(self, evidence: object, threshold: float) -> float | str:
        """The value, or in words why there is none."""
        try:
            return float(self.metric.function(evidence, **self.at(threshold)))
        except NotIdentifiable:
            return "not identifiable"
        except ht.InputError as error:
            # Scores that are no probabilities, or fewer rows than k: an outcome like any other.
            return f"refused: {str(error).split(',')[0]}"


def _settings() -> tuple[list[Setting], list[Setting], list[Setting]]:
    unit_free, counting, unit_bound = [], [], []
    for metric in REGISTRY.values():
        example = dict(metric.example)
        if metric.unit_laws:
            unit_free.append(Setting(metric, example))
        else:
            if metric.name in FIXED:
                unit_free.append(Setting(metric, example | FIXED[metric.name]))
            if {} not in COUNTING.get(metric.name, ()):
                unit_bound.append(Setting(metric, example))
        unit_free += [Setting(metric, example | more) for more in MORE.get(metric.name, ())]
        counting += [Setting(metric, example | more) for more in COUNTING.get(metric.name, ())]
    return unit_free, counting, unit_bound


UNIT_FREE, _COUNTING, _UNIT_BOUND = _settings()
"""Every functional, with parameters under which only the distribution of the rows matters."""

WEIGHED = UNIT_FREE + _COUNTING
"""Also those that depend on the number of rows, in which a row of weight two is two rows."""

ALL = WEIGHED + _UNIT_BOUND
"""Also those in which weights may count otherwise: ``unit_laws`` is False and nothing is fixed."""

JUDGED = [setting for setting in ALL if setting.metric.name in ("average_precision", "pr_auc")]
"""Areas that leave one known positive out of its own precision: with partial labels, rows are counted."""

DEBIASED = [
    Setting(REGISTRY["calibration_error"], {"n_bins": 5, "debias": debias, **more})
    for debias in ("corrected", "posterior")
    for more in ({}, {"binning": "width"}, {"binning": "width", "norm": 2})
]
"""Errors less their noise, which only evidence knows: no measure that is made by hand has them."""

ROOT = 1e-7
"""How near those come: what noise leaves over of a square may be a rounding error, and they take its root."""

RANKING = [setting for setting in ALL if setting.metric.ranking]


def same(one: float | str, other: float | str, tolerance: float) -> bool:
    """Equal to the bit where the tolerance is 0, else relatively (absolutely below 1). NaN equals NaN."""
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return one == other or abs(one - other) <= tolerance * max(1.0, abs(one), abs(other))


def bare(evidence: object) -> ht.ScoreMeasure:
    """The masses alone, without what evidence knows of one row."""
    measure = as_measure(evidence, "nothing")
    return replace(measure, own=NOTHING, noise=None, memo={})


Values = dict[Setting, float | str]


def content(evidence: object) -> bytes:
    """All that a functional can read of evidence or a measure, to the bit."""
    measure = as_measure(evidence, "nothing")
    held = {one.name: getattr(measure, one.name) for one in fields(measure) if one.name != "memo"}
    return pickle.dumps((type(measure), held))


@lru_cache(maxsize=8)
def _known(content: bytes, threshold: float) -> Values:
    """The values worked out so far of one content; filled by `values`."""
    return {}


def values(evidence: object, threshold: float, settings: Iterable[Setting]) -> Values:
    """Each functional of evidence or a measure; where measures agree to the bit, it is worked out once.

    That a functional reads nothing but the measure is a law of its own, in `test_rows`.
    """
    known = _known(content(evidence), threshold)
    settings = list(settings)
    for setting in settings:
        if setting not in known:
            known[setting] = setting.of(evidence, threshold)
    return {setting: known[setting] for setting in settings}


def unlike(one: Values, other: Values, tolerance: float = 0.0) -> dict[str, tuple[float | str, float | str]]:
    """The functionals of the second that do not agree with the first.

    What magnifies rounding agrees no better than that, unless it must agree to the bit.
    """
    out = {}
    for setting, value in other.items():
        loose = max(tolerance, LOOSE.get(setting.metric.name, 0.0)) if tolerance else 0.0
        if not same(one[setting], value, loose):
            out[str(setting)] = one[setting], value
    return out


def differences(
    one: object,
    other: object,
    threshold: float,
    *,
    other_threshold: float | None = None,
    settings: Iterable[Setting] = UNIT_FREE,
    tolerance: float = 0.0,
) -> dict[str, tuple[float | str, float | str]]:
    """The functionals that two pieces of evidence, or two measures, do not agree on."""
    second = threshold if other_threshold is None else other_threshold
    return unlike(values(one, threshold, settings), values(other, second, settings), tolerance)
