"""The real data of the PU-ECE experiment: images of digits, clothes and things, and clients of a bank."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from halftruth._errors import InputError
from halftruth_papers.known_files import data_folder, known_bytes, read_known
from halftruth_papers.pu_ece.settings import BANK, CIFAR, FASHION, MNIST
from halftruth_papers.published import DATASETS

MNIST_FILE = "mnist.npz"
FASHION_FOLDER = "fashion-mnist"
FASHION_PACKAGE = Path("/usr/share/datasets/fashion-mnist")
"""Where Debian's package dataset-fashion-mnist puts it."""
FASHION_FILES = {
    "train-images-idx3-ubyte.gz": "b0564c3eedabfbf835052cff8503ea422014ce006caf5b757f851416ee8300c7",
    "t10k-images-idx3-ubyte.gz": "cc1d090a38ace84dfa1aa66e3ada7c336ef481a96936906477e6dd344da56eaa",
    "train-labels-idx1-ubyte.gz": "0ae29f65d86684f32d1b9c85147786c547b9c6aebcaf235f0400a0cce308b056",
    "t10k-labels-idx1-ubyte.gz": "8d3605d196f4be44669e46906da9733c8131fef761fdbfec72c424d5222f1a05",
}
BANK_FILE = "bank.npz"
SHA256 = {
    MNIST: "34daca95bbf4ab389b6e727433411c42089622deeb256af77cb3893a9e36b869",
    BANK: DATASETS["bank"].sha256 or "",
}
CIFAR_FOLDER = "cifar-10-batches-bin"
CIFAR_FILES = (*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin")
"""The binary version. That for Python is pickled, and is never read."""

PIXELS = (3, 32, 32)
RECORDS = 10_000
"""Of CIFAR-10 in each file."""
IDX_BYTES = bytes([0, 0, 8])
"""How an idx file of bytes begins."""
FIRST_POSITIVE = 5
"""Digits, and classes of clothes, from here on are positive."""
VEHICLES = (0, 1, 8, 9)
"""Airplane, automobile, ship and truck."""
BANK_TRAIN = 30_000

Bytes = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Source:
    """Rows of features and their classes, those for training first."""

    x: NDArray[np.float32]
    y: NDArray[np.bool_]
    n_train: int


def available(folder: str | os.PathLike[str] | None = None) -> dict[str, Path]:
    """The data that is there, by the name of its model.

    Parameters
    ----------
    folder : path, optional
        By default the one that the environment variable HALFTRUTH_DATA names.

    Returns
    -------
    dict
        A file, or a folder of files, in the order of the page.

    Examples
    --------
    >>> list(available("data"))  # doctest: +SKIP
    ['mnist', 'fashion', 'bank']
    """
    place = data_folder(folder)
    paths = {} if place is None else {name: place / where for name, where in PLACES.items()}
    if FASHION not in paths or not paths[FASHION].is_dir():
        paths[FASHION] = FASHION_PACKAGE
    return {name: paths[name] for name in PLACES if name in paths and paths[name].exists()}


def check(name: str, path: Path) -> None:
    """Refuse files that are missing, damaged or other than the known ones: before hours of training."""
    if name == FASHION:
        for file, sha256 in FASHION_FILES.items():
            known_bytes(path / file, sha256)
    elif name == CIFAR:
        for file in CIFAR_FILES:
            cifar_records(path / file)
    else:
        known_bytes(path, SHA256[name])


def read(name: str, path: Path) -> Source:
    """The rows of a model, whose files must be those that are known."""
    return READERS[name](path)


def _mnist(path: Path) -> Source:
    x, label = read_known(path, SHA256[MNIST], ("X", "label"))
    return Source(_shades(x), label >= FIRST_POSITIVE, 60_000)


def _fashion(path: Path) -> Source:
    train, test, train_label, test_label = (idx(path / name, sha) for name, sha in FASHION_FILES.items())
    x = np.concatenate([train, test]).reshape(-1, 784)
    return Source(_shades(x), np.concatenate([train_label, test_label]) >= FIRST_POSITIVE, len(train))


def _bank(path: Path) -> Source:
    """Shuffled, since the rows stand by date; features have mean 0 and sd 1 over the training rows."""
    x, y = read_known(path, SHA256[BANK], ("X", "y"))
    order = np.random.default_rng(0).permutation(len(y))
    x, y = x[order].astype(np.float64), y[order] == 1
    spread = x[:BANK_TRAIN].std(axis=0)
    x = (x - x[:BANK_TRAIN].mean(axis=0)) / np.where(spread > 0, spread, 1)
    return Source(x.astype(np.float32), y, BANK_TRAIN)


def _cifar(path: Path) -> Source:
    parts = [cifar_records(path / name) for name in CIFAR_FILES]
    x, label = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return Source(_shades(x), np.isin(label, VEHICLES), len(x) - len(parts[-1][1]))


PLACES = {MNIST: MNIST_FILE, FASHION: FASHION_FOLDER, BANK: BANK_FILE, CIFAR: CIFAR_FOLDER}
READERS: dict[str, Callable[[Path], Source]] = {
    MNIST: _mnist,
    FASHION: _fashion,
    BANK: _bank,
    CIFAR: _cifar,
}


def idx(path: Path, sha256: str) -> Bytes:
    """The bytes of an idx file as an array of the shape that its head tells; the file must be the known one.

    The head is two zeros, 8 for bytes, the number of axes, and the length of each in four bytes.
    """
    packed = known_bytes(path, sha256)
    try:
        raw = gzip.decompress(packed)
        if raw[:3] != IDX_BYTES:
            raise ValueError(f"it begins with {raw[:3].hex(' ')}, not with {IDX_BYTES.hex(' ')}")
        axes = raw[3]
        shape = np.frombuffer(raw, ">u4", axes, offset=4)
        return np.frombuffer(raw, np.uint8, offset=4 + 4 * axes).reshape(shape.astype(int).tolist())
    except (EOFError, LookupError, OSError, ValueError, zlib.error) as error:
        raise InputError(f"The file {path.name} must be a packed idx file of bytes ({error}).") from error


def cifar_records(path: Path) -> tuple[Bytes, Bytes]:
    """Images (n, 3, 32, 32) and classes: a record is one byte of class and 3,072 of pixels."""
    length = 1 + int(np.prod(PIXELS))
    try:
        raw = np.frombuffer(path.read_bytes(), np.uint8)
    except OSError as error:
        raise InputError(
            f"The file {path} cannot be read: {error.strerror}. Get it again, or move its folder away."
        ) from error
    if len(raw) != RECORDS * length or raw[::length].max() > 9:
        raise InputError(
            f"The file {path.name} must hold {RECORDS:,} records of {length:,} bytes that begin with a class "
            f"from 0 to 9, got {len(raw):,} bytes. Pass the binary version of CIFAR-10."
        )
    records = raw.reshape(-1, length)
    return records[:, 1:].reshape(-1, *PIXELS), records[:, 0]


def _shades(x: Bytes) -> NDArray[np.float32]:
    return np.asarray(x, dtype=np.float32) / np.float32(255)
