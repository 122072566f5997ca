"""Which data sets of the papers a folder holds.

A file is an ``.npz`` with the features ``X`` and the class ``y`` (1 positive, 0 negative).
"""

from __future__ import annotations

import json
import os
import zipfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, arg
from halftruth_papers.known_files import VARIABLE, data_folder, known_bytes
from halftruth_papers.published import COVTYPE, DATASETS, Dataset

MANIFEST = "MANIFEST.json"


@dataclass(frozen=True, eq=False)
class DatasetFile:
    """A data set in a folder. Its features are read when first asked for.

    Examples
    --------
    >>> from halftruth_papers.datasets import datasets_in
    >>> sets = datasets_in("data")  # doctest: +SKIP
    >>> sets[0].dataset.name, sets[0].x.shape, sets[0].complete  # doctest: +SKIP
    ('bank', (45000, 51), True)
    """

    dataset: Dataset
    path: Path
    complete: bool

    @cached_property
    def x(self) -> NDArray[np.float64]:
        """Features, one row for each case."""
        table = _read(self.path, "X")
        if table.ndim != 2 or len(table) != len(self.y) or table.dtype.kind not in "fiub":
            raise InputError(
                f"`X` of {self.path.name} must be a table of numbers with {len(self.y)} rows, got shape "
                f"{table.shape} of dtype {table.dtype}. Make the file again, "
                f"with categories as columns of 0 and 1."
            )
        return table.astype(np.float64)

    @cached_property
    def y(self) -> NDArray[np.bool_]:
        """True for positives."""
        column: Vector = _checks.vector(_read(self.path, "y"), f"y of {self.path.name}")
        if not np.isin(column, (0, 1)).all():
            raise InputError(
                f"`y` of {self.path.name} must hold 1 (positive) and 0 (negative) only, got "
                f"{np.unique(column)[:5].tolist()}. Positive is: {self.dataset.definition}."
            )
        return np.asarray(column == 1)


def datasets_in(folder: str | os.PathLike[str] | None = None) -> list[DatasetFile]:
    """The data sets of Jain et al. in a folder, checked against their checksums and published counts.

    Parameters
    ----------
    folder : path, optional
        By default the one that the environment variable HALFTRUTH_DATA names.

    Returns
    -------
    list of DatasetFile
        In the order of the paper. ``complete`` is False for a file known to hold a part of the rows.

    Examples
    --------
    >>> from halftruth_papers.datasets import datasets_in
    >>> [one.dataset.name for one in datasets_in("data")]  # doctest: +SKIP
    ['bank', 'concrete', 'gas', 'housing', 'mushroom', 'pendigits', 'pima', 'shuttle', 'wine']
    """
    place = data_folder(folder)
    if place is None:
        raise InputError(
            f"No data folder was given. Pass {arg('data')}, or let {VARIABLE} name the folder of the data "
            f"sets."
        )
    listed = _checksums(place)
    sets = [one for dataset in DATASETS.values() if (one := _find(dataset, place)) is not None]
    if not sets:
        raise InputError(
            f"The folder {str(place)!r} must hold data sets of the paper, got none. Let {VARIABLE} name the "
            f"folder of {', '.join(dataset.file for dataset in DATASETS.values())}, or of some of them."
        )
    for one in sets:
        _check(one, listed)
    return sets


def covertype(folder: str | os.PathLike[str] | None = None) -> DatasetFile | None:
    """The covertype rows in a folder, all or a part, checked as by `datasets_in`; None where there are none.

    None too where neither ``folder`` nor HALFTRUTH_DATA names a folder.

    Examples
    --------
    >>> from halftruth_papers.datasets import covertype
    >>> covertype("data").complete  # doctest: +SKIP
    False
    """
    place = data_folder(folder)
    one = None if place is None else _find(COVTYPE, place)
    if place is not None and one is not None:
        _check(one, _checksums(place))
    return one


def _checksums(place: Path) -> dict[str, str]:
    """Those that the folder lists itself, by file name."""
    path = place / MANIFEST
    if not path.is_file():
        return {}
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
        listed = [entry for entry in entries.values() if isinstance(entry, dict)]
    except (ValueError, AttributeError) as error:
        raise InputError(
            f"{str(path)!r} must be a JSON object of data sets. Repair it or remove it."
        ) from error
    return {
        str(entry["file"]): str(entry["sha256"]) for entry in listed if {"file", "sha256"} <= entry.keys()
    }


def _find(dataset: Dataset, place: Path) -> DatasetFile | None:
    for stem in (dataset.name, *dataset.aliases):
        if (path := place / f"{stem}.npz").is_file():
            return DatasetFile(dataset, path, complete=True)
    if dataset.partial is not None and (path := place / dataset.partial).is_file():
        return DatasetFile(dataset, path, complete=False)
    return None


def _check(one: DatasetFile, listed: dict[str, str]) -> None:
    name, dataset = one.path.name, one.dataset
    checksum = dataset.sha256 if one.complete else dataset.partial_sha256
    if expected := checksum or listed.get(name):
        known_bytes(one.path, expected)
    rows, positives = len(one.y), int(one.y.sum())
    if one.complete and (rows, positives) != (dataset.n, dataset.n_positive):
        raise InputError(
            f"The file {name} must hold {dataset.n} rows, {dataset.n_positive} of them positive "
            f"({dataset.definition}), got {rows} and {positives}. Get the data set as published, "
            f"or move the file out of the folder."
        )


def _read(path: Path, array: str) -> NDArray[Any]:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            return np.asarray(arrays[array])
    except (OSError, EOFError, ValueError, LookupError, TypeError, zipfile.BadZipFile) as error:
        raise InputError(
            f"The file {path.name} must be an .npz with arrays of numbers named X and y, but {array} cannot "
            f"be read ({error}). Get it again, or move it out of the folder."
        ) from error
