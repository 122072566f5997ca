"""The page of reviewed cases: curves from the measure, and no slider for what does not apply."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import halftruth as ht
from halftruth.evaluation._page_data import measure_at
from halftruth.evidence import Evidence
from halftruth.results._estimate import figure

from .reports import Report, metrics_of, shown, type_in
from .test_looks import coloured, pictures
from .test_report import downloaded

pytestmark = pytest.mark.browser

SLIDERS = ("prior", "purity", "selection")
NAMED = "all => Object.fromEntries(all.map(cell => [cell.dataset.cell, cell.textContent]))"


def rows(n: int = 4000, seed: int = 0) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.15).astype(float)
    score = 1 / (1 + np.exp(-(2 * rng.normal(np.where(y == 1, 1.0, -1.0)) - 1)))
    chance = np.where(score >= 0.5, 1.0, 0.05)
    return y, score, chance, np.where(rng.random(n) < chance, y, np.nan)


Y, SCORE, CHANCE, LABEL = rows()
EVIDENCE = {
    "chances": lambda: ht.Reviewed(SCORE, LABEL, CHANCE),
    "estimated": lambda: ht.Reviewed(SCORE, LABEL),
    "judge": lambda: ht.Reviewed(SCORE, LABEL, CHANCE, sensitivity=(0.85, 0.95), specificity=0.95),
    "margins": lambda: ht.Reviewed(np.log(SCORE / (1 - SCORE)), LABEL, CHANCE),
    "weights": lambda: ht.Reviewed(SCORE, LABEL, CHANCE, sample_weight=1 + np.arange(len(Y)) % 3),
    "few above": lambda: ht.Reviewed(SCORE, np.where(np.arange(len(Y)) % 20 == 0, Y, np.nan), 0.05),
    "census": lambda: ht.Reviewed(SCORE[:800], Y[:800], 1.0),
}


def written(folder: Path, evidence: Evidence, threshold: float = 0.5) -> Report:
    path = folder / "report.html"
    ht.evaluate(evidence, threshold=threshold, n_resamples=50).to_html(path)
    return Report.of(path, [evidence], None, threshold)


def reviewed_from(evidence: Any, threshold: float) -> int:
    """How many cases from a threshold on were reviewed."""
    said = (evidence.table.strata[name].score for name in ("positive", "negative"))
    return sum(int((score >= threshold).sum()) for score in said)


@pytest.mark.parametrize("name", EVIDENCE)
def test_every_cell_is_pythons(name: str, tmp_path: Path, open_page: Any) -> None:
    report = written(tmp_path, EVIDENCE[name]())
    page = open_page(report.path)
    assert metrics_of(page) == report.home_cells()
    (model,), (evidence,) = report.data["models"], report.evidence
    for threshold in (0.5, 0.2):
        type_in(page, "#threshold-number", threshold)
        rates = report.rates(0, threshold, None, 1.0)
        cells = page.locator("#confusion [data-cell]").evaluate_all(NAMED)
        for cell in ("tp", "fp", "fn", "tn"):
            assert float(cells[cell]) == pytest.approx(1000 * rates[cell], abs=0.05 + 1e-6), cell
    for (threshold, what), text in shown(page, "#thresholds", "threshold").items():
        rate = report.rates(0, float(threshold), None, 1.0)[what]
        few = reviewed_from(evidence, float(threshold)) < 5 and what != "flagged"
        assert text == ("–" if few else figure(np.clip(rate, 0, 1))), (threshold, what)
    for row in page.locator("#thresholds tbody tr").all():
        n = reviewed_from(evidence, float(row.get_attribute("data-threshold")))
        assert row.locator(".reviews").inner_text() == str(n)
    # The same curve in the file as in Python.
    curve = ht.roc_curve(measure_at(model["table"], evidence, None, 1.0))
    found = [row for row in downloaded(page) if row["part"] == "curve"]
    for what, values in (("fpr", curve.fpr), ("recall", curve.tpr)):
        drawn = [float(row["value"]) for row in found if row["quantity"] == what]
        assert drawn == pytest.approx(list(values), abs=1e-9)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1280])
def test_charts_are_drawn_and_nothing_can_be_slid(
    scheme: str, width: int, tmp_path: Path, open_page: Any
) -> None:
    page = open_page(written(tmp_path, EVIDENCE["chances"]()).path, width=width, color_scheme=scheme)
    drawn = pictures(page)
    assert set(drawn) == {f"{name} 0" for name in ("#roc", "#pr", "#reliability", "#distribution")}
    for where, picture in drawn.items():
        assert coloured(picture).any(axis=0).mean() > 0.1, f"{where} is blank"
    assert page.locator("#roc .naive").get_attribute("d").startswith("M")
    assert "naive: the reviewed cases alone" in page.inner_text("#legend")
    for name in SLIDERS:
        assert not page.locator(f"#{name}").is_visible()
    assert not page.locator("#hangs").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_section_on_reviews(tmp_path: Path, open_page: Any) -> None:
    report = written(tmp_path, EVIDENCE["chances"]())
    page = open_page(report.path)
    assert page.inner_text("#h-review") == "How the cases were reviewed"
    assert page.locator("#bands tbody tr").count() == len(report.evidence[0].design().bands)
    assert page.locator("#widths tbody tr").count() == len(report.requests)
    assert "known" not in page.inner_text("body")
    assert report.path.stat().st_size < 400_000


def test_noise_beyond_what_is_possible_has_its_cause(tmp_path: Path, open_page: Any) -> None:
    label = np.where(np.arange(len(Y)) % 40 == 0, Y, np.nan)
    evidence = ht.Reviewed(SCORE, label, 1 / 40, sensitivity=0.8, specificity=0.8)
    page = open_page(written(tmp_path, evidence).path)
    said = page.inner_text("#outside")
    assert "noise, as a review may stand for many rows" in said
    assert "the precision curve" in said
    assert page.locator("#live #outside").count() == 1  # not above a table without any such figure


def test_what_is_refuted_is_no_noise(tmp_path: Path, open_page: Any) -> None:
    evidence = ht.Reviewed(SCORE, (SCORE > 0.7).astype(float), 1.0, sensitivity=0.9, specificity=0.5)
    page = open_page(written(tmp_path, evidence).path)
    assert page.inner_text("#answer").startswith("REFUTED")
    assert "The cause is what is refuted." in page.inner_text("#outside")
    recalls = page.locator("#thresholds [data-cell=recall]").all_inner_texts()
    assert "–" in recalls
    assert not [text for text in recalls if text.startswith("-")]


def test_what_is_possible_has_no_note(tmp_path: Path, open_page: Any) -> None:
    """Rates that leave [0, 1] by less than is shown, and by more where too few reviews stand behind them."""
    page = open_page(written(tmp_path, EVIDENCE["census"]()).path)
    assert page.inner_text("#outside") == ""


def test_without_a_positive_no_reading_contradicts_the_table(tmp_path: Path, open_page: Any) -> None:
    page = open_page(
        written(tmp_path, ht.Reviewed(SCORE, np.where(np.isnan(LABEL), np.nan, 0.0), CHANCE)).path
    )
    assert metrics_of(page)["precision", "value", "0"] == "–"
    assert page.locator("#pr + .readout").inner_text().split()[-1] == "–"


def test_thresholds_are_short_and_call_the_same_cases_positive(tmp_path: Path, open_page: Any) -> None:
    """Thirds: of 1/6 and 2/3 every rounding to fewer digits goes up, where the next score is."""
    score = np.repeat(np.arange(1, 60) / 60, 40)
    label = np.where(np.arange(len(score)) % 4 == 0, np.arange(len(score)) % 8 == 0, np.nan)
    page = open_page(written(tmp_path, ht.Reviewed(score, label, 0.25)).path)
    for row in page.locator("#thresholds tbody tr").all():
        text, exact = row.locator("th").inner_text(), float(row.get_attribute("data-threshold"))
        assert len(text) <= 6
        assert exact - 1 / 60 < float(text) <= exact


@pytest.mark.parametrize("width", [390, 1280])
def test_on_a_phone_intervals_and_columns_are_in_sight(width: int, tmp_path: Path, open_page: Any) -> None:
    evidence = EVIDENCE["chances"]()
    models = {"score": evidence, "score_new": ht.Reviewed(SCORE**2, LABEL, CHANCE)}
    compared, alone = tmp_path / "compared.html", written(tmp_path, evidence).path
    ht.compare(models, n_resamples=50).to_html(compared)
    page = open_page(compared, width=width)
    for cell in page.locator(":is(#metrics, #differences) td[data-cell=interval]").all():
        box = cell.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    page = open_page(alone, width=width)
    for where in ("#bands thead th", "#bands td", "#h-top"):
        for cell in page.locator(where).all():
            box = cell.bounding_box()
            assert box["x"] + box["width"] <= width, where


def test_rows_that_nobody_could_look_at_have_a_table_alone(tmp_path: Path, open_page: Any) -> None:
    nobody = SCORE < 0.02
    evidence = ht.Reviewed(SCORE, np.where(nobody, np.nan, LABEL), np.where(nobody, 0.0, CHANCE))
    page = open_page(written(tmp_path, evidence).path)
    assert metrics_of(page)["roc_auc", "value", "0"] == "–"
    assert not page.locator("#live").is_visible()
    assert f"Nobody could look at {nobody.sum():,} rows" in page.inner_text("#review")


def test_other_pages_have_no_such_section(tmp_path: Path, open_page: Any) -> None:
    page = open_page(written(tmp_path, ht.Labeled(Y, SCORE)).path)
    assert not page.locator("#review").is_visible()
