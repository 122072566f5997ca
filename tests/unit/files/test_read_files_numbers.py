"""From a file to numbers: the same as from arrays, in any format and with any number of threads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest

import halftruth as ht

N = 3000
MODEL = ht.simulate.GaussianClasses(prior=0.3)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(2)
    draw = MODEL.draw(N, 1)
    known = np.where(draw.y & (rng.random(N) < 0.4), 1.0, np.nan)
    known[(~draw.y) & (rng.random(N) < 0.05)] = 0.0
    return {
        "score": draw.score,
        "other": np.clip(draw.score + rng.normal(0, 0.1, N), 0, 1),
        "label": known,
        "truth": draw.y.astype(int),
        "weight": rng.integers(1, 9, N) / 4,
        "month": np.where(np.arange(N) % 3, "feb", "jan"),
        "case": np.asarray([f"c{i}" for i in range(N)]),
    }


def write_csv(path: Path, rows: dict, order=None) -> Path:
    order = range(len(rows["score"])) if order is None else order
    cell = {float: lambda x: "" if np.isnan(x) else repr(x)}
    lines = [",".join(rows)]
    lines += [
        ",".join(cell.get(type(x := column[i].item()), str)(x) for column in rows.values()) for i in order
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def files(rows, tmp_path_factory):
    import polars as pl

    folder = tmp_path_factory.mktemp("files")
    frame = pl.DataFrame(rows).with_columns(pl.col("label").fill_nan(None))
    frame.write_parquet(folder / "a.parquet")
    frame.write_ndjson(folder / "a.jsonl")
    frame.write_ipc(folder / "a.arrow", compression="uncompressed")
    write_csv(folder / "a.csv", rows)
    return {path.suffix[1:]: path for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl", "arrow"])
@pytest.mark.parametrize("weight", [None, "weight"])
def test_numbers_from_a_file_are_those_from_arrays(kind, weight, files, rows):
    table = ht.ScoreTable.from_file(files[kind], weight=weight)
    read = ht.PositiveUnlabeled.from_table(table, prior=0.3)
    weights = None if weight is None else rows["weight"]
    given = ht.PositiveUnlabeled.from_labels(rows["label"], rows["score"], prior=0.3, sample_weight=weights)
    a, b = (ht.evaluate(e, threshold=0.5, n_resamples=300).to_dict() for e in (read, given))
    assert json.dumps(a) == json.dumps(b)


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl", "arrow"])
@pytest.mark.parametrize("weight", [None, "weight"])
def test_a_file_beyond_the_limit_is_the_histogram_of_its_rows(kind, weight, files, rows):
    table = ht.ScoreTable.from_file(files[kind], weight=weight, max_rows=100)
    weights = None if weight is None else rows["weight"]
    exact = ht.PositiveUnlabeled.from_labels(
        rows["label"], rows["score"], prior=0.3, sample_weight=weights
    ).table
    expected = exact.compress()
    assert table.grid == expected.grid
    for name, bins in expected.strata.items():
        for column in ("index", "rows", "position", "weight", "square", "low", "high"):
            np.testing.assert_array_equal(getattr(table.strata[name], column), getattr(bins, column))


def test_weights_of_one_in_one_stratum_are_none_there(tmp_path, rows):
    weight = np.where(rows["label"] == 1, 1.0, 2.0)
    path = write_csv(tmp_path / "a.csv", {"score": rows["score"], "label": rows["label"], "weight": weight})
    table = ht.ScoreTable.from_file(path, weight="weight", max_rows=0)
    exact = ht.ScoreTable.from_file(path, weight="weight").compress()
    table.save(tmp_path / "a.npz")
    exact.save(tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_identifiers_may_be_long(tmp_path, rows):
    case = rows["case"].astype(object)
    case[7] = "x" * 3_000_000
    paths = []
    for name, order in (("one", range(N)), ("two", range(N - 1, -1, -1))):
        lines = [f"{case[i]},{rows['score'][i].item()!r},{rows['truth'][i]}" for i in order]
        paths.append(tmp_path / f"{name}.csv")
        paths[-1].write_text("\n".join(["case,score,truth", *lines]) + "\n")
    one, two = ht.ScoreTable.from_file(paths, label="truth", id="case").values()
    np.testing.assert_array_equal(one.strata["positive"].score, two.strata["positive"].score)


def test_groups_and_labels(files, rows):
    by_month = ht.ScoreTable.from_file(files["parquet"], label="truth", by="month")
    assert list(by_month) == ["feb", "jan"]
    for month, table in by_month.items():
        mask = rows["month"] == month
        assert ht.roc_auc(ht.Labeled.from_table(table)) == ht.roc_auc(
            ht.Labeled(rows["truth"][mask], rows["score"][mask])
        )
    known = ht.ScoreTable.from_file(files["csv"], label="truth", unlabeled=0)
    assert set(known.strata) == {"positive", "unlabeled"}


def test_several_score_columns_stay_aligned(files, rows):
    tables = ht.ScoreTable.from_file(files["csv"], score=["score", "other"], label="truth", max_rows=None)
    models = {name: ht.Labeled.from_table(table) for name, table in tables.items()}
    given = {name: ht.Labeled(rows["truth"], rows[name]) for name in ("score", "other")}
    a, b = (ht.compare(x, ["roc_auc", "brier"], n_resamples=200).to_dict() for x in (models, given))
    assert a == b


def test_files_of_the_same_cases_are_joined(tmp_path, rows):
    rng = np.random.default_rng(0)
    one = write_csv(tmp_path / "one.csv", rows)
    columns = {"case": rows["case"], "score": rows["other"], "truth": rows["truth"]}
    two = write_csv(tmp_path / "two.csv", columns, rng.permutation(N))
    tables = ht.ScoreTable.from_file([one, two], label="truth", id="case")
    assert list(tables) == [str(one), str(two)]
    joined = ht.compare({k: ht.Labeled.from_table(t) for k, t in tables.items()}, ["brier"], n_resamples=0)
    given = {name: ht.Labeled(rows["truth"], rows[name]) for name in ("score", "other")}
    expected = ht.compare(given, ["brier"], n_resamples=0)
    for end in ("value", "low", "high"):
        assert getattr(joined["brier"], end) == pytest.approx(getattr(expected["brier"], end), rel=1e-9)


def test_files_that_do_not_hold_the_same_cases_are_refused(tmp_path, rows):
    columns = {"case": rows["case"], "score": rows["score"], "truth": rows["truth"]}
    one = write_csv(tmp_path / "one.csv", columns)
    fewer = write_csv(tmp_path / "fewer.csv", columns, range(N - 1))
    with pytest.raises(ht.InputError, match=r"1 identifier\(s\) are in only one.*'c2999', only in .*one.csv"):
        ht.ScoreTable.from_file([one, fewer], label="truth", id="case")
    twice = write_csv(tmp_path / "twice.csv", columns, [*range(N), 5])
    with pytest.raises(ht.InputError, match=r"twice\.csv must tell rows apart; 'c5' occurs"):
        ht.ScoreTable.from_file([one, twice], label="truth", id="case")
    wrong = write_csv(tmp_path / "wrong.csv", columns | {"truth": 1 - rows["truth"]})
    with pytest.raises(ht.InputError, match="disagree in column 'truth' on 3000 case"):
        ht.ScoreTable.from_file([one, wrong], label="truth", id="case")
    with pytest.raises(ht.InputError, match="`id` joins several files"):
        ht.ScoreTable.from_file(one, label="truth", id="case")


PROGRAM = """
import json, sys
import halftruth as ht
from halftruth import files
from halftruth.table._score_table import _of_columns
path, *threads = sys.argv[1:]
for max_rows in (0, 10**6):  # a histogram, then the rows, whose loops are compiled
    for n in map(int, threads):
        found = files.read(path, score="score", label="label", max_rows=max_rows, threads=n)
        exact = isinstance(found, files.ExactRows)
        table = ht.ScoreTable(_of_columns(found.scores["score"], found.stratum, None) if exact else found.strata)
        result = ht.evaluate(ht.PositiveUnlabeled.from_table(table, prior=0.3), threshold=0.4, n_resamples=40)
        assert ("numba" in sys.modules) == exact == (max_rows > 0)
        print(json.dumps(result.to_dict()))
"""


def test_a_large_file_gives_the_same_bytes_with_any_number_of_threads(tmp_path):
    import polars as pl

    draw = MODEL.draw(600_000, 1)
    known = np.where(draw.y & (draw.score > 0.3), 1.0, None)
    frame = pl.DataFrame({"score": draw.score, "label": pl.Series(known.tolist(), dtype=pl.Float64)})
    frame.write_parquet(tmp_path / "a.parquet", row_group_size=50_000)
    histograms, exact = set(), set()
    # Compiled loops have the threads of their process; readers take theirs with each call.
    for compiled, reading in (("1", ["1"]), ("2", ["2", "4"])):
        environment = os.environ | {"NUMBA_NUM_THREADS": compiled, "OMP_NUM_THREADS": reading[-1]}
        command = [sys.executable, "-c", PROGRAM, str(tmp_path / "a.parquet"), *reading]
        lines = subprocess.run(command, capture_output=True, env=environment, check=True).stdout.splitlines()
        assert len(lines) == 2 * len(reading)
        histograms.update(lines[: len(reading)])
        exact.update(lines[len(reading) :])
    assert (len(histograms), len(exact)) == (1, 1)


def test_a_file_named_twice_would_count_twice(files, tmp_path):
    with pytest.raises(ht.InputError, match="named more than once"):
        ht.ScoreTable.from_file([files["csv"], files["csv"].parent / "." / "a.csv"])
    with pytest.raises(ht.InputError, match="named more than once"):
        ht.ScoreTable.from_file([files["csv"], files["csv"]], label="truth", id="case")
    with pytest.raises(ht.InputError, match=r"use ScoreTable\.load"):
        ht.ScoreTable.from_file(tmp_path / "table.npz")


def test_a_folder_is_read_with_its_subfolders_but_no_text(rows, tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    write_csv(tmp_path / "a.csv", rows, range(10))
    write_csv(inner / "b.csv", rows, range(10, 30))
    (tmp_path / "README.txt").write_text("hi")
    assert len(ht.ScoreTable.from_file(tmp_path)) == 30


@pytest.mark.parametrize("max_rows", [0, None])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_groups_that_are_numbers_come_by_size(tmp_path, kind, max_rows):
    frame = pd.DataFrame({"score": [0.1, 0.9] * 5, "label": [1, 0] * 5, "g": [10, 9, 100, -1, 1] * 2})
    path = tmp_path / f"rows.{kind}"
    frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path)
    assert list(ht.ScoreTable.from_file(path, by="g", max_rows=max_rows)) == ["-1", "1", "9", "10", "100"]


def test_groups_do_not_depend_on_the_time_zone_of_the_machine(tmp_path):
    path = tmp_path / "moments.parquet"
    moments = pd.to_datetime(
        ["2024-02-29T23:02:03.5Z", "2024-03-01T00:00:00Z", None], utc=True, format="ISO8601"
    )
    frame = pd.DataFrame({"score": [0.1, 0.2, 0.3], "label": [1.0, np.nan, np.nan], "g": moments})
    frame.to_parquet(path)
    code = "import sys, halftruth as ht; print(list(ht.ScoreTable.from_file(sys.argv[1], by='g')))"
    found = {
        subprocess.run(
            [sys.executable, "-c", code, str(path)],
            env={**os.environ, "TZ": zone},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for zone in ("UTC", "America/New_York")
    }
    assert found == {"['2024-02-29 23:02:03.5+00', '2024-03-01 00:00:00+00', 'missing']\n"}


def test_zeros_and_nan_are_one_group_each(tmp_path):
    path = tmp_path / "signs.parquet"
    signs = np.array([0.0, -0.0, np.nan, np.copysign(np.nan, -1.0), np.inf, -np.inf])
    for dtype in ("float32", "float64"):
        frame = pd.DataFrame({"score": np.linspace(0, 1, 6), "label": 1.0, "g": signs.astype(dtype)})
        pyarrow.parquet.write_table(
            pyarrow.Table.from_pydict({name: frame[name].to_numpy() for name in frame}), path
        )
        for max_rows in (0, 10):
            found = ht.ScoreTable.from_file(path, by="g", max_rows=max_rows)
            assert {name: len(table) for name, table in found.items()} == {
                "-inf": 1,
                "0.0": 2,
                "inf": 1,
                "nan": 2,
            }


@pytest.mark.parametrize("max_rows", [0, None])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_empty_cells_are_no_group_of_that_name(tmp_path, kind, max_rows):
    for group, groups in (("other", ["missing", "other"]), ("missing", None)):
        frame = pd.DataFrame({"score": [0.1, 0.9] * 2, "label": [1, 0] * 2, "g": [group, group, None, None]})
        path = tmp_path / f"{group}.{kind}"
        frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path)
        if groups is None:
            with pytest.raises(ht.InputError, match="both empty cells and the text 'missing'"):
                ht.ScoreTable.from_file(path, by="g", max_rows=max_rows)
        else:
            assert list(ht.ScoreTable.from_file(path, by="g", max_rows=max_rows)) == groups
    alone = pd.DataFrame({"score": [0.1, 0.9], "label": [1, 0], "g": ["missing", "missing"]})
    alone.to_csv(tmp_path / "alone.csv", index=False)
    assert list(ht.ScoreTable.from_file(tmp_path / "alone.csv", by="g", max_rows=max_rows)) == ["missing"]
