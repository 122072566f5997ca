"""Small rankings with all that can be said of α, drawn at random, and the call of `bounds` for each."""

import math
import warnings
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product

import numpy as np

import halftruth as ht
from halftruth.rank_bounds import _rank_bands

from .surrogates import Path, Ranking

BANDS = ("bootstrap", "dkw")
LEVELS = (0.2, 0.5, 0.8, 0.95)
POPULATIONS = ("unlabeled", "all")
N_RESAMPLES = 200
"""No level asked for is a whole number of 201 splits, so that none hangs on rounding."""
CASES = 60


@cache
def limits(name, n, k, level):
    counts = _rank_bands.counts(name, n, k, level, N_RESAMPLES, 0)
    return [int(x) for x in counts.low], [int(x) for x in counts.high]


@dataclass(frozen=True)
class Case:
    """A ranking, what is said of α, and the surrogate sets that this leaves, by their number K."""

    ranking: Ranking
    prior: float | tuple[float, float] | None
    numbers: range
    band: str
    level: float
    threshold: float
    at: int
    ranks: str | None = None

    @property
    def sides(self) -> tuple[str, ...]:
        """The known rows whose ranks are used."""
        both = ("positive", "negative") if self.ranking.negative else ("positive",)
        return both if self.ranks in (None, "both") else (self.ranks,)

    def possible(self) -> dict[int, list[Path]]:
        def band(n, k, level):
            return limits(self.band, n, k, level)

        every = {k: self.ranking.possible(k, band, self.level, self.sides) for k in self.numbers}
        return {k: paths for k, paths in every.items() if paths}

    @cached_property
    def evidence(self) -> ht.PositiveUnlabeled:
        return evidence(self.ranking, self.prior)

    def bounds(self, of, defined=True, **options):
        given = {"band": self.band, "ranks": self.ranks, "confidence_level": self.level, "prior_of": "rows"}
        with warnings.catch_warnings():
            if not defined:
                warnings.simplefilter("ignore", ht.EmptyClassWarning)
            return ht.bounds(self.evidence, of, rng=0, n_resamples=N_RESAMPLES, **given | options)


def evidence(r: Ranking, prior) -> ht.PositiveUnlabeled:
    return ht.PositiveUnlabeled(
        r.known, r.unlabeled, prior=prior, negative=r.negative or None, population=r.population
    )


def draw_ranking(rng: np.random.Generator, population: str, negatives: bool) -> Ranking:
    """Better and worse than random, with and without ties."""
    shift, step = rng.choice([-1.5, 0.0, 1.0, 2.0]), rng.choice([2**-20, 0.5, 1.0])
    n_known, n_unlabeled = int(rng.integers(1, 25)), int(rng.integers(3, 10))
    strata = (
        shift + rng.normal(size=n_known),
        shift * (rng.random(n_unlabeled) < rng.random()) + rng.normal(size=n_unlabeled),
        rng.normal(size=int(rng.integers(1, 20)) if negatives else 0),
    )
    return Ranking(*((np.round(s / step) * step).tolist() for s in strata), population)


def draw_prior(rng: np.random.Generator, r: Ranking, kind: str):
    """What is said of π, and the numbers of latent positives that this means."""
    n_u, n = len(r.unlabeled), len(r.known) + len(r.unlabeled) + len(r.negative)

    def prior(alpha):
        return alpha if r.population == "unlabeled" else (len(r.known) + alpha * n_u) / n

    if kind == "none":
        return None, range(n_u + 1)
    if kind == "number":
        k = int(rng.integers(n_u + 1))
        alpha = float(np.clip((k + rng.uniform(-0.45, 0.45)) / n_u, 0.01, 0.99))
        return prior(alpha), range(k, k + 1)
    ends = sorted(rng.choice(np.linspace(0.02, 0.98, 49), 2, replace=False))
    if rng.random() < 0.3:  # ends that are whole numbers of rows
        ends = [(1 + rng.integers(n_u - 2)) / n_u, (n_u - 1) / n_u]
    low, high = math.ceil(ends[0] * n_u - 1e-9), math.floor(ends[1] * n_u + 1e-9)
    if low > high:
        return draw_prior(rng, r, kind)
    return tuple(float(prior(end)) for end in ends), range(low, high + 1)


def draw(seed: int, kind: str, population: str, negatives: bool) -> Case:
    rng = np.random.default_rng([seed, len(kind), POPULATIONS.index(population), negatives])
    ranking = draw_ranking(rng, population, negatives)
    at = int(rng.integers(len(ranking.thresholds)))
    here, below = ranking.thresholds[at], [*ranking.thresholds, ranking.thresholds[-1] - 1][at + 1]
    threshold = here if rng.random() < 0.5 or at == 0 else (here + below) / 2 + 1e-9
    prior, numbers = draw_prior(rng, ranking, kind)
    ranks = (None, "both", "positive", "negative")[rng.integers(4)] if negatives else None
    return Case(ranking, prior, numbers, BANDS[seed % 2], float(rng.choice(LEVELS)), threshold, at, ranks)


KINDS = list(product(("number", "range", "none"), POPULATIONS, (False, True)))
"""What is said of α, the population, whether there are known negatives."""
