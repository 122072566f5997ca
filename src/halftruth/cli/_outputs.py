"""What commands write besides the result: pages, tables, calibrators. It is never what is read."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from fnmatch import fnmatch
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

from halftruth import _storage
from halftruth._errors import InputError
from halftruth.cli._table_source import TABLE_SUFFIX, TableSource, few_of
from halftruth.cli._terminal import say
from halftruth.files._cell_meanings import Columns
from halftruth.files._file_paths import standard_input
from halftruth.files._write_column import check_form, check_names, check_target, replaced, write_with
from halftruth.table._score_table import ScoreTable

if TYPE_CHECKING:
    from halftruth.calibration.calibrators._calibrator import Calibrator

__all__ = [
    "CalibratorFiles", "check_page", "check_table_file", "page_title", "readable_twice", "refuse_input",
    "write_page", "write_tables",
]  # fmt: skip


def refuse_input(option: str, target: str, files: Iterable[str]) -> None:
    """Raise where a target is among the files that are read, or would be the next time."""
    if any(_reads(file, Path(target)) for file in files):
        raise InputError(
            f"{option} {target} is one of the files that are read, or would be the next time by its "
            f"folder or its name. Choose another place."
        )


def _reads(file: str, target: Path) -> bool:
    """Whether the target, there or not, is this file or one of this folder or pattern."""
    try:
        return file != "-" and _finds(file, target)
    except OSError:  # whoever reads it will say what is wrong with it
        return False


def _finds(file: str, target: Path) -> bool:
    path = Path(file)
    if path.is_dir():
        return target.resolve().is_relative_to(path.resolve())
    # Path.glob takes no absolute pattern.
    matches = [file] if path.exists() else glob(file, recursive=True)  # noqa: PTH207
    if target.exists() and any(Path(match).samefile(target) for match in matches):
        return True
    folder, name = os.path.split(file)
    if path.exists() or not fnmatch(target.name, name):
        return False
    # Without a folder at its beginning "**" does not stand for the first; at the end it stands for all below.
    pattern = folder if Path(folder).is_absolute() else f"./{folder}"
    pattern += "/**/" if name == "**" else ""
    return any(Path(match).samefile(target.parent) for match in glob(pattern, recursive=True))  # noqa: PTH207


# --html FILE -----------------------------------------------------------------------------------------

PAGE_SUFFIXES = (".html", ".htm")
FILES_SHOWN = 3  # files that a title names


def check_page(path: str | None, files: Sequence[str] = ()) -> None:
    """Refuse a place that cannot be right before long files are read; what is read is never written over."""
    if path is None:
        return
    target = Path(path)
    if target.suffix.lower() not in PAGE_SUFFIXES:
        raise InputError(f"--html writes a page, so its FILE must end in .html; got {path!r}.")
    if target.is_dir():
        raise InputError(f"--html {path} is a folder. Name a file in it, such as {target / 'report.html'}.")
    if not target.parent.is_dir():
        raise InputError(f"--html {path}: there is no folder {target.parent}. Make it first.")
    refuse_input("--html", path, files)


def page_title(files: Sequence[str], scores: Sequence[str] = ()) -> str:
    """What a page is about: the files, a few of many, and the columns of scores."""
    names = ["standard input" if file == "-" else Path(file).name or file for file in files]
    more = [f"{len(names) - FILES_SHOWN} more files"] if len(names) > FILES_SHOWN else []
    return ", ".join([*names[:FILES_SHOWN], *more, *scores])


def write_page(result: Any, path: str | None, title: str, by: str | None = None) -> None:
    """The page of an evaluation, a comparison, or groups by name; where it is goes to stderr."""
    if path is None:
        return
    if by is None:
        result.to_html(path, title=title)
    else:
        from halftruth.evaluation._page_data import groups_page

        _storage.write(path, groups_page(result, title=title, by=by))
    say(f"Report: {Path(path).resolve()}")


# --save-table FILE -----------------------------------------------------------------------------------

LONGEST = 40
"""Characters of a group in the name of its file: of any script they fit into the 255 bytes of a name."""


def check_table_file(path: str | None, files: Sequence[str]) -> None:
    """Refuse a place that cannot be right before long files are read; what is read is never written over."""
    if path is None:
        return
    if not path.endswith(TABLE_SUFFIX):
        raise InputError(
            f"--save-table writes a table, so its FILE must end in {TABLE_SUFFIX}; got {path!r}."
        )
    check_target(path)
    refuse_input("--save-table", path, files)


def write_tables(tables: Mapping[str, ScoreTable], path: str | None, by: str | None) -> None:
    """Save all tables or none, each group in a file of its own; where they are goes to stderr."""
    if path is None:
        return
    target = Path(path).resolve()
    places = {"": target} if by is None else _places(target, tables)
    for place in places.values():
        check_target(place)
    with ExitStack() as whole:  # each takes its place once all are written
        for group, place in places.items():
            tables[group].save(whole.enter_context(replaced(place)))
    if by is None:
        say(f"Table: {target}")
    else:
        say(f"Tables of {len(places)} group(s): {few_of(map(str, places.values()))}")


def _places(target: Path, groups: Iterable[str]) -> dict[str, Path]:
    """A file for each group: its name behind the one given."""
    same = Counter(map(_folded, groups))
    return {
        group: target.with_name(
            f"{target.stem}-{_name(group, alone=same[_folded(group)] == 1)}{TABLE_SUFFIX}"
        )
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


# What `calibrate` writes: all of it or nothing -------------------------------------------------------

CALIBRATED = "calibrated"  # the name of the new column


@dataclass(frozen=True)
class CalibratorFiles:
    """Where the calibrator goes, and the rows with their calibrated scores."""

    output: str
    scores: str | None = None

    def check(self, files: Sequence[str]) -> None:
        """Raise, before anything is read, where something could not be written or would be read again."""
        targets = {"output": self.output} | ({} if self.scores is None else {"scores": self.scores})
        for name, target in targets.items():
            check_target(target)
            refuse_input(f"--{name}", target, files)
        if self.scores is None:
            return
        check_form(self.scores, "scores")
        if Path(self.scores).resolve() == Path(self.output).resolve():
            raise InputError(f"--output and --scores both name {self.output}. Give each its own file.")
        saved = next((file for file in files if file.endswith(TABLE_SUFFIX)), None)
        if saved is not None:
            raise InputError(f"--scores needs the rows in their order; the saved table {saved} has none.")

    def check_columns(self, source: TableSource) -> None:
        """Raise where the new column has no place beside those of the files."""
        if self.scores is not None:
            check_names(source.files, _columns(source), CALIBRATED, self.scores)

    def write(self, source: TableSource, calibrator: Calibrator) -> None:
        """Both, or none: the rows take their place once the calibrator has."""
        if self.scores is None:
            calibrator.save(self.output)
            return
        form = Path(self.scores).suffix.lower()
        with replaced(self.scores) as path:
            write_with(source.files, _columns(source), CALIBRATED, calibrator.predict, path, form)
            calibrator.save(self.output)


def _columns(source: TableSource) -> Columns:
    score: Any = source.score
    return Columns(scores=(score,), label=source.label, weight=source.weight, unlabeled=source.code)


@contextmanager
def readable_twice(files: Sequence[str], *, needed: bool) -> Iterator[list[str]]:
    """The files; streams as files of their own where they are to be read twice."""
    with tempfile.TemporaryDirectory(prefix="halftruth-", ignore_cleanup_errors=True) as folder:
        yield [_copied(file, Path(folder, str(k))) if needed else file for k, file in enumerate(files)]


def _copied(file: str, place: Path) -> str:
    if file != "-" and not _is_pipe(Path(file)):
        return file
    place.mkdir()
    copy = place / ("standard input" if file == "-" else Path(file).name)
    with (
        copy.open("wb") as out,
        nullcontext(standard_input()) if file == "-" else Path(file).open("rb") as pipe,
    ):
        shutil.copyfileobj(pipe, out, 1 << 20)
    return str(copy)


def _is_pipe(path: Path) -> bool:
    try:
        return stat.S_ISFIFO(path.stat().st_mode)
    except OSError:
        return False
