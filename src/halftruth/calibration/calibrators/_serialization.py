"""What every method of calibration gives back, and how it is read from a JSON file that may be damaged."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from halftruth import _checks
from halftruth._checks import Vector, instance, share
from halftruth._errors import InputError, Note, arg, as_notes

__all__ = ["SCHEMA", "WHAT", "Curve", "Fitted", "checked_content", "column", "damaged", "number", "opened"]

LARGEST = 1e300  # stored numbers beyond would overflow in a product with a score's logarithm


class Curve(ABC):
    """A fitted map from scores to probabilities: a dataclass of numbers and arrays, stored by their names."""

    slopes: ClassVar[tuple[str, ...]] = ()  # numbers that must not be negative, so that the curve never falls

    @abstractmethod
    def __call__(self, score: Vector) -> Vector:
        """The calibrated probabilities of checked scores."""

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {name: np.asarray(value).tolist() for name, value in vars(self).items()}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """What `to_dict` gave, if it can be such a curve; one with arrays reads itself."""
        slopes = cls.slopes
        names = (field.name for field in fields(cls))  # type: ignore[arg-type]
        return cls(**{name: number(stored[name], name, never_negative=name in slopes) for name in names})


@dataclass(frozen=True)
class Fitted:
    """A curve, and what a reader should know of its fit."""

    curve: Curve
    notes: tuple[Note, ...] = ()


def number(value: object, name: str, *, never_negative: bool = False) -> float:
    """A stored number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST:
        raise InputError(f"{arg(name)} must be a number from {-LARGEST:g} to {LARGEST:g}, got {value!r}")
    if never_negative and value < 0:
        raise InputError(f"{arg(name)} must not be negative, got {value!r}")
    return float(value)


def column(stored: Mapping[str, Any], name: str, *, rising: bool = False, unit: bool = False) -> Vector:
    """Stored numbers; ascending and distinct where ``rising``, in [0, 1] where ``unit``."""
    values = _checks.vector(stored[name], name)
    if rising and not (np.diff(values) > 0).all():
        raise InputError(f"{arg(name)} must ascend")
    return _checks.probabilities(values, name) if unit else values


WHAT, SCHEMA = "halftruth calibrator", 1


def opened(path: Path) -> object:
    """What a JSON file holds."""
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        raise InputError(f"There is no file {path}.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be opened: {error.strerror}. Check the path.") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not a saved calibrator, or it is damaged.") from error


def checked_content(
    stored: object, source: str
) -> tuple[dict[str, Any], dict[str, Any], float, tuple[Note, ...]]:
    """Settings, curve, prior and notes of a stored calibrator, if it has the schema that is read here."""
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
        prior = share(number(stored["prior"], "prior"), "prior")
    except (InputError, KeyError) as error:
        raise damaged(source, error) from error
    return settings, curve, prior, as_notes(notes, kinds)


def damaged(source: str, why: Exception) -> InputError:
    """The error of a calibrator that cannot be read, with its reason."""
    reason = f"{why} is missing" if isinstance(why, KeyError) else str(why)
    return InputError(f"{source} is a damaged calibrator: {reason}")
