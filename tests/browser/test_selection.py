"""The slider for biased known positives: the table, the sentences and the file follow it, with Python's numbers."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import halftruth as ht
from halftruth.evidence import Evidence, Scenario
from halftruth.evidence._selection import selection_of
from halftruth.results._estimate import figure
from halftruth.simulate import GaussianClasses

from .conftest import DRAWN
from .figures_at import figures_at, measure_at
from .reports import NONE, Cells, Report, interval, metrics_of, number_in, slide, type_in, value_cell
from .test_report import EVERY, PROPENSITY, downloaded, weighted

pytestmark = pytest.mark.browser

POPULATION = GaussianClasses(prior=0.3)
pu = POPULATION.positive_unlabeled
AT_RANDOM = "These numbers take the known positives for a random sample of the positives."
EVIDENCE = {
    "clean": lambda: pu(200, 900, rng=0),
    "one table": lambda: pu(200, 900, rng=1, population="all"),
    "noisy": lambda: pu(300, 900, rng=2, purity=0.85),
    "noisy, one table": lambda: pu(300, 900, rng=3, purity=0.85, population="all"),
    "negatives": lambda: pu(200, 900, rng=4, n_negative=150),
    "propensity": lambda: pu(200, 900, rng=7, propensity=PROPENSITY),
    "weights": lambda: weighted(8),
    "range": lambda: pu(200, 900, rng=11, prior=(0.2, 0.4)),
    "no prior": lambda: pu(200, 900, rng=10, prior=None),
    "1.5": lambda: pu(200, 900, rng=0).with_selection(1.5),
    "rising": lambda: pu(200, 900, rng=0).with_selection(("rising", 1.5)),
    "falling, no prior": lambda: pu(200, 900, rng=10, prior=None).with_selection(("falling", 1.3)),
}
Spread = dict[str, tuple[float, float, float]]


def written(
    tmp_path: Path, evidence: Evidence, metrics: Any = None, **how: Any
) -> tuple[Report, ht.Evaluation]:
    result = ht.evaluate(evidence, metrics, **({"threshold": 0.5, "n_resamples": 50} | how))
    result.to_html(tmp_path / "report.html")
    return Report.of(tmp_path / "report.html", [evidence], metrics, how.get("threshold", 0.5)), result


def spread_at(report: Report, gamma: float, prior: float, purity: float, *, exact: bool) -> Spread:
    """Value, low and high by label: the union over the law of the known positives and the two extreme ones."""
    model, (evidence,), requests = report.data["models"][0], report.evidence, report.requests
    given = evidence.selection
    direction = gamma if given.direction == "any" else (given.direction, gamma)
    figures = partial(figures_at, model, evidence, requests, prior, purity)
    twins = {metric["label"]: metric["twin"] for metric in report.data["metrics"]}
    measure = measure_at(model, evidence, prior, purity)
    if exact:
        known = figures()
    else:
        home = model["home"].items()
        ends = {label: (row["value"], *row.get("plain", (row["low"], row["high"]))) for label, row in home}
        known = {label: tuple(math.nan if x is None else x for x in row) for label, row in ends.items()}
    extremes = selection_of(direction).extremes
    laws = [figures(extreme=extreme) for extreme in extremes if not extreme.still]
    out = {}
    for request in requests:
        label = request.label
        value, low, high = known[label]
        if exact and not twins[label]:
            value = low = high = math.nan
        elif request.is_distance and extremes:
            scenario = Scenario(prior=prior, purity=purity, extreme=extremes[0])
            tilt = evidence.with_shares().rule(evidence.table.support.sums(), scenario).tilt
            assert tilt is not None
            assert request.metric is not None
            reach = float(request.metric.reach(measure.prior, tilt, request.parameters))
            ends = (value, value) if math.isnan(low) else (low, high)
            low, high = np.clip((ends[0] - reach, ends[1] + reach), *request.limits)
        else:
            rows = [(low, high), *(law[label][1:] for law in laws)]
            low, high = min(x for x, _ in rows), max(x for _, x in rows)
            low, high = (math.nan, math.nan) if np.isnan(rows).any() else (low, high)
        out[label] = value, low, high
    return out


def cells(report: Report, found: Spread) -> Cells:
    out: Cells = {}
    for label, (value, low, high) in found.items():
        limits = report.limits[label]
        out[label, "naive", "0"] = figure(report.data["models"][0]["home"][label]["naive"])
        out[label, "value", "0"] = value_cell(value, limits, low, high)
        out[label, "interval", "0"] = interval(low, high, limits)
    return out


@pytest.mark.parametrize("name", EVIDENCE)
def test_wherever_the_slider_stands_every_cell_is_pythons(name: str, tmp_path: Path, open_page: Any) -> None:
    report, _ = written(tmp_path, EVIDENCE[name]())
    shares, selection = report.shares(), report.data["models"][0]["selection"]
    page = open_page(report.path)
    home = metrics_of(page)
    assert home == report.home_cells()
    purity, prior = shares["purity"], shares["prior"]
    exact = prior is None
    if exact:
        prior = (shares["low"] + shares["high"]) / 2
    for gamma in (1.1, 1.8, 3.0, 1.0):
        type_in(page, "#selection-number", gamma)
        if gamma == selection["gamma"] and not exact:
            assert metrics_of(page) == home
        else:
            found = spread_at(report, gamma, prior, purity, exact=exact)
            assert metrics_of(page) == cells(report, found), gamma
    type_in(page, "#prior-number", 0.22)
    type_in(page, "#selection-number", 1.7)
    found = spread_at(report, 1.7, 0.22, purity, exact=True)
    assert metrics_of(page) == cells(report, found)
    page.click("#reset")
    page.evaluate(DRAWN)
    assert metrics_of(page) == home
    assert number_in(page, "#selection-number") == selection["gamma"]


@pytest.mark.parametrize("name", ["clean", "noisy, one table"])
def test_every_metric_there_is_follows(name: str, tmp_path: Path, open_page: Any) -> None:
    report, _ = written(tmp_path, EVIDENCE[name](), dict(EVERY))
    page = open_page(report.path)
    for purity in (report.shares()["purity"], 0.9):
        exact = purity != report.shares()["purity"]
        if exact:
            type_in(page, "#purity-number", purity)
        type_in(page, "#selection-number", 1.4)
        found = spread_at(report, 1.4, report.shares()["prior"], purity, exact=exact)
        shown = metrics_of(page)
        assert shown == cells(report, found)
        assert (shown["smooth_calibration_error", "interval", "0"] == NONE) is exact


def test_at_rest_the_page_shows_what_was_evaluated(tmp_path: Path, open_page: Any) -> None:
    _, result = written(tmp_path, EVIDENCE["1.5"]())
    page = open_page(tmp_path / "report.html")
    assert number_in(page, "#selection-number") == 1.5
    found = metrics_of(page)
    for label, row in result.items():
        assert found[label, "interval", "0"] == interval(row.low, row.high, row.limits)
    row = result["roc_auc"]
    least, most = (figure(end) for end in row.selection_range)
    assert page.inner_text("#bias-says") == (
        "If at some scores a positive is up to 1.5 times as likely to be known, or as unlikely, as the average "
        "one, ROC AUC "
        f"lies between {least} and {most} ({figure(row.low)} to {figure(row.high)} with sampling error)."
    )


def test_the_page_comes_near_what_evaluate_gives(tmp_path: Path, open_page: Any) -> None:
    """Intervals that have a closed form are those of an evaluation with the same selection, but for joining."""
    evidence = pu(400, 2000, rng=5)
    result = ht.evaluate(evidence.with_selection(1.8), threshold=0.5, n_resamples=0)
    written(tmp_path, evidence, n_resamples=0)
    page = open_page(tmp_path / "report.html")
    type_in(page, "#selection-number", 1.8)
    found = metrics_of(page)
    for label in ("roc_auc", "brier", "recall", "precision", "calibration_error"):
        ends = [float(end) for end in found[label, "interval", "0"].split(" to ")]
        row = result[label]
        assert ends == pytest.approx(row.shown[1:], abs=0.02 * (row.high - row.low) + 1e-3), label


def test_intervals_grow_with_the_bias(tmp_path: Path, open_page: Any) -> None:
    report, _ = written(tmp_path, EVIDENCE["range"](), threshold=None)
    page = open_page(report.path)
    before = None
    for gamma in (1.0, 1.01, 1.3, 2.0, 3.0):
        type_in(page, "#selection-number", gamma)
        low, high = (float(x) for x in metrics_of(page)["roc_auc", "interval", "0"].split(" to "))
        assert before is None or (low <= before[0] and high >= before[1])
        before = low, high


def test_sentences_follow(tmp_path: Path, open_page: Any) -> None:
    report, _ = written(tmp_path, EVIDENCE["clean"]())
    page = open_page(report.path)
    assert page.inner_text("#bias-says") == AT_RANDOM
    assert "Γ" not in page.inner_text("main")
    slide(page, "#selection", 250)
    assert number_in(page, "#selection-number") == 1.5
    text = page.inner_text("#bias-says")
    home = report.data["models"][0]["home"]
    low, high = metrics_of(page)["roc_auc", "interval", "0"].split(" to ")
    assert text.startswith("If at some scores a positive is up to 1.5 times as likely to be known, or as ")
    assert f" ({low} to {high} with sampling error). Without sampling error: Average precision 0." in text
    least, most = (float(x) for x in text.split("lies between ")[1].split(" (")[0].split(" and "))
    assert float(low) < least < home["roc_auc"]["value"] < most < float(high)
    slide(page, "#selection", 0)
    assert page.inner_text("#bias-says") == AT_RANDOM
    assert metrics_of(page) == report.home_cells()
    assert page.is_disabled("#reset")
    page.click("summary")
    assert "Γ" in page.inner_text("#bias")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("rising", "If known positives score too high, and at some"),
        ("propensity", "as the propensities say, ROC"),
    ],
)
def test_sentences_say_what_was_granted(name: str, words: str, tmp_path: Path, open_page: Any) -> None:
    report, _ = written(tmp_path, EVIDENCE[name]())
    page = open_page(report.path)
    type_in(page, "#selection-number", 2.0)
    assert words in page.inner_text("#bias-says")
    type_in(page, "#selection-number", 1.0)
    given = "These numbers take the propensities given as right."
    assert page.inner_text("#bias-says") == (given if name == "propensity" else AT_RANDOM)


def test_numbers_beyond_the_slider_are_refused(tmp_path: Path, open_page: Any) -> None:
    report, _ = written(tmp_path, EVIDENCE["clean"]())
    page = open_page(report.path)
    for wrong in (0.5, 3.5):
        type_in(page, "#selection-number", wrong)
        assert page.inner_text("#selection-range") == "must be 1.000 to 3.000"
        assert metrics_of(page) == report.home_cells()


def test_a_keyboard_moves_it(tmp_path: Path, open_page: Any) -> None:
    report, _ = written(tmp_path, EVIDENCE["clean"]())
    page = open_page(report.path)
    page.focus("#selection")
    page.keyboard.press("End")
    page.evaluate(DRAWN)
    assert number_in(page, "#selection-number") == 3
    assert page.get_attribute("#selection", "aria-valuetext") == "3.000"
    assert metrics_of(page) != report.home_cells()


def test_the_download_says_how_biased(tmp_path: Path, open_page: Any) -> None:
    report, _ = written(tmp_path, EVIDENCE["clean"]())
    page = open_page(report.path)
    type_in(page, "#selection-number", 1.25)
    rows = downloaded(page)
    assert {row["selection"] for row in rows} == {"1.25"}
    found = next(row for row in rows if row["quantity"] == "roc_auc")
    assert (
        f"{figure(float(found['low']))} to {figure(float(found['high']))}"
        == (metrics_of(page)["roc_auc", "interval", "0"])
    )


@pytest.mark.parametrize(
    "evidence",
    [
        POPULATION.labeled(300, rng=0),
        POPULATION.positive_confidence(300, rng=0),
        ht.PositiveUnlabeled([0.8], [0.1, 0.2, 0.8, 0.9], prior=0.3),
        ht.PositiveUnlabeled([0.8, 0.7], [0.1, 0.2, 0.8], propensity=[1, 1], population="all"),
    ],
    ids=["labeled", "confidence", "one positive", "all known"],
)
def test_where_nothing_can_be_biased_there_is_no_slider(
    evidence: Evidence, tmp_path: Path, open_page: Any
) -> None:
    report, _ = written(tmp_path, evidence)
    assert report.data["models"][0]["selection"] is None
    page = open_page(report.path)
    assert not page.locator("#selection").is_visible()
    assert not page.locator("#bias").is_visible()


def test_models_of_one_population_move_together(tmp_path: Path, open_page: Any) -> None:
    rng = np.random.default_rng(16)
    y = rng.random(900) < 0.3
    label = np.where(y & (rng.random(900) < 0.5), 1.0, np.nan)
    models = {
        name: ht.PositiveUnlabeled.from_labels(label, rng.normal(shift * y), prior=0.3)
        for name, shift in (("sharp", 2.0), ("blunt", 1.0))
    }
    ht.compare(models, n_resamples=20).to_html(tmp_path / "two.html")
    page = open_page(tmp_path / "two.html")
    home = metrics_of(page)
    type_in(page, "#selection-number", 1.5)
    found = metrics_of(page)
    for model in ("0", "1"):
        assert found["roc_auc", "value", model] == home["roc_auc", "value", model]
        assert found["roc_auc", "interval", model] != home["roc_auc", "interval", model]
    assert "ROC AUC of sharp lies between" in page.inner_text("#bias-says")
    page.select_option("#model", index=1)
    page.evaluate(DRAWN)
    assert "ROC AUC of blunt lies between" in page.inner_text("#bias-says")
