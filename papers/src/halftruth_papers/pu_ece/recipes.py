"""How the real models of the PU-ECE experiment learn, there and here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from halftruth_papers.pu_ece.settings import BANK, CIFAR, FASHION, MNIST

NNPU, UPU, SUPERVISED = "nnpu", "upu", "supervised"
WAYS = {NNPU: "nnPU", UPU: "uPU", SUPERVISED: "full labels"}
"""Of learning: the risk kept from going below zero, the unbiased one, and that of all labels."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A network and its training.

    Of MNIST and CIFAR-10 the paper tells the network, the loss, the rate and the number of positives. The
    steps (Adam's), batches and passes are ours: the text at hand, without its appendices, does not say.
    """

    hidden: tuple[int, ...] | None = (100, 100)
    """Units of each hidden layer; None: a residual network of 18 layers."""
    n_known: int = 10_000
    loss: Literal["sigmoid", "logistic"] = "sigmoid"
    learning_rate: float = 1e-3
    target_prior: float | None = None
    """The share of positives that the classes are brought to; None: as they come."""
    batch: int = 1_000
    passes: int = 100
    most: int | None = None
    """Networks side by side, at most."""


RECIPES = {
    MNIST: Recipe(),
    FASHION: Recipe(),
    BANK: Recipe(n_known=2_000, loss="logistic", target_prior=0.5, passes=20),
    CIFAR: Recipe(hidden=None, learning_rate=1e-5, batch=500, passes=50, most=1),
}


@dataclass(frozen=True)
class Reported:
    """What the paper says of its own model: components of positives and of negatives, and the prior."""

    data: str
    components: tuple[int, int]
    prior: float


REPORTED = {
    MNIST: Reported("MNIST", (4, 3), 0.49),
    BANK: Reported("drug interactions", (3, 3), 0.14),
    CIFAR: Reported("CIFAR-10", (2, 2), 0.40),
}
"""In the place of the texts on drug interactions we have the clients of a bank. Fashion-MNIST is ours."""
