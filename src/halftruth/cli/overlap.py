"""What is written is never what is read."""

from __future__ import annotations

import os
from collections.abc import Iterable
from fnmatch import fnmatch
from glob import glob
from pathlib import Path

from halftruth._errors import InputError


def refuse(option: str, target: str, files: Iterable[str]) -> None:
    """Raise where a target is among the files that are read, or would be the next time."""
    if any(_reads(file, Path(target)) for file in files):
        raise InputError(
            f"{option} {target} is one of the files that are read, or would be the next time by its "
            f"folder or its name. Choose another place."
        )


def _reads(file: str, target: Path) -> bool:
    """Whether the target, there or not, is this file or one of this folder or pattern."""
    try:
        return file != "-" and _finds(file, target)
    except OSError:  # whoever reads it will say what is wrong with it
        return False


def _finds(file: str, target: Path) -> bool:
    path = Path(file)
    if path.is_dir():
        return target.resolve().is_relative_to(path.resolve())
    # Path.glob takes no absolute pattern.
    found = [file] if path.exists() else glob(file, recursive=True)  # noqa: PTH207
    if target.exists() and any(Path(one).samefile(target) for one in found):
        return True
    folder, name = os.path.split(file)
    if path.exists() or not fnmatch(target.name, name):
        return False
    # Without a folder at its beginning "**" does not stand for the first; at the end it stands for all below.
    pattern = folder if Path(folder).is_absolute() else f"./{folder}"
    pattern += "/**/" if name == "**" else ""
    return any(Path(one).samefile(target.parent) for one in glob(pattern, recursive=True))  # noqa: PTH207
