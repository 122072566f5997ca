"""`halftruth calibrate`: the library's fit, from files and into files."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import halftruth as ht
from halftruth import files
from halftruth.calibration.calibrators import Calibrator, cross_calibrate
from halftruth.calibration.calibrators.methods import METHODS
from halftruth.cli import main
from halftruth.errors import InputError
from halftruth.files.writing import write_columns

RNG = np.random.default_rng(5)
N = 800
SCORE = np.round(RNG.random(N), 4)
TRUTH = RNG.random(N) < SCORE**2
KNOWN = TRUTH & (RNG.random(N) < 0.5)
TABLE = pd.DataFrame(
    {
        "score": SCORE,
        "margin": 10 * SCORE - 5,
        "weight": RNG.integers(1, 4, N),
        "full": TRUTH.astype(int),
        "label": np.where(KNOWN, 1, np.nan),
        "coded": np.where(KNOWN, 1, -1),
        "partial": np.where(KNOWN, 1, np.where(~TRUTH & (SCORE > 0.5), 0, np.nan)),
    }
)
ALL = ["--prior", "0.35"]
from_labels = ht.PositiveUnlabeled.from_labels


@pytest.fixture
def rows(tmp_path: Path) -> str:
    path = tmp_path / "rows.csv"
    TABLE.to_csv(path, index=False)
    return str(path)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)

    def call(*args: str, output: str | None = "c.json") -> tuple[int, str, str]:
        status = main(["calibrate", *args, *([] if output is None else ["--output", output])])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return status, out, err

    return call


def test_help_names_every_method(run: Any) -> None:
    status, text, _ = run("--help", output=None)
    assert status == 0
    about = re.search(r"Methods: (.*?)\. The", text, flags=re.DOTALL)
    assert about is not None
    assert set(METHODS) == set(re.findall(r"[\w-]+", about[1]))
    assert "  halftruth calibrate " in text[text.index("Examples:") :]


@pytest.mark.parametrize("method", ["beta", "isotonic", "histogram"])
def test_it_is_the_fit_of_the_library(method: str, run: Any, rows: str) -> None:
    status, out, err = run(rows, *ALL, "--method", method, "--format", "json")
    assert status == 0
    evidence = from_labels(TABLE["label"], SCORE, prior=0.35)
    expected = Calibrator(method).fit(evidence)
    assert Calibrator.load("c.json").to_dict() == expected.to_dict()
    found = json.loads(out)
    assert found["rows"] == N
    assert found["prior"] == pytest.approx(0.35)
    assert found["cross_fitted"] is True
    after = cross_calibrate(evidence, method)
    for name in ("calibration_error", "brier", "log_loss"):
        metric = getattr(ht, name)
        assert found["metrics"][name] == {"before": metric(evidence), "after": metric(after)}
    assert "SCAR" in err


def test_settings_and_columns_reach_the_fit(run: Any, rows: str) -> None:
    full = ["--label", "full", "--zeros", "negative", "--weight", "weight"]
    assert run(rows, *full, "--method", "histogram", "--n-bins", "7", "--binning", "width")[0] == 0
    labeled = ht.Labeled(TABLE["full"], SCORE, sample_weight=TABLE["weight"])
    expected = Calibrator("histogram", n_bins=7, binning="width").fit(labeled)
    assert Calibrator.load("c.json").to_dict() == expected.to_dict()
    coded = ["--label", "coded", "--unlabeled", "-1", "--prior", "0.3", "--population", "unlabeled"]
    assert run(rows, *coded, "--purity", "0.95")[0] == 0
    two = from_labels(TABLE["coded"], SCORE, unlabeled=-1, prior=0.3, purity=0.95, population="unlabeled")
    assert Calibrator.load("c.json").to_dict() == Calibrator().fit(two).to_dict()


def test_margins(run: Any, rows: str) -> None:
    full = ["--label", "full", "--zeros", "negative", "--score", "margin", "--method", "platt"]
    status, _, err = run(rows, *full)
    assert status == 2
    assert "[0, 1]" in err
    assert not Path("c.json").exists()
    status, out, err = run(rows, *full, "--scale", "score", "--format", "json")
    assert status == 0
    assert json.loads(out)["metrics"]["brier"]["before"] is None
    assert json.loads(out)["metrics"]["brier"]["after"] < 0.25
    assert "no probabilities" in err
    status, out, _ = run(rows, *full, "--scale", "score")
    assert re.search(r"^brier +– +0\.\d{3}$", out, flags=re.MULTILINE)


def test_formats(run: Any, rows: str) -> None:
    status, out, _ = run(rows, *ALL)
    assert status == 0
    assert f"{N} rows" in out
    assert "π = 0.350" in out
    assert "after, cross-fitted" in out
    assert "The calibrator is in c.json." in out
    _, out, _ = run(rows, *ALL, "--format", "csv")
    lines = list(csv.reader(io.StringIO(out)))
    assert lines[0] == ["metric", "before", "after"]
    assert [line[0] for line in lines[1:]] == ["calibration_error", "brier", "log_loss"]
    assert float(lines[1][2]) < float(lines[1][1])
    _, out, _ = run(rows, *ALL, "--format", "markdown")
    assert "| metric | before | after, cross-fitted |" in out


def test_without_a_prior_nothing_is_written(run: Any, rows: str) -> None:
    status, out, err = run(rows, "--scores", "new.csv")
    assert status == 3
    assert out == ""
    assert "--prior" in err
    assert not Path("c.json").exists()
    assert not Path("new.csv").exists()


def test_the_output_must_be_named(run: Any, rows: str) -> None:
    status, _, err = run(rows, *ALL, output=None)
    assert status == 2
    assert "--output" in err


# --- Calibrated scores -----------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_calibrated_scores_stand_beside_the_rows(form: str, run: Any, rows: str) -> None:
    name = f"it's new.{form}"
    status, out, _ = run(rows, *ALL, "--label", "partial", "--weight", "weight", "--scores", name)
    assert status == 0
    assert f"The calibrated scores are in {name}." in out
    found = pd.read_csv(name) if form == "csv" else pd.read_parquet(name)
    assert list(found) == ["score", "label", "weight", "calibrated"]
    np.testing.assert_array_equal(found["score"], SCORE)
    np.testing.assert_array_equal(found["label"].astype(float), TABLE["partial"])
    np.testing.assert_array_equal(found["weight"], TABLE["weight"])
    np.testing.assert_array_equal(found["calibrated"], Calibrator.load("c.json").predict(SCORE))
    again = files.read(name, score="calibrated", label="label")
    np.testing.assert_array_equal(again.scores["calibrated"], found["calibrated"])


def test_more_rows_than_are_kept_apart(run: Any, rows: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_ROWS", 100)
    status, out, err = run(rows, *ALL, "--scores", "new.parquet", "--format", "json")
    assert status == 0
    found = json.loads(out)
    assert found["cross_fitted"] is False
    assert "no rows to set apart" in err
    assert len(pd.read_parquet("new.parquet")) == N
    exact = Calibrator().fit(from_labels(TABLE["label"], SCORE, prior=0.35))
    # The bins of the histogram are narrow.
    np.testing.assert_allclose(Calibrator.load("c.json").predict(SCORE), exact.predict(SCORE), atol=1e-6)


def test_inputs_are_never_written_over(run: Any, rows: str, tmp_path: Path) -> None:
    before = Path(rows).read_bytes()
    for given in (rows, "*.csv", str(tmp_path), "./rows.csv"):
        for target in ({"output": "rows.csv"}, {"output": "c.json", "scores": "rows.csv"}):
            scores = ["--scores", target["scores"]] if "scores" in target else []
            status, _, err = run(given, *ALL, *scores, output=target["output"])
            assert status == 2
            assert "is one of the files that are read" in err
            assert Path(rows).read_bytes() == before
    Path("link.csv").symlink_to(rows)
    assert run("rows.csv", *ALL, "--scores", "link.csv")[0] == 2
    assert Path(rows).read_bytes() == before
    # Its own earlier results may be replaced.
    assert [run(rows, *ALL, "--scores", "new.csv")[0] for _ in range(2)] == [0, 0]


def test_targets_that_cannot_be(run: Any, rows: str, monkeypatch: pytest.MonkeyPatch) -> None:
    status, _, err = run(rows, *ALL, "--scores", "new.xlsx")
    assert status == 2
    assert ".parquet or .csv" in err
    status, _, err = run(rows, *ALL, "--scores", "same.csv", output="same.csv")
    assert status == 2
    assert "its own file" in err
    status, _, err = run(rows, *ALL, "--scores", "absent/new.csv")
    assert status == 2
    assert "cannot be written" in err
    table = ht.ScoreTable.from_file(rows)
    table.save("table.npz")
    status, _, err = run("table.npz", *ALL, "--scores", "new.csv")
    assert status == 2
    assert "saved table" in err
    assert run("table.npz", *ALL)[0] == 0
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(rows).read_bytes())))
    status, _, err = run("-", *ALL, "--scores", "new.csv")
    assert status == 2
    assert "stream" in err
    assert run("-", *ALL)[0] == 0
    assert not Path("new.csv").exists()


def test_what_is_written_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "a.csv"
    target.write_text("old")
    with pytest.raises(InputError, match="cannot be written"):
        write_columns(target, {"x": np.ones(2), "y": np.ones((2, 2), dtype=object)})
    assert target.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["a.csv"]
