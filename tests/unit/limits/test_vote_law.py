"""The Bayes error from votes: identified sets, fitted laws and intervals against closed forms and programs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq, linprog
from scipy.special import betainc, betaln, gammaln, xlogy

import halftruth as ht
from halftruth.limits._vote_law import (
    LOSS,
    Q,
    Votes,
    beta_law,
    counted,
    difficulty,
    fitted_beta,
    fitted_law,
    nearest,
)
from halftruth.limits._vote_limits import (
    Explaining,
    Likely,
    functional_range,
    law_measure,
    likeliest,
    mean_range,
)

DROP = 2.995732273553991
"""Half the 95% quantile of χ² with two degrees of freedom, −log .05."""


def beta_binomial(m, a, b):
    k = np.arange(m + 1)
    choose = gammaln(m + 1) - gammaln(k + 1) - gammaln(m - k + 1)
    return np.exp(choose + betaln(k + a, m - k + b) - betaln(a, b))


def exact(m, a, b, n=1e6):
    """Votes in exactly the shares of a Beta law."""
    return Votes(k=np.arange(m + 1.0), m=np.full(m + 1, float(m)), count=n * beta_binomial(m, a, b))


def drawn(m, a, b, n, seed):
    count = np.random.default_rng(seed).multinomial(n, beta_binomial(m, a, b)).astype(float)
    seen = count > 0
    return Votes(k=np.arange(m + 1.0)[seen], m=np.full(seen.sum(), float(m)), count=count[seen])


def identified_set(votes, law, function):
    return mean_range(Explaining(votes=votes, law=law), function)


def likely_range(votes, function, drop):
    return mean_range(Likely(votes=votes, center=likeliest(votes), drop=drop), function)


def beta_bayes_error(a, b):
    return a / (a + b) * betainc(a + 1, b, 0.5) + b / (a + b) * betainc(b + 1, a, 0.5)


@pytest.mark.parametrize(("m", "a", "b"), [(3, 0.3, 0.3), (4, 1, 3), (6, 2, 2), (10, 0.5, 8)])
def test_identified_set_is_the_moment_program(m, a, b):
    votes = exact(m, a, b)
    found = identified_set(votes, beta_law(a, b), LOSS)
    fine = np.linspace(0, 1, 2001)
    powers = np.arange(m + 1)
    moments = np.exp(betaln(a + powers, b) - betaln(a, b))
    for sign, end in zip((1, -1), found, strict=True):
        program = linprog(
            sign * np.minimum(fine, 1 - fine),
            A_eq=fine[None, :] ** powers[:, None],
            b_eq=moments,
            bounds=(0, None),
        )
        # Both are on grids: what the finer one allows more is of the order of a squared step.
        assert end == pytest.approx(sign * program.fun, abs=3e-4)
    assert found[0] < beta_bayes_error(a, b) < found[1]


def test_one_vote_identifies_the_mean_alone():
    votes = Votes(k=np.array([0.0, 1.0]), m=np.ones(2), count=np.array([700.0, 300.0]))
    law = fitted_law(votes)
    assert law @ Q == pytest.approx(0.3, abs=1e-3)
    assert identified_set(votes, law, LOSS) == pytest.approx((0, law @ Q), abs=1e-9)

    # The interval reaches to the binomial likelihood's upper limit of the mean.
    def log_ratio(p):
        return 700 * np.log(0.7 / (1 - p)) + 300 * np.log(0.3 / p) - DROP

    low, high = likely_range(votes, LOSS, DROP)
    assert high == pytest.approx(brentq(log_ratio, 0.3, 0.45), abs=2e-4)
    assert low == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize(("m", "a", "b", "seed"), [(3, 0.3, 0.3, 0), (5, 2, 2, 1), (8, 1, 3, 2)])
def test_ends_of_the_interval_are_those_of_cutting_planes(m, a, b, seed):
    votes = drawn(m, a, b, 2000, seed)
    top, peak = _likeliest(votes)
    low, high = likely_range(votes, LOSS, DROP)
    for sign, end in ((-1.0, low), (1.0, high)):
        inside, outside = _by_tangents(votes, sign, top, peak - DROP)
        assert outside - inside < 0.01 * (high - low)
        assert inside - 0.005 * (high - low) < sign * end < outside + 0.005 * (high - low)


def _by_tangents(votes, sign, top, floor):
    """The largest mean of sign · loss by linear programs, cut by tangents where the likelihood is lowest."""
    rows, sides, inside = [-(votes.count / (votes.kernel @ top)) @ votes.kernel], [], -np.inf
    sides.append(votes.log_likelihood(top) - votes.total - floor)
    for _ in range(300):
        found = linprog(-sign * LOSS, A_ub=rows, b_ub=sides, A_eq=[np.ones_like(Q)], b_eq=[1], bounds=(0, 1))

        def above(share, corner=found.x):
            fitted = votes.kernel @ (top + share * (corner - top))
            return votes.count @ np.log(np.maximum(fitted, 1e-300)) - floor

        share = 1.0 if above(1.0) >= 0 else brentq(above, 0.0, 1.0, xtol=1e-12)
        law = top + share * (found.x - top)
        inside = max(inside, sign * float(LOSS @ law))
        if -found.fun - inside < 1e-5:
            break
        point = votes.kernel @ law
        rows.append(-(votes.count / point) @ votes.kernel)
        sides.append(votes.count @ np.log(point) - votes.total - floor)
    return inside, -found.fun


def _likeliest(votes):
    """The likeliest law by the EM algorithm."""
    law = np.full(len(Q), 1 / len(Q))
    for _ in range(20_000):
        law = law * (votes.kernel.T @ (votes.count / (votes.kernel @ law))) / votes.total
    return law, votes.log_likelihood(law)


@pytest.mark.parametrize(("m", "a", "b"), [(4, 0.3, 0.3), (5, 1, 3), (10, 0.05, 0.05), (50, 2, 2)])
def test_a_beta_law_is_found(m, a, b):
    votes = exact(m, a, b)
    assert fitted_beta(votes) == pytest.approx((a, b), rel=1e-3)
    assert LOSS @ fitted_law(votes) == pytest.approx(beta_bayes_error(a, b), abs=2e-4)


@pytest.mark.parametrize("m", [4, 5, 10, 50])
def test_the_nearest_law_solves_its_problem(m):
    """Where it maximises, the slope of the likelihood less that of the divergence is the same everywhere."""
    votes = drawn(m, 0.8, 2.0, 5000, m)
    reference = beta_law(1.0, 1.0)
    law = nearest(votes, reference)
    held = law > 0  # elsewhere it is less than a double can tell
    law, reference = law[held], reference[held]
    slope = votes.kernel.T[held] @ (votes.count / (votes.kernel[:, held] @ law)) - np.log(law / reference)
    assert np.sqrt(law @ (slope - law @ slope) ** 2) < 0.1
    spread = np.log(law / reference)
    assert np.sqrt(law @ (spread - law @ spread) ** 2) > 0.1  # it is not the reference itself


def test_value_identified_set_and_interval_hold_each_other():
    rng = np.random.default_rng(4)
    for m in (1, 2, 3, 5, 12):
        q = rng.beta(0.5, 0.9, 400)
        found = ht.bayes_error(ht.SoftLabeled.from_votes(rng.binomial(m, q), m))
        low, high = found.identified
        assert found.low <= low <= found.value <= high <= found.high
        assert found.naive <= found.value + 1e-9
        assert found.method == "likelihood"
        wide = found.interval(0.99)
        assert wide[0] <= found.low < found.high <= wide[1]
        assert wide != (found.low, found.high)


def test_the_plug_in_is_named_and_what_is_identified():
    found = ht.bayes_error(ht.SoftLabeled.from_votes([0, 0, 1, 3, 2, 3], 3))
    assert found.naive == pytest.approx((1 / 3 + 1 / 3) / 6)
    assert "would give 0.1111, too small" in found.notes[0]
    assert f"between {found.identified[0]:.4g} and {found.identified[1]:.4g}" in found.notes[1]
    sure = ht.bayes_error(ht.SoftLabeled.from_votes([2] * 50, 4))  # here the plug-in, ½, is not too small
    assert not any("too small" in note for note in sure.notes)


@pytest.mark.parametrize("k", [[0] * 60 + [3] * 40, [2] * 50 + [3] * 50, [3] * 100])
def test_votes_that_were_not_seen_are_no_freedom(k):
    """The chances of all numbers of votes are held, also of those that nobody gave."""
    found = ht.bayes_error(ht.SoftLabeled.from_votes(k, 3))
    votes = counted(ht.SoftLabeled.from_votes(k, 3).labels)
    law = fitted_law(votes)
    powers = np.arange(4)
    ends = []
    for sign in (1, -1):
        program = linprog(
            sign * LOSS, A_eq=Q ** powers[:, None], b_eq=Q ** powers[:, None] @ law, bounds=(0, None)
        )
        ends.append(sign * program.fun)
    assert found.identified == pytest.approx(tuple(ends), abs=1e-5)
    assert found.high < 0.25


def test_one_row_with_more_votes_changes_little():
    rng = np.random.default_rng(3)
    k = rng.binomial(3, rng.beta(0.5, 0.8, 10_000))
    plain = ht.bayes_error(ht.SoftLabeled.from_votes(k, 3))
    more = ht.bayes_error(ht.SoftLabeled.from_votes(np.append(k, 2), np.append(np.full(10_000, 3), 4)))
    width = plain.identified[1] - plain.identified[0]
    assert more.value == pytest.approx(plain.value, abs=0.1 * width)
    assert more.identified == pytest.approx(plain.identified, abs=0.03 * width)


def test_a_number_of_votes_that_depends_on_the_case_is_refuted():
    rng = np.random.default_rng(5)
    q = rng.beta(0.5, 0.5, 2000)
    hard = np.minimum(q, 1 - q) > 0.2
    m = np.where(hard, 10, 2)
    found = ht.bayes_error(ht.SoftLabeled.from_votes(rng.binomial(m, q), m))
    assert any(note.kind == "refuted" and "depends on how hard" in note for note in found.notes)
    fair = rng.integers(2, 6, 2000)
    found = ht.bayes_error(ht.SoftLabeled.from_votes(rng.binomial(fair, q), fair))
    assert not any(note.kind == "refuted" for note in found.notes)


def test_fair_numbers_of_votes_are_hardly_ever_refuted():
    """At the level .001 a note in 300 sets of data is a chance of a quarter, three of them one of .004."""
    rng = np.random.default_rng(6)
    notes = 0
    for _ in range(300):
        m = rng.choice([2, 3, 5], 400)
        k = rng.binomial(m, rng.beta(0.3, 0.6, 400))
        notes += len(difficulty(ht.SoftLabeled.from_votes(k, m).labels))
    assert notes < 3


@pytest.mark.parametrize("m", [1, 2, 3, 5])
def test_all_limits_hold_for_a_law_of_two_places(m):
    """η is .1 or .9: the best AUC is .9, F1 .9, log loss and Brier score those of a coin of .9."""
    rng = np.random.default_rng(m)
    votes = ht.SoftLabeled.from_votes(rng.binomial(m, rng.choice([0.1, 0.9], 3000)), m)
    truth = {
        "bayes_error": 0.1,
        "balanced_error": 0.1,
        "roc_auc": 0.9,
        "f1": 0.9,
        "log_loss": -0.9 * np.log(0.9) - 0.1 * np.log(0.1),
        "brier": 0.09,
    }
    for name, row in ht.best_attainable(votes, list(truth)).items():
        assert row.low <= truth[name] <= row.high, name
        low, high = row.identified
        assert row.low <= low <= row.value <= high <= row.high
        assert row.method == "likelihood"


def test_the_range_of_a_functional_that_is_a_mean_is_that_of_the_mean():
    votes = drawn(4, 0.5, 2.0, 1000, 1)
    laws = Likely(votes=votes, center=likeliest(votes), drop=DROP)

    def second(measure):
        return (measure.mass * Q**2).sum(axis=-1) / measure.total

    climbed, exact_ends = functional_range(laws, second, fitted_law(votes)), mean_range(laws, Q**2)
    assert climbed == pytest.approx(exact_ends, abs=0.02 * (exact_ends[1] - exact_ends[0]))


def test_the_range_of_the_auc_holds_that_of_many_laws_found_at_random():
    votes = drawn(5, 0.5, 2.0, 500, 2)
    laws = Likely(votes=votes, center=likeliest(votes), drop=DROP)
    low, high = functional_range(laws, ht.roc_auc, fitted_law(votes))
    rng = np.random.default_rng(0)
    for _ in range(40):
        law = laws.farthest(np.cumsum(rng.normal(size=len(Q))))[1]
        assert low - 2e-3 < ht.roc_auc(law_measure(law)) < high + 2e-3


def test_weights_count_as_the_rows_that_they_leave_in_effect():
    k, m, w = np.array([0, 1, 2, 5]), 5, np.array([3.0, 2.0, 1.0, 4.0])
    tally = counted(ht.SoftLabeled.from_votes(k, m, sample_weight=w).labels)
    assert tally.total == pytest.approx(100 / 30)
    assert tally.count / tally.total == pytest.approx(w / 10)
    same = [ht.bayes_error(ht.SoftLabeled.from_votes(k, m, sample_weight=x)) for x in (w, 8 * w)]
    assert same[0].high == pytest.approx(same[1].high, rel=1e-9)
    plain, doubled = (
        counted(ht.SoftLabeled.from_votes(k, m, sample_weight=x).labels) for x in (None, [2] * 4)
    )
    assert (plain.count == doubled.count).all()


def test_rows_may_have_different_numbers_of_votes():
    rng = np.random.default_rng(7)
    m = rng.integers(2, 9, 3000)
    k = rng.binomial(m, rng.beta(2, 2, 3000))
    found = ht.bayes_error(ht.SoftLabeled.from_votes(k, m))
    assert found.low < beta_bayes_error(2, 2) < found.high
    assert abs(found.value - beta_bayes_error(2, 2)) < abs(found.naive - beta_bayes_error(2, 2)) / 3


@pytest.mark.parametrize("k", [[0, 0, 0], [3, 3, 3], [0, 3, 0, 3], [1], [2, 1, 2, 1]])
def test_votes_that_all_agree_or_hardly_any_are_no_trouble(k):
    found = ht.bayes_error(ht.SoftLabeled.from_votes(k, 3))
    assert 0 <= found.low <= found.identified[0] <= found.value <= found.identified[1] <= found.high <= 0.5
    if set(k) <= {0, 3}:
        assert found.low == pytest.approx(0, abs=1e-6)
        assert found.high > 0.1


def test_unanimous_votes_bound_the_bayes_error_as_the_rule_of_three_does():
    """All 3 votes of n cases positive: E q³ is at least .05^(1/n) at the one-sided level."""
    n, m = 200, 3
    votes = Votes(k=np.array([float(m)]), m=np.array([float(m)]), count=np.array([float(n)]))
    _, high = likely_range(votes, LOSS, DROP)
    share = np.exp(-DROP / n)  # of cases whose votes all agree, at least
    # The most Bayes error per disagreement: the largest min(q, 1−q) / (1 − q³), at q = ½.
    assert high == pytest.approx((1 - share) * 0.5 / (1 - 0.125), rel=0.02)


def test_likelihood_counts_what_was_seen():
    votes = drawn(4, 1, 1, 50, 0)
    law = beta_law(1, 1)
    chance = np.full(5, 0.2)  # of each number of votes, under a uniform law
    assert votes.log_likelihood(law) == pytest.approx(
        xlogy(votes.count, chance[votes.k.astype(int)]).sum(), rel=1e-4
    )


@pytest.mark.parametrize("m", [1000, 2000])
def test_many_votes_are_as_good_as_the_probabilities(m):
    q = np.random.default_rng(0).beta(2, 2, 500)
    votes = ht.SoftLabeled.from_votes(np.random.default_rng(1).binomial(m, q), m)
    found, plain = ht.bayes_error(votes), ht.bayes_error(ht.SoftLabeled(q))
    assert found.value == pytest.approx(plain.value, abs=2e-3)
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high), abs=4e-3)


def test_many_numbers_of_votes_are_counted_together_and_change_little():
    rng, n = np.random.default_rng(0), 8000
    m = rng.integers(1, 200, n)
    k = rng.binomial(m, rng.beta(2, 2, n))
    votes = ht.SoftLabeled.from_votes(k, m)
    tally = counted(votes.labels)
    assert len(tally.count) < 3000 < len({*zip(k, m, strict=True)})
    assert tally.total == n
    assert set(tally.m[tally.m <= 60]) == set(range(1, 61))
    found = ht.bayes_error(votes)
    assert found.value == pytest.approx(beta_bayes_error(2, 2), abs=4 * 0.13 / np.sqrt(n))
    assert found.naive == pytest.approx(np.minimum(k / m, 1 - k / m).mean())


EXTREMES = {
    "two sides": ((0.5, 1, 9), (0.5, 9, 1)),
    "piled up at the ends": ((1.0, 0.05, 0.05),),
    "like images": ((0.45, 0.05, 5), (0.45, 5, 0.05), (0.1, 0.7, 0.7)),
    "in the middle": ((1.0, 2, 2),),
}


@pytest.mark.parametrize("name", EXTREMES)
def test_three_votes_have_at_most_half_the_bias_of_the_plug_in(name):
    """Votes in exactly the shares of a law: what is left is bias."""
    law, k = EXTREMES[name], np.arange(4.0)
    shares = sum(w * beta_binomial(3, a, b) for w, a, b in law)
    truth = sum(w * beta_bayes_error(a, b) for w, a, b in law)
    votes = Votes(k=k, m=np.full(4, 3.0), count=10_000 * shares)
    plug_in = shares @ np.minimum(k, 3 - k) / 3
    assert abs(LOSS @ fitted_law(votes) - truth) < 0.5 * (truth - plug_in)


def test_counting_nearly_equal_numbers_together_changes_little(monkeypatch):
    rng = np.random.default_rng(1)
    m = rng.integers(61, 130, 3000)
    rows = ht.SoftLabeled.from_votes(rng.binomial(m, rng.beta(2, 2, 3000)), m).labels
    apart = counted(rows)
    monkeypatch.setattr("halftruth.limits._vote_law.MANY_CELLS", 100)
    together = counted(rows)
    assert len(together.count) < len(apart.count) / 3
    assert LOSS @ fitted_law(together) == pytest.approx(LOSS @ fitted_law(apart), abs=5e-4)


@pytest.mark.parametrize("q", [0.3, 0.003])
def test_more_votes_than_can_be_told_from_the_probability_are_taken_for_it(q):
    k = np.random.default_rng(0).binomial(10**6, q, 2000)
    found = ht.bayes_error(ht.SoftLabeled.from_votes(k, 10**6))
    assert found.value == pytest.approx((k / 10**6).mean())
    assert found.low <= q <= found.high


def test_votes_by_the_thousand_beside_few_are_still_votes():
    rng = np.random.default_rng(4)
    q, m = rng.beta(0.5, 0.5, 1000), np.where(rng.random(1000) < 0.49, 3, 100_000)
    evidence = ht.SoftLabeled.from_votes(rng.binomial(m, q), m)
    found = ht.bayes_error(evidence)
    assert found.method == "likelihood"
    assert found.low < np.minimum(q, 1 - q).mean() < found.high
    best = ht.best_attainable(evidence, "bayes_error")["bayes_error"]
    assert (best.value, best.low, best.high) == (found.value, found.low, found.high)


@pytest.mark.parametrize("method", [None, "t", "likelihood"])
def test_votes_by_the_thousand_alone_take_the_methods_of_probabilities(method):
    k = np.random.default_rng(0).binomial(5000, 0.3, 50)
    found = ht.bayes_error(ht.SoftLabeled.from_votes(k, 5000), method=method)
    assert found.method == ("t" if method == "t" else "bounded")
    assert found.value == pytest.approx((k / 5000).mean())


def test_a_climb_does_not_stop_at_the_next_hill():
    """Nearly all votes negative: a law of 2% doubtful cases, hardly refuted, has an AUC far below the fitted."""
    k = np.repeat([0, 1, 2], [275, 22, 3])
    evidence = ht.SoftLabeled.from_votes(k, 3)
    votes = counted(evidence.labels)
    law = np.zeros_like(Q)
    law[[np.abs(Q - 0.02).argmin(), len(Q) // 2]] = 0.98, 0.02
    assert votes.log_likelihood(likeliest(votes)) - votes.log_likelihood(law) < DROP
    found = ht.best_attainable(evidence, ["roc_auc", "f1", "balanced_error"])
    assert found["roc_auc"].low < ht.roc_auc(law_measure(law)) < found["roc_auc"].high
    assert found["balanced_error"].high == pytest.approx(0.5, abs=1e-3)


def test_laws_that_are_certain_or_all_of_one_class_are_inside():
    certain = ht.SoftLabeled.from_votes(np.random.default_rng(1).choice([0, 3], 200), 3)
    rows = ht.best_attainable(certain)
    for name in ("bayes_error", "balanced_error", "log_loss", "brier"):
        assert rows[name].low == 0
    for name in ("roc_auc", "average_precision", "f1"):
        assert rows[name].high == 1
    one = ht.best_attainable(ht.SoftLabeled.from_votes([3] * 50, 3), ["roc_auc", "balanced_error"])
    assert one["roc_auc"].high == pytest.approx(1, abs=1e-3)
    assert one["balanced_error"].low == pytest.approx(0, abs=1e-3)
