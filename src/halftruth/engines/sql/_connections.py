"""A table of an engine by the names that a command line has: an address, and a table or a path.

Addresses, and what drivers say of them, are shown without their passwords.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from halftruth._errors import InputError, MissingDependency
from halftruth.engines.sql import _engine_tables, _spark
from halftruth.engines.sql._sql_columns import ibis
from halftruth.files._file_paths import printable, quoted

__all__ = ["for_ibis", "is_unclear", "masked", "masked_complaint", "open_table"]

IN_FILES = ("duckdb", "sqlite")  # engines whose address is a file
ENCODE = (
    " Special characters of a password must be percent-encoded: %40 for @, %2F for /, %23 for #, %3F for ?."
)
SPECIAL = "@/?#[]"  # characters that end a password, or an address, unless they are percent-encoded
SHORTEST = 4  # shorter passwords are found in ordinary words: to mask them there would tell their letters
WHOLE = re.compile(r"(?s)((?:[A-Za-z][\w+.-]*://)?+[^:]*:)(.*)(@[^@]*)")
"""What comes before the password, from the user's colon to the last @ whatever stands between, and after."""
IN_AUTHORITY = re.compile(r"(?s)([A-Za-z][\w+.-]*://[^:/?#]*:)([^/?#]*)(@.*)")
"""The same for the password as Ibis finds it: no part of the path or the parameters."""
PARAMETER = r"(?i)((?:pass|pwd|token|secret|key)\w*=)[^&\s]"


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
            session = stack.enter_context(_spark.session())
            stack.callback(session.conf.set, _spark.ZONE, session.conf.get(_spark.ZONE))  # which Ibis sets
            connection = ibis.pyspark.connect(session)
        else:
            connection = _connected(engine)
            stack.callback(connection.disconnect)
        table = _engine_tables.find_table(connection, name)
        if connection.name == "pyspark" and table.get_name() not in name:  # a view, made for it
            stack.callback(session.catalog.dropTempView, table.get_name())
        yield table


def _connected(engine: str) -> Any:
    scheme = engine.partition("://")[0].replace("postgresql", "postgres")
    known = sorted(backend.name for backend in ibis.util.backend_entry_points())
    if "://" not in engine or scheme not in known:
        raise InputError(
            argument="engine",
            must="be 'spark' or an address that Ibis knows, such as postgres://user@host/database",
            got=quoted(masked(engine)),
            remedy=_meant(scheme, known),
        )
    options = {}
    if scheme in IN_FILES and (path := re.sub(r"^\w+://|\?.*$", "", engine)) not in ("", ":memory:"):
        if not Path(path).is_file():
            raise InputError(f"{printable(path)} is no file, so {scheme} cannot open it. Check the path.")
        options = {"read_only": True} if scheme == "duckdb" else {}
    try:
        return ibis.connect(engine if scheme in IN_FILES else for_ibis(engine), **options)
    except ImportError as error:
        raise MissingDependency(
            f"Ibis needs its driver of {scheme}: pip install 'ibis-framework[{scheme}]'"
        ) from error
    except Exception as error:  # of whatever class the driver has
        unclear = is_unclear(engine)
        complaint = masked_complaint(error, engine)
        raise InputError(
            f"No connection to {masked(engine)}: {complaint}. Check host, port, user, password and database."
            f"{ENCODE if unclear else ''}"
        ) from (None if unclear else error)


def _meant(scheme: str, known: list[str]) -> str:
    """The engine whose name is near: Spark has a word, others an address."""
    meant = {name: f"{name}://…" for name in known} | {"spark": "spark", "pyspark": "spark"}
    near = get_close_matches(scheme.lower(), meant, 1)
    return f"Did you mean {meant[near[0]]}?" if near else ""


# --- Addresses ------------------------------------------------------------------------------------


def masked(engine: str) -> str:
    """An address that may be shown."""
    before, secret, after = _parts(engine)
    if secret is None:
        return _parameters(engine)
    if re.search(f"{PARAMETER}*$", secret):  # the last @ is within a parameter
        after = re.sub(r"^[^&\s]*", "@***", after)
    return _parameters(f"{before}***{after}")


def for_ibis(engine: str) -> str:
    """An address whose password Ibis reads as it is meant: it takes a + for a space."""
    match = IN_AUTHORITY.fullmatch(engine)
    return engine if match is None else match[1] + _sent(match[2]) + match[3]


def is_unclear(engine: str) -> bool:
    """Whether it is uncertain where the password of an address ends."""
    secret = _parts(engine)[1]
    return secret is not None and any(sign in secret for sign in SPECIAL)


def masked_complaint(error: Exception, engine: str) -> str:
    """What a driver complains of, if nothing in it may be of the password."""
    text = _spark.complaint(error)
    if is_unclear(engine):
        return type(error).__name__
    secret = _parts(engine)[1] or ""
    # As it is written, as the driver reads it, and as it was handed on; the longest first.
    for spelling in sorted({secret, unquote(secret), _sent(secret)} - {""}, key=len, reverse=True):
        if len(spelling) >= SHORTEST:
            text = text.replace(spelling, "***")
        elif re.search(rf"(?<!\w){re.escape(spelling)}(?!\w)", text):
            return type(error).__name__
    return _parameters(text)


def _sent(secret: str) -> str:
    """A password as it is handed to Ibis."""
    return secret.replace("+", "%2B")


def _parts(engine: str) -> tuple[str, str | None, str]:
    """What is before the password, the password, and what is after it."""
    match = WHOLE.fullmatch(engine)
    return (match[1], match[2], match[3]) if match else (engine, None, "")


def _parameters(text: str) -> str:
    return re.sub(f"{PARAMETER}+", r"\1***", text)
