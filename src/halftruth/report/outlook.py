"""The outlook: what intervals are to be expected with more rows of one kind, or with labels.

The table to expect with m more rows is the present one with other counts, which need not be whole. The
variance in closed form on it is the one to expect: with two samples the part of stratum k falls as
n_k / (n_k + m), and the weights with which known negatives are mixed in, the priors not refuted and
the sizes of the strata follow.

In one table (``population="all"``) m more known positives, or negatives, are cases of the table whose label
becomes known: they leave the unlabeled, and there must be so many among them. More unlabeled cases are
drawn from the population, and may be positive.

Labels for k random cases (new ones) give a second, independent estimate of the pair (metric, prior), with
the covariance of k labeled rows of the present measure. Where that is signed by noise, rows have the
frequencies that are possible (`possible`): negative masses taken as 0 would make the classes overlap more
than they do, and the variance too large. The two pairs are combined by their inverse covariances.
Where only a range of priors is known, it is cut to what the labels leave of it, π ± z √(π(1−π)/k) around
the present value; and where the labels alone give a narrower interval, theirs counts. Of an unknown prior no
value is the present one: the widest of three is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from statistics import NormalDist
from typing import Any

import numpy as np

from halftruth.calibration.rising import possible, shares
from halftruth.checks import Vector
from halftruth.evaluation import FEW_RESAMPLES, FEWER_ATOMS
from halftruth.evidence import Evidence, PositiveUnlabeled, Scenario
from halftruth.evidence.negatives import Noise
from halftruth.intervals import normal_interval
from halftruth.measure import ScoreMeasure
from halftruth.prior.bounds import upper_bound
from halftruth.shares import Sizes
from halftruth.support import Cells, Column, Sums, Support, lifted
from halftruth.table import NEGATIVE, POSITIVE, UNLABELED
from halftruth.uncertainty.influence import Gradient, gradients, unsigned, variance
from halftruth.uncertainty.prior_range import MOST, drawn_scenarios, prior_range
from halftruth.uncertainty.requests import PRIOR, Request

LABELS = "labels"
QUARTERS = (0.25, 0.5, 0.75)
WHAT = {POSITIVE: "positives", UNLABELED: "unlabeled", NEGATIVE: "negatives"}

Values = Callable[[Sums], Mapping[Request, Vector]]


@dataclass(frozen=True, eq=False)
class Pair:
    """An estimate of (metric, prior), and its covariance."""

    value: Vector
    covariance: Vector

    def combined(self, other: Pair) -> Pair:
        """Both estimates, independent of each other, weighted by their inverse covariances."""
        if not np.isfinite([*self.value, *self.covariance.flat, *other.covariance.flat]).all():
            return Pair(np.full(2, np.nan), np.full((2, 2), np.nan))
        # In this form no covariance need have an inverse: a prior that is known has no variance.
        gain = self.covariance @ np.linalg.pinv(self.covariance + other.covariance, 1e-9, hermitian=True)
        return Pair(self.value + gain @ (other.value - self.value), self.covariance - gain @ self.covariance)


@dataclass(frozen=True, eq=False)
class Outlook:
    """A table, as it is or as it is to be expected, and the scenarios that intervals cover."""

    evidence: Evidence
    support: Support
    requests: tuple[Request, ...]
    scenarios: tuple[Scenario, ...]
    level: float
    one_sample: bool
    unknown: bool
    logit: bool
    seen: Mapping[str, float]
    """Rows of each stratum that are there now."""

    @classmethod
    def of(
        cls, evidence: Evidence, requests: Sequence[Request], level: float, *, one_sample: bool
    ) -> Outlook:
        span = prior_range(evidence, level)
        logit = all(unsigned(evidence.measure_at(scenario)) for scenario in span.scenarios)
        smooth = tuple(r for r in requests if r.smooth(curves=logit))
        given = (r.call.keywords for r in requests if isinstance(r.call, partial))
        keep = {keywords["threshold"] for keywords in given if "threshold" in keywords}
        support = evidence.table.support.coarse(FEWER_ATOMS, keep)
        seen = {name: _rows([cells]) for name, cells in support.strata.items()}
        return cls(evidence, support, smooth, span.scenarios, level, one_sample, span.unknown, logit, seen)

    @property
    def rows(self) -> float:
        """The known positives, or all rows where each has its label."""
        strata = self.support.strata
        return _rows([strata[POSITIVE]] if self.evidence.kind.startswith("positive") else strata.values())

    # --- intervals --------------------------------------------------------------------------------

    def widths(self) -> dict[Request, float]:
        each = [self._pairs(scenario) for scenario in self.scenarios]
        return {r: self._width(r, [pairs[r] for pairs in each]) for r in self.requests}

    def _width(self, request: Request, pairs: Sequence[Pair]) -> float:
        """Of the union over the scenarios."""
        centers = np.asarray([pair.value[0] for pair in pairs])
        errors = np.sqrt(np.maximum([pair.covariance[0, 0] for pair in pairs], 0.0))
        if self.unknown:  # as in `evaluate`, only what is possible bounds a metric then
            centers = np.clip(centers, *request.limits)
        low, high = normal_interval(centers, errors, self.level, request.limits, logit=self.logit)
        return high - low

    def _pairs(self, scenario: Scenario) -> dict[Request, Pair]:
        values = partial(self._values, scenario)
        out = _pairs_of(values, self.support, self.seen, one_sample=self.one_sample)
        fixed = np.random.default_rng(0)
        drawn = drawn_scenarios(self.evidence, (scenario,), FEW_RESAMPLES, fixed, even=True)[0]
        if drawn is scenario:
            return out
        replicates = self._values(drawn, lifted(self.support.sums()))
        return {r: _spread(pair, replicates[r], replicates[PRIOR]) for r, pair in out.items()}

    def _measure(self, scenario: Scenario, sums: Sums) -> ScoreMeasure:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return self.evidence.rule(sums, scenario).apply(self.support.score, sums)

    def _values(self, scenario: Scenario, sums: Sums) -> dict[Request, Vector]:
        return _over(self._measure(scenario, sums), self.requests)

    # --- more rows --------------------------------------------------------------------------------

    def widths_with_more(self, rows: int) -> dict[str, dict[Request, float]]:
        """The widths to expect, by what is collected."""
        strata = self.support.strata
        if not isinstance(self.evidence, PositiveUnlabeled):
            factor = 1 + rows / _rows(strata.values())
            later = self._on({name: _scaled(cells, factor) for name, cells in strata.items()})
            what = WHAT[POSITIVE] if self.evidence.kind == "positive_confidence" else LABELS
            return {what: later.widths()}
        more = self._in_one_table if self.evidence.population == "all" else self._in_a_sample
        tables = {WHAT[name]: more(name, rows) for name in strata}
        out = {what: self._on(table).widths() for what, table in tables.items() if table is not None}
        return {**out, LABELS: self._widths_with_labels(rows)}

    def _in_a_sample(self, name: str, rows: int) -> dict[str, Cells] | None:
        own = self.support.strata[name]
        return {**self.support.strata, name: _scaled(own, 1 + rows / _rows([own]))}

    def _in_one_table(self, name: str, rows: int) -> dict[str, Cells] | None:
        strata = self.support.strata
        positive, unlabeled, own = strata[POSITIVE], strata[UNLABELED], strata[name]
        if name == UNLABELED:
            share = rows / _rows(strata.values())
            drawn = [_scaled(cells, share) for cells in strata.values()]
            known = _labeled_as_often(positive, 1 / (1 + share))
            return {**strata, POSITIVE: known, UNLABELED: _pooled([unlabeled, *drawn])}
        middle = self._points()[1 if self.unknown else 0]
        alpha = np.ravel(self._measure(middle, lifted(self.support.sums())).alpha)[0]
        hidden = alpha / middle.purity if name == POSITIVE else 1 - alpha
        if rows >= hidden * _rows([unlabeled]):
            return None
        share = rows / _rows([own])
        # A hair fewer, since a score that is left with exactly nothing has no derivative.
        rest = _pooled([unlabeled, _scaled(own, -share * (1 - 1e-6))])
        return {**strata, name: _labeled_as_often(_scaled(own, 1 + share), 1 + share), UNLABELED: rest}

    def _on(self, strata: dict[str, Cells]) -> Outlook:
        """The outlook on other counts."""
        support, evidence = replace(self.support, strata=strata), self.evidence
        if isinstance(evidence, PositiveUnlabeled) and NEGATIVE in strata:
            evidence = copy(evidence)
            evidence.noise = Noise.of(support, _base(evidence))
        scenarios = self._not_refuted(support) if self.unknown else self.scenarios
        return replace(self, evidence=evidence, support=support, scenarios=scenarios)

    def _not_refuted(self, later: Support) -> tuple[Scenario, ...]:
        """The priors of an unknown range that other counts would leave."""
        evidence = self.evidence
        assert isinstance(evidence, PositiveUnlabeled)  # no other has an unknown prior
        bounds, sizes = [], []
        for support in (self.support, later):
            sums = support.sums()
            n_positive, n_unlabeled = (_rows([support.strata[name]]) for name in (POSITIVE, UNLABELED))
            masses = sums[_base(evidence)], sums[UNLABELED, "weight"]
            bounds.append(min(upper_bound(*masses, n_positive, n_unlabeled, self.level), MOST))
            sizes.append(Sizes.of(sums))
        ratio = bounds[1] / bounds[0]
        if evidence.population == "unlabeled":
            return tuple(replace(s, prior=s.prior * ratio) for s in self.scenarios)
        return tuple(
            replace(s, prior=float(sizes[1].pi(ratio * sizes[0].alpha(s.prior, s.purity), s.purity)))
            for s in self.scenarios
        )

    # --- labels -----------------------------------------------------------------------------------

    def _points(self) -> list[Scenario]:
        """The scenario of the value; of an unknown prior, three across its range."""
        if not self.unknown:
            return [self.evidence.scenario]
        priors, purity = [scenario.prior for scenario in self.scenarios], self.evidence.purity.value
        return [Scenario(prior=x, purity=purity) for x in np.quantile([min(priors), max(priors)], QUARTERS)]

    def _widths_with_labels(self, rows: int) -> dict[Request, float]:
        each = [self._widths_with_labels_at(point, rows) for point in self._points()]
        return {r: float(np.fmax.reduce([widths[r] for widths in each])) for r in self.requests}

    def _widths_with_labels_at(self, point: Scenario, rows: int) -> dict[Request, float]:
        """The widths if labels agreed with this scenario."""
        measure = self._measure(point, lifted(self.support.sums()))
        prior = float(PRIOR.over(measure)[0])
        if not 0 < prior < 1:
            return dict.fromkeys(self.requests, np.nan)
        support = replace(self.support, strata=_labeled_rows(measure[0], rows * prior, rows * (1 - prior)))
        labeled = _pairs_of(partial(_of_labels, support.score, self.requests), support, None)
        present = _over(measure, self.requests)
        labeled = {r: replace(pair, value=np.asarray([present[r][0], prior])) for r, pair in labeled.items()}
        each = [self._pairs(scenario) for scenario in self._left_by_labels(point.prior, prior, rows)]
        return {
            r: np.fmin(
                self._width(r, [pairs[r].combined(labeled[r]) for pairs in each]),
                self._width(r, [labeled[r]]),
            )
            for r in self.requests
        }

    def _left_by_labels(self, middle: float, prior: float, rows: int) -> tuple[Scenario, ...]:
        """The scenarios with their priors cut to what the labels would leave."""
        given = [scenario.prior for scenario in self.scenarios]
        if len(set(given)) == 1:
            return self.scenarios
        sums = lifted(self.support.sums())
        pi = [PRIOR.over(self._measure(scenario, sums))[0] for scenario in self.scenarios]
        # The prior may have been given for the other population, of which π is a linear function.
        unit = np.ptp(given) / np.ptp(pi)
        side = NormalDist().inv_cdf((1 + self.level) / 2) * np.sqrt(prior * (1 - prior) / rows) * unit
        cut = (
            replace(s, prior=float(np.clip(s.prior, middle - side, middle + side))) for s in self.scenarios
        )
        return tuple(dict.fromkeys(cut))


def _pairs_of(
    values: Values, support: Support, seen: Mapping[str, float] | None, *, one_sample: bool = True
) -> dict[Request, Pair]:
    """Values at the sums of a support, each with the prior and their covariance."""
    at, slopes = values(lifted(support.sums())), gradients(values, support)
    strata = support.strata
    samples = [strata] if one_sample else [{name: cells} for name, cells in strata.items()]

    def spread(slope: Gradient) -> float:
        out = 0.0
        for sample in samples:
            # Expected rows repeat those seen, so that their scatter is that of so few.
            n, few = _rows(sample.values()), sum(seen[name] for name in sample) if seen else np.inf
            factor = (1 - 1 / n) / (1 - 1 / few) if few > 1 else 1.0
            out += factor * variance(slope, replace(support, strata=sample), one_sample=True)
        return out

    def pair(request: Request) -> Pair:
        own, other = slopes[request], slopes[PRIOR]
        total = spread({column: own[column] + other[column] for column in own})
        a, b = spread(own), spread(other)
        cross = (total - a - b) / 2
        value = np.asarray([at[request][0], at[PRIOR][0]])
        return Pair(value, np.asarray([[a, cross], [cross, b]]))

    return {request: pair(request) for request in at}


def _spread(pair: Pair, metric: Vector, prior: Vector) -> Pair:
    """The pair with the covariance of an estimate's replicates added."""
    both = np.stack([metric, np.broadcast_to(prior, metric.shape)])
    both = both[:, np.isfinite(both).all(axis=0)]
    return replace(pair, covariance=pair.covariance + (np.cov(both, ddof=0) if both.size else np.nan))


def _over(measure: ScoreMeasure, requests: Iterable[Request]) -> dict[Request, Vector]:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return {request: request.over(measure) for request in (*requests, PRIOR)}


def _labeled_rows(measure: ScoreMeasure, n_positive: float, n_negative: float) -> dict[str, Cells]:
    """So many positives and negatives as the measure has them, or as is possible where it has not."""
    rising = possible(measure)
    frequency = shares(measure.mass, measure.pos_mass) if rising is None else rising.at(measure.score)
    masses = [np.nan_to_num(x * np.maximum(measure.mass, 0.0)) for x in (frequency, 1 - frequency)]
    return {
        name: Cells(atom=np.flatnonzero(part), count=_any(n * part[part > 0] / part.sum()))
        for name, part, n in zip((POSITIVE, NEGATIVE), masses, (n_positive, n_negative), strict=True)
    }


def _of_labels(score: Vector, requests: Sequence[Request], sums: Sums) -> dict[Request, Vector]:
    """Values where all rows are labeled."""
    pos, neg = np.broadcast_arrays(sums[POSITIVE, "weight"], sums[NEGATIVE, "weight"])
    return _over(ScoreMeasure(score=score, mass=pos + neg, pos_mass=pos, neg_mass=neg), requests)


def _base(evidence: PositiveUnlabeled) -> Column:
    """The column of the positives' distribution."""
    return POSITIVE, "value" if evidence.propensity_given else "weight"


# --- counts ---------------------------------------------------------------------------------------------


def _rows(parts: Iterable[Cells]) -> float:
    return float(sum(cells.count.sum() for cells in parts))


def _any(count: Any) -> Any:
    """Counts that are to be expected, and so need not be whole."""
    return count


def _scaled(cells: Cells, factor: float) -> Cells:
    return replace(cells, count=_any(cells.count * factor))


def _labeled_as_often(cells: Cells, factor: float) -> Cells:
    """The same positives, each labeled with a chance that is ``factor`` times as high."""
    if cells.value is None:
        return cells
    per = np.asarray([[1], [factor], [factor]])
    spread = None if cells.spread is None else cells.spread / per
    return replace(cells, value=cells.value / factor, spread=spread)


def _pooled(parts: Sequence[Cells]) -> Cells:
    """All rows in one stratum, without their values."""
    atom = np.concatenate([cells.atom for cells in parts])
    order = np.argsort(atom, kind="stable")
    count = _any(np.concatenate([cells.count for cells in parts])[order])
    if all(cells.weight is None for cells in parts):
        return Cells(atom=atom[order], count=count)
    weight = np.concatenate(
        [np.broadcast_to(1.0 if c.weight is None else c.weight, c.atom.shape) for c in parts]
    )
    within = np.concatenate(
        [np.broadcast_to(0.0 if c.spread is None else c.spread[0], c.atom.shape) for c in parts]
    )
    spread = np.stack([within, np.zeros(len(atom)), np.zeros(len(atom))])
    return Cells(atom=atom[order], count=count, weight=weight[order], spread=spread[:, order])
