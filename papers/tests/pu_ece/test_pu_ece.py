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

from halftruth._errors import InputError, MissingDependency
from halftruth.simulate import logistic_model
from halftruth_papers import pu_ece
from halftruth_papers.page import Page
from halftruth_papers.pu_ece import PAPER, experiments, tables, training, verdicts
from halftruth_papers.pu_ece import page as pu_ece_page
from halftruth_papers.pu_ece import paper as pu_ece_run
from halftruth_papers.pu_ece import settings as pu_ece_settings
from halftruth_papers.pu_ece import sources as pu_ece_sources
from halftruth_papers.pu_ece.logit_mixture import LogitMixture
from halftruth_papers.pu_ece.recipes import RECIPES, WAYS, Recipe
from halftruth_papers.pu_ece.settings import (
    BINNINGS,
    BOTH_GROW,
    DESIGNS,
    LABELED,
    LIMITS,
    LINES,
    PRIOR_BINS,
    RATIOS,
    SYNTHETIC,
    Plan,
    perturbed,
)
from halftruth_papers.reproduction import prepare, run

TINY = Plan(sizes=(10, 40), trials=3, networks={"cpu": 2, "cuda": 4}, passes=70)
MIXTURE = LogitMixture(positive=[(0.3, -0.5, 1.0), (0.7, 0.8, 0.3)], negative=[(1.0, -4.0, 2.0)], prior=0.45)


def networks_of(drawn: Any, device: str = "one core", n: int = 2) -> dict[str, Any]:
    """What training tells of all ways of learning."""
    each = {
        "seconds": 3.0,
        "seen": [1, 2],
        "error": [0.3, 0.2],
        "error_sd": [0.1, 0.1],
        "risk": [0.2, 0.1],
        "least_risk": [0.1, 0.0],
        "n_bins": [5] * n,
        **{name: [0.1 + 0.1 * i for i in range(n)] for name in ("errors", "ece", "pu_ece", "debiased")},
    }
    chosen = {"which": 0, "logits": drawn.x.tolist(), "y": drawn.y.tolist()}
    ways = {way: {**each, **(chosen if way == "nnpu" else {})} for way in WAYS}
    return {"networks": n, "passes": 2, "device": device, **ways}


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
    found = experiments.cell(model, design, n, 3, seed)
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
    found = experiments.cell(model, LABELED, n, 2, seed)["estimates"]
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
        found = experiments.cell(model, design, n, 1, seed)["estimates"]["width"][0]
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
    assert (
        experiments.limit(model, 50, 4, [9])["estimates"]
        == experiments.cell(model, "n-inf", 50, 4, [9])["estimates"]
    )


def test_every_line_has_its_estimates_and_a_seed_gives_them_again() -> None:
    model = logistic_model()
    for design in DESIGNS:
        found = experiments.cell(model, design, 12, 2, [1])
        assert found == experiments.cell(model, design, 12, 2, [1])
        assert found != experiments.cell(model, design, 12, 2, [2])
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
    assert experiments.n_bins(27.0) == 3
    assert experiments.n_bins(27.1) == 4


# --- how it is judged ---------------------------------------------------------------------------------


def power_law(slope: float, spread: float, truth: float = 0.1) -> dict[str, Any]:
    """Results of one model whose every bias falls so."""
    results: dict[str, Any] = {"less.about": {"truth": truth, "prior": 0.5, "components": None}}
    results["less.bins"] = {binning: [truth] * 20 for binning in BINNINGS}
    for n in LIMITS:
        estimates = {binning: [truth + 0.9, truth + 1.1] for binning in BINNINGS}
        results[f"less.limit.{n}"] = {"n": n, "estimates": estimates}
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
        (-0.29, 0.0, 0.1, "no: −0.29 for PU-ECE, n_P = N, n_U = ∞ with bins of uniform mass"),
        (-0.29, 0.5, 0.1, "no, but within noise"),
        (-0.6, 0.0, 0.1, "yes"),
        (-0.33, 0.0, 0.0, "yes"),
        (-0.38, 0.0, 0.0, "no: −0.38 for PU-ECE, n_P = N, n_U = ∞ with bins of uniform mass"),
        (-0.27, 0.0, 0.0, "no: −0.27 for PU-ECE, n_P = N, n_U = ∞ with bins of uniform mass"),
        (-0.38, 0.5, 0.0, "no, but within noise"),
    ],
)
def test_slopes_are_judged_by_what_they_must_be(
    slope: float, spread: float, truth: float, verdict: str
) -> None:
    assert verdicts.steep(power_law(slope, spread, truth), "less") == verdict


def test_points_off_their_line_are_not_called_noise() -> None:
    """A slope within noise of what it must be, but the middle point far above: bins of an odd number."""
    results = power_law(-0.29, 0.2)
    part = results[f"less.{LABELED}.100"]
    part["estimates"]["mass"] = [0.1 + 4 * (x - 0.1) for x in part["estimates"]["mass"]]
    line = tables.line(results, "less", "mass", (LABELED, ""))
    # Off by 4 at the middle of three points, the line by a third of log 4: residuals 1 : −2 : 1 thirds.
    error = 0.2 / math.sqrt(3)
    assert line.misfit == pytest.approx(math.log(4) / error * math.sqrt(6) / 3)
    said = verdicts.steep(results, "less")
    assert said == (
        f"no: −0.29 for ECE, n = N, B = ⌈n^(1/3)⌉ with bins of uniform mass, whose points lie {line.misfit:.0f} "
        f"standard errors off a straight line, so that its slope is that of no power of N"
    )
    results["less.bins"]["mass"][9] = 0.05  # ten bins at N = 1000
    alone = "; at the largest N the bins alone are off by −0.0500, where the bias is"
    assert alone not in verdicts.steep(results, "less")
    results["less.bins"]["mass"][9] = 0.0
    assert "bins alone are off by −0.1000, where the bias is 0.1349" in verdicts.steep(results, "less")


def test_two_points_are_always_on_a_line() -> None:
    line = tables.line(power_law(-0.4, 0.2), "less", "mass", (LABELED, ""))
    two = type(line)(n=line.n[:2], estimates=line.estimates[:2], truth=line.truth)
    assert math.isnan(two.misfit)
    assert line.misfit == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("binning", list(BINNINGS))
def test_bins_alone_are_what_very_many_rows_show(binning: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiments, "POINTS", 20_000)
    sure, wrong = (0.94, 8.0, 3.0), (0.06, -8.0, 3.0)
    mirrored = [(weight, -mean, sd) for weight, mean, sd in (sure, wrong)]
    model = LogitMixture(positive=[sure, wrong], negative=mirrored, prior=0.5)
    found = experiments.binned_errors(model, 6)[binning]
    drawn = model.draw(100_000, 0)
    order = np.argsort(drawn.score)
    gap = (drawn.y - drawn.score)[order]
    for b, own in enumerate(found, start=1):
        edges = np.searchsorted(drawn.score[order], np.arange(1, b) / b, side="right")
        parts = np.array_split(gap, b) if binning == "mass" else np.split(gap, edges)
        by_rows = sum(abs(part.sum()) for part in parts) / len(gap)
        assert own == pytest.approx(by_rows, abs=5 * math.sqrt(b / 4 / len(gap)))
    if binning == "mass":  # of five bins the middle one hides its gaps, which turn their sign in it
        assert found[4] < 0.92 * found[3]


def test_odd_and_even_numbers_of_bins_are_told_apart() -> None:
    results = power_law(-0.5, 0.1)
    results["less.bins"]["mass"] = [0.05 if b % 2 else 0.1 for b in range(1, 21)]
    assert verdicts.hidden(results, "less") == "less calibrated, odd B 50% and even B 100%"
    results["less.bins"]["mass"][4] = 0.04
    assert verdicts.hidden(results, "less") == "less calibrated, odd B 40% to 50% and even B 100%"
    columns, rows = tables.odd_and_even(results)
    assert columns == ["model", "bins", "TCE", *(f"B = {b}" for b in (4, 5, 10, 11, 16, 17))]
    assert rows[0][2:] == ["0.1000", "0.1000", "0.0400", "0.1000", "0.0500", "0.1000", "0.0500"]


def test_every_estimate_has_as_many_bins_as_is_told() -> None:
    prior, n = MIXTURE.prior, 200
    for design, estimator in LINES:
        sizes = DESIGNS[design].sizes(n)
        size = 1 / (prior**2 / sizes[0] + 1 / sizes[1])
        if design == LABELED:
            size = n / prior**2 if estimator == PRIOR_BINS else n
        assert experiments.bins_of(design, estimator, n, prior) == math.ceil(size ** (1 / 3))


def test_it_is_said_by_model_whether_few_positives_have_ended() -> None:
    """The limit is 1 off, ±.1/√2·1.96 at two trials; the line at N = 1000 as given."""
    results = power_law(-0.5, 0.0)
    for n in LIMITS:
        for name in BINNINGS:
            results[f"less.{n}-n.1000"]["estimates"][name] = [1.1, 1.1, 1.1]
    within = "Within noise (1.96 standard errors) it has got there for less calibrated."
    assert verdicts.ended(results) == within
    results["less.100-n.1000"]["estimates"]["mass"] = [2.1, 2.1, 2.1]
    own, last = experiments.bins_of("100-n", "", 1000, 0.5), experiments.bins_of("n-inf", "", 100, 0.5)
    where = f"n_P = 100, bins of uniform mass, {own} of them and {last} in the limit"
    assert verdicts.ended(results) == f"Less calibrated: 2.00 times it ({where})."


def test_a_wrong_prior_moves_no_estimate_by_more_than_its_error() -> None:
    model = logistic_model()
    results = {"less.about": {"truth": model.truth("calibration_error"), "prior": 0.5, "components": None}}
    for n in (10, 300):
        results[f"less.{BOTH_GROW}.{n}"] = experiments.cell(model, BOTH_GROW, n, 20, [n])
    assert 0.3 < tables.most_moved(results) <= 1 + 1e-12


# --- the run ------------------------------------------------------------------------------------------


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(pu_ece_settings, "FULL", TINY)
    monkeypatch.setattr(pu_ece_settings, "QUICK", TINY)
    monkeypatch.setattr(experiments, "POINTS", 1_000)
    monkeypatch.setattr(pu_ece_sources, "FASHION_PACKAGE", Path("none"))
    monkeypatch.delenv("HALFTRUTH_DATA", raising=False)


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page without anything on it: figures take seconds."""
    monkeypatch.setattr(pu_ece_page, "page", lambda *_: Page("bare"))


@pytest.fixture
def two_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page of fewer models: each costs a panel of every figure."""
    monkeypatch.setattr(pu_ece_run, "SYNTHETIC", {"exact": SYNTHETIC["exact"]})


@pytest.mark.usefixtures("tiny", "two_models")
def test_a_run_makes_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = MIXTURE.draw(600, 0)
    monkeypatch.setattr(pu_ece_sources, "available", lambda _: {"mnist": tmp_path, "cifar": tmp_path})
    monkeypatch.setattr(pu_ece_sources, "check", lambda *_: None)
    monkeypatch.setattr(pu_ece_run, "trained_on", lambda _: "cpu")
    monkeypatch.setattr(pu_ece_run, "_learned", lambda *_: networks_of(drawn))
    outcome = run(PAPER, None, tmp_path, quick=True, rng=0, progress=False)
    assert outcome.notes == [
        "This is a quick run: few trials, sizes and passes. Its figures are rough.",
        "Not found, and left out: the data of Fashion-MNIST and bank clients. Name the folder of the data "
        "sets, or let HALFTRUTH_DATA name it.",
        'CIFAR-10 is left out: without CUDA its network takes hours. device="cpu" trains it nonetheless.',
    ]

    fitted = LogitMixture.fit(drawn.x, drawn.y)
    about = outcome.results["mnist.about"]
    assert about["truth"] == pytest.approx(fitted.truth("calibration_error"))
    assert about["components"] == [len(fitted.positive), len(fitted.negative)]

    page = outcome.page.read_text(encoding="utf-8")
    assert outcome.page.name == "pu-ece.html"
    assert "is an upper bound" in page
    assert "prints no numbers" in page
    assert "the text at hand, without its appendices, does not say" in page
    assert "the one of median ECE" in page
    assert "What bins hide." in page
    assert "4 + 3 components, π = 0.49" in page
    assert f"{about['components'][0]} + {about['components'][1]} components" in page
    assert {path.name for path in tmp_path.glob("*.svg")} == {
        f"{name}-{binning}.svg"
        for name in ("figure-1", "figure-2", "figure-3", "debiased")
        for binning in BINNINGS
    } | {"networks.svg"}
    for table in outcome.summary:
        assert len(table.labels) == len(table.numbers)
        assert {len(row) + 2 for row in table.numbers} == {len(table.header)}


@pytest.mark.usefixtures("tiny", "bare")
def test_a_run_goes_on_where_it_stopped_and_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    settings: dict[str, Any] = {"quick": False, "rng": 0, "progress": False}
    outcome = run(PAPER, None, tmp_path, **settings, say=said.append)
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
    cell = experiments.cell

    def counted(*args: Any) -> dict[str, Any]:
        made.append(args[1:3])
        return cell(*args)

    monkeypatch.setattr(experiments, "cell", counted)
    again = run(PAPER, None, tmp_path, **settings, say=said.append)
    assert made == [("n-inf", 40)]
    assert again.results == outcome.results
    assert said[0] != said[1]
    with pytest.raises(InputError, match="rng 0"):
        run(PAPER, None, tmp_path, **{**settings, "rng": 1})


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Data of two models, a device that is CUDA, and what is asked of it."""
    drawn, asked = MIXTURE.draw(600, 0), []

    def learned(source: Any, recipe: Recipe, **settings: Any) -> dict[str, Any]:
        asked.append((source, recipe, settings))
        return networks_of(drawn, settings["device"], settings["n"])

    monkeypatch.setattr(pu_ece_sources, "available", lambda _: dict.fromkeys(("mnist", "cifar"), tmp_path))
    monkeypatch.setattr(pu_ece_sources, "read", lambda name, path: name)
    monkeypatch.setattr(pu_ece_sources, "check", lambda *_: None)
    monkeypatch.setattr(pu_ece_run, "trained_on", lambda _: "cuda")
    fake = SimpleNamespace(learned=learned)
    monkeypatch.setattr(pu_ece, "networks", fake, raising=False)
    monkeypatch.setitem(sys.modules, "halftruth_papers.pu_ece.networks", fake)
    return asked


ELSEWHERE: dict[str, Any] = {"quick": False, "rng": 0, "device": "auto"}


@pytest.mark.usefixtures("tiny")
def test_networks_are_trained_alone(tmp_path: Path, asked: list[Any]) -> None:
    pu_ece_run.train(None, tmp_path, device="cuda")
    assert [(source, recipe) for source, recipe, _ in asked] == [
        (name, RECIPES[name]) for name in ("mnist", "cifar")
    ]
    assert [settings for *_, settings in asked] == [
        {"n": 4, "passes": 70, "seed": [0, 1, 3], "device": "cuda"},
        {"n": 1, "passes": 50, "seed": [0, 1, 6], "device": "cuda"},
    ]
    assert {path.stem for path in (tmp_path / "cells").iterdir()} == {"mnist-networks", "cifar-networks"}


@pytest.mark.usefixtures("tiny", "asked")
def test_trained_networks_need_neither_pytorch_nor_data_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = ("mnist", "cifar")
    kept = {f"{name}-networks" for name in real}
    pu_ece_run.train(None, tmp_path, device="cuda")
    monkeypatch.setattr(pu_ece_run, "trained_on", lambda _: None)
    for there in (dict.fromkeys(real, tmp_path), {}):
        monkeypatch.setattr(pu_ece_sources, "available", lambda _, there=there: there)
        made, store, steps = prepare(PAPER, None, tmp_path, **ELSEWHERE)
        assert set(store.kept(steps)) == kept
        assert {key.partition(".")[0] for key in set(steps) - kept if "." in key} == {*SYNTHETIC, *real}
        (note,) = made.notes()
        assert "left out: the data of Fashion-MNIST and bank clients." in note
    monkeypatch.setattr(pu_ece_sources, "available", lambda _: dict.fromkeys(real, tmp_path))
    made, _, steps = prepare(PAPER, None, tmp_path / "without", **ELSEWHERE)
    assert {key.partition(".")[0] for key in steps} == set(SYNTHETIC)
    assert (
        made.notes()[1]
        == "Left out: MNIST and CIFAR-10. Networks need PyTorch: pip install 'halftruth[torch]'."
    )


@pytest.mark.usefixtures("tiny", "bare", "two_models")
def test_a_run_that_stopped_on_one_device_goes_on_on_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: list[Any]
) -> None:
    """Of a model all ways of learning have as many networks: nothing is half of the one, half of the other."""
    pu_ece_run.train(None, tmp_path, device="cuda")
    (tmp_path / "cells" / "cifar-networks.json").unlink()
    monkeypatch.setattr(pu_ece_run, "trained_on", lambda _: "cpu")
    monkeypatch.setattr(pu_ece_sources, "available", lambda _: dict.fromkeys(("mnist", "fashion"), tmp_path))
    outcome = run(PAPER, None, tmp_path, quick=False, rng=0, progress=False, device="cpu")
    kept = {name: outcome.results[f"{name}-networks"] for name in ("mnist", "fashion")}
    assert [kept[name]["device"] for name in kept] == ["cuda", "cpu"]
    assert [kept[name]["networks"] for name in kept] == [4, 2]
    assert [source for source, *_ in asked] == ["mnist", "cifar", "fashion"]
    _, rows = training.errors(outcome.results)
    assert [row[:2] for row in rows] == [["MNIST", 4], ["Fashion-MNIST", 2]]
    told = (
        "MNIST, 4 networks side by side on cuda in 9 s; Fashion-MNIST, 2 networks side by side on cpu in 9 s"
    )
    assert training.times(outcome.results) == told


@pytest.mark.usefixtures("tiny", "asked")
def test_figures_whose_networks_are_gone_are_refused(tmp_path: Path) -> None:
    _, store, _ = prepare(PAPER, None, tmp_path, **ELSEWHERE)
    store.put("mnist-mixture", {})
    with pytest.raises(InputError, match=r"figures of MNIST without the networks.*another folder"):
        prepare(PAPER, None, tmp_path, **ELSEWHERE)


@pytest.mark.usefixtures("tiny", "asked")
def test_files_are_checked_before_any_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: list[Any]
) -> None:
    checked: list[str] = []

    def check(name: str, path: Path) -> None:
        checked.append(name)
        if name == "cifar":
            raise InputError("damaged")

    monkeypatch.setattr(pu_ece_sources, "check", check)
    with pytest.raises(InputError, match="damaged"):
        pu_ece_run.train(None, tmp_path, device="cuda")
    assert checked == ["mnist", "cifar"]
    assert asked == []


def test_without_pytorch_there_is_no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert pu_ece_run.trained_on("auto") is None
    assert pu_ece_run.trained_on("cpu") is None
    with pytest.raises(MissingDependency, match=r"halftruth\[torch\]"):
        pu_ece_run.trained_on("cuda")
    with pytest.raises(InputError, match="device"):
        pu_ece_run.trained_on("tpu")


def test_the_plans_reach_from_ten_to_ten_thousand() -> None:
    for plan in (pu_ece_settings.FULL, pu_ece_settings.QUICK):
        assert (plan.sizes[0], plan.sizes[-1]) == (10, 10_000)
        assert list(plan.sizes) == sorted(plan.sizes)
    assert pu_ece_settings.FULL.trials == 100


def test_it_is_said_where_the_debiased_estimate_is_worse() -> None:
    results = power_law(-0.5, 0.1)
    assert verdicts.not_better(results) == []
    for n, factor in ((10, 1.04), (100, 1.06), (1000, 2.0)):
        estimates = results[f"less.{BOTH_GROW}.{n}"]["estimates"]
        estimates["width-debiased"] = [0.1 + factor * (x - 0.1) for x in estimates["width"]]
    assert verdicts.not_better(results) == [
        "less calibrated, uniform width, at N = 100 to 1,000 (up to 2.00 times)"
    ]
    columns, rows = tables.debiased(results, "width")
    assert columns == ["model", "RMSE", "10", "100", "1,000"]
    assert [row[:2] for row in rows] == [["less calibrated", name] for name in ("PU-ECE", "debiased", "÷")]
    assert rows[2][2:] == pytest.approx([1.04, 1.06, 2.0])


def test_the_table_of_figure_1() -> None:
    results = power_law(-0.4, 0.2)
    results["less.bins"]["mass"][9] = 0.08
    columns, rows = tables.convergence(results, "mass")
    (row,) = (row for row in rows if row[1] == "ECE, n = N, B = ⌈n^(1/3)⌉")
    named = dict(zip(columns, row, strict=True))
    assert named["slope"] == "−0.400"
    assert (named["B"], named["bins alone"]) == (10, "−0.0200")
    assert named["bias"] == f"{1000**-0.4:.4f}"
    assert named["signed"] == f"+{1000**-0.4:.4f}"
    assert named["off the line"] == "0.0"


def test_a_summary_needs_only_the_results() -> None:
    first, second = tables.summary_tables(power_law(-0.5, 0.1))
    assert first.numbers[0] == pytest.approx([-0.5, -0.5, 1000**-0.5, 1000**-0.5])
    rmse = 1000**-0.5 * math.sqrt(1 + 2 * 0.1**2 / 3)
    assert second.numbers[0] == pytest.approx([rmse, rmse])
