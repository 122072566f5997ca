"""One self-contained HTML page: headings, text, tables and figures, light and dark."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from halftruth import _storage
from halftruth._errors import InputError
from halftruth_papers import drawing as reproduction

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Cell: TypeAlias = str | float | int | None
DIGITS = 3

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --soft: #5a6470; --line: #d5dae0;
  --band: rgba(90, 110, 130, .07); --shade: rgba(40, 60, 80, .28); }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e8ec; --paper: #14181d; --soft: #9aa5b1; --line: #38414b;
    --band: rgba(150, 170, 190, .08); --shade: rgba(190, 215, 240, .28); }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 72rem;
  color: var(--ink); background: var(--paper);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.25; }
h2 { font-size: 1.25rem; margin-top: 2.4rem; padding-top: .6rem; border-top: 1px solid var(--line); }
p { max-width: 46rem; }
/* A shade at the edge behind which there is more to scroll to: what moves with the table covers it. */
.table { overflow-x: auto; margin: 1.2rem 0; padding-bottom: .4rem; width: fit-content; max-width: 100%;
  background: linear-gradient(var(--paper), var(--paper)) right / 1.6rem 100% no-repeat local,
    linear-gradient(to left, var(--shade), transparent) right 1px top / 1.5rem 100% no-repeat scroll; }
table { border-collapse: collapse; font-size: .86rem; font-variant-numeric: tabular-nums; }
caption { caption-side: top; text-align: left; color: var(--soft); padding-bottom: .5rem; }
th, td { padding: .22rem .6rem; text-align: right; white-space: nowrap; }
th { border-bottom: 1px solid var(--ink); vertical-align: bottom; }
th:first-child, td:first-child { text-align: left; position: sticky; left: 0; background: var(--paper); }
tbody tr:nth-child(even) td { background-color: var(--band); }
tbody tr:nth-child(even) td:first-child {
  background: linear-gradient(var(--band), var(--band)), var(--paper); }
figure { margin: 1.4rem 0; }
figure > div { width: fit-content; max-width: 100%; padding: .4rem; overflow-x: auto;
  background: #fff; border-radius: 6px; }
figure svg { display: block; max-width: 100%; height: auto; }
figcaption { color: var(--soft); font-size: .9rem; margin-top: .4rem; max-width: 46rem; }
""".strip()


class Page:
    r"""A page that is filled from top to bottom, then written with its tables as CSV files beside it.

    All text is escaped. Figures are inlined as SVG, so that the page is one file and asks for nothing.

    Parameters
    ----------
    title : str

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> page = Page("Areas")
    >>> page.heading("By data set")
    >>> page.text("Recovered from positives and unlabeled.")
    >>> page.table(["data", "AUC"], [["wine", 0.7512]], csv="areas")
    >>> with TemporaryDirectory() as folder:
    ...     path = page.write(folder, "areas")
    ...     path.name, (path.parent / "areas.csv").read_text()
    ('areas.html', 'data,AUC\nwine,0.7512\n')
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self._parts: list[str] = []
        self._files: dict[str, str] = {}

    def heading(self, text: str) -> None:
        """Begin a section."""
        self._parts.append(f"<h2>{escape(text)}</h2>")

    def text(self, text: str) -> None:
        """Add a paragraph."""
        self._parts.append(f"<p>{escape(text)}</p>")

    def table(
        self,
        columns: Sequence[str],
        rows: Iterable[Sequence[Cell]],
        caption: str | None = None,
        *,
        csv: str | None = None,
    ) -> None:
        """Add a table. Floats are shown with three decimals; in the CSV file ``csv`` they stand in full."""
        lines = [list(row) for row in rows]
        uneven = next((row for row in lines if len(row) != len(columns)), None)
        if uneven is not None:
            raise InputError(
                f"Every row must have {len(columns)} cells, as there are columns; got {uneven!r}."
            )
        above = "" if caption is None else f"<caption>{escape(caption)}</caption>"
        head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
        body = "\n".join(f"<tr>{''.join(f'<td>{escape(shown(c))}</td>' for c in row)}</tr>" for row in lines)
        inner = f"{above}<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>"
        self._parts.append(f'<div class="table"><table>{inner}</table></div>')
        if csv is not None:
            self._files[_name(csv, ".csv")] = as_csv(columns, lines)

    def file(self, name: str, columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> None:
        """Add a table to the CSV files alone."""
        self._files[_name(name, ".csv")] = as_csv(columns, rows)

    def figure(self, figure: Figure, name: str, caption: str) -> None:
        """Add a matplotlib figure, also written as ``name``.svg; it is a target for links of that name."""
        anchor = _name(name, "")
        drawn = reproduction.svg(figure, anchor)
        self._files[_name(name, ".svg")] = drawn
        self._parts.append(
            f'<figure id="{anchor}" role="group" aria-label="{escape(caption)}">\n'
            f"<div>{drawn}</div>\n"
            f"<figcaption>{escape(caption)}</figcaption></figure>"
        )

    def write(self, folder: str | Path, name: str) -> Path:
        """Write ``name``.html, its figures as SVG, and tables that asked for it as CSV; the page's path."""
        target = Path(folder) / _name(name, ".html")
        for file, text in self._files.items():
            _storage.write(target.parent / file, text)
        _storage.write(target, self.html())
        return target

    def html(self) -> str:
        """The page as text."""
        title = escape(self.title)
        body = "\n".join(self._parts)
        return (
            f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{title}</title>\n'
            f"<style>\n{STYLE}\n</style>\n</head>\n<body>\n<h1>{title}</h1>\n{body}\n</body>\n</html>\n"
        )


def shown(cell: Cell) -> str:
    """A cell for people: floats with three decimals, nothing where there is no number."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return "–"
    return f"{cell:.{DIGITS}f}" if isinstance(cell, float) else str(cell)


def as_csv(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """A table as CSV, floats in full, an empty cell where there is no number."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_full(cell) for cell in row] for row in rows)
    return out.getvalue()


def _full(cell: Cell) -> str:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    return repr(float(cell)) if isinstance(cell, float) else str(cell)


def _name(name: str, suffix: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", name):
        raise InputError(f"A name must be letters, digits, '-' and '_', got {name!r}.")
    return name + suffix
