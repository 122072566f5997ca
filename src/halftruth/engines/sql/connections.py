"""A table of an engine by the names that a command line has: an address, and a table or a path."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from halftruth._errors import InputError, MissingDependency
from halftruth.engines.sql import addresses, spark, tables
from halftruth.engines.sql.library import ibis
from halftruth.files.messages import printable, quoted

IN_FILES = ("duckdb", "sqlite")
"""Engines whose address is a file."""
ENCODE = (
    " Special characters of a password must be percent-encoded: %40 for @, %2F for /, %23 for #, %3F for ?."
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
        A table, also as "schema.table"; a part with a dot of its own stands in double quotes,
        'schema."my.table"'. For Spark and for "duckdb://" also a path or glob of Parquet, CSV with a header
        or JSON lines, for Spark of ORC; what has quotes is a table for them too.

    Examples
    --------
    >>> from halftruth.engines.sql import open_table, read
    >>> with open_table("postgres://me@db/shop", "fraud.scores") as table:  # doctest: +SKIP
    ...     strata = read(table, score="score", label="label")[""]
    """
    with ExitStack() as stack:
        if engine == "spark" or engine.startswith("pyspark://"):
            session = stack.enter_context(spark.session())
            stack.callback(session.conf.set, spark.ZONE, session.conf.get(spark.ZONE))  # which Ibis sets
            connection = ibis.pyspark.connect(session)
        else:
            connection = _connected(engine)
            stack.callback(connection.disconnect)
        table = tables.found(connection, name)
        if connection.name == "pyspark" and table.get_name() not in name:  # a view, made for it
            stack.callback(session.catalog.dropTempView, table.get_name())
        yield table


def _connected(engine: str) -> Any:
    scheme = engine.partition("://")[0].replace("postgresql", "postgres")
    known = sorted(each.name for each in ibis.util.backend_entry_points())
    if "://" not in engine or scheme not in known:
        raise InputError(
            argument="engine",
            must="be 'spark' or an address that Ibis knows, such as postgres://user@host/database",
            got=quoted(addresses.masked(engine)),
            remedy=_meant(scheme, known),
        )
    options = {}
    if scheme in IN_FILES and (path := re.sub(r"^\w+://|\?.*$", "", engine)) not in ("", ":memory:"):
        if not Path(path).is_file():
            raise InputError(f"{printable(path)} is no file, so {scheme} cannot open it. Check the path.")
        options = {"read_only": True} if scheme == "duckdb" else {}
    try:
        return ibis.connect(engine if scheme in IN_FILES else addresses.for_ibis(engine), **options)
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
    return f"Did you mean {meant[near[0]]}?" if near else ""
