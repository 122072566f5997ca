"""Out-of-bag scores of BaggedPU on real data: known positives score as hidden ones do, and intervals hold.

Of a set of at most 5,000 rows a third of the positives, at most 1,000, are known; all other labels are hidden.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

import halftruth as ht
from halftruth.learn._bagged_pu import BaggedPU

SETS = ("bank", "concrete", "housing", "mushroom", "pendigits", "pima", "shuttle", "wine")
SMALL = ("concrete", "housing", "pima")
MOST_ROWS, MOST_KNOWN = 5000, 1000
N_MODELS = 99
Table = tuple[np.ndarray, np.ndarray, np.ndarray]


def table(data_dir: Path, name: str, seed: int) -> Table:
    """Features, the labels that are seen (1 known positive, 0 unlabeled), and the true classes."""
    with np.load(data_dir / f"{name}.npz", allow_pickle=False) as file:
        x, truth = file["X"].astype(float), file["y"] == 1
    rng = np.random.default_rng([90, seed])
    chosen = rng.permutation(len(truth))[:MOST_ROWS]
    x, truth = x[chosen], truth[chosen]
    positive = rng.permutation(np.flatnonzero(truth))
    seen = np.zeros(len(truth), dtype=int)
    seen[positive[: min(MOST_KNOWN, len(positive) // 3)]] = 1
    return x, seen, truth


def auc(truth: np.ndarray, score: np.ndarray) -> float:
    return float(ht.roc_auc(ht.Labeled(truth, score)))


# Intervals that hold in 95% of the draws hold on seven sets of eight in 94% of them. So the mean over draws is
# asked for; single draws may give 6 or 5, as the line printed shows.
@pytest.mark.slow
def test_intervals_from_positives_and_unlabeled_hold_the_auc_of_the_hidden_labels(
    data_dir: Path, draws: Callable[[int], int], capsys: pytest.CaptureFixture[str]
) -> None:
    n = draws(12)
    holds = np.zeros((len(SETS), n), dtype=bool)
    lines = []
    for k, name in enumerate(SETS):
        true, error, half = np.empty((3, n))
        for seed in range(n):
            x, seen, truth = table(data_dir, name, seed)
            model = BaggedPU(n_estimators=N_MODELS, random_state=seed).fit(x, seen)
            estimate = ht.evaluate(model.evidence(prior=float(truth.mean())), ["roc_auc"])["roc_auc"]
            assert estimate.low is not None
            assert estimate.high is not None
            true[seed] = auc(truth, model.oob_scores_)
            error[seed], half[seed] = estimate.value - true[seed], (estimate.high - estimate.low) / 2
            holds[k, seed] = estimate.low <= true[seed] <= estimate.high
        lines.append(
            f"{name:10} AUC {true.mean():.4f}, error {error.mean():+.4f} ± {error.std():.4f}, "
            f"half width {half.mean():.4f}, holds {holds[k].sum()}/{n}"
        )
    with capsys.disabled():
        sys.stdout.write("\n" + "\n".join(lines) + f"\nsets by draw: {holds.sum(axis=0).tolist()}\n")
    # Of few draws only what 95% intervals all but never do is refused.
    least = 7 * n if n >= 12 else float(binom.ppf(1e-3, len(SETS) * n, 0.95))
    assert holds.sum() >= least


@pytest.mark.slow
def test_known_positives_score_as_hidden_ones_do(
    data_dir: Path, draws: Callable[[int], int], capsys: pytest.CaptureFixture[str]
) -> None:
    """Their AUCs against the negatives differ by little.

    A score that no label of a row went into, here of a model of all true classes, says how much of the difference
    is the luck of who is known.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    def gap(score: np.ndarray, seen: np.ndarray, truth: np.ndarray) -> float:
        known, hidden = ((seen == 1) | ~truth, seen == 0)
        return auc(truth[known], score[known]) - auc(truth[hidden], score[hidden])

    n = draws(60)
    found, luck = np.empty((2, len(SMALL), n))
    for k, name in enumerate(SMALL):
        for seed in range(n):
            x, seen, truth = table(data_dir, name, seed)
            oracle = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)).fit(x, truth)
            model = BaggedPU(n_estimators=60, random_state=seed).fit(x, seen)
            found[k, seed] = gap(model.oob_scores_, seen, truth)
            luck[k, seed] = gap(oracle.decision_function(x), seen, truth)
    slope = (found * luck).sum(axis=1) / (luck**2).sum(axis=1)
    cleared = (found - slope[:, None] * luck).mean()
    error = 0.016 / np.sqrt(n * len(SMALL))  # the spread of one such difference
    with capsys.disabled():
        sys.stdout.write(f"\nAUC of known less that of hidden positives: {cleared:+.4f} ± {error:.4f}\n")
    # Bootstrap samples, by which a known positive is scored by fewer models than a hidden one, have −.0071.
    assert -0.002 - 3 * error < cleared < 3 * error
