"""What rows are called for people, and which of them is told first."""

from __future__ import annotations

from collections.abc import Iterable

from halftruth._registry import REGISTRY
from halftruth._registry import titled as named

__all__ = ["headline", "named"]


def headline(labels: Iterable[str]) -> str:
    """The row that is told first."""
    rows = list(labels)
    places = {label: REGISTRY[label].headline for label in rows if label in REGISTRY}
    first = [label for label, place in places.items() if place is not None]
    return min(first, key=lambda label: places[label] or 0, default=rows[0])
