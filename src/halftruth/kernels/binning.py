"""The bins of scores, as `halftruth.table._grid` defines them."""

from __future__ import annotations

from typing import Any

import numpy as np

from halftruth.kernels.compiling import compiled

ROUNDING = 2.0**-22
"""How far s^⅛ − (1−s)^⅛ may be off in single precision: 1.875 · 2⁻²⁴ of two roots that add up to < 1.84."""
TINY = 1e-30
"""Scores up to this are left to double precision: below about 1e-38 single has few digits, and nothing at all
where denormals are flushed to zero (torch.set_flush_denormal)."""
MOST_SINGLE = 1 << 18
"""Bins up to which that decides for nearly all scores."""


@compiled
def _root(x: Any) -> Any:
    return np.sqrt(np.sqrt(np.sqrt(x)))


@compiled
def _bin(s: Any, n_bins: Any) -> Any:
    """The bin of a probability by IEEE +, −, ×, ÷ and √ alone, in this order: any engine finds the same."""
    inner = 1 + min(np.int64(((_root(s) - _root(1 - s)) + 1) * (n_bins / 2)), n_bins - 1)
    # Exactly 0 and 1 come out in the first and the last of these: one step beyond, without a branch.
    return inner + (s == 1) - (s == 0)


@compiled
def _bins_of(score: Any, probability: Any, center: Any, scale: Any, n_bins: Any, out: Any) -> None:
    if not probability:
        for i in range(len(score)):
            z = (score[i] - center) / scale
            q = _root(1 / (1 + abs(z)))
            t = 1 - q if z >= 0 else q - 1
            out[i] = min(np.int64((t + 1) * (n_bins / 2)), n_bins - 1)
    elif n_bins > MOST_SINGLE:
        for i in range(len(score)):
            out[i] = _bin(score[i], n_bins)
    else:
        _guess(score, n_bins, out)
        for i in range(len(score)):
            if out[i] < 0:
                out[i] = _bin(score[i], n_bins)


@compiled
def _guess(score: Any, n_bins: Any, out: Any) -> None:
    """Bins from roots in single precision, which are found faster; −1 near an edge, 0 and 1 too."""
    half = n_bins / 2
    slack = ROUNDING * half
    for i in range(len(score)):
        s = score[i]
        low, high = np.float64(_root(np.float32(s))), np.float64(_root(np.float32(1 - s)))
        at = ((low - high) + 1) * half
        k = np.int32(at)
        sure = (at - k > slack) & (at - k < 1 - slack) & (s > TINY)
        out[i] = 1 + k if sure else -1
