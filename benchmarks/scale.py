"""The same table from anywhere: SQL engines, tensors and batches against what one would write by hand."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from common import HEAD, compared, duration, row, say, section

N_ROWS = 10_000_000
BATCH, N_UPDATES = 65_536, 200
PASSES = 5
"""Of each, one after the other in turn, so that a busy moment hits both."""
BY_HAND = """
    SELECT label, floor(score * 65536) AS bin, count(*) AS n, sum(score) AS total
    FROM {} GROUP BY 1, 2"""


def run(scale: float) -> None:
    """All of it; what is not installed is left out, and said to be."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "scores.parquet")
        n = int(N_ROWS * scale)
        write_rows(path, n)
        if installed("ibis"):
            through_ibis(path, n)
        if installed("ibis", "pyspark"):
            through_spark(path, n)
        if installed("torch", "torchmetrics"):
            in_training(scale)
        growth(Path(folder), scale)


def installed(*libraries: str) -> bool:
    """Whether these libraries are there."""
    missing = [name for name in libraries if find_spec(name) is None]
    if missing:
        say(f"\nLeft out, for {' and '.join(missing)} is not installed: what needs {', '.join(libraries)}.")
    return not missing


def write_rows(path: Path, n: int) -> None:
    """Scores piled up towards 0; a tenth labeled positive, the others unlabeled."""
    import duckdb

    rows = "(random() * random())::double AS score, CASE WHEN random() < 0.1 THEN 1 END::int AS label"
    duckdb.execute("SELECT setseed(0.5)")
    duckdb.execute(f"COPY (SELECT {rows} FROM range({n})) TO '{path}' (FORMAT parquet)")


def in_turn(*calls: Callable[[], Any], passes: int = PASSES) -> list[float]:
    """The median time of each, one after the other, after one pass to warm up."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(passes + 1):
        for taken, call in zip(times, calls, strict=True):
            start = time.perf_counter()
            call()
            taken.append(time.perf_counter() - start)
    return [statistics.median(taken[1:]) for taken in times]


# --- SQL engines ---------------------------------------------------------------------------------


def through_ibis(path: Path, n: int) -> None:
    """The DuckDB of Ibis against the one that reads files."""
    import ibis

    import halftruth as ht

    rows = ibis.duckdb.connect().read_parquet(path)
    ours, direct = in_turn(
        lambda: ht.ScoreTable.from_ibis(rows), lambda: ht.ScoreTable.from_file(path, max_rows=0)
    )
    section(f"SQL engines: {n:,} rows of Parquet, median of {PASSES} passes in turn", *HEAD)
    compared("Ibis and DuckDB / from_file", ours, direct, "≤ 1.3")


def through_spark(path: Path, n: int) -> None:
    """Spark on two threads against its own GROUP BY of equal bins, and what each shuffles."""
    import ibis

    import halftruth as ht

    with spark_session() as spark:
        rows = ibis.pyspark.connect(spark).read_parquet(str(path))
        spark.read.parquet(str(path)).createOrReplaceTempView("by_hand")
        calls = (
            lambda: ht.ScoreTable.from_ibis(rows),
            lambda: spark.sql(BY_HAND.format("by_hand")).collect(),
        )
        compared("Spark, local[2] / its SQL with 65,536 equal bins", *in_turn(*calls), "≤ 2")
        for name, call in zip(("halftruth", "by hand"), calls, strict=True):
            records, written, tasks = shuffled(spark, call)
            say(
                f"\n{name}: {tasks} map tasks shuffle {records:,} records, {written / 2**20:.2f} MiB, "
                f"{written / records:.0f} bytes each."
            )


@contextmanager
def spark_session() -> Iterator[Any]:
    """Spark on two threads of this machine."""
    from halftruth.engines.sql import spark

    before = os.environ.get("MASTER")
    spark.LOCAL["spark.master"] = "local[2]"
    with spark.session() as session:
        yield session
