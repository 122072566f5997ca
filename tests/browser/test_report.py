"""The page shows, in every cell and wherever its sliders stand, the numbers that Python gives."""

from __future__ import annotations

import csv
import io
import math
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import halftruth as ht
from halftruth._registry import REGISTRY
from halftruth.evidence import Evidence
from halftruth.results._estimate import figure
from halftruth.simulate import GaussianClasses

from .conftest import DRAWN
from .reports import Cells, Report, interval, metrics_of, number_in, shown, slide, type_in, value_cell

pytestmark = pytest.mark.browser

POPULATION = GaussianClasses(prior=0.3)
MARGINS = GaussianClasses(prior=0.3, margin=True)
pu = POPULATION.positive_unlabeled
PROPENSITY = partial(lambda x: 0.2 + 0.6 / (1 + np.exp(-x)))
# All metrics there are, those with parameters at the registry's examples.
EVERY = {name: partial(m.function, **m.example) if m.example else name for name, m in REGISTRY.items()}


def weighted(seed: int, n: int = 1500, prior: Any = 0.3) -> Evidence:
    rng = np.random.default_rng(seed)
    draw = POPULATION.draw(n, rng)
    y = np.where((draw.y == 1) & (rng.random(n) < 0.4), 1.0, np.nan)
    return ht.PositiveUnlabeled.from_labels(y, draw.score, prior=prior, sample_weight=rng.gamma(2.0, size=n))


EVIDENCE = {
    "clean": lambda: pu(200, 900, rng=0),
    "clean, one table": lambda: pu(200, 900, rng=1, population="all"),
    "noisy": lambda: pu(300, 900, rng=2, purity=0.85),
    "noisy, one table": lambda: pu(300, 900, rng=3, purity=0.85, population="all"),
    "negatives": lambda: pu(200, 900, rng=4, n_negative=150),
    "negatives, one table": lambda: pu(200, 900, rng=5, n_negative=150, population="all"),
    "negatives, noisy": lambda: pu(200, 900, rng=6, n_negative=150, purity=0.9),
    "propensity": lambda: pu(200, 900, rng=7, propensity=PROPENSITY),
    "weights": lambda: weighted(8),
    "margins": lambda: MARGINS.positive_unlabeled(200, 900, rng=9),
    "no prior": lambda: pu(200, 900, rng=10, prior=None),
    "range": lambda: pu(200, 900, rng=11, prior=(0.2, 0.4)),
    "estimate": lambda: pu(200, 900, rng=12, prior="estimate"),
    "refuted": lambda: pu(200, 900, rng=0, prior=0.9),
    "labeled": lambda: POPULATION.labeled(800, rng=13),
    "soft": lambda: POPULATION.soft(800, rng=14),
    "confidence": lambda: POPULATION.positive_confidence(500, rng=15),
}
CELLS = ("tp", "fp", "fn", "tn")
NAMED = "all => all.map(cell => [cell.dataset.cell, cell.textContent])"
STILL = ("labeled", "soft")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reports")


@cache
def evaluated(folder: Path, name: str, *, every: bool = False) -> Report:
    evidence = EVIDENCE[name]()
    threshold = 1.0 if name == "margins" else 0.5
    path = folder / f"{name} {every}.html"
    metrics = dict(EVERY) if every else None
    if every and name == "confidence":
        del metrics["smooth_calibration_error"]  # half a minute, of these weights
    ht.evaluate(evidence, metrics, threshold=threshold, n_resamples=50).to_html(path)
    return Report.of(path, [evidence], metrics, threshold)


# --- The table of metrics -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EVIDENCE)
def test_the_page_opens_with_what_was_evaluated(name: str, folder: Path, open_page: Any) -> None:
    report = evaluated(folder, name)
    page = open_page(report.path)
    found = metrics_of(page)
    assert found == report.home_cells()
    assert len(found) == 3 * len(report.requests)
    assert page.inner_text("#answer").strip()
    assert page.locator("#notes li").count() > 0 or name in STILL


@pytest.mark.parametrize("width", [390, 1100])
def test_a_refuted_evaluation_is_a_banner(width: int, folder: Path, open_page: Any) -> None:
    page = open_page(evaluated(folder, "refuted").path, width=width, height=800)
    banner = page.locator("#answer")
    assert banner.inner_text().startswith(
        "REFUTED: do not rely on these numbers. The prior is refuted by the data"
    )
    paint, paper = (
        page.evaluate("id => getComputedStyle(document.querySelector(id)).backgroundColor", selector)
        for selector in ("#answer", "body")
    )
    assert paint not in (paper, "rgba(0, 0, 0, 0)")
    box = banner.bounding_box()
    assert box["y"] + box["height"] < 800  # in sight at once
    assert metrics_of(page)["roc_auc", "value", "0"].startswith("impossible: ")
    slide(page, "#prior", 300)  # a share that is not refuted: the banner is of the evaluation
    assert "past" in banner.get_attribute("class")
    assert not metrics_of(page)["roc_auc", "value", "0"].startswith("impossible: ")


def test_home_is_the_evaluation_itself(folder: Path, open_page: Any) -> None:
    evidence = EVIDENCE["noisy"]()
    result = ht.evaluate(evidence, n_resamples=50)
    result.to_html(folder / "home.html")
    found = metrics_of(open_page(folder / "home.html"))
    for label, row in result.items():
        assert found[label, "value", "0"] == value_cell(row.value, row.limits, row.low, row.high)
        assert found[label, "naive", "0"] == figure(row.naive)
        assert found[label, "interval", "0"] == interval(row.low, row.high, row.limits)


def ends_of(page: Any, slider: str) -> tuple[float, float]:
    """Between which values a slider moves."""
    ends = []
    for place in (0, 1000):
        slide(page, slider, place)
        ends.append(number_in(page, f"{slider}-number"))
    return ends[0], ends[1]


def walk(page: Any, report: Report, purity: float) -> None:
    """Both ends, the middle and two odd places: every cell that hangs on the prior."""
    low, high = ends_of(page, "#prior")
    assert 0 <= low < high <= 1
    seen: list[Cells] = []
    for place in (0, 500, 1000, 0.2371, 0.8113):
        wanted = round(low + (high - low) * place, 5)
        if place in (0, 500, 1000):
            slide(page, "#prior", place)
            wanted = pytest.approx(low + (high - low) * place / 1000, rel=1e-5)
        else:
            type_in(page, "#prior-number", wanted)
        prior = number_in(page, "#prior-number")
        assert prior == wanted
        seen.append(metrics_of(page))
        assert seen[-1] == report.cells(prior, purity), f"at {place}, prior {prior!r}, purity {purity!r}"
        assert_thresholds(page, report, 0, prior, purity)
        assert_confusion(page, report, 0, prior, purity)
    assert len({tuple(cells.items()) for cells in seen}) == 5


@pytest.mark.parametrize("name", [name for name in EVIDENCE if name not in STILL])
def test_the_slider_ends_where_the_data_refute(name: str, folder: Path, open_page: Any) -> None:
    report = evaluated(folder, name)
    shares = report.shares()
    assert ends_of(open_page(report.path), "#prior") == pytest.approx(
        (shares["low"], shares["high"]), rel=1e-5
    )


@pytest.mark.parametrize("name", [name for name in EVIDENCE if name not in STILL])
def test_wherever_the_prior_stands_every_cell_is_pythons(name: str, folder: Path, open_page: Any) -> None:
    report = evaluated(folder, name)
    page = open_page(report.path)
    home = metrics_of(page)
    walk(page, report, report.shares()["purity"] or 1.0)
    page.click("#reset")
    page.evaluate(DRAWN)
    assert metrics_of(page) == home == report.home_cells()


@pytest.mark.parametrize("name", ["noisy", "noisy, one table", "clean"])
def test_wherever_the_purity_stands_every_cell_is_pythons(name: str, folder: Path, open_page: Any) -> None:
    report = evaluated(folder, name)
    page = open_page(report.path)
    low, high = ends_of(page, "#purity")
    assert low == pytest.approx(max(1 - report.shares()["kappa"], 0.5) + 0.01, rel=1e-5)
    assert high == 1
    for purity in (1.0, round((1 + low) / 2, 4), round(0.1 + 0.9 * low, 4), low):
        type_in(page, "#purity-number", purity)
        walk(page, report, number_in(page, "#purity-number"))
    page.click("#reset")
    page.evaluate(DRAWN)
    assert metrics_of(page) == report.home_cells()


@pytest.mark.parametrize("name", ["clean", "noisy, one table", "weights", "negatives", "confidence"])
def test_every_metric_there_is_follows(name: str, folder: Path, open_page: Any) -> None:
    report = evaluated(folder, name, every=True)
    page = open_page(report.path)
    assert metrics_of(page) == report.home_cells()
    walk(page, report, report.shares()["purity"] or 1.0)


FRAMES = """async () => {
    const [slider, cell] = [document.getElementById('prior'), document.querySelector('#metrics [data-cell=value]')];
    const real = requestAnimationFrame, times = [];
    // The page's own frame, with the layout it calls for.
    window.requestAnimationFrame = draw => real(now => {
        const [start, before] = [performance.now(), cell.textContent];
        draw(now);
        document.body.getBoundingClientRect();
        if (cell.textContent !== before) times.push(performance.now() - start);
    });
    for (let k = 0; k < 20; k++) {
        slider.value = 50 * k;
        slider.dispatchEvent(new Event('input'));
        await new Promise(done => real(() => setTimeout(done)));
    }
    window.requestAnimationFrame = real;
    return times;
}"""


def test_all_is_redrawn_in_one_frame(tmp_path: Path, open_page: Any) -> None:
    evidence = pu(20_000, 100_000, rng=18)
    ht.evaluate(evidence, threshold=0.5, n_resamples=0).to_html(tmp_path / "r.html")
    times = open_page(tmp_path / "r.html").evaluate(FRAMES)
    assert len(times) == 20  # each move shows its own prevalence, in the frame after it
    assert min(times) < 33  # ms; of a busy machine the slowest says nothing


@pytest.mark.parametrize("name", STILL)
def test_without_a_prior_to_move_there_is_no_slider(name: str, folder: Path, open_page: Any) -> None:
    report = evaluated(folder, name)
    page = open_page(report.path)
    assert not page.locator("#prior").is_visible()
    assert not page.locator("#purity").is_visible()
    assert_thresholds(page, report, 0, report.shares()["prior"], 1.0)
    assert_confusion(page, report, 0, report.shares()["prior"], 1.0)


# --- Thresholds -----------------------------------------------------------------------------------------


def assert_thresholds(page: Any, report: Report, model: int, prior: float | None, purity: float) -> None:
    found = shown(page, "#thresholds", "threshold")
    places = list(dict.fromkeys(threshold for threshold, *_ in found))
    assert len(places) >= 3
    for text in places:
        expected = report.rates(model, float(text), prior, purity)
        for cell in ("flagged", "precision", "recall", "fpr", "f1"):
            assert found[text, cell] == figure(expected[cell]), f"{cell} at {text}, prior {prior!r}"


def assert_confusion(
    page: Any, report: Report, model: int, prior: float | None, purity: float, threshold: float | None = None
) -> None:
    threshold = report.data["threshold"] if threshold is None else threshold
    expected = report.rates(model, threshold, prior, purity)
    found = dict(page.locator("#confusion [data-cell]").evaluate_all(NAMED))
    cases = {cell: f"{math.floor(1e4 * expected[cell] + 0.5) / 10:.1f}" for cell in CELLS}
    assert found == cases | {"net_benefit": figure(expected["net_benefit"])}, f"{threshold}, prior {prior!r}"


@pytest.mark.parametrize("name", ["clean", "noisy", "labeled"])
def test_the_picker_counts_cases_at_any_threshold(name: str, folder: Path, open_page: Any) -> None:
    report = evaluated(folder, name)
    page = open_page(report.path)
    shares = report.shares()
    scores = report.data["models"][0]["table"]["score"]
    last = len(scores) - 1
    for place in (0, last // 3, last // 2, last):
        slide(page, "#threshold", place)
        assert float(page.input_value("#threshold-number")) == pytest.approx(scores[place], rel=1e-2)
        assert_confusion(page, report, 0, shares["prior"], shares["purity"] or 1.0, scores[place])


@pytest.mark.parametrize("name", ["clean", "noisy", "labeled"])
def test_a_pointer_reads_the_curves(name: str, folder: Path, open_page: Any) -> None:
    report = evaluated(folder, name)
    page = open_page(report.path)
    shares = report.shares()
    before = page.locator("#roc + .readout b").all_inner_texts()
    page.hover("#roc", position={"x": 150, "y": 60})
    page.evaluate(DRAWN)
    pointed = page.locator("#roc + .readout b").all_inner_texts()
    assert pointed != before
    page.mouse.move(0, 0)
    page.evaluate(DRAWN)
    assert page.locator("#roc + .readout b").all_inner_texts() == before
    page.click("#roc", position={"x": 150, "y": 60})
    page.mouse.move(0, 0)
    page.evaluate(DRAWN)
    threshold = report.data["models"][0]["table"]["score"][int(number_in(page, "#threshold"))]
    found = report.rates(0, threshold, shares["prior"], shares["purity"] or 1.0)
    texts = [page.input_value("#threshold-number"), *map(figure, (found["fpr"], found["recall"]))]
    assert page.locator("#roc + .readout b").all_inner_texts() == texts == pointed
    assert_confusion(page, report, 0, shares["prior"], shares["purity"] or 1.0, threshold)


# --- What one takes away --------------------------------------------------------------------------------


def downloaded(page: Any) -> list[dict[str, str]]:
    with page.expect_download() as waiting:
        page.click("#csv")
    text = Path(waiting.value.path()).read_text(encoding="utf-8-sig")
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("name", ["clean", "noisy", "no prior", "refuted", "labeled", "margins"])
def test_the_download_holds_what_is_shown(name: str, folder: Path, open_page: Any) -> None:
    report = evaluated(folder, name)
    page = open_page(report.path)
    assert_downloaded(page, report, {"no prior": "not identified", "refuted": "refuted"}.get(name, "ok"))
    if name != "labeled":
        slide(page, "#prior", 700)
        assert_downloaded(page, report, "ok")


def assert_downloaded(page: Any, report: Report, status: str) -> None:
    shown_cells = {"metrics": metrics_of(page), "thresholds": shown(page, "#thresholds", "threshold")}
    found: dict[str, Cells] = {"metrics": {}, "thresholds": {}}
    for row in downloaded(page):
        value, low, high, naive = (number(row[name]) for name in ("value", "low", "high", "naive"))
        what = row["quantity"]
        assert row["status"] == status
        if row["part"] == "metrics":
            limits = report.limits[what]
            texts = {"naive": figure(naive), "value": value_cell(value, limits, low, high)}
            texts["interval"] = interval(low, high, limits)
            found["metrics"] |= {(what, cell, "0"): text for cell, text in texts.items()}
        elif row["part"] == "thresholds":
            found["thresholds"][row["threshold"], what] = figure(value)
    assert found == shown_cells


def number(text: str) -> float:
    return float(text) if text else math.nan
