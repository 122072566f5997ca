"""The Bayes error by its definitions: fractions, plain loops, scipy's t, and linear programs on a grid."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, optimize, special, stats

import halftruth as ht

from .agreement import assert_same

# --- Definitions: nothing here knows of halftruth ------------------------------------------------


def smaller(c):
    return min(Fraction(c), 1 - Fraction(c))


def with_sign(u, sign):
    return 1 - Fraction(u) if sign > 0 else Fraction(u)


def of_positive(r):
    """The negatives that stand where a positive of confidence r stands, for each positive: at most one errs."""
    return Fraction(1) if r == 0 else min(Fraction(1), (1 - Fraction(r)) / Fraction(r))


def of_classes(row):
    return 1 - max(Fraction(q) for q in row)


def mean(losses, weight=None):
    w = [Fraction(1)] * len(losses) if weight is None else [Fraction(x) for x in weight]
    return sum((a * b for a, b in zip(w, losses, strict=True)), Fraction()) / sum(w)


def hoeffding(level, span, size):
    """Half-width for a mean of ``size`` terms, each from an interval of this length."""
    return span * math.sqrt(math.log(2 / (1 - level)) / (2 * size))


def effective(weight):
    return float(sum(map(Fraction, weight)) ** 2 / sum(Fraction(w) ** 2 for w in weight))


def weighted_t(losses, weight, level):
    """Half-width from the linearised variance of a ratio of two sums, n − 1 degrees of freedom."""
    n, middle, total = len(losses), mean(losses, weight), sum(map(Fraction, weight))
    spread = sum((Fraction(w) * (z - middle)) ** 2 for w, z in zip(weight, losses, strict=True))
    error = math.sqrt(spread / total**2 * Fraction(n, n - 1))
    return float(stats.t.ppf((1 + level) / 2, n - 1)) * error


# --- What is measured ----------------------------------------------------------------------------

N = 400
RNG = np.random.default_rng(704)
CLEAN = RNG.beta(0.8, 1.2, N)
NOISY = np.clip(CLEAN + RNG.uniform(-1, 1, N) * np.minimum(CLEAN, 1 - CLEAN), 0, 1)
SIGN = np.where(CLEAN >= 0.5, 1, -1)
CLASSES = RNG.dirichlet([0.6, 0.9, 0.4, 1.1], N)
CONFIDENCE = RNG.beta(2, 2, N)
CONFIDENCE[:5] = 0
WEIGHT = RNG.uniform(0.2, 3.0, N)
PRIOR = 0.3

# kind: (evidence of a weight, what bayes_error is told, the rows' losses, their span, their factor)
KINDS = {
    "clean": (lambda w: ht.SoftLabeled(CLEAN, sample_weight=w), {}, [smaller(c) for c in CLEAN], 0.5, 1.0),
    "uncertainty": (
        lambda w: ht.SoftLabeled(np.minimum(CLEAN, 1 - CLEAN), sample_weight=w),
        {"labels": "uncertainty"},
        [Fraction(c) for c in np.minimum(CLEAN, 1 - CLEAN)],
        0.5,
        1.0,
    ),
    "noisy, signs": (
        lambda w: ht.SoftLabeled(NOISY, sample_weight=w),
        {"labels": "noisy", "sign": SIGN},
        [with_sign(u, s) for u, s in zip(NOISY, SIGN, strict=True)],
        1.0,
        1.0,
    ),
    "classes": (
        lambda w: ht.SoftLabeled(CLASSES, sample_weight=w),
        {},
        [of_classes(row) for row in CLASSES],
        0.75,
        1.0,
    ),
    "confidence": (
        lambda w: ht.PositiveConfidence(CONFIDENCE, prior=PRIOR, sample_weight=w),
        {},
        [of_positive(r) for r in CONFIDENCE],
        1.0,
        PRIOR,
    ),
    "confidence, relative": (
        lambda w: ht.PositiveConfidence(CONFIDENCE, sample_weight=w),
        {},
        [of_positive(r) for r in CONFIDENCE],
        1.0,
        1.0,
    ),
}
each_kind = pytest.mark.parametrize("kind", KINDS)
each_weight = pytest.mark.parametrize("weight", [None, WEIGHT], ids=["no weights", "weights"])


@each_weight
@each_kind
def test_value_is_the_mean_of_the_rows(kind, weight):
    evidence, told, losses, _, factor = KINDS[kind]
    for method in ("t", "hoeffding"):
        found = ht.bayes_error(evidence(weight), method=method, **told)
        assert_same(found.value, factor * float(mean(losses, weight)), f"{kind}, {method}")


@each_weight
@pytest.mark.parametrize("level", [0.8, 0.95])
@each_kind
def test_hoeffding(kind, level, weight):
    evidence, told, losses, span, factor = KINDS[kind]
    found = ht.bayes_error(evidence(weight), method="hoeffding", confidence_level=level, **told)
    middle = float(mean(losses, weight))
    half = hoeffding(level, span, N if weight is None else effective(weight))
    assert middle - half > 0  # inside what is possible, so that nothing is cut off
    assert_same([found.low, found.high], [factor * (middle - half), factor * (middle + half)], kind)


@pytest.mark.parametrize("level", [0.8, 0.95])
@each_kind
def test_t_is_that_of_scipy(kind, level):
    evidence, told, losses, _, factor = KINDS[kind]
    found = ht.bayes_error(evidence(None), method="t", confidence_level=level, **told)
    wanted = stats.ttest_1samp(np.asarray(losses, dtype=float), 0).confidence_interval(level)
    assert_same([found.low, found.high], [factor * wanted.low, factor * wanted.high], kind, tolerance=1e-11)


@pytest.mark.parametrize("level", [0.8, 0.95])
@each_kind
def test_t_of_weighted_rows(kind, level):
    evidence, told, losses, _, factor = KINDS[kind]
    found = ht.bayes_error(evidence(WEIGHT), method="t", confidence_level=level, **told)
    middle, half = float(mean(losses, WEIGHT)), weighted_t(losses, WEIGHT, level)
    assert_same(
        [found.low, found.high], [factor * (middle - half), factor * (middle + half)], kind, tolerance=1e-11
    )


@pytest.mark.parametrize("method", ["t", "hoeffding"])
@each_kind
def test_equal_weights_are_none_and_zero_weights_are_removal(kind, method):
    evidence, told, losses, _, _ = KINDS[kind]
    plain = ht.bayes_error(evidence(None), method=method, **told)
    equal = ht.bayes_error(evidence(np.full(N, 2.5)), method=method, **told)
    assert_same([equal.value, equal.low, equal.high], [plain.value, plain.low, plain.high], f"{kind}, equal")
    kept = np.where(np.arange(N) % 3 > 0, WEIGHT, 0.0)
    some = ht.bayes_error(evidence(kept), method=method, **told)
    some_losses = [z for z, w in zip(losses, kept, strict=True) if w > 0]
    some_weight = kept[kept > 0]
    _, _, _, span, factor = KINDS[kind]
    half = (
        weighted_t(some_losses, some_weight, 0.95)
        if method == "t"
        else hoeffding(0.95, span, effective(some_weight))
    )
    middle = float(mean(some_losses, some_weight))
    wanted = [factor * x for x in (middle, middle - half, middle + half)]
    assert_same([some.value, some.low, some.high], wanted, f"{kind}, zeros", tolerance=1e-11)


# --- Any rows, in fractions -----------------------------------------------------------------------

sixteenths = st.integers(0, 16).map(lambda i: i / 16)
counts = st.integers(1, 4)


@given(st.lists(st.tuples(sixteenths, st.booleans(), counts), min_size=2, max_size=12))
def test_soft_labels_of_any_rows(rows):
    q, up, times = ([row[i] for row in rows] for i in range(3))
    sign = np.where(up, 1, -1)
    again = np.repeat(np.arange(len(q)), times)
    cases = [
        ({}, q, [smaller(c) for c in q]),
        ({"labels": "uncertainty"}, [c / 2 for c in q], [Fraction(c) / 2 for c in q]),
        ({"labels": "noisy", "sign": sign}, q, [with_sign(c, s) for c, s in zip(q, sign, strict=True)]),
        ({"labels": "noisy"}, q, [smaller(c) for c in q]),
    ]
    for told, given_q, losses in cases:
        wanted = float(mean(losses, times))
        found = ht.bayes_error(ht.SoftLabeled(given_q, sample_weight=times), **told)
        assert_same(found.value, wanted, str(told))
        many = {name: np.asarray(x)[again] if name == "sign" else x for name, x in told.items()}
        found = ht.bayes_error(ht.SoftLabeled(np.asarray(given_q)[again]), **many)
        assert_same(found.value, wanted, f"{told}, repeated")


@given(st.lists(st.tuples(sixteenths, counts), min_size=2, max_size=12), st.sampled_from([None, 0.3, 0.75]))
def test_confidences_of_any_positives(rows, prior):
    r, times = ([row[i] for row in rows] for i in range(2))
    if not any(r):
        r[0] = 0.5
    wanted = (1 if prior is None else prior) * float(mean([of_positive(x) for x in r], times))
    found = ht.bayes_error(ht.PositiveConfidence(r, prior=prior, sample_weight=times))
    assert_same(found.value, wanted)
    again = np.repeat(np.arange(len(r)), times)
    assert_same(ht.bayes_error(ht.PositiveConfidence(np.asarray(r)[again], prior=prior)).value, wanted)


@given(st.integers(3, 6), st.data())
def test_classes_of_any_rows(n_classes, data):
    row = st.lists(st.integers(0, 9), min_size=n_classes, max_size=n_classes).filter(any)
    rows = data.draw(st.lists(row, min_size=2, max_size=10))
    times = data.draw(st.lists(counts, min_size=len(rows), max_size=len(rows)))
    shares = [[Fraction(x, sum(row)) for x in row] for row in rows]
    q = np.asarray([[float(x) for x in row] for row in shares])
    wanted = float(mean([1 - max(row) for row in shares], times))
    assert_same(ht.bayes_error(ht.SoftLabeled(q, sample_weight=times)).value, wanted)
    assert_same(ht.bayes_error(ht.SoftLabeled(np.repeat(q, times, axis=0))).value, wanted)


def test_two_columns_are_one_probability():
    pair = np.stack([1 - CLEAN, CLEAN], axis=1)
    one, two = ht.bayes_error(ht.SoftLabeled(CLEAN)), ht.bayes_error(ht.SoftLabeled(pair))
    assert_same([two.value, two.low, two.high], [one.value, one.low, one.high])


@pytest.mark.parametrize("method", ["t", "hoeffding"])
@pytest.mark.parametrize("kind", ["clean", "uncertainty", "noisy, signs", "confidence", "classes"])
def test_intervals_stay_where_a_bayes_error_can_be(kind, method):
    few = {
        "clean": (ht.SoftLabeled([0.0, 0.02, 0.5]), {}, 0.5),
        "uncertainty": (ht.SoftLabeled([0.0, 0.02, 0.5]), {"labels": "uncertainty"}, 0.5),
        "noisy, signs": (
            ht.SoftLabeled([0.0, 0.02, 0.5]),
            {"labels": "noisy", "sign": np.array([-1, -1, 1])},
            0.5,
        ),
        "confidence": (ht.PositiveConfidence([1.0, 0.9, 0.3], prior=PRIOR), {}, PRIOR),
        "classes": (ht.SoftLabeled([[1.0, 0, 0], [0.4, 0.3, 0.3], [0.1, 0.9, 0]]), {}, 1 - 1 / 3),
    }
    evidence, told, top = few[kind]
    found = ht.bayes_error(evidence, method=method, **told)
    assert 0 <= found.low <= found.value <= found.high <= top


# --- Noise without signs --------------------------------------------------------------------------


def test_noise_without_signs_leaves_a_range():
    """u is c and noise of mean 0: the least is E min(u, 1−u), the most is that of the mean of u."""
    found = ht.bayes_error(ht.SoftLabeled(NOISY, sample_weight=WEIGHT), labels="noisy")
    low = float(mean([smaller(u) for u in NOISY], WEIGHT))
    high = float(smaller(mean([Fraction(u) for u in NOISY], WEIGHT)))
    assert found.identified is not None
    assert_same(found.value, low)
    assert_same(found.identified, (low, high))
    assert found.low < low
    assert found.high > high
    assert any("sign" in note for note in found.notes)
    signed = ht.bayes_error(ht.SoftLabeled(NOISY), labels="noisy", sign=SIGN)
    assert signed.identified is None


# --- Positives with confidences -------------------------------------------------------------------


@pytest.mark.parametrize("method", ["t", "hoeffding"])
def test_a_range_of_priors_is_the_union_over_it(method):
    low, middle, high = (
        ht.bayes_error(ht.PositiveConfidence(CONFIDENCE, prior=p), method=method) for p in (0.2, 0.3, 0.4)
    )
    found = ht.bayes_error(ht.PositiveConfidence(CONFIDENCE, prior=(0.2, 0.4)), method=method)
    assert_same([found.value, found.low, found.high], [middle.value, low.low, high.high])
    losses = mean([of_positive(r) for r in CONFIDENCE])
    assert found.identified is not None
    assert_same(found.identified, (0.2 * float(losses), 0.4 * float(losses)))


def test_without_a_prior_the_value_is_relative_to_it_and_says_so():
    relative = ht.bayes_error(ht.PositiveConfidence(CONFIDENCE))
    known = ht.bayes_error(ht.PositiveConfidence(CONFIDENCE, prior=PRIOR))
    assert_same(PRIOR * relative.value, known.value)
    assert any("prior" in note or "π" in note for note in relative.notes)
    assert relative.notes != known.notes


# --- Scores ----------------------------------------------------------------------------------------

MODEL = ht.simulate.GaussianClasses(prior=0.35, separation=1.4, intercept=-0.9, slope=0.7)
SCORED = {
    "labeled": MODEL.labeled(600, 1),
    "weighted": ht.Labeled(
        MODEL.draw(600, 2).y, MODEL.draw(600, 2).score, sample_weight=np.linspace(0.5, 2, 600)
    ),
    "two samples": MODEL.positive_unlabeled(150, 700, 3),
    "two samples, purity": MODEL.positive_unlabeled(150, 700, 4, purity=0.85),
}


def share_at_half(rows):
    """Share of the rows' weight at ½ or above."""
    w = np.ones(len(rows.score)) if rows.weight is None else rows.weight
    return mean([Fraction(int(s >= 0.5)) for s in rows.score], w)


def measured_error(evidence, *, purity, prior):
    """Errors of the rule score ≥ ½: positives below it, negatives at or above it."""
    strata = evidence.table.strata
    if isinstance(evidence, ht.Labeled):
        wrong = Fraction()
        total = Fraction()
        for name, rows in strata.items():
            w = np.ones(len(rows.score)) if rows.weight is None else rows.weight
            share, positive = share_at_half(rows), name == "positive"
            weight = sum(map(Fraction, w))
            wrong, total = wrong + weight * (1 - share if positive else share), total + weight
        return float(wrong / total)
    p, u = share_at_half(strata["positive"]), share_at_half(strata["unlabeled"])
    alpha, rho = Fraction(prior), Fraction(purity)
    hit = ((1 - alpha) * p - (1 - rho) * u) / (rho - alpha)
    return float(alpha * (1 - hit) + u - alpha * hit)


@pytest.mark.parametrize("calibrator", ["beta", "isotonic"])
@pytest.mark.parametrize("kind", SCORED)
def test_scores_give_the_error_of_the_calibrated_rule_on_other_rows(kind, calibrator):
    evidence, told = SCORED[kind], {"calibrator": calibrator, "n_folds": 4, "rng": 5}
    held_out = ht.cross_calibrate(evidence, calibrator, n_folds=4, rng=5)
    wanted = measured_error(held_out, purity=0.85 if "purity" in kind else 1.0, prior=MODEL.prior)
    found = ht.bayes_error(evidence, n_resamples=50, **told)
    assert_same(wanted, 1 - ht.confusion(held_out, 0.5).accuracy, "the oracle itself", tolerance=1e-10)
    assert_same(found.value, wanted, kind, tolerance=1e-10)
    assert found.low <= found.value <= found.high
    assert found.notes


def test_naive_of_scores_is_what_they_say_of_themselves():
    drawn = MODEL.draw(300, 6)
    found = ht.bayes_error(ht.Labeled(drawn.y, drawn.score), n_resamples=20)
    assert_same(found.naive, float(mean([smaller(s) for s in drawn.score])))
    margins = ht.bayes_error(ht.Labeled(drawn.y, 4 * drawn.score - 1), calibrator="isotonic", n_resamples=20)
    assert margins.naive is None


# --- What else the best classifier has ----------------------------------------------------------------


def best_of(q, weight):
    """Every figure that a classifier has whose score is q itself, and whose threshold is the best."""
    rows = [(Fraction(a), Fraction(w)) for a, w in zip(q, weight, strict=True)]
    total, pos = sum(w for _, w in rows), sum(a * w for a, w in rows)
    neg = total - pos
    calls = []
    for t in sorted({a for a, _ in rows} | {Fraction(2)}, reverse=True):
        tp, fp = sum(a * w for a, w in rows if a >= t), sum((1 - a) * w for a, w in rows if a >= t)
        calls.append((tp, fp))
    won = sum(
        a * v * (1 - b) * w * (Fraction(1, 2) if a == b else 1) for a, v in rows for b, w in rows if a >= b
    )
    entropy = sum(float(w) * stats.entropy([float(a), float(1 - a)]) for a, w in rows)
    return {
        "bayes_error": float(min(pos - tp + fp for tp, fp in calls) / total),
        "balanced_error": float(min((pos - tp) / pos + fp / neg for tp, fp in calls) / 2),
        "roc_auc": float(won / pos / neg),
        "average_precision": float(
            sum((b[0] - a[0]) / pos * b[0] / (b[0] + b[1]) for a, b in pairwise(calls) if sum(b))
        ),
        "f1": float(max(2 * tp / (tp + fp + pos) for tp, fp in calls)),
        "log_loss": entropy / float(total),
        "brier": float(sum(a * (1 - a) * w for a, w in rows) / total),
    }


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_attainable_is_what_q_itself_attains(seed, weighted):
    rng = np.random.default_rng([9, seed])
    q = np.round(rng.beta(0.7, 0.9, 25) * 16) / 16
    weight = rng.uniform(0.3, 2, 25) if weighted else np.ones(25)
    evidence = ht.SoftLabeled(q, sample_weight=weight if weighted else None)
    found = ht.best_attainable(evidence, n_resamples=20)
    wanted = best_of(q, weight)
    assert list(found) == list(wanted)
    for name, value in wanted.items():
        assert_same(found[name].value, value, name, tolerance=1e-10)


@pytest.mark.parametrize("loss", ["zero_one", "logistic", "squared", "log", "brier"])
def test_the_risk_of_positive_confidences(loss):
    """Eq. 5 over the prior: the mean over the positives of ℓ₊ and (1−r)/r times ℓ₋."""
    rng = np.random.default_rng(10)
    r, s, w = rng.uniform(0.1, 1, 40), rng.uniform(0.05, 0.95, 40), rng.uniform(0.5, 2, 40)
    lost = {
        "zero_one": lambda x, up: float((x >= 0.6) != up),
        "logistic": lambda x, up: math.log1p(math.exp(-x if up else x)),
        "squared": lambda x, up: ((x if up else -x) - 1) ** 2,
        "log": lambda x, up: -math.log(x if up else 1 - x),
        "brier": lambda x, up: (x - up) ** 2,
    }[loss]
    terms = [
        Fraction(lost(x, True)) + (1 - Fraction(c)) / Fraction(c) * Fraction(lost(x, False))
        for x, c in zip(s, r, strict=True)
    ]
    found = ht.positive_confidence_risk(
        ht.PositiveConfidence(r, s, sample_weight=w), loss, threshold=0.6 if loss == "zero_one" else None
    )
    assert_same(found, float(mean(terms, w)), loss, tolerance=1e-11)


# --- Table 1 of Ishida et al. (2023) ---------------------------------------------------------------

PLANE, CAR, BIRD, CAT, DEER, DOG, FROG, HORSE, SHIP, TRUCK = range(10)
# Positive classes; in percent as printed: soft labels, and confidences of the positives.
TABLE = {
    "animals vs artifacts": (
        [CAT, DEER, DOG, FROG, BIRD, HORSE],
        ("0.50", "0.45", "0.55"),
        ("0.22", "0.13", "0.31"),
    ),
    "land vs other": (
        [CAR, TRUCK, CAT, DEER, DOG, HORSE],
        ("1.55", "1.46", "1.64"),
        ("0.76", "0.59", "0.94"),
    ),
    "odd vs even": ([PLANE, BIRD, DEER, FROG, SHIP], ("2.03", "1.93", "2.14"), ("1.85", "1.53", "2.17")),
    "first vs last": ([PLANE, CAR, BIRD, CAT, DEER], ("3.26", "3.12", "3.40"), ("2.76", "2.37", "3.14")),
}


def human(data_dir):
    with np.load(data_dir / "cifar10h.npz", allow_pickle=False) as file:
        return file["counts"].astype(int), file["label"].astype(int)


def percent(*values):
    return tuple(f"{100 * x:.2f}" for x in values)


@pytest.mark.parametrize("task", TABLE)
def test_published_bayes_errors_of_soft_labels(task, data_dir):
    counts, _ = human(data_dir)
    positive, published, _ = TABLE[task]
    c = counts[:, positive].sum(axis=1) / counts.sum(axis=1)
    found = ht.bayes_error(ht.SoftLabeled(c), method="t")
    assert percent(found.value, found.low, found.high) == published


@pytest.mark.parametrize("task", TABLE)
def test_published_bayes_errors_of_confidences(task, data_dir):
    """The printed intervals are as wide as those of β/π: the prior is in the printed value, not in its error."""
    counts, label = human(data_dir)
    positive, _, published = TABLE[task]
    c = counts[:, positive].sum(axis=1) / counts.sum(axis=1)
    r = c[np.isin(label, positive)]
    found = ht.bayes_error(ht.PositiveConfidence(r, prior=0.5), method="t")
    relative = ht.bayes_error(ht.PositiveConfidence(r), method="t")
    below, above = relative.value - relative.low, relative.high - relative.value
    assert percent(found.value, found.value - below, found.value + above) == published
    assert_same([found.value - found.low, found.high - found.value], [below / 2, above / 2], tolerance=1e-9)


# --- Votes ------------------------------------------------------------------------------------------


def vote_shares(components, m):
    """P(k of m votes), k = 0 … m, of a mixture of Beta laws (weight, a, b)."""
    k = np.arange(m + 1)
    return sum(w * stats.betabinom.pmf(k, m, a, b) for w, a, b in components)


def expected_smaller(components):
    """E min(q, 1−q), by quadrature that puts the kink and the poles at its ends."""
    total = 0.0
    for w, a, b in components:
        # q = t^(1/a) takes the pole at 0 away; the upper half is the lower one of 1 − q.
        for left, right in ((a, b), (b, a)):
            end = 0.5**left
            inside = integrate.quad(
                lambda t, x, y: t ** (1 / x) * (1 - t ** (1 / x)) ** (y - 1), 0, end, args=(left, right)
            )[0]
            total += w * inside / left / math.gamma(a) / math.gamma(b) * math.gamma(a + b)
    return total


def identified_by_programs(shares, grid=4000):
    """Least and most of E min(q, 1−q) over the laws on a grid that give these shares of votes."""
    m = len(shares) - 1
    q = np.linspace(0, 1, grid + 1)
    rows = np.stack([math.comb(m, k) * q**k * (1 - q) ** (m - k) for k in range(m + 1)])
    cost = np.minimum(q, 1 - q)
    found = [
        optimize.linprog(sign * cost, A_eq=rows, b_eq=shares, bounds=(0, None), method="highs")
        for sign in (1, -1)
    ]
    assert all(each.status == 0 for each in found), [each.message for each in found]
    return found[0].fun, -found[1].fun


def ballots(components, m, n=200_000):
    """k of each of about n rows, as many of each as expected; and the shares that these rows have."""
    times = np.round(n * vote_shares(components, m)).astype(int)
    return np.repeat(np.arange(m + 1), times), times / times.sum()


BETA = [(1.0, 0.3, 0.3)]
LAWS = {
    "Beta(.3, .3)": BETA,
    "Beta(1, 3)": [(1.0, 1.0, 3.0)],
    "Beta(2, 2)": [(1.0, 2.0, 2.0)],
    "mixture": [(0.7, 0.5, 8.0), (0.3, 6.0, 2.0)],
}


def test_three_votes_of_a_beta_law_leave_what_is_known_of_them():
    """Between 0.105 and 0.188, where the plug-in says 0.094 and the truth is 0.134."""
    k, shares = ballots(BETA, 3)
    low, high = identified_by_programs(vote_shares(BETA, 3))
    truth = expected_smaller(BETA)
    # Two half-laws alike: I(½; a+1, a) is what a Beta law keeps of its mean below the middle.
    assert_same(truth, float(special.betainc(1.3, 0.3, 0.5)), tolerance=1e-9)
    loss = np.minimum(np.arange(4), 3 - np.arange(4)) / 3
    plug_in = float(loss @ vote_shares(BETA, 3))
    # E min(k, m−k)/m with m = 3 is E[q(1−q)], and the most is twice that.
    assert_same(plug_in, 0.3 * 0.3 / (0.6 * 1.6))
    assert_same(high, 2 * plug_in, tolerance=1e-9)
    for figure, printed in ((low, 0.105), (high, 0.188), (plug_in, 0.094), (truth, 0.134)):
        assert abs(figure - printed) <= 0.0005 + 1e-9
    found = ht.bayes_error(ht.SoftLabeled.from_votes(k, 3))
    assert found.identified is not None
    assert found.identified == pytest.approx((low, high), abs=3e-5)
    assert_same(found.naive, float(loss @ shares))


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("law", LAWS)
def test_what_votes_identify_is_what_two_linear_programs_say(law, m):
    """A grid misses the best points by up to half a step, a loss of second order.

    Here that is 1e-7. On one of 257 steps of arcsin √q it is h²/8 times the bend of the parabola that bounds
    min(q, 1−q), 4.5 for Beta(2, 2): 2e-5.
    """
    k, shares = ballots(LAWS[law], m)
    low, high = identified_by_programs(shares)
    found = ht.bayes_error(ht.SoftLabeled.from_votes(k, m))
    assert found.identified is not None
    assert found.identified[0] == pytest.approx(low, abs=3e-5)
    assert found.identified[1] == pytest.approx(high, abs=3e-5)
    assert found.identified[0] - 1e-4 <= expected_smaller(LAWS[law]) <= found.identified[1] + 1e-4
    assert found.low <= found.identified[0]
    assert found.identified[1] <= found.high
    assert found.low <= found.value <= found.high


@pytest.mark.parametrize("law", LAWS)
def test_more_votes_identify_more(law):
    sets = [
        ht.bayes_error(ht.SoftLabeled.from_votes(ballots(LAWS[law], m)[0], m)).identified
        for m in (1, 2, 3, 5, 8)
    ]
    for wide, narrow in pairwise(sets):
        assert wide is not None
        assert narrow is not None
        # Rows are whole: their shares are off by up to half a row each.
        assert wide[0] <= narrow[0] + 1e-4
        assert narrow[1] <= wide[1] + 1e-4


def test_the_naive_of_votes_is_the_plug_in_and_too_small():
    rng = np.random.default_rng(8)
    for law, components in LAWS.items():
        which = rng.choice(len(components), 4000, p=[w for w, _, _ in components])
        a, b = (np.asarray([part[i] for part in components])[which] for i in (1, 2))
        k = rng.binomial(5, rng.beta(a, b))
        found = ht.bayes_error(ht.SoftLabeled.from_votes(k, 5))
        plug_in = float(mean([smaller(Fraction(int(x), 5)) for x in k]))
        assert_same(found.naive, plug_in, law)
        assert found.value >= plug_in


def test_one_vote_says_only_what_the_share_of_votes_bounds():
    """One vote a row: any law with this mean is possible, from all certain to all alike."""
    k = np.repeat([0, 1], [700, 300])
    found = ht.bayes_error(ht.SoftLabeled.from_votes(k, 1))
    assert found.identified is not None
    assert found.identified[0] == pytest.approx(0, abs=1e-6)
    assert found.identified[1] == pytest.approx(0.3, abs=1e-6)
    assert found.low <= 0
    assert found.high > 0.3


@pytest.mark.parametrize("size", [2.0, 2.5])
def test_equal_weights_of_votes_are_none(size):
    k = np.repeat(np.arange(6), [300, 120, 60, 40, 50, 80])
    plain = ht.bayes_error(ht.SoftLabeled.from_votes(k, 5))
    equal = ht.bayes_error(ht.SoftLabeled.from_votes(k, 5, sample_weight=np.full(len(k), size)))
    assert_same([equal.value, equal.low, equal.high], [plain.value, plain.low, plain.high], tolerance=1e-9)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize(("negative", "positive"), [(700, 300), (95, 5), (4000, 1000)])
def test_the_interval_of_one_vote_is_that_of_a_share_by_its_likelihood(negative, positive, level):
    """All laws of one mean are as likely: the upper end is the largest mean that a likelihood ratio allows."""
    n, drop = negative + positive, stats.chi2.ppf(level, 2) / 2  # two degrees of freedom
    share = positive / n

    def lost(p):
        return positive * math.log(share / p) + negative * math.log((1 - share) / (1 - p)) - drop

    wanted = optimize.brentq(lost, share, 0.5)
    k = np.repeat([0, 1], [negative, positive])
    found = ht.bayes_error(ht.SoftLabeled.from_votes(k, 1), confidence_level=level)
    assert found.low == pytest.approx(0, abs=1e-4)
    # The end is sought until it is sure to a hundredth of the way from the value.
    assert found.high == pytest.approx(wanted, abs=0.01 * (wanted - share))
