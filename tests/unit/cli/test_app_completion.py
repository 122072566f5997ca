"""Shell completion: commands, options, names of metrics and methods, columns of the file on the line."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from halftruth.cli import main

FIRST = ["evaluate", "compare", "prior", "calibrate", "bayes-error", "plan-review", "demo", "reproduce"]
HOSTILE = 'ok,a$(touch pwned),`touch pwned`,"q\\$(touch pwned)",sp ace,--x,"d""q",é\n' + "1," * 7 + "1\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "scores.csv").write_text("model_a;model_b;label\n0.1;0.2;1\n")
    (tmp_path / "rows.jsonl").write_text('{"score": 0.1, "label": 1}\n')
    (tmp_path / "hostile.csv").write_text(HOSTILE)
    (tmp_path / "broken.parquet").write_bytes(b"nothing")
    # The command as a shell finds it, whatever the installation.
    command = tmp_path / "bin" / "halftruth"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m halftruth "$@"\n')
    command.chmod(0o755)
    return tmp_path


def ask(folder: Path, *args: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **variables, "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(
        args or [sys.executable, "-m", "halftruth"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env=environment,
        cwd=folder,
    )


@pytest.fixture
def offered(folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Any:
    """``offered("evaluate", "--zer")``: what bash would be offered for the last word."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("_HALFTRUTH_COMPLETE", "complete_bash")

    def call(*words: str) -> list[str]:
        monkeypatch.setenv("COMP_WORDS", " ".join(["halftruth", *words]))
        monkeypatch.setenv("COMP_CWORD", str(len(words)))
        status = main([])
        out, err = capfd.readouterr()
        assert (status, err) == (0, "")
        return out.split()

    return call


CASES: list[tuple[list[str], list[str]]] = [
    ([""], FIRST),
    (["ca"], ["calibrate"]),
    (["evaluate", "--zer"], ["--zeros"]),
    (["compare", "--no-p"], ["--no-paired"]),
    (["evaluate", "x", "--zeros", ""], ["negative", "unlabeled"]),
    (["evaluate", "x", "--format", "m"], ["markdown"]),
    (["evaluate", "x", "--metrics", "roc"], ["roc_auc"]),
    (["evaluate", "x", "--metrics", "brier,roc_auc,bri"], ["brier,roc_auc,brier_skill"]),
    (
        ["evaluate", "x", "--method", ""],
        ["percentile", "basic", "normal", "bias-corrected", "fitted"],
    ),
    (["evaluate", "x", "--prior", "e"], ["estimate"]),
    (["evaluate", "scores.csv", "--review-chance", ""], ["estimate", "model_a", "model_b", "label"]),
    (["evaluate", "x", "--missing-reviews", ""], ["error", "bounds"]),
    (["compare", "scores.csv", "--known-positive", "la"], ["label"]),
    (["plan-review", "x", "--prior", ""], ["estimate"]),
    (["prior", "x", "--method", "em,alp"], ["em,alphamax"]),
    (["calibrate", "x", "--method", "is"], ["isotonic"]),
    (["bayes-error", "x", "--calibrator", "spl"], ["spline"]),
    (["reproduce", "p"], ["pu-ece"]),
    (["reproduce", "jain", "--blocks", "f"], ["forest"]),
    (["evaluate", "scores.csv", "--score", ""], ["model_a", "model_b", "label"]),
    (["evaluate", "scores.csv", "--score", "model_a", "--label", "la"], ["label"]),
    (["compare", "scores.csv", "--score", "model_a", "--score", "model_"], ["model_a", "model_b"]),
    (["bayes-error", "scores.csv", "--classes", "model_a,"], ["model_a,model_b", "model_a,label"]),
    (["prior", "rows.jsonl", "--label", ""], ["label", "score"]),
    (["evaluate", "hostile.csv", "--score", ""], ["ok"]),
    (["evaluate", "broken.parquet", "--score", ""], []),
    (["evaluate", "there-is-none.csv", "--score", ""], []),
    (["evaluate", "scor"], []),
]


@pytest.mark.parametrize(("words", "expected"), CASES, ids=[" ".join(words) for words, _ in CASES])
def test_what_is_offered(offered: Any, words: list[str], expected: list[str]) -> None:
    assert offered(*words) == expected


def test_every_metric_and_estimator_is_offered(offered: Any) -> None:
    from halftruth._registry import REGISTRY
    from halftruth.prior._methods import METHODS

    assert offered("evaluate", "x", "--metrics", "") == list(REGISTRY)
    assert offered("prior", "x", "--method", "") == [*METHODS, "sample"]


def test_intervals_offered_are_the_library_s() -> None:
    from halftruth.cli._options import complete_intervals
    from halftruth.results._intervals import METHODS

    assert set(complete_intervals("")) <= set(METHODS)


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize("how", ["--show-completion bash", "source_bash"])
def test_in_a_real_bash(folder: Path, how: str) -> None:
    if how == "source_bash":
        script = ask(folder, _HALFTRUTH_COMPLETE="source_bash")
    else:  # by name, as no shell calls us here
        disabled = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
        script = ask(folder, sys.executable, "-m", "halftruth", *how.split(), **disabled)
    assert (script.returncode, script.stderr) == (0, "")
    (folder / "completion.sh").write_text(script.stdout)
    test = """
    set -u
    source completion.sh
    complete -p halftruth
    for line in "ev" "evaluate scores.csv --score model" "evaluate hostile.csv --score "; do
        IFS=' ' read -r -a words <<< "$line"
        COMP_WORDS=(halftruth "${words[@]}"); [[ $line == *" " ]] && COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=()
        _halftruth_completion halftruth
        echo "${COMPREPLY[*]}"
    done
    """
    done = ask(folder, "bash", "--norc", "-c", test)
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0].startswith("complete -o default -F _halftruth_completion")
    assert lines[1:] == ["evaluate", "model_a model_b", "ok"]
    assert not (folder / "pwned").exists()


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_installation(folder: Path) -> None:
    home = folder / "home"
    home.mkdir()
    variables = {"HOME": str(home), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    done = ask(folder, sys.executable, "-m", "halftruth", "--install-completion", "bash", **variables)
    assert (done.returncode, done.stderr) == (0, "")
    assert "completion installed in" in done.stdout
    loaded = ask(folder, "bash", "--norc", "-c", "source ~/.bashrc; complete -p halftruth", HOME=str(home))
    assert "_halftruth_completion" in loaded.stdout


@pytest.mark.parametrize(
    ("shell", "text"),
    [
        ("zsh", "compdef _halftruth_completion halftruth"),
        ("fish", "complete --command halftruth"),
        ("bash", "complete -o default -F _halftruth_completion halftruth"),
    ],
)
def test_scripts(run: Any, monkeypatch: pytest.MonkeyPatch, shell: str, text: str) -> None:
    monkeypatch.setenv("_HALFTRUTH_COMPLETE", f"source_{shell}")
    status, out, err = run()
    assert (status, err) == (0, "")
    assert text in out


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells(folder: Path, run: Any, monkeypatch: pytest.MonkeyPatch, shell: str) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("_HALFTRUTH_COMPLETE", f"complete_{shell}")

    def complete(line: str, action: str = "get-args") -> tuple[int, str, str]:
        monkeypatch.setenv("_TYPER_COMPLETE_ARGS", line)
        monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", action)
        result: tuple[int, str, str] = run()
        return result

    status, out, err = complete("halftruth evaluate scores.csv --score model")
    assert (status, err) == (0, "")
    assert "model_a" in out
    assert "model_b" in out
    _, hostile, _ = complete("halftruth evaluate hostile.csv --score ")
    assert "ok" in hostile
    assert "touch" not in hostile
    if shell == "fish":  # 1 says that there is nothing but files
        assert complete("halftruth evaluate scor", "is-args")[0] == 1
        assert complete("halftruth ev", "is-args")[0] == 0


def test_a_bad_request_is_no_traceback(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_HALFTRUTH_COMPLETE", "nonsense")
    assert run()[0] == 1


def test_a_file_that_takes_long_is_not_opened(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from halftruth.cli import _options

    monkeypatch.chdir(folder)
    size = Path("rows.jsonl").stat().st_size
    assert _options.LARGEST == 1 << 26
    monkeypatch.setattr(_options, "LARGEST", size)
    assert _options._columns("rows.jsonl") == ["label", "score"]
    monkeypatch.setattr(_options, "LARGEST", size - 1)
    assert _options._columns("rows.jsonl") == []
    assert _options._columns("scores.csv") == ["model_a", "model_b", "label"]  # one line is enough
