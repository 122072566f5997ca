"""The labels of a table that is labeled in part, for learners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth import checks

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Strata:
    """Which rows are known positives, unlabeled, and known negatives."""

    positive: Mask
    unlabeled: Mask
    negative: Mask

    @property
    def sizes(self) -> tuple[int, int, int]:
        p, u, n = (int(mask.sum()) for mask in (self.positive, self.unlabeled, self.negative))
        return p, u, n

    @property
    def code(self) -> NDArray[np.int64]:
        """0, 1 and 2 for the three, to stratify by."""
        return self.unlabeled + 2 * self.negative.astype(np.int64)


def split_labels(y: Any, unlabeled: Any) -> Strata:
    """The strata of y: 1 positive, ``unlabeled`` or NaN unlabeled, 0 negative where it is not the code.

    Examples
    --------
    >>> split_labels([1, 0, 0], 0).sizes
    (1, 2, 0)
    >>> split_labels([1, -1, 0], -1).sizes
    (1, 1, 1)
    """
    missing = isinstance(unlabeled, float) and np.isnan(unlabeled)
    code = None if missing else unlabeled
    return Strata(**checks.partial_labels(y, "y", unlabeled=code, length=np.shape(y)[0] if np.ndim(y) else 0))
