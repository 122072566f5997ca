"""How loops are compiled, cached, announced and spread over threads."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numba
import numpy as np
from numba.core import event
from numpy.typing import NDArray

Integers = NDArray[np.int64]

_numba: Any = numba  # its types cover only a part of it

THREADS: int = _numba.config.NUMBA_NUM_THREADS
CHUNKS = 64
CHUNK_ROWS = 1 << 18
BLOCK = 1024


class _Notice(event.Listener):
    """Says once that kernels are being compiled; what comes from the cache raises no such event."""

    said = False

    def on_start(self, event: Any) -> None:
        kernel = (event.data or {}).get("dispatcher")
        if self.said or not str(getattr(kernel, "__module__", "")).startswith(__package__):
            return
        self.said = True
        kept = (
            "for this machine, once for each kind of data"
            if _cached(kernel)
            else "that no writable cache can keep"
        )
        sys.stderr.write(f"halftruth: compiling kernels {kept}; this takes some seconds.\n")

    def on_end(self, event: Any) -> None:
        pass


def _cached(kernel: Any) -> bool:
    return getattr(getattr(kernel, "_cache", None), "cache_path", None) is not None


def compiled(function: Callable[..., Any]) -> Any:
    """The function as machine code, kept in Numba's cache where there is a place for one."""
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


def chunks_of(n: int) -> list[tuple[int, int]]:
    """(start, stop) of parts of n rows; they depend on n alone."""
    number = max(1, min(CHUNKS, n // CHUNK_ROWS))
    return list(pairwise([n * i // number for i in range(number + 1)]))
