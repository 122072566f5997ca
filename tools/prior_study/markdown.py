"""Tables, numbers and prose as the page shows them."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Mapping, Sequence

from halftruth.prior import _methods as methods

WIDTH = 118
NOT_RUN = "*Not run yet.*"
ASSUMED = {
    methods.SHAPES: "a usual overlap",
    methods.IRREDUCIBLE: "irreducibility",
    methods.SEPARABLE: "no overlap",
    methods.TILT: "an exponential tilt",
    methods.NEGATIVES: "random known negatives",
}
"""What a method assumes, in a few words."""


def assumed(method: methods.Method) -> str:
    """In a few words where there are some."""
    return ASSUMED.get(method.shapes, method.assumption)


def wrapped(text: str) -> str:
    """Paragraphs of prose in lines of one width; lists, tables and headings as they are."""
    blocks = text.split("\n\n")
    return "\n\n".join(
        block if block[:1] in "|#-<*" or block[:1].isdigit() else _filled(block) for block in blocks
    )


def _filled(prose: str) -> str:
    # Code is kept on one line: its spaces are none while lines are broken.
    held = re.sub("`[^`]*`", lambda code: code[0].replace(" ", "\0"), prose)
    return textwrap.fill(held, WIDTH, break_long_words=False, break_on_hyphens=False).replace("\0", " ")


def number(value: float | None, digits: int = 3) -> str:
    """A number, or a dash where there is none."""
    return "–" if value is None or math.isnan(value) else f"{value:.{digits}f}"


def signed(value: float | None) -> str:
    """A number with its sign."""
    return "–" if value is None or math.isnan(value) else f"{value:+.3f}".replace("-", "−")


def interval(found: Mapping[str, float]) -> str:
    """Both ends."""
    return f"{found['low']:.3f} to {found['high']:.3f}"


def named(method: str) -> str:
    """A method as code, with what was said of it."""
    name, comma, rest = method.partition(",")
    return f"`{name}`{comma}{rest}" if name in methods.METHODS else method


def names(given: Sequence[str]) -> str:
    """A, b and c."""
    return " and ".join(filter(None, (", ".join(given[:-1]), given[-1])))


def times(count: int, word: str) -> str:
    """How many, in words."""
    return f"one {word}" if count == 1 else f"{count} {word}s"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; or a word, if there is nothing to show."""
    if len(head) < 2 or not rows:
        return NOT_RUN
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def best_in_bold(
    columns: Sequence[str], rows: Mapping[str, Mapping[str, float | None]], outside: Sequence[str] = ()
) -> str:
    """A table of errors, the least of each column in bold; rows ``outside`` do not compete."""
    shown = {name: [number(row.get(column)) for column in columns] for name, row in rows.items()}
    competing = [cells for name, cells in shown.items() if name not in outside]
    # Shares of equal length order as words, before the dash.
    least = [min(cells, default="") for cells in zip(*competing, strict=True)]

    def marked(name: str) -> list[str]:
        if name in outside:
            return shown[name]
        pairs = zip(shown[name], least, strict=True)
        return [f"**{cell}**" if cell == best != "–" else cell for cell, best in pairs]

    return table(["method", *columns], [[named(name), *marked(name)] for name in rows])


def mean(values: Sequence[float | None]) -> float | None:
    """The mean of what there is."""
    given = [value for value in values if value is not None]
    return sum(given) / len(given) if given else None


def mean_size(values: Sequence[float]) -> float | None:
    """The mean of the absolute values."""
    return mean([abs(value) for value in values])
