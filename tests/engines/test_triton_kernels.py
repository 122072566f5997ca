"""The Triton kernels on a processor: Triton's interpreter runs them, one program after the other."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
CASES = [str(HERE / name) for name in ("interpreted_rows.py", "interpreted_supports.py")]


def test_the_kernels_do_what_pytorch_does(require):
    require("torch")
    require("triton")
    # Triton decides when it is imported whether kernels are compiled: another process has to.
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *CASES],
        cwd=HERE.parents[1],
        env={**os.environ, "TRITON_INTERPRET": "1", "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert found.returncode == 0, found.stdout + found.stderr
