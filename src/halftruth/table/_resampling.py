"""Resampled sums: rows drawn again as the data came, as counts on the distinct rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth.table._support import Cells, Sums, Support

CHUNK = 1 << 17  # numbers in one array of a chunk of resamples: small enough to stay in a processor's cache


def resampled_sums(
    support: Support, n_resamples: int, rng: np.random.Generator, *, one_sample: bool
) -> Iterator[Sums]:
    """Sums of ``n_resamples`` resamples, in chunks along the first axis.

    ``one_sample``: rows of all strata are drawn together, so that stratum sizes vary; else each
    stratum is drawn by itself.
    """
    for size in chunks(n_resamples, len(support.score)):
        yield resample(support, size, rng, one_sample=one_sample)


def chunks(n_resamples: int, width: int) -> Iterator[int]:
    """Numbers of resamples that are drawn at once, each ``width`` numbers wide."""
    step = max(1, CHUNK // width)
    for start in range(0, n_resamples, step):
        yield min(step, n_resamples - start)


def resample(support: Support, n: int, rng: np.random.Generator, *, one_sample: bool) -> Sums:
    """Sums of ``n`` resamples."""
    drawn = draw_sizes(support.strata, n, rng, one_sample=one_sample)
    counts = {name: draw_counts(cells, drawn[name], rng) for name, cells in support.strata.items()}
    return support.sums(counts, rng)


def draw_sizes(
    strata: Mapping[str, Cells], n: int, rng: np.random.Generator, *, one_sample: bool
) -> dict[str, NDArray[Any]]:
    """How many rows of each stratum are in each of ``n`` resamples."""
    rows = np.asarray([cells.n_rows for cells in strata.values()])
    if one_sample:
        drawn = rng.multinomial(rows.sum(), rows / rows.sum(), size=n).T
    else:
        drawn = np.repeat(rows[:, None], n, axis=1)
    return dict(zip(strata, drawn, strict=True))


def draw_counts(cells: Cells, n_drawn: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """How often each cell is drawn, (len(n_drawn), n_cells), by ``n_drawn`` draws of rows each."""
    n_cells, n_rows = len(cells.count), cells.n_rows
    if n_rows > 8 * n_cells:
        return rng.multinomial(n_drawn, cells.count / n_rows)
    row = rng.integers(0, n_rows, size=int(n_drawn.sum()), dtype=np.int32)
    cell = row if n_rows == n_cells else np.repeat(np.arange(n_cells, dtype=np.int32), cells.count)[row]
    flat = cell + np.repeat(np.arange(len(n_drawn)) * n_cells, n_drawn)
    return np.bincount(flat, minlength=len(n_drawn) * n_cells).reshape(len(n_drawn), n_cells)
