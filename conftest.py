"""Examples in docstrings that need an optional library are skipped where it is missing."""

import os
import re
from importlib.util import find_spec

import pytest

OPTIONAL = re.compile(r"^import .*\b(torch|ibis)\b", re.M)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without HALFTRUTH_REQUIRE_EXTRAS; with it they fail."""
    required = os.environ.get("HALFTRUTH_REQUIRE_EXTRAS", "") not in {"", "0"}
    for item in items:
        if isinstance(item, pytest.DoctestItem) and not required:
            source = "".join(example.source for example in item.dtest.examples)
            missing = [name for name in OPTIONAL.findall(source) if find_spec(name) is None]
            if missing:
                item.add_marker(pytest.mark.skip(reason=f"{missing[0]} is not installed"))
