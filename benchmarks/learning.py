"""Learning from positives and unlabeled rows against plain supervised training of the same network."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from common import HEAD, compared, in_turn, section

SIZES = (784, 100, 100, 1)
N_UNLABELED, N_POSITIVE, BATCH = 60_000, 10_000, 512
PASSES = 5
"""Of each, one after the other in turn, so that a busy moment hits both."""


def images(n: int) -> tuple[Any, Any]:
    """Rows of the size of MNIST's, with a class; what is in them does not change the time."""
    import torch

    rng = np.random.default_rng(0)
    y = rng.random(n) < 0.5
    x = rng.normal(0.1 * y[:, None], 1.0, (n, SIZES[0])).astype(np.float32)
    return torch.from_numpy(x), torch.from_numpy(y)


def supervised(x: Any, y: Any) -> Callable[[], None]:
    """A pass of binary cross-entropy over all labeled rows, as one would write it."""
    import torch
    from torch import nn

    torch.manual_seed(0)
    layers = (nn.Linear(784, 100), nn.ReLU(), nn.Linear(100, 100), nn.ReLU(), nn.Linear(100, 1))
    network = nn.Sequential(*layers)
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3, fused=True)
    loss, target = nn.BCEWithLogitsLoss(), y.float()

    def one_pass() -> None:
        for rows in torch.randperm(len(x)).split(BATCH):
            value = loss(network(x[rows])[:, 0], target[rows])
            optimizer.zero_grad(set_to_none=True)
            value.backward()
            optimizer.step()

    return one_pass


def positive_unlabeled(x: Any, y: Any, n_positive: int) -> Callable[[], None]:
    """A pass of nnPU over all rows as unlabeled, and positives besides."""
    import torch

    from halftruth.learn._network_training import Batches, Networks, train
    from halftruth.learn._torch_losses import PULoss

    known = torch.nonzero(y)[:n_positive, 0][None]
    batches = Batches([known, torch.arange(len(x))[None]], BATCH, seed=0)
    network, loss = Networks(SIZES, seed=0), PULoss(0.5)
    return lambda: train(network, loss, x, batches, epochs=1) and None


def run(scale: float) -> None:
    """One pass of each."""
    n, n_positive = int(N_UNLABELED * scale), int(N_POSITIVE * scale)
    x, y = images(n)
    ours, theirs = in_turn(positive_unlabeled(x, y, n_positive), supervised(x, y), passes=PASSES)
    section(
        f"Learning: 784-100-100-1 in batches of {BATCH} on the CPU, median of {PASSES} passes in turn", *HEAD
    )
    compared(
        f"nnPU, {n:,} unlabeled and {n_positive:,} positives / cross-entropy, {n:,} labeled rows",
        ours,
        theirs,
        "≤ 1.5",
    )
