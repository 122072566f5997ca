"""Arrays with a header on disk: an .npz file that holds no code, written whole or not at all."""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from halftruth._errors import InputError

Arrays = dict[str, NDArray[Any]]
HEADER = "header"


def save(path: str | Path, what: str, schema: int, header: dict[str, Any], arrays: Arrays) -> None:
    """Write arrays with a header, whole or not at all."""
    text = json.dumps({"what": what, "schema": schema, **header}, sort_keys=True)
    with _whole(path) as file:
        np.savez_compressed(file, allow_pickle=False, **{HEADER: np.asarray(text), **arrays})


def write(path: str | Path, text: str) -> None:
    """Write a text, whole or not at all."""
    with _whole(path) as file:
        file.write(text.encode())


@contextmanager
def _whole(path: str | Path) -> Iterator[BinaryIO]:
    """A file beside the target that takes its place once it is complete."""
    target = Path(path)
    part = None
    try:
        with NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
            part = Path(file.name)
            yield cast("BinaryIO", file)
        part.chmod(0o666 & ~_umask())
        part.replace(target)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"{target} cannot be written: {reason}. Choose another place.") from error
    finally:
        if part is not None:
            part.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def load(path: str | Path, what: str, schema: int) -> tuple[dict[str, Any], Arrays]:
    """The header and the arrays; an error that names the file where it is anything else."""
    source = Path(path)
    try:
        with source.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        header = json.loads(str(arrays.pop(HEADER)))
        found, version = header["what"], header["schema"]
    except FileNotFoundError:
        raise InputError(f"There is no file {source}.") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, EOFError) as error:
        raise InputError(f"{source} is not a saved {what}, or it is damaged.") from error
    except (zipfile.BadZipFile, zlib.error, MemoryError, RuntimeError) as error:  # an unknown compression too
        raise InputError(f"{source} is not a saved {what}, or it is damaged.") from error
    if found != what:
        raise InputError(f"{source} holds a {found!r}, not a {what}.")
    if version != schema:
        raise InputError(
            f"{source} has schema {version!r}; this halftruth reads schema {schema}. Use the version that "
            f"wrote it, or make it anew."
        )
    return header, arrays
