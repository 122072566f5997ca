"""What the cells of soft labels and votes must be, with what to do where they are not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector
from halftruth.files._number_columns import Demand


def shares(columns: Sequence[str], what: str, votes: str = "of votes, pass --votes") -> Demand:
    """Columns of probabilities."""

    def holds(*cells: Vector) -> Any:
        return np.all([(cell >= 0) & (cell <= 1) for cell in cells], axis=0)

    must = f"{what} must be probabilities in [0, 1]"
    return Demand(columns, holds, must, f"Divide percentages by 100; {votes}.")


def whole(columns: Sequence[str]) -> Demand:
    """Columns of votes."""

    def holds(*cells: Vector) -> Any:
        return np.all([(cell >= 0) & (cell == np.floor(cell)) for cell in cells], axis=0)

    def remedy(bad: NDArray[np.bool_], *cells: Vector) -> str:
        if any((cell != np.floor(cell)).any() for cell in cells):
            return "Shares of votes are probabilities: --soft or --classes without --counts."
        return "Repair or drop these rows."

    return Demand(columns, holds, "Votes must be whole numbers from 0", remedy)


def counts(classes: Sequence[str]) -> Iterator[Demand]:
    """The votes of all classes, a column each."""
    yield whole(classes)
    must = "A row must have at least one vote"
    yield Demand(classes, lambda *k: np.sum(k, axis=0) >= 1, must, "Drop rows without votes.")


def probabilities(classes: Sequence[str]) -> Iterator[Demand]:
    """The probabilities of all classes, a column each."""
    from halftruth.evidence._soft_labeled import UNEVEN

    yield shares(classes, "The columns of --classes", "where they hold votes, pass --counts")
    remedy = "Name the columns of all classes; where they hold votes, pass --counts."
    yield Demand(
        classes,
        lambda *q: np.abs(np.sum(q, axis=0) - 1) <= UNEVEN,
        "The probabilities of all classes must sum to 1",
        remedy,
    )
