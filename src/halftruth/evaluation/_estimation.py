"""Estimates with their intervals: the same requests at the evidence's own measure and at many others."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from halftruth._checks import Vector
from halftruth.evidence import Evidence
from halftruth.inference import _notes as remarks
from halftruth.inference._influence import gradients, spread_of, variance
from halftruth.inference._prior_range import Range, drawn_scenarios
from halftruth.inference._progress import progress
from halftruth.inference._requests import ModelRows, Request, Values
from halftruth.measure._score_measure import ScoreMeasure
from halftruth.results._estimate import INFLUENCE, LOGIT, Estimate
from halftruth.results._intervals import interval_of, normal_interval
from halftruth.table._resampling import resampled_sums

__all__ = ["FEWER_ATOMS", "Estimation"]

MAX_ATOMS = 512  # distinct scores on which resamples are drawn; see `Support.coarse`
FEWER_ATOMS = 128  # distinct scores for gradients: standard errors are within 2% of those from every row
FEW_RESAMPLES = 500  # resamples of a metric that has no derivative, where none were asked for


class Estimation:
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
        full, n_atoms = evidence.table.support, MAX_ATOMS if n_resamples else FEWER_ATOMS
        self.support = full.coarse(n_atoms, () if threshold is None else (threshold,))
        self.model = ModelRows(evidence, self.support)
        self.point = {request: request.at(evidence.measure()) for request in requests}
        measures = [evidence.measure()]
        self.centers = {request: np.asarray([value]) for request, value in self.point.items()}
        if span.scenarios != (evidence.scenario,):
            measures = [evidence.measure_at(scenario) for scenario in span.scenarios]
            self.centers = {r: np.asarray([r.at(measure) for measure in measures]) for r in requests}
        self.unsigned = all(measure.unsigned for measure in measures)
        near = self.centers if self.support is full else self.model.near(requests, span.scenarios)
        # Resamples are drawn on joined rows; their values are moved by what the joining changed. Not so
        # where a few rows decide: their jumps are the sample's own, and no resample has them.
        self.shift = {
            r: np.zeros(len(span.scenarios)) if r.local else self.centers[r] - near[r] for r in requests
        }

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

    def in_closed_form(self, level: float) -> dict[Request, Estimate]:
        """The estimates whose intervals come from standard errors, and no others."""
        errors = {} if self.evidence.lone_positive else self._errors()
        naive = self.evidence.naive_measure()
        return {r: self._estimate(r, error, None, level, None, naive) for r, error in errors.items()}

    def _errors(self) -> Values:
        """Standard errors (n_scenarios,) of what is smooth, in closed form."""
        requests = [request for request in self.requests if request.smooth(curves=self.unsigned)]
        model, scenarios, rng = self.model, self.span.scenarios, np.random.default_rng(0)
        drawn = drawn_scenarios(self.evidence, scenarios, FEW_RESAMPLES, rng, even=True)
        variances = {r: np.zeros(len(drawn)) for r in requests}
        for i, scenario in enumerate(scenarios):
            slopes = gradients(partial(model.values, requests, scenario), self.support)
            for request, slope in slopes.items():
                variances[request][i] = variance(slope, self.support, one_sample=self.one_sample)
            if drawn[i] is not scenario:
                for request, values in model.values(requests, drawn[i], model.joined).items():
                    variances[request][i] += spread_of(values)
        return {request: np.sqrt(squares) for request, squares in variances.items()}

    def _resample(self, n: int, rng: np.random.Generator, requests: list[Request]) -> Values:
        """Replicates (n_scenarios, n)."""
        scenarios = self.span.scenarios
        out = {r: np.empty((len(scenarios), n)) for r in requests}
        long = n * len(scenarios) * len(self.support.score) > 30_000_000
        # A stream of its own, so that an estimate without error gives the resamples of a number.
        of_shares = rng.spawn(1)[0]
        with progress("Resampling", n, long=long) as advance:
            start = 0
            for sums in resampled_sums(self.support, n, rng, one_sample=self.one_sample):
                size = next(iter(sums.values())).shape[0]
                chunk = slice(start, start + size)
                for i, scenario in enumerate(drawn_scenarios(self.evidence, scenarios, size, of_shares)):
                    for request, values in self.model.values(requests, scenario, sums).items():
                        out[request][i, chunk] = values + self.shift[request][i]
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
            best = request.metric.interval if request.metric else "percentile"
            how = method or (best if self.n_resamples or best != "percentile" else "fitted")
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
