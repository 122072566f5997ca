"""What every method of calibration gives back, and how what was stored is checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError, Note, arg

LARGEST = 1e300
"""Stored numbers beyond would overflow in a product with a score's logarithm."""


class Curve(Protocol):
    """A fitted map from scores to probabilities."""

    def __call__(self, score: Vector) -> Vector:
        """The calibrated probabilities of checked scores."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        ...


@dataclass(frozen=True)
class Fitted:
    """A curve, and what a reader should know of its fit."""

    curve: Curve
    notes: tuple[Note, ...] = ()


def real(value: Any, name: str) -> float:
    """A stored number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST:
        raise InputError(f"{arg(name)} must be a number from {-LARGEST:g} to {LARGEST:g}, got {value!r}")
    return float(value)


def at_least_zero(value: Any, name: str) -> float:
    """A stored number that is not negative."""
    if real(value, name) < 0:
        raise InputError(f"{arg(name)} must not be negative, got {value!r}")
    return float(value)


def column(stored: Mapping[str, Any], name: str, *, rising: bool = False, unit: bool = False) -> Vector:
    """Stored numbers; ascending and distinct where ``rising``, in [0, 1] where ``unit``."""
    values = _checks.vector(stored[name], name)
    if rising and not (np.diff(values) > 0).all():
        raise InputError(f"{arg(name)} must ascend")
    return _checks.probabilities(values, name) if unit else values
