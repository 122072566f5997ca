"""The daily call: evidence in, true metrics with honest intervals out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from halftruth import checks, registry
from halftruth.checks import Vector
from halftruth.errors import EmptyClassWarning, InputError, NotIdentifiable
from halftruth.evidence import Evidence, Scenario
from halftruth.intervals import METHODS, interval_of
from halftruth.measure import ScoreMeasure
from halftruth.registry import Metric
from halftruth.results import Estimate, Evaluation
from halftruth.support import Sums, Support
from halftruth.uncertainty import notes as remarks
from halftruth.uncertainty.bootstrap import resampled_sums
from halftruth.uncertainty.prior_range import Range, prior_range
from halftruth.uncertainty.progress import progress

MAX_ATOMS = 512
"""Distinct scores on which resamples are drawn; see `Support.coarse`."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Request:
    """One row of an evaluation: its label and what to compute from a measure."""

    label: str
    call: Callable[[ScoreMeasure], Any]
    metric: Metric | None = None
    batched: bool = True
    """Whether ``call`` takes many measures at once, as all of halftruth's own functionals do."""

    @property
    def local(self) -> bool:
        return self.metric is not None and self.metric.local

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


PRIOR = Request(label="π", call=lambda measure: measure.prior)
ALPHA = Request(label="α", call=lambda measure: np.nan if measure.alpha is None else measure.alpha)


def evaluate(
    evidence: Evidence,
    metrics: str | Iterable[Any] | Mapping[str, Any] | None = None,
    *,
    threshold: float | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    rng: int | np.random.Generator = 0,
    method: str | None = None,
    stratified: bool | None = None,
) -> Evaluation:
    """Metrics of a classifier from any evidence, each with its interval.

    Parameters
    ----------
    evidence : Labeled, SoftLabeled, PositiveUnlabeled or PositiveConfidence
    metrics : names, callables or {label: name or callable}, optional
        Names are those of the registry. A callable takes a ScoreMeasure and returns a number, e.g.
        ``partial(ht.partial_auc, max_fpr=0.1)``. By default prevalence, roc_auc and average_precision;
        brier, log_loss and calibration_error where all scores lie in [0, 1]; and precision, recall,
        fpr, f1, mcc and accuracy where a threshold is given.
    threshold : float, optional
        On the scale of the scores.
    confidence_level : float
    n_resamples : int
        Bootstrap resamples; 0 gives values without intervals.
    rng : int or numpy Generator
        Same seed, same result.
    method : {"percentile", "basic", "normal", "bias-corrected"}, optional
        The bootstrap interval; by default the one with the best coverage for each metric.
    stratified : bool, optional
        Whether stratum sizes were fixed by design. By default as the data came: two samples are drawn
        each by itself, the rows of one table together.

    Returns
    -------
    Evaluation

    Notes
    -----
    Rows are resampled as counts on the distinct rows, joined to some hundreds where there are more, so
    that the cost does not grow with rows × resamples. Where the prior or the purity is a range, an
    interval is the union over it; where it is an estimate, each resample takes one of its replicates.

    Examples
    --------
    >>> import halftruth as ht
    >>> simulated = ht.simulate.GaussianClasses(prior=0.3)
    >>> evidence = simulated.positive_unlabeled(500, 5000, rng=1)
    >>> result = ht.evaluate(evidence, ["roc_auc"], n_resamples=200)
    >>> result["roc_auc"].low < simulated.truth("roc_auc") < result["roc_auc"].high
    True
    """
    if not isinstance(evidence, Evidence):
        raise InputError(
            f"`evidence` must be Labeled, SoftLabeled, PositiveUnlabeled or PositiveConfidence, got "
            f"{type(evidence).__name__}. Wrap your arrays, e.g. Labeled(y_true, y_score)."
        )
    level = checks.confidence_level(confidence_level)
    n_resamples = checks.count(n_resamples, "n_resamples", least=0)
    limit = None if threshold is None else checks.threshold(threshold)
    if method is not None:
        checks.choice(method, "method", METHODS)
    if stratified not in (None, True, False):
        raise InputError(f"`stratified` must be True, False or None, got {stratified!r}.")
    requests = _requests(metrics, evidence, limit)
    shares = (PRIOR, ALPHA) if evidence.kind == "positive_unlabeled" else (PRIOR,)
    span = prior_range(evidence, level)
    run = _Run(evidence, (*requests, *shares), span, limit)
    replicates, identified = run.resample(n_resamples, np.random.default_rng(rng), stratified)
    rows = run.estimates(replicates, level, method)
    return Evaluation(
        rows={request.label: rows[request] for request in requests},
        evidence=repr(evidence),
        prior=rows[PRIOR],
        alpha=rows.get(ALPHA),
        threshold=limit,
        notes=(
            *remarks.on_evidence(evidence, by_default=metrics is None),
            *span.notes,
            *remarks.on_prior(evidence, identified),
        ),
    )


def _requests(metrics: Any, evidence: Evidence, threshold: float | None) -> tuple[Request, ...]:
    if metrics is None:
        metrics = registry.default_rows(evidence.measure(), threshold)
    elif isinstance(metrics, str) or callable(metrics):
        metrics = (metrics,)
    elif not isinstance(metrics, Iterable):
        raise InputError(f"`metrics` takes names, callables or {{label: metric}}, got {metrics!r}.")
    pairs = metrics.items() if isinstance(metrics, Mapping) else ((None, item) for item in metrics)
    requests = tuple(_request(label, item, threshold) for label, item in pairs)
    labels = [request.label for request in requests]
    twice = {label for label in labels if labels.count(label) > 1}
    if twice or not labels:
        raise InputError(
            f"`metrics` must name each row once, got {sorted(twice) or 'none'}. "
            f"Use {{label: metric}} to tell rows apart."
        )
    return requests


def _request(label: str | None, item: Any, threshold: float | None) -> Request:
    if isinstance(item, str):
        metric = registry.get(item)
        return Request(label=label or item, call=metric.bind(threshold), metric=metric)
    if not callable(item):
        raise InputError(f"`metrics` takes names and callables, got {item!r}.")
    inner, given = (item.func, item.keywords) if isinstance(item, partial) else (item, {})
    name = label or str(getattr(inner, "__name__", type(inner).__name__))
    known = next((m for m in registry.REGISTRY.values() if m.function is inner), None)
    if known is None or (isinstance(item, partial) and item.args):
        return Request(label=name, call=item, batched=False)
    return Request(label=name, call=known.bind(threshold, **given), metric=known)


Values = dict[Request, Vector]


class _Run:
    """One evaluation: the same requests over many measures."""

    def __init__(
        self,
        evidence: Evidence,
        requests: tuple[Request, ...],
        span: Range,
        threshold: float | None,
    ) -> None:
        self.evidence, self.requests, self.span = evidence, requests, span
        self.full = evidence.table.support
        keep = () if threshold is None else (threshold,)
        self.support = self.full.coarse(MAX_ATOMS, keep)
        self.point = {request: request.at(evidence.measure()) for request in requests}
        self.centers = self._over_scenarios(self.full)
        near = self.centers if self.support is self.full else self._over_scenarios(self.support)
        # Resamples are drawn on joined rows; their values are moved by what the joining changed. Not so
        # where a few rows decide: their jumps are the sample's own, and no resample has them.
        self.shift = {
            r: np.zeros(len(span.scenarios)) if r.local else self.centers[r] - near[r] for r in requests
        }

    def _over_scenarios(self, support: Support) -> Values:
        sums = _lifted(support.sums())
        each = [self._values(support, sums, scenario) for scenario in self.span.scenarios]
        return {request: np.concatenate([one[request] for one in each]) for request in self.requests}

    def _values(self, support: Support, sums: Sums, scenario: Scenario) -> Values:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            measure = self.evidence.rule(sums, scenario).apply(support.score, sums)
            return {request: request.over(measure) for request in self.requests}

    def resample(self, n: int, rng: np.random.Generator, stratified: bool | None) -> tuple[Values, Vector]:
        """Replicates (n_scenarios, n) of each request, and of the prior the evidence identifies."""
        scenarios = self.span.scenarios
        out = {r: np.empty((len(scenarios), n)) for r in self.requests}
        purities = self.evidence.purity.grid(2)
        identified = np.full((len(purities), n), np.nan)
        one_sample = self.evidence.rows_are_one_sample if stratified is None else not stratified
        long = n * len(scenarios) * len(self.support.score) > 30_000_000
        start = 0
        # A stream of its own, so that an estimate without error gives the resamples of a number.
        of_shares = rng.spawn(1)[0]
        with progress("Resampling", n, long=long) as advance:
            for sums in resampled_sums(self.support, n, rng, one_sample=one_sample):
                size = next(iter(sums.values())).shape[0]
                part = slice(start, start + size)
                for row, purity in zip(identified, purities, strict=True):
                    with np.errstate(divide="ignore", invalid="ignore"):
                        found = self.evidence.identified_prior(sums, purity)
                    row[part] = np.nan if found is None else found
                for i, scenario in enumerate(self._drawn(size, of_shares)):
                    for request, values in self._values(self.support, sums, scenario).items():
                        out[request][i, part] = values + self.shift[request][i]
                start += size
                advance(size)
        return out, identified

    def _drawn(self, n: int, rng: np.random.Generator) -> tuple[Scenario, ...]:
        """The scenarios of ``n`` resamples: an estimate's replicates take the place of its value."""
        prior, purity = self.evidence.prior, self.evidence.purity
        if prior.replicates is None and purity.replicates is None:
            return self.span.scenarios
        # Replicates of prior and purity that were made together are drawn together.
        paired = (
            prior.replicates is not None
            and purity.replicates is not None
            and len(prior.replicates) == len(purity.replicates)
        )
        ranks = rng.random(n) if paired else None
        return tuple(
            Scenario(
                prior=s.prior if prior.replicates is None else prior.draw(ranks, n, rng),
                purity=s.purity if purity.replicates is None else purity.draw(ranks, n, rng),
            )
            for s in self.span.scenarios
        )

    def estimates(self, replicates: Values, level: float, method: str | None) -> dict[Request, Estimate]:
        naive = self.evidence.naive_measure()
        return {r: self._estimate(r, replicates[r], level, method, naive) for r in self.requests}

    def _estimate(
        self,
        request: Request,
        replicates: Vector,
        level: float,
        method: str | None,
        naive: ScoreMeasure | None,
    ) -> Estimate:
        value = self.point[request]
        limits = request.metric.limits if request.metric else (-np.inf, np.inf)
        if self.span.unknown:
            # The highest priors not refuted may be impossible for a metric: only what is possible bounds it.
            replicates, self.centers[request] = (
                np.clip(x, *limits) for x in (replicates, self.centers[request])
            )
        replicates.flags.writeable = False
        centers = self.centers[request]
        how = method or (request.metric.interval if request.metric else "percentile")
        if self.evidence.lone_positive:
            how, (low, high) = "none", (np.nan, np.nan)
        elif replicates.shape[1]:
            low, high = interval_of(replicates, centers, level, how, limits)
        else:
            how, wide = "none", self.span.wide and not np.isnan(centers).all()
            low, high = (np.nanmin(centers), np.nanmax(centers)) if wide else (np.nan, np.nan)
        estimate = Estimate(
            value=value,
            low=float(low),
            high=float(high),
            naive=None if naive is None else request.at(naive),
            confidence_level=level,
            method=how,
            replicates=None if how == "none" else replicates[0] if len(replicates) == 1 else replicates,
            centers=centers,
            limits=limits,
        )
        return replace(estimate, notes=remarks.on_row(request.metric, self.evidence.measure(), estimate))


def _lifted(sums: Sums) -> Sums:
    """The same sums with one leading axis of length one."""
    return {column: values[None] for column, values in sums.items()}
