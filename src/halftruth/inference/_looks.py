"""The level of each look at results that are looked at again and again."""

from __future__ import annotations

__all__ = ["level_of_look"]


def level_of_look(look: int, confidence_level: float = 0.95) -> float:
    """α_k = α/(k (k + 1)): the intervals of all looks together hold at the level that was asked for."""
    return 1 - (1 - confidence_level) / (look * (look + 1))
