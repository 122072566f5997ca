"""What a folder holds of the data of the Bayes error paper: votes, networks' outputs, review scores."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector
from halftruth_papers.known_files import data_folder, read_known
from halftruth_papers.logits import SOURCES

VOTES, REVIEWS = "cifar10h", "iclr_scores"
SHA256 = {
    VOTES: "cc8e71d1bb849f9d885889e9918d213d4dee08ba2f301b2a711593b70514cdb2",
    REVIEWS: "ba8fd67f3ddb07f97aa2f90fb3b64bdc3e5f786cb7f2d5703683002e46195f1e",
}

Classes = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Votes:
    """Votes of people for each class of the CIFAR-10 test images, and their published labels."""

    counts: Vector
    label: Classes

    def share(self, positive: tuple[int, ...]) -> Vector:
        """Of the votes for these classes, by image."""
        return np.asarray(self.for_classes(positive) / self.counts.sum(axis=1))

    def for_classes(self, positive: tuple[int, ...]) -> Vector:
        """Votes for any of these classes, by image."""
        return np.asarray(self.counts[:, positive].sum(axis=1))


@dataclass(frozen=True, eq=False)
class Reviews:
    """Mean review scores of papers, the year, and whether they were accepted."""

    score: Vector
    year: Classes
    accepted: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Data:
    """What was found; None or nothing for what was not."""

    votes: Votes | None = None
    reviews: Reviews | None = None
    predicted: dict[str, Classes] = field(default_factory=dict)
    """Classes by network, in the order of the votes."""
    other_rows: tuple[str, ...] = ()
    """Networks whose labels are not those of the votes, row by row."""


def read(folder: str | os.PathLike[str] | None = None) -> Data:
    """The data that a folder holds; none where no folder is named.

    Parameters
    ----------
    folder : path, optional
        By default the one that the environment variable HALFTRUTH_DATA names.

    Examples
    --------
    >>> read("data").votes.counts.shape  # doctest: +SKIP
    (10000, 10)
    """
    place = data_folder(folder)
    if place is None:
        return Data()
    votes, reviews = _votes(place), _reviews(place)
    if votes is None:
        return Data(reviews=reviews)
    networks = {name: network for name in SOURCES if (network := _network(place, name)) is not None}
    same = {name: np.array_equal(label, votes.label) for name, (_, label) in networks.items()}
    predicted = {name: classes for name, (classes, _) in networks.items() if same[name]}
    return Data(votes, reviews, predicted, tuple(name for name, network in same.items() if not network))


def _votes(place: Path) -> Votes | None:
    arrays = _read(place / f"{VOTES}.npz", SHA256[VOTES], ("counts", "label"))
    if arrays is None:
        return None
    counts, label = arrays
    return Votes(counts.astype(np.float64), label.astype(np.intp))


def _reviews(place: Path) -> Reviews | None:
    arrays = _read(place / f"{REVIEWS}.npz", SHA256[REVIEWS], ("X", "y"))
    if arrays is None:
        return None
    x, y = arrays
    return Reviews(x[:, 0].astype(np.float64), x[:, 1].astype(np.intp), y == 1)


def _network(place: Path, name: str) -> tuple[Classes, Classes] | None:
    """The class that the network gives each test image, and its label."""
    source = SOURCES[name]
    arrays = _read(place / f"{name}.npz", source.sha256, source.arrays[-2:])
    if arrays is None:
        return None
    outputs, label = arrays
    return outputs.argmax(axis=1), label.astype(np.intp)


def _read(path: Path, sha256: str, names: tuple[str, ...]) -> list[NDArray[Any]] | None:
    return read_known(path, sha256, names) if path.is_file() else None
