"""Bad rows: a second, small query, to show one of them."""

from __future__ import annotations

from typing import Any, NoReturn

from halftruth._errors import InputError, OutsideGrid, arg
from halftruth.engines.sql.columns import Columns
from halftruth.engines.sql.expression import finite, in_unit, stratum
from halftruth.engines.sql.fetching import fetch
from halftruth.engines.sql.library import ibis
from halftruth.files.messages import excerpt, quoted
from halftruth.table._groups import MOST_GROUPS, OUTSIDE, refuse_groups


def score(columns: Columns, count: int) -> NoReturn:
    """Refuse scores that are missing or not finite."""
    shown = _shown(columns, columns.score, _failing(finite(columns.score)))
    raise InputError(
        f"Scores must be finite numbers, got {count:,} in {columns.names['score']} that are "
        f"not, e.g. {shown}. Drop or repair these rows."
    )


def beyond_unit(columns: Columns, count: int) -> NoReturn:
    """Refuse scores outside [0, 1]."""
    shown = _shown(columns, columns.score, _failing(in_unit(columns.score)))
    raise OutsideGrid(
        f"A probability grid takes scores in [0, 1], got {count:,} outside in "
        f"{columns.names['score']}, e.g. {shown}.",
        remedy=f"Use {arg('grid', 'margin')}.",
    )


def weight(columns: Columns, count: int) -> NoReturn:
    """Refuse weights that are missing, negative or not finite."""
    assert columns.weight is not None
    good = finite(columns.weight) & (columns.weight >= 0)
    shown = _shown(columns, columns.weight, _failing(good))
    raise InputError(
        f"Weights must be finite numbers of at least 0, got {count:,} in "
        f"{columns.names['weight']} that are not, e.g. {shown}. Drop or repair these rows."
    )


def label(columns: Columns, count: int) -> NoReturn:
    """Refuse labels outside the code."""
    shown = _shown(columns, columns.label, stratum(columns) == OUTSIDE, most=5)
    raise InputError(
        f"{_first(columns.names['label'])} holds {count:,} label(s) outside the code: {shown}. The code is "
        "1 positive, 0 negative, NULL unlabeled; name another code for unlabeled rows, e.g. "
        f"{arg('unlabeled', -1)}."
    )


def group(columns: Columns, error: Exception) -> NoReturn:
    """Refuse groups that Python has no value for, such as days after the year 9999."""
    name = columns.names["by"]
    field = f"table[{name!r}]" if name in columns.table.columns else "x"
    raise InputError(
        f"The column of groups {quoted(name)} holds a value that cannot be named: "
        f"{excerpt(str(error), 160)}. Cast it to text in the expression of {arg('by')}, e.g. "
        f'by={field}.cast("string").'
    ) from error


def no_rows(columns: Columns) -> NoReturn:
    """Refuse a table without rows."""
    raise InputError(f"{columns.names['table']} has no rows. Pass at least one.")


def no_weight(columns: Columns) -> NoReturn:
    """Refuse weights that are all zero."""
    raise InputError(
        f"{_first(columns.names['weight'])} of {columns.names['table']} is zero in all rows. Give at least "
        f"one row a positive weight, or leave {arg('weight')} out for equal weights."
    )


def heavy(columns: Columns) -> NoReturn:
    """Refuse rows or weights whose sums 64 bits do not hold."""
    if columns.weight is None:
        raise InputError(
            "One bin would hold more than 2^30 rows, too many to add up exactly. Read fewer rows."
        )
    raise InputError("The weights of one bin add up to more than 2^30. Divide all weights by one number.")


def many_groups(columns: Columns) -> None:
    """Refuse a column of many values before the bins of each are fetched."""
    each = groups(columns).limit(MOST_GROUPS + 1)
    refuse_groups(fetch(each.count().as_table(), columns.names["table"])[0][0].as_py())


def groups(columns: Columns) -> Any:
    """The values of the groups, NaN as NULL: in some engines no NaN is the same as another."""
    g = columns.group
    assert g is not None
    if g.type().is_floating():
        g = ibis.ifelse(g.isnan(), ibis.null(), g).cast(g.type())
    return columns.table.select(g=g).distinct()


def _first(words: str) -> str:
    """Words at the beginning of a sentence."""
    return words[0].upper() + words[1:]


def _failing(condition: Any) -> Any:
    """Where a condition does not hold, NULL included."""
    return ibis.ifelse(condition, 0, 1) == 1


def _shown(columns: Columns, value: Any, bad: Any, most: int = 1) -> str:
    """Some of the bad values."""
    found = columns.table.select(x=value, bad=bad).filter(ibis._.bad).select("x").distinct().limit(most + 1)
    values = fetch(found, columns.names["table"])["x"].to_pylist()
    words = ["NULL" if x is None else f"{x:.17g}" for x in values[:most]]
    return ", ".join(sorted(words)) + (", …" if most > 1 and len(values) > most else "")
