"""Calibrators on disk: a JSON file that is what it says, or an error that names it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from halftruth._checks import instance, share
from halftruth._errors import InputError, Note, as_notes
from halftruth.calibration.calibrators.parts import real

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


@dataclass(frozen=True)
class Content:
    """What a stored calibrator holds, of the right kinds."""

    settings: Mapping[str, Any]
    curve: Mapping[str, Any]
    prior: float
    notes: tuple[Note, ...]
    source: str

    @classmethod
    def of(cls, stored: Any, source: str) -> Content:
        """Raise unless this is a calibrator of the schema that is read here."""
        if not isinstance(stored, Mapping) or stored.get("what") != WHAT:
            raise InputError(f"{source} is not a saved calibrator, or it is damaged.")
        schema = stored.get("schema")
        if type(schema) is not int or schema != SCHEMA:
            raise InputError(
                f"{source} has schema {schema!r}; this halftruth reads schema {SCHEMA}. Use the version that "
                f"wrote it, or fit it anew."
            )
        try:
            settings, curve = (instance(stored[name], name, dict) for name in ("settings", "curve"))
            notes = [instance(note, "notes", str) for note in instance(stored["notes"], "notes", list)]
            kinds = [instance(kind, "note_kinds", str) for kind in stored.get("note_kinds", [])]
            kinds = [instance(kind, "note_kinds", str) for kind in stored.get("note_kinds", [])]
            prior = share(real(stored["prior"], "prior"), "prior")
        except (InputError, KeyError) as error:
            raise damaged(source, error) from error
        return cls(settings, curve, prior, as_notes(notes, kinds), source)

    def damaged(self, why: Exception) -> InputError:
        return damaged(self.source, why)


def damaged(source: str, why: Exception) -> InputError:
    """The error of a calibrator that cannot be read, with its reason."""
    reason = f"{why} is missing" if isinstance(why, KeyError) else str(why)
    return InputError(f"{source} is a damaged calibrator: {reason}")
