"""`--engine`: the numbers of the same rows in a file and from a database; Spark is in tests/engines."""

from __future__ import annotations

import json
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

import halftruth as ht
from halftruth.cli import main
from halftruth.cli._options import complete_engines

RNG = np.random.default_rng(4)
N = 600
TRUTH = RNG.random(N) < 0.4
KNOWN = TRUTH & (RNG.random(N) < 0.5)
SCORE = np.clip(RNG.normal(0.3 + 0.4 * TRUTH, 0.2), 0, 1)
FRAME = pd.DataFrame(
    {
        "score": SCORE,
        "margin": 4 * SCORE - 2,
        "label": np.where(KNOWN, 1.0, np.nan),
        "full": np.where(TRUTH, 1, 0),
        "coded": np.where(KNOWN, 1, -1),
        "w": RNG.integers(1, 4, N),
        "month": np.where(RNG.random(N) < 0.5, "jan", "feb"),
    }
)
ENGINE = ["--engine", "duckdb://scores.db"]
FEW = ["--n-resamples", "30", "--format", "json"]
pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # in Ibis
STRANGE = 'a "b"; DROP TABLE scores; --'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, require: Any) -> Path:
    require("ibis")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "halftruth.files._read_files.MAX_ROWS", 0
    )  # a histogram of files too, as an engine makes one
    FRAME.to_parquet("scores.parquet")
    FRAME[:200].to_parquet("monday.parquet")
    FRAME[200:].to_parquet("tuesday.parquet")
    with duckdb.connect("scores.db") as database:
        for table, file in (("scores", "scores"), ("tuesday", "tuesday"), ('"s p"', "scores")):
            database.execute(f"CREATE TABLE {table} AS FROM '{file}.parquet'")
        quoted = '"' + STRANGE.replace('"', '""') + '"'
        database.execute(f"CREATE TABLE {quoted} AS FROM 'scores.parquet'")
        database.execute("CREATE SCHEMA lake; CREATE TABLE lake.scores AS FROM 'scores.parquet'")
        database.execute("CREATE TABLE \"scores.csv\" AS FROM 'scores.parquet'")
        database.execute("CREATE TABLE lake.\"a.npz\" AS FROM 'scores.parquet'")
        database.execute("CREATE TABLE empty AS FROM 'scores.parquet' LIMIT 0")
    return tmp_path


@pytest.fixture
def run(folder: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*args: str, status: int = 0) -> tuple[str, str]:
        found = main(args)
        out, err = capsys.readouterr()
        assert found == status, err
        assert "Traceback" not in err
        return out, err

    return call


@pytest.mark.parametrize(
    "args",
    [
        "--prior 0.4 --threshold 0.5",
        "--label full --zeros negative",
        "--label full --zeros unlabeled --prior 0.5",
        "--label coded --unlabeled -1 --prior 0.4 --weight w",
        "--prior 0.4 --by month",
        "--score margin --prior 0.4 --threshold 0",
    ],
)
def test_a_table_equals_the_file(run: Any, args: str) -> None:
    expected = run("evaluate", "scores.parquet", *args.split(), *FEW)
    assert run("evaluate", "scores", *ENGINE, *args.split(), *FEW) == expected


@pytest.mark.parametrize(
    "name", ["s p", STRANGE, "lake.scores", "scores.parquet", '"scores.csv"', 'lake."a.npz"']
)
def test_names_and_paths(run: Any, name: str) -> None:
    expected = run("evaluate", "scores.parquet", "--prior", "0.4", *FEW)[0]
    assert run("evaluate", name, *ENGINE, "--prior", "0.4", *FEW)[0] == expected
    with duckdb.connect("scores.db", read_only=True) as database:
        assert database.execute("SELECT count(*) FROM scores").fetchone() == (N,)


def test_prior(run: Any) -> None:
    args = ["--method", "bbe", "--n-resamples", "10", "--by", "month", "--format", "json"]
    assert run("prior", "scores", *ENGINE, *args) == run("prior", "scores.parquet", *args)


def test_calibrate(run: Any) -> None:
    args = ["--prior", "0.4", "--format", "json", "--output"]
    expected = run("calibrate", "scores.parquet", *args, "file.json")[0]
    out, _ = run("calibrate", "scores", *ENGINE, *args, "engine.json")
    assert json.loads(out) | {"output": "file.json"} == json.loads(expected)
    assert Path("engine.json").read_bytes() == Path("file.json").read_bytes()
    _, err = run("calibrate", "scores", *ENGINE, *args, "x.json", "--scores", "x.csv", status=2)
    assert "--scores writes all rows anew, and those of --engine stay where they are." in err
    assert not Path("x.json").exists()


def test_a_report_is_titled_by_the_table(run: Any) -> None:
    _, err = run("evaluate", "lake.scores", *ENGINE, "--prior", "0.4", *FEW, "--html", "report.html")
    assert "Report: " in err
    assert "lake.scores, score" in Path("report.html").read_text()


def test_yesterday_is_stored_and_today_in_the_engine(run: Any) -> None:
    expected = run("evaluate", "scores.parquet", "--prior", "0.4", *FEW)[0]
    run("evaluate", "monday.parquet", *FEW, "--save-table", "monday.npz")
    assert run("evaluate", "monday.npz", "tuesday", *ENGINE, "--prior", "0.4", *FEW)[0] == expected
    run("evaluate", "tuesday", *ENGINE, *FEW, "--save-table", "tuesday.npz")
    assert run("evaluate", "monday.npz", "tuesday.npz", "--prior", "0.4", *FEW)[0] == expected


def test_today_goes_on_the_grid_of_yesterday(run: Any) -> None:
    margins = ["monday.parquet", "--grid", "margin", "--save-table", "monday.npz"]
    run("evaluate", *margins, *FEW)
    out = run("evaluate", "monday.npz", "tuesday", *ENGINE, "--prior", "0.4", *FEW)[0]
    whole = run("evaluate", "scores", *ENGINE, "--grid", "margin", "--prior", "0.4", *FEW)[0]
    assert out == whole


def test_months_of_an_engine_are_saved_apart(run: Any) -> None:
    args = ["scores", *ENGINE, "--by", "month", "--prior", "0.4", *FEW, "--save-table", "scores.npz"]
    found = json.loads(run("evaluate", *args)[0])["groups"]
    for month, result in found.items():
        assert json.loads(run("evaluate", f"scores-{month}.npz", "--prior", "0.4", *FEW)[0]) == result
    merged = ht.ScoreTable.load("scores-jan.npz").merge(ht.ScoreTable.load("scores-feb.npz"))
    assert len(merged) == N


def test_groups_that_a_file_system_may_not_tell_apart_are_saved_apart(run: Any) -> None:
    names = {form: unicodedata.normalize(form, "각") for form in ("NFC", "NFD")}
    with duckdb.connect("scores.db") as database:
        database.execute("UPDATE scores SET month = if(month = 'jan', $NFC, $NFD)", names)
    run("evaluate", "scores", *ENGINE, "--by", "month", "--prior", "0.4", *FEW, "--save-table", "month.npz")
    saved = {unicodedata.normalize("NFC", path.name) for path in Path().glob("month-*.npz")}
    assert len(saved) == 2


# --- Refusals -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("- --engine spark", "--engine reads a table that the engine holds, got - for standard input."),
        ("a b c --engine spark", "--engine reads one table, got 3: a, b, …. Pass a view of them all"),
        ("a.npz --engine spark", "got the saved table a.npz alone"),
        ("scores --engine nonsense", "nonsense"),
        ("nowhere --engine duckdb://scores.db", "nowhere"),
        ("nowhere.parquet --engine duckdb://scores.db", "nowhere.parquet"),
        ("scores --engine duckdb://no/folder.db", "no/folder.db"),
        ("empty --engine duckdb://scores.db", "row"),
        ("scores --engine duckdb://scores.db --label fraud", "It is named by --label."),
        ("scores --engine duckdb://scores.db --weight n", "It is named by --weight."),
        ("scores --engine duckdb://scores.db --by day", "It is named by --by."),
        (
            "scores --engine duckdb://scores.db --score month",
            "Column 'month' must hold numbers for --score, it holds string. Make a view of the table",
        ),
        (
            "scores --engine duckdb://scores.db --label month",
            "must hold numbers or booleans for --label, it holds string. Make a view of the table that has "
            "1, 0 and NULL in it",
        ),
        ("scores --engine Spark", "Did you mean spark?"),
        ("scores.csv --engine duckdb://scores.db", "Check the path, or write '\"scores.csv\"' for a table."),
        ('"scores.csv --engine duckdb://scores.db', "cannot be read"),
        ('lake."scores --engine duckdb://scores.db', "A table must be named table, schema.table or catalog"),
        ("scores --engine duckdb://scores.db --label coded", "coded"),
        ("scores --engine duckdb://scores.db --label full", "--zeros negative or --zeros unlabeled"),
        ("scores --engine duckdb://scores.db --score margin --grid probability", "[0, 1]"),
        ("a.npz scores --engine duckdb://scores.db --by month", "--by is about the columns of a file"),
    ],
)
def test_refusals(run: Any, args: str, message: str) -> None:
    out, err = run("evaluate", *args.split(), *FEW, status=2)
    assert out == ""
    assert err.startswith("Error: ")
    assert message in err
    assert len(err) < 600
    assert not Path("no").exists()


@pytest.mark.parametrize(
    "engine",
    [
        "postgres://me:hunter2@127.0.0.1:1/db",
        "postgres://me:hunter2/3@127.0.0.1:1/db",
        "nonsense://me:hunter2@host/db",
        "me:hunter2@host",
        "postgres://me:p@hunter2/3#4@127.0.0.1:1/db",
    ],
)
def test_a_password_is_never_shown(run: Any, engine: str) -> None:
    out, err = run("evaluate", "scores", "--engine", engine, *FEW, status=2)
    assert err.startswith("Error: ")
    assert "hunter2" not in out + err


@pytest.mark.parametrize(
    ("missing", "engine", "extra"),
    [
        ("ibis", ENGINE[1], "ibis"),
        ("pyarrow", ENGINE[1], "ibis"),
        ("pyspark", "spark", "spark"),
        ("ibis", "spark", "spark"),
        ("pyarrow", "spark", "spark"),
    ],
)
def test_a_missing_library_is_named(folder: Path, missing: str, engine: str, extra: str) -> None:
    code = (
        f"import sys; sys.modules[{missing!r}] = None\n"
        f"from halftruth.cli import main; sys.exit(main(['evaluate', 'scores', '--engine', {engine!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"pip install 'halftruth[{extra}]'" in done.stderr


def test_the_database_stays_as_it_was(run: Any, folder: Path) -> None:
    before = Path("scores.db").read_bytes()
    run("evaluate", "scores", *ENGINE, "--prior", "0.4", *FEW)
    assert Path("scores.db").read_bytes() == before
    run("evaluate", "scores", "--engine", "duckdb://other.db", *FEW, status=2)
    assert not Path("other.db").exists()


def test_what_is_offered() -> None:
    assert complete_engines("s") == ["spark"]
    assert complete_engines("") == ["spark", "duckdb://", "postgres://"]
