"""What is drawn, read back from its coordinates, and what is said beside it: Python's numbers, where they belong."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import halftruth as ht
from halftruth.cli import main
from halftruth.inference._prior_range import prior_span
from halftruth.measure._score_measure import ScoreMeasure
from halftruth.results._estimate import figure
from halftruth.simulate import GaussianClasses

from .conftest import DRAWN
from .figures_at import figures_at, measure_at
from .reports import Report, interval, metrics_of, number_in, slide, type_in

pytestmark = pytest.mark.browser

Points = NDArray[np.float64]
METRICS = ["prevalence", "roc_auc", "average_precision", "brier", "sweep_calibration_error"]
PIXEL = 0.2  # coordinates are written to a tenth
LABELS = "all => all.map(t => [t.textContent, t.getAttribute('text-anchor'), +t.getAttribute('x'), +t.getAttribute('y')])"
OUTSIDE = "beyond what is possible"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """One table with impure positives: α is not π, and both sliders move. No threshold is given."""
    evidence = GaussianClasses(prior=0.3).positive_unlabeled(300, 900, rng=3, purity=0.85, population="all")
    path = tmp_path_factory.mktemp("drawn") / "report.html"
    ht.evaluate(evidence, METRICS, n_resamples=50).to_html(path)
    return Report.of(path, [evidence], METRICS)


@pytest.fixture
def page(report: Report, open_page: Any) -> Any:
    return open_page(report.path)


def at(report: Report, prior: float, purity: float = 0.85) -> ScoreMeasure:
    return measure_at(report.data["models"][0], report.evidence[0], prior, purity)


def span(report: Report, purity: float) -> tuple[float, float]:
    shares = report.shares()
    return prior_span(report.evidence[0], shares["alpha_high"], shares["kappa"], purity)  # type: ignore[arg-type]


# --- A drawing, as its axes say -------------------------------------------------------------------------


@dataclass(frozen=True)
class Drawing:
    """An svg, with the scales that the words on its axes tell."""

    svg: Any

    @cached_property
    def scales(self) -> tuple[Callable[[Any], Points], Callable[[Any], Points]]:
        """From values to pixels, across and up."""
        across, up = [], []
        for text, anchor, x, y in self.svg.locator("text").evaluate_all(LABELS):
            if re.fullmatch(r"[-\d.e+]+", text):
                (across if anchor == "middle" else up).append(
                    (x if anchor == "middle" else y - 4, float(text))
                )
        return scale(across), scale(up)

    def path(self, kind: str) -> Points:
        """The corners of a path."""
        return corners(self.svg.locator(f"path{kind}").get_attribute("d"))

    def pixels(self, x: Any, y: Any) -> Points:
        """Where a point belongs; beyond the ends of an axis just outside them."""
        inside = (np.clip(np.asarray(v, dtype=np.float64), -0.03, 1.03) for v in (x, y))
        return np.column_stack([to(v) for to, v in zip(self.scales, inside, strict=True)])

    def circles(self, kind: str) -> Points:
        read = "all => all.map(c => ['cx', 'cy', 'r'].map(name => +c.getAttribute(name)))"
        return np.asarray(self.svg.locator(f"circle{kind}").evaluate_all(read))


def scale(ticks: list[tuple[float, float]]) -> Callable[[Any], Points]:
    pixels, values = np.asarray(sorted(ticks)).T
    if (values[1:-1].min(initial=1) < values[[0, -1]].min()) or values[0] == values[-1]:
        values = np.where(pixels > pixels[values.argmin()], -values, values)  # sizes, to both sides of 0
    slope, start = np.polyfit(values, pixels, 1)
    assert np.allclose(slope * values + start, pixels, atol=PIXEL)
    return lambda v: slope * np.asarray(v) + start


def corners(d: str) -> Points:
    """Of M, L, H and V, one after the other."""
    out: list[tuple[float, float]] = []
    for letter, rest in re.findall(r"([MLHV])([-\d. ]+)", d):
        given = [float(number) for number in rest.split()]
        x, y = out[-1] if out else (0.0, 0.0)
        out.append({"H": (given[0], y), "V": (x, given[0])}.get(letter) or (given[0], given[1]))
    return np.asarray(out)


def drawing(page: Any, where: str) -> Drawing:
    return Drawing(page.locator(where))


def assert_curve(drawn: Points, expected: Points) -> None:
    """Each corner is a point of the curve, in their order, and no point is left out that would show."""
    gaps = np.abs(drawn[:, None] - expected).max(axis=-1)
    assert gaps.min(axis=1).max() < PIXEL
    before = 0
    for gap in gaps:  # the curve may come back to where it was: the first place after the last one
        before += int(np.argmax(gap[before:] < PIXEL))
        assert gap[before] < PIXEL
    assert np.abs(drawn[[0, -1]] - expected[[0, -1]]).max() < PIXEL
    starts, steps = drawn[:-1], np.diff(drawn, axis=0)
    length = np.maximum((steps**2).sum(axis=-1), 1e-12)
    along = np.clip(((expected[:, None] - starts) * steps).sum(axis=-1) / length, 0, 1)
    distance = np.linalg.norm(expected[:, None] - (starts + along[..., None] * steps), axis=-1).min(axis=1)
    assert distance.max() < 1.5


# --- Curves ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prior", [None, 0.35])
def test_curves_and_the_line_of_chance(prior: float | None, report: Report, page: Any) -> None:
    if prior is not None:
        type_in(page, "#prior-number", prior)
    prior = report.shares()["prior"] if prior is None else prior
    table = report.evidence[0].table
    known, unlabeled = (table.strata[name].score for name in ("positive", "unlabeled"))  # type: ignore[union-attr]
    naive = ht.Labeled([1] * len(known) + [0] * len(unlabeled), [*known, *unlabeled]).measure()
    for name, measure in ((".line.m0", at(report, prior)), (".naive", naive)):
        roc, pr = ht.roc_curve(measure), ht.precision_recall_curve(measure)
        for where, x, y in (("#roc", roc.fpr, roc.tpr), ("#pr", pr.recall, pr.precision)):
            chart = drawing(page, where)
            assert_curve(chart.path(name), chart.pixels(x, y))
    for where, ends in (("#roc", (0, 1)), ("#pr", (prior, prior))):
        chart = drawing(page, where)
        assert np.allclose(chart.path(".even"), chart.pixels((0, 1), ends), atol=PIXEL)


@pytest.mark.parametrize("prior", [None, 0.35])
def test_bins_of_the_reliability_chart(prior: float | None, report: Report, page: Any) -> None:
    if prior is not None:
        type_in(page, "#prior-number", prior)
    curve = ht.reliability_curve(at(report, prior or 0.3), n_resamples=0)
    chart = drawing(page, "#reliability")
    found = chart.circles(".bubble")
    expected = chart.pixels(curve.score, curve.frequency)
    assert np.allclose(found[:, :2], expected, atol=PIXEL)
    assert np.allclose(found[:, 2] ** 2 / (found[:, 2] ** 2).sum(), curve.mass, atol=0.005)
    assert np.allclose(chart.path(".line.m0"), expected, atol=PIXEL)


@pytest.mark.parametrize(("prior", "threshold"), [(None, None), (0.35, 0.62)])
def test_the_distribution_and_its_words(
    prior: float | None, threshold: float | None, report: Report, page: Any
) -> None:
    if prior is not None:
        type_in(page, "#prior-number", prior)
        type_in(page, "#threshold-number", threshold)  # type: ignore[arg-type]
    measure = at(report, prior or 0.3)
    chart = drawing(page, "#distribution")
    edges = np.histogram_bin_edges(measure.score, 40)
    for kind, masses, sign in ((".area.m0", measure.pos_mass, 1), (".area.fn", measure.neg_mass, -1)):
        heights, _ = np.histogram(measure.score, edges, weights=masses / masses.sum())
        steps = chart.path(kind)
        across, up = chart.scales
        # Up or down at the left end of each bin, then along it: every second corner is a bin's right end.
        assert np.allclose(steps[2:-1:2, 0], across(edges[1:]), atol=PIXEL)
        assert np.allclose(steps[2:-1:2, 1], up(sign * heights), atol=PIXEL)
    threshold = default_threshold(measure) if threshold is None else threshold
    rates = report.rates(0, threshold, prior or 0.3, 0.85)
    said = page.locator("#distribution + .readout b").all_inner_texts()
    assert float(said[0]) == pytest.approx(threshold, rel=1e-3)
    assert said[1:] == [figure(rates["recall"]), figure(rates["fpr"])]


def default_threshold(measure: ScoreMeasure) -> float:
    """The highest score that as many reach as are positive."""
    reached = np.cumsum(measure.mass[::-1]) / measure.mass.sum()
    return float(measure.score[::-1][np.argmax(reached >= 0.3 - 1e-12)])


def test_where_no_threshold_is_given_as_many_are_flagged_as_are_positive(report: Report, page: Any) -> None:
    threshold = default_threshold(at(report, 0.3))
    expected = report.rates(0, threshold, 0.3, 0.85)
    found = {cell: page.inner_text(f"#confusion [data-cell={cell}]") for cell in ("tp", "fp", "fn", "tn")}
    assert {cell: float(text) for cell, text in found.items()} == pytest.approx(
        {cell: 1000 * expected[cell] for cell in found}, abs=0.0501
    )
    assert float(found["tp"]) + float(found["fp"]) == pytest.approx(300, abs=1.1)
    assert number_in(page, "#threshold") == list(at(report, 0.3).score).index(threshold)


def test_a_pointer_reads_the_curve_it_is_on(report: Report, page: Any) -> None:
    pr = ht.precision_recall_curve(at(report, 0.3))
    roc = ht.roc_curve(at(report, 0.3))
    for where, x, y in (("#pr", pr.recall, pr.precision), ("#roc", roc.fpr, roc.tpr)):
        chart = drawing(page, where)
        places = chart.pixels(x, y)
        wide = float(chart.svg.get_attribute("viewBox").split()[2])
        box = chart.svg.bounding_box()
        for k in (400, 700, 1000):
            pixel = np.round(places[k] * box["width"] / wide)
            nearest = 1 + np.linalg.norm(places[1:] - pixel * wide / box["width"], axis=1).argmin()
            chart.svg.hover(position={"x": float(pixel[0]), "y": float(pixel[1])})
            page.evaluate(DRAWN)
            said = page.locator(f"{where} + .readout b").all_inner_texts()
            assert said[1:] == [figure(x[nearest]), figure(y[nearest])]
            assert float(said[0]) == pytest.approx(pr.threshold[nearest], rel=1e-3)


# --- Metrics --------------------------------------------------------------------------------------------


def assert_lines(page: Any, report: Report, prior: float, purity: float) -> None:
    low, high = span(report, purity)
    priors = np.linspace(low, high, 21)
    measures = [at(report, each, purity) for each in priors]
    panels = page.locator("#sensitivity figure")
    assert panels.count() == len(METRICS) - 1  # prevalence is the prior itself
    for panel, request in zip(panels.all(), report.requests[1:], strict=True):
        away = request.label == "sweep_calibration_error" and purity != 0.85
        assert panel.is_visible() != away, request.label
        if away:
            continue
        chart = Drawing(panel.locator("svg"))
        expected = [to(v) for to, v in zip(chart.scales, (priors, [*map(request.at, measures)]), strict=True)]
        assert np.allclose(chart.path(".line.m0"), np.column_stack(expected), atol=2 * PIXEL), request.label
        value = request.at(at(report, prior, purity))
        if request.label != "sweep_calibration_error":
            assert panel.locator("h3 span").nth(1).inner_text() == f"{figure(value)} at {figure(prior)}"
            ring = [float(to(v)) for to, v in zip(chart.scales, (prior, value), strict=True)]
            assert np.allclose(chart.circles(".dot")[0, :2], ring, atol=2 * PIXEL)


def test_metrics_over_the_priors(report: Report, page: Any) -> None:
    assert_lines(page, report, 0.3, 0.85)
    type_in(page, "#prior-number", 0.35)
    assert_lines(page, report, 0.35, 0.85)
    type_in(page, "#purity-number", 0.93)
    assert_lines(page, report, 0.35, 0.93)
    type_in(page, "#purity-number", 0.85)
    assert_lines(page, report, 0.35, 0.85)


def assert_bars(page: Any, rows: dict[str, tuple[float, float, float]]) -> None:
    """The ends of each interval, from 0 to 1, and its value."""
    for label, (value, *ends) in rows.items():
        picture = page.locator(f"#metrics tr[data-metric={label}] svg")
        found = picture.locator(".bar").get_attribute("d")
        if np.isnan(ends[0]):
            assert found == ""
        else:
            assert np.allclose(corners(found)[:, 0], 176 * np.clip(ends, 0, 1), atol=0.051), label
        assert Drawing(picture).circles("")[0, 0] == pytest.approx(176 * np.clip(value, 0, 1), abs=0.051)


def test_intervals_are_bars(report: Report, page: Any) -> None:
    home = report.data["models"][0]["home"]
    assert_bars(page, {label: (row["value"], row["low"], row["high"]) for label, row in home.items()})
    type_in(page, "#prior-number", 0.35)
    found = figures_at(report.data["models"][0], report.evidence[0], report.requests[:4], 0.35, 0.85)
    assert_bars(page, found)
    assert not any(np.isnan(found["roc_auc"]))


def test_an_interval_is_never_that_of_another_prior(report: Report, page: Any) -> None:
    """In the frame after a move the value is there and the interval is awaited; then both are."""
    seen = page.evaluate(
        """async () => {
            const slider = document.getElementById('prior');
            const cells = ['value', 'interval'].map(
                name => document.querySelector(`[data-metric=roc_auc] [data-cell=${name}]`));
            const out = [];
            for (const place of [200, 400, 600]) {
                slider.value = place;
                slider.dispatchEvent(new Event('input'));
                await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
                const {settled} = document.documentElement.dataset;
                out.push([document.getElementById('prior-number').value, settled, ...cells.map(c => c.textContent)]);
            }
            return out;
        }"""
    )
    for prior, settled, value, between in seen:
        expected = report.cells(float(prior), 0.85)
        assert value == expected["roc_auc", "value", "0"]
        assert between == ("…" if settled == "false" else expected["roc_auc", "interval", "0"])
    assert [settled for _, settled, *_ in seen].count("false") >= 1
    page.evaluate(DRAWN)
    assert page.get_attribute("html", "data-settled") == "true"
    assert metrics_of(page) == report.cells(number_in(page, "#prior-number"), 0.85)


def test_the_download_has_curves_and_waits_for_no_interval(report: Report, page: Any) -> None:
    with page.expect_download() as waiting:
        page.evaluate(
            """() => {
                const [field, button] = ['prior-number', 'csv'].map(id => document.getElementById(id));
                field.value = '0.35';
                field.dispatchEvent(new Event('input'));
                button.click();
            }"""
        )
    text = Path(waiting.value.path()).read_text(encoding="utf-8-sig")
    found: dict[str, list[tuple[float, float]]] = {"fpr": [], "recall": [], "precision": []}
    intervals = {}
    for row in csv.DictReader(io.StringIO(text)):
        if row["part"] == "curve":
            assert (float(row["prior"]), float(row["purity"])) == (0.35, 0.85)
            found[row["quantity"]].append((float(row["threshold"]), float(row["value"])))
        elif row["part"] == "metrics":
            intervals[row["quantity"]] = [float(row[end] or "nan") for end in ("low", "high")]
    expected = figures_at(report.data["models"][0], report.evidence[0], report.requests[:4], 0.35, 0.85)
    for label, (_, *ends) in expected.items():
        assert intervals[label] == pytest.approx(ends, rel=1e-6, nan_ok=True)
    roc, pr = ht.roc_curve(at(report, 0.35)), ht.precision_recall_curve(at(report, 0.35))
    for name, values in (("fpr", roc.fpr), ("recall", roc.tpr), ("precision", pr.precision)):
        assert np.allclose(found[name], np.column_stack([roc.threshold, values]), rtol=1e-12, atol=1e-13), (
            name
        )


# --- Words and sliders ----------------------------------------------------------------------------------


def test_the_shares_are_said(report: Report, page: Any) -> None:
    for prior, purity in ((0.3, 0.85), (0.35, 0.85), (0.35, 0.93)):
        if (prior, purity) != (0.3, 0.85):
            type_in(page, "#prior-number", prior)
            type_in(page, "#purity-number", purity)
        alpha = at(report, prior, purity).alpha
        assert figure(alpha) != figure(prior)
        said = f"π = {figure(prior)} (α = {figure(alpha)} among the unlabeled) and purity {figure(purity)}"
        assert said in page.inner_text("#state")
        low, high = span(report, purity)
        assert page.inner_text("#prior-range") == f"not refuted: {figure(low)} to {figure(high)}"


@pytest.mark.parametrize("place", [0, 300])
def test_purity_there_and_back_leaves_the_prior(place: int, report: Report, page: Any) -> None:
    type_in(page, "#prior-number", 0.35)
    slide(page, "#purity", 1000)
    page.locator("#purity").focus()  # a field that is being typed in is left alone
    before = metrics_of(page)
    slide(page, "#purity", place)
    purity = number_in(page, "#purity-number")
    _, high = span(report, purity)
    assert number_in(page, "#prior-number") == pytest.approx(min(0.35, high), rel=1e-12)
    slide(page, "#purity", 1000)
    assert number_in(page, "#prior-number") == 0.35
    assert metrics_of(page) == before == report.cells(0.35, 1.0)


def test_a_purity_given_is_within_its_slider(tmp_path: Path, open_page: Any) -> None:
    evidence = GaussianClasses(prior=0.3).positive_unlabeled(300, 900, rng=2, purity=0.45)
    path = tmp_path / "low.html"
    ht.evaluate(evidence, n_resamples=0).to_html(path)
    page = open_page(path)
    assert page.inner_text("#purity-range") == "not refuted: 0.450 to 1.000"
    assert (number_in(page, "#purity"), number_in(page, "#purity-number")) == (0, 0.45)
    slide(page, "#purity", 1000)
    assert number_in(page, "#purity-number") == 1


def impossible(page: Any, report: Report) -> bool:
    marked = [text for key, text in metrics_of(page).items() if text.startswith("impossible: ")]
    rates = page.locator("#thresholds td").all_inner_texts()
    return bool(marked) or any(text != "–" and not 0 <= float(text) <= 1 for text in rates)


def just_beyond() -> ht.PositiveUnlabeled:
    """Three scores, of which the highest has a precision of 1.002 and a false-positive rate of −0.0004."""
    known, unlabeled = (np.repeat([0.9, 0.5, 0.1], n) for n in ([501, 300, 199], [300, 700, 1000]))
    return ht.PositiveUnlabeled(known, unlabeled, prior=0.3)


@pytest.mark.parametrize(
    ("make", "beyond"),
    [(just_beyond, True), (partial(GaussianClasses(prior=0.3).labeled, 300, rng=0), False)],
)
def test_a_note_says_what_cannot_be(make: Any, beyond: bool, tmp_path: Path, open_page: Any) -> None:
    report = Report.of(tmp_path / "report.html", [make()])
    ht.evaluate(report.evidence[0], n_resamples=0).to_html(report.path)
    page = open_page(report.path)
    assert impossible(page, report) == beyond
    assert (OUTSIDE in page.inner_text("#outside")) == beyond
    assert page.get_attribute("#outside", "role") == "status"
    if beyond:
        type_in(page, "#prior-number", 0.25)
        assert not impossible(page, report)
        assert page.inner_text("#outside") == ""


def fewest(score: float, held: Points) -> float:
    """The score in the fewest digits, four at least, that call the same cases positive."""
    floors = [Context(prec=digits, rounding=ROUND_FLOOR) for digits in range(4, 18)]
    rounded = [float(floor.create_decimal(repr(float(score)))) for floor in floors]
    return next(each for each in rounded if each <= score and not ((held >= each) & (held < score)).any())


@pytest.mark.parametrize(("start", "step"), [(1.0, -1e-9), (1e6, 1e-4), (-3e-7, 1e-12), (0.0, 1.0)])
def test_thresholds_are_told_apart(start: float, step: float, tmp_path: Path, open_page: Any) -> None:
    rng = np.random.default_rng(0)
    scores = start + step * (np.arange(400) + rng.random(400) / 3)
    y = np.where(rng.random(400) < np.linspace(0.1, 0.6, 400)[:: 1 if step > 0 else -1], 1, 0)
    path = tmp_path / "close.html"
    ht.evaluate(ht.Labeled(y, scores), n_resamples=0).to_html(path)
    page = open_page(path)
    rows = page.locator("#thresholds tbody tr").evaluate_all(
        "all => all.map(row => [row.dataset.threshold, row.cells[0].textContent])"
    )
    held = np.sort(scores)
    assert len({text for _, text in rows}) == len(rows) == 9
    assert [float(text) for _, text in rows] == [fewest(float(exact), held) for exact, _ in rows]
    for place in (100, 101, 102):
        slide(page, "#threshold", place)
        text = page.input_value("#threshold-number")
        assert float(text) == fewest(held[place], held)
        for chart in ("#roc", "#pr", "#distribution"):
            assert page.locator(f"{chart} + .readout b").first.inner_text() == text
            assert text in page.get_attribute(chart, "aria-label")


def test_one_group_without_a_prior_hides_no_other(tmp_path: Path, open_page: Any) -> None:
    rng = np.random.default_rng(0)
    lines = ["score,label,month"]
    for month, known in (("April", 1), ("May", 60), ("June", 60)):
        lines += [f"{score},1,{month}" for score in rng.beta(3, 2, known)]
        lines += [f"{score},,{month}" for score in rng.beta(2, 3, 300)]
    source, path = tmp_path / "scores.csv", tmp_path / "report.html"
    source.write_text("\n".join(lines))
    assert main(["evaluate", str(source), "--by", "month", "--n-resamples", "0", "--html", str(path)]) == 0
    tables = ht.ScoreTable.from_file(source, by="month")
    report = Report.of(
        path, [ht.PositiveUnlabeled.from_table(each, population="all") for each in tables.values()]
    )
    page = open_page(path)
    names = [model["name"] for model in report.data["models"]]
    lone = names.index("April")
    assert page.locator("#model option").all_inner_texts() == [name for name in names if name != "April"]
    assert page.locator("#roc .line").count() == 2
    slide(page, "#prior", 700)
    found, home = metrics_of(page), report.home_cells()
    assert {key: text for key, text in found.items() if key[-1] == str(lone)} == {
        key: text for key, text in home.items() if key[-1] == str(lone)
    }
    moved = str(next(i for i in range(3) if i != lone))
    prior = number_in(page, "#prior-number")
    expected = figures_at(
        report.data["models"][int(moved)], report.evidence[int(moved)], report.requests, prior
    )
    for label, (value, low, high) in expected.items():
        assert found[label, "value", moved] == figure(value)
        assert found[label, "interval", moved] == interval(low, high)
