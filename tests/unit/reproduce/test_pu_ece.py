"""The PU-ECE paper done again: its estimates by hand, how slopes are judged, the run that makes the page."""

from __future__ import annotations

import csv
import math
import sys
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from halftruth import reproduce
from halftruth.errors import InputError
from halftruth.reproduce import pu_ece_cells as cells
from halftruth.reproduce import pu_ece_page, pu_ece_run, pu_ece_settings, pu_ece_sources
from halftruth.reproduce import pu_ece_tables as tables
from halftruth.reproduce.page import Page
from halftruth.reproduce.pu_ece_recipes import RECIPES, WAYS, Recipe
from halftruth.reproduce.pu_ece_settings import (
    BINNINGS,
    BOTH_GROW,
    DESIGNS,
    LABELED,
    LINES,
    PRIOR_BINS,
    RATIOS,
    SYNTHETIC,
    Plan,
    perturbed,
)
from halftruth.simulate import LogitMixture, logistic_model

TINY = Plan(sizes=(10, 40), trials=3, networks={"cpu": 2, "cuda": 4}, passes=70)
MIXTURE = LogitMixture(positive=[(0.3, -0.5, 1.0), (0.7, 0.8, 0.3)], negative=[(1.0, -4.0, 2.0)], prior=0.45)


NETWORKS = {
    "networks": 2,
    "passes": 2,
    "device": "one core",
    "seconds": 3.0,
    "seen": [1, 2],
    "error": [0.3, 0.2],
    "error_sd": [0.1, 0.1],
    "risk": [0.2, 0.1],
    "least_risk": [0.1, 0.0],
    **{name: [0.1, 0.3] for name in ("errors", "ece", "pu_ece", "debiased")},
}
"""What training tells, but for the logits."""


def logits_of(drawn: Any) -> dict[str, Any]:
    return {"logits": drawn.x.tolist(), "y": drawn.y.tolist()}


def by_hand(positive: Any, unlabeled: Any, prior: float, n_bins: int, binning: str) -> float:
    """The paper's formula."""
    inner = np.arange(1, n_bins) / n_bins
    if binning == "mass":
        ranks = [len(unlabeled) * b // n_bins for b in range(1, n_bins)]
        inner = np.sort(unlabeled)[np.array(ranks, dtype=int) - 1]
    edges = np.concatenate([[-1.0], inner, [1.0]])
    total = 0.0
    for low, high in pairwise(edges):
        known = prior * np.mean((low < positive) & (positive <= high))
        total += abs(known - np.sum(unlabeled[(low < unlabeled) & (unlabeled <= high)]) / len(unlabeled))
    return total


# --- what is measured ---------------------------------------------------------------------------------


@pytest.mark.parametrize("design", [BOTH_GROW, "100-n", "1000-n"])
@pytest.mark.parametrize("model", [logistic_model(-0.2, 1.9), MIXTURE], ids=["logistic", "mixture"])
def test_estimates_from_positives_are_those_of_the_paper_s_formula(model: Any, design: str) -> None:
    n, seed = 30, [7, 1]
    found = cells.cell(model, design, n, 3, seed)
    assert found["n"] == n
    n_positive, n_unlabeled = (int(size) for size in DESIGNS[design].sizes(n))
    n_bins = math.ceil((model.prior**2 / n_positive + 1 / n_unlabeled) ** (-1 / 3))
    rng = np.random.default_rng(seed)
    for trial in range(3):
        strata = model.draw_strata(n_positive, n_unlabeled, rng)
        rows = strata.positive.score, strata.unlabeled.score
        for binning in BINNINGS:
            ratios = (1.0, *RATIOS) if design == BOTH_GROW else (1.0,)
            for ratio in ratios:
                own = by_hand(*rows, ratio * model.prior, n_bins, binning)
                assert found["estimates"][binning + perturbed(ratio)][trial] == pytest.approx(own, abs=1e-12)


def test_estimates_from_labels_have_either_number_of_bins() -> None:
    model, n, seed = MIXTURE, 60, [3]
    found = cells.cell(model, LABELED, n, 2, seed)["estimates"]
    rng = np.random.default_rng(seed)
    for trial in range(2):
        drawn = model.draw(n, rng)
        for name, n_bins in (
            ("", math.ceil(n ** (1 / 3))),
            (PRIOR_BINS, math.ceil((n / 0.45**2) ** (1 / 3))),
        ):
            for binning in BINNINGS:
                # With P the positives of U and π their share, the formula is that of labels.
                own = by_hand(drawn.score[drawn.y == 1], drawn.score, drawn.y.mean(), n_bins, binning)
                assert found[binning + name][trial] == pytest.approx(own, abs=1e-12)


def test_infinite_samples_are_the_laws() -> None:
    model, n, seed = logistic_model(), 40, [5]
    x = np.linspace(-10, 10, 200_001)
    normal = [np.exp(-((x - m) ** 2) / 2) for m in (-1, 1)]
    law, of_positives = (weights / weights.sum() for weights in (normal[0] + normal[1], normal[1]))
    score = 1 / (1 + np.exp(-(-0.5 + 1.5 * x)))
    for design, n_bins in (("n-inf", math.ceil((n / 0.25) ** (1 / 3))), ("inf-n", math.ceil(n ** (1 / 3)))):
        found = cells.cell(model, design, n, 1, seed)["estimates"]["width"][0]
        rng = np.random.default_rng(seed)
        drawn = model.draw_class(1, n, rng).score if design == "n-inf" else model.draw(n, rng).score
        at, where = (np.minimum(np.ceil(s * n_bins) - 1, n_bins - 1).astype(int) for s in (score, drawn))
        known: Any = 0.5 * np.bincount(where, minlength=n_bins) / n
        claimed: Any = np.bincount(at, law * score)
        if design == "inf-n":
            known = 0.5 * np.bincount(at, of_positives, minlength=n_bins)
            claimed = np.bincount(where, drawn, minlength=n_bins) / n
        assert found == pytest.approx(np.abs(known - claimed).sum(), abs=1e-4)  # a grid point in each bin


def test_a_limit_is_the_line_of_infinite_unlabeled_rows_at_its_size() -> None:
    model = logistic_model()
    assert cells.limit(model, 50, 4, [9])["estimates"] == cells.cell(model, "n-inf", 50, 4, [9])["estimates"]


def test_every_line_has_its_estimates_and_a_seed_gives_them_again() -> None:
    model = logistic_model()
    for design in DESIGNS:
        found = cells.cell(model, design, 12, 2, [1])
        assert found == cells.cell(model, design, 12, 2, [1])
        assert found != cells.cell(model, design, 12, 2, [2])
        names = {binning + name for own, name in LINES if own == design for binning in BINNINGS}
        assert set(found["estimates"]) == names
        assert all(len(values) == 2 and np.isfinite(values).all() for values in found["estimates"].values())


def test_sizes_of_the_designs() -> None:
    assert {key: design.sizes(20) for key, design in DESIGNS.items()} == {
        "n-inf": (20, math.inf),
        "inf-n": (math.inf, 20),
        "n-10n": (20, 200),
        "100-n": (100, 20),
        "1000-n": (1000, 20),
        "labeled": (20, 20),
    }
    assert cells.n_bins(27.0) == 3
    assert cells.n_bins(27.1) == 4


# --- how it is judged ---------------------------------------------------------------------------------


def power_law(slope: float, spread: float, truth: float = 0.1) -> dict[str, Any]:
    """Results of one model whose every bias falls so."""
    results: dict[str, Any] = {"less.about": {"truth": truth, "prior": 0.5, "components": None}}
    for design in DESIGNS:
        for n in (10, 100, 1000):
            bias = n**slope * np.array([1 - spread, 1 + spread, 1.0])
            names = [binning + name for own, name in LINES if own == design for binning in BINNINGS]
            estimates = {name: (truth + bias).tolist() for name in names}
            results[f"less.{design}.{n}"] = {"n": n, "estimates": estimates}
    return results


def test_the_slope_is_that_of_a_power_law_and_its_error_the_propagated_one() -> None:
    line = tables.line(power_law(-0.4, 0.2), "less", "mass", (LABELED, ""))
    assert line.slope == pytest.approx(-0.4, abs=1e-12)
    assert line.mean == pytest.approx([10**-0.4, 100**-0.4, 1000**-0.4])
    # log N is −h, 0, h around its mean: the slope is (last − first) / 2h, the relative error .2/√3 each.
    expected = 0.2 / math.sqrt(3) * math.sqrt(2) / (2 * math.log(10))
    assert line.slope_error == pytest.approx(expected)
    low, high = line.percentiles
    assert low[0] == pytest.approx(10**-0.4 * 0.82)
    assert high[0] == pytest.approx(10**-0.4 * 1.18)


@pytest.mark.parametrize(
    ("slope", "spread", "truth", "verdict"),
    [
        (-0.31, 0.0, 0.1, "yes"),
        (-0.29, 0.0, 0.1, "no"),
        (-0.29, 0.5, 0.1, "no, but within noise"),
        (-0.6, 0.0, 0.1, "yes"),
        (-0.33, 0.0, 0.0, "yes"),
        (-0.38, 0.0, 0.0, "no"),
        (-0.27, 0.0, 0.0, "no"),
        (-0.38, 0.5, 0.0, "no, but within noise"),
    ],
)
def test_slopes_are_judged_by_what_they_must_be(
    slope: float, spread: float, truth: float, verdict: str
) -> None:
    assert tables.verdict(power_law(slope, spread, truth), "less") == verdict


def test_a_wrong_prior_moves_no_estimate_by_more_than_its_error() -> None:
    model = logistic_model()
    results = {"less.about": {"truth": model.truth("calibration_error"), "prior": 0.5, "components": None}}
    for n in (10, 300):
        results[f"less.{BOTH_GROW}.{n}"] = cells.cell(model, BOTH_GROW, n, 20, [n])
    assert 0.3 < tables.most_moved(results) <= 1 + 1e-12


# --- the run ------------------------------------------------------------------------------------------


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(pu_ece_run, "FULL", TINY)
    monkeypatch.setattr(pu_ece_run, "QUICK", TINY)
    monkeypatch.setattr(pu_ece_sources, "FASHION_PACKAGE", Path("none"))
    monkeypatch.delenv("HALFTRUTH_DATA", raising=False)


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page without anything on it: figures take seconds."""
    monkeypatch.setattr(pu_ece_page, "page", lambda *_: Page("bare"))


@pytest.mark.usefixtures("tiny")
def test_a_run_makes_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = MIXTURE.draw(600, 0)
    monkeypatch.setattr(pu_ece_sources, "found", lambda _: {"mnist": tmp_path, "cifar": tmp_path})
    monkeypatch.setattr(pu_ece_run, "_device", lambda _: "cpu")
    monkeypatch.setattr(
        pu_ece_run, "_trained", lambda *args: {**NETWORKS, **logits_of(drawn), "way": args[2]}
    )
    outcome = pu_ece_run.run(None, tmp_path, quick=True, rng=0, progress=False)
    assert outcome.notes == [
        "This is a quick run: few trials, sizes and passes. Its figures are rough.",
        "Not found, and left out: the data of Fashion-MNIST and bank clients. Name the folder of the data "
        "sets, or let HALFTRUTH_DATA name it.",
        'CIFAR-10 is left out: without CUDA its network takes hours. device="cpu" trains it nonetheless.',
    ]
    assert [outcome.results[f"mnist-{way}"]["way"] for way in WAYS] == list(WAYS)

    fitted = LogitMixture.fit(drawn.x, drawn.y)
    about = outcome.results["mnist.about"]
    assert about["truth"] == pytest.approx(fitted.truth("calibration_error"))
    assert about["components"] == [len(fitted.positive), len(fitted.negative)]

    page = outcome.page.read_text(encoding="utf-8")
    assert outcome.page.name == "pu-ece.html"
    assert "is an upper bound" in page
    assert "prints no numbers" in page
    assert "4 + 3 components, π = 0.49" in page
    assert f"{about['components'][0]} + {about['components'][1]} components" in page
    assert {path.name for path in tmp_path.glob("*.svg")} == {
        f"{name}-{binning}.svg"
        for name in ("figure-1", "figure-2", "figure-3", "debiased")
        for binning in BINNINGS
    } | {"networks.svg"}
    for table in tables.summary_tables(outcome):
        assert len(table["labels"]) == len(table["numbers"])
        assert {len(row) + 2 for row in table["numbers"]} == {len(table["header"])}


@pytest.mark.usefixtures("tiny", "bare")
def test_a_run_goes_on_where_it_stopped_and_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    settings: dict[str, Any] = {"quick": False, "rng": 0, "progress": False}
    outcome = pu_ece_run.run(None, tmp_path, **settings, say=said.append)
    assert len(outcome.notes) == 1
    assert "left out: the data of MNIST, Fashion-MNIST and bank clients." in outcome.notes[0]
    assert tables.models(outcome.results) == ["less", "better", "exact"]

    with (tmp_path / "all.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3 * len(BINNINGS) * len(LINES) * len(TINY.sizes)
    one = tables.line(outcome.results, "better", "width", (BOTH_GROW, ""))
    where = {"model": "better calibrated", "binning": "width", "N": "40", "estimate": "plain"}
    where["samples"] = DESIGNS[BOTH_GROW].label
    (own,) = (row for row in rows if where.items() <= row.items())
    assert float(own["mean bias"]) == one.mean[1]

    (tmp_path / "cells" / "less.n-inf.40.json").unlink()
    made = []
    cell = cells.cell

    def counted(*args: Any) -> dict[str, Any]:
        made.append(args[1:3])
        return cell(*args)

    monkeypatch.setattr(cells, "cell", counted)
    again = pu_ece_run.run(None, tmp_path, **settings, say=said.append)
    assert made == [("n-inf", 40)]
    assert again.results == outcome.results
    assert said[0] != said[1]
    with pytest.raises(InputError, match="rng 0"):
        pu_ece_run.run(None, tmp_path, **{**settings, "rng": 1})


@pytest.mark.usefixtures("tiny")
def test_networks_are_trained_alone_and_the_run_goes_on_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn, asked = MIXTURE.draw(600, 0), []

    def trained(source: Any, recipe: Recipe, way: str, **settings: Any) -> dict[str, Any]:
        asked.append((source, recipe, way, settings))
        return {**NETWORKS, **logits_of(drawn)}

    real = dict.fromkeys(("mnist", "cifar"), tmp_path)
    monkeypatch.setattr(pu_ece_sources, "found", lambda _: real)
    monkeypatch.setattr(pu_ece_sources, "read", lambda name, path: name)
    fake = SimpleNamespace(trained=trained)
    monkeypatch.setattr(pu_ece_run, "_device", lambda _: "cuda")
    monkeypatch.setattr(reproduce, "pu_ece_networks", fake, raising=False)
    monkeypatch.setitem(sys.modules, "halftruth.reproduce.pu_ece_networks", fake)
    pu_ece_run.train(None, tmp_path, device="cuda")
    assert [(source, recipe, way) for source, recipe, way, _ in asked] == [
        (name, RECIPES[name], way) for name in real for way in WAYS
    ]
    several, one = asked[0][3], asked[-1][3]
    assert several == {"n": 4, "passes": 70, "seed": [0, 1, 3], "device": "cuda"}
    assert one == {"n": 1, "passes": 50, "seed": [0, 1, 6], "device": "cuda"}
    kept = {f"{name}-{way}" for name in real for way in WAYS}
    assert {path.stem for path in (tmp_path / "cells").iterdir()} == kept

    settings: dict[str, Any] = {"quick": False, "rng": 0, "device": "auto"}
    _, store, steps, _ = pu_ece_run._prepared(None, tmp_path, **settings)
    assert set(store.kept(steps)) == kept
    assert {key.partition(".")[0] for key in set(steps) - kept if "." in key} == {*SYNTHETIC, *real}

    monkeypatch.setattr(pu_ece_run, "_device", lambda _: None)
    _, _, steps, notes = pu_ece_run._prepared(None, tmp_path / "without", **settings)
    assert {key.partition(".")[0] for key in steps} == set(SYNTHETIC)
    assert notes[1] == "Left out: MNIST and CIFAR-10. Networks need PyTorch: pip install 'halftruth[torch]'."


def test_without_pytorch_there_is_no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert pu_ece_run._device("auto") is None


def test_the_plans_reach_from_ten_to_ten_thousand() -> None:
    for plan in (pu_ece_settings.FULL, pu_ece_settings.QUICK):
        assert (plan.sizes[0], plan.sizes[-1]) == (10, 10_000)
        assert list(plan.sizes) == sorted(plan.sizes)
    assert pu_ece_settings.FULL.trials == 100


def test_it_is_said_where_the_debiased_estimate_is_worse() -> None:
    results = power_law(-0.5, 0.1)
    assert tables.not_better(results) == []
    for n, factor in ((10, 0.5), (100, 2.0), (1000, 2.0)):
        estimates = results[f"less.{BOTH_GROW}.{n}"]["estimates"]
        estimates["width-debiased"] = [0.1 + factor * (x - 0.1) for x in estimates["width"]]
    assert tables.not_better(results) == ["less calibrated, uniform width, at N = 100 and 1,000"]
    columns, rows = tables.debiased(results, "width")
    assert columns == ["N", "less", "debiased", "÷"]
    assert [row[3] for row in rows] == pytest.approx([0.5, 2.0, 2.0])


def test_a_summary_needs_only_the_results() -> None:
    outcome = SimpleNamespace(results=power_law(-0.5, 0.1))
    first, second = tables.summary_tables(outcome)
    assert first["numbers"][0] == pytest.approx([-0.5, -0.5, 1000**-0.5, 1000**-0.5])
    rmse = 1000**-0.5 * math.sqrt(1 + 2 * 0.1**2 / 3)
    assert second["numbers"][0] == pytest.approx([rmse, rmse])
