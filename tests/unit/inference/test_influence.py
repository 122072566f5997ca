"""Standard errors in closed form against formulas worked out by hand."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from scipy import stats

import halftruth as ht
from halftruth._registry import REGISTRY
from halftruth.inference import _influence
from halftruth.table._support import Sums

MODEL = ht.simulate.GaussianClasses(prior=0.3)
RNG = np.random.default_rng(0)
Y = RNG.random(800) < 0.3
S = np.clip(RNG.normal(0.4 + 0.2 * Y, 0.15), 0.01, 0.99)
TIED = np.round(S, 2)
W = RNG.integers(1, 4, len(Y)).astype(float)
CALIBRATION = [name for name in REGISTRY if name.endswith("calibration_error")]
SMOOTH_PU = ["roc_auc", "brier", "log_loss", "precision", "recall", "f1", "prevalence"]

closed = partial(ht.evaluate, threshold=0.5, n_resamples=0)


def error(evidence: ht.Labeled, name: str, stratified: bool | None = None) -> float:
    out = closed(evidence, [name], stratified=stratified)[name].standard_error
    assert out is not None
    return out


def delong(y: np.ndarray, s: np.ndarray) -> float:
    """DeLong's standard error of the AUC, from its definition."""
    p, n = s[y], s[~y]
    wins = (p[:, None] > n).astype(float) + (p[:, None] == n) / 2
    return float(np.sqrt(wins.mean(1).var(ddof=1) / len(p) + wins.mean(0).var(ddof=1) / len(n)))


def losses(y: np.ndarray, s: np.ndarray) -> dict[str, np.ndarray]:
    return {"brier": (y - s) ** 2, "log_loss": -np.log(np.where(y, s, 1 - s))}


# --- gradients ------------------------------------------------------------------------------------------


def test_gradients_equal_those_by_hand() -> None:
    evidence = ht.Labeled(Y, TIED)
    support = evidence.table.support

    def functionals(sums: Sums) -> dict[str, np.ndarray]:
        measure = evidence.rule(sums, evidence.scenario).apply(support.score, sums)
        return {"auc": ht.roc_auc(measure), "brier": ht.brier(measure)}

    found = _influence.gradients(functionals, support)
    p, n = TIED[Y], TIED[~Y]
    auc, brier = ht.roc_auc(evidence), ht.brier(evidence)

    def below(rows: np.ndarray, s: np.ndarray) -> np.ndarray:
        return np.asarray((rows < s[:, None]).mean(1) + (rows == s[:, None]).mean(1) / 2)

    by_hand = {
        ("auc", "positive"): (below(n, support.score) - auc) / len(p),
        ("auc", "negative"): (1 - below(p, support.score) - auc) / len(n),
        ("brier", "positive"): ((1 - support.score) ** 2 - brier) / len(Y),
        ("brier", "negative"): (support.score**2 - brier) / len(Y),
    }
    for (name, stratum), expected in by_hand.items():
        # Also where the stratum has no row: what one would change.
        got = found[name][stratum, "weight"]
        np.testing.assert_allclose(got, expected, atol=1e-6 * np.abs(expected).max())


def test_what_does_not_move_has_no_error() -> None:
    result = closed(MODEL.positive_unlabeled(300, 3000, rng=0))
    assert result.prior.standard_error == 0
    assert result.prior.low == result.prior.high == result.prior.value


# --- errors by hand -------------------------------------------------------------------------------------


def test_the_error_of_the_auc_is_delongs() -> None:
    got = error(ht.Labeled(Y, TIED), "roc_auc", stratified=True)
    assert got == pytest.approx(delong(Y, TIED), rel=1e-6)
    data = MODEL.draw(2000, rng=0)
    got = error(ht.Labeled(data.y, data.score), "roc_auc", stratified=True)
    assert got == pytest.approx(delong(data.y == 1, data.score), rel=0.02)


@pytest.mark.parametrize("name", ["brier", "log_loss"])
def test_the_error_of_a_mean_loss_is_that_of_a_mean(name: str) -> None:
    each = losses(Y, TIED)[name]
    assert error(ht.Labeled(Y, TIED), name) == pytest.approx(each.std(ddof=1) / len(Y) ** 0.5, rel=1e-6)
    each = losses(Y, S)[name]
    assert error(ht.Labeled(Y, S), name) == pytest.approx(each.std(ddof=1) / len(Y) ** 0.5, rel=0.02)
    # Weighted: a ratio of two sums.
    each = losses(Y, TIED)[name]
    phi = W * (each - np.average(each, weights=W)) / W.sum()
    expected = np.sqrt((phi**2).sum() * len(Y) / (len(Y) - 1))
    assert error(ht.Labeled(Y, TIED, sample_weight=W), name) == pytest.approx(expected, rel=1e-6)
    phi = W * (losses(Y, S)[name] - np.average(losses(Y, S)[name], weights=W)) / W.sum()
    expected = np.sqrt((phi**2).sum() * len(Y) / (len(Y) - 1))
    assert error(ht.Labeled(Y, S, sample_weight=W), name) == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("score", [S, TIED], ids=["continuous", "tied"])
def test_rates_have_binomial_errors(score: np.ndarray) -> None:
    evidence, called = ht.Labeled(Y, score), score >= 0.5
    n = len(Y)
    recall, precision = called[Y].mean(), Y[called].mean()
    expected = np.sqrt(recall * (1 - recall) / (Y.sum() - 1))
    assert error(evidence, "recall", stratified=True) == pytest.approx(expected, rel=1e-6)
    expected = np.sqrt(recall * (1 - recall) / Y.sum() * n / (n - 1))
    assert error(evidence, "recall") == pytest.approx(expected, rel=1e-6)
    expected = np.sqrt(precision * (1 - precision) / called.sum() * n / (n - 1))
    assert error(evidence, "precision") == pytest.approx(expected, rel=1e-6)
    expected = np.sqrt(Y.mean() * (1 - Y.mean()) / (n - 1))
    assert error(evidence, "prevalence") == pytest.approx(expected, rel=1e-6)


def test_hard_labels_as_soft_labels_have_the_same_errors() -> None:
    rows = ["roc_auc", "average_precision", "brier", "f1"]
    hard, soft = closed(ht.Labeled(Y, TIED), rows), closed(ht.SoftLabeled(Y.astype(float), TIED), rows)
    for name in rows:
        assert soft[name].standard_error == pytest.approx(hard[name].standard_error, rel=1e-4)


def test_an_identified_prior_carries_its_error() -> None:
    r = np.clip(S, 0.2, 1)
    row = closed(ht.PositiveConfidence(r), ["prevalence"])["prevalence"]
    phi = (1 - row.value / r) * row.value / len(r)
    assert row.standard_error == pytest.approx(np.sqrt((phi**2).sum() * len(r) / (len(r) - 1)), rel=0.01)


# --- results --------------------------------------------------------------------------------------------


def test_intervals_come_from_the_error() -> None:
    row = closed(MODEL.positive_unlabeled(300, 3000, rng=0))["roc_auc"]
    assert (row.method, row.replicates) == ("influence", None)
    assert row.standard_error is not None
    assert row.unseen is not None
    assert row.degrees == 2 * 299  # of the smaller sample, twice
    spread = np.sqrt(row.standard_error**2 + row.unseen[0])
    assert row.high - row.low == pytest.approx(2 * stats.t(598).ppf(0.975) * spread, rel=1e-6)
    assert row.unseen[0] < 0.01 * row.standard_error**2
    assert row.interval(0.95) == (row.low, row.high) == row.interval(0.95, "normal")
    low, high = row.interval(0.5)
    assert row.low < low < row.value < high < row.high
    with pytest.raises(ht.InputError, match="no replicates"):
        row.interval(0.9, "percentile")


def test_shares_that_cannot_leave_the_unit_interval_have_score_intervals() -> None:
    y, s = [0] * 20 + [1] * 20, [*np.linspace(0, 0.55, 20), *np.linspace(0.45, 1, 20)]
    row = ht.evaluate(ht.Labeled(y, s), ["roc_auc", "log_loss"], n_resamples=0)
    auc = row["roc_auc"]
    assert (auc.method, row["log_loss"].method) == ("influence, score", "influence")
    assert 0 < auc.low < auc.value < auc.high < 1
    assert auc.value - auc.low > auc.high - auc.value
    assert auc.interval(0.95) == (auc.low, auc.high)
    low, high = auc.interval(0.95, "normal")
    assert high == 1
    plain = ht.evaluate(ht.Labeled(y, s), "roc_auc", n_resamples=0, method="normal")["roc_auc"]
    assert (plain.low, plain.high, plain.method) == (low, high, "influence")


@pytest.mark.parametrize(("flagged", "positive"), [(5, 5), (5, 0), (50, 50)])
def test_a_rate_of_all_or_none_has_an_interval_with_a_width(flagged: int, positive: int) -> None:
    y = [1] * positive + [0] * (flagged - positive) + [0, 1] * 50
    score = [0.9] * flagged + [0.1] * 100
    row = closed(ht.Labeled(y, score), ["precision"], threshold=0.5)["precision"]
    share, n = positive / flagged, row.share_rows[0]
    # Half a row of either class more among the flagged: about as many rows as there are.
    assert flagged - 1 < n < flagged + 1
    # Wilson's interval, inverted: both ends are where the test of the share is on the edge.
    for end in row.interval(0.95):
        distance = abs(share - end) / np.sqrt(max(end * (1 - end), 1e-30) / n)
        assert distance == pytest.approx(1.959964, rel=1e-6) or end == pytest.approx(share, abs=1e-12)
    assert row.high - row.low > 0.5 / np.sqrt(flagged)
    drawn = ht.evaluate(ht.Labeled(y, score), ["precision"], threshold=0.5)["precision"]
    jeffreys = stats.beta(positive + 0.5, flagged - positive + 0.5).ppf([0.025, 0.975])
    # 2,000 draws: 3 standard errors of a quantile of a Beta.
    assert np.quantile(drawn.replicates, [0.025, 0.975]) == pytest.approx(jeffreys, abs=0.03)
    assert drawn.low <= share <= drawn.high


def test_what_has_no_derivative_is_resampled() -> None:
    rows = {
        **{name: name for name in CALIBRATION},
        "at k": partial(ht.precision_at_k, k=0.2),
        "own": lambda measure: measure.prior,
        "average_precision": "average_precision",
    }
    noisy = closed(MODEL.positive_unlabeled(300, 3000, rng=0), rows)
    methods = {name: row.method for name, row in noisy.items()}
    assert methods == dict.fromkeys(rows, "percentile") | dict.fromkeys(CALIBRATION, "envelope")
    assert all(row.replicates is not None and row.standard_error is None for row in noisy.values())
    labeled = closed(MODEL.labeled(500, rng=0), rows)
    assert labeled["average_precision"].method == "influence, score"


def test_only_the_normal_interval_needs_no_resamples() -> None:
    with pytest.raises(ht.InputError, match=r"basic. needs resamples. Pass n_resamples > 0"):
        closed(ht.Labeled(Y, S), method="basic")


@pytest.mark.parametrize("given", [None, 0.6, (0.25, 0.35)])
def test_notes_on_the_prior_need_no_resamples(given: object) -> None:
    data = MODEL.draw_strata(400, 4000, rng=0)
    negative = MODEL.draw(1000, rng=1)
    evidence = ht.PositiveUnlabeled(
        data.positive.score, data.unlabeled.score, negative=negative.score[negative.y == 0], prior=given
    )
    notes = closed(evidence).notes
    others = ht.evaluate(evidence, threshold=0.5, n_resamples=50).notes
    in_words, others_in_words = ([re.sub(r"[\d.]+", "#", note) for note in each] for each in (notes, others))
    assert in_words == others_in_words
    assert any("refuted" in note for note in notes) == (given == 0.6)
    assert any("identified by the evidence itself" in note for note in notes) == (given is None)


def test_one_positive_has_no_error() -> None:
    result = closed(ht.PositiveUnlabeled([0.9], [0.5, 0.4], prior=0.5))
    assert {row.method for row in result.values()} == {"none"}
    assert all(row.standard_error is None and np.isnan(row.low) for row in result.values())


def test_over_a_range_the_interval_is_a_union() -> None:
    def result(prior: object) -> ht.Evaluation:
        return closed(MODEL.positive_unlabeled(300, 3000, rng=0, prior=prior), SMOOTH_PU)

    wide, low, middle, high = (result(prior) for prior in ((0.2, 0.4), 0.2, 0.3, 0.4))
    for name in SMOOTH_PU:
        ends = [(row[name].low, row[name].high) for row in (low, high)]
        assert wide[name].low == pytest.approx(min(end[0] for end in ends), rel=1e-9)
        assert wide[name].high == pytest.approx(max(end[1] for end in ends), rel=1e-9)
        assert wide[name].standard_error == pytest.approx(middle[name].standard_error, abs=1e-12)


def test_without_a_prior_the_interval_covers_every_one_not_refuted() -> None:
    result = closed(MODEL.positive_unlabeled(300, 3000, rng=0, prior=None), SMOOTH_PU)
    assert np.isnan(result["precision"].value)
    assert 0 <= result["precision"].low < result["precision"].high <= 1
    assert result["recall"].low < result["recall"].value < result["recall"].high


def test_closed_forms_load_no_scipy() -> None:
    code = (
        "import sys, halftruth as ht; ht.evaluate(ht.Labeled([0, 1, 1], [.2, .6, .4]), n_resamples=0);"
        "sys.exit('scipy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
