"""What is shown is possible, and whatever is refuted, impossible or not identified says so itself."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import halftruth as ht
from halftruth.results._estimate import Estimate, interval_text, value_text
from halftruth.results._standing import is_possible
from halftruth.simulate import GaussianClasses

MODEL = GaussianClasses(prior=0.3)
UPPER = ht.prior_upper_bound(MODEL.positive_unlabeled(200, 1000, rng=0))


def evaluated(prior: Any, metrics: Any = None, **settings: Any) -> ht.Evaluation:
    evidence = MODEL.positive_unlabeled(200, 1000, rng=0, prior=prior)
    return ht.evaluate(evidence, metrics, n_resamples=100, **settings)


REFUTED = evaluated(0.9)
PARTLY = evaluated((0.1, UPPER + 0.05), ["roc_auc", "brier"])
UNKNOWN = evaluated(None, ["roc_auc", "recall"], threshold=0.5)


# --- Intervals as they are shown ----------------------------------------------------------------------


def row(value: float, low: float, high: float, limits: tuple[float, float] = (0.0, 1.0)) -> Estimate:
    return Estimate(value=value, low=low, high=high, limits=limits)


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (0.8, 1.2, "0.800 to 1.000"),
        (-0.3, 0.4, "0.000 to 0.400"),
        (-1.0, 2.0, "0.000 to 1.000"),
        (1.0 + 1e-12, 1.5, "1.000 to 1.000"),
        (1.01, 1.5, "none possible"),
        (-1.5, -0.01, "none possible"),
        (np.nan, np.nan, "– to –"),
        (np.nan, 1.3, "– to 1.000"),
    ],
)
def test_ends_are_shown_where_they_are_possible(low: float, high: float, shown: str) -> None:
    estimate = row(0.5, low, high)
    assert interval_text(estimate) == shown
    assert shown in repr(estimate)
    np.testing.assert_equal((estimate.low, estimate.high), (low, high))  # as they came


def test_an_impossible_value_is_marked() -> None:
    assert value_text(1.1, (0.0, 1.0)) == "impossible: 1.100"
    assert value_text(-0.1, (0.0, np.inf)) == "impossible: -0.100"
    assert value_text(1.1, (0.0, np.inf)) == "1.100"
    assert value_text(np.nan, (0.0, 1.0)) == "–"


def test_rounding_is_no_alarm() -> None:
    assert is_possible(1.0000000000000002, (-1.0, 1.0))
    assert not is_possible(1.00001, (-1.0, 1.0))
    # 3 positives and 4 negatives, told apart without an error: (3·4) / √(3·3·4·4) in floating point.
    score, truth = np.linspace(0, 1, 700), np.arange(700) >= 400
    result = ht.evaluate(ht.Labeled(truth, score), "mcc", threshold=400 / 699, n_resamples=50)
    beyond = replace(result, rows={"mcc": replace(result["mcc"], value=1.0000000000000002)})
    for perfect in (result, beyond):
        assert (perfect["mcc"].status, perfect["mcc"].notes) == ("ok", ())
        assert "impossible" not in str(perfect)


def test_a_perfect_classifier_whose_mcc_rounds_up_gets_no_note() -> None:
    from halftruth.inference._notes import on_row
    from halftruth.inference._requests import read_requests

    measure = ht.Labeled([0, 1], [0.1, 0.9]).measure()
    (request,) = read_requests(["mcc"], [measure], 0.5)
    for value, notes in ((1.0000000000000002, 0), (1.0001, 1)):
        assert len(on_row(request, measure, row(value, value, value, (-1.0, 1.0)))) == notes


def test_differences_are_shown_within_what_is_possible() -> None:
    models = {name: MODEL.positive_unlabeled(60, 90, rng=k, prior=0.3) for k, name in enumerate("ab")}
    comparison = ht.compare(models, ["roc_auc"], paired=False, n_resamples=50)
    wide = replace(comparison["roc_auc"], low=-1.4, high=0.2, values=(1.2, 0.9))
    (changed,) = replace(comparison, pairs={("a", "b"): {"roc_auc": wide}}).table(("a", "b"))[1:]
    assert changed[1:3] == ("1.000 (raw 1.200)", "0.900")  # by so much noise
    assert changed[4] == "-1.000 to 0.200"
    sure = replace(comparison["roc_auc"], low=0.2, high=0.4, values=(1.2, 0.9))
    (changed,) = replace(comparison, pairs={("a", "b"): {"roc_auc": sure}}).table(("a", "b"))[1:]
    assert changed[1:3] == ("impossible: 1.200", "0.900")


# --- Refuted, in part, not identified -----------------------------------------------------------------


def test_a_refuted_evaluation_says_so_first_and_everywhere() -> None:
    assert (REFUTED.status, REFUTED.refuted) == ("refuted", True)
    assert REFUTED.reason.startswith("The prior is refuted by the data: it puts α = 0.9")
    assert str(REFUTED).splitlines()[0] == f"REFUTED: {REFUTED.reason}"
    assert str(REFUTED).count(REFUTED.reason) == 1
    assert "roc_auc            0.784   impossible: 3.341   none possible" in str(REFUTED)
    told = json.loads(json.dumps(REFUTED.to_dict()))
    assert (told["status"], told["reason"], told["refuted"]) == ("refuted", REFUTED.reason, True)
    assert (told["metrics"]["brier"]["status"], told["metrics"]["brier"]["reason"]) == (
        "refuted",
        REFUTED.reason,
    )
    assert told["metrics"]["roc_auc"]["high"] == REFUTED["roc_auc"].high > 1  # programs read what came out
    assert repr(REFUTED["calibration_error"]).endswith(f", REFUTED: {REFUTED.reason})")
    assert set(REFUTED.to_frame()["status"]) == {"refuted"}


def test_a_good_evaluation_says_nothing_of_it() -> None:
    good = evaluated(0.3)
    assert (good.status, good.reason, good.to_dict()["reason"]) == ("ok", "", None)
    assert {row.status for row in good.values()} == {"ok"}
    assert str(good).startswith("PositiveUnlabeled(")


def test_without_a_prior_what_needs_one_is_not_identified() -> None:
    assert UNKNOWN.status == "not identified"
    assert str(UNKNOWN).startswith("NOT IDENTIFIED: No prior was given: ")
    assert (UNKNOWN["roc_auc"].status, UNKNOWN["recall"].status) == ("not identified", "ok")
    assert evaluated(None, "recall", threshold=0.5).status == "ok"  # all that was asked for is known


def test_a_row_of_its_own_kind() -> None:
    few = ht.evaluate(ht.PositiveUnlabeled([0.9, 0.8, 0.7], [0.1, 0.2, 0.3, 0.9], prior=0.6), n_resamples=0)
    assert few["roc_auc"].value > 1
    assert (few.status, few["roc_auc"].status) == ("ok", "ok")
    assert repr(few["roc_auc"]).startswith(f"Estimate(1.000 (raw {float(few['roc_auc']):.3f}), ")
    assert few["roc_auc"].shown[0] == few["roc_auc"].shown[2] == 1
    # Where nothing of the interval is possible, it is no noise.
    known = ht.PositiveUnlabeled([0.9, 0.8, 0.7] * 30, [0.1, 0.2, 0.3, 0.9] * 30, prior=0.6)
    many = ht.evaluate(known, "roc_auc", n_resamples=0, confidence_level=0.5)
    assert many["roc_auc"].low > 1
    assert dataclasses.replace(many, notes=())["roc_auc"].status == "impossible"
    nothing = ht.evaluate(ht.Labeled([1, 0], [0.2, 0.3]), "precision", threshold=0.5, n_resamples=0)
    assert (nothing.status, nothing["precision"].status) == ("ok", "undefined")


def test_part_of_a_range() -> None:
    assert (PARTLY.status, PARTLY.refuted) == ("partly refuted", False)
    assert str(PARTLY).startswith("PARTLY REFUTED: The upper part of the prior's range is refuted")
    assert PARTLY.unrefuted is not None
    kept = len(PARTLY.unrefuted)
    grid = np.linspace(0.1, UPPER + 0.05, 9)
    assert grid[kept - 2] <= UPPER < grid[kept - 1]  # up to the first beyond the bound
    row = PARTLY["brier"]
    fewer = row.over(PARTLY.unrefuted)
    assert row.centers is not None
    assert fewer.centers is not None
    np.testing.assert_array_equal(fewer.centers, row.centers[:kept])
    alone = evaluated((0.1, float(grid[kept - 1])), "brier")["brier"]
    assert row.low <= fewer.low
    assert fewer.high <= row.high
    assert (fewer.low, fewer.high) == pytest.approx((alone.low, alone.high), abs=0.01)
    assert row.over(None) is row


def test_an_estimate_beyond_the_bound_is_refuted() -> None:
    beyond = {"value": UPPER + 0.05, "low": UPPER - 0.1, "replicates": [UPPER - 0.1, UPPER + 0.2]}
    assert evaluated(ht.PriorEstimate(**beyond), "roc_auc").status == "refuted"
    within = {"value": UPPER - 0.05, "replicates": [UPPER - 0.1, UPPER + 0.2]}
    assert evaluated(ht.PriorEstimate(**within), "roc_auc").status == "ok"


def test_an_estimate_that_says_its_assumption_fails_is_refuted() -> None:
    known, unlabeled = np.r_[np.zeros(50), 1.0], np.r_[np.ones(200), 0.0]
    estimate = ht.estimate_prior(known, unlabeled, method="bbe", n_resamples=5)
    assert "assumption fails here" in next(note for note in estimate.notes if note.kind == "refuted")
    sample = ht.estimate_prior(known, unlabeled, labeled_sample=(48, 50), method="sample", n_resamples=5)
    assert "contradicts the scores" in next(note for note in sample.notes if note.kind == "refuted")


def test_an_estimate_from_positives_and_unlabeled_alone_is_not_identified() -> None:
    """N(1.5, 1) among N(0, 2), α = .3: the interval of what it assumes held that in no draw."""
    rng = np.random.default_rng(5)
    known, unlabeled = rng.normal(1.5, 1, 500), np.append(rng.normal(1.5, 1, 1200), rng.normal(0, 2, 2800))
    result = ht.evaluate(
        ht.PositiveUnlabeled(known, unlabeled, prior="estimate"),
        ["prevalence", "roc_auc", "recall"],
        threshold=1.0,
        n_resamples=50,
    )
    assert (result.status, result.refuted) == ("not identified", False)
    assert "rest on this: the known positives are a random sample of the positives" in result.reason
    assert str(result).startswith(f"NOT IDENTIFIED: {result.reason}\n")
    told = result.to_dict()
    assert (told["status"], told["reason"]) == ("not identified", result.reason)
    assert {name: row.status for name, row in result.items()} == {
        "prevalence": "not identified",
        "roc_auc": "not identified",
        "recall": "ok",  # it has a value without a prior
    }
    assert repr(result["roc_auc"]).endswith(f", NOT IDENTIFIED: {result.reason})")
    assert result.prior.status == result.alpha.status == "not identified"  # type: ignore[union-attr]


def test_known_positives_that_do_not_mix_with_negatives_to_the_unlabeled_are_refuted() -> None:
    """Known positives N(.5, 1) where the true ones are N(1.5, 1): AUC comes out at .62 for .86."""
    rng = np.random.default_rng(0)
    unlabeled = np.append(rng.normal(1.5, 1, 900), rng.normal(0, 1, 2100))
    negative = rng.normal(0, 1, 300)

    def of(known: Any, negative: Any, **options: Any) -> ht.Evaluation:
        evidence = ht.PositiveUnlabeled(known, unlabeled, negative=negative, **options)
        return ht.evaluate(evidence, "roc_auc", n_resamples=0)

    hard, fair = rng.normal(0.5, 1, 300), rng.normal(1.5, 1, 300)
    for options in ({}, {"prior": 0.3}, {"propensity": np.full(300, 0.5)}, {"purity": 0.9}):
        assert of(hard, negative, **options).status == "refuted"
        assert of(fair, negative, **options).status == "ok"
    assert of(hard, negative).reason.startswith("SCAR or the random choice of the known negatives is refuted")
    assert of(fair, np.sort(negative)[:200]).status == "refuted"  # the easier two thirds
    few = of(hard[:40], negative[:40])
    assert few.status == "ok"
    assert few.notes[0].endswith("a random sample of the negatives. These rows are too few to check it.")
    assert "too few to check" not in of(fair, negative).notes[0]


def test_a_range_beside_what_the_evidence_identifies_is_refuted_in_part() -> None:
    evidence = MODEL.positive_unlabeled(300, 2000, n_negative=300, rng=0, prior=(0.05, 0.32))
    assert ht.evaluate(evidence, "roc_auc", n_resamples=0).status == "partly refuted"


def test_a_comparison_says_it_too() -> None:
    models = {name: MODEL.positive_unlabeled(200, 1000, rng=k, prior=0.9) for k, name in enumerate("ab")}
    comparison = ht.compare(models, ["roc_auc"], paired=False, n_resamples=50)
    assert (comparison.status, comparison.to_dict()["refuted"]) == ("refuted", True)
    assert str(comparison).startswith("REFUTED: ")
    assert comparison.to_dict()["reason"] == comparison.reason
    assert comparison["roc_auc"].status == "refuted"
    assert set(comparison.to_frame()["status"]) == {"refuted"}
