"""The twelve data sets of Jain et al. 2017: what each is, and which of them a folder holds.

A file is an ``.npz`` with the features ``X`` and the class ``y`` (1 positive, 0 negative).
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth import checks
from halftruth.checks import Vector
from halftruth.errors import InputError

VARIABLE = "HALFTRUTH_DATA"
MANIFEST = "MANIFEST.json"


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A data set as the paper used it.

    Parameters
    ----------
    name : str
    definition : str
        The positive class.
    n, n_positive : int
        Rows and positives, as published.
    n_labeled : int
        Rows that the paper labels in its experiments.
    sha256 : str, optional
        Of the file. None: as listed in the folder's MANIFEST.json, if at all.
    aliases : tuple of str
        Further names that the file may have.
    partial : str, optional
        Name of a file known to hold a part of the rows.

    Examples
    --------
    >>> from halftruth.reproduce.datasets import DATASETS
    >>> DATASETS["pima"].n, DATASETS["pima"].n_positive, DATASETS["pima"].file
    (768, 268, 'pima.npz')
    """

    name: str
    definition: str
    n: int
    n_positive: int
    n_labeled: int = 1000
    sha256: str | None = None
    aliases: tuple[str, ...] = ()
    partial: str | None = None

    @property
    def file(self) -> str:
        """Name of the file."""
        return f"{self.name}.npz"


DATASETS: dict[str, Dataset] = {
    dataset.name: dataset
    for dataset in (
        Dataset(
            name="bank",
            definition="the client subscribed; the first 45,000 rows of bank-full",
            n=45000,
            n_positive=5188,
            sha256="be18290ad8739a5843d153a14599e3e8dec1c4a7b8ca3287be1565a73bd2fe9f",
        ),
        Dataset(
            name="concrete",
            definition="compressive strength above its mean",
            n=1030,
            n_positive=490,
            n_labeled=100,
            sha256="6c43c24540327b14264ffeffd41663eafa141488319c60dafb9b6341d22fb458",
        ),
        Dataset(
            name="gas",
            definition="ethanol, against acetone",
            n=5574,
            n_positive=2565,
            aliases=("gas_drift", "gas_sensor"),
            partial="gas_partial.npz",
        ),
        Dataset(
            name="housing",
            definition="median value above its mean",
            n=506,
            n_positive=209,
            n_labeled=100,
            sha256="8a7a1b79751365171a15175d8a1d2cc57a1a13ee9da8fb802e4cf0122ae8a38d",
        ),
        Dataset(
            name="landsat",
            definition="class 7, very damp grey soil",
            n=6435,
            n_positive=1508,
            aliases=("satimage", "statlog", "statlog_landsat", "sat"),
        ),
        Dataset(
            name="mushroom",
            definition="poisonous",
            n=8124,
            n_positive=3916,
            sha256="8d5a694bdfaa7f2f290231dfea163f7629138ea8bbf52d802454b820f213c7d2",
        ),
        Dataset(
            name="pageblocks",
            definition="any block but text",
            n=5473,
            n_positive=560,
            n_labeled=100,
            aliases=("pageblock", "page_blocks", "page-blocks"),
        ),
        Dataset(
            name="pendigits",
            definition="digits 0, 1 and 2",
            n=10992,
            n_positive=3430,
            sha256="1f47ac8aff2de4f8f3c6321c80b74c5744bab9d0ae19408b7fc9495aae589b83",
            aliases=("pendigit", "penbased"),
        ),
        Dataset(
            name="pima",
            definition="diabetes",
            n=768,
            n_positive=268,
            n_labeled=100,
            sha256="2baa4a088fe0ba8bfd523b9fdd298b76fa99cd0a48360f39aab922edc6b754f5",
        ),
        Dataset(
            name="shuttle",
            definition="class 4, high",
            n=58000,
            n_positive=8903,
            sha256="e1a8841880482b68431ad2bb2a160b157339a42314794cf668cec9c572b776b4",
        ),
        Dataset(name="spambase", definition="spam", n=4601, n_positive=1813, aliases=("spam",)),
        Dataset(
            name="wine",
            definition="quality 6 and above, red and white together",
            n=6497,
            n_positive=4113,
            sha256="e3128a3e9dd7369ec40f959d0b74e94e697e388a95dadef605bcae16bc9eb325",
        ),
    )
}
"""By name, in the order of the paper's tables."""


@dataclass(frozen=True, eq=False)
class Found:
    """A data set in a folder. Its features are read when first asked for.

    Examples
    --------
    >>> from halftruth.reproduce.datasets import found
    >>> sets = found("data")  # doctest: +SKIP
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
        column: Vector = checks.vector(_read(self.path, "y"), f"y of {self.path.name}")
        if not np.isin(column, (0, 1)).all():
            raise InputError(
                f"`y` of {self.path.name} must hold 1 (positive) and 0 (negative) only, got "
                f"{np.unique(column)[:5].tolist()}. Positive is: {self.dataset.definition}."
            )
        return np.asarray(column == 1)


def found(folder: str | os.PathLike[str] | None = None) -> list[Found]:
    """The paper's data sets in a folder, checked against their checksums and published counts.

    Parameters
    ----------
    folder : path, optional
        By default the one that the environment variable HALFTRUTH_DATA names.

    Returns
    -------
    list of Found
        In the order of the paper. ``complete`` is False for a file known to hold a part of the rows.

    Examples
    --------
    >>> from halftruth.reproduce.datasets import found
    >>> [one.dataset.name for one in found("data")]  # doctest: +SKIP
    ['bank', 'concrete', 'gas', 'housing', 'mushroom', 'pendigits', 'pima', 'shuttle', 'wine']
    """
    place = _folder(folder)
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


def _folder(folder: str | os.PathLike[str] | None) -> Path:
    named = os.environ.get(VARIABLE, "") if folder is None else folder
    if not named:
        raise InputError(
            f"No data folder was given. Pass `data`, or let {VARIABLE} name the folder of the data sets."
        )
    place = Path(named)
    if not place.is_dir():
        raise InputError(
            f"`data` must be a folder that exists, got {str(place)!r}. Pass the folder of the data sets, "
            f"or let {VARIABLE} name it."
        )
    return place


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


def _find(dataset: Dataset, place: Path) -> Found | None:
    for stem in (dataset.name, *dataset.aliases):
        if (path := place / f"{stem}.npz").is_file():
            return Found(dataset, path, complete=True)
    if dataset.partial is not None and (path := place / dataset.partial).is_file():
        return Found(dataset, path, complete=False)
    return None


def _check(one: Found, listed: dict[str, str]) -> None:
    name, dataset = one.path.name, one.dataset
    own = dataset.sha256 if one.complete else None
    expected = own or listed.get(name)
    if expected is not None and (got := hashlib.sha256(one.path.read_bytes()).hexdigest()) != expected:
        raise InputError(
            f"The file {name} must have the SHA-256 checksum {expected}, got {got}: it is damaged or another "
            f"version. Get it again, or move it out of the folder."
        )
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
