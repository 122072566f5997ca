"""Results of a long run, kept one by one, so that a run that was stopped goes on where it was."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from halftruth import storage
from halftruth.errors import InputError

SETTINGS = "settings.json"
CELLS = "cells"
LONGEST = 120
"""Characters of a key: it is the name of a file."""


class Store:
    """Named results in a folder, each a JSON file that is written whole or not at all.

    Results of other settings are never mixed in: the settings lie beside them and must be the same.

    Parameters
    ----------
    folder : str or Path
        Made where it is missing.
    settings : dict
        All that the results depend on, as JSON takes it.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     Store(folder, {"repeats": 2}).put("wine-0", {"auc": 0.75})
    ...     Store(folder, {"repeats": 2}).get("wine-0")
    {'auc': 0.75}
    """

    def __init__(self, folder: str | Path, settings: dict[str, Any]) -> None:
        self.folder = Path(folder)
        self.cells = self.folder / CELLS
        try:
            self.cells.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"{self.folder} cannot be used: {error.strerror}. Choose another folder."
            ) from error
        self._hold_to(json.loads(json.dumps(settings)))

    def get(self, key: str) -> dict[str, Any] | None:
        """The result of this name; None where there is none, or what is there is damaged."""
        path = self._path(key)
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def put(self, key: str, result: dict[str, Any]) -> None:
        """Keep a result."""
        storage.write(self._path(key), json.dumps(result))

    def _path(self, key: str) -> Path:
        # No dot in front and no slash: a key stays in its folder, and no temporary file is taken for one.
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", key) or len(key) > LONGEST:
            raise InputError(
                f"A key must be at most {LONGEST} letters, digits, '-', '_' and '.', beginning with a letter "
                f"or a digit; got {key!r}."
            )
        return self.cells / f"{key}.json"

    def _hold_to(self, settings: dict[str, Any]) -> None:
        path = self.folder / SETTINGS
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            if any(self.cells.iterdir()):
                raise self._refusal("results whose settings are not known") from None
            storage.write(path, json.dumps(settings, indent=2, sort_keys=True) + "\n")
            return
        except (OSError, ValueError):
            raise self._refusal(f"results, but {SETTINGS} cannot be read") from None
        if found != settings:
            raise self._refusal(f"results of other settings ({_differences(found, settings)})")

    def _refusal(self, holds: str) -> InputError:
        return InputError(f"{self.folder} holds {holds}. Choose another folder, or delete it.")


def _differences(found: Any, settings: dict[str, Any]) -> str:
    if not isinstance(found, dict):
        return "not a list of settings"
    names = [name for name in {**found, **settings} if found.get(name) != settings.get(name)]
    return ", ".join(f"{name}: {found.get(name)} there, {settings.get(name)} now" for name in names)
