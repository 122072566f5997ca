"""`import halftruth` loads NumPy and little else."""

import json
import subprocess
import sys

import pytest

HEAVY = ["matplotlib", "pandas", "polars", "rich", "scipy.stats", "sklearn", "torch"]


@pytest.fixture(scope="module")
def loaded() -> set[str]:
    """Names of the modules that a fresh interpreter holds after `import halftruth`."""
    code = "import json, sys, halftruth; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


def test_halftruth_itself_is_loaded(loaded: set[str]) -> None:
    assert "halftruth" in loaded


@pytest.mark.parametrize("heavy", HEAVY)
def test_import_leaves_alone(heavy: str, loaded: set[str]) -> None:
    assert heavy not in loaded
