"""Every engine gives the integers of plain loops over the rows, and from them the same bytes of JSON."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import halftruth as ht

from .data import CASES, GROUPED, MARGIN, MARGINS, PLAIN, PROBABILITIES, Case, Data, made
from .devices import as_devices
from .hard import hard
from .readers import (
    Reader,
    Tables,
    from_arrays,
    from_files,
    from_ibis,
    from_strata,
    from_torch,
    into_postgres,
)
from .reference import Group, differences, of_table

ENGINES = ("numpy", "duckdb", "ibis", "spark", "postgres", "torch", "tensors", "cuda")


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("same")


@pytest.fixture(scope="session")
def data(folder) -> Data:
    return Data("everything", made(), folder)


@pytest.fixture(scope="session")
def hard_data(folder) -> Data:
    return Data("hard", hard(), folder)


@pytest.fixture(scope="session")
def reader(request, require) -> Any:
    """``reader("spark")``: the way to read tables with this engine, each of them once."""

    def spark() -> Reader:
        connection = require("ibis").pyspark.connect(request.getfixturevalue("spark"))
        return from_ibis(lambda data: connection.read_parquet(str(data.parquet)))

    def postgres() -> Reader:
        connection = request.getfixturevalue("postgres")
        return from_ibis(lambda data: into_postgres(connection, data))

    def ibis() -> Reader:
        connection = require("ibis").duckdb.connect()
        return from_ibis(lambda data: connection.read_parquet(data.parquet))

    def cuda() -> Reader:
        torch = require("torch")
        if not torch.cuda.is_available():
            pytest.skip("PyTorch finds no CUDA device")
        return from_torch(torch, "cuda")

    def tensors() -> Reader:
        read = from_torch(require("torch"), "cpu")

        def patched(data: Data, case: Case) -> Tables:
            with pytest.MonkeyPatch.context() as patch:
                as_devices(patch)
                return read(data, case)

        return patched

    ways = {
        "numpy": lambda: from_arrays,
        "duckdb": lambda: from_files,
        "ibis": ibis,
        "spark": spark,
        "postgres": postgres,
        "torch": lambda: from_torch(require("torch"), "cpu"),
        "tensors": tensors,
        "cuda": cuda,
    }
    return cache(lambda name: cache(ways[name]()))


@pytest.fixture(params=ENGINES)
def read(request, reader) -> Reader:
    return reader(request.param)


def text(tables: Mapping[str, ht.ScoreTable], prior: float = 0.3) -> str:
    """The evaluation as JSON, of the first group where there are some: all tables are the same integers."""
    results = {
        name: ht.evaluate(ht.PositiveUnlabeled.from_table(table, prior=prior), n_resamples=50).to_dict()
        for name, table in itertools.islice(tables.items(), 1)
    }
    return json.dumps(results, sort_keys=True)


@pytest.fixture(scope="session")
def expected_text(data) -> Any:
    """The JSON that NumPy gives."""
    held: dict[Case, str] = {}

    def of(case: Case) -> str:
        if case not in held:
            held[case] = text(from_arrays(data, case))
        return held[case]

    return of


def assert_same(expected: dict[str, Group], found: Tables) -> None:
    assert differences(expected, {name: of_table(table) for name, table in found.items()}) == []


def through_a_file(table: ht.ScoreTable, folder: Path) -> ht.ScoreTable:
    table.save(folder / "table.npz")
    return ht.ScoreTable.load(folder / "table.npz")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_integers_of_the_rows(data, case, read):
    assert_same(data.expected(case), read(data, case))


@pytest.mark.parametrize("case", CASES[::5], ids=str)
def test_the_same_json(data, case, read, expected_text):
    assert text(read(data, case)) == expected_text(case)


@pytest.mark.parametrize("case", [PLAIN, GROUPED, MARGIN], ids=str)
def test_halves_read_apart_and_merged_are_the_whole(data, case, read, expected_text):
    one, other = (read(half, case) for half in data.split(2))
    merged = {name: one[name].merge(other[name]) for name in one}
    assert_same(data.expected(case), merged)
    assert text(merged) == expected_text(case)


@pytest.mark.parametrize("case", [GROUPED, MARGIN], ids=str)
def test_a_stored_table_is_evaluated_under_a_new_prior_without_the_rows(data, case, read, tmp_path):
    stored = {name: through_a_file(table, tmp_path) for name, table in read(data, case).items()}
    assert text(stored, prior=0.45) == text(from_arrays(data, case), prior=0.45)


@pytest.mark.parametrize("case", [GROUPED, MARGIN], ids=str)
def test_days_of_three_engines_make_one_week(data, case, reader, tmp_path, expected_text):
    days = zip(data.split(3), ("spark", "postgres", "torch"), strict=True)
    week: Tables = {}
    for day, engine in days:
        for name, table in reader(engine)(day, case).items():
            today = through_a_file(table, tmp_path)
            week[name] = week[name].merge(today) if name in week else today
    assert_same(data.expected(case), week)
    assert text(week) == expected_text(case)


@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("score", ["score", "margin"])
def test_many_hard_tables(hard_data, score, weight, read):
    case = Case(score, "double", weight, "month")
    found = from_strata(hard_data, case) if read.__wrapped__ is from_arrays else read(hard_data, case)
    assert_same(hard_data.expected(case), found)


small = st.lists(
    st.tuples(
        st.floats(0, 1) | st.sampled_from(PROBABILITIES),
        st.floats(-1e300, 1e300) | st.sampled_from(MARGINS),
        st.sampled_from([1.0, 0.0, float("nan"), None]),
        st.floats(2.0**-10, 2.0**12) | st.sampled_from([0.0, 1.0]),
        st.sampled_from(["a", "10", "9", None]),
    ),
    min_size=1,
    max_size=40,
).filter(lambda rows: any(row[3] for row in rows))
numbers = itertools.count()


@settings(max_examples=40)
@given(small, st.sampled_from(["score", "margin"]), st.booleans(), st.booleans())
def test_small_tables_of_any_numbers(reader, folder, rows, score, weighted, grouped):
    names = ("score", "margin", "double", "weight", "group")
    data = Data(f"small_{next(numbers)}", dict(zip(names, zip(*rows, strict=True), strict=True)), folder)
    grid = "margin" if score == "margin" else None
    case = Case(score, "double", "weight" if weighted else None, "group" if grouped else None, grid)
    for read in (from_strata, from_files, reader("ibis"), reader("torch"), reader("tensors")):
        assert_same(data.expected(case), read(data, case))
