"""Networks' outputs on CIFAR-10: confidences and hits, and which rows to learn from and to judge by."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector
from halftruth_papers.known_files import data_folder, read_known

Hits = NDArray[np.bool_]
Logits = NDArray[np.float64]
Classes = NDArray[np.intp]


@dataclass(frozen=True, kw_only=True)
class Source:
    """A file of outputs, as published."""

    title: str
    sha256: str
    held_out: bool
    """The file says itself which rows are for calibration; else half of them are drawn."""

    @property
    def arrays(self) -> tuple[str, ...]:
        """Names in the file, outputs and classes in turn."""
        return (
            ("val_logits", "val_labels", "test_logits", "test_labels")
            if self.held_out
            else ("probs", "labels")
        )


SOURCES = {
    "resnet110_c10_logits": Source(
        title="ResNet-110",
        sha256="319a854d1c289f7dc8972c39816aa41c58963d751b1d3a0344b8056814702ed7",
        held_out=True,
    ),
    "netcal_lenet-5-cifar-10": Source(
        title="LeNet-5",
        sha256="9c2c7c34ac3187568f1da627e06e2379d752d97cb7f6e06047a958c6cbca4280",
        held_out=False,
    ),
    "verified_calibration_cifar10_probs": Source(
        title="a network of accuracy .936",
        sha256="5f9abba17d720b8e805a219ce69805dbcaeb2d82ed0a61b7eed649212c7e4d95",
        held_out=False,
    ),
}
RESNET = "resnet110_c10_logits"


@dataclass(frozen=True, eq=False)
class Outputs:
    """Logits of every class, and the class, of some rows.

    Examples
    --------
    >>> import numpy as np
    >>> rows = Outputs(np.log([[0.2, 0.8], [0.6, 0.4]]), np.array([1, 1]))
    >>> rows.confidence().round(3).tolist(), rows.hit.tolist()
    ([0.8, 0.6], [True, False])
    >>> rows.confidence(temperature=2.0).round(3).tolist()
    [0.667, 0.551]
    """

    logits: Logits
    y: Classes

    def confidence(self, temperature: float = 1.0) -> Vector:
        """The largest probability."""
        return np.exp(-_spread(self.logits, temperature))

    @property
    def hit(self) -> Hits:
        """Whether the class with the largest probability is the true one."""
        return np.asarray(self.logits.argmax(axis=1) == self.y)

    def taken(self, rows: NDArray[Any]) -> Outputs:
        """Some of the rows."""
        return Outputs(self.logits[rows], self.y[rows])


@dataclass(frozen=True, eq=False)
class Split:
    """Rows to learn from, and others to judge by."""

    title: str
    learn: Outputs
    judge: Outputs


def read(folder: str | os.PathLike[str] | None, seed: int) -> dict[str, Split]:
    """The networks whose outputs a folder holds; none where no folder is named.

    Parameters
    ----------
    folder : path, optional
        By default the one that the environment variable HALFTRUTH_DATA names.
    seed : int
        Of the split, where the file has none.

    Examples
    --------
    >>> {name: len(split.judge.y) for name, split in read("data", 0).items()}  # doctest: +SKIP
    {'resnet110_c10_logits': 10000, 'netcal_lenet-5-cifar-10': 5000}
    """
    place = data_folder(folder)
    if place is None:
        return {}
    paths = {name: place / f"{name}.npz" for name in SOURCES}
    return {name: _split(path, SOURCES[name], seed) for name, path in paths.items() if path.is_file()}


def best_temperature(rows: Outputs) -> float:
    """The temperature of the least log loss over all classes.

    Examples
    --------
    >>> import numpy as np
    >>> rows = Outputs(np.array([[4.0, 0.0]] * 4), np.array([0, 0, 0, 1]))
    >>> f"{np.exp(4 / best_temperature(rows)):.3f}"
    '3.000'
    """
    from scipy.optimize import minimize_scalar

    of_class = np.take_along_axis(rows.logits, rows.y[:, None], axis=1)[:, 0]
    below = rows.logits.max(axis=1) - of_class

    def loss(log_temperature: float) -> float:
        temperature = float(np.exp(log_temperature))
        return float(np.mean(_spread(rows.logits, temperature) + below / temperature))

    return float(np.exp(minimize_scalar(loss, bounds=(-4, 4), method="bounded", options={"xatol": 1e-10}).x))


def dropped_tail_error(score: Vector, hit: Hits, n_bins: int) -> float:
    """Equal-mass ECE as in the paper's Table 1: bins of ⌊n/B⌋ rows, ties cut, the rows left over dropped.

    Examples
    --------
    >>> import numpy as np
    >>> dropped_tail_error(np.array([0.5, 0.5, 0.75, 0.75, 1.0]), np.array([1, 0, 1, 1, 0]) == 1, 2)
    0.125
    """
    size = len(score) // n_bins
    order = np.argsort(score, kind="stable")[: size * n_bins]
    gaps = (hit[order] - score[order]).reshape(n_bins, size).mean(axis=1)
    return float(np.abs(gaps).mean())


def _spread(logits: Logits, temperature: float) -> Vector:
    """−ln of the largest probability."""
    shifted = (logits - logits.max(axis=1, keepdims=True)) / temperature
    return np.asarray(np.log(np.exp(shifted).sum(axis=1)))


def _split(path: Path, source: Source, seed: int) -> Split:
    first, second, *rest = read_known(path, source.sha256, source.arrays)
    if source.held_out:
        learn, judge = Outputs(*_typed(first, second)), Outputs(*_typed(*rest))
        return Split(source.title, learn, judge)
    with np.errstate(divide="ignore"):  # a probability of 0 is a logit of −∞
        rows = Outputs(*_typed(np.log(first.astype(np.float64)), second))
    order = np.random.default_rng([seed, 4]).permutation(len(rows.y))
    half = len(order) // 2
    return Split(source.title, rows.taken(order[:half]), rows.taken(order[half:]))


def _typed(logits: NDArray[Any], y: NDArray[Any]) -> tuple[Logits, Classes]:
    return logits.astype(np.float64), y.astype(np.intp)
