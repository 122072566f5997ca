"""A real model of the PU-ECE experiment: a network on MNIST, digits 5 to 9 against the others.

`train` is the one place where a network is made: another way to train it takes its place.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth.checks import Vector
from halftruth.reproduce.known_files import data_folder, read_known

FILE = "mnist.npz"
SHA256 = "34daca95bbf4ab389b6e727433411c42089622deeb256af77cb3893a9e36b869"
N_TRAIN = 60_000
"""The rows before it are for training, those after it for testing, as published."""
N_KNOWN = 10_000
FIRST_POSITIVE = 5
HIDDEN = (100, 100)
STEP = 1e-3
EPOCHS = 3
HALF_BATCH = 250
"""Known positives, and as many unlabeled rows, in one step of the training."""
PAPER_COMPONENTS = (4, 3)
"""Of the paper's mixtures, of positives and of negatives."""
PAPER_PRIOR = 0.49

Images = NDArray[np.uint8]
Logits = Callable[[Images], Vector]


@dataclass(frozen=True, eq=False)
class Digits:
    """Images as published, one row each, and whether their digit is one of the positive class."""

    x: Images
    y: NDArray[np.bool_]


def found(folder: str | os.PathLike[str] | None = None) -> Path | None:
    """The file of the images; None where it is not there, or no folder is named.

    Examples
    --------
    >>> found("data").name  # doctest: +SKIP
    'mnist.npz'
    """
    place = data_folder(folder)
    if place is None:
        return None
    path = place / FILE
    return path if path.is_file() else None


def read(path: Path) -> Digits:
    """The images, whose file must be the one that is known."""
    x, label = read_known(path, SHA256, ("X", "label"))
    return Digits(x, label >= FIRST_POSITIVE)


def held_out_logits(path: Path, seed: list[int]) -> dict[str, Any]:
    """Logits of the test images by a network that learned from positives and unlabeled training images."""
    digits = read(path)
    rng = np.random.default_rng(seed)
    known = rng.permutation(np.flatnonzero(digits.y[:N_TRAIN]))[:N_KNOWN]
    rows = np.append(known, np.arange(N_TRAIN))
    logits = train(digits.x[rows], np.arange(len(rows)) < len(known), rng)
    held_out = slice(N_TRAIN, None)
    return {"logits": logits(digits.x[held_out]).tolist(), "y": digits.y[held_out].astype(int).tolist()}


def train(x: Images, known: NDArray[np.bool_], rng: np.random.Generator) -> Logits:
    """Train a network of known positives against unlabeled rows; its logits as a function of images.

    Both weigh the same, so that the logit is that of f₁/(f₁ + f) where the classes have the density f₁ of
    the positives and f of the population: no probability of being positive, as such scores are.

    Parameters
    ----------
    x : array of shape (n, d)
        Pixels from 0 to 255.
    known : array of n bool
        True for known positives, False for unlabeled rows.
    rng : numpy Generator

    Returns
    -------
    callable
        Images to logits.
    """
    from sklearn.neural_network import MLPClassifier
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    seed = int(rng.integers(2**31))
    network = MLPClassifier(HIDDEN, learning_rate_init=STEP, batch_size=2 * HALF_BATCH, random_state=seed)
    target = np.repeat([1, 0], HALF_BATCH)
    positive, unlabeled = np.flatnonzero(known), np.flatnonzero(~known)
    # One thread: the rounding would hang on their number.
    with threadpool_limits(limits=1, user_api="blas"):
        for _ in range(EPOCHS):
            order = rng.permutation(unlabeled)
            for start in range(0, len(order) - HALF_BATCH + 1, HALF_BATCH):
                rows = np.append(rng.choice(positive, HALF_BATCH), order[start : start + HALF_BATCH])
                network.partial_fit(_scaled(x[rows]), target, classes=[0, 1])
    layers = list(zip(network.coefs_, network.intercepts_, strict=True))
    return partial(_logits, layers)


def _logits(layers: list[tuple[Any, Any]], x: Images) -> Vector:
    from threadpoolctl import threadpool_limits

    unit = _scaled(x)
    with threadpool_limits(limits=1, user_api="blas"):
        for i, (weight, constant) in enumerate(layers):
            unit = (unit if i == 0 else np.maximum(unit, 0)) @ weight + constant
    return unit[:, 0].astype(np.float64)


def _scaled(x: Images) -> NDArray[np.float32]:
    return x.astype(np.float32) / np.float32(255)
