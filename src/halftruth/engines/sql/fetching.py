"""Results from an engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from halftruth.engines.sql import spark
from halftruth.engines.sql.complaints import complaint
from halftruth.engines.sql.library import pyarrow
from halftruth.errors import InputError


def fetch(expression: Any, name: str) -> Any:
    """The result of an expression as an Arrow table; complaints of the engine become errors of ``name``."""
    try:
        backend = expression.get_backend()
        with _tuned(backend):
            found = expression.to_pyarrow()
        return _zoned(found, expression) if backend.name == "pyspark" else found
    except MemoryError:
        raise
    except Exception as error:  # of whatever class the driver of the engine has
        raise InputError(f"{name} cannot be read: {complaint(error)}.") from error


@contextmanager
def _tuned(backend: Any) -> Iterator[None]:
    """The engine with settings that the result needs or comes faster with; afterwards as it was.

    The time zone is UTC, to which Ibis sets it in every connection that it makes.
    """
    wanted: dict[str, str] = {}
    if backend.name == "duckdb":
        settings = backend.settings
        get, put = settings.__getitem__, settings.__setitem__
        # It concludes from the statistics of Parquet, which leave NaN out, that a column has none.
        optimizers = ",".join(filter(None, (get("disabled_optimizers"), "statistics_propagation")))
        wanted = {"disabled_optimizers": optimizers, "TimeZone": "UTC"}
    if backend.name == "pyspark":
        session = backend.raw_sql("SELECT 1").sparkSession
        get, put = session.conf.get, session.conf.set
        # Without Arrow rows come one by one.
        wanted = {spark.ZONE: "UTC"} | ({spark.ARROW: "true"} if spark.arrow_works(session) else {})
    with ExitStack() as stack:
        for name, value in wanted.items():
            stack.callback(put, name, get(name))
            put(name, value)
        yield


def _zoned(table: Any, expression: Any) -> Any:
    """Moments of Spark with their zone, of which Ibis strips them; times on a wall clock have none."""
    if not any(pyarrow.types.is_timestamp(kind) for kind in table.schema.types):
        return table
    backend = expression.get_backend()
    for k, field in enumerate(backend.raw_sql(backend.compile(expression)).schema):
        if field.dataType.typeName() == "timestamp":
            moments = table[k].cast(pyarrow.timestamp("us", "UTC"))
            table = table.set_column(k, field.name, moments)
    return table
