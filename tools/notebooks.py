"""The notebooks of examples/, made from the tutorials: ``python -m tools.notebooks``, or ``make examples``.

A tutorial is written once, in docs/tutorials, where tests run it. Its sessions become cells of code, each
with the output that the page shows, its commands become cells that call the shell, and the rest becomes text.
"""

from __future__ import annotations

import doctest
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGES, FOLDER = ROOT / "docs" / "tutorials", ROOT / "examples"
BLOCK = re.compile(r"^```(?:python\n(?=>>> )|console\n)(.*?)^```\n", re.M | re.S)
COMMAND = re.compile(r"^\$ (.*\n)((?:(?!\$ ).*\n)*)", re.M)


def notebook(page: Path) -> str:
    """The notebook of a page, as JSON."""
    head = f"*Made from docs/tutorials/{page.name}; change that page, then run* `make examples`*.*"
    cells = [_text(head), *_cells(page.read_text(encoding="utf-8"))]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    whole = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 4}
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


def _cells(page: str) -> Iterator[dict[str, Any]]:
    end = 0
    for block in BLOCK.finditer(page):
        yield from _texts(page[end : block.start()])
        yield from _commands(block[1]) if block[0].startswith("```console") else _session(block[1])
        end = block.end()
    yield from _texts(page[end:])


def _texts(markdown: str) -> Iterator[dict[str, Any]]:
    # Pages of the site lead to pages; another tutorial is a notebook beside this one.
    markdown = re.sub(r"\]\(([\w-]+)\.md", r"](\1.ipynb", markdown)
    markdown = re.sub(r"\]\(\.\./([\w/-]+\.md)", r"](../docs/\1", markdown)
    if markdown.strip():
        yield _text(markdown)


def _session(block: str) -> Iterator[dict[str, Any]]:
    """A cell ends where a page shows an output: a notebook shows only the last one of a cell."""
    source = ""
    for piece in doctest.DocTestParser().parse(block):
        if isinstance(piece, doctest.Example):
            source += piece.source
            if piece.want:
                yield _code(source, piece.want)
                source = ""
        elif source:
            source += piece  # the blank lines between two statements
    if source:
        yield _code(source)


def _commands(block: str) -> Iterator[dict[str, Any]]:
    for command, output in COMMAND.findall(block):
        yield _code(f"!{command}", output)


def _text(markdown: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": _lines(markdown)}


def _code(source: str, output: str = "") -> dict[str, Any]:
    stream = {"output_type": "stream", "name": "stdout", "text": output.splitlines(keepends=True)}
    cell: dict[str, Any] = {"cell_type": "code", "execution_count": None, "metadata": {}}
    return cell | {"outputs": [stream] if output else [], "source": _lines(source)}


def _lines(text: str) -> list[str]:
    return text.strip("\n").splitlines(keepends=True)


def main() -> None:
    """Write every notebook anew."""
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.ipynb"):
        old.unlink()
    for page in sorted(PAGES.glob("*.md")):
        (FOLDER / f"{page.stem}.ipynb").write_text(notebook(page), encoding="utf-8")


if __name__ == "__main__":
    main()
