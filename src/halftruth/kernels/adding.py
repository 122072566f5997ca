"""Rows added to a dense histogram in place, batch after batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from halftruth.checks import Vector
from halftruth.kernels.binning import _bins_of
from halftruth.kernels.compiling import BLOCK, Integers, compiled, frozen


def add_rows(
    score: Any,
    target: Any,
    weight: Vector | None,
    state: Integers,
    *,
    n_strata: int,
    unlabeled: float,
    kind: str,
    center: float,
    scale: float,
    n_bins: int,
) -> int:
    """Add rows to a state (slots, columns) in place, or none of them if any has no place; how many have none.

    One stratum takes soft labels q in [0, 1]. Of two or three, the first holds targets 1 and the last targets
    0; the middle one of three holds NaN and ``unlabeled``.

    Columns: rows; Σ w s where the scores are probabilities; Σ w and Σ w² where there are weights; and of soft
    labels Σ w q, Σ w q², Σ w over q ≥ ½, Σ w q s of probabilities, Σ w² q and Σ w² q² of weighted rows.
    The last two are the lowest and the highest score, as bits: a bin that a row touches lies in one place.
    Scores are float32 or float64, targets these or int64: a copy of either costs as much as a look.
    """
    probability = kind == "probability"
    scores, targets = frozen(score, score.dtype), frozen(target, target.dtype)
    weights = frozen(() if weight is None else weight)
    bad = _bad_scores(scores, probability) + _bad_targets(targets, n_strata, unlabeled)
    if not bad:
        _add(scores, targets, weights, state, n_strata, unlabeled, probability, center, scale, n_bins)
    return int(bad)


@compiled
def _bad_scores(score: Any, probability: Any) -> Any:
    least, most = (0.0, 1.0) if probability else (-np.finfo(np.float64).max, np.finfo(np.float64).max)
    good = 0
    for i in range(len(score)):
        good += (score[i] >= least) & (score[i] <= most)
    return len(score) - good


@compiled
def _bad_targets(target: Any, n_strata: Any, unlabeled: Any) -> Any:
    good = 0
    if n_strata == 1:
        for i in range(len(target)):
            good += (target[i] >= 0) & (target[i] <= 1)
    elif n_strata == 2:
        for i in range(len(target)):
            good += (target[i] == 0) | (target[i] == 1)
    else:
        for i in range(len(target)):
            y = target[i]
            good += (y == 0) | (y == 1) | (y != y) | (y == unlabeled)
    return len(target) - good


@compiled
def _add(
    score: Any,
    target: Any,
    weight: Any,
    state: Any,
    n_strata: Any,
    unlabeled: Any,
    probability: Any,
    center: Any,
    scale: Any,
    n_bins: Any,
) -> Any:
    slots = n_bins + 2 if probability else n_bins
    weighted = len(weight) > 0
    first = 2 if probability else 1
    ends = state.view(np.float64)[:, -2:]
    key = np.empty(BLOCK, np.int64)
    s, w, q = np.empty(BLOCK), np.ones(BLOCK), np.empty(BLOCK)
    seen = 0
    for start in range(0, len(score), BLOCK):
        n = min(BLOCK, len(score) - start)
        _copy(score[start : start + n], s)
        _copy(target[start : start + n], q)
        if weighted:
            _copy(weight[start : start + n], w)
        _bins_of(s[:n], probability, center, scale, n_bins, key)
        if n_strata > 1:
            _to_strata(key[:n], q, unlabeled, slots * (n_strata - 1), slots * (n_strata == 3))
        seen += _touch(key[:n], state)
        _add_scores(key[:n], s, w, state, ends, probability)
        if weighted:
            _add_weights(key[:n], w, state[:, first:])
        if n_strata == 1:
            _add_labels(key[:n], s, w, q, state[:, first + 2 * weighted :], probability, weighted)
    return seen


@compiled
def _copy(values: Any, out: Any) -> None:
    for i in range(len(values)):
        out[i] = values[i] + 0.0  # −0.0 becomes 0.0


@compiled
def _to_strata(key: Any, y: Any, unlabeled: Any, to_last: Any, to_middle: Any) -> None:
    for i in range(len(key)):
        hidden = (y[i] != y[i]) | (y[i] == unlabeled)
        key[i] += to_middle if hidden else (to_last if y[i] == 0 else 0)


@compiled
def _touch(key: Any, state: Any) -> Any:
    """Bins brought into the cache, many at a time; a loop that writes to them would wait for one by one."""
    seen = 0
    for i in range(len(key)):
        seen += state[np.uintp(key[i]), 0]
    return seen


@compiled
def _fixed(x: Any) -> Any:
    return np.int64(np.floor(x * 2.0**32 + 0.5))


@compiled
def _add_scores(key: Any, s: Any, w: Any, sums: Any, ends: Any, probability: Any) -> None:
    for i in range(len(key)):
        b = np.uintp(key[i])  # unsigned, so that no index is taken to count from the end
        sums[b, 0] += 1
        if probability:
            sums[b, 1] += _fixed(w[i] * s[i])
        # Without a branch, which a processor would guess wrong and wait for memory to see it.
        ends[b, 0] = min(ends[b, 0], s[i])
        ends[b, 1] = max(ends[b, 1], s[i])


@compiled
def _add_weights(key: Any, w: Any, sums: Any) -> None:
    for i in range(len(key)):
        b = np.uintp(key[i])
        sums[b, 0] += _fixed(w[i])
        sums[b, 1] += _fixed(w[i] * w[i])


@compiled
def _add_labels(key: Any, s: Any, w: Any, q: Any, sums: Any, probability: Any, weighted: Any) -> None:
    for i in range(len(key)):
        b, v = np.uintp(key[i]), w[i] * q[i]
        sums[b, 0] += _fixed(v)
        sums[b, 1] += _fixed(w[i] * (q[i] * q[i]))
        if q[i] >= 0.5:
            sums[b, 2] += _fixed(w[i])
        if probability:
            sums[b, 3] += _fixed(v * s[i])
        if weighted:
            after = 4 if probability else 3
            sums[b, after] += _fixed(w[i] * v)
            sums[b, after + 1] += _fixed(v * v)
