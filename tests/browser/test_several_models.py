"""Several models or groups on one page: each cell, and each difference, is Python's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import halftruth as ht
from halftruth.cli import main
from halftruth.results._comparison import Comparison
from halftruth.results._estimate import figure

from .conftest import DRAWN
from .figures_at import figures_at
from .reports import NONE, Report, metrics_of, shown, type_in
from .test_report import POPULATION, assert_confusion, assert_thresholds, ends_of, weighted

pytestmark = pytest.mark.browser


def compared(tmp_path: Path) -> tuple[Report, Comparison]:
    rng = np.random.default_rng(16)
    y = rng.random(1200) < 0.3
    label = np.where(y & (rng.random(1200) < 0.5), 1.0, np.nan)
    scores = {name: 1 / (1 + np.exp(-rng.normal(2 * sharp * y - sharp))) for name, sharp in
              (("sharp", 1.5), ("blunt", 1.0), ("dull", 0.6))}  # fmt: skip
    models = {
        name: ht.PositiveUnlabeled.from_labels(label, score, prior=0.3) for name, score in scores.items()
    }
    comparison = ht.compare(models, threshold=0.5, n_resamples=50)
    path = tmp_path / "compared.html"
    comparison.to_html(path)
    report = Report.of(path, list(models.values()), None, 0.5)
    return report, comparison


def test_three_models_move_together(tmp_path: Path, open_page: Any) -> None:
    report, comparison = compared(tmp_path)
    page = open_page(report.path)
    home = metrics_of(page)
    assert home == report.home_cells()
    assert {model for *_, model in home} == {"0", "1", "2"}
    assert_differences(page, report, comparison, None)
    low, high = ends_of(page, "#prior")
    for prior in (low, high, 0.25, round(0.3 * low + 0.7 * high, 5), (low + high) / 2):
        type_in(page, "#prior-number", prior)
        assert metrics_of(page) == report.cells(prior, 1.0)
        assert_differences(page, report, comparison, prior)
        for model in (1, 2, 0):
            page.select_option("#model", index=model)
            page.evaluate(DRAWN)
            assert_thresholds(page, report, model, prior, 1.0)
            assert_confusion(page, report, model, prior, 1.0)
    page.click("#reset")
    page.evaluate(DRAWN)
    assert metrics_of(page) == home
    assert_differences(page, report, comparison, None)


def assert_differences(page: Any, report: Report, comparison: Comparison, prior: float | None) -> None:
    names = [model["name"] for model in report.data["models"]]
    found = shown(page, "#differences", "pair", "metric")
    assert len(found) == 4 * sum(len(rows) for rows in comparison.pairs.values())
    at = None if prior is None else [
        figures_at(model, evidence, report.requests, prior, 1.0)
        for model, evidence in zip(report.data["models"], report.evidence, strict=True)
    ]  # fmt: skip
    for (a, b), rows in comparison.pairs.items():
        i, j = names.index(a), names.index(b)
        for label, row in rows.items():
            value, between = row.texts
            if at is not None:
                value, between = figure(at[i][label][0] - at[j][label][0]), NONE
            key = f"{i}-{j}", label
            assert found[(*key, "value")] == value
            assert found[(*key, "interval")] == between
            assert found[(*key, "flips")] == (", ".join(map(figure, row.flips)) or NONE)
            better = NONE if row.leader is None else (a, b)[row.leader]
            assert found[(*key, "better")] == (better if at is None else NONE)


def test_groups_of_a_file_share_a_page(tmp_path: Path, open_page: Any) -> None:
    rng = np.random.default_rng(17)
    draw = POPULATION.draw(2000, rng)
    month = rng.choice(["May", "June", "July"], 2000)
    label = np.where((draw.y == 1) & (rng.random(2000) < 0.4), "1", "")
    source, path = tmp_path / "scores.csv", tmp_path / "report.html"
    rows = zip(draw.score.tolist(), label, month, strict=True)
    source.write_text("\n".join(["score,label,month", *(f"{s},{y},{m}" for s, y, m in rows)]))
    options = ["--prior", "0.3", "--by", "month", "--n-resamples", "50", "--html", str(path)]
    assert main(["evaluate", str(source), *options]) == 0
    tables = ht.ScoreTable.from_file(source, by="month")
    evidence = [
        ht.PositiveUnlabeled.from_table(table, prior=0.3, population="all") for table in tables.values()
    ]
    report = Report.of(path, evidence)
    assert [model["name"] for model in report.data["models"]] == list(tables)
    page = open_page(path)
    assert metrics_of(page) == report.home_cells()
    # Each group has a population of its own: only the one that is picked moves.
    expected = report.home_cells()
    for model, prior in ((1, 0.25), (2, 0.31), (0, 0.28)):
        page.select_option("#model", index=model)
        type_in(page, "#prior-number", prior)
        expected |= {key: text for key, text in report.cells(prior, 1.0).items() if key[-1] == str(model)}
        assert metrics_of(page) == expected
    page.click("#reset")
    page.evaluate(DRAWN)
    assert metrics_of(page) == report.home_cells()


def test_five_large_models_fit_into_400_kilobytes(tmp_path: Path, open_page: Any) -> None:
    models = {f"model {i}": weighted(30 + i, 50_000) for i in range(5)}
    results = ht.compare(models, paired=False, n_resamples=0)
    path = tmp_path / "five.html"
    results.to_html(path)
    assert path.stat().st_size < 400_000
    report = Report.of(path, list(models.values()))
    page = open_page(path)
    assert metrics_of(page) == report.home_cells()
    type_in(page, "#prior-number", 0.287)
    assert metrics_of(page) == report.cells(0.287, 1.0)
