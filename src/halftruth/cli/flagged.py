"""That a threshold flags all cases or none: it is then hardly on the scale of the scores."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from halftruth.cli import streams

if TYPE_CHECKING:
    from halftruth.table._score_table import ScoreTable


def remark(tables: Iterable[ScoreTable], threshold: float | None, name: str = "") -> None:
    """Say so on stderr, where all of these tables are on one side of the threshold."""
    if threshold is None:
        return
    ends = [end for table in tables for end in _ends(table)]
    low, high = min(ends), max(ends)
    if low < threshold <= high:
        return
    of = f" of {name}" if name else ""
    what = "no case is" if threshold > high else "all cases are"
    streams.say(
        f"Note: The scores{of} lie from {low:g} to {high:g}, so {what} flagged by --threshold {threshold:g}. "
        f"Give it on the scale of the scores."
    )


def _ends(table: ScoreTable) -> Iterable[float]:
    from halftruth.table._histogram import Bins

    for rows in table.strata.values():
        low, high = (rows.low, rows.high) if isinstance(rows, Bins) else (rows.score, rows.score)
        yield from (float(low.min()), float(high.max()))
