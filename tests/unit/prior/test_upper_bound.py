"""The upper bound on α: a closed form, what leaves it unchanged, and how sharp it is."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import halftruth as ht
from halftruth.prior import _upper_bound as bounds
from halftruth.prior._samples import Samples

RNG = np.random.default_rng(20)
P = RNG.normal(2, 1, 200)
U = np.append(RNG.normal(0, 1, 1_800), RNG.normal(2, 1, 200))


def sample(rng, n_positive, n_unlabeled, alpha, separation):
    positive, unlabeled = rng.normal(separation, 1, n_positive), rng.normal(0, 1, n_unlabeled)
    unlabeled[rng.random(n_unlabeled) < alpha] += separation
    return positive, unlabeled


def dkw(positive, unlabeled):
    """Bound by two 97.5% bands of Dvoretzky, Kiefer and Wolfowitz, the sharpest over all thresholds."""
    p, u = np.sort(positive), np.sort(unlabeled)
    p_slack, u_slack = (np.sqrt(np.log(4 / 0.05) / (2 * len(x))) for x in (p, u))
    above = [1 - np.searchsorted(x, p) / len(x) for x in (p, u)]
    below = [np.searchsorted(x, p, "right") / len(x) for x in (p, u)]
    tails = ((a[a > p_slack], b[a > p_slack]) for a, b in (above, below))
    return min(1.0, *(np.min((b + u_slack) / (a - p_slack), initial=1.0) for a, b in tails))


NODES, WEIGHTS = np.polynomial.legendre.leggauss(400)


def chance(alpha, rank, n_positive, count, n_unlabeled):
    """Of so few unlabeled rows above the positive of this rank: Binomial under Beta, by quadrature."""
    law = stats.beta(rank, n_positive + 1 - rank)
    low, high = law.ppf([1e-15, 1 - 1e-15])
    x = (low + high) / 2 + (high - low) / 2 * NODES
    return (high - low) / 2 * WEIGHTS @ (law.pdf(x) * stats.binom.cdf(count, n_unlabeled, alpha * x))


@pytest.mark.parametrize(("n", "m", "count"), [(2, 50, 3), (2, 2_000, 0), (1, 4_000, 2)])
def test_a_single_rank_has_a_closed_form(n, m, count):
    positive, unlabeled = np.arange(n), np.where(np.arange(m) < count, 0.5, -1.0)
    unlabeled[:count] += n  # above every positive, so that the lower side holds nearly all
    assert bounds.ranks_of(n).tolist() == [n]
    bound = ht.prior_upper_bound(positive, unlabeled)
    assert 0 < bound < 1
    assert chance(bound, n, n, count, m) == pytest.approx(0.05 * (1 - bounds.LOWER_SIDE), rel=1e-5)


def regions(p, u):
    """(rank, unlabeled rows, part of the error) of each half-line and each interval, by plain loops."""
    n, rank = len(p), bounds.ranks_of(len(p)).astype(int)
    p = np.sort(p)[::-1]
    above = [(k, (u >= p[k - 1]).sum()) for k in rank]
    below = [(k, (u <= p[n - k]).sum()) for k in rank[::-3]]
    ends = [(round(n * a), round(n * (a + w))) for a in bounds.ABOVE for w in bounds.WITHIN]
    # From the positive after the skipped ones to the last one reached: one spacing fewer than positives.
    inner = [(j - i - 1, ((u <= p[i]) & (u >= p[j - 1])).sum()) for i, j in ends if j < n]
    halves = 1 - bounds.INNER
    sides = (above, halves * 0.9), (below, halves * 0.1), (inner, bounds.INNER)
    return [(k, count, share / len(side)) for side, share in sides for k, count in side]


BETWEEN = np.append(RNG.normal(0, 4, 1_800), RNG.normal(2, 1, 200))  # negatives on both sides of positives


@pytest.mark.parametrize("u", [U, BETWEEN, U.round(1)], ids=["half-line", "interval", "ties"])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_the_bound_is_the_least_over_the_regions(level, u):
    p = P.round(1) if u is not U and u is not BETWEEN else P
    bound = ht.prior_upper_bound(p, u, confidence_level=level)
    ratio = [
        chance(bound, k, len(p), count, len(u)) / ((1 - level) * share) for k, count, share in regions(p, u)
    ]
    assert min(ratio) == pytest.approx(1, rel=1e-4)
    n_halves = len(ratio) - sum(a + w < 1 for a in bounds.ABOVE for w in bounds.WITHIN)
    assert (np.argmin(ratio) >= n_halves) == (u is BETWEEN)


def test_negatives_on_both_sides_are_seen_between():
    """N(0, 2) against N(1.5, 1), α = .3: the least ratio, .541, is at an interior score; half-lines end at .61."""
    rng = np.random.default_rng(5)
    positive = rng.random(50_000) < 0.3
    unlabeled = np.where(positive, rng.normal(1.5, 1, 50_000), rng.normal(0, 2, 50_000))
    assert 0.541 < ht.prior_upper_bound(rng.normal(1.5, 1, 5_000), unlabeled) < 0.6


@pytest.mark.parametrize("n", [1, 2, 3, 4, 10, 1_000, 10**6, 17.3])
def test_ranks_are_few_and_lie_among_the_rows(n):
    rank = bounds.ranks_of(n)
    assert n - 1 < rank[-1] <= n
    assert rank[0] >= min(n, bounds.FEWEST_RANKED)
    assert len(rank) <= 3 + np.log(n) / np.log(1.25)


def test_it_rises_with_the_level():
    each = [ht.prior_upper_bound(P, U, confidence_level=level) for level in (0.01, 0.5, 0.9, 0.95, 0.999)]
    assert each == sorted(set(each))


def test_the_order_of_rows_and_a_monotone_transform_leave_it_unchanged():
    bound = ht.prior_upper_bound(P, U)
    assert ht.prior_upper_bound(P[::-1], U[::-1]) == bound
    assert ht.prior_upper_bound(np.exp(P), np.exp(U)) == bound


def test_low_scores_can_refute_too():
    assert ht.prior_upper_bound(P, U) < ht.prior_upper_bound(-P, -U) < 0.3


@pytest.mark.parametrize("scores", [P, np.zeros(7), np.arange(3.0), [1.0]])
def test_the_same_scores_refute_nothing(scores):
    assert ht.prior_upper_bound(scores, scores) == 1


@pytest.mark.parametrize("n", [1, 2, 5, 50, 5_000])
def test_it_stays_in_the_unit_interval_at_the_extremes(n):
    for positive, unlabeled in (([1.0], np.zeros(n)), (np.ones(n), [0.0]), (np.ones(n), np.zeros(10**5))):
        assert 0 < ht.prior_upper_bound(positive, unlabeled) <= 1


def test_weights_of_one_size_are_none():
    bound = ht.prior_upper_bound(P, U)
    weights = {"positive_weight": np.full(len(P), 0.1), "unlabeled_weight": np.full(len(U), 3.0)}
    assert ht.prior_upper_bound(P, U, **weights) == pytest.approx(bound, rel=2e-6)


def test_weight_zero_is_removal():
    weight = np.append(np.ones(len(U)), np.zeros(500))
    bound = ht.prior_upper_bound(P, np.append(U, np.full(500, 9.0)), unlabeled_weight=weight)
    assert bound == pytest.approx(ht.prior_upper_bound(P, U), rel=2e-6)


def test_weights_are_repetition_at_the_same_number_of_rows():
    p, u = np.unique(np.round(P, 1)), np.unique(np.round(U, 1))
    repeats = RNG.integers(1, 4, len(p)), RNG.integers(1, 4, len(u))
    rows = [np.repeat(x, n) for x, n in zip((p, u), repeats, strict=True)]
    score = np.union1d(p, u)

    def masses(*weighted):
        return [np.bincount(np.searchsorted(score, x), w, minlength=len(score)) for x, w in weighted]

    sizes = [n.sum() ** 2 / (n**2).sum() for n in repeats]
    weighted = ht.prior_upper_bound(p, u, positive_weight=repeats[0], unlabeled_weight=repeats[1])
    repeated = bounds.upper_bound(*masses((rows[0], None), (rows[1], None)), *sizes, 0.95)
    assert weighted == repeated
    assert bounds.upper_bound(*masses((rows[0], None), (rows[1], None)), *map(len, rows), 0.95) == (
        ht.prior_upper_bound(*rows)
    )


def test_unequal_weights_widen_it():
    weight = RNG.exponential(1, len(P))
    assert ht.prior_upper_bound(P, U, positive_weight=weight) > ht.prior_upper_bound(P, U)


@pytest.mark.parametrize("width", [2, 5, 50])
def test_joining_scores_only_raises_it(width):
    score, atom = np.unique(np.append(P, U), return_inverse=True)
    masses = [np.bincount(a, minlength=len(score)) for a in (atom[: len(P)], atom[len(P) :])]
    starts = np.arange(0, len(score), width)
    joined = [np.add.reduceat(mass, starts) for mass in masses]
    exact = bounds.upper_bound(*masses, len(P), len(U), 0.95)
    assert exact == ht.prior_upper_bound(P, U)
    assert exact <= bounds.upper_bound(*joined, len(P), len(U), 0.95) < 2 * exact


def test_with_many_rows_it_nears_the_truth():
    positive, unlabeled = sample(np.random.default_rng(4), 10**5, 10**6, 0.1, 4)
    assert 0.1 < ht.prior_upper_bound(positive, unlabeled) < 0.103


BAD = {
    "level": ((P, U), {"confidence_level": 95}, r"got 95\. Pass 0\.95"),
    "no positive": (([], U), {}, "`positive` is empty"),
    "no unlabeled": ((P, []), {}, "`unlabeled` is empty"),
    "NaN": ((P, [0.0, np.nan]), {}, "`unlabeled` must be finite"),
    "columns": ((np.ones((3, 2)), U), {}, r"`positive` must be one-dimensional, got shape \(3, 2\)"),
    "length": ((P, U), {"positive_weight": [1.0]}, "`positive_weight` has length 1"),
    "negative weight": (
        (P, U),
        {"unlabeled_weight": -np.ones(len(U))},
        "`unlabeled_weight` must not be negative",
    ),
    "no weight": ((P, U), {"positive_weight": np.zeros(len(P))}, "`positive_weight` is zero for all 200"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_named(name):
    arrays, options, message = BAD[name]
    with pytest.raises(ht.InputError, match=message):
        ht.prior_upper_bound(*arrays, **options)


SIZES = (30, 1_000), (200, 2_000), (1_000, 10_000)


def gains(n_positive, n_unlabeled, alpha, separation, decimals):
    """Log of the bands' bound over ours, in five draws."""
    rng = np.random.default_rng([n_positive, int(100 * alpha), separation])
    draws = [sample(rng, n_positive, n_unlabeled, alpha, separation) for _ in range(5)]
    pairs = [(p.round(decimals), u.round(decimals)) for p, u in draws]
    return np.log([dkw(*pair) / ht.prior_upper_bound(*pair) for pair in pairs])


@pytest.mark.parametrize("separation", [1, 2, 4])
@pytest.mark.parametrize("alpha", [0.02, 0.1, 0.5])
@pytest.mark.parametrize(("n_positive", "n_unlabeled"), SIZES)
def test_it_is_sharper_than_bands(n_positive, n_unlabeled, alpha, separation):
    assert gains(n_positive, n_unlabeled, alpha, separation, decimals=9).mean() > 0


@pytest.mark.parametrize(("decimals", "gain"), [(1, 0.2), (0, 0.1)])
def test_with_ties_it_is_sharper_on_the_whole(decimals, gain):
    """A rank inside a tie counts for less than the tie holds, which can cost a little at large α."""
    every = [
        gains(*n, alpha, s, decimals).mean() for n in SIZES for alpha in (0.02, 0.1, 0.5) for s in (1, 2, 4)
    ]
    assert np.mean(every) > gain
    assert min(every) > -0.1


def test_the_shortcut_hides_no_refutation():
    rng = np.random.default_rng(0)
    hidden = compared = 0
    for seed in range(300):
        draw = np.random.default_rng(seed)
        n_p, n_u = int(draw.integers(5, 100)), int(draw.integers(10, 200))
        p, u = draw.normal(1, 1, n_p), np.append(draw.normal(-1, 1, n_u), draw.normal(1, 1, n_u // 2))
        score = np.unique(np.concatenate([p, u]))
        masses = [np.bincount(np.searchsorted(score, x), minlength=len(score)) for x in (p, u)]
        level = float(rng.choice([0.5, 0.8, 0.95, 0.99]))
        exact = bounds.upper_bound(*masses, n_p, len(u), level)
        for claimed in (exact * 1.001, exact * 1.05, exact * 2):
            if claimed < 1:
                compared += 1
                hidden += bounds.upper_bound(*masses, n_p, len(u), level, below=claimed) > claimed
    assert compared > 300
    assert hidden == 0


def test_an_evidence_is_its_two_samples() -> None:
    strata = ht.simulate.GaussianClasses(prior=0.2).draw_strata(200, 1000, rng=0)
    scores = strata.positive.score, strata.unlabeled.score
    bound = ht.prior_upper_bound(*scores)
    assert ht.prior_upper_bound(ht.PositiveUnlabeled(*scores)) == bound
    assert ht.prior_upper_bound(ht.PositiveUnlabeled(*scores, purity=0.9)) == 0.9 * bound
    with pytest.raises(ht.InputError, match="or one PositiveUnlabeled evidence; got Labeled alone"):
        ht.prior_upper_bound(ht.Labeled([1, 0], [0.9, 0.2]))


def test_the_support_of_few_rows_is_not_made_for_the_bound() -> None:
    table = ht.PositiveUnlabeled([0.9, 0.8, 0.4], [0.7, 0.5, 0.1, 0.3]).table
    Samples.of(table)
    assert "support" not in vars(table)
