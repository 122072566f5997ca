"""Spark's plan: partial sums, one shuffle of the size of the histogram, whatever the rows, and no Python."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import halftruth as ht
from halftruth.table._grid import Grid

BYTES = 128
"""Most that one bin of one stratum and partition takes in a shuffle."""
N_BINS = 256


@pytest.fixture(scope="module")
def rows(spark, require, tmp_path_factory) -> Any:
    """``rows(n)``: a table of n rows, of the same law, in four partitions."""
    connection = require("ibis").pyspark.connect(spark)
    folder = tmp_path_factory.mktemp("plan")

    def made(n: int) -> Any:
        rng = np.random.default_rng(7)
        columns = {"score": rng.random(n), "label": rng.integers(0, 2, n), "w": rng.uniform(0.5, 2, n)}
        path = folder / f"{n}"
        path.mkdir(exist_ok=True)
        for k in range(4):
            part = {name: values[k::4] for name, values in columns.items()}
            pq.write_table(pa.table(part), path / f"{k}.parquet")
        return connection.read_parquet(str(path))

    return made


def frame(table: Any, **columns: Any) -> Any:
    """The query as a data frame of Spark."""
    from halftruth.engines.sql import expression

    connection = table.get_backend()
    return connection.raw_sql(connection.compile(expression(table, score="score", label="label", **columns)))


def executed(table: Any, **columns: Any) -> tuple[dict[str, int], str]:
    """What the query shuffled, by name of the metric, and the plan as it was run."""
    query = frame(table, **columns)
    query.collect()
    plan = query._jdf.queryExecution().executedPlan().finalPhysicalPlan()
    shuffled: dict[str, int] = {}
    nodes = [plan]
    while nodes:
        node = nodes.pop()
        children = node.children()
        nodes += [children.apply(k) for k in range(children.size())]
        if node.nodeName() == "ShuffleQueryStage":
            nodes.append(node.plan())
        if node.nodeName() == "Exchange":
            for name in ("shuffleBytesWritten", "shuffleRecordsWritten"):
                shuffled[name] = shuffled.get(name, 0) + node.metrics().apply(name).value()
    return shuffled, plan.toString()


@pytest.mark.parametrize("columns", [{}, {"weight": "w"}], ids=["plain", "weighted"])
def test_partial_sums_one_exchange_on_the_key_and_nothing_but_expressions(rows, columns):
    _, plan = executed(rows(1000), **columns)
    names = re.findall(r"^[\s+\-*()\d:]*(\w+)", plan, flags=re.MULTILINE)
    kept = [name for name in names if name not in ("ColumnarToRow", "ShuffleQueryStage", "AQEShuffleRead")]
    assert kept == ["HashAggregate", "Exchange", "HashAggregate", "Project", "FileScan"]
    assert len(re.findall(r"Exchange hashpartitioning\(key#\d+, 2\)", plan)) == 1
    assert "partial_count(1)" in plan.split("Exchange")[1]
    assert not re.search(r"(?i)python|arrow|map(Partitions|InPandas)|udf", plan)


def test_bytes_shuffled_do_not_grow_with_the_rows(rows):
    grid = Grid("probability", n_bins=N_BINS)
    few, many = (executed(rows(n), weight="w", grid=grid)[0] for n in (40_000, 320_000))
    partitions, strata = 4, 2
    # Only bins that were empty are new: those close to 0 and 1, which are narrow.
    assert few["shuffleRecordsWritten"] <= many["shuffleRecordsWritten"] < 1.3 * few["shuffleRecordsWritten"]
    assert many["shuffleRecordsWritten"] <= partitions * strata * grid.n_slots
    assert 0 < many["shuffleBytesWritten"] < 1.5 * few["shuffleBytesWritten"]
    assert many["shuffleBytesWritten"] <= many["shuffleRecordsWritten"] * BYTES


def test_the_tables_of_two_days_merge_to_that_of_both(rows, tmp_path):
    first, second = rows(1000), rows(3000)
    both = first.union(second)
    merged = ht.ScoreTable.from_ibis(first, weight="w").merge(ht.ScoreTable.from_ibis(second, weight="w"))
    merged.save(tmp_path / "merged.npz")
    ht.ScoreTable.from_ibis(both, weight="w").save(tmp_path / "both.npz")
    assert (tmp_path / "merged.npz").read_bytes() == (tmp_path / "both.npz").read_bytes()
