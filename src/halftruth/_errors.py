"""The exceptions of halftruth: every message says what was expected, what came and what to do."""

from __future__ import annotations


class HalftruthError(ValueError):
    """Base class of every error that halftruth raises on purpose."""


class InputError(HalftruthError):
    """An argument is not what it must be."""


class Refuted(InputError):
    """The data rule out what an argument says of the population."""


class NotIdentifiable(HalftruthError):
    """The evidence does not determine the quantity asked for."""


class MergeError(HalftruthError):
    """Two tables hold different things and cannot be merged."""


class MissingDependency(ImportError):
    """An optional library is needed for this call."""


class EmptyClassWarning(UserWarning):
    """One of the two classes has no mass, so a metric is undefined (NaN)."""
