"""Files in, arrays out: every format, exact and as a histogram, equals the arrays that were written."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import pytest

from halftruth import files
from halftruth._errors import InputError, MissingDependency
from halftruth.files import Source, read
from halftruth.files._cell_meanings import Columns, Sql, Term
from halftruth.files._checked_rows import histogram_sql, relation
from halftruth.table._grid import Grid
from halftruth.table._groups import STRATA
from halftruth.table._histogram import Bins

FORMATS = [
    "csv",
    "tsv",
    "txt",
    "csv.gz",
    "csv.zst",
    "jsonl",
    "ndjson",
    "json",
    "jsonl.gz",
    "jsonl.zst",
]
FORMATS += ["parquet", "arrow", "feather", "ipc"]


@pytest.fixture
def rows():
    rng = np.random.default_rng(7)
    n = 3000
    score = rng.random(n) ** 3
    score[:6] = [0.0, 1.0, 1e-300, 1 - 2**-53, 5e-324, 0.1 + 0.2]
    return {
        "score": score,
        "label": rng.choice([1.0, 0.0, np.nan], n),
        "weight": rng.integers(1, 9, n) / 4,
        "month": rng.choice(["may", "june", ""], n),
        "other": rng.normal(0, 50, n),
    }


def write(path: Path, rows) -> Path:
    """The rows through libraries other than the one that reads them, where there is one."""
    columns = {name: column.tolist() for name, column in rows.items()}
    columns["label"] = [None if np.isnan(x) else int(x) for x in columns["label"]]
    columns["month"] = [x or None for x in columns["month"]]
    kind = path.name.partition(".")[2].removesuffix(".gz").removesuffix(".zst")
    if kind in ("parquet", "arrow", "feather", "ipc"):
        import pyarrow as pa

        table = pa.table(columns)
        if kind == "parquet":
            import pyarrow.parquet as pq

            pq.write_table(table, path, row_group_size=500)
        else:
            with pa.ipc.new_file(str(path), table.schema) as sink:
                sink.write_table(table, max_chunksize=300)
        return path
    if kind in ("csv", "tsv", "txt"):
        mark = "," if kind == "csv" else "\t"
        lines = [mark.join(columns)]
        lines += [
            mark.join("" if x is None else str(x) for x in row) for row in zip(*columns.values(), strict=True)
        ]
    else:
        lines = [
            json.dumps(dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True)
        ]
    data = ("\n".join(lines) + "\n").encode()
    if path.suffix == ".gz":
        data = gzip.compress(data)
    elif path.suffix == ".zst":
        import pyarrow as pa

        data = pa.compress(data, codec="zstd", asbytes=True)
    path.write_bytes(data)
    return path


def strata_of(rows):
    return np.where(np.isnan(rows["label"]), 1, np.where(rows["label"] == 1, 0, 2))


def assert_same_exact(found, rows, scores=("score",), weight=True):
    for name in scores:
        assert np.array_equal(found.scores[name], rows[name])
        assert found.scores[name].dtype == np.float64
    assert np.array_equal(found.stratum, strata_of(rows))
    assert found.stratum.dtype == np.int8
    assert np.array_equal(found.weight, rows["weight"]) if weight else found.weight is None


def assert_same_bins(found, rows, score="score", weight=True):
    stratum = strata_of(rows)
    assert list(found.strata) == [name for k, name in enumerate(STRATA) if (stratum == k).any()]
    for k, name in enumerate(STRATA):
        mine = stratum == k
        if mine.any():
            want = Bins.of(found.grid, rows[score][mine] + 0.0, rows["weight"][mine] if weight else None)
            equal_bins(found.strata[name], want)


def equal_bins(found, want):
    assert found.grid == want.grid
    for column in ("index", "rows", "position", "low", "high", "weight", "square"):
        own, other = getattr(found, column), getattr(want, column)
        assert (own is None) == (other is None), column
        assert own is None or (own.dtype == other.dtype and np.array_equal(own, other)), column


def pick(rows, mask):
    return {name: column[mask] for name, column in rows.items()}


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_gives_the_rows_that_were_written(tmp_path, rows, kind):
    path = write(tmp_path / f"data.{kind}", rows)
    assert_same_exact(read(path, score="score", label="label", weight="weight"), rows)
    assert_same_exact(read(str(path), score="score", label="label"), rows, weight=False)
    assert_same_bins(read(path, score="score", label="label", weight="weight", max_rows=10), rows)
    assert_same_bins(read(path, score="score", label="label", max_rows=0), rows, weight=False)
    margin = read(path, score="other", label="label", max_rows=0)
    assert margin.grid.kind == "margin"
    assert_same_bins(margin, rows, "other", weight=False)
    with Source(path) as source:
        assert sorted(source.columns()) == sorted(rows)


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "arrow"])
@pytest.mark.parametrize("max_rows", [0, 10**6])
def test_groups_are_a_sorted_dict(tmp_path, rows, kind, max_rows):
    path = write(tmp_path / f"data.{kind}", rows)
    found = read(path, score="score", label="label", weight="weight", by="month", max_rows=max_rows)
    assert list(found) == ["june", "may", "missing"]
    assert_same = assert_same_bins if max_rows == 0 else assert_same_exact
    for name, part in found.items():
        assert_same(part, pick(rows, rows["month"] == ("" if name == "missing" else name)))


def test_several_score_columns_stay_aligned(tmp_path, rows):
    path = write(tmp_path / "data.parquet", rows)
    found = read(path, score=["other", "score"], label="label", weight="weight")
    assert list(found.scores) == ["other", "score"]
    assert_same_exact(found, rows, ("other", "score"))
    with pytest.raises(InputError, match="row by row"):
        read(path, score=["other", "score"], label="label", max_rows=5)


@pytest.mark.parametrize("max_rows", [0, 10**6])
def test_many_files_of_many_kinds_are_one_table_in_order(tmp_path, rows, max_rows):
    kinds = ["csv", "jsonl", "parquet", "csv.gz", "csv", "arrow", "parquet", "parquet"]
    cuts = np.array_split(np.arange(len(rows["score"])), len(kinds))
    paths = [
        write(tmp_path / f"{k}.{kind}", pick(rows, cut))
        for k, (kind, cut) in enumerate(zip(kinds, cuts, strict=True))
    ]
    (tmp_path / "README.md").write_text("not data")
    (tmp_path / "_tmp.csv").write_text("not data")
    (tmp_path / ".hidden.csv").write_text("not data")
    assert_same = assert_same_bins if max_rows == 0 else assert_same_exact
    for path in (tmp_path, paths, str(tmp_path / "[0-9]*")):
        assert_same(read(path, score="score", label="label", weight="weight", max_rows=max_rows), rows)


def test_directories_are_read_below_and_without_hive_partitions(tmp_path, rows):
    for k, month in enumerate(("b", "a")):
        (tmp_path / f"month={month}").mkdir()
        write(tmp_path / f"month={month}" / "x.csv", pick(rows, slice(k, None, 2)))
    found = read(tmp_path, score="score", label="label")
    assert np.array_equal(found.scores["score"], np.concatenate([rows["score"][1::2], rows["score"][::2]]))
    with Source(tmp_path) as source:
        assert source.columns() == list(rows)
    same = read(str(tmp_path / "**" / "*.csv"), score="score", label="label")
    assert np.array_equal(found.scores["score"], same.scores["score"])


def test_files_with_columns_in_another_order_or_of_another_type(tmp_path):
    (tmp_path / "a.csv").write_text("label,score\n1,0.5\n")
    (tmp_path / "b.csv").write_text("score;id;label\n0.25;x;0\n")
    (tmp_path / "c.jsonl").write_text('{"score": "0.125", "label": true}\n{"score": 0}\n')
    found = read(tmp_path, score="score", label="label")
    assert found.scores["score"].tolist() == [0.5, 0.25, 0.125, 0.0]
    assert found.stratum.tolist() == [0, 2, 0, 1]
    (tmp_path / "d.csv").write_text("score,lable\n0.25,0\n")
    with pytest.raises(InputError, match=r"d\.csv has no column 'label'.*Did you mean 'lable'\?"):
        read(tmp_path, score="score", label="label")


@pytest.mark.parametrize("unlabeled", [None, 0, -1, 2.5])
@pytest.mark.parametrize("max_rows", [0, 100])
def test_codes_of_labels(tmp_path, unlabeled, max_rows):
    codes = {"1": 0, "1.0": 0, "true": 0, "True": 0, " 1 ": 0, "": 1, "NA": 1, "nan": 1, "null": 1, "None": 1}
    codes |= dict.fromkeys(["0", "0.0", "false", "-0", "0e5"], 1 if unlabeled == 0 else 2)
    if unlabeled is not None:
        codes |= {str(unlabeled): 1}
    path = tmp_path / "a.csv"
    path.write_text("score,label\n" + "".join(f'{k / 64},"{code}"\n' for k, code in enumerate(codes)))
    found = read(path, score="score", label="label", unlabeled=unlabeled, max_rows=max_rows)
    if max_rows:
        assert found.stratum.tolist() == list(codes.values())
    else:
        counts = np.bincount(list(codes.values()), minlength=3)
        assert [len(found.strata.get(name, ())) for name in STRATA] == counts.tolist()


@pytest.mark.parametrize(
    "kind",
    ["int8", "uint8", "int64", "float32", "float64", "bool_", "decimal128(5,1)", "string", "dictionary"],
)
def test_types_of_a_label_column(tmp_path, kind):
    import pyarrow as pa
    import pyarrow.parquet as pq

    column = pa.array([1, 0, None])
    if kind.startswith("decimal"):
        column = column.cast(pa.decimal128(21, 1))
    elif kind == "dictionary":
        column = column.cast(pa.string()).dictionary_encode()
    else:
        column = column.cast(getattr(pa, kind)())
    table = pa.table({"score": pa.array([0.25, 0.5, 0.75], pa.float32()), "label": column})
    pq.write_table(table, tmp_path / "a.parquet")
    with pa.ipc.new_file(str(tmp_path / "a.feather"), table.schema) as sink:
        sink.write_table(table)
    for path in tmp_path.iterdir():
        found = read(path, score="score", label="label")
        assert found.stratum.tolist() == [0, 2, 1]
        found = read(path, score="score", label="label", unlabeled=0, max_rows=0)
        assert {name: len(bins) for name, bins in found.strata.items()} == {"positive": 1, "unlabeled": 2}


def test_a_label_column_without_any_label_is_unlabeled(tmp_path):
    import pyarrow as pa

    table = pa.table({"score": [0.5, 0.25], "label": pa.nulls(2), "nan": [np.nan, np.nan]})
    with pa.ipc.new_file(str(tmp_path / "a.arrow"), table.schema) as sink:
        sink.write_table(table)
    for label in ("label", "nan"):
        assert read(tmp_path / "a.arrow", score="score", label=label).stratum.tolist() == [1, 1]


def grids():
    return [Grid("probability"), Grid("margin"), Grid("margin", center=0.3, scale=17.7, n_bins=512)]


@pytest.mark.parametrize("grid", grids(), ids=str)
def test_bins_in_sql_equal_bins_in_numpy_to_the_bit(tmp_path, grid):
    rng = np.random.default_rng(3)
    near = np.concatenate([np.ldexp(1.0, -np.arange(0, 1075)), [0.5, 0.0, -0.0, 1.0]])
    unit = np.concatenate(
        [rng.random(500_000), rng.random(200_000) ** 9, 1 - rng.random(200_000) ** 9, near, 1 - near]
    )
    edges = np.linspace(0, 1, 65_537)
    unit = np.concatenate([unit, edges, np.nextafter(edges, 0), np.nextafter(edges[:-1], 1)])
    score = unit
    if grid.kind == "margin":
        score = np.concatenate(
            [rng.normal(0, 3, 500_000), rng.standard_cauchy(400_000), near, -near, 1 / near[:1000]]
        )
        score = np.concatenate([score, -score, [1e308, -1e308, 0.3]])
    table = {"s": score}
    connection = duckdb.connect()
    connection.register("table_", table)
    found = connection.execute(f"SELECT {grid.index(Term('s'), Sql()).text} AS bin FROM table_").fetchnumpy()[
        "bin"
    ]
    assert np.array_equal(found, grid.bins(score))


def test_negative_zero_is_zero(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("score,label\n-0.0,1\n0.0,1\n-0,0\n")
    assert not np.signbit(read(path, score="score", label="label").scores["score"]).any()
    found = read(path, score="score", label="label", max_rows=0)
    assert found.strata["positive"].index.tolist() == [0]
    assert not np.signbit(found.strata["positive"].low).any()


def test_rows_of_no_weight_are_no_rows_of_a_histogram(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("score,label,w\n0.5,1,1\n7,0,0\n0.25,0,1\n")
    found = read(path, score="score", label="label", weight="w", max_rows=0)
    assert found.grid.kind == "probability"
    assert {name: len(bins) for name, bins in found.strata.items()} == {"positive": 1, "negative": 1}
    assert found.strata["positive"].weight is None
    path.write_text("score,label,w\n0.5,1,0\n7,0,0\n")
    for limit in (0, 9):
        with pytest.raises(InputError, match=r"'w' of .*a\.csv is zero in all rows"):
            read(path, score="score", label="label", weight="w", max_rows=limit)


@pytest.mark.parametrize("weight", ["1e300", "40000", "1e-9"])
def test_weights_that_integers_do_not_hold_are_refused(tmp_path, weight):
    path = tmp_path / "a.csv"
    path.write_text(f"score,label,w\n0.5,1,1\n0.25,0,{weight}\n")
    with pytest.raises(InputError, match="Multiply all weights by one number"):
        read(path, score="score", label="label", weight="w", max_rows=0)


def test_sums_that_integers_do_not_hold_are_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("score,label,w\n0.5,1,1\n" + "0.25,0,30000\n" * 3)
    with pytest.raises(InputError, match="Divide all weights by one number"):
        read(path, score="score", label="label", weight="w", max_rows=0)


def test_threads_change_nothing(tmp_path, rows):
    many = {name: np.tile(column, 60) for name, column in rows.items()}
    path = write(tmp_path / "a.parquet", many)
    text = write(tmp_path / "a.csv", many)
    for file in (path, text):
        one, two = (
            read(file, score="score", label="label", weight="weight", max_rows=0, threads=threads)
            for threads in (1, 2)
        )
        assert_same_bins(one, many)
        assert_same_bins(two, many)
        for threads in (1, 2):
            assert_same_exact(
                read(file, score="score", label="label", weight="weight", threads=threads), many
            )


STANDARD_INPUT = """
import os, sys
from halftruth.files import read
for path in sys.argv[1:]:
    with open(path, "rb") as stream:
        os.dup2(stream.fileno(), 0)
    found = read("-", score="score", label="label")
    sys.stdout.buffer.write(found.scores["score"].tobytes() + found.stratum.tobytes())
"""


def test_standard_input(tmp_path, rows):
    kinds = ["csv", "csv.gz", "csv.zst", "jsonl", "jsonl.zst", "parquet", "arrow"]
    paths = [str(write(tmp_path / f"data.{kind}", rows)) for kind in kinds]
    spool = tmp_path / "tmp"
    spool.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", STANDARD_INPUT, *paths],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
        env={"TMPDIR": str(spool)},
    )
    expected = rows["score"].tobytes() + strata_of(rows).astype(np.int8).tobytes()
    size = len(expected)
    assert len(done.stdout) == size * len(kinds)
    for i, kind in enumerate(kinds):
        assert done.stdout[i * size : (i + 1) * size] == expected, kind
    assert list(spool.iterdir()) == []


def test_arrow_names_the_library_it_needs(tmp_path, rows, monkeypatch):
    path = write(tmp_path / "a.arrow", rows)
    monkeypatch.setitem(sys.modules, "pyarrow.dataset", None)
    with pytest.raises(MissingDependency, match="pip install pyarrow"):
        read(path, score="score", label="label")


def test_duckdb_loads_when_first_used():
    code = "import sys, halftruth.files; print('duckdb' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == "False"


def test_one_group_by_reads_only_what_is_needed(tmp_path, rows):
    path = write(tmp_path / "a.parquet", rows)
    with Source(path) as source:
        sql, parameters = histogram_sql(
            source, Columns(scores=("score",), label="label"), Grid("probability")
        )
        assert sql.count("GROUP BY") == 1
        plan = "".join(source.fetch("EXPLAIN " + sql, parameters)["explain_value"].tolist())
        assert "month" not in plan


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "arrow"])
def test_nothing_in_the_plan_of_exact_rows_may_change_their_order(tmp_path, rows, kind):
    path = write(tmp_path / f"a.{kind}", rows | {"month": np.full(len(rows["score"]), "1")})
    columns = Columns(scores=("score", "other"), label="month", weight="weight", by="label", unlabeled=-1.0)
    other = tmp_path / f"b.{kind}"
    other.write_bytes(path.read_bytes())
    with Source([path, other], columns.names()) as source:
        sql, parameters = relation(source, columns)
        plan = "".join(source.fetch("EXPLAIN " + sql, parameters)["explain_value"].tolist()).lower()
    assert "join" not in plan
    assert "projection" in plan


def test_the_limit_on_rows_counts_rows(tmp_path, rows):
    n = len(rows["score"])
    for kind in ("csv", "parquet"):
        path = write(tmp_path / f"a.{kind}", rows)
        assert isinstance(read(path, score="score", label="label", max_rows=n), files.ExactRows)
        assert isinstance(read(path, score="score", label="label", max_rows=n - 1), files.BinnedRows)
