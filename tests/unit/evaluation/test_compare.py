"""Differences between models against formulas worked out by hand."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest

import halftruth as ht
from halftruth.table import _strata
from halftruth.table._sorted_rows import SortedRows

N = 1200
RNG = np.random.default_rng(3)
Y = RNG.random(N) < 0.3
X = RNG.normal(2.0 * Y - 1)
W = RNG.integers(1, 4, N).astype(float)


def probability(x: np.ndarray) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(-x)))


A = probability(1.2 * X + 0.3 * RNG.normal(size=N))
B = probability(X + 0.6 * RNG.normal(size=N) - 0.5)
TIED_A, TIED_B = (np.clip(s.round(2), 0.01, 0.99) for s in (A, B))
Q = np.clip(probability(2 * X) + RNG.normal(0, 0.05, N), 0, 1).round(2)

CHANCE = np.clip(0.1 + A, 0, 0.95)
SAID = np.where(np.random.default_rng(4).random(N) < CHANCE, Y, np.nan)

LOSSES = {
    "brier": lambda y, s: (y - s) ** 2,
    "log_loss": lambda y, s: -np.log(np.where(y, s, 1 - s)),
    "accuracy": lambda y, s: ((s >= 0.5) == y).astype(float),
}
closed = partial(ht.compare, threshold=0.5, n_resamples=0)


def labeled(*scores: np.ndarray, **given) -> dict[str, ht.Labeled]:
    return {name: ht.Labeled(Y, s, **given) for name, s in zip("abc", scores, strict=False)}


def pu(*scores: np.ndarray, n_positive: int = 150, **given) -> dict[str, ht.PositiveUnlabeled]:
    """The first positives known, the other rows unlabeled."""
    known = np.flatnonzero(Y)[:n_positive]
    rest = np.setdiff1d(np.arange(N), known)
    given = {"prior": 0.2} | given
    if (given.get("negative")) is not None:
        split = given.pop("negative")
        return {
            name: ht.PositiveUnlabeled(s[known], s[rest], negative=s[~Y][:split], **given)
            for name, s in zip("abc", scores, strict=False)
        }
    return {n: ht.PositiveUnlabeled(s[known], s[rest], **given) for n, s in zip("abc", scores, strict=False)}


def reviewed(*scores: np.ndarray, **given) -> dict[str, ht.Reviewed]:
    """Rows reviewed by chances that follow the first model's scores."""
    return {n: ht.Reviewed(s, SAID, CHANCE, **given) for n, s in zip("abc", scores, strict=False)}


def delong(y: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    """The standard error of a difference of two AUCs on the same rows, from DeLong's definition."""

    def wins(s: np.ndarray) -> np.ndarray:
        p, n = s[y][:, None], s[~y]
        return (p > n) + (p == n) / 2

    gain = wins(a) - wins(b)
    return float(np.sqrt(gain.mean(1).var(ddof=1) / y.sum() + gain.mean(0).var(ddof=1) / (~y).sum()))


def width(row) -> float:
    return row.high - row.low


# --- errors by hand -------------------------------------------------------------------------------------


def test_the_error_of_a_difference_of_aucs_is_delongs():
    tied = closed(labeled(TIED_A, TIED_B), ["roc_auc"], stratified=True)["roc_auc"]
    assert tied.standard_error == pytest.approx(delong(Y, TIED_A, TIED_B), rel=1e-6)
    assert tied.value == pytest.approx(ht.roc_auc(ht.Labeled(Y, TIED_A)) - ht.roc_auc(ht.Labeled(Y, TIED_B)))
    # Rows that were not seen, and the few degrees of freedom, add next to nothing to so many rows.
    assert tied.low == pytest.approx(tied.value - 1.959964 * tied.standard_error, abs=2e-4)
    smooth = closed(labeled(A, B), ["roc_auc"], stratified=True)["roc_auc"]
    assert smooth.standard_error == pytest.approx(delong(Y, A, B), rel=0.02)


def test_the_error_of_positives_and_unlabeled_is_delongs_between_them():
    models, prior = pu(TIED_A, TIED_B, prior=0.2), 0.2
    known = np.isin(np.arange(N), np.flatnonzero(Y)[:150])
    got = closed(models, ["roc_auc"])["roc_auc"]
    # AUC = (AUC of P against U - π/2) / (1 - π), and both strata are drawn by themselves.
    assert got.standard_error == pytest.approx(delong(known, TIED_A, TIED_B) / (1 - prior), rel=1e-6)


def test_bootstrap_intervals_are_as_wide_as_closed_ones():
    names = ["roc_auc", "average_precision", "brier", "log_loss", "accuracy", "f1"]
    for models in (labeled(A, B), labeled(TIED_A, TIED_B), labeled(A, B, sample_weight=W)):
        drawn = ht.compare(models, names, threshold=0.5, n_resamples=3000)
        exact = closed(models, names)
        for name in names:
            assert width(drawn[name]) == pytest.approx(width(exact[name]), rel=0.1), name
            assert drawn[name].value == exact[name].value
            assert drawn[name].replicates.std() == pytest.approx(exact[name].standard_error, rel=0.06), name


@pytest.mark.parametrize("name", LOSSES)
def test_the_error_of_a_difference_of_means_is_that_of_the_mean_difference(name):
    loss = LOSSES[name]
    for (a, b), tolerance in (((TIED_A, TIED_B), 1e-6), ((A, B), 0.02)):
        each = loss(Y, a) - loss(Y, b)
        row = closed(labeled(a, b), [name])[name]
        assert row.value == pytest.approx(each.mean())
        assert row.standard_error == pytest.approx(each.std(ddof=1) / N**0.5, rel=tolerance)
        # Weighted: a ratio of two sums.
        row = closed(labeled(a, b, sample_weight=W), [name])[name]
        mean = np.average(each, weights=W)
        off = W * (each - mean) / W.sum()
        assert row.value == pytest.approx(mean)
        assert row.standard_error == pytest.approx(np.sqrt(np.sum(off**2) * N / (N - 1)), rel=tolerance)


def test_the_error_with_soft_labels():
    for (a, b), tolerance in (((TIED_A, TIED_B), 1e-6), ((A, B), 0.02)):
        models = {"a": ht.SoftLabeled(Q, a), "b": ht.SoftLabeled(Q, b)}
        each = (a**2 - 2 * a * Q) - (b**2 - 2 * b * Q)
        row = closed(models, ["brier"])["brier"]
        assert row.value == pytest.approx(each.mean())
        assert row.standard_error == pytest.approx(each.std(ddof=1) / N**0.5, rel=tolerance)
        drawn = ht.compare(models, ["brier"], n_resamples=3000)["brier"]
        assert width(drawn) == pytest.approx(width(row), rel=0.1)


@pytest.mark.parametrize("noise", [0.3, 0.1])
def test_models_that_hardly_differ_have_the_error_of_their_rows(noise):
    # Joined rows hide what lies within them, and put rows to either side of a border.
    rng = np.random.default_rng(0)
    y = rng.random(20_000) < 0.3
    x = rng.normal(2.0 * y - 1)
    a, b = probability(x), probability(x + noise / 5 * rng.normal(size=len(y)))
    models = {"a": ht.Labeled(y, a), "b": ht.Labeled(y, b)}
    each = LOSSES["brier"](y, a) - LOSSES["brier"](y, b)
    error = each.std(ddof=1) / len(y) ** 0.5
    assert closed(models, ["brier"])["brier"].standard_error == pytest.approx(error, rel=0.05)
    assert ht.compare(models, ["brier"])["brier"].replicates.std() == pytest.approx(error, rel=0.1)


def test_noise_that_inflates_one_calibration_error_more_is_taken_off():
    rng, truth = np.random.default_rng(0), 0.0965  # of 3 million rows
    hits = 0
    for seed in range(40):
        y = rng.random(1000) < 0.3
        z = rng.normal(size=1000)
        log_odds = np.log(0.3 / 0.7)
        right = probability(1.5 * (1.5 * y + z) - 1.125 + log_odds)
        other = 1.2 * y + 0.8 * z + 0.6 * rng.normal(size=1000)
        bold = probability(2 * (1.2 * other - 0.72 + log_odds))
        models = {"right": ht.Labeled(y, right), "bold": ht.Labeled(y, bold)}
        result = ht.compare(models, ["calibration_error"], n_resamples=200, rng=seed)
        hits += result["calibration_error"].low <= -truth <= result["calibration_error"].high
        assert any("noise inflates" in note for note in result.notes)
    assert hits >= 31  # 89% hold it; a plain percentile interval, 26%


@pytest.mark.parametrize("guess", ["none", "score", "blocks", "logistic"])
def test_the_error_of_reviewed_rows_is_that_of_the_mean_difference(guess):
    for weight in (None, W):
        models = reviewed(TIED_A, TIED_B, model=guess, sample_weight=weight)
        # What each row adds: s² + v (1 − 2s), with the pseudo-label v = p̂ + R (y − p̂)/e.
        each = np.zeros(N)
        for sign, score, evidence in ((1, TIED_A, models["a"]), (-1, TIED_B, models["b"])):
            share = evidence.guess.at(score)
            label = share + np.where(np.isnan(SAID), 0.0, (SAID - share) / CHANCE)
            each += sign * (score**2 + label * (1 - 2 * score))
        mean = np.average(each, weights=weight)
        off = (each - mean) * (1.0 if weight is None else W / W.mean()) / N
        row = closed(models, ["brier"])["brier"]
        assert row.value == pytest.approx(mean, abs=1e-12)
        still = np.sqrt(np.sum(off**2) * N / (N - 1))
        if guess in ("none", "score"):
            assert row.standard_error == pytest.approx(still, rel=1e-6)
        else:  # a guess that is fitted has an error of its own
            assert 1 < row.standard_error / still < 1.2
        drawn = ht.compare(models, ["brier"], n_resamples=3000)["brier"]
        assert width(drawn) == pytest.approx(width(row), rel=0.1)


@pytest.mark.parametrize("n_resamples", [0, 200])
@pytest.mark.parametrize("paired", [True, False])
def test_a_census_of_reviews_is_compared_as_labels(paired, n_resamples):
    given = {"threshold": 0.5, "n_resamples": n_resamples, "paired": paired}
    for weight in (None, W):
        census = {n: ht.Reviewed(s, Y, 1.0, sample_weight=weight) for n, s in (("a", A), ("b", B))}
        one, other = ht.compare(census, **given), ht.compare(labeled(A, B, sample_weight=weight), **given)
        assert list(one["a", "b"]) == list(other["a", "b"])
        for name, row in one["a", "b"].items():
            for which in ("value", "low", "high"):
                assert getattr(row, which) == pytest.approx(getattr(other[name], which), abs=1e-12), name


def test_reviewed_rows_give_the_difference_of_the_values():
    models = reviewed(A, B)
    for paired in (True, False):
        result = ht.compare(models, threshold=0.5, n_resamples=50, paired=paired)
        alone = {n: ht.evaluate(e, threshold=0.5, n_resamples=0) for n, e in models.items()}
        for name, row in result["a", "b"].items():
            assert row.value == pytest.approx(alone["a"][name].value - alone["b"][name].value, abs=1e-12), (
                name
            )
            assert row.low < row.high
            assert row.flips == ()
    with pytest.raises(ht.InputError, match="positives among unlabeled"):
        result.tipping()


def test_a_row_that_stands_for_many_is_not_joined_with_others():
    # All rows in one place, one of them for 50 others. Random weights are exponential, so what it adds has a
    # long tail above; joined with the others it would add normal noise.
    label, chance = np.full(1000, np.nan), np.append(np.full(200, 0.5), np.full(800, 1e-6))
    label[:100], label[100], chance[100] = np.arange(100) % 2, 1, 1 / 50
    models = {
        n: ht.Reviewed(np.full(1000, x), label, chance, model="none") for n, x in (("a", 0.2), ("b", 0.3))
    }
    drawn = ht.compare(models, ["brier"], n_resamples=4000)["brier"].replicates
    off, each = drawn - drawn.mean(), np.append(np.full(50, 2.0), 50.0)  # what a positive stands for
    skew = 2 * np.sum(each**3) / np.sum(each**2) ** 1.5  # of sums of exponential draws
    assert np.mean(off**3) / drawn.std() ** 3 == pytest.approx(skew, abs=0.4)


def test_reviews_without_a_positive_leave_recall_open():
    said = np.where(np.isnan(SAID), np.nan, 0.0)
    for n in (0, 200):
        models = {n: ht.Reviewed(s, said, CHANCE, model="none") for n, s in (("a", A), ("b", B))}
        row = ht.compare(models, ["prevalence", "brier"], n_resamples=n)
        assert row["brier"].low < row["brier"].value < row["brier"].high
        assert (row["prevalence"].low, row["prevalence"].high) == (0, 0)  # both say the same of any row


def test_reviews_that_are_not_the_same_are_refused():
    other = SAID.copy()
    other[np.flatnonzero(SAID == 1)[0]] = np.nan
    with pytest.raises(ht.InputError, match=r"and .* reviewed positive rows"):
        ht.compare({"a": ht.Reviewed(A, SAID, CHANCE), "b": ht.Reviewed(B, other, CHANCE)})
    with pytest.raises(ht.InputError, match=r"different chances of a review.*probability"):
        ht.compare({"a": ht.Reviewed(A, SAID, CHANCE), "b": ht.Reviewed(B, SAID, 0.9 * CHANCE)})
    with pytest.raises(ht.InputError, match="different chances of a review"):
        ht.compare({"a": ht.Reviewed(A, SAID), "b": ht.Reviewed(B, SAID)})
    errs = {"a": ht.Reviewed(A, SAID, CHANCE), "b": ht.Reviewed(B, SAID, CHANCE, sensitivity=0.9)}
    with pytest.raises(ht.InputError, match=r"different `sensitivity`.*reviewed once"):
        ht.compare(errs)
    apart = ht.compare(errs, ["roc_auc"], paired=False, n_resamples=50)["roc_auc"]
    assert apart.low < apart.value < apart.high
    with pytest.raises(ht.InputError, match="different kinds"):
        ht.compare({"a": ht.Reviewed(A, SAID, CHANCE), "b": ht.Labeled(Y, B)})


def test_rows_that_nobody_could_look_at_are_open_in_either_sample_and_refused_in_pairs():
    hidden = A < 0.2
    said, chance = np.where(hidden, np.nan, SAID), np.where(hidden, 0, CHANCE)
    models = {n: ht.Reviewed(s, said, chance) for n, s in (("a", A), ("b", B))}
    with pytest.raises(ht.InputError, match=r"nobody could tell.*`evaluate`"):
        ht.compare(models)
    row = ht.compare(models, ["brier"], paired=False, n_resamples=50)["brier"]
    alone = [ht.evaluate(e, ["brier"], n_resamples=50)["brier"] for e in models.values()]
    assert np.isnan(row.value)
    # Each sample may have its own extremes: a's lowest less b's highest, and the other way round.
    first, second = (e.centers for e in alone)
    assert row.low < first.min() - second.max() < first.max() - second.min() < row.high


# --- pairing --------------------------------------------------------------------------------------------


SETTINGS = {
    "labeled": labeled,
    "weighted": partial(labeled, sample_weight=W),
    "soft": lambda *s: {n: ht.SoftLabeled(Q, x, sample_weight=W) for n, x in zip("abc", s, strict=False)},
    "confidence": lambda *s: {
        n: ht.PositiveConfidence(np.clip(Q[Y], 0.2, 1), x[Y]) for n, x in zip("abc", s, strict=False)
    },
    "unlabeled": pu,
    "all": partial(pu, prior=0.3, population="all"),
    "purity": partial(pu, purity=0.9),
    "negatives": partial(pu, negative=200),
    "negatives identify": partial(pu, negative=200, prior=None),
    "propensity": partial(pu, propensity=np.linspace(0.2, 0.9, 150)),
    "estimate": partial(
        pu, prior=ht.PriorEstimate(value=0.2, replicates=0.2 + 0.02 * RNG.normal(size=300).clip(-3, 3))
    ),
    "range": partial(pu, prior=(0.1, 0.25)),
    "purity range": partial(pu, purity=(0.8, 1.0)),
    "no prior": partial(pu, prior=None),
    "reviewed": reviewed,
    "reviewed, no guess": partial(reviewed, model="none", sample_weight=W),
    "reviewed, known positives": partial(reviewed, known_positive=Y & (X > 1)),
    "reviewer errs": partial(reviewed, sensitivity=(0.85, 0.95)),
    "reviewer was checked": partial(
        reviewed, specificity=ht.judge_rates([0] * 995 + [1] * 205, [0] * 1000 + [1] * 200)[1]
    ),
}


@cache
def closed_in(setting: str) -> ht.Comparison:
    """Two models in a setting, every metric without resampling."""
    return closed(SETTINGS[setting](A, B))


@pytest.mark.parametrize("n_resamples", [0, 50])
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_same_model_twice_differs_by_nothing(setting, tied, n_resamples):
    scores = (TIED_A, TIED_A.copy()) if tied else (A, A)
    result = ht.compare(SETTINGS[setting](*scores), threshold=0.5, n_resamples=n_resamples)
    assert result.dominant is None
    for name, row in result["a", "b"].items():
        if setting != "no prior":
            assert row.value == 0, name
        assert (row.low, row.high) == (0, 0), name
        assert row.leader is None
        assert row.flips == ()


@pytest.mark.parametrize("setting", SETTINGS)
def test_pairing_cancels_what_models_share(setting):
    near = probability(np.log(B / (1 - B)) + 0.1 * np.random.default_rng(1).normal(size=N))
    models = SETTINGS[setting](B, near)
    together, apart = (ht.compare(models, ["roc_auc"], paired=p, n_resamples=300) for p in (True, False))
    assert together.paired
    assert not apart.paired
    # Over a range of purities or priors each scenario is paired by itself, so it still pays.
    assert width(together["roc_auc"]) < width(apart["roc_auc"]) / 3


@pytest.mark.parametrize("setting", SETTINGS)
def test_closed_and_drawn_intervals_agree_in_every_setting(setting):
    exact, drawn = closed_in(setting), ht.compare(SETTINGS[setting](A, B), ["roc_auc", "brier"])
    for name in ("roc_auc", "brier"):
        assert width(drawn[name]) == pytest.approx(width(exact[name]), rel=0.12), name
        # Resamples are skewed, the more so where a row that was not seen stands for many.
        skew = 0.08 if "review" in setting else 0.06
        assert drawn[name].low == pytest.approx(exact[name].low, abs=skew * width(exact[name])), name


def test_a_shuffle_of_both_alike_changes_nothing():
    order = np.random.default_rng(9).permutation(N)
    for n in (0, 200):
        one = ht.compare({"a": ht.Labeled(Y, A), "b": ht.Labeled(Y, B)}, threshold=0.5, n_resamples=n)
        models = {"a": ht.Labeled(Y[order], A[order]), "b": ht.Labeled(Y[order], B[order])}
        other = ht.compare(models, threshold=0.5, n_resamples=n)
        for name, row in one["a", "b"].items():
            for which in ("value", "low", "high"):
                assert getattr(row, which) == pytest.approx(getattr(other[name], which), abs=1e-12), name
    # A shuffle of one alone makes other pairs.
    models["b"] = ht.Labeled(np.sort(Y), np.concatenate([B[~Y][::-1], B[Y][::-1]]))
    models["a"] = ht.Labeled(np.sort(Y), np.concatenate([A[~Y], A[Y]]))
    assert width(closed(models, ["roc_auc"])["roc_auc"]) > 1.3 * width(closed_in("labeled")["roc_auc"])


def test_weights_are_numbers_of_rows():
    whole = RNG.integers(0, 4, N)
    repeated = {n: ht.Labeled(np.repeat(Y, whole), np.repeat(s, whole)) for n, s in (("a", A), ("b", B))}
    weighted = labeled(A, B, sample_weight=whole.astype(float))
    names = ["roc_auc", "brier", "average_precision"]
    of_rows, of_weights = closed(repeated, names), closed(weighted, names)
    for name in names:
        assert of_rows[name].value == pytest.approx(of_weights[name].value)


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_other_way_round_is_the_negative(setting):
    models = SETTINGS[setting](A, B)
    one = closed_in(setting)
    other = closed({"b": models["b"], "a": models["a"]})
    for name, row in one["a", "b"].items():
        back = other["b", "a"][name]
        assert row.value == -back.value or (np.isnan(row.value) and np.isnan(back.value))
        assert row.values == back.values[::-1] or setting == "no prior"
        assert row.flips == pytest.approx(back.flips, abs=1e-9)
        if row.method == "influence":
            assert (row.low, row.high) == pytest.approx((-back.high, -back.low), abs=1e-12)
            assert back.leader == (None if row.leader is None else 1 - row.leader)
    assert one.dominant == other.dominant


# --- priors ---------------------------------------------------------------------------------------------


def test_draws_of_the_prior_are_shared():
    replicates = np.linspace(0.1, 0.3, 101)
    estimate = ht.PriorEstimate(value=0.2, replicates=replicates)
    known = closed(pu(TIED_A, TIED_B), ["roc_auc", "brier"])
    told = [pu(TIED_A, TIED_B, prior=p) for p in replicates]
    for name, metric in (("roc_auc", ht.roc_auc), ("brier", ht.brier)):
        exact = [metric(models["a"]) - metric(models["b"]) for models in told]
        expected = np.hypot(known[name].standard_error, np.std(exact))
        for n in (0, 4000):
            row = ht.compare(pu(TIED_A, TIED_B, prior=estimate), [name], n_resamples=n)[name]
            error = row.standard_error if n == 0 else row.replicates.std()
            assert error == pytest.approx(expected, rel=0.05 if n else 1e-3)


def test_a_range_of_the_prior_gives_the_union():
    names = ["roc_auc", "brier", "accuracy"]
    over = closed(pu(TIED_A, TIED_B, prior=(0.1, 0.25)), names)
    ends = [closed(pu(TIED_A, TIED_B, prior=p), names) for p in (0.1, 0.25)]
    middle = closed(pu(TIED_A, TIED_B, prior=0.175), names)
    for name in names:
        assert over[name].low <= min(one[name].low for one in ends) + 1e-12
        assert over[name].high >= max(one[name].high for one in ends) - 1e-12
        assert over[name].value == pytest.approx(middle[name].value)


def test_without_a_prior_there_is_a_range_of_what_is_possible():
    names = ["roc_auc", "average_precision", "brier", "accuracy"]
    drawn = ht.compare(pu(A, B, prior=None), [*names, "recall"], threshold=0.5, n_resamples=200)
    for result in (closed_in("no prior"), drawn):
        assert any("No prior was given" in note for note in result.notes)
        for name in names:
            row = result[name]
            assert np.isnan(row.value)
            assert np.isnan(row.values).all()
            assert -1.2 < row.low < row.high < 1.2
        recall = result["recall"]
        assert recall.value == pytest.approx((A[Y][:150] >= 0.5).mean() - (B[Y][:150] >= 0.5).mean())
        assert recall.low < recall.value < recall.high


def test_one_known_positive_has_no_interval():
    result = ht.compare(pu(A, B, n_positive=1), n_resamples=50)
    assert result["roc_auc"].method == "none"
    assert np.isnan([result["roc_auc"].low, result["roc_auc"].high]).all()
    assert "One known positive" in str(result)
    assert closed(pu(A, B, n_positive=1))["roc_auc"].standard_error is None


# --- flips ----------------------------------------------------------------------------------------------


def _crossing() -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Two models, each with scores of positives and unlabeled: bold and shy at the threshold 0.5."""
    rng = np.random.default_rng(5)
    p, u = rng.beta(3, 2, 400), np.append(rng.beta(3, 2, 900), rng.beta(2, 3, 2100))
    return (p, u), (np.clip(p - 0.2 + rng.normal(0, 0.02, 400), 0, 1), np.clip(u - 0.2, 0, 1))


@pytest.mark.parametrize("population", ["unlabeled", "all"])
@pytest.mark.parametrize("prior", [0.2, (0.15, 0.25), None, ht.PriorEstimate(value=0.2, replicates=[0.2])])
def test_the_order_flips_where_the_lines_cross(population, prior):
    (pa, ua), (pb, ub) = _crossing()
    models = {
        "bold": ht.PositiveUnlabeled(pa, ua, prior=prior, population=population),
        "shy": ht.PositiveUnlabeled(pb, ub, prior=prior, population=population),
    }
    result = ht.compare(models, ["accuracy", "brier", "recall"], threshold=0.5, n_resamples=0)
    all_a, all_b = (ua, ub) if population == "unlabeled" else (np.append(pa, ua), np.append(pb, ub))
    # accuracy = 2π TPR + 1 - π - P(s ≥ t), Brier = E s² - 2π E₊ s + π
    selected = (all_a >= 0.5).mean() - (all_b >= 0.5).mean()
    accuracy = selected / (2 * ((pa >= 0.5).mean() - (pb >= 0.5).mean()))
    brier = ((all_a**2).mean() - (all_b**2).mean()) / (2 * (pa.mean() - pb.mean()))
    assert result["accuracy"].flips == pytest.approx((accuracy,), abs=1e-3)
    assert result["brier"].flips == pytest.approx((brier,), abs=1e-3)
    assert result["recall"].flips == ()
    assert f"{accuracy:.3f}" in str(result)


def test_without_a_crossing_nothing_flips():
    models = pu(A, probability(X + 3 * RNG.normal(size=N)))
    result = closed(models)
    assert result["roc_auc"].flips == ()
    assert result["roc_auc"].leader == 0
    assert all(row.flips == () for row in closed_in("labeled")["a", "b"].values())


# --- dominance ------------------------------------------------------------------------------------------


def test_a_dominated_model():
    # b is a with the order of some pairs turned, always at a cost.
    y = np.asarray([1, 1, 0, 1, 0, 0, 1, 0])
    a = np.arange(8.0)[::-1]
    b = a.copy()
    b[[1, 2]] = b[[2, 1]]
    c = b.copy()
    c[[6, 7]] = c[[7, 6]]
    models = {n: ht.Labeled(y, s) for n, s in zip("abc", (a, b, c), strict=True)}
    assert ht.compare({n: models[n] for n in "ba"}, n_resamples=0).dominant == "a"
    three = ht.compare(models, n_resamples=0)
    assert three.dominant == "a"
    assert "a dominates" in str(three)


def test_crossing_curves_have_no_winner():
    y = np.asarray([1, 1, 0, 1, 0, 0, 1, 0])
    a = np.arange(8.0)[::-1]
    b, c = a.copy(), a.copy()
    b[[1, 2]] = b[[2, 1]]
    c[[5, 6]] = c[[6, 5]]
    c[[1, 2]] = c[[2, 1]]
    models = {"a": ht.Labeled(y, a), "c": ht.Labeled(y, c)}
    assert ht.compare(models, n_resamples=0).dominant is None
    assert "No model dominates" in str(ht.compare(models, n_resamples=0))
    # c is at least as good as b everywhere, and better somewhere.
    assert ht.compare({"b": ht.Labeled(y, b), "c": ht.Labeled(y, c)}, n_resamples=0).dominant == "c"


def test_rough_curves_of_reviews_crown_nobody_and_no_prior_turns_the_order():
    for other in (0 * A, B):  # one curve on top everywhere, and curves that cross
        made = ht.compare(reviewed(A, other), ["roc_auc"], n_resamples=0)
        assert made.dominant is None
        assert "dominates" not in str(made)
        assert "flips" not in str(made)
        assert "order turns" not in made.to_html()
    assert "order turns" in ht.compare(labeled(A, B), ["roc_auc"], n_resamples=0).to_html()


def test_a_difference_and_its_interval_have_the_same_decimals():
    row = closed(labeled(A, B), ["roc_auc"])["roc_auc"]
    told = {
        (0.00245, -0.0304, 0.0359): ("0.002", "-0.030 to 0.036"),
        (0.000145, 0.0001, 0.00019): ("0.000145", "0.000100 to 0.000190"),
        (0.0, 0.0, 0.0): ("0.000", "0.000 to 0.000"),
        (np.nan, np.nan, np.nan): ("–", "– to –"),
        (3.0, 2.9, 3.1): ("3.000", "none possible"),
    }
    for (value, low, high), texts in told.items():
        assert replace(row, value=value, low=low, high=high).texts == texts


def test_upright_steps_are_seen_from_both_sides():
    # b rises earlier; a jumps above it only where both have used up half of the negatives.
    y = np.repeat([1, 0], 10)
    a = np.concatenate([np.full(10, 0.5), np.full(5, 0.9), np.full(5, 0.1)])
    b = np.concatenate([np.full(8, 0.9), np.full(2, 0.1), np.full(5, 0.9), np.full(5, 0.1)])
    assert ht.compare({"a": ht.Labeled(y, a), "b": ht.Labeled(y, b)}, n_resamples=0).dominant is None
    models = {n: ht.PositiveUnlabeled(s[:10], s[10:], prior=0.3) for n, s in (("a", a), ("b", b))}
    assert ht.compare(models, n_resamples=0).dominant is None


def test_ties_are_halves():
    y = np.asarray([1, 0, 1, 0])
    fine, tied = ht.Labeled(y, [3, 2, 1, 0]), ht.Labeled(y, [1, 1, 0, 0])
    # A group of one positive and one negative rises aslant, below the positive first.
    assert ht.compare({"fine": fine, "tied": tied}, n_resamples=0).dominant == "fine"
    assert ht.compare({"one": tied, "other": ht.Labeled(y, [5, 5, 3, 3])}, n_resamples=0).dominant is None


def test_other_shares_of_positives_do_not_dominate():
    # Independent samples of one model: where positives are scarcer, few cases hold more of them.
    positive, negative = np.arange(10.0) + 3.5, np.arange(10.0)
    few = ht.Labeled(np.repeat([1, 0], 10), np.append(positive, negative))
    many = ht.Labeled(np.repeat([1, 0], [40, 10]), np.append(np.tile(positive, 4), negative))
    assert ht.compare({"few": few, "many": many}, paired=False, n_resamples=0).dominant is None
    better = ht.Labeled(np.repeat([1, 0], [40, 10]), np.append(np.tile(positive, 4) + 1, negative))
    assert ht.compare({"few": few, "better": better}, paired=False, n_resamples=0).dominant == "better"


def test_dominance_needs_no_prior():
    far = probability(X + 5 * np.random.default_rng(0).normal(size=N))
    sharp = probability(3 * X + 6 * Y)
    assert closed(pu(sharp, far, prior=None), ["recall"]).dominant == "a"
    assert closed(pu(far, sharp), ["recall"]).dominant == "b"
    # Nothing is known of the positives.
    assert closed(pu(far, sharp, prior=None, purity=0.9), ["recall"]).dominant is None


# --- three models, keys, text ---------------------------------------------------------------------------


def test_three_models_give_every_pair():
    result = closed(labeled(A, B, A**2))
    assert list(result) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert len(result) == 3
    assert result["a", "b"]["roc_auc"].value == closed_in("labeled")["roc_auc"].value
    assert result["a", "c"]["roc_auc"].value == 0
    assert width(result["a", "c"]["roc_auc"]) < 1e-4
    assert result["a", "c"]["brier"].value != 0
    with pytest.raises(KeyError, match=re.escape("name a pair first: [('a', 'b')")):
        result["roc_auc"]
    with pytest.raises(KeyError, match=re.escape("('a', 'x'): this comparison has ('a', 'b'), ('a', 'c')")):
        result["a", "x"]


def test_the_same_order_has_the_same_curves():
    for n in (0, 200):
        result = ht.compare(labeled(A, A**3), n_resamples=n)
        for name in ("roc_auc", "average_precision"):
            row = result[name]
            assert (row.value, row.low, row.high) == (0, 0, 0)
        assert result["brier"].value != 0
        assert result.dominant is None


def test_two_models_are_read_by_metric():
    result = closed_in("labeled")
    assert result["roc_auc"] is result["a", "b"]["roc_auc"]
    assert "prevalence" not in result["a", "b"]
    assert list(result["a", "b"])[:3] == ["roc_auc", "average_precision", "brier"]
    with pytest.raises(KeyError, match="'nope': this comparison has roc_auc, average_precision"):
        result["nope"]
    apart = closed(labeled(A, B), paired=False)
    assert apart["prevalence"].value == 0


def test_the_leader_is_the_better_one():
    result = closed(labeled(A, probability(X + 4 * RNG.normal(size=N))))
    assert result["roc_auc"].value > 0
    assert result["brier"].value < 0
    assert result["roc_auc"].leader == result["brier"].leader == 0
    assert result["roc_auc"].interval(0.5) == pytest.approx(
        result["roc_auc"].value + np.asarray([-1, 1]) * 0.67449 * result["roc_auc"].standard_error, rel=1e-4
    )


def test_metrics_of_ones_own_are_drawn():
    def spread(measure):
        return float(measure.score @ measure.mass)

    rows = ht.compare(labeled(A, B), {"mine": spread, "AUC": "roc_auc"}, n_resamples=0)
    assert rows["mine"].method == "percentile"
    assert rows["AUC"].method == "influence"
    assert rows["mine"].value == pytest.approx(A.sum() - B.sum())
    assert rows["mine"].low < rows["mine"].value < rows["mine"].high


def test_margins_have_no_proper_scores_and_the_note_says_so():
    for models in (labeled(A, 5 * B), labeled(5 * A, B)):
        result = closed(models)
        assert "brier" not in result["a", "b"]
        assert sum("no probabilities" in note for note in result.notes) == 1


def test_infinite_losses_do_not_break_a_comparison():
    wrong = np.where(np.arange(N) == np.flatnonzero(Y)[0], 0.0, A)
    result = ht.compare(labeled(wrong, wrong * 0.999), n_resamples=50)
    assert not np.isfinite(result["log_loss"].value) or result["log_loss"].value != 0
    json.dumps(result.to_dict(), allow_nan=False)


def test_the_dictionary_is_json_and_the_same_every_time():
    for models in (labeled(A, B), pu(A, B, prior=None), pu(A, B, prior=(0.1, 0.2))):
        one, two = (ht.compare(models, threshold=0.5, n_resamples=20, rng=7) for _ in range(2))
        texts = [json.dumps(each.to_dict(), allow_nan=False, sort_keys=True) for each in (one, two)]
        assert texts[0] == texts[1]
        found = json.loads(texts[0])
        assert found["schema"] == 1
        assert found["pairs"][0]["first"] == "a"
        assert set(found["pairs"][0]["metrics"]["roc_auc"]) >= {"value", "low", "high", "values", "flips"}
        other = ht.compare(models, threshold=0.5, n_resamples=20, rng=8)
        assert json.dumps(other.to_dict(), sort_keys=True) != texts[0]


def test_names_are_data():
    models = {"<b>": ht.Labeled(Y, A), "x & y": ht.Labeled(Y, A**2 * B)}
    result = closed(models)
    page = result._repr_html_()
    assert "<b>" not in page
    assert "&lt;b&gt;" in page
    assert "x &amp; y" in page
    assert "<b>" in str(result)
    assert str(result) == repr(result)
    lines = str(result).split("\n\n")[1].splitlines()
    assert len({len(line) for line in lines}) == 1
    assert "paired by row order" in str(result)
    assert "independent samples" in str(closed(models, paired=False))


# --- samples with priors of their own -------------------------------------------------------------------

APART = {"paired": False, "n_resamples": 0, "threshold": 0.5}
SMOOTH = ["brier", "recall", "precision"]


def sites(first=0.1, second=0.25, **given) -> dict[str, ht.PositiveUnlabeled]:
    """Two samples that have no row in common."""
    half = N // 2
    a = ht.PositiveUnlabeled(A[:half][Y[:half]], A[half:], prior=first, **given)
    return {"a": a, "b": ht.PositiveUnlabeled(B[half:][Y[half:]], B[:half], prior=second, **given)}


def errors(evidence) -> dict[str, float]:
    alone = ht.evaluate(evidence, SMOOTH, threshold=0.5, n_resamples=0, method="normal")
    return {name: row.standard_error for name, row in alone.items()}


@pytest.mark.parametrize("population", ["unlabeled", "all"])
def test_independent_samples_are_compared_each_at_its_own_prior(population):
    shares = {"all": (0.4, 0.5), "unlabeled": (0.1, 0.25)}[population]
    both = sites(*shares, population=population)
    result = ht.compare(both, SMOOTH, **APART)
    a, b = (ht.evaluate(e, SMOOTH, threshold=0.5, n_resamples=0) for e in both.values())
    for name in SMOOTH:
        assert result[name].value == pytest.approx(a[name].value - b[name].value, abs=1e-12)
        of_both = np.hypot(errors(both["a"])[name], errors(both["b"])[name])
        assert result[name].standard_error == pytest.approx(of_both, rel=1e-6)
        assert result[name].flips == ()
    resampled = ht.compare(both, SMOOTH, paired=False, threshold=0.5, n_resamples=4000)
    for name in SMOOTH:
        assert resampled[name].replicates.std() == pytest.approx(result[name].standard_error, rel=0.1)


def test_samples_of_two_designs_are_each_resampled_as_they_came():
    both = {"a": sites()["a"], "b": sites(0.4, 0.5, population="all")["b"]}
    found = ht.compare(both, SMOOTH, **APART)
    for name in SMOOTH:
        of_both = np.hypot(errors(both["a"])[name], errors(both["b"])[name])
        assert found[name].standard_error == pytest.approx(of_both, rel=1e-6)


def test_own_ranges_are_a_union_over_both():
    wide = ht.compare(sites((0.1, 0.2), (0.15, 0.25)), SMOOTH, **APART)
    corners = [ht.compare(sites(x, y), SMOOTH, **APART) for x in (0.1, 0.2) for y in (0.15, 0.25)]
    for name in SMOOTH:  # these are monotone in the prior, so the corners hold the extremes
        assert wide[name].low == pytest.approx(min(x[name].low for x in corners))
        assert wide[name].high == pytest.approx(max(x[name].high for x in corners))
    drawn = ht.compare(sites((0.1, 0.2), (0.15, 0.25)), SMOOTH, paired=False, threshold=0.5, n_resamples=500)
    assert drawn["brier"].low == pytest.approx(wide["brier"].low, abs=0.01)
    # The same range, or none, leaves the prior of each sample open by itself.
    same = ht.compare(sites((0.1, 0.2), (0.1, 0.2)), SMOOTH, **APART)
    nearly = ht.compare(sites((0.1, 0.2), (0.1, 0.2 + 1e-9)), SMOOTH, **APART)
    for name in SMOOTH:
        assert (same[name].low, same[name].high) == pytest.approx((nearly[name].low, nearly[name].high))


def test_one_number_for_all_samples_is_said_to_hold_in_each():
    text = "The same prior was given for all samples"
    for first, second, expected in (
        (0.1, 0.1, 1),
        (0.1, 0.2, 0),
        ((0.1, 0.2), (0.1, 0.2), 0),
        (None, None, 0),
    ):
        notes = ht.compare(sites(first, second), SMOOTH, **APART).notes
        assert sum(note.startswith(text) for note in notes) == expected
    assert not any(text in note for note in closed(pu(A, B), ["brier"]).notes)


def test_samples_without_a_prior_do_not_share_one():
    rng = np.random.default_rng(0)
    laws = [ht.simulate.GaussianClasses(prior=prior) for prior in (0.4, 0.05)]
    both = {
        name: law.positive_unlabeled(300, 3000, rng, prior=None) for name, law in zip("ab", laws, strict=True)
    }
    result = ht.compare(both, ["prevalence", "roc_auc"], paired=False, n_resamples=200)
    assert result.status == "not identified"
    assert result.dominant is None
    assert result["prevalence"].low < 0 < 0.35 < result["prevalence"].high
    assert result["roc_auc"].low < 0 < result["roc_auc"].high
    assert result["roc_auc"].leader is None


def test_values_that_are_refuted_or_not_identified_have_no_leader():
    far = probability(X + 5 * np.random.default_rng(0).normal(size=N))
    unknown = closed(pu(probability(3 * X + 6 * Y), far, prior=None), ["roc_auc", "recall"])
    assert unknown["roc_auc"].low > 0
    assert unknown["roc_auc"].leader is None
    assert unknown["recall"].leader == 0  # it needs no prior
    assert "–" in str(unknown)
    refuted = closed(pu(A, far, prior=0.9), ["recall"])
    assert refuted.status == "refuted"
    assert refuted["recall"].low > 0
    assert refuted["recall"].leader is None


def test_a_number_that_is_refuted_makes_no_sample_dominant():
    rng = np.random.default_rng(0)
    strong = ht.PositiveUnlabeled(rng.normal(3, 1, 300), rng.normal(0, 1, 3000), prior=0.3)
    weak = ht.PositiveUnlabeled(rng.normal(0, 1, 300), rng.normal(0, 1, 3000), prior=0.3)
    result = ht.compare(
        {"strong": strong, "weak": weak}, ["recall"], threshold=1.5, paired=False, n_resamples=0
    )
    assert result.status == "refuted"
    assert result.dominant is None


# --- ranges that are refuted in part --------------------------------------------------------------------


@pytest.mark.parametrize("n_resamples", [0, 100])
@pytest.mark.parametrize("paired", [True, False])
def test_what_is_left_of_a_range_can_be_told_apart(paired, n_resamples):
    rng = np.random.default_rng(3)
    unlabeled = np.append(rng.normal(0, 1, 1900), rng.normal(4, 1, 100))
    sharp = ht.PositiveUnlabeled(rng.normal(4, 1, 300), unlabeled, prior=(0.01, 0.11))
    blunt = ht.PositiveUnlabeled(rng.random(300), rng.random(2000), prior=(0.01, 0.11))
    metrics = ["roc_auc", "precision"]
    for names in (("sharp", "blunt"), ("blunt", "sharp")):
        models = {name: {"sharp": sharp, "blunt": blunt}[name] for name in names}
        result = ht.compare(models, metrics, threshold=0.5, paired=paired, n_resamples=n_resamples)
        assert result.status == "partly refuted"
        kept = result.unrefuted[names]
        assert 0 < len(kept) < len(result["roc_auc"].centers) == (9 if paired else 81)
        alone = ht.evaluate(sharp, ["roc_auc"], n_resamples=0).unrefuted
        assert len(kept) == len(alone) * (1 if paired else 9)
        for name in metrics:
            row, left = result[name], result[name].over(kept)
            assert isinstance(left, type(row))
            assert row.low <= left.low < left.high <= row.high
            assert width(left) < width(row)
    whole = ht.compare({"a": blunt, "b": blunt}, metrics, threshold=0.5, paired=paired, n_resamples=0)
    assert whole.unrefuted == {("a", "b"): None}
    assert whole["roc_auc"].over(whole.unrefuted["a", "b"]) is whole["roc_auc"]


# --- rows that were not seen ----------------------------------------------------------------------------

AT_A_THRESHOLD = ["precision", "recall", "fpr", "f1", "mcc", "accuracy"]


@pytest.mark.parametrize("n_resamples", [0, 300])
def test_models_that_agree_have_an_error_all_the_same(n_resamples):
    # Each flags five positives and no negative; more than 128 distinct scores, so that rows are joined.
    rng = np.random.default_rng(0)
    y, a, b = np.repeat([1, 0], [60, 240]), 0.4 * rng.random(300), 0.4 * rng.random(300)
    a[:5], b[5:10] = 0.9, 0.9
    other = np.where(a > 0.5, 0.8, 0.4 * rng.random(300))  # flags the same rows as a
    for second in (b, other):
        models = {"a": ht.Labeled(y, a), "b": ht.Labeled(y, second)}
        result = ht.compare(models, threshold=0.5, n_resamples=n_resamples)
        for name in AT_A_THRESHOLD:
            assert result[name].value == 0
            assert result[name].low < 0 < result[name].high, name
        assert width(result["precision"]) > 0.3


@pytest.mark.parametrize("n_resamples", [0, 300])
@pytest.mark.parametrize("paired", [True, False])
def test_perfect_models_have_an_error_all_the_same(paired, n_resamples):
    y, rng = np.repeat([1, 0], [5, 20]), np.random.default_rng(0)
    models = {name: ht.Labeled(y, np.where(y, 0.7, 0.1) + 0.2 * rng.random(25)) for name in "ab"}
    result = ht.compare(models, threshold=0.5, paired=paired, n_resamples=n_resamples)
    for name, row in result["a", "b"].items():
        assert row.low < row.value < row.high, name
    # Five of five: 0.5 of a row on either side of each rate, or in each cell of the table of two by two.
    assert 0.4 < width(result["recall"]) < 0.9
    assert result["recall"].interval(0.5)[1] < result["recall"].interval(0.95)[1]


def test_few_rows_have_few_degrees_of_freedom():
    y = np.repeat([1, 0], [6, 10])
    scores = np.random.default_rng(1).normal(y[:, None], 1, (16, 2)).T
    row = ht.compare(
        dict(zip("ab", (ht.Labeled(y, s) for s in scores), strict=True)), ["roc_auc"], n_resamples=0
    )
    auc = row["roc_auc"]
    assert auc.degrees == 10
    side = 2.2281 * np.sqrt(auc.standard_error**2 + auc.unseen[0])  # Student's quantile
    assert (auc.low, auc.high) == pytest.approx((auc.value - side, auc.value + side), rel=1e-3)


def test_the_same_order_has_the_same_budgets():
    for n in (0, 100):
        rows = ht.compare(labeled(A, A**3), {"top": partial(ht.precision_at_k, k=30)}, n_resamples=n)
        assert (rows["top"].low, rows["top"].high) == (0, 0)
        rows = ht.compare(labeled(A, B), {"top": partial(ht.precision_at_k, k=30)}, n_resamples=n)
        assert rows["top"].low < rows["top"].high


def test_a_metric_does_not_move_with_what_else_was_asked_for():
    together = ht.compare(labeled(A, B), threshold=0.5, n_resamples=100)
    for name in ("roc_auc", "recall"):
        alone = ht.compare(labeled(A, B), [name], threshold=0.5, n_resamples=100)
        assert (alone[name].low, alone[name].high) == (together[name].low, together[name].high)


def test_one_known_positive_is_no_reason_to_pair_what_cannot_be():
    one = pu(A, n_positive=1)["a"]
    other = ht.PositiveUnlabeled(B[:1], B[1:100], prior=0.2)
    with pytest.raises(ht.InputError, match="rows cannot be paired"):
        ht.compare({"a": one, "b": other}, ["roc_auc"], n_resamples=10)


def test_own_estimates_add_their_errors():
    def estimate(value):
        return ht.PriorEstimate(value=value, replicates=value + 0.02 * np.linspace(-1.7, 1.7, 500))

    exact = ht.compare(sites(), SMOOTH, **APART)
    both = sites(estimate(0.1), estimate(0.25))
    found = ht.compare(both, SMOOTH, **APART)
    drawn = ht.compare(both, SMOOTH, paired=False, threshold=0.5, n_resamples=4000)
    for name in ("brier", "precision"):  # recall is that of the known positives, whatever the prior
        assert found[name].standard_error > 1.05 * exact[name].standard_error
        of_both = np.hypot(errors(both["a"])[name], errors(both["b"])[name])
        assert found[name].standard_error == pytest.approx(of_both, rel=0.04)  # by chance not quite apart
        assert drawn[name].replicates.std() == pytest.approx(of_both, rel=0.1)


def test_a_prior_against_none_is_over_all_that_is_not_refuted():
    found = ht.compare(sites(0.1, None), SMOOTH, **APART)["brier"]
    assert np.isnan(found.value)
    known = ht.compare(sites(0.1, 0.25), SMOOTH, **APART)["brier"]
    assert found.low < known.value < found.high
    notes = ht.compare(sites(0.1, None), SMOOTH, **APART).notes
    assert any(note.startswith("b: No prior was given") for note in notes)


def test_the_page_moves_the_priors_of_samples_apart():
    for second, linked in ((0.1, "true"), (0.25, "false")):
        page = ht.compare(sites(0.1, second), SMOOTH, **APART).to_html()
        assert f'"linked":{linked}' in page


# --- errors ---------------------------------------------------------------------------------------------

ONE = {"a": ht.Labeled(Y, A)}


@pytest.mark.parametrize(
    ("models", "text"),
    [
        (ONE, "at least two models"),
        ([ht.Labeled(Y, A)], "at least two models"),
        ({**ONE, "b": B}, r"models\['b'\]` must be Labeled, .* got ndarray"),
        ({**ONE, "b": ht.SoftLabeled(Q, B)}, "different kinds of evidence"),
        ({1: ONE["a"], "1": ONE["a"]}, "different names"),
        ({"a": pu(A)["a"], "b": pu(B, prior=0.21)["a"]}, "different `prior`"),
        ({"a": pu(A)["a"], "b": pu(B, prior=(0.1, 0.3))["a"]}, "different `prior`"),
        ({"a": pu(A)["a"], "b": pu(B, prior=None)["a"]}, "different `prior`"),
        ({"a": pu(A)["a"], "b": pu(B, purity=0.9)["a"]}, "different `purity`"),
        ({"a": pu(A)["a"], "b": pu(B, population="all")["a"]}, "different `population`"),
        ({"a": pu(A)["a"], "b": pu(B, n_positive=149)["a"]}, "150 and 149 positive rows.*paired=False"),
        ({"a": pu(A)["a"], "b": pu(B, negative=50)["a"]}, "Only one of the models has negative rows.*paired"),
        ({**ONE, "b": ht.Labeled(Y[:-1], B[:-1])}, "rows cannot be paired by their order.*paired=False"),
        ({**ONE, "b": ht.Labeled(Y, B, sample_weight=W)}, "different weights.*paired=False"),
        ({"a": ht.SoftLabeled(Q, A), "b": ht.SoftLabeled(Q[::-1], B)}, "different values.*paired=False"),
    ],
)
def test_what_cannot_be_compared_says_why(models, text):
    with pytest.raises(ht.InputError, match=f"(?s){text}"):
        ht.compare(models, n_resamples=10)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"n_resamples": -1}, "n_resamples"),
        ({"n_resamples": 1.5}, "n_resamples"),
        ({"confidence_level": 1.2}, "confidence_level"),
        ({"stratified": "yes"}, "stratified"),
        ({"paired": "no"}, "paired"),
        ({"metrics": ["auc"]}, "no metric 'auc'"),
        ({"metrics": ["f1"]}, "threshold"),
        ({"metrics": []}, "metrics"),
    ],
)
def test_bad_settings_are_named(given, text):
    with pytest.raises(ht.InputError, match=text):
        ht.compare(labeled(A, B), **given)


def test_histograms_are_compared_apart():
    exact = labeled(A, B)
    models = {name: ht.Labeled.from_table(e.table.compress()) for name, e in exact.items()}
    with pytest.raises(ht.InputError, match="paired=False"):
        ht.compare(models)
    binned, rows = (closed(each, paired=False) for each in (models, exact))
    for name in ("roc_auc", "brier", "accuracy"):
        assert binned[name].value == pytest.approx(rows[name].value, abs=1e-3)
        assert width(binned[name]) == pytest.approx(width(rows[name]), rel=0.02)
        bound = binned[name].compression
        assert bound is not None
        assert abs(binned[name].value - rows[name].value) <= bound + 1e-12
        assert rows[name].compression is None
    drawn = ht.compare(models, paired=False, n_resamples=200)
    assert width(drawn["roc_auc"]) == pytest.approx(width(binned["roc_auc"]), rel=0.25)


def test_independent_samples_add_their_variances():
    rows = closed(labeled(TIED_A, TIED_B), ["roc_auc", "brier"], paired=False)
    for name in ("roc_auc", "brier"):
        each = [ht.evaluate(e, [name], n_resamples=0)[name] for e in labeled(TIED_A, TIED_B).values()]
        expected = np.hypot(*(one.standard_error for one in each))
        assert rows[name].standard_error == pytest.approx(expected, rel=1e-9)


# --- many rows ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", ["labeled", "unlabeled", "all", "purity", "negatives", "no prior"])
def test_the_road_of_many_rows_leads_to_the_same(setting, monkeypatch):
    a = closed_in(setting)
    monkeypatch.setattr(_strata, "COMPILED", 1)
    many = SETTINGS[setting](A, B)
    assert all(isinstance(e.table.support, SortedRows) for e in many.values())
    b = closed(many)
    # What selection would change is read from joined rows, which are others here.
    assert [n for n in a.notes if n.kind != "selection"] == [n for n in b.notes if n.kind != "selection"]
    for name, row in a["a", "b"].items():
        assert row.value == pytest.approx(b[name].value, abs=1e-11, nan_ok=True)
        assert row.flips == pytest.approx(b[name].flips, abs=5e-3), name
        if row.errors is not None:
            np.testing.assert_allclose(row.errors, b[name].errors, rtol=0.03, err_msg=name)


def test_many_rows():
    rng = np.random.default_rng(0)
    n = (1 << 19) + 5
    y = rng.random(n) < 0.3
    x = rng.normal(2.0 * y - 1)
    a, b = probability(x), probability(x + 0.3 * rng.normal(size=n))
    models = {"a": ht.Labeled(y, a), "b": ht.Labeled(y, b)}
    assert isinstance(models["a"].table.support, SortedRows)
    rows = ht.compare(models, ["roc_auc", "brier", "accuracy"], threshold=0.5, n_resamples=0)
    for name in ("brier", "accuracy"):
        each = LOSSES[name](y, a) - LOSSES[name](y, b)
        assert rows[name].value == pytest.approx(each.mean(), abs=1e-11)
        assert rows[name].standard_error == pytest.approx(each.std() / n**0.5, rel=0.01)
    assert rows["roc_auc"].leader == rows["brier"].leader == 0
    assert rows.dominant == "a"


def test_a_prior_that_any_model_refutes_is_named_whatever_the_order():
    rng = np.random.default_rng(3)
    unlabeled = np.append(rng.normal(0, 1, 1900), rng.normal(4, 1, 100))
    sharp = ht.PositiveUnlabeled(rng.normal(4, 1, 300), unlabeled, prior=0.5)
    blunt = ht.PositiveUnlabeled(rng.random(300), rng.random(2000), prior=0.5)
    for models in ({"a": blunt, "b": sharp}, {"b": sharp, "a": blunt}):
        notes = ht.compare(models, ["roc_auc"], n_resamples=0).notes
        assert any("refuted by the data" in note for note in notes)


def test_what_compression_may_have_changed_is_said_where_it_matters():
    model = ht.simulate.GaussianClasses(prior=0.3)
    tables = [model.labeled(400, seed).table.compress(ht.Grid("probability", n_bins=8)) for seed in (1, 2)]
    a, b = (ht.Labeled.from_table(table) for table in tables)
    result = ht.compare({"a": a, "b": b}, ["roc_auc"], paired=False, n_resamples=0)
    bounds = [ht.evaluate(e, ["roc_auc"], n_resamples=0)["roc_auc"].compression for e in (a, b)]
    assert result["roc_auc"].compression == pytest.approx(sum(bounds))
    assert any("roc_auc: joining rows to bins changed it by" in note for note in result.notes)
    assert result.to_dict()["pairs"][0]["metrics"]["roc_auc"]["compression"] == pytest.approx(sum(bounds))


def test_dominance_is_of_the_rows_not_of_joined_ones():
    n = 20_000
    first = (np.random.default_rng(0).random(n) < 0.3).astype(int)  # labels from the highest score down
    second = first.copy()
    low, high = (
        np.flatnonzero(first[2000:4000] == 1)[:50] + 2000,
        np.flatnonzero(first[9000:12_000] == 0)[:50] + 9000,
    )
    second[low], second[high] = 0, 1  # the first is ahead from 2,000 to 12,000,
    models = {"first": ht.Labeled(first, -np.arange(n)), "second": ht.Labeled(second, -np.arange(n))}
    assert ht.compare(models, ["roc_auc"], n_resamples=0).dominant == "first"
    first[15_000:15_010], second[15_000:15_010] = (
        [0, 1] * 5,
        [1, 0] * 5,
    )  # and behind by one case further down
    models = {"first": ht.Labeled(first, -np.arange(n)), "second": ht.Labeled(second, -np.arange(n))}
    result = ht.compare(models, ["roc_auc"], n_resamples=0)
    assert result["roc_auc"].value > 0
    assert result.dominant is None


def test_a_comparison_is_a_data_frame_too():
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.4
    models = {name: ht.Labeled(y, rng.normal(shift * y)) for name, shift in (("a", 1), ("b", 2), ("c", 1))}
    result = ht.compare(models, ["roc_auc", "average_precision"], n_resamples=0)
    frame = result.to_frame()
    assert len(frame) == 6
    row = frame.loc["a", "b", "roc_auc"]
    expected = result["a", "b"]["roc_auc"]
    assert (row["difference"], row["low"], row["high"]) == (expected.value, expected.low, expected.high)
    assert (row["value_of_first"], row["value_of_second"]) == expected.values


def test_flips_are_those_of_the_rows_not_of_joined_ones():
    rng = np.random.default_rng(0)
    positive = rng.normal(1.5, 1, 300)
    unlabeled = np.append(rng.normal(0, 1, 2250), rng.normal(1.5, 1, 750))
    a, b = (tuple(1 / (1 + np.exp(shift - z)) for z in (positive, unlabeled)) for shift in (1.6, 1.0))
    models = {name: ht.PositiveUnlabeled(*x, prior=0.2) for name, x in (("a", a), ("b", b))}
    # The Brier score is ∫s² dU + π ∫(1 − 2s) dP: a line in the prior.
    ends = [(np.mean(u**2), np.mean(1 - 2 * p)) for p, u in (a, b)]
    root = -(ends[0][0] - ends[1][0]) / (ends[0][1] - ends[1][1])
    assert ht.compare(models, ["brier"], n_resamples=0)["brier"].flips == (pytest.approx(root, abs=1e-9),)


def test_a_sample_that_is_refuted_refutes_its_own_pairs_alone():
    model = ht.simulate.GaussianClasses(prior=0.2)
    priors = {"north": 0.2, "south": 0.2, "east": 0.7}
    samples = {
        name: model.positive_unlabeled(150, 1500, rng=k, prior=prior)
        for k, (name, prior) in enumerate(priors.items())
    }
    result = ht.compare(samples, ["roc_auc"], paired=False, n_resamples=50)
    assert {pair: rows["roc_auc"].status for pair, rows in result.pairs.items()} == {
        ("north", "south"): "ok", ("north", "east"): "refuted", ("south", "east"): "refuted",
    }  # fmt: skip
    assert result.status == "refuted"
    assert result["north", "east"]["roc_auc"].reason.startswith("east: The prior is refuted")
    assert [pair["status"] for pair in result.to_dict()["pairs"]] == ["ok", "refuted", "refuted"]
    assert result.dominant is None
