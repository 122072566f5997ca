"""Which model is better: differences with intervals, and whether the answer hangs on the prior."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations
from typing import Any

import numpy as np

from halftruth import checks
from halftruth.belief import Belief
from halftruth.checks import Vector
from halftruth.compared import Comparison, Difference
from halftruth.errors import InputError
from halftruth.evidence import Evidence, PositiveUnlabeled, Scenario
from halftruth.evidence.shares import Sizes
from halftruth.intervals import interval_of, normal_interval
from halftruth.measure import ScoreMeasure
from halftruth.results import INFLUENCE
from halftruth.support import Sums, Support
from halftruth.sweep import sweep
from halftruth.uncertainty import notes as remarks
from halftruth.uncertainty.influence import gradients, unsigned
from halftruth.uncertainty.paired import Apart, Together
from halftruth.uncertainty.prior_range import Range, alpha_bound, drawn_scenarios, prior_range
from halftruth.uncertainty.progress import progress
from halftruth.uncertainty.requests import Request, read_requests

N_PRIORS = 201
"""Priors at which the order of two models is looked at."""
MAX_ATOMS = 128
"""Distinct scores of each model on which rows are drawn for both: pairs of these are the cells."""
FEW_RESAMPLES = 1000
"""Resamples of what has no derivative, where none were asked for."""


def compare(
    models: Mapping[str, Evidence],
    metrics: str | Iterable[Any] | Mapping[str, Any] | None = None,
    *,
    paired: bool = True,
    threshold: float | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    rng: int | np.random.Generator = 0,
    stratified: bool | None = None,
) -> Comparison:
    """Differences between models, each with its interval, for every metric and every pair.

    Parameters
    ----------
    models : {name: evidence}
        At least two, of one kind and with the same prior and purity.
    metrics, threshold, confidence_level, n_resamples, rng, stratified
        As in `evaluate`.
    paired : bool
        True: the models scored the same cases, in the same order within each stratum, and rows are drawn
        together: errors that the models share cancel. False: the samples are independent.

    Returns
    -------
    Comparison
        ``comparison["roc_auc"]`` is the difference of two models, first minus second; of more than two,
        ``comparison["a", "b"]["roc_auc"]``. Each has the two values, the interval of their difference and
        the priors at which the order flips; ``dominant`` names a model whose curve is never below.

    Examples
    --------
    >>> import numpy as np, halftruth as ht
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(2000) < 0.3
    >>> good, poor = (ht.Labeled(y, rng.normal(shift * y)) for shift in (2, 1))
    >>> comparison = ht.compare({"good": good, "poor": poor}, ["roc_auc"])
    >>> comparison["roc_auc"].low > 0
    True
    """
    level = checks.confidence_level(confidence_level)
    n_resamples = checks.count(n_resamples, "n_resamples", least=0)
    limit = None if threshold is None else checks.threshold(threshold)
    if stratified not in (None, True, False):
        raise InputError(f"`stratified` must be True, False or None, got {stratified!r}.")
    if paired not in (True, False):
        raise InputError(f"`paired` must be True or False, got {paired!r}.")
    evidence = _checked(models)
    shared = _shared_range(evidence, level)
    requests = read_requests(metrics, [e.measure() for e in evidence.values()], limit)
    if metrics is None and paired:  # the same rows have the same share of positives
        requests = tuple(request for request in requests if request.label != "prevalence")
    keep = () if limit is None else (limit,)
    sides = {name: _Side(e, e.table.support.coarse(MAX_ATOMS, keep)) for name, e in evidence.items()}
    streams = np.random.default_rng(rng).spawn(len(sides) * (len(sides) - 1) // 2)
    pairs = {}
    for (a, b), stream in zip(combinations(sides, 2), streams, strict=True):
        match = _Match(sides[a], sides[b], requests, shared, keep, paired=paired, stratified=stratified)
        pairs[a, b] = match.differences(n_resamples, stream, level)
    of_each = [note for e in evidence.values() for note in remarks.on_evidence(e, by_default=metrics is None)]
    return Comparison(
        pairs=pairs,
        dominant=_dominant(sides),
        evidence={name: repr(e) for name, e in evidence.items()},
        paired=bool(paired),
        threshold=limit,
        notes=tuple(dict.fromkeys([*of_each, *shared.notes])),
    )


def _checked(models: Mapping[str, Evidence]) -> dict[str, Evidence]:
    if not isinstance(models, Mapping) or len(models) < 2:
        raise InputError(f"`models` must be {{name: evidence}} of at least two models, got {models!r}.")
    for name, evidence in models.items():
        if not isinstance(evidence, Evidence):
            raise InputError(
                f"`models` must hold evidence, got {type(evidence).__name__} for {name!r}. Wrap your arrays, "
                f"e.g. Labeled(y_true, y_score)."
            )
    (first, one), *others = models.items()
    for name, other in others:
        if other.kind != one.kind:
            raise InputError(f"{first!r} and {name!r} are different kinds of evidence: {one!r}, {other!r}.")
        for share in ("population", "prior", "purity"):
            if not _equal(getattr(one, share, None), getattr(other, share, None)):
                raise InputError(
                    f"{first!r} and {name!r} have different `{share}`. Models are compared on one "
                    f"population: give both the same."
                )
    named = {str(name): evidence for name, evidence in models.items()}
    if len(named) < len(models):
        raise InputError(f"`models` must have different names, got {list(models)}.")
    return named


def _equal(one: Any, other: Any) -> bool:
    return bool(one.equals(other)) if isinstance(one, Belief) else one == other


def _shared_range(evidence: Mapping[str, Evidence], level: float) -> Range:
    """The scenarios of all models: without a prior, those that no model's scores refute."""
    ranges = [prior_range(e, level) for e in evidence.values()]
    return min(ranges, key=lambda each: max((s.prior or 0.0) for s in each.scenarios))


Values = dict[Request, Vector]


@dataclass(frozen=True, eq=False)
class _Side:
    """One model: its evidence, and its rows joined to some distinct scores."""

    evidence: Evidence
    support: Support

    @cached_property
    def lifted(self) -> Sums:
        """The sums with one leading axis of length one."""
        return {column: values[None] for column, values in self.support.sums().items()}

    def values(self, requests: Iterable[Request], scenario: Scenario, sums: Sums) -> Values:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            measure = self.evidence.rule(sums, scenario).apply(self.support.score, sums)
            return {request: request.over(measure) for request in requests}

    def exact(self, requests: Iterable[Request], scenarios: tuple[Scenario, ...]) -> Values:
        """Values of the rows as they came, by scenario."""
        measures = [self.evidence.measure_at(scenario) for scenario in scenarios]
        return {r: np.asarray([r.at(measure) for measure in measures]) for r in requests}

    def near(self, requests: Iterable[Request], scenarios: tuple[Scenario, ...]) -> Values:
        """The same of the joined rows."""
        each = [self.values(requests, scenario, self.lifted) for scenario in scenarios]
        return {r: np.concatenate([one[r] for one in each]) for r in requests}

    @property
    def curve(self) -> ScoreMeasure:
        """The measure of the joined rows."""
        sums = self.support.sums()
        return self.evidence.rule(sums, self.evidence.scenario).apply(self.support.score, sums)


class _Match:
    """Two models on the same scenarios."""

    def __init__(
        self,
        a: _Side,
        b: _Side,
        requests: tuple[Request, ...],
        span: Range,
        keep: tuple[float, ...],
        *,
        paired: bool,
        stratified: bool | None,
    ) -> None:
        self.a, self.b, self.requests, self.span = a, b, requests, span
        one_sample = a.evidence.rows_are_one_sample if stratified is None else not stratified
        supports = a.support, b.support
        self.rows = (
            Together((a.evidence, b.evidence), supports, one_sample=one_sample, keep=keep)
            if paired
            else Apart(supports, one_sample=one_sample)
        )
        self.lone = a.evidence.lone_positive or b.evidence.lone_positive
        exact, near = (
            self._minus(*(values(side, requests, span.scenarios) for side in (a, b)))
            for values in (_Side.exact, _Side.near)
        )
        self.center = {r: _whole(exact[r]) for r in requests}
        self.shift = {r: np.zeros_like(exact[r]) if r.local else exact[r] - near[r] for r in requests}

    def _minus(self, a: Values, b: Values) -> Values:
        """First minus second; without a prior, of what is possible."""
        if self.span.unknown:
            a, b = ({r: np.clip(x, *_limits(r)) for r, x in each.items()} for each in (a, b))
        with np.errstate(invalid="ignore"):
            return {r: a[r] - b[r] for r in a}

    def differences(self, n: int, rng: np.random.Generator, level: float) -> dict[str, Difference]:
        squares = {} if self.lone or (n and not self.rows.joined) else self._variances()
        errors = {} if n else {r: np.sqrt(own) for r, (own, _) in squares.items()}
        rest = [] if self.lone else [request for request in self.requests if request not in errors]
        replicates = self._resample(n or FEW_RESAMPLES, rng, rest) if rest else {}
        for r in squares.keys() & replicates.keys():
            replicates[r] = _stretched(replicates[r], self.center[r], *squares[r])
        flips = self._flips(level)
        return {
            r.label: self._difference(r, errors.get(r), replicates.get(r), level, flips[r])
            for r in self.requests
        }

    def _difference(
        self,
        request: Request,
        errors: Vector | None,
        replicates: Vector | None,
        level: float,
        flips: tuple[float, ...],
    ) -> Difference:
        center = self.center[request]
        if self.lone:
            how, (low, high) = "none", (np.nan, np.nan)
        elif errors is not None:
            how, (low, high) = INFLUENCE, normal_interval(center, errors, level)
        else:
            assert replicates is not None  # what has no error was resampled
            how, (low, high) = "percentile", interval_of(replicates, center, level, "percentile")
            replicates = replicates[0] if len(replicates) == 1 else replicates
        sides = self.a.evidence, self.b.evidence
        a, b = (request.at(evidence.measure()) for evidence in sides)
        bounds = [request.compression(e, value) for e, value in zip(sides, (a, b), strict=True)]
        known = [bound for bound in bounds if bound is not None]
        return Difference(
            value=float(_whole(a - b)),
            compression=sum(known) if known else None,
            low=low,
            high=high,
            confidence_level=level,
            method=how,
            replicates=replicates,
            centers=center,
            errors=errors,
            values=(a, b),
            better=request.metric.better if request.metric else None,
            flips=flips,
        )

    def _resample(self, n: int, rng: np.random.Generator, requests: list[Request]) -> Values:
        scenarios = self.span.scenarios
        out = {r: np.empty((len(scenarios), n)) for r in requests}
        of_shares, start = rng.spawn(1)[0], 0
        with progress("Resampling", n, long=n * len(scenarios) * self.rows.n_cells > 30_000_000) as advance:
            for sums in self.rows.resampled(n, rng):
                size = next(iter(sums[0].values())).shape[0]
                part = slice(start, start + size)
                for i, scenario in enumerate(drawn_scenarios(self.a.evidence, scenarios, size, of_shares)):
                    a = self.a.values(requests, scenario, sums[0])
                    b = self.b.values(requests, scenario, sums[1])
                    for r, difference in self._minus(a, b).items():
                        out[r][i, part] = _whole(difference + self.shift[r][i])
                start += size
                advance(size)
        return out

    def _variances(self) -> dict[Request, tuple[Vector, Vector]]:
        """Variances (n_scenarios,) of smooth differences, in closed form: of rows, and of joined rows."""
        scenarios, sides = self.span.scenarios, (self.a, self.b)
        curves = all(unsigned(side.evidence.measure_at(s)) for side in sides for s in scenarios)
        requests = [request for request in self.requests if request.smooth(curves=curves)]
        rng = np.random.default_rng(0)
        drawn = drawn_scenarios(self.a.evidence, scenarios, FEW_RESAMPLES, rng, even=True)
        out = {r: (np.zeros(len(scenarios)), np.zeros(len(scenarios))) for r in requests}
        for i, scenario in enumerate(scenarios):
            a, b = (gradients(partial(side.values, requests, scenario), side.support) for side in sides)
            of_shares: dict[Request, float] = {}
            if drawn[i] is not scenario:
                x, y = (side.values(requests, drawn[i], side.lifted) for side in sides)
                of_shares = {r: _variance(values) for r, values in self._minus(x, y).items()}
            for r, (own, joined) in out.items():
                own[i] = self.rows.variance(a[r], b[r]) + of_shares.get(r, 0.0)
                joined[i] = self.rows.variance_of_joined(a[r], b[r]) + of_shares.get(r, 0.0)
        return out

    def _flips(self, level: float) -> dict[Request, tuple[float, ...]]:
        """Priors, among those not refuted, at which the better model becomes the worse."""
        evidence, other = self.a.evidence, self.b.evidence
        if not (isinstance(evidence, PositiveUnlabeled) and isinstance(other, PositiveUnlabeled)):
            return dict.fromkeys(self.requests, ())
        priors, given = _not_refuted(evidence, other, level=level)
        scenario = Scenario(prior=given, purity=evidence.purity.value)
        difference = self._minus(*(s.values(self.requests, scenario, s.lifted) for s in (self.a, self.b)))
        return {r: _roots(priors, np.broadcast_to(difference[r], priors.shape)) for r in self.requests}


def _limits(request: Request) -> tuple[float, float]:
    return request.metric.limits if request.metric else (-np.inf, np.inf)


def _variance(values: Vector) -> float:
    defined = values[np.isfinite(values)]
    return float(defined.var()) if len(defined) else np.nan


def _stretched(replicates: Vector, center: Vector, own: Vector, joined: Vector) -> Vector:
    """Replicates of joined rows with the spread of the rows themselves."""
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.sqrt(own / joined)
        out = center[:, None] + factor[:, None] * (replicates - center[:, None])
    return np.where(np.isfinite(out), out, replicates)


def _whole(difference: Any) -> Any:
    """A difference by rounding alone is none."""
    return np.where(np.abs(difference) < 1e-12, 0.0, difference)


def _not_refuted(*models: PositiveUnlabeled, level: float) -> tuple[Vector, Vector]:
    """Priors up to the largest that neither model's scores refute: π, and as the user's prior is read."""
    one, top = models[0], min(alpha_bound(model, level) for model in models)
    alpha = np.linspace(0, min(top, 0.999), N_PRIORS + 1)[1:]
    of_all = np.asarray(Sizes.of(one.table.support.sums()).pi(alpha, one.purity.value))
    shares = {"unlabeled": alpha, "all": of_all}
    return shares[one.population], shares[one.prior.population or one.population]


def _roots(x: Vector, y: Vector) -> tuple[float, ...]:
    """Where a broken line through (x, y) changes its sign."""
    kept = np.isfinite(y) & (np.abs(y) > 1e-12)
    x, y = x[kept], y[kept]
    turn = np.flatnonzero(np.sign(y[1:]) != np.sign(y[:-1]))
    return tuple(float(x[i] - y[i] * (x[i + 1] - x[i]) / (y[i + 1] - y[i])) for i in turn)


def _dominant(sides: Mapping[str, _Side]) -> str | None:
    """The model whose ROC curve is nowhere below that of another.

    Where noise makes that curve turn back, the one that finds at least as many positives at every size of the
    selection, which is the same at every prior.
    """
    measures = {name: side.curve for name, side in sides.items()}
    if any(measure.shapeless for measure in measures.values()):
        return None
    roc = all(map(unsigned, measures.values()))
    curves = {}
    for name, line in ((name, sweep(measure)) for name, measure in measures.items()):
        curves[name] = line.fpr if roc else line.predicted / line.total, line.tpr
    x = np.unique(np.concatenate([curve[0] for curve in curves.values()]))
    lines = {name: _limits_at(x, *curve) for name, curve in curves.items()}
    best = np.max(list(lines.values()), axis=0)
    names = [name for name, line in lines.items() if (line >= best - 1e-12).all()]
    return names[0] if len(names) == 1 else None


def _limits_at(x: Vector, x_of: Vector, y_of: Vector) -> Vector:
    """Where a line comes to and where it goes on, at each x; they differ where it rises upright."""
    return np.concatenate([np.interp(-x, -x_of[::-1], y_of[::-1]), np.interp(x, x_of, y_of)])
