"""What runs everything: with the data or, for those who do not have them, without."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not (ROOT / ".ci").is_dir(), reason="an sdist has no CI")

MAKE = """#!/bin/sh
echo "make $*: data required $HALFTRUTH_REQUIRE_DATA, data in ${HALFTRUTH_DATA:-nowhere}"
"""


@pytest.fixture
def run(tmp_path):
    """``run(**environment)``: .ci/run in a checkout of its own, on a machine that only says what it would make."""
    (tmp_path / "bin").mkdir()
    for name, text in {"make": MAKE, "initdb": "#!/bin/sh\n", "fc-list": "#!/bin/sh\necho font\n"}.items():
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    shutil.copytree(ROOT / ".ci", tmp_path / "checkout" / ".ci")

    def ran(**environment: str) -> subprocess.CompletedProcess[str]:
        variables = {
            "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
            "CHROMIUM": "chromium",
            **environment,
        }
        command = [str(tmp_path / "checkout" / ".ci" / "run")]
        return subprocess.run(
            command, env=variables, cwd=tmp_path, capture_output=True, text=True, check=False
        )

    return ran


def made(done: subprocess.CompletedProcess[str]) -> list[str]:
    assert done.returncode == 0, done.stderr
    return re.findall(r"^make (.*): data", done.stdout, re.M)


def test_without_the_data_it_stops_and_says_how_to_go_on(run):
    done = run()
    assert done.returncode == 1
    assert "==>" not in done.stdout
    assert "HALFTRUTH_REQUIRE_DATA=0 .ci/run" in done.stderr
    assert "make check test" in done.stderr


def test_data_are_not_required_of_one_who_says_so(run, tmp_path):
    without = run(HALFTRUTH_REQUIRE_DATA="0")
    assert "data required 0, data in nowhere" in without.stdout
    (tmp_path / "shared" / "data").mkdir(parents=True)
    within = run()
    assert f"data required 1, data in {tmp_path / 'shared' / 'data'}" in within.stdout
    assert made(without) == made(within)
    assert made(within)[0] == "check"


def test_data_that_are_named_elsewhere_are_taken(run, tmp_path):
    assert f"data required 1, data in {tmp_path}\n" in run(HALFTRUTH_DATA=str(tmp_path)).stdout
    assert run(HALFTRUTH_DATA=str(tmp_path / "nowhere")).returncode == 1


@pytest.mark.parametrize("file", [".ci/run", ".pre-commit-config.yaml", "CONTRIBUTING.md", "README.md"])
def test_what_is_made_can_be_made(file):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    calls = re.findall(r"(?:`|entry: |step |^ *)make ([a-z-]+(?: [a-z-]+)*)", (ROOT / file).read_text(), re.M)
    assert calls
    assert {target for call in calls for target in call.split()} <= targets


def test_the_workflow_runs_the_same():
    workflow = (ROOT / ".github/workflows/ci.yml").read_text()
    assert re.findall(r"^ *- run: (.*)$", workflow, re.M) == [".ci/run"]
    assert 'HALFTRUTH_REQUIRE_DATA: "0"' in workflow
