"""Requests: the rows of an evaluation, as functions of a measure."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from halftruth import _registry
from halftruth._checks import Vector
from halftruth._errors import EmptyClassWarning, InputError, NotIdentifiable, arg
from halftruth._registry import Metric
from halftruth.certificate import _compression
from halftruth.evidence import Evidence, Scenario
from halftruth.measure._arithmetic import NOTHING
from halftruth.measure._score_measure import ScoreMeasure
from halftruth.measure._tilt import Tilt
from halftruth.table._resampling import Places
from halftruth.table._support import Sums, Support, with_batch_axis

__all__ = ["ALPHA", "PRIOR", "ModelRows", "Request", "Values", "read_requests", "thresholds_of"]

FINE_ATOMS = 1 << 14  # distinct scores on which it is seen what a tilt changes in very many rows


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

    def moved(self, value: Vector | float, measure: ScoreMeasure, tilt: Tilt) -> Vector:
        """Of a distance: an outer bound of it over all laws that selection allows, on the tilt's side."""
        assert self.metric is not None
        reach = self.metric.reach(measure.prior, tilt, self.parameters)
        return np.asarray(np.clip(value + (reach if tilt.upward else -reach), *self.limits))

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
            rule = self.evidence.rule(sums, scenario)
            of = (
                sums,
                scenario.prior,
                scenario.purity,
                scenario.identified_by,
            )
            # The two extreme laws come after the plain one, of which they need the masses and the distances.
            last = self._last.get("of", ())
            same = len(last) == len(of) and all(a is b for a, b in zip(of, last, strict=True))
            if rule.tilt is None or not same:
                before = replace(rule, tilt=None).apply(self.support.score, sums)
                self._last.update(of=of, measure=before, values={})
            before, known = self._last["measure"], self._last["values"]
            if rule.tilt is None:
                known |= {request: request.over(before) for request in requests}
                return {request: known[request] for request in requests}
            measure, out = rule.tilted(before), {}
            for r in requests:
                if r not in known and (r.is_distance or rule.tilt.still):
                    known[r] = r.over(before)
                if r.is_distance:
                    out[r] = r.moved(known[r], before, rule.tilt)
                else:
                    out[r] = known[r] if rule.tilt.still else r.over(measure)
            return out

    @cached_property
    def _last(self) -> dict[str, Any]:
        """The measure of the last sums under SCAR, and values of it."""
        return {}

    def exact(self, requests: Iterable[Request], scenarios: tuple[Scenario, ...]) -> Values:
        """Values of the rows as they came, by scenario."""
        by_scenario = [self._exact(tuple(requests), scenario) for scenario in scenarios]
        return {r: np.asarray([values[r] for values in by_scenario]) for r in requests}

    def _exact(self, requests: tuple[Request, ...], scenario: Scenario) -> dict[Request, float]:
        plain = replace(scenario, extreme=None)
        before = self.evidence.measure_at(plain)
        if scenario.extreme is None:
            return {r: r.at(before) for r in requests}
        full = self.evidence.table.support
        rule = self.evidence.rule(full.sums(), scenario)
        out = {}
        if rule.tilt is not None:
            distances = (r for r in requests if r.is_distance)
            out = {r: float(r.moved(r.at(before), before, rule.tilt)) for r in distances}
        rest = [r for r in requests if r not in out]
        # What a tilt changes is smooth in the rows: of very many, some thousands of joined ones tell it.
        if full.of_many_rows or len(full.score) > 2 * FINE_ATOMS:
            near = self._fine.near(rest, (plain, scenario))
            return out | {r: r.at(before) + float(np.diff(x)[0]) for r, x in near.items()}
        measure = rule.over(full)
        return out | {r: r.at(measure) for r in rest}

    @cached_property
    def _fine(self) -> ModelRows:
        return ModelRows(self.evidence, self.evidence.table.support.coarse(FINE_ATOMS))

    def by_atom(self, requests: Iterable[Request], scenario: Scenario) -> Values:
        """Of what is linear in μ₁: its value where all positives had the score of one atom, by atom."""
        rule = replace(self.evidence.rule(self.joined, scenario), own=NOTHING)
        measure = rule.apply(self.support.score, self.joined)
        pos = np.eye(len(self.support.score)) * measure.positives[..., None]
        mass = np.broadcast_to(measure.mass, pos.shape)
        each = replace(measure, mass=mass, pos_mass=pos, neg_mass=mass - pos, memo={})
        return {r: r.over(each) for r in requests}

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


def thresholds_of(requests: Iterable[Request]) -> list[float]:
    """The thresholds at which rates are asked for."""
    found = (request.parameters.get("threshold") for request in requests)
    return [float(threshold) for threshold in found if threshold is not None]


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
