"""A page tells what was evaluated: the settings of a comparison, each group's own rows, what joining scores changed."""

from __future__ import annotations

import html
import json
import pickle
import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import halftruth as ht
from halftruth._errors import Note
from halftruth.cli._views import Failed, with_unevaluated
from halftruth.evaluation._page_data import groups_page, measure_at, model_of, subjects_of, table_of
from halftruth.evidence import Scenario
from halftruth.report._page_record import PageData
from halftruth.report._summary_text import answer
from halftruth.results._estimate import figure

SIMULATED = ht.simulate.GaussianClasses(prior=0.3)
DRAWN = SIMULATED.draw_strata(300, 3000, rng=1)


def two_samples(shift=0.0, **given):
    """Known positives and unlabeled, with the logits of their scores moved."""
    parts = (
        1 / (1 + np.exp(-np.log(s / (1 - s)) - shift)) for s in (DRAWN.positive.score, DRAWN.unlabeled.score)
    )
    return ht.PositiveUnlabeled(*parts, **({"prior": 0.3} | given))


def evaluated(evidence, metrics=None, **settings):
    return ht.evaluate(evidence, metrics, **({"n_resamples": 0} | settings))


def told(results, comparison=None, by=""):
    """What sentences are made of."""
    return PageData(results=results, subjects=subjects_of(results), comparison=comparison, by=by)


def data_of(page):
    """The numbers in a page, as its scripts read them."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])


def notes_of(page):
    listed = re.search(r'<ul id="notes">(.*?)</ul>', page, re.S)[1]
    return [html.unescape(note) for note in re.findall(r"<li[^>]*>(.*?)</li>", listed, re.S)]


# --- What is embedded -----------------------------------------------------------------------------


PU = SIMULATED.positive_unlabeled(300, 3000, rng=1)


def embedded(result, n_bytes=200_000):
    """What a page holds of an evaluation, as its scripts read it."""
    return json.loads(json.dumps(model_of("", result) | {"table": table_of(result, n_bytes)}))


@pytest.mark.parametrize("population", ["unlabeled", "all"])
def test_few_rows_are_embedded_as_they_are(population):
    evidence = ht.PositiveUnlabeled.from_table(PU.table, prior=0.35, population=population)
    result = ht.evaluate(evidence, n_resamples=0)
    model = embedded(result)
    for prior, purity in ((0.3, 1.0), (0.2, 0.9)):
        ours = measure_at(model["table"], evidence, prior, purity)
        rows = evidence.measure_at(Scenario(prior=prior, purity=purity))
        np.testing.assert_array_equal(ours.score, rows.score)
        np.testing.assert_allclose(ours.pos_mass, rows.pos_mass, rtol=1e-12, atol=1e-12)


def test_no_score_is_joined_where_all_fit():
    result = ht.evaluate(PU, "roc_auc", n_resamples=0)
    n, size = len(PU.table.support.score), len(json.dumps(table_of(result, 10**6), separators=(",", ":")))
    assert len(table_of(result, size)["score"]) == n
    assert len(table_of(result, size - 1)["score"]) < n


def test_labeled_rows_have_nothing_to_move():
    y, score = np.arange(40) % 3 == 0, np.linspace(0, 1, 40)
    (model,) = data_of(ht.evaluate(ht.Labeled(y, score), n_resamples=0).to_html())["models"]
    assert not model["shares"]["moves"]
    assert not model["shares"]["noisy"]


def test_one_positive_has_no_errors_and_does_not_move():
    evidence = ht.PositiveUnlabeled([0.8], np.linspace(0, 1, 50), prior=0.1)
    (model,) = data_of(ht.evaluate(evidence, n_resamples=0).to_html())["models"]
    assert model["errors"] is None
    assert not model["shares"]["moves"]


def test_what_only_python_computes_has_a_line_over_the_priors():
    rows = ["roc_auc", "smooth_calibration_error", {"own": 1}][:2]
    mine = {"top": partial(ht.precision_at_k, k=0.1), "mean": lambda m: float(m.prior), **dict.fromkeys(rows)}
    mine = {label: metric or label for label, metric in mine.items()}
    data = data_of(ht.evaluate(PU, mine, n_resamples=50).to_html())
    twins = {metric["label"]: metric["twin"] for metric in data["metrics"]}
    assert twins == {"top": True, "mean": False, "roc_auc": True, "smooth_calibration_error": False}
    (model,) = data["models"]
    assert set(model["sensitivity"]) == {"mean", "smooth_calibration_error"}
    for prior, value in model["sensitivity"]["mean"]:
        assert value == pytest.approx(prior)


# --- Joined scores -------------------------------------------------------------------------------


def joined_note(page):
    return next((note for note in notes_of(page) if note.startswith("The page holds")), None)


def test_the_note_on_joined_scores_has_the_largest_difference():
    rng = np.random.default_rng(0)
    y = rng.random(100_000) < 0.3
    score = 1 / (1 + np.exp(-rng.normal(3 * y)))
    result = evaluated(ht.Labeled(y, score), ["brier", "roc_auc", "log_loss"])
    page = result.to_html()
    (model,) = data_of(page)["models"]
    held = model["table"]["score"]
    # The joined scores as labeled rows, twice: once for the positives and once for the negatives.
    weight = [model["table"]["sums"][name]["weight"] for name in ("positive", "negative")]
    again = ht.Labeled(np.repeat([1, 0], len(held)), np.tile(held, 2), sample_weight=np.concatenate(weight))
    gaps = {name: abs(getattr(ht, name)(again) - row.value) for name, row in result.items()}
    assert len({figure(gap) for gap in gaps.values()}) == 3
    note = joined_note(page)
    assert f" joined to {len(held):,} scores" in note
    assert note.endswith(f" by more than {figure(max(gaps.values()))}.")


def test_where_nothing_was_joined_nothing_is_said_of_it():
    assert joined_note(evaluated(two_samples()).to_html()) is None


# --- Comparisons ---------------------------------------------------------------------------------


@pytest.mark.parametrize("stratified", [True, False])
def test_models_of_a_comparison_are_evaluated_as_they_were_compared(stratified):
    label = np.append(np.ones(300), np.full(3000, np.nan))
    score = np.append(DRAWN.positive.score, DRAWN.unlabeled.score)
    models = {
        name: ht.PositiveUnlabeled.from_labels(label, each, prior=0.35)
        for name, each in (("plain", score), ("square", score**2))
    }
    settings = {"threshold": 0.4, "confidence_level": 0.8, "n_resamples": 60, "stratified": stratified}
    rows = ["precision", "average_precision"]
    page = ht.compare(models, rows, **settings).to_html()
    data = data_of(page)
    assert data["confidence_level"] == 0.8
    assert page.count("80% interval") == 2
    assert data["threshold"] == 0.4
    for (name, evidence), model in zip(models.items(), data["models"], strict=True):
        assert model["name"] == name
        assert model["errors"]["one_sample"] is not stratified
        right, wrong = (
            ht.evaluate(evidence, rows, **settings | {"stratified": given})
            for given in (stratified, not stratified)
        )
        for row in rows:
            found = tuple(model["home"][row][end] for end in ("value", "low", "high"))
            assert found == pytest.approx((right[row].value, right[row].low, right[row].high), rel=1e-12)
            assert found[1:] != pytest.approx((wrong[row].low, wrong[row].high), rel=1e-3)


@pytest.mark.parametrize("seed", [0, 7, np.random.default_rng])
def test_models_of_a_comparison_are_evaluated_with_its_seed(seed):
    def compared():
        rng = seed(3) if callable(seed) else seed
        models = {"plain": two_samples(), "moved": two_samples(1.0)}
        return ht.compare(models, ["average_precision"], n_resamples=60, rng=rng)

    def intervals(comparison):
        rows = [model["home"]["average_precision"] for model in data_of(comparison.to_html())["models"]]
        return [(row["low"], row["high"]) for row in rows]

    comparison = compared()
    # Made twice, a page is the same, whether its comparison was made with a number or with a generator.
    assert intervals(comparison) == intervals(comparison) == intervals(compared())
    if not callable(seed):
        evaluations = (
            evaluated(two_samples(shift), ["average_precision"], n_resamples=60, rng=seed)[
                "average_precision"
            ]
            for shift in (0.0, 1.0)
        )
        assert intervals(comparison) == [(row.low, row.high) for row in evaluations]


def test_a_generator_is_left_as_if_it_had_no_page():
    rng = np.random.default_rng(3)
    models = {"plain": two_samples(), "moved": two_samples(1.0)}
    comparison = ht.compare(models, ["average_precision"], n_resamples=20, rng=rng)
    comparison.to_html()
    untouched = np.random.default_rng(3)
    untouched.spawn(1)  # one stream for the one pair
    assert rng.spawn(1)[0].random() == untouched.spawn(1)[0].random()
    assert rng.random() == untouched.random()


def test_a_comparison_says_where_its_order_turns():
    models = {"bold": two_samples(1.0), "timid": two_samples(-1.0)}
    comparison = ht.compare(models, ["brier"], n_resamples=0)
    (turn,) = comparison["brier"].flips
    below, above = (
        ht.brier(two_samples(1.0, prior=prior)) - ht.brier(two_samples(-1.0, prior=prior))
        for prior in (turn - 0.01, turn + 0.01)
    )
    assert below > 0 > above  # few positives: the timid one has the smaller error
    said = answer(told({}, comparison))
    assert said.endswith(f" The order turns where the share of positives passes {figure(turn)}.")
    steady = ht.compare(models, ["roc_auc"], n_resamples=0)
    assert "turns" not in answer(told({}, steady))


def test_a_comparison_names_the_metrics_that_say_otherwise():
    rng = np.random.default_rng(0)
    y = rng.random(3000) < 0.3
    sharp, honest = rng.normal(3 * y), rng.normal(1.5 * y)
    models = {
        "honest": ht.Labeled(y, 1 / (1 + np.exp(-1.5 * (honest - 1.3)))),
        "sharp": ht.Labeled(y, 1 / (1 + np.exp(-(sharp + 6)))),  # ranks well, and is far too sure
    }
    comparison = ht.compare(models, ["brier", "roc_auc", "log_loss"], n_resamples=0)
    assert [comparison[name].leader for name in ("brier", "roc_auc", "log_loss")] == [0, 1, 0]
    said = answer(told({}, comparison))
    assert said.startswith("By ROC AUC sharp is better than honest: sharp has 0.98")
    assert said.endswith("). By Brier score, Log loss honest is better.")


# --- Words ---------------------------------------------------------------------------------------


def test_the_naive_figure_of_soft_labels_is_of_hard_ones():
    rng = np.random.default_rng(0)
    q = rng.random(500)
    result = evaluated(ht.SoftLabeled(q, q + rng.normal(0, 0.3, 500)), ["roc_auc"])
    naive = figure(result["roc_auc"].naive)
    assert naive != figure(result["roc_auc"].value)
    assert answer(told({"": result})).endswith(f", not {naive} as it looks with hard labels.")


@pytest.mark.parametrize(("priors", "n"), [((None, None), 0), ((0.3, None), 1), ((None, 0.3), 1)])
def test_groups_are_not_compared_where_fewer_than_two_have_values(priors, n):
    results = {
        name: evaluated(two_samples(prior=p), ["roc_auc"]) for name, p in zip("ab", priors, strict=True)
    }
    said = f"NOT IDENTIFIED: Over 2 groups of month ROC AUC has a value in {n or 'none'}."
    assert answer(told(results, by="month")) == said


# --- Groups --------------------------------------------------------------------------------------


def test_groups_have_the_rows_of_any_of_them():
    raw = ht.PositiveUnlabeled(5 * DRAWN.positive.score, 5 * DRAWN.unlabeled.score, prior=0.3)
    results = {"raw": evaluated(raw), "probabilities": evaluated(two_samples())}
    assert "brier" not in results["raw"]
    page = groups_page(results, title="", by="scale")
    data = data_of(page)
    assert {metric["label"] for metric in data["metrics"]} == set(results["probabilities"])
    assert [set(model["home"]) for model in data["models"]] == [set(result) for result in results.values()]
    of = {
        label: re.findall(rf'<tr data-metric="{label}" data-model="(\d)">', page)
        for label in ("brier", "roc_auc")
    }
    assert of == {"brier": ["1"], "roc_auc": ["0", "1"]}


def test_groups_that_are_left_out_are_named():
    found = {
        "march": evaluated(two_samples()),
        "april": Failed("it has no positive <b>"),
        "may": Failed("why not"),
    }
    page = groups_page(with_unevaluated(found), title="", by="month")
    assert notes_of(page)[-2:] == [
        "april: not evaluated: it has no positive <b>",
        "may: not evaluated: why not",
    ]
    assert "NOT EVALUATED: april, may; the notes say why." in page
    assert [model["name"] for model in data_of(page)["models"]] == ["march"]
    assert 'id="controls"' in page


def test_what_is_said_of_all_groups_is_not_said_again_of_those_left_out():
    said = Note("prior", "One prior was taken for every month.")
    march, april = with_unevaluated({"march": evaluated(two_samples()), "april": Failed("why not")}).values()
    noted = {name: replace(x, notes=(said, *x.notes)) for name, x in (("march", march), ("april", april))}
    notes = notes_of(groups_page(noted, title="", by="month"))
    assert sum(said in note for note in notes) == 1
    assert notes[-1] == "april: not evaluated: why not"


# --- What a page and a stored result hold --------------------------------------------------------


@pytest.mark.parametrize("purity", [0.8, 1.0])
def test_lines_over_the_priors_are_drawn_at_the_purity_given(purity):
    drawn = SIMULATED.draw_strata(500, 5000, rng=3, purity=0.8)

    def own(measure):
        return ht.roc_auc(measure)

    def at(prior):
        return ht.PositiveUnlabeled(drawn.positive.score, drawn.unlabeled.score, prior=prior, purity=purity)

    (model,) = data_of(evaluated(at(0.3), {"own": own}, n_resamples=50).to_html())["models"]
    line = model["sensitivity"]["own"]
    assert len(line) > 10
    for prior, value in line:
        assert value == pytest.approx(ht.roc_auc(at(prior)), rel=1e-9)


def weighted_models(n):
    rng = np.random.default_rng(0)
    y = rng.random(n) < 0.3
    label = np.where(y & (rng.random(n) < 0.2), 1, np.where(~y & (rng.random(n) < 0.1), 0, np.nan))
    weight = rng.exponential(size=n)
    scores = (1 / (1 + np.exp(-rng.normal(2 * y - 1))) for _ in range(5))
    return {
        f"model {i}": ht.PositiveUnlabeled.from_labels(label, score, prior=0.3, sample_weight=weight)
        for i, score in enumerate(scores)
    }


def test_five_weighted_models_of_many_rows_fit_into_one_page():
    few = ht.compare(weighted_models(500), threshold=0.5, n_resamples=0)
    # The differences of few rows take as many bytes as those of many, and less time.
    many = replace(few, origin=replace(few.origin, evidence=weighted_models(100_000)))
    page = many.to_html()
    assert 200_000 < len(page.encode()) < 400_000
    models = data_of(page)["models"]
    assert len(models) == 5
    assert all(len(model["table"]["score"]) > 100 for model in models)


def test_a_stored_result_is_its_numbers():
    (first, second, *_) = weighted_models(100_000).values()
    result = evaluated(first, ["roc_auc", "precision"], threshold=0.5)
    stored = pickle.dumps(result)
    assert len(stored) < 5000
    again = pickle.loads(stored)
    assert again.origin is None
    assert result.origin is not None
    assert str(again) == str(result)
    assert again["roc_auc"].low == result["roc_auc"].low
    assert figure(result["roc_auc"].value) in again.to_html()
    comparison = ht.compare({"a": first, "b": second}, ["roc_auc"], n_resamples=0)
    stored = pickle.dumps(comparison)
    assert len(stored) < 5000
    again = pickle.loads(stored)
    assert again.origin is None
    assert str(again) == str(comparison)
    with pytest.raises(ht.InputError, match="Make it anew with `compare`"):
        again.to_html()
