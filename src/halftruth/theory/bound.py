"""What a theorem says: a number, what it is the sum of, and whether it says anything."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from halftruth import _checks
from halftruth._errors import InputError


@dataclass(frozen=True)
class Bound:
    """An upper bound, with the terms it is the sum of.

    Parameters
    ----------
    value : float
        The bound, as the theorem has it: never clipped.
    terms : mapping of str to float
        What `value` is the sum of.
    note : str
        What is bounded, and that the bound says nothing where it does not.

    Examples
    --------
    >>> from halftruth import theory
    >>> bound = theory.bias_bound(1_000, 10_000, 0.5, 9, lipschitz=1.5)
    >>> round(float(bound), 2), bound.informative
    (0.44, True)
    >>> list(bound.terms)
    ['binning', 'edges', 'bin masses', 'sampling']
    """

    value: float
    terms: Mapping[str, float]
    note: str

    @property
    def informative(self) -> bool:
        """Whether the bound is below 1, the most that an error of probabilities can be anyway."""
        return self.value < 1

    def __float__(self) -> float:
        return self.value


def total(terms: dict[str, float], note: str) -> Bound:
    """The sum of the terms; a sum of 1 or more is kept, and said to say nothing."""
    value = math.fsum(terms.values())
    if not value < 1:
        note = f"{note} The bound, {value:.3g}, is not below 1: it says nothing."
    return Bound(value=value, terms=MappingProxyType(dict(terms)), note=note)


def size(value: Any, name: str, *, least: int = 1) -> float:
    """A number of rows: whole, or infinite for an expectation that is known exactly."""
    out = _checks.number(value, name, "Pass a number of rows, or math.inf.")
    if out < least or (math.isfinite(out) and out != math.floor(out)):
        raise InputError(
            argument=name,
            must=f"be a whole number of at least {least} or math.inf",
            got=repr(value),
            remedy="Pass a number of rows.",
        )
    return out


def variance(n_positive: Any, n_unlabeled: Any, prior: Any) -> float:
    """π²/n_P + 1/n_U: what stands for 1/n in every bound from positives and unlabeled."""
    positive, unlabeled = size(n_positive, "n_positive"), size(n_unlabeled, "n_unlabeled")
    return _checks.share(prior, "prior") ** 2 / positive + 1 / unlabeled


def lipschitz_constant(value: Any) -> float:
    """A finite number not below 0."""
    advice = "Pass the largest slope of E[Y | score] along the score; 1 for calibrated scores."
    return _checks.inside(value, "lipschitz", 0.0, math.inf, closed="left", advice=advice)
