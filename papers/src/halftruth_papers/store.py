"""Results of a long run, kept one by one, so that a run that was stopped goes on where it was."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from halftruth import _storage
from halftruth._errors import InputError, arg

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
                f"{arg('out')} ({self.folder}) cannot be used: {error.strerror}. Pass another folder."
            ) from error
        self._hold_to(json.loads(json.dumps(settings)))

    def get(self, key: str) -> dict[str, Any] | None:
        """The result of this name; None where there is none, or what is there is damaged."""
        path = self._path(key)
        try:
            result = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return result if isinstance(result, dict) else None

    def put(self, key: str, result: dict[str, Any]) -> None:
        """Keep a result."""
        _storage.write(self._path(key), json.dumps(result))

    def kept(self, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
        """The results that are there, by name."""
        return {key: result for key in keys if (result := self.get(key)) is not None}

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
            stored = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            if any(self.cells.iterdir()):
                raise self._refusal("results whose settings are not known") from None
            _storage.write(path, json.dumps(settings, indent=2, sort_keys=True) + "\n")
            return
        except (OSError, ValueError):
            raise self._refusal(f"results, but {SETTINGS} cannot be read") from None
        if stored != settings:
            raise self._refusal(in_words(stored, settings))

    def _refusal(self, holds: str) -> InputError:
        return InputError(f"{arg('out')} ({self.folder}) holds {holds}. Pass another folder, or delete it.")


def in_words(found: Any, settings: dict[str, Any]) -> str:
    """The run of these settings, in words that tell it from another.

    Examples
    --------
    >>> in_words({"paper": "jain", "quick": True}, {"paper": "jain", "quick": False})
    'a quick run of jain, and this is a full one'
    >>> in_words({"paper": "jain", "rng": 1}, {"paper": "jain", "rng": 2})
    'a run of jain with rng 1, and this one has 2'
    >>> in_words({"paper": "jain", "models": ["a"]}, {"paper": "jain", "models": ["a", "b"]})
    'a run of jain with models a, and this one has a, b'
    """
    if not isinstance(found, dict):
        return "results whose settings are not known"
    paper = found.get("paper")
    run = "run" if paper is None else f"run of {paper}"
    other = [name for name in {**found, **settings} if found.get(name) != settings.get(name)]
    if "paper" in other:
        return f"a {run}"
    if "quick" in other:
        kinds = [("quick" if one.get("quick") else "full") for one in (found, settings)]
        if kinds[0] != kinds[1]:
            return f"a {kinds[0]} {run}, and this is a {kinds[1]} one"
    if "halftruth" in other:
        return f"a {run} by halftruth {found.get('halftruth')}, and this is {settings.get('halftruth')}"
    name = other[0]
    values = [one.get(name) for one in (found, settings)]
    if any(isinstance(value, dict) for value in values):
        return f"a {run} with another {name}"
    there, here = map(_said, values)
    return f"a {run} with {name} {there}, and this one has {here}"


def _said(value: Any) -> str:
    """A setting, in words; a list by what is in it."""
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)
