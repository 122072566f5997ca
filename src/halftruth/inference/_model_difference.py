"""Two models, or samples: what they differ by, how sure that is, and where it changes its sign."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import product
from typing import Any

import numpy as np

from halftruth._checks import Vector
from halftruth.evidence import Evidence, Scenario
from halftruth.inference._influence import degrees_of, gradients, spread_of
from halftruth.inference._paired_rows import IndependentRows, PairedRows
from halftruth.inference._prior_range import Range, alpha_bound, drawn_scenarios
from halftruth.inference._progress import progress
from halftruth.inference._requests import ModelRows, Request, Values
from halftruth.measure._tilt import Tilt
from halftruth.prior._shares import Sizes
from halftruth.results._comparison import Difference
from halftruth.results._estimate import INFLUENCE
from halftruth.results._intervals import interval_of, normal_interval
from halftruth.table._resampling import Places
from halftruth.table._score_table import POSITIVE
from halftruth.table._support import Sums

__all__ = ["Match"]

N_PRIORS = 201  # priors at which the order of two models is looked at
N_EXACT = 9  # those of them at which every row is looked at
FEW_RESAMPLES = 1000  # resamples of what has no derivative, where none were asked for


@dataclass(frozen=True, eq=False)
class Draws:
    """Metrics whose rows are drawn in one way, for both models."""

    requests: list[Request]
    models: tuple[ModelRows, ModelRows]
    rows: PairedRows | IndependentRows
    places: Places


@dataclass(frozen=True, eq=False)
class Variances:
    """Of a difference, (n_pairs,): of the rows, of joined rows, and what rows that were not seen add."""

    of_rows: Vector
    joined: Vector
    unseen: Vector


class Match:
    """Two models of the same cases, with one prior, or of samples that have each its own."""

    def __init__(
        self,
        a: ModelRows,
        b: ModelRows,
        requests: tuple[Request, ...],
        spans: tuple[Range, Range],
        keep: tuple[float, ...],
        *,
        paired: bool,
        stratified: bool | None,
    ) -> None:
        """``spans``: the scenarios of either; of the same cases, the same."""
        self.a, self.b, self.requests, self.spans = a, b, requests, spans
        self.paired, self.keep = paired, keep
        together: Callable[..., Iterable[tuple[int, int]]] = partial(zip, strict=True) if paired else product
        (as_known, low, high), (as_known_b, low_b, high_b) = (span.by_law for span in self.spans)
        pairs = list(together(as_known, as_known_b))
        self.n_plain = len(pairs)
        if any(span.n_plain < len(span.scenarios) for span in self.spans):
            # Of two models the difference is farthest where positives score low by one and high by the other.
            pairs += [*together(low, high_b), *together(high, low_b)]
        self.pairs = np.asarray(pairs).T
        self.one_sample = [
            side.evidence.rows_are_one_sample if stratified is None else not stratified for side in (a, b)
        ]
        self.lone = a.evidence.lone_positive or b.evidence.lone_positive
        self.exact = self._minus(*(side.exact(requests, span.scenarios) for side, span in self._sides()))
        self.center = {r: _whole(self.exact[r]) for r in requests}
        self.groups = list(self._groups())

    def _groups(self) -> Iterator[Draws]:
        """Metrics by how their rows are drawn again, as `Estimation` does for one model."""
        by_score = any(s.evidence.noise is not None or s.evidence.multiplied for s in (self.a, self.b))
        groups: dict[tuple[bool, Places, bool, float | None], list[Request]] = {}
        for r in self.requests:
            shares = r.counts_rows and not by_score
            threshold = r.parameters.get("threshold") if shares else None
            groups.setdefault((shares, r.places, r.local, threshold), []).append(r)
        for (shares, places, ranked, threshold), requests in groups.items():
            a, b = (
                ModelRows(x.evidence, x.evidence.table.support.sides(threshold)) if shares else x
                for x in (self.a, self.b)
            )
            supports = a.support, b.support
            rows: PairedRows | IndependentRows
            if not self.paired:
                multiplied = a.evidence.multiplied, b.evidence.multiplied
                rows = IndependentRows(supports, places, multiplied, one_sample=self.one_sample)
            else:
                rows = PairedRows(
                    (a.evidence, b.evidence),
                    supports,
                    places,
                    one_sample=self.one_sample[0],
                    joined=not shares and any(support.edge is not None for support in supports),
                    ranked=ranked,
                    keep=self.keep,
                )
            yield Draws(requests, (a, b), rows, places)

    @property
    def unrefuted(self) -> tuple[int, ...] | None:
        """Where ranges of priors are refuted in part: the pairs of scenarios that are not."""
        kept = [span.unrefuted for span in self.spans]
        if kept == [None, None]:
            return None
        return tuple(
            n
            for n, pair in enumerate(self.pairs.T)
            if all(of_side is None or i in of_side for i, of_side in zip(pair, kept, strict=True))
        )

    def _sides(self) -> Iterator[tuple[ModelRows, Range]]:
        return zip((self.a, self.b), self.spans, strict=True)

    def _minus(self, a: Values, b: Values) -> Values:
        """First minus second, by pair of scenarios, from values by scenario; see `_difference_of`."""
        i, j = self.pairs
        return self._difference_of({r: x[i] for r, x in a.items()}, {r: x[j] for r, x in b.items()})

    def _difference_of(self, *values: Values) -> Values:
        """First minus second; without a prior, or with few reviews for many rows, of what is possible."""
        a, b = (
            {r: np.clip(x, *r.limits) for r, x in of_side.items()}
            if span.unknown or side.evidence.multiplied
            else of_side
            for of_side, (side, span) in zip(values, self._sides(), strict=True)
        )
        with np.errstate(invalid="ignore"):
            return {r: a[r] - b[r] for r in a}

    def _drawn(self, n: int, rng: np.random.Generator) -> list[tuple[Scenario, ...]]:
        """The scenarios of ``n`` resamples of either: the same cases have one prior."""
        draw = partial(drawn_scenarios, n=n, rng=rng)
        first = draw(self.a.evidence, self.spans[0].scenarios)
        return [first, first if self.paired else draw(self.b.evidence, self.spans[1].scenarios)]

    def differences(self, n: int, rng: np.random.Generator, level: float) -> dict[str, Difference]:
        """First minus second, by metric."""
        errors: dict[Request, Variances] = {}
        replicates: Values = {}
        # A stream for each way to draw: no metric moves with what else was asked for.
        streams = dict(zip(("anywhere", "ends"), rng.spawn(2), strict=True))
        for draws in [] if self.lone else self.groups:
            squares = self._variances(draws) if draws.rows.joined or not n else {}
            if not n:
                errors |= squares
            rest = replace(draws, requests=[r for r in draws.requests if r not in errors])
            if rest.requests:
                drawn = self._resample(rest, n or FEW_RESAMPLES, deepcopy(streams[draws.places]))
                for r in squares.keys() & drawn.keys():
                    drawn[r] = _stretched(drawn[r], self.center[r], squares[r])
                replicates |= drawn
        flips = self._flips(level)
        return {
            r.label: self._difference(r, errors.get(r), replicates.get(r), level, flips[r])
            for r in self.requests
        }

    def _difference(
        self,
        request: Request,
        errors: Variances | None,
        replicates: Vector | None,
        level: float,
        flips: tuple[float, ...],
    ) -> Difference:
        center, errors, replicates = self._with_one_selection(request, errors, replicates)
        degrees = np.inf
        if request.places == "anywhere":
            degrees = min(degrees_of(side.support) for side in (self.a, self.b))
        if self.lone:
            how, (low, high) = "none", (np.nan, np.nan)
        elif errors is not None:
            error = np.sqrt(errors.of_rows + errors.unseen)
            how, (low, high) = INFLUENCE, normal_interval(center, error, level, degrees=degrees)
        else:
            assert replicates is not None  # what has no error was resampled
            how = "percentile"
            low, high = interval_of(replicates, center, level, how, degrees=degrees)
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
            errors=None if errors is None else np.sqrt(errors.of_rows),
            unseen=None if errors is None else errors.unseen,
            degrees=degrees,
            values=(a, b),
            value_limits=request.limits,
            better=request.metric.better if request.metric else None,
            flips=flips,
            scenario=self.n_plain // 2,
            n_plain=self.n_plain,
            selected=self._selected,
        )

    def _with_one_selection(
        self, request: Request, errors: Variances | None, replicates: Vector | None
    ) -> tuple[Vector, Variances | None, Vector | None]:
        """Of the same cases: positives are as rare or as common for both models, since they are the same.

        What is linear in μ₁ differs by Σ w (d_a − d_b) over the known positives, where d is what one of them
        adds. Its extremes are those of the law of d_a − d_b: far nearer than where each model has its worst.
        """
        center, reach = self.center[request], self._reach.get(request)
        if reach is None:
            return center, errors, replicates
        center, plain = center.copy(), np.arange(self.n_plain)
        if replicates is not None:
            replicates = replicates.copy()
        for at in (self.n_plain + plain, 2 * self.n_plain + plain):
            # Some metrics rise where positives score higher, some fall.
            up = center[at] > center[plain]
            shift, stretch = (np.where(up, high, low) for low, high in zip(*reach, strict=True))
            # Labels that lean one way only may bound it better.
            nearer = np.where(up, 1, -1) * (center[plain] + shift - center[at]) < 0
            here, there = plain[nearer], at[nearer]
            center[there] = center[here] + shift[nearer]
            if replicates is not None:
                around = replicates[here] - center[here, None]
                replicates[there] = center[there, None] + stretch[nearer, None] * around
            if errors is not None:
                for part in (errors.of_rows, errors.joined, errors.unseen):
                    part[there] = part[here] * stretch[nearer] ** 2
        return center, errors, replicates

    @cached_property
    def _reach(self) -> dict[Request, list[tuple[Vector, Vector]]]:
        """How far selection carries a difference down and up, and by how much it widens its error."""
        sides, span = (self.a.evidence, self.b.evidence), self.spans[0]
        # Of positives that are not pure, or beside known negatives, the law is not that of the known ones; an
        # estimated prior has extremes of its own.
        simple = all(e.noise is None and e.purity.value == 1 and not e.purity.is_range for e in sides)
        if not simple or span.unknown or len(self.pairs[0]) != 3 * self.n_plain:
            return {}
        plain = [span.scenarios[i] for i in span.by_law[0]]
        sums = self.a.evidence.table.support.sums()
        rules = (self.a.evidence.rule(sums, span.scenarios[i]).tilt for i in span.by_law[1])
        tilts = [replace(tilt, edge=None, still=False) for tilt in rules if tilt is not None]
        out: dict[Request, list[tuple[Vector, Vector]]] = {}
        for draws in self.groups:
            if not isinstance(draws.rows, PairedRows):
                continue
            linear = [r for r in draws.requests if r.metric is not None and r.metric.linear]
            a, b = ([model.by_atom(linear, s) for s in plain] for model in draws.models)
            for r in linear:
                values = [draws.rows.along(POSITIVE, x[r], y[r]) for x, y in zip(a, b, strict=True)]
                out[r] = [
                    _tilted_means(values, [replace(tilt, upward=up) for tilt in tilts])
                    for up in (False, True)
                ]
        return out

    def over_selection(self, request: Request) -> tuple[float, float]:
        """What a difference may be over selection alone, without sampling error."""
        values = self._with_one_selection(request, None, None)[0][list(self._selected)]
        return float(np.nanmin(values)), float(np.nanmax(values))

    @property
    def _selected(self) -> tuple[int, ...]:
        """The pairs that differ from that of the values by selection alone."""
        of_sides = zip(self.pairs, self.spans, strict=True)
        alone = np.all([np.isin(i, span.selected or [span.middle]) for i, span in of_sides], axis=0)
        return tuple(np.flatnonzero(alone).tolist())

    def _resample(self, draws: Draws, n: int, rng: np.random.Generator) -> Values:
        """Replicates (n_pairs, n)."""
        n_pairs, requests = self.pairs.shape[1], draws.requests
        near = [
            model.near(requests, span.scenarios) for model, span in zip(draws.models, self.spans, strict=True)
        ]
        # Values are moved by what joining the rows changed, but not where a few rows decide: their jumps are
        # the sample's own, and no resample has them.
        shift = {r: 0.0 if r.local else self.exact[r] - x for r, x in self._minus(*near).items()}
        out = {r: np.empty((n_pairs, n)) for r in requests}
        of_shares, start = rng.spawn(1)[0], 0
        with progress("Resampling", n, long=n * n_pairs * draws.rows.n_cells > 30_000_000) as advance:
            for sums in draws.rows.resampled(n, rng):
                size = next(iter(sums[0].values())).shape[0]
                of_sides = zip(
                    draws.models,
                    self._drawn(size, of_shares),
                    self._redrawn(draws.models, sums, size, of_shares),
                    near,
                    strict=True,
                )
                values = [_replicates(requests, *of_side) for of_side in of_sides]
                for r, difference in self._minus(*values).items():
                    out[r][:, start : start + size] = _whole(difference + np.reshape(shift[r], (-1, 1)))
                start += size
                advance(size)
        return out

    def _redrawn(
        self, models: tuple[ModelRows, ModelRows], sums: tuple[Sums, Sums], n: int, rng: np.random.Generator
    ) -> list[Sums]:
        """The sums with what was estimated of rows drawn again: of the same cases, from one replicate."""
        if not any(model.evidence.values_are_estimated for model in models):
            return list(sums)
        ranks = rng.random(n)
        return [
            model.evidence.redrawn(of_side, model.support, ranks if i == 0 or self.paired else rng.random(n))
            for i, (model, of_side) in enumerate(zip(models, sums, strict=True))
        ]

    def _variances(self, draws: Draws) -> dict[Request, Variances]:
        """Variances of smooth differences, in closed form."""
        curves = all(
            side.evidence.measure_at(s).unsigned for side, span in self._sides() for s in span.scenarios
        )
        requests = [request for request in draws.requests if request.smooth(curves=curves)]
        if not requests:
            return {}
        a, b = (
            [gradients(partial(model.values, requests, s), model.support) for s in span.scenarios]
            for model, span in zip(draws.models, self.spans, strict=True)
        )
        of_shares = self._variances_of_shares(requests)
        ways = draws.rows.variance, draws.rows.variance_of_joined, draws.rows.unseen
        out = {}
        for r in requests:
            rows, joined, unseen = (
                np.asarray([of(a[i][r], b[j][r]) for i, j in self.pairs.T]) for of in ways
            )
            shares = of_shares.get(r, 0.0)
            out[r] = Variances(rows + shares, joined + shares, unseen)
        return out

    def _variances_of_shares(self, requests: list[Request]) -> Values:
        """What the replicates of estimated shares add, by pair of scenarios; nothing where there are none."""
        drawn = self._drawn(FEW_RESAMPLES, np.random.default_rng(0))
        if all(
            x is s
            for of_side, span in zip(drawn, self.spans, strict=True)
            for x, s in zip(of_side, span.scenarios, strict=True)
        ):
            return {}
        by_side = [
            [side.values(requests, s, side.joined) for s in of_side]
            for (side, _), of_side in zip(self._sides(), drawn, strict=True)
        ]
        pairs = [self._difference_of(by_side[0][i], by_side[1][j]) for i, j in self.pairs.T]
        return {r: np.asarray([spread_of(pair[r]) for pair in pairs]) for r in requests}

    def _flips(self, level: float) -> dict[Request, tuple[float, ...]]:
        """Priors, among those not refuted, at which the better model becomes the worse."""
        evidence, other = self.a.evidence, self.b.evidence
        if evidence.population is None or other.population is None or not self.paired:
            return dict.fromkeys(self.requests, ())
        priors, as_read = _not_refuted(evidence, other, level=level)
        scenario = Scenario(prior=as_read, purity=evidence.purity.value)
        near: tuple[Values, Values] = ({}, {})
        for draws in self.groups:
            for values, model in zip(near, draws.models, strict=True):
                values |= model.values(draws.requests, scenario, model.joined)
        difference = self._difference_of(*near)
        # The joined rows are off by a little that changes slowly with the prior.
        some = np.linspace(0, N_PRIORS - 1, N_EXACT).astype(int)
        at = tuple(Scenario(prior=float(x), purity=evidence.purity.value) for x in as_read[some])
        exact = self._difference_of(*(side.exact(self.requests, at) for side in (self.a, self.b)))
        out = {}
        for r, of_joined in difference.items():
            line = np.broadcast_to(of_joined, priors.shape)
            out[r] = _roots(priors, line + np.interp(priors, priors[some], exact[r] - line[some]))
        return out


def _tilted_means(samples: list[tuple[Vector, Vector]], tilts: list[Tilt]) -> tuple[Vector, Vector]:
    """By how much tilts along values with weights move their mean, and what they multiply its error by."""
    moved, stretched = [], []
    for (values, weight), tilt in zip(samples, tilts, strict=True):
        order = np.argsort(values, kind="stable")
        value, share = values[order], weight[order] / weight.sum()
        law = tilt.law(share)
        moved.append(float((law - share) @ value))
        # The mean of a tail has the error of what lies beyond the value at which it begins.
        times = law / np.where(share > 0, share, 1.0)
        influence = times * (value - value[np.argmax((times > 1) == tilt.upward)])
        of_tail, of_all = (float(np.sqrt(share @ (x - share @ x) ** 2)) for x in (influence, value))
        stretched.append(max(of_tail / of_all, 1.0) if of_all > 0 else 1.0)
    return np.asarray(moved), np.asarray(stretched)


def _replicates(
    requests: list[Request], model: ModelRows, scenarios: tuple[Scenario, ...], sums: Sums, near: Values
) -> Values:
    """Values (n_scenarios, n) of resampled sums of one model."""
    by_scenario = [model.values(requests, scenario, sums) for scenario in scenarios]
    return {
        r: np.stack([_without_noise(r, x[r], center) for x, center in zip(by_scenario, near[r], strict=True)])
        for r in requests
    }


def _without_noise(request: Request, replicates: Vector, center: float) -> Vector:
    """Replicates as they are, of a distance reflected: noise adds to it in quadrature, each time it is drawn.

    Two models' noise differs, so it does not cancel from the difference.
    """
    if not request.is_distance:
        return replicates
    return np.asarray(np.sqrt(np.maximum(2 * center**2 - replicates**2, 0.0)))


def _stretched(replicates: Vector, center: Vector, variances: Variances) -> Vector:
    """Replicates of joined rows with the spread of the rows themselves."""
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.sqrt((variances.of_rows + variances.unseen) / (variances.joined + variances.unseen))
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
