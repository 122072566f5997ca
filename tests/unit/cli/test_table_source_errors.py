"""Bad input, command by command: a message names the file, the column, the row and the remedy."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from halftruth.cli import main

COMMANDS = {
    "evaluate": ["--prior", "0.3"],
    "compare": ["--score", "score", "--score", "other", "--prior", "0.3"],
    "prior": [],
    "calibrate": ["--prior", "0.3", "--output", "calibrator.json"],
    "bayes-error": ["--prior", "0.3"],
}
GOOD = "".join(f"{i / 50},{i * 7 % 50 / 50},{1 if i % 5 == 0 else ''},{i % 2}\n" for i in range(50))
HEADER = "score,other,label,g\n"
FILES = {
    "good.csv": HEADER + GOOD,
    "empty.csv": "",
    "header.csv": HEADER,
    "text.csv": HEADER + GOOD + "high,0.5,,0\nlow,0.5,1,0\n",
    "decimal.csv": HEADER + GOOD + '"0,5",0.5,,0\n',
    "missing.csv": HEADER + GOOD + ",0.5,,0\n",
    "nan.csv": HEADER + GOOD + "nan,0.5,,0\n",
    "yes.csv": HEADER + GOOD + "0.5,0.5,yes,0\n0.5,0.5,no,0\n",
    "codes.csv": HEADER + GOOD + "0.5,0.5,-1,0\n",
    "words.csv": HEADER + GOOD + "0.5,0.5,fraud,0\n",
    "ragged.csv": HEADER + GOOD + "0.5,0.5,1,0,7\n",
    "near.csv": HEADER.replace("score", "Score") + GOOD,
    "far.csv": HEADER.replace("label", "target") + GOOD,
    "zeros.csv": HEADER + "0.5,0.5,1,0\n0.6,0.5,0,1\n",
    "ones.csv": HEADER + "0.5,0.5,1,0\n0.6,0.5,1,1\n",
    "lines.jsonl": '{"score": 0.5, "other": 0.5, "label": 1}\n[1, 2]\n',
}
BYTES = {
    "book.xlsx": b"PK\x03\x04\x14\x00\x06\x00",
    "binary.csv": bytes(range(256)) * 8,
    "binary.parquet": bytes(range(256)) * 8,
    "latin.csv": (HEADER + "0.5,0.5,1,é\n").encode("latin-1"),
}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text)
    for name, data in BYTES.items():
        Path(name).write_bytes(data)
    Path("folder").mkdir()

    def call(command: str, *args: str) -> str:
        before = {
            path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file() and _readable(path)
        }
        assert main([command, *args]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("Error: ")
        assert "Traceback" not in err
        assert {path: path.read_bytes() for path in before} == before
        assert not Path("calibrator.json").exists()
        return err

    return call


def _readable(path: Path) -> bool:
    return os.access(path, os.R_OK)


CASES = [
    ("nowhere.csv", "nowhere.csv is no file and no directory, and matches none. Check the path."),
    ("folder", "The directory folder holds no file with a known suffix (.csv"),
    ("empty.csv", "empty.csv is empty. Pass a table with at least one row."),
    ("header.csv", "header.csv has no rows. Pass at least one."),
    (
        "text.csv",
        "got 2 in column 'score' that are not: the first is 'high' in row 51 of text.csv. Drop or repair",
    ),
    (
        "decimal.csv",
        "the first is '0,5' in row 51 of decimal.csv. Save the file with decimal points, 0.5 for 0,5.",
    ),
    (
        "missing.csv",
        "got 1 in column 'score' that are not: the first is missing in row 51 of missing.csv. Drop or "
        "repair these rows.\n",
    ),
    (
        "nan.csv",
        "got 1 in column 'score' that are not: the first is 'nan' in row 51 of nan.csv. Drop or repair",
    ),
    (
        "yes.csv",
        "Column 'label' holds 2 label(s) outside the code: 'no', 'yes'; the first is 'yes' in row 51 of yes.csv. "
        "The code is 1 positive, 0 negative, empty unlabeled; recode yes to 1 and no to 0 (or leave it empty "
        "where nobody has looked).",
    ),
    ("codes.csv", "empty unlabeled; name another code for unlabeled rows, e.g. --unlabeled -1."),
    ("words.csv", "recode what is positive to 1 and what is negative to 0 (or leave it empty"),
    ("book.xlsx", "book.xlsx is an Excel file: save it as CSV"),
    ("ragged.csv", "ragged.csv has 5 field(s) in line 52, but 4 in its header. Repair the line, or quote"),
    (
        "near.csv",
        "near.csv has no column 'score'. Its columns: 'Score', 'other', 'label', 'g'. Did you mean 'Score'?",
    ),
    ("near.csv", "It is named by --score."),
    (
        "far.csv",
        "far.csv has no column 'label'. Its columns: 'score', 'other', 'target', 'g'. Name one of these. It",
    ),
    ("far.csv", "It is named by --label."),
    (
        "zeros.csv",
        "zeros.csv: The column 'label' holds only 1 and 0, which does not say whether 0 means negative or",
    ),
    ("zeros.csv", "Pass --zeros negative or --zeros unlabeled."),
    (
        "ones.csv",
        "ones.csv: The column 'label' holds only 1: nothing to tell the positives from. Pass the other rows",
    ),
    ("lines.jsonl", "lines.jsonl holds a row that is no JSON object in line 2. Write one for each row."),
    ("binary.csv", "binary.csv is not text in UTF-8. Save it so, or give it the suffix of its format."),
    ("binary.parquet", "binary.parquet is no readable Parquet file ("),
    ("latin.csv", "latin.csv is not text in UTF-8 in line 2. Save it as UTF-8."),
    (
        "http://example.org/a.csv",
        "is an address; only local files are read. Download it, then pass its path.",
    ),
]


@pytest.mark.parametrize("command", list(COMMANDS))
@pytest.mark.parametrize(("file", "message"), CASES)
def test_bad_files(run: Any, command: str, file: str, message: str) -> None:
    assert message in run(command, file, *COMMANDS[command])


@pytest.mark.parametrize("command", list(COMMANDS))
def test_files_of_different_columns(run: Any, command: str) -> None:
    assert "near.csv has no column 'score'." in run(command, "good.csv", "near.csv", *COMMANDS[command])
    assert "good.csv was named more than once" in run(command, "good.csv", "good.csv", *COMMANDS[command])


@pytest.mark.parametrize("command", list(COMMANDS))
def test_columns_that_an_option_names(run: Any, command: str) -> None:
    err = run(command, "good.csv", *COMMANDS[command], "--weight", "weigt")
    assert "good.csv has no column 'weigt'." in err
    assert "It is named by --weight." in err
    err = run(command, "text.csv", *COMMANDS[command], "--label", "score")
    assert err == "Error: --score and --label both name the column 'score'. Name the column of each.\n"
    if command in ("evaluate", "compare", "prior"):
        err = run(command, "good.csv", *COMMANDS[command], "--by", "label")
        assert "--by and --label both name the column 'label', so a group would have one label only." in err
        assert "Did you mean 'g'? It is named by --by." in run(
            command, "good.csv", *COMMANDS[command], "--by", "gg"
        )


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("command", list(COMMANDS))
def test_no_permission(run: Any, command: str) -> None:
    Path("good.csv").chmod(0)
    err = run(command, "good.csv", *COMMANDS[command])
    assert "good.csv cannot be opened: Permission denied. Check the path." in err


def test_a_file_that_cannot_be_opened(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    really = Path.open

    def refuses(path: Path, *args: Any, **settings: Any) -> Any:
        if path.name == "good.csv":
            raise PermissionError(13, "Permission denied")
        return really(path, *args, **settings)

    monkeypatch.setattr(Path, "open", refuses)
    monkeypatch.setattr(Path, "read_bytes", lambda path: b"")
    err = run("evaluate", "good.csv", *COMMANDS["evaluate"])
    assert "good.csv cannot be opened: Permission denied. Check the path." in err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--zeros", "maybe"], "'--zeros'"),
        (["--zeros", "maybe"], "'maybe' is not one of 'negative', 'unlabeled'"),
        (["--threshold", "high"], "--threshold must be a number on the scale of the scores, or say what it"),
        (["--threshold", "high"], "'fpr<=0.05' or 'max f1', got 'high'.\n"),
        (["--prio", "0.3"], "--prior"),
        (["--prior", "30%"], "Write 0.3 for 30%."),
        (["--prior", "0,05"], "Write 0.05."),
        (["--prior", "0,02..0,05"], "Write 0.02..0.05."),
        (["--prior", "estimate", "--within", "0.5..0.1"], "got 0.5..0.1. Write 0.1..0.5."),
        (["--prior", "estimate", "--within", "0.5..2"], "must satisfy 0 <= low < high <= 1, got 0.5..2.\n"),
        (["--stratified", "--no-stratified"], "--stratified and --no-stratified contradict each other."),
        (["--confidence-level", "95"], "Pass 0.95 for 95%."),
        (["--metrics", "auc"], "Did you mean 'roc_auc'?"),
    ],
)
def test_bad_values(run: Any, args: list[str], message: str) -> None:
    assert message in run("evaluate", "good.csv", *args)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ["--soft", "score"],
            "Column 'score' must hold finite numbers; got 2 cell(s) that do not: the first is 'high'",
        ),
        (["--soft", "score"], "in row 51 of text.csv. Drop or repair these rows"),
        (["--soft", "scor"], "text.csv has no column 'scor'."),
        (["--votes", "g", "--ballots", "label"], "in row 2 of text.csv"),
        (["--classes", "other,g"], "must sum to 1"),
        (["--confidence", "label"], "in row 2 of text.csv"),
    ],
)
def test_bad_labels_of_the_bayes_error(run: Any, args: list[str], message: str) -> None:
    assert message in run("bayes-error", "text.csv", *args)
