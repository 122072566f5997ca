"""`evaluate --save-table`: what was read is read once, whatever the prior, and merges with other days."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import halftruth as ht
from halftruth.cli import main

RNG = np.random.default_rng(3)
N = 400
TRUTH = RNG.random(N) < 0.4
FRAME = pd.DataFrame(
    {
        "score": np.round(np.clip(RNG.normal(0.3 + 0.4 * TRUTH, 0.2), 0, 1), 3),
        "label": np.where(TRUTH & (RNG.random(N) < 0.5), 1.0, np.nan),
        "month": np.where(RNG.random(N) < 0.5, "jan", "feb"),
        "w": RNG.integers(1, 4, N),
    }
)
FEW = ["--n-resamples", "30", "--format", "json"]
HOSTILE = ["../out", "a/b", "a\\b", "A", "a", "", "nul\n", "x" * 300, ".", "Zürich", "=1+1", "$(touch x)"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    FRAME.to_parquet("all.parquet")
    FRAME[:150].to_parquet("monday.parquet")
    FRAME[150:].to_parquet("tuesday.parquet")
    return tmp_path


@pytest.fixture
def run(folder: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*args: str, status: int = 0) -> tuple[str, str]:
        assert main(["evaluate", *args, *FEW]) == status
        out, err = capsys.readouterr()
        assert (out == "") == (status == 2)
        return out, err

    return call


def big(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows become a histogram, as those of a large file do."""
    monkeypatch.setattr("halftruth.files._read_files.MAX_ROWS", 100)


@pytest.mark.parametrize("histogram", [False, True])
@pytest.mark.parametrize("weight", [[], ["--weight", "w"]])
def test_two_days_are_the_rows_of_both(
    run: Any, monkeypatch: pytest.MonkeyPatch, histogram: bool, weight: list[str]
) -> None:
    if histogram:
        big(monkeypatch)
    for day in ("monday", "tuesday"):
        _, err = run(f"{day}.parquet", *weight, "--save-table", f"{day}.npz")
        assert f"Table: {Path(f'{day}.npz').resolve()}\n" in err
        assert (ht.ScoreTable.load(f"{day}.npz").grid is not None) == histogram
    expected = run("all.parquet", *weight, "--prior", "0.35")[0]
    for name in ("monday.parquet", "tuesday.parquet", "all.parquet"):
        Path(name).unlink()  # another prior touches no row
    assert run("monday.npz", "tuesday.npz", "--prior", "0.35", "--save-table", "both.npz")[0] == expected
    assert run("both.npz", "--prior", "0.35")[0] == expected
    assert run("*day.npz", "--prior", "0.35")[0] == expected
    assert run("both.npz", "--prior", "0.2..0.3")[0] != expected


def test_what_was_read_is_kept_whatever_the_evaluation_says(run: Any) -> None:
    _, err = run("all.parquet", "--prior", "0.01", "--save-table", "all.npz", status=2)
    assert "what the counts allow" in err
    assert run("all.npz", "--prior", "0.4")[0] == run("all.parquet", "--prior", "0.4")[0]


def test_groups_have_files_of_their_own(run: Any) -> None:
    out, err = run("all.parquet", "--by", "month", "--prior", "0.4", "--save-table", "scores.npz")
    files = ", ".join(str(Path(f"scores-{month}.npz").resolve()) for month in json.loads(out)["groups"])
    assert f"Tables of 2 group(s): {files}\n" in err
    _, err = run("scores.npz", "--prior", "0.4", status=2)
    assert "no file scores.npz, but of groups there are scores-feb.npz, scores-jan.npz" in err
    assert {path.name for path in Path().glob("*.npz")} == {"scores-jan.npz", "scores-feb.npz"}
    for month, result in json.loads(out)["groups"].items():
        assert json.loads(run(f"scores-{month}.npz", "--prior", "0.4")[0]) == result


def test_no_name_of_a_group_leaves_the_folder(run: Any, folder: Path) -> None:
    (folder / "in").mkdir()
    rows = [(0.9, 1, name) for name in HOSTILE] + [(0.1, None, name) for name in HOSTILE]
    pd.DataFrame(rows, columns=["score", "label", "g"]).to_parquet("rows.parquet")
    before = {path for path in folder.rglob("*") if path.is_file()}
    run("rows.parquet", "--by", "g", "--metrics", "roc_auc", "--save-table", "in/t.npz")
    written = {path for path in folder.rglob("*") if path.is_file()} - before
    assert {path.parent for path in written} == {folder / "in"}
    assert len({path.name.casefold() for path in written}) == len(HOSTILE)
    assert all(path.name.startswith("t-") and len(os.fsencode(path.name)) < 255 for path in written)
    assert folder / "in" / "t-Zürich.npz" in written
    assert all(len(ht.ScoreTable.load(path)) == 2 for path in written)


@pytest.mark.parametrize("month", ["jan", "feb"])
def test_all_groups_or_none(run: Any, folder: Path, month: str) -> None:
    Path(f"scores-{month}.npz").mkdir()
    _, err = run("all.parquet", "--by", "month", "--save-table", "scores.npz", status=2)
    assert f"scores-{month}.npz cannot be written" in err
    assert sorted(path.name for path in folder.glob("*")) == [
        "all.parquet",
        "monday.parquet",
        f"scores-{month}.npz",
        "tuesday.parquet",
    ]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("table.csv", "--save-table writes a table, so its FILE must end in .npz; got 'table.csv'."),
        (
            "nowhere/t.npz",
            "nowhere/t.npz cannot be written: No such file or directory. Choose another place.",
        ),
        ("folder.npz", "folder.npz cannot be written: it is no file. Choose another place."),
        ("old.npz", "--save-table old.npz is one of the files that are read"),
        ("./old.npz", "--save-table ./old.npz is one of the files that are read"),
    ],
)
def test_places_that_cannot_be_are_refused_before_anything_is_read(
    run: Any, target: str, message: str
) -> None:
    Path("folder.npz").mkdir()
    Path("old.npz").write_bytes(b"not read")
    _, err = run("old.npz", "--save-table", target, status=2)
    assert message in err
    assert Path("old.npz").read_bytes() == b"not read"


def test_a_table_that_is_there_gives_way(run: Any) -> None:
    run("monday.parquet", "--save-table", "day.npz")
    run("tuesday.parquet", "--save-table", "day.npz")
    assert len(ht.ScoreTable.load("day.npz")) == 250


def test_a_table_counts_once(run: Any) -> None:
    run("monday.parquet", "--save-table", "monday.npz")
    for names in (["monday.npz", "./monday.npz"], ["*.npz", "monday.npz"]):
        _, err = run(*names, status=2)
        assert "monday.npz was named more than once, so its rows would count twice. Name it once." in err
    _, err = run("sunday-*.npz", status=2)
    assert "There is no file sunday-*.npz." in err


@pytest.mark.parametrize(
    ("label", "args"),
    [
        (FRAME["label"].fillna(0), ["--zeros", "unlabeled"]),
        (FRAME["label"].fillna(-1), ["--unlabeled", "-1"]),
        (FRAME["label"], ["--weight", "w"]),
    ],
)
def test_options_of_columns_are_about_the_rows_beside_a_saved_table(
    run: Any, label: pd.Series, args: list[str]
) -> None:
    coded = FRAME.assign(label=label)
    coded[:150].to_parquet("monday.parquet")
    coded[150:].to_parquet("tuesday.parquet")
    coded.to_parquet("all.parquet")
    run("monday.parquet", *args, "--save-table", "monday.npz")
    mixed = run("monday.npz", "tuesday.parquet", *args, "--prior", "0.4")[0]
    assert mixed == run("all.parquet", *args, "--prior", "0.4")[0]
    _, err = run("monday.npz", *args, status=2)
    assert f"{args[0]} is about the columns of a file" in err


# --- Grids --------------------------------------------------------------------------------------------


def test_a_day_of_margins_merges_with_one_that_could_be_probabilities(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    big(monkeypatch)
    FRAME.assign(score=3 * FRAME["score"])[:150].to_parquet("margins.parquet")
    run("margins.parquet", "--save-table", "margins.npz")
    run("tuesday.parquet", "--save-table", "tuesday.npz")
    _, err = run("margins.npz", "tuesday.npz", status=2)
    assert "margins.npz and tuesday.npz have different grids" in err
    assert "halftruth evaluate FILE --grid margin --save-table TABLE.npz" in err
    _, err = run("tuesday.npz", "margins.parquet", status=2)
    assert "margins.parquet" in err
    assert "halftruth evaluate FILE --grid margin --save-table TABLE.npz" in err
    both = run("margins.parquet", "tuesday.parquet")[0]
    assert run("margins.npz", "tuesday.parquet")[0] == both  # rows go where those before them are
    run("tuesday.parquet", "--grid", "margin", "--save-table", "tuesday.npz")
    assert run("margins.npz", "tuesday.npz")[0] == both
    _, err = run("margins.parquet", "--grid", "probability", status=2)
    assert "[0, 1]" in err
    assert "Use --grid margin." in err


def test_exact_rows_that_the_grid_of_another_day_does_not_take(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    FRAME.assign(score=3 * FRAME["score"])[:150].to_parquet("margins.parquet")
    run("margins.parquet", "--save-table", "margins.npz")
    big(monkeypatch)
    run("tuesday.parquet", "--save-table", "tuesday.npz")
    _, err = run("tuesday.npz", "margins.npz", status=2)
    assert err.startswith("Error: margins.npz: ")
    assert "halftruth evaluate FILE --grid margin --save-table TABLE.npz" in err


def test_a_saved_table_has_its_grid(run: Any) -> None:
    run("monday.parquet", "--save-table", "monday.npz")
    _, err = run("monday.npz", "--grid", "margin", status=2)
    assert "--grid is about rows that are read; the saved table monday.npz has its own, or none." in err
