"""Times on one CUDA device, absolute: `python benchmarks/gpu.py`. Scores are made on the device.

Each time is the median of some calls, from checked tensors in to numbers on the host, all metrics together.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from common import row, say, section

import halftruth as ht

METRICS = ("roc_auc", "average_precision", "brier", "log_loss", "calibration_error")


def milliseconds(call: Callable[[], Any], repeats: int = 9, warm: int = 3) -> float:
    """The median time of a call, the device's work included."""
    times = []
    for k in range(warm + repeats):
        torch.cuda.synchronize()
        start = time.perf_counter()
        call()
        torch.cuda.synchronize()
        if k >= warm:
            times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def rows(n: int, shape: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Scores of a distribution, and labels that they predict."""
    torch.manual_seed(0)
    score = torch.rand(n, device="cuda")
    if shape == "sigmoid":
        score = torch.sigmoid(3 * torch.randn(n, device="cuda") - 2)
    if shape == "two digits":
        score = torch.round(100 * score) / 100
    return score, torch.rand(n, device="cuda") < score


def exact(score: torch.Tensor, label: torch.Tensor) -> dict[str, float]:
    """The default point metrics of the rows."""
    evidence = ht.Labeled(label, score)
    return {"prevalence": float(evidence.measure().prior), **{k: getattr(ht, k)(evidence) for k in METRICS}}


def histogram(score: torch.Tensor, label: torch.Tensor) -> dict[str, float]:
    """The same from a histogram."""
    evidence = ht.Labeled.from_table(ht.Labeled(label, score).table.compress())
    return {"prevalence": float(evidence.measure().prior), **{k: getattr(ht, k)(evidence) for k in METRICS}}


def agreement(n: int) -> None:
    """The largest differences to NumPy."""
    score, label = rows(n, "sigmoid")
    host = score.double().cpu().numpy(), label.cpu().numpy()
    for name, ours in (("exact", exact), ("histogram", histogram)):
        mine, theirs = ours(score, label), ours(torch.from_numpy(host[0]), torch.from_numpy(host[1]))
        worst = max(abs(mine[k] - theirs[k]) for k in mine)
        row(f"{name}, {n:,} rows: largest difference to NumPy", f"{worst:.1e}", "≤ 1e-12")
    both = [ht.Labeled(*pair).table.compress().to_host().strata for pair in ((label, score), host[::-1])]
    same = all(
        (getattr(both[0][k], column) == getattr(both[1][k], column)).all()
        for k in both[1]
        for column in ("index", "rows", "position", "low", "high")
    )
    row(f"histogram, {n:,} rows: integers equal NumPy's", str(same), "True")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="also a billion rows")
    large = parser.parse_args().large
    say(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}")
    section("The same numbers", "", "found", "wanted")
    agreement(10_000_000)
    section("All default point metrics", "float32 scores, bool labels", "exact", "histogram", "wanted")
    for n, wanted in ((10**6, ""), (10**7, ""), (10**8, "20 ms, 3 ms"), (10**9, "150 ms, 25 ms")):
        for shape in ("uniform", "sigmoid", "two digits"):
            if n < 10**9 or large:
                data = rows(n, shape)
                times = [milliseconds(lambda f=f, d=data: f(*d)) for f in (exact, histogram)]
                row(f"{n:,} {shape}", *(f"{each:.2f} ms" for each in times), wanted)
                del data
                torch.cuda.empty_cache()
    peers(*rows(10**8, "uniform"))


def peers(score: torch.Tensor, label: torch.Tensor) -> None:
    """What one metric, or one operation, takes elsewhere."""
    from torchmetrics.functional.classification import binary_auroc, binary_calibration_error

    section("Others, 100,000,000 uniform scores", "", "time")
    target = label.long()
    row("torchmetrics AUROC alone", f"{milliseconds(lambda: binary_auroc(score, target), 5):.1f} ms")
    row(
        "torchmetrics 15-bin calibration error alone",
        f"{milliseconds(lambda: binary_calibration_error(score, target, 15), 5):.1f} ms",
    )
    row("torch.sort", f"{milliseconds(lambda: torch.sort(score), 5):.1f} ms")
    row("torch.histc, 65,536 bins", f"{milliseconds(lambda: torch.histc(score, 65_536, 0, 1), 5):.2f} ms")
    row("reading the scores once (sum)", f"{milliseconds(lambda: score.sum(), 5):.2f} ms")


if __name__ == "__main__":
    main()
