"""How loops are compiled, cached, announced and spread over threads."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numba
import numpy as np
from numba.core import event
from numpy.typing import NDArray

from halftruth._checks import Vector

__all__ = [
    "BLOCK", "CHUNK_ROWS", "THREADS", "Integers", "chunks_of", "compiled", "each", "frozen", "padded",
    "three_strata",
]  # fmt: skip

Integers = NDArray[np.int64]

_numba: Any = numba  # its types cover only a part of it

THREADS: int = _numba.config.NUMBA_NUM_THREADS
CHUNKS = 64
CHUNK_ROWS = 1 << 18
BLOCK = 1024  # rows whose sums are made apart: they stay in a cache, and rounding does not grow with all rows


class _Notice(event.Listener):
    """Says once that kernels are being compiled; what comes from the cache raises no such event."""

    announced = False

    def on_start(self, event: event.Event) -> None:
        kernel = (event.data or {}).get("dispatcher")
        # Numba tells of every function that it compiles, those of other packages too.
        if self.announced or not str(getattr(kernel, "__module__", "")).startswith(__package__):
            return
        self.announced = True
        cached = getattr(getattr(kernel, "_cache", None), "cache_path", None) is not None
        use = "for this machine, once for each kind of data" if cached else "that no writable cache can keep"
        sys.stderr.write(f"halftruth: compiling kernels {use}; this takes some seconds.\n")

    def on_end(self, event: event.Event) -> None:
        pass


def compiled(function: Callable[..., Any]) -> Any:
    """The function as machine code, kept in Numba's cache where there is a place for one."""
    # Without the lock of the interpreter, so that plain threads share the work; x / 0 is as in NumPy.
    options = {"nogil": True, "error_model": "numpy"}
    try:
        return _numba.njit(cache=True, **options)(function)
    except RuntimeError:  # nowhere to keep what is compiled
        return _numba.njit(**options)(function)


_numba.core.event.register("numba:compile", _Notice())


def each(task: Callable[..., Any], jobs: Iterable[tuple[Any, ...]]) -> list[Any]:
    """``task(*job)`` of each job, in order."""
    jobs = list(jobs)
    if min(THREADS, len(jobs)) < 2:
        return [task(*job) for job in jobs]
    with ThreadPoolExecutor(min(THREADS, len(jobs))) as pool:
        return list(pool.map(lambda job: task(*job), jobs))


def frozen(values: Any, dtype: Any = np.float64) -> NDArray[Any]:
    """Contiguous and read-only, so that each kernel is compiled for one type of array."""
    out = np.ascontiguousarray(values, dtype=dtype).view()
    out.flags.writeable = False
    return out


def chunks_of(n: int, most: int = CHUNKS) -> list[tuple[int, int]]:
    """(start, stop) of at most so many parts of n rows."""
    # By the rows and never by the threads, so that sums over parts round alike on every machine.
    number = max(1, min(most, n // CHUNK_ROWS))
    return list(pairwise([n * i // number for i in range(number + 1)]))


def three_strata(strata: Sequence[Vector]) -> list[Vector]:
    """The strata, empty ones after them: a loop over three at once is compiled for any number up to that."""
    return [frozen(rows) for rows in (*strata, *[()] * (3 - len(strata)))]


def padded(coefficients: Vector) -> Vector:
    """A number for each of three strata, 0 for those that are not there."""
    return np.pad(np.asarray(coefficients, dtype=np.float64), (0, 3 - len(coefficients)))
