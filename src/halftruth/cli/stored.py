"""Saved tables: `--save-table FILE`, and how they are read again on another day or under another prior."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING

from halftruth._errors import InputError, MergeError, OutsideGrid
from halftruth.cli import overlap, streams

if TYPE_CHECKING:
    from halftruth.table._score_table import ScoreTable

SUFFIX = ".npz"
REMEDY = "First save the table of each file by halftruth evaluate FILE --grid margin --save-table TABLE.npz."
LONGEST = 40
"""Characters of a group in the name of its file: of any script they fit into the 255 bytes of a name."""


def among(files: Iterable[str]) -> list[str]:
    """The names of saved tables, or patterns of them."""
    return [file for file in files if file.endswith(SUFFIX)]


def load(files: Sequence[str]) -> dict[str, ScoreTable]:
    """The saved tables of these names and patterns, by file."""
    from halftruth.table._score_table import ScoreTable

    paths = [path for file in files for path in _matched(file)]
    count = Counter(Path(path).resolve() for path in paths)
    for path in paths:
        if count[Path(path).resolve()] > 1:
            raise InputError(f"{path} was named more than once, so its rows would count twice. Name it once.")
    return {path: ScoreTable.load(path) for path in paths}


def merged(tables: Mapping[str, ScoreTable]) -> ScoreTable:
    """One table of them all; each is named by where it comes from."""
    binned = next((name for name, table in tables.items() if table.grid is not None), None)
    if binned is not None:
        tables = {name: _on_grid_of(tables[binned], binned, table, name) for name, table in tables.items()}
    first, *others = tables.values()
    return first.merge(*others)


def _on_grid_of(binned: ScoreTable, where: str, table: ScoreTable, name: str) -> ScoreTable:
    if table.grid not in (None, binned.grid):
        raise MergeError(
            f"{where} and {name} have different grids: {binned.grid}, and {table.grid}. {REMEDY}"
        )
    try:
        return table.compress(binned.grid)
    except OutsideGrid as error:
        raise error.advised(REMEDY).about(name) from error
    except InputError as error:
        raise error.about(name) from error


def _matched(file: str) -> list[str]:
    # Path.glob takes no absolute pattern. Of a name that matches nothing, `load` says so.
    return [file] if Path(file).exists() else sorted(glob(file, recursive=True)) or [file]  # noqa: PTH207


def check(path: str | None, files: Sequence[str]) -> None:
    """Refuse a place that cannot be right before long files are read; what is read is never written over."""
    if path is None:
        return
    from halftruth.files._write_column import check_target

    if not path.endswith(SUFFIX):
        raise InputError(f"--save-table writes a table, so its FILE must end in {SUFFIX}; got {path!r}.")
    check_target(path)
    overlap.refuse("--save-table", path, files)


def write(tables: Mapping[str, ScoreTable], path: str | None, by: str | None) -> None:
    """Save all tables or none, each group in a file of its own; where they are goes to stderr."""
    if path is None:
        return
    from halftruth.files._write_column import check_target, replaced

    target = Path(path).resolve()
    places = {"": target} if by is None else _places(target, tables)
    for place in places.values():
        check_target(place)
    with ExitStack() as whole:  # each takes its place once all are written
        for group, place in places.items():
            tables[group].save(whole.enter_context(replaced(place)))
    if by is None:
        streams.say(f"Table: {target}")
    else:
        streams.say(f"Tables of {len(places)} group(s): {target.with_suffix('')}-…{SUFFIX}")


def _places(target: Path, groups: Iterable[str]) -> dict[str, Path]:
    """A file for each group: its name behind the one given."""
    same = Counter(map(_folded, groups))
    return {
        group: target.with_name(f"{target.stem}-{_name(group, alone=same[_folded(group)] == 1)}{SUFFIX}")
        for group in groups
    }


def _folded(name: str) -> str:
    """What names have in common that some file systems do not tell apart."""
    return unicodedata.normalize("NFC", name).casefold()


def _name(group: str, *, alone: bool) -> str:
    """A group as part of a file name; what cannot stand in one gives way to a digest of the whole."""
    plain = re.sub(r"[^\w.-]+", "_", group)[:LONGEST]
    digest = hashlib.sha256(group.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return plain if plain == group and group and alone else f"{plain}-{digest}"
