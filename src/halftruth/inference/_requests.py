"""Requests: the rows of an evaluation, as functions of a measure."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from halftruth import _registry
from halftruth._checks import Vector
from halftruth._errors import EmptyClassWarning, InputError, NotIdentifiable, arg
from halftruth._registry import Metric
from halftruth.certificate import _compression
from halftruth.evidence import Evidence, Scenario
from halftruth.measure._score_measure import ScoreMeasure
from halftruth.table._resampling import Places
from halftruth.table._support import Sums, Support, with_batch_axis

__all__ = ["ALPHA", "PRIOR", "ModelRows", "Request", "Values", "read_requests"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Request:
    """One row of an evaluation: its label and what to compute from a measure."""

    label: str
    call: Callable[[ScoreMeasure], Any]
    metric: Metric | None = None
    limits: tuple[float, float] = (-np.inf, np.inf)
    """What is possible."""
    batched: bool = True
    """Whether ``call`` takes many measures at once, as all of halftruth's own functionals do."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The metric's parameters that were given."""
        return self.call.keywords if isinstance(self.call, partial) else {}

    @property
    def counts_rows(self) -> bool:
        """Whether it is made of shares of rows: on the sides of a threshold, or of a class."""
        if self.metric is None:
            return self in (PRIOR, ALPHA)
        return self.metric.of_confusion is not None or self.metric.name == "prevalence"

    @property
    def local(self) -> bool:
        return self.metric is not None and self.metric.local

    @property
    def places(self) -> Places:
        """Where rows that were not seen count: rates and budgets are decided at the ends."""
        return "ends" if self.counts_rows or self.local else "anywhere"

    @property
    def is_distance(self) -> bool:
        """Whether noise adds to it in quadrature."""
        return self.metric is not None and self.metric.distance

    @property
    def inflated(self) -> bool:
        """Whether noise adds to the value: a distance that was not debiased."""
        return self.is_distance and not self.parameters.get("debias")

    @property
    def of_margins(self) -> bool:
        """Whether it reads scores as margins, by a loss of them."""
        return self.metric is not None and self.metric.scale(self.parameters) == "margin"

    def smooth(self, *, curves: bool) -> bool:
        """Whether it has a derivative; of callables nobody knows."""
        return self.batched and (self.metric is None or self.metric.smooth(unsigned=curves))

    def compression(self, evidence: Evidence, value: float) -> float | None:
        """How far the value can lie from that of the rows, where the table is a histogram of them."""
        if evidence.table.grid is None or self.metric is None or np.isnan(value):
            return None
        return _compression.bound(evidence, self.metric.name, self.parameters)

    def over(self, measure: ScoreMeasure) -> Vector:
        """The value for each measure along the first axis; NaN where it is not identified."""
        try:
            if self.batched:
                out = np.asarray(self.call(measure), dtype=np.float64)
            else:
                out = np.asarray([self._number(measure[i]) for i in range(measure.shape[0])])
        except NotIdentifiable:
            return np.full(measure.shape, np.nan)
        return np.broadcast_to(out, measure.shape)

    def at(self, measure: ScoreMeasure) -> float:
        """The value of one measure; NaN where it is not identified."""
        try:
            return self._number(measure)
        except NotIdentifiable:
            return np.nan

    def _number(self, measure: ScoreMeasure) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EmptyClassWarning)
            value = self.call(measure)
        try:
            return float(value)
        except (TypeError, ValueError):
            raise InputError(
                f"The metric {self.label!r} must return one number, got {type(value).__name__}."
            ) from None


Values = dict[Request, Vector]


@dataclass(frozen=True, eq=False)
class ModelRows:
    """One model: its evidence, and its rows joined to some distinct scores."""

    evidence: Evidence
    support: Support

    @cached_property
    def joined(self) -> Sums:
        """The sums of the joined rows, with one leading axis of length one."""
        return with_batch_axis(self.support.sums())

    def values(self, requests: Iterable[Request], scenario: Scenario, sums: Sums) -> Values:
        """Values of these sums of the joined rows."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            measure = self.evidence.rule(sums, scenario).apply(self.support.score, sums)
            return {request: request.over(measure) for request in requests}

    def exact(self, requests: Iterable[Request], scenarios: tuple[Scenario, ...]) -> Values:
        """Values of the rows as they came, by scenario."""
        measures = [self.evidence.measure_at(scenario) for scenario in scenarios]
        return {r: np.asarray([r.at(measure) for measure in measures]) for r in requests}

    def near(self, requests: Iterable[Request], scenarios: tuple[Scenario, ...]) -> Values:
        """The same of the joined rows."""
        by_scenario = [self.values(requests, scenario, self.joined) for scenario in scenarios]
        return {r: np.concatenate([values[r] for values in by_scenario]) for r in requests}


PRIOR = Request(label="π", call=lambda measure: measure.prior, limits=(0.0, 1.0))
ALPHA = Request(
    label="α", call=lambda measure: np.nan if measure.alpha is None else measure.alpha, limits=(0.0, 1.0)
)


def read_requests(
    metrics: Any, measures: Sequence[ScoreMeasure], threshold: float | None
) -> tuple[Request, ...]:
    """What a `metrics` argument asks for; by default the rows that all of the measures allow."""
    if metrics is None:
        least = next((measure for measure in measures if not measure.bounded), measures[0])
        metrics = _registry.default_rows(least, threshold)
    elif isinstance(metrics, str) or callable(metrics):
        metrics = (metrics,)
    elif not isinstance(metrics, Iterable):
        raise InputError(f"{arg('metrics')} takes names, callables or {{label: metric}}, got {metrics!r}.")
    pairs = metrics.items() if isinstance(metrics, Mapping) else ((None, item) for item in metrics)
    requests = tuple(_request(label, item, threshold) for label, item in pairs)
    labels = [request.label for request in requests]
    twice = {label for label in labels if labels.count(label) > 1}
    if twice or not labels:
        raise InputError(
            argument="metrics",
            must="name each row once",
            got=f"{sorted(twice) or 'none'}",
            remedy="Use {label: metric} to tell rows apart.",
        )
    return requests


def _request(label: str | None, item: Any, threshold: float | None) -> Request:
    if isinstance(item, str):
        metric = _registry.get(item)
        return Request(label=label or item, call=metric.bind(threshold), metric=metric, limits=metric.limits)
    if not callable(item):
        raise InputError(f"{arg('metrics')} takes names and callables, got {item!r}.")
    inner, parameters = (item.func, item.keywords) if isinstance(item, partial) else (item, {})
    name = label or str(getattr(inner, "__name__", type(inner).__name__))
    known = next((m for m in _registry.REGISTRY.values() if m.function is inner), None)
    if known is None or (isinstance(item, partial) and item.args):
        return Request(label=name, call=item, batched=False)
    return Request(label=name, call=known.bind(threshold, **parameters), metric=known, limits=known.limits)
