"""`halftruth compare`: groups, and gates on differences."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import halftruth as ht
from halftruth.cli import main
from halftruth.cli._gates import Gate

RNG = np.random.default_rng(0)
N = 600
TRUTH = RNG.random(N) < 0.4
KNOWN = np.where(TRUTH & (RNG.random(N) < 0.5), 1, np.nan)
REGION = np.where(RNG.random(N) < 0.5, "north", "south")
MODELS = {
    name: np.round(np.clip(RNG.normal(0.4 + shift * TRUTH, 0.2), 0, 1), 3)
    for name, shift in (("good", 0.4), ("fair", 0.2), ("poor, really", 0.05))
}
FEW = ["--n-resamples", "60"]
TWO = ["--score", "good", "--score", "fair", "--prior", "0.4", "--metrics", "roc_auc,brier"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("compare")
    frame = pd.DataFrame({**MODELS, "label": KNOWN, "region": REGION, "full": TRUTH.astype(int)})
    frame.to_csv(path / "rows.csv", index=False)
    frame[:300].to_csv(path / "first.csv", index=False)
    frame[300:].query("region == 'north'").to_csv(path / "second.csv", index=False)
    frame.assign(label=frame.label.where(frame.region == "north")).to_csv(path / "half.csv", index=False)
    return path


@pytest.fixture
def run(run: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(folder)
    return lambda *args: run("compare", *args, *FEW)


def expected(rows: Any = slice(None)) -> dict[str, Any]:
    models = {
        name: ht.PositiveUnlabeled.from_labels(KNOWN[rows], MODELS[name][rows], prior=0.4)
        for name in ("good", "fair")
    }
    return ht.compare(models, ["roc_auc", "brier"], n_resamples=60).to_dict()


# --- Groups -------------------------------------------------------------------------------------------


def test_each_group_is_compared_by_itself(run: Any) -> None:
    status, out, err = run("rows.csv", *TWO, "--by", "region", "--format", "json")
    assert status == 0
    found = json.loads(out)
    assert (found["schema"], found["by"]) == (1, "region")
    assert found["groups"] == {name: expected(name == REGION) for name in ("north", "south")}
    assert err.count("SCAR") == 1


def test_groups_for_people_and_spreadsheets(run: Any) -> None:
    out = run("rows.csv", *TWO, "--by", "region")[1]
    lead = "One prior, π = 0.4, was taken for every region.\n\n"
    assert out.startswith(f"{lead}region = north\n==============\ngood: PositiveUnlabeled(")
    assert "\nregion = south\n" in out
    three = ["--score", "good", "--score", "fair", "--score", "poor, really", "--prior", "0.4"]
    assert "region = south, good against fair\n" in run("rows.csv", *three, "--by", "region")[1]
    table = list(csv.DictReader(io.StringIO(run("rows.csv", *TWO, "--by", "region", "--format", "csv")[1])))
    assert [(row["region"], row["metric"]) for row in table] == [
        (region, metric) for region in ("north", "south") for metric in ("roc_auc", "brier")
    ]
    values = expected(REGION == "south")["pairs"][0]["metrics"]["brier"]
    assert float(table[-1]["difference"]) == values["value"]


def test_files_are_split_too_and_a_group_must_be_in_all(run: Any) -> None:
    args = ["first.csv", "second.csv", "--no-paired", "--score", "good", "--prior", "0.4"]
    status, out, err = run(*args, "--metrics", "roc_auc", "--by", "region", "--format", "json")
    found = json.loads(out)["groups"]
    assert status == 0
    assert list(found) == ["north", "south"]
    assert found["north"]["paired"] is False
    assert found["south"]["error"].startswith("no row of second.csv.")
    assert "Note: region = south: not evaluated: no row of second.csv." in err


def test_a_group_without_positives_stops_no_other(run: Any) -> None:
    status, out, err = run("half.csv", *TWO, "--by", "region")
    assert status == 0
    assert "region = south\n==============\nNOT EVALUATED: None of " in out
    assert "Note: region = south: not evaluated: None of " in err
    table = run("half.csv", *TWO, "--by", "region", "--format", "csv")[1].splitlines()
    assert table[-1].startswith(f'south{"," * table[0].split(",").index("status")}not evaluated,"None of ')
    assert run("half.csv", *TWO, "--by", "region", "--strict")[0] == 3
    status, _, err = run("half.csv", *TWO, "--by", "region", "--require", "roc_auc>0")
    assert status == 3
    assert "Not identifiable: region = south: roc_auc>0.0: not evaluated." in err


def test_by_does_not_go_with_id(run: Any) -> None:
    status, out, err = run("first.csv", "rows.csv", "--score", "good", "--id", "region", "--by", "region")
    assert (status, out) == (2, "")
    assert "--by does not go with --id" in err


def test_a_saved_table_among_columns_is_refused(run: Any, folder: Path) -> None:
    ht.Labeled(TRUTH, MODELS["good"]).table.save(folder / "table.npz")
    status, out, err = run("rows.csv", "table.npz", *TWO)
    assert (status, out) == (2, "")
    assert "table.npz has one score a row" in err


# --- Gates --------------------------------------------------------------------------------------------


def test_a_gate_is_on_first_minus_second(run: Any) -> None:
    assert run("rows.csv", *TWO, "--require", "roc_auc>=0", "--require", "brier.low<1")[0] == 0
    status, out, err = run("rows.csv", *TWO, "--require", "roc_auc<=0", "--require", "roc_auc.high>9")
    difference = expected()["pairs"][0]["metrics"]["roc_auc"]
    assert status == 1
    assert "difference" in out
    assert f"Failed: roc_auc<=0.0: roc_auc of good minus fair is {difference['value']:.6g}." in err
    assert f"Failed: roc_auc.high>9.0: roc_auc.high of good minus fair is {difference['high']:.6g}." in err


def test_a_pair_may_be_named_in_either_order(run: Any) -> None:
    args = ["rows.csv", "--zeros", "negative", "--label", "full", "--metrics", "roc_auc"]
    for model in MODELS:
        args += ["--score", model]
    row = ht.compare(
        {name: ht.Labeled(TRUTH, MODELS[name]) for name in ("good", "poor, really")},
        ["roc_auc"],
        n_resamples=60,
    )["roc_auc"]
    assert run(*args, "--require", "good,poor, really:roc_auc.low>0")[0] == 0
    status, _, err = run(*args, "--require", "poor, really,good:roc_auc>=0")
    assert status == 1
    assert f"roc_auc of poor, really minus good is {-row.value:.6g}." in err
    assert run(*args, "--require", "poor, really,good:roc_auc.high<0")[0] == 0
    assert run(*args, "--require", "poor, really,good:roc_auc.low<-0.5")[0] == 1
    # Without a pair it is about every one.
    status, _, err = run(*args, "--require", "roc_auc<0.2")
    assert status == 1
    assert [
        line.split(": ")[-1].split(" is ")[0] for line in err.splitlines() if line.startswith("Failed")
    ] == ["roc_auc of good minus poor, really"]


@pytest.mark.parametrize(
    ("gate", "message"),
    [
        ("roc_auc.naive>0", "a difference has no .naive. Gate on its value, .low or .high."),
        ("good,nobody:roc_auc>0", "there is no pair 'good,nobody'. The pairs: 'good,fair'."),
        ("good:roc_auc>0", "there is no pair 'good'"),
        ("f1>0", "f1 is not among --metrics roc_auc,brier"),
        ("rocauc>0", "Did you mean 'roc_auc'?"),
        ("roc_auc", "--require must read like"),
    ],
)
def test_bad_gates_are_refused_before_the_file_is_read(run: Any, gate: str, message: str) -> None:
    status, out, err = run("there-is-no-such-file.csv", *TWO, "--require", gate)
    assert (status, out) == (2, "")
    assert message in err


def test_a_gate_without_a_value_and_on_a_refuted_prior(run: Any) -> None:
    args = ["rows.csv", "--score", "good", "--score", "fair", "--metrics", "roc_auc"]
    status, _, err = run(*args, "--require", "roc_auc>0")
    assert status == 3
    assert "Not identifiable: roc_auc>0.0: roc_auc of good minus fair has no value." in err
    status, _, err = run(*args, "--prior", "0.95", "--require", "roc_auc>0")
    assert status == 3
    assert (
        "Not identifiable: roc_auc>0.0: the data refute what was given, so its numbers decide nothing. "
        in err
    )
    assert err.count("is refuted by the data: it puts α = 0.9") >= 2  # as a note, and as the gate's reason


def test_an_impossible_value_decides_nothing(run: Any, folder: Path) -> None:
    # Both rank alike, so that no noise of their difference explains an area above 1.
    rows = [(0.9, 1), (0.8, 1), (0.7, 1), (0.1, ""), (0.2, ""), (0.3, ""), (0.9, "")]
    text = "a,b,label\n" + "".join(f"{score},{score / 2},{y}\n" for score, y in rows)
    (folder / "few.csv").write_text(text)
    args = ["few.csv", "--score", "a", "--score", "b", "--population", "unlabeled", "--prior", "0.6"]
    status, _, err = run(*args, "--metrics", "roc_auc", "--require", "roc_auc>-5")
    assert status == 3
    assert "Not identifiable: roc_auc>-5.0: roc_auc is 1.22917 and 1.22917, which is not possible." in err
    assert run(*args, "--metrics", "roc_auc", "--strict")[0] == 3


def test_one_model_has_no_pair(run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "rows.csv", "--score", "good", "--require", "good,fair:roc_auc>0"]) == 2
    assert "one model has no pair. Leave 'good,fair:' out." in capsys.readouterr().err
    assert str(Gate.read("good,fair:roc_auc.low>0")) == "good,fair:roc_auc.low>0.0"


def test_a_pair_named_in_reverse_is_the_mirror_image() -> None:
    models = {name: ht.Labeled(TRUTH, MODELS[name]) for name in ("good", "fair")}
    comparison = ht.compare(models, ["roc_auc"], n_resamples=60)
    row = comparison["good", "fair"]["roc_auc"]
    assert 0 < row.low < row.value < row.high
    for field, mirrored in (("value", row.value), ("low", row.high), ("high", row.low)):
        ((_, why),) = Gate("roc_auc", field, ">", 2.0, "fair,good").judge_pairs(comparison)
        assert why.endswith(f" is {-mirrored:.6g}.")


def test_a_gate_on_a_pair_in_reverse_uses_the_other_end(run: Any) -> None:
    args = ["rows.csv", "--score", "good", "--score", "fair", "--label", "full", "--zeros", "negative"]
    args += ["--metrics", "roc_auc", "--format", "json"]
    row = json.loads(run(*args)[1])["pairs"][0]["metrics"]["roc_auc"]
    for field, number in (("low", -row["high"]), ("high", -row["low"])):
        for step, status in ((-1e-9, 0), (1e-9, 1)):
            gate = f"fair,good:roc_auc.{field}>={number + step!r}"
            assert run(*args, "--require", gate)[0] == status


def test_numbers_of_groups_come_by_size(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = pd.DataFrame({**MODELS, "label": KNOWN, "store": np.arange(N) % 3})
    frame["store"] = frame["store"].map({0: 9, 1: 10, 2: 100})
    frame.to_csv(tmp_path / "one.csv", index=False)
    frame.to_csv(tmp_path / "two.csv", index=False)
    args = ["--no-paired", "--by", "store", "--prior", "0.4", "--metrics", "roc_auc", "--score", "good"]
    files = [str(tmp_path / name) for name in ("one.csv", "two.csv")]
    assert main(["compare", *files, *args, *FEW, "--format", "json"]) == 0
    assert list(json.loads(capsys.readouterr().out)["groups"]) == ["9", "10", "100"]


def test_a_threshold_beside_the_scores_of_one_model(run: Any, tmp_path: Path) -> None:
    frame = pd.DataFrame({"good": MODELS["good"], "percent": 100 * MODELS["fair"] + 1, "label": KNOWN})
    frame.to_csv(tmp_path / "percent.csv", index=False)
    args = [str(tmp_path / "percent.csv"), "--score", "good", "--score", "percent", "--prior", "0.4"]
    _, _, err = run(*args, "--metrics", "recall", "--threshold", "0.5")
    assert (
        "Note: The scores of percent lie from 1 to 101, so all cases are flagged by --threshold 0.5." in err
    )
    assert "The scores of good" not in err
