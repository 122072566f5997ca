"""The words of a report say what its numbers say."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import halftruth as ht
from halftruth.evaluation._page_data import subjects_of
from halftruth.report._page_record import PageData, Step
from halftruth.report._summary_text import FOUND_BY_SCORE, advice, answer, refuted, remarks

SIMULATED = ht.simulate.GaussianClasses(prior=0.3)
PU = SIMULATED.positive_unlabeled(300, 3000, rng=1)


def evaluated(evidence, metrics=None, **settings):
    return ht.evaluate(evidence, metrics, **({"n_resamples": 0} | settings))


def told(results, comparison=None, by=""):
    """What sentences are made of."""
    return PageData(results=results, subjects=subjects_of(results), comparison=comparison, by=by)


def test_the_answer_names_both_numbers():
    result = evaluated(PU)
    row = result["roc_auc"]
    assert answer(told({"": result})) == (
        f"ROC AUC is {row.value:.3f} ({row.low:.3f} to {row.high:.3f}), not {row.naive:.3f} as it looks with "
        f"unlabeled cases counted as negatives."
    )


def test_at_a_threshold_the_answer_says_what_is_flagged():
    result = evaluated(PU, threshold=0.5)
    ends = {
        k: [f"{100 * x:.3g}%" for x in (row.value, row.low, row.high, row.naive)] for k, row in result.items()
    }
    (p, p_low, p_high, p_was), (r, r_low, r_high, r_was) = ends["precision"], ends["recall"]
    flagged = f"{p} ({p_low} to {p_high}) of the flagged cases are positive, not {p_was}"
    found = f"{r} ({r_low} to {r_high}) of the positives are flagged" + (
        f", not {r_was}" if r != r_was else ""
    )
    assert answer(told({"": result})).endswith(f" At the threshold 0.5, {flagged}, and {found}.")


def test_every_rate_that_was_asked_for_is_told_once():
    result = evaluated(PU, ["roc_auc", "f1", "fpr"], threshold=0.5)
    f1, fpr = result["f1"], result["fpr"]
    said = answer(told({"": result}))
    assert (
        f" F1 {f1.value:.3f} ({f1.low:.3f} to {f1.high:.3f}), not {f1.naive:.3f}, and False-positive" in said
    )
    assert said.endswith(f"({fpr.low:.3f} to {fpr.high:.3f}), not {fpr.naive:.3f}.")
    alone = answer(told({"": evaluated(PU, ["recall"], threshold=0.5)}))
    assert alone.startswith("Recall is ")
    assert "At the threshold" not in alone


def test_with_labels_there_is_no_other_number():
    said = answer(told({"": evaluated(ht.Labeled([1, 0, 1, 0, 1], [0.9, 0.2, 0.6, 0.7, 0.4]))}))
    assert said.startswith("ROC AUC is 0.667 (")
    assert "not" not in said


def test_without_a_prior_the_answer_is_a_range():
    result = evaluated(ht.PositiveUnlabeled.from_table(PU.table, population="unlabeled"))
    said = answer(told({"": result}))
    row = result["roc_auc"]
    assert said.startswith(f"NOT IDENTIFIED: ROC AUC lies between {row.low:.3f} and {row.high:.3f}")
    assert f"would show {row.naive:.3f}" in said


def test_a_range_that_is_refuted_in_part_is_said_first():
    upper = ht.prior_upper_bound(PU)
    evidence = ht.PositiveUnlabeled.from_table(PU.table, prior=(0.1, upper + 0.05), population="unlabeled")
    page = told({"": evaluated(evidence, ["roc_auc"])})
    assert answer(page).startswith("PARTLY REFUTED: ROC AUC is ")
    assert answer(page).endswith(" The first note says which priors are refuted.")
    assert refuted(page)[0].startswith("The upper part of the prior's range is refuted")
    assert refuted(page)[0] not in remarks(page)


def test_nothing_impossible_is_told_as_a_share():
    few = ht.PositiveUnlabeled([0.9, 0.8, 0.7], [0.1, 0.2, 0.3, 0.9], prior=0.6)
    result = ht.evaluate(few, ["roc_auc", "precision", "recall"], threshold=0.8, n_resamples=0)
    assert result["precision"].value > 1
    # By noise; beyond it, nothing is told.
    assert " At the threshold 0.8, 100% (" in answer(told({"": result}))
    beyond = dataclasses.replace(result["precision"], low=1.1, high=1.4)
    rows = dict(result.rows) | {"precision": beyond}
    assert "%" not in answer(told({"": dataclasses.replace(result, rows=rows)}))
    rounded = dataclasses.replace(result["precision"], value=1 + 1e-15, low=0.5, high=1.2)
    assert answer(told({"": dataclasses.replace(result, rows={"precision": rounded})})).startswith(
        "Precision is 1.000 (0.500 to 1.000)"
    )


def test_a_refuted_prior_is_said_at_once_and_first():
    result = evaluated(ht.PositiveUnlabeled.from_table(PU.table, prior=0.9, population="unlabeled"))
    assert answer(told({"": result})) == f"REFUTED: do not rely on these numbers. {result.reason}"
    assert answer(told({"a": result, "b": result})).startswith(
        "REFUTED: do not rely on these numbers. The prior"
    )
    of_two = answer(told({"a": evaluated(PU), "b": result, "c": evaluated(PU)}, by="month"))
    assert of_two.startswith("REFUTED in b: do not rely on the numbers there. Over 2 groups of month ROC AUC")
    one_left = answer(told({"a": evaluated(PU), "b": result}))
    assert one_left.startswith(
        "REFUTED in b: do not rely on the numbers there. b: The prior is refuted by the"
    )
    many = told(dict.fromkeys("abcde", result) | {"good": evaluated(PU)})
    assert answer(many).startswith("REFUTED in a, b, c and 2 more: ")
    assert refuted(told({"a": evaluated(PU), "b": result}))[0].startswith("b: The prior is refuted")
    (note,) = refuted(told({"": result}))
    assert "refuted by the data" in note
    assert note not in remarks(told({"": result}))


@pytest.mark.parametrize(
    ("prior", "said"),
    [
        (0.3, "The share of positives, π = 0.3, was given and is taken as exact."),
        ((0.2, 0.4), "The share of positives was given as a range, 0.2 to 0.4:"),
        (None, "No prior was given:"),
        ("estimate", "The prior was estimated"),
    ],
)
def test_the_source_of_the_prior(prior, said):
    evidence = ht.PositiveUnlabeled.from_table(PU.table, prior=prior, population="unlabeled")
    notes = remarks(told({"": evaluated(evidence, ["roc_auc"])}))
    assert any(note.startswith(said) for note in notes)
    assert notes[0].startswith("Assumes that the known positives are a random sample")
    assert notes[1] == FOUND_BY_SCORE
    assert "3,000 unlabeled cases" in notes[2]


def test_the_population_may_be_the_whole_table():
    evidence = ht.PositiveUnlabeled.from_table(PU.table, prior=0.3, population="all")
    assert any("its 3,300 rows" in note for note in remarks(told({"": evaluated(evidence)})))


def test_groups_are_told_from_the_worst_to_the_best():
    results = {
        name: evaluated(SIMULATED.positive_unlabeled(300, 3000, rng=rng), ["roc_auc"])
        for name, rng in (("x", 1), ("y", 2), ("z", 3))
    }
    values = {name: result["roc_auc"].value for name, result in results.items()}
    worst, best = min(values, key=values.get), max(values, key=values.get)
    said = answer(told(results, by="day"))
    assert said.startswith(f"Over 3 groups of day ROC AUC runs from {values[worst]:.3f} (")
    assert f" in {worst} to {values[best]:.3f} (" in said
    assert said.endswith(f" in {best}.")


def test_a_comparison_names_the_better_model_only_beyond_noise():
    rng = np.random.default_rng(0)
    y = rng.random(2000) < 0.3
    good, poor, same = (ht.Labeled(y, rng.normal(shift * y)) for shift in (2, 1, 1))
    clear = ht.compare({"poor": poor, "good": good}, ["roc_auc"], n_resamples=0)
    row = clear["roc_auc"]
    assert row.high < 0  # first minus second
    assert answer(told({}, clear)) == (
        f"By ROC AUC good is better than poor: good has {row.values[1]:.3f}, poor {row.values[0]:.3f}, "
        f"difference {-row.value:.3f} ({-row.high:.3f} to {-row.low:.3f})."
    )
    close = ht.compare({"poor": poor, "same": same}, ["roc_auc"], n_resamples=0)
    assert close["roc_auc"].leader is None
    assert answer(told({}, close)).startswith("By ROC AUC none is better beyond noise: poor has")


def test_a_note_about_some_groups_names_them():
    one = evaluated(PU, ["roc_auc"])
    other = evaluated(
        ht.PositiveUnlabeled.from_table(PU.table, prior=0.2, population="unlabeled"), ["roc_auc"]
    )
    notes = remarks(told({"a": one, "b": other}))
    assert any(note.startswith("a: The share of positives, π = 0.3") for note in notes)
    assert any(note.startswith("b: The share of positives, π = 0.2") for note in notes)
    assert any(note.startswith("Assumes that") for note in notes)


def test_of_several_models_the_answer_is_their_order():
    rng = np.random.default_rng(1)
    y = rng.random(2000) < 0.3
    models = {name: ht.Labeled(y, rng.normal(shift * y)) for name, shift in (("b", 1), ("a", 2), ("c", 0.2))}
    found = ht.compare(models, ["roc_auc"], n_resamples=0)
    values = {name: ht.roc_auc(model) for name, model in models.items()}
    assert answer(told({}, found)) == (
        f"By ROC AUC the order is a {values['a']:.3f}, b {values['b']:.3f}, c {values['c']:.3f}; a is first, "
        f"beyond noise."
    )
    alike = ht.compare(models | {"d": models["a"]}, ["roc_auc"], n_resamples=0)
    assert answer(told({}, alike)).endswith("is first, but not beyond noise.")


def test_what_other_metrics_say_otherwise_is_told():
    rng = np.random.default_rng(2)
    y = rng.random(3000) < 0.3
    score = 1 / (1 + np.exp(-(rng.normal(2 * y) - 1.8)))
    models = {"half": ht.Labeled(y, score / 2), "whole": ht.Labeled(y, score)}
    found = ht.compare(models, ["roc_auc", "brier"], n_resamples=0)
    said = answer(told({}, found))
    assert said.startswith("By ROC AUC none is better beyond noise: half has")
    assert said.endswith(" By Brier score whole is better.")


def test_without_a_prior_a_comparison_has_only_differences():
    first = SIMULATED.positive_unlabeled(300, 3000, rng=1)
    models = {
        name: ht.PositiveUnlabeled.from_table(table, population="unlabeled")
        for name, table in (("a", first.table), ("b", SIMULATED.positive_unlabeled(300, 3000, rng=2).table))
    }
    found = ht.compare(models, ["roc_auc"], paired=False, n_resamples=0)
    row = found["roc_auc"]
    assert answer(told({}, found)) == (
        f"NOT IDENTIFIED: By ROC AUC none is better beyond noise: the difference is {row.low:.3f} to {row.high:.3f} over "
        f"all priors not refuted."
    )


# --- What to collect next -------------------------------------------------------------------------------


def test_without_steps_nothing_is_said():
    assert advice(()) == []


def step(what: str, then: float, metric: str = "roc_auc", width: float = 0.042, rows: int = 2000) -> Step:
    return Step(what=what, rows=rows, metric=metric, width=width, then=then)


def test_words_on_one_metric() -> None:
    found = [step("positives", 0.031), step("labels", 0.038), step("unlabeled", 0.0415)]
    assert advice(found) == [
        "2,000 more known positives would narrow the interval of ROC AUC most, from 0.042 to 0.031. "
        "Labels for 2,000 random cases: to 0.038. 2,000 more unlabeled cases: hardly (0.042)."
    ]


def test_words_on_labels_and_few_positives() -> None:
    found = [
        Step(what=what, rows=50, metric="roc_auc", width=0.2, then=then, how=how, rough=True)
        for what, then, how in (("labels", 0.1, "new ones"), ("positives", 0.15, ""))
    ]
    assert advice(found) == [
        "Labels for 50 random cases (new ones) would narrow the interval of ROC AUC most, from 0.200 to 0.100 "
        "(rough: few known positives). 50 more known positives: to 0.150."
    ]


def test_words_where_another_metric_differs() -> None:
    found = [
        *(step("positives", 0.031), step("labels", 0.038)),
        *(step("labels", 0.02, "precision"), step("positives", 0.04, "precision")),
        *(step("labels", 0.021, "f1"), step("positives", 0.04, "f1")),
        *(step("labels", 0.0305, "brier"), step("positives", 0.031, "brier")),
    ]
    assert advice(found)[1:] == [
        "For Precision another step is best: labels for 2,000 random cases, from 0.042 to 0.020. "
        "The same helps most for F1."
    ]


def test_words_where_little_helps_or_one_step_is_all() -> None:
    assert advice([step("positives", 0.0415), step("unlabeled", 0.042)]) == [
        "2,000 more known positives would hardly narrow the interval of ROC AUC, from 0.042 to 0.042; "
        "nor would 2,000 more unlabeled cases."
    ]
    assert advice([step("labels", 0.03)]) == [
        "Labels for 2,000 more random cases would narrow the interval of ROC AUC, from 0.042 to 0.030."
    ]
    assert advice([step("positives", 0.03)]) == [
        "2,000 more known positives with their confidences would narrow the interval of ROC AUC, "
        "from 0.042 to 0.030."
    ]
