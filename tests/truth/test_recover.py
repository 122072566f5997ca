"""Recovered performance against the truth: on simulated sets by their intervals, on real ones by hidden labels."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy.stats import binom

import halftruth as ht
from halftruth import recover
from halftruth.prior._from_features import HeldOut
from halftruth.recover._recovered_curves import indirect_areas

N_SETS = 150
SMALL = {"housing": 100, "pima": 100, "concrete": 100}
"""Rows that are labeled, as by Jain et al."""
PURITIES = (1.0, 0.95, 0.75)
REPETITIONS = 10


def slack(n: int, full: int, spread: float) -> float:
    """What fewer draws than all add to the error of a mean, at 3 standard errors."""
    return 3 * spread * max(n**-0.5 - full**-0.5, 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("purity", [1.0, 0.85])
def test_intervals_hold_the_truth_and_the_concave_fit_is_nearer_to_it(purity, draws, capsys):
    model = ht.simulate.GaussianClasses(prior=0.3)
    truth = {"roc": model.truth("roc_auc"), "pr_": model.truth("average_precision")}
    n = draws(N_SETS)
    error: dict[str, list[float]] = {}
    hits: dict[str, int] = {}
    for seed in range(n):
        rng = np.random.default_rng([11, seed, int(100 * purity)])
        data = model.positive_unlabeled(200, 2000, rng, purity=purity)
        for name, row in recover.performance(data, n_resamples=200, rng=rng).items():
            error.setdefault(name, []).append(abs(row.value - truth[name[:3]]))
            hits[name] = hits.get(name, 0) + (row.low <= truth[name[:3]] <= row.high)
    lines = [f"{name:18} {100 * hits[name] / n:5.1f}% {np.mean(error[name]):.4f}" for name in error]
    with capsys.disabled():
        sys.stdout.write(
            f"\nρ = {purity}, {n} sets: coverage of 95% intervals, mean error\n" + "\n".join(lines) + "\n"
        )
    # Limits that a coverage of at least 93% passes in all but one of 1,000 runs.
    for name in hits:
        assert hits[name] >= binom.ppf(0.001, n, 0.93), name
    assert hits["roc_auc"] <= binom.ppf(0.999, n, 0.97)
    for one, other in (
        ("roc_auc_concave", "roc_auc"),
        ("roc_auc_concave", "roc_auc_indirect"),
        ("pr_auc_concave", "pr_auc_indirect"),
    ):
        gain = np.subtract(error[one], error[other])
        assert gain.mean() < slack(n, N_SETS, gain.std()), (one, other)


def _case(x, y, n_labeled, purity, rng):
    """Scores of labeled and of unlabeled rows, the classes of these, and the true shares."""
    n_true = round(purity * n_labeled)
    counts = {True: n_true, False: n_labeled - n_true}
    labeled = np.concatenate(
        [rng.choice(np.flatnonzero(y == kind), count, replace=False) for kind, count in counts.items()]
    )
    rest = np.setdiff1d(np.arange(len(y)), labeled)
    rows = np.concatenate([labeled, rest])
    score = HeldOut(x[rows], np.arange(len(rows)) < n_labeled, None).of(rng)
    return score[:n_labeled], score[n_labeled:], y[rest], n_true / n_labeled


@pytest.mark.slow
def test_on_real_data_the_concave_fit_is_nearer_to_the_hidden_labels(data_dir, draws, capsys):
    n = draws(REPETITIONS)
    error: dict[str, list[tuple[float, float]]] = {"direct": [], "indirect": [], "concave": []}
    for name, n_labeled in SMALL.items():
        with np.load(data_dir / f"{name}.npz") as stored:
            x, y = stored["X"].astype(float), stored["y"] == 1
        for purity in PURITIES:
            for repetition in range(n):
                rng = np.random.default_rng([13, list(SMALL).index(name), int(100 * purity), repetition])
                positive, unlabeled, hidden, share = _case(x, y, n_labeled, purity, rng)
                data = ht.PositiveUnlabeled(positive, unlabeled, prior=float(hidden.mean()), purity=share)
                labels = ht.Labeled(hidden, unlabeled)
                truth = np.array([ht.roc_auc(labels), ht.average_precision(labels)])
                projected = recover.project(data)
                found = {
                    "direct": (ht.roc_auc(data), ht.average_precision(data)),
                    "indirect": indirect_areas(data.measure()),
                    "concave": (ht.roc_auc(projected), ht.pr_auc(projected)),
                }
                for way, values in found.items():
                    error[way].append(tuple(np.abs(values - truth)))
    total = {way: np.asarray(rows) for way, rows in error.items()}
    with capsys.disabled():
        sys.stdout.write(f"\nMean error of AUC and average precision, {len(total['direct'])} real cases\n")
        for way, rows in total.items():
            sys.stdout.write(f"{way:9} {rows[:, 0].mean():.4f} {rows[:, 1].mean():.4f}\n")
    for other in ("direct", "indirect"):
        gain = total["concave"] - total[other]
        noise = gain.std(axis=0) / np.sqrt(len(gain))
        with capsys.disabled():
            sys.stdout.write(f"concave less {other}: {gain.mean(axis=0).round(4)} ± {noise.round(4)}\n")
        # The gain in average precision is plain; that in the AUC is of the size of its noise.
        assert gain[:, 1].mean() < slack(
            n, REPETITIONS, gain[:, 1].std() / np.sqrt(len(SMALL) * len(PURITIES))
        )
        assert gain[:, 0].mean() < 2 * noise[0]
