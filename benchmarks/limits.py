"""The Bayes error against plain NumPy, and votes against the EM algorithm for the same law."""

from __future__ import annotations

import numpy as np
from common import HEAD, compared, seconds, section


def plain(q: np.ndarray) -> tuple[float, float]:
    """The mean of min(q, 1 − q) and its standard error, as one would write it."""
    lost = np.minimum(q, 1 - q)
    return float(lost.mean()), float(lost.std() / np.sqrt(len(q)))


def by_em(kernel: np.ndarray, count: np.ndarray, steps: int) -> np.ndarray:
    """The likeliest law on a grid by so many steps of EM."""
    law = np.full(kernel.shape[1], 1 / kernel.shape[1])
    for _ in range(steps):
        law = law * (kernel.T @ (count / (kernel @ law))) / count.sum()
    return law


def soft_labels(n: int) -> None:
    """Soft labels and signs."""
    import halftruth as ht

    q = np.random.default_rng(0).beta(0.5, 0.5, n)
    evidence, sign = ht.SoftLabeled(q), q >= 0.5
    baseline = seconds(lambda: plain(q))
    compared(f"soft labels, {n:,}, evidence at hand", seconds(lambda: ht.bayes_error(evidence)), baseline)
    compared(
        f"soft labels, {n:,}, from an array", seconds(lambda: ht.bayes_error(ht.SoftLabeled(q))), baseline
    )
    compared(f"with signs, {n:,}", seconds(lambda: ht.bayes_error(evidence, sign=sign)), baseline)


def votes(n: int, m: int) -> None:
    """Votes: the whole estimate, with identified set and interval, against one law by EM."""
    import halftruth as ht
    from halftruth.limits._vote_law import counted

    evidence = ht.simulate.VoteMixture(1.0, 0.5, 2.0).evidence(n, m, rng=0)
    counts = counted(evidence.labels)
    compared(
        f"votes, {n:,} × {m} / 10,000 steps of EM",
        seconds(lambda: ht.bayes_error(evidence)),
        seconds(lambda: by_em(counts.kernel, counts.count, 10_000)),
    )


def run(scale: float) -> None:
    """All of them."""
    section("Bayes error / plain NumPy", *HEAD)
    for n in (1_000_000, 10_000_000):
        soft_labels(int(n * scale))
    for m in (3, 10, 50):
        votes(10_000, m)
