"""Spark on two executors: one is killed, a task fails, and the table is that of DuckDB to the byte."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

import halftruth as ht

pytestmark = [pytest.mark.first, pytest.mark.slow]

PROGRAM = Path(__file__).with_name("spark_executors.py")
N_ROWS, N_FILES = 50_000_000, 16
EVENTS = {"nothing": "nothing failed", "executor": "killed an executor", "task": "a task failed"}
ROWS = """
COPY (
    SELECT (hash(k) >> 11) / 9007199254740992.0 AS score,
           CASE hash(k + 1) % 4 WHEN 0 THEN 1 WHEN 1 THEN 0 END AS label,
           0.5 + (hash(k + 2) % 1000) / 500.0 AS weight
    FROM range($first, $last) AS t(k)
) TO '{}' (FORMAT parquet)
"""


@pytest.fixture(scope="module")
def folder(draws, tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("rows")
    # A tenth of the draws is a hundredth of the rows: starting Spark takes the time that is left.
    each = max(10_000, draws(draws(N_ROWS)) // N_FILES)
    with duckdb.connect() as connection:
        for k in range(N_FILES):
            rows = {"first": k * each, "last": (k + 1) * each}
            connection.execute(ROWS.format(made / f"{k:02}.parquet"), rows)
    return made


@pytest.fixture(scope="module")
def expected(folder) -> bytes:
    path = folder.parent / "expected.npz"
    ht.ScoreTable.from_file(folder, weight="weight", max_rows=0).save(path)
    return path.read_bytes()


@pytest.mark.parametrize("fails", EVENTS)
def test_a_lost_executor_or_task_changes_nothing(require, folder, expected, tmp_path, fails):
    require("pyspark")
    target = tmp_path / "found.npz"
    command = [sys.executable, str(PROGRAM), fails, str(folder), str(target)]
    # Workers and executors write where they are started.
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    result = json.loads(done.stdout.splitlines()[-1])
    sys.stdout.write(f"{fails}: {result}\n")
    assert result["event"] == [EVENTS[fails]]
    assert target.read_bytes() == expected
    assert max(result["python_bytes"], result["driver_bytes"]) < 1e9
