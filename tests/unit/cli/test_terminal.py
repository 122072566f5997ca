"""Messages in the words of the shell; what users wrote themselves is shown as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from halftruth._errors import InputError, Note, arg, bare, call, pair, render
from halftruth.cli import main
from halftruth.cli._terminal import Vocabulary, shell_text

ROWS = "".join(f"{i / 50},{1 if i % 5 == 0 else ''},{'prior=1' if i % 2 else 'b'}\n" for i in range(50))
OPTIONS = {name: f"--{name.replace('_', '-')}" for name in ("prior", "label", "n_bins", "n_resamples")}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("score,label,g\n" + ROWS)

    def call(*args: str) -> tuple[int, str]:
        status = main(args)
        return status, capsys.readouterr().err

    return call


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"Pass {arg('prior', 0.3)}.", "Pass --prior 0.3."),
        (f"Pass {arg('prior', ...)}, the share.", "Pass --prior, the share."),
        (f"{arg('prior')} must lie in (0, 1).", "--prior must lie in (0, 1)."),
        (f"Pass {arg('prior', 'estimate')}, or not.", "Pass --prior estimate, or not."),
        (f"Pass {bare('n_resamples')} of 1000 or more.", "Pass --n-resamples of 1000 or more."),
        (f"got {pair(0.6, 0.3)}", "got 0.6..0.3"),
        (f"Pass {arg('weight', 'w')}.", 'Pass weight="w".'),  # no option of this command
        (f"{call('SoftLabeled(q)', 'soft')}, not 'SoftLabeled(q)'", "--soft, not 'SoftLabeled(q)'"),
        ("`prior` of 'prior=1', calibration_error(n_bins=10)",) * 2,  # words of the user are not touched
    ],
)
def test_references_in_the_shell(text: str, shown: str) -> None:
    assert render(text, Vocabulary(OPTIONS)) == shown


def test_without_a_command_texts_are_those_of_python() -> None:
    assert shell_text(InputError(f"Pass {arg('prior', 0.3)}.")) == "Pass prior=0.3."
    assert shell_text(Note("remark", call("f(x)", "votes")), votes="--counts") == "--counts"


def test_names_of_files_and_columns(run: Any) -> None:
    Path("label=1").mkdir()
    text = "prior=1,label,g\n" + ROWS + "bad,1,b\n"
    for name in ("label=1/x.csv", "prior=1.csv", "prior=1 rows.csv"):
        Path(name).write_text(text)
    for given, file in (("label=1/x.csv",) * 2, ("label=1", "label=1/x.csv"), ("prior=1 rows.csv",) * 2):
        status, err = run("evaluate", given, "--score", "prior=1")
        assert status == 2
        assert f"in column 'prior=1' that are not: the first is 'bad' in row 51 of {file}. Drop" in err
    assert "in row 51 of prior=1.csv. Drop" in run("evaluate", "prior=1.*", "--score", "prior=1")[1]


def test_names_of_groups_and_rows(run: Any) -> None:
    Path("none.csv").write_text("score,label,g\n0.5,,prior=1\n0.4,,prior=1\n")
    status, err = run("evaluate", "none.csv", "--by", "g", "--prior", "0.3")
    assert status == 2
    assert err.startswith("Error: g = prior=1: None of 2 row(s) has the label 1")
    label = "calibration_error(n_bins=10)"
    status, err = run(
        "evaluate", "rows.csv", "--metrics", label, "--n-resamples", "20", "--require", f"{label}<0"
    )
    assert f"Note: {label}: noise inflates" in err
    assert "--n-bins" not in err
    assert "Only 20 resample(s): intervals are rough. Pass --n-resamples of 1000 or more, or 0." in err
