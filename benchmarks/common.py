"""How times are taken and shown."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

HEAD = ("", "halftruth", "peer", "ours / theirs", "theirs / ours", "wanted")
LINES: list[str] = []


def say(text: str = "") -> None:
    """Print a line and keep it for the results."""
    print(text, flush=True)
    LINES.append(text)


def section(title: str, *columns: str) -> None:
    """A heading and the head of its table."""
    say(f"\n## {title}\n")
    say("| " + " | ".join(columns) + " |")
    say("|---" * len(columns) + "|")


def row(*cells: str) -> None:
    """One line of a table."""
    say("| " + " | ".join(cells) + " |")


def seconds(call: Callable[[], Any], repeats: int = 3) -> float:
    """The least time of a few runs: what the machine can do when it is not disturbed."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def in_turn(*calls: Callable[[], Any], passes: int) -> list[float]:
    """The median time of each, one after the other, after one pass to warm up."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(passes + 1):
        for taken, call in zip(times, calls, strict=True):
            start = time.perf_counter()
            call()
            taken.append(time.perf_counter() - start)
    return [statistics.median(taken[1:]) for taken in times]


def duration(value: float) -> str:
    """Seconds for people."""
    return f"{value:.2f} s" if value >= 1 else f"{1e3 * value:.1f} ms"


def compared(what: str, ours: float, theirs: float, wanted: str = "") -> None:
    """Ours, theirs, and both ratios."""
    row(what, duration(ours), duration(theirs), f"{ours / theirs:.2f}", f"{theirs / ours:.1f}", wanted)
