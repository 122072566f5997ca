"""Two models on the same scenarios: what they differ by, how sure that is, and where it changes its sign."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from halftruth._checks import Vector
from halftruth.evidence import Evidence, Scenario
from halftruth.inference._influence import gradients, spread_of
from halftruth.inference._paired_rows import IndependentRows, PairedRows
from halftruth.inference._prior_range import Range, alpha_bound, drawn_scenarios
from halftruth.inference._progress import progress
from halftruth.inference._requests import ModelRows, Request, Values
from halftruth.prior._shares import Sizes
from halftruth.results._comparison import Difference
from halftruth.results._estimate import INFLUENCE
from halftruth.results._intervals import interval_of, normal_interval

__all__ = ["Match", "is_distance"]

N_PRIORS = 201  # priors at which the order of two models is looked at
N_EXACT = 9  # those of them at which every row is looked at
FEW_RESAMPLES = 1000  # resamples of what has no derivative, where none were asked for


class Match:
    """Two models on the same scenarios."""

    def __init__(
        self,
        a: ModelRows,
        b: ModelRows,
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
            PairedRows((a.evidence, b.evidence), supports, one_sample=one_sample, keep=keep)
            if paired
            else IndependentRows(supports, one_sample=one_sample)
        )
        self.lone = a.evidence.lone_positive or b.evidence.lone_positive
        self.near = [side.near(requests, span.scenarios) for side in (a, b)]
        exact = self._minus(*(side.exact(requests, span.scenarios) for side in (a, b)))
        near = self._minus(*self.near)
        self.center = {r: _whole(exact[r]) for r in requests}
        self.shift = {r: np.zeros_like(exact[r]) if r.local else exact[r] - near[r] for r in requests}

    def _minus(self, a: Values, b: Values) -> Values:
        """First minus second; without a prior, of what is possible."""
        if self.span.unknown:
            a, b = ({r: np.clip(x, *r.limits) for r, x in values.items()} for values in (a, b))
        with np.errstate(invalid="ignore"):
            return {r: a[r] - b[r] for r in a}

    def differences(self, n: int, rng: np.random.Generator, level: float) -> dict[str, Difference]:
        """First minus second, by metric."""
        squares = {} if self.lone or (n and not self.rows.joined) else self._variances()
        errors = {} if n else {r: np.sqrt(of_rows) for r, (of_rows, _) in squares.items()}
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
        exact = [evidence.table.grid is None for evidence in sides]
        known = [0.0 if plain else bound for plain, bound in zip(exact, bounds, strict=True)]
        return Difference(
            value=float(_whole(a - b)),
            compression=None if all(exact) or None in known else sum(x for x in known if x is not None),
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
                chunk = slice(start, start + size)
                for i, scenario in enumerate(drawn_scenarios(self.a.evidence, scenarios, size, of_shares)):
                    a, b = (
                        {
                            r: _without_noise(r, x, near[r][i])
                            for r, x in side.values(requests, scenario, of_side).items()
                        }
                        for side, of_side, near in zip((self.a, self.b), sums, self.near, strict=True)
                    )
                    for r, difference in self._minus(a, b).items():
                        out[r][i, chunk] = _whole(difference + self.shift[r][i])
                start += size
                advance(size)
        return out

    def _variances(self) -> dict[Request, tuple[Vector, Vector]]:
        """Variances (n_scenarios,) of smooth differences, in closed form: of rows, and of joined rows."""
        scenarios, sides = self.span.scenarios, (self.a, self.b)
        curves = all(side.evidence.measure_at(s).unsigned for side in sides for s in scenarios)
        requests = [request for request in self.requests if request.smooth(curves=curves)]
        rng = np.random.default_rng(0)
        drawn = drawn_scenarios(self.a.evidence, scenarios, FEW_RESAMPLES, rng, even=True)
        out = {r: (np.zeros(len(scenarios)), np.zeros(len(scenarios))) for r in requests}
        for i, scenario in enumerate(scenarios):
            a, b = (gradients(partial(side.values, requests, scenario), side.support) for side in sides)
            of_shares: dict[Request, float] = {}
            if drawn[i] is not scenario:
                x, y = (side.values(requests, drawn[i], side.joined) for side in sides)
                of_shares = {r: spread_of(values) for r, values in self._minus(x, y).items()}
            for r, (of_rows, joined) in out.items():
                of_rows[i] = self.rows.variance(a[r], b[r]) + of_shares.get(r, 0.0)
                joined[i] = self.rows.variance_of_joined(a[r], b[r]) + of_shares.get(r, 0.0)
        return out

    def _flips(self, level: float) -> dict[Request, tuple[float, ...]]:
        """Priors, among those not refuted, at which the better model becomes the worse."""
        evidence, other = self.a.evidence, self.b.evidence
        if evidence.population is None or other.population is None:
            return dict.fromkeys(self.requests, ())
        priors, as_read = _not_refuted(evidence, other, level=level)
        scenario = Scenario(prior=as_read, purity=evidence.purity.value)
        difference = self._minus(*(s.values(self.requests, scenario, s.joined) for s in (self.a, self.b)))
        # The joined rows are off by a little that changes slowly with the prior.
        some = np.linspace(0, N_PRIORS - 1, N_EXACT).astype(int)
        at = tuple(Scenario(prior=float(x), purity=evidence.purity.value) for x in as_read[some])
        exact = self._minus(*(side.exact(self.requests, at) for side in (self.a, self.b)))
        out = {}
        for r, near in difference.items():
            line = np.broadcast_to(near, priors.shape)
            out[r] = _roots(priors, line + np.interp(priors, priors[some], exact[r] - line[some]))
        return out


def _without_noise(request: Request, replicates: Vector, center: float) -> Vector:
    """Replicates as they are, of a distance reflected: noise adds to it in quadrature, each time it is drawn.

    Two models' noise differs, so it does not cancel from the difference.
    """
    if not is_distance(request):
        return replicates
    return np.asarray(np.sqrt(np.maximum(2 * center**2 - replicates**2, 0.0)))


def is_distance(request: Request) -> bool:
    """Whether noise adds to the metric in quadrature."""
    return request.metric is not None and request.metric.distance


def _stretched(replicates: Vector, center: Vector, of_rows: Vector, joined: Vector) -> Vector:
    """Replicates of joined rows with the spread of the rows themselves."""
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.sqrt(of_rows / joined)
        out = center[:, None] + factor[:, None] * (replicates - center[:, None])
    return np.where(np.isfinite(out), out, replicates)


def _whole(difference: Any) -> Any:
    """A difference by rounding alone is none."""
    return np.where(np.abs(difference) < 1e-12, 0.0, difference)


def _not_refuted(*models: Evidence, level: float) -> tuple[Vector, Vector]:
    """Priors up to the largest that neither model's scores refute: π, and as the user's prior is read."""
    one, top = models[0], min(alpha_bound(model, level) for model in models)
    alpha = np.linspace(0, min(top, 0.999), N_PRIORS + 1)[1:]
    of_all = np.asarray(Sizes.of(one.table.support.sums()).pi(alpha, one.purity.value))
    shares: dict[str | None, Vector] = {"unlabeled": alpha, "all": of_all}
    return shares[one.population], shares[one.prior.population or one.population]


def _roots(x: Vector, y: Vector) -> tuple[float, ...]:
    """Where a broken line through (x, y) changes its sign."""
    signed = np.isfinite(y) & (np.abs(y) > 1e-12)
    x, y = x[signed], y[signed]
    turn = np.flatnonzero(np.sign(y[1:]) != np.sign(y[:-1]))
    return tuple(float(x[i] - y[i] * (x[i + 1] - x[i]) / (y[i + 1] - y[i])) for i in turn)
