"""Reading a table of a SQL engine: what the columns may be, what groups are called, what is refused and how."""

from __future__ import annotations

import datetime as dt
import sys
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import halftruth as ht
from halftruth._errors import InputError, MissingDependency
from halftruth.table._grid import Grid

from .reference import differences, of_table

NAN, INF = float("nan"), float("inf")


@pytest.fixture
def ibis(require) -> Any:
    return require("ibis")


@pytest.fixture
def table(ibis) -> Any:
    """``table(score=[…], …)``: the rows as the table "scores" of a DuckDB of its own."""

    def made(**columns: Any) -> Any:
        given = columns if "label" in columns else columns | {"label": [1, 0] * (len(columns["score"]) // 2)}
        connection = ibis.duckdb.connect()
        connection.con.register("scores", pa.table(given))
        return connection.table("scores")

    return made


def same(one: Any, other: Any) -> bool:
    return differences({"": of_table(one)}, {"": of_table(other)}) == []


def test_columns_are_names_or_expressions(ibis, table):
    rows = table(score=[0.1, 0.9, 0.4, 0.2], label=[1, 0, None, 1], w=[1.0, 2.0, 0.5, 1.0])
    by_name = ht.ScoreTable.from_ibis(rows, weight="w")
    assert same(by_name, ht.ScoreTable.from_ibis(rows, rows.score, rows.label, weight=rows.w))
    assert same(by_name, ht.ScoreTable.from_ibis(rows, ibis._.score, ibis._.label, weight=ibis._.w * 1))
    halved = ht.ScoreTable.from_ibis(rows, rows.score / 2)
    assert same(halved, ht.ScoreTable.from_ibis(rows.mutate(score=rows.score / 2)))
    assert not same(halved, by_name)


def test_a_table_in_memory_and_a_derived_table(ibis):
    rows = ibis.memtable({"score": [0.1, 0.9, 0.4], "label": [1, None, 0]})
    assert len(ht.ScoreTable.from_ibis(rows.filter(rows.score < 0.5))) == 2


@pytest.mark.parametrize("kind", [pa.decimal128(6, 3), pa.float32(), pa.float64()], ids=str)
def test_scores_and_weights_of_every_kind_of_number(table, kind):
    scores = pa.array([0.125, 0.75, 0.5]).cast(kind)
    rows = table(score=scores, label=pa.array([Decimal(1), Decimal(0), None]), w=pa.array([1, 2, 3]))
    found = ht.ScoreTable.from_ibis(rows, weight="w")
    expected = table(score=[0.125, 0.75, 0.5], label=[1, 0, None], w=[1.0, 2.0, 3.0])
    assert same(found, ht.ScoreTable.from_ibis(expected, weight="w"))


def test_nan_labels_of_parquet_are_unlabeled_and_nan_scores_refused(ibis, tmp_path):
    # Parquet's statistics leave NaN out, so that a reader may conclude that there is none.
    path = tmp_path / "nan.parquet"
    pq.write_table(pa.table({"score": [0.1, 0.9, 0.5, NAN], "label": [1.0, 0.0, NAN, 1.0]}), path)
    rows = ibis.duckdb.connect().read_parquet(path)
    with pytest.raises(InputError, match=r"got 1 in column 'score' that are not, e\.g\. nan"):
        ht.ScoreTable.from_ibis(rows)
    held = ht.ScoreTable.from_ibis(rows.filter((rows.score + 0.0) <= 1))
    assert {name: len(x) for name, x in held.strata.items()} == {"positive": 1, "unlabeled": 1, "negative": 1}


def test_settings_of_the_connection_are_left_as_they_were(table):
    rows = table(score=[0.1, 0.9])
    settings = rows.get_backend().settings
    settings["disabled_optimizers"] = "join_order"
    settings["TimeZone"] = "Europe/Berlin"
    ht.ScoreTable.from_ibis(rows)
    assert (settings["disabled_optimizers"], settings["TimeZone"]) == ("join_order", "Europe/Berlin")


# Grids and sums ----------------------------------------------------------------------------------------


def test_scores_beyond_unit_make_margins_unless_a_grid_is_named(table):
    rows = table(score=[-0.5, 0.5, 3.0, 0.0])
    assert ht.ScoreTable.from_ibis(rows).grid == Grid("margin")
    with pytest.raises(
        InputError, match=r"got 2 outside in column 'score', e.g. (-0.5|3). Use grid=\"margin\""
    ):
        ht.ScoreTable.from_ibis(rows, grid="probability")


@pytest.mark.parametrize(
    "grid", [Grid("margin", 0.3, 1e-9, 1024), Grid("margin", -2.0, 7e5), Grid("margin", 1.0, 3.0)]
)
def test_grids_of_margins_with_their_own_center_and_scale(table, grid):
    scores = [1e300, -1e300, 0.0, 5e-324, -5e-324, 0.3, 1.0, -2.0, 1e-9, 7e5, 1 + 2**-52, 1.7e308]
    found = ht.ScoreTable.from_ibis(table(score=scores, label=[1.0] * len(scores)), grid=grid)
    with np.errstate(over="ignore"):
        expected = ht.Labeled([1] * len(scores), scores).table.compress(grid)
    assert same(found, expected)


def test_squares_beyond_53_bits_are_summed_exactly(table):
    weights = [2.0**14 - 2.0**-20, 3.0, 2.0**13 + 1 / 3, 2.0**-10]
    rows = table(score=[0.5] * 4, label=[1] * 4, w=weights)
    found = ht.ScoreTable.from_ibis(rows, weight="w").strata["positive"]
    assert int(found.square[0]) == sum(int(np.floor(w * w * 2**32 + 0.5)) for w in weights)


def test_weights_that_64_bits_do_not_hold_are_refused(table):
    rows = table(score=[0.5] * 4, label=[1] * 4, w=[2.0**15] * 4)
    with pytest.raises(InputError, match="weights of one bin add up to more than 2\\^30"):
        ht.ScoreTable.from_ibis(rows, weight="w")


# Groups ------------------------------------------------------------------------------------------------

DAY, TIME = dt.date(2024, 2, 29), dt.datetime(2024, 2, 29, 1, 2, 3, 500_000)
GROUPS = {
    "whole": (pa.array([10, 9, None, 2**60 + 1]), ["9", "10", str(2**60 + 1), "missing"]),
    "double": (pa.array([1e16, 0.1, None, -2.5]), ["-2.5", "0.1", "1e+16", "missing"]),
    "single": (pa.array([0.1, 1.0, None, 0.1], pa.float32()), ["0.1", "1.0", "missing"]),
    "zero": (pa.array([0.0, -0.0, 1.0, None]), ["0.0", "1.0", "missing"]),
    "nan": (pa.array([NAN, 0.5, NAN, None]), ["0.5", "missing", "nan"]),
    "decimal": (
        pa.array([Decimal("1.50"), None, Decimal("12.00"), Decimal("1.50")]),
        ["1.50", "12.00", "missing"],
    ),
    "date": (pa.array([DAY, None, DAY, DAY]), ["2024-02-29", "missing"]),
    "time": (
        pa.array([TIME, None, TIME, dt.datetime(2024, 2, 29)]),
        ["2024-02-29 00:00:00", "2024-02-29 01:02:03.5", "missing"],
    ),
    "moment in ns": (
        pa.array([TIME, None, TIME, dt.datetime(2024, 2, 29)], pa.timestamp("ns", "UTC")),
        ["2024-02-29 00:00:00+00", "2024-02-29 01:02:03.5+00", "missing"],
    ),
    "clock in ns": (
        pa.array([dt.time(1, 2, 3, 500_000), None, dt.time(1), dt.time(1)], pa.time64("ns")),
        ["01:00:00", "01:02:03.5", "missing"],
    ),
    "truth": (pa.array([True, False, None, True]), ["false", "missing", "true"]),
    "text": (pa.array(["b; --", "a'\"", None, ""]), ["", "a'\"", "b; --", "missing"]),
}


@pytest.mark.parametrize("kind", GROUPS)
def test_groups_are_named_alike_by_engines_and_files(ibis, tmp_path, kind):
    values, names = GROUPS[kind]
    path = tmp_path / "groups.parquet"
    pq.write_table(pa.table({"score": [0.1, 0.2, 0.3, 0.4], "label": [1, 0, 1, None], "g": values}), path)
    connection = ibis.duckdb.connect()
    if kind != "moment in ns":  # whose text only the engine can write
        connection.settings["TimeZone"] = "America/New_York"
    found = ht.ScoreTable.from_ibis(connection.read_parquet(path), by="g")
    assert list(found) == names
    assert sum(map(len, found.values())) == 4
    assert list(ht.ScoreTable.from_file(path, by="g")) == names


def test_groups_are_the_tables_of_their_rows_alone(table):
    rng = np.random.default_rng(3)
    rows = table(score=rng.random(500), label=rng.integers(0, 2, 500), month=rng.integers(1, 4, 500))
    tables = ht.ScoreTable.from_ibis(rows, by="month")
    for month, found in tables.items():
        assert same(found, ht.ScoreTable.from_ibis(rows.filter(rows.month == int(month))))
    assert same(tables["1"].merge(tables["2"], tables["3"]), ht.ScoreTable.from_ibis(rows))


def test_groups_by_an_expression(ibis, table):
    days = [dt.date(2024, 1, 31), dt.date(2024, 2, 1), dt.date(2024, 2, 2), dt.date(2025, 1, 1)]
    rows = table(score=[0.1, 0.2, 0.3, 0.4], day=pa.array(days))
    assert {k: len(x) for k, x in ht.ScoreTable.from_ibis(rows, by=ibis._.day.month()).items()} == {
        "1": 2,
        "2": 2,
    }


def test_many_groups_are_refused_before_they_are_fetched(table):
    rows = table(score=[0.5] * 2000, id=list(range(2000)))
    with pytest.raises(InputError, match="more than 1,000 values"):
        ht.ScoreTable.from_ibis(rows, by="id")


# Refusals ----------------------------------------------------------------------------------------------

REFUSED = {
    "missing score": ({"score": [0.1, None]}, "got 1 in column 'score' that are not, e.g. NULL"),
    "infinite score": ({"score": [0.1, INF]}, "got 1 in column 'score' that are not, e.g. inf"),
    "missing weight": (
        {"score": [0.1, 0.2], "w": [1.0, None]},
        "got 1 in column 'w' that are not, e.g. NULL",
    ),
    "negative weight": ({"score": [0.1, 0.2], "w": [1.0, -1.0]}, "got 1 in column 'w' that are not, e.g. -1"),
    "no weight": ({"score": [0.1, 0.2], "w": [0.0, 0.0]}, "is zero in all rows"),
    "tiny weight": (
        {"score": [0.1, 0.2], "w": [1.0, 1e-200]},
        "takes weights from 2^-10 to 2^15, got 1e-200",
    ),
    "huge weight": (
        {"score": [0.1, 0.2], "w": [1.0, 1e200]},
        "takes weights from 2^-10 to 2^15, got 1 to 1e+200",
    ),
    "label": (
        {"score": [0.1, 0.2, 0.3], "label": [1, 2, -1]},
        "2 label(s) outside the code: -1, 2. The code",
    ),
    "weightless label": (
        {"score": [0.1, 0.2], "label": [1, 5], "w": [1.0, 0.0]},
        "1 label(s) outside the code: 5",
    ),
    "infinite label": ({"score": [0.1, 0.2], "label": [1.0, INF]}, "1 label(s) outside the code: inf"),
    "no rows": (
        {"score": pa.array([], pa.float64()), "label": pa.array([], pa.int64())},
        "scores has no rows",
    ),
    "text score": ({"score": ["0.1", "0.2"]}, "must hold numbers for `score`, it holds string. Pass"),
    "text label": ({"score": [0.1, 0.2], "label": ["1", "0"]}, "(table['label'] == 'fraud').cast('int8')"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_rows_are_refused_with_their_number_and_an_example(table, case):
    columns, message = REFUSED[case]
    weight = "w" if "w" in columns else None
    with pytest.raises(InputError) as refused:
        ht.ScoreTable.from_ibis(table(**columns), weight=weight)
    assert message in str(refused.value)


def test_zero_weight_rows_of_any_finite_score_count_for_nothing(table):
    rows = table(score=[0.1, 0.9, 7.0], label=[1, 0, 1], w=[1.0, 2.0, 0.0])
    found = ht.ScoreTable.from_ibis(rows, weight="w")
    assert (len(found), found.grid) == (2, Grid("probability"))


def test_a_missing_column_and_the_nearest_name(table):
    with pytest.raises(InputError, match=r"scores has no column 'scores'\. .*Did you mean 'score'"):
        ht.ScoreTable.from_ibis(table(score=[0.1, 0.2]), "scores")


@pytest.mark.parametrize("score", [3, lambda rows: 3, lambda rows: rows])
def test_what_is_no_column_is_refused(table, score):
    with pytest.raises(InputError, match="`score`"):
        ht.ScoreTable.from_ibis(table(score=[0.1, 0.2]), score)


def test_a_column_of_another_table_is_refused(table):
    with pytest.raises(InputError, match="`score` is no expression of this table"):
        ht.ScoreTable.from_ibis(table(score=[0.1, 0.2]), table(score=[0.1, 0.2], other=[0.3, 0.4]).other)


def test_what_is_no_table_is_refused():
    with pytest.raises(InputError, match=r"`table` must be an Ibis table, got pyarrow.*ScoreTable.from_file"):
        ht.ScoreTable.from_ibis(pa.table({"score": [0.1]}))


@pytest.mark.parametrize("day", ["infinity", "10000-01-01", "0044-03-15 (BC)"])
def test_days_that_python_does_not_have_are_refused_unless_cast_to_text(table, day):
    rows = table(score=[0.1, 0.2], day=[day, "2024-02-29"])
    dated = rows.mutate(day=rows.day.cast("date"))
    with pytest.raises(InputError, match="The column of groups 'day' holds a value") as refused:
        ht.ScoreTable.from_ibis(dated, by="day")
    assert str(refused.value).endswith("""e.g. by=table['day'].cast("string").""")
    assert set(ht.ScoreTable.from_ibis(dated, by=dated.day.cast("string"))) == {day, "2024-02-29"}


def test_nan_is_one_group_where_no_nan_is_the_same_as_another(table):
    from halftruth.engines.sql._sql_columns import bind_columns
    from halftruth.engines.sql._sql_reading import distinct_groups

    rows = table(score=[0.1, 0.2, 0.3, 0.4], g=[NAN, NAN, 0.5, 0.5])
    counted = distinct_groups(bind_columns(rows, score="score", label="label", by="g")).to_pyarrow()["g"]
    assert set(counted.to_pylist()) == {None, 0.5}


def test_groups_without_a_plain_text_are_refused(table):
    rows = table(score=[0.1, 0.2], g=[[1], [2]])
    with pytest.raises(InputError, match="no plain text to name groups by"):
        ht.ScoreTable.from_ibis(rows, by="g")


def test_an_engine_that_fails_is_quoted_in_one_line(ibis, table):
    rows = table(score=[0.1, 0.2], text=["1", "x"])
    with pytest.raises(InputError) as refused:
        ht.ScoreTable.from_ibis(rows, rows.text.cast("float64"))
    assert "scores cannot be read: Conversion Error" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_without_ibis_the_line_to_run_is_named(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("halftruth.engines.sql")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("halftruth.engines.sql")
    monkeypatch.setitem(sys.modules, "ibis", None)
    with pytest.raises(MissingDependency, match=r"pip install 'halftruth\[ibis\]'"):
        ht.ScoreTable.from_ibis(None)
