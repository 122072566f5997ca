"""Progress of long work: on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["progress"]

_SHOWN = ContextVar("_SHOWN", default=False)


@contextmanager
def progress(title: str, total: int, *, long: bool) -> Iterator[Callable[[int], None]]:
    """A bar on stderr where that is a terminal, the work is long, and no bar of a larger work is shown.

    It yields what to call with the number of steps that were done.
    """
    if not (long and sys.stderr.isatty()) or _SHOWN.get():
        yield lambda steps: None
        return
    from rich.console import Console
    from rich.progress import Progress

    before = _SHOWN.set(True)
    try:
        with Progress(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(title, total=total)
            yield lambda steps: bar.advance(task, steps)
    finally:
        _SHOWN.reset(before)
