"""Bayes errors against their truth: unbiased, covered by their intervals, or off by what theory says."""

from __future__ import annotations

import functools
import math
import sys

import numpy as np
import pytest
from scipy import integrate, special, stats

import halftruth as ht
from halftruth_papers.bayes_error.noisy_labels import noisy_labels, noisy_plug_in

LEVEL = 0.95
FAR = 4.5  # standard errors: passed by chance once in 150,000
CHANCE = 1e-4  # of a count of hits that falls short by chance


def at_least(hits, n, share):
    """Whether so many hits of n agree with a chance of at least ``share``, by the exact binomial law."""
    return hits >= stats.binom.ppf(CHANCE, n, share)


def covers(hits, n):
    """At least 93%; of few sets, what chance may leave of them."""
    return hits >= 0.93 * n if n >= 40 else at_least(hits, n, 0.93)


def at_most(hits, n, share):
    return hits <= stats.binom.isf(CHANCE, n, share)


def holds(estimate, truth):
    return estimate.low <= truth <= estimate.high


@pytest.mark.slow
@pytest.mark.parametrize("sure", [0.0, 0.01], ids=["the others sure", "the others nearly"])
@pytest.mark.parametrize("n", [20, 100, 500])
def test_an_interval_holds_where_two_percent_are_ambiguous(n, sure, draws):
    """The t interval, of the few that were seen, held 33%, 80% and 92%."""
    rng, n_sets = np.random.default_rng([n, 2]), draws(2000)
    q = np.where(rng.random((n_sets, n)) < 0.02, rng.uniform(0.1, 0.9, (n_sets, n)), sure)
    hits = sum(holds(ht.bayes_error(ht.SoftLabeled(row)), 0.02 * 0.3 + 0.98 * sure) for row in q)
    assert at_least(hits, n_sets, LEVEL)


@pytest.mark.slow
@pytest.mark.parametrize("n", [20, 100, 500])
@pytest.mark.parametrize("shape", [(1, 1), (0.5, 0.5), (2, 8)])
def test_on_ordinary_labels_it_is_hardly_wider_than_t(n, shape, draws):
    q = np.random.default_rng([n, 3]).beta(*shape, (draws(200), n))
    width = [
        np.mean([found.high - found.low for found in map(call, q)])
        for call in (
            lambda row: ht.bayes_error(ht.SoftLabeled(row)),
            lambda row: ht.bayes_error(ht.SoftLabeled(row), method="t"),
        )
    ]
    assert width[0] < 1.25 * width[1]


# --- Two normal classes at distance 2, three at distance 2: posteriors and errors in closed form ---


def posterior(x, prior):
    """P(Y=1 | x) of N(1, 1) against N(−1, 1)."""
    return special.expit(special.logit(prior) + 2 * x)


def bayes_error(prior):
    """Both classes' mass on the wrong side of where the posterior is ½."""
    cut = -special.logit(prior) / 2
    return float(prior * special.ndtr(cut - 1) + (1 - prior) * special.ndtr(-cut - 1))


def draw(n, rng, prior):
    return np.where(rng.random(n) < prior, 1.0, -1.0) + rng.standard_normal(n)


def truncated(c, rng, sd=0.4):
    """c with normal noise, cut at the same distance on both sides so that it stays in [0, 1] and has mean c."""
    reach = np.minimum(c, 1 - c) / sd
    edge = special.ndtr(reach)
    noise = special.ndtri((1 - edge) + rng.random(len(c)) * (2 * edge - 1))
    return np.clip(c + sd * np.clip(noise, -reach, reach), 0, 1)


def clean(n, rng):
    return ht.SoftLabeled(posterior(draw(n, rng, 0.4), 0.4)), {}


def uncertain(n, rng):
    c = posterior(draw(n, rng, 0.4), 0.4)
    return ht.SoftLabeled(np.minimum(c, 1 - c)), {"labels": "uncertainty"}


def signed(n, rng):
    c = posterior(draw(n, rng, 0.4), 0.4)
    return ht.SoftLabeled(truncated(c, rng)), {"labels": "noisy", "sign": np.where(c >= 0.5, 1, -1)}


def confident(n, rng):
    return ht.PositiveConfidence(posterior(1 + rng.standard_normal(n), 0.4), prior=0.4), {}


def three(n, rng):
    """N(−2, 1), N(0, 1) and N(2, 1), equally likely."""
    x = rng.choice([-2.0, 0.0, 2.0], n) + rng.standard_normal(n)
    density = np.exp(-0.5 * (x[:, None] - np.array([-2.0, 0.0, 2.0])) ** 2)
    return ht.SoftLabeled(density / density.sum(axis=1, keepdims=True)), {}


# kind: (draw, truth, rows)
MEANS = {
    "clean": (clean, bayes_error(0.4), 250),
    "uncertainty": (uncertain, bayes_error(0.4), 250),
    "noisy, signs": (signed, bayes_error(0.4), 250),
    "confidence": (confident, bayes_error(0.4), 250),
    # The outer classes err on one side, the inner one on both.
    "three classes": (three, 4 / 3 * float(special.ndtr(-1)), 250),
}


@functools.cache
def estimates(kind, method, n_sets):
    """Values, and how many of the intervals hold the truth."""
    make, truth, n = MEANS[kind]
    rng = np.random.default_rng([71, *kind.encode()])
    values, hits = [], 0
    for seed in range(n_sets):
        evidence, told = make(n, rng)
        found = ht.bayes_error(evidence, method=method, n_resamples=400, rng=seed, **told)
        values.append(found.value)
        hits += holds(found, truth)
    return np.asarray(values), hits


def distance(values, truth):
    """Of a mean from what it should be, in its standard errors."""
    return abs(values.mean() - truth) / (values.std(ddof=1) / math.sqrt(len(values)))


@pytest.mark.slow
@pytest.mark.parametrize("kind", MEANS)
def test_a_mean_is_unbiased_and_hoeffding_covers(kind, draws):
    n_sets = draws(4000)
    values, hits = estimates(kind, "hoeffding", n_sets)
    assert distance(values, MEANS[kind][1]) <= FAR
    assert at_least(hits, n_sets, LEVEL)


@pytest.mark.slow
@pytest.mark.parametrize(("method", "n_sets"), [("t", 4000), ("bootstrap", 1500)])
@pytest.mark.parametrize("kind", MEANS)
def test_t_and_bootstrap_intervals_cover_what_they_say(kind, method, n_sets, draws):
    """At 250 rows a skewed mean may cost 1% of the 95%, and the bootstrap half a per cent more."""
    n_sets = draws(n_sets)
    _, hits = estimates(kind, method, n_sets)
    slip = 0.01 if method == "t" else 0.015
    assert at_least(hits, n_sets, LEVEL - slip), f"{hits}/{n_sets}"
    assert at_most(hits, n_sets, LEVEL + 0.01), f"{hits}/{n_sets}"


@pytest.mark.slow
def test_an_estimated_prior_is_in_the_interval_of_confidences(draws):
    """A prior with an error of its own, said by replicates as far from the estimate as it is from the truth."""
    rng, n_sets, error, prior, hits = np.random.default_rng(72), draws(1500), 0.04, 0.4, 0
    for _ in range(n_sets):
        value = prior + error * rng.standard_normal()
        replicates = np.clip(value + error * rng.standard_normal(400), 0.01, 0.99)
        given = ht.PriorEstimate(value=value, replicates=replicates, population="all")
        r = posterior(1 + rng.standard_normal(400), prior)
        hits += holds(ht.bayes_error(ht.PositiveConfidence(r, prior=given), rng=rng), bayes_error(prior))
    assert at_least(hits, n_sets, LEVEL - 0.01), f"{hits}/{n_sets}"


# --- Noise without signs ---------------------------------------------------------------------------


def plug_in_of(c, sd=0.4):
    """E min(u, 1−u) of u about c, by quadrature of the truncated normal law."""
    reach = min(c, 1 - c)
    if reach == 0:
        return 0.0
    density = stats.truncnorm(-reach / sd, reach / sd, loc=c, scale=sd).pdf
    inner = [0.5] if c - reach < 0.5 < c + reach else None
    return integrate.quad(
        lambda u: min(u, 1 - u) * density(u), c - reach, c + reach, points=inner, epsabs=1e-11
    )[0]


@functools.cache
def biased_value(prior):
    """The mean of `plug_in_of` over the population: fine where the posterior moves."""
    x, w = np.polynomial.legendre.leggauss(400)
    x, w = 8 * x, 8 * w
    density = prior * stats.norm.pdf(x - 1) + (1 - prior) * stats.norm.pdf(x + 1)
    return float(sum(a * plug_in_of(float(c)) for a, c in zip(w * density, posterior(x, prior), strict=True)))


@pytest.mark.slow
def test_noise_without_signs_is_too_small_by_what_theory_says(draws):
    n, n_sets, truth, wanted = 250, draws(4000), bayes_error(0.4), biased_value(0.4)
    rng, values, hits = np.random.default_rng(73), [], 0
    for _ in range(n_sets):
        c = posterior(draw(n, rng, 0.4), 0.4)
        u = noisy_labels(c, rng=rng)
        found = ht.bayes_error(ht.SoftLabeled(u), labels="noisy")
        values.append(found.value)
        hits += holds(found, truth)
    values = np.asarray(values)
    assert distance(values, wanted) <= FAR
    assert distance(values, truth) >= 5 * FAR
    assert wanted < truth
    # The interval allows for all that noise without signs leaves open.
    assert at_least(hits, n_sets, LEVEL), f"{hits}/{n_sets}"


def test_the_theory_of_noise_equals_quadrature():
    c = np.array([0.0, 1e-3, 0.1, 0.25, 0.3, 0.45, 0.5, 0.6, 0.8, 0.97, 1.0])
    for sd in (0.1, 0.4, 1.5):
        wanted = np.array([plug_in_of(float(x), sd) for x in c])
        assert np.mean(wanted) == pytest.approx(np.mean(noisy_plug_in(c, sd=sd)), abs=1e-8)
        for x, one in zip(c, wanted, strict=True):
            found = np.asarray(noisy_plug_in(np.array([x]), sd=sd))
            assert found.item() == pytest.approx(one, abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("sd", [0.1, 0.4])
def test_simulated_noise_has_mean_zero_and_the_law_of_quadrature(sd, draws):
    rng, n = np.random.default_rng(74), draws(200_000)
    for c in (0.05, 0.3, 0.5, 0.85):
        u = noisy_labels(np.full(n, c), sd=sd, rng=rng)
        assert u.min() >= 0
        assert u.max() <= 1
        assert distance(u, c) <= FAR
        assert distance(np.minimum(u, 1 - u), plug_in_of(c, sd)) <= FAR
        reach = min(c, 1 - c)
        law = stats.truncnorm(-reach / sd, reach / sd, loc=c, scale=sd)
        assert stats.kstest(u, law.cdf).pvalue > 1e-5


# --- Scores through a calibrator -------------------------------------------------------------------

MODEL = ht.simulate.GaussianClasses(prior=0.3, separation=1.6, intercept=-0.7, slope=0.8)
"""Scores that are no posteriors, but rise with them: their Bayes error is that of x."""
CUT = MODEL.separation / 2 - special.logit(MODEL.prior) / MODEL.separation
FLOOR = float(MODEL.prior * special.ndtr(CUT - MODEL.separation) + (1 - MODEL.prior) * special.ndtr(-CUT))
SCORED = {
    "labeled": lambda rng: MODEL.labeled(1500, rng),
    "two samples": lambda rng: MODEL.positive_unlabeled(400, 2000, rng),
    "two samples, purity": lambda rng: MODEL.positive_unlabeled(400, 2000, rng, purity=0.85),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", SCORED)
def test_scores_bound_the_bayes_error_from_above(kind, draws):
    """The rule was chosen on other rows, so that it errs a little more than the best: coverage may slip by 1.5%."""
    n_sets, rng = draws(600), np.random.default_rng([75, *kind.encode()])
    found = [ht.bayes_error(SCORED[kind](rng), n_resamples=300, rng=seed) for seed in range(n_sets)]
    values = np.asarray([each.value for each in found])
    error = values.std(ddof=1) / math.sqrt(n_sets)
    assert values.mean() >= FLOOR - FAR * error
    # A rule of three parameters loses next to nothing on so many rows.
    assert values.mean() <= FLOOR + 0.003 + FAR * error
    hits = sum(holds(each, FLOOR) for each in found)
    assert at_least(hits, n_sets, LEVEL - 0.015), f"{hits}/{n_sets}"


@pytest.mark.slow
def test_scores_reach_the_bayes_error_of_many_rows(draws):
    n = draws(400_000)
    found = ht.bayes_error(MODEL.labeled(n, 76), n_resamples=200)
    assert abs(found.value - FLOOR) <= FAR * math.sqrt(FLOOR * (1 - FLOOR) / n) + 1e-3


# --- Too good to be true ---------------------------------------------------------------------------

N_TEST, N_SOFT = 1500, 800


def judged(true_error, rng):
    """A classifier that errs so often, on a test set of its own, against soft labels of other rows."""
    error = rng.binomial(N_TEST, true_error) / N_TEST
    return ht.too_good_to_be_true(error, N_TEST, clean(N_SOFT, rng)[0])


@pytest.mark.slow
def test_too_good_is_said_of_the_best_as_rarely_as_stated(draws):
    """The best possible classifier is the edge of the null hypothesis; anything worse is refused less often."""
    n_sets, truth = draws(3000), bayes_error(0.4)
    rng = np.random.default_rng(77)
    p = np.asarray([judged(truth, rng).p_value for _ in range(n_sets)])
    for size in (0.01, 0.05, 0.1):
        hits = int((p <= size).sum())
        # Test errors are whole numbers of rows, and the normal law is not exact.
        assert at_most(hits, n_sets, 1.15 * size + 0.002), f"{size}: {hits}/{n_sets}"
        assert at_least(hits, n_sets, 0.5 * size), f"{size}: {hits}/{n_sets}"
    p = np.asarray([judged(truth + 0.01, rng).p_value for _ in range(n_sets)])
    assert at_most(int((p <= 0.05).sum()), n_sets, 0.05)


@pytest.mark.slow
def test_too_good_is_said_of_what_no_one_can_reach(draws):
    """The power of a normal test of the difference between two means, nearly."""
    n_sets, truth, gain = draws(1000), bayes_error(0.4), 0.03
    rng = np.random.default_rng(78)
    c = posterior(draw(200_000, rng, 0.4), 0.4)
    of_labels = np.minimum(c, 1 - c).var() / N_SOFT
    null, real = (math.sqrt(q * (1 - q) / N_TEST + of_labels) for q in (truth, truth - gain))
    power = special.ndtr((gain - special.ndtri(0.95) * null) / real)
    assert power > 0.8
    p = np.asarray([judged(truth - gain, rng).p_value for _ in range(n_sets)])
    assert at_least(int((p <= 0.05).sum()), n_sets, power - 0.03), (p <= 0.05).mean()


# --- Votes ------------------------------------------------------------------------------------------

# Mixtures of Beta laws: (weight, a, b).
LAWS = {
    "Beta(.3, .3)": ((1.0, 0.3, 0.3),),
    "Beta(1, 3)": ((1.0, 1.0, 3.0),),
    "Beta(2, 2)": ((1.0, 2.0, 2.0),),
    "Beta(.5, 8)": ((1.0, 0.5, 8.0),),
    "mostly clear": ((0.7, 0.5, 8.0), (0.3, 6.0, 2.0)),
    "two sides": ((0.5, 1.0, 9.0), (0.5, 9.0, 1.0)),
    "some doubtful": ((0.8, 0.2, 4.0), (0.2, 5.0, 5.0)),
    "nearly all negative": ((0.9, 0.05, 5.0), (0.1, 3.0, 3.0)),
    "near the middle": ((0.5, 20.0, 30.0), (0.5, 30.0, 20.0)),
    "like images": ((0.45, 0.05, 5.0), (0.45, 5.0, 0.05), (0.1, 0.7, 0.7)),
    "Beta(.05, .05)": ((1.0, 0.05, 0.05),),
}
ROWS = 10_000
SETS = 200
each_law = pytest.mark.parametrize("law", LAWS)


def law_truth(components):
    """E min(q, 1−q): what each half of each law keeps of its mean."""
    total = 0.0
    for w, a, b in components:
        low, high = special.betainc(a + 1, b, 0.5), special.betainc(b + 1, a, 0.5)
        total += w * (a * low + b * high) / (a + b)
    return float(total)


def plug_in_mean(components, m):
    k = np.arange(m + 1)
    shares = sum(w * stats.betabinom.pmf(k, m, a, b) for w, a, b in components)
    return float(np.minimum(k, m - k) @ shares / m)


def votes(components, m, rng, n=ROWS):
    which = rng.choice(len(components), n, p=[w for w, _, _ in components])
    a, b = (np.asarray([part[i] for part in components])[which] for i in (1, 2))
    return rng.binomial(m, rng.beta(a, b))


@functools.cache
def vote_sets(law, m, n_sets):
    """Values, plug-ins, and how many intervals hold the truth."""
    rng, truth = np.random.default_rng([79, m, *law.encode()]), law_truth(LAWS[law])
    values, naive, hits = [], [], 0
    for _ in range(n_sets):
        k = votes(LAWS[law], m, rng)
        found = ht.bayes_error(ht.SoftLabeled.from_votes(k, m))
        values.append(found.value)
        naive.append(np.minimum(k, m - k).mean() / m)
        hits += holds(found, truth)
    return np.asarray(values), np.asarray(naive), hits


@pytest.mark.slow
@pytest.mark.parametrize("m", [3, 5, 10])
@each_law
def test_votes_have_at_most_half_the_bias_of_the_plug_in(law, m, draws, capsys):
    n_sets, truth = draws(SETS), law_truth(LAWS[law])
    values, _, _ = vote_sets(law, m, n_sets)
    plug_in = plug_in_mean(LAWS[law], m) - truth
    assert plug_in < 0
    bias, error = values.mean() - truth, values.std(ddof=1) / math.sqrt(n_sets)
    with capsys.disabled():
        sys.stdout.write(f"\n{law}, m={m}: bias {bias:+.5f} ± {error:.5f}, plug-in {plug_in:+.5f} ")
    # Three standard errors is all that so few draws excuse.
    assert abs(bias) <= abs(plug_in) / 2 + 3 * error


EDGES = {
    "all at a half": ([0.5], 200, 3),
    "all at a half, many votes": ([0.5], 200, 10),
    "near a half": ([0.45, 0.55], 5000, 10),
    "not far from a half": ([0.4, 0.6], 5000, 5),
    "all certain": ([0.0, 1.0], 500, 3),
    "all alike": ([0.3], 1000, 5),
    "few doubtful": ([0.05, 0.05, 0.05, 0.05, 0.5], 1000, 5),
}
"""Places of q, rows and votes: laws at the edge of what is possible, where likelihood ratios are larger."""


@pytest.mark.slow
@pytest.mark.parametrize("name", EDGES)
def test_intervals_of_votes_hold_at_the_edge(name, draws):
    places, n, m = EDGES[name]
    n_sets, rng = draws(SETS), np.random.default_rng([83, *name.encode()])
    truth = float(np.minimum(places, np.subtract(1, places)).mean())
    hits, called = 0, 0
    for _ in range(n_sets):
        evidence = ht.SoftLabeled.from_votes(rng.binomial(m, rng.choice(places, n)), m)
        found = ht.bayes_error(evidence)
        hits += holds(found, truth)
        errors = rng.binomial(100_000, truth) / 100_000  # of the best rule, on many cases
        called += ht.too_good_to_be_true(errors, 100_000, evidence).too_good
    assert covers(hits, n_sets), f"{hits}/{n_sets}"
    assert at_most(called, n_sets, 0.05), f"{called}/{n_sets} called too good"


def exact_limits(components):
    """The best of each metric under the law itself, on a grid so fine that it does not show."""
    edges = np.sin(np.linspace(0, np.pi / 2, 20_001)) ** 2
    mass = sum(w * np.diff(special.betainc(a, b, edges)) for w, a, b in components)
    mean = sum(w * a / (a + b) * np.diff(special.betainc(a + 1, b, edges)) for w, a, b in components)
    q = np.clip(mean / np.maximum(mass, 1e-300), edges[:-1], edges[1:])
    order = np.flatnonzero(mass > 1e-14)
    mass, q = mass[order], q[order]
    prior = mass @ q
    tp, fp = np.cumsum((mass * q)[::-1]), np.cumsum((mass * (1 - q))[::-1])
    tpr, fpr = tp / tp[-1], fp / fp[-1]
    return {
        "balanced_error": float(np.minimum(q / prior, (1 - q) / (1 - prior)) @ mass / 2),
        "roc_auc": float(np.trapezoid(np.append(0, tpr), np.append(0, fpr))),
        "average_precision": float(np.diff(np.append(0, tpr)) @ (tp / (tp + fp))),
        "f1": float(np.max(2 * tp / (tp + fp + prior))),
        "log_loss": float(special.entr(q) @ mass + special.entr(1 - q) @ mass),
        "brier": float((q * (1 - q)) @ mass),
    }


@pytest.mark.slow
@pytest.mark.parametrize("m", [3, 5, 10])
@pytest.mark.parametrize("law", ["Beta(.3, .3)", "two sides", "some doubtful", "Beta(1, 3)"])
def test_all_limits_from_votes_hold_the_truth(law, m, draws):
    n_sets, truth = draws(40), exact_limits(LAWS[law])
    rng = np.random.default_rng([89, m, *law.encode()])
    hits = dict.fromkeys(truth, 0)
    for _ in range(n_sets):
        evidence = ht.SoftLabeled.from_votes(votes(LAWS[law], m, rng, 2000), m)
        for name, row in ht.best_attainable(evidence, list(truth)).items():
            hits[name] += holds(row, truth[name])
    assert all(covers(count, n_sets) for count in hits.values()), hits


PLACES = {
    "rare and doubtful": ([0.02, 0.5], [0.98, 0.02], 300, 3),
    "certain": ([0.0, 1.0], [0.5, 0.5], 200, 3),
    "tenths": ([0.1, 0.9], [0.5, 0.5], 1000, 5),
}
"""Laws of two places: where, with what weights, rows and votes."""


@pytest.mark.slow
@pytest.mark.parametrize("name", PLACES)
def test_all_limits_from_votes_hold_for_two_places(name, draws):
    (low, high), (few, many), n, m = PLACES[name]
    n_sets, rng = draws(40), np.random.default_rng([97, *name.encode()])
    prior = few * low + many * high
    recall, alarms = many * high / prior, many * (1 - high) / (1 - prior)
    truth = {
        "balanced_error": min((alarms + 1 - recall) / 2, 0.5),
        "roc_auc": (1 + recall - alarms) / 2,
        "f1": max(2 * many * high / (many + prior), 2 * prior / (1 + prior)),
        "log_loss": sum(w * special.entr([q, 1 - q]).sum() for w, q in ((few, low), (many, high))),
        "brier": few * low * (1 - low) + many * high * (1 - high),
    }
    hits = dict.fromkeys(truth, 0)
    for _ in range(n_sets):
        k = rng.binomial(m, rng.choice([low, high], n, p=[few, many]))
        for row_name, row in ht.best_attainable(ht.SoftLabeled.from_votes(k, m), list(truth)).items():
            hits[row_name] += holds(row, truth[row_name])
    assert all(covers(count, n_sets) for count in hits.values()), hits


@pytest.mark.slow
@pytest.mark.parametrize("m", [3, 5, 10, 50])
@each_law
def test_intervals_of_votes_hold_the_truth(law, m, draws):
    n_sets = draws(SETS)
    _, _, hits = vote_sets(law, m, n_sets)
    assert covers(hits, n_sets), f"{hits}/{n_sets}"


@pytest.mark.slow
@each_law
def test_fifty_votes_are_read_no_worse_than_by_the_plug_in(law, draws, capsys):
    """Both from the same rows; one-sided, three standard errors of the difference of their squared errors."""
    n_sets, truth = draws(SETS), law_truth(LAWS[law])
    values, naive, _ = vote_sets(law, 50, n_sets)
    ours, theirs = (values - truth) ** 2, (naive - truth) ** 2
    with capsys.disabled():
        sys.stdout.write(f"\n{law}, m=50: RMSE {ours.mean() ** 0.5:.5f}, plug-in {theirs.mean() ** 0.5:.5f} ")
    worse = ours - theirs
    assert worse.mean() <= 3 * worse.std(ddof=1) / math.sqrt(n_sets)


# Positive classes of CIFAR-10, by number.
TASKS = {
    "animals vs artifacts": [2, 3, 4, 5, 6, 7],
    "land vs other": [1, 3, 4, 5, 7, 9],
    "odd vs even": [0, 2, 4, 6, 8],
    "first vs last": [0, 1, 2, 3, 4],
}


@pytest.mark.slow
@pytest.mark.parametrize("m", [3, 5, 10, 20])
@pytest.mark.parametrize("task", TASKS)
def test_a_few_human_votes_cover_what_all_of_them_say(task, m, draws, data_dir, capsys):
    """m of each image's votes, drawn without replacement, against all of its 47 to 63."""
    with np.load(data_dir / "cifar10h.npz", allow_pickle=False) as file:
        counts = file["counts"].astype(int)
    k, n = counts[:, TASKS[task]].sum(axis=1), counts.sum(axis=1)
    plug_in = float((np.minimum(k, n - k) / n).mean())
    mixture = ht.bayes_error(ht.SoftLabeled.from_votes(k, n)).value
    n_sets, rng = draws(200), np.random.default_rng([80, m, *task.encode()])
    held = np.zeros(2, dtype=int)
    values = []
    for _ in range(n_sets):
        found = ht.bayes_error(ht.SoftLabeled.from_votes(rng.hypergeometric(k, n - k, m), m))
        held += holds(found, plug_in), holds(found, mixture)
        values.append(found.value)
    with capsys.disabled():
        sys.stdout.write(
            f"\n{task}, m={m}: {np.mean(values):.5f}, all votes {mixture:.5f}, their plug-in {plug_in:.5f}, "
            f"held {held.tolist()} of {n_sets} "
        )
    if n_sets >= 200:
        assert (held >= 0.93 * n_sets).all(), held
    else:
        assert all(at_least(each, n_sets, 0.93) for each in held), held
