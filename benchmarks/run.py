"""Speed against scikit-learn, as ratios in one run, and how the cost grows with the rows.

make bench
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import metrics as skm

import halftruth as ht

N_RESAMPLES = 2000
N_TIMED = 10


def seconds(call: Callable[[], Any], repeats: int = 5) -> float:
    """The least time of a few runs: what the machine can do when it is not disturbed."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def line(*cells: str) -> None:
    """Print one row."""
    print(f"{cells[0]:<52} {cells[1]:>13} {cells[2]:>13} {cells[3]:>8}")


def point_metrics(n: int) -> None:
    """One metric from raw labels and scores, construction of the evidence included."""
    draw = ht.simulate.GaussianClasses(prior=0.3).draw(n, 0)
    y, score = draw.y, draw.score
    pairs: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
        "roc_auc": (ht.roc_auc, skm.roc_auc_score),
        "average_precision": (ht.average_precision, skm.average_precision_score),
        "brier": (ht.brier, skm.brier_score_loss),
        "log_loss": (ht.log_loss, skm.log_loss),
    }
    for name, (ours, theirs) in pairs.items():
        a = seconds(lambda ours=ours: ours(ht.Labeled(y, score)))
        b = seconds(lambda theirs=theirs: theirs(y, score))
        line(f"{name}, {n:,} labeled rows", f"{1e3 * a:.1f} ms", f"{1e3 * b:.1f} ms", f"{b / a:.2f}")
    a = seconds(lambda: [f(e) for e in [ht.Labeled(y, score)] for f, _ in pairs.values()])
    b = seconds(lambda: [f(y, score) for _, f in pairs.values()])
    line(f"the four together, {n:,} labeled rows", f"{1e3 * a:.1f} ms", f"{1e3 * b:.1f} ms", f"{b / a:.2f}")


def intervals(n: int) -> None:
    """2,000 bootstrap resamples of AUC and average precision; the peer's time is scaled from 10."""
    draw = ht.simulate.GaussianClasses(prior=0.3).draw(n, 0)
    y, score = draw.y, draw.score
    rng = np.random.default_rng(0)

    def loop() -> None:
        for _ in range(N_TIMED):
            rows = rng.integers(0, n, n)
            skm.roc_auc_score(y[rows], score[rows])
            skm.average_precision_score(y[rows], score[rows])

    rows = ["roc_auc", "average_precision"]
    a = seconds(lambda: ht.evaluate(ht.Labeled(y, score), rows, n_resamples=N_RESAMPLES), 3)
    b = seconds(loop, 2) * N_RESAMPLES / N_TIMED
    line(f"AUC and AP with 95% intervals, {n:,} rows", f"{a:.2f} s", f"{b:.1f} s", f"{b / a:.0f}")


def growth() -> None:
    """PU evaluation with all default rows and 2,000 resamples: cost against rows."""
    model = ht.simulate.GaussianClasses(prior=0.3)
    print("\nevaluate, positives + 10x unlabeled, default rows, 2,000 resamples")
    for n_positive in (100, 1_000, 10_000, 100_000):
        strata = model.draw_strata(n_positive, 10 * n_positive, 0)
        p, u = strata.positive.score, strata.unlabeled.score
        a = seconds(lambda p=p, u=u: ht.evaluate(ht.PositiveUnlabeled(p, u, prior=0.3)), 2)
        n = 11 * n_positive
        print(f"  {n:>9,} rows {a:7.2f} s {1e9 * a / (n * N_RESAMPLES):9.3f} ns a row and resample")


def main() -> None:
    """Print all comparisons."""
    line("", "halftruth", "scikit-learn", "ratio")
    for n in (10_000, 1_000_000):
        point_metrics(n)
    for n in (1_000, 10_000, 100_000):
        intervals(n)
    growth()


if __name__ == "__main__":
    main()
