"""Files of data that are known: found in a folder, and read only if they are the very ones."""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth._errors import InputError

VARIABLE = "HALFTRUTH_DATA"
"""Names the folder of the data sets, where none is given."""


def data_folder(folder: str | os.PathLike[str] | None) -> Path | None:
    """The folder that was given, or that HALFTRUTH_DATA names; None where neither is.

    Examples
    --------
    >>> data_folder(".")
    PosixPath('.')
    """
    named = os.environ.get(VARIABLE, "") if folder is None else folder
    if not named:
        return None
    place = Path(named)
    if not place.is_dir():
        raise InputError(
            argument="data",
            must="be a folder that exists",
            got=repr(str(place)),
            remedy=f"Pass the folder of the data sets, or let {VARIABLE} name it.",
        )
    return place


def known_bytes(path: Path, sha256: str) -> bytes:
    """What is in a file, which must have this checksum."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"The file {path} cannot be read: {error.strerror}. Get it again, or move it out of the folder."
        ) from error
    if (got := hashlib.sha256(content).hexdigest()) != sha256:
        raise InputError(
            f"The file {path.name} must have the SHA-256 checksum {sha256}, got {got}: it is damaged or "
            f"another version. Get it again, or move it out of the folder."
        )
    return content


def read_known(path: Path, sha256: str, names: tuple[str, ...]) -> list[NDArray[Any]]:
    """These arrays of an .npz file, which must have this checksum."""
    packed = known_bytes(path, sha256)
    try:
        with io.BytesIO(packed) as file, np.load(file, allow_pickle=False) as arrays:
            return [np.asarray(arrays[name]) for name in names]
    except (OSError, EOFError, ValueError, LookupError, zipfile.BadZipFile) as error:
        raise InputError(
            f"The file {path.name} must be an .npz with the arrays {', '.join(names)}, but cannot be read "
            f"({error}). Get it again, or move it out of the folder."
        ) from error
