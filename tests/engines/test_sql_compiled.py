"""Engines that no test can reach: the SQL that each would be sent is read, not run."""

from __future__ import annotations

from typing import Any

import pytest

DIALECTS = ["bigquery", "snowflake", "trino", "clickhouse"]
COLUMNS = {"score": "float64", "label": "float64", "weight": "float64", "group": "string", "count": "int64"}
FUNCTIONS = {
    "Abs",
    "Cast",
    "Count",
    "Floor",
    "IsNan",
    "isNaN",
    "isNull",
    "Least",
    "Max",
    "Min",
    "Sqrt",
    "Sum",
    "Trunc",
}
"""By their names in sqlglot: what every engine has, and rounds alike."""
OPERATORS = {"And", "Case", "If", "Or"}
"""What sqlglot counts among functions beside them."""


@pytest.fixture
def compiled(require) -> Any:
    """``compiled(dialect, **columns)``: the query as sqlglot parses it in this dialect."""
    ibis, sqlglot = require("ibis"), require("sqlglot")
    from halftruth.engines.sql import expression

    def made(dialect: str, **columns: Any) -> Any:
        table = ibis.table(COLUMNS, name="scores")
        query = expression(table, score="score", label="label", **columns)
        return sqlglot.parse_one(ibis.to_sql(query, dialect=dialect), read=dialect)

    return made


@pytest.mark.parametrize(
    "columns",
    [{}, {"weight": "weight"}, {"weight": "weight", "by": "group"}, {"by": "count"}, {"by": "weight"}],
)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_compiled_not_run_one_group_by_of_plain_functions(compiled, dialect, columns):
    from sqlglot import exp

    query = compiled(dialect, **columns)
    assert len(list(query.find_all(exp.Group))) == 1
    assert not list(query.find_all(exp.Join, exp.Window, exp.Distinct, exp.Order))
    used = {_name(node) for node in query.find_all(exp.Func)} - OPERATORS
    assert used <= FUNCTIONS
    assert {"Floor", "Sqrt", "Count", "Sum", "Min", "Max"} <= used
    assert [table.name for table in query.find_all(exp.Table)] == ["scores"]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_compiled_not_run_every_root_is_of_a_number_that_was_tested(compiled, dialect):
    # √ of a negative number, a cast out of range: errors in some engines, unless a condition stands before.
    from sqlglot import exp

    for root in compiled(dialect).find_all(exp.Sqrt):
        cases = [node for node in _parents(root) if isinstance(node, exp.Case)]
        guard = cases[-1].args["ifs"][0].this.sql()
        assert ">= 0" in guard
        assert "<= 1" in guard


@pytest.mark.parametrize("dialect", DIALECTS)
def test_compiled_not_run_groups_of_nan_are_one(compiled, dialect):
    # NaN equals nothing in some engines, not even itself: it is NULL, and told apart by a key of its own.
    from sqlglot import exp

    cells = {cell.alias: cell for cell in compiled(dialect, by="weight").find_all(exp.Alias)}
    assert cells["g"].find(exp.Null)
    assert "nan" in cells["nan"].this.sql().lower()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_compiled_not_run_names_are_data(compiled, require, dialect):
    ibis, sqlglot = require("ibis"), require("sqlglot")
    from halftruth.engines.sql import expression

    name = 'x"`]; DROP TABLE scores --'
    table = ibis.table({name: "float64", "label": "int64"}, name="scores")
    sql = ibis.to_sql(expression(table, score=name, label="label"), dialect=dialect)
    statements = sqlglot.parse(sql, read=dialect)
    assert [type(statement).__name__ for statement in statements] == ["Select"]
    assert any("DROP TABLE" in column.name for column in statements[0].find_all(sqlglot.exp.Column))


def _name(function: Any) -> str:
    """The name of a function; of one that sqlglot does not know, as it is written."""
    kind = type(function).__name__
    return function.name if kind == "Anonymous" else kind


def _parents(node: Any) -> list[Any]:
    found = []
    while node.parent is not None:
        node = node.parent
        found.append(node)
    return found
