"""`--selection` and `--propensity`: how the positives became known, and the question where nobody said it."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import halftruth as ht
from halftruth.cli._how_known import OR_REVIEWED, QUESTION, Propensities, parse_propensity

RNG = np.random.default_rng(7)
N = 900
TRUTH = RNG.random(N) < 0.4
SCORE = np.round(np.clip(RNG.normal(0.35 + 0.3 * TRUTH, 0.18), 0, 1), 3)
CHANCE = np.where(SCORE >= 0.5, 0.6, 0.3)
KNOWN = TRUTH & (RNG.random(N) < CHANCE)
FRAME = pd.DataFrame(
    {
        "score": SCORE,
        "other": np.round(np.clip(SCORE + RNG.normal(0, 0.1, N), 0, 1), 3),
        "label": np.where(KNOWN, 1, np.nan),
        "truth": TRUTH.astype(int),
        "chance": np.where(KNOWN, CHANCE, np.nan),
        "0:0.1": np.where(KNOWN, 0.5, np.nan),
        "site": np.where(np.arange(N) % 2, "a", "b"),
        "case": np.arange(N),
    }
)
LABEL = FRAME["label"].to_numpy()
FEW = ["--metrics", "roc_auc", "--n-resamples", "50"]
PRIOR = ["--prior", "0.4"]
TWO = ["--score", "score", "--score", "other"]
COMMANDS = {
    "evaluate": FEW,
    "compare": [*TWO, *FEW],
    "calibrate": ["--output", "calibrator.json"],
}
ASKED = f"Note: {QUESTION}\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("known")
    FRAME.to_csv(path / "rows.csv", index=False)
    FRAME.to_csv(path / "rows.tsv", sep="\t", index=False)
    FRAME.to_parquet(path / "rows.parquet", index=False)
    FRAME.to_json(path / "rows.jsonl", orient="records", lines=True)
    evidence().table.save(path / "rows.npz")
    evidence().table.compress().save(path / "bins.npz")
    return path


@pytest.fixture
def run(run: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(folder)
    return run


def evidence(score: str = "score", **how: Any) -> ht.PositiveUnlabeled:
    return ht.PositiveUnlabeled.from_labels(LABEL, FRAME[score].to_numpy(), prior=0.4, **how)


def evaluated(run: Any, file: str, *args: str) -> Any:
    status, out, err = run("evaluate", file, *PRIOR, *FEW, "--format", "json", *args)
    assert status == 0, err
    return json.loads(out)


def auc(made: ht.PositiveUnlabeled) -> Any:
    """As JSON has it."""
    return ht.evaluate(made, ["roc_auc"], n_resamples=50).to_dict()["metrics"]["roc_auc"]


def numbers(row: Any) -> list[float]:
    return [row["value"], row["low"], row["high"]]


# --- --selection ----------------------------------------------------------------------------------------

SELECTIONS = {"1.5": 1.5, "rising:1.5": ("rising", 1.5), "falling:2": ("falling", 2.0)}


@pytest.mark.parametrize("text", SELECTIONS)
@pytest.mark.parametrize("file", ["rows.csv", "rows.npz"])
def test_selection_is_that_of_the_library(run: Any, text: str, file: str) -> None:
    found = evaluated(run, file, "--selection", text)
    row = found["metrics"]["roc_auc"]
    assert numbers(row) == numbers(auc(evidence(selection=SELECTIONS[text])))
    plain = evaluated(run, file)["metrics"]["roc_auc"]
    assert row["value"] == plain["value"]
    assert row["high"] - row["low"] > plain["high"] - plain["low"]
    direction, _, gamma = text.rpartition(":")
    assert found["selection"] == {"gamma": float(gamma), "direction": direction or "any"}
    assert row["sampling"] == [plain["low"], plain["high"]]
    assert row["prior_range"] == [plain["value"]] * 2
    low, high = row["selection_range"]
    assert row["low"] < low <= plain["value"] <= high < row["high"]


def test_one_is_a_random_sample(run: Any) -> None:
    said, plain = evaluated(run, "rows.csv", "--selection", "1"), evaluated(run, "rows.csv")
    assert said.pop("selection") == {"gamma": 1.0, "direction": "any"}
    assert said == plain


def test_selection_of_a_histogram(run: Any) -> None:
    found = evaluated(run, "bins.npz", "--selection", "rising:1.5")["metrics"]["roc_auc"]
    exact = auc(evidence(selection=("rising", 1.5)))
    assert numbers(found) == pytest.approx(numbers(exact), abs=0.002)


def test_selection_by_an_engine(run: Any, folder: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("ibis")
    with duckdb.connect(str(folder / "rows.duckdb")) as connection:
        connection.execute(f"CREATE TABLE rows AS SELECT * FROM '{folder / 'rows.parquet'}'")
    args = ["--engine", f"duckdb://{folder / 'rows.duckdb'}"]
    found = evaluated(run, "rows", *args, "--selection", "1.5")["metrics"]["roc_auc"]
    assert found == evaluated(run, "bins.npz", "--selection", "1.5")["metrics"]["roc_auc"]
    status, _, err = run("evaluate", "rows", *args, *PRIOR, "--propensity", "chance")
    assert (status, "--propensity needs the positives row by row, and --engine makes" in err) == (2, True)


def test_selection_of_groups(run: Any) -> None:
    found = evaluated(run, "rows.csv", "--by", "site", "--selection", "rising:1.5")
    given = {"gamma": 1.5, "direction": "rising"}
    assert found["selection"] == given
    assert found["notes"][0] == (
        "One prior, π = 0.4 and one selection, Γ = 1.5, rising with the score, were taken for every site."
    )
    for name, group in found["groups"].items():
        rows = (FRAME["site"] == name).to_numpy()
        made = ht.PositiveUnlabeled.from_labels(
            LABEL[rows], SCORE[rows], prior=0.4, selection=("rising", 1.5)
        )
        assert numbers(group["metrics"]["roc_auc"]) == numbers(auc(made))
        assert group["selection"] == given
        assert "selection_range" in group["metrics"]["roc_auc"]
    said = evaluated(run, "rows.csv", "--by", "site", "--selection", "1")["notes"][0]
    assert said == "One prior, π = 0.4, was taken for every site."


def test_selection_of_models(run: Any) -> None:
    args = ["compare", "rows.csv", *TWO, *PRIOR, *FEW, "--selection", "1.5", "--format"]
    found = json.loads(run(*args, "json")[1])
    models = {name: evidence(name, selection=1.5) for name in ("score", "other")}
    expected = ht.compare(models, ["roc_auc"], n_resamples=50)
    row = found["pairs"][0]["metrics"]["roc_auc"]
    assert numbers(row) == numbers(expected.to_dict()["pairs"][0]["metrics"]["roc_auc"])
    assert found["selection"] == {"gamma": 1.5, "direction": "any"}
    assert row["selection_range"] == list(expected["roc_auc"].selection_range)
    (record,) = csv.DictReader(io.StringIO(run(*args, "csv")[1]))
    assert [float(record[f"selection_range_{end}"]) for end in ("low", "high")] == row["selection_range"]


def test_selection_in_csv(run: Any) -> None:
    args = ["evaluate", "rows.csv", *PRIOR, *FEW, "--format", "csv"]
    plain = next(csv.reader(io.StringIO(run(*args)[1])))
    assert next(csv.reader(io.StringIO(run(*args, "--selection", "1")[1]))) == plain
    (record,) = csv.DictReader(io.StringIO(run(*args, "--selection", "1.5")[1]))
    row = evaluated(run, "rows.csv", "--selection", "1.5")["metrics"]["roc_auc"]
    sources = ["sampling", "prior_range", "selection_range"]
    columns = [f"{name}_{end}" for name in sources for end in ("low", "high")]
    assert list(record) == [*plain, *columns]
    assert [float(record[name]) for name in columns] == [end for name in sources for end in row[name]]
    groups = csv.DictReader(io.StringIO(run(*args, "--by", "site", "--selection", "1.5")[1]))
    assert all(record["sampling_low"] for record in groups)


def test_calibrate_knows_it(run: Any) -> None:
    status, _, err = run("calibrate", "rows.csv", *PRIOR, "--output", "c.json", "--selection", "falling:2")
    assert (status, "higher at low scores (selection, Γ = 2)" in err) == (0, True)
    assert "random sample; selection may make it 2 times" in err


@pytest.mark.parametrize("command", list(COMMANDS))
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0.9", "--selection must lie in [1, inf), got 0.9"),
        ("-2", "--selection must lie in [1, inf), got -2"),
        ("inf", "--selection must lie in [1, inf), got inf"),
        ("rising:0.5", "--selection must lie in [1, inf), got 0.5"),
        ("nan", "--selection must be Γ, a number from 1 such as 1.5, or a direction"),
        ("strong", "got 'strong'."),
        ("", "got ''."),
        ("rising", "got 'rising'."),
        ("rising:", "got 'rising:'."),
        ("sideways:2", "rising:1.5 or falling:1.5; got 'sideways:2'."),
        ("rising:1:2", "got 'rising:1:2'."),
        ("1,5", "got '1,5'. Write 1.5."),
        ("rising:1,5", "got 'rising:1,5'. Write rising:1.5."),
    ],
)
def test_a_bad_selection_is_refused_before_files_are_read(
    run: Any, command: str, text: str, message: str
) -> None:
    status, out, err = run(command, "no-such-file.csv", *COMMANDS[command], *PRIOR, "--selection", text)
    assert (status, out) == (2, "")
    assert message in err


def test_a_bad_selection_beside_a_column_of_priors(run: Any) -> None:
    args = ["evaluate", "no-such-file.csv", "--by", "site", "--prior-column", "share", "--selection", "0"]
    assert "--selection must lie in" in run(*args)[2]


@pytest.mark.parametrize("option", [["--selection", "1.5"], ["--selection", "1"], ["--propensity", "score"]])
def test_where_no_row_is_unlabeled(run: Any, option: list[str]) -> None:
    args = ["evaluate", "rows.csv", "--label", "truth", "--zeros", "negative", *FEW]
    status, _, err = run(*args, *option)
    assert status == 2
    assert f"{option[0]} says nothing where no row is unlabeled" in err


# --- --propensity ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", ["rows.csv", "rows.tsv", "rows.parquet", "rows.jsonl"])
def test_a_column_of_propensities(run: Any, file: str) -> None:
    found = evaluated(run, file, "--propensity", "chance")
    assert found["metrics"]["roc_auc"] == auc(evidence(propensity=FRAME["chance"]))
    assert found["notes"][0].startswith("Assumes the propensities given")
    assert "selection" not in found


def test_ranges_of_the_score(run: Any) -> None:
    expected = auc(evidence(propensity=np.where(SCORE >= 0.5, 0.6, 0.3)))
    for ranges in ("0:0.3,0.5:0.6", "-inf:.3,0.5:0.6", "-1:0.3, 0.5:6e-1", "0:0.3,0.5:0.6,7:1"):
        assert evaluated(run, "rows.csv", "--propensity", ranges)["metrics"]["roc_auc"] == expected
    assert evaluated(run, "rows.npz", "--propensity", "0:0.3,0.5:0.6")["metrics"]["roc_auc"] == expected


def test_a_column_that_is_named_like_ranges(run: Any) -> None:
    found = evaluated(run, "rows.csv", "--propensity", '"0:0.1"')["metrics"]["roc_auc"]
    assert found == auc(evidence(propensity=FRAME["0:0.1"]))


@pytest.mark.parametrize(
    ("text", "column", "ranges"),
    [
        ("chance", "chance", ()),
        ("at 10:30", "at 10:30", ()),
        ("a:b", "a:b", ()),
        ("7", "7", ()),
        ('"0:1"', "0:1", ()),
        ('"chance, known"', "chance, known", ()),
        ('"""x"""', '"x"', ()),
        ("0:1", None, ((0.0, 1.0),)),
        ("-inf:.5,0:1", None, ((-np.inf, 0.5), (0.0, 1.0))),
    ],
)
def test_columns_and_ranges_are_told_apart(text: str, column: str | None, ranges: Any) -> None:
    assert parse_propensity(text) == Propensities(column, ranges)


@pytest.mark.parametrize("command", [*COMMANDS, "bayes-error"])
@pytest.mark.parametrize(
    "text",
    ["0:0.1,0.5", "0:0.1,0.5:x", "0.5:0.1,0:0.3", "0:0.1,0:0.3", "0:0", "0:1.1", "0:nan", "nan:1", "0:1:2"],
)
def test_bad_ranges_are_refused_before_files_are_read(run: Any, command: str, text: str) -> None:
    args = [command, "no-such-file.csv", *COMMANDS.get(command, ()), *PRIOR, "--propensity", text]
    status, out, err = run(*args)
    assert (status, out) == (2, "")
    assert "--propensity by ranges must have ascending scores" in err
    assert f"got {text!r}. A column of such a name stands in double quotes." in err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["rows.csv", "--propensity", ""], "--propensity must name a column, or ranges"),
        (["rows.csv", "--propensity", "none"], "It is named by --propensity."),
        (["rows.csv", "--propensity", "label"], "--propensity and --label both name the column 'label'"),
        (["rows.csv", "--propensity", "0.9:0.5"], "--propensity begins at score 0.9, and "),
        (["rows.csv", "--propensity", "chance", "--grid", "margin"], "and --grid makes a histogram"),
        (["rows.npz", "--propensity", "chance"], "--propensity is about the columns of a file"),
        (["bins.npz", "--propensity", "0:0.5"], "row by row, and this table is a histogram"),
    ],
)
def test_where_propensities_cannot_be(run: Any, args: list[str], message: str) -> None:
    status, out, err = run("evaluate", *args, *PRIOR, *FEW)
    assert (status, out) == (2, "")
    assert message in err


def test_propensities_do_not_go_with_noisy_positives(run: Any) -> None:
    args = ["evaluate", "rows.csv", *PRIOR, *FEW, "--propensity", "chance", "--purity", "0.9"]
    status, _, err = run(*args)
    assert (status, "--purity" in err) == (3, True)


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("0", "the first is '0' in row 4 of"),
        ("1.5", "the first is '1.5' in row 4 of"),
        ("", "the first is missing in row 4 of"),
        ("often", "the first is 'often' in row 4 of"),
        ("0,5", "Save the file with decimal points, 0.5 for 0,5."),
    ],
)
def test_a_bad_propensity_of_a_positive(run: Any, tmp_path: Path, cell: str, message: str) -> None:
    """Cells of other rows are not read."""
    path = tmp_path / "bad.csv"
    path.write_text(f'score,label,e\n0.9,1,0.5\n0.2,,never\n0.3,0,-7\n0.8,1,"{cell}"\n0.1,,\n0.7,1,1\n')
    status, _, err = run("evaluate", str(path), *PRIOR, *FEW, "--propensity", "e")
    assert status == 2
    assert "column 'e' holds 1 on positive row(s) that are none: " in err
    assert message in err


def test_propensities_of_groups(run: Any) -> None:
    args = ["--by", "site", "--propensity"]
    column, ranges = (evaluated(run, "rows.csv", *args, x)["groups"] for x in ("chance", "0:0.3,0.5:0.6"))
    for name in ("a", "b"):
        rows = (FRAME["site"] == name).to_numpy()
        made = ht.PositiveUnlabeled.from_labels(
            LABEL[rows], SCORE[rows], prior=0.4, propensity=FRAME["chance"][rows]
        )
        assert column[name]["metrics"]["roc_auc"] == auc(made)
    assert ranges == column


def test_propensities_with_selection_and_weights(run: Any, tmp_path: Path) -> None:
    weight = np.arange(N) % 3
    FRAME.assign(w=weight).to_csv(tmp_path / "w.csv", index=False)
    args = ["--propensity", "chance", "--weight", "w", "--selection", "1.2"]
    found = evaluated(run, str(tmp_path / "w.csv"), *args)["metrics"]["roc_auc"]
    how = {"propensity": FRAME["chance"], "sample_weight": weight, "selection": 1.2}
    assert numbers(found) == numbers(auc(evidence(**how)))


def test_a_table_keeps_its_propensities(run: Any, tmp_path: Path) -> None:
    saved = str(tmp_path / "saved.npz")
    first = evaluated(run, "rows.csv", "--propensity", "chance", "--save-table", saved)
    assert evaluated(run, saved) == first
    assert "become known" not in run("evaluate", saved, *PRIOR, *FEW)[2]
    status, _, err = run("evaluate", saved, *PRIOR, "--propensity", "0:0.5")
    assert (status, "The rows have propensities already" in err) == (2, True)
    status, _, err = run("evaluate", saved, "rows.csv", *PRIOR)  # rows without them
    assert status == 2


def test_propensities_of_models(run: Any, tmp_path: Path) -> None:
    args = ["compare", "rows.csv", *TWO, *PRIOR, *FEW, "--format", "json"]
    found = json.loads(run(*args, "--propensity", "chance")[1])
    models = {name: evidence(name, propensity=FRAME["chance"]) for name in ("score", "other")}
    assert found == ht.compare(models, ["roc_auc"], n_resamples=50).to_dict()
    status, _, err = run(*args, "--propensity", "0:0.5")
    assert (status, "would differ from model to model" in err) == (2, True)
    second = tmp_path / "second.csv"
    FRAME.assign(score=FRAME["other"]).iloc[::-1].to_csv(second, index=False)
    joined = ["compare", "rows.csv", str(second), "--id", "case", *PRIOR, *FEW, "--propensity"]
    assert run(*joined, "chance")[0] == 0
    FRAME.assign(chance=0.5).to_csv(second, index=False)
    status, _, err = run(*joined, "chance")
    assert (status, "disagree in column 'chance'" in err, "has one propensity" in err) == (2, True, True)
    assert "would differ from model to model" in run(*joined, "0:0.5")[2]


def test_calibrate_and_bayes_error_take_propensities(run: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "c.json")
    assert run("calibrate", "rows.csv", *PRIOR, "--propensity", "chance", "--output", path)[0] == 0
    expected = ht.Calibrator("beta").fit(evidence(propensity=FRAME["chance"]))
    assert ht.Calibrator.load(path).predict([0.3, 0.6]) == pytest.approx(expected.predict([0.3, 0.6]))
    args = ["bayes-error", "rows.csv", *PRIOR, "--n-resamples", "50", "--format", "json"]
    found = json.loads(run(*args, "--propensity", "0:0.3,0.5:0.6")[1])["bayes_error"]
    made = ht.bayes_error(evidence(propensity=FRAME["chance"]), n_resamples=50)
    assert numbers(found) == [made.value, made.low, made.high]


# --- Asked early ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("style", ["table", "json", "csv", "markdown"])
@pytest.mark.parametrize("command", list(COMMANDS))
def test_it_is_asked_once_and_never_on_stdout(run: Any, command: str, style: str) -> None:
    status, out, err = run(command, "rows.csv", *COMMANDS[command], *PRIOR, "--format", style)
    assert status == 0
    assert err.count(ASKED) == err.count("become known?") == 1
    assert "become known?" not in out
    answered = run(command, "rows.csv", *COMMANDS[command], *PRIOR, "--format", style, "--selection", "1")
    assert answered[0] == 0
    assert answered[2] == err.replace(ASKED, "")
    assert style == "json" or answered[1] == out


@pytest.mark.parametrize("answer", ["--selection 1.5", "--selection rising:2", "--propensity chance"])
@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_an_answer_silences_it(run: Any, command: str, answer: str) -> None:
    err = run(command, "rows.csv", *COMMANDS[command], *PRIOR, *answer.split())[2]
    assert "become known?" not in err


def test_it_is_asked_once_for_all_groups(run: Any) -> None:
    assert run("evaluate", "rows.csv", "--by", "site", *PRIOR, *FEW)[2].count(ASKED) == 1
    assert run("compare", "rows.csv", "--between", "site", *PRIOR, *FEW)[2].count(ASKED) == 1


def test_it_is_not_asked_of_full_labels(run: Any) -> None:
    args = ["evaluate", "rows.csv", "--label", "truth", "--zeros", "negative", *FEW]
    assert "become known?" not in run(*args)[2]


def test_beside_known_negatives_it_asks_whether_these_are_reviews(run: Any) -> None:
    some = FRAME.assign(label=np.where(CHANCE > 0.5, TRUTH, np.nan), score=SCORE)
    some.to_csv("some.csv", index=False)
    args = ["evaluate", "some.csv", *FEW]
    assert f"Note: {QUESTION}{OR_REVIEWED}\n" in run(*args)[2]
    assert "become known?" not in run(*args, "--review-chance", "0:0.001,0.5:1")[2]


def test_it_is_two_short_lines() -> None:
    assert len(ASKED) <= 2 * 110


# --- Gates ----------------------------------------------------------------------------------------------


def gated(run: Any, gate: str, *args: str) -> str:
    status, out, err = run("evaluate", "rows.csv", *PRIOR, *FEW, "--require", gate, *args)
    assert (status, "Passed" in out) == (0, False)
    return "\n".join(re.findall("^Passed: .*$", err, re.MULTILINE))


def test_a_gate_that_passed_says_how_far_it_stands(run: Any) -> None:
    result = ht.evaluate(evidence(), ["roc_auc"], n_resamples=50)
    limit = result["roc_auc"].low - 0.1
    gamma = result.tipping("roc_auc", limit)
    stands = f"stands up to a selection of Γ = {np.floor(100 * gamma) / 100:g}"
    for row in ("roc_auc", "roc_auc.low"):
        assert gated(run, f"{row}>={limit}") == f"Passed: {row}>={limit}: {stands}, with sampling error."
    assert "rising with the score, with" in gated(run, f"roc_auc>={limit}", "--selection", "rising:1.1")
    assert "stands up to propensities that are off by Γ" in gated(
        run, f"roc_auc>={limit}", "--propensity", "chance"
    )


def test_claims_that_no_selection_or_any_takes_away(run: Any) -> None:
    result = ht.evaluate(evidence(), ["roc_auc"], n_resamples=50)["roc_auc"]
    between = (result.low + result.value) / 2
    assert gated(run, f"roc_auc>={between}").endswith(
        "holds for the value; the interval does not support it, even from a random sample (Γ = 1)."
    )
    assert gated(run, "roc_auc<=5").endswith("stands whatever selection made the positives known.")


def test_gates_that_say_nothing_of_it(run: Any) -> None:
    for gate in ("roc_auc.naive>=0", "roc_auc.high>=0", "roc_auc.low<=5"):
        assert gated(run, gate) == ""
    assert gated(run, "roc_auc>=0.1", "--by", "site") == ""
    labels = ["--label", "truth", "--zeros", "negative"]
    status, _, err = run("evaluate", "rows.csv", *labels, *FEW, "--require", "roc_auc>=0.1")
    assert (status, "Passed" in err) == (0, False)
