"""Tables by the names of a command line: engines, addresses, tables and paths that are there and that are not."""

from __future__ import annotations

import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

import halftruth as ht
from halftruth._errors import InputError, MissingDependency

ROWS = pa.table({"score": [0.9, 0.8, 0.1], "label": [1.0, None, 0.0]})


@pytest.fixture(autouse=True)
def _needs_ibis(require) -> None:
    require("ibis")


@pytest.fixture
def database(tmp_path) -> Path:
    """A file of DuckDB with the tables `scores` and `other.scores`."""
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.register("given", ROWS)
        connection.execute("CREATE TABLE scores AS SELECT * FROM given")
        connection.execute("CREATE SCHEMA other")
        connection.execute("CREATE TABLE other.scores AS SELECT * FROM given LIMIT 2")
    return path


@pytest.fixture
def folder(tmp_path) -> Path:
    for name in ("one", "two"):
        pq.write_table(ROWS, tmp_path / f"{name}.parquet")
    pc.write_csv(ROWS, tmp_path / "rows.csv")
    return tmp_path


def count(engine: str, name: str) -> int:
    from halftruth.engines.sql import open_table

    with open_table(engine, name) as table:
        return len(ht.ScoreTable.from_ibis(table))


def test_a_table_by_name_and_by_schema(database):
    assert count(f"duckdb://{database}", "scores") == 3
    assert count(f"duckdb://{database}", "other.scores") == 2


QUOTED = {
    "scores.csv": '"scores.csv"',
    "my.schema.my.table": '"my.schema.my.table"',
    'say "x".y': '"say ""x"".y"',
    '"x"': '"""x"""',
    "a/b": '"a/b"',
}


@pytest.mark.parametrize("table", QUOTED)
def test_a_table_of_any_name_in_quotes(database, table):
    written = QUOTED[table]
    with duckdb.connect(str(database)) as connection:
        connection.execute('CREATE SCHEMA "my.schema"')
        for name in (written, f'"my.schema".{written}'):
            connection.execute(f"CREATE TABLE {name} AS FROM scores LIMIT 1")
    for name in (written, f"main.{written}", f'"my.schema".{written}', f'shop."my.schema".{written}'):
        assert count(f"duckdb://{database}", name) == 1


@pytest.mark.parametrize(
    "name", ["", ".", "main.", ".scores", "a..b", '"', '""', '"scores', 'main."scores', '"main"s', "a.b.c.d"]
)
def test_what_is_no_name_is_refused(database, name):
    with pytest.raises(InputError) as refused:
        count(f"duckdb://{database}", name)
    assert str(refused.value) == (
        f"A table must be named table, schema.table or catalog.schema.table, got {name!r}. A part with a dot "
        f"of its own stands in double quotes, and a quote in it twice: '\"my.table\"'."
    )


def test_a_database_is_opened_to_read_only_and_closed_again(database):
    from halftruth.engines.sql import open_table

    with (
        open_table(f"duckdb://{database}", "scores") as table,
        pytest.raises(duckdb.ConnectionException, match="different configuration"),
    ):
        duckdb.connect(str(database))  # to write: only one who reads alone is in the way
    with duckdb.connect(str(database)) as writer:
        writer.execute("CREATE TABLE written (x INTEGER)")
    # The table is held until here, so that nothing but the end of the block closed it.
    assert "score" in table.columns


def test_paths_and_globs(folder):
    assert count("duckdb://", str(folder / "one.parquet")) == 3
    assert count("duckdb://", str(folder / "*.parquet")) == 6
    assert count("duckdb://", str(folder / "rows.csv")) == 3


@pytest.mark.parametrize(("name", "message"), [
    ("scors", "The database has no table 'scors'. Its tables: 'scores'. Did you mean 'scores'?"),
    ("other.zzz", "The schema 'other' has no table 'zzz'. Its tables: 'scores'. Name one of these"),
    ("pub.scores", "no table 'pub.scores': the schema 'pub' has no tables, or there is no such schema."),
    ("shop.other.scors", "The schema 'shop.other' has no table 'scors'. Its tables: 'scores'. Did you mean"),
    ("temp.main.scors", "There is no table 'temp.main.scors': the schema 'temp.main' has no tables"),
    ("dotted.more", "There is no table 'more' in the schema 'dotted'. Did you mean '\"dotted.more\"'?"),
    ("other.dotted.x", "There is no table 'other.dotted.x': the schema 'other.dotted' has no tables"),
    ("dotted_more", "Its tables: '\"dotted.more\"', 'scores'. Did you mean '\"dotted.more\"'?"),
    ("none.csv", "Check the path, or write '\"none.csv\"' for a table."),
])  # fmt: skip
def test_a_missing_table_and_those_there_are(database, name, message):
    if "dotted" in name:
        with duckdb.connect(str(database)) as connection:
            connection.execute('CREATE TABLE "dotted.more" AS FROM scores')
    with pytest.raises(InputError) as refused:
        count(f"duckdb://{database}", name)
    assert message in str(refused.value)


@pytest.mark.parametrize("name", ["{}/none.parquet", "{}/none/*.parquet", "{}/damaged.parquet"])
def test_a_path_that_cannot_be_read(tmp_path, name):
    (tmp_path / "damaged.parquet").write_bytes(b"PAR1 no PAR1")
    with pytest.raises(InputError, match=r"cannot be read: .*Check the path") as refused:
        count("duckdb://", name.format(tmp_path))
    assert "\n" not in str(refused.value)


def test_a_file_that_is_not_there_is_not_made(tmp_path):
    with pytest.raises(InputError, match="is no file, so duckdb cannot open it"):
        count(f"duckdb://{tmp_path}/none.duckdb", "scores")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("engine", "message"), [
    ("postgers://host/db", "Did you mean postgres://…?"),
    ("postgres", "must be 'spark' or an address"),
    ("oracle9i://me:hidden@host/db", "must be 'spark' or an address"),
    ("", "must be 'spark' or an address"),
    ("Spark", "Did you mean spark?"),
    ("spork", "Did you mean spark?"),
    ("spark://host:7077", "Did you mean spark?"),
    ("pyspark", "Did you mean spark?"),
    ("me:p@hidden/hid#den@host", "got 'me:***@host'."),
])  # fmt: skip
def test_unknown_engines(engine, message):
    with pytest.raises(InputError) as refused:
        count(engine, "scores")
    assert message in str(refused.value)
    assert "hidden" not in str(refused.value)


def test_a_server_that_does_not_answer_and_no_password_shown(require):
    require("psycopg")
    address = "postgres://me:se%21cret@127.0.0.1:1/shop?password=hidden"
    with pytest.raises(
        InputError, match=r"No connection to postgres://me:\*\*\*@127.0.0.1:1/shop"
    ) as refused:
        count(address, "scores")
    text = f"{refused.value}"
    assert "se%21cret" not in text
    assert "se!cret" not in text
    assert "hidden" not in text
    assert "Check host, port, user, password and database" in text


@pytest.mark.parametrize(("engine", "shown"), [
    ("postgres://me:p@ss/w#rd@127.0.0.1:1/db", "postgres://me:***@127.0.0.1:1/db"),
    ("postgres://me:p@127.0.0.1:1/db", "postgres://me:***@127.0.0.1:1/db"),
    ("postgres://me@corp:pw@host/db", "postgres://me@corp:***@host/db"),
    ("postgres://me@host:5432/db", "postgres://me@host:5432/db"),
    ("postgres://host:5432/db?token=a@b&x=1", "postgres://host:***@***&x=1"),
    ("postgres://me@host/db?password=a@b&x=1", "postgres://me@host/db?password=***&x=1"),
    ("postgres:/me:pw@host", "postgres:***@host"),
    ("me:pw@host", "me:***@host"),
    ("duckdb://", "duckdb://"),
])  # fmt: skip
def test_what_is_shown_of_an_address(engine, shown):
    from halftruth.engines.sql._connections import masked

    assert masked(engine) == shown


@pytest.mark.parametrize("password", ["p@ss/w#rd", "12/34", "pa[ss", "pa#ss", "p?ss", "p@ss"])
def test_special_characters_of_a_password_are_named_and_not_shown(require, password):
    require("psycopg")
    with pytest.raises(InputError, match=r"must be percent-encoded: %40 for @, %2F for /") as refused:
        count(f"postgres://me:{password}@127.0.0.1:1/db", "scores")
    text = str(refused.value)
    assert text.startswith("No connection to postgres://me:***@127.0.0.1:1/db: ")
    told = text.partition("/db: ")[2].partition(". Check host, port, user, password")[0]
    assert told.isidentifier()  # the class of the error, no word of its text
    assert refused.value.__cause__ is None


@pytest.mark.parametrize(("password", "complaint", "told"), [
    ("hunter2", "no hunter2 at all", "no *** at all"),
    ("at", "no hunter2 at all", "ValueError"),
    ("al", "no hunter2 at all", "no hunter2 at all"),
    ("hunter%32", "no hunter2 at all", "no *** at all"),
    ("hunter%32", "no hunter%32 at all", "no *** at all"),
    ("%61t", "no hunter2 at all", "ValueError"),
    ("hun+er2", "no hun%2Ber2 at all", "no *** at all"),
])  # fmt: skip
def test_complaints_that_hold_a_password(password, complaint, told):
    from halftruth.engines.sql import _connections

    assert _connections.masked_complaint(ValueError(complaint), f"postgres://me:{password}@host/db") == told


@pytest.mark.parametrize(("engine", "sent"), [
    ("postgres://me:a+b@host/db", "postgres://me:a%2Bb@host/db"),
    ("postgres://me:a+b@c+d@host/db?x=e+f@g", "postgres://me:a%2Bb@c%2Bd@host/db?x=e+f@g"),
    ("mysql+x://a+b:c@host/db", "mysql+x://a+b:c@host/db"),  # Ibis decodes no user
    ("clickhouse://host:8123/db?user=a+b@c", "clickhouse://host:8123/db?user=a+b@c"),
    ("clickhouse://host:8123?user=a+b@c", "clickhouse://host:8123?user=a+b@c"),
    ("duckdb://", "duckdb://"),
])  # fmt: skip
def test_what_ibis_is_sent_of_an_address(engine, sent):
    from halftruth.engines.sql._connections import for_ibis

    assert for_ibis(engine) == sent


def test_a_column_that_spark_does_not_read(spark, tmp_path):
    path = tmp_path / "ids.parquet"
    ids = pa.ExtensionArray.from_storage(pa.uuid(), pa.array([bytes(16)] * 3, pa.binary(16)))
    pq.write_table(ROWS.append_column("id", ids), path)
    with pytest.raises(InputError, match="Illegal Parquet type") as refused:
        count("spark", str(path))
    assert str(refused.value).endswith(
        ". Spark does not read a column of this type: write the file without it or with its values as text, "
        "or use --engine duckdb://."
    )
    assert count("duckdb://", str(path)) == 3


def test_words_for_labels_in_python():
    import ibis

    table = ibis.memtable(pa.table({"score": [0.9, 0.1], "x": ["fraud", "fine"]}))
    with pytest.raises(InputError) as refused:
        ht.ScoreTable.from_ibis(table, label="x")
    assert str(refused.value) == (
        "Column 'x' must hold numbers or booleans for `label`, it holds string. Pass an expression of the "
        "table that holds 1, 0 and NULL, e.g. (table['x'] == 'fraud').cast('int8')."
    )
    strata = ht.ScoreTable.from_ibis(table, label=(table["x"] == "fraud").cast("int8")).strata
    assert set(strata) == {"positive", "negative"}
    with pytest.raises(InputError, match="The expression of `label` must hold numbers") as refused:
        ht.ScoreTable.from_ibis(table, label=table.score.cast("string"))
    assert "Cast(" not in str(refused.value)
    with pytest.raises(InputError, match="The expression of `label` holds 2 label") as refused:
        ht.ScoreTable.from_ibis(table, label=table.score.cast("float32") + 7)
    assert "Add(" not in str(refused.value)


def test_a_missing_driver_names_the_line_to_run(monkeypatch):
    monkeypatch.setitem(sys.modules, "trino", None)
    with pytest.raises(MissingDependency, match=r"pip install 'ibis-framework\[trino\]'"):
        count("trino://me@127.0.0.1:1/shop", "scores")


def test_spark_without_pyspark_names_the_line_to_run(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(MissingDependency, match=r"pip install 'halftruth\[spark\]'"):
        count("spark", "scores")
