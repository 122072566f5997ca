"""The page: what it says, and that names are data in it."""

from __future__ import annotations

import html
import json
import re

import pytest

import halftruth as ht
from halftruth.evaluation._page_data import groups_page, page_data
from halftruth.report._page import page_of
from halftruth.report._summary_text import answer

SIMULATED = ht.simulate.GaussianClasses(prior=0.3)
PU = SIMULATED.positive_unlabeled(300, 3000, rng=1)
RESULT = ht.evaluate(PU, threshold=0.5, n_resamples=0)


def data_of(page):
    """The numbers in a page, as its scripts read them."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])


def cells_of(page):
    """Naive, value and interval of each row of the table, as text."""
    rows = re.findall(r'<tr data-metric="([^"]*)" data-model="0">(.*?)</tr>', page, re.S)
    return {html.unescape(name): re.findall(r"<td[^>]*>([^<]*)</td>", row) for name, row in rows}


def test_the_sentence_tells_the_values_of_the_table_below_it(monkeypatch):
    monkeypatch.setattr("halftruth.report._page.PAGE_BYTES", 0)
    monkeypatch.setattr("halftruth.report._page.LEAST_BYTES", 400)
    data = page_data({"": RESULT})
    home = data.models[0]["home"]["roc_auc"]["value"]
    assert f"{home:.3f}" != f"{RESULT['roc_auc'].value:.3f}"  # so few scores are left
    page = page_of(data)
    assert f"ROC AUC is {home:.3f} (" in page
    assert cells_of(page)["roc_auc"][1] == f"{home:.3f}"


def test_without_scripts_the_page_shows_the_evaluation():
    page = RESULT.to_html()
    cells = cells_of(page)
    shown = {name: [naive, value, interval] for name, naive, value, interval in RESULT._table()}
    assert cells == {name: row for name, row in shown.items() if name in cells}
    assert list(cells) == list(RESULT)
    assert answer(page_data({"": RESULT})) in html.unescape(page)


def test_a_refuted_result_is_a_banner_and_its_table_holds_what_is_possible():
    refuted = ht.evaluate(SIMULATED.positive_unlabeled(300, 3000, rng=1, prior=0.9), n_resamples=0)
    page = html.unescape(refuted.to_html())
    assert (
        f'<p id="answer" class="refuted">REFUTED: do not rely on these numbers. {refuted.reason}</p>' in page
    )
    assert cells_of(page)["roc_auc"][1:] == [f"impossible: {refuted['roc_auc'].value:.3f}", "none possible"]
    assert data_of(page)["models"][0]["status"] == "refuted"
    assert data_of(page)["models"][0]["home"]["roc_auc"]["low"] == refuted["roc_auc"].low
    assert 'id="answer" class="ok"' in RESULT.to_html()
    assert refuted._repr_html_().startswith("<p><strong>REFUTED: ")
    many = groups_page({f"g{i}": refuted for i in range(7)}, title="many", by="month")
    assert f"impossible: {refuted['roc_auc'].value:.3f}<small>none possible · naive" in many


def test_names_cannot_leave_their_place():
    name = "</script><script>alert(1)</script>\"'$title & <b>"
    page = groups_page({name: RESULT, "b": RESULT}, title=name, by="")
    assert page.count("<script") == 2
    assert page.count("</script>") == 2
    assert data_of(page)["models"][0]["name"] == data_of(page)["title"] == name
    assert html.escape(name) in page


def test_more_than_five_groups_are_a_table():
    page = groups_page({f"g{i}": RESULT for i in range(7)}, title="many", by="month")
    assert 'id="groups"' in page
    assert all("table" not in model for model in data_of(page)["models"])
    assert len(page) < 200_000


def test_a_result_without_evidence_has_a_page_of_its_figures():
    best = ht.best_attainable(ht.SoftLabeled([0.1, 0.4, 0.9, 0.7] * 10))
    page = best.to_html()
    assert set(cells_of(page)) == set(best)
    assert not page_data({"": best}).drawn


def test_a_page_is_written_whole(tmp_path):
    target = tmp_path / "report.html"
    assert target.write_text("old")
    assert RESULT.to_html(target) is None
    assert target.read_text() == RESULT.to_html()
    with pytest.raises(ht.InputError, match="cannot be written"):
        RESULT.to_html(tmp_path / "none" / "report.html")
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
