"""Grid: a fixed partition of the score axis, defined once for every engine."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from halftruth import _checks
from halftruth._checks import Vector
from halftruth._errors import InputError

N_BINS = 1 << 16


class Ops(Protocol):
    """The functions by which an engine places scores in bins, beside its own +, −, × and ÷."""

    def sqrt(self, x: Any, /) -> Any: ...
    def abs(self, x: Any, /) -> Any: ...
    def floor(self, x: Any, /) -> Any: ...
    def minimum(self, x: Any, most: float, /) -> Any: ...
    def where(self, condition: Any, yes: Any, no: Any, /) -> Any: ...


NUMPY = cast("Ops", np)


@dataclass(frozen=True)
class Grid:
    """A fixed partition of the score axis, the same on every machine and in every engine.

    Parameters
    ----------
    kind : {"probability", "margin"}
        "probability": for scores in [0, 1], equal steps of s^⅛ − (1−s)^⅛, so that bins shrink towards 0 and
        1, where scores pile up; 0 and 1 have bins of their own. "margin": for scores of any range, equal
        steps of ±(1 − (1+|z|)^−⅛) with z = (score − center) / scale.
    center, scale : float
        Of margins: where bins are finest, and over which distance.
    n_bins : int

    Notes
    -----
    Only +, −, ×, ÷ and √ are used, which IEEE 754 rounds alike everywhere; a logarithm would not be.

    Examples
    --------
    >>> from halftruth.table._grid import Grid
    >>> Grid("probability").bins([0.0, 1e-9, 0.5, 1.0]).tolist()
    [0, 2458, 32769, 65537]
    """

    kind: str
    center: float = 0.0
    scale: float = 1.0
    n_bins: int = N_BINS

    def __post_init__(self) -> None:
        advice = "Pass the distance over which scores vary."
        # Plain numbers: they are written into SQL and JSON.
        plain = {
            "kind": _checks.choice(self.kind, "grid", ("probability", "margin")),
            "center": _checks.finite(self.center, "center"),
            "scale": _checks.inside(self.scale, "scale", 0.0, np.inf, advice=advice),
            "n_bins": _checks.count(self.n_bins, "n_bins", least=2),
        }
        for name, value in plain.items():
            object.__setattr__(self, name, value)
        if self.n_bins % 2 or self.n_bins > 1 << 24:
            raise InputError(argument="n_bins", must="be even and at most 2^24", got=self.n_bins)

    @property
    def n_slots(self) -> int:
        """Bins in all, those of exactly 0 and 1 included."""
        return self.n_bins + (2 if self.kind == "probability" else 0)

    def index(self, score: Any, ops: Ops) -> Any:
        """The bin of a score as a whole number, in the floating arithmetic of any engine."""
        half, last = float(self.n_bins // 2), float(self.n_bins - 1)
        if self.kind == "probability":
            at = ops.floor(((_root(score, ops) - _root(1.0 - score, ops)) + 1.0) * half)
            inner = ops.minimum(at, last) + 1.0
            return ops.where(score == 0.0, 0.0, ops.where(score == 1.0, last + 2.0, inner))
        z = (score - self.center) / self.scale
        q = _root(1.0 / (ops.abs(z) + 1.0), ops)
        t = ops.where(z >= 0.0, 1.0 - q, q - 1.0)
        return ops.minimum(ops.floor((t + 1.0) * half), last)

    def bins(self, score: Any) -> NDArray[np.int32]:
        """The bin of each score."""
        return np.asarray(self.index(np.asarray(score, dtype=np.float64), NUMPY)).astype(np.int32)

    def starts(self) -> Vector:
        """Where each bin starts, or nearly: ascending, and finite."""
        if self.kind == "margin":
            t = 2 * np.arange(self.n_bins) / self.n_bins - 1
            with np.errstate(divide="ignore", over="ignore"):
                away = np.copysign((1 - np.abs(t)) ** -8.0 - 1, t) * self.scale + self.center
            return np.clip(away, -np.finfo(np.float64).max, np.finfo(np.float64).max)
        low, high = np.zeros(self.n_slots), np.ones(self.n_slots)
        for _ in range(64):
            middle = low / 2 + high / 2
            reached = self.bins(middle) >= np.arange(self.n_slots)
            low, high = np.where(reached, low, middle), np.where(reached, middle, high)
        return low

    def __str__(self) -> str:
        where = f", center {self.center:g}, scale {self.scale:g}" if self.kind == "margin" else ""
        return f"{self.kind} grid of {self.n_bins:,} bins{where}"

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def _root(x: Any, ops: Ops) -> Any:
    return ops.sqrt(ops.sqrt(ops.sqrt(x)))


def grid_for(scores: Vector) -> Grid:
    """The grid for scores that none was named for."""
    return Grid("probability" if scores.min() >= 0 and scores.max() <= 1 else "margin")
