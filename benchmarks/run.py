"""Speed against peers, as ratios in one run, and how the cost grows with the rows.

make bench                     everything, a few minutes; writes benchmarks/RESULTS.md
make bench BENCH_ARGS=--small  a hundredth of the rows, to see that it runs; writes nothing
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import calibration
import learning
import limits
import numpy as np
import reviews
import scale as engines
from common import HEAD, LINES, compared, duration, row, say, seconds, section

N_RESAMPLES = 2000
N_TIMED = 10
MODEL_PRIOR = 0.3


def positive_unlabeled(n_positive: int, n_unlabeled: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores of positives and unlabeled."""
    import halftruth as ht

    strata = ht.simulate.GaussianClasses(prior=MODEL_PRIOR).draw_strata(n_positive, n_unlabeled, 0)
    return strata.positive.score.copy(), strata.unlabeled.score.copy()


def default_metrics(positive: np.ndarray, unlabeled: np.ndarray) -> list[float]:
    """All default point metrics, from arrays."""
    import halftruth as ht

    evidence = ht.PositiveUnlabeled(positive, unlabeled, prior=MODEL_PRIOR)
    functions: list[Callable[..., float]] = [
        ht.prevalence,
        ht.roc_auc,
        ht.average_precision,
        ht.brier,
        ht.log_loss,
        ht.calibration_error,
    ]
    return [function(evidence) for function in functions]


def in_memory(scale: float) -> None:
    """Point metrics of arrays against one sort of them and against scikit-learn."""
    from sklearn import metrics as skm
    from sklearn.calibration import calibration_curve

    import halftruth as ht

    p, u = positive_unlabeled(int(1e6 * scale), int(1e7 * scale))
    y, score = np.repeat([1, 0], [len(p), len(u)]), np.append(p, u)
    default_metrics(p, u)  # compiled once
    sort = seconds(lambda: np.sort(score))
    say(f"\nnp.sort takes {1e9 * sort / len(score):.0f} ns a score.")
    section(f"In memory: {len(p):,} positives + {len(u):,} unlabeled float64 scores", *HEAD)
    ours = seconds(lambda: default_metrics(p, u))
    compared("all default point metrics / np.sort of the scores", ours, sort, "≤ 0.8")

    def closed() -> None:
        ht.evaluate(ht.PositiveUnlabeled(p, u, prior=MODEL_PRIOR), n_resamples=0)

    compared("evaluate(n_resamples=0), intervals and naive too / np.sort", seconds(closed), sort)

    def peer() -> None:
        skm.roc_auc_score(y, score)
        skm.average_precision_score(y, score)
        skm.brier_score_loss(y, score)
        skm.log_loss(y, score)
        calibration_curve(y, score, n_bins=15, strategy="quantile")

    compared("all default point metrics / scikit-learn's five", ours, seconds(peer, 1), "10× faster")
    extra = measured_in_child("memory", scale)
    row(
        "extra memory / input", f"{extra[0] / 2**20:.0f} MiB", f"{extra[1] / 2**20:.0f} MiB",
        f"{extra[0] / extra[1]:.2f}", "", "≤ 3",
    )  # fmt: skip


def with_values(scale: float) -> None:
    """The same of rows with weights, soft labels and propensities."""
    from sklearn import metrics as skm

    import halftruth as ht

    n, rng = int(1e7 * scale), np.random.default_rng(0)
    draw = ht.simulate.GaussianClasses(prior=MODEL_PRIOR).draw(n, 0)
    y, score, weight = draw.y.astype(bool), draw.score, rng.exponential(size=n) + 0.1
    known = y & (rng.random(n) < 0.3)
    p, u, share = score[known], score[~known], {"prior": MODEL_PRIOR}
    weights = {"positive_weight": weight[known], "unlabeled_weight": weight[~known]}
    kinds: dict[str, Callable[[], Any]] = {
        "labels": lambda: ht.Labeled(y, score),
        "labels with weights": lambda: ht.Labeled(y, score, sample_weight=weight),
        "soft labels": lambda: ht.SoftLabeled(score**1.2, score),
        "positives and unlabeled with weights": lambda: ht.PositiveUnlabeled(p, u, **share, **weights),
        "propensities": lambda: ht.PositiveUnlabeled(p, u, **share, propensity=0.2 + 0.7 * p),
    }
    functions = ht.roc_auc, ht.average_precision, ht.brier, ht.log_loss, ht.calibration_error

    def five(kind: str) -> list[float]:
        evidence = kinds[kind]()
        return [function(evidence) for function in functions]

    section(f"{n:,} rows with values: five point metrics / np.sort of the scores", *HEAD)
    sort, taken = seconds(lambda: np.sort(score)), {}
    for kind in kinds:
        five(kind)  # compiled once
        taken[kind] = seconds(lambda kind=kind: five(kind))
        compared(kind, taken[kind], sort, "≤ 0.8" if kind == "labels" else "≤ 1.6")

    def peer() -> None:
        given = {"sample_weight": weight}
        for function in (skm.roc_auc_score, skm.average_precision_score, skm.brier_score_loss, skm.log_loss):
            function(y, score, **given)

    text = "labels with weights / scikit-learn's four with sample_weight"
    compared(text, taken["labels with weights"], seconds(peer, 1), "10× faster")


def measured_in_child(what: str, scale: float) -> tuple[float, float]:
    """Two numbers that a fresh process prints: peak memory is a property of a process."""
    command = [sys.executable, __file__, "--child", what, "--scale", str(scale)]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return float(out[0]), float(out[1])


def child_memory(scale: float) -> None:
    """Memory above the input at the peak of the point metrics, kernels loaded before."""
    p, u = positive_unlabeled(int(1e6 * scale), int(1e7 * scale))
    small = positive_unlabeled(600_000, 600_000)
    default_metrics(*small)
    del small
    peak = reset_peak()
    before = resident()
    default_metrics(p, u)
    used = peak_resident() - before if peak else float("nan")
    print(used, p.nbytes + u.nbytes)


def status(field: str) -> int:
    """A number of /proc/self/status, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise KeyError(field)


def resident() -> int:
    """Memory in use now."""
    return status("VmRSS")


def peak_resident() -> int:
    """The most memory in use since the peak was reset."""
    return status("VmHWM")


def reset_peak() -> bool:
    """Forget the peak so far, where the system allows it."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def resampling(scale: float) -> None:
    """Intervals: against one sort, and against a loop over scikit-learn."""
    from sklearn import metrics as skm

    import halftruth as ht

    n = int(1e6 * scale)
    p, u = positive_unlabeled(n // 11, n - n // 11)
    score = np.append(p, u)
    sort = seconds(lambda: np.sort(score))
    section(f"Intervals, {N_RESAMPLES:,} resamples", *HEAD)
    ours = seconds(lambda: ht.evaluate(ht.PositiveUnlabeled(p, u, prior=MODEL_PRIOR)), 2)
    compared(f"the whole default table, {n:,} scores / np.sort of them", ours, sort, "≤ 15")
    selected = seconds(lambda: ht.evaluate(ht.PositiveUnlabeled(p, u, prior=MODEL_PRIOR, selection=1.5)), 2)
    compared(f"the same over selection (Γ = 1.5), {n:,} scores / without", selected, ours, "≤ 2.5")
    few = p[:2000], u[:20_000]
    alone, selected = (
        seconds(lambda g=g: ht.evaluate(ht.PositiveUnlabeled(*few, prior=MODEL_PRIOR, selection=g)), 5)
        for g in (1.0, 1.5)
    )
    compared("the same over selection, 22,000 scores / without", selected, alone, "≤ 2.5")
    rng = np.random.default_rng(0)
    for n in (1_000, 10_000, 100_000):
        draw = ht.simulate.GaussianClasses(prior=MODEL_PRIOR).draw(n, 0)
        y, score = draw.y, draw.score

        def loop(n: int = n, y: Any = y, score: Any = score) -> None:
            for _ in range(N_TIMED):
                rows = rng.integers(0, n, n)
                skm.roc_auc_score(y[rows], score[rows])
                skm.average_precision_score(y[rows], score[rows])

        names = ["roc_auc", "average_precision"]
        ours = seconds(lambda y=y, score=score, names=names: ht.evaluate(ht.Labeled(y, score), names), 2)
        theirs = seconds(loop, 1) * N_RESAMPLES / N_TIMED
        compared(f"AUC and AP, {n:,} labeled rows / scikit-learn in a loop (scaled from 10)", ours, theirs)


BARE = """
import duckdb, sys
query = "select label, floor(score * 65536)::int, count(*), sum(score) from read_parquet(?) group by 1, 2"
print(len(duckdb.execute(query, [sys.argv[1]]).fetchall()))
"""


def process(*arguments: str, repeats: int = 3) -> float:
    """A whole process, start to end."""
    command = [sys.executable, *arguments]
    return seconds(lambda: subprocess.run(command, check=True, capture_output=True), repeats)


def make_parquet(path: Path, n: int) -> None:
    """Scores piled up towards 0; a tenth labeled positive, the others unlabeled."""
    import duckdb

    query = f"""
        copy (select (random() * random())::double as score, case when random() < 0.1 then 1 end::int as label
              from range({n})) to '{path}' (format parquet)"""
    duckdb.execute("select setseed(0.5)")
    duckdb.execute(query)


def files(scale: float, folder: Path) -> None:
    """Files through the command line, as whole processes, and through the library."""
    path = folder / "scores.parquet"
    make_parquet(path, int(1e6 * scale))
    bare = process("-c", BARE, str(path))
    section(f"{int(1e6 * scale):,} rows of Parquet, whole process, against python + DuckDB's group-by", *HEAD)
    command = ("-m", "halftruth", "evaluate", str(path), "--prior", "0.4", "--format", "json")
    compared("halftruth evaluate --n-resamples 0", process(*command, "--n-resamples", "0"), bare, "≤ 3")
    compared("halftruth evaluate", process(*command), bare, "≤ 8")

    n = int(5e7 * scale)
    make_parquet(path, n)
    section(f"{n:,} rows of Parquet", *HEAD)
    bare = process("-c", BARE, str(path), repeats=2)
    read = process("-c", f"import halftruth as ht; ht.ScoreTable.from_file({str(path)!r})", repeats=2)
    compared("reading / DuckDB's own 65,536-bin group-by with sums", read, bare, "≤ 2")
    compared("evaluate, the whole call / the same", process(*command, repeats=2), bare, "≤ 4")
    for what, name in (("evaluate", "the whole call"), ("plan-review", "plan-review, of 300 rows")):
        used = subprocess.run(
            [sys.executable, __file__, "--child", what, "--path", str(path)],
            check=True, capture_output=True, text=True,
        ).stdout.split()  # fmt: skip
        row(f"peak memory of {name}", f"{float(used[-1]) / 2**20:.0f} MiB", "", "", "", "< 1 GB")


def child_file(command: str, path: str) -> None:
    """Peak memory of a command that reads a file."""
    from halftruth.cli import main

    options = {
        "evaluate": ["--prior", "0.4", "--format", "csv"],
        "plan-review": ["--n", "300", "--output", str(Path(path).with_suffix(".csv"))],
    }
    try:
        main([command, path, *options[command]])
    except SystemExit as end:
        if end.code:
            raise
    print(peak_resident())


def starting() -> None:
    """What it costs to begin."""
    section("Starting", *HEAD)
    nothing = process("-c", "pass", repeats=9)
    ours, theirs = (process("-c", f"import {name}", repeats=9) - nothing for name in ("halftruth", "numpy"))
    compared("import halftruth / import numpy (python's own start taken off)", ours, theirs, "≤ 1.5")
    ours = process("-m", "halftruth", "--help", repeats=9)
    theirs = process("-c", "import typer, rich", repeats=9)
    compared("halftruth --help / python -c 'import typer, rich'", ours, theirs, "≤ 3")


def growth(scale: float) -> None:
    """Cost against rows."""
    import halftruth as ht

    section(
        "Growth: positives + 10 × unlabeled, arrays in memory", "rows", "point metrics", "ns a row",
        "evaluate, 2,000 resamples", "ns a row",
    )  # fmt: skip
    for n in (10**5, 10**6, 10**7, 10**8):
        if n > 10**8 * scale:
            break
        p, u = positive_unlabeled(n // 11, n - n // 11)
        repeats = 3 if n < 10**8 else 1
        a = seconds(lambda p=p, u=u: default_metrics(p, u), repeats)
        b = seconds(lambda p=p, u=u: ht.evaluate(ht.PositiveUnlabeled(p, u, prior=MODEL_PRIOR)), 1)
        row(f"{n:,}", duration(a), f"{1e9 * a / n:.0f}", duration(b), f"{1e9 * b / n:.0f}")


PRIORS = {
    "bbe": "≤ 2",
    "alphamax": "≤ 50",
    "dedpul": "≤ 200",
    "tice": "≤ 200",
    "bbe-corrected": "",
    "roc-curve": "",
    "elkan-noto": "",
    "divergence": "",
    "em": "",
    "auto": "",
}
"""Estimators of the prior that are timed, with what each must not exceed as a multiple of np.sort."""


def prior_of(name: str, p: Any, u: Any) -> float:
    """The value alone, from arrays: no resamples."""
    from halftruth.prior import _inputs as given
    from halftruth.prior import _methods as methods

    samples = given.read_inputs(p, u, None, 1.0, (None, None, None)).samples
    return methods.get_method(name).fit(samples, np.random.default_rng(0)).value


def priors(scale: float) -> None:
    """Estimators of the class prior, values from arrays, against a sort of the same scores."""
    import halftruth as ht

    n = int(200_000 * scale)
    p, u = positive_unlabeled(n // 10, n)
    ht.prior_upper_bound(p, u)  # what is imported when first used
    both = np.concatenate([p, u])
    sort = seconds(lambda: np.sort(both), 9)
    section(f"Class prior: {len(p):,} positives and {len(u):,} unlabeled scores / np.sort", *HEAD)
    compared("prior_upper_bound", seconds(lambda: ht.prior_upper_bound(p, u), 9), sort, "≤ 2")
    for name, limit in PRIORS.items():
        prior_of(name, p, u)
        compared(name, seconds(lambda name=name: prior_of(name, p, u), 5), sort, limit)
    sizes = [n for n in (10**5, 10**6, 10**7) if n <= 10**8 * scale]
    columns = "rows", "np.sort", "prior_upper_bound", *PRIORS
    section("Class prior: growth, ns a row", *columns)
    for n in sizes:
        p, u = positive_unlabeled(n // 11, n - n // 11)
        both = np.concatenate([p, u])
        calls = [lambda both=both: np.sort(both), lambda p=p, u=u: ht.prior_upper_bound(p, u)]
        calls += [lambda name=name, p=p, u=u: prior_of(name, p, u) for name in PRIORS]
        row(f"{n:,}", *(f"{1e9 * seconds(call, 3) / n:.0f}" for call in calls))


def curve_bounds(p: Any, u: Any) -> None:
    """ROC and PR bounds from arrays, 2,000 resamples; nothing is kept from an earlier call."""
    import halftruth as ht
    from halftruth.rank_bounds import _rank_bands

    _rank_bands.strictness.cache_clear()
    evidence = ht.PositiveUnlabeled(p, u, prior=0.3)
    for curve in ("roc", "pr"):
        ht.bounds(evidence, curve, prior_of="rows", n_resamples=2000)


def ranking_bounds(scale: float) -> None:
    """Bounds on both curves against a sort of the same scores."""
    n = int(200_000 * scale)
    p, u = positive_unlabeled(n // 10, n)
    curve_bounds(p, u)  # what is imported when first used
    both = np.concatenate([p, u])
    sort = seconds(lambda: np.sort(both), 9)
    section(f"Bounds: {len(p):,} positives and {len(u):,} unlabeled scores / np.sort", *HEAD)
    compared("ROC and PR bounds, 2,000 resamples", seconds(lambda: curve_bounds(p, u), 5), sort, "≤ 45")
    section("Bounds: growth", "rows", "np.sort", "ROC and PR bounds", "ns a row", "ns a row / log2 rows")
    for n in [n for n in (10**5, 10**6, 10**7) if n <= 10**8 * scale]:
        p, u = positive_unlabeled(n // 11, n - n // 11)
        both = np.concatenate([p, u])
        sort = seconds(lambda both=both: np.sort(both), 3)
        taken = seconds(lambda p=p, u=u: curve_bounds(p, u), 2)
        each = 1e9 * taken / n
        row(f"{n:,}", duration(sort), duration(taken), f"{each:.0f}", f"{each / np.log2(n):.1f}")


def main() -> None:
    """Run everything, or the part that a child was started for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--child")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--path", default="")
    given = parser.parse_args()
    if given.child == "memory":
        return child_memory(given.scale)
    if given.child:
        return child_file(given.child, given.path)
    import halftruth as ht

    scale = 0.06 if given.small else 1.0
    say("# Speed\n")
    say("Written by `make bench`. Times are the least of a few runs on one machine; only the ratios of one")
    say("run mean anything elsewhere.\n")
    say(f"halftruth {ht.__version__}, NumPy {np.__version__}, Python {platform.python_version()}, ")
    say(f"{os.cpu_count()} cores ({platform.machine()}).")
    in_memory(scale)
    with_values(scale)
    resampling(scale)
    with tempfile.TemporaryDirectory() as folder:
        files(scale, Path(folder))
    starting()
    growth(scale)
    priors(scale)
    ranking_bounds(scale)
    reviews.run(scale)
    calibration.errors_and_fits(scale)
    calibration.resampled(scale)
    limits.run(scale)
    learning.run(scale)
    engines.run(scale)
    if not given.small:
        Path(__file__).with_name("RESULTS.md").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    return None


if __name__ == "__main__":
    main()
