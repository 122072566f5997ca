"""Groups that engines hand over each in their own way: every one names them as files do, in any time zone."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import halftruth as ht

from .reference import differences, of_table

NAN = float("nan")
ELSEWHERE = "America/New_York"
NIGHT = dt.datetime(2024, 11, 3, 5, 30)
"""In UTC; an hour later the clocks of New York show the same time once more."""
TIMES = [NIGHT, NIGHT + dt.timedelta(hours=1), None, dt.datetime(1960, 1, 1, 0, 0, 0, 1)]
MOMENTS = ["1960-01-01 00:00:00.000001+00", "2024-11-03 05:30:00+00", "2024-11-03 06:30:00+00", "missing"]
IDS = [uuid.UUID(int=1), None, uuid.UUID(int=2**127 + 10), uuid.UUID(int=1)]
GROUPS = {
    "moment": ("timestamptz", pa.array(TIMES, pa.timestamp("us", "UTC")), MOMENTS),
    "moment of Berlin": ("timestamptz", pa.array(TIMES, pa.timestamp("us", "Europe/Berlin")), MOMENTS),
    "wall clock": ("timestamp", pa.array(TIMES), [name.removesuffix("+00") for name in MOMENTS]),
    "double": ("double precision", pa.array([NAN, 0.5, None, NAN]), ["0.5", "missing", "nan"]),
    "single": ("real", pa.array([NAN, 0.1, float("inf"), NAN], pa.float32()), ["0.1", "inf", "nan"]),
    "uuid": (
        "uuid",
        pa.ExtensionArray.from_storage(pa.uuid(), pa.array([x and x.bytes for x in IDS], pa.binary(16))),
        ["00000000-0000-0000-0000-000000000001", "80000000-0000-0000-0000-00000000000a", "missing"],
    ),
}


@pytest.fixture(params=GROUPS)
def kind(request) -> str:
    return str(request.param)


@pytest.fixture
def path(tmp_path, kind) -> Path:
    columns = {"score": [0.1, 0.2, 0.3, 0.4], "label": [1, 0, 1, None], "g": GROUPS[kind][1]}
    pq.write_table(pa.table(columns), tmp_path / "groups.parquet")
    return tmp_path / "groups.parquet"


def check(rows: Any, path: Path, kind: str) -> None:
    found, expected = ht.ScoreTable.from_ibis(rows, by="g"), ht.ScoreTable.from_file(path, by="g", max_rows=0)
    assert list(found) == list(expected) == GROUPS[kind][2]
    tables = [{name: of_table(table) for name, table in held.items()} for held in (expected, found)]
    assert differences(*tables) == []


def test_in_duckdb(require, path, kind):
    connection = require("ibis").duckdb.connect()
    connection.settings["TimeZone"] = ELSEWHERE
    check(connection.read_parquet(path), path, kind)


@pytest.mark.parametrize("kind", ["moment"])
def test_moments_of_another_zone(require, path, kind):
    rows = require("ibis").duckdb.connect().read_parquet(path)
    assert list(ht.ScoreTable.from_ibis(rows, by=rows.g.cast("timestamp('Europe/Berlin')"))) == MOMENTS


@pytest.mark.parametrize("kind", [kind for kind in GROUPS if kind != "uuid"])  # which Spark does not read
def test_in_spark(require, spark, path, kind):
    rows = require("ibis").pyspark.connect(spark).read_parquet(str(path))  # which sets the zone
    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", ELSEWHERE)
    try:
        check(rows, path, kind)
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)


@pytest.mark.parametrize("kind", ["moment"])
def test_expressions_mean_what_they_do_in_the_session(require, spark, path, kind):
    ibis = require("ibis")
    in_duckdb, in_spark = ibis.duckdb.connect(), ibis.pyspark.connect(spark)
    in_duckdb.settings["TimeZone"] = ELSEWHERE
    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", ELSEWHERE)
    try:
        for rows in (in_duckdb.read_parquet(path), in_spark.read_parquet(str(path))):
            hours = list(ht.ScoreTable.from_ibis(rows, by=rows.g.hour()))
            assert hours == ["1", "19", "missing"]  # both half past one in New York
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)


@pytest.fixture
def in_postgres(postgres, path, kind) -> Iterator[Any]:
    rows = pq.read_table(path)
    postgres.con.execute(f"CREATE TABLE groups (score double precision, label int, g {GROUPS[kind][0]})")
    with postgres.con.cursor() as cursor, cursor.copy("COPY groups FROM STDIN") as copy:
        for row in rows.to_pylist():
            copy.write_row(tuple(row.values()))
    postgres.con.execute(f"SET TimeZone = '{ELSEWHERE}'")
    postgres.con.commit()
    yield postgres.table("groups")
    postgres.con.rollback()
    postgres.con.execute("DROP TABLE groups")
    postgres.con.execute("SET TimeZone = 'UTC'")
    postgres.con.commit()


def test_in_postgres(in_postgres, path, kind):
    check(in_postgres, path, kind)
