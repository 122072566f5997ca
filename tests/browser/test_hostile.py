"""Hostile names and odd data: the page is right and inert."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import halftruth as ht
from halftruth._registry import REGISTRY
from halftruth.cli import main
from halftruth.results._estimate import figure
from halftruth.simulate import GaussianClasses

from .conftest import watch
from .reports import Report, interval, metrics_of, number_in, slide, type_in, value_cell

pytestmark = pytest.mark.browser

POPULATION = GaussianClasses(prior=0.3)
NAMES = [
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'; DROP TABLE scores; --",
    "<!-- <script>",
    "]]>&lt;b&gt;&amp;&#60;",
    "${x} $title $data $$",
    "{{x}} {% x %} %s {0}",
    "\x01\x02\x1b[31m\x7f\x85",
    "\u202ereversed\u202c\u2066",
    "\u2028\u2029\ufeff",
    "long " * 400,
    "__proto__",
    "constructor",
    "toString",
    "\\u003c \\ \\\\ \\n",
    "=cmd|'/C calc'!A0",
    "javascript:alert(1)",
    "style='position:fixed'",
    "π “ß” √ 😀",
    " ",
    "",
]
# What none of our pages has, and what every name above would add if it came alive.
INJECTED = (
    "img, iframe, object, embed, link, base, audio, video, form[action], [onerror], [onclick], [onload]"
)


def assert_inert(page: Any) -> None:
    assert page.locator(INJECTED).count() == 0
    assert page.locator("script").count() == 2
    assert page.locator("style").count() == 1
    kinds = page.evaluate("[...document.scripts].map(script => [script.type, script.src])")
    assert kinds == [["application/json", ""], ["", ""]]
    assert page.evaluate("Object.keys(Object.prototype).length + Object.keys(Array.prototype).length") == 0
    policy = page.get_attribute("meta[http-equiv=Content-Security-Policy]", "content")
    assert policy.startswith("default-src 'none'")
    assert "unsafe-eval" not in policy
    assert "script-src 'sha256-" in policy
    # The page is up to its end: nothing that stands in a name has closed it early.
    assert page.locator("#csv").count() == 1


def plain(text: str) -> str:
    """As a reader sees it, whatever white space and controls became."""
    return "".join(text.split()).translate(dict.fromkeys([*range(32), 127, 0x85, 0xFEFF, 0xFFFD]))


# --- The watch itself -----------------------------------------------------------------------------------

FAULTS = {
    "console error": "<script>console.error('x')</script>",
    "console warning": "<script>console.warn('x')</script>",
    "error": "<script>throw new Error('x')</script>",
    "dialog": "<script>setTimeout(() => alert(1))</script>",
    "request": "<img src='x.png'>",
    "new window": "<script>open('about:blank')</script>",
}


@pytest.mark.parametrize("kind", FAULTS)
def test_what_is_not_quiet_is_seen(kind: str, browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "loud.html"
    path.write_text(f"<!doctype html><title>x</title>{FAULTS[kind]}")
    page = browser.new_page()
    faults: list[str] = []
    watch(page, path.as_uri(), faults)
    page.goto(path.as_uri())
    page.wait_for_timeout(100)
    page.close()
    assert any(fault.startswith(kind) for fault in faults)


# --- Names ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", range(0, len(NAMES), 5))
def test_names_of_models_are_only_names(start: int, tmp_path: Path, open_page: Any) -> None:
    names = NAMES[start : start + 5] if start + 5 <= len(NAMES) else NAMES[-5:]
    models = {name: POPULATION.positive_unlabeled(60, 300, rng=i) for i, name in enumerate(names)}
    path = tmp_path / "report.html"
    ht.compare(models, paired=False, n_resamples=20).to_html(path)
    report = Report.of(path, list(models.values()))
    assert [model["name"] for model in report.data["models"]] == names
    page = open_page(path)
    assert_inert(page)
    text = plain(page.inner_text("body"))
    assert [name for name in names if plain(name)[:60] not in text] == []
    assert metrics_of(page) == report.home_cells()
    type_in(page, "#prior-number", 0.27)
    assert metrics_of(page) == report.cells(0.27, 1.0)
    with page.expect_download():
        page.click("#csv")
    page.hover("#roc")
    assert_inert(page)


def test_labels_of_metrics_are_only_names(tmp_path: Path, open_page: Any) -> None:
    names = [name for name in NAMES if name]  # without a label of its own a row has its metric's
    metrics = {name: ["roc_auc", "brier", "average_precision"][i % 3] for i, name in enumerate(names)}
    evidence = POPULATION.positive_unlabeled(60, 300, rng=0)
    path = tmp_path / "report.html"
    ht.evaluate(evidence, metrics, n_resamples=20).to_html(path)
    report = Report.of(path, [evidence], metrics)
    page = open_page(path)
    assert metrics_of(page) == report.home_cells()
    assert {label for label, *_ in metrics_of(page)} == set(names)
    slide(page, "#prior", 300)
    assert metrics_of(page) == report.cells(number_in(page, "#prior-number"), 1.0)
    assert_inert(page)


def test_a_download_does_no_sums_in_a_spreadsheet(tmp_path: Path, open_page: Any) -> None:
    metrics = {"=1+1": "roc_auc", "+1": "brier", "@SUM(A1)": "log_loss", 'a,"b"\nc': "average_precision"}
    ht.evaluate(POPULATION.positive_unlabeled(60, 300, rng=0), metrics, n_resamples=20).to_html(
        tmp_path / "r.html"
    )
    page = open_page(tmp_path / "r.html")
    with page.expect_download() as waiting:
        page.click("#csv")
    with Path(waiting.value.path()).open(encoding="utf-8-sig", newline="") as file:
        labels = [row["quantity"] for row in csv.DictReader(file) if row["part"] == "metrics"]
    assert not any(label[0] in "=+@-" for label in labels)
    assert [label.lstrip("'") for label in labels] == list(metrics)


def write_groups(path: Path, groups: list[str], n: int, seed: int = 0) -> None:
    rng = np.random.default_rng(seed)
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["score <b>", "'label\"", "group </script>"])
        for group in groups:
            draw = POPULATION.draw(n, rng)
            known = (draw.y == 1) & (rng.random(n) < 0.4)
            known[np.argmax(draw.y)] = True
            out.writerows((s, 1 if k else "", group) for s, k in zip(draw.score.tolist(), known, strict=True))


def columns(path: Path, report: Path) -> list[str]:
    named = ["--score", "score <b>", "--label", "'label\"", "--by", "group </script>"]
    return ["evaluate", str(path), *named, "--prior", "0.3", "--n-resamples", "20", "--html", str(report)]


@pytest.mark.parametrize("start", [0, 5, 10])
def test_names_in_a_file_are_only_names(start: int, tmp_path: Path, open_page: Any) -> None:
    path, report = tmp_path / 'a"<b>&.csv', tmp_path / "report.html"
    write_groups(path, NAMES[start : start + 5], 200)
    assert main(columns(path, report)) == 0
    page = open_page(report)
    assert_inert(page)
    names = [model["name"] for model in Report(report, (), ()).data["models"]]
    assert sorted(names) == sorted(NAMES[start : start + 5])
    text = plain(page.inner_text("body"))
    assert [name for name in names if plain(name)[:60] not in text] == []
    assert metrics_of(page) == Report(report, (), ()).home_cells()


def test_two_hundred_groups_are_a_table(
    tmp_path: Path, open_page: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    path, report = tmp_path / "scores.csv", tmp_path / "report.html"
    groups = [*NAMES[:10], *(f"group {i}" for i in range(190))]
    write_groups(path, groups, 40)
    assert main([*columns(path, report), "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)["groups"]
    assert report.stat().st_size < 405_000
    page = open_page(report)
    assert_inert(page)
    models = Report(report, (), ()).data["models"]
    assert [model["name"] for model in models] == list(told)
    assert sorted(told) == sorted(groups)
    assert not any("table" in model or "errors" in model for model in models)
    found = dict(page.evaluate(GROUPS))
    assert len(found) == sum(len(result["metrics"]) for result in told.values())
    for i, (name, result) in enumerate(told.items()):
        for label, row in result["metrics"].items():
            value = value_cell(row["value"], REGISTRY[label].limits, row["low"], row["high"])
            assert found[f"{i} {label}"] == [plain(name), value, stacked(label, row)]
    assert not page.locator("#prior").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


GROUPS = """() => [...document.querySelectorAll('#groups td[data-metric]')].map(td => {
    const plain = text => text.replace(/[\\s\\x00-\\x1f\\x7f\\x85\\ufeff\\ufffd]/g, '');
    const name = plain(td.closest('tr').querySelector('th').textContent);
    return [`${td.dataset.model} ${td.dataset.metric}`, [name, td.firstChild.data, td.querySelector('small').textContent]];
})"""


def stacked(label: str, row: dict[str, Any]) -> str:
    return f"{interval(row['low'], row['high'], REGISTRY[label].limits)} · naive {figure(row['naive'])}"


# --- Odd data -------------------------------------------------------------------------------------------

RNG = np.random.default_rng(5)
SCORES = RNG.random(300)
ODD = {
    "one positive": lambda: ht.PositiveUnlabeled([0.8], SCORES, prior=0.3),
    "one positive, no prior": lambda: ht.PositiveUnlabeled([0.8], SCORES),
    "two rows": lambda: ht.PositiveUnlabeled([0.8], [0.2], prior=0.3),
    "constant": lambda: ht.PositiveUnlabeled([0.5] * 40, [0.5] * 300, prior=0.3),
    "constant, no prior": lambda: ht.PositiveUnlabeled([0.5] * 40, [0.5] * 300),
    "constant, labeled": lambda: ht.Labeled([0, 1] * 40, [0.5] * 80),
    "zeros and ones": lambda: ht.PositiveUnlabeled([0, 1, 1, 1] * 20, [0, 0, 0, 1] * 60, prior=0.3),
    "zeros and ones, labeled": lambda: ht.Labeled([0, 1, 1, 1, 0] * 20, [0, 1, 1, 0, 1] * 20),
    "perfect": lambda: ht.Labeled([0] * 50 + [1] * 50, np.linspace(0, 1, 100)),
    "huge": lambda: ht.PositiveUnlabeled(SCORES[:60] * 1e300, SCORES * 1e300 - 5e299, prior=0.3),
    "tiny": lambda: ht.PositiveUnlabeled(SCORES[:60] * 1e-300, SCORES * 1e-300, prior=0.3),
    "refuted": lambda: POPULATION.positive_unlabeled(200, 900, rng=0, prior=0.9),
}


def assert_no_slips(page: Any) -> None:
    """Nothing that only a program says, neither in words nor in a drawing."""
    for text, words in ((page.inner_text("body"), ""), (page.locator("#live").inner_html(), "|undefined")):
        slips = re.findall(rf".{{0,40}}(?:NaN|Infinity|\bnull\b|\[object|\bnan\b{words}).{{0,20}}", text)
        assert slips == []


@pytest.mark.parametrize("name", ODD)
def test_odd_data_give_a_right_page(name: str, tmp_path: Path, open_page: Any) -> None:
    evidence = ODD[name]()
    path = tmp_path / "report.html"
    ht.evaluate(evidence, threshold=0.5, n_resamples=20).to_html(path)
    report = Report.of(path, [evidence], None, 0.5)
    page = open_page(path)
    home = metrics_of(page)
    assert home == report.home_cells()
    assert len(home) == 3 * len(report.requests)
    assert_no_slips(page)
    if page.locator("#prior").is_visible():
        for place in (0, 333, 1000):
            slide(page, "#prior", place)
            assert metrics_of(page) == report.cells(number_in(page, "#prior-number"), 1.0), place
            assert_no_slips(page)
    assert_inert(page)


def test_ten_million_rows(tmp_path: Path, open_page: Any) -> None:
    path, written = tmp_path / "big.parquet", tmp_path / "report.html"
    duckdb.sql(
        f"""COPY (
            SELECT CASE WHEN y THEN sqrt(u) ELSE 1 - sqrt(1 - u) END AS score, CASE WHEN y AND v < 30 THEN 1 END AS label
            FROM (SELECT hash(i, 1) % 100 < 30 AS y, (hash(i, 2) % 1000003) / 1000003 AS u, hash(i, 3) % 100 AS v
                  FROM range(10000000) AS rows(i))
        ) TO '{path}'"""
    )
    assert main(["evaluate", str(path), "--prior", "0.3", "--n-resamples", "0", "--html", str(written)]) == 0
    assert written.stat().st_size < 400_000
    table = ht.ScoreTable.from_file(path)
    report = Report.of(written, [ht.PositiveUnlabeled.from_table(table, prior=0.3, population="all")])
    page = open_page(written)
    home = metrics_of(page)
    assert home == report.home_cells()
    # ∫ of these classes: a positive beats a negative with probability 5/6.
    assert home["roc_auc", "value", "0"].startswith("0.83")
    for place in (0, 500, 1000):
        slide(page, "#prior", place)
        assert metrics_of(page) == report.cells(number_in(page, "#prior-number"), 1.0), place
