"""The real data of the PU-ECE experiment: where it is looked for, what is read of it, what is refused."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from halftruth._errors import InputError
from halftruth_papers.pu_ece import sources
from halftruth_papers.pu_ece.recipes import RECIPES, REPORTED
from halftruth_papers.pu_ece.settings import BANK, CIFAR, FASHION, MNIST


@pytest.fixture(autouse=True)
def nothing_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HALFTRUTH_DATA", raising=False)
    monkeypatch.setattr(sources, "FASHION_PACKAGE", tmp_path / "package")


def packed(path: Path, array: np.ndarray) -> str:
    """An idx file; its checksum."""
    head = bytes([0, 0, 8, array.ndim]) + b"".join(size.to_bytes(4, "big") for size in array.shape)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(head + array.tobytes()))
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_data_is_looked_for_where_the_user_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sources.available() == {}
    assert sources.available(tmp_path) == {}
    with pytest.raises(InputError, match="must be a folder that exists"):
        sources.available(tmp_path / "none")
    (tmp_path / "package").mkdir()
    assert sources.available(tmp_path) == {FASHION: tmp_path / "package"} == sources.available()
    for name in (sources.MNIST_FILE, sources.BANK_FILE):
        (tmp_path / name).write_bytes(b"another")
    for name in (sources.FASHION_FOLDER, sources.CIFAR_FOLDER):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HALFTRUTH_DATA", str(tmp_path))
    there = sources.available()
    assert list(there) == [MNIST, FASHION, BANK, CIFAR] == list(RECIPES)
    assert there[FASHION] == tmp_path / sources.FASHION_FOLDER
    for deed in (sources.read, sources.check):
        for name in (MNIST, BANK):
            with pytest.raises(InputError, match="SHA-256"):
                deed(name, there[name])
        for name in (FASHION, CIFAR):
            with pytest.raises(InputError, match="cannot be read"):
                deed(name, there[name])


@pytest.mark.parametrize("deed", [sources.read, sources.check])
def test_a_folder_in_the_place_of_a_file_is_refused(tmp_path: Path, deed: Callable[..., Any]) -> None:
    (tmp_path / sources.MNIST_FILE).mkdir()
    there = sources.available(tmp_path)
    with pytest.raises(InputError, match=r"mnist\.npz cannot be read.*Get it again"):
        deed(MNIST, there[MNIST])


def test_an_idx_file_has_the_shape_that_its_head_tells(tmp_path: Path) -> None:
    array = np.arange(24, dtype=np.uint8).reshape(4, 3, 2)
    path = tmp_path / "images.gz"
    sha256 = packed(path, array)
    assert (sources.idx(path, sha256) == array).all()
    with pytest.raises(InputError, match="SHA-256"):
        sources.idx(path, sha256[::-1])
    bad = [b"short", bytes([0, 0, 8, 1, 0, 0, 0, 9, 1])]  # nine are told, and there is one
    bad += [bytes([*head, 1, 0, 0, 0, 1, 7]) for head in ((0, 0, 9), (0, 1, 8), (1, 0, 8))]
    for raw in (b"no gzip", *map(gzip.compress, bad)):
        path.write_bytes(raw)
        with pytest.raises(InputError, match="must be a packed idx file"):
            sources.idx(path, hashlib.sha256(raw).hexdigest())


def test_clothes_from_class_five_on_are_positive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    images = {n: rng.integers(0, 256, (n, 28, 28), dtype=np.uint8) for n in (6, 4)}
    labels = {6: [0, 4, 5, 9, 1, 7], 4: [9, 0, 5, 4]}
    arrays = [images[6], images[4], *(np.array(label, dtype=np.uint8) for label in labels.values())]
    sums = {
        name: packed(tmp_path / name, array)
        for name, array in zip(sources.FASHION_FILES, arrays, strict=True)
    }
    monkeypatch.setattr(sources, "FASHION_FILES", sums)
    sources.check(FASHION, tmp_path)
    read = sources.read(FASHION, tmp_path)
    assert read.n_train == 6
    assert read.y.tolist() == [False, False, True, True, False, True, True, False, True, False]
    assert read.x[6].reshape(28, 28) == pytest.approx(images[4][0] / 255, abs=1e-7)


def test_vehicles_are_read_from_bytes_and_never_from_pickles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sources.RECORDS == 10_000
    monkeypatch.setattr(sources, "RECORDS", 2)
    rng = np.random.default_rng(1)
    pixels = rng.integers(0, 256, (12, 3, 32, 32), dtype=np.uint8)
    label = np.arange(12, dtype=np.uint8) % 10
    for i, name in enumerate(sources.CIFAR_FILES):
        own = slice(2 * i, 2 * i + 2)
        records = np.column_stack([label[own], pixels[own].reshape(2, -1)])
        (tmp_path / name).write_bytes(records.tobytes())
    sources.check(CIFAR, tmp_path)
    read = sources.read(CIFAR, tmp_path)
    assert read.n_train == 10
    assert read.x.shape == (12, 3, 32, 32)
    assert (read.x == pixels.astype(np.float32) / 255).all()
    assert np.flatnonzero(read.y).tolist() == [0, 1, 8, 9, 10, 11]  # airplane, automobile, ship, truck
    one, wrong = bytes(3073), bytes([10]) + bytes(3072)
    for raw in (b"", b"\x80\x04pickled", one, 3 * one, one + wrong):
        (tmp_path / "test_batch.bin").write_bytes(raw)
        for deed in (sources.read, sources.check):
            with pytest.raises(InputError, match=r"2 records.*binary version of CIFAR-10"):
                deed(CIFAR, tmp_path)


def test_the_data_is_the_published_one(data_dir: Path) -> None:
    digits = sources.read(MNIST, data_dir / sources.MNIST_FILE)
    assert digits.x.shape == (70_000, 784)
    assert digits.n_train == 60_000
    assert digits.y[:60_000].mean() == pytest.approx(REPORTED[MNIST].prior, abs=5e-3)
    clients = sources.read(BANK, data_dir / sources.BANK_FILE)
    assert (len(clients.y), int(clients.y.sum())) == (45_000, 5_188)
    training = clients.x[: clients.n_train].astype(np.float64)
    assert training.mean(axis=0) == pytest.approx(np.zeros(51), abs=1e-5)
    assert training.std(axis=0) == pytest.approx(np.ones(51), abs=1e-4)
    # In another order the classes are alike in both parts: 30,000 and 15,000 rows, five standard errors.
    shares = clients.y[: clients.n_train].mean(), clients.y[clients.n_train :].mean()
    assert abs(shares[0] - shares[1]) < 5 * (0.115 * 0.885 * (1 / 30_000 + 1 / 15_000)) ** 0.5
