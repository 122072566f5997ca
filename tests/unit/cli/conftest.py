"""What tests of the command share: a call of it, with its status and both streams."""

from __future__ import annotations

from typing import Any

import pytest

from halftruth.cli import main


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*args: str) -> tuple[int, str, str]:
        status = main(args)
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return status, out, err

    return call
