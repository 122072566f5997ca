"""What to collect next: how wide intervals will be with more rows of one kind, or with labels.

The table to expect with more rows is the present one with other counts, which need not be whole; what
`evaluate` says of it is what it will say to a user who has the rows.

In one table (``population="all"``) more known positives, or negatives, are cases of the table whose label
becomes known: they leave the unlabeled, and there must be so many among them. More unlabeled cases are
drawn from the population, and may be positive.

Labels are of random cases: of new ones, or in one table of unlabeled ones, which they leave. Each score has
its share of positives among them, as far as the present estimate is possible (`possible`). Where positives
are impure or have propensities, which those found would not share, only the negatives join. A prior that is
not known exactly may stay as it was given, be left to the three samples, or be estimated from the labels: the
narrowest counts. Of an unknown prior the widest of three values is reported, and other rows leave its range
as it is: rows that repeat those seen, with their noise, would lower the bound on it too far.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from typing import Literal

import numpy as np

from halftruth._checks import Vector
from halftruth._errors import HalftruthError, is_refuted
from halftruth.calibration._isotonic import possible, shares
from halftruth.evaluation._estimation import FEWER_ATOMS, Estimation
from halftruth.evidence import Evidence, Scenario
from halftruth.evidence._review_design import ReviewDesign
from halftruth.inference._influence import gradients
from halftruth.inference._prior_range import Range, prior_range
from halftruth.inference._requests import ModelRows, Request, thresholds_of
from halftruth.measure._score_measure import ScoreMeasure
from halftruth.prior._belief import Share
from halftruth.prior._estimate_prior import estimate_prior
from halftruth.report._page_record import Step
from halftruth.results._estimate import Estimate, Evaluation
from halftruth.results._intervals import student_quantile
from halftruth.table._score_table import NEGATIVE, POSITIVE, UNLABELED, ScoreTable
from halftruth.table._strata import StratumRows
from halftruth.table._support import SOFT, Cells, Support, pooled

__all__ = ["Outlook", "next_steps", "review_steps", "smooth"]

What = Literal["positives", "unlabeled", "negatives", "labels"]
LABELS: What = "labels"
QUARTERS = (0.25, 0.5, 0.75)
WHAT: dict[str, What] = {POSITIVE: "positives", UNLABELED: "unlabeled", NEGATIVE: "negatives"}
FEWEST_OF_CLASS = 5  # labels say little of a class of which they show fewer

NEW, OF_THE_TABLE = "new ones", "unlabeled ones of the table"
BOTH, ONLY_NEGATIVES = "given as known positives and negatives", "the negatives given as known negatives"
NO_PRIOR, THEIR_PRIOR = ", without a prior", ", with the prior that they show"
UNKNOWN = "; less at some priors"

FEWEST = 50  # rows worth speaking of
FEW_POSITIVES = 30  # known positives whose own scatter is known only roughly
MORE_REVIEWS = 100
NOTHING = 1e-9  # the width of an interval that is none

_width = attrgetter("width")


def next_steps(
    evidence: Evidence, requests: Sequence[Request], *, confidence_level: float, one_sample: bool
) -> tuple[Step, ...]:
    """What more rows of each kind would do to the interval of each metric that has a closed form.

    Metrics without one, and those whose interval has no width, are left out. ``one_sample``: whether rows
    of all strata were drawn together, as for `variance`. Each kind gets the same number of rows, a round
    number near that of the known positives, or of the rows where all are labeled. Steps come by metric,
    headlines first; of one metric the best first; none where the data refute what was given.
    """
    span = prior_range(evidence, confidence_level)
    if evidence.lone_positive or is_refuted(span.notes):
        return ()
    ranked = smooth(evidence, sorted(requests, key=_rank), span.scenarios)
    low, high = evidence.measure().span
    # All rows have one score: more of them would rank no better.
    if not ranked or low == high:
        return ()
    partial_labels = evidence.prior_is_free
    n = len(evidence.table.strata[POSITIVE]) if partial_labels else len(evidence.table)
    rows = _round_number(n)
    if evidence.population is not None:
        outlook = Outlook(evidence, ranked, span, confidence_level, one_sample)
        widths, options = outlook.widths(), outlook.widths_with_more(rows)
    else:
        now = closed_form(evidence, ranked, confidence_level, one_sample=one_sample)
        widths, kind = _widths_of(now), WHAT[POSITIVE] if partial_labels else LABELS
        options = {kind: {r: _with_rows_alike(x, n, rows) for r, x in now.items()}}
    steps = [
        Step(
            what=kind,
            rows=rows,
            metric=r.label,
            width=widths[r],
            then=then[r].width,
            how=then[r].how,
            rough=partial_labels and n < FEW_POSITIVES,
        )
        for r in ranked
        for kind, then in options.items()
        if widths.get(r, np.nan) > NOTHING and r in then and then[r].width > NOTHING
    ]
    place = {r.label: i for i, r in enumerate(ranked)}
    return tuple(sorted(steps, key=lambda step: (place[step.metric], step.then)))


def _round_number(n: float) -> int:
    """1, 2 or 5 times a power of ten: the one with the least ratio to n, from FEWEST."""
    numbers: list[int] = [digit * 10**power for power in range(1, 18) for digit in (1, 2, 5)]
    return min((x for x in numbers if x >= FEWEST), key=lambda x: abs(math.log(x / max(n, 1))))


def _rank(request: Request) -> int:
    """Headlines first, others as they were asked for: the sort is stable."""
    headline = None if request.metric is None else request.metric.headline
    return sys.maxsize if headline is None else headline


# --- The rows to expect ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Width:
    """Of an interval to expect, and how to get it where that needs a word."""

    width: float
    how: str = ""


class JoinedSupport(Support):
    """Scores that were joined already: counts of rows that are joined would be whole."""

    def coarse(self, n_atoms: int, keep: Iterable[float] = ()) -> Support:
        return self


@dataclass(frozen=True, eq=False)
class ExpectedTable(ScoreTable):
    """A table known by its counts, which need not be whole; its rows only stand for them."""

    counts: Support

    @classmethod
    def of(cls, counts: Support, meaning: str | None) -> ExpectedTable:
        def rows(cells: Cells) -> StratumRows:
            if cells.value is None:
                return StratumRows(score=np.repeat(counts.score[cells.atom], 2))
            # A stratum of rows holds their value by their weight, and whole rows.
            per_weight = cells.value if cells.weight is None else cells.value / cells.weight
            whole = np.ceil(cells.count).astype(int)
            atom, value = np.repeat(cells.atom, whole), np.repeat(per_weight, whole)
            return StratumRows(score=counts.score[atom], value=value, meaning=meaning)

        return cls({name: rows(cells) for name, cells in counts.strata.items()}, counts)

    @cached_property
    def support(self) -> Support:
        return self.counts

    def effective_rows(self, *names: str) -> float:
        total = squares = 0.0
        for cells in (self.counts.strata[name] for name in names or self.counts.strata):
            weight = 1.0 if cells.weight is None else cells.weight
            within = 0.0 if cells.spread is None else cells.spread[0]
            total += float(np.sum(cells.count * weight))
            squares += float(np.sum(cells.count * (weight**2 + within**2)))
        return total**2 / squares


@dataclass(frozen=True, eq=False)
class Outlook:
    """Positives and unlabeled as they are, and as they are to be expected."""

    evidence: Evidence
    requests: tuple[Request, ...]
    span: Range
    level: float
    one_sample: bool

    @cached_property
    def support(self) -> Support:
        """The present counts."""
        keep = {r.parameters["threshold"] for r in self.requests if "threshold" in r.parameters}
        joined = self.evidence.table.support.coarse(FEWER_ATOMS, keep)
        return JoinedSupport(score=joined.score, strata=joined.strata, edge=joined.edge)

    @property
    def in_one_table(self) -> bool:
        return self.evidence.population == "all"

    def widths(self) -> dict[Request, float]:
        if not self.span.unknown:
            return self._widths(self.support.strata, self.evidence.prior.as_given())
        # The bound on an unknown prior is lower where scores are not joined.
        return _widths_of(closed_form(self.evidence, self.requests, self.level, one_sample=self.one_sample))

    def _widths(self, strata: Mapping[str, Cells], prior: Share | None) -> dict[Request, float]:
        """Of intervals in closed form; none where such evidence would be refused."""
        try:
            expected = self._evidence(strata, prior)
            then = closed_form(expected, self.requests, self.level, one_sample=self.one_sample)
        except HalftruthError:
            return {}
        return _widths_of(then)

    def _evidence(self, strata: Mapping[str, Cells], prior: Share | None) -> Evidence:
        meaning = self.evidence.table.strata[POSITIVE].meaning
        table = ExpectedTable.of(replace(self.support, strata=strata), meaning)
        return self.evidence.with_table(table).with_shares(prior, self.evidence.purity.as_given())

    # --- more rows --------------------------------------------------------------------------------

    def widths_with_more(self, rows: int) -> dict[What, dict[Request, Width]]:
        """By what is collected."""
        kinds = [*(WHAT[name] for name in self.support.strata), LABELS]
        return {kind: self.widths_with(kind, rows) for kind in kinds}

    def widths_with(self, kind: What, rows: int) -> dict[Request, Width]:
        """With so many more rows; none where they are not to be had, or what was given would be refused."""
        if kind == LABELS:
            return self._widths_with_labels(rows)
        name = next(name for name, word in WHAT.items() if word == kind)
        strata = (self._in_one_table if self.in_one_table else self._in_a_sample)(name, rows)
        if strata is None:
            return {}
        if not self.span.unknown:
            return {r: Width(x) for r, x in self._widths(strata, self.evidence.prior.as_given()).items()}
        priors, now = [scenario.prior for scenario in self.span.scenarios], self.widths()
        # More rows do not widen an interval, though the joined scores of the range may.
        then = self._widths(strata, (min(priors), max(priors)))
        return {r: Width(min(x, now[r])) for r, x in then.items() if r in now}

    def _in_a_sample(self, name: str, rows: int) -> dict[str, Cells] | None:
        cells = self.support.strata[name]
        return {**self.support.strata, name: cells.scaled(1 + rows / _rows([cells]))}

    def _in_one_table(self, name: str, rows: int) -> dict[str, Cells] | None:
        strata = self.support.strata
        positive, unlabeled, grown = strata[POSITIVE], strata[UNLABELED], strata[name]
        if name == UNLABELED:
            share = rows / _rows(strata.values())
            drawn = [cells.scaled(share) for cells in strata.values()]
            known = _labeled_as_often(positive, 1 / (1 + share))
            return {**strata, POSITIVE: known, UNLABELED: pooled([unlabeled, *drawn])}
        middle = self._points()[len(self._points()) // 2]
        alpha = float(self._measure(middle).alpha)
        hidden = alpha / middle.purity if name == POSITIVE else 1 - alpha
        if rows >= hidden * _rows([unlabeled]):
            return None
        share = rows / _rows([grown])
        rest = _left(unlabeled, [grown.scaled(share)])
        return {**strata, name: _labeled_as_often(grown.scaled(1 + share), 1 + share), UNLABELED: rest}

    def _measure(self, scenario: Scenario) -> ScoreMeasure:
        return self._evidence(self.support.strata, self.evidence.prior.as_given()).measure_at(scenario)

    # --- labels -----------------------------------------------------------------------------------

    def _points(self) -> list[Scenario]:
        """The scenario of the value; of an unknown prior, three across its range."""
        if not self.span.unknown:
            return [self.evidence.scenario]
        priors, purity = [s.prior for s in self.span.scenarios], self.evidence.purity.value
        return [Scenario(prior=x, purity=purity) for x in np.quantile([min(priors), max(priors)], QUARTERS)]

    def _widths_with_labels(self, rows: int) -> dict[Request, Width]:
        by_point = [self.widths_with_labels_at(point, rows) for point in self._points()]
        everywhere = [r for r in self.requests if all(r in widths for widths in by_point)]
        widest = {r: max((widths[r] for widths in by_point), key=_width) for r in everywhere}
        return {r: replace(x, how=x.how + UNKNOWN) if len(by_point) > 1 else x for r, x in widest.items()}

    def widths_with_labels_at(self, point: Scenario, rows: int) -> dict[Request, Width]:
        """The narrowest of the ways to use the labels, if they agreed with a scenario."""
        measure = self._measure(point)
        positives = float(measure.alpha) * rows
        too_many = self.in_one_table and rows >= _rows([self.support.strata[UNLABELED]])
        if too_many or min(positives, rows - positives) < FEWEST_OF_CLASS:
            return {}
        strata, how = self._with_labels(measure, rows)
        ways = self._priors(round(positives), rows)
        widths = {how + way: self._widths(strata, prior) for way, prior in ways.items()}
        options = {
            r: [Width(x[r], how) for how, x in widths.items() if x.get(r, 0) > 0] for r in self.requests
        }
        return {r: min(choices, key=_width) for r, choices in options.items() if choices}

    def _priors(self, positives: int, rows: int) -> dict[str, Share | None]:
        """The priors that one may give with the labels."""
        prior = self.evidence.prior
        if prior.value is not None and not prior.is_range and prior.replicates is None:
            return {"": prior.value}
        out: dict[str, Share | None] = {"": prior.as_given()}
        if prior.value is not None:
            out[NO_PRIOR] = None
        try:
            sample = estimate_prior(self.evidence, labeled_sample=(positives, rows), method="sample")
        except HalftruthError:  # at no single purity, or where propensities show it
            return out
        return {**out, THEIR_PRIOR: sample}

    def _with_labels(self, measure: ScoreMeasure, rows: int) -> tuple[dict[str, Cells], str]:
        """The strata that the labels join, and what to do with them."""
        strata, unlabeled = dict(self.support.strata), self.support.strata[UNLABELED]
        frequency = self._frequency(measure)[unlabeled.atom]
        drawn = unlabeled.scaled(rows / _rows([unlabeled]))
        labeled = {NEGATIVE: drawn.share(1 - frequency)}
        pure = self.evidence.purity.value == 1 and not self.evidence.purity.is_range
        both = pure and not self.evidence.propensity_given
        if both:
            labeled = {POSITIVE: drawn.share(frequency)} | labeled
        for name, cells in labeled.items():
            strata[name] = pooled([strata[name], cells]) if name in strata else cells
        if self.in_one_table:
            strata[UNLABELED] = _left(unlabeled, labeled.values())
        cases, use = OF_THE_TABLE if self.in_one_table else NEW, BOTH if both else ONLY_NEGATIVES
        return strata, f"{cases}, {use}"

    def _frequency(self, measure: ScoreMeasure) -> Vector:
        """The share of positives among the unlabeled at each score, between 0 and 1."""
        sums = self.support.sums()
        mass = sums[UNLABELED, "weight"]
        pos = measure.pos_mass * (float(measure.alpha) * mass.sum() / measure.pos_mass.sum())
        if self.in_one_table and self.evidence.propensity_given:  # those left are not as all
            pos = measure.pos_mass - sums[POSITIVE, "weight"]
        left = ScoreMeasure(score=measure.score, mass=mass, pos_mass=pos, size=measure.size)
        rising = possible(left)
        return np.nan_to_num(shares(mass, pos)) if rising is None else rising.at(left.score)


def smooth(
    evidence: Evidence, requests: Iterable[Request], scenarios: Iterable[Scenario]
) -> tuple[Request, ...]:
    """Those with an error in closed form."""
    curves = all(evidence.measure_at(scenario).unsigned for scenario in scenarios)
    return tuple(r for r in requests if r.smooth(curves=curves))


def closed_form(
    evidence: Evidence, requests: Sequence[Request], level: float, *, one_sample: bool
) -> dict[Request, Estimate]:
    """What `evaluate` says, where its intervals are from standard errors."""
    evidence = evidence.to_host()
    span = prior_range(evidence, level)
    return Estimation(evidence, tuple(requests), span, None, 0, one_sample=one_sample).in_closed_form(level)


def _widths_of(rows: Mapping[Request, Estimate]) -> dict[Request, float]:
    return {r: row.high - row.low for r, row in rows.items()}


def _with_rows_alike(row: Estimate, n: int, more: int) -> Width:
    """With more rows of the same kind as all n: errors fall with the root of the rows."""
    assert row.errors is not None
    growth = (n + more) / n
    larger = replace(
        row,
        errors=row.errors / np.sqrt(growth),
        unseen=None if row.unseen is None else row.unseen / growth**2,
        share_rows=None if row.share_rows is None else row.share_rows * growth,
        degrees=row.degrees * growth,
    )
    low, high = larger.interval(row.confidence_level)
    return Width(high - low)


# --- counts ---------------------------------------------------------------------------------------------


def _rows(parts: Iterable[Cells]) -> float:
    return float(sum(cells.count.sum() for cells in parts))


def _left(cells: Cells, taken: Iterable[Cells]) -> Cells:
    """What is left of cells; a hair more, since a score with exactly nothing has no derivative."""
    return pooled([cells, *(lost.scaled(-(1 - 1e-6)) for lost in taken)])


def _labeled_as_often(cells: Cells, factor: float) -> Cells:
    """The same positives, each labeled with a chance that is ``factor`` times as high."""
    if cells.value is None:
        return cells
    per = np.asarray([[1], [factor], [factor]])
    spread = None if cells.spread is None else cells.spread / per
    return replace(cells, value=cells.value / factor, spread=spread)


# --- reviews --------------------------------------------------------------------------------------------


def review_steps(result: Evaluation, design: ReviewDesign) -> tuple[Step, ...]:
    """Each interval's width, and with some reviews more, drawn alike: NaN where nothing is known of that.

    Of the variance only the part goes down that reviewing some rows only has left, Σ φ² w² u (1/e − 1)(y −
    p̂)² with φ what a positive at a score moves in the metric. What is due to the rows being a sample, to
    reviewers who err and to rows that nobody can look at stays.
    """
    assert result.origin is not None
    evidence, requests = result.origin.evidence[""], result.origin.requests
    more = min(MORE_REVIEWS, design.left)
    quantile = student_quantile((1 + result.confidence_level) / 2, math.inf)
    moves = {} if not more or design.open_rows else _moves(evidence, requests, design.reviews.score)
    steps = []
    for label, row in result.items():
        width, then = row.shown[2] - row.shown[1], math.nan
        if label in moves:
            now, later = (
                (2 * quantile) ** 2 * float(np.sum(moves[label] ** 2 * design.reviews.noise(design.guess, n)))
                for n in (0, more)
            )
            share = min(1.0, now / width**2) if width > 0 else 0.0
            then = width * math.sqrt(1 - share * (1 - later / now)) if now > 0 else width
        steps.append(Step(what="reviews", rows=more, metric=label, width=width, then=then))
    return tuple(steps)


def _moves(evidence: Evidence, requests: tuple[Request, ...], score: Vector) -> dict[str, Vector]:
    """What a positive at each of these scores moves in each metric that has a derivative."""
    smooth = [r for r in requests if r.smooth(curves=True)]
    soft = evidence.for_page
    joined = soft.table.support.coarse(2 * FEWER_ATOMS, thresholds_of(requests))
    support = replace(joined, strata={SOFT: joined.strata[SOFT]})
    model = ModelRows(soft, support)
    slopes = gradients(lambda sums: model.values(smooth, soft.scenario, sums), support)
    first = support.score if support.edge is None else support.edge
    atom = np.maximum(np.searchsorted(first, score, side="right") - 1, 0)
    return {r.label: slope[SOFT, "value"][atom] for r, slope in slopes.items()}
