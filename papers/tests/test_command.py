"""`halftruth reproduce`: what reaches the library, what is shown, and how it ends."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from halftruth._errors import MissingDependency, as_notes
from halftruth.cli import main
from halftruth.cli._terminal import say
from halftruth_papers import reproduction
from halftruth_papers.claesen import settings as claesen_settings
from halftruth_papers.claesen import tables as claesen_tables
from halftruth_papers.jain import tables as jain_tables
from halftruth_papers.jain.tables import Experiment
from halftruth_papers.reproduction import Outcome, Paper
from halftruth_papers.store import Store

PAGE = Path("out") / "jain.html"
NOTES = ["Repeats: 2 (the paper: 50).", "Data sets of the paper that were not found: bank."]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*args: str) -> tuple[int, str, str]:
        status = main(["reproduce", *args])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return status, out, err

    return call


def experiment(data: str, purity: float, *, complete: bool = True) -> Experiment:
    """Estimates are .01 too high with complete sets, .5 with the others."""
    off = 0.01 if complete else 0.5
    cell = {"alpha": 0.3, "rho": purity, "auc": 0.4, "auc_pr": 0.4, "hidden_auc": 0.38, "hidden_auc_pr": 0.38}
    for area in ("auc", "auc_pr"):
        cell |= {name: 0.4 + off for name in jain_tables.ESTIMATES[area].values() if "clean" not in name}
    return Experiment(
        block="networks",
        data=data,
        purity=purity,
        complete=complete,
        d=3,
        n_positive=9,
        n=40,
        repeats=(cell,) * 2,
    )


def outcome_of(page: Path, experiments: list[Experiment], notes: list[str]) -> Outcome:
    summary = jain_tables.summary_tables(experiments)
    return Outcome(page=page, results={}, notes=list(as_notes(notes)), summary=summary)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, dict[str, Any]]]:
    """Runs of nothing: what they were asked for."""
    calls: list[tuple[Any, dict[str, Any]]] = []
    sets = [experiment("wine", 1.0), experiment("pima", 1.0), experiment("gas", 1.0, complete=False)]

    def nothing(paper: Paper, data: str | None, out: str, **settings: Any) -> Outcome:
        calls.append(((paper.name, data, out), settings))
        if paper.name == "jain":
            return outcome_of(PAGE, sets, NOTES)
        summary = claesen_tables.summary_tables(RESULTS)
        return Outcome(
            page=Path("c") / "claesen.html",
            results=RESULTS,
            notes=list(as_notes(["A note."])),
            summary=summary,
        )

    monkeypatch.setattr(reproduction, "run", nothing)
    return calls


def test_the_group_names_its_papers(run: Any) -> None:
    status, out, err = run()
    assert (status, out) == (2, "")
    assert "jain" in err
    assert "claesen" in err
    assert run("--help")[0] == 0


@pytest.mark.parametrize("paper", ["jain", "claesen"])
def test_help_loads_no_numpy(paper: str) -> None:
    code = (
        f"import sys; from halftruth.cli import main; status = main(['reproduce', '{paper}', '--help']);"
        "print([m for m in ('numpy', 'sklearn', 'matplotlib') if m in sys.modules]); sys.exit(status)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stdout.endswith("[]\n")
    for option in ("--data", "--out", "--quick"):
        assert option in done.stdout


def test_defaults(run: Any, asked: Any) -> None:
    assert run("jain")[0] == 0
    settings = {
        "quick": False,
        "repeats": None,
        "blocks": ("networks", "forest"),
        "jobs": None,
        "progress": True,
        "say": say,
    }
    assert asked == [(("jain", None, "halftruth-jain"), settings)]


def test_every_option_reaches_the_run(run: Any, asked: Any) -> None:
    args = (
        "--data",
        "d",
        "--out",
        "o",
        "--quick",
        "--repeats",
        "3",
        "--blocks",
        "forest, networks",
        "--jobs",
        "2",
    )
    assert run("jain", *args)[0] == 0
    settings = {"quick": True, "repeats": 3, "blocks": ["forest", "networks"], "jobs": 2}
    assert asked == [(("jain", "d", "o"), {**settings, "progress": True, "say": say})]


def test_the_summary_is_of_complete_sets_and_notes_go_to_stderr(run: Any, asked: Any) -> None:
    status, out, err = run("jain")
    assert status == 0
    assert err == "".join(f"Note: {note}\n" for note in NOTES)
    lines = out.splitlines()
    assert lines[0] == "networks, AUC"
    assert lines[-1] == f"Page: {PAGE}"
    rows = [line.split() for line in lines if line.startswith("1 ")]
    # The paper's PU and IR of wine and pima with ρ = 1: .188 and .101, .027 and .026.
    assert rows[0][1:4] == ["paper", f"{(0.188 + 0.101) / 2:.3f}", f"{(0.027 + 0.026) / 2:.3f}"]
    assert rows[1][1:4] == ["ours", "(a)", "0.010"]
    assert rows[2][1:4] == ["ours", "(b)", "0.030"]


def test_json_and_csv(run: Any, asked: Any) -> None:
    shown = json.loads(run("jain", "--format", "json")[1])
    assert (shown["schema"], shown["page"], shown["notes"]) == (1, str(PAGE), NOTES)
    rows = list(csv.DictReader(io.StringIO(run("jain", "--format", "csv")[1])))
    assert len(rows) == len(shown["errors"]) == 3 * 8 + 3 * 6
    for row, same in zip(rows, shown["errors"], strict=True):
        assert {
            **row,
            "error": float(row["error"]) if row["error"] else None,
            "rho": float(row["rho"]),
        } == same
        assert same["rho"] == 1
    ours = [row["error"] for row in shown["errors"] if row["who"] == "ours (a)"]
    assert ours == pytest.approx([0.01] * 14)
    theirs = {row["column"]: row["error"] for row in shown["errors"] if row["who"] == "paper"}
    assert theirs["CR"] is None
    assert run("jain", "--format", "markdown")[1].startswith("### networks, AUC")


def test_without_a_complete_set_there_is_still_a_page(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = outcome_of(PAGE, [experiment("gas", 1.0, complete=False)], [])
    monkeypatch.setattr(reproduction, "run", lambda *args, **settings: outcome)
    status, out, err = run("jain")
    assert (status, err) == (0, "")
    assert f"Page: {PAGE}" in out
    assert "0.5" not in out


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--repeats", "0"], "repeats"),
        (["--jobs", "0"], "jobs"),
        (["--blocks", "trees"], "'networks' or 'forest', got 'trees'"),
        (["--data", "no-such-folder"], "no-such-folder"),
        (["--nope"], "--nope"),
    ],
)
def test_bad_usage_and_bad_input(
    run: Any, args: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = run("jain", *args)
    assert (status, out) == (2, "")
    assert err.startswith("Error: ")
    assert said in err
    assert list(tmp_path.iterdir()) == []


def test_no_folder_is_named(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HALFTRUTH_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    status, out, err = run("jain")
    assert (status, out) == (2, "")
    assert "HALFTRUTH_DATA" in err


def test_a_damaged_data_set(run: Any, tmp_path: Path) -> None:
    np.savez(tmp_path / "pima.npz", X=np.zeros((3, 2)), y=[0, 1, 1])
    status, out, err = run("jain", "--data", str(tmp_path), "--out", str(tmp_path / "out"))
    assert (status, out) == (2, "")
    assert "pima.npz" in err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (KeyboardInterrupt(), 130, "Interrupted."),
        (MissingDependency("Figures need matplotlib."), 2, "matplotlib"),
        (RuntimeError("broken"), 70, "broken"),
    ],
)
def test_how_it_ends(
    run: Any, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, said: str
) -> None:
    def failing(*args: Any, **settings: Any) -> Any:
        raise error

    monkeypatch.setattr(reproduction, "run", failing)
    status, out, err = run("jain")
    assert (status, out) == (code, "")
    assert said in err


RESULTS = {
    "table-10-0": {
        "truth": 0.7,
        "cases": [
            {
                which: {claesen_settings.THEIRS: [0.71, 0.75], claesen_settings.OURS: None}
                for which in ("direct", "both")
            }
        ]
        * 3,
    },
    "table-10-20": {
        "truth": 0.7,
        "cases": [
            {
                which: {claesen_settings.THEIRS: [0.6, 0.72], claesen_settings.OURS: [0.5, 0.9]}
                for which in ("direct", "both")
            }
        ]
        * 3,
    },
    "coverage-5-7-0": {
        "n_known": 5,
        "n_latent": 7,
        "runs": 4,
        "counts": {band: {"band": 1, "area": 3, "width": 0.8, "made": 4} for band in claesen_settings.BANDS},
    },
}


def test_claesen(run: Any, asked: Any) -> None:
    status, out, err = run("claesen")
    assert (status, err) == (0, "Note: A note.\n")
    assert out.endswith(f"Page: {Path('c') / 'claesen.html'}\n")
    lines = [line.split() for line in out.splitlines()]
    assert ["5", "/", "7", "our", "default", "0.250", "0.750", "0.200"] in lines
    assert ["Table", "1", "theirs", "0.080", "0.500"] in lines  # one of two holds .7
    assert ["Table", "2", "ours", "0.400", "0.500"] in lines  # what is refuted holds nothing
    assert run("claesen", "--data", "d", "--out", "c", "--quick", "--rng", "4")[0] == 0
    shared = {"progress": True, "say": say}
    assert asked == [
        (("claesen", None, "halftruth-claesen"), {"quick": False, "rng": 0, **shared}),
        (("claesen", "d", "c"), {"quick": True, "rng": 4, **shared}),
    ]


@pytest.mark.usefixtures("asked")
def test_claesen_for_programs(run: Any) -> None:
    shown = json.loads(run("claesen", "--format", "json")[1])
    assert (shown["schema"], shown["notes"], shown["note_kinds"]) == (1, ["A note."], ["remark"])
    assert shown["results"][0] == {
        "table": "Do the bands hold?",
        "setting": "5 / 7",
        "band": "the paper's bootstrap band",
        "column": "band",
        "value": 0.25,
    }
    rows = list(csv.DictReader(io.StringIO(run("claesen", "--format", "csv")[1])))
    assert [{**row, "value": float(row["value"])} for row in rows] == shown["results"]
    assert run("claesen", "--format", "markdown")[1].startswith("### Do the bands hold?")


def test_claesen_refuses_a_folder_that_is_not_there(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = run("claesen", "--data", "no-such-folder")
    assert (status, out) == (2, "")
    assert "--data must be a folder that exists, got 'no-such-folder'" in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("paper", ["jain", "claesen"])
def test_ctrl_c_tells_how_to_go_on(run: Any, monkeypatch: pytest.MonkeyPatch, paper: str) -> None:
    def stopped(*args: Any, **settings: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(reproduction, "run", stopped)
    status, out, err = run(paper)
    assert (status, out) == (130, "")
    assert err == "What is done is kept: the same command goes on where it stopped.\nInterrupted.\n"


def test_a_terminal_has_a_bar_and_no_line(run: Any, monkeypatch: pytest.MonkeyPatch, asked: Any) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    for paper in ("jain", "claesen"):
        run(paper)
    assert [settings["say"] for _, settings in asked] == [None, None]


def test_a_folder_of_another_run(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.delenv("HALFTRUTH_DATA", raising=False)
    Store(tmp_path, {"paper": "claesen", "quick": True})
    status, out, err = run("claesen", "--out", str(tmp_path))
    assert (status, out) == (2, "")
    assert err == (
        f"Error: --out ({tmp_path}) holds a quick run of claesen, and this is a full one. Pass another "
        f"folder, or delete it.\n"
    )


def test_options_given_twice_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for line, message in (
        (["jain", "--data", "a", "--data", "b"], "--data was given 2 times; it takes one value."),
        (["jain", "--jobs=1", "--jobs", "2"], "--jobs was given 2 times; it takes one value."),
        (["bpm", "--rng", "1", "--rng", "2"], "--rng was given 2 times; it takes one value."),
    ):
        assert main(["reproduce", *line]) == 2
        assert capsys.readouterr() == ("", f"Error: {message}\n")
