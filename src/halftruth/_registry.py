"""The one list of metrics, collected from the records beside their functions.

A metric joins `evaluate`, the scorers, the command line, the report, the index of metrics, and every law and
oracle test by its record alone.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

from halftruth._errors import InputError
from halftruth.calibration import _binned_errors, _binomial_process, _smooth_errors, _sweep_errors
from halftruth.measure._score_measure import ScoreMeasure
from halftruth.metrics import _areas, _decision, _mean_losses, _rates
from halftruth.metrics._record import DECLARED, Metric

__all__ = ["REGISTRY", "Metric", "default_rows", "get", "headline", "titled"]

_HOMES = (
    _rates,
    _decision,
    _areas,
    _mean_losses,
    _binned_errors,
    _sweep_errors,
    _smooth_errors,
    _binomial_process,
)

# By home, not by the order in which modules happened to be imported.
REGISTRY: Mapping[str, Metric] = {
    metric.name: metric
    for home in _HOMES
    for metric in DECLARED.values()
    if metric.function.__module__ == home.__name__
}


def get(name: str) -> Metric:
    """A metric by its name."""
    if name not in REGISTRY:
        word = str(name).lower().replace("-", "_")
        near = next((metric.name for metric in REGISTRY.values() if word in metric.aliases), None) or next(
            iter(difflib.get_close_matches(word, REGISTRY, n=1, cutoff=0.6)), ""
        )
        guess = f"Did you mean {near!r}? " if near else ""
        raise InputError(f"There is no metric {name!r}. {guess}Known: {', '.join(REGISTRY)}.")
    return REGISTRY[name]


def default_rows(measure: ScoreMeasure, threshold: float | None) -> tuple[str, ...]:
    """The rows of an evaluation where none are asked for: of all thresholds first, then those at one."""
    shown = [metric for metric in REGISTRY.values() if metric.default or metric.headline]
    of_scores = [m.name for m in shown if not m.threshold and (measure.bounded or not m.probability)]
    at_threshold = [m.name for m in shown if m.threshold and threshold is not None]
    return (*of_scores, *at_threshold)


def titled(label: str) -> tuple[str, str]:
    """How a row is called in sentences and tables, and what it says, where that is known."""
    metric = REGISTRY.get(label)
    if metric is None or not metric.title:
        return label.replace("_", " "), ""
    return metric.title, metric.meaning


def headline(labels: Iterable[str]) -> str:
    """The row that is told first: only the first three metrics can speak for a model by themselves."""
    rows = list(labels)
    places = {label: REGISTRY[label].headline or 0 for label in rows if label in REGISTRY}
    leading = [label for label, place in places.items() if 1 <= place <= 3]
    return min(leading, key=places.__getitem__, default=rows[0])
