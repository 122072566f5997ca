"""A program that reads a table on a Spark of two executors while something of it fails.

Arguments: what fails ("nothing", "executor" or "task"), the folder of Parquet files, the file of the result.
It prints what happened and the peak memory of Python and of the driver as JSON.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import ibis
import pyspark
from pyspark.sql import SparkSession

import halftruth as ht
from halftruth.engines.sql._spark import LOCAL, _find_java

SETTINGS = LOCAL | {
    "spark.master": "local-cluster[2,1,1024]",
    "spark.executor.memory": "1g",
    "spark.driver.memory": "512m",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.files.maxPartitionBytes": "16m",
    "spark.sql.files.openCostInBytes": "16m",  # each file is a task
    "spark.task.maxFailures": "1000",
    "spark.ui.showConsoleProgress": "false",
}


def stages(spark: Any) -> list[Any]:
    tracker = spark.sparkContext.statusTracker()
    return [info for k in tracker.getActiveStageIds() if (info := tracker.getStageInfo(k)) is not None]


def executors(driver: int) -> list[int]:
    """The processes of executors that this driver has started, the first first."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            command = (entry / "cmdline").read_bytes()
        except (OSError, ValueError, IndexError):
            continue
        if parent == driver and b"CoarseGrainedExecutorBackend" in command:
            found.append(int(entry.name))
    return sorted(found)


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 300
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.02)


def kill_executor(spark: Any, driver: int) -> str:
    """Kill an executor in the middle of a stage."""
    wait_for(lambda: any(s.numCompletedTasks > 0 and s.numActiveTasks > 0 for s in stages(spark)))
    pid = executors(driver)[0]
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: pid not in executors(driver))
    return "killed an executor"


def repair(spark: Any, path: Path, content: bytes) -> str:
    """Put back a damaged file once a task has failed on it."""
    wait_for(lambda: any(s.numFailedTasks > 0 for s in stages(spark)))
    path.write_bytes(content)
    return "a task failed"


def peak(pid: int | str) -> int:
    """The most memory that a process held, in bytes."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM"))


def failing(fails: str, spark: Any, driver: int, folder: Path) -> Callable[[], str]:
    """What is to go wrong while the query runs."""
    if fails == "executor":
        return partial(kill_executor, spark, driver)
    if fails == "task":
        path = max(folder.glob("*.parquet"))
        content = path.read_bytes()
        path.write_bytes(bytes(len(content)))
        return partial(repair, spark, path, content)
    return lambda: "nothing failed"


def main(fails: str, folder: Path, target: str) -> None:
    os.environ["SPARK_HOME"] = str(Path(pyspark.__file__).parent)
    _find_java()
    spark = SparkSession.builder.config(map=SETTINGS).getOrCreate()
    driver = spark.sparkContext._gateway.proc.pid
    rows = ibis.pyspark.connect(spark).read_parquet(str(folder))
    event = failing(fails, spark, driver, folder)
    told: list[str] = []
    watcher = threading.Thread(target=lambda: told.append(event()))
    watcher.start()
    started = time.monotonic()
    ht.ScoreTable.from_ibis(rows, weight="weight").save(target)
    seconds = time.monotonic() - started
    watcher.join()
    memory = {"python_bytes": peak("self"), "driver_bytes": peak(driver)}
    sys.stdout.write(json.dumps({"event": told, "seconds": round(seconds, 1), **memory}) + "\n")
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
