"""Results from an engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from halftruth._errors import InputError
from halftruth.engines.sql import spark
from halftruth.engines.sql.complaints import complaint
from halftruth.engines.sql.expression import MOMENT
from halftruth.engines.sql.library import pyarrow


def fetch(expression: Any, name: str) -> Any:
    """The result of an expression as an Arrow table; complaints of the engine become errors of ``name``."""
    try:
        with _tuned(expression.get_backend()):
            found = expression.to_pyarrow()
    except MemoryError:
        raise
    except Exception as error:  # of whatever class the driver of the engine has
        raise InputError(f"{name} cannot be read: {complaint(error)}.") from error
    if MOMENT not in found.column_names:
        return found
    moments = found[MOMENT].cast(pyarrow.timestamp("us", "UTC"))
    return found.drop_columns([MOMENT]).append_column("g", moments)


@contextmanager
def _tuned(backend: Any) -> Iterator[None]:
    """The engine with a setting that the result needs or comes faster with; afterwards as it was."""
    if backend.name == "duckdb":
        settings, name = backend.settings, "disabled_optimizers"
        get, put = settings.__getitem__, settings.__setitem__
        # It concludes from the statistics of Parquet, which leave NaN out, that a column has none.
        wanted = ",".join(filter(None, (get(name), "statistics_propagation")))
    elif backend.name == "pyspark" and spark.arrow_works(session := spark.session_of(backend)):
        get, put, name = session.conf.get, session.conf.set, spark.ARROW
        wanted = "true"  # rows else come one by one
    else:
        yield
        return
    before = get(name)
    put(name, wanted)
    try:
        yield
    finally:
        with suppress(Exception):  # where a transaction has failed it must not hide why
            put(name, before)
