"""Two classes of known overlap: the facts against grids, closed forms and counts of drawn rows."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from tools.prior_study.families import OverlapDraw, TwoClasses, prior_families
from tools.prior_study.laws import Law, Normal, Part, Reading

from halftruth._errors import InputError

FAMILIES = prior_families()
MEMBERS = {member.name: member for members in FAMILIES.values() for member in members}
CONTINUOUS = [name for name, member in MEMBERS.items() if member.reading.levels is None]
ROUNDED = [name for name in MEMBERS if name not in CONTINUOUS]
N = 40_000
Z = 5.0  # standard errors: one of some hundred comparisons fails with a chance below 1e-4


def cells(member: TwoClasses) -> tuple[np.ndarray, np.ndarray]:
    """Masses of f1 and f0 in narrow cells of x, out to where a cell of f1 holds its last 1e-6."""
    if member.reading.levels is not None:
        edges = np.linspace(-15, 15, 1_500_001)
        level = np.round(member.reading.score(edges[1:]) * (member.reading.levels - 1)).astype(int)
        f1, f0 = (np.bincount(level, np.diff(law.below(edges))) for law in (member.positive, member.negative))
        return f1[f1 > 0], f0[f1 > 0]
    reach = 200 if member.name.startswith("t3") else 12
    edges = np.linspace(-reach, reach, 240_001)
    f1, f0 = (np.diff(law.below(edges)) for law in (member.positive, member.negative))
    above = 1 - member.positive.below(edges[1:])
    kept = (f1 > 0) & (above > 1e-6) & (member.positive.below(edges[:-1]) > 1e-6)
    return f1[kept], f0[kept]


# --- the members -------------------------------------------------------------------------------------


def test_families_and_names() -> None:
    assert list(FAMILIES) == [
        *("anchored", "gaussian", "unequal", "overlapping", "heavy", "tied", "saturated"),
    ]
    assert len(MEMBERS) == sum(len(members) for members in FAMILIES.values())  # names are distinct
    assert {member.anchor for member in FAMILIES["anchored"]} == {0.05, 0.2, 0.5, 0.9}
    assert all(member.floor == 0 for member in FAMILIES["anchored"] + FAMILIES["gaussian"])
    assert all(member.anchor == 0 for member in FAMILIES["gaussian"] + FAMILIES["unequal"])
    assert all(member.floor > 0 for member in FAMILIES["overlapping"] + FAMILIES["heavy"])
    for family in ("tied", "saturated"):
        assert {member.anchor > 0 for member in FAMILIES[family]} == {True, False}
        assert {member.floor > 0 for member in FAMILIES[family]} == {True, False}


@pytest.mark.parametrize("name", MEMBERS)
def test_floor_is_the_least_ratio_on_a_grid(name: str) -> None:
    member = MEMBERS[name]
    f1, f0 = cells(member)
    least = float((f0 / f1).min())
    if member.floor > 0:
        assert least == pytest.approx(member.floor, rel=1e-3)
    else:
        # No anchor: the ratio falls to 0 only in the tail, of which the grid leaves 1e-6 out.
        assert least <= (1e-12 if member.anchor else 0.01)


@pytest.mark.parametrize("name", MEMBERS)
def test_anchor_is_the_mass_without_negatives_on_a_grid(name: str) -> None:
    member = MEMBERS[name]
    f1, f0 = cells(member)
    # In cells above one end of the negatives; the cell at the end itself counts as theirs.
    assert f1[f0 == 0].sum() == pytest.approx(member.anchor, abs=1e-3)


def test_floors_by_hand() -> None:
    assert MEMBERS["laplace d=2"].floor == math.exp(-2)
    assert MEMBERS["t3 d=2"].floor == pytest.approx(1 / 9, rel=1e-14)
    x = np.linspace(-5, 10, 1_500_001)
    for d in (1, 2):
        ratio = stats.norm.pdf(x) / stats.norm.pdf(x, d, 0.7)
        assert MEMBERS[f"normal d={d} sd=0.7"].floor == pytest.approx(ratio.min(), rel=1e-9)
    for share in (0.05, 0.2, 0.4):
        assert MEMBERS[f"normal d=2 shared={share}"].floor == share
    top = stats.norm.sf(1.5 / 2 + math.log(17) / 1.5, [0, 1.5])  # a probability above 17/18 rounds to 9/9
    assert MEMBERS["normal d=1.5 slope=1.5 levels=10"].floor == pytest.approx(top[0] / top[1], rel=1e-12)


def test_upper() -> None:
    assert MEMBERS["normal d=2"].upper(0.3) == 0.3
    assert MEMBERS["normal d=2 shared=0.2"].upper(0.5) == pytest.approx(0.6)
    for member in MEMBERS.values():
        assert member.upper(1.0) == 1.0
        assert member.upper(0.0) == member.floor


@pytest.mark.parametrize("name", ["normal d=2 shared=0.2", "t3 d=1", "normal d=1 sd=0.7"])
def test_upper_is_the_most_that_can_be_subtracted(name: str) -> None:
    member, alpha = MEMBERS[name], 0.35
    f1, f0 = cells(member)
    mixed = alpha * f1 + (1 - alpha) * f0
    assert (mixed - (member.upper(alpha) - 1e-6) * f1).min() >= 0
    assert (mixed - (member.upper(alpha) + 1e-3) * f1).min() < 0


# --- the area under the ROC curve --------------------------------------------------------------------


def test_area_by_closed_form() -> None:
    for member in FAMILIES["gaussian"]:
        d = float(member.name.partition("=")[2])
        assert member.roc_auc == pytest.approx(stats.norm.cdf(d / math.sqrt(2)), abs=1e-9)
    for d, sd in ((1, 0.7), (2, 0.7), (1, 1.5), (2, 1.5)):
        expected = stats.norm.cdf(d / math.hypot(1, sd))
        assert MEMBERS[f"normal d={d} sd={sd}"].roc_auc == pytest.approx(expected, abs=1e-9)
    for d in (1, 2, 3):  # the difference of two Laplace variables has the tail (2 + d) exp(-d) / 4
        assert MEMBERS[f"laplace d={d}"].roc_auc == pytest.approx(1 - (2 + d) * math.exp(-d) / 4, abs=1e-9)
    for anchor in (0.05, 0.2, 0.5, 0.9):  # a positive loses only on the common part [0, 1 - anchor]
        expected = 1 - (1 - anchor) ** 2 / (2 * (2 - anchor))
        assert MEMBERS[f"uniform anchor={anchor}"].roc_auc == pytest.approx(expected, abs=1e-12)
    for share in (0.05, 0.2, 0.4):
        expected = share / 2 + (1 - share) * stats.norm.cdf(math.sqrt(2))
        assert MEMBERS[f"normal d=2 shared={share}"].roc_auc == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("d", [1, 2, 4])
def test_area_of_student_by_an_integral_over_x(d: int) -> None:
    pieces = [-np.inf, 0, d, np.inf]
    area = sum(
        quad(lambda x: stats.t.pdf(x - d, 3) * stats.t.cdf(x, 3), low, high, epsabs=1e-12)[0]
        for low, high in pairwise(pieces)
    )
    assert MEMBERS[f"t3 d={d}"].roc_auc == pytest.approx(area, abs=1e-9)


@pytest.mark.parametrize("name", MEMBERS)
def test_area_equals_that_of_drawn_rows(name: str) -> None:
    member, rng = MEMBERS[name], np.random.default_rng(1)
    p, q = member.draw_positive(N, rng), member.draw_negative(N, rng)
    area = stats.mannwhitneyu(p, q).statistic / N**2
    # The variance of the statistic is at most A (1 - A) / min(n1, n0) (Birnbaum and Klose).
    spread = math.sqrt(member.roc_auc * (1 - member.roc_auc) / N)
    assert abs(area - member.roc_auc) < Z * spread


# --- what is drawn -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CONTINUOUS)
def test_rows_follow_their_law(name: str) -> None:
    member, rng = MEMBERS[name], np.random.default_rng(2)
    plain = replace(member, reading=Reading())
    for drawn, law in (
        (plain.draw_positive(N, rng), member.positive),
        (plain.draw_negative(N, rng), member.negative),
    ):
        distance = stats.kstest(drawn, law.below).statistic
        assert distance < math.sqrt(math.log(2 / 1e-5) / (2 * N))  # Massart's bound at 1e-5


@pytest.mark.parametrize("name", CONTINUOUS)
def test_rows_past_the_last_negative_number_as_the_anchor_says(name: str) -> None:
    member, rng = MEMBERS[name], np.random.default_rng(3)
    p, q = member.draw_positive(N, rng), member.draw_negative(N, rng)
    assert np.unique(p).size == N  # sigmoids do not run into 1
    if member.anchor:
        end = member.reading.score(np.array([member.negative.parts[0][1].high]))[0]
        assert q.max() <= end
        spread = math.sqrt(member.anchor * (1 - member.anchor) / N)
        assert abs((p > end).mean() - member.anchor) < Z * spread


@pytest.mark.parametrize("name", ROUNDED)
def test_rounded_rows_number_as_their_masses_say(name: str) -> None:
    member, rng = MEMBERS[name], np.random.default_rng(4)
    levels = member.reading.levels
    assert levels is not None
    for drawn, law in (
        (member.draw_positive(N, rng), member.positive),
        (member.draw_negative(N, rng), member.negative),
    ):
        mass = member.reading.masses(law)
        assert mass.sum() == pytest.approx(1, abs=1e-12)
        level = np.round(drawn * (levels - 1)).astype(int)
        assert np.array_equal(drawn, level / (levels - 1))
        share = np.bincount(level, minlength=levels) / N
        # Bernstein's bound: rare levels are Poisson, not normal; 1e-9 over a thousand levels each.
        log = math.log(2e9)
        bound = np.sqrt(2 * mass * (1 - mass) * log / N) + log / (3 * N)
        assert (np.abs(share - mass) < bound).all()
    # The bottom of the ratio is the floor, the levels without negatives are the anchor.
    p, q = member.reading.masses(member.positive), member.reading.masses(member.negative)
    assert (q >= member.floor * p * (1 - 1e-12)).all()
    assert p[q == 0].sum() == pytest.approx(member.anchor, abs=1e-15)


def test_saturated_scores_pile_up_at_the_ends() -> None:
    for member in FAMILIES["saturated"]:
        score = member.draw_unlabeled(N, 0.5, 5)
        assert ((score < 0.05) | (score > 0.95)).mean() > 0.6
        assert ((score >= 0) & (score <= 1)).all()


def test_the_number_of_positives() -> None:
    member = MEMBERS["normal d=4"]
    counts = [int(member.draw(1, 400, 0.3, seed).y.sum()) for seed in range(200)]
    spread = math.sqrt(400 * 0.3 * 0.7)
    assert abs(np.mean(counts) - 120) < Z * spread / math.sqrt(200)
    assert 0.75 * spread < np.std(counts) < 1.25 * spread  # 5 standard errors of a spread from 200
    assert {int(member.draw(1, 401, 0.3, seed, fixed=True).y.sum()) for seed in range(20)} == {120}


def test_classes_belong_to_their_rows() -> None:
    drawn = MEMBERS["uniform anchor=0.9"].draw(10, N, 0.4, 6)
    assert drawn.y.shape == drawn.unlabeled.shape
    assert drawn.unlabeled[drawn.y == 0].max() <= 0.1
    assert abs((drawn.unlabeled[drawn.y == 1] > 0.1).mean() - 0.9) < Z * 0.3 / math.sqrt(0.4 * N - 500)
    assert 0.3 < drawn.y[: N // 2].mean() < 0.5  # the classes are in no order


def test_purity_and_known_negatives() -> None:
    member = MEMBERS["uniform anchor=0.9"]
    drawn = member.draw(N, 10, 0.5, 7, purity=0.8, n_negative=N)
    share = 0.9 * 0.8
    assert abs((drawn.positive > 0.1).mean() - share) < Z * math.sqrt(share * (1 - share) / N)
    assert drawn.negative is not None
    assert drawn.negative.shape == (N,)
    assert drawn.negative.max() <= 0.1
    assert member.draw(5, 5, 0.5, 0).negative is None
    below = (member.draw(1000, 10, 0.5, 7, purity=0.8, fixed=True).positive < 0).sum()
    # 200 negatives exactly, each below 0 with chance 1/1.1; positives never are.
    assert abs(below - 200 / 1.1) < Z * math.sqrt(200 / 1.1 * 0.1 / 1.1)


def test_a_seed_draws_the_same_rows() -> None:
    for member in MEMBERS.values():
        a, b, other = (member.draw(20, 30, 0.4, seed, n_negative=5) for seed in (8, 8, 9))
        for column in ("positive", "unlabeled", "negative", "y"):
            assert np.array_equal(getattr(a, column), getattr(b, column))
        assert not np.array_equal(a.unlabeled, other.unlabeled)
        assert np.array_equal(member.draw_unlabeled(30, 0.4, 8), member.draw_unlabeled(30, 0.4, 8))
    rng = np.random.default_rng(8)
    member = MEMBERS["normal d=2"]
    assert not np.array_equal(member.draw_positive(5, rng), member.draw_positive(5, rng))


def test_members_survive_a_pickle() -> None:
    for member in MEMBERS.values():
        copy = pickle.loads(pickle.dumps(member))
        assert copy == member
        assert np.array_equal(copy.draw_negative(5, 0), member.draw_negative(5, 0))


def test_drawn_rows_are_read_only() -> None:
    drawn = MEMBERS["t3 d=2"].draw(5, 5, 0.5, 0, n_negative=5)
    assert isinstance(drawn, OverlapDraw)
    for column in (drawn.positive, drawn.unlabeled, drawn.negative, drawn.y):
        assert column is not None
        assert not column.flags.writeable


# --- what is refused ---------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [-0.1, 1.1, math.nan, "half"])
def test_alpha_must_be_a_share(alpha: float) -> None:
    member = MEMBERS["normal d=2"]
    for call in (
        lambda: member.upper(alpha),
        lambda: member.draw_unlabeled(5, alpha, 0),
        lambda: member.draw(5, 5, alpha, 0),
    ):
        with pytest.raises(InputError, match="`alpha` must"):
            call()


def test_sizes_and_purity() -> None:
    member = MEMBERS["normal d=2"]
    for n in (0, -1, 2.5, True):
        with pytest.raises(InputError, match="`n` must be a whole number"):
            member.draw_positive(n, 0)
    with pytest.raises(InputError, match="`n_positive` must"):
        member.draw(0, 5, 0.5, 0)
    with pytest.raises(InputError, match="`n_unlabeled` must"):
        member.draw(5, 0, 0.5, 0)
    with pytest.raises(InputError, match="`n_negative` must"):
        member.draw(5, 5, 0.5, 0, n_negative=-1)
    for purity in (0, 1.2):
        with pytest.raises(InputError, match="`purity` must"):
            member.draw(5, 5, 0.5, 0, purity=purity)


def test_facts_that_cannot_be() -> None:
    member = MEMBERS["normal d=2"]
    with pytest.raises(InputError, match="`anchor` must"):
        replace(member, anchor=1.5)
    with pytest.raises(InputError, match="`floor` must"):
        replace(member, floor=-0.1)
    with pytest.raises(InputError, match="`floor` must lie in \\[0, 0\\]"):
        replace(member, anchor=0.2, floor=0.1)


def test_laws_and_readings_that_cannot_be() -> None:
    with pytest.raises(InputError, match="`parts` must have weights that sum to one"):
        Law(((0.5, Part(Normal())),))
    with pytest.raises(InputError, match="`slope` must"):
        Reading(-1.0)
    with pytest.raises(InputError, match="`levels` must be a whole number of at least 2"):
        Reading(1.0, levels=1)
    with pytest.raises(InputError, match="`levels` must come with a slope"):
        Reading(levels=10)
