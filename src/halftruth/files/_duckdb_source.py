"""Source: files as tables in an embedded DuckDB that can reach these files and nothing else."""

from __future__ import annotations

import csv
import importlib
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any, TypeAlias

from halftruth._errors import InputError, MissingDependency
from halftruth.files._file_paths import File, Paths, excerpt, find_files, missing_column, quoted, reason

__all__ = ["FileBatch", "Layout", "Query", "Source", "SqlValue", "identifier", "literal"]

LONGEST = 1 << 25  # bytes that one line of CSV or one JSON object may have
NO_DELIMITER = "\x1e\x1f\x1e"

SqlValue: TypeAlias = str | int | bool | Sequence[str] | Mapping[str, str]
Query: TypeAlias = tuple[str, list[SqlValue]]  # SQL and its parameters


def identifier(name: str) -> str:
    """A name as SQL takes any."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as SQL takes any."""
    return "'" + text.replace("'", "''") + "'"


@dataclass(frozen=True)
class Layout:
    """How DuckDB is to read a file. Columns are pairs of name and SQL type."""

    form: str
    columns: tuple[tuple[str, str], ...] = ()
    packing: str = "none"
    delimiter: str = ","
    skip: int = 0


@dataclass(frozen=True)
class FileBatch:
    """Consecutive files of one layout, read in one call."""

    files: tuple[File, ...]
    layout: Layout

    def at(self, name: str) -> tuple[str, str]:
        """The SQL reference and type of a column."""
        names = [column for column, _ in self.layout.columns]
        if name not in names:
            raise missing_column(self.files[0].name, name, names)
        if names.count(name) > 1:
            raise InputError(f"{self.files[0].name} has two columns {quoted(name)}. Rename one of them.")
        place = names.index(name)
        return self.reference(place), self.layout.columns[place][1]

    def reference(self, place: int) -> str:
        """The SQL reference of the column at this place."""
        # DuckDB's names ignore case, those of a header need not even differ: columns of CSV go by number.
        return f"c{place}" if self.layout.form == "csv" else identifier(self.layout.columns[place][0])


class Source:
    """One or many files, open for reading.

    ``wanted`` are the columns that will be asked for, which help to find the delimiter of a CSV; ``target``
    is the one file that may be written; ``threads`` are DuckDB's, by its own choice where not given.
    """

    def __init__(
        self,
        path: Paths,
        wanted: Sequence[str] = (),
        *,
        threads: int | None = None,
        target: Path | None = None,
    ) -> None:
        self.target = target
        self.wanted = frozenset(wanted)
        self._engine: Any = None
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="halftruth-duckdb")
        self._folder = tempfile.TemporaryDirectory(prefix="halftruth-", ignore_cleanup_errors=True)
        try:
            self.files = find_files(path, self._folder.name)
            self._connect(threads)
            laid_out = [(file, self._layout(file)) for file in self.files]
            self.batches = [
                FileBatch(tuple(file for file, _ in group), layout)
                for layout, group in groupby(laid_out, key=lambda pair: pair[1])
            ]
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the engine and remove every temporary file."""
        self._pool.shutdown()
        if self._engine is not None:
            self._engine.close()
        self._folder.cleanup()

    def columns(self) -> list[str]:
        """The columns that every file has."""
        first, *others = ([name for name, _ in batch.layout.columns] for batch in self.batches)
        return [name for name in first if all(name in other for other in others)]

    @cached_property
    def count(self) -> int | None:
        """The number of rows, where the files say it themselves."""
        if any(batch.layout.form in ("csv", "json") for batch in self.batches):
            return None
        queries = [self.table(batch.files, batch.layout) for batch in self.batches]
        return sum(int(self.fetch(f"SELECT count(*) AS n FROM {sql}", p)["n"][0]) for sql, p in queries)

    # The engine ----------------------------------------------------------------------------------

    def _connect(self, threads: int | None) -> None:
        import duckdb

        # A query sees no variable of Python's and no secret of the user's, and fetches no extension.
        settings: dict[str, str | bool | int | float | list[str]] = {
            "python_enable_replacements": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "allow_community_extensions": False,
            "allow_persistent_secrets": False,
            "temp_directory": self._folder.name,
        }
        if threads is not None:
            settings["threads"] = threads
        self._engine = duckdb.connect(config=settings)
        # Only these files can be reached, whatever a query or a file says.
        reach = {name for file in self.files for name in (file.path, file.pattern)}
        reach |= set() if self.target is None else {str(self.target)}
        paths = ", ".join(map(literal, sorted(reach)))
        self._engine.execute(f"SET allowed_paths = [{paths}]")
        self._engine.execute("SET enable_external_access = false")
        self._engine.execute("SET TimeZone = 'UTC'")  # groups are named alike on every machine
        self._engine.execute("SET lock_configuration = true")  # and no query can undo any of this

    def register(self, name: str, columns: Mapping[str, Any]) -> None:
        """Arrays as a table of this name."""
        self._engine.register(name, dict(columns))

    def fetch(self, sql: str, parameters: Sequence[SqlValue] = (), of: Sequence[File] = ()) -> dict[str, Any]:
        """The columns of a query's result as arrays; what DuckDB complains of becomes an error of the file.

        The query runs in a thread of its own: in the main thread DuckDB may notice Ctrl-C only at its end.
        """
        task = self._pool.submit(lambda: self._engine.execute(sql, list(parameters)).fetchnumpy())
        try:
            while not wait([task], timeout=0.2).done:
                pass
        except BaseException:
            while not wait([task], timeout=0.02).done:
                self._engine.interrupt()
            raise
        error = task.exception()
        if error is None:
            return dict(task.result())
        # DuckDB's own, and those of Python that pass through it when it reads Arrow.
        if not isinstance(error, Exception) or isinstance(error, MemoryError):
            raise error
        files = of or self.files
        named = [file for file in files if file.path in str(error)] or files
        name = named[0].name if len(named) == 1 else f"One of {len(named)} files ({named[0].name}, …)"
        raise InputError(f"{name} {reason(str(error))}") from error

    # Layouts -------------------------------------------------------------------------------------

    def _layout(self, file: File) -> Layout:
        form = file.form
        if form in (None, "csv"):
            # Text of no known suffix is JSON where it begins with an object, or with a list of them.
            lines = self._first_lines(file)
            if form == "csv" or not re.match(r"\{|\[\s*\{", "".join(lines).lstrip()):
                return self._csv_layout(file, lines)
        if form in (None, "json"):
            return Layout("json", self._json_columns(file), file.packing)
        layout = Layout(str(form))
        sql, parameters = self.table([file], layout)
        described = self.fetch(f"DESCRIBE SELECT * FROM {sql}", parameters, [file])
        columns = zip(described["column_name"].tolist(), described["column_type"].tolist(), strict=True)
        return replace(layout, columns=tuple(columns))

    def _first_lines(self, file: File) -> list[str]:
        """The first lines through DuckDB, which unpacks here as it will when it reads."""
        layout = Layout("csv", (("line", "VARCHAR"),), file.packing, NO_DELIMITER)
        sql, parameters = _csv([file.pattern], layout, quote="", header=False)
        lines = self.fetch(f"SELECT coalesce(c0, '') AS line FROM {sql} LIMIT 64", parameters, [file])
        return [line + "\n" for line in lines["line"].tolist()]

    def _csv_layout(self, file: File, lines: list[str]) -> Layout:
        blank = next((k for k, line in enumerate(lines) if line.strip()), len(lines))
        if blank == len(lines):
            raise InputError(f"{file.name} has no header. Write the names of the columns in its first line.")
        headers = {}
        for delimiter in "\t,;|" if re.search(r"\.(tsv|txt)\b", file.name.lower()) else ",\t;|":
            try:
                headers[delimiter] = next(csv.reader(lines[blank:], delimiter=delimiter))
            except csv.Error as error:
                raise InputError(f"{file.name} has no readable header: {error}. Repair it.") from error
        # The delimiter by which most of the wanted columns are there; among equals, the one of most columns.
        best = max(headers, key=lambda d: (len(self.wanted.intersection(headers[d])), len(headers[d])))
        return Layout("csv", tuple((name, "VARCHAR") for name in headers[best]), file.packing, best, blank)

    def _json_columns(self, file: File) -> tuple[tuple[str, str], ...]:
        """The keys of the first objects; of all, where one that is wanted is not among those.

        Where rows are to be written again it is all keys, in the order in which they appear.
        """
        table = "read_json_objects(?, compression=?, maximum_object_size=?, hive_partitioning=false)"
        names: list[str] = []
        limits, order = ("LIMIT 1000", ""), "name"
        if self.target is not None:
            limits, order = ("", ""), "min((row, place))"
        for limit in limits:
            objects = f"SELECT row_number() OVER () AS row, json_keys(json) AS keys FROM {table} {limit}"
            keys = f"SELECT row, generate_subscripts(keys, 1) AS place, unnest(keys) AS name FROM ({objects})"
            sql = f"SELECT name FROM ({keys}) GROUP BY name ORDER BY {order}"
            names = self.fetch(sql, [[file.pattern], file.packing, LONGEST], [file])["name"].tolist()
            if self.wanted.issubset(names):
                break
        return tuple((name, "VARCHAR") for name in names)

    # Reading -------------------------------------------------------------------------------------

    def table(self, files: Sequence[File], layout: Layout, columns: Iterable[str] = ()) -> Query:
        """The table function that reads these columns of these files."""
        patterns = [file.pattern for file in files]
        if layout.form == "parquet":
            return "read_parquet(?, hive_partitioning=false)", [patterns]
        if layout.form == "csv":
            return _csv(patterns, layout)
        if layout.form == "json":
            options = "columns=?, compression=?, maximum_object_size=?, hive_partitioning=false"
            types = dict.fromkeys(columns, "VARCHAR")
            return f"read_json(?, {options})", [patterns, types, layout.packing, LONGEST]
        return self._arrow(files), []

    def _arrow(self, files: Sequence[File]) -> str:
        """The name of a view of Arrow files, which DuckDB itself does not read."""
        try:
            arrow = importlib.import_module("pyarrow.dataset")
        except ImportError as error:
            raise MissingDependency(
                f"Reading {files[0].name} needs pyarrow, which is not installed. Run: pip install pyarrow"
            ) from error
        try:
            view = arrow.dataset([file.path for file in files], format="ipc")
        except (OSError, ValueError) as error:
            raise InputError(
                f"{files[0].name} is no readable Arrow file ({excerpt(str(error), 160)}). Write it "
                f"in the file format of Arrow IPC, also called feather, not as a stream."
            ) from error
        # The same files have the same name: another query of them replaces the view, and leaves none behind.
        name = f"arrow{len(files)}_{self.files.index(files[0])}"
        self._engine.register(name, view)
        return name


def _csv(patterns: list[str], layout: Layout, *, quote: str = '"', header: bool = True) -> Query:
    """All columns as text, in a dialect that is set and not guessed."""
    options: dict[str, SqlValue] = {
        "columns": {f"c{k}": "VARCHAR" for k in range(len(layout.columns))},
        "delim": layout.delimiter,
        "quote": quote,
        "escape": quote,
        "header": header,
        "skip": layout.skip,
        "compression": layout.packing,
        "max_line_size": LONGEST,
        "buffer_size": LONGEST,
        "auto_detect": False,
        "strict_mode": True,
        "null_padding": False,
        "hive_partitioning": False,
    }
    names = ", ".join(f"{name}=?" for name in options)
    return f"read_csv(?, {names})", [patterns, *options.values()]
