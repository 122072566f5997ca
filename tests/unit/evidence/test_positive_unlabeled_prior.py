"""prior="estimate" and purity="estimate": evidence that estimates its own shares, and evaluate with them."""

from __future__ import annotations

import numpy as np
import pytest

import halftruth as ht
from halftruth.prior.estimators import _auto as auto
from halftruth.simulate import GaussianClasses

MODEL = GaussianClasses(prior=0.3, separation=3.0)
STRATA = MODEL.draw_strata(300, 1200, rng=2, n_negative=200)
P, U, N = (getattr(STRATA, name).score for name in ("positive", "unlabeled", "negative"))
NOISY = GaussianClasses(prior=0.2, separation=5.0).draw_strata(600, 2000, rng=1, purity=0.8)
METRICS = ["prevalence", "roc_auc"]


@pytest.fixture(autouse=True)
def _fewer_draws(monkeypatch):
    monkeypatch.setattr(auto, "N_DRAWS", 400)


def labels(n_negative=0):
    """One table: 1, nothing and 0."""
    y = np.repeat([1.0, np.nan, 0.0], [len(P), len(U), n_negative])
    return y, np.concatenate([P, U, N[:n_negative]])


def table(n_negative=0):
    return ht.PositiveUnlabeled.from_labels(*labels(n_negative)).table


def assert_same(belief, estimate):
    assert (belief.value, belief.low, belief.high) == (estimate.value, estimate.low, estimate.high)
    np.testing.assert_array_equal(belief.replicates, estimate.replicates)


def evaluate(evidence, **options):
    return ht.evaluate(evidence, METRICS, n_resamples=400, **options)


# --- evidence -----------------------------------------------------------------------------------------


def test_the_word_means_the_estimate_of_these_rows():
    expected = ht.estimate_prior(P, U)
    for evidence in (
        ht.PositiveUnlabeled(P, U, prior="estimate"),
        ht.PositiveUnlabeled(P, U, prior="estimate", population="all"),
        ht.PositiveUnlabeled.from_labels(*labels(), prior="estimate"),
        ht.PositiveUnlabeled.from_table(table(), prior="estimate", population="unlabeled"),
    ):
        assert_same(evidence.prior, expected)
        assert evidence.prior.population == "unlabeled"
        assert evidence.prior.estimate.method == "auto"
        assert evidence.purity.value == 1


def test_weights_and_a_known_purity_are_read():
    weight = np.linspace(0.5, 2, len(U))
    options = {"unlabeled_weight": weight, "purity": 0.9}
    evidence = ht.PositiveUnlabeled(P, U, prior="estimate", **options)
    assert_same(evidence.prior, ht.estimate_prior(P, U, **options))
    assert evidence.purity.value == 0.9


def test_known_negatives_are_used():
    evidence = ht.PositiveUnlabeled(P, U, negative=N, prior="estimate")
    assert_same(evidence.prior, ht.estimate_prior(P, U, negative=N))
    assert evidence.prior.estimate.method == "mixture"
    assert ht.PositiveUnlabeled.from_labels(*labels(50), prior="estimate").prior.estimate.method == "mixture"


def test_a_histogram_can_be_estimated_too():
    binned = ht.PositiveUnlabeled.from_table(table().compress(), prior="estimate")
    exact = ht.PositiveUnlabeled.from_table(table(), prior="estimate")
    assert binned.prior.value == pytest.approx(exact.prior.value, abs=0.02)


def test_prior_and_purity_are_estimated_together():
    p, u = NOISY.positive.score, NOISY.unlabeled.score
    evidence = ht.PositiveUnlabeled(p, u, prior="estimate", purity="estimate")
    both = ht.estimate_prior_and_purity(p, u)
    assert_same(evidence.prior, both.prior)
    assert_same(evidence.purity, both.purity)
    result = evaluate(evidence)
    assert result["prevalence"].low < 0.2 < result["prevalence"].high
    truth = GaussianClasses(prior=0.2, separation=5.0).truth("roc_auc")
    assert result["roc_auc"].value == pytest.approx(truth, abs=0.02)
    assert abs(result["roc_auc"].value - truth) < abs(result["roc_auc"].naive - truth)


@pytest.mark.parametrize("prior", [None, 0.3, (0.2, 0.4)])
def test_a_purity_is_not_estimated_alone(prior):
    with pytest.raises(
        ht.InputError,
        match=r'purity="estimate" goes with prior="estimate": scores say something of both together\. '
        r"Pass both, or a number for the purity\.",
    ):
        ht.PositiveUnlabeled(P, U, prior=prior, purity="estimate")


@pytest.mark.parametrize("name", ["prior", "purity"])
def test_another_word_is_not_understood(name):
    with pytest.raises(
        ht.InputError,
        match=rf"`{name}`='estimat' is not understood here\. Pass a number, a pair \(low, high\) or a "
        r"PriorEstimate, .*; PositiveUnlabeled also takes 'estimate'\.",
    ):
        ht.PositiveUnlabeled(P, U, **({"prior": "estimate"} | {name: "estimat"}))


def test_a_purity_of_none_is_refused_with_an_estimated_prior_too():
    with pytest.raises(
        ht.InputError, match=r"`purity` must be a number in \(0, 1\], a pair or an estimate, got None"
    ):
        ht.PositiveUnlabeled(P, U, prior="estimate", purity=None)


def test_other_evidence_does_not_take_the_word():
    with pytest.raises(ht.InputError, match=r"`prior`='estimate' is not understood here"):
        ht.PositiveConfidence([0.5, 0.9], [0.5, 0.9], prior="estimate")


@pytest.mark.parametrize(
    ("positive", "unlabeled"),
    [([1.0], [0.0]), ([1.0], [1.0]), (np.ones(20), np.ones(50)), (P[:50], P[:50]), (P + 100, U)],
)
@pytest.mark.parametrize("purity", [1.0, 0.7, "estimate"])
def test_hard_data_make_evidence(positive, unlabeled, purity):
    evidence = ht.PositiveUnlabeled(positive, unlabeled, prior="estimate", purity=purity)
    assert 0 < evidence.prior.value < evidence.purity.value <= 1


# --- evaluate -----------------------------------------------------------------------------------------


def test_the_interval_of_the_prevalence_is_that_of_the_estimate():
    evidence = ht.PositiveUnlabeled(P, U, prior="estimate")
    made = ht.estimate_prior(P, U)
    row = evaluate(evidence)["prevalence"]
    assert row.value == pytest.approx(made.value)
    assert (row.low, row.high) == pytest.approx((made.low, made.high), abs=0.2 * (made.high - made.low))


def test_the_error_of_the_estimate_widens_every_interval():
    estimated, number = (
        evaluate(ht.PositiveUnlabeled(P, U, prior=prior))["roc_auc"]
        for prior in ("estimate", ht.estimate_prior(P, U).value)
    )
    assert estimated.value == pytest.approx(number.value)
    assert estimated.high - estimated.low > 1.1 * (number.high - number.low)


def test_notes_name_the_method_its_assumption_and_what_is_not_refuted():
    made = ht.estimate_prior(P, U)
    result = evaluate(ht.PositiveUnlabeled(P, U, prior="estimate"))
    at = result.notes.index(
        f"The prior was estimated (auto): α = {made.value:.4g}, if what it assumes holds, {made.low:.4g} to "
        f"{made.high:.4g}."
    )
    assert result.notes[at + 1 :][: len(made.notes)] == made.notes
    assert (result.status, result.reason) == ("not identified", made.notes[0]) == (made.status, made.reason)
    number = evaluate(ht.PositiveUnlabeled(P, U, prior=made.value))
    assert (number.status, number.prior.value) == ("ok", result.prior.value)


def test_an_estimate_of_exactly_zero_leaves_no_class_empty():
    evidence = ht.PositiveUnlabeled([2.0, 3.0], [0.0, 0.1, 0.2, 0.3], negative=[0.0, 0.2], prior="estimate")
    assert evidence.prior.value == pytest.approx(0.5 / 4)
    assert any("half a row away" in note for note in evaluate(evidence).notes)


def test_notes_of_the_estimator_are_passed_on():
    evidence = ht.PositiveUnlabeled(-P, -U, prior="estimate")
    assert any("higher scores mean more positive" in note for note in evaluate(evidence).notes)


def test_notes_name_both_shares_where_both_are_estimated():
    p, u = NOISY.positive.score, NOISY.unlabeled.score
    notes = evaluate(ht.PositiveUnlabeled(p, u, prior="estimate", purity="estimate")).notes
    assert any(note.startswith("The prior was estimated (auto): α = ") for note in notes)
    assert any(note.startswith("The purity was estimated (auto): ρ = ") for note in notes)


def test_a_prior_that_was_given_is_not_called_estimated():
    given = ht.PriorEstimate(value=0.3, replicates=[0.28, 0.3, 0.32])
    for prior in (0.3, given):
        assert not any(
            "estimated" in note for note in evaluate(ht.PositiveUnlabeled(P, U, prior=prior)).notes
        )


def test_over_all_rows_the_estimate_is_converted():
    made = ht.estimate_prior(P, U)
    result = evaluate(ht.PositiveUnlabeled.from_labels(*labels(), prior="estimate"))
    n_p, n_u = len(P), len(U)
    expected = (n_p + np.asarray([made.value, made.low, made.high]) * n_u) / (n_p + n_u)
    row = result["prevalence"]
    assert row.value == pytest.approx(expected[0])
    assert (row.low, row.high) == pytest.approx(tuple(expected[1:]), abs=0.3 * (expected[2] - expected[1]))
    assert any("converted to this population by π n = ρ n_P + α n_U" in note for note in result.notes)


def test_an_estimate_of_all_rows_is_not_converted_again():
    evidence = ht.PositiveUnlabeled.from_labels(*labels())
    pi = ht.estimate_prior(evidence)
    again = ht.PositiveUnlabeled.from_labels(*labels(), prior=pi)
    word = ht.PositiveUnlabeled.from_labels(*labels(), prior="estimate")
    assert ht.prevalence(again) == pytest.approx(pi.value)
    assert ht.roc_auc(again) == pytest.approx(ht.roc_auc(word))


def test_evaluate_with_negatives():
    result = evaluate(ht.PositiveUnlabeled(P, U, negative=N, prior="estimate"))
    assert result["prevalence"].low < 0.3 < result["prevalence"].high
    assert any("estimated (mixture)" in note for note in result.notes)
    assert not any("refuted" in note for note in result.notes)


def test_without_resamples_the_error_of_the_estimate_counts_too():
    evidence = ht.PositiveUnlabeled(P, U, prior="estimate")
    resampled, closed = (ht.evaluate(evidence, ["prevalence"], n_resamples=n)["prevalence"] for n in (400, 0))
    assert closed.high - closed.low == pytest.approx(resampled.high - resampled.low, rel=0.4)


def test_one_number_of_an_evidence_that_estimates_its_prior():
    evidence = ht.PositiveUnlabeled(P, U, prior="estimate")
    fixed = ht.PositiveUnlabeled(P, U, prior=ht.estimate_prior(P, U).value)
    assert ht.roc_auc(evidence) == pytest.approx(ht.roc_auc(fixed))
    assert ht.roc_auc(evidence) == pytest.approx(MODEL.truth("roc_auc"), abs=0.04)
    assert ht.average_precision(evidence) == pytest.approx(ht.average_precision(fixed))


@pytest.mark.parametrize("prior", [0.1, 0.2, 0.3, 0.5, 0.7])
def test_one_of_two_impure_positives_that_adds_all_of_them_is_not_left_out(prior):
    # At purity (1 + π)/2 one of two adds exactly π: without it only rounding was left, and AP was −2e15.
    areas = [
        ht.average_precision(
            ht.PositiveUnlabeled(
                [0.9, 0.2], [0.1, 0.2, 0.5, 0.85], prior=prior, purity=(1 + prior) / 2,
                positive_weight=np.full(2, weight), unlabeled_weight=np.full(4, weight),
            )
        )
        for weight in (1.0, 0.9, 0.7, 0.3, 0.1)
    ]  # fmt: skip
    np.testing.assert_allclose(areas, areas[0], rtol=1e-9)
    assert abs(areas[0]) < 100
