"""What all tests share: the real data, the number of draws, the optional libraries."""

import gc
import importlib
import os
import re
from collections.abc import Callable, Generator
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import NoReturn

import pytest
from hypothesis import HealthCheck, settings

# One process for each core runs tests: threads of their matrix products would only wait for one another.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# Time says more about a busy machine than about the code: no deadline, no complaint of slowness.
_SETTINGS = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("halftruth", **_SETTINGS)
settings.register_profile("halftruth-ci", derandomize=True, print_blob=True, **_SETTINGS)
settings.load_profile("halftruth-ci" if os.environ.get("CI") else "halftruth")


def _is_set(variable: str) -> bool:
    return os.environ.get(variable, "") not in {"", "0"}


def _skip_or_fail(reason: str, *, required_by: str) -> NoReturn:
    if _is_set(required_by):
        pytest.fail(f"{reason} ({required_by} is set)", pytrace=False)
    pytest.skip(reason)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Files of tests are not read for examples.

    Reading them so would forgive an import that fails (`--doctest-ignore-import-errors` is meant for modules
    that need an optional library), and the whole file would be left out without a word.
    """
    collectors = yield
    if file_path.name.startswith("test_"):
        collectors = [one for one in collectors if type(one).__name__ != "DoctestModule"]
    return collectors


OPTIONAL = re.compile(r"^import .*\b(torch|ibis)\b", re.M)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest tests to the front; examples in docstrings that lack an optional library are skipped."""
    items.sort(key=lambda item: item.get_closest_marker("first") is None)
    if _is_set("HALFTRUTH_REQUIRE_EXTRAS"):
        return
    for item in items:
        if isinstance(item, pytest.DoctestItem):
            source = "".join(example.source for example in item.dtest.examples)
            missing = [name for name in OPTIONAL.findall(source) if find_spec(name) is None]
            if missing:
                item.add_marker(pytest.mark.skip(reason=f"{missing[0]} is not installed"))


def pytest_collection_finish() -> None:
    """Thousands of tests live as long as the run: the garbage collector need not visit them on every pass."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Folder of the real data sets, named by HALFTRUTH_DATA.

    Without it the test is skipped, or fails if HALFTRUTH_REQUIRE_DATA=1.
    """
    named = os.environ.get("HALFTRUTH_DATA", "")
    if not named:
        _skip_or_fail(
            "HALFTRUTH_DATA does not name the folder of the data sets",
            required_by="HALFTRUTH_REQUIRE_DATA",
        )
    if not (Path(named) / "MANIFEST.json").is_file():
        _skip_or_fail(
            f"HALFTRUTH_DATA names {named!r}, which holds no MANIFEST.json",
            required_by="HALFTRUTH_REQUIRE_DATA",
        )
    return Path(named)


@pytest.fixture(scope="session")
def draws() -> Callable[[int], int]:
    """``draws(n)``: n Monte Carlo draws times the fraction HALFTRUTH_DRAWS, at least one."""
    fraction = float(os.environ.get("HALFTRUTH_DRAWS") or 1)
    if not fraction > 0:
        pytest.fail(f"HALFTRUTH_DRAWS must be a positive fraction, got {fraction}", pytrace=False)
    return lambda n: max(1, round(n * fraction))


@pytest.fixture(scope="session")
def require() -> Callable[[str], ModuleType]:
    """``require("torch")``: the module, or a skip, or a failure if HALFTRUTH_REQUIRE_EXTRAS=1."""

    def imported(name: str) -> ModuleType:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            # A library that is there but lacks one of its own modules is broken, not absent.
            if error.name is None or not f"{name}.".startswith(f"{error.name}."):
                raise
        _skip_or_fail(f"{name} is not installed", required_by="HALFTRUTH_REQUIRE_EXTRAS")

    return imported
