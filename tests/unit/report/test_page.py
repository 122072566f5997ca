"""The page: what it holds, what it says, and that names are data in it."""

from __future__ import annotations

import html
import json
import re
from functools import partial

import numpy as np
import pytest

import halftruth as ht
from halftruth.evidence import Scenario
from halftruth.inference._prior_range import prior_span, share_bounds
from halftruth.report import page_of, words
from halftruth.report.embedded import model_of, table_of
from halftruth.report.figures_at import figures_at, measure_at
from halftruth.report.page import Report

SIMULATED = ht.simulate.GaussianClasses(prior=0.3)
PU = SIMULATED.positive_unlabeled(300, 3000, rng=1)
RESULT = ht.evaluate(PU, threshold=0.5, n_resamples=0)


def embedded(result, n_bytes=200_000):
    """What a page holds of an evaluation, as its scripts read it."""
    return json.loads(json.dumps(model_of("", result) | {"table": table_of(result, n_bytes)}))


def data_of(page):
    """The numbers in a page, as its scripts read them."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])


def cells_of(page):
    """Naive, value and interval of each row of the table, as text."""
    rows = re.findall(r'<tr data-metric="([^"]*)" data-model="0">(.*?)</tr>', page, re.S)
    return {html.unescape(name): re.findall(r"<td[^>]*>([^<]*)</td>", row) for name, row in rows}


def noisy_table(n=4000):
    return ht.simulate.GaussianClasses(prior=0.3).positive_unlabeled(n, 10 * n, purity=0.8, rng=2)


@pytest.mark.parametrize("population", ["unlabeled", "all"])
def test_few_rows_are_embedded_as_they_are(population):
    evidence = ht.PositiveUnlabeled.from_table(PU.table, prior=0.35, population=population)
    result = ht.evaluate(evidence, n_resamples=0)
    model = embedded(result)
    for prior, purity in ((0.3, 1.0), (0.2, 0.9)):
        ours = measure_at(model, evidence, prior, purity)
        rows = evidence.measure_at(Scenario(prior=prior, purity=purity))
        np.testing.assert_array_equal(ours.score, rows.score)
        np.testing.assert_allclose(ours.pos_mass, rows.pos_mass, rtol=1e-12, atol=1e-12)


def test_figures_at_the_prior_given_are_those_of_evaluate():
    model = embedded(RESULT)
    found = figures_at(model, PU, RESULT.origin.requests, 0.3)
    closed = [label for label, row in RESULT.items() if row.method.startswith("influence")]
    assert {"roc_auc", "brier", "precision", "mcc"} <= set(closed)
    for label in closed:
        row = RESULT[label]
        assert found[label] == pytest.approx((row.value, row.low, row.high), rel=1e-9, nan_ok=True)
    assert np.isnan(found["calibration_error"][1:]).all()


def test_an_estimated_share_of_the_unlabeled_is_moved_as_a_share_of_the_population():
    estimate = ht.PriorEstimate(value=0.3, low=0.25, high=0.35)
    evidence = ht.PositiveUnlabeled.from_table(PU.table, prior=estimate, population="all")
    result = ht.evaluate(evidence, ["precision"], threshold=0.5, n_resamples=0)
    model = embedded(result)
    assert model["shares"]["prior"] == pytest.approx((300 + 0.3 * 3000) / 3300)
    value = figures_at(model, evidence, result.origin.requests, model["shares"]["prior"])["precision"][0]
    assert value == pytest.approx(result["precision"].value, rel=1e-12)


def test_weights_and_many_rows_stay_within_their_bytes():
    rng = np.random.default_rng(0)
    y = rng.random(60_000) < 0.3
    score, weight = rng.normal(y), rng.exponential(size=60_000)
    evidence = ht.Labeled(y, 1 / (1 + np.exp(-score)), sample_weight=weight)
    result = ht.evaluate(evidence, n_resamples=0)
    model = embedded(result, 40_000)
    assert 15_000 < len(json.dumps(model["table"], separators=(",", ":"))) < 44_000
    for label in ("roc_auc", "average_precision", "brier", "log_loss"):
        value = figures_at(model, evidence, result.origin.requests, 0.3)[label][0]
        assert value == pytest.approx(result[label].value, abs=1e-3)


def test_the_sentence_tells_the_values_of_the_table_below_it(monkeypatch):
    monkeypatch.setattr("halftruth.report.page.PAGE_BYTES", 0)
    monkeypatch.setattr("halftruth.report.page.LEAST_BYTES", 400)
    report = Report(results={"": RESULT}, title="")
    home = report.models[0]["home"]["roc_auc"]["value"]
    assert f"{home:.3f}" != f"{RESULT['roc_auc'].value:.3f}"  # so few scores are left
    page = report.html()
    assert f"ROC AUC is {home:.3f} (" in page
    assert cells_of(page)["roc_auc"][1] == f"{home:.3f}"


def test_no_score_is_joined_where_all_fit():
    result = ht.evaluate(PU, "roc_auc", n_resamples=0)
    n, size = len(PU.table.support.score), len(json.dumps(table_of(result, 10**6), separators=(",", ":")))
    assert len(table_of(result, size)["score"]) == n
    assert len(table_of(result, size - 1)["score"]) < n


def test_the_range_of_the_sliders_holds_the_truth_and_ends_where_the_data_refute():
    evidence = noisy_table()
    alpha_high, kappa = share_bounds(evidence, 0.95)
    assert kappa > 0.2 / 0.7  # the true (1 − ρ)/(1 − α)
    low, high = prior_span(evidence, alpha_high, kappa, 0.8)
    assert low < 0.3 < high
    # A purity so low that the known positives would be like the unlabeled leaves no prior at all.
    least, most = prior_span(evidence, alpha_high, kappa, 1 - kappa)
    assert most <= least
    clean = SIMULATED.positive_unlabeled(4000, 40_000, rng=3)
    _, of_clean = share_bounds(clean, 0.95)
    assert of_clean < kappa


def test_shares_of_the_whole_table_follow_from_those_of_the_unlabeled():
    table = ht.PositiveUnlabeled.from_table(PU.table, population="all")
    low, high = prior_span(table, 0.4, 0.5, 0.9)
    alpha = min(0.4 * 0.9, 1 - 0.1 / 0.5)
    assert high == pytest.approx((0.9 * 300 + alpha * 3000) / 3300)
    assert low == pytest.approx((0.9 * 300 + 0.4 * 0.9 / 1000 * 3000) / 3300)


def test_without_scripts_the_page_shows_the_evaluation():
    page = RESULT.to_html()
    cells = cells_of(page)
    shown = {name: [naive, value, interval] for name, naive, value, interval in RESULT._table()}
    assert cells == {name: row for name, row in shown.items() if name in cells}
    assert list(cells) == list(RESULT)
    assert words.answer({"": RESULT}) in html.unescape(page)


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


def test_names_cannot_leave_their_place():
    name = "</script><script>alert(1)</script>\"'$title & <b>"
    page = page_of({name: RESULT, "b": RESULT}, title=name)
    assert page.count("<script") == 2
    assert page.count("</script>") == 2
    assert data_of(page)["models"][0]["name"] == data_of(page)["title"] == name
    assert html.escape(name) in page


def test_more_than_five_groups_are_a_table():
    page = page_of({f"g{i}": RESULT for i in range(7)}, title="many", by="month")
    assert 'id="groups"' in page
    assert all("table" not in model for model in data_of(page)["models"])
    assert len(page) < 200_000


def test_a_result_without_evidence_has_a_page_of_its_figures():
    best = ht.best_attainable(ht.SoftLabeled([0.1, 0.4, 0.9, 0.7] * 10))
    page = best.to_html()
    assert set(cells_of(page)) == set(best)
    assert not Report(results={"": best}, title="").drawn


def test_a_page_is_written_whole(tmp_path):
    target = tmp_path / "report.html"
    assert target.write_text("old")
    assert RESULT.to_html(target) is None
    assert target.read_text() == RESULT.to_html()
    with pytest.raises(ht.InputError, match="cannot be written"):
        RESULT.to_html(tmp_path / "none" / "report.html")
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
