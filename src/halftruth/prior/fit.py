"""Fit: what one estimator of the prior made of the samples."""

from __future__ import annotations

from dataclasses import dataclass

from halftruth._checks import Vector
from halftruth._errors import Note
from halftruth.prior._belief import Curve

__all__ = ["Curve", "Fit"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Fit:
    """The α of one estimator, in [0, 1], and how it came about."""

    value: float
    curve: Curve | None = None
    notes: tuple[Note, ...] = ()
    replicates: Vector | None = None
    """Draws that show its error, where the estimator makes them itself; else it is resampled."""
