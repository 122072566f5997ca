"""Many small tables of hard numbers in one, so that one query asks for all of them."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from .data import MARGINS, PROBABILITIES
from .reference import N_BINS, place


def hard(n_tables: int = 150, seed: int = 11) -> dict[str, list[Any]]:
    """The columns; each `month` is a table of up to 80 rows with many ties."""
    rng = np.random.default_rng(seed)
    size = rng.integers(1, 81, n_tables)
    n = int(size.sum())
    start = np.repeat(np.cumsum(size) - size, size)
    drawn = start + (rng.random(n) * np.repeat(np.ceil(size / 2), size)).astype(int)
    heavy = np.minimum(2.0 ** rng.integers(-10, 12, n) * rng.uniform(1, 2, n), 2.0**12)
    return {
        "score": _any_floats(rng, n, "probability")[drawn].tolist(),
        "margin": _any_floats(rng, n, "margin")[drawn].tolist(),
        "double": [[1.0, 0.0, float("nan"), None][k] for k in rng.integers(0, 4, n)],
        "weight": np.select([rng.random(n) < 0.2, rng.random(n) < 0.2], [1.0, 0.0], heavy).tolist(),
        "month": np.repeat(np.arange(n_tables), size).tolist(),
    }


def bin_ends(index: int, kind: str) -> tuple[float, float]:
    """The last score below a bin and the first in it or above."""
    low, high = (_rank(x) for x in ((0.0, 1.0) if kind == "probability" else (-1e308, 1e308)))
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if place(_float(middle), kind) < index else (low, middle)
    return _float(low), _float(high)


def _rank(x: float) -> int:
    """Floats counted: the next float has the next number."""
    bits = struct.unpack("<q", struct.pack("<d", abs(x)))[0]
    return -bits if x < 0 else bits


def _float(rank: int) -> float:
    x = struct.unpack("<d", struct.pack("<q", abs(rank)))[0]
    return -x if rank < 0 else x


def _any_floats(rng: np.random.Generator, n: int, kind: str) -> np.ndarray:
    """Ends of bins, floats as likely large as small, and special scores."""
    probability = kind == "probability"
    ends = [x for k in rng.integers(1, N_BINS, n // 8) for x in bin_ends(int(k), kind)]
    sizes = 10.0 ** rng.uniform(-320, 0 if probability else 307, n)
    either = np.where(rng.random(n) < 0.5, sizes, 1 - sizes ** (1 / 20))
    spread = either if probability else sizes * rng.choice([-1, 1], n)
    special = rng.choice(PROBABILITIES if probability else MARGINS, n)
    return np.select([rng.random(n) < 0.5, rng.random(n) < 0.5], [rng.choice(ends, n), spread], special)
