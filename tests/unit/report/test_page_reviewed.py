"""The page of reviewed cases: what it embeds, and what it says of the reviews."""

from __future__ import annotations

import html
import json
import re

import numpy as np
import pytest

import halftruth as ht
from halftruth.evaluation._page_data import measure_at, page_data
from halftruth.report._summary_text import answer, notes, review, shares

from .test_page import cells_of, data_of


def drawn(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.2).astype(float)
    score = 1 / (1 + np.exp(-(2 * rng.normal(np.where(y == 1, 1.0, -1.0)) - 1)))
    chance = np.where(score >= 0.5, 1.0, 0.05)
    return y, score, chance, np.where(rng.random(n) < chance, y, np.nan)


Y, SCORE, CHANCE, LABEL = drawn()
REVIEWED = ht.Reviewed(SCORE, LABEL, CHANCE)
RESULT = ht.evaluate(REVIEWED, threshold=0.5, n_resamples=50)
OPEN = ht.Reviewed(SCORE, np.where(SCORE < 0.02, np.nan, LABEL), np.where(SCORE < 0.02, 0.0, CHANCE))


def table_of(page, name):
    body = re.search(rf'<table id="{name}">(.*?)</table>', page, re.S)[1]
    rows = re.findall(r"<tr>(.*?)</tr>", body, re.S)
    return [[html.unescape(x) for x in re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", row)] for row in rows]


def test_the_embedded_sums_are_the_measure():
    (model,) = page_data({"": RESULT}).models
    assert model["kind"] == "reviewed"
    assert list(model["table"]["sums"]) == ["positive", "negative", "soft"]
    here, truth = measure_at(model["table"], REVIEWED, None, 1.0), REVIEWED.measure()
    for threshold in (0.5, -1.0):  # the threshold is kept apart where scores are joined
        at, exact = ht.confusion(here, threshold), ht.confusion(truth, threshold)
        for cell in ("tp", "fp", "fn", "tn"):
            assert getattr(at, cell) == pytest.approx(getattr(exact, cell), rel=1e-8)
    assert here.size == truth.size == model["rule"]["rows"]["population"]
    assert ht.roc_auc(here) == pytest.approx(ht.roc_auc(truth), abs=1e-3)
    naive = model["table"]["sums"]["positive"]["weight"]
    assert sum(naive) == np.nansum(LABEL)


@pytest.mark.parametrize("weighted", [False, True])
def test_weights_and_certain_reviews_are_held_too(weighted):
    weight = np.random.default_rng(2).uniform(0, 2, len(Y)).round(1) if weighted else None
    census = ht.Reviewed(SCORE, Y, 1.0, sample_weight=weight)
    (model,) = page_data({"": ht.evaluate(census, threshold=0.5, n_resamples=0)}).models
    here = measure_at(model["table"], census, None, 1.0)
    labeled = ht.Labeled(Y, SCORE, sample_weight=weight)
    assert ht.roc_auc(here) == pytest.approx(ht.roc_auc(labeled), abs=1e-3)
    assert ht.confusion(here, 0.5).recall == pytest.approx(ht.confusion(labeled, 0.5).recall, abs=1e-9)


def test_its_figures_are_those_of_the_evaluation():
    page = RESULT.to_html()
    cells = cells_of(page)
    assert cells == {name: row for name, *row in RESULT._table()[1:]}
    shares_of = data_of(page)["models"][0]["shares"]
    assert not shares_of["moves"]
    assert data_of(page)["models"][0]["selection"] is None


def test_the_section_says_how_rows_were_reviewed():
    page = RESULT.to_html()
    n, positive = int((~np.isnan(LABEL)).sum()), int(np.nansum(LABEL))
    text = html.unescape(page)
    assert f"{n:,} of 3,000 rows were reviewed, and {positive:,} of these found positive." in text
    assert "The chance of these to be reviewed was 0.05 to 1, as given." in text
    head, *bands = table_of(page, "bands")
    assert head == [
        "scores",
        "rows",
        "reviewed",
        "found positive",
        "chance",
        "rows one stands for",
    ]
    assert sum(int(row[1].replace(",", "")) for row in bands) == 3000
    assert sum(int(row[2]) for row in bands) == n
    assert bands[0][4:] == ["1", "1"]
    assert bands[-1][4:] == ["0.05", "20"]
    head, *widths = table_of(page, "widths")
    assert head == ["metric", "width now", "with 100 more"]
    assert [row[0] for row in widths][:2] == ["Share of positives", "ROC AUC"]
    by_name = {name: (float(now), then) for name, now, then in widths}
    assert by_name["ROC AUC"][0] == pytest.approx(RESULT["roc_auc"].high - RESULT["roc_auc"].low, abs=5e-4)
    assert float(by_name["Recall"][1].removeprefix("about ")) < by_name["Recall"][0]
    # All that is flagged was reviewed: more reviews say nothing new of it.
    assert by_name["Precision"][1] == f"about {by_name['Precision'][0]:.3f}"
    assert by_name["Calibration error"][1] == "–"


def test_more_reviews_narrow_intervals_as_said():
    """The mean width over populations reviewed with so many more."""
    said, then = [], []
    for seed in range(12):
        y, score, chance, label = drawn(seed=seed)
        random = int(np.sum(~np.isnan(label) & (chance < 1)))
        page = page_data({"": ht.evaluate(ht.Reviewed(score, label, chance), ["prevalence"])})
        said.append(page.steps[0].then)
        higher = np.where(chance < 1, chance * (1 + 100 / random), 1.0)
        rng = np.random.default_rng(100 + seed)
        again = ht.Reviewed(score, np.where(rng.random(len(y)) < higher, y, np.nan), higher)
        row = ht.evaluate(again, ["prevalence"])["prevalence"]
        then.append(row.high - row.low)
    error = np.std(np.subtract(said, then)) / np.sqrt(12)
    assert np.mean(said) == pytest.approx(np.mean(then), abs=4 * error)
    assert error < 0.1 * np.mean(then)


def test_reviewed_rows_are_never_called_known():
    data = page_data({"": RESULT})
    words = " ".join([answer(data), shares(data), *notes(data), *review(data)])
    assert "known" not in words
    assert "unlabeled" not in words
    assert "3,000 rows, " in shares(data)
    assert "The share of positives is estimated from the reviews." in notes(data)


def test_positives_known_otherwise_and_reviewers_who_err_are_named():
    known = (Y == 1) & (SCORE > 0.9)
    said = np.where(known, np.nan, LABEL)
    evidence = ht.Reviewed(
        SCORE, said, CHANCE, known_positive=known, sensitivity=(0.85, 0.95), specificity=0.9
    )
    data = page_data({"": ht.evaluate(evidence, ["recall"], threshold=0.5, n_resamples=50)})
    words = " ".join(review(data))
    assert f"{known.sum()} positives were known otherwise and needed no review." in words
    assert "they call 0.85 to 0.95 of the positives positive (sensitivity) and 0.9 of the negatives" in words
    assert f"{known.sum()} positives known otherwise" in shares(data)


def test_rows_that_nobody_could_look_at_leave_intervals_and_no_curves():
    result = ht.evaluate(OPEN, threshold=0.5, n_resamples=50)
    data, page = page_data({"": result}), html.unescape(result.to_html())
    n = int((SCORE < 0.02).sum())
    assert not data.drawn
    assert cells_of(page)["roc_auc"][1] == "–"
    assert cells_of(page)["precision"][1] == f"{result['precision'].value:.3f}"
    row = result["roc_auc"]
    assert answer(data).startswith(
        f"NOT IDENTIFIED: ROC AUC lies between {row.low:.3f} and {row.high:.3f}: the data do not say more while "
        f"nobody can look at {n:,} of the rows. The reviewed cases alone would show "
    )
    assert f"Nobody could look at {n:,} rows: where their class matters there are intervals" in page
    assert "π between " in shares(data)
    assert table_of(page, "bands")[0][-1] == "nobody could look"
    assert sum(int(x[-1].replace(",", "")) for x in table_of(page, "bands")[1:]) == n
    assert table_of(page, "widths")[0] == ["metric", "width now"]
    assert json.dumps(data_of(page), allow_nan=False)


def test_other_evidence_has_no_such_section():
    page = ht.evaluate(ht.Labeled(Y, SCORE), ["roc_auc"], n_resamples=0).to_html()
    assert 'id="bands"' not in page
    assert '<p class="lead"></p>' in page
