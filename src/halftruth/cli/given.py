"""The prior as it was given, to be shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from halftruth.evidence import Evidence


@dataclass(frozen=True)
class Prior:
    """What is taken for the share of positives in the population."""

    kind: str
    """"number", "range" or "estimate"."""
    value: float
    low: float
    high: float

    def text(self) -> str:
        """For people."""
        value, low, high = (f"{share:.4g}" for share in (self.value, self.low, self.high))
        if self.kind == "range":
            return f"π = {low} to {high}"
        return f"π = {value}" + (f", estimated ({low} to {high})" if self.kind == "estimate" else "")


def prior_of(evidence: Evidence) -> Prior | None:
    """The prior as it was given, or estimated, for the population of the evidence; None without one."""
    believed = evidence.prior
    if believed.value is None:
        return None
    low, high = evidence.prior_ends()
    if believed.estimate is None:
        return Prior("range" if believed.is_range else "number", (low + high) / 2, low, high)
    value = believed.value
    if evidence.population is not None:  # an estimate is that of the unlabeled alone
        value = float(np.asarray(evidence.measure().prior))
    return Prior("estimate", value, low, high)
