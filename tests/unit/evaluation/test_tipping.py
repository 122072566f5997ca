"""Tipping points: the Γ at which a claim, or an order of two models, no longer stands."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import halftruth as ht


@pytest.fixture(scope="module")
def evidence() -> ht.PositiveUnlabeled:
    rng = np.random.default_rng(0)
    unlabeled = np.append(rng.normal(0, 1, 1700), rng.normal(1.5, 1, 300))
    return ht.PositiveUnlabeled(rng.normal(1.5, 1, 200), unlabeled, prior=0.15)


@pytest.fixture(scope="module")
def result(evidence: ht.PositiveUnlabeled) -> ht.Evaluation:
    return ht.evaluate(evidence, ["roc_auc", "recall", "fpr", "prevalence"], threshold=1.0, n_resamples=200)


@pytest.mark.parametrize(
    ("name", "limit", "side"), [("roc_auc", 0.8, "low"), ("recall", 0.4, "low"), ("fpr", 0.2, "high")]
)
def test_just_below_it_the_claim_stands_and_just_above_it_does_not(evidence, result, name, limit, side):
    gamma = result.tipping(name, limit)
    assert 1 < gamma < 3
    ends = [
        getattr(ht.evaluate(evidence.with_selection(x), [name], threshold=1.0, n_resamples=200)[name], side)
        for x in (gamma * 0.999, gamma * 1.001)
    ]
    kept = [end >= limit if side == "low" else end <= limit for end in ends]
    assert kept == [True, False]


def test_of_a_rate_without_sampling_error_it_is_a_closed_form(evidence, result):
    """The least recall is max(R/Γ, 1 − Γ(1−R)): below r where both R/r and (1−r)/(1−R) are below Γ."""
    recall = result["recall"].value
    for limit in (0.3, 0.45, 0.6):
        expected = max(recall / limit, (1 - limit) / (1 - recall))
        assert result.tipping("recall", limit, sampling=False) == pytest.approx(expected, rel=2e-4)


def test_what_never_stood_and_what_always_stands(result):
    assert result.tipping("roc_auc", 0.99) == 1.0
    assert result.tipping("recall", 0.0) == float("inf")
    assert result.tipping("roc_auc", 0.95, claim="<=") > 1.0


def test_a_direction_that_was_granted_is_kept(evidence):
    falling = ht.evaluate(evidence.with_selection(("falling", 1.2)), ["roc_auc"], n_resamples=200)
    assert falling.tipping("roc_auc", 0.8) == float("inf")  # the others score higher still


def test_claims_on_what_is_not_there_are_refused(result):
    with pytest.raises(KeyError, match="brier"):
        result.tipping("brier", 0.2)
    with pytest.raises(ht.InputError, match="claim"):
        result.tipping("prevalence", 0.1)
    with pytest.raises(ht.InputError, match="limit"):
        result.tipping("roc_auc", float("nan"))
    labels = ht.evaluate(ht.Labeled([0, 1, 0, 1], [0.1, 0.9, 0.4, 0.6]), ["roc_auc"], n_resamples=50)
    with pytest.raises(ht.InputError, match="full labels"):
        labels.tipping("roc_auc", 0.5)
    stored = pickle.loads(pickle.dumps(result))
    with pytest.raises(ht.InputError, match="no longer holds"):
        stored.tipping("roc_auc", 0.8)


def _models(gamma: object = 1.0) -> dict[str, ht.PositiveUnlabeled]:
    rng = np.random.default_rng(0)

    def scores(y: np.ndarray) -> np.ndarray:
        shared = rng.normal(size=len(y))
        return np.stack([shared + 0.6 * rng.normal(size=len(y)) + shift * y for shift in (1.6, 1.1)])

    known, rest = scores(np.ones(300)), scores(rng.random(3000) < 0.2)
    return {
        name: ht.PositiveUnlabeled(p, u, prior=0.2, selection=gamma)
        for name, p, u in zip(("good", "poor"), known, rest, strict=True)
    }


def test_the_order_of_two_models_tips():
    how = {"metrics": ["roc_auc", "average_precision"], "n_resamples": 200}
    comparison = ht.compare(_models(), **how)
    gamma = comparison.tipping()
    assert gamma == comparison.tipping("roc_auc", ("good", "poor"))
    assert 1.3 < gamma < comparison.tipping(sampling=False)
    below, above = (ht.compare(_models(gamma * x), **how)["roc_auc"].low for x in (0.999, 1.001))
    assert above < 0 <= below
    # What is not linear has outer bounds, which tip sooner.
    assert 1 <= comparison.tipping("average_precision") < gamma
    with pytest.raises(ht.InputError, match="metric"):
        comparison.tipping("brier")


def test_one_selection_for_both_bounds_a_difference_far_better_than_one_for_each():
    paired = ht.compare(_models(1.5), ["roc_auc"], n_resamples=100)["roc_auc"]
    apart = ht.compare(_models(1.5), ["roc_auc"], n_resamples=100, paired=False)["roc_auc"]
    assert paired.high - paired.low < 0.6 * (apart.high - apart.low)
    low, high = (
        ht.evaluate(e, ["roc_auc"], n_resamples=0)["roc_auc"].selection_range for e in _models(1.5).values()
    )
    assert apart.selection_range == pytest.approx((low[0] - high[1], low[1] - high[0]), abs=1e-9)


def test_the_same_cases_have_one_selection():
    models = _models()
    models["poor"] = models["poor"].with_selection(1.5)
    with pytest.raises(ht.InputError, match="selection"):
        ht.compare(models, ["roc_auc"], n_resamples=0)


@pytest.mark.parametrize(
    "how",
    [{}, {"n_resamples": 0}, {"method": "basic"}, {"threshold": "max f1"}],
    ids=["default", "closed form", "basic", "chosen threshold"],
)
def test_what_the_interval_does_not_hold_never_stood(evidence, how):
    """It is found as the interval was made: just above its low end nothing stood, just below it did."""
    result = ht.evaluate(
        evidence, ["average_precision", "precision"], **{"threshold": 1.0, "n_resamples": 100} | how
    )
    for name, row in result.items():
        assert result.tipping(name, row.low + 1e-6) == 1.0
        assert result.tipping(name, row.low - 0.02) > 1.0


def test_either_order_of_a_pair_is_understood():
    comparison = ht.compare(_models(), ["roc_auc"], n_resamples=100)
    assert comparison.tipping(pair=("poor", "good")) == comparison.tipping(pair=("good", "poor"))


def test_a_comparison_says_what_its_first_difference_hangs_on():
    (note,) = (n for n in ht.compare(_models(), ["roc_auc"], n_resamples=0).notes if n.kind == "selection")
    low, high = ht.compare(_models(1.5), ["roc_auc"], n_resamples=0)["roc_auc"].selection_range
    assert f"would be {low:.3f} to {high:.3f}" in note


def test_selection_that_the_purity_does_not_bear_ends_the_search():
    rng = np.random.default_rng(0)
    positive = np.append(rng.normal(1.5, 1, 320), rng.normal(0, 1, 80))
    unlabeled = np.append(rng.normal(1.5, 1, 2500), rng.normal(0, 1, 2500))
    evidence = ht.PositiveUnlabeled(positive, unlabeled, prior=0.5, purity=0.8)
    result = ht.evaluate(evidence, ["roc_auc"], n_resamples=0)
    assert 1 < result.tipping("roc_auc", 0.1) <= 4.01  # ρ(1−α)/((1−ρ)α) = 4
