"""A PostgreSQL server: errors where other engines give NaN or infinity, and names of what is not there."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest

import halftruth as ht
from halftruth._errors import InputError
from halftruth.table._grid import Grid

from .reference import differences, of_table

SECRET = "p@ss/w#rd?%:+ é"


@pytest.fixture
def table(postgres) -> Any:
    """``table("name", "score double precision, …", rows)``: a new table of the server."""
    made = []

    def create(name: str, columns: str, rows: list[tuple[Any, ...]]) -> Any:
        cursor = postgres.con.cursor()
        cursor.execute(f"CREATE TABLE {name} ({columns})")
        made.append(name)
        with cursor.copy(f"COPY {name} FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
        postgres.con.commit()
        return postgres.table(name)

    yield create
    postgres.con.rollback()
    for name in made:
        postgres.con.execute(f"DROP TABLE {name}")
    postgres.con.commit()


def same(one: Any, other: Any) -> bool:
    return differences({"": of_table(one)}, {"": of_table(other)}) == []


SCORES = [1e300, -1e300, 0.0, 5e-324, -5e-324, 0.3, 1.0, -2.0, 1e-9, 7e5, 1 + 2**-52, 1.7e308]


@pytest.mark.parametrize(
    "grid", [Grid("margin"), Grid("margin", 0.3, 1e-9), Grid("margin", -2.0, 7e5)], ids=str
)
def test_scores_whose_quotients_over_or_underflow(table, grid):
    rows = table("extremes", "score double precision, label int", [(s, 1) for s in SCORES])
    with np.errstate(over="ignore"):
        expected = ht.Labeled([1] * len(SCORES), SCORES).table.compress(grid)
    assert same(ht.ScoreTable.from_ibis(rows, grid=grid), expected)


def test_products_that_underflow_add_nothing(table):
    given = [(5e-324, 1, 2.0**-10), (1e-310, 1, 0.5), (0.5, None, 3.0)]
    rows = table("tiny", "score double precision, label int, w double precision", given)
    score, label, weight = zip(*given, strict=True)
    expected = ht.PositiveUnlabeled.from_labels(list(label), score, sample_weight=weight).table
    assert same(ht.ScoreTable.from_ibis(rows, weight="w"), expected.compress("probability"))


def test_numeric_real_smallint_and_boolean_columns(table):
    given = [("0.125", True, 1), ("0.75", False, 2), ("0.5", None, 3)]
    rows = table("kinds", "score numeric(8, 4), label boolean, w smallint", given)
    found = ht.ScoreTable.from_ibis(rows, weight="w")
    plain = ht.PositiveUnlabeled.from_labels([1, 0, None], [0.125, 0.75, 0.5], sample_weight=[1, 2, 3]).table
    assert same(found, plain.compress("probability"))


@pytest.mark.parametrize(("score", "shown"), [("NaN", "nan"), ("Infinity", "inf"), (None, "NULL")])
def test_scores_that_are_not_finite(table, score, shown):
    rows = table("bad", "score double precision, label int", [(0.5, 1), (score, 0)])
    with pytest.raises(InputError, match=f"got 1 in column 'score' that are not, e.g. {shown}"):
        ht.ScoreTable.from_ibis(rows)


def test_weights_that_64_bits_do_not_hold(table):
    rows = table("heavy", "score double precision, label int, w double precision", [(0.5, 1, 2.0**15)] * 4)
    with pytest.raises(InputError, match="add up to more than"):
        ht.ScoreTable.from_ibis(rows, weight="w")


def test_groups_of_dates_times_and_numbers(table):
    columns = (
        "score double precision, label int, day date, moment timestamp, share real, amount numeric(6, 2)"
    )
    given = [
        (0.1, 1, "2024-02-29", "2024-02-29 01:02:03.5", 0.1, "1.5"),
        (0.2, 0, None, "2024-02-29", None, None),
    ]
    rows = table("groups", columns, given)
    names = {
        name: list(ht.ScoreTable.from_ibis(rows, by=name)) for name in ("day", "moment", "share", "amount")
    }
    assert names == {
        "day": ["2024-02-29", "missing"],
        "moment": ["2024-02-29 00:00:00", "2024-02-29 01:02:03.5"],
        "share": ["0.1", "missing"],
        "amount": ["1.50", "missing"],
    }


def test_groups_of_networks_and_of_numbers_without_a_scale(table):
    columns = "score double precision, label int, host inet, net cidr, card macaddr, amount numeric"
    card = "08:00:2b:01:02:03"
    given = [
        (0.1, 1, "10.0.0.1", "10.0.0.0/8", card, "1.50"),
        (0.2, 0, "10.0.0.0/8", None, card, "NaN"),
        (0.3, 0, "::1", None, None, "1.5"),
        (0.4, 1, None, None, None, "100"),
        (0.5, 1, None, None, None, "-20.00"),
        (0.6, 1, None, None, None, None),
    ]
    rows = table("networks", columns, given)
    names = {name: list(ht.ScoreTable.from_ibis(rows, by=name)) for name in ("host", "net", "card", "amount")}
    assert names == {
        "host": ["10.0.0.0/8", "10.0.0.1/32", "::1/128", "missing"],
        "net": ["10.0.0.0/8", "missing"],
        "card": [card, "missing"],
        "amount": ["-20", "1.5", "100", "missing", "nan"],
    }


def test_a_failure_of_the_server_in_one_line_and_the_connection_goes_on(table):
    rows = table("words", "score text, label int", [("0.5", 1), ("x", 0)])
    with pytest.raises(InputError, match="words cannot be read: invalid input syntax") as refused:
        ht.ScoreTable.from_ibis(rows, rows.score.cast("float64"))
    assert "\n" not in str(refused.value)
    assert len(ht.ScoreTable.from_ibis(rows.filter(rows.score != "x"), rows.score.cast("float64"))) == 1


def test_by_address_and_name(table, postgres_url):
    from halftruth.engines.sql import open_table

    table("monthly", "score double precision, label int", [(0.5, 1), (0.25, 0)])
    for name in ("monthly", "public.monthly"):
        with open_table(postgres_url, name) as rows:
            assert len(ht.ScoreTable.from_ibis(rows)) == 2
    with (
        pytest.raises(InputError, match=r"has no table 'montly'.*Did you mean 'monthly'"),
        open_table(postgres_url, "montly"),
    ):
        pass


def test_a_wrong_database_is_named(postgres_url):
    from halftruth.engines.sql import open_table

    wrong = postgres_url.rpartition("/")[0].replace("postgres@", "postgres:hidden@") + "/none"
    with pytest.raises(InputError, match='database "none" does not exist') as refused, open_table(wrong, "x"):
        pass
    assert "hidden" not in str(refused.value)


@pytest.mark.parametrize("name", ['"scores.csv"', 'public."a ""b"".c"', '"my.schema"."x/y"'])
def test_names_with_dots(table, postgres, postgres_url, name):
    from halftruth.engines.sql import open_table

    postgres.con.execute('CREATE SCHEMA IF NOT EXISTS "my.schema"')
    with postgres.con.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {name} (score double precision, label int)")
        cursor.execute(f"INSERT INTO {name} VALUES (0.5, 1), (0.25, 0)")
    postgres.con.commit()
    try:
        with open_table(postgres_url, name) as rows:
            assert len(ht.ScoreTable.from_ibis(rows)) == 2
    finally:
        postgres.con.execute(f"DROP TABLE {name}")
        postgres.con.commit()


def test_a_table_that_looks_like_a_file_is_shown_as_it_must_be_written(postgres, postgres_url):
    from halftruth.engines.sql import open_table

    postgres.con.execute('CREATE TABLE "scores.csv" (score double precision, label int)')
    postgres.con.commit()
    try:
        with (
            pytest.raises(InputError, match=r"""no table 'csv' in the schema 'scores'. .*'"scores.csv"'\?"""),
            open_table(postgres_url, "scores.csv"),
        ):
            pass
    finally:
        postgres.con.execute('DROP TABLE "scores.csv"')
        postgres.con.commit()


@pytest.fixture
def locked(postgres, postgres_url) -> Iterator[str]:
    """A role of the server whose password is asked for."""
    postgres.con.execute(f"CREATE ROLE locked LOGIN PASSWORD '{SECRET}'")
    rules = Path(postgres.con.execute("SHOW hba_file").fetchone()[0])
    before = rules.read_text()
    rules.write_text(f"host all locked 127.0.0.1/32 scram-sha-256\n{before}")
    postgres.con.execute("SELECT pg_reload_conf()")
    postgres.con.commit()
    latest = time.monotonic() + 30
    try:
        while _lets_in(postgres_url.replace("postgres@", "locked@")):  # until the server has read the rules
            assert time.monotonic() < latest, "the server does not read its rules"
            time.sleep(0.01)
        yield "locked"
    finally:
        rules.write_text(before)
        postgres.con.execute("SELECT pg_reload_conf()")
        postgres.con.execute("DROP ROLE locked")
        postgres.con.commit()


def _lets_in(url: str) -> bool:
    import psycopg

    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError:
        return False
    return True


def test_a_password_is_percent_decoded_and_a_wrong_one_not_shown(locked, postgres_url):
    from halftruth.engines.sql import open_table

    def address(password: str) -> str:
        return postgres_url.replace("postgres@", f"{locked}:{password}@")

    with open_table(address(quote(SECRET, safe="+")), "pg_catalog.pg_class") as table:
        assert "relname" in table.columns
    with (
        pytest.raises(InputError, match="password authentication failed") as refused,
        open_table(address("p%2540ss"), "pg_catalog.pg_class"),
    ):
        pass
    assert all(form not in str(refused.value) for form in ("p%2540ss", "p%40ss", "p@ss"))
    assert "locked:***@127.0.0.1" in str(refused.value)
