"""Rows added to dense histograms, batch after batch in place or all at once without a sort.

A histogram is an array (slots, columns) of integers: rows; Σ w s where the scores are probabilities; Σ w and
Σ w² where there are weights; and of soft labels Σ w q, Σ w q², Σ w over q ≥ ½, Σ w q s of probabilities,
Σ w² q and Σ w² q² of weighted rows. The last two columns are the lowest and the highest score, as bits:
a bin that a row touches lies in one place.
"""

from __future__ import annotations

from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector
from halftruth.kernels import _compiling
from halftruth.kernels._compiling import BLOCK, Integers, chunks_of, compiled, each, frozen

__all__ = ["add_rows", "bin_rows", "bins_of", "joined", "width_moments"]

ROUNDING = 2.0**-22
"""How far s^⅛ − (1−s)^⅛ may be off in single precision: 1.875 · 2⁻²⁴ of two roots that add up to < 1.84."""
TINY = 1e-30
"""Scores up to this are left to double precision: below about 1e-38 single has few digits, and nothing at all
where denormals are flushed to zero (torch.set_flush_denormal)."""
MOST_SINGLE = 1 << 18  # bins up to which that decides for nearly all scores


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
def _bins_of(score: Any, grid: Any, out: Any) -> None:
    probability, center, scale, n_bins = grid
    if not probability:
        for i in range(len(score)):
            # Any number onto (−1, 1), finest around the center; roots are rounded alike by every engine.
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


MOST_HELD = 1 << 26
"""Integers in the histograms of all threads together, 512 MB, unless a single one is larger."""


class GridNumbers(TypedDict):
    """What a grid is made of: "probability" scores, or any on a scale of their own."""

    kind: str
    center: float
    scale: float
    n_bins: int


def _as_tuple(grid: GridNumbers) -> tuple[bool, float, float, int]:
    """The same as kernels take it: compiled code knows no words."""
    return grid["kind"] == "probability", grid["center"], grid["scale"], grid["n_bins"]


def add_rows(
    score: NDArray[Any],
    target: NDArray[Any],
    weight: Vector | None,
    state: Integers,
    *,
    n_strata: int,
    unlabeled: float,
    **grid: Unpack[GridNumbers],
) -> int:
    """Add rows to a histogram in place, or none of them if any has no place; how many have none.

    One stratum takes soft labels q in [0, 1]. Of two or three, which follow each other, the first holds
    targets 1 and the last targets 0; the middle one of three holds NaN and ``unlabeled``.
    Scores are float32 or float64, targets these or int64: a copy of either costs as much as a look.
    """
    scores, targets = frozen(score, score.dtype), frozen(target, target.dtype)
    weights = frozen(() if weight is None else weight)
    numbers = _as_tuple(grid)
    bad = _bad_scores(scores, numbers[0]) + _bad_targets(targets, n_strata, unlabeled)
    if not bad:
        _add(scores, targets, weights, state, n_strata, unlabeled, numbers)
    return int(bad)


def bin_rows(
    score: Vector, weight: Vector | None = None, value: Vector | None = None, **grid: Unpack[GridNumbers]
) -> Integers:
    """The histogram of one stratum of checked rows; ``value`` holds their soft labels."""
    scores, weights, values = (frozen(() if x is None else x) for x in (score, weight, value))
    soft, weighted = value is not None, weight is not None
    numbers = _as_tuple(grid)
    probability = numbers[0]
    slots = grid["n_bins"] + 2 * probability
    columns = 3 + probability + 2 * weighted + soft * (3 + probability + 2 * weighted)
    chunks = chunks_of(len(scores))
    # Integers and extremes may be added in any order, so a thread keeps one histogram.
    workers = max(1, min(_compiling.THREADS, len(chunks), MOST_HELD // (slots * columns)))

    def binned(chunks: list[tuple[int, int]]) -> Integers:
        state = np.zeros((slots, columns), np.int64)
        state.view(np.float64)[:, -2:] = np.inf, -np.inf
        for start, stop in chunks:
            rows = (x[start:stop] for x in (scores, values, weights))
            _add(*rows, state, 1, np.nan, numbers)
        return state

    return joined(each(binned, ((chunks[i::workers],) for i in range(workers))))


def bins_of(score: Vector, **grid: Unpack[GridNumbers]) -> Integers:
    """The bin of each of checked scores."""
    out = np.empty(len(score), np.int64)
    numbers, scores = _as_tuple(grid), frozen(score)
    each(lambda a, b: _bins_of(scores[a:b], numbers, out[a:b]), chunks_of(len(score)))
    return out


def joined(states: list[Integers]) -> Integers:
    """One histogram of many, which is written over the first."""
    first, *rest = states
    ends = first.view(np.float64)
    for state in rest:
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
    # Good rows are counted without a branch, so that loops take several rows at a time; NaN compares false.
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
def _add(score: Any, target: Any, weight: Any, state: Any, n_strata: Any, unlabeled: Any, grid: Any) -> None:
    probability, _, _, n_bins = grid
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
        _bins_of(s[:n], grid, key)
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


NEAR = 0.5 - 1e-8
"""How far from the middle of a bin, in bins, a score lies on its edge as far as rounding can tell."""


def width_moments(score: Vector, n_bins: int) -> Vector:
    """n, Σ s and Σ s² (3, n_bins) of scores in [0, 1] over bins (b/B, (b+1)/B], the first closed at 0."""
    score, edges = frozen(score), frozen(np.arange(n_bins + 1) / n_bins)
    moments = each(_width_moments, ((score[a:b], edges) for a, b in chunks_of(len(score))))
    return np.asarray(np.sum(moments, axis=0).T)


@compiled
def _width_moments(score: Any, edges: Any) -> Any:
    n_bins = len(edges) - 1
    out = np.zeros((n_bins, 3))
    # Sums of a block are added to those of the blocks before, so that rounding does not grow with the rows.
    of_block = np.zeros((n_bins, 3))
    for start in range(0, len(score), BLOCK * 16):
        of_block[:] = 0
        for i in range(start, min(start + BLOCK * 16, len(score))):
            s = score[i]
            x = s * n_bins
            b: Any = np.int64(x)
            # Near an edge the product may round over it, and the edge belongs to the bin below it.
            if abs(x - b - 0.5) > NEAR:
                b = min(b, n_bins - 1)
                b += s > edges[b + 1]
                b -= (s <= edges[b]) & (b > 0)
            of_block[b, 0] += 1
            of_block[b, 1] += s
            of_block[b, 2] += s * s
        out += of_block
    return out
