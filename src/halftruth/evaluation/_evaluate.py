"""The daily call: evidence in, true metrics with honest intervals out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, arg, bare
from halftruth.evidence import Evidence, Scenario, as_evidence
from halftruth.inference import _notes as remarks
from halftruth.inference._influence import gradients, identified_range, spread_of, unsigned, variance
from halftruth.inference._notes import bias_bound
from halftruth.inference._prior_range import Range, drawn_scenarios, prior_range
from halftruth.inference._progress import progress
from halftruth.inference._requests import ALPHA, PRIOR, Request, read_requests
from halftruth.measure._score_measure import ScoreMeasure
from halftruth.results._estimate import INFLUENCE, LOGIT, Estimate, Evaluation, Origin
from halftruth.results._intervals import METHODS, interval_of, normal_interval
from halftruth.table._resampling import resampled_sums
from halftruth.table._score_table import ScoreTable
from halftruth.table._support import Sums, with_batch_axis

MAX_ATOMS = 512
"""Distinct scores on which resamples are drawn; see `Support.coarse`."""
FEWER_ATOMS = 128
"""Distinct scores for gradients: standard errors are within 2% of those from every row."""
FEW_RESAMPLES = 500
"""Resamples of a metric that has no derivative, where none were asked for."""


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
    lipschitz: float | None = None,
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
        Bootstrap resamples; 0 gives intervals from standard errors in closed form (DeLong's, for the AUC).
    rng : int or numpy Generator
        Same seed, same result.
    method : {"percentile", "basic", "normal", "bias-corrected", "fitted"}, optional
        The bootstrap interval; by default the one with the best coverage for each metric. Without
        resamples only "normal".
    stratified : bool, optional
        Whether stratum sizes were fixed by design. By default as the data came: two samples are drawn
        each by itself, the rows of one table together.
    lipschitz : float, optional
        How fast the frequency of positives can rise with the score, at most. Whoever grants this, and that
        scores have a density, gets `Estimate.bound` with calibration_error from positives and unlabeled:
        how far it can lie from the true one, at the confidence level (`theory.bias_bound`).

    Returns
    -------
    Evaluation

    Notes
    -----
    Rows are resampled as counts on the distinct rows, joined to some hundreds where there are more, so
    that the cost does not grow with rows × resamples. Where the prior or the purity is a range, an
    interval is the union over it; where it is an estimate, each resample takes one of its replicates.

    With ``n_resamples=0`` an interval is value ± z · standard error, cut at what is possible, or for shares
    that noise cannot carry out of [0, 1] the same on the scale of the log odds; the error is from the
    influence of each row, and of an estimate's replicates. What has no derivative is resampled
    500 times all the same: calibration_error, metrics at a budget, callables of your own, and areas under
    curves where noise makes those turn back or leave [0, 1], as from positives and unlabeled.

    Examples
    --------
    >>> import halftruth as ht
    >>> simulated = ht.simulate.GaussianClasses(prior=0.3)
    >>> evidence = simulated.positive_unlabeled(500, 5000, rng=1)
    >>> result = ht.evaluate(evidence, ["roc_auc"], n_resamples=200)
    >>> result["roc_auc"].low < simulated.truth("roc_auc") < result["roc_auc"].high
    True
    """
    evidence = as_evidence(evidence, remedy=_remedy(evidence)).to_host()
    level = _checks.confidence_level(confidence_level)
    n_resamples = _checks.count(n_resamples, "n_resamples", least=0)
    limit = None if threshold is None else _checks.threshold(threshold)
    if method is not None:
        _checks.choice(method, "method", METHODS)
        if n_resamples == 0 and method != "normal":
            raise InputError(
                f"{arg('method', method)} needs resamples. Pass {bare('n_resamples')} > 0, or leave it out."
            )
    if lipschitz is not None:
        lipschitz = _checks.inside(
            lipschitz, "lipschitz", 0.0, np.inf, advice="Pass 1 for a calibrated model."
        )
    if stratified not in (None, True, False):
        raise InputError(argument="stratified", must="be True, False or None", got=repr(stratified))
    requests = read_requests(metrics, [evidence.measure()], limit)
    shares = (PRIOR, ALPHA) if evidence.population is not None else (PRIOR,)
    span = prior_range(evidence, level)
    one_sample = evidence.rows_are_one_sample if stratified is None else not stratified
    run = _Run(evidence, (*requests, *shares), span, limit, n_resamples, one_sample=one_sample)
    rows = run.estimates(np.random.default_rng(rng), level, method)
    if lipschitz is not None:
        for r in requests:
            bound, note = bias_bound(r, evidence, lipschitz, level)
            rows[r] = replace(rows[r], bound=bound, notes=(*rows[r].notes, *([note] if note else [])))
    return Evaluation(
        rows={request.label: rows[request] for request in requests},
        evidence=repr(evidence),
        prior=rows[PRIOR],
        alpha=rows.get(ALPHA),
        threshold=limit,
        origin=Origin(
            evidence={"": evidence}, requests=requests, one_sample=one_sample, n_resamples=n_resamples
        ),
        notes=(
            *remarks.on_evidence(evidence, by_default=metrics is None),
            *remarks.on_resamples(n_resamples),
            *span.notes,
            *remarks.on_prior(evidence, identified_range(evidence, run.support, one_sample=one_sample)),
        ),
    )


def _remedy(given: object) -> str:
    if isinstance(given, ScoreTable):
        return "Say what a table is evidence of, e.g. PositiveUnlabeled.from_table(table, prior=…)."
    return "Wrap your arrays, e.g. Labeled(y_true, y_score)."


Values = dict[Request, Vector]


class _Run:
    """One evaluation: the same requests over many measures."""

    def __init__(
        self,
        evidence: Evidence,
        requests: tuple[Request, ...],
        span: Range,
        threshold: float | None,
        n_resamples: int,
        *,
        one_sample: bool,
    ) -> None:
        self.evidence, self.requests, self.span, self.n_resamples = evidence, requests, span, n_resamples
        self.one_sample = one_sample
        self.full = evidence.table.support
        n_atoms = MAX_ATOMS if n_resamples else FEWER_ATOMS
        self.support = self.full.coarse(n_atoms, () if threshold is None else (threshold,))
        self.point = {request: request.at(evidence.measure()) for request in requests}
        measures = [evidence.measure()]
        self.centers = {request: np.asarray([value]) for request, value in self.point.items()}
        if span.scenarios != (evidence.scenario,):
            measures = [evidence.measure_at(scenario) for scenario in span.scenarios]
            self.centers = {r: np.asarray([r.at(measure) for measure in measures]) for r in requests}
        self.unsigned = all(map(unsigned, measures))
        near = self.centers if self.support is self.full else self._near()
        # Resamples are drawn on joined rows; their values are moved by what the joining changed. Not so
        # where a few rows decide: their jumps are the sample's own, and no resample has them.
        self.shift = {
            r: np.zeros(len(span.scenarios)) if r.local else self.centers[r] - near[r] for r in requests
        }

    def _near(self) -> Values:
        """The values on the joined rows, by scenario."""
        sums = with_batch_axis(self.support.sums())
        each = [self._values(s, self.requests, sums) for s in self.span.scenarios]
        return {request: np.concatenate([one[request] for one in each]) for request in self.requests}

    def _values(self, scenario: Scenario, requests: Iterable[Request], sums: Sums) -> Values:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            measure = self.evidence.rule(sums, scenario).apply(self.support.score, sums)
            return {request: request.over(measure) for request in requests}

    def estimates(
        self, rng: np.random.Generator, level: float, method: str | None
    ) -> dict[Request, Estimate]:
        lone = self.evidence.lone_positive
        errors = {} if self.n_resamples or lone else self._errors()
        rest = [] if lone else [request for request in self.requests if request not in errors]
        replicates = self._resample(self.n_resamples or FEW_RESAMPLES, rng, rest) if rest else {}
        naive = self.evidence.naive_measure()
        return {
            r: self._estimate(r, errors.get(r), replicates.get(r), level, method, naive)
            for r in self.requests
        }

    def _errors(self) -> Values:
        """Standard errors (n_scenarios,) of what is smooth, in closed form."""
        requests = [request for request in self.requests if request.smooth(curves=self.unsigned)]
        sums = with_batch_axis(self.support.sums())
        fixed = np.random.default_rng(0)
        drawn = drawn_scenarios(self.evidence, self.span.scenarios, FEW_RESAMPLES, fixed, even=True)
        squares = {r: np.zeros(len(drawn)) for r in requests}
        for i, scenario in enumerate(self.span.scenarios):
            slopes = gradients(partial(self._values, scenario, requests), self.support)
            for request, slope in slopes.items():
                squares[request][i] = variance(slope, self.support, one_sample=self.one_sample)
            if drawn[i] is not scenario:
                for request, values in self._values(drawn[i], requests, sums).items():
                    squares[request][i] += spread_of(values)
        return {request: np.sqrt(each) for request, each in squares.items()}

    def _resample(self, n: int, rng: np.random.Generator, requests: list[Request]) -> Values:
        """Replicates (n_scenarios, n)."""
        scenarios = self.span.scenarios
        out = {r: np.empty((len(scenarios), n)) for r in requests}
        long = n * len(scenarios) * len(self.support.score) > 30_000_000
        start = 0
        # A stream of its own, so that an estimate without error gives the resamples of a number.
        of_shares = rng.spawn(1)[0]
        with progress("Resampling", n, long=long) as advance:
            for sums in resampled_sums(self.support, n, rng, one_sample=self.one_sample):
                size = next(iter(sums.values())).shape[0]
                part = slice(start, start + size)
                for i, scenario in enumerate(drawn_scenarios(self.evidence, scenarios, size, of_shares)):
                    for request, values in self._values(scenario, requests, sums).items():
                        out[request][i, part] = values + self.shift[request][i]
                start += size
                advance(size)
        return out

    def _estimate(
        self,
        request: Request,
        errors: Vector | None,
        replicates: Vector | None,
        level: float,
        method: str | None,
        naive: ScoreMeasure | None,
    ) -> Estimate:
        limits = request.limits
        centers = self.centers[request]
        if self.span.unknown:
            # The highest priors not refuted may be impossible for a metric: only what is possible bounds it.
            centers = np.clip(centers, *limits)
            replicates = None if replicates is None else np.clip(replicates, *limits)
        if self.evidence.lone_positive:
            how, (low, high) = "none", (np.nan, np.nan)
        elif errors is not None:
            # Where noise can carry a share out of [0, 1], its error says little on the scale of the log odds.
            how = LOGIT if self.unsigned and limits == (0.0, 1.0) and method is None else INFLUENCE
            low, high = normal_interval(centers, errors, level, limits, logit=how == LOGIT)
        else:
            assert replicates is not None  # what has no error was resampled
            own = request.metric.interval if request.metric else "percentile"
            how = method or (own if self.n_resamples or own != "percentile" else "fitted")
            low, high = interval_of(replicates, centers, level, how, limits)
            replicates.flags.writeable = False
            replicates = replicates[0] if len(replicates) == 1 else replicates
        estimate = Estimate(
            value=self.point[request],
            compression=request.compression(self.evidence, self.point[request]),
            low=float(low),
            high=float(high),
            naive=None if naive is None else request.at(naive),
            confidence_level=level,
            method=how,
            replicates=replicates,
            centers=centers,
            errors=errors,
            limits=limits,
        )
        return replace(estimate, notes=remarks.on_row(request, self.evidence.measure(), estimate))
