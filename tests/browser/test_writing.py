"""A page is written whole or not at all: where that fails, the old one stands and nothing lies about."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import halftruth as ht
from halftruth._errors import InputError
from halftruth.simulate import GaussianClasses

pytestmark = pytest.mark.browser

POPULATION = GaussianClasses(prior=0.3)
OLD = "the page of yesterday"


@pytest.fixture(scope="module")
def result() -> ht.Evaluation:
    return ht.evaluate(POPULATION.positive_unlabeled(60, 300, rng=0), n_resamples=20)


class Crash(BaseException):
    """What no handler of errors catches, as a signal."""


@pytest.mark.parametrize("fault", [OSError(28, "No space left on device"), Crash()])
@pytest.mark.parametrize("step", ["chmod", "replace"])
def test_a_crash_leaves_the_old_page(
    step: str, fault: BaseException, result: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.html"
    path.write_text(OLD)

    def fail(*_: Any, **__: Any) -> None:
        raise fault

    monkeypatch.setattr(Path, step, fail)
    with pytest.raises(InputError if isinstance(fault, OSError) else Crash):
        result.to_html(path)
    assert path.read_text() == OLD
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.parametrize("where", ["folder", "missing/report.html", "/proc/report.html"])
def test_a_place_that_takes_no_page(where: str, result: Any, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="cannot be written"):
        result.to_html(tmp_path / where)
    assert [each.name for each in tmp_path.iterdir()] == ["folder"]
    assert list((tmp_path / "folder").iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_is_only_read(result: Any, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(OLD)
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(InputError, match="cannot be written"):
            result.to_html(path)
    finally:
        tmp_path.chmod(0o700)
    assert path.read_text() == OLD


def test_a_full_disk_leaves_the_old_page(tmp_path: Path) -> None:
    """No file may pass 4 kB in this process: the write fails half-way."""
    path, scores = tmp_path / "report.html", tmp_path / "scores.csv"
    path.write_text(OLD)
    draw = POPULATION.draw(200, 0)
    lines = (
        f"{s},{1 if y and i % 2 else ''}" for i, (s, y) in enumerate(zip(draw.score, draw.y, strict=True))
    )
    scores.write_text("\n".join(["score,label", *lines]))
    arguments = ["evaluate", str(scores), "--prior", "0.3", "--n-resamples", "20", "--html", str(path)]
    program = (
        "import resource, sys; from halftruth.cli import main; from halftruth import _storage as storage; write = storage.write\n"
        "def limited(*a):\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)); write(*a)\n"
        "storage.write = limited; sys.exit(main(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "cannot be written" in done.stderr
    assert "Traceback" not in done.stderr
    assert path.read_text() == OLD
    assert sorted(each.name for each in tmp_path.iterdir()) == ["report.html", "scores.csv"]


def test_a_page_takes_the_place_of_the_old_one(result: Any, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(OLD)
    result.to_html(path)
    first = path.read_bytes()
    result.to_html(str(path))
    assert path.read_bytes() == first
    assert first.startswith(b"<!doctype html>")
    assert first.rstrip().endswith(b"</html>")
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]
