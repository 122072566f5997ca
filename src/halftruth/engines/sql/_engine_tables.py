"""Tables of an open connection, by name or path, and those there are where one is missing.

A name has parts between dots, in double quotes where a dot is their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from halftruth._errors import InputError
from halftruth.engines.sql._spark import complaint, session_of
from halftruth.engines.sql._sql_columns import ibis
from halftruth.files._file_paths import printable, quoted

__all__ = ["find_table", "name_parts"]

FORMS = {".parquet": "parquet", ".csv": "csv", ".json": "json", ".jsonl": "json", ".orc": "orc"}
OF_PATHS = r"[/\\*?]"  # letters that a table hardly has in its name
PLAIN = r"[A-Za-z_][A-Za-z0-9_]*"  # a name that Spark parses without quotes
UNREAD = ("Illegal Parquet type", "Parquet type not supported")
"""What Spark says of a column that it has no type for, whether the column is used or not."""
QUOTED = r'"(?:[^"]|"")+"'
PART = rf'{QUOTED}|[^".][^.]*'  # a quote within an unquoted part is one of its letters
MOST_PARTS = 3


def find_table(connection: Any, name: str) -> Any:
    """The table of this name or, where the engine reads files, of this path."""
    if connection.name in ("pyspark", "duckdb") and _is_path(name):
        return _table_of_path(connection, name)
    *schema, table = name_parts(name)
    try:
        if connection.name == "pyspark" and not re.fullmatch(PLAIN, table):  # Ibis has Spark parse it
            path = ".".join("`" + part.replace("`", "``") + "`" for part in (*schema, table))
            return _viewed(connection, lambda session: session.table(path))
        return connection.table(table, database=tuple(schema) or None)
    except Exception as error:  # of whatever class the driver has
        raise InputError(_missing(connection, name, complaint(error))) from error


# --- Paths ----------------------------------------------------------------------------------------


def _is_path(name: str) -> bool:
    return not has_quotes(name) and (bool(re.search(OF_PATHS, name)) or _form(name) is not None)


def _form(name: str) -> str | None:
    return FORMS.get(Path(re.sub(r"\.(gz|zst)$", "", name.lower())).suffix)


def _table_of_path(connection: Any, path: str) -> Any:
    form = _form(path) or "parquet"
    read: Callable[[str], Any] | None = getattr(connection, f"read_{form}", None)
    if form == "orc" and connection.name == "pyspark":
        read = _orc(connection)
    if read is None:
        raise InputError(f"{connection.name} does not read {form}. Use 'spark', or write {path} as Parquet.")
    try:
        return read(path)
    except Exception as error:  # of whatever class the driver has
        raise InputError(
            f"{printable(path)} cannot be read: {complaint(error)}. {_remedy(path, str(error))}"
        ) from error


def _remedy(path: str, complaint: str) -> str:
    if any(words in complaint for words in UNREAD):
        return (
            "Spark does not read a column of this type: write the file without it or with its values as "
            "text, or use --engine duckdb://."
        )
    table = "" if re.search(OF_PATHS, path) else f", or write {quoted(in_quotes(path))} for a table"
    return f"Check the path{table}."


def _orc(connection: Any) -> Callable[[str], Any]:
    return lambda path: _viewed(connection, lambda session: session.read.orc(path))


def _viewed(connection: Any, read: Callable[[Any], Any]) -> Any:
    """What Spark reads by itself, as a table of Ibis."""
    name = ibis.util.gen_name("view")
    read(session_of(connection)).createOrReplaceTempView(name)
    return connection.table(name)


# --- What is not there ----------------------------------------------------------------------------


def _missing(connection: Any, name: str, complaint: str) -> str:
    """That a table is not there, which are, and which was perhaps meant."""
    *schema, table = name_parts(name)
    tables = _tables(connection, schema)
    if tables is None or table in tables:
        return f"Table {quoted(name)} cannot be read: {complaint}. Check its name."
    where = f"the schema {quoted('.'.join(schema))}" if schema else "the database"
    if schema and name in (_tables(connection, ()) or ()):
        return f"There is no table {quoted(table)} in {where}. Did you mean {quoted(in_quotes(name))}?"
    if not tables:
        none = f"{where} has no tables{', or there is no such schema' if schema else ''}"
        return (
            f"There is no table {quoted(name)}: {none}. Check the address, and name the table as "
            f"schema.table."
        )
    near = get_close_matches(table, tables, 1)
    shown = ", ".join(quoted(_typed(other)) for other in tables[:10]) + (", …" if len(tables) > 10 else "")
    remedy = f"Did you mean {quoted(_typed(near[0]))}?" if near else "Name one of these, or schema.table."
    return f"{where[0].upper()}{where[1:]} has no table {quoted(table)}. Its tables: {shown}. {remedy}"


def _typed(table: str) -> str:
    """A table as it must be written."""
    return in_quotes(table) if "." in table or table.startswith('"') or _is_path(table) else table


def _tables(connection: Any, schema: Sequence[str]) -> list[str] | None:
    """The tables of a schema, or None where the engine does not tell."""
    for list_tables in (_described, _listed):
        with suppress(Exception):  # of whatever class the driver has
            return sorted(list_tables(connection, schema))
    return None


def _described(connection: Any, schema: Sequence[str]) -> list[str]:
    """By the SQL standard, which most engines follow; Ibis 12 does not list the tables of DuckDB 2."""
    tables = connection.table("tables", database="information_schema")
    *catalog, database = schema or (connection.current_database,)
    inside = tables.filter(tables.table_schema == database)
    inside = inside.filter(inside.table_catalog == catalog[0]) if catalog else inside
    return list(inside.table_name.to_pyarrow().to_pylist())


def _listed(connection: Any, schema: Sequence[str]) -> list[str]:
    return list(connection.list_tables(database=tuple(schema) or None))


# --- Names ----------------------------------------------------------------------------------------


def name_parts(name: str) -> tuple[str, ...]:
    """The table, after its schema and its catalog where they are named.

    Examples
    --------
    >>> from halftruth.engines.sql._engine_tables import name_parts
    >>> name_parts("fraud.scores"), name_parts('fraud."scores.csv"')
    (('fraud', 'scores'), ('fraud', 'scores.csv'))
    """
    written = _written(name)
    if not 0 < len(written) <= MOST_PARTS:
        raise InputError(
            f"A table must be named table, schema.table or catalog.schema.table, got {quoted(name)}. A part "
            f"with a dot of its own stands in double quotes, and a quote in it twice: '\"my.table\"'."
        )
    return tuple(part[1:-1].replace('""', '"') if part.startswith('"') else part for part in written)


def has_quotes(name: str) -> bool:
    """Whether a part of a name stands in quotes: whatever it looks like, it is then a table's."""
    return any(part.startswith('"') for part in _written(name))


def in_quotes(table: str) -> str:
    """A table as one part of a name, in quotes."""
    return '"' + table.replace('"', '""') + '"'


def _written(name: str) -> list[str]:
    """The parts as they are written; none where it is unclear what is a part."""
    if not re.fullmatch(rf"(?:{PART})(?:\.(?:{PART}))*", name):
        return []
    return re.findall(rf"({PART})(?:\.|\Z)", name)
