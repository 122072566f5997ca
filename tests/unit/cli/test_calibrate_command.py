"""`halftruth calibrate`: the library's fit, from files and into files."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import stat
import sys
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pandas as pd
import pytest

import halftruth as ht
from halftruth import _storage, files
from halftruth._errors import InputError
from halftruth.calibration.calibrators import Calibrator, cross_calibrate
from halftruth.calibration.calibrators._calibration_methods import METHODS
from halftruth.calibration.calibrators._cross_fitting import FoldedBins
from halftruth.files._cell_meanings import Columns
from halftruth.files._write_column import replaced, write_with
from halftruth.table._grid import Grid
from halftruth.table._histogram import Bins, fixed

RNG = np.random.default_rng(5)
N = 800
SCORE = np.round(RNG.random(N), 4)
TRUTH = RNG.random(N) < SCORE**2
KNOWN = TRUTH & (RNG.random(N) < 0.5)
TABLE = pd.DataFrame(
    {
        "case": [f"{i:04d}" for i in range(N)],
        "score": SCORE,
        "margin": np.round(10 * SCORE - 5, 3),
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
def run(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)

    def call(*args: str, output: str | None = "c.json") -> tuple[int, str, str]:
        return run("calibrate", *args, *([] if output is None else ["--output", output]))

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
    after = cross_calibrate(evidence, method)
    metrics = {name: getattr(ht, name) for name in ("calibration_error", "brier", "log_loss")}
    metrics["debiased_calibration_error"] = partial(ht.calibration_error, debias=True)
    assert set(found["metrics"]) == set(metrics)
    for name, metric in metrics.items():
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
    assert lines[0] == ["metric", "before", "after", "status", "reason"]
    assert {tuple(line[3:]) for line in lines[1:]} == {("ok", "")}
    names = ["calibration_error", "debiased_calibration_error", "brier", "log_loss"]
    assert [line[0] for line in lines[1:]] == names
    assert float(lines[2][2]) < float(lines[2][1])
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


def test_margins_name_the_methods_that_take_them(run: Any, rows: str) -> None:
    full = ["--label", "full", "--zeros", "negative", "--score", "margin"]
    status, _, err = run(rows, *full)
    assert status == 2
    assert "--method platt --scale score" in err
    assert "--method isotonic" in err
    assert run(rows, *full, "--method", "isotonic")[0] == 0


@pytest.mark.parametrize(
    ("option", "of"),
    [
        (["--n-bins", "4"], "histogram"),
        (["--binning", "mass"], "histogram"),
        (["--binning", "width"], "histogram"),
        (["--scale", "logit"], "platt"),
        (["--scale", "score"], "platt"),
    ],
)
def test_a_setting_of_another_method_is_refused(option: list[str], of: str, run: Any, rows: str) -> None:
    for method in set(METHODS) - {of}:
        status, _, err = run(rows, *ALL, "--method", method, *option)
        assert status == 2
        assert f"{option[0]} counts for --method {of} alone, got --method {method}" in err
    assert not Path("c.json").exists()
    assert run(rows, *ALL, "--method", of, *option)[0] == 0


# --- Folds -----------------------------------------------------------------------------------------------


def test_folds_beyond_the_rows(run: Any, tmp_path: Path) -> None:
    few = TABLE[TABLE["label"].isna() | (np.cumsum(KNOWN) <= 3)]
    few.to_csv(tmp_path / "few.csv", index=False)
    population = ["--prior", "0.3", "--population", "unlabeled", "--format", "json"]
    status, _, err = run("few.csv", *population, "--n-folds", "4")
    assert status == 2
    assert "--n-folds must be at most 3, the number of positive rows, got 4. Pass --n-folds 3." in err
    status, _, err = run("few.csv", *population, "--n-folds", "101")
    assert status == 2
    assert "--n-folds" in err
    assert not Path("c.json").exists()
    # Where none are asked for, there are as many as there can be.
    _, three, _ = run("few.csv", *population, "--n-folds", "3")
    status, out, _ = run("few.csv", *population)
    assert status == 0
    assert out == three


def test_too_many_folds_in_python() -> None:
    evidence = from_labels(TABLE["label"], SCORE, prior=0.35)
    with pytest.raises(InputError, match="at most 100, got 101"):
        cross_calibrate(evidence, n_folds=101)
    with pytest.raises(InputError, match="at most 2, the number of positive rows, got 5"):
        cross_calibrate(ht.PositiveUnlabeled([0.9, 0.7], SCORE, prior=0.35))


def test_one_known_positive(run: Any, tmp_path: Path) -> None:
    lone = TABLE[TABLE["label"].isna() | (np.cumsum(KNOWN) <= 1)]
    lone.to_csv(tmp_path / "lone.csv", index=False)
    population = ["--prior", "0.3", "--population", "unlabeled", "--method", "temperature"]
    status, out, err = run("lone.csv", *population, "--format", "json")
    assert status == 0
    assert Calibrator.load("c.json").method == "temperature"
    assert {pair["after"] for pair in json.loads(out)["metrics"].values()} == {None}
    assert "there are no values after calibration" in err
    evidence = from_labels(lone["label"], lone["score"], prior=0.3, population="unlabeled")
    assert json.loads(out)["metrics"]["brier"]["before"] == ht.brier(evidence) < 0
    assert "brier, log_loss below 0 is not possible" in err
    _, out, _ = run("lone.csv", *population)
    assert re.search(r"^brier +impossible: -0\.\d{3} +–$", out, flags=re.MULTILINE)


def test_a_histogram_is_cross_fitted_too(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores that say nothing: 40 bins fit noise, which the rows that they were fitted on do not show."""
    rng = np.random.default_rng(0)
    n = 4000
    pd.DataFrame({"score": rng.random(n), "label": rng.random(n) < 0.5}).to_csv(
        tmp_path / "noise.csv", index=False
    )
    many = ["noise.csv", "--zeros", "negative", "--method", "histogram", "--n-bins", "40", "--format", "json"]
    _, out, _ = run(*many)
    exact = json.loads(out)["metrics"]
    monkeypatch.setattr("halftruth.files._read_files.MAX_ROWS", 100)
    status, out, err = run(*many)
    assert status == 0
    assert err == ""
    binned = json.loads(out)["metrics"]
    # Noise of 100 rows in a bin: a fit to other rows costs 0.25/100 of squared error twice.
    for found in (exact, binned):
        assert found["calibration_error"]["after"] > 0.03
        assert found["brier"]["after"] > 0.25
    assert binned["brier"]["after"] == pytest.approx(exact["brier"]["after"], abs=0.002)
    assert binned["brier"]["before"] == pytest.approx(exact["brier"]["before"], abs=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_folds_of_a_histogram_hold_its_rows(weighted: bool) -> None:
    weight = TABLE["weight"] if weighted else None
    exact = from_labels(TABLE["label"], SCORE, prior=0.35, sample_weight=weight)
    evidence = ht.PositiveUnlabeled.from_table(
        exact.table.compress(Grid("probability", n_bins=64)), prior=0.35
    )
    found = cross_calibrate(evidence, "platt", n_folds=7)
    assert type(found) is type(evidence)
    for name, bins in evidence.table.strata.items():
        assert len(found.table.strata[name]) == len(bins)
        np.testing.assert_allclose(found.table.strata[name].size, bins.size, rtol=1e-8)
    assert found.measure().prior == pytest.approx(0.35)
    # Each part by a curve of its own, near to that of all rows.
    curve = Calibrator("platt").fit(evidence)
    score = evidence.measure().score
    span = curve.predict([score[0], score[-1]])
    np.testing.assert_allclose(found.measure().span, span, atol=0.05)
    assert len(found.measure().score) > len(score)


def test_a_histogram_of_margins(run: Any, rows: str, monkeypatch: pytest.MonkeyPatch) -> None:
    full = ["--label", "full", "--zeros", "negative", "--score", "margin", "--format", "json"]
    how = [*full, "--method", "platt", "--scale", "score"]
    exact = json.loads(run(rows, *how)[1])["metrics"]["brier"]["after"]
    monkeypatch.setattr("halftruth.files._read_files.MAX_ROWS", 100)
    status, out, _ = run(rows, *how)
    assert status == 0
    assert json.loads(out)["metrics"]["brier"]["after"] == pytest.approx(exact, abs=0.002)


def test_parts_of_a_billion_rows() -> None:
    count = np.asarray([700_000_000, 3, 800_000_000])
    for rows in (count, count // 1000 + 3):
        parts = FoldedBins(
            Bins(
                grid=Grid("probability"),
                index=Grid("probability").bins([0.2, 0.5, 0.7]),
                rows=rows,
                position=rows * fixed(np.asarray([0.2, 0.5, 0.7])),
                low=np.asarray([0.2, 0.5, 0.7]),
                high=np.asarray([0.2, 0.5, 0.7]),
            ),
            4,
            np.random.default_rng(0),
        )
        np.testing.assert_array_equal(np.sum(parts.counts, axis=0), rows)
        # Of each bin a quarter and six standard deviations at most.
        apart = np.abs(np.asarray(parts.counts) - rows / 4)
        assert (apart <= 6 * np.sqrt(rows * 3 / 16) + 1).all()
        assert apart[:, 0].max() > 1
        for k in range(4):
            assert len(parts.others(k)) == rows.sum() - parts.counts[k].sum()


# --- The prior -------------------------------------------------------------------------------------------


def test_a_refuted_prior_is_said(run: Any, rows: str) -> None:
    for prior, refuted in (("0.35", False), ("0.9", True)):
        status, out, err = run(rows, "--prior", prior, "--format", "json")
        assert status == 0
        notes = json.loads(out)["notes"]
        assert any("refuted" in note for note in notes) is refuted
        assert json.loads(out)["refuted"] is refuted
        assert ("The prior is refuted by the data" in err) is refuted
        evidence = from_labels(TABLE["label"], SCORE, prior=float(prior))
        said = ht.evaluate(evidence, ["prevalence"], n_resamples=0).notes
        assert set(said) <= set(notes)
    # Known negatives identify the prior, and contradict it.
    _, _, err = run(rows, "--label", "partial", "--prior", "0.75")
    assert "is refuted: the evidence itself puts it between" in err
    _, _, err = run(rows, "--prior", "estimate")
    assert "The prior was estimated" in err


# --- Calibrated scores -----------------------------------------------------------------------------------


def table_of(name: str) -> pd.DataFrame:
    return pd.read_csv(name, dtype={"case": str}) if name.endswith("csv") else pd.read_parquet(name)


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("given", ["csv", "parquet", "jsonl", "feather", "stdin", "fifo"])
def test_calibrated_scores_stand_beside_the_rows(
    given: str, form: str, run: Any, rows: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"it's new.{form}"
    source = {"csv": rows, "stdin": "-"}.get(given, f"rows.{given}")
    if given == "parquet":
        TABLE.to_parquet(source)
    elif given == "feather":
        TABLE.to_feather(source)
    elif given == "jsonl":
        TABLE.to_json(source, orient="records", lines=True, double_precision=15)
    elif given == "stdin":
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(rows).read_bytes())))
    elif given == "fifo":
        os.mkfifo(source)
        Thread(target=Path(source).write_bytes, args=[Path(rows).read_bytes()]).start()
    how = ["--label", "coded", "--unlabeled", "-1", "--weight", "weight"]
    status, out, _ = run(source, *ALL, *how, "--scores", name)
    assert status == 0
    assert f"The rows with their calibrated scores are in {name}." in out
    found = table_of(name)
    assert list(found) == [*TABLE, "calibrated"]
    pd.testing.assert_frame_equal(found[list(TABLE)], TABLE, check_dtype=False, check_exact=True)
    assert [kind.kind for kind in found.dtypes] == [*(kind.kind for kind in TABLE.dtypes), "f"]
    np.testing.assert_array_equal(found["calibrated"], Calibrator.load("c.json").predict(SCORE))
    again = files.read(name, score="calibrated", label="coded", unlabeled=-1)
    np.testing.assert_array_equal(again.scores["calibrated"], found["calibrated"])


def test_cells_of_a_csv_stay_as_they_are(run: Any, tmp_path: Path) -> None:
    """Whatever a header holds: no name, the same name twice or in another case, a comma."""
    lines = [
        ',score,Score,label,a,a,"b, ""c"""',
        '0,0.50,x,1,NA,007,"two\nlines"',
        '1,1e-1,y,,"",1.0,é',
        "2,.25,z,,nan,,'",
        "3,0.75,z,true,nan,,",
    ]
    Path("odd.csv").write_text("\n".join(lines) + "\n")
    status, _, err = run("odd.csv", "--prior", "0.4", "--population", "unlabeled", "--scores", "new.csv")
    assert status == 0, err
    given, found = (list(csv.reader(io.StringIO(Path(x).read_text()))) for x in ("odd.csv", "new.csv"))
    assert [line[:-1] for line in found] == given
    predicted = Calibrator.load("c.json").predict([0.5, 0.1, 0.25, 0.75])
    assert [line[-1] for line in found] == ["calibrated", *map(repr, predicted.tolist())]
    status, _, err = run("odd.csv", "--prior", "0.4", "--population", "unlabeled", "--scores", "new.parquet")
    assert status == 2
    assert "a column without a name" in err


def test_several_files_are_one_table(run: Any, tmp_path: Path) -> None:
    parts = tmp_path / "parts"
    parts.mkdir()
    TABLE[:300].drop(columns="margin").to_csv(parts / "a.csv", index=False)
    TABLE[300:500].to_csv(parts / "b.csv", index=False)
    TABLE[500:].drop(columns="margin").to_parquet(parts / "c.parquet")
    for form in ("csv", "parquet"):
        assert run("parts", *ALL, "--scores", f"new.{form}")[0] == 0
        found = table_of(f"new.{form}")
        columns = [*(name for name in TABLE if name != "margin"), "margin", "calibrated"]
        assert list(found) == columns
        np.testing.assert_array_equal(found["case"], TABLE["case"])
        np.testing.assert_array_equal(found["score"], SCORE)
        own = np.where((np.arange(N) >= 300) & (np.arange(N) < 500), TABLE["margin"], np.nan)
        np.testing.assert_array_equal(found["margin"], own)


def test_zeros_stay_zeros(run: Any, tmp_path: Path) -> None:
    TABLE.assign(label=KNOWN.astype(int)).to_csv("zeros.csv", index=False)
    assert run("zeros.csv", *ALL, "--zeros", "unlabeled", "--scores", "new.csv")[0] == 0
    np.testing.assert_array_equal(pd.read_csv("new.csv")["label"], KNOWN.astype(int))
    expected = Calibrator().fit(from_labels(TABLE["label"], SCORE, prior=0.35))
    assert Calibrator.load("c.json").to_dict() == expected.to_dict()


def test_late_keys_of_json_are_kept(run: Any, tmp_path: Path) -> None:
    known = np.where(np.isnan(TABLE["label"]), "null", "1")
    objects = [
        f'{{"z": {i}, "score": {s}, "label": {y}}}' for i, (s, y) in enumerate(zip(SCORE, known, strict=True))
    ]
    late = '{"z": -1, "a": {"b": 1}, "score": 0.5, "label": null}'
    Path("rows.jsonl").write_text("\n".join([*objects, *objects, late]) + "\n")
    assert run("rows.jsonl", *ALL, "--scores", "new.csv")[0] == 0
    found = pd.read_csv("new.csv")
    assert list(found) == ["z", "score", "label", "a", "calibrated"]
    assert found["a"].dropna().tolist() == ['{"b":1}']
    assert found["z"].tolist() == [*range(N), *range(N), -1]


def test_the_new_column_has_its_own_name(run: Any, rows: str) -> None:
    assert run(rows, *ALL, "--scores", "new.csv")[0] == 0
    before = Path("c.json").read_bytes()
    status, _, err = run("new.csv", *ALL, "--method", "platt", "--scores", "newer.csv")
    assert status == 2
    assert "new.csv already has a column 'calibrated'" in err
    assert Path("c.json").read_bytes() == before
    assert not Path("newer.csv").exists()
    assert run("new.csv", *ALL, "--score", "calibrated")[0] == 0


def test_more_rows_than_are_kept_apart(run: Any, rows: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("halftruth.files._read_files.MAX_ROWS", 100)
    status, out, _ = run(rows, *ALL, "--scores", "new.parquet", "--format", "json")
    assert status == 0
    assert 0 < json.loads(out)["metrics"]["brier"]["after"] < json.loads(out)["metrics"]["brier"]["before"]
    found = pd.read_parquet("new.parquet")
    np.testing.assert_array_equal(found["case"], TABLE["case"])
    exact = Calibrator().fit(from_labels(TABLE["label"], SCORE, prior=0.35))
    # The bins of the histogram are narrow.
    np.testing.assert_allclose(found["calibrated"], exact.predict(SCORE), atol=1e-6)


# --- Targets ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given", ["data/rows.csv", "data/*.csv", "data", "./data/rows.csv", "d*/*", "**/*.csv"]
)
def test_inputs_are_never_written_over(given: str, run: Any, rows: str) -> None:
    Path("data").mkdir()
    inside = Path("data", "rows.csv")
    before = Path(rows).replace(inside).read_bytes()
    outside = ["--scores", "new.parquet"]
    for target in ([str(inside)], ["c.json", "--scores", str(inside)]):
        status, _, err = run(given, *ALL, *target[1:], output=target[0])
        assert status == 2
        assert "is one of the files that are read" in err
        assert inside.read_bytes() == before
    Path("link.csv").symlink_to(inside)
    assert run(given, *ALL, "--scores", "link.csv")[0] == 2
    Path("link.csv").unlink()
    assert inside.read_bytes() == before
    # Its own earlier results may be replaced.
    assert [run(given, *ALL, *outside)[0] for _ in range(2)] == [0, 0]


@pytest.mark.parametrize(
    ("given", "target"),
    [
        ("data", "data/c.json"),
        ("data", "data/deep/c.json"),
        ("data/", "link/c.json"),
        ("data/*.csv", "data/zz.csv"),
        ("data/*", "data/zz.csv"),
        ("d*/r*.csv", "data/rx.csv"),
        ("link/*.csv", "data/zz.csv"),
        ("data/**/*.csv", "data/deep/zz.csv"),
        ("data/**/*.csv", "data/zz.csv"),
        ("**/*.csv", "zz.csv"),
        ("data/**", "data/deep/zz.csv"),
        ("*/*/../rows.csv", "data/zz/../rows.csv"),
    ],
)
def test_nothing_is_written_where_it_would_be_read(given: str, target: str, run: Any, rows: str) -> None:
    Path("data/deep").mkdir(parents=True)
    Path("data/zz").mkdir()
    Path("link").symlink_to("data")
    Path(rows).replace("data/rows.csv")
    state = sorted(map(str, Path().rglob("*")))
    status, _, err = run(given, *ALL, output=target)
    assert status == 2
    assert f"--output {target} is one of the files that are read, or would be" in err
    scores = str(Path(target).with_suffix(".csv"))
    status, _, err = run(given, *ALL, "--scores", scores)
    assert status == 2
    assert f"--scores {scores} is one of the files that are read, or would be" in err
    assert sorted(map(str, Path().rglob("*"))) == state


def test_an_input_that_cannot_be_read(run: Any) -> None:
    status, _, err = run("x" * 5000, *ALL, "--scores", "new.csv")
    assert status == 2
    assert "cannot be opened" in err


def test_beside_what_is_read_there_is_room(run: Any, rows: str) -> None:
    Path("data").mkdir()
    Path(rows).replace("data/rows.csv")
    for given in ("data/rows.csv", "data/*.csv", "data/r*"):
        assert run(given, *ALL, "--scores", "data/new.parquet", output="data/c.json")[0] == 0


def test_targets_that_cannot_be(run: Any, rows: str) -> None:
    status, _, err = run(rows, *ALL, "--scores", "new.xlsx")
    assert status == 2
    assert ".parquet or .csv" in err
    status, _, err = run(rows, *ALL, "--scores", "same.csv", output="same.csv")
    assert status == 2
    assert "its own file" in err
    table = ht.ScoreTable.from_file(rows)
    table.save("table.npz")
    status, _, err = run("table.npz", *ALL, "--scores", "new.csv")
    assert status == 2
    assert "saved table" in err
    assert not Path("new.csv").exists()
    assert run("table.npz", *ALL)[0] == 0


@pytest.mark.parametrize("target", ["absent/c.json", "folder", "/dev/null"])
def test_a_target_that_cannot_be_written_stops_everything(
    target: str, run: Any, rows: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("folder").mkdir()
    monkeypatch.setattr(files, "read", None)  # it is known before a row is read
    status, _, err = run(rows, *ALL, output=target)
    assert status == 2
    assert f"{target} cannot be written" in err
    assert run(rows, *ALL, "--scores", "absent/new.csv")[0] == 2
    assert sorted(one.name for one in Path().iterdir()) == ["folder", "rows.csv"]
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_both_files_or_none(run: Any, rows: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever of the two fails, in whatever way, nothing has changed."""

    def fails(*_: Any) -> None:
        raise InputError("no space")

    for name, old in (("c.json", "old"), ("new.csv", "older")):
        Path(name).write_text(old)
    state = {one.name: one.read_bytes() for one in Path().iterdir()}
    for place, name in ((_storage, "write"), (Calibrator, "predict")):
        with monkeypatch.context() as patch:
            patch.setattr(place, name, fails)
            status, _, err = run(rows, *ALL, "--method", "platt", "--scores", "new.csv")
        assert status == 2
        assert "no space" in err
        assert {one.name: one.read_bytes() for one in Path().iterdir()} == state
    assert run(rows, *ALL, "--method", "platt", "--scores", "new.csv")[0] == 0


def test_what_is_written_is_whole(rows: str, tmp_path: Path) -> None:
    target = tmp_path / "a.csv"
    target.write_text("old")
    columns = Columns(scores=("score",), label="label")
    with pytest.raises(InputError, match=r"a\.csv cannot be written"), replaced(target) as part:
        write_with(rows, columns, "new", lambda s: s, part.parent / "absent" / "part", ".csv")
    assert target.read_text() == "old"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.csv", "rows.csv"]


@pytest.mark.parametrize("scores", [[], ["--scores", "new.csv"]])
def test_strict_writes_nothing_that_is_refuted(run: Any, rows: str, scores: list[str]) -> None:
    Path("c.json").write_text("before")
    status, out, err = run(rows, "--prior", "0.95", "--method", "platt", "--strict", *scores)
    assert status == 3
    assert "Nothing was written (--strict)." in out
    assert "The calibrator is in" not in out
    assert "Not identifiable: the data refute what was given (--strict)." in err
    assert Path("c.json").read_text() == "before"
    assert not Path("new.csv").exists()
    status, out, _ = run(
        rows, "--prior", "0.95", "--method", "platt", "--strict", *scores, "--format", "json"
    )
    assert (status, json.loads(out)["output"], json.loads(out)["scores"]) == (3, None, None)
    assert run(rows, *ALL, "--method", "platt", "--strict", *scores)[0] == 0
    assert json.loads(Path("c.json").read_text())
