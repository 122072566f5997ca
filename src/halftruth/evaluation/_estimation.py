"""Estimates with their intervals: the same requests at the evidence's own measure and at many others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from halftruth._checks import Vector
from halftruth._errors import InputError, arg
from halftruth.evidence import Evidence
from halftruth.inference import _notes as remarks
from halftruth.inference._influence import Errors, degrees_of, gradients, spread_of, unseen, variance
from halftruth.inference._prior_range import Range, drawn_scenarios
from halftruth.inference._progress import progress
from halftruth.inference._requests import ModelRows, Request, Values
from halftruth.measure._score_measure import ScoreMeasure
from halftruth.results._estimate import INFLUENCE, SCORE, Estimate
from halftruth.results._intervals import interval_of, normal_interval, score_interval
from halftruth.results._standing import reaches
from halftruth.table._resampling import Places, UnseenRows, weighted_sums
from halftruth.table._support import Support

__all__ = ["FEWER_ATOMS", "Estimation", "check_stratified"]

MAX_ATOMS = 384  # distinct scores on which resamples are drawn; see `Support.coarse`
FEWER_ATOMS = 128  # distinct scores for gradients: standard errors are within 2% of those from every row
SAME = 1e-12
FEW_RESAMPLES = 500  # resamples of a metric that has no derivative, where none were asked for


@dataclass(frozen=True, eq=False)
class Draws:
    """Requests whose rows are resampled together, in one way."""

    requests: list[Request]
    model: ModelRows
    places: Places
    shift: Values
    """What joining the rows changed, by which replicates are moved."""
    threshold: float | None = None
    """On either side of which a part of a row is, where what one stands for hangs on its score."""


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
        model: Callable[[Evidence, Support], ModelRows] = ModelRows,
    ) -> None:
        self.evidence, self.requests, self.span, self.n_resamples = evidence, requests, span, n_resamples
        self.one_sample, self.make_model = one_sample, model
        full, n_atoms = evidence.table.support, MAX_ATOMS if n_resamples else FEWER_ATOMS
        # Rates have rows of their own (`_groups`), but for those at a threshold that rows choose, of mixed
        # estimates, and where what a row stands for hangs on its score: no other row is to move with it.
        self.rates_apart = evidence.noise is None and not evidence.multiplied
        apart = model is ModelRows and self.rates_apart
        self.support = full.coarse(n_atoms, () if threshold is None or apart else (threshold,))
        if evidence.multiplied:
            self.support = self.support.with_strata(evidence.multiplied)
        self.point = {request: request.at(evidence.measure()) for request in requests}
        measures = [evidence.measure()]
        self.centers = {request: np.asarray([value]) for request, value in self.point.items()}
        if span.scenarios != (evidence.scenario,):
            measures = [evidence.measure_at(scenario) for scenario in span.scenarios[: span.n_plain]]
            self.centers = ModelRows(evidence, self.support).exact(requests, span.scenarios)
        if span.unknown and evidence.multiplied:
            # What is the same whatever is not known has a value all the same.
            known = {r: x[0] for r, x in self.centers.items() if np.ptp(x) <= SAME}
            self.point |= {r: float(x) for r, x in known.items() if np.isnan(self.point[r])}
        self.without_prior: ScoreMeasure | None = None
        if evidence.prior.estimate is not None and evidence.scores_bound_prior:
            self.without_prior = evidence.measure_at(replace(evidence.scenario, prior=None))
        self.unsigned = all(measure.unsigned for measure in measures)

    def estimates(
        self, rng: np.random.Generator, level: float, method: str | None
    ) -> dict[Request, Estimate]:
        groups = [] if self.evidence.lone_positive else list(self._groups())
        errors = {} if self.n_resamples else self._errors(groups)
        replicates: Values = {}
        # A stream for each way to draw: no metric moves with what else was asked for.
        streams = dict(zip(("anywhere", "ends"), rng.spawn(2), strict=True))
        for draws in groups:
            rest = [r for r in draws.requests if r not in errors]
            if rest:
                n, stream = self.n_resamples or FEW_RESAMPLES, deepcopy(streams[draws.places])
                replicates |= self._resample(replace(draws, requests=rest), n, stream)
        naive = self.evidence.naive_measure()
        return {
            r: self._estimate(r, errors.get(r), replicates.get(r), level, method, naive)
            for r in self.requests
        }

    def in_closed_form(self, level: float) -> dict[Request, Estimate]:
        """The estimates whose intervals come from standard errors, and no others."""
        errors = {} if self.evidence.lone_positive else self._errors(self._groups())
        naive = self.evidence.naive_measure()
        rows = {r: self._estimate(r, error, None, level, None, naive) for r, error in errors.items()}
        return {r: row for r, row in rows.items() if row.errors is not None}  # or it is undefined

    def _groups(self) -> Iterator[Draws]:
        """Requests by how their rows are drawn again.

        Rates are shares of rows above a threshold, or below: half a row at either end of each stratum gives
        them Jeffreys' intervals. Budgets are decided by a few rows at the top, and are drawn so too. What is
        an average over all rows gets a part of a row anywhere.
        """
        rates: dict[float | None, list[Request]] = {None: []}
        local: dict[float | None, list[Request]] = {None: []}
        rest = []
        for request in self.requests:
            if request.counts_rows and self.rates_apart:
                rates.setdefault(request.parameters.get("threshold"), []).append(request)
            elif request.places == "ends":
                threshold = request.parameters.get("threshold") if self.evidence.multiplied else None
                local.setdefault(threshold, []).append(request)
            else:
                rest.append(request)
        full = self.evidence.table.support
        yield self._draws(full, rest, "anywhere")
        for threshold, requests in local.items():
            yield replace(self._draws(full, requests, "ends"), threshold=threshold)
        for threshold in sorted(rates, key=lambda x: (x is not None, x)):
            sides = full.sides(threshold, self.evidence.classes, drawn=self.n_resamples > 0)
            model, shift = ModelRows(self.evidence, sides), {}
            if self.span.n_plain < len(self.span.scenarios):
                # Two sides do not tell how far blocks of scores limit a tilt: all rows do.
                near = model.near(rates[threshold], self.span.scenarios)
                shift = {r: np.nan_to_num(self.centers[r] - x) for r, x in near.items()}
                for moved in shift.values():
                    moved[: self.span.n_plain] = 0.0
            yield Draws(rates[threshold], model, "ends", shift)

    def _draws(self, full: Support, requests: list[Request], places: Places) -> Draws:
        model = self.make_model(self.evidence, self.support)
        shift: Values = {}
        # Resamples are drawn on joined rows; their values are moved by what the joining changed. Not so
        # where a few rows decide: their jumps are the sample's own, and no resample has them.
        averages = [r for r in requests if not r.local]
        if self.support is not full:
            near = model.near(averages, self.span.scenarios)
            shift = {r: np.nan_to_num(self.centers[r] - near[r]) for r in averages}
        return Draws(requests, model, places, shift)

    def _errors(self, groups: Iterable[Draws]) -> dict[Request, Errors]:
        """Standard errors of what is smooth, in closed form."""
        out: dict[Request, Errors] = {}
        for draws in groups:
            requests = [r for r in draws.requests if r.smooth(curves=self.unsigned)]
            out |= self._errors_of(requests, draws.model, draws.threshold)
        # What has a value but no derivative there, such as an MCC where nothing is flagged, is resampled.
        known = {r for r, of in out.items() if np.isfinite(of.variance + of.unseen).all()}
        return {r: out[r] for r in self.requests if r in known or (r in out and np.isnan(self.point[r]))}

    def _errors_of(
        self, requests: list[Request], model: ModelRows, threshold: float | None
    ) -> dict[Request, Errors]:
        scenarios, support, rng = self.span.scenarios, model.support, np.random.default_rng(0)
        drawn = drawn_scenarios(self.evidence, scenarios, FEW_RESAMPLES, rng)
        out = {r: Errors(*np.zeros((3, len(drawn)))) for r in requests}
        for i, scenario in enumerate(scenarios if requests else ()):
            slopes = gradients(partial(model.values, requests, scenario), support)
            for request, slope in slopes.items():
                of = out[request]
                of.variance[i] = variance(slope, support, one_sample=self.one_sample)
                where = request.places, self.evidence.multiplied, threshold
                of.shift[i], of.unseen[i] = unseen(slope, support, *where)
            joined = model.joined
            if self.evidence.values_are_estimated:
                joined = self.evidence.redrawn(joined, support, rng.random(FEW_RESAMPLES))
            if drawn[i] is not scenario or joined is not model.joined:
                for request, values in model.values(requests, drawn[i], joined).items():
                    out[request].variance[i] += spread_of(values)
        return out

    def _resample(self, draws: Draws, n: int, rng: np.random.Generator) -> Values:
        """Replicates (n_scenarios, n)."""
        requests, model, scenarios = draws.requests, draws.model, self.span.scenarios
        out = {r: np.empty((len(scenarios), n)) for r in requests}
        long = n * len(scenarios) * len(model.support.score) > 30_000_000
        # A stream of its own, so that an estimate without error gives the resamples of a number.
        of_shares = rng.spawn(1)[0]
        with progress("Resampling", n, long=long) as advance:
            start = 0
            extra = UnseenRows(model.support, draws.places, self.evidence.multiplied, draws.threshold)
            for sums in weighted_sums(model.support, n, rng, extra, one_sample=self.one_sample):
                size = next(iter(sums.values())).shape[0]
                chunk = slice(start, start + size)
                if self.evidence.values_are_estimated:
                    sums = self.evidence.redrawn(sums, model.support, of_shares.random((size,)))
                for i, scenario in enumerate(drawn_scenarios(self.evidence, scenarios, size, of_shares)):
                    for request, values in model.values(requests, scenario, sums).items():
                        moved = draws.shift[request][i] if request in draws.shift else 0.0
                        out[request][i, chunk] = values + moved
                start += size
                advance(size)
        return out

    def _prior_ends(self, request: Request) -> tuple[float, float] | None:
        """Of a prior that was estimated: the values at the ends of its interval."""
        belief = self.evidence.prior
        if belief.replicates is None or np.isnan(self.point[request]):
            return None
        at = self.evidence.scenario
        scenarios = (at, *(replace(at, prior=end) for end in belief.ends()))
        near = ModelRows(self.evidence, self.support).near([request], scenarios)[request]
        ends = self.point[request] + near[1:] - near[0]
        return float(np.min(ends)), float(np.max(ends))

    def _is_prior_free(self, request: Request) -> bool:
        """Of a prior that was estimated: whether the request has a value without it."""
        return self.without_prior is not None and not np.isnan(request.at(self.without_prior))

    def _estimate(
        self,
        request: Request,
        errors: Errors | None,
        replicates: Vector | None,
        level: float,
        method: str | None,
        naive: ScoreMeasure | None,
    ) -> Estimate:
        limits = request.limits
        centers = self.centers[request]
        degrees = degrees_of(self.support) if request.places == "anywhere" else np.inf
        share_rows = None
        noisy = bool(self.evidence.multiplied) and _is_noise(centers, errors, replicates, level, limits)
        if self.span.unknown or noisy:
            # The highest priors not refuted may be impossible for a metric, and so may what few reviews that
            # stand for many rows make of it: only what is possible bounds it.
            centers = np.clip(centers, *limits)
            replicates = None if replicates is None else np.clip(replicates, *limits)
        undefined = np.isnan(self.point[request]) and not self.span.unknown
        if undefined and self.evidence.multiplied and replicates is not None and request.places == "ends":
            # A class that no review found may be there all the same: a part of a row says how far that goes.
            undefined, method = False, "percentile"
        if self.evidence.lone_positive or undefined:
            how, (low, high), errors, replicates = "none", (np.nan, np.nan), None, None
        elif errors is not None:
            # Where noise can carry a share out of [0, 1], it has no such interval; rates of reviews are cut.
            of_reviews = noisy and request.places == "ends"
            if (self.unsigned or of_reviews) and limits == (0.0, 1.0) and method is None:
                how, share_rows = SCORE, errors.share_rows(centers)
                low, high = score_interval(centers, share_rows, level, degrees)
            else:
                error = np.sqrt(errors.variance + errors.unseen)
                how, (low, high) = INFLUENCE, normal_interval(centers, error, level, limits, degrees)
        else:
            assert replicates is not None  # what has no error was resampled
            best = request.metric.interval if request.metric else "percentile"
            how = method or best
            low, high = interval_of(replicates, centers, level, how, limits, degrees)
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
            errors=None if errors is None else np.sqrt(errors.variance),
            unseen=None if errors is None else errors.unseen,
            share_rows=share_rows,
            degrees=degrees,
            limits=limits,
            prior_free=self._is_prior_free(request),
            scenario=self.span.middle,
            n_plain=self.span.n_plain,
            selected=self.span.selected,
            prior_ends=self._prior_ends(request),
        )
        reviewed = bool(self.evidence.multiplied)
        return replace(
            estimate,
            notes=remarks.on_row(request, self.evidence.measure(), estimate, reviewed=reviewed),
        )


def _is_noise(
    centers: Vector,
    errors: Errors | None,
    replicates: Vector | None,
    level: float,
    limits: tuple[float, float],
) -> bool:
    """Whether no more than noise carries a value beyond ``limits``, if anything does."""
    if errors is not None:
        ends = normal_interval(centers, np.sqrt(errors.variance + errors.unseen), level)
    elif replicates is not None:
        ends = interval_of(replicates, centers, level, "percentile")
    else:
        return True
    return reaches(*ends, limits)


def check_stratified(stratified: bool | None, *evidence: Evidence) -> None:
    """Refuse what is no choice of how rows are resampled, or not one for this evidence."""
    if stratified not in (None, True, False):
        raise InputError(argument="stratified", must="be True, False or None", got=repr(stratified))
    if stratified and any(e.multiplied for e in evidence):
        raise InputError(
            f"{arg('stratified')} keeps the number of rows of each class as it is, and nobody fixed how many "
            "reviews would find a positive. Leave it out, for plans by strata of the score too."
        )
