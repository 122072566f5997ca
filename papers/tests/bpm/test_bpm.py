"""Binomial process modeling done again: networks' outputs, tables, and the run that makes the page."""

from __future__ import annotations

import csv
import hashlib
import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from halftruth._errors import InputError
from halftruth_papers import drawing as reproduction
from halftruth_papers import logits, reproduce
from halftruth_papers.bpm import PAPER, experiments, tables
from halftruth_papers.bpm import figures as bpm_figures
from halftruth_papers.bpm import page as bpm_page
from halftruth_papers.bpm import paper as bpm_run
from halftruth_papers.bpm import settings as bpm_settings
from halftruth_papers.bpm.paper import BinomialProcessModeling
from halftruth_papers.page import Page
from halftruth_papers.reproduction import run
from halftruth_papers.store import Store


def outputs(n: int, seed: int = 0, *, sharp: float = 3.0) -> logits.Outputs:
    """A network of four classes that is ``sharp`` times too sure."""
    rng = np.random.default_rng(seed)
    z = 2 * rng.normal(size=(n, 4))
    chance = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    y = (rng.random(n)[:, None] > chance.cumsum(axis=1)).sum(axis=1)
    return logits.Outputs(sharp * z, y)


def network(n: int = 600) -> logits.Split:
    return logits.Split("made up", outputs(n, 0), outputs(n, 1))


# --- networks' outputs --------------------------------------------------------------------------------


def test_the_paper_s_uncalibrated_error_comes_out_to_all_its_digits(data_dir: Path) -> None:
    judge = logits.read(data_dir, 0)[logits.RESNET].judge
    ours = logits.dropped_tail_error(judge.confidence(), judge.hit, bpm_settings.N_BINS)
    assert round(ours, 5) == bpm_settings.reported()["uncalibrated"]["ece"] == 0.04755


def test_bins_of_the_paper_by_hand() -> None:
    score = np.array([0.9, 0.1, 0.5, 0.7, 0.3, 0.95, 0.2])
    hit = np.array([1, 0, 0, 1, 1, 0, 0], dtype=bool)
    # Three bins of two: (0.1, 0.2), (0.3, 0.5), (0.7, 0.9); the score 0.95 is left over.
    gaps = [0.15, 0.1, 0.2]
    assert logits.dropped_tail_error(score, hit, 3) == pytest.approx(np.mean(gaps), abs=1e-14)


def test_confidence_is_the_largest_probability() -> None:
    rows = outputs(50)
    for temperature in (0.5, 1.0, 3.0):
        raised = np.exp(rows.logits / temperature)
        own = (raised / raised.sum(axis=1, keepdims=True)).max(axis=1)
        np.testing.assert_allclose(rows.confidence(temperature), own, rtol=1e-12)
    hit = [int(np.argmax(z)) == y for z, y in zip(rows.logits, rows.y, strict=True)]
    assert rows.hit.tolist() == hit


def test_a_probability_of_zero_is_no_obstacle() -> None:
    with np.errstate(divide="ignore"):
        rows = logits.Outputs(np.log([[0.75, 0.25, 0.0], [0.0, 0.5, 0.5]]), np.array([0, 1]))
    np.testing.assert_allclose(rows.confidence(), [0.75, 0.5], rtol=1e-12)
    assert np.isfinite(logits.best_temperature(rows))


def test_the_best_temperature_has_the_least_log_loss() -> None:
    rows = outputs(5000)

    def loss(temperature: float) -> float:
        z = rows.logits / temperature
        own = np.take_along_axis(z, rows.y[:, None], axis=1)[:, 0]
        return float(np.mean(np.log(np.exp(z).sum(axis=1)) - own))

    best = logits.best_temperature(rows)
    assert loss(best) <= min(loss(t) for t in np.linspace(2, 4, 401))
    # The information about ln T in one row is the variance of a class's logit under the true law.
    z = rows.logits / 3
    chance = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    information = ((chance * z**2).sum(axis=1) - (chance * z).sum(axis=1) ** 2).sum()
    assert np.log(best / 3) == pytest.approx(0, abs=4 / np.sqrt(information))


def write(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch, **arrays: Any) -> Path:
    """A file of outputs that has the checksum asked for."""
    path = folder / f"{name}.npz"
    np.savez(path, **arrays)
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    monkeypatch.setitem(logits.SOURCES, name, replace(logits.SOURCES[name], sha256=sha256))
    return path


def test_files_of_outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HALFTRUTH_DATA", raising=False)
    assert logits.read(None, 0) == {}
    assert logits.read(tmp_path, 0) == {}
    lenet = "netcal_lenet-5-cifar-10"
    probs = np.linspace(0.5, 0.9, 9)[:, None] * [1, 0] + np.linspace(0.5, 0.1, 9)[:, None] * [0, 1]
    write(tmp_path, lenet, monkeypatch, probs=probs, labels=np.zeros(9, dtype=np.int16))
    own = logits.read(tmp_path, 0)[lenet]
    assert (len(own.learn.y), len(own.judge.y)) == (4, 5)
    both = np.sort(np.concatenate([own.learn.confidence(), own.judge.confidence()]))
    np.testing.assert_allclose(both, np.linspace(0.5, 0.9, 9), rtol=1e-12)
    monkeypatch.setenv("HALFTRUTH_DATA", str(tmp_path))
    assert logits.read(None, 0)[lenet].learn.logits.tolist() == own.learn.logits.tolist()
    seeds = {tuple(logits.read(None, seed)[lenet].learn.logits[:, 0]) for seed in range(5)}
    assert len(seeds) > 1
    z, y = np.zeros((2, 3)), np.zeros(2)
    given = {"val_logits": z, "val_labels": y, "test_logits": z + 1, "test_labels": y + 1}
    write(tmp_path, logits.RESNET, monkeypatch, **given)
    assert logits.read(None, 0)[logits.RESNET].judge.y.tolist() == [1, 1]


def test_files_that_cannot_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="must be a folder that exists"):
        logits.read(tmp_path / "none", 0)
    path = write(tmp_path, logits.RESNET, monkeypatch, probs=np.zeros(3))
    with pytest.raises(InputError, match="with the arrays val_logits, val_labels"):
        logits.read(tmp_path, 0)
    path.write_bytes(path.read_bytes() + b"!")
    with pytest.raises(InputError, match=r"resnet110_c10_logits\.npz must have the SHA-256 checksum"):
        logits.read(tmp_path, 0)


# --- what is measured ---------------------------------------------------------------------------------


def test_the_processes_are_the_paper_s_and_that_of_the_released_code() -> None:
    own = bpm_settings.processes()
    truth = {name: process.truth("calibration_error") for name, process in own.items()}
    printed = {"D1": 0.04973, "D2": 0.01293, "D3": 0.04099, "D4": 0.07383, "D5": 0.27541}
    assert {name: round(truth[name], 5) for name in printed} == printed
    at = np.linspace(0.1, 0.9, 9)
    assert own["D1r"].curve(at).tolist() == own["D1"].curve(at).tolist()
    assert truth["D1r"] > 2 * truth["D1"]


def test_samples_have_the_rows_asked_for() -> None:
    process = bpm_settings.processes()["D3"]
    for kind in bpm_settings.KINDS:
        measure = experiments.sample(process, kind, 400, np.random.default_rng(0))
        assert float(measure.total) == pytest.approx(400, rel=1e-12)
    assert float(measure.positives) == pytest.approx(400 * process.prior, rel=1e-12)


def test_errors_of_curves_are_distances_from_the_true_one(monkeypatch: pytest.MonkeyPatch) -> None:
    process = bpm_settings.processes()["D3"]
    ends = np.zeros(1), np.ones(1)

    def off(_: Any, at: Any) -> Any:
        true = np.asarray(process.curve(at))
        return {name: true + 0.01 * i * at for i, name in enumerate(experiments.CURVES)}, ends

    monkeypatch.setattr(experiments, "estimated", off)
    found = experiments.curves(process, "labeled", [0], 2)
    mean = process.a1 / (process.a1 + process.a2)
    for i, name in enumerate(experiments.CURVES):
        own = found["errors"][name]
        assert own["grid"] == pytest.approx([0.01 * i * 0.5] * 2, abs=1e-12)
        # The mean of 2,000 even quantiles is within the largest step between two of them, over 2,000.
        assert own["scores"] == pytest.approx([0.01 * i * mean] * 2, abs=0.01 * i / experiments.N_QUANTILES)
    assert found["first"]["true"] == pytest.approx(process.curve(experiments.GRID).tolist())


def test_curves_of_every_kind_are_shares() -> None:
    measure = experiments.sample(bpm_settings.processes()["D4"], "labeled", 2000, np.random.default_rng(0))
    every, (low, high) = experiments.estimated(measure, experiments.GRID)
    assert every.keys() == experiments.CURVES.keys()
    for name, curve in every.items():
        assert curve.shape == experiments.GRID.shape
        assert ((curve >= 0) & (curve <= 1)).all(), name
    assert (low <= every["histograms"]).all()
    assert (every["histograms"] <= high).all()
    assert (low < high).any()


def test_calibration_on_other_rows_on_the_same_and_from_positives() -> None:
    split = network(4000)
    found = {how: experiments.table(split, how, [0]) for how in tables.HOW}
    assert [each["rows"].keys() for each in found.values()] == [
        bpm_settings.METHODS.keys(),
        bpm_settings.METHODS.keys(),
        bpm_settings.METHODS.keys() - {"temperature"},
    ]
    before = {how: each["rows"]["uncalibrated"] for how, each in found.items()}
    assert before["held"] == before["same"] == before["pu"]
    for each in found.values():
        for method, row in each["rows"].items():
            if method != "uncalibrated":
                assert row["ece"] < 0.5 * before["held"]["ece"], (each["how"], method)
    # The isotonic fit has no gap left on its own rows, in blocks that the bins cut.
    assert found["same"]["rows"]["isotonic"]["ks"] < found["held"]["rows"]["isotonic"]["ks"]


def test_a_model_whose_confidences_are_right() -> None:
    found = experiments.if_calibrated(network(1000), [0], 3)
    assert {len(values) for values in found["values"].values()} == {3}
    assert found == experiments.if_calibrated(network(1000), [0], 3)
    assert len(set(found["values"]["ece"])) == 3


# --- tables -------------------------------------------------------------------------------------------


def test_the_printed_table() -> None:
    printed = bpm_settings.reported()
    assert set(printed) < set(bpm_settings.METHODS)
    for name in bpm_settings.COLUMNS:
        best = min(printed, key=lambda method: printed[method][name])
        worst = max(printed, key=lambda method: printed[method][name])
        assert (best, worst) == ("bpm", "uncalibrated")


def test_how_often_a_metric_is_the_closest() -> None:
    nan = np.nan
    values = {
        "a": np.array([1.0, 5.0, 2.0, nan]),
        "b": np.array([3.0, 2.5, 8.0, nan]),
        "c": np.array([9.0, nan, 3.0, 4.0]),
        "truth": np.full(4, 2.0),
    }
    # A tie of a and b; b; a; c.
    assert tables.closest(values, ["a", "b", "c"]) == {"a": 1.5 / 4, "b": 1.5 / 4, "c": 1 / 4}
    assert tables.rmse({**values, "a": np.array([1.0, 5.0, 2.0, 4.0])}, "a") == pytest.approx(np.sqrt(14 / 4))


def test_at_how_many_sizes_the_mean_is_the_closest() -> None:
    far = {name: np.array([9.0, 9.0]) for name in bpm_settings.METRICS}
    first = {**far, "bpm": np.array([0.0, 4.0]), "ece": np.array([2.5, 2.5]), "truth": np.array([2.0, 2.0])}
    second = {**first, "bpm": np.array([1.9, 4.0])}
    assert tables.closest(tables.pooled({1: first, 2: second}), bpm_settings.COMPARED)["bpm"] == 0.25
    assert tables.sizes_won({1: first, 2: second}, "bpm") == 1
    assert tables.sizes_won({1: first, 2: second}, "ece") == 1


def made_up() -> dict[str, Any]:
    """Two processes, two blocks each, of which every metric is off by its place."""
    results = {}
    for kind in bpm_settings.KINDS:
        for process, truth in (("D1", 0.05), ("D1r", 0.1)):
            for i in range(2):
                values = {name: [truth + 0.01 * j] * 3 for j, name in enumerate(bpm_settings.METRICS)}
                cell = {"kind": kind, "n": 500 * (i + 1), "truth": truth, "values": values}
                results[f"errors-{kind}-{process}-{cell['n']}-0"] = cell
    return results


def test_the_overview_of_metrics() -> None:
    columns, rows = tables.overview(made_up(), "pu")
    assert columns[1:4] == ["D1", "D1, code", "mean"]
    for j, row in enumerate(rows):
        assert row[1:4] == pytest.approx([j, j, j], abs=1e-9)
    by_name = {row[0]: row[-2:] for row in rows}
    assert by_name["ECE width"] == [None, 100]
    assert by_name["ECE mass"] == [100, 0]
    columns, rows = tables.by_size(made_up(), "labeled", "mean")
    assert rows[1][:4] == ["D1", 1000, pytest.approx(5), pytest.approx(5)]
    assert tables.by_size(made_up(), "labeled", "sd")[1][1][3] == pytest.approx(0, abs=1e-9)


def test_curve_errors_are_percent_of_all_blocks() -> None:
    def block(*errors: float) -> dict[str, Any]:
        both = {"grid": list(errors), "scores": [2 * x for x in errors]}
        return {"errors": dict.fromkeys(experiments.CURVES, both)}

    results = {"curves-labeled-D1-0": block(0.01, 0.02), "curves-labeled-D1-1": block(0.06)}
    columns, rows = tables.curve_table(results, "grid")
    row = dict(zip(columns[:5], rows[0], strict=False))
    assert row.pop("from") == "labels"
    assert row == pytest.approx({"": "D1", "BPM": 3, "±": np.std([1, 2, 6]), "paper": 0.99})
    assert len(columns) == len(rows[0])
    assert tables.curve_table(results, "scores")[1][0][2] == pytest.approx(6)


def test_figures_have_a_panel_for_each_process_and_one_legend() -> None:
    pytest.importorskip("matplotlib")
    values = tables.metric_values(made_up(), "labeled")
    for draw in (bpm_figures.means, bpm_figures.distances):
        figure = draw(values)
        assert [ax.get_title() for ax in figure.axes] == ["D1", "D1, code"]
        labels = [text.get_text() for text in figure.legends[0].get_texts()]
        assert set(bpm_settings.SAID.values()) <= set(labels)
    # No metric is so high here that the axis would be cut, but the truth sets where it would be.
    values["D1"][500]["logit"][:] = 99
    assert bpm_figures.means(values).axes[0].get_ylim()[1] == pytest.approx(bpm_figures.HIGHEST * 5)
    flat = experiments.GRID.tolist()
    curve = dict.fromkeys(("low", "high", "true", "bpm", "authors", "histograms"), flat)
    figure = bpm_figures.curves(dict.fromkeys("abcd", curve))
    assert [ax.get_title() for ax in figure.axes] == ["a", "b", "c", "d", "", ""]
    assert reproduction.svg(figure, "curves").startswith("<svg")


# --- the run ------------------------------------------------------------------------------------------

TINY = bpm_settings.Plan(sizes=(200, 400), repeats=2, curves=1, block=1, draws=2)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.delenv("HALFTRUTH_DATA", raising=False)
    monkeypatch.setattr(bpm_settings, "QUICK", TINY)
    monkeypatch.setattr(experiments, "N_CURVE", 500)
    own = bpm_settings.processes()
    few = {name: own[name] for name in ("D1", bpm_settings.AS_RELEASED)}
    for module in (bpm_run, bpm_page):
        monkeypatch.setattr(module, "processes", lambda: few)


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.usefixtures("tiny")
def test_a_run_writes_a_page_and_its_tables_and_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Figures are made, but drawing them is what takes long.
    monkeypatch.setattr(reproduction, "svg", lambda figure, name: f"<svg id='{name}'></svg>")
    split = network()
    monkeypatch.setattr(logits, "read", lambda *_: dict.fromkeys([logits.RESNET], split))
    page = reproduce("bpm", out=tmp_path, quick=True)
    text = page.read_text(encoding="utf-8")
    assert page == tmp_path / "bpm.html"
    for said in ("Figure 1(a)", "Figure 1(b)", "Figure 1(c)", "Table 1", "Not found: netcal_lenet"):
        assert said in text
    assert text.count("<svg") == 7
    rows = {path.stem: read(path) for path in tmp_path.glob("*.csv")}
    assert {name: len(each) for name, each in rows.items()} == {
        "figure-1b-even": 4,
        "figure-1b-scores": 4,
        **{f"figure-1c-{kind}": len(bpm_settings.METRICS) for kind in bpm_settings.KINDS},
        **{f"figure-1c-{kind}-{what}": 4 for kind in bpm_settings.KINDS for what in ("mean", "sd")},
        "table-1-definition": 1,
        "table-1-held-resnet": len(bpm_settings.METHODS),
        "table-1-same-resnet": len(bpm_settings.METHODS),
        "table-1-pu-resnet": len(bpm_settings.METHODS) - 1,
        "calibrated-resnet": 4,
    }
    assert rows["figure-1c-labeled-mean"][0]["TCE"].startswith("4.97")
    assert rows["table-1-definition"][0]["paper"] == "4.755"

    kept = {path.stem: path.read_text(encoding="utf-8") for path in (tmp_path / "cells").iterdir()}
    damaged = tmp_path / "cells" / "errors-pu-D1r-400-1.json"
    damaged.write_text("{", encoding="utf-8")
    for name in ("curves", "table", "if_calibrated"):
        monkeypatch.setattr(experiments, name, lambda *_: pytest.fail("a result that was kept is made again"))
    monkeypatch.setattr(bpm_page, "page", lambda *_: Page("again"))
    outcome = run(PAPER, None, tmp_path, quick=True, rng=0, progress=False)
    assert {key: json.dumps(cell) for key, cell in outcome.results.items()} == kept
    for table in outcome.summary:
        assert {len(row) for row in table.numbers} == {len(table.header) - 2}
        assert len(table.labels) == len(table.numbers)
    with pytest.raises(InputError, match="holds a run of bpm with rng 0, and this one has 1"):
        reproduce("bpm", out=tmp_path, quick=True, rng=1)


@pytest.mark.usefixtures("tiny")
def test_what_a_run_says_of_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    two = {"a": lambda: {"x": 1}, "b": lambda: {"x": 2}}
    monkeypatch.setattr(BinomialProcessModeling, "steps", lambda *_: two)
    monkeypatch.setattr(BinomialProcessModeling, "summary", lambda *_: [])
    written: dict[str, Any] = {}

    def page(results: Any, notes: list[str]) -> Page:
        written.update(results, notes=notes)
        return Page("t")

    monkeypatch.setattr(bpm_page, "page", page)
    lines: list[str] = []
    settings: dict[str, Any] = {"rng": 0, "progress": True, "say": lines.append}
    outcome = run(PAPER, None, tmp_path / "out", quick=True, **settings)
    assert written == {"a": {"x": 1}, "b": {"x": 2}, "notes": outcome.notes}
    assert [note.partition(":")[0] for note in outcome.notes] == ["This is a quick run", "Not found"]
    assert "Figure 1(a) and Table 1 are left out" in outcome.notes[1]
    assert lines == [f"{PAPER.title}, quick run: 0 of 2 parts done; the rest takes a while."]
    assert len(run(PAPER, None, tmp_path / "full", quick=False, **settings).notes) == 1


def test_parts_have_seeds_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logits, "read", lambda *_: {"resnet": network(20)})
    steps = BinomialProcessModeling(None, quick=True, rng=7).steps(Store(tmp_path, {}))
    seeds = [
        tuple(arg)
        for key, step in steps.items()
        if isinstance(step, partial) and key.startswith(("curves", "errors"))
        for arg in step.args
        if isinstance(arg, list)
    ]
    assert len(seeds) == len(set(seeds))
    assert {seed[0] for seed in seeds} == {7}
