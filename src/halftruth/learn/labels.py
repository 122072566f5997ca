"""The labels of a table that is labeled in part, for learners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError

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


def split_labels(y: Any, unlabeled: Any) -> Strata:
    """The strata of y: 1 positive, ``unlabeled`` or NaN unlabeled, 0 negative where it is not the code.

    Examples
    --------
    >>> split_labels([1, 0, 0], 0).sizes
    (1, 2, 0)
    >>> split_labels([1, -1, 0], -1).sizes
    (1, 1, 1)
    """
    code = code_of(unlabeled)
    values = _checks.vector(y, "y", missing=True, length=np.shape(y)[0] if np.ndim(y) else 0)
    positive, missing = values == 1, np.isnan(values)
    negative = (values == 0) & (code != 0)
    strata = Strata(positive, missing | (values == code), negative)
    _refuse_others(values, strata, code)
    if code == 0 and missing.any() and (values == 0).any():
        raise InputError(
            f"`y` holds both 0 ({int((values == 0).sum())} rows) and NaN ({int(missing.sum())}), and "
            f"`unlabeled` is 0. Pass unlabeled=np.nan if 0 is a known negative, or replace NaN by 0 if both "
            f"are unlabeled."
        )
    if not positive.any():
        raise InputError(
            "`y` has no positive row (no 1), so there is nothing to learn from. Mark known positives by 1."
        )
    if not strata.unlabeled.any():
        raise InputError(
            f"`y` has no unlabeled row (no {_shown(code)}). An ordinary classifier learns full labels; if "
            f"another code means unlabeled, name it: unlabeled=…"
        )
    return strata


def code_of(unlabeled: Any) -> float:
    """The code of unlabeled rows as a number; NaN, which needs none, where it is None or NaN."""
    missing = unlabeled is None or (isinstance(unlabeled, (float, np.floating)) and np.isnan(unlabeled))
    return np.nan if missing else _checks.unlabeled_code(unlabeled)


def _refuse_others(values: Vector, strata: Strata, code: float) -> None:
    others = ~(strata.positive | strata.unlabeled | strata.negative)
    if others.any():
        found = np.unique(values[others])
        shown = ", ".join(f"{x:g}" for x in found[:5]) + (", …" if len(found) > 5 else "")
        negatives = "" if code == 0 else ", 0 for known negatives"
        raise InputError(
            f"`y` must hold 1 for known positives{negatives} and {_shown(code)} for unlabeled rows; got "
            f"{shown} in {int(others.sum())} row(s), the first at index {int(np.argmax(others))}. Map your "
            f"labels, or name the code of unlabeled rows: unlabeled=…"
        )


def _shown(code: float) -> str:
    return "NaN" if np.isnan(code) else f"{code:g}"
