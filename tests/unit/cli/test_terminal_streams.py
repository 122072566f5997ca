"""Streams that cannot be written: said where there is a place for it, and never the status of a gate."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FULL = Path("/dev/full")
ROWS = "".join(f"{i / 50},{1 if i % 5 == 0 else ''}\n" for i in range(50))
EVALUATE = "evaluate rows.csv --prior 0.3 --metrics roc_auc --n-resamples 0"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rows.csv").write_text("score,label\n" + ROWS)
    return tmp_path


def shell(folder: Path, line: str) -> tuple[int, str, str]:
    command = ["sh", "-c", f'"{sys.executable}" -m halftruth {line}']
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    return done.returncode, done.stdout, done.stderr


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full")
@pytest.mark.parametrize("line", [EVALUATE, f"{EVALUATE} --require 'roc_auc>2'", "--help", "--version"])
def test_a_full_disk(folder: Path, line: str) -> None:
    error = "Error: stdout cannot be written: No space left on device. Send it elsewhere.\n"
    assert shell(folder, f"{line} > /dev/full") == (2, "", error)
    assert shell(folder, f"{line} > /dev/full 2> /dev/full") == (2, "", "")


@pytest.mark.skipif(sys.platform == "win32", reason="no such shell")
@pytest.mark.parametrize("line", [EVALUATE, "--help"])
def test_a_closed_stdout(folder: Path, line: str) -> None:
    error = "Error: stdout cannot be written: it is closed. Send it elsewhere.\n"
    assert shell(folder, f"{line} >&-") == (2, "", error)
    assert shell(folder, f"{line} >&- 2>&-") == (2, "", "")


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full")
@pytest.mark.parametrize("where", ["2> /dev/full", "2>&-"])
def test_remarks_that_are_lost_change_no_status(folder: Path, where: str) -> None:
    status, out, _ = shell(folder, f"{EVALUATE} {where}")
    assert status == 0
    assert "roc_auc" in out
    assert shell(folder, f"{EVALUATE} --require 'roc_auc>2' {where}")[0] == 1
    assert shell(folder, f"evaluate nowhere.csv {where}") == (2, "", "")


@pytest.mark.skipif(sys.platform == "win32", reason="no such shell")
def test_a_closed_stdin(folder: Path) -> None:
    error = "Error: Standard input is closed. Pass a file, or pipe one in.\n"
    assert shell(folder, "evaluate - <&-") == (2, "", error)
    assert shell(folder, "calibrate - --output c.json --scores s.csv <&-") == (2, "", error)
