"""scar_test: exact p-values on small cases, what leaves them unchanged, what it says, what it refuses."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import integrate, stats

import halftruth as ht
from halftruth._errors import InputError
from halftruth.prior import _law_tests as tests_of_laws
from halftruth.prior import _scar_test as verdict
from halftruth.prior import _upper_bound as bounds
from halftruth.prior._scar_test import Check, scar_test

RNG = np.random.default_rng(7)
P = RNG.normal(2, 1, 80)
U = np.append(RNG.normal(0, 1, 420), RNG.normal(2, 1, 180))
N = RNG.normal(0, 1, 60)
HIGH = RNG.normal(3.5, 1, 80)


def p_of(result, name):
    return next(check.p_value for check in result.checks if check.name == name)


def says(result, name):
    return next(check.says for check in result.checks if check.name == name)


# --- The check of the prior ------------------------------------------------------------------------


def by_definition(p, u, claimed):
    """Least over the regions of the chance of so few unlabeled rows, binomial under Beta, over its part."""
    ends = np.concatenate([[-np.inf], np.sort(p), [np.inf]])
    each = []
    for first, last, part in zip(*tests_of_laws._regions(len(p)), strict=True):
        low, high = ends[int(first)], ends[int(last)]
        count = sum(low <= x <= high for x in u)
        mass = stats.beta(last - first, len(p) + 1 - last + first)

        def density(x, mass=mass, count=count):
            return mass.pdf(x) * stats.binom.cdf(count, len(u), claimed * x)

        each.append(integrate.quad(density, 0, 1, epsabs=0, epsrel=1e-9, limit=200)[0] / part)
    return min(1.0, *each)


@pytest.mark.parametrize("digits", [9, 0])
@pytest.mark.parametrize(("n_p", "claimed"), [(5, 0.9), (20, 0.2), (40, 0.12)])
def test_the_prior_check_is_the_least_tail_over_the_regions(n_p, claimed, digits):
    p, u = HIGH[:n_p].round(digits), U[::5].round(digits)
    found = p_of(scar_test(p, u, prior=claimed), "prior")
    assert 1e-9 < found < 1
    assert found == pytest.approx(by_definition(p, u, claimed), rel=1e-6)


def test_a_pile_in_the_middle_is_found_by_an_interval():
    rng = np.random.default_rng(2)
    u = rng.uniform(0, 1, 500)
    p = rng.uniform(0.45, 0.55, 100)
    both = np.append(p, rng.uniform(0, 1, 60))
    start, stop, part = tests_of_laws._regions(len(both))
    outer = (start == 0) | (stop == len(both) + 1)
    assert part[outer].sum() == pytest.approx(1 - tests_of_laws.MIDDLE)
    assert scar_test(both, u, prior=0.9).p_value < 1e-4


@pytest.mark.parametrize("n", [1, 2, 7, 8, 50, 1_000, 10**6])
def test_regions_share_the_error_and_lie_among_the_ranks(n):
    first, last, part = tests_of_laws._regions(n)
    assert part.sum() == pytest.approx(1)
    assert (part > 0).all()
    assert ((first >= 0) & (first < last) & (last <= n + 1)).all()
    assert (np.floor(first) == first).all()
    assert len(part) < 200


@pytest.mark.parametrize("n", [1, 4, 7])
def test_few_positives_leave_the_half_lines_of_the_bound(n):
    """There p is the error at which the bound on α falls to the claim."""
    positive, claimed = np.arange(n) / 3 + 1, 0.5
    p = p_of(scar_test(positive, U, prior=claimed), "prior")
    assert 1e-4 < p < 1
    assert ht.prior_upper_bound(positive, U, confidence_level=1 - p) == pytest.approx(claimed, rel=1e-4)
    assert set(tests_of_laws._regions(n)[1]) >= set(bounds.ranks_of(n)[::-3])


def test_a_larger_prior_is_harder_to_hold():
    each = [p_of(scar_test(HIGH, U, prior=prior), "prior") for prior in (0.01, 0.05, 0.1, 0.15, 0.2, 0.3)]
    assert each == sorted(each, reverse=True)
    assert each[0] == 1
    assert each[-1] < 0.001


def test_purity_excuses_as_much_as_a_smaller_prior():
    given = scar_test(HIGH, U, prior=0.12, purity=0.8).p_value
    assert given == pytest.approx(scar_test(HIGH, U, prior=0.15).p_value, rel=1e-9)
    assert 0 < given < 1
    assert scar_test(HIGH, U, prior=0.12, purity=(0.5, 0.8)).p_value == given


def test_a_range_is_refuted_only_as_a_whole():
    assert scar_test(HIGH, U, prior=(0.1, 0.9)).p_value == scar_test(HIGH, U, prior=0.1).p_value
    estimate = ht.PriorEstimate(value=0.3, low=0.1, high=0.5)
    assert scar_test(HIGH, U, prior=estimate).p_value == scar_test(HIGH, U, prior=0.1).p_value


# --- One law ---------------------------------------------------------------------------------------


def test_two_scores_give_the_permutation_test_of_two_shares():
    """With scores 0 and 1 every statistic orders splits by the gap of the shares: hypergeometric."""
    score, source = np.repeat([1.0, 0, 1, 0], [9, 3, 5, 13]), np.repeat(["a", "b"], [12, 18])
    k = np.arange(13)
    chance = stats.hypergeom(30, 14, 12).pmf(k)
    gap = np.abs(k / 12 - (14 - k) / 18)
    exact = chance[gap >= gap[9] - 1e-12].sum()
    n = 20_000
    found = p_of(scar_test(score, source=source, n_resamples=n), "sources")
    assert found == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / n))


def test_disjoint_sources_reach_the_least_p_value():
    result = scar_test(np.arange(40), source=np.arange(40) < 20, n_resamples=99)
    assert p_of(result, "sources") == 0.01
    assert result.refuted


def test_a_source_of_one_row_can_refute_no_more_than_its_rank_allows():
    """One row among 20 that scores highest: by its rank alone p would be 1/20."""
    found = p_of(scar_test(np.arange(20), source=np.arange(20) == 19, n_resamples=5_000), "sources")
    assert found > 0.03


def test_the_labeled_sample_is_one_more_source():
    rng = np.random.default_rng(11)
    found = rng.normal(2.5, 1, 30)
    pooled = scar_test(np.append(P, found), source=np.repeat([0, 1], [len(P), 30]))
    assert p_of(scar_test(P, labeled_sample=found), "labeled sample") == p_of(pooled, "sources")


def test_a_labeled_sample_may_come_whole():
    rng = np.random.default_rng(12)
    score = np.append(rng.normal(2.5, 1, 30), rng.normal(0, 1, 70))
    y = np.arange(100) < 30
    order = rng.permutation(100)
    whole = scar_test(P, U, labeled_sample=(score[order], y[order]), prior=0.3)
    found = scar_test(P, U, labeled_sample=score[:30], prior=0.3)
    assert p_of(whole, "labeled sample") == p_of(found, "labeled sample")
    assert [check.name for check in whole.checks] == ["prior", "labeled sample", "share"]
    assert [check.name for check in found.checks] == ["prior", "labeled sample"]
    assert scar_test(P, labeled_sample=(0.1, 0.2)).p_value == scar_test(P, labeled_sample=[0.1, 0.2]).p_value


# --- The mixture -----------------------------------------------------------------------------------


def test_polynomials_are_orthonormal():
    rng = np.random.default_rng(13)
    mass = rng.integers(1, 9, 30).astype(float)
    made = tests_of_laws._polynomials(mass, 8)
    assert made.shape == (30, 8)
    share = mass / mass.sum()
    assert (made.T * share) @ made == pytest.approx(np.eye(8), abs=1e-12)
    assert share @ made == pytest.approx(np.zeros(8), abs=1e-12)
    assert tests_of_laws._polynomials(np.ones(3), 8).shape == (3, 2)
    middle = np.cumsum(share) - share / 2
    assert abs(np.polyfit(middle, made[:, 0], 1)[0]) > 1
    assert np.polyval(np.polyfit(middle, made[:, 0], 1), middle) == pytest.approx(made[:, 0])


def test_the_nearest_mixture_is_that_of_a_grid():
    rng = np.random.default_rng(14)
    mean = rng.normal(size=(5, 3, 4))
    grid = np.linspace(0.2, 0.9, 7_001)
    every = np.stack([tests_of_laws._distance(mean, np.full(5, share)) for share in grid])
    best = tests_of_laws._nearest(mean, (0.2, 0.9))
    assert best == pytest.approx(grid[every.argmin(axis=0)], abs=2e-4)
    by_hand = mean[:, 0] - best[:, None] * mean[:, 1] - (1 - best[:, None]) * mean[:, 2]
    assert tests_of_laws._distance(mean, best) == pytest.approx((by_hand**2).sum(axis=1))


@pytest.mark.parametrize("weights", [(0.0, 1.0), (0.2, 0.2), (0.5, 0.8)])
def test_the_null_is_a_mixture_and_the_likeliest_one(weights):
    counts = np.array([[20.0, 30, 50], [1, 4, 15], [12, 6, 2]])
    laws, share = tests_of_laws._likeliest(counts, 0.5, weights)
    assert weights[0] <= share <= weights[1]
    assert laws[0] == pytest.approx(share * laws[1] + (1 - share) * laws[2])
    assert laws.sum(axis=1) == pytest.approx(np.ones(3))

    def log_likelihood(weight, first, second):
        each = np.stack([weight * first + (1 - weight) * second, first, second])
        return (counts * np.log(each)).sum()

    rng = np.random.default_rng(3)
    best = log_likelihood(share, laws[1], laws[2])
    near = [rng.dirichlet(200 * law + 0.1, 3_000) for law in laws[1:]]
    others = [
        log_likelihood(rng.uniform(*weights), first, second)
        for first, second in zip(*near, strict=True)
        if (first > 0).all() and (second > 0).all()
    ]
    assert best > max(others)


def test_an_unseen_score_is_not_ruled_out():
    counts = np.array([[500.0, 50], [20, 0], [1_000, 1]])
    laws, _ = tests_of_laws._likeliest(counts, 0.3, (0.3, 0.3))
    assert laws[1][1] > 0.1


def test_joined_scores_keep_their_rows_and_their_order():
    rng = np.random.default_rng(17)
    counts = rng.integers(0, 5, (3, 200)).astype(float)
    counts[2] += 1
    joined = tests_of_laws._joined(counts, counts[0] + counts[1], 10)
    assert joined.sum(axis=1) == pytest.approx(counts.sum(axis=1))
    assert 20 < joined.shape[1] < 200
    edges = np.cumsum(joined.sum(axis=0))
    assert set(edges) <= set(np.cumsum(counts.sum(axis=0)))


def test_negatives_refute_what_they_should():
    assert scar_test(P, U, negative=N, n_resamples=500).p_value > 0.05
    assert scar_test(P, U, negative=N, prior=0.3, n_resamples=500).p_value > 0.05
    assert not scar_test(P, U, negative=N, prior=(0.2, 0.4), n_resamples=500).refuted
    assert p_of(scar_test(P, U, negative=N, prior=0.9), "negatives") < 0.01
    rng = np.random.default_rng(5)
    unlabeled = rng.normal(2 * (rng.random(2_000) < 0.3), 1)
    shifted = scar_test(rng.normal(3, 1, 300), unlabeled, negative=rng.normal(0, 1, 300))
    assert p_of(shifted, "negatives") < 0.01


def test_purity_turns_the_mixture_into_another():
    """P = λ f₁ + (1−λ) U; with these sizes λ = (ρ − α)/(1 − α) = 5/7, and the clean positives are not that."""
    rng = np.random.default_rng(1)
    sample = rng.normal(2, 1, 200)
    noisy = np.where(rng.random(400) < 0.8, rng.normal(2, 1, 400), rng.normal(0, 1, 400))
    clean = rng.normal(2, 1, 400)
    u = rng.normal(2 * (rng.random(2_000) < 0.3), 1)
    options = {"labeled_sample": sample, "prior": 0.3, "purity": 0.8}
    assert p_of(scar_test(noisy, u, **options), "labeled sample") > 0.05
    assert p_of(scar_test(clean, u, **options), "labeled sample") < 0.01
    assert p_of(scar_test(noisy, labeled_sample=sample), "labeled sample") < 0.01


# --- The share, and the verdict --------------------------------------------------------------------


@pytest.mark.parametrize("k", [0, 5, 30, 31, 60, 100])
def test_the_share_is_tested_exactly(k):
    sample = np.arange(100.0), np.arange(100) < k
    law = stats.binom(100, 0.3)
    exact = min(1.0, 2 * min(law.cdf(k), law.sf(k - 1)))
    assert p_of(scar_test(P, U, prior=0.3, labeled_sample=sample), "share") == pytest.approx(exact)
    inside = p_of(scar_test(P, U, prior=(0.1, 0.9), labeled_sample=sample), "share")
    assert (inside == 1) == (k not in (0, 5, 100))


def test_a_wrong_prior_is_not_held_against_scar():
    sample = np.append(P[:40], N[:60]), np.arange(100) < 40
    result = scar_test(P, U, prior=0.1, labeled_sample=sample)
    assert not result.refuted
    assert result.checks[-1].refuted
    assert "the prior is refuted, not SCAR" in says(result, "share")
    assert any("may be its fault" in note for note in result.notes)


@pytest.mark.parametrize(
    ("p", "refuted"),
    [
        ([0.01, 0.04, 0.03], [True, False, False]),
        ([0.01, 0.02, 0.03], [True, True, True]),
        ([0.02, 0.02, 0.02], [False, False, False]),
        ([None, 0.04], [False, True]),
        ([0.05], [True]),
        ([0.0501], [False]),
    ],
)
def test_the_verdict_is_holms(p, refuted):
    found = [(Check(name=str(k), p_value=value, says="no"), "yes") for k, value in enumerate(p)]
    judged = verdict.judged_by_holm(found, 0.05)
    assert [check.refuted for check in judged] == refuted
    assert [check.says for check in judged] == ["yes" if bad else "no" for bad in refuted]


def test_the_p_value_is_bonferronis_over_what_was_made():
    sample = HIGH[:50], np.arange(50) < 40
    result = scar_test(P, U, prior=0.9, negative=N, source=P > 2, labeled_sample=sample, n_resamples=99)
    made = [check.p_value for check in result.checks if check.name != "share"]
    assert len(made) == 4
    assert result.p_value == pytest.approx(min(1, 4 * min(made)))
    assert result.refuted == (result.p_value <= 0.05)
    alone = scar_test(P, U, source=P > 2, n_resamples=99)
    assert alone.p_value == p_of(alone, "sources") == 0.01


# --- What leaves it unchanged ----------------------------------------------------------------------


def arguments(change=lambda x: x, order=slice(None)):
    sample = np.append(P[:20], N[:40]) + 0.1, np.arange(60) < 20
    return {
        "positive": change(P)[order],
        "unlabeled": change(U)[::-1],
        "negative": change(N)[::-1],
        "prior": 0.3,
        "source": (np.arange(len(P)) % 3)[order],
        "labeled_sample": (change(sample[0]), sample[1]),
        "n_resamples": 99,
    }


def test_the_order_of_rows_and_a_monotone_transform_leave_it_unchanged():
    base = scar_test(**arguments()).to_dict()
    assert scar_test(**arguments(np.exp)).to_dict() == base
    assert scar_test(**arguments(order=slice(None, None, -1))).to_dict() == base
    assert scar_test(**arguments(), rng=np.random.default_rng(0)).to_dict() == base
    assert scar_test(**arguments(), rng=1).to_dict() != base


@pytest.mark.parametrize("population", ["unlabeled", "all"])
def test_evidence_says_what_its_scores_say(population):
    n = len(P) + len(U) + len(N)
    prior = 0.3 if population == "unlabeled" else (0.9 * len(P) + 0.3 * len(U)) / n
    evidence = ht.PositiveUnlabeled(P, U, prior=prior, purity=0.9, negative=N, population=population)
    options = {"source": np.arange(len(P)) % 2, "labeled_sample": P[:30] + 0.1, "n_resamples": 99}
    found = scar_test(evidence, **options)
    expected = scar_test(P, U, prior=0.3, purity=0.9, negative=N, **options)
    assert [c.p_value for c in found.checks] == pytest.approx([c.p_value for c in expected.checks], rel=1e-6)
    assert len(found.checks) == 4


def test_an_estimate_of_the_other_population_is_converted():
    prior = (len(P) + 0.3 * len(U)) / (len(P) + len(U))
    estimate = ht.PriorEstimate(value=prior, low=prior, high=prior, population="all")
    result = scar_test(HIGH, U, prior=estimate)
    assert result.p_value == pytest.approx(scar_test(HIGH, U, prior=0.3).p_value, rel=1e-6)


def test_a_histogram_gives_nearly_the_same():
    evidence = ht.PositiveUnlabeled(HIGH, U, prior=0.12, negative=N)
    coarse = ht.PositiveUnlabeled.from_table(evidence.table.compress(), prior=0.12, population="unlabeled")
    exact, joined = (scar_test(each, n_resamples=200) for each in (evidence, coarse))
    assert p_of(exact, "prior") == pytest.approx(p_of(joined, "prior"), rel=0.2)
    assert p_of(exact, "negatives") == p_of(joined, "negatives") == 1 / 201
    with pytest.raises(InputError, match="`source` needs the positives as they came"):
        scar_test(coarse, source=np.arange(len(P)))


def test_many_rows_are_joined():
    rng = np.random.default_rng(0)
    score = rng.normal(0, 1, 20_000)
    source = np.arange(20_000) % 40
    assert p_of(scar_test(score, source=source, n_resamples=199), "sources") > 0.01
    assert p_of(scar_test(score + 0.5 * (source == 3), source=source, n_resamples=199), "sources") == 0.005


# --- Edges -----------------------------------------------------------------------------------------

EDGES = {
    "one of each": ([1.0], [0.0], [0.0]),
    "one positive": ([1.0], U, N),
    "one negative": (P, U, [0.0]),
    "constant": (np.ones(20), np.ones(100), np.ones(20)),
    "constant positives": (np.ones(20), U, N),
    "disjoint": (np.full(20, 5.0), np.zeros(100), np.full(20, -5.0)),
    "extreme": (
        np.array([1e300, -1e300, 5e-324, 0]),
        np.repeat([1e300, -1e300, 5e-324, 0.0], 20),
        [0.0, -0.0],
    ),
    "two scores": (P > 2, U > 2, N > 2),
}


@pytest.mark.parametrize("name", EDGES)
@pytest.mark.parametrize("options", [{}, {"prior": 0.3}, {"prior": (0.1, 0.2), "purity": 0.5}])
def test_edges_have_p_values(name, options):
    p, u, n = (np.asarray(x, dtype=float) for x in EDGES[name])
    sample = np.append(p, u), np.arange(len(p) + len(u)) < len(p)
    result = scar_test(p, u, negative=n, labeled_sample=sample, n_resamples=50, **options)
    made = [check.p_value for check in result.checks if check.p_value is not None]
    assert made or name == "one of each"
    assert all(0 < value <= 1 for value in made)
    json.dumps(result.to_dict(), allow_nan=False)
    assert str(result).startswith("SCAR ")


def test_constant_scores_refute_nothing():
    one = np.ones(60)
    result = scar_test(one, one, negative=one, prior=0.5, source=np.arange(60) % 2, labeled_sample=one)
    assert [check.p_value for check in result.checks] == [1, 1, 1, 1]


def test_one_positive_alone_refutes_nothing():
    result = scar_test([1.0], U, negative=N, prior=0.9, n_resamples=500)
    assert [check.p_value > 0.05 for check in result.checks] == [True, True]
    alone = p_of(scar_test([9.0], U, prior=0.9), "prior")  # above 600 unlabeled rows: a chance of 1/541
    assert alone == pytest.approx(1 / (0.9 * 601) / (1 - bounds.LOWER_SIDE), rel=1e-3)


# --- Words -----------------------------------------------------------------------------------------


def test_without_a_prior_it_says_that_nothing_can_be_refuted():
    result = scar_test(HIGH, U)
    assert not result.refuted
    assert result.p_value == 1
    assert result.checks[0].p_value is None
    assert "without a prior it can refute nothing, since α = 0 fits any scores" in says(result, "prior")
    assert any("nothing can be refuted" in note for note in result.notes)
    assert str(result).startswith("SCAR could not be tested")


def test_it_says_what_is_refuted_jointly():
    result = scar_test(HIGH, U, negative=N, prior=0.3, purity=0.9)
    assert "α = 0.3 and purity 0.9" in says(result, "prior")
    assert "This refutes SCAR, the prior and the purity jointly, not SCAR alone." in says(result, "prior")
    assert "the random choice of negatives" in says(result, "negatives")
    free = scar_test(HIGH, U, negative=N)
    assert "any share of positives" in says(free, "negatives")
    assert free.checks[1].concerns == ("SCAR", "random negatives")


def test_known_positives_that_score_too_low_are_seen_by_negatives_and_a_labeled_sample_alone():
    rng = np.random.default_rng(8)
    low = np.sort(rng.normal(2, 1, 160))[:80]  # the harder half of the positives
    blind = scar_test(low, U, prior=0.3)
    assert not blind.refuted
    assert any("cannot show known positives that score too low" in note for note in blind.notes)
    found = rng.normal(2, 1, 100)
    for more in ({"negative": N}, {"labeled_sample": found}):
        seen = scar_test(low, U, prior=0.3, **more)
        assert seen.refuted
        assert not any("cannot show known positives that score too low" in note for note in seen.notes)


def test_it_says_what_it_cannot_see():
    for result in (scar_test(P, U, prior=0.3), scar_test(HIGH, U, prior=0.3)):
        assert "selection by features" in result.notes[0]
        assert any("need not be true" in note for note in result.notes) != result.refuted


def test_it_says_what_could_not_be_made():
    few = scar_test(P, U[:49], negative=N, purity=0.9, labeled_sample=([0.1], [0]))
    assert "needs 50 unlabeled" in says(few, "negatives")
    assert "no positive was found" in says(few, "labeled sample")
    assert "with purity < 1" in says(scar_test(P, purity=0.9, labeled_sample=P), "labeled sample")
    assert "needs unlabeled" in says(scar_test(P, purity=0.9, labeled_sample=P), "prior")


def test_too_few_resamples_are_named():
    source = P > 2
    assert any("Only 10 resamples" in note for note in scar_test(P, source=source, n_resamples=10).notes)
    assert not any("Only" in note for note in scar_test(P, source=source, n_resamples=19).notes)
    assert not any("Only" in note for note in scar_test(P, U, prior=0.3, n_resamples=10).notes)


def test_the_text_is_a_short_table():
    lines = str(scar_test(HIGH, U, prior=0.3, source=HIGH > 3.5)).splitlines()
    assert lines[0].startswith("SCAR is refuted (p = ")
    assert lines[2] == "check    p-value"
    assert [line.split()[0] for line in lines[4:6]] == ["prior", "sources"]


def test_the_dictionary_is_json():
    result = scar_test(P, U, prior=0.3, labeled_sample=[])
    made = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert made["refuted"] is False
    assert made["checks"][1]["p_value"] is None
    assert set(made["checks"][0]) == {"name", "p_value", "refuted", "concerns", "says"}


# --- Refusals --------------------------------------------------------------------------------------

EVIDENCE = ht.PositiveUnlabeled(P, U, prior=0.3)
BAD = {
    "no positive": (([], U), {}, "`positive` is empty"),
    "NaN": ((P, [np.nan]), {}, "`unlabeled` must be finite"),
    "prior": ((P, U), {"prior": 30}, r"`prior` must lie in \(0, 1\), got 30"),
    "purity": ((P, U), {"purity": 0}, r"`purity` must lie in \(0, 1\], got 0"),
    "purity None": ((P, U), {"purity": None}, "`purity` must be a number"),
    "impure": ((P, U), {"purity": 0.3, "prior": 0.4}, "must exceed the share of positives"),
    "level": ((P, U), {"confidence_level": 95}, r"got 95\. Pass 0\.95"),
    "resamples": ((P, U), {"n_resamples": 0}, "`n_resamples` must be a whole number"),
    "negatives alone": ((P,), {"negative": N}, "`negative` was given without `unlabeled`"),
    "source length": ((P, U), {"source": [1, 2]}, r"one label for each of 80 positives, got \(2,\)"),
    "one source": ((P, U), {"source": ["a"] * 80}, "two sources or more, got only 'a'"),
    "labels": ((P, U), {"labeled_sample": (P, np.full(80, 2))}, "outside the code"),
    "label length": ((P, U), {"labeled_sample": (P, [1])}, "has length 1"),
    "twice": ((EVIDENCE,), {"prior": 0.2}, "pass them only there"),
    "unlabeled twice": ((EVIDENCE, U), {}, "pass them only there"),
    "weights": ((ht.PositiveUnlabeled(P, U, positive_weight=P**2),), {}, "weight one"),
    "propensity": ((ht.PositiveUnlabeled(P, U, propensity=np.full(80, 0.5)),), {}, "SCAR is not assumed"),
    "labeled": ((ht.Labeled([1, 0], [0.9, 0.1]),), {}, "PositiveUnlabeled evidence, got Labeled"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_named(name):
    arrays, options, message = BAD[name]
    with pytest.raises(InputError, match=message):
        scar_test(*arrays, **options)


def test_counts_are_no_scores_and_an_estimate_no_evidence():
    p, u = np.arange(30.0), np.arange(100.0)
    with pytest.raises(InputError, match=r"`labeled_sample` holds scores here.*got \(14, 50\)"):
        scar_test(p, u, labeled_sample=(14, 50))
    with pytest.raises(InputError, match="assumes SCAR itself"):
        scar_test(p, u, prior="estimate")
