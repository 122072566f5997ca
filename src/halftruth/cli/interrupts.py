"""Ctrl-C, remembered: libraries in C turn it into errors of their own, DuckDB into a RuntimeError."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def remembered() -> Iterator[list[int]]:
    """Ctrl-C does what it does; what is yielded is no longer empty then."""
    pressed: list[int] = []

    def handler(number: int, frame: FrameType | None) -> None:
        pressed.append(number)
        signal.default_int_handler(number, frame)

    # Left alone where someone else decides: another thread, a job that ignores it.
    ours = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT)
    if not ours or before is not signal.default_int_handler:
        yield pressed
        return
    signal.signal(signal.SIGINT, handler)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)
