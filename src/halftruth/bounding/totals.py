"""How many latent positives there can be: what the user believes, less what the ranks refute."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from halftruth.bounding.paths import Bander, Paths
from halftruth.errors import Refuted

SEARCHED = 17
"""Numbers of latent positives that are looked at first, where a range holds many more."""
FINE = 1e-4
"""How closely, as a share of the unlabeled rows, the best number is found where there are many."""
CALIBRATED = 4
"""At so many of them a band that needs simulation is calibrated; how strict it must be hardly differs."""
ALL, COUNTS = 512, 5_000_000
"""Each is looked at where they are no more, and so are the counts along all of their rankings."""
EACH_CALIBRATED = 64
"""Up to so many, a band that needs simulation is calibrated for each."""


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
        fits = {total: bander.paths(total).possible for total in spread(low, high, bander)}
        first = next((total for total, fit in fits.items() if fit), None)
        if first is None:
            raise Refuted(_refuted(bander, low, high))
        last = max(total for total, fit in fits.items() if fit)
        below = max((total for total in fits if total < first), default=None)
        above = min((total for total in fits if total > last), default=None)
        start = first if below is None else _edge(bander, below, first)
        stop = last if above is None else _edge(bander, above, last)
        return cls(bander, start, stop, (low, high))

    @property
    def cut(self) -> bool:
        """Whether some of what the user allowed is refuted."""
        return (self.low, self.high) != self.asked

    def alpha(self, total: int) -> float:
        return total / self.bander.ranking.n_unlabeled

    @property
    def range(self) -> tuple[float, float]:
        return self.alpha(self.low), self.alpha(self.high)

    def warned(self, low: Sequence[float], high: Sequence[float]) -> tuple[float, float]:
        """The least and the greatest of all values; one warning if an empty class leaves none."""
        if np.isnan(low).all():
            self.bander.ranking.measure(self.bander.paths(self.low).low).warn_of_empty_class()
        return float(np.fmin.reduce(low)), float(np.fmax.reduce(high))

    def paths(self) -> Iterator[Paths]:
        """Of all totals, or of many evenly spread ones and both ends."""
        return (self.bander.paths(total) for total in spread(self.low, self.high, self.bander))

    def extremes(self, ends: Callable[[Paths], tuple[float, float]]) -> tuple[Extreme, Extreme]:
        """The least and the greatest value over the totals.

        Of many, evenly spread ones are looked at, and then ever closer ones around the best.
        """
        seen: dict[int, tuple[float, float]] = {}

        def look(total: int) -> tuple[float, float]:
            if total not in seen:
                paths = self.bander.paths(total)
                seen[total] = ends(paths) if paths.possible else (np.nan, np.nan)
            return seen[total]

        return self._search(lambda x: look(x)[0], 1), self._search(lambda x: look(x)[1], -1)

    def _search(self, value: Callable[[int], float], sign: int) -> Extreme:
        low, high = self.low, self.high
        finest = max(1, int(FINE * self.bander.ranking.n_unlabeled))
        while True:
            wanted = spread(low, high, self.bander)
            found = [(sign * x, total) for total in wanted if not np.isnan(x := value(total))]
            if not found:
                return Extreme(np.nan, np.nan)
            best, at = min(found)
            step = (high - low) // max(len(wanted) - 1, 1) + 1
            if len(wanted) == high - low + 1 or step <= finest:
                return Extreme(sign * best, self.alpha(at))
            low, high = max(at - step, self.low), min(at + step, self.high)


def calibration_points(low: int, high: int, n: int) -> tuple[int, ...]:
    """Of a long range, where a band that is costly to calibrate is; of a short one at every number."""
    if high - low < EACH_CALIBRATED:
        return ()
    inside = np.clip([low, high], 1, max(n - 1, 1))
    return tuple(int(x) for x in np.unique(np.round(np.geomspace(inside[0], inside[1], CALIBRATED))))


def spread(low: int, high: int, bander: Bander) -> list[int]:
    """All whole numbers of a short range, or evenly spread ones of a long one."""
    if high - low < max(SEARCHED, min(ALL, COUNTS // len(bander.ranking.threshold))):
        return list(range(low, high + 1))
    return [int(x) for x in np.unique(np.round(np.linspace(low, high, SEARCHED)))]


def _edge(bander: Bander, out: int, inside: int) -> int:
    """The last possible total on the way from one that is possible to one that is not."""
    while abs(out - inside) > 1:
        middle = (out + inside) // 2
        if bander.paths(middle).possible:
            inside = middle
        else:
            out = middle
    return inside


def _refuted(bander: Bander, low: int, high: int) -> str:
    n = bander.ranking.n_unlabeled
    shares = f"α = {low / n:.4g}" if low == high else f"every α from {low / n:.4g} to {high / n:.4g}"
    return (
        f"The ranks refute {shares} at confidence {bander.confidence_level:g}: no labels of the unlabeled "
        f"rows with that share of positives have the ranks of the known ones. Pass another `prior` (see "
        f"prior_upper_bound), or doubt that the known positives are a random sample (see scar_test)."
    )
