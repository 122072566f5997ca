"""What all stories share: the real command, called in this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from halftruth.cli import main

from .told import Told, tell


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """The status and both streams of a command."""

    def call(*args: str) -> tuple[int, str, str]:
        status = main(args)
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return status, out, err

    return call


@pytest.fixture
def told(run: Callable[..., tuple[int, str, str]], tmp_path: Path) -> Callable[..., Told]:
    """The same command in every format."""
    return lambda *args: tell(run, tmp_path, *args)
