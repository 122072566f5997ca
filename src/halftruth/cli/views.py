"""Results as the formats need them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from halftruth.cli.render import Block, Cell

if TYPE_CHECKING:
    from halftruth.compared import Comparison
    from halftruth.results import Evaluation

SCHEMA = 1
NUMBERS = ("naive", "value", "low", "high", "confidence_level", "method")


@dataclass(frozen=True)
class Evaluations:
    """One evaluation, under the empty name, or one for each value of the column ``by``."""

    groups: dict[str, Evaluation]
    by: str | None = None

    @cached_property
    def titled(self) -> dict[str, Evaluation]:
        """By heading; an empty one where nothing is split."""
        return {heading(self.by, group): result for group, result in self.groups.items()}

    def blocks(self) -> list[Block]:
        return [
            Block(
                heading=title,
                above=(result._title(), result._shares()),
                header=result._header,
                lines=list(result._table()),
            )
            for title, result in self.titled.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        results = {group: result.to_dict() for group, result in self.groups.items()}
        return results[""] if self.by is None else {"schema": SCHEMA, "by": self.by, "groups": results}

    def records(self) -> Iterator[Sequence[Cell]]:
        yield [*([] if self.by is None else [self.by]), "metric", *NUMBERS]
        for group, result in self.groups.items():
            for name, row in result.items():
                lead = [] if self.by is None else [group]
                yield [*lead, name, *(getattr(row, column) for column in NUMBERS)]

    def notes(self) -> list[str]:
        """Every note once, with the groups it is about where it is not about all."""
        about: dict[str, list[str]] = {}
        for title, result in self.titled.items():
            for line in filter(None, result._note_lines()):
                about.setdefault(line.removeprefix("Note: "), []).append(title)
        return [
            note if len(titles) == len(self.groups) else f"{_several(titles)}: {note}"
            for note, titles in about.items()
        ]


def heading(by: str | None, group: str) -> str:
    """The name of a group."""
    return "" if by is None else f"{by} = {group}"


def _several(titles: Sequence[str], shown: int = 3) -> str:
    more = len(titles) - shown
    return ", ".join(titles[:shown]) + (f" and {more} more" if more > 0 else "")


@dataclass(frozen=True)
class Compared:
    """A comparison of two models or more."""

    comparison: Comparison

    def blocks(self) -> list[Block]:
        c = self.comparison
        tables = {pair: c.table(pair) for pair in c}
        return [
            Block(
                heading=f"{a} against {b}" if len(tables) > 1 else "",
                above=(f"{a}: {c.evidence[a]}", f"{b}: {c.evidence[b]}"),
                header=lines[0],
                lines=lines[1:],
                below=(c.verdict,) if i == len(tables) - 1 else (),
            )
            for i, ((a, b), lines) in enumerate(tables.items())
        ]

    def to_dict(self) -> dict[str, Any]:
        return self.comparison.to_dict()

    def records(self) -> Iterator[Sequence[Cell]]:
        numbers = ("value", "low", "high", "confidence_level", "method")
        yield [
            "first",
            "second",
            "metric",
            "first_value",
            "second_value",
            "difference",
            *numbers[1:],
            "flips",
        ]
        for pair, rows in self.comparison.pairs.items():
            for name, row in rows.items():
                flips = ";".join(map(repr, row.flips))
                yield [*pair, name, *row.values, *(getattr(row, number) for number in numbers), flips]

    def notes(self) -> list[str]:
        return list(self.comparison.notes)
