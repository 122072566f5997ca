"""Results as text: a table for people, JSON and CSV for programs, Markdown for pages.

Names that come from files are data: they are escaped for where they are shown, and never interpreted.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from halftruth.cli._terminal import Status, say, visible, write_result

__all__ = ["Block", "Cell", "View", "object_strictly", "render", "show"]

Cell = str | float | None


@dataclass(frozen=True, kw_only=True)
class Block:
    """One table for people: what stands above it, its lines, what stands below."""

    heading: str = ""
    above: tuple[str, ...] = ()
    header: tuple[str, ...]
    """Empty where there is no table."""
    lines: list[tuple[str, ...]]
    below: tuple[str, ...] = ()


class View(Protocol):
    """A result in the forms that the formats need."""

    def blocks(self) -> list[Block]:
        """For people."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        ...

    def records(self) -> Iterable[Sequence[Cell]]:
        """For CSV, a header first."""
        ...

    def notes(self) -> list[str]:
        """What goes to stderr."""
        ...


def show(view: View, style: str) -> None:
    """The result to stdout, its notes to stderr."""
    write_result(render(view, style))
    for note in view.notes():
        say(f"Note: {note}")


def object_strictly(objections: Iterable[str]) -> Status:
    """What `--strict` refuses, to stderr, and the exit status."""
    code = Status.FINE
    for objection in objections:
        code = Status.UNIDENTIFIED
        say(f"Not identifiable: {objection.removesuffix('.')} (--strict).")
    return code


def render(view: View, style: str) -> str:
    """The view in one of the formats, with a newline at its end."""
    styles: dict[str, Callable[[View], str]] = {
        "table": colored if sys.stdout.isatty() else plain,
        "json": as_json,
        "csv": as_csv,
        "markdown": markdown,
    }
    return styles[style](view)


def plain(view: View) -> str:
    """Aligned text."""
    return "\n".join(_aligned(block) for block in view.blocks())


def _aligned(block: Block) -> str:
    from halftruth.results._estimate import aligned

    heading = [visible(block.heading), "=" * len(visible(block.heading))] if block.heading else []
    above, below = (list(map(visible, texts)) for texts in (block.above, block.below))
    table = [[visible(cell) for cell in line] for line in (block.header, *block.lines)]
    rows = ["", *aligned(table)] if block.header else []
    text = [*heading, *above, *rows, *([""] if below else []), *below]
    return "\n".join(text) + "\n"


def colored(view: View) -> str:
    """The same for a terminal; lines are never cut, whatever its width."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(file=sys.stdout, highlight=False)
    console.width = max(console.width, *map(len, plain(view).splitlines())) + 32  # rich's own spacing
    with console.capture() as captured:
        for block in view.blocks():
            if block.heading:
                console.print(Text(visible(block.heading), style="bold underline"))
            for line in block.above:
                console.print(Text(visible(line)))
            table = Table(box=SIMPLE_HEAD)
            for i, word in enumerate(block.header):
                look = {"naive": "dim", "halftruth": "bold", "difference": "bold"}.get(word, "")
                table.add_column(
                    Text(visible(word)), style=look, justify="right" if i else "left", no_wrap=True
                )
            for cells in block.lines:
                table.add_row(*(Text(visible(cell)) for cell in cells))
            if block.header:
                console.print(table)
            for line in block.below:
                console.print(Text(visible(line)))
    return captured.get()


def as_json(view: View) -> str:
    """The same bytes each time; what a terminal might obey is escaped."""
    text = json.dumps(view.to_dict(), indent=2, sort_keys=False, ensure_ascii=False)
    return "".join(x if x.isprintable() or x == "\n" else json.dumps(x)[1:-1] for x in text) + "\n"


def as_csv(view: View) -> str:
    """One line a metric, numbers in full."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([_inert(cell) for cell in row] for row in view.records())
    return out.getvalue()


def _inert(cell: Cell) -> str:
    """A cell that no spreadsheet takes for a formula."""
    if isinstance(cell, str):
        return ("'" if cell.startswith(("=", "+", "-", "@", "\t", "\r")) else "") + visible(cell)
    return "" if cell is None or math.isnan(cell) else repr(float(cell))


def markdown(view: View) -> str:
    """Tables for pages that take Markdown."""
    return "\n".join(_page(block) for block in view.blocks())


def _page(block: Block) -> str:
    def row(cells: Sequence[str]) -> str:
        return f"| {' | '.join(map(_literal, cells))} |"

    text = [f"### {_literal(block.heading)}", ""] if block.heading else []
    text += ["  \n".join(map(_literal, block.above))]
    if block.header:
        text += ["", row(block.header), f"|:---|{'---:|' * (len(block.header) - 1)}", *map(row, block.lines)]
    text += ["", "  \n".join(map(_literal, block.below))] if block.below else []
    return "\n".join(text) + "\n"


def _literal(text: str) -> str:
    """Text without its meaning in Markdown or HTML; an underscore within a word has none."""
    return re.sub(r"[\\`*{}\[\]<>#|~&]|(?<![^\W_])_|_(?![^\W_])", r"\\\g<0>", visible(text))
