"""Rows of two kinds, parted in one pass."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector
from halftruth.kernels.compiling import chunks_of, compiled, each, frozen


def split(score: Vector, chosen: NDArray[np.bool_]) -> tuple[Vector, Vector]:
    """The chosen scores and the others, each in their order."""
    score, chosen = frozen(score), frozen(chosen, np.bool_)
    chunks = chunks_of(len(score))
    counts = [int(np.count_nonzero(chosen[a:b])) for a, b in chunks]
    before = [0, *accumulate(counts)]
    kept, rest = np.empty(before[-1]), np.empty(len(score) - before[-1])
    each(
        _split,
        (
            (score[a:b], chosen[a:b], kept[n : n + count], rest[a - n : b - n - count])
            for (a, b), n, count in zip(chunks, before[:-1], counts, strict=True)
        ),
    )
    return kept, rest


@compiled
def _split(score: Any, chosen: Any, kept: Any, rest: Any) -> None:
    i = j = 0
    for k in range(len(score)):
        if chosen[k]:
            kept[i] = score[k]
            i += 1
        else:
            rest[j] = score[k]
            j += 1
