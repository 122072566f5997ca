"""A table of an engine by the names that a command line has: an address, and a table or a path."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from halftruth.engines.sql import addresses, spark
from halftruth.engines.sql.complaints import complaint
from halftruth.engines.sql.library import ibis
from halftruth.errors import InputError, MissingDependency
from halftruth.files.messages import printable, quoted

FORMS = {".parquet": "parquet", ".csv": "csv", ".json": "json", ".jsonl": "json", ".orc": "orc"}
ZONE = "spark.sql.session.timeZone"
IN_FILES = ("duckdb", "sqlite")
"""Engines whose address is a file."""
ENCODE = (
    " Special characters of a user or password must be percent-encoded: %40 for @, %2F for /, %23 for #, "
    "%3F for ?."
)


@contextmanager
def open_table(engine: str, name: str) -> Iterator[Any]:
    """A table as Ibis has it, open until the end of the block.

    Parameters
    ----------
    engine : str
        "spark", or an address that Ibis knows: "postgres://user:password@host:5432/database",
        "duckdb://file.duckdb", "snowflake://…", "bigquery://…", "trino://…", "clickhouse://…".
    name : str
        A table, also as "schema.table". For Spark and for "duckdb://" also a path or glob of Parquet, CSV
        with a header or JSON lines, for Spark of ORC.

    Examples
    --------
    >>> from halftruth.engines.sql import open_table, read
    >>> with open_table("postgres://me@db/shop", "fraud.scores") as table:  # doctest: +SKIP
    ...     strata = read(table, score="score", label="label")[""]
    """
    with ExitStack() as stack:
        if engine == "spark" or engine.startswith("pyspark://"):
            session = stack.enter_context(spark.session())
            stack.callback(session.conf.set, ZONE, session.conf.get(ZONE))  # which Ibis sets
            connection = ibis.pyspark.connect(session)
        else:
            connection = _connected(engine)
            stack.callback(connection.disconnect)
        if connection.name in ("pyspark", "duckdb") and _is_path(name):
            table = _of_path(connection, name)
            if connection.name == "pyspark":
                stack.callback(session.catalog.dropTempView, table.get_name())
            yield table
        else:
            yield _of_name(connection, name)


def _connected(engine: str) -> Any:
    scheme = engine.partition("://")[0].replace("postgresql", "postgres")
    known = sorted(each.name for each in ibis.util.backend_entry_points())
    if "://" not in engine or scheme not in known:
        raise InputError(
            f"`engine` must be 'spark' or an address that Ibis knows, such as postgres://user@host/database, "
            f"got {quoted(addresses.masked(engine))}.{_meant(scheme, known)}"
        )
    options = {}
    if scheme in IN_FILES and (path := re.sub(r"^\w+://|\?.*$", "", engine)) not in ("", ":memory:"):
        if not Path(path).is_file():
            raise InputError(f"{printable(path)} is no file, so {scheme} cannot open it. Check the path.")
        options = {"read_only": True} if scheme == "duckdb" else {}
    try:
        return ibis.connect(engine, **options)
    except ImportError as error:
        raise MissingDependency(
            f"Ibis needs its driver of {scheme}: pip install 'ibis-framework[{scheme}]'"
        ) from error
    except Exception as error:  # of whatever class the driver has
        unclear = addresses.is_unclear(engine)
        shown, told = addresses.masked(engine), addresses.told(error, engine)
        raise InputError(
            f"No connection to {shown}: {told}. Check host, port, user, password and database."
            f"{ENCODE if unclear else ''}"
        ) from (None if unclear else error)


def _meant(scheme: str, known: list[str]) -> str:
    """The engine whose name is near: Spark has a word, others an address."""
    meant = {name: f"{name}://…" for name in known} | {"spark": "spark", "pyspark": "spark"}
    near = get_close_matches(scheme.lower(), meant, 1)
    return f" Did you mean {meant[near[0]]}?" if near else ""


def _is_path(name: str) -> bool:
    return bool(re.search(r"[/\\*?]", name)) or _form(name) is not None


def _form(name: str) -> str | None:
    return FORMS.get(Path(re.sub(r"\.(gz|zst)$", "", name.lower())).suffix)


def _of_path(connection: Any, path: str) -> Any:
    form = _form(path) or "parquet"
    read: Callable[[str], Any] | None = getattr(connection, f"read_{form}", None)
    if form == "orc" and connection.name == "pyspark":
        read = _orc(connection)
    if read is None:
        raise InputError(f"{connection.name} does not read {form}. Use 'spark', or write {path} as Parquet.")
    try:
        return read(path)
    except Exception as error:  # of whatever class the driver has
        raise InputError(f"{printable(path)} cannot be read: {complaint(error)}. Check the path.") from error


def _orc(connection: Any) -> Callable[[str], Any]:
    def read(path: str) -> Any:
        name = ibis.util.gen_name("orc")
        connection.raw_sql("SELECT 1").sparkSession.read.orc(path).createOrReplaceTempView(name)
        return connection.table(name)

    return read


def _of_name(connection: Any, name: str) -> Any:
    schema, _, table = name.rpartition(".")
    try:
        return connection.table(table, database=schema or None)
    except Exception as error:  # of whatever class the driver has
        tables = _tables(connection, schema)
        if tables is None or table in tables:
            raise InputError(
                f"Table {quoted(name)} cannot be read: {complaint(error)}. Check its name."
            ) from error
        where = f"The schema {quoted(schema)}" if schema else "The database"
        if not tables:
            none = (
                f"{where} has no tables, or there is no such schema" if schema else f"{where} has no tables"
            )
            raise InputError(
                f"There is no table {quoted(name)}: {none[0].lower()}{none[1:]}. Check the address, and name "
                f"the table as schema.table."
            ) from error
        near = get_close_matches(table, tables, 1)
        shown = ", ".join(map(quoted, tables[:10])) + (", …" if len(tables) > 10 else "")
        remedy = f"Did you mean {quoted(near[0])}?" if near else "Name one of these, or schema.table."
        raise InputError(f"{where} has no table {quoted(table)}. Its tables: {shown}. {remedy}") from error


def _tables(connection: Any, schema: str) -> list[str] | None:
    """The tables of a schema, or None where the engine does not tell."""
    for told in (_described, _listed):
        with suppress(Exception):  # of whatever class the driver has
            return sorted(told(connection, schema))
    return None


def _described(connection: Any, schema: str) -> list[str]:
    """By the SQL standard, which most engines follow; Ibis 12 does not list the tables of DuckDB 2."""
    every = connection.table("tables", database="information_schema")
    held = every.filter(every.table_schema == (schema or connection.current_database))
    return list(held.table_name.to_pyarrow().to_pylist())


def _listed(connection: Any, schema: str) -> list[str]:
    return list(connection.list_tables(database=schema or None))
