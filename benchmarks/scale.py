"""The same table from anywhere: SQL engines, tensors and batches against what one would write by hand."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from common import HEAD, compared, duration, in_turn, row, say, section

N_ROWS = 10_000_000
BATCH, N_UPDATES = 65_536, 100
PASSES = 9
"""Of each, one after the other in turn, so that a busy moment hits both."""
BY_HAND = """
    SELECT label, floor(score * 65536) AS bin, count(*) AS n, sum(score) AS total
    FROM by_hand GROUP BY 1, 2"""


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
    of_bins(int(N_ROWS * scale))


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


# --- SQL engines ---------------------------------------------------------------------------------


def through_ibis(path: Path, n: int) -> None:
    """The DuckDB of Ibis against the one that reads files."""
    import ibis

    import halftruth as ht

    rows = ibis.duckdb.connect().read_parquet(path)
    ours, direct = in_turn(
        lambda: ht.ScoreTable.from_ibis(rows),
        lambda: ht.ScoreTable.from_file(path, max_rows=0),
        passes=PASSES,
    )
    section(f"SQL engines: {n:,} rows of Parquet, median of {PASSES} passes in turn", *HEAD)
    compared("Ibis and DuckDB / from_file", ours, direct, "≤ 1.3")
    table, saved = ht.ScoreTable.from_ibis(rows), path.with_suffix(".npz")
    table.save(saved)
    occupied = sum(len(stratum.rows) for stratum in table.strata.values())
    say(f"\nThe table holds {occupied:,} bins and is a file of {mebibytes(saved.stat().st_size)}.")


def through_spark(path: Path, n: int) -> None:
    """Spark against its own GROUP BY of equal bins, and what each shuffles."""
    import ibis

    import halftruth as ht
    from halftruth.engines.sql._spark import session

    with session() as spark:
        rows = ibis.pyspark.connect(spark).read_parquet(str(path))
        spark.read.parquet(str(path)).createOrReplaceTempView("by_hand")
        calls = (lambda: ht.ScoreTable.from_ibis(rows), lambda: spark.sql(BY_HAND).collect())
        threads, passes = spark.sparkContext.defaultParallelism, 3
        section(f"Spark on {threads} threads: the same rows, median of {passes} passes in turn", *HEAD)
        taken = in_turn(*calls, passes=passes)
        compared("from_ibis / SQL by hand, label and floor(score · 65,536)", *taken, "≤ 2")
        for name, call in zip(("from_ibis", "by hand"), calls, strict=True):
            stages = stages_of(spark, call, name)
            mapped = [stage for stage in stages if stage.shuffleWriteBytes() > 0]
            names = ("shuffleWriteRecords", "shuffleWriteBytes", "numCompleteTasks")
            records, written, tasks = (sum(getattr(x, name)() for x in mapped) for name in names)
            rate = n / sum(stage.executorCpuTime() for stage in stages) * 1e9
            say(
                f"\n{name}: {tasks} map task(s) shuffle {records:,} records in {mebibytes(written)}, "
                f"{written / records:.0f} bytes each; {rate / 1e6:.1f} M rows a second of processor time."
            )


def stages_of(spark: Any, call: Callable[[], Any], name: str) -> list[Any]:
    """What Spark has recorded of each stage of a call."""
    context = spark.sparkContext
    context.setJobGroup(name, "")
    call()
    tracker, store = context.statusTracker(), context._jsc.sc().statusStore()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(name)]
    return [store.lastStageAttempt(stage) for job in jobs for stage in job.stageIds]


# --- Training ------------------------------------------------------------------------------------


def in_training(scale: float) -> None:
    """A batch added to all metrics at once against two metrics of torchmetrics.

    Each metric is timed in a block of its own: threads that one has just used keep a core busy for a while,
    and would be charged to the next. A loop that has several metrics pays for that, so it is shown too.
    """
    import torch
    from torchmetrics.classification import BinaryAUROC, BinaryCalibrationError

    from halftruth.training import ScoreMetrics

    torch.manual_seed(0)
    score = torch.rand(BATCH)
    target = (torch.rand(BATCH) < score).long()
    makers = (lambda: ScoreMetrics("labeled"), lambda: BinaryCalibrationError(n_bins=15), BinaryAUROC)
    n = max(10, int(N_UPDATES * scale))

    def block(make: Callable[[], Any]) -> Callable[[], None]:
        def updates() -> None:
            metric = make()
            for _ in range(n):
                metric.update(score, target)

        return updates

    section(f"Training: update of {BATCH:,} float32 scores, {torch.get_num_threads()} threads", *HEAD)
    ours, *theirs = (taken / n for taken in in_turn(*map(block, makers), passes=PASSES))
    peers = "torchmetrics' calibration error + AUROC"
    compared(f"all metrics / {peers}, each in a block of {n} updates", ours, sum(theirs), "≤ 0.5")
    metrics = [make() for make in makers]
    updates = [lambda metric=metric: metric.update(score, target) for metric in metrics]
    ours, *theirs = in_turn(*updates, passes=n)
    compared("the same, update by update in turn", ours, sum(theirs))
    mine, *others = map(state_bytes, metrics)
    row(f"state after {n + 1} batches", mebibytes(mine), mebibytes(sum(others)), "", "", "constant")
    for _ in range(1000):
        updates[0]()
    row(f"state after {n + 1001:,} batches", mebibytes(state_bytes(metrics[0])), "", "", "", "constant")


def state_bytes(metric: Any) -> int:
    """The bytes of a metric's state."""
    states = [getattr(metric, name) for name in metric._defaults]
    tensors = [tensor for state in states for tensor in (state if isinstance(state, list) else [state])]
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def mebibytes(n: float) -> str:
    """Bytes for people."""
    return f"{n / 2**20:.1f} MiB"


# --- Growth --------------------------------------------------------------------------------------


def growth(folder: Path, scale: float) -> None:
    """Rows a second against rows, in all and by second of processor time, which is that of one core."""
    section("Growth: histograms", "rows", "from", "time", "rows a second", "of processor time")
    for n in (10**6, 10**7, 5 * 10**7):
        if n <= 5 * 10**7 * scale:
            path = folder / "growth.parquet"
            write_rows(path, n)
            for name, call in sources(path, n):
                wall, processor = least(call)
                row(f"{n:,}", name, duration(wall), f"{n / wall / 1e6:.0f} M", f"{n / processor / 1e6:.0f} M")


def sources(path: Path, n: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The ways in which rows become a histogram."""
    import halftruth as ht

    yield (
        f"Parquet, {path.stat().st_size / n:.1f} bytes a row",
        lambda: ht.ScoreTable.from_file(path, max_rows=0),
    )
    if n > N_ROWS:
        return
    rng = np.random.default_rng(0)
    score, label = rng.random(n) * rng.random(n), np.where(rng.random(n) < 0.1, 1.0, np.nan)
    table = ht.PositiveUnlabeled.from_labels(label, score).table
    yield "NumPy, rows of a table", table.compress
    if find_spec("torch") is not None:
        import torch

        tensors = torch.from_numpy(score), torch.from_numpy(label)
        yield "tensors on the CPU", lambda: ht.ScoreTable.from_torch(*tensors).compress()


def least(call: Callable[[], Any], repeats: int = 2) -> tuple[float, float]:
    """The least seconds of some calls, on the clock and of all cores together, after one to warm up."""
    call()
    taken = []
    for _ in range(repeats):
        start = time.perf_counter(), time.process_time()
        call()
        taken.append((time.perf_counter() - start[0], time.process_time() - start[1]))
    return min(wall for wall, _ in taken), min(processor for _, processor in taken)


# --- What bins change ----------------------------------------------------------------------------


def of_bins(n: int) -> None:
    """The bound on what bins change, what they do change, and how much chance does, in every metric."""
    import halftruth as ht

    strata = ht.simulate.GaussianClasses(prior=0.3).draw_strata(n // 11, n - n // 11, 0)
    evidence = ht.PositiveUnlabeled(strata.positive.score, strata.unlabeled.score, prior=0.3)
    exact = ht.evaluate(evidence, n_resamples=0)

    def binned(n_bins: int) -> Any:
        table = evidence.table.compress(ht.Grid("probability", n_bins=n_bins))
        known = ht.PositiveUnlabeled.from_table(table, prior=0.3, population="unlabeled")
        return ht.evaluate(known, n_resamples=0)

    usual, fine = binned(1 << 16), binned(1 << 20)
    section(
        f"What bins change: {n // 11:,} positives + {n - n // 11:,} unlabeled rows",
        "", "half the 95% interval", "65,536 bins: bound", "difference", "2^20 bins: bound", "difference",
    )  # fmt: skip
    for name in exact:
        found = [(exact[name].high - exact[name].low) / 2]
        for result in (usual, fine):
            found += [result[name].compression, abs(result[name].value - exact[name].value)]
        row(name, *(f"{x:.1e}" for x in found))
