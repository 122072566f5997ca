"""`--engine`: the rows of a table that a database or a cluster holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from halftruth._errors import InputError, MissingDependency

if TYPE_CHECKING:
    from halftruth.table._grid import Grid


def check(names: Sequence[str], saved: Sequence[str]) -> None:
    """Refuse what is no table of an engine; saved tables may stand beside one."""
    tables = [name for name in names if name not in saved]
    if "-" in tables:
        raise InputError(
            "--engine reads a table that the engine holds, got - for standard input. Name the table, or "
            "leave --engine out."
        )
    if not tables:
        raise InputError(
            f"--engine needs the name of a table, got the saved table {saved[0]} alone, which holds all that "
            f"is known of its rows. Leave --engine out."
        )
    if len(tables) > 1:
        raise InputError(
            f"--engine reads one table, got {len(tables)}: {tables[0]}, {tables[1]}"
            f"{', …' if len(tables) > 2 else ''}. Pass a view of them all; of files, a folder or a pattern "
            f"in quotes; or save each by halftruth evaluate --save-table, and pass the files."
        )


def read(engine: str, name: str, grid: Grid | str | None, **columns: Any) -> Any:
    """The table by its histogram, which the engine makes; with ``by``, one for each group."""
    try:
        from halftruth.engines.sql._connections import open_table
    except MissingDependency as error:
        if engine == "spark":
            raise MissingDependency("Spark needs PySpark and Ibis: pip install 'halftruth[spark]'") from error
        raise
    from halftruth.table._score_table import ScoreTable

    with open_table(engine, name) as table:
        _check_numbers(table, columns)
        return ScoreTable.from_ibis(table, **columns, grid=grid)


def _check_numbers(table: Any, columns: dict[str, Any]) -> None:
    """Refuse words where numbers are needed, with what can be done outside Python."""
    from halftruth.engines.sql._sql_columns import holds_numbers
    from halftruth.files._file_paths import quoted

    for role in ("score", "label", "weight"):
        name = columns[role]
        if name in table.columns and not holds_numbers(table[name]):
            label = role == "label"
            raise InputError(
                f"Column {quoted(name)} must hold {'numbers or booleans' if label else 'numbers'} for "
                f"--{role}, it holds {table[name].type()}. Make a view of the table that has "
                f"{'1, 0 and NULL' if label else 'numbers'} in it, or name another column by --{role}."
            )
