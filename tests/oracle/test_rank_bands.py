"""Bands for the ranks of latent rows, against all the ways in which known and latent rows can be merged.

And what the bands that hold at one rank, and those of Claesen et al., make of small rankings.
"""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy import stats

from halftruth.rank_bounds import _rank_bands

from .agreement import assert_same
from .bound_cases import BANDS, CASES, KINDS, LEVELS, N_RESAMPLES, POPULATIONS, Case, draw, limits
from .surrogates import Ranking, claesen_counts, extremes, merges, rate, share_inside

pytestmark = pytest.mark.usefixtures("bands_once")

SMALL = [(1, 1), (1, 5), (2, 3), (5, 1), (4, 4), (3, 6), (6, 3)]


@pytest.mark.parametrize("n_k", SMALL)
def test_counting_paths_equals_counting_merges(n_k) -> None:
    n, k = n_k
    low, high = [i * k // (n + 1) // 2 for i in range(n + 1)], [min(k, 1 + i) for i in range(n)] + [k]
    kept = 0
    for above in merges(n, k):
        ends = [0, *above, k]
        kept += all(low[i] <= ends[i] and ends[i + 1] <= high[i] for i in range(n + 1))
    assert share_inside(n, k, (low, high)) == Fraction(kept, math.comb(n + k, n))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("n_k", SMALL)
def test_exact_limits_are_the_quantiles_of_all_merges(n_k, level) -> None:
    """The least and the greatest X that leave no more than half the error outside, on either side."""
    n, k = n_k
    low, high = limits("exact", n, k, level)
    rows, tail = [(0, *above, k) for above in merges(n, k)], (1 - level) / 2
    for i in range(n + 1):
        start, end = (np.array([row[j] for row in rows]) for j in (i, i + 1))
        assert np.mean(start < low[i]) <= tail + 1e-12 < np.mean(start <= low[i]) + 2e-12, (i, "low")
        assert np.mean(end > high[i]) <= tail + 1e-12 < np.mean(end >= high[i]) + 2e-12, (i, "high")
        assert np.mean((low[i] <= start) & (end <= high[i])) >= level - 1e-12
    for rank in range(n + k + 1):  # a threshold that was fixed before
        known = [sum(x + i < rank for i, x in enumerate(row[1:-1])) for row in rows]
        assert np.mean([low[i] <= rank - i <= high[i] for i in known]) >= level - 1e-12, rank


@pytest.mark.parametrize("level", [0.5, 0.95])
@pytest.mark.parametrize("n_k", [(5000, 500), (1000, 6000), (2000, 3)])
def test_exact_limits_of_many_rows_are_never_inside_the_quantiles_and_at_most_a_row_outside(
    n_k, level
) -> None:
    n, k = n_k
    found, tail = _rank_bands.counts("exact", n, k, level), (1 - level) / 2
    rank = np.unique(np.round(np.linspace(1, n, 200)).astype(int))
    law = stats.betabinom(k, rank, n + 1 - rank)
    low, high = found.low[rank], found.high[rank - 1]
    assert (law.cdf(low - 1) <= tail + 1e-9).all()
    assert (law.sf(high) <= tail + 1e-9).all()
    assert (law.cdf(low + 1) > tail - 1e-9).all()
    assert (law.sf(high - 2) > tail - 1e-9).all()


def at_distance(n, k, distance):
    """The lowest and the highest X with |F_known − F_latent| ≤ distance, where there is one."""
    inside = [[x for x in range(k + 1) if abs(i / n - x / k) <= distance + 1e-12] for i in range(n + 1)]
    return [min(x, default=k + 1) for x in inside], [max(x, default=-1) for x in inside]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("n_k", [*SMALL, (7, 40), (40, 7), (30, 30)])
def test_dkw_limits_are_the_least_two_sample_distance_that_holds(n_k, level) -> None:
    n, k = n_k
    steps = {abs(i * k - x * n) for i in range(n + 1) for x in range(k + 1)}
    bands_by_distance = (at_distance(n, k, step / (n * k)) for step in sorted(steps))
    least = next(band for band in bands_by_distance if share_inside(n, k, band) >= level - 1e-12)
    assert limits("dkw", n, k, level) == least


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("n_k", [(300, 150), (100, 500), (700, 701)])
def test_dkw_limits_of_many_rows_are_those_of_the_inequality(n_k, level) -> None:
    n, k = n_k
    assert limits("dkw", n, k, level) == at_distance(
        n, k, math.sqrt(math.log(2 / (1 - level)) / 2 * (1 / n + 1 / k))
    )


SIZES = [*SMALL, (2, 30), (30, 2), (10, 20), (25, 25), (60, 15), (50, 100), (600, 300)]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("n_k", SIZES)
def test_dkw_holds_all_ranks_at_once(n_k, level) -> None:
    assert share_inside(*n_k, limits("dkw", *n_k, level)) >= level - 1e-12


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("n_k", SIZES)
def test_bootstrap_holds_all_ranks_at_once(n_k, level) -> None:
    """An order statistic of B splits covers like one of B uniforms, or more where splits tie."""
    order = math.ceil((N_RESAMPLES + 1) * level)
    least = stats.beta.ppf(1e-5, order, N_RESAMPLES + 1 - order)
    assert share_inside(*n_k, limits("bootstrap", *n_k, level)) >= least


@pytest.mark.parametrize("name", [*BANDS, "exact"])
@pytest.mark.parametrize("n_k", SIZES)
def test_limits_are_sane_and_the_same_from_below(n_k, name) -> None:
    n, k = n_k
    low, high = (np.array(end) for end in limits(name, n, k, 0.8))
    assert len(low) == len(high) == n + 1
    assert (np.diff(low) >= 0).all()
    assert (np.diff(high) >= 0).all()
    assert low[0] == 0
    assert high[-1] == k
    assert (low <= high).all()
    assert (low + high[::-1] == k).all()


# --- The paper's one-sample bands --------------------------------------------------------------


def one_sample(name: str, i: int, n: int, level: float) -> tuple[float, float]:
    """Limits of the positives' distribution function where i of n known ones lie above."""
    tail = (1 - level) / 2
    if name == "claesen-dkw":
        distance = math.sqrt(math.log(2 / (1 - level)) / (2 * n))
        return max(i / n - distance, 0.0), min(i / n + distance, 1.0)
    if name == "claesen-exact":
        low = stats.beta.ppf(tail, i, n - i + 1) if i else 0.0
        return low, (stats.beta.ppf(1 - tail, i + 1, n - i) if i < n else 1.0)
    return tuple(stats.binom.ppf(q, n, i / n) / n for q in (tail, 1 - tail))


def papers_limits(name: str, case: Case, k: int, at: int) -> tuple[int, int]:
    """Fewest and most surrogates above a threshold, directly, by the reversed method, or by both."""
    r, each = case.ranking, 1 - (1 - case.level) / len(case.sides)
    known, u, m = (count[at] for count in r.counts)
    least, most = 0, u
    if "positive" in case.sides:
        least, most = claesen_counts(r, k, at, *one_sample(name, known, len(r.known), each))
    if "negative" in case.sides:
        rest = len(r.unlabeled) - k
        fewest, highest = claesen_counts(r, rest, at, *one_sample(name, m, len(r.negative), each))
        least, most = max(least, u - highest), min(most, u - fewest)
    return min(least, most), max(least, most)  # of two bands that contradict each other, what lies between


@pytest.mark.parametrize("name", ["claesen-bootstrap", "claesen-dkw", "claesen-exact"])
@pytest.mark.parametrize(("population", "negatives"), list(product(POPULATIONS, (False, True))))
def test_the_papers_tables(name, population, negatives) -> None:
    for seed in range(CASES):
        case = draw(seed, "number", population, negatives)
        (k,), r = case.numbers, case.ranking
        ends = [papers_limits(name, case, k, at) for at in range(len(r.thresholds))]
        tables = case.bounds("roc", band=name, defined=False).tables
        for ours, xs in zip(tables, zip(*ends, strict=True), strict=True):
            wanted = [r.table(k, x, at) for at, x in enumerate(xs)]
            assert_same(
                np.ravel([ours.tp, ours.fp, ours.fn, ours.tn]),
                np.ravel(np.transpose(wanted)),
                f"{seed}: {case}",
            )


# --- One rank at a time ------------------------------------------------------------------------


def reach(r: Ranking, k: int) -> tuple[list[int], list[int]]:
    """The fewest and the most of k surrogates that can lie at or above each threshold."""
    counts = list(zip(*r.surrogates[k], strict=True))
    return [min(x) for x in counts], [max(x) for x in counts]


@pytest.mark.parametrize(("kind", "population", "negatives"), KINDS)
def test_exact_bounds_are_the_extremes_over_the_sets_that_fit_one_threshold(
    kind, population, negatives
) -> None:
    """A set is held to the band at the threshold asked for only; a band out of reach is moved to the nearest.

    Where the ranks of positives and negatives contradict each other, what lies between is left.
    """
    for seed in range(CASES):
        case = draw(seed, kind, population, negatives)
        r, each = case.ranking, 1 - (1 - case.level) / len(case.sides)
        i, u, m = (count[case.at] for count in r.counts)
        tables = []
        for k in case.numbers:
            fewest, most = (end[case.at] for end in reach(r, k))
            low, high = fewest, most
            if "positive" in case.sides:
                low, high = (end[i] for end in limits("exact", len(r.known), k, each))
            if "negative" in case.sides:
                back = limits("exact", len(r.negative), len(r.unlabeled) - k, each)
                low, high = sorted((max(low, u - back[1][m]), min(high, u - back[0][m])))
            low, high = (min(max(end, fewest), most) for end in (low, high))
            tables += [r.table(k, x, case.at) for x in range(low, high + 1)]
        for of in (("precision", "npv"), ("recall", "f1"))[seed % 2]:
            wanted = extremes([rate(of, table) for table in tables])
            defined = not math.isnan(wanted[0])
            got = case.bounds(of, band="exact", defined=defined, threshold=case.threshold)
            assert_same((got.low, got.high), wanted, f"{of} of case {seed}: {case}")
