"""`halftruth evaluate` on files: the numbers of the same rows as arrays, and what it refuses to guess."""

from __future__ import annotations

import csv
import io
import json
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import halftruth as ht
from halftruth.cli import main
from halftruth.evaluation._compare import compare
from halftruth.files import _checked_rows

RNG = np.random.default_rng(0)
N = 300
TRUTH = RNG.random(N) < 0.4
SCORE = np.round(np.clip(RNG.normal(0.35 + 0.3 * TRUTH, 0.2), 0, 1), 3)
KNOWN = TRUTH & (RNG.random(N) < 0.5)
REFUTED = ~TRUTH & (RNG.random(N) < 0.3)
MONTH = np.where(RNG.random(N) < 0.5, "jan", "feb")
HOSTILE = "=1+1\x1b[31m[red]<b>'; DROP TABLE x; --"
COLUMNS: dict[str, Any] = {
    "full": np.where(TRUTH, 1, 0),
    "positive_only": np.where(KNOWN, 1, 0),
    "known": np.where(KNOWN, 1, np.nan),
    "coded": np.where(KNOWN, 1, np.where(REFUTED, 0, -1)),
    "partial": np.where(KNOWN, 1, np.where(REFUTED, 0, np.nan)),
    "score": SCORE,
    "weight": RNG.integers(1, 4, N),
    "month": MONTH,
    "=other[red]": np.round(np.clip(RNG.normal(0.4 + 0.1 * TRUTH, 0.2), 0, 1), 3),
    "hostile": np.where(MONTH == "jan", HOSTILE, "b"),
}
FEW = ["--n-resamples", "50"]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("rows")
    frame = pd.DataFrame(COLUMNS)
    frame.to_csv(folder / "rows.csv", index=False)
    frame.to_parquet(folder / "rows.parquet")
    return {kind: str(folder / f"rows.{kind}") for kind in ("csv", "parquet")}


@pytest.fixture
def run(run: Any) -> Any:
    return lambda *args: run("evaluate", *args, *FEW)


def expected(evidence: Any, **settings: Any) -> dict[str, Any]:
    return ht.evaluate(evidence, n_resamples=50, **settings).to_dict()


from_labels = ht.PositiveUnlabeled.from_labels
CASES = [
    ("--label full --zeros negative", lambda: ht.Labeled(COLUMNS["full"], SCORE)),
    (
        "--label positive_only --zeros unlabeled --prior 0.4",
        lambda: from_labels(COLUMNS["positive_only"], SCORE, unlabeled=0, prior=0.4),
    ),
    (
        "--label positive_only --unlabeled 0 --prior 0.4",
        lambda: from_labels(COLUMNS["positive_only"], SCORE, unlabeled=0, prior=0.4),
    ),
    ("--label known", lambda: from_labels(COLUMNS["known"], SCORE)),
    (
        "--label known --prior 0.35..0.45 --purity 0.9",
        lambda: from_labels(COLUMNS["known"], SCORE, prior=(0.35, 0.45), purity=0.9),
    ),
    (
        "--label known --prior 0.3 --population unlabeled --weight weight",
        lambda: from_labels(
            COLUMNS["known"], SCORE, prior=0.3, population="unlabeled", sample_weight=COLUMNS["weight"]
        ),
    ),
    ("--label partial", lambda: from_labels(COLUMNS["partial"], SCORE)),
    ("--label partial --zeros negative", lambda: from_labels(COLUMNS["partial"], SCORE)),
    (
        "--label partial --zeros unlabeled --prior 0.4",
        lambda: from_labels(COLUMNS["partial"], SCORE, unlabeled=0, prior=0.4),
    ),
    ("--label coded --unlabeled -1", lambda: from_labels(COLUMNS["coded"], SCORE, unlabeled=-1)),
    ("--label coded --unlabeled -1 --zeros negative", lambda: from_labels(COLUMNS["partial"], SCORE)),
]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize(("args", "evidence"), CASES, ids=[args for args, _ in CASES])
def test_file_equals_arrays(run: Any, rows: dict[str, str], kind: str, args: str, evidence: Any) -> None:
    status, out, _ = run(rows[kind], *args.split(), "--format", "json", "--threshold", "0.5")
    assert status == 0
    assert json.loads(out) == expected(evidence(), threshold=0.5)


def test_the_same_bytes_from_every_process(run: Any, rows: dict[str, str]) -> None:
    args = ["--label", "known", "--format", "json"]
    command = [sys.executable, "-m", "halftruth", "evaluate", "-", *args, *FEW]
    text = Path(rows["csv"]).read_bytes()
    done = subprocess.run(command, input=text, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    _, here, _ = run(rows["csv"], *args)
    assert done.stdout.decode() == here
    assert json.loads(here) == expected(from_labels(COLUMNS["known"], SCORE))
    assert "/" not in here  # neither a path nor a date


# --- No guess -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("column", ["full", "positive_only"])
def test_only_zeros_and_ones_are_not_guessed_at(run: Any, rows: dict[str, str], column: str) -> None:
    status, out, err = run(rows["csv"], "--label", column, "--prior", "0.4")
    assert (status, out) == (2, "")
    assert f"The column '{column}' holds only 1 and 0" in err
    assert "--zeros negative or --zeros unlabeled" in err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("--label full --zeros negative --prior 0.4", "--prior says nothing"),
        ("--label full --zeros negative --purity 0.9", "--purity says nothing"),
        ("--label full --zeros negative --population unlabeled", "--population unlabeled says nothing"),
        ("--label full --unlabeled -1", "No row is unlabeled: the column 'full' has no empty cell and no -1"),
        ("--label known --prior 0.01", "what the counts allow"),
        ("--label coded", "coded"),
        ("--label nope", "nope"),
        ("--label known --score nope", "nope"),
        ("--label known --score month", "month"),
        ("--label known --by nope", "nope"),
    ],
)
def test_refusals(run: Any, rows: dict[str, str], args: str, message: str) -> None:
    status, out, err = run(rows["csv"], *args.split())
    assert (status, out) == (2, "")
    assert err.startswith("Error: ")
    assert message in err


def test_missing_file(run: Any) -> None:
    status, out, err = run("there-is-no-such-file.csv")
    assert (status, out) == (2, "")
    assert "there-is-no-such-file.csv" in err


def test_no_prior_is_fine_but_gates_need_it(run: Any, rows: dict[str, str]) -> None:
    assert run(rows["csv"], "--label", "known")[0] == 0
    assert run(rows["csv"], "--label", "known", "--require", "roc_auc>=0.5")[0] == 3
    assert run(rows["csv"], "--label", "known", "--require", "roc_auc>=0.5", "--prior", "0.4")[0] == 0


def test_rows_and_saved_tables_merge(run: Any, rows: dict[str, str], tmp_path: Path) -> None:
    half = tmp_path / "half.npz"
    from_labels(COLUMNS["known"], SCORE).table.save(half)
    out = run(rows["csv"], str(half), "--label", "known", "--format", "json")[1]
    twice = from_labels(np.tile(COLUMNS["known"], 2), np.tile(SCORE, 2))
    assert json.loads(out) == expected(twice)


# --- Groups -------------------------------------------------------------------------------------------


def test_groups(run: Any, rows: dict[str, str]) -> None:
    args = [rows["parquet"], "--label", "known", "--by", "month", "--prior", "0.4"]
    found = json.loads(run(*args, "--format", "json")[1])
    assert (found["schema"], found["by"], set(found["groups"])) == (1, "month", {"jan", "feb"})
    for month, result in found["groups"].items():
        own = month == MONTH
        assert result == expected(from_labels(COLUMNS["known"][own], SCORE[own], prior=0.4))
    status, out, err = run(*args, "--require", "roc_auc>=2")
    assert status == 1
    assert "month = jan\n===========\n" in out
    assert err.count("SCAR") == 1
    assert err.count("Failed: month = ") == 2


def test_hostile_names(run: Any, rows: dict[str, str], tmp_path: Path) -> None:
    args = [rows["csv"], "--label", "known", "--by", "hostile"]
    assert set(json.loads(run(*args, "--format", "json")[1])["groups"]) == {HOSTILE, "b"}
    for style in ("table", "markdown", "csv"):
        status, out, err = run(*args, "--format", style)
        assert status == 0
        assert "\x1b" not in out + err
    groups = {row["hostile"] for row in csv.DictReader(io.StringIO(out))}
    assert groups == {"b", "'" + HOSTILE.replace("\x1b", "\\x1b")}
    path = tmp_path / "a';--\x1b[31m.csv"
    frame = pd.DataFrame({'s"; DROP TABLE x': SCORE, "<l\x1b>": COLUMNS["known"]})
    frame.to_csv(path, index=False)
    status, out, _ = run(str(path), "--score", 's"; DROP TABLE x', "--label", "<l\x1b>", "--format", "json")
    assert status == 0
    assert json.loads(out) == expected(from_labels(COLUMNS["known"], SCORE))
    status, _, err = run(str(path), "--label", "<l\x1b>")
    assert status == 2
    assert "\x1b" not in err


def test_a_group_that_cannot_be_evaluated_is_named_and_stops_no_other(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("score,label,day\n0.9,1,mon\n0.2,,mon\n0.3,,tue\n0.4,,tue\n")
    status, out, err = run(str(path), "--by", "day", "--format", "json")
    found = json.loads(out)["groups"]
    assert status == 0
    assert found["mon"] == expected(from_labels([1, None], [0.9, 0.2]))
    assert found["tue"]["error"].startswith("None of 2 row(s) has the label 1: ")
    assert list(found["tue"]["metrics"]) == list(found["mon"]["metrics"])
    assert all(row["value"] is row["low"] is row["high"] is None for row in found["tue"]["metrics"].values())
    assert "Note: day = tue: not evaluated: None of 2 row(s) has the label 1: " in err
    for style in ("table", "csv", "markdown"):
        text = run(str(path), "--by", "day", "--format", style)[1]
        assert "tue" in text
        assert text.count("roc_auc") == 2
    assert "day = tue\n=========\nNOT EVALUATED: None of 2" in run(str(path), "--by", "day")[1]
    status, _, err = run(str(path), "--by", "day", "--require", "recall.low>=0", "--threshold", "0.5")
    assert status == 3
    assert "Not identifiable: day = tue: recall.low>=0.0: recall.low has no value." in err
    assert run(str(path), "--by", "day", "--strict")[0] == 3


def test_where_no_group_can_be_evaluated_it_is_an_error(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("score,label,day\n0.9,,mon\n0.2,,mon\n0.3,,tue\n0.4,,tue\n")
    status, out, err = run(str(path), "--by", "day")
    assert (status, out) == (2, "")
    assert err.startswith("Error: day = mon (and 1 more): None of 2 row(s) has the label 1: ")


# --- Comparison ---------------------------------------------------------------------------------------


@pytest.fixture
def compared(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*args: str) -> tuple[int, str, str]:
        status = main(["compare", *args, *FEW])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return status, out, err

    return call


BOTH = ["--score", "score", "--score", "=other[red]", "--label", "known", "--prior", "0.4"]


def test_compare_columns_equals_arrays(compared: Any, rows: dict[str, str]) -> None:
    models = {c: from_labels(COLUMNS["known"], COLUMNS[c], prior=0.4) for c in ("score", "=other[red]")}
    comparison = compare(models, threshold=0.5, n_resamples=50)
    for kind in ("csv", "parquet"):
        status, out, err = compared(rows[kind], *BOTH, "--threshold", "0.5", "--format", "json")
        assert status == 0
        assert out == json.dumps(comparison.to_dict(), indent=2, ensure_ascii=False) + "\n"
        assert "Note: Assumes" in err


def test_compare_for_people_and_spreadsheets(compared: Any, rows: dict[str, str]) -> None:
    status, out, _ = compared(rows["csv"], *BOTH)
    assert status == 0
    assert "Note" not in out
    assert "=other[red]: PositiveUnlabeled(" in out
    assert compared(rows["csv"], *BOTH, "--format", "markdown")[1].count("=other\\[red\\]") >= 2
    table = list(csv.DictReader(io.StringIO(compared(rows["csv"], *BOTH, "--format", "csv")[1])))
    for row in table:
        assert (row["first"], row["second"]) == ("score", "'=other[red]")
        gap = float(row["first_value"]) - float(row["second_value"])
        assert float(row["difference"]) == pytest.approx(gap)
        assert float(row["low"]) <= float(row["difference"]) <= float(row["high"]) or row["metric"] == (
            "calibration_error"
        )


def test_compare_files_must_be_said_to_be_apart(compared: Any, rows: dict[str, str]) -> None:
    files = [rows["csv"], rows["parquet"]]
    status, out, err = compared(*files, "--label", "known")
    assert (status, out) == (2, "")
    assert "--no-paired" in err
    status, out, _ = compared(*files, "--label", "known", "--no-paired", "--format", "json")
    assert status == 0
    assert json.loads(out)["paired"] is False
    status, _, err = compared(rows["csv"])
    assert (status, "two models or more" in err) == (2, True)
    status, _, err = compared(rows["csv"], "--score", "score", "--score", "=other[red]", "--label", "full")
    assert (status, "--zeros negative or --zeros unlabeled" in err) == (2, True)


# --- Ctrl-C -------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_while_reading() -> None:
    code = (
        "import sys; from halftruth.cli import main; print('ready', flush=True);"
        "sys.exit(main(['evaluate', '-']))"
    )
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code], stdin=pipe, stdout=pipe, stderr=pipe) as started:
        assert started.stdout is not None
        assert started.stdout.readline() == b"ready\n"
        time.sleep(1)
        for _ in range(5):  # on a busy machine the first may come while modules are loaded, and be lost there
            started.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                started.wait(5)
                break
        out, err = started.communicate(timeout=30)
    assert (started.returncode, out, err) == (130, b"", b"Interrupted.\n")


def test_a_threshold_beside_the_scores(run: Any, rows: dict[str, str]) -> None:
    args = [rows["csv"], "--label", "known", "--prior", "0.4", "--metrics", "recall"]
    low, high = SCORE.min(), SCORE.max()
    for threshold, flagged in ((-0.1, "all cases are"), (low, "all cases are"), (1.5, "no case is")):
        _, _, err = run(*args, "--threshold", str(threshold))
        assert f"The scores lie from {low:g} to {high:g}, so {flagged} flagged by --threshold" in err
    for threshold in (high, 0.5):
        assert "flagged" not in run(*args, "--threshold", str(threshold))[2]


@pytest.mark.parametrize("text", ["precision >= 0.6", "max f1"])
def test_a_threshold_is_chosen(text: str, run: Any, rows: dict[str, str]) -> None:
    args = [rows["csv"], "--label", "full", "--zeros", "negative", "--threshold", text]
    status, out, err = run(*args, "--format", "json")
    assert status == 0
    assert json.loads(out) == expected(ht.Labeled(COLUMNS["full"], SCORE), threshold=text)
    assert "Note: The threshold" in err
    status, out, _ = run(*args, "--require", "recall>=0.01")
    assert status == 0
    assert f"; threshold {ht.evaluate(ht.Labeled(COLUMNS['full'], SCORE), threshold=text).threshold:g}" in out


@pytest.mark.parametrize(
    ("text", "status", "why"),
    [
        ("precision>=0.999", 3, "No threshold could be certified (confidence 0.95) to have precision>=0.999"),
        ("half", 2, "--threshold must be a number on the scale of the scores, or say what it is for: "),
        ("max auc", 2, "--threshold must be 'precision' or "),
    ],
)
def test_a_threshold_that_cannot_be_chosen(
    text: str, status: int, why: str, run: Any, rows: dict[str, str]
) -> None:
    found, out, err = run(rows["csv"], "--label", "full", "--zeros", "negative", "--threshold", text)
    assert (found, out) == (status, "")
    assert why in err


def test_a_comparison_chooses_no_threshold(compared: Any, rows: dict[str, str]) -> None:
    status, _, err = compared(rows["csv"], *BOTH, "--threshold", "max f1")
    assert status == 2
    assert "compare takes --threshold as a number" in err


def test_a_threshold_beside_binned_scores(run: Any, tmp_path: Path) -> None:
    table = ht.PositiveUnlabeled.from_labels(COLUMNS["known"], SCORE).table.compress()
    table.save(tmp_path / "table.npz")
    args = [str(tmp_path / "table.npz"), "--prior", "0.4", "--metrics", "recall", "--threshold"]
    assert "no case is flagged by --threshold 7." in run(*args, "7")[2]
    assert "flagged" not in run(*args, "0.5")[2]


def test_too_many_groups_are_refused(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "cases.csv"
    lines = ["score,label,case", *(f"{i / 2000},{i % 2},{i}" for i in range(1001))]
    path.write_text("\n".join(lines))
    status, out, err = run(str(path), "--zeros", "unlabeled", "--by", "case")
    assert (status, out) == (2, "")
    assert (
        "The column of groups has more than 1,000 values, and each would be a group of its own; at most"
        in err
    )
    assert err.endswith("Name a column with fewer by --by.\n")
    path.write_text("\n".join(lines[:-1]))
    assert len(ht.ScoreTable.from_file(path, by="case")) == 1000
    path.write_text("\n".join(lines))
    for limit in (0, None):
        with pytest.raises(ht.InputError, match="has more than 1,000 values"):
            ht.ScoreTable.from_file(path, by="case", max_rows=limit)


@pytest.mark.parametrize(("first", "message"), [(1001, "has more than 1,000 values"), (1000, "'bad'")])
def test_too_many_groups_are_refused_before_all_rows_are_read(
    first: int, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_checked_rows, "FIRST_ROWS", first)
    path = tmp_path / "cases.csv"
    # The bad row is seen only where all of them are read.
    path.write_text("\n".join(["score,label,case", *(f"0.5,{i % 2},{i}" for i in range(1001)), "bad,1,1"]))
    with pytest.raises(ht.InputError, match=message):
        ht.ScoreTable.from_file(path, by="case", max_rows=0)


def test_the_group_of_empty_cells_counts_among_the_first(tmp_path: Path) -> None:
    path = tmp_path / "cases.csv"
    lines = ["score,label,case", "bad,1,", *(f"0.5,{i % 2},{i}" for i in range(1000))]
    path.write_text("\n".join(lines))
    with pytest.raises(ht.InputError, match="has more than 1,000 values"):
        ht.ScoreTable.from_file(path, by="case", max_rows=0)
