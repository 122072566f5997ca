"""FCMI of tiny learners by brute force, its bounds by counting, and Theorem 3's formula."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from halftruth._errors import InputError
from halftruth_papers import theory

LN2 = math.log(2)


def supersample(n_unlabeled=4, n_positive=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_unlabeled, 2)), rng.normal(1.0, size=(n_positive, 2))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def constant(unlabeled, positive):
    return lambda x: np.full(len(x), 0.3)


def memoriser(unlabeled, positive):
    """1 for what was trained on."""
    seen = np.concatenate([unlabeled, positive])
    return lambda x: np.isin(x, seen)


def by_the_mean(unlabeled, positive):
    """One parameter, every threshold of which is a half-line: VC dimension of at most 2."""
    w = np.concatenate([unlabeled, positive]).mean()
    return lambda x: sigmoid(w * x)


def test_a_constant_tells_nothing():
    told = theory.fcmi_of_learner(constant, *supersample())
    assert told.value == told.unlabeled == 0.0
    assert told.limit == pytest.approx(7 * LN2)


def test_a_memoriser_tells_all():
    told = theory.fcmi_of_learner(memoriser, *supersample())
    assert told.value == pytest.approx(7 * LN2, abs=1e-12)
    assert told.unlabeled == pytest.approx(4 * LN2, abs=1e-12)  # of the unlabeled rows, theirs
    assert told.informative == (told.value < told.limit)


def test_real_outputs_of_a_deterministic_learner_tell_all_whatever_the_vc_dimension():
    told = theory.fcmi_of_learner(by_the_mean, *supersample(5, 3))
    assert told.value == pytest.approx(8 * LN2, abs=1e-12)
    assert told.unlabeled == pytest.approx(8 * LN2, abs=1e-12)
    assert theory.fcmi_vc(3, 5, 2).value < 8 * LN2  # what a dimension of 2 would allow, were it of use here


@pytest.mark.parametrize("n_functions", [2, 3, 5, 9])
def test_a_finite_class_tells_at_most_ln_k(n_functions):
    slopes = np.linspace(0.5, 2, n_functions)

    def learner(unlabeled, positive):
        w = slopes[np.argmin(np.abs(slopes - (positive.mean() - unlabeled.mean())))]
        return lambda x: sigmoid(w * x)

    told = theory.fcmi_of_learner(learner, *supersample(6, 4, seed=n_functions))
    assert 0 < told.value <= math.log(n_functions) + 1e-12
    assert told.value <= theory.fcmi_finite(n_functions, 4, 6).value + 1e-12


def test_points_may_have_features():
    rng = np.random.default_rng(1)
    told = theory.fcmi_of_learner(
        lambda u, p: lambda x: x @ (p.mean(axis=0) - u.mean(axis=0)),
        rng.normal(size=(3, 2, 4)),
        rng.normal(size=(2, 2, 4)),
    )
    assert told.value == pytest.approx(5 * LN2, abs=1e-12)


def test_what_shows_only_on_positives_is_not_in_the_unlabeled_part():
    unlabeled, positive = supersample()

    def learner(u, p):
        return lambda x: np.where(np.isin(x, positive.ravel()), p.mean(), 0.5)

    told = theory.fcmi_of_learner(learner, unlabeled, positive)
    assert told.value == pytest.approx(3 * LN2, abs=1e-12)
    assert told.unlabeled == 0.0


def mutual_information(learner, unlabeled, positive, randomness):
    """Σ p(m, f) ln p(m, f)/(p(m) p(f)), from the joint table."""
    pairs = np.concatenate([unlabeled, positive])
    n, points = len(pairs), pairs.ravel()
    joint = {}
    for m in itertools.product((0, 1), repeat=n):
        rows = pairs[np.arange(n), m]
        for r in randomness:
            f = tuple(learner(rows[: len(unlabeled)], rows[len(unlabeled) :], r)(points))
            joint[m, f] = joint.get((m, f), 0) + 1 / (2**n * len(randomness))
    of_f = {}
    for (_, f), p in joint.items():
        of_f[f] = of_f.get(f, 0) + p
    return sum(p * math.log(p / (2.0**-n * of_f[f])) for (_, f), p in joint.items())


def hidden_by(unlabeled, positive, r):
    """Rounded, and moved by noise of its own."""
    w = round(float(positive.mean() - unlabeled.mean()), 1) + r
    return lambda x: np.round(sigmoid(w * x), 2)


@pytest.mark.parametrize("randomness", [[0.0], [0.0, 0.1], [0.0, 0.1, 0.1, 0.2, 0.5]])
def test_a_random_learner_against_the_joint_table(randomness):
    unlabeled, positive = supersample(3, 3)
    told = theory.fcmi_of_learner(hidden_by, unlabeled, positive, randomness=randomness)
    assert told.value == pytest.approx(
        mutual_information(hidden_by, unlabeled, positive, randomness), abs=1e-12
    )
    assert 0 < told.value < told.limit


def test_a_coin_that_hides_the_choice():
    unlabeled, positive = supersample(1, 1)

    def learner(u, p, flip):
        first = (u[0] == unlabeled[0, 0]) != flip
        return lambda x: np.full(len(x), float(first))

    def told(randomness):
        return theory.fcmi_of_learner(learner, unlabeled, positive, randomness=randomness).value

    assert told([False, True]) == pytest.approx(0, abs=1e-14)
    quarter = -(0.25 * math.log(0.25) + 0.75 * math.log(0.75))
    assert told([False, False, False, True]) == pytest.approx(LN2 - quarter, abs=1e-14)
    assert told([False]) == pytest.approx(LN2, abs=1e-14)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((constant, np.zeros((10, 2)), np.zeros((7, 2))), "at most 16 pairs"),
        (
            (constant, np.zeros((10, 3)), np.zeros((7, 2))),
            r"`supersample_unlabeled` must have shape \(n, 2\)",
        ),
        ((constant, np.zeros((2, 2)), np.zeros((0, 2))), "`supersample_positive` must have shape"),
        ((constant, np.zeros((2, 2, 3)), np.zeros((2, 2, 4))), "points of one kind"),
        ((lambda u, p: lambda x: 0.5, np.zeros((2, 2)), np.zeros((2, 2))), "one number for each of 8"),
        ((lambda u, p: lambda x: x * np.nan, np.zeros((2, 2)), np.zeros((2, 2))), "with NaN"),
    ],
)
def test_what_cannot_be_enumerated_is_refused(arguments, says):
    with pytest.raises(InputError, match=says):
        theory.fcmi_of_learner(*arguments)


def test_randomness_must_have_values():
    with pytest.raises(InputError, match="`randomness` is empty"):
        theory.fcmi_of_learner(hidden_by, *supersample(), randomness=[])


# Bounds by counting ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_levels", [1, 2, 3, 5])
@pytest.mark.parametrize("rows", [(1, 1), (1, 2), (2, 2)])
def test_monotone_patterns_are_counted(rows, n_levels):
    n = 2 * sum(rows)
    patterns = sum(
        list(pattern) == sorted(pattern) for pattern in itertools.product(range(n_levels), repeat=n)
    )
    bound = theory.fcmi_grid(*rows, n_levels)
    assert bound.value == pytest.approx(min(math.log(patterns), sum(rows) * LN2), abs=1e-12)


def test_patterns_of_many_rows():
    assert theory.fcmi_grid(300, 700, 11).value == pytest.approx(math.log(math.comb(2010, 10)), rel=1e-13)
    assert theory.fcmi_grid(300, 700, 11).unlabeled == pytest.approx(math.log(math.comb(1410, 10)), rel=1e-13)
    most = theory.fcmi_grid(10**5, 10**5, 3_001)
    assert most.value == pytest.approx(math.log(math.comb(403_000, 3_000)), rel=1e-9)


def test_a_rounded_isotonic_calibrator_keeps_to_the_bound():
    """Positives against unlabeled, made monotone and rounded to fifths."""
    from sklearn.isotonic import IsotonicRegression

    def learner(unlabeled, positive):
        s = np.concatenate([unlabeled, positive])
        y = np.repeat([0, 1], [len(unlabeled), len(positive)])
        fit = IsotonicRegression(out_of_bounds="clip").fit(s, y)
        return lambda x: np.round(fit.predict(x) * 5) / 5

    told = theory.fcmi_of_learner(learner, *supersample(5, 4))
    assert 0 < told.value <= theory.fcmi_grid(4, 5, 6).value
    assert told.value < told.limit


def test_any_pattern_on_a_grid_is_no_bound_at_all():
    for n_levels in (2, 100):
        bound = theory.fcmi_grid(30, 70, n_levels, monotone=False)
        assert bound.value == pytest.approx(100 * LN2)
        assert not bound.informative
        assert "says nothing" in bound.note
    assert theory.fcmi_grid(30, 70, 1, monotone=False).value == 0


@pytest.mark.parametrize(("n", "d"), [(3, 0), (3, 1), (7, 3), (7, 5), (7, 9), (40, 7), (40, 50), (500, 20)])
def test_sauer_by_whole_numbers(n, d):
    patterns = sum(math.comb(2 * n, i) for i in range(d + 1))
    bound = theory.fcmi_vc(n - 1, 1, d)
    assert bound.value == pytest.approx(min(math.log(patterns), n * LN2), rel=1e-13, abs=1e-13)
    assert bound.informative == (patterns < 2**n)


def test_half_lines_are_counted_by_their_dimension():
    """Half-lines x > t have 2n + 1 patterns on 2n points: Sauer's number for dimension 1."""
    points = np.sort(np.random.default_rng(0).normal(size=12))
    patterns = {tuple(points > t) for t in [-9, *points]}
    assert theory.fcmi_vc(3, 3, 1).value == pytest.approx(math.log(len(patterns)), rel=1e-13)


def test_a_learned_threshold_keeps_to_the_bound():
    told = theory.fcmi_of_learner(
        lambda u, p: lambda x: x > (u.mean() + p.mean()) / 2, *supersample(5, 4, seed=3)
    )
    assert 0 < told.value <= theory.fcmi_vc(4, 5, 1).value


def test_a_bound_is_never_above_the_entropy_of_the_choice():
    assert theory.fcmi_finite(2**100, 3, 4).value == pytest.approx(7 * LN2)
    assert theory.fcmi_finite(2**100).value == pytest.approx(100 * LN2)
    assert theory.fcmi_finite(2**100).informative
    assert not theory.fcmi_finite(2**100, 3, 4).informative
    with pytest.raises(InputError, match="given together"):
        theory.fcmi_finite(8, 3)


# Theorem 3 -------------------------------------------------------------------------------------------------


def test_the_generalization_bound_by_hand():
    v = 0.4**2 / 1_000 + 1 / 5_000
    width = theory.generalization_bound(1_000, 5_000, 0.4, 12, lipschitz=1.5, fcmi=9.0, binning="width")
    assert width.value == pytest.approx(2.5 / 12 + math.sqrt(8 * v * (9 + math.log(4096))), rel=1e-13)
    mass = theory.generalization_bound(1_000, 5_000, 0.4, 12, lipschitz=1.5, fcmi=9.0, fcmi_unlabeled=4.0)
    more = 2.5 * math.sqrt(8 * (4 + math.log(4096)) / 5_000)
    assert mass.value == pytest.approx(width.value + more, rel=1e-13)


def test_an_unlabeled_part_is_taken_from_where_it_is_known():
    told = theory.Information(value=9.0, unlabeled=4.0, limit=math.inf, note="")
    size = (1_000, 5_000, 0.4, 12)
    known, given, unknown = (
        theory.generalization_bound(*size, lipschitz=1, **fcmi).value
        for fcmi in ({"fcmi": told}, {"fcmi": 9.0, "fcmi_unlabeled": 4.0}, {"fcmi": 9.0})
    )
    assert known == given < unknown


@pytest.mark.parametrize("binning", ["mass", "width"])
def test_no_information_costs_less_than_twice_theorem_1(binning):
    for n in (10**3, 10**5):
        fresh = theory.bias_bound(n, n, 0.5, 10, lipschitz=1, binning=binning).value
        learned = theory.generalization_bound(n, n, 0.5, 10, lipschitz=1, fcmi=0.0, binning=binning).value
        assert fresh < learned < 2 * fresh


@pytest.mark.parametrize("n", [10, 10**3, 10**6, 10**9])
def test_all_information_says_nothing(n):
    for n_bins in (1, 30, 1_000):
        bound = theory.generalization_bound(n, 10 * n, 0.5, n_bins, lipschitz=1, fcmi=11 * n * LN2)
        assert not bound.informative
        assert "says nothing" in bound.note


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"fcmi": 7 * LN2 * 1.001}, r"`fcmi` must be at most \(n_positive \+ n_unlabeled\) ln 2"),
        ({"fcmi": -1}, "`fcmi` must lie in"),
        ({"fcmi": 1.0, "fcmi_unlabeled": 1.1}, "`fcmi_unlabeled` must be at most `fcmi`"),
        ({"fcmi": 1.0, "binning": "other"}, "`binning` must be"),
    ],
)
def test_impossible_information_is_refused(wrong, says):
    with pytest.raises(InputError, match=says):
        theory.generalization_bound(3, 4, 0.5, 2, lipschitz=1, **wrong)
