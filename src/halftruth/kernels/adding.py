"""Rows added to dense histograms: batch after batch in place, or all at once without a sort.

A histogram is an array (slots, columns) of integers: rows; Σ w s where the scores are probabilities; Σ w and
Σ w² where there are weights; and of soft labels Σ w q, Σ w q², Σ w over q ≥ ½, Σ w q s of probabilities,
Σ w² q and Σ w² q² of weighted rows. The last two columns are the lowest and the highest score, as bits:
a bin that a row touches lies in one place.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from halftruth._checks import Vector
from halftruth.kernels import compiling
from halftruth.kernels.binning import _bins_of
from halftruth.kernels.compiling import BLOCK, Integers, chunks_of, compiled, each, frozen

MOST_HELD = 1 << 26
"""Integers in the histograms of all threads together, 512 MB, unless a single one is larger."""


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
    """Add rows to a histogram in place, or none of them if any has no place; how many have none.

    One stratum takes soft labels q in [0, 1]. Of two or three, which follow each other, the first holds
    targets 1 and the last targets 0; the middle one of three holds NaN and ``unlabeled``.
    Scores are float32 or float64, targets these or int64: a copy of either costs as much as a look.
    """
    probability = kind == "probability"
    scores, targets = frozen(score, score.dtype), frozen(target, target.dtype)
    weights = frozen(() if weight is None else weight)
    bad = _bad_scores(scores, probability) + _bad_targets(targets, n_strata, unlabeled)
    if not bad:
        _add(scores, targets, weights, state, n_strata, unlabeled, probability, center, scale, n_bins)
    return int(bad)


def bin_rows(
    score: Vector,
    weight: Vector | None = None,
    value: Vector | None = None,
    *,
    kind: str,
    center: float,
    scale: float,
    n_bins: int,
) -> Integers:
    """The histogram of one stratum of checked rows; ``value`` holds their soft labels."""
    probability = kind == "probability"
    scores, weights, values = (frozen(() if x is None else x) for x in (score, weight, value))
    soft, weighted = value is not None, weight is not None
    slots = n_bins + 2 * probability
    columns = 3 + probability + 2 * weighted + soft * (3 + probability + 2 * weighted)
    chunks = chunks_of(len(scores))
    # Integers and extremes may be added in any order, so a thread keeps one histogram.
    workers = max(1, min(compiling.THREADS, len(chunks), MOST_HELD // (slots * columns)))

    def binned(own: Any) -> Integers:
        state = np.zeros((slots, columns), np.int64)
        state.view(np.float64)[:, -2:] = np.inf, -np.inf
        for start, stop in own:
            rows = (x[start:stop] for x in (scores, values, weights))
            _add(*rows, state, 1, np.nan, probability, center, scale, n_bins)
        return state

    return joined(each(binned, ((chunks[i::workers],) for i in range(workers))))


def joined(states: list[Integers]) -> Integers:
    """One histogram of many, which is written over the first."""
    first, *others = states
    ends = first.view(np.float64)
    for state in others:
        first[:, :-2] += state[:, :-2]
        np.minimum(ends[:, -2], state.view(np.float64)[:, -2], out=ends[:, -2])
        np.maximum(ends[:, -1], state.view(np.float64)[:, -1], out=ends[:, -1])
    return first


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
) -> None:
    slots = n_bins + 2 if probability else n_bins
    weighted, soft = len(weight) > 0, len(target) > 0 and n_strata == 1
    first = 2 if probability else 1
    ends = state.view(np.float64)[:, -2:]
    key = np.empty(BLOCK, np.int64)
    s, w, q = np.empty(BLOCK), np.ones(BLOCK), np.empty(BLOCK)
    for start in range(0, len(score), BLOCK):
        n = min(BLOCK, len(score) - start)
        _copy(score[start : start + n], s)
        if weighted:
            _copy(weight[start : start + n], w)
        _bins_of(s[:n], probability, center, scale, n_bins, key)
        if n_strata > 1:
            _to_strata(key[:n], target[start : start + n], unlabeled, slots, n_strata)
        _add_scores(key[:n], s, w, state, ends, probability)
        if weighted:
            _add_weights(key[:n], w, state[:, first:])
        if soft:
            _copy(target[start : start + n], q)
            _add_labels(key[:n], s, w, q, state[:, first + 2 * weighted :], probability, weighted)


@compiled
def _copy(values: Any, out: Any) -> None:
    for i in range(len(values)):
        out[i] = values[i] + 0.0  # −0.0 becomes 0.0


@compiled
def _to_strata(key: Any, y: Any, unlabeled: Any, slots: Any, n_strata: Any) -> None:
    to_last = slots * (n_strata - 1)
    if n_strata == 2:
        for i in range(len(key)):
            key[i] += to_last if y[i] == 0 else 0
    else:
        for i in range(len(key)):
            hidden = (y[i] != y[i]) | (y[i] == unlabeled)
            key[i] += slots if hidden else (to_last if y[i] == 0 else 0)


@compiled
def _fixed(x: Any) -> Any:
    return np.int64(x * 2.0**32 + 0.5)  # the floor of what is positive


@compiled
def _add_scores(key: Any, s: Any, w: Any, sums: Any, ends: Any, probability: Any) -> None:
    for i in range(len(key)):
        b, x = np.uintp(key[i]), s[i]  # unsigned, so that no index is taken to count from the end
        sums[b, 0] += 1
        if probability:
            sums[b, 1] += _fixed(w[i] * x)
        # Written whether or not it is new: a branch that is guessed wrong waits for memory to see it.
        low, high = ends[b, 0], ends[b, 1]
        ends[b, 0] = x if x < low else low
        ends[b, 1] = x if x > high else high


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
