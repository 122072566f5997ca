"""How many latent positives there can be: what the user believes, less what the ranks refute."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, Note, Refuted, arg, call
from halftruth.evidence import PositiveUnlabeled
from halftruth.rank_bounds._rank_paths import Bander, Paths
from halftruth.table._score_table import POSITIVE, UNLABELED

__all__ = ["POPULATION", "ROWS", "AllowedTotals", "Totals", "calibration_points"]

POPULATION, ROWS = "population", "rows"  # of which a prior is the share of positives


@dataclass(frozen=True, kw_only=True)
class AllowedTotals:
    """The numbers of latent positives that are allowed, from ``low`` to ``high``."""

    low: int
    high: int
    confidence_level: float
    """Of the band: what is left where α has an error of its own."""
    notes: tuple[Note, ...] = ()

    @classmethod
    def of(
        cls, evidence: PositiveUnlabeled, prior_of: str, labeled_sample: tuple[int, int] | None, level: float
    ) -> AllowedTotals:
        """From a prior (a number, a range, an estimate, nothing) or from a sample with labels."""
        n = len(evidence.table.strata[UNLABELED])
        # Where the number has an error of its own, half of the error is its and half the band's (Bonferroni).
        halved = (1 + level) / 2
        if labeled_sample is not None:
            return cls._sampled(evidence, labeled_sample, n, halved)
        prior = evidence.prior
        if prior.value is None:
            return cls(low=0, high=n, confidence_level=level)
        if prior_of == POPULATION:
            return cls._drawn(evidence, n, halved)
        if prior.replicates is not None:
            tails = np.quantile(prior.replicates, [(1 - halved) / 2, (1 + halved) / 2])
            low, high = np.clip(evidence.alpha_of(tails), 0, 1)
        else:
            low, high = evidence.alpha_ends()
        least, most = max(_up(low * n), 0), min(_down(high * n), n)
        notes: tuple[Note, ...] = ()
        if least > most or (low == high and least != most):
            least = most = round((low + high) / 2 * n)
            share = f"α = {low:.4g}" if low == high else f"α from {low:.4g} to {high:.4g}"
            text = f"{share} of {n:,} unlabeled rows is no whole number of positives: taken as {least:,}."
            notes = (Note("prior", text),)
        of_band = level if prior.estimate is None else halved
        return cls(low=least, high=most, confidence_level=of_band, notes=notes)

    @classmethod
    def _drawn(cls, evidence: PositiveUnlabeled, n: int, level: float) -> AllowedTotals:
        """The rows are a sample of the population: their positives are a binomial number."""
        from scipy.special import bdtr

        prior, tail = evidence.prior, (1 - level) / 2
        ends = prior.ends() if prior.replicates is None else (prior.replicates, prior.replicates)
        # A share of all rows: those known to be positive are among the positives drawn.
        of_all = (prior.population or evidence.population) == "all"
        known = len(evidence.table.strata[POSITIVE]) if of_all else 0
        drawn = sum(len(rows) for rows in evidence.table.strata.values()) if of_all else n
        low, high = (np.clip((evidence.alpha_of(end) * n + known) / drawn, 0, 1) for end in ends)
        # From the least number with more than the tail at or below it to the least with no more above it.
        numbers = range(drawn + 1)
        least = bisect_left(numbers, True, key=lambda k: bool(bdtr(k, drawn, low).mean() > tail))
        most = bisect_left(numbers, True, key=lambda k: bool(bdtr(k, drawn, high).mean() >= 1 - tail))
        least, most = (min(max(number - known, 0), n) for number in (least, most))
        text = (
            f"The prior is a share of the population: a sample of {n:,} unlabeled rows may hold {least:,} to "
            f"{most:,} positives, at half of the error. {arg('prior_of', ROWS)} takes it as that of the rows."
        )
        return cls(low=least, high=most, confidence_level=level, notes=(Note("prior", text),))

    @classmethod
    def _sampled(
        cls, evidence: PositiveUnlabeled, labeled_sample: tuple[int, int], n: int, level: float
    ) -> AllowedTotals:
        """The Beta limits of Clopper and Pearson, within what the labels found leave possible."""
        from scipy.special import betaincinv

        if evidence.prior.value is not None:
            raise InputError(
                f"Pass {arg('prior')} or {arg('labeled_sample')}, not both: each says what α can be."
            )
        positives, drawn = _checks.labeled_sample(labeled_sample)
        if drawn > n:
            raise InputError(
                f"{arg('labeled_sample')} has {drawn} cases, and there are {n} unlabeled rows to draw them "
                f"from. Pass {call('(positives, cases)', 'sample')} of a random part of these."
            )
        negatives, tail = drawn - positives, (1 - level) / 2
        low = betaincinv(positives, negatives + 1, tail) if positives else 0.0
        high = betaincinv(positives + 1, negatives, 1 - tail) if negatives else 1.0
        least, most = max(_down(low * n), positives), min(_up(high * n), n - negatives)
        return cls(low=least, high=most, confidence_level=level)


# A product that is whole but for rounding is whole.


def _up(number: float) -> int:
    return int(np.ceil(number - 1e-9))


def _down(number: float) -> int:
    return int(np.floor(number + 1e-9))


SEARCHED = 17  # numbers of latent positives that are looked at first, where a range holds many more
CLOSER = 9  # numbers that are looked at around the best, again and again
FINE, FINE_PART = 1e-4, 0.01
"""How closely it is found: as a share of the unlabeled rows, and as a part of itself."""
CALIBRATED, EACH_CALIBRATED = 4, 16
"""At so many of them a band that needs simulation is calibrated; how strict it must be hardly differs."""
ALL, COUNTS = 512, 5_000_000
"""Each is looked at where they are no more, and so are the counts along all of their rankings."""


class Extreme(NamedTuple):
    """A value, and the share of positives among the unlabeled at which it is attained."""

    value: float
    alpha: float


@dataclass(frozen=True, eq=False)
class Totals:
    """The numbers of latent positives from ``low`` to ``high``, as far as any labels fit the band."""

    bander: Bander
    low: int
    high: int
    asked: tuple[int, int]

    @classmethod
    def possible(cls, bander: Bander, low: int, high: int) -> Totals:
        """The part of a range that is not refuted; none of it is an error."""

        def gap(total: int) -> float:
            return bander.paths(total).gap

        # Which totals fit the band is taken to be one stretch: its ends are found by halving.
        numbers = spread(low, high, bander)
        fits = [total for total in numbers if gap(total) <= 0]
        if not fits:
            fits = [least(gap, low, high, bander, enough=0)]
            if gap(fits[0]) > 0:
                raise Refuted(_refuted(bander, low, high))
        start, stop = fits[0], fits[-1]
        if before := [total for total in numbers if total < start]:
            start = _edge(gap, before[-1], start)
        if after := [total for total in numbers if total > stop]:
            stop = _edge(gap, after[0], stop)
        return cls(bander, start, stop, (low, high))

    @property
    def cut(self) -> bool:
        """Whether some of what the user allowed is refuted."""
        return (self.low, self.high) != self.asked

    @property
    def numbers(self) -> list[int]:
        """All of them, or of many some that are spread over the range."""
        return spread(self.low, self.high, self.bander)

    @property
    def searched(self) -> bool:
        """Whether not each of them is looked at."""
        return len(self.numbers) < self.high - self.low + 1

    def alpha(self, total: int) -> float:
        return total / self.bander.ranking.n_unlabeled

    @property
    def range(self) -> tuple[float, float]:
        return self.alpha(self.low), self.alpha(self.high)

    def paths(self) -> list[Paths]:
        """Of each of the numbers that are looked at."""
        by_total = (self.bander.paths(total) for total in self.numbers)
        return [paths for paths in by_total if paths.possible]

    def extremes(self, ends: Callable[[Paths], tuple[float, float]]) -> tuple[Extreme, Extreme]:
        """The least and the greatest value over the totals; one warning if an empty class leaves none.

        Of many, some are looked at that are spread over the range, and then ever closer ones to the best.
        """

        @cache
        def look(total: int) -> tuple[float, float]:
            paths = self.bander.paths(total)
            return ends(paths) if paths.possible else (np.nan, np.nan)

        lowest = least(lambda total: look(total)[0], self.low, self.high, self.bander)
        highest = least(lambda total: -look(total)[1], self.low, self.high, self.bander)
        low = Extreme(look(lowest)[0], self.alpha(lowest))
        if np.isnan(low.value):
            self.bander.ranking.measure(self.bander.paths(self.low).low).warn_of_empty_class()
        return low, Extreme(look(highest)[1], self.alpha(highest))


def least(
    value: Callable[[int], float], low: int, high: int, bander: Bander, *, enough: float = -np.inf
) -> int:
    """Where a function of the number of latent positives is least, or is no more than ``enough``."""
    finest = FINE * bander.ranking.n_unlabeled
    totals = spread(low, high, bander)
    while True:
        values = [(x, i) for i, total in enumerate(totals) if not np.isnan(x := value(total))]
        if not values:
            return totals[0]
        best, i = min(values)
        before, after = totals[max(i - 1, 0)], totals[min(i + 1, len(totals) - 1)]
        if best <= enough or after - before <= max(2, min(finest, FINE_PART * totals[i])):
            return totals[i]
        totals = whole(np.linspace(before, after, CLOSER))


def calibration_points(low: int, high: int, n: int) -> tuple[int, ...]:
    """Of a long range, where a band that is costly to calibrate is; of a short one at every number."""
    if high - low < EACH_CALIBRATED:
        return ()
    inside = np.clip([low, high], 1, max(n - 1, 1))
    return tuple(int(x) for x in np.unique(np.round(np.geomspace(inside[0], inside[1], CALIBRATED))))


def spread(low: int, high: int, bander: Bander) -> list[int]:
    """All whole numbers of a short range; of a long one some, spread evenly and closer to none and all."""
    if high - low < max(SEARCHED, min(ALL, COUNTS // len(bander.ranking.threshold))):
        return list(range(low, high + 1))
    n = bander.ranking.n_unlabeled
    spaced = [np.linspace(low, high, SEARCHED)]
    if high > 2 * low:
        spaced.append(np.geomspace(max(low, 1), high, SEARCHED))
    if n - low > 2 * (n - high):
        spaced.append(n - np.geomspace(max(n - high, 1), n - low, SEARCHED))
    return whole(np.clip(np.concatenate(spaced), low, high))


def whole(numbers: Vector) -> list[int]:
    """The nearest whole numbers, ascending, each once."""
    return [int(x) for x in np.unique(np.round(numbers))]


def _edge(gap: Callable[[int], float], out: int, inside: int) -> int:
    """The last possible total on the way from one that is possible to one that is not."""
    while abs(out - inside) > 1:
        middle = (out + inside) // 2
        if gap(middle) <= 0:
            inside = middle
        else:
            out = middle
    return inside


def _refuted(bander: Bander, low: int, high: int) -> str:
    n = bander.ranking.n_unlabeled
    shares = f"α = {low / n:.4g}" if low == high else f"every α from {low / n:.4g} to {high / n:.4g}"
    return (
        f"The ranks refute {shares} at confidence {bander.confidence_level:g}: no labels of the unlabeled "
        f"rows with that share of positives have the ranks of the known ones. Pass another {arg('prior')} "
        f"(see prior_upper_bound), or doubt that the known positives are a random sample (see scar_test)."
    )
