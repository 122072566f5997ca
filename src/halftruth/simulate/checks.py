"""What the generators accept as real numbers."""

from __future__ import annotations

import math

from halftruth.errors import InputError


def finite(value: float, name: str) -> float:
    """Return `value` as a finite float."""
    number = _number(value, name)
    if not math.isfinite(number):
        raise InputError(f"`{name}` must be finite, got {value!r}. Pass a real number.")
    return number


def inside(
    value: float, name: str, low: float, high: float, *, closed: str = "neither", advice: str
) -> float:
    """Return `value` as a float between `low` and `high`, ends included on the `closed` side."""
    number = _number(value, name)
    above = number > low or (closed == "left" and number == low)
    below = number < high or (closed == "right" and number == high)
    if not (above and below):
        left, right = "[" if closed == "left" else "(", "]" if closed == "right" else ")"
        raise InputError(f"`{name}` must lie in {left}{low:g}, {high:g}{right}, got {value!r}. {advice}")
    return number


def _number(value: float, name: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputError(f"`{name}` must be a real number, got {value!r}. Pass a float.") from None
