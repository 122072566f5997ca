"""Results from an engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from halftruth.engines.sql import spark
from halftruth.engines.sql.complaints import complaint
from halftruth.errors import InputError


def fetch(expression: Any, name: str) -> Any:
    """The result of an expression as an Arrow table; complaints of the engine become errors of ``name``."""
    try:
        with _tuned(expression.get_backend()):
            return expression.to_pyarrow()
    except MemoryError:
        raise
    except Exception as error:  # of whatever class the driver of the engine has
        raise InputError(f"{name} cannot be read: {complaint(error)}.") from error


def _tuned(backend: Any) -> AbstractContextManager[None]:
    """The engine with a setting that the result needs or comes faster with; afterwards as it was."""
    if backend.name == "duckdb":
        # It concludes from the statistics of Parquet, which leave NaN out, that a column has none.
        settings, name = backend.settings, "disabled_optimizers"
        wanted = ",".join(filter(None, (settings[name], "statistics_propagation")))
        return _held(settings.__getitem__, settings.__setitem__, name, wanted)
    if backend.name == "pyspark":
        session = backend.raw_sql("SELECT 1").sparkSession
        if spark.arrow_works(session):  # rows else come one by one
            return _held(session.conf.get, session.conf.set, spark.ARROW, "true")
    return nullcontext()


@contextmanager
def _held(
    get: Callable[[str], str], put: Callable[[str, str], None], name: str, value: str
) -> Iterator[None]:
    before = get(name)
    put(name, value)
    try:
        yield
    finally:
        put(name, before)
