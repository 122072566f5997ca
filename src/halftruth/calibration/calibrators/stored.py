"""Calibrators on disk: a JSON file that is what it says, or an error that names it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from halftruth.errors import InputError

WHAT, SCHEMA = "halftruth calibrator", 1


def opened(path: Path) -> Any:
    """What a JSON file holds."""
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        raise InputError(f"There is no file {path}.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be opened: {error.strerror}. Check the path.") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not a saved calibrator, or it is damaged.") from error


def check(stored: Any, source: str) -> None:
    """Raise unless this is a calibrator of the schema that is read here."""
    if not isinstance(stored, Mapping) or stored.get("what") != WHAT:
        raise InputError(f"{source} is not a saved calibrator, or it is damaged.")
    if stored.get("schema") != SCHEMA:
        raise InputError(
            f"{source} has schema {stored.get('schema')!r}; this halftruth reads schema {SCHEMA}. Use the "
            f"version that wrote it, or fit it anew."
        )
