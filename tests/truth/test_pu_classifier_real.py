"""With a thousand known positives a linear model is nearly as accurate as with all labels."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from halftruth_papers.datasets import datasets_in

N_POSITIVE = 1000
SPLITS = 5
SPREAD = {"bank": 0.001, "pendigits": 0.006}
"""Standard deviation of the difference in accuracy from split to split."""


def difference(x: np.ndarray, y: np.ndarray, seed: int) -> tuple[float, float]:
    """Accuracy on 30% of the rows: that of all labels, and what is lost without them."""
    from halftruth.learn._pu_classifier import PUClassifier

    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    train, test = np.split(order, [int(0.7 * len(y))])
    known = rng.choice(train[y[train]], N_POSITIVE, replace=False)
    labels = np.isin(train, known).astype(int)
    model = PUClassifier(prior=y[train].mean(), device="cpu", random_state=seed).fit(x[train], labels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence
        full = make_pipeline(StandardScaler(), LogisticRegression(max_iter=300)).fit(x[train], y[train])
    ours, theirs = ((each.predict(x[test]) == y[test]).mean() for each in (model, full))
    return float(theirs), float(ours - theirs)


@pytest.mark.slow
@pytest.mark.parametrize("name", SPREAD)
def test_a_linear_model_is_matched_within_a_point(
    name: str,
    data_dir: Path,
    draws: Callable[[int], int],
    require: Callable[[str], ModuleType],
    capsys: pytest.CaptureFixture[str],
) -> None:
    require("torch")
    (data,) = (one for one in datasets_in(data_dir) if one.dataset.name == name)
    n = draws(SPLITS)
    full, lost = np.mean([difference(data.x, data.y, seed) for seed in range(n)], axis=0)
    with capsys.disabled():
        sys.stdout.write(f"\n{name}: all labels {full:.4f}, {N_POSITIVE} positives {lost:+.4f}, {n} splits\n")
    # The set is no trivial one: labels teach something.
    assert full > max(data.y.mean(), 1 - data.y.mean()) + 0.01
    # The bound is that of the mean of all splits; fewer are noisier.
    assert lost > -0.01 - 3 * SPREAD[name] * (n**-0.5 - SPLITS**-0.5)
