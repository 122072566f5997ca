"""Tests of calibration: hand cases, exact p-values by enumeration, errors, degenerate data."""

from __future__ import annotations

import dataclasses
import itertools
import json

import numpy as np
import pytest
from scipy import stats

import halftruth as ht
from halftruth._errors import InputError, NotIdentifiable
from halftruth.calibration._calibration_test import STATISTICS, CalibrationTest, calibration_test
from halftruth.calibration._null_models import MAX_ATOMS, Groups, _Law

RIGHT = ht.simulate.logistic_model(0, 2)
WRONG = ht.simulate.logistic_model(-0.5, 1.5)
FAR = ht.simulate.logistic_model(-1.0, 3.0)
EXTREME = ht.simulate.logistic_model(0, 6)
R = 1999


def agrees(p_value, truth, n=R):
    """Whether a p-value from n draws fits the true one, but for one chance in 10⁵."""
    low, high = stats.binom.ppf([5e-6, 1 - 5e-6], n, truth)
    return low <= p_value * (n + 1) - 1 <= high


def by_hand(name, y, s, n_bins):
    """The four statistics of rows in ascending order of distinct scores."""
    y, s = np.asarray(y, float), np.asarray(s, float)
    gap, n = y - s, len(s)
    running = np.append(0, np.cumsum(gap)) / n
    if name == "ks":
        return np.abs(running).max()
    if name == "kuiper":
        return running.max() - running.min()
    if name == "spiegelhalter":
        return abs((1 - 2 * s) @ gap) / np.sqrt((1 - 2 * s) ** 2 @ (s * (1 - s)))
    bins = np.array_split(np.arange(n), n_bins)
    return sum(gap[b].sum() ** 2 / (s[b] * (1 - s[b])).sum() for b in bins)


@pytest.mark.parametrize("statistic", STATISTICS[1:])
def test_labels_have_the_exact_p_value(statistic):
    s = np.asarray([0.1, 0.25, 0.3, 0.45, 0.6, 0.7, 0.8, 0.95])
    y = np.asarray([1, 0, 0, 1, 1, 0, 1, 1])
    seen = by_hand(statistic, y, s, 4)
    truth = 0.0
    for other in itertools.product((0, 1), repeat=len(s)):
        chance = np.prod(np.where(other, s, 1 - s))
        truth += chance * (by_hand(statistic, other, s, 4) >= seen - 1e-9)
    found = calibration_test(ht.Labeled(y, s), statistic, n_bins=4, n_resamples=R)
    assert abs(found.value) == pytest.approx(seen, rel=1e-12)
    assert 0.02 < truth < 0.98
    assert agrees(found.p_value, truth)


@pytest.mark.parametrize("y", [(1, 0, 0, 1, 1, 0, 1, 1), (1, 1, 1, 1, 1, 1, 0, 1), (0, 1, 0, 1, 0, 1, 1, 1)])
def test_the_largest_part_has_the_exact_p_value(y):
    s = np.asarray([0.1, 0.25, 0.3, 0.45, 0.6, 0.7, 0.8, 0.95])
    spread = np.stack([np.ones_like(s), 1 - 2 * s])
    covariance = (spread * s * (1 - s)) @ spread.T

    def parts(labels):
        both = spread @ (labels - s)
        names = ("ks", "spiegelhalter", "hosmer-lemeshow")
        return [*(by_hand(name, labels, s, 4) for name in names), both @ np.linalg.solve(covariance, both)]

    every = np.asarray(list(itertools.product((0, 1), repeat=len(s))))
    chance = np.prod(np.where(every, s, 1 - s), axis=1)
    sizes = np.asarray([parts(labels) for labels in every])
    sizes[:, 2:] = np.sqrt(sizes[:, 2:])
    orders = np.argsort(sizes, axis=0)
    units = [sizes[o[np.searchsorted(np.cumsum(chance[o]), 0.95)], k] for k, o in enumerate(orders.T)]
    largest = (sizes / units).max(axis=1)
    seen = largest[(every == y).all(axis=1)][0]
    found = calibration_test(ht.Labeled(y, s), n_bins=4, n_resamples=R)
    assert found.statistic == "combined"
    assert found.value == pytest.approx(seen, rel=0.03)  # the units are those of the draws
    assert agrees(found.p_value, chance[largest >= seen - 1e-9].sum())


def test_hand_case_with_ties():
    evidence = ht.Labeled([1, 0, 1, 1, 0], [0.2, 0.2, 0.9, 0.9, 1 / 2])
    # Gaps .6, −.5 and .2 of five rows: the running sum is .6, .1, .3.
    assert calibration_test(evidence, "ks").value == pytest.approx(0.12)
    assert calibration_test(evidence, "kuiper").value == pytest.approx(0.12)
    assert calibration_test(evidence, "spiegelhalter").value == pytest.approx(
        (0.6 * 0.6 - 0.8 * 0.2) / np.sqrt(0.36 * 0.32 + 0.64 * 0.18)
    )
    assert calibration_test(evidence, "hosmer-lemeshow", n_bins=1).value == pytest.approx(
        0.3**2 / (0.32 + 0.18 + 0.25)
    )


def test_positives_and_unlabeled_by_hand():
    evidence = ht.PositiveUnlabeled([0.5, 0.9], [0.1, 0.5, 0.5, 0.9], prior=0.6)
    # μ₁ = (0, .3, .3), s μ = (.025, .25, .225): the running sum is −.025, .025, .1.
    assert calibration_test(evidence, "ks").value == pytest.approx(0.1)
    assert calibration_test(evidence, "kuiper").value == pytest.approx(0.125)


def test_many_labels_agree_with_the_classical_laws():
    evidence = RIGHT.labeled(800, rng=3)
    z = calibration_test(evidence, "spiegelhalter", n_resamples=R)
    assert z.p_value == pytest.approx(2 * stats.norm.sf(abs(z.value)), abs=0.05)
    chi2 = calibration_test(evidence, "hosmer-lemeshow", n_resamples=R)
    assert chi2.p_value == pytest.approx(stats.chi2.sf(chi2.value, 10), abs=0.05)


def test_sign_of_spiegelhalter():
    s = np.repeat([0.1, 0.9], 50)
    timid = np.repeat([0, 1], 50)
    extreme = np.tile([0, 1], 50)
    assert calibration_test(ht.Labeled(extreme, s), "spiegelhalter").value > 5
    assert calibration_test(ht.Labeled(timid, s), "spiegelhalter").value < -2


EVIDENCE = {
    "labeled": lambda m: m.labeled(300, rng=1),
    "soft": lambda m: ht.SoftLabeled.from_votes(
        np.random.default_rng(0).binomial(3, m.draw(900, rng=1).posterior), 3, m.draw(900, rng=1).score
    ),
    "PU": lambda m: m.positive_unlabeled(300, 2000, rng=1),
    "purity": lambda m: m.positive_unlabeled(900, 4000, rng=1, purity=0.85),
    "negatives": lambda m: m.positive_unlabeled(300, 2000, rng=1, n_negative=100),
    "no prior": lambda m: m.positive_unlabeled(300, 2000, rng=1, n_negative=100, prior=None),
    "all": lambda m: m.positive_unlabeled(300, 2000, rng=1, population="all"),
    "all, negatives": lambda m: m.positive_unlabeled(300, 2000, rng=1, population="all", n_negative=100),
    "propensity": lambda m: m.positive_unlabeled(300, 2000, rng=1, propensity=lambda x: 0.3 + 0.5 * (x > 1)),
    "confidence": lambda m: ht.PositiveConfidence(
        m.draw_class(1, 500, rng=1).posterior, m.draw_class(1, 500, rng=1).score
    ),
}


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("name", EVIDENCE)
def test_every_evidence_is_told_right_from_wrong(name, statistic):
    right = calibration_test(EVIDENCE[name](RIGHT), statistic, n_resamples=199)
    assert right.p_value > 0.02
    model = EXTREME if statistic == "spiegelhalter" else FAR
    wrong = calibration_test(EVIDENCE[name](model), statistic, n_resamples=199)
    assert wrong.p_value <= 0.01


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("labeled", "labels drawn at the scores"),
        ("soft", "random signs"),
        ("PU", "strata drawn from calibrated scores"),
        ("all, negatives", "strata drawn from calibrated scores"),
        ("propensity", "centred bootstrap"),
        ("confidence", "centred bootstrap"),
    ],
)
def test_the_method_is_said(name, method):
    assert calibration_test(EVIDENCE[name](RIGHT), n_resamples=19).method == method


def test_same_seed_same_result():
    evidence = RIGHT.positive_unlabeled(50, 300, rng=0)
    first = calibration_test(evidence, "hosmer-lemeshow", n_resamples=199, rng=5)
    assert calibration_test(evidence, "hosmer-lemeshow", n_resamples=199, rng=5) == first
    generator = np.random.default_rng(5)
    assert calibration_test(evidence, "hosmer-lemeshow", n_resamples=199, rng=generator) == first
    other = calibration_test(evidence, "hosmer-lemeshow", n_resamples=199, rng=generator)
    assert other.p_value != first.p_value


@pytest.mark.parametrize("statistic", ["ks", "kuiper"])
def test_a_weight_is_a_number_of_rows(statistic):
    rng = np.random.default_rng(0)
    y, s, w = rng.integers(0, 2, 60), rng.random(60), rng.integers(1, 4, 60)
    weighted = ht.Labeled(y, s, sample_weight=w)
    repeated = ht.Labeled(np.repeat(y, w), np.repeat(s, w))
    values = [calibration_test(e, statistic, n_resamples=19).value for e in (weighted, repeated)]
    assert values[0] == pytest.approx(values[1], rel=1e-12)


@pytest.mark.parametrize("statistic", STATISTICS)
def test_the_scale_of_weights_does_not_matter(statistic):
    draw = RIGHT.draw(3000, rng=0)
    plain = calibration_test(ht.Labeled(draw.y, draw.score), statistic, n_resamples=99)
    tripled = ht.Labeled(draw.y, draw.score, sample_weight=np.full(3000, 3.3))
    found = calibration_test(tripled, statistic, n_resamples=99)
    assert found.value == pytest.approx(plain.value, rel=1e-9)
    assert found.p_value == plain.p_value
    assert found.method == plain.method


@pytest.mark.parametrize("statistic", STATISTICS[1:])
def test_a_weight_for_each_class_shifts_the_odds(statistic):
    """Half of the negatives, each of weight two: the law of labels is still exact."""
    s = np.asarray([0.2, 0.4, 0.5, 0.7, 0.8, 0.9])
    y = np.asarray([1, 1, 0, 0, 1, 1])
    w = {1: 1.0, 0: 2.0}

    def value(labels):
        weight = np.asarray([w[k] for k in labels])
        gap = np.cumsum(weight * (np.asarray(labels) - s))
        if statistic == "ks":
            return max(np.abs(gap).max(), 0)
        if statistic == "kuiper":
            return max(gap.max(), 0) - min(gap.min(), 0)
        each = np.diff(np.append(0, gap))
        if statistic == "spiegelhalter":
            return abs((1 - 2 * s) @ each)
        p = s / (s + (1 - s) / 2)
        variance = p * (1 - p) * ((1 - s) + 2 * s) ** 2
        return each.sum() ** 2 / variance.sum()

    p = s / (s + (1 - s) / 2)
    truth = sum(
        np.prod(np.where(other, p, 1 - p)) * (value(other) >= value(y) - 1e-9)
        for other in itertools.product((0, 1), repeat=len(s))
    )
    evidence = ht.Labeled(y, s, sample_weight=[w[k] for k in y])
    found = calibration_test(evidence, statistic, n_bins=1, n_resamples=R)
    assert 0.02 < truth < 0.98
    assert agrees(found.p_value, truth)


@pytest.mark.parametrize("statistic", STATISTICS)
class TestDegenerate:
    def test_one_row(self, statistic):
        found = calibration_test(ht.Labeled([1], [0.3]), statistic, n_resamples=R)
        # Label 1 has the chance .3, and lies farther from .3 than 0 does.
        assert agrees(found.p_value, 0.3)

    def test_constant_scores(self, statistic):
        fair = calibration_test(ht.Labeled([0, 1] * 50, [0.5] * 100), statistic, n_resamples=199)
        assert fair.p_value == 1
        found = calibration_test(ht.Labeled([0, 1] * 50, [0.8] * 100), statistic, n_resamples=199)
        assert found.p_value == 1 / 200

    def test_constant_scores_of_positives_and_unlabeled(self, statistic):
        for prior, p_value in ((0.3, 1.0), (0.4, 1 / 200)):
            evidence = ht.PositiveUnlabeled([0.3] * 5, [0.3] * 50, prior=prior)
            assert calibration_test(evidence, statistic, n_resamples=199).p_value == p_value

    def test_certain_and_right(self, statistic):
        found = calibration_test(ht.Labeled([0, 0, 1], [0.0, 0.0, 1.0]), statistic, n_resamples=99)
        assert (found.value, found.p_value) == (0.0, 1.0)

    @pytest.mark.parametrize(("y", "s"), [(1, 0.0), (0, 1.0)])
    def test_certain_and_wrong(self, statistic, y, s):
        draw = RIGHT.draw(500, rng=0)
        found = calibration_test(
            ht.Labeled(np.append(draw.y, y), np.append(draw.score, s)), statistic, n_resamples=99
        )
        assert found.p_value == 0
        assert any("1 row(s) contradict" in note for note in found.notes)

    def test_all_scores_0(self, statistic):
        evidence = ht.PositiveUnlabeled([0.0, 0.0], [0.0] * 20, prior=0.3)
        assert calibration_test(evidence, statistic, n_resamples=99).p_value == 0

    def test_all_scores_1(self, statistic):
        evidence = ht.PositiveUnlabeled([1.0, 1.0], [1.0] * 20, prior=0.3)
        assert calibration_test(evidence, statistic, n_resamples=99).p_value == 1 / 100


def test_what_contradicts_certain_scores():
    u = [0.0, 0.2, 0.5, 0.8, 1.0]

    def p_value(**given):
        return calibration_test(ht.PositiveUnlabeled(unlabeled=u, prior=0.5, **given), n_resamples=19).p_value

    assert p_value(positive=[0.0, 0.8]) == 0
    assert p_value(positive=[0.8, 1.0]) > 0
    assert p_value(positive=[0.0, 0.8], purity=0.9) > 0
    assert p_value(positive=[0.8], negative=[1.0, 0.2]) == 0
    assert p_value(positive=[0.8], negative=[0.0, 0.2]) > 0
    soft = [ht.SoftLabeled(q, [0.0, 0.4, 1.0]) for q in ([0.1, 0.4, 1.0], [0.0, 0.4, 0.9], [0.0, 0.4, 1.0])]
    assert [calibration_test(e, n_resamples=19).p_value == 0 for e in soft] == [True, True, False]


@pytest.mark.parametrize("statistic", STATISTICS)
def test_a_range_takes_the_largest_p_value(statistic):
    strata = WRONG.positive_unlabeled(100, 1000, rng=0).table

    def found(prior):
        evidence = ht.PositiveUnlabeled.from_table(strata, prior=prior, population="unlabeled")
        return calibration_test(evidence, statistic, n_resamples=199)

    grid = [found(x).p_value for x in np.linspace(0.35, 0.55, 21)]
    whole = found((0.35, 0.55))
    assert whole.p_value >= max(grid)
    assert whole.p_value <= max(grid) + 0.1  # the grid's steps are .01
    assert any("largest over the range" in note for note in whole.notes)


def test_a_range_of_purities_finds_the_one_between_grid_points():
    evidence = RIGHT.positive_unlabeled(20_000, 50_000, rng=1, purity=0.78)
    assert calibration_test(evidence, n_resamples=99).p_value > 0.05

    def found(purity):
        other = ht.PositiveUnlabeled.from_table(
            evidence.table, prior=0.5, purity=purity, population="unlabeled"
        )
        return calibration_test(other, n_resamples=99).p_value

    assert found(0.75) == found(0.8125) == 0.01
    assert found((0.5625, 1.0)) > 0.05


def test_an_estimate_without_error_is_a_number():
    table = RIGHT.positive_unlabeled(60, 400, rng=0).table
    estimate = ht.PriorEstimate(value=0.5, replicates=[0.5] * 20)
    number, estimated = (
        calibration_test(
            ht.PositiveUnlabeled.from_table(table, prior=x, population="unlabeled"), n_resamples=199
        )
        for x in (0.5, estimate)
    )
    assert estimated.p_value == number.p_value


def test_an_estimate_carries_its_error():
    table = RIGHT.positive_unlabeled(500, 5000, rng=0).table
    error = np.random.default_rng(0).normal(0, 0.05, 400)
    sure, unsure = (
        calibration_test(
            ht.PositiveUnlabeled.from_table(table, prior=x, population="unlabeled"), n_resamples=199
        )
        for x in (0.6, ht.PriorEstimate(value=0.6, replicates=0.6 + error))
    )
    assert sure.p_value == 1 / 200
    assert 0.01 < unsure.p_value < 0.2  # two standard errors off


@pytest.mark.parametrize("population", ["unlabeled", "all"])
def test_joined_groups_keep_the_gaps(population):
    evidence = RIGHT.positive_unlabeled(3000, 20_000, rng=0, population=population)
    groups = Groups(evidence)
    measure = evidence.measure()
    assert len(groups.score) <= MAX_ATOMS < len(measure.score)
    gaps = (measure.pos_mass - measure.score * measure.mass) / measure.total
    group = np.searchsorted(groups.support.edge, measure.score, side="right") - 1
    by_group = np.bincount(group, gaps, minlength=len(groups.score))
    np.testing.assert_allclose(groups.gaps(evidence.scenario)[0], by_group, atol=1e-14)


def test_many_rows_and_few_go_the_same_way(monkeypatch):
    """Past half a million plain rows the sorted rows are read, and never unfolded."""
    evidence = RIGHT.positive_unlabeled(60_000, 540_000, rng=0)
    groups = Groups(evidence)
    monkeypatch.setattr("halftruth.table._strata.COMPILED", 10**9)
    table = ht.ScoreTable(evidence.table.strata)
    plain = Groups(ht.PositiveUnlabeled.from_table(table, prior=0.5, population="unlabeled"))
    assert type(plain.support) is type(groups.support)
    assert groups.claimed == pytest.approx(plain.claimed, rel=1e-12)
    assert groups.claimed == pytest.approx(evidence.table.strata["unlabeled"].score.mean(), rel=1e-12)


def test_the_likeliest_population():
    """Where the likelihood of both samples is largest, no mass moved between two scores raises it."""
    p, u = np.asarray([0.3, 0.5, 0.9, 0.9]), np.asarray([0.1, 0.1, 0.3, 0.5, 0.9])
    groups = Groups(ht.PositiveUnlabeled(p, u, prior=0.4))
    law = _Law.of(groups, 1.0)

    def likelihood(share):
        positive = groups.score * share / (groups.score @ share)
        logs = np.log(np.maximum([positive, share], 1e-300))
        return logs[0] @ groups.rows("positive") + logs[1] @ groups.rows("unlabeled")

    best = likelihood(law.share)
    for i, j in itertools.permutations(range(len(law.share)), 2):
        moved = law.share.copy()
        moved[i] += 1e-3
        moved[j] -= 1e-3
        assert likelihood(moved) < best


def test_the_result_is_written_and_frozen():
    found = calibration_test(RIGHT.positive_unlabeled(50, 300, rng=0), n_resamples=19)
    assert isinstance(found, CalibrationTest)
    out = json.loads(json.dumps(found.to_dict()))
    assert (out["statistic"], out["p_value"], out["n_resamples"]) == ("combined", found.p_value, 19)
    assert out["evidence"] == "PositiveUnlabeled(50 positive, 300 unlabeled)"
    assert out["notes"] == list(found.notes)
    assert repr(found).startswith("CalibrationTest(combined = 1.35")
    assert "Note: The prior is part of what is tested" in str(found)
    assert any("below 0.05" in note for note in found.notes)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.value = 0.0


def test_errors_help():
    evidence = ht.Labeled([0, 1], [0.2, 0.8])
    with pytest.raises(InputError, match=r"Wrap your arrays"):
        calibration_test(evidence.measure())
    with pytest.raises(InputError, match=r"`statistic` must be 'combined' or 'ks'.*got 'chi2'"):
        calibration_test(evidence, "chi2")
    with pytest.raises(InputError, match=r"`n_bins` must be a whole number of at least 1, got 0"):
        calibration_test(evidence, "hosmer-lemeshow", n_bins=0)
    with pytest.raises(InputError, match=r"`n_resamples` must be a whole number of at least 1, got 0"):
        calibration_test(evidence, n_resamples=0)
    with pytest.raises(InputError, match=r"needs scores in \[0, 1\]"):
        calibration_test(ht.Labeled([0, 1], [-1.0, 3.0]))
    with pytest.raises(NotIdentifiable, match=r"Pass `prior`"):
        calibration_test(ht.PositiveUnlabeled([0.9, 0.8], [0.1, 0.9]))
