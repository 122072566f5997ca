"""What `calibrate` writes: all of it or nothing, and never into what it reads."""

from __future__ import annotations

import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from halftruth._errors import InputError
from halftruth.cli import overlap

if TYPE_CHECKING:
    from halftruth.calibration.calibrators._calibrator import Calibrator
    from halftruth.cli.source import Source
    from halftruth.files._sql_cells import Columns

CALIBRATED = "calibrated"
"""The name of the new column."""


@dataclass(frozen=True)
class Targets:
    """Where the calibrator goes, and the rows with their calibrated scores."""

    output: str
    scores: str | None = None

    def check(self, files: Sequence[str]) -> None:
        """Raise, before anything is read, where something could not be written or would be read again."""
        from halftruth.files._write_column import check_form, check_target

        given = {"output": self.output} | ({} if self.scores is None else {"scores": self.scores})
        for name, target in given.items():
            check_target(target)
            overlap.refuse(f"--{name}", target, files)
        if self.scores is None:
            return
        check_form(self.scores, "scores")
        if Path(self.scores).resolve() == Path(self.output).resolve():
            raise InputError(f"--output and --scores both name {self.output}. Give each its own file.")
        saved = next((file for file in files if file.endswith(".npz")), None)
        if saved is not None:
            raise InputError(f"--scores needs the rows in their order; the saved table {saved} has none.")

    def check_columns(self, source: Source) -> None:
        """Raise where the new column has no place beside those of the files."""
        from halftruth.files._write_column import check_names

        if self.scores is not None:
            check_names(source.files, _columns(source), CALIBRATED, self.scores)

    def write(self, source: Source, calibrator: Calibrator) -> None:
        """Both, or none: the rows take their place once the calibrator has."""
        from halftruth.files._write_column import replaced, write_with

        if self.scores is None:
            calibrator.save(self.output)
            return
        form = Path(self.scores).suffix.lower()
        with replaced(self.scores) as part:
            write_with(source.files, _columns(source), CALIBRATED, calibrator.predict, part, form)
            calibrator.save(self.output)


def _columns(source: Source) -> Columns:
    from halftruth.files._sql_cells import Columns

    score: Any = source.score
    return Columns(scores=(score,), label=source.label, weight=source.weight, unlabeled=source.code)


@contextmanager
def kept(files: Sequence[str], *, twice: bool) -> Iterator[list[str]]:
    """The files; streams as files of their own where they are to be read twice."""
    with tempfile.TemporaryDirectory(prefix="halftruth-", ignore_cleanup_errors=True) as folder:
        yield [_kept(file, Path(folder, str(k))) if twice else file for k, file in enumerate(files)]


def _kept(file: str, place: Path) -> str:
    from halftruth.files._file_paths import standard_input

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
