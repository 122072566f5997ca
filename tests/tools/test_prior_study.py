"""The study of the prior's estimators runs from end to end, and its page leaves nobody out."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path

import numpy as np
import pytest
from tools.prior_study.families import prior_families

from halftruth.prior._methods import METHODS

ROOT = Path(__file__).parents[2]
SETS = ("pima", "adult", "gsec_pu")
SMALL = (
    *("--draws", "2", "--slow-draws", "1", "--members", "1", "--families", "anchored", "overlapping"),
    *("--alphas", "0.3", "--sizes", "50/300", "100/500"),
    *("--repetitions", "1", "--slow-repetitions", "0", "--refits", "0", "--time-sizes", "50/500"),
)


@pytest.fixture
def module():
    """``module(name)``: a module of the study, which is no part of the installed package."""
    return lambda name: importlib.import_module(f"tools.prior_study.{name}")


@pytest.fixture
def study(module, tmp_path, monkeypatch):
    """``study(*options)``: the page of a run on few trees and on stand-ins for the data sets."""
    held_out = importlib.import_module("halftruth.prior._from_features")
    monkeypatch.setattr(held_out, "N_TREES", 40)
    for name in SETS:
        rng = np.random.default_rng(1)
        # A thousand positives of the larger set are labeled.
        y = np.arange(2000) < 1200 if name == "adult" else np.arange(300) < 150
        x = rng.normal(size=(len(y), 2)) + 2 * y[:, None]
        np.savez(tmp_path / f"{name}.npz", X=x, y=y.astype(np.int8))
    (tmp_path / "record.md").write_text("What was tried.\n")

    def run(*options):
        places = {"out": "page.md", "cache": "cache", "record": "record.md", "data": "."}
        named = [text for option, at in places.items() for text in (f"--{option}", str(tmp_path / at))]
        module("__main__").main([*SMALL, "--sets", *SETS, *named, *options])
        return (tmp_path / "page.md").read_text()

    return run


def row(page, title, name):
    """The cells of the first line of this name in a section."""
    section = page.partition(f"# {title}\n")[2].partition("\n#")[0]
    (line, *_) = (line for line in section.splitlines() if line.startswith(f"| {name} |"))
    return [cell.strip(" *") for cell in line.strip("|").split("|")[1:]]


def test_a_small_study_from_end_to_end(study, tmp_path):
    page = study()
    kept = {path.stem: json.loads(path.read_text()) for path in (tmp_path / "cache").glob("*.json")}
    assert set(kept) == {"example", "simulators", "real", "noisy", "time"}
    assert "Not run" not in page
    assert page.endswith("<!-- auto-record -->\n\nWhat was tried.\n")

    cells = kept["simulators"]["cells"]
    assert len(cells) == 2 * 1 * 2
    for cell in cells:
        assert {name: len(values) for name, values in cell["estimates"].items()} == {
            name: 1 if name in ("km1", "km2") else 2 for name in METHODS
        }
    shown = row(page, "Mean |α̂ − α|", "`bbe`")
    errors = [
        np.mean([abs(x - 0.3) for c in cells if c["family"] == family for x in c["estimates"]["bbe"]])
        for family in ("anchored", "overlapping")
    ]
    assert [float(x) for x in shown] == pytest.approx([*errors, np.mean(errors)], abs=6e-4)

    (pima,) = kept["real"]["clean"]
    assert {len(errors) for errors in pima["error"].values()} == {1}
    assert set(METHODS) - set(pima["error"]) == {"km1", "km2", "mixture"}
    assert row(page, "Real data, clean labels", "`tice`, features")[0] == (
        f"{np.mean(np.abs(pima['error']['tice, features'])):.3f}"
    )
    assert row(page, "Real data, clean labels", "AlphaMax in the paper")[0] == "0.191"
    noisy = {one["purity"]: one["error"] for one in kept["noisy"]["sets"]}
    assert row(page, "Real data, some labels wrong", "pima") == [
        *(f"{np.mean(np.abs(noisy[0.95][m])):.3f}" for m in ("auto", "alphamax")), "0.155",
        *(f"{np.mean(np.abs(noisy[0.75][m])):.3f}" for m in ("auto", "alphamax")), "0.149",
    ]  # fmt: skip
    (timed,) = kept["time"]["sizes"]
    assert set(timed["seconds"]) == {"upper bound", *METHODS}


def test_a_part_is_run_alone_and_the_others_are_kept(study, tmp_path):
    first = study("--part", "time")
    assert "np.sort" in first
    assert first.count("*Not run yet.*") == 4
    before = (tmp_path / "cache/time.json").read_bytes()
    assert study("--part", "page") == first
    second = study("--part", "simulators", "--draws", "1", "--sizes", "50/300")
    assert second.count("*Not run yet.*") == 3
    assert (tmp_path / "cache/time.json").read_bytes() == before
    assert first.partition("## Time")[2] == second.partition("## Time")[2]


def test_the_best_is_bold_and_what_does_not_compete_is_not(module):
    rows = {"bbe": {"a": 0.2, "b": 0.1}, "em": {"a": 0.1}, "mixture": {"a": 0.05, "b": 0.01}}
    lines = module("markdown").best_in_bold(["a", "b"], rows, ["mixture"]).splitlines()
    assert lines[2:] == [
        "| `bbe` | 0.200 | **0.100** |",
        "| `em` | **0.100** | – |",
        "| `mixture` | 0.050 | 0.010 |",
    ]


@pytest.mark.parametrize("purity", [1.0, 0.75])
def test_the_protocol_of_the_paper(module, purity):
    y = np.arange(20_000) < 4_000
    x = np.arange(20_000.0)[:, None]
    case = module("real").case(x, y, 1000, purity, np.random.default_rng(0))
    labeled, unlabeled = (case.x[rows, 0].astype(int) for rows in (case.labeled, ~case.labeled))
    assert len(labeled) == 1000
    assert y[labeled].sum() == 1000 * purity
    assert len(unlabeled) == 10_000
    assert len(np.unique(np.append(labeled, unlabeled))) == 11_000
    assert case.alpha == y[unlabeled].mean()
    # Of 19,000 rows left, 3,000 or 3,250 are positive; a random 10,000 of them come close.
    assert case.alpha == pytest.approx((4000 - 1000 * purity) / 19_000, abs=0.01)


def test_an_unknown_family_is_refused(study):
    with pytest.raises(SystemExit, match="No family odd"):
        study("--part", "simulators", "--families", "odd")


def test_the_page_lists_every_method_family_and_data_set(module):
    page = (ROOT / "docs/prior-estimators.md").read_text()
    real = module("real")
    sets = [*real.PAPER, *real.OVERLAPPING, *real.TRUTH_UNKNOWN]
    assert len(sets) == 12
    assert not [name for name in METHODS if page.count(f"| `{name}` |") < 2]
    assert not [name for name in (*sets, *prior_families()) if not re.search(rf"\| {name} \|", page)]
    assert "<!-- auto-record -->" in page
    assert str(ROOT) not in page
