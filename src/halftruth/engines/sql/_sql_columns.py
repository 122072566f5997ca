"""Which expressions of an Ibis table hold scores, labels, weights and groups, checked by type.

The one place where Ibis, which is optional, is imported, with Arrow, in which its results come.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from halftruth import _checks
from halftruth._errors import InputError, MissingDependency, arg
from halftruth.files._file_paths import excerpt, missing_column, quoted

try:
    import ibis
    import pyarrow  # noqa: ICN001
except ModuleNotFoundError as error:
    raise MissingDependency(
        "Reading a table of a SQL engine needs Ibis and PyArrow: pip install 'halftruth[ibis]'"
    ) from error

__all__ = ["BoundColumns", "IbisColumn", "IbisTable", "bind_columns", "holds_numbers", "ibis", "pyarrow"]

# Ibis is optional, so its types are not known where the code is checked.
IbisTable: TypeAlias = Any
IbisColumn: TypeAlias = Any  # an expression of one value a row, or of one value of all rows

NEEDED = ("score", "label")


@dataclass(frozen=True, kw_only=True, eq=False)
class BoundColumns:
    """A table of an engine, and what its columns mean. Each column is an Ibis expression.

    ``score`` and ``weight`` are float64, ``label`` is a number, ``group`` a value that has a text; ``names``
    says how messages call the table and these columns; the groups have a bare name.
    """

    table: IbisTable
    names: dict[str, str]
    score: IbisColumn
    label: IbisColumn
    weight: IbisColumn | None = None
    group: IbisColumn | None = None
    unlabeled: float | None = None


def bind_columns(
    table: Any, *, score: Any, label: Any, weight: Any = None, unlabeled: float | None = None, by: Any = None
) -> BoundColumns:
    """The columns of a table, given by name or as Ibis expressions."""
    if not isinstance(table, ibis.expr.types.Table):
        kind = f"{type(table).__module__.partition('.')[0]}.{type(table).__name__}"
        raise InputError(
            argument="table",
            must="be an Ibis table",
            got=kind,
            remedy="Make one, e.g. ibis.connect(url).table(name); ibis.memtable takes data frames, and "
            "ScoreTable.from_file reads files.",
        )
    arguments = {"score": score, "label": label, "weight": weight, "by": by}
    columns = {
        role: _column(table, x, role) for role, x in arguments.items() if x is not None or role in NEEDED
    }
    numbers = {role: _number(x, role) for role, x in columns.items() if role != "by"}
    return BoundColumns(
        table=table,
        names={"table": _name(table)}
        | {role: x.get_name() if role == "by" else column_title(x, role) for role, x in columns.items()},
        score=_plain(numbers["score"].cast("float64")),
        label=_plain(numbers["label"]),
        weight=_plain(numbers["weight"].cast("float64")) if "weight" in numbers else None,
        group=_group(columns["by"]) if "by" in columns else None,
        unlabeled=None if unlabeled is None else _checks.unlabeled_code(unlabeled),
    )


def _name(table: IbisTable) -> str:
    """The name of a table; one that was derived has none, and one of a path has none that anybody knows."""
    try:
        name = str(table.get_name())
    except (AttributeError, ibis.common.exceptions.IbisError):
        name = "ibis_derived"
    return "The table" if name.startswith("ibis_") else name


def _column(table: IbisTable, argument: str | IbisColumn, role: str) -> IbisColumn:
    if isinstance(argument, str) and argument not in table.columns:
        raise missing_column(_name(table), argument, table.columns)
    try:
        # A name, a deferred expression such as _.score, or an expression of the table: Ibis tells them apart.
        bound = table.bind(argument)
        column = bound[0] if len(bound) == 1 else None
        if isinstance(column, ibis.expr.types.Column):
            table.select(column.name("x"))  # raises where the expression is of another table
            return column
    except (AttributeError, TypeError, ValueError, ibis.common.exceptions.IbisError) as error:
        raise InputError(
            f"{arg(role)} is no expression of this table: {excerpt(str(error), 160)}. Pass the name of a "
            "column, or an expression made from the table, e.g. table.x."
        ) from error
    raise InputError(
        argument=role, must="be the name of a column or an Ibis expression of one", got=repr(argument)
    )


def column_title(column: IbisColumn, role: str) -> str:
    """How messages call a column; an expression without a name of its own has one that nobody gave."""
    if isinstance(column.op(), (ibis.expr.operations.Field, ibis.expr.operations.Alias)):
        return f"column {quoted(column.get_name())}"
    return f"the expression of `{role}`"


def holds_numbers(column: IbisColumn) -> bool:
    """Whether a column is of numbers or booleans."""
    return bool(column.type().is_boolean() or column.type().is_numeric())


def _number(column: IbisColumn, role: str) -> IbisColumn:
    """A column of numbers, as an engine compares and adds them."""
    kind, name = column.type(), column_title(column, role)
    if not holds_numbers(column):
        numbers, remedy = "numbers", "them"
        if role == "label":
            is_field = isinstance(column.op(), ibis.expr.operations.Field)
            field = f"table[{column.get_name()!r}]" if is_field else "x"
            numbers, remedy = "numbers or booleans", f"1, 0 and NULL, e.g. ({field} == 'fraud').cast('int8')"
        raise InputError(
            f"{name[0].upper()}{name[1:]} must hold {numbers} for {arg(role)}, it holds {kind}. Pass an "
            f"expression of the table that holds {remedy}."
        )
    if kind.is_boolean():
        return column.cast("int32")
    return column.cast("float64") if kind.is_decimal() else column


def _plain(number: IbisColumn) -> IbisColumn:
    """The same number, −0.0 as 0.0."""
    return number + 0.0 if number.type().is_floating() else number


def _group(column: IbisColumn) -> IbisColumn:
    """A column of groups, each as one value on its way from the engine."""
    kind = column.type()
    if kind.is_nested() or kind.is_binary() or kind.is_interval():
        name = column_title(column, "by")
        raise InputError(
            f"{name[0].upper()}{name[1:]} holds {kind}, which has no plain text to name groups by. Pass an "
            f"expression that does for {arg('by')}."
        )
    if kind.is_decimal() and kind.scale is None:
        return _shortest(column.cast("string"))
    # Arrow or Ibis has no such values: the engine writes them.
    if kind.is_uuid() or kind.is_inet() or kind.is_unknown():
        return column.cast("string")
    return _plain(column).cast(kind)


def _shortest(text: IbisColumn) -> IbisColumn:
    """Decimals of any scale without zeros at their end, as 1.5 and 1.50 are one number; nan as of floats."""
    return ibis.ifelse(text.contains("."), text.re_replace(r"\.?0+$", ""), text).lower()
